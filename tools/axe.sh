#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# axe-core, which finds what a page has against people who use it without eyes or without a mouse, for t_page_look: axe.min.js (0.4 MB) of
# one package of pip, in the cache folder, made once. Prints its path.
#   tools/axe.sh           make it if it is not there
#   tools/axe.sh --path    only say where it is, or would be
# TARE_TEST_CACHE is the folder for such things instead of ~/.cache/tare-tests.
# Exit codes: 0 it is there; 77 it cannot be had here.
set -u
umask 022
package=axe-playwright-python==0.1.4 # axe-core 4.4.3
sha256=74c0993ac92c2ede522c56bf2cdda42216b22af53c4d94a684767fd42883c7fb
folder=${TARE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tare-tests}/axe-4.4.3

echo "$folder/axe.min.js"
[ "${1-}" != --path ] || exit 0
[ ! -e "$folder/axe.min.js" ] || exit 0

cannot() {
	echo "tare: no axe-core: $1; its test will skip" >&2
	rm -rf "$new"
	exit 77
}
mkdir -p "$folder" || exit 77
new=$(mktemp -d "$folder/new.XXXXXX") || exit 77
echo "$package --hash=sha256:$sha256" > "$new/wanted"
"$(dirname "$0")/wheels.sh" "$new" "$new/wanted" || cannot 'its package could not be downloaded'
mv "$new/axe_playwright_python/axe.min.js" "$folder/axe.min.js" || cannot 'the package has no axe.min.js'
rm -rf "$new"
