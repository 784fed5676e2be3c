package governance

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// File systems disagree about which names are one: macOS and Windows ignore
// case, APFS and HFS+ Unicode form, HFS+ zero-width characters, Windows
// trailing dots and spaces, what follows a colon, and adds 8.3 short names. A
// protected name must hold on all of them, so names are compared by a fold that
// is at least as coarse as each. It may refuse a harmless name; it never lets a
// protected one by.

// sameName reports whether two path segments could name one file somewhere. The
// second is the protected one.
func sameName(seg, protected string) bool {
	if seg == protected || strings.EqualFold(seg, protected) {
		return true
	}
	if plain(seg) {
		return false
	}
	return fold(seg) == fold(protected) || shortName(seg, protected)
}

// plain reports whether folding a segment could do no more than lower its ASCII
// letters.
func plain(seg string) bool {
	if seg == "" {
		return true
	}
	for i := range len(seg) {
		if c := seg[i]; c >= 0x80 || c == ':' || c == '~' || c < 0x20 {
			return false
		}
	}
	last := seg[len(seg)-1]
	return last != '.' && last != ' '
}

// fold reduces a segment to the form in which names are compared.
func fold(seg string) string {
	seg = foldText(seg)
	if name, _, stream := strings.Cut(seg, ":"); stream && name != "" {
		seg = name
	}
	if trimmed := strings.TrimRight(seg, ". "); trimmed != "" {
		seg = trimmed
	}
	return seg
}

// foldText folds case and Unicode form and drops what is invisible. Its result
// folds to itself.
func foldText(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, s)
	s = cases.Fold().String(norm.NFKC.String(s))
	return norm.NFKC.String(strings.Map(oneCase, s))
}

// oneCase is the one letter that stands for all cases of r. The library's fold
// swaps the two cases of some scripts (Cherokee) instead of joining them.
func oneCase(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return unicode.ToLower(least)
	}
	return least
}

// foldPath folds every segment of a canonical path.
func foldPath(path string) string {
	segs := strings.Split(path, "/")
	for i, seg := range segs {
		segs[i] = fold(seg)
	}
	return strings.Join(segs, "/")
}

// folded reports whether folding would leave s as it is, without doing it: ASCII
// without capitals or anything a file system might drop.
func folded(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || c == ':' || 'A' <= c && c <= 'Z' {
			return false
		}
		if (c == '.' || c == ' ') && (i+1 == len(s) || s[i+1] == '/') {
			return false
		}
	}
	return true
}

// shortName reports whether seg could be the 8.3 name that Windows gives
// protected: up to eight characters that start alike and hold a tilde and a
// digit, `WORKFL~1` or `WO3F2A~1`. A leading dot is dropped there: `GIT~1`.
func shortName(seg, protected string) bool {
	base, _, _ := strings.Cut(seg, ".")
	stem, number, ok := strings.Cut(base, "~")
	protected = strings.TrimLeft(protected, ".")
	if !ok || len(base) > 8 || len(stem) < 2 || number == "" || number[0] < '0' || number[0] > '9' || len(protected) < 2 {
		return false
	}
	return strings.EqualFold(stem[:2], protected[:2])
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
