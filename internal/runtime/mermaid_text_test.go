package runtime

import "testing"

func TestATitleIsNoDirectiveOfMermaid(t *testing.T) {
	for title, want := range map[string]string{
		"%%{init: {}}%%": "#37;#37;{init: {}}#37;#37;",
		"50% off":        "50% off",
	} {
		if got := mermaidText(title); got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
}
