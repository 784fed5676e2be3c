package cli

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// ToolConfig is one command tool of `tools`.
type ToolConfig struct {
	Name        string
	Description string
	InputSchema map[string]any
	Command     []string // argv, no shell
	Env         []string // names passed through
	Timeout     time.Duration
	Idempotent  bool
	Paths       []governance.PathArg
	Range       diag.Range
}

// ServerConfig is one server of `mcp_servers`: Command (stdio) or URL
// (streamable HTTP).
type ServerConfig struct {
	Name           string
	Command        []string
	URL            string
	Env            []string
	Headers        []HeaderConfig
	Paths          map[string][]governance.PathArg // by tool
	Timeout        time.Duration                   // of one call; 0: 60 s
	ConnectTimeout time.Duration                   // 0: 20 s
	Range          diag.Range
}

// HeaderConfig is one header of an MCP server. The value is FromEnv's when that
// is set (`env:NAME`), else Value.
type HeaderConfig struct{ Name, Value, FromEnv string }

// ExecutorConfig is one program of `hook_executors`, for a custom hook kind.
type ExecutorConfig struct {
	Kind    string
	Command []string
	Env     []string
	Timeout time.Duration
	Range   diag.Range
}

// PolicyConfig is one rule of `policy`: When is a CEL expression, Deny the
// reason of the block.
type PolicyConfig struct {
	Name, When, Deny string
	Range            diag.Range
}

var (
	toolName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	serverName = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)
	policyName = regexp.MustCompile(`^[a-z0-9]+([-_][a-z0-9]+)*$`)
	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// reservedTool says why a host tool may not have the name, "" when it may.
func reservedTool(name string) string {
	if strings.HasPrefix(name, "archmax_") {
		return "names that begin with archmax_ belong to archmax itself"
	}
	if name == "task" || name == "eval" || slices.ContainsFunc(governance.Builtins(), func(t governance.ToolInfo) bool { return t.Name == name }) {
		return "a built-in tool has this name"
	}
	return ""
}

func (r *configReader) tools(n *spec.Node) {
	m, ok := r.d.Open(n, "tools")
	if !ok {
		return
	}
	for _, p := range n.Pairs {
		field := m.At(p.Key)
		if why := reservedTool(p.Key); why != "" {
			r.d.Errorf(diag.BadTool, p.Range, field, "choose another name", "a host tool cannot be named %q: %s", p.Key, why)
		} else if !toolName.MatchString(p.Key) {
			r.d.Errorf(diag.BadTool, p.Range, field, "use up to 64 letters, digits, _ and -", "%q is no tool name", p.Key)
		}
		row, ok := r.d.Mapping(p.Value, field, "description", "input_schema", "command", "env", "timeout", "idempotent", "paths")
		if !ok {
			continue
		}
		row.Require("description", p.Range, "what the tool does, for the model")
		row.Require("command", p.Range, "the program and its arguments, a list")
		t := &ToolConfig{Name: p.Key, Range: p.Range}
		t.Description, _ = row.Text("description")
		t.Command = r.command(row)
		t.Env = r.envNames(row)
		t.Timeout = r.duration(row, "timeout")
		t.Idempotent, _ = row.Bool("idempotent")
		if s := row.Get("input_schema"); s != nil {
			t.InputSchema = r.schema(s, row.At("input_schema"))
		}
		t.Paths = r.paths(row.Get("paths"), row.At("paths"))
		r.pathsAreDeclared(row, t)
		r.c.Tools = append(r.c.Tools, t)
	}
}

// schema reads a tool's input schema: a JSON Schema of an object.
func (r *configReader) schema(n *spec.Node, field string) map[string]any {
	v, ok := r.d.Any(n, field)
	if !ok {
		return nil
	}
	schema, ok := v.(map[string]any)
	if !ok || schema["type"] != "object" {
		r.d.Errorf(diag.BadValue, n.Range, field, "write { type: object, properties: { … } }", "a tool's input schema must describe an object")
		return nil
	}
	if err := compileSchema(schema); err != nil {
		r.d.Errorf(diag.BadValue, n.Range, field, "see json-schema.org for what a schema may say", "no valid JSON Schema: %s", oneLine(err.Error()))
	}
	return schema
}

// pathsAreDeclared refuses a governed argument that the schema does not know:
// misspelt, it would go ungoverned.
func (r *configReader) pathsAreDeclared(row spec.Map, t *ToolConfig) {
	properties, ok := t.InputSchema["properties"].(map[string]any)
	if !ok {
		return
	}
	for _, arg := range t.Paths {
		if _, known := properties[arg.Name]; !known {
			field := spec.Join(row.At("paths"), arg.Name)
			r.d.Errorf(diag.BadValue, row.Get("paths").Range, field, "name one of the schema's properties", "the input schema has no property %q", arg.Name)
		}
	}
}

func (r *configReader) servers(n *spec.Node) {
	m, ok := r.d.Open(n, "mcp_servers")
	if !ok {
		return
	}
	for _, p := range n.Pairs {
		field := m.At(p.Key)
		if strings.HasPrefix(p.Key, "archmax_") || !serverName.MatchString(p.Key) {
			r.d.Errorf(diag.BadTool, p.Range, field, "use letters, digits, - and single _, and do not begin with archmax_", "%q is no server name", p.Key)
		}
		row, ok := r.d.Mapping(p.Value, field, "command", "url", "env", "headers", "paths", "timeout", "connect_timeout")
		if !ok {
			continue
		}
		if row.Has("command") == row.Has("url") {
			r.d.Errorf(diag.BadValue, p.Range, field, "give command: [program, …] for stdio, or url: for streamable HTTP", "a server needs either command or url")
			continue
		}
		s := &ServerConfig{Name: p.Key, Range: p.Range}
		s.Command = r.command(row)
		if s.URL, ok = row.Text("url"); ok {
			r.url(row.Get("url"), row.At("url"), s.URL)
		}
		s.Env = r.envNames(row)
		s.Timeout, s.ConnectTimeout = r.duration(row, "timeout"), r.duration(row, "connect_timeout")
		if headers, ok := r.d.Open(row.Get("headers"), row.At("headers")); ok {
			if row.Has("command") {
				r.d.Errorf(diag.BadValue, row.KeyRange("headers"), row.At("headers"), "remove it, or give a url", "a server that is a command has no headers")
			}
			for _, h := range headers.Node.Pairs {
				s.Headers = append(s.Headers, r.header(headers, h.Key))
			}
		}
		if paths, ok := r.d.Open(row.Get("paths"), row.At("paths")); ok {
			s.Paths = map[string][]governance.PathArg{}
			for _, tool := range paths.Node.Pairs {
				s.Paths[tool.Key] = r.paths(tool.Value, paths.At(tool.Key))
			}
		}
		r.c.Servers = append(r.c.Servers, s)
	}
}

func (r *configReader) header(m spec.Map, name string) HeaderConfig {
	h := HeaderConfig{Name: name}
	text, _ := m.Text(name)
	from, isEnv := strings.CutPrefix(text, "env:")
	if !isEnv {
		h.Value = text
		return h
	}
	if !envName.MatchString(from) {
		r.d.Errorf(diag.BadValue, m.Get(name).Range, m.At(name), "write env:NAME", "%q is no name of an environment variable", from)
	}
	h.FromEnv = from
	return h
}

func (r *configReader) executors(n *spec.Node) {
	m, ok := r.d.Open(n, "hook_executors")
	if !ok {
		return
	}
	for _, p := range n.Pairs {
		row, ok := r.d.Mapping(p.Value, m.At(p.Key), "command", "env", "timeout")
		if !ok || !row.Require("command", p.Range, "the program and its arguments, a list") {
			continue
		}
		r.c.Executors = append(r.c.Executors, &ExecutorConfig{
			Kind: p.Key, Command: r.command(row), Env: r.envNames(row), Timeout: r.duration(row, "timeout"), Range: p.Range,
		})
	}
}

func (r *configReader) policy(m spec.Map) {
	items, ok := m.List("policy")
	if !ok {
		return
	}
	names := map[string]bool{}
	for i, item := range items {
		field := spec.Join("policy", strconv.Itoa(i))
		row, ok := r.d.Mapping(item, field, "name", "when", "deny")
		if !ok {
			continue
		}
		for _, key := range []string{"name", "when", "deny"} {
			row.Require(key, item.Range, "a rule has a name, a when and a deny")
		}
		p := &PolicyConfig{Range: item.Range}
		p.Name, _ = row.Text("name")
		p.When, _ = row.Text("when")
		p.Deny, _ = row.Text("deny")
		switch {
		case p.Name != "" && !policyName.MatchString(p.Name):
			r.d.Errorf(diag.BadValue, row.Get("name").Range, row.At("name"), "use lower-case letters, digits, - and _", "%q is no rule name", p.Name)
		case names[p.Name]:
			r.d.Errorf(diag.BadValue, row.Get("name").Range, row.At("name"), "rename one of them", "two policy rules are named %q", p.Name)
		}
		names[p.Name] = true
		r.c.Policy = append(r.c.Policy, p)
	}
}

// names reads a list of texts.
func (r *configReader) names(n *spec.Node, field string) []spec.Name {
	items, _ := r.d.List(n, field)
	var out []spec.Name
	for i, item := range items {
		if text, ok := r.d.Text(item, spec.Join(field, strconv.Itoa(i))); ok {
			out = append(out, spec.Name{Value: text, Range: item.Range})
		}
	}
	return out
}

// command reads an argv.
func (r *configReader) command(m spec.Map) []string {
	items, ok := m.List("command")
	if !ok {
		return nil
	}
	if len(items) == 0 {
		r.d.Errorf(diag.EmptyValue, m.Get("command").Range, m.At("command"), "write [program, argument, …]", "the command is empty")
	}
	var argv []string
	for i, item := range items {
		if arg, ok := r.d.String(item, spec.Join(m.At("command"), strconv.Itoa(i))); ok {
			argv = append(argv, arg)
		}
	}
	return argv
}

func (r *configReader) envNames(m spec.Map) []string {
	var out []string
	for i, name := range r.names(m.Get("env"), m.At("env")) {
		if !envName.MatchString(name.Value) {
			r.d.Errorf(diag.BadValue, name.Range, spec.Join(m.At("env"), strconv.Itoa(i)), "list names only; the values come from the environment or .env", "%q is no name of an environment variable", name.Value)
		}
		out = append(out, name.Value)
	}
	return out
}

// paths reads which arguments name a path, and their use.
func (r *configReader) paths(n *spec.Node, field string) []governance.PathArg {
	m, ok := r.d.Open(n, field)
	if !ok {
		return nil
	}
	var out []governance.PathArg
	for _, p := range n.Pairs {
		use, ok := m.OneOf(p.Key, string(governance.Read), string(governance.List), string(governance.Search),
			string(governance.Write), string(governance.Remove), string(governance.Execute))
		if ok {
			out = append(out, governance.PathArg{Name: p.Key, Use: governance.Use(use)})
		}
	}
	return out
}

// duration reads a positive duration, 0 when it is absent or was reported.
func (r *configReader) duration(m spec.Map, key string) time.Duration {
	text, ok := m.Text(key)
	if !ok {
		return 0
	}
	v, err := parseDuration(text)
	if err != nil {
		r.d.Errorf(diag.BadValue, m.Get(key).Range, m.At(key), "write a duration such as 30s or 5m", "%q is no positive duration", text)
	}
	return v
}

// number reads a number of at least 0.
func (r *configReader) number(m spec.Map, key string) (float64, bool) {
	n, ok := r.d.Number(m.Get(key), m.At(key))
	if !ok {
		return 0, false
	}
	v, err := float(n)
	if err != nil || v < 0 {
		r.d.Errorf(diag.BadValue, m.Get(key).Range, m.At(key), "", "`%s` must be a number of at least 0, not %s", m.At(key), n)
		return 0, false
	}
	return v, true
}

func (r *configReader) url(n *spec.Node, field, text string) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.d.Errorf(diag.BadValue, n.Range, field, "write something like https://api.example.com/v1", "no http or https URL")
	}
}

// localPath checks that a path stays inside the workspace root.
func (r *configReader) localPath(n *spec.Node, field, text string) bool {
	if strings.Contains(text, `\`) || !filepath.IsLocal(filepath.FromSlash(path.Clean(text))) {
		r.d.Errorf(diag.BadPath, n.Range, field, "use a path relative to the workspace root, with /", "the path %s leaves the workspace", text)
		return false
	}
	return true
}

// hostTool says what kind of host tool name is, by this configuration: "command
// tool", "MCP tool", or "" when it is none.
func (c *Config) hostTool(name string) string {
	if slices.ContainsFunc(c.Tools, func(t *ToolConfig) bool { return t.Name == name }) {
		return "command tool"
	}
	server, _, namespaced := strings.Cut(name, "__")
	if namespaced && slices.ContainsFunc(c.Servers, func(s *ServerConfig) bool { return s.Name == server }) {
		return "MCP tool"
	}
	return ""
}
