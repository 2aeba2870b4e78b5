#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A distributed job on a real machine with two GPUs, recorded both ways: one tare in front of torchrun,
# and one in front of each rank. The two must say the same of every rank, no rank may be another's
# neighbour, and the books of both GPUs must balance to 2 MiB. Then the control word on one of them.
#   tests/gpu/ranks.sh TARE_FOLDER [OUTPUT_FOLDER]       TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?dist folder}" && pwd)
out=${2:-$(mktemp -d)}
tare=$dist/bin/tare
program=$here/programs/ddp_resnet50.py
mkdir -p "$out/each"
rm -rf "$out"/one.tare "$out"/each/*.tare "$out"/ctl.tare

timeout 200 "$tare" record -o "$out/one.tare" -- \
	python3 -m torch.distributed.run --standalone --nproc-per-node 2 "$program" || exit 1
(cd "$out/each" && timeout 200 python3 -m torch.distributed.run --standalone --nproc-per-node 2 --no-python \
	"$tare" run -- python3 "$program") || exit 1
"$tare" report "$out/one.tare" --by rank
"$tare" report "$out/each" --by rank
"$tare" report "$out/one.tare" --by rank --json >"$out/one.json"
"$tare" report "$out/each" --by rank --json >"$out/each.json"

timeout 200 "$tare" record --paused -o "$out/ctl.tare" -- python3 "$here/programs/resnet50_adam.py" &
until "$tare" ctl "$out/ctl.tare" resume 2>/dev/null; do sleep 0.2; done
for action in pause resume "snapshot middle"; do
	sleep 2
	# shellcheck disable=SC2086
	"$tare" ctl "$out/ctl.tare" $action
done
wait
"$tare" report "$out/ctl.tare" --json >"$out/ctl.json"

python3 - "$out" <<'PYTHON'
import json, sys
MIB = 1 << 20
bad = 0

def check(name, value, limit):
    global bad
    bad += abs(value) > limit
    print("%-52s %10.1f MiB  %s" % (name, value / MIB, "ok" if abs(value) <= limit else "TOO MUCH"))

def load(name):
    with open("%s/%s.json" % (sys.argv[1], name)) as text:
        return json.load(text)

one, each = load("one"), load("each")
for name, report in (("one tare", one), ("a tare each", each)):
    for d in report["devices"]:
        check("%s, GPU %d: unexplained at its peak" % (name, d["index"]), d["unexplained_bytes"], 2 * MIB)
        check("%s, GPU %d: other processes, beyond the start" % (name, d["index"]),
              sum(r["bytes"] for r in d["accounts"] if r["leaf"] and r["path"].startswith("other"))
              - (d["used_start_bytes"] or 0), 16 * MIB)
rows = [{(r["rank"], r["device"]): r for r in report["rows"] if r["context_bytes"]} for report in (one, each)]
for key in sorted(rows[0]):
    check("rank %d on GPU %d: one tare less a tare each" % key,
          rows[0][key]["bytes"] - rows[1].get(key, {"bytes": 0})["bytes"], 16 * MIB)
for d in load("ctl")["devices"]:
    check("paused twice, GPU %d: unexplained at its peak" % d["index"], d["unexplained_bytes"], 2 * MIB)
sys.exit(bad > 0)
PYTHON
