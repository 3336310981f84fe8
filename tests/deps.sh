#!/bin/sh
# SPDX-License-Identifier: MIT
# .ci/deps with an apt-get that does as it is told: sh tests/deps.sh
# It must fail where something that is needed is not there when it ends, and name it.
set -eu
cd "$(dirname "$0")/.."
LC_ALL=C
export LC_ALL

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

# tool FOLDER NAME: makes a program of what standard input has.
tool() {
    { echo '#!/bin/sh' && cat; } > "$1/$2"
    chmod 755 "$1/$2"
}

# A machine of Debian, whose installed packages are the lines of a file.
debian=$scratch/debian
mkdir "$debian"
tool "$debian" id <<'END'
echo 0
END
tool "$debian" dpkg-query <<'END'
for name; do :; done
grep -qx -e "$name" "$PACKAGES" && printf installed
END
tool "$debian" apt-get <<'END'
echo "$*" >> "$PACKAGES.calls"
case $APT in
breaks) exit 100 ;;
nothing) exit 0 ;;
esac
[ "$1" = install ] || exit 0
shift
for name; do
    case $name in
    -*) ;;
    "${APT#without }") ;;
    *) echo "$name" >> "$PACKAGES" ;;
    esac
done
END

# A machine without apt-get: programs that the script uses, and none of what it is to find.
bare=$scratch/bare
mkdir "$bare"
for name in sh id mktemp grep; do
    ln -s "$(command -v "$name")" "$bare/$name"
done

# run STATUS MESSAGE PATH SET...: one run of the script, whose output has the message.
run() {
    wanted_status=$1 message=$2 path=$3
    shift 3
    status=0
    env -i PATH="$path" PACKAGES="$scratch/packages" APT="$apt" /bin/sh .ci/deps "$@" \
        > "$scratch/log" 2>&1 || status=$?
    if [ "$status" -ne "$wanted_status" ] ||
        { [ -n "$message" ] && ! grep -q -e "$message" "$scratch/log"; }; then
        failures=$((failures + 1))
        echo "FAIL .ci/deps $* ($apt): status $status, not $wanted_status, or no \"$message\""
        sed 's/^/    /' "$scratch/log"
    fi
}

begin() {
    apt=$1
    : > "$scratch/packages"
    rm -f "$scratch/packages.calls"
}

begin all
run 0 'Installing: gcc' "$debian:$PATH" build
echo 'only what nobody needs' > "$scratch/packages.calls"
run 0 '' "$debian:$PATH" build
if grep -q install "$scratch/packages.calls"; then
    failures=$((failures + 1))
    echo 'FAIL packages that were there are installed again'
fi
begin breaks
run 100 '' "$debian:$PATH" build
begin nothing
run 1 'not installed: gcc make' "$debian:$PATH" build
begin 'without libcjson-dev'
run 1 'not installed: libcjson-dev$' "$debian:$PATH" build
run 2 '^usage' "$debian:$PATH" everything

begin none
run 1 'missing: cc make pkg-config libcjson argtable2$' "$bare" build
run 1 'missing: cc .* jq .*clang-tidy' "$bare" lint
for name in cc make pkg-config; do
    tool "$bare" "$name" < /dev/null
done
run 0 '' "$bare" build
tool "$bare" pkg-config <<'END'
[ "$2" != argtable2 ]
END
run 1 'missing: argtable2$' "$bare" build

[ $failures -eq 0 ]
