#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Static analysis of what is shipped. What it is wrong about stands in tools/cppcheck.txt, with a reason.
#   tools/check-cppcheck.sh BUILD_DIR
# What it found of a file that has not changed is kept below BUILD_DIR.
# Exit codes: 0 nothing found; 1 this; 77 there is no cppcheck here.
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}

command -v cppcheck >/dev/null || { echo "skipped: not installed: cppcheck"; exit 77; }
mapfile -t files < <(git ls-files 'src/*.c' 'simgpu/*.c' 'examples/*.c' | while read -r file; do
	[ ! -e "$file" ] || echo "$file"
done)
[ ${#files[@]} -gt 100 ] || { echo "only ${#files[@]} files found"; exit 1; }
# One machine, so that there is one configuration; ElfW is glibc's, whose headers are not read.
mkdir -p "$build/cppcheck"
cppcheck --quiet --error-exitcode=1 --language=c --std=c11 --platform=unix64 -j "$(nproc)" --cppcheck-build-dir="$build/cppcheck" \
	--enable=warning,portability,style --suppressions-list=tools/cppcheck.txt \
	--template='{file}:{line}: {message} [{id}]' \
	-D_GNU_SOURCE -D__x86_64__ -D__linux__ -D'ElfW(type)=Elf64_##type' \
	-I src -I include -I . -I "$build/src/recorder/libtare_recorder.so.p" "${files[@]}"
