package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// toolbox is every tool that the runtime can hand to a model: what the kernel
// knows of it, how it is described, and, for all but control tools, how it
// runs. The order of registration is control tools, built-ins, host tools.
type toolbox struct {
	set    *governance.ToolSet
	defs   map[string]*model.Tool
	byName map[string]tool
}

func newToolbox(opts Options) toolbox {
	b := toolbox{defs: map[string]*model.Tool{}, byName: map[string]tool{}}
	infos := slices.Concat(governance.Controls(), governance.Builtins())
	for _, h := range opts.HostTools {
		infos = append(infos, h.ToolInfo)
		b.describe(workspace.Definition{Name: h.Name, Description: h.Description, Schema: h.Schema})
		b.byName[h.Name] = tool{rerun: h.Idempotent, host: h.Run}
	}
	for i := range infos {
		if slices.Contains(opts.EssentialTools, infos[i].Name) {
			infos[i].AlwaysOn = true
		}
	}
	b.set = governance.NewToolSet(infos)
	for _, file := range workspace.Tools() {
		b.byName[file.Name] = tool{rerun: file.ReadOnly, shape: file.Misshapen, run: file.Run}
	}
	b.byName[toolTodos] = tool{rerun: true, run: runTodos}
	for _, d := range ToolDefinitions() {
		b.describe(d)
	}
	return b
}

func (b toolbox) describe(d workspace.Definition) {
	b.defs[d.Name] = &model.Tool{Name: d.Name, Description: d.Description, Schema: d.Schema}
}

func (b toolbox) definition(name string) *model.Tool { return b.defs[name] }

// tool runs one call; a rerun one may be run again after a crash.
// Of run (a built-in) and host (the workspace's) one is set.
type tool struct {
	rerun bool
	shape func(args map[string]any) error // what is wrong with the arguments; nil: not known
	run   func(context.Context, *workspace.Workspace, workspace.Call) (workspace.Result, error)
	host  func(context.Context, ToolCall) (string, error)
}

const toolTodos = "write_todos"

// runTodos checks a list of todos; the list itself is stored in the journal
// with the call's result.
func runTodos(_ context.Context, _ *workspace.Workspace, c workspace.Call) (workspace.Result, error) {
	items, err := workspace.ParseTodos(c.Args)
	if err != nil {
		return workspace.Result{}, err
	}
	return workspace.Result{Text: fmt.Sprintf("Stored %d todos.", len(items))}, nil
}

// param is one argument of a control tool.
type param struct {
	name, kind, description string // kind: string, boolean, object, strings
	required, filled        bool   // filled: not blank
}

// controlTool describes one control tool; its schema and the check of its
// arguments come from the same table.
type controlTool struct {
	name, description string
	params            []param
}

var controls = []controlTool{
	{toolAdvance, "Move the run along one of this state's transitions. The last call of its message.", []param{
		{"to", "string", "Slug of the target state, as listed under Transitions.", true, true},
		{"reason", "string", "Why this transition fits, for the record.", true, true},
		{"evidence", "strings", "Paths of files a person should read (only into a human decision node, at most 20).", false, false},
	}},
	{toolReset, "Go back to the state where the run began. What was said and stored is kept.", []param{
		{"reason", "string", "Why the task starts over.", true, true},
	}},
	{toolWait, "Stop the run durably until something is delivered; it goes on in this state.", []param{
		{"reason", "string", "What the run waits for.", true, true},
		{"until", "string", "When to go on at the latest: an integer with ms, s, m, h or d, or an ISO instant.", false, false},
	}},
	{toolRaise, "End the run as failed. The only call of its message.", []param{
		{"code", "string", "A short code, 1 to 64 characters.", true, true},
		{"reason", "string", "What went wrong, for a person.", true, true},
	}},
	{toolGet, "Read the run's variables: all, one, or one path into one.", []param{
		{"name", "string", "One variable's name.", false, false},
		{"path", "string", "A dotted path into it, such as items.-1.id.", false, false},
	}},
	{toolSet, "Set variables of the run. All of them, or none.", []param{
		{"variables", "object", "Name to value.", true, false},
		{"lock", "boolean", "Lock them, so that they cannot be changed again.", false, false},
	}},
}

func (c controlTool) schema() json.RawMessage {
	type property struct {
		Type        string    `json:"type"`
		Items       *property `json:"items,omitempty"`
		Description string    `json:"description,omitempty"`
	}
	var props strings.Builder
	var required []string
	for i, p := range c.params {
		prop := property{Type: p.kind, Description: p.description}
		if p.kind == "strings" {
			prop.Type, prop.Items = "array", &property{Type: "string"}
		}
		raw, _ := session.Encode(prop) // strings always encode
		if i > 0 {
			props.WriteByte(',')
		}
		fmt.Fprintf(&props, "%q:%s", p.name, raw)
		if p.required {
			required = append(required, p.name)
		}
	}
	out := `{"type":"object","properties":{` + props.String() + `}`
	if len(required) > 0 {
		raw, _ := session.Encode(required)
		out += `,"required":` + string(raw)
	}
	return json.RawMessage(out + "}")
}

// ToolDefinitions are the tools that the runtime itself brings, as a model is
// told of them: the control tools, the file tools and write_todos, in the order
// of registration. Which of them a state offers is the kernel's to say.
func ToolDefinitions() []workspace.Definition {
	var defs []workspace.Definition
	for _, c := range controls {
		defs = append(defs, workspace.Definition{Name: c.name, Description: c.description, Schema: c.schema()})
	}
	for _, file := range workspace.Tools() {
		defs = append(defs, file.Definition)
	}
	return append(defs, workspace.TodosDefinition())
}

// controlArgs is the arguments of a control call.
type controlArgs struct{ m map[string]any }

func (a controlArgs) text(name string) string {
	s, _ := a.m[name].(string)
	return s
}

func (a controlArgs) list(name string) []string {
	items, _ := a.m[name].([]any)
	var out []string
	for _, it := range items {
		s, _ := it.(string)
		out = append(out, s)
	}
	return out
}

// problem says what is wrong with the arguments, naming the field, "" when
// nothing is.
func (c controlTool) problem(args controlArgs) string {
	var known []string
	for _, p := range c.params {
		known = append(known, p.name)
		v, given := args.m[p.name]
		if !given || v == nil {
			if p.required {
				return fmt.Sprintf("%s: %q is required; nothing was done", c.name, p.name)
			}
			continue
		}
		if !p.fits(v) {
			return fmt.Sprintf("%s: %q must be %s; nothing was done", c.name, p.name, map[string]string{
				"string": "a string", "boolean": "true or false", "object": "an object", "strings": "a list of strings",
			}[p.kind])
		}
		if p.filled && strings.TrimSpace(args.text(p.name)) == "" {
			return fmt.Sprintf("%s: %q must not be blank; nothing was done", c.name, p.name)
		}
	}
	for name := range args.m {
		if !slices.Contains(known, name) {
			return fmt.Sprintf("%s has no argument %q; it takes %s; nothing was done", c.name, bound(name, 60), strings.Join(known, ", "))
		}
	}
	return ""
}

func (p param) fits(v any) bool {
	switch p.kind {
	case "string":
		_, ok := v.(string)
		return ok
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "object":
		_, ok := v.(map[string]any)
		return ok
	}
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(it any) bool { _, s := it.(string); return !s })
}

func controlNamed(name string) controlTool {
	i := slices.IndexFunc(controls, func(c controlTool) bool { return c.name == name })
	return controls[i]
}
