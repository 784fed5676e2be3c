package runtime

import (
	"fmt"
	"strings"
)

// Coded is an error with the stable code that --json prints.
type Coded interface {
	error
	Code() string
}

// Error is a refusal of an arrival, or a failure before an Outcome exists,
// worded for a person. Nothing was changed.
type Error struct {
	ErrCode string // kebab-case
	Message string
	Hint    string
	Err     error
}

func (e *Error) Error() string {
	if e.Hint != "" {
		return strings.TrimRight(e.Message, ".") + "; " + e.Hint
	}
	return e.Message
}

// Code returns the stable code.
func (e *Error) Code() string { return e.ErrCode }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// NotParkedError says that a session does not await what reached it.
type NotParkedError struct {
	ID     string
	Wanted string // decision, input
	Status string
}

func (e NotParkedError) Error() string {
	return fmt.Sprintf("session %s awaits no %s (it is %s); `archmax sessions %s` shows it", e.ID, e.Wanted, e.Status, e.ID)
}

// Code returns the stable code.
func (e NotParkedError) Code() string { return "not-parked" }

// BadTargetError says that a decision names no edge of the pending record, or
// one that the workflow no longer has.
type BadTargetError struct {
	ID, State, To string
	Targets       []string // that may be decided now
	Changed       string   // what changed since the park, "" when nothing did
}

func (e BadTargetError) Error() string {
	msg := fmt.Sprintf("cannot decide %q on session %s (state %s)", e.To, e.ID, e.State)
	if e.Changed != "" {
		msg += ": " + e.Changed
	}
	if len(e.Targets) > 0 {
		msg += "; choose one of: " + strings.Join(e.Targets, ", ")
	}
	return msg
}

// Code returns the stable code.
func (e BadTargetError) Code() string { return "bad-target" }
