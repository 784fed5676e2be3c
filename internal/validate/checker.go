package validate

import (
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Names of the control tools that rules here are about.
const (
	toolAdvance = "archmax_advance"
	toolWait    = "archmax_wait"
	toolRun     = "archmax_run"
)

// checker is the check of one machine.
type checker struct {
	in  *Input
	m   *spec.Machine
	d   *spec.Decoder // gathers
	env *governance.Env

	known   map[string]bool // tools that are built in or declared
	offers  [][]string      // by state: the tools it would have without any denial
	denials denials         // tools.forbid_always
	work    int             // what is left of maxWork
}

// maxWork bounds the comparisons of grants with denials in one workflow: a file
// that lists thousands of both for one tool is not looked at to the end.
const maxWork = 300_000

func newChecker(in *Input, m *spec.Machine) *checker {
	c := &checker{in: in, m: m, d: spec.NewDecoder(), known: map[string]bool{}, work: maxWork}
	infos := slices.Concat(governance.Controls(), governance.Builtins(), in.Tools)
	for i := range infos {
		infos[i].AlwaysOn = infos[i].AlwaysOn || slices.Contains(in.Essential, infos[i].Name)
		c.known[infos[i].Name] = true
	}
	// A name that nothing declares may be an MCP server's tool, so it stands for a
	// tool of which nothing is known. Delegation tools are made when they are
	// called.
	placed := map[string]bool{}
	c.eachGrant(func(_ *spec.State, e *spec.ToolEntry, _ string) {
		if !c.known[e.Tool] && !placed[e.Tool] && e.Tool != "*" {
			placed[e.Tool] = true
			infos = append(infos, governance.ToolInfo{Name: e.Tool, ReadOnly: true})
		}
	})
	c.env = &governance.Env{Mounts: in.Mounts, Skills: in.Skills, Tools: governance.NewToolSet(infos)}
	c.denials = newDenials(m.Tools.ForbidAlways)
	c.findOffers()
	return c
}

// eachGrant calls visit with every tool grant, the root's first with a nil state,
// and its field.
func (c *checker) eachGrant(visit func(s *spec.State, e *spec.ToolEntry, field string)) {
	for i, e := range c.m.Tools.AllowAlways {
		visit(nil, e, item("tools.allow_always", i))
	}
	for _, s := range c.m.States {
		for i, e := range s.Tools.Allow {
			visit(s, e, item(stateField(s, "tools", "allow"), i))
		}
	}
}

// findOffers asks the kernel which tools each state would have if nothing were
// denied, to the agent or to the script that stands for it.
func (c *checker) findOffers() {
	open := *c.m
	open.Tools.ForbidAlways = nil
	var plain map[spec.Kind][]string // of states without grants of their own
	c.offers = make([][]string, len(c.m.States))
	for i, s := range c.m.States {
		key := s.Kind
		if s.Kind == spec.Agent && s.Terminal() {
			key = "terminal"
		}
		if len(s.Tools.Allow) == 0 && plain[key] != nil {
			c.offers[i] = plain[key]
			continue
		}
		view := *s
		view.Tools.Forbid = nil
		c.offers[i] = governance.DiscloseTo(open.Only(&view), s.Slug, c.env, governance.FromAgent)
		if len(s.Tools.Allow) == 0 {
			if plain == nil {
				plain = map[spec.Kind][]string{}
			}
			plain[key] = c.offers[i]
		}
	}
}

// offersNamed reports whether the i-th state would have a tool that a denial
// names: that very one, any but the control tools for `*`, or the one with that
// bare action.
func (c *checker) offersNamed(i int, e *spec.ToolEntry) bool {
	if slices.Contains(c.offers[i], e.Tool) {
		return true
	}
	suffix := "__" + e.Tool
	if e.Tool != "*" && !slices.ContainsFunc(c.offers[i], func(name string) bool { return strings.HasSuffix(name, suffix) }) {
		return false
	}
	view := *c.m.States[i]
	view.Tools.Forbid = []*spec.ToolEntry{{Tool: e.Tool}}
	open := *c.m
	open.Tools.ForbidAlways = nil
	left := governance.DiscloseTo(open.Only(&view), view.Slug, c.env, governance.FromAgent)
	return len(left) < len(c.offers[i])
}

// origin is who makes a state's calls.
func origin(s *spec.State) governance.Origin {
	if s.Kind == spec.Code {
		return governance.FromScript
	}
	return governance.FromAgent
}

// bindsOthers reports whether the denials of the root reach beyond the states'
// own calls: into the workflows it calls, or to the scripts of its hooks, which
// may call any tool. Then a denial of what no state grants is of use.
func (c *checker) bindsOthers() bool {
	found := false
	c.eachGrant(func(_ *spec.State, e *spec.ToolEntry, _ string) {
		found = found || strings.HasPrefix(e.Tool, spec.DelegationPrefix)
	})
	script := func(h *spec.Hook) bool { return h.Script != "" }
	return found || slices.ContainsFunc(c.m.States, func(s *spec.State) bool {
		return slices.ContainsFunc(s.Before, script) || slices.ContainsFunc(s.After, script)
	})
}

// denials are the entries of a forbid list, found by the tool they may name.
type denials struct {
	byTool map[string][]*spec.ToolEntry
	all    []*spec.ToolEntry // of `*`
}

func newDenials(list []*spec.ToolEntry) denials {
	d := denials{}
	if len(list) > 0 {
		d.byTool = make(map[string][]*spec.ToolEntry, len(list))
	}
	for _, e := range list {
		if e.Tool == "*" {
			d.all = append(d.all, plainEntry(e))
		} else {
			d.byTool[e.Tool] = append(d.byTool[e.Tool], plainEntry(e))
		}
	}
	return d
}

// of lists the denials that may be about a tool; the kernel says whether they
// are.
func (d denials) of(tool string) []*spec.ToolEntry {
	list := d.all
	if len(d.byTool) == 0 {
		return list
	}
	if own := d.byTool[tool]; len(own) > 0 {
		list = slices.Concat(list, own)
	}
	if _, bare, ok := strings.Cut(tool, "__"); ok {
		list = slices.Concat(list, d.byTool[bare])
	}
	return list
}

// plainEntry is the entry with a word for each reference, so that it can be
// decided about without variables.
func plainEntry(e *spec.ToolEntry) *spec.ToolEntry {
	plain := *e
	plain.Paths = plainGlobs(e.Paths)
	plain.Args = slices.Clone(e.Args)
	for i := range plain.Args {
		plain.Args[i].Globs = plainGlobs(plain.Args[i].Globs)
	}
	return &plain
}

func plainGlobs(globs []spec.Glob) []spec.Glob {
	plain := make([]spec.Glob, len(globs))
	for i := range globs {
		text := literal(&globs[i])
		plain[i] = spec.Glob{Text: text, Parts: []spec.GlobPart{{Text: text}}, Range: globs[i].Range}
	}
	return plain
}

// malformed reports whether the loader has refused a name in a list, so that it is
// no mistake of another kind too.
func malformed(name string) bool {
	slug, calls := strings.CutPrefix(name, spec.DelegationPrefix)
	return strings.ContainsAny(name, "*?[]{}\\ \t\r\n\x00") && name != "*" || calls && !spec.ValidSlug(slug)
}

func stateField(s *spec.State, keys ...string) string {
	return spec.Join(spec.Join("states", s.Slug), keys...)
}

// nearHint is a hint that names the one of known that was probably meant, or
// other.
func nearHint(word string, known []string, other string) string {
	if near := diag.Nearest(word, known); near != "" {
		return "did you mean `" + near + "`?"
	}
	return other
}
