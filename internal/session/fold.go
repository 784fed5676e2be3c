package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

// FoldVersion changes whenever Apply would fold the same records to another
// Control; a snapshot of another version is discarded.
const FoldVersion = 1

// Apply folds rec into s and returns the durable events that it projects to,
// headers filled. It is pure: the same records give the same state and events.
// An error means the journal contradicts itself; s is then of no further use.
func (s *State) Apply(rec Record) ([]event.Event, error) {
	if rec.Seq != s.Seq+1 {
		return nil, fmt.Errorf("record %d follows record %d", rec.Seq, s.Seq)
	}
	if _, first := rec.Body.(*Created); first != (rec.Seq == 1) {
		return nil, fmt.Errorf("record %d: a journal starts with its %q record", rec.Seq, KindCreated)
	}
	s.Seq, s.UpdatedAt = rec.Seq, rec.TS
	payloads, err := s.apply(rec)
	if err != nil {
		return nil, fmt.Errorf("record %d (%s): %w", rec.Seq, rec.Body.Kind(), err)
	}
	if len(payloads) == 0 {
		return nil, nil
	}
	events := make([]event.Event, len(payloads))
	for i, p := range payloads {
		s.EventSeq++
		events[i] = event.Event{Header: event.Header{
			Type: p.EventType(), Level: event.LevelOf(p), TS: rec.TS, Seq: s.EventSeq, SessionID: s.Session,
		}, Payload: p}
	}
	return events, nil
}

func (s *State) apply(rec Record) ([]event.Payload, error) {
	switch b := rec.Body.(type) {
	case *Created:
		s.Session, s.Workflow, s.Parent, s.CreatedAt = b.Session, b.Workflow, b.Parent, rec.TS
		s.Variables = map[string]Variable{}
		s.Status = StatusRunning
		return nil, nil
	case *Turn:
		return nil, s.open(rec, b)
	case *NewMessage:
		return s.message(rec, b), nil
	case *ModelSettled:
		return s.model(rec, b)
	case *Intent:
		return s.intent(b)
	case *Result:
		return s.result(b)
	case *Moved:
		return s.moved(rec, b), nil
	case *VariablesSet:
		return s.variables(b), nil
	case *Parked:
		if b.Channel == Decision && b.Pending == nil {
			return nil, fmt.Errorf("a park on a decision holds no record to decide on")
		}
		return s.park(rec, b), nil
	case *Decided:
		if s.Park == nil || s.Park.Channel != Decision {
			return nil, fmt.Errorf("a decision reached a session that awaits none")
		}
		from := s.Park.State
		s.unpark(rec.TS)
		return []event.Payload{event.Decided{State: from, To: b.To, Comment: b.Comment, By: b.By}}, nil
	case *Delivered:
		if s.Park == nil || s.Park.Channel != Input {
			return nil, fmt.Errorf("a delivery reached a session that awaits none")
		}
		s.unpark(rec.TS)
		s.stamp(b.Trigger)
		s.block(rec.TS)
		s.Trail = append(s.Trail, Step{To: s.Position, Kind: StepTrigger, Reason: b.Trigger, TS: rec.TS})
		return []event.Payload{event.Delivered{State: s.Position, Trigger: b.Trigger, To: s.Position}}, nil
	case *Raised:
		return []event.Payload{event.Raised{State: s.Position, Code: b.Code, Reason: b.Reason, CallID: b.Call}}, nil
	case *Settled:
		s.TurnOpen, s.Park, s.Say = false, nil, ""
		s.Status, s.SettledCode, s.Reason = Status(b.As), b.Code, b.Reason
		s.arrivalDone()
		return []event.Payload{event.StateLeave{State: s.Position}}, nil
	case *Warned:
		s.Warnings = append(s.Warnings, b.Message)
		return []event.Payload{event.Warning{Scope: b.Scope, Message: b.Message}}, nil
	case *Todos:
		s.Todos = b.Items
		return nil, nil
	case *Compacted:
		s.Compact = b
		return nil, nil
	}
	return nil, fmt.Errorf("unknown kind")
}

func (s *State) open(rec Record, b *Turn) error {
	if s.TurnOpen {
		return fmt.Errorf("a turn opened while another was at work")
	}
	s.Turns++
	s.TurnOpen = true
	s.Arrival, s.Key, s.SpecHash, s.Scripts = b.Arrival, b.Key, b.Spec, b.Scripts
	if b.Key != "" {
		if s.Keys == nil {
			s.Keys = map[string]Keyed{}
		}
		s.Keys[b.Key] = Keyed{}
	}
	if !b.Joined {
		s.ArrivalFrom, s.TurnUsage, s.Warnings = s.Length, Usage{}, nil
	}
	s.Steps = 0
	s.OpenerAt = s.Length
	switch b.Arrival {
	case ArriveTurn:
		s.Contract, s.Returns = b.Trigger, b.Returns
		s.Visits, s.Parks, s.StateCalls = nil, nil, 0
		s.stamp(b.Trigger)
	case ArriveReply:
		// The session stays parked; it owes an answer.
		s.TurnOpen, s.Say = false, SayReply
		s.block(rec.TS)
		return nil
	}
	s.Status, s.SettledCode, s.Reason = StatusRunning, "", ""
	s.block(rec.TS)
	return nil
}

// stamp sets the trigger, which is the runtime's own locked variable.
func (s *State) stamp(id string) {
	s.Trigger = id
	s.Variables["trigger"] = Variable{Value: quote(id), Locked: true}
}

func (s *State) block(at time.Time) {
	s.Block = Block{At: at, Variables: slices.Sorted(maps.Keys(s.Variables))}
}

func (s *State) append(rec Record, m *Message) string {
	s.Length++
	m.ID = "m" + strconv.Itoa(s.Length)
	m.State, m.Turn, m.Seq, m.TS = s.Position, s.Turns, rec.Seq, rec.TS
	s.Messages = append(s.Messages, m)
	return m.ID
}

func (s *State) message(rec Record, b *NewMessage) []event.Payload {
	s.append(rec, &Message{Role: b.Role, Note: b.Note, Text: b.Text})
	s.OpenerAt = s.Length
	if b.Role == "user" && s.Park != nil {
		return []event.Payload{event.ParkMessage{State: s.Position, Direction: "inbound", Text: b.Text}}
	}
	return nil
}

func (s *State) model(rec Record, b *ModelSettled) ([]event.Payload, error) {
	one := Usage{ModelCalls: 1}
	ev := event.ModelUsage{State: b.State, Role: b.Role, Model: b.Model, CostUSD: b.CostUSD}
	if u := b.Usage; u != nil {
		one.InputTokens, one.OutputTokens = u.Input, u.Output
		one.CacheReadTokens, one.CacheCreationTokens = u.CacheRead, u.CacheWrite
		ev.InputTokens, ev.OutputTokens = &u.Input, &u.Output
		ev.CacheReadTokens, ev.CacheCreationTokens = &u.CacheRead, &u.CacheWrite
	} else {
		one.UnknownCalls = 1
	}
	if b.CostUSD != nil {
		one.CostUSD, one.PricedCalls = *b.CostUSD, 1
	}
	s.Usage.Add(one)
	s.TurnUsage.Add(one)
	s.Steps++
	if b.Role != "summary" {
		s.StateCalls++
	}
	if b.Consumed > 0 {
		if s.Cassette == nil {
			s.Cassette = map[string]int{}
		}
		s.Cassette[b.Role] += b.Consumed
	}
	out := []event.Payload{ev}
	if b.Role != "agent" {
		return out, nil
	}
	spoke := s.Say != ""
	if spoke {
		s.Say = ""
	}
	if b.Error == "" && (b.Text != "" || len(b.Calls) > 0) {
		m := &Message{Role: "assistant", Text: b.Text, Reasoning: b.Reasoning, CutShort: b.CutShort}
		for _, c := range b.Calls {
			if s.calls[c.ID] != nil {
				return nil, fmt.Errorf("call id %q appears twice", c.ID)
			}
			call := &Call{ID: c.ID, Name: c.Name, Args: c.Args}
			s.calls[c.ID] = call
			m.Calls = append(m.Calls, call)
		}
		id := s.append(rec, m)
		if len(b.Calls) > 0 {
			s.Steps++
		}
		if b.Text != "" {
			out = append(out, event.AgentText{State: b.State, Text: b.Text, MessageID: id})
			if spoke {
				out = append(out, event.ParkMessage{State: b.State, Direction: "outbound", Text: b.Text})
			}
		}
	}
	if spoke {
		s.arrivalDone()
	}
	return out, nil
}

// called returns the call with the id. A resumed state lacks the calls before
// its snapshot, which had to be there for the records to be written.
func (s *State) called(id string) *Call {
	if s.calls[id] == nil && s.resumed {
		s.calls[id] = &Call{ID: id}
		if s.Intended[id] {
			s.calls[id].Intent = &Intent{Call: id}
		}
	}
	return s.calls[id]
}

func (s *State) intent(b *Intent) ([]event.Payload, error) {
	c := s.called(b.Call)
	if c == nil || c.Result != nil {
		return nil, fmt.Errorf("call %q is not open", b.Call)
	}
	c.Intent = b
	if s.Intended == nil {
		s.Intended = map[string]bool{}
	}
	s.Intended[c.ID] = true
	return []event.Payload{event.ToolCalled{State: s.Position, Tool: c.Name, CallID: c.ID, Args: argsOf(c, b.Args), Origin: b.Origin}}, nil
}

func (s *State) result(b *Result) ([]event.Payload, error) {
	c := s.called(b.Call)
	if c == nil || c.Result != nil {
		return nil, fmt.Errorf("call %q is not open", b.Call)
	}
	c.Result = b
	delete(s.Intended, c.ID)
	s.Offloads = max(s.Offloads, b.Offload)
	if b.Rule != "" {
		return []event.Payload{event.ToolBlocked{State: s.Position, Tool: c.Name, CallID: c.ID, Rule: b.Rule, Reason: b.Reason}}, nil
	}
	res := event.ToolResult{State: s.Position, Tool: c.Name, CallID: c.ID, Status: b.Status, DurationMs: b.Millis, Output: b.Text, Truncated: b.Truncated}
	if c.Intent != nil {
		return []event.Payload{res}, nil
	}
	return []event.Payload{event.ToolCalled{State: s.Position, Tool: c.Name, CallID: c.ID, Args: argsOf(c, b.Args)}, res}, nil
}

// ArgsOf is the arguments of a call as the tool and the events saw them.
func ArgsOf(c *Call) json.RawMessage {
	switch {
	case c.Intent != nil && c.Intent.Args != nil:
		return c.Intent.Args
	case c.Result != nil && c.Result.Args != nil:
		return c.Result.Args
	}
	return argsOf(c, nil)
}

// argsOf is what the tool and the events see: the substituted arguments, else
// what the message holds, else {}.
func argsOf(c *Call, substituted json.RawMessage) json.RawMessage {
	if substituted != nil {
		return substituted
	}
	if raw := []byte(c.Args); len(bytes.TrimSpace(raw)) > 0 && json.Valid(raw) {
		return raw
	}
	if c.Args == "" {
		return json.RawMessage("{}")
	}
	return quote(c.Args)
}

func (s *State) moved(rec Record, b *Moved) []event.Payload {
	from := s.Position
	var out []event.Payload
	switch b.Step {
	case StepTrigger:
		out = append(out, event.Advance{To: b.To, Reason: b.Reason})
	case StepReset:
		out = append(out, event.WorkflowReset{State: b.To}, event.StateLeave{State: from, Next: b.To})
		s.Parks = nil
	case StepOnError:
		s.Steps++ // routes that lead into each other end at the step limit
		out = append(out, event.StateErrorRouted{State: from, To: b.To, Reason: b.Reason}, event.StateLeave{State: from, Next: b.To})
	case StepHuman:
		out = append(out, event.StateLeave{State: from, Next: b.To})
	default:
		out = append(out, event.Advance{From: from, To: b.To, Reason: b.Reason, CallID: b.Call}, event.StateLeave{State: from, Next: b.To})
	}
	out = append(out, event.StateEnter{State: b.To, Kind: b.As})
	s.Position, s.PositionAs = b.To, b.As
	if s.EntryState == "" {
		s.EntryState = b.To
	}
	if s.Visits == nil {
		s.Visits = map[string]int{}
	}
	s.Visits[b.To]++
	s.StateCalls, s.EnteredAt, s.ParkedFor = 0, rec.TS, 0
	s.Trail = append(s.Trail, Step{To: b.To, Kind: b.Step, Reason: b.Reason, TS: rec.TS})
	s.block(rec.TS)
	return out
}

func (s *State) variables(b *VariablesSet) []event.Payload {
	var names []string
	var out []event.Payload
	locked := true
	for _, v := range b.Set {
		s.Variables[v.Name] = Variable{Value: v.Value, Locked: v.Locked}
		if v.Name == "title" {
			title, _ := Decode(v.Value).(string)
			out = append(out, event.TitleSet{Title: title, State: s.Position, CallID: b.Call})
			continue
		}
		names = append(names, v.Name)
		locked = locked && v.Locked
	}
	if len(names) > 0 {
		out = append(out, event.VariablesSet{Names: names, Locked: locked, CallID: b.Call})
	}
	if b.Host {
		s.block(s.UpdatedAt)
	}
	return out
}

func (s *State) park(rec Record, b *Parked) []event.Payload {
	s.Park = &Park{Channel: b.Channel, State: s.Position, Title: b.Title, Reason: b.Reason, At: rec.TS, ResumeAt: b.ResumeAt, Pending: b.Pending}
	s.Status = StatusAwaitingInput
	if b.Channel == Decision {
		s.Status = StatusAwaitingDecision
		s.PendingSeq = b.Pending.Seq
	} else {
		if s.Parks == nil {
			s.Parks = map[string]int{}
		}
		s.Parks[s.Position]++
	}
	s.TurnOpen, s.Say = false, b.Say
	s.block(rec.TS)
	if s.Say == "" {
		s.arrivalDone()
	}
	p := event.Parked{State: s.Position, Awaiting: string(b.Channel), Reason: b.Reason, CallID: b.Call}
	if b.ResumeAt != nil {
		p.ResumeAt = b.ResumeAt.UTC().Format(event.TimeFormat)
	}
	return []event.Payload{p}
}

func (s *State) unpark(now time.Time) {
	s.ParkedFor += now.Sub(s.Park.At)
	s.Park, s.Say = nil, ""
	s.block(now)
}

// arrivalDone marks the arrival at work as ended by the record being folded.
func (s *State) arrivalDone() {
	if k, ok := s.Keys[s.Key]; ok && k.Done == 0 {
		k.Done = s.Seq
		s.Keys[s.Key] = k
	}
}

// Decode reads a JSON value with exact numbers (json.Number); nil when raw is
// no JSON.
func Decode(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// Encode writes v as compact JSON without HTML escaping.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func quote(s string) json.RawMessage {
	raw, _ := Encode(s) // a string always encodes
	return raw
}
