#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# PyTorch's CUDA build from pip, for tests that run it on the simulated GPU: a virtual environment below the cache folder,
# made once (5 GB). Prints its path.
#   tools/cuda-venv.sh           make it if it is not there
#   tools/cuda-venv.sh --path    only say where it is, or would be
#   tools/cuda-venv.sh 2.5.1     the same with another PyTorch alone, which t_simulated_torch.py runs, too, where it is there
# TARE_TEST_CACHE is the folder for such things instead of ~/.cache/tare-tests.
# Exit codes: 0 it is there; 77 it cannot be made here: no room, no Python with venv, or pip reaches no registry.
set -u
umask 022
torch=2.11.0
packages=(torch==$torch torchvision==0.26.0 transformers==5.17.0)
case ${1:-} in
[0-9]*)
	torch=$1
	packages=(torch=="$torch" 'numpy<2') # which PyTorch before 2.3 was built for
	;;
esac
folder=${TARE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tare-tests}/torch-$torch

echo "$folder"
[ "${1:-}" != --path ] || exit 0
[ ! -e "$folder/.ready" ] || exit 0

cannot() {
	echo "tare: no PyTorch for the simulated GPU: $1; tests that need it will skip" >&2
	rm -rf "$folder.new"
	exit 77
}

[ "$(uname -m)" = x86_64 ] || cannot 'not tried on this processor'
python=$(command -v /usr/bin/python3 || command -v python3) || cannot 'there is no python3'
mkdir -p "$(dirname "$folder")" || cannot "$(dirname "$folder") cannot be made"
[ "$(df -Pk "$(dirname "$folder")" | awk 'NR == 2 { print $4 }')" -ge $((12 << 20)) ] || cannot 'less than 12 GiB are free'
rm -rf "$folder.new"
"$python" -m venv "$folder.new" >&2 || cannot 'python3 has no venv'
# Into its place first: what pip writes has the path in it.
rm -rf "$folder" && mv "$folder.new" "$folder"
timeout 1200 "$folder/bin/python" -m pip install -q --no-input "${packages[@]}" >&2 || {
	rm -rf "$folder"
	cannot 'pip could not install it'
}
touch "$folder/.ready"
