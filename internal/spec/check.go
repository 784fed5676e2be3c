package spec

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Issue is a value that does not conform to its signature entry.
type Issue struct {
	Kind    string `json:"kind"` // missing, invalid
	Name    string `json:"name"`
	Type    string `json:"type,omitempty"`  // declared; "" when untyped
	Found   string `json:"found,omitempty"` // JSON type of the value; "" when missing
	Rule    string `json:"rule,omitempty"`  // the broken rule; "" when the type is wrong
	Message string `json:"message"`
}

// The kinds of an Issue.
const (
	IssueMissing = "missing"
	IssueInvalid = "invalid"
)

// CheckEnv is what a check may look at.
type CheckEnv struct {
	Now time.Time // what `today` (in UTC) and `now` are
	// File describes the file at a workspace path: its size in bytes and its
	// media type ("" when unknown). ok is false when it cannot be read. A nil
	// File knows no file, so no `file` entry conforms.
	File func(path string) (size int64, mediaType string, ok bool)
}

// Check holds values against a signature and returns what does not conform, in
// declaration order, at most one issue an entry: the first broken rule. Values
// are what JSON decodes to, with json.Number numbers; nothing is coerced or
// trimmed. Values that no entry names are not looked at. It is pure.
func Check(entries []*Entry, values map[string]any, env CheckEnv) []Issue {
	issues := []Issue{}
	for _, e := range entries {
		v, there := values[e.Name]
		if !there {
			message := fmt.Sprintf("`%s` is missing", e.Name)
			if e.Type != "" {
				message += fmt.Sprintf(": it must be %s", typeNoun(e.Type))
			}
			issues = append(issues, Issue{Kind: IssueMissing, Name: e.Name, Type: e.Type, Message: message})
			continue
		}
		if e.Type == "" {
			continue
		}
		if rule, message := brokenRule(e, v, env); message != "" {
			issues = append(issues, Issue{
				Kind: IssueInvalid, Name: e.Name, Type: e.Type, Found: found(v), Rule: rule,
				Message: fmt.Sprintf("`%s` %s", e.Name, message),
			})
		}
	}
	return issues
}

func typeNoun(t string) string {
	switch t {
	case "string":
		return "text"
	case "integer":
		return "a whole number"
	case "boolean":
		return "true or false"
	case "date":
		return "a date, as in 2026-01-31"
	case "date-time":
		return "a date-time with an offset, as in 2026-01-31T09:00:00Z"
	case "file":
		return "the workspace path of a readable file"
	case "object":
		return "a mapping"
	case "array":
		return "a list"
	}
	return "a " + t
}

func found(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	if _, ok := decimalOf(v); ok {
		return "number"
	}
	return "unknown"
}

// brokenRule returns the first rule of a typed entry that v breaks, "" for the
// type itself, and a message that follows the name; no message: v conforms.
func brokenRule(e *Entry, v any, env CheckEnv) (rule, message string) {
	wrong := func() (string, string) {
		return "", fmt.Sprintf("must be %s, not %s", typeNoun(e.Type), show(v))
	}
	switch e.Type {
	case "string":
		if s, ok := v.(string); ok {
			return brokenText(&e.Rules, s)
		}
	case "integer", "number":
		d, ok := decimalOf(v)
		if ok && (e.Type == "number" || d.integer()) {
			return brokenNumber(&e.Rules, d, v)
		}
	case "boolean":
		if _, ok := v.(bool); ok {
			return "", ""
		}
	case "date", "date-time":
		s, _ := v.(string)
		if at, ok := instant(e.Type, s); ok {
			return brokenTime(e, at, s, env.Now)
		}
	case "file":
		if s, ok := v.(string); ok {
			return brokenFile(&e.Rules, s, env)
		}
	case "object":
		if _, ok := v.(map[string]any); ok {
			return "", ""
		}
	case "array":
		if list, ok := v.([]any); ok {
			return brokenList(&e.Rules, list)
		}
	}
	return wrong()
}

var (
	emailPattern = regexp.MustCompile(`^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$`)
	phonePattern = regexp.MustCompile(phoneRegexp)
	urlPattern   = regexp.MustCompile(urlRegexp)
)

const (
	phoneRegexp = `^\+[1-9]\d{1,14}$`
	urlRegexp   = `^https?://`
)

func brokenText(r *Rules, s string) (rule, message string) {
	switch {
	case r.Format == "email" && !emailPattern.MatchString(s):
		return "format", fmt.Sprintf("must be an e-mail address, not %s", show(s))
	case r.Format == "url" && !absoluteURL(s):
		return "format", fmt.Sprintf("must be an absolute http or https URL, not %s", show(s))
	case r.Format == "phone" && !phonePattern.MatchString(s):
		return "format", fmt.Sprintf("must be a phone number in E.164 form, as in +431234567, not %s", show(s))
	}
	if r.Pattern != "" {
		// The loader has compiled it; one that does not compile accepts nothing.
		if re, err := regexp.Compile(r.Pattern); err != nil || !re.MatchString(s) {
			return "pattern", fmt.Sprintf("must match the pattern %s, and %s does not", r.Pattern, show(s))
		}
	}
	n := utf8.RuneCountInString(s)
	switch {
	case r.MinLength != nil && n < *r.MinLength:
		return "minLength", fmt.Sprintf("must have at least %d characters, not %d", *r.MinLength, n)
	case r.MaxLength != nil && n > *r.MaxLength:
		return "maxLength", fmt.Sprintf("must have at most %d characters, not %d", *r.MaxLength, n)
	case len(r.Enum) > 0 && !slices.Contains(r.Enum, any(s)):
		return "enum", fmt.Sprintf("must be one of %s, not %s", showAll(r.Enum), show(s))
	}
	return "", ""
}

func absoluteURL(s string) bool {
	if !urlPattern.MatchString(s) || strings.ContainsAny(s, " \t\r\n") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != ""
}

func brokenNumber(r *Rules, d decimal, v any) (rule, message string) {
	if low, ok := decimalOf(r.Minimum); ok && d.cmp(low) < 0 {
		return "minimum", fmt.Sprintf("must be at least %v, not %s", r.Minimum, show(v))
	}
	if high, ok := decimalOf(r.Maximum); ok && d.cmp(high) > 0 {
		return "maximum", fmt.Sprintf("must be at most %v, not %s", r.Maximum, show(v))
	}
	same := func(e any) bool { o, ok := decimalOf(e); return ok && d.cmp(o) == 0 }
	if len(r.Enum) > 0 && !slices.ContainsFunc(r.Enum, same) {
		return "enum", fmt.Sprintf("must be one of %s, not %s", showAll(r.Enum), show(v))
	}
	return "", ""
}

// decimalOf reads a finite number: a json.Number, or a Go number of a caller
// that made the value itself.
func decimalOf(v any) (decimal, bool) {
	switch n := v.(type) {
	case json.Number:
		if _, err := strconv.ParseFloat(string(n), 64); err != nil {
			return decimal{}, false // beyond every IEEE double
		}
		return parseDecimal(string(n))
	case float64:
		return parseDecimal(strconv.FormatFloat(n, 'g', -1, 64))
	case int:
		return parseDecimal(strconv.Itoa(n))
	case int64:
		return parseDecimal(strconv.FormatInt(n, 10))
	}
	return decimal{}, false
}

func brokenList(r *Rules, list []any) (rule, message string) {
	switch n := len(list); {
	case r.MinItems != nil && n < *r.MinItems:
		return "minItems", fmt.Sprintf("must have at least %d items, not %d", *r.MinItems, n)
	case r.MaxItems != nil && n > *r.MaxItems:
		return "maxItems", fmt.Sprintf("must have at most %d items, not %d", *r.MaxItems, n)
	}
	return "", ""
}

var dateTimePattern = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

func validDate(s string) bool     { _, ok := instant("date", s); return ok }
func validDateTime(s string) bool { _, ok := instant("date-time", s); return ok }

// instant reads an RFC 3339 full-date, as its midnight in UTC, or date-time.
func instant(entryType, s string) (time.Time, bool) {
	if entryType == "date" {
		t, err := time.Parse(time.DateOnly, s)
		return t, err == nil && len(s) == len(time.DateOnly)
	}
	if !dateTimePattern.MatchString(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
	return t, err == nil
}

func brokenTime(e *Entry, at time.Time, s string, now time.Time) (rule, message string) {
	bound := func(b any) (time.Time, bool) {
		text, _ := b.(string)
		switch text {
		case "today":
			return now.UTC().Truncate(24 * time.Hour), true
		case "now":
			return now, true
		}
		return instant(e.Type, text)
	}
	if low, ok := bound(e.Rules.Minimum); ok && at.Before(low) {
		return "minimum", fmt.Sprintf("must not be before %v, and %s is", e.Rules.Minimum, show(s))
	}
	if high, ok := bound(e.Rules.Maximum); ok && at.After(high) {
		return "maximum", fmt.Sprintf("must not be after %v, and %s is", e.Rules.Maximum, show(s))
	}
	return "", ""
}

func brokenFile(r *Rules, s string, env CheckEnv) (rule, message string) {
	var size int64
	var mediaType string
	readable := false
	if env.File != nil && s != "" {
		size, mediaType, readable = env.File(s)
	}
	switch {
	case !readable:
		return "", fmt.Sprintf("must be %s, and %s is not", typeNoun("file"), show(s))
	case len(r.Accept) > 0 && !slices.ContainsFunc(r.Accept, func(a string) bool { return accepts(a, s, mediaType) }):
		return "accept", fmt.Sprintf("must be a file of %s, not %s", strings.Join(r.Accept, ", "), show(s))
	case r.MaxSize != nil && size > *r.MaxSize:
		return "maxSize", fmt.Sprintf("must not be larger than %s, and %s has %d bytes", r.MaxSizeText, show(s), size)
	}
	return "", ""
}

// accepts holds one `accept` entry, an extension or a media type (type/* for
// all of a kind), against a file.
func accepts(accept, file, mediaType string) bool {
	accept = strings.ToLower(accept)
	if !strings.Contains(accept, "/") {
		return strings.HasSuffix(strings.ToLower(path.Base(file)), "."+strings.TrimPrefix(accept, "."))
	}
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	mediaType = strings.TrimSpace(mediaType)
	if kind, all := strings.CutSuffix(accept, "*"); all {
		return strings.HasPrefix(mediaType, kind)
	}
	return mediaType == accept
}

// show gives a value as short JSON.
func show(v any) string {
	switch t := v.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(brief(t))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "an unreadable value"
	}
	return brief(string(b))
}

func showAll(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = show(v)
	}
	return strings.Join(texts, ", ")
}
