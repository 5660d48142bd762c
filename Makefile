# Granary's build. `make run` and `make test` do everything on a fresh Debian 12 with git, make, gcc and Go.
#
#   make           build build/granary and build/lib
#   make run       set up, build, run a real program on Granary and print its report
#   make test      set up, build, run every test that takes seconds
#   make test-programs   the long tests on real programs as well
#   make test-kernel     libgc.so.1's incremental mode under Debian 12's own kernel, in a virtual machine
#   make bench     the benchmark against the peers (CSV=FILE keeps the rows)
#   make install PREFIX=/usr/local

# ---- what the project needs of Debian: the one list -------------------------------------------------
PKG_BUILD    = gccgo binutils g++ libc6-dev
PKG_TEST     = libgc-dev python3 perl valgrind zlib1g-dev libpng-dev libsdl2-dev qemu-user-static
PKG_PROGRAMS = libpython3.11-testsuite redis-server redis-tools sqlite3 lua5.4 git xz-utils \
               guile-3.0 ecl w3m neko poke mmv chase stalin fauhdlc parser3-cgi goo crystal
PKG_BENCH    = libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0
# only for make test-programs
PKG_LONG     = nodejs postgresql nginx-light apache2-utils ffmpeg default-jdk-headless chromium \
               wine64 binutils-mingw-w64-x86-64 asymptote macaulay2 lilypond nix-bin
# only for make test-kernel; the kernels are unpacked below the build folder, not installed
PKG_KERNEL   = qemu-system-x86
KERNELS      = linux-image-cloud-amd64

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
.PHONY: all setup setup-long setup-kernel lib cli run test test-targets vet-targets test-windows test-programs \
        test-kernel bench install clean

all: lib cli

# ---- set-up -----------------------------------------------------------------------------------------
setup:
	@sh tools/setup.sh $(PACKAGES)
setup-long: setup
	@sh tools/setup.sh $(PKG_LONG)
setup-kernel: setup
	@sh tools/setup.sh $(PKG_KERNEL)
	@sh tools/kernels/fetch.sh $(B)/kernels $(KERNELS)

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
	GRANARY_BUILD=$(CURDIR)/$(B) $(GO) test -vet=off -timeout 20m ./...
	$(GO) test -tags granary_nolinkname ./heap/... ./linear/... ./managed/...
	CGO_ENABLED=0 $(GO) test -vet=off ./heap/...
	$(GO) test -gcflags=all=-d=checkptr=2 ./heap ./heap/heaptest
	GOEXPERIMENT=cgocheck2 $(GO) test ./heap ./heap/heaptest
	$(GO) test -vet=off -race ./heap/... ./object/... ./linear/... ./managed/... ./internal/core/guard/...
	cd heap/prometheus && $(GO) test ./...
	cd heap/modernc && $(GO) vet ./... && $(GO) test -vet=off ./... && $(GO) test -tags memory.counters ./...
	cd heap/modernc/sqlite && $(GO) vet ./... && $(GO) test -vet=off ./...
	cd heap/arrow && $(GO) vet ./... && $(GO) test -vet=off ./...
	cd heap/wazero && $(GO) vet ./... && $(GO) test -vet=off ./...
	cd heap/compare && $(GO) vet ./...
	cd bench/object && $(GO) vet ./... && $(GO) test -vet=off ./...
	$(MAKE) test-targets

# The Go packages that are for every system: compiled for each system and processor, go vet without a word, tests where
# they can run. granary_strict makes Linux do what other systems do; GOARCH=386 runs as it is. make test looks at each
# system and each processor with go vet once, and compiles the other pairs of them, which have no file of their own:
# go vet looks through Go's library as well for each target. make test-programs has go vet for all.
VET_64   = linux/arm64 darwin/arm64 windows/amd64
BUILD_64 = darwin/amd64 windows/arm64
VET_32   = linux/386
BUILD_32 = linux/arm windows/386
PORTABLE_64 = ./heap/... ./linear/... ./object/... ./managed/... ./internal/core/...
PORTABLE_32 = ./heap/... $(addprefix ./internal/core/,sys space heap guard coretest)
for_each = for target in $(1); do echo "go $(2) for $$target"; \
  GOOS=$${target%/*} GOARCH=$${target\#*/} CGO_ENABLED=0 $(GO) $(2) $(3) || exit 1; done
ELSEWHERE = export CGO_ENABLED=0; $(GO) test -vet=off -timeout 20m
test-targets: setup
	@$(call for_each,$(VET_64),vet,$(PORTABLE_64))
	@$(call for_each,$(VET_32),vet,$(PORTABLE_32))
	@$(call for_each,$(BUILD_64),build,$(PORTABLE_64))
	@$(call for_each,$(BUILD_32),build,$(PORTABLE_32))
	export GOARCH=arm64; $(ELSEWHERE) -exec qemu-aarch64-static ./heap ./linear ./object ./internal/core/guard
	export GOARCH=arm64; $(ELSEWHERE) -exec qemu-aarch64-static -run '^TestCore$$' ./internal/core/coretest
	export GOARCH=386; $(ELSEWHERE) ./heap ./internal/core/guard
	export GOARCH=386; $(ELSEWHERE) -run '^TestCore$$' ./internal/core/coretest
	$(GO) test -tags granary_strict ./heap ./linear ./object ./internal/core/guard
	$(GO) test -tags granary_strict -run '^TestCore$$' ./internal/core/coretest
vet-targets:
	@$(call for_each,$(VET_64) $(BUILD_64),vet,$(PORTABLE_64))
	@$(call for_each,$(VET_32) $(BUILD_32),vet,$(PORTABLE_32))
# The test that is left out runs the go command.
test-windows: setup-long
	export GOOS=windows GOARCH=amd64; $(ELSEWHERE) -p 1 -exec "sh $(CURDIR)/tools/wine/run.sh $(abspath $(B))/wine" \
	    -skip TestGoToolPprof ./heap ./linear ./object ./internal/core/guard
	export GOOS=windows GOARCH=amd64; $(ELSEWHERE) -p 1 -exec "sh $(CURDIR)/tools/wine/run.sh $(abspath $(B))/wine" \
	    -run '^TestCore$$' ./internal/core/coretest

test-programs: setup-long all
	GRANARY_BUILD=$(CURDIR)/$(B) $(GO) test -timeout 80m -count=1 -tags programs ./tools/programs/... ./report/...
	cd heap/modernc/sqlite && $(GO) test -timeout 30m -count=1 -tags programs ./...
	cd heap/arrow && $(GO) test -timeout 60m -count=1 -tags programs ./...
	$(GO) run ./examples/cache && $(GO) run ./examples/cache -go
	$(MAKE) vet-targets
	$(MAKE) test-windows

# Emulated, not run by the processor itself: it takes some minutes.
test-kernel: setup-kernel lib
	GRANARY_BUILD=$(CURDIR)/$(B) $(GO) test -v -timeout 60m -count=1 -tags kernels ./tools/kernels

bench: setup all
	$(B)/granary bench $(if $(CSV),--csv $(CSV))

clean:
	rm -rf $(B)
