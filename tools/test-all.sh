#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything that `make test` runs. The last line of output is "N passed, N failed[, N skipped]";
# the exit code is 0 only if nothing failed.
#   tools/test-all.sh [--quick] [--stage NAME] [--san LIST] [--aarch64] [BUILD_DIR]
#     --quick: style, and the unit tests that are not slow    --aarch64: all that can be emulated, 25 minutes
#     --stage: one of `stages` below, alone
# A step that cannot run here (no cross compiler, say) is skipped with its reason, not passed. With TARE_CI=1 what an
# install or an option would end is a failure instead. TARE_REAL_DATA=FOLDER: files that other people's tools wrote.
set -u
cd "$(dirname "$0")/.." || exit 2
[ -n "${TARE_TEST_CLEAN:-}" ] || TARE_TEST_CLEAN=1 exec tests/clean.py tools/test-all.sh "$@"

stages='native dist clang address thread aarch64'
quick='' san='' aarch64='' stage=''
while [[ ${1:-} == --* ]]; do
	case $1 in
	--quick) quick=1 ;;
	--san) san=$2 && shift ;;
	--aarch64) aarch64=1 ;;
	--stage) stage=$2 && shift ;;
	*) echo "tools/test-all.sh: unknown option $1" >&2 && exit 2 ;;
	esac
	shift
done
if [ -n "$stage" ] && [[ " $stages " != *" $stage "* ]]; then
	echo "tools/test-all.sh: no stage $stage: there are $stages" >&2
	exit 2
fi
build=${1:-build}
jobs=${TARE_TEST_JOBS:-$((2 * $(nproc)))} # more than processors: many tests mostly wait
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log" "$log.times"' EXIT

say() { printf '== %s\n' "$*"; }

# cpu: seconds that this script and what it ran have used of the processors. A busy machine does not change them.
read_cpu() {
	times >"$log.times" # of a subshell it would be 0
	cpu=$(awk '{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] } }
		END { printf "%d", sum }' "$log.times")
}

# A stage begins; then `took`: how long it was.
begin() {
	read_cpu
	began=$SECONDS began_cpu=$cpu
}

end() {
	read_cpu
	took="($((SECONDS - began)) s, CPU $((cpu - began_cpu)) s)"
}

# skip PACKAGE…: what a stage needs is not here. In CI an install would have ended that.
skip() {
	echo "  skipped: not installed: $1"
	if [ -n "${TARE_CI:-}" ]; then
		failed=$((failed + 1))
	else
		skipped=$((skipped + 1))
	fi
}

# step NAME COMMAND…: one test; its output is shown only if it fails.
step() {
	local name=$1 result
	shift
	begin
	"$@" >"$log" 2>&1
	result=$?
	end
	if [ $result -eq 0 ]; then
		passed=$((passed + 1))
		say "$name: ok $took"
	else
		failed=$((failed + 1))
		say "$name: FAILED $took"
		tail -n 60 "$log"
		return 1
	fi
}

# setup_and_build DIR [meson setup argument…]: what $target names, or everything.
setup_and_build() {
	local dir=$1
	shift
	[ -e "$dir/build.ninja" ] || meson setup "$dir" "$@" || return 1
	ninja -C "$dir" -j "$jobs" ${target:+"$target"}
}

# run_tests NAME DIR [meson test argument…]: counts every test inside.
run_tests() {
	local name=$1 dir=$2 p f s
	shift 2
	begin
	rm -f "$dir/meson-logs/testlog.json"
	meson test -C "$dir" --num-processes "$jobs" "$@" >"$log" 2>&1
	end
	if ! read -r p f s < <(tools/count-tests.py "$dir/meson-logs/testlog.json"); then
		failed=$((failed + 1))
		say "$name: FAILED, meson test wrote no log"
		tail -n 30 "$log"
		return 1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	say "$name: $p passed, $f failed, $s skipped $took"
}

has() { command -v "$1" >/dev/null 2>&1; }

# sanitized LIST [meson test argument…]: optimised a little, which the tests do in less than half the time. What a sanitizer
# makes of the code is nothing to warn of.
sanitized() {
	local san=$1 dir=build-san-${1//,/-}
	shift
	[ -e "$dir/build.ninja" ] || step "set up with $san sanitizer" meson setup "$dir" -Db_sanitize="$san" \
		-Db_lundef=false -Dbuildtype=debug -Doptimization=1 -Dwerror=false -Dcheck=true || return
	# The tests build what they need.
	run_tests "unit tests with $san sanitizer" "$dir" --suite unit "$@"
	# By the clock: were more run at once, each would find less.
	[ "$san" = thread ] || run_tests "fuzzing with $san sanitizer" "$dir" --suite fuzz --num-processes $(($(nproc) + 1))
}

# emulated [meson test argument…]: the other kind of machine.
emulated() {
	local target=product
	if ! has aarch64-linux-gnu-gcc || ! has qemu-aarch64-static; then
		skip 'gcc-aarch64-linux-gnu or qemu-user-static'
		return
	fi
	step 'build for aarch64' setup_and_build build-aarch64 --cross-file tools/cross/aarch64-linux-gnu.ini \
		-Dlibraries_folder="$(tools/foreign-libraries.sh aarch64 2>"$log")" || return
	step 'glibc versions on aarch64' tools/check-symbol-versions.sh build-aarch64/tare \
		build-aarch64/src/recorder build-aarch64/simgpu
	step 'stack of the recorder on aarch64' tools/check-recorder-stack.py build-aarch64
	TARE_REAL_DATA='' run_tests 'tests on aarch64 (qemu)' build-aarch64 "$@"
}

finish() {
	began=0 began_cpu=0
	end
	say "all $took"
	printf '%d passed, %d failed' "$passed" "$failed"
	[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
	printf '\n'
	[ "$failed" -eq 0 ]
	exit
}

if [ -n "$san" ]; then
	sanitized "$san"
	finish
fi

if [ -n "$aarch64" ]; then
	emulated
	finish
fi

if [ -n "$quick" ]; then
	target=product step "build in $build" setup_and_build "$build" &&
		run_tests 'style and unit tests' "$build" --suite style --suite unit --no-suite slow
	finish
fi

# Fuzzing finds more with a sanitizer, below.
stage_native() {
	step "build in $build" setup_and_build "$build" &&
		run_tests 'style, unit and end-to-end tests' "$build" --no-suite fuzz
}

stage_dist() {
	if TARE_DIST_BUILD=build-dist TARE_DIST_DIR=build-dist/out \
		step 'dist folder and glibc versions' tools/make-dist.sh; then
		step 'dist folder elsewhere' tools/check-dist.sh build-dist/out
	fi
}

# A char has no sign there, as on aarch64.
stage_clang() {
	local target=product
	has clang || { skip 'clang' && return; }
	if CC=clang CXX=clang++ step 'build with clang' setup_and_build build-clang -Dc_args=-funsigned-char; then
		run_tests 'unit tests with clang' build-clang --suite unit --no-suite slow
	fi
}

stage_address() {
	sanitized address,undefined
}

# Only tests that may have a race: the fold has one thread, and so have all that tools/threaded-tests.py does not name.
stage_thread() {
	local tests=()
	has clang || { skip 'clang, for the thread sanitizer' && return; }
	[ ! -e "$build/build.ninja" ] || mapfile -t tests < <(tools/threaded-tests.py "$build")
	CC=clang CXX=clang++ sanitized thread --no-suite fold "${tests[@]}"
}

stage_aarch64() {
	emulated --no-suite fold --no-suite slow --no-suite fuzz --no-suite reader
}

for name in ${stage:-$stages}; do
	"stage_$name"
done
finish
