package cli

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// endpointSet says what is missing to call a model: an endpoint, a key for it
// (one on this machine needs none), and an id for every state of m.
func endpointSet(ws *Workspace, m *spec.Machine, override string) error {
	s := ws.Settings
	var missing []string
	if s.Model.BaseURL == "" {
		missing = append(missing, "ARCHMAX_API_BASE_URL")
	}
	if s.APIKey == "" && !loopback(s.Model.BaseURL) {
		missing = append(missing, "ARCHMAX_API_KEY")
	}
	if s.Model.Name == "" && override == "" && !namesModel(m) {
		missing = append(missing, "ARCHMAX_MODEL")
	}
	if len(missing) == 0 {
		return nil
	}
	them := "it"
	if len(missing) > 1 {
		them = "them"
	}
	return &failure{
		code:    "model-not-configured",
		message: fmt.Sprintf("no model to ask: %s not set", isAre(missing)),
		hint:    fmt.Sprintf("set %s in the environment or in .env, or run offline with `--cassette FILE`", them),
	}
}

// declaresModel reports whether the workflow names a model anywhere.
func declaresModel(m *spec.Machine) bool {
	return m.Settings.Model != "" || slices.ContainsFunc(m.States, func(s *spec.State) bool {
		return s.Model != "" || slices.ContainsFunc(slices.Concat(s.Before, s.After), func(h *spec.Hook) bool { return h.Rubric != nil && h.Rubric.Model != "" })
	})
}

func isAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// namesModel reports whether the workflow names a model for every state that
// calls one.
func namesModel(m *spec.Machine) bool {
	if m.Settings.Model != "" {
		return true
	}
	return !slices.ContainsFunc(m.States, func(s *spec.State) bool {
		return (s.Kind == spec.Agent || s.Kind == spec.Grader || s.Kind == spec.Human) && s.Model == ""
	})
}

// loopback reports whether an endpoint is on this machine.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// runnable refuses a workflow that needs what this version reads and checks but
// does not run yet. Fail closed: a policy rule that would not be applied, or a
// tool that would silently be missing, must not look as if it were there.
func runnable(c *Config, m *spec.Machine) error {
	notYet := func(what string) error {
		return &failure{
			code:    "not-supported-yet",
			message: fmt.Sprintf("workflow %q cannot run: %s, which this version of archmax checks but does not run yet", m.Slug, what),
			hint:    "`archmax validate` works; remove it from the workspace to run without it",
		}
	}
	if len(c.Policy) > 0 {
		return notYet(fmt.Sprintf("archmax.yaml declares the policy rule %q", c.Policy[0].Name))
	}
	for _, name := range c.EssentialTools {
		if kind := c.hostTool(name.Value); kind != "" {
			return notYet(fmt.Sprintf("archmax.yaml makes the %s %q essential", kind, name.Value))
		}
	}
	grants := slices.Clone(m.Tools.AllowAlways)
	for _, s := range m.States {
		grants = append(grants, s.Tools.Allow...)
		for _, h := range slices.Concat(s.Before, s.After) {
			if h.Kind != "" && slices.ContainsFunc(c.Executors, func(e *ExecutorConfig) bool { return e.Kind == h.Kind }) {
				return notYet(fmt.Sprintf("state %q needs the hook executor %q", s.Slug, h.Kind))
			}
		}
	}
	for _, e := range grants {
		if kind := c.hostTool(e.Tool); kind != "" {
			return notYet(fmt.Sprintf("it grants the %s %q", kind, e.Tool))
		}
	}
	return nil
}

// secretEnv are the names of environment variables that the configuration
// passes on to host tools: their values are nobody's to read.
func (c *Config) secretEnv() []string {
	var names []string
	for _, t := range c.Tools {
		names = append(names, t.Env...)
	}
	for _, s := range c.Servers {
		names = append(names, s.Env...)
		for _, h := range s.Headers {
			if h.FromEnv != "" {
				names = append(names, h.FromEnv)
			}
		}
	}
	for _, e := range c.Executors {
		names = append(names, e.Env...)
	}
	return names
}
