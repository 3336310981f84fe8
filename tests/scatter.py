#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what the errors of kernels are made of, in Markdown: scatter.py COMPARED CALIBRATION...

COMPARED is the CSV that `roofline compare` prints for measured rows. For each kind and device that misses its aim:
- the mean error on sizes that no fit saw, and with the parameters of the files, and what would remain of it if each
  stack and format had a factor of its own, or each shape: (n, k) of products, heads and head_dim of attention, the
  layer of experts, the devices of collectives;
- roughness: how far the error of a row is from the mean of its two neighbours of the same shape (the next smaller
  and larger m, batch, length, tokens or elements), as far as independent noise of this mean error would be;
- falls: how many times of neighbours fall by more than 5% when the size grows;
- other stacks: how far apart the times of two stacks are for the same 16-bit product, mostly by the same library."""
import collections
import csv
import itertools
import math
import statistics
import sys

from residuals import AIMS, DEVICES, KINDS, kind_of, unseen

FORMATS = ("stack", "operator", "algorithm", "weights", "activations", "kv", "quantize_input")
PRODUCT, HEADS = ("n", "k"), ("heads", "kv_heads", "head_dim", "window")
SHAPES = {"16-bit products": PRODUCT, "FP8 and FP4 products": PRODUCT, "INT8 and weight-only products": PRODUCT,
          "experts": ("hidden", "intermediate", "experts", "top_k"),
          "INT4 experts": ("hidden", "intermediate", "experts", "top_k"), "collectives": ("devices",)}
# The size along which rows have neighbours, and the sizes that neighbours have in common beside the shape.
ALONG = {"decode attention": ("batch", ("kv_len",)), "prefill attention": ("kv_len", ("batch",)),
         "latent decode": ("batch", ("kv_len",)), "latent prefill": ("kv_len", ("batch",)),
         "experts": ("tokens", ()), "INT4 experts": ("tokens", ()), "collectives": ("elements", ())}


def key(row, columns):
    return tuple(row[column] for column in columns)


def with_factors(rows, columns):
    """The mean error if each group of rows had the factor that makes its mean error least."""
    groups = collections.defaultdict(list)
    for row, ratio in rows:
        groups[key(row, columns)].append(ratio)
    total = 0
    for ratios in groups.values():
        weights = sorted((1 / ratio, ratio) for ratio in ratios)  # the weighted median of the factors
        half, factor = sum(weight for _, weight in weights) / 2, None
        for factor, weight in weights:
            half -= weight
            if half <= 0:
                break
        total += sum(abs(factor * ratio - 1) for ratio in ratios)
    return 100 * total / len(rows)


def curves_of(rows, kind):
    """The rows that differ in one size alone, in its order: measured time, and logarithm of the error."""
    along, common = ALONG.get(kind, ("m", ()))
    curves = collections.defaultdict(list)
    for row, ratio in rows:
        curves[key(row, FORMATS + SHAPES.get(kind, HEADS) + common)].append(
            (float(row[along] or 1), float(row["measured_us"]), math.log(ratio)))
    return [[point[1:] for point in sorted(points)] for points in curves.values()]


def roughness(curves):
    found = [abs(b[1] - (a[1] + c[1]) / 2) / math.sqrt(1.5)
             for curve in curves for a, b, c in zip(curve, curve[1:], curve[2:])]
    return 100 * statistics.mean(found)


def falls(curves):
    found = [after[0] < 0.95 * before[0] for curve in curves for before, after in zip(curve, curve[1:])]
    return 100 * statistics.mean(found)


def between_stacks(rows):
    """The mean distance of the times of two stacks for the same product, or None."""
    times = collections.defaultdict(dict)
    for row, _ in rows:
        times[key(row, FORMATS[3:] + ("m", "n", "k"))][row["stack"]] = float(row["measured_us"])
    found = [abs(a / b - 1) for stacks in times.values() for a, b in itertools.permutations(stacks.values(), 2)]
    return 100 * statistics.mean(found) if found else None


def main():
    rows = collections.defaultdict(list)
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if kind_of(row) is not None and row["error"]:
                rows[kind_of(row), row["hardware"]].append((row, 1 + float(row["error"])))
    errors = unseen(sys.argv[2:])
    print("| kind | device | aim | unseen | seen | a factor per stack | per shape | roughness | falls | "
          "other stacks |\n"
          "|---|---|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for device, aim in zip(DEVICES, AIMS[kind]):
            found = rows[kind, device]
            if aim is None or round(errors.get((kind, device), 0), 1) <= aim:
                continue
            curves = curves_of(found, kind)
            other = between_stacks(found) if kind == "16-bit products" else None
            figures = (errors[kind, device], 100 * statistics.mean(abs(ratio - 1) for _, ratio in found),
                       with_factors(found, FORMATS), with_factors(found, FORMATS + SHAPES.get(kind, HEADS)),
                       roughness(curves), falls(curves))
            print(f"| {kind} | {device} | {aim:g} | {' | '.join(f'{one:.1f}' for one in figures)} | "
                  f"{'-' if other is None else f'{other:.1f}'} |")


if __name__ == "__main__":
    main()
