#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the explorer with everything that it needs in one file: sh assemble.sh MODULE.wasm > page.html
# {{question}} and {{version}} stay: the program writes them.
set -eu
here=$(dirname "$0")
module=$(mktemp)
trap 'rm -f "$module"' EXIT

# Four bytes as five of 85 characters, which mean nothing in HTML nor to this script: base64 would
# take 7% more. Of a group of n bytes at the end there are n + 1 characters. unpack of page.js reads it.
gzip -9 -n -c "$1" | od -An -v -tu1 | awk '
BEGIN {
    for (i = 33; i < 127; i++) {
        c = sprintf("%c", i)
        if (index("\"&\047<>\\`{}", c) == 0) digit[count++] = c
    }
}
function flush(bytes,    i, text) {
    for (i = bytes; i < 4; i++) value *= 256
    text = ""
    for (i = 0; i < 5; i++) {
        text = digit[value % 85] text
        value = int(value / 85)
    }
    printf "%s", substr(text, 1, bytes + 1)
    held = value = 0
}
{
    for (f = 1; f <= NF; f++) {
        value = value * 256 + $f
        if (++held == 4) flush(4)
    }
}
END { if (held > 0) flush(held) }' > "$module"

# Puts the named files and the module in the place of their names; text between stays as it is.
awk -v here="$here" -v module="$module" '
function put(path,    line) {
    while ((getline line < path) > 0) print line
    close(path)
}
{
    while (match($0, /\{\{[a-z.]+\}\}/)) {
        name = substr($0, RSTART + 2, RLENGTH - 4)
        before = substr($0, 1, RSTART - 1)
        if (name == "question" || name == "version") {
            printf "%s", substr($0, 1, RSTART + RLENGTH - 1)
        } else {
            printf "%s", before
            put(name == "module" ? module : here "/" name)
        }
        $0 = substr($0, RSTART + RLENGTH)
    }
    print
}' "$here/page.html"
