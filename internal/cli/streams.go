package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// IOStreams is where a command reads and writes. Out holds the result and
// nothing else; Err the narration. Both hide secrets.
type IOStreams struct {
	In       io.Reader
	Out, Err io.Writer

	InTTY, OutTTY, ErrTTY bool
	SameTerminal          bool // Out and Err are the same terminal
	Width                 int  // columns of the terminal Err (else Out) is, 0 when neither is one

	out, err *redactor
}

// newStreams wraps the three streams, secrets hidden.
func newStreams(in io.Reader, out, err io.Writer, hidden *secrets) *IOStreams {
	o, e := &redactor{secrets: hidden, w: out}, &redactor{secrets: hidden, w: err}
	return &IOStreams{In: in, Out: o, Err: e, out: o, err: e}
}

// systemStreams are the process's own.
func systemStreams(hidden *secrets) *IOStreams {
	s := newStreams(os.Stdin, os.Stdout, os.Stderr, hidden)
	s.InTTY, s.OutTTY, s.ErrTTY = isTerminal(os.Stdin), isTerminal(os.Stdout), isTerminal(os.Stderr)
	s.SameTerminal = s.OutTTY && s.ErrTTY && sameFile(os.Stdout, os.Stderr)
	for _, f := range []*os.File{os.Stderr, os.Stdout} {
		if s.Width == 0 && isTerminal(f) {
			s.Width, _, _ = term.GetSize(int(f.Fd()))
		}
	}
	return s
}

func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

func sameFile(a, b *os.File) bool {
	x, errA := a.Stat()
	y, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// CanAsk reports whether a person is there to answer a question.
func (s *IOStreams) CanAsk() bool { return s.InTTY && s.ErrTTY }

// Flush writes out what the redactors hold back.
func (s *IOStreams) Flush() {
	s.out.Flush()
	s.err.Flush()
}

// resultErr is what went wrong with standard output, worded for a person, or
// nil. Standard error is best effort: there is nobody to tell.
func (s *IOStreams) resultErr() error {
	err := s.out.Flush()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EPIPE):
		return &failure{message: "standard output was closed before the whole result was written (broken pipe)", hint: "what the command did is kept; `archmax sessions` shows it", err: err}
	}
	return &failure{message: fmt.Sprintf("cannot write the result to standard output: %s", cause(err)), hint: "what the command did is kept; `archmax sessions` shows it", err: err}
}
