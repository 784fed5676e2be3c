package workspace

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAttach(t *testing.T) {
	everywhere(t, nil, nil, func(t *testing.T, s *world) {
		for _, test := range []struct{ name, content, want string }{
			{"report.pdf", "1", "scratchpad/attachments/report.pdf"},
			{"./in/report.pdf", "2", "scratchpad/attachments/report-1.pdf"},
			{`C:\in\report.pdf`, "3", "scratchpad/attachments/report-2.pdf"},
			{"report-1.pdf", "4", "scratchpad/attachments/report-1-1.pdf"},
			{"a.tar.gz", "5", "scratchpad/attachments/a.tar.gz"},
			{"a.tar.gz", "6", "scratchpad/attachments/a.tar-1.gz"},
			{"README", "7", "scratchpad/attachments/README"},
			{"README", "8", "scratchpad/attachments/README-1"},
			{".profile", "9", "scratchpad/attachments/.profile"},
			{".profile", "10", "scratchpad/attachments/.profile-1"},
			{"../../日本.txt", "\x00\xff", "scratchpad/attachments/日本.txt"},
		} {
			got, err := Attach(s.files, test.name, []byte(test.content))
			if err != nil || got != test.want {
				t.Errorf("%s: %q %v, want %q", test.name, got, err, test.want)
				continue
			}
			s.holds(got, test.content)
		}
		for _, bad := range []string{"", ".", "..", "a/", `a\`, "a\nb", "a\x00", "a\xff", strings.Repeat("x", 241)} {
			if got, err := Attach(s.files, bad, nil); err == nil {
				t.Errorf("%q was placed at %s", bad, got)
			}
		}
	})
	t.Run("says what the system refused", func(t *testing.T) {
		if _, err := Attach(noFiles{}, "a", nil); !errors.Is(err, fs.ErrPermission) {
			t.Error(err)
		}
	})
}

func TestOffload(t *testing.T) {
	everywhere(t, nil, nil, func(t *testing.T, s *world) {
		t.Run("shows what fits as it is, and writes nothing", func(t *testing.T) {
			text := strings.Repeat("é", 300)
			got, err := Offload(s.files, 1, text, 300)
			if err != nil || got != text {
				t.Errorf("%q %v", got, err)
			}
			s.lacks("large_tool_results/1.txt")
		})
		t.Run("writes the whole of a longer one and shows head, size, path and tail", func(t *testing.T) {
			text := "HEAD " + strings.Repeat("é", 2000) + " TAIL"
			got, err := Offload(s.files, 7, text, 400)
			if err != nil {
				t.Fatal(err)
			}
			s.holds("large_tool_results/7.txt", text)
			if !strings.HasPrefix(got, "HEAD é") || !strings.HasSuffix(got, "é TAIL") {
				t.Errorf("no head or no tail: %q", got)
			}
			for _, word := range []string{"2010 characters", "3.9 KB", "large_tool_results/7.txt"} { // 2010 characters are 4010 bytes
				if !strings.Contains(got, word) {
					t.Errorf("%q does not say %q", got, word)
				}
			}
			if n := utf8.RuneCountInString(got); n > 400 || n < 390 || !utf8.ValidString(got) {
				t.Errorf("%d characters, valid %v", n, utf8.ValidString(got))
			}
			again, err := Offload(s.files, 7, text, 400)
			if err != nil || again != got {
				t.Errorf("not the same again: %q %v", again, err)
			}
		})
		t.Run("cuts between lines where they are short", func(t *testing.T) {
			text := strings.Repeat("0123456789\n", 500)
			got, err := Offload(s.files, 8, text, 500)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(strings.TrimSuffix(got, "\n")) {
				if line = strings.TrimSuffix(line, "\n"); line != "0123456789" && !strings.HasPrefix(line, "[") {
					t.Errorf("a broken line: %q", line)
				}
			}
		})
		t.Run("never shows more than it may", func(t *testing.T) {
			for max := range 150 {
				got, err := Offload(s.files, 9, strings.Repeat("日", 200), max)
				if err != nil || utf8.RuneCountInString(got) > max || !utf8.ValidString(got) {
					t.Errorf("%d: %q %v", max, got, err)
				}
			}
		})
	})
}

func TestStat(t *testing.T) {
	everywhere(t, library, libraryMounts(), func(t *testing.T, s *world) {
		s.put("scratchpad/a.txt", "four")
		for path, want := range map[string]Info{
			"/scratchpad/a.txt": {Path: "scratchpad/a.txt", Size: 4},
			"scratchpad":        {Path: "scratchpad", Dir: true},
			"catalogs":          {Path: "catalogs", Dir: true},
			"catalogs/eu/":      {Path: "catalogs/eu", Dir: true},
			"AGENTS.md":         {Path: "AGENTS.md", Size: 7},
			"/":                 {Path: ".", Dir: true},
		} {
			if got, err := s.w.Stat(path); err != nil || got != want {
				t.Errorf("%s: %+v %v", path, got, err)
			}
		}
		if _, err := s.w.Stat("scratchpad/none"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KB", 1536: "1.5 KB", 12 << 10: "12 KB", 10 << 20: "10 MB", 3 << 30: "3 GB", 5 << 40: "5120 GB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestMediaType(t *testing.T) {
	for _, test := range []struct{ name, head, want string }{
		{"a.PDF", "", "application/pdf"},
		{"a.md", "# x", "text/markdown"},
		{"a.json", "{}", "application/json"},
		{"a.svg", "<svg/>", "image/svg+xml"},
		{"a", "\x89PNG\r\n\x1a\n", "image/png"},
		{"a", "words", "text/plain"},
		{"a.unknown", "\x00\x01", "application/octet-stream"},
	} {
		if got := MediaType(test.name, []byte(test.head)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
