package workspace

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Offload keeps a result that is too long for the model. Up to max characters
// (settings.maxResultChars) are shown as they are. A longer text is written to
// large_tool_results/<n>.txt, and what is shown, at most max characters, is its
// head, a line with its size and the path, and its tail. The same arguments
// give the same text.
func Offload(files Files, n int, text string, max int) (shown string, err error) {
	length := utf8.RuneCountInString(text)
	if length <= max {
		return text, nil
	}
	name := path.Join(largeResults, fmt.Sprintf("%d.txt", n))
	if err := files.Write(name, []byte(text), false); err != nil {
		return "", translate(name, err)
	}
	note := fmt.Sprintf("[cut: %d characters in all (%s); the whole result is in %s, for read_file and grep]", length, size(int64(len(text))), name)
	room := max - utf8.RuneCountInString(note) - 2
	if room < 2 {
		return firstRunes(note, max), nil
	}
	tail := room / 3
	return headOf(text, room-tail) + "\n" + note + "\n" + tailOf(text, tail), nil
}

// headOf is the beginning of a text, up to n characters: whole lines when they
// fill most of it.
func headOf(text string, n int) string {
	head := firstRunes(text, n)
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		return head[:i]
	}
	return head
}

// tailOf is the end of a text, likewise.
func tailOf(text string, n int) string {
	end := len(text)
	for ; n > 0 && end > 0; n-- {
		_, width := utf8.DecodeLastRuneInString(text[:end])
		end -= width
	}
	tail := text[end:]
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		return tail[i+1:]
	}
	return tail
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
