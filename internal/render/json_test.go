package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

func document(v any) func(io.Writer) error { return func(w io.Writer) error { return JSON(w, v) } }

// story is a session's journal: a turn with a tool call and a park.
func story() []session.Record {
	at := start.Add(24 * time.Hour)
	return journal(
		&session.Created{Session: "s1", Workflow: "order-lookup"},
		&session.Turn{Arrival: session.ArriveTurn, Trigger: "manual", Returns: []string{"total"}, Spec: "c0ffee"},
		&session.VariablesSet{Set: []session.NewVariable{{Name: "order_id", Value: raw(`"ORD-1"`), Locked: true}}, Host: true},
		&session.Moved{To: "triage", Step: session.StepTrigger, As: "agent", Reason: "manual"},
		&session.NewMessage{Role: "user", Text: "Where is my order? <b>&"},
		&session.ModelSettled{Role: "agent", State: "triage", Model: "gpt-5", Text: "One moment.", Calls: []session.NewCall{
			{ID: "c1", Name: "lookup_order", Args: `{"n":9007199254740993}`}, {ID: "c2", Name: "ls"}, {ID: "c3", Name: "ls", Args: `{broken`},
		}, Usage: &session.Tokens{Input: 812, Output: 14, CacheRead: 600}, CostUSD: ptr(0.5)},
		&session.Intent{Call: "c1"},
		&session.Result{Call: "c2", Status: "ok", Text: "artifacts/"},
		&session.Result{Call: "c1", Status: "ok", Text: "shipped", Millis: 12},
		&session.VariablesSet{Set: []session.NewVariable{{Name: "title", Value: raw(`"Where is ORD-1?"`)}, {Name: "big", Value: raw(`9007199254740993`)}}},
		&session.NewMessage{Role: "note", Note: "error", Text: "[error] it broke"},
		&session.ModelSettled{Role: "agent", State: "triage", Model: "gpt-5", Text: "I wait for the carrier."},
		&session.Parked{Channel: session.Input, Reason: "the carrier answers tomorrow", ResumeAt: &at},
	)
}

// decided is a session parked on a decision.
func reviewed() []session.Record {
	return journal(
		&session.Created{Session: "s2", Workflow: "order-lookup", Parent: "s1"},
		&session.Turn{Arrival: session.ArriveTurn, Trigger: "manual", Spec: "c0ffee"},
		&session.Moved{To: "refund-review", Step: session.StepTrigger, As: "human", Reason: "manual"},
		&session.Parked{Channel: session.Decision, Pending: &session.Pending{State: "refund-review", Seq: 1, CreatedAt: "2026-03-14T09:26:53.589Z"}},
	)
}

func settled(as, code, reason string) []session.Record {
	return journal(
		&session.Created{Session: "s3", Workflow: "order-lookup"},
		&session.Turn{Arrival: session.ArriveTurn, Trigger: "manual", Spec: "c0ffee"},
		&session.Moved{To: "done", Step: session.StepTrigger, As: "agent", Reason: "manual"},
		&session.Settled{As: as, Code: code, Reason: reason},
	)
}

func entry(t *testing.T, records []session.Record) session.Entry {
	t.Helper()
	st := folded(t, records)
	return session.Entry{ID: st.Session, Control: &st.Control}
}

func listing(t *testing.T) Sessions {
	t.Helper()
	return NewSessions([]Summary{
		SummarizeEntry(session.Entry{ID: "s9", Err: errors.New("journal.jsonl:3: seq 3: the frame's checksum\ndoes not match")}),
		SummarizeEntry(session.Entry{ID: "%odd-0123456789abcdef", Err: errors.New("no committed frame")}),
		SummarizeEntry(entry(t, settled(session.Failed, "no-order", "there is no such order"))),
		SummarizeEntry(entry(t, reviewed())),
		SummarizeEntry(entry(t, story())),
	})
}

func allDocuments(t *testing.T) map[string]any {
	t.Helper()
	log, err := NewSessionLog("s1", each(story()))
	if err != nil {
		t.Fatal(err)
	}
	usage, err := NewUsageCounter("model")
	if err != nil {
		t.Fatal(err)
	}
	if err := usage.Add("s1", each(story())); err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"outcome.json":     decisionOutcome(),
		"plan.json":        &runtime.Plan{Version: 1, SessionID: "s1", Minted: true, Disposition: "turn", State: "triage"},
		"sessions.json":    listing(t),
		"session.json":     SummarizeState(folded(t, story()), []FileSize{{"scratchpad/b.txt", 12}, {"artifacts/a.md", 3}}),
		"session_log.json": log,
		"usage.json":       usage.Table(),
		"diagnostics.json": NewDiagnostics(findings(), false),
		"workflows.json":   NewWorkflows([]WorkflowInfo{ListedWorkflow(machine()), BrokenWorkflow("broken", errors.New("workflow.yaml:3:1: no states"))}),
		"workflow.json":    OneWorkflow(machine()),
		"error.json":       NewErrorDoc("session-busy", "session s1 is mid-turn", ""),
	}
}

func TestEveryShapeHasItsGoldenDocument(t *testing.T) {
	for name, v := range allDocuments(t) {
		t.Run(name, func(t *testing.T) { golden(t, name, document(v)) })
	}
}

func TestEveryDocumentStartsWithItsVersionAndHoldsNoNullList(t *testing.T) {
	docs := allDocuments(t)
	docs["an empty outcome"] = &runtime.Outcome{Version: 1}
	docs["an empty park"] = &runtime.Outcome{Version: 1, Kind: runtime.KindParked, Pending: &session.Pending{}}
	docs["no sessions"] = NewSessions(nil)
	docs["no workflows"] = NewWorkflows(nil)
	docs["no findings"] = NewDiagnostics(nil, false)
	docs["a clean workflow"] = NewDiagnostics([]Checked{{Workflow: "a"}}, false)
	docs["a bare workflow"] = OneWorkflow(&spec.Machine{States: []*spec.State{{Slug: "a"}}})
	docs["a bare session"] = SummarizeState(session.NewState(), nil)
	docs["an empty log"] = SessionLog{Version: 1, Messages: []LogMessage{}, Trail: runtime.ReportTrail(nil)}
	null := regexp.MustCompile(`: null`)
	for name, v := range docs {
		var b bytes.Buffer
		if err := JSON(&b, v); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if !strings.HasPrefix(text, "{\n  \"version\": 1,") {
			t.Errorf("%s does not start with its version: %.40q", name, text)
		}
		if !strings.HasSuffix(text, "}\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s does not end in one line break", name)
		}
		if null.MatchString(text) {
			t.Errorf("%s holds a null:\n%s", name, text)
		}
		if !json.Valid(b.Bytes()) {
			t.Errorf("%s is no JSON", name)
		}
	}
}

func TestPrintingAnOutcomeDoesNotChangeIt(t *testing.T) {
	out := &runtime.Outcome{Version: 1, Pending: &session.Pending{}}
	if err := JSON(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if out.Warnings != nil || out.Pending.(*session.Pending).Evidence != nil {
		t.Error("the caller's outcome was filled in")
	}
}

func TestNumbersAreExactAndTextIsNotHTMLEscaped(t *testing.T) {
	for _, name := range []string{"session.json", "session_log.json", "outcome.json"} {
		var b bytes.Buffer
		if err := JSON(&b, allDocuments(t)[name]); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "9007199254740993") {
			t.Errorf("%s rounded 9007199254740993", name)
		}
		if strings.Contains(b.String(), `\u003c`) {
			t.Errorf("%s escapes <", name)
		}
	}
	var b bytes.Buffer
	if err := EventLine(&b, numbered(event.ToolCalled{State: "a", Tool: "t", CallID: "c", Args: raw(`{"n":9007199254740993,"t":"<&>"}`)})[0]); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"tool-called","level":"info","ts":"2026-03-14T09:26:53.589Z","seq":1,"sessionId":"s1","state":"a","tool":"t","callId":"c","args":{"n":9007199254740993,"t":"<&>"}}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

func TestARawLineIsOneHarmlessLine(t *testing.T) {
	e := numbered(event.AgentText{State: "a", Text: "x\ny\x1b\u009b", MessageID: "m1"})[0]
	e.DispatchID = "d1"
	var b bytes.Buffer
	if err := Raw(&b, e); err != nil {
		t.Fatal(err)
	}
	want := `2026-03-14T09:26:53.589Z info #1 agent-text s1 (d1) {"state":"a","text":"x\ny\u001b\u009b","messageId":"m1"}` + "\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	e = numbered(event.AgentTextDelta{State: "a", Text: "x", MessageID: "m1"})[0]
	e.Seq = 0
	b.Reset()
	if err := Raw(&b, e); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "2026-03-14T09:26:53.589Z info - agent-text-delta s1 ") {
		t.Errorf("a transient event has a number: %q", b.String())
	}
}

func TestSessionsAreSortedNewestFirstThenById(t *testing.T) {
	at := func(id string, d time.Duration) Summary {
		return SummarizeEntry(session.Entry{ID: id, Control: &session.Control{Session: id, UpdatedAt: start.Add(d)}})
	}
	list := NewSessions([]Summary{Damaged("a", errors.New("x")), at("c", 0), at("d", time.Hour), at("b", 0)})
	var ids []string
	for _, s := range list.Sessions {
		ids = append(ids, s.SessionID)
	}
	if got := strings.Join(ids, " "); got != "d b c a" {
		t.Errorf("got %q, want %q", got, "d b c a")
	}
}

func TestASessionIsOpenUntilItIsCompletedFailedOrRejected(t *testing.T) {
	tests := map[session.Status]string{
		session.StatusRunning: "open", session.StatusInterrupted: "open", session.StatusAwaitingDecision: "open", session.StatusAwaitingInput: "open",
		session.StatusCompleted: "finished", session.StatusFailed: "finished", session.StatusRejected: "finished",
	}
	for status, want := range tests {
		s := SummarizeEntry(session.Entry{Control: &session.Control{Status: status, SettledCode: "c", Reason: "r"}})
		if s.Classification != want {
			t.Errorf("%s is %s, want %s", status, s.Classification, want)
		}
		if got, want := s.Exit != nil, status == session.StatusCompleted || status == session.StatusFailed; got != want {
			t.Errorf("%s has an exit: %v, want %v", status, got, want)
		}
		if got, want := s.Rejected == "r", status == session.StatusRejected; got != want {
			t.Errorf("%s has a rejection: %v, want %v", status, got, want)
		}
	}
}

func TestUsageIsCountedByWorkflowModelStateAndDay(t *testing.T) {
	night := story() // the second call on the next UTC day, by another model in another state
	last := night[11].Body.(*session.ModelSettled)
	*last = session.ModelSettled{Role: "agent", State: "review", Model: "gpt-5-mini", Usage: &session.Tokens{Input: 8, Output: 1}}
	night[11].TS = time.Date(2026, 3, 15, 0, 30, 0, 0, time.UTC)
	want := map[string]map[string]int64{ // input tokens: 812 in the first call, 8 in the second
		"workflow": {"order-lookup": 2 * 820},
		"model":    {"gpt-5": 2 * 812, "gpt-5-mini": 2 * 8},
		"state":    {"triage": 2 * 812, "review": 2 * 8},
		"day":      {"2026-03-14": 2 * 812, "2026-03-15": 2 * 8},
	}
	for _, by := range UsageBy {
		c, err := NewUsageCounter(by)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"s1", "s2"} {
			if err := c.Add(id, each(night)); err != nil {
				t.Fatal(err)
			}
		}
		damaged := func(yield func(session.Record, error) bool) {
			_ = yield(night[5], nil) && yield(session.Record{}, errors.New("damaged"))
		}
		if err := c.Add("s3", damaged); err == nil {
			t.Error("a damaged session was counted")
		}
		table := c.Table()
		if len(table.Rows) != len(want[by]) {
			t.Errorf("by %s: %d rows, want %d", by, len(table.Rows), len(want[by]))
		}
		for _, r := range table.Rows {
			if *r.InputTokens != want[by][r.Key] || r.Sessions != 2 {
				t.Errorf("by %s: %s has %d tokens of %d sessions, want %d of 2", by, r.Key, *r.InputTokens, r.Sessions, want[by][r.Key])
			}
		}
		if *table.Total.InputTokens != 2*820 || table.Total.Sessions != 2 || *table.Total.CostUSD != 1 {
			t.Errorf("by %s: total %+v", by, table.Total)
		}
	}
	if _, err := NewUsageCounter("moon"); err == nil {
		t.Error("usage is counted by moon")
	}
}

func TestALogOfADamagedJournalIsAnError(t *testing.T) {
	bad := story()[1:]
	if _, err := NewSessionLog("s1", each(bad)); err == nil {
		t.Error("a journal without its first record gave a log")
	}
}

// specKeys are the keys of each shape in the order of formats.md, which names
// none for workflows.
var specKeys = map[string]string{
	"outcome.json":     "version sessionId workflow kind disposition exit state reply parkedChannel pending rejected refused issues returns delegation auditTrail variables usage turnUsage warnings",
	"plan.json":        "version sessionId minted disposition state issues",
	"sessions.json":    "version sessions",
	"session.json":     "version sessionId parentSessionId workflow title status classification state specHash createdAt updatedAt parkedChannel waitReason resumeAt pending exit rejected variables usage error trail files turns",
	"session_log.json": "version sessionId messages trail",
	"usage.json":       "version by rows total",
	"diagnostics.json": "version valid workflows",
	"error.json":       "version error",
}

func TestKeysStandInTheOrderOfTheSpec(t *testing.T) {
	docs := allDocuments(t)
	for name, keys := range specKeys {
		var b bytes.Buffer
		if err := JSON(&b, docs[name]); err != nil {
			t.Fatal(err)
		}
		allowed := strings.Fields(keys)
		for _, m := range regexp.MustCompile(`(?m)^  "(\w+)":`).FindAllStringSubmatch(b.String(), -1) {
			for len(allowed) > 0 && allowed[0] != m[1] {
				allowed = allowed[1:]
			}
			if len(allowed) == 0 {
				t.Errorf("%s: %q is not in the spec's list, or not at its place", name, m[1])
				break
			}
		}
	}
}
