package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean neutralises text that others wrote: control characters and escape
// sequences show as themselves (^[ for ESC), characters that reorder a line
// show as \uXXXX, broken UTF-8 as "�". Line breaks stay, as \n; a tab becomes
// spaces.
func Clean(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.ContainsFunc(text, unsafeRune) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		b.WriteString(safe(r))
	}
	return b.String()
}

// unsafeRune reports whether safe changes r.
func unsafeRune(r rune) bool {
	return r != '\n' && (unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r) || separator(r))
}

// separator reports whether some terminals break a line at r.
func separator(r rune) bool { return r == '\u2028' || r == '\u2029' }

func safe(r rune) string {
	switch {
	case !unsafeRune(r):
		return string(r)
	case r == '\t':
		return "    "
	case r < 0x20:
		return "^" + string(r+0x40)
	case r == 0x7f:
		return "^?"
	case r == utf8.RuneError:
		return "\uFFFD"
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// OneLine is Clean text with every run of white space made one space.
func OneLine(text string) string {
	return Clean(strings.Join(strings.Fields(text), " "))
}
