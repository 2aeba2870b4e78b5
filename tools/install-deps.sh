#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, and only that, on Debian 12, Ubuntu 24.04 and later.
#   tools/install-deps.sh build    what `make` needs
#   tools/install-deps.sh check    and what `make check` and `make format` need besides
#   tools/install-deps.sh cross    and what `make dist ARCH=aarch64` needs besides
#   tools/install-deps.sh test     all of these, and what `make test` needs besides
#   tools/install-deps.sh long     and other people's programs, for `make test-long`
# Exit codes: 0 all there; 1 something is missing and could not be installed. What a test needs and the system
# does not have at all is told, and the test skips (where TARE_CI is set it fails: tools/count-tests.py).
set -u
umask 022
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive

case ${1:-build} in
build) wanted='build' ;;
check) wanted='build check' ;;
cross) wanted='build cross' ;;
test) wanted='build check cross test' ;;
long) wanted='build check cross test long' ;;
*) echo "tools/install-deps.sh: no set $1" >&2 && exit 2 ;;
esac
missing=()

# need SET PACKAGE CHECK…: PACKAGE is missing when the command CHECK fails.
need() {
	local set=$1 package=$2
	shift 2
	[[ " $wanted " = *" $set "* ]] || return 0
	"$@" </dev/null >/dev/null 2>&1 || missing+=("$package")
}

has() { command -v "$1"; }

# The run-time library of a sanitizer.
clang_has() { test -e "$(clang -print-file-name="$1-$(uname -m).a")"; }

# Where programs are linked with it from, whatever the machine.
library() { compgen -G "/usr/lib*/$1" || compgen -G "/usr/lib/*-linux-gnu/$1"; }

header_of_python() {
	test -e "$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h"
}

need build gcc has gcc
need build binutils has ld
need build libc6-dev test -e /usr/include/stdio.h
need build meson has meson
need build ninja-build has ninja
need build pkg-config has pkg-config
need build libsqlite3-dev test -e /usr/include/sqlite3.h
need build libzstd-dev test -e /usr/include/zstd.h
need build libmicrohttpd-dev test -e /usr/include/microhttpd.h
need check python3 has /usr/bin/python3
need check clang-format-14 has clang-format-14
need check cppcheck has cppcheck
need cross gcc-aarch64-linux-gnu has aarch64-linux-gnu-gcc
need cross libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
need cross qemu-user-static has qemu-aarch64-static
need test g++ has g++
need test procps has free
need test sqlite3 has sqlite3
need test clang has clang
need test libclang-rt-dev clang_has libclang_rt.tsan
need test python3-dev header_of_python
need test python3-torch /usr/bin/python3 -c 'import torch'
need test '^libpython3\.[0-9]+-testsuite$' compgen -G '/usr/lib/python3*/test/test_subprocess.py'
need test spin has spin
need test python3-venv /usr/bin/python3 -c 'import ensurepip'
need test python3-ipykernel /usr/bin/python3 -c 'import ipykernel'
need test python3-psutil /usr/bin/python3 -c 'import psutil'
need test zsh has zsh
need test fish has fish
need test zstd has zstd
need test chromium has chromium
need test esbuild has esbuild
need test podman has podman
need test runc has runc
need test postgresql compgen -G '/usr/lib/postgresql/*/bin/initdb'
need test libjemalloc2 library libjemalloc.so.2
need test libtcmalloc-minimal4 library libtcmalloc_minimal.so.4
need test libmimalloc2.0 library libmimalloc.so.2
need test munge test -e /usr/sbin/munged
need test slurm-wlm test -e /usr/sbin/slurmctld
need test golang-go has go
need test nodejs has node
need test valgrind test -e /usr/libexec/valgrind/dh_view.js
need long stress-ng has stress-ng
need long redis-server has redis-server
need long python3-pytest test -e /usr/lib/python3/dist-packages/pytest
need long python3-hypothesis test -e /usr/lib/python3/dist-packages/hypothesis
need long default-jdk-headless has javac

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

# Of a package that the system does not have.
unknown() {
	apt-get install -s -q --no-install-recommends "$1" 2>&1 </dev/null |
		grep -Eq "Unable to locate|Couldn't find any package|no installation candidate"
}

keep_known() {
	local package known=()
	for package in "${missing[@]}"; do
		if unknown "$package"; then
			echo "tare: this system has no package $package: tests that need it will skip" >&2
		else
			known+=("$package")
		fi
	done
	missing=(${known[@]+"${known[@]}"})
}

install_all() {
	[ ${#missing[@]} -eq 0 ] ||
		"${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null
}

echo "tare: installing ${missing[*]}" >&2
# The package lists of a fresh machine are empty, those of an old one out of date.
install_all >/dev/null 2>&1 && exit 0
"${as_root[@]}" apt-get update -q >/dev/null </dev/null
keep_known
install_all >&2 || fail "apt-get could not install them: see its message above"
