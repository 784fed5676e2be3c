package casetest

import (
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
)

// DefaultClock is "now" in a case that names no clock.
var DefaultClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Case is one parsed case: one conversation on one session.
type Case struct {
	ID          string // path below tests/, without the extension
	File        string // relative to the root, with slashes
	Title       string // white space collapsed
	Description string
	Skip        string // the reason, "" when it is to run
	Trigger     string // "" : manual
	Variables   []runtime.Seed
	Workspace   []Placed
	Files       []Placed // Path is the variable's name, From the fixture
	Mocks       []*Mock
	Clock       time.Time // DefaultClock when the case names none
	Model       *Model    // nil: the case's own cassette file
	Steps       []*Step

	at           diag.Range
	triggerRange diag.Range
}

// Placed is a file that a case brings. From is a path below tests/, copied byte
// for byte; "" when the content is in the case.
type Placed struct {
	Path    string
	Content []byte
	From    string
	Range   diag.Range
}

// Model is the `model` key: a cassette in the case, or a path, relative to
// tests/.
type Model struct {
	Inline *model.Cassette
	Path   string
	Range  diag.Range
}

// Mock answers the calls of a tool in its place. One of Error, Results is given;
// a `result` is one of Results that lasts.
type Mock struct {
	Tool      string
	WhenInput *Matcher // nil: any
	Results   []string
	Lasting   bool // a `result`: answers every call; else each of Results answers one
	Error     string
	IsError   bool
	Range     diag.Range
}

// Step is one entry of `steps`: an action or an assertion.
type Step struct {
	Index  int    // from 0
	Key    string // send, decide, …, grade
	Field  string // steps.3.calledTool
	Range  diag.Range
	Action action // one of the two is set
	Check  check
}

// action is one arrival at the session.
type action interface{ perform(*run) error }

// check is an assertion. It returns what is wrong, "" when it holds. Structural
// says that a miss halts the case.
type check interface {
	check(*run) finding
	structural() bool
}

// finding is what an assertion came to. An empty detail is a pass; err is a
// failure of the case itself, such as a judge that cannot be asked.
type finding struct {
	detail string
	grade  *grade
	err    error
}

func miss(detail string) finding { return finding{detail: detail} }

var holds = finding{}

// collapse takes white space together.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }
