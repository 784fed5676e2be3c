package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainWord needs no quotes in any common shell. A leading =, ~ or # means
// something to one of them, so these are quoted wherever they stand.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,-]+$`)

// ShellWord quotes a word for a POSIX shell, so that a pasted command means
// what was printed. What a terminal must not be shown raw is spelled in octal.
func ShellWord(word string) string {
	switch {
	case plainWord.MatchString(word):
		return word
	case !utf8.ValidString(word) || strings.ContainsFunc(word, unprintable):
		return octalWord(word)
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func unprintable(r rune) bool { return unicode.IsControl(r) || unsafeRune(r) }

// octalWord is "$(printf '…')" with every byte outside printable ASCII, and
// every one that printf or the quotes would read, as \ooo.
func octalWord(word string) string {
	var b strings.Builder
	b.WriteString(`"$(printf '`)
	for _, c := range []byte(word) {
		if c < 0x20 || c > 0x7e || c == '\'' || c == '\\' || c == '%' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteString(`')"`)
	return b.String()
}

// Command joins words into one shell command.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellWord(w)
	}
	return strings.Join(quoted, " ")
}

// blankWords stand where a person puts words of their own.
const blankWords = `"…"`

// sessionCommand is a command on a session. An id that looks like a flag goes
// behind --, after the flags.
func (o VerdictOptions) sessionCommand(verb, id string, rest ...string) string {
	words := append([]string{o.program()}, strings.Fields(verb)...)
	if strings.HasPrefix(id, "-") {
		return Command(slices.Concat(words, rest, o.Flags, []string{"--", id})...)
	}
	return Command(slices.Concat(words, []string{id}, rest, o.Flags)...)
}

// words is a command on a session that takes a person's words: behind the last
// of rest when that is a flag, else behind the id; the flags come last.
func (o VerdictOptions) words(verb, id string, rest ...string) string {
	head := Command(append([]string{o.program(), verb}, rest...)...)
	flags := ""
	if len(o.Flags) > 0 {
		flags = " " + Command(o.Flags...)
	}
	switch dashed := strings.HasPrefix(id, "-"); {
	case dashed && len(rest) > 0:
		return head + " " + blankWords + flags + " -- " + ShellWord(id)
	case dashed:
		return head + flags + " -- " + ShellWord(id) + " " + blankWords
	}
	return Command(append([]string{o.program(), verb, id}, rest...)...) + " " + blankWords + flags
}
