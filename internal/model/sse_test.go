package model

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readEvents(r io.Reader) ([]string, error) {
	s := newSSEReader(bufio.NewReader(r))
	var out []string
	for {
		data, err := s.next()
		if err != nil {
			return out, err
		}
		out = append(out, string(data))
	}
}

func TestServerSentEvents(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"none", "", nil},
		{"one", "data: {}\n\n", []string{"{}"}},
		{"one without an end", "data: {}", []string{"{}"}},
		{"one space is taken off, no more", "data:  {}\n\n", []string{" {}"}},
		{"other fields and comments are passed over", ":c\nid: 1\nevent: x\ndata: 1\nretry: 2\n\ndatax: 3\n\n", []string{"1"}},
		{"several data lines are joined", "data: {\ndata: }\n\n", []string{"{\n}"}},
		{"a field name alone is an empty line of data", "data\ndata: x\n\n", []string{"\nx"}},
		{"what is no JSON ends at the blank line", "data: oops\n\ndata: [DONE]\n\n", []string{"oops", "[DONE]"}},
		{"CRLF, CR and LF are one line end", "data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n", []string{"1", "2", "3"}},
		{"a byte order mark at the start", "\ufeffdata: 1\n\n", []string{"1"}},
		{"no byte order mark elsewhere", "\n\ufeffdata: 1\n\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"at once":          strings.NewReader(tt.stream),
				"one byte a read":  iotest.OneByteReader(strings.NewReader(tt.stream)),
				"with data at EOF": iotest.DataErrReader(strings.NewReader(tt.stream)),
			} {
				got, err := readEvents(r)
				if d := cmp.Diff(tt.want, got); d != "" || !errors.Is(err, io.EOF) {
					t.Errorf("%s: %v\n%s", name, err, d)
				}
			}
		})
	}
}

func TestAnEventIsBounded(t *testing.T) {
	for name, stream := range map[string]string{
		"one long line": "data: " + strings.Repeat("x", 200),
		"many lines":    strings.Repeat("data: xxxxxxxxxx\n", 20),
	} {
		s := newSSEReader(bufio.NewReader(strings.NewReader(stream)))
		s.max = 100
		if data, err := s.next(); !errors.Is(err, errEventTooLong) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
}

// FuzzSSE holds that a stream reads the same however it is cut up, that nothing
// is read into it, and that the reader of answers ends with an answer or an
// error on any bytes.
func FuzzSSE(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]}}]}\r\n\r\n",
		"data: {\"error\":{\"message\":\"x\",\"code\":429}}\n\n",
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1e99,\"prompt_tokens_details\":[]}}\n\n",
		": c\n\ndata\ndata: {\ndata: }\n\n", "\ufeffdata: 1\r\rdata: 2", "{\"choices\":[]}", "<html>",
		"data: {\"choices\":[{\"delta\":{\"content\":[\"a\",{\"text\":\"b\"},null]}}]}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole, err := readEvents(bytes.NewReader(stream))
		cut, cutErr := readEvents(iotest.OneByteReader(bytes.NewReader(stream)))
		if !errors.Is(err, io.EOF) || !errors.Is(cutErr, io.EOF) {
			t.Fatalf("the stream ends with %v and %v", err, cutErr)
		}
		if d := cmp.Diff(whole, cut); d != "" {
			t.Fatal(d)
		}
		size := 0
		ep := &endpoint{shown: "x"}
		var a answer
		for _, e := range whole {
			size += len(e)
			if isDone([]byte(e)) {
				break
			}
			if a.take([]byte(e), ep, &tracker{}) != nil {
				break
			}
		}
		if size > len(stream) {
			t.Fatalf("%d bytes of data in a stream of %d", size, len(stream))
		}
		resp := a.response("asked")
		if resp.Model == "" {
			t.Fatal("an answer without a model id")
		}
		for _, c := range resp.Calls {
			if args, ok := c.Arguments(); ok && !isObject(args) {
				t.Fatalf("arguments %q of %q are no object", args, c.Args)
			}
		}
		if u := resp.Usage; u.InputTokens < u.CacheReadTokens+u.CacheWriteTokens || u.OutputTokens < 0 {
			t.Fatalf("usage %+v", u)
		}
	})
}
