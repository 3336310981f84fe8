#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random operators and steps of models: no time falls when one of their sizes grows, no expected
time is below its bound, and none of a stack is below that of best. The first token of a request
does not depend on its drafts. growth.py PROGRAM DATA; DATA is not read."""
import json
import random as randomness
import re
import sys
import tempfile

from program import SHOWN, Program, command_line

DEVICES = ("a100-sxm-80gb h100-sxm hgx-b200 l40s rtx-pro-6000 dgx-spark mi300x mi355x h200 rtx-3090 "
           "rtx-5080 l4 b300 a30 h20").split()
STACKS = ["vllm", "sglang", "trtllm"]
FORMATS = [{"precision": "bf16"}, {"precision": "fp8"}, {"precision": "int8", "kv": "bf16"},
           {"precision": "nvfp4", "kv": "bf16"}, {"weights": "int4_g128", "activations": "bf16"},
           {"weights": "mxfp4", "activations": "bf16"},
           {"precision": "bf16", "kv": "fp8_e4m3"}]
# A size of an operator: the powers of two between which it is drawn, or its values.
SIZES = {"m": (0, 14), "n": (5, 15), "k": (5, 15), "batch": (0, 8), "query_len": (0, 13),
         "kv_len": (4, 16), "tokens": (0, 14), "hidden": (8, 14), "intermediate": (7, 14),
         "elements": (3, 28),
         "head_dim": [32, 48, 64, 80, 96, 112, 128, 160, 192, 256, 512],
         "window": [0, 0, 128, 1024, 4096], "experts": [8, 16, 64, 128, 256], "top_k": [1, 2, 4, 8],
         "devices": [2, 4, 8], "selected": [512, 1024, 2048], "compression": [4, 128]}
GROWING = [size for size in SIZES if isinstance(SIZES[size], tuple)] + ["head_dim"]
# An operator with a state takes 2 to 15 tokens as a step with drafts, and more as a prompt
# (docs/accuracy.md, Prompts through a state), so these are different kernels.
BY_NUMBER = "gated-delta kimi-delta ssd lightning selective-scan".split()
DRAFTS_MOST = 15
# Pairs that random ones rarely hit: the record, the size and its larger value. More than 15 tokens
# have other kernels in prompts, and contexts of more than index_topk (2048) choose their keys.
OPERATORS_TRIED = [
    ({"operator": "compressed-attention", "hardware": "h100-sxm", "stack": "vllm", "heads": 64,
      "head_dim": 512, "kv_len": 8192, "precision": "bf16", "query_len": 15}, "query_len", 16)]
STEPS_TRIED = [
    ({"model": "qwen3-next-80b-a3b", "hardware": "h100-sxm", "stack": "vllm", "tp": 2, "batch": 64,
      "draft_tokens": 14}, "draft_tokens", 15),
    ({"model": "deepseek-v4-flash", "hardware": "h100-sxm", "stack": "vllm", "tp": 4, "batch": 64,
      "draft_tokens": 14}, "draft_tokens", 15),
    ({"model": "glm-5", "hardware": "l40s", "stack": "vllm", "tp": 2, "batch": 152,
      "draft_tokens": 15, "context": 2033}, "context", 2034)]
MODELS = ("llama-3.1-8b gpt-oss-120b deepseek-r1 qwen3-next-80b-a3b deepseek-v4-flash "
          "kimi-linear-48b-a3b mixtral-8x7b gemma-3-27b glm-5 minimax-m2").split()


def drawn(random, size):
    """A value of a size."""
    values = SIZES[size]
    return random.choice(values) if isinstance(values, list) else \
        round(2 ** random.uniform(*values))


def operator(random, listed):
    """A random operator as a record, and the sizes of it that may grow."""
    sizes = [size.replace("-", "_") for size in re.findall(r"-+([a-z][a-z-]*)", listed["dimensions"])]
    record = {size: drawn(random, size) for size in sizes if size in SIZES}
    if "heads" in sizes:
        record["heads"] = round(2 ** random.uniform(0, 7))
    if "kv_heads" in sizes:
        record["kv_heads"], record["heads"] = record["heads"], \
            record["heads"] * random.choice([1, 2, 4, 8])
    if "kv_len" in record and "query_len" in record:
        if random.random() < 0.5:
            record["query_len"] = 1
        record["kv_len"] = max(record["kv_len"], record["query_len"])
    if listed["name"] == "mla-prefill":
        record["kv_len"] = record["query_len"]
    if "top_k" in record:
        record["top_k"] = min(record["top_k"], record["experts"])
    record.update(random.choice(FORMATS), operator=listed["name"], hardware=random.choice(DEVICES),
                  stack=random.choice(STACKS + ["best"]))
    return record, [size for size in GROWING if size in record]


def grown(random, record, size):
    """The record with more of a size; None where that is another kernel."""
    more = dict(record, **{size: record[size] + 1 if random.random() < 0.5 else 2 * record[size]})
    if record["operator"] == "mla-prefill" and size in ("query_len", "kv_len"):
        more["query_len"] = more["kv_len"] = more[size]
    if record["operator"] in BY_NUMBER and \
            record["query_len"] <= DRAFTS_MOST < more["query_len"]:
        return None
    if more.get("query_len", 0) > more.get("kv_len", more.get("query_len", 0)):
        return None
    return more


def model(random):
    """A random model on a device, without sizes."""
    record = {"model": random.choice(MODELS), "hardware": random.choice(DEVICES),
              "stack": random.choice(STACKS + ["best"]), "tp": random.choice([1, 2, 8])}
    if record["tp"] < 8 and random.random() < 0.3:  # all devices in one node
        record["pp"] = 2
    if random.random() < 0.3:
        record["host_time"] = "none"
    record.update(random.choice([{}, {}, {"precision": "bf16"}, {"precision": "fp8", "kv": "fp8"},
                                 {"weights": "int4_g128", "activations": "bf16", "kv": "bf16"},
                                 {"precision": "bf16", "kv": "fp8_e4m3"}]))
    return record


def step(random):
    """A step of a model as a record, and the sizes of it that may grow."""
    record = dict(model(random), batch=round(2 ** random.uniform(0, 8)),
                  context=round(2 ** random.uniform(1, 15)),
                  phase=random.choice(["decode", "decode", "prefill", "mixed"]))
    if record["phase"] == "mixed":
        record.update(chunk=round(2 ** random.uniform(0, 11)))
        return record, ["batch", "context", "chunk"]
    sizes = ["batch", "context"]
    if record["phase"] == "prefill":  # the memory of a pass has a limit
        record.update(batch=min(record["batch"], 32), context=min(record["context"], 2 ** 14))
    if record["phase"] == "decode":
        sizes.append("draft_tokens")
        drafts = random.choice([0, 0, 1, 3, 8, 14, 15, 31])
        if drafts:
            record["draft_tokens"] = drafts
    return record, sizes


def more_of(random, record, size):
    """A step with more of a size. A record without drafts has none."""
    now = record.get(size, 0)
    return dict(record, **{size: now + 1 if random.random() < 0.5 else max(1, 2 * now)})


def request(random):
    """A lone request whose steps have as many tokens as its prompt, and one with other drafts."""
    prompt = random.choice([4, 8, 12, 16, 24, 32])
    record = dict(model(random), prompt=prompt, generate=8, batch=1, draft_model="none",
                  draft_tokens=prompt - 1)
    return record, dict(record, draft_tokens=random.choice([prompt, prompt - 2, prompt + 3]))


def bested(record):
    """The record with the fastest of the stacks."""
    return dict(record, stack="best")


class Comparison:
    """Compares the times of pairs of records."""

    def __init__(self, program, workload, bound, expected):
        self.program, self.workload = program, workload
        self.bound, self.expected = bound, expected
        self.pairs, self.held, self.without, self.found = [], 0, 0, []

    def add(self, less, more, why):
        """The times of `less` must not be above those of `more`."""
        self.pairs.append((less, more, why))

    def at_most(self, least, most, what):
        """Counts what holds, apart from the last digits of a sum."""
        if least is None or most is None:
            self.without += 1
        elif least <= most * (1 + 1e-12):
            self.held += 1
        else:
            self.found.append(f"{least:.6g} > {most:.6g}: {what}")

    def compare(self, less, more, why):
        """Compares two rows; `why` is a size that grows, stack or drafts."""
        a, b = [row.get(self.expected) for row in (less, more)]
        what = f"{why} of {json.dumps(less, separators=(',', ':'))[:400]}"
        self.at_most(a, b, "expected, " + what)
        if why == "drafts":
            self.at_most(b, a, "expected, fewer " + what)
            return
        if why != "stack":
            self.at_most(less[self.bound], more[self.bound], "bound, " + what)
        self.at_most(more[self.bound], b, "below its bound, " + what)

    def run(self):
        """Asks for all of them at once. Every record must be answered."""
        records = [record for pair in self.pairs for record in pair[:2]]
        rows = self.program.records(self.workload, records)
        for number, (less, more, why) in enumerate(self.pairs):
            a, b = rows[2 * number], rows[2 * number + 1]
            if a is None or b is None:
                self.found.append(f"refused: {json.dumps(less if a is None else more)}")
                continue
            self.compare(a, b, why)


def compare(program, cases, random):
    """Returns the comparisons of random operators, steps and requests."""
    listed = json.loads(program.run(["list", "operators", "-f", "json"]).stdout)
    operators = Comparison(program, [], "time_us", "expected_time_us")
    steps = Comparison(program, ["model"], "time_us", "expected_time_us")
    requests = Comparison(program, ["model"], "ttft_ms", "expected_ttft_ms")
    for tried, pairs in ((operators, OPERATORS_TRIED), (steps, STEPS_TRIED)):
        for record, size, larger in pairs:
            tried.add(record, dict(record, **{size: larger}), size)
    for _ in range(cases):
        record, sizes = operator(random, random.choice(listed))
        for size in sizes:
            more = grown(random, record, size)
            if more:
                operators.add(record, more, size)
        if record["stack"] != "best":
            operators.add(bested(record), record, "stack")
        record, sizes = step(random)
        for size in sizes:
            steps.add(record, more_of(random, record, size), size)
        if record["stack"] != "best":
            steps.add(bested(record), record, "stack")
        requests.add(*request(random), "drafts")
    for one in (operators, steps, requests):
        one.run()
    return operators, steps, requests


def garbled(random):
    """Halves one number in ten."""
    def halve(number):
        return str(float(number.group()) / 2) if random.random() < 0.1 else number.group()
    return lambda text: re.sub(r"(?<=time_us\":)[0-9.e+-]+|(?<=ttft_ms\":)[0-9.e+-]+", halve,
                               text)


def main():
    options = command_line(__doc__, "growth", 500, "operators, steps and requests of models")
    random = randomness.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.program, folder, garbled(random) if options.self_test else None)
        all_of_them = compare(program, options.cases, random)
    for name, one in zip(("operators", "steps of models", "requests"), all_of_them):
        print(f"{name}: {one.held} held, {len(one.found)} not, {one.without} without estimates")
        for line in one.found[:SHOWN]:
            print("  " + line)
    if options.self_test:
        return 0 if all(one.found for one in all_of_them) else 1
    return 1 if any(one.found or not one.held for one in all_of_them) else 0


if __name__ == "__main__":
    sys.exit(main())
