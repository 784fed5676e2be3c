package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/model"
)

func load(t *testing.T, src string) *model.Cassette {
	t.Helper()
	c, list := model.LoadCassette("demo.cassette.yaml", []byte(src))
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// asking is a request in a state, after a message.
func asking(state string, position int) *model.Request {
	r := question()
	r.State, r.Position = state, position
	return r
}

const demo = `version: 1
calls:
  - state: triage            # optional checks: role, state, session (child suffix), tools, last
    text: I'll look that up.
    tool_calls:
      - { name: archmax_advance, args: { to: answer, reason: It is about orders. } }
  - state: answer
    text: ORD-1001 is delivered.
    usage: { input: 812, output: 14 }
  - error: { status: 429, retry_after: 1 }   # a fault, to test retries
`

func TestACassetteAnswersInOrder(t *testing.T) {
	c := model.NewReplay(load(t, demo))
	sink := &recording{}
	first, err := c.Complete(context.Background(), asking("triage", 0), sink)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Response{
		Text: "I'll look that up.", Model: "", Consumed: 1,
		Calls: []model.Call{{Name: "archmax_advance", Args: `{"to":"answer","reason":"It is about orders."}`}},
	}
	if d := cmp.Diff(want, first); d != "" {
		t.Error(d)
	}
	if len(sink.deltas) < 2 || sink.text() != "I'll look that up." {
		t.Errorf("streamed as %q", sink.deltas)
	}
	second, err := c.Complete(context.Background(), asking("answer", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if second.Text != "ORD-1001 is delivered." || second.Consumed != 1 || second.Usage != (model.Usage{Known: true, InputTokens: 812, OutputTokens: 14}) {
		t.Errorf("got %+v", second)
	}
}

func TestThePositionIsTheRequests(t *testing.T) {
	for range 2 { // a second process asks a second client
		c := model.NewReplay(load(t, demo))
		resp, err := c.Complete(context.Background(), asking("answer", 1), nil)
		if err != nil || resp.Text != "ORD-1001 is delivered." {
			t.Errorf("got %q, %v", resp.Text, err)
		}
	}
}

func TestCallsAreTakenPerSessionAndRole(t *testing.T) {
	c := model.NewReplay(load(t, `version: 1
calls:
  - { text: root 1 }
  - { session: "~1", text: child 1 }
  - { role: grader, text: grade 1 }
  - { text: root 2 }
  - { session: "~1", role: judge, text: judge 1 }
  - { session: "~1", text: child 2 }
  - { session: "~1~2", text: grandchild 1 }
`))
	for _, tt := range []struct {
		session  string
		role     model.Role
		position int
		want     string
	}{
		{"", model.RoleAgent, 0, "root 1"},
		{"", model.RoleAgent, 1, "root 2"},
		{"~1", model.RoleAgent, 0, "child 1"},
		{"~1", model.RoleAgent, 1, "child 2"},
		{"", model.RoleGrader, 0, "grade 1"},
		{"~1", model.RoleJudge, 0, "judge 1"},
		{"~1~2", "", 0, "grandchild 1"},
	} {
		req := asking("any", tt.position)
		req.Session, req.Role = tt.session, tt.role
		resp, err := c.Complete(context.Background(), req, nil)
		if err != nil || resp.Text != tt.want {
			t.Errorf("session %q role %s at %d: %q, %v; want %q", tt.session, tt.role, tt.position, resp.Text, err, tt.want)
		}
	}
}

func TestACheckThatDoesNotHoldIsDrift(t *testing.T) {
	tests := []struct {
		name, checks string
		drift        []string // nil: the checks hold
	}{
		{"the state", "state: answer", []string{`expected state "answer"`, `asked in state "triage"`}},
		{"the state, holding", "state: triage", nil},
		{"the tools", "tools: [lookup, refund]", []string{"expected the tools refund", "asked with lookup"}},
		{"the tools, holding", "tools: [lookup]", nil},
		{"the last message", "last: order 7", []string{`expected the last message to hold "order 7"`, `asked after "hi"`}},
		{"the last message, holding", "last: h", nil},
		{"the last message by expression", `last: "/^H.$/"`, []string{`"/^H.$/"`, `asked after "hi"`}},
		{"the last message by expression, holding", `last: "/^H.$/i"`, nil},
		{"the last message by what looks like a path", `last: /tmp/x`, []string{`"/tmp/x"`}},
		{"two at once", "state: answer, tools: [refund]", []string{`expected state "answer"`, "expected the tools refund"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, "version: 1\ncalls:\n  - text: before\n  - { "+tt.checks+", text: x }\n")
			resp, err := model.NewReplay(c).Complete(context.Background(), asking("triage", 1), nil)
			if tt.drift == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			e := modelError(t, err)
			if !e.Drift || resp.Consumed != 0 {
				t.Errorf("drift %v, consumed %d", e.Drift, resp.Consumed)
			}
			wantIn(t, e.Error(), "cassette drift at call 2", "demo.cassette.yaml:4", "--record")
			wantIn(t, e.Error(), tt.drift...)
		})
	}
}

func TestACallBeyondTheLastIsDrift(t *testing.T) {
	c := model.NewReplay(load(t, "calls:\n  - text: only\n"))
	_, err := c.Complete(context.Background(), asking("triage", 1), nil)
	e := modelError(t, err)
	if !e.Drift {
		t.Error("it is no drift")
	}
	wantIn(t, e.Error(), "cassette drift at call 2", "demo.cassette.yaml", "1 call of role agent", `state "triage"`, `after "hi"`)

	req := asking("triage", 0)
	req.Session, req.Role = "~1", model.RoleGrader
	_, err = c.Complete(context.Background(), req, nil)
	wantIn(t, modelError(t, err).Error(), "call 1", "no calls of role grader", "its child ~1")
}

func TestFaultsGoThroughTheRetryLoop(t *testing.T) {
	c := model.NewReplay(load(t, `calls:
  - error: { status: 429, retry_after: 30 }
  - error: { message: the socket died }
    text: half of
  - text: whole
  - error: { status: 401, message: no entry }
  - text: never
`))
	sink := &recording{}
	resp, err := c.Complete(context.Background(), asking("triage", 0), sink)
	if err != nil || resp.Text != "whole" || resp.Consumed != 3 {
		t.Errorf("got %+v, %v; want `whole` and 3 consumed", resp, err)
	}
	if sink.broken != 1 || sink.text() != "whole" {
		t.Errorf("broken %d, streamed %q", sink.broken, sink.text())
	}
	resp, err = c.Complete(context.Background(), asking("triage", 3), nil)
	e := modelError(t, err)
	if e.Status != 401 || e.Drift || resp.Consumed != 1 {
		t.Errorf("got %+v, consumed %d", e, resp.Consumed)
	}
	wantIn(t, e.Error(), "401 Unauthorized: no entry", "call 4")
	if e.Hint != "" {
		t.Errorf("a cassette has no endpoint to check: %s", e.Hint)
	}
}

func TestFaultsSpendTheRetryBudget(t *testing.T) {
	fault := "  - error: { status: 503 }\n"
	c := model.NewReplay(load(t, "calls:\n"+strings.Repeat(fault, 6)+"  - text: never\n"))
	resp, err := c.Complete(context.Background(), asking("x", 0), nil)
	wantIn(t, modelError(t, err).Error(), "503", "after 5 attempts")
	if resp.Consumed != 5 {
		t.Errorf("consumed %d, want 5", resp.Consumed)
	}
	c = model.NewReplay(load(t, "calls:\n  - error: { status: 429, retry_after: 61 }\n  - text: never\n"))
	resp, err = c.Complete(context.Background(), asking("x", 0), nil)
	wantIn(t, modelError(t, err).Error(), "1m1s")
	if resp.Consumed != 1 {
		t.Errorf("consumed %d, want 1", resp.Consumed)
	}
}

func TestASilenceInACassette(t *testing.T) {
	tests := []struct {
		name, calls, want string
		consumed          int
	}{
		{"is asked for again, as at an endpoint", "  - text: \"\"\n  - text: words\n", "words", 2},
		{"stands when it comes twice", "  - text: \"\"\n  - text: \"\"\n", "", 2},
		{"stands when it is the last call", "  - text: \"\"\n", "", 1},
		{"stands when the next call belongs to another state", "  - text: \"\"\n  - { state: later, text: words }\n", "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := model.NewReplay(load(t, "calls:\n"+tt.calls)).Complete(context.Background(), asking("x", 0), nil)
			if err != nil || resp.Text != tt.want || resp.Consumed != tt.consumed {
				t.Errorf("got %q, consumed %d, %v; want %q and %d", resp.Text, resp.Consumed, err, tt.want, tt.consumed)
			}
		})
	}
}

func TestCassetteArgumentsAreExact(t *testing.T) {
	c := load(t, `calls:
  - tool_calls:
      - { name: a, args: { z: 9007199254740993, a: 1.50, t: true, n: null, s: "1", l: [1, {x: é}], d: 2026-01-01 } }
      - { name: b, args: "not json" }
      - { name: c, args: "" }
      - { name: d }
      - { name: e, args: {}, id: call_7 }
`)
	want := []model.Call{
		{Name: "a", Args: `{"z":9007199254740993,"a":1.50,"t":true,"n":null,"s":"1","l":[1,{"x":"é"}],"d":"2026-01-01"}`},
		{Name: "b", Args: "not json"},
		{Name: "c"},
		{Name: "d"},
		{Name: "e", Args: "{}", ID: "call_7"},
	}
	if d := cmp.Diff(want, c.Calls[0].ToolCalls); d != "" {
		t.Error(d)
	}
}

func TestStrictComparesFingerprints(t *testing.T) {
	req := asking("triage", 0)
	head := "strict: true\ncalls:\n  - text: x\n    fingerprint: "
	if _, err := model.NewReplay(load(t, head+model.Fingerprint(req)+"\n")).Complete(context.Background(), req, nil); err != nil {
		t.Error(err)
	}
	_, err := model.NewReplay(load(t, head+"sha256:0\n")).Complete(context.Background(), req, nil)
	e := modelError(t, err)
	if !e.Drift {
		t.Error("it is no drift")
	}
	wantIn(t, e.Error(), "expected the request sha256:0", "asked with "+model.Fingerprint(req))
	lax := load(t, "calls:\n  - text: x\n    fingerprint: sha256:0\n")
	if _, err := model.NewReplay(lax).Complete(context.Background(), req, nil); err != nil {
		t.Error(err)
	}
}

func TestTheFingerprintIsOfWhatIsAsked(t *testing.T) {
	base := func() *model.Request {
		r := withHistory()
		r.Volatile = "## Current state: triage\nThe time is 2026-01-01 12:10 UTC. Session s-01jabcdefghjkmnpqrstvwxyz0."
		return r
	}
	want := model.Fingerprint(base())
	same := map[string]func(*model.Request){
		"another call id":       func(r *model.Request) { r.Messages[1].Calls[0].ID, r.Messages[2].CallID = "zz", "zz" },
		"another time of day":   func(r *model.Request) { r.Volatile = strings.Replace(r.Volatile, "12:10", "13:20", 1) },
		"another minted id":     func(r *model.Request) { r.Volatile = strings.Replace(r.Volatile, "s-01j", "s-02k", 1) },
		"another model":         func(r *model.Request) { r.Model = "other" },
		"another argument form": func(r *model.Request) { r.Messages[1].Calls[0].Args = "{ \"id\": 9007199254740993 }" },
		"another position":      func(r *model.Request) { r.Position = 3 },
	}
	for name, change := range same {
		r := base()
		change(r)
		if got := model.Fingerprint(r); got != want {
			t.Errorf("%s changes it", name)
		}
	}
	differ := map[string]func(*model.Request){
		"another message":  func(r *model.Request) { r.Messages[0].Content = "ho" },
		"another argument": func(r *model.Request) { r.Messages[1].Calls[0].Args = `{"id":9007199254740992}` },
		"another tool":     func(r *model.Request) { r.Tools[0].Name = "other" },
		"another schema":   func(r *model.Request) { r.Tools[0].Schema = []byte(`{"type":"object","x":1}`) },
		"another prompt":   func(r *model.Request) { r.Static += "!" },
		"another state":    func(r *model.Request) { r.State = "x" },
		"another role":     func(r *model.Request) { r.Role = model.RoleJudge },
		"a message less":   func(r *model.Request) { r.Messages = r.Messages[:1] },
		"an image more": func(r *model.Request) {
			r.Messages[0].Images = []model.Image{{MediaType: "image/png", Data: []byte{1}}}
		},
		"a result of another": func(r *model.Request) { r.Messages[2].CallID = "other" },
	}
	for name, change := range differ {
		r := base()
		change(r)
		if got := model.Fingerprint(r); got == want {
			t.Errorf("%s does not change it", name)
		}
	}
}

func TestUnusedCallsAreKnown(t *testing.T) {
	c := load(t, "calls:\n  - text: a\n  - { role: grader, text: b }\n  - text: c\n  - { session: \"~1\", text: d }\n  - text: e\n")
	got := c.Unused(func(session string, role model.Role) int {
		if session == "" && role == model.RoleAgent {
			return 2
		}
		return 0
	})
	if d := cmp.Diff([]int{2, 4, 5}, got); d != "" {
		t.Error(d)
	}
}

func TestCassetteMistakesAreNamedWithTheirPlace(t *testing.T) {
	tests := []struct {
		name, src, place, want string
	}{
		{"no YAML", "calls: [", "c.yaml:1", ""},
		{"no mapping", "- text: x\n", "c.yaml:1:1", "mapping"},
		{"an unknown key at the top", "call:\n  - text: x\n", "c.yaml:1:1", "unknown key `call`"},
		{"an unknown key in a call", "calls:\n  - txt: x\n    text: y\n", "c.yaml:2:5", "unknown key `txt`"},
		{"an unknown key in a tool call", "calls:\n  - tool_calls:\n      - { name: x, arguments: {} }\n", "c.yaml:3:20", "unknown key `arguments`"},
		{"no calls", "version: 1\n", "c.yaml:1:1", "`calls` is missing"},
		{"another version", "version: 2\ncalls: []\n", "c.yaml:1:10", "version 2 needs a newer archmax"},
		{"a call that gives no answer", "calls:\n  - state: x\n", "c.yaml:2:5", "gives no answer"},
		{"a tool call without a name", "calls:\n  - tool_calls: [{ args: {} }]\n", "c.yaml:2:18", "`name` is missing"},
		{"arguments that are a list", "calls:\n  - tool_calls: [{ name: x, args: [1] }]\n", "c.yaml:2:35", "mapping"},
		{"an unknown role", "calls:\n  - { role: boss, text: x }\n", "c.yaml:2:13", "boss"},
		{"a session that is no suffix", "calls:\n  - { session: s1, text: x }\n", "c.yaml:2:16", "suffix"},
		{"a bad expression", "calls:\n  - { last: \"/(/\", text: x }\n", "c.yaml:2:13", "no regular expression"},
		{"a status that is none", "calls:\n  - error: { status: 200 }\n", "c.yaml:2:22", "HTTP error status"},
		{"a negative wait", "calls:\n  - error: { status: 429, retry_after: -1 }\n", "c.yaml:2:40", "seconds"},
		{"a fault with tool calls", "calls:\n  - error: { status: 429 }\n    tool_calls: [{ name: x }]\n", "c.yaml:3:5", "no answer"},
		{"usage that cannot be", "calls:\n  - text: x\n    usage: { input: 1, cache_read: 2 }\n", "c.yaml:3:12", "inclusive total"},
		{"strict without a fingerprint", "strict: true\ncalls:\n  - text: x\n", "c.yaml:3:5", "`fingerprint` is missing"},
		{"text that YAML takes for a number", "calls:\n  - text: 12\n", "c.yaml:2:11", "text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, list := model.LoadCassette("c.yaml", []byte(tt.src))
			if c != nil || !list.HasErrors() {
				t.Fatalf("it loads; %v", list)
			}
			var all []string
			for _, d := range list {
				all = append(all, d.Error())
			}
			wantIn(t, strings.Join(all, "\n"), tt.place, tt.want)
		})
	}
	_, list := model.LoadCassette("c.yaml", []byte("calls:\n  - txt: x\n    text: y\n  - { role: boss, text: z }\n"))
	if len(list) != 2 {
		t.Errorf("%d problems are reported in one pass, want 2: %v", len(list), list)
	}
}

func TestAReplayEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := model.NewReplay(load(t, demo)).Complete(ctx, asking("triage", 0), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// FuzzCassette holds that any bytes load or are refused with a place, and that
// what loads can be replayed to its end.
func FuzzCassette(f *testing.F) {
	for _, s := range []string{demo, "calls: []", "strict: true\ncalls:\n  - {error: {}}\n", "calls:\n  - {text: \"\", last: /x/i, tools: [a]}\n", "version: 1", "[]", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c, list := model.LoadCassette("c.yaml", src)
		if (c == nil) != list.HasErrors() {
			t.Fatalf("cassette %v, problems %v", c != nil, list)
		}
		for _, d := range list {
			if d.File != "c.yaml" || d.Message == "" || !d.Range.Start.Known() {
				t.Fatalf("a problem without a place or words: %+v", d)
			}
		}
		if c == nil {
			return
		}
		client := model.NewReplay(c)
		for position := 0; position <= len(c.Calls); {
			resp, err := client.Complete(context.Background(), asking("triage", position), &recording{})
			if resp.Consumed < 0 || position+resp.Consumed > len(c.Calls) {
				t.Fatalf("consumed %d at %d of %d", resp.Consumed, position, len(c.Calls))
			}
			if resp.Consumed == 0 {
				var e *model.Error
				if !errors.As(err, &e) || !e.Drift {
					t.Fatalf("nothing consumed, and no drift: %v", err)
				}
				return
			}
			position += resp.Consumed
		}
	})
}
