package diag

import (
	"cmp"
	"maps"
	"slices"
)

// Code is a stable kebab-case word for one kind of problem.
type Code string

// Problems of reading a file.
const (
	Missing           Code = "missing"
	Unreadable        Code = "unreadable"
	CompetingMachines Code = "competing-machines"
	Encoding          Code = "encoding"
	Syntax            Code = "yaml-syntax"
	Tab               Code = "yaml-tab"
	Documents         Code = "yaml-documents"
	DuplicateKey      Code = "duplicate-key"
	ComplexKey        Code = "complex-key"
	Alias             Code = "yaml-alias"
	Depth             Code = "yaml-depth"
	Tag               Code = "yaml-tag"
	LostText          Code = "lost-text"
)

// Problems of shape.
const (
	WrongType   Code = "wrong-type"
	QuoteString Code = "quote-string"
	UnknownKey  Code = "unknown-key"
	MissingKey  Code = "missing-key"
	EmptyValue  Code = "empty-value"
	BadValue    Code = "bad-value"
)

// Problems of a workflow's rules.
const (
	BadSlug            Code = "bad-slug"
	BadVariable        Code = "bad-variable"
	BadPath            Code = "bad-path"
	BadReference       Code = "bad-reference"
	BadGlob            Code = "bad-glob"
	BadTool            Code = "bad-tool"
	BadSkill           Code = "bad-skill"
	BadMount           Code = "bad-mount"
	UnsupportedRuntime Code = "unsupported-runtime"
	KeyNotForKind      Code = "key-not-for-kind"
	UnknownState       Code = "unknown-state"
	DuplicateEdge      Code = "duplicate-edge"
	NoStartState       Code = "no-start-state"
	DuplicateTrigger   Code = "duplicate-trigger"
	TriggerKey         Code = "trigger-key"
	DottedPathCode     Code = "dotted-path"
	HumanEdges         Code = "human-edges"
	GraderEdges        Code = "grader-edges"
	SignatureName      Code = "signature-name"
	SignatureRule      Code = "signature-rule"
	SignatureBounds    Code = "signature-bounds"
	SignaturePattern   Code = "signature-pattern"
	StarGrant          Code = "star-grant"
	TaskTool           Code = "task-tool"
	AdvanceForbidden   Code = "advance-forbidden"
	HookKind           Code = "hook-kind"
	HookIterations     Code = "hook-iterations"
	ScriptPath         Code = "script-path"
	ScriptMissing      Code = "script-missing"
	ScriptImport       Code = "script-import"
)

// Warnings of a workflow.
const (
	NoInstructions      Code = "no-instructions"
	NoStateInstructions Code = "no-state-instructions"
	DisabledWorkflow    Code = "disabled-workflow"
	RedundantModel      Code = "redundant-model"
	UnknownTriggerKey   Code = "unknown-trigger-key"
)

// Problems of cases (`*.test.yaml`).
const (
	UnknownTrigger  Code = "unknown-trigger"
	UnknownWorkflow Code = "unknown-workflow"
	FixtureMissing  Code = "fixture-missing"
	BadPattern      Code = "bad-pattern"
	StepOrder       Code = "step-order"
	EmptyAssertion  Code = "empty-assertion"
	DuplicateCase   Code = "duplicate-case"
	MockTool        Code = "mock-tool"
)

// Problems of a workflow in its workspace and as a graph, which validate finds.
const (
	UnknownSkill    Code = "unknown-skill"
	UnknownMount    Code = "unknown-mount"
	RefusedGrant    Code = "refused-grant"
	RunPath         Code = "run-path"
	BrokenWorkflow  Code = "broken-workflow"
	NotDelegatable  Code = "not-delegatable"
	DelegationCycle Code = "delegation-cycle"
	DelegationDepth Code = "delegation-depth"
	CallsDisabled   Code = "calls-disabled"

	UnknownTool      Code = "unknown-tool"
	CoveredGrant     Code = "covered-grant"
	PartGrant        Code = "part-grant"
	InertGrant       Code = "inert-grant"
	ScratchpadGrant  Code = "scratchpad-grant"
	GrantedTwice     Code = "granted-twice"
	IdleForbid       Code = "idle-forbid"
	EmptyAllow       Code = "empty-allow"
	NoSkillsBlock    Code = "no-skills-block"
	NoMountsBlock    Code = "no-mounts-block"
	LooseGuard       Code = "loose-guard"
	UnreachableState Code = "unreachable-state"
	Trap             Code = "trap"
	UnboundedLoop    Code = "unbounded-loop"
)

// Problems of the workspace's mounts and skill bundles.
const (
	MountInvalid      Code = "mount-invalid"
	MountMissing      Code = "mount-missing"
	MountCollision    Code = "mount-collision"
	AuthoringExposed  Code = "authoring-exposed"
	SkillInvalid      Code = "skill-invalid"
	SkillNameMismatch Code = "skill-name-mismatch"
)

// Doc is what a person can be told of a code.
type Doc struct {
	Code    Code
	Summary string // one line, without a full stop
	Meaning string // why it is a problem
	Example string // YAML or text that has the problem
	Good    string // the example as it should be; "" when that cannot be shown in a few lines
	Fix     string // what to do
}

// Lookup returns the entry of a code.
func Lookup(code string) (Doc, bool) {
	d, ok := table[Code(code)]
	return d, ok
}

// Codes returns every entry, sorted by code.
func Codes() []Doc {
	docs := slices.Collect(maps.Values(table))
	slices.SortFunc(docs, func(a, b Doc) int { return cmp.Compare(a.Code, b.Code) })
	return docs
}

var table = index(readingDocs, shapeDocs, ruleDocs, warningDocs, caseDocs, grantDocs, graphDocs, workspaceDocs)

func index(groups ...[]Doc) map[Code]Doc {
	t := map[Code]Doc{}
	for _, docs := range groups {
		for _, d := range docs {
			t[d.Code] = d
		}
	}
	return t
}
