#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare calibrate on a real GPU: how long it takes, whether two runs agree, how they compare with the
# profile that comes with Tare, and whether the simulated GPU made from them answers as the real one did.
#   tests/gpu/calibrate.sh TARE_FOLDER [OUTPUT_FOLDER]       TARE_FOLDER: a dist folder (make dist)
# OUTPUT_FOLDER/gpu.profile is the profile. It becomes the repository's with
#   cp OUTPUT_FOLDER/gpu.profile simgpu/profiles/h200.profile && tools/gen-profile-doc.py
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?dist folder}" && pwd)
out=${2:-$(mktemp -d)}
tare=$dist/bin/tare
mkdir -p "$out"

{
	nvidia-smi --query-gpu=name,driver_version,memory.used --format=csv,noheader
	"$tare" calibrate -f -o "$out/gpu.profile"
	code=$?
	echo "exit $code"
	echo
	echo "once more, against the first:"
	"$tare" calibrate --compare "$out/gpu.profile" --json >"$out/again.json"
	echo "exit $?"
	python3 - "$out/again.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
print("%.1f s" % (d["duration_ns"] / 1e9))
for row in d["constants"]:
    if row["differs"] or row["state"] not in ("measured", "given"):
        print(row["constant"], row["state"], row["value"], row["low"], row["high"], "first:", row["profile_value"], row["why"])
PY
	nvidia-smi --query-gpu=memory.used --format=csv,noheader
	echo
	echo "the simulated GPU made of it, against what an H200 answered:"
	if TARE_SIM_PROFILE=$out/gpu.profile "$here/facts/run.sh" sim "$dist/lib/tare/simgpu" >"$out/sim.facts"; then
		python3 "$here/facts/compare.py" "$here/facts/h200.facts" "$out/sim.facts"
	fi
	exit $code
} 2>&1 | tee "$out/calibrate_table.txt"
