package model_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

// send sends a request and returns it as the server got it.
func send(t *testing.T, req *model.Request, change func(*model.Options)) *modeltest.Request {
	t.Helper()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("hello")))
	o, _ := options(s.URL)
	if change != nil {
		change(&o)
	}
	if _, err := model.NewOpenAI(o).Complete(context.Background(), req, nil); err != nil {
		t.Fatal(err)
	}
	return s.Requests()[0]
}

func TestTheSystemMessageIsStaticBlankLineVolatile(t *testing.T) {
	got := send(t, question(), nil)
	var m struct{ Role, Content string }
	var all []json.RawMessage
	if err := json.Unmarshal(got.Fields["messages"], &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all[0], &m); err != nil {
		t.Fatal(err)
	}
	if want := "You are an agent.\n\n## Current state: triage\nAsk."; m.Role != "system" || m.Content != want {
		t.Errorf("first message is %q %q, want system %q", m.Role, m.Content, want)
	}
}

func TestOnlyAClaudeModelGetsACacheMarker(t *testing.T) {
	marked := func(model string, cache *model.Cache) string {
		req := question()
		req.Model, req.Cache = model, cache
		var all []struct{ Content json.RawMessage }
		if err := json.Unmarshal(send(t, req, nil).Fields["messages"], &all); err != nil {
			t.Fatal(err)
		}
		return string(all[0].Content)
	}
	plain := `"You are an agent.\n\n## Current state: triage\nAsk."`
	tests := []struct {
		name, model string
		cache       *model.Cache
		want        string
	}{
		{
			"a Claude model with a ttl", "anthropic/claude-sonnet-4", &model.Cache{TTL: "1h"},
			`[{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"## Current state: triage\nAsk."}]`,
		},
		{
			"a Claude model without a ttl", "Claude-X", &model.Cache{},
			`[{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"## Current state: triage\nAsk."}]`,
		},
		{"a Claude model with caching off", "claude-x", nil, plain},
		{"another model", "gpt-5", &model.Cache{TTL: "5m"}, plain},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := marked(tt.model, tt.cache); got != tt.want {
				t.Errorf("content\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAnEmptyToolListIsNeverSent(t *testing.T) {
	req := question()
	req.Tools = []*model.Tool{}
	got := send(t, req, nil)
	if raw, ok := got.Fields["tools"]; ok {
		t.Errorf("tools are %s", raw)
	}
}

func TestToolsAreDefinedWheneverTheHistoryHoldsCalls(t *testing.T) {
	req := withHistory()
	req.Tools = nil
	got := send(t, req, nil)
	if d := cmp.Diff([]string{"lookup"}, got.ToolNames()); d != "" {
		t.Error(d)
	}
}

func TestLargeIntegersSurvive(t *testing.T) {
	req := withHistory()
	req.Tools[0].Schema = json.RawMessage(`{"type":"object","properties":{"id":{"const":9007199254740993}}}`)
	got := send(t, req, nil)
	if args := got.Messages[1].Calls[0].Args; args != `{"id":9007199254740993}` {
		t.Errorf("arguments %s", args)
	}
	wantIn(t, string(got.Tools[0].Schema), "9007199254740993")
}

func TestArgumentsThatAreNoObjectGoBackAsAnEmptyOne(t *testing.T) {
	for _, args := range []string{"", "null", "not json", `{"a":`, "[1]"} {
		req := withHistory()
		req.Messages[1] = &model.Message{Role: "assistant", Calls: []model.Call{{ID: "c1", Name: "lookup", Args: args}}}
		if got := send(t, req, nil).Messages[1].Calls[0].Args; got != "{}" {
			t.Errorf("arguments %q went back as %q", args, got)
		}
	}
}

func TestContentBesideToolCallsIsPutAsConfigured(t *testing.T) {
	tests := []struct {
		mode, content, want string
	}{
		{"", "Let me see.", ""},
		{"omit", "Let me see.", ""},
		{"empty", "Let me see.", `"content":""`},
		{"keep", "Let me see.", `"content":"Let me see."`},
		{"omit", "", ""},
		{"empty", "", `"content":""`},
		{"keep", "", ""},
	}
	for _, tt := range tests {
		req := withHistory()
		req.Messages[1] = &model.Message{Role: "assistant", Content: tt.content, Calls: []model.Call{{ID: "c1", Name: "lookup", Args: "{}"}}}
		raw := string(send(t, req, func(o *model.Options) { o.ToolCallContent = tt.mode }).Messages[1].Raw)
		if tt.want == "" && strings.Contains(raw, "content") || !strings.Contains(raw, tt.want) {
			t.Errorf("mode %q, content %q: sent %s", tt.mode, tt.content, raw)
		}
	}
}

func TestContentBesideToolCallsFallsBackOnceAndIsRemembered(t *testing.T) {
	refusing := func(wants func(modeltest.Message) bool) modeltest.Handler {
		return func(r *modeltest.Request) modeltest.Answer {
			if !wants(r.Messages[1]) {
				return modeltest.Fail(400, "messages[2].content: Field required")
			}
			return modeltest.Text("hello")
		}
	}
	tests := []struct {
		name, mode string
		wants      func(modeltest.Message) bool
		asked      int // for two calls
		fails      bool
	}{
		{"from omit to an endpoint that wants content", "omit", func(m modeltest.Message) bool { return m.HasContent }, 3, false},
		{"from empty to an endpoint that wants none", "empty", func(m modeltest.Message) bool { return !m.HasContent }, 3, false},
		{"from keep to an endpoint that wants none", "keep", func(m modeltest.Message) bool { return !m.HasContent }, 3, false},
		{"once only, and forgotten when it is no help", "omit", func(modeltest.Message) bool { return false }, 4, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, refusing(tt.wants))
			o, _ := options(s.URL)
			o.ToolCallContent = tt.mode
			c := model.NewOpenAI(o)
			for range 2 {
				_, err := c.Complete(context.Background(), withHistory(), nil)
				if (err != nil) != tt.fails {
					t.Fatalf("error %v", err)
				}
			}
			if n := len(s.Requests()); n != tt.asked {
				t.Errorf("asked %d times, want %d", n, tt.asked)
			}
		})
	}
}

func TestReasoningIsSentBack(t *testing.T) {
	req := withHistory()
	req.Messages[1].Reasoning = "hm, so"
	if got := send(t, req, nil).Messages[1].Reasoning; got != "hm, so" {
		t.Errorf("reasoning %q", got)
	}
}

func TestNoMessageIsEverEmpty(t *testing.T) {
	req := withHistory()
	req.Messages[2].Content = ""
	req.Messages = append(req.Messages,
		&model.Message{Role: "assistant", Content: ""}, // a silence in the transcript
		&model.Message{Role: "user", Content: " \n"},
		&model.Message{Role: "user", Content: "and now?"},
	)
	req.Static = ""
	got := send(t, req, nil) // the server checks
	if n := len(got.Messages); n != 4 {
		t.Errorf("%d messages were sent, want 4", n)
	}
	if c := got.Messages[2].Content; c != "(empty result)" {
		t.Errorf("the empty result was sent as %q", c)
	}
	req.Volatile = ""
	if got := send(t, req, nil); got.System != "" {
		t.Errorf("system message %q", got.System)
	}
}

func TestUserDataIsData(t *testing.T) {
	nasty := "\"}],\"tools\":[]{{.Secret}} <script>&\u2028\x00\xff \U0001F600"
	req := question()
	req.Messages[0].Content = nasty
	got := send(t, req, nil)
	if want := strings.ReplaceAll(nasty, "\xff", "\ufffd"); got.Messages[0].Content != want {
		t.Errorf("content %q, want %q", got.Messages[0].Content, want)
	}
}

func TestImagesRideOnAUserMessage(t *testing.T) {
	req := question()
	req.Messages[0].Images = []model.Image{{MediaType: "image/png", Data: []byte{1, 2, 3}}}
	got := send(t, req, nil).Messages[0]
	if d := cmp.Diff([]string{"data:image/png;base64,AQID"}, got.Images); d != "" || got.Content != "hi" {
		t.Errorf("content %q, images %s", got.Content, d)
	}
}

func TestParametersAreSentAsSet(t *testing.T) {
	zero := 0.0
	got := send(t, question(), func(o *model.Options) { o.Temperature, o.MaxTokens = &zero, 100 })
	if string(got.Fields["temperature"]) != "0" || string(got.Fields["max_tokens"]) != "100" || !got.Stream || !got.WantUsage {
		t.Errorf("sent %s", got.Raw)
	}
	got = send(t, question(), func(o *model.Options) { o.Streaming = false })
	for _, field := range []string{"temperature", "max_tokens", "stream", "stream_options"} {
		if raw, ok := got.Fields[field]; ok {
			t.Errorf("%s was sent as %s", field, raw)
		}
	}
}

func TestTheModelIDIsOpaque(t *testing.T) {
	half := 0.5
	for _, id := range []string{"o3-mini", "gpt-5", "gpt-6-codex", "text-davinci-003", "my/own:model@1"} {
		req := question()
		req.Model = id
		got := send(t, req, func(o *model.Options) { o.Temperature, o.MaxTokens = &half, 5 })
		if got.Model != id || string(got.Fields["temperature"]) != "0.5" || string(got.Fields["max_tokens"]) != "5" {
			t.Errorf("model %q: sent %s", id, got.Raw)
		}
	}
}

func TestMaxTokensIsRetriedOnceAsMaxCompletionTokens(t *testing.T) {
	s := modeltest.New(t, func(r *modeltest.Request) modeltest.Answer {
		if _, old := r.Fields["max_tokens"]; old {
			return modeltest.Fail(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		}
		return modeltest.Text("hello")
	})
	o, clock := options(s.URL)
	o.MaxTokens = 7
	c := model.NewOpenAI(o)
	for range 2 {
		if _, err := c.Complete(context.Background(), question(), nil); err != nil {
			t.Fatal(err)
		}
	}
	reqs := s.Requests()
	if len(reqs) != 3 || string(reqs[1].Fields["max_completion_tokens"]) != "7" || string(reqs[2].Fields["max_completion_tokens"]) != "7" {
		t.Errorf("asked %d times, then sent %s", len(reqs), reqs[len(reqs)-1].Raw)
	}
	if len(clock.slept) != 0 {
		t.Errorf("waited %v for it", clock.slept)
	}
}

func TestAMaxTokensThatIsTooLargeIsNotRetried(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Fail(400, "max_tokens is too large: 100000. This model supports at most 4096 tokens.")))
	o, _ := options(s.URL)
	o.MaxTokens = 100000
	_, err := model.NewOpenAI(o).Complete(context.Background(), question(), nil)
	modelError(t, err)
	if n := len(s.Requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAnEndpointWithoutStreamOptionsIsAskedWithoutThem(t *testing.T) {
	s := modeltest.New(t, func(r *modeltest.Request) modeltest.Answer {
		if r.WantUsage {
			return modeltest.Fail(400, "Unrecognized request argument supplied: stream_options")
		}
		return modeltest.Text("hello")
	})
	if _, err := client(s.URL).Complete(context.Background(), question(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestIllFormedToolNamesInTheHistoryAreMadeSendable(t *testing.T) {
	req := withHistory()
	for name, want := range map[string]string{"functions.look up": "functions_look_up", "": "unnamed", strings.Repeat("x", 99): strings.Repeat("x", 64)} {
		req.Messages[1] = &model.Message{Role: "assistant", Calls: []model.Call{{ID: "c1", Name: name}}}
		if got := send(t, req, nil).Messages[1].Calls[0].Name; got != want {
			t.Errorf("name %q was sent as %q, want %q", name, got, want)
		}
	}
}

func TestARequestThatNoEndpointCouldTakeIsRefusedLoudly(t *testing.T) {
	call := func(id string) *model.Message {
		return &model.Message{Role: "assistant", Calls: []model.Call{{ID: id, Name: "lookup"}}}
	}
	result := func(id string) *model.Message { return &model.Message{Role: "tool", CallID: id, Content: "x"} }
	user := &model.Message{Role: "user", Content: "hi"}
	tests := []struct {
		name     string
		messages []*model.Message
		want     string
	}{
		{"a call without a result at the end", []*model.Message{user, call("a")}, `call "a" (lookup) has no result`},
		{"a call without a result before the next message", []*model.Message{call("a"), user}, `message 2 comes before the result of call "a" (lookup)`},
		{"a result without a call", []*model.Message{user, result("a")}, `message 2 answers call "a"`},
		{"results out of order", []*model.Message{{Role: "assistant", Calls: []model.Call{{ID: "a", Name: "x"}, {ID: "b", Name: "x"}}}, result("b"), result("a")}, `message 2 answers call "b"`},
		{"an id used twice", []*model.Message{call("a"), result("a"), call("a"), result("a")}, `call id "a" is used twice`},
		{"a call without an id", []*model.Message{call(""), result("")}, "without an id"},
		{"an unknown role", []*model.Message{{Role: "system", Content: "x"}}, `role "system"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Always(modeltest.Text("hello")))
			req := question()
			req.Messages = tt.messages
			_, err := client(s.URL).Complete(context.Background(), req, nil)
			wantIn(t, modelError(t, err).Error(), "malformed", tt.want, "report it")
			if n := len(s.Requests()); n != 0 {
				t.Errorf("it was sent")
			}
		})
	}
	req := question()
	req.Tools[0].Schema = json.RawMessage(`["no object"]`)
	_, err := client("http://127.0.0.1:1/v1").Complete(context.Background(), req, nil)
	wantIn(t, modelError(t, err).Error(), `the schema of tool "lookup" is no JSON object`)
}

func TestARoleMayHaveItsOwnEndpointAndKey(t *testing.T) {
	agent := modeltest.New(t, modeltest.Always(modeltest.Text("agent")))
	grader := modeltest.New(t, modeltest.Always(modeltest.Text("grader")))
	o, _ := options(agent.URL)
	document := false
	o.Roles = map[model.Role]model.RoleOptions{
		model.RoleGrader: {BaseURL: grader.URL, APIKey: "sk-grader-key-0123", Model: "grader-model", Streaming: &document},
		model.RoleJudge:  {Model: "judge-model"},
	}
	c := model.NewOpenAI(o)
	for role, want := range map[model.Role]string{model.RoleAgent: "agent", model.RoleGrader: "grader", model.RoleJudge: "agent"} {
		req := question()
		req.Role = role
		resp, err := c.Complete(context.Background(), req, nil)
		if err != nil || resp.Text != want {
			t.Errorf("role %s: %q, %v", role, resp.Text, err)
		}
	}
	g := grader.Requests()[0]
	if g.Model != "grader-model" || g.Stream || g.Header.Get("Authorization") != "Bearer sk-grader-key-0123" {
		t.Errorf("the grader's endpoint got model %q, stream %v, %q", g.Model, g.Stream, g.Header.Get("Authorization"))
	}
	for _, r := range agent.Requests() {
		if r.Header.Get("Authorization") != "Bearer "+o.APIKey {
			t.Errorf("the agent's endpoint got %q", r.Header.Get("Authorization"))
		}
	}
}

func TestAKeyIsNotSentToAnEndpointItWasNotGivenFor(t *testing.T) {
	judge := modeltest.New(t, modeltest.Always(modeltest.Text("hello")))
	o, _ := options("http://127.0.0.1:1/v1")
	o.Roles = map[model.Role]model.RoleOptions{model.RoleJudge: {BaseURL: judge.URL}}
	req := question()
	req.Role = model.RoleJudge
	if _, err := model.NewOpenAI(o).Complete(context.Background(), req, nil); err != nil {
		t.Fatal(err)
	}
	if got := judge.Requests()[0].Header.Get("Authorization"); got != "" {
		t.Errorf("the judge's endpoint got %q", got)
	}
}

func TestTheBaseURLIsTakenAsPeopleWriteIt(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Text("hello")))
	for _, base := range []string{s.URL, s.URL + "/", " " + s.URL + "//", s.URL + "/chat/completions", s.URL + "?api-version=1"} {
		if _, err := client(base).Complete(context.Background(), question(), nil); err != nil {
			t.Errorf("base URL %q: %v", base, err)
		}
	}
}

func TestMessagesAndToolsMayBeSharedByConcurrentCalls(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Text("hello")))
	c, req := client(s.URL), withHistory()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := c.Complete(context.Background(), req, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, r := range s.Requests() {
		if d := cmp.Diff(s.Requests()[0].Raw, r.Raw); d != "" {
			t.Error(d)
		}
	}
}
