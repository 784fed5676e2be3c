package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// graph is the machine as states and the moves between them, by their index in
// file order.
type graph struct {
	c      *checker
	states []*spec.State
	next   [][]move
	starts []int

	// stray are states with an edge to a state that is not declared. Such an edge,
	// an error already, may have meant any state, so nothing is concluded from its
	// not leading there.
	stray []bool
}

// move is a way from a state to another: an edge that can be taken, or on_error.
type move struct {
	to      int
	onError bool
}

func newGraph(c *checker) *graph {
	g := &graph{c: c, states: c.m.States, next: make([][]move, len(c.m.States)), stray: make([]bool, len(c.m.States))}
	index := make(map[string]int, len(g.states))
	for i, s := range g.states {
		index[s.Slug] = i
	}
	for i, s := range g.states {
		if len(s.Triggers) > 0 {
			g.starts = append(g.starts, i)
		}
		advance := c.control(s, toolAdvance)
		for _, e := range s.Transitions {
			to, ok := index[e.To]
			if !ok {
				g.stray[i] = true
			} else if advance(map[string]any{"to": e.To, "reason": "It is time."}) {
				g.next[i] = append(g.next[i], move{to: to})
			}
		}
		if to, ok := index[s.OnError]; ok {
			g.next[i] = append(g.next[i], move{to: to, onError: true})
		} else if s.OnError != "" {
			g.stray[i] = true
		}
	}
	return g
}

// control says whether a state may call a control tool with some arguments. A
// person and a code state with a single edge move without a call. A denial that
// hangs on a variable is no certain one.
func (c *checker) control(s *spec.State, tool string) func(args map[string]any) bool {
	if tool == toolAdvance && (s.Kind == spec.Human || s.Kind == spec.Code && len(s.Transitions) == 1) {
		return func(map[string]any) bool { return true }
	}
	about := func(e *spec.ToolEntry) bool { return e.Tool == tool }
	if s.Kind == spec.Agent && !slices.ContainsFunc(s.Tools.Allow, about) && !slices.ContainsFunc(s.Tools.Forbid, about) &&
		!slices.ContainsFunc(c.m.Tools.ForbidAlways, about) {
		return func(map[string]any) bool { return true } // the common case, which the kernel allows
	}
	return func(args map[string]any) bool {
		v := governance.Decide(c.m, governance.Call{State: s.Slug, Tool: tool, Args: args, Origin: origin(s)}, c.env)
		return v.Allow || v.Rule == governance.RuleUnresolvedVariable
	}
}

// maxPath is how many states of a way a message names.
const maxPath = 12

// path words a way through the machine.
func (g *graph) path(states []int) string {
	slugs := make([]string, len(states))
	for i, at := range states {
		slugs[i] = g.states[at].Slug
	}
	if len(slugs) > maxPath {
		slugs = slices.Concat(slugs[:maxPath/2], []string{"…"}, slugs[len(slugs)-maxPath/2:])
	}
	return strings.Join(slugs, " -> ")
}

const unseen = -1

// walk goes breadth first from some states and returns, for each state, the one
// it was reached from: itself for those it began with, unseen for the rest.
func (g *graph) walk(from []int, take func(from int, m move) bool) []int {
	before := make([]int, len(g.states))
	for i := range before {
		before[i] = unseen
	}
	queue := []int{}
	for _, at := range from {
		before[at] = at
		queue = append(queue, at)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, m := range g.next[at] {
			if before[m.to] == unseen && take(at, m) {
				before[m.to] = at
				queue = append(queue, m.to)
			}
		}
	}
	return before
}

// back is the way by which a walk came to a state.
func back(before []int, at int) []int {
	way := []int{at}
	for before[at] != at {
		at = before[at]
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}

// reachability warns of states that no path from any start reaches.
func (g *graph) reachability() {
	if len(g.starts) == 0 {
		return // an error already
	}
	reached := g.walk(g.starts, func(int, move) bool { return true })
	for i := range g.states {
		if g.stray[i] && reached[i] != unseen {
			return
		}
	}
	var leads [][]int // the states with an edge to each, whether it can be taken or not
	for i, s := range g.states {
		if reached[i] != unseen {
			continue
		}
		if leads == nil {
			leads = g.leads()
		}
		why := "no edge and no `on_error` leads to it"
		if way := g.upstream(leads, reached, i); len(way) > 1 {
			why = fmt.Sprintf("it is reached only by %s, and `%s` is not reached", g.path(way), g.states[way[0]].Slug)
			if reached[way[0]] != unseen {
				why = fmt.Sprintf("the way %s is closed, because `%s` is forbidden in `%s`", g.path(way), toolAdvance, g.states[way[0]].Slug)
			}
		}
		g.c.d.Warnf(diag.UnreachableState, s.Range, stateField(s), "lead an edge to it, give it a trigger, or remove it",
			"no path from a start (%s) reaches `%s`: %s", g.startNames(), s.Slug, why)
	}
}

func (g *graph) startNames() string {
	names := make([]string, len(g.starts))
	for i, at := range g.starts {
		names[i] = g.states[at].Slug
	}
	return some(names)
}

func (g *graph) leads() [][]int {
	leads := make([][]int, len(g.states))
	index := make(map[string]int, len(g.states))
	for i, s := range g.states {
		index[s.Slug] = i
	}
	for i, s := range g.states {
		for _, e := range s.Transitions {
			if to, ok := index[e.To]; ok && to != i {
				leads[to] = append(leads[to], i)
			}
		}
		if to, ok := index[s.OnError]; ok && to != i {
			leads[to] = append(leads[to], i)
		}
	}
	return leads
}

// upstream follows edges back from a state, to one that is reached or as far as
// they go.
func (g *graph) upstream(leads [][]int, reached []int, at int) []int {
	way := []int{at}
	for len(way) < maxPath && reached[at] == unseen && len(leads[at]) > 0 && !slices.Contains(way, leads[at][0]) {
		at = leads[at][0]
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}

// traps warns of states that are not terminal and from which no terminal, human
// or waiting state can be reached.
func (g *graph) traps() {
	ways := make([][]int, len(g.states)) // the moves, turned round
	for i := range g.states {
		for _, m := range g.next[i] {
			ways[m.to] = append(ways[m.to], i)
		}
	}
	var queue []int
	free := make([]bool, len(g.states))
	for i := range g.states {
		if g.rests(i) || g.stray[i] {
			free[i] = true
			queue = append(queue, i)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, i := range ways[queue[0]] {
			if !free[i] {
				free[i] = true
				queue = append(queue, i)
			}
		}
	}
	for i, s := range g.states {
		if free[i] {
			continue
		}
		why := "none of its edges can be taken"
		if way := g.round(i); len(way) > 1 {
			why = g.path(way)
		}
		g.c.d.Warnf(diag.Trap, s.Range, stateField(s), "lead an edge out, to a terminal or a human state, or allow `archmax_wait`",
			"from `%s` no terminal, human or waiting state can be reached: %s", s.Slug, why)
	}
}

// rests reports whether a session may come to rest in a state.
func (g *graph) rests(i int) bool {
	s := g.states[i]
	switch {
	case s.Terminal() || s.Kind == spec.Human:
		return true
	case s.Kind == spec.Agent:
		return g.c.control(s, toolWait)(map[string]any{"reason": "An answer is missing."})
	}
	return false // automated states do not wait
}

// round follows the first moves from a state until it comes to one again.
func (g *graph) round(at int) []int {
	way := []int{at}
	for len(g.next[at]) > 0 {
		at = g.next[at][0].to
		again := slices.Contains(way, at)
		way = append(way, at)
		if again {
			break
		}
	}
	return way
}

// loops warns of loops through automated states that no budget bounds and no
// person paces: nothing but the step limit would end one.
func (g *graph) loops() {
	open := func(i int) bool { return g.states[i].Kind != spec.Human && g.states[i].Budget.MaxVisits == 0 }
	shown := make([]bool, len(g.states))
	component := g.components(open)
	for i, s := range g.states {
		if s.Kind != spec.Code && s.Kind != spec.Grader || !open(i) || shown[i] {
			continue
		}
		before := g.walk([]int{i}, func(_ int, m move) bool { return component[m.to] == component[i] })
		loop := g.close(before, i, component)
		if loop == nil {
			continue
		}
		for _, at := range loop {
			shown[at] = true
		}
		g.c.d.Warnf(diag.UnboundedLoop, s.Range, stateField(s, "budget"), "give one of its states `budget: { maxVisits: … }`",
			"the loop %s has no `budget.maxVisits` on it, so nothing but the step limit ends it", g.path(loop))
	}
}

// close is the shortest loop through a state, from a walk that began there.
func (g *graph) close(before []int, start int, component []int) (loop []int) {
	for at := range g.states {
		if before[at] == unseen || component[at] != component[start] {
			continue
		}
		if !slices.ContainsFunc(g.next[at], func(m move) bool { return m.to == start }) {
			continue
		}
		if way := back(before, at); loop == nil || len(way)+1 < len(loop) {
			loop = append(way, start)
		}
	}
	return loop
}

// components numbers the strongly connected components of the open states; the
// others are unseen. Tarjan's algorithm, with its own stack: a chain of states is
// as long as a file.
func (g *graph) components(open func(int) bool) []int {
	n := len(g.states)
	component, order, low, edge := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		component[i], order[i] = unseen, unseen
	}
	var stack, path []int
	clock, found := 0, 0
	for root := range n {
		if !open(root) || order[root] != unseen {
			continue
		}
		path = append(path, root)
		for len(path) > 0 {
			at := path[len(path)-1]
			if order[at] == unseen {
				order[at], low[at] = clock, clock
				clock++
				stack = append(stack, at)
			}
			if edge[at] < len(g.next[at]) {
				to := g.next[at][edge[at]].to
				edge[at]++
				switch {
				case !open(to):
				case order[to] == unseen:
					path = append(path, to)
				case component[to] == unseen:
					low[at] = min(low[at], order[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1]
				low[up] = min(low[up], low[at])
			}
			if low[at] == order[at] {
				for {
					last := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					component[last] = found
					if last == at {
						break
					}
				}
				found++
			}
		}
	}
	return component
}
