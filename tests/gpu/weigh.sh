#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tare weigh and tare explain say of a process that uses CUDA: pinned memory, mappings of the driver, managed memory,
# and the figures of nvidia-smi, ps and PyTorch at the same moment. One GPU, PyTorch, 1 min. One table last; exit 1 if a row
# is off.
#   tests/gpu/weigh.sh TARE_FOLDER [OUTPUT_FOLDER]     TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: weigh.sh TARE_FOLDER [OUTPUT_FOLDER]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
mkdir -p "$out"
exec "${PYTHON:-python3}" "$here/weigh/check.py" "$dist/bin/tare" "$out"
