#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Small programs of pip's packages on a real GPU, to be put beside the same on a simulated one (docs/measurements/simulated.md, "Programs of
# pip"): those whose packages are here. One GPU; three minutes at most. One table last.
#   tests/gpu/programs.sh TARE_FOLDER [OUTPUT_FOLDER] [NAME…]     TARE_FOLDER: a dist folder (make dist); CARD=h100: simulated
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: programs.sh TARE_FOLDER [OUTPUT_FOLDER] [NAME…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
python=$(command -v "${PYTHON:-python3}")
[ $# -gt 0 ] || set -- torch_alone vision decode triton numba_cuda jax cupy lightning transformers_trainer
cd "$out" || exit 2
CARD=${CARD:-real} LIMIT=${LIMIT:-40} XLA_PYTHON_CLIENT_PREALLOCATE=false TRITON_CACHE_DIR=$(mktemp -d -p "$out") \
	timeout -k 5 "${ALL:-170}" "$python" "$here/simulated/pip_table.py" "$tare" "$python" "$@" >"$out/programs.md"
for log in "$out"/pip/*.txt; do
	grep -q "^Traceback" "$log" && { echo "== $(basename "$log" .txt)"; tail -n 3 "$log"; }
done
cat "$out/programs.md"
machine
