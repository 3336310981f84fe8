#!/bin/sh
# SPDX-License-Identifier: MIT
# Reports of models in Markdown: sh tests/cli/reports.sh PROGRAM FILE.md...
#
# Each file is what the command at its end prints, byte for byte. Of these files and of the reports
# of other models all tables have as many cells in each row as titles. Tables of rows fit on a page of
# GitHub, which has 1012 pixels: about 118 characters, of which the frame of a cell takes three.
# So do the tables of README.md and docs, where GitHub folds their cells.
# BLESS=1 writes the files anew.
set -eu

[ $# -ge 2 ] || { echo "usage: sh reports.sh PROGRAM FILE.md..." >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
tables=$(dirname "$0")/tables.awk
shift
HOME=$scratch
export HOME
unset ROOFLINE_DATA XDG_DATA_HOME || :
PATH=$scratch/bin:$PATH
failed=0
complain() {
    echo "FAIL $*"
    failed=1
}

for file in "$@"; do
    command=$(sed -n '/^## Reproduce$/,$s/^roofline //p' "$file")
    # The words of a command of ours, which quotes none.
    # shellcheck disable=SC2086
    roofline $command > "$scratch/report.md" || complain "$file: $command"
    if [ "${BLESS:-}" = 1 ]; then
        cp "$scratch/report.md" "$file"
    fi
    cmp "$scratch/report.md" "$file" || complain "$file is not what its command prints: make reports"
    awk -f "$tables" "$file" || complain "$file"
done

# Prints the tables that do not fit. On a page (words is 1) cells of text break at blanks and hyphens,
# so the longest word of a column counts; what it folds is left out. In what a report folds, one column
# may break, and of it 40 characters count.
# shellcheck disable=SC2016
fits='
    function widest(i, text,    part, count, k) {
        gsub(/\]\([^)]*\)/, "]", text) # the address of a link is not shown
        gsub(/\*\*/, "", text)          # nor are the marks of bold text
        count = words ? split(text, part, /[ -]+/) : 1
        if (!words) part[1] = text
        for (k = 1; k <= count; k++) if (length(part[k]) > width[i]) width[i] = length(part[k])
    }
    function judge(    i, sum, most) {
        for (i in width) {
            sum += width[i] + 3
            if (width[i] > most) most = width[i]
        }
        if (folded && most > 40) sum -= most - 40
        if (sum > 118) print sum " characters: " head
        delete width
    }
    /^<details>/ { folded = 1 }
    /^<\/details>/ { folded = 0 }
    words && folded { next }
    /^\|/ {
        if (!inside) head = $0
        inside = 1
        if (/^\|( -+:? \|)+$/) next
        count = split($0, cell, / *\| */)
        for (i = 2; i < count; i++) widest(i, cell[i])
        next
    }
    inside { judge(); inside = 0 }
    END { if (inside) judge() }'
while read -r question; do
    # shellcheck disable=SC2086
    roofline predict model $question -f md > "$scratch/report.md" || complain "$question: no report"
    awk -f "$tables" "$scratch/report.md" || complain "$question"
    for section in 'Hardware limits' 'The roofline' 'Kernel placement' 'Arithmetic intensity' \
        Bottlenecks Scaling Opportunities Reproduce; do
        grep -q -x "## $section" "$scratch/report.md" || complain "$question: no section $section"
    done
    ! grep -w -i -e nan -e inf "$scratch/report.md" || complain "$question: a number that is none"
    wide=$(awk "$fits" "$scratch/report.md")
    [ -z "$wide" ] || complain "$question: $wide"
done <<'END'
llama-3-8b -H a100-sxm-80gb
llama-3-70b -H a100-sxm-80gb
llama-3-8b -H mi300x
llama-3-8b -H gb10 -p nvfp4
deepseek-v3 -H h200-sxm --tp 8 --batch 32 -w fp8
deepseek-v3 -H h200-sxm --ep 16 --batch 32 -w fp8
llama-3-70b -H h200-sxm --pp 4 --batch 32
llama-3-70b -H h200-sxm --draft-tokens 4 --draft-model llama-3-8b
gpt-oss-120b -H h100-sxm --layout checkpoint --prompt 2k --generate 500
llama-3-8b -H rtx-4090 --layout q4_k_m
gpt-2 -H l4 --phase decode
llama-3-8b -H h100-sxm --phase prefill --chunk 512 --context 8k
END

while read -r question; do
    # shellcheck disable=SC2086
    roofline $question -f md > "$scratch/report.md" || complain "$question: no report"
    [ "$(grep -c '^|' "$scratch/report.md")" -ge 3 ] || complain "$question: no table"
    wide=$(awk "$fits" "$scratch/report.md")
    [ -z "$wide" ] || complain "$question: $wide"
    [ "$(wc -l < "$scratch/report.md")" -le 130 ] || complain "$question: more than a page"
done <<'END'
recommend model llama-3.3-70b -H h100-sxm,hgx-b200 --devices 4 --prompt 4k --generate 500
recommend model deepseek-r1 -H h200-sxm,mi300x,gaudi3 --formats fp8 --devices 8 --prompt 4k --generate 500 --price-per-hour h200-sxm=3,mi300x=2,gaudi3=1
recommend model llama-3-8b -H h100-sxm --rate 30 --prompt 1k --generate 200 --max-ttft p99:200ms --requests 400
simulate llama-3-8b -H h100-sxm --rate 10 --prompt 1k --generate 200 --requests 400
sweep gemm -m 1:64:x2 -n 4096 -k 4096 -H h100-sxm,l40s
sweep model llama-3-8b -H h100-sxm,l40s --batch 1:64:x2 --phase decode,prefill
predict attention --heads 32 --kv-heads 8 --head-dim 128 --query-len 1 --kv-len 4096 -H h100-sxm
list hardware
list layouts
END

# Pages of the documentation.
root=$(dirname "$0")/../..
for page in "$root"/README.md "$root"/docs/*.md; do
    wide=$(awk -v words=1 "$fits" "$page")
    [ -z "$wide" ] || complain "${page#"$root"/}: $wide"
done

# What it must notice.
printf '| %0115d |\n' 1 > "$scratch/wide.md"
[ -z "$(awk "$fits" "$scratch/wide.md")" ] || complain "the widest table is refused"
printf '| %0116d |\n' 1 > "$scratch/wide.md"
[ -n "$(awk "$fits" "$scratch/wide.md")" ] || complain "a table that is too wide is taken"
[ -n "$(awk -v words=1 "$fits" "$scratch/wide.md")" ] || complain "a page with a word that is too wide is taken"
{
    printf '<details>\n\n| %0100d | %073d |\n' 1 2
    printf '\n| %0100d | %072d |\n\n</details>\n' 1 2
} > "$scratch/wide.md"
[ "$(awk "$fits" "$scratch/wide.md" | wc -l)" -eq 1 ] || complain "not one of two folded tables is too wide"
printf '| %050d %050d %050d |\n' 1 2 3 > "$scratch/wide.md"
[ -z "$(awk -v words=1 "$fits" "$scratch/wide.md")" ] || complain "a page whose cells are folded is refused"
printf '| a | b |\n| - | - |\n| 1 |\n' > "$scratch/bad.md"
! awk -f "$tables" "$scratch/bad.md" > "$scratch/log" || complain "tables.awk takes a row without a cell"
printf '| a | b  |\n| - | -- |\n| 1 | \\| |\n' > "$scratch/good.md"
awk -f "$tables" "$scratch/good.md" || complain "tables.awk does not take an escaped bar"

[ $failed -eq 0 ] && echo "ok   reports"
