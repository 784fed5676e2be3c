package session

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
)

var (
	docKind    = regexp.MustCompile("(?s)### ([a-z]+)\n.*?```json\n(.*?)\n```")
	docFrame   = regexp.MustCompile("(?s)```jsonl\n(.*?)```")
	docHeading = regexp.MustCompile("(?m)^### ")
)

func TestTheDocumentShowsEveryKindWithAnExample(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "journal.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc = bytes.ReplaceAll(doc, []byte("\r\n"), []byte("\n"))
	shown := map[Kind]bool{}
	for _, m := range docKind.FindAllSubmatch(doc, -1) {
		kind, example := Kind(m[1]), m[2]
		shown[kind] = true
		rec, err := decodeRecord(bytes.Clone(example))
		if err != nil || rec.Body.Kind() != kind {
			t.Errorf("%s: %v, %v", kind, rec.Body, err)
			continue
		}
		// The example sets every field, has no other, and is what is written.
		body := reflect.ValueOf(rec.Body).Elem()
		for i := range body.NumField() {
			name := body.Type().Field(i).Name
			if body.Field(i).IsZero() {
				t.Errorf("%s: the example leaves out %s", kind, name)
			}
		}
		switch rec.Body.(type) {
		case *NewMessage, *ModelSettled, *Intent, *Result, *Moved: // most of a journal
			if _, raw, ok := fixedHeader(bytes.Clone(example)); !ok || !decodeFixed(raw, newBody(kind)) {
				t.Errorf("%s: the fast decoder does not know every field", kind)
			}
		}
		frame, _, err := encodeFrame(rec.Seq, rec.TS, []Body{rec.Body})
		if err != nil {
			t.Fatal(err)
		}
		cut, _, _, _ := commitOf(bytes.TrimSuffix(frame, []byte("\n")))
		if got := string(frame[:cut]) + "}"; got != string(example) {
			t.Errorf("%s: the example is\n%s\nwhat is written is\n%s", kind, example, got)
		}
	}
	for _, kind := range everyKind {
		if !shown[kind] {
			t.Errorf("%s has no example", kind)
		}
	}
	if n := len(docHeading.FindAll(doc, -1)); n != len(everyKind) || len(shown) != n {
		t.Errorf("the document has %d kinds, the journal %d", n, len(everyKind))
	}

	frame := docFrame.FindSubmatch(doc)
	if frame == nil {
		t.Fatal("the document shows no frame")
	}
	if lines, used, _, bad := cutFrames(bytes.Clone(frame[1]), mark{seq: 2}); len(lines) != 2 || used != len(frame[1]) || bad {
		t.Errorf("the documented frame is not committed: %d lines, %d of %d bytes", len(lines), used, len(frame[1]))
	}
}

// everyKind is checked against the switch that decodes bodies, so that neither
// is forgotten when a kind is added.
func TestEveryKindHasABodyOfItsOwn(t *testing.T) {
	src, err := os.ReadFile("record.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\tKind[A-Z]\w+ +Kind = "([a-z]+)"`).FindAllSubmatch(src, -1)
	if len(declared) != len(everyKind) {
		t.Errorf("%d kinds are declared, %d are tested", len(declared), len(everyKind))
	}
	for _, m := range declared {
		if body := newBody(Kind(m[1])); body == nil || body.Kind() != Kind(m[1]) {
			t.Errorf("%s decodes to %v", m[1], body)
		}
	}
	if newBody("none") != nil {
		t.Error("an unknown kind has a body")
	}
}
