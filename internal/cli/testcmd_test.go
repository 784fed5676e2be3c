package cli

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/archmax-ai/archmax/internal/casetest"
)

func TestTestReadsItsFlags(t *testing.T) {
	d := newTestDeps(t.TempDir(), nil, "")
	for _, tt := range []struct {
		line string
		want testOptions
	}{
		{"", testOptions{Format: "text"}},
		{"--record", testOptions{Format: "text", Record: casetest.RecordMissing}},
		{"--record=all --coverage", testOptions{Format: "text", Record: casetest.RecordAll, Coverage: "-"}},
		{"--coverage=c.json --coverage-min 87.5", testOptions{Format: "text", Coverage: "c.json", CoverageMin: 87.5}},
		{"desk refund --jobs 8 --repeat 20 --min-pass 0.9 --fail-fast --keep --session-prefix p- --live --real-tools --model m --junit j.xml --format github", testOptions{
			Args: []string{"desk", "refund"}, Jobs: 8, Repeat: 20, MinPass: 0.9, FailFast: true, Keep: true, Prefix: "p-",
			Live: true, RealTools: true, Model: "m", JUnit: "j.xml", Format: "github",
		}},
		{"--from s1 name --json", testOptions{Args: []string{"name"}, From: "s1", JSON: true, Format: "text"}},
	} {
		var got *testOptions
		keep := func(_ context.Context, o *testOptions) error { got = o; return nil }
		if err := parse(t, newTestCmd(d.deps, keep), words(tt.line)...); err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if diff := cmp.Diff(tt.want, *got, cmpopts.IgnoreUnexported(testOptions{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestTheFirstArgumentIsAWorkflowWhereItNamesOne(t *testing.T) {
	slugs := []string{"billing", "desk"}
	for _, tt := range []struct {
		args   string
		chosen []string
		filter string
		fails  string
	}{
		{"", slugs, "", ""},
		{"desk", []string{"desk"}, "", ""},
		{"desk refund", []string{"desk"}, "refund", ""},
		{"refund", slugs, "refund", ""},
		{"desks", nil, "", `unknown workflow "desks" (did you mean desk?)`},
		{"refund desk", nil, "", `unknown workflow "refund"; this workspace has billing, desk`},
	} {
		chosen, filter, err := (&testOptions{Args: words(tt.args)}).pick(slugs)
		switch {
		case tt.fails != "":
			if usage, ok := err.(*UsageError); !ok || usage.Message != tt.fails {
				t.Errorf("%q: got %v, want %q", tt.args, err, tt.fails)
			}
		case err != nil || filter != tt.filter || cmp.Diff(tt.chosen, chosen) != "":
			t.Errorf("%q: got %v %q %v", tt.args, chosen, filter, err)
		}
	}
}
