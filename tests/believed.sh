#!/bin/sh
# SPDX-License-Identifier: MIT
# The table with which docs/errors.md begins, in docs/accuracy.md: sh tests/believed.sh write|check FILE ERRORS
#
# write puts the first table of ERRORS into FILE, between the two comments that enclose it, and check
# complains when FILE has another.
set -eu
LC_ALL=C
export LC_ALL
first='<!-- make errors writes what follows -->'
last='<!-- the end of what make errors writes -->'
table=$(awk '/^\|/ { print; found = 1; next } found { exit }' "$3")
case $1 in
write)
    printf '%s\n' "$table" > "$2.table"
    awk -v first="$first" -v last="$last" -v table="$2.table" '
        $0 == last { inside = 0 }
        !inside { print }
        $0 == first { inside = 1; while ((getline line < table) > 0) print line }' "$2" > "$2.new"
    cat "$2.new" > "$2"
    rm "$2.new" "$2.table"
    ;;
check)
    found=$(awk -v first="$first" -v last="$last" '
        $0 == last { inside = 0 }
        inside { print }
        $0 == first { inside = 1 }' "$2")
    [ "$found" = "$table" ] || echo "$2 does not begin with the table of $3: make errors"
    ;;
esac
