// Package casetest runs the cases of a workflow (spec: cases.md): it parses
// `tests/**/*.test.yaml`, drives each case against the real runtime on a session
// of its own, holds the assertions against what came of it, and returns data. It
// prints nothing.
//
// A case is run by one goroutine, which makes its arrivals one after the other;
// up to Options.Jobs of them run at once. Run itself, on the goroutine that
// called it, gathers what they come to and is the only one that calls
// Options.Progress and Options.Result: in the order in which things happen the
// first, in the order of the cases the second. When Run returns, no goroutine of
// its is left.
//
// The suite is honest: a step that did not run is `not-executed`, never passed,
// and an answer that nobody wrote (a model's, a host tool's) is never made up.
package casetest
