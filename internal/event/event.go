// Package event is the typed stream of what a session does (spec: formats.md,
// "Events"). One Go type an event, one JSON form. Durable events are projected
// from journal records, so a replay gives the same ones; deltas and diagnostics
// are transient and carry no seq. The package is a leaf.
package event

import (
	"bytes"
	"encoding/json"
	"time"
)

// Header is what every event carries. Seq is contiguous per root session,
// children included; 0 on transient events. DispatchID is set on a child's.
type Header struct {
	Type       string
	Level      string // info, warn, error, debug
	TS         time.Time
	Seq        uint64
	SessionID  string
	DispatchID string
}

// Event is a header with its payload.
type Event struct {
	Header
	Payload Payload
}

// Payload is one of the types below.
type Payload interface{ EventType() string }

// Sink takes events in order. Implementations must not block for long: the
// runtime calls them from the goroutine that owns the session.
type Sink func(Event)

// TimeFormat is RFC 3339 UTC with milliseconds, the form of every time that
// archmax prints.
const TimeFormat = "2006-01-02T15:04:05.000Z07:00"

// MarshalJSON writes the header's fields, then the payload's.
func (e Event) MarshalJSON() ([]byte, error) {
	head := struct {
		Type       string `json:"type"`
		Level      string `json:"level"`
		TS         string `json:"ts"`
		Seq        uint64 `json:"seq,omitempty"`
		SessionID  string `json:"sessionId"`
		DispatchID string `json:"dispatchId,omitempty"`
	}{e.Type, e.Level, e.TS.UTC().Format(TimeFormat), e.Seq, e.SessionID, e.DispatchID}
	h, err := marshal(head)
	if err != nil {
		return nil, err
	}
	p, err := marshal(e.Payload)
	if err != nil {
		return nil, err
	}
	if len(p) <= 2 { // {}
		return h, nil
	}
	out := append(h[:len(h)-1:len(h)-1], ',')
	return append(out, p[1:]...), nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// The payloads, in the order of formats.md.
type (
	StateEnter struct {
		State string `json:"state"`
		Kind  string `json:"kind,omitempty"`
	}
	StateLeave struct {
		State string `json:"state"`
		Next  string `json:"next,omitempty"`
	}
	Advance struct {
		From   string `json:"from"`
		To     string `json:"to"`
		Reason string `json:"reason,omitempty"`
		CallID string `json:"callId,omitempty"`
	}
	WorkflowReset struct {
		State string `json:"state"`
	}
	ToolCalled struct {
		State  string          `json:"state"`
		Tool   string          `json:"tool"`
		CallID string          `json:"callId"`
		Args   json.RawMessage `json:"args"`
		Origin string          `json:"origin,omitempty"`
	}
	ToolResult struct {
		State      string `json:"state"`
		Tool       string `json:"tool"`
		CallID     string `json:"callId"`
		Status     string `json:"status"` // ok, error
		DurationMs int64  `json:"durationMs"`
		Output     string `json:"output"`
		Truncated  bool   `json:"truncated"`
	}
	ToolBlocked struct {
		State  string `json:"state"`
		Tool   string `json:"tool"`
		CallID string `json:"callId"`
		Rule   string `json:"rule"`
		Reason string `json:"reason"`
		Origin string `json:"origin,omitempty"`
	}
	ModelUsage struct {
		State               string   `json:"state"`
		Role                string   `json:"role"`
		Model               string   `json:"model"`
		InputTokens         *int64   `json:"inputTokens,omitempty"`
		OutputTokens        *int64   `json:"outputTokens,omitempty"`
		CacheReadTokens     *int64   `json:"cacheReadTokens,omitempty"`
		CacheCreationTokens *int64   `json:"cacheCreationTokens,omitempty"`
		CostUSD             *float64 `json:"costUsd,omitempty"`
	}
	Warning struct {
		Scope   string `json:"scope"`
		Message string `json:"message"`
	}
	AgentTextDelta struct {
		State     string `json:"state"`
		Text      string `json:"text"`
		MessageID string `json:"messageId"`
	}
	AgentText struct {
		State     string `json:"state"`
		Text      string `json:"text"`
		MessageID string `json:"messageId"`
		Partial   bool   `json:"partial,omitempty"`
	}
	Decided struct {
		State   string `json:"state"`
		To      string `json:"to"`
		Comment string `json:"comment,omitempty"`
		By      string `json:"by,omitempty"`
	}
	Delivered struct {
		State   string `json:"state"`
		Trigger string `json:"trigger"`
		To      string `json:"to"`
	}
	ParkMessage struct {
		State     string `json:"state"`
		Direction string `json:"direction"` // inbound, outbound
		Text      string `json:"text"`
	}
	Parked struct {
		State    string `json:"state"`
		Awaiting string `json:"awaiting"` // decision, input
		Reason   string `json:"reason,omitempty"`
		ResumeAt string `json:"resumeAt,omitempty"`
		CallID   string `json:"callId,omitempty"`
	}
	Raised struct {
		State  string `json:"state"`
		Code   string `json:"code"`
		Reason string `json:"reason"`
		CallID string `json:"callId"`
	}
	VariablesSet struct {
		Names  []string `json:"names"`
		Locked bool     `json:"locked"`
		CallID string   `json:"callId,omitempty"`
	}
	TitleSet struct {
		Title  string `json:"title"`
		State  string `json:"state,omitempty"`
		CallID string `json:"callId,omitempty"`
	}
	StateErrorRouted struct {
		State  string `json:"state"`
		To     string `json:"to"`
		Reason string `json:"reason"`
	}
	SkillsLoaded struct {
		Slugs []string `json:"slugs"`
	}
	PromptShaping struct {
		Cache    string   `json:"cache"`    // off, on, or the ttl
		Withheld []string `json:"withheld"` // names of tools that the state does not offer
	}
	GraphTopology struct {
		States []string    `json:"states"`
		Edges  [][2]string `json:"edges"`
	}
)

func (StateEnter) EventType() string       { return "state-enter" }
func (StateLeave) EventType() string       { return "state-leave" }
func (Advance) EventType() string          { return "advance" }
func (WorkflowReset) EventType() string    { return "workflow-reset" }
func (ToolCalled) EventType() string       { return "tool-called" }
func (ToolResult) EventType() string       { return "tool-result" }
func (ToolBlocked) EventType() string      { return "tool-blocked" }
func (ModelUsage) EventType() string       { return "model-usage" }
func (Warning) EventType() string          { return "warning" }
func (AgentTextDelta) EventType() string   { return "agent-text-delta" }
func (AgentText) EventType() string        { return "agent-text" }
func (Decided) EventType() string          { return "decided" }
func (Delivered) EventType() string        { return "delivered" }
func (ParkMessage) EventType() string      { return "park-message" }
func (Parked) EventType() string           { return "parked" }
func (Raised) EventType() string           { return "raised" }
func (VariablesSet) EventType() string     { return "variables-set" }
func (TitleSet) EventType() string         { return "title-set" }
func (StateErrorRouted) EventType() string { return "state-error-routed" }
func (SkillsLoaded) EventType() string     { return "skills-loaded" }
func (PromptShaping) EventType() string    { return "prompt-shaping" }
func (GraphTopology) EventType() string    { return "graph-topology" }

// LevelOf is the level of a payload: warn for what was refused or went wrong
// but is being handled, error for what ends a turn, info otherwise.
func LevelOf(p Payload) string {
	switch p := p.(type) {
	case Warning, ToolBlocked, StateErrorRouted:
		return "warn"
	case ToolResult:
		if p.Status == "error" {
			return "warn"
		}
	case Raised:
		return "error"
	}
	return "info"
}
