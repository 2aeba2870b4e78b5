#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `tare env` prints works in a shell, and `tare doctor` finds this build good.
#   env_doctor.sh TARE IS_SANITIZED
set -u
wrapper=${MESON_EXE_WRAPPER:-}
program=$(realpath "$1")
tare="$wrapper $program"
is_sanitized=$2
unset LD_PRELOAD TARE_RECORDING
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

ok() { # NAME CONDITION…
	local name=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
	fi
}

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# The exit code of the rest of the command line is the first argument.
exits() {
	local want=$1 got
	shift
	"$@" >"$dir/out" 2>"$dir/err"
	got=$?
	[ "$got" = "$want" ]
}

odd="$dir/it's a folder.tare"
sourced() {
	(
		LD_PRELOAD=/lib/of/the/user.so
		text=$($tare env -o "$odd" 2>"$dir/err") || exit 1
		# Not exported here: what is tested is the text, not this machine's linker.
		eval "${text//export /}"
		[ -d "$odd" ] && [ "$(stat -c %a "$odd")" = 700 ] && [ "$TARE_RECORDING" = "$odd" ] &&
			[[ $LD_PRELOAD == "$TARE_LIBRARY":/lib/of/the/user.so ]] &&
			[[ $TARE_LIBRARY != *[\ :]* ]]
	)
}
ok 'the text sets what it says, quotes and blanks included' sourced

relative() { (cd "$dir" && $tare env -o rel.tare | grep -q "TARE_RECORDING='$dir/rel.tare'"); }
ok 'a relative folder becomes absolute' relative

own_name() { $tare env | grep -Eq "TARE_RECORDING='/.*/env-[0-9]{8}-[0-9]{6}-[0-9]+\.tare'"; }
ok 'a name of its own' own_name

simulated() { $tare env --sim h200 | grep -q '^export LD_LIBRARY_PATH='; }
if [ -e "$(dirname "$program")/simgpu/libcuda.so.1" ]; then
	ok 'the simulated GPU comes by LD_LIBRARY_PATH' simulated
fi

docker() {
	$tare env --docker -o "$dir/d.tare" >"$dir/out" && [ -d "$dir/d.tare" ] &&
		grep -q '^--env LD_PRELOAD=/opt/tare/libtare_recorder.so$' "$dir/out" &&
		grep -q "^--mount type=bind,source=$dir/d.tare,target=/tare-recording$" "$dir/out"
}
ok 'arguments for docker, and the folder is made' docker
ok 'docker takes no blanks' exits 2 $tare env --docker -o "$dir/a b.tare"
ok 'docker or JSON' exits 2 $tare env --docker --json

stacks() {
	$tare env --stacks none | grep -q "^export TARE_STACKS='none'$" && ! $tare env | grep -q TARE_STACKS
}
ok 'stacks are chosen by a variable' stacks
ok 'and not by any word' exits 2 $tare env --stacks all

json() { $tare env --json -o "$odd" | grep -qF "\"TARE_RECORDING\": \"$odd\""; }
ok 'JSON' json

doctor() {
	local code
	$tare doctor >"$dir/out"
	code=$?
	[ $code = 0 ] && grep -q '^ok    recorder' "$dir/out"
}
if [ -n "$wrapper" ]; then
	skip 'doctor' 'an emulated program cannot start itself'
elif [ "$is_sanitized" = true ]; then
	skip 'doctor' 'a sanitizer must be loaded first'
else
	ok 'doctor finds the recorder' doctor
	ok 'doctor --json' eval "$tare doctor --json | grep -q '\"checks\"'"
	ok 'a dead TMPDIR is told' eval "TMPDIR=/nowhere $tare doctor | grep -q 'TMPDIR=/nowhere'"
	ok 'hidden GPUs are told' \
		eval "CUDA_VISIBLE_DEVICES= $tare doctor | grep -q 'hides every GPU'"
fi
echo "1..$n"
