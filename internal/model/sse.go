package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxEvent bounds one server-sent event.
const maxEvent = 16 << 20

var errEventTooLong = errors.New("a server-sent event is longer than 16 MiB")

// sseReader reads the data of server-sent events. It takes what providers send:
// comments, blank lines, LF, CRLF or CR, no space after the colon, a byte order
// mark, events that no blank line ends. Payloads here are JSON or [DONE], so a
// data line that is a whole payload is an event at once, without waiting for a
// blank line that some servers never send; one JSON text over several data
// lines is joined as the standard says.
type sseReader struct {
	r      *bufio.Reader
	max    int // bytes of one event
	line   []byte
	data   []byte // data lines of an event that is not whole yet
	open   bool   // data holds at least one line
	skipLF bool   // the last line ended in CR: an LF now belongs to it
	begun  bool
	err    error
}

func newSSEReader(r *bufio.Reader) *sseReader { return &sseReader{r: r, max: maxEvent} }

// next returns the data of the next event; the bytes are valid until the next
// call. The error is io.EOF at the end of the stream.
func (s *sseReader) next() ([]byte, error) {
	if !s.open {
		s.data = s.data[:0]
	}
	for s.err == nil {
		line, err := s.readLine()
		if err != nil {
			s.err = err
			if len(line) == 0 {
				break
			}
		}
		if len(line) == 0 {
			if s.open {
				return s.take(), nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue // a comment, an event name, an id, a retry time
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if s.open {
			s.data = append(s.data, '\n')
		}
		s.data = append(s.data, value...)
		if len(s.data) > s.max {
			s.err, s.open = errEventTooLong, false
			break
		}
		if !s.open && whole(value) {
			return s.data, nil
		}
		s.open = true
	}
	if s.open && len(s.data) > 0 {
		return s.take(), nil
	}
	return nil, s.err
}

func (s *sseReader) take() []byte {
	s.open = false
	return s.data
}

// whole reports whether one data line is a payload of its own.
func whole(line []byte) bool {
	return isDone(line) || json.Valid(line)
}

// isDone reports whether an event's data is the end marker.
func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// readLine returns the next line without its end. At the end of the stream it
// returns what is left, perhaps nothing, with io.EOF.
func (s *sseReader) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return s.trimmed(), err
		}
		if s.skipLF {
			s.skipLF = false
			if c == '\n' {
				continue
			}
		}
		switch c {
		case '\n':
			return s.trimmed(), nil
		case '\r':
			s.skipLF = true
			return s.trimmed(), nil
		}
		if len(s.line) > s.max {
			return nil, errEventTooLong
		}
		s.line = append(s.line, c)
	}
}

// trimmed is the line, without the byte order mark a stream may begin with.
func (s *sseReader) trimmed() []byte {
	if !s.begun {
		s.begun = true
		s.line = bytes.TrimPrefix(s.line, []byte("\ufeff"))
	}
	return s.line
}

// looksLikeEvents reports, from the first bytes of a body, whether it is an
// event stream rather than one JSON document: some servers stream unasked, and
// some answer a request for a stream with a document.
func looksLikeEvents(r *bufio.Reader) (bool, error) {
	for n := 1; n <= 4096; n++ {
		b, err := r.Peek(n)
		if err != nil {
			if errors.Is(err, io.EOF) && n > 1 {
				return false, nil
			}
			return false, err
		}
		switch b[n-1] {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF: // white space or a byte order mark
		case '{', '[', '<':
			return false, nil
		default:
			return true, nil
		}
	}
	return true, nil
}
