#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SQLite, zstd and libbacktrace for another machine than this one: unpacks the headers and the static libraries of the
# distribution's own packages, without adding that architecture to this system. Needs apt and, the first time, a
# network; no root.
#   tools/foreign-libraries.sh aarch64        The last line of output is the folder that has them.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."

machine=$1
declare -A debian=([aarch64]=arm64 [x86_64]=amd64)
arch=${debian[$machine]}
folder=$PWD/build-deps/$machine
if [ ! -e "$folder/libbacktrace.a" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work" # apt reads it as a user of its own
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts" "$folder"
	. /etc/os-release
	if [ "$ID" = ubuntu ]; then # has the others on a server of their own
		printf 'deb [signed-by=/usr/share/keyrings/ubuntu-archive-keyring.gpg] %s %s main universe\n' \
			http://ports.ubuntu.com/ubuntu-ports "$VERSION_CODENAME" >"$work/sources.list"
		sources=(-o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts="$work/parts")
	else
		sources=()
	fi
	apt=(-q -o APT::Architecture="$arch" -o APT::Architectures="$arch" "${sources[@]}"
		-o Dir::State::Lists="$work/lists" -o Dir::State::status="$work/parts/none"
		-o Dir::Cache="$work/cache" -o APT::Sandbox::User=root)
	: >"$work/parts/none"
	apt-get "${apt[@]}" update >&2
	(cd "$work" && apt-get "${apt[@]}" download libsqlite3-dev libzstd-dev "libgcc-$(gcc -dumpversion | cut -d. -f1)-dev" >&2)
	for package in "$work"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work" ./usr
	done
	mv "$work"/usr/include/{sqlite3,zstd,zstd_errors}.h "$work"/usr/lib/*/libsqlite3.a "$folder"
	mv "$work"/usr/lib/*/libzstd.a "$work"/usr/lib/gcc/*/*/include/backtrace{,-supported}.h "$folder"
	mv "$work"/usr/lib/gcc/*/*/libbacktrace.a "$folder" # last: it says that all is there
fi
# The header of libmicrohttpd, which is opened at run time, is the same on every machine.
[ ! -e /usr/include/microhttpd.h ] || cp /usr/include/microhttpd.h "$folder"
echo "$folder"
