#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The driver's facts, one "section.fact value" a line on stdout. Sections run in processes of their own.
#   tests/gpu/facts/run.sh real [FACTS]             the driver of this machine; needs nvcc
#   tests/gpu/facts/run.sh sim SIM_FOLDER [FACTS]   the simulated one in SIM_FOLDER (build/simgpu)
# FACTS is the compiled facts*.c; it is compiled here where it is not given.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
variants="NONE TABLE PRINTF MALLOC STACK"
if [ "$1" = real ]; then
	program=${2:-}
	nvcc -cubin -arch=native -o "$work/all" "$here/kernels.cu" || exit 1
	nvcc -cubin -arch=native -o "$work/big" "$here/big.cu" || exit 1
	for variant in $variants; do
		nvcc -cubin -arch=native "-D$variant=2048" -o "$work/$variant" "$here/one.cu" || exit 1
	done
else
	export LD_LIBRARY_PATH=$2 TARE_SIM_DIR=$work
	program=${3:-}
	cp "$here/kernels.sim" "$work/all"
	mark=tare-sim-module
	printf '%s\nkernel big%d code=330000\nkernel big%d code=330000\nkernel big%d code=330000\nkernel big%d code=330000\n' \
		$mark 0 1 2 3 >"$work/big"
	printf '%s\nkernel k0 code=512\n' $mark >"$work/NONE"
	printf '%s\nkernel k0 code=512\nglobal table 16 MiB\n' $mark >"$work/TABLE"
	printf '%s\nkernel k0 code=512 printf=1\n' $mark >"$work/PRINTF"
	printf '%s\nkernel k0 code=512 malloc=1\n' $mark >"$work/MALLOC"
	printf '%s\nkernel k0 code=512 local=2048\n' $mark >"$work/STACK"
fi
if [ -z "$program" ]; then
	program=$work/facts
	gcc -O1 -D_GNU_SOURCE -I "$root" -I "$root/src" -o "$program" "$here"/facts*.c "$root/src/calibrate/driver.c" -ldl || exit 1
fi
facts() {
	timeout 100 "$program" "$1" "$work/$2" "${3:-0,0}" || echo "$1.ENDED $?"
}
for section in contexts heap heap_first code limits stack_again events arrays host managed pools vmm errors pending captured second; do
	facts $section all
done
for kind in 0,0 1,0 1,-1 1,-5 mixed; do
	facts streams all $kind
done
for variant in $variants; do
	facts modules "$variant" "$variant,k0"
done
facts modules big big,big0,big1,big2,big3
CUDA_MODULE_LOADING=EAGER facts modules NONE NONE_eager,k0
CUDA_MODULE_LOADING=EAGER facts modules big big_eager,big0,big1
facts modules all all,k0,kprintf,kmalloc
facts libraries NONE NONE,k0
facts libraries PRINTF PRINTF,k0
facts libraries big big,big0
for touch in 2,kernel 16,kernel 64,kernel 16,set 64,set 16,prefetch 300,prefetch; do
	facts touches all $touch
done
for nodes in 10 100 300 1000 2000 5000 10000 20000; do
	facts graphs all "k0,$nodes"
done
for nodes in 10 30 100 300 1000 5000; do
	facts graphs all "kparam,$nodes"
done
for nodes in 100 1000 5000; do
	facts graphs all "kmiddle,$nodes"
done
facts graphs all memset,5000
facts graphs all memory,1
facts graphs all memory,2
