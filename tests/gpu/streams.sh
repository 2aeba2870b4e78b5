#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# PyTorch's pool by stream on a real GPU: what a recording has for each stream at marked instants, to the byte
# beside torch.cuda.memory_snapshot(), with segments of both kinds; and what it costs to know. One GPU; a minute at most.
# One table last.
#   tests/gpu/streams.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: streams.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
all=(plain expandable cost)

# NAME: records the program and compares.
compare_streams() {
	local name=$1
	record_python torch "$name" 40 allocations,vmm "$here/programs/torch_streams.py" || return
	[ -s "$out/$name.stdout" ] || return
	python3 "$here/tensors/streams.py" "$tare" "$out/$name.tare" "$out/$name.stdout" "$name" >"$out/$name.answer" 2>&1
	grep -v '^{' "$out/$name.answer"
	if grep -q '^{' "$out/$name.answer"; then
		add_row "$(grep '^{' "$out/$name.answer")"
	else
		figure "$name" "NO ANSWER" "$(tail -n 1 "$out/$name.answer")"
	fi
	"$tare" report "$out/$name.tare" --by stream --at phase:graphs:end
}

part_plain() {
	compare_streams streams
}

part_expandable() {
	export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
	compare_streams streams_expandable
	unset PYTORCH_CUDA_ALLOC_CONF
}

part_cost() {
	local default other
	has_module torch || { skip "asking for the stream" "no torch here"; return; }
	if ! cc -O1 -shared -fPIC -o "$work/stream_cost.so" "$here/programs/stream_cost.c" 2>"$work/stream_cost.log"; then
		skip "asking for the stream" "does not compile: $(head -c 200 "$work/stream_cost.log")"
		return
	fi
	if read -r default other < <(python3 "$here/programs/stream_cost.py" "$work/stream_cost.so"); then
		figure "asking for the stream" ok "$default ns on the default stream, $other ns on another"
	else
		figure "asking for the stream" "NO ANSWER" "stream_cost.py failed"
	fi
}

run_parts "${@:-${all[@]}}"
