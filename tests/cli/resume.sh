#!/bin/sh
# SPDX-License-Identifier: MIT
# Sweeps that are interrupted and go on, and what a terminal shows of them: sh resume.sh PROGRAM
#
# A resumed sweep writes what an uninterrupted one writes, byte for byte, wherever it was cut; what
# is not of the same sweep is refused and left alone. A signal ends a sweep in whole rows.
# The program runs under $WRAPPER when that is set (valgrind with its options); THREADS_SANITIZED is
# set where it is built so, and FEWER_CUTS to cut sweeps at fewer places.
set -eu

[ $# -eq 1 ] || { echo "usage: sh resume.sh PROGRAM" >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
# shellcheck source=tests/cli/steps.sh
. "$(dirname "$0")/steps.sh"

# Where to cut, beside each end of a line; fewer places where each run takes long.
around='-3 -2 -1 0 1 2'
[ -z "${WRAPPER:-}${FEWER_CUTS:-}" ] || around='-1 0'

# resumed SWEEP: FILE.part cut at the byte $cut of what the sweep writes.
resumed() {
    head -c "$cut" whole > file.part
    again "$1, cut at byte $cut" "$1 -o file --resume"
    if [ "$code" -ne "$whole_code" ] || ! cmp -s whole.err "$err"; then
        fail "exit code $code instead of $whole_code, or another message"
    fi
    cmp -s whole file || fail "the file is another one"
    [ ! -e file.part ] || fail "FILE.part is left"
    rm -f file file.part
}

# cut_at SWEEP PLACE...: resumes it after so many bytes, and what is beyond the end at the end.
cut_at() {
    sweep=$1
    shift
    run "$sweep" "$sweep -o whole"
    whole_code=$code
    cp "$err" whole.err
    if [ ! -s whole ]; then
        fail "no file"
        return
    fi
    size=$(($(wc -c < whole)))
    for cut; do
        [ "$cut" -lt 0 ] || [ "$cut" -gt "$size" ] || resumed "$sweep"
    done
}

# cut_lines SWEEP: resumes it at bytes around the end of every line.
cut_lines() {
    places=0
    at=0
    for length in $(sh -c "$1" 2> /dev/null | awk '{ print length + 1 }'); do
        at=$((at + length))
        for step in $around; do
            places="$places $((at + step))"
        done
    done
    # shellcheck disable=SC2086
    cut_at "$1" $places
}

cuts() {
    gemm='roofline sweep gemm -n 8,16 -k 8'
    for format in csv ndjson md; do
        cut_lines "$gemm -m 1:3 -f $format --columns m,n,time_us"
    done
    cut_lines "$gemm -m 1:2 -f text"
    cut_lines "$gemm -m 1:2 -f json"
    cut_lines 'roofline sweep gemv -n 8 -k 8 -f json'
    for shard in 1/2 2/2; do
        cut_lines "$gemm -m 1:3 -f csv --columns m,n --shard $shard"
        cut_lines "$gemm -m 1:3 -f ndjson --columns m,n --shard $shard"
    done
    # Points that are not possible are no rows, but count in what is said at the end.
    router='roofline sweep router --tokens 1,2 --experts 8 --top-k 9,1,8,10,9,2,11'
    cut_lines "$router -f csv --columns tokens,top_k"
    cut_lines "$router -f json"
    cut_lines "$router -f csv --columns tokens,top_k --shard 2/3"
    # More than a chunk, in threads.
    many='roofline sweep flash-attention --heads 1 --head-dim 8 --causal --kv-len 900 --query-len'
    for threads in 1 3; do
        cut_at "$many 1:2000,300:1100 -f csv --columns query_len --threads $threads" \
            500 2060 3400 3589 3590 3591 3594 5000 6000 6100
        cut_at "$many 901:3000,300:1100 -f json --threads $threads" 1000 9999 200000 500000
    done
    cut_at 'roofline sweep model llama-3.1-8b -H h100-sxm --batch 1:30 --tp 1,2,3 -f csv' \
        1000 5000 9999 12000 20000

    # It goes on, and does not start again: what it does not compare is as it was.
    run 'a sweep that goes on' "$gemm -m 1:999 -f csv --columns m,n | sed '514s/.*/&changed/; 1201,\$d' > file.part
        $gemm -m 1:999 -f csv --columns m,n -o file --resume"
    accepted
    [ "$(sed -n 514p file)" = 257,8changed ] || fail "it started again"
    [ "$(sed -n '1999,$p' file)" = 999,16 ] || fail "its end is wrong"
    run 'no FILE.part' "$gemm -m 1 -f csv --columns n -o file --resume"
    accepted
    left file
    [ "$(xargs < file)" = 'n 8 16' ] || fail "the file is wrong"
    run 'zeros after a crash' "{ $gemm -m 1 -f csv --columns n; head -c 5000 /dev/zero; } > file.part
        $gemm -m 1:2 -f csv --columns n -o file --resume"
    accepted
    left file
    [ "$(xargs < file)" = 'n 8 16 8 16' ] || fail "the file is wrong"
}

# foreign LINE SWEEP: this sweep does not go on with FILE.part.
foreign() {
    cp file.part as_it_was
    again "resumed by $2" "$2 -o file --resume"
    refused 3 "file.part:$1: belongs to another sweep; remove it to start again"
    cmp -s as_it_was file.part || fail "FILE.part was changed"
    left as_it_was file.part
}

refusals() {
    for format in csv ndjson json md text; do
        gemm="roofline sweep gemm -k 8 -f $format"
        header=$(case $format in ndjson) echo 0 ;; md) echo 2 ;; *) echo 1 ;; esac)
        run "another sweep, $format" "$gemm -n 8,16 -m 1:5 > all; head -n $((header + 7)) all > file.part; rm all"
        foreign $((header + 1)) "$gemm -n 4,16 -m 1:5"  # the first row
        foreign $((header + 7)) "$gemm -n 8,16 -m 1:3,9" # the last
        foreign $((header + 7)) "$gemm -n 8,16 -m 1:3"   # more rows than the sweep has
        foreign $((header + 2)) "$gemm -n 8 -m 1"
        foreign $((header + 3)) "$gemm -n 8,16 -m 1,3,3,4" # in the middle
        other=$(case $format in csv) echo ndjson ;; *) echo csv ;; esac)
        foreign 1 "roofline sweep gemm -k 8 -f $other -n 8,16 -m 1:5"
        again 'its own sweep' "rm as_it_was; $gemm -n 8,16 -m 1:5 -o file --resume"
        accepted
        left file
    done
    # Of many rows some are compared, in each part others: no value of an inner axis stays unseen.
    for line in 2 300 513 515 531 1028 1044 2000; do
        run "line $line" "roofline sweep gemm -n 8,16,32 -k 8 -m 1:700 -f csv --columns m,n | sed '${line}s/.*/&0/; 2001,\$d' > file.part"
        foreign "$line" 'roofline sweep gemm -n 8,16,32 -k 8 -m 1:700 -f csv --columns m,n'
    done
    run 'values in the middle' "roofline sweep gemm -n 8,16,32,64 -k 8 -m 1:700 -f csv --columns m,n | sed 's/,16\$/,17/; 1002,\$d' > file.part"
    foreign 3 'roofline sweep gemm -n 8,16,32,64 -k 8 -m 1:700 -f csv --columns m,n'
    run 'a shard' 'roofline sweep gemm -m 1:9 -n 8 -k 8 -f csv --columns m --shard 2/3 > file.part'
    foreign 1 'roofline sweep gemm -m 1:9 -n 8 -k 8 -f csv --columns m --shard 3/3'
    foreign 1 'roofline sweep gemm -m 1:9 -n 8 -k 8 -f csv --columns m --shard 1/3'
    run 'no row is possible' 'printf "top_k\n1\n" > file.part'
    foreign 2 'roofline sweep router --tokens 1 --experts 8 --top-k 9 -f csv --columns top_k'

    some='roofline sweep gemm -m 1 -n 8 -k 8'
    for output in '' '-o -' '-o /dev/null' '-o .'; do
        run "--resume $output" "$some $output --resume"
        refused 2 'resume needs -o FILE'
        left
    done
    run '--resume -o of a pipe' "mkfifo pipe; $some -o pipe --resume"
    refused 2 'resume needs -o FILE'
    run 'FILE.part is a pipe' "mkfifo file.part; $some -o file --resume"
    refused 4 file.part
    run 'FILE.part is a folder' "mkdir file.part; $some -o file --resume"
    refused 4 file.part
    run 'resumed on a full disk' "roofline sweep gemm -m 1:3 -n 8 -k 8 > file.part
        ulimit -f 1; trap '' XFSZ; roofline sweep gemm -m 1:999 -n 8 -k 8 --resume -o file"
    refused 4 'file.part is kept, and --resume continues it'
    left file.part
}

# Signals. Shells ignore SIGINT in the background, which only some env undo.
with_int=
! env --default-signal=INT true 2> /dev/null || with_int='env --default-signal=INT'
endless='roofline sweep gemv -n 1:1000000000 -k 4 -f csv --columns n'
# shellcheck disable=SC2016
rows_there='while [ ! -s $there ] && kill -0 $! 2> /dev/null; do sleep 0.05; done'
# What is sent a signal at last ends: else it is killed, which is another code.
# shellcheck disable=SC2016
ends='i=0; while [ $i -lt 600 ] && kill -0 $pid 2> /dev/null; do sleep 0.05; i=$((i + 1)); done
    kill -KILL $pid 2> /dev/null; wait $pid'

# The rows of file $1, from "n", are 1, 2, 3 and so on, and all whole.
are_rows() {
    awk 'NR == 1 && $0 != "n" || NR > 1 && $0 != NR - 1 { wrong = 1 } END { exit wrong }' "$1" &&
        [ "$(tail -c 1 "$1" | wc -l)" -eq 1 ]
}

# interrupted SIGNAL CODE BEFORE OPTIONS: a sweep that the signal ends, then one that goes on.
interrupted() {
    run "SIG$1, $4" "there=file.part; $3 $endless $4 -o file & pid=\$!; $rows_there
        kill -$1 \$pid; $ends"
    rows=$(($(wc -l < file.part 2> /dev/null || echo 1) - 1))
    refused "$2" "interrupted: $rows rows of 1000000000 points are written; file.part is kept, and --resume continues it"
    left file.part
    [ ! -e file.part ] || are_rows file.part || fail "FILE.part is not its first rows"
    again "SIG$1, $4, and on" "roofline sweep gemv -n 1:$((rows + 5)) -k 4 -f csv --columns n --resume -o file"
    accepted
    left file
    [ ! -e file ] || are_rows file || fail "the rows are wrong"
    [ "$(tail -n 1 file)" = $((rows + 5)) ] || fail "not all rows are there"
}

signals() {
    for threads in 1 3; do
        interrupted TERM 143 '' "--threads $threads"
        if [ -n "$with_int" ]; then
            interrupted INT 130 "$with_int" "--threads $threads"
        else
            skipped=$((skipped + 1))
        fi
    done

    run 'an ignored signal' "trap '' INT; there=file.part; $endless -o file & pid=\$!; $rows_there
        kill -INT \$pid; kill -TERM \$pid; $ends"
    refused 143 interrupted

    # Into a pipe: whole rows; an array is not closed.
    for format in csv ndjson json; do
        columns='--columns n'
        [ $format != json ] || columns=
        run "a signal, $format into a pipe" "mkfifo pipe; cat pipe > got & cat=\$!
            roofline sweep gemv -n 1:1000000000 -k 4 -f $format $columns > pipe & pid=\$!; there=got; $rows_there
            kill -TERM \$pid; $ends; code=\$?; wait \$cat; exit \$code"
        refused 143 'interrupted: [0-9]* rows of 1000000000 points are written$'
        case $format in
        csv) are_rows got || fail "the rows are not whole" ;;
        ndjson) [ "$(tail -n 1 got)" = "{\"n\":$(($(wc -l < got)))}" ] || fail "the rows are not whole" ;;
        json) tail -n 1 got | grep -q '^{.*}$' || fail "the rows are not whole" ;;
        esac
    done

    # The reader of the pipe ends, too: the signal counts, not the failed write.
    run 'a signal and a closed pipe' "mkfifo pipe; $endless > pipe & pid=\$!; exec 3< pipe
        head -c 1 <&3 > first; kill -TERM \$pid; exec 3<&-; $ends"
    refused 143

    # A signal while a write waits for the reader: the write goes on.
    run 'a signal in a write' "mkfifo pipe; $endless > pipe & pid=\$!; exec 3< pipe
        head -c 1 <&3 > got; sleep 0.2; kill -TERM \$pid; sleep 0.2; cat <&3 >> got; $ends"
    refused 143 'interrupted: [0-9]* rows of 1000000000 points are written$'
    are_rows got || fail "the rows are not whole"

    # Nobody reads: the first signal waits for it, the second ends the program; but the thread
    # sanitizer keeps signals from a thread that waits, and valgrind then reports what is not freed.
    if [ -z "${WRAPPER:-}${THREADS_SANITIZED:-}" ]; then
        run 'two signals' "mkfifo pipe; $endless > pipe & pid=\$!; exec 3< pipe
            head -c 1 <&3 > first; kill -TERM \$pid
            i=0; while [ \$i -lt 40 ] && sleep 0.7 && kill -TERM \$pid 2> /dev/null; do i=\$((i + 1)); done; $ends"
        [ "$code" -eq 143 ] || fail "exit code $code instead of 143"
        [ ! -s "$err" ] || fail "it ended in order"
    fi

    run 'two writers' "there=file.part; $endless -o file & pid=\$!; $rows_there
        $endless -o file 2> second; echo \$? > codes; $endless -o file --resume 2>> second; echo \$? >> codes
        kill -TERM \$pid; $ends"
    refused 143 'interrupted'
    if [ "$(xargs < codes)" != '4 4' ] || [ "$(grep -c 'another process is writing it' second)" -ne 2 ]; then
        fail "the second writer was let in: $(cat second)"
    fi
    are_rows file.part || fail "the rows are not whole"

    # Writers that end while others begin: each writes all of the file or is not let in.
    times=100
    [ -z "${WRAPPER:-}${FEWER_CUTS:-}" ] || times=3
    short='roofline sweep gemv -n 1:500 -f csv -k'
    run 'many writers' "for k in 1 2 3; do $short \$k > all\$k; done
        for k in 1 2 3; do
            (i=0; while [ \$i -lt $times ]; do $short \$k -o file || :; i=\$((i + 1)); done) &
        done 2> said; wait; cmp -s file all1 || cmp -s file all2 || cmp -s file all3"
    accepted
    if grep -v 'cannot write: another process is writing it$' said > "$err" || [ -e file.part ]; then
        fail "a writer was let in"
    fi

    # Twice the same, as from a program that sends it to a process and to its group: in order.
    run 'a signal twice' "there=file.part; $endless -o file & pid=\$!; $rows_there
        kill -TERM \$pid; kill -TERM \$pid; $ends"
    refused 143 'interrupted'
    are_rows file.part || fail "the rows are not whole"

    # Many records, and those that wait for more: what was asked is answered before. A program that
    # waits for a pipe is ended at once, so the many are in a file.
    many='{ echo n; seq 5000000; } > many; roofline predict gemv -k 4 --from many -f csv --columns n'
    run 'a signal, predict --from' "$many > got & pid=\$!
        there=got; $rows_there; kill -TERM \$pid; $ends"
    refused 143 "interrupted: the predictions of $(($(wc -l < got) - 1)) records are written$"
    are_rows got || fail "the rows are not whole"
    run 'a signal, predict --from -o' "$many -o file & pid=\$!
        there=file.part; $rows_there; kill -TERM \$pid; $ends"
    refused 143 'interrupted; file is not written$'
    if [ -e file ] || [ -e file.part ]; then
        fail "a file is left"
    fi
    run 'an answer, then a signal' "mkfifo pipe; roofline predict gemv -k 4 --from pipe -f csv --columns n > got & pid=\$!
        exec 3<> pipe; printf 'n\\n1\\n2\\n' >&3; there=got; $rows_there
        wc -l < got > counts; printf '3\\n' >&3
        i=0; while [ \$(wc -l < got) -lt 4 ] && [ \$i -lt 600 ]; do sleep 0.05; i=\$((i + 1)); done; wc -l < got >> counts; kill -TERM \$pid; $ends"
    [ "$code" -eq 143 ] || fail "exit code $code instead of 143"
    [ "$(xargs < counts)" = "3 4" ] || fail "the answers are late"
    are_rows got || fail "the rows are not whole"

    # Nothing is left where it waits for its input. (The thread sanitizer, as above.)
    for command in 'predict --from pipe' 'compare pipe'; do
        [ -z "${THREADS_SANITIZED:-}" ] || continue
        run "a signal, $command -o" "mkfifo pipe; roofline $command -f csv -o file & pid=\$!
            exec 3<> pipe; printf 'operator,n,k,measured_us\ngemv,4,4,9\ngemv,4,4,9\n' >&3
            i=0; while [ ! -e file.part ] && [ \$i -lt 600 ]; do sleep 0.05; i=\$((i + 1)); done; ls file.part > was
            sleep 0.1; kill -TERM \$pid; $ends"
        [ "$code" -eq 143 ] || fail "exit code $code instead of 143"
        [ -s was ] || fail 'it did not begin'
        if [ -e file ] || [ -e file.part ]; then
            fail "a file is left"
        fi
    done

    # While the points of FILE.part are passed, here those before its first row: it stays. A program
    # that is slow to begin is ended before it watches for signals, and says nothing.
    run 'a signal while resuming' "printf 'top_k\\n1\\n' > file.part; cp file.part before
        roofline sweep router --tokens 1:1000000000 --experts 8 --top-k 9 -f csv --columns top_k -o file --resume & pid=\$!
        sleep 0.5; kill -TERM \$pid; $ends"
    [ ! -s "$err" ] || refused 143 'interrupted; file.part is unchanged'
    [ "$code" -eq 143 ] || fail "exit code $code instead of 143"
    cmp -s file.part before || fail "FILE.part was changed"
}

# typed FILE: what the terminal got, a line for each that began at its left.
typed() {
    tr '\r' '\n' < "$1"
}

terminal() {
    if ! script --version 2> /dev/null | grep -q util-linux; then
        skipped=$((skipped + 1))
        return
    fi
    # The rest is for people: a line while it works, taken away at the end.
    run 'progress' "script -qefc 'echo \$\$ > pid; exec $endless -o file' typed < /dev/null > /dev/null & pid=\$!
        i=0; while [ \$i -lt 600 ] && kill -0 \$pid 2> /dev/null && ! grep -qs ' left' typed; do
            sleep 0.1; i=\$((i + 1)); done
        kill -TERM \$(cat pid) || :; $ends"
    [ "$code" -eq 143 ] || fail "exit code $code instead of 143"
    typed typed > lines
    grep -q '^roofline sweep: [0-9.]* [kM] of 1 G points, [0-9.e-]*%, [0-9.]* [kM]/s, [0-9]*:[0-9]*:[0-9]* left *$' lines ||
        fail "there is no progress"
    grep -B 1 '^roofline sweep: interrupted' lines | head -n 1 | grep -q '^   *$' ||
        fail "progress is not taken away before a message"

    # Where rows scroll, and where nobody looks, there is none.
    run 'no progress beside rows' "script -qefc 'echo \$\$ > pid; exec $endless' typed < /dev/null > /dev/null & pid=\$!
        there=pid; $rows_there; sleep 1.6; kill -TERM \$(cat pid) || :; $ends"
    ! typed typed | grep -q ' left' || fail "progress is between the rows"
    # A report comes at the end: progress is beside it, and gone when it comes. Under a sanitizer the
    # first line that shows may be that of the last second.
    run 'progress of measure' "script -qefc 'roofline measure --threads 1 --seconds 3 --formats q8_0' typed < /dev/null > /dev/null"
    typed typed > lines
    grep -q '^roofline measure: [1-3] of 3 s, [0-9.]*%, 0:00:0[0-2] left *$' lines ||
        fail "measure has no progress"
    tail -n +2 lines | grep -B 1 ' thread: CPU' | head -n 1 | grep -q '^   *$' ||
        fail "progress is not taken away before the report"
    run 'no progress without a terminal' "$endless -o file & pid=\$!
        there=file.part; $rows_there; sleep 1.6; kill -TERM \$pid; $ends"
    refused 143 '^roofline sweep: interrupted'
    run 'no progress in no time' "script -qefc 'roofline sweep gemv -n 1 -k 4 -o file' typed < /dev/null > /dev/null"
    ! typed typed | grep -q ' left' || fail "progress of a short sweep"
}

[ "${SELF_TEST:-}" = no ] || self_test
cuts
refusals
signals
terminal
report 'interruptions'
