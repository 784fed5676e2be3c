package cli

import (
	"bytes"
	"io"
	"testing"
)

func TestSecretsAreHidden(t *testing.T) {
	hidden := &secrets{}
	hidden.add("sk-secret-1234")
	hidden.add("sk-secret-1234-longer")
	hidden.add(`quo"ted-secret`)
	hidden.add("short") // under the length that is worth hiding
	for text, want := range map[string]string{
		"key sk-secret-1234.":          "key [redacted].",
		"sk-secret-1234-longer":        "[redacted]",
		`{"k":"quo\"ted-secret"}`:      `{"k":"[redacted]"}`,
		"short stays":                  "short stays",
		"sk-secret-123 is not the key": "sk-secret-123 is not the key",
	} {
		if got := hidden.hide(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestASecretSplitOverWritesIsHidden(t *testing.T) {
	const text, want = "a sk-secret-1234 b sk-sec", "a [redacted] b sk-sec"
	for size := 1; size < len(text); size++ {
		var out bytes.Buffer
		r := &redactor{secrets: &secrets{values: []string{"sk-secret-1234"}}, w: &out}
		for at := 0; at < len(text); at += size {
			if _, err := io.WriteString(r, text[at:min(at+size, len(text))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
}
