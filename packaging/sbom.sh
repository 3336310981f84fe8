#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes what a program is made of, as SPDX 2.3 in JSON: sh packaging/sbom.sh PROGRAM VERSION
# The libraries are those that the program asks the dynamic loader for at its start and for serve,
# with the versions that pkg-config names; a library without a line in the table below is an error, so that none is missed.
# The date is $SOURCE_DATE_EPOCH or that of the last commit: the same build gives the same bytes.
set -eu
program=$1
version=$2
pkg_config=${PKG_CONFIG:-pkg-config}
LC_ALL=C
export LC_ALL

# Prints soname, name, module of pkg-config, licence and home of each library that may be linked.
libraries() {
    echo 'libcjson.so cJSON libcjson MIT https://github.com/DaveGamble/cJSON'
    echo 'libargtable2.so argtable2 argtable2 LGPL-2.0-or-later http://argtable.sourceforge.net/'
    echo 'libevent_core- libevent libevent_core BSD-3-Clause https://libevent.org/'
    echo 'libc.so glibc - LGPL-2.1-or-later https://www.gnu.org/software/libc/'
}

needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
serves=$(LC_ALL=C grep -a -o -m 1 'libevent_core-[0-9.]*so[0-9.]*' "$program" | head -n 1) || :
linked=''
for soname in $needed $serves; do
    case $soname in
    libm.so.* | libpthread.so.* | libdl.so.* | ld-linux*) continue ;; # parts of glibc
    esac
    line=$(libraries | while read -r prefix rest; do
        case $soname in
        "$prefix"*) echo "$rest" ;;
        esac
    done)
    [ -n "$line" ] || {
        echo "packaging/sbom.sh has no line for $soname, which $program is linked with" >&2
        exit 1
    }
    # Word splitting is wanted: the columns of the table.
    # shellcheck disable=SC2086
    set -- $line
    if [ "$2" = - ]; then
        found=$(getconf GNU_LIBC_VERSION)
        found=${found#glibc }
    else
        found=$("$pkg_config" --modversion "$2")
    fi
    linked="$linked$1 $found $3 $4
"
done

date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" +%Y-%m-%dT%H:%M:%SZ)
sum=$(sha256sum < "$program" | cut -d ' ' -f 1)
notice=$(sed -n 's/^ \* \(.*\)/\1/p' src/base/exponential.c | sed -n '/^Copyright/,/preserved\.$/p')

printf '%s' "$linked" | jq -R -s --arg version "$version" --arg date "$date" --arg sum "$sum" \
    --arg notice "$notice" '
def package(id; name; version; license; home): {
    SPDXID: ("SPDXRef-" + id), name: name, versionInfo: version, downloadLocation: home,
    filesAnalyzed: false, licenseConcluded: license, licenseDeclared: license,
    copyrightText: "NOASSERTION", supplier: "NOASSERTION"};
def relation(from; type; to): {
    spdxElementId: from, relationshipType: type, relatedSpdxElement: to};
[split("\n")[] | select(. != "") | split(" ") | package(.[0]; .[0]; .[1]; .[2]; .[3])] as $linked |
{
    spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT",
    name: ("roofline-" + $version),
    documentNamespace: ("https://roofline.example/spdx/roofline-" + $version + "-" + $sum),
    creationInfo: {created: $date, creators: ["Tool: roofline-packaging-sbom"]},
    documentDescribes: ["SPDXRef-roofline"],
    packages: ([package("roofline"; "roofline"; $version; "MIT AND LicenseRef-SunPro"; "NOASSERTION") +
        {primaryPackagePurpose: "APPLICATION", checksums: [{algorithm: "SHA256", checksumValue: $sum}]},
        package("msun"; "FreeBSD msun: s_expm1.c, s_log1p.c"; "NOASSERTION"; "LicenseRef-SunPro";
            "https://cgit.freebsd.org/src/tree/lib/msun/src")] + $linked),
    relationships: ([relation("SPDXRef-DOCUMENT"; "DESCRIBES"; "SPDXRef-roofline"),
        relation("SPDXRef-roofline"; "CONTAINS"; "SPDXRef-msun")] +
        [$linked[] | relation("SPDXRef-roofline"; "DYNAMIC_LINK"; .SPDXID)]),
    hasExtractedLicensingInfos: [
        {licenseId: "LicenseRef-SunPro", name: "Notice of SunPro", extractedText: $notice}]
}'
