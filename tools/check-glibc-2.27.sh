#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the wheel on Ubuntu 18.04, which has glibc 2.27, Python 3.6 and pip 9 like JetPack 4, and asks it
# what the first minute asks. By hand: needs root, debootstrap and a network, and keeps FOLDER.
#   tools/check-glibc-2.27.sh WHEEL FOLDER
set -eu
wheel=$(realpath "$1") folder=$(realpath -m "$2")
packages=python3,python3-pip,python3-distutils
mirror=http://archive.ubuntu.com/ubuntu

if [ ! -e "$folder/.ready" ]; then
	# The machine may lack Ubuntu's keys; nothing of this system leaves FOLDER.
	debootstrap --variant=minbase --no-check-gpg --components=main,universe --include="$packages" \
		bionic "$folder" "$mirror"
	touch "$folder/.ready"
fi
# Its pip knows no name with a glibc version in it, but that of any Linux.
name=$(basename "$wheel")
cp "$wheel" "$folder/${name/manylinux_2_27/linux}"
inside() {
	env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		unshare --mount --pid --fork bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$folder" "$@"
}
inside /bin/sh -eux -c "
	ldd --version | head -n 1
	python3 --version
	python3 -m pip --version
	python3 -m pip install --no-index /${name/manylinux_2_27/linux}
	tare --version
	python3 -m tare --version
	tare doctor
	cd /tmp
	rm -rf demo.tare t.db
	tare demo --sim h200 -o demo.tare
	tare report demo.tare --by process
	tare sweep --sim h200 -o t.db --grid a=1,2 -- true
	python3 -m pip uninstall -y tare
"
