package governance

import (
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// call is one decision at work: the action with everything resolved that the
// rules ask for more than once.
type call struct {
	m      *spec.Machine
	slug   string      // of the state
	state  *spec.State // nil when the machine declares none of that slug
	env    *Env
	called string    // the name as called
	name   string    // of the tool that it means
	tool   *ToolInfo // nil when the name is not a tool
	args   map[string]any
	origin Origin

	replyOnly bool
	hit       bool // a search result, decided as a read of its path
	paths     []location
	room      [2]location // backs paths: no built-in names more
}

// location is one path of a call.
type location struct {
	arg     string
	use     Use
	raw     string // as called
	zone    Zone
	implied bool // the argument was left out and this is its default
}

// locate finds every path that the call's arguments name, by the tool's
// declarations. An argument may be a path or a list of paths; anything else is
// put in the zone ZoneEscapes, since no rule could place it.
func (c *call) locate() {
	c.paths = c.room[:0]
	for _, arg := range c.tool.Paths {
		given := argument(c.args, arg.Name)
		if given.n == 0 || given.n == 1 && given.v[0] == nil && arg.Default != "" {
			if arg.Default != "" {
				c.add(arg, arg.Default, true)
			}
			continue
		}
		for _, v := range given.v[:given.n] {
			c.addValue(arg, v)
		}
	}
}

func (c *call) addValue(arg PathArg, v any) {
	switch v := v.(type) {
	case string:
		c.add(arg, v, false)
	case []any:
		for _, item := range v {
			if path, ok := item.(string); ok {
				c.add(arg, path, false)
			} else {
				c.misshapen(arg)
			}
		}
	default:
		c.misshapen(arg)
	}
}

func (c *call) add(arg PathArg, raw string, implied bool) {
	c.paths = append(c.paths, location{arg.Name, arg.Use, raw, ZoneOf(raw, c.env.Mounts), implied})
}

func (c *call) misshapen(arg PathArg) {
	zone := Zone{Kind: ZoneEscapes, problem: "must be a path or a list of paths"}
	c.paths = append(c.paths, location{arg: arg.Name, use: arg.Use, zone: zone})
}

// declares reports whether the tool declares the argument as a path.
func (c *call) declares(arg string) bool {
	return slices.ContainsFunc(c.tool.Paths, func(p PathArg) bool { return p.Name == arg })
}

// given is what a call carries under one name.
type given struct {
	v [2]any
	n int
}

// argument finds an argument by the name that a guard or a declaration gives it:
// the literal key, else the nested value that a dotted name leads to. A call
// that carries both answers both: which one the tool reads is not known here, so
// a grant needs both to match and a denial either.
func argument(args map[string]any, name string) (g given) {
	if v, ok := args[name]; ok {
		g.v[0], g.n = v, 1
	}
	if strings.IndexByte(name, '.') < 0 {
		return g
	}
	if v, ok := spec.Lookup(args, strings.Split(name, ".")); ok {
		g.v[g.n] = v
		g.n++
	}
	return g
}

// writes reports whether the use changes what is at the path.
func (u Use) writes() bool { return u == Write || u == Remove }
