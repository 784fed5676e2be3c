package render

import (
	"fmt"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// Workflows is what `workflows --json` prints.
type Workflows struct {
	Version   int            `json:"version"`
	Workflows []WorkflowInfo `json:"workflows"`
}

// WorkflowInfo is a workflow with its triggers. Error says why it could not be
// loaded; Version and States are of one workflow only.
type WorkflowInfo struct {
	Version  int           `json:"version,omitempty"`
	Workflow string        `json:"workflow"`
	Title    string        `json:"title,omitempty"`
	Disabled bool          `json:"disabled,omitempty"`
	File     string        `json:"file,omitempty"`
	SpecHash string        `json:"specHash,omitempty"`
	Triggers []TriggerInfo `json:"triggers"`
	States   []StateInfo   `json:"states,omitempty"`
	Error    string        `json:"error,omitempty"`
}

// TriggerInfo is a trigger with its signature.
type TriggerInfo struct {
	ID          string           `json:"id"`
	State       string           `json:"state"`
	Description string           `json:"description,omitempty"`
	Requires    []SignatureEntry `json:"requires"`
	Returns     []SignatureEntry `json:"returns"`
}

// SignatureEntry is one name of a signature with its rules as they are written
// in workflow.yaml.
type SignatureEntry struct {
	Name        string   `json:"name"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description,omitempty"`
	Format      string   `json:"format,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	MinLength   *int     `json:"minLength,omitempty"`
	MaxLength   *int     `json:"maxLength,omitempty"`
	Enum        []any    `json:"enum,omitempty"`
	Content     string   `json:"content,omitempty"`
	Minimum     any      `json:"minimum,omitempty"`
	Maximum     any      `json:"maximum,omitempty"`
	Accept      []string `json:"accept,omitempty"`
	MaxSize     string   `json:"maxSize,omitempty"`
	MinItems    *int     `json:"minItems,omitempty"`
	MaxItems    *int     `json:"maxItems,omitempty"`
}

// StateInfo is a state with its edges.
type StateInfo struct {
	State       string     `json:"state"`
	Kind        spec.Kind  `json:"kind"`
	Title       string     `json:"title,omitempty"`
	Transitions []EdgeInfo `json:"transitions"`
}

// EdgeInfo is one transition.
type EdgeInfo struct {
	To          string        `json:"to"`
	Description string        `json:"description,omitempty"`
	Type        spec.EdgeType `json:"type,omitempty"`
}

// NewWorkflows is the listing, in the order given.
func NewWorkflows(list []WorkflowInfo) Workflows {
	return Workflows{Version: Version, Workflows: orEmpty(list)}
}

// BrokenWorkflow is a workflow that could not be loaded.
func BrokenWorkflow(slug string, err error) WorkflowInfo {
	return WorkflowInfo{Workflow: slug, Triggers: []TriggerInfo{}, Error: OneLine(err.Error())}
}

// ListedWorkflow is m as the listing has it.
func ListedWorkflow(m *spec.Machine) WorkflowInfo {
	info := WorkflowInfo{Workflow: m.Slug, Title: m.Title, Disabled: m.Disabled, File: m.File, SpecHash: m.Hash, Triggers: []TriggerInfo{}}
	for _, t := range m.Triggers() {
		info.Triggers = append(info.Triggers, TriggerInfo{
			ID: t.ID, State: t.State, Description: t.Description, Requires: signature(t.Requires), Returns: signature(t.Returns),
		})
	}
	return info
}

// OneWorkflow is m in full: the states too.
func OneWorkflow(m *spec.Machine) WorkflowInfo {
	info := ListedWorkflow(m)
	info.Version = Version
	for _, s := range m.States {
		state := StateInfo{State: s.Slug, Kind: s.Kind, Title: s.Title, Transitions: []EdgeInfo{}}
		for _, e := range s.Transitions {
			state.Transitions = append(state.Transitions, EdgeInfo{To: e.To, Description: e.Description, Type: e.Type})
		}
		info.States = append(info.States, state)
	}
	return info
}

func signature(entries []*spec.Entry) []SignatureEntry {
	out := make([]SignatureEntry, len(entries))
	for i, e := range entries {
		r := e.Rules
		out[i] = SignatureEntry{
			Name: e.Name, Type: e.Type, Description: e.Description, Format: r.Format, Pattern: r.Pattern,
			MinLength: r.MinLength, MaxLength: r.MaxLength, Enum: r.Enum, Content: r.Content,
			Minimum: r.Minimum, Maximum: r.Maximum, Accept: r.Accept, MaxSize: r.MaxSizeText,
			MinItems: r.MinItems, MaxItems: r.MaxItems,
		}
	}
	return out
}

// String is the entry on one line: "order_id: string (pattern ^ORD-)".
func (e SignatureEntry) String() string {
	text := e.Name
	if e.Type != "" {
		text += ": " + e.Type
	}
	var rules []string
	add := func(name, value string) {
		if value != "" {
			rules = append(rules, name+" "+value)
		}
	}
	add("format", e.Format)
	add("pattern", e.Pattern)
	add("minLength", number(e.MinLength))
	add("maxLength", number(e.MaxLength))
	add("one of", joined(e.Enum))
	add("content", e.Content)
	add("minimum", bound(e.Minimum))
	add("maximum", bound(e.Maximum))
	add("accept", strings.Join(e.Accept, ", "))
	add("maxSize", e.MaxSize)
	add("minItems", number(e.MinItems))
	add("maxItems", number(e.MaxItems))
	if len(rules) > 0 {
		text += " (" + strings.Join(rules, "; ") + ")"
	}
	return OneLine(text)
}

func number(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func bound(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func joined(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

// names lists a signature's entries with their types: "order_id: string, note".
func names(entries []SignatureEntry) string {
	words := make([]string, len(entries))
	for i, e := range entries {
		words[i] = e.Name
		if e.Type != "" {
			words[i] += ": " + e.Type
		}
	}
	return OneLine(strings.Join(words, ", "))
}
