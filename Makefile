# Granary's build. `make run` and `make test` do everything on a fresh Debian 12 with git, make, gcc and Go.
#
#   make           build build/granary and build/lib
#   make run       set up, build, run a real program on Granary and print its report
#   make test      set up, build, run every test that takes seconds
#   make test-programs   the long tests on real programs as well
#   make bench     the benchmark against the peers (CSV=FILE keeps the rows)
#   make install PREFIX=/usr/local

# ---- what the project needs of Debian: the one list -------------------------------------------------
PKG_BUILD    = gccgo binutils g++ libc6-dev
PKG_TEST     = python3 perl valgrind zlib1g-dev libpng-dev libsdl2-dev
PKG_PROGRAMS = libpython3.11-testsuite redis-server redis-tools sqlite3 lua5.4 git xz-utils
PKG_BENCH    = libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0
# only for make test-programs
PKG_LONG     = nodejs postgresql nginx-light apache2-utils ffmpeg default-jdk-headless chromium

PACKAGES     = $(PKG_BUILD) $(PKG_TEST) $(PKG_PROGRAMS) $(PKG_BENCH)

# ---- directories and tools --------------------------------------------------------------------------
PREFIX  ?= /usr/local
DESTDIR ?=
B       := build
GO      ?= go
GCCGO   ?= gccgo
CC      := gcc
VERSION := 0.1.0

.DEFAULT_GOAL := all
.PHONY: all setup setup-long lib cli run test test-go test-programs bench install clean

all: lib cli

# ---- set-up -----------------------------------------------------------------------------------------
setup:
	@sh tools/setup.sh $(PACKAGES)
setup-long: setup
	@sh tools/setup.sh $(PKG_LONG)

include clib/build.mk

cli: $(B)/granary
$(B)/granary: $(shell find cmd internal report bench -name '*.go' 2>/dev/null) go.mod | $(B)
	$(GO) build -trimpath -ldflags "-X main.version=$(VERSION)" -o $@ ./cmd/granary
$(B):
	@mkdir -p $@

# ---- jobs -------------------------------------------------------------------------------------------
run: setup all
	PYTHONMALLOC=malloc $(B)/granary run -- /usr/bin/python3 examples/python/words.py

test: setup all
	$(GO) vet ./...
	GRANARY_BUILD=$(CURDIR)/$(B) $(GO) test -timeout 20m ./...
	$(GO) test -tags granary_nolinkname ./heap/... ./managed/...
	$(GO) test -race ./heap/... ./managed/... ./internal/core/guard/...
	cd heap/prometheus && $(GO) test ./...
	cd heap/modernc && $(GO) vet ./... && $(GO) test ./... && $(GO) test -tags memory.counters ./...
	cd heap/modernc/sqlite && $(GO) vet ./... && $(GO) test ./...
	cd heap/wazero && $(GO) vet ./... && $(GO) test ./...
	cd heap/compare && $(GO) vet ./...

test-programs: setup-long all
	GRANARY_BUILD=$(CURDIR)/$(B) $(GO) test -timeout 60m -count=1 -tags programs ./tools/programs/... ./report/...
	cd heap/modernc/sqlite && $(GO) test -timeout 30m -count=1 -tags programs ./...

bench: setup all
	$(B)/granary bench $(if $(CSV),--csv $(CSV))

clean:
	rm -rf $(B)
