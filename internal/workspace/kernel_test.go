package workspace

import (
	"testing"

	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// The kernel and this package share one mount table: what it denies is in no
// listing and no search, what it grants is.
func TestTheKernelDecidesEveryHit(t *testing.T) {
	s := newWorld(t, library, libraryMounts(), newMemory())
	s.put("scratchpad/a.txt", "refund")
	s.put("checkpoints/journal.jsonl", "refund")
	machine, problems := spec.Parse("flow", "workflows/flow/workflow.yaml", []byte(`title: Flow
instructions: Do it.
skills: {}
mounts: {}
states:
  start:
    instructions: Do it.
    triggers: { manual: {} }
    skills: { allow: [billing] }
`))
	if machine == nil {
		t.Fatal(problems.Err())
	}
	env := governance.Env{Mounts: s.shared.Table(), Tools: governance.NewToolSet(governance.Builtins())}
	for _, skill := range s.shared.Skills() {
		env.Skills = append(env.Skills, skill.Slug)
	}
	for _, test := range []struct{ tool, args, want string }{
		{"ls", `{}`, "AGENTS.md\ncatalogs/\nopen/\nremote/\nscratchpad/\nskills/"}, // reference/ is governed and not granted
		{"ls", `{"path":"skills"}`, "billing/"},
		{"ls", `{"path":"catalogs"}`, "eu/"},
		{"glob", `{"pattern":"**"}`, "AGENTS.md\ncatalogs/eu/prices.csv\nopen/o.md\nscratchpad/a.txt\nskills/billing/SKILL.md"},
		{"grep", `{"pattern":"refund"}`, "catalogs/eu/prices.csv\nscratchpad/a.txt\nskills/billing/SKILL.md"},
		{"grep", `{"pattern":"refund","path":"remote"}`, "remote/r.md"},
	} {
		s.visible = func(path string) bool {
			return governance.Decide(machine, governance.Hit{State: "start", Tool: test.tool, Path: path, Origin: governance.FromAgent}, &env).Allow
		}
		s.answers(test.tool, test.args, test.want)
	}
}
