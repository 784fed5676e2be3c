package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
)

var markSkipped = mark{"○", "[skipped]", dim}

// StepPlace says where a step of a case stands; the zero position when nobody
// knows.
type StepPlace func(file string, step int) diag.Position

// SuiteOptions says how the cases of a suite are told.
type SuiteOptions struct {
	Live  bool             // a progress line that is redrawn; needs a terminal
	Quiet bool             // failed cases alone
	Steps bool             // every step of every case
	Brief bool             // no details: annotations tell them
	Place StepPlace        // nil: failed steps have no place
	Now   func() time.Time // nil: time.Now
}

// SuiteReport tells the cases of a suite while they run: a line for each as it
// comes, what went wrong under it, and on a terminal what is at work. Workflow,
// Progress and Result are called from one goroutine; a second one, which Close
// ends, redraws the progress line. Errors of the stream are nobody's to tell.
type SuiteReport struct {
	w    io.Writer
	st   Style
	opts SuiteOptions

	mu    sync.Mutex
	at    *casetest.Progress // nil: nothing is at work
	since time.Time          // the suite began
	shown bool               // the progress line is on the screen
	frame int

	once sync.Once
	quit chan struct{} // closed by Close; nil: nothing is redrawn
	done chan struct{} // closed by the goroutine
}

// NewSuiteReport begins a report on w.
func NewSuiteReport(w io.Writer, st Style, opts SuiteOptions) *SuiteReport {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Place == nil {
		opts.Place = func(string, int) diag.Position { return diag.Position{} }
	}
	r := &SuiteReport{w: w, st: st, opts: opts, since: opts.Now()}
	if opts.Live && st.TTY && !opts.Quiet {
		r.quit, r.done = make(chan struct{}), make(chan struct{})
		go r.redraw()
	}
	return r
}

func (r *SuiteReport) redraw() {
	defer close(r.done)
	tick := time.NewTicker(spinEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.quit:
			return
		case <-tick.C:
			r.mu.Lock()
			if r.at != nil {
				r.frame++
				r.put(r.progress())
			}
			r.mu.Unlock()
		}
	}
}

// Close takes the progress line off the screen.
func (r *SuiteReport) Close() {
	if r.quit != nil {
		r.once.Do(func() { close(r.quit) })
		<-r.done
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = nil
	r.put(r.hide())
}

func (r *SuiteReport) put(text string) {
	if text != "" {
		_, _ = io.WriteString(r.w, text) // standard error is best effort
	}
}

func (r *SuiteReport) hide() string {
	if !r.shown {
		return ""
	}
	r.shown = false
	return eraseLine
}

// Workflow begins the cases of a workflow.
func (r *SuiteReport) Workflow(slug string) {
	if r.opts.Quiet {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = nil // of the workflow before
	r.put(r.hide() + r.st.paint(bold, OneLine(slug)) + "\n")
}

// Skipped says why no case of the workflow was to run.
func (r *SuiteReport) Skipped(why string) {
	if r.opts.Quiet {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(r.hide() + r.st.mark(markSkipped) + " " + r.st.paint(dim, "skipped: "+OneLine(why)) + "\n")
}

// Progress takes in that a run of a case has started or ended.
func (r *SuiteReport) Progress(p casetest.Progress) {
	if r.quit == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = &p
	r.put(r.progress())
}

// progress is the line of what is at work: how many are done, how they fared,
// the cases at work, the time so far.
func (r *SuiteReport) progress() string {
	frames := spinASCII
	if r.st.Glyphs {
		frames = spinGlyphs
	}
	p := r.at
	parts := []string{fmt.Sprintf("%d/%d", p.Done, p.Total)}
	for _, n := range []struct {
		count int
		what  string
	}{{p.Passed, "passed"}, {p.Failed, "failed"}, {p.Skipped, "skipped"}} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	parts = append(parts, r.opts.Now().Sub(r.since).Truncate(time.Second).String())
	if running := slices.Compact(slices.Clone(p.Running)); len(running) > 0 {
		parts = append(parts, OneLine(strings.Join(running, ", ")))
	}
	text := "  " + frames[r.frame%len(frames)] + " " + strings.Join(parts, " · ")
	if r.st.Width > 0 {
		text = cut(text, r.st.Width-1)
	}
	r.shown = true
	return eraseLine + r.st.paint(dim, text)
}

// Result tells one case.
func (r *SuiteReport) Result(res *casetest.Result) {
	if r.opts.Quiet && res.Status != casetest.Failed {
		return
	}
	p := &page{style: r.st}
	p.result(res, r.opts)
	r.mu.Lock()
	defer r.mu.Unlock()
	again := ""
	hidden := r.hide()
	if hidden != "" && r.at != nil {
		again = r.progress()
	}
	r.put(hidden + p.b.String() + again)
}

func (p *page) result(res *casetest.Result, opts SuiteOptions) {
	st := p.style
	m, after := markOK, p.fared(res)
	switch res.Status {
	case casetest.Failed:
		m = markFailed
	case casetest.Skipped:
		m, after = markSkipped, st.paint(dim, "skipped: "+OneLine(res.SkipReason))
	}
	p.line(0, st.mark(m)+" "+OneLine(res.ID)+"  "+after)
	if opts.Brief {
		return
	}
	if opts.Steps {
		p.steps(res)
	}
	if res.Status == casetest.Failed {
		p.failures(res, opts.Place)
	}
	if !opts.Quiet {
		for _, w := range res.Warnings {
			p.line(1, st.mark(markWarning)+" "+OneLine(w))
		}
	}
}

// fared is how long a case took, and over several runs how it fared.
func (p *page) fared(res *casetest.Result) string {
	text := took(res.DurationMs)
	if n := res.Repeat; n != nil {
		text = fmt.Sprintf("%d of %d runs passed, 95%% interval %.4f to %.4f, %s", n.Passed, n.Runs, n.Low, n.High, text)
	}
	return p.style.paint(dim, text)
}

func took(ms int64) string {
	if ms < 1000 {
		return fmt.Sprintf("%d ms", ms)
	}
	return fmt.Sprintf("%.1f s", float64(ms)/1000)
}

// steps tells every step, also one that did not run.
func (p *page) steps(res *casetest.Result) {
	for _, rec := range res.Records {
		m := markFact
		switch rec.Status {
		case casetest.RecordPassed:
			m = markOK
		case casetest.RecordFailed:
			m = markError
		}
		line := fmt.Sprintf("%s %d %s", p.style.mark(m), rec.Step, OneLine(rec.Kind))
		if rec.Status == casetest.NotExecuted {
			line += p.style.paint(dim, " "+casetest.NotExecuted)
		}
		if rec.Score != nil && rec.Threshold != nil {
			line += fmt.Sprintf(" (scored %g, at least %g)", *rec.Score, *rec.Threshold)
		}
		p.line(1, line)
	}
}

// failures tells what went wrong in a case, each with its place.
func (p *page) failures(res *casetest.Result, place StepPlace) {
	for _, f := range failuresOf(res, place) {
		lead := ""
		if f.place != "" {
			lead = p.style.paint(bold, OneLine(f.place)+":") + " "
		}
		p.line(1, lead+OneLine(f.message))
	}
	p.drift(res.Drift)
	left := 0
	for _, rec := range res.Records {
		if rec.Status == casetest.NotExecuted {
			left++
		}
	}
	if left > 0 && left < len(res.Records) {
		p.line(1, p.style.paint(dim, plural(left, "step")+" not executed"))
	}
}

// drift shows what a cassette expected and what was asked side by side.
func (p *page) drift(d *casetest.Drift) {
	if d == nil {
		return
	}
	t := table{columns: []column{{name: ""}, {name: "expected", min: 10}, {name: "asked", min: 10}}}
	for _, c := range d.Checks {
		expected := OneLine(c.Expected)
		if expected == "" {
			expected = "(anything)"
		}
		t.row("      "+OneLine(c.What), expected, OneLine(c.Asked))
	}
	where := fmt.Sprintf("call %d of the cassette", d.Call)
	if d.File != "" {
		where = fmt.Sprintf("call %d of %s", d.Call, d.File)
		if d.Line > 0 {
			where += fmt.Sprintf(":%d", d.Line)
		}
	}
	p.line(2, OneLine(where))
	t.print(p, func(string, string) accent { return noInk })
}

// failed is one thing that went wrong in a case.
type failed struct {
	place   string // "file:line:col"; "" when unknown
	file    string
	at      diag.Range
	message string
}

// failuresOf lists what went wrong: the problems of a case that cannot be run,
// else its failed steps, then why it could not be carried through.
func failuresOf(res *casetest.Result, place StepPlace) []failed {
	var list []failed
	for _, d := range res.Diagnostics {
		if d.Severity != diag.Error {
			continue
		}
		message := fmt.Sprintf("%s[%s]: %s", d.Severity, d.Code, d.Message)
		if d.Hint != "" {
			message += "; " + d.Hint
		}
		list = append(list, failed{d.Place(), d.File, d.Range, message})
	}
	if len(list) > 0 {
		return list
	}
	told := false
	for _, rec := range res.Records {
		if rec.Status != casetest.RecordFailed {
			continue
		}
		told = told || rec.Detail == res.Error
		list = append(list, atStep(res, place, rec.Step, fmt.Sprintf("step %d, %s: %s", rec.Step, rec.Kind, rec.Detail)))
	}
	if res.Error != "" && !told {
		list = append(list, failed{file: res.File, message: res.Error})
	}
	return list
}

func atStep(res *casetest.Result, place StepPlace, step int, message string) failed {
	f := failed{file: res.File, message: message}
	if at := place(res.File, step); at.Known() {
		f.at.Start = at
		f.place = fmt.Sprintf("%s:%d:%d", res.File, at.Line, at.Column)
	}
	return f
}
