#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Host memory beside a GPU's: a training of ResNet-50 recorded with --host, taken apart by phase on both sides (what
# .to("cuda") costs here and there, what is pinned), and what recording costs the training. One GPU; about 4 minutes.
# The tables come last.
#   [TURNS=1] tests/gpu/host.sh TARE_FOLDER [OUTPUT_FOLDER]     TARE_FOLDER: a dist folder (make dist)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: host.sh TARE_FOLDER [OUTPUT_FOLDER]}" && pwd)
out=${2:-$(mktemp -d)}
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
python3 -c 'import sys, torch; print("PyTorch", torch.__version__, "Python", sys.version.split()[0])'
python3 "$here/host/table.py" "$dist/bin/tare" "$out"
