package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/model/modeltest"
	"github.com/archmax-ai/archmax/internal/runtime"
)

func toolCalled(p event.Payload, tool string) (string, bool) {
	e, ok := p.(event.ToolCalled)
	return string(e.Args), ok && e.Tool == tool
}

const budgeted = `
instructions: x
states:
  start:
    instructions: y
    triggers: { manual: }
    %s
    transitions: [ { to: again, description: more }, { to: done, description: ready } ]
  again:
    instructions: z
    transitions: [ { to: start, description: more } ]
  rescue: { instructions: help }
  done: { instructions: bye }
`

func get() modeltest.Answer { return calls(call("archmax_get_variables", nil)) }

func TestAnExhaustedBudgetTakesTheErrorRouteOrRejects(t *testing.T) {
	wait := calls(call("archmax_wait", map[string]any{"reason": "r"}))
	cases := []struct {
		name, keys string
		answers    []modeltest.Answer
		calls      int // model calls before the budget is spent
		rule       string
	}{
		{"maxTurns is the exact count of model calls since entry", "budget: { maxTurns: 2 }", []modeltest.Answer{get(), get()}, 2, "maxTurns"},
		{
			"maxVisits is the count of entries in a turn", "budget: { maxVisits: 2 }",
			[]modeltest.Answer{calls(advance("again")), calls(advance("start")), calls(advance("again")), calls(advance("start"))},
			4, "maxVisits",
		},
		{"maxParks allows that many parks", "budget: { maxParks: 1 }", []modeltest.Answer{wait, modeltest.Text("Waiting."), wait}, 3, "maxParks"},
	}
	run := func(w *world) *runtime.Outcome {
		o := w.run("help")
		for o.Kind == "parked" {
			o = w.must(w.Deliver(context.Background(), runtime.Delivery{Session: "s", Trigger: "t"}))
		}
		return o
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": fmt.Sprintf(budgeted, c.keys)}, c.answers...)
			o := run(w)
			if o.Kind != "rejected" || !strings.Contains(o.Rejected, c.rule) || o.State != "start" {
				t.Errorf("without on_error: %s in %s: %s", o.Kind, o.State, o.Rejected)
			}
			if n := len(w.server.Requests()); n != c.calls {
				t.Errorf("%d model calls, want %d", n, c.calls)
			}
			w = newWorld(t, map[string]string{"workflows/flow/workflow.yaml": fmt.Sprintf(budgeted, c.keys+"\n    on_error: rescue")}, append(c.answers, modeltest.Text("Rescued."))...)
			o = run(w)
			if o.Kind != "completed" || o.State != "rescue" || !strings.HasSuffix(path(o), "on_error:rescue") {
				t.Errorf("with on_error: %s in %s by %s", o.Kind, o.State, path(o))
			}
			reqs := w.server.Requests()
			if got := lastResult(reqs[len(reqs)-1]); !strings.Contains(got, "[error]") || !strings.Contains(got, c.rule) {
				t.Errorf("the note says %q", got)
			}
		})
	}
}

func TestAnOnErrorRouteIntoAHumanStateParks(t *testing.T) {
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": `
instructions: x
states:
  start:
    instructions: y
    triggers: { manual: }
    budget: { maxTurns: 1 }
    on_error: person
    transitions: [ { to: done, description: ready } ]
  person:
    type: human
    instructions: look
    transitions: [ { to: done, description: ready } ]
  done: { instructions: bye }
`}, get(), modeltest.Text("A person takes over."), modeltest.Text("Bye."))
	o := w.run("help")
	if v := w.server.Requests()[1].Volatile; !strings.Contains(v, "could not go on") {
		t.Errorf("the block does not say that a failure led here:\n%s", v)
	}
	if o.Kind != "parked" || o.State != "person" || o.Reply != "A person takes over." {
		t.Fatalf("got %s in %s saying %q", o.Kind, o.State, o.Reply)
	}
	if o = w.decide("done"); o.Kind != "completed" {
		t.Errorf("then %s", o.Kind)
	}
}

func TestAStateThatRunsOutOfItsTimeIsRouted(t *testing.T) {
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": fmt.Sprintf(budgeted, "budget: { timeoutMs: 200 }\n    on_error: rescue")},
		modeltest.Answer{Text: "late", Wait: 5 * time.Second}, modeltest.Text("Rescued."))
	if o := w.run("help"); o.State != "rescue" || o.Kind != "completed" || o.Reply != "Rescued." {
		t.Errorf("got %s in %s saying %q", o.Kind, o.State, o.Reply)
	}
}

func TestAnUnresolvableGuardIsFatalToTheState(t *testing.T) {
	keys := `tools: { allow: [ { tool: read_file, paths: ["scratchpad/${{folder}}/**"] } ] }
    on_error: rescue`
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": fmt.Sprintf(budgeted, keys)},
		calls(call("read_file", map[string]any{"file_path": "data/a"}), call("ls", nil)), modeltest.Text("Rescued."))
	o := w.run("help")
	if o.State != "rescue" {
		t.Errorf("in %s: %+v", o.State, o)
	}
}

func TestAProviderThatFailsEndsTheTurnAndResumeContinuesIt(t *testing.T) {
	down := true
	w := newWorldOn(t, flowFiles(), func(r *modeltest.Request) modeltest.Answer {
		switch {
		case len(r.Messages) < 4:
			return calls(advance("work"))
		case down:
			return modeltest.Fail(503, "overloaded")
		}
		return modeltest.Text("Done after all.")
	})
	o := w.run("help")
	if o.Kind != "failed" || o.Exit.Code != "turn-error" || o.State != "work" {
		t.Fatalf("got %s (%+v) in %s", o.Kind, o.Exit, o.State)
	}
	down = false
	o = w.must(w.Resume(context.Background(), "s", ""))
	if o.Kind != "completed" || o.Reply != "Done after all." || o.State != "work" {
		t.Errorf("resumed to %s saying %q", o.Kind, o.Reply)
	}
	if _, err := w.Resume(context.Background(), "s", ""); err == nil || !strings.Contains(err.Error(), "no turn to continue") {
		t.Errorf("a finished turn was resumed: %v", err)
	}
}

func TestTheTextOfAFailedStreamIsInNoTranscriptAndNoReply(t *testing.T) {
	n := 0
	w := newWorldOn(t, flowFiles(), func(*modeltest.Request) modeltest.Answer {
		if n++; n == 1 {
			return modeltest.Events(`{"choices":[{"delta":{"content":"half a"}}]}`) // no end: a broken stream
		}
		return modeltest.Text("whole")
	})
	o := w.run("help")
	if o.Reply != "whole" {
		t.Errorf("reply %q", o.Reply)
	}
	var partial string
	for _, e := range w.events {
		if p, ok := e.Payload.(event.AgentText); ok && p.Partial {
			partial = p.Text
			if e.Seq != 0 {
				t.Error("a partial text is transient and carries no seq")
			}
		}
	}
	if partial != "half a" {
		t.Errorf("the partial event holds %q", partial)
	}
}

func TestTheStepLimitEndsTheTurnAndItCanBeContinued(t *testing.T) {
	n := 0
	w := newWorldOn(t, flowFiles(), func(*modeltest.Request) modeltest.Answer {
		if n++; n <= 3 {
			return get()
		}
		return modeltest.Text("ok")
	}).with(func(o *runtime.Options) { o.RecursionLimit = 4 })
	o := w.run("help")
	if o.Kind != "failed" || o.Exit.Code != "recursion-limit" || n != 2 {
		t.Fatalf("got %s (%+v) after %d model calls", o.Kind, o.Exit, n)
	}
	if o = w.must(w.Resume(context.Background(), "s", "")); o.Kind != "completed" {
		t.Errorf("resumed to %s", o.Kind)
	}
}

func TestACancelledTurnEndsFailedAndTheNextOneFindsAWholeTranscript(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	w := newWorldOn(t, flowFiles(), func(*modeltest.Request) modeltest.Answer {
		if n++; n == 2 {
			cancel()
			return modeltest.Answer{Text: "too late", Wait: 2 * time.Second}
		}
		if n == 1 {
			return get()
		}
		return modeltest.Text("ok")
	})
	o := w.must(w.Send(ctx, runtime.Message{Workflow: "flow", Session: "s", Text: "help"}))
	if o.Kind != "failed" || o.Exit.Code != "turn-cancelled" {
		t.Fatalf("got %s %+v", o.Kind, o.Exit)
	}
	if o.Usage.ModelCalls != 2 || o.Usage.UnknownCalls != 1 {
		t.Errorf("the cancelled call is in no total: %+v", o.Usage)
	}
	if o = w.run("again"); o.Kind != "completed" || o.Reply != "ok" {
		t.Errorf("then %s saying %q", o.Kind, o.Reply)
	}
}

func TestTheLastCallOfAnAnswerCutShortIsNeverRun(t *testing.T) {
	w := newWorld(t, flowFiles(),
		modeltest.Answer{Finish: "length", Calls: []modeltest.Call{advance("work")}}, modeltest.Text("ok"))
	if o := w.run("help"); o.State != "start" {
		t.Errorf("in %s", o.State)
	}
	if got := lastResult(w.server.Requests()[1]); !strings.Contains(got, "cut off") {
		t.Errorf("answered %q", got)
	}
}

func TestAnEphemeralRunThatWouldParkFails(t *testing.T) {
	w := newWorld(t, flowFiles(), calls(advance("review"))).with(func(o *runtime.Options) { o.Ephemeral = true })
	if o := w.run("help"); o.Kind != "failed" || o.Exit.Code != "ephemeral-park" {
		t.Errorf("got %s %+v", o.Kind, o.Exit)
	}
}

func TestAResultOverTheLimitGoesToAFileThatCanBeRead(t *testing.T) {
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": "settings: { maxResultChars: 1000 }\n" + strings.TrimPrefix(flow, "\n"), "skills/.keep": ""},
		calls(call("write_file", map[string]any{"file_path": "scratchpad/big.txt", "content": strings.Repeat("0123456789\n", 500)})),
		calls(call("read_file", map[string]any{"file_path": "scratchpad/big.txt"})),
		calls(call("read_file", map[string]any{"file_path": "large_tool_results/1.txt", "limit": 1})),
		modeltest.Text("ok"))
	w.run("help")
	reqs := w.server.Requests()
	if got := lastResult(reqs[2]); len(got) > 1000 || !strings.Contains(got, "large_tool_results/1.txt") {
		t.Errorf("shown %d characters: %q", len(got), got)
	}
	if got := lastResult(reqs[3]); !strings.HasPrefix(got, "0123456789") {
		t.Errorf("the file begins %q", got)
	}
}

func TestLargeResultsOfOneBatchGetFilesOfTheirOwn(t *testing.T) {
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": "settings: { maxResultChars: 1000 }\n" + strings.TrimPrefix(flow, "\n")},
		calls(
			call("write_file", map[string]any{"file_path": "scratchpad/a.txt", "content": strings.Repeat("aaaaaaaaa\n", 500)}),
			call("write_file", map[string]any{"file_path": "scratchpad/b.txt", "content": strings.Repeat("bbbbbbbbb\n", 500)}),
		),
		calls(call("read_file", map[string]any{"file_path": "scratchpad/a.txt"}), call("read_file", map[string]any{"file_path": "scratchpad/b.txt"})),
		calls(call("read_file", map[string]any{"file_path": "large_tool_results/1.txt", "limit": 1}), call("read_file", map[string]any{"file_path": "large_tool_results/2.txt", "limit": 1})),
		modeltest.Text("ok"))
	w.run("help")
	m := w.server.Requests()[3].Messages
	if m[len(m)-2].Content[0] != 'a' || m[len(m)-1].Content[0] != 'b' { // by call, whichever ended first
		t.Errorf("the two files begin %q and %q", m[len(m)-2].Content, m[len(m)-1].Content)
	}
}
