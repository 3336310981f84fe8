#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that are killed (SIGKILL) at random points: sh tests/cli/killed.sh PROGRAM
#
# A file has its name only when it is whole. What a killed program leaves does not disturb the next
# simulation or measurement, or a service at the same port. KILLS (12) is how often each is killed, and
# SEED chooses the points.
set -eu

[ $# -eq 1 ] || { echo "usage: sh killed.sh PROGRAM" >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
# shellcheck source=tests/cli/steps.sh
. "$(dirname "$0")/steps.sh"

kills=${KILLS:-12}
seed=${SEED:-$$}

# delays SECONDS: so many random points of that time.
delays() {
    awk -v kills="$kills" -v most="$1" -v seed="$seed" \
        'BEGIN { srand(seed); for (i = 0; i < kills; i++) printf "%.4f\n", most * rand() }'
}

# Simulations write the same each time, so a file is whole or is not there.
simulations() {
    ask='roofline simulate llama-3-8b -H h100-sxm --rate 10 --prompt 1000 --generate 200'
    for rest in '-f json' '--rows requests -f csv' '--chart time'; do
        file=times.json
        [ "$rest" != '--chart time' ] || file=chart.svg
        run "simulate $rest" "$ask $rest -o whole.$file"
        accepted
        for delay in $(delays 0.08); do
            again "simulate $rest, killed after $delay s (SEED=$seed)" "$ask $rest -o $file & pid=\$!
                sleep $delay; kill -KILL \$pid 2> /dev/null; wait \$pid"
            [ ! -e "$file" ] || cmp -s "whole.$file" "$file" || fail 'an incomplete file stands under its name'
            rm -f "$file"
        done
        again "simulate $rest, after all that" "$ask $rest -o $file"
        accepted
        cmp -s "whole.$file" "$file" || fail 'what was left is in the way'
        [ ! -e "$file.part" ] || fail 'FILE.part is left'
    done
}

# Each file of a measured device is whole, or not there; the device is, once it can be used.
whole_device() {
    for file in "$1"/*.json; do
        [ ! -e "$file" ] || jq empty "$file" 2> /dev/null || fail "$file is no JSON"
    done
    [ ! -e "$1/hardware.json" ] || roofline predict gemv -n 64 -k 64 -H "$1" > out 2> "$err" ||
        fail 'the device cannot be used'
}

measurements() {
    measure='roofline measure --threads 1 --seconds 1 --formats fp32'
    rm -rf "${scratch:?}/home"
    for delay in $(delays 1.6 | head -n $((kills / 3 + 1))); do
        mkdir -p "$scratch/home"
        cd "$scratch/home"
        again "measure, killed after $delay s (SEED=$seed)" "$measure -o here > out & pid=\$!
            sleep $delay; kill -KILL \$pid 2> /dev/null; wait \$pid"
        whole_device here
        again "measure --save, killed after $delay s (SEED=$seed)" "$measure --save here > out & pid=\$!
            sleep $delay; kill -KILL \$pid 2> /dev/null; wait \$pid"
        again 'list hardware after it' 'roofline list hardware -f json > out'
        accepted
    done
    again 'measure, after all that' "$measure -o here > out"
    [ "$code" -eq 0 ] || fail "exit code $code"
    [ -e here/hardware.json ] || fail 'there is no device'
    whole_device here
    left=$(find . -name '*.part' | head -n 3)
    [ -z "$left" ] || fail "these are left: $left"
}

# answer PORT: whether the service there answers.
answer() {
    curl -sf --max-time 30 "http://127.0.0.1:$1/api/list/precisions" > health
}

# A service that is killed while it answers leaves its port to the next one.
services() {
    question='{"model": "llama-3-8b", "hardware": "h100-sxm"}'
    run 'serve' ':'
    port=0
    for delay in $(delays 0.3 | head -n $((kills / 3 + 1))); do
        name="serve at port $port, killed after $delay s of requests (SEED=$seed)"
        checks=$((checks + 1))
        : > said # else the line of the service before may be read, until the next one empties the file
        roofline serve --listen "127.0.0.1:$port" > said 2> "$err" < /dev/null &
        pid=$!
        i=0
        while ! grep -q http said && [ $i -lt 600 ] && kill -0 $pid 2> /dev/null; do
            sleep 0.05
            i=$((i + 1))
        done
        new=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/.*|\1|p' said)
        if [ -z "$new" ]; then
            fail 'it does not begin'
            break
        fi
        port=$new
        answer "$port" || fail 'it does not answer'
        (while curl -s --max-time 30 -d "$question" "http://127.0.0.1:$port/api/predict" > document; do :; done) &
        asker=$!
        sleep "$delay"
        kill -KILL $pid
        wait $pid 2> /dev/null || :
        wait $asker || :
    done
}

killed() {
    simulations
    if [ -z "${WRAPPER:-}" ]; then # a measurement under it has other times
        measurements
    fi
    if command -v curl > /dev/null; then
        services
    else
        skipped=$((skipped + 1))
    fi
}

[ "${SELF_TEST:-}" = no ] || self_test
killed
report 'programs killed'
