#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts wrong code and wrong data in, one mistake at a time, and says which of them no test notices.

python3 tests/mutate.py [--modules a,b] [--sample N] [--seed N] [--jobs N] [--known] [--list]

There are two kinds of mistakes. Known ones are those that calculators of this kind have been seen to
make (tests/mutants/known.json): each is a text in a file and what stands there instead. Generic ones
change one operator, comparison or number of a line of the modules. Each is built in a copy of the
tree, then the tests run that are most likely to notice; a mistake that does not compile, or that
hangs, is noticed. Survivors that change nothing that anyone could see are explained in
tests/mutants/explained.json, by the line and what becomes of it.

Prints one line for each survivor, then the counts, and ends with 1 when one is not explained.
"""
import argparse
import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "tests", "mutants")
COPIED = ["Makefile", "LICENSE", "README.md", "data", "docs", "include", "src", "tests"]
SECONDS = 180  # a test that takes longer has been made to hang

# The unit tests of a module, the quickest to notice first; all others follow when these do not.
TESTS = {
    "operator": ["operator", "attention", "vector", "latent", "experts", "collective", "predict",
                 "explain"],
    "predict": ["predict", "operator", "sweep", "inference"],
    "transformer": ["transformer", "inference", "model", "latent", "layout", "plan"],
    "sweep": ["sweep", "request", "predict"],
    "recommend": ["recommend", "crossover", "plan"],
    "inference": ["inference", "transformer", "plan"],
    "chart": ["chart"],
    "chart_layout": ["chart"],
    "chart_gnuplot": ["chart"],
    "chart_report": ["chart"],
}
MODULES = ["operator", "predict", "transformer", "sweep", "recommend"]
# Command lines that are compared when no unit test notices.
CASES = ["predict", "sweep", "recommend", "model", "plan", "explain", "list", "plot"]

SWAPS = {" + ": [" - "], " - ": [" + "], " * ": [" / "], " / ": [" * "], " < ": [" <= "],
         " <= ": [" < "], " > ": [" >= "], " >= ": [" > "], " == ": [" != "], " != ": [" == "],
         " && ": [" || "], " || ": [" && "], "fmin(": ["fmax("], "fmax(": ["fmin("],
         "ceil(": ["floor("], "floor(": ["ceil("], "PLUS(": ["MINUS("], "MINUS(": ["PLUS("],
         "TIMES(": ["OVER("], "OVER(": ["TIMES("]}
TOKEN = re.compile("|".join(re.escape(token) for token in SWAPS) + r"|(?<![\w.\"%\\])\d+(?![\w.\"])")


def code_lines(text):
    """The lines of a C file that have code, without comments; texts in quotes are blanked."""
    inside = False
    for number, line in enumerate(text.split("\n")):
        shown = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + " " * (len(m.group()) - 2) + '"', line)
        shown = re.sub(r"/\*.*?\*/", lambda m: " " * len(m.group()), shown)
        if inside:
            end = shown.find("*/")
            if end < 0:
                continue
            shown = " " * (end + 2) + shown[end + 2:]
            inside = False
        start = shown.find("/*")
        if start >= 0:
            inside = True
            shown = shown[:start]
        shown = re.sub(r"//.*", "", shown)
        if not re.match(r"\s*#\s*(include|error|if|endif|undef)", shown) and "_Static_assert" not in shown:
            yield number, shown


def generic(module):
    """(file, line number, line, changed line) for each operator and number of a module."""
    file = "src/%s.c" % module
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        text = source.read()
    lines = text.split("\n")
    for number, shown in code_lines(text):
        for found in TOKEN.finditer(shown):
            token = found.group()
            changes = SWAPS.get(token) or [str(int(token) + 1)]
            for change in changes:
                line = lines[number]
                yield (file, number, line, line[:found.start()] + change + line[found.end():])


def known():
    """(file, text, instead, name) of the known mistakes."""
    with open(os.path.join(DATA, "known.json"), encoding="utf-8") as source:
        for mistake in json.load(source):
            yield (mistake["file"], mistake["text"], mistake["instead"], mistake["name"])


class Worker:
    """A built copy of the tree, in which one mistake at a time is tried."""

    def __init__(self, folder):
        self.folder = folder
        for name in COPIED:
            source = os.path.join(ROOT, name)
            target = os.path.join(folder, name)
            if os.path.isdir(source):
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copy2(source, target)
        self.environment = dict(os.environ, LC_ALL="C", ROOFLINE_DATA="", XDG_DATA_HOME="",
                                HOME=folder)
        for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "BUILD"]:
            self.environment.pop(name, None)
        units = sorted(os.listdir(os.path.join(folder, "tests", "unit")))
        self.units = [name[5:-2] for name in units if name.startswith("test_") and name.endswith(".c")]
        if not self.make(["all"] + [self.binary(unit) for unit in self.units]):
            sys.exit("the tree does not build")
        failed = [unit for unit in self.units if not self.passes(unit)]
        if failed or not self.cases_pass():
            sys.exit("the tests fail without a mistake: %s" % (" ".join(failed) or "cases"))

    @staticmethod
    def binary(unit):
        return "build/tests/unit/test_" + unit

    def run(self, command):
        try:
            return subprocess.run(command, cwd=self.folder, env=self.environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=SECONDS,
                                  check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def make(self, targets):
        return self.run(["make", "-s", "CFLAGS=-O1"] + targets)

    def passes(self, unit):
        return self.run([self.binary(unit)])

    def cases_pass(self):
        program = os.path.join(self.folder, "build", "roofline")
        files = ["tests/cli/%s.case" % case for case in CASES]
        return self.run(["sh", "tests/cli/run.sh", program] +
                        [file for file in files if os.path.exists(os.path.join(self.folder, file))])

    def noticed(self, first):
        """By what the mistake that is in the tree is noticed; None: by nothing."""
        if not self.make(["all"]):
            return "compiler"
        rest = [unit for unit in self.units if unit not in first]
        for units in ([[unit] for unit in first if unit in self.units] + [rest]):
            if not self.make([self.binary(unit) for unit in units]):
                return "compiler"
            for unit in units:
                if not self.passes(unit):
                    return "test_" + unit
        return None if self.cases_pass() else "cases"

    def attempt(self, file, change, first):
        """Changes a file by a function of its text, and takes that back."""
        path = os.path.join(self.folder, file)
        with open(path, encoding="utf-8") as source:
            before = source.read()
        with open(path, "w", encoding="utf-8") as target:
            target.write(change(before))
        try:
            return self.noticed(first)
        finally:
            with open(path, "w", encoding="utf-8") as target:
                target.write(before)


def change_line(number, changed):
    def change(text):
        lines = text.split("\n")
        lines[number] = changed
        return "\n".join(lines)
    return change


def change_text(name, text, instead):
    def change(before):
        if before.count(text) != 1:
            sys.exit("%s: its text is there %d times" % (name, before.count(text)))
        return before.replace(text, instead)
    return change


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--modules", default=",".join(MODULES))
    parser.add_argument("--sample", type=int, default=0, help="only so many generic mistakes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--known", action="store_true", help="only the known mistakes")
    parser.add_argument("--list", action="store_true", help="only print what would be tried")
    options = parser.parse_args()

    work = []
    for file, text, instead, name in known():
        module = os.path.basename(file).split(".")[0]
        work.append((file, change_text(name, text, instead), TESTS.get(module, []), "known: " + name,
                     None))
    mistakes = []
    if not options.known:
        for module in options.modules.split(","):
            mistakes += [(module,) + mistake for mistake in generic(module)]
    if options.sample and options.sample < len(mistakes):
        mistakes = sorted(random.Random(options.seed).sample(mistakes, options.sample))
    for module, file, number, line, changed in mistakes:
        work.append((file, change_line(number, changed), TESTS.get(module, []),
                     "%s:%d: %s" % (file, number + 1, changed.strip()), (line.strip(), changed.strip())))
    if options.list:
        print("\n".join(item[3] for item in work))
        return 0

    with open(os.path.join(DATA, "explained.json"), encoding="utf-8") as source:
        explained = {(entry["line"], entry["becomes"]): entry["why"] for entry in json.load(source)}
    todo = queue.Queue()
    for item in work:
        todo.put(item)
    survivors = []
    lock = threading.Lock()
    done = [0]

    def labour(folder):
        worker = Worker(folder)
        while True:
            try:
                file, change, first, name, lines = todo.get_nowait()
            except queue.Empty:
                return
            by = worker.attempt(file, change, first)
            with lock:
                done[0] += 1
                if by is None:
                    survivors.append(lines)
                    why = explained.get(lines)
                    print("%s %s" % ("explained" if why else "SURVIVES ", name), flush=True)
                if done[0] % 50 == 0:
                    print("%d of %d" % (done[0], len(work)), file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="roofline-mutate.") as scratch:
        threads = [threading.Thread(target=labour, args=(os.path.join(scratch, str(i)),))
                   for i in range(options.jobs)]
        for i, thread in enumerate(threads):
            os.mkdir(os.path.join(scratch, str(i)))
            thread.start()
        for thread in threads:
            thread.join()
    open_ones = [lines for lines in survivors if lines not in explained]
    if done[0] != len(work):
        return 1
    print("%d mistakes, %d noticed (%.1f%%), %d survive, of which %d are explained; seed %d" %
          (len(work), len(work) - len(survivors),
           100.0 * (len(work) - len(survivors)) / max(len(work), 1), len(survivors),
           len(survivors) - len(open_ones), options.seed))
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
