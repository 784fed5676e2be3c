GO ?= go
FUZZTIME ?= 10s

.PHONY: build test seeds race golden lint fuzz bench demo example clean

## build: the program, as bin/archmax
build:
	$(GO) build -trimpath -o bin/archmax ./cmd/archmax

## test: every test; needs nothing but Go
test:
	$(GO) test -timeout 5m ./...

## race: every test again under the race detector (needs a C compiler)
race:
	CGO_ENABLED=1 $(GO) test -race -timeout 10m ./...

## golden: writes the golden files anew, in every package that has the switch
golden:
	$(GO) test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

## lint: formatting, vet, staticcheck
lint:
	@unformatted="$$(gofmt -l .)"; \
	if [ -n "$$unformatted" ]; then echo "gofmt these files:"; echo "$$unformatted"; exit 1; fi
	@unformatted="$$($(GO) tool gofumpt -l .)"; \
	if [ -n "$$unformatted" ]; then echo "gofumpt these files (go tool gofumpt -w FILE):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

## seeds: the seeds and the kept finds of every fuzz target
seeds:
	$(GO) test -run '^Fuzz' ./...

## fuzz: every fuzz target for FUZZTIME (10s)
fuzz:
	GO="$(GO)" FUZZTIME="$(FUZZTIME)" sh scripts/fuzz.sh

## bench: the benchmarks
bench:
	$(GO) test -run '^$$' -bench . -benchmem -timeout 20m ./...

## example: the example workspace: its checks, warnings failing too, and its
## cases, which must take every edge
example: build
	bin/archmax validate --strict
	bin/archmax test --coverage-min 100

## demo: four scenes of the example workspace, offline
demo: build
	sh scripts/demo.sh

## clean: what the targets above leave behind
clean:
	rm -rf bin
