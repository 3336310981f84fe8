# shellcheck shell=sh
# shellcheck disable=SC2154,SC2164
# SPDX-License-Identifier: MIT
# After program.sh, for scripts that run single commands and look at what each says and leaves.

case $0 in
/*) self=$0 ;;
*) self=$PWD/$0 ;;
esac

mkdir "$scratch/home"
PATH=$scratch/bin:$PATH HOME=$scratch/home XDG_DATA_HOME='' ROOFLINE_DATA=''
export PATH HOME XDG_DATA_HOME ROOFLINE_DATA
cd "$scratch/home"

checks=0
failures=0
skipped=0
err=$scratch/err

# fail WHAT HAPPENED
fail() {
    failures=$((failures + 1))
    echo "FAIL $name: $*"
    [ ! -s "$err" ] || sed -n '1,12s/^/    /p' "$err"
}

# run NAME COMMAND: the command by sh in an empty folder; its exit code in $code, its complaints in
# $err.
run() {
    rm -rf "${scratch:?}/home"
    mkdir "$scratch/home"
    cd "$scratch/home"
    again "$@"
}

# again NAME COMMAND: the same in the folder as it was left. With COUNTED set clang counts lines, which it
# complains about where files are limited.
again() {
    name=$1
    code=0
    checks=$((checks + 1))
    sh -c "$2" 2> "$err" < /dev/null || code=$?
    [ -z "${COUNTED:-}" ] || sed -i '/^LLVM Profile Error: Failed to write file/d' "$err"
}

# The command ended with code $1 and one line that says so.
refused() {
    if [ "$code" -ne "$1" ]; then
        fail "exit code $code instead of $1"
    elif [ "$(wc -l < "$err")" -ne 1 ] || ! grep -q '^roofline[ a-z]*: .' "$err"; then
        fail "no single line on standard error"
    elif [ -n "${2:-}" ] && ! grep -q -e "$2" "$err"; then
        fail "standard error does not name $2"
    fi
}

# The command succeeded in silence.
accepted() {
    if [ "$code" -ne 0 ] || [ -s "$err" ]; then
        fail "exit code $code"
    fi
}

# The folder holds these names, sorted, and no others.
left() {
    there=$(find . ! -name . | sed 's,^\./,,' | sort | xargs)
    [ "$there" = "$*" ] || fail "left '$there' instead of '$*'"
}

# The checks must fail on a program that ignores every failure, and on one that only fails.
self_test() {
    cat > "$scratch/careless" <<'END'
#!/bin/sh
for last; do :; done
[ ! -p "$last" ] || echo result > "$last" # the reader waits
echo result 2> /dev/null
exit 0
END
    printf '#!/bin/sh\necho "roofline: no" >&2\nexit 4\n' > "$scratch/refusing"
    chmod +x "$scratch/careless" "$scratch/refusing"
    for fake in careless refusing; do
        status=0
        SELF_TEST=no WRAPPER='' sh "$self" "$scratch/$fake" > "$scratch/$fake.log" 2>&1 ||
            status=$?
        failed=$(grep -c '^FAIL' "$scratch/$fake.log") || :
        if [ $status -ne 1 ] || [ "$failed" -lt 5 ]; then
            cat "$scratch/$fake.log"
            echo "$self does not notice a $fake program" >&2
            exit 1
        fi
    done
}

# report WHAT: the end of such a script.
report() {
    echo "$checks $1, $failures failed, $skipped not possible here"
    [ "$failures" -eq 0 ]
}
