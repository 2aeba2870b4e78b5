#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What NCCL takes of a card with fewer channels and smaller buffers: the driver, Tare's row, and the law of docs/RESIDUE.md. Two GPUs
# of one host, nothing else on them; two minutes. One table last.
#   tests/gpu/nccl_memory.sh TARE_FOLDER [OUTPUT_FOLDER]     TARE_FOLDER: a dist folder (make dist); SIM=h100:2: simulated
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: nccl_memory.sh TARE_FOLDER [OUTPUT_FOLDER]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
timeout -k 5 170 "${PYTHON:-python3}" "$here/residue/nccl_memory.py" "$tare" "$out" ${LIBNCCL:+"$LIBNCCL"}
code=$?
machine
exit $code
