#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two versions of docs/errors.md: errors_kept.py KEPT FOUND.

Refuses a FOUND in which a line of KEPT is missing or an error (a bold figure) is larger by more than
0.2 points. Prints these lines, and those that improved."""
import re
import sys

SLACK = 0.2
# What a new fit changes beside its error: counts, the band, and where the error lies.
FIGURE = re.compile(r"[-+]?\d+(\.\d+)?( to \d+(\.\d+)?| \(.*\))?$|.*: \d+(\.\d+)? \(bias .*"
                    r"|\d+ ms, \d+ us and \d+ ms, \d+ us|tp \d+, \d+")
BOLD = re.compile(r"\*\*([\d.]+)\*\*")


def lines(path):
    """The bold figures of each line of the tables, by heading and the texts of its cells."""
    found, heading, table = {}, "", 0
    with open(path, encoding="utf-8") as file:
        for text in file:
            if text.startswith("#"):
                heading, table = text.strip("# \n"), 0
            if text.startswith("|---"):
                table += 1
            if not text.startswith("| "):
                continue
            cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
            errors = [float(BOLD.match(cell)[1]) for cell in cells if BOLD.match(cell)]
            words = tuple(cell for cell in cells if not BOLD.match(cell) and not FIGURE.match(cell))
            key = (heading, table, words)
            while errors and key in found:
                key = (*key, "again")
            if errors:
                found[key] = errors
    return found


def main():
    kept, found = map(lines, sys.argv[1:])
    worse = better = 0
    for key, errors in kept.items():
        name = f"{key[0]}: {', '.join(word for word in key[2] if word)}"
        if key not in found:
            print(f"missing: {name}")
            worse += 1
            continue
        for before, after in zip(errors, found[key]):
            if after > before + SLACK:
                print(f"worse:   {name}: {before} to {after}")
                worse += 1
            elif after < before - SLACK:
                print(f"better:  {name}: {before} to {after}")
                better += 1
    print(f"errors: {len(kept)} lines kept, {better} figures better, {worse} worse or missing")
    return 1 if worse or not kept else 0


if __name__ == "__main__":
    sys.exit(main())
