package explain

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Reference writes docs/diagnostics.md: every entry in full.
func Reference(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Diagnostics and rules\n\n" +
		"<!-- Written by the tests of internal/explain with -update; do not edit. -->\n\n" +
		"What `archmax validate`, `run` and `test` say of a file, and the rules that governance answers a call with.\n" +
		"`archmax explain <code>` prints one of them.\n\n## Diagnostics\n\n")
	rules := false
	for _, e := range Entries() {
		if e.Kind == Rule && !rules {
			rules = true
			b.WriteString("## Rules of governance\n\nIn the order of the pipeline: the first rule that answers wins.\n\n")
		}
		fmt.Fprintf(&b, "### `%s`\n\n%s.\n", e.ID, sentence(e.Summary))
		if e.Meaning != "" {
			fmt.Fprintf(&b, "%s\n", e.Meaning)
		}
		fmt.Fprintf(&b, "\n```\n%s\n```\n\n", e.Example)
		if e.Good != "" {
			fmt.Fprintf(&b, "Instead:\n\n```\n%s\n```\n\n", e.Good)
		}
		fmt.Fprintf(&b, "Fix: %s\n\n", e.Fix)
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

// Text writes one entry for a person.
func (e Entry) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.\n", e.ID, e.Summary)
	if e.Meaning != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(e.Meaning))
	}
	fmt.Fprintf(&b, "\nExample:\n\n%s\n", indent(e.Example))
	if e.Good != "" {
		fmt.Fprintf(&b, "\nInstead:\n\n%s\n", indent(e.Good))
	}
	fmt.Fprintf(&b, "\nFix:\n\n%s\n", indent(wrap(e.Fix)))
	_, err := io.WriteString(w, b.String())
	return err
}

// List writes every id with its summary, a line each.
func List(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range Entries() {
		fmt.Fprintf(tab, "%s\t%s\n", e.ID, e.Summary)
	}
	return tab.Flush()
}

// sentence begins a summary with a capital, unless it begins with a name.
func sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if s == "" || s[0] < 'a' || s[0] > 'z' || strings.Contains(first, "_") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

const columns = 78

// wrap breaks a paragraph into lines for a terminal.
func wrap(text string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > columns {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
