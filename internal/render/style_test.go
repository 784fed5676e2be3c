package render

import (
	"bytes"
	"os"
	"testing"
)

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

func TestColourAndGlyphsNeedATerminalAndAnUnsetNoColor(t *testing.T) {
	tests := []struct {
		name string
		tty  bool
		env  map[string]string
		want Style
	}{
		{"a terminal has colour, glyphs and a width", true, nil, Style{Color: true, Glyphs: true, TTY: true, Width: 90, Console: true}},
		{"a pipe has none of them", false, nil, Style{}},
		{"NO_COLOR takes colour and glyphs from a terminal", true, map[string]string{"NO_COLOR": "1"}, Style{TTY: true, Width: 90, Console: true}},
		{"an empty NO_COLOR counts as unset", true, map[string]string{"NO_COLOR": ""}, Style{Color: true, Glyphs: true, TTY: true, Width: 90, Console: true}},
		{"CLICOLOR_FORCE colours a pipe, which still has no cursor", false, map[string]string{"CLICOLOR_FORCE": "1"}, Style{Color: true, Glyphs: true}},
		{"CLICOLOR_FORCE wins over NO_COLOR", true, map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, Style{Color: true, Glyphs: true, TTY: true, Width: 90, Console: true}},
		{"CLICOLOR_FORCE=0 forces nothing", false, map[string]string{"CLICOLOR_FORCE": "0"}, Style{}},
		{"a dumb terminal has a width and nothing else", true, map[string]string{"TERM": "dumb"}, Style{Width: 90, Console: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := NewStyle(test.tty, 90, lookup(test.env)); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestPlainKeepsTheTerminalButTakesColourAndGlyphs(t *testing.T) {
	if got, want := console.Plain(), (Style{TTY: true, Width: 80, Console: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAFileAndABufferAreNoTerminals(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := Detect(f, lookup(nil)); got != (Style{}) {
		t.Errorf("a file: %+v", got)
	}
	if got := Detect(&bytes.Buffer{}, lookup(nil)); got != (Style{}) {
		t.Errorf("a buffer: %+v", got)
	}
}

func TestCutMeasuresWideCharacters(t *testing.T) {
	tests := []struct {
		text string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"}, // 2+2, and one for the mark
		{"日本語", 4, "日…"},  // half a character is none
		{"xy", 1, "…"},
		{"anything", 0, "anything"},
	}
	for _, test := range tests {
		if got := cut(test.text, test.n); got != test.want {
			t.Errorf("cut(%q, %d) = %q, want %q", test.text, test.n, got, test.want)
		}
	}
}
