#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two versions of docs/errors.md: errors_kept.py KEPT FOUND.

Refuses a FOUND in which a line of KEPT is missing, an error (a bold figure) is larger by more than
0.2 points, or fewer rows lie in the interval ("in band") by more than 2 points and more than one row.
Prints these lines, and those that improved."""
import re
import sys

SLACK = 0.2
BAND_SLACK = 2
# What a new fit changes beside its error: counts, the band, the verdict, and where the error lies.
FIGURE = re.compile(r"[-+]?\d+(\.\d+)?( to \d+(\.\d+)?| \(.*\))?$|.*: \d+(\.\d+)? \(bias .*"
                     r"|\d+ ms, \d+ us and \d+ ms, \d+ us|\d+ and \d+ s|tp \d+, \d+|(met|missed)$")
BOLD = re.compile(r"\*\*([\d.]+)\*\*")


def number(cells, column):
    text = cells[column] if column is not None and column < len(cells) else ""
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def lines(path):
    """The bold figures of each line of the tables, its rows and its share in the band, by heading and
    the texts of its cells."""
    found, heading, table, before, columns = {}, "", 0, [], {}
    with open(path, encoding="utf-8") as file:
        for text in file:
            if text.startswith("#"):
                heading, table = text.strip("# \n"), 0
            cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
            if text.startswith("|---"):
                table += 1
                columns = {name: i for i, name in enumerate(before)}
            before = cells
            if not text.startswith("| "):
                continue
            errors = [float(BOLD.match(cell)[1]) for cell in cells if BOLD.match(cell)]
            band = number(cells, columns.get("in band"))
            words = tuple(cell for cell in cells if not BOLD.match(cell) and not FIGURE.match(cell))
            key = (heading, table, words)
            while (errors or band is not None) and key in found:
                key = (*key, "again")
            if errors or band is not None:
                found[key] = errors, band, number(cells, columns.get("rows"))
    return found


def changes(name, kept, found):
    """The changes of a line: better or worse, and how."""
    for before, after in zip(kept[0], found[0]):
        if abs(after - before) > SLACK:
            yield "worse" if after > before else "better", f"{name}: {before} to {after}"
    if kept[1] is not None and found[1] is not None:
        slack = max(BAND_SLACK, 100 / found[2] + 0.1 if found[2] else 0)
        if abs(found[1] - kept[1]) > slack:
            yield "worse" if found[1] < kept[1] else "better", f"{name}: in band {kept[1]} to {found[1]}"


def main():
    kept, found = map(lines, sys.argv[1:])
    count = {"better": 0, "worse": 0}
    for key, figures in kept.items():
        name = f"{key[0]}: {', '.join(word for word in key[2] if word)}"
        told = changes(name, figures, found[key]) if key in found else [("worse", f"{name}: missing")]
        for verdict, text in told:
            count[verdict] += 1
            print(f"{verdict + ':':8} {text}")
    print(f"errors: {len(kept)} lines kept, {count['better']} figures better, {count['worse']} worse or missing")
    return 1 if count["worse"] or not kept else 0


if __name__ == "__main__":
    sys.exit(main())
