#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs fuzz targets that are built with libFuzzer: sh tests/fuzz/run.sh FOLDER SECONDS TARGET...
# FOLDER/tests/fuzz/TARGET.run is a target. Under FOLDER/TARGET appear its new inputs (inputs), what
# made it fail (crash-*, timeout-*, leak-*), its log, and a line for each run with its executions and
# seconds (runs), whose sum is printed.
set -eu

[ $# -ge 3 ] || { echo "usage: sh run.sh FOLDER SECONDS TARGET..." >&2; exit 2; }
build=$1
seconds=$2
shift 2
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
cd "$(dirname "$0")"

# Files that targets write and read again belong in memory.
memory=/dev/shm
[ -d $memory ] && [ -w $memory ] || memory=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$memory/roofline-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 1' HUP INT TERM

# literals KIND SOURCE: the string literals of the files that the target names so.
literals() {
    sed -n "s/^[ /]*\\* $1: *//p" "$2" | tr ' ' '\n' | grep -v '^\*/$' | while read -r file; do
        [ -z "$file" ] || grep -v '^#include' "../../$file"
    done | grep -o '"[ -!#-[^-~]*"' | sed 's/^"//; s/"$//' | awk 'length > 1 && length < 33' | sort -u
}

# dictionary TARGET
dictionary() {
    literals Words "$1.c" | sed 's/.*/"&"/'
    literals Keys "$1.c" | sed 's/.*/"\\"&\\""/'
    literals Arguments "$1.c" | sed 's/.*/"&\\x00"/'
    literals Arguments "$1.c" | sed -n 's/^[a-z-]*$/"--&\\x00"/p'
}

failed=0
for target; do
    folder=$build/$target
    mkdir -p "$folder/inputs"
    dictionary "$target" > "$folder/words"
    words=
    [ ! -s "$folder/words" ] || words=-dict=$folder/words
    bytes=$(sed -n 's/^ \* Bytes: \([0-9]*\).*/\1/p' "$target.c")
    status=0
    "$build/tests/fuzz/$target.run" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
        -max_len="${bytes:-4096}" -entropic_scale_per_exec_time=1 ${words:+"$words"} \
        -artifact_prefix="$folder/" -print_final_stats=1 -verbosity=1 "$folder/inputs" "$PWD/corpus/$target" > "$folder/log" 2>&1 || status=$?
    awk -v status=$status '
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
        /^stat::number_of_executed_units:/ { executions = $2 }
        /^Done .* second/ { seconds = $5 }
        END { printf "%d %d %d %d\n", executions, seconds, edges, status }' "$folder/log" \
        >> "$folder/runs"
    awk -v target="$target" '
        { executions += $1; seconds += $2; edges = $3 }
        END { printf "%-12s %d executions, %d edges; in all runs %d executions in %d s\n",
                     target, $1, edges, executions, seconds }' "$folder/runs"
    if [ $status -ne 0 ]; then
        failed=1
        grep -a -B 3 -A 12 -e 'does not hold' -e ERROR -e 'runtime error' "$folder/log" | head -n 60
        echo "FAIL $target: see $folder/log"
    fi
done
[ $failed -eq 0 ]
