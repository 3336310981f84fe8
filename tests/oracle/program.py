# SPDX-License-Identifier: MIT
"""Runs the program that is tested, and reads the command line of those that test it."""
import argparse
import json
import os
import random as randomness
import subprocess
import sys

SHOWN = 10


class Program:
    """Runs the program on records."""

    def __init__(self, path, folder, garble=None):
        """`garble` changes what it prints and writes: for tests of the tests."""
        self.path, self.folder, self.garble = path, folder, garble
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("ROOFLINE")}
        self.environment.update(XDG_DATA_HOME=folder, HOME=folder, LC_ALL="C")

    def run(self, arguments, text=None, **environment):
        result = subprocess.run([self.path] + arguments, input=text, capture_output=True, text=True,
                                env=dict(self.environment, **environment), check=False)
        if self.garble:
            result.stdout = self.garble(result.stdout)
            result.returncode = int(self.garble(f"{result.returncode}"))
        return result

    def read(self, path):
        """A file that it wrote."""
        with open(path, encoding="utf-8") as file:
            return self.garble(file.read()) if self.garble else file.read()

    def records(self, workload, records, options=()):
        """Rows of `predict --from` by the number of the record; None where it was refused."""
        text = "".join(json.dumps(dict(record, case=number)) + "\n"
                       for number, record in enumerate(records))
        result = self.run(["predict"] + workload + ["--from", "-", "-f", "ndjson"] + list(options),
                          text)
        if result.returncode not in (0, 3) or "must be again" in result.stderr:
            sys.exit(f"predict --from: {result.stderr}")
        rows = [None] * len(records)
        for line in result.stdout.splitlines():
            row = json.loads(line)
            rows[row["case"]] = row
        return rows


def command_line(about, name, cases, of_what):
    """The arguments of a test; a seed that is not given is drawn, and told."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--cases", type=int, default=cases, help=of_what)
    parser.add_argument("--seed", type=int, help="default: another one each time")
    parser.add_argument("--self-test", action="store_true", help="see that it can fail")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = randomness.SystemRandom().randrange(10 ** 9)
    print(f"{name}: seed {arguments.seed}, {arguments.cases} cases", flush=True)
    return arguments
