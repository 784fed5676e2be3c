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

// Header prints what runs, where and on which model ("" when it is not known
// yet), then each note on a line of its own.
func (f *Flow) Header(workflow, workspace, model string, notes ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hide()
	parts := []string{f.style.paint(bold, OneLine(workflow)), f.style.paint(dim, "workspace ") + OneLine(workspace)}
	if model != "" {
		parts = append(parts, f.style.paint(dim, "model ")+OneLine(model))
	}
	f.put(strings.Join(parts, f.style.paint(dim, " · ")) + "\n")
	for _, note := range notes {
		f.put("  " + f.style.paint(dim, OneLine(note)) + "\n")
	}
	f.put("\n")
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

// put writes text as it is. A failed write ends the drawing, never the run.
func (f *Flow) put(text string) {
	if f.err == nil {
		_, f.err = io.WriteString(f.w, text)
	}
}

// hide takes the spinner off the screen and starts its wait anew.
func (f *Flow) hide() {
	if f.spin != nil {
		f.put(f.spin.hide())
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
	line := margin(h) + f.style.mark(markState) + " " + f.style.paint(bold, OneLine(state))
	if kind != "" {
		line += f.style.paint(dim, " ("+OneLine(kind)+")")
	}
	if h.DispatchID != "" {
		line += f.style.paint(dim, " in "+OneLine(h.SessionID))
	}
	if note != "" {
		line += f.style.paint(dim, " · "+OneLine(note))
	}
	f.put(line + "\n")
	f.last = place{h.SessionID, state}
	f.seen[f.last] = true
	f.flushHeld()
}

// inside prints a line within the state.
func (f *Flow) inside(h event.Header, line string) {
	f.pauseStream()
	f.put(margin(h) + "  " + line + "\n")
}

// fact prints a line within the state, or holds it until there is one.
func (f *Flow) fact(h event.Header, line string) {
	if f.last == (place{}) {
		f.held = append(f.held, margin(h)+"  "+line+"\n")
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
	prefix := margin(h) + "  " + f.style.mark(m)
	q := quoter{write: f.put, prefix: prefix}
	if f.style.Width > 0 {
		q.columns = max(20, f.style.Width-width(prefix)-2)
	}
	return q
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
