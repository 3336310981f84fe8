#!/bin/sh
# SPDX-License-Identifier: MIT
# The list of what the program is made of (packaging/sbom.sh): sh tests/sbom.sh PROGRAM VERSION
# The fields are those that SPDX 2.3 requires of a document, a package and a relationship.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

fail() {
    failures=$((failures + 1))
    echo "FAIL $*"
}

# true_of FILE WORDS FILTER: what the filter of jq says of the document.
true_of() {
    jq -e "$3" "$1" > "$scratch/said" || fail "$2"
}

# Checks a document by the rules of SPDX 2.3.
valid() {
    true_of "$1" 'the document has its fields' '
        .spdxVersion == "SPDX-2.3" and .dataLicense == "CC0-1.0" and .SPDXID == "SPDXRef-DOCUMENT" and
        (.name | length > 0) and (.documentNamespace | test("^https://[^#]+$")) and
        (.creationInfo.created | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")) and
        (.creationInfo.creators | length > 0 and all(test("^(Tool|Person|Organization): ")))'
    true_of "$1" 'each package has its fields, and an identifier of its own' '
        (.packages | length > 0) and ([.packages[].SPDXID] | length == (unique | length)) and
        (.packages | all((.SPDXID | test("^SPDXRef-[A-Za-z0-9.-]+$")) and (.name | length > 0) and
            (.versionInfo | length > 0) and (.downloadLocation | test("^(NOASSERTION|https?://.+)$")) and
            .filesAnalyzed == false and (.licenseDeclared | length > 0)))'
    # shellcheck disable=SC2016
    true_of "$1" 'relationships are between what the document has' '
        ([.packages[].SPDXID] + ["SPDXRef-DOCUMENT"]) as $known |
        (.relationships | length > 0 and
            all([.spdxElementId, .relatedSpdxElement] - $known == [] and
                (.relationshipType | IN("DESCRIBES", "CONTAINS", "DYNAMIC_LINK")))) and
        any(.relationships[]; .relationshipType == "DESCRIBES")'
    true_of "$1" 'each licence of its own has its text' '
        [.packages[].licenseDeclared | scan("LicenseRef-[A-Za-z0-9.-]+")] - [.hasExtractedLicensingInfos[] |
            select(.extractedText | test("Copyright.*preserved"; "m") ) | .licenseId] == []'
}

export SOURCE_DATE_EPOCH=1700000000
sh packaging/sbom.sh "$1" "$2" > "$scratch/first"
TZ=Pacific/Kiritimati sh packaging/sbom.sh "$1" "$2" > "$scratch/second"
cmp "$scratch/first" "$scratch/second" || fail 'the same program gives the same bytes'
valid "$scratch/first"
true_of "$scratch/first" 'the date is the one that was given' '.creationInfo.created == "2023-11-14T22:13:20Z"'
for library in cJSON:libcjson argtable2:argtable2; do
    true_of "$scratch/first" "$library has the version of pkg-config" "any(.packages[];
        .name == \"${library%:*}\" and .versionInfo == \"$(pkg-config --modversion "${library#*:}")\")"
done

# The rules notice what is missing: each of these documents is wrong.
seen=$failures
bad=0
for change in 'del(.dataLicense)' 'del(.packages[0].versionInfo)' 'del(.packages[2].licenseDeclared)' \
    'del(.packages[1].downloadLocation)' '.packages[1].SPDXID = .packages[0].SPDXID' \
    'del(.packages[2])' '.relationships[0].relationshipType = "NEAR"' \
    '.hasExtractedLicensingInfos = []'; do
    jq "$change" "$scratch/first" > "$scratch/wrong"
    failures=0
    valid "$scratch/wrong" > "$scratch/said" 2>&1
    [ "$failures" -gt 0 ] || {
        bad=$((bad + 1))
        echo "FAIL not noticed: $change"
    }
done
failures=$((seen + bad))

# A program that is linked with a library which nobody wrote down is refused.
mkdir "$scratch/bin"
printf '%s\n' '#!/bin/sh' 'echo " 0x1 (NEEDED) Shared library: [libother.so.1]"' > "$scratch/bin/readelf"
chmod 755 "$scratch/bin/readelf"
if PATH="$scratch/bin:$PATH" sh packaging/sbom.sh "$1" "$2" > "$scratch/said" 2>&1 ||
    ! grep -q 'no line for libother.so.1' "$scratch/said"; then
    fail 'a library without a line is noticed'
fi

[ $failures -eq 0 ]
