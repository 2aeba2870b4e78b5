#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare.graphs beside PyTorch's own graphs in two programs that were not written for it, on a real GPU: a miniature server
# (continuous batching, a paged cache, 35 sizes) and decoding by transformers with a static cache (16 sizes).
#   tests/gpu/graphs_beside.sh DIST [OUT [PROGRAM:MODE,MODE…]…]     PROGRAM and MODE: see graphs/beside.py; MODE+: recorded, too
# DIST: an unpacked dist folder; SIM=h100: a simulated GPU, smaller.
# One process per row: what the card has less by cuMemGetInfo, how long all captures take, how long a switch of size takes; then the
# same once more recorded, for what the ledger says. Needs Python with PyTorch and transformers. Four minutes; one table, last.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dist=$(cd "${1:?usage: graphs_beside.sh DIST [OUT]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
all=alone,smallest+,largest+,tare+,tare-largest,tare-few,tare-device
[ $# -gt 0 ] || set -- server:$all static:$all
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
python=${PYTHON:-python3}
failed=0
library=$(find "$dist" -name libtare_graphs.so -print -quit)
[ -n "$library" ] || { echo "graphs_beside.sh: no libtare_graphs.so in $dist" >&2; exit 2; }
[ -x "$tare" ] || tare=$dist/tare
export PYTHONPATH=$root/python TARE_GRAPHS_LIBRARY=$library

# PROGRAM MODE [ledger]: recorded where there is no other way to have a GPU, and for the ledger.
row() {
	local name=$1-$2 command=("$python" "$here/graphs/beside.py" "$1" "$2" ${SIM:+small})
	if [ $# -gt 2 ] || [ -n "${SIM:-}" ]; then
		command=("$tare" record -f ${SIM:+--sim "$SIM"} -o "$out/$name.tare" -- "${command[@]}")
	fi
	timeout -k 5 90 "${command[@]}" >"$out/$name.out" 2>"$out/$name.err" ||
		{ echo "$name: the program failed"; tail -n 5 "$out/$name.err"; failed=1; return; }
	if [ $# -gt 2 ]; then
		"$tare" report "$out/$name.tare" --at phase:graphs:begin --at phase:graphs:end --json >"$out/$name.json"
	else
		grep '^{' "$out/$name.out" | tee -a "$rows"
	fi
}

for one; do
	for mode in $(tr , ' ' <<<"${one#*:}"); do
		row "${one%%:*}" "${mode%+}"
		[ "${mode%+}" = "$mode" ] || BESIDE_BYTES_ONLY=1 row "${one%%:*}" "${mode%+}" ledger
	done
done
machine
"$python" "$here/graphs/beside_table.py" "$out" | tee "$out/table.md"
exit $((failed | PIPESTATUS[0]))
