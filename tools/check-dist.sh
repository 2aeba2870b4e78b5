#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The dist folder works wherever it is copied: a path with a space, an environment with nothing in
# it, and links to none of the build machine's folders. So does what `make install` makes.
#   tools/check-dist.sh FOLDER_WITH_THE_DIST_FOLDER
set -eu

dist=$(echo "$1"/tare-*)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
copy="$dir/a folder"
cp -r "$dist" "$copy"

for file in bin/tare README.md LICENSE LICENSE.zstd LICENSE.libbacktrace CHANGELOG.md share/man/man1/tare.1 \
	lib/tare/libtare_recorder.so lib/tare/libtare_recorder_host.so lib/tare/simgpu/libcuda.so.1 \
	lib/tare/simgpu/libnvidia-ml.so.1 lib/tare/simgpu/profiles lib/tare/simgpu/ranks lib/tare/simgpu/tables; do
	[ -e "$copy/$file" ] || { echo "$dist: $file is missing"; exit 1; }
done
# As a path from the root: "/src" of a build there is not "build/src".
if grep -rlIE "(^|[^[:alnum:]_./-])$PWD(/|$)" "$copy"; then
	echo "$dist: these files name the build folder"
	exit 1
fi
TARE_DIST_DIR=$1 make -s install DESTDIR="$dir/root" PREFIX=/opt/it
cd /
env -i "$dir/root/opt/it/bin/tare" --version
env -i PATH=/usr/bin:/bin "$dir/root/opt/it/bin/tare" doctor
env -i "$copy/bin/tare" --version
env -i HOME="$dir" PATH=/usr/bin:/bin "$copy/bin/tare" record --host=full -o "$dir/heap.tare" -- ls / | grep -q usr
# The simulated GPU, so that this needs none.
env -i HOME="$dir" PATH=/usr/bin:/bin "$copy/bin/tare" demo --sim h200
said=$(env -i HOME="$dir" PATH=/usr/bin:/bin "$copy/bin/tare" sweep --sim h200 -o "$dir/t.db" --grid a=1,2 -- true 2>&1) ||
	{ echo "$said"; exit 1; }
