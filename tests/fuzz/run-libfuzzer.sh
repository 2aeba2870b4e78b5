#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run-libfuzzer.sh FUZZER DRIVER SECONDS: fuzzes from the seed corpus that DRIVER writes, with a
# fixed seed. An input that crashes stays in the current folder.
set -eu

corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
"$2" --seeds "$corpus"
"$1" -seed=1 -max_len=131072 -timeout=20 -rss_limit_mb=2048 -max_total_time="$3" -print_final_stats=1 "$corpus"
