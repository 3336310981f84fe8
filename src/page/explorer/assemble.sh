#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the explorer with everything that it needs in one file: sh assemble.sh MODULE.wasm > page.html
# {{question}} and {{version}} stay: the program writes them.
set -eu
here=$(dirname "$0")
module=$(mktemp)
trap 'rm -f "$module"' EXIT
gzip -9 -n -c "$1" | base64 | tr -d '\n' > "$module"

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
