#!/bin/sh
# SPDX-License-Identifier: MIT
# The images that plot makes through gnuplot: sh tests/cli/images.sh PROGRAM
#
# Of what gnuplot makes, that it is such an image, of that size, with these words; and that nothing
# of a name is run. What the program does when gnuplot is missing or fails needs none.
set -eu

[ $# -eq 1 ] || { echo "usage: sh images.sh PROGRAM" >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/program.sh"
# shellcheck source=tests/cli/steps.sh
. "$(dirname "$0")/steps.sh"

# begins FILE BYTES: in hexadecimal
begins() {
    there=$(od -A n -t x1 -N $((${#2} / 2)) "$1" | tr -d ' \n')
    [ "$there" = "$2" ] || fail "$1 begins with $there instead of $2"
}

# fake TEXT: a gnuplot of our own, first in $PATH, with these lines.
fake() {
    mkdir -p "$scratch/fake"
    printf '#!/bin/sh\n%s\n' "$1" > "$scratch/fake/gnuplot"
    chmod +x "$scratch/fake/gnuplot"
}

without_gnuplot() {
    mkdir -p "$scratch/empty"
    ln -sf "$(command -v sh)" "$scratch/empty/sh"
    # Not under the wrapper, which is not there either.
    run 'no gnuplot' "PATH=$scratch/empty exec '$program' plot -o x.svg"
    refused 4 'gnuplot-nox'
    left
    run 'no gnuplot is needed' "PATH=$scratch/empty exec '$program' plot -o x.gp"
    accepted
    left x.gp

    fake 'cat > /dev/null; echo "line 1: all is wrong" >&2; exit 1'
    run 'gnuplot fails' "PATH=$scratch/fake:\$PATH; roofline plot -o x.png"
    refused 4 'all is wrong'
    left
    fake 'cat > /dev/null'
    run 'gnuplot makes nothing' "PATH=$scratch/fake:\$PATH; roofline plot -f svg"
    refused 4 'it printed no reason'
    fake 'exit 0'
    run 'gnuplot does not read' "PATH=$scratch/fake:\$PATH; roofline plot -f svg"
    refused 4
    fake 'kill -9 $$'
    run 'gnuplot dies' "PATH=$scratch/fake:\$PATH; roofline plot -f svg"
    refused 4

    # shellcheck disable=SC2016
    # What it gets: a script on its standard input, three arguments, and few variables.
    fake 'cat > script; echo "$0 $*" > arguments; env | sed "s/=.*//" | sort > variables; echo image'
    run 'how gnuplot runs' "PATH=$scratch/fake:\$PATH GNUPLOT_LIB=/x GNUTERM=y roofline plot -f svg > out"
    accepted
    roofline plot -f gnuplot > expected 2> /dev/null || fail 'it does not print the script'
    cmp expected script || fail 'the script is another one'
    [ "$(cat out)" = image ] || fail 'the image is another one'
    [ "$(sed 's,.*/,,' arguments 2> /dev/null)" = 'gnuplot --default-settings -' ] || fail "$(cat arguments)"
    ! grep -e GNU -e ROOFLINE variables || fail 'variables of the user'
    # A closed stream is not taken for one of its pipes. (A wrapper would use the stream.)
    if [ -z "${WRAPPER:-}" ]; then
        run 'closed streams' "PATH=$scratch/fake:\$PATH; roofline plot -o x.svg <&- >&- 2>&-"
        accepted
        grep -q '^plot' script || fail 'it does not get the script'
        [ "$(cat x.svg)" = image ] || fail 'its image does not arrive'
    fi
    # More than a pipe holds, both ways at once.
    fake 'head -c 300000 /dev/zero; cat > script; head -c 300000 /dev/zero'
    run 'long scripts' "PATH=$scratch/fake:\$PATH
        roofline plot gemm -m 1:2000 -n 1024,4096 -k 512,4096 -H h100-sxm --expected -f svg --size 10000 | wc -c > size"
    accepted
    [ "$(cat size)" = 600000 ] || fail "$(cat size) bytes instead of 600000"
    size=$(find script -size +100k 2> /dev/null)
    [ -n "$size" ] || fail 'the script is too short to tell'
}

# The scripts in docs/charts are those that the program writes now.
documented() {
    documents=$(dirname "$self")/../../docs
    run 'the charts of the documentation' "mkdir charts; sh '$documents/charts.sh' roofline charts scripts"
    accepted
    count=0
    for chart in charts/*.gp; do
        count=$((count + 1))
        cmp -s "$chart" "$documents/$chart" || fail "docs/$chart is not current: make charts"
    done
    [ $count -ge 3 ] || fail "only $count charts"
}

# A chart of text is as wide as the terminal, if it has one, and has colours where it has them.
terminal() {
    if ! script --version 2> /dev/null | grep -q util-linux; then
        skipped=$((skipped + 1))
        return
    fi
    for columns in 70 140; do
        run "a terminal of $columns columns" \
            "script -qefc 'stty cols $columns; NO_COLOR=1 roofline plot' typed < /dev/null > /dev/null"
        accepted
        widest=$(tr -d '\r' < typed | awk '/TFLOPS/ && length > most { most = length } END { print most }')
        [ "$widest" = $columns ] || fail "the chart has $widest columns"
    done
    for setting in 'TERM=xterm' 'TERM=dumb' 'TERM=xterm NO_COLOR=1'; do
        run "a terminal with $setting" \
            "script -qefc 'unset NO_COLOR; $setting roofline plot -H h100-sxm,l40s' typed < /dev/null > /dev/null"
        accepted
        colours=$(grep -c "$(printf '\033\\[38;5;')" typed || :)
        case $setting:$colours in
        TERM=xterm:0 | TERM=dumb:[1-9]* | *NO_COLOR*:[1-9]*) fail "$colours lines have colours" ;;
        esac
    done
}

with_gnuplot() {
    for format in svg png pdf; do
        run "an image: $format" "roofline plot model llama-3-8b -H h100-sxm --phase decode,prefill -o x.$format"
        accepted
        left "x.$format"
        run "the same: $format" "roofline plot -f $format --size 800x600 > x"
        accepted
        case $format in
        svg)
            begins x 3c3f786d6c
            grep -q 'width="800" height="600"' x || fail 'its size'
            ;;
        png) begins x 89504e470d0a1a0a0000000d4948445200000320 ;;
        pdf)
            begins x 255044462d
            [ "$(grep -a -c '/Title <FEFF[0-9A-F]*>' x)" -eq 1 ] || fail 'it has no title'
            ;;
        esac
    done
    run 'a full disk' 'roofline plot -f png > /dev/full'
    [ ! -c /dev/full ] || refused 4
    title="';system('touch bad')\`touch bad\`<a&\"b"
    printf 'name,group,operator,m,n,k\n"%s","%s",gemm,1,64,64\n' "$(echo "$title" | sed 's/"/""/g')" \
        "'; set output 'bad'" > "$scratch/names.csv"
    title=$title run 'a name is only a name' \
        "roofline plot --from $scratch/names.csv --title \"\$title\" --line \"\$title=1TFLOPS\" -o x.svg"
    accepted
    left x.svg
    [ "$(grep -c -F "';system('touch bad')\`touch bad\`&lt;a" x.svg)" -eq 5 ] ||
        fail "the names are not in the image: $(grep 'touch bad' x.svg)"
    if command -v python3 > /dev/null; then
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("x.svg")' || fail 'it is no XML'
    fi
}

images() {
    without_gnuplot
    documented
    terminal
    if command -v gnuplot > /dev/null; then
        with_gnuplot
    else
        skipped=$((skipped + 1))
        echo 'gnuplot is not installed: no images are made'
    fi
}

[ "${SELF_TEST:-}" = no ] || self_test
images
report images
