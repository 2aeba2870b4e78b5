#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Predictions written down before their runs: a small grid of two programs of examples/ is swept, tare fit says
# what larger cells will need, then those run. One table last. One GPU and PyTorch 2; about 3 minutes.
#   tests/gpu/predict.sh TARE_FOLDER [OUTPUT_FOLDER]       TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../examples
dist=$(cd "${1:?usage: predict.sh TARE_FOLDER [OUTPUT_FOLDER]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
mkdir -p "$out"
tare=$dist/bin/tare
rm -rf "$out"/*.db "$out"/*.db.d

# NAME CELLS "GRID…" "GRID…" COMMAND…: learns from the first grid, predicts CELLS (CSV), runs the second.
predict() {
	local name=$1 cells=$2 known=$3 unknown=$4
	shift 4
	# shellcheck disable=SC2086
	"$tare" sweep -o "$out/$name.db" $known --timeout 2min -- "$@"
	printf '%b' "$cells" >"$out/$name.cells.csv"
	"$tare" fit "$out/$name.db" -t need | tee "$out/$name.law"
	"$tare" fit "$out/$name.db" -t need --predict "$out/$name.cells.csv" --csv >"$out/$name.predicted.csv"
	date -u "+$name: predicted at %H:%M:%S UTC, before the runs" | tee "$out/$name.time"
	cat "$out/$name.predicted.csv"
	# shellcheck disable=SC2086
	"$tare" sweep -o "$out/$name.measured.db" $unknown --timeout 2min -- "$@"
	"$tare" report "$out/$name.db" >"$out/$name.txt"
	"$tare" report "$out/$name.measured.db" >"$out/$name.measured.txt"
}

predict lattice 'bs,L\n3,6\n2,8\n3,8\n' '--grid bs=1,2 --grid L=2,4,6' '--grid bs=2,3 --grid L=6,8' \
	python3 "$examples/lattice.py" --bs '{bs}' --L '{L}' --max-iter 200,100 --max-iter-se 100
predict rollout 'batch\n5\n8\n' '--grid batch=1,2,3' '--grid batch=5,8' \
	python3 "$examples/rollout.py" --batch '{batch}'

python3 "$here/sweep/predicted.py" "$out" lattice rollout | tee "$out/predicted.md"
exit "${PIPESTATUS[0]}"
