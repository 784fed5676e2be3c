package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/archmax-ai/archmax/internal/schema/schematest"
	"github.com/archmax-ai/archmax/internal/spec"
)

const called = `title: Refunds
instructions: x
states:
  a:
    triggers:
      manual: { returns: [{ name: total, type: number }] }
      web-form:
        description: A form.
        requires: [{ name: order_id, type: string, pattern: "^ORD-" }, { name: message, type: integer }, note]
`

func toolOf(t *testing.T, trigger string) Tool {
	t.Helper()
	m, list := spec.Parse("refund", "f", []byte(called))
	if m == nil {
		t.Fatal(list)
	}
	tr, _ := m.Trigger(trigger)
	tool, err := ToolOf(m, tr)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// The names and properties are those of cli.md, "archmax mcp".
func TestATriggerIsATool(t *testing.T) {
	for _, tt := range []struct{ trigger, name, description, input, output string }{
		{
			"manual", "refund", "Runs the workflow refund.",
			`{"type":"object","properties":{"message":{S},"session":{S}},"required":[]}`,
			`{"type":"object","properties":{"total":{"type":"number"}},"required":["total"]}`,
		},
		{
			// The signature's own `message` stands; `session` is added.
			"web-form", "refund__web-form", "A form.",
			`{"type":"object","properties":{"order_id":{"type":"string","pattern":"^ORD-"},"message":{"type":"integer"},"note":{},"session":{S}},"required":["order_id","message","note"]}`,
			`{"type":"object","properties":{},"required":[]}`,
		},
	} {
		t.Run(tt.trigger, func(t *testing.T) {
			tool := toolOf(t, tt.trigger)
			if tool.Name != tt.name || tool.Description != tt.description || tool.Title != "Refunds" {
				t.Errorf("name %q, title %q, description %q", tool.Name, tool.Title, tool.Description)
			}
			want := tt.input
			for _, k := range callKeys {
				want = strings.Replace(want, `"`+k.Name+`":{S}`, `"`+k.Name+`":{"description":"`+k.Schema.Description+`","type":"string"}`, 1)
			}
			if string(tool.InputSchema) != want {
				t.Errorf("input\n%s\nwant\n%s", tool.InputSchema, want)
			}
			if string(tool.OutputSchema) != tt.output {
				t.Errorf("output\n%s\nwant\n%s", tool.OutputSchema, tt.output)
			}
		})
	}
}

func TestAToolsInputIsHeldAgainstTheSignature(t *testing.T) {
	s := schematest.Compile(t, toolOf(t, "web-form").InputSchema)
	for args, ok := range map[string]bool{
		`{"order_id":"ORD-1","message":1,"note":null}`:               true,
		`{"order_id":"ORD-1","message":1,"note":null,"session":"s"}`: true,
		`{"order_id":"ORD-1","message":1,"note":null,"session":7}`:   false,
		`{"order_id":"1","message":1,"note":null}`:                   false,
		`{"order_id":"ORD-1","message":1}`:                           false,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); (err == nil) != ok {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestASignatureIsTwoSchemas(t *testing.T) {
	m, _ := spec.Parse("refund", "f", []byte(called))
	tr, _ := m.Trigger("manual")
	raw, err := json.Marshal(SignatureOf(m, tr))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"workflow":"refund","trigger":"manual","input":{"type":"object","properties":{},"required":[]},"output":{"type":"object","properties":{"total":{"type":"number"}},"required":["total"]}}`
	if string(raw) != want {
		t.Errorf("got\n%s\nwant\n%s", raw, want)
	}
}
