#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every C file is as `make format` (--write) leaves it. Versions of clang-format disagree, so only that of Debian 12 is asked.
#   tools/check-format.sh [--write]
# Exit codes: 0 it is; 1 these files are not; 77 there is no such clang-format here.
set -u
cd "$(dirname "$0")/.." || exit 2
wanted=14

for format in "clang-format-$wanted" clang-format; do
	[[ $("$format" --version 2>/dev/null) =~ version\ $wanted\. ]] && break
	format=
done
[ -n "$format" ] || { echo "skipped: not installed: clang-format-$wanted"; exit 77; }
mapfile -t files < <(git ls-files '*.c' '*.h' | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)
[ ${#files[@]} -gt 100 ] || { echo "only ${#files[@]} C files found"; exit 1; }
how=(--dry-run -Werror --ferror-limit=1)
[ "${1:-}" != --write ] || how=(-i)
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 40 "$format" "${how[@]}"
