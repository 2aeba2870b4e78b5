#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What recording costs a step, three ways, in one table last; one GPU, about 8 minutes (on a CPU it runs, too):
#   a coin, tossed for every step of one process, says whether it is recorded; a second coin has no effect
#   the recorder's own clock around what it does
#   processes in turn, with the recorder loaded but off, and without it
#     tests/gpu/overhead.sh TARE_FOLDER OUTPUT_FOLDER [COST_LIBRARY [WORKLOAD…]]
# TARE_FOLDER: a dist folder (make dist). COST_LIBRARY: ninja -C build-dist src/recorder/libtare_recorder_cost.so.
# PYTHON, SECONDS_EACH (60), TURNS (3), TURN_SECONDS (3); APART=1: tare alone on the first CPU;
# RECORD_OPTIONS: of tare record, to see what of it costs (--no-scan, --stacks none, --no-tensors).
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: overhead.sh TARE_FOLDER OUTPUT_FOLDER [COST_LIBRARY [WORKLOAD…]]}" && pwd) || exit 2
out=${2:?a folder for the output}
cost=${3:-}
shift $(($# < 3 ? $# : 3))
python=${PYTHON:-python3}
measure=$here/overhead/measure.py
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rows=$out/overhead.jsonl
: >"$rows"
began=$SECONDS

# What it measures goes behind the table's lines, what it says to a file; a failure is shown.
keep() { # NAME COMMAND…
	local name=$1
	shift
	if timeout -k 5 200 "$@" >"$work/line" 2>"$out/$name.log"; then
		tee -a "$rows" <"$work/line"
	else
		echo "$name: failed"
		tail -n 3 "$out/$name.log"
	fi
}

recorded() { # TARE NOP MODE WORKLOAD SECONDS
	local tare=$1 nop=$2
	shift 2
	TARE_TEST_NOP=$nop keep "$2-$1" ${APART:+taskset -c 0} "$tare" record ${RECORD_OPTIONS:-} -f -o "$work/rec.tare" -- \
		"$python" "$measure" "$@"
}

if [ -n "$cost" ]; then
	cp -rL "$dist" "$work/cost"
	chmod -R u+w "$work/cost"
	find "$work/cost" -name libtare_recorder.so -exec cp "$cost" {} \;
fi
for workload in "${@:-resnet50 gpt2 decode mlp}"; do
	for name in $workload; do
		echo "== $name"
		recorded "$dist/bin/tare" switch coin "$name" "${SECONDS_EACH:-60}"
		[ -z "$cost" ] || recorded "$work/cost/bin/tare" switch cost "$name" 10
		case $name in resnet50 | gpt2) continue ;; esac
		for _ in $(seq "${TURNS:-3}"); do
			keep "$name-plain" "$python" "$measure" plain "$name" "${TURN_SECONDS:-3}"
			recorded "$dist/bin/tare" 1 loaded "$name" "${TURN_SECONDS:-3}"
		done
	done
done
{
	"$python" "$here/overhead/table.py" "$rows"
	code=$?
	echo
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "no GPU"
	"$python" -c 'import sys, torch; print("Python %d.%d, PyTorch %s" % (sys.version_info[:2] + (torch.__version__,)))'
	"$dist/bin/tare" --version | head -1
	echo "$((SECONDS - began)) s"
	exit $code
} | tee "$out/overhead.md"
exit "${PIPESTATUS[0]}"
