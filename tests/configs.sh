#!/bin/sh
# SPDX-License-Identifier: MIT
# Counts configs of published models that are predicted, or refused for a reason that holds:
# sh tests/configs.sh PROGRAM [write|list]
#
# They are those of data/models, of tests/configs.json and of tests/configs_published.json. In the two files each has
# its `source`, and either the reason for which it is `refused`, or the published number of `parameters`, which may be
# off by 0.5%, if it is known, and the published billions of active ones (`active`), rounded. Parts that are published
# but not counted have `more` parameters, and the source names them. In tests/configs_published.json the source is
# repository@commit and a path, and each config has all members of that file (of the first JSON block of a page in
# Markdown), except the one that `without` names (a long list of modules); 1e999 stands for Infinity, which jq cannot
# read.
# The counts and the reasons stand in docs/coverage.md: the test fails where that page has others, and with write it
# puts them there. With list it prints each config with its source and its outcome.
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
mode=${2-}

bad() {
    echo "FAIL $1: $2"
    failed=$((failed + 1))
}

# Counts a config and lists it: NAME SOURCE [REASON].
good() {
    if [ -z "${3-}" ]; then predicted=$((predicted + 1)); else refused=$((refused + 1)); fi
    if [ "$mode" = list ]; then printf '%s\t%s\t%s\n' "$1" "$2" "${3:+refused: }${3:-predicted}"; fi
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

# Tells whether the active parameters of a file, in whole billions, are those that were published.
has_active() {
    "$program" list models "$dir/config.json" -f json 2> /dev/null |
        jq -e --argjson published "$1" '(.active_parameters / 1e9 | round) == $published' > /dev/null
}

# Tells whether a key that no class has is named, in a note or a refusal, wherever it stands in config.json.
names_unknown() {
    jq -rc '. as $config
        | (["text_config"], ["llm_config"], ["language_config"], []) as $place
        | select(getpath($place) | type == "object")
        | ("mystery", "mystery_attention_heads") as $key
        | $key, ($config | setpath($place + [$key]; 7))' "$dir/config.json" > "$dir/unknown"
    while read -r key && read -r config; do
        printf '%s\n' "$config" > "$dir/unknown.json"
        if "$program" predict model "$dir/unknown.json" -H h200-sxm > "$dir/out" 2>&1; then
            tr '\n' ' ' < "$dir/out" | grep -q "ignored unknown keys:[^.]*$key" || return 1
        else
            grep -q "$key" "$dir/out" || return 1
        fi
    done < "$dir/unknown"
}

# Judges the configs of a file of this folder. Its members come in lines: `|` stands between those of a row.
judge() {
    jq -rc '.[] | ([.name, .source, .refused, .parameters, .active, .more // 0] | map(. // "" | tostring) | join("|")),
        .config' "$here/$1" > "$dir/rows"
    while IFS='|' read -r name source reason parameters active more && read -r config; do
        printf '%s\n' "$config" > "$dir/config.json"
        if predict "$dir/config.json"; then
            if [ -n "$reason" ]; then
                bad "$name" 'is not refused'
            elif [ -n "$parameters" ] && ! has_parameters "$parameters" "$more"; then
                bad "$name" "has other parameters than the published $parameters"
            elif [ -n "$active" ] && ! has_active "$active"; then
                bad "$name" "has other active parameters than the published $active billion"
            elif ! names_unknown; then
                bad "$name" 'is predicted without a word of a key that is not known'
            else
                good "$name" "$source"
            fi
        elif [ -n "$reason" ] && grep -qF -- "$reason" "$dir/err"; then
            good "$name" "$source" "$reason"
            echo "| $name | $reason |" >> "$dir/reasons"
        else
            bad "$name" "$(cat "$dir/err")"
        fi
    done < "$dir/rows"
}

for id in $("$program" list models -f csv --columns id | sed 1d); do
    jq 'del(.roofline)' "$here/../data/models/$id.json" > "$dir/config.json"
    if ! predict "$id"; then
        bad "$id" "$(cat "$dir/err")"
    elif ! names_unknown; then
        bad "$id" 'is predicted without a word of a key that is not known'
    else
        good "$id" "data/models/$id.json"
    fi
done

echo '| refused | why |' > "$dir/reasons"
echo '|---|---|' >> "$dir/reasons"
judge configs.json
others_predicted=$predicted
others_refused=$refused
judge configs_published.json

{
    echo "$((predicted + refused)) configs of published models: $predicted are predicted, and $refused are refused for the reasons below." \
        "The $((predicted - others_predicted + refused - others_refused)) configs of tests/configs_published.json are as" \
        "published: $((predicted - others_predicted)) are predicted, and $((refused - others_refused)) are refused."
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
if [ "$mode" = write ]; then
    cat "$dir/page" > "$page"
elif ! cmp -s "$dir/page" "$page"; then
    bad docs/coverage.md 'has another count; sh tests/configs.sh PROGRAM write puts it there'
fi
echo "$((predicted + refused)) configs of published models: $predicted predicted, $refused refused, $failed wrong"
[ "$failed" -eq 0 ]
