package cli

import (
	"regexp"
	"slices"
	"testing"

	"github.com/archmax-ai/archmax/internal/authoring"
)

// specified are the commands of cli.md.
var specified = []string{
	"run", "send", "decide", "deliver", "sessions", "validate", "test", "workflows", "mcp", "graph", "schema", "explore",
	"init", "explain", "skill", "completion", "help", "version",
}

func TestTheSkillNamesCommandsThatThereAre(t *testing.T) {
	files, err := authoring.Skill(authoring.SkillName)
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("(?m)(?:`|^  )archmax ([a-z]+)")
	named := 0
	for _, f := range files {
		for _, m := range command.FindAllStringSubmatch(string(f.Content), -1) {
			if named++; !slices.Contains(specified, m[1]) {
				t.Errorf("%s: there is no command %s", f.Path, m[1])
			}
		}
	}
	if named < 10 {
		t.Errorf("only %d commands were found", named)
	}
}
