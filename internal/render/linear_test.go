package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// floods are texts that once took time in the square of their length, or may.
var floods = []struct {
	name string
	text func(size int) string
}{
	{"no spaces", func(size int) string { return strings.Repeat("x", size) }},
	{"escape sequences", func(size int) string { return strings.Repeat("\x1b[31m", size/5) }},
	{"combining characters", func(size int) string { return "e" + strings.Repeat("\u0301", size/2) }},
	{"wide characters", func(size int) string { return strings.Repeat("返", size/3) }},
	{"blanks before a word", func(size int) string { return "a" + strings.Repeat(" ", size) + "b" }},
	{"line breaks before a word", func(size int) string { return "a" + strings.Repeat("\n", size) + "b" }},
	{"broken characters", func(size int) string { return strings.Repeat("\xff", size) }},
	{"single letters", func(size int) string { return strings.Repeat("a ", size/2) }},
}

// drawings are the ways of a text to a person.
var drawings = []struct {
	name string
	draw func(w io.Writer, text string) error
}{
	{"words on a console", func(w io.Writer, text string) error {
		return draw(console, numbered(event.AgentText{State: "triage", Text: text, MessageID: "m1"})...)(w)
	}},
	{"words in a pipe", func(w io.Writer, text string) error {
		return draw(pipe, numbered(event.AgentText{State: "triage", Text: text, MessageID: "m1"})...)(w)
	}},
	{"one delta, then the words", func(w io.Writer, text string) error {
		return draw(console, numbered(
			event.AgentTextDelta{State: "triage", Text: text, MessageID: "m1"},
			event.AgentText{State: "triage", Text: text + " more", MessageID: "m1"},
		)...)(w)
	}},
	{"a call's arguments and failure", func(w io.Writer, text string) error {
		args, err := json.Marshal(map[string]any{"a": text, "b": []string{text}})
		if err != nil {
			return err
		}
		return draw(console, numbered(
			event.ToolCalled{State: "triage", Tool: "lookup", CallID: "c1", Args: args},
			event.ToolResult{State: "triage", Tool: "lookup", CallID: "c1", Status: "error", Output: text},
		)...)(w)
	}},
	{"a reason", func(w io.Writer, text string) error {
		return draw(console, numbered(event.Advance{From: "triage", To: "payout", Reason: text})...)(w)
	}},
	{"a record to decide on", func(w io.Writer, text string) error {
		return Park(w, console, "s1", session.Decision, &session.Pending{
			State: "review", Instructions: text, Approvers: text, Evidence: []string{text},
			Transitions: []session.PendingTransition{{To: "payout", Description: text}},
		}, VerdictOptions{})
	}},
	{"a reply", func(w io.Writer, text string) error { return Reply(w, console, text) }},
	{"a transcript", func(w io.Writer, text string) error {
		return Transcript(w, console, SessionLog{
			Messages: []LogMessage{{Role: "assistant", Text: text, ToolCalls: []LogCall{{Tool: "lookup", Args: logArgs(text)}}}},
			Trail:    []runtime.TrailStep{{To: "triage", Reason: text}},
		})
	}},
	{"a table on a console", func(w io.Writer, text string) error { return SessionsTable(w, console, flooded(text), start) }},
	{"a table in a pipe", func(w io.Writer, text string) error { return SessionsTable(w, pipe, flooded(text), start) }},
}

func flooded(text string) Sessions {
	list := []Summary{Damaged("s0", errors.New(text))}
	for range 50 {
		list = append(list, Summary{SessionID: "s1", Title: "short", Status: session.StatusCompleted})
	}
	return NewSessions(append(list, Summary{SessionID: "s2", Title: text}))
}

func TestFiveMegabytesAreDrawnAtOnce(t *testing.T) {
	const size = 5 << 20
	for i, flood := range floods[:3] {
		text := flood.text(size)
		for j, d := range drawings[:5] {
			if i > 0 && j > 0 {
				continue // every text, and every drawing, once
			}
			var b bytes.Buffer
			if err := d.draw(&b, text); err != nil {
				t.Fatalf("%s, %s: %v", d.name, flood.name, err)
			}
			// Escapes are spelled out, every line has a margin, a record says the
			// text four times; nothing is written once for each other thing.
			if b.Len() > 40*size {
				t.Errorf("%s, %s: %d bytes became %d", d.name, flood.name, size, b.Len())
			}
		}
	}
}

// Every text in every drawing, long enough that a drawing whose time grows with
// the square of its text would not end before the tests' own time limit.
func TestEveryDrawingOfALongTextEnds(t *testing.T) {
	const size = 512 << 10
	for _, flood := range floods {
		text := flood.text(size)
		for _, d := range drawings {
			if err := d.draw(io.Discard, text); err != nil {
				t.Errorf("%s, %s: %v", d.name, flood.name, err)
			}
		}
	}
}

func TestDeltasOfOneLetterAreAllDrawn(t *testing.T) {
	var b bytes.Buffer
	f := NewFlow(&b, Style{Width: 80, TTY: true}, FlowOptions{Now: func() time.Time { return start }})
	const letters = 200_000
	for range letters {
		f.Event(numbered(event.AgentTextDelta{State: "triage", Text: "x", MessageID: "m1"})[0])
	}
	f.Event(numbered(event.AgentText{State: "triage", Text: strings.Repeat("x", letters), MessageID: "m1"})[0])
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "x"); got != letters {
		t.Errorf("%d letters were drawn, want %d", got, letters)
	}
}
