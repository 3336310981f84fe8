#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the table with which docs/errors.md and docs/accuracy.md begin: believe.py PROGRAM PAGE SHARES CALIBRATION...

Devices and engines with the error of each phase, and the share of its rows in the interval. PAGE is docs/errors.md,
whose tables have the errors of devices that were left out, of llama.cpp and of steps. SHARES is the JSON of
`roofline compare` for groups of rows by device, operator, stack and formats. Every device of data/hardware is in one
line: with kernels of its own, with those of a lender (data/borrowing.json), or with lower bounds only."""
import collections
import glob
import json
import os
import re
import subprocess
import sys

from residuals import SAME_SM_TABLE, lender_of, numerics, tables

COLUMNS = ("16-bit products", "fewer bits", "decode", "prefill", "experts")
LEFT_OUT = {"16-bit products": ("products, 16 bits",), "fewer bits": ("products, fewer bits",),
            "decode": ("decode attention",), "prefill": ("prefill attention, 16 bits", "prefill attention, fewer bits"),
            "experts": ("experts, 16 bits", "experts, fewer bits")}
SAME = {"16-bit products": "16-bit products", "FP8 products": "fewer bits", "INT8 products": "fewer bits",
        "weight-only products": "fewer bits", "decode attention": "decode", "latent decode": "decode",
        "prefill attention": "prefill"}
FITTED = {"decode": "decode", "mla_decode": "decode", "prefill": "prefill", "mla_prefill": "prefill", "moe": "experts"}


def column_of_fit(fit):
    if fit["kernel"] == "gemm":
        return "16-bit products" if fit["numerics"] == "16bit" else "fewer bits"
    return FITTED.get(fit["kernel"])


def column_of_group(group):
    name = group["operator"]
    if name == "gemm":
        return "16-bit products" if numerics(group) == "16bit" else "fewer bits"
    if name == "flash-attention":
        return "decode" if group["query_len"] in (None, "", "1", 1) else "prefill"
    return {"mla-decode": "decode", "mla-prefill": "prefill", "moe": "experts"}.get(name)


def span(values, shape="{:.1f}"):
    """A figure, or the least and the most of several."""
    low, high = (shape.format(one) for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def cell(errors, shares):
    if not errors:
        return "-"
    return f"**{span(errors)}**" + (f" ({span(shares, '{:.0f}')})" if shares else "")


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def shares_of(path):
    """The rows in the interval, in per cent, by device, stack and column."""
    sums = collections.defaultdict(lambda: [0, 0])
    with open(path, encoding="utf-8") as file:
        for group in json.load(file)["groups"]:
            column = column_of_group(group)
            even = group["routing"] in (None, "", "balanced") or not group["stack"]
            if column and group["band_coverage"] is not None and even and group["stack"] != "best":
                total = sums[group["hardware"], group["stack"] or "best", column]
                total[0] += group["rows"] * group["band_coverage"]
                total[1] += group["rows"]
    return {key: [100 * within / rows] for key, (within, rows) in sums.items()}


def put_own(calibrations, shares, steps):
    """The devices with kernels of their own. Returns them."""
    devices = []
    for path in calibrations:
        with open(path, encoding="utf-8") as file:
            calibration = json.load(file)
        device = calibration["hardware"]
        for stack in sorted({fit["stack"] for fit in calibration["fits"]}):
            cells, rows = [], 0
            for column in COLUMNS:
                fits = [fit for fit in calibration["fits"] if fit["stack"] == stack and column_of_fit(fit) == column]
                own = [fit for fit in fits if "lent" not in fit]
                lenders = sorted({fit["lent"] for fit in fits if "lent" in fit})
                count = sum(fit["rows"] for fit in own)
                rows += count
                cells.append(cell([100 * sum(fit["rows"] * fit["mape"] for fit in own) / count],
                                  shares.get((device, stack, column))) if own else
                             "from " + ", ".join(lenders) if lenders else "-")
            if any(one != "-" for one in cells):
                row(device, stack, *cells, cell(steps.get((device, stack)), None), rows or "-")
                devices.append(device)
    return devices


def basis_of(program, device):
    """The basis of the estimates of a device, without llama.cpp and with it; None for lower bounds."""
    found = []
    for question in (["gemm", "-m", "64", "-n", "4096", "-k", "4096", "-p", "fp16", "--stack", "best"],
                     ["model", "llama-3-8b", "--layout", "q4_k_m", "--stack", "llama.cpp"]):
        text = subprocess.run([program, "predict", *question, "-H", device, "-f", "json"], capture_output=True, text=True,
                              check=False).stdout
        found.append(json.loads(text).get("expected_basis") if text else None)
    return found


def put_borrowers(devices, borrowing, errors, static, counts):
    """The devices that borrow, by their lender and whether they have its SM."""
    groups = collections.defaultdict(list)
    for device, architecture in devices.items():
        lender = lender_of(architecture, borrowing["families"])
        same = any(one["calibration"] == lender and architecture.startswith(one["architecture"])
                   for one in borrowing["same_sm"])
        if lender:
            groups[lender, same].append(device)
    for (lender, same), names in sorted(groups.items(), key=lambda one: (one[0][0], not one[0][1])):
        found = errors["same", lender] if same else errors["other"]
        row(", ".join(names), f"borrowed from {lender}, " + ("same SM" if same else "other SM"),
            *(cell(*found[column]) for column in COLUMNS),
            cell([one for name in names for one in static.get(name, ())], None),
            sum(counts.get(name, 0) for name in names) or "-" if same else "-")


def put_llama(devices, borrowing, page):
    """The devices under llama.cpp, with the error of decode and of prompts."""
    figures, shares = {}, collections.defaultdict(list)
    for heading, one in tables(page):
        if heading == "llama.cpp" and "fit of" in one:
            figures.setdefault((one["rows of"].split(",")[0], one["fit of"]), one)
        elif heading == "llama.cpp" and "passes" in one:
            shares[one["device"], one["passes"]].append(float(one["in band"]))
    lenders = {os.path.basename(path)[len("llama.cpp-"):-len(".json")] for path in
               glob.glob("data/calibration/llama.cpp-*.json")}
    rest = collections.defaultdict(list)
    for device, architecture in devices.items():
        lender = device if device in lenders else lender_of(architecture, borrowing["llama.cpp"])
        if lender is None:
            continue
        lender = lender.removeprefix("llama.cpp-")
        found = figures.get((device, "itself, without them" if device == lender else lender))
        own = device == lender
        if device == "m1-max":
            found = figures["all Apple GPUs", "the others of them"]
        if not found or (lender == "m1-max" and not own):
            rest[lender].append(device)
            continue
        cells, rows = [], 0
        for column, name in (("decode", "decode"), ("prompts", "prompts")):
            number = re.match(r"([\d.]+)\W*\((\d+)\)", found[column])
            cells.append(cell([float(number[1])], shares[device, name]) if number else "-")
            rows += int(number[2]) if number else 0
        row(device, "llama.cpp" if own else f"llama.cpp, from {lender}", "-", "-", *cells, "-", "-", rows)
    for lender, names in sorted(rest.items()):
        row(", ".join(names), f"llama.cpp, from {lender}", "-", "-", "-", "-", "-", "-", "-")


def errors_of(page):
    """Errors and shares of devices that were left out, by the lender with the same SM and by the nearest other."""
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: ([], [])))
    for heading, one in tables(page):
        if heading == SAME_SM_TABLE and one["kernel"] in SAME and one["kernels of"] != "itself":
            errors, shares = found["same", one["kernels of"]][SAME[one["kernel"]]]
            errors.append(float(one["MAPE"]))
            shares.append(float(one["in band"]))
        elif heading == "A device that no fit saw":
            for column, kinds in LEFT_OUT.items():
                errors, shares = found["other"][column]
                if one.get("kernels") in kinds and "what is left out" in one:
                    if one["what is left out"] == "the device":
                        shares.append(float(one["in band, from the nearest"]))
                elif one.get("kernels") in kinds:
                    errors += [float(number[0]) for key, text in one.items()
                               if key != "kernels" and (number := re.match(r"[\d.]+", text))]
    return found


def counts_of(page):
    """The rows of devices that borrow from one with the same SM."""
    counts = collections.Counter()
    for heading, one in tables(page):
        if heading == SAME_SM_TABLE and one["kernel"] in SAME and one["stack"] not in ("sglang", "trtllm"):
            counts[one["device"]] += int(one["rows"])
    return counts


def steps_of(page):
    """The errors of steps under load by device and engine, and of static batches by device."""
    steps, static = collections.defaultdict(list), collections.defaultdict(list)
    for heading, one in tables(page):
        if heading == "Serving" and one.get("model") == "all" and "TPOT" in one:
            steps[one["device"], one["engine"]].append(float(one["TPOT"]))
        elif heading == "Whole models" and one.get("source") == "LLM-Inference-Bench" and one.get("stack"):
            static[one["hardware"]].append(float(one["median"]))
    return steps, static


def main():
    program, page, shares, *calibrations = sys.argv[1:]
    with open("data/borrowing.json", encoding="utf-8") as file:
        borrowing = json.load(file)
    devices = {}
    for path in sorted(glob.glob("data/hardware/*.json")):
        with open(path, encoding="utf-8") as file:
            device = json.load(file)
        devices[device["id"]] = device.get("architecture", "")
    basis = {device: basis_of(program, device) for device in devices}
    steps, static = steps_of(page)
    row("device", "engine", *COLUMNS, "steps", "rows")
    print("|---" * (len(COLUMNS) + 4) + "|")
    own = put_own(calibrations, shares_of(shares), steps)
    # a100 and h100 are short ids of devices with kernels.
    put_borrowers({one: devices[one] for one in devices if basis[one][0] == "nearest" and one not in own},
                  borrowing,
                  errors_of(page), static, counts_of(page))
    put_llama({one: devices[one] for one in devices if basis[one][1]}, borrowing, page)
    bounds = [one for one in devices if basis[one] == [None, None]]
    row(", ".join(bounds), f"lower bounds only ({len(bounds)} of {len(devices)} devices)",
        *["-"] * (len(COLUMNS) + 2))


if __name__ == "__main__":
    main()
