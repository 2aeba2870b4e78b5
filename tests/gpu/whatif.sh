#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What PyTorch would reserve under other settings, predicted from one recording and then measured: three programs, six settings,
# and whether 80 % of the recorded peak would do. Then five programs under four settings, recorded and replayed. One GPU; about 6
# minutes, 2 with RECORDINGS=only. The tables come last.
#   tests/gpu/whatif.sh TARE_FOLDER [OUTPUT_FOLDER] [PROGRAM…]     TARE_FOLDER: a dist folder (make dist)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: whatif.sh TARE_FOLDER [OUTPUT_FOLDER] [PROGRAM…]}" && pwd)
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
python3 -c 'import torch; print("PyTorch", torch.__version__)'
[ "${RECORDINGS:-}" = only ] || python3 "$here/whatif/table.py" "$dist/bin/tare" "$out" "$@"
python3 "$here/whatif/recordings.py" "$dist/bin/tare" "$out" "$@"
