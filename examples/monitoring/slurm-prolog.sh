#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TaskProlog of Slurm (slurm.conf: TaskProlog=/etc/slurm/tare-prolog.sh): each line "export NAME=VALUE" that it prints is put into the environment of
# the task. Every task is recorded so into a folder that `tare serve` reads: /shared/recordings/job1234-0.tare of rank 0, and so on. What a
# user records by `tare run` is left alone, and where anything is missing the task starts as it would have.
set -u
recordings=${TARE_RECORDINGS:-/shared/recordings}
if [ -n "${TARE_RECORDING:-}" ] || ! [ -w "$recordings" ] || ! command -v tare >/dev/null; then
	exit 0
fi
variables=$(tare env -o "$recordings/job$SLURM_JOB_ID-$SLURM_PROCID.tare" 2>/dev/null) || exit 0
eval "$variables" || exit 0
for name in $(sed -n 's/^export \([A-Z0-9_]*\)=.*/\1/p' <<<"$variables"); do
	echo "export $name=${!name}"
done
