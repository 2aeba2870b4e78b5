#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds dist/tare-<version>-<arch>/, one folder that can be copied anywhere.
#   tools/make-dist.sh [meson setup arguments, such as --cross-file FILE]
# The last line of output is the folder.
set -eu
cd "$(dirname "$0")/.."

build=${TARE_DIST_BUILD:-build-dist}
if [ ! -e "$build/build.ninja" ]; then
	meson setup "$build" --prefix=/ -Dbuildtype=release -Dcompat=enabled "$@" >&2
fi
ninja -C "$build" >&2
arch=$(LC_ALL=C readelf -h "$build/tare" | sed -nE 's/ *Machine: *(.*)/\1/p' |
	sed 's/.*X86-64/x86_64/; s/AArch64/aarch64/')
name=tare-$(cat VERSION)-$arch
out=${TARE_DIST_DIR:-dist}/$name
rm -rf "$out"
mkdir -p "$out"
DESTDIR=$(realpath "$out") meson install -C "$build" --no-rebuild --strip >/dev/null
cp README.md LICENSE CHANGELOG.md "$out"
tools/check-symbol-versions.sh "$out" >&2
echo "$out"
