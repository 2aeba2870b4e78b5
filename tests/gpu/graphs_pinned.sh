#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The program of the question in its own terms (128 sizes, pinned in and out, memcpy by ctypes) and which nodes the graphs of the two
# programs of graphs_beside.sh have. One process per row; a minute and a half. One table, last.
#   tests/gpu/graphs_pinned.sh DIST [OUT]     DIST: an unpacked dist folder, or a build
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: graphs_pinned.sh DIST [OUT]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
python=${PYTHON:-python3}
library=$(find "$dist" -name libtare_graphs.so -print -quit)
export PYTHONPATH=$here/../../python TARE_GRAPHS_LIBRARY=$library
failed=0
for mode in one smallest largest tare tare-largest tare-few tare-device; do
	timeout -k 5 60 "$python" "$here/graphs/pinned_question.py" $mode >"$out/last" 2>"$out/$mode.err" ||
		{ echo "$mode: the program failed"; tail -n 5 "$out/$mode.err"; failed=1; continue; }
	cat "$out/last" >>"$rows"
done
for program in static server; do
	timeout -k 5 60 "$python" "$here/graphs/beside.py" $program nodes 2>"$out/$program.err" || { tail -n 5 "$out/$program.err"; failed=1; }
done
machine
"$python" - "$rows" <<'PY'
import json
import sys

print("\n| mode | sizes | captured, MiB | after replays, MiB | start-up, s | replay, host p50 / p99, us | wrong | groups | by the card, by the host |")
print("|---|---|---|---|---|---|---|---|---|")
for line in open(sys.argv[1], encoding="utf-8"):
    row = json.loads(line)
    stats = row.get("stats", {})
    print("| %s | %d | %.1f | %.1f | %.2f | %.1f / %.1f | %s | %s | %s |" % (
        row["mode"], row["sizes"], row["captured_MiB"], row["after_replays_MiB"], row["start_s"], row["host_p50_us"], row["host_p99_us"],
        row["wrong"], stats.get("groups", ""), "%d, %d" % (stats["device_switches"], stats["updates"] + stats["node_switches"]) if stats else ""))
PY
exit $failed
