package model

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// contentModes numbers the values of ToolCallContent; Message.wire is indexed
// by it.
var contentModes = map[string]int{"": 0, ContentOmit: 0, ContentEmpty: 1, ContentKeep: 2}

const (
	modeOmit = iota
	modeEmpty
	modeKeep
)

// emptyResult stands for a tool result without text: providers refuse empty
// messages.
const emptyResult = "(empty result)"

// wireMessage is a message as sent. Content is absent, a string or parts.
type wireMessage struct {
	Role       string            `json:"role"`
	Content    any               `json:"content,omitempty"`
	Reasoning  string            `json:"reasoning_content,omitempty"`
	ToolCalls  []openai.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"`
}

// textPart is a content part that may carry a cache marker, which go-openai's
// type has no room for.
type textPart struct {
	Type         string        `json:"type"`
	Text         string        `json:"text"`
	CacheControl *cacheControl `json:"cache_control,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

// wireOptions is the tail of a request: what is neither message nor tool.
type wireOptions struct {
	Temperature         *float64              `json:"temperature,omitempty"`
	MaxTokens           int                   `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                   `json:"max_completion_tokens,omitempty"`
	Stream              bool                  `json:"stream,omitempty"`
	StreamOptions       *openai.StreamOptions `json:"stream_options,omitempty"`
}

// encodeJSON is json.Marshal without HTML escaping.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encode returns the message as sent in the given mode, nil for one that says
// nothing. The bytes are kept, since every later request carries them again.
func (m *Message) encode(mode int) ([]byte, error) {
	if len(m.Calls) == 0 {
		mode = modeOmit // only content beside calls varies
	}
	if b, ok := m.wire[mode].Load().([]byte); ok {
		return b, nil
	}
	w := wireMessage{Role: m.Role, ToolCallID: m.CallID, Reasoning: m.Reasoning}
	blank := strings.TrimSpace(m.Content) == ""
	switch {
	case m.Role == "tool" && blank:
		w.Content = emptyResult
	case len(m.Calls) > 0:
		for _, c := range m.Calls {
			w.ToolCalls = append(w.ToolCalls, openai.ToolCall{
				ID: c.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: c.wireName(), Arguments: c.wireArguments()},
			})
		}
		if mode == modeEmpty {
			w.Content = ""
		} else if mode == modeKeep && !blank {
			w.Content = m.Content
		}
	case len(m.Images) > 0:
		w.Content = imageParts(m)
	case blank:
		return nil, nil
	default:
		w.Content = m.Content
	}
	b, err := encodeJSON(w)
	if err != nil {
		return nil, err
	}
	m.wire[mode].Store(b)
	return b, nil
}

func imageParts(m *Message) []openai.ChatMessagePart {
	var parts []openai.ChatMessagePart
	if strings.TrimSpace(m.Content) != "" {
		parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: m.Content})
	}
	for _, im := range m.Images {
		url := "data:" + im.MediaType + ";base64," + base64.StdEncoding.EncodeToString(im.Data)
		parts = append(parts, openai.ChatMessagePart{
			Type:     openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{URL: url},
		})
	}
	return parts
}

// encode returns the tool definition as sent, encoded once.
func (t *Tool) encode() ([]byte, error) {
	if b, ok := t.wire.Load().([]byte); ok {
		return b, nil
	}
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	b, err := encodeJSON(openai.Tool{
		Type:     openai.ToolTypeFunction,
		Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: schema},
	})
	if err != nil {
		return nil, err
	}
	t.wire.Store(b)
	return b, nil
}

// systemMessage joins the static prefix and the volatile block by a blank line,
// or, for a Claude model with caching on, sends them as two parts with a marker
// on the static one (runtime.md, "The prompt"). It is nil when both are blank.
func systemMessage(req *Request, model string) ([]byte, error) {
	static := strings.TrimSpace(req.Static) != ""
	volatile := strings.TrimSpace(req.Volatile) != ""
	var content any
	switch {
	case static && req.Cache != nil && strings.Contains(strings.ToLower(model), "claude"):
		parts := []textPart{{Type: "text", Text: req.Static, CacheControl: &cacheControl{Type: "ephemeral", TTL: req.Cache.TTL}}}
		if volatile {
			parts = append(parts, textPart{Type: "text", Text: req.Volatile})
		}
		content = parts
	case static && volatile:
		content = req.Static + "\n\n" + req.Volatile
	case static:
		content = req.Static
	case volatile:
		content = req.Volatile
	default:
		return nil, nil
	}
	return encodeJSON(wireMessage{Role: openai.ChatMessageRoleSystem, Content: content})
}

// payload is an encoded request: pieces that are sent one after the other and
// never copied together, since the messages' bytes are kept anyway.
type payload struct {
	pieces [][]byte
	size   int64
}

func (p *payload) add(b []byte) {
	p.pieces = append(p.pieces, b)
	p.size += int64(len(b))
}

// reader reads the payload from its start.
func (p *payload) reader() io.ReadCloser { return &payloadReader{pieces: p.pieces} }

type payloadReader struct {
	pieces [][]byte
	off    int // into pieces[0]
}

// Read implements io.Reader.
func (r *payloadReader) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) && len(r.pieces) > 0 {
		c := copy(b[n:], r.pieces[0][r.off:])
		n, r.off = n+c, r.off+c
		if r.off == len(r.pieces[0]) {
			r.pieces, r.off = r.pieces[1:], 0
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Close implements io.Closer; there is nothing to release.
func (r *payloadReader) Close() error { return nil }

var (
	comma      = []byte(",")
	listEnd    = []byte("]")
	toolsStart = []byte(`,"tools":[`)
)

// encodeRequest joins the request from the kept bytes of its messages and
// tools. A request whose history holds calls but which grants no tool carries
// definitions of the tools its history names, since providers refuse tool
// history without any; calling one is the runtime's to refuse.
func encodeRequest(req *Request, model string, d dialect, opt wireOptions) (*payload, error) {
	head, err := encodeJSON(model)
	if err != nil {
		return nil, err
	}
	p := &payload{pieces: make([][]byte, 0, 2*(len(req.Messages)+len(req.Tools))+8)}
	p.add(fmt.Appendf(nil, `{"model":%s,"messages":[`, head))
	first := true
	item := func(b []byte, err error) error {
		if err != nil || b == nil {
			return err
		}
		if !first {
			p.add(comma)
		}
		first = false
		p.add(b)
		return nil
	}
	if err := item(systemMessage(req, model)); err != nil {
		return nil, err
	}
	for _, m := range req.Messages {
		if err := item(m.encode(d.content)); err != nil {
			return nil, err
		}
	}
	p.add(listEnd)
	tools := req.Tools
	if len(tools) == 0 {
		tools = historyTools(req.Messages)
	}
	if len(tools) > 0 {
		p.add(toolsStart)
		first = true
		for _, t := range tools {
			if err := item(t.encode()); err != nil {
				return nil, err
			}
		}
		p.add(listEnd)
	}
	tail, err := encodeJSON(opt)
	if err != nil {
		return nil, err
	}
	if len(tail) > len("{}") {
		p.add(comma)
	}
	p.add(tail[1:])
	return p, nil
}

// historyTools defines the tools that the messages call, in order of their
// first call.
func historyTools(messages []*Message) []*Tool {
	var tools []*Tool
	seen := map[string]bool{}
	for _, m := range messages {
		for _, c := range m.Calls {
			if name := c.wireName(); !seen[name] {
				seen[name] = true
				tools = append(tools, &Tool{Name: name, Description: "Not available now."})
			}
		}
	}
	return tools
}
