// Package governance is the decision kernel: one pure function that says what a
// session may do (spec: governance.md). Nothing else in the program decides;
// the runtime and validate call it with the same inputs, so they cannot
// disagree. It imports spec and nothing else of ours.
package governance

import (
	"github.com/archmax-ai/archmax/internal/spec"
)

// Origin says who makes a call.
type Origin string

// The three origins.
const (
	FromAgent     Origin = "agent"
	FromScript    Origin = "script"
	FromLifecycle Origin = "lifecycle"
)

// Use is how a call uses one of its path arguments.
type Use string

// The uses a tool may declare.
const (
	Read    Use = "read"
	List    Use = "list"
	Search  Use = "search"
	Write   Use = "write"
	Remove  Use = "remove"
	Execute Use = "execute"
)

// PathArg declares that an argument names a path (or a list of paths) and how
// the call uses it. Default is the path meant when the call leaves it out ("" =
// none: then an absent argument is no path).
type PathArg struct {
	Name    string
	Use     Use
	Default string
}

// ToolInfo is what the kernel knows of a tool.
type ToolInfo struct {
	Name     string
	Paths    []PathArg
	AlwaysOn bool // the built-in list of governance.md, and essential_tools
	Control  bool
	ReadOnly bool // the tool only reads: a grader state is given no other (automation.md)
}

// Mount is one row of the resolved mount table.
type Mount struct {
	Name       string // slashes stripped: "skills", "catalogs/eu", "AGENTS.md"
	ReadOnly   bool
	Governed   bool
	Searchable bool
	File       bool // an exact file mount
}

// Policy is a workspace policy rule, compiled elsewhere. Blocks reports whether
// the rule blocks the call; an error means it could not be evaluated, which
// blocks too.
type Policy struct {
	Name   string
	Deny   string
	Blocks func(PolicyInput) (bool, error)
}

// PolicyInput is what a policy expression sees.
type PolicyInput struct {
	Tool      string
	Args      map[string]any
	State     string
	Origin    Origin
	Variables map[string]any
	Paths     []string
}

// Env is everything a decision may depend on beside the machine and the action.
type Env struct {
	Variables map[string]any // name to plain value
	Mounts    []Mount
	Skills    []string // slugs of the bundles that exist
	Tools     *ToolSet // registration order
	Policies  []Policy
	Ancestors []*spec.Machine // callers of a child session, nearest first: their forbid_always bind it

	// AncestorVariables are the variables of each ancestor's session, aligned
	// with Ancestors. A reference in an ancestor's denial is a name of that
	// ancestor's, so it resolves here and never against the child's own store,
	// which the child could set to slip past it. An ancestor without variables
	// here resolves no reference, and such a denial is then a fatal block.
	AncestorVariables []map[string]any
}

// Call is a tool call to be decided.
type Call struct {
	State     string
	Tool      string         // as called
	Args      map[string]any // what JSON decodes to: []any, map[string]any, json.Number or float64, …
	Origin    Origin
	ReplyOnly bool
}

// Transition is an edge to be decided. Hooks are the outcomes of the hooks that
// have run, in order; none ran when it is empty.
type Transition struct {
	From, To, Reason string
	Hooks            []HookOutcome
}

// HookOutcome is what a hook said. Verdict is ok, veto, correct or error.
type HookOutcome struct {
	Phase   string // before, after
	Verdict string
	Reason  string
}

// Entry is the entry of a state that no advance leads to: the opening of a turn,
// an on_error route, a decision. Hooks are the outcomes of its before hooks.
type Entry struct {
	State string
	Hooks []HookOutcome
}

// Completion is the end of a turn in State. Hooks are the outcomes of its after
// hooks, which run in a terminal state.
type Completion struct {
	State string
	Hooks []HookOutcome
}

// Hit is one path that a search found, decided as a read before anybody sees
// it: it is allowed when read_file on it would be, and no denial of the
// searching tool is about it. What that tool is granted is decided with its
// call.
type Hit struct {
	State  string
	Tool   string // the searching tool: ls, glob, grep
	Path   string
	Origin Origin
}

// Action is a Call, a Hit, a Transition, an Entry or a Completion.
type Action interface{ action() }

func (Call) action()       {}
func (Hit) action()        {}
func (Transition) action() {}
func (Entry) action()      {}
func (Completion) action() {}

// Verdict is the kernel's answer. The zero Verdict is a block.
type Verdict struct {
	Allow  bool
	Rule   string // stable id, e.g. tool.not-allowed
	Reason string // for the model: the tool, the state, what is allowed instead
	Fatal  bool   // the state cannot go on; routed through on_error
}
