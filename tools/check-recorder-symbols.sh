#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The recorder lives in other people's processes. Checked on the finished libraries, of which _host is that of --host:
#   exports = the hooked rows of cuda_api.def + cupti.def + tools/recorder-exports.txt, nothing more or less; of _host
#   tools/recorder-exports-host.txt besides
#   imports are in tools/recorder-imports.txt: data, and no function that a program could have too
#   it is marked for shadow stacks and checked jumps
#   thread-local storage needs no __tls_get_addr (which may allocate)
#   tools/check-recorder-symbols.sh BUILD_DIR
set -u
cd "$(dirname "$0")/.." || exit 2
folder=${1:-build}/src/recorder
export LC_ALL=C

fail=0
# complain FILE SENTENCE: a failure if FILE has lines, which are shown.
complain() {
	[ -s "$1" ] || return 0
	echo "$lib: $2: $(tr '\n' ' ' <"$1")"
	fail=1
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# check NAME FILE…: the library, and what it exports besides the tables.
check() {
	lib=$folder/$1
	shift
	[ -e "$lib" ] || { echo "$lib: not built; run ninja first"; exit 1; }
	{
		sed -nE 's/^CU_API\(([A-Za-z0-9_]+), *[^,]*, *[^,]*, *[^,]*, *([A-Z]+),.*/\2 \1/p' \
			src/recorder/cuda/cuda_api.def | awk '$1 != "CALL" { print $2 }'
		sed -nE 's/^TARE_CUPTI\(([A-Za-z0-9_]+)\)$/\1/p' src/recorder/cupti/cupti.def
		sed -E 's/[[:space:]]*#.*//; /^$/d' "$@"
	} | sort -u >"$dir/want"
	nm -D --defined-only "$lib" | awk '{ print $3 }' | sed 's/@.*//' | sort -u >"$dir/have"
	comm -13 "$dir/want" "$dir/have" >"$dir/extra"
	comm -23 "$dir/want" "$dir/have" >"$dir/missing"
	complain "$dir/extra" 'exported, but in no table'
	complain "$dir/missing" 'in the table, but not exported'

	sed -E 's/[[:space:]]*#.*//; /^$/d' tools/recorder-imports.txt | sort -u >"$dir/may"
	nm -D --undefined-only "$lib" | awk '{ print $2 }' | sed 's/@.*//' | sort -u >"$dir/need"
	comm -13 "$dir/may" "$dir/need" >"$dir/banned"
	complain "$dir/banned" 'imported, but not in tools/recorder-imports.txt'

	readelf -dW "$lib" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -vx 'libc.so.6' >"$dir/needed"
	complain "$dir/needed" 'needs more than libc.so.6'

	# One library without these notes, and shadow stacks and checked jumps are off for the whole program.
	case $(readelf -hW "$lib") in
	*X86-64*) notes='IBT, SHSTK' ;;
	*AArch64*) notes='BTI, PAC' ;;
	esac
	readelf -nW "$lib" | grep -q "feature: $notes" || echo "$notes" >"$dir/notes"
	touch "$dir/notes"
	complain "$dir/notes" 'has no GNU property'

	readelf -rW "$lib" | grep -oE 'R_[A-Z0-9_]*(DTPMOD|TLSDESC)[A-Z0-9_]*' | sort -u >"$dir/tls"
	complain "$dir/tls" 'thread-local storage that is not initial-exec'
}

check libtare_recorder.so tools/recorder-exports.txt
check libtare_recorder_host.so tools/recorder-exports.txt tools/recorder-exports-host.txt
exit $fail
