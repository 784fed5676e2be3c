package spec

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestExp(t *testing.T) {
	b, _ := os.ReadFile("/tmp/y/cases.txt")
	for _, c := range strings.Split(string(b), "\n=====\n") {
		c = strings.NewReplacer("\\t", "\t", "\\r", "\r", "\\0", "\x00", "\\xef", "\xef").Replace(c)
		fmt.Printf("-----\n%s\n", c)
		fmt.Println("  RAW:", yamlError([]byte(c)), "read", bytesRead([]byte(c)), "of", len(c))
		_, l := ReadYAML("f", []byte(c))
		for _, d := range l {
			fmt.Println("  >>", d.Error(), "|", d.Hint)
		}
	}
}
func TestExpPerf(t *testing.T) {
	for n, s := range map[string]string{
		"[20000": strings.Repeat("[", 20000), "[9999": strings.Repeat("[", 9999), "[9000]": strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"{a:": strings.Repeat("{a: ", 20000), "- ": strings.Repeat("- ", 20000), "? ": strings.Repeat("? ", 20000), "-nest": func() string {
			b := ""
			for i := 0; i < 3000; i++ {
				b += strings.Repeat(" ", i) + "a:\n"
			}
			return b
		}(),
		"commas": "[" + strings.Repeat("1,", 200000) + "]", "ucommas": "[é" + strings.Repeat(",1", 200000) + "]", "comments": "a: 1\n" + strings.Repeat("# x\n", 100000), "comments2": strings.Repeat("# x\n", 50000) + "a:\n" + strings.Repeat("  # y\n\n", 50000) + "  b: 1",
		"quote": "a: \"" + strings.Repeat("x\n", 100000), "keys": func() string {
			b := strings.Builder{}
			for i := 0; i < 50000; i++ {
				fmt.Fprintf(&b, "k%d: v\n", i)
			}
			return b.String()
		}(),
		"badend": func() string {
			b := strings.Builder{}
			for i := 0; i < 20000; i++ {
				fmt.Fprintf(&b, "k%d: v\n", i)
			}
			return b.String() + "x: a: b\n"
		}(),
		"badend2": func() string {
			b := strings.Builder{}
			for i := 0; i < 20000; i++ {
				fmt.Fprintf(&b, "k%d: v\n", i)
			}
			return b.String() + "x\n\n# c\n\ny: 1\n"
		}(),
		"bomb": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
	} {
		st := time.Now()
		_, l := ReadYAML("f", []byte(s))
		el := time.Since(st)
		var m string
		if len(l) > 0 {
			m = l[0].Error()
		}
		fmt.Println(n, el, len(l), m)
	}
}
