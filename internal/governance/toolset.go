package governance

import "strings"

// ToolSet is the tools of a workspace in registration order. It is immutable,
// and a nil ToolSet is an empty one.
type ToolSet struct {
	infos  []ToolInfo
	byName map[string]int
	byBare map[string]int // bare action to index; ambiguous when several servers have it
}

const ambiguous = -1

// NewToolSet returns the set of infos in the order given. Of two tools with one
// name the first stays: the loader refuses such a workspace before this.
func NewToolSet(infos []ToolInfo) *ToolSet {
	s := &ToolSet{byName: make(map[string]int, len(infos)), byBare: map[string]int{}}
	for _, info := range infos {
		if _, dup := s.byName[info.Name]; dup {
			continue
		}
		i := len(s.infos)
		s.infos = append(s.infos, info)
		s.byName[info.Name] = i
		if bare := bareAction(info.Name); bare != "" {
			if _, dup := s.byBare[bare]; dup {
				i = ambiguous
			}
			s.byBare[bare] = i
		}
	}
	return s
}

// All returns the tools in registration order. The slice is not to be changed.
func (s *ToolSet) All() []ToolInfo {
	if s == nil {
		return nil
	}
	return s.infos
}

// Resolve finds the tool that a called name means: the tool of exactly that
// name, else the one whose bare action (`<server>__<action>`) it is, when only
// one server has it. False means that the name is not a tool: Decide then
// answers RuleUnknownTool, which the runtime reports as an ordinary error
// result and not as a block (see Verdict.NotATool).
func (s *ToolSet) Resolve(name string) (ToolInfo, bool) {
	if info := s.find(name); info != nil {
		return *info, true
	}
	return ToolInfo{}, false
}

func (s *ToolSet) find(name string) *ToolInfo {
	if s == nil {
		return nil
	}
	if i, ok := s.byName[name]; ok {
		return &s.infos[i]
	}
	if i, ok := s.byBare[name]; ok && i != ambiguous {
		return &s.infos[i]
	}
	return nil
}

func (s *ToolSet) has(name string) bool {
	if s == nil {
		return false
	}
	_, ok := s.byName[name]
	return ok
}

// bareAction is what follows the server's name in a namespaced tool name, ""
// when the name has no namespace.
func bareAction(name string) string {
	server, action, ok := strings.Cut(name, "__")
	if !ok || server == "" {
		return ""
	}
	return action
}

// NotATool reports whether the verdict says that the called name is no tool at
// all. It allows nothing, but it is no block either: the runtime answers the
// reason as an error result and emits no tool-blocked event.
func (v Verdict) NotATool() bool { return v.Rule == RuleUnknownTool }
