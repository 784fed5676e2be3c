// Package prompt writes the system message of a model call, deterministically
// (spec: runtime.md, "The prompt"). Static is the same bytes on every call of a
// turn; Volatile changes only when a turn opens, a state is entered, a park
// begins or resumes. Nothing here ever names a state other than the active one
// and its outgoing targets.
package prompt

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

//go:embed platform.md
var platform string

// StaticInput is what the static prefix is made of; "" leaves a part out.
type StaticInput struct {
	Agents       string // AGENTS.md
	House        string // the workspace's system_prompt
	Platform     string // GRAPH_STATE.md; "": the compiled-in prompt
	Mounts       []Mount
	Title        string
	Instructions string
	Prose        string // WORKFLOW.md
}

// Mount is a served tree or file, as the prompt names it.
type Mount struct {
	Name       string // "skills/" for a tree, "AGENTS.md" for a file
	Writable   bool
	BrowseOnly bool // not searchable
}

// Static writes the static prefix.
func Static(in StaticInput) string {
	var parts []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	add(in.Agents)
	add(in.House)
	if strings.TrimSpace(in.Platform) != "" {
		add(in.Platform)
	} else {
		add(platform)
	}
	add(zones(in.Mounts))
	head := "# Workflow"
	if in.Title != "" {
		head += ": " + in.Title
	}
	if in.Instructions != "" {
		head += "\n\n## Instructions\n\n" + strings.TrimSpace(in.Instructions)
	}
	add(head)
	add(in.Prose)
	return strings.Join(parts, "\n\n")
}

func zones(mounts []Mount) string {
	var b strings.Builder
	b.WriteString("# Workspace\n\nPaths are relative to the workspace root and use /.\n\n")
	b.WriteString("- `scratchpad/`: yours to read and write; files that came with a message are in `scratchpad/attachments/`.\n")
	b.WriteString("- `large_tool_results/`, `conversation_history/`: written by the machine; read only.")
	for _, m := range mounts {
		fmt.Fprintf(&b, "\n- `%s`: %s", m.Name, posture(m))
	}
	return b.String()
}

func posture(m Mount) string {
	s := "read only"
	if m.Writable {
		s = "read and write"
	}
	if m.BrowseOnly {
		s += ", browse only (not searched unless addressed)"
	}
	return s + "."
}

// Transition is an outgoing edge as the model sees it.
type Transition struct {
	To, Type, Description string
	Human, Terminal       bool
}

// Skill is an enabled bundle.
type Skill struct{ Slug, Description, Path string }

// Constraint is an argument constraint that an entry puts on a tool, worded
// with references by name.
type Constraint struct{ Tool, Text string }

// SignatureEntry is one entry of the session's own trigger's signature.
type SignatureEntry struct{ Name, Type, Description string }

// Parked says which of the reply-only occasions a call is.
type Parked string

// The occasions; "" is an ordinary call.
const (
	NotParked     Parked = ""
	ParkedEntered Parked = "entered"
	ParkedDecided Parked = "decided"
	ParkedFailed  Parked = "failed"
	ParkedWait    Parked = "wait"
	ParkedReply   Parked = "reply"
)

// VolatileInput is what the volatile block is made of.
type VolatileInput struct {
	State        string
	Parked       Parked
	Instructions string
	Hooks        []string // "after: rubric": by kind only
	Transitions  []Transition
	AskTitle     bool
	Skills       []Skill
	Mounts       []Mount // governed ones that the state has
	Variables    []string
	Constraints  []Constraint
	Requires     []SignatureEntry
	Returns      []SignatureEntry
	Now          time.Time
}

// Volatile writes the volatile block.
func Volatile(in VolatileInput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Current state: %s\n\nThis section is what holds now; it outranks any movement recorded earlier.", in.State)
	if in.Parked != NotParked {
		b.WriteString("\n\n## This run is parked\n\n" + parkedText(in.Parked))
	} else {
		volatileWork(&b, in)
	}
	if len(in.Variables) > 0 {
		b.WriteString("\n\nVariables set: " + code(in.Variables) + ".")
	}
	if in.Parked == NotParked {
		signature(&b, "This run was given", in.Requires)
		signature(&b, "This run must return (set as variables before it ends)", in.Returns)
	}
	fmt.Fprintf(&b, "\n\nThe time is about %s.", in.Now.UTC().Truncate(10*time.Minute).Format("2006-01-02 15:04 UTC (Monday)"))
	return b.String()
}

func volatileWork(b *strings.Builder, in VolatileInput) {
	if in.Instructions != "" {
		b.WriteString("\n\n" + strings.TrimSpace(in.Instructions))
	}
	if in.AskTitle {
		b.WriteString("\n\nThis run has no title yet: set `title` (one line) with `archmax_set_variables` in your first message.")
	}
	if len(in.Hooks) > 0 {
		b.WriteString("\n\nHooks: " + strings.Join(in.Hooks, ", ") + ".")
	}
	if len(in.Transitions) == 0 {
		b.WriteString("\n\nThis state is terminal: there is no transition. Finish, then answer in words.")
	} else {
		b.WriteString("\n\n### Transitions\n")
		for _, t := range in.Transitions {
			fmt.Fprintf(b, "\n- `%s`", t.To)
			var marks []string
			if t.Type != "" && t.Type != "none" {
				marks = append(marks, t.Type)
			}
			if t.Human {
				marks = append(marks, "human decision node")
			}
			if t.Terminal {
				marks = append(marks, "terminal")
			}
			if len(marks) > 0 {
				fmt.Fprintf(b, " (%s)", strings.Join(marks, ", "))
			}
			b.WriteString(": " + oneLine(t.Description))
		}
	}
	if len(in.Skills) > 0 {
		b.WriteString("\n\n### Skills\n")
		for _, s := range in.Skills {
			fmt.Fprintf(b, "\n- `%s`: %s Read `%s`.", s.Slug, sentence(oneLine(s.Description)), s.Path)
		}
	}
	if len(in.Mounts) > 0 {
		b.WriteString("\n\n### Mounts\n")
		for _, m := range in.Mounts {
			fmt.Fprintf(b, "\n- `%s`: %s", m.Name, posture(m))
		}
	}
	if len(in.Constraints) > 0 {
		b.WriteString("\n\n### Constraints on arguments\n")
		for _, c := range in.Constraints {
			fmt.Fprintf(b, "\n- `%s`: %s", c.Tool, c.Text)
		}
	}
}

func parkedText(p Parked) string {
	const bound = " You cannot act: every tool call is refused. Nothing you say decides anything. Answer in one short message."
	switch p {
	case ParkedEntered:
		return "The run has come to a decision that a person makes, outside this conversation. Tell the person you are talking to, briefly, what has been handed over and that a decision is awaited." + bound
	case ParkedDecided:
		return "A person has decided, and the next decision is a person's again, outside this conversation. Tell the person you are talking to, briefly, what was decided and that a further decision is awaited." + bound
	case ParkedFailed:
		return "The work could not go on, and the run was handed to a person, outside this conversation. Tell the person you are talking to, briefly, that somebody takes over and that a decision is awaited." + bound
	case ParkedWait:
		return "You asked to wait and the run has stopped. Tell the person what you are waiting for." + bound
	default:
		return "The person wrote while a decision is awaited from somebody else. Answer what they asked as far as you know it." + bound
	}
}

func signature(b *strings.Builder, head string, entries []SignatureEntry) {
	if len(entries) == 0 {
		return
	}
	b.WriteString("\n\n" + head + ":\n")
	for _, e := range entries {
		fmt.Fprintf(b, "\n- `%s`", e.Name)
		if e.Type != "" {
			fmt.Fprintf(b, " (%s)", e.Type)
		}
		if e.Description != "" {
			b.WriteString(": " + oneLine(e.Description))
		}
	}
}

func code(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	slices.Sort(quoted)
	return strings.Join(quoted, ", ")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
