package cli

import (
	"context"
	"strings"
	"testing"
)

func TestGraphDrawsTextOnAConsoleAndMermaidOnAPipe(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		console    bool
		want       string
	}{
		{"a console", "", true, "text"},
		{"a pipe", "", false, "mermaid"},
		{"a console, asked for DOT", "--format dot", true, "dot"},
		{"a pipe, asked for text", "--format=text", false, "text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newTestDeps(t.TempDir(), nil, "")
			d.io.OutTTY = tt.console
			var got *graphOptions
			cmd := newGraphCmd(d.deps, func(_ context.Context, o *graphOptions) error { got = o; return nil })
			if err := parse(t, cmd, words(tt.args)...); err != nil {
				t.Fatal(err)
			}
			if got.Format != tt.want {
				t.Errorf("format %s, want %s", got.Format, tt.want)
			}
		})
	}
}

func TestGraphOnAConsoleHasBoxes(t *testing.T) {
	d := newTestDeps(greeter(t), nil, "")
	d.io.OutTTY, d.io.Width = true, 80
	if code := d.run("graph"); code != ExitOK {
		t.Fatalf("exit %d: %s", code, &d.err)
	}
	if out := d.out.String(); !strings.Contains(out, "╭────") || !strings.Contains(out, "agent, end") {
		t.Error(out)
	}
}
