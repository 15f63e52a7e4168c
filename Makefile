# make, or make check, runs everything that continuous integration runs. make help lists the rest.

.DEFAULT_GOAL := check
# Each step uses every core by itself, and the tests' last lines are to be the last ones printed.
.NOTPARALLEL:

# Every module is built against its own go.mod, as its users build it, whatever workspace surrounds the checkout.
export GOWORK := off

# Every go.mod that exists and is not ignored, committed or not yet.
MODULES := $(patsubst %/,%,$(sort $(dir $(wildcard $(shell git ls-files -co --exclude-standard ':(glob)**/go.mod')))))
# tools holds no code of its own.
CODE := $(filter-out tools,$(MODULES))
ifeq ($(CODE),)
$(error no go.mod found: run make in the root of a git checkout)
endif

# Directory of conformance vectors to test against; unset, the tests use testdata. Tests run in their own directories,
# so a relative path is taken from here. Go's test cache does not watch files outside the module, hence -count=1.
ifneq ($(strip $(AWSRETRY_CONFORMANCE)),)
ifeq ($(filter /%,$(AWSRETRY_CONFORMANCE)),)
override AWSRETRY_CONFORMANCE := $(CURDIR)/$(AWSRETRY_CONFORMANCE)
endif
export AWSRETRY_CONFORMANCE
FRESH := -count=1
endif

# The race detector needs cgo, and cgo needs a C compiler: without one, do without both.
ifeq ($(shell [ "$$(go env CGO_ENABLED)" = 1 ] && set -- $$(go env CC) && command -v "$$1"),)
export CGO_ENABLED := 0
else
RACE := -race
endif

# A linter built with an older Go cannot read a newer one's packages, so each Go version gets its own build.
LINT := .bin/$(firstword $(shell go env GOVERSION))/golangci-lint
lint_here = "$(CURDIR)/$(LINT)"

ROUNDS ?= 10
SEEDS ?= 5
FUZZTIME ?= 10s

# $(call in,MODULES,COMMAND) is one recipe line for each module, so that make stops at the first that fails.
define in
$(foreach module,$(1),cd $(module) && $(2)
)
endef

.PHONY: check
check: fmt-diff lint vet vet-others tidy-diff fix-diff test test-386 allocs ## all of the checks below; the default

.PHONY: fmt-diff
fmt-diff: $(LINT) ## check the formatting
	$(lint_here) fmt --diff

.PHONY: lint
lint: $(LINT) ## run the linters of .golangci.yml
	$(call in,$(CODE),$(lint_here) run ./...)

.PHONY: vet
vet: ## run go vet
	$(call in,$(CODE),go vet ./...)

# vet compiles what it looks at, tests included, so this finds code that another system cannot build.
.PHONY: vet-others
vet-others: ## run go vet for windows, darwin and freebsd
	$(foreach os,windows darwin freebsd,$(call in,$(CODE),GOOS=$(os) CGO_ENABLED=0 go vet ./...))

.PHONY: tidy-diff
tidy-diff: ## check that every go.mod and go.sum is tidy
	$(call in,$(MODULES),go mod tidy -diff)

.PHONY: fix-diff
fix-diff: ## check for outdated idioms
	$(call in,$(CODE),go fix -diff ./...)

.PHONY: test
test: ## run the tests, with the race detector where there is a C compiler
	@[ -z "$$AWSRETRY_CONFORMANCE" ] || [ -d "$$AWSRETRY_CONFORMANCE" ] || \
		{ echo "AWSRETRY_CONFORMANCE is not a directory: $$AWSRETRY_CONFORMANCE" >&2; exit 1; }
	@[ -n "$(RACE)" ] || echo 'no cgo or no C compiler: the tests run without the race detector'
	$(call in,$(CODE),go test $(RACE) $(FRESH) ./...)

# Most Linux on amd64 runs programs for 386. TestMemory... measures memory, as allocs does, and TestSettles... plays a
# simulation of 20 seconds in which no number depends on the size of an int.
WITH_386 := GOOS=linux GOARCH=386 CGO_ENABLED=0
.PHONY: test-386
test-386: ## run the tests of the core module with an int of 32 bits, where this machine can
	$(WITH_386) go vet ./...
	@if $(WITH_386) go run ./cmd/awsretry version >/dev/null 2>&1; then \
		$(WITH_386) go test -skip '^Test(Memory|Settles)' $(FRESH) ./...; \
	else echo 'this machine does not run programs for linux/386: their tests are left out'; fi

# The race detector lets pools forget at random, so these tests are not part of a build with it.
.PHONY: allocs
allocs: ## run the tests that count allocations or memory, without the race detector
	go test -run 'Allocate|Memory' $(FRESH) ./...

.PHONY: fmt
fmt: $(LINT) ## format the code
	$(lint_here) fmt

.PHONY: tidy
tidy: ## tidy every go.mod and go.sum
	$(call in,$(MODULES),go mod tidy)

.PHONY: fix
fix: ## rewrite outdated idioms
	$(call in,$(CODE),go fix ./...)

.PHONY: bench
bench: ## measure small steps beside the peers, in ROUNDS rounds, and write bench/RESULTS.md; twelve minutes
	cd bench && go run ./report -rounds $(ROUNDS) micro

.PHONY: bench-effect
bench-effect: ## play everybody in virtual time, SEEDS times, and write bench/RESULTS-effect.md; five minutes
	cd bench && go run ./report -rounds $(SEEDS) effect

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME
	$(call in,$(CODE),"$(CURDIR)/scripts/fuzz" $(FUZZTIME))

.PHONY: work
work: ## write a go.work over all modules for editors; git ignores it and make does not use it
	rm -f go.work go.work.sum
	GOWORK="$(CURDIR)/go.work" go work init $(CODE)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

$(LINT): tools/go.mod tools/go.sum
	cd tools && CGO_ENABLED=0 go build -buildvcs=false -trimpath -o "../$@" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
