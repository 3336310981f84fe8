#!/bin/sh
# SPDX-License-Identifier: MIT
# Counts configs of published models that are predicted, or refused for a reason that holds:
# sh tests/configs.sh PROGRAM [write]
#
# They are those of data/models and of tests/configs.json. There each has its repository as `source`, and either the
# reason for which it is `refused`, or the published number of `parameters`, which may be off by 0.5%, if it is known.
# Parts that are published but not counted have `more` parameters, and the source names them.
# The count and the reasons stand in docs/coverage.md: it fails where that page has others, and with write it puts
# them there.
set -eu
LC_ALL=C
export LC_ALL
here=$(dirname "$0")
program=$1
page=$here/../docs/coverage.md
first='<!-- tests/configs.sh writes what follows -->'
last='<!-- the end of what tests/configs.sh writes -->'
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
predicted=0
refused=0
failed=0

bad() {
    echo "FAIL $1: $2"
    failed=$((failed + 1))
}

# Predicts a decode step of a model; what is printed is not looked at.
predict() {
    "$program" predict model "$1" -H h200-sxm -f json > /dev/null 2> "$dir/err"
}

# Tells whether the parameters of a file, and so many more, are those that were published.
has_parameters() {
    "$program" list models "$dir/config.json" -f json 2> /dev/null |
        jq -e --argjson published "$1" --argjson more "$2" \
            '((.parameters + $more) / $published - 1 | fabs) <= 0.005' > /dev/null
}

# Tells whether a key that no class has is named, in a note or a refusal, wherever it stands in config.json.
names_unknown() {
    for place in '.' '.text_config' '.llm_config' '.language_config'; do
        jq -e "($place | type) == \"object\"" "$dir/config.json" > /dev/null 2>&1 || continue
        for key in mystery mystery_attention_heads; do
            jq "($place)[\"$key\"] = 7" "$dir/config.json" > "$dir/unknown.json"
            if "$program" predict model "$dir/unknown.json" -H h200-sxm > "$dir/out" 2>&1; then
                tr '\n' ' ' < "$dir/out" | grep -q "ignored unknown keys:[^.]*$key" || return 1
            else
                grep -q "$key" "$dir/out" || return 1
            fi
        done
    done
}

for id in $("$program" list models -f csv --columns id | sed 1d); do
    if predict "$id"; then predicted=$((predicted + 1)); else bad "$id" "$(cat "$dir/err")"; fi
done

count=$(jq length "$here/configs.json")
echo '| refused | why |' > "$dir/reasons"
echo '|---|---|' >> "$dir/reasons"
i=0
while [ "$i" -lt "$count" ]; do
    jq ".[$i].config" "$here/configs.json" > "$dir/config.json"
    name=$(jq -r ".[$i].name" "$here/configs.json")
    reason=$(jq -r ".[$i].refused // empty" "$here/configs.json")
    parameters=$(jq -r ".[$i].parameters // empty" "$here/configs.json")
    more=$(jq -r ".[$i].more // 0" "$here/configs.json")
    i=$((i + 1))
    if predict "$dir/config.json"; then
        if [ -n "$reason" ]; then
            bad "$name" 'is not refused'
        elif [ -n "$parameters" ] && ! has_parameters "$parameters" "$more"; then
            bad "$name" "has other parameters than the published $parameters"
        elif ! names_unknown; then
            bad "$name" 'is predicted without a word of a key that is not known'
        else
            predicted=$((predicted + 1))
        fi
    elif [ -n "$reason" ] && grep -qF -- "$reason" "$dir/err"; then
        refused=$((refused + 1))
        echo "| $name | $reason |" >> "$dir/reasons"
    else
        bad "$name" "$(cat "$dir/err")"
    fi
done

{
    echo "$((predicted + refused)) configs of published models: $predicted are predicted, and $refused are refused for these reasons:"
    echo
    cat "$dir/reasons"
} > "$dir/part"
awk -v first="$first" -v last="$last" -v part="$dir/part" '
    $0 == last { inside = 0 }
    !inside { print }
    $0 == first {
        inside = 1
        while ((getline line < part) > 0) print line
    }' "$page" > "$dir/page"
if [ "${2-}" = write ]; then
    cat "$dir/page" > "$page"
elif ! cmp -s "$dir/page" "$page"; then
    bad docs/coverage.md 'has another count; sh tests/configs.sh PROGRAM write puts it there'
fi
echo "$((predicted + refused)) configs of published models: $predicted predicted, $refused refused, $failed wrong"
[ "$failed" -eq 0 ]
