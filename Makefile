# make, or make check, runs what continuous integration runs for every push. make help lists the rest.

.DEFAULT_GOAL := check
# Every module is built against its own go.mod, as its users build it, whatever workspace surrounds the checkout.
export GOWORK := off
# Without the paths of this checkout in them, packages that another checkout has compiled serve here too.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath

# The directories with a go.mod. Programs use all of these modules but lab, on any system.
MODULES := $(patsubst %/,%,$(dir $(wildcard go.mod */go.mod */*/go.mod)))
RELEASED := $(filter-out lab,$(MODULES))

# Directory of conformance vectors to test against; unset, the tests use testdata. Tests run in their own directories,
# so a relative path is taken from here. Go's test cache does not watch files outside the module, hence -count=1.
ifneq ($(strip $(AWSRETRY_CONFORMANCE)),)
ifeq ($(filter /%,$(AWSRETRY_CONFORMANCE)),)
override AWSRETRY_CONFORMANCE := $(CURDIR)/$(AWSRETRY_CONFORMANCE)
endif
ifneq ($(shell [ -d "$(AWSRETRY_CONFORMANCE)" ] && echo yes),yes)
$(error AWSRETRY_CONFORMANCE is not a directory: $(AWSRETRY_CONFORMANCE))
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
BIN := .bin/$(firstword $(shell go env GOVERSION))
LINT := $(BIN)/golangci-lint
VET := $(BIN)/vet
lint_here = "$(CURDIR)/$(LINT)"
vet_here = "$(CURDIR)/$(VET)"

# Linters read what several modules depend on once in a workspace, instead of once for each. The file names the Go that
# has made it, and an older one refuses it.
WORK := $(BIN)/go.work
in_work = GOWORK="$(CURDIR)/$(WORK)"

ROUNDS ?= 10
SEEDS ?= 5
FUZZTIME ?= 10s
SOAK ?= 3m
# The folder of a module, . for the core, or folders in one; how many changes to draw, and the seed of the draw.
PART ?= .
N ?= 100
SEED ?= 1

# $(call in,MODULES,COMMAND) is one recipe line for each module, so that make stops at the first that fails.
define in
$(foreach module,$(1),cd $(module) && $(2)
)
endef

TOOLS := prometheus redis
# The tests come first: they say most, and the linter takes minutes to build. Two steps run at once, because each leaves
# a part of the processors idle: simulations are of one goroutine at a time.
STEPS := race no-race path test-386 vet-others tidy-diff release-check lint
# Compilers, linkers, the linter and simulations make much garbage, keep little and end soon: with a larger heap they need
# four fifths of the time.
$(STEPS): export GOGC := 400
.PHONY: check
check: ## run what continuous integration runs for every push; the default
	+@lab/scripts/steps 1 $(MAKE) $(TOOLS)
	+@lab/scripts/steps 2 $(MAKE) $(STEPS)

.PHONY: quick
quick: ## run the tests of the core, without the race detector; 12 s
	go test $(FRESH) ./...

.PHONY: test
test: ## run the tests of the modules that programs use, without the race detector; 26 s
	$(call in,$(RELEASED),go test -vet=off $(FRESH) ./...)

.PHONY: race
race: ## run the tests of all modules, with the race detector where there is a C compiler
	@[ -n "$(RACE)" ] || echo 'no cgo or no C compiler: the tests run without the race detector'
	$(call in,$(MODULES),go test -vet=off $(RACE) $(FRESH) -timeout 30m ./...)

.PHONY: no-race
no-race: ## run the tests that make race leaves out: allocations, texts, and simulations, of which those tagged long take longest
	lab/scripts/no-race $(MODULES)

.PHONY: lint
lint: $(LINT) $(WORK) ## check the formatting, and run go vet and the other linters of .golangci.yml
	$(in_work) $(lint_here) run $(MODULES:%=./%/...)

# vet looks at types, in tests too, so this finds code that another system cannot build.
.PHONY: vet-others
vet-others: $(WORK) $(VET) ## run the checks of go vet for windows and darwin
	$(in_work) GOOS=windows CGO_ENABLED=0 $(vet_here) $(RELEASED:%=./%/...)
	$(in_work) GOOS=darwin CGO_ENABLED=0 $(vet_here) $(RELEASED:%=./%/...)

.PHONY: tidy-diff
tidy-diff: ## check that every go.mod and go.sum is tidy
	$(call in,$(MODULES),go mod tidy -diff)

# Without these, the tests that need them are skipped; in continuous integration, where CI is set, they fail.
.PHONY: prometheus
prometheus: ## fetch promtool and prometheus into .bin for the tests of lab/telemetry, where there is apt-get
	@lab/scripts/prometheus >/dev/null || { [ -z "$$CI" ] && echo 'the tests with promtool and prometheus are left out'; }

.PHONY: redis
redis: ## fetch redis-server into .bin for the tests of fleet, where there is apt-get
	@lab/scripts/redis >/dev/null || { [ -z "$$CI" ] && echo 'the tests with redis-server are left out'; }

.PHONY: servers
servers: ## run the tests of fleet with redis-servers that fail in many ways and with 40 processes, adaptive mode with nginx, transactions with PostgreSQL and MariaDB, and what AWS tools read; five minutes
	lab/scripts/redis
	cd fleet && go test -count=1 -tags servers -parallel 8 -timeout 5m -p 1 ./servers ./example
	lab/scripts/nginx
	lab/scripts/aws-tools
	cd lab && go test -count=1 -tags servers -parallel 4 -v ./nginx ./anyfunction ./readers

# lab/scripts/sdk-changes OLD NEW prints the changes between any two versions of the SDK.
.PHONY: newest
newest: ## run the tests of awssdk with the newest releases that can be downloaded, and print what changed in the API of its retries
	lab/scripts/test-sdk

# Most Linux on amd64 runs programs for 386.
WITH_386 := GOOS=linux GOARCH=386 CGO_ENABLED=0
.PHONY: test-386
test-386: ## run the tests of the core module with an int of 32 bits, or only build them where this machine cannot
	@if $(WITH_386) go test -vet=off -run '^$$' ./internal/metrics >/dev/null 2>&1; then \
		set -x; $(WITH_386) go test -vet=off $(FRESH) -timeout 30m ./...; \
	else set -x; $(WITH_386) go vet ./...; fi

# Only a VERSION of the command line counts.
VERSION :=
.PHONY: release-check
release-check: ## check that the modules can be released as VERSION, by default as the one that they require
	lab/scripts/release-check $(VERSION)

.PHONY: fmt
fmt: $(LINT) ## format the code
	$(lint_here) fmt

.PHONY: tidy
tidy: ## tidy every go.mod and go.sum
	$(call in,$(MODULES),go mod tidy)

.PHONY: fix
fix: ## rewrite outdated idioms
	$(call in,$(MODULES),go fix -tags browser,long,servers,tables ./...)

.PHONY: path
path: ## compare the files that one retry runs through with the architecture page, and count what the smallest retry executes
	lab/scripts/path

.PHONY: bench
bench: ## measure small steps beside other libraries, in ROUNDS rounds, and print tables; 13 minutes
	ROUNDS=$(ROUNDS) lab/scripts/bench

.PHONY: bench-effect
bench-effect: ## play all libraries in virtual time, SEEDS times, and print tables; five and a half minutes
	cd lab/bench && go test -vet=off -count=1 -timeout 1h -v -run '^TestEffect$$' ./effect -all -seeds $(SEEDS)

.PHONY: soak
soak: ## play what was promised with two features at once, for SOAK; three minutes
	cd lab && go test -vet=off -count=1 -timeout 0 -run '^TestPromisesHoldWithTwoFeatures$$' ./promises -soak $(SOAK)

.PHONY: mutants
mutants: ## change PART in N places, one at a time, drawn with SEED, and print which test notices each first; ten minutes
	cd lab && go run ./mutants -in $(PART) -n $(N) -seed $(SEED)

.PHONY: never-worse
never-worse: ## play awsretry beside the plain SDK and print all rows; 35 s
	cd lab/sdktest && go test -vet=off -count=1 -tags long -v -run '^TestSimulatedNeverWorse$$' .

.PHONY: readme
readme: ## write the tables and the picture of README.md again, a failing table beside a healthy one; 23 s
	cd lab/sdktest && go test -vet=off -count=1 -tags long -run '^TestTablesOfTheReadme$$' . -update

.PHONY: pictures
pictures: ## draw the pictures of docs/modes.md again; half a minute
	cd lab && go test -vet=off -count=1 -p 1 -tags long -run '^(TestPicture.*|TestOneLostConnectionFailsNoCall)$$' ./pictures ./doors ./bench/effect -update

.PHONY: fleet-tables
fleet-tables: ## play fleets in virtual time and print their tables; a quarter of an hour
	cd fleet && go test -vet=off -count=1 -timeout 2h -tags tables -v -run '^TestTables$$' ./sim

# Without a Chromium on PATH, this fetches one of 100 MB the first time, with apt-get. It does not compare pictures, since
# the fonts of machines differ.
.PHONY: browser
browser: ## open the reports of awsretry simulate in Chromium and write the pictures of docs/simulate.md; a minute
	cd lab/telemetry && go test -count=1 -tags browser ./browser

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME
	$(call in,$(MODULES),"$(CURDIR)/lab/scripts/fuzz" $(FUZZTIME))

.PHONY: work
work: ## write a go.work over all modules for editors; git ignores it and make does not use it
	rm -f go.work go.work.sum
	GOWORK="$(CURDIR)/go.work" go work init $(MODULES)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' Makefile

# Without debug information these builds take less time and disk. That of the standard library stays, so that it is
# compiled once for all.
BUILD_TOOL = cd lab && go build -buildvcs=false -ldflags='-s -w' -gcflags=all=-dwarf=false -gcflags=std= -o "../$@"

$(WORK): $(MODULES:%=%/go.mod)
	rm -f $@ $@.sum
	mkdir -p $(@D)
	$(in_work) go work init $(MODULES)

$(LINT): lab/go.mod lab/go.sum
	$(BUILD_TOOL) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(VET): lab/go.mod lab/go.sum $(wildcard lab/vet/*.go)
	$(BUILD_TOOL) ./vet
