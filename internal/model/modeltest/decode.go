package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

type message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	CallID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`

	raw json.RawMessage
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

func decode(raw []byte, headings []string) (*Request, error) {
	r := &Request{Raw: raw}
	if err := json.Unmarshal(raw, &r.Fields); err != nil {
		return nil, err
	}
	var body struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
		Tools    []struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Stream  bool `json:"stream"`
		Options struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	r.Model, r.Stream, r.WantUsage = body.Model, body.Stream, body.Options.IncludeUsage
	_, r.hasTools = r.Fields["tools"]
	for _, t := range body.Tools {
		if t.Type != "function" {
			return nil, fmt.Errorf("a tool has type %q", t.Type)
		}
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	for i, b := range body.Messages {
		m := message{raw: b}
		if err := json.Unmarshal(b, &m); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		texts, images, err := contentOf(m.Content)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		if m.Role == "system" {
			if i > 0 {
				return nil, fmt.Errorf("message %d is a system message, which must be the first", i+1)
			}
			r.system = append(r.system, m)
			r.System = strings.Join(texts, "\n\n")
			r.Static, r.Volatile = split(r.System, headings)
			continue
		}
		out := Message{
			Role: m.Role, Content: strings.Join(texts, ""), HasContent: len(m.Content) > 0 && string(m.Content) != "null",
			CallID: m.CallID, Reasoning: m.Reasoning, Images: images, Raw: b,
		}
		for _, c := range m.Calls {
			if c.Type != "function" {
				return nil, fmt.Errorf("message %d: a call has type %q", i+1, c.Type)
			}
			out.Calls = append(out.Calls, Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, out)
	}
	return r, nil
}

func contentOf(b json.RawMessage) (texts, images []string, err error) {
	if len(b) == 0 || string(b) == "null" {
		return nil, nil, nil
	}
	if bytes.HasPrefix(b, []byte(`"`)) {
		var s string
		err := json.Unmarshal(b, &s)
		return []string{s}, nil, err
	}
	var parts []part
	if err := json.Unmarshal(b, &parts); err != nil {
		return nil, nil, fmt.Errorf("content is neither text nor parts: %w", err)
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
		case "image_url":
			images = append(images, p.ImageURL.URL)
		default:
			return nil, nil, fmt.Errorf("a content part has type %q", p.Type)
		}
	}
	return texts, images, nil
}

// split cuts a system message before the first line that begins a volatile
// block.
func split(system string, headings []string) (static, volatile string) {
	at := len(system)
	for _, h := range headings {
		if strings.HasPrefix(system, h) {
			at = 0
		} else if i := strings.Index(system, "\n"+h); i >= 0 {
			at = min(at, i+1)
		}
	}
	return strings.TrimRight(system[:at], "\n"), system[at:]
}
