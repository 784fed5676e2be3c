//go:build !windows

package session

// sharingViolation reports an error that only Windows has.
func sharingViolation(error) bool { return false }
