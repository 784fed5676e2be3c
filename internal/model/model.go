// Package model talks to language models: one small Client interface, the
// OpenAI-compatible client, cassettes (replay and record), usage and pricing
// (spec: model.md). Clients are safe for concurrent use and keep no session
// state; what must survive a process (the cassette position) goes in with the
// request and comes out with the response, and the runtime journals it.
package model

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
)

// Role says on whose behalf a model is asked.
type Role string

// The roles. RoleSummary is the agent's own model, asked to summarize a long
// conversation.
const (
	RoleAgent   Role = "agent"
	RoleGrader  Role = "grader"
	RoleJudge   Role = "judge"
	RoleSummary Role = "summary"
)

// Client asks a model. Complete returns when the answer is whole; sink, when
// not nil, receives text deltas as they arrive, on the calling goroutine. A
// failure is an *Error (or the context's error when ctx ended the call); on a
// failure the Response still carries what is known of position and usage.
type Client interface {
	Complete(ctx context.Context, req *Request, sink Sink) (Response, error)
}

// Sink receives the stream of one Complete. Delta carries text; Broken says
// that what came so far belongs to a failed attempt and is void, and that
// another attempt follows (or the call fails).
type Sink interface {
	Delta(text string)
	Broken()
}

// Request is one model call. Messages are pointers because each caches its
// encoded bytes: callers keep them across steps and never change them.
type Request struct {
	Role     Role
	Session  string // "" for a root session, else the child's suffix, "~1"
	State    string
	Model    string // "" lets the client's configured default stand
	Static   string // static prefix of the system message
	Volatile string // volatile block of the system message
	Messages []*Message
	Tools    []*Tool // never encoded when empty
	Cache    *Cache  // nil: no prompt-cache markers
	Position int     // calls of this session and role that a cassette has already answered
	Optional bool    // the session goes on without an answer: the failure is part of it
}

// Cache asks for provider-side prompt caching of the static prefix.
type Cache struct{ TTL string } // "5m", "1h" or ""

// Message is one transcript message. Role is user, assistant or tool. A runtime
// note is an assistant message with one archmax_note call followed by its tool
// message; the runtime builds the pair.
type Message struct {
	Role      string
	Content   string
	Calls     []Call  // assistant only
	CallID    string  // tool only
	Reasoning string  // assistant only: reasoning_content, sent back as it came
	Images    []Image // user only

	wire [3]atomic.Value // []byte: encoded once, by tool_call_content mode; owned by the client
}

// Image is a picture that rides on a user message.
type Image struct {
	MediaType string
	Data      []byte
}

// Call is one tool call of an assistant message. Args is what the provider
// sent, as text, perhaps no JSON at all; on the wire a text that is no JSON
// object goes back as {}.
type Call struct {
	ID   string
	Name string
	Args string
}

// Tool is a tool definition. Schema is a JSON Schema object, sent as it is.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage

	wire atomic.Value // []byte: encoded once; owned by the client
}

// Response is one answer.
type Response struct {
	Text      string
	Calls     []Call // ids may be "" or repeated: the runtime mints unique ones
	Reasoning string
	Finish    string // finish_reason as reported, "" when none
	Model     string // id the response reports, else the one asked for
	Usage     Usage
	Consumed  int // cassette calls this Complete used up, faults included; 0 for a live endpoint
}

// CutShort reports whether the answer ended at the provider's length limit, in
// which case its last call must not be run.
func (r Response) CutShort() bool { return r.Finish == "length" }

// Usage counts tokens. Known is false when the provider reported nothing;
// InputTokens is the inclusive total, the cache counts are a breakdown of it.
type Usage struct {
	Known                             bool
	InputTokens, OutputTokens         int64
	CacheReadTokens, CacheWriteTokens int64
}

// Error is a failed call, worded for a person, with the likely cause. Status is
// the HTTP status, 0 when there was none. Drift marks cassette drift.
type Error struct {
	Status  int
	Message string
	Hint    string
	Drift   bool
	Err     error // cause, for -v; never shown otherwise
}

// Error is one line; it never holds a secret or a provider's raw HTML.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return strings.TrimSuffix(e.Message, ".") + "; " + e.Hint // a provider's words may end as a sentence
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
