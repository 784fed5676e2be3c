package render

import (
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

// FlowOptions is what a Flow knows beyond the events.
type FlowOptions struct {
	// KindOf is the kind of a state that an event names before its state-enter
	// was seen (a decision, a delivery, a resume): "" when unknown. May be nil.
	KindOf func(state string) string
	// Now is the clock of the spinner; nil is time.Now.
	Now func() time.Time
}

// Flow draws the state flow of one run, append-only (spec: cli.md, "What a
// person sees"): states at the outer margin with their kind, what happens in
// them indented below, child sessions nested. It is safe for concurrent use;
// Event is an event.Sink.
type Flow struct {
	style Style
	opts  FlowOptions
	spin  *spinner // nil when the stream is no terminal

	mu     sync.Mutex
	w      io.Writer
	err    error // the first failed write; nothing is written after it
	closed bool
	head   string // the header, until something is drawn

	calls  []pendingCall // called, not settled, in call order
	last   place         // whose header was printed last
	seen   map[place]bool
	entry  map[string]string // session -> reason of the advance from its origin
	stream *stream           // the agent's words being drawn live
	held   []string          // facts that came before the first state
}

// A place is a state of a session.
type place struct{ session, state string }

type pendingCall struct {
	id, tool, origin string
	args             json.RawMessage
	at               event.Header
	state            string
}

// A stream is a message whose words are drawn as they come. One streams at a
// time: those of a parallel child are printed whole when they are done.
type stream struct {
	session, message string
	text             strings.Builder // as received
	quote            quoter
}

// NewFlow returns a Flow that draws on w. On a terminal it starts the spinner's
// goroutine; Close ends it.
func NewFlow(w io.Writer, style Style, opts FlowOptions) *Flow {
	if opts.KindOf == nil {
		opts.KindOf = func(string) string { return "" }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	f := &Flow{style: style, opts: opts, w: w, seen: map[place]bool{}, entry: map[string]string{}}
	if style.TTY {
		f.spin = newSpinner(f)
	}
	return f
}

// Header says what runs, where and on which model ("" when it is not known
// yet), then each note on a line of its own. It is printed above what is drawn
// first: an arrival that is turned away prints no header.
func (f *Flow) Header(workflow, workspace, model string, notes ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	parts := []string{f.style.paint(bold, OneLine(workflow)), f.style.paint(dim, "workspace ") + OneLine(workspace)}
	if model != "" {
		parts = append(parts, f.style.paint(dim, "model ")+OneLine(model))
	}
	var b strings.Builder
	add := func(text string) { b.WriteString(text) }
	wrapped(add, "", f.style.Width, strings.Join(parts, f.style.paint(dim, " · ")))
	for _, note := range notes {
		wrapped(add, "  ", f.style.Width, f.style.paint(dim, OneLine(note)))
	}
	f.head = b.String() + "\n"
}

// Event draws e.
func (f *Flow) Event(e event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hide()
	f.draw(e)
}

// Close stops the spinner, ends an open line, names the calls that never came
// back, and returns the first error of writing. It may be called twice.
func (f *Flow) Close() error {
	if f.spin != nil {
		f.spin.stop() // not under mu: the goroutine may be waiting for it
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.err
	}
	f.closed = true
	f.hide()
	f.endStream()
	f.flushHeld()
	for _, c := range f.calls {
		f.ensure(c.at, c.state)
		f.inside(c.at, f.toolLine(markError, c, "no result"))
	}
	f.calls = nil
	return f.err
}

// put writes text as it is, below the header.
func (f *Flow) put(text string) {
	text, f.head = f.head+text, ""
	f.raw(text)
}

// raw writes text. A failed write ends the drawing, never the run.
func (f *Flow) raw(text string) {
	if f.err == nil {
		_, f.err = io.WriteString(f.w, text)
	}
}

// hide takes the spinner off the screen and starts its wait anew.
func (f *Flow) hide() {
	if f.spin != nil {
		f.raw(f.spin.hide())
	}
}

// ensure prints the header of the state that h's session is in, unless it is
// the one printed last.
func (f *Flow) ensure(h event.Header, state string) {
	at := place{h.SessionID, state}
	if state == "" || f.last == at {
		return
	}
	note := ""
	if f.seen[at] {
		note = "continued"
	}
	f.header(h, state, f.opts.KindOf(state), note)
}

// header prints a state at its margin.
func (f *Flow) header(h event.Header, state, kind, note string) {
	f.pauseStream()
	line := f.style.mark(markState) + " " + f.style.paint(bold, OneLine(state))
	if kind != "" {
		line += f.style.paint(dim, " ("+OneLine(kind)+")")
	}
	if h.DispatchID != "" {
		line += f.style.paint(dim, " in "+OneLine(h.SessionID))
	}
	if note != "" {
		line += f.style.paint(dim, " · "+OneLine(note))
	}
	wrapped(f.put, margin(h), f.style.Width, line)
	f.last = place{h.SessionID, state}
	f.seen[f.last] = true
	f.flushHeld()
}

// inside prints a line within the state, wrapped to the terminal.
func (f *Flow) inside(h event.Header, line string) {
	f.pauseStream()
	wrapped(f.put, margin(h)+"  ", f.style.Width, line)
}

// fact prints a line within the state, or holds it until there is one.
func (f *Flow) fact(h event.Header, line string) {
	if f.last == (place{}) {
		wrapped(func(text string) { f.held = append(f.held, text) }, margin(h)+"  ", f.style.Width, line)
		return
	}
	f.inside(h, line)
}

func (f *Flow) flushHeld() {
	for _, line := range f.held {
		f.put(line)
	}
	f.held = nil
}

// margin is the outer margin of h's session: a child's is two further in than
// its parent's (a child's id is its parent's, "~" and a number).
func margin(h event.Header) string {
	if h.DispatchID == "" {
		return ""
	}
	return strings.Repeat("  ", max(1, strings.Count(h.SessionID, "~")))
}

// quoterFor returns a quoter for words said in h's session, behind m.
func (f *Flow) quoterFor(h event.Header, m mark) quoter {
	return newQuoter(f.put, margin(h)+"  "+f.style.mark(m), f.style.Width)
}

// quoted prints text whole.
func (f *Flow) quoted(h event.Header, m mark, text string) {
	f.pauseStream()
	q := f.quoterFor(h, m)
	q.add(text)
	q.end()
}

func (f *Flow) pauseStream() {
	if f.stream != nil {
		f.stream.quote.pause()
	}
}

func (f *Flow) endStream() {
	if f.stream != nil {
		f.stream.quote.end()
		f.stream = nil
	}
}
