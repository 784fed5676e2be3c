package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestNoLinkLeadsOutOfAFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("links need a privilege there; os.Root is checked by its own tests")
		return
	}
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.txt"), "secret")
	dir := t.TempDir()
	for _, area := range []string{"scratchpad", "checkpoints"} {
		if err := os.Mkdir(filepath.Join(dir, area), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "checkpoints", "journal.jsonl"), "journal")
	write(t, filepath.Join(dir, "scratchpad", "a.txt"), "mine")
	for link, to := range map[string]string{
		"scratchpad/out":       outside,
		"scratchpad/up":        "../..",
		"scratchpad/file":      filepath.Join(outside, "secret.txt"),
		"scratchpad/internal":  "../checkpoints",
		"scratchpad/journal":   "../checkpoints/journal.jsonl",
		"scratchpad/mine":      "a.txt",
		"scratchpad/loop":      "loop",
		"scratchpad/nowhere":   "gone",
		"notes":                "checkpoints",
		"checkpoints-by-alias": "scratchpad/internal",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, open := range map[string]func() (*RootFiles, error){
		"a session": func() (*RootFiles, error) { return openRoot(dir, true) },
		"a mount":   func() (*RootFiles, error) { return OpenFiles(dir) },
	} {
		t.Run(name, func(t *testing.T) {
			f, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			refused := []string{"scratchpad/out/secret.txt", "scratchpad/up/x", "scratchpad/file", "scratchpad/loop"}
			if f.owned {
				refused = append(refused, "scratchpad/internal/journal.jsonl", "scratchpad/journal", "notes/journal.jsonl", "checkpoints-by-alias/journal.jsonl")
			}
			for _, name := range refused {
				if _, err := fs.ReadFile(f, name); err == nil {
					t.Errorf("%s was read", name)
				}
			}
			for _, name := range []string{"scratchpad/out/new.txt", "scratchpad/out/secret.txt", "scratchpad/up/new.txt"} {
				if err := f.Write(name, []byte("x"), false); err == nil {
					t.Errorf("%s was written", name)
				}
				if err := f.Remove(name); err == nil {
					t.Errorf("%s was removed", name)
				}
			}
			if f.owned {
				for _, name := range []string{"scratchpad/internal/journal.jsonl", "notes/journal.jsonl", "notes/new"} {
					if err := f.Write(name, []byte("x"), false); err == nil {
						t.Errorf("%s was written", name)
					}
				}
			}
			if got, err := fs.ReadFile(f, "scratchpad/mine"); err != nil || string(got) != "mine" {
				t.Errorf("a link within its area: %q, %v", got, err)
			}
			for path, want := range map[string]string{
				filepath.Join(outside, "secret.txt"):               "secret",
				filepath.Join(dir, "checkpoints", "journal.jsonl"): "journal",
			} {
				if got, err := os.ReadFile(path); err != nil || string(got) != want {
					t.Errorf("%s holds %q, %v", path, got, err)
				}
			}
		})
	}
	f, _ := openRoot(dir, true)
	defer f.Close()
	if err := f.Remove("scratchpad/nowhere"); err != nil {
		t.Errorf("a dangling link cannot be removed: %v", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
}

func TestModesOfWrittenFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("there are no such modes there")
		return
	}
	mode := func(path string) fs.FileMode {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return fi.Mode().Perm()
	}
	dir := t.TempDir()
	owned, _ := openRoot(dir, true)
	defer owned.Close()
	if err := owned.Write("scratchpad/a.txt", nil, false); err != nil {
		t.Fatal(err)
	}
	if got := mode(filepath.Join(dir, "scratchpad")); got != 0o700 {
		t.Errorf("a session's folder has mode %o", got)
	}
	if got := mode(filepath.Join(dir, "scratchpad", "a.txt")); got != 0o600 {
		t.Errorf("a session's file has mode %o", got)
	}
	write(t, filepath.Join(dir, "b.txt"), "")
	mount, _ := OpenFiles(dir)
	defer mount.Close()
	if err := mount.Write("b.txt", []byte("x"), false); err != nil {
		t.Fatal(err)
	}
	if got := mode(filepath.Join(dir, "b.txt")); got != 0o640 {
		t.Errorf("a mount's file changed its mode to %o", got)
	}
}

func TestAKilledWriteLeavesNothingInSight(t *testing.T) {
	dir := t.TempDir()
	f, _ := OpenFiles(dir)
	defer f.Close()
	write(t, filepath.Join(dir, tempName()), "half")
	list, err := f.ReadDir(".")
	if err != nil || len(list) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	if _, err := OpenFiles(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
