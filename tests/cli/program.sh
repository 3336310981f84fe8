# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# The beginning of the scripts beside it, whose first argument is the program: sets $program to its
# full name and $scratch to a new folder, which is removed at the end; $scratch/bin/roofline is the
# program, under $WRAPPER when that is set (valgrind with its options).
LC_ALL=C
export LC_ALL

case $1 in
/*) program=$1 ;;
*) program=$PWD/$1 ;;
esac
# shellcheck disable=SC2034 # run.sh uses it
fakes=$(dirname "$program")/tests/fake

scratch=${TMPDIR:-/tmp}/roofline-$(basename "$0" .sh).$$
rm -rf "$scratch" # of a run with this number that was killed
(umask 077 && mkdir "$scratch")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$scratch/bin"
if [ -n "${WRAPPER:-}" ]; then
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$WRAPPER" "$program" > "$scratch/bin/roofline"
    chmod +x "$scratch/bin/roofline"
else
    ln -s "$program" "$scratch/bin/roofline"
fi
