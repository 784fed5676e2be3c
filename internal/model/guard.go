package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// check refuses a request that no endpoint could take: providers answer such a
// request with a 400 that names none of this. The runtime mints ids and pairs
// calls with results; a request that breaks the rule is a bug, said loudly.
func check(req *Request) error {
	seen := make(map[string]bool, 2*len(req.Messages))
	var open []Call // calls of the last assistant message still without a result
	for i, m := range req.Messages {
		if m.Role == "tool" {
			if len(open) == 0 || open[0].ID != m.CallID {
				return malformed("message %d answers call %q, which is not the next open call", i+1, m.CallID)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return malformed("message %d comes before the result of call %q (%s)", i+1, open[0].ID, open[0].Name)
		}
		if m.Role != "user" && m.Role != "assistant" {
			return malformed("message %d has role %q", i+1, m.Role)
		}
		if m.Role == "user" && len(m.Calls) > 0 {
			return malformed("message %d is a user's and holds tool calls", i+1)
		}
		for _, c := range m.Calls {
			switch {
			case c.ID == "":
				return malformed("message %d holds a call of %q without an id", i+1, c.Name)
			case seen[c.ID]:
				return malformed("call id %q is used twice", c.ID)
			}
			seen[c.ID] = true
		}
		open = m.Calls
	}
	if len(open) > 0 {
		return malformed("call %q (%s) has no result", open[0].ID, open[0].Name)
	}
	for _, t := range req.Tools {
		if t.Name == "" {
			return malformed("a tool has no name")
		}
		if t.wire.Load() == nil && len(t.Schema) > 0 && !isObject(t.Schema) {
			return malformed("the schema of tool %q is no JSON object", t.Name)
		}
	}
	return nil
}

func malformed(format string, args ...any) error {
	return &Error{
		Message: "the model request is malformed: " + fmt.Sprintf(format, args...),
		Hint:    "this is a bug in archmax, please report it",
	}
}

// Arguments returns the call's arguments as a JSON object. Arguments that are
// empty or null mean {}; ok is false for anything else that is no JSON object,
// and such a call must be answered with an error and not run.
func (c Call) Arguments() (args json.RawMessage, ok bool) {
	text := strings.TrimSpace(c.Args)
	if text == "" || text == "null" {
		return json.RawMessage("{}"), true
	}
	if !isObject([]byte(text)) {
		return nil, false
	}
	return json.RawMessage(text), true
}

// wireArguments is what goes back to the provider: the object as it came, {}
// for what was none.
func (c Call) wireArguments() string {
	if args, ok := c.Arguments(); ok {
		return string(args)
	}
	return "{}"
}

// wireName is the tool's name as it may stand in a request. Models make names
// up, and an endpoint refuses a history with one it finds ill-formed.
func (c Call) wireName() string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, c.Name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

func isObject(b []byte) bool {
	t := strings.TrimSpace(string(b))
	return strings.HasPrefix(t, "{") && json.Valid(b)
}
