package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

// The largest record and frame, in bytes. What is larger is refused before it
// is written and taken for damage when it is read.
const (
	MaxLine  = 64 << 20
	MaxFrame = 2 * MaxLine
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeFrame writes bodies as the frame whose first record has number seq, and
// returns it with its records as a reader of the bytes will decode them, so
// that what is folded now and what is folded on reopening cannot differ.
func encodeFrame(seq uint64, now time.Time, bodies []Body) ([]byte, []Record, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	recs := make([]Record, len(bodies))
	ts := now.UTC().AppendFormat(nil, event.TimeFormat)
	for i, body := range bodies {
		start := buf.Len()
		fmt.Fprintf(&buf, `{"v":%d,"seq":%d,"ts":"%s","kind":"%s"`, Version, seq+uint64(i), ts, body.Kind())
		at := buf.Len()
		if err := enc.Encode(body); err != nil {
			return nil, nil, fmt.Errorf("a %q record cannot be written: %w", body.Kind(), err)
		}
		if string(buf.Bytes()[at:]) == "{}\n" {
			buf.Truncate(at)
			buf.WriteString("}\n")
		} else {
			buf.Bytes()[at] = ','
		}
		if err := checkSize(body.Kind(), buf.Len()-start, buf.Len()); err != nil {
			return nil, nil, err
		}
		// Decoding changes its input, so it is given a copy.
		rec, err := decodeRecord(bytes.Clone(buf.Bytes()[start : buf.Len()-1]))
		if err != nil {
			return nil, nil, fmt.Errorf("a %q record cannot be read back: %w", body.Kind(), err)
		}
		recs[i] = rec
	}
	buf.Truncate(buf.Len() - len("}\n"))
	crc := crc32.Checksum(buf.Bytes(), castagnoli)
	fmt.Fprintf(&buf, `,"commit":{"n":%d,"crc":%d}}`+"\n", len(bodies), crc)
	return buf.Bytes(), recs, nil
}

// maxCommit bounds the bytes of a commit field.
const maxCommit = 64

// checkSize refuses a record of so many bytes, in a frame that has so many with
// it, when a reader would take it for damage.
func checkSize(kind Kind, line, frame int) error {
	if limit := MaxLine - maxCommit; line > limit {
		return fmt.Errorf("a %q record of %d bytes is over the limit of %d; make the content smaller", kind, line, limit)
	}
	if limit := MaxFrame - maxCommit; frame > limit {
		return fmt.Errorf("a step of %d bytes is over the limit of %d; make the content smaller", frame, limit)
	}
	return nil
}

// commitOf finds the commit field that ends a line (without its newline): at is
// where its comma stands. It cannot be mistaken for content: a quote inside a
// string is escaped, and one brace fewer would close a nested object.
func commitOf(line []byte) (at, n int, crc uint32, ok bool) {
	i := len(line)
	if i < 2 || line[i-1] != '}' || line[i-2] != '}' {
		return 0, 0, 0, false
	}
	sum, i, ok := numberBefore(line, i-2)
	if !ok || !bytes.HasSuffix(line[:i], []byte(`,"crc":`)) || sum > 1<<32-1 {
		return 0, 0, 0, false
	}
	count, i, ok := numberBefore(line, i-len(`,"crc":`))
	if !ok || !bytes.HasSuffix(line[:i], []byte(`,"commit":{"n":`)) || count == 0 || count > MaxFrame {
		return 0, 0, 0, false
	}
	return i - len(`,"commit":{"n":`), int(count), uint32(sum), true
}

// numberBefore reads the digits that end at end; start is the first one's.
func numberBefore(line []byte, end int) (v uint64, start int, ok bool) {
	start = end
	for start > 0 && end-start < 11 && line[start-1] >= '0' && line[start-1] <= '9' {
		start--
	}
	for _, c := range line[start:end] {
		v = v*10 + uint64(c-'0')
	}
	return v, start, start < end
}

// header is a record's own fields, read the general way.
type header struct {
	V    int       `json:"v"`
	Seq  uint64    `json:"seq"`
	TS   time.Time `json:"ts"`
	Kind Kind      `json:"kind"`
}

// unknownError says that a record is none this program knows.
type unknownError struct {
	v    int
	kind Kind
}

func (e unknownError) Error() string { return fmt.Sprintf("version %d, kind %q", e.v, e.kind) }

// decodeRecord reads one record: a JSON object, its commit field cut out. It
// overwrites bytes of line. An unknownError names a version or kind that this
// program does not know.
func decodeRecord(line []byte) (Record, error) {
	h, rest, ok := fixedHeader(line)
	if !ok {
		if err := json.Unmarshal(line, &h); err != nil {
			return Record{}, fmt.Errorf("it is no record")
		}
		h.TS = h.TS.UTC()
		rest = line
	}
	if h.V != Version {
		return Record{}, unknownError{v: h.V}
	}
	body := newBody(h.Kind)
	if body == nil {
		return Record{}, unknownError{v: h.V, kind: h.Kind}
	}
	if !decodeFixed(rest, body) {
		body = newBody(h.Kind)
		if err := json.Unmarshal(rest, body); err != nil {
			return Record{}, fmt.Errorf("its %q fields are not what that kind holds", h.Kind)
		}
	}
	return Record{V: h.V, Seq: h.Seq, TS: h.TS, Body: body}, nil
}

// fixedHeader reads a header in the order and form that encodeFrame writes. The
// rest is the body as a JSON object of its own, made by putting a brace in
// place of the comma before it.
func fixedHeader(line []byte) (h header, rest []byte, ok bool) {
	s := line
	cut := func(prefix string) bool {
		if len(s) < len(prefix) || string(s[:len(prefix)]) != prefix {
			return false
		}
		s = s[len(prefix):]
		return true
	}
	number := func() (uint64, bool) {
		i := 0
		var v uint64
		for i < len(s) && i < 19 && s[i] >= '0' && s[i] <= '9' {
			v = v*10 + uint64(s[i]-'0')
			i++
		}
		s = s[i:]
		return v, i > 0
	}
	if !cut(`{"v":`) {
		return h, nil, false
	}
	v, ok := number()
	if !ok || !cut(`,"seq":`) {
		return h, nil, false
	}
	seq, ok := number()
	if !ok || !cut(`,"ts":"`) || len(s) < len("2006-01-02T15:04:05.000Z") {
		return h, nil, false
	}
	ts, ok := fixedTime(s[:24])
	s = s[24:]
	if !ok || !cut(`","kind":"`) {
		return h, nil, false
	}
	end := bytes.IndexByte(s, '"')
	if end < 0 || end+1 >= len(s) {
		return h, nil, false
	}
	h = header{V: int(v), Seq: seq, TS: ts, Kind: Kind(s[:end])}
	s = s[end+1:]
	switch {
	case s[0] == ',':
		s[0] = '{'
	case string(s) == "}":
		s = []byte("{}")
	default:
		return h, nil, false
	}
	return h, s, true
}

// fixedTime reads event.TimeFormat in UTC, 24 bytes.
func fixedTime(s []byte) (time.Time, bool) {
	if s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[19] != '.' || s[23] != 'Z' {
		return time.Time{}, false
	}
	good := true
	num := func(from, to int) (v int) {
		for _, c := range s[from:to] {
			good = good && c >= '0' && c <= '9'
			v = v*10 + int(c-'0')
		}
		return v
	}
	year, month, day := num(0, 4), num(5, 7), num(8, 10)
	hour, minute, sec, ms := num(11, 13), num(14, 16), num(17, 19), num(20, 23)
	t := time.Date(year, time.Month(month), day, hour, minute, sec, ms*1e6, time.UTC)
	// Out-of-range parts would be carried over silently.
	good = good && t.Day() == day && int(t.Month()) == month && t.Hour() == hour && t.Minute() == minute && t.Second() == sec
	return t, good
}

// peekVersion returns the version that a complete line claims, 0 when it is no
// record at all.
func peekVersion(line []byte) int {
	var h struct {
		V int `json:"v"`
	}
	if json.Unmarshal(line, &h) != nil {
		return 0
	}
	return h.V
}

// firstRecord is where a record may begin, for finding frames past damage.
var firstRecord = []byte(`{"v":` + strconv.Itoa(Version) + `,"seq":`)
