#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes dist/page.html and dist/compare.html, which are inside the program and checked in, of page.html, page.css and src: needs
# esbuild (Debian has it).
#
#     web/build.sh            writes them
#     web/build.sh --check    1 where they are not what the source gives
# Another version of esbuild writes the same otherwise: --check ends with 77 there.
set -eu
made_with=0.17.0
cd "$(dirname "$0")"
if [ "${1-}" = --check ] && [ "$(esbuild --version)" != "$made_with" ]; then
	echo "dist is of esbuild $made_with, this is $(esbuild --version)"
	exit 77
fi
out=$(mktemp -d "${TMPDIR:-/tmp}/tare-web.XXXXXX")
trap 'rm -rf "$out"' EXIT
esbuild page.css --minify --charset=ascii --log-level=warning --outfile="$out/page.min.css"

# make_page NAME ENTRY: a page whose script begins with a file of src.
make_page() {
	esbuild "src/$2.ts" --bundle --minify --charset=ascii --target=es2020 --format=iife --log-level=warning --outfile="$out/$1.js"
	awk -v js="$out/$1.js" -v css="$out/page.min.css" '
	function copy(file,   line) { while ((getline line < file) > 0) print line }
	$0 == "@JS@" { copy(js); next }
	$0 == "@CSS@" { copy(css); next }
	{ print }' page.html > "$out/$1.html"
	if grep -q '</script' "$out/$1.js"; then
		echo "web/build.sh: the script would end the element that it is in" >&2
		exit 1
	fi
	if [ "$3" = --check ]; then
		cmp "$out/$1.html" "dist/$1.html"
	else
		mkdir -p dist
		cp "$out/$1.html" "dist/$1.html"
	fi
}
# esbuild drops types without a look at them; where TypeScript's compiler is, it looks.
if [ "${1-}" = --check ] && command -v tsc > /dev/null; then
	tsc --noEmit --strict --target es2020 --moduleResolution node --lib es2020,dom,dom.iterable src/main.ts src/compare.ts
fi
make_page page main "${1-}"
make_page compare compare "${1-}"
