package cli

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/schema"
	"github.com/archmax-ai/archmax/internal/schema/schematest"
)

// everyConfigKey is an archmax.yaml that uses every key of cli.md.
const everyConfigKey = `model:
  { base_url: "https://api.example.com/v1", name: m, temperature: 0.5, max_tokens: 1, streaming: true, timeout: 1m30s,
    max_retries: 0, context_window: 1000, tool_call_content: omit, notes: tool }
pricing: { default: { input: 1, output: 2.5, cache_read: 0, cache_write: 1 }, "gpt-5": { input: 1, output: 2 } }
prompt_cache: { enabled: true, ttl: 5m }
images: { max_bytes: 10MB, keep: 20 }
models: { grader: { name: g, base_url: "http://127.0.0.1:1/v1" }, judge: { name: j } }
system_prompt: prompts/house.md
recursion_limit: 400
essential_tools: [read_file]
skills: [skills/]
mounts:
  reference: { path: ./reference, read_only: true, governed: true, searchable: true }
  AGENTS:
tools:
  lookup_customer:
    description: Look a customer up.
    input_schema: { type: object }
    command: [./tools/lookup.sh, "-v"]
    env: [CRM_TOKEN]
    timeout: 30s
    idempotent: true
    paths: { template: read }
mcp_servers:
  github: { command: [npx], env: [GITHUB_TOKEN], timeout: 60s, connect_timeout: 20s, paths: { read: { file: read } } }
  docs: { url: "http://127.0.0.1:9000/mcp", headers: { Authorization: "env:DOCS_TOKEN" } }
hook_executors: { webhook: { command: [./hooks/webhook], env: [A], timeout: 10s } }
policy: [{ name: eu-only, when: 'tool == "crm__lookup"', deny: Only EU. }]
sub_workflows: { max_depth: 3, max_concurrent: 4 }
`

func TestConfigSchemaAndReaderAgreeOnEveryKey(t *testing.T) {
	doc, ok := schema.Document("config")
	if !ok {
		t.Fatal("there is no config schema")
	}
	pair := schematest.Pair{
		Schema: schematest.Compile(t, doc),
		Load: func(src []byte) diag.List {
			_, list := readConfig(fstest.MapFS{
				configFile:         {Data: src},
				"prompts/house.md": {Data: []byte("Be kind.")},
			}, &secrets{})
			return list
		},
		Beyond: func(d diag.Diagnostic) bool {
			return strings.HasPrefix(d.Field, "essential_tools.") || // names a tool that is not there
				strings.HasPrefix(d.Field, "tools.lookup_customer.paths.") // names an argument that is not there
		},
	}
	accepted, rejected := pair.Mutants(t, doc, everyConfigKey)
	for _, file := range []string{"images: true\n", "{}\n", ""} {
		if pair.Check(t, file) != schematest.Accepted {
			t.Errorf("%q is not accepted", file)
		}
	}
	if accepted < 100 || rejected < 800 {
		t.Errorf("only %d accepted and %d rejected mutants: the corpus is thin", accepted, rejected)
	}
}
