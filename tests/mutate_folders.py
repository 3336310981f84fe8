#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts one generic mistake at a time into a folder of src, and says which of them no test notices.

python3 tests/mutate_folders.py FOLDER... [--sample N] [--seed N] [--work DIR] [--only TEXT]
                                          [--longest SECONDS] [--again FILE] [--list]

The mistakes are those of tests/mutate.py, numbers made smaller, statements left out and conditions
turned round; statements that free memory are left to the sanitizers. A random sample of each folder is tried: N mistakes that compile to other code. Only the
file and the library are built again, and tests run until one fails: first those that noticed
mistakes of the folder before and its own unit tests, then the others, the quickest first. DIR keeps
the built copy of the tree (build/mutate), and how long the tests take. --longest leaves out tests that
take longer and are not of the file; --again tries only the survivors of an earlier run, whose output FILE has.

Prints a line for each survivor, then a row for each folder: mistakes tried, those with the code of
the original (left out before), noticed ones, survivors. Ends with 1 when one is not explained in
tests/mutants/explained.json; those that are, are not tried again.
"""
import argparse
import glob
import json
import os
import random
import re
import shutil
import sys
import threading
import time

import mutate
from mutate import COPIED, FOLDERS, ROOT, Worker, mistakes

FLOORS = ["base", "catalog", "operator", "model", "predict", "simulate", "decide", "measure",
          "report", "chart", "ask", "serve"]

# A statement without which memory or a file is left open: make sanitize and make valgrind notice that.
RELEASES = re.compile(r"\s*(\w*_)?(free|close|fclose)(_\w+)?\(.*\);$")

# Tests that see a folder, where others cannot: command lines and scripts of tests/cli, and other tests.
SEES = {"chart": "plot curves places simulate rate report graph images pages widths".split(),
        "measure": "measure cuda hip monitor host power hardware schema pages".split()}

# Tests that measure for a time, and folders beyond src/measure with the files that only they see.
MEASURING = {"cuda", "hip", "measure", "monitor"}
MEASURES = re.compile(r"(ask|report)$|src/(ask|report)/.*(measur|monitor|step)")


class FolderWorker(Worker):
    """A built copy of the tree that is kept, with more tests."""

    def __init__(self, folder):  # pylint: disable=super-init-not-called; it makes a new copy
        self.folder = folder
        self.stopping = threading.Event()
        self.process = None
        self.environment = dict(os.environ, LC_ALL="C", ROOFLINE_DATA="", XDG_DATA_HOME="",
                                HOME=folder, SELF_TEST="no", EXAMPLES="any")
        for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "BUILD", "WERROR"]:
            self.environment.pop(name, None)
        os.makedirs(folder, exist_ok=True)
        for kept in glob.glob(os.path.join(folder, "**", "*.kept"), recursive=True):
            os.replace(kept, kept[:-5])  # of a run that was stopped
        for name in COPIED:
            renew(os.path.join(ROOT, name), os.path.join(folder, name))
        with open(os.path.join(folder, "shared.sh"), "w", encoding="utf-8") as script:
            script.write(mutate.SHARED)
        units = glob.glob(os.path.join(ROOT, "tests", "unit", "*", "test_*.c"))
        self.units = {os.path.basename(name)[:-2]: name.split(os.sep)[-2] for name in units}
        self.everything = ["all", "fakes", "build/tests/unit/run"]
        self.times = os.path.join(folder, "times.json")
        self.limit = {}
        if os.path.exists(self.times):
            with open(self.times, encoding="utf-8") as source:
                self.limit = json.load(source)
        self.noticed = {}
        self.longest = float("inf")

    def make(self, targets):
        return self.run(["make", "-s", "LIB=build/libroofline.so", "AR=sh shared.sh", "SHARED=",
                         "LDFLAGS=-Wl,-rpath,'$$ORIGIN:$$ORIGIN/../..'",
                         "CFLAGS=-O2 -fPIC -fsanitize=bounds -fsanitize-undefined-trap-on-error"] +
                        targets)

    def prepare(self, jobs, files):
        """Builds everything; runs the tests of these folders that are quick or whose times are not known."""
        library = os.path.join(self.folder, "build", "libroofline.so")
        if os.path.exists(library):
            os.remove(library)
        if not self.make(self.everything + ["-j", str(jobs)]):
            raise mutate.Failure("the tree does not build")
        for name, command in {name: command for folder in files
                              for name, command in self.seeing(folder).items()}.items():
            if self.limit.get(name, 0) < 1:  # so that what hangs is noticed, and what fails now
                begin = time.monotonic()
                if not self.run(command, 900):
                    raise mutate.Failure("%s fails without a mistake" % name)
                self.limit[name] = time.monotonic() - begin
                with open(self.times, "w", encoding="utf-8") as target:
                    json.dump(self.limit, target, indent=1)

    def seeing(self, folder, file=None):
        """The commands of the tests that can see a file of a folder, or any of its files, by name."""
        program = os.path.join(self.folder, "build", "roofline")
        commands = {name: ["build/tests/unit/run", name] for name, floor in self.units.items()
                    if FLOORS.index(floor) >= FLOORS.index(folder) and
                    (floor != "measure" or folder == "measure")}
        others = {}
        for path in sorted(glob.glob(os.path.join(ROOT, "tests", "cli", "*.case"))):
            name = os.path.basename(path)[:-5]
            others[name] = ["sh", "tests/cli/run.sh", program, "tests/cli/%s.case" % name]
        for name in ["images", "widths"]:
            others[name] = ["sh", "tests/cli/%s.sh" % name, program]
        others["pages"] = ["sh", "tests/cli/docs.sh", program, "README.md"] + sorted(
            os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "docs", "*.md")))
        others["reports"] = ["sh", "tests/cli/reports.sh", program] + sorted(
            os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "docs/reports/*.md"))
            if not os.path.basename(path).startswith("measured-"))
        others["schema"] = ["sh", "tests/schema.sh", program]
        others["configs"] = ["sh", "tests/configs.sh", program]
        others["formulas"] = [program, "check"] + sorted(
            os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "tests/check/*.json")))
        for name in ["oracle", "properties"]:
            others[name] = [sys.executable, "-B", "tests/oracle/%s.py" % name, program, "data",
                            "--cases", "200" if name == "oracle" else "60", "--seed", "1"]
        # Those that measure for a time see what measures alone.
        sees = SEES.get(folder) or set(others) - {"threads", "images", "widths"}
        if folder not in SEES and not MEASURES.match(file or folder):
            sees -= MEASURING
        commands.update((name, others[name]) for name in sees)
        return commands

    def order(self, folder, file):
        own = {"test_" + unit for unit in
               mutate.TESTS.get(os.path.basename(file)[:-2], [os.path.basename(file)[:-2]])}

        def rank(name):
            noticed = self.noticed.get((folder, name), 0)
            first = 2 * (name in own) + 0.3 * (self.units.get(name) == folder)
            return -(noticed + first) / (1 + self.limit[name]), self.limit[name], name
        return sorted((name for name in self.seeing(folder, file)
                       if name in own or self.limit[name] <= self.longest), key=rank)

    def try_one(self, folder, file, change):
        """"compiler", "identical", the test that notices it, or None."""
        path = os.path.join(self.folder, file)
        built = os.path.join(self.folder, "build", file[:-2] + ".o")
        library = os.path.join(self.folder, "build", "libroofline.so")
        shutil.copy2(path, path + ".kept")
        shutil.copy2(built, built + ".kept")
        with open(path, encoding="utf-8") as source:
            before = source.read()
        with open(path, "w", encoding="utf-8") as target:
            target.write(change(before))
        try:
            if not self.make(["build/" + file[:-2] + ".o"]):
                return "compiler"
            with open(built, "rb") as new, open(built + ".kept", "rb") as old:
                if new.read() == old.read():
                    return "identical"
            if not self.make(["build/libroofline.so"]):
                return "compiler"
            commands = self.seeing(folder, file)
            for name in self.order(folder, file):
                if not self.run(commands[name], 20 + 10 * self.limit[name]):
                    self.noticed[folder, name] = self.noticed.get((folder, name), 0) + 1
                    return name
            return None
        finally:
            os.replace(path + ".kept", path)
            os.replace(built + ".kept", built)
            if os.path.exists(library):
                os.remove(library)


def renew(source, target):
    """Copies what is newer or of another size; removes what is not there any more."""
    if not os.path.isdir(source):
        there = os.path.exists(target) and os.stat(target)
        now = os.stat(source)
        if not there or there.st_size != now.st_size or there.st_mtime != now.st_mtime:
            shutil.copy2(source, target)
        return
    os.makedirs(target, exist_ok=True)
    for name in set(os.listdir(target)) - set(os.listdir(source)):
        gone = os.path.join(target, name)
        if os.path.isdir(gone):
            shutil.rmtree(gone)
        else:
            os.remove(gone)
    for name in os.listdir(source):
        renew(os.path.join(source, name), os.path.join(target, name))


def chosen(folder, options):
    """The mistakes of a folder to be tried, in their order."""
    again = None
    if options.again:
        with open(options.again, encoding="utf-8") as output:
            again = {line[10:].rstrip("\n") for line in output if line.startswith("SURVIVES  ")}
    for mistake in sample(folder, options.seed, options.only):
        if again is None or mistake[4] in again:
            yield mistake


def sample(folder, seed, only):
    found = list(dict.fromkeys(mistakes(folder)))
    random.Random("%d %s" % (seed, folder)).shuffle(found)
    for file, number, line, changed in found:
        if changed.strip() == ";" and RELEASES.match(line):
            continue
        name = "%s:%d: %s  ->  %s" % (file, number + 1, line.strip(), changed.strip())
        if only in name:
            yield file, number, line, changed, name


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="of the first build")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "mutate"))
    parser.add_argument("--only", default="", help="only those with this text in their line or name")
    parser.add_argument("--longest", type=float, default=float("inf"), help="leave out longer tests")
    parser.add_argument("--again", help="only the survivors in this output of an earlier run")
    parser.add_argument("--list", action="store_true", help="only print what would be tried")
    options = parser.parse_args()
    if options.list:
        for folder in options.folders:
            for _, (_, _, _, _, name) in zip(range(options.sample), chosen(folder, options)):
                print(name)
        return 0
    worker = FolderWorker(options.work)
    worker.longest = options.longest
    worker.prepare(options.jobs, options.folders)
    why = mutate.explained(os.path.join(ROOT, "tests", "mutants"))
    unexplained = 0
    rows = []
    for folder in options.folders:
        tried, identical, noticed, explained = 0, 0, 0, 0
        for file, number, line, changed, name in chosen(folder, options):
            if tried == options.sample:
                break
            if mutate.is_explained(why, file, number, line, changed):
                tried += 1
                explained += 1
                print("explained %s" % name, flush=True)
                continue
            by = worker.try_one(folder, file, mutate.change_line(number, changed))
            if by == "compiler":
                continue
            if by == "identical":
                identical += 1
                continue
            tried += 1
            if by is not None:
                noticed += 1
                print("%s: %s" % (by, name), file=sys.stderr, flush=True)
            else:
                unexplained += 1
                print("SURVIVES  %s" % name, flush=True)
        rows.append("%-8s %3d tried, %3d identical, %3d noticed (%.1f%%), %d survive, of which %d are explained" %
                    (folder, tried, identical, noticed, 100.0 * noticed / max(tried, 1),
                     tried - noticed, explained))
        print(rows[-1], flush=True)
    print("\n".join(rows))
    return 1 if unexplained else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except mutate.Failure as failure:
        sys.exit(str(failure))
