package casetest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
	Err      string      `xml:"system-err,omitempty"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	Class     string       `xml:"classname,attr"`
	File      string       `xml:"file,attr,omitempty"`
	Time      string       `xml:"time,attr"`
	Failure   *junitDetail `xml:"failure"`
	Error     *junitDetail `xml:"error"`
	Skipped   *junitDetail `xml:"skipped"`
	SystemOut string       `xml:"system-out,omitempty"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit is the suites as a JUnit XML document: a case that could not be carried
// through is an error, one whose assertions missed a failure. What is wrong with
// a suite beside its cases is an error of its own, so that no report is green
// when the exit code is not. Text is escaped,
// and what XML cannot hold (control characters) is replaced.
func JUnit(suites ...*Suite) ([]byte, error) {
	all := junitSuites{Name: "archmax"}
	var total int64
	for _, s := range suites {
		js, ms := junitOf(s)
		all.Suites = append(all.Suites, js)
		all.Tests += js.Tests
		all.Failures += js.Failures
		all.Errors += js.Errors
		all.Skipped += js.Skipped
		total += ms
	}
	all.Time = seconds(total)
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return nil, fmt.Errorf("the JUnit report cannot be written: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func junitOf(s *Suite) (junitSuite, int64) {
	js := junitSuite{Name: s.Workflow, Tests: len(s.Results), Err: s.Error}
	var total int64
	for _, r := range s.Results {
		c := junitCase{
			Name: r.ID, Class: s.Workflow, File: r.File, Time: seconds(r.DurationMs),
			SystemOut: strings.Join(r.Warnings, "\n"),
		}
		switch {
		case r.Status == Skipped:
			js.Skipped++
			c.Skipped = &junitDetail{Message: r.SkipReason}
		case r.Status == Failed && r.Error != "":
			js.Errors++
			c.Error = &junitDetail{Message: r.Error, Text: strings.Join(append([]string{r.Error}, r.Failures...), "\n")}
		case r.Status == Failed:
			js.Failures++
			c.Failure = &junitDetail{Text: strings.Join(r.Failures, "\n")}
			if len(r.Failures) > 0 {
				c.Failure.Message = r.Failures[0]
			}
		}
		js.Cases = append(js.Cases, c)
		total += r.DurationMs
	}
	if s.Error != "" {
		js.Tests++
		js.Errors++
		js.Cases = append(js.Cases, suiteCase(s))
	}
	js.Time = seconds(total)
	return js, total
}

// suiteCase is what is wrong with a suite beside its cases, as a case.
func suiteCase(s *Suite) junitCase {
	c := junitCase{Name: "(suite)", Class: s.Workflow, Time: seconds(0)}
	lines := []string{s.Error}
	for _, d := range s.Problems {
		if d.Severity != diag.Error {
			continue
		}
		if c.File == "" {
			c.File = d.File
		}
		lines = append(lines, d.Error())
	}
	c.Error = &junitDetail{Message: s.Error, Text: strings.Join(lines, "\n")}
	return c
}

func seconds(ms int64) string { return fmt.Sprintf("%d.%03d", ms/1000, ms%1000) }
