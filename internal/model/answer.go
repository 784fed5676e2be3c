package model

import (
	"bytes"
	"encoding/json"
	"strings"
)

// chunk is a streamed chunk or a whole answer, read liberally: what go-openai's
// types refuse (content as parts, arguments as an object, a numeric id) is
// read.
type chunk struct {
	Model   looseText       `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *wireUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  looseText       `json:"object"` // "error" where the payload itself is the error object (vLLM)
}

type choice struct {
	Index   int       `json:"index"`
	Delta   *delta    `json:"delta"`
	Message *delta    `json:"message"`
	Finish  looseText `json:"finish_reason"`
}

type delta struct {
	Content   content     `json:"content"`
	Refusal   looseText   `json:"refusal"`
	Reasoning looseText   `json:"reasoning_content"`
	Calls     []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index    *int      `json:"index"`
	ID       looseText `json:"id"`
	Function struct {
		Name      looseText `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// looseText reads a string, null as "", and any other scalar as its text.
type looseText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *looseText) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	if string(b) != "null" {
		*t = looseText(b)
	}
	return nil
}

// arguments reads a string of JSON, null, or the JSON itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(b []byte) error {
	return (*looseText)(a).UnmarshalJSON(b)
}

// content reads a string, null, or a list of parts, of which it takes the text.
type content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '[':
		var parts []json.RawMessage
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		var all strings.Builder
		for _, p := range parts {
			all.WriteString(partText(p))
		}
		*c = content(all.String())
		return nil
	case '{':
		*c = content(partText(b))
		return nil
	}
	return (*looseText)(c).UnmarshalJSON(b)
}

// partText is the text of one content part; a part of another kind (an image, a
// thought) has none.
func partText(b json.RawMessage) string {
	if b[0] == '"' {
		var s string
		_ = json.Unmarshal(b, &s) // the decoder has checked the string
		return s
	}
	var part struct {
		Text    looseText `json:"text"`
		Refusal looseText `json:"refusal"`
	}
	if json.Unmarshal(b, &part) != nil {
		return ""
	}
	return string(part.Text + part.Refusal)
}

// answer collects the chunks of one attempt.
type answer struct {
	text      strings.Builder
	refusal   strings.Builder
	reasoning strings.Builder
	calls     assembler
	finish    string
	model     string
	usage     wireUsage
	choices   bool // at least one choice came
}

// take adds one chunk. A payload that is no chunk is a broken stream.
func (a *answer) take(data []byte, ep *endpoint, out Sink) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return ep.broken("sent something that is no chat completion", err)
	}
	if c.Object == "error" {
		c.Error = data
	}
	if f := ep.bodyError(c.Error, data); f != nil {
		return f
	}
	if c.Model != "" {
		a.model = string(c.Model)
	}
	if c.Usage != nil {
		a.usage.merge(*c.Usage)
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue // one answer was asked for
		}
		a.choices = true
		if ch.Finish != "" {
			a.finish = string(ch.Finish)
		}
		switch {
		case ch.Delta != nil:
			a.add(ch.Delta, out)
		case ch.Message != nil && a.blank(): // some streams end with the whole message again
			a.add(ch.Message, out)
		}
	}
	return nil
}

func (a *answer) blank() bool {
	return a.text.Len() == 0 && a.refusal.Len() == 0 && len(a.calls.calls) == 0
}

func (a *answer) add(d *delta, out Sink) {
	a.text.WriteString(string(d.Content))
	a.refusal.WriteString(string(d.Refusal))
	a.reasoning.WriteString(string(d.Reasoning))
	a.calls.take(d.Calls)
	out.Delta(string(d.Content) + string(d.Refusal))
}

// response is the whole answer. A refusal is what the model said.
func (a *answer) response(asked string) Response {
	r := Response{
		Text:      a.text.String() + a.refusal.String(),
		Calls:     a.calls.list(),
		Reasoning: a.reasoning.String(),
		Finish:    a.finish,
		Model:     a.model,
		Usage:     a.usage.usage(),
	}
	if r.Model == "" {
		r.Model = asked
	}
	return r
}
