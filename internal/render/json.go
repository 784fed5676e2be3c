package render

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// JSON writes v as one document: UTF-8, indented by two spaces, keys in the
// order of its type, no HTML escaping, one trailing newline. Lists that an
// Outcome or a Plan leaves nil are printed empty: arrays are never null.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(filled(v))
}

// filled replaces the nil lists of the contract types that others make.
func filled(v any) any {
	switch v := v.(type) {
	case *runtime.Outcome:
		if v == nil {
			return v
		}
		c := *v
		c.Pending = filled(c.Pending)
		c.AuditTrail = orEmpty(c.AuditTrail)
		c.Warnings = orEmpty(c.Warnings)
		if c.Variables == nil {
			c.Variables = map[string]session.Variable{}
		}
		return &c
	case *runtime.Plan:
		if v == nil {
			return v
		}
		c := *v
		c.Issues = orEmpty(c.Issues)
		return &c
	case *session.Pending:
		if v == nil {
			return v
		}
		c := *v
		c.Evidence = orEmpty(c.Evidence)
		c.Transitions = orEmpty(c.Transitions)
		return &c
	}
	return v
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// EventLine writes e as one JSON line (--events).
func EventLine(w io.Writer, e event.Event) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
}

// Raw writes e as one raw line for a person (-v): time, level, number, type,
// session, payload.
func Raw(w io.Writer, e event.Event) error {
	payload, err := session.Encode(e.Payload)
	if err != nil {
		return err
	}
	seq := "-"
	if e.Seq > 0 {
		seq = "#" + strconv.FormatUint(e.Seq, 10)
	}
	line := e.TS.UTC().Format(event.TimeFormat) + " " + e.Level + " " + seq + " " + e.Type + " " + e.SessionID
	if e.DispatchID != "" {
		line += " (" + e.DispatchID + ")"
	}
	_, err = io.WriteString(w, Clean(line+" "+string(payload))+"\n")
	return err
}

// ErrorDoc is what --json prints when a command fails before an Outcome exists.
type ErrorDoc struct {
	Version int       `json:"version"`
	Error   ErrorBody `json:"error"`
}

// ErrorBody is the error itself; Code is stable and kebab-case.
type ErrorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// NewErrorDoc returns the document of an error.
func NewErrorDoc(code, message, hint string) ErrorDoc {
	return ErrorDoc{Version: Version, Error: ErrorBody{Code: code, Message: message, Hint: hint}}
}
