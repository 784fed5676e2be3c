package authoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// offered are the definitions, of those that a model gets, whose tools are in the
// kernel's list.
func offered(list []governance.ToolInfo) []workspace.Definition {
	return slices.DeleteFunc(runtime.ToolDefinitions(), func(d workspace.Definition) bool {
		return !slices.ContainsFunc(list, func(t governance.ToolInfo) bool { return t.Name == d.Name })
	})
}

// unoffered are the tools that the kernel knows and no model gets yet.
func unoffered() string {
	defined := runtime.ToolDefinitions()
	return toolNames(slices.DeleteFunc(slices.Concat(governance.Builtins(), governance.Controls()), func(t governance.ToolInfo) bool {
		return slices.ContainsFunc(defined, func(d workspace.Definition) bool { return d.Name == t.Name })
	}))
}

func toolNames(tools []governance.ToolInfo) string {
	var names []string
	for _, t := range tools {
		names = append(names, "`"+t.Name+"`")
	}
	return strings.Join(names, ", ")
}

func definitionNames(defs []workspace.Definition) string {
	var names []string
	for _, d := range defs {
		names = append(names, "`"+d.Name+"`")
	}
	return strings.Join(names, ", ")
}

// toolList is a Markdown list of tools with their arguments, as models are told
// of them.
func toolList(defs []workspace.Definition) (string, error) {
	var b strings.Builder
	for _, d := range defs {
		fmt.Fprintf(&b, "- `%s`: %s\n", d.Name, d.Description)
		if err := argumentList(&b, d.Schema, "  "); err != nil {
			return "", fmt.Errorf("the schema of %s: %w", d.Name, err)
		}
	}
	return b.String(), nil
}

// property is what a list says of one argument.
type property struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Enum        []string        `json:"enum"`
	Items       json.RawMessage `json:"items"`
}

func argumentList(b *strings.Builder, schema json.RawMessage, indent string) error {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(schema, &s); err != nil || len(s.Properties) == 0 {
		return err
	}
	in := json.NewDecoder(bytes.NewReader(s.Properties)) // a map would lose the order
	if _, err := in.Token(); err != nil {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		var p property
		if err := in.Decode(&p); err != nil {
			return err
		}
		kind := p.Type
		if len(p.Enum) > 0 {
			kind = "`" + strings.Join(p.Enum, "`, `") + "`"
		}
		if slices.Contains(s.Required, fmt.Sprint(name)) {
			kind += ", required"
		}
		fmt.Fprintf(b, "%s- `%s` (%s): %s\n", indent, name, kind, p.Description)
		if len(p.Items) > 0 {
			if err := argumentList(b, p.Items, indent+"  "); err != nil {
				return err
			}
		}
	}
	return nil
}
