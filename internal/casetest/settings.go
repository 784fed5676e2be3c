package casetest

import (
	"strconv"
	"time"

	"github.com/archmax-ai/archmax/internal/spec"
)

// DefaultCaseTimeout bounds a case whose workflow sets no tests.caseTimeoutMs.
const DefaultCaseTimeout = 120 * time.Second

// Settings is a workflow's `tests` block.
type Settings struct {
	MaxConcurrency int // 0: not set
	CaseTimeout    time.Duration
	RealTools      bool // hostTools: real
	Judge          Judge
}

// Judge says which model grades, and how it is asked. Zero values are not set.
type Judge struct {
	Model       string
	Temperature *float64
	MaxTokens   int
}

// SettingsOf reads the `tests` block of a machine, which its load has checked.
func SettingsOf(m *spec.Machine) Settings {
	s := Settings{CaseTimeout: DefaultCaseTimeout}
	if m.Tests == nil {
		return s
	}
	number := func(n *spec.Node) int {
		if n == nil {
			return 0
		}
		i, _ := strconv.Atoi(n.Text)
		return i
	}
	text := func(n *spec.Node) string {
		if n == nil {
			return ""
		}
		return n.Text
	}
	s.MaxConcurrency = number(m.Tests.Get("maxConcurrency"))
	if ms := number(m.Tests.Get("caseTimeoutMs")); ms > 0 {
		s.CaseTimeout = time.Duration(ms) * time.Millisecond
	}
	s.RealTools = text(m.Tests.Get("hostTools")) == "real"
	judge := m.Tests.Get("judge")
	s.Judge.Model = text(judge.Get("model"))
	options := judge.Get("modelOptions")
	s.Judge.MaxTokens = number(options.Get("maxTokens"))
	if t, err := strconv.ParseFloat(text(options.Get("temperature")), 64); err == nil {
		s.Judge.Temperature = &t
	}
	return s
}
