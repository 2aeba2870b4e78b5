# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What driver.sh and driver2.sh share. A part is a function part_NAME; it adds rows and never stops
# the script. Set before: here, dist, out. With SIM=h200 programs run on the simulated GPU.
tare=$dist/bin/tare
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rows=$out/rows.jsonl
: >"$rows"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore

add_row() {
	echo "$1" >>"$rows"
	echo "$1"
}

figure() { # NAME VERDICT TEXT…
	add_row "$(python3 "$here/driver/figure.py" "$@")"
}

skip() { # NAME REASON
	figure "$1" skipped "$2"
}

has_module() {
	python3 -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)" 2>/dev/null
}

has_command() {
	"$tare" help "$1" >/dev/null 2>&1
}

# NAME SECONDS ACCOUNTS COMMAND…: records COMMAND and adds its row. options=(…) go to tare run.
options=()
record() {
	local name=$1 seconds=$2 accounts=$3 code
	shift 3
	timeout -k 5 "$seconds" "$tare" run -f ${SIM:+--sim "$SIM"} "${options[@]}" -o "$out/$name.tare" -- "$@" \
		>"$out/$name.stdout" 2>"$out/$name.ledger"
	code=$?
	[ $code = 0 ] || sed '/^tare: exit/,$d' "$out/$name.ledger" | tail -n 5
	add_row "$(python3 "$here/driver/row.py" "$tare" "$out/$name.tare" "$name" $code "$accounts" \
		${nodes:+"$nodes"})"
	return $code
}

# NAME: compiles programs/NAME.c against the driver; nvcc knows where its headers and stubs are.
compile() {
	[ -x "$work/$1" ] || nvcc -O1 -o "$work/$1" "$here/programs/$1.c" -lcuda 2>"$work/$1.log"
}

record_c() { # NAME SECONDS ACCOUNTS [ARGUMENT…]
	local name=$1 seconds=$2 accounts=$3
	shift 3
	if compile "$name"; then
		record "$name" "$seconds" "$accounts" "$work/$name" "$@"
	else
		skip "$name" "does not compile: $(head -c 200 "$work/$name.log")"
	fi
}

record_python() { # MODULE NAME SECONDS ACCOUNTS SCRIPT [ARGUMENT…]
	local module=$1 name=$2 seconds=$3 accounts=$4 script=$5
	shift 5
	if has_module "$module"; then
		record "$name" "$seconds" "$accounts" python3 "$script" "$@"
	else
		skip "$name" "no $module here"
	fi
}

# PART…: runs them in turn, then prints the one table; its exit code says whether all is well.
run_parts() {
	local part failed
	for part; do
		[ "$(type -t "part_$part")" = function ] && continue
		echo "$(basename "$0"): no part $part; there is ${all[*]}" >&2
		exit 2
	done
	for part; do
		echo "== $part"
		options=()
		nodes=
		"part_$part"
	done
	{
		python3 "$here/driver/table.py" "$rows"
		failed=$?
		echo
		machine
		exit $failed
	} | tee "$out/table.md"
	return "${PIPESTATUS[0]}"
}

machine() {
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo "simulated GPU"
	"$tare" --version 2>/dev/null | head -1
	python3 - <<'PY'
from importlib import metadata

def version(name):
    try:
        return "%s %s" % (name, metadata.version(name))
    except metadata.PackageNotFoundError:
        return None

names = ("torch", "torchvision", "jax", "cupy-cuda13x", "cupy-cuda12x", "triton")
print(", ".join(v for v in map(version, names) if v) or "no Python packages of interest")
PY
	date -u '+%Y-%m-%d %H:%M UTC'
}
