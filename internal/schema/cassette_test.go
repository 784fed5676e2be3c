package schema

import (
	"testing"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/schema/schematest"
)

// A case's `model` may be a cassette in place.
func TestTheCassetteOfACaseAndTheCassetteReaderAgree(t *testing.T) {
	s := cassette()
	s.Dialect = Dialect
	doc, err := indent(s)
	if err != nil {
		t.Fatal(err)
	}
	pair := schematest.Pair{
		Schema: schematest.Compile(t, doc),
		Load: func(src []byte) diag.List {
			_, list := model.LoadCassette("c.yaml", src)
			return list
		},
		// Numbers of one call that contradict each other, and statuses between the ranges.
		Beyond: func(d diag.Diagnostic) bool {
			return d.Code == string(diag.BadValue) && (d.Field == "calls.0.usage" || d.Field == "calls.1.error.status") ||
				d.Code == string(diag.MissingKey) && d.Field == "calls.0.fingerprint"
		},
	}
	accepted, rejected := pair.Mutants(t, doc, `version: 1
strict: false
calls:
  - role: agent
    session: "~1"
    state: triage
    tools: [grep]
    last: hello
    messages: 3
    fingerprint: abc
    model: m
    text: Hi.
    reasoning: Hm.
    finish: stop
    tool_calls: [{ name: grep, args: { pattern: x }, id: c1 }, { name: ls, args: "{" }]
    usage: { input: 9, output: 2, cache_read: 1, cache_write: 1 }
  - error: { status: 429, retry_after: 1, message: Slow down., final: true }
`)
	if accepted < 50 || rejected < 200 {
		t.Errorf("only %d accepted and %d rejected mutants", accepted, rejected)
	}
}
