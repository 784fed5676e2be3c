package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sealed writes lines, given without their closing brace, as one frame.
func sealed(lines ...string) string {
	covered := strings.Join(lines, "}\n")
	return fmt.Sprintf("%s,\"commit\":{\"n\":%d,\"crc\":%d}}\n", covered, len(lines), crc32.Checksum([]byte(covered), castagnoli))
}

func line(seq int, rest string) string {
	return fmt.Sprintf(`{"v":1,"seq":%d,"ts":"2026-03-04T05:06:07.008Z",%s`, seq, rest)
}

func warning(seq int) string { return line(seq, `"kind":"warning","scope":"s","message":"m"`) }

func TestAJournalThatCannotBeTrustedIsNeverChanged(t *testing.T) {
	first := sealed(line(1, `"kind":"created","session":"s1","workflow":"w"`))
	flip := func(s string, at int) string {
		b := []byte(s)
		b[at] ^= 0x04
		return string(b)
	}
	two := sealed(warning(2), warning(3))
	four := sealed(warning(4))
	for _, c := range []struct {
		name, journal string
		line          int
		seq           uint64
		version       int
		kind          Kind
		says          string
	}{
		{name: "a flipped bit before a later frame", journal: first + flip(two, 90) + four, line: 2, seq: 2},
		{name: "a flipped bit in the second line of a frame", journal: first + flip(two, len(two)-60) + four, line: 3, seq: 3},
		{name: "a flipped bit in a commit before a later frame", journal: first + flip(two, len(two)-4) + four, line: 3, seq: 3},
		{name: "a line end that became something else", journal: first + strings.TrimSuffix(two, "\n") + "\v" + four, line: 3, seq: 3},
		{name: "a first frame that is damaged", journal: flip(first, 50) + two, line: 1, seq: 1},
		{name: "a missing frame", journal: first + four, line: 2, seq: 2, says: "record 4 stands there"},
		{name: "a frame that stands there twice", journal: first + two + two, line: 4, seq: 4, says: "record 2 stands there"},
		{name: "a missing line inside a frame", journal: first + strings.SplitAfter(two, "\n")[1] + four, line: 2, seq: 2},
		{name: "zeros before a later frame", journal: first + strings.Repeat("\x00", 512) + "\n" + four, line: 2, seq: 2},
		{name: "no committed frame at all", journal: "garbage", line: 1, seq: 1, says: "no step of it was ever committed"},
		{name: "half a first frame", journal: first[:40], line: 1, seq: 1},
		{name: "a whole first line without its commit", journal: line(1, `"kind":"created","session":"s1","workflow":"w"`) + "}\n", line: 1, seq: 1},
		{name: "a body of the wrong shape", journal: first + sealed(line(2, `"kind":"warning","scope":7`)), line: 2, seq: 2, says: `its "warning" fields are not what that kind holds`},
		{name: "a frame that contradicts the session", journal: first + sealed(line(2, `"kind":"result","call":"c","status":"ok","text":""`)), line: 2, seq: 2, says: `call "c" is not open`},
		{name: "a park on a decision without a record", journal: first + sealed(line(2, `"kind":"parked","channel":"decision"`)), line: 2, seq: 2},
		{name: "a journal that does not begin", journal: sealed(warning(1)), line: 1, seq: 1},
		{name: "another session's journal", journal: sealed(line(1, `"kind":"created","session":"s2","workflow":"w"`)), line: 1, seq: 1, says: `session "s2"`},
		{name: "a newer version", journal: first + sealed(`{"v":3,"seq":2,"ts":"2026-03-04T05:06:07.008Z","kind":"warning","scope":"s"`), seq: 2, version: 3, says: "journal version 3 is needed"},
		{name: "a newer version that commits in another way", journal: first + `{"v":2,"s":[2,"x"],"seal":"abc"}` + "\n", seq: 2, version: 2, says: "journal version 2 is needed"},
		{name: "a newer version from the start", journal: `{"v":2,"s":[1,"x"],"seal":"abc"}` + "\n", seq: 1, version: 2},
		{name: "an unknown kind", journal: first + sealed(line(2, `"kind":"teleported","to":"x"`)), seq: 2, version: 1, kind: "teleported", says: "a newer archmax wrote it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := NewFSStore(t.TempDir(), nil)
			name := writeJournal(t, store, "s1", []byte(c.journal))
			check := func(door string, err error) {
				t.Helper()
				if err == nil {
					t.Fatalf("%s took it", door)
				}
				if c.version > 0 {
					var v VersionError
					if !errors.As(err, &v) || v.V != c.version || v.Seq != c.seq || v.Kind != c.kind || v.File != name {
						t.Errorf("%s: %#v", door, err)
					}
				} else {
					var d DamagedError
					if !errors.As(err, &d) || d.Line != c.line || d.Seq != c.seq || d.File != name {
						t.Errorf("%s: %#v", door, err)
					}
				}
				if !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), name+":") || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v", door, err)
				}
			}
			_, err := store.Open(context.Background(), "s1", false)
			check("Open", err)
			_, err = store.Open(context.Background(), "s1", true)
			check("Open to create", err)
			_, err = store.Load(context.Background(), "s1")
			check("Load", err)
			list, err := store.List(context.Background())
			if err != nil || len(list) != 1 || list[0].ID != "s1" || list[0].Control != nil {
				t.Fatalf("List: %+v, %v", list, err)
			}
			check("List", list[0].Err)
			if got, _ := os.ReadFile(name); string(got) != c.journal {
				t.Error("the journal was changed")
			}
			if err := store.Delete(context.Background(), "s1"); err != nil {
				t.Errorf("it cannot be deleted: %v", err)
			}
		})
	}
}

func TestATornTailIsIgnoredByReadersAndCutByWriters(t *testing.T) {
	frame, _, _ := encodeFrame(5, testStart, []Body{&Warned{Message: "lost"}, &Warned{Message: "lost"}})
	whole := encodeSession(t, "s1", 2)
	for name, tail := range map[string]string{
		"half a line":                 string(frame[:40]),
		"a line without its commit":   string(frame[:bytes.IndexByte(frame, '\n')+1]),
		"a commit without line end":   string(frame[:len(frame)-1]),
		"a wrong checksum":            string(frame[:len(frame)-5]) + "0}}\n",
		"zeros":                       strings.Repeat("\x00", 4096),
		"zeros where a line was lost": strings.Repeat("\x00", bytes.IndexByte(frame, '\n')) + string(frame[bytes.IndexByte(frame, '\n'):]),
	} {
		t.Run(name, func(t *testing.T) {
			store := NewFSStore(t.TempDir(), nil)
			journal := writeJournal(t, store, "s1", append(bytes.Clone(whole), tail...))
			state, err := store.Load(context.Background(), "s1")
			if err != nil || state.Seq != 10 {
				t.Fatalf("Load: %v", err)
			}
			if list, err := store.List(context.Background()); err != nil || list[0].Err != nil {
				t.Errorf("List: %v, %v", list, err)
			}
			if got, _ := os.ReadFile(journal); len(got) != len(whole)+len(tail) {
				t.Error("a reader cut the tail")
			}
			w, err := store.Open(context.Background(), "s1", false)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if got, _ := os.ReadFile(journal); !bytes.Equal(got, whole) {
				t.Error("the writer did not cut the tail")
			}
			if _, err := w.Append(&Settled{As: Completed}); err != nil {
				t.Fatal(err)
			}
			if state, err = store.Load(context.Background(), "s1"); err != nil || state.Seq != 11 {
				t.Errorf("after the append: %v", err)
			}
		})
	}
}

func TestAFolderThatCannotBeReadIsListedByItsNameAndCanBeDeleted(t *testing.T) {
	store := NewFSStore(t.TempDir(), nil)
	folder := Folder("An odd id")
	writeJournal(t, store, "An odd id", []byte("garbage\n"))
	list, err := store.List(context.Background())
	if err != nil || len(list) != 1 || list[0].ID != folder || list[0].Err == nil {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := store.Delete(context.Background(), folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(store.Dir(), folder)); !os.IsNotExist(err) {
		t.Errorf("the folder stayed: %v", err)
	}
}

func TestForeignFilesInTheStoreAreNoSessions(t *testing.T) {
	store := NewFSStore(t.TempDir(), nil)
	writeJournal(t, store, "s1", encodeSession(t, "s1", 1))
	for _, dir := range []string{"empty", ".git/checkpoints", "_specs/checkpoints"} {
		if err := os.MkdirAll(filepath.Join(store.Dir(), dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"README.md", ".DS_Store"} {
		if err := os.WriteFile(filepath.Join(store.Dir(), name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := store.List(context.Background())
	if err != nil || len(list) != 1 || list[0].ID != "s1" {
		t.Errorf("%+v, %v", list, err)
	}
}
