#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, and only that, on Debian 12, Ubuntu 24.04 and later.
#   tools/install-deps.sh build    what `make` needs
#   tools/install-deps.sh test     and what `make test` needs besides
# Exit codes: 0 all there; 1 something is missing and could not be installed.
set -u

wanted=${1:-build}
missing=()

# need SET PACKAGE CHECK…: PACKAGE is missing when the command CHECK fails.
need() {
	local set=$1 package=$2
	shift 2
	[ "$set" = build ] || [ "$wanted" = test ] || return 0
	"$@" >/dev/null 2>&1 || missing+=("$package")
}

has() { command -v "$1"; }

need build gcc has gcc
need build binutils has ld
need build libc6-dev test -e /usr/include/stdio.h
need build meson has meson
need build ninja-build has ninja
need build pkg-config has pkg-config
need build libsqlite3-dev test -e /usr/include/sqlite3.h
need test clang has clang
need test python3 has python3
need test gcc-aarch64-linux-gnu has aarch64-linux-gnu-gcc
need test libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
need test qemu-user-static has qemu-aarch64-static
need test munge test -e /usr/sbin/munged
need test slurm-wlm test -e /usr/sbin/slurmctld

[ ${#missing[@]} -gt 0 ] || exit 0

fail() {
	echo "tare: ${missing[*]} missing, and $1" >&2
	exit 1
}

has apt-get >/dev/null || fail "there is no apt-get here: install them with this system's tools"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	has sudo >/dev/null || fail "this user is not root: apt-get install ${missing[*]}"
	as_root=(sudo)
fi

echo "tare: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
install=("${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}")
# The package lists of a fresh machine are empty, those of an old one out of date.
"${install[@]}" >/dev/null 2>&1 && exit 0
"${as_root[@]}" apt-get update -q >/dev/null
"${install[@]}" >&2 || fail "apt-get could not install them: see its message above"
