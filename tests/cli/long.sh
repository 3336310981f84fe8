#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that run for a long time: sh tests/cli/long.sh PROGRAM
#
# A clock of the day that is set back changes no answer, and a trace of any length is simulated in
# the same memory. REQUESTS (300000) is how many the trace has; 10000000 take a minute.
set -eu

[ $# -eq 1 ] || { echo "usage: sh long.sh PROGRAM" >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
# shellcheck source=tests/cli/steps.sh
. "$(dirname "$0")/steps.sh"

requests=${REQUESTS:-300000}
# A library that is loaded first, and limits of memory, are not for sanitizers and valgrind.
plain=yes
if [ -n "${WRAPPER:-}" ] || grep -q -e __asan_ -e __tsan_ "$program"; then
    plain=
fi
# shellcheck disable=SC2154 # program.sh sets it
ln -s "$fakes" "$scratch/fakes" # LD_PRELOAD ends a name at a blank
back="LD_PRELOAD=$scratch/fakes/clock.so"

clocks() {
    ask='simulate llama-3-8b -H h100-sxm --rate 10 --prompt 100 --generate 20'
    for command in "$ask -f json" 'sweep gemm -m 1:3000 -n 8 -k 8 -f csv --threads 2' \
        'recommend model llama-3-8b -H h100-sxm --rate 5 --prompt 100 --generate 20'; do
        run "$command" "roofline $command > right && $back roofline $command > out"
        accepted
        cmp -s right out || fail 'the answer is another'
    done

    run 'measure' "$back timeout 60 roofline measure --threads 1 --seconds 1 --formats fp32 -o here > report"
    [ "$code" -eq 0 ] || fail "exit code $code"
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && !($column["measured_us"] > 0) { wrong = 1 } END { exit wrong || NR < 2 }' here/probes.csv ||
        fail 'a time is not above 0'

    run 'monitor' "$back LD_LIBRARY_PATH=$scratch/fakes/nvidia timeout 60 roofline monitor \
        --seconds 0.2 --interval 20ms -f csv --columns time_s > out"
    [ "$code" -eq 0 ] || fail "exit code $code"
    awk 'NR > 2 && $1 <= last { wrong = 1 } { last = $1 } END { exit wrong || NR < 3 }' out ||
        fail 'the times of the samples do not advance'
}

# Each request would take a hundred bytes or so if it were kept: more than there is.
trace() {
    run "a trace of $requests requests" "awk -v n=$requests 'BEGIN {
            print \"TIMESTAMP,ContextTokens,GeneratedTokens\"
            for (i = 0; i < n; i++) {
                printf \"2024-%02d-%02d %02d:%02d:%02d.000,100,4\\n\", 1 + i / 2419200, 1 + i / 86400 % 28,
                    i / 3600 % 24, i / 60 % 60, i % 60
            }
        }' > trace.csv
        ulimit -v 24000; roofline simulate llama-3-8b -H h100-sxm --trace trace.csv > out"
    accepted
    grep -q "^  requests  *$requests measured" out || fail 'not all requests are simulated'
}

[ "${SELF_TEST:-}" = no ] || self_test
if [ -n "$plain" ]; then
    clocks
    trace
else
    skipped=$((skipped + 1))
fi
report 'long runs'
