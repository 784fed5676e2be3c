package spec

import "regexp"

var (
	slugPattern     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	variablePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// ValidSlug reports whether s may name a workflow or a state: lower-case
// letters, digits and single hyphens (language.md, "Slugs").
func ValidSlug(s string) bool { return slugPattern.MatchString(s) }

// ValidVariableName reports whether s may name a session variable.
func ValidVariableName(s string) bool { return variablePattern.MatchString(s) }

const (
	hintSlug     = "use lower-case letters, digits and single hyphens, as in `refund-review`"
	hintVariable = "use lower-case letters, digits and underscores, starting with a letter, as in `order_id`"
)
