# SPDX-License-Identifier: Apache-2.0
# A thin front for Meson. `make help` lists the targets. A compiler is chosen with CC=clang.
BUILD ?= build
# make test san=address,undefined (or san=thread): the unit tests under sanitizers
san ?=
# make test stage=aarch64: one stage of it; an unknown name tells which there are
stage ?=
PREFIX ?= /usr/local
# make wheel ARCH=aarch64: for another machine than this one
CROSS := $(if $(ARCH),--arch $(ARCH))

.PHONY: all
all: $(BUILD)/build.ninja ## build what is installed; the program is build/tare
	@ninja -C $(BUILD) product

$(BUILD)/build.ninja:
	@tools/install-deps.sh build
	@meson setup $(BUILD)

.PHONY: test
test: ## every test, from a fresh machine; stage=clang: one stage; san=address,undefined: unit tests under sanitizers
	@tools/install-deps.sh test
	@tools/cuda-venv.sh >/dev/null || true # its tests skip with the reason
	@tools/axe.sh >/dev/null || true
	@tools/viewers.sh >/dev/null || true
	@tools/test-all.sh $(if $(san),--san $(san)) $(if $(stage),--stage $(stage)) $(BUILD)

.PHONY: test-long
test-long: $(BUILD)/build.ninja ## the long tests: 10 minutes of fuzzing, 1,000 kills, other people's programs
	@tools/install-deps.sh long
	@TARE_TEST_LONG=1 meson test -C $(BUILD) --setup long --suite long --print-errorlogs

.PHONY: check
check: $(BUILD)/build.ninja ## style, layers and the unit tests that are not slow; T='args json': these tests alone
	@$(if $(T),,tools/install-deps.sh check)
	@$(if $(T),meson test -C $(BUILD) --print-errorlogs $(T),tools/test-all.sh --quick $(BUILD))

.PHONY: demo
demo: all ## record a bundled program (real GPU, else simulated) and print its ledger
	@$(BUILD)/tare demo

.PHONY: dist
dist: ## dist/tare-VERSION-ARCH/: one folder to copy to any machine with glibc 2.27
	@tools/install-deps.sh $(if $(ARCH),cross,build)
	@tools/make-dist.sh $(CROSS)

.PHONY: wheel
wheel: ## a wheel for pip under dist/; ARCH=aarch64 here and in `make dist`: for arm64
	@tools/install-deps.sh $(if $(ARCH),cross,build)
	@dist=$$(tools/make-dist.sh $(CROSS)) && tools/make-wheel.py "$$dist" dist

.PHONY: install
install: ## into PREFIX (/usr/local), below DESTDIR
	@tools/install-deps.sh build
	@dist=$$(tools/make-dist.sh) && mkdir -p "$(DESTDIR)$(PREFIX)" && cp -R --preserve=mode,links \
		"$$dist/bin" "$$dist/include" "$$dist/lib" "$$dist/share" "$(DESTDIR)$(PREFIX)"

.PHONY: format
format: ## clang-format over the files that git knows
	@tools/install-deps.sh check
	@tools/check-format.sh --write

.PHONY: clean
clean: ## remove every build folder and dist/
	@rm -rf $(BUILD) build-* dist

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
