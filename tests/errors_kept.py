#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two versions of docs/errors.md: errors_kept.py KEPT FOUND.

Refuses a FOUND in which a line of KEPT is missing, an error (a bold figure or range) is larger by more than
0.2 points, fewer rows lie in the interval by more than 2 points and more than one row ("in band", a number in
brackets behind an error, or a cell of a table of intervals), or a band ("0.94 to 1.12") is wider by more than
5%. Prints these lines, and those that improved."""
import re
import sys

SLACK = 0.2
BAND_SLACK = 2
WIDER = 1.05
# What a new fit changes beside its error: counts, the band, the verdict, and where the error lies.
FIGURE = re.compile(r"[-+]?\d+(\.\d+)?( to \d+(\.\d+)?| \(.*\))?$|.*: \d+(\.\d+)? \(bias .*"
                     r"|\d+ ms, \d+ us and \d+ ms, \d+ us|\d+ and \d+ s|tp \d+, \d+|bias [-+][\d.]+$"
                     r"|(met|missed|missed, too (narrow|wide)|few rows)$")
# An error or a range of errors, and the share of the rows in the interval. In brackets may also be rows or other errors.
BOLD = re.compile(r"\*\*([\d.]+)(?: to ([\d.]+))?\*\*(?: \(([\d.]+)(?: to [\d.]+)?\))?")


def number(cells, column):
    text = cells[column] if column is not None and column < len(cells) else ""
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def errors_of(cells):
    return [float(one) for cell in cells if (found := BOLD.match(cell)) for one in found.groups()[:2] if one]


def shares_of(cells, columns):
    """The shares of the rows in the interval: of a column, of a table of intervals, or behind errors."""
    if "engine" in columns and "16-bit products" in columns:
        return [float(found[3]) for cell in cells if (found := BOLD.match(cell)) and found[3]]
    if next(iter(columns), "") == "interval":
        return [float(found[0]) for cell in cells[1:] if (found := re.match(r"\d+\.\d", cell))]
    band = number(cells, columns.get("in band"))
    return [] if band is None else [band]


def width(cells, column):
    """How many times the upper end of a band is its lower one."""
    found = re.fullmatch(r"([\d.]+) to ([\d.]+)", cells[column]) if column is not None else None
    return float(found[2]) / float(found[1]) if found and float(found[1]) > 0 else None


def lines(path):
    """The errors of each line of the tables, its shares in the interval, its rows and the width of its band, by
    heading and the texts of its cells."""
    found, heading, table, before, columns = {}, "", 0, [], {}
    with open(path, encoding="utf-8") as file:
        for text in file:
            if text.startswith("#"):
                heading, table = text.strip("# \n"), 0
            cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
            if text.startswith("|---"):
                table += 1
                columns = {name: i for i, name in reversed(list(enumerate(before)))}  # of two names the first
                columns = {name: columns[name] for name in before}
            before = cells
            if not text.startswith("| "):
                continue
            errors, shares = errors_of(cells), shares_of(cells, columns)
            words = tuple(cell for cell in cells if not BOLD.match(cell) and not FIGURE.match(cell))
            key = (heading, table, words)
            while (errors or shares) and key in found:
                key = (*key, "again")
            if errors or shares:
                found[key] = errors, shares, number(cells, columns.get("rows")), width(cells, columns.get("band"))
    return found


def changes(name, kept, found):
    """The changes of a line: better or worse, and how."""
    for before, after in zip(kept[0], found[0]):
        if abs(after - before) > SLACK:
            yield "worse" if after > before else "better", f"{name}: {before} to {after}"
    if len(kept[0]) != len(found[0]) or len(kept[1]) != len(found[1]):
        yield "worse", f"{name}: other figures"
    for before, after in zip(kept[1], found[1]):
        slack = max(BAND_SLACK, 100 / found[2] + 0.1 if found[2] else 0)
        if abs(after - before) > slack:
            yield "worse" if after < before else "better", f"{name}: in band {before} to {after}"
    if kept[3] and found[3] and max(kept[3] / found[3], found[3] / kept[3]) > WIDER:
        yield "worse" if found[3] > kept[3] else "better", f"{name}: band {kept[3]:.2f} times to {found[3]:.2f} times"


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
