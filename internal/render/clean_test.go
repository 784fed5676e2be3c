package render

import "testing"

func TestCleanShowsWhatATerminalWouldObey(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain text stays", "Grüße, 日本 👩‍🚀", "Grüße, 日本 👩‍🚀"},
		{"line breaks stay", "a\nb\r\nc", "a\nb\nc"},
		{"escape", "\x1b[31mred", "^[[31mred"},
		{"a lone carriage return", "safe\rrm", "safe^Mrm"},
		{"bell, backspace, NUL, delete", "\a\b\x00\x7f", "^G^H^@^?"},
		{"C1 control", "\u009b2J", `\u009b2J`},
		{"reordering", "\u202egnp.exe\u2066", `\u202egnp.exe\u2066`},
		{"line and paragraph separators", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"broken UTF-8", "a\xffb", "a\uFFFDb"},
		{"a tab", "a\tb", "a    b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Clean(test.text); got != test.want {
				t.Errorf("Clean(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
	if got, want := OneLine(" a\n\n b\tc\u0085d "), "a b c d"; got != want {
		t.Errorf("OneLine = %q, want %q", got, want)
	}
}

func TestArgSummary(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"keys keep their order and numbers their digits", `{"z":1.50,"a":9007199254740993,"ok":true,"none":null}`, `z=1.50 a=9007199254740993 ok=true none=null`},
		{"a word is bare, a phrase quoted", `{"path":"/a/b.md","text":"two words","empty":""}`, `path=/a/b.md text="two words" empty=""`},
		{"line breaks fold", `{"code":"let a = 1\nreturn a"}`, `code="let a = 1 return a"`},
		{"nested values are compact", `{"o": {"b": [1, 2]}}`, `o={"b":[1,2]}`},
		{"a long value is cut at 48 columns", `{"t":"0123456789012345678901234567890123456789012345678901234567890"}`, `t="01234567890123456789012345678901234567890123456…"`},
		{"no arguments", `{}`, ``},
		{"a string, which is what unparseable arguments come as", `"{not json"`, `"{not json"`},
		{"nothing", ``, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := ArgSummary(raw(test.args)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
