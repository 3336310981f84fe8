#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes a new version wherever the version stands, in the working tree of a folder:
#
#   sh packaging/version.sh VERSION [FOLDER]    such as 1.0.0
#   sh packaging/version.sh --check [FOLDER]    prints each place that has another version
#
# It dates the section "## Unreleased" of CHANGELOG.md, which the first change after a release adds,
# and the Debian changelog: today, or $SOURCE_DATE_EPOCH. Golden files have the version, too: make bless reports writes them afterwards.
set -eu
LC_ALL=C
export LC_ALL
usage() { echo "usage: sh packaging/version.sh VERSION|--check [FOLDER]" >&2; exit 2; }
case $# in
1 | 2) ;;
*) usage ;;
esac
cd "${2:-$(dirname "$0")/..}"

header=include/roofline/version.h
number() { sed -n "s/^#define ROOF_VERSION_$1 //p" $header; }
old=$(number MAJOR).$(number MINOR).$(number PATCH)
old_major=$(number MAJOR)

# Lines "file<tab>expression": the expression matches where the file has VERSION or MAJOR.
places() {
    cat <<'END'
debian/changelog	^roofline (VERSION) 
debian/control	^Package: librooflineMAJOR$
debian/control	 librooflineMAJOR (= \${binary:Version})
packaging/roofline.rb	/roofline-VERSION\.tar\.gz
docs/releasing.md	git tag -s vVERSION 
docs/releasing.md	git verify-tag vVERSION 
docs/releasing.md	build/roofline-VERSION\.tar\.gz
docs/example.py	libroofline\.so\.MAJOR"
CONTRIBUTING.md	build/libroofline\.so\.MAJOR 
END
}

if [ "$1" = --check ]; then
    places | while IFS='	' read -r file expression; do
        wanted=$(printf '%s\n' "$expression" | sed "s/VERSION/$old/; s/MAJOR/$old_major/")
        grep -q -e "$wanted" "$file" || echo "$file has no '$wanted', which version $old needs"
    done
    [ -e "debian/libroofline$old_major.install" ] || echo "there is no debian/libroofline$old_major.install"
    exit 0
fi

new=$1
echo "$new" | grep -q -x '[0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*' || usage
major=${new%%.*}
rest=${new#*.}
when=${SOURCE_DATE_EPOCH:-$(date +%s)}

# edit FILE SED-COMMANDS
edit() {
    sed "$2" "$1" > "$1.new"
    cat "$1.new" > "$1"
    rm "$1.new"
}
edit $header "s/^\(#define ROOF_VERSION_MAJOR \).*/\1$major/
    s/^\(#define ROOF_VERSION_MINOR \).*/\1${rest%.*}/
    s/^\(#define ROOF_VERSION_PATCH \).*/\1${rest#*.}/"
dotted=$(echo "$old" | sed 's/\./\\./g')
for file in packaging/roofline.rb docs/releasing.md; do
    edit $file "s/\([-v]\)$dotted/\1$new/g"
done
edit docs/example.py "s/libroofline\.so\.$old_major\"/libroofline.so.$major\"/"
edit CONTRIBUTING.md "s/libroofline\.so\.$old_major /libroofline.so.$major /"
edit debian/control "s/libroofline$old_major\( \|\$\)/libroofline$major\1/"
[ "$major" = "$old_major" ] || mv "debian/libroofline$old_major.install" "debian/libroofline$major.install"
{
    printf 'roofline (%s) unstable; urgency=medium\n\n' "$new"
    printf '  * CHANGELOG.md has what changed.\n\n'
    printf ' -- The roofline authors <roofline@packages.debian.org>  %s\n\n' "$(date -u -R -d "@$when")"
    cat debian/changelog
} > debian/changelog.new
cat debian/changelog.new > debian/changelog
rm debian/changelog.new
edit CHANGELOG.md "s/^## Unreleased\$/## $new - $(date -u +%Y-%m-%d -d "@$when")/"
sh "$(pwd)/packaging/version.sh" --check "$(pwd)"
