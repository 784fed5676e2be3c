// Package session is the session store: the append-only journal that a session
// is, the fold that gives its state, locks, recovery, ids, listing, artifacts
// (spec: sessions.md). State is a pure fold over records; there is no second
// source of truth. Events are projected by the same fold, so what a live run
// announces and what a replay prints are the same.
//
// A Writer is owned by one goroutine, which alone reads its State; Append may
// be called from any goroutine, and calls are serialized.
package session

import (
	"encoding/json"
	"time"
)

// Status says where a session is.
type Status string

// The statuses. Interrupted is seen only in listings: a running session whose
// process is gone.
const (
	StatusRunning          Status = "running"
	StatusCompleted        Status = "completed"
	StatusFailed           Status = "failed"
	StatusRejected         Status = "rejected"
	StatusAwaitingDecision Status = "awaiting_decision"
	StatusAwaitingInput    Status = "awaiting_input"
	StatusInterrupted      Status = "interrupted"
)

// Finished reports whether the status is completed, failed or rejected; every
// other status is open.
func (s Status) Finished() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusRejected
}

// Variable is a session fact.
type Variable struct {
	Value  json.RawMessage `json:"value"`
	Locked bool            `json:"locked"`
}

// Usage is a running total. The token and cost fields count what is known;
// Unknown says how many calls reported nothing.
type Usage struct {
	InputTokens, OutputTokens            int64
	CacheReadTokens, CacheCreationTokens int64
	ModelCalls, UnknownCalls             int64
	CostUSD                              float64
	PricedCalls                          int64 // calls that had a price
}

// Add adds o to u.
func (u *Usage) Add(o Usage) {
	u.InputTokens += o.InputTokens
	u.OutputTokens += o.OutputTokens
	u.CacheReadTokens += o.CacheReadTokens
	u.CacheCreationTokens += o.CacheCreationTokens
	u.ModelCalls += o.ModelCalls
	u.UnknownCalls += o.UnknownCalls
	u.CostUSD += o.CostUSD
	u.PricedCalls += o.PricedCalls
}

// Step is one step of the trail.
type Step struct {
	To     string    `json:"to"`
	Kind   TrailKind `json:"kind"`
	Reason string    `json:"reason,omitempty"`
	// Workflow and Status belong to sub-workflow steps.
	Workflow string    `json:"workflow,omitempty"`
	Status   string    `json:"status,omitempty"`
	TS       time.Time `json:"-"`
}

// Message is one entry of the transcript. Role is user, assistant or note.
// Results of an assistant's calls hang on the calls, so they are always in call
// order however they arrived.
type Message struct {
	ID        string // "m1", "m2", …: its place in the transcript
	Role      string
	Note      string // kind of a runtime note
	Text      string
	Calls     []*Call
	Reasoning string
	CutShort  bool
	State     string
	Turn      int
	Seq       uint64
	TS        time.Time
}

// Call is a tool call with what became of it.
type Call struct {
	ID, Name, Args string
	Intent         *Intent // nil: never started
	Result         *Result // nil: not settled
}

// Park is a durable stop.
type Park struct {
	Channel  Channel    `json:"channel"`
	State    string     `json:"state"`
	Title    string     `json:"title,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	At       time.Time  `json:"at"`
	ResumeAt *time.Time `json:"resumeAt,omitempty"`
	Pending  *Pending   `json:"pending,omitempty"`
}

// Block says what the volatile prompt block was computed from: it changes only
// when a turn opens, a state is entered, a park begins or a park resumes.
type Block struct {
	At        time.Time `json:"at"`
	Variables []string  `json:"variables"` // names set at that moment, sorted
}

// Keyed is an arrival that carried an idempotency key. Done is the seq of the
// record that ended it, 0 while it is unfinished.
type Keyed struct {
	Done uint64 `json:"done"`
}

// Control is the state of a session without its transcript and trail: what a
// snapshot holds.
type Control struct {
	Session   string    `json:"session"`
	Workflow  string    `json:"workflow"`
	Parent    string    `json:"parent,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Seq       uint64    `json:"seq"`      // of the last record folded
	EventSeq  uint64    `json:"eventSeq"` // of the last event projected

	EntryState string            `json:"entryState,omitempty"` // recorded once
	Position   string            `json:"position,omitempty"`
	PositionAs string            `json:"positionAs,omitempty"` // kind of the position's state
	SpecHash   string            `json:"specHash,omitempty"`
	Scripts    map[string]string `json:"scripts,omitempty"`

	Status      Status `json:"status"`
	SettledCode string `json:"settledCode,omitempty"` // of a failed session
	Reason      string `json:"reason,omitempty"`      // of a failed or rejected session
	TurnOpen    bool   `json:"turnOpen,omitempty"`
	Park        *Park  `json:"park,omitempty"`
	Say         SayDue `json:"say,omitempty"`
	PendingSeq  int    `json:"pendingSeq,omitempty"` // last Pending.Seq used

	Arrival  Arrival          `json:"arrival,omitempty"`
	Trigger  string           `json:"trigger,omitempty"`  // current trigger id
	Contract string           `json:"contract,omitempty"` // trigger of the last fresh turn
	Returns  []string         `json:"returns,omitempty"`  // names the contract returns
	Turns    int              `json:"turns"`
	Key      string           `json:"key,omitempty"` // of the arrival at work
	Keys     map[string]Keyed `json:"keys,omitempty"`

	Variables map[string]Variable `json:"variables"`
	Usage     Usage               `json:"usage"`
	TurnUsage Usage               `json:"turnUsage"`
	Warnings  []string            `json:"warnings,omitempty"` // of this arrival
	Todos     []Todo              `json:"todos,omitempty"`

	Length      int            `json:"messages"`    // length of the transcript
	ArrivalFrom int            `json:"arrivalFrom"` // transcript index where this arrival began
	OpenerAt    int            `json:"openerAt"`    // transcript index after the turn's last opener
	Steps       int            `json:"steps"`       // of this arrival
	StateCalls  int            `json:"stateCalls"`  // model calls since the position was entered
	EnteredAt   time.Time      `json:"enteredAt"`
	ParkedFor   time.Duration  `json:"parkedFor"` // parked time since entry
	Visits      map[string]int `json:"visits,omitempty"`
	Parks       map[string]int `json:"parks,omitempty"`
	Offloads    int            `json:"offloads,omitempty"` // files written to large_tool_results/
	Cassette    map[string]int `json:"cassette,omitempty"` // role -> cassette calls consumed
	// Intended are the calls that were started and are not settled.
	Intended map[string]bool `json:"intended,omitempty"`
	Compact  *Compacted      `json:"compact,omitempty"`
	Block    Block           `json:"block"`
}

// State is a session, folded.
type State struct {
	Control
	Trail    []Step
	Messages []*Message

	calls   map[string]*Call // every call id used
	resumed bool             // began from a snapshot: what came before is Control alone
}

// NewState returns the state of an empty journal.
func NewState() *State {
	return &State{calls: map[string]*Call{}}
}

// resumeState returns the state that a snapshot holds. It folds on to the same
// Control as a whole state; transcript, trail and events lack what came before.
func resumeState(c Control) *State {
	if c.Variables == nil {
		c.Variables = map[string]Variable{}
	}
	return &State{Control: c, calls: map[string]*Call{}, resumed: true}
}

// Batch returns the last assistant message when it has calls that are not
// settled, else nil.
func (s *State) Batch() *Message {
	if len(s.Messages) == 0 {
		return nil
	}
	for i := len(s.Messages) - 1; i >= 0; i-- {
		m := s.Messages[i]
		if m.Role != "assistant" {
			continue
		}
		for _, c := range m.Calls {
			if c.Result == nil {
				return m
			}
		}
		return nil
	}
	return nil
}

// Call returns the call with the id, or nil.
func (s *State) Call(id string) *Call { return s.calls[id] }

// Values returns the variables as plain values, numbers exact (json.Number).
func (s *State) Values() map[string]any {
	out := make(map[string]any, len(s.Variables))
	for name, v := range s.Variables {
		out[name] = Decode(v.Value)
	}
	return out
}
