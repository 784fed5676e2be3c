package spec

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// entries parses a `requires` list.
func entries(t *testing.T, list string) []*Entry {
	t.Helper()
	m := mustParse(t, trigger("{ requires: "+list+" }"))
	tr, _ := m.Trigger(Manual)
	return tr.Requires
}

// values decodes JSON with exact numbers.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func checkEnv() CheckEnv {
	return CheckEnv{
		Now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC),
		File: func(path string) (int64, string, bool) {
			switch path {
			case "scratchpad/a.pdf":
				return 1000, "application/pdf", true
			case "scratchpad/big.PNG":
				return 20_000_000, "image/png", true
			}
			return 0, "", false
		},
	}
}

func TestConformance(t *testing.T) {
	const ok = "conforms"
	for _, tt := range []struct{ name, rules, value, want string }{ // want: "kind/found/rule" or ok
		{"a missing value", "type: string", "", "missing//"},
		{"a missing untyped value", "description: d", "", "missing//"},
		{"null satisfies an untyped entry", "description: d", "null", ok},
		{"null satisfies no typed entry", "type: string", "null", "invalid/null/"},
		{"null is no object", "type: object", "null", "invalid/null/"},

		{"a text", "type: string", `""`, ok},
		{"a number is no text", "type: string", "1", "invalid/number/"},
		{"an address", "type: string, format: email", `"ann@example.com"`, ok},
		{"an address with two at signs", "type: string, format: email", `"a@b@example.com"`, "invalid/string/format"},
		{"an address without a dot", "type: string, format: email", `"a@localhost"`, "invalid/string/format"},
		{"an address with a space", "type: string, format: email", `"a b@example.com"`, "invalid/string/format"},
		{"an address that ends in a dot", "type: string, format: email", `"a@example."`, "invalid/string/format"},
		{"an untrimmed address", "type: string, format: email", `"ann@example.com "`, "invalid/string/format"},
		{"a URL", "type: string, format: url", `"https://example.com/x?y"`, ok},
		{"a relative URL", "type: string, format: url", `"/x"`, "invalid/string/format"},
		{"an ftp URL", "type: string, format: url", `"ftp://example.com"`, "invalid/string/format"},
		{"a URL without a host", "type: string, format: url", `"https:///x"`, "invalid/string/format"},
		{"a phone number", "type: string, format: phone", `"+431234567"`, ok},
		{"a local phone number", "type: string, format: phone", `"01234567"`, "invalid/string/format"},
		{"a phone number of 16 digits", "type: string, format: phone", `"+1234567890123456"`, "invalid/string/format"},
		{"a pattern searches", "type: string, pattern: 'b+'", `"abbc"`, ok},
		{"a pattern that misses", "type: string, pattern: '^b'", `"ab"`, "invalid/string/pattern"},
		{"lengths are code points", "type: string, minLength: 2, maxLength: 2", `"日本"`, ok},
		{"too short", "type: string, minLength: 2", `"x"`, "invalid/string/minLength"},
		{"too long", "type: string, maxLength: 1", `"xy"`, "invalid/string/maxLength"},
		{"one of", "type: string, enum: [a, b]", `"b"`, ok},
		{"none of", "type: string, enum: [a, b]", `"B"`, "invalid/string/enum"},
		{"the first broken rule is told", "type: string, enum: [ab], minLength: 2, pattern: x|a", `"y"`, "invalid/string/pattern"},
		{"content is not enforced", "type: string, content: text/markdown", `"x"`, ok},

		{"an integer", "type: integer", "7", ok},
		{"an integer written with a fraction of zero", "type: integer", "7.0", ok},
		{"an integer written with an exponent", "type: integer", "1e3", ok},
		{"a fraction is no integer", "type: integer", "7.5", "invalid/number/"},
		{"a small fraction is no integer", "type: integer", "1e-1", "invalid/number/"},
		{"text is no integer", "type: integer", `"7"`, "invalid/string/"},
		{"large integers compare exactly", "type: integer, maximum: 9007199254740992", "9007199254740993", "invalid/number/maximum"},
		{"fractions compare exactly", "type: number, minimum: 0.1", "0.10", ok},
		{"below", "type: number, minimum: 0.1", "0.0999", "invalid/number/minimum"},
		{"below zero", "type: number, minimum: -2", "-10", "invalid/number/minimum"},
		{"one of numbers", "type: number, enum: [1, 2.50]", "2.5", ok},
		{"none of numbers", "type: number, enum: [1, 2]", "3", "invalid/number/enum"},
		{"an infinite number", "type: number", "1e400", "invalid/unknown/"},
		{"a huge exponent costs nothing", "type: number", "1e999999999", "invalid/unknown/"},
		{"a boolean", "type: boolean", "false", ok},
		{"text is no boolean", "type: boolean", `"true"`, "invalid/string/"},

		{"a day", "type: date", `"2024-02-29"`, ok},
		{"no such day", "type: date", `"2026-02-29"`, "invalid/string/"},
		{"a short date", "type: date", `"2026-2-3"`, "invalid/string/"},
		{"a date-time is no date", "type: date", `"2026-02-03T00:00:00Z"`, "invalid/string/"},
		{"today is not before today", "type: date, minimum: today", `"2026-01-15"`, ok},
		{"yesterday is", "type: date, minimum: today", `"2026-01-14"`, "invalid/string/minimum"},
		{"after a date", "type: date, maximum: 2026-01-01", `"2026-01-02"`, "invalid/string/maximum"},
		{"a date-time", "type: date-time", `"2026-01-15T10:00:00.5+02:00"`, ok},
		{"a date-time without an offset", "type: date-time", `"2026-01-15T10:00:00"`, "invalid/string/"},
		{"a date-time with one digit", "type: date-time", `"2026-01-15T1:00:00Z"`, "invalid/string/"},
		{"now by instant", "type: date-time, minimum: now", `"2026-01-15T13:00:00+01:00"`, ok},
		{"before now by instant", "type: date-time, minimum: now", `"2026-01-15T12:30:00+01:00"`, "invalid/string/minimum"},

		{"a file", "type: file, accept: [.pdf], maxSize: 1KB", `"scratchpad/a.pdf"`, ok},
		{"a file that is not there", "type: file", `"scratchpad/b.pdf"`, "invalid/string/"},
		{"a file of another extension", "type: file, accept: [.png]", `"scratchpad/a.pdf"`, "invalid/string/accept"},
		{"a file of a media type", "type: file, accept: [image/*]", `"scratchpad/big.PNG"`, ok},
		{"extensions ignore case", "type: file, accept: [png]", `"scratchpad/big.PNG"`, ok},
		{"a file that is too large", "type: file, maxSize: 10MB", `"scratchpad/big.PNG"`, "invalid/string/maxSize"},

		{"an object", "type: object", "{}", ok},
		{"a list is no object", "type: object", "[]", "invalid/array/"},
		{"a list", "type: array, minItems: 1, maxItems: 1", "[null]", ok},
		{"too few items", "type: array, minItems: 1", "[]", "invalid/array/minItems"},
		{"too many items", "type: array, maxItems: 0", "[1]", "invalid/array/maxItems"},
		{"an object is no list", "type: array", "{}", "invalid/object/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sig := entries(t, "[{ name: x, "+tt.rules+" }]")
			text := "{}"
			if tt.value != "" {
				text = `{"x": ` + tt.value + `}`
			}
			issues := Check(sig, values(t, text), checkEnv())
			got := ok
			if len(issues) > 1 {
				t.Fatalf("more than one issue: %v", issues)
			}
			if len(issues) == 1 {
				i := issues[0]
				got = i.Kind + "/" + i.Found + "/" + i.Rule
				if !strings.HasPrefix(i.Message, "`x` ") || i.Name != "x" || i.Type != sig[0].Type {
					t.Errorf("issue %+v", i)
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s: %v", got, tt.want, issues)
			}
		})
	}
}

func TestIssuesComeInDeclarationOrder(t *testing.T) {
	sig := entries(t, "[b, { name: a, type: integer }, c]")
	got, err := json.Marshal(Check(sig, values(t, `{"a": "x", "z": 1}`), checkEnv()))
	if err != nil {
		t.Fatal(err)
	}
	want := "[{\"kind\":\"missing\",\"name\":\"b\",\"message\":\"`b` is missing\"}," +
		"{\"kind\":\"invalid\",\"name\":\"a\",\"type\":\"integer\",\"found\":\"string\",\"message\":\"`a` must be a whole number, not \\\"x\\\"\"}," +
		"{\"kind\":\"missing\",\"name\":\"c\",\"message\":\"`c` is missing\"}]"
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, _ := json.Marshal(Check(nil, nil, CheckEnv{})); string(got) != "[]" {
		t.Errorf("no issues are %s, want []", got)
	}
}

func TestSchema(t *testing.T) {
	sig := entries(t, `[zeta, { name: a, type: string, description: An <a>., format: email, minLength: 1, maxLength: 9 },
      { name: u, type: string, format: url }, { name: p, type: string, format: phone },
      { name: up, type: string, format: url, pattern: 'x$' },
      { name: e, type: string, enum: [b, a], content: text/markdown }, { name: i, type: integer, minimum: 1, maximum: 9007199254740993 },
      { name: d, type: date, minimum: today }, { name: dt, type: date-time }, { name: f, type: file, accept: [.pdf], maxSize: 10MB },
      { name: l, type: array, minItems: 1, maxItems: 2 }, { name: o, type: object }, { name: y, type: boolean }]`)
	want := `{"type":"object","properties":{"zeta":{},` +
		`"a":{"type":"string","description":"An <a>.","format":"email","minLength":1,"maxLength":9},` +
		`"u":{"type":"string","format":"uri","pattern":"^https?://"},` +
		`"p":{"type":"string","pattern":"^\\+[1-9]\\d{1,14}$"},` +
		`"up":{"type":"string","format":"uri","pattern":"^https?://","allOf":[{"pattern":"x$"}]},` +
		`"e":{"type":"string","enum":["b","a"],"contentMediaType":"text/markdown"},` +
		`"i":{"type":"integer","minimum":1,"maximum":9007199254740993},` +
		`"d":{"type":"string","format":"date"},"dt":{"type":"string","format":"date-time"},"f":{"type":"string","format":"file"},` +
		`"l":{"type":"array","minItems":1,"maxItems":2},"o":{"type":"object"},"y":{"type":"boolean"}},` +
		`"required":["zeta","a","u","p","up","e","i","d","dt","f","l","o","y"]}`
	if diff := cmp.Diff(want, string(Schema(sig))); diff != "" {
		t.Error(diff)
	}
	if got, want := string(Schema(nil)), `{"type":"object","properties":{},"required":[]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"10MB": 10_000_000, "1 KiB": 1024, "64MiB": 64 << 20, "5B": 5, "1.5kb": 1500, "2GB": 2_000_000_000,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "10", "MB", "-1MB", "0B", "1TB", "1e9B", "99999999999GB", "iB", "5iB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}
