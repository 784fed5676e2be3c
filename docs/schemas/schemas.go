// Package schemas holds the JSON Schemas of what archmax reads and prints, and
// the tests that they describe what is read and printed. The schemas of authored
// files (workflow, case, config) are written by the tests of internal/schema
// with -update; the others are kept by hand, here.
package schemas

import "embed"

//go:embed outcome.json session.json event.json suite.json
var printed embed.FS

// Read returns the schema of a printed document by its name.
func Read(name string) ([]byte, bool) {
	b, err := printed.ReadFile(name + ".json")
	return b, err == nil
}
