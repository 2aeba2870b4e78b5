#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who uses the card before the first cuInit that is recorded, in a program of Lightning's Trainer: what is in use right before that cuInit, right
# behind it and at the end, and the libraries that open the driver's files, the first open first. One table last. Two minutes, one card.
#   tests/gpu/lightning.sh TARE_FOLDER [OUTPUT_FOLDER]       TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?dist folder}" && pwd)
out=${2:-$(mktemp -d)}
tare=$dist/bin/tare
mkdir -p "$out"
out=$(cd "$out" && pwd)
gcc -O1 -shared -fPIC -o "$out/who_opens.so" "$here/programs/who_opens.c" -ldl || exit 1
rm -f "$out/rows" "$out"/*.opens

# one NAME ARGUMENT [VARIABLE=VALUE…]
one() {
	local name=$1
	timeout 45 env "${@:3}" TARE_WHO_OPENS="$out/$name.opens" LD_PRELOAD="$out/who_opens.so" \
		"$tare" record -f -o "$out/$name.tare" -- python3 "$here/programs/lightning_steps.py" "$2" \
		>"$out/$name.stdout" 2>"$out/$name.stderr" || echo "$name: exit $?: $(tail -n 3 "$out/$name.stderr")"
	echo "== $name: who opens the driver's files, the first first"
	cut -c1-600 "$out/$name.opens" 2>/dev/null
	python3 "$here/driver/before_init.py" "$tare" "$out/$name.tare" "$name" "$out/$name.opens" >>"$out/rows"
	"$tare" report "$out/$name.tare" --at end
}

one torch torch
one trainer trainer
one mpi mpi
one mpi_without_opencl mpi HWLOC_COMPONENTS=-opencl
one mpi_without_plugins mpi HWLOC_COMPONENTS=-opencl,-nvml,-gl,-cuda,-rsmi,-levelzero
{
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
	"$tare" --version
	python3 -c 'import torch; print("torch", torch.__version__)'
	python3 -c 'import pytorch_lightning as l; print("pytorch_lightning", l.__version__)' 2>/dev/null ||
		python3 -c 'import lightning as l; print("lightning", l.__version__)'
	head -n 1 "$out/mpi.stdout"
	printf '%-22s %14s %14s %10s %12s  %s\n' program 'before cuInit' 'behind cuInit' end unexplained 'opened first by'
	cat "$out/rows"
} 2>/dev/null | tee "$out/lightning_table.txt"
