#!/bin/sh
# SPDX-License-Identifier: MIT
# Answers per second of the service beside those of a bare handler of libevent that sends the same
# bytes, as JSON lines: sh serve.sh PROGRAM BARE [SECONDS]
#
# wrk asks both in turns, with as many threads and connections, and each of them has a loop per processor.
set -eu

program=$1 bare=$2 seconds=${3:-5}
if ! command -v wrk > /dev/null; then
    echo 'no wrk: the service is not measured' >&2
    exit 0
fi
scratch=$(mktemp -d)
pids=
# Word splitting is wanted: several processes.
# shellcheck disable=SC2086
trap '[ -z "$pids" ] || kill $pids; rm -rf "$scratch"' EXIT
threads=$(getconf _NPROCESSORS_ONLN)

# begin NAME COMMAND...: in the background; the address that it prints is then in $scratch/NAME.
begin() {
    name=$1
    shift
    rm -f "$scratch/$name"
    "$@" > "$scratch/$name" 2> /dev/null &
    pids="$pids $!"
    while [ ! -s "$scratch/$name" ]; do
        kill -0 $! || exit 1
        sleep 0.1
    done
}

# measure SUBJECT ADDRESS: prints a line, and sets $rate.
measure() {
    wrk -t 1 -c 16 -d "$seconds" --latency -s "$scratch/post.lua" "$2" > "$scratch/wrk"
    ! grep -q -e 'Non-2xx' -e 'Socket errors' "$scratch/wrk" || { cat "$scratch/wrk" >&2; exit 1; }
    rate=$(sed -n 's/^Requests\/sec: *//p' "$scratch/wrk")
    printf '{"subject":"%s","answers_per_s":%s,"p99":"%s"}\n' "$1" "$rate" \
        "$(sed -n 's/^ *99% *//p' "$scratch/wrk")"
}

# compare SUBJECT BODY
compare() {
    printf 'wrk.method = "POST"\nwrk.body = [[%s]]\n' "$2" > "$scratch/post.lua"
    begin service "$program" serve --listen 127.0.0.1:0
    address=$(cat "$scratch/service")api/predict
    curl -s "$address" -d "$2" > "$scratch/body"
    begin bare sh -c "exec \"$bare\" $threads < \"$scratch/body\""
    measure "serve, $1" "$address"
    own=$rate
    measure "bare libevent, $1" "$(cat "$scratch/bare")"
    echo "$own $rate" | awk -v what="$1" '{ printf "{\"subject\":\"serve beside bare, %s\",\"ratio\":%.2f}\n", what, $1 / $2 }'
    # shellcheck disable=SC2086
    kill $pids
    pids=
}

compare gemm '{"operator":"gemm","m":128,"n":4096,"k":4096,"hardware":"h100-sxm"}'
compare model '{"model":"llama-3-8b","hardware":"h100-sxm"}'
