package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)
	// What some YAML reader takes for something else than text.
	reservedWords = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
)

// yamlText writes a text as a YAML scalar that every reader takes for that
// text: plain where it is a word, as a block where it has lines and indent is
// not negative, else in quotes.
func yamlText(s string, indent int) string {
	switch {
	case plainText.MatchString(s) && !slices.Contains(reservedWords, strings.ToLower(s)):
		return s
	case indent >= 0 && blockSafe(s):
		return blockText(s, indent)
	}
	return quoted(s)
}

// quoted writes a text in double quotes, with the escapes that JSON and YAML
// share.
func quoted(s string) string {
	b, err := encodeJSON(s)
	if err != nil {
		panic(err) // strings always encode
	}
	return escapeControls(string(b))
}

// escapeControls escapes, within the strings of a JSON text, the characters
// that JSON holds as they are and a YAML file does not.
func escapeControls(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 0x7F && r <= 0x9F, r == 0x2028, r == 0x2029, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// blockSafe reports whether a literal block holds s exactly: more than one
// line, nothing that folding, chomping or indentation could touch.
func blockSafe(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.ContainsAny(body[:1], " \t\n") {
		return false
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && (r < ' ' || escapeControls(string(r)) != string(r) || r == 0xFFFD) {
			return false
		}
	}
	return true
}

func blockText(s string, indent int) string {
	head := "|-"
	if strings.HasSuffix(s, "\n") {
		head = "|"
		s = strings.TrimSuffix(s, "\n")
	}
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	b.WriteString(head)
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteByte('\n')
		if line != "" {
			b.WriteString(pad + line)
		}
	}
	return b.String()
}
