package workspace

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

func runWriteFile(_ context.Context, w *Workspace, _ Call, args arguments) (Result, error) {
	p, err := w.at(args.text("file_path", ""), toChange)
	if err != nil {
		return Result{}, err
	}
	content := []byte(args.text("content", ""))
	defer w.lock(p)()
	if err := w.write(p, content, args.bool("overwrite")); err != nil {
		return Result{}, err
	}
	return Result{Text: fmt.Sprintf("wrote '%s' (%s)", p.path, count(len(content), "byte"))}, nil
}

func runEditFile(_ context.Context, w *Workspace, _ Call, args arguments) (Result, error) {
	old, replacement := args.text("old_string", ""), args.text("new_string", "")
	switch {
	case old == "":
		return Result{}, badArgument("edit_file", "'old_string' is empty; write_file writes a whole file")
	case old == replacement:
		return Result{}, badArgument("edit_file", "'old_string' and 'new_string' are the same")
	}
	p, err := w.at(args.text("file_path", ""), toChange)
	if err != nil {
		return Result{}, err
	}
	defer w.lock(p)()
	content, err := p.readText()
	if err != nil {
		return Result{}, err
	}
	n := strings.Count(content, old)
	switch {
	case n == 0:
		return Result{}, refuse(p.path, nil, "does not hold old_string; read the file and copy the text exactly")
	case n > 1 && !args.bool("replace_all"):
		return Result{}, refuse(p.path, nil, "holds old_string %d times; add text around it to make it unique, or set replace_all", n)
	}
	if grown := len(content) + n*(len(replacement)-len(old)); grown > maxFile {
		return Result{}, refuse(p.path, nil, "would grow past the %s that are handled at once", size(maxFile))
	}
	if err := w.write(p, []byte(strings.ReplaceAll(content, old, replacement)), true); err != nil {
		return Result{}, err
	}
	return Result{Text: fmt.Sprintf("edited '%s' (%s)", p.path, count(n, "replacement"))}, nil
}

// readText reads a whole text file.
func (p place) readText() (string, error) {
	content, err := p.read()
	if err != nil {
		return "", err
	}
	mediaType := binaryName(p.path)
	if mediaType == "" && isBinary(content) {
		mediaType = contentType(content)
	}
	if mediaType != "" {
		return "", notRead(p.path, mediaType, int64(len(content)), "")
	}
	return string(content), nil
}

func runCopyFile(_ context.Context, w *Workspace, call Call, args arguments) (Result, error) {
	source, err := w.named(call, args.text("source", ""))
	if err != nil {
		return Result{}, err
	}
	destination, err := w.at(args.text("destination", ""), toChange)
	if err != nil {
		return Result{}, err
	}
	if source.path == destination.path {
		return Result{}, badArgument("copy_file", "'source' and 'destination' are the same file")
	}
	defer w.lock(source, destination)()
	n, err := w.copy(source, destination, args.bool("overwrite"))
	if err != nil {
		return Result{}, err
	}
	return Result{Text: fmt.Sprintf("copied '%s' to '%s' (%s)", source.path, destination.path, count(n, "byte"))}, nil
}

func runMoveFile(_ context.Context, w *Workspace, _ Call, args arguments) (Result, error) {
	source, err := w.at(args.text("source", ""), toChange)
	if err != nil {
		return Result{}, err
	}
	destination, err := w.at(args.text("destination", ""), toChange)
	if err != nil {
		return Result{}, err
	}
	if source.path == destination.path {
		return Result{}, badArgument("move_file", "'source' and 'destination' are the same file")
	}
	defer w.lock(source, destination)()
	n, err := w.copy(source, destination, args.bool("overwrite"))
	if err != nil {
		return Result{}, err
	}
	if err := w.remove(source); err != nil {
		return Result{}, fmt.Errorf("'%s' was copied to '%s', but the source stays: %w", source.path, destination.path, err)
	}
	return Result{Text: fmt.Sprintf("moved '%s' to '%s' (%s)", source.path, destination.path, count(n, "byte"))}, nil
}

// copy copies between places whose locks are held, and reads the copy back: a
// move removes its source on the strength of it.
func (w *Workspace) copy(source, destination place, overwrite bool) (int, error) {
	content, err := source.read()
	if err != nil {
		return 0, err
	}
	if err := w.write(destination, content, overwrite); err != nil {
		return 0, err
	}
	written, err := destination.read()
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(written, content) {
		return 0, refuse(destination.path, nil, "does not hold what was copied to it; '%s' is unchanged", source.path)
	}
	return len(content), nil
}

func runRemoveFile(_ context.Context, w *Workspace, _ Call, args arguments) (Result, error) {
	p, err := w.at(args.text("file_path", ""), toChange)
	if err != nil {
		return Result{}, err
	}
	defer w.lock(p)()
	if err := w.remove(p); err != nil {
		return Result{}, err
	}
	return Result{Text: fmt.Sprintf("removed '%s'", p.path)}, nil
}
