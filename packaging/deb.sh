#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian packages of a source tarball and has lintian check them.
# usage: sh packaging/deb.sh TARBALL FOLDER
set -eu
[ $# -eq 2 ] || { echo "usage: sh packaging/deb.sh TARBALL FOLDER" >&2; exit 2; }
tarball=$(realpath "$1")
version=$(basename "$tarball" .tar.gz | sed 's/^roofline-//')

rm -rf "$2"
mkdir -p "$2"
cd "$2"
tar xzf "$tarball"
cd "roofline-$version"
packaged=$(dpkg-parsechangelog -S Version)
[ "$packaged" = "$version" ] || {
    echo "debian/changelog has version $packaged, include/roofline/version.h has $version" >&2
    exit 1
}
dpkg-buildpackage -us -uc > ../build.log 2>&1 || { tail -n 40 ../build.log >&2; exit 1; }
cd ..
lintian --fail-on error,warning --info "roofline_$packaged"_*.changes

# The program of the packages runs with the library of the packages.
for package in *.deb; do
    dpkg-deb -x "$package" root
done
root/usr/bin/roofline --version | grep -qx "roofline $version"
for file in usr/share/man/man1/roofline-predict.1.gz usr/include/roofline/roofline.h; do
    [ -e "root/$file" ] || { echo "no package has /$file" >&2; exit 1; }
done
ls -- *.deb
