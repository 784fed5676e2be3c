#!/bin/sh
# Plays four scenes of the example workspace with recorded model answers: no
# network, no key. Sessions go to a temporary directory, so the checkout stays
# clean. The script fails when a scene does not end as it should.
set -u
cd "$(dirname "$0")/.."

unset ARCHMAX_ROOT ARCHMAX_CASSETTE
ARCHMAX_SESSIONS=$(mktemp -d) || exit 1
export ARCHMAX_SESSIONS
trap 'rm -rf "$ARCHMAX_SESSIONS"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

scene() {
	printf '\n== %s\n' "$1"
}

# play STATUS ARGUMENT…: prints the command as one would type it, runs it, and
# ends the demo when the exit status is another.
play() {
	want=$1
	shift
	printf '\n$ archmax'
	for arg in "$@"; do
		case $arg in
		*[!A-Za-z0-9./=:_-]*) printf ' "%s"' "$arg" ;;
		*) printf ' %s' "$arg" ;;
		esac
	done
	printf '\n\n'
	got=0
	bin/archmax "$@" || got=$?
	if [ "$got" -ne "$want" ]; then
		printf '\ndemo: the scene failed: exit status %s, wanted %s\n' "$got" "$want" >&2
		exit 1
	fi
}

# With --exit-status a parked session exits 3, so each scene can be checked.
completed=0
parked=3

scene "1. A question is answered"
play $completed run order-lookup "Where is my order ORD-1003?" \
	--session demo-answer --cassette testdata/cassettes/answer.yaml --exit-status

scene "2. A refund request stops for a person's decision"
play $parked run order-lookup "The grinder of order ORD-1002 came with a cracked hopper. I want my money back." \
	--session demo-refund --cassette testdata/cassettes/refund.yaml --exit-status

scene "3. Another process, perhaps days later: the person reads the memo and decides"
play 0 sessions cat demo-refund refunds/ORD-1002.md
play $completed decide demo-refund --to refund-issued --by dana --comment "Damaged on arrival, paid in full." \
	--cassette testdata/cassettes/refund.yaml --exit-status

scene "4. A question that waits for the customer's reply, and the reply delivered"
play $parked run order-lookup "Has my rain jacket been sent?" \
	--session demo-wait --cassette testdata/cassettes/wait.yaml --exit-status
play $completed deliver demo-wait --trigger manual --message "It is ORD-1004." \
	--cassette testdata/cassettes/wait.yaml --exit-status

scene "What is on record"
play 0 sessions
