#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The core on a real GPU: programs that reach the driver in different ways, recorded unmodified; their
# ledgers must balance to 2 MiB. Then the cost of a launch hook, in pairs. One table last.
#   tests/gpu/core.sh TARE_FOLDER [OUTPUT_FOLDER]       TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?dist folder}" && pwd)
out=${2:-$(mktemp -d)}
tare=$dist/bin/tare
work=$(mktemp -d)
mkdir -p "$out"
failed=0

nvcc -o "$work/static_cudart" "$here/programs/static_cudart.cu" || exit 1
gcc -O2 -D_GNU_SOURCE -o "$work/launch_cost" "$here/programs/launch_cost.c" -ldl || exit 1

names=(static_cudart demo resnet50_adam jax_matmul cupy_matmul numba_add)
run_of() {
	case $1 in
	static_cudart) echo "$work/static_cudart" ;;
	demo) echo "$dist/lib/tare/examples/demo" ;;
	*) echo "python3 $here/programs/$1.py" ;;
	esac
}

# NAME INSTANT → "used unexplained contended events weigh-share", in MiB
measure() {
	"$tare" report "$out/$1.tare" --at "$2" --json | python3 -c '
import json, sys
d = json.load(sys.stdin)["devices"][0]
rows = [a for a in d["accounts"]]
print("%.1f %.3f" % (d["used_bytes"] / 2**20, d["unexplained_bytes"] / 2**20))'
}

weigh_share() {
	"$tare" dump "$out/$1.tare" --kind end --json | python3 -c '
import json, re, sys
text = sys.stdin.read()
best = 0
for weigh, run in zip(re.findall(r"\"weigh_ticks\": ?(\d+)", text), re.findall(r"\"run_ticks\": ?(\d+)", text)):
    best = max(best, 100 * int(weigh) / max(1, int(run)))
print("%.2f%%" % best)'
}

table=$work/table
printf '%-16s %10s %11s %10s %11s %8s %s\n' program 'peak MiB' unexplained 'end MiB' unexplained weighing verdict >"$table"
for name in "${names[@]}"; do
	rm -rf "$out/$name.tare"
	# shellcheck disable=SC2046
	if ! timeout 300 "$tare" run -o "$out/$name.tare" -- $(run_of "$name") >"$out/$name.stdout" 2>"$out/$name.ledger"; then
		echo "$name failed:"
		tail -n 5 "$out/$name.ledger"
	fi
	cat "$out/$name.ledger"
	read -r peak peak_off <<<"$(measure "$name" peak)"
	read -r end end_off <<<"$(measure "$name" end)"
	verdict=$(python3 -c "print('ok' if abs($peak_off) <= 2 and abs($end_off) <= 2 else 'TOO MUCH')" 2>/dev/null || echo "NO LEDGER")
	[ "$verdict" = ok ] || failed=1
	printf '%-16s %10s %11s %10s %11s %8s %s\n' "$name" "$peak" "$peak_off" "$end" "$end_off" "$(weigh_share "$name")" "$verdict" >>"$table"
done

# Launch cost: the same function with and without the hook in turn, inside one process.
for _ in 1 2 3 4 5; do
	"$work/launch_cost" >>"$work/none"
	TARE_TEST_NOP=1 "$tare" record -f -o "$work/nop.tare" -- "$work/launch_cost" >>"$work/nop" 2>/dev/null
	"$tare" record -f -o "$work/rec.tare" -- "$work/launch_cost" >>"$work/recording" 2>/dev/null
done
# The same driver-API program on the simulated GPU.
"$tare" record -f --sim h200 -o "$out/demo_sim.tare" -- "$dist/lib/tare/examples/demo" >/dev/null 2>&1
{
	cat "$table"
	echo
	python3 "$here/compare_sim.py" "$tare" "$out/demo.tare" "$out/demo_sim.tare" || echo "simulated GPU: DIFFERS"
	echo
	python3 - "$work" <<'PY'
import statistics, sys
for n in ("none", "nop", "recording"):
    rows = [line.split() for line in open(sys.argv[1] + "/" + n)]
    print("launch, %-9s hooked %7.1f ns  direct %7.1f ns  added %+6.1f ns (medians of %d runs of 1000 pairs, %s)" % (
        n, *[statistics.median(float(r[i]) for r in rows) for i in range(3)], len(rows), rows[0][3]))
PY
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
} | tee "$out/core_table.txt"
exit $failed
