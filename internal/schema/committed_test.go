package schema

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/archmax-ai/archmax/internal/schema/schematest"
)

var update = flag.Bool("update", false, "write the schemas in docs/schemas anew")

// docs/schemas is what editors and readers of the repository find.
func TestTheCommittedSchemasAreTheProgramsOwn(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			doc, ok := Document(k.Name)
			if !ok {
				t.Fatal("there is no such document")
			}
			file := filepath.Join("..", "..", "docs", "schemas", k.Name+".json")
			if *update {
				if err := os.WriteFile(file, doc, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			committed, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(committed) != string(doc) {
				t.Errorf("%s is stale; run with -update", file)
			}
			schematest.Compile(t, doc)
		})
	}
}

func TestAnUnknownKindHasNoDocument(t *testing.T) {
	for _, kind := range []string{"", "machine", "workflow-info", "../schemas/outcome"} {
		if _, ok := Document(kind); ok {
			t.Errorf("%q has a document", kind)
		}
	}
}
