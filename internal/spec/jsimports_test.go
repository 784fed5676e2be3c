package spec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImports(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string // form, module
	}{
		{"none", "export default async ({ tools }) => { await tools.read_file({}); }", nil},
		{"a default import", "import fs from 'node:fs'", []string{"import node:fs"}},
		{"a named import over lines", "import {\n  a as b,\n  c,\n} from \"x\";", []string{"import x"}},
		{"a namespace", "import * as x from './x.js'", []string{"import ./x.js"}},
		{"default and named", "import d, { e } from 'x'", []string{"import x"}},
		{"for its effect", "import 'x'", []string{"import x"}},
		{"a re-export", "export { a } from 'x'; export * from 'y'", []string{"export x", "export y"}},
		{"an export of one's own", "const a = 1; export { a }; const s = 'x'", nil},
		{"a dynamic import", "const m = await import('x')", []string{"import() x"}},
		{"a computed import", "import(name); import('a' + b)", []string{"import() ", "import() "}},
		{"require", "const x = require(\"fs\")", []string{"require() fs"}},
		{"a method named require or import", "a.require('x'); a?.import('x'); a.import('y')", nil},
		{"import.meta is no import", "console.log(import.meta)", nil},
		{"a key named import", "const a = { import: 'x', require: 'y' }", nil},
		{"comments", "// import 'x'\n/* require('y') */\n#!x\n", nil},
		{"strings", "const a = \"import 'x'\"; const b = 'require(\"y\")'", nil},
		{"an escaped quote", `const a = 'it\'s import "x"'`, nil},
		{"templates", "const a = `import 'x' ${ require('y') } import 'z' ${`${import('w')}`}`", []string{"require() y", "import() w"}},
		{"braces in a template's expression", "`${ {a: {}} } import 'x'`; import 'y'", []string{"import y"}},
		{"a regular expression with a quote", `const r = /["'/]/g; import 'x'`, []string{"import x"}},
		{"a regular expression in a call", `s.replace(/'/, ""); require('x')`, []string{"require() x"}},
		{"a division", "const a = b / c; const d = (e) / 2; import 'x'; /'/", []string{"import x"}},
		{"a hashbang", "#!/usr/bin/env node 'x\nimport 'y'", []string{"import y"}},
		{"allowed and foreign", "import { ok } from '@archmax-ai/harness/sandbox'\nimport 'archmax'\nimport 'z'", []string{"import @archmax-ai/harness/sandbox", "import archmax", "import z"}},
		{"an open string", "import 'x", []string{"import x"}},
		{"an open template", "`${", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, im := range Imports([]byte(tt.src)) {
				got = append(got, im.Form+" "+im.From)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOnlyTypeCarriersAreAllowed(t *testing.T) {
	for src, want := range map[string]bool{
		"import { ok } from '@archmax-ai/harness/sandbox'": true, "import type { X } from 'archmax'": true,
		"import 'archmax/x'": false, "import('archmax')": false, "require('archmax')": false, "export * from 'archmax'": false,
	} {
		found := Imports([]byte(src))
		if len(found) != 1 || found[0].Allowed() != want {
			t.Errorf("%s: %+v", src, found)
		}
	}
}
