package diag

import "strings"

// Nearest returns the one word of known that is a likely misspelling of word,
// or "" when none is near or two are equally near. Case, "_" and "-" count for
// nothing, so max_turns is near maxTurns.
func Nearest(word string, known []string) string {
	if len(word) > 64 || len(known) > 1000 { // nothing a person mistyped, or too much to compare
		return ""
	}
	limit := max(1, len([]rune(word))/3)
	best, bestDistance, tie := "", limit+1, false
	for _, k := range known {
		if k == word {
			continue
		}
		d := 0
		if fold(k) != fold(word) {
			d = distance([]rune(word), []rune(k))
		}
		switch {
		case d < bestDistance:
			best, bestDistance, tie = k, d, false
		case d == bestDistance:
			tie = true
		}
	}
	if tie {
		return ""
	}
	return best
}

func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// distance counts insertions, deletions, substitutions and swaps of neighbours.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
