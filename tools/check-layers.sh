#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The dependency law, as a check of #include lines:
#   base <- dwarf <- ledger; base <- record <- store <- trace <- ledger (core <- its parts <- rows <- settle) <- view <- cmd <- main;
#   witness, ledger <- session <- rollup <- cmd; compact <- rollup; import <- cmd;
#   snapshot, allocator <- replay <- import; db, ledger <- export <- cmd;
#   db, witness, ledger <- sweep <- cmd; db <- fit <- cmd; witness, ledger <- weigh <- cmd; session, witness, ledger <- top <- serve <- cmd
# The recorder includes itself and the headers named below, which are written for it too.
# And the map of folders in docs/INTERNALS.md, and who may print. One line per violation; exit 1 if there is any.
set -u
cd "$(dirname "$0")/.." || exit 2

# What the files of a folder may include, as an extended regular expression.
declare -A may=(
	[base]='base/'
	[profile]='profile/' # libc only: the simulated driver has it too
	[record]='(record|base)/'
	[store]='(store|record|base)/'
	[trace]='(trace|record|base)/|store/(store|state_file)\.h$'
	[compact]='(compact|store|trace|record|base)/'
	[import]='(import|replay|allocator|snapshot|trace|record|base)/'
	[rollup]='(rollup|session|ledger|compact|store|trace|record|base)/'
	[witness]='(witness|base)/|record/(format|host_memory|nvml_abi)\.h$'
	[calibrate]='(calibrate|profile|witness|base)/|record/format\.h$|recorder/cuda/cuda_api\.def$|simgpu/(sim_(abi\.h|extra\.def)|libs/conv(_table)?\.h)$'
	[session]='(session|witness|profile|trace|record|base)/|simgpu/sim_tell\.h$'
	[db]='(db|base)/'
	[sweep]='(sweep|db|witness|ledger|trace|record|base)/'
	[dwarf]='(dwarf|base)/'
	[ledger]='(ledger|trace|record|dwarf|base)/'
	[view]='(view|ledger|base)/|sweep/summary\.h$|record/(format\.h|bytes\.h|node\.def)$' # for TARE_NOT_KNOWN
	[export]='(export|db|ledger|trace|record|base)/'
	[fit]='(fit|db|base)/'
	[replay]='(replay|allocator|snapshot|base)/'
	[snapshot]='(snapshot|base)/'
	[allocator]='(allocator|base)/'
	[weigh]='(weigh|witness|ledger|base)/|record/format\.h$' # for TARE_NOT_KNOWN
	[top]='(top|session|witness|ledger|trace|record|base)/'
	[serve]='(serve|top|session|ledger|trace|record|base)/'
	[cmd]='(cmd|export|serve|top|replay|allocator|snapshot|weigh|fit|view|sweep|db|ledger|rollup|session|compact|import|calibrate|profile|witness|trace|record|base)/|graphs/choose\.h$|recorder/cuda/cuda_api\.def$'
	[recorder]='recorder/|record/(allowance|chunk|clock|cuda_abi|encode|format|lane|nvml_abi|nvtx_abi|path|schema_text|script|vram)\.h$|record/[a-z_]+\.def$' # libc only
	[graphs]='graphs/|tare/tare_graphs\.h$|record/cuda_abi_graph\.h$' # a library of its own: not even base
	[simgpu]='simgpu/|profile/|recorder/cuda/cuda_api\.def$|record/(cuda_abi|cuda_abi_graph|nvml_abi|nvtx_abi)\.h$'
)
# The floors of the ledger: what the files of a folder in it may include of it. A folder without a row is a part, which
# may include the books and itself. Above all are the files of src/ledger itself.
ledger_open='ledger/(account|block_course|build|category|coming|driver_time|frame|ledger|line|line_names|memory_history|oom_row|owner|pressure|read_back|saved|step_curves|training_mark)\.(h|def)$'
declare -A ledger_may=(
	[core]='core/'
	[parts]='([a-z_]+)/[a-z_]+\.(h|def)$' # the table includes every part
	[rows]='(rows|parts|core)/'
	[settle]='(settle|rows|parts|core)/'
	[state]='(state|settle|parts|core)/'
)
# The floors of the recorder: which folders the files of a folder may include. What is in none includes all.
recorder_floor='base|elf|unwind|ring|log'
declare -A recorder_may=(
	[base]='base'
	[elf]='elf|base'
	[unwind]='unwind|elf|base'
	[ring]='ring|unwind|elf|base'
	[log]=$recorder_floor
	[weigh]="weigh|$recorder_floor"
	[cuda]="cuda|weigh|$recorder_floor"
	[phase]="phase|cuda|weigh|$recorder_floor"
	[vram]="vram|cuda|weigh|$recorder_floor"
	[nvtx]="nvtx|phase|$recorder_floor"
	[python]="python|phase|weigh|$recorder_floor"
	[heap]="heap|python|phase|$recorder_floor"
	[torch]="torch|python|phase|cuda|weigh|$recorder_floor"
	[hooks]="hooks|torch|python|phase|vram|cuda|weigh|$recorder_floor"
	[cupti]="cupti|hooks|cuda|weigh|$recorder_floor"
)

fail=0
violation() {
	echo "$1"
	fail=1
}

# What a line includes. A program for each of thousands of lines would take longer than all the rest.
included='#[[:space:]]*include[[:space:]]*["<]([^">]+)[">]'

while IFS=: read -r file line text; do
	[[ $text =~ $included ]] && header=${BASH_REMATCH[1]}
	case $file in
	src/main.c) folder=main ;;
	src/*) folder=${file#src/} folder=${folder%%/*} ;;
	*) folder=${file%%/*} ;;
	esac
	[[ $text == *'"'* ]] || continue
	case $header in
	*/*) ;;
	*) header=$folder/$header ;; # beside the file
	esac
	if [ "$folder" = main ]; then
		allowed='(cmd|base|main)/'
	else
		allowed=${may[$folder]:-}
	fi
	if [ -z "$allowed" ]; then
		violation "$file:$line: folder $folder has no row in tools/check-layers.sh"
	elif ! [[ $header =~ ^($allowed) ]]; then
		violation "$file:$line: $folder may not include $header"
	fi
done < <(grep -rnE --include='*.[ch]' --include='*.def' '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' src simgpu)

# The floors of the recorder.
while IFS=: read -r file line text; do
	[[ $text =~ $included ]] && header=${BASH_REMATCH[1]}
	folder=${file#src/recorder/} folder=${folder%%/*}
	[[ $header =~ ^recorder/((${recorder_may[$folder]:-none})/|recorder\.h$|parts\.def$) ]] ||
		violation "$file:$line: src/recorder/$folder may not include $header"
done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"recorder/' src/recorder/*/*.[ch] src/recorder/*/*.def)
# The floors of the ledger. What all include is told by the table of parts, so a part hears of no other.
while IFS=: read -r file line text; do
	[[ $text =~ $included ]] && header=${BASH_REMATCH[1]}
	part=${file#src/ledger/} part=${part%%/*}
	[[ $header =~ ^$ledger_open ]] && continue
	[[ $header =~ ^ledger/(${ledger_may[$part]:-(core|$part)/}) ]] ||
		violation "$file:$line: src/ledger/$part may not include $header"
done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"ledger/' src/ledger/*/*.[ch] src/ledger/*/*.def)
for part in $(sed -nE 's/^	TARE_PART\(([a-z_]+)\).*/\1/p' src/ledger/parts/parts.def); do
	grep -qE "^struct tare_${part}_part \{" src/ledger/*/*.h || violation "parts.def: $part has no struct of its own"
done

# foo.c includes foo.h first: proves that the header stands on its own.
while read -r file header; do
	own=${file%.c}.h
	[ -e "$own" ] || continue
	[[ $own == *"$header" ]] || violation "$file: includes $header before its own header"
done < <(find src simgpu -name '*.c' -exec awk 'FNR == 1 { is_found = 0 }
	!is_found && /^#include ["<]/ { split($0, part, /[<>"]/); print FILENAME, part[2]; is_found = 1 }' {} +)

# The map in docs/INTERNALS.md: a row for every folder, and what a row names is there.
map=docs/INTERNALS.md
while read -r folder; do
	row=$(grep -F "| \`$folder\` |" "$map")
	[ -n "$row" ] || violation "$map: $folder has no row in the map"
	while read -r name; do
		[ -e "$folder/$name" ] || violation "$map: $folder/$name is named in the map, but is not there"
	done < <(sed 's/.*|\(.*\)|$/\1/' <<<"$row" | grep -oE '`[^`]+`' | tr -d '`')
done < <(find src simgpu -name meson.build -prune -o -name '*.[ch]' -printf '%h\n' | sort -u | grep -vx src)

# What must never be written inside the user's process. The recorder of --host has functions of some of these names.
while IFS=: read -r file line text; do
	violation "$file:$line: the recorder may not call this: $text"
done < <(grep -rnE '(^|[^a-z_>.])(abort|assert|printf|malloc|calloc|realloc|getenv|setlocale)[[:space:]]*\(' \
	--include='*.c' src/recorder | grep -vE ':[[:space:]]*(/?\*|//)|^src/recorder/heap/names\.c:[0-9]+:TARE_')

# What is printed is filtered in one place, base/print.c; base/xalloc.c prints only its own words.
while IFS=: read -r file line text; do
	violation "$file:$line: only base/print.c may print: $text"
done < <(grep -rnE '(^|[^a-zA-Z_>.])(v?f?printf|v?dprintf|puts|fputs|fputc|putc|putchar|fwrite|perror|psignal|warnx?|errx?|error)[[:space:]]*\(|\bstd(out|err)\b.*\bwrite\b|write\((1|2|STDOUT_FILENO|STDERR_FILENO),' \
	--include='*.c' src | grep -vE '^src/(recorder/|graphs/|base/print\.c|base/xalloc\.c)|:[[:space:]]*(/?\*|//|")|write_(file|all)')

# What is read whole or by name goes through base/file.h, which does not wait for a FIFO; files of the kernel, and
# the logs, which are read in parts, are opened where they are read.
while IFS=: read -r file line text; do
	violation "$file:$line: open it with base/file.h: $text"
done < <(grep -rnE '(^|[^a-z_])fopen[[:space:]]*\(|O_RDONLY' --include='*.c' src |
	grep -vE '^src/(recorder/|graphs/|base/(file|temp_folder)\.c|profile/profile\.c|witness/|trace/log(_ring|_files)?\.c|session/recorded\.c|cmd/doctor_host\.c)|"/(proc|dev)/|:[[:space:]]*(/?\*|//)')

exit $fail
