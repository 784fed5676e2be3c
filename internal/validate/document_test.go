package validate

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/diag"
)

// documentRows are mistakes that the loader finds: validate reports them with its
// own, once.
var documentRows = []broken{
	{"a misspelt root key", "instructions: Help.\n⟦unknown-key⟧titel: x\nstates: { a: { triggers: { manual: } } }\n"},
	{"a root key of an older version", "instructions: Help.\n⟦unknown-key⟧name: refund\nstates: { a: { triggers: { manual: } } }\n"},
	{"a misspelt state key on the last line, without a newline", "instructions: Help.\nstates:\n  a:\n    triggers: { manual: }\n    ⟦unknown-key⟧sumary: x"},
	{"a misspelt edge key in flow style", "instructions: Help.\nstates: { a: { triggers: { manual: }, transitions: [{ to: a, description: x, ⟦unknown-key⟧typ: none }] } }\n"},
	{"a skills.allow at the root", "instructions: Help.\nskills: { ⟦unknown-key⟧allow: [] }\nstates: { a: { triggers: { manual: } } }\n"},
	{"no states", "⟦missing-key⟧instructions: Help.\n"},
	{"states that are empty", "instructions: Help.\nstates: ⟦empty-value⟧{}\n"},
	{"a title that YAML reads as a number", "title: ⟦quote-string⟧12\ninstructions: Help.\nstates: { a: { triggers: { manual: } } }\n"},
	{"a title that YAML reads as a date", "title: ⟦quote-string⟧2026-01-31\ninstructions: Help.\nstates: { a: { triggers: { manual: } } }\n"},
	{"an edge to true", "instructions: Help.\nstates: { a: { triggers: { manual: }, transitions: [{ to: ⟦quote-string⟧true, description: x }] } }\n"},
	{"blank root instructions", "instructions: ⟦empty-value⟧\" \"\nstates: { a: { triggers: { manual: } } }\n"},
	{"a disabled that is text", "instructions: Help.\ndisabled: ⟦wrong-type⟧\"no\"\nstates: { a: { triggers: { manual: } } }\n"},
	{"an unsupported engine", "instructions: Help.\nruntime: { engine: ⟦unsupported-runtime⟧other }\nstates: { a: { triggers: { manual: } } }\n"},
	{"an unsupported version", "instructions: Help.\nruntime:\n  version: ⟦unsupported-runtime⟧3\nstates: { a: { triggers: { manual: } } }\n"},
	{"a ttl of another word", "instructions: Help.\nsettings: { prompt_cache: { ttl: ⟦bad-value⟧2h } }\nstates: { a: { triggers: { manual: } } }\n"},
	{"a state slug of the wrong shape", "instructions: Help.\nstates:\n  ⟦bad-slug⟧Refund Review: { triggers: { manual: } }\n"},
	{"an edge to no state", "instructions: Help.\nstates:\n  a:\n    triggers: { manual: }\n    transitions:\n      - to: ⟦unknown-state⟧b\n        description: Done.\n"},
	{"an on_error to no state, with CRLF and a byte order mark", "\uFEFFinstructions: Help.\r\nstates:\r\n  a:\r\n    triggers: { manual: }\r\n    on_error: ⟦unknown-state⟧b\r\n"},
	{"an edge without description", "instructions: Help.\nstates: { a: { triggers: { manual: }, transitions: [⟦missing-key⟧{ to: a }] } }\n"},
	{"two edges to one state", "instructions: Help.\nstates:\n  a: { triggers: { manual: }, instructions: x, transitions: [{ to: b, description: x }, { to: ⟦duplicate-edge⟧b, description: y }] }\n  b:\n"},
	{"an edge type of another word", "instructions: Help.\nstates: { a: { triggers: { manual: }, transitions: [{ to: a, description: x, type: ⟦bad-value⟧aprove }] } }\n"},
	{"two states that declare one trigger", "instructions: Help.\nstates:\n  a: { triggers: { manual: } }\n  b: { triggers: { ⟦duplicate-trigger⟧manual: } }\n"},
	{"no start state", "instructions: Help.\n⟦no-start-state⟧states:\n  a:\n"},
	{"a key for another kind of state", "instructions: Help.\nstates:\n  a: { triggers: { manual: }, transitions: [{ to: b, description: x }] }\n  b: { type: human, instructions: Approve, ⟦key-not-for-kind⟧model: x, transitions: [{ to: a, description: x }] }\n"},
	{"a human state without edges", "instructions: Help.\nstates:\n  a: { triggers: { manual: }, transitions: [{ to: b, description: x }] }\n  ⟦human-edges⟧b: { type: human, instructions: Approve }\n"},
	{"a human state with an edge to itself", "instructions: Help.\nstates:\n  a: { triggers: { manual: }, transitions: [{ to: b, description: x }] }\n  b: { type: human, instructions: Approve, transitions: [{ to: ⟦human-edges⟧b, description: x }] }\n"},
	{"a human state with two edges of one type", "instructions: Help.\nstates:\n  a: { triggers: { manual: }, transitions: [{ to: b, description: x }] }\n  b: { type: human, instructions: Approve, transitions: [{ to: a, description: x, type: refine }, { to: ⟦human-edges⟧c, description: x, type: refine }] }\n  c:\n"},
	{"a human state without instructions", "instructions: Help.\nstates:\n  a: { triggers: { manual: }, transitions: [{ to: b, description: x }] }\n  ⟦missing-key⟧b: { type: human, transitions: [{ to: a, description: x }] }\n"},
	{"a grader without edges", "instructions: Help.\nstates: { ⟦grader-edges⟧a: { type: grader, instructions: Good, triggers: { manual: } } }\n"},
	{"a code state without script", "instructions: Help.\nstates: { ⟦missing-key⟧a: { type: code, triggers: { manual: } } }\n"},
	{"a script outside its directory", "instructions: Help.\nstates: { a: { type: code, script: ⟦script-path⟧hooks/gate.js, triggers: { manual: } } }\n"},
	{"a script that is missing", "instructions: Help.\nstates: { a: { type: code, script: ⟦script-missing⟧scripts/chek.js, triggers: { manual: } } }\n"},
	{"a hook that is missing", "instructions: Help.\nstates: { a: { triggers: { manual: }, before: ⟦script-missing⟧{ script: hooks/gat.js } } }\n"},
	{"a before hook with max_iterations", "instructions: Help.\nstates: { a: { triggers: { manual: }, before: { script: hooks/gate.js, ⟦hook-iterations⟧max_iterations: 2 } } }\n"},
	{"an unknown hook kind", "instructions: Help.\nstates: { a: { triggers: { manual: }, after: { ⟦hook-kind⟧webhook: x } } }\n"},
	{"a * in a grant", "instructions: Help.\nstates: { a: { triggers: { manual: }, tools: { allow: [⟦star-grant⟧\"*\"] } } }\n"},
	{"an entry that names task", "instructions: Help.\ntools: { allow_always: [⟦task-tool⟧task], forbid_always: [⟦task-tool⟧task] }\nstates: { a: { triggers: { manual: }, tools: { allow: [⟦task-tool⟧task], forbid: [⟦task-tool⟧task] } } }\n"},
	{"a tool that is a glob, at each place", "instructions: Help.\ntools: { allow_always: [⟦bad-tool⟧look*], forbid_always: [⟦bad-tool⟧\"[x]\"] }\nstates: { a: { triggers: { manual: }, tools: { allow: [⟦bad-tool⟧look*], forbid: [⟦bad-tool⟧look*] } } }\n"},
	{"a delegation tool whose slug is none", "instructions: Help.\nstates: { a: { triggers: { manual: }, tools: { allow: [⟦bad-slug⟧archmax_workflow_Child], forbid: [⟦bad-slug⟧archmax_workflow_A] } } }\n"},
	{"a tool that is a glob", "instructions: Help.\nstates: { a: { triggers: { manual: }, tools: { allow: [⟦bad-tool⟧crm__*] } } }\n"},
	{"a forbid_always of archmax_advance in a machine that moves", "instructions: Help.\ntools: { forbid_always: [⟦advance-forbidden⟧archmax_advance] }\nstates:\n  a: { triggers: { manual: }, transitions: [{ to: b, description: x }] }\n  b: { triggers: { cron: } }\n"},
	{"a malformed reference", "instructions: Help.\nstates: { a: { triggers: { manual: }, tools: { allow: [{ tool: lookup, args: { id: ⟦bad-reference⟧\"${{order id}}\" } }] } } }\n"},
	{"a malformed glob", "instructions: Help.\nstates: { a: { triggers: { manual: }, tools: { allow: [{ tool: read_file, paths: [⟦bad-glob⟧\"a[\"] }] } } }\n"},
	{"a skill that is a path", "instructions: Help.\nskills: { allow_always: [⟦bad-skill⟧skills/orders] }\nstates: { a: { triggers: { manual: } } }\n"},
	{"a mount that is a glob", "instructions: Help.\nmounts: { forbid_always: [⟦bad-mount⟧\"catalogs/*\"] }\nstates: { a: { triggers: { manual: } } }\n"},
	{"a signature entry with a rule of another type", "instructions: Help.\nstates: { a: { triggers: { manual: { requires: [{ name: n, type: integer, ⟦signature-rule⟧pattern: x }] } } } }\n"},
	{"bounds that exclude everything", "instructions: Help.\nstates: { a: { triggers: { manual: { requires: [{ name: n, type: integer, minimum: 5, maximum: ⟦signature-bounds⟧3 }] } } } }\n"},
	{"a name twice in a signature", "instructions: Help.\nstates: { a: { triggers: { manual: { returns: [n, { name: ⟦signature-name⟧n, type: integer }] } } } }\n"},
	{"a trigger that says entry", "instructions: Help.\nstates: { a: { triggers: { manual: { ⟦trigger-key⟧entry: a } } } }\n"},
	{"a session that is no dotted path", "instructions: Help.\nstates: { a: { triggers: { manual: { session: ⟦dotted-path⟧$.a } } } }\n"},
	{"an unknown trigger key", "instructions: Help.\nstates: { a: { triggers: { manual: { ⟦unknown-trigger-key⟧channel: mail } } } }\n"},
	{"no root instructions", "⟦no-instructions⟧states: { a: { triggers: { manual: } } }\n"},
	{"several edges and no instructions", "instructions: Help.\nstates:\n  ⟦no-state-instructions⟧a: { triggers: { manual: }, transitions: [{ to: b, description: x }, { to: c, description: y }] }\n  b:\n  c:\n"},
	{"a state with the workflow's model", "instructions: Help.\nsettings: { model: m }\nstates: { a: { triggers: { manual: }, model: ⟦redundant-model⟧m } }\n"},
	{"a disabled workflow", "instructions: Help.\ndisabled: ⟦disabled-workflow⟧true\nstates: { a: { triggers: { manual: } } }\n"},
	{"a key twice", "instructions: Help.\n⟦duplicate-key⟧instructions: Help.\nstates: { a: { triggers: { manual: } } }\n"},
	{"a second document", "instructions: Help.\nstates: { a: { triggers: { manual: } } }\n⟦yaml-documents⟧---\nx: 1\n"},
	{"a tab", "instructions: Help.\nstates:\n⟦yaml-tab⟧\ta:\n"},
	{"a mount that climbs, and a mount with a backslash", "instructions: Help.\nmounts: { allow_always: [⟦bad-mount⟧../x] }\nstates: { a: { triggers: { manual: }, mounts: { allow: [{ mount: ⟦bad-mount⟧'a\\b' }] } } }\n"},
	{"a list at the root", "⟦wrong-type⟧- a\n"},
	{"lints and cross-checks beside a broken rule", "⟦no-instructions⟧tools: { allow_always: [⟦inert-grant⟧read_file, ⟦unknown-workflow⟧archmax_workflow_x] }\nstates:\n  a: { triggers: { manual: }, on_error: ⟦unknown-state⟧b }\n"},
}

func TestMistakesInTheDocumentAreReportedOnce(t *testing.T) { plain().run(t, documentRows) }

func TestThreeMisspellingsAreThreeFindingsWithTheWordThatWasMeant(t *testing.T) {
	list := plain().wantMarked(t, `instructions: Help.
states:
  draft:
    triggers: { manual: }
    ⟦unknown-key⟧transtions: [{ to: done, description: Written. }]
    budget: { ⟦unknown-key⟧maxTurn: 3 }
  done:
    type: ⟦bad-value⟧agnet
`)
	for i, meant := range []string{"transitions", "maxTurns", "agent"} {
		if i >= len(list) || !strings.Contains(list[i].Hint, "did you mean `"+meant+"`?") {
			t.Errorf("no hint says %q: %v", meant, list)
		}
	}
	list = usual().wantMarked(t, `instructions: Help.
skills: { allow_always: [⟦unknown-skill⟧oders] }
mounts: { allow_always: [⟦unknown-mount⟧refrence] }
states:
  draft:
    triggers: { manual: }
    on_error: ⟦unknown-state⟧dnoe
  done: { triggers: { cron: }, tools: { allow: [⟦unknown-tool⟧lokup, ⟦unknown-workflow⟧archmax_workflow_chld] } }
`)
	for i, meant := range []string{"orders", "reference", "done", "lookup", "child"} {
		if i >= len(list) || !strings.Contains(list[i].Hint, "did you mean `"+meant+"`?") {
			t.Errorf("no hint says %q: %v", meant, list)
		}
	}
}

func TestTheTablesAreLongAndNameEveryCodeOfThisPackage(t *testing.T) {
	rows := slices.Concat(documentRows, grantRows, listRows, callRows, graphRows)
	wrong, seen := 0, map[string]bool{}
	for _, row := range rows {
		found := marker.FindAllStringSubmatch(row.src, -1)
		if len(found) > 0 {
			wrong++
		}
		for _, m := range found {
			seen[m[1]] = true
		}
	}
	if wrong < 120 {
		t.Errorf("there are %d broken workflows", wrong)
	}
	for _, code := range ownCodes(t) {
		if !seen[string(code)] {
			t.Errorf("no workflow has the mistake %s", code)
		}
	}
}

var codeUse = regexp.MustCompile(`diag\.([A-Z][A-Za-z]+)\b`)

// ownCodes are the codes that the sources of this package use.
func ownCodes(t *testing.T) (codes []diag.Code) {
	t.Helper()
	byName := map[string]diag.Code{}
	for _, m := range regexp.MustCompile(`\t(\w+)\s+Code = "([a-z-]+)"`).FindAllStringSubmatch(readAll(t, "../diag"), -1) {
		byName[m[1]] = diag.Code(m[2])
	}
	for _, m := range codeUse.FindAllStringSubmatch(readAll(t, "."), -1) {
		if code, ok := byName[m[1]]; ok && code != diag.Missing {
			codes = append(codes, code)
		}
	}
	if len(codes) < 20 {
		t.Fatalf("only %d codes were found", len(codes))
	}
	return codes
}
