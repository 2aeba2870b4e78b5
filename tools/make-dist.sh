#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds dist/tare-<version>-<arch>/, one folder that can be copied anywhere.
#   tools/make-dist.sh [--arch aarch64]
# The last line of output is the folder.
set -eu
cd "$(dirname "$0")/.."

build=${TARE_DIST_BUILD:-build-dist}
if [ "${1:-}" = --arch ] && [ "$2" != "$(uname -m)" ]; then
	build=$build-$2
	set -- --cross-file "tools/cross/$2-linux-gnu.ini" -Dlibraries_folder="$(tools/foreign-libraries.sh "$2")"
else
	set --
fi
if [ ! -e "$build/build.ninja" ]; then
	meson setup "$build" --prefix=/ -Dbuildtype=release -Dcompat=enabled "$@" >&2
fi
ninja -C "$build" build.ninja >&2 # what is installed may have changed since
# Only what is installed: most of a build is tests.
meson introspect "$build" --installed | python3 -c '
import json, os, sys
build = os.path.realpath(sys.argv[1])
print(*(os.path.relpath(file, build) for file in json.load(sys.stdin) if file.startswith(build + "/")), sep="\0", end="")
' "$build" | xargs -0 ninja -C "$build" >&2
arch=$(LC_ALL=C readelf -h "$build/tare" | sed -nE 's/ *Machine: *(.*)/\1/p' |
	sed 's/.*X86-64/x86_64/; s/AArch64/aarch64/')
name=tare-$(cat VERSION)-$arch
out=${TARE_DIST_DIR:-dist}/$name
rm -rf "$out"
mkdir -p "$out"
DESTDIR=$(realpath "$out") meson install -C "$build" --no-rebuild --strip >/dev/null
cp README.md LICENSE LICENSE.zstd LICENSE.libbacktrace CHANGELOG.md "$out"
tools/check-symbol-versions.sh "$out" >&2
echo "$out"
