package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// NewReplay returns a Client that answers from a cassette, and never from
// anywhere else. It keeps no state: a request's Position says where its session
// and role stand, and the answer's Consumed how much further they are.
func NewReplay(c *Cassette) Client { return &replay{c} }

type replay struct{ cassette *Cassette }

// Complete implements Client. Faults go through the retry loop of the live
// client, whose waits take no time.
func (r *replay) Complete(ctx context.Context, req *Request, sink Sink) (Response, error) {
	if err := check(req); err != nil {
		return Response{}, err
	}
	var now time.Time
	p := policy{
		retries: DefaultMaxRetries, budget: DefaultRetryBudget,
		now: func() time.Time { return now },
		sleep: func(ctx context.Context, d time.Duration) error {
			now = now.Add(d)
			return ctx.Err()
		},
		jitter: func(d time.Duration) time.Duration { return d },
	}
	role := req.Role
	if role == "" {
		role = RoleAgent
	}
	calls := r.cassette.queues[queue{req.Session, role}]
	used := 0
	afterEmpty := false
	resp, err := p.ask(ctx, sink, func(out Sink) (Response, error) {
		at := req.Position + used
		if at >= len(calls) {
			if afterEmpty {
				return Response{}, errNoAnswerLeft // one written silence is a silence
			}
			return Response{}, r.beyond(req, role, at, len(calls))
		}
		ex := calls[at]
		if err := r.drift(ex, req); err != nil {
			if afterEmpty {
				return Response{}, errNoAnswerLeft // what follows belongs to another request
			}
			return Response{}, err
		}
		used++
		for _, piece := range pieces(ex.Text) {
			out.Delta(piece)
		}
		if ex.Fault != nil {
			return Response{}, r.fault(ex)
		}
		resp := ex.response(req.Model)
		afterEmpty = resp.empty()
		return resp, nil
	})
	resp.Consumed = used
	return resp, err
}

func (ex *Exchange) response(asked string) Response {
	resp := Response{
		Text: ex.Text, Calls: slices.Clone(ex.ToolCalls), Reasoning: ex.Reasoning,
		Finish: ex.Finish, Model: ex.Model, Usage: ex.Usage,
	}
	if resp.Model == "" {
		resp.Model = asked
	}
	return resp
}

func (r *replay) fault(ex *Exchange) error {
	ep := &endpoint{shown: fmt.Sprintf("(%s, call %d)", r.cassette.name(), ex.Number), keyVar: "ARCHMAX_API_KEY"}
	var f *fault
	if ex.Fault.Status != 0 {
		f = ep.statusFault(ex.Fault.Status, ex.Fault.Message)
	} else {
		f = ep.broken("broke its answer off", errors.New("a broken stream, says the cassette"))
		if ex.Fault.Message != "" {
			f.err.Message += ": " + oneLine(ex.Fault.Message, maxShown)
		}
	}
	f.err.Hint = "" // it is the cassette that says so: there is no endpoint to look at
	f.after = ex.Fault.RetryAfter
	if ex.Fault.Final {
		f.retry = false
	}
	return f
}

// drift returns the *Error of a call whose checks do not hold, nil when they
// do.
func (r *replay) drift(ex *Exchange, req *Request) error {
	var wrong []string
	miss := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if ex.State != "" && ex.State != req.State {
		miss("expected state %q, asked in state %q", ex.State, req.State)
	}
	if missing := ex.missingTools(req.Tools); len(missing) > 0 {
		miss("expected the tools %s to be offered, asked with %s", strings.Join(missing, ", "), toolNames(req.Tools))
	}
	if ex.Last != nil && !ex.Last.Match(lastText(req)) {
		miss("expected the last message to hold %q, asked after %q", ex.Last, oneLine(lastText(req), 120))
	}
	if r.cassette.Strict && ex.Fingerprint != "" {
		if got := Fingerprint(req); got != ex.Fingerprint {
			miss("expected the request %s, asked with %s", ex.Fingerprint, got)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &Error{
		Drift:   true,
		Message: fmt.Sprintf("cassette drift at call %d of %s: %s", ex.Number, r.cassette.place(ex), strings.Join(wrong, "; ")),
		Hint:    "correct the cassette, or record it again with --record",
	}
}

func (r *replay) beyond(req *Request, role Role, at, have int) error {
	whose := "the session itself"
	if req.Session != "" {
		whose = "its child " + req.Session
	}
	number := "no calls"
	switch have {
	case 0:
	case 1:
		number = "1 call"
	default:
		number = fmt.Sprintf("%d calls", have)
	}
	return &Error{
		Drift: true,
		Message: fmt.Sprintf("cassette drift at call %d: %s holds %s of role %s for %s, and one more was asked in state %q after %q",
			at+1, r.cassette.name(), number, role, whose, req.State, oneLine(lastText(req), 120)),
		Hint: "one cassette holds all calls of a session, counted from its first; add the call, or record it again with --record",
	}
}

func (c *Cassette) name() string {
	if c.File == "" {
		return "the cassette"
	}
	return "cassette " + c.File
}

func (c *Cassette) place(ex *Exchange) string {
	if !ex.Range.Start.Known() {
		return c.name()
	}
	return fmt.Sprintf("%s:%d", c.name(), ex.Range.Start.Line)
}

func (ex *Exchange) missingTools(offered []*Tool) []string {
	var missing []string
	for _, name := range ex.Tools {
		if !slices.ContainsFunc(offered, func(t *Tool) bool { return t.Name == name }) {
			missing = append(missing, name)
		}
	}
	return missing
}

func toolNames(tools []*Tool) string {
	if len(tools) == 0 {
		return "no tools"
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

func lastText(req *Request) string {
	if len(req.Messages) == 0 {
		return ""
	}
	return req.Messages[len(req.Messages)-1].Content
}

// pieces cuts a text into deltas at its spaces, as a model's tokens would.
func pieces(s string) []string {
	var out []string
	for s != "" {
		end := strings.IndexAny(s[1:], " \n")
		if end < 0 {
			return append(out, s)
		}
		out = append(out, s[:end+1])
		s = s[end+1:]
	}
	return out
}
