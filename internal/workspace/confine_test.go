package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	s := newWorld(t, map[string]string{
		"ref/a.md": "alpha", "ref/secret/key.md": "key", "ref/.env": "SECRET", "ref/dir/x.md": "x", "outside.md": "outside", "secret/top": "top",
		"open/real/x": "x", "workflows/f/workflow.yaml": "machine", "archmax.yaml": "config",
	}, []MountConfig{mountAt("reference", "ref"), mountAt("open", "open", writable)}, onDisk(t))
	at := func(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }
	for name, target := range map[string]string{
		"ref/inside.md":  "a.md",
		"ref/sub":        "dir",
		"ref/chain":      "sub/../inside.md",
		"ref/leaves.md":  "../outside.md",
		"ref/leaves":     "../secret",
		"ref/absolute":   at("outside.md"),
		"ref/here":       at("ref/a.md"), // absolute: it leaves, even to come back
		"ref/machine":    "../workflows",
		"ref/loop":       "loop",
		"ref/env.txt":    ".env",
		"ref/dangling":   "none",
		"ref/key.md":     "secret/key.md",
		"open/elsewhere": "real",
		"open/file":      "real/x",
	} {
		link(t, target, at(name))
	}
	t.Run("inside a mount are followed", func(t *testing.T) {
		s.t = t
		s.answers("read_file", `{"file_path":"reference/inside.md"}`, "alpha")
		s.answers("read_file", `{"file_path":"reference/chain"}`, "alpha")
		s.answers("read_file", `{"file_path":"reference/sub/x.md"}`, "x")
		s.answers("ls", `{"path":"reference/sub"}`, "x.md")
	})
	t.Run("that leave, lead nowhere or to what is hidden are not", func(t *testing.T) {
		s.t = t
		for _, path := range []string{"leaves.md", "leaves/top", "absolute", "here", "machine/f/workflow.yaml", "loop", "env.txt", "dangling"} {
			s.refuses("read_file", `{"file_path":"reference/`+path+`"}`, "'reference/"+path+"'")
			s.refuses("copy_file", `{"source":"reference/`+path+`","destination":"scratchpad/x"}`)
			s.refuses("grep", `{"pattern":"x","path":"reference/`+path+`"}`)
		}
	})
	t.Run("are in no listing unless they lead somewhere", func(t *testing.T) {
		s.t = t
		s.answers("ls", `{"path":"reference"}`, "a.md\nchain\ndir/\ninside.md\nkey.md\nsecret/\nsub/")
		s.answers("glob", `{"pattern":"**","path":"reference"}`, "reference/a.md\nreference/chain\nreference/dir/x.md\nreference/inside.md\nreference/key.md\nreference/secret/key.md")
	})
	t.Run("do not get around a denial of what they lead to", func(t *testing.T) {
		s.t = t
		s.visible = func(path string) bool { return !strings.HasPrefix(path, "reference/secret") }
		defer func() { s.visible = nil }()
		s.refuses("read_file", `{"file_path":"reference/key.md"}`, "does not exist")
		s.refuses("copy_file", `{"source":"reference/key.md","destination":"scratchpad/x"}`, "does not exist")
		s.answers("grep", `{"pattern":"key"}`, "no matches")
		s.answers("glob", `{"pattern":"**/key.md"}`, "no files match")
	})
	t.Run("are never written through or removed", func(t *testing.T) {
		s.t = t
		for _, path := range []string{"open/file", "open/elsewhere/x", "open/elsewhere/new"} {
			s.refuses("write_file", `{"file_path":"`+path+`","content":"y","overwrite":true}`, "symbolic link")
		}
		s.refuses("edit_file", `{"file_path":"open/file","old_string":"x","new_string":"y"}`, "symbolic link")
		s.refuses("remove_file", `{"file_path":"open/file"}`, "symbolic link")
		if got, err := os.ReadFile(at("open/real/x")); err != nil || string(got) != "x" {
			t.Errorf("%q %v", got, err)
		}
	})
	t.Run("in a session are refused", func(t *testing.T) {
		s.t = t
		s.put("checkpoints/journal.jsonl", "journal")
		s.put("scratchpad/real.txt", "real")
		session := s.files.(*tree).root.Name()
		link(t, "../checkpoints/journal.jsonl", filepath.Join(session, "scratchpad", "j"))
		link(t, "../checkpoints", filepath.Join(session, "scratchpad", "c"))
		link(t, at("outside.md"), filepath.Join(session, "scratchpad", "o"))
		link(t, "real.txt", filepath.Join(session, "scratchpad", "r"))
		for _, path := range []string{"j", "c/journal.jsonl", "o", "r"} {
			s.refuses("read_file", `{"file_path":"scratchpad/`+path+`"}`, "symbolic link")
			s.refuses("write_file", `{"file_path":"scratchpad/`+path+`","content":"x","overwrite":true}`, "symbolic link")
		}
		s.answers("ls", `{"path":"scratchpad"}`, "real.txt")
		s.answers("grep", `{"pattern":"journal"}`, "no matches")
	})
	t.Run("put in the place of a mounted file later are refused", func(t *testing.T) {
		s := newWorld(t, map[string]string{"AGENTS.md": "be kind", "archmax.yaml": "config", ".env": "SECRET"}, DefaultMounts(), newMemory())
		for _, target := range []string{"archmax.yaml", ".env"} {
			if err := os.Remove(filepath.Join(s.root, "AGENTS.md")); err != nil {
				t.Fatal(err)
			}
			link(t, target, filepath.Join(s.root, "AGENTS.md"))
			s.refuses("read_file", `{"file_path":"AGENTS.md"}`, "symbolic link")
			if _, err := s.shared.ReadFile("AGENTS.md"); err == nil {
				t.Error("served for the prompt")
			}
			s.answers("ls", `{}`, "scratchpad/")
		}
	})
}

// Only a system that takes names of another case for one shows the danger; the
// tree stands for it.
func TestAnotherSpellingIsNoWayAround(t *testing.T) {
	files := newMemory()
	files.anyCase = true
	s := newWorld(t, nil, nil, files)
	s.put("scratchpad/secret/key.txt", "key")
	s.put("checkpoints/journal.jsonl", "journal")
	if _, err := files.Stat("SCRATCHPAD/Secret/KEY.txt"); err != nil {
		t.Fatalf("the tree tells cases apart: %v", err)
	}
	for _, path := range []string{"scratchpad/Secret/key.txt", "Scratchpad/secret/key.txt", "scratchpad/secret/KEY.TXT", "CHECKPOINTS/journal.jsonl", "checkpoint\u017f/journal.jsonl"} {
		s.refuses("read_file", `{"file_path":"`+path+`"}`)
		s.refuses("write_file", `{"file_path":"`+path+`","content":"x","overwrite":true}`)
		s.refuses("remove_file", `{"file_path":"`+path+`"}`)
	}
	s.answers("read_file", `{"file_path":"scratchpad/secret/key.txt"}`, "key")
	s.answers("write_file", `{"file_path":"scratchpad/new.txt","content":"x"}`, "wrote 'scratchpad/new.txt' (1 byte)")
}

func TestUnicodeNames(t *testing.T) {
	everywhere(t, map[string]string{"ref/straße/日本.md": "こんにちは\n"}, []MountConfig{mountAt("reference", "ref")}, func(t *testing.T, s *world) {
		s.answers("read_file", `{"file_path":"reference/straße/日本.md"}`, "こんにちは\n")
		s.answers("glob", `{"pattern":"**/日*"}`, "reference/straße/日本.md")
		s.answers("write_file", `{"file_path":"scratchpad/naïve/😀.txt","content":"😀"}`, "wrote 'scratchpad/naïve/😀.txt' (4 bytes)")
		s.answers("read_file", `{"file_path":"scratchpad/naïve/😀.txt"}`, "😀")
		s.answers("grep", `{"pattern":"^.$","output_mode":"content"}`, "scratchpad/naïve/😀.txt:1:😀")
		s.refuses("read_file", `{"file_path":"reference/straße/日.md"}`, "does not exist")
	})
}

func TestHugeFilesAreBounded(t *testing.T) {
	s := newWorld(t, nil, nil, onDisk(t))
	session := s.files.(*tree).root.Name()
	s.put("scratchpad/small", "needle\n")
	huge := filepath.Join(session, "scratchpad", "huge.txt")
	line := strings.Repeat("x", 1<<20-1) + "\n"
	file, err := os.Create(huge)
	if err != nil {
		t.Fatal(err)
	}
	for range 65 { // a MiB more than is held of one file
		if _, err := file.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	s.refuses("read_file", `{"file_path":"scratchpad/huge.txt"}`, "more than 64 MB", "fewer")
	got, err := s.call("read_file", `{"file_path":"scratchpad/huge.txt","offset":64,"limit":1}`)
	if err != nil || got.Text != line+"[lines 65-65 of 65]" {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	s.refuses("edit_file", `{"file_path":"scratchpad/huge.txt","old_string":"x","new_string":"y","replace_all":true}`, "65 MB", "64 MB")
	s.refuses("copy_file", `{"source":"scratchpad/huge.txt","destination":"scratchpad/y"}`, "64 MB")
	s.put("scratchpad/long-line.txt", strings.Repeat("x", maxLine)+"needle\n")
	s.answers("grep", `{"pattern":"needle","glob":"{small,long-line.txt}"}`, "scratchpad/small")
	s.refuses("grep", `{"pattern":"needle","path":"scratchpad/long-line.txt"}`, "a line of more than 16 MB")
}

func TestErrorsOfTheSystemAreOurs(t *testing.T) {
	t.Run("a directory that may not be read", func(t *testing.T) {
		err := translate("scratchpad/a", &fs.PathError{Op: "openat", Path: "/home/u/sessions/s1/scratchpad/a", Err: fs.ErrPermission})
		if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "/home") || !strings.Contains(err.Error(), "permission") {
			t.Error(err)
		}
	})
	t.Run("words nobody knows are not passed on", func(t *testing.T) {
		err := translate("scratchpad/a", errors.New("cannot stat /home/u/sessions/s1"))
		if strings.Contains(err.Error(), "/home") || !strings.HasPrefix(err.Error(), "'scratchpad/a' ") {
			t.Error(err)
		}
	})
}

func TestATreeWritesInOneStep(t *testing.T) {
	files := onDisk(t).(*tree)
	dir := files.root.Name()
	if err := files.Write("a/b/c.txt", []byte("1"), true); err != nil {
		t.Fatal(err)
	}
	if err := files.Write("a/b/c.txt", []byte("2"), true); !errors.Is(err, fs.ErrExist) {
		t.Errorf("exclusive: %v", err)
	}
	if err := os.Chmod(filepath.Join(dir, "a", "b", "c.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := files.Write("a/b/c.txt", []byte("3"), false); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "a", "b", "c.txt"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of a file is not kept: %v %v", info.Mode(), err)
	}
	if err := files.Write("a/b", []byte("4"), false); err == nil {
		t.Error("a directory was replaced")
	}
	if err := files.Write("../x", []byte("5"), false); err == nil {
		t.Error("written outside")
	}
	entries, err := os.ReadDir(filepath.Join(dir, "a", "b"))
	if err != nil || len(entries) != 1 {
		t.Errorf("temporary files stay: %v %v", entries, err)
	}
	if err := os.WriteFile(filepath.Join(dir, tempPrefix+"1-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newWorld(t, nil, nil, files)
	s.answers("ls", `{}`, "a/\nscratchpad/")
}
