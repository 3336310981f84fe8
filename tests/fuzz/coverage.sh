#!/bin/sh
# SPDX-License-Identifier: MIT
# Says how much of a module the kept inputs of its fuzz target reach: sh tests/fuzz/coverage.sh FOLDER
# TARGET... The module is the first file that the target takes words from; of cli it is everything.
set -eu

[ $# -ge 2 ] || { echo "usage: sh coverage.sh FOLDER TARGET..." >&2; exit 2; }
build=$1
shift

for target; do
    program=$build/tests/fuzz/$target.run
    LLVM_PROFILE_FILE=$program.raw "$program" "tests/fuzz/corpus/$target" > "$program.log"
    llvm-profdata merge -o "$program.profile" "$program.raw"
    module=$(sed -n 's/^[ /]*\* \(Words\|Keys\): *\([^ ]*\).*/\2/p' "tests/fuzz/$target.c" | head -n 1)
    [ "$target" != cli ] || module=src
    llvm-cov export -summary-only -instr-profile="$program.profile" "$program" |
        jq -r --arg target "$target" --arg source "${module:-src/$target.c}" '
            [.data[0].files[] | select(.filename | contains($source)) | .summary]
            | "\($target): \($source) lines \(map(.lines.covered) | add) of \(map(.lines.count) | add)" +
              ", branches \(map(.branches.covered) | add) of \(map(.branches.count) | add)"'
done
