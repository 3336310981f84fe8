#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a tarball with a program that needs nothing but glibc: the other libraries are inside it.
# It loads libraries that measure GPUs when it runs, as every build does.
# usage: sh packaging/portable.sh x86-64|arm64 BUILD   (sh .ci/deps portable installs what it needs)
set -eu
usage() { echo "usage: sh packaging/portable.sh x86-64|arm64 BUILD" >&2; exit 2; }
[ $# -eq 2 ] || usage
machine=$1
build=$2
case $machine in
x86-64)
    triplet=x86_64-linux-gnu
    root=
    run=
    ;;
arm64)
    triplet=aarch64-linux-gnu
    root=$(realpath "$build/arm64") # libraries for this machine; .ci/deps fetches them
    run="qemu-aarch64 -L /usr/$triplet"
    ;;
*) usage ;;
esac
cc=$triplet-gcc
version=$("$build/roofline" --version | cut -d ' ' -f 2)
name=roofline-$version-linux-$machine
out=$build/portable-$machine
static=$root/usr/lib/$triplet

mkdir -p "$out/include/cjson"
cp "$build/cjson/cJSON.h" "$out/include/cjson/"
"$cc" -O2 -fPIE -ffp-contract=off -c -o "$out/cJSON.o" "$build/cjson/cJSON.c"
explorer=$build/page/explorer.html
[ -e "$explorer" ] || { echo "no $explorer: make page writes it" >&2; exit 1; }
make -s all CC="$cc" BUILD="$out" SHARED= EXPLORER="$explorer" CJSON_CFLAGS="-I$out/include" CJSON_LIBS="$out/cJSON.o" \
    ARG_CFLAGS="-I$root/usr/include" ARG_LIBS="$static/libargtable2.a" \
    EVENT_CFLAGS="-DROOF_EVENT -I$root/usr/include -I$root/usr/include/$triplet" \
    EVENT_LIBS="$static/libevent_core.a"

# What the program needs is glibc alone.
needed=$("$triplet-readelf" -d "$out/roofline" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -v -x -e 'libc\.so\.6' -e 'libm\.so\.6' -e 'ld-linux-.*' || true)
[ -z "$needed" ] || { echo "the program of $machine needs $needed" >&2; exit 1; }
glibc=$("$triplet-readelf" -V "$out/roofline" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)

# It answers with the bytes of the build beside it, has the explorer, and can load libraries.
$run "$out/roofline" page -o "$out/explorer.html"
"$build/roofline" page -o "$out/wanted.html"
cmp "$out/wanted.html" "$out/explorer.html"
for question in 'predict model llama-3-8b -H h100-sxm -f json' 'predict gemm -m 64 -n 4096 -k 4096 --why' \
    'recommend model llama-3-8b -H l40s --devices 1 -f csv'; do
    # Word splitting is wanted: the words of the question.
    # shellcheck disable=SC2086
    $run "$out/roofline" $question > "$out/answer"
    # shellcheck disable=SC2086
    "$build/roofline" $question | cmp - "$out/answer"
done
loaded=$($run "$out/roofline" monitor 2>&1 || true)
case $loaded in
*GPU*) ;;
*) echo "monitor of $machine says: $loaded" >&2; exit 1 ;;
esac

rm -rf "${out:?}/$name"
mkdir -p "$out/$name/bin" "$out/$name/share/man/man1" "$out/$name/share/completions" "$out/$name/licenses"
cp "$out/roofline" "$out/$name/bin/"
"$triplet-strip" "$out/$name/bin/roofline"
cp docs/man/*.1 "$out/$name/share/man/man1/"
for shell in bash zsh fish; do
    "$build/roofline" completion "$shell" > "$out/$name/share/completions/roofline.$shell"
done
cp README.md LICENSE CHANGELOG.md "$out/$name/"
cp "$build/cjson/LICENSE" "$out/$name/licenses/cJSON"
cp "$root/usr/share/doc/libargtable2-dev/copyright" "$out/$name/licenses/argtable2"
cp "$root/usr/share/doc/libevent-dev/copyright" "$out/$name/licenses/libevent"
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" -cf - "$name" | gzip -n9 > "$build/$name.tar.gz"
echo "$build/$name.tar.gz ($glibc and later)"
