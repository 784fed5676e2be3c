package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// byProgress answers by how far the transcript is, so that a model call made
// again after a crash gets the same answer.
func byProgress(answers ...modeltest.Answer) modeltest.Handler {
	return func(r *modeltest.Request) modeltest.Answer {
		said := 0
		for _, m := range r.Messages {
			if m.Role == "assistant" && (len(m.Calls) == 0 || m.Calls[0].Name != runtime.NoteTool) {
				said++
			}
		}
		return answers[said]
	}
}

// killable is a run with parallel tools, a write, variables, two moves, a park
// and a decision.
func killable() []modeltest.Answer {
	return []modeltest.Answer{
		modeltest.CallTools("Looking.", call("ls", nil), call("write_file", map[string]any{"file_path": "scratchpad/a.txt", "content": "A"}), call("glob", map[string]any{"pattern": "**"})),
		calls(call("archmax_set_variables", map[string]any{"variables": map[string]any{"a": 1}}), advance("work")),
		calls(call("write_file", map[string]any{"file_path": "scratchpad/b.txt", "content": "B"}), advance("review")),
		modeltest.Text("A person will look."),
		modeltest.Text("Done."),
	}
}

// A crash leaves a committed prefix of the journal (the store's own tests cut
// inside frames). From each one the session resumes to the same outcome, and no
// call that may have run is run again.
func TestFromEveryCommittedPrefixTheSessionResumesToTheSameOutcome(t *testing.T) {
	ctx := context.Background()
	w := newWorldOn(t, flowFiles(), byProgress(killable()...))
	w.run("help")
	want := w.decide("done")
	journal := filepath.Join("sessions", "s", "checkpoints", "journal.jsonl")
	whole, err := os.ReadFile(filepath.Join(w.root, journal))
	if err != nil {
		t.Fatal(err)
	}
	var prefixes [][]byte
	for i, line := range bytes.SplitAfter(whole, []byte("\n")) {
		end := len(bytes.Join(bytes.SplitAfter(whole, []byte("\n"))[:i+1], nil))
		if bytes.Contains(line, []byte(`"commit":`)) {
			prefixes = append(prefixes, whole[:end])
		}
	}
	if len(prefixes) < 8 {
		t.Fatalf("only %d frames", len(prefixes))
	}
	for i, prefix := range prefixes {
		t.Run(fmt.Sprintf("frame %d of %d", i+1, len(prefixes)), func(t *testing.T) {
			w := newWorldOn(t, flowFiles(), byProgress(killable()...))
			w.write(map[string]string{filepath.ToSlash(journal): string(prefix)})
			before, err := w.store.Load(ctx, "s")
			if err != nil {
				t.Fatal(err)
			}
			if before.TurnOpen || before.Say != "" {
				w.must(w.Resume(ctx, "s", ""))
			}
			o := (*runtime.Outcome)(nil)
			if w.state().Status == session.StatusAwaitingDecision {
				o = w.decide("done")
			} else {
				o, err = w.Resume(ctx, "s", "")
				if err == nil || w.state().Status != session.StatusCompleted {
					t.Fatalf("not whole: %s, %v", w.state().Status, err)
				}
			}
			if o != nil && (o.Kind != want.Kind || path(o) != path(want)) {
				t.Errorf("came to %s by %s, want %s by %s", o.Kind, path(o), want.Kind, path(want))
			}
			unknown := 0
			for _, m := range w.state().Messages {
				for _, c := range m.Calls {
					if strings.Contains(c.Result.Text, "it is unknown whether this call took effect") {
						unknown++
						if c.Name != "write_file" {
							t.Errorf("%s is a built-in read and is run again, not unknown", c.Name)
						}
					}
				}
			}
			files, err := w.store.Files(ctx, "s")
			if err != nil {
				t.Fatal(err)
			}
			// The crash happened before anything reached the disk of this copy:
			// a file that is there was written by the resumed turn.
			for name, c := range map[string]*session.Call{"scratchpad/a.txt": find(before, "write_file", 1), "scratchpad/b.txt": find(before, "write_file", 2)} {
				_, err := files.Stat(name)
				started := c != nil && c.Intent != nil
				if started == (err == nil) {
					t.Errorf("%s: started before the crash %v, written after it %v", name, started, err == nil)
				}
			}
		})
	}
}

// find returns the n-th call of a tool, nil when there is none.
func find(s *session.State, tool string, n int) *session.Call {
	for _, m := range s.Messages {
		for _, c := range m.Calls {
			if c.Name == tool {
				if n--; n == 0 {
					return c
				}
			}
		}
	}
	return nil
}

func TestAnArrivalOnAnInterruptedSessionFinishesItFirstAndCoversBoth(t *testing.T) {
	ctx := context.Background()
	answers := []modeltest.Answer{
		modeltest.CallTools("One.", advance("work")), modeltest.Text("Two."), modeltest.Text("Three."),
	}
	w := newWorldOn(t, flowFiles(), byProgress(answers...))
	w.run("help")
	journal := filepath.Join(w.root, "sessions", "s", "checkpoints", "journal.jsonl")
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	var frames int
	for i := range whole { // keep the opening and the first answer
		if whole[i] == '\n' && bytes.Contains(whole[bytes.LastIndexByte(whole[:i], '\n')+1:i], []byte(`"commit":`)) {
			if frames++; frames == 2 {
				whole = whole[:i+1]
				break
			}
		}
	}
	if err := os.WriteFile(journal, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := w.state(); s.Status != session.StatusInterrupted {
		t.Fatalf("the session is %s", s.Status)
	}
	if _, err := w.Decide(ctx, runtime.Decision{Session: "s", To: "done"}); err == nil {
		t.Error("a decision was taken on a session that awaits none")
	}
	dir := filepath.Join(w.root, "sessions", "s")
	for _, name := range []string{"checkpoints/snapshot.json", "artifacts/trail.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the finished turn left no %s", name)
		}
	}
	if err := os.WriteFile(journal, whole, 0o600); err != nil { // interrupted once more
		t.Fatal(err)
	}
	o := w.must(w.Send(ctx, runtime.Message{Session: "s", MustExist: true, Text: "and now?"}))
	if o.Reply != "One.\n\nTwo.\n\nThree." || o.Kind != "completed" {
		t.Errorf("got %s saying %q", o.Kind, o.Reply)
	}
	if o.TurnUsage.ModelCalls != 3 {
		t.Errorf("the outcome covers %d model calls, want 3", o.TurnUsage.ModelCalls)
	}
}

func TestAnArrivalSentTwiceChangesNothingAndTellsTheSameOutcome(t *testing.T) {
	ctx := context.Background()
	w := newWorldOn(t, flowFiles(), byProgress(killable()...))
	first := w.must(w.Send(ctx, runtime.Message{Workflow: "flow", Text: "help", Key: "k1"}))
	again := w.must(w.Send(ctx, runtime.Message{Workflow: "flow", Text: "help", Key: "k1"}))
	id := first.SessionID
	if again.SessionID != id || again.Kind != "parked" || again.Reply != first.Reply || path(again) != path(first) {
		t.Errorf("told %+v, then %+v", first, again)
	}
	decide := runtime.Decision{Session: id, To: "done", Key: "k2"}
	done := w.must(w.Decide(ctx, decide))
	s, _ := w.store.Load(ctx, id)
	twice := w.must(w.Decide(ctx, decide))
	if done.Kind != "completed" || twice.Kind != "completed" || twice.Disposition != "decide" || twice.Reply != done.Reply {
		t.Errorf("decided %+v, then %+v", done, twice)
	}
	if again := w.must(w.Send(ctx, runtime.Message{Workflow: "flow", Text: "help", Key: "k1"})); again.Kind != "parked" {
		t.Errorf("the first arrival is told as %s after the decision", again.Kind)
	}
	if after, _ := w.store.Load(ctx, id); after.Seq != s.Seq {
		t.Errorf("the journal grew from %d to %d", s.Seq, after.Seq)
	}
}
