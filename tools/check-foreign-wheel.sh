#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The wheels of both machines do what they are for: each is made, goes into a fresh virtual environment of a machine of its kind, and
# there `tare --version`, `tare doctor`, `tare demo` and `tare info --check` run. The other machine is a folder with its packages of
# this distribution; qemu-user runs what is in there, which a kernel of 6.7 and newer does by itself in name spaces of our own.
#   tools/check-foreign-wheel.sh [MACHINE]...       x86_64 and aarch64
# Exit codes: 0 they do; 1 they do not; 77 there is no qemu-user, or no binfmt_misc in name spaces.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# use_wheel FOLDER: what a user types in a folder that has a wheel, and what has to come of it.
use_wheel() {
	set -eu
	cd "$1"
	python3 -m venv venv
	venv/bin/pip install -q --no-index --disable-pip-version-check ./*.whl
	PATH=$PWD/venv/bin:$PATH
	tare --version
	tare doctor
	tare demo --sim h200 -o demo.tare 2>&1 | tee demo.txt
	grep -qE '^unexplained +0\.0 +0\.0$' demo.txt
	tare info --check demo.tare
}

# as_foreign MACHINE ROOT: the same in the root of another machine, by the root of name spaces of our own.
as_foreign() {
	set -eu
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
	# F: the kernel opens qemu now, here; in the root there is none.
	sed "s|:[^:]*:[^:]*$|:$(command -v "qemu-$1-static"):F|" "/usr/lib/binfmt.d/qemu-$1.conf" >/proc/sys/fs/binfmt_misc/register
	for folder in proc dev sys; do
		mkdir -p "$2/$folder"
		mount --rbind "/$folder" "$2/$folder"
	done
	chroot "$2" /bin/bash -c "$(declare -f use_wheel); use_wheel /wheel"
}

[ $# -gt 0 ] || set -- x86_64 aarch64
for machine; do
	wheel=$(make -s wheel ARCH="$machine" | tail -1)
	echo "--- $wheel"
	if [ "$machine" = "$(uname -m)" ]; then
		mkdir "$work/wheel"
		cp "$wheel" "$work/wheel"
		(use_wheel "$work/wheel")
		continue
	fi
	command -v "qemu-$machine-static" >/dev/null || { echo 'skipped: not installed: qemu-user-static'; exit 77; }
	unshare -rm mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || { echo 'skipped: no binfmt_misc in name spaces'; exit 77; }
	tools/foreign-packages.sh "$machine" "$work/root" --needs bash coreutils grep python3-venv >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
	mkdir "$work/root/wheel"
	cp "$wheel" "$work/root/wheel"
	unshare -rmpf bash -c "$(declare -f use_wheel as_foreign); as_foreign $machine $work/root"
done
