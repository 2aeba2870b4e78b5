#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh SIM_FOLDER FACTS: the simulated driver against what was measured.
here=$(cd "$(dirname "$0")" && pwd)
found=$(mktemp)
trap 'rm -f "$found"' EXIT
"$here/run.sh" sim "$1" "$2" >"$found" || exit 1
python3 "$here/compare.py" "$here/h200.facts" "$found"
