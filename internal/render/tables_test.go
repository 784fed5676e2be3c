package render

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

func machine() *spec.Machine {
	longest := 10
	start := &spec.State{
		Slug: "triage", Kind: spec.Agent, Title: "Triage",
		Transitions: []*spec.Edge{{To: "refund-review", Description: "over 100", Type: spec.None}, {To: "done"}},
		Triggers: []*spec.Trigger{{
			ID: "manual", State: "triage", Description: "A customer asks.",
			Requires: []*spec.Entry{{Name: "order_id", Type: "string", Description: "The order", Rules: spec.Rules{Pattern: "^ORD-", MaxLength: &longest}}, {Name: "note"}},
			Returns:  []*spec.Entry{{Name: "total", Type: "number", Rules: spec.Rules{Minimum: 0, Enum: []any{"1.50", 9}}}},
		}},
	}
	return &spec.Machine{
		Slug: "order-lookup", Title: "Order lookup", File: "workflows/order-lookup/workflow.yaml", Hash: "c0ffee",
		States: []*spec.State{
			start,
			{Slug: "refund-review", Kind: spec.Human, Transitions: []*spec.Edge{{To: "done", Description: "Pay it back", Type: spec.Approve}}},
			{Slug: "done", Kind: spec.Agent},
		},
	}
}

func sessionsTable(t *testing.T, st Style, list Sessions) string {
	t.Helper()
	var b bytes.Buffer
	if err := SessionsTable(&b, st, list, start.Add(3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTablesForAPerson(t *testing.T) {
	now := start.Add(3 * time.Hour)
	list := listing(t)
	golden(t, "sessions_table.txt", func(w io.Writer) error { return SessionsTable(w, pipe, list, now) })
	golden(t, "sessions_table_console.txt", func(w io.Writer) error { return SessionsTable(w, console, list, now) })
	one := SummarizeState(folded(t, story()), []FileSize{{"scratchpad/b.txt", 12}, {"artifacts/a.md", 34567}})
	golden(t, "session.txt", func(w io.Writer) error { return OneSession(w, pipe, one, VerdictOptions{}) })
	golden(t, "workflows.txt", func(w io.Writer) error {
		return WorkflowsTable(w, pipe, NewWorkflows([]WorkflowInfo{ListedWorkflow(machine()), BrokenWorkflow("broken", errors.New("workflow.yaml:3:1: no states"))}))
	})
	golden(t, "workflow.txt", func(w io.Writer) error { return OneWorkflowText(w, pipe, OneWorkflow(machine())) })
	log, err := NewSessionLog("s1", each(story()))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "transcript.txt", func(w io.Writer) error { return Transcript(w, pipe, log) })
	c, err := NewUsageCounter("workflow")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add("s1", each(story())); err != nil {
		t.Fatal(err)
	}
	golden(t, "usage.txt", func(w io.Writer) error { return UsageText(w, pipe, c.Table()) })
}

// long is a listing whose every text is too long for a terminal.
func long() Sessions {
	var list []Summary
	for _, title := range []string{"A very long title that tells the whole story of a refund", "返金についてのとても長い題名がここにあります"} {
		at := start.Add(15 * time.Hour)
		list = append(list, SummarizeEntry(session.Entry{Control: &session.Control{
			Session: "s-01jq8zk3v5w6x7y8z9a0b1c2d3", Workflow: "order-lookup-with-refund", Status: session.StatusAwaitingDecision,
			Position: "wait-for-the-finance-department", UpdatedAt: start, Park: &session.Park{Channel: session.Input, ResumeAt: &at},
			Variables: map[string]session.Variable{"title": {Value: raw(`"` + title + `"`)}},
		}}))
	}
	list = append(list, Damaged("s-02", errors.New(strings.Repeat("very ", 40)+"damaged")))
	return NewSessions(list)
}

func TestTheTableFitsEveryTerminal(t *testing.T) {
	for columns := 20; columns <= 200; columns++ {
		text := sessionsTable(t, Style{Glyphs: true, TTY: true, Width: columns}, long())
		for line := range strings.Lines(text) {
			if w := width(strings.TrimRight(line, "\n")); w > columns {
				t.Fatalf("%d columns: a line of %d: %q", columns, w, line)
			}
		}
		if columns >= 28 && !strings.Contains(text, "s-01jq8zk3v5w6x7y8z9a0b1c2d3") {
			t.Errorf("%d columns: the id, which a person copies, is cut:\n%s", columns, text)
		}
		if columns >= 80 {
			head, _, _ := strings.Cut(text, "\n")
			got, want := strings.Fields(head), []string{"id", "workflow", "title", "status", "state", "age", "due"}
			if len(got) != len(want) {
				t.Fatalf("%d columns: the head is %q, want %q", columns, got, want)
			}
			for i := range want {
				if name := strings.TrimSuffix(got[i], "…"); name == "" || !strings.HasPrefix(want[i], name) {
					t.Errorf("%d columns: column %d is %q, want %q", columns, i, got[i], want[i])
				}
			}
		}
	}
}

func TestOneOverlongIDCostsTheOthersNoColumn(t *testing.T) {
	row := func(id string) Summary {
		return Summary{SessionID: id, Workflow: "greet", Status: session.StatusAwaitingDecision, State: "review"}
	}
	list := NewSessions([]Summary{row("s1"), row(strings.Repeat("long", 64)), row("s-01jq8zk3v5w6x7y8z9a0b1c2d3")})
	for columns := 30; columns <= 100; columns++ {
		text := sessionsTable(t, Style{TTY: true, Width: columns}, list)
		if n := strings.Count(text, "awaiting_decision"); n != 3 {
			t.Errorf("%d columns: the status of %d sessions of 3:\n%s", columns, n, text)
		}
		if columns >= 60 && strings.Count(text, "revi") != 3 {
			t.Errorf("%d columns: the state is gone:\n%s", columns, text)
		}
		if columns >= 60 && !strings.Contains(text, "s-01jq8zk3v5w6x7y8z9a0b1c2d3") {
			t.Errorf("%d columns: an ordinary id is cut:\n%s", columns, text)
		}
	}
}

func TestAUsageTableSaysWhichCallsItLeavesOut(t *testing.T) {
	usage := func(calls, unknown int64) UsageTotal {
		return UsageTotal{Sessions: 1, UsageReport: runtime.ReportUsage(session.Usage{InputTokens: 611101, OutputTokens: 5, ModelCalls: calls, UnknownCalls: unknown})}
	}
	text := func(st Style, u UsageTable) string {
		var b bytes.Buffer
		if err := UsageText(&b, st, u); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	some := UsageTable{By: "model", Rows: []UsageRow{{"a", usage(243, 0)}, {"b", usage(126, 125)}, {"c", usage(1, 1)}}, Total: usage(370, 126)}
	for _, st := range []Style{pipe, {TTY: true, Width: 50}} {
		lines := strings.Split(text(st, some), "\n")
		for i, want := range []string{"", "", "· 125 calls unknown", "· 1 call unknown", "· 126 calls unknown"} {
			if got := strings.Contains(lines[i], "unknown"); got != (want != "") || !strings.HasSuffix(lines[i], want) {
				t.Errorf("line %d ends %q, want %q at its end", i, lines[i], want)
			}
		}
	}
	if all := text(pipe, UsageTable{By: "model", Total: usage(3, 0)}); strings.Contains(all, "unknown") {
		t.Errorf("nothing is unknown, but:\n%s", all)
	}
}

func TestAPipedTableCutsNothing(t *testing.T) {
	text := sessionsTable(t, pipe, long())
	for _, want := range []string{"whole story of a refund", "返金についてのとても長い題名がここにあります", "wait-for-the-finance-department", "very damaged"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestAgesAndDueTimes(t *testing.T) {
	ages := map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h", 23 * time.Hour: "23h", 49 * time.Hour: "2d",
	}
	for d, want := range ages {
		if got := ago(d); got != want {
			t.Errorf("%s ago is %q, want %q", d, got, want)
		}
	}
	parked := summarize(&folded(t, story()).Control)
	resume := start.Add(24 * time.Hour)
	for _, test := range []struct {
		now  time.Time
		due  bool
		text string
	}{{resume.Add(-2 * time.Hour), false, "2h"}, {resume, true, "now"}, {resume.Add(time.Hour), true, "now"}} {
		if got := parked.Due(test.now); got != test.due {
			t.Errorf("at %s due is %v, want %v", test.now, got, test.due)
		}
		if got := due(parked, test.now); got != test.text {
			t.Errorf("at %s due reads %q, want %q", test.now, got, test.text)
		}
	}
	if (Summary{}).Due(start) {
		t.Error("a session without a time is due")
	}
}

func TestSizesAndCounts(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 34567: "34.6 kB", 999960: "1.0 MB", 3_400_000: "3.4 MB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 20369: "20,369", 1234567: "1,234,567", -999: "-999", -1000: "-1,000"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

const source = "title: Order lookup\nstates:\n  triage:\n\ttransitions: [{ to: 日本, description: x }]\n"

func findings() []Checked {
	file := "workflows/order-lookup/workflow.yaml"
	return []Checked{
		{Workflow: "order-lookup", List: diag.List{
			{
				Severity: diag.Error, Code: "unknown-target", Message: `no state is named "日本"`, File: file, Field: "states.triage.transitions.0.to",
				Range: diag.Range{Start: diag.Position{Line: 4, Column: 22}, End: diag.Position{Line: 4, Column: 24}}, Hint: "declare it, or fix the name",
			},
			{Severity: diag.Warning, Code: "no-cases", Message: "100% of it: untested, \nreally", File: file},
		}},
		{Workflow: "refund", List: diag.List{{Severity: diag.Warning, Code: "no-title", Message: "no title", File: "workflows/refund/workflow.yaml", Range: diag.Range{Start: diag.Position{Line: 1, Column: 1}, End: diag.Position{Line: 1, Column: 6}}, Field: "title"}}},
		{Workflow: "clean"},
	}
}

func TestDiagnosticsForAPerson(t *testing.T) {
	lookup := func(file string) ([]byte, bool) {
		return []byte(source), file == "workflows/order-lookup/workflow.yaml"
	}
	var all diag.List
	for _, c := range findings() {
		all = append(all, c.List...)
	}
	golden(t, "diagnostics.txt", func(w io.Writer) error { return DiagnosticsText(w, pipe, all, lookup) })
	golden(t, "diagnostics_console.txt", func(w io.Writer) error { return DiagnosticsText(w, console, all, lookup) })
}

func TestGitHubAnnotationsEscapeWhatGitHubReads(t *testing.T) {
	list := diag.List{
		{
			Severity: diag.Error, Code: "a-code", Message: "50% is\r\nbroken: x, y", File: "a,b:c/workflow.yaml", Hint: "fix it",
			Range: diag.Range{Start: diag.Position{Line: 3, Column: 5}, End: diag.Position{Line: 3, Column: 9}},
		},
		{Severity: diag.Warning, Code: "b-code", Message: "nowhere"},
	}
	var b bytes.Buffer
	if err := DiagnosticsGitHub(&b, list); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb%3Ac/workflow.yaml,line=3,endLine=3,col=5,endColumn=9,title=a-code::50%25 is%0D%0Abroken: x, y%0Afix it\n" +
		"::warning title=b-code::nowhere\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestTheSummaryLineOfValidate(t *testing.T) {
	warning, failure := diag.Diagnostic{Severity: diag.Warning}, diag.Diagnostic{Severity: diag.Error}
	tests := []struct {
		list   diag.List
		strict bool
		want   string
	}{
		{diag.List{warning, warning}, false, "valid — 0 errors, 2 warnings"},
		{diag.List{warning}, true, "invalid — 0 errors, 1 warning"},
		{diag.List{failure}, false, "invalid — 1 error, 0 warnings"},
		{nil, true, "valid — 0 errors, 0 warnings"},
	}
	for _, test := range tests {
		if got := ValidateSummary(test.list, test.strict); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
