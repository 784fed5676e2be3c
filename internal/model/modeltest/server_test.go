package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

// complaints is a TB that keeps what it is told.
type complaints struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (c *complaints) Helper() {}
func (c *complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func request(system, messages, rest string) string {
	return `{"model":"m","messages":[{"role":"system","content":` + quote(system) + `}` + messages + `]` + rest + `}`
}

const (
	user  = `,{"role":"user","content":"hi"}`
	tools = `,"tools":[{"type":"function","function":{"name":"x","parameters":{"type":"object"}}}]`
)

func calls(ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, `{"id":`+quote(id)+`,"type":"function","function":{"name":"x","arguments":"{}"}}`)
	}
	return `,{"role":"assistant","tool_calls":[` + strings.Join(all, ",") + `]}`
}

func result(id string) string {
	return `,{"role":"tool","tool_call_id":` + quote(id) + `,"content":"r"}`
}

func TestTheCheckerFindsEveryViolation(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, body string
		want       string // "": none
	}{
		{"a good request", request("s", user+calls("a", "b")+result("a")+result("b")+user, tools), ""},
		{"a call without a result", request("s", user+calls("a"), tools), `call "a" has no result`},
		{"a result after the next message", request("s", calls("a")+user+result("a"), tools), `before the result of call "a"`},
		{"results out of order", request("s", calls("a", "b")+result("b")+result("a"), tools), `where that of "a" is next`},
		{"a result without a call", request("s", user+result("a"), tools), "no call is open"},
		{"an id used twice", request("s", calls("a")+result("a")+calls("a")+result("a"), tools), "used twice"},
		{"a call without an id", request("s", calls("")+result(""), tools), "has no id"},
		{"an empty message", request("s", `,{"role":"user","content":" "}`, ""), "is empty"},
		{"an empty result", request("s", calls("a")+`,{"role":"tool","tool_call_id":"a","content":""}`, tools), "is empty"},
		{"an empty system message", request("", user, ""), "system message is empty"},
		{"an empty list of tools", request("s", user, `,"tools":[]`), "list of tools is empty"},
		{"no tools with calls in the history", request("s", calls("a")+result("a"), ""), "no tool is defined"},
		{"a tool defined twice", request("s", user, strings.Replace(tools, "]", `,`+tools[10:len(tools)-1]+`]`, 1)), "defined twice"},
		{"a schema that is none", request("s", user, strings.Replace(tools, `{"type":"object"}`, `true`, 1)), "schema"},
		{"arguments that are no object", request("s", strings.Replace(calls("a"), "{}", "x", 1)+result("a"), tools), "no JSON object"},
		{"a forbidden word in a message", request("s", `,{"role":"user","content":"a SENTINEL b"}`, ""), "forbidden word"},
		{"a forbidden word in arguments", request("s", strings.Replace(calls("a"), "{}", `{\"k\":\"SENT\\u0049NEL\"}`, 1)+result("a"), tools), "forbidden word"},
		{"a forbidden word in a tool", request("s", user, strings.Replace(tools, `"x"`, `"x","description":"SENTINEL"`, 1)), "forbidden word"},
		{"a host path", request("see "+wd+"/f", user, ""), "host path"},
		{"a test's directory", request("see "+filepath.Join(os.TempDir(), "TestX", "001"), user, ""), "host path"},
		{"a second system message", request("s", `,{"role":"system","content":"x"}`, ""), "must be the first"},
		{"no JSON", "{", "no chat-completions request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &complaints{TB: t}
			s := modeltest.NewConfig(c, modeltest.Config{Forbidden: []string{"SENTINEL"}}, modeltest.Always(modeltest.Text("x")))
			post(t, s.URL, tt.body)
			said := strings.Join(s.Violations(), "\n")
			if (tt.want == "") != (said == "") || !strings.Contains(said, tt.want) {
				t.Errorf("the checker says %q, want %q", said, tt.want)
			}
			if len(c.said) != len(s.Violations()) {
				t.Errorf("the test was told %q", c.said)
			}
		})
	}
}

func TestTheStaticPrefixIsHeldOverATurn(t *testing.T) {
	ask := func(title, static, volatile string) string {
		return request("# Workflow: "+title+"\n"+static+"\n\n"+volatile, user, "")
	}
	c := &complaints{TB: t}
	s := modeltest.New(c, modeltest.Always(modeltest.Text("x")))
	post(t, s.URL, ask("A", "one", "## Current state: a\nx"))
	post(t, s.URL, ask("A", "one", "## Current state: b\ny"))
	post(t, s.URL, ask("A", "one", "## This run is parked\nz"))
	post(t, s.URL, ask("B", "other", "## Current state: a")) // a child's workflow
	post(t, s.URL, request("Grade this.", user, ""))         // a grader
	if v := s.Violations(); len(v) != 0 {
		t.Fatalf("violations %q", v)
	}
	if got := s.Requests()[0]; got.Static != "# Workflow: A\none" || got.Volatile != "## Current state: a\nx" {
		t.Errorf("static %q, volatile %q", got.Static, got.Volatile)
	}
	post(t, s.URL, ask("A", "two", "## Current state: a"))
	if v := s.Violations(); len(v) != 1 || !strings.Contains(v[0], "differs from that of request 1") {
		t.Errorf("violations %q", v)
	}
	s.NewTurn()
	post(t, s.URL, ask("A", "two", "## Current state: a"))
	if v := s.Violations(); len(v) != 1 {
		t.Errorf("violations after NewTurn %q", v)
	}
}

func TestAScriptThatIsTooShortFailsTheTest(t *testing.T) {
	c := &complaints{TB: t}
	s := modeltest.New(c, modeltest.Script(c, modeltest.Text("one")))
	post(t, s.URL, request("s", user, ""))
	status, _ := post(t, s.URL, request("s", user, ""))
	if status != 400 || len(c.said) != 1 {
		t.Errorf("status %d, said %q", status, c.said)
	}
}

func TestAnswersAreDocumentsOrStreamsAsAsked(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.CallTools("words", modeltest.Call{Name: "x", Args: `{"k":"é"}`})))
	_, doc := post(t, s.URL, request("s", user, ""))
	var d struct {
		Choices []struct {
			Message struct {
				Content   string
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage map[string]int
	}
	if err := json.Unmarshal([]byte(doc), &d); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	m := d.Choices[0].Message
	if m.Content != "words" || m.ToolCalls[0].ID != "call_1_1" || m.ToolCalls[0].Function.Arguments != `{"k":"é"}` || d.Choices[0].FinishReason != "tool_calls" || d.Usage["prompt_tokens"] == 0 {
		t.Errorf("document %s", doc)
	}
	_, stream := post(t, s.URL, request("s", user, `,"stream":true,"stream_options":{"include_usage":true}`))
	if !strings.HasPrefix(stream, "data: {") || !strings.HasSuffix(stream, "data: [DONE]\n\n") || !strings.Contains(stream, "prompt_tokens") {
		t.Errorf("stream %s", stream)
	}
}

func TestAnotherPathIsNotFound(t *testing.T) {
	s := modeltest.New(t, modeltest.Always(modeltest.Text("x")))
	resp, err := http.Get(s.URL + "/models")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 404 {
		t.Errorf("status %d", resp.StatusCode)
	}
}
