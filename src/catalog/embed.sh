#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes C that holds the named files, under their paths without the first folder:
# sh src/catalog/embed.sh data/FILE... docs/schema/FILE... > data.c
# or the function that returns the explorer: sh src/catalog/embed.sh --explorer [FILE] > explorer.c
set -eu
LC_ALL=C
export LC_ALL
# Writes the bytes of a file, and one behind them that ends the text.
bytes() {
    od -v -A n -t u1 "$1" | sed 's/\([0-9][0-9]*\)/\1,/g'
    printf '0};\n'
}

printf '/* Made by src/catalog/embed.sh. */\n#include "catalog/data.h"\n\n'
if [ "${1-}" = --explorer ]; then
    page=NULL
    if [ $# -gt 1 ]; then
        printf 'static const unsigned char page[] = {\n'
        bytes "$2"
        page='(const char *)page'
    fi
    printf 'const char *roof_data_explorer(void)\n{\n    return %s;\n}\n' "$page"
    exit 0
fi
i=0
for file; do
    printf 'static const unsigned char file_%d[] = {\n' "$i"
    bytes "$file"
    i=$((i + 1))
done
printf 'const struct roof_data_file roof_data_files[] = {\n'
i=0
for file; do
    printf '    {"%s", (const char *)file_%d, sizeof file_%d - 1},\n' "${file#*/}" "$i" "$i"
    i=$((i + 1))
done
printf '};\nconst size_t roof_data_file_count = %d;\n' "$i"
