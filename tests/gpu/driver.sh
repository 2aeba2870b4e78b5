#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The whole driver on one real GPU: programs of every family, recorded unmodified; their ledgers must
# balance to 2 MiB. One table last. About 5 minutes in all.
#   tests/gpu/driver.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist)
# SIM=h200 in the environment runs what can run on the simulated GPU.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: driver.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
all=(capture compile pools jax nodes lattice vram calibrate overhead)

part_capture() {
	record_python torch capture64 90 graphs,streams,code,allocations "$here/programs/capture64.py"
	record_python torch capture64_shared 90 graphs,streams,code,allocations "$here/programs/capture64.py" --share-pool
}

part_compile() {
	record_python torch compile_reduce 150 graphs,streams,code,allocations "$here/programs/compile_reduce.py"
}

part_pools() {
	record_c async_pools 30 pools
	record_python cupy cupy_pools 90 pools,code "$here/programs/cupy_pools.py"
}

part_jax() {
	XLA_PYTHON_CLIENT_PREALLOCATE=false record_python jax jax 90 vmm,code,allocations "$here/programs/jax_matmul.py"
	XLA_PYTHON_CLIENT_PREALLOCATE=true record_python jax jax_preallocated 90 vmm,code,allocations,preallocated \
		"$here/programs/jax_matmul.py"
}

part_nodes() {
	record_c memory_nodes 30 graphs
	nodes=$out/graph_nodes.stdout
	record_c graph_nodes 30 graphs
}

part_lattice() {
	skip lattice "examples/lattice is not there yet"
}

part_vram() {
	skip vram "tests/gpu/vram.py is not there yet"
}

part_calibrate() {
	skip calibrate "tare calibrate is not there yet"
}

part_overhead() {
	skip overhead "the control word is not there yet"
}

run_parts "${@:-${all[@]}}"
