#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The whole driver on two real GPUs: jobs that talk over NCCL, and memory of one process mapped by
# another; their ledgers must balance to 2 MiB on both. One table last. About 2 minutes in all.
#   tests/gpu/driver2.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist)
# NVLink multicast stays off. SIM=h200 in the environment runs what can run on two simulated GPUs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: driver2.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
all=(peer ddp fsdp)
export NCCL_NVLS_ENABLE=0 OMP_NUM_THREADS=4 TARE_SIM_DEVICES=2
accounts=context,code,allocations,vmm,imported,streams

part_peer() {
	record_c peer_export 30 vmm,imported
}

torchrun() { # NAME SECONDS SCRIPT
	has_module torch || { skip "$1" "no torch here"; return; }
	record "$1" "$2" "$accounts" python3 -m torch.distributed.run --standalone --nproc_per_node=2 "$3"
	[ -d "$out/$1.tare" ] && "$tare" report "$out/$1.tare" --by rank 2>/dev/null
}

part_ddp() {
	torchrun ddp_resnet50 70 "$here/programs/ddp_resnet50.py"
}

part_fsdp() {
	torchrun fsdp_mlp 70 "$here/programs/fsdp_mlp.py"
}

run_parts "${@:-${all[@]}}"
