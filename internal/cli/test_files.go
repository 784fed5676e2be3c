package cli

import (
	"bytes"
	"fmt"
	"os"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/render"
)

// coverageDoc is what --coverage=FILE writes.
type coverageDoc struct {
	Version   int                  `json:"version"`
	Workflows []*casetest.Coverage `json:"workflows"`
}

// reportFiles are the files that a suite is reported in. They are opened before
// the first case runs: a report that cannot be written must not be found out
// about when everything is over.
type reportFiles struct {
	d                   *deps
	junit, coverage     *os.File // nil: none
	junitAs, coverageAs string   // as given
}

func (o *testOptions) reports() (*reportFiles, error) {
	r := &reportFiles{d: o.deps, junitAs: o.JUnit, coverageAs: o.Coverage}
	if o.Coverage == "-" {
		r.coverageAs = ""
	}
	for _, f := range []struct {
		flag, name string
		to         **os.File
	}{{"--junit", r.junitAs, &r.junit}, {"--coverage", r.coverageAs, &r.coverage}} {
		if f.name == "" {
			continue
		}
		file, err := os.Create(o.deps.absolute(f.name))
		if err != nil {
			r.close()
			return nil, cannotWrite(f.flag, f.name, err)
		}
		*f.to = file
	}
	return r, nil
}

func cannotWrite(flag, name string, err error) error {
	return &failure{message: fmt.Sprintf("%s: cannot write %s: %s", flag, name, cause(err)), hint: "name a file that can be written", err: err}
}

// write fills the files, secrets hidden.
func (r *reportFiles) write(all *casetest.Suites) error {
	if r.junit != nil {
		text, err := casetest.JUnit(all.Suites...)
		if err != nil {
			return err
		}
		if err := r.put(r.junit, text); err != nil {
			return cannotWrite("--junit", r.junitAs, err)
		}
	}
	if r.coverage == nil {
		return nil
	}
	doc := coverageDoc{Version: render.Version, Workflows: []*casetest.Coverage{}}
	for _, s := range all.Suites {
		if s.Coverage != nil {
			doc.Workflows = append(doc.Workflows, s.Coverage)
		}
	}
	var b bytes.Buffer
	if err := render.JSON(&b, doc); err != nil {
		return err
	}
	if err := r.put(r.coverage, b.Bytes()); err != nil {
		return cannotWrite("--coverage", r.coverageAs, err)
	}
	return nil
}

func (r *reportFiles) put(file *os.File, text []byte) error {
	_, err := file.WriteString(r.d.secrets.hide(string(text)))
	return err
}

func (r *reportFiles) close() {
	for _, f := range []*os.File{r.junit, r.coverage} {
		if f != nil {
			_ = f.Close() // put has told what could not be written
		}
	}
}
