#!/bin/sh
# SPDX-License-Identifier: MIT
# The figures of make bench beside those of an earlier commit, built beside this one:
# sh before.sh COMMIT BUILD
#
# The library's figures of both take turns three times, so that other load on the machine affects
# both; the best of all runs counts. A ratio says how many times as fast, or as small, it is now.
set -eu
commit=$(git rev-parse --verify "$1^{commit}")
build=$2
old=$build/before
jobs=$(nproc 2> /dev/null || echo 1)
[ -f "$old/$commit" ] || {
    rm -rf "$old"
    mkdir -p "$old"
    git archive --format=tar "$commit" | tar -x -C "$old"
    : > "$old/$commit"
}
make -s -j"$jobs" -C "$old" BUILD=build all build/tests/bench/bench
: > "$build/before.lines"
for run in 1 2 3; do
    for which in before now; do
        from=$old/build
        [ $which = before ] || from=$build
        "$from/tests/bench/bench" | jq -c --arg which $which '. + {which: $which}' >> "$build/before.lines"
    done
    echo "run $run of 3" >&2
done
for which in before now; do
    from=$old/build
    [ $which = before ] || from=$build
    "$build/tests/bench/process" "$from/roofline" |
        jq -c --arg which $which '. + {which: $which}' >> "$build/before.lines"
done
# A process has the least of its times, a rate its greatest: other load makes all others worse.
jq -sc '
    def best: if .[0] | has("most") then {value: (map(.most) | max), unit: .[0].unit}
              else {value: (map(.least_ms) | min), unit: "ms", kib: (map(.peak_kib) | min)} end;
    group_by(.name)[] | (map(select(.which == "before"))) as $before | map(select(.which == "now")) as $now |
    select(($before | length) > 0 and ($now | length) > 0) |
    ($before | best) as $b | ($now | best) as $n |
    {name: .[0].name, unit: $n.unit, before: $b.value, now: $n.value,
     ratio: (if $n.unit == "ms" then $b.value / $n.value else $n.value / $b.value end * 100 | round / 100)}
    + if $n.kib then {memory_ratio: ($b.kib / $n.kib * 100 | round / 100)} else {} end' "$build/before.lines"
