#!/bin/sh
# SPDX-License-Identifier: MIT
# The tarball of make dist has the same bytes wherever it is made: sh tests/dist.sh FILE.tar.gz
# A clone in another folder makes it a second time, with another umask, time zone, locale and home,
# whose settings of git would change lines, modes and times.
set -eu
tarball=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

umask 077
mkdir "$scratch/home"
printf '%s\n' '[tar]' 'umask = 077' '[core]' 'autocrlf = true' 'eol = crlf' '[safe]' 'directory = *' \
    > "$scratch/home/.gitconfig"
commit=$(git rev-parse HEAD)
git clone -q --no-checkout . "$scratch/another folder"
git -C "$scratch/another folder" checkout -q --detach "$commit"
env -i PATH="$PATH" HOME="$scratch/home" TZ=Pacific/Kiritimati LC_ALL=de_DE.UTF-8 TMPDIR="$scratch" \
    make -s -C "$scratch/another folder" dist BUILD=elsewhere > "$scratch/log" 2>&1 || {
    cat "$scratch/log"
    exit 1
}
if ! cmp "$tarball" "$scratch/another folder/elsewhere/$(basename "$tarball")"; then
    echo "The tarball has other bytes when it is made elsewhere."
    exit 1
fi

# Names, owners, times and modes are those of the commit: none tells who made it, or where.
seconds=$(git log -1 --format=%ct "$commit")
TZ=UTC0 tar --numeric-owner --full-time -tvzf "$tarball" > "$scratch/list"
when=$(date -u -d "@$seconds" '+%Y-%m-%d %H:%M:%S')
if grep -v -e " 0/0 .* $when " "$scratch/list"; then
    echo "These entries have an owner, or another time than $when."
    exit 1
fi
