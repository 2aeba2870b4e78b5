#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Source lines on a real GPU: each framework's memory by Python line, its row called by its name, host
# increments beside it. One GPU, about 2 minutes. What is not installed is skipped.
#   tests/gpu/lines.sh TARE_FOLDER [OUTPUT_FOLDER]     TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: lines.sh TARE_FOLDER [OUTPUT_FOLDER]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
mkdir -p "$out"
failed=0

# MODULE PROGRAM LABEL: a row whose label begins so; lines sum to the leaves; the program's own file has a share.
check() {
	local program=$here/programs/$2.py rec=$out/lines-$2.tare

	if ! python3 -c "import $1" 2>/dev/null; then
		echo "$2: skipped, there is no $1"
		return
	fi
	XLA_PYTHON_CLIENT_PREALLOCATE=false "$dist/bin/tare" record -f -o "$rec" -- python3 "$program" >"$out/lines-$2.out" 2>&1 ||
		{ echo "$2: FAILED to run, see $out/lines-$2.out"; failed=1; return; }
	"$dist/bin/tare" report "$rec" --by line --at peak --json | python3 -c '
import json, os, sys
report, label, program = json.load(sys.stdin), sys.argv[1], os.path.basename(sys.argv[2])
rows, accounts = report["rows"], [a for d in report["devices"] for a in d["accounts"]]
named = sum(a["bytes"] for a in accounts if a["label"].startswith(label))
lines, leaves = sum(r["bytes"] for r in rows), sum(a["bytes"] for a in accounts if a["leaf"])
own = [r for r in rows if r["file"] and os.path.basename(r["file"]) == program]
host = sum(r["host_anon_bytes"] + r["host_file_bytes"] for r in rows)
good = named > 0 and lines == leaves and sum(r["bytes"] for r in own) > 0 and host > 0
print("%-16s %-24s %9.1f MiB, lines %9.1f of %9.1f, own %9.1f, host +%.1f%s" % (program, label, named / 2**20,
      lines / 2**20, leaves / 2**20, sum(r["bytes"] for r in own) / 2**20, host / 2**20, "" if good else "  FAILED"))
sys.exit(not good)' "$3" "$program" || failed=1
}

check torch resnet50_adam "PyTorch ("
check cupy cupy_matmul "CuPy pool ("
check jax jax_matmul "JAX (XLA) pool ("
check numba.cuda numba_add "Numba ("
exit $failed
