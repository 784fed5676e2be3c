package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Answer is what the server answers. The zero value is an answer that says
// nothing. Of the fields that replace the model's answer, the first one set
// counts: Do, Raw, Events, Status.
type Answer struct {
	Text      string
	Calls     []Call // an id that is "" is made up
	Reasoning string
	Finish    string          // "": stop, or tool_calls with calls
	Model     string          // "": the one asked for
	Usage     json.RawMessage // nil: a plausible usage; "null": none

	Status  int      // not 0 and not 200: an error response with Text as its message
	Header  []string // "Name: value", added to the response
	Events  []string // the data of server-sent events, sent as given; no [DONE] is added
	Raw     string   // the body, byte for byte
	RawType string   // its content type; "": application/json

	OneByte bool          // write the body one byte at a time
	Wait    time.Duration // before the answer
	Hold    bool          // keep the connection open after the body until the client goes
	Cut     bool          // break the connection after the body

	// Do takes the response over.
	Do func(w http.ResponseWriter, r *http.Request)
}

// Text answers with a text.
func Text(text string) Answer { return Answer{Text: text} }

// CallTool answers with one tool call; args is JSON as text.
func CallTool(name, args string) Answer {
	return Answer{Calls: []Call{{Name: name, Args: args}}}
}

// CallTools answers with a text and tool calls.
func CallTools(text string, calls ...Call) Answer { return Answer{Text: text, Calls: calls} }

// Fail answers with an error status.
func Fail(status int, message string) Answer { return Answer{Status: status, Text: message} }

// Events answers with server-sent events of the given data.
func Events(data ...string) Answer { return Answer{Events: data} }

// Raw answers 200 with the given body.
func Raw(contentType, body string) Answer { return Answer{Raw: body, RawType: contentType} }

// Script returns a handler that gives the answers in order. A request beyond
// the last fails the test and gets a 400.
func Script(tb TB, answers ...Answer) Handler {
	next := 0
	return func(r *Request) Answer {
		if next >= len(answers) {
			tb.Errorf("model request %d: the script has %d answers; the last message is %q", r.Number, len(answers), r.Last().Content)
			return Fail(http.StatusBadRequest, "the script has no more answers")
		}
		next++
		return answers[next-1]
	}
}

// Always returns a handler that gives one answer to every request.
func Always(a Answer) Handler { return func(*Request) Answer { return a } }

func (a Answer) write(w http.ResponseWriter, r *http.Request, req *Request) {
	if a.Wait > 0 {
		select {
		case <-time.After(a.Wait):
		case <-r.Context().Done():
			return
		}
	}
	for _, h := range a.Header {
		name, value, _ := strings.Cut(h, ":")
		w.Header().Add(name, strings.TrimSpace(value))
	}
	if a.Do != nil {
		a.Do(w, r)
		return
	}
	status, contentType, body := a.body(req)
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", contentType)
	}
	w.WriteHeader(status)
	a.send(w, body)
	if a.Hold {
		<-r.Context().Done()
	}
	if a.Cut {
		panic(http.ErrAbortHandler) // net/http's way to break a connection off
	}
}

func (a Answer) send(w http.ResponseWriter, body string) {
	flush := http.NewResponseController(w)
	if !a.OneByte {
		_, _ = w.Write([]byte(body))
		_ = flush.Flush()
		return
	}
	for i := range len(body) {
		_, _ = w.Write([]byte{body[i]})
		_ = flush.Flush()
	}
}

func (a Answer) body(req *Request) (status int, contentType, body string) {
	switch {
	case a.Raw != "" || a.RawType != "":
		contentType = a.RawType
		if contentType == "" {
			contentType = "application/json"
		}
		status = a.Status
		if status == 0 {
			status = http.StatusOK
		}
		return status, contentType, a.Raw
	case a.Events != nil:
		return http.StatusOK, "text/event-stream", sse(a.Events)
	case a.Status != 0 && a.Status != http.StatusOK:
		return a.Status, "application/json", encode(object{"error": object{"message": a.Text}})
	case req.Stream:
		return http.StatusOK, "text/event-stream", sse(append(a.chunks(req), "[DONE]"))
	}
	return http.StatusOK, "application/json", encode(a.document(req))
}

type object = map[string]any

// document is the answer to a request for no stream.
func (a Answer) document(req *Request) object {
	message := object{"role": "assistant", "content": nil}
	if a.Text != "" {
		message["content"] = a.Text
	}
	if a.Reasoning != "" {
		message["reasoning_content"] = a.Reasoning
	}
	var calls []object
	for i, c := range a.Calls {
		calls = append(calls, object{"id": c.id(req, i), "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	doc := a.envelope(req, "chat.completion")
	doc["choices"] = []object{{"index": 0, "message": message, "finish_reason": a.finish()}}
	doc["usage"] = a.usage(req)
	return doc
}

// chunks is the answer as a stream: reasoning, the text in pieces, the calls,
// each with its arguments in two pieces, the finish reason, and the usage when
// it was asked for.
func (a Answer) chunks(req *Request) []string {
	var out []string
	chunk := func(delta object, finish any) {
		c := a.envelope(req, "chat.completion.chunk")
		c["choices"] = []object{{"index": 0, "delta": delta, "finish_reason": finish}}
		out = append(out, encode(c))
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if a.Reasoning != "" {
		chunk(object{"reasoning_content": a.Reasoning}, nil)
	}
	for _, piece := range pieces(a.Text, 12) {
		chunk(object{"content": piece}, nil)
	}
	for i, c := range a.Calls {
		half := len(c.Args) / 2
		for half > 0 && c.Args[half]&0xC0 == 0x80 { // not within a character
			half--
		}
		chunk(object{"tool_calls": []object{{"index": i, "id": c.id(req, i), "type": "function", "function": object{"name": c.Name, "arguments": c.Args[:half]}}}}, nil)
		chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": c.Args[half:]}}}}, nil)
	}
	chunk(object{}, a.finish())
	if req.WantUsage {
		c := a.envelope(req, "chat.completion.chunk")
		c["choices"] = []object{}
		c["usage"] = a.usage(req)
		out = append(out, encode(c))
	}
	return out
}

func (a Answer) envelope(req *Request, kind string) object {
	model := a.Model
	if model == "" {
		model = req.Model
	}
	return object{"id": fmt.Sprintf("chatcmpl-%d", req.Number), "object": kind, "created": 1767225600, "model": model}
}

func (a Answer) finish() string {
	switch {
	case a.Finish != "":
		return a.Finish
	case len(a.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (a Answer) usage(req *Request) any {
	if a.Usage != nil {
		return a.Usage
	}
	in, out := len(req.Raw)/4+1, len(a.Text)/4+len(a.Calls)*8+1
	return object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

func (c Call) id(req *Request, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d_%d", req.Number, i+1)
}

func sse(data []string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// pieces cuts s into pieces of n characters.
func pieces(s string, n int) []string {
	var out []string
	for r := []rune(s); len(r) > 0; r = r[min(n, len(r)):] {
		out = append(out, string(r[:min(n, len(r))]))
	}
	return out
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test's own answer is no JSON
	}
	return string(b)
}
