package explain

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/validate"
)

// Where an example stands: each shows the keys of one mapping. The rest of the
// workflow is without fault.
const (
	atRoot     = "@\nINSTRUCTIONSSTATES"
	inMetadata = "instructions: Help.\nmetadata:\n  @\nSTATES"
	asStates   = "instructions: Help.\nstates:\n  START\n  @\n"
	inState    = "instructions: Help.\nstates:\n  START\n  a:\n    @\n"
	inStart    = "instructions: Help.\nstates:\n  a:\n    @\n  b:\n    on_error: START\n"
	inHuman    = "instructions: Help.\nstates:\n  START\n  a:\n    type: human\n    instructions: Is it right?\n    transitions: [{ to: done, description: It is. }]\n    @\n"
	inTools    = "instructions: Help.\nstates:\n  START\n  a:\n    tools:\n      @\n"
	inEntry    = "instructions: Help.\nstates:\n  START\n  a:\n    tools:\n      allow:\n        - tool: lookup_customer\n          @\n"
	inCode     = "instructions: Help.\nstates:\n  START\n  a:\n    type: code\n    transitions: [{ to: done, description: It is checked. }]\n    @\n"
	inTrigger  = "instructions: Help.\nstates:\n  a:\n    triggers:\n      manual:\n        @\n"
	asCase     = "case"
)

// places are where the examples of the codes stand.
var places = map[diag.Code]string{
	diag.Syntax: inMetadata, diag.Tab: atRoot, diag.Documents: atRoot, diag.DuplicateKey: atRoot, diag.ComplexKey: inMetadata,
	diag.Tag: inMetadata, diag.LostText: atRoot,

	diag.WrongType: atRoot, diag.QuoteString: atRoot, diag.UnknownKey: atRoot, diag.MissingKey: inState, diag.EmptyValue: atRoot,
	diag.BadValue: inState,

	diag.NoInstructions: atRoot, diag.NoStateInstructions: asStates, diag.RedundantModel: atRoot, diag.UnknownTriggerKey: inState,

	diag.BadSlug: atRoot, diag.BadVariable: inState, diag.BadPath: inHuman, diag.BadReference: inEntry, diag.BadGlob: inEntry,
	diag.BadTool: inTools, diag.BadSkill: inState, diag.BadMount: inState, diag.UnsupportedRuntime: atRoot,
	diag.KeyNotForKind: asStates, diag.UnknownState: inState, diag.DuplicateEdge: asStates, diag.NoStartState: atRoot,
	diag.DuplicateTrigger: atRoot, diag.TriggerKey: inStart, diag.DottedPathCode: inTrigger, diag.HumanEdges: asStates,
	diag.GraderEdges: asStates, diag.SignatureName: inTrigger, diag.SignatureRule: inTrigger, diag.SignatureBounds: inTrigger,
	diag.SignaturePattern: inTrigger, diag.StarGrant: inState, diag.TaskTool: inState, diag.HookKind: inState,
	diag.HookIterations: inState, diag.ScriptPath: inCode, diag.ScriptMissing: inCode,

	diag.UnknownTrigger: asCase, diag.BadPattern: asCase, diag.StepOrder: asCase, diag.EmptyAssertion: asCase,

	diag.UnknownSkill: inState, diag.UnknownMount: inState, diag.RefusedGrant: inState, diag.RunPath: inState,
	diag.UnknownTool: inState, diag.CoveredGrant: inState, diag.PartGrant: atRoot, diag.InertGrant: atRoot,
	diag.ScratchpadGrant: inState, diag.GrantedTwice: atRoot, diag.IdleForbid: inState, diag.EmptyAllow: inState,
	diag.NoSkillsBlock: atRoot, diag.NoMountsBlock: atRoot, diag.LooseGuard: inStart,

	diag.UnreachableState: atRoot, diag.Trap: asStates, diag.UnboundedLoop: asStates,
}

// elsewhere are the codes whose examples are no part of a workflow or a case.
var elsewhere = []diag.Code{diag.CompetingMachines, diag.SkillInvalid, diag.SkillNameMismatch}

// filled puts an example into its place: the markers stand for what the example
// does not bring itself.
func filled(place, example string) string {
	indent := ""
	for line := range strings.Lines(place) {
		if at := strings.Index(line, "@"); at >= 0 {
			indent = strings.Repeat(" ", at)
		}
	}
	src := strings.Replace(place, "@", strings.ReplaceAll(example, "\n", "\n"+indent), 1)
	const start = "start: { triggers: { cron: }, instructions: x, transitions: ["
	states := "states: { draft: { triggers: { manual: } } }"
	if strings.Contains(example, "states:") {
		states = ""
	}
	instructions := "instructions: Help.\n"
	if strings.Contains("\n"+example, "\ninstructions:") {
		instructions = ""
	}
	// Every state is reached from the start, and there is one of each name.
	var edges []string
	var more strings.Builder
	names := []string{"a", "b", "check", "decline", "done", "draft", "refund", "answer", "judge", "lookup", "reply", "review", "triage"}
	for _, name := range names {
		if strings.Contains(src, "\n  "+name+":") {
			edges = append(edges, "{ to: "+name+", description: x }")
		} else {
			edges = append(edges, "{ to: "+name+", description: x }")
			more.WriteString("\n  " + name + ": { instructions: x }")
		}
	}
	return strings.NewReplacer(
		"INSTRUCTIONS", instructions, "STATES", states,
		"on_error: START", "title: x", "START", start+strings.Join(edges, ", ")+"] }"+more.String(),
	).Replace(src)
}

// checked are the diagnostics of an example in its place.
func checked(t *testing.T, place, example string) diag.List {
	t.Helper()
	fsys := fstest.MapFS{
		"workflows/sale/scripts/check.js": {Data: []byte("export default async () => {}\n")},
		"workflows/sale/hooks/gate.js":    {Data: []byte("export default async () => ok()\n")},
		"workflows/invoice/workflow.yaml": {Data: []byte("instructions: Help.\nstates: { a: { triggers: { manual: } } }\n")},
	}
	if place == asCase {
		fsys["workflows/sale/workflow.yaml"] = &fstest.MapFile{Data: []byte("instructions: Help.\nstates: { a: { triggers: { manual: , web-form: } } }\n")}
		m, list := spec.Load(fsys, "sale")
		if m == nil {
			t.Fatal(list)
		}
		head := "title: x\ndescription: x\nmodel: { calls: [{ text: x }] }\n"
		switch {
		case strings.HasPrefix(example, "raised:"):
			head += "steps:\n  - send: hello\n  - "
		case !strings.HasPrefix(example, "steps:"):
			head += "steps: [{ send: hello }, { succeeded: true }]\n"
		}
		fsys["workflows/sale/tests/x.test.yaml"] = &fstest.MapFile{Data: []byte(head + example + "\n")}
		return casetest.Static(fsys, m)
	}
	src := filled(place, example)
	fsys["workflows/sale/workflow.yaml"] = &fstest.MapFile{Data: []byte(src)}
	results, err := validate.Workspace(validate.Input{
		Root: fsys, Skills: []string{"invoices", "orders"},
		Mounts: []governance.Mount{{Name: "catalogs/eu", Governed: true, ReadOnly: true}, {Name: "reference", Governed: true, ReadOnly: true}, {Name: "skills", ReadOnly: true}},
		Tools:  []governance.ToolInfo{{Name: "crm__lookup"}, {Name: "crm__export"}, {Name: "lookup_customer", Paths: []governance.PathArg{{Name: "path", Use: governance.Read}}}},
	}, "sale")
	if err != nil {
		t.Fatal(err)
	}
	return results[0].Diagnostics
}

// What `explain` shows as wrong is wrong, and what it shows instead is right.
func TestTheExamplesAreWhatTheyAreShownAs(t *testing.T) {
	shown := 0
	for _, d := range diag.Codes() {
		if d.Good == "" {
			continue
		}
		shown++
		place, ok := places[d.Code]
		if !ok {
			if !slices.Contains(elsewhere, d.Code) {
				t.Errorf("%s: the test does not know where its examples stand", d.Code)
			}
			continue
		}
		has := func(list diag.List) bool {
			return slices.ContainsFunc(list, func(x diag.Diagnostic) bool { return x.Code == string(d.Code) })
		}
		if d.Code == diag.NoInstructions {
			place = "@\n" // the rest would mend it
		}
		if list := checked(t, place, d.Example); !has(list) {
			t.Errorf("%s: the example is not at fault: %v\n%s", d.Code, list, filled(place, d.Example))
		}
		if list := checked(t, place, d.Good); has(list) || list.HasErrors() {
			t.Errorf("%s: the corrected example is at fault: %v\n%s", d.Code, list, filled(place, d.Good))
		}
	}
	if shown < 60 {
		t.Errorf("only %d codes show the corrected example", shown)
	}
}
