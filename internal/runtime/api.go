package runtime

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// Options is what a Runtime works with. All of it is chosen once, at the edge.
type Options struct {
	Root   fs.FS // the workspace root, for workflows/
	Store  session.Store
	Shared *workspace.Shared // mounts and skills
	Client model.Client
	Prices model.Prices
	Events event.Sink       // nil: nobody listens
	Clock  func() time.Time // "now" of prompts and signatures; never of recorded times

	Model          string       // ARCHMAX_MODEL or archmax.yaml's, under a state's and the workflow's
	ModelOverride  string       // --model: outranks every id a spec declares
	RecursionLimit int          // steps an arrival; 0: 400
	EssentialTools []string     // host tools that are on in every state
	HostTools      []HostTool   // declared by the workspace, in order
	Mock           Mock         // answers calls in place of tools, in cases; nil: nothing is mocked
	PromptCache    *model.Cache // unless the workflow says otherwise; nil: off
	SystemPrompt   string       // text of the workspace's system_prompt file
	Notes          string       // tool (default) or user
	ImageBytes     int64        // largest image that read_file shows to the model; 0: off
	ImageKeep      int          // how many of the newest images ride along
	ContextWindow  int          // tokens; 0: unknown
	Ephemeral      bool         // a park ends the session failed, ephemeral-park
	Version        string       // the program's, for metadata.json
}

// HostTool is a tool that the workspace brings.
type HostTool struct {
	governance.ToolInfo
	Description string
	Schema      json.RawMessage // sent to the model as it is
	Idempotent  bool            // recovery may run a call again
	// Run makes the call. Its error is what the model is told.
	Run func(ctx context.Context, call ToolCall) (string, error)
}

// ToolCall is one allowed call, as a host tool or a mock sees it. Args are the
// substituted arguments, as encoding/json decodes them, numbers exact.
type ToolCall struct {
	Session, Workflow, State string
	ID, Tool                 string
	Args                     map[string]any
	Origin                   governance.Origin
}

// Mock answers a call in place of its tool, after the kernel has allowed it; it
// is the one seam for calls of agents, scripts and hooks. With answered false
// the tool runs. It may be called from several goroutines.
type Mock func(ctx context.Context, call ToolCall) (text string, err error, answered bool)

// Message is a turn's arrival of words, variables and files: what `run` and
// `send` bring.
type Message struct {
	Workflow    string // "" : the session's own
	Session     string // "" : resolved from SessionPath, the trigger's path, or minted
	MustExist   bool   // send: an id that does not exist is refused
	SessionPath string
	Trigger     string // "" : manual
	Text        string
	HasText     bool
	Variables   []Seed
	Files       []File
	Key         string // idempotency key
	As          string // "", turn, reply or delivery: refuse any other disposition
}

// Seed is a variable that the host supplies; it is stored locked.
type Seed struct {
	Name  string
	Value json.RawMessage
}

// File is a file that comes into a turn.
type File struct {
	Name    string // the variable
	Base    string // base name of the file
	Content []byte
}

// Decision takes an edge of a parked human state.
type Decision struct {
	Session string
	To      string
	Comment string
	By      string
	Seq     int // 0: any; else the pending record must have this number
	Key     string
}

// Delivery resumes a session that waits for input.
type Delivery struct {
	Session     string
	Workflow    string // for SessionPath
	SessionPath string
	Trigger     string
	Variables   []Seed
	Text        string
	HasText     bool
	Key         string
	DueAt       *time.Time // --due: refuse unless the park's resumeAt is not after this
}

// Plan is what --dry-run prints.
type Plan struct {
	Version     int          `json:"version"`
	SessionID   string       `json:"sessionId"`
	Minted      bool         `json:"minted"`
	Disposition string       `json:"disposition"`
	State       string       `json:"state"`
	Issues      []spec.Issue `json:"issues"`
}

// API is what the commands drive; *Runtime implements it.
type API interface {
	Send(ctx context.Context, m Message) (*Outcome, error)
	Decide(ctx context.Context, d Decision) (*Outcome, error)
	Deliver(ctx context.Context, d Delivery) (*Outcome, error)
	Resume(ctx context.Context, id, key string) (*Outcome, error)
	Plan(ctx context.Context, m Message) (*Plan, error)
}
