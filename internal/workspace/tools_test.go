package workspace

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/archmax-ai/archmax/internal/governance"
)

func TestTheToolsAreThoseTheKernelKnows(t *testing.T) {
	var got, want []string
	readOnly := map[string]bool{}
	for _, tool := range Tools() {
		got = append(got, tool.Name)
		readOnly[tool.Name] = tool.ReadOnly
	}
	for _, info := range governance.Builtins() {
		if strings.HasPrefix(info.Name, "archmax_") || info.Name == TodosDefinition().Name {
			continue
		}
		want = append(want, info.Name)
		if info.ReadOnly != readOnly[info.Name] {
			t.Errorf("%s: the kernel says read-only %v", info.Name, info.ReadOnly)
		}
		tool := toolNamed(t, info.Name)
		for _, path := range info.Paths {
			if !strings.Contains(string(tool.Schema), `"`+path.Name+`":{"type":"string"`) {
				t.Errorf("%s has no text parameter %s", tool.Name, path.Name)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestASchemaIsJSONSchemaInTheOrderOfTheFormats(t *testing.T) {
	want := map[string]string{ // formats.md, "Built-in tools: arguments"; ! required
		"ls":          "path:string",
		"read_file":   "file_path:string! offset:integer limit:integer",
		"write_file":  "file_path:string! content:string! overwrite:boolean",
		"edit_file":   "file_path:string! old_string:string! new_string:string! replace_all:boolean",
		"glob":        "pattern:string! path:string",
		"grep":        "pattern:string! path:string glob:string output_mode:string max_count:integer",
		"copy_file":   "source:string! destination:string! overwrite:boolean",
		"move_file":   "source:string! destination:string! overwrite:boolean",
		"remove_file": "file_path:string!",
		"write_todos": "todos:array!",
	}
	definitions := []Definition{TodosDefinition()}
	for _, tool := range Tools() {
		definitions = append(definitions, tool.Definition)
	}
	for _, d := range definitions {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(d.Schema)))
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("x.json", doc); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("x.json"); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		var schema struct {
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(d.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		last := -1
		for _, p := range strings.Fields(want[d.Name]) {
			name, kind, _ := strings.Cut(strings.TrimSuffix(p, "!"), ":")
			if schema.Properties[name].Type != kind {
				t.Errorf("%s.%s is a %q, want %s", d.Name, name, schema.Properties[name].Type, kind)
			}
			required := false
			for _, r := range schema.Required {
				required = required || r == name
			}
			if required != strings.HasSuffix(p, "!") {
				t.Errorf("%s.%s required: %v", d.Name, name, required)
			}
			at := strings.Index(string(d.Schema), `"`+name+`":{`)
			if at < last {
				t.Errorf("%s.%s is out of order", d.Name, name)
			}
			last = at
		}
		if len(schema.Properties) != len(strings.Fields(want[d.Name])) {
			t.Errorf("%s has parameters %v", d.Name, schema.Properties)
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	s := newWorld(t, nil, nil, newMemory())
	s.put("scratchpad/a.txt", "one\ntwo\n")
	for _, test := range []struct {
		name, tool, args string
		words            []string
	}{
		{"an unknown parameter is named, with the known ones", "read_file", `{"path":"a"}`, []string{"read_file", "'path'", "file_path, offset, limit"}},
		{"several unknown ones are named in order", "ls", `{"b":1,"a":1}`, []string{"'a', 'b'", "path"}},
		{"a missing one is named", "write_file", `{"file_path":"scratchpad/x"}`, []string{"'content'", "missing"}},
		{"a required null is missing", "read_file", `{"file_path":null}`, []string{"'file_path'", "missing"}},
		{"no arguments miss the first", "copy_file", `{}`, []string{"'source'"}},
		{"a number is no text", "read_file", `{"file_path":5}`, []string{"'file_path'", "must be a string", "a number"}},
		{"a list is no text", "ls", `{"path":["a"]}`, []string{"'path'", "must be a string", "a list"}},
		{"an object is no text", "ls", `{"path":{}}`, []string{"'path'", "an object"}},
		{"a text is no integer", "read_file", `{"file_path":"scratchpad/a.txt","offset":"1"}`, []string{"'offset'", "an integer", "a string"}},
		{"a fraction is no integer", "read_file", `{"file_path":"scratchpad/a.txt","limit":1.5}`, []string{"'limit'", "an integer"}},
		{"a text is no boolean", "write_file", `{"file_path":"scratchpad/x","content":"","overwrite":"true"}`, []string{"'overwrite'", "true or false"}},
		{"a mode must be one of three", "grep", `{"pattern":"x","output_mode":"lines"}`, []string{"'output_mode'", "files_with_matches, content, count", "'lines'"}},
		{"an offset is not negative", "read_file", `{"file_path":"scratchpad/a.txt","offset":-1}`, []string{"'offset'"}},
		{"a limit is positive", "read_file", `{"file_path":"scratchpad/a.txt","limit":0}`, []string{"'limit'"}},
		{"a count is positive", "grep", `{"pattern":"x","max_count":0}`, []string{"'max_count'"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.t = t
			s.refuses(test.tool, test.args, test.words...)
		})
	}
	t.Run("an optional null is left out, and whole numbers come in any notation", func(t *testing.T) {
		s.t = t
		s.answers("read_file", `{"file_path":"scratchpad/a.txt","offset":null,"limit":2.0}`, "one\ntwo\n")
		result, err := toolNamed(t, "read_file").Run(context.Background(), s.w, Call{Args: map[string]any{"file_path": "scratchpad/a.txt", "offset": json.Number("1")}})
		if err != nil || result.Text != "two\n[lines 2-2 of 2]" {
			t.Errorf("%q, %v", result.Text, err)
		}
	})
}

func TestParseTodos(t *testing.T) {
	for _, test := range []struct {
		name, args string
		want       []Todo
		problem    string
	}{
		{
			"takes the list in order", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}`,
			[]Todo{{"a", "completed"}, {"b", "in_progress"}, {"c", "pending"}},
			"",
		},
		{"takes an empty list", `{"todos":[]}`, []Todo{}, ""},
		{"misses the list", `{}`, nil, "'todos'"},
		{"refuses another parameter", `{"todos":[],"list":1}`, nil, "'list'"},
		{"refuses a text", `{"todos":"a"}`, nil, "'todos' must be a list, not a string"},
		{"refuses a text in the list", `{"todos":["a"]}`, nil, "'todos[0]' must be an object"},
		{"names the item and its field", `{"todos":[{"content":"a","status":"pending"},{"content":"b"}]}`, nil, "'todos[1]': missing required parameter 'status'"},
		{"refuses an unknown status", `{"todos":[{"content":"a","status":"done"}]}`, nil, "'status' must be one of pending, in_progress, completed, not 'done'"},
		{"refuses blank content", `{"todos":[{"content":" ","status":"pending"}]}`, nil, "'content' is blank"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var args map[string]any
			if err := json.Unmarshal([]byte(test.args), &args); err != nil {
				t.Fatal(err)
			}
			got, err := ParseTodos(args)
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("got %v, want %q", err, test.problem)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}
