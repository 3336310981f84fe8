#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes C that holds the named files, under their paths without the first folder:
# sh src/catalog/embed.sh data/FILE... docs/schema/FILE... > data.c
set -eu
LC_ALL=C
export LC_ALL
printf '/* Made by src/catalog/embed.sh. */\n#include "catalog/data.h"\n\n'
i=0
for file; do
    printf 'static const unsigned char file_%d[] = {\n' "$i"
    od -v -A n -t u1 "$file" | sed 's/\([0-9][0-9]*\)/\1,/g'
    printf '0};\n'
    i=$((i + 1))
done
printf 'const struct roof_data_file roof_data_files[] = {\n'
i=0
for file; do
    printf '    {"%s", (const char *)file_%d, sizeof file_%d - 1},\n' "${file#*/}" "$i" "$i"
    i=$((i + 1))
done
printf '};\nconst size_t roof_data_file_count = %d;\n' "$i"
