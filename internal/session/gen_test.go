package session

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// generator makes plausible random sessions, frame by frame.
type generator struct {
	tb    testing.TB
	r     *rand.Rand
	id    string
	state *State
	now   func() time.Time
	calls int
	keys  int
	bytes []byte
	ends  []int // offset after each frame
}

func newGenerator(tb testing.TB, id string, seed uint64) *generator {
	return &generator{tb: tb, r: rand.New(rand.NewPCG(seed, 7)), id: id, state: NewState(), now: tickingClock()}
}

// frame appends a random frame and returns its bodies.
func (g *generator) frame() []Body {
	g.tb.Helper()
	bodies := g.bodies()
	frame, recs, err := encodeFrame(g.state.Seq+1, g.now(), bodies)
	if err != nil {
		g.tb.Fatal(err)
	}
	if _, err := foldNew(g.state, recs); err != nil {
		g.tb.Fatal(err)
	}
	g.bytes = append(g.bytes, frame...)
	g.ends = append(g.ends, len(g.bytes))
	return bodies
}

func (g *generator) chance(n int) bool { return g.r.IntN(n) == 0 }

func (g *generator) word() string {
	return []string{"", "order", "<b>&amp;", "ünïcode 中", "line\nbreak\t\"q\" \\", "\u2028", "\x01\x7f", "}}", `,"commit":{"n":1,"crc":5}}`}[g.r.IntN(9)]
}

func (g *generator) value() json.RawMessage {
	return []json.RawMessage{
		json.RawMessage(`"x"`), json.RawMessage(`12.50`), json.RawMessage(`null`), json.RawMessage(`{"v":1,"commit":{"n":1,"crc":2}}`),
		json.RawMessage(`[1,{"a":"}]\"<"}]`), json.RawMessage(`9007199254740993`), json.RawMessage(`true`),
	}[g.r.IntN(7)]
}

func (g *generator) state_() string { return []string{"triage", "refund", "done"}[g.r.IntN(3)] }

func (g *generator) turn(a Arrival) *Turn {
	t := &Turn{Arrival: a, Spec: "abc", Scripts: map[string]string{"code/a.js": "ff"}, Joined: g.chance(4)}
	if a == ArriveTurn {
		t.Trigger, t.Returns = "manual", []string{"total"}
	}
	if g.chance(3) {
		g.keys++
		t.Key = fmt.Sprintf("key-%d", g.keys)
	}
	return t
}

func (g *generator) bodies() []Body {
	s := g.state
	switch {
	case s.Seq == 0:
		return []Body{
			&Created{Session: g.id, Workflow: "order-lookup"},
			g.turn(ArriveTurn),
			&Moved{To: "triage", Step: StepTrigger, As: "agent", Reason: "manual"},
			&NewMessage{Role: "user", Text: "Hi " + g.word()},
		}
	case s.Say != "" && g.chance(2):
		return []Body{g.answer(0)}
	case s.Park != nil && s.Park.Channel == Decision && g.chance(2):
		return []Body{g.turn(ArriveReply), &NewMessage{Role: "user", Text: "why? " + g.word()}}
	case s.Park != nil && s.Park.Channel == Decision:
		return []Body{g.turn(ArriveDecide), &Decided{To: "done", Comment: g.word(), By: "ada"}, &Moved{To: "done", Step: StepHuman, As: "agent"}, &NewMessage{Role: "note", Note: "decision", Text: "chosen"}}
	case s.Park != nil:
		return []Body{g.turn(ArriveDeliver), &Delivered{Trigger: "paid"}, &VariablesSet{Host: true, Set: []NewVariable{{Name: "amount", Value: g.value(), Locked: true}}}}
	case !s.TurnOpen:
		return []Body{g.turn([]Arrival{ArriveTurn, ArriveResume}[g.r.IntN(2)]), &NewMessage{Role: "user", Text: g.word()}}
	}
	if m := s.Batch(); m != nil && !g.chance(6) {
		for _, c := range m.Calls {
			if c.Result != nil {
				continue
			}
			if c.Intent == nil && g.chance(2) {
				return []Body{&Intent{Call: c.ID, Args: g.value(), Rerun: g.chance(2), Origin: g.word()}}
			}
			r := &Result{Call: c.ID, Status: "ok", Text: g.word(), Millis: g.r.Int64N(50), Truncated: g.chance(5), Offload: g.r.IntN(3)}
			if g.chance(4) {
				r.Status, r.Rule, r.Reason = "error", "tool.not-allowed", "because"
			}
			return []Body{r}
		}
	}
	return g.work()
}

func (g *generator) answer(calls int) *ModelSettled {
	m := &ModelSettled{Role: "agent", State: g.state.Position, Model: "gpt-test", Text: g.word(), Reasoning: g.word(), CutShort: g.chance(9)}
	for range calls {
		g.calls++
		m.Calls = append(m.Calls, NewCall{ID: fmt.Sprintf("c%d", g.calls), Name: "ls", Args: g.word()})
	}
	if g.chance(2) {
		m.Usage = &Tokens{Input: g.r.Int64N(1e6), Output: g.r.Int64N(1e3), CacheRead: g.r.Int64N(2), CacheWrite: g.r.Int64N(2)}
		cost := g.r.Float64()
		m.CostUSD = &cost
	}
	return m
}

func (g *generator) work() []Body {
	switch g.r.IntN(12) {
	case 0:
		return []Body{&VariablesSet{Call: "x", Set: []NewVariable{{Name: "title", Value: json.RawMessage(`"A title"`)}, {Name: "n" + fmt.Sprint(g.r.IntN(4)), Value: g.value()}}}}
	case 1:
		return []Body{&Moved{To: g.state_(), Step: []TrailKind{StepAgent, StepReset, StepOnError, StepCode}[g.r.IntN(4)], As: "agent", Reason: g.word()}}
	case 2:
		return []Body{&Warned{Scope: "artifacts", Message: g.word()}}
	case 3:
		return []Body{&Todos{Items: []Todo{{Content: g.word(), Status: "pending"}}}}
	case 4:
		return []Body{&Compacted{Keep: g.state.Length, N: 1, Summary: g.word()}}
	case 5:
		due := g.now()
		return []Body{&Parked{Channel: Input, Reason: g.word(), ResumeAt: &due, Say: []SayDue{"", SayWait}[g.r.IntN(2)]}}
	case 6:
		return []Body{&Moved{To: "review", Step: StepAgent, As: "human"}, &Parked{Channel: Decision, Say: SayEntered, Pending: &Pending{
			State: "review", Approvers: "ops", Evidence: []string{}, Seq: g.state.PendingSeq + 1, CreatedAt: "2026-03-04T05:06:07.008Z",
			Transitions: []PendingTransition{{To: "done", Description: g.word(), Type: "approve"}},
		}}}
	case 7:
		return []Body{&Settled{As: Completed}}
	case 8:
		return []Body{&Raised{Code: "no-stock", Reason: g.word()}, &Settled{As: Failed, Code: "no-stock", Reason: g.word()}}
	case 9:
		return []Body{&ModelSettled{Role: "grader", State: g.state.Position, Error: "timeout", Consumed: 2}}
	}
	return []Body{g.answer(g.r.IntN(4))}
}

// controlOf is the control state as a snapshot holds it.
func controlOf(tb testing.TB, s *State) string {
	tb.Helper()
	raw, err := Encode(&s.Control)
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

// print tells states apart.
func print(tb testing.TB, s *State) string {
	tb.Helper()
	return fmt.Sprint(controlOf(tb, s), len(s.Trail), len(s.Messages), len(s.calls))
}
