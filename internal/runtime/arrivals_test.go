package runtime_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

const mailFlow = `
instructions: x
states:
  start:
    instructions: y
    triggers:
      mail: { session: mail.-1.thread, message: mail.-1.body }
      tick: { message: false }
    transitions: [ { to: done, description: when done } ]
  done: { instructions: bye }
`

func mailFiles() map[string]string {
	return map[string]string{"workflows/flow/workflow.yaml": mailFlow}
}

func mail(t *testing.T, thread, body any) runtime.Seed {
	t.Helper()
	return seed(t, "mail", []any{map[string]any{}, map[string]any{"thread": thread, "body": body}})
}

func TestATriggersPathsFindTheSessionAndTheWords(t *testing.T) {
	ctx := context.Background()
	wait := calls(call("archmax_wait", map[string]any{"reason": "an answer"}))
	wait.Text = "Tell me more."
	w := newWorld(t, mailFiles(), wait, modeltest.Text("Thanks."))
	m := runtime.Message{Workflow: "flow", Trigger: "mail", Variables: []runtime.Seed{mail(t, "th-1", "Hello there")}}
	o := w.must(w.Send(ctx, m))
	if o.SessionID != "th-1" || o.Kind != "parked" {
		t.Fatalf("session %q is %s", o.SessionID, o.Kind)
	}
	m.Variables = []runtime.Seed{mail(t, "th-1", "More words")}
	o = w.must(w.Send(ctx, m))
	if o.SessionID != "th-1" || o.Disposition != "deliver" || o.Kind != "completed" {
		t.Errorf("then %s of %q came to %s", o.Disposition, o.SessionID, o.Kind)
	}
	reqs := w.server.Requests()
	for i, want := range []string{"Hello there", "More words"} {
		if last := reqs[i].Messages[len(reqs[i].Messages)-1]; last.Role != "user" || last.Content != want {
			t.Errorf("call %d ends with %s %q, want the words %q", i+1, last.Role, last.Content, want)
		}
	}
}

func TestAPathThatFindsNothingMintsAndWarns(t *testing.T) {
	w := newWorld(t, mailFiles(), modeltest.Text("ok"))
	o := w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Trigger: "mail", Text: "hi", Variables: []runtime.Seed{seed(t, "other", 1)}}))
	if !strings.HasPrefix(o.SessionID, "s-") || len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "mail.-1.thread") {
		t.Errorf("session %q, warnings %q", o.SessionID, o.Warnings)
	}
}

func TestAFiringWithoutWordsOpensWithANote(t *testing.T) {
	w := newWorld(t, mailFiles(), modeltest.Text("ok"))
	w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Trigger: "tick", Variables: []runtime.Seed{seed(t, "a", "secret-value")}}))
	m := w.server.Requests()[0].Messages
	if len(m) != 1 || m[0].Role != "user" || !strings.Contains(m[0].Content, "tick") || strings.Contains(m[0].Content, "secret-value") {
		t.Errorf("the transcript opens with %+v", m)
	}
	if s := w.state(); s.Messages[0].Role != "note" || s.Messages[0].Note != "opening" {
		t.Errorf("the journal holds %+v", s.Messages[0])
	}
}

func TestSeedsThatCannotBeAreRefusedBeforeAnythingIsRead(t *testing.T) {
	file := runtime.File{Name: "a", Base: "x.txt"}
	cases := map[string]struct {
		seeds []runtime.Seed
		files []runtime.File
		want  string
	}{
		"a bad name":                  {[]runtime.Seed{seed(t, "Bad", 1)}, nil, `"Bad" is no variable name`},
		"the trigger":                 {[]runtime.Seed{seed(t, "trigger", "x")}, nil, "the runtime's own"},
		"a name twice":                {[]runtime.Seed{seed(t, "a", 1), seed(t, "a", 2)}, nil, "given twice"},
		"a file and a variable alike": {[]runtime.Seed{seed(t, "a", 1)}, []runtime.File{file}, "given twice"},
		"a title of two lines":        {[]runtime.Seed{seed(t, "title", "a\nb")}, nil, "one line"},
		"a file without a name":       {nil, []runtime.File{{Name: "a", Base: ""}}, "no file name"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, flowFiles())
			_, err := w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Text: "x", Variables: c.seeds, Files: c.files})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
			var gone session.NotFoundError
			if _, err := w.store.Load(context.Background(), "s"); !errors.As(err, &gone) {
				t.Errorf("a session is there: %v", err)
			}
		})
	}
}

func TestADeliveryOnTimeIsCheckedUnderTheLock(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, flowFiles(), calls(call("archmax_wait", map[string]any{"reason": "time", "until": "1h"})), modeltest.Text("Waiting."), modeltest.Text("It is time."))
	w.run("help")
	now, later := time.Now(), time.Now().Add(2*time.Hour)
	if _, err := w.Deliver(ctx, runtime.Delivery{Session: "s", Trigger: "timer", DueAt: &now}); err == nil || !strings.Contains(err.Error(), "not due") {
		t.Errorf("an early delivery: %v", err)
	}
	if o := w.must(w.Deliver(ctx, runtime.Delivery{Session: "s", Trigger: "timer", DueAt: &later})); o.Reply != "It is time." {
		t.Errorf("then %q", o.Reply)
	}
}

func TestADryRunTellsWhatWouldBeAndWritesNothing(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": `
instructions: x
states:
  start:
    instructions: y
    triggers: { manual: { requires: [ { name: amount, type: integer } ] } }
`})
	p, err := w.Plan(ctx, runtime.Message{Workflow: "flow", Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Minted || p.Disposition != "turn" || p.State != "start" || len(p.Issues) != 1 || p.Issues[0].Name != "amount" {
		t.Errorf("plan %+v", p)
	}
	if entries, err := w.store.List(ctx); err != nil || len(entries) != 0 {
		t.Errorf("%d sessions, %v", len(entries), err)
	}
}

func TestAnImageRidesEachLaterRequestAndItsBytesStayOutOfTheJournal(t *testing.T) {
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, flowFiles(), calls(call("read_file", map[string]any{"file_path": "${{photo}}"})), get(), modeltest.Text("I see.")).
		with(func(o *runtime.Options) { o.ImageBytes, o.ImageKeep = 1<<20, 20 })
	w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Text: "look", Files: []runtime.File{{Name: "photo", Base: "p.png", Content: pic.Bytes()}}}))
	encoded := base64.StdEncoding.EncodeToString(pic.Bytes())
	for i, want := range []bool{false, true, true} {
		if got := strings.Contains(string(w.server.Requests()[i].Raw), encoded); got != want {
			t.Errorf("request %d carries the image: %v, want %v", i+1, got, want)
		}
	}
	for rec, err := range w.store.Records(context.Background(), "s", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := rec.Body.(*session.Result); ok && strings.Contains(r.Text, encoded[:20]) {
			t.Error("the journal holds the image")
		}
	}
}

func TestNotesCanBeUserMessages(t *testing.T) {
	w := newWorld(t, flowFiles(), calls(advance("review")), modeltest.Text("Wait."), modeltest.Text("Done.")).
		with(func(o *runtime.Options) { o.Notes = "user" })
	w.run("help")
	w.decide("done")
	m := w.server.Requests()[2].Messages
	if last := m[len(m)-1]; last.Role != "user" || !strings.Contains(last.Content, `<runtime-note kind="decision">`) {
		t.Errorf("the note came as %s %q", last.Role, last.Content)
	}
}

func TestAWorkflowWhoseSkillNoBundleProvidesDoesNotRun(t *testing.T) {
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": strings.Replace(mailFlow, "    instructions: y\n", "    instructions: y\n    skills: { allow: [nowhere] }\n", 1)})
	_, err := w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Trigger: "tick"})
	if err == nil || !strings.Contains(err.Error(), "workflow.yaml:6:23: error[unknown-skill]: there is no skill `nowhere`") {
		t.Errorf("got %v", err)
	}
}
