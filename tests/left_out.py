#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predicts measured rows without the kernels of their device, stack or formats, and prints the errors and the
intervals in Markdown: left_out.py PROGRAM CALIBRATE ROWS.csv CALIBRATION... [--aims FILE]

ROWS.csv has the rows of tests/measured.sh and tests/kinds.py. Each device borrows from each other one as the
program does (`roofline-calibrate --lend`). The last columns of the intervals are the factor w of
src/predict/kernel.c, the share of the rows in the interval with it, and the factor that holds 80% of them.
With --aims FILE it also writes the mean errors from the other devices, and the share of the rows of a device in the
interval of the nearest one, as JSON, for tests/residuals.py."""
import csv
import json
import os
import subprocess
import sys
import tempfile

from residuals import COLLECTIVES, numerics

DEVICES = ("a100-sxm-80gb", "h100-sxm", "hgx-b200", "l40s", "rtx-pro-6000")
# The nearest other device that has the kernel: of the same class, and with the most formats in common.
NEAREST = {"a100-sxm-80gb": ("h100-sxm",), "h100-sxm": ("hgx-b200", "a100-sxm-80gb"), "hgx-b200": ("h100-sxm",),
           "l40s": ("rtx-pro-6000",), "rtx-pro-6000": ("l40s", "hgx-b200")}
VECTORS = ("rmsnorm", "add", "silu-mul", "rope")
KINDS = {"gemm": "products", "bmm": "products", "moe": "experts", "mla-decode": "latent decode",
         "mla-prefill": "latent prefill", "index-scores": "index scores and top-k",
         "index-top-k": "index scores and top-k", "sparse-mla": "chosen or compressed keys",
         "compressed-attention": "chosen or compressed keys", "short-conv": "convolutions",
         "quantize": "quantisation", "hyper-collapse": "hyper-connections", "hyper-expand": "hyper-connections"}
BY_WIDTH = ("products", "experts", "prefill attention", "latent prefill", "latent decode")  # 16 bits, or fewer
ORDER = ("products", "experts", "prefill attention", "decode attention", "latent prefill", "latent decode", "vectors",
         "quantisation", "hyper-connections", "collectives", "states", "convolutions", "index scores and top-k",
         "chosen or compressed keys")
# The kinds that have aims (tests/residuals.py), their kernels, and whether they have fewer than 16 bits.
AIMED = (("16-bit products", "products", False), ("products of fewer bits", "products", True),
         ("decode attention", "decode attention", None), ("prefill attention", "prefill attention", None),
         ("vectors", "vectors", None))


def narrow(row):
    """True if weights, or for attention the KV cache, have fewer than 16 bits."""
    if row["operator"] == "flash-attention" or row["operator"].startswith("mla"):
        return row["kv"] not in ("bf16", "fp16")
    return row["operator"] in ("gemm", "bmm", "moe") and numerics(row) != "16bit"


def kind_of(row):
    name = row["operator"]
    if name == "flash-attention":
        return "decode attention" if row["query_len"] in ("", "1") else "prefill attention"
    if name.replace("-", "_") in COLLECTIVES:
        return "collectives"
    return KINDS.get(name, "vectors" if name in VECTORS else "states")


class Judge:
    """Predictions by calibrations in a folder of its own."""

    def __init__(self, program, calibrate, rows, calibrations, folder):
        self.program, self.calibrate, self.folder = program, calibrate, folder
        with open(rows, encoding="utf-8", newline="") as file:
            self.rows = list(csv.DictReader(file))
        self.path = {}
        for path in calibrations:
            with open(path, encoding="utf-8") as file:
                self.path[json.load(file)["hardware"]] = path

    def write(self, name, calibration):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(calibration, file)
        return path

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def lent(self, device, lender):
        """The calibration of a device without rows that has the kernels of a lender."""
        none = self.write("none.json", {"schema": "roofline/calibration/1", "hardware": device, "attributions": [],
                                        "fits": []})
        out = os.path.join(self.folder, "lent.json")
        subprocess.run([self.calibrate, "--kept", none, "--hardware", device, "--lend", self.path[lender], "-o", out],
                       check=True, stderr=subprocess.DEVNULL)
        return self.read(out)

    def without(self, device, key, value):
        """The calibration of a device without the fits of a stack or of formats, and without what others lend."""
        calibration = self.read(self.path[device])
        calibration["fits"] = [fit for fit in calibration["fits"] if "lent" not in fit and fit[key] != value]
        return calibration

    def predict(self, calibration, rows):
        """Expected time and interval of each row."""
        with open(os.path.join(self.folder, "rows.csv"), "w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, self.rows[0].keys())
            table.writeheader()
            table.writerows(rows)
        columns = ["expected_time_us", "expected_low_us", "expected_high_us"]
        printed = subprocess.run(
            [self.program, "predict", "--from", file.name, "--calibration", self.write("used.json", calibration),
             "-f", "csv", "--columns", ",".join(columns)], check=True, capture_output=True, text=True).stdout
        return [[float(row[key] or "nan") for key in columns] for row in csv.DictReader(printed.splitlines())]

    def judge(self, calibration, rows):
        """Of each row that has an estimate: the row, the error, w, and the w that its time needs."""
        if not rows:
            return []
        given = self.predict(calibration, rows)
        for fit in calibration["fits"]:
            fit["low"] = fit["high"] = 1
        widths = self.predict(calibration, rows)
        found = []
        for row, (time, low, high), (_, _, wide) in zip(rows, given, widths):
            if time == time:
                measured, width = float(row["measured_us"]), wide / time
                found.append((row, time / measured - 1, width, width * max(low / measured, measured / high)))
        return found


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def share(found):
    """The rows in their interval, in per cent; rounding of printed times is allowed."""
    return 100 * mean(need <= width * 1.0001 for _, _, width, need in found)


def print_widths(groups, near):
    print("| what is left out | kernels | rows | w | in band | w for 80% | in band, from the nearest |\n"
          "|---|---|---|---|---|---|---|")
    for (reason, kernel), found in groups.items():
        needs = sorted(max(1, need) for _, _, _, need in found)
        widths = sorted(width for _, _, width, _ in found)
        print(f"| {reason} | {kernel} | {len(found)} | {widths[len(widths) // 2]:.3g} | {share(found):.1f} | "
              f"{needs[int(0.8 * (len(needs) - 1))]:.2f} | "
              f"{f'{share(near[kernel]):.1f}' if reason == 'the device' else '-'} |")


def nearest(pairs, device):
    """The judged rows of a device by the nearest one that has their kernel."""
    found, kinds = [], set()
    for lender in NEAREST[device]:
        new = [one for one in pairs[device, lender] if (kind_of(one[0]), narrow(one[0])) not in kinds]
        kinds |= {(kind_of(one[0]), narrow(one[0])) for one in new}
        found += new
    return found


def means_of(pairs, device, kind, few):
    """The mean error of a kind of kernel from each other device; `few` is None for all formats."""
    found = {lender: [abs(error) for row, error, _, _ in pairs[device, lender]
                      if kind_of(row) == kind and few in (None, narrow(row))]
             for lender in DEVICES if lender != device}
    return {lender: 100 * mean(errors) for lender, errors in found.items() if errors}


def print_devices(pairs):
    """The errors from the nearest device, and in brackets those from the best and worst of the others. Returns
    the means from all of them, by kind and device, the nearest first."""
    print(f"| kernels | {' | '.join(DEVICES)} |\n|---{'|---' * len(DEVICES)}|")
    figures = {}
    for kind in ORDER:
        for few in (False, True) if kind in BY_WIDTH else (None,):
            cells = []
            for device in DEVICES:
                means = means_of(pairs, device, kind, few)
                first = next((lender for lender in NEAREST[device] if lender in means), None)
                cells.append("-" if first is None else
                             f"**{means[first]:.1f}** ({min(means.values()):.1f} to {max(means.values()):.1f})")
            name = kind + ("" if few is None else ", fewer bits" if few else ", 16 bits")
            print(f"| {name} | {' | '.join(cells)} |")
    for name, kind, few in AIMED:
        for device in DEVICES:
            means = means_of(pairs, device, kind, few)
            first = [lender for lender in NEAREST[device] if lender in means][:1]
            if first:
                order = first + sorted(set(means) - set(first))
                figures[f"{name}|{device}"] = {lender: means[lender] for lender in order}
    return figures


def by_kind(founds):
    """The judged rows by kind, in order."""
    groups = {kind + width: [] for kind in ORDER
              for width in ((", 16 bits", ", fewer bits") if kind in BY_WIDTH else ("",))}
    for one in (one for found in founds for one in found):
        kind = kind_of(one[0])
        groups[kind + ("" if kind not in BY_WIDTH else ", fewer bits" if narrow(one[0]) else ", 16 bits")].append(one)
    return groups


def groups_of(pairs, judge, own):
    """The judged rows by what was left out: the device, the stack, or the formats."""
    groups = {("the device", kind): found for kind, found in by_kind(pairs.values()).items()}
    for key, reason in (("stack", "the stack"), ("numerics", "the formats")):
        for device in DEVICES:
            for value in sorted({fit[key] for fit in judge.read(judge.path[device])["fits"]
                                 if "lent" not in fit and fit[key] not in ("best", "16bit")}):
                rows = [row for row in own[device] if
                        (row["stack"] == value if key == "stack" else
                         row["operator"] in ("gemm", "moe") and numerics(row) == value)]
                for one in judge.judge(judge.without(device, key, value), rows):
                    if one[2] > 1.01:  # else the estimate is of another kernel, which was left
                        groups.setdefault((reason, "all" if key == "stack" else kind_of(one[0])), []).append(one)
    return groups


def main():
    arguments = sys.argv[1:]
    aims = arguments.pop(arguments.index("--aims") + 1) if "--aims" in arguments else None
    arguments = [one for one in arguments if one != "--aims"]
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(*arguments[:3], arguments[3:], folder)
        own = {device: [row for row in judge.rows if row["hardware"] == device] for device in DEVICES}
        pairs = {(device, lender): judge.judge(judge.lent(device, lender), own[device])
                 for device in DEVICES for lender in DEVICES if lender != device}
        groups = groups_of(pairs, judge, own)
        figures = print_devices(pairs)
        print()
        print_widths(groups, by_kind(nearest(pairs, device) for device in DEVICES))
        print()
        print("| rows of | " + " | ".join(f"from {lender}" for lender in DEVICES) + " |\n|---|---|---|---|---|---|")
        for device in DEVICES:
            print(f"| {device} | " + " | ".join("-" if lender == device else f"{share(pairs[device, lender]):.1f}"
                                                for lender in DEVICES) + " |")
        if aims is not None:
            figures |= {f"interval|{device}": share(nearest(pairs, device)) for device in DEVICES}
            with open(aims, "w", encoding="utf-8") as file:
                json.dump(figures, file)


if __name__ == "__main__":
    main()
