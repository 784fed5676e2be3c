package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

func TestStreamedToolCallsAreAssembled(t *testing.T) {
	calls := func(fragments ...string) []string {
		var out []string
		for _, f := range fragments {
			out = append(out, delta(`{"tool_calls":[`+f+`]}`))
		}
		return append(out, finish("tool_calls"), "[DONE]")
	}
	tests := []struct {
		name   string
		events []string
		want   []model.Call
	}{
		{
			"by index when there is one",
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":""}}`,
				`{"index":1,"id":"b","function":{"name":"y","arguments":"{\"q\""}}`,
				`{"index":0,"function":{"arguments":"{\"p\":1}"}}`,
				`{"index":1,"function":{"arguments":":2}"}}`),
			[]model.Call{{ID: "a", Name: "x", Args: `{"p":1}`}, {ID: "b", Name: "y", Args: `{"q":2}`}},
		},
		{
			"in order of the index, whatever order they arrive in",
			calls(`{"index":1,"id":"b","function":{"name":"y","arguments":"{}"}}`,
				`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`),
			[]model.Call{{ID: "a", Name: "x", Args: `{}`}, {ID: "b", Name: "y", Args: `{}`}},
		},
		{
			"by id when the index is missing",
			calls(`{"id":"a","function":{"name":"x","arguments":"{\"p\""}}`,
				`{"id":"b","function":{"name":"y","arguments":"{\"q\""}}`,
				`{"id":"a","function":{"arguments":":1}"}}`,
				`{"id":"b","function":{"arguments":":2}"}}`),
			[]model.Call{{ID: "a", Name: "x", Args: `{"p":1}`}, {ID: "b", Name: "y", Args: `{"q":2}`}},
		},
		{
			"by id when the index is repeated",
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"p\":"}}`,
				`{"index":0,"id":"b","function":{"name":"y","arguments":"{\"q\":"}}`,
				`{"index":0,"id":"a","function":{"arguments":"1}"}}`,
				`{"index":0,"id":"b","function":{"arguments":"2}"}}`),
			[]model.Call{{ID: "a", Name: "x", Args: `{"p":1}`}, {ID: "b", Name: "y", Args: `{"q":2}`}},
		},
		{
			"by order when index and id are missing",
			calls(`{"function":{"name":"x","arguments":"{\"p\":"}}`,
				`{"function":{"arguments":"1}"}}`,
				`{"function":{"name":"y","arguments":"{\"q\":"}}`,
				`{"function":{"arguments":"2}"}}`),
			[]model.Call{{Name: "x", Args: `{"p":1}`}, {Name: "y", Args: `{"q":2}`}},
		},
		{
			"by order when the index is repeated and the id is missing",
			calls(`{"index":0,"function":{"name":"x","arguments":"{\"p\":1}"}}`,
				`{"index":0,"function":{"name":"x","arguments":"{\"q\":"}}`,
				`{"index":0,"function":{"arguments":"2}"}}`),
			[]model.Call{{Name: "x", Args: `{"p":1}`}, {Name: "x", Args: `{"q":2}`}},
		},
		{
			"apart when one chunk brings two without index and id",
			calls(`{"function":{"name":"x","arguments":""}},{"function":{"name":"x","arguments":""}}`),
			[]model.Call{{Name: "x"}, {Name: "x"}},
		},
		{
			"apart when two calls share an id under two indexes",
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`,
				`{"index":1,"id":"a","function":{"name":"y","arguments":"{}"}}`),
			[]model.Call{{ID: "a", Name: "x", Args: `{}`}, {ID: "a", Name: "y", Args: `{}`}},
		},
		{
			"once when name and id are repeated in every fragment",
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`,
				`{"index":0,"id":"a","function":{"name":"x","arguments":""}}`),
			[]model.Call{{ID: "a", Name: "x", Args: `{}`}},
		},
		{
			"with arguments that came as an object, exact",
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":{"id":9007199254740993}}}`),
			[]model.Call{{ID: "a", Name: "x", Args: `{"id":9007199254740993}`}},
		},
		{
			"with arguments that are null or missing",
			calls(`{"index":0,"id":"a","function":{"name":"x","arguments":null}}`,
				`{"index":1,"id":"b","function":{"name":"y"}}`),
			[]model.Call{{ID: "a", Name: "x"}, {ID: "b", Name: "y"}},
		},
		{
			"with a number for an id, and null where nothing is",
			calls(`{"index":0,"id":7,"function":{"name":"x","arguments":"{"}}`,
				`{"index":0,"id":null,"function":{"name":null,"arguments":"}"}}`),
			[]model.Call{{ID: "7", Name: "x", Args: `{}`}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, _, err := ask(t, modeltest.Events(tt.events...))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, resp.Calls); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestArgumentsThatAreEmptyMeanAnEmptyObject(t *testing.T) {
	tests := []struct {
		args, want string
		ok         bool
	}{
		{"", "{}", true},
		{"null", "{}", true},
		{"  \n", "{}", true},
		{`{"n":9007199254740993}`, `{"n":9007199254740993}`, true},
		{` {"a":1} `, `{"a":1}`, true},
		{`{"a":`, "", false},
		{`[1]`, "", false},
		{`"x"`, "", false},
		{`{} {}`, "", false},
		{`not json`, "", false},
	}
	for _, tt := range tests {
		got, ok := model.Call{Args: tt.args}.Arguments()
		if string(got) != tt.want || ok != tt.ok {
			t.Errorf("Arguments of %q = %q, %v; want %q, %v", tt.args, got, ok, tt.want, tt.ok)
		}
	}
}

func TestToolCallsCountWhateverTheFinishReason(t *testing.T) {
	call := delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`)
	for _, reason := range []string{"stop", "tool_calls", "function_call", "length", "content_filter", "end_turn"} {
		resp, _, err := ask(t, modeltest.Events(call, finish(reason), "[DONE]"))
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.Calls) != 1 || resp.Finish != reason {
			t.Errorf("finish %q: calls %v, finish %q", reason, resp.Calls, resp.Finish)
		}
		if resp.CutShort() != (reason == "length") {
			t.Errorf("finish %q: CutShort is %v", reason, resp.CutShort())
		}
	}
}

func TestAnswersAreReadInEveryShape(t *testing.T) {
	const sseType = "text/event-stream"
	content := `{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}`
	tests := []struct {
		name   string
		answer modeltest.Answer
		want   string
	}{
		{"a text", modeltest.Text("hello"), "hello"},
		{"one byte a read", modeltest.Answer{Text: "hello", OneByte: true}, "hello"},
		{"content null beside a text chunk", modeltest.Events(delta(`{"content":null}`), delta(`{"content":"hello"}`), finish("stop"), "[DONE]"), "hello"},
		{"content in parts", modeltest.Events(delta(`{"content":[{"type":"text","text":"hel"},{"type":"text","text":"lo"}]}`), finish("stop"), "[DONE]"), "hello"},
		{"content in parts, thoughts aside", modeltest.Events(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hello"}]}`), finish("stop"), "[DONE]"), "hello"},
		{"comments and blank lines", modeltest.Raw(sseType, ": keep-alive\n\n\n\ndata: "+content+"\n\n: bye\n\ndata: [DONE]\n\n"), "hello"},
		{"CRLF", modeltest.Raw(sseType, "data: "+content+"\r\n\r\ndata: [DONE]\r\n\r\n"), "hello"},
		{"CR alone", modeltest.Raw(sseType, "data: "+content+"\r\rdata: [DONE]\r\r"), "hello"},
		{"no space after data:", modeltest.Raw(sseType, "data:"+content+"\n\ndata:[DONE]\n\n"), "hello"},
		{"events that no blank line parts", modeltest.Raw(sseType, "data: "+content+"\ndata: [DONE]\n"), "hello"},
		{"event names, ids and retry times", modeltest.Raw(sseType, "event: message\nid: 1\nretry: 10\ndata: "+content+"\n\ndata: [DONE]\n\n"), "hello"},
		{"one JSON text over two data lines", modeltest.Raw(sseType, "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"), "hello"},
		{"a byte order mark", modeltest.Raw(sseType, "\ufeffdata: "+content+"\n\ndata: [DONE]\n\n"), "hello"},
		{"a finish reason and no [DONE]", modeltest.Raw(sseType, "data: "+content+"\n\n"), "hello"},
		{"a finish reason in a last line without an end", modeltest.Raw(sseType, "data: "+content), "hello"},
		{"[DONE] and no finish reason", modeltest.Events(delta(`{"content":"hello"}`), "[DONE]"), "hello"},
		{"a stream under a JSON content type", modeltest.Raw("application/json", "data: "+content+"\n\ndata: [DONE]\n\n"), "hello"},
		{"a document where a stream was asked for", modeltest.Raw("application/json", `{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`), "hello"},
		{"a document with parts", modeltest.Raw("application/json", ` {"choices":[{"message":{"content":[{"type":"text","text":"hello"}]}}]}`), "hello"},
		{"the whole message again at the end", modeltest.Events(delta(`{"content":"hello"}`), `{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}`, "[DONE]"), "hello"},
		{"an error that is null", modeltest.Events(`{"error":null,"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}`, "[DONE]"), "hello"},
		{"other choices aside", modeltest.Events(`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}`, "[DONE]"), "hello"},
		{"a refusal", modeltest.Events(delta(`{"content":null,"refusal":"I won't."}`), finish("stop"), "[DONE]"), "I won't."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, sink, err := ask(t, tt.answer)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Text != tt.want {
				t.Errorf("text %q, want %q", resp.Text, tt.want)
			}
			if sink.text() != tt.want || sink.broken != 0 {
				t.Errorf("deltas %q, broken %d; want %q and 0", sink.text(), sink.broken, tt.want)
			}
		})
	}
}

func TestTextIsStreamedAsItArrives(t *testing.T) {
	resp, sink, err := ask(t, modeltest.Events(delta(`{"content":"one "}`), delta(`{"content":"two"}`), finish("stop"), "[DONE]"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"one ", "two"}, sink.deltas); d != "" {
		t.Error(d)
	}
	if resp.Text != "one two" || resp.Model != "m" {
		t.Errorf("got %+v", resp)
	}
}

func TestDoneEndsTheStreamThoughTheSocketStaysOpen(t *testing.T) {
	answer := modeltest.Events(delta(`{"content":"hello"}`), finish("stop"), "[DONE]")
	answer.Hold = true
	bare := modeltest.Raw("text/event-stream", "data: "+delta(`{"content":"hello"}`)+"\n\ndata: [DONE]\n") // not even a blank line
	bare.Hold = true
	for _, a := range []modeltest.Answer{answer, bare} {
		s := modeltest.New(t, modeltest.Always(a))
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second) // less than the wait for a missing [DONE]
		resp, err := client(s.URL).Complete(ctx, question(), nil)
		cancel()
		if err != nil || resp.Text != "hello" {
			t.Errorf("got %q, %v", resp.Text, err)
		}
	}
}

func TestReasoningIsKept(t *testing.T) {
	for _, a := range []modeltest.Answer{
		modeltest.Events(delta(`{"reasoning_content":"hm, "}`), delta(`{"reasoning_content":"so"}`), delta(`{"content":"hello"}`), finish("stop"), "[DONE]"),
		modeltest.Raw("application/json", `{"choices":[{"message":{"reasoning_content":"hm, so","content":"hello"}}]}`),
	} {
		resp, sink, err := ask(t, a)
		if err != nil || resp.Reasoning != "hm, so" || resp.Text != "hello" || sink.text() != "hello" {
			t.Errorf("got %+v, %v, streamed %q", resp, err, sink.text())
		}
	}
}

func TestTheModelIDIsTheReportedOneElseTheAskedOne(t *testing.T) {
	resp, _, _ := ask(t, modeltest.Answer{Text: "hello", Model: "test-model-2026-01-01"})
	if resp.Model != "test-model-2026-01-01" {
		t.Errorf("model %q", resp.Model)
	}
	resp, _, _ = ask(t, modeltest.Raw("application/json", `{"choices":[{"message":{"content":"hello"}}]}`))
	if resp.Model != "test-model" {
		t.Errorf("model %q", resp.Model)
	}
}

func TestUsageIsNormalized(t *testing.T) {
	text := delta(`{"content":"hello"}`)
	usage := func(u string) modeltest.Answer {
		return modeltest.Events(text, finish("stop"), `{"choices":[],"usage":`+u+`}`, "[DONE]")
	}
	each := func(u string) string {
		return `{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":` + u + `}`
	}
	tests := []struct {
		name   string
		answer modeltest.Answer
		want   model.Usage
	}{
		{
			"in the last chunk", usage(`{"prompt_tokens":812,"completion_tokens":14,"total_tokens":826}`),
			model.Usage{Known: true, InputTokens: 812, OutputTokens: 14},
		},
		{
			"in every chunk, growing", modeltest.Events(each(`{"prompt_tokens":10,"completion_tokens":1}`), each(`{"prompt_tokens":10,"completion_tokens":2}`), finish("stop"), "[DONE]"),
			model.Usage{Known: true, InputTokens: 10, OutputTokens: 2},
		},
		{
			"null in the chunks before the last", modeltest.Events(each(`null`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2}}`, "[DONE]"),
			model.Usage{Known: true, InputTokens: 10, OutputTokens: 2},
		},
		{
			"in an early chunk and zero later", modeltest.Events(each(`{"prompt_tokens":10,"completion_tokens":2}`), each(`{"prompt_tokens":0,"completion_tokens":0}`), finish("stop"), "[DONE]"),
			model.Usage{Known: true, InputTokens: 10, OutputTokens: 2},
		},
		{
			"in no chunk: unknown, not zero", modeltest.Events(text, finish("stop"), "[DONE]"),
			model.Usage{},
		},
		{
			"all zero: unknown", usage(`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`),
			model.Usage{},
		},
		{
			"OpenAI's cached tokens are part of the prompt's", usage(`{"prompt_tokens":1000,"completion_tokens":5,"total_tokens":1005,"prompt_tokens_details":{"cached_tokens":600}}`),
			model.Usage{Known: true, InputTokens: 1000, OutputTokens: 5, CacheReadTokens: 600},
		},
		{
			"Anthropic's cache tokens come on top of the input's", usage(`{"input_tokens":100,"output_tokens":5,"cache_read_input_tokens":600,"cache_creation_input_tokens":300}`),
			model.Usage{Known: true, InputTokens: 1000, OutputTokens: 5, CacheReadTokens: 600, CacheWriteTokens: 300},
		},
		{
			"a gateway's prompt tokens with Anthropic's cache tokens apart", usage(`{"prompt_tokens":100,"completion_tokens":5,"cache_read_input_tokens":600,"cache_creation_input_tokens":300}`),
			model.Usage{Known: true, InputTokens: 1000, OutputTokens: 5, CacheReadTokens: 600, CacheWriteTokens: 300},
		},
		{
			"a gateway that counts them in and says so in the details", usage(`{"prompt_tokens":1000,"completion_tokens":5,"total_tokens":1005,"prompt_tokens_details":{"cached_tokens":600},"cache_read_input_tokens":600,"cache_creation_input_tokens":300}`),
			model.Usage{Known: true, InputTokens: 1000, OutputTokens: 5, CacheReadTokens: 600, CacheWriteTokens: 300},
		},
		{
			"details whose total shows that they come on top", usage(`{"prompt_tokens":1000,"completion_tokens":5,"total_tokens":1605,"prompt_tokens_details":{"cached_tokens":600}}`),
			model.Usage{Known: true, InputTokens: 1600, OutputTokens: 5, CacheReadTokens: 600},
		},
		{
			"DeepSeek's cache hits are part of the prompt's", usage(`{"prompt_tokens":1000,"completion_tokens":5,"prompt_cache_hit_tokens":600,"prompt_cache_miss_tokens":400}`),
			model.Usage{Known: true, InputTokens: 1000, OutputTokens: 5, CacheReadTokens: 600},
		},
		{
			"null details", usage(`{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":null,"cache_read_input_tokens":null}`),
			model.Usage{Known: true, InputTokens: 10, OutputTokens: 2},
		},
		{
			"details of an odd shape", usage(`{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":[]}`),
			model.Usage{Known: true, InputTokens: 10, OutputTokens: 2},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, _, err := ask(t, tt.answer)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Usage != tt.want {
				t.Errorf("usage %+v, want %+v", resp.Usage, tt.want)
			}
		})
	}
}

func TestUsageOfADocumentIsRead(t *testing.T) {
	resp, _, err := ask(t, modeltest.Raw("application/json", `{"choices":[{"message":{"content":"hello"}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`))
	if err != nil || resp.Usage != (model.Usage{Known: true, InputTokens: 3, OutputTokens: 4}) {
		t.Errorf("usage %+v, %v", resp.Usage, err)
	}
}
