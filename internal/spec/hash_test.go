package spec

import (
	"strings"
	"testing"
)

const hashed = `title: Refunds
instructions: Be kind.
settings: { timeoutMs: 1000 }
metadata: { owner: Ann }
states:
  draft:
    metadata: { x: 1 }
    triggers:
      manual: { requires: [{ name: amount, type: number, minimum: 1.50 }], metadata: kept }
    instructions: Draft.
    after: { rubric: { instructions: Be right., metadata: { y: 2 } } }
    tools: { allow: [a, b] }
    transitions:
      - { to: metadata, description: Judge it. }
  metadata:
    type: grader
    instructions: Is it right?
    transitions: [{ to: draft, description: No. }]
`

func TestTheHashIgnoresFormAndMetadata(t *testing.T) {
	want := mustParse(t, hashed).Hash
	if len(want) != 64 {
		t.Fatalf("hash %q", want)
	}
	for name, edit := range map[string][2]string{
		"a comment":              {"title: Refunds", "# hello\ntitle: Refunds # again"},
		"quotes":                 {"title: Refunds", `title: "Refunds"`},
		"block and flow style":   {"settings: { timeoutMs: 1000 }", "settings:\n  timeoutMs: 1000"},
		"key order":              {"title: Refunds\ninstructions: Be kind.\n", "instructions: Be kind.\ntitle: Refunds\n"},
		"a number's spelling":    {"minimum: 1.50", "minimum: 15e-1"},
		"root metadata":          {"metadata: { owner: Ann }\n", ""},
		"a state's metadata":     {"metadata: { x: 1 }", "metadata: { x: 3, z: [.nan] }"},
		"a rubric's metadata":    {", metadata: { y: 2 }", ""},
		"an anchor and an alias": {"description: Judge it.", "description: &d Judge it."},
		"CRLF":                   {"\n", "\r\n"},
	} {
		src := strings.Replace(hashed, edit[0], edit[1], 1)
		if name == "CRLF" {
			src = strings.ReplaceAll(hashed, edit[0], edit[1])
		}
		if src == hashed {
			t.Fatalf("%s: nothing edited", name)
		}
		if got := mustParse(t, src).Hash; got != want {
			t.Errorf("%s changes the hash", name)
		}
	}
	list := strings.Replace(hashed, "after: { rubric", "after: [{ rubric", 1)
	list = strings.Replace(list, "metadata: { y: 2 } } }", "metadata: { y: 2 } } }]", 1)
	if got, bare := mustParse(t, list).Hash, mustParse(t, strings.Replace(list, ", metadata: { y: 2 }", "", 1)).Hash; got != bare {
		t.Error("the metadata of a rubric in a list changes the hash")
	}
}

func TestEveryGoverningEditChangesTheHash(t *testing.T) {
	seen := map[string]string{mustParse(t, hashed).Hash: "the original"}
	for name, edit := range map[string][2]string{
		"the title":               {"Refunds", "Returns"},
		"the instructions":        {"Be kind.", "Be brief."},
		"a setting":               {"1000", "1001"},
		"a state's instructions":  {"Draft.", "Draft it."},
		"a rubric's text":         {"Be right.", "Be very right."},
		"a grader's text":         {"Is it right?", "Is it good?"},
		"a grant":                 {"[a, b]", "[a, b, c]"},
		"the order of grants":     {"[a, b]", "[b, a]"},
		"an edge's description":   {"Judge it.", "Judge."},
		"a signature's rule":      {"1.50", "1.51"},
		"a signature's type":      {"type: number", "type: integer"},
		"a trigger's unknown key": {"metadata: kept", "metadata: gone"},
		"a state named metadata":  {"{ to: draft, description: No. }", "{ to: draft, description: No! }"},
		"disabling":               {"title: Refunds", "title: Refunds\ndisabled: true"},
	} {
		src := strings.Replace(hashed, edit[0], edit[1], 1)
		if name == "a signature's type" { // 1.50 is no integer's bound
			src = strings.Replace(src, "1.50", "2", 1)
		}
		h := mustParse(t, src).Hash
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
}

func TestTheCanonicalForm(t *testing.T) {
	m := mustParse(t, "metadata: { a: 1 }\ninstructions: <b> & \"c\"\nstates: { a: { triggers: { manual: { x: [1.0, 10e2, -0.0, 12345678901234567890123] } } } }\n")
	want := `{"instructions":"<b> & \"c\"","states":{"a":{"triggers":{"manual":{"x":[1,1000,0,1.2345678901234567890123e22]}}}}}`
	if string(m.Canonical) != want {
		t.Errorf("got  %s\nwant %s", m.Canonical, want)
	}
}

func TestDecimals(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.00": "0", "1": "1", "1.0": "1", "10": "10", "1e2": "100", "100e-2": "1", "0.5": "0.5", "-12.340": "-12.34",
		"0.000001": "0.000001", "0.0000001": "1e-7", "1e21": "1e21", "1e20": "100000000000000000000", "9007199254740993": "9007199254740993",
	} {
		d, ok := parseDecimal(text)
		if !ok || d.String() != want {
			t.Errorf("%s is %s (%v), want %s", text, d, ok, want)
		}
	}
	ordered := []string{"-1e9", "-10", "-9.5", "-0.1", "0", "0.0999", "0.1", "1", "1.5", "2", "10", "1e9"}
	for i, a := range ordered {
		for j, b := range ordered {
			da, _ := parseDecimal(a)
			db, _ := parseDecimal(b)
			if got := da.cmp(db); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("cmp(%s, %s) = %d", a, b, got)
			}
		}
	}
}
