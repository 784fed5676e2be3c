package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// asker asks a person at the terminal. It owns standard input from the first
// question on.
type asker struct {
	ctx context.Context
	d   *deps
	in  *bufio.Reader
}

func newAsker(ctx context.Context, d *deps) *asker {
	return &asker{ctx: ctx, d: d, in: bufio.NewReader(d.io.In)}
}

// errNoAnswer is the end of standard input where an answer was due.
var errNoAnswer = &failure{code: "no-answer", message: "standard input ended before the question was answered", hint: "nothing was changed"}

// line asks one question. A signal ends the wait: the goroutine that reads
// stays behind until the process ends, which is then at once.
func (a *asker) line(question string) (string, error) {
	fmt.Fprint(a.d.io.Err, question)
	a.d.io.Flush()
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := a.in.ReadString('\n')
		got <- answer{text, err}
	}()
	select {
	case <-a.ctx.Done():
		fmt.Fprintln(a.d.io.Err)
		return "", context.Cause(a.ctx)
	case ans := <-got:
		if ans.err != nil && (ans.text == "" || !errors.Is(ans.err, io.EOF)) {
			fmt.Fprintln(a.d.io.Err)
			return "", errNoAnswer
		}
		return strings.TrimRight(ans.text, "\r\n"), nil
	}
}

// entry asks for one entry of a signature until the answer conforms, and adds
// it to the arrival.
func (a *asker) entry(e *spec.Entry, now time.Time, msg *runtime.Message) error {
	label := e.Name
	if e.Type != "" {
		label += " (" + e.Type + ")"
	}
	if e.Description != "" {
		label += " — " + e.Description
	}
	for {
		text, err := a.line(render.OneLine(label) + ": ")
		if err != nil {
			return err
		}
		if e.Type == "file" {
			content, err := (&input{ctx: a.ctx, dir: a.d.dir}).file(e.Name, text, maxFile)
			if err != nil {
				a.complain(err)
				continue
			}
			msg.Files = append(msg.Files, runtime.File{Name: e.Name, Base: filepath.Base(text), Content: content})
			return nil
		}
		raw := answerValue(e, text)
		issues := spec.Check([]*spec.Entry{e}, map[string]any{e.Name: session.Decode(raw)}, spec.CheckEnv{Now: now})
		if len(issues) > 0 {
			a.complain(errors.New(issues[0].Message))
			continue
		}
		msg.Variables = append(msg.Variables, runtime.Seed{Name: e.Name, Value: raw})
		return nil
	}
}

func (a *asker) complain(err error) {
	var usage *UsageError
	text := err.Error()
	if errors.As(err, &usage) {
		text = usage.Message
	}
	fmt.Fprintf(a.d.io.Err, "  %s\n", render.OneLine(text))
}

// answerValue is a typed answer as JSON: text for the types that are text, else
// the JSON that was typed (text when it is none, and the check will say so).
func answerValue(e *spec.Entry, text string) []byte {
	switch e.Type {
	case "integer", "number", "boolean", "object", "array":
		if raw, err := compactJSON(text); err == nil {
			return raw
		}
	}
	return quoteJSON(text)
}

// choose lets a person pick one of the pending record's edges, by number or by
// name.
func (a *asker) choose(p *session.Pending) (string, error) {
	for i, t := range p.Transitions {
		fmt.Fprintf(a.d.io.Err, "  %d  %s\n", i+1, render.OneLine(t.To))
	}
	for {
		text, err := a.line("decision (number or name): ")
		if err != nil {
			return "", err
		}
		text = strings.TrimSpace(text)
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(p.Transitions) {
			return p.Transitions[n-1].To, nil
		}
		for _, t := range p.Transitions {
			if t.To == text {
				return text, nil
			}
		}
		a.complain(fmt.Errorf("%q is no choice", text))
	}
}
