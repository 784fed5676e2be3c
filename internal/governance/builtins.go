package governance

import (
	"slices"

	"github.com/archmax-ai/archmax/internal/spec"
)

// Names of the tools that the kernel itself has rules about.
const (
	toolRun      = "archmax_run"
	toolEval     = "archmax_eval"
	toolReadFile = "read_file"

	toolAdvance      = "archmax_advance"
	toolReset        = "archmax_reset"
	toolWait         = "archmax_wait"
	toolRaise        = "archmax_raise"
	toolGetVariables = "archmax_get_variables"
	toolSetVariables = "archmax_set_variables"
	toolGetHistory   = "archmax_get_history"
)

// Builtins returns the tools that are on in every state, with the paths they
// take (formats.md, "Built-in tools: arguments"), in registration order.
func Builtins() []ToolInfo {
	always := func(name string, paths ...PathArg) ToolInfo {
		return ToolInfo{Name: name, Paths: paths, AlwaysOn: true}
	}
	reads := func(name string, paths ...PathArg) ToolInfo {
		return ToolInfo{Name: name, Paths: paths, AlwaysOn: true, ReadOnly: true}
	}
	return []ToolInfo{
		reads("ls", PathArg{"path", List, Root}),
		reads(toolReadFile, PathArg{"file_path", Read, ""}),
		always("write_file", PathArg{"file_path", Write, ""}),
		always("edit_file", PathArg{"file_path", Write, ""}),
		reads("glob", PathArg{"path", Search, Root}),
		reads("grep", PathArg{"path", Search, Root}),
		always("copy_file", PathArg{"source", Read, ""}, PathArg{"destination", Write, ""}),
		always("move_file", PathArg{"source", Remove, ""}, PathArg{"destination", Write, ""}),
		always("remove_file", PathArg{"file_path", Remove, ""}),
		always("write_todos"),
		always(toolEval),
		always(toolRun, PathArg{"file_path", Execute, ""}),
	}
}

// Controls returns the control tools in registration order. Which of them a
// state has follows from its kind.
func Controls() []ToolInfo {
	names := []string{
		toolAdvance, toolReset, toolWait, toolRaise, toolGetVariables, toolSetVariables, toolGetHistory,
	}
	infos := make([]ToolInfo, len(names))
	for i, name := range names {
		infos[i] = ToolInfo{Name: name, Control: true}
	}
	return infos
}

// controlsOf are the control tools of each kind of state (governance.md, "The
// tool surface"; automation.md). A human state has none: people decide there.
var controlsOf = map[spec.Kind][]string{
	spec.Agent:  {toolAdvance, toolReset, toolWait, toolRaise, toolGetVariables, toolSetVariables},
	spec.Code:   {toolAdvance, toolRaise, toolGetVariables, toolSetVariables, toolGetHistory},
	spec.Grader: {toolAdvance, toolRaise, toolGetVariables, toolGetHistory},
}

// hasControl reports whether the state offers the control tool by its kind.
func hasControl(st *spec.State, name string) bool {
	if name == toolAdvance && st.Terminal() {
		return false
	}
	return slices.Contains(controlsOf[st.Kind], name)
}

// Callable reports whether code of this origin may call the tool at all in a
// state of this kind: scripts reach no other script, and control tools only in
// a code state, whose script stands for the agent (automation.md). The agent
// itself may call anything by this test.
func Callable(tool ToolInfo, kind spec.Kind, origin Origin) bool {
	switch {
	case origin == FromAgent:
		return true
	case tool.Name == toolEval || tool.Name == toolRun:
		return false
	case tool.Control:
		return kind == spec.Code && origin == FromScript
	default:
		return true
	}
}
