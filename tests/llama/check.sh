#!/bin/sh
# SPDX-License-Identifier: MIT
# Predictions of whole models on this machine beside llama.cpp: sh tests/llama/check.sh PROGRAM FOLDER
#
# FOLDER has the npm package node-llama-cpp, which comes with a built llama.cpp (`make llama-check`
# installs it there). GGUF files with random weights are written to FOLDER. The machine is measured
# with 1 and 2 threads, in turns with llama.cpp; the table on standard output has the medians. Exits
# with 1 if a decode step is off by more than 15% or a prefill by more than 25%.
# SECONDS_EACH: of a measurement (default 30); TURNS: how often each is timed (default 3);
# SHAPES, FORMATS: the models that are timed (default: all).
set -eu

program=$(realpath "$1")
folder=$2
here=$(dirname "$(realpath "$0")")
prompt=128
generate=32
# llama.cpp attends over its cache in steps of so many cells, filled or not (ggml-org/llama.cpp
# src/llama-kv-cache.cpp, get_n_kv), so a decode step at 16 tokens is one at 256.
cells=256
cp "$here"/*.mjs "$folder"
cd "$folder"
llama=$(dirname "$(find . -path '*linux-x64/bins/linux-x64/libllama.*' | head -n 1)")

shapes=${SHAPES:-narrow wide experts}
formats=${FORMATS:-q4_0 q4_k q6_k q8_0 f16}
names=
for shape in $shapes; do
    for format in $formats; do
        names="$names $shape-$format"
        [ -f "$shape-$format.gguf" ] || node model.mjs "$shape-$format.gguf" "$shape" "$format"
    done
done

# Rows of all turns: threads shape format phase predicted|measured milliseconds.
: > rows
turn=0
while [ "$turn" -lt "${TURNS:-3}" ]; do
    turn=$((turn + 1))
    for threads in 1 2; do
        "$program" measure --threads "$threads" --seconds "${SECONDS_EACH:-30}" \
            --formats "$(echo " $formats" | sed 's/ f16/ fp16/; s/^ //; s/ /,/g')" \
            -o "device-$threads" > "report-$threads"
        for name in $names; do
            file=$name.gguf
            python3 -B "$here/time.py" "$llama" "$file" "$threads" "$prompt" "$generate" 3 |
                sed "s/^/$threads ${name%-*} ${name#*-} measured /" >> rows
            for phase in prefill decode; do
                context=$prompt
                [ "$phase" = prefill ] || context=$cells
                "$program" predict model "./$file" -H "device-$threads" --phase "$phase" \
                    --context "$context" -f csv --columns expected_time_us |
                    awk -v row="$threads ${name%-*} ${name#*-} predicted $phase" \
                        'NR == 2 { print row, $1 / 1000 }' >> rows
            done
        done
    done
done

# The median of each kind of row, and the table.
sort -k1,5 -k6,6g rows | awk '
    function close_group() {
        if (count > 0) median[key] = (value[int((count + 1) / 2)] + value[int(count / 2) + 1]) / 2
        count = 0
    }
    {
        next_key = $1 " " $2 " " $3 " " $5 " " $4
        if (next_key != key) close_group()
        key = next_key
        value[++count] = $6
        seen[$1 " " $2 " " $3 " " $5] = 1
    }
    END {
        close_group()
        print "| threads | model | format | phase | llama.cpp, ms | expected, ms | error |"
        print "|---|---|---|---|---|---|---|"
        fflush()
        order = "sort -t \"|\" -k5,5 -k2,4"
        for (row in seen) {
            split(row, part, " ")
            measured = median[row " measured"]
            expected = median[row " predicted"]
            error = expected / measured - 1
            limit = part[4] == "decode" ? 0.15 : 0.25
            beyond = error > limit || error < -limit
            bad += beyond
            printf("| %s | %s | %s | %s | %.2f | %.2f | %+.0f%%%s |\n", part[1], part[2], part[3],
                   part[4], measured, expected, 100 * error, beyond ? " (beyond)" : "") | order
        }
        close(order)
        exit bad > 0
    }'
