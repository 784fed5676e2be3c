package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/spec"
)

// arguments are the arguments of the tools that the runtime brings, by tool: name
// to JSON Schema type. A host tool's are not held against guards: its schema may
// let any argument through.
var arguments = sync.OnceValue(func() map[string]map[string]string {
	byTool := map[string]map[string]string{}
	for _, d := range runtime.ToolDefinitions() {
		var schema struct {
			Properties map[string]struct{ Type string }
		}
		if err := json.Unmarshal(d.Schema, &schema); err != nil {
			continue // then nothing is known of it
		}
		byTool[d.Name] = map[string]string{}
		for name, p := range schema.Properties {
			byTool[d.Name][name] = p.Type
		}
	}
	return byTool
})

// argumentNames warns of guards on arguments that a tool does not have. A call
// that carries one is refused for it, and one that does not satisfies no grant
// and matches no denial (language.md, "Tool entries").
func (c *checker) argumentNames() {
	check := func(list []*spec.ToolEntry, field, effect string) {
		for i, e := range list {
			for _, g := range e.Args {
				c.argumentName(e, g, item(field, i), effect)
			}
		}
	}
	// allow_always is left out: an entry for such a tool is inert whatever it says.
	check(c.m.Tools.ForbidAlways, "tools.forbid_always", "forbids")
	for _, s := range c.m.States {
		check(s.Tools.Allow, stateField(s, "tools", "allow"), "grants")
		check(s.Tools.Forbid, stateField(s, "tools", "forbid"), "forbids")
	}
}

func (c *checker) argumentName(e *spec.ToolEntry, g spec.ArgGuard, field, effect string) {
	known, ok := arguments()[e.Tool]
	if !ok {
		return
	}
	first, rest, _ := strings.Cut(g.Name, ".")
	kind, ok := known[first]
	what := fmt.Sprintf("has no argument `%s`", first)
	hint := nearHint(first, slices.Sorted(maps.Keys(known)), "it takes "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	if ok {
		if rest == "" || kind == "object" || kind == "array" {
			return
		}
		what = fmt.Sprintf("has nothing inside its argument `%s`, which is of type %s", first, kind)
		hint = fmt.Sprintf("guard `%s` itself", first)
	}
	c.d.Warnf(diag.UnknownTool, g.Range, spec.Join(field, "args", g.Name), hint, "`%s` %s, so the entry %s nothing", e.Tool, what, effect)
}

// terminalRequires warns of `requires` where no edge leads out: it holds edges
// back, and nothing else.
func (c *checker) terminalRequires() {
	for _, s := range c.m.States {
		if s.Terminal() && len(s.Requires) > 0 {
			c.d.Warnf(diag.KeyNotForKind, s.Requires[0].Range, stateField(s, "requires"),
				"demand it before: in the `requires` of the states that lead here, or as a return of the trigger",
				"`%s` is terminal and never left, so its `requires` holds nothing back", s.Slug)
		}
	}
}
