#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tensors on a real GPU: what a recording says of PyTorch's pool at marked instants, to the byte beside what
# torch counts then, with segments of both kinds; what tensors are for, beside what the program's own objects
# take and what torch.profiler says; what all of it costs. One GPU; about 5 minutes. One table last.
#   tests/gpu/tensors.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]     TARE_FOLDER: a dist folder (make dist)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: tensors.sh TARE_FOLDER [OUTPUT_FOLDER] [PART…]}" && pwd) || exit 2
out=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
# shellcheck source=tests/gpu/driver/lib.sh
. "$here/driver/lib.sh"
all=(resnet shapes expandable categories objects transformer overhead)

# NAME OPTION SCRIPT [ARGUMENT…]: records it and compares; OPTION: expandable, or nothing.
compare_pool() {
	local name=$1 option=$2
	shift 2
	record_python torchvision "$name" 60 allocations,vmm,trial "$@" || return
	[ -s "$out/$name.stdout" ] || return
	answer "$name: pool" "$name" python3 "$here/tensors/compare.py" "$tare" "$out/$name.tare" "$out/$name.stdout" \
		"$name: pool" ${option:+"$option"}
}

# ROW NAME COMMAND…: shows what it prints; the line of JSON in it is a row of the table.
answer() {
	local row=$1 file=$out/$2.answer
	shift 2
	"$@" >"$file" 2>&1
	grep -v '^{' "$file"
	if grep -q '^{' "$file"; then
		add_row "$(grep '^{' "$file")"
	else
		figure "$row" "NO ANSWER" "$(tail -n 1 "$file")"
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
		answer "categories: $kind" "categories_$kind" python3 "$here/tensors/categories.py" "$tare" \
			"$out/categories_$kind.tare" "$out/categories_$kind.truth" "categories: $kind"
	done
}

# What ResNet-50's own objects take; with torch.profiler too, whose CUPTI takes memory in ways of its own.
part_objects() {
	local kind name
	for kind in sgd momentum adam accumulate profile; do
		name=objects_$kind
		[ $kind = profile ] && set -- adam profile || set -- $kind
		record_python torchvision "$name" 90 allocations "$here/programs/resnet50_objects.py" "$@" || return
		[ -s "$out/$name.stdout" ] || return
		answer "$name" "$name" python3 "$here/tensors/objects.py" "$tare" "$out/$name.tare" "$out/$name.stdout" "$name"
	done
}

part_transformer() {
	compare_pool transformer "" "$here/programs/transformer_mix.py"
	"$tare" report "$out/transformer.tare" --by category --at peak:tensors
	"$tare" report "$out/transformer.tare" --at oom | grep -A 6 '^! out of memory'
}

part_overhead() {
	local line ms share low high
	has_module torchvision || { skip overhead "no torchvision here"; return; }
	record overhead 150 allocations python3 "$here/programs/resnet50_overhead.py" toggle "$tare" || return
	read -r ms share low high <"$out/overhead.stdout"
	figure "ResNet-50 batch 8, a step" "$(python3 -c "print('ok' if $share <= 1 else 'TOO MUCH')")" \
		"$ms ms; recording adds $share % (95 % interval $low to $high)"
	record peers 150 allocations python3 "$here/programs/resnet50_overhead.py" peers "$tare" || return
	while read -r line; do
		figure "ResNet-50 batch 8: ${line%%:*}" "${line:+ok}" "${line#*: }"
	done <"$out/peers.stdout"
}

run_parts "${@:-${all[@]}}"
