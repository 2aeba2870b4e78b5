#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What pinned memory and communicators of one rank take of a card, call by call: the rules `host_map` of a profile and
# simgpu/libs/nccl_memory.def. One GPU, nothing else on it; a minute. Two tables.
#   tests/gpu/mapping.sh TARE_FOLDER       TARE_FOLDER: a dist folder (make dist), for its version
set -u
here=$(cd "$(dirname "$0")" && pwd)
tare=$(cd "${1:?usage: mapping.sh TARE_FOLDER}" && pwd)/bin/tare || exit 2
timeout -k 5 90 "${PYTHON:-python3}" "$here/residue/mapping.py"
timeout -k 5 80 "${PYTHON:-python3}" "$here/nccl.py" --alone ${LIBNCCL:+"$LIBNCCL"}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "simulated GPU"
"$tare" --version | head -1
date -u '+%Y-%m-%d %H:%M UTC'
