package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Recorder is a Client that asks another one and writes what it answers to a
// cassette file. Answers are recorded as they come, one atomic write each, so a
// cut session leaves a whole file. Each recorded call counts as Consumed: the
// session's position in its own cassette.
//
// A call that failed for good is recorded where the session goes on from it. One
// that ends the turn (a wrong key, a wrong host) is made again when the turn is
// resumed, or in another session, and is no part of what a replay should tell.
type Recorder struct {
	inner   Client
	file    string
	secrets []string

	mu   sync.Mutex
	text []byte
}

// NewRecorder records to file, going on at its end when it is there: a session
// may be recorded by several processes, one after the other. None of secrets
// gets into the file. The error is the file's: it cannot be read or written, is
// no cassette, or ends in something that calls cannot be appended to; it comes
// here, before a call is paid for.
func NewRecorder(inner Client, file string, secrets ...string) (*Recorder, error) {
	r := &Recorder{inner: inner, file: file, secrets: secrets, text: []byte("version: 1\ncalls:\n")}
	if err := writable(file); err != nil {
		return nil, r.failed("write", err)
	}
	old, err := readCassette(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, r.failed("read", err)
	}
	if len(bytes.TrimSpace(old)) == 0 {
		return r, nil
	}
	c, list := LoadCassette(filepath.Base(file), old)
	if err := list.Err(); err != nil {
		return nil, &Error{Message: fmt.Sprintf("%s cannot be recorded to: %s", file, err), Hint: "correct it, or record to another file", Err: err}
	}
	r.text = append(bytes.TrimRight(old, "\n"), '\n')
	longer, list := LoadCassette(file, append(bytes.Clone(r.text), "  - text: x\n"...))
	if list.HasErrors() || len(longer.Calls) != len(c.Calls)+1 {
		return nil, &Error{
			Message: fmt.Sprintf("%s cannot be recorded to: `calls` is not its last key, as a list with one `- ` a call, indented by two spaces", file),
			Hint:    "record to another file",
		}
	}
	return r, nil
}

// Complete implements Client.
func (r *Recorder) Complete(ctx context.Context, req *Request, sink Sink) (Response, error) {
	resp, err := r.inner.Complete(ctx, req, sink)
	var e *Error
	switch {
	case err == nil:
		times := 1
		if resp.empty() {
			times = 2 // the endpoint was asked twice before silence counted as an answer
		}
		return resp, r.add(req, &resp, nil, times)
	case errors.As(err, &e) && !e.Drift && ctx.Err() == nil && !endsTurn(req):
		if addErr := r.add(req, &resp, e, 1); addErr != nil {
			return resp, addErr
		}
	}
	return resp, err
}

// endsTurn reports whether a failure of the call fails the turn: it is the root
// session's own agent that asked.
func endsTurn(req *Request) bool {
	return (req.Role == "" || req.Role == RoleAgent) && req.Session == "" && !req.Optional
}

// add records a call. One that cannot be written is no part of the recording
// and does not count.
func (r *Recorder) add(req *Request, resp *Response, failed *Error, times int) error {
	entry := r.entry(req, resp, failed)
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.text)
	for range times {
		r.text = append(r.text, entry...)
	}
	if err := writeFile(r.file, r.text); err != nil {
		r.text = r.text[:before]
		return r.failed("write", err)
	}
	resp.Consumed = times
	return nil
}

func (r *Recorder) failed(what string, err error) error {
	cause, hint := err, "record to another file"
	var path *fs.PathError
	if errors.As(err, &path) {
		cause, hint = path.Err, "check that its folder exists and may be written to"
	}
	return &Error{Message: fmt.Sprintf("cannot %s the cassette %s: %v", what, r.file, cause), Hint: hint, Err: err}
}

// entry is the text of one call. Arguments are written as a mapping where that
// reads back as what came, else as the text that came.
func (r *Recorder) entry(req *Request, resp *Response, failed *Error) []byte {
	e := &emitter{clean: func(s string) string {
		for _, secret := range r.secrets {
			if secret != "" {
				s = strings.ReplaceAll(s, secret, redacted)
			}
		}
		return s
	}}
	text := e.call(req, resp, failed, true)
	if !e.faithful(text, resp, failed) {
		text = e.call(req, resp, failed, false)
	}
	return []byte(text)
}

// emitter writes the calls of a cassette, keys always in one order.
type emitter struct {
	clean func(string) string
	b     strings.Builder
}

func (e *emitter) call(req *Request, resp *Response, failed *Error, mappings bool) string {
	e.b.Reset()
	role := req.Role
	if role == "" {
		role = RoleAgent
	}
	fmt.Fprintf(&e.b, "  - role: %s\n", role)
	if req.Session != "" {
		e.field("session", req.Session)
	}
	if req.State != "" {
		e.field("state", req.State)
	}
	if len(req.Tools) > 0 {
		names := make([]string, len(req.Tools))
		for i, t := range req.Tools {
			names[i] = yamlText(e.clean(t.Name), -1)
		}
		fmt.Fprintf(&e.b, "    tools: [%s]\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(&e.b, "    messages: %d\n", len(req.Messages))
	e.field("fingerprint", Fingerprint(req))
	if failed != nil {
		e.fault(failed)
		return e.b.String()
	}
	if resp.Model != "" {
		e.field("model", resp.Model)
	}
	if resp.Reasoning != "" {
		e.field("reasoning", resp.Reasoning)
	}
	if resp.Text != "" || len(resp.Calls) == 0 {
		e.field("text", resp.Text)
	}
	if len(resp.Calls) > 0 {
		e.b.WriteString("    tool_calls:\n")
		for _, c := range resp.Calls {
			e.toolCall(c, mappings)
		}
	}
	if resp.Finish != "" {
		e.field("finish", resp.Finish)
	}
	if u := resp.Usage; u.Known {
		fmt.Fprintf(&e.b, "    usage: { input: %d, output: %d", u.InputTokens, u.OutputTokens)
		if u.CacheReadTokens > 0 {
			fmt.Fprintf(&e.b, ", cache_read: %d", u.CacheReadTokens)
		}
		if u.CacheWriteTokens > 0 {
			fmt.Fprintf(&e.b, ", cache_write: %d", u.CacheWriteTokens)
		}
		e.b.WriteString(" }\n")
	}
	return e.b.String()
}

func (e *emitter) field(key, value string) {
	fmt.Fprintf(&e.b, "    %s: %s\n", key, yamlText(e.clean(value), 6))
}

func (e *emitter) toolCall(c Call, mappings bool) {
	name := c.Name
	if strings.TrimSpace(name) == "" {
		name = c.wireName()
	}
	fmt.Fprintf(&e.b, "      - name: %s\n", yamlText(e.clean(name), -1))
	if c.Args == "" {
		return
	}
	if compact, ok := compactArgs(e.clean(c.Args)); ok && mappings {
		fmt.Fprintf(&e.b, "        args: %s\n", escapeControls(compact))
		return
	}
	fmt.Fprintf(&e.b, "        args: %s\n", yamlText(e.clean(c.Args), -1))
}

func (e *emitter) fault(failed *Error) {
	e.b.WriteString("    error: { ")
	if failed.Status != 0 {
		fmt.Fprintf(&e.b, "status: %d, ", failed.Status)
	}
	fmt.Fprintf(&e.b, "message: %s, final: true }\n", quoted(e.clean(failed.Message)))
}

// faithful reports whether a call reads back as what was answered.
func (e *emitter) faithful(text string, resp *Response, failed *Error) bool {
	c, list := LoadCassette("", []byte("calls:\n"+text))
	if list.HasErrors() || len(c.Calls) != 1 {
		return false
	}
	if failed != nil {
		return true
	}
	got := c.Calls[0].ToolCalls
	if len(got) != len(resp.Calls) {
		return false
	}
	for i, call := range resp.Calls {
		want := e.clean(call.Args)
		if compact, ok := compactArgs(want); ok {
			want = compact
		}
		if got[i].Args != want {
			return false
		}
	}
	return true
}

// writable tries what writeFile will do, and leaves nothing behind.
func writable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	default:
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	tmp, err := newTemp(file)
	if err != nil {
		return err
	}
	return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
}

func newTemp(file string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
}

// readCassette reads a cassette that may be at most MaxCassette long.
func readCassette(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxCassette+1))
	if err == nil && len(b) > MaxCassette {
		return nil, fmt.Errorf("it is larger than %d MiB, the most a cassette may be", MaxCassette>>20)
	}
	return b, err
}

// writeFile replaces a file whole, or leaves it as it was. A new file is for
// everyone to read, since a cassette is source; an old one keeps its mode.
func writeFile(file string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := newTemp(file)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // nothing to remove once it is renamed
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Sync(); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(tmp.Name(), mode); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
