package casetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// The example workspace is the root of the repository.
const (
	exampleSlug = "order-lookup"
	exampleFile = "workflows/" + exampleSlug + "/workflow.yaml"
)

func exampleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// exampleOptions runs the suite of the example workspace, its workflows read
// from fsys.
func exampleOptions(t *testing.T, fsys fs.FS) casetest.Options {
	t.Helper()
	root := exampleRoot(t)
	m, problems := spec.Load(fsys, exampleSlug)
	if problems.HasErrors() {
		t.Fatal(problems.Err())
	}
	shared, problems := workspace.Open(root, workspace.DefaultMounts(), workspace.Guard{Sessions: filepath.Join(root, "sessions")})
	if problems.HasErrors() {
		t.Fatal(problems.Err())
	}
	t.Cleanup(func() { shared.Close() })
	return casetest.Options{
		Machine: m, Dir: root, Coverage: true,
		Runtime: runtime.Options{Root: fsys, Shared: shared, Model: "offline"},
	}
}

func runExample(t *testing.T, o casetest.Options) *casetest.Suite {
	t.Helper()
	s, err := casetest.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The example workspace is covered whole (issue C, point 9).
func TestTheCasesOfTheExampleTakeEveryPath(t *testing.T) {
	s := runExample(t, exampleOptions(t, os.DirFS(exampleRoot(t))))
	for _, r := range s.Results {
		if r.Status != casetest.Passed {
			t.Errorf("%s %s: %s\n%s", r.ID, r.Status, r.Error, strings.Join(r.Failures, "\n"))
		}
		if len(r.Warnings) > 0 {
			t.Errorf("%s warns: %s", r.ID, strings.Join(r.Warnings, "; "))
		}
	}
	c := s.Coverage
	for _, item := range c.Uncovered() {
		t.Error(item)
	}
	for _, share := range []struct {
		what     string
		have     casetest.Share
		declared int // counted in workflow.yaml
	}{
		{"states", c.States, 9},
		{"edges", c.Edges, 12},
		{"human edges", c.HumanEdges, 3},
		{"error routes", c.ErrorRoutes, 3},
	} {
		if share.have != (casetest.Share{Covered: share.declared, Total: share.declared}) {
			t.Errorf("%s: %d of %d covered, want %d of them", share.what, share.have.Covered, share.have.Total, share.declared)
		}
	}
	if c.Percent != 100 || s.ExitCode != casetest.ExitOK {
		t.Errorf("%g%% of the edges, exit %d", c.Percent, s.ExitCode)
	}
}

// Twenty runs, eight cases at a time, give the same bytes, durations aside
// (issue C, acceptance).
func TestTheSuiteOfTheExampleIsTheSameEveryTime(t *testing.T) {
	o := exampleOptions(t, os.DirFS(exampleRoot(t)))
	o.Jobs = 8
	var first []byte
	for n := range 20 {
		s := runExample(t, o)
		for _, r := range s.Results {
			r.DurationMs = 0
		}
		raw, err := json.MarshalIndent(s, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = raw
		}
		if !bytes.Equal(raw, first) {
			t.Fatalf("run %d differs from run 1:\n%s\nrun 1:\n%s", n+1, raw, first)
		}
	}
}

// A workflow that loses one of its promises fails the case that tells of it.
func TestTheCasesOfTheExampleFailWhenAPromiseIsLost(t *testing.T) {
	root := os.DirFS(exampleRoot(t))
	src, err := fs.ReadFile(root, exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		old, new  string // in workflow.yaml: old is there once
		failsCase string
	}{
		{"files may be removed", "forbid_always: [remove_file, move_file]", "forbid_always: [move_file]", "refunds/memo-of-one-order"},
		{"files may be moved", "forbid_always: [remove_file, move_file]", "forbid_always: [remove_file]", "refunds/memo-of-one-order"},
		{"any memo may be written", `write_file, paths: "refunds/${{order_id}}.md"`, `write_file, paths: "refunds/*.md"`, "refunds/memo-of-one-order"},
		{"a memo may be copied over", "        - copy_file\n", "", "refunds/memo-of-one-order"},
		{"another order may become the one at hand", `variables.order_id: "**"`, `variables.nothing: "**"`, "refunds/memo-of-one-order"},
		{"any memo may be edited", `edit_file, paths: "refunds/${{order_id}}.md"`, `edit_file, paths: "refunds/*.md"`, "refunds/memo-of-one-order"},
		{"the records are open in every state", "allow_always: [reply-style]", "allow_always: [reply-style, orders]", "escalations/not-about-an-order"},
		{"the policy is open in every state", "allow_always: [reply-style]", "allow_always: [reply-style, refund-policy]", "escalations/no-such-order"},
		{"the records are closed to lookup", "skills: { allow: [orders] }", "skills: { allow: [] }", "answers/from-the-record"},
		{"the policy is closed to the refund check", "skills: { allow: [orders, refund-policy] }", "skills: { allow: [orders] }", "refunds/ruled-out-by-policy"},
		{"clarify may be left without a number", "    requires: [order_id]\n    budget: { maxParks: 3 }", "    budget: { maxParks: 3 }", "escalations/number-never-given"},
		{"lookup may be left without a number", "    requires: [order_id]\n    budget: { maxTurns: 8 }", "    budget: { maxTurns: 8 }", "refunds/memo-of-one-order"},
		{"a refund may be settled without an amount", "    requires: [refund_amount]\n", "", "refunds/ruled-out-by-policy"},
		{"clarify waits once more", "maxParks: 3", "maxParks: 4", "escalations/number-never-given"},
		{"clarify waits once less", "maxParks: 3", "maxParks: 2", "escalations/number-never-given"},
		{"lookup searches once more", "maxTurns: 8", "maxTurns: 9", "escalations/search-without-end"},
		{"lookup searches once less", "maxTurns: 8", "maxTurns: 7", "escalations/search-without-end"},
		{"a memo is sent back once more", "maxVisits: 3", "maxVisits: 4", "refunds/sent-back-too-often"},
		{"a memo is sent back once less", "maxVisits: 3", "maxVisits: 2", "refunds/sent-back-too-often"},
		{"clarify has no error route", "maxParks: 3 }\n    on_error: escalate", "maxParks: 3 }", "escalations/number-never-given"},
		{"lookup has no error route", "maxTurns: 8 }\n    on_error: escalate", "maxTurns: 8 }", "escalations/search-without-end"},
		{"the refund check has no error route", "maxVisits: 3 }\n    on_error: escalate", "maxVisits: 3 }", "refunds/sent-back-too-often"},
		{"the agent pays on its own", "      - to: refund-declined\n        description: The policy rules", "      - to: refund-issued\n        description: All is well.\n      - to: refund-declined\n        description: The policy rules", "refunds/ruled-out-by-policy"},
		{"lookup pays", "      - to: answer\n", "      - to: refund-issued\n        description: All is well.\n      - to: answer\n", "escalations/no-such-order"},
		{"nobody reviews a refund", "      - to: refund-review\n        description: The policy allows", "      - to: refund-issued\n        description: The policy allows", "refunds/approved"},
		{"an order number may be anything", "            pattern: ^ORD-[0-9]{4}$\n", "", "refusals/bad-order-number"},
		{"the form's words are left behind", "        message: body\n", "        message: false\n", "answers/from-the-web-form"},
		{"a form's conversation may end in any word", "enum: [answered, refunded, declined, escalated]\n            description: How the conversation ended.\n    instructions: |\n      Find", "description: How the conversation ended.\n    instructions: |\n      Find", "answers/from-the-web-form"},
		{"a conversation may end in any word", "enum: [answered, refunded, declined, escalated]\n            description: How the conversation ended.\n    instructions: |\n      Read", "description: How the conversation ended.\n    instructions: |\n      Read", "refusals/no-resolution"},
		{"a conversation may end without a word", "returns:\n          - name: resolution\n            type: string\n            enum: [answered, refunded, declined, escalated]\n            description: How the conversation ended.\n    instructions: |\n      Read", "returns: []\n    instructions: |\n      Read", "refusals/no-resolution"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if n := strings.Count(string(src), tt.old); n != 1 {
				t.Fatalf("%q is %d times in %s", tt.old, n, exampleFile)
			}
			mutant := patchedFS{root, fstest.MapFS{exampleFile: {Data: []byte(strings.Replace(string(src), tt.old, tt.new, 1))}}}
			o := exampleOptions(t, mutant)
			o.Filter = tt.failsCase
			results := runExample(t, o).Results
			if len(results) != 1 {
				t.Fatalf("%d cases match %s", len(results), tt.failsCase)
			}
			if r := results[0]; r.Status != casetest.Failed || r.Diagnostics.HasErrors() {
				t.Errorf("%s is %s, want it to run and to fail: %v", r.ID, r.Status, r.Failures)
			}
		})
	}
}

// patchedFS is a file system with some files replaced.
type patchedFS struct {
	fs.FS
	patch fstest.MapFS
}

func (p patchedFS) Open(name string) (fs.File, error) {
	if _, ok := p.patch[name]; ok {
		return p.patch.Open(name)
	}
	return p.FS.Open(name)
}
