#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The arithmetic of examples/lattice.py, without a GPU: its solvers reach their residuals.
#   lattice.sh EXAMPLES
set -u
export PYTHONDONTWRITEBYTECODE=1
python=
for candidate in python3 /usr/bin/python3; do # the one in front of the system's may lack its packages
	"$candidate" -c 'import torch' 2>/dev/null && python=$candidate && break
done
n=0

ok() { # NAME WANTED-EXIT-CODE WANTED-TEXT ARGUMENT…
	local name=$1 want=$2 text=$3 got
	shift 3
	n=$((n + 1))
	if [ -z "$python" ]; then
		echo "ok $n - $name # SKIP not installed: python3-torch"
		return
	fi
	out=$("$python" "$examples/lattice.py" "$@" 2>&1)
	got=$?
	if [ $got = "$want" ] && [[ $out = *"$text"* ]]; then
		echo "ok $n - $name"
	else
		printf '# exit %s\n%s\n' "$got" "$out" | sed 's/^/# /'
		echo "not ok $n - $name"
	fi
}

examples=$1
echo "1..4"
ok "solvers converge" 0 "residual of the observable" --cpu
ok "any sizes" 0 "max_iter=7" --cpu --bs 1 --L 3 --asym 1 --cross 3 --max-iter 7 --max-iter-se 20 --shifts 2 --nrv 1
ok "a wrong number" 2 "numbers with commas" --cpu --max-iter 3x
ok "no shift" 2 "at least" --cpu --shifts 1
