#!/bin/sh
# SPDX-License-Identifier: MIT
# Prose that has to be read twice, one line each: sh tests/prose.sh [FOLDER]
#
# It looks at README.md and the other pages of the root, docs/*.md, the manual, the texts in the
# source, which are help and messages, too, and the notes in data. A sentence must not open with
# words that leave out its subject, and no text has the words of tests/prose.words, whose lines are
# "extended regular expression => what to write instead". Code and output are left out, and so are
# openings in the rows of tables, and CHANGELOG.md below its first section.
#
# sh tests/prose.sh --self-test proves that it notices what it must, and takes what is right.
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")/.." && pwd)
words=$here/tests/prose.words

# Reads lines "file:line<tab>kind<tab>text", where kind is s for text in which sentences begin, w for
# words alone, and an empty text ends a paragraph; prints what is wrong.
# shellcheck disable=SC2016 # the $ of awk
judge='
    BEGIN {
        FS = "\t"
        while ((getline line < words) > 0) {
            if (line ~ /^#/ || line == "") continue
            split(line, part, " => ")
            expression[++count] = "(^|[^a-z])(" part[1] ")([^a-z]|$)"
            instead[count] = part[2]
        }
        openings = "^(Of|The same (of|as|onto|for|in|with|to|by)|Likewise|Where|What of|Whether|Who|Nor)([^A-Za-z]|$)"
        fresh = 1
    }
    function opening(text) {
        if (text ~ openings) print $1 ": begins without its subject: " substr(text, 1, 60)
    }
    {
        text = $3
        lower = " " tolower(last_words " " text) " "
        gsub(/ +/, " ", lower)
        for (i = 1; i <= count; i++)
            if (lower ~ expression[i] && (" " tolower(last_words) " ") !~ expression[i])
                print $1 ": " instead[i] ": " substr(text, 1, 60)
        # What is wrong may begin at the end of a line.
        last_words = ""
        if (match(text, /([^ ]+ +)?([^ ]+ +)?[^ ]+ *$/)) last_words = substr(text, RSTART)
        if (text == "") last_words = ""
        if ($2 != "s" || text == "") {
            fresh = 1
            next
        }
        if (fresh) opening(text)
        rest = text
        while (match(rest, /[.!?][)"]* +/)) {
            rest = substr(rest, RSTART + RLENGTH)
            opening(rest)
        }
        fresh = text ~ /[.!?][)"]*$/
    }'

# Markdown: without blocks of code, and with X for code in a line. An item of a list and a heading
# begin a sentence; the cell of a table does not.
# shellcheck disable=SC2016
markdown='
    FNR == 1 { fence = 0; released = 0; sections = 0 }
    /^ *```/ { fence = !fence; print FILENAME ":" FNR "\tw\t"; next }
    FILENAME ~ /CHANGELOG/ && /^## / { released = ++sections > 1 }
    fence || released || /^    / { next }
    {
        text = $0
        gsub(/`[^`]*`/, "X", text)
        gsub(/\]\([^)]*\)/, "]", text)
        kind = text ~ /^\|/ ? "w" : "s"
        item = text ~ /^ *([-*]|[0-9]+\.) / || text ~ /^#/
        sub(/^ *([-*]|[0-9]+\.|#+) +/, "", text)
        sub(/^\*\*[^*]*\*\* */, "", text)
        if (item) print FILENAME ":" FNR "\tw\t"
        print FILENAME ":" FNR "\t" kind "\t" text
    }'

# The manual: lines of text; a macro for a paragraph or an item ends a sentence.
# shellcheck disable=SC2016
manual='
    /^\.\\"/ { next }
    /^\.(Pp|It|Sh|Ss|Bl|El|Bd|Ed)/ { literal = /^\.Bd -literal/; middle = 0; print FILENAME ":" FNR "\tw\t"; next }
    literal { next }
    /^\./ { sub(/^\.[A-Za-z]+ */, ""); print FILENAME ":" FNR "\tw\t" $0; middle = 1; next }
    { print FILENAME ":" FNR "\t" (middle ? "w" : "s") "\t" $0; middle = 0 }'

# The texts of C: what stands between quotes, joined over lines.
# shellcheck disable=SC2016
strings='
    /^[ \t]*(#|\/\*|\*|\/\/)/ { next }
    {
        line = $0
        text = ""
        gsub(/\\"/, "\047", line)
        while (match(line, /"[^"]*"/)) {
            text = text substr(line, RSTART + 1, RLENGTH - 2)
            line = substr(line, RSTART + RLENGTH)
        }
        gsub(/\\[nt]/, " ", text)
        print FILENAME ":" FNR "\tw\t" text
        if (line !~ /^[ \t]*$/) print FILENAME ":" FNR "\tw\t"
    }'

# Notes in data: the members of JSON that are sentences.
# shellcheck disable=SC2016
notes='
    match($0, /"(note|notes|remark|basis_note)": *"/) {
        text = substr($0, RSTART + RLENGTH)
        sub(/",?$/, "", text)
        print FILENAME ":" FNR "\ts\t" text
        print FILENAME ":" FNR "\tw\t"
    }'

all() {
    {
        find . -maxdepth 1 -name '*.md' -exec awk "$markdown" {} +
        find docs -maxdepth 1 -name '*.md' -exec awk "$markdown" {} +
        find docs/man -name '*.1' -exec awk "$manual" {} +
        find src -name '*.c' -exec awk "$strings" {} +
        find data -name '*.json' -exec awk "$notes" {} +
    } 2> /dev/null | awk -v words="$words" "$judge" | sed 's/^\.\///' | sort -u
}

# expect NAME COUNT FILE TEXT: so many lines are wrong in a folder that has this text alone.
expect() {
    rm -rf "$folder" && mkdir -p "$folder/docs/man" "$folder/src" "$folder/data"
    printf '%b' "$4" > "$folder/$3"
    got=$(cd "$folder" && all | wc -l)
    checks=$((checks + 1))
    if [ "$((got))" -ne "$2" ]; then
        echo "FAIL $1: $((got)) lines instead of $2"
        failed=$((failed + 1))
    fi
}

# shellcheck disable=SC2016 # the marks of Markdown
self_test() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    checks=0
    failed=0
    expect 'an opening' 1 README.md 'Of the plans one is best.\n'
    expect 'in the middle of a line' 1 README.md 'It is. Where it is not, it is not.\n'
    expect 'at the beginning of a line' 1 README.md 'It is.\nThe same of others is true.\n'
    expect 'in a wrapped sentence' 0 README.md 'It stands\nWhere it stood\n'
    expect 'in an item' 1 docs/a.md '- Of them\n'
    expect 'in a table' 0 docs/a.md '| Of a | b |\n'
    expect 'in code' 0 docs/a.md '```sh\nOf a\n```\nIt is `Of`.\n'
    expect 'behind a fence' 1 docs/a.md 'Thus:\n```sh\na\n```\nOf a\n'
    expect 'a word' 1 docs/a.md 'It is likewise.\n'
    expect 'a word over two lines' 1 docs/a.md 'It is all of it but\nfor the last.\n'
    expect 'a part of a word' 0 docs/a.md 'Attribut for it.\n'
    expect 'a word in a table' 1 docs/a.md '| a | likewise |\n'
    expect 'an old entry' 0 CHANGELOG.md '## 1.0.0\n\n- It does.\n\n## 0.1.0\n\n- Of a\n'
    expect 'a new entry' 1 CHANGELOG.md '## 1.0.0\n\n- Of a\n'
    expect 'the manual' 1 docs/man/a.1 '.Pp\nOf a\n.Fl x\nOf b\n'
    expect 'a message' 1 src/a.c 'printf("a but "\n  "for b");\n'
    expect 'a comment' 0 src/a.c '/* "a but for b" */\n'
    expect 'a note' 1 data/a.json '{\n  "note": "Of a device"\n}\n'
    [ $failed -eq 0 ] && echo "ok   prose: $checks checks"
}

if [ "${1:-}" = --self-test ]; then
    self_test
    exit
fi
cd "${1:-$here}"
found=$(all)
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi
