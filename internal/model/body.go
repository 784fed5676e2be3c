package model

import (
	"encoding/json"
	"io"
)

// Body is the request as the OpenAI-compatible client would send it, without
// the endpoint's own options (temperature, limits, streaming). It is for people
// who want to see what a model was asked.
func Body(req *Request, toolCallContent string) (json.RawMessage, error) {
	p, err := encodeRequest(req, req.Model, dialect{content: contentModes[toolCallContent]}, wireOptions{})
	if err != nil {
		return nil, err
	}
	return io.ReadAll(p.reader())
}
