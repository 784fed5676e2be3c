package schemas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/schema/schematest"
)

// golden is the golden file of each shape; events have none.
var golden = map[string]string{
	"diagnostics":   "diagnostics.json",
	"error":         "error.json",
	"outcome":       "outcome.json",
	"plan":          "plan.json",
	"session":       "session.json",
	"session-log":   "session_log.json",
	"sessions":      "sessions.json",
	"usage":         "usage.json",
	"suite":         "", // testdata: written from formats.md
	"workflow-info": "workflow.json",
	"workflows":     "workflows.json",
}

// authored are the schemas of what people write; internal/schema holds them
// against the loaders.
var authored = []string{"workflow", "case", "config"}

// schema compiles a schema of this folder.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// document reads a golden file, numbers exact; "" is a file of testdata.
func document(t *testing.T, schema, name string) map[string]any {
	t.Helper()
	path := filepath.Join("..", "..", "internal", "render", "testdata", name)
	if name == "" {
		path = filepath.Join("testdata", schema+".json")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

func TestEverySchemaHasAShape(t *testing.T) {
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas here (%v)", err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f, ".json")
		if _, printed := golden[name]; !printed && name != "event" && !slices.Contains(authored, name) {
			t.Errorf("%s describes no known shape", f)
		}
	}
}

func TestWhatIsPrintedConforms(t *testing.T) {
	for name, file := range golden {
		t.Run(name, func(t *testing.T) {
			doc := document(t, name, file)
			if err := schema(t, name).Validate(doc); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			raw, err := os.ReadFile(name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			schematest.Describes(t, raw, doc)
		})
	}
}

func TestAnotherVersionDoesNotConform(t *testing.T) {
	for name, file := range golden {
		t.Run(name, func(t *testing.T) {
			doc := document(t, name, file)
			doc["version"] = json.Number("2")
			if schema(t, name).Validate(doc) == nil {
				t.Error("version 2 conforms to the schema of version 1")
			}
			delete(doc, "version")
			if schema(t, name).Validate(doc) == nil {
				t.Error("a document without a version conforms")
			}
		})
	}
}

// payloads are one of each event.
func payloads() []event.Payload {
	tokens, cost := int64(812), 0.0042
	return []event.Payload{
		event.StateEnter{State: "triage", Kind: "agent"},
		event.StateLeave{State: "triage", Next: "lookup"},
		event.Advance{From: "triage", To: "lookup", Reason: "It is about an order.", CallID: "c1"},
		event.WorkflowReset{State: "triage"},
		event.ToolCalled{State: "lookup", Tool: "read_file", CallID: "c2", Args: json.RawMessage(`{"file_path":"a"}`)},
		event.ToolResult{State: "lookup", Tool: "read_file", CallID: "c2", Status: "ok", DurationMs: 3, Output: "text"},
		event.ToolBlocked{State: "lookup", Tool: "write_file", CallID: "c3", Rule: "tool.not-allowed", Reason: "no"},
		event.ModelUsage{State: "lookup", Role: "agent", Model: "m", InputTokens: &tokens, OutputTokens: &tokens, CacheReadTokens: &tokens, CacheCreationTokens: &tokens, CostUSD: &cost},
		event.Warning{Scope: "session", Message: "the path did not resolve"},
		event.AgentTextDelta{State: "answer", Text: "It is", MessageID: "m7"},
		event.AgentText{State: "answer", Text: "It is on its way.", MessageID: "m7", Partial: true},
		event.Decided{State: "review", To: "issued", Comment: "Fine.", By: "dana"},
		event.Delivered{State: "clarify", Trigger: "manual", To: "clarify"},
		event.ParkMessage{State: "review", Direction: "inbound", Text: "Well?"},
		event.Parked{State: "review", Awaiting: "decision", Reason: "r", ResumeAt: "2026-03-14T09:26:53.589Z", CallID: "c4"},
		event.Raised{State: "lookup", Code: "no-records", Reason: "The records are gone.", CallID: "c5"},
		event.VariablesSet{Names: []string{"order_id"}, Locked: true, CallID: "c6"},
		event.TitleSet{Title: "Refund", State: "triage", CallID: "c7"},
		event.StateErrorRouted{State: "lookup", To: "escalate", Reason: "its 8 model calls are spent"},
		event.SkillsLoaded{Slugs: []string{"orders"}},
		event.PromptShaping{Cache: "5m", Withheld: []string{"send_mail"}},
		event.GraphTopology{States: []string{"triage"}, Edges: [][2]string{{"triage", "lookup"}}},
	}
}

// The types of events are those that have a method EventType.
func TestEveryTypeOfEventIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, p := range payloads() {
		tested[p.EventType()] = true
	}
	files, err := filepath.Glob("../../internal/event/*.go")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^func \(\w*\s*\*?\w+\) EventType\(\) string\s*\{\s*return "([^"]+)"`)
	found := 0
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(src), -1) {
			if found++; !tested[m[1]] {
				t.Errorf("there is no event of the type %s in payloads()", m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d types were found: the test looks for the wrong words", found)
	}
}

func TestEveryEventConforms(t *testing.T) {
	s := schema(t, "event")
	raw, err := os.ReadFile("event.json")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range payloads() {
		t.Run(p.EventType(), func(t *testing.T) {
			line, err := json.Marshal(event.Event{Header: event.Header{
				Type: p.EventType(), Level: event.LevelOf(p), TS: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC), Seq: uint64(i + 1), SessionID: "s1",
			}, Payload: p})
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(line)))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			schematest.Describes(t, raw, doc)
			doc.(map[string]any)["type"] = "no-such-event"
			if s.Validate(doc) == nil {
				t.Error("an event of an unknown type conforms")
			}
		})
	}
}
