# SPDX-License-Identifier: Apache-2.0
# A thin front for Meson. `make help` lists the targets.
BUILD ?= build

.PHONY: all help
all: $(BUILD)/build.ninja ## build; the program is build/tare
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@meson setup $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
