package casetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// run is one run of one case: a fresh runtime over a store of its own. It
// belongs to one goroutine; the sink and the mocks are called from others too.
type run struct {
	view
	s        *suite
	c        *Case
	id       string // the session's
	ctx      context.Context
	store    session.Store
	rt       runtime.API
	client   *watched
	mocks    *mocks
	attached bool     // the files of the first turn have been brought
	warned   []string // by the runtime

	judged     int // calls that the judge has used of the cassette
	judgeUsage session.Usage

	mu       sync.Mutex
	observed []event.Event // since the last action began
	taken    tally         // for the coverage
}

// errTimeout is the cause of a case that ran past its time.
var errTimeout = errors.New("timeout")

func (r *run) machine() *spec.Machine { return r.s.o.Machine }

// runCase runs a case once and tells what it came to. It does not fail: whatever
// goes wrong is the case's.
func (s *suite) runCase(ctx context.Context, c readCase, n int) *Result {
	began := time.Now()
	res := &Result{
		ID: c.ID, File: c.File, Title: c.Title, Status: Passed, SessionID: s.sessionID(c.ID, n),
		Usage: runtime.ReportUsage(session.Usage{}), Failures: []string{}, Records: []StepRecord{}, Warnings: []string{},
	}
	defer func() { res.DurationMs = time.Since(began).Milliseconds() }()
	switch {
	case c.problems.HasErrors():
		res.refuse(c)
		return res
	case c.Skip != "":
		res.Status, res.SkipReason, res.Records = Skipped, c.Skip, c.notExecuted()
		return res
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.settings.CaseTimeout, func() { cancel(errTimeout) })
	defer timer.Stop()

	r := &run{s: s, c: c.Case, id: res.SessionID, ctx: ctx}
	r.state = session.NewState()
	src, err := r.open(cancel)
	if err == nil {
		err = r.place()
	}
	r.steps(res, err)
	r.conclude(res, src)
	return res
}

// open puts the case's runtime together.
func (r *run) open(fail context.CancelCauseFunc) (source, error) {
	if what := needsDelegation(r.c); what != "" {
		return source{}, fmt.Errorf("the case %s, and this version of archmax does not run workflows that call workflows yet", what)
	}
	src, err := r.s.source(r.c)
	if err != nil {
		return src, err
	}
	r.client = &watched{Client: src.client, cassette: src.cassette}
	r.store = session.NewMemStore(nil)
	if r.s.o.Keep != "" {
		if r.store, err = r.s.keptStore(r.ctx, r.id); err != nil {
			return src, err
		}
	}
	m := newMocks(r.c.Mocks, fail)
	r.mocks = m
	opts := r.s.o.Runtime
	opts.Store, opts.Client = r.store, r.client
	opts.Clock = func() time.Time { return r.c.Clock }
	opts.Mock = m.answer
	opts.HostTools = m.hostTools(opts.HostTools, r.machine(), opts.EssentialTools, r.s.o.RealTools || r.s.settings.RealTools)
	opts.Events = func(e event.Event) {
		m.watch(e)
		r.mu.Lock()
		defer r.mu.Unlock()
		if e.SessionID == r.id {
			r.taken.count(e)
			r.observed = append(r.observed, e)
		}
	}
	r.tools = toolSet(opts.HostTools)
	r.rt = runtime.New(opts)
	return src, nil
}

// needsDelegation says what a case needs of delegation, "" when nothing.
func needsDelegation(c *Case) string {
	for _, m := range c.Mocks {
		if strings.HasPrefix(m.Tool, spec.DelegationPrefix) {
			return "mocks `" + m.Tool + "`"
		}
	}
	for _, s := range c.Steps {
		if _, ok := s.Check.(*ranWorkflow); ok {
			return "asserts `ranWorkflow`"
		}
	}
	return ""
}

// steps takes the steps in order. After broken, the case's error, and after a
// structural miss, the rest is not executed.
func (r *run) steps(res *Result, broken error) {
	halted := broken != nil
	res.fail(broken)
	for i, step := range r.c.Steps {
		rec := StepRecord{Kind: step.Key, Step: step.Index, Status: NotExecuted}
		switch {
		case halted:
		case step.Action != nil:
			rec.Status = RecordPassed
			err := step.Action.perform(r)
			if err == nil {
				err = r.turnedAway(r.c.Steps[i+1:])
			}
			if err != nil {
				rec.Status, rec.Detail = RecordFailed, err.Error()
				res.fail(err)
				halted = true
			}
		default:
			f := step.Check.check(r)
			if f.err != nil {
				if err := r.broken(nil); err != nil {
					f.err = err
				}
				res.fail(f.err)
				halted = true
				break // asked and not answered: it is neither passed nor failed
			}
			rec.Status, rec.Detail = RecordPassed, f.detail
			if f.grade != nil {
				rec.Score, rec.Threshold = &f.grade.score, &f.grade.threshold
			}
			if f.detail != "" {
				rec.Status, res.Status = RecordFailed, Failed
				res.Failures = append(res.Failures, fmt.Sprintf("step %d, %s: %s", step.Index, step.Key, f.detail))
				halted = step.Check.structural()
			}
		}
		res.Records = append(res.Records, rec)
	}
	res.halted = halted
}

// turnedAway is the error of an action whose arrival was refused, unless the
// case expects it: a `rejected` before the next action. Nothing happened, so
// what else is asserted below could hold of nothing.
func (r *run) turnedAway(rest []*Step) error {
	if !r.outcome.Refused {
		return nil
	}
	for _, step := range rest {
		if step.Action != nil {
			break
		}
		if _, expected := step.Check.(*rejected); expected {
			return nil
		}
	}
	return fmt.Errorf("the arrival was refused: %s; if it is meant to be, assert `rejected` below it", short(r.outcome.Rejected))
}

// arrived takes in what an action came to, and says why the case cannot go on.
func (r *run) arrived(out *runtime.Outcome, err error) error {
	r.mu.Lock()
	events := r.observed
	r.observed = nil
	r.mu.Unlock()
	r.view.raised = nil
	for _, e := range events {
		r.observe(e)
	}
	if err := r.broken(err); err != nil {
		return err
	}
	state, files, err := r.load()
	if err != nil {
		return err
	}
	r.settle(out, state, files)
	if out.Kind == runtime.KindFailed && out.Exit.Code == "turn-error" {
		return errors.New(out.Exit.Reason)
	}
	r.warnings(out.Warnings)
	return nil
}

// broken is why the case itself has failed, however the session took it: an
// unmocked call, a model that failed or drifted, the time limit, an interrupt,
// an arrival that was refused.
func (r *run) broken(err error) error {
	var unmocked *unmockedError
	cause := context.Cause(r.ctx)
	_, failed := r.client.failure()
	switch {
	case errors.As(cause, &unmocked):
		return unmocked
	case failed != nil:
		return failed
	case errors.Is(cause, errTimeout):
		return fmt.Errorf("the case ran past its time limit of %d ms (tests.caseTimeoutMs)", r.s.settings.CaseTimeout.Milliseconds())
	case cause != nil:
		return errInterrupted
	}
	return err
}

var errInterrupted = errors.New("the run was interrupted")

func (r *run) load() (*session.State, *workspace.Workspace, error) {
	ctx := context.WithoutCancel(r.ctx)
	state, err := r.store.Load(ctx, r.id)
	var missing session.NotFoundError
	if errors.As(err, &missing) {
		return session.NewState(), nil, nil // an arrival that was turned away
	}
	if err != nil {
		return nil, nil, err
	}
	files, err := r.store.Files(ctx, r.id)
	if err != nil {
		return nil, nil, err
	}
	return state, r.s.o.Runtime.Shared.Session(files), nil
}

// warnings keeps what the runtime warned of, once.
func (r *run) warnings(list []string) {
	for _, w := range list {
		if !slices.Contains(r.warned, w) {
			r.warned = append(r.warned, w)
		}
	}
}

// conclude adds what is known when the steps are over.
func (r *run) conclude(res *Result, src source) {
	res.Warnings = append(res.Warnings, r.warned...)
	if r.store == nil {
		return
	}
	res.Drift, _ = r.client.failure()
	total := r.judgeUsage
	used := func(suffix string, role model.Role) int {
		if suffix == "" && role == model.RoleJudge {
			return r.judged
		}
		s, err := r.store.Load(context.WithoutCancel(r.ctx), r.id+suffix)
		if err != nil {
			return 0
		}
		return s.Cassette[string(role)]
	}
	if s, _, err := r.load(); err == nil {
		total.Add(s.Usage)
	}
	res.total, res.Usage = total, runtime.ReportUsage(total)
	if src.cassette != nil && res.Error == "" {
		if text := unused(src.cassette, used); text != "" {
			res.Warnings = append(res.Warnings, text)
		}
	}
	if r.mocks != nil && !res.halted {
		if text := r.mocks.unused(); text != "" {
			res.Warnings = append(res.Warnings, text)
		}
	}
	if src.recorded != nil {
		r.recorded(res, src.recorded)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	res.taken = r.taken
}

// recorded puts a cassette in its place, or throws away that of a broken run.
func (r *run) recorded(res *Result, rec *recording) {
	if res.Error != "" {
		rec.discard()
		return
	}
	if err := rec.keep(); err != nil {
		res.fail(err)
		return
	}
	if r.c.Model != nil {
		res.Warnings = append(res.Warnings, "the case's `model:` key outranks the cassette that was recorded; remove the key to replay it")
	}
}

// refuse reports a case that cannot be run as it is written.
func (res *Result) refuse(c readCase) {
	for _, p := range c.problems {
		if p.Severity == diag.Error {
			text := p.Error()
			if p.Hint != "" {
				text += "; " + p.Hint
			}
			res.Failures = append(res.Failures, text)
		} else {
			res.Warnings = append(res.Warnings, p.Error())
		}
	}
	res.Records = c.notExecuted()
	res.Status = Failed
	res.Error = "the case cannot be run as it is written"
	res.Diagnostics = c.problems
}

// notExecuted is the records of a case that did not run.
func (c *Case) notExecuted() []StepRecord {
	out := make([]StepRecord, len(c.Steps))
	for i, step := range c.Steps {
		out[i] = StepRecord{Kind: step.Key, Step: step.Index, Status: NotExecuted}
	}
	return out
}

// fail makes err the case's error, if there is none yet.
func (res *Result) fail(err error) {
	if err == nil || res.Error != "" {
		return
	}
	res.Status, res.Error = Failed, err.Error()
}

// keptStore is the workspace's own store, for --keep, without an earlier session
// of the same case and number, which this run replaces.
func (s *suite) keptStore(ctx context.Context, id string) (session.Store, error) {
	store := session.NewFSStore(s.o.Keep, nil)
	old, err := store.Load(ctx, id)
	var missing session.NotFoundError
	switch {
	case errors.As(err, &missing):
		return store, nil
	case err != nil:
		return nil, err
	case old.Workflow != s.o.Machine.Slug:
		return nil, fmt.Errorf("session %s is there already, and of workflow %q; name another --session-prefix", id, old.Workflow)
	}
	return store, store.Delete(ctx, id)
}

// DefaultSessionPrefix begins the ids of cases' sessions.
const DefaultSessionPrefix = "test-"

var plainCase = regexp.MustCompile(`^[a-z0-9-]{1,60}$`)

// sessionID derives the session of a case's n-th run, from 1:
// <prefix><workflow>_<case>, then _<n> from the second on. A case id that is not
// plain goes in as what is plain of it and a hash, so no two ids meet.
func (s *suite) sessionID(id string, n int) string {
	name := id
	if !plainCase.MatchString(id) {
		plain := strings.Trim(notPlain.ReplaceAllString(strings.ToLower(id), "-"), "-")
		sum := sha256.Sum256([]byte(id))
		name = plain[:min(len(plain), 40)] + "_" + hex.EncodeToString(sum[:4])
	}
	out := s.o.SessionPrefix + s.o.Machine.Slug + "_" + name
	if n > 1 {
		out = fmt.Sprintf("%s_%d", out, n)
	}
	return out
}

var notPlain = regexp.MustCompile(`[^a-z0-9]+`)
