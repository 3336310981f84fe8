# SPDX-License-Identifier: MIT
"""The program against formulas that were written a second time (see docs/testing.md).

    python3 oracle.py PROGRAM DATA --cases N --seed S
"""
import collections
import json
import math
import os
import random as randomness
import sys
import tempfile
from fractions import Fraction

import cases
import device as devices
import estimates
import formats
import models
import operators
import tiles
from program import SHOWN, Program, command_line

TOLERANCE = 1e-12
TERA, MILLI, MICRO = 10 ** 12, Fraction(1, 1000), Fraction(1, 10 ** 6)
# Models whose own config (--layout checkpoint) says what a layout of the same publisher says.
CHECKPOINTS = {"deepseek-v3": "deepseek-fp8", "deepseek-r1": "deepseek-fp8",
               "deepseek-r1-0528-nvfp4-v2": "deepseek-r1-nvfp4-v2",
               "gpt-oss-20b": "gpt-oss-mxfp4", "gpt-oss-120b": "gpt-oss-mxfp4"}


class Comparison:
    """Counts what agreed, what both refused, and what differed."""

    def __init__(self, quiet=False):
        self.quiet = quiet
        self.agreed, self.refused = collections.Counter(), collections.Counter()
        self.differed, self.values = 0, 0
        self.fields = collections.Counter()

    def differ(self, what, case):
        self.differed += 1
        if self.differed <= SHOWN and not self.quiet:
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
               network_time_us=scaled(p["network"], MICRO), power_time_us=scaled(p["power"], MICRO),
               energy_j=p["energy"], power_w=scaled(p["energy"], p["time"]))
    return row


def drawn_operators(every_device, random, count):
    """Random operators, formats and devices."""
    for number in range(count):
        op = operators.ALL[number % len(operators.ALL)]
        yield op, random.choice(list(every_device)), cases.asked_formats(random, op)


def paired_operators(every_device, random):
    """Each pair of formats that meet in a product, or that a tensor is read and written in, and
    each operator on each device."""
    for one in formats.NAMES:
        for other in formats.NAMES:
            name = random.choice(list(every_device))
            yield "gemm", name, dict(weights=one, activations=other)
            yield "flash-attention", name, dict(kv=one, activations=other)
            yield "quantize", name, dict(activations=one, out=other)
            yield "bmm", name, dict(precision=one, compute=other)
    for op in operators.ALL:
        for name in every_device:
            yield op, name, {}


def check_operators(comparison, program, every_device, random, drawn):
    batch, wanted, kinds = [], [], []
    for op, name, asked in drawn:
        dims = cases.operator(random, op)
        sparse = random.random() < (0.4 if op in operators.WITH_WEIGHTS else 0.05)
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
            row["least_time_us"] = None
            if op in operators.EXPERTS and full["routing"] != "fewest":
                least = operators.ask(op, dict(dims, routing="fewest"), asked, every_device[name],
                                      sparse)[2]
                row["least_time_us"] = least["time"] / MICRO
            wanted.append(row)
            for role, one in resolved.items():
                comparison.agreed[f"format {one}"] += one is not None
        except formats.Refused:
            wanted.append(None)
    for record, got, want, kind in zip(batch, program.records([], batch), wanted, kinds):
        comparison.row(got, want, kind, record)


def check_tiles(comparison, program, every_device, random, count):
    """Tiles of products, on devices with and without the figures that they need."""
    able = [name for name, device in every_device.items() if device.figures["cluster_blocks"]]
    for _ in range(count):
        name = random.choice(able if random.random() < 0.95 else list(every_device))
        size = [random.choice((1, 2, 40, 1000, 4096, random.randint(1, 9000))) for _ in range(3)]
        batch = random.choice((1, 1, 1, 5))
        asked = cases.asked_formats(random, "gemm") if random.random() < 0.3 else {}
        tile = random.choice(tiles.CANDIDATES) if random.random() < 0.7 else tuple(
            random.choice((8, 24, 48, 64, 96, 192)) for _ in range(3))
        tile = (60, 64, 32) if random.random() < 0.02 else tile
        stages = random.choice((None, None, 1, 2, 3, 6))
        cluster = random.choice(((1, 1), (1, 1), (2, 1), (1, 2), (2, 4), (4, 4)))
        command = ["predict", "gemm", "-f", "json", "-H", name, "--tile", "x".join(map(str, tile)),
                   "--batch", f"{batch}", "--cluster", f"{cluster[0]}x{cluster[1]}"]
        for option, value in zip(("-m", "-n", "-k"), size):
            command += [option, f"{value}"]
        for key, value in asked.items():
            command += ["--" + key, value]
        command += ["--stages", f"{stages}"] if stages else []
        result = program.run(command)
        try:
            dims = dict(zip("mnk", size), batch=batch)
            _, resolved, p = operators.ask("gemm", dims, asked, every_device[name])
            want = tiles.analyse((*size, batch), resolved, p, every_device[name], tile, stages,
                                 cluster)
        except formats.Refused:
            want = None
        got = json.loads(result.stdout) if result.returncode == 0 else None
        comparison.row(got, want, "tiles", command)


def check_padding(comparison, program, every_device, random, count):
    """The product with aligned rows that --advise predicts, against the tile of the estimate."""
    for _ in range(count):
        device = every_device[random.choice(("h100-sxm", "h200", "a100-sxm-80gb", "l40s"))]
        size = (random.choice((1, 16, 128, 4096)), random.choice((4095, 4096, 4100, 512)),
                random.choice((1000, 4097, 4104, 14335)), random.choice((1, 1, 3)))
        asked = {"precision": random.choice(("fp16", "fp16", "fp8_e4m3"))}

        def run(sizes, *more):
            dims = [f"{word}{value}" for word, value in zip(("-m", "-n", "-k", "--batch="), sizes)]
            return program.run(["predict", "gemm", "-H", device.name, "-p", asked["precision"],
                                "--tiling", "-f", "json", *more, *dims])
        result = run(size, "--advise")
        base = json.loads(result.stdout)
        found = [line for line in base["advice"] if " padded to " in line["change"]]
        _, resolved, p = operators.ask("gemm", dict(zip("mnk", size), batch=size[3]), asked, device)
        to = tiles.padded(size, resolved)
        want = None
        if to != size:
            after = json.loads(run(to).stdout)
            _, _, q = operators.ask("gemm", dict(zip("mnk", to), batch=to[3]), asked, device)
            tiling = base["tiling"]
            tile = tiles.tile_of(size, resolved, p, device,
                                 (tiling["tile_m"], tiling["tile_n"]) if "tile_m" in tiling else None)
            times = [max(row["expected_time_us"], float(
                (tiles.alone(sizes, resolved, of, device, tile) or {"tile_time_us": 0})["tile_time_us"]))
                     for row, sizes, of in ((base, size, p), (after, to, q))]
            want = {"time_us": after["time_us"], "expected_time_us": after["expected_time_us"],
                    "speedup": base["time_us"] / after["time_us"],
                    "expected_speedup": times[0] / times[1]}
        comparison.row(found[0] if found else None, want, "padding", result.args)


def check_estimates(comparison, program, random, folder, count):
    """The expected time of products, whose K is cut into parts or not, for drawn kernels."""
    for i in range(count):
        device, calibration = estimates.device(random)
        m = random.choice((2, 8, 64, 512, random.randint(2, 5000)))
        n, k = random.randint(1, 9000), random.randint(1, 20000)
        batch, split = random.choice((1, 1, 3)), random.choice((None, None, 1, 2, 3, 5, 7, 16))
        paths = [os.path.join(folder, f"{name}-{i}.json") for name in ("kernel", "measured")]
        for path, document in zip(paths, (device, calibration)):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(document, file)
        command = ["predict", "gemm", "-p", "fp16", "-m", f"{m}", "-n", f"{n}", "-k", f"{k}",
                   "--batch", f"{batch}", "-H", paths[0], "--calibration", paths[1], "-f", "json"]
        result = program.run(command + (["--split-k", f"{split}"] if split else []))
        got = json.loads(result.stdout) if result.returncode == 0 else None
        want = estimates.product(calibration["fits"][0]["parameters"], device, m, n, k, batch, split)
        comparison.row(got, {"expected_time_us": want * 1e6}, "estimates", command)


def drawn_stage(random):
    """A stage of a graph file: its operators with what they ask, and the waits of a pass."""
    stage = {"name": "s", "repeat": random.randint(1, 50), "operators": [], "inputs": {}}
    for key, likely, value in (("serial_ms", 0.5, random.randint(1, 99)),
                               ("host_gap_us", 0.5, random.randint(1, 400)),
                               ("launches", 0.3, random.randint(1, 900))):
        if random.random() < likely and (key != "launches" or "host_gap_us" in stage["inputs"]):
            stage["inputs"][key] = value
    for _ in range(random.randint(1, 5)):
        m, n, k = (4 * random.randint(1, 900) for _ in range(3))
        name, dims, splits = random.choice((
            ("gemm", {"m": m, "n": n, "k": k}, "n"), ("conv2d", {"m": m, "n": n, "k": k}, "n"),
            ("conv3d", {"m": m, "n": n, "k": k, "taps": 27}, "m"),
            ("groupnorm", {"tokens": m, "hidden": n}, "tokens"),
            ("add", {"tokens": m, "hidden": n}, "hidden")))
        operator = {"operator": name, "count": random.randint(1, 40), **dims}
        if random.random() < 0.5:
            operator["split"] = splits
        stage["operators"].append(operator)
    return stage


def stage_row(stage, device, devices):
    """The times of a stage (microseconds), and of the parts of it that no split shortens."""
    took, whole, count = Fraction(0), Fraction(0), 0
    for operator in stage["operators"]:
        dims = {key: value for key, value in operator.items()
                if key not in ("operator", "count", "split")}
        if "split" in operator:
            dims[operator["split"]] //= devices
        _, _, p = operators.ask(operator["operator"], dims, {"precision": "fp16"}, device)
        took += operator["count"] * p["time"]
        whole += 0 if "split" in operator else operator["count"] * p["time"]
        count += operator["count"]
    waits = stage["inputs"]
    host = Fraction(waits.get("serial_ms", 0)) * MILLI + \
        waits.get("launches", count) * Fraction(waits.get("host_gap_us", 0)) * MICRO
    return [stage["repeat"] * value / MICRO for value in (took + host, host, whole + host)]


def check_files(comparison, program, every_device, random, count):
    """The sums of graph files."""
    for _ in range(count):
        device = every_device[random.choice(("h100-sxm", "gb10", "mi300x", "m4-max"))]
        devices = random.choice((1, 2, 4))
        document = {"yields": random.randint(1, 99), "inputs": {"precision": "fp16"},
                    "stages": [drawn_stage(random) for _ in range(random.randint(1, 4))]}
        command = ["predict", "graph", "-", "-H", device.name, "--devices", f"{devices}",
                   "-f", "json"]
        result = program.run(command, json.dumps(document))
        got = json.loads(result.stdout) if result.returncode == 0 else None
        rows = [stage_row(stage, device, devices) for stage in document["stages"]]
        want = dict(zip(("time_us", "host_us", "whole_us"), map(sum, zip(*rows))))
        comparison.row(got and got["total"], want, "files", [command, document])
        comparison.field("per_s", got and got["per_s"], document["yields"] / (want["time_us"] * MICRO),
                         document)


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
    copies = s.asked.get("dp", 1)
    rate = None if fits is False else row["rate"]
    row_of.update(
        activations=f.activations, out=f.out, kv=f.kv, native=row["native"], flops=row["flops"],
        bytes=row["bytes"], network_bytes=row["network_bytes"],
        arithmetic_intensity=row["arithmetic_intensity"], memory_time_us=row["memory_time"] / MICRO,
        compute_time_us=scaled(row["compute_time"], MICRO),
        network_time_us=scaled(row["network_time"], MICRO),
        power_time_us=scaled(row["power"], MICRO), energy_j=row["energy"],
        power_w=scaled(row["energy"], row["step"]), joule_per_token=None if rate is None else
        scaled(row["energy"], row["step"] * rate / (s.tp * s.pp * s.groups)), time_us=row["time"] / MICRO,
        bottleneck=row["bottleneck"], attainable_tflops=scaled(row["attainable"], TERA),
        weights_memory_bytes=math.ceil(row["weights"]), kv_cache_bytes=math.ceil(row["cache"]),
        activation_memory_bytes=math.ceil(row["active"]), kv_bytes_per_token=row["per_token"],
        kv_bytes_per_further_token=row["per_further_token"],
        memory_capacity_bytes=row["capacity"], fits=fits,
        memory_reserve_bytes=scaled(row["capacity"], 1 / s.reserve) if s.reserve else
        scaled(row["capacity"], 1) and 0, step_ms=row["step"] * 1000,
        ttft_ms=scaled(row["ttft"], MILLI), tpot_ms=scaled(row["tpot"], MILLI),
        tokens_per_step=row["tokens_per_step"], tokens_per_s=scaled(rate, Fraction(1, copies)),
        tokens_per_s_per_user=scaled(rate, s.batch), dp=copies,
        devices=s.tp * s.pp * s.groups * copies,
        image_tokens=s.image_tokens or None, audio_tokens=s.audio_tokens or None, attention_dp=s.groups, moe_tp=s.cut,
        moe_ep=s.parts)
    if "draft" in row:
        row_of["draft_ms"] = row["draft"] * 1000
    if "away" in row:
        row_of.update(offloaded_ms=row["away"] * 1000, host_memory_bytes=math.ceil(row["host_memory"]),
                      host_capacity_bytes=row["host_capacity"], host_fits=row["host_fits"])
    if "e2e" in row:
        # A sum of many passes has no FLOPs, bytes and operators.
        keep = "activations out kv weights_memory_bytes kv_cache_bytes activation_memory_bytes " \
            "kv_bytes_per_token kv_bytes_per_further_token memory_capacity_bytes fits ttft_ms tpot_ms step_ms " \
            "tokens_per_step " \
            "tokens_per_s tokens_per_s_per_user dp devices"
        row_of = {key: row_of[key] for key in keep.split()}
        row_of.update(e2e_ms=row["e2e"] * 1000, time_us=row["e2e"] / MICRO)
    return row_of


def infer(model, asked, *arguments, **options):
    if ("prompt" in asked) != ("generate" in asked):
        raise formats.Refused("a request has both lengths")
    return (models.request if "prompt" in asked else models.infer)(model, asked, *arguments,
                                                                   **options)


def whole_row(model, asked, *arguments, **options):
    """The row of a model, with the time of a pass if all its tokens chose the same experts."""
    row = model_row(infer(model, asked, *arguments, **options))
    routed = any(layer[1] for layer in model.layers)
    routed = routed and asked.get("phase") != "encode"
    if "e2e_ms" in row or not routed or asked.get("routing") == "fewest":
        row["least_time_us"] = None
    elif not asked.get("draft_tokens"):
        fewest = infer(model, dict(asked, routing="fewest"), *arguments, **options)
        row["least_time_us"] = fewest["time"] / MICRO
    return row


def check_models(comparison, program, every_device, every_model, random, count, groups):
    """Random scenarios; what no column says is the same for a group of them."""
    for group in range(groups):
        options, classes = [], {}
        if group % 3 == 2 or random.random() < 0.2:
            for name in random.sample(models.CLASSES + list(models.GROUPS), random.randint(1, 3)):
                classes[name] = random.choice(formats.NAMES)
                options += ["--class", f"{name}={classes[name]}"]
        switches = {}
        for key in ("split_projections", "unfused_attention"):
            if random.random() < 0.25:
                switches[key] = 1
                options.append("--" + key.replace("_", "-"))
        if random.random() < 0.4:
            switches["fuse"] = random.choice(("none", "all"))
            options += ["--fuse", switches["fuse"]]
        records, wanted, kinds = [], [], []
        for _ in range(count // groups):
            name = random.choice(list(every_model["models"]))
            model = every_model["models"][name]
            asked = cases.scenario(random, model)
            said = cases.asked_formats(random, "gemm")
            layout = None
            if group % 3 == 1:
                where = random.choice(list(every_model["layouts"]))
                layout = every_model["layouts"][where]
                asked["layout"] = where
                if name in CHECKPOINTS and random.random() < 0.7:
                    layout = every_model["layouts"][CHECKPOINTS[name]]
                    asked["layout"] = "checkpoint"
            if layout and random.random() < 0.95:
                said = {key: said[key] for key in said if key not in ("weights", "precision")}
            asked.update(said)
            where = random.choice(list(every_device))
            sparse = random.random() < 0.2
            records.append(dict(asked, model=name, hardware=where))
            if sparse:
                records[-1]["sparse"] = 1
            kinds.append("static" if "static" in asked else "request" if "prompt" in asked else
                         asked.get("phase", "decode"))
            try:
                wanted.append(whole_row(model, dict(asked, **switches), every_device[where],
                                        classes=classes, layout=layout, sparse=sparse))
            except formats.Refused:
                wanted.append(None)
        for record, got, want, kind in zip(records, program.records(["model"], records, options),
                                           wanted, kinds):
            comparison.row(got, want, kind, [record, options])
            if got and want:
                comparison.agreed["model " + every_model["models"][record["model"]].kind] += 1


def check_drafts(comparison, program, every_device, every_model, random, count):
    """A draft model is an option, so all records of a process share it."""
    for _ in range(count):
        draft = random.choice(list(every_model["models"]))
        records, wanted = [], []
        for _ in range(3):
            name = random.choice(list(every_model["models"]))
            where = random.choice(list(every_device))
            asked = cases.scenario(random, every_model["models"][name])
            for key in ("phase", "chunk", "prefill_batch", "prefill_context", "prefix_hit"):
                asked.pop(key, None)
            asked["draft_tokens"] = random.randint(1, 6)
            if random.random() < 0.3:
                asked.update(cases.asked_formats(random, "gemm"))
            records.append(dict(asked, model=name, hardware=where))
            try:
                wanted.append(model_row(infer(every_model["models"][name], asked,
                                              every_device[where],
                                              draft=every_model["models"][draft])))
            except formats.Refused:
                wanted.append(None)
        for record, got, want in zip(records, program.records(
                ["model"], records, ["--draft-model", draft]), wanted):
            comparison.row(got, want, "drafts", [record, draft])


def check_offload(comparison, program, every_device, every_model, random, count):
    """Layers or experts in the memory of a host, which is an option for all records."""
    for _ in range(count):
        bandwidth, memory = random.randint(20, 600), random.choice((4, 16, 64, 256))
        records, wanted = [], []
        for _ in range(4):
            name = random.choice(list(every_model["models"]))
            model, where = every_model["models"][name], random.choice(list(every_device))
            asked = cases.scenario(random, model)
            for key in ("tp", "pp", "ep", "dp", "attention_dp", "moe_tp", "moe_ep"):
                if random.random() < 0.95:
                    asked.pop(key, None)
            part = "experts" if model.experts > 1 and random.random() < 0.6 else "layers"
            layers = random.choice((1, len(model.layers),
                                    random.randint(1, len(model.layers) + 1)))
            asked["offload"] = "experts" if part == "experts" and random.random() < 0.3 else \
                f"{part}:{layers}"
            asked["fuse"] = random.choice(("default", "none", "all"))
            records.append(dict(asked, model=name, hardware=where))
            try:
                wanted.append(model_row(infer(model, asked,
                                              every_device[where].beside(bandwidth, memory))))
            except formats.Refused:
                wanted.append(None)
        for record, got, want in zip(records, program.records(
                ["model"], records, ["--host-bandwidth", f"{bandwidth}", "--host-memory",
                                     f"{memory}"]), wanted):
            comparison.row(got, want, "offload", [record, bandwidth, memory])


def check_groups(comparison, program, every_device, every_model, random, count):
    """Requests over groups of the attention, with many prompts in a step."""
    routed = [name for name, model in every_model["models"].items() if model.experts > 1]
    records, wanted = [], []
    for _ in range(count):
        name, where = random.choice(routed), random.choice(list(every_device))
        prompt = random.randint(1, 400)
        asked = dict(prompt=prompt, generate=random.randint(1, 12), ep=random.choice((2, 4)),
                     batch=random.randint(1, 100), pp=random.choice((1, 1, 2)),
                     chunk=max(1, int(prompt * random.choice((0.4, 1, 1.7, 3)))))
        records.append(dict(asked, model=name, hardware=where))
        try:
            wanted.append(model_row(infer(every_model["models"][name], asked, every_device[where])))
        except formats.Refused:
            wanted.append(None)
    for record, got, want in zip(records, program.records(["model"], records), wanted):
        comparison.row(got, want, "groups", record)


def operators_of(row):
    """What a model's graph has, by name, shape and formats: how often in all, on the slowest
    stage, and the predictions. How wide a group lies and by which algorithm are left out: stages
    differ in them."""
    found = {}
    for stage, one in enumerate(row["predicted"]):
        for count, node, p in one:
            dims = {key: value for key, value in node.dims.items()
                    if key not in ("within", "algorithm", "bias")
                    and (value or key not in UNPRINTED)}
            if node.op in operators.LATENT:
                del dims["window"]
            if node.op == "kv-append":
                del dims["heads"]
            if node.op == "send":
                del dims["devices"]
            used = tuple((role, node.formats[role]) for role in operators.ROLES
                         if p["by_role"][role])
            key = (node.name, node.op, tuple(sorted((k, str(v)) for k, v in dims.items())), used)
            entry = found.setdefault(key, [0, 0, []])
            entry[0] += count
            entry[1] += count if stage == row["slowest"] else 0
            entry[2].append((node, p))
    return found


def operator_key(got, sizes):
    dims = {key: got[key] for key in sizes if key in got}
    for key in ("within", "algorithm"):
        dims.pop(key, None)
    if got["operator"] == "kv-append":
        dims.pop("heads", None)
    for key in UNPRINTED:
        if not dims.get(key):
            dims.pop(key, None)
    dims = {key: int(value) if isinstance(value, bool) else value for key, value in dims.items()}
    used = tuple((role, got[role]) for role in operators.ROLES if got[f"{role}_bytes"])
    return (got["name"], got["operator"], tuple(sorted((k, str(v)) for k, v in dims.items())), used)


UNPRINTED = ("compression", "selected")  # where they are 0
SIZES = ("m n k batch heads kv_heads head_dim query_len kv_len causal window kv_lora_rank "
         "qk_nope_head_dim qk_rope_head_dim v_head_dim tokens hidden gain intermediate experts top_k "
         "routing ep elements devices within algorithm selected taps subsample state_size scan_chunk compression streams").split()


def check_graphs(comparison, program, every_device, every_model, random, count):
    """Single predictions in JSON: every operator of the graph with its counts, and the limits."""
    # One of them has compressed keys in some layers, and others that are not chosen.
    compressed = [name for name, model in every_model["models"].items() if model.compressed]
    for number in range(count):
        name = random.choice(list(every_model["models"]) if number else compressed)
        where = random.choice(list(every_device))
        model, device = every_model["models"][name], every_device[where]
        asked = cases.scenario(random, model)
        while "prompt" in asked or "ep" in asked and set(asked) & {"moe_tp", "moe_ep",
                                                                    "attention_dp"}:
            asked = cases.scenario(random, model)  # records alone take ep beside the others
        asked.update(cases.asked_formats(random, "gemm"))
        asked["fuse"] = random.choice(("default", "none", "all", "all"))
        for key, likely, value in (("host_gap_us", 0.5, random.randint(1, 400)),
                                   ("launches", 0.2, random.randint(1, 1000)),
                                   ("serial_ms", 0.3, random.randint(1, 99))):
            if random.random() < likely:
                asked[key] = value
        arguments = ["predict", "model", name, "-H", where, "-f", "json"]
        units = {"host_gap_us": "us", "serial_ms": "ms"}
        for key, value in asked.items():
            unit = units.get(key, "")
            key = "audio_length" if key == "audio_length_s" else key.removesuffix("_" + unit)
            arguments += ["--" + key.replace("_", "-"), f"{value}{unit}"]
        result = program.run(arguments)
        case = " ".join(arguments)
        try:
            row = infer(model, asked, device)
        except formats.Refused:
            comparison.row(None if result.returncode else {}, None, "graphs", case)
            continue
        if result.returncode:
            comparison.row(None, {}, "graphs", case)
            continue
        got = json.loads(result.stdout)
        before = comparison.differed
        theirs, ours = {}, operators_of(row)
        for one in got["operators"]:
            entry = theirs.setdefault(operator_key(one, SIZES), [0, 0, []])
            entry[0] += one["count"]
            entry[1] += one["device_count"]
            entry[2].append(one)
        if set(theirs) != set(ours):
            comparison.differ(f"operators {sorted(set(theirs) ^ set(ours))}", case)
        for key in set(theirs) & set(ours):
            comparison.field(f"count of {key[0]}", theirs[key][0], ours[key][0], case)
            comparison.field(f"device_count of {key[0]}", theirs[key][1], ours[key][1], case)
            if len(theirs[key][2]) == 1:
                (one,), (node, p) = theirs[key][2], ours[key][2][0]
                want = operator_row({}, {}, p, device)
                for field, value in want.items():
                    if not node.dims.get("within"):
                        comparison.field(f"{field} of {key[0]}", one.get(field), value, case)
        comparison.field("step_ms", got["step_ms"], row["step"] * 1000, case)
        comparison.field("host_ms", got.get("host_ms"), row["host"] * 1000 or None, case)
        comparison.field("launches", got.get("launches"), row["waits"], case)
        comparison.field("bottleneck", got["bottleneck"], row["bottleneck"], case)
        check_limits(comparison, got["limits"], model, asked, device, row, case)
        check_bounds(comparison, got["limits"], got["operators"], model, asked, device, case)
        if comparison.differed == before:
            comparison.agreed["graphs"] += 1


def check_limits(comparison, got, model, asked, device, row, case):
    total, active = models.parameters(model)
    comparison.field("parameters", got["parameters"], total, case)
    comparison.field("active_parameters", got["active_parameters"], active, case)
    if row["s"].phase == "decode" and not row["s"].drafts and row["s"].pp == 1:
        comparison.field("kv_crossover_context", got.get("kv_crossover_context"),
                         models.crossover(model, row), case)
    for limit, key in (("max_batch", "batch"), ("max_context", "context")):
        most = got.get(limit)
        if device.capacity is None:
            comparison.field(limit, most, None, case)
            continue

        def fits(value):
            try:
                return infer(model, dict(asked, **{key: value}), device)["fits"]
            except formats.Refused:
                return False
        comparison.values += 1
        if most is None:
            # Windows that are full do not grow.
            if key == "batch" or not fits(10 ** 9):
                comparison.differ(f"no {limit}", case)
            continue
        if most and not fits(most):
            comparison.differ(f"{limit} {most} does not fit", case)
        if most < 10 ** 9 and fits(most + 1):
            comparison.differ(f"{limit} {most}, and one more fits", case)
    check_levers(comparison, got, model, asked, device, case)
    check_room(comparison, got, model, asked, device, case)


def check_levers(comparison, got, model, asked, device, case):
    """The largest batch in fp8 or with a cache in it, and with the next tensor parallelism that helps."""
    def fits(batch, **changed):
        said = {key: value for key, value in dict(asked, batch=batch, **changed).items() if value is not None}
        try:
            return infer(model, said, device)["fits"]
        except formats.Refused:
            return False
    here = got.get("max_batch")
    for limit, changed in (("max_batch_fp8", {"precision": "fp8_e4m3", "weights": None,
                                              "activations": None, "out": None}),
                           ("max_batch_kv_fp8", {"kv": "fp8_e4m3"}),
                           ("max_batch_kv_q8_0", {"kv": "q8_0"}),
                           ("max_batch_ep", {"tp": None, "ep": asked.get("tp"), "moe_tp": None, "moe_ep": None,
                                             "attention_dp": None}),
                           ("max_batch_next_tp", {"tp": got.get("next_tp")}),
                           ("max_batch_nearest", {"tp": got.get("nearest_tp"), "pp": got.get("nearest_pp"),
                                                  "ep": None, "moe_tp": None, "moe_ep": None})):
        most = got.get(limit)
        if most is None:
            continue
        comparison.values += 1
        if most <= here or not fits(most, **changed) or fits(most + 1, **changed):
            comparison.differ(f"{limit} {most}", case)
    present = asked.get("tp", 1) * asked.get("pp", 1)

    def usual(devices, present=present):
        """Machines come with a power of two devices, twice as many as now and so on, or whole nodes."""
        def power(n):
            return n & (n - 1) == 0
        return power(devices) or (devices % present == 0 and power(devices // present)) or \
            (device.node is not None and devices % device.node == 0)
    if "next_tp" in got:
        groups = asked.get("pp", 1) * (asked.get("attention_dp") or asked.get("ep") or 1)
        for tp in range(asked.get("tp", 1) + 1, got["next_tp"]):
            if usual(tp * groups, asked.get("tp", 1) * groups) and fits(here + 1, tp=tp):
                comparison.differ(f"next_tp {got['next_tp']}, and {tp} lets more fit", case)
    if "nearest_tp" in got:
        split = {"ep": None, "moe_tp": None, "moe_ep": None}
        for devices in range(asked.get("tp", 1) * asked.get("pp", 1) + 1, got["nearest_tp"] * got["nearest_pp"]):
            if not usual(devices):
                continue
            for tp in (t for t in range(1, devices + 1) if devices % t == 0):
                if fits(here + 1, tp=tp, pp=devices // tp, **split):
                    comparison.differ(f"nearest_tp {got['nearest_tp']}, and {tp} with {devices} devices lets more fit", case)


def check_room(comparison, got, model, asked, device, case):
    """The largest reserve, and the fewest layers at a host, with which what does not fit does."""
    roomy = device.beside(100, 10 ** 6)

    def fits(**changed):
        try:
            return infer(model, dict(asked, **changed), roomy)["fits"]
        except formats.Refused:
            return False
    reserve, offload = got.get("fit_reserve"), got.get("fit_offload")
    if device.capacity is None or fits():
        comparison.field("fit_reserve", reserve, None, case)
        comparison.field("fit_offload", offload, None, case)
        return
    comparison.values += 2
    step = round(0.01 + (reserve or 0), 2)
    if reserve is not None and not fits(reserve=reserve) or \
            step < asked.get("reserve", 0.1) and fits(reserve=step):
        comparison.differ(f"fit_reserve {reserve}", case)
    if asked.get("offload", "none") != "none":
        return
    part, _, layers = (offload or "layers:" + str(len(model.layers) + 1)).partition(":")
    if offload and not fits(offload=offload) or \
            int(layers) > 1 and fits(offload=f"{part}:{int(layers) - 1}") or \
            part == "layers" and fits(offload="experts"):
        comparison.differ(f"fit_offload {offload}", case)


def check_whole(comparison, limits, model, asked, device, case):
    """The smallest batch from which a decode step as a whole is compute-bound."""
    def bound(batch):
        try:
            return models.infer(model, dict(asked, batch=batch), device)
        except formats.Refused:
            return None
    batch, most = limits.get("compute_bound_batch"), 2 ** 20
    if asked.get("phase", "decode") != "decode":
        comparison.field("compute_bound_batch", batch, None, case)
        return
    comparison.values += 1
    if batch is None:
        row = bound(most)
        if row and row["compute_time"] is not None and row["bottleneck"] == "compute":
            comparison.differ("no compute_bound_batch of the whole", case)
    elif bound(batch)["bottleneck"] != "compute" or \
            batch > 1 and bound(batch - 1)["bottleneck"] == "compute":
        comparison.differ(f"compute_bound_batch {batch} of the whole", case)


def check_bounds(comparison, limits, listed, model, asked, device, case):
    """The smallest batch from which a product is compute-bound."""
    names = collections.Counter(one["name"] for one in listed)

    check_whole(comparison, limits, model, asked, device, case)
    known = {}

    def bound(name, batch):
        if batch not in known:
            try:
                stages = models.infer(model, dict(asked, batch=batch), device)["predicted"]
            except formats.Refused:
                stages = []
            known[batch] = {node.name: p["bottleneck"] for stage in stages for _, node, p in stage}
        return known[batch].get(name)
        return None
    for one in listed:
        if names[one["name"]] > 1 or one["operator"] not in ("gemm", "moe"):
            continue
        batch = one.get("compute_bound_batch")
        comparison.values += 1
        if batch is None:
            if bound(one["name"], 2 ** 20) == "compute":
                comparison.differ(f"no compute_bound_batch of {one['name']}", case)
        elif bound(one["name"], batch) not in ("compute", None) or \
                batch > 1 and bound(one["name"], batch - 1) == "compute":
            comparison.differ(f"compute_bound_batch {batch} of {one['name']}", case)


def check_parameters(comparison, program, every_model):
    """What `list models` says of those that are shipped."""
    for line in program.run(["list", "models", "-f", "ndjson"]).stdout.splitlines():
        got = json.loads(line)
        model = every_model[got["id"]]
        total, active = models.parameters(model)
        row = models.Formats(model, {}, {}, None)
        comparison.row(got, dict(parameters=total, active_parameters=active,
                                    kv_bytes_per_token=models.cache_per_token(model, row.kv)),
                       "list models", got["id"])


# Formulas that the self-test breaks in the oracle, one at a time.
FAULTS = {"scales": "scales of blocks and tensors are not counted",
          "pruned": "pruned weights are as many bytes as others",
          "gqa": "every query head has K and V of its own",
          "causal": "all T S pairs, whatever the mask",
          "touched": "tokens choose different experts",
          "overlap": "memory and compute one after the other",
          "stages": "a decode step is one pass through the stages",
          "acceptance": "all drafts are accepted",
          "shared": "all groups of the attention share a budget of chunks",
          "together": "no prompts start in the same step",
          "sectors": "parts of sectors are not counted",
          "power": "a power cap slows nothing",
          "host": "the memory of the host is never too small",
          "parts": "each part of a product has all of K",
          "fallback": "a product runs at the format that was asked for"}


def everything(arguments, cases_wanted, seed, quiet=False):
    """One run: draws, compares, and returns the comparison. A quiet one ends after the first step
    with a difference."""
    random = randomness.Random(seed)
    comparison = Comparison(quiet)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments.program, folder)
        every_device = devices.shipped(arguments.data)
        every_model = {"models": models.shipped(arguments.data),
                       "layouts": cases.layouts(arguments.data)}
        if not quiet:
            check_catalog(comparison, program)
            check_parameters(comparison, program, every_model["models"])
        every_device.update(cases.drawn_devices(random, folder))
        every_model["models"].update(cases.drawn_models(random, folder))

        def check(step, *counts):
            if not (quiet and comparison.differed):
                step(comparison, program, every_device, *counts)
        check(check_operators, random, drawn_operators(every_device, random, cases_wanted))
        if not quiet:
            check(check_operators, random, paired_operators(every_device, random))
        check(check_tiles, random, max(30, cases_wanted // 4))
        check(check_padding, random, max(20, cases_wanted // 60))
        check(check_models, every_model, random, cases_wanted // 3, max(3, cases_wanted // 300))
        check(check_drafts, every_model, random, cases_wanted // 50)
        check(check_offload, every_model, random, max(5, cases_wanted // 100))
        check(check_groups, every_model, random, max(10, cases_wanted // 50))
        check(check_graphs, every_model, random, cases_wanted // 100)
        if not (quiet and comparison.differed):
            check_estimates(comparison, program, random, folder, max(30, cases_wanted // 8))
        check(check_files, random, max(20, cases_wanted // 60))
    return comparison


def report(comparison):
    def line(title, names):
        print(f"{title}:", "  ".join(f"{name} {comparison.agreed[name]}" for name in names))
    print(f"compared {comparison.values} values; both refused",
          f"{sum(comparison.refused.values())} cases")
    line("operators", operators.ALL)
    line("formats, in any role", [f"format {name}" for name in formats.NAMES])
    line("products", ["tiles", "padding", "estimates"])
    line("models", ["decode", "prefill", "mixed", "request", "static", "drafts", "groups",
                    "offload", "graphs", "files"])
    line("classes", sorted(x for x in comparison.agreed if x.startswith("model ")))
    print("refused by both:", "  ".join(f"{k} {n}" for k, n in sorted(comparison.refused.items())))


def self_test(arguments):
    """Breaks one formula at a time; each must show."""
    missed = 0
    for fault, words in FAULTS.items():
        formats.BROKEN.add(fault)
        comparison = everything(arguments, arguments.cases, arguments.seed, quiet=True)
        formats.BROKEN.clear()
        most = sorted(comparison.fields.items(), key=lambda field: (-field[1], field[0]))
        fields = ", ".join(name for name, _ in most[:3])
        print(f"{'seen' if comparison.differed else 'MISSED'}  {fault}: {words}:",
              f"{comparison.differed} differences ({fields})")
        missed += comparison.differed == 0
    return 1 if missed else 0


def main():
    arguments = command_line(__doc__, "oracle", 3000, "of operators; models: a third")
    if arguments.self_test:
        return self_test(arguments)
    comparison = everything(arguments, arguments.cases, arguments.seed)
    report(comparison)
    if comparison.differed:
        print(f"{comparison.differed} DIFFERENCES:", dict(comparison.fields))
        return 1
    print("no differences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
