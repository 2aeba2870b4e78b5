#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `tare report --by serving` says of a server's cache and graphs, beside trying, on a real GPU.
#
#   tests/gpu/serving.sh DIST OUT
#
# DIST is the unpacked dist folder, OUT gets recordings, logs and serving.json. Needs Python with PyTorch, and for the second program
# transformers. Two programs are recorded: the miniature server, and decoding by transformers with a static cache. Of both: all graphs
# as foretold after 4 of them, beside all. Of the server: the largest cache that is said to be safe, beside the largest with
# which it runs, found by halving down to 64 MiB. The table comes last. Three minutes.
set -u
[ $# -ge 2 ] || { sed -n 5p "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
exec python3 "$here/serving/measure.py" "$(readlink -f "$1")/bin/tare" "$(readlink -f "$2")"
