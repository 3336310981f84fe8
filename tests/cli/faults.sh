#!/bin/sh
# SPDX-License-Identifier: MIT
# What the program does when its output cannot be written: sh tests/cli/faults.sh PROGRAM
#
# A failed write is exit code 4 and one line on standard error, never a result that looks complete;
# a reader that has gone ends the program by SIGPIPE.
# The program runs under $WRAPPER when that is set (valgrind with its options).
set -eu

[ $# -eq 1 ] || { echo "usage: sh faults.sh PROGRAM" >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
# shellcheck source=tests/cli/steps.sh
. "$(dirname "$0")/steps.sh"

faults() {
    predict='roofline predict gemv -n 4 -k 4'
    # One row is about 300 bytes: a thousand do not fit into any buffer, and the ninth is refused.
    rows='roofline sweep gemv -n 4 -k 1:1000 -f csv'
    endless='roofline sweep gemv -n 1:1000000000 -k 4 -f csv'
    failing='roofline sweep router --tokens 1:1000 --experts 8 --top-k 9,10 -f csv'

    # A full device.
    if [ -c /dev/full ]; then
        for command in 'predict gemv -n 4 -k 4' 'sweep gemv -n 4 -k 1:3' 'recommend gemv -n 4 -k 4' \
            'list hardware gb10' 'list precisions' 'list operators gemm'; do
            for format in text json ndjson csv md; do
                run "$command -f $format > full" "roofline $command -f $format > /dev/full"
                refused 4
            done
        done
        for command in --help --version 'predict --help' 'sweep --help' 'recommend --help' \
            'list --help' 'completion zsh' 'completion words pre' 'list hardware' 'list operators' \
            'predict gemv -n 4 -k 4 --why' \
            'recommend gemv -n 4 -k 4 --formats int2'; do
            run "$command > full" "roofline $command > /dev/full"
            refused 4
        done
        run 'sweep > full' "$rows > /dev/full"
        refused 4
        run '-o full' "$predict -o /dev/full"
        refused 4 /dev/full
        run 'sweep -o full' "$rows -o /dev/full"
        refused 4 /dev/full
        run 'an error > full' 'roofline predict gemv -n 4 > /dev/full'
        refused 2
    else
        skipped=$((skipped + 1))
    fi

    # A closed standard output.
    for command in --help --version 'predict --help' 'predict gemv -n 4 -k 4' \
        'predict gemv -n 4 -k 4 -f json' 'sweep gemv -n 4 -k 1:1000 -f csv' \
        'recommend gemv -n 4 -k 4' 'recommend gemv -n 4 -k 4 --formats int2' 'list hardware gb10' \
        'list precisions'; do
        run "$command, closed" "roofline $command >&-"
        refused 4
    done

    # A reader that has gone, which the loop waits for: the program ends by the signal, without a word.
    for command in "$endless" "$endless -o -" 'roofline list hardware' 'roofline --help' \
        'roofline predict model llama-3-8b'; do
        run "a closed pipe, $command" \
            "{ (while echo; do sleep 0.02; done) 2> /dev/null; $command; echo \$? > code; } | true; exit \$(cat code)"
        [ "$code" -eq 141 ] || fail "exit code $code instead of 141"
        [ ! -s "$err" ] || fail "it complains"
    done

    # A file that cannot be made.
    run '-o in a missing folder' "$predict -o none/file"
    refused 4 none/file
    left
    run 'sweep -o in a missing folder' "$rows -o none/file"
    refused 4 none/file
    left
    run '-o of a folder' "mkdir folder; $predict -o folder"
    refused 4 folder
    left folder
    run '-o of a name that is too long' "$predict -o $(printf '%300s' '' | tr ' ' f)"
    refused 4
    left
    run '-o with its .part in the way' "mkdir file.part; $predict -o file"
    refused 4 file.part
    left file.part
    run '-o with a pipe as its .part' "mkfifo file.part; $predict -o file"
    refused 4 'file.part: cannot write: its place is taken by something that is not an ordinary file'
    left file.part
    run '-o with a link as its .part' "echo kept > other; ln -s other file.part; $predict -o file"
    refused 4 'file.part: cannot write: its place is taken by a symbolic link'
    left file.part other
    [ "$(cat other)" = kept ] || fail 'the link was followed'
    run '-o with a hard link as its .part' "echo kept > other; ln other file.part; $predict -o file"
    refused 4 'file.part: cannot write: its place is taken by a hard link'
    left file.part other
    [ "$(cat other)" = kept ] || fail 'the other file was written'

    # A file that is read is not written, under either name.
    device='roofline list hardware h100 -f json'
    run '-o of the device' "$device > d.json; cp d.json kept; roofline predict gemv -n 4 -k 4 -H gb10,./d.json -o d.json"
    refused 2 "-o d.json would replace ./d.json, which this command reads"
    cmp -s d.json kept || fail 'it was changed'
    run '-o of the model' "echo '{}' > m.json.part; roofline predict model ./m.json.part -o m.json"
    refused 2 './m.json.part would be overwritten while -o m.json is written; rename it'
    run '-o of the records' "printf 'operator,n,k,measured_us\ngemv,4,4,9\n' > r.csv; cp r.csv kept
        for c in 'predict --from' compare 'plot --from'; do roofline \$c r.csv -o r.csv || :; done 2>&1 | uniq | wc -l > said
        cmp r.csv kept; exit 0"
    accepted
    [ "$(xargs < said)" = 3 ] || fail 'not all are refused'
    run '-o of standard input' "printf 'operator,n,k,measured_us\ngemv,4,4,9\n' > r.csv; cp r.csv kept
        roofline compare - -f csv -o r.csv < r.csv"
    refused 2 '-o r.csv would replace -, which this command reads'
    run '-o of the config.json of a folder' "mkdir m; echo '{}' > m/config.json; roofline predict model m -o ./m/config.json"
    refused 2 '-o ./m/config.json would replace m/config.json, which this command reads'
    run '-o beside a name with a comma' "$device > a,b.json; mkdir sub; cp a,b.json sub; touch b.json
        roofline predict gemv -n 4 -k 4 -H ./sub/a,b.json -o b.json"
    accepted
    run '-o of a name with a comma' "$device > a,b.json; roofline predict gemv -n 4 -k 4 -H ./a,b.json -o a,b.json"
    refused 2 'a,b.json would replace'
    run '--update of two' "echo '{}' > c.json; echo '{}' > c.json.part; roofline check c.json.part c.json --update"
    refused 2 'c.json.part would be overwritten while c.json is written; rename it'
    run '-o of a name that is no file' "$predict -H h100 -o h100; $predict -H h100 -o h100"
    accepted

    # Who may read a file stays.
    run '-o of a private file' "umask 022; touch file; chmod 600 file; $predict -o file"
    accepted
    [ "$(find . -perm 600)" = ./file ] || fail 'others may read it'

    if [ "$(id -u)" -ne 0 ]; then
        run '-o in a folder without permission' "mkdir folder; chmod 555 folder; $predict -o folder/x"
        refused 4 folder/x
        left folder
    else
        skipped=$((skipped + 1))
    fi

    # A disk that fills up on the way: a limit on the size of files.
    run '-o beyond the size of a file' "ulimit -f 1; trap '' XFSZ; $predict -f json -o file"
    refused 4 file
    left
    run 'a sweep that fills the disk' \
        "echo old > file; ulimit -f 8; trap '' XFSZ; $rows -o file"
    refused 4 'file: cannot write: .*; file.part is kept, and --resume continues it'
    left file file.part
    [ "$(cat file)" = old ] || fail "the file was changed"
    again 'a sweep that filled the disk, resumed' "$rows -o file --resume"
    accepted
    left file
    $rows 2> /dev/null | cmp -s - file || fail "the file is not what is printed"
    run '> beyond the size of a file' "ulimit -f 8; trap '' XFSZ; $rows > file"
    refused 4

    # Work that fails on the way leaves nothing, and what was there before.
    run 'a failing sweep -o' "$failing -o file"
    refused 2 top-k
    left
    run 'a failing sweep -o of a file that exists' "echo old > file; $failing -o file"
    refused 2 top-k
    left file
    [ "$(cat file)" = old ] || fail "the file was changed"
    run 'a failing predict -o of a file that exists' \
        "echo old > file; roofline predict gemv -n 4 -o file"
    refused 2
    left file
    [ "$(cat file)" = old ] || fail "the file was changed"
    run 'a sweep with points that are not possible' \
        "roofline sweep router --tokens 1 --experts 8 --top-k 9,8 -f json > file"
    refused 0 'possible: 1 of 2'
    [ "$(tail -n 1 file)" = ']' ] || fail "the array does not end"
    run 'a sweep whose first row fails' "roofline sweep router --tokens 1 --experts 8 --top-k 9 > file"
    refused 2 top-k
    [ ! -s file ] || fail "something was printed"

    # A pipe by name is written as it is, and stays one.
    run '-o of a pipe' "mkfifo pipe; cat pipe > got & $predict -o pipe && wait || { kill \$!; exit 1; }"
    accepted
    left got pipe
    [ -p pipe ] || fail "the pipe is no longer one"
    $predict 2> /dev/null | cmp -s - got || fail "the reader got something else"
    run '-o of a file' "$predict -o file"
    accepted
    left file
    $predict 2> /dev/null | cmp -s - file || fail "the file is not what is printed"

    # Ended by a signal: nothing stands under the name.
    run 'a signal' "$endless -o file & sleep 1; kill -TERM \$!; wait \$!"
    [ "$code" -eq 143 ] || fail "exit code $code instead of 143"
    [ ! -e file ] || fail "an incomplete file stands under its name"
}

[ "${SELF_TEST:-}" = no ] || self_test
faults
report faults
