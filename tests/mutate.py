#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts wrong code and wrong data in, one mistake at a time, and says which of them no test notices.

python3 tests/mutate.py [--modules a,b] [--sample N] [--seed N] [--jobs N] [--known] [--every N]
                        [--from N] [--only TEXT] [--list] [--check] [--lists DIR]

There are two kinds of mistakes. Known ones are those that calculators of this kind have been seen to
make (tests/mutants/known.json): each is a text in a file and what stands there instead. Generic ones
change one operator, comparison or number of a line of the modules. Each is built in a copy of the
tree, then tests run, those first that are most likely to notice; a mistake that does not compile, or
that hangs, is noticed. Survivors that change nothing that anyone could see are explained in
tests/mutants/explained.json, by the line and what becomes of it.

Prints one line for each survivor, then the counts, and ends with 1 when one is not explained. --check
only looks whether each text and line of these files still stands where it did.
"""
import argparse
import glob
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPIED = ["Makefile", "LICENSE", "README.md", "data", "docs", "include", "src", "tests"]

# As an archiver (rcsD FILE OBJECT...): makes a shared library.
SHARED = """shift
target=$1
shift
exec "${CC:-cc}" -shared -Wl,-soname,libroofline.so -o "$target" "$@" -lcjson -lm
"""

# The unit tests of a file, the quickest to notice first; all others follow when these do not. The
# file's own when it is not here.
TESTS = {
    "operator": ["operator", "attention", "vector", "latent", "experts", "collective", "predict",
                 "trace"],
    "workload": ["operator", "attention", "vector", "latent", "experts", "collective", "predict"],
    "predict": ["predict", "operator", "sweep", "model_prediction"],
    "scenario": ["graph", "model_prediction", "model", "latent", "layout"],
    "graph": ["graph", "model_prediction", "model", "latent", "layout"],
    "stage": ["stages", "graph"],
    "kernel_attention": ["attention"],
    "kernel_product": ["kernel", "experts"],
    "sweep": ["sweep", "input", "predict"],
    "recommend": ["recommend", "crossover"],
    "accuracy": ["precision"],
    "error": ["status"],
    "json_file": ["json"],
    "json_scan": ["json"],
    "json_write": ["json"],
    "model_prediction": ["model_prediction", "graph"],
    "model_size": ["graph", "model", "gguf_families"],
    "pass": ["stages", "model_prediction", "graph"],
    "phase": ["model_prediction", "graph"],
    "request": ["model_prediction", "graph"],
    "limits": ["model_prediction", "graph"],
    "place": ["chart"],
    "chart_gnuplot": ["chart"],
    "chart_text": ["chart"],
    "model": ["config", "model", "gguf"],
    "config_mixer": ["config", "graph"],
    "config_own": ["config", "graph"],
    "config_sizes": ["config", "model"],
    "config_tower_classes": ["tower"],
    "weights": ["model", "gguf", "safetensors"],
    "load": ["config", "model", "safetensors"],
    "quantization": ["layout"],
    "quantization_names": ["layout"],
    "gguf_stream": ["gguf"],
    "gguf_metadata": ["gguf"],
    "gguf_tensors": ["gguf", "gguf_families"],
    "gguf_model": ["gguf"],
    "gguf_architecture": ["gguf"],
    "gguf_family": ["gguf_families"],
    "trace": ["request_trace"],
    "trace_reader": ["request_trace", "bench_result"],
    "scheduler": ["simulation", "scheduler"],
    "scheduler_look": ["scheduler"],
    "step_table": ["step_table", "simulation"],
    "module_names": ["layout", "safetensors"],
    "safetensors_names": ["safetensors"],
    "safetensors_formats": ["safetensors"],
    "safetensors_weights": ["safetensors"],
}
MODULES = ["operator", "workload", "predict", "scenario", "stage", "graph", "model_size", "sweep",
           "recommend"]
# Of these a sample of more kinds of mistakes is tried by tests/mutate_folders.py.
FOLDERS = ["catalog", "operator", "model", "predict", "simulate", "decide", "measure", "report",
           "chart", "ask"]
# Command lines that are compared when no unit test notices.
CASES = ["predict", "sweep", "recommend", "model", "plan", "explain", "list", "hardware",
         "simulate", "rate"]

SWAPS = {" + ": [" - "], " - ": [" + "], " * ": [" / "], " / ": [" * "], " < ": [" <= "],
         " <= ": [" < "], " > ": [" >= "], " >= ": [" > "], " == ": [" != "], " != ": [" == "],
         " && ": [" || "], " || ": [" && "], "fmin(": ["fmax("], "fmax(": ["fmin("],
         "ceil(": ["floor("], "floor(": ["ceil("], "PLUS(": ["MINUS("], "MINUS(": ["PLUS("],
         "TIMES(": ["OVER("], "OVER(": ["TIMES("], "? -1 : 1": ["? 1 : -1"]}
TOKEN = re.compile("|".join(re.escape(token) for token in SWAPS) + r"|(?<![\w.\"%\\])\d+(?![\w.\"])")


# The sizes of arrays of char, the index where a text is looked at for being empty, the attribute of
# functions like printf, and in an order of things that are not equal whether it is < or <=.
NOTHING = re.compile(r"\bchar \w+\[\d+\]|\[0\](?= [!=]= '\\0')|ROOF_PRINTF\(.*|"
                     r" < (?=[\w>.-]+ \? -1 : 1)")

# A whole statement on a line of its own that is no declaration, and a condition with its braces.
STATEMENT = re.compile(r"\s+(?!return\b|else\b|case\b|default\b|static\b|const\b)"
                       r"((\w+\(.*\)|\(void\)\w+\(.*\)|\*?\w[\w>.\[\]()*+ -]*? [-+*/|&]?= .*|"
                       r"[\w>.\[\]()*-]+(\+\+|--)|break|continue));$")
DECLARES = re.compile(r"\s+(const |struct |enum |unsigned )?\w+ \**\w+(\[.*\])? = ")
CONDITION = re.compile(r"(.*\bif \()(.*)(\) \{|\))$")

# The larger or the smaller of two: where they are equal it does not matter which is taken, so that
# the comparison is turned round instead.
OF_TWO = re.compile(r"([\w>.\[\]()-]+)( [<>] )([\w>.\[\]()-]+) \? (?:\1 : \3|\3 : \1)(?![\w.(\[-])")


def code_lines(text):
    """The lines of a C file that have code, without comments; texts in quotes are blanked, as is what
    changes nothing that code computes. static_assert, which only the compiler reads, is left out."""
    inside = False
    asserting = False
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
        asserting = asserting or "static_assert(" in shown
        if not asserting and not re.match(r"\s*#\s*(include|error|if|endif|undef)", shown):
            yield number, NOTHING.sub(lambda m: " " * len(m.group()), shown)
        asserting = asserting and not shown.rstrip().endswith(";")


def generic(module):
    """(file, line number, line, changed line) for each operator and number of a module."""
    # Questions are answered under the names of what they ask for: src/ask and src/cli stand apart.
    files = [path[len(ROOT) + 1:] for path in glob.glob(os.path.join(ROOT, "src/*/%s.c" % module))]
    yield from tokens(next(path for path in files if not re.match("src/(ask|cli)/", path)))


def tokens(file):
    """(file, line number, line, changed line) for each operator and number of a file."""
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        text = source.read()
    lines = text.split("\n")
    for number, shown in code_lines(text):
        of_two = {found.start(2) for found in OF_TWO.finditer(shown)}
        for found in TOKEN.finditer(shown):
            token = found.group()
            changes = SWAPS.get(token) or [str(int(token) + 1)]
            if found.start() in of_two:
                changes = [" > " if token == " < " else " < "]
            for change in changes:
                line = lines[number]
                yield (file, number, line, line[:found.start()] + change + line[found.end():])


def statements(file):
    """(file, line number, line, changed line): statements left out, conditions turned round, and
    numbers made smaller."""
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        text = source.read()
    lines = text.split("\n")
    for number, shown in code_lines(text):
        line = lines[number]
        found = CONDITION.fullmatch(shown.rstrip())
        if found and balanced(found.group(2)):
            start, end = found.span(2)
            yield file, number, line, line[:start] + "!(" + line[start:end] + ")" + line[end:]
        if (STATEMENT.fullmatch(shown.rstrip()) and balanced(shown) and
                not DECLARES.match(shown)):
            yield file, number, line, line[:len(line) - len(line.lstrip())] + ";"
        for found in re.finditer(r"(?<![\w.\"%\\])[1-9]\d*(?![\w.\"])", shown):
            yield (file, number, line,
                   line[:found.start()] + str(int(found.group()) - 1) + line[found.end():])


def balanced(text):
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def mistakes(folder):
    for path in sorted(glob.glob(os.path.join(ROOT, "src", folder, "*.c"))):
        file = os.path.relpath(path, ROOT)
        yield from tokens(file)
        yield from statements(file)


def known(lists):
    """(file, text, instead, name) of the known mistakes."""
    with open(os.path.join(lists, "known.json"), encoding="utf-8") as source:
        for mistake in json.load(source):
            yield (mistake["file"], mistake["text"], mistake["instead"], mistake["name"])


class Failure(Exception):
    """What ends the whole run."""


class Stopped(Exception):
    """What ends a worker of a run that is stopped."""


class Worker:
    """A built copy of the tree, in which one mistake at a time is tried.

    The library is a shared one there: what is wrong in a file of it is compiled and linked once,
    and every test that was built before has it. Accesses beyond an array are trapped.
    """

    optimise = "-O1"

    def __init__(self, folder, stopping, first=None):
        self.folder = folder
        self.stopping = stopping  # a threading.Event
        self.process = None
        self.environment = dict(os.environ, LC_ALL="C", ROOFLINE_DATA="", XDG_DATA_HOME="",
                                HOME=folder)
        for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "BUILD", "WERROR"]:
            self.environment.pop(name, None)
        if first is not None:
            shutil.copytree(first.folder, folder, symlinks=True)
            self.units, self.everything, self.limit = first.units, first.everything, first.limit
            return
        os.mkdir(folder)
        for name in COPIED:
            source = os.path.join(ROOT, name)
            target = os.path.join(folder, name)
            if os.path.isdir(source):
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copy2(source, target)
        with open(os.path.join(folder, "shared.sh"), "w", encoding="utf-8") as script:
            script.write(SHARED)
        units = glob.glob(os.path.join(folder, "tests", "unit", "*", "test_*.c"))
        self.units = sorted(os.path.basename(name)[5:-2] for name in units)
        self.everything = ["all", "build/tests/unit/run"]
        self.limit = {}

    def prepare(self, jobs, files):
        """Builds everything and runs tests once, for the time that they take: those that come first
        for the files, or all without files."""
        if not self.make(self.everything + ["-j", str(jobs)]):
            raise Failure("the tree does not build")
        first = {name for file in files for name in self.first(file)}
        for name, test in self.tests(""):
            if files and name not in first:
                continue
            begin = time.monotonic()
            if not test():
                raise Failure("%s fails without a mistake" % name)
            # A test that takes much longer has been made to hang.
            self.limit[name] = 20 + 20 * (time.monotonic() - begin)

    def run(self, command, limit=600.0):
        """Whether a command ends with 0 in time; what it started ends with it."""
        if self.stopping.is_set():
            raise Stopped()
        with subprocess.Popen(command, cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True) as process:
            self.process = process
            try:
                if self.stopping.is_set():
                    self.end()
                good = process.wait(limit) == 0
            except subprocess.TimeoutExpired:
                self.end()
                good = False
        if self.stopping.is_set():
            raise Stopped()  # what it says is of no worth
        return good

    def end(self):
        """Ends the command that runs."""
        process = self.process
        if process is not None and process.returncode is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def make(self, targets):
        return self.run(["make", "-s", "LIB=build/libroofline.so", "AR=sh shared.sh",
                         "LDFLAGS=-Wl,-rpath,'$$ORIGIN:$$ORIGIN/../..'",
                         "CFLAGS=%s -fPIC -fsanitize=bounds -fsanitize-undefined-trap-on-error" %
                         self.optimise] + targets)

    @staticmethod
    def first(file):
        """The names of the tests that are most likely to notice a mistake in a file."""
        module = os.path.basename(file).split(".")[0]
        units = ["hardware"] if file.startswith("data/hardware/") else TESTS.get(module, [module])
        return ["examples of " + file] + ["test_" + unit for unit in units]

    def tests(self, file):
        """(name, test) of all tests: first those of the file, then the others, the quickest first."""
        program = os.path.join(self.folder, "build", "roofline")
        commands = {"test_" + unit: ["build/tests/unit/run", "test_" + unit] for unit in self.units}
        for case in CASES:
            commands["cases of " + case] = ["sh", "tests/cli/run.sh", program,
                                            "tests/cli/%s.case" % case]
        documents = file if file.endswith(".md") else "docs/formulas.md"
        commands["examples of " + documents] = ["sh", "tests/cli/docs.sh", program, documents]
        order = [name for name in self.first(file) if name in commands]
        order += sorted(commands.keys() - set(order), key=lambda name: (self.limit.get(name, 0), name))
        for name in order:
            yield name, lambda name=name: self.run(commands[name], self.limit.get(name, 600))

    def attempt(self, file, change):
        """Changes a file by a function of its text and takes that back; by what it is noticed."""
        path = os.path.join(self.folder, file)
        with open(path, encoding="utf-8") as source:
            before = source.read()
        in_library = re.fullmatch(r"src/(?!cli|calibrate)\w+/\w+\.c|data/.*", file) is not None
        targets = ["build/libroofline.so"] if in_library else self.everything
        with open(path, "w", encoding="utf-8") as target:
            target.write(change(before))
        try:
            if not self.make(targets):
                return "the compiler"
            return next((name for name, test in self.tests(file) if not test()), None)
        finally:
            with open(path, "w", encoding="utf-8") as target:
                target.write(before)
            if not in_library:
                self.make(self.everything)


def change_line(number, changed):
    def change(text):
        lines = text.split("\n")
        lines[number] = changed
        return "\n".join(lines)
    return change


def change_text(text, instead):
    return lambda before: before.replace(text, instead)


def stale(lists):
    """What of the two lists does not stand in the tree any more."""
    names = set()
    for file, text, instead, name in known(lists):
        with open(os.path.join(ROOT, file), encoding="utf-8") as source:
            count = source.read().count(text)
        if count != 1:
            yield "known.json: %s: its text stands %d times in %s" % (name, count, file)
        if text == instead or name in names:
            yield "known.json: %s: changes nothing, or is there twice" % name
        names.add(name)
    missing = explained(lists)
    lines = {key[2] for key in missing}
    for made in ([generic(module) for module in MODULES] +
                 [mistakes(folder) for folder in FOLDERS]):
        for mistake in made:
            if mistake[2].strip() in lines:
                for key in keys(*mistake):
                    missing.pop(key, None)
    for key in missing:
        yield "explained.json: no mistake makes '%s' of '%s'" % key[:1:-1]


def explained(lists):
    """Why a mistake is not noticed, by its file (None: any), the line above it (None: any), its line
    and what becomes of that."""
    with open(os.path.join(lists, "explained.json"), encoding="utf-8") as source:
        return {(entry.get("file"), entry.get("above"), entry["line"], entry["becomes"]):
                entry["why"] for entry in json.load(source)}


def keys(file, number, line, changed):
    """The keys of a mistake in what explained returns."""
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        above = source.read().split("\n")[number - 1].strip()
    return [(place, context, line.strip(), changed.strip())
            for place in [file, None] for context in [above, None]]


def is_explained(why, *mistake):
    return any(key in why for key in keys(*mistake))


class Run:
    """Tries a list of mistakes, and counts."""

    def __init__(self, work, why, timed):
        self.work = work
        self.timed = timed
        self.todo = queue.Queue()
        for item in work:
            self.todo.put(item)
        self.why = why
        self.lock = threading.Lock()
        self.tried = {}  # by module: how many, noticed, explained
        self.failure = None
        self.stopping = threading.Event()
        self.workers = []

    def stop(self, *_):
        """Of a signal: no mistake is begun any more, and those in hand are left."""
        self.stopping.set()
        for worker in self.workers:
            worker.end()

    def labour(self, worker):
        try:
            while self.failure is None:
                module, file, change, name, lines = self.todo.get_nowait()
                by = worker.attempt(file, change)
                with self.lock:
                    self.count(module, name, lines, by)
        except (queue.Empty, Stopped):
            pass
        except BaseException as failure:  # pylint: disable=broad-except; whatever it is ends the run
            self.failure = failure

    def count(self, module, name, lines, by):
        counts = self.tried.setdefault(module, [0, 0, 0])
        counts[0] += 1
        if by is not None:
            counts[1] += 1
        elif lines is not None and is_explained(self.why, *lines):
            counts[2] += 1
            print("explained %s" % name, flush=True)
        else:
            print("SURVIVES  %s" % name, flush=True)
        done = sum(tried for tried, _, _ in self.tried.values())
        if done % 50 == 0:
            noticed = sum(counts[1] for counts in self.tried.values())
            print("%d of %d, %d noticed" % (done, len(self.work), noticed), file=sys.stderr, flush=True)

    def all(self, jobs):
        with tempfile.TemporaryDirectory(prefix="roofline-mutate.") as scratch:
            first = Worker(os.path.join(scratch, "0"), self.stopping)
            self.workers.append(first)
            first.prepare(jobs, self.timed)
            for i in range(1, jobs):
                self.workers.append(Worker(os.path.join(scratch, str(i)), self.stopping, first))
            threads = [threading.Thread(target=self.labour, args=(worker,)) for worker in self.workers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        if self.failure is not None:
            raise self.failure


def report(tried):
    """One line for each module; how many mistakes nobody can explain."""
    total = [sum(counts[i] for counts in tried.values()) for i in range(3)]
    for module, (count, noticed, why) in list(tried.items()) + [("all", total)]:
        print("%-12s %4d mistakes, %4d noticed (%.1f%%), %d survive, of which %d are explained" %
              (module, count, noticed, 100.0 * noticed / max(count, 1), count - noticed, why))
    return total[0] - total[1] - total[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--modules", default=",".join(MODULES))
    parser.add_argument("--sample", type=int, help="only so many generic mistakes, in a random order")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--known", action="store_true", help="only the known mistakes")
    parser.add_argument("--every", type=int, default=1, help="only every N-th of the known mistakes")
    parser.add_argument("--from", type=int, default=0, dest="first",
                        help="of every N-th, the one after so many; beyond N it begins again")
    parser.add_argument("--only", default="", help="only those with this text in their line or name")
    parser.add_argument("--list", action="store_true", help="only print what would be tried")
    parser.add_argument("--check", action="store_true", help="only look whether the lists are right")
    parser.add_argument("--lists", default=os.path.join(ROOT, "tests", "mutants"),
                        help="the folder of known.json and explained.json")
    options = parser.parse_args()

    complaints = list(stale(options.lists))
    if complaints:
        sys.exit("\n".join(complaints))
    if options.check:
        return 0
    work = []
    for file, text, instead, name in list(known(options.lists))[options.first % options.every::options.every]:
        work.append(("known", file, change_text(text, instead), "known: " + name, None))
    mistakes = []
    if not options.known:
        for module in options.modules.split(","):
            mistakes += [(module,) + mistake for mistake in generic(module)]
    if options.sample is not None:
        count = min(options.sample, len(mistakes))
        mistakes = random.Random(options.seed).sample(mistakes, count)
    for module, file, number, line, changed in mistakes:
        work.append((module, file, change_line(number, changed),
                     "%s:%d: %s" % (file, number + 1, changed.strip()),
                     (file, number, line, changed)))
    work = [item for item in work if options.only in item[3]]
    if options.list:
        print("\n".join(item[3] for item in work))
        return 0
    # Few mistakes are noticed by other tests than the first: to time those would take longer.
    timed = {item[1] for item in work} if options.every > 1 else set()
    if options.every > 1:
        Worker.optimise = "-O0"  # for few mistakes the build takes longer than the tests
    run = Run(work, explained(options.lists), timed)
    for number in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, run.stop)
    try:
        run.all(options.jobs)
    except Stopped:
        pass
    except Failure as failure:
        sys.exit(str(failure))
    finally:
        survivors = report(run.tried)
    if run.stopping.is_set():
        tried = sum(counts[0] for counts in run.tried.values())
        sys.exit("stopped after %d of %d" % (tried, len(work)))
    return 1 if survivors > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
