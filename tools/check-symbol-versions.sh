#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No file that we ship may ask for a newer glibc than promised: 2.27 (Ubuntu 18.04, JetPack 4, RHEL 8). Works on
# files for any machine.
#   tools/check-symbol-versions.sh FOLDER_OR_FILE…
set -u
export LC_ALL=C

fail=0 count=0
check() {
	local file=$1 limit=2.27 newest
	readelf -h "$file" >/dev/null 2>&1 || return 0
	count=$((count + 1))
	newest=$(readelf -VW "$file" | grep -oE 'Name: GLIBC_[0-9.]+' | sed 's/.*GLIBC_//' | sort -uV | tail -1)
	if [ "$(printf '%s\n%s\n' "$limit" "${newest:-0}" | sort -V | tail -1)" != "$limit" ]; then
		echo "$file: needs glibc $newest, promised is $limit; symbols (src/base/glibc_compat.h):"
		readelf --dyn-syms -W "$file" | grep -oE "[A-Za-z0-9_]+@GLIBC_[0-9.]+" |
			awk -F'@GLIBC_' -v limit="$limit" '{ split($2, v, "."); split(limit, l, ".")
				if (v[1] > l[1] || v[1] == l[1] && v[2] > l[2]) print "\t" $0 }'
		fail=1
	fi
}

while IFS= read -r -d '' file; do
	check "$file"
done < <(find "$@" -type f \( -perm -u+x -o -name '*.so*' \) -print0)
[ $count -gt 0 ] || { echo "$*: no program and no library here"; exit 1; }
exit $fail
