#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Downloads packages of pip and unpacks them into FOLDER; nothing is installed. WANTED has a line a package, with its version and checksum.
# The pip is that of a virtual environment, which is removed again: Debian's python3 has none of its own.
#   tools/wheels.sh FOLDER WANTED [OPTION OF pip download]...
# Exit codes: 0 they are there; 1 they are not, and the last line of stderr says why.
set -u
folder=$1
wanted=$2
shift 2

python=$(command -v /usr/bin/python3 || command -v python3) || { echo 'there is no python3' >&2; exit 1; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
"$python" -m venv "$scratch/venv" >&2 || { echo 'python3 has no venv' >&2; exit 1; }
timeout 300 "$scratch/venv/bin/python" -m pip download -q --no-input --no-deps --require-hashes -d "$scratch" -r "$wanted" "$@" >&2 ||
	{ echo 'pip could not get them' >&2; exit 1; }
for wheel in "$scratch"/*.whl; do
	"$python" -m zipfile -e "$wheel" "$folder" || { echo "$wheel is no archive" >&2; exit 1; }
done
