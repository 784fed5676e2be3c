package spec

import (
	"strings"
	"testing"
)

func TestABoundThatIsNoNumberIsQuoted(t *testing.T) {
	src := "instructions: x\nstates: { a: { triggers: { manual: { requires: [{ name: n, type: number, minimum: .nan }] } } } }\n"
	_, list := Parse("refund", "workflows/refund/workflow.yaml", []byte(src))
	if len(list) != 1 || !strings.HasSuffix(list[0].Message, "must be a number, not `.nan`") {
		t.Errorf("%v", list)
	}
}
