# SPDX-License-Identifier: MIT
"""The program against formulas that were written a second time (see docs/testing.md).

    python3 oracle.py PROGRAM DATA --cases N --seed S
"""
import argparse
import collections
import json
import os
import random as randomness
import subprocess
import sys
import tempfile
from fractions import Fraction

import cases
import device as devices
import formats
import models
import operators

TOLERANCE = 1e-12
TERA, MILLI, MICRO = 10 ** 12, Fraction(1, 1000), Fraction(1, 10 ** 6)
SHOWN = 10


class Comparison:
    """Counts what agreed, what both refused, and what differed."""

    def __init__(self):
        self.agreed, self.refused = collections.Counter(), collections.Counter()
        self.differed, self.values = 0, 0
        self.fields = collections.Counter()

    def differ(self, what, case):
        self.differed += 1
        if self.differed <= SHOWN:
            print(f"DIFFERENCE {what}\n    {json.dumps(case)}")

    def field(self, key, got, want, case):
        """One value; None is an absent one."""
        self.values += 1
        if isinstance(want, (str, bool)) or want is None or got is None or \
                isinstance(got, (str, bool)):
            same = got == want
        else:
            want = float(want)
            same = got == want or abs(got - want) <= TOLERANCE * abs(want)
        if not same:
            self.fields[key] += 1
            want = float(want) if isinstance(want, Fraction) else want
            self.differ(f"{key}: program {got}, oracle {want}", case)
        return same

    def row(self, got, want, kind, case):
        """A row of the program (None: refused) against the oracle's (None: refused)."""
        if got is None or want is None:
            if got is not want:
                side = "program" if got is None else "oracle"
                self.fields[f"refused by the {side}"] += 1
                self.differ(f"refused by the {side} alone", case)
            else:
                self.refused[kind] += 1
            return
        if all(self.field(key, got.get(key), value, case) for key, value in want.items()):
            self.agreed[kind] += 1


class Program:
    """Runs the program on records."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("ROOFLINE")}
        self.environment.update(XDG_DATA_HOME=folder, HOME=folder, LC_ALL="C")

    def run(self, arguments, text=None, **environment):
        return subprocess.run([self.path] + arguments, input=text, capture_output=True, text=True,
                              env=dict(self.environment, **environment), check=False)

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


def scaled(value, unit):
    """In a larger unit; None stays unknown."""
    return None if value is None else value / unit


def operator_row(dims, resolved, p, device):
    """The row that the program should print of an operator."""
    row = {key: value for key, value in resolved.items() if key != "compute"}
    for role in operators.ROLES:
        row[f"{role}_bytes"] = p["by_role"][role]
    composite = p["op"] is None
    row.update(flops=p["flops"], bytes=p["bytes"], arithmetic_intensity=p["intensity"],
               ridge_point=p["ridge"], memory_time_us=p["memory"] / MICRO,
               compute_time_us=scaled(p["compute"], MICRO),
               time_us=p["time"] / MICRO, bottleneck=p["bottleneck"],
               attainable_tflops=scaled(p["attainable"], TERA), bandwidth_gb_s=device.bandwidth / 10 ** 9,
               peak_tflops=scaled(None if composite else p["peak"], TERA),
               fraction_of_peak=p["fraction"], native=p["native"],
               compute_precision=p["compute_precision"], network_bytes=p["network_bytes"],
               network_time_us=scaled(p["network"], MICRO))
    return row


def check_operators(comparison, program, every_device, random, count):
    """Random operators, formats and devices."""
    names = list(every_device)
    batch, wanted, kinds = [], [], []
    for number in range(count):
        op = operators.ALL[number % len(operators.ALL)]
        dims = cases.operator(random, op)
        asked = cases.asked_formats(random, op)
        name = random.choice(names)
        sparse = random.random() < 0.3
        record = dict(operator=op, hardware=name, **dims, **asked)
        if sparse:
            record["sparse"] = 1
        batch.append(record)
        kinds.append(op)
        try:
            full, resolved, p = operators.ask(op, dims, asked, every_device[name], sparse)
            row = operator_row(full, resolved, p, every_device[name])
            if sparse:
                row["sparse"] = p["sparse"]
            wanted.append(row)
            for role, one in resolved.items():
                comparison.agreed[f"format {one}"] += one is not None
        except formats.Refused:
            wanted.append(None)
    for record, got, want, kind in zip(batch, program.records([], batch), wanted, kinds):
        comparison.row(got, want, kind, record)


def check_catalog(comparison, program):
    """The blocks of the formats."""
    for line in program.run(["list", "precisions", "-f", "ndjson"]).stdout.splitlines():
        got = json.loads(line)
        row = formats.FORMATS.get(got["name"])
        want = row and dict(block_elements=row["elements"], significant_bits=row["width"],
                            bits_per_element=row["bits"] / row["elements"],
                            tensor_bytes=row.get("tensor", 0), channel_bytes=row.get("channel", 0),
                            fallbacks=" ".join(row["fallbacks"].split()) or None)
        got["fallbacks"] = " ".join(got.get("fallbacks", [])) or None
        # Elements and bytes may be those of several blocks that make whole bytes.
        if row:
            want["block_elements"] = got["block_bytes"] * 8 * row["elements"] / row["bits"]
        comparison.row(got, want, "formats", got["name"])


def model_row(row):
    """The row that the program should print of a model."""
    s, f = row["s"], row["f"]
    row_of = {f"{role}_bytes": row["by_role"][role] for role in operators.ROLES}
    fits = row["fits"]
    rate = None if fits is False else row["rate"]
    row_of.update(
        activations=f.activations, out=f.out, kv=f.kv, native=row["native"], flops=row["flops"],
        bytes=row["bytes"], network_bytes=row["network_bytes"],
        arithmetic_intensity=row["arithmetic_intensity"], memory_time_us=row["memory_time"] / MICRO,
        compute_time_us=scaled(row["compute_time"], MICRO),
        network_time_us=scaled(row["network_time"], MICRO), time_us=row["time"] / MICRO,
        bottleneck=row["bottleneck"], attainable_tflops=scaled(row["attainable"], TERA),
        weights_memory_bytes=row["weights"], kv_cache_bytes=row["cache"],
        activation_memory_bytes=row["active"], kv_bytes_per_token=row["per_token"],
        memory_capacity_bytes=row["capacity"], fits=fits,
        memory_reserve_bytes=scaled(row["capacity"], 1 / s.reserve) if s.reserve else
        scaled(row["capacity"], 1) and 0, step_ms=row["step"] * 1000,
        ttft_ms=scaled(row["ttft"], MILLI), tpot_ms=scaled(row["tpot"], MILLI),
        tokens_per_step=row["tokens_per_step"], tokens_per_s=rate,
        tokens_per_s_per_user=scaled(rate, s.batch), devices=s.tp * s.pp * s.ep)
    if "draft" in row:
        row_of["draft_ms"] = row["draft"] * 1000
    return row_of


def check_models(comparison, program, every_device, every_model, random, count, groups):
    """Random scenarios; what no column says is the same for a group of them."""
    for group in range(groups):
        options, classes, layout = [], {}, None
        fixed = {}
        if group % 3 == 1:
            name = random.choice(list(every_model["layouts"]))
            layout = every_model["layouts"][name]
            fixed["layout"] = name
        if group % 3 == 2 or random.random() < 0.2:
            for name in random.sample(models.CLASSES + list(models.GROUPS), random.randint(1, 3)):
                classes[name] = random.choice(formats.NAMES)
                options += ["--class", f"{name}={classes[name]}"]
        switches = {}
        for key in ("split_projections", "unfused_attention"):
            if random.random() < 0.25:
                switches[key] = 1
                options.append("--" + key.replace("_", "-"))
        records, wanted, kinds = [], [], []
        for _ in range(count // groups):
            name = random.choice(list(every_model["models"]))
            model = every_model["models"][name]
            asked = cases.scenario(random, model)
            said = cases.asked_formats(random, "gemm")
            if layout and random.random() < 0.95:
                said = {key: said[key] for key in said if key not in ("weights", "precision")}
            asked.update(said)
            where = random.choice(list(every_device))
            sparse = random.random() < 0.2
            records.append(dict(asked, model=name, hardware=where, **fixed))
            if sparse:
                records[-1]["sparse"] = 1
            kinds.append(asked.get("phase", "decode"))
            try:
                wanted.append(model_row(models.infer(model, dict(asked, **switches),
                                                     every_device[where], classes, layout, sparse)))
            except formats.Refused:
                wanted.append(None)
        for record, got, want, kind in zip(records, program.records(["model"], records, options),
                                           wanted, kinds):
            comparison.row(got, want, kind, [record, options])
            if got and want:
                comparison.agreed["model " + every_model["models"][record["model"]].kind] += 1
