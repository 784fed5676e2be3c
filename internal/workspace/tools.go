package workspace

import (
	"context"
	"encoding/json"
	"fmt"
)

// Definition is what a model is told of a tool.
type Definition struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, always the same bytes
}

// Tool is a built-in file tool. What paths it takes, and how, is declared by
// governance.Builtins under the same name.
type Tool struct {
	Definition
	ReadOnly bool // it changes nothing, so it may be run again after a crash
	params   []param
	run      func(ctx context.Context, w *Workspace, call Call, args arguments) (Result, error)
}

// Call is one call of a file tool.
type Call struct {
	// Args are the arguments, as encoding/json decodes them.
	Args map[string]any
	// Visible decides a path that the call did not name, as a read: every hit
	// of a search, every line of a listing, and the file a link leads to. nil
	// shows everything. It is called by one goroutine.
	Visible func(path string) bool
	// Script is set when code calls: it gets the whole raw file from read_file,
	// no words where a search finds nothing, and no images.
	Script bool
	// ImageBytes is the size of the largest image that read_file may have shown
	// to the model; 0 when images are off.
	ImageBytes int64
}

// Result is the answer of a tool that did what it was asked.
type Result struct {
	Text string
	// Image is the canonical path of an image to show to the model with each
	// later request (Workspace.Image reads it); "" for every other result.
	Image string
}

// Run checks the arguments and runs the tool. The error is one line for the
// caller of the tool, without the prefix "Error: " that it has on the wire; it
// never names a path of the host. A cancelled ctx gives its own error.
func (t Tool) Run(ctx context.Context, w *Workspace, call Call) (Result, error) {
	args, err := checkArguments(t.Name, t.params, call.Args)
	if err != nil {
		return Result{}, err
	}
	if call.Visible == nil {
		call.Visible = func(string) bool { return true }
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return t.run(ctx, w, call, args)
}

// Misshapen says what is wrong with the shape of a call's arguments, nil when
// nothing is. Run checks it too; it is for a refusal that wants to name it.
func (t Tool) Misshapen(given map[string]any) error {
	if _, err := checkArguments(t.Name, t.params, given); err != nil {
		return err
	}
	return nil
}

// Tools are the file tools in registration order.
func Tools() []Tool { return tools }

var tools = []Tool{
	newTool(runLs, "ls", true, "List a directory: one name a line, sorted; directories end with /.",
		param{"path", text, false, "Directory to list; default / (the root of the workspace).", nil}),
	newTool(runReadFile, "read_file", true, fmt.Sprintf("Read a text file, at most %d lines at once. When the answer is not the whole file, its last line says which lines it is and how to go on.", defaultLines),
		param{"file_path", text, true, "File to read.", nil},
		param{"offset", integer, false, "First line to read, counted from 0; default 0.", nil},
		param{"limit", integer, false, fmt.Sprintf("Number of lines to read; default %d.", defaultLines), nil}),
	newTool(runWriteFile, "write_file", false, "Write a text file with exactly this content, creating its directories. An existing file is refused unless overwrite is true.",
		param{"file_path", text, true, "File to write.", nil},
		param{"content", text, true, "The whole content.", nil},
		param{"overwrite", boolean, false, "Replace the file if it exists; default false.", nil}),
	newTool(runEditFile, "edit_file", false, "Replace a piece of a text file. old_string must be in the file exactly once, unless replace_all is true.",
		param{"file_path", text, true, "File to edit.", nil},
		param{"old_string", text, true, "The text to replace, exactly as it is in the file.", nil},
		param{"new_string", text, true, "The text to put in its place.", nil},
		param{"replace_all", boolean, false, "Replace every occurrence; default false.", nil}),
	newTool(runGlob, "glob", true, "Find files by name: their paths, sorted. The pattern is relative to path: * matches within one name, ** any number of directories, {a,b} either.",
		param{"pattern", text, true, "Glob pattern, such as **/*.md.", nil},
		param{"path", text, false, "Directory to search; default / (the root of the workspace).", nil}),
	newTool(runGrep, "grep", true, fmt.Sprintf("Search the lines of text files with a regular expression (RE2). output_mode: %s (the default) gives paths, %s gives path:line:text, %s gives path:number.", modeFiles, modeContent, modeCount),
		param{"pattern", text, true, "Regular expression, RE2 syntax.", nil},
		param{"path", text, false, "Directory or file to search; default / (the root of the workspace).", nil},
		param{"glob", text, false, "Search only files whose name, or path, matches this glob, such as *.md.", nil},
		param{"output_mode", text, false, fmt.Sprintf("%s, %s or %s.", modeFiles, modeContent, modeCount), []string{modeFiles, modeContent, modeCount}},
		param{"max_count", integer, false, fmt.Sprintf("Stop after this many lines of output; default %d.", defaultMatches), nil}),
	newTool(runCopyFile, "copy_file", false, "Copy a file of any type, byte for byte, creating directories. An existing destination is refused unless overwrite is true.",
		param{"source", text, true, "File to copy.", nil},
		param{"destination", text, true, "Path of the copy.", nil},
		param{"overwrite", boolean, false, "Replace the destination if it exists; default false.", nil}),
	newTool(runMoveFile, "move_file", false, "Move or rename a file of any type, creating directories. An existing destination is refused unless overwrite is true.",
		param{"source", text, true, "File to move.", nil},
		param{"destination", text, true, "Its new path.", nil},
		param{"overwrite", boolean, false, "Replace the destination if it exists; default false.", nil}),
	newTool(runRemoveFile, "remove_file", false, "Remove one file.",
		param{"file_path", text, true, "File to remove.", nil}),
}

func newTool(run func(context.Context, *Workspace, Call, arguments) (Result, error), name string, readOnly bool, description string, params ...param) Tool {
	return Tool{
		Definition: Definition{Name: name, Description: description, Schema: schemaOf(params)},
		ReadOnly:   readOnly,
		params:     params,
		run:        run,
	}
}
