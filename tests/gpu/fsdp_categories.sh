#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tensors are for where parameters are sharded: FullyShardedDataParallel, with and without the original
# parameters, and fully_shard, beside what the program's own objects take, on both ranks, at the end of every forward,
# backward and step; and how many of the sharded tensors have names. Two GPUs of one host, under 90 s. One table last.
#   tests/gpu/fsdp_categories.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist)
# NVLink multicast stays off.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: fsdp_categories.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
all=(flat flat_orig fully_shard)
export NCCL_NVLS_ENABLE=0 OMP_NUM_THREADS=4 TARE_SIM_DEVICES=2

sharded() { # KIND
	local name=fsdp_$1
	has_module torch || { skip "$name" "no torch here"; return; }
	record "$name" 60 context,allocations,vmm,imported,streams python3 -m torch.distributed.run --standalone \
		--nproc_per_node=2 "$here/programs/fsdp_categories.py" "$1"
	[ -s "$out/$name.stdout" ] || return
	python3 "$here/tensors/objects.py" "$tare" "$out/$name.tare" "$out/$name.stdout" "$name" >"$out/$name.answer" 2>&1
	grep -v '^{' "$out/$name.answer"
	add_row "$(grep '^{' "$out/$name.answer" || python3 "$here/driver/figure.py" "$name" "NO ANSWER" \
		"$(tail -n 1 "$out/$name.answer")")"
}

part_flat() {
	sharded flat
}

part_flat_orig() {
	sharded flat_orig
}

part_fully_shard() {
	sharded fully_shard
}

run_parts "${@:-${all[@]}}"
