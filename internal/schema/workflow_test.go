package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/schema/schematest"
	"github.com/archmax-ai/archmax/internal/spec"
)

// everyKey are workflows that together use every key of the language. They are
// small, so that their many mutants are quickly read.
var everyKey = []string{`title: Refunds
instructions: Be kind.
disabled: false
runtime: { engine: archmax-harness, version: "2" }
settings:
  { model: m, timeoutMs: 1, memoryLimitBytes: 1, maxPtcCalls: 0, maxResultChars: 1,
    prompt_cache: { enabled: true, ttl: 5m }, context: { maxTokens: 1, keepMessages: 1 } }
tests:
  { maxConcurrency: 1, caseTimeoutMs: 1, hostTools: mock, judge: { model: m, modelOptions: { temperature: 0, maxTokens: 1 } } }
skills: { allow_always: [orders], forbid_always: [letters] }
extensions: { hooks: [webhook] }
metadata: { owner: ann }
states: { a: { triggers: { manual: } } }
`, `instructions: Be kind.
tools:
  allow_always: [crm__lookup, { tool: crm__read, args: { a.b: "x/**", c: [x] }, paths: "x/**", connection: c, source: s }]
  forbid_always: ["*", { tool: crm__write, paths: ["x/**"] }]
mounts: { allow_always: [reference, { mount: catalogs/eu, access: read_write }], forbid_always: [old] }
states:
  draft:
    triggers: { manual: }
    tools: { allow: [crm__lookup], forbid: [crm__read] }
    skills: { allow: [orders], forbid: [letters] }
    mounts: { allow: [reference], forbid: [old] }
`, `instructions: Be kind.
states:
  draft:
    triggers:
      manual:
      form:
        session: ticket
        message: body
        connection: c
        description: A form.
        requires:
          - plain
          - { name: s, type: string, description: d, format: email, pattern: x, minLength: 1, maxLength: 90, content: text/plain }
          - { name: w, type: string, enum: [a, b] }
          - { name: i, type: integer, minimum: 1, maximum: 9, enum: [2] }
          - { name: n, type: number, minimum: 1.5, maximum: 9, enum: [2.5] }
          - { name: b, type: boolean }
          - { name: d, type: date, minimum: today, maximum: "2030-01-31" }
          - { name: t, type: date-time, minimum: now, maximum: "2030-01-31T00:00:00Z" }
          - { name: f, type: file, accept: [.pdf], maxSize: 10MB }
          - { name: o, type: object }
          - { name: l, type: array, minItems: 1, maxItems: 2 }
        returns: [total]
      timer: { message: false }
`, `instructions: Be kind.
states:
  draft:
    type: agent
    title: Draft
    summary: Drafts.
    instructions: Draft.
    triggers: { manual: }
    transitions:
      - { to: check, description: Ready., type: none }
    requires: [plain]
    model: m
    budget: { maxTurns: 1, timeoutMs: 1, maxParks: 1, maxVisits: 1 }
    on_error: done
    metadata: { a: 1 }
  check: { type: code, script: scripts/a.js, transitions: [{ to: judge, description: Checked. }], metadata: null }
  judge: { type: grader, instructions: Judge., model: m, transitions: [{ to: review, description: Good. }] }
  review:
    type: human
    instructions: Decide.
    approvers: Ann
    evidence: [scratchpad/a.md]
    transitions: [{ to: done, description: Fine., type: approve }]
  done:
`, `instructions: Be kind.
extensions: { hooks: [webhook] }
states:
  draft:
    triggers: { manual: }
    before: { script: hooks/a.js }
    after:
      - { script: hooks/a.js, max_iterations: 1 }
      - { rubric: { instructions: Good., max_iterations: 1, model: m, metadata: { a: 1 } } }
      - { webhook: { url: x }, max_iterations: 0 }
  gated: { before: [{ rubric: { instructions: Fit., model: m } }, { webhook: x }] }
`}

func workflowPair(t testing.TB) (schematest.Pair, []byte) {
	doc, ok := Document("workflow")
	if !ok {
		t.Fatal("there is no workflow schema")
	}
	return schematest.Pair{
		Schema: schematest.Compile(t, doc),
		Load: func(src []byte) diag.List {
			_, list := spec.Parse("refund", "workflows/refund/workflow.yaml", src)
			return list
		},
	}, doc
}

func TestSchemaAndLoaderAgreeOnEveryKey(t *testing.T) {
	pair, doc := workflowPair(t)
	accepted, rejected := pair.Mutants(t, doc, everyKey...)
	if accepted < 200 || rejected < 1500 {
		t.Errorf("only %d accepted and %d rejected mutants: the corpus is thin", accepted, rejected)
	}
}

var marker = regexp.MustCompile(`⟦[a-z-]+⟧`)

// loaderTexts are the texts of the loader's own tests: whole documents, and the
// pieces that its tables put into one.
func loaderTexts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../spec/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of the loader (%v)", err)
	}
	fset := token.NewFileSet()
	var parsed []*ast.File
	constants := map[string]ast.Expr{}
	for _, f := range files {
		file, err := parser.ParseFile(fset, f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 {
						constants[v.Names[0].Name] = v.Values[0]
					}
				}
			}
		}
	}
	var fold func(ast.Expr) (string, bool)
	fold = func(e ast.Expr) (string, bool) {
		switch e := e.(type) {
		case *ast.BasicLit:
			s, err := strconv.Unquote(e.Value)
			return s, e.Kind == token.STRING && err == nil
		case *ast.Ident:
			c, ok := constants[e.Name]
			if !ok {
				return "", false
			}
			return fold(c)
		case *ast.BinaryExpr:
			a, okA := fold(e.X)
			b, okB := fold(e.Y)
			return a + b, okA && okB && e.Op == token.ADD
		}
		return "", false
	}
	var texts []string
	for _, file := range parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			s, ok := fold(e)
			if ok {
				texts = append(texts, marker.ReplaceAllString(s, ""))
			}
			return !ok
		})
	}
	return texts
}

func TestSchemaAndLoaderAgreeOnTheLoadersOwnTests(t *testing.T) {
	pair, _ := workflowPair(t)
	seen := map[schematest.Verdict]int{}
	for _, text := range loaderTexts(t) {
		for _, src := range []string{
			text,
			"instructions: x\n" + text + "\nstates:\n  a:\n    triggers: { manual: }\n",
			"instructions: x\nstates:\n  a:\n    triggers: { manual: }\n    " + text + "\n",
			"instructions: x\nstates:\n  a:\n    triggers: { manual: " + text + " }\n",
			"instructions: x\nstates:\n  a:\n    triggers: { manual: { requires: [{ name: x, " + text + " }] } }\n",
			"instructions: x\nstates:\n  a:\n    triggers: { manual: { requires: " + text + " } }\n",
		} {
			seen[pair.Check(t, src)]++
		}
	}
	if seen[schematest.Accepted] < 100 || seen[schematest.Rejected] < 200 {
		t.Errorf("only %d accepted and %d rejected: the loader's tables were not found", seen[schematest.Accepted], seen[schematest.Rejected])
	}
}

func TestTheSchemaAcceptsTheRepositorysWorkflows(t *testing.T) {
	pair, _ := workflowPair(t)
	files, err := filepath.Glob("../../workflows/*/workflow.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows (%v)", err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if pair.Check(t, string(src)) != schematest.Accepted {
			t.Errorf("%s does not load", f)
		}
		// The first line binds editors to the committed schema.
		first, _, _ := strings.Cut(string(src), "\n")
		path, ok := strings.CutPrefix(first, "# yaml-language-server: $schema=")
		if !ok {
			t.Errorf("%s does not begin with a # yaml-language-server: $schema= line", f)
			continue
		}
		committed, err := os.ReadFile(filepath.Join(filepath.Dir(f), filepath.FromSlash(path)))
		if err != nil {
			t.Errorf("%s: its schema is not there: %v", f, err)
			continue
		}
		if doc, _ := Document("workflow"); string(committed) != string(doc) {
			t.Errorf("%s: its schema %s is stale; run the tests of internal/schema with -update", f, path)
		}
	}
}
