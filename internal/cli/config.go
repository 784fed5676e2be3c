package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// configFile is the workspace's configuration, in its root.
const configFile = "archmax.yaml"

// Config is archmax.yaml, read strictly (spec: cli.md, Configuration). Every
// key is read and checked, also those that this version does not execute. A
// zero field is absent.
type Config struct {
	Model          ModelConfig
	Pricing        model.Prices
	PromptCache    *spec.PromptCache
	Images         *ImagesConfig // nil: off
	Models         map[model.Role]ModelConfig
	SystemPrompt   string // the file's text
	RecursionLimit int
	EssentialTools []spec.Name
	Skills         []string // directories, relative to the root
	Mounts         []workspace.MountConfig
	NoMounts       []string // rows of the default table that a null value removes
	Tools          []*ToolConfig
	Servers        []*ServerConfig
	Executors      []*ExecutorConfig
	Policy         []*PolicyConfig
	SubWorkflows   SubWorkflowsConfig

	leaked []string // API keys that stand where they must not: to be hidden
}

// ModelConfig is `model`, and a role's entry of `models`.
type ModelConfig struct {
	BaseURL         string
	Name            string
	Temperature     *float64
	MaxTokens       int
	Streaming       *bool
	Timeout         time.Duration // of one call
	MaxRetries      *int
	ContextWindow   int    // tokens
	ToolCallContent string // omit, empty, keep
	Notes           string // tool, user
}

// ImagesConfig is `images` when it is on.
type ImagesConfig struct {
	MaxBytes int64 // of one image
	Keep     int   // newest images that ride on a request
}

// SubWorkflowsConfig bounds delegation; 0 is the default.
type SubWorkflowsConfig struct{ MaxDepth, MaxConcurrent int }

// readConfig reads archmax.yaml and the files it names from the workspace root.
// Without the file the Config is empty. All problems come in one pass. A key that
// stands in the file becomes a secret.
func readConfig(root fs.FS, hidden *secrets) (*Config, diag.List) {
	src, err := fs.ReadFile(root, configFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Config{}, nil
	case err != nil:
		return nil, diag.List{{Severity: diag.Error, Code: string(diag.Unreadable), File: configFile, Message: "the file cannot be read: " + cause(err)}}
	}
	node, problems := spec.ReadYAML(configFile, src)
	if node == nil {
		return nil, problems
	}
	d := spec.NewDecoder()
	c := &Config{}
	if node.Kind != spec.NullNode { // an empty file configures nothing
		(&configReader{d: d, root: root, c: c}).read(node)
	}
	for _, key := range c.leaked {
		hidden.add(key)
	}
	problems = append(problems, d.Diagnostics(configFile)...)
	problems.Sort()
	return c, problems
}

// configReader decodes archmax.yaml into c.
type configReader struct {
	d    *spec.Decoder
	root fs.FS
	c    *Config
}

func (r *configReader) read(n *spec.Node) {
	m, ok := r.d.Mapping(n, "", "model", "pricing", "prompt_cache", "images", "models", "system_prompt", "recursion_limit",
		"essential_tools", "skills", "mounts", "tools", "mcp_servers", "hook_executors", "policy", "sub_workflows")
	if !ok {
		return
	}
	c := r.c
	c.Model = r.model(m.Get("model"), "model", "context_window", "notes")
	r.pricing(m.Get("pricing"))
	r.promptCache(m.Get("prompt_cache"))
	r.images(m.Get("images"))
	if roles, ok := r.d.Mapping(m.Get("models"), "models", string(model.RoleGrader), string(model.RoleJudge)); ok {
		c.Models = map[model.Role]ModelConfig{}
		for _, role := range []model.Role{model.RoleGrader, model.RoleJudge} {
			if roles.Has(string(role)) {
				c.Models[role] = r.model(roles.Get(string(role)), roles.At(string(role)))
			}
		}
	}
	if file, ok := m.Text("system_prompt"); ok && r.localPath(m.Get("system_prompt"), "system_prompt", file) {
		text, err := fs.ReadFile(r.root, path.Clean(file))
		if err != nil {
			r.d.Errorf(diag.BadPath, m.Get("system_prompt").Range, "system_prompt", "the path is relative to the workspace root", "the file %s cannot be read: %s", file, cause(err))
		}
		c.SystemPrompt = string(text)
	}
	c.RecursionLimit, _ = m.Int("recursion_limit", 1)
	c.EssentialTools = r.names(m.Get("essential_tools"), "essential_tools")
	for _, dir := range r.names(m.Get("skills"), "skills") {
		c.Skills = append(c.Skills, dir.Value)
	}
	r.mounts(m.Get("mounts"))
	r.tools(m.Get("tools"))
	r.servers(m.Get("mcp_servers"))
	r.executors(m.Get("hook_executors"))
	r.policy(m)
	if sub, ok := r.d.Mapping(m.Get("sub_workflows"), "sub_workflows", "max_depth", "max_concurrent"); ok {
		c.SubWorkflows.MaxDepth, _ = sub.Int("max_depth", 1)
		c.SubWorkflows.MaxConcurrent, _ = sub.Int("max_concurrent", 1)
	}
	r.crossCheck()
}

// model reads an endpoint's settings; more are keys beside those that every
// endpoint has.
func (r *configReader) model(n *spec.Node, field string, more ...string) (c ModelConfig) {
	if key := n.Get("api_key"); key != nil {
		r.c.leaked = append(r.c.leaked, key.Text)
		r.d.Errorf(diag.UnknownKey, key.Range, spec.Join(field, "api_key"),
			"set ARCHMAX_API_KEY in the environment or in .env", "an API key does not belong into this file")
		rest := *n // without the key, so that it is reported once and the others too
		rest.Pairs = slices.DeleteFunc(slices.Clone(n.Pairs), func(p spec.Pair) bool { return p.Key == "api_key" })
		n = &rest
	}
	keys := append([]string{"base_url", "name", "temperature", "max_tokens", "streaming", "timeout", "max_retries", "tool_call_content"}, more...)
	m, ok := r.d.Mapping(n, field, keys...)
	if !ok {
		return c
	}
	if c.BaseURL, ok = m.Text("base_url"); ok {
		r.url(m.Get("base_url"), m.At("base_url"), c.BaseURL)
	}
	c.Name, _ = m.Text("name")
	if t, ok := r.number(m, "temperature"); ok {
		c.Temperature = &t
	}
	c.MaxTokens, _ = m.Int("max_tokens", 1)
	if s, ok := m.Bool("streaming"); ok {
		c.Streaming = &s
	}
	c.Timeout = r.duration(m, "timeout")
	if n, ok := m.Int("max_retries", 0); ok {
		c.MaxRetries = &n
	}
	c.ContextWindow, _ = m.Int("context_window", 1)
	c.ToolCallContent, _ = m.OneOf("tool_call_content", model.ContentOmit, model.ContentEmpty, model.ContentKeep)
	c.Notes, _ = m.OneOf("notes", "tool", "user")
	return c
}

func (r *configReader) pricing(n *spec.Node) {
	m, ok := r.d.Open(n, "pricing")
	if !ok {
		return
	}
	r.c.Pricing = model.Prices{}
	for _, p := range n.Pairs {
		price, ok := r.d.Mapping(p.Value, m.At(p.Key), "input", "output", "cache_read", "cache_write")
		if !ok || !price.Require("input", p.Range, "USD per million tokens") || !price.Require("output", p.Range, "USD per million tokens") {
			continue
		}
		var one model.Price
		one.Input, _ = r.number(price, "input")
		one.Output, _ = r.number(price, "output")
		if v, ok := r.number(price, "cache_read"); ok {
			one.CacheRead = &v
		}
		if v, ok := r.number(price, "cache_write"); ok {
			one.CacheWrite = &v
		}
		r.c.Pricing[p.Key] = one
	}
}

func (r *configReader) promptCache(n *spec.Node) {
	m, ok := r.d.Mapping(n, "prompt_cache", "enabled", "ttl")
	if !ok {
		return
	}
	cache := &spec.PromptCache{Enabled: true}
	if on, ok := m.Bool("enabled"); ok {
		cache.Enabled = on
	}
	cache.TTL, _ = m.OneOf("ttl", cacheTTLs...)
	r.c.PromptCache = cache
}

// cacheTTLs are the life times that providers offer.
var cacheTTLs = []string{"5m", "1h"}

// The defaults of `images`.
const (
	defaultImageBytes = 10_000_000
	defaultImageKeep  = 20
)

func (r *configReader) images(n *spec.Node) {
	if n == nil {
		return
	}
	on := &ImagesConfig{MaxBytes: defaultImageBytes, Keep: defaultImageKeep}
	if n.Kind != spec.MappingNode {
		if yes, ok := r.d.Bool(n, "images"); ok && yes {
			r.c.Images = on
		}
		return
	}
	m, ok := r.d.Mapping(n, "images", "max_bytes", "keep")
	if !ok {
		return
	}
	if text, ok := r.d.Scalar(m.Get("max_bytes"), m.At("max_bytes"), "a size such as 10MB"); ok {
		size, err := parseSize(text)
		if err != nil {
			r.d.Errorf(diag.BadValue, m.Get("max_bytes").Range, m.At("max_bytes"), "write a size such as 500KB or 10MB", "%q is no size", text)
		}
		on.MaxBytes = size
	}
	if keep, ok := m.Int("keep", 1); ok {
		on.Keep = keep
	}
	r.c.Images = on
}

func (r *configReader) mounts(n *spec.Node) {
	m, ok := r.d.Open(n, "mounts")
	if !ok {
		return
	}
	for _, p := range n.Pairs {
		if p.Value.Kind == spec.NullNode {
			r.c.NoMounts = append(r.c.NoMounts, p.Key)
			continue
		}
		row, ok := r.d.Mapping(p.Value, m.At(p.Key), "path", "read_only", "governed", "searchable")
		if !ok || !row.Require("path", p.Range, "the directory or file that the mount serves") {
			continue
		}
		path, _ := row.Text("path")
		mount := workspace.NewMount(p.Key, path)
		mount.Range = p.Range
		if v, ok := row.Bool("read_only"); ok {
			mount.ReadOnly = v
		}
		if v, ok := row.Bool("governed"); ok {
			mount.Governed = v
		}
		if v, ok := row.Bool("searchable"); ok {
			mount.Searchable = v
		}
		r.c.Mounts = append(r.c.Mounts, mount)
	}
}

// crossCheck checks what one part of the file says of another.
func (r *configReader) crossCheck() {
	for i, name := range r.c.EssentialTools {
		if !r.c.declaresTool(name.Value) {
			r.d.Errorf(diag.BadTool, name.Range, spec.Join("essential_tools", strconv.Itoa(i)),
				"name a tool of `tools`, or <server>__<tool> of a server in `mcp_servers`", "no tool is named %q", name.Value)
		}
	}
}

// declaresTool reports whether name is, or may be, a tool: a built-in, a
// command tool, or one of a declared MCP server.
func (c *Config) declaresTool(name string) bool {
	for _, t := range append(governance.Builtins(), governance.Controls()...) {
		if t.Name == name {
			return true
		}
	}
	return c.hostTool(name) != ""
}

// float reads an exact number as a float64.
func float(n json.Number) (float64, error) { return strconv.ParseFloat(string(n), 64) }

// parseSize reads a size in bytes: a whole number with an optional unit B, KB,
// MB or GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).
func parseSize(text string) (int64, error) {
	units := map[string]int64{
		"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	unit, ok := units[text[digits:]]
	if err != nil || !ok || n < 1 || n > (1<<62)/unit {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return n * unit, nil
}
