package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// snapshot is checkpoints/snapshot.json: the control state up to a committed
// frame. It is disposable; any mismatch discards it.
type snapshot struct {
	Fold    int             `json:"fold"`   // FoldVersion
	V       int             `json:"v"`      // Version
	Start   int64           `json:"start"`  // offset of the last frame covered
	Offset  int64           `json:"offset"` // offset after it
	CRC     uint32          `json:"crc"`    // the frame's
	Sum     uint32          `json:"sum"`    // CRC-32C of control
	Control json.RawMessage `json:"control"`
}

// maxSnapshot bounds what is read of one, in bytes.
const maxSnapshot = MaxLine

// snapshot writes the control state of the last committed frame.
func (j *journal) snapshot() error {
	if j.dead != nil {
		return j.dead
	}
	if j.last.seq == j.snapped {
		return nil
	}
	control, err := Encode(&j.state.Control)
	if err != nil {
		return err
	}
	raw, err := Encode(snapshot{
		Fold: FoldVersion, V: Version, Start: j.last.start, Offset: j.last.end, CRC: j.last.crc,
		Sum: crc32.Checksum(control, castagnoli), Control: control,
	})
	if err != nil {
		return err
	}
	// It is not synced: what a crash leaves of it is checked like the rest.
	temp := filepath.Join(j.dir, tempPrefix+"snapshot"+tempSuffix)
	f, err := j.fs.Open(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return storeErr("write", temp, err)
	}
	_, err = f.WriteAt(raw, 0)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = j.fs.Rename(temp, filepath.Join(j.dir, snapshotName))
	}
	if err != nil {
		_ = j.fs.Remove(temp)
		return storeErr("write", filepath.Join(j.dir, snapshotName), err)
	}
	j.snapped = j.last.seq
	return nil
}

// readSnapshot returns the snapshot of the journal in f, as a state without a
// transcript, with the mark it covers; ok is false when there is no valid one.
func readSnapshot(fs fsys, dir string, f file) (*State, mark, bool) {
	raw, err := readSmall(fs, filepath.Join(dir, snapshotName))
	if err != nil {
		return nil, mark{}, false
	}
	var snap snapshot
	if json.Unmarshal(raw, &snap) != nil || snap.Fold != FoldVersion || snap.V != Version ||
		crc32.Checksum(snap.Control, castagnoli) != snap.Sum {
		return nil, mark{}, false
	}
	var control Control
	if json.Unmarshal(snap.Control, &control) != nil || control.Seq == 0 {
		return nil, mark{}, false
	}
	at := mark{seq: control.Seq, start: snap.Start, end: snap.Offset, crc: snap.CRC}
	if !covers(f, at) {
		return nil, mark{}, false
	}
	return resumeState(control), at, true
}

// covers reports whether the frame at the mark is in the journal, byte for byte.
func covers(f file, at mark) bool {
	size, err := f.Size()
	if err != nil || at.start < 0 || at.end <= at.start || at.end > size || at.end-at.start > MaxFrame {
		return false
	}
	frame := make([]byte, at.end-at.start)
	if _, err := f.ReadAt(frame, at.start); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	lines, used, end, _ := cutFrames(frame, mark{end: at.start})
	if used != len(frame) || end.crc != at.crc || end.start != at.start {
		return false
	}
	rec, err := decodeRecord(lines[len(lines)-1])
	return err == nil && rec.Seq == at.seq
}

// readSmall reads a whole file of bounded size.
func readSmall(fs fsys, name string) ([]byte, error) {
	f, err := fs.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > maxSnapshot {
		return nil, errors.New("too large")
	}
	raw := make([]byte, size)
	n, err := f.ReadAt(raw, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return raw[:n], nil
}
