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
all=(capture compile pools jax nodes threads train lattice vram calibrate overhead)

part_capture() {
	record_python torch capture64 90 graphs,execs,memory,kept,streams,code,allocations "$here/programs/capture64.py"
	record_python torch capture64_shared 90 graphs,execs,memory,kept,streams,code,allocations "$here/programs/capture64.py" --share-pool
}

part_compile() {
	record_python torch compile_reduce 150 graphs,execs,memory,kept,streams,code,allocations "$here/programs/compile_reduce.py"
}

part_pools() {
	record_c async_pools 30 pools,idle
	record_python cupy cupy_pools 90 pools,idle,code "$here/programs/cupy_pools.py"
}

part_jax() {
	XLA_PYTHON_CLIENT_PREALLOCATE=false record_python jax jax 90 vmm,code,allocations "$here/programs/jax_matmul.py"
	XLA_PYTHON_CLIENT_PREALLOCATE=true record_python jax jax_preallocated 90 vmm,code,allocations,preallocated \
		"$here/programs/jax_matmul.py"
}

part_nodes() {
	record_c memory_nodes 30 graphs,execs,memory,kept
	nodes=$out/graph_nodes.stdout
	# shellcheck disable=SC2086
	record_c graph_nodes 30 graphs,execs,memory,kept ${SIM:+kernel kernel+2048B memset memcpy empty}
}

# NAME PROCESSORS: blocks that share pages; which of two calls at once took a page is not always known, until they are over.
storm_shared() {
	timeout -k 5 120 "$tare" record -f ${SIM:+--sim "$SIM"} -o "$out/$1.tare" -- taskset -c "$2" "$work/address_storm" || return
	figure "$1" "$("$tare" report "$out/$1.tare" --at end --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print("TOO MUCH" if r["devices"][0]["unexplained_bytes"] or r["degraded"] else "ok")')" \
		"$("$tare" report "$out/$1.tare" --at peak | awk '/^unexplained/ {print "unexplained at the peak", $2, "MiB, at the end 0"}'), $(
			"$here/driver/instants.py" "$tare" "$out/$1.tare" 101)"
}

# A thread that loses its processor inside a call gives an address back, and another has taken it again before that call returns.
part_threads() {
	compile address_storm || { skip address_storm "does not compile: $(head -c 200 "$work/address_storm.log")"; return; }
	record address_storm_pages 60 allocations "$work/address_storm" pages
	storm_shared address_storm 0-15
	storm_shared address_storm_2 0,1
	storm_shared address_storm_1 0
}

part_train() {
	record_python torchvision resnet50_adam 90 allocations,trial,streams,code "$here/programs/resnet50_adam.py"
	[ -e "$out/resnet50_adam.ledger" ] && sed -n '/^what would make it less/,$p' "$out/resnet50_adam.ledger"
}

part_lattice() {
	record_python torch lattice 120 graphs,execs,memory,kept,allocations,streams "$here/../../examples/lattice.py" &&
		record_python torch lattice_shared 120 graphs,execs,memory,kept,allocations,streams \
			"$here/../../examples/lattice.py" --share-pool || return
	[ -d "$out/lattice_shared.tare" ] || return
	cat "$out/lattice.stdout"
	add_row "$(python3 "$here/driver/share.py" "$tare" "$out/lattice.tare" "$out/lattice_shared.tare")"
}

part_vram() {
	[ -e "$here/vram.py" ] || { skip vram "tests/gpu/vram.py is not there"; return; }
	has_module torch || { skip vram "no PyTorch here"; return; }
	timeout -k 5 180 python3 "$here/vram.py" "$dist" "$out/vram" >"$out/vram.stdout" 2>&1
	local code=$?
	cat "$out/vram.stdout"
	figure vram "$([ $code = 0 ] && echo ok || echo "EXIT $code")" "$(tail -n 1 "$out/vram.stdout")"
}

part_calibrate() {
	has_command calibrate || { skip calibrate "this tare has no calibrate"; return; }
	local begin=$SECONDS code
	timeout -k 5 60 "$tare" calibrate ${SIM:+--sim "$SIM"} --compare h200 >"$out/calibrate.txt" 2>&1
	code=$?
	cat "$out/calibrate.txt"
	figure calibrate "$([ $code = 0 ] && echo ok || echo "EXIT $code")" \
		"$((SECONDS - begin)) s: $(tail -n 1 "$out/calibrate.txt")"
}

# Recording paused and resumed inside one process; where that cannot be, processes in turn.
part_overhead() {
	local script=$here/programs/resnet50_overhead.py ms share low high
	has_module torchvision || { skip overhead "no torchvision here"; return; }
	if has_command ctl; then
		record overhead 150 code,allocations,trial python3 "$script" toggle "$tare" || return
		read -r ms share low high <"$out/overhead.stdout"
		figure "ResNet-50 batch 8, a step" "$(at_most 1 "$share")" \
			"$ms ms; recording adds $share % (95 % interval $low to $high)"
		return
	fi
	for _ in 1 2 3; do
		timeout -k 5 60 python3 "$script" >>"$out/plain.ms"
		timeout -k 5 60 "$tare" record -f -o "$work/pair.tare" -- python3 "$script" >>"$out/recorded.ms"
	done
	ms=$(median "$out/plain.ms")
	share=$(python3 -c "print('%.2f' % (100 * ($(median "$out/recorded.ms") / $ms - 1)))")
	figure "ResNet-50 batch 8, a step" "$(at_most 1 "$share")" "$ms ms; recording adds $share % (3 pairs of processes)"
}

at_most() { # BAR VALUE
	python3 -c "print('ok' if $2 <= $1 else 'TOO MUCH')" 2>/dev/null || echo "NO FIGURE"
}

median() {
	python3 -c "import statistics, sys; print(statistics.median(map(float, open(sys.argv[1]))))" "$1"
}

run_parts "${@:-${all[@]}}"
