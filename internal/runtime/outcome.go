package runtime

import (
	"encoding/json"
	"strings"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// The kinds of an Outcome.
const (
	KindCompleted = "completed"
	KindParked    = "parked"
	KindFailed    = "failed"
	KindRejected  = "rejected"
)

// The dispositions: what an arrival was to the session it reached.
const (
	DispositionTurn    = "turn"
	DispositionReply   = "reply"
	DispositionDecide  = "decide"
	DispositionDeliver = "deliver"
)

// Outcome is what one arrival came to (spec: formats.md). It is a pure function
// of the folded session, so it can be told again from the journal.
type Outcome struct {
	Version       int                         `json:"version"`
	SessionID     string                      `json:"sessionId"`
	Workflow      string                      `json:"workflow"`
	Kind          string                      `json:"kind"`
	Disposition   string                      `json:"disposition"`
	Exit          *Exit                       `json:"exit,omitempty"`
	State         string                      `json:"state"`
	Reply         string                      `json:"reply"`
	ParkedChannel string                      `json:"parkedChannel,omitempty"`
	Pending       any                         `json:"pending,omitempty"` // *session.Pending or *Waiting
	Rejected      string                      `json:"rejected,omitempty"`
	Refused       bool                        `json:"refused,omitempty"`
	Issues        []spec.Issue                `json:"issues,omitempty"`
	Returns       map[string]json.RawMessage  `json:"returns,omitempty"`
	AuditTrail    []TrailStep                 `json:"auditTrail"`
	Variables     map[string]session.Variable `json:"variables"`
	Usage         UsageReport                 `json:"usage"`
	TurnUsage     UsageReport                 `json:"turnUsage"`
	Warnings      []string                    `json:"warnings"`
}

// Exit says how a turn ended.
type Exit struct {
	Success bool   `json:"success"`
	Code    string `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Waiting is the pending record of a park on input.
type Waiting struct {
	State    string `json:"state"`
	Title    string `json:"title,omitempty"`
	Reason   string `json:"reason"`
	ParkedAt string `json:"parkedAt"`
	ResumeAt string `json:"resumeAt,omitempty"`
}

// TrailStep is a step of the trail as printed.
type TrailStep struct {
	To       string            `json:"to"`
	Kind     session.TrailKind `json:"kind"`
	Reason   string            `json:"reason,omitempty"`
	Workflow string            `json:"workflow,omitempty"`
	Status   string            `json:"status,omitempty"`
	TS       string            `json:"ts"`
}

// UsageReport is usage as printed: token and cost fields are absent when
// nothing is known of them.
type UsageReport struct {
	InputTokens         *int64   `json:"inputTokens,omitempty"`
	OutputTokens        *int64   `json:"outputTokens,omitempty"`
	CacheReadTokens     *int64   `json:"cacheReadTokens,omitempty"`
	CacheCreationTokens *int64   `json:"cacheCreationTokens,omitempty"`
	ModelCalls          int64    `json:"modelCalls"`
	UnknownCalls        int64    `json:"unknownCalls"`
	CostUSD             *float64 `json:"costUsd,omitempty"`
}

// ReportUsage prints u: fields about which no call said anything are absent.
func ReportUsage(u session.Usage) UsageReport {
	r := UsageReport{ModelCalls: u.ModelCalls, UnknownCalls: u.UnknownCalls}
	if u.ModelCalls > u.UnknownCalls || u.ModelCalls == 0 {
		r.InputTokens, r.OutputTokens = &u.InputTokens, &u.OutputTokens
		r.CacheReadTokens, r.CacheCreationTokens = &u.CacheReadTokens, &u.CacheCreationTokens
	}
	if u.PricedCalls > 0 {
		r.CostUSD = &u.CostUSD
	}
	return r
}

// ReportTrail prints a trail; it is never nil.
func ReportTrail(steps []session.Step) []TrailStep {
	out := make([]TrailStep, len(steps))
	for i, s := range steps {
		out[i] = TrailStep{To: s.To, Kind: s.Kind, Reason: s.Reason, Workflow: s.Workflow, Status: s.Status, TS: s.TS.UTC().Format(event.TimeFormat)}
	}
	return out
}

// PendingOf is the pending record of a park as printed, nil when c is not
// parked.
func PendingOf(c *session.Control) any {
	p := c.Park
	switch {
	case p == nil:
		return nil
	case p.Channel == session.Decision:
		return p.Pending
	}
	w := &Waiting{State: p.State, Title: p.Title, Reason: p.Reason, ParkedAt: p.At.UTC().Format(event.TimeFormat)}
	if p.ResumeAt != nil {
		w.ResumeAt = p.ResumeAt.UTC().Format(event.TimeFormat)
	}
	return w
}

// outcomeOf tells what the arrival at work came to.
func outcomeOf(s *session.State, disposition string) *Outcome {
	o := &Outcome{
		Version: 1, SessionID: s.Session, Workflow: s.Workflow, Disposition: disposition,
		State: s.Position, Reply: replyOf(s), AuditTrail: ReportTrail(s.Trail),
		Variables: s.Variables, Usage: ReportUsage(s.Usage), TurnUsage: ReportUsage(s.TurnUsage),
		Warnings: append([]string{}, s.Warnings...),
	}
	if o.Variables == nil {
		o.Variables = map[string]session.Variable{}
	}
	switch s.Status {
	case session.StatusCompleted:
		o.Kind, o.Exit = KindCompleted, &Exit{Success: true}
		o.Returns = returnsOf(s)
	case session.StatusFailed:
		o.Kind, o.Exit = KindFailed, &Exit{Code: s.SettledCode, Reason: s.Reason}
	case session.StatusRejected:
		o.Kind, o.Rejected = KindRejected, s.Reason
	case session.StatusAwaitingDecision, session.StatusAwaitingInput:
		o.Kind, o.ParkedChannel = KindParked, string(s.Park.Channel)
		o.Pending = PendingOf(&s.Control)
	}
	return o
}

// replyOf is everything the agent said in this arrival, blank-line separated.
func replyOf(s *session.State) string {
	var said []string
	for _, m := range s.Messages[s.ArrivalFrom:] {
		if m.Role == "assistant" && strings.TrimSpace(m.Text) != "" {
			said = append(said, strings.TrimSpace(m.Text))
		}
	}
	return strings.Join(said, "\n\n")
}

// returnsOf is the values of the names that the contract returns, as far as
// they are set; nil when it returns none.
func returnsOf(s *session.State) map[string]json.RawMessage {
	if len(s.Returns) == 0 {
		return nil
	}
	out := map[string]json.RawMessage{}
	for _, name := range s.Returns {
		if v, ok := s.Variables[name]; ok {
			out[name] = v.Value
		}
	}
	return out
}
