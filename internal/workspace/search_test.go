package workspace

import (
	"fmt"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		s.put("scratchpad/b.md", "x")
		s.put("scratchpad/a-b/c.md", "x")
		s.put("scratchpad/a/c.md", "x")
		s.put("scratchpad/[x].md", "x")
		s.put("checkpoints/j.md", "x")
		s.put("top.md", "x")
		for _, test := range []struct{ args, want string }{
			{`{"pattern":"**/*.md"}`, "AGENTS.md\nopen/o.md\nreference/a.md\nreference/deep/b.md\nscratchpad/[x].md\nscratchpad/a-b/c.md\nscratchpad/a/c.md\nscratchpad/b.md\nskills/billing/SKILL.md\nskills/mail/SKILL.md\ntop.md"},
			{`{"pattern":"*.md"}`, "AGENTS.md\ntop.md"},
			{`{"pattern":"*.md","path":"scratchpad"}`, "scratchpad/[x].md\nscratchpad/b.md"},
			{`{"pattern":"/scratchpad/*.md"}`, "scratchpad/[x].md\nscratchpad/b.md"},
			{`{"pattern":"scratchpad/{a,a-b}/*"}`, "scratchpad/a-b/c.md\nscratchpad/a/c.md"},
			{`{"pattern":"scratchpad/\\[x\\].md"}`, "scratchpad/[x].md"},
			{`{"pattern":"**","path":"catalogs"}`, "catalogs/eu/prices.csv"},
			{`{"pattern":"catalogs/eu/*.csv"}`, "catalogs/eu/prices.csv"},
			{`{"pattern":"**","path":"reference"}`, "reference/.gitignore\nreference/a.md\nreference/deep/b.md"},
			{`{"pattern":"**/.env*"}`, "no files match"},
			{`{"pattern":"**/*.yaml"}`, "no files match"},
			{`{"pattern":"checkpoints/*"}`, "no files match"},
			{`{"pattern":"nowhere/**"}`, "no files match"},
			{`{"pattern":"*","path":"large_tool_results"}`, "no files match"},
			// remote/ is browse only: a search must be addressed at it.
			{`{"pattern":"**/r.md"}`, "no files match"},
			{`{"pattern":"*.md","path":"remote"}`, "remote/r.md"},
			{`{"pattern":"remote/*.md"}`, "remote/r.md"},
		} {
			s.answers("glob", test.args, test.want)
		}
		s.refuses("glob", `{"pattern":"[a"}`, "'pattern'", "[a")
		s.refuses("glob", `{"pattern":""}`, "'pattern' is empty")
		s.refuses("glob", `{"pattern":"../**"}`, "'..'")
		s.refuses("glob", `{"pattern":"a/{b,..}/../../**"}`, "'..'")
		s.refuses("glob", `{"pattern":"*","path":"scratchpad/none"}`, "does not exist")
		s.refuses("glob", `{"pattern":"*","path":"top.md"}`, "is a file")
		s.refuses("glob", `{"pattern":"*","path":".."}`, "leaves the workspace")
		s.refuses("glob", `{"pattern":"*","path":"workflows"}`)
	})
}

func TestGrep(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		s.put("scratchpad/b.txt", "Refund\r\nno\nrefund refund\nrefund: yes")
		s.put("scratchpad/a.csv", "refund")
		s.put("scratchpad/nul.txt", "refund\n\x00")
		s.put("scratchpad/photo.png", "refund")
		s.put("scratchpad/latin1.txt", "caf\xe9 refund\n")
		s.put("checkpoints/journal.jsonl", "refund")
		for _, test := range []struct{ args, want string }{
			{`{"pattern":"refund"}`, "catalogs/eu/prices.csv\nreference/a.md\nscratchpad/a.csv\nscratchpad/b.txt\nscratchpad/latin1.txt\nskills/billing/SKILL.md"},
			{`{"pattern":"refund","output_mode":"files_with_matches","glob":"*.csv"}`, "catalogs/eu/prices.csv\nscratchpad/a.csv"},
			{`{"pattern":"refund","output_mode":"content","path":"scratchpad/b.txt"}`, "scratchpad/b.txt:3:refund refund\nscratchpad/b.txt:4:refund: yes"},
			{`{"pattern":"(?i)^refund$","output_mode":"content","path":"scratchpad"}`, "scratchpad/a.csv:1:refund\nscratchpad/b.txt:1:Refund"},
			{`{"pattern":"refund","output_mode":"count","path":"/scratchpad/","glob":"{a,b}.*"}`, "scratchpad/a.csv:1\nscratchpad/b.txt:2"},
			{`{"pattern":"caf","output_mode":"content"}`, "scratchpad/latin1.txt:1:caf\uFFFD refund"},
			{`{"pattern":"beta","glob":"deep/*.md","path":"reference"}`, "reference/deep/b.md"},
			{`{"pattern":"beta","glob":"reference/**/*.md","path":"reference"}`, "reference/deep/b.md"},
			{`{"pattern":"beta","glob":"deep/*.md"}`, "no matches"},
			{`{"pattern":"secret machine"}`, "no matches"},
			{`{"pattern":"SECRET"}`, "no matches"},
			{`{"pattern":"x","path":"large_tool_results"}`, "no matches"},
			{`{"pattern":"far away"}`, "no matches"}, // browse only
			{`{"pattern":"far away","path":"remote"}`, "remote/r.md"},
			{`{"pattern":"far away","path":"remote/r.md"}`, "remote/r.md"},
		} {
			s.answers("grep", test.args, test.want)
		}
		s.refuses("grep", `{"pattern":"a(b"}`, "'pattern'", "missing closing )")
		s.refuses("grep", `{"pattern":"(?=x)"}`, "'pattern'", "RE2")
		s.refuses("grep", `{"pattern":""}`, "'pattern' is empty")
		s.refuses("grep", `{"pattern":"x","glob":"[a"}`, "'glob'")
		s.refuses("grep", `{"pattern":"x","path":"scratchpad/none"}`, "does not exist")
		s.refuses("grep", `{"pattern":"x","path":"scratchpad/nul.txt"}`, "is a binary file")
		s.refuses("grep", `{"pattern":"x","path":"scratchpad/photo.png"}`, "(image/png, 6 bytes)")
		s.refuses("grep", `{"pattern":"x","path":"workflows"}`)
		s.refuses("grep", `{"pattern":"x","path":"reference/.env"}`)
	})
}

func TestGrepStopsAtItsCount(t *testing.T) {
	s := newWorld(t, nil, nil, newMemory())
	s.put("scratchpad/a.txt", strings.Repeat("hit\n", 1500))
	s.put("scratchpad/b.txt", "hit\nhit\n")
	lines := func(file string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "scratchpad/%s:%d:hit\n", file, i+1)
		}
		return b.String()
	}
	const stopped = "; narrow the search or raise max_count]"
	s.answers("grep", `{"pattern":"hit","output_mode":"content"}`, lines("a.txt", 1000)+"[stopped after 1000 lines"+stopped)
	s.answers("grep", `{"pattern":"hit","output_mode":"content","max_count":1500}`, lines("a.txt", 1500)+"[stopped after 1500 lines"+stopped)
	s.answers("grep", `{"pattern":"hit","output_mode":"content","max_count":1502}`, strings.TrimSuffix(lines("a.txt", 1500)+lines("b.txt", 2), "\n"))
	s.answers("grep", `{"pattern":"hit","max_count":1}`, "scratchpad/a.txt\n[stopped after 1 line"+stopped)
	s.answers("grep", `{"pattern":"hit","max_count":2}`, "scratchpad/a.txt\nscratchpad/b.txt")
	s.answers("grep", `{"pattern":"hit","output_mode":"count"}`, "scratchpad/a.txt:1500\nscratchpad/b.txt:2")
}

func TestAHitThatMayNotBeReadIsDropped(t *testing.T) {
	s := newWorld(t, library, libraryMounts(), newMemory())
	s.put("scratchpad/a.md", "refund")
	s.visible = func(path string) bool { return strings.HasPrefix(path, "skills/billing/") }
	s.answers("glob", `{"pattern":"**"}`, "skills/billing/SKILL.md")
	s.answers("grep", `{"pattern":"refund"}`, "skills/billing/SKILL.md")
	s.answers("grep", `{"pattern":"rules","output_mode":"content"}`, "skills/billing/SKILL.md:1:refund rules")
	s.visible = func(string) bool { return false }
	s.answers("glob", `{"pattern":"**"}`, "no files match")
	s.answers("grep", `{"pattern":"refund","output_mode":"count"}`, "no matches")
	got, err := s.callAs("grep", `{"pattern":"refund"}`, Call{Script: true})
	if err != nil || got.Text != "" {
		t.Errorf("code is given %q, %v", got.Text, err)
	}
}
