#!/bin/sh
# SPDX-License-Identifier: MIT
# Golden tests of the command line: sh tests/cli/run.sh PROGRAM CASE-FILE...
#
# A case file holds cases and, between them, comments (#) and blank lines:
#
#   $ roofline predict gemv -n 4 -k 4 -f csv --columns time_us
#   exit 0          left out when it is 0
#   out             left out, with its lines, when nothing is printed
#   time_us
#   0.000016
#   err             likewise for standard error
#   end
#
# Several "$ " lines are one script for sh; the lines of a here-document follow theirs as they are.
# Each case runs in an empty folder, which is also HOME, with a clean environment; in it roofline is
# PROGRAM, under $WRAPPER when that is set (valgrind with its options), and $FAKES the folder of
# the fake drivers (tests/fake), and $SLOWER how many times as long a command takes (1 if unset).
# BLESS=1 rewrites the expectations in place; read the difference afterwards. SELF_TEST=no leaves out
# the tests of the runner itself, SELF_TEST=only runs nothing else. PART=1/10 runs the first case of
# ten in each file, the eleventh and so on.
set -eu

[ $# -ge 2 ] || { echo "usage: sh run.sh PROGRAM CASE-FILE..." >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
shift

# One program reads case files. It writes the parts of case N to $dir/N.script, .exit, .out, .err
# and .where, or with bless=1 prints the file anew with what $dir/N.got.* hold. Prints complaints to
# standard error.
# shellcheck disable=SC2016
reader='
    function bad(text) {
        printf "%s:%d: %s\n", FILENAME, FNR, text | "cat >&2"
        failed = 1
        exit 1
    }
    function add(part, line) {
        if (!bless) print line > (dir "/" n "." part)
    }
    function begin() {
        n++
        split("script exit out err where", parts, " ")
        for (i in parts) if (!bless) printf "" > (dir "/" n "." parts[i])
        add("where", FILENAME ":" FNR)
        status = 0
    }
    function finish() {
        add("exit", status)
        for (i in parts) if (!bless) close(dir "/" n "." parts[i])
        if (bless) show()
        state = "between"
    }
    function copy(part,    name, line, heading) {
        name = dir "/" n ".got." part
        while ((getline line < name) > 0) {
            if (line == "err" || line == "end") bad("cannot bless: the output has the line " line)
            if (!heading++) print part
            print line
        }
        close(name)
    }
    function show(    name, line) {
        name = dir "/" n ".got.exit"
        getline line < name
        close(name)
        if (line != 0) print "exit " line
        copy("out")
        copy("err")
        print "end"
    }
    function here(line,    word) { # the word that ends the here-document that line begins
        if (!match(line, /<<-?["\047]?[A-Za-z_]+/)) return ""
        word = substr(line, RSTART, RLENGTH)
        gsub(/[^A-Za-z_]/, "", word)
        return word
    }
    BEGIN { state = "between" }
    state == "document" {
        if (bless) print
        add("script", $0)
        if ($0 == word) state = "script"
        next
    }
    (state == "between" || state == "script") && /^\$ / {
        if (state == "between") begin()
        state = "script"
        if (bless) print
        add("script", substr($0, 3))
        word = here($0)
        if (word != "") state = "document"
        next
    }
    state == "between" {
        if (!/^#/ && !/^$/) bad("neither a case nor a comment")
        if (bless) print
        next
    }
    /^end$/ { finish(); next }
    state == "script" && /^exit [0-9]+$/ { status = $2; next }
    state == "script" && /^out$/ { state = "out"; next }
    (state == "script" || state == "out") && /^err$/ { state = "err"; next }
    state == "script" { bad("expected exit N, out, err or end") }
    { add(state, $0) }
    END {
        if (!failed && state != "between") bad("the last case has no end")
        if (!failed && !bless) print n + 0
    }'

# Runs case $1 in $1.home and leaves what it did in $1.got.out, .err and .exit.
run_case() {
    mkdir "$1.home"
    status=0
    (
        cd "$1.home"
        exec env -i PATH="$scratch/bin:$PATH" HOME="$1.home" XDG_DATA_HOME= LC_ALL=C FAKES="$fakes" SLOWER="${SLOWER:-1}" \
            sh "$1.script" < /dev/null > "$1.got.out" 2> "$1.got.err"
    ) || status=$?
    echo "$status" > "$1.got.exit"
}

# The numbers of the cases that did something else than they should: one look at all of them,
# because three processes for each take as long as the cases.
# shellcheck disable=SC2016
others='
    { number = part = $2; sub(/[.].*/, "", number); sub(/.*[.]/, "", part) }
    $2 ~ /got/ { got[number, part] = $1; ran[number] = 1; next }
    { want[number, part] = $1 }
    END {
        for (each in want) {
            split(each, of, SUBSEP)
            if (of[1] in ran && want[each] != got[each]) other[of[1]] = 1
        }
        for (number in other) print number
    }'
differ() {
    (cd "$folder/cases" && sha256sum -- *.exit *.out *.err) | awk "$others" | sort -n
}

# Compares case $1 with what it should do; shows what differs.
compare() {
    same=yes
    for part in exit out err; do
        cmp -s "$1.$part" "$1.got.$part" && continue
        if [ $same = yes ]; then
            same=no
            echo "FAIL $(cat "$1.where")"
            sed 's/^/    $ /' "$1.script"
        fi
        echo "    $part, expected (-) and got (+):"
        diff -u "$1.$part" "$1.got.$part" | sed '1,2d; s/^/    /' || :
    done
    [ $same = yes ]
}

# run_file FILE: its cases, in $folder; how many there are and how many failed in $folder/counts.
run_file() {
    mkdir "$folder" "$folder/cases"
    count=$(awk -v dir="$folder/cases" -v bless=0 "$reader" "$1") || return
    failures=0
    i=0
    ran=0
    while [ $i -lt "$count" ]; do
        i=$((i + 1))
        [ $((i % chosen_of)) -eq $((chosen % chosen_of)) ] || continue
        ran=$((ran + 1))
        run_case "$folder/cases/$i"
    done
    if [ -z "${BLESS:-}" ] && [ $ran -gt 0 ]; then
        for i in $(differ); do
            compare "$folder/cases/$i" || failures=$((failures + 1))
        done
    fi
    if [ -n "${BLESS:-}" ]; then
        awk -v dir="$folder/cases" -v bless=1 "$reader" "$1" > "$folder/blessed" || return
        cmp -s "$folder/blessed" "$1" || cat "$folder/blessed" > "$1"
    fi
    echo "$ran $failures" > "$folder/counts"
}

# The files at the same time, their failures in the order of the files.
run_files() {
    n=0
    for file; do
        n=$((n + 1))
        folder=$scratch/$n
        run_file "$file" > "$folder.log" 2>&1 &
    done
    wait
    cases=0
    failures=0
    n=0
    for file; do
        n=$((n + 1))
        cat "$scratch/$n.log"
        [ -r "$scratch/$n/counts" ] || return 2
        read -r all failed < "$scratch/$n/counts"
        cases=$((cases + all))
        failures=$((failures + failed))
    done
    echo "$cases cases, $failures failed"
    [ $failures -eq 0 ]
}

chosen=${PART:-1/1}
[ -z "${BLESS:-}" ] || chosen=1/1 # a file is written whole
chosen_of=${chosen#*/}
chosen=${chosen%/*}

# --- the runner's own failing paths ---------------------------------------------------------------

complain() {
    echo "run.sh does not work: $*" >&2
    exit 1
}

# self EXPECTED-STATUS EXPECTED-LAST-LINE [BLESS [PART]]: how the runner ends on $scratch/self.case.
self() {
    status=0
    SELF_TEST=no BLESS="${3:-}" PART="${4:-1/1}" sh "$0" "$program" "$scratch/self.case" \
        > "$scratch/self.log" 2>&1 || status=$?
    [ $status -eq "$1" ] && [ "$(tail -n 1 "$scratch/self.log")" = "$2" ] && return
    cat "$scratch/self.log" >&2
    complain "expected status $1 and '$2', got status $status"
}

# shellcheck disable=SC2016
self_test() {
    printf '%s\n' '$ true' 'end' '$ false' 'end' '$ echo a' 'out' 'b' 'end' '$ echo a' 'end' \
        '$ echo a >&2' 'err' 'a' 'b' 'end' > "$scratch/self.case"
    self 1 '5 cases, 4 failed'
    printf '%s\n' '# kept' '$ echo a; echo b >&2; exit 3' 'out' 'x' 'end' '' '$ cat <<EOF' '$ a' \
        'EOF' '$ ls -A' 'exit 1' 'end' '# last' > "$scratch/self.case"
    self 0 '2 cases, 0 failed' 1
    printf '%s\n' '# kept' '$ echo a; echo b >&2; exit 3' 'exit 3' 'out' 'a' 'err' 'b' 'end' '' \
        '$ cat <<EOF' '$ a' 'EOF' '$ ls -A' 'out' '$ a' 'end' '# last' |
        cmp -s - "$scratch/self.case" || complain "BLESS=1 wrote something else"
    self 0 '2 cases, 0 failed'
    self 0 '1 cases, 0 failed' '' 2/3
    printf '%s\n' '$ true' 'out' > "$scratch/self.case"
    self 2 "$scratch/self.case:2: the last case has no end"
    printf '%s\n' '$ true' 'end' 'stray' > "$scratch/self.case"
    self 2 "$scratch/self.case:3: neither a case nor a comment"
}

[ "${SELF_TEST:-}" = no ] || self_test
if [ "${SELF_TEST:-}" = only ]; then
    echo "the runner notices what it must"
else
    run_files "$@"
fi
