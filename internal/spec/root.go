package spec

import (
	"github.com/archmax-ai/archmax/internal/diag"
)

var rootKeys = []string{
	"title", "instructions", "disabled", "runtime", "settings", "tests", "tools", "skills", "mounts",
	"extensions", "metadata", "states",
}

// Defaults of the root keys (language.md, "Root keys").
const (
	defaultEngine      = "archmax-harness"
	defaultVersion     = "1"
	defaultTimeoutMs   = 15000
	defaultMemory      = 64 << 20
	defaultPtcCalls    = 256
	defaultResultChars = 32000
)

func (l *loader) root(n *Node) {
	m, ok := l.Mapping(n, "", rootKeys...)
	if !ok {
		return
	}
	l.m.Range = n.Range
	if len(n.Pairs) > 0 {
		l.m.Range = n.Pairs[0].Range
	}
	l.m.Title, _ = m.String("title")
	l.m.Instructions, _ = m.Text("instructions")
	l.disabled(m)
	l.runtime(m.Get("runtime"))
	l.settings(m.Get("settings"))
	if l.m.Tests = m.Get("tests"); l.m.Tests != nil {
		l.tests(l.m.Tests)
	}
	if n := m.Get("tools"); n != nil {
		l.m.Tools, l.m.HasTools = l.rootTools(n), true
	}
	if n := m.Get("skills"); n != nil {
		l.m.Skills, l.m.HasSkills = l.rootSkills(n), true
	}
	if n := m.Get("mounts"); n != nil {
		l.m.Mounts, l.m.HasMounts = l.rootMounts(n), true
	}
	if n := m.Get("extensions"); n != nil {
		l.m.HookKinds = l.extensions(n) // before the states, whose hooks need it
	}
	l.metadata(m)
	if m.Require("states", l.m.Range, "a workflow is a mapping of states") {
		l.statesRange = m.KeyRange("states")
		l.states(m.Get("states"))
	}
}

// disabled is read fail-closed: anything but absent, null or false disables.
func (l *loader) disabled(m Map) {
	n := m.Get("disabled")
	if n == nil || n.Kind == NullNode {
		return
	}
	value, ok := m.Bool("disabled")
	l.m.Disabled = value || !ok
	l.disabledAt = n.Range
}

// metadata may hold anything, under text keys.
func (l *loader) metadata(m Map) {
	if n := m.Get("metadata"); n != nil && n.Kind != NullNode {
		l.Open(n, m.At("metadata"))
	}
}

func (l *loader) runtime(n *Node) {
	l.m.Engine, l.m.Version = defaultEngine, defaultVersion
	if n == nil {
		return
	}
	m, ok := l.Mapping(n, "runtime", "engine", "version")
	if !ok {
		return
	}
	if engine, ok := m.Text("engine"); ok {
		l.m.Engine = engine
		if engine != defaultEngine {
			l.Errorf(diag.UnsupportedRuntime, m.Get("engine").Range, m.At("engine"), "use `"+defaultEngine+"`, or leave `runtime` out",
				"the engine `%s` is not supported", brief(engine))
		}
	}
	v := m.Get("version")
	if v == nil {
		return
	}
	version, ok := "", true
	if v.Kind == NumberNode {
		version = v.Text
	} else {
		version, ok = m.Text("version")
	}
	if ok && version != "1" && version != "2" {
		l.Errorf(diag.UnsupportedRuntime, v.Range, m.At("version"), "use \"1\" or \"2\"", "the runtime version `%s` is not supported", brief(version))
	}
	l.m.Version = version
}

func (l *loader) settings(n *Node) {
	calls := defaultPtcCalls
	s := Settings{
		TimeoutMs: defaultTimeoutMs, MemoryLimitBytes: defaultMemory, MaxPtcCalls: &calls, MaxResultChars: defaultResultChars,
	}
	defer func() { l.m.Settings = s }()
	if n == nil {
		return
	}
	m, ok := l.Mapping(n, "settings", "model", "timeoutMs", "memoryLimitBytes", "maxPtcCalls", "maxResultChars", "prompt_cache", "context")
	if !ok {
		return
	}
	if s.Model, ok = m.Text("model"); ok {
		s.ModelRange = m.Get("model").Range
	}
	if v, ok := m.Int("timeoutMs", 1); ok {
		s.TimeoutMs = v
	}
	if v, ok := m.Int("memoryLimitBytes", 1); ok {
		s.MemoryLimitBytes = int64(v)
	}
	if c := m.Get("maxPtcCalls"); c != nil && c.Kind == NullNode {
		s.MaxPtcCalls = nil
	} else if v, ok := m.Int("maxPtcCalls", 0); ok {
		s.MaxPtcCalls = &v
	}
	if v, ok := m.Int("maxResultChars", 1); ok {
		s.MaxResultChars = v
	}
	if c := m.Get("prompt_cache"); c != nil {
		s.PromptCache = &PromptCache{Enabled: true}
		if m, ok := l.Mapping(c, m.At("prompt_cache"), "enabled", "ttl"); ok {
			if enabled, ok := m.Bool("enabled"); ok {
				s.PromptCache.Enabled = enabled
			}
			s.PromptCache.TTL, _ = m.OneOf("ttl", "5m", "1h")
		}
	}
	if c := m.Get("context"); c != nil {
		if m, ok := l.Mapping(c, m.At("context"), "maxTokens", "keepMessages"); ok {
			s.Context.MaxTokens, _ = m.Int("maxTokens", 1)
			s.Context.KeepMessages, _ = m.Int("keepMessages", 1)
		}
	}
}

// tests checks the shape of the `tests` block; the case engine reads it.
func (l *loader) tests(n *Node) {
	m, ok := l.Mapping(n, "tests", "maxConcurrency", "caseTimeoutMs", "hostTools", "judge")
	if !ok {
		return
	}
	m.Int("maxConcurrency", 1)
	m.Int("caseTimeoutMs", 1)
	m.OneOf("hostTools", "mock", "real")
	if !m.Has("judge") {
		return
	}
	judge, ok := l.Mapping(m.Get("judge"), m.At("judge"), "model", "modelOptions")
	if !ok {
		return
	}
	judge.Text("model")
	if !judge.Has("modelOptions") {
		return
	}
	options, ok := l.Mapping(judge.Get("modelOptions"), judge.At("modelOptions"), "temperature", "maxTokens")
	if !ok {
		return
	}
	options.Int("maxTokens", 1)
	t := options.Get("temperature")
	if v, ok := l.Number(t, options.At("temperature")); ok && v[0] == '-' {
		l.shapef(diag.BadValue, t.Range, options.At("temperature"), "", "%s must not be negative", name(options.At("temperature")))
	}
}
