#!/bin/sh
# SPDX-License-Identifier: MIT
# Text for people is at most 100 columns wide: sh tests/cli/widths.sh PROGRAM
#
# It runs the examples of the documentation (docs.sh), the list of each thing that is known, and the
# help of all commands, and looks at all that they print, before any filter. Output for programs may
# be wider, and so may what an option asks for: --wide, --columns, --size. A command that is to be
# copied stays in one line, so does a message with its file and line, and a word without a blank,
# such as an address, is not broken.
set -eu
[ $# -eq 1 ] || { echo "usage: sh widths.sh PROGRAM" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/program.sh
. "$here/program.sh"

# Prints the lines of a text that are too wide, behind the command of the variable.
# shellcheck disable=SC2016
judge='
    {
        text = $0
        gsub(/\033\[[0-9;]*m/, "", text)
        gsub(/[\200-\277]/, "", text) # of a character only its first byte counts
        words = text
        sub(/^ +/, "", words)
        if (length(text) > 100 && words ~ / / && words !~ /^(roofline|docker|kubectl) / && words !~ /^[^ ]+:[0-9]+:/)
            printf "%d columns: %s: %s\n", length(text), command, substr(text, 1, 200)
    }'

# The program as the examples find it: it prints what the program prints, and looks at it.
cat > "$scratch/roofline" <<END
#!/bin/sh
case "\$1 " in
'serve ' | 'monitor ' | 'completion ' | 'page ') exec "$program" "\$@" ;;
esac
for word; do
    case \$word in
    -f* | --format* | --emit* | --wide | --columns* | --size*) exec "$program" "\$@" ;;
    esac
done
text="$scratch/text.\$\$"
status=0
"$program" "\$@" > "\$text" || status=\$?
awk -v command="roofline \$*" '$(printf '%s' "$judge" | sed "s/'/'\\\\''/g")' "\$text" >> "$scratch/wide"
cat "\$text"
rm -f "\$text"
exit \$status
END
chmod +x "$scratch/roofline"
: > "$scratch/wide"

self_test() {
    [ -z "$(printf '%0100d x\n' 0 | cut -c 3- | awk -v command=x "$judge")" ]
    [ -n "$(printf '%0100d x\n' 0 | awk -v command=x "$judge")" ]
    [ -z "$(printf '  %0100d\n' 0 | awk -v command=x "$judge")" ]
}
self_test || { echo "widths.sh does not see what is too wide" >&2; exit 1; }

SELF_TEST=no EXAMPLES=any sh "$here/docs.sh" "$scratch/roofline" "$here/../../README.md" "$here"/../../docs/*.md \
    > "$scratch/examples" || :
commands=$(sed -n 's/^\([0-9]*\) commands in.*/\1/p' "$scratch/examples")
[ "${commands:-0}" -gt 0 ] || { cat "$scratch/examples"; exit 1; }
for what in hardware models operators precisions layouts engines; do
    "$scratch/roofline" list $what > "$scratch/list"
    for id in $("$program" list $what -f csv | sed '1d; s/,.*//'); do
        "$scratch/roofline" list $what "$id" > "$scratch/list"
        commands=$((commands + 1))
    done
done

"$scratch/roofline" help > "$scratch/list"
for command in $("$program" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    for of in "" model all gemm; do
        # shellcheck disable=SC2086 # no word, or one
        "$scratch/roofline" help "$command" $of > "$scratch/list" 2> "$scratch/errors" || :
        commands=$((commands + 1))
    done
done

sort -u "$scratch/wide" > "$scratch/sorted"
cat "$scratch/sorted"
echo "$commands commands, $(wc -l < "$scratch/sorted") lines of more than 100 columns"
[ ! -s "$scratch/sorted" ]
