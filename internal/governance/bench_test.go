package governance

import (
	"fmt"
	"strings"
	"testing"
)

// twenty is a state with twenty entries, guards and references among them. The
// calls below meet the last ones.
func twenty(t testing.TB) (calls []Call, env *Env, decide func(Call) Verdict) {
	var b strings.Builder
	b.WriteString("tools:\n  allow:\n")
	for i := range 8 {
		fmt.Fprintf(&b, "    - { tool: crm__get, args: { id: [\"A%d-*\", \"B%d-*\"], region: \"e?\" } }\n", i, i)
	}
	for i := range 4 {
		fmt.Fprintf(&b, "    - { tool: read_file, paths: [\"docs/%d/**\", \"drafts/%d/*.md\"] }\n", i, i)
	}
	b.WriteString("    - { tool: mail__send, args: { to: \"${{customer.email}}\" } }\n  forbid:\n")
	for i := range 6 {
		fmt.Fprintf(&b, "    - { tool: read_file, paths: \"docs/*/secret-%d/**\" }\n", i)
	}
	b.WriteString("    - { tool: mail__send, args: { to: \"*@evil.example\" } }\n")
	m := state(t, b.String(), "skills: { allow_always: [house] }")
	env = workspaceEnv()
	env.Variables["customer"] = map[string]any{"email": "ada@example.com"}
	calls = []Call{
		{State: "work", Tool: "crm__get", Args: args{"id": "B7-1", "region": "eu"}, Origin: FromAgent},
		{State: "work", Tool: "read_file", Args: args{"file_path": "drafts/3/a.md"}, Origin: FromAgent},
		{State: "work", Tool: "mail__send", Args: args{"to": "ada@example.com"}, Origin: FromAgent},
		{State: "work", Tool: "grep", Args: args{"pattern": "x"}, Origin: FromAgent},
		{State: "work", Tool: "archmax_run", Args: args{"file_path": "skills/house/scripts/a.js"}, Origin: FromAgent},
	}
	return calls, env, func(c Call) Verdict { return Decide(m, c, env) }
}

func BenchmarkDecide(b *testing.B) {
	calls, _, decide := twenty(b)
	for _, call := range calls {
		b.Run(call.Tool, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !decide(call).Allow {
					b.Fatal("blocked")
				}
			}
		})
	}
}

// The budget of architecture.md: fewer than ten allocations a decision in a
// state of twenty entries. Time is the benchmark's.
func TestDecideAllocatesLittle(t *testing.T) {
	calls, _, decide := twenty(t)
	for _, call := range calls {
		if n := testing.AllocsPerRun(100, func() { decide(call) }); n >= 10 {
			t.Errorf("%s: %v allocations", call.Tool, n)
		}
	}
}
