package spec

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/diag"
)

// Import is a place at which a script asks for another module.
type Import struct {
	From  string     // the module, "" when it is computed
	Form  string     // import, export, import(), require()
	Range diag.Range // of the module's name, else of the keyword
}

// Allowed reports whether the import is a type carrier, which the sandbox
// strips: a static import of archmax's own names.
func (i Import) Allowed() bool {
	return i.Form == "import" && (i.From == "archmax" || i.From == "@archmax-ai/harness/sandbox")
}

// Imports finds what a script imports, in order: static imports, re-exports,
// import() and require(). Comments, strings, templates and regular expressions
// are passed over; it reads tokens, not grammar.
func Imports(src []byte) []Import {
	s := newSource(src)
	lex := &jsLexer{src: src}
	tokens := lex.all()
	var found []Import
	for i, t := range tokens {
		if t.kind != jsWord || i > 0 && tokens[i-1].is(".") || i > 0 && tokens[i-1].is("?.") {
			continue
		}
		next := func(n int) jsToken {
			if i+n < len(tokens) {
				return tokens[i+n]
			}
			return jsToken{}
		}
		at := s.span(t.from, t.to)
		switch {
		case (t.text == "import" || t.text == "require") && next(1).is("("):
			im := Import{Form: t.text + "()", Range: at}
			if arg := next(2); arg.kind == jsString && (next(3).is(")") || next(3).is(",")) {
				im.From, im.Range = arg.text, s.span(arg.from, arg.to)
			}
			found = append(found, im)
		case t.text == "import" && (next(1).kind == jsString || next(1).kind == jsWord || next(1).is("{") || next(1).is("*")):
			if im, ok := staticImport(s, tokens[i+1:]); ok {
				im.Form = "import"
				found = append(found, im)
			}
		case t.text == "export" && (next(1).is("{") || next(1).is("*")):
			if im, ok := staticImport(s, tokens[i+1:]); ok {
				im.Form = "export"
				found = append(found, im)
			}
		}
	}
	return found
}

// staticImport finds the module of a clause: the string itself, or the one
// behind `from`.
func staticImport(s *source, tokens []jsToken) (Import, bool) {
	if len(tokens) > 0 && tokens[0].kind == jsString {
		return Import{From: tokens[0].text, Range: s.span(tokens[0].from, tokens[0].to)}, true
	}
	for i, t := range tokens {
		switch {
		case t.kind == jsWord && t.text == "from" && i+1 < len(tokens) && tokens[i+1].kind == jsString:
			m := tokens[i+1]
			return Import{From: m.text, Range: s.span(m.from, m.to)}, true
		case t.kind == jsWord, t.kind == jsString, t.is("{"), t.is("}"), t.is("*"), t.is(","):
		default:
			return Import{}, false
		}
	}
	return Import{}, false
}

type jsKind int

const (
	jsPunctuation jsKind = iota + 1
	jsWord
	jsString
	jsOther // numbers, templates, regular expressions
)

type jsToken struct {
	kind     jsKind
	text     string // of a string: what is between the quotes
	from, to int
}

func (t jsToken) is(punctuation string) bool { return t.kind == jsPunctuation && t.text == punctuation }

// jsLexer splits JavaScript into tokens, well enough to tell code from text.
type jsLexer struct {
	src    []byte
	at     int
	tokens []jsToken
	braces []bool // open braces; true: of a template's ${
}

func (l *jsLexer) all() []jsToken {
	for l.at < len(l.src) {
		l.step()
	}
	return l.tokens
}

func (l *jsLexer) add(kind jsKind, from int, text string) {
	l.tokens = append(l.tokens, jsToken{kind, text, from, l.at})
}

func (l *jsLexer) step() {
	from := l.at
	c, size := utf8.DecodeRune(l.src[l.at:])
	switch {
	case unicode.IsSpace(c) || c == '\uFEFF':
		l.at += size
	case l.has("//"), l.has("#!") && from == 0:
		l.skipTo("\n")
	case l.has("/*"):
		l.at += 2
		l.skipTo("*/")
	case c == '"' || c == '\'':
		l.at++
		l.quoted(byte(c))
		l.add(jsString, from, strings.Trim(string(l.src[from:l.at]), string(c)))
	case c == '`':
		l.at++
		l.template(from)
	case c == '/' && l.regexpFits():
		l.regexp()
		l.add(jsOther, from, "")
	case unicode.IsLetter(c) || c == '_' || c == '$' || c == '\\':
		l.word()
		l.add(jsWord, from, string(l.src[from:l.at]))
	case unicode.IsDigit(c):
		l.word()
		l.add(jsOther, from, "")
	case c == '{':
		l.at++
		l.braces = append(l.braces, false)
		l.add(jsPunctuation, from, "{")
	case c == '}':
		l.at++
		if n := len(l.braces); n > 0 {
			inTemplate := l.braces[n-1]
			if l.braces = l.braces[:n-1]; inTemplate {
				l.template(from)
				return
			}
		}
		l.add(jsPunctuation, from, "}")
	case l.has("?."):
		l.at += 2
		l.add(jsPunctuation, from, "?.")
	case l.has("..."):
		l.at += 3
		l.add(jsPunctuation, from, "...")
	default:
		l.at += size
		l.add(jsPunctuation, from, string(c))
	}
}

func (l *jsLexer) has(s string) bool {
	return len(l.src)-l.at >= len(s) && string(l.src[l.at:l.at+len(s)]) == s
}

func (l *jsLexer) skipTo(end string) {
	i := strings.Index(string(l.src[l.at:]), end)
	if i < 0 {
		l.at = len(l.src)
		return
	}
	l.at += i + len(end)
}

func (l *jsLexer) quoted(quote byte) {
	for l.at < len(l.src) {
		c := l.src[l.at]
		l.at++
		switch c {
		case '\\':
			l.at = min(l.at+1, len(l.src))
		case quote, '\n':
			return
		}
	}
}

// template reads on in a template up to its end, or to the ${ of an expression,
// whose tokens are code.
func (l *jsLexer) template(from int) {
	for l.at < len(l.src) {
		switch {
		case l.src[l.at] == '\\':
			l.at = min(l.at+2, len(l.src))
			continue
		case l.src[l.at] == '`':
			l.at++
			l.add(jsOther, from, "")
			return
		case l.has("${"):
			l.at += 2
			l.braces = append(l.braces, true)
			l.add(jsPunctuation, from, "${")
			return
		}
		l.at++
	}
}

func (l *jsLexer) word() {
	for l.at < len(l.src) {
		c, size := utf8.DecodeRune(l.src[l.at:])
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '$' && c != '\\' {
			return
		}
		l.at += size
	}
}

// regexpFits tells a regular expression from a division by what comes before.
func (l *jsLexer) regexpFits() bool {
	if len(l.tokens) == 0 {
		return true
	}
	switch last := l.tokens[len(l.tokens)-1]; last.kind {
	case jsWord:
		switch last.text {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "yield", "await":
			return true
		}
		return false
	case jsString, jsOther:
		return false
	default:
		return !last.is(")") && !last.is("]") && !last.is("}")
	}
}

func (l *jsLexer) regexp() {
	l.at++
	class := false
	for l.at < len(l.src) && l.src[l.at] != '\n' {
		c := l.src[l.at]
		l.at++
		switch {
		case c == '\\':
			l.at = min(l.at+1, len(l.src))
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.word()
			return
		}
	}
}
