#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME each (default 10s), one
# after the other. The saved seeds run as ordinary tests in `make test`.
set -eu
cd "$(dirname "$0")/.."

go=${GO:-go}
time=${FUZZTIME:-10s}
found=0

for pkg in $("$go" list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...); do
	listed=$("$go" test -list '^Fuzz' "$pkg")
	for target in $(printf '%s\n' "$listed" | grep '^Fuzz' || true); do
		found=$((found + 1))
		echo "fuzz: $target in $pkg for $time"
		"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$pkg"
	done
done

if [ "$found" -eq 0 ]; then
	echo "fuzz: no target found" >&2
	exit 1
fi
