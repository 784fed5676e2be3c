package schema

import (
	"github.com/archmax-ai/archmax/docs/schemas"
)

// Kind is one document that has a schema.
type Kind struct {
	Name string // as in `archmax schema <name>`, and the file docs/schemas/<name>.json
	What string // one line, for help
	tree func() *Schema
}

// Kinds are the documents that `archmax schema` knows, authored ones first.
func Kinds() []Kind {
	return []Kind{
		{"workflow", "a workflow.yaml", Workflow},
		{"case", "a case, tests/**/*.test.yaml", Case},
		{"config", "archmax.yaml", Config},
		{"outcome", "what run, send, decide and deliver print with --json", nil},
		{"session", "what sessions <id> prints with --json", nil},
		{"event", "a line of --events", nil},
		{"suite", "what test prints with --json", nil},
	}
}

// Document is the schema of a kind as a document; ok is false for an unknown
// kind. What archmax prints is described in docs/schemas by hand.
func Document(kind string) (doc []byte, ok bool) {
	for _, k := range Kinds() {
		if k.Name != kind {
			continue
		}
		if k.tree == nil {
			return schemas.Read(kind)
		}
		doc, err := indent(k.tree())
		return doc, err == nil
	}
	return nil, false
}
