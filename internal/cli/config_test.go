package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/spec"
)

// wholeConfig has every key of the example in the specification (cli.md).
const wholeConfig = `
model: { base_url: "https://api.example.com/v1", name: gpt-5, temperature: 0, max_tokens: 900, streaming: false,
         timeout: 90s, max_retries: 0, context_window: 128000, tool_call_content: omit, notes: tool }
pricing: { default: { input: 1.25, output: 10, cache_read: 0.125, cache_write: 1.5 }, "gpt-5": { input: 2, output: 8 } }
prompt_cache: { enabled: true, ttl: 5m }
images: { max_bytes: 10MB, keep: 20 }
models: { grader: { base_url: "http://127.0.0.1:9/v1", name: small }, judge: { name: big } }
system_prompt: prompts/house.md
recursion_limit: 400
essential_tools: [lookup_customer]
skills: [skills/]
mounts:
  reference: { path: ./reference, read_only: true, governed: true, searchable: true }
  .platform:
tools:
  lookup_customer:
    description: Look a customer up by e-mail.
    input_schema: { type: object, properties: { email: { type: string }, template: { type: string } }, required: [email] }
    command: [./tools/lookup.sh]
    env: [CRM_TOKEN]
    timeout: 30s
    idempotent: true
    paths: { template: read }
mcp_servers:
  github: { command: [npx, -y, "@modelcontextprotocol/server-github"], env: [GITHUB_TOKEN] }
  docs:   { url: "http://127.0.0.1:9000/mcp", headers: { Authorization: "env:DOCS_TOKEN", X-Team: ops }, timeout: 5s,
            connect_timeout: 2s, paths: { read: { file: read } } }
hook_executors: { webhook: { command: [./hooks/webhook], timeout: 10s } }
policy: [ { name: eu-only, when: 'tool == "crm__lookup" && args.region != "eu"', deny: "Only EU." } ]
sub_workflows: { max_depth: 3, max_concurrent: 4 }
`

func readTestConfig(t *testing.T, text string) (*Config, []string) {
	t.Helper()
	root := fstest.MapFS{
		configFile:         {Data: []byte(text)},
		"prompts/house.md": {Data: []byte("House rules.\n")},
	}
	c, problems := readConfig(root, &secrets{})
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Error())
	}
	return c, lines
}

func TestEveryKeyOfTheConfigurationIsRead(t *testing.T) {
	c, problems := readTestConfig(t, wholeConfig)
	if len(problems) > 0 {
		t.Fatal(strings.Join(problems, "\n"))
	}
	zero, off, none := 0.0, false, 0
	wantModel := ModelConfig{
		BaseURL: "https://api.example.com/v1", Name: "gpt-5", Temperature: &zero, MaxTokens: 900, Streaming: &off,
		Timeout: 90 * time.Second, MaxRetries: &none, ContextWindow: 128000, ToolCallContent: "omit", Notes: "tool",
	}
	if diff := cmp.Diff(wantModel, c.Model); diff != "" {
		t.Error(diff)
	}
	read, write := 0.125, 1.5
	wantPrices := model.Prices{"default": {Input: 1.25, Output: 10, CacheRead: &read, CacheWrite: &write}, "gpt-5": {Input: 2, Output: 8}}
	if diff := cmp.Diff(wantPrices, c.Pricing); diff != "" {
		t.Error(diff)
	}
	wantRoles := map[model.Role]ModelConfig{"grader": {BaseURL: "http://127.0.0.1:9/v1", Name: "small"}, "judge": {Name: "big"}}
	if diff := cmp.Diff(wantRoles, c.Models); diff != "" {
		t.Error(diff)
	}
	tool, docs := c.Tools[0], c.Servers[1]
	for what, same := range map[string]bool{
		"prompt_cache":    cmp.Equal(c.PromptCache, &spec.PromptCache{Enabled: true, TTL: "5m"}),
		"images":          *c.Images == ImagesConfig{MaxBytes: 10_000_000, Keep: 20},
		"system_prompt":   c.SystemPrompt == "House rules.\n",
		"recursion_limit": c.RecursionLimit == 400,
		"essential_tools": c.EssentialTools[0].Value == "lookup_customer",
		"skills":          cmp.Equal(c.Skills, []string{"skills/"}),
		"mounts":          c.Mounts[0].Name == "reference" && c.Mounts[0].Path == "./reference" && c.Mounts[0].ReadOnly && c.Mounts[0].Governed && c.Mounts[0].Searchable,
		"a null mount":    cmp.Equal(c.NoMounts, []string{".platform"}),
		"tools":           tool.Name == "lookup_customer" && cmp.Equal(tool.Command, []string{"./tools/lookup.sh"}) && tool.Timeout == 30*time.Second && tool.Idempotent,
		"tools env":       cmp.Equal(tool.Env, []string{"CRM_TOKEN"}),
		"tools paths":     cmp.Equal(tool.Paths, []governance.PathArg{{Name: "template", Use: governance.Read}}),
		"mcp command":     c.Servers[0].Name == "github" && len(c.Servers[0].Command) == 3,
		"mcp url":         docs.URL == "http://127.0.0.1:9000/mcp" && docs.Timeout == 5*time.Second && docs.ConnectTimeout == 2*time.Second,
		"mcp headers":     cmp.Equal(docs.Headers, []HeaderConfig{{Name: "Authorization", FromEnv: "DOCS_TOKEN"}, {Name: "X-Team", Value: "ops"}}),
		"mcp paths":       cmp.Equal(docs.Paths, map[string][]governance.PathArg{"read": {{Name: "file", Use: governance.Read}}}),
		"hook_executors":  c.Executors[0].Kind == "webhook" && c.Executors[0].Timeout == 10*time.Second,
		"policy":          c.Policy[0].Name == "eu-only" && c.Policy[0].Deny == "Only EU.",
		"sub_workflows":   c.SubWorkflows == SubWorkflowsConfig{MaxDepth: 3, MaxConcurrent: 4},
		"secret names":    cmp.Equal(c.secretEnv(), []string{"CRM_TOKEN", "GITHUB_TOKEN", "DOCS_TOKEN"}),
	} {
		if !same {
			t.Errorf("%s was not read", what)
		}
	}
}

func TestMistakesOfTheConfigurationAreFoundWithTheirPlace(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"an unknown key":               {"modle: {}", "archmax.yaml:1:1: error[unknown-key]: unknown key `modle`"},
		"a boolean in quotes":          {"model: { streaming: \"no\" }", "archmax.yaml:1:21: error[wrong-type]"},
		"a text that is a number":      {"model: { name: 5 }", "archmax.yaml:1:16: error[quote-string]"},
		"a URL that is none":           {"model: { base_url: localhost }", "archmax.yaml:1:20: error[bad-value]: no http or https URL"},
		"a temperature below zero":     {"model: { temperature: -1 }", "archmax.yaml:1:23: error[bad-value]"},
		"a duration that is none":      {"model: { timeout: soon }", "archmax.yaml:1:19: error[bad-value]: \"soon\" is no positive duration"},
		"a mode that is none":          {"model: { tool_call_content: drop }", "archmax.yaml:1:29: error[bad-value]"},
		"notes of a role":              {"models: { judge: { notes: user } }", "archmax.yaml:1:20: error[unknown-key]"},
		"a price without output":       {"pricing: { default: { input: 1 } }", "archmax.yaml:1:12: error[missing-key]: `output` is missing"},
		"a ttl that no provider has":   {"prompt_cache: { ttl: 2h }", "archmax.yaml:1:22: error[bad-value]"},
		"a size that is none":          {"images: { max_bytes: big }", "archmax.yaml:1:22: error[bad-value]: \"big\" is no size"},
		"a prompt file that is gone":   {"system_prompt: none.md", "archmax.yaml:1:16: error[bad-path]: the file none.md cannot be read"},
		"a prompt outside":             {"system_prompt: ../house.md", "archmax.yaml:1:16: error[bad-path]: the path ../house.md leaves the workspace"},
		"no steps at all":              {"recursion_limit: 0", "archmax.yaml:1:18: error[bad-value]"},
		"an essential tool of nobody":  {"essential_tools: [lookup]", "archmax.yaml:1:19: error[bad-tool]: no tool is named \"lookup\""},
		"a mount without a path":       {"mounts: { ref: { governed: true } }", "archmax.yaml:1:11: error[missing-key]"},
		"a tool of archmax's":          {"tools: { archmax_x: { description: d, command: [x] } }", "archmax.yaml:1:10: error[bad-tool]"},
		"a tool like a built-in":       {"tools: { read_file: { description: d, command: [x] } }", "archmax.yaml:1:10: error[bad-tool]"},
		"a tool without a command":     {"tools: { x: { description: d } }", "archmax.yaml:1:10: error[missing-key]: `command` is missing"},
		"an empty command":             {"tools: { x: { description: d, command: [] } }", "archmax.yaml:1:40: error[empty-value]"},
		"a command that is a text":     {"tools: { x: { description: d, command: ls } }", "archmax.yaml:1:40: error[wrong-type]"},
		"a schema of no object":        {"tools: { x: { description: d, command: [x], input_schema: { type: string } } }", "archmax.yaml:1:59: error[bad-value]: a tool's input schema must describe an object"},
		"a schema that is none":        {"tools: { x: { description: d, command: [x], input_schema: { type: object, required: email } } }", "archmax.yaml:1:59: error[bad-value]: no valid JSON Schema"},
		"a governed unknown argument":  {"tools: { x: { description: d, command: [x], input_schema: { type: object, properties: {} }, paths: { a: read } } }", "error[bad-value]: the input schema has no property \"a\""},
		"an environment with a value":  {"tools: { x: { description: d, command: [x], env: [A=b] } }", "archmax.yaml:1:51: error[bad-value]"},
		"a server that is both":        {"mcp_servers: { s: { command: [x], url: \"http://h\" } }", "archmax.yaml:1:16: error[bad-value]: a server needs either command or url"},
		"a server name with a __":      {"mcp_servers: { a__b: { command: [x] } }", "archmax.yaml:1:16: error[bad-tool]"},
		"a header of no name":          {"mcp_servers: { s: { url: \"http://h\", headers: { A: \"env:b c\" } } }", "error[bad-value]: \"b c\" is no name"},
		"a policy without a reason":    {"policy: [ { name: a, when: 'true' } ]", "archmax.yaml:1:11: error[missing-key]: `deny` is missing"},
		"two policies of one name":     {"policy: [ { name: a, when: x, deny: d }, { name: a, when: x, deny: d } ]", "archmax.yaml:1:50: error[bad-value]: two policy rules are named \"a\""},
		"a depth of nothing":           {"sub_workflows: { max_depth: 0 }", "archmax.yaml:1:29: error[bad-value]"},
		"a list instead of a mapping":  {"- model", "archmax.yaml:1:1: error[wrong-type]"},
		"a key that stands in the way": {"model: { api_key: sk-12345678 }", "archmax.yaml:1:19: error[unknown-key]: an API key does not belong into this file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := readTestConfig(t, test.text)
			if len(problems) != 1 || !strings.Contains(problems[0], test.want) {
				t.Errorf("got %q\nwant one with %q", problems, test.want)
			}
		})
	}
}

func TestAnEmptyConfigurationConfiguresNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "images: false\n"} {
		c, problems := readTestConfig(t, text)
		if len(problems) > 0 || c.Images != nil || c.RecursionLimit != 0 {
			t.Errorf("%q: %+v, %q", text, c, problems)
		}
	}
}

func TestSizesAreReadInBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"10": 10, "10B": 10, "2KB": 2000, "10MB": 10_000_000, "1GB": 1_000_000_000, "1KiB": 1024, "3MiB": 3 << 20,
		"": 0, "MB": 0, "0": 0, "-1MB": 0, "1.5MB": 0, "1TB": 0, "9999999999999999999": 0, "9999999999GB": 0,
	} {
		if got, err := parseSize(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
}

// settingsIn resolves the settings of a workspace with these files.
func settingsIn(t *testing.T, env map[string]string, files map[string]string) (*Workspace, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "ws/workflows/a/workflow.yaml", "states: {}")
	write(t, dir, "ws/sub/here", "")
	for name, text := range files {
		write(t, dir, name, text)
	}
	d := newTestDeps(filepath.Join(dir, "ws", "sub"), env, "")
	return d.open(newRunCmd(d.deps, nil).Flags())
}

func TestEachSourceOutranksTheNext(t *testing.T) {
	env := map[string]string{"ARCHMAX_MAX_TOKENS": "1"}
	files := map[string]string{
		"ws/.env":         "ARCHMAX_MAX_TOKENS=2\nARCHMAX_MODEL=root\nARCHMAX_STREAMING=0\n",
		"ws/sub/.env":     "ARCHMAX_MAX_TOKENS=3\nARCHMAX_MODEL=here\nARCHMAX_TEMPERATURE=0.5\n",
		"ws/archmax.yaml": "model: { max_tokens: 4, name: file, temperature: 0.7, streaming: true, base_url: \"https://h/v1\" }\n",
	}
	ws, err := settingsIn(t, env, files)
	if err != nil {
		t.Fatal(err)
	}
	s := ws.Settings.Model
	if s.MaxTokens != 1 || s.Name != "root" || *s.Temperature != 0.5 || *s.Streaming || s.BaseURL != "https://h/v1" {
		t.Errorf("got %+v (temperature %v, streaming %v)", s, *s.Temperature, *s.Streaming)
	}
	if want := filepath.Join(ws.Root, "sessions"); ws.Sessions != want {
		t.Errorf("sessions in %s, want %s", ws.Sessions, want)
	}
	if v, ok := os.LookupEnv("ARCHMAX_MODEL"); ok {
		t.Errorf("the process environment was changed: ARCHMAX_MODEL=%s", v)
	}
}

func TestStreamingIsOnUnlessSaidOtherwise(t *testing.T) {
	for text, want := range map[string]bool{"": true, "1": true, "true": true, "0": false, "off": false} {
		ws, err := settingsIn(t, map[string]string{"ARCHMAX_STREAMING": text}, nil)
		if err != nil || *ws.Settings.Model.Streaming != want {
			t.Errorf("ARCHMAX_STREAMING=%s: %v, %v", text, ws, err)
		}
	}
}

func TestPricesOfTheEnvironmentAreEveryModels(t *testing.T) {
	env := map[string]string{"ARCHMAX_PRICE_INPUT": "2", "ARCHMAX_PRICE_OUTPUT": "8", "ARCHMAX_PRICE_CACHE_READ": "0.2"}
	ws, err := settingsIn(t, env, map[string]string{"ws/archmax.yaml": "pricing: { gpt: { input: 1, output: 1 } }"})
	if err != nil {
		t.Fatal(err)
	}
	// One million tokens each of input (half of them read from the cache) and output: 1 + 0.1 + 8.
	usd, ok := ws.Settings.Prices.Cost("gpt", "gpt", model.Usage{Known: true, InputTokens: 1e6, CacheReadTokens: 5e5, OutputTokens: 1e6})
	if !ok || usd < 9.0999 || usd > 9.1001 {
		t.Errorf("cost %v, %t; want 9.1", usd, ok)
	}
}

func TestBadValuesOfTheEnvironmentSayWhereTheyStand(t *testing.T) {
	for name, test := range map[string]struct {
		env   map[string]string
		files map[string]string
		want  string
	}{
		"a number in the environment": {map[string]string{"ARCHMAX_MAX_TOKENS": "many"}, nil, `ARCHMAX_MAX_TOKENS (in the environment) is "many"; set it to a whole number of at least 1`},
		"a switch in .env":            {nil, map[string]string{"ws/sub/.env": "ARCHMAX_STREAMING=perhaps"}, `ARCHMAX_STREAMING (in .env) is "perhaps"; set it to 1 or 0`},
		"a life time":                 {map[string]string{"ARCHMAX_PROMPT_CACHE": "1", "ARCHMAX_PROMPT_CACHE_TTL": "2h"}, nil, "set it to one of 5m, 1h"},
		"half a price":                {map[string]string{"ARCHMAX_PRICE_INPUT": "1"}, nil, "a price needs both ARCHMAX_PRICE_INPUT and ARCHMAX_PRICE_OUTPUT"},
		"a URL":                       {map[string]string{"ARCHMAX_API_BASE_URL": "api.example.com"}, nil, "ARCHMAX_API_BASE_URL (in the environment) is no http or https URL"},
		"not a number":                {map[string]string{"ARCHMAX_TEMPERATURE": "NaN"}, nil, "set it to a number of at least 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := settingsIn(t, test.env, test.files)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
