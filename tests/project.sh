#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules of the project that no compiler checks:
# CC=cc LIB=FILE.a SHARED=FILE.so.0 BIN=PROGRAM BUILD=FOLDER sh tests/project.sh [quick|slow]
#
# quick are those that take a second or less, slow the others; without a word all are checked.
# Every check is a function that prints what is wrong and nothing when all is well; all of them run.
# Where it is cheap, a check is first run on something that it must refuse.
set -eu
LC_ALL=C
export LC_ALL

: "${LIB:?is not set}" "${BIN:?is not set}"
case $LIB in
/*) ;;
*) LIB=$PWD/$LIB ;;
esac
case $BIN in
/*) ;;
*) BIN=$PWD/$BIN ;;
esac
CC=${CC:-cc}
part=${1:-all}
cd "$(dirname "$0")/.."

scratch=${TMPDIR:-/tmp}/roofline-project.$$
(umask 077 && mkdir "$scratch")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

# check NAME FUNCTION ARGUMENT...
check() {
    name=$1
    shift
    status=0
    "$@" > "$scratch/log" 2>&1 || status=$?
    if [ $status -eq 0 ] && [ ! -s "$scratch/log" ]; then
        echo "ok   $name"
    else
        failures=$((failures + 1))
        echo "FAIL $name"
        sed 's/^/    /' "$scratch/log"
        [ -s "$scratch/log" ] || echo "    ended with status $status"
    fi
}

# notices LINES FUNCTION: a check of something bad, which prints that many complaints.
notices() {
    "$2" > "$scratch/log" 2>&1 || :
    [ "$(wc -l < "$scratch/log")" -ne "$1" ] || return 0
    failures=$((failures + 1))
    echo "FAIL $2 should be noticed with $1 lines:"
    sed 's/^/    /' "$scratch/log"
}

# --- layers ---------------------------------------------------------------------------------------

# The folders of src, lowest first, as the Makefile has them.
floors="$(sed -n 's/^FLOORS *:= *//p' Makefile) page cli calibrate"

# The table of floors in FILE has the folders in this order.
described() {
    sed -n '/^## Floors/,/^## /s/^| *\([a-z]*\) *|.*|.*/\1/p' "$1" | grep -v -x -e floor \
        > "$scratch/described" || echo "$1 has no table of floors"
    printf '%s\n' "$floors" | tr ' ' '\n' | diff - "$scratch/described"
}

# walked FILE: each function in its walks of a question is there, in the file that it says, and no
# walk has more than 12 steps.
walked() {
    sed -n '/^## The walk/,/^## /p' "$1" > "$scratch/walk"
    [ -s "$scratch/walk" ] || echo "$1 has no walk of a question"
    grep -E '^(1[3-9]|[2-9][0-9])\. ' "$scratch/walk" || :
    # shellcheck disable=SC2016
    tr '\n' ' ' < "$scratch/walk" | grep -o '`[a-z][a-z0-9_]*`\(,\? (\?src/[a-z_/]*\.c\)\?' |
        tr -d '`,(' | sort -u | while read -r name file; do
        grep -r -q --include='*.c' "^[a-z].*[ *]$name(" "${file:-src}" ||
            echo "there is no $name in ${file:-src}"
    done
}

bad_walked() {
    {
        # shellcheck disable=SC2016
        printf '## The walk\n\n1. `main` (src/cli/main.c) and `cli_ask`, src/cli/main.c:\n'
        # shellcheck disable=SC2016
        printf '12. `no_such_step`\n13. `main`\n'
    } > "$scratch/walked.md"
    walked "$scratch/walked.md"
}

# layers FOLDER: the tree in which to look.
layers() {
    sh tests/shape.sh upward "$1"
}

bad_layers() {
    mkdir -p "$scratch/layers/include/roofline" "$scratch/layers/src/base" \
        "$scratch/layers/src/predict" "$scratch/layers/src/cli"
    (
        cd "$scratch/layers"
        printf '#include "base/json.h"\n' > src/base/text.h
        printf '#include "predict/predict.h"\n#include <cjson/cJSON.h>\n' > src/base/text.c
        printf '#include "base/json.h"\n#include <cjson/cJSON.h>\n' > src/base/json.c
        printf '#include <argtable2.h>\n  # include "cli/cli.h"\n' > src/predict/predict.c
        printf '#include "stray/stray.h"\n' > src/base/quantity.c
        printf 'int stray;\n' > src/stray.c
        printf '#include "catalog/hardware.h"\n#include "roofline/error.h"\n' > include/roofline/device.h
        printf '#include <argtable2.h>\n#include "cli.h"\n#include "base/json.h"\n' > src/cli/main.c
        printf '#include "roofline/roofline.h"\n' > src/cli/cli.h
    )
    layers "$scratch/layers"
}

# --- the shape of the code ------------------------------------------------------------------------

# What stands in tests/ceilings was there when its rule came: there may be as much, and no more.
ceiling() {
    sed -n "s/^$1 \([0-9]*\)$/\1/p" tests/ceilings
}

# ratchet RULE: of tests/shape.sh.
ratchet() {
    sh tests/shape.sh "$1" > "$scratch/shape"
    found=$(wc -l < "$scratch/shape")
    if [ "$found" -gt "$(ceiling "$1")" ]; then
        cat "$scratch/shape"
        echo "$found of $1, and tests/ceilings allows $(ceiling "$1")"
    elif [ "$found" -lt "$(ceiling "$1")" ]; then
        echo "     $1: $found are left; tests/ceilings allows $(ceiling "$1"), which can be lowered" >&3
    fi
}

# blank LINES
blank() {
    awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++) print "" }'
}

# A tree in which each rule is broken, and beside it what is just allowed.
bad_shape() {
    bad=$scratch/shape.d
    for folder in src/cli src/base src/catalog src/ask tests/unit/base; do
        mkdir -p "$bad/$folder" "$bad/build/$folder"
    done
    mkdir -p "$bad/include/roofline" "$bad/docs"
    (
        cd "$bad"
        printf '#ifndef A_H\n#include "b.h"\n#endif\n' > src/cli/a.h
        printf '#include "cli/a.h"\n#include "b.h"\n' > src/cli/b.h
        {
            printf 'int a(void);\nint b(void);\n// Where it is.\nint a(void)\n{\n'
            blank 56
            printf 'return b();\n}\n'
        } > src/cli/a.c
        {
            printf 'int a(void);\nint b(void);\n/* What it is. */\n/*\n * Of all,\n * Where it is.\n */\n'
            printf 'int b(void)\n{\n/* It is what it is. Of all. */\n'
            blank 56
            printf 'return a();\n}\n'
        } > src/cli/b.c
        for number in 1 2 3 4 5; do blank 800 > "src/cli/rest$number.c"; done
        blank 801 > src/base/long.c
        blank 800 > src/base/short.c
        printf 'int seen(void);\nint seen(void) { return 1; }\n' > src/catalog/seen.c
        printf 'int seen(void);\nint test(void);\n/* Whether it is seen. */\nint test(void) { return seen(); }\n' \
            > tests/unit/base/test_a.c
        printf '/* Likewise. */\n' > docs/example.c
        printf 'int read_a(void)\n{\nreturn question->op;\n}\nint write_a(void)\n{\nreturn a->question->op;\n}\n' \
            > src/ask/answers.c
        for object in src/cli/a src/cli/b src/catalog/seen tests/unit/base/test_a; do
            $CC -c -o "build/$object.o" "$object.c"
        done
    )
    for rule in circles uses units functions files guards questions comments; do
        BUILD=$bad/build UNIT_ABOVE='' sh tests/shape.sh $rule "$bad" | sed "s/^/$rule: /"
    done
}

# --- symbols --------------------------------------------------------------------------------------

# symbols ARCHIVE: what it offers begins with roof_, and it needs nothing of argtable.
symbols() {
    nm -P -g "$1" > "$scratch/symbols" || return
    awk '
        /:$/ || NF < 2 { next }
        $2 != "U" { defined++ }
        $2 != "U" && $1 !~ /^_?roof_/ { print $1 " does not begin with roof_" }
        $2 == "U" && $1 ~ /^_?arg_/ { print "the library refers to " $1 " of argtable" }
        END { if (!defined) print "no symbols" }' "$scratch/symbols"
}

bad_symbols() {
    printf 'int arg_parse(void);\nint helper(void);\nint helper(void) { return arg_parse(); }\n' \
        > "$scratch/helper.c"
    $CC -c -o "$scratch/helper.o" "$scratch/helper.c"
    "${AR:-ar}" rc "$scratch/helper.a" "$scratch/helper.o"
    symbols "$scratch/helper.a"
}

# exported LIST SHARED: the shared library offers what LIST has, sorted, and nothing else; the public
# headers declare it.
exported() {
    sort -u -c "$1" 2> "$scratch/found" || echo "$1 is not sorted"
    if [ -z "$2" ]; then
        echo '     the symbols of the shared library are not tested: SHARED is empty' >&3
    else
        nm -D --defined-only "$2" | sed -n 's/^.* [TDBRVW] //p' | sed 's/@.*//' | sort > "$scratch/exported"
        diff "$1" "$scratch/exported" | sed -n "s|^< |$2 lacks |p; s|^> |$2 exports |p"
    fi
    sed 's|^ \*.*||' include/roofline/*.h | grep -o 'roof_[a-z0-9_]*(' | tr -d '(' | sort -u \
        > "$scratch/declared"
    diff "$1" "$scratch/declared" | sed -n "s|^< |no public header declares |p; s|^> |$1 lacks |p"
}

# One name too many, one that is missing, and one in the wrong place; the headers lack and have them, too.
bad_exported() {
    printf 'int roof_answer(void);\nint roof_answer(void) { return 1; }\nint roof_stray(void);\nint roof_stray(void) { return 2; }\n' \
        > "$scratch/stray.c"
    $CC -shared -fPIC -o "$scratch/stray.so" "$scratch/stray.c"
    grep -v -x roof_predict src/api.txt | sed 's/roof_store_free/roof_store_release/' > "$scratch/api.txt"
    grep -x -e roof_answer "$scratch/api.txt" > "$scratch/short.txt"
    exported "$scratch/short.txt" "$scratch/stray.so" | grep -F stray
    exported "$scratch/api.txt" "" 3> "$scratch/found"
}

# --- the hot path ---------------------------------------------------------------------------------

# hot OBJECT...: from the operator to the prediction nothing is allocated, locked, opened or printed.
hot() {
    nm -u "$@" > "$scratch/undefined" || return
    awk '
        $NF ~ /^(malloc|calloc|realloc|aligned_alloc|strn?dup|fopen|open|read|printf|fprintf|puts)$/ ||
        $NF ~ /^(pthread_|mtx_)/ { print "the hot path refers to " $NF }' "$scratch/undefined"
}

bad_hot() {
    printf '#include <stdlib.h>\nvoid *helper(void);\nvoid *helper(void) { return malloc(1); }\n' \
        > "$scratch/hot.c"
    $CC -c -o "$scratch/hot.o" "$scratch/hot.c"
    hot "$scratch/hot.o"
}

# --- what the program may do ----------------------------------------------------------------------

# hardened PROGRAM FLAGS: it has what docs/security.md says, as far as the build was asked for it.
hardened() {
    if [ -z "$2" ] || ! command -v readelf > "$scratch/found"; then
        echo "     the hardening of $1 is not tested: HARDEN is empty, or there is no readelf" >&3
        return
    fi
    readelf -W -h -l -d --dyn-syms "$1" > "$scratch/elf" || return
    awk -v flags="$2" '
        $1 == "Type:" && $2 == "DYN" { pie++ }
        $1 == "GNU_RELRO" { relro = 1 }
        /BIND_NOW/ || /Flags:.* NOW/ { now = 1 }
        $1 == "GNU_STACK" { stack = $(NF - 1) ~ /E/ ? "executable" : "data" }
        $8 ~ /^__stack_chk_fail/ { protector = 1 }
        $8 ~ /^__[a-z]+_chk(@|$)/ && $8 !~ /^__stack/ { fortified = 1 }
        END {
            if (!pie) print "not position-independent"
            if (!relro || !now) print "no full RELRO"
            if (stack != "data") print "a stack that is " stack
            if (flags ~ /stack-protector/ && !protector) print "no stack protector"
            if (flags ~ /_FORTIFY_SOURCE/ && !fortified) print "no _FORTIFY_SOURCE"
        }' "$scratch/elf"
}

bad_hardened() {
    printf '#include <stdio.h>\nint main(void) { char a[9]; return scanf("%%8s", a) + puts(a); }\n' \
        > "$scratch/soft.c"
    $CC -O2 -U_FORTIFY_SOURCE -fno-stack-protector -fno-pie -no-pie -Wl,-z,norelro,-z,execstack \
        -o "$scratch/soft" "$scratch/soft.c"
    hardened "$scratch/soft" '-fstack-protector-strong -D_FORTIFY_SOURCE=2'
}

# refers PATTERN WHAT OBJECT...: none of them refers to what matches; WHAT says why not.
refers() {
    forbidden="^(__)?($1)(_chk)?(@.*)?\$"
    what=$2
    shift 2
    nm -u "$@" > "$scratch/undefined" || return
    awk -v forbidden="$forbidden" -v what="$what" \
        '$1 == "U" && $2 ~ forbidden { print $2 ": " what }' "$scratch/undefined" | sort -u
}

# calls ARCHIVE OBJECT...: the library writes no file, starts nothing, reads no environment, and
# opens other libraries in one file alone; the program runs no shell, and nothing else but by
# posix_spawnp (gnuplot, the command of monitor).
calls() {
    starts='system|popen|exec[lv].*|f?execve|v?fork|clone|posix_spawn'
    refers "$starts|posix_spawnp|(secure_)?getenv|putenv|v?f?printf|puts|fopen(64)?|fdopen|creat(64)?|p?write(64)?|unlink|rename|mkdir|exit|_exit" \
        "not in the library" "$1"
    nm -A -u "$1" | awk '$NF ~ /^dlopen(@.*)?$/ && !/library\.o:/ { print "dlopen: only in src/measure/library.c" }'
    shift
    refers "$starts|dlopen|gets|tmpnam|tempnam|mk[sod]*temp|tmpfile(64)?|creat(64)?|openat(64)?|remove|s?y?m?link|truncate(64)?|chmod|putenv|setenv" \
        "not in the program" "$@"
}

bad_calls() {
    printf '#include <dlfcn.h>\n#include <stdlib.h>\nint helper(void);\nint helper(void) { return system(getenv("A")) + !dlopen("A", RTLD_NOW); }\n' \
        > "$scratch/shell.c"
    $CC -c -o "$scratch/shell.o" "$scratch/shell.c"
    calls "$scratch/shell.o" "$scratch/shell.o"
}

# tiles ARCHIVE: the kernels for AMX are made of the instructions that tests/unit/measure/test_cpu_amx.c
# emulates, with their operands in this order: weights, inputs, sums.
tiles() {
    ar p "$1" cpu_amx.o > "$scratch/amx.o"
    objdump -d --no-show-raw-insn "$scratch/amx.o" > "$scratch/instructions"
    for instruction in ldtilecfg 'tileloadd.*,%tmm6' 'tileloadd.*,%tmm7' 'tilezero *%tmm3' \
        'tdpbf16ps %tmm6,%tmm7,%tmm3' 'tdpbssd %tmm6,%tmm7,%tmm3' 'tilestored %tmm3,' tilerelease; do
        grep -q "$instruction" "$scratch/instructions" || echo "cpu_amx.o has no $instruction"
    done
}

bad_tiles() {
    echo 'int none(void) { return 0; }' | $CC -w -x c -c -o "$scratch/cpu_amx.o" -
    ar rc "$scratch/amx.a" "$scratch/cpu_amx.o"
    tiles "$scratch/amx.a"
}

# environment PAGE: what looks like a variable in the files of the program that read the environment is in the
# table of PAGE.
environment() {
    sed -n 's/^| *\([A-Z_ ]*[A-Z_]\) *|.*/\1/p' "$1" | tr ' ' '\n' | sort -u > "$scratch/there"
    # shellcheck disable=SC2046
    sed -n 's/"\([A-Z_]*\)"/\n\1\n/gp' $(grep -l getenv src/cli/*.c) |
        grep -x '[A-Z][A-Z_]*' | sort -u > "$scratch/variables"
    comm -3 "$scratch/there" "$scratch/variables" | tr -d '\t' |
        sed "s|.*|& is only in one of $1 and the program|"
}

bad_environment() {
    sed 's/XDG_DATA_HOME/XDG_DATA/; s/LC_ALL//' docs/security.md > "$scratch/security.md"
    environment "$scratch/security.md"
}

# --- headers --------------------------------------------------------------------------------------

# headers FOLDER: each header in FOLDER/roofline compiles alone, and twice.
headers() {
    compilers | while read -r compiler; do
        for header in "$1"/roofline/*.h; do
            printf '#include "roofline/%s"\n#include "roofline/%s"\n' "${header##*/}" "${header##*/}" \
                > "$scratch/alone.c"
            $compiler -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1" \
                "$scratch/alone.c" > "$scratch/compiler" 2>&1 && continue
            echo "$compiler: $header does not compile alone: $(sed -n '/error/{p;q;}' "$scratch/compiler")"
        done
    done
    cxx_compilers | while read -r compiler; do
        for header in "$1"/roofline/*.h; do
            printf '#include "roofline/%s"\n' "${header##*/}" > "$scratch/alone.cc"
            $compiler -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1" "$scratch/alone.cc" \
                > "$scratch/compiler" 2>&1 && continue
            echo "$compiler: $header does not compile alone: $(sed -n '/error/{p;q;}' "$scratch/compiler")"
        done
    done
}

# The example at the head of a header as a program: what begins with "static" stands before main, and
# a part that begins with a call has a question to call it with.
head_example() {
    awk '
        /^#ifndef/ { exit }
        /^ \*     [^ ]/ && !inside { inside = 1; count++; call[count] = $0 ~ /^ \*     roof_/ }
        /^ \* [^ ]/ || /^ \*\// { inside = 0 }
        inside { text[count] = text[count] substr($0, 4) "\n" }
        END {
            if (count == 0) print "#error it has none"
            print "#include <stdio.h>\n#include \"roofline/roofline.h\"\n"
            for (i = 1; i <= count; i++) {
                lines = split(text[i], line, "\n")
                for (k = 1; k <= lines; k++) {
                    if (line[k] ~ /^    static /) outside = 1
                    if (outside) print line[k]
                    else body[i] = body[i] line[k] "\n"
                    if (line[k] ~ /^    }/) outside = 0
                }
            }
            print "int main(void)\n{"
            for (i = 1; i <= count; i++) {
                print "{"
                if (call[i]) print "struct roof_question *question = NULL; struct roof_error error; roof_question_new(&question, &error);"
                print body[i]
                if (call[i]) print "roof_question_free(question);"
                print "}"
            }
            print "return 0;\n}"
        }' "$1"
}

# head_examples FOLDER: the example at the head of each header in FOLDER/roofline runs.
head_examples() {
    for header in "$1"/roofline/*.h; do
        head_example "$header" > "$scratch/head.c"
        # shellcheck disable=SC2046
        if ! $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -o "$scratch/head" "$scratch/head.c" "$LIB" \
            $(${PKG_CONFIG:-pkg-config} --libs libcjson) -pthread -lm > "$scratch/compiler" 2>&1; then
            echo "$header: its example does not compile: $(sed -n '/error/{p;q;}' "$scratch/compiler")"
        elif ! "$scratch/head" > "$scratch/printed" 2>&1; then
            echo "$header: its example fails"
        elif grep -q 'puts(\|printf(' "$scratch/head.c" && [ ! -s "$scratch/printed" ] &&
            ! grep -q '!= ROOF_OK' "$scratch/head.c"; then
            echo "$header: its example prints nothing"
        fi
    done
}

# An example that calls what is not there, one that prints nothing, and none at all.
bad_head_examples() {
    mkdir -p "$scratch/heads/roofline"
    printf '/**\n * A head.\n *\n *     roof_question_ask(question);\n */\n#ifndef A\n#endif\n' > "$scratch/heads/roofline/a.h"
    printf '/**\n * A head.\n */\n#ifndef C\n#endif\n' > "$scratch/heads/roofline/c.h"
    printf '/**\n * A head.\n *\n *     if (0) puts("no");\n */\n#ifndef B\n#endif\n' > "$scratch/heads/roofline/b.h"
    head_examples "$scratch/heads"
}

# The compilers of C++ that are here, one a line.
cxx_compilers() {
    for compiler in g++ clang++; do
        ! command -v $compiler > "$scratch/found" || echo $compiler
    done
}

# The compilers that are here, one a line.
compilers() {
    printf '%s\n' "$CC" gcc clang | sort -u | while read -r compiler; do
        # shellcheck disable=SC2086
        ! command -v ${compiler%% *} > "$scratch/found" || echo "$compiler"
    done
}

bad_headers() {
    mkdir -p "$scratch/headers/roofline"
    printf 'size_t size(void);\n' > "$scratch/headers/roofline/size.h"
    headers "$scratch/headers"
}

# --- text -----------------------------------------------------------------------------------------

# files: those of the project, below its fixed entries and the dot-files; images are gnuplot's, and
# inputs of fuzz targets any bytes.
files() {
    find Makefile LICENSE README.md CHANGELOG.md CONTRIBUTING.md data docs include src tests .[!.]* -name .git -prune -o \
        -path tests/fuzz/corpus -prune -o -name '*.svg' -o -type f -print
}

# text FILE...
text() {
    # Written so that this file does not match itself.
    awk '
        function say(what) { print FILENAME ":" FNR ": " what }
        /\t/ && FILENAME !~ /(^|\/)Makefile$/ { say("a tab") }
        /[ \t\r]$/ { say("a trailing blank") }
        /(^|[^A-Za-z0-9_])(T[O]DO|F[I]XME|X[X]X)([^A-Za-z0-9_]|$)/ { say("something left undone") }
        /(^|[^A-Za-z0-9_.~\/-])\/(home|root|work|Users)\/[A-Za-z0-9]/ { say("a path of one machine") }
        ' "$@"
}

all_text() {
    # No name has a blank.
    # shellcheck disable=SC2046
    text $(files)
}

bad_text() {
    mkdir "$scratch/text"
    printf 'a\tb\nc \nTO%s\nXX%s\nsee /home/%s\n' DO X me > "$scratch/text/bad"
    printf 'all:\n\tcc\n' > "$scratch/text/Makefile"
    text "$scratch/text/bad" "$scratch/text/Makefile"
}

# --- the manual -----------------------------------------------------------------------------------

# known COMMAND: its options, one a line: of all those that docs/formats.md names or its help has,
# the ones that it does not refuse. Behind them stands one that it refuses, so that it does no work.
known() {
    synonyms "$1" > "$scratch/synonyms"
    {
        told "$1"
        # shellcheck disable=SC2016
        sed -n 's/`/\n/gp' docs/formats.md | sed -n 's/^\(-[a-zA-Z]\|--[a-z][a-z-]*\)$/\1/p'
    } | sort -u | comm -23 - "$scratch/synonyms" | while read -r option; do
        "$BIN" "$1" "$option" x -Z < /dev/null 2>&1 > "$scratch/ignored" | grep -q \
            -e "unknown option '*$option" -e " $option is an option of" \
            -e "$option is --.* an option of" -e "$option is --" || printf '%s\n' "$option"
    done
}

# synonyms COMMAND: the options that docs/commands.md explains as other names of its options.
synonyms() {
    # shellcheck disable=SC2016
    sed -n "s/^| \(.*\) | .* in \`$1\` |\$/\1/p" docs/commands.md | tr -d '\140,' | tr ' ' '\n' | sort -u
}

# The commands that completion offers.
commands() {
    "$BIN" completion words '' | cut -f 1 | grep -v -e '^-' -e '^help$' | sort
}

# told COMMAND: the options in its help.
told() {
    "$BIN" "$1" all --help | sed -n 's/^  \(-[^ =]*\), \(-[^ =]*\).*/\1 \2/p; s/^  \(-[^ =,]*\)[ =].*/\1/p' |
        tr ' ' '\n' | sort -u
}

# completed COMMAND: the options that completion offers, and their letters, which it leaves out.
completed() {
    {
        "$BIN" completion words "$1" - | cut -f 1
        told "$1" | grep -x -e '-[a-zA-Z]'
    } | sort -u
}

# manual_options PATTERN FILE: the options (Fl x, Fl Fl xyz or Fl -xyz) on its lines that match.
manual_options() {
    sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' -e 's/\\-/-/g' "$2" | awk -v pattern="$1" '
        $0 ~ pattern {
            for (i = 1; i < NF; i++) {
                if ($i != "Fl" && $i != ".Fl") continue
                if ($(i + 1) == "Fl") print "--" $(i += 2)
                else print "-" $(++i)
            }
        }' | sort -u
}

# lacks WHAT FILE: complains of each line of $scratch/known that is not one of FILE.
lacks() {
    comm -23 "$scratch/known" "$2" | sed "s|.*|$1 does not have &|"
}

# options MAN FILE: each command and each of its options is in help, in completion, in its page in
# the folder MAN and in FILE; and no page defines others.
options() {
    commands > "$scratch/commands"
    [ -s "$scratch/commands" ] || echo "no commands"
    while read -r command; do
        "$BIN" --help | grep -q "^  $command  *[A-Z]" || echo "--help does not have $command"
        "$BIN" completion words '' | grep -q "^$command" || echo "completion does not have $command"
        grep -q "^|.*\`$command\`.*|" README.md || echo "README.md does not have $command"
        grep -q "^\$ roofline $command " docs/commands.md ||
            echo "docs/commands.md has no example of $command"
        page=$1/roofline-$command.1
        [ -r "$page" ] || { echo "$page is missing"; continue; }
        for named in "It Cm $command" "Xr roofline-$command 1"; do
            grep -q "^.$named" "$1/roofline.1" || echo "$1/roofline.1 does not have .$named"
        done
        known "$command" > "$scratch/known"
        for place in told completed; do
            $place "$command" > "$scratch/place"
            lacks "$command, $place," "$scratch/place"
        done
        manual_options '^[.]' "$page" > "$scratch/place"
        lacks "$page" "$scratch/place"
        manual_options '^[.]It' "$page" | comm -13 "$scratch/known" - |
            sed "s|.*|$page has the option &, which $command does not take|"
        # Options stand between ` and `, alone or with their value.
        sed -n 's/`/\n/gp' "$2" | sed 's/[ =,].*//' | sort -u > "$scratch/place"
        grep -v -x -e --help -e -h "$scratch/known" > "$scratch/long" || :
        mv "$scratch/long" "$scratch/known"
        lacks "$2" "$scratch/place"
    done < "$scratch/commands"
}

# A program whose help and completion leave out --tiling, a page without -m and --top and with an
# option of its own, and a file without --shard.
bad_options() {
    mkdir "$scratch/man"
    cp docs/man/*.1 "$scratch/man/"
    sed -e '/^\.It Fl m /d' -e '/^\.It Fl Fl top /s/top/pot/' docs/man/roofline-predict.1 \
        > "$scratch/man/roofline-predict.1"
    sed '/^\.It Cm list/d' docs/man/roofline.1 > "$scratch/man/roofline.1"
    sed 's/--shard/--part/g' docs/formats.md > "$scratch/formats.md"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\n"%s" "$@" | grep -v -e --tiling\n' "$BIN" > "$scratch/program"
    chmod +x "$scratch/program"
    real=$BIN
    BIN=$scratch/program
    options "$scratch/man" "$scratch/formats.md"
    BIN=$real
}

# examples DIR: the examples of one line in which mdoc takes quotes away; \(dq prints one.
examples() {
    grep -n '^\.Dl .*"' "$1"/*.1 || :
}

bad_examples() {
    mkdir "$scratch/examples"
    printf '.Dl curl -d \047{"n": 1}\047\n.Dl a \\(dqb\\(dq\n' > "$scratch/examples/a.1"
    examples "$scratch/examples"
}

# The options in the pages are those that the program would write there today.
written() {
    mkdir "$scratch/written"
    cp docs/man/*.1 "$scratch/written/"
    sh docs/man/options.sh "$BIN" "$scratch/written"/*.1
    diff -r docs/man "$scratch/written" -x options.sh
}

# --- keys -----------------------------------------------------------------------------------------

# The keys of all rows that are printed, and the members of the documents in JSON, one a line.
keys() {
    "$BIN" list operators -f csv --columns name | sed 1d | while read -r operator; do
        "$BIN" completion words predict "$operator" --columns ''
    done
    for command in 'predict model' 'sweep model' 'recommend gemm' 'recommend model' simulate \
        'list hardware' 'list precisions' 'list operators' 'list models' 'list layouts' \
        'list engines' monitor; do
        # shellcheck disable=SC2086
        "$BIN" completion words $command --columns ''
    done
    ! command -v jq > "$scratch/found" || members
}

# Of documents that exist as JSON alone.
members() {
    documents > "$scratch/documents"
    jq -r 'paths | map(select(type == "string")) | .[-1] // empty' \
        "$scratch/documents" | grep -v -x -F -f "$scratch/data" || :
}

# In JSON; names that are data, not keys, go to $scratch/data.
documents() {
    "$BIN" list precisions -f csv --columns name | sed 1d > "$scratch/data"
    for second in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do # so many that a fit has no note
        printf '{"arrival_s":%d,"prompt":9,"generate":2,"first_token_ts":%d.5,"last_token_ts":%d.9}\n' \
            "$second" "$second" "$second"
    done > "$scratch/trace.json"
    for arguments in \
        'predict gemm -m 1 -n 8 -k 8 -H h100-sxm --why --tiling' \
        'predict attention --heads 8 --head-dim 8 --kv-len 8' \
        'predict gemm -m 1 -n 8 -k 8 --explain h100-sxm,a100-sxm-80gb' \
        'predict model llama-3-8b' \
        'predict model llama-3-8b --explain h100-sxm,a100-sxm-80gb' \
        'recommend gemm -m 1 -n 8 -k 8' \
        'recommend model llama-3-8b -H l40s --devices 1 --batch 1 --context 64 --max-tpot 1s --top 2' \
        'recommend model llama-3-8b -H l40s --devices 1 --batch 1 --context 64 --explain bf16,fp8' \
        'predict model llama-3-8b --prompt 64 --generate 8 --draft-tokens 2' \
        "simulate llama-3-8b -H h100-sxm --trace $scratch/trace.json --fit" \
        'simulate llama-3-8b -H h100-sxm --prompt 50 --generate 9 --max-ttft p99:99ms' \
        'simulate llama-3-8b -H h100-sxm --rate 2 --prompt 5 --generate 2 --max-ttft mean:1s' \
        'list operators gemm' 'list precisions nvfp4' 'list layouts q4_k_m' 'list hardware gb10' \
        'plot model llama-3-8b -H h100-sxm --attainable' 'list models gemma-3-27b' 'list engines vllm'; do
        # shellcheck disable=SC2086
        "$BIN" $arguments -f json || :
    done
    printf 'operator,m,n,k,measured_us\ngemm,1,8,8,9\n' > "$scratch/measured.csv"
    "$BIN" compare "$scratch/measured.csv" -H h100-sxm -f ndjson
    "$BIN" compare "$scratch/measured.csv" -H h100-sxm --summary -f json
    printf 'time_s,device,power_w\n0,0,100\n1,0,200\n' > "$scratch/power.csv"
    "$BIN" monitor --from "$scratch/power.csv" --tokens 9 -f json
}

# described_keys FILE: each key is there, in a table: between the bars of a line, or in code.
described_keys() {
    keys > "$scratch/keys"
    [ "$(wc -l < "$scratch/keys")" -gt 200 ] || echo "only $(wc -l < "$scratch/keys") keys"
    awk '/^\|/ { print } !/^\|/ { count = split($0, part, "`"); for (i = 2; i <= count; i += 2) print part[i] }' \
        "$1" | tr -c 'A-Za-z0-9_\n' '\n' | sort -u > "$scratch/there"
    sort -u "$scratch/keys" | comm -23 - "$scratch/there" | sed "s|.*|$1 does not have the key &|"
}

bad_keys() {
    sed -e 's/ridge_point/ridge/g' -e 's/kv_cache_bytes//' docs/formats.md \
        > "$scratch/formats.md"
    described_keys "$scratch/formats.md"
}

# --- the pages ------------------------------------------------------------------------------------

# links PAGE...: what a page links to is there, its headings too.
links() {
    for page; do
        grep -o '](\([^)]*\))' "$page" | sed 's/^](\(.*\))$/\1/' | grep -v '^https*:' | sort -u |
            while IFS='#' read -r file anchor; do
                target=$page
                [ -z "$file" ] || target=$(dirname "$page")/$file
                if [ ! -e "$target" ]; then
                    echo "$page links to $file, which is not there"
                elif [ -n "$anchor" ]; then
                    sed -n 's/^##* //p' "$target" | tr '[:upper:] ' '[:lower:]-' |
                        tr -cd 'a-z0-9_\n-' | grep -q -x -e "$anchor" ||
                        echo "$page links to $file#$anchor, which is no heading"
                fi
            done
    done
}

# indexed INDEX: it has every page beside it.
indexed() {
    for page in "$(dirname "$1")"/*.md; do
        [ "$page" = "$1" ] || grep -q -F "](${page##*/})" "$1" || echo "$1 does not have $page"
    done
}

bad_links() {
    mkdir "$scratch/pages"
    printf '# A b, c\n[x](other.md) [y](#a-b-c) [z](#nowhere) [u](gone.md)\n' > "$scratch/pages/README.md"
    printf '# Other\n[a](README.md#a-b-c)\n' > "$scratch/pages/other.md"
    : > "$scratch/pages/lost.md"
    links "$scratch/pages/README.md" "$scratch/pages/other.md"
    indexed "$scratch/pages/README.md"
}

# --- fuzzing --------------------------------------------------------------------------------------

# fuzzed FOLDER: it has command lines of every command.
fuzzed() {
    for input in "$1"/*; do
        tr '\000' '\n' < "$input" | sed 1q
    done | sort -u > "$scratch/words"
    "$BIN" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sort > "$scratch/commands"
    [ -s "$scratch/commands" ] || echo "no commands"
    comm -13 "$scratch/words" "$scratch/commands" | sed "s|$| is in no input of $1|"
}

bad_fuzzed() {
    mkdir "$scratch/fuzzed"
    "$BIN" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sed 1d | while read -r command; do
        printf '%s\0--help\0' "$command" > "$scratch/fuzzed/$command"
    done
    fuzzed "$scratch/fuzzed"
}

# --- the formulas ---------------------------------------------------------------------------------

# formulas FILE: each operator is named in it, and each expression of its FLOPs stands there.
formulas() {
    [ -r "$1" ] || { echo "$1 is missing"; return; }
    "$BIN" list operators -f csv --columns name,dimensions | sed 1d > "$scratch/operators"
    [ -s "$scratch/operators" ] || echo "no operators"
    while IFS=, read -r operator dimensions; do
        options=$(printf '%s\n' "$dimensions" | sed -e 's/\[[^]]*\]//g' -e 's/-[a-z-]*/& 2/g')
        # shellcheck disable=SC2086
        "$BIN" predict "$operator" $options --why > "$scratch/why" || return
        # A folded line goes on behind six blanks; numbers and results begin with "=" there.
        awk '/^      [^=]/ { sub(/^ +/, ""); printf " %s", $0; next } { printf "\n%s", $0 } END { print "" }' \
            "$scratch/why" | sed -n 's/^  flops = //p' > "$scratch/expressions"
        [ -s "$scratch/expressions" ] || echo "$operator: --why shows no FLOPs"
        while read -r expression; do
            stands "$1" "$operator" "$expression"
        done < "$scratch/expressions"
    done < "$scratch/operators"
}

# stands FILE OPERATOR EXPRESSION. Blanks do not count; the expression must not be part of another.
stands() {
    awk -v operator="$2" -v expression="$3" '
        BEGIN { wanted = expression; gsub(/ /, "", wanted) }
        {
            if ((" " $0 " ") ~ ("[^A-Za-z0-9_-]" operator "[^A-Za-z0-9_-]")) named = 1
            line = $0
            gsub(/[ \t][ \t]+/, "|", line) # columns
            gsub(/[ \t\\]/, "", line)
            for (at = 1; (found = index(substr(line, at), wanted)) > 0; at += found) {
                before = substr(line, at + found - 2, 1)
                after = substr(line, at + found - 1 + length(wanted), 1)
                if (at + found == 2) before = ""
                if (before ~ /^[=`|:;$]?$/ && after ~ /^[`|,.:;$]?$/) shown = 1
            }
        }
        END {
            if (!named) print FILENAME " does not name the operator " operator
            if (!shown) print FILENAME " does not have the FLOPs of " operator ": " expression
        }' "$1"
}

bad_formulas() {
    # shellcheck disable=SC2016
    printf '%s\n' 'gemms: `flops = 2 * batch * m * n * k`' 'gemv  2 * 3 * n * k' > "$scratch/bad.md"
    stands "$scratch/bad.md" gemm '2 * batch * m * n * k' # is not named
    stands "$scratch/bad.md" gemv '3 * n * k'             # stands only as a part
    stands "$scratch/bad.md" add 'tokens * hidden'        # neither
    formulas "$scratch/none.md"
}

# --- building and installing ----------------------------------------------------------------------

# copy_and_build FOLDER
copy_and_build() {
    mkdir -p "$1"
    for entry in Makefile LICENSE README.md data docs include src tests; do
        [ ! -e "$entry" ] || cp -R "$entry" "$1/"
    done
    build_in "$1" all
}

# build_in FOLDER TARGET...: make with nothing of the make that runs this, if one does. What is
# looked at does not depend on how the compiler optimises.
build_in() {
    folder=$1
    shift
    (
        cd "$folder"
        unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD LIB SHARED BIN
        make -s CC="$CC" CFLAGS='-O0 -g' "$@" > make.log 2>&1 || cat make.log
    )
}

first=$scratch/first
second=$scratch/a/folder/with/a/longer/name\ and\ blanks

# Where it is built does not show in what is built.
reproducible() {
    copy_and_build "$first" > "$scratch/first.log" 2>&1 &
    copy_and_build "$second"
    wait $!
    cat "$scratch/first.log"
    for product in libroofline.a "${SHARED##*/}" roofline; do
        cmp "$first/build/$product" "$second/build/$product"
    done
}

# Folders may have blanks in their names.
installed_with_blanks() {
    root="$scratch/a root"
    build_in "$first" install DESTDIR="$root" prefix='/opt/my apps'
    flags=$(PKG_CONFIG_SYSROOT_DIR='' PKG_CONFIG_PATH="$root/opt/my apps/lib/pkgconfig" \
        ${PKG_CONFIG:-pkg-config} --cflags --libs roofline)
    case $flags in
    *'-I/opt/my\ apps/include'*'-L/opt/my\ apps/lib -lroofline'*) ;;
    *) echo "pkg-config does not keep the blank: $flags" ;;
    esac
}

# Without libevent and without `make page` all but serve and the explorer is built; these say what is missing.
without() {
    # shellcheck disable=SC2016
    printf '#!/bin/sh\ncase $* in *libevent*) exit 1 ;; esac\nexec %s "$@"\n' "${PKG_CONFIG:-pkg-config}" > "$scratch/pkg-config"
    chmod +x "$scratch/pkg-config"
    build_in "$first" PKG_CONFIG="$scratch/pkg-config"
    {
        "$first/build/roofline" serve || echo $?
        "$first/build/roofline" page -o "$scratch/page.html" || echo $?
        "$first/build/roofline" predict gemm -m 1 -n 1 -k 1 -o "$scratch/page.html" || echo $?
    } 2>&1 | diff - "$1" || :
}

# What a program without them says.
missing() {
    page="this program was built without the explorer: run 'sh .ci/deps page', then 'make page'"
    printf '%s\n4\n' "roofline serve: this program was built without libevent: run 'sh .ci/deps build', then 'make'" \
        "roofline page: $page" "roofline predict: $page" > "$scratch/missing"
    without "$scratch/missing"
}

installed() {
    root=$scratch/root
    build_in "$first" install DESTDIR="$root" prefix=/usr
    for header in include/roofline/*.h; do
        cmp "$header" "$root/usr/$header"
    done
    for page in docs/man/*.1; do
        cmp "$page" "$root/usr/share/man/man1/${page##*/}"
    done
    for place in bash-completion/completions/roofline zsh/site-functions/_roofline \
        fish/vendor_completions.d/roofline.fish; do
        shell=${place%%[-/]*}
        "$BIN" completion "$shell" | cmp - "$root/usr/share/$place"
    done
    [ "$(find "$root/usr/include" -type f | wc -l)" -eq "$(find include -type f | wc -l)" ] ||
        echo "other headers than the public ones are installed"
    cmp "$first/build/libroofline.a" "$root/usr/lib/libroofline.a"
    cmp "$first/build/${SHARED##*/}" "$root/usr/lib/libroofline.so"
    readelf -d "$root/usr/lib/libroofline.so" | grep -q -F "soname: [${SHARED##*/}]" ||
        echo "the shared library has another name than its file"
    [ -x "$root/usr/bin/roofline" ] || echo "the program is not installed"
    if grep -F "$scratch" "$root/usr/lib/pkgconfig/roofline.pc"; then
        echo "roofline.pc names the folder that it was installed from"
    fi
    for folder in include:includedir lib:libdir; do
        [ "$(PKG_CONFIG_PATH=$root/usr/lib/pkgconfig ${PKG_CONFIG:-pkg-config} --define-prefix \
            --variable="${folder#*:}" roofline)" = "$root/usr/${folder%:*}" ] ||
            echo "roofline.pc cannot be moved: its ${folder#*:} does not follow --define-prefix"
    done
    build_in "$first" install DESTDIR="$scratch/apart" prefix=/usr includedir=/opt/include
    grep -q -x -F includedir=/opt/include "$scratch/apart/usr/lib/pkgconfig/roofline.pc" ||
        echo "roofline.pc lacks a folder of headers outside the prefix"

    PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
    PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
    export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_ALLOW_SYSTEM_CFLAGS \
        PKG_CONFIG_ALLOW_SYSTEM_LIBS
    version=$("$root/usr/bin/roofline" --version)
    [ "$version" = "roofline $(${PKG_CONFIG:-pkg-config} --modversion roofline)" ] ||
        echo "roofline.pc has another version than the program"
    # shellcheck disable=SC2046
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$scratch/user" docs/example.c \
        $(${PKG_CONFIG:-pkg-config} --cflags --libs roofline) -pthread
    LD_LIBRARY_PATH=$root/usr/lib "$scratch/user" > "$scratch/answer"
    block text docs/library.md | diff - "$scratch/answer"

    # shellcheck disable=SC2046
    $CC -std=c11 -o "$scratch/static" docs/example.c \
        $(${PKG_CONFIG:-pkg-config} --static --cflags --libs roofline | sed 's/-lroofline/-l:libroofline.a/')
    "$scratch/static" | diff "$scratch/answer" -
    if command -v python3 > "$scratch/found"; then
        LD_LIBRARY_PATH=$root/usr/lib python3 -B docs/example.py > "$scratch/answer"
        block output docs/library.md | diff - "$scratch/answer"
    fi
}

# uninstalled FILE: its lines for a clone build and run the examples there.
uninstalled() {
    block sh "$1" | grep -e '-I include' -e '^LD_LIBRARY_PATH=build ' > "$scratch/lines"
    [ "$(grep -c . "$scratch/lines")" -eq 2 ] || echo "$1 has other lines for a clone"
    command -v python3 > "$scratch/found" || sed -i '/python3/d' "$scratch/lines"
    (
        cd "$first"
        sed "s|^cc |$CC |; s|python3 |python3 -B |" "$scratch/lines" | sh -e > "$scratch/answer"
        ./example > "$scratch/built"
    )
    block text "$1" | diff - "$scratch/built"
    [ ! -s "$scratch/found" ] || block output "$1" | diff - "$scratch/answer"
}

# block KIND FILE: what is in its blocks of that kind.
block() {
    awk -v kind="\`\`\`$1" '/^```/ { inside = $0 == kind; next } inside' "$2"
}

# quoted FILE: the C in it stands in docs/example.c, and the Python in docs/example.py, line by line.
quoted() {
    block c "$1" | grep -v -x -F -f docs/example.c || :
    block python "$1" | grep -v -x -F -f docs/example.py || :
}

# workflow FILE: the script of its last step runs, in a folder of its own.
workflow() {
    mkdir "$scratch/bin" "$scratch/workflow"
    ln -s "$BIN" "$scratch/bin/roofline"
    block yaml "$1" | awk '/^ *run: \|$/ { inside = 1; next } /^[^ ]/ { inside = 0 } inside' > "$scratch/step"
    [ -s "$scratch/step" ] || echo "$1 has no step"
    (
        cd "$scratch/workflow"
        PATH=$scratch/bin:$PATH sh -e "$scratch/step"
    ) > "$scratch/printed" || { echo "the step ends with $?"; cat "$scratch/printed"; }
    grep -q '^roofline/plan/2,1,' "$scratch/workflow/plans.csv" || echo "the step makes no plans"
}

# mutants FOLDER: each mistake of its lists can be made, and that at one place.
mutants() {
    ! command -v python3 > "$scratch/found" || python3 -B tests/mutate.py --check --lists "$1"
}

# A text that is not there, one that is there often, a change that is none, and one that no line has.
bad_mutants() {
    mkdir "$scratch/mutants"
    printf '[%s, %s, %s]\n' \
        '{"name": "a", "file": "src/base/text.c", "text": "no such text", "instead": ""}' \
        '{"name": "b", "file": "src/base/text.c", "text": "text", "instead": ""}' \
        '{"name": "c", "file": "src/base/text.c", "text": "SPDX", "instead": "SPDX"}' \
        > "$scratch/mutants/known.json"
    printf '[{"line": "a + b;", "becomes": "a - b;", "why": "c"}]\n' \
        > "$scratch/mutants/explained.json"
    mutants "$scratch/mutants"
}

# python FILE: the Python in it runs, where pandas is there.
python() {
    if ! python3 -c 'import pandas' 2> "$scratch/found"; then
        echo "     the use of pandas in $1 is not tested: it is not installed" >&3
        return
    fi
    block python "$1" > "$scratch/block.py"
    PATH=$scratch/bin:$PATH python3 "$scratch/block.py" > "$scratch/printed"
    grep -q '^16 .*[0-9]$' "$scratch/printed" || cat "$scratch/printed"
}

bad_quoted() {
    # shellcheck disable=SC2016
    printf '%s\n' '```c' 'int main(void)' 'int man(void)' '```' 'else' '```c' 'int i;' '```' '```python' 'SIZE = 4096' 'import jason' '```' > "$scratch/quoted.md"
    quoted "$scratch/quoted.md"
}

# --------------------------------------------------------------------------------------------------

exec 3>&1

# Code of others is as it was when somebody read it, and packaging/vendored.sha256 lists all of it.
foreign() {
    (cd "$1" && sha256sum -c --quiet packaging/vendored.sha256 &&
        sed 's/^[0-9a-f]*  //' packaging/vendored.sha256 | sort > "$scratch/listed" &&
        grep -l -r '^// SPDX-License-Identifier: MIT .' src include tests | sort | diff "$scratch/listed" -)
}

bad_foreign() {
    mkdir -p "$scratch/foreign/packaging" "$scratch/foreign/src" "$scratch/foreign/include" \
        "$scratch/foreign/tests"
    echo '// SPDX-License-Identifier: MIT AND LicenseRef-Other' > "$scratch/foreign/src/other.c"
    echo 'of me' > "$scratch/foreign/src/mine.c"
    (cd "$scratch/foreign" && sha256sum src/mine.c > packaging/vendored.sha256)
    foreign "$scratch/foreign"
}

# --- version --------------------------------------------------------------------------------------

# A copy of the files that have the version, in which a new one is written everywhere.
new_version() {
    rm -rf "$scratch/version"
    mkdir -p "$scratch/version/docs" "$scratch/version/include/roofline"
    cp -r packaging debian CHANGELOG.md CONTRIBUTING.md "$scratch/version/"
    cp docs/releasing.md docs/example.py "$scratch/version/docs/"
    cp include/roofline/version.h "$scratch/version/include/roofline/"
    sed 's/^## 1\.0\.0 /## Unreleased\n\n- A change.\n\n&/' CHANGELOG.md > "$scratch/version/CHANGELOG.md"
    sh packaging/version.sh 21.3.4 "$scratch/version"
}

versions() {
    sh packaging/version.sh --check .
    new_version
    grep -q '^## 21\.3\.4 - 20' "$scratch/version/CHANGELOG.md" || echo "CHANGELOG.md has no entry of the new version"
}

bad_versions() {
    new_version
    sed 's/21\.3\.4/21.3.5/' "$scratch/version/debian/changelog" > "$scratch/changelog"
    cp "$scratch/changelog" "$scratch/version/debian/changelog"
    sed 's/so\.21/so.20/' docs/example.py > "$scratch/version/docs/example.py"
    rm "$scratch/version/debian/libroofline21.install"
    sh packaging/version.sh --check "$scratch/version"
}

# --- errors ---------------------------------------------------------------------------------------

# errors_kept FILE: no error of it is larger than in docs/errors.md, and no interval holds fewer rows.
errors_kept() {
    ! command -v python3 > "$scratch/found" || python3 -B tests/errors_kept.py docs/errors.md "$1" |
        sed '/^errors: .* 0 worse or missing$/d'
}

# A larger error, a line that is gone, and rows that leave the interval: of a device and stack, and of a table.
bad_errors() {
    sed -e '/^| bmm | int8 /d' -e '/^| bmm | 16bit /s/\*\*[0-9.]*/**99.9/' -e '/^| dense | 99 /s/[0-9.]* |$/20.0 |/' \
        -e '/^| h100-sxm | vllm | \*\*5.3/{s/\*\*5.6/**9.6/;s/(87)/(60)/;}' -e '/^| a100-pcie-40gb, /s/to 7.3/to 9.3/' \
        -e '/^| h100-sxm | gemm | 16bit | none | vllm /s/[0-9.]* to [0-9.]* |$/0.5 to 3.12 |/' \
        -e '/^| INT8 products | 82.9 /s/82.9/62.9/' docs/errors.md > "$scratch/errors.md"
    errors_kept "$scratch/errors.md"
}

# unfitted FILE: the table of aims has the error of each kind of tests/kinds.py that no fit saw, and the reason.
unfitted() {
    ! command -v python3 > "$scratch/found" || PYTHONPATH=tests python3 -B -c '
import sys, kinds
aims = [line.split(" | ") for line in sys.stdin if ", no fit | " in line]
for kind in kinds.UNFITTED:
    name = kind.removesuffix(", ring")
    if kind != kinds.ONE_SHOT and not any(cells[0] == "| " + name and len(cells[5]) > 20 for cells in aims):
        print(f"docs/errors.md has no reason why {name} was not fitted")' < "$1"
}

# A kind that is gone, and one without a reason.
bad_unfitted() {
    sed -e '/^| state, step with drafts |/d' -e '/^| batched products of vLLM /s/no fit | .*/no fit | |/' \
        docs/errors.md > "$scratch/unfitted.md"
    unfitted "$scratch/unfitted.md"
}

quick() {
    notices 7 bad_layers
    check 'files include their own folder and earlier ones' layers .
    check 'the floors are described as they are' described docs/design.md
    notices 3 bad_walked
    check 'the walk of a question is that of the code' walked docs/design.md
    notices 15 bad_shape
    check 'unit tests use their own floor and earlier ones' sh tests/shape.sh units
    for rule in circles uses functions files guards questions comments; do
        check "$rule: no more than tests/ceilings allows" ratchet $rule
    done
    notices 2 bad_symbols
    check 'the library keeps to its own names' symbols "$LIB"
    notices 5 bad_exported
    check 'the shared library exports src/api.txt' exported src/api.txt "${SHARED:-}"
    notices 1 bad_hot
    check 'a prediction allocates nothing' hot "$BUILD"/src/operator/*.o \
        "$BUILD"/src/predict/kernel*.o "$BUILD/src/predict/predict.o" "$BUILD/src/model/scenario.o" \
        "$BUILD/src/model/graph.o" "$BUILD/src/model/model_size.o" "$BUILD/src/predict/pass.o" \
        "$BUILD/src/predict/phase.o" "$BUILD/src/predict/request.o" "$BUILD/src/predict/limits.o" \
        "$BUILD/src/predict/model_prediction.o"
    notices 5 bad_calls
    check 'no shell, and no files or environment in the library' calls "$LIB" "$BUILD"/src/cli/*.o
    case $($CC -dumpmachine) in
    x86_64*linux*)
        notices 8 bad_tiles
        check 'kernels for AMX are made of the instructions of the manual' tiles "$LIB"
        ;;
    esac
    notices 3 bad_environment
    check 'docs/security.md has every variable of the environment' environment docs/security.md
    notices 5 bad_text
    check 'no tabs, trailing blanks, loose ends or paths of one machine' all_text
    check 'the options in the manual are those of the help' written
    notices 1 bad_examples
    check 'the examples of the manual keep their quotes' examples docs/man
    notices 2 bad_keys
    check 'every key that is printed is in docs/formats.md' described_keys docs/formats.md
    notices 3 bad_links
    check 'links of the pages lead somewhere' links README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md docs/*.md
    check 'docs/README.md has every page' indexed docs/README.md
    check 'docs/design.md has the figures of the tree' sh tests/figures.sh check docs/design.md
    notices 4 bad_foreign
    check 'code of others is pinned' foreign .
    notices 3 bad_versions
    check 'the version is the same everywhere, and packaging/version.sh writes it' versions
    ! command -v python3 > "$scratch/found" || notices 9 bad_errors
    check 'docs/errors.md is no worse than itself' errors_kept docs/errors.md
    check 'docs/accuracy.md begins with the table of docs/errors.md' sh tests/believed.sh check docs/accuracy.md docs/errors.md
    ! command -v python3 > "$scratch/found" || notices 2 bad_unfitted
    check 'the table of aims has every kind that was not fitted' unfitted docs/errors.md
    check '.ci/deps fails where something that is needed is missing' sh tests/deps.sh
    ! command -v python3 > "$scratch/found" || notices 4 bad_mutants
    check 'each mistake of tests/mutants can be made' mutants tests/mutants
}

slow() {
    notices 7 bad_options
    check 'help, completion, manual and docs/formats.md have every command and option' options \
        docs/man docs/formats.md
    notices 5 bad_hardened
    check 'the program is hardened' hardened "$BIN" "${HARDEN:-}"
    notices "$({ compilers; cxx_compilers; } | grep -c .)" bad_headers
    check 'each public header compiles alone' headers include
    notices 3 bad_head_examples
    check 'the example at the head of each public header runs' head_examples include
    notices 5 bad_formulas
    check 'the formulas of all operators are documented' formulas docs/formulas.md
    notices 1 bad_fuzzed
    check 'the command lines of the fuzz target are of every command' fuzzed tests/fuzz/corpus/cli
    check 'the same bytes are built in any folder, also one with blanks in its name' reproducible
    check 'what is installed can be used' installed
    check 'the library can be used without being installed' uninstalled docs/library.md
    check 'folders with blanks are found' installed_with_blanks
    check 'without libevent and the explorer, the program says what is missing' missing
    notices 3 bad_quoted
    check 'the workflow of docs/recipes.md runs' workflow docs/recipes.md
    check 'the Python of docs/recipes.md runs' python docs/recipes.md
    check 'the library guide quotes its example' quoted docs/library.md
}

[ "$part" = slow ] || quick
[ "$part" = quick ] || slow

[ $failures -eq 0 ]
