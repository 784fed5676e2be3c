// Package explain is the one table of what archmax can say of a mistake: the
// diagnostic codes (package diag) and the rules of governance, each with its
// meaning, an example and the fix. `archmax explain`, docs/diagnostics.md and
// the authoring skill are written from it, so they cannot drift apart.
package explain

import (
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
)

// Kind says what an entry is of.
type Kind string

// The kinds.
const (
	Diagnostic Kind = "diagnostic" // of validate, run and test
	Rule       Kind = "rule"       // of the kernel, in refusals and events
)

// Entry explains one code or rule id.
type Entry struct {
	ID      string
	Kind    Kind
	Summary string // one line, without a full stop
	Meaning string // "" when the summary says it all
	Example string // YAML or text that brings it about
	Good    string // the example as it should be; "" when it is not shown
	Fix     string
}

// Entries are all entries: the diagnostics sorted by code, then the rules in the
// order of the pipeline.
func Entries() []Entry {
	var all []Entry
	for _, d := range diag.Codes() {
		all = append(all, Entry{ID: string(d.Code), Kind: Diagnostic, Summary: d.Summary, Meaning: d.Meaning, Example: d.Example, Good: d.Good, Fix: d.Fix})
	}
	for _, r := range governance.Rules() {
		doc := ruleDocs[r.ID]
		all = append(all, Entry{ID: r.ID, Kind: Rule, Summary: r.Meaning, Example: doc.example, Fix: doc.fix})
	}
	return all
}

// Lookup returns the entry of a code or a rule id. Any policy.<name> is the
// entry of policy rules.
func Lookup(id string) (Entry, bool) {
	if name, ok := strings.CutPrefix(id, governance.RulePolicyPrefix); ok && name != "" {
		id = policyID
	}
	all := Entries()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}

// Near returns the id that was probably meant, or "".
func Near(id string) string {
	var ids []string
	for _, e := range Entries() {
		ids = append(ids, e.ID)
	}
	return diag.Nearest(id, ids)
}

// policyID stands for every policy rule.
const policyID = governance.RulePolicyPrefix + "<name>"
