#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds dist/tare-<version>-<arch>/, one folder that can be copied anywhere.
#   tools/make-dist.sh [meson setup arguments, such as --cross-file FILE]
# The last line of output is the folder.
set -eu
cd "$(dirname "$0")/.."

build=${TARE_DIST_BUILD:-build-dist}
if [ ! -e "$build/build.ninja" ]; then
	meson setup "$build" --prefix=/ -Dbuildtype=release -Ddebug=true -Dcompat=enabled "$@" >&2
fi
ninja -C "$build" >&2
arch=$(meson introspect --machines "$build" | sed -nE 's/.*"host": \{[^}]*"cpu": "([^"]+)".*/\1/p')
name=tare-$(cat VERSION)-$arch
out=${TARE_DIST_DIR:-dist}/$name
rm -rf "$out"
mkdir -p "$out"
DESTDIR=$(realpath "$out") meson install -C "$build" --no-rebuild --strip >/dev/null
cp README.md LICENSE CHANGELOG.md "$out"
tools/check-symbol-versions.sh "$out" >&2
echo "$out"
