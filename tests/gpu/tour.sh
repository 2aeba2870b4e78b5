#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What docs/TOUR.md shows, on a real GPU: a fine-tuning that runs out of 24 GiB, mended, and `tare top` beside it, whose
# rows must sum to what nvidia-smi shows. The recordings are left for the pictures. One table last.
#   tests/gpu/tour.sh TARE_FOLDER [OUTPUT_FOLDER]       TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?dist folder}" && pwd)
out=${2:-$(mktemp -d)}
tare=$dist/bin/tare
program=$here/../../examples/finetune.py
work=$(mktemp -d)
mkdir -p "$out"
cd "$work" || exit 1

"$tare" run --vram 24GiB -o first.tare -- python3 "$program" >first.out 2>first.err
first=$?
"$tare" run -o mended.tare -- python3 "$program" --no-grad >mended.out 2>mended.err
mended=$?

# A program that is not recorded, and one that is; the screen beside them.
python3 -c 'import torch, time; x = torch.zeros(2**30 // 4, device="cuda"); time.sleep(60)' &
other=$!
"$tare" record -o live.tare -- python3 "$program" --no-grad --steps 200 >/dev/null 2>live.err &
live=$!
sleep 25
"$tare" top --once >top.txt 2>&1
"$tare" top --once --json >top.json
nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -n 1 >smi.txt
python3 "$here/tour_screen.py" "$tare" screen.raw >screen.txt
kill "$other"
wait "$live"

cat first.err top.txt
tar czf "$out/tour.tar.gz" first.* mended.* live.* top.* screen.* smi.txt
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1
python3 -c 'import torch, transformers; print("torch", torch.__version__, "transformers", transformers.__version__)'
python3 - "$first" "$mended" <<'END'
import json, sys
top = json.load(open("top.json"))
print("first exit", sys.argv[1], "mended exit", sys.argv[2])
gpu = next(row for row in top["rows"] if row["kind"] == "gpu")
parts = [row["bytes"] for row in top["rows"] if row["parent"] == gpu["row"] and row["part"]]
print("nvidia-smi %s MiB, tare top %.1f, its parts %.1f" % (
    open("smi.txt").read().strip(), gpu["bytes"] / 2**20, sum(parts) / 2**20))
print(open("screen.txt").read().strip())
END
