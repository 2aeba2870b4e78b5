#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The three programs of examples/ swept on a real GPU: lattice solvers in CUDA graphs, an operator rolled out in
# half precision on a card of 7.7 GiB, optimizers and gradient accumulation. One GPU and PyTorch 2; about 20 minutes
# for all, 10 with JOBS=2 on two GPUs.
#   tests/gpu/sweep.sh TARE_FOLDER [OUTPUT_FOLDER] [lattice|rollout|optimizers]…
# TARE_FOLDER: a dist folder (make dist). Per sweep the output folder gets NAME.db, .txt, .md and .html. What is
# there already is gone on with, so a second call finishes what a first one did not.
set -u
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../examples
dist=$(cd "${1:?usage: sweep.sh TARE_FOLDER [OUTPUT_FOLDER] [WHICH]…}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
mkdir -p "$out"
shift $(($# > 1 ? 2 : 1))
[ $# -gt 0 ] || set -- lattice rollout optimizers
tare=$dist/bin/tare
failed=0
jobs=${JOBS:-1} # as many runs at a time, each on a GPU of its own

swept() { # NAME ARGUMENT OF tare sweep…
	local db=$out/$1.db name=$1
	shift
	if [ -e "$db" ]; then
		"$tare" sweep --resume -o "$db" --jobs "$jobs" || failed=1
	else
		"$tare" sweep -o "$db" --jobs "$jobs" "$@" || failed=1
	fi
	"$tare" report "$db" | tee "$out/$name.txt"
	"$tare" report "$db" --md >"$out/$name.md"
	"$tare" report "$db" --html "$out/$name.html"
	du -sh "$db" "$db.d" | sed 's/^/# /'
}

for which; do
	echo "== $which"
	case $which in
	lattice) # memory of a force graph against max_iter, batch and length, in phases of one process
		swept lattice --grid bs=1,2,3 --grid L=4,6,8 --timeout 5min --work 'fields={bs}' \
			-- python3 "$examples/lattice.py" --bs '{bs}' --L '{L}'
		;;
	rollout) # batch 2 against 3 against torch.compile on the note's card
		swept rollout --timed rollout --vram 7.7GiB --grid batch=1,2,3,4,5,6 --grid compile=no,yes,graphs --repeat 2 --timeout 3min \
			--work 'timesteps={batch}*500' --work 'realizations={batch}*5' --total 10000 \
			-- python3 "$examples/rollout.py" --batch '{batch}' --compile '{compile}'
		;;
	optimizers)
		swept optimizers --timed step --grid optimizer=sgd,momentum,adam --grid accumulate=1,2,4 --repeat 3 --timeout 2min \
			--work 'samples=32*8' \
			-- python3 "$examples/optimizers.py" --optimizer '{optimizer}' --accumulate '{accumulate}'
		;;
	*)
		echo "sweep.sh: there is no $which; lattice, rollout, optimizers"
		exit 2
		;;
	esac
done
echo "results: $out"
exit $failed
