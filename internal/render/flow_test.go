package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

func kinds(state string) string {
	return map[string]string{"triage": "agent", "refund-review": "human", "payout": "code"}[state]
}

// draw feeds the events to a new Flow and closes it.
func draw(st Style, events ...event.Event) func(io.Writer) error {
	return func(w io.Writer) error {
		f := NewFlow(w, st, FlowOptions{KindOf: kinds, Now: func() time.Time { return start }})
		for _, e := range events {
			f.Event(e)
		}
		return f.Close()
	}
}

func drawn(t *testing.T, st Style, events ...event.Event) string {
	t.Helper()
	var b bytes.Buffer
	if err := draw(st, events...)(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// refund is a turn as the fold projects it: seeds, a state, tools, an advance,
// a park, a decision and a failure that is routed.
var refund = numbered(
	event.VariablesSet{Names: []string{"order_id"}, Locked: true},
	event.Advance{To: "triage", Reason: "manual"},
	event.StateEnter{State: "triage", Kind: "agent"},
	event.ToolCalled{State: "triage", Tool: "archmax_set_variables", CallID: "c1", Args: raw(`{"variables":{"title":"Refund ORD-1"}}`)},
	event.ToolResult{State: "triage", Tool: "archmax_set_variables", CallID: "c1", Status: "ok", Output: "ok"},
	event.TitleSet{Title: "Refund ORD-1", State: "triage", CallID: "c1"},
	event.ModelUsage{State: "triage", Role: "agent", Model: "gpt-5", InputTokens: ptr(int64(812)), OutputTokens: ptr(int64(14))},
	event.AgentTextDelta{State: "triage", Text: "Let me look ", MessageID: "m2"},
	event.AgentTextDelta{State: "triage", Text: "the order up.\nOne moment.", MessageID: "m2"},
	event.AgentText{State: "triage", Text: "Let me look the order up.\nOne moment.", MessageID: "m2"},
	event.ToolCalled{State: "triage", Tool: "lookup_order", CallID: "c2", Args: raw(`{"order_id":"ORD-1","note":"two words","count":9007199254740993,"deep":{"b":1,"a":[2]}}`)},
	event.ToolCalled{State: "triage", Tool: "read_file", CallID: "c3", Args: raw(`{"file_path":"/policies/refunds.md"}`)},
	event.ToolResult{State: "triage", Tool: "read_file", CallID: "c3", Status: "error", DurationMs: 3, Output: "Error: no such file"},
	event.ToolResult{State: "triage", Tool: "lookup_order", CallID: "c2", Status: "ok", DurationMs: 1240, Output: "{}"},
	event.ToolBlocked{State: "triage", Tool: "pay", CallID: "c4", Rule: "tool.denied", Reason: "the state does not allow pay"},
	event.Warning{Scope: "artifacts", Message: "graph.json was not written"},
	event.ToolCalled{State: "triage", Tool: "archmax_advance", CallID: "c5", Args: raw(`{"to":"refund-review","reason":"over 100"}`)},
	event.Advance{From: "triage", To: "refund-review", Reason: "over 100", CallID: "c5"},
	event.StateLeave{State: "triage", Next: "refund-review"},
	event.StateEnter{State: "refund-review", Kind: "human"},
	event.ToolResult{State: "triage", Tool: "archmax_advance", CallID: "c5", Status: "ok", Output: "You are now in refund-review."},
	event.Parked{State: "refund-review", Awaiting: "decision"},
	event.ParkMessage{State: "refund-review", Direction: "inbound", Text: "How long will it take?"},
	event.AgentText{State: "refund-review", Text: "A person is looking at it.", MessageID: "m5"},
	event.ParkMessage{State: "refund-review", Direction: "outbound", Text: "A person is looking at it."},
	event.Decided{State: "refund-review", To: "payout", Comment: "fine", By: "Ann"},
	event.StateLeave{State: "refund-review", Next: "payout"},
	event.StateEnter{State: "payout", Kind: "code"},
	event.ToolCalled{State: "payout", Tool: "pay", CallID: "c6", Args: raw(`{"total":12.5}`), Origin: "script"},
	event.ToolResult{State: "payout", Tool: "pay", CallID: "c6", Status: "ok", DurationMs: 61000},
	event.StateErrorRouted{State: "payout", To: "triage", Reason: "timeoutMs spent"},
	event.StateLeave{State: "payout", Next: "triage"},
	event.StateEnter{State: "triage", Kind: "agent"},
	event.Parked{State: "triage", Awaiting: "input", Reason: "the bank answers tomorrow", ResumeAt: "2026-03-15T09:00:00.000Z", CallID: "c7"},
	event.Delivered{State: "triage", Trigger: "timer", To: "triage"},
	event.WorkflowReset{State: "triage"},
	event.Raised{State: "triage", Code: "no-order", Reason: "there is no such order", CallID: "c8"},
)

func TestTheStateFlowOfATurn(t *testing.T) {
	golden(t, "flow_pipe.txt", draw(pipe, refund...))
	golden(t, "flow_console.txt", draw(console, refund...))
}

func TestAPipeGetsNoEscapeAndNoGlyph(t *testing.T) {
	got := drawn(t, pipe, refund...)
	if i := strings.IndexAny(got, "\x1b\r✔◆✖●→│»▸⊘▲↯↺←"); i >= 0 {
		t.Errorf("a pipe was given %q", got[i:min(len(got), i+20)])
	}
}

func TestAnAdvanceAppearsOnceWhicheverOfItsEventsComesFirst(t *testing.T) {
	called := event.ToolCalled{State: "triage", Tool: "archmax_advance", CallID: "c1", Args: raw(`{"to":"payout","reason":"paid"}`)}
	result := event.ToolResult{State: "triage", Tool: "archmax_advance", CallID: "c1", Status: "ok", Output: "ok"}
	moved := event.Advance{From: "triage", To: "payout", Reason: "paid", CallID: "c1"}
	enter := event.StateEnter{State: "payout", Kind: "code"}
	const want = "* triage (agent)\n  -> payout — paid\n* payout (code)\n"
	for name, order := range map[string][]event.Payload{
		"the move first":   {called, moved, enter, result},
		"the result first": {called, result, moved, enter},
	} {
		t.Run(name, func(t *testing.T) {
			if got := drawn(t, pipe, numbered(order...)...); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestARefusedAdvanceSaysWhy(t *testing.T) {
	got := drawn(t, pipe, numbered(
		event.StateEnter{State: "triage", Kind: "agent"},
		event.ToolCalled{State: "triage", Tool: "archmax_advance", CallID: "c1", Args: raw(`{"to":"nowhere","reason":"x"}`)},
		event.ToolResult{State: "triage", Tool: "archmax_advance", CallID: "c1", Status: "error", DurationMs: 1, Output: "Error: no edge leads to nowhere"},
	)...)
	const want = "* triage (agent)\n  x archmax_advance to=nowhere reason=x  1ms — no edge leads to nowhere\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWordsStreamLiveOnATerminalAndArePrintedOnce(t *testing.T) {
	var b bytes.Buffer
	f := NewFlow(&b, noColour, FlowOptions{KindOf: kinds, Now: func() time.Time { return start }})
	events := numbered(
		event.AgentTextDelta{State: "triage", Text: "one two", MessageID: "m1"},
		event.AgentTextDelta{State: "triage", Text: " three", MessageID: "m1"},
		event.AgentText{State: "triage", Text: "one two three four", MessageID: "m1"},
	)
	f.Event(events[0])
	if got, want := b.String(), "* triage (agent)\n  | one"; got != want {
		t.Errorf("after the first delta: %q, want %q (the last word may go on)", got, want)
	}
	f.Event(events[1])
	if got, want := b.String(), "* triage (agent)\n  | one two"; got != want {
		t.Errorf("after the second delta: %q, want %q", got, want)
	}
	f.Event(events[2])
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "* triage (agent)\n  | one two three four\n"; got != want {
		t.Errorf("in the end: %q, want %q", got, want)
	}
}

func TestAStreamThatBrokeOffIsMarkedAndTheRetryIsPrintedWhole(t *testing.T) {
	got := drawn(t, noColour, numbered(
		event.AgentTextDelta{State: "triage", Text: "The ord", MessageID: "m1"},
		event.AgentText{State: "triage", Text: "The ord", MessageID: "m1", Partial: true},
		event.AgentTextDelta{State: "triage", Text: "The order ", MessageID: "m1"},
		event.AgentText{State: "triage", Text: "The order is here.", MessageID: "m1"},
	)...)
	const want = "* triage (agent)\n  | The ord\n  (the stream broke off here)\n  | The order is here.\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWordsWrapToTheTerminal(t *testing.T) {
	st := Style{TTY: true, Width: 26}
	got := drawn(t, st, numbered(event.AgentText{State: "triage", Text: "The quick brown fox jumps over the lazy dog.\n\n日本語の文章は語の間に空白を置かない\n", MessageID: "m1"})...)
	for line := range strings.Lines(got) {
		if w := width(strings.TrimRight(line, "\n")); w > 26 {
			t.Errorf("%q is %d columns wide, the terminal 26", line, w)
		}
	}
	// 26 columns less the prefix "  | " leave 22, one more is kept free.
	const want = "* triage (agent)\n  | The quick brown fox\n  | jumps over the lazy\n  | dog.\n  |\n  | 日本語の文章は語の間\n  | に空白を置かない\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestAChildSessionIsNestedAndItsParentGoesOn(t *testing.T) {
	events := numbered(
		event.StateEnter{State: "triage", Kind: "agent"},
		event.StateEnter{State: "lookup", Kind: "agent"},
		event.ToolCalled{State: "lookup", Tool: "ls", CallID: "c1", Args: raw(`{}`)},
		event.ToolResult{State: "lookup", Tool: "ls", CallID: "c1", Status: "ok", DurationMs: 2},
		event.AgentText{State: "triage", Text: "Found.", MessageID: "m3"},
	)
	for i := 1; i < 4; i++ {
		events[i].SessionID, events[i].DispatchID = "s1~1", "d1"
	}
	const want = "* triage (agent)\n  * lookup (agent) in s1~1\n    - ls  2ms\n* triage (agent) · continued\n  | Found.\n"
	if got := drawn(t, pipe, events...); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestModelAndToolTextCannotDriveTheTerminal(t *testing.T) {
	const evil = "a\x1b]0;owned\x07b\x1b[2Jc\u009b31md\u202eefg\rh\x7f"
	args, err := json.Marshal(map[string]string{"path": evil})
	if err != nil {
		t.Fatal(err)
	}
	var deltas []event.Payload
	for i := range len(evil) { // byte by byte, so every sequence is split
		deltas = append(deltas, event.AgentTextDelta{State: "triage", Text: evil[i : i+1], MessageID: "m1"})
	}
	got := drawn(t, noColour, numbered(append(deltas,
		event.AgentText{State: "triage", Text: evil, MessageID: "m1"},
		event.ToolCalled{State: "triage", Tool: "read" + evil, CallID: "c1", Args: args},
		event.ToolResult{State: "triage", Tool: "read" + evil, CallID: "c1", Status: "error", Output: evil},
		event.ToolBlocked{State: "triage", Tool: "t", CallID: "c2", Rule: "r", Reason: evil},
		event.Raised{State: "triage", Code: evil, Reason: evil},
		event.TitleSet{Title: evil},
		event.Warning{Scope: "s", Message: evil},
	)...)...)
	if i := strings.IndexAny(got, "\x1b\x07\x7f\u009b\u202e\r"); i >= 0 {
		t.Errorf("raw control at %d: %q", i, got[max(0, i-10):min(len(got), i+10)])
	}
	if n := strings.Count(got, "^[]0;owned"); n < 7 {
		t.Errorf("the escapes are shown %d times, want in each of the 7 places:\n%s", n, got)
	}
}

func TestACallThatNeverCameBackIsNamedAtTheEnd(t *testing.T) {
	got := drawn(t, pipe, numbered(
		event.StateEnter{State: "triage", Kind: "agent"},
		event.ToolCalled{State: "triage", Tool: "slow", CallID: "c1", Args: raw(`{"n":1}`)},
	)...)
	if want := "* triage (agent)\n  x slow n=1  no result\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// later is an event of a type that has no drawing of its own.
type later struct {
	State   string `json:"state"`
	Verdict string `json:"verdict"`
}

func (later) EventType() string { return "hook-verdict" }

func TestAnEventWithoutADrawingOfItsOwnIsShownOnOneLine(t *testing.T) {
	got := drawn(t, pipe, numbered(event.StateEnter{State: "triage", Kind: "agent"}, later{"triage", "passed"})...)
	if want := "* triage (agent)\n  . hook-verdict state=triage verdict=passed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheHeaderStandsAboveWhatIsDrawnFirst(t *testing.T) {
	var b bytes.Buffer
	f := NewFlow(&b, pipe, FlowOptions{KindOf: kinds})
	f.Header("order-lookup", "/srv/support", "gpt-5", "OPENAI_API_KEY is used, ARCHMAX_API_KEY is not set")
	for _, e := range numbered(event.StateEnter{State: "triage"}, event.StateEnter{State: "payout"}) {
		f.Event(e)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want := "order-lookup · workspace /srv/support · model gpt-5\n  OPENAI_API_KEY is used, ARCHMAX_API_KEY is not set\n\n* triage (agent)\n* payout (code)\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestAnArrivalThatIsTurnedAwayDrawsNothing(t *testing.T) {
	for name, events := range map[string][]event.Event{
		"an error": nil,
		"a refusal, which the verdict tells": numbered(
			event.GraphTopology{States: []string{"triage"}}, event.Warning{Scope: "refused", Message: "order_id is missing"},
		),
	} {
		for _, st := range []Style{pipe, console} {
			var b bytes.Buffer
			f := NewFlow(&b, st, FlowOptions{KindOf: kinds, Now: func() time.Time { return start }})
			f.Header("order-lookup", "/srv/support", "gpt-5", "a note")
			for _, e := range events {
				f.Event(e)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if b.Len() > 0 {
				t.Errorf("%s: drew %q", name, b.String())
			}
		}
	}
}

func TestNoLineOfTheFlowIsWiderThanTheTerminal(t *testing.T) {
	events := append(slices.Clone(refund), numbered(
		event.Advance{From: "triage", To: "refund-review", Reason: strings.Repeat("the amount is over 100 ", 10)},
		event.Advance{From: "triage", To: strings.Repeat("x", 300), Reason: strings.Repeat("返金", 100)},
		event.ToolBlocked{State: "triage", Tool: "pay", Rule: "tool.denied", Reason: strings.Repeat("not here, ", 30)},
	)...)
	for columns := 40; columns <= 120; columns += 7 {
		for _, st := range []Style{{TTY: true, Width: columns}, {TTY: true, Width: columns, Color: true, Glyphs: true}} {
			text := drawn(t, st, events...)
			for line := range strings.Lines(text) {
				if w := width(strings.TrimRight(line, "\n")); w > columns {
					t.Errorf("%d columns: a line of %d: %q", columns, w, line)
				}
			}
		}
	}
}

func TestALineThatIsTooLongHangsOneLevelFurtherIn(t *testing.T) {
	got := drawn(t, Style{TTY: true, Width: 40}, numbered(
		event.StateEnter{State: "triage", Kind: "agent"},
		event.Advance{From: "triage", To: "payout", Reason: "the customer has waited for it since spring"},
	)...)
	const want = "* triage (agent)\n  -> payout — the customer has waited\n    for it since spring\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// clock is a settable clock, safe for concurrent use.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }

func (c *clock) add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.t = c.t.Add(d) }

// screen is a buffer that a test may read while a Flow writes.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.b.Write(p) }

func (s *screen) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

func TestALongSilenceShowsElapsedTimeAndLeavesNothingBehind(t *testing.T) {
	c, out := &clock{t: start}, &screen{}
	f := NewFlow(out, noColour, FlowOptions{KindOf: kinds, Now: c.now})
	f.Event(numbered(event.StateEnter{State: "triage", Kind: "agent"})[0])
	c.add(7 * time.Second)
	deadline := time.Now().Add(5 * time.Second)
	for !strings.Contains(out.String(), "waiting for the model 7s") {
		if time.Now().After(deadline) {
			t.Fatalf("no spinner: %q", out.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
	f.Event(numbered(event.AgentText{State: "triage", Text: "Here.", MessageID: "m1"})[0])
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasSuffix(got, eraseLine+"  | Here.\n") {
		t.Errorf("the spinner was not taken off before the words: %q", got)
	}
	before := out.String()
	c.add(time.Minute)
	time.Sleep(3 * spinEvery)
	if out.String() != before {
		t.Error("something was drawn after Close")
	}
	if err := f.Close(); err != nil {
		t.Error("a second Close failed:", err)
	}
}

func TestASpinnerNamesTheToolAndKeepsOffAnOpenLine(t *testing.T) {
	c := &clock{t: start}
	f := &Flow{style: Style{TTY: true, Width: 24}, opts: FlowOptions{KindOf: kinds, Now: c.now}, w: io.Discard, seen: map[place]bool{}, entry: map[string]string{}}
	f.spin = &spinner{flow: f, since: start}
	f.Event(numbered(event.ToolCalled{State: "triage", Tool: "lookup", CallID: "c1", Args: raw(`{}`)})[0])
	c.add(399 * time.Millisecond)
	if got := f.spin.turn(); got != "" {
		t.Errorf("a spinner after 399 ms: %q", got)
	}
	c.add(64601 * time.Millisecond) // 1m5s in all
	if got, want := f.spin.turn(), eraseLine+`  \ running lookup 1m5s`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f.Event(numbered(event.AgentTextDelta{State: "triage", Text: "half a ", MessageID: "m1"})[0])
	c.add(time.Minute)
	if got := f.spin.turn(); got != "" {
		t.Errorf("a spinner over an open line: %q", got)
	}
}

func TestConcurrentEventsAreDrawnWhole(t *testing.T) {
	out := &screen{}
	f := NewFlow(out, noColour, FlowOptions{KindOf: kinds})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				f.Event(numbered(event.Warning{Scope: "s", Message: "m"})[0])
			}
		})
	}
	wg.Wait()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "  [warning] s: m\n"); n != 400 {
		t.Errorf("%d whole lines, want 400", n)
	}
}

type brokenPipe struct{ writes int }

var errPipe = errors.New("broken pipe")

func (b *brokenPipe) Write([]byte) (int, error) { b.writes++; return 0, errPipe }

func TestAFailedWriteIsReportedByCloseAndNotTriedAgain(t *testing.T) {
	w := &brokenPipe{}
	if err := draw(pipe, refund...)(w); !errors.Is(err, errPipe) {
		t.Errorf("Close gave %v, want the write's error", err)
	}
	if w.writes != 1 {
		t.Errorf("%d writes, want 1", w.writes)
	}
}
