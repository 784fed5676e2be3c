package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/archmax-ai/archmax/internal/session"
)

// checked is a flag whose value is parsed, and so checked, while the command
// line is read: before anything is read or written.
type checked[T any] struct {
	to    *T
	parse func(string) (T, error)
	kind  string // shown in the help: --clock time
	text  string
}

// Set implements pflag.Value.
func (c *checked[T]) Set(text string) error {
	v, err := c.parse(text)
	if err != nil {
		return err
	}
	*c.to, c.text = v, text
	return nil
}

// String implements pflag.Value.
func (c *checked[T]) String() string { return c.text }

// Type implements pflag.Value.
func (c *checked[T]) Type() string { return c.kind }

// flagVar adds a checked flag.
func flagVar[T any](fs *pflag.FlagSet, to *T, name, kind, usage string, parse func(string) (T, error)) *pflag.Flag {
	return fs.VarPF(&checked[T]{to: to, parse: parse, kind: kind}, name, "", usage)
}

// parseID checks a session id as every door does.
func parseID(text string) (string, error) {
	if err := session.CheckID(text); err != nil {
		return "", err
	}
	return text, nil
}

// parseClock reads --clock: an ISO date (midnight UTC) or a date-time with an
// offset.
func parseClock(text string) (*time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return &t, nil
		}
	}
	return nil, fmt.Errorf("give a date (2026-11-30, midnight UTC) or a date-time with an offset (2026-11-30T09:00:00+01:00)")
}

// parseDuration reads a positive duration.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("give a positive duration such as 90s, 5m or 1h30m")
	}
	return d, nil
}

// parsePositive reads a whole number of at least 1.
func parsePositive(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("give a whole number of at least 1")
	}
	return n, nil
}

// parseText reads a value that must not be blank and is one line.
func parseText(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("the value is empty")
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "", fmt.Errorf("the value holds a control character")
	}
	return text, nil
}

// oneOf reads one of a few words.
func oneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		for _, w := range words {
			if w == text {
				return text, nil
			}
		}
		return "", fmt.Errorf("give one of %s", strings.Join(words, ", "))
	}
}

// decodeJSON reads exactly one JSON value into v, numbers exact.
func decodeJSON(text string, v any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return jsonProblem(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("more follows after the JSON value")
	}
	return nil
}
