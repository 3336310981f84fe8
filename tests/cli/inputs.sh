#!/bin/sh
# SPDX-License-Identifier: MIT
# Files that are no ordinary ones, in each place where a file can be named: sh inputs.sh PROGRAM
#
# Whatever stands there, the program ends soon, in little memory, with one line and the right code.
# What is documented as a stream (records, checks) is read from a FIFO and from standard input.
# The program runs under $WRAPPER when that is set (valgrind with its options).
set -eu

[ $# -eq 1 ] || { echo "usage: sh inputs.sh PROGRAM" >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
# shellcheck source=tests/cli/steps.sh
. "$(dirname "$0")/steps.sh"

corpus=$(dirname "$self")/../fuzz/corpus
# A program that reads without bound fails by the one, one that waits by the other. Sanitizers and
# valgrind need more memory than can be had.
soon='timeout 60'
[ "${SELF_TEST:-}" != no ] || soon='timeout 1' # the fakes wait for a FIFO
little='ulimit -v 400000;'
if [ -n "${WRAPPER:-}" ] || grep -q -e __asan_ -e __tsan_ "$program"; then
    little=
fi

# What reads one file, @, as a document: not a FIFO.
read_documents='predict gemm -m 1 -n 64 -k 64 -H ./@
predict gemm -m 1 -n 64 -k 64 --calibration ./@
predict model ./@
predict model llama-3-8b --layout ./@
predict model llama-3-8b --draft-model ./@ --draft-tokens 2
sweep gemm -m 1 -n 64 -k 64 -H gb10,./@
recommend gemm -m 1 -n 64 -k 64 -H ./@
recommend model ./@
plot -H ./@
list hardware ./@
list models ./@'
# As records, and as checks.
read_records='predict --from @
predict gemm --from @ -f csv
predict model --from @
compare @
compare @ --summary
plot --from @'
read_checks='check @
check c.json @'

ordinary() {
    cat > h.json <<'EOF'
{"id": "h", "bandwidth_gb_s": 100, "memory_capacity_bytes": 80e9, "peak_tflops": {"fp16": 1}}
EOF
    cat > m.json <<'EOF'
{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8,
 "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 80, "vocab_size": 100}
EOF
    cat > c.json <<'EOF'
{"schema": "roofline/check/1", "checks": [{"name": "a", "inputs": {"operator": "gemm", "m": 1,
 "n": 64, "k": 64}, "expect": {"bytes": 8448}}]}
EOF
    printf 'operator,m,n,k,measured_us\ngemm,1,64,64,3\ngemm,2,64,64,4\n' > r.csv
    tail -c +2 "$corpus/gguf/llama" > m.gguf
    truncate -s +4194304 m.gguf
}

# each COMMANDS FILE CODE WORDS: all of them on FILE. They are refused with this code, and what they
# say has these words.
each() {
    echo "$1" > "$scratch/commands"
    while read -r command; do
        command=$(echo "$command" | sed "s,\\./@,$(case $2 in /*) ;; *) echo ./ ;; esac)$2,; s,@,$2,")
        again "$command, $2" "$little $soon roofline $command"
        refused "$3" "$4"
    done < "$scratch/commands"
}

odd_files() {
    run 'ordinary files' ':'
    ordinary
    mkdir folder.json
    mkfifo fifo.json
    : > empty.json
    each "$read_documents" none.json 4 'No such file'
    each "$read_records" none.json 4 'No such file'
    each "$read_checks" none.json 4 'No such file'
    each "$read_documents" folder.json 4 'folder.json'
    each "$read_records" folder.json 4 'not a regular file'
    each "$read_checks" folder.json 4 'Is a directory'
    each "$read_documents" fifo.json 4 'not a regular file'
    each "$read_documents" empty.json 3 'empty.json:1:1: expected a JSON value'
    each "$read_checks" empty.json 3 'empty.json:1:1: expected a JSON value'
    each "$read_records" empty.json 3 'empty.json:*[0-9]*: '
    for device in /dev/zero /dev/full; do
        if [ -c $device ]; then
            each "$read_documents" $device 4 'not a regular file'
            each "$read_records" $device 3 "$device:1: the row has a NUL byte"
            each "$read_checks" $device 3 'longer than the limit of [0-9]* bytes'
        else
            skipped=$((skipped + 1))
        fi
    done
    for file in /proc/self/status /proc/self/environ; do # of no bytes, by their own account
        if [ -f $file ]; then
            each "$read_documents" $file 3 "$file"
            case $file in *environ) each "$read_records" $file 3 'the row has a NUL byte' ;; esac
            each "$read_checks" $file 3 "$file"
        else
            skipped=$((skipped + 1))
        fi
    done
    if [ -f /proc/self/mem ]; then # it cannot be read at its beginning
        each "$read_records" /proc/self/mem 4 'cannot read'
        each "$read_checks" /proc/self/mem 4 'cannot read'
    fi
    if [ "$(id -u)" -ne 0 ]; then
        cp h.json secret.json
        chmod 0 secret.json
        each "$read_documents" secret.json 4 'Permission denied'
        each "$read_records" secret.json 4 'Permission denied'
        each "$read_checks" secret.json 4 'Permission denied'
    else
        skipped=$((skipped + 1))
    fi
}

# Files of 4 GB and more, of which most is a hole.
large_files() {
    run 'ordinary files' ':'
    ordinary
    cp m.json config.json
    for size in 4294967296 5368709120; do
        if ! truncate -s $size large.json 2> /dev/null; then
            skipped=$((skipped + 1))
            continue
        fi
        each "$read_documents" large.json 3 "the file has $size bytes; the limit is [0-9]*"
        each "$read_records" large.json 3 'large.json:1: the row has a NUL byte'
        each "$read_checks" large.json 3 'longer than the limit of [0-9]* bytes'
        for kind in gguf safetensors; do
            rm -f large.$kind
            truncate -s $size large.$kind
            again "a $kind of zeros" "$little $soon roofline predict model ./large.$kind"
            refused 3 "not a $kind file\\|not a GGUF file"
        done
        # Weights may be as large as they like.
        cp m.gguf large.gguf
        truncate -s $size large.gguf
        again 'a GGUF file with many weights' \
            "$little $soon roofline predict model ./large.gguf -H h100-sxm --context 64 -f csv --columns flops,time_us > large"
        accepted
        roofline predict model ./m.gguf -H h100-sxm --context 64 -f csv --columns flops,time_us > small
        cmp -s small large || fail 'another result than with few weights'
        {
            cat r.csv
            echo gemm,3,64,64,5
        } > large.csv
        truncate -s $size large.csv
        again 'records, then zeros' "$little $soon roofline predict --from large.csv -f csv --columns m > out"
        [ "$code" -eq 4 ] || fail "exit code $code instead of 4"
        grep -q 'large.csv:5: the line does not end within 64 MiB; the rest is not read$' "$err" ||
            fail 'it does not say where it ends'
        [ "$(xargs < out)" = 'm 1 2 3' ] || fail 'the records before are not predicted'
        rm -f large.*
    done
}

# What is a stream stays one.
streams() {
    run 'ordinary files' ':'
    ordinary
    roofline predict --from r.csv -f csv > predicted
    roofline compare r.csv -H h100-sxm -f csv > compared 2> /dev/null
    roofline check c.json > checked
    # shellcheck disable=SC2016
    for from in 'cat FILE > fifo & roofline COMMAND fifo' 'cat FILE | roofline COMMAND -' \
        'cat FILE | roofline COMMAND /dev/stdin' 'roofline COMMAND - < FILE' \
        '(while read -r line; do echo "$line"; sleep 0.01; done < FILE) | roofline COMMAND -'; do
        for command in 'predict -f csv --from' 'compare -H h100-sxm -f csv' 'check'; do
            file=r.csv
            [ "$command" != check ] || file=c.json
            rm -f fifo
            mkfifo fifo
            this=$(echo "$from" | sed "s/FILE/$file/; s/COMMAND/$command/")
            again "$this" "$soon sh -c '$this' > out"
            [ "$code" -eq 0 ] || fail "exit code $code"
            case $command in
            predict*) cmp -s predicted out || fail 'another result' ;;
            compare*) cmp -s compared out || fail 'another result' ;;
            *) tail -n 1 checked | cmp -s - out || tail -n 1 out | grep -q '^1 check' || fail 'another result' ;;
            esac
        done
    done
    for command in 'predict --from -' 'compare -' 'check -'; do
        again "$command, closed" "roofline $command <&-"
        refused 4 'standard input: cannot read: '
        again "$command, a folder" "roofline $command < ."
        refused 4 'standard input'
    done
    again 'a line without an end' "(cat r.csv; tr '\\0' x < /dev/zero) | { $little $soon roofline predict --from - -f csv --columns m > out; }"
    [ "$code" -eq 4 ] || fail "exit code $code instead of 4"
    grep -q 'input:4: the line does not end within 64 MiB; the rest is not read$' "$err" || fail 'it does not say why'
    [ "$(xargs < out)" = 'm 1 2' ] || fail 'the records before are not predicted'
}

# changing FILE OTHER COMMAND: the file is written to again and again while the program reads it. It
# says what either file gives, or, of what stands there meanwhile, that it is invalid.
changing() {
    run "$1 changes" ':'
    ordinary
    cp "$1" one
    sed "$2" one > other
    for each in one other; do
        cp $each "$1"
        again "$3" "roofline $3 > out.$each"
        [ "$code" -eq 0 ] || fail "exit code $code"
    done
    ! cmp -s out.one out.other || fail 'both are the same'
    for how in 'cat one > FILE; cat other > FILE' 'cp one new; mv new FILE; cp other new; mv new FILE' \
        ': > FILE; cat one >> FILE; cat other one >> FILE'; do
        how=$(echo "$how" | sed "s/FILE/$1/g")
        cp one "$1"
        # shellcheck disable=SC2016
        sh -c "touch writing; while [ -e writing ]; do $how; done" 2> /dev/null &
        writer=$!
        wrong=0
        i=0
        while [ $i -lt "$times" ]; do
            i=$((i + 1))
            again "$3, while: $how" "$soon roofline $3 > out"
            case $code in
            0)
                # A file of records that grows has more of them.
                cmp -s out out.one || cmp -s out out.other || grep -q '^gemm,' "$1" || wrong=$((wrong + 1))
                ;;
            3 | 4)
                case $how in *mv*) fail "exit code $code" ;; esac
                [ -s "$err" ] && ! grep -v -q '^roofline [a-z]*: ' "$err" || wrong=$((wrong + 1))
                ;;
            *) wrong=$((wrong + 1)) ;;
            esac
        done
        rm -f writing
        wait $writer || :
        [ $wrong -eq 0 ] || fail "$wrong of $times are wrong"
    done
}

changing_files() {
    times=15
    changing h.json s/100/200/ 'predict gemm -m 1 -n 64 -k 64 -H ./h.json'
    changing m.json s/64/128/ 'predict model ./m.json -H h100-sxm --context 64'
    changing c.json s/8448/8449/ 'check c.json -f tap --update'
    changing r.csv s/gemm,1/gemm,3/ 'predict --from r.csv -f csv'
    changing m.gguf 's/llama.context_length/llama.context_lengtX/' 'list models ./m.gguf -f csv'
}

# Folders of data that are none: what is built in is there all the same. Nothing is written to them.
folders() {
    run 'ordinary files' ':'
    ordinary
    mkfifo fifo
    long=$(printf '%5000s' '' | tr ' ' x)
    roofline list hardware -f csv --columns id > ids
    for name in HOME XDG_DATA_HOME ROOFLINE_DATA; do
        for value in '' none h.json fifo /dev/zero /dev/null/x "$long"; do
            short=$(echo "$value" | cut -c 1-20)
            again "$name=$short, list" "$name=$value $soon roofline list hardware -f csv --columns id | cmp - ids"
            accepted
            again "$name=$short, predict" "$name=$value $soon roofline predict gemm -m 1 -n 64 -k 64 -H gb10 > out"
            accepted
        done
        again "no $name" "unset $name; roofline list hardware -f csv --columns id | cmp - ids"
        accepted
    done
    mkdir -p data/hardware
    mkfifo data/hardware/gb10.json
    again 'a FIFO among the data' "ROOFLINE_DATA=data $soon roofline predict gemm -m 1 -n 64 -k 64 -H gb10"
    refused 4 'data/hardware/gb10.json: not a regular file'
    rm -rf data out ids fifo
    left c.json h.json m.gguf m.json r.csv
    if [ "$(id -u)" -ne 0 ]; then
        mkdir closed
        chmod 0 closed
        for name in HOME XDG_DATA_HOME ROOFLINE_DATA; do
            again "$name is closed" "$name=closed roofline predict gemm -m 1 -n 64 -k 64 > out"
            accepted
        done
        chmod 700 closed
    else
        skipped=$((skipped + 1))
    fi
}

threads() {
    for number in 0 1025 -1 1e9 99999999999999999999 9223372036854775808 2.5 x 0x4 +3 ' 3' ''; do
        run "--threads '$number'" "$soon roofline sweep gemm -m 1:3 -n 8 -k 8 --threads '$number' -o out"
        refused 2 threads
        left
    done
    [ -z "${WRAPPER:-}" ] || return 0 # valgrind has 500 at most
    for number in 1 1024 1Ki; do
        run "--threads $number" "$soon roofline sweep gemm -m 1:9000 -n 8 -k 8 -f csv --columns m --threads $number -o out"
        accepted
        [ "$(wc -l < out)" -eq 9001 ] || fail 'the rows are not there'
    done
    [ -n "$little" ] || return 0
    for number in 12 64; do # there is room for the rows, and not for as many usual stacks
        run "--threads $number in 40 MB" "ulimit -v 40000; $soon roofline sweep gemm -m 1:9000 -n 8 -k 8 -f csv --columns m --threads $number -o out"
        accepted
        [ "$(wc -l < out)" -eq 9001 ] || fail 'the rows are not there'
    done
}

# Until a file is complete it does not stand under its name, whatever ends the program.
whole_files() {
    # The file that is written is the one that appears.
    run 'a file appears when it is complete' "mkfifo pipe
        $soon roofline predict gemv -k 4 --from pipe -f csv --columns n -o file & exec 3> pipe; printf 'n\\n1\\n' >&3
        i=0; while [ ! -e file.part ] && [ \$i -lt 600 ]; do sleep 0.05; i=\$((i + 1)); done
        ls -i file.part > during; ls file 2> /dev/null > early; printf '2\\n' >&3; exec 3>&-; wait \$!
        ls -i file > after"
    accepted
    [ ! -s early ] || fail 'it was there before'
    [ "$(sed 's/ .*//' during)" = "$(sed 's/ .*//' after)" ] || fail 'it is not the file that was written'
    left after during early file pipe

    for command in 'predict model llama-3-8b -H h100-sxm -f md' 'sweep gemm -m 1:20000 -n 8 -k 8 -f json' \
        'recommend model llama-3.1-8b -H h100-sxm' 'plot -f gnuplot'; do
        run "$command" "roofline $command -o whole"
        accepted
        for signal in TERM INT KILL; do
            for delay in 0 0.002 0.004 0.006 0.01 0.02 0.04; do
                again "$command, SIG$signal after $delay s" "roofline $command -o file & pid=\$!
                    sleep $delay; kill -$signal \$pid 2> /dev/null; wait \$pid"
                [ ! -e file ] || cmp -s whole file || fail 'an incomplete file stands under its name'
                case $command,$signal in
                sweep* | *,KILL) ;;
                *) [ ! -e file.part ] || fail 'FILE.part is left' ;;
                esac
                rm -f file
            done
        done
        again "$command, after all that" "roofline $command -o file"
        accepted
        cmp -s whole file || fail 'what was left is in the way'
        [ ! -e file.part ] || fail 'FILE.part is left'
    done

    # A stop is no interruption.
    run 'stopped, and continued' "roofline sweep gemv -n 1:300000 -k 4 -f csv --columns n > whole
        mkfifo pipe; (while read -r n; do echo \$n; done < pipe > got) & reader=\$!
        roofline sweep gemv -n 1:300000 -k 4 -f csv --columns n > pipe & pid=\$!
        for i in 1 2 3 4 5; do sleep 0.02; kill -STOP \$pid; sleep 0.02; kill -CONT \$pid; done
        wait \$pid; code=\$?; wait \$reader; exit \$code"
    accepted
    cmp -s whole got || fail 'the rows are others'
}

inputs() {
    odd_files
    large_files
    streams
    folders
    threads
    if [ -z "${WRAPPER:-}" ]; then # else it takes long, and what is to be met is over
        changing_files
        whole_files
    fi
}

[ "${SELF_TEST:-}" = no ] || self_test
if [ "${SELF_TEST:-}" = no ]; then
    odd_files
elif command -v timeout > /dev/null && command -v truncate > /dev/null; then
    inputs
else
    skipped=$((skipped + 1))
fi
report 'odd inputs'
