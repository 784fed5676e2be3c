// Package modeltest is a model server for tests: an OpenAI-compatible endpoint
// on a loopback port that answers as the test says, in any shape a provider
// might, and holds every request it gets against the rules of the wire
// (model.md, "Sent"; runtime.md, "The prompt"). A violation fails the test
// whoever sent the request, this process or another one given Server.URL.
//
// The handler is called for one request at a time, in order of arrival; the
// answers are written concurrently.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// TB is what the server needs of a *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Handler answers a request.
type Handler func(*Request) Answer

// Config says what a Server looks out for, beyond the rules that always hold.
type Config struct {
	// Forbidden words must be in no request: sentinels put where the model must
	// not see, keys.
	Forbidden []string
	// HostPaths must be in no request; the working directory and the usual
	// places of test workspaces are always looked out for.
	HostPaths []string
	// Turn gives the turn that a request belongs to: requests of one turn must
	// have the same static prefix. "" exempts a request. By default a turn is
	// all agent requests of one workflow title between two calls of NewTurn.
	Turn func(*Request) string
	// VolatileHeadings begin the volatile block, and end the static prefix; by
	// default "## Current state:" and "## This run is parked".
	VolatileHeadings []string
}

// Server is a running model server.
type Server struct {
	URL string // the base URL, for ARCHMAX_API_BASE_URL: http://127.0.0.1:port/v1

	tb      TB
	cfg     Config
	handler Handler
	http    *httptest.Server

	handling sync.Mutex // held while the handler runs

	mu         sync.Mutex
	requests   []*Request
	violations []string
	turn       int
	prefixes   map[string]prefix
	closed     bool
}

// New starts a server that stops with the test.
func New(tb TB, h Handler) *Server {
	tb.Helper()
	return NewConfig(tb, Config{}, h)
}

// NewConfig starts a server with a configuration of its own.
func NewConfig(tb TB, cfg Config, h Handler) *Server {
	tb.Helper()
	if len(cfg.VolatileHeadings) == 0 {
		cfg.VolatileHeadings = []string{"## Current state:", "## This run is parked"}
	}
	cfg.HostPaths = append(usualHostPaths(), cfg.HostPaths...)
	s := &Server{tb: tb, cfg: cfg, handler: h, prefixes: map[string]prefix{}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL + "/v1"
	tb.Cleanup(s.Close)
	return s
}

// usualHostPaths are beginnings of paths that a request names only by leaking
// them: t.TempDir, testscript's work directories, the package's own folder.
func usualHostPaths() []string {
	var paths []string
	for _, name := range []string{"Test", "Bench", "go-test-script", "testscript-main", "go-build"} {
		paths = append(paths, filepath.Join(os.TempDir(), name))
	}
	if wd, err := os.Getwd(); err == nil && filepath.Dir(wd) != wd {
		paths = append(paths, wd)
	}
	return paths
}

// Close stops the server, cutting what is still being answered. It may be
// called again.
func (s *Server) Close() {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return
	}
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns the requests so far, in order of arrival.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Violations returns what the checker found so far; it has also failed the
// test with it.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// NewTurn says that the requests from now on may have another static prefix,
// for instance because the test changed a file.
func (s *Server) NewTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
}

// ServeHTTP answers POST /v1/chat/completions; anything else is not found.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":{"message":"no such endpoint: %s %s"}}`, r.Method, r.URL.Path)
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	req, err := decode(raw, s.cfg.VolatileHeadings)
	if err != nil {
		s.report(fmt.Sprintf("the request is no chat-completions request: %v\n%s", err, raw))
		http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
		return
	}
	req.Header = r.Header.Clone()
	s.mu.Lock()
	s.requests = append(s.requests, req)
	req.Number = len(s.requests)
	s.mu.Unlock()
	for _, v := range s.check(req) {
		s.report(fmt.Sprintf("model request %d: %s", req.Number, v))
	}
	s.handling.Lock()
	a := s.handler(req)
	s.handling.Unlock()
	a.write(w, r, req)
}

func (s *Server) report(v string) {
	s.mu.Lock()
	closed := s.closed
	s.violations = append(s.violations, v)
	s.mu.Unlock()
	if !closed { // the test may be over
		s.tb.Errorf("%s", v)
	}
}

// Request is a request as decoded.
type Request struct {
	Number    int // from 1, over the server's life
	Model     string
	System    string // the system message, its parts joined by a blank line
	Static    string // System up to the volatile block
	Volatile  string // the volatile block, "" when System holds no heading of one
	Messages  []Message
	Tools     []Tool
	Stream    bool
	WantUsage bool                       // stream_options.include_usage
	Fields    map[string]json.RawMessage // the request's top-level fields as sent
	Header    http.Header
	Raw       []byte

	hasTools bool
	system   []message // every system message, as sent
}

// Last returns the last message.
func (r *Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// ToolNames returns the names of the tools offered, in order.
func (r *Request) ToolNames() []string {
	names := []string{}
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// Message is a message as sent, the system message aside.
type Message struct {
	Role       string
	Content    string // parts joined
	HasContent bool   // the content key was there and not null
	Calls      []Call
	CallID     string
	Reasoning  string
	Images     []string // URLs
	Raw        json.RawMessage
}

// Call is a tool call, in a request or an answer. Args is JSON as text.
type Call struct{ ID, Name, Args string }

// Tool is a tool definition as sent.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}
