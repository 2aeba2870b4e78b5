#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Peaks of a GPT's larger configurations: the law of tare fit, and a replay of traces that were made up for them, against what
# PyTorch says. docs/measurements/fit-replay.md. One GPU and PyTorch 2.1 or later.
#   tests/gpu/fit_replay.sh TARE [OUTPUT_FOLDER]       TARE: the program
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tare=${1:?usage: fit_replay.sh TARE [OUTPUT_FOLDER]}
out=${2:-$(mktemp -d)}
for optimizer in adamw sgd; do
	python3 "$here/programs/gpt_trace.py" "$out/$optimizer" --optimizer "$optimizer"
	python3 "$here/../bench/fit_replay.py" "$out/$optimizer" --tare "$tare" | tee "$out/$optimizer.txt"
done
