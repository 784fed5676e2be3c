// Package render turns events and data into what a person or a program reads:
// the state flow, the verdict, tables, transcripts and diagnostics for a
// person; JSON documents and JSON lines for a program (spec: cli.md, "What a
// person sees"; formats.md). It reads what others made and writes to the
// io.Writer it is given; it opens nothing and decides nothing. Only cli imports
// it.
//
// Text that came from a model, a tool or a file is neutralised before it is
// written for a person (Clean): it cannot drive the terminal. JSON escapes for
// itself.
//
// A Flow owns one goroutine, its spinner's, and only on a terminal: NewFlow
// starts it, Close ends it and waits for it. Everything else writes from the
// caller's goroutine.
package render

// Version is the version of every JSON document that this package shapes.
const Version = 1
