#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes dist/page.html, which is inside the program and checked in, of page.html, page.css and src: needs esbuild (Debian has it).
#
#     web/build.sh            writes dist/page.html
#     web/build.sh --check    1 where dist/page.html is not what the source gives
# Another version of esbuild writes the same otherwise: --check ends with 77 there.
set -eu
made_with=0.17.0
cd "$(dirname "$0")"
if [ "${1-}" = --check ] && [ "$(esbuild --version)" != "$made_with" ]; then
	echo "dist/page.html is of esbuild $made_with, this is $(esbuild --version)"
	exit 77
fi
out=$(mktemp -d "${TMPDIR:-/tmp}/tare-web.XXXXXX")
trap 'rm -rf "$out"' EXIT
esbuild src/main.ts --bundle --minify --charset=ascii --target=es2020 --format=iife --log-level=warning --outfile="$out/page.js"
esbuild page.css --minify --charset=ascii --log-level=warning --outfile="$out/page.min.css"
awk -v js="$out/page.js" -v css="$out/page.min.css" '
function copy(file,   line) { while ((getline line < file) > 0) print line }
$0 == "@JS@" { copy(js); next }
$0 == "@CSS@" { copy(css); next }
{ print }' page.html > "$out/page.html"
if grep -c '</script' "$out/page.js"; then
	echo "web/build.sh: the script would end the element that it is in" >&2
	exit 1
fi > /dev/null
if [ "${1-}" = --check ]; then
	cmp "$out/page.html" dist/page.html
else
	mkdir -p dist
	cp "$out/page.html" dist/page.html
fi
