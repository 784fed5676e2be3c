package spec

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/diag"
)

func TestYAMLTraps(t *testing.T) {
	for _, tt := range []struct{ name, src, says string }{
		{"a quoted no is text", "a: \"no\"\nb: 'yes'\nc: y\n", ""},
		{"a key twice names both lines", "a: 1\nb: 2\n⟦duplicate-key⟧a: 3\n", "on line 1 and again on line 3"},
		{"1 and \"1\" are one key", "1: a\n⟦duplicate-key⟧\"1\": b\n", "on line 1 and again on line 2"},
		{"a key twice in braces", "a: { x: 1, ⟦duplicate-key⟧x: 2 }\n", ""},
		{"two merges are one key twice", "x: &x { a: 1 }\ny:\n  <<: *x\n  ⟦duplicate-key⟧<<: *x\n", ""},
		{"a second document", "a: 1\n⟦yaml-documents⟧---\nb: 2\n", "second document"},
		{"an empty second document", "a: 1\n⟦yaml-documents⟧---\n", ""},
		{"text after the end marker", "a: 1\n...\n⟦yaml-documents⟧b: 2\n", "after the end"},
		{"text on the end marker", "a: 1\n⟦yaml-documents⟧... foo\n", "after the end"},
		{"an end marker alone", "a: 1\n...\n# fine\n", ""},
		{"a start marker alone", "---\na: 1\n", ""},
		{"a tab before the first key of a block", "a:\n⟦yaml-tab⟧\tb: 1\n", "a tab"},
		{"a tab before a later key", "a:\n  b: 1\n⟦yaml-tab⟧\tc: 2\n", "a tab"},
		{"a tab inside a block text", "a: |\n  make:\n  \tgo build\n", ""},
		{"an unknown tag", "when: ⟦yaml-tag⟧!done\n", "`!done`"},
		{"an unknown tag on a list", "when: ⟦yaml-tag⟧!x [a]\n", ""},
		{"a tag that its value is not", "a: ⟦yaml-tag⟧!!int foo\n", ""},
		{"a standard tag", "a: !!str 12\nb: !!float 1\n", ""},
		{"braces in braces", "p: {⟦complex-key⟧{ x }}\n", ""},
		{"a hash that is no comment", "p: color ⟦lost-text⟧#fff\nq: 1\n", "`#fff`"},
		{"a hash in an empty value", "p: ⟦lost-text⟧#fff\n", ""},
		{"a hash in braces", "p: { a: b ⟦lost-text⟧#c\n  }\n", ""},
		{"a hash behind several lines", "p: one\n  two ⟦lost-text⟧#three\n", ""},
		{"a comment", "p: color # fff\nq: \"x\" #y\n#z\nr: a#b\ns: | #t\n  u\n", ""},
		{"a colon in a value", "a: 1\np: Node⟦yaml-syntax⟧: API\nb: 2\n", "unquoted value"},
		{"a colon in a value of one line", "p: Node⟦yaml-syntax⟧: API", "unquoted value"},
		{"a colon in a value with CRLF", "a: 1\r\np: Node⟦yaml-syntax⟧: API\r\n", ""},
		{"a key indented too little", "a:\n  b: 1\n ⟦yaml-syntax⟧c: 2\nd: 3\n", "does not fit"},
		{"a key after a list", "- a\n⟦yaml-syntax⟧b: 1\n", ""},
		{"a key without a colon", "a: 1\n⟦yaml-syntax⟧b\nc: 2\n", ""},
		{"a key without a colon, far away", "a: 1\n\n# c\n\n⟦yaml-syntax⟧b\n\n# c\n\nc: 2\n", ""},
		{"a list on a key's line", "a: ⟦yaml-syntax⟧- b\n", ""},
		{"a bracket never closed", "a: 1\nb: ⟦yaml-syntax⟧[1, 2\nc: 3\n", "not closed"},
		{"a brace never closed", "a: 1\nb: ⟦yaml-syntax⟧{x: 1,\nc: 2\n", "not closed"},
		{"a bracket never closed at the end", "- a\n- b: ⟦yaml-syntax⟧[\n", "bracket"},
		{"a question mark for a value", "a: ⟦yaml-syntax⟧?\n", ""},
		{"a quote inside quotes", "a: 1\nb:\n  ⟦yaml-syntax⟧c: 'It's here'\n  d: 2\n", ""},
		{"a quote never closed on line 1", "a: ⟦yaml-syntax⟧\"open\nb: 2\n", "quote"},
		{"a quote never closed later", "a: 'shut'\nb: ⟦yaml-syntax⟧'open\nc: 2\n", "quote"},
		{"an unknown escape", "a: \"x⟦yaml-syntax⟧\\q\"\n", "backslash"},
		{"a reserved character", "a: ⟦yaml-syntax⟧@foo\n", "this character"},
		{"an unknown anchor", "a: 1\nb: ⟦yaml-alias⟧*nope\n", "anchor"},
		{"an anchor in itself", "a: &x [⟦yaml-alias⟧*x]\n", "inside its own anchor"},
		{"a merge of a number", "<<: ⟦yaml-alias⟧3\na: 1\n", "merges mappings"},
		{"a version directive", "⟦yaml-tag⟧%YAML 1.2\n---\na: 1\n", "version directive"},
		{"junk", "0: [:!00 ⟦encoding⟧\xef", "0xEF"},
		{"a NUL", "a: ⟦encoding⟧\x00\n", "NUL"},
		{"an escape character", "a: ⟦encoding⟧\x1b[31m\n", "U+001B"},
		{"a deep nest", strings.Repeat("[", 201) + "⟦yaml-depth⟧[" + strings.Repeat("]", 202), "200 levels"},
		{"a byte order mark", "\uFEFFa: 1\n⟦duplicate-key⟧a: 2\n", ""},
		{"accents before a problem", "ä: ö {⟦yaml-syntax⟧: x\n", ""},
		{"wide text in braces", "日本: { 語: 1, ⟦duplicate-key⟧語: 2 }\n", ""},
		{"line separators count no line", "a: \"x\u2028y\"\n⟦duplicate-key⟧a: 1\n", "on line 1 and again on line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clean, want := marked(tt.src)
			_, list := ReadYAML("f.yaml", []byte(clean))
			if diff := cmp.Diff(want, places(list)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s\n%v", diff, list)
			}
			if len(list) > 0 && !strings.Contains(list[0].Message, tt.says) {
				t.Errorf("%q does not say %q", list[0].Message, tt.says)
			}
			for _, d := range list {
				checkDiagnostic(t, strings.TrimPrefix(clean, "\uFEFF"), d)
			}
		})
	}
}

func TestErrorsThatLoseTextSuggestQuotes(t *testing.T) {
	for _, src := range []string{"when: !done\n", "p: {{ x }}\n", "p: color #fff\n", "p: Node: API\n", "p: @x\n"} {
		_, list := ReadYAML("f.yaml", []byte(src))
		if len(list) == 0 || !strings.Contains(list[0].Hint, "quotes") {
			t.Errorf("%q: %v, hint %q", src, list, list[0].Hint)
		}
	}
}

func TestJunkCostsLittle(t *testing.T) {
	var indented, broken strings.Builder
	for i := range 3000 {
		indented.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for i := range 20000 {
		fmt.Fprintf(&broken, "k%d: v\n", i)
	}
	broken.WriteString("x: a: b\n")
	bomb := "a0: &a0 [x, x]\n"
	for i := range 40 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	for name, src := range map[string]string{
		"twenty thousand brackets": strings.Repeat("[", 20000),
		"twenty thousand braces":   strings.Repeat("{a: ", 20000),
		"twenty thousand dashes":   strings.Repeat("- ", 20000),
		"an alias bomb":            bomb,
		"a staircase":              indented.String(),
		"a late mistake":           broken.String(),
	} {
		t.Run(name, func(t *testing.T) {
			_, list := ReadYAML("f.yaml", []byte(src))
			if !list.HasErrors() {
				t.Error("no error")
			}
			for _, d := range list {
				checkDiagnostic(t, src, d)
			}
		})
	}
}

func TestOneLongLineIsRead(t *testing.T) {
	for _, item := range []string{"1,", "é,", "[],"} {
		if _, list := ReadYAML("f.yaml", []byte("["+strings.Repeat(item, 100000)+"]")); list != nil {
			t.Fatal(list)
		}
	}
}

// rangeOf is a range on one line.
func rangeOf(line, from, to int) diag.Range {
	return diag.Range{Start: diag.Position{Line: line, Column: from}, End: diag.Position{Line: line, Column: to}}
}

func TestRangesAreExact(t *testing.T) {
	src := "title: Ärger # c\r\n" + // 1
		"quoted: \"a \\\" b\"\r\n" + // 2
		"flow: { ü: [1, 'it''s'] }\r\n" + // 3
		"block: |\r\n  text\r\n" + // 4, 5
		"empty:\r\n" + // 6
		"list:\r\n  - x: y\r\n" // 7, 8
	root, list := ReadYAML("f.yaml", []byte(src))
	if list != nil {
		t.Fatal(list)
	}
	flow := root.Get("flow")
	for name, tt := range map[string]struct{ got, want diag.Range }{
		"a key":              {root.Pairs[0].Range, rangeOf(1, 1, 6)},
		"a plain value":      {root.Get("title").Range, rangeOf(1, 8, 13)},
		"a quoted value":     {root.Get("quoted").Range, rangeOf(2, 9, 17)},
		"a key in braces":    {flow.Pairs[0].Range, rangeOf(3, 9, 10)},
		"a number in a list": {flow.Get("ü").Items[0].Range, rangeOf(3, 13, 14)},
		"a single quote":     {flow.Get("ü").Items[1].Range, rangeOf(3, 16, 23)},
		"a block text":       {root.Get("block").Range, rangeOf(4, 8, 9)},
		"an empty value":     {root.Get("empty").Range, rangeOf(6, 7, 7)},
		"a mapping in a list": {root.Get("list").Items[0].Range, diag.Range{
			Start: diag.Position{Line: 8, Column: 5}, End: diag.Position{Line: 8, Column: 9},
		}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", name, tt.got, tt.want)
		}
	}
}

func TestMergeKeys(t *testing.T) {
	src := "base: &base\n  a: 1\n  b: 2\nother: &other { b: 3, c: 4 }\n" +
		"one:\n  <<: *base\n  b: own\nmany:\n  <<: [*base, *other]\n"
	root, list := ReadYAML("f.yaml", []byte(src))
	if list != nil {
		t.Fatal(list)
	}
	value, _ := NewDecoder().Any(root, "")
	want := map[string]any{
		"base":  map[string]any{"a": json.Number("1"), "b": json.Number("2")},
		"other": map[string]any{"b": json.Number("3"), "c": json.Number("4")},
		"one":   map[string]any{"a": json.Number("1"), "b": "own"},
		"many":  map[string]any{"a": json.Number("1"), "b": json.Number("2"), "c": json.Number("4")},
	}
	if diff := cmp.Diff(want, value); diff != "" {
		t.Error(diff)
	}
	if got, want := root.Get("one").Get("a").Range, rangeOf(2, 6, 7); got != want {
		t.Errorf("a merged value is at %v, want the anchor's %v", got, want)
	}
}

func TestFreeFormValuesAreExact(t *testing.T) {
	for _, tt := range []struct {
		src, want string // JSON
	}{
		{"9007199254740993", "9007199254740993"},
		{"1.10", "1.10"},
		{"-0.5e+3", "-0.5e+3"},
		{"+1", "1"},
		{".5", "0.5"},
		{"5.", "5"},
		{"2026-01-31", `"2026-01-31"`},
		{"yes", `"yes"`},
		{"'1'", `"1"`},
		{"True", "true"},
		{"~", "null"},
		{"{ a: [1, {b: null}] }", `{"a":[1,{"b":null}]}`},
	} {
		root, list := ReadYAML("f.yaml", []byte("v: "+tt.src+"\n"))
		d := NewDecoder()
		v, ok := d.Any(root.Get("v"), "v")
		got, err := json.Marshal(v)
		if list != nil || !ok || err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s (%v, %v, %v), want %s", tt.src, got, list, ok, err, tt.want)
		}
	}
	for _, src := range []string{".nan", "-.inf", "0755", "0x1F", "1_000", "1e999", "[.inf]"} {
		root, _ := ReadYAML("f.yaml", []byte("v: "+src+"\n"))
		d := NewDecoder()
		if v, ok := d.Any(root.Get("v"), "v"); ok || !d.Broken() {
			t.Errorf("%s: got %v, want an error", src, v)
		}
	}
}

func TestDecoderIsStrict(t *testing.T) {
	root, _ := ReadYAML("f.yaml", []byte("steps:\n  - { send: hi, skpi: x }\nclock: 2026-01-31\non: true\n"))
	d := NewDecoder()
	m, ok := d.Mapping(root, "", "steps", "clock", "on", "off")
	if !ok {
		t.Fatal("no mapping")
	}
	items, _ := m.List("steps")
	d.Mapping(items[0], Join("steps", "0"), "send", "skip")
	if text, ok := d.Scalar(m.Get("clock"), "clock", "a date"); !ok || text != "2026-01-31" {
		t.Errorf("clock is %q", text)
	}
	if on, ok := m.Bool("on"); !on || !ok {
		t.Error("on is not true")
	}
	if _, ok := m.Bool("off"); ok {
		t.Error("an absent key has a value")
	}
	list := d.Diagnostics("f.yaml")
	want := diag.List{{
		Severity: diag.Error, Code: "unknown-key", Message: "unknown key `skpi` in `steps.0`", File: "f.yaml",
		Range: rangeOf(2, 17, 21), Field: "steps.0.skpi", Hint: "did you mean `skip`? known keys: send, skip",
	}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}
