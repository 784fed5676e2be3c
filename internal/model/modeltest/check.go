package modeltest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// prefix is the static prefix of a turn and the request that had it first.
type prefix struct {
	text   string
	number int
}

// check returns what is wrong with a request.
func (s *Server) check(r *Request) []string {
	var v []string
	v = append(v, pairing(r)...)
	v = append(v, emptiness(r)...)
	v = append(v, tools(r)...)
	v = append(v, s.leaks(r)...)
	return append(v, s.samePrefix(r)...)
}

// pairing: every call has exactly one result, in order, before the next
// message, and ids are unique over the request.
func pairing(r *Request) []string {
	var v []string
	seen := map[string]bool{}
	var open []Call
	for i, m := range r.Messages {
		at := fmt.Sprintf("message %d", i+1)
		if m.Role == "tool" {
			switch {
			case len(open) == 0:
				v = append(v, fmt.Sprintf("%s is a result of %q, and no call is open", at, m.CallID))
			case open[0].ID != m.CallID:
				v = append(v, fmt.Sprintf("%s is a result of %q, where that of %q is next", at, m.CallID, open[0].ID))
				open = open[1:]
			default:
				open = open[1:]
			}
			continue
		}
		if len(open) > 0 {
			v = append(v, fmt.Sprintf("%s (%s) comes before the result of call %q", at, m.Role, open[0].ID))
		}
		open = m.Calls
		if m.Role != "user" && m.Role != "assistant" {
			v = append(v, fmt.Sprintf("%s has role %q", at, m.Role))
		}
		for _, c := range m.Calls {
			if c.ID == "" {
				v = append(v, fmt.Sprintf("%s: a call of %q has no id", at, c.Name))
			} else if seen[c.ID] {
				v = append(v, fmt.Sprintf("%s: the call id %q is used twice", at, c.ID))
			}
			seen[c.ID] = true
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(c.Args), &object) != nil || object == nil {
				v = append(v, fmt.Sprintf("%s: the arguments of call %q are no JSON object: %s", at, c.ID, c.Args))
			}
		}
	}
	if len(open) > 0 {
		v = append(v, fmt.Sprintf("call %q has no result", open[0].ID))
	}
	return v
}

// emptiness: no message is ever empty.
func emptiness(r *Request) []string {
	var v []string
	for _, m := range r.system {
		if strings.TrimSpace(r.System) == "" {
			v = append(v, "the system message is empty: "+string(m.raw))
		}
	}
	for i, m := range r.Messages {
		if strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0 && len(m.Images) == 0 {
			v = append(v, fmt.Sprintf("message %d (%s) is empty", i+1, m.Role))
		}
	}
	return v
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// tools: definitions are there whenever the history holds calls, never as an
// empty list, each once and well-formed.
func tools(r *Request) []string {
	var v []string
	if r.hasTools && len(r.Tools) == 0 {
		v = append(v, "the list of tools is empty")
	}
	if !r.hasTools {
		for _, m := range r.Messages {
			if len(m.Calls) > 0 {
				v = append(v, "the history holds tool calls, and no tool is defined")
				break
			}
		}
	}
	seen := map[string]bool{}
	for _, t := range r.Tools {
		if !toolName.MatchString(t.Name) {
			v = append(v, fmt.Sprintf("a tool is named %q", t.Name))
		}
		if seen[t.Name] {
			v = append(v, fmt.Sprintf("the tool %q is defined twice", t.Name))
		}
		seen[t.Name] = true
		var object map[string]json.RawMessage
		if json.Unmarshal(t.Schema, &object) != nil || object == nil {
			v = append(v, fmt.Sprintf("the schema of tool %q is no JSON object: %s", t.Name, t.Schema))
		}
	}
	return v
}

// leaks: no forbidden word and no host path is in any string of the request,
// the strings of tool arguments included.
func (s *Server) leaks(r *Request) []string {
	var body any
	if json.Unmarshal(r.Raw, &body) != nil {
		return nil // decode has read it already
	}
	var v []string
	walk(body, "", func(at, text string) {
		for _, word := range s.cfg.Forbidden {
			if strings.Contains(text, word) {
				v = append(v, fmt.Sprintf("%s holds the forbidden word %q", at, word))
			}
		}
		for _, path := range s.cfg.HostPaths {
			if strings.Contains(text, path) {
				v = append(v, fmt.Sprintf("%s holds the host path %q", at, path))
			}
		}
	})
	return v
}

// walk calls f with every string in v, keys and JSON within strings included.
func walk(v any, at string, f func(at, text string)) {
	switch v := v.(type) {
	case string:
		f(at, v)
		var inner any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
			walk(inner, at, f)
		}
	case []any:
		for i, e := range v {
			walk(e, fmt.Sprintf("%s[%d]", at, i), f)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			f(at, k)
			walk(v[k], strings.TrimPrefix(at+"."+k, "."), f)
		}
	}
}

// samePrefix: the static prefix is byte-identical on every agent call of a
// turn.
func (s *Server) samePrefix(r *Request) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var key string
	switch {
	case s.cfg.Turn != nil:
		key = s.cfg.Turn(r)
	case r.Volatile != "": // a grader's or a judge's prompt holds no volatile block
		key = fmt.Sprintf("%d %s", s.turn, workflowLine(r.Static))
	}
	if key == "" {
		return nil
	}
	first, ok := s.prefixes[key]
	if !ok {
		s.prefixes[key] = prefix{r.Static, r.Number}
		return nil
	}
	if first.text == r.Static {
		return nil
	}
	a, b := firstDifference(first.text, r.Static)
	return []string{fmt.Sprintf("the static prefix differs from that of request %d of the same turn:\n  then %q\n  now  %q", first.number, a, b)}
}

func workflowLine(static string) string {
	_, rest, ok := strings.Cut("\n"+static, "\n# Workflow:")
	if !ok {
		return ""
	}
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// firstDifference returns the stretches of a and b around the first byte in
// which they differ.
func firstDifference(a, b string) (string, string) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-20)
	return a[from:min(len(a), i+40)], b[from:min(len(b), i+40)]
}
