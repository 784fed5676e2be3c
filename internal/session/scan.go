package session

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"sync"
)

// mark is the end of a committed frame. A line of the journal is a record and
// records count from 1, so a record's number is also its line.
type mark struct {
	seq   uint64 // of the frame's last record
	start int64  // offset of the frame
	end   int64  // offset after it
	crc   uint32
}

// blockSize is how much of a journal is read at once; a longer frame grows it.
const blockSize = 4 << 20

// scan reads the committed frames of a journal from the mark on and gives their
// records to visit, in order, many at a time. It returns the end of the last
// frame and whether uncommitted bytes follow it. Errors: DamagedError,
// VersionError, the file's, visit's; of a journal that is damaged, frames
// before the damage may have been visited.
func scan(name string, r io.ReaderAt, size int64, from mark, visit func([]Record) error) (last mark, torn bool, err error) {
	last = from
	var held []byte // read, but not yet a committed frame
	for at := from.end; ; {
		n := min(max(blockSize, int64(len(held))), size-at)
		block := make([]byte, int64(len(held))+n)
		copy(block, held)
		got, err := r.ReadAt(block[len(held):], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return last, false, storeErr("read", name, err)
		}
		if int64(got) < n { // the file became shorter: a writer cut a torn tail
			size = at + int64(got)
		}
		at += int64(got)
		block = block[:len(held)+got]
		lines, used, next, bad := cutFrames(block, last)
		recs, err := decodeAll(name, lines, last.seq)
		if err != nil {
			return last, false, err
		}
		if len(recs) > 0 {
			if err := visit(recs); err != nil {
				return last, false, err
			}
		}
		last, held = next, block[used:]
		done := at >= size
		if !bad && !done {
			continue
		}
		if !done {
			rest := make([]byte, size-at)
			got, err := r.ReadAt(rest, at)
			if err != nil && !errors.Is(err, io.EOF) {
				return last, false, storeErr("read", name, err)
			}
			held = append(bytes.Clone(held), rest[:got]...)
		}
		return last, len(held) > 0, judge(name, held, last)
	}
}

// cutFrames splits the committed frames off the start of block, which begins
// after the frame last. It returns their records' bytes (newline and commit cut
// off), how much of the block they are, and the last one's mark. Bad says that
// what follows can be no frame, however much more of it is read.
func cutFrames(block []byte, last mark) (lines [][]byte, used int, end mark, bad bool) {
	end = last
	base := last.end
	open := 0 // lines of the frame being read
	for at := 0; ; {
		i := bytes.IndexByte(block[at:], '\n')
		if i < 0 {
			return lines[:len(lines)-open], used, end, len(block)-at > MaxLine || len(block)-used > MaxFrame
		}
		line := block[at : at+i]
		next := at + i + 1
		open++
		cut, n, crc, ok := commitOf(line)
		if !ok {
			lines = append(lines, line)
			at = next
			continue
		}
		frame := block[used : at+cut]
		if n != open || len(line) > MaxLine || crc32.Checksum(frame, castagnoli) != crc {
			return lines[:len(lines)-(open-1)], used, end, true
		}
		block[at+cut] = '}'
		lines = append(lines, block[at:at+cut+1:at+cut+1])
		end = mark{seq: end.seq + uint64(open), start: base + int64(used), end: base + int64(next), crc: crc}
		at, used, open = next, next, 0
	}
}

// decodeAll decodes committed records, the first of which follows record seq,
// on all processors.
func decodeAll(name string, lines [][]byte, seq uint64) ([]Record, error) {
	recs := make([]Record, len(lines))
	errs := make([]error, len(lines))
	decode := func(from, to int) {
		for i := from; i < to; i++ {
			recs[i], errs[i] = decodeRecord(lines[i])
		}
	}
	const worthIt = 64
	if workers := min(runtime.GOMAXPROCS(0), len(lines)/worthIt); workers > 1 {
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() { decode(w*len(lines)/workers, (w+1)*len(lines)/workers) })
		}
		wg.Wait()
	} else {
		decode(0, len(lines))
	}
	for i, err := range errs {
		want := seq + uint64(i) + 1
		if err == nil && recs[i].Seq == want {
			continue
		}
		var unknown unknownError
		if errors.As(err, &unknown) {
			return nil, VersionError{File: name, Seq: want, V: unknown.v, Kind: unknown.kind}
		}
		if err == nil {
			err = fmt.Errorf("record %d stands there", recs[i].Seq)
		}
		return nil, DamagedError{File: name, Line: int(want), Seq: want, Reason: err.Error()}
	}
	return recs, nil
}

// judge says what the bytes after the last committed frame are: nil for a torn
// tail, which never happened.
func judge(name string, tail []byte, last mark) error {
	if len(tail) == 0 {
		return nil
	}
	if committedLater(tail) {
		line, reason := blame(tail, last)
		return DamagedError{File: name, Line: int(line), Seq: line, Reason: reason}
	}
	// A newer program may commit its frames in another way, and its records
	// must not be cut off as a tail.
	seq := last.seq
	for rest := tail; ; {
		line, after, complete := bytes.Cut(rest, []byte("\n"))
		if !complete {
			break
		}
		seq++
		if v := peekVersion(line); v > Version {
			return VersionError{File: name, Seq: seq, V: v}
		}
		rest = after
	}
	if last.seq == 0 {
		return DamagedError{File: name, Line: 1, Seq: 1, Reason: "no step of it was ever committed"}
	}
	return nil
}

// committedLater reports whether a committed frame stands anywhere in tail. A
// line's end may be what was damaged, so a frame may begin inside a line.
func committedLater(tail []byte) bool {
	var starts []int // of the lines so far
	for at := 0; at < len(tail); {
		i := bytes.IndexByte(tail[at:], '\n')
		if i < 0 {
			return false
		}
		starts = append(starts, at)
		line := tail[at : at+i]
		if cut, n, crc, ok := commitOf(line); ok && n <= len(starts) {
			first := starts[len(starts)-n]
			end := at + cut
			stop := end
			if n > 1 {
				stop = starts[len(starts)-n+1]
			}
			for from := first; from < stop; {
				if crc32.Checksum(tail[from:end], castagnoli) == crc {
					return true
				}
				j := bytes.Index(tail[min(from+1, stop):stop], firstRecord)
				if j < 0 {
					break
				}
				from = min(from+1, stop) + j
			}
		}
		at += i + 1
	}
	return false
}

// blame finds the first line of a damaged frame that is no record of its place,
// else the line that its checksum stands on.
func blame(tail []byte, last mark) (line uint64, reason string) {
	line = last.seq
	for rest := tail; len(rest) > 0; {
		text, after, _ := bytes.Cut(rest, []byte("\n"))
		line++
		cut, _, _, commits := commitOf(text)
		text = bytes.Clone(text)
		if commits {
			text = append(text[:cut], '}')
		}
		if rec, err := decodeRecord(text); err != nil {
			return line, err.Error()
		} else if rec.Seq != line {
			return line, fmt.Sprintf("record %d stands there", rec.Seq)
		}
		if commits {
			break
		}
		rest = after
	}
	return line, "its bytes are not what was written (the checksum differs)"
}
