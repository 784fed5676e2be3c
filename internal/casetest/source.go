package casetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/archmax-ai/archmax/internal/model"
)

// Record says what --record records.
type Record string

// RecordMissing fills in cassettes that are not there; RecordAll makes every one
// anew.
const (
	RecordMissing Record = "missing"
	RecordAll     Record = "all"
)

// source is where the answers of one run of a case come from.
type source struct {
	client   model.Client
	cassette *model.Cassette // nil: live
	recorded *recording      // nil: nothing is recorded
}

// source finds it, in the order of cases.md, "Running".
func (s *suite) source(c *Case) (source, error) {
	own := cassettePath(s.o.Machine.Slug, c.ID)
	switch {
	case s.o.Record == RecordAll:
		return s.record(own)
	case s.o.Live:
		client, err := s.live()
		return source{client: client}, err
	case c.Model != nil && c.Model.Inline != nil:
		return replay(c.Model.Inline), nil
	}
	file := own
	if c.Model != nil {
		file = c.Model.Path
	}
	src, err := fs.ReadFile(s.o.Runtime.Root, file)
	switch {
	case err == nil:
		cassette, problems := model.LoadCassette(file, src)
		if err := problems.Err(); err != nil {
			return source{}, err
		}
		return replay(cassette), nil
	case c.Model != nil || !errors.Is(err, fs.ErrNotExist):
		return source{}, fmt.Errorf("the cassette %s cannot be read: %s", file, cause(err))
	case s.o.Record == RecordMissing:
		return s.record(own)
	}
	return source{}, fmt.Errorf("nothing answers for the model: give the case a `model:` key, record %s with --record, or ask the endpoint with --live", own)
}

func replay(c *model.Cassette) source { return source{client: model.NewReplay(c), cassette: c} }

// live is the endpoint's client, made when the first case asks for it.
func (s *suite) live() (model.Client, error) {
	s.liveOnce.Do(func() {
		if s.o.NewClient == nil {
			s.liveErr = errors.New("no model endpoint is configured")
			return
		}
		s.liveClient, s.liveErr = s.o.NewClient(s.settings.Judge)
	})
	return s.liveClient, s.liveErr
}

// recording is a cassette in the making. It lies beside its place until the case
// has ended without an error, so that a broken run neither spoils a cassette nor
// leaves half of one to be replayed.
type recording struct{ temp, file string }

func (s *suite) record(own string) (source, error) {
	client, err := s.live()
	if err != nil {
		return source{}, err
	}
	file := filepath.Join(s.o.Dir, filepath.FromSlash(own))
	r := &recording{temp: filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".recording"), file: file}
	if err := os.Remove(r.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return source{}, fmt.Errorf("the cassette %s cannot be recorded: %s", own, cause(err))
	}
	recorder, err := model.NewRecorder(client, r.temp, s.o.Secrets...)
	if err != nil {
		return source{}, err
	}
	return source{client: recorder, recorded: r}, nil
}

// keep puts the cassette in its place; discard leaves what was there.
func (r *recording) keep() error {
	err := os.Rename(r.temp, r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the model was never asked
	}
	if err != nil {
		return fmt.Errorf("the cassette %s cannot be written: %s", filepath.Base(r.file), causeOfLink(err))
	}
	return nil
}

func (r *recording) discard() { _ = os.Remove(r.temp) } // a leftover is replaced by the next recording

func causeOfLink(err error) string {
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err.Error()
	}
	return err.Error()
}

// Drift is a model call that the cassette does not answer, side by side: what it
// expected at that place, and what was asked.
type Drift struct {
	Call   int          `json:"call"` // from 1, in the cassette; of a call beyond the last, its number of that session and role
	File   string       `json:"file,omitempty"`
	Line   int          `json:"line,omitempty"`
	Checks []DriftCheck `json:"checks"`
}

// DriftCheck is one line of it. Expected is "" where the cassette says nothing.
type DriftCheck struct {
	What     string `json:"what"` // role, state, tools, last, fingerprint
	Expected string `json:"expected"`
	Asked    string `json:"asked"`
}

// watched passes calls on and keeps the first failure: a case whose model fails
// or drifts has failed, whatever the session made of it.
type watched struct {
	model.Client
	cassette *model.Cassette

	mu    sync.Mutex
	err   error
	drift *Drift
}

// Complete implements model.Client.
func (w *watched) Complete(ctx context.Context, req *model.Request, sink model.Sink) (model.Response, error) {
	resp, err := w.Client.Complete(ctx, req, sink)
	if err == nil || ctx.Err() != nil {
		return resp, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
		var e *model.Error
		if errors.As(err, &e) && e.Drift {
			w.drift = driftOf(w.cassette, req, req.Position+resp.Consumed)
		}
	}
	return resp, err
}

func (w *watched) failure() (*Drift, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drift, w.err
}

// driftOf puts the call at a position of the cassette beside the request.
func driftOf(c *model.Cassette, req *model.Request, position int) *Drift {
	if c == nil {
		return nil
	}
	role := req.Role
	if role == "" {
		role = model.RoleAgent
	}
	last := ""
	if n := len(req.Messages); n > 0 {
		last = short(collapse(req.Messages[n-1].Content))
	}
	tools := make([]string, len(req.Tools))
	for i, t := range req.Tools {
		tools[i] = t.Name
	}
	d := &Drift{Call: position + 1, File: c.File}
	at := -1
	for i, ex := range c.Calls {
		if ex.Session != req.Session || ex.Role != role {
			continue
		}
		if position == 0 {
			at = i
			break
		}
		position--
	}
	if at < 0 {
		const none = "no further call"
		d.Checks = []DriftCheck{{"role", none, string(role)}, {"state", none, req.State}, {"last", none, last}}
		return d
	}
	ex := c.Calls[at]
	d.Call, d.Line = ex.Number, ex.Range.Start.Line
	d.Checks = []DriftCheck{{"role", string(ex.Role), string(role)}, {"state", ex.State, req.State}}
	if len(ex.Tools) > 0 {
		d.Checks = append(d.Checks, DriftCheck{"tools", strings.Join(ex.Tools, ", "), strings.Join(tools, ", ")})
	}
	check := DriftCheck{What: "last", Asked: last}
	if ex.Last != nil {
		check.Expected = ex.Last.String()
	}
	d.Checks = append(d.Checks, check)
	if c.Strict {
		d.Checks = append(d.Checks, DriftCheck{"fingerprint", ex.Fingerprint, model.Fingerprint(req)})
	}
	return d
}

// unused words which calls of a cassette were not taken, "" when all were.
func unused(c *model.Cassette, used func(session string, role model.Role) int) string {
	numbers := c.Unused(used)
	if len(numbers) == 0 {
		return ""
	}
	slices.Sort(numbers)
	words := make([]string, 0, len(numbers))
	for _, n := range numbers {
		words = append(words, fmt.Sprint(n))
	}
	if len(numbers) == 1 {
		return fmt.Sprintf("call %s of the cassette was not used", words[0])
	}
	return fmt.Sprintf("%d calls of the cassette were not used: %s", len(numbers), short(strings.Join(words, ", ")))
}
