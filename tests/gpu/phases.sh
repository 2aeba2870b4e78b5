#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Phases on a real GPU: the table of a PyTorch program beside what it read itself, and what marking
# costs, recorded and not. About 1 minute.
#   tests/gpu/phases.sh TARE_FOLDER [OUTPUT_FOLDER]     TARE_FOLDER: a dist folder (make dist)
# SIM=h200 in the environment runs what can run on the simulated GPU.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: phases.sh TARE_FOLDER [OUTPUT_FOLDER]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
mkdir -p "$out"
tare=$dist/bin/tare
program=$here/programs/phases_torch.py
line=$(grep -n '^net = net.to' "$program" | cut -d: -f1)

echo "== a PyTorch program: what it read of itself, then --by phase"
if [ -z "${SIM:-}" ] && python3 -c 'import torch' 2>/dev/null; then
	python3 "$program" | tail -n 1 | sed 's/^/not recorded: /'
	"$tare" run -f -o "$out/torch.tare" --phase "phases_torch.py:$line" -- python3 "$program" 2>"$out/torch.ledger"
	"$tare" report "$out/torch.tare" --by phase | grep -v 'aten::\|Backward\|autograd' | head -n 30
	"$tare" info "$out/torch.tare" | tail -n 3
else
	echo "skipped: no PyTorch here, or the simulated GPU, which it does not accept"
fi

echo "== what a push or a pop costs"
if gcc -O2 -I "$dist/include" -I "$here/../../include" -isystem /usr/local/cuda/include \
	-o "$out/phase_cost" "$here/programs/phase_cost.c" -ldl; then
	echo "not recorded: $("$out/phase_cost")"
	for weigh in "" 1; do
		echo "recorded${weigh:+, without readings}: $(env ${weigh:+TARE_TEST_NO_WEIGH=1} "$tare" record -f ${SIM:+--sim "$SIM"} \
			-o "$out/cost.tare" -- "$out/phase_cost" x 2>/dev/null)"
	done
	"$tare" report "$out/cost.tare" --by phase | tail -n 3
else
	echo "skipped: it does not compile; are nvtx3 headers in /usr/local/cuda/include?"
fi
