#!/bin/sh
# SPDX-License-Identifier: MIT
# Says how much of a module the kept inputs of its fuzz target reach: sh tests/fuzz/coverage.sh FOLDER
# TARGET... The module is the first file that the target takes words from, with the others whose names
# begin like it; for cli it is everything.
set -eu

[ $# -ge 2 ] || { echo "usage: sh coverage.sh FOLDER TARGET..." >&2; exit 2; }
build=$1
shift

for target; do
    program=$build/tests/fuzz/$target.run
    LLVM_PROFILE_FILE=$program.raw "$program" "tests/fuzz/corpus/$target" > "$program.log"
    llvm-profdata merge -o "$program.profile" "$program.raw"
    files=$(sed -n 's/^[ /]*\* \(Words\|Keys\): *//p' "tests/fuzz/$target.c" | tr ' ' '\n' | grep '\.c$') ||
        files=/$target.c
    first=$(printf '%s\n' "$files" | head -n 1)
    module=$(printf '%s\n' "$files" | grep -x -e "$first" -e "${first%.c}_.*" | tr '\n' ' ')
    [ "$target" != cli ] || module=src
    llvm-cov export -summary-only -instr-profile="$program.profile" "$program" |
        jq -r --arg target "$target" --arg files "${module% }" '
            ($files | split(" ")) as $sources
            | [.data[0].files[] | select(.filename as $name | $sources | any(. as $source | $name | contains($source)))
               | .summary]
            | "\($target): \($files) lines \(map(.lines.covered) | add) of \(map(.lines.count) | add)" +
              ", branches \(map(.branches.covered) | add) of \(map(.branches.count) | add)"'
done
