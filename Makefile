# make demo   runs the main job on embedded parts
# make test   everything that proves the product (also what CI runs)
# make help   lists the rest

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
# The detector's pointer checks cost more than all the rest in SQLite, which was translated from C.
RACE        ?= -gcflags='modernc.org/...=-d=checkptr=0'
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
export GOFLAGS ?= -buildvcs=false

# Recorded provider traffic lies beside the repository. Where it is, the tests that play it may not be skipped; where it is not, they
# say so one by one, and the last line of `make test` says it for all (internal/wire/protocol/recorded).
TRANSCRIPTS := $(wildcard ../shared/transcripts/*/*.json)
export RUBICON_REQUIRE_TRANSCRIPTS ?= $(if $(TRANSCRIPTS),1)

# Runs a command with a PostgreSQL of its own, see internal/store/pgtest.
WITH_POSTGRES = $(GO) run ./internal/store/pgtest/with --

.PHONY: help demo build test test-all lint bench clients postgres lock agents

help:
	@sed -n 's/^\([a-z-]*\):.*## /  make \1  \t/p' $(MAKEFILE_LIST)

# Not by `go run`, which calls every end by a signal a failure. On a terminal the demo gets a process group of its own, so that Ctrl-C
# reaches it and not make: it ends well, and so does make.
demo: build ## run the main job on embedded parts: a replayed stream, a cut one, their money
	@if [ -t 0 ]; then set -m; bin/rubicon demo; else exec bin/rubicon demo; fi

build: ## one static binary, bin/rubicon
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.stamped=$(VERSION)" -o bin/rubicon ./cmd/rubicon

lint: ## go vet and staticcheck
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

clients: test/clients/node_modules ## install the client SDKs that the tests talk through

test/clients/node_modules: test/clients/package-lock.json
	cd test/clients && npm ci --no-audit --no-fund --silent
	@touch $@

postgres: ## PostgreSQL's programs, installed if they are missing
	@command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || \
		{ apt-get update -q && apt-get install -y -q --no-install-recommends postgresql; } || \
		{ echo "install PostgreSQL 15 (initdb and postgres): the tests run on it too" >&2; exit 1; }

agents: test/agents/node_modules ## run codex, Claude Code and opencode through the gateway; writes docs/agents.md
	RUBICON_AGENTS=1 $(GO) test -count=1 -timeout 90m -parallel 4 -v ./test/agents

test/agents/node_modules: test/agents/package-lock.json
	cd test/agents && npm ci --no-audit --no-fund --silent
	@touch $@

test: lint clients postgres ## the whole proof: lint, every test under the race detector, the behaviour lock
	$(WITH_POSTGRES) $(GO) test -race $(RACE) ./...
	$(WITH_POSTGRES) $(GO) test ./internal/app ./lock # the simulated day, the full counts, every scenario: too slow under the race detector
	$(GO) run ./lock/check
	$(GO) run ./lock/mutate -small
	$(if $(TRANSCRIPTS),,@echo "NO TRANSCRIPTS: the tests that play recorded provider traffic were skipped, since ../shared/transcripts is not there")

test-all: test ## what takes longer too
	RUBICON_TEST_ALL=1 $(WITH_POSTGRES) $(GO) test -count=1 -timeout 60m ./...
	RUBICON_TEST_ALL=1 $(GO) test -race $(RACE) -count=1 -timeout 30m ./lock
	RUBICON_TEST_STORE=postgres $(WITH_POSTGRES) $(GO) test -count=1 -timeout 30m ./test/e2e
	$(GO) run ./lock/mutate

bench: ## decoder, relay, decision, money on both databases (see docs/bench.md)
	$(GO) test -run '^$$' -bench . -benchmem ./internal/wire/sse ./internal/wire/jsonscan ./internal/engine/replay ./internal/engine/turn
	$(GO) run ./internal/store/pgtest/with -durable -- $(GO) test -run '^$$' -bench . -benchtime 5s ./internal/engine/meter
