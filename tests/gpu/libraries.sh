#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a card's libraries take, recorded for the tables and rules of simgpu: cuDNN's workspaces for the convolutions of a file
# (`tare calibrate --libraries`), twice for some of them, and by tests/gpu/conv_answers.c where gcc and cuDNN's headers are there;
# cuSOLVER's workspaces. One GPU, python3 with PyTorch; about 2 minutes. One table last.
#   tests/gpu/libraries.sh TARE_FOLDER OUTPUT_FOLDER CONVOLUTIONS     TARE_FOLDER: a dist folder (make dist)
# CONVOLUTIONS: a file that tools/conv-shapes.py wrote, or .xz of it. OUTPUT_FOLDER gets libraries.conv, which becomes the
# repository's as simgpu/tables/CARD-cudnn-VERSION.conv with a word in simgpu/tables/meson.build, and what cuSOLVER answered.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "${1:?usage: libraries.sh TARE_FOLDER OUTPUT_FOLDER CONVOLUTIONS}" && pwd) || exit 2
out=${2:?output folder}
given=${3:?file of convolutions}
tare=$dist/bin/tare
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

case $given in
*.xz) python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"))' "$given" "$work/keys" || exit 2 ;;
*) cp "$given" "$work/keys" || exit 2 ;;
esac

cudnn=$(python3 -c 'import glob, sys
print(next((f for p in sys.path for f in glob.glob(p + "/nvidia/cudnn/lib/libcudnn.so.9")), "libcudnn.so.9"))')
record() { # KEYS OUTPUT
	timeout 150 "$tare" calibrate --libraries "$1" --cudnn "$cudnn" -f -o "$out/$2.conv" --json >"$out/$2.json" 2>"$out/$2.err" ||
		{ failed=1; echo "calibrate --libraries $2: exit $?"; tail -n 3 "$out/$2.err"; }
}

record "$work/keys" libraries
# Is it the same the second time? And what conv_answers.c, which is compiled against NVIDIA's headers, says?
awk 'NR % 40 == 1' "$work/keys" >"$work/some"
record "$work/some" again
if gcc -O1 -I/usr/local/include -I/usr/local/cuda/include "$here/conv_answers.c" -o "$work/conv_answers" -ldl 2>"$out/gcc.err"; then
	for part in 0 1 2 3; do
		timeout 60 "$work/conv_answers" --library "$cudnn" --part $part/4 <"$work/some" >"$work/answers.$part" 2>>"$out/conv_answers.err" &
	done
	wait
	cat "$work"/answers.? >"$out/conv_answers.txt"
fi
timeout 60 python3 "$here/solver_answers.py" >"$out/solver.txt" 2>"$out/solver.err" || { failed=1; tail -n 3 "$out/solver.err"; }

python3 "$here/simulated/libraries_table.py" "$out" | tee "$out/libraries.md"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
exit $failed
