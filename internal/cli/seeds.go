package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// variableName is the shape of a variable's name (spec: runtime.md, Variables).
var variableName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkSeedName says what is wrong with a variable that the host supplies.
func checkSeedName(name string) error {
	switch {
	case !variableName.MatchString(name):
		return fmt.Errorf("%q is no variable name: use lower-case letters, digits and _, starting with a letter", name)
	case name == "trigger":
		return errors.New("the variable trigger is set by the runtime: use --trigger")
	}
	return nil
}

// assignment is one --var: a string, or with := any JSON value.
type assignment struct {
	name  string
	value json.RawMessage
}

// parseAssignment reads name=value or name:=json.
func parseAssignment(text string) (assignment, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return assignment{}, errors.New("give name=value, or name:=json for a value that is no string")
	}
	name, isJSON := strings.CutSuffix(name, ":")
	if err := checkSeedName(name); err != nil {
		return assignment{}, err
	}
	if isJSON {
		raw, err := compactJSON(value)
		if err != nil {
			return assignment{}, fmt.Errorf("the value of %s: %w", name, err)
		}
		return assignment{name, raw}, nil
	}
	if !utf8.ValidString(value) {
		return assignment{}, fmt.Errorf("the value of %s is no UTF-8 text", name)
	}
	return assignment{name, quoteJSON(value)}, nil
}

// assignments is the --var flag: any number of them, each name once.
type assignments []assignment

// Set implements pflag.Value.
func (a *assignments) Set(text string) error {
	one, err := parseAssignment(text)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(*a, func(o assignment) bool { return o.name == one.name }) {
		return fmt.Errorf("%s is given twice", one.name)
	}
	*a = append(*a, one)
	return nil
}

// String implements pflag.Value.
func (a *assignments) String() string { return "" }

// Type implements pflag.Value.
func (a *assignments) Type() string { return "name=value" }

// attachment is one --file.
type attachment struct{ name, path string }

// attachments is the --file flag.
type attachments []attachment

// Set implements pflag.Value.
func (a *attachments) Set(text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		return errors.New("give name=path: the variable, and the file it is to hold")
	}
	if err := checkSeedName(name); err != nil {
		return err
	}
	if slices.ContainsFunc(*a, func(o attachment) bool { return o.name == name }) {
		return fmt.Errorf("%s is given twice", name)
	}
	*a = append(*a, attachment{name, path})
	return nil
}

// String implements pflag.Value.
func (a *attachments) String() string { return "" }

// Type implements pflag.Value.
func (a *attachments) Type() string { return "name=path" }

// input reads what the command line refers to instead of holding it: "-" is
// standard input, which serves one argument only, and "@file" a file.
type input struct {
	ctx   context.Context // ends every read
	stdin io.Reader
	dir   string // relative paths start here
	taken string // the argument that standard input went to
}

// text returns the value of argument what: arg itself, or what it refers to.
func (in *input) text(what, arg string) (string, error) {
	var content []byte
	var from string
	switch {
	case arg == "-":
		if in.taken != "" {
			return "", usageErr("%s and %s cannot both be read from standard input", in.taken, what)
		}
		in.taken, from = what, "standard input"
		b, err := readAll(in.ctx, in.stdin, maxText)
		if err != nil {
			return "", in.unreadable(what, from, err)
		}
		content = b
	case strings.HasPrefix(arg, "@"):
		from = arg[1:]
		b, err := in.file(what, from, maxText)
		if err != nil {
			return "", err
		}
		content = b
	default:
		content, from = []byte(arg), "the argument"
	}
	if !utf8.Valid(content) {
		return "", usageErr("%s: %s is no UTF-8 text", what, from)
	}
	return strings.TrimPrefix(string(content), "\uFEFF"), nil
}

// file reads a file of at most limit bytes.
func (in *input) file(what, path string, limit int64) ([]byte, error) {
	if path == "" {
		return nil, usageErr("%s: @ needs a file name behind it", what)
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(in.dir, full)
	}
	b, err := readFile(in.ctx, full, limit)
	if err != nil {
		return nil, in.unreadable(what, "the file "+path, err)
	}
	return b, nil
}

// unreadable words the error of a read; a signal that ended it speaks for itself.
func (in *input) unreadable(what, from string, err error) error {
	if in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	return &UsageError{Message: fmt.Sprintf("%s: cannot read %s: %s", what, from, cause(err)), Err: err}
}

// message reads the words of an arrival: the arguments joined by a space, or
// what a single "-" or "@file" refers to, without its last line break.
func (in *input) message(args []string) (text string, has bool, err error) {
	if len(args) == 0 {
		return "", false, nil
	}
	text = strings.Join(args, " ")
	if len(args) == 1 {
		if text, err = in.text("the message", args[0]); err != nil {
			return "", false, err
		}
		if args[0] == "-" || strings.HasPrefix(args[0], "@") {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", false, usageErr("the message is empty")
	}
	if !utf8.ValidString(text) {
		return "", false, usageErr("the message is no UTF-8 text")
	}
	return text, true, nil
}

// seeds reads --variables and --var: first the object's members in their order,
// then the assignments, which replace members of the same name.
func (in *input) seeds(variables string, vars assignments) ([]runtime.Seed, error) {
	var seeds []runtime.Seed
	if variables != "" {
		text, err := in.text("--variables", variables)
		if err != nil {
			return nil, err
		}
		if seeds, err = parseObject(text); err != nil {
			return nil, usageErr("--variables: %s", err)
		}
	}
	for _, v := range vars {
		at := slices.IndexFunc(seeds, func(s runtime.Seed) bool { return s.Name == v.name })
		if at < 0 {
			seeds = append(seeds, runtime.Seed{Name: v.name, Value: v.value})
		} else {
			seeds[at].Value = v.value
		}
	}
	return seeds, nil
}

// seedValues are the variables of an arrival as plain values.
func seedValues(seeds []runtime.Seed) map[string]any {
	values := map[string]any{}
	for _, s := range seeds {
		values[s.Name] = session.Decode(s.Value)
	}
	return values
}

// files reads the --file flags. A variable may not be given as well.
func (in *input) files(list attachments, seeds []runtime.Seed) ([]runtime.File, error) {
	var files []runtime.File
	for _, a := range list {
		if slices.ContainsFunc(seeds, func(s runtime.Seed) bool { return s.Name == a.name }) {
			return nil, usageErr("--file %s: the variable is also given as a value; give it once", a.name)
		}
		content, err := in.file("--file "+a.name, a.path, maxFile)
		if err != nil {
			return nil, err
		}
		files = append(files, runtime.File{Name: a.name, Base: filepath.Base(a.path), Content: content})
	}
	return files, nil
}

// parseObject reads a JSON object of variables, in order, each name once.
func parseObject(text string) ([]runtime.Seed, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	open, err := dec.Token()
	if err != nil {
		return nil, jsonProblem(err)
	}
	if open != json.Delim('{') {
		return nil, errors.New(`give a JSON object, {"name": value, …}`)
	}
	seeds := []runtime.Seed{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, jsonProblem(err)
		}
		name, _ := key.(string) // an object's keys are strings
		if err := checkSeedName(name); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(seeds, func(s runtime.Seed) bool { return s.Name == name }) {
			return nil, fmt.Errorf("%q is given twice", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, jsonProblem(err)
		}
		if value, err = compactJSON(string(value)); err != nil {
			return nil, err
		}
		seeds = append(seeds, runtime.Seed{Name: name, Value: value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, jsonProblem(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more follows after the JSON object")
	}
	return seeds, nil
}

// compactJSON checks that text is one JSON value and takes its white space out.
func compactJSON(text string) (json.RawMessage, error) {
	if err := decodeJSON(text, new(any)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, jsonProblem(err)
	}
	return b.Bytes(), nil
}

// quoteJSON writes a string as JSON, without HTML escaping.
func quoteJSON(text string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string into memory cannot fail
	return bytes.TrimRight(b.Bytes(), "\n")
}

// jsonProblem words an error of encoding/json.
func jsonProblem(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	case errors.As(err, &syntax):
		return fmt.Errorf("no valid JSON at character %d", syntax.Offset)
	}
	return errors.New("no valid JSON")
}
