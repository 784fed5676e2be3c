package session

import (
	"encoding/json"
	"time"
)

// Version is the version of the journal's records that this program writes and
// reads.
const Version = 1

// Kind names a fact of the session.
type Kind string

// The kinds, each with its body type below. docs/journal.md lists every one
// with an example.
const (
	KindCreated   Kind = "created"
	KindTurn      Kind = "turn"
	KindMessage   Kind = "message"
	KindModel     Kind = "model"
	KindIntent    Kind = "intent"
	KindResult    Kind = "result"
	KindMoved     Kind = "moved"
	KindVariables Kind = "variables"
	KindParked    Kind = "parked"
	KindDecided   Kind = "decided"
	KindDelivered Kind = "delivered"
	KindRaised    Kind = "raised"
	KindSettled   Kind = "settled"
	KindWarning   Kind = "warning"
	KindTodos     Kind = "todos"
	KindCompacted Kind = "compacted"
)

// Record is one line of the journal: a fact, numbered and dated. Seq is
// contiguous from 1. The store stamps V, Seq and TS.
type Record struct {
	V    int
	Seq  uint64
	TS   time.Time
	Body Body
}

// Body is one of the types below.
type Body interface{ Kind() Kind }

// Created is the first record of every journal.
type Created struct {
	Session  string `json:"session"` // the true id
	Workflow string `json:"workflow"`
	Parent   string `json:"parent,omitempty"`
}

// Arrival is what reached a session.
type Arrival string

// The arrivals.
const (
	ArriveTurn    Arrival = "turn"
	ArriveReply   Arrival = "reply"
	ArriveDecide  Arrival = "decide"
	ArriveDeliver Arrival = "deliver"
	ArriveResume  Arrival = "resume"
)

// Turn opens the work of one arrival. Only ArriveTurn is a fresh turn: it
// resets the counters and carries the contract (the trigger and the names it
// returns). Joined says that the arrival first finished an interrupted turn,
// whose reply and usage its own Outcome covers.
type Turn struct {
	Arrival Arrival           `json:"arrival"`
	Trigger string            `json:"trigger,omitempty"`
	Returns []string          `json:"returns,omitempty"`
	Spec    string            `json:"spec"`              // spec hash in force
	Scripts map[string]string `json:"scripts,omitempty"` // path -> SHA-256 of each script a turn could run
	Key     string            `json:"key,omitempty"`     // idempotency key
	Joined  bool              `json:"joined,omitempty"`
}

// NewMessage is a message that the model did not write: a person's (role user)
// or a runtime note (role note, with its kind).
type NewMessage struct {
	Role string `json:"role"` // user, note
	Note string `json:"note,omitempty"`
	Text string `json:"text"`
}

// ModelSettled is a model call that came back: the answer with its usage, or
// the error. Only role agent's answers enter the transcript.
type ModelSettled struct {
	Role      string    `json:"role"`
	State     string    `json:"state"`
	Model     string    `json:"model,omitempty"`
	Text      string    `json:"text,omitempty"`
	Calls     []NewCall `json:"calls,omitempty"`
	Reasoning string    `json:"reasoning,omitempty"`
	CutShort  bool      `json:"cut,omitempty"` // ended with finish reason length: its last call is not run
	Usage     *Tokens   `json:"usage,omitempty"`
	CostUSD   *float64  `json:"cost,omitempty"`
	Consumed  int       `json:"consumed,omitempty"` // cassette calls used up, faults included
	Error     string    `json:"error,omitempty"`
	Prompt    string    `json:"prompt,omitempty"` // key of the stored prompt text it was asked with
	UpTo      int       `json:"upTo,omitempty"`   // role summary: the transcript index up to which it was shown
}

// NewCall is one tool call of an answer. ID is unique in the session. Args is
// what the provider sent, as text.
type NewCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args,omitempty"`
}

// Tokens is the reported usage of one model call. Input is the inclusive total.
type Tokens struct {
	Input      int64 `json:"in"`
	Output     int64 `json:"out"`
	CacheRead  int64 `json:"cr,omitempty"`
	CacheWrite int64 `json:"cw,omitempty"`
}

// Intent is durable before a tool starts. Args is set when substitution changed
// what the message holds. Rerun marks a call that recovery may run again.
type Intent struct {
	Call   string          `json:"call"`
	Args   json.RawMessage `json:"args,omitempty"`
	Rerun  bool            `json:"rerun,omitempty"`
	Origin string          `json:"origin,omitempty"` // "" = agent
}

// Result settles a call. Text is what the model is told. Rule is set when the
// call was refused by a rule that carries an id. A result without an intent is
// a call that was settled at once: a control call, or a refusal.
type Result struct {
	Call      string          `json:"call"`
	Status    string          `json:"status"` // ok, error
	Text      string          `json:"text"`
	Rule      string          `json:"rule,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Millis    int64           `json:"ms,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Offload   int             `json:"offload,omitempty"` // n of large_tool_results/<n>.txt
	Image     string          `json:"image,omitempty"`   // path of an image shown with each later request
	Args      json.RawMessage `json:"args,omitempty"`
}

// TrailKind is the kind of a trail step.
type TrailKind string

// The trail kinds.
const (
	StepTrigger     TrailKind = "trigger"
	StepAgent       TrailKind = "agent"
	StepHuman       TrailKind = "human"
	StepGrader      TrailKind = "grader"
	StepCode        TrailKind = "code"
	StepSubWorkflow TrailKind = "sub-workflow"
	StepReset       TrailKind = "reset"
	StepOnError     TrailKind = "on_error"
)

// Moved is a committed step to a state. As is the kind of the state entered.
type Moved struct {
	To     string    `json:"to"`
	Step   TrailKind `json:"step"`
	As     string    `json:"as"`
	Reason string    `json:"reason,omitempty"`
	Call   string    `json:"call,omitempty"`
}

// VariablesSet stores variables, in order. By a host boundary (Host) it may
// replace locked ones.
type VariablesSet struct {
	Set  []NewVariable `json:"set"`
	Call string        `json:"call,omitempty"`
	Host bool          `json:"host,omitempty"`
}

// NewVariable is one variable's new value.
type NewVariable struct {
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
	Locked bool            `json:"locked,omitempty"`
}

// Channel is what a parked session waits for.
type Channel string

// The channels.
const (
	Decision Channel = "decision"
	Input    Channel = "input"
)

// SayDue says why a parked session still owes its one reply-only message.
type SayDue string

// The reasons; "" is none due.
const (
	SayEntered SayDue = "entered" // the agent advanced into a human state
	SayDecided SayDue = "decided" // a decision led into another human state
	SayFailed  SayDue = "failed"  // a failure led into a human state
	SayWait    SayDue = "wait"    // archmax_wait, and nothing said since the opener
	SayReply   SayDue = "reply"   // a person wrote to a session that a person decides
)

// Parked ends the work of an arrival in a durable stop.
type Parked struct {
	Channel  Channel    `json:"channel"`
	Title    string     `json:"title,omitempty"` // of the state, input
	Reason   string     `json:"reason,omitempty"`
	ResumeAt *time.Time `json:"resumeAt,omitempty"`
	Pending  *Pending   `json:"pending,omitempty"` // decision
	Call     string     `json:"call,omitempty"`
	Say      SayDue     `json:"say,omitempty"`
}

// Pending is the record a person decides on. Seq counts from 1 in a session.
type Pending struct {
	State        string              `json:"state"`
	Title        string              `json:"title,omitempty"`
	Instructions string              `json:"instructions"`
	Approvers    string              `json:"approvers"`
	Evidence     []string            `json:"evidence"`
	Transitions  []PendingTransition `json:"transitions"`
	Seq          int                 `json:"seq"`
	CreatedAt    string              `json:"createdAt"` // event.TimeFormat
}

// PendingTransition is one edge a person may take.
type PendingTransition struct {
	To          string `json:"to"`
	Description string `json:"description"`
	Type        string `json:"type"`
}

// Decided is a person's choice; Moved follows in the same frame.
type Decided struct {
	To      string `json:"to"`
	Comment string `json:"comment,omitempty"`
	By      string `json:"by,omitempty"`
}

// Delivered ends a park on input and stamps the trigger.
type Delivered struct {
	Trigger string `json:"trigger"`
}

// Raised is archmax_raise; Settled follows in the same frame.
type Raised struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
	Call   string `json:"call,omitempty"`
}

// The kinds of a settled turn.
const (
	Completed = "completed"
	Failed    = "failed"
	Rejected  = "rejected"
)

// Settled ends a turn. Code is a failure's.
type Settled struct {
	As     string `json:"as"` // completed, failed, rejected
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Warned is a warning that belongs to the arrival's Outcome.
type Warned struct {
	Scope   string `json:"scope"`
	Message string `json:"message"`
}

// Todos replaces the agent's list of todos.
type Todos struct {
	Items []Todo `json:"items"`
}

// Todo is one item; Status is pending, in_progress or completed.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// Compacted replaces, in requests, the messages before Keep (an index into the
// transcript) with Summary; the originals are in conversation_history/<n>.md.
type Compacted struct {
	Keep    int    `json:"keep"`
	N       int    `json:"n"`
	Summary string `json:"summary"`
}

// Kind returns the record kind of the body.
func (*Created) Kind() Kind      { return KindCreated }
func (*Turn) Kind() Kind         { return KindTurn }
func (*NewMessage) Kind() Kind   { return KindMessage }
func (*ModelSettled) Kind() Kind { return KindModel }
func (*Intent) Kind() Kind       { return KindIntent }
func (*Result) Kind() Kind       { return KindResult }
func (*Moved) Kind() Kind        { return KindMoved }
func (*VariablesSet) Kind() Kind { return KindVariables }
func (*Parked) Kind() Kind       { return KindParked }
func (*Decided) Kind() Kind      { return KindDecided }
func (*Delivered) Kind() Kind    { return KindDelivered }
func (*Raised) Kind() Kind       { return KindRaised }
func (*Settled) Kind() Kind      { return KindSettled }
func (*Warned) Kind() Kind       { return KindWarning }
func (*Todos) Kind() Kind        { return KindTodos }
func (*Compacted) Kind() Kind    { return KindCompacted }

// newBody returns an empty body of kind k, or nil when k is unknown.
func newBody(k Kind) Body {
	switch k {
	case KindCreated:
		return &Created{}
	case KindTurn:
		return &Turn{}
	case KindMessage:
		return &NewMessage{}
	case KindModel:
		return &ModelSettled{}
	case KindIntent:
		return &Intent{}
	case KindResult:
		return &Result{}
	case KindMoved:
		return &Moved{}
	case KindVariables:
		return &VariablesSet{}
	case KindParked:
		return &Parked{}
	case KindDecided:
		return &Decided{}
	case KindDelivered:
		return &Delivered{}
	case KindRaised:
		return &Raised{}
	case KindSettled:
		return &Settled{}
	case KindWarning:
		return &Warned{}
	case KindTodos:
		return &Todos{}
	case KindCompacted:
		return &Compacted{}
	}
	return nil
}
