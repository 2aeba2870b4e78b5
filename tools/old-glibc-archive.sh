#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a static library of the build machine fit for an older glibc: what its objects import gets the
# versions of src/base/glibc_compat.h, as .symver does for our own sources.
#   tools/old-glibc-archive.sh OBJCOPY VERSION COMPAT_HEADER IN.a OUT.a      VERSION: GLIBC_2.2.5
set -eu
export LC_ALL=C
objcopy=$1 version=$2 header=$3 in=$4 out=$5

# TARE_OLD(name)                       → name=name@VERSION
# TARE_OLD_AT(name, old, VERSION or TARE_OLD_OR("GLIBC_x")) → name=old@…; the second is x86's
while read -r name old at; do
	[[ $at == GLIBC_* && $version == GLIBC_2.2.5 ]] || at=$version
	echo "$name $old@$at"
done < <(grep -v '#define' "$header" |
	grep -oE 'TARE_OLD\([a-z_0-9]+\)|TARE_OLD_AT\([^)]*\)' |
	sed -E 's/TARE_OLD\((.*)\)/\1 \1 -/; s/TARE_OLD_AT\(([^,]*), ([^,]*), (TARE_OLD_OR\("([^"]*)"|.*)\)?/\1 \2 \4-/; s/ (GLIBC_[0-9.]+)-$/ \1/' |
	grep -v '^__libc_start_main ') >"$out.names"
# The names that C23 gave to strtol and its like (glibc 2.38), under their old ones.
for name in strtol strtoul strtoll strtoull sscanf; do
	echo "__isoc23_$name $name"
done >>"$out.names"
"$objcopy" --redefine-syms="$out.names" "$in" "$out"
