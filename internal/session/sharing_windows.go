package session

import (
	"errors"
	"syscall"
)

// sharingViolation reports Windows' ERROR_SHARING_VIOLATION.
func sharingViolation(err error) bool { return errors.Is(err, syscall.Errno(32)) }
