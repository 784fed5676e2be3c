package casetest

import (
	"fmt"
	"math"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/spec"
)

// The kinds of what can be covered.
const (
	CoverState      = "state"
	CoverEdge       = "edge"
	CoverHumanEdge  = "human-edge" // an edge that a person decides for
	CoverErrorRoute = "error-route"
)

// Coverage is how much of a machine its cases went through, against what the
// spec declares. An edge of a human state is counted among the edges and among
// the human edges.
type Coverage struct {
	Workflow    string        `json:"workflow"`
	States      Share         `json:"states"`
	Edges       Share         `json:"edges"`
	HumanEdges  Share         `json:"humanEdges"`
	ErrorRoutes Share         `json:"errorRoutes"`
	Percent     float64       `json:"percent"` // of the edges, rounded down to one decimal
	Items       []CoveredItem `json:"items"`   // everything declared, in file order
}

// Share is a part of a whole.
type Share struct {
	Covered int `json:"covered"`
	Total   int `json:"total"`
}

// CoveredItem is a state, an edge or an error route, with how often the cases
// went there and where the spec declares it.
type CoveredItem struct {
	Kind   string `json:"kind"` // state, edge, human-edge, error-route
	State  string `json:"state"`
	To     string `json:"to,omitempty"`
	Hits   int    `json:"hits"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String is a line about an item that is not covered:
// "workflows/x/workflow.yaml:12:9: edge triage -> lookup was not taken".
func (i CoveredItem) String() string {
	what := map[string]string{
		CoverState: "state %s was not entered%s", CoverEdge: "edge %s -> %s was not taken",
		CoverHumanEdge: "human edge %s -> %s was not decided", CoverErrorRoute: "error route %s -> %s was not taken",
	}[i.Kind]
	return fmt.Sprintf("%s:%d:%d: "+what, i.File, i.Line, i.Column, i.State, i.To)
}

// Uncovered is what the cases did not go through, in file order.
func (c *Coverage) Uncovered() []CoveredItem {
	var out []CoveredItem
	for _, i := range c.Items {
		if i.Hits == 0 {
			out = append(out, i)
		}
	}
	return out
}

type arc struct{ from, to string }

// tally counts where sessions went.
type tally struct {
	states map[string]int
	edges  map[arc]int
	routes map[arc]int
}

func count[K comparable](m *map[K]int, key K, n int) {
	if *m == nil {
		*m = map[K]int{}
	}
	(*m)[key] += n
}

// count follows the events of a session of the machine.
func (t *tally) count(e event.Event) {
	switch p := e.Payload.(type) {
	case event.StateEnter:
		count(&t.states, p.State, 1)
	case event.Advance:
		if p.From != "" { // else the session began, or a turn did
			count(&t.edges, arc{p.From, p.To}, 1)
		}
	case event.Decided:
		count(&t.edges, arc{p.State, p.To}, 1)
	case event.StateErrorRouted:
		count(&t.routes, arc{p.State, p.To}, 1)
	}
}

func (t *tally) add(o tally) {
	for k, n := range o.states {
		count(&t.states, k, n)
	}
	for k, n := range o.edges {
		count(&t.edges, k, n)
	}
	for k, n := range o.routes {
		count(&t.routes, k, n)
	}
}

// coverage holds what was counted against what the machine declares.
func coverage(m *spec.Machine, t tally) *Coverage {
	c := &Coverage{Workflow: m.Slug, Items: []CoveredItem{}}
	add := func(kind string, at diag.Range, state, to string, hits int, shares ...*Share) {
		for _, s := range shares {
			s.Total++
			if hits > 0 {
				s.Covered++
			}
		}
		c.Items = append(c.Items, CoveredItem{kind, state, to, hits, m.File, at.Start.Line, at.Start.Column})
	}
	for _, s := range m.States {
		add(CoverState, s.Range, s.Slug, "", t.states[s.Slug], &c.States)
		for _, e := range s.Transitions {
			hits := t.edges[arc{s.Slug, e.To}]
			if s.Kind == spec.Human {
				add(CoverHumanEdge, e.Range, s.Slug, e.To, hits, &c.Edges, &c.HumanEdges)
			} else {
				add(CoverEdge, e.Range, s.Slug, e.To, hits, &c.Edges)
			}
		}
		if s.OnError != "" {
			add(CoverErrorRoute, s.OnErrorRange, s.Slug, s.OnError, t.routes[arc{s.Slug, s.OnError}], &c.ErrorRoutes)
		}
	}
	c.Percent = 100
	if c.Edges.Total > 0 {
		c.Percent = math.Floor(1000*float64(c.Edges.Covered)/float64(c.Edges.Total)) / 10
	}
	return c
}
