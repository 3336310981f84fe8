#!/bin/sh
# SPDX-License-Identifier: MIT
# Says which lines and branches of the library the programs in a folder have reached:
# sh tests/counted.sh FOLDER LINES BRANCHES
# FOLDER/profiles has their counts (make coverage), FOLDER/lines and FOLDER/branches get a table by file
# with the lines that lack something. Fails below LINES or BRANCHES percent.
set -eu

[ $# -eq 3 ] || { echo "usage: sh counted.sh FOLDER LINES BRANCHES" >&2; exit 2; }
folder=$1
llvm-profdata merge -o "$folder/profile" "$folder"/profiles/*.profraw
llvm-cov export -format=lcov -instr-profile="$folder/profile" "$folder/tests/unit/run" \
    -object "$folder/roofline" > "$folder/all.info"

# table DA|BRDA: the lines of src with those that nothing ran, or on which a branch was not taken.
table() {
    awk -F '[:,]' -v kind="$1" '
        function finish() {
            if (all) printf "%-44s %6d %6d %5.1f%%  %s\n", name, all, reached, 100 * reached / all, missed
            every += all; ran += reached
        }
        $1 == "SF" { name = $2; sub(/^.\//, "", name); all = reached = last = 0; missed = "" }
        $1 == kind && name ~ /^src\// {
            all++
            if ($NF != "-" && $NF > 0) reached++
            else if ($2 != last) { missed = missed (missed ? "," : "") $2; last = $2 }
        }
        $1 == "end_of_record" { finish() }
        END {
            if (!every) exit 1
            printf "%-44s %6d %6d %5.2f%%\n", "TOTAL", every, ran, 100 * ran / every
        }' "$folder/all.info"
}

table DA > "$folder/lines"
table BRDA > "$folder/branches"
failed=0
while read -r what least; do
    tail -n 1 "$folder/$what" | awk -v what="$what" -v least="$least" '
        { printf "%s: %s (%d out of %d)\n", what, $4, $3, $2 }
        $3 * 100 < $2 * least { print what " are fewer than " least "%"; exit 1 }' || failed=1
done << END
lines $2
branches $3
END
exit $failed
