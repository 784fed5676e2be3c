package render

import (
	"encoding/json"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// SessionLog is a session's transcript (`sessions log`).
type SessionLog struct {
	Version   int                 `json:"version"`
	SessionID string              `json:"sessionId"`
	Messages  []LogMessage        `json:"messages"`
	Trail     []runtime.TrailStep `json:"trail"`
}

// LogMessage is one entry. Role is user, assistant, note (a runtime note, of
// kind Note) or tool (a call's result, which follows its assistant message in
// call order).
type LogMessage struct {
	Role      string    `json:"role"`
	Text      string    `json:"text"`
	ToolCalls []LogCall `json:"toolCalls,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	CallID    string    `json:"callId,omitempty"`
	Note      string    `json:"note,omitempty"`
	State     string    `json:"state"`
	TS        string    `json:"ts"`
}

// LogCall is a call an assistant made. Args is the arguments as it wrote them:
// JSON, or a string when they are none.
type LogCall struct {
	CallID string          `json:"callId"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
}

// NewSessionLog folds a session's records, from its first, into its log.
func NewSessionLog(id string, records iter.Seq2[session.Record, error]) (SessionLog, error) {
	st := session.NewState()
	answered := map[string]time.Time{}
	for rec, err := range records {
		if err != nil {
			return SessionLog{}, err
		}
		if _, err := st.Apply(rec); err != nil {
			return SessionLog{}, err
		}
		if r, ok := rec.Body.(*session.Result); ok {
			answered[r.Call] = rec.TS
		}
	}
	log := SessionLog{Version: Version, SessionID: id, Messages: []LogMessage{}, Trail: runtime.ReportTrail(st.Trail)}
	for _, m := range st.Messages {
		lm := LogMessage{Role: m.Role, Text: m.Text, Note: m.Note, State: m.State, TS: stamp(m.TS)}
		for _, c := range m.Calls {
			lm.ToolCalls = append(lm.ToolCalls, LogCall{CallID: c.ID, Tool: c.Name, Args: logArgs(c.Args)})
		}
		log.Messages = append(log.Messages, lm)
		for _, c := range m.Calls {
			if c.Result == nil {
				continue
			}
			log.Messages = append(log.Messages, LogMessage{
				Role: "tool", Text: c.Result.Text, Tool: c.Name, CallID: c.ID, State: m.State, TS: stamp(answered[c.ID]),
			})
		}
	}
	return log, nil
}

// Ended is what the last arrival of a settled or parked session came to, as far
// as a verdict tells it.
func Ended(st *session.State) *runtime.Outcome {
	s := summarize(&st.Control)
	out := &runtime.Outcome{
		Version: Version, SessionID: s.SessionID, Workflow: s.Workflow, State: s.State, Kind: runtime.KindRejected,
		Exit: s.Exit, Rejected: s.Rejected, ParkedChannel: string(s.ParkedChannel), Pending: s.Pending,
		TurnUsage: runtime.ReportUsage(st.TurnUsage),
	}
	switch {
	case st.Park != nil:
		out.Kind = runtime.KindParked
	case s.Status == session.StatusCompleted:
		out.Kind = runtime.KindCompleted
	case s.Status == session.StatusFailed:
		out.Kind = runtime.KindFailed
	}
	return out
}

func logArgs(args string) json.RawMessage {
	switch {
	case args == "":
		return json.RawMessage("{}")
	case json.Valid([]byte(args)):
		return json.RawMessage(args)
	}
	raw, _ := session.Encode(args) // a string always encodes
	return raw
}

// Transcript prints the log for a person: who spoke, where and when, the words
// quoted below.
func Transcript(w io.Writer, st Style, log SessionLog) error {
	p := &page{style: st}
	for i, m := range log.Messages {
		if i > 0 {
			p.blank()
		}
		who := m.Role
		switch {
		case m.Note != "":
			who = "note [" + m.Note + "]"
		case m.Tool != "":
			who = "tool " + m.Tool
		}
		p.line(0, st.paint(bold, OneLine(who))+st.paint(dim, "  "+OneLine(m.State)+"  "+m.TS))
		p.quote(m.Text)
		for _, c := range m.ToolCalls {
			p.wrap(1, st.mark(markTool)+" "+OneLine(c.Tool)+" "+value(c.Args))
		}
	}
	if len(log.Trail) > 0 {
		p.heading("trail")
		p.trail(log.Trail)
	}
	return p.to(w)
}

// quote adds somebody's words behind a bar, wrapped to the terminal.
func (p *page) quote(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	q := newQuoter(p.add, "  "+p.style.mark(markQuote), p.style.Width)
	q.add(text)
	q.end()
}
