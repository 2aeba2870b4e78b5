#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What NCCL takes of a card, on two GPUs of one host with nothing else on them. Two tables, last:
#   settings        with fewer channels and smaller buffers: the driver, Tare's row, and the law of docs/RESIDUE.md; two minutes
#   communicators   by communicator: channel buffers, what is connected lazily, what a program registers; half a minute
#   tests/gpu/nccl_memory.sh TARE_FOLDER [OUTPUT_FOLDER [PART…]]     TARE_FOLDER: a dist folder (make dist); SIM=h100:2: simulated
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: nccl_memory.sh TARE_FOLDER [OUTPUT_FOLDER [PART…]]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
code=0
for part in "${@:-communicators settings}"; do
	for one in $part; do
		case $one in
		settings) script=nccl_memory.py ;;
		communicators) script=nccl_comms.py ;;
		*) echo "nccl_memory.sh: no part $one" >&2; exit 2 ;;
		esac
		timeout -k 5 170 "${PYTHON:-python3}" "$here/residue/$script" "$tare" "$out" ${LIBNCCL:+"$LIBNCCL"} || code=$?
	done
done
machine
exit $code
