#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the explorer with everything that it needs in one file: sh assemble.sh MODULE.wasm > page.html
# {{question}} and {{version}} stay: the program writes them.
set -eu
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What unpack.js of the page unpacks: the sources of scripts, and the module.
sizes=
for part in "$here/chart.js" "$here/form.js" "$here/views.js" "$here/page.js" "$here/module.js" "$here/worker.js" "$1"; do
    name=${part##*/}
    [ "$part" != "$1" ] || name=module
    sizes="$sizes $name:$(($(wc -c < "$part")))"
    cat "$part" >> "$scratch/all"
done
xz --format=raw --lzma1=preset=9e,lc=4,lp=0,pb=0 < "$scratch/all" > "$scratch/lzma"

# Four bytes as five of 85 characters, which mean nothing in HTML nor to this script: base64 would
# take 7% more. Of a group of n bytes at the end there are n + 1 characters.
od -An -v -tu1 "$scratch/lzma" | awk '
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
END { if (held > 0) flush(held) }' > "$scratch/packed"

# Puts the named files and what was packed in the place of their names; text between stays as it is.
awk -v here="$here" -v packed="$scratch/packed" -v sizes="$sizes" '
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
            if (name == "parts") printf "%s", substr(sizes, 2)
            else put(name == "packed" ? packed : here "/" name)
        }
        $0 = substr($0, RSTART + RLENGTH)
    }
    print
}' "$here/page.html"
