package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/archmax-ai/archmax/internal/governance"
)

// What grep answers with.
const (
	modeFiles   = "files_with_matches"
	modeContent = "content"
	modeCount   = "count"
)

// defaultMatches is how many lines grep answers with unless asked for others.
const defaultMatches = 1000

func runGlob(ctx context.Context, w *Workspace, call Call, args arguments) (Result, error) {
	pattern, err := globPattern("glob", "pattern", args.text("pattern", ""))
	if err != nil {
		return Result{}, err
	}
	start := args.text("path", governance.Root)
	if strings.HasPrefix(args.text("pattern", ""), "/") {
		start = governance.Root // /skills/** names its own root
	}
	top, err := w.named(call, start)
	if err != nil {
		return Result{}, err
	}
	if info, err := w.Stat(top.path); err != nil && !w.mayBeMissing(top, err) {
		return Result{}, err
	} else if err == nil && !info.Dir {
		return Result{}, refuse(top.path, nil, "is a file, not a directory")
	}
	full := join(escapeGlob(top.path), pattern)
	files, err := w.matching(ctx, call, top, pattern, full)
	if err != nil {
		return Result{}, err
	}
	var paths []string
	for _, f := range files {
		if doublestar.MatchUnvalidated(full, f.path) && call.sees(f.place) {
			paths = append(paths, f.path)
		}
	}
	return call.listing(paths, "no files match"), nil
}

// matching lists the files that a pattern could match: those below the
// directory that its literal beginning names, which is then what the search is
// addressed at.
func (w *Workspace) matching(ctx context.Context, call Call, top place, pattern, full string) ([]entry, error) {
	base, _ := doublestar.SplitPattern(full)
	dir, err := w.named(call, base)
	if err != nil {
		if base == top.path {
			return nil, err
		}
		return nil, nil // nothing is there, or nothing to be seen
	}
	files, err := w.find(ctx, dir)
	if err != nil && ctx.Err() == nil && dir.path != top.path {
		return nil, nil
	}
	return files, err
}

// globPattern checks a pattern and gives it without a leading slash.
func globPattern(tool, name, pattern string) (string, error) {
	pattern = strings.TrimLeft(pattern, "/")
	switch {
	case pattern == "":
		return "", badArgument(tool, "'%s' is empty", name)
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		return "", badArgument(tool, "'%s' must not hold '..'; name the directory in 'path'", name)
	case !doublestar.ValidatePattern(pattern):
		return "", badArgument(tool, "'%s' is no glob pattern: %s; check its brackets and braces", name, clip(pattern))
	}
	return path.Clean(pattern), nil
}

const globMeta = `*?[{\`

func escapeGlob(name string) string {
	if name == governance.Root {
		return ""
	}
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(globMeta, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// search is one grep at work.
type search struct {
	expression *regexp.Regexp
	mode       string
	most       int // lines of output
	lines      []string
	bytes      int
	full       bool // there was more than is answered
}

func runGrep(ctx context.Context, w *Workspace, call Call, args arguments) (Result, error) {
	s := &search{mode: args.text("output_mode", modeFiles), most: args.int("max_count", defaultMatches)}
	if s.most < 1 {
		return Result{}, badArgument("grep", "'max_count' must be 1 or more, not %d", s.most)
	}
	var err error
	if s.expression, err = expression(args.text("pattern", "")); err != nil {
		return Result{}, err
	}
	filter := func(string, string) bool { return true }
	if glob := args.text("glob", ""); glob != "" {
		if filter, err = fileFilter(glob); err != nil {
			return Result{}, err
		}
	}
	top, err := w.named(call, args.text("path", governance.Root))
	if err != nil {
		return Result{}, err
	}
	files, err := w.searched(ctx, top)
	if err != nil {
		return Result{}, err
	}
	for _, f := range files {
		if s.full {
			break
		}
		if !filter(top.path, f.path) || !call.sees(f.place) {
			continue
		}
		if err := s.file(ctx, f.place); err != nil {
			if ctx.Err() != nil {
				return Result{}, ctx.Err()
			}
			if f.path == top.path {
				return Result{}, err
			}
			// It went, or may not be read: a search passes it over.
		}
	}
	if s.full {
		s.lines = append(s.lines, fmt.Sprintf("[stopped after %s; narrow the search or raise max_count]", count(len(s.lines), "line")))
	}
	return call.listing(s.lines, "no matches"), nil
}

// searched lists the files a search at a path looks at: the file, or those
// below the directory.
func (w *Workspace) searched(ctx context.Context, top place) ([]entry, error) {
	info, err := w.Stat(top.path)
	switch {
	case err != nil && w.mayBeMissing(top, err):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Dir:
		return []entry{{place: top}}, nil
	}
	return w.find(ctx, top)
}

// expression compiles a pattern of grep.
func expression(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, badArgument("grep", "'pattern' is empty")
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		problem := "it cannot be compiled"
		if bad, ok := err.(*syntax.Error); ok {
			problem = fmt.Sprintf("%s: %s", bad.Code, clip(bad.Expr))
		}
		return nil, badArgument("grep", "'pattern' is no RE2 expression (%s); escape what is meant literally with \\", problem)
	}
	return compiled, nil
}

// fileFilter matches a glob against a file's name, and when it holds a slash
// against its path, from the search's directory or from the root.
func fileFilter(glob string) (func(top, file string) bool, error) {
	pattern, err := globPattern("grep", "glob", glob)
	if err != nil {
		return nil, err
	}
	byName := !strings.Contains(glob, "/")
	return func(top, file string) bool {
		if byName {
			return doublestar.MatchUnvalidated(pattern, path.Base(file))
		}
		below := strings.TrimPrefix(file, top+"/")
		return doublestar.MatchUnvalidated(pattern, below) || doublestar.MatchUnvalidated(pattern, file)
	}, nil
}

// maxLine is the longest line that grep looks at.
const maxLine = 16 << 20

// file searches one file. The error says why it could not be searched; a binary
// one adds nothing.
func (s *search) file(ctx context.Context, p place) error {
	if mediaType := binaryName(p.path); mediaType != "" {
		info, err := p.stat()
		if err != nil {
			return err
		}
		return notRead(p.path, mediaType, info.Size(), "")
	}
	file, info, err := p.open()
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	head, _ := r.Peek(sniffed) // an error comes again with the first read
	head = bytes.Clone(head)
	var (
		line    []byte
		number  int
		matches int
		found   []string
		room    = s.most - len(s.lines)
	)
	err = eachPiece(ctx, r, func(piece []byte, starts, ends bool) error {
		if isBinary(piece) {
			return errNUL
		}
		if starts {
			number++
			line = line[:0]
		}
		if len(line)+len(piece) > maxLine {
			return errTooLarge
		}
		line = append(line, piece...)
		if !ends {
			return nil
		}
		matches += s.match(p.path, number, line, &found, room)
		line = line[:0]
		return nil
	})
	switch {
	case errors.Is(err, errNUL):
		return notRead(p.path, contentType(head), info.Size(), "")
	case errors.Is(err, errTooLarge):
		return refuse(p.path, nil, "has a line of more than %s, too long to search", size(maxLine))
	case err != nil:
		return translate(p.path, err)
	}
	if len(line) > 0 { // the last line has no end
		matches += s.match(p.path, number, line, &found, room)
	}
	s.add(p.path, matches, found)
	return nil
}

// match returns 1 for a line that matches, and keeps it when lines are the
// answer and it may be one: one more than there is room for shows that there
// are more.
func (s *search) match(path string, number int, line []byte, found *[]string, room int) int {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if !s.expression.Match(line) {
		return 0
	}
	if s.mode == modeContent && len(*found) <= room && s.bytes <= maxFile {
		s.bytes += len(line)
		if !utf8.Valid(line) {
			line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
		}
		*found = append(*found, fmt.Sprintf("%s:%d:%s", path, number, line))
	}
	return 1
}

// add takes a file's matches into the answer.
func (s *search) add(path string, matches int, found []string) {
	switch {
	case matches == 0:
		return
	case s.mode == modeFiles:
		found = []string{path}
	case s.mode == modeCount:
		found = []string{fmt.Sprintf("%s:%d", path, matches)}
	}
	room := s.most - len(s.lines)
	if len(found) > room || s.mode == modeContent && s.bytes > maxFile {
		s.full = true
		found = found[:min(len(found), room)]
	}
	s.lines = append(s.lines, found...)
}
