#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a profiler takes of the device's memory: CUPTI allocates past every exported entry of the driver, so when it
# does, is found by readings of NVML between its calls, and then looked for in the ledger. One GPU, under 60 s. One
# table last.
#   tests/gpu/profiler.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: profiler.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
all=(calls torch)

cupti() { # WHAT
	local name=cupti_$1
	record_python torch "$name" 30 context,code,allocations,profiler "$here/programs/cupti_memory.py" "$1"
	[ -s "$out/$name.stdout" ] || return
	python3 "$here/tensors/cupti.py" "$tare" "$out/$name.tare" "$out/$name.stdout" "$name: steps" \
		>"$out/$name.answer" 2>&1
	grep -v '^{' "$out/$name.answer"
	add_row "$(grep '^{' "$out/$name.answer" || python3 "$here/driver/figure.py" "$name: steps" "NO ANSWER" \
		"$(tail -n 1 "$out/$name.answer")")"
}

part_calls() {
	cupti calls
}

part_torch() {
	cupti torch
}

run_parts "${@:-${all[@]}}"
