package runtime_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

// shown decodes a request body, for comparing what was sent with what is shown.
func shown(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	return map[string]any{"model": body["model"], "messages": body["messages"], "tools": body["tools"]}
}

func compareRequests(t *testing.T, w *world) {
	t.Helper()
	sent := w.server.Requests()
	n := 0
	for r, err := range w.Requests(context.Background(), "s", "") {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(shown(t, sent[n].Raw), shown(t, r.Body)); diff != "" {
			t.Errorf("request %d (-sent +shown):\n%s", n+1, diff)
		}
		n++
	}
	if n != len(sent) {
		t.Errorf("%d requests shown, %d sent", n, len(sent))
	}
}

func TestTheRequestsOfASessionAreShownAsTheyWereSent(t *testing.T) {
	w := newWorldOn(t, flowFiles(), byProgress(killable()...))
	w.run("help")
	w.decide("done")
	compareRequests(t, w)
}

func TestALongConversationIsSummarizedAndItsOriginalKept(t *testing.T) {
	files := map[string]string{"workflows/flow/workflow.yaml": "settings: { context: { maxTokens: 300, keepMessages: 2 } }\n" + strings.TrimPrefix(flow, "\n")}
	n := 0
	long := strings.Repeat("word ", 400)
	w := newWorldOn(t, files, func(r *modeltest.Request) modeltest.Answer {
		if last := r.Messages[len(r.Messages)-1]; last.Role == "user" && strings.HasPrefix(last.Content, "Summarize the conversation") {
			return modeltest.Text("SUMMARY")
		}
		if n++; n <= 3 {
			return modeltest.CallTools(long, call("ls", nil))
		}
		return modeltest.Text("ok")
	})
	o := w.run("the first words")
	if o.Kind != "completed" {
		t.Fatalf("got %s %+v", o.Kind, o.Exit)
	}
	if strings.Contains(o.Reply, "SUMMARY") {
		t.Error("a summary is no reply")
	}
	reqs := w.server.Requests()
	last := string(reqs[len(reqs)-1].Raw)
	if !strings.Contains(last, "SUMMARY") || strings.Contains(last, "the first words") {
		t.Error("the last request carries the older messages, not their summary")
	}
	files2, err := w.store.Files(context.Background(), "s")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := fs.ReadFile(files2, "conversation_history/1.md")
	if err != nil || !strings.Contains(string(kept), "the first words") {
		t.Errorf("the original: %v", err)
	}
	compareRequests(t, w)
}
