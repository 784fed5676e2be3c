package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares what draw prints with testdata/<name>.
func golden(t *testing.T, name string, draw func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s differs (-golden +got); run with -update if the change is meant:\n%s", path, diff)
	}
	return b.String()
}

// Streams as tests know them.
var (
	pipe     = Style{}
	console  = Style{Color: true, Glyphs: true, TTY: true, Width: 80, Console: true}
	noColour = Style{TTY: true, Width: 80, Console: true}
)

var start = time.Date(2026, 3, 14, 9, 26, 53, 589_000_000, time.UTC)

// numbered gives payloads of session s1 their headers, a second apart.
func numbered(payloads ...event.Payload) []event.Event {
	events := make([]event.Event, len(payloads))
	for i, p := range payloads {
		events[i] = event.Event{Header: event.Header{
			Type: p.EventType(), Level: event.LevelOf(p), TS: start.Add(time.Duration(i) * time.Second), Seq: uint64(i + 1), SessionID: "s1",
		}, Payload: p}
	}
	return events
}

// journal numbers record bodies, a second apart.
func journal(bodies ...session.Body) []session.Record {
	records := make([]session.Record, len(bodies))
	for i, b := range bodies {
		records[i] = session.Record{V: session.Version, Seq: uint64(i + 1), TS: start.Add(time.Duration(i) * time.Second), Body: b}
	}
	return records
}

func each(records []session.Record) iter.Seq2[session.Record, error] {
	return func(yield func(session.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func folded(t *testing.T, records []session.Record) *session.State {
	t.Helper()
	st := session.NewState()
	for _, r := range records {
		if _, err := st.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func ptr[T any](v T) *T { return &v }
