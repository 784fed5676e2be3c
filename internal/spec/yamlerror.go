package spec

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

// problem is a parser error in our words, at a place in the text.
type problem struct {
	code          diag.Code
	at            diag.Range
	message, hint string
}

// translation words one family of parser errors. find returns the bytes that
// are to blame, given how much the parser had read and the line it reported (1
// or more, early for some families; 0 for none).
type translation struct {
	says          []string // substrings of the library's message
	code          diag.Code
	message, hint string
	find          func(s *source, read, line int) (from, to int)
}

const (
	hintFlow  = "put a text that holds any of ? : , [ ] { } in quotes"
	hintQuote = "if the value is meant as text, put it in quotes"
)

var tabs = translation{[]string{"tab character"}, diag.Tab, "a tab is used for indentation", "indent with spaces", findTab}

var translations = []translation{
	{
		[]string{"mapping values are not allowed"},
		diag.Syntax,
		"a `: ` inside an unquoted value, or a key indented deeper than its neighbours", "put a value that holds `: ` in quotes, align the key, and check that the key above ends in a colon and a space", findColon,
	},
	tabs,
	{
		[]string{"sequence entries"},
		diag.Syntax,
		"a list item cannot start here", "start the list on its own line, or put the value in quotes", findLast("-"),
	},
	{[]string{"incompatible YAML", "%YAML directive"}, diag.Tag, "a YAML version directive is not supported", "remove it", findLast("%")},
	{
		[]string{"cannot start any token"},
		diag.Syntax,
		"no unquoted value may start with this character", "put the value in quotes", findStarter,
	},
	{
		[]string{"expected key", "'-' indicator", "expected ':'"},
		diag.Syntax,
		"this line does not fit what stands above it", "check the indentation, that each key ends in a colon and a space, and that nothing follows a closing quote or bracket", findLine,
	},
	{[]string{"',' or ']'"}, diag.Syntax, "this list in brackets is not closed, or lacks a comma", "close it with `]`, separate its items with commas, and " + hintFlow, findFlow},
	{[]string{"',' or '}'"}, diag.Syntax, "this mapping in braces is not closed, or lacks a comma", "close it with `}`, separate its keys with commas, and " + hintFlow, findFlow},
	{[]string{"end of stream", "document indicator"}, diag.Syntax, "this quoted text is not closed", "close the quote", findQuote},
	{
		[]string{"escape character", "hexdecimal", "escape code"},
		diag.Syntax,
		"a backslash in double quotes starts an escape, and this one is unknown", "write \\\\ for a backslash, or use single quotes", findLast(`\`),
	},
	{[]string{"unknown anchor"}, diag.Alias, "this alias names an anchor that is not defined above it", "define it, `&name`, or quote the text if it starts with *", findLast("*")},
	{[]string{"expected node content"}, diag.Syntax, "a value is missing, or a bracket is not closed", hintFlow, findFlow},
	{[]string{"keys are not allowed"}, diag.Syntax, "a value cannot start with `? `", hintQuote, findLast("?")},
	{[]string{"max depth"}, diag.Depth, "this is nested too deeply", "", findRead},
	{[]string{"tag", "directive"}, diag.Tag, "this YAML tag or directive cannot be read", hintQuote, findLast("!%")},
	{[]string{"comment or line break", "indentation indicator"}, diag.Syntax, "only an indentation digit, + or - may follow | or >", "start the text on the next line", findLast("|>")},
	{[]string{"alphabetic or numeric"}, diag.Syntax, "an anchor (&) or alias (*) needs a name", hintQuote, findLast("&*")},
}

var reportedLine = regexp.MustCompile(`^line ([0-9]+): `)

// locate words a parser error and finds its place. The library reports some
// lines early and some not at all, so the place comes from how far it had read,
// and from which shorter texts fail alike.
func locate(s *source, at stage, text string) problem {
	text = strings.TrimPrefix(text, "yaml: ")
	line := 0
	if m := reportedLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	read := min(bytesRead(s.text), len(s.text))
	if at == afterDocument || strings.Contains(text, "<document start>") {
		from, to := findLine(s, read, line)
		return problem{
			diag.Documents, s.span(from, to), "text stands after the end of the document",
			"keep one document in the file: remove what follows",
		}
	}
	for _, t := range translations {
		for _, says := range t.says {
			if strings.Contains(text, says) {
				from, to := t.find(s, read, line)
				if t.code == diag.Syntax && from < len(s.text) && s.text[from] == '\t' {
					t = tabs // the scanner says only that the character cannot start a value
				}
				return problem{t.code, s.span(from, to), t.message, t.hint}
			}
		}
	}
	from, to := findLine(s, read, line)
	return problem{diag.Syntax, s.span(from, to), "this is not valid YAML", hintQuote}
}

// findRead blames the last character read.
func findRead(s *source, read, _ int) (from, to int) {
	return max(0, read-1), read
}

// findLast blames the last of the given characters that was read, and what is
// attached to it.
func findLast(chars string) func(*source, int, int) (int, int) {
	return func(s *source, read, line int) (int, int) {
		i := bytes.LastIndexAny(s.text[:read], chars)
		if i < 0 {
			return findLine(s, read, line)
		}
		end := i + 1
		for end < len(s.text) && !isSpace(s.text[end]) {
			end++
		}
		return i, end
	}
}

// findColon blames the colon that cannot be one.
func findColon(s *source, read, line int) (from, to int) {
	for i := read - 1; i >= 0; i-- {
		if s.text[i] == ':' && (i+1 >= len(s.text) || isSpace(s.text[i+1]) || strings.IndexByte(",[]{}", s.text[i+1]) >= 0) {
			return i, i + 1
		}
	}
	return findLine(s, read, line)
}

// findTab blames the last tab read.
func findTab(s *source, read, line int) (from, to int) {
	if i := bytes.LastIndexByte(s.text[:read], '\t'); i >= 0 {
		return i, i + 1
	}
	return findLine(s, read, line)
}

// findStarter blames the reserved character the scanner stopped at.
func findStarter(s *source, read, line int) (from, to int) {
	if i := bytes.LastIndexAny(s.text[:read], "@`%\t"); i >= 0 {
		return i, i + 1
	}
	return findLine(s, read, line)
}

// findLine blames the line that breaks the structure. The scanner may have read
// past it, so the last line is taken without which the text still fails.
func findLine(s *source, read, _ int) (from, to int) {
	start := s.lineStart(max(0, read-1))
	for range 50 {
		shorter := s.text[:start]
		if start == 0 || !blank(s.text[start:read]) && yamlError(shorter) == "" {
			break
		}
		if !blank(s.text[start:read]) && !failsAlike(s, shorter) {
			break
		}
		read, start = start, s.lineStart(start-1)
	}
	line := s.rest(start)
	trimmed := bytes.TrimLeft(line, " \t")
	from = start + len(line) - len(trimmed)
	return from, from + len(bytes.TrimRight(trimmed, " \t"))
}

// failsAlike reports whether a beginning of the text fails in the same way as
// the whole of it, and not just for being cut off.
func failsAlike(s *source, beginning []byte) bool {
	whole, part := yamlError(s.text), yamlError(beginning)
	return reportedLine.ReplaceAllString(strings.TrimPrefix(whole, "yaml: "), "") ==
		reportedLine.ReplaceAllString(strings.TrimPrefix(part, "yaml: "), "")
}

// blank reports whether a text holds only space and comments.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// findFlow blames the opening bracket when the text ends inside it, else the
// place at which the parser gave up.
func findFlow(s *source, read, line int) (from, to int) {
	if open := unclosed(s.text[:read]); read >= len(s.text) && open >= 0 {
		return open, open + 1
	}
	return findLine(s, read, line)
}

// findQuote blames the quote that is never closed.
func findQuote(s *source, read, line int) (from, to int) {
	start := 0
	if line > 0 {
		start = s.offset(line, 1)
	}
	// The reported line is that of the opening quote, unless that is the first.
	if first := s.rest(0); yamlError(first) != "" && bytes.ContainsAny(first, `"'`) {
		start = 0
	}
	if i := bytes.IndexAny(s.rest(start), `"'`); i >= 0 {
		at := start
		for at < start+len(s.rest(start)) { // the last quote on the line that has no partner
			i := bytes.IndexAny(s.rest(at), `"'`)
			if i < 0 {
				break
			}
			open := at + i
			end := s.quotedEnd(open)
			if end > start+len(s.rest(start)) || end >= len(s.text) {
				return open, open + 1
			}
			at = end
		}
	}
	return findLine(s, read, line)
}

// unclosed returns the offset of the outermost bracket that a text leaves open,
// or -1. Quotes and comments are passed over; a quote opens only where a value
// can start.
func unclosed(text []byte) int {
	s := &source{text: text}
	var open []int
	valueStart := true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '"' || c == '\'') && valueStart:
			i = s.quotedEnd(i) - 1
			valueStart = false
		case c == '#' && (i == 0 || isSpace(text[i-1])):
			i += len(s.rest(i))
		case (c == '[' || c == '{') && (valueStart || len(open) > 0):
			open = append(open, i)
			valueStart = true
		case (c == ']' || c == '}') && len(open) > 0:
			open = open[:len(open)-1]
			valueStart = false
		case isSpace(c):
			valueStart = valueStart || c == '\n'
		default:
			valueStart = c == ':' || c == ',' || c == '-'
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[0]
}
