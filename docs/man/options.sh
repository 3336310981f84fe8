#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the options of manual pages anew: sh docs/man/options.sh PROGRAM PAGE...
#
# In a page roofline-COMMAND.1 what stands between the two comments below is made of the help of the
# command, so that each option is described in one place, the table of the program. Other pages stay
# as they are.
set -eu

program=$1
shift
for page; do
    command=${page##*/roofline-}
    grep -q '^\.\\" begin of the options' "$page" || continue
    "$program" "${command%.1}" all --help | awk '
        function finish() {
            if (open) print ".El"
            open = 0
        }
        function option(line,    names, count, name, i, text, value) { # the last are local
            match(line, /^  (-[a-zA-Z], )?(--[a-z0-9-]+(=[^ ]+)?|-[a-zA-Z]( [A-Z]+)?)/)
            names = substr(line, 3, RLENGTH - 2)
            line = substr(line, RLENGTH + 1)
            if (match(names, /[= ][^-].*$/)) {
                value = " Ar " substr(names, RSTART + 1)
                names = substr(names, 1, RSTART - 1)
            }
            count = split(names, name, ", ")
            text = ".It"
            for (i = 1; i <= count; i++) {
                sub(/^-/, "", name[i])
                sub(/^-/, "Fl ", name[i])
                text = text (i > 1 ? " , Fl " : " Fl ") name[i]
            }
            print text value
            sub(/^ +/, "", line)
            if (line != "") print text_line(line)
        }
        # A point at the beginning of a line of text would make it a macro.
        function text_line(line) {
            return line ~ /^\./ ? "\\&" line : line
        }
        /^[A-Z]/ { finish(); heading = $0; next }
        /^  -/ {
            if (!open) print ".Ss " heading "\n.Bl -tag -width Ds"
            open = 1
            option($0)
            next
        }
        open && /^      / { sub(/^ +/, ""); print text_line($0); next }
        END { finish() }' > "$page.options"
    awk -v options="$page.options" '
        /^\.\\" begin of the options/ {
            print
            while ((getline line < options) > 0) print line
            skipping = 1
        }
        /^\.\\" end of the options/ { skipping = 0 }
        !skipping' "$page" > "$page.new"
    rm "$page.options"
    if cmp -s "$page.new" "$page"; then
        rm "$page.new"
    else
        mv "$page.new" "$page"
    fi
done
