package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
)

func TestWritingFiles(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		s.answers("write_file", `{"file_path":"/scratchpad/deep/er/a.txt","content":"no end\r\n\u00e9"}`, "wrote 'scratchpad/deep/er/a.txt' (10 bytes)")
		s.holds("scratchpad/deep/er/a.txt", "no end\r\né")
		s.refuses("write_file", `{"file_path":"scratchpad/deep/er/a.txt","content":"b"}`, "'scratchpad/deep/er/a.txt' already exists", "overwrite")
		s.holds("scratchpad/deep/er/a.txt", "no end\r\né")
		s.answers("write_file", `{"file_path":"scratchpad/deep/er/a.txt","content":"","overwrite":true}`, "wrote 'scratchpad/deep/er/a.txt' (0 bytes)")
		s.holds("scratchpad/deep/er/a.txt", "")
		s.answers("write_file", `{"file_path":"open/new/x.md","content":"x"}`, "wrote 'open/new/x.md' (1 byte)")
		s.answers("read_file", `{"file_path":"open/new/x.md"}`, "x")
		s.answers("write_file", `{"file_path":"report.md","content":"x"}`, "wrote 'report.md' (1 byte)")
		for path, words := range map[string]string{
			"scratchpad/deep":          "is a directory",
			"":                         "is a directory",
			"open":                     "is a directory",
			"catalogs":                 "is a directory",
			"report.md/x":              "'report.md/x'",
			"skills/billing/SKILL.md":  "read-only",
			"AGENTS.md":                "read-only",
			"reference/x":              "read-only",
			"large_tool_results/1.txt": "runtime",
			"conversation_history/1":   "runtime",
			"checkpoints/x":            "runtime",
			"artifacts/x":              "runtime",
			"_specs/x":                 "runtime",
			"Checkpoints/x":            "",
			"workflows/a/x":            "runtime",
			"open/.env":                "never served",
			"open/.git/hooks/x":        "never served",
			"../x":                     "leaves the workspace",
			"scratchpad/a\\nb":         "control character",
		} {
			s.refuses("write_file", `{"file_path":"`+path+`","content":"x","overwrite":true}`, words)
		}
	})
}

func TestAnAreaCannotBeReplacedByAFile(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		s.answers("write_file", `{"file_path":"a.md","content":"x"}`, "wrote 'a.md' (1 byte)")
		for _, path := range []string{"scratchpad", "scratchpad/", "/scratchpad/.", "scratchpad/attachments"} {
			s.refuses("write_file", `{"file_path":"`+path+`","content":"x"}`, "is a directory")
			s.refuses("copy_file", `{"source":"a.md","destination":"`+path+`"}`, "is a directory")
			s.refuses("move_file", `{"source":"a.md","destination":"`+path+`"}`, "is a directory")
		}
	})
}

func TestEditingFiles(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		const text = "one\r\ntwo two\nthree"
		s.put("scratchpad/a.txt", text)
		edit := func(rest string) string { return `{"file_path":"scratchpad/a.txt",` + rest + `}` }
		s.refuses("edit_file", edit(`"old_string":"four","new_string":"x"`), "does not hold old_string")
		s.refuses("edit_file", edit(`"old_string":"two","new_string":"x"`), "2 times", "replace_all")
		s.refuses("edit_file", edit(`"old_string":"","new_string":"x"`), "'old_string' is empty")
		s.refuses("edit_file", edit(`"old_string":"two","new_string":"two"`), "the same")
		s.holds("scratchpad/a.txt", text)
		s.answers("edit_file", edit(`"old_string":"one\r\n","new_string":"1\n"`), "edited 'scratchpad/a.txt' (1 replacement)")
		s.answers("edit_file", edit(`"old_string":"two","new_string":"","replace_all":true`), "edited 'scratchpad/a.txt' (2 replacements)")
		s.holds("scratchpad/a.txt", "1\n \nthree")
		s.refuses("edit_file", `{"file_path":"scratchpad/none","old_string":"a","new_string":"b"}`, "does not exist")
		s.refuses("edit_file", `{"file_path":"scratchpad","old_string":"a","new_string":"b"}`, "is a directory")
		s.refuses("edit_file", `{"file_path":"AGENTS.md","old_string":"kind","new_string":"rude"}`, "read-only")
	})
}

func TestCopyingMovingRemoving(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		const bytes = "\x00\xff\r\n\xe9 exact"
		s.put("scratchpad/a.bin", bytes)
		s.answers("copy_file", `{"source":"scratchpad/a.bin","destination":"scratchpad/deep/b.bin"}`, "copied 'scratchpad/a.bin' to 'scratchpad/deep/b.bin' (11 bytes)")
		s.holds("scratchpad/a.bin", bytes)
		s.holds("scratchpad/deep/b.bin", bytes)
		s.refuses("copy_file", `{"source":"AGENTS.md","destination":"scratchpad/deep/b.bin"}`, "already exists")
		s.answers("copy_file", `{"source":"AGENTS.md","destination":"scratchpad/deep/b.bin","overwrite":true}`, "copied 'AGENTS.md' to 'scratchpad/deep/b.bin' (7 bytes)")
		s.answers("move_file", `{"source":"scratchpad/a.bin","destination":"open/a.bin"}`, "moved 'scratchpad/a.bin' to 'open/a.bin' (11 bytes)")
		s.lacks("scratchpad/a.bin")
		if got, err := s.w.ReadFile("open/a.bin"); err != nil || string(got) != bytes {
			t.Errorf("%q %v", got, err)
		}
		s.refuses("move_file", `{"source":"scratchpad/deep/b.bin","destination":"open/a.bin"}`, "already exists")
		s.holds("scratchpad/deep/b.bin", "be kind")
		s.refuses("move_file", `{"source":"AGENTS.md","destination":"scratchpad/x"}`, "'AGENTS.md'", "read-only")
		s.refuses("move_file", `{"source":"scratchpad/deep/b.bin","destination":"scratchpad/./deep/b.bin"}`, "the same file")
		s.refuses("copy_file", `{"source":"scratchpad/deep/b.bin","destination":"/scratchpad/deep/b.bin","overwrite":true}`, "the same file")
		s.refuses("copy_file", `{"source":"scratchpad/deep","destination":"scratchpad/x"}`, "is a directory")
		s.refuses("copy_file", `{"source":"scratchpad/none","destination":"scratchpad/x"}`, "'scratchpad/none' does not exist")
		s.refuses("copy_file", `{"source":"AGENTS.md","destination":"skills/x"}`, "'skills/x'", "read-only")
		s.refuses("copy_file", `{"source":"reference/.env","destination":"scratchpad/x"}`, "never served")
		s.refuses("copy_file", `{"source":"checkpoints/lock","destination":"scratchpad/x"}`, "runtime")
		s.lacks("scratchpad/x")
		s.answers("remove_file", `{"file_path":"scratchpad/deep/b.bin"}`, "removed 'scratchpad/deep/b.bin'")
		s.lacks("scratchpad/deep/b.bin")
		s.answers("remove_file", `{"file_path":"open/a.bin"}`, "removed 'open/a.bin'")
		s.refuses("remove_file", `{"file_path":"open/a.bin"}`, "does not exist")
		s.refuses("remove_file", `{"file_path":"open"}`, "is a directory")
		s.put("scratchpad/dir/x", "x")
		s.refuses("remove_file", `{"file_path":"scratchpad/dir"}`, "is a directory", "one by one")
		s.refuses("remove_file", `{"file_path":"skills/billing/SKILL.md"}`, "read-only")
		s.put("large_tool_results/1.txt", "x")
		s.refuses("remove_file", `{"file_path":"large_tool_results/1.txt"}`, "runtime")
		s.holds("large_tool_results/1.txt", "x")
	})
}

// lying is a tree that keeps something else than it was given.
type lying struct{ Files }

func (l lying) Write(name string, content []byte, exclusive bool) error {
	return l.Files.Write(name, append([]byte("not "), content...), exclusive)
}

func TestAMoveThatWasNotKeptRemovesNothing(t *testing.T) {
	files := newMemory()
	s := newWorld(t, nil, nil, lying{files})
	if err := files.Write("scratchpad/a", []byte("precious"), true); err != nil {
		t.Fatal(err)
	}
	s.refuses("move_file", `{"source":"scratchpad/a","destination":"scratchpad/b"}`, "'scratchpad/b' does not hold what was copied")
	s.holds("scratchpad/a", "precious")
}

func TestConcurrentCallsLoseNothing(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		const n = 24
		var lines strings.Builder
		for i := range n {
			fmt.Fprintf(&lines, "<%d>\n", i)
		}
		for _, path := range []string{"scratchpad/a.txt", "open/a.txt"} {
			if err := s.w.WriteFile(path, []byte(lines.String()), false); err != nil {
				t.Fatal(err)
			}
		}
		other := s.shared.Session(newMemory()) // another session writes the same mount
		var wg sync.WaitGroup
		var mu sync.Mutex
		created := 0
		run := func(w *Workspace, tool string, args map[string]any) error {
			_, err := toolNamed(t, tool).Run(context.Background(), w, Call{Args: args})
			return err
		}
		for i := range n {
			wg.Go(func() {
				edit := map[string]any{"old_string": fmt.Sprintf("<%d>", i), "new_string": fmt.Sprintf("[%d]", i)}
				edit["file_path"] = "scratchpad/a.txt"
				if err := run(s.w, "edit_file", edit); err != nil {
					t.Error(err)
				}
				edit["file_path"] = "open/a.txt"
				if err := run([]*Workspace{s.w, other}[i%2], "edit_file", edit); err != nil {
					t.Error(err)
				}
				if err := run(s.w, "write_file", map[string]any{"file_path": "scratchpad/once", "content": "x"}); err == nil {
					mu.Lock()
					created++
					mu.Unlock()
				} else if !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
				there := fmt.Sprintf("scratchpad/dir%d/x", i%2)
				_ = run(s.w, "write_file", map[string]any{"file_path": there, "content": "x", "overwrite": true})
				_ = run(s.w, "move_file", map[string]any{"source": there, "destination": there + "2", "overwrite": true})
				_ = run(s.w, "move_file", map[string]any{"source": there + "2", "destination": there, "overwrite": true})
				_ = run(s.w, "grep", map[string]any{"pattern": "x"})
			})
		}
		wg.Wait()
		want := strings.NewReplacer("<", "[", ">", "]").Replace(lines.String())
		for _, path := range []string{"scratchpad/a.txt", "open/a.txt"} {
			if got, err := s.w.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%s lost an edit: %q %v", path, got, err)
			}
		}
		if created != 1 {
			t.Errorf("%d calls created one file", created)
		}
		if len(s.shared.locks.held) != 0 {
			t.Errorf("locks stay: %v", s.shared.locks.held)
		}
	})
}

func TestACancelledCallEndsWithItsContext(t *testing.T) {
	s := newWorld(t, library, libraryMounts(), newMemory())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tool := range Tools() {
		args := map[string]any{}
		for _, p := range tool.params {
			if p.required {
				args[p.name] = "scratchpad/x"
			}
		}
		if _, err := tool.Run(ctx, s.w, Call{Args: args}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	s.lacks("scratchpad/x")
}
