package workspace

import (
	"encoding/json"
	"strings"
)

// Todo is one item of the list that write_todos keeps in the session.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress or completed
}

var todoStatuses = []string{"pending", "in_progress", "completed"}

var todoParams = []param{
	{"content", text, true, "What is to be done.", nil},
	{"status", text, true, "How far it is.", todoStatuses},
}

// TodosDefinition defines write_todos. The runtime runs it, since the list is
// kept in the session's journal.
func TodosDefinition() Definition {
	return Definition{
		Name:        "write_todos",
		Description: "Keep a list of what is to be done in this session. Each call replaces the whole list.",
		Schema: json.RawMessage(`{"type":"object","properties":{"todos":{"type":"array","description":"The whole list, in order.","items":` +
			string(schemaOf(todoParams)) + `}},"required":["todos"],"additionalProperties":false}`),
	}
}

// ParseTodos checks the arguments of write_todos. An empty list is a list.
func ParseTodos(args map[string]any) ([]Todo, error) {
	const tool = "write_todos"
	if err := checkNames(tool, []param{{name: "todos"}}, args); err != nil {
		return nil, err
	}
	given := args["todos"]
	if given == nil {
		return nil, badArgument(tool, "missing required parameter 'todos' (a list)")
	}
	items, ok := given.([]any)
	if !ok {
		return nil, badArgument(tool, "'todos' must be a list, not %s", describe(given))
	}
	todos := make([]Todo, 0, len(items))
	for i, item := range items {
		fields, ok := item.(map[string]any)
		if !ok {
			return nil, badArgument(tool, "'todos[%d]' must be an object, not %s", i, describe(item))
		}
		todo, err := parseTodo(fields)
		if err != nil {
			return nil, badArgument(tool, "'todos[%d]': %s", i, err.Problem)
		}
		todos = append(todos, todo)
	}
	return todos, nil
}

func parseTodo(fields map[string]any) (Todo, *ArgumentError) {
	checked, err := checkArguments("", todoParams, fields)
	if err != nil {
		return Todo{}, err
	}
	todo := Todo{checked.text("content", ""), checked.text("status", "")}
	if strings.TrimSpace(todo.Content) == "" {
		return Todo{}, badArgument("", "'content' is blank")
	}
	return todo, nil
}
