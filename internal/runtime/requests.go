package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/session"
)

// SentRequest is one model call of a session as it was sent, rebuilt from the
// journal.
type SentRequest struct {
	Seq   uint64          `json:"seq"` // of the record that settled the call
	TS    string          `json:"ts"`
	Role  string          `json:"role"`
	State string          `json:"state"`
	Error string          `json:"error,omitempty"` // of a call that failed
	Body  json.RawMessage `json:"body"`
}

// Requests rebuilds the requests of a session, in order. Images are named, not
// shown. It fails where the prompt text that went with a request is gone.
func (r *Runtime) Requests(ctx context.Context, id, toolCallContent string) iter.Seq2[SentRequest, error] {
	return func(yield func(SentRequest, error) bool) {
		s := session.NewState()
		wire := transcript{notes: r.opts.Notes, image: func(path string) *model.Message {
			return &model.Message{Role: "user", Content: fmt.Sprintf("[image] `%s`", path)}
		}}
		for rec, err := range r.opts.Store.Records(ctx, id, 1) {
			if err == nil {
				if m, ok := rec.Body.(*session.ModelSettled); ok && m.Prompt != "" {
					var sent SentRequest
					if sent, err = r.rebuild(ctx, id, s, &wire, rec, m, toolCallContent); err == nil && !yield(sent, nil) {
						return
					}
				}
			}
			if err == nil {
				_, err = s.Apply(rec)
			}
			if err != nil {
				yield(SentRequest{}, err)
				return
			}
		}
	}
}

// rebuild puts the request together that rec settles; s is the session as it
// was then.
func (r *Runtime) rebuild(ctx context.Context, id string, s *session.State, wire *transcript, rec session.Record, m *session.ModelSettled, mode string) (SentRequest, error) {
	raw, err := r.opts.Store.Prompt(ctx, id, m.Prompt)
	if err != nil {
		return SentRequest{}, fmt.Errorf("the prompt of the request that record %d settles is gone; `archmax sessions log` without --requests shows the transcript", rec.Seq)
	}
	var p storedPrompt
	if err := json.Unmarshal(raw, &p); err != nil {
		return SentRequest{}, fmt.Errorf("the stored prompt %s is damaged; `archmax sessions log` without --requests shows the transcript", m.Prompt)
	}
	wire.extend(s.Messages)
	req := &model.Request{Model: m.Model, Static: p.Static, Volatile: p.Volatile}
	if m.Role == string(model.RoleSummary) {
		req.Messages = slices.Concat(wire.slice(s.Compact, m.UpTo), []*model.Message{{Role: "user", Content: summarize}})
	} else {
		req.Messages = wire.slice(s.Compact, len(s.Messages))
	}
	for _, tool := range p.Tools {
		req.Tools = append(req.Tools, &model.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	body, err := model.Body(req, mode)
	if err != nil {
		return SentRequest{}, fmt.Errorf("the request that record %d settles cannot be rebuilt: %w", rec.Seq, err)
	}
	return SentRequest{Seq: rec.Seq, TS: rec.TS.UTC().Format(event.TimeFormat), Role: m.Role, State: m.State, Error: m.Error, Body: body}, nil
}
