#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tensors on a real GPU: what a recording says of PyTorch's pool at marked instants, to the byte beside what
# torch counts then, with segments of both kinds. One GPU; about 2 minutes. One table last.
#   tests/gpu/tensors.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: tensors.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
all=(resnet shapes expandable categories)

# NAME OPTION SCRIPT [ARGUMENT…]: records it and compares; OPTION: expandable, or nothing.
compare_pool() {
	local name=$1 option=$2
	shift 2
	record_python torchvision "$name" 60 allocations,vmm,trial "$@" || return
	[ -s "$out/$name.stdout" ] || return
	python3 "$here/tensors/compare.py" "$tare" "$out/$name.tare" "$out/$name.stdout" "$name: pool" \
		${option:+"$option"} >"$out/$name.pool" 2>&1
	grep -v '^{' "$out/$name.pool"
	if grep -q '^{' "$out/$name.pool"; then
		add_row "$(grep '^{' "$out/$name.pool")"
	else
		figure "$name: pool" "NO ANSWER" "$(tail -n 1 "$out/$name.pool")"
	fi
}

part_resnet() {
	local kind
	for kind in sgd momentum adam accumulate; do
		compare_pool "resnet50_$kind" "" "$here/programs/resnet50_pool.py" "$kind"
	done
}

part_shapes() {
	compare_pool shapes "" "$here/programs/pool_shapes.py"
	"$tare" report "$out/shapes.tare" --by pool --at phase:graph:end
	"$tare" report "$out/shapes.tare" --at oom | grep -A 6 '^! out of memory'
}

part_expandable() {
	export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
	compare_pool resnet50_expandable expandable "$here/programs/resnet50_pool.py" adam
	compare_pool shapes_expandable expandable "$here/programs/pool_shapes.py"
	unset PYTORCH_CUDA_ALLOC_CONF
}

part_categories() {
	local kind
	for kind in sgd momentum adam accumulation inference; do
		PYTHONPATH=$here/../../python record_python torch "categories_$kind" 60 allocations,vmm,trial \
			"$here/../e2e/python/categories.py" "$kind" "$out/categories_$kind.truth" cuda
		[ -s "$out/categories_$kind.truth" ] || continue
		python3 "$here/tensors/categories.py" "$tare" "$out/categories_$kind.tare" \
			"$out/categories_$kind.truth" "categories: $kind" >"$out/categories_$kind.cells" 2>&1
		grep -v '^{' "$out/categories_$kind.cells"
		add_row "$(grep '^{' "$out/categories_$kind.cells")"
	done
}

run_parts "${@:-${all[@]}}"
