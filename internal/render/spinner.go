package render

import (
	"sync"
	"time"
)

// The spinner turns every spinEvery, and shows once nothing was drawn for
// spinAfter.
const (
	spinEvery = 100 * time.Millisecond
	spinAfter = 400 * time.Millisecond
)

var (
	spinGlyphs = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	spinASCII  = []string{"-", `\`, "|", "/"}
)

// eraseLine returns to the first column and clears the line.
const eraseLine = "\r\x1b[K"

// spinner shows, on a terminal, that a silent model or tool is at work, and for
// how long. Its fields are guarded by the Flow's mutex.
type spinner struct {
	flow  *Flow
	since time.Time // when the last thing was drawn
	shown bool
	frame int

	once sync.Once
	quit chan struct{} // closed by stop
	done chan struct{} // closed by the goroutine
}

func newSpinner(f *Flow) *spinner {
	s := &spinner{flow: f, since: f.opts.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *spinner) run() {
	defer close(s.done)
	tick := time.NewTicker(spinEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
			s.flow.mu.Lock()
			s.flow.raw(s.turn())
			s.flow.mu.Unlock()
		}
	}
}

// stop ends the goroutine and waits for it.
func (s *spinner) stop() {
	s.once.Do(func() { close(s.quit) })
	<-s.done
}

// hide returns what takes the spinner off the screen.
func (s *spinner) hide() string {
	s.since = s.flow.opts.Now()
	if !s.shown {
		return ""
	}
	s.shown = false
	return eraseLine
}

// turn returns what shows the next frame: nothing while words are on an open
// line, or when something was drawn just now.
func (s *spinner) turn() string {
	f := s.flow
	elapsed := f.opts.Now().Sub(s.since)
	if elapsed < spinAfter || f.stream != nil && f.stream.quote.open {
		return ""
	}
	frames := spinASCII
	if f.style.Glyphs {
		frames = spinGlyphs
	}
	what := "waiting for the model"
	if n := len(f.calls); n > 0 {
		what = "running " + OneLine(f.calls[n-1].tool)
	}
	s.frame++
	s.shown = true
	text := "  " + frames[s.frame%len(frames)] + " " + what + " " + elapsed.Truncate(time.Second).String()
	if f.style.Width > 0 {
		text = cut(text, f.style.Width-1)
	}
	return eraseLine + f.style.paint(dim, text)
}
