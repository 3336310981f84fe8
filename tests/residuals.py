#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints where the error of each kind of kernel lies, beside its aim: residuals.py COMPARED CALIBRATION...

COMPARED is the CSV that `roofline compare` prints for measured rows. The error of a kind on a device
is that on sizes that no fit saw (mape of the calibrations). Its worst part is the range of one
dimension, or the one value, with the largest mean error among those that make up a tenth of the
error of all rows, with parameters that saw them."""
import collections
import csv
import json
import statistics
import sys

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
DEVICES = ("a100-sxm-80gb", "h100-sxm", "hgx-b200", "l40s", "rtx-pro-6000", "mi300x", "mi355x")
AIMS = {"16-bit products": (5, 4.5, 6, 8, 8, 12, 12), "FP8 and FP4 products": (None, 6, 6, 9, 9, 12, 12),
        "INT8 and weight-only products": (7, 7, 7, 7, 7, 12, 12), "decode attention": (8, 8, 5, 11, 12),
        "prefill attention": (8, 8, 8, 8, 10), "latent decode": (7,) * 5, "latent prefill": (4,) * 5,
        "experts": (8, 8, 8, 8, 8, 15, 15), "INT4 experts": (15,) * 7, "collectives": (6,) * 5}
EDGES = {"m": (1, 16, 64, 256, 1024), "kv_len": (256, 2048, 16384), "batch": (1, 8, 64),
         "tokens": (1, 8, 64, 512), "elements": (1e5, 1e6, 1e7)}
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


def main():
    rows = collections.defaultdict(list)
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            kind = kind_of(row)
            if kind is not None and row["error"]:
                rows[kind, row["hardware"]].append((row, float(row["error"])))
    errors = unseen(sys.argv[2:])
    print("| kind | device | aim | error | worst part of the rows, where the aim is missed |\n|---|---|---|---|---|")
    for kind, aims in AIMS.items():
        for device, aim in zip(DEVICES, aims):
            error = errors.get((kind, device))
            if aim is None or error is None:
                continue
            missed = error > aim
            figure = f"**{error:.1f}**" if missed else f"{error:.1f}"
            print(f"| {kind} | {device} | {aim:g} | {figure} | "
                  f"{worst(rows[kind, device], KINDS[kind][2]) if missed else ''} |")


if __name__ == "__main__":
    main()
