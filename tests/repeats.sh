#!/bin/sh
# SPDX-License-Identifier: MIT
# Figures of the CPU over five runs of roofline measure: sh tests/repeats.sh PROGRAM [SECONDS [OPTION...]]
#
# Each run (of 3 seconds) has two threads, or the options that are given. A bandwidth or peak of a run that is not
# marked noisy must be within 10% of the median of these figures over the runs. A run must end within half its time
# more, and the device has the threads that were asked for. Prints a line for each figure.
set -eu
LC_ALL=C
export LC_ALL

[ $# -ge 1 ] || { echo "usage: sh repeats.sh PROGRAM [SECONDS [OPTION...]]" >&2; exit 2; }
program=$(command -v "$1") || { echo "repeats.sh: no program $1" >&2; exit 2; }
case $program in /*) ;; *) program=$PWD/$program ;; esac
seconds=${2:-3}
shift $(($# > 1 ? 2 : 1))
threads=
[ $# -gt 0 ] || { threads=2; set -- --threads 2; }
scratch=${TMPDIR:-/tmp}/roofline-repeats.$$
(umask 077 && mkdir "$scratch")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

for run in 1 2 3 4 5; do
    begin=$(date +%s)
    "$program" measure --seconds "$seconds" "$@" -o "$scratch/$run" > "$scratch/report"
    end=$(date +%s)
    if [ $((2 * (end - begin - 1))) -gt $((3 * seconds)) ]; then # the clock has whole seconds
        echo "a run of $seconds s took $((end - begin)) s"
        exit 1
    fi
    if [ -n "$threads" ] && ! grep -q "\"sm_count\": {\"value\": $threads," "$scratch/$run/hardware.json"; then
        echo "the device has other threads than $threads"
        exit 1
    fi
done

# The columns: probe, unit, format, bytes, measured_us, noise, noisy, sm_mhz, power_w, temperature_c, throttled, gb_s,
# tflops, amount.
awk -F, '
FNR > 1 && $12 $13 != "" {
    key = $1 ($2 == "" ? "" : " " $3 " " $2) ($4 == "" ? "" : " " $4)
    if (!(key in runs)) { order[++keys] = key }
    runs[key]++
    if ($7 + 0) { next }
    figure[key, ++sure[key]] = $12 == "" ? $13 : $12
    unit[key] = $12 == "" ? "TFLOPS" : "GB/s"
}
END {
    printf "%-28s %12s %8s %6s\n", "figure", "median", "off", "noisy"
    for (k = 1; k <= keys; k++) {
        key = order[k]
        n = sure[key] + 0
        for (i = 1; i <= n; i++) { # sorted by insertion
            v[i] = figure[key, i]
            for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        }
        if (n == 0) { printf "%-28s %12s %8s %6d\n", key, "-", "-", runs[key]; continue }
        median = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
        low = 1 - v[1] / median
        high = v[n] / median - 1
        off = low > high ? low : high
        bad += off > 0.1
        printf "%-28s %12s %7.1f%% %6d%s\n", key, sprintf("%.4g %s", median, unit[key]), 100 * off, runs[key] - n, (off > 0.1 ? "  beyond 10%" : "")
    }
    for (k = 1; k <= keys; k++) { some += sure[order[k]] > 1 }
    printf "%d of %d figures were sure in two runs or more\n", some, keys
    exit keys == 0 || bad > 0
}' "$scratch"/?/probes.csv
