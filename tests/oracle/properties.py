# SPDX-License-Identifier: MIT
"""What must hold between predictions, whatever the formulas (see docs/testing.md).

    python3 properties.py PROGRAM DATA --cases N --seed S
"""
import csv
import io
import json
import os
import random as randomness
import re
import sys
import tempfile

import cases
import command_properties
import device as devices
import formats
import model_properties
import models
import operators
from program import SHOWN, Program, command_line


class Checker:
    """Runs the program, and counts what held and what did not."""

    def __init__(self, program, data, random, count, quiet=False):
        self.program, self.data, self.random, self.count = program, data, random, count
        self.quiet, self.held, self.broken, self.names = quiet, {}, 0, {}
        folder = program.folder
        self.devices, self.shipped = cases.drawn_devices(random, folder), devices.shipped(data)
        self.shipped_models, self.layouts = models.shipped(data), list(cases.layouts(data))
        self.models = dict(self.shipped_models, **cases.drawn_models(random, folder))
        self.drawn, self.faster = list(self.devices), {}
        self.devices.update(self.shipped)
        for number, name in enumerate(self.devices):
            self.faster[name] = faster(data, folder, name, number)

    def hold(self, name, what, case):
        if what:
            self.held[name] = self.held.get(name, 0) + 1
            return
        self.broken += 1
        self.names[name] = self.names.get(name, 0) + 1
        if self.broken <= SHOWN and not self.quiet:
            print(f"DOES NOT HOLD {name}\n    {case}")

    def near(self, name, one, other, case, room=0):
        self.hold(name, abs(one - other) <= 1e-12 * abs(other) + room, f"{one} {other} {case}")

    def records(self, number=None):
        """Valid records of operators, and their rows."""
        records, names = [], list(self.devices)
        for i in range(number or self.count):
            op = operators.ALL[i % len(operators.ALL)]
            records.append(dict(operator=op, hardware=self.random.choice(names),
                                **cases.operator(self.random, op),
                                **cases.asked_formats(self.random, op)))
        rows = self.program.records([], records)
        kept = [(record, row) for record, row in zip(records, rows) if row]
        return [record for record, _ in kept], [row for _, row in kept]

    def text(self, records, *options, **environment):
        """What the program prints of records, as it is."""
        lines = "".join(json.dumps(record) + "\n" for record in records)
        result = self.program.run(["predict", "--from", "-"] + list(options), lines, **environment)
        if result.returncode or result.stderr:
            sys.exit(f"predict --from: {result.returncode} {result.stderr}")
        return result.stdout


def faster(data, folder, name, number):
    """The file of a device with twice the bandwidth, peaks and links and half the latency and energy."""
    path = name if name.endswith(".json") else os.path.join(data, "hardware", name + ".json")
    with open(path, encoding="utf-8") as file:
        device = json.load(file)

    def times(figure, factor):
        return dict(figure, value=figure["value"] * factor) if isinstance(figure, dict) else \
            figure * factor
    for keys, factor in (("bandwidth_gb_s link_gb_s peer_link_gb_s bridge_gb_s network_gb_s", 2),
                         ("link_latency_us network_latency_us byte_pj", 0.5)):
        for key in keys.split():
            if key in device:
                device[key] = times(device[key], factor)
    for key, factor in (("peak_tflops", 2), ("sparse_tflops", 2), ("vector_tflops", 2), ("flop_pj", 0.5)):
        device[key] = {unit: times(peak, factor) for unit, peak in device.get(key, {}).items()}
    path = os.path.join(folder, f"faster-{number}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(device, file)
    return path


def scaled_devices(check):
    """Twice the bandwidth, peaks and links, half the latency and energy of work: half the time."""
    records, rows = check.records()
    twice = check.program.records([], [dict(x, hardware=check.faster[x["hardware"]]) for x in records])
    for record, one, other in zip(records, rows, twice):
        for key in ("time_us", "memory_time_us", "compute_time_us", "network_time_us"):
            if key in one:
                check.near("half the time", 2 * other[key], one[key], record)
        check.hold("the same bottleneck", one["bottleneck"] == other["bottleneck"], record)


def split(check):
    """Two halves are the whole, apart from scales per tensor, and what both halves read."""
    random, wholes, firsts, seconds, shared = check.random, [], [], [], []
    kinds = (("gemm", "n", "activations out"), ("gemm", "m", "weights"), ("bmm", "batch", ""),
             ("rmsnorm", "tokens", ""), ("silu-mul", "tokens", ""), ("rope", "tokens", ""),
             ("flash-attention", "batch", ""), ("mla-decode", "batch", ""), ("softmax", "batch", ""),
             ("router", "tokens", ""), ("moe", "intermediate", "activations out"))
    for number in range(check.count):
        op, key, both = kinds[number % len(kinds)]
        dims = cases.operator(random, op)
        dims[key] = dims.get(key, 1) + 1
        record = dict(operator=op, hardware=random.choice(list(check.devices)), **dims,
                      **cases.asked_formats(random, op))
        cut = random.randint(1, dims[key] - 1)
        wholes.append(record)
        firsts.append(dict(record, **{key: cut}))
        seconds.append(dict(record, **{key: dims[key] - cut}))
        shared.append(both.split())
    rows = [check.program.records([], x) for x in (wholes, firsts, seconds)]
    for record, both, whole, one, other in zip(wholes, shared, *rows):
        if not whole:
            continue
        check.near("FLOPs of two halves", one["flops"] + other["flops"], whole["flops"], record)
        for role in operators.ROLES:
            once = formats.FORMATS[whole[role]]
            if role in both or not whole[role + "_bytes"] or (role == "weights" and
                                                              record["operator"] == "moe"):
                continue
            tensors = {"kv": 2 if record["operator"] == "flash-attention" else 1,
                       "activations": 2 if record["operator"] in ("silu-mul", "rope") else 1,
                       "out": 2 if record["operator"] == "rope" else 1, "weights": 1}[role]
            if record.get("gain") and role == "weights":
                continue
            got = one[role + "_bytes"] + other[role + "_bytes"] - tensors * once.get("tensor", 0)
            check.near("bytes of two halves", got, whole[role + "_bytes"], (role, record))


def queries(check):
    """Causal queries in two chunks make the same pairs."""
    random, wholes, firsts, seconds = check.random, [], [], []
    for _ in range(check.count):
        op = random.choice(("flash-attention", "attention-scores", "softmax", "mla-prefill"))
        dims = dict(cases.operator(random, op), causal=1)
        length = random.randint(1, dims["kv_len"])
        cut = random.randint(0, length - 1)
        base = dict(operator=op, **dims)
        wholes.append(dict(base, query_len=length))
        seconds.append(dict(base, query_len=length - cut))
        firsts.append(dict(base, query_len=max(1, cut), kv_len=max(1, dims["kv_len"] -
                                                                   (length - cut))))
    rows = [check.program.records([], x) for x in (wholes, firsts, seconds)]
    for record, last, whole, one, other in zip(wholes, seconds, *rows):
        if whole and other:
            first = one["flops"] if record["query_len"] > last["query_len"] else 0
            check.near("FLOPs of chunks of queries", first + other["flops"], whole["flops"], record)


def halves_of_experts(check):
    """moe is moe-gate-up and moe-down: each byte and FLOP."""
    random, records = check.random, []
    for _ in range(check.count):
        said = cases.asked_formats(random, "moe")
        # What is written between them is read in the activations' format.
        activations = formats.resolve({k: v for k, v in said.items() if k in (
            "precision", "weights")})["activations"]
        records.append(dict(cases.operator(random, "moe"), hardware=random.choice(
            list(check.devices)), **dict(said, activations=activations, out=activations)))
    rows = [check.program.records([], [dict(x, operator=op) for x in records])
            for op in ("moe", "moe-gate-up", "moe-down")]
    for record, whole, one, other in zip(records, *rows):
        if whole:
            for key in ("flops", "bytes", "weights_bytes"):
                check.near("moe and its halves", one[key] + other[key], whole[key], (key, record))


def heads(check):
    """GQA lies between MQA and MHA; the FLOPs are the same."""
    random, records = check.random, []
    for _ in range(check.count):
        op = random.choice(("flash-attention", "attention-scores", "attention-values", "attention"))
        dims = dict(cases.operator(random, op))
        dims["heads"] = dims["kv_heads"] * random.randint(1, 8)
        records.append(dict(operator=op, hardware=random.choice(list(check.devices)), **dims,
                            **cases.asked_formats(random, op)))
    one, some, every = (check.program.records([], [dict(x, kv_heads=of(x)) for x in records])
                        for of in (lambda x: 1, lambda x: x["kv_heads"], lambda x: x["heads"]))
    for record, mqa, gqa, mha in zip(records, one, some, every):
        if gqa:
            check.hold("GQA between MQA and MHA", all(
                mqa[key] <= gqa[key] <= mha[key] for key in ("kv_bytes", "bytes", "time_us")) and
                mqa["flops"] == gqa["flops"] == mha["flops"], record)


def neighbours(check):
    """A format with more bits per element, scales included, stores and moves more."""
    order = sorted(formats.NAMES, key=lambda x: formats.tensor_bytes(x, 10 ** 9))
    random, records = check.random, []
    for _ in range(check.count // len(order) + 1):
        # Enough elements for a scale per tensor or channel not to matter.
        base = dict(operator="gemm", m=random.randint(1, 64), n=4096 + random.randrange(4096),
                    k=65536 + random.randrange(4096))
        records += [dict(base, weights=name) for name in order]
    rows = check.program.records([], records)
    for one, other in zip(rows, rows[1:]):
        if order.index(one["weights"]) < order.index(other["weights"]):
            check.hold("formats in the order of their bits",
                       one["weights_bytes"] <= other["weights_bytes"] and
                       one["memory_time_us"] <= other["memory_time_us"], (one, other))


def output_formats(check):
    """JSON, NDJSON and CSV say the same, to the last digit."""
    records, _ = check.records()

    def numbers(text):
        return json.loads(text, parse_float=str, parse_int=str)
    lines = [numbers(line) for line in check.text(records, "-f", "ndjson").splitlines()]
    array = numbers(check.text(records, "-f", "json"))
    table = list(csv.DictReader(io.StringIO(check.text(records, "-f", "csv"))))
    check.hold("rows of JSON, NDJSON and CSV", len(lines) == len(array) == len(table), len(records))
    for record, line, one, row in zip(records, lines, array, table):
        flat = {key: {True: "1", False: "0"}.get(value, value) if isinstance(value, bool) else value
                for key, value in line.items()}
        check.hold("JSON = NDJSON", {k: v for k, v in one.items() if k not in ("parts",)} == line,
                   record)
        check.hold("CSV = NDJSON", {key: value for key, value in row.items() if value != ""} ==
                   {key: value for key, value in flat.items() if key != "schema" or key in row},
                   record)


def sweeps(check):
    """A sweep is predictions, point by point; the order of options changes nothing."""
    random, program = check.random, check.program
    for _ in range(max(5, check.count // 20)):
        op = random.choice(operators.ALL)
        where = random.choice(list(check.shipped))
        axes = {}
        for key, value in cases.operator(random, op).items():
            drawn = [str(value)]
            if isinstance(value, int) and key not in ("causal", "gain", "kv_heads", "top_k", "ep"):
                drawn += [str(cases.size(random, 8)) for _ in range(random.randint(0, 2))]
            axes[key] = ",".join(drawn)
        options = [[f"--{key.replace('_', '-')}={value}"] if len(key) > 1 else ["-" + key, value]
                   for key, value in axes.items() if key not in ("causal", "gain")]
        options += [["--" + key] for key in ("causal", "gain") if axes.get(key) == "1"]
        options += [["-H", where], ["-p", ",".join(random.sample(formats.NAMES, 3))]]
        texts = []
        for _ in range(2):
            random.shuffle(options)
            flat = [word for option in options for word in option]
            texts.append(program.run(["sweep", op] + flat + ["-f", "ndjson"]).stdout)
        check.hold("the order of options", texts[0] == texts[1], (op, options))
        if texts[0]:
            again = program.run(["predict", "--from", "-", "-f", "ndjson"], texts[0])
            check.hold("a sweep, point by point", again.stdout == texts[0], (op, options))
            line = random.choice(texts[0].splitlines())
            row = json.loads(line)
            words = [word for key in axes for word in
                     (["--" + key] if row.get(key) is True else [] if row.get(key) is False else
                      [("-" if len(key) == 1 else "--") + key.replace("_", "-"), str(row[key])])]
            words += ["-H", where, "-w", row["weights"], "-a", row["activations"],
                      "--out", row["out"], "--kv", row["kv"]]
            alone = program.run(["predict", op] + words + ["-f", "ndjson"])
            check.hold("a point of a sweep, alone", alone.stdout == line + "\n", words)


def environments(check):
    """Neither the locale nor POSIXLY_CORRECT nor the order of columns changes a byte."""
    records, _ = check.records()
    plain = check.text(records, "-f", "ndjson")
    for environment in command_properties.surroundings(check):
        check.hold("environment", check.text(records, "-f", "ndjson", **environment) == plain,
                   environment)
    shuffled = []
    for record in records:
        keys = list(record)
        check.random.shuffle(keys)
        shuffled.append({key: record[key] for key in keys})
    # Of NDJSON the first record is the header of what is carried: nothing is.
    for one, other in zip(plain.splitlines(), check.text(shuffled, "-f", "ndjson").splitlines()):
        check.hold("the order of members", one == other, one)


def units(check):
    """4Ki is 4096, 3M is 3000000; figures of a device survive list hardware -f json."""
    random, plain, suffixed = check.random, [], []
    for _ in range(check.count):
        dims = {}
        for key in ("m", "n", "k"):
            name, factor = random.choice((("", 1), ("k", 10 ** 3), ("K", 10 ** 3), ("M", 10 ** 6),
                                          ("Ki", 2 ** 10), ("Mi", 2 ** 20)))
            value = random.randint(1, 999)
            dims[key] = (value * factor, f"{value}{name}" if name != "K" else f"{value}k")
        plain.append(dict(operator="gemm", **{key: value for key, (value, _) in dims.items()}))
        suffixed.append(dict(operator="gemm", **{key: text for key, (_, text) in dims.items()}))
    for one, other, record in zip(check.text(plain, "-f", "ndjson").splitlines(),
                                  check.text(suffixed, "-f", "ndjson").splitlines(), suffixed):
        check.hold("suffixes", one == other, record)
    ids = check.program.run(["list", "hardware", "-f", "csv", "--columns", "id"]).stdout.split()[1:]
    folder = check.program.folder
    for name in ids:
        path = os.path.join(folder, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(check.program.run(["list", "hardware", name, "-f", "json"]).stdout)
        records = [dict(operator=op, **cases.operator(random, op), **cases.asked_formats(random, op))
                   for op in operators.ALL * 2]
        for record, one, other in zip(records, *(
                check.program.records([], [dict(x, hardware=where) for x in records])
                for where in (name, path))):
            keys = [key for key in (one or {}) if key not in ("hardware", "hardware_basis") and
                    not key.startswith("expected")]
            check.hold("a device through JSON", (one is None) == (other is None) and all(
                one[key] == other[key] for key in keys), (name, record))


PROPERTIES = {"operators": (scaled_devices, split, queries, halves_of_experts, heads, neighbours,
                            output_formats, sweeps, environments, units),
              "models": model_properties.PROPERTIES, "commands": command_properties.PROPERTIES}


def checker(arguments, folder, quiet=False):
    """Devices, models and the program, with what was drawn for the seed."""
    return Checker(Program(os.path.abspath(arguments.program), folder),
                   os.path.abspath(arguments.data), randomness.Random(arguments.seed),
                   arguments.cases, quiet)


def garbler(random):
    """Changes some of what is printed: a number by much or by little, a word, or a line is lost."""
    # No names with digits, and not what tells which record a row is of.
    number = re.compile(r'(?<!"case":)(?<![\w.\-/"])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])')

    def other(match):
        if random.random() > (0.15 if match.end() - match.start() == len(match.string) else 0.04):
            return match.group()
        value = float(match.group()) * random.choice((0.1, 0.999, 1.001, 10))
        return str(int(value) + 1) if match.group().isdigit() else repr(value)

    def garble(text):
        lines = [number.sub(other, line) for line in text.splitlines(True)]
        lines = [line.replace('"memory"', '"compute"') if random.random() < 0.02 else line
                 for line in lines]
        if len(lines) > 1 and random.random() < 0.2:
            del lines[random.randrange(len(lines))]
        return "".join(lines)
    return garble


TRIES = 400


def self_test(arguments):
    """With wrong output each property must be seen not to hold. What is garbled may be such that
    nothing can be read of it, or that it is not what a property looks at: then once more."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        right, wrong = (checker(arguments, folder, quiet) for quiet in (False, True))
        wrong.program.garble = garbler(wrong.random)
        for one in sum(PROPERTIES.values(), ()):
            before = set(right.held)
            one(right)
            names = set(right.held) - before
            for _ in range(TRIES):
                if names <= set(wrong.names):
                    break
                try:
                    one(wrong)
                except (ArithmeticError, LookupError, TypeError, ValueError, SystemExit):
                    pass
            for name in sorted(names):
                print(f"{'seen' if name in wrong.names else 'MISSED'}  {name}:",
                      f"{wrong.names.get(name, 0)}")
            missed += len(names - set(wrong.names))
    print(f"{missed} missed" if missed else "all seen", "in wrong output")
    return 1 if missed or right.broken else 0


def main():
    arguments = command_line(__doc__, "properties", 1000, "of each property")
    if arguments.self_test:
        return self_test(arguments)
    with tempfile.TemporaryDirectory() as folder:
        check = checker(arguments, folder)
        for group, properties in PROPERTIES.items():
            before = set(check.held)
            for one in properties:
                one(check)
            held = {name: count for name, count in check.held.items() if name not in before}
            print(f"{group}, held {sum(held.values())} times:",
                  "; ".join(f"{name} {count}" for name, count in held.items()), flush=True)
    for name, count in check.names.items():
        print(f"BROKEN {count} times: {name}")
    print(f"{check.broken} do not hold" if check.broken else "all hold")
    return 1 if check.broken else 0


if __name__ == "__main__":
    sys.exit(main())
