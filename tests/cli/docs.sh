#!/bin/sh
# SPDX-License-Identifier: MIT
# The examples of the documentation are true: sh tests/cli/docs.sh PROGRAM FILE.md...
#
# A block that begins with ```console is a session: lines that begin with "$ " are commands (with the
# lines of their here-document, or those after a backslash at the end), what follows is what they
# print on either stream. The whole block is run by one sh in a folder with docs alone, which is also
# HOME; roofline is PROGRAM, under $WRAPPER when that is set. In the output a line of three dots stands for
# any number of lines. A command that needs a tool of $optional that is not there is not run.
# BLESS=1 writes the output anew, except in blocks that have a line of dots.
set -eu
optional='jq python3 gnuplot curl parallel'

[ $# -ge 2 ] || { echo "usage: sh docs.sh PROGRAM FILE.md..." >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
shift
docs=$(cd "$(dirname "$0")/../.." && pwd)/docs

missing=
for tool in $optional; do
    command -v "$tool" > "$scratch/found" || missing="$missing $tool"
done

# Takes the blocks of a file apart. Block N becomes $dir/N.script, a program that prints the session
# as it goes now, $dir/N.expected, $dir/N.where and $dir/N.counts (commands, skipped). With bless=1
# prints the file with the sessions of $dir/N.got in place of those without a line of dots.
# shellcheck disable=SC2016
reader='
    function add(part, line) {
        if (!bless) print line > (dir "/" n "." part)
    }
    # The next line that the script prints, which is a line of the block; it leaves $? alone.
    function say(text) {
        if (!quoting) add("script", "docs_status=$?; cat <<\047end of what is said\047")
        quoting = 1
        add("script", text)
    }
    function run(text) {
        if (quoting) add("script", "end of what is said\n(exit $docs_status)")
        quoting = 0
        add("script", text)
    }
    function here(line,    word) { # the word that ends the here-document that line begins
        if (!match(line, /<<-?["\047]?[A-Za-z_]+/)) return ""
        word = substr(line, RSTART, RLENGTH)
        gsub(/[^A-Za-z_]/, "", word)
        return word
    }
    function needs_missing(line,    i, count, tools) {
        gsub(/\047[^\047]*\047|"[^"]*"/, "", line) # what is quoted is no command
        count = split(missing, tools, " ")
        for (i = 1; i <= count; i++)
            if (line ~ ("(^|[|;&(] *)" tools[i] "( |$)")) return 1
        return 0
    }
    function command(line) {
        text = text line "\n"
        if (word != "") {
            if (line == word) word = ""
        } else
            word = here(line)
        if (word != "" || line ~ /\\$/) return
        sub(/\n$/, "", text)
        commands++
        skipping = needs_missing(text)
        skipped += skipping
        if (!skipping) run(text)
        text = ""
    }
    function begin() {
        n++
        commands = skipped = skipping = quoting = dots = 0
        text = word = ""
        if (!bless) printf "" > (dir "/" n ".expected")
        add("where", FILENAME ":" FNR)
        inside = 1
    }
    function finish(    name, line) {
        run(":")
        add("counts", commands " " skipped)
        if (bless && dots) printf "%s", block
        if (bless && !dots) {
            name = dir "/" n ".got"
            while ((getline line < name) > 0) print line
            close(name)
        }
        block = ""
        inside = 0
    }
    inside && /^```/ { finish(); if (bless) print; next }
    inside {
        block = block $0 "\n"
        if ($0 == "...") dots = 1
        add("expected", $0)
        if (text != "") { # a command that goes on
            say($0)
            command($0)
        } else if (/^\$ /) {
            say($0)
            command(substr($0, 3))
        } else if (skipping)
            say($0)
        next
    }
    bless { print }
    /^```console$/ { begin(); next }
    /^[ \t]*```+ *console/ {
        printf "%s:%d: a session begins with ```console and nothing else\n", FILENAME, FNR | "cat >&2"
        failed = 1
        exit 1
    }
    END {
        if (inside && !failed) {
            printf "%s: the last block does not end\n", FILENAME | "cat >&2"
            exit 1
        }
        if (!failed && !bless) print n + 0
    }'

# Compares the lines of two files; a line of dots in the first stands for any number of lines.
# shellcheck disable=SC2016
matcher='
    NR == FNR { want[++wants] = $0; next }
    { got[++gots] = $0 }
    # Whether the lines from first to last of want, which have no dots, are those of got after at.
    function same(first, last, at,    i) {
        if (at + last - first + 1 > gots) return 0
        for (i = first; i <= last; i++) if (want[i] != got[at + i - first + 1]) return 0
        return 1
    }
    END {
        at = 0
        first = 1
        for (i = 1; i <= wants + 1; i++) {
            if (i <= wants && want[i] != "...") continue
            size = i - first
            if (first == 1) { # the beginning is fixed
                if (!same(1, size, 0)) exit 1
            } else if (i > wants) { # so is the end
                if (gots - size < at || !same(first, wants, gots - size)) exit 1
                at = gots - size
            } else {
                while (at + size <= gots && !same(first, i - 1, at)) at++
                if (at + size > gots) exit 1
            }
            at += size
            first = i + 1
        }
        exit at != gots && want[wants] != "..."
    }'

run_block() {
    rm -rf "${scratch:?}/home"
    mkdir "$scratch/home"
    ln -s "$docs" "$scratch/home/docs"
    (
        cd "$scratch/home"
        exec env -i PATH="$scratch/bin:$PATH" HOME="$scratch/home" XDG_DATA_HOME= LC_ALL=C \
            sh "$1.script" < /dev/null > "$1.got" 2>&1
    ) || :
}

run_files() {
    all=0
    skips=0
    failures=0
    for file; do
        rm -rf "${scratch:?}/blocks"
        mkdir "$scratch/blocks"
        count=$(awk -v dir="$scratch/blocks" -v missing="$missing" -v bless=0 "$reader" "$file") ||
            return 2
        i=0
        while [ $i -lt "$count" ]; do
            i=$((i + 1))
            block=$scratch/blocks/$i
            read -r commands skipped < "$block.counts"
            all=$((all + commands))
            skips=$((skips + skipped))
            run_block "$block"
            [ -z "${BLESS:-}" ] || continue
            awk "$matcher" "$block.expected" "$block.got" && continue
            failures=$((failures + 1))
            echo "FAIL $(cat "$block.where"), expected (-) and got (+):"
            diff -u "$block.expected" "$block.got" | sed '1,2d; s/^/    /' || :
        done
        if [ -n "${BLESS:-}" ]; then
            awk -v dir="$scratch/blocks" -v missing="$missing" -v bless=1 "$reader" "$file" \
                > "$scratch/blessed" || return 2
            cmp -s "$scratch/blessed" "$file" || cat "$scratch/blessed" > "$file"
        fi
    done
    note=
    [ $skips -eq 0 ] || note=" (missing:$missing)"
    echo "$all commands in the documentation, $failures blocks failed, $skips skipped$note"
    # With EXAMPLES=any a page may have none.
    if [ $all -eq $skips ] && { [ $skips -gt 0 ] || [ "${EXAMPLES:-some}" = some ]; }; then
        echo "no example was run" >&2
        return 1
    fi
    [ $failures -eq 0 ]
}

# --- the runner's own failing paths ---------------------------------------------------------------

# self EXPECTED-STATUS EXPECTED-FIRST-WORDS [BLESS]: how the runner ends on the text it reads.
self() {
    cat > "$scratch/self.md"
    status=0
    SELF_TEST=no BLESS="${3:-}" sh "$0" "$program" "$scratch/self.md" \
        > "$scratch/self.log" 2>&1 || status=$?
    if [ $status -ne "$1" ] || ! grep -q "^$2" "$scratch/self.log"; then
        cat "$scratch/self.log" >&2
        echo "docs.sh does not work: expected status $1 and '$2', got status $status" >&2
        exit 1
    fi
}

# shellcheck disable=SC1003,SC2016
self_test() {
    self 1 'no example' < /dev/null
    printf '%s\n' '```sh' '$ false' '```' | self 1 'no example'
    printf '%s\n' '```console' '$ echo a' 'a' '```' | self 0 '1 commands .* 0 blocks failed'
    printf '%s\n' '```console' '$ echo a' 'b' '```' | self 1 '1 commands .* 1 blocks failed'
    printf '%s\n' '```console' '$ echo a' '```' '' '```console' '$ :' 'a' '```' |
        self 1 '2 commands .* 2 blocks failed'
    printf '%s\n' '```console' '$ seq 9' '1' '...' '4' '5' '...' '```' | self 0 '1 commands'
    printf '%s\n' '```console' '$ seq 9' '...' '9' '```' | self 0 '1 commands'
    printf '%s\n' '```console' '$ seq 9' '1' '...' '4' '6' '...' '```' | self 1 'FAIL'
    printf '%s\n' '```console' '$ seq 9' '...' '8' '```' | self 1 'FAIL'
    printf '%s\n' '```console' '$ seq 9' '1' '...' '1' '...' '9' '```' | self 1 'FAIL'
    printf '%s\n' '  ```console' '$ :' '  ```' | self 2 '.*self.md:1: a session begins'
    printf '%s\n' '```console' '$ :' | self 2 '.*self.md: the last block does not end'
    # A folder per block, a shell for all of it, here-documents and long commands.
    printf '%s\n' '```console' "\$ cat > f <<'EOF'" '$ x' 'EOF' "\$ sed 's/^..//' f" 'x' '$ x=1; false' \
        '$ echo $x$? \' '    y' '11 y' '```' '' '```console' '$ ls -A' 'docs' '```' |
        self 0 '5 commands .* 0 blocks failed'
    printf '%s\n' 'text' '```console' '$ echo a; echo b >&2' 'c' '$ echo d' '```' '' '```console' \
        '$ echo a' '...' '```' 'end' | self 0 '3 commands' 1
    printf '%s\n' 'text' '```console' '$ echo a; echo b >&2' 'a' 'b' '$ echo d' 'd' '```' '' \
        '```console' '$ echo a' '...' '```' 'end' > "$scratch/blessed.md"
    cmp "$scratch/self.md" "$scratch/blessed.md" || exit 1
}

[ "${SELF_TEST:-}" = no ] || self_test
run_files "$@"
