# SPDX-License-Identifier: MIT
# Complains of Markdown tables whose rows have other numbers of cells than their rule, or are not
# aligned; of fences left open, and of headings that skip a level.
function cells(line,    n) {
    gsub(/\\[\\|]/, "", line)
    n = gsub(/\|/, "", line)
    return n - 1
}
function bad(what) { print FILENAME ":" FNR ": " what; failed = 1 }
/^```/ {
    match($0, /^`+/)
    if (fence == 0) fence = RLENGTH
    else if (RLENGTH >= fence && $0 ~ /^`+$/) fence = 0
    table = 0
    next
}
fence { next }
/^#+ / {
    match($0, /^#+/)
    if (RLENGTH > level + 1) bad("the heading skips a level")
    level = RLENGTH
}
/^\|/ {
    tables += !table
    table++
    if (table == 1) { head = cells($0); wide = length($0) }
    if ($0 !~ /^\| .* \|$/) bad("the row is not closed")
    if (table == 2 && $0 !~ /^\|( -+:? \|)+$/) bad("the second line is no rule")
    if (cells($0) != head) bad(cells($0) " cells under " head " titles")
    if (length($0) != wide) bad("the row is not as wide as its table")
    next
}
{ table = 0 }
END {
    if (fence) bad("a fence is left open")
    if (!tables) bad("there is no table")
    exit failed
}
