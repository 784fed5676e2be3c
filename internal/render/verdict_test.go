package render

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

func pendingRefund() *session.Pending {
	return &session.Pending{
		State: "refund-review", Title: "Refund review",
		Instructions: "Check the order and the amount.\nRefunds over 500 need two people.\n",
		Approvers:    "finance lead", Evidence: []string{"artifacts/refund.md"},
		Transitions: []session.PendingTransition{
			{To: "payout", Description: "Pay it back", Type: "approve"},
			{To: "decline", Description: "Say no, kindly", Type: "reject"},
			{To: "triage", Type: "none"},
		},
		Seq: 1, CreatedAt: "2026-03-14T09:26:53.589Z",
	}
}

// spent is the usage of the spec's example line (cli.md).
func spent() runtime.UsageReport {
	return runtime.ReportUsage(session.Usage{
		InputTokens: 20369, OutputTokens: 287, CacheReadTokens: 18000, ModelCalls: 3, CostUSD: 0.0123, PricedCalls: 3,
	})
}

func decisionOutcome() *runtime.Outcome {
	return &runtime.Outcome{
		Version: 1, SessionID: "s1", Workflow: "order-lookup", Kind: runtime.KindParked, Disposition: runtime.DispositionTurn,
		State: "refund-review", Reply: "I asked a colleague.", ParkedChannel: "decision", Pending: pendingRefund(),
		AuditTrail: []runtime.TrailStep{{To: "triage", Kind: session.StepTrigger, Reason: "manual", TS: "2026-03-14T09:26:53.589Z"}},
		Variables:  map[string]session.Variable{"order_id": {Value: raw(`"ORD-1"`), Locked: true}, "big": {Value: raw(`9007199254740993`)}},
		Usage:      spent(), TurnUsage: spent(),
	}
}

func verdict(st Style, out *runtime.Outcome, opts VerdictOptions) func(io.Writer) error {
	return func(w io.Writer) error { return Verdict(w, st, out, opts) }
}

func TestVerdicts(t *testing.T) {
	opts := VerdictOptions{Flags: []string{"--root", "/srv/my files"}}
	golden(t, "verdict_decision_pipe.txt", verdict(pipe, decisionOutcome(), opts))
	golden(t, "verdict_decision_console.txt", verdict(console, decisionOutcome(), opts))
	golden(t, "verdict_input.txt", verdict(pipe, &runtime.Outcome{
		SessionID: "s1", Kind: runtime.KindParked, ParkedChannel: "input", TurnUsage: spent(),
		Pending: &runtime.Waiting{State: "await-bank", Title: "The bank", Reason: "the bank answers tomorrow", ParkedAt: "2026-03-14T09:26:53.589Z", ResumeAt: "2026-03-15T09:00:00.000Z"},
	}, VerdictOptions{}))
	golden(t, "verdict_completed.txt", verdict(pipe, &runtime.Outcome{
		SessionID: "s1", Kind: runtime.KindCompleted, Exit: &runtime.Exit{Success: true}, State: "done",
		Returns: map[string]json.RawMessage{"total": raw(`12.50`), "note": raw(`"two words"`)}, TurnUsage: spent(),
	}, VerdictOptions{}))
	golden(t, "verdict_failed.txt", verdict(pipe, &runtime.Outcome{
		SessionID: "s1", Kind: runtime.KindFailed, State: "triage", Exit: &runtime.Exit{Code: "turn-error", Reason: "the model answered 503"},
	}, VerdictOptions{}))
	golden(t, "verdict_refused.txt", verdict(pipe, &runtime.Outcome{
		Kind: runtime.KindRejected, Rejected: "the trigger manual requires order_id", Refused: true,
		Issues: []spec.Issue{{Kind: "missing", Name: "order_id", Type: "string", Message: "order_id is missing"}},
	}, VerdictOptions{}))
}

func TestTheVerdictLineSaysTheSpecsWords(t *testing.T) {
	tests := []struct{ console, pipe string }{
		{"✔ completed", "[ok] completed"},
		{"◆ awaiting decision", "[parked] awaiting decision"},
		{"◆ awaiting input", "[parked] awaiting input"},
		{"✖ failed no-order", "[failed] failed no-order"},
		{"✖ rejected", "[rejected] rejected"},
	}
	outcomes := []*runtime.Outcome{
		{SessionID: "s1", Kind: runtime.KindCompleted},
		{SessionID: "s1", Kind: runtime.KindParked, ParkedChannel: "decision", Pending: pendingRefund()},
		{SessionID: "s1", Kind: runtime.KindParked, ParkedChannel: "input", Pending: &runtime.Waiting{State: "a"}},
		{SessionID: "s1", Kind: runtime.KindFailed, Exit: &runtime.Exit{Code: "no-order"}},
		{SessionID: "s1", Kind: runtime.KindRejected},
	}
	for i, test := range tests {
		for st, want := range map[Style]string{{Glyphs: true}: test.console, {}: test.pipe} {
			var b bytes.Buffer
			if err := Verdict(&b, st, outcomes[i], VerdictOptions{}); err != nil {
				t.Fatal(err)
			}
			if first, _, _ := strings.Cut(b.String(), "\n"); first != want+"  s1" {
				t.Errorf("got %q, want %q and the session id", first, want)
			}
		}
	}
}

func TestACommandIsNeverCutOrWrapped(t *testing.T) {
	out := decisionOutcome()
	out.SessionID = strings.Repeat("long", 60)
	var b bytes.Buffer
	if err := Verdict(&b, Style{TTY: true, Width: 40}, out, VerdictOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "    archmax decide " + out.SessionID + " --to payout\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%q is not in\n%s", want, b.String())
	}
}

func verdictText(t *testing.T, st Style, out *runtime.Outcome, opts VerdictOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Verdict(&b, st, out, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryVerdictShowsTheCommandThatFollows(t *testing.T) {
	failed := func(code string) *runtime.Outcome {
		return &runtime.Outcome{SessionID: "s1", Kind: runtime.KindFailed, Exit: &runtime.Exit{Code: code, Reason: "so"}}
	}
	waiting := func(resumeAt string) *runtime.Outcome {
		return &runtime.Outcome{SessionID: "s1", Kind: runtime.KindParked, ParkedChannel: "input", Pending: &runtime.Waiting{State: "a", ResumeAt: resumeAt}}
	}
	const flags = " --root '/my files' --cassette tape.yaml\n"
	opts := VerdictOptions{Flags: []string{"--root", "/my files", "--cassette", "tape.yaml"}}
	tests := []struct {
		name string
		out  *runtime.Outcome
		want []string
	}{
		{"completed: the next turn, the words behind the id", &runtime.Outcome{SessionID: "s1", Kind: runtime.KindCompleted}, []string{`  go on: archmax send s1 "…"` + flags}},
		{"waits: words, an event with words, and without", waiting(""), []string{
			`    archmax send s1 "…"` + flags, `    archmax deliver s1 --trigger manual --message "…"` + flags, `    archmax deliver s1 --trigger manual` + flags,
		}},
		{"waits for a time", waiting("2026-03-15T09:00:00.000Z"), []string{`    archmax deliver s1 --trigger timer` + flags}},
		{"the step limit is spent: the turn goes on", failed("recursion-limit"), []string{`    archmax send s1 --resume` + flags}},
		{"cancelled: the turn goes on", failed("turn-cancelled"), []string{`    archmax send s1 --resume` + flags}},
		{"raised: what happened", failed("no-order"), []string{`  see why: archmax sessions log s1` + flags}},
		{"rejected: what happened", &runtime.Outcome{SessionID: "s1", Kind: runtime.KindRejected, Rejected: "so"}, []string{`  see why: archmax sessions log s1` + flags}},
		{"an id like a flag", &runtime.Outcome{SessionID: "-s", Kind: runtime.KindCompleted}, []string{`  go on: archmax send --root '/my files' --cassette tape.yaml -- -s "…"` + "\n"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := verdictText(t, pipe, test.out, opts)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			opts := opts
			if opts.Gone = true; test.out.Kind == runtime.KindParked {
				return // a session that is not kept does not park
			}
			if got := verdictText(t, pipe, test.out, opts); strings.Contains(got, "archmax ") {
				t.Errorf("the session is gone, but a command is shown:\n%s", got)
			}
		})
	}
}

func TestARefusalStatesItsReasonOnce(t *testing.T) {
	const reason, missing = "workflow \"greet\" is disabled: it takes no new turns", "`order_id` is missing: it must be a string"
	tests := map[string]struct {
		out  *runtime.Outcome
		once string
	}{
		"a reason": {&runtime.Outcome{Kind: runtime.KindRejected, Refused: true, Rejected: reason}, reason},
		"issues, which are the reason": {&runtime.Outcome{
			Kind: runtime.KindRejected, Refused: true, Rejected: "trigger \"manual\" requires what this arrival does not bring: " + missing,
			Issues: []spec.Issue{{Name: "order_id", Message: missing}},
		}, missing},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := verdictText(t, pipe, test.out, VerdictOptions{})
			if n := strings.Count(got, test.once); n != 1 {
				t.Errorf("%q is said %d times:\n%s", test.once, n, got)
			}
		})
	}
}

func TestARecordFitsANarrowTerminalAndItsCommandsStayWhole(t *testing.T) {
	out := decisionOutcome()
	record := out.Pending.(*session.Pending)
	record.Evidence = append(record.Evidence, "scratchpad/"+strings.Repeat("evidence-", 30)+".md")
	record.Transitions[0].Description = strings.Repeat("Pay the whole amount back. ", 12)
	record.Approvers = strings.Repeat("someone from finance, ", 12)
	for columns := 30; columns <= 100; columns += 5 {
		for _, st := range []Style{{TTY: true, Width: columns}, {TTY: true, Width: columns, Color: true, Glyphs: true}} {
			got := verdictText(t, st, out, VerdictOptions{Flags: []string{"--root", "/srv/my files"}})
			for line := range strings.Lines(got) {
				if line = strings.TrimRight(line, "\n"); width(line) > columns && !strings.HasPrefix(line, "    archmax ") && !strings.Contains(line, "tokens in") {
					t.Errorf("%d columns: a line of %d: %q", columns, width(line), line)
				}
			}
			if want := "    archmax decide s1 --to payout --root '/srv/my files'\n"; !strings.Contains(got, want) {
				t.Errorf("%d columns: %q is not in\n%s", columns, want, got)
			}
		}
	}
}

func TestUsageLine(t *testing.T) {
	tests := []struct {
		name  string
		usage session.Usage
		want  string
	}{
		{"all is known", session.Usage{InputTokens: 20369, OutputTokens: 287, CacheReadTokens: 18000, ModelCalls: 3, CostUSD: 0.0123, PricedCalls: 3}, "tokens in 20,369 · out 287 · cache 18,000 r · $0.0123"},
		{"cache writes", session.Usage{InputTokens: 1000000, OutputTokens: 1, CacheReadTokens: 5, CacheCreationTokens: 1200, ModelCalls: 1}, "tokens in 1,000,000 · out 1 · cache 5 r 1,200 w"},
		{"no price, no cost", session.Usage{InputTokens: 999, OutputTokens: 0, ModelCalls: 1}, "tokens in 999 · out 0"},
		{"some calls reported nothing", session.Usage{InputTokens: 5, OutputTokens: 1, ModelCalls: 3, UnknownCalls: 2}, "tokens in 5 · out 1 · 2 calls unknown"},
		{"no call reported anything", session.Usage{ModelCalls: 2, UnknownCalls: 2}, ""},
		{"no model was called", session.Usage{}, ""},
		{"a cost that four decimals would hide", session.Usage{InputTokens: 1, OutputTokens: 1, ModelCalls: 1, CostUSD: 0.00002, PricedCalls: 1}, "tokens in 1 · out 1 · <$0.0001"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := UsageLine(runtime.ReportUsage(test.usage)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAReplyIsExactInAPipeAndHarmlessOnATerminal(t *testing.T) {
	const reply = "Done.\x1b[2J\tbye"
	dumb := Style{Width: 80, Console: true}
	for st, want := range map[Style]string{pipe: reply + "\n", noColour: "Done.^[[2J    bye\n", dumb: "Done.^[[2J    bye\n"} {
		var b bytes.Buffer
		if err := Reply(&b, st, reply); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	}
	var b bytes.Buffer
	if err := Reply(&b, pipe, ""); err != nil || b.Len() > 0 {
		t.Errorf("no words printed %q (%v)", b.String(), err)
	}
}
