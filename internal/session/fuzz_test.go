package session

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzJournal checks that no bytes make the journal's reader panic, that what
// it takes is a whole number of committed frames, and that cutting the tail it
// ignored changes nothing.
func FuzzJournal(f *testing.F) {
	for seed := range uint64(4) {
		g := newGenerator(f, "s1", seed)
		for range 12 {
			g.frame()
		}
		f.Add(g.bytes)
		f.Add(g.bytes[:len(g.bytes)-9])
		f.Add(bytes.Replace(g.bytes, []byte(`"seq":7`), []byte(`"seq":8`), 1))
	}
	f.Add([]byte(sealed(line(1, `"kind":"created","session":"s1","workflow":"w"`)) + sealed(`{"v":2,"seq":2`)))
	f.Add([]byte(sealed(line(1, `"kind":"created","session":"s1","workflow":"w"`)) + "{\"v\":9}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fold := func(raw []byte) (*State, mark, bool, error) {
			node := &faultNode{data: bytes.Clone(raw)}
			return foldJournal("j", "s1", &faultFile{fs: newFaultFS(t), node: node}, int64(len(raw)))
		}
		state, last, torn, err := fold(raw)
		if err != nil {
			var damaged DamagedError
			var version VersionError
			if !errors.As(err, &damaged) && !errors.As(err, &version) {
				t.Fatalf("an error of another type: %v", err)
			}
			return
		}
		if last.end > int64(len(raw)) || torn != (last.end < int64(len(raw))) || state.Seq != last.seq || state.Length != len(state.Messages) {
			t.Fatalf("mark %+v, torn %v, %d bytes, seq %d", last, torn, len(raw), state.Seq)
		}
		again, end, torn, err := fold(raw[:last.end])
		if err != nil || torn || end != last || print(t, again) != print(t, state) {
			t.Fatalf("without its tail: %+v, %v, %v", end, torn, err)
		}
	})
}

// FuzzCommittedRecords gives the fold records that were committed, whatever
// they hold: none makes it panic, and what it takes can be snapshotted.
func FuzzCommittedRecords(f *testing.F) {
	g := newGenerator(f, "s1", 9)
	for range 30 {
		g.frame()
	}
	for _, l := range bytes.Split(g.bytes, []byte("\n")) {
		if at := bytes.Index(l, []byte(`"kind":`)); at > 0 {
			if cut, _, _, ok := commitOf(l); ok {
				l = l[:cut]
			} else {
				l = l[:len(l)-1]
			}
			f.Add(string(l[at:]), `"kind":"settled","as":"completed"`)
		}
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		raw := []byte(sealed(line(1, `"kind":"created","session":"s1","workflow":"w"`)) +
			sealed(line(2, `"kind":"turn","arrival":"turn","trigger":"manual","spec":"a"`)) + sealed(line(3, one)) + sealed(line(4, two)))
		state, last, _, err := foldJournal("j", "s1", &faultFile{fs: newFaultFS(t), node: &faultNode{data: raw}}, int64(len(raw)))
		if err != nil {
			return
		}
		if _, err := Encode(&state.Control); err != nil {
			t.Fatalf("the control state at %+v cannot be written: %v", last, err)
		}
	})
}
