#!/bin/sh
# SPDX-License-Identifier: MIT
# The figures of docs/design.md in Markdown: BUILD=FOLDER sh tests/figures.sh [write|check FILE]
#
# Alone it prints them; write puts them into FILE, between the two comments that enclose them, and
# check complains when FILE has others.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."
first='<!-- make figures writes what follows -->'
last='<!-- the end of what make figures writes -->'

count() {
    sh tests/shape.sh "$1" | grep -c . || :
}

lines() {
    printf '| folder | files | thousands of lines |\n|---|---|---|\n'
    for folder in include/roofline src/*/; do
        folder=${folder%/}
        find "$folder" -name '*.[ch]' | sort | tr '\n' '\0' | xargs -0 cat |
            awk -v folder="$folder" -v files="$(find "$folder" -name '*.[ch]' | grep -c .)" \
                'END { printf "| %s | %d | %.1f |\n", folder, files, NR / 1000 }'
    done
}

longest() {
    printf '| function | where | lines |\n|---|---|---|\n'
    sh tests/shape.sh all_functions | awk 'NR <= 10 {
        sub(/:.*/, "", $2)
        print "| `" $3 "` | " $2 " | " $1 " |"
    }'
}

# A declaration of a public header begins in the first column; a macro is none.
public_functions() {
    cat include/roofline/*.h | grep -c '^[a-z].*[ *]roof_[a-z0-9_]*(' || :
}

shape() {
    printf '| what | how many |\n|---|---|\n'
    printf '| public functions | %s |\n' "$(public_functions)"
    printf '| includes of a later floor | %s |\n' "$(count upward)"
    printf '| includes in a circle | %s |\n' "$(count circles)"
    printf '| uses in a circle, within a folder | %s |\n' "$(count uses)"
    printf '| functions of more than 60 lines | %s |\n' "$(count functions)"
    printf '| files of more than 800 lines | %s |\n' "$(count files)"
    sh tests/shape.sh program_lines |
        awk '{ printf "| thousands of lines of src/cli without serve and monitor (at most 4.0) | %.1f |\n", $1 / 1000 }'
    printf '| functions that look into a question, and are no readers | %s |\n' "$(count questions)"
    printf '| comments without a subject | %s |\n' "$(count comments)"
    # shellcheck disable=SC2016
    printf '| rungs: `status == ROOF_OK` | %s |\n' "$(count rungs)"
}

figures() {
    lines
    echo
    longest
    echo
    shape
}

case ${1:-print} in
print)
    figures
    ;;
write)
    figures > "$2.figures"
    awk -v first="$first" -v last="$last" -v figures="$2.figures" '
        $0 == last { inside = 0 }
        !inside { print }
        $0 == first { inside = 1; while ((getline line < figures) > 0) print line }' "$2" > "$2.new"
    cat "$2.new" > "$2"
    rm "$2.new" "$2.figures"
    ;;
check)
    awk -v first="$first" -v last="$last" '
        $0 == last { inside = 0 }
        inside { print }
        $0 == first { inside = 1 }' "$2" > "${TMPDIR:-/tmp}/roofline-figures.$$"
    figures | diff "${TMPDIR:-/tmp}/roofline-figures.$$" - ||
        echo "$2 has other figures than the tree: make figures"
    rm "${TMPDIR:-/tmp}/roofline-figures.$$"
    ;;
esac
