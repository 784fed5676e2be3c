package schema

import (
	"bytes"
	"encoding/json"

	"github.com/archmax-ai/archmax/internal/spec"
)

// Signature is what a caller gives a trigger and gets from it, each a JSON
// Schema of an object.
type Signature struct {
	Workflow    string          `json:"workflow"`
	Trigger     string          `json:"trigger"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output"`
}

// SignatureOf is the signature of a trigger.
func SignatureOf(m *spec.Machine, t *spec.Trigger) Signature {
	return Signature{
		Workflow: m.Slug, Trigger: t.ID, Description: t.Description,
		Input: spec.Schema(t.Requires), Output: spec.Schema(t.Returns),
	}
}

// Tool is a trigger as a tool of the Model Context Protocol (cli.md, "archmax
// mcp").
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// The strings that every trigger's tool takes beside its signature, unless the
// signature has the name.
var callKeys = Keys{
	key("message", text("What to say to the workflow, in words.")),
	key("session", text("The session to go on with; without it the workflow's own rule decides, else a fresh one begins.")),
}

// ToolOf is the tool of a trigger: <workflow> for manual, else
// <workflow>__<trigger>. Its output is the trigger's returns.
func ToolOf(m *spec.Machine, t *spec.Trigger) (Tool, error) {
	tool := Tool{Name: m.Slug, Title: m.Title, Description: t.Description, OutputSchema: spec.Schema(t.Returns)}
	if t.ID != spec.Manual {
		tool.Name += "__" + t.ID
	}
	if tool.Description == "" {
		tool.Description = "Runs the workflow " + m.Slug + "."
	}
	input, err := withCallKeys(spec.Schema(t.Requires), t.Requires)
	tool.InputSchema = input
	return tool, err
}

// Shadowed are the names of the call's own strings that a trigger's signature has
// too: the signature's stand, so a caller cannot give the call's.
func Shadowed(t *spec.Trigger) (shadowed []string) {
	for _, k := range callKeys {
		if names(t.Requires, k.Name) {
			shadowed = append(shadowed, k.Name)
		}
	}
	return shadowed
}

// withCallKeys adds the call's own properties behind the signature's.
func withCallKeys(schema json.RawMessage, entries []*spec.Entry) (json.RawMessage, error) {
	var parts struct {
		Properties json.RawMessage `json:"properties"`
		Required   json.RawMessage `json:"required"`
	}
	if err := json.Unmarshal(schema, &parts); err != nil {
		return nil, err
	}
	var extra Keys
	for _, k := range callKeys {
		if !names(entries, k.Name) {
			extra = append(extra, k)
		}
	}
	more, err := encode(extra)
	if err != nil {
		return nil, err
	}
	properties := bytes.TrimSuffix(parts.Properties, []byte("}"))
	if len(entries) > 0 && len(extra) > 0 {
		properties = append(bytes.Clone(properties), ',')
	}
	properties = append(bytes.Clone(properties), more[1:]...)
	return encode(struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   json.RawMessage `json:"required"`
	}{"object", properties, parts.Required})
}

func names(entries []*spec.Entry, name string) bool {
	for _, e := range entries {
		if e.Name == name {
			return true
		}
	}
	return false
}
