#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules of the project that no compiler checks: CC=cc LIB=FILE.a BIN=PROGRAM sh tests/project.sh
#
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

# A module includes only modules before it. docs/design.md says what each is for.
order="status decimal_table decimal quantity text json data schema registry precision hardware operator kernel_parameters calibration kernel \
predict explain model model_make layout gguf safetensors checkpoint csv transformer inference study speedup engine plan plan_why emit request sweep recommend crossover table records compare check \
speedup_report report model_report chart chart_layout chart_report chart_gnuplot study_report plan_report engine_report check_report roofline cli calibrate"

# The table of layers in FILE has the modules in this order.
described() {
    sed -n '/^## Layers/,/^## [^L]/s/^| *\([a-z_]*\)[ (].*|.*/\1/p' "$1" | grep -v -x -e module \
        > "$scratch/described" || echo "$1 has no table of layers"
    # shellcheck disable=SC2086
    printf '%s\n' $order | grep -x -F -f "$scratch/described" | diff - "$scratch/described"
}

# layers FOLDER: the tree in which to look.
layers() {
    # shellcheck disable=SC2016
    (cd "$1" && find include src -name '*.[ch]' | sort | xargs awk -v order="$order" '
        function say(text) { print FILENAME ":" FNR ": " text }
        function module_of(path) {
            if (path ~ /^src\/cli\// || path == "cli.h") return "cli"
            if (path ~ /^src\/calibrate\//) return "calibrate"
            sub(/.*\//, "", path)
            sub(/\.[ch]$/, "", path)
            return path
        }
        BEGIN {
            count = split(order, names, " ")
            for (i = 1; i <= count; i++) rank[names[i]] = i
        }
        FNR == 1 {
            module = module_of(FILENAME)
            public = FILENAME ~ /^include\//
            if (!(module in rank)) say("the module " module " is not in the order of layers")
        }
        /^[ \t]*#[ \t]*include/ {
            what = $0
            sub(/^[^<"]*[<"]/, "", what)
            sub(/[>"].*/, "", what)
            if (what ~ /cJSON/ && FILENAME != "src/json.c") say("only json.c includes " what)
            if (what ~ /argtable/ && module != "cli") say("only src/cli includes " what)
            if (/</ && what !~ /^roofline\//) next # of the system
            target = module_of(what)
            if (what !~ /^roofline\// && public)
                say("a public header includes the private " what)
            else if (what !~ /^roofline\// && module == "cli" && target != "cli")
                say("the program includes the private " what)
            else if (!(target in rank))
                say("the module " target " is not in the order of layers")
            else if (rank[target] > rank[module])
                say(module " includes " target ", which is later in the order of layers")
            else if (target == module && FILENAME ~ /\.h$/ && (public || what !~ /^roofline\//))
                say("a header includes itself")
        }')
}

bad_layers() {
    mkdir -p "$scratch/layers/include/roofline" "$scratch/layers/src/cli"
    (
        cd "$scratch/layers"
        printf '#include <stddef.h>\n#include "roofline/text.h"\n' > include/roofline/status.h
        printf '#include "json.h"\n' > include/roofline/text.h
        printf '#include "roofline/sweep.h"\n' > include/roofline/sweep.h
        printf '#include "roofline/text.h"\n#include <cjson/cJSON.h>\n' > src/text.c
        printf '#include "json.h"\n#include <cjson/cJSON.h>\n' > src/json.c
        printf '#include <argtable2.h>\n  # include <roofline/sweep.h>\n' > src/predict.c
        printf '#include "stray.h"\n' > src/quantity.c
        printf 'int stray;\n' > src/stray.c
        printf '#include <argtable2.h>\n#include "cli.h"\n#include "json.h"\n' > src/cli/main.c
        printf '#include "roofline/roofline.h"\n' > src/cli/cli.h
    )
    layers "$scratch/layers"
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

# files: those of the project, below its fixed entries and the dot-files.
files() {
    find Makefile LICENSE README.md data docs include src tests .[!.]* -name .git -prune -o -type f \
        -print
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

# The options in the help of the commands, one a line.
help_options() {
    for command in predict sweep recommend list compare check; do
        "$BIN" "$command" --help
    done | awk '
        /^usage:/ { options = 0 }
        /^Options$/ { options = 1 }
        options && /^  -/ {
            sub(/^  /, "")
            sub(/   *[^ ].*/, "") # the explanation
            count = split($0, names, ", ")
            for (i = 1; i <= count; i++) {
                sub(/[= ].*/, "", names[i])
                print names[i]
            }
        }' | sort -u
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

# manual FILE: it has the options of the help, and defines no others.
manual() {
    [ -r "$1" ] || { echo "$1 is missing"; return; }
    help_options > "$scratch/help"
    manual_options '^[.]' "$1" > "$scratch/named"
    manual_options '^[.]It' "$1" > "$scratch/defined"
    comm -23 "$scratch/help" "$scratch/named" | sed "s|.*|$1 does not have the option &|"
    { cat "$scratch/help"; echo --version; } | sort | comm -13 - "$scratch/defined" |
        sed "s|.*|$1 has the option &, which no command takes|"
}

bad_manual() {
    help_options | sed -e '/^-m$/d' -e 's/^--/.It Fl Fl /' -e 's/^-/.It Fl /' > "$scratch/page.1"
    echo '.It Fl Fl prefill' >> "$scratch/page.1"
    manual "$scratch/page.1"
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
        sed -n 's/^  flops = //p' "$scratch/why" > "$scratch/expressions"
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

# build_in FOLDER TARGET...: make with nothing of the make that runs this, if one does.
build_in() {
    folder=$1
    shift
    (
        cd "$folder"
        unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD LIB BIN
        make -s CC="$CC" "$@" > "$scratch/make.log" 2>&1 || cat "$scratch/make.log"
    )
}

first=$scratch/first
second=$scratch/a/folder/with/a/longer/name

# Where it is built does not show in what is built.
reproducible() {
    copy_and_build "$first"
    copy_and_build "$second"
    for product in libroofline.a roofline; do
        cmp "$first/build/$product" "$second/build/$product"
    done
}

installed() {
    root=$scratch/root
    build_in "$first" install DESTDIR="$root" prefix=/usr
    for header in include/roofline/*.h; do
        cmp "$header" "$root/usr/$header"
    done
    cmp docs/roofline.1 "$root/usr/share/man/man1/roofline.1"
    cmp "$first/build/libroofline.a" "$root/usr/lib/libroofline.a"
    [ -x "$root/usr/bin/roofline" ] || echo "the program is not installed"
    if grep -F "$scratch" "$root/usr/lib/pkgconfig/roofline.pc"; then
        echo "roofline.pc names the folder that it was installed from"
    fi

    PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
    PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
    export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_ALLOW_SYSTEM_CFLAGS \
        PKG_CONFIG_ALLOW_SYSTEM_LIBS
    version=$("$root/usr/bin/roofline" --version)
    [ "$version" = "roofline $(${PKG_CONFIG:-pkg-config} --modversion roofline)" ] ||
        echo "roofline.pc has another version than the program"
    cat > "$scratch/user.c" <<'EOF'
#include <roofline/roofline.h>
#include <stdio.h>

int main(void)
{
    struct roof_hardware *device = NULL;
    struct roof_workload work = ROOF_WORKLOAD_INIT;
    struct roof_prediction prediction;
    work.op = ROOF_OPERATOR_GEMV;
    work.shape.n = work.shape.k = 4096;
    if (roof_hardware_load(&device, "gb10", NULL, NULL) != ROOF_OK ||
        roof_predict(&prediction, &work, device, NULL) != ROOF_OK) {
        return 1;
    }
    printf("%.2f us, %s-bound\n", prediction.time_s * 1e6,
           roof_bottleneck_name(prediction.bottleneck));
    roof_hardware_free(device);
    return 0;
}
EOF
    # shellcheck disable=SC2046
    $CC -std=c11 -o "$scratch/user" "$scratch/user.c" \
        $(${PKG_CONFIG:-pkg-config} --cflags --libs roofline)
    answer=$("$scratch/user")
    [ "$answer" = '116.97 us, memory-bound' ] || echo "a program on the library says '$answer'"
}

# --------------------------------------------------------------------------------------------------

notices 9 bad_layers
check 'modules include only earlier ones' layers .
check 'the layers are described as they are' described docs/design.md
notices 2 bad_symbols
check 'the library keeps to its own names' symbols "$LIB"
notices 1 bad_hot
check 'a prediction allocates nothing' hot "$BUILD/src/operator.o" "$BUILD/src/predict.o" \
    "$BUILD/src/transformer.o" "$BUILD/src/inference.o"
notices "$(compilers | grep -c .)" bad_headers
check 'each public header compiles alone' headers include
notices 5 bad_text
check 'no tabs, trailing blanks, loose ends or paths of one machine' all_text
notices 2 bad_manual
check 'the manual and the help have the same options' manual docs/roofline.1
notices 5 bad_formulas
check 'the formulas of all operators are documented' formulas docs/formulas.md
check 'the same bytes are built in any folder' reproducible
check 'what is installed can be used' installed

[ $failures -eq 0 ]
