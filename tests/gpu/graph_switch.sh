#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How an executable graph can be made to do what another template says, each way that the driver documents: what the switch costs
# the host, the launch behind it, and the time until the card is done; what each way takes of the card. It chooses for src/graphs.
#   tests/gpu/graph_switch.sh [OUT]     SIM=h100 TARE=PATH: on a simulated GPU, without the two that need code on the card
# Needs nvcc (CUDA 12.8 or younger). One table, last; a minute. WAYS="union loop bytes": only these of the ways that need code on the card
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$(mktemp -d)}
mkdir -p "$out"
include=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")/include
gcc -O1 -I "$include" -o "$out/graph_switch" "$here/programs/graph_switch.c" -L "$include/../lib64/stubs" -lcuda -lpthread || exit 1
if [ -n "${SIM:-}" ]; then
	exec "${TARE:-tare}" record -f --sim "$SIM" -o "$out/graph_switch.tare" -- "$out/graph_switch"
fi
for program in graph_switch_device graph_switch_union; do
	nvcc -O1 -std=c++17 -arch=native -rdc=true -o "$out/$program" "$here/programs/$program.cu" -lcudadevrt ||
		nvcc -O1 -std=c++17 -arch=sm_90 -rdc=true -o "$out/$program" "$here/programs/$program.cu" -lcudadevrt
done
failed=0
ways=${WAYS:-host device condition union loop bytes}
for way in $ways; do
	case $way in
	host) command=graph_switch ;;
	device | condition) command="graph_switch_device $way" ;;
	*) command="graph_switch_union $way" ;;
	esac
	# shellcheck disable=SC2086
	timeout -k 5 100 "$out"/$command >"$out/graph_switch-$way.txt" 2>&1 || { echo "$command: failed"; failed=1; }
done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
nvcc --version | grep release
date -u '+%Y-%m-%d %H:%M UTC'
cat "$out"/graph_switch-*.txt | grep -v '^|'
cat "$out"/graph_switch-*.txt | grep '^|'
exit $failed
