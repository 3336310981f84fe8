#!/bin/sh
# SPDX-License-Identifier: MIT
# Completion of command lines, by the shells themselves: sh tests/cli/completion.sh PROGRAM
#
# bash is given the words of a line as it has them, fish is asked what completes one, zsh runs the
# function beside a compadd of ours, and types into a terminal of its own. A shell that is not there
# is skipped, with a line that says so.
set -eu

[ $# -eq 1 ] || { echo "usage: sh completion.sh PROGRAM" >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
# shellcheck source=tests/cli/steps.sh
. "$(dirname "$0")/steps.sh"

# What each shell offers for the line of the arguments, the last of them being typed; one a line.
# shellcheck disable=SC2016
ask_bash() {
    bash --norc -c 'eval "$(roofline completion bash)"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _roofline
        printf "%s\n" "${COMPREPLY[@]}"' bash roofline "$@"
}
# shellcheck disable=SC2016
ask_zsh() {
    zsh -f -c 'compdef() { :; }
        eval "$(roofline completion zsh)"
        compadd() { print -rl -- $names; }
        compset() { :; }
        _files() { print -rl -- *(N); }
        words=("$@") CURRENT=$#
        _roofline' zsh roofline "$@"
}
# shellcheck disable=SC2016
ask_fish() {
    fish --no-config -c 'roofline completion fish | source
        complete -C (string join " " -- roofline $argv)' -- "$@" | cut -f 1
}

# offers SHELL EXPECTED WORD...: these, one a line, and no others.
offers() {
    shell=$1 expected=$2
    shift 2
    name="$shell: roofline $*"
    checks=$((checks + 1))
    "ask_$shell" "$@" > "$scratch/answer" 2> "$err" || :
    sort "$scratch/answer" | sed '/^$/d' > "$scratch/offered"
    printf '%s\n' "$expected" | tr ' ' '\n' | sed '/^$/d' | sort > "$scratch/expected"
    cmp -s "$scratch/offered" "$scratch/expected" && return
    fail "what should be offered (-), and is (+)"
    diff "$scratch/expected" "$scratch/offered" | sed -n 's/^</    -/p; s/^>/    +/p'

}

# The options in the help of a command, and of a workload.
help_of() {
    roofline help "$@" | sed -n -e 's/^  \(-[a-zA-Z], \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' -e 's/^  \(-[mnk]\) .*/\1/p' | tr '\n' ' '
}

# What every shell must offer.
lines() {
    offers "$1" 'predict' pre
    offers "$1" 'bash zsh fish' completion ''
    offers "$1" 'recommend' help rec
    offers "$1" '--head-dim --help --hardware --heads --hidden --host --host-bandwidth --host-gap --host-memory --host-time' predict --h
    offers "$1" '--batch' predict gemm --b # and no other operator's options
    offers "$1" "$(help_of predict model)" predict model -
    offers "$1" 'softmax' predict sof
    offers "$1" 'gpt-2 gpt-oss-120b gpt-oss-20b' predict gpt # models beside operators
    offers "$1" 'h100 h100-nvl h100-pcie h100-sxm' predict gemm -m 8 -H h1
    offers "$1" 'gb10,h20 gb10,h20-141gb gb10,h200 gb10,h200-sxm' sweep gemm -H gb10,h2
    offers "$1" 'mixed' predict model x --phase m
    offers "$1" 'throughput' recommend model x --objective t # time is for operators
    offers "$1" 'time' recommend gemm --objective t
    offers "$1" 'nvfp4' predict gemm -p nv
    offers "$1" 'llama-2-13b llama-2-70b llama-2-7b' predict model llama-2
    offers "$1" 'hardware' list h
    offers "$1" 'sglang' list engines sg
    offers "$1" 'checkpoint' sweep model x --layout ch
    offers "$1" 'memory_time_us measured_us' predict gemm --columns me
    for command in $commands; do
        offers "$1" "$(help_of "$command" all)" "$command" -
    done
}

completion() {
    commands=$(roofline --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | xargs)
    mkdir -p here && cd here
    for shell in bash zsh fish; do
        if ! command -v $shell > /dev/null; then
            skipped=$((skipped + 1))
            echo "completion by $shell is not tested: it is not installed"
            continue
        fi
        rm -f ./*
        offers "$shell" "$commands help --help --version" ''
        lines "$shell"
        # Devices of the user are completed, too, and names of files where there may be one.
        mkdir -p "$HOME/.local/share/roofline/hardware"
        echo '{"bandwidth_gb_s": 1, "peak_tflops": {"fp16": 1}}' \
            > "$HOME/.local/share/roofline/hardware/h1-mine.json"
        offers "$shell" 'h1-mine' predict gemm -H h1-
        rm -r "$HOME/.local"
        : > rows.csv
        offers "$shell" 'rows.csv' compare ''
    done
    if command -v bash > /dev/null; then
        # bash cuts words at "=" and ":", and puts what is offered in place of the last piece.
        offers bash 'h100 h100-nvl h100-pcie h100-sxm' predict gemm --hardware = h1
        offers bash 'llama-3.3-70b' predict llama-3.3
        offers bash 'cold warm' predict gemm --cache =
        mkdir -p "$HOME/.local/share/roofline/hardware"
        echo '{"bandwidth_gb_s": 1, "peak_tflops": {"fp16": 1}}' \
            > "$HOME/.local/share/roofline/hardware/zz\$(HURT).json"
        offers bash 'zz\$\(HURT\)' predict gemm -H zz
        rm -r "$HOME/.local"
        offers bash '\<1%' recommend gemm --max-accuracy-loss '<'
        offers bash '' predict gemm -m 1 : 2 # and no error
    fi
    if command -v fish > /dev/null; then
        offers fish '--cache=cold --cache=warm' predict gemm --cache=
    fi
    if command -v zsh > /dev/null; then
        offers zsh '--cache=cold --cache=warm' predict gemm --cache=
        typed 'roofline predict --hardw' 'roofline predict --hardware '
        typed 'roofline predict gemm -H gb200-' 'roofline predict gemm -H gb200-nvl72 '
        typed 'roofline completion f' 'roofline completion fish '
    fi
}

# typed LINE EXPECTED: what zsh makes of a line and a tab, with its own completion system.
# shellcheck disable=SC2016
typed() {
    name="zsh: $1 and a tab"
    checks=$((checks + 1))
    roofline completion zsh > "$scratch/_roofline" 2> "$err" || :
    echo 'autoload -Uz compinit && compinit -D -u
        . "$script"
        show() { print -r -- "<$BUFFER>" > "$typed"; exit; }
        zle -N show
        bindkey "^X" show
        PS1="rea""dy> "' > "$scratch/rc"
    zsh -f -c 'zmodload zsh/zpty
        zpty typist TERM=dumb zsh -f -i
        zpty -w typist "script=$1 typed=$2; . $3"
        zpty -r -m typist line "*ready*"
        zpty -n -w typist "$4$(printf "\t\030")"
        for i in {1..600}; do
            [[ -s $2 ]] && break
            sleep 0.05
        done
        zpty -d typist' zsh "$scratch/_roofline" "$scratch/typed" "$scratch/rc" "$1" > "$err" 2>&1 || :
    made=$(cat "$scratch/typed" 2>&1) || :
    [ "$made" = "<$2>" ] || fail "makes $made"
    rm -f "$scratch/typed"
}

completion
[ "${SELF_TEST:-}" = no ] || self_test
report 'lines were completed'
