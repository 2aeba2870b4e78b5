#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What stays on a real GPU when a program has given back its tensors, and what each call of src/view/residue.def gives back: in
# Tare's ledger and by cuMemGetInfo. One GPU; two minutes. One table for each part, last.
#   tests/gpu/residue.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist); SIM=h100: simulated
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: residue.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
python=${PYTHON:-python3}
failed=0

# NAME [ARGUMENT…]: records the program and puts its calls beside the ledger.
part() {
	local name=$1
	shift
	timeout -k 5 100 "$tare" record -f ${SIM:+--sim "$SIM"} -o "$out/$name.tare" -- \
		"$python" "$here/residue/program.py" "$@" >"$out/$name.stdout" 2>"$out/$name.stderr" ||
		{ echo "$name: the program failed"; tail -n 5 "$out/$name.stderr"; failed=1; }
	"$python" "$here/residue/table.py" "$tare" "$out/$name.tare" "$out/$name.stdout" >"$out/$name.txt" 2>&1 || failed=1
	"$tare" diff "$out/$name.tare" --at peak --at phase:give_back:end --residue >"$out/$name.diff" 2>&1
}

# What was asked for, what became resident, what the card has less, and what Tare's report has of it.
part_pinned() {
	timeout -k 5 60 "$tare" record -f ${SIM:+--sim "$SIM"} -o "$out/pinned.tare" -- \
		"$python" "$here/residue/pinned.py" ${SCALE:+--scale "$SCALE"} >"$out/pinned.txt" 2>"$out/pinned.stderr" ||
		{ echo "pinned: the program failed"; tail -n 5 "$out/pinned.stderr"; failed=1; }
	"$tare" report "$out/pinned.tare" --at phase:zeros:end --at phase:cached:end --at phase:pin_memory:end |
		grep -A 12 '^host' >"$out/pinned.diff"
}

for name in "${@:-llama question rows libraries pinned}"; do
	for one in $name; do
		case $one in
		pinned) part_pinned ;;
		question) part question llama --layers "${LAYERS:-6}" --streams ;; # as near as its text says
		*) part "$one" "$one" ;;
		esac
	done
done
for one in "$out"/*.txt; do
	echo "== $(basename "$one" .txt)"
	cat "${one%.txt}.diff" "$one"
done
machine
exit $failed
