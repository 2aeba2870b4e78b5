#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where the driver of this machine takes NULL, and whether hooked calls answer the same with tare.
#   tests/gpu/pointers.sh BUILD OUT [ROW]     BUILD: a build folder; a minute, for every row that the
#                                             driver dies of costs a new context
# OUT gets real.txt, recorded.txt and simulated.txt (tests/gpu/facts/pointers.c says what is in them).
# The table printed last: the calls in which any two of the three differ.
set -u
build=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
program=$build/tests/gpu/facts/pointers
rm -rf "$out/pointers.tare" "$out/sim"
mkdir "$out/sim"
"$program" null "${@:3}" >"$out/real.txt" || { echo "$program failed: is there a GPU?"; exit 1; }
"$build/tare" record -o "$out/pointers.tare" -- "$program" null "${@:3}" >"$out/recorded.txt"
TARE_SIM_DIR=$out/sim TARE_SIM_PROFILE=h200 LD_LIBRARY_PATH=$build/simgpu \
	"$program" null "${@:3}" >"$out/simulated.txt"
awk '
	{
		call = $1 " " $2 " " $3
		answer = $4 == "signal" ? "signal " $5 : $5
		if (!(call in real) && FILENAME ~ /real.txt$/)
			order[++n] = call
		if (FILENAME ~ /real.txt$/) { real[call] = answer; all[call] = $0 }
		if (FILENAME ~ /recorded.txt$/) { recorded[call] = answer; ours += $0 != all[call] }
		if (FILENAME ~ /simulated.txt$/) simulated[call] = answer
	}
	END {
		printf "%-60s %10s %10s %10s\n", "call", "driver", "recorded", "simulated"
		for (i = 1; i <= n; i++) {
			call = order[i]
			if (real[call] == recorded[call] && real[call] == simulated[call])
				continue
			printf "%-60s %10s %10s %10s\n", call, real[call], recorded[call], simulated[call]
			sim += real[call] != simulated[call]
		}
		printf "%d calls: %d differ recorded, %d differ simulated\n", n, ours, sim
	}
' "$out/real.txt" "$out/recorded.txt" "$out/simulated.txt"
