#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks packages of the distribution for another machine than this one into FOLDER, without adding that architecture to this
# system. Needs apt and a network; no root.
#   tools/foreign-packages.sh MACHINE FOLDER [--needs] PACKAGE...
#     --needs: and those that they need
set -eu
export LC_ALL=C

declare -A debian=([aarch64]=arm64 [x86_64]=amd64)
arch=${debian[$1]}
folder=$2
shift 2
how=(download)
[ "$1" != --needs ] || { shift && how=(install -y --no-install-recommends --download-only); }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # apt reads it as a user of its own
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts" "$folder"
. /etc/os-release
sources=()
if [ "$ID" = ubuntu ]; then # has the others on a server of their own
	printf 'deb [signed-by=/usr/share/keyrings/ubuntu-archive-keyring.gpg] %s %s main universe\n' \
		http://ports.ubuntu.com/ubuntu-ports "$VERSION_CODENAME" >"$work/sources.list"
	sources=(-o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts="$work/parts")
fi
apt=(-q -o APT::Architecture="$arch" -o APT::Architectures="$arch" "${sources[@]}"
	-o Dir::State::Lists="$work/lists" -o Dir::State::status="$work/parts/none"
	-o Dir::Cache="$work/cache" -o APT::Sandbox::User=root)
: >"$work/parts/none"
apt-get "${apt[@]}" update >&2
(cd "$work/cache/archives" && apt-get "${apt[@]}" "${how[@]}" "$@" >&2)
for package in "$work"/cache/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner -C "$folder"
done
