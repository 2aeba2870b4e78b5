#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Do programs run in what was predicted of them without a GPU? The 20 trainings of tests/data/pef_rows.txt, each capped at the prediction
# (tests/data/pef_h100.csv), and 12 of them on cards of 8, 16 and 24 GiB (`tare run --vram`); and six edges of such cards, the largest
# batch that fits and one more (tests/data/edge_h100.csv). One H100, python3 with PyTorch, torchvision and transformers; about 6 minutes.
# Two tables last.
#   tests/gpu/pef.sh TARE_FOLDER [OUTPUT_FOLDER]       TARE_FOLDER: a dist folder (make dist)
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: pef.sh TARE_FOLDER [OUTPUT_FOLDER]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1
python3 -c 'import torch, torchvision, transformers
print("torch", torch.__version__, "torchvision", torchvision.__version__, "transformers", transformers.__version__)'
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
python3 "$here/simulated/pef.py" ask "$dist/bin/tare" "$here/../data/pef_h100.csv" | tee "$out/pef.md"
python3 "$here/simulated/pef.py" ask "$dist/bin/tare" "$here/../data/edge_h100.csv" | tee "$out/edge.md"
