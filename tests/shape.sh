#!/bin/sh
# SPDX-License-Identifier: MIT
# What of the shape of the code is against its rules, one line each: sh tests/shape.sh RULE [FOLDER]
#
#   upward      a file includes its own folder and earlier ones, in the order of FLOORS of the Makefile
#   circles     no file includes what includes it, by whatever way
#   uses        no object below BUILD=FOLDER needs what needs it, within src/cli or within a floor
#   units       a unit test of a floor uses that floor and earlier ones
#   functions   a function has at most 60 lines
#   files       a file has at most 800, and src/cli 4000 without what serve and monitor need
#   guards      the guard of a header is named after its path
#   questions   what reads a question is called so: all other functions take what was read of it
#   comments    a comment is a sentence: it does not open with words that leave out its subject
#   rungs       `status == ROOF_OK`, where a function could have returned
#
# FOLDER is the tree in which to look, this one when it is not given. tests/ceilings names the
# functions and files that may be longer. Floors are those of the Makefile, then page, cli and calibrate.
# shellcheck disable=SC2016 # the $ of awk and sed
set -eu
LC_ALL=C
export LC_ALL

rule=$1
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-$here/build}" && pwd) || build=
cd "${2:-$here}"
floors=$(sed -n 's/^FLOORS *:= *//p' "$here/Makefile")
floors="$floors page cli calibrate"
ceilings=$here/tests/ceilings

sources() {
    find src include "$@" -name '*.[ch]' | sort
}

# An include of a file that floors and folders know, as "file line-number target" by the path from
# the root; what includes a file of a library says so as "<name".
includes() {
    sources | tr '\n' '\0' | xargs -0 awk '
        /^[ \t]*#[ \t]*include/ {
            what = $0
            sub(/^[^<"]*/, "", what)
            system_wide = what ~ /^</
            what = substr(what, 2)
            sub(/[>"].*/, "", what)
            folder = FILENAME
            sub(/[^\/]*$/, "", folder)
            if (what ~ /^roofline\//) what = "include/" what
            else if (system_wide) what = "<" what
            else what = what ~ /\// ? "src/" what : folder what
            print FILENAME, FNR, what
        }'
}

upward() {
    {
        sources
        includes
    } | awk -v floors="$floors" '
        function say(text) { print $1 ":" $2 ": " text }
        # The folder of a path below src, or of the source file that a public header is named like.
        function floor_of(path,    name) {
            if (path == "include/roofline/roofline.h") return "roofline"
            name = path
            sub(/.*\//, "", name)
            sub(/\.h$/, "", name)
            if (path ~ /^include\//) return home[name]
            split(path, part, "/")
            return part[2]
        }
        BEGIN {
            count = split(floors, names, " ")
            for (i = 1; i <= count; i++) rank[names[i]] = i
            rank["roofline"] = rank["cli"]
            # The floors of the public headers.
            home["error"] = "base"
            home["version"] = "base"
            home["device"] = "catalog"
            home["workload"] = "operator"
            home["predict"] = "predict"
            home["model"] = "decide"
            home["question"] = "decide"
        }
        NF == 1 {
            count = split($1, part, "/")
            files[++n] = $1
            next
        }
        {
            floor = floor_of($1)
            shown = $3
            sub(/^<|^src\/|^include\//, "", shown)
            if ($3 ~ /cJSON/ && $1 !~ /^src\/base\/json(_tree)?\.c$/) say("only json.c and json_tree.c include " shown)
            if ($3 ~ /argtable/ && floor != "cli") say("only src/cli includes " shown)
            if ($3 ~ /^</) next
            target = floor_of($3)
            if ($1 ~ /^include\// && $3 ~ /^src\//)
                say("a public header includes the private " shown)
            else if (!(target in rank))
                say("no floor has " shown)
            else if (rank[target] > rank[floor])
                say(floor " includes " shown " of a later floor")
        }
        END {
            for (i = 1; i <= n; i++)
                if (!(floor_of(files[i]) in rank)) print files[i] ":1: no floor has this file"
        }'
}

# in_circles WHAT: of the edges "from to" those between names that lead back to themselves.
in_circles() {
    sort -u | awk -v what="$1" '
        $1 != $2 { from[++n] = $1; to[n] = $2; alive[n] = 1 }
        END {
            do { # an edge stays while one leads to its start and one leads on from its end
                split("", into)
                split("", out)
                for (i = 1; i <= n; i++) if (alive[i]) { into[to[i]] = 1; out[from[i]] = 1 }
                gone = 0
                for (i = 1; i <= n; i++)
                    if (alive[i] && !((from[i] in into) && (to[i] in out))) { alive[i] = 0; gone++ }
            } while (gone)
            for (i = 1; i <= n; i++) if (alive[i]) print from[i] ": " what " " to[i] ", which leads back"
        }'
}

circles() {
    includes | awk '$3 !~ /^</ { print $1, $3 }' | in_circles includes
}

# Of each object below $BUILD/$1 whose source is still there "object letter symbol", sorted.
symbols() {
    (cd "$build/$1" && find . -name '*.o' | sort) | while read -r object; do
        object=${object#./}
        [ ! -e "$1/${object%.o}.c" ] || echo "$object"
    done | (cd "$build/$1" && tr '\n' '\0' | xargs -0 nm -P -g -A) | awk '
        {
            object = $1
            sub(/\.o:$/, "", object)
            print object, $3, $2
        }'
}

# From object to object within a folder; between folders `upward` says more.
uses() {
    symbols src | awk '
        $2 ~ /^[TDBRVW]$/ { home[$3] = $1 }
        $2 == "U" { user[++n] = $1; symbol[n] = $3 }
        END {
            for (i = 1; i <= n; i++) {
                if (!(symbol[i] in home)) continue
                split(user[i], a, "/")
                split(home[symbol[i]], b, "/")
                if (a[1] == b[1]) print user[i], home[symbol[i]]
            }
        }' | in_circles uses
}

# The Makefile runs unit tests again by this rule; UNIT_ABOVE are the exceptions that it knows.
units() {
    {
        symbols src
        symbols tests/unit | sed 's/^/unit:/'
    } | awk -v floors="$floors" -v above="${UNIT_ABOVE:-}" '
        BEGIN {
            count = split(floors, names, " ")
            for (i = 1; i <= count; i++) rank[names[i]] = i
            count = split(above, names, " ")
            for (i = 1; i <= count; i++) excepted[names[i]] = 1
        }
        { split($1, part, "/") }
        !/^unit:/ { if ($2 ~ /^[TDBRVW]$/ && part[1] != "calibrate") home[$3] = part[1]; next }
        {
            name = substr($1, 6)
            sub(/^unit:/, "", part[1])
            if ($2 == "U" && ($3 in home) && rank[home[$3]] > rank[part[1]] && !(name in excepted))
                print "tests/unit/" name ".c uses " $3 " of the later floor " home[$3]
        }'
}

# Of functions "lines file:line name", the longest first; a brace in the first column closes one.
all_functions() {
    sources | tr '\n' '\0' | xargs -0 awk '
        FNR == 1 { start = 0 }
        /^[A-Za-z].*\(/ && !/;[ \t]*$/ && !/^(typedef|struct|enum|union) *[a-z_]* *[{=]/ && !start {
            start = FNR
            name = $0
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
        }
        /;[ \t]*$/ && start && !inside { start = 0 }
        /^{/ { inside = start > 0 }
        /^}/ {
            if (inside) print FNR - start + 1, FILENAME ":" start, name
            start = inside = 0
        }' | sort -k 1,1nr -k 2,2
}

# excepted RULE: what tests/ceilings lets pass, one a line.
excepted() {
    ! sed -n "s/^except $1 \([^ ]*\) .*/\1/p" "$ceilings" 2> /dev/null | grep .
}

functions() {
    exceptions=$(excepted functions || :)
    all_functions | awk -v exceptions="$exceptions" '
        BEGIN { count = split(exceptions, list, "\n"); for (i = 1; i <= count; i++) allowed[list[i]] = 1 }
        $1 > 60 {
            file = $2
            sub(/:.*/, "", file)
            if (!((file ":" $3) in allowed)) print $2 ": " $3 " has " $1 " lines"
        }'
}

files() {
    exceptions=$(excepted files || :)
    sources | while read -r file; do
        lines=$(wc -l < "$file")
        [ "$lines" -le 800 ] || printf '%s\n' "$exceptions" | grep -q -x -F "$file" ||
            echo "$file: $((lines)) lines"
    done
    program=$(program_lines)
    [ "$program" -le 4000 ] || echo "src/cli: $program lines"
}

# The lines of src/cli without serve (its sockets and threads) and the command that monitor watches.
program_lines() {
    find src/cli -name '*.[ch]' 2> /dev/null | grep -v -E '/(serve|server|connection|job|run)\.[ch]$' | sort |
        tr '\n' '\0' | xargs -0 cat | awk 'END { print NR }'
}

# A header without a guard is a list of rows for a macro of its reader, which undefines it.
guards() {
    sources | grep '\.h$' | tr '\n' '\0' | xargs -0 awk '
        FNR == 1 { seen = 0 }
        /^#ifndef [A-Z0-9_]*_H$/ && !seen {
            seen = 1
            want = toupper(FILENAME)
            if (!sub(/^INCLUDE\//, "", want)) sub(/^SRC\//, "ROOF_", want)
            gsub(/[^A-Z0-9]/, "_", want)
            if ($2 != want) print FILENAME ":" FNR ": " $2 " is not " want
        }'
}

# The openings that have been seen to begin a comment without subject or verb.
comments() {
    sources tests docs | tr '\n' '\0' | xargs -0 awk '
        {
            opening = ""
            if (match($0, /\/\*+[ \t]*[A-Z]|\/\/[ \t]*[A-Z]/) && !previous_line_comment)
                opening = substr($0, RSTART + RLENGTH - 1)
            else if (waiting && match($0, /^[ \t]*\*[ \t]*[A-Z]/))
                opening = substr($0, RLENGTH)
            waiting = /^[ \t]*\/\*+[ \t]*$/
            previous_line_comment = /^[ \t]*\/\//
            if (opening ~ /^(Of|The same|Likewise|Where|All of|What of|What|Whether)([^A-Za-z]|$)/)
                print FILENAME ":" FNR ": " substr(opening, 1, 60)
        }'
}

# An answer fills its typed input once. Whole files that read, or that write a question, are left out.
questions() {
    readers='(question|resolve|read|grid|asking|command|page|measuring|[a-z]*_read)\.c$'
    sources | grep -E '^src/(ask|decide|report|chart)/.*\.c$' | grep -v -E "/$readers" | tr '\n' '\0' |
        xargs -0 awk '
        FNR == 1 { name = "" }
        /^[a-z].*\(/ && !/;[ \t]*$/ {
            name = $0
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
        }
        /question->|roof_asking_has\(|roof_asked\(/ && name !~ /(^|_)(read|check|refuse|ask)(_|$)/ {
            print FILENAME ":" FNR ": " name " looks into a question"
        }'
}

rungs() {
    sources | tr '\n' '\0' | xargs -0 grep -n 'status == ROOF_OK' || :
}

case $rule in
upward | circles | uses | units | functions | all_functions | files | program_lines | guards | questions | comments | rungs) $rule ;;
*)
    echo "usage: sh tests/shape.sh RULE [FOLDER]" >&2
    exit 2
    ;;
esac
