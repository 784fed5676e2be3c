package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/governance"
)

// defaultLines is how many lines read_file gives unless asked for others.
const defaultLines = 2000

// sees reports whether the caller may read what is at a place: the path itself,
// and after a link the file behind it.
func (c Call) sees(p place) bool {
	return c.Visible(p.path) && (p.real == p.path || c.Visible(p.real))
}

// named finds the place of a path that the call names, which the kernel has
// decided; a link's target it could not know.
func (w *Workspace) named(call Call, path string) (place, error) {
	p, err := w.at(path, toRead)
	if err != nil {
		return place{}, err
	}
	if p.real != p.path && !call.Visible(p.real) {
		return place{}, notFound(p.path)
	}
	return p, nil
}

func runLs(_ context.Context, w *Workspace, call Call, args arguments) (Result, error) {
	dir, err := w.named(call, args.text("path", governance.Root))
	if err != nil {
		return Result{}, err
	}
	entries, err := w.listAt(dir)
	if err != nil {
		return Result{}, err
	}
	var lines []string
	for _, e := range entries {
		if !call.sees(e.place) && !w.leadsToSeen(call, e) {
			continue
		}
		name := e.name
		if e.dir {
			name += "/"
		}
		lines = append(lines, name)
	}
	slices.Sort(lines)
	return call.listing(lines, fmt.Sprintf("'%s' is empty", shown(dir.path))), nil
}

// leadsToSeen reports whether a directory is there for a mount below it that
// the caller may see.
func (w *Workspace) leadsToSeen(call Call, e entry) bool {
	return slices.ContainsFunc(w.shared.table, func(m governance.Mount) bool {
		return m.Name != e.path && under(m.Name, e.path) && call.Visible(m.Name)
	})
}

// shown is a path as the tools' answers have it.
func shown(path string) string {
	if path == governance.Root {
		return "/"
	}
	return path
}

// listing is an answer of one line per thing. A model is told in words when
// there are none; code gets the empty text.
func (c Call) listing(lines []string, none string) Result {
	if len(lines) == 0 && !c.Script {
		return Result{Text: none}
	}
	return Result{Text: strings.Join(lines, "\n")}
}

func runReadFile(ctx context.Context, w *Workspace, call Call, args arguments) (Result, error) {
	offset := args.int("offset", 0)
	if offset < 0 {
		return Result{}, badArgument("read_file", "'offset' must be 0 or more, not %d", offset)
	}
	limit := defaultLines
	if call.Script {
		limit = math.MaxInt
	}
	if limit = args.int("limit", limit); limit < 1 {
		return Result{}, badArgument("read_file", "'limit' must be 1 or more, not %d", limit)
	}
	p, err := w.named(call, args.text("file_path", ""))
	if err != nil {
		return Result{}, err
	}
	if slices.Contains(shownTypes, binaryName(p.path)) && !call.Script && call.ImageBytes > 0 {
		return showImage(p, call.ImageBytes)
	}
	lines, err := p.readLines(ctx, offset, limit)
	if err != nil {
		return Result{}, err
	}
	if offset > 0 && offset >= lines.total {
		return Result{}, refuse(p.path, nil, "has %s; offset %d is past its end", count(lines.total, "line"), offset)
	}
	answer := string(lines.text)
	if call.Script || lines.given == lines.total {
		return Result{Text: answer}, nil
	}
	if !strings.HasSuffix(answer, "\n") {
		answer += "\n"
	}
	end := offset + lines.given
	answer += fmt.Sprintf("[lines %d-%d of %d", offset+1, end, lines.total)
	if end < lines.total {
		answer += fmt.Sprintf("; continue with offset %d", end)
	}
	return Result{Text: answer + "]"}, nil
}

// count words a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// lineRange is a stretch of a text file.
type lineRange struct {
	text  []byte // the lines as they are, ends included
	given int    // lines in text
	total int    // lines of the file; a last one need not end
}

var (
	errNUL      = errors.New("holds a NUL")
	errTooLarge = errors.New("holds more than is handled at once")
)

// readLines reads limit lines of a text file from line offset on. It reads the
// whole file, to count its lines and to be sure that it is text, but holds no
// more than it gives, and that only up to maxFile bytes.
func (p place) readLines(ctx context.Context, offset, limit int) (lineRange, error) {
	file, info, err := p.open()
	if err != nil {
		return lineRange{}, err
	}
	defer file.Close()
	if mediaType := binaryName(p.path); mediaType != "" {
		return lineRange{}, notRead(p.path, mediaType, info.Size(), "")
	}
	r := bufio.NewReaderSize(file, 64<<10)
	head, _ := r.Peek(sniffed) // an error comes again with the first read
	head = bytes.Clone(head)
	var lines lineRange
	err = eachPiece(ctx, r, func(piece []byte, starts, ends bool) error {
		if isBinary(piece) {
			return errNUL
		}
		if starts {
			lines.total++
		}
		if line := lines.total - 1; line < offset || line-offset >= limit {
			return nil
		}
		if starts {
			lines.given++
		}
		if len(lines.text)+len(piece) > maxFile {
			return errTooLarge
		}
		lines.text = append(lines.text, piece...)
		return nil
	})
	switch {
	case errors.Is(err, errNUL):
		return lineRange{}, notRead(p.path, contentType(head), info.Size(), "")
	case errors.Is(err, errTooLarge):
		return lineRange{}, refuse(p.path, nil, "has more than %s in these lines; read fewer, or search it with grep", size(maxFile))
	case err != nil && ctx.Err() != nil:
		return lineRange{}, ctx.Err()
	case err != nil:
		return lineRange{}, translate(p.path, err)
	case !utf8.Valid(lines.text):
		return lineRange{}, notRead(p.path, "text that is not UTF-8", info.Size(), "")
	}
	return lines, nil
}

// eachPiece hands on what r holds in pieces that are lines or parts of lines,
// with their ends. A piece is valid during the call only.
func eachPiece(ctx context.Context, r *bufio.Reader, visit func(piece []byte, starts, ends bool) error) error {
	starts := true
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		piece, err := r.ReadSlice('\n')
		ends := err == nil
		if len(piece) > 0 {
			if err := visit(piece, starts, ends); err != nil {
				return err
			}
			starts = ends
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// showImage answers read_file on an image that the model is to be shown.
func showImage(p place, most int64) (Result, error) {
	mediaType, content, err := p.image(most)
	if err != nil {
		return Result{}, err
	}
	return Result{
		Text:  fmt.Sprintf("'%s' is an image (%s, %s) and is shown after these results", p.path, mediaType, size(int64(len(content)))),
		Image: p.path,
	}, nil
}

// Image reads a PNG, JPEG, GIF or WebP of at most the given bytes, to be shown
// to a model. The errors are *Error.
func (w *Workspace) Image(path string, most int64) (mediaType string, content []byte, err error) {
	p, err := w.at(path, toRead)
	if err != nil {
		return "", nil, err
	}
	return p.image(most)
}

func (p place) image(most int64) (mediaType string, content []byte, err error) {
	info, err := p.stat()
	if err != nil {
		return "", nil, err
	}
	named := binaryName(p.path)
	if !info.IsDir() && info.Size() > most {
		return "", nil, notRead(p.path, named, info.Size(), fmt.Sprintf("images up to %s are shown", size(most)))
	}
	content, err = p.read()
	if err != nil {
		return "", nil, err
	}
	mediaType = contentType(content)
	if !slices.Contains(shownTypes, mediaType) { // named like an image, or replaced since
		return "", nil, notRead(p.path, mediaType, info.Size(), "its content is no PNG, JPEG, GIF or WebP image")
	}
	return mediaType, content, nil
}
