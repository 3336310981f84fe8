# SPDX-License-Identifier: MIT
"""Asks drawn questions in every way there is and compares the answers.

    python3 ask.py PROGRAM ASKER --cases N --seed S

The ways are the command line, C (asker.c), records of `predict --from`, and check files. The same
question must have the same document, status and message in each of them.
"""
import argparse
import json
import os
import random as randomness
import subprocess
import sys
import tempfile

from questions import Questions

SHOWN = 10
VALUES_EXPECTED = 60
EXIT_CODES = [0, 1, 2, 3, 4, 4]
# Inputs that records and check files do not have, or have with another meaning.
NOT_OF_RECORDS = {"set", "why", "tiling", "explain", "columns", "top", "class", "reserve", "draft_model",
                  "split_projections", "unfused_attention", "no_launch_overhead"}
# A time has a unit in a question, and none in a record.
MICROSECONDS = {"83us": 83, "1.2ms": 1200}
NO_TIMES = {"3"}
NOT_OF_CHECKS = {"columns", "emit"}
MEASURED = """operator,hardware,m,n,k,weights,activations,run,measured_us
gemm,h100-sxm,1,4096,4096,bf16,bf16,monday,15.1
gemm,h100-sxm,4096,4096,4096,bf16,bf16,monday,175
gemm,h100-sxm,4096,4096,many,bf16,bf16,tuesday,180
gemm,some-gpu,4096,4096,4096,bf16,bf16,tuesday,170
gemm,,128,4096,4096,fp8,fp8,tuesday,40
"""


class Answer:
    """What asker.c says: as bytes, because not every document is text."""

    def __init__(self, status, text, message, spelled):
        self.status, self.text = status, text
        self.message, self.spelled = message.decode(), spelled.decode()

    def refused(self):
        return self.message != ""

    def values(self):
        return json.loads(self.text)


def ask_asker(asker, lines):
    """The answers to questions, of one process."""
    result = subprocess.run([asker], input="".join(lines).encode(), capture_output=True, check=False)
    if result.returncode != 0 or result.stderr:
        sys.exit(f"asker: exit code {result.returncode}: {result.stderr.decode()}")
    rest, answers = result.stdout, []
    while rest:
        head, rest = rest.split(b"\n", 1)
        status, *lengths = (int(word) for word in head.split())
        parts = []
        for length in lengths:
            parts.append(rest[:length])
            rest = rest[length:]
        answers.append(Answer(status, *parts))
    if len(answers) != len(lines):
        sys.exit(f"asker: {len(answers)} answers to {len(lines)} questions")
    return answers


class Comparison:
    """Counts what was compared, and keeps what differs."""

    def __init__(self):
        self.counts, self.differences = {}, []

    def same(self, way, question, got, want):
        self.counts[way] = self.counts.get(way, 0) + 1
        if got != want:
            self.differences.append(f"{way}: {question}\n  got  {got!r:.600}\n  want {want!r:.600}")
        return got == want


def run(program, folder, arguments, text=""):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ROOFLINE")}
    environment.update(XDG_DATA_HOME=folder, HOME=folder, LC_ALL="C")
    return subprocess.run([program] + arguments, input=text.encode(), capture_output=True,
                          env=environment, check=False)


def check_argv(comparison, arguments, folder, questions, answers):
    """The command line: bytes, exit code, and the message with options for keys."""
    for question, answer in zip(questions, answers):
        result = run(arguments.program, folder, question.argv())
        comparison.same("document of argv", question, result.stdout, answer.text)
        comparison.same("exit code of argv", question, result.returncode, EXIT_CODES[answer.status])
        if answer.refused():
            comparison.same("message of argv", question, result.stderr.decode(),
                            f"roofline {question.command}: {answer.spelled}\n")


def is_record(question):
    given = question.given()
    return (question.command == "predict" and not NOT_OF_RECORDS & set(given) and
            given.get("measured_us") not in NO_TIMES)


def record(question, number):
    """What stands in a file for a question."""
    values = {key: 1 if value is True else value for key, value in question.inputs}
    if "measured_us" in values:
        values["measured_us"] = MICROSECONDS[values["measured_us"]]
    return json.dumps(dict(values, number=number)) + "\n"


def check_records(comparison, arguments, folder, questions, documents):
    """Records of predict --from: the values that a row has in common with the document."""
    for kind in ("operator", "model"):
        asked = [(question, document) for question, document in zip(questions, documents)
                 if is_record(question) and kind in question.given()]
        lines = [record(question, number) for number, (question, _) in enumerate(asked)]
        result = run(arguments.program, folder,
                     ["predict"] + (["model"] if kind == "model" else []) + ["--from", "-", "-f", "ndjson"],
                     "".join(lines))
        if result.returncode not in (0, 3):
            sys.exit(f"predict --from: {result.stderr.decode()}")
        rows = {row["number"]: row for row in map(json.loads, result.stdout.splitlines())}
        for number, (question, document) in enumerate(asked):
            row = rows.get(number)
            comparison.same("refusal of a record", question, row is None, document.refused())
            if row is not None and not document.refused():
                values = document.values()
                both = [key for key in values if key in row]
                comparison.same("values of a record", question, [(key, row[key]) for key in both],
                                [(key, values[key]) for key in both])
                comparison.same("a record has values", question, len(both) > 10, True)


def leaves(value, path=""):
    """The values of a document with their paths."""
    if isinstance(value, (dict, list)):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            if "." not in str(key):
                yield from leaves(member, f"{path}.{key}" if path else str(key))
    elif value is not None:
        yield path, value


def check_of(number, question, document):
    """The entry of a check file that expects what was answered."""
    inputs = {}
    for key, value in question.inputs:
        if key in ("set", "class", "price_per_hour"):
            inputs.setdefault(key, []).append(value)
        else:
            inputs[key] = value
    for key, texts in inputs.items():  # as an object, where one can say the same
        pairs = [text.split("=", 1) for text in texts] if isinstance(texts, list) else []
        if pairs and all(len(pair) == 2 for pair in pairs) and len(dict(pairs)) == len(pairs):
            inputs[key] = dict(pairs)
    entry = {"name": str(number), "command": question.command, "inputs": inputs}
    if document.refused():
        return dict(entry, expect_error=document.message)
    values = dict(leaves(document.values()))
    del values["schema"]
    return dict(entry, tolerance={"relative": 0, "absolute": 0},
                expect=dict(list(values.items())[:VALUES_EXPECTED]))


def check_checks(comparison, arguments, folder, questions, documents):
    """A check file whose expected values and refusals are those of the other ways."""
    asked = [(question, document) for question, document in zip(questions, documents)
             if question.command in ("predict", "recommend") and not NOT_OF_CHECKS & set(question.given())]
    checks = [check_of(number, question, document) for number, (question, document) in enumerate(asked)]
    path = os.path.join(folder, "checks.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "roofline/check/1", "checks": checks}, file, indent=0)
    result = run(arguments.program, folder, ["check", path])
    comparison.counts["checks"] = len(checks)
    comparison.same("exit code of check", path, (result.returncode, result.stderr.decode()), (0, ""))
    if result.returncode != 0:
        comparison.differences.append(result.stdout.decode()[:4000])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("asker")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print each question with its status")
    arguments = parser.parse_args()
    comparison = Comparison()
    with tempfile.TemporaryDirectory() as folder:
        measured = os.path.join(folder, "measured.csv")
        with open(measured, "w", encoding="utf-8") as file:
            file.write(MEASURED)
        questions = Questions(randomness.Random(arguments.seed), measured).draw(arguments.cases)
        documented = [q for q in questions if q.command in ("predict", "recommend")]
        answers = ask_asker(arguments.asker, [q.lines() for q in questions] +
                            [q.lines("json") for q in documented])
        documents = answers[len(questions):]
        if arguments.verbose:
            for question, answer in zip(questions, answers):
                print(answer.status, question, answer.message)
        check_argv(comparison, arguments, folder, questions, answers)
        check_records(comparison, arguments, folder, documented, documents)
        check_checks(comparison, arguments, folder, documented, documents)
    for difference in comparison.differences[:SHOWN]:
        print(difference)
    refused = sum(answer.refused() for answer in answers[:len(questions)])
    print(f"{len(questions)} questions, {refused} of them refused; " +
          ", ".join(f"{count} x {way}" for way, count in comparison.counts.items()) +
          f"; {len(comparison.differences)} differ")
    sys.exit(1 if comparison.differences else 0)


main()
