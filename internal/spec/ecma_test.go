package spec

import (
	"regexp"
	"testing"
)

// The dialect is ECMA 262 with the `u` flag (JSON Schema 2020-12, "Regular
// Expressions").
func TestPatternsAreSaidInTheDialectOfJSONSchema(t *testing.T) {
	for re2, want := range map[string]string{
		// what both read alike is copied
		`^ORD-[0-9]{4,6}$`:     `^ORD-[0-9]{4,6}$`,
		`^(?:a|b)+?\.\d*$`:     `^(?:a|b)+?\.\d*$`,
		`^(a|bc)$`:             `^(a|bc)$`,
		`^[^@\s\-]+@[a-z.-]+$`: `^[^@\s\-]+@[a-z.-]+$`,
		`^\S+\b`:               `^\S+\b`,
		``:                     ``,
		// flags
		`^(?i)a+$`:    `^[Aa]+$`,
		`(?i)^k9$`:    "^[Kk\u212A]9$",
		`^(?s).$`:     `^[\s\S]$`,
		`^(?-s:a.c)$`: `^a[^\n]c$`,
		`(?U)a+b`:     `a+?b`,
		// anchors
		`\Aab\z`: `^ab$`,
		`^*a`:    `(?:^)*a`,
		// groups
		`(?P<year>[0-9]{4})-x`: `(?:[0-9]{4})-x`,
		`(?<n>a|b)c`:           `(?:[ab])c`,
		// classes
		`^[[:digit:]]+$`: `^[0-9]+$`,
		`^\pN$`:          `^\p{N}$`,
		`^\p{Greek}+$`:   `^\p{Script=Greek}+$`,
		`^\PL$`:          `^\P{L}$`,
		`[]a]`:           `[\]a]`,
		`[^]a]`:          `[^\]a]`,
		// escapes
		`\Qa.b\E`:   `a\.b`,
		`a\-b\@`:    `a-b@`,
		`\x{1F600}`: `\u{1F600}`,
		`a{,5}`:     `a\{,5\}`,
		`\a`:        `\u0007`,
	} {
		regexp.MustCompile(re2)
		if got, ok := ecmaPattern(re2); !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", re2, got, ok, want)
		}
	}
	for _, re2 := range []string{`(?m)^a$`, `^[\pL\pN_]+$`} {
		regexp.MustCompile(re2)
		if got, ok := ecmaPattern(re2); ok {
			t.Errorf("%s: %q, want it left out", re2, got)
		}
	}
}
