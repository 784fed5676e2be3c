package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Limits of a one-line summary, in columns.
const (
	maxValue   = 48
	maxSummary = 120
)

// bareValue is a string that a summary shows without quotes.
var bareValue = regexp.MustCompile(`^[\p{L}\p{N}_./:@%+*-]+$`)

// ArgSummary is a tool's arguments on one line: key=value in the order they
// were written, numbers as they are, long values cut.
func ArgSummary(args json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(args))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return cut(valueSummary(args), maxSummary)
	}
	var parts []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		parts = append(parts, OneLine(fmt.Sprint(key))+"="+valueSummary(value))
	}
	return cut(strings.Join(parts, " "), maxSummary)
}

func valueSummary(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		text = cut(OneLine(text), maxValue)
		if bareValue.MatchString(text) {
			return text
		}
		return `"` + text + `"`
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return cut(OneLine(string(raw)), maxValue)
	}
	return cut(OneLine(b.String()), maxValue)
}

// Duration is d for a person: 12ms, 1.2s, 2m05s, 1h02m.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%d.%ds", d/time.Second, d%time.Second/(100*time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}
