// Package spec reads workflow.yaml: strict decoding with positions, the
// document rules, trigger signatures, the spec hash and the JSON Schema mapping
// (spec: language.md). Loading returns (T, diag.List), all problems in one
// pass, in file order. The package reads YAML for everybody else too (Node):
// the YAML library is behind yaml.go and nowhere else.
package spec

import (
	"encoding/json"

	"github.com/archmax-ai/archmax/internal/diag"
)

// Kind is what does the work in a state.
type Kind string

// The four kinds. Agent is the default.
const (
	Agent  Kind = "agent"
	Human  Kind = "human"
	Code   Kind = "code"
	Grader Kind = "grader"
)

// EdgeType labels an edge for a person.
type EdgeType string

// The edge types. None is the default.
const (
	Approve EdgeType = "approve"
	Reject  EdgeType = "reject"
	Refine  EdgeType = "refine"
	None    EdgeType = "none"
)

// Manual is the reserved trigger: the CLI's default entry, and a calling
// workflow's.
const Manual = "manual"

// DelegationPrefix is the reserved prefix of delegation tools:
// archmax_workflow_<slug>.
const DelegationPrefix = "archmax_workflow_"

// Machine is a loaded, checked workflow. It is immutable after loading.
type Machine struct {
	Slug         string
	Title        string // "" when absent
	Instructions string
	Disabled     bool
	Engine       string // default "archmax-harness"
	Version      string // "1" or "2"
	Settings     Settings
	Tests        *Node // the `tests` mapping as read, nil when absent; shape-checked here, used by the case engine
	Tools        ToolLists
	Skills       NameLists
	Mounts       MountLists
	HookKinds    []string        // extensions.hooks
	States       []*State        // in file order
	Prose        string          // WORKFLOW.md, HTML comments stripped, "" when absent
	Hash         string          // hex SHA-256, see "The spec hash"
	Canonical    json.RawMessage // the canonical JSON the hash is over: what sessions/_specs/<hash>.json holds
	File         string          // workflows/<slug>/workflow.yaml, relative to the root, with slashes

	// HasTools, HasSkills and HasMounts say whether the root block is there.
	HasTools, HasSkills, HasMounts bool
	Range                          diag.Range // of the root mapping's first key

	index map[string]*State
}

// State returns the state named slug, or nil.
func (m *Machine) State(slug string) *State { return m.index[slug] }

// Trigger returns the declaration of trigger id and the state it enters, or
// nils.
func (m *Machine) Trigger(id string) (*Trigger, *State) {
	for _, s := range m.States {
		for _, t := range s.Triggers {
			if t.ID == id {
				return t, s
			}
		}
	}
	return nil, nil
}

// Triggers returns every declared trigger in file order.
func (m *Machine) Triggers() []*Trigger {
	var all []*Trigger
	for _, s := range m.States {
		all = append(all, s.Triggers...)
	}
	return all
}

// Only returns the machine with s as its one state: a view that asks what would
// hold if the state were written differently. The lists are m's own.
func (m *Machine) Only(s *State) *Machine {
	view := *m
	view.States, view.index = []*State{s}, map[string]*State{s.Slug: s}
	return &view
}

// State is one node of the machine.
type State struct {
	Slug         string
	Kind         Kind
	Title        string
	Summary      string
	Instructions string
	Triggers     []*Trigger // in file order
	Transitions  []*Edge    // in file order; none: terminal
	Tools        StateTools
	Skills       StateNames
	Mounts       StateMounts
	Requires     []Name
	Model        string
	Budget       Budget
	OnError      string // "" when absent
	Before       []*Hook
	After        []*Hook
	Script       string // code states: path as authored, inside scripts/
	Approvers    string
	Evidence     []Name // human states: declared evidence paths

	Range        diag.Range // of the state's key
	OnErrorRange diag.Range
	ScriptRange  diag.Range
	ModelRange   diag.Range
}

// Terminal reports whether the state has no edges.
func (s *State) Terminal() bool { return len(s.Transitions) == 0 }

// Edge returns the edge to target, or nil.
func (s *State) Edge(target string) *Edge {
	for _, e := range s.Transitions {
		if e.To == target {
			return e
		}
	}
	return nil
}

// Edge is one transition.
type Edge struct {
	To               string
	Description      string
	Type             EdgeType
	Range            diag.Range // of the `to` value
	DescriptionRange diag.Range
}

// Trigger is a named entry to the machine.
type Trigger struct {
	ID          string
	State       string // the state it enters
	Session     string // dotted path, "" when absent
	Message     string // dotted path, "" when absent
	NoMessage   bool   // `message: false`
	Connection  string
	Description string
	Requires    []*Entry
	Returns     []*Entry
	Extra       map[string]any // unknown keys, preserved
	Range       diag.Range
}

// Entry is one signature entry. Its Type is "" when untyped.
type Entry struct {
	Name        string
	Type        string // string, integer, number, boolean, date, date-time, file, object, array, or ""
	Description string
	Rules       Rules
	Range       diag.Range
}

// Rules are the constraints of an entry; nil or "" means not given. Numbers are
// kept as written.
type Rules struct {
	Format               string // email, url, phone
	Pattern              string // RE2
	MinLength, MaxLength *int   // code points
	Enum                 []any  // strings, or json.Number
	Content              string // media type
	Minimum, Maximum     any    // json.Number, or a string: a date, a date-time, `today`, `now`
	Accept               []string
	MaxSize              *int64 // bytes
	MaxSizeText          string // as written, "10MB"
	MinItems, MaxItems   *int
}

// Name is a string with its place.
type Name struct {
	Value string
	Range diag.Range
}

// ToolLists are the root's tools block.
type ToolLists struct{ AllowAlways, ForbidAlways []*ToolEntry }

// StateTools are a state's tools block. HasAllow tells `allow: []` from absent.
type StateTools struct {
	Allow, Forbid []*ToolEntry
	HasAllow      bool
	AllowRange    diag.Range // of the key
}

// ToolEntry grants or denies a tool, perhaps only for some arguments.
type ToolEntry struct {
	Tool       string
	Args       []ArgGuard // in file order
	Paths      []Glob     // over every argument that the tool declares as a path
	Connection string
	Source     string
	Range      diag.Range
	ToolRange  diag.Range // of the tool's name
}

// Constrained reports whether the entry guards arguments or paths.
func (e *ToolEntry) Constrained() bool { return len(e.Args) > 0 || len(e.Paths) > 0 }

// ArgGuard is one argument's globs; it matches when any glob does.
type ArgGuard struct {
	Name  string // dotted for nested
	Globs []Glob
	Range diag.Range
}

// Glob is a pattern as written, perhaps with ${{references}}.
type Glob struct {
	Text  string
	Parts []GlobPart // Text, parsed: literal pattern text and references in turn
	Range diag.Range
}

// GlobPart is pattern text, or a reference when Ref is not nil.
type GlobPart struct {
	Text string
	Ref  *Reference
}

// Reference is ${{name.path.-1.x}}.
type Reference struct {
	Name string
	Path []string
	Text string // as written, with the braces
}

// NameLists are the root's skills block.
type NameLists struct{ AllowAlways, ForbidAlways []Name }

// StateNames are a state's skills block.
type StateNames struct {
	Allow, Forbid []Name
	HasAllow      bool
	AllowRange    diag.Range // of the key
}

// MountLists are the root's mounts block.
type MountLists struct {
	AllowAlways  []MountGrant
	ForbidAlways []Name
}

// StateMounts are a state's mounts block.
type StateMounts struct {
	Allow      []MountGrant
	Forbid     []Name
	HasAllow   bool
	AllowRange diag.Range // of the key
}

// MountGrant enables a mount; Write is `access: read_write`.
type MountGrant struct {
	Mount      string // slashes stripped
	Write      bool
	Range      diag.Range
	MountRange diag.Range // of the mount's name
}

// Budget bounds a state; 0 means no bound.
type Budget struct {
	MaxTurns  int // model calls since the state was last entered
	TimeoutMs int // since entry, parked time excluded
	MaxParks  int
	MaxVisits int // entries per turn
}

// Settings are the root's settings block, defaults applied.
type Settings struct {
	Model            string // "" when absent
	TimeoutMs        int
	MemoryLimitBytes int64
	MaxPtcCalls      *int // nil: no bound
	MaxResultChars   int
	PromptCache      *PromptCache // nil when absent
	Context          Context
	ModelRange       diag.Range
}

// PromptCache is settings.prompt_cache.
type PromptCache struct {
	Enabled bool
	TTL     string // "5m" or "1h", "" when absent
}

// Context says when to compact the history; 0 means the default.
type Context struct{ MaxTokens, KeepMessages int }

// Hook is one lifecycle hook: exactly one of Script, Rubric and Kind is set.
type Hook struct {
	Script           string
	Rubric           *Rubric
	Kind             string
	Value            any // of a custom kind
	MaxIterations    int
	HasMaxIterations bool
	Range            diag.Range
}

// Rubric is a graded hook.
type Rubric struct {
	Instructions  string
	MaxIterations int
	Model         string
}
