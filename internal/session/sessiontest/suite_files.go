package sessiontest

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/archmax-ai/archmax/internal/session"
)

func files(t *testing.T, s session.Store) {
	w := create(t, s, "s1")
	defer shut(t, w)
	CheckFiles(t, w.Files())
	if err := w.Files().Write("checkpoints/journal.jsonl", nil, false); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("writing over the journal: %v", err)
	}
	if err := w.Files().Remove("checkpoints/journal.jsonl"); err == nil {
		t.Error("the journal was removed")
	}
	if err := w.Files().Write("scratchpad/a.txt", []byte("one"), false); err != nil {
		t.Fatal(err)
	}
	read := must[session.Files](t)(s.Files(bg, "s1"))
	if got, err := fs.ReadFile(read, "scratchpad/a.txt"); err != nil || string(got) != "one" {
		t.Errorf("read %q, %v", got, err)
	}
}

// CheckFiles checks a Files that can be written to.
func CheckFiles(t *testing.T, f session.Files) {
	t.Helper()
	write := func(name, content string, exclusive bool, want error) {
		t.Helper()
		if err := f.Write(name, []byte(content), exclusive); !errors.Is(err, want) {
			t.Errorf("write %s: got %v, want %v", name, err, want)
		}
	}
	write("notes/deep/er/a.txt", "one", true, nil)
	write("notes/deep/er/a.txt", "two", true, fs.ErrExist)
	write("notes/deep/er/a.txt", "two\x00\xff", false, nil)
	write("notes/b.txt", "", false, nil)
	if got, err := fs.ReadFile(f, "notes/deep/er/a.txt"); err != nil || string(got) != "two\x00\xff" {
		t.Errorf("read %q, %v", got, err)
	}
	if err := fstest.TestFS(subFiles{f}, "deep/er/a.txt", "b.txt"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"../x", "/x", "a/../x", "", "notes//b.txt", "./x", "notes/"} {
		write(name, "", false, fs.ErrInvalid)
		if _, err := f.Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("open %q: %v", name, err)
		}
		if err := f.Remove(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("remove %q: %v", name, err)
		}
	}
	for _, name := range []string{".", "notes", "notes/deep"} {
		if err := f.Write(name, nil, false); err == nil {
			t.Errorf("wrote over the folder %s", name)
		}
		if err := f.Remove(name); err == nil {
			t.Errorf("removed the folder %s", name)
		}
	}
	if err := f.Write("notes/b.txt/c", nil, false); err == nil {
		t.Error("a file was taken for a folder")
	}
	if err := f.Remove("notes/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removing what is not there: %v", err)
	}
	for _, name := range []string{"notes/deep/er/a.txt", "notes/b.txt"} {
		if err := f.Remove(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.Stat("notes"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an emptied folder stayed: %v", err)
	}
}

// subFiles is the notes folder, as a file system of its own.
type subFiles struct{ session.Files }

func (s subFiles) Open(name string) (fs.File, error) {
	sub, err := fs.Sub(s.Files, "notes")
	if err != nil {
		return nil, err
	}
	return sub.Open(name)
}

func (s subFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	sub, err := fs.Sub(s.Files, "notes")
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(sub, name)
}

func (s subFiles) Stat(name string) (fs.FileInfo, error) {
	sub, err := fs.Sub(s.Files, "notes")
	if err != nil {
		return nil, err
	}
	return fs.Stat(sub, name)
}

func filesBeforeAppend(t *testing.T, s session.Store) {
	w := must[session.Writer](t)(s.Open(bg, "s1", true))
	if list, err := w.Files().ReadDir("."); err != nil || len(list) != 0 {
		t.Errorf("a prepared folder lists %v, %v", list, err)
	}
	if _, err := w.Files().Open("scratchpad/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
	if err := w.Files().Write("scratchpad/attachments/a.csv", []byte("1"), true); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(bg, "s1"); !errors.As(err, new(session.NotFoundError)) {
		t.Errorf("a session with files and no record loads: %v", err)
	}
	shut(t, w)
	if list := must[[]session.Entry](t)(s.List(bg)); len(list) != 0 {
		t.Errorf("listed: %v", list)
	}
	w = must[session.Writer](t)(s.Open(bg, "s1", true))
	defer shut(t, w)
	if _, err := w.Files().Stat("scratchpad/attachments/a.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the abandoned file stayed: %v", err)
	}
	if err := w.Files().Write("scratchpad/attachments/b.csv", []byte("2"), true); err != nil {
		t.Fatal(err)
	}
	add(t, w, opening("s1")...)
	read := must[session.Files](t)(s.Files(bg, "s1"))
	if got, err := fs.ReadFile(read, "scratchpad/attachments/b.csv"); err != nil || string(got) != "2" {
		t.Errorf("read %q, %v", got, err)
	}
}

func specs(t *testing.T, s session.Store) {
	if _, err := s.Spec("abc"); !errors.As(err, new(session.SpecNotFoundError)) {
		t.Errorf("a spec that is not there: %v", err)
	}
	for _, content := range []string{"first", "second"} {
		if err := s.PutSpec("abc", []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Spec("abc"); err != nil || string(got) != "first" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "../x", "a/b"} {
		if err := s.PutSpec(bad, nil); err == nil {
			t.Errorf("stored under %q", bad)
		}
		if _, err := s.Spec(bad); err == nil {
			t.Errorf("read from %q", bad)
		}
	}
	if list := must[[]session.Entry](t)(s.List(bg)); len(list) != 0 {
		t.Errorf("specs are listed as sessions: %v", list)
	}
}

func prompts(t *testing.T, s session.Store) {
	w := create(t, s, "s")
	if _, err := s.Prompt(bg, "s", "abc"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a prompt that is not there: %v", err)
	}
	for range 2 {
		if err := w.KeepPrompt("abc", []byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.KeepPrompt("../abc", nil); err == nil {
		t.Error("a key that is a path was taken")
	}
	shut(t, w)
	if got, err := s.Prompt(bg, "s", "abc"); err != nil || string(got) != "text" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := s.Delete(bg, "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prompt(bg, "s", "abc"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the session was deleted: %v", err)
	}
}
