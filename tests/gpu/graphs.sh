#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# libtare_graphs on a real GPU: what must be right, and what it costs beside plain PyTorch.
#   tests/gpu/graphs.sh BUILD [OUT] [check|question|bench|few|device|pairs|capi …]
# BUILD holds src/graphs/libtare_graphs.so, or is an unpacked dist. Needs python3 with PyTorch >= 2.8;
# capi needs cc. OUT (a folder) gets rows.jsonl and table.md, made by graphs/table.py. About 8 minutes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: graphs.sh BUILD [OUT] [PART…]}" && pwd)
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
parts=${*:-check question bench capi}

library=
for candidate in "$build/src/graphs" "$build/lib/tare" "$build"; do
	[ -e "$candidate/libtare_graphs.so" ] && library=$candidate/libtare_graphs.so && break
done
[ -n "$library" ] || { echo "graphs.sh: no libtare_graphs.so in $build; build it first" >&2; exit 2; }
mkdir -p "$out"
export PYTHONPATH=$root/python TARE_GRAPHS_LIBRARY=$library PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
failed=0

# One process per figure: the driver keeps the memory of destroyed executable graphs.
row() {
	timeout 120 python3 "$@" >"$out/last" 2>"$out/last.err" ||
		{ echo "not ok: $*"; tail -5 "$out/last.err"; failed=1; }
	tee -a "$out/rows.jsonl" <"$out/last"
}

for part in $parts; do
	case $part in
	check)
		timeout 300 python3 "$here/graphs/check.py" || failed=1 ;;
	question)
		for width in 1024 262144; do
			for mode in largest ascending descending random expandable \
				tare-largest tare-ascending tare-descending tare-random tare-separate; do
				row "$here/graphs/question.py" "$mode" "$width"
			done
		done ;;
	bench)
		for model in mlp decode pieces lattice tiny wide; do
			for mode in largest all plain pair; do
				row "$here/graphs/bench.py" "$model" "$mode"
			done
		done ;;
	few) # of bench, only what one executable graph at a time saves
		for model in decode lattice; do
			for mode in largest all few; do
				row "$here/graphs/bench.py" "$model" "$mode"
			done
		done ;;
	device) # of bench, what it is where the card switches
		for model in tiny mlp decode; do
			for mode in device pair-device pair; do
				row "$here/graphs/bench.py" "$model" "$mode"
			done
		done ;;
	pairs) # of bench, only time
		for model in mlp decode tiny wide; do
			row "$here/graphs/bench.py" "$model" pair
		done ;;
	capi)
		cc -O1 -I "$root/include" "$root/examples/graphs.c" "$library" -ldl \
			-Wl,-rpath,"$(dirname "$library")" -o "$out/graphs_example" &&
			"$out/graphs_example" || failed=1 ;;
	*) echo "graphs.sh: no part $part" >&2; exit 2 ;;
	esac
done
rm -f "$out/last" "$out/last.err"
[ -e "$out/rows.jsonl" ] && python3 "$here/graphs/table.py" "$out/rows.jsonl" >"$out/table.md" && cat "$out/table.md"
exit $failed
