package spec

import (
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// commonRegexp matches the patterns that RE2 and the ECMA 262 dialect of JSON
// Schema, with its `u` flag, read alike: they are copied as they are written.
var commonRegexp = func() *regexp.Regexp {
	const (
		escape = `\\[dDwWsSnrtfv^$\\.*+?()\[\]{}|/]`
		class  = `\[\^?(?:` + escape + `|\\-|[^\^\\\[\]])(?:` + escape + `|\\-|[^\\\[\]])*\]`
		plain  = `[^\\\[\](){}|^$*+?]`
		count  = `(?:(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??)?`
		open   = `\((?:\?:)?`
	)
	return regexp.MustCompile(`^(?:(?:` + plain + `|` + escape + `|` + class + `|\))` + count + `|` + open + `|[|^$]|\\[bB])*$`)
}()

// maxClass is how many ranges a character class of a schema may list.
const maxClass = 100

// ecmaPattern writes an RE2 pattern in the dialect of JSON Schema. False when
// there is no way to say it there: (?m) anchors, and classes of too many ranges.
// Such a rule is left out of the schema, and still enforced.
func ecmaPattern(pattern string) (string, bool) {
	if commonRegexp.MatchString(pattern) {
		return pattern, true
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	w := &ecmaWriter{sayable: true}
	w.write(re)
	return w.String(), w.sayable
}

type ecmaWriter struct {
	strings.Builder
	sayable bool
}

func (w *ecmaWriter) write(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		w.WriteString(`[^\s\S]`)
	case syntax.OpEmptyMatch:
		w.WriteString("(?:)")
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.literal(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpAnyCharNotNL:
		w.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		w.WriteString(`[\s\S]`)
	case syntax.OpBeginText:
		w.WriteString("^")
	case syntax.OpEndText:
		w.WriteString("$")
	case syntax.OpWordBoundary:
		w.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		w.WriteString(`\B`)
	case syntax.OpCapture:
		w.group(re.Sub[0])
	case syntax.OpStar:
		w.repeat(re, "*")
	case syntax.OpPlus:
		w.repeat(re, "+")
	case syntax.OpQuest:
		w.repeat(re, "?")
	case syntax.OpRepeat:
		switch {
		case re.Max == re.Min:
			w.repeat(re, fmt.Sprintf("{%d}", re.Min))
		case re.Max < 0:
			w.repeat(re, fmt.Sprintf("{%d,}", re.Min))
		default:
			w.repeat(re, fmt.Sprintf("{%d,%d}", re.Min, re.Max))
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpAlternate {
				w.group(sub)
			} else {
				w.write(sub)
			}
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				w.WriteByte('|')
			}
			w.write(sub)
		}
	default: // the anchors of (?m)
		w.sayable = false
	}
}

func (w *ecmaWriter) group(re *syntax.Regexp) {
	w.WriteString("(?:")
	w.write(re)
	w.WriteByte(')')
}

func (w *ecmaWriter) repeat(re *syntax.Regexp, times string) {
	sub := re.Sub[0]
	single := sub.Op == syntax.OpLiteral && len(sub.Rune) == 1 || sub.Op == syntax.OpCapture ||
		sub.Op == syntax.OpCharClass || sub.Op == syntax.OpAnyChar || sub.Op == syntax.OpAnyCharNotNL
	if single {
		w.write(sub)
	} else {
		w.group(sub)
	}
	w.WriteString(times)
	if re.Flags&syntax.NonGreedy != 0 {
		w.WriteByte('?')
	}
}

// literal writes one character, with the others that it folds to.
func (w *ecmaWriter) literal(r rune, fold bool) {
	same := []rune{r, r}
	for f := unicode.SimpleFold(r); fold && f != r; f = unicode.SimpleFold(f) {
		same = append(same, f, f)
	}
	if len(same) == 2 {
		w.char(r, `\^$.*+?()[]{}|/`)
		return
	}
	slices.Sort(same)
	w.class(same)
}

// class writes a class of ranges, given as pairs of ends in order.
func (w *ecmaWriter) class(ranges []rune) {
	if name := propertyOf(ranges); name != "" {
		w.WriteString(name)
		return
	}
	w.WriteByte('[')
	if len(ranges) > 1 && ranges[0] == 0 && ranges[len(ranges)-1] == unicode.MaxRune { // shorter by what is not in it
		w.WriteByte('^')
		inner := ranges[1 : len(ranges)-1]
		ranges = nil
		for i := 0; i+1 < len(inner); i += 2 {
			ranges = append(ranges, inner[i]+1, inner[i+1]-1)
		}
	}
	if len(ranges) > 2*maxClass {
		w.sayable = false
		return
	}
	for i := 0; i < len(ranges); i += 2 {
		w.char(ranges[i], `\]^-[`)
		if ranges[i+1] > ranges[i] {
			if ranges[i+1] > ranges[i]+1 {
				w.WriteByte('-')
			}
			w.char(ranges[i+1], `\]^-[`)
		}
	}
	w.WriteByte(']')
}

// char writes a character, escaped when it is one of special.
func (w *ecmaWriter) char(r rune, special string) {
	switch {
	case strings.ContainsRune(special, r):
		w.WriteByte('\\')
		w.WriteRune(r)
	case r > 0xFFFF:
		fmt.Fprintf(w, `\u{%X}`, r)
	case r < ' ' || r >= 0x7F && !unicode.IsPrint(r):
		fmt.Fprintf(w, `\u%04X`, r)
	default:
		w.WriteRune(r)
	}
}

// propertyOf is the Unicode property whose characters the ranges are, or "". RE2
// writes \pL and \p{Greek} where ECMA writes \p{L} and \p{Script=Greek}.
func propertyOf(ranges []rune) string {
	if len(ranges) <= 20 { // short enough to be listed
		return ""
	}
	is := func(property string) bool {
		re, err := syntax.Parse(property, syntax.Perl)
		return err == nil && re.Op == syntax.OpCharClass && slices.Equal(re.Rune, ranges)
	}
	for _, kind := range []struct {
		tables map[string]*unicode.RangeTable
		format string
	}{{unicode.Categories, `{%s}`}, {unicode.Scripts, `{Script=%s}`}} {
		for _, name := range slices.Sorted(maps.Keys(kind.tables)) {
			for _, p := range []string{`\p`, `\P`} {
				if is(p + "{" + name + "}") {
					return p + fmt.Sprintf(kind.format, name)
				}
			}
		}
	}
	return ""
}
