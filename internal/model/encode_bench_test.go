package model

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkRequest builds and reads the request of step 400: what the client
// itself adds to a step must not grow into a share of the journal's fsyncs.
func BenchmarkRequest(b *testing.B) {
	req := &Request{Static: strings.Repeat("static ", 1000), Volatile: "## Current state: x"}
	for i := range 400 {
		id := fmt.Sprintf("c%d", i)
		req.Messages = append(req.Messages,
			&Message{Role: "assistant", Calls: []Call{{ID: id, Name: "lookup", Args: `{"q":"x"}`}}},
			&Message{Role: "tool", CallID: id, Content: strings.Repeat("result ", 50)})
	}
	req.Tools = []*Tool{{Name: "lookup"}}
	b.ReportAllocs()
	for b.Loop() {
		if err := check(req); err != nil {
			b.Fatal(err)
		}
		p, err := encodeRequest(req, "m", dialect{}, wireOptions{Stream: true})
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, p.reader()); err != nil || n != p.size {
			b.Fatal(n, p.size, err)
		}
	}
}
