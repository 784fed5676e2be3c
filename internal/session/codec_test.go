package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everyKind lists the record kinds.
var everyKind = []Kind{
	KindCreated, KindTurn, KindMessage, KindModel, KindIntent, KindResult, KindMoved, KindVariables, KindParked,
	KindDecided, KindDelivered, KindRaised, KindSettled, KindWarning, KindTodos, KindCompacted,
}

func TestAFrameIsLinesWithACommitOnTheLast(t *testing.T) {
	frame, _, err := encodeFrame(7, testStart, []Body{&Warned{Scope: "a", Message: "<x> & y"}, &Todos{Items: []Todo{}}})
	if err != nil {
		t.Fatal(err)
	}
	covered := `{"v":1,"seq":7,"ts":"2026-03-04T05:06:07.008Z","kind":"warning","scope":"a","message":"<x> & y"}` + "\n" +
		`{"v":1,"seq":8,"ts":"2026-03-04T05:06:07.008Z","kind":"todos","items":[]`
	want := covered + fmt.Sprintf(`,"commit":{"n":2,"crc":%d}}`, crc32.Checksum([]byte(covered), crc32.MakeTable(crc32.Castagnoli))) + "\n"
	if string(frame) != want {
		t.Errorf("got\n%s\nwant\n%s", frame, want)
	}
}

func TestABodyWithoutFieldsIsARecord(t *testing.T) {
	rec, err := decodeRecord([]byte(`{"v":1,"seq":1,"ts":"2026-03-04T05:06:07.008Z","kind":"todos"}`))
	if err != nil || rec.Seq != 1 || !rec.TS.Equal(testStart) || rec.Body.Kind() != KindTodos {
		t.Errorf("%+v, %v", rec, err)
	}
}

// A record's own fields and its body's share one object.
func TestNoBodyHasAFieldOfTheRecordsOwn(t *testing.T) {
	for _, kind := range everyKind {
		body := reflect.TypeOf(newBody(kind)).Elem()
		for i := range body.NumField() {
			name, _, _ := strings.Cut(body.Field(i).Tag.Get("json"), ",")
			for _, own := range []string{"v", "seq", "ts", "kind", "commit"} {
				if strings.EqualFold(name, own) {
					t.Errorf("%s has a field %q", kind, name)
				}
			}
		}
	}
}

// generalDecode is what decodeRecord would do without its fast paths.
func generalDecode(line []byte) (Record, error) {
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return Record{}, err
	}
	body := newBody(h.Kind)
	if body == nil || h.V != Version {
		return Record{}, unknownError{}
	}
	return Record{V: h.V, Seq: h.Seq, TS: h.TS.UTC(), Body: body}, json.Unmarshal(line, body)
}

func TestTheFastDecoderAgreesWithTheGeneralOne(t *testing.T) {
	var lines [][]byte
	for seed := range uint64(20) {
		g := newGenerator(t, "s1", seed)
		for range 60 {
			g.frame()
		}
		lines = append(lines, bytes.Split(bytes.TrimSuffix(g.bytes, []byte("\n")), []byte("\n"))...)
	}
	for _, odd := range []string{
		`"role":"user","text":"a\u00e9\ud83d\ude00\ud800"`, `"text":"before","role":"user"`, `"role":"user","text":"x","extra":{"a":[1]}`,
		`"role":null,"text":"x"`, `"ROLE":"user"`, `"role":"user","role":"note","text":"x"`, `"role":"user" , "text" : "x"`,
		`"role":"user","text":"` + "\xff" + `"`, `"role":"user","text":"` + "\x01" + `"`, `"role":7`, `"role":"a\q"`, `"role":"a`,
	} {
		lines = append(lines, []byte(`{"v":1,"seq":3,"ts":"2026-03-04T05:06:07.008Z","kind":"message",`+odd+`}`))
	}
	for _, odd := range []string{
		`"call":"c","status":"ok","text":"","ms":-1`, `"call":"c","status":"ok","text":"","ms":01`, `"call":"c","status":"ok","text":"","ms":1.5`,
		`"call":"c","status":"ok","text":"","ms":9223372036854775808`, `"call":"c","status":"ok","text":"","truncated":true,"offload":4,"args":{"a":"}"}`,
		`"call":"c","status":"ok","text":"","args":{]}`, `"call":"c","status":"ok","text":"","args":null`, `"call":"c","status":"ok","text":"","truncated":tru`,
		`"call":"c","status":"ok","text":"","args":1}`, `"call":"c","status":"ok","text":"","args":`,
	} {
		lines = append(lines, []byte(`{"v":1,"seq":3,"ts":"2026-03-04T05:06:07.008Z","kind":"result",`+odd+`}`))
	}
	for _, odd := range []string{
		`{"seq":3,"v":1,"kind":"warning","ts":"2026-03-04T05:06:07.008Z"}`, `{"v":1,"seq":3,"ts":"2026-03-04T07:06:07.008+02:00","kind":"warning"}`,
		`{"v":1,"seq":3,"ts":"2026-13-04T05:06:07.008Z","kind":"warning"}`, `{"v":1,"seq":3,"ts":"2026-02-30T05:06:07.008Z","kind":"warning"}`,
		`{"v":1,"seq":-3,"ts":"2026-02-20T05:06:07.008Z","kind":"warning"}`, `{"v":1}`, `[]`, ``, `{"v":1,"seq":3,"ts":"","kind":"warning"}`,
	} {
		lines = append(lines, []byte(odd))
	}
	fast := 0
	for _, line := range lines {
		if cut, _, _, ok := commitOf(line); ok {
			line = append(line[:cut:cut], '}')
		}
		want, wantErr := generalDecode(line)
		got, err := decodeRecord(bytes.Clone(line))
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s\ngot error %v, want %v", line, err, wantErr)
			continue
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
		if _, rest, ok := fixedHeader(bytes.Clone(line)); ok && err == nil && decodeFixed(rest, newBody(got.Body.Kind())) {
			fast++
		}
	}
	if fast < len(lines)/3 {
		t.Errorf("only %d of %d records took the fast path", fast, len(lines))
	}
}

func TestWhatIsTooLargeIsRefusedBeforeItIsWritten(t *testing.T) {
	big := strings.Repeat("x", MaxLine-20)
	if _, _, err := encodeFrame(1, testStart, []Body{&NewMessage{Role: "user", Text: big}}); err == nil || !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("a line over 64 MiB: %v", err)
	}
	for _, c := range []struct {
		line, frame int
		ok          bool
	}{
		{1, 1, true},
		{MaxLine - maxCommit, MaxFrame - maxCommit, true},
		{MaxLine - maxCommit + 1, MaxFrame - maxCommit, false},
		{1, MaxFrame - maxCommit + 1, false},
	} {
		if err := checkSize(KindMessage, c.line, c.frame); (err == nil) != c.ok {
			t.Errorf("a line of %d bytes in a frame of %d: %v", c.line, c.frame, err)
		}
	}
	if longest := len(`,"commit":{"n":,"crc":4294967295}}`+"\n") + len("134217728"); longest > maxCommit {
		t.Errorf("a commit may take %d bytes", longest)
	}
}

func TestALongLineIsReadAcrossBlocks(t *testing.T) {
	var raw []byte
	seq := uint64(1)
	for _, size := range []int{10, blockSize - 100, blockSize + 1, 3 * blockSize, 10} {
		frame, recs, err := encodeFrame(seq, testStart, []Body{&NewMessage{Text: strings.Repeat("x", size)}, &Warned{}})
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, frame...)
		seq += uint64(len(recs))
	}
	var sizes []int
	last, torn, err := scan("x", bytes.NewReader(raw), int64(len(raw)), mark{}, func(recs []Record) error {
		for _, rec := range recs {
			if m, ok := rec.Body.(*NewMessage); ok {
				sizes = append(sizes, len(m.Text))
			}
		}
		return nil
	})
	if want := []int{10, blockSize - 100, blockSize + 1, 3 * blockSize, 10}; err != nil || torn || last.seq != 10 || !slices.Equal(sizes, want) {
		t.Errorf("%+v, torn %v, %v, sizes %v", last, torn, err, sizes)
	}
}
