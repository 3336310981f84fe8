#!/bin/sh
# SPDX-License-Identifier: MIT
# The service over HTTP: sh tests/cli/serve.sh PROGRAM
#
# serve.py starts it on free ports and asks: answers against those of the command line, requests that
# are wrong, slow, too large or of two meanings, many connections, signals.
set -eu

[ $# -eq 1 ] || { echo "usage: sh serve.sh PROGRAM" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/program.sh
. "$here/program.sh"
# shellcheck source=tests/cli/steps.sh
. "$here/steps.sh"

if ! command -v python3 > "$scratch/found"; then
    echo 'skipped: no python3'
    exit 0
fi
if roofline serve --listen 127.0.0.1:none 2>&1 | grep -q 'without libevent'; then
    echo 'skipped: the program was built without libevent'
    exit 0
fi
# The program loads libevent when it serves: a file that is no library, and one of another library.
libevent=$(grep -a -o 'libevent_core-[0-9.]*so[0-9.]*' "$program" | head -n 1)
if [ -n "$libevent" ]; then
    mkdir "$scratch/broken" "$scratch/other"
    : > "$scratch/broken/$libevent"
    cp "$fakes/nvidia/libnvidia-ml.so.1" "$scratch/other/$libevent"
    run 'a broken libevent' "LD_LIBRARY_PATH='$scratch/broken' roofline serve"
    refused 4 "^roofline serve: cannot load $libevent (libevent): "
    run 'another libevent' "LD_LIBRARY_PATH='$scratch/other' roofline serve"
    refused 4 "^roofline serve: $libevent has no function event_base_new: install another version$"
    [ $failures -eq 0 ]
fi
# A sanitizer keeps what was freed; it shall not look like growth.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1:thread_local_quarantine_size_kb=64
export ASAN_OPTIONS
python3 -B "$here/serve.py" "$scratch/bin/roofline" "$fakes"
