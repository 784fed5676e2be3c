package session

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// fixed reads a JSON object in the form that encodeFrame writes: fields in the
// order of the Go type, no space, no null. A record of any other form is left
// to encoding/json; this one exists because opening a long session is decoding.
type fixed struct {
	s     []byte
	bad   bool
	first bool // no field of the object has been read yet
}

// decodeFixed decodes the bodies that make up most of a journal. It reports
// false, with body in any state, when raw is not in the fixed form.
func decodeFixed(raw []byte, body Body) bool {
	f := fixed{s: raw}
	f.open()
	switch b := body.(type) {
	case *NewMessage:
		f.text(`"role":`, &b.Role)
		f.text(`"note":`, &b.Note)
		f.text(`"text":`, &b.Text)
	case *ModelSettled:
		f.model(b)
	case *Intent:
		f.text(`"call":`, &b.Call)
		f.json(`"args":`, &b.Args)
		f.truth(`"rerun":`, &b.Rerun)
		f.text(`"origin":`, &b.Origin)
	case *Result:
		f.text(`"call":`, &b.Call)
		f.text(`"status":`, &b.Status)
		f.text(`"text":`, &b.Text)
		f.text(`"rule":`, &b.Rule)
		f.text(`"reason":`, &b.Reason)
		f.number(`"ms":`, &b.Millis)
		f.truth(`"truncated":`, &b.Truncated)
		offload := int64(0)
		f.number(`"offload":`, &offload)
		b.Offload = int(offload)
		f.text(`"image":`, &b.Image)
		f.json(`"args":`, &b.Args)
	case *Moved:
		f.text(`"to":`, &b.To)
		var step string
		f.text(`"step":`, &step)
		b.Step = TrailKind(step)
		f.text(`"as":`, &b.As)
		f.text(`"reason":`, &b.Reason)
		f.text(`"call":`, &b.Call)
	default:
		return false
	}
	f.close()
	return !f.bad && len(f.s) == 0
}

func (f *fixed) model(b *ModelSettled) {
	f.text(`"role":`, &b.Role)
	f.text(`"state":`, &b.State)
	f.text(`"model":`, &b.Model)
	f.text(`"text":`, &b.Text)
	if f.field(`"calls":`) {
		f.byte('[')
		for more := true; more && !f.bad; {
			var c NewCall
			f.open()
			f.text(`"id":`, &c.ID)
			f.text(`"name":`, &c.Name)
			f.text(`"args":`, &c.Args)
			f.close()
			b.Calls = append(b.Calls, c)
			more = f.next(',')
		}
		f.byte(']')
	}
	f.text(`"reasoning":`, &b.Reasoning)
	f.truth(`"cut":`, &b.CutShort)
	if f.field(`"usage":`) {
		b.Usage = &Tokens{}
		f.open()
		f.number(`"in":`, &b.Usage.Input)
		f.number(`"out":`, &b.Usage.Output)
		f.number(`"cr":`, &b.Usage.CacheRead)
		f.number(`"cw":`, &b.Usage.CacheWrite)
		f.close()
	}
	var cost json.RawMessage
	if f.json(`"cost":`, &cost); cost != nil {
		b.CostUSD = new(float64)
		f.bad = f.bad || json.Unmarshal(cost, b.CostUSD) != nil
	}
	consumed := int64(0)
	f.number(`"consumed":`, &consumed)
	b.Consumed = int(consumed)
	f.text(`"error":`, &b.Error)
	f.text(`"prompt":`, &b.Prompt)
	upTo := int64(0)
	f.number(`"upTo":`, &upTo)
	b.UpTo = int(upTo)
}

func (f *fixed) next(c byte) bool {
	if len(f.s) == 0 || f.s[0] != c {
		return false
	}
	f.s = f.s[1:]
	return true
}

func (f *fixed) byte(c byte) { f.bad = !f.next(c) || f.bad }

func (f *fixed) open() {
	f.byte('{')
	f.first = true
}

func (f *fixed) close() {
	f.byte('}')
	f.first = false
}

// field consumes a key, as `"name":`, when it is the next.
func (f *fixed) field(key string) bool {
	s := f.s
	if !f.first {
		if len(s) == 0 || s[0] != ',' {
			return false
		}
		s = s[1:]
	}
	if f.bad || len(s) < len(key) || string(s[:len(key)]) != key {
		return false
	}
	f.s, f.first = s[len(key):], false
	return true
}

func (f *fixed) text(key string, to *string) {
	if !f.field(key) {
		return
	}
	raw := f.literal()
	if f.bad {
		return
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		*to = string(inner)
	} else if s, ok := unescape(inner); ok {
		*to = s
	} else {
		f.bad = json.Unmarshal(raw, to) != nil
	}
}

// literal consumes a string and returns it with its quotes.
func (f *fixed) literal() []byte {
	if len(f.s) == 0 || f.s[0] != '"' {
		f.bad = true
		return nil
	}
	for i := 1; ; i++ {
		j := bytes.IndexByte(f.s[i:], '"')
		if j < 0 {
			f.bad = true
			return nil
		}
		i += j
		slashes := 0
		for f.s[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			raw := f.s[:i+1]
			f.s = f.s[i+1:]
			f.bad = f.bad || !plainText(raw)
			return raw
		}
	}
}

// plainText reports UTF-8 without control characters, which JSON escapes.
func plainText(raw []byte) bool {
	for _, c := range raw {
		if c < 0x20 {
			return false
		}
	}
	return utf8.Valid(raw)
}

// unescape resolves the two-character escapes; ok is false when there are
// others.
func unescape(inner []byte) (s string, ok bool) {
	out := make([]byte, 0, len(inner))
	for len(inner) > 0 {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			out = append(out, inner...)
			break
		}
		out = append(out, inner[:i]...)
		if i+1 >= len(inner) {
			return "", false
		}
		switch c := inner[i+1]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		default:
			return "", false
		}
		inner = inner[i+2:]
	}
	return string(out), true
}

func (f *fixed) truth(key string, to *bool) {
	if !f.field(key) {
		return
	}
	switch {
	case bytes.HasPrefix(f.s, []byte("true")):
		*to, f.s = true, f.s[len("true"):]
	case bytes.HasPrefix(f.s, []byte("false")):
		*to, f.s = false, f.s[len("false"):]
	default:
		f.bad = true
	}
}

func (f *fixed) number(key string, to *int64) {
	if !f.field(key) {
		return
	}
	i := 0
	for i < len(f.s) && (f.s[i] >= '0' && f.s[i] <= '9' || f.s[i] == '-' && i == 0) {
		i++
	}
	v, err := strconv.ParseInt(string(f.s[:i]), 10, 64)
	digits := bytes.TrimPrefix(f.s[:i], []byte("-"))
	f.bad = f.bad || err != nil || len(digits) > 1 && digits[0] == '0'
	*to, f.s = v, f.s[i:]
}

// json consumes any value and copies it.
func (f *fixed) json(key string, to *json.RawMessage) {
	if !f.field(key) {
		return
	}
	depth := 0
	for i := 0; i < len(f.s) && !f.bad; i++ {
		switch f.s[i] {
		case '"':
			in := fixed{s: f.s[i:]}
			i += len(in.literal()) - 1
			f.bad = in.bad
			continue
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
			if depth >= 0 {
				continue
			}
		case ',':
			if depth > 0 {
				continue
			}
		default:
			continue
		}
		raw := f.s[:i]
		f.bad = !json.Valid(raw) || bytes.Equal(raw, []byte("null"))
		*to, f.s = bytes.Clone(raw), f.s[i:]
		return
	}
	f.bad = true
}
