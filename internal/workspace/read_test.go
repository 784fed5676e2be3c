package workspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var library = map[string]string{
	"AGENTS.md":                    "be kind",
	"skills/billing/SKILL.md":      "refund rules\n",
	"skills/mail/SKILL.md":         "mail rules\n",
	"ref/a.md":                     "alpha refund\n",
	"ref/deep/b.md":                "beta\n",
	"ref/.env":                     "SECRET=refund",
	"ref/.env.local":               "SECRET=refund",
	"ref/.git/config":              "refund",
	"ref/.gitignore":               "x",
	"eu/prices.csv":                "refund;1\n",
	"remote/r.md":                  "refund far away\n",
	"open/o.md":                    "o",
	"workflows/flow/workflow.yaml": "secret machine refund",
	"archmax.yaml":                 "x",
}

func libraryMounts() []MountConfig {
	return ExtendMounts(DefaultMounts(), []MountConfig{
		mountAt("reference", "ref", governed),
		mountAt("catalogs/eu", "eu"),
		mountAt("remote", "remote", unsearchable),
		mountAt("open", "open", writable),
	}, nil)
}

func TestLs(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		s.put("checkpoints/journal.jsonl", "x")
		s.put("artifacts/trail.json", "x")
		s.put("_specs/x.json", "x")
		s.put("notes.txt", "x")
		const all = "AGENTS.md\ncatalogs/\nnotes.txt\nopen/\nreference/\nremote/\nscratchpad/\nskills/"
		s.answers("ls", `{}`, all)
		for _, root := range []string{"/", ".", "", "./", "scratchpad/.."} {
			s.answers("ls", fmt.Sprintf(`{"path":%q}`, root), all)
		}
		s.answers("ls", `{"path":"scratchpad"}`, "'scratchpad' is empty")
		s.put("scratchpad/b.txt", "x")
		s.put("scratchpad/a/x", "x")
		s.put("scratchpad/é", "x")
		s.put("large_tool_results/1.txt", "x")
		s.answers("ls", `{"path":"/scratchpad/"}`, "a/\nb.txt\né")
		s.answers("ls", `{"path":"large_tool_results"}`, "1.txt")
		s.answers("ls", `{"path":"conversation_history"}`, "'conversation_history' is empty")
		s.answers("ls", `{"path":"reference"}`, ".gitignore\na.md\ndeep/")
		s.answers("ls", `{"path":"catalogs"}`, "eu/")
		s.refuses("ls", `{"path":"scratchpad/none"}`, "'scratchpad/none' does not exist")
		s.refuses("ls", `{"path":"scratchpad/b.txt"}`, "'scratchpad/b.txt' is a file")
		s.refuses("ls", `{"path":"../x"}`, "'../x'", "leaves the workspace")
		for _, hidden := range []string{"workflows", "workflows/flow", "checkpoints", "artifacts", "_specs", "reference/.git", "skills/../workflows"} {
			s.refuses("ls", fmt.Sprintf(`{"path":%q}`, hidden))
		}
	})
	t.Run("leaves out what may not be seen, and shows a directory that leads to a mount that may", func(t *testing.T) {
		s := newWorld(t, library, libraryMounts(), newMemory())
		s.visible = func(path string) bool { return path == "catalogs/eu" || path == "skills" || path == "skills/mail" }
		s.answers("ls", `{}`, "catalogs/\nskills/")
		s.answers("ls", `{"path":"skills"}`, "mail/")
		s.visible = func(string) bool { return false }
		s.answers("ls", `{}`, "'/' is empty")
	})
	t.Run("gives code the empty text", func(t *testing.T) {
		s := newWorld(t, nil, nil, newMemory())
		got, err := s.callAs("ls", `{"path":"scratchpad"}`, Call{Script: true})
		if err != nil || got.Text != "" {
			t.Errorf("%q %v", got.Text, err)
		}
	})
}

func TestReadFile(t *testing.T) {
	var long strings.Builder
	for i := 1; i <= 5312; i++ {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	lines := func(from, to int) string { // 1-based, inclusive
		all := strings.SplitAfter(long.String(), "\n")
		return strings.Join(all[from-1:to], "")
	}
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		s.put("scratchpad/long.txt", long.String())
		s.put("scratchpad/open.txt", "a\r\n\r\nlast")
		s.put("scratchpad/empty.txt", "")
		read := func(rest, want string) {
			t.Helper()
			s.answers("read_file", `{"file_path":"scratchpad/`+rest+`}`, want)
		}
		read(`long.txt"`, lines(1, 2000)+"[lines 1-2000 of 5312; continue with offset 2000]")
		read(`long.txt","offset":2000`, lines(2001, 4000)+"[lines 2001-4000 of 5312; continue with offset 4000]")
		read(`long.txt","offset":4000`, lines(4001, 5312)+"[lines 4001-5312 of 5312]")
		read(`long.txt","limit":1`, "line 1\n[lines 1-1 of 5312; continue with offset 1]")
		read(`long.txt","limit":9000`, long.String())
		read(`open.txt"`, "a\r\n\r\nlast")
		read(`open.txt","offset":2`, "last\n[lines 3-3 of 3]")
		read(`open.txt","offset":1,"limit":1`, "\r\n[lines 2-2 of 3; continue with offset 2]")
		read(`empty.txt"`, "")
		s.answers("read_file", `{"file_path":"/AGENTS.md"}`, "be kind")
		s.answers("read_file", `{"file_path":"catalogs/eu/prices.csv"}`, "refund;1\n")
		s.refuses("read_file", `{"file_path":"scratchpad/open.txt","offset":3}`, "'scratchpad/open.txt' has 3 lines", "offset 3")
		s.refuses("read_file", `{"file_path":"scratchpad/none.txt"}`, "'scratchpad/none.txt' does not exist")
		s.refuses("read_file", `{"file_path":"scratchpad"}`, "'scratchpad' is a directory")
		s.refuses("read_file", `{"file_path":"scratchpad/open.txt/x"}`, "'scratchpad/open.txt/x'")
		s.refuses("read_file", `{"file_path":"AGENTS.md/x"}`, "does not exist")
		s.refuses("read_file", `{"file_path":""}`, "'/' is a directory")
		for _, hidden := range []string{
			"reference/.env", "reference/.env.local", "reference/.ENV", "reference/deep/../.env", "reference/.git/config", "reference/.GIT/config",
			"workflows/flow/workflow.yaml", "reference/../workflows/flow/workflow.yaml", "//workflows//flow/workflow.yaml", "WORKFLOWS/flow/workflow.yaml",
			"archmax.yaml", "ref/a.md", "../archmax.yaml", "checkpoints/journal.jsonl", "scratchpad/../checkpoints/journal.jsonl", `scratchpad\\a`, `a\u0000b`,
			"REFERENCE/a.md",
		} {
			s.refuses("read_file", `{"file_path":"`+hidden+`"}`)
		}
		whole, err := s.callAs("read_file", `{"file_path":"scratchpad/long.txt"}`, Call{Script: true})
		if err != nil || whole.Text != long.String() {
			t.Errorf("code is given %d bytes of %d, %v", len(whole.Text), long.Len(), err)
		}
		part, err := s.callAs("read_file", `{"file_path":"scratchpad/open.txt","offset":1,"limit":1}`, Call{Script: true})
		if err != nil || part.Text != "\r\n" {
			t.Errorf("code is given %q, %v", part.Text, err)
		}
	})
}

func TestABinaryFileIsNotRead(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n\x00\x00"
	everywhere(t, nil, nil, func(t *testing.T, s *world) {
		s.put("scratchpad/photo.png", png+strings.Repeat("x", 12*1024-len(png)))
		s.put("scratchpad/disguised.txt", png)
		s.put("scratchpad/data", "a\x00b")
		s.put("scratchpad/late.txt", strings.Repeat("x", 100_000)+"\x00")
		s.put("scratchpad/text.pdf", "text")
		s.put("scratchpad/latin1.txt", "caf\xe9\n")
		s.put("scratchpad/BMW.txt", "BMW is text")
		for file, shape := range map[string]string{
			"photo.png":     "'scratchpad/photo.png' is a binary file (image/png, 12 KB) and was not read; ",
			"disguised.txt": "'scratchpad/disguised.txt' is a binary file (image/png, 10 bytes) and was not read; ",
			"data":          "'scratchpad/data' is a binary file (application/octet-stream, 3 bytes) and was not read; ",
			"late.txt":      "'scratchpad/late.txt' is a binary file (application/octet-stream, 97.7 KB) and was not read; ",
			"text.pdf":      "'scratchpad/text.pdf' is a binary file (application/pdf, 4 bytes) and was not read; ",
			"latin1.txt":    "'scratchpad/latin1.txt' is a binary file (text that is not UTF-8, 5 bytes) and was not read; ",
		} {
			_, err := s.call("read_file", `{"file_path":"scratchpad/`+file+`"}`)
			if err == nil || !strings.HasPrefix(err.Error(), shape) {
				t.Errorf("%s: %v", file, err)
			}
		}
		s.refuses("edit_file", `{"file_path":"scratchpad/photo.png","old_string":"x","new_string":"y","replace_all":true}`, "is a binary file")
		s.answers("read_file", `{"file_path":"scratchpad/BMW.txt"}`, "BMW is text")
	})
}

func TestAnImageIsShownWhereImagesAreOn(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n\x00\x00"
	everywhere(t, nil, nil, func(t *testing.T, s *world) {
		s.put("scratchpad/a.png", png)
		s.put("scratchpad/fake.png", "text")
		s.put("scratchpad/a.pdf", "x")
		on := Call{ImageBytes: 100}
		got, err := s.callAs("read_file", `{"file_path":"/scratchpad/a.png"}`, on)
		want := Result{Text: "'scratchpad/a.png' is an image (image/png, 10 bytes) and is shown after these results", Image: "scratchpad/a.png"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		mediaType, content, err := s.w.Image("scratchpad/a.png", 100)
		if err != nil || mediaType != "image/png" || string(content) != png {
			t.Errorf("%s %q %v", mediaType, content, err)
		}
		for args, call := range map[string]Call{
			`{"file_path":"scratchpad/a.png"}`:    {ImageBytes: 9},
			`{"file_path":"/scratchpad/a.png"}`:   {ImageBytes: 100, Script: true},
			`{"file_path":"scratchpad/fake.png"}`: on,
			`{"file_path":"scratchpad/a.pdf"}`:    on,
		} {
			got, err := s.callAs("read_file", args, call)
			if err == nil || got.Image != "" || !strings.Contains(err.Error(), "and was not read; ") {
				t.Errorf("%s: %v, %v", args, got, err)
			}
		}
	})
}
