#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints every aim with its figure: residuals.py COMPARED OTHERS SKEWED BANDS LEFT_OUT PAGE CALIBRATION...

COMPARED, OTHERS and SKEWED are the CSV that `roofline compare` prints for measured rows, for those of tests/kinds.py,
and for rows of experts that share their tokens unevenly; BANDS is the JSON of its groups by device, operator, stack and formats. LEFT_OUT is what
tests/left_out.py writes with --aims. PAGE has the tables of engines and of modules of docs/errors.md. The error of a kind on a
device is that on sizes that no fit saw (mape of the calibrations). Its worst part is the range of one dimension,
or the one value, with the largest mean error among those that make up a tenth of the error of all rows, with
parameters that saw them."""
import collections
import csv
import json
import os
import re
import statistics
import sys

import kinds

ATTENTION = ("stack", "head_dim", "kv", "kv_len", "batch")
PRODUCT = ("stack", "m", "weights", "quantize_input")
KINDS = {  # kernel and numerics; the dimensions to look at
    "16-bit products": ("gemm", ("16bit",), PRODUCT),
    "FP8 and FP4 products": ("gemm", ("fp8", "fp4"), PRODUCT),
    "INT8 and weight-only products": ("gemm", ("int8", "w8a16", "w4a16"), PRODUCT),
    "decode attention": ("decode", None, ATTENTION),
    "prefill attention": ("prefill", None, ATTENTION),
    "latent decode": ("mla_decode", None, ("stack", "kv", "kv_len", "batch")),
    "latent prefill": ("mla_prefill", None, ("stack", "kv", "kv_len", "batch")),
    "experts": ("moe", ("16bit", "fp8", "fp4", "mx4a16", "w4a8"), ("stack", "tokens", "weights", "experts")),
    "INT4 experts": ("moe", ("w4a16",), ("stack", "tokens", "experts")),
    "collectives": ("collective", None, ("operator", "elements", "devices"))}
DEVICES = ("a100-sxm-80gb", "h100-sxm", "hgx-b200", "l40s", "rtx-pro-6000", "mi300x", "mi355x", "dgx-spark")
AIMS = {"16-bit products": (5, 4.5, 6, 8, 8, 12, 12, 8), "FP8 and FP4 products": (None, 6, 6, 9, 9, 12, 12),
        "INT8 and weight-only products": (7, 7, 7, 7, 7, 12, 12, 7), "decode attention": (8, 8, 5, 11, 12),
        "prefill attention": (8, 8, 8, 8, 10), "latent decode": (7,) * 5, "latent prefill": (4,) * 5,
        "experts": (8, 8, 8, 8, 8, 15, 15), "INT4 experts": (15,) * 7, "collectives": (6,) * 5}
EDGES = {"m": (1, 16, 64, 256, 1024), "kv_len": (256, 2048, 16384), "batch": (1, 8, 64), "query_len": (1, 256, 2048),
         "tokens": (1, 8, 64, 512), "elements": (1e5, 1e6, 1e7)}
LEFT_OUT = {"16-bit products": 9, "products of fewer bits": 22, "decode attention": 20, "prefill attention": 18,
            "vectors": 12}
SAME_SM = {"16-bit products": 5.5, "FP8 products": 8, "INT8 products": 15, "weight-only products": 15, "vectors": 12}
SAME_SM_TABLE = "Devices with the SM of their lender"
# Kernels of layers with a state, indexers and encoders: those that stream their data, and those of prompts and modules.
STREAMING, PROMPTS = 12, 18
OTHERS = {  # kernel; the operator, whether it is for prompts (None: both), aim, the dimensions to look at
    "state": (("gated-delta", "kimi-delta", "ssd"), False, STREAMING, ("stack", "operator", "batch")),
    "conv": (("short-conv",), False, STREAMING, ("stack", "batch")),
    "index_scores": (("index-scores",), None, STREAMING, ("batch", "query_len", "kv_len")),
    "top_k": (("index-top-k",), None, STREAMING, ("batch", "query_len", "kv_len")),
    "sparse_mla": (("sparse-mla",), None, STREAMING, ("batch", "query_len", "kv_len")),
    "compressed": (("compressed-attention",), False, STREAMING, ("batch", "kv_len")),
    "hyper_collapse": (("hyper-collapse",), None, STREAMING, ("stack", "tokens")),
    "hyper_expand": (("hyper-expand",), None, STREAMING, ("stack", "tokens")),
    "state_prefill": (("gated-delta",), True, PROMPTS, ("stack", "batch", "query_len")),
    "kimi_prefill": (("kimi-delta",), True, PROMPTS, ("stack", "batch", "query_len")),
    "ssd_prefill": (("ssd",), True, PROMPTS, ("stack", "batch", "query_len")),
    "conv_prefill": (("short-conv",), True, PROMPTS, ("stack", "batch", "query_len")),
    "compressed_prefill": (("compressed-attention",), True, PROMPTS, ("batch", "query_len", "kv_len")),
    "encoder": (("flash-attention",), None, PROMPTS, ("stack", "batch", "query_len"))}
MODULES = "Attention modules, experts of one rank and DeepEP"
SKEWED, BAND = 13, (75, 90)
STEPS = {"trtllm": 7, "vllm": 10}
LLAMA = {"decode": 10, "prompts": 20}
COLLECTIVES = ("all_reduce", "one_shot", "all_gather", "reduce_scatter", "all_to_all")


def numerics(row):
    """The pair of formats of a product or of experts, as calibrations name it."""
    weights, activations = row["weights"], row["activations"]
    if weights in ("bf16", "fp16"):
        return "16bit"
    if activations in ("bf16", "fp16"):
        return ("w8a16" if weights in ("int8", "int8_channel", "fp8_e4m3") else
                "mx4a16" if weights == "mxfp4" else "w4a16")
    if activations.startswith("int"):
        return "int8"
    return "fp8" if weights.startswith("fp8") else "w4a8" if activations.startswith("fp8") else "fp4"


def kind_of(row):
    name = row["operator"]
    kernel = ("gemm" if name in ("gemm", "gemv") else "moe" if name.startswith("moe") else
              "decode" if name == "flash-attention" and row["query_len"] in ("", "1") else
              "prefill" if name == "flash-attention" else
              "collective" if name.replace("-", "_") in COLLECTIVES else name.replace("-", "_"))
    for kind, (own, formats, _) in KINDS.items():
        if own == kernel and (formats is None or numerics(row) in formats):
            return kind
    return None


def part_of(row, key):
    """The range or the value of a dimension, in words."""
    value = row[key]
    if key not in EDGES:
        return f"{key} {value or '-'}"
    number = float(value or 1)
    low = 0
    for edge in EDGES[key]:
        if number <= edge:
            return f"{key} {edge:g}" if low + 1 >= edge else f"{key} {low:g} to {edge:g}" if low else f"{key} to {edge:g}"
        low = edge
    return f"{key} above {low:g}"


def unseen(paths):
    """The mean error of each kind on each device on sizes that no fit saw."""
    found = collections.defaultdict(list)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            calibration = json.load(file)
        for fit in calibration["fits"]:
            kernel = "collective" if fit["kernel"] in COLLECTIVES else fit["kernel"]
            if "lent" not in fit and kernel in OTHERS:
                found[kernel, calibration["hardware"]].append((fit["rows"], fit["mape"]))
            for kind, (own, formats, _) in KINDS.items():
                if "lent" not in fit and kernel == own and (formats is None or fit["numerics"] in formats):
                    found[kind, calibration["hardware"]].append((fit["rows"], fit["mape"]))
    return {key: 100 * sum(n * e for n, e in all_) / sum(n for n, _ in all_) for key, all_ in found.items()}


def worst(rows, keys):
    total = sum(abs(error) for _, error in rows)
    parts = collections.defaultdict(list)
    for row, error in rows:
        for key in keys:
            parts[part_of(row, key)].append(error)
    large = [(statistics.mean(map(abs, errors)), name, errors) for name, errors in parts.items()
             if sum(map(abs, errors)) >= total / 10 and len(errors) < len(rows)]
    if not large:
        return ""
    mean, name, errors = max(large)
    return (f"{name}: {100 * mean:.1f} (bias {100 * statistics.mean(errors):+.1f}), "
            f"{100 * sum(map(abs, errors)) / total:.0f}% of the error")


def read(path):
    """The compared rows that have an estimate, with their errors."""
    with open(path, encoding="utf-8", newline="") as file:
        return [(row, float(row["error"])) for row in csv.DictReader(file) if row["error"]]


def put(kind, device, aim, error, where):
    """A line of the table. The error is bold, so that tests/errors_kept.py compares it."""
    missed = round(error, 1) > aim
    print(f"| {kind} | {device} | {aim:g} | **{error:.1f}** | {'missed' if missed else 'met'} | "
          f"{where if missed else ''} |")


def put_kinds(rows, errors):
    """The kinds of kernels on sizes that no fit saw."""
    for kind, aims in AIMS.items():
        for device, aim in zip(DEVICES, aims):
            error = errors.get((kind, device))
            if aim is not None and error is not None:
                put(kind, device, aim, error, worst(rows[kind, device], KINDS[kind][2]))


def put_others(rows, errors):
    """The kernels of layers with a state, indexers and encoders on sizes that no fit saw, and their rows that were
    fitted."""
    for kernel, (operators, prompts, aim, keys) in OTHERS.items():
        for device in DEVICES:
            error = errors.get((kernel, device))
            own = [(row, found) for row, found in rows
                   if row["hardware"] == device and row["operator"] in operators and row["kind"] not in kinds.UNFITTED and
                   (prompts is None or prompts == (row["query_len"] not in ("", "1")))]
            if error is not None:
                put(kernel, device, aim, error, worst(own, keys))


def put_unfitted(rows):
    """The kinds of tests/kinds.py that no fit saw, with the reason. An all-reduce has two rows, for the two
    estimates of which models take the shorter."""
    found = collections.defaultdict(dict)
    for row, error in rows:
        kind = kinds.RING if row["kind"] == kinds.ONE_SHOT else row["kind"]
        sizes = tuple(value for key, value in row.items() if key in kinds.COLUMNS and key not in ("kind", "algorithm"))
        least = found[kind, row["hardware"]]
        least[sizes] = min(error, least.get(sizes, error))
    for kind, (aim, reason) in kinds.UNFITTED.items():
        for device in DEVICES:
            if kind != kinds.ONE_SHOT and (kind, device) in found:
                error = 100 * statistics.mean(map(abs, found[kind, device].values()))
                verdict = "missed" if round(error, 1) > aim else "met"
                print(f"| {kind.removesuffix(', ring')} | {device} | {aim:g} | **{error:.1f}** | {verdict}, no fit | {reason} |")


def put_modules(path):
    """Modules of one device by their phase, over all stacks, and the stack with the largest error; those of experts
    over all ways in which tokens choose them, too."""
    groups = collections.defaultdict(list)
    for heading, row in tables(path):
        if heading == MODULES and "bound" in row and not row["module"].startswith("mHC"):  # they have kernels of their own
            phase = f", {row['phase']}" if row["phase"] in ("decode", "prefill") else ""
            groups[f"module {row['module']}{phase}", row["device"]].append(row)
    for (module, device), found in groups.items():
        error = sum(int(row["rows"]) * float(row["MAPE"]) for row in found) / sum(int(row["rows"]) for row in found)
        last = max(found, key=lambda row: float(row["MAPE"]))
        way = "" if last["phase"] in ("decode", "prefill") else f", {last['phase']}"
        put(module, device, PROMPTS, error, f"stack {last['stack']}{way}: {last['MAPE']} (bias {last['bias']})" if
            len(found) > 1 else f"bias {last['bias']}")


def put_same_sm(path):
    """A device of which no fit saw a row, from one with the same SM."""
    for heading, row in tables(path):
        if heading == SAME_SM_TABLE and row.get("kernel") in SAME_SM and row["kernels of"] != "itself":
            stack = f", {row['stack']}" if row["stack"] else ""
            put(f"{row['kernel']}, the device left out, same SM{stack}", row["device"], SAME_SM[row["kernel"]],
                float(row["MAPE"]), f"from {row['kernels of']}, {row['rows']} rows of {row['rows of']}: {row['MAPE']} "
                f"(bias {row['bias']})")


def put_left_out(found):
    """A device of which no fit saw a row, from the nearest other one."""
    for kind, aim in LEFT_OUT.items():
        for device in DEVICES:
            means = found.get(f"{kind}|{device}")
            if means:
                (nearest, error), *others = means.items()
                rest = "; ".join(f"{lender} {other:.1f}" for lender, other in others)
                put(f"{kind}, the device left out, other SM", device, aim, error,
                    f"from {nearest}" + (f"; from {rest}" if rest else ""))


def put_skewed(rows):
    """Experts that share their tokens unevenly, by device and stack."""
    groups = collections.defaultdict(list)
    for row, error in rows:
        groups[row["hardware"], row["stack"]].append((row, error))
    for (device, stack), found in sorted(groups.items()):
        put(f"experts with uneven loads, {stack}", device, SKEWED, 100 * statistics.mean(abs(e) for _, e in found),
            worst(found, ("tokens", "weights", "experts", "top_k")))


def tables(path):
    """The rows of the tables of a page, as the heading and a mapping from the names of their columns."""
    heading, names, before = "", [], []
    with open(path, encoding="utf-8") as file:
        for text in file:
            cells = [cell.strip(" *\n") for cell in text.strip().strip("|").split("|")]
            if text.startswith("#"):
                heading = text.strip("# \n")
            elif text.startswith("|---"):
                names = before
            elif text.startswith("| ") and len(cells) == len(names):
                yield heading, dict(reversed(list(zip(names, cells))))  # of columns with one name the first
            before = cells


def put_steps(path):
    """Steps of engines, as medians: times per token under load, and static batches. Times per step of vLLM of
    2024 were fitted to the latter, so these have the mean error of each group by the fit to the others."""
    for heading, row in tables(path):
        stack = row.get("engine", row.get("stack", ""))
        name = re.match(r"vllm 2024, steps", stack)
        if heading == "Serving" and row.get("model") == "all" and stack in STEPS and "TPOT" in row:
            put(f"steps of {stack} under load", row["device"], STEPS[stack], float(row["TPOT"]), f"bias {row['bias']}")
        elif heading == "Whole models" and stack == "trtllm" and row.get("source") == "LLM-Inference-Bench":
            put(f"static batches of {stack}, {row['model']}", row["hardware"], STEPS[stack], float(row["median"]),
                f"bias {row['bias']}")
        elif name and row["left out"] != "all":
            device, model = row["left out"].split()
            put(f"static batches of vllm, {model} (mean)", device, STEPS["vllm"], float(row["error"]),
                "with the host time that was fitted to the other groups")


def lender_of(architecture, rows):
    """The first row of data/borrowing.json whose architecture the device's begins with."""
    return next((one["calibration"] for one in rows if architecture.startswith(one["architecture"])), None)


def put_llama(path):
    """Steps and prompts of llama.cpp, by the device's own fit without the rows that are tested, or by its lender's."""
    with open("data/borrowing.json", encoding="utf-8") as file:
        lenders = json.load(file)["llama.cpp"]
    for heading, row in tables(path):
        if heading != "llama.cpp" or "fit of" not in row:
            continue
        device, fit = row["rows of"].split(",")[0], row["fit of"]
        own = fit in ("itself, without them", "the others of them") or fit == device
        if not own:
            with open(f"data/hardware/{device}.json", encoding="utf-8") as file:
                lender = lender_of(json.load(file)["architecture"], lenders)
            if lender != f"llama.cpp-{fit}" or os.path.exists(f"data/calibration/llama.cpp-{device}.json"):
                continue
        for kind, aim in LLAMA.items():
            number = re.match(r"([\d.]+)\W*\((\d+)\)", row[kind])
            if number:
                put(f"llama.cpp, {kind}", row["rows of"], aim, float(number[1]),
                    f"fit of {fit}, rows: {number[2]}")


def family_of(group):
    """The kind of a group for the interval: formats and caches of fewer bits by themselves."""
    name = group["operator"]
    kind = kind_of(group)
    if name == "moe" and group["routing"] != "balanced" and group["stack"]:
        kind = "experts, uneven loads"
    elif kind == "INT8 and weight-only products":
        kind = "INT8 products" if numerics(group) == "int8" else "weight-only products"
    elif kind in ("decode attention", "prefill attention"):
        kind += ", 16 bits" if group["kv"] in ("bf16", "fp16") else ", FP8 cache"
    kind = kind or ("batched products" if name == "bmm" else "vectors")
    return f"the fastest of the stacks: {kind}" if group["stack"] == "best" else kind


def put_bands(path):
    """The rows in the interval, in per cent; those outside of the aim are marked."""
    sums = collections.defaultdict(lambda: [0, 0])
    with open(path, encoding="utf-8") as file:
        for group in json.load(file)["groups"]:
            if group["band_coverage"] is not None:
                cell = sums[family_of(group), group["hardware"]]
                cell[0] += group["rows"] * group["band_coverage"]
                cell[1] += group["rows"]
    devices = [device for device in DEVICES if any(device == one for _, one in sums)]
    print(f"\nThis table has the share of all rows in the interval, in per cent. The aim is {BAND[0]} to {BAND[1]}; "
          "shares outside of it are marked.\n")
    print(f"| interval | {' | '.join(devices)} |\n|---{'|---' * len(devices)}|")
    for family in sorted({family for family, _ in sums}, key=lambda one: (one.startswith("the fastest"), one)):
        cells = []
        for device in devices:
            within, rows = sums.get((family, device), (0, 0))
            share = 100 * within / rows if rows else None
            cells.append("-" if share is None else f"{share:.1f}" + (" (low)" if share < BAND[0] else
                                                                    " (high)" if share > BAND[1] else ""))
        print(f"| {family} | {' | '.join(cells)} |")


def put_interval(rows, device, share, count="-"):
    few = count != "-" and int(count) < 5
    verdict = ("few rows" if few else "missed, too narrow" if round(share, 1) < BAND[0] else
               "missed, too wide" if round(share, 1) > BAND[1] else "met")
    print(f"| {rows} | {device} | {count} | {share:.1f} | {verdict} |")


def put_borrowed_bands(lent, page):
    """The rows in the interval for devices that borrow, for own rows that no fit used, and for llama.cpp."""
    print(f"\nThe next table has this share for rows of devices that borrow, for rows of `roofline measure` on H100, and for "
          f"llama.cpp. The aim is {BAND[0]} to {BAND[1]} here, too.\n")
    print("| rows | device | rows | in band | verdict |\n|---|---|---|---|---|")
    for key, share in lent.items():
        if key.startswith("interval|"):
            put_interval("all, the device left out, other SM, the nearest lends", key.split("|")[1], share)
    groups, llama = collections.defaultdict(list), []
    for heading, row in tables(page):
        if heading == SAME_SM_TABLE and not row["stack"] in ("sglang", "trtllm"):  # one line for one time
            own = row["kernels of"] == "itself"
            name = f"those of {row['rows of']}, no fit saw them" if own else f"all, {row['kernels of']} lends, same SM"
            groups[name, row["device"]].append(row)
            if row["kernel"] not in ("vectors", "quantisation"):
                groups[f"{name}; products and attention alone", row["device"]].append(row)
        elif heading == "llama.cpp" and "passes" in row:
            llama.append(row)
    for (name, device), found in groups.items():
        if ";" in name and found == groups[name.split(";")[0], device]:
            continue
        count = sum(int(row["rows"]) for row in found)
        put_interval(name, device, sum(int(row["rows"]) * float(row["in band"]) for row in found) / count, count)
    for row in llama:
        put_interval(f"llama.cpp, {row['passes']}", row["device"], float(row["in band"]), row["rows"])


def main():
    compared, others, skewed, bands, left_out, page, *calibrations = sys.argv[1:]
    errors = unseen(calibrations)
    rows = collections.defaultdict(list)
    for row, error in read(compared):
        rows[kind_of(row), row["hardware"]].append((row, error))
    print("| kind | device | aim | error | verdict | if it is missed: the worst part of the rows |\n"
          "|---|---|---|---|---|---|")
    put_kinds(rows, errors)
    put_others(read(others), errors)
    put_unfitted(read(others))
    put_modules(page)
    with open(left_out, encoding="utf-8") as file:
        lent = json.load(file)
    put_same_sm(page)
    put_left_out(lent)
    put_skewed(read(skewed))
    put_steps(page)
    put_llama(page)
    put_bands(bands)
    put_borrowed_bands(lent, page)


if __name__ == "__main__":
    main()
