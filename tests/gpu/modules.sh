#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What each module holds on a real GPU: parameters, gradients, state and activations of a small ResNet, a transformer, the
# same with checkpoints, and torchvision's resnet50, beside what the program's own objects and hooks say, module by module;
# and that DataParallel and torch.compile run the same when they are recorded. One GPU; about 3 minutes. One table last.
#   tests/gpu/modules.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: modules.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
all=(resnet transformer checkpointed resnet50 wrapped)
export PYTHONPATH=$here/../../python${PYTHONPATH:+:$PYTHONPATH} TARE_SCAN=eager

compared() { # MODULE MODEL
	local name=modules_$2
	record_python "$1" "$name" 120 allocations,vmm,trial "$here/../e2e/python/modules.py" "$2" "$out/$name.truth" cuda
	[ -s "$out/$name.truth" ] || return
	python3 "$here/modules/compare.py" "$tare" "$out/$name.tare" "$out/$name.truth" "$name" >"$out/$name.answer" 2>&1
	grep -v '^{' "$out/$name.answer"
	add_row "$(grep '^{' "$out/$name.answer" || python3 "$here/driver/figure.py" "$name" "NO ANSWER" \
		"$(tail -n 1 "$out/$name.answer")")"
	"$tare" report "$out/$name.tare" --by module --at peak:tensors | head -n 40
}

part_resnet() {
	compared torch resnet
}

part_transformer() {
	compared torch transformer
}

part_checkpointed() {
	compared torch checkpointed
}

part_resnet50() {
	compared torchvision resnet50
}

# No oracle: what is shown is looked at.
part_wrapped() {
	local kind
	for kind in parallel compiled; do
		record_python torch "modules_$kind" 180 allocations,vmm,trial "$here/programs/modules_wrapped.py" "$kind"
		[ -d "$out/modules_$kind.tare" ] && "$tare" report "$out/modules_$kind.tare" --by module --at peak:tensors
	done
}

run_parts "${@:-${all[@]}}"
