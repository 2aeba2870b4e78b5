#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SQLite, zstd and libbacktrace for another machine than this one: the headers and the static libraries of the distribution's own
# packages. Needs apt and, the first time, a network; no root.
#   tools/foreign-libraries.sh aarch64        The last line of output is the folder that has them.
set -eu
cd "$(dirname "$0")/.."

machine=$1
folder=$PWD/build-deps/$machine
if [ ! -e "$folder/libbacktrace.a" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$folder"
	tools/foreign-packages.sh "$machine" "$work" libsqlite3-dev libzstd-dev "libgcc-$(gcc -dumpversion | cut -d. -f1)-dev"
	mv "$work"/usr/include/{sqlite3,zstd,zstd_errors}.h "$work"/usr/lib/*/libsqlite3.a "$folder"
	mv "$work"/usr/lib/*/libzstd.a "$work"/usr/lib/gcc/*/*/include/backtrace{,-supported}.h "$folder"
	mv "$work"/usr/lib/gcc/*/*/libbacktrace.a "$folder" # last: it says that all is there
fi
# The header of libmicrohttpd, which is opened at run time, is the same on every machine.
[ ! -e /usr/include/microhttpd.h ] || cp /usr/include/microhttpd.h "$folder"
echo "$folder"
