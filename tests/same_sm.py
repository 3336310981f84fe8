#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares devices with measured rows, none of which a fit of the device used, with the kernels of a device that has
the same SM: same_sm.py PROGRAM DIR. DIR has the published timings. Prints a table for docs/errors.md, which
tests/residuals.py reads for the aims.

The rows are those of `roofline measure` on H200 and H100 (docs/reports), of other devices of docs/reports/borrowed.csv
with an SM that was measured, of MI300X and MI355X (the fastest product of a search, mamf_more.csv), of H800 (infersim_gemm.csv and infersim_attn.csv), and of DGX Spark (gb10_micro.csv), here
with the calibration of RTX PRO 6000 in place of its own."""
import csv
import json
import os
import subprocess
import sys
import tempfile

from left_out import VECTORS
from residuals import numerics

COLUMNS = ("kind", "lender", "source", "operator", "hardware", "stack", "m", "n", "k", "batch", "heads", "kv_heads",
           "head_dim", "query_len", "kv_len", "causal", "tokens", "hidden", "weights", "activations", "kv", "out",
           "quantize_input", "cache", "measured_us")
# The devices of docs/reports/borrowed.csv whose SM is that of a device with measured kernels (same_sm of
# data/borrowing.json has a40 as another, SM86).
BORROWERS = {"a100-pcie-40gb": "a100-sxm-80gb", "h100-pcie": "h100-sxm", "h20": "h100-sxm", "l4": "l40s",
             "rtx-4090": "l40s", "rtx-5080": "rtx-pro-6000", "rtx-5090": "rtx-pro-6000"}
ENGINES = ("vllm", "sglang", "trtllm")  # vLLM and SGLang call DeepGEMM, whose products these are
AMD = {"MI300X": "mi300x", "MI355X": "mi355x"}
SOURCES = {"mamf": "stas00/ml-engineering", "infersim": "alibaba/InferSim", "gb10_micro": "ml-explore/mlx#3137",
           "measure": "`roofline measure`", "borrowed": "docs/reports/borrowed.csv"}


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def kind_of(row):
    """The kind of a row as tests/residuals.py names its aim."""
    name = row["operator"]
    if name == "flash-attention":
        return "decode attention" if row.get("query_len", "") in ("", "1") else "prefill attention"
    if name == "mla-decode":
        return "latent decode"
    if name == "gemm":
        formats = numerics(row)
        return {"16bit": "16-bit products", "fp8": "FP8 products", "int8": "INT8 products"}.get(
            formats, "weight-only products")
    return "batched products" if name == "bmm" else "vectors" if name in VECTORS else "quantisation"


def measured(folder):
    """All rows, with the device that lends and the source."""
    for device, lender in (("h200-sxm", "h100-sxm"), ("h100-sxm", "")):
        for row in rows_of(f"docs/reports/measured-{device.split('-')[0]}.csv"):
            yield {**row, "hardware": device, "lender": lender, "source": "measure"}
    for row in rows_of("docs/reports/borrowed.csv"):
        if row["hardware"] in BORROWERS:
            row["weights"] = row["weights"] or row["activations"]
            yield {**row, "lender": BORROWERS[row["hardware"]], "source": "borrowed"}
    h800 = {"hardware": "h800", "lender": "h100-sxm", "source": "infersim", "cache": "cold"}
    for row in rows_of(os.path.join(folder, "infersim_gemm.csv")):
        for stack in ENGINES:
            yield {**h800, "operator": "gemm", "stack": stack, "m": row["M"], "n": row["N"], "k": row["K"],
                   "weights": "fp8_block128", "activations": "fp8_e4m3", "out": "bf16", "quantize_input": "none",
                   "measured_us": row["time_us"]}
    for row in rows_of(os.path.join(folder, "infersim_attn.csv")):
        mla = row["op"] == "mla_decode"
        yield {**h800, "operator": "mla-decode" if mla else "flash-attention", "batch": row["batch"],
               "heads": row["heads"], "kv_heads": "" if mla else row["kv_heads"],
               "head_dim": "" if mla else row["head_dim"], "query_len": row["seq_q"], "kv_len": row["seq_kv"],
               "weights": "bf16", "activations": "bf16", "kv": "bf16", "cache": "warm", "measured_us": row["time_us"]}
    for row in rows_of(os.path.join(folder, "gb10_micro.csv")):
        if row["M"]:
            yield {"hardware": "dgx-spark", "lender": "rtx-pro-6000", "source": "gb10_micro", "operator": "gemm",
                   "m": row["M"], "n": row["N"], "k": row["K"], "activations": "fp16", "out": "fp16", "cache": "warm",
                   "weights": "fp16" if row["dtype"] == "fp16" else "int8_channel", "measured_us": row["time_us"]}
    for row in rows_of(os.path.join(folder, "more", "mamf_more.csv")):
        if row["gpu"] in AMD and row["dtype"] == "bf16":
            yield {"hardware": AMD[row["gpu"]], "lender": "", "source": "mamf", "operator": "gemm", "m": row["M"],
                   "n": row["N"], "k": row["K"], "weights": "bf16", "activations": "bf16", "out": "bf16",
                   "cache": "warm", "measured_us": row["time_us"]}
    # The rate of a large product is that of one of 8192 rows, columns and steps, as in tests/measured.sh.
    yield {"hardware": "dgx-spark", "lender": "rtx-pro-6000", "source": "gb10_micro", "operator": "gemm", "m": 8192,
           "n": 8192, "k": 8192, "weights": "fp16", "activations": "fp16", "out": "fp16", "cache": "warm",
           "measured_us": 11912.4}


def compare(program, rows, folder, *options):
    """The groups of `roofline compare` by kind, device and stack."""
    path = os.path.join(folder, "rows.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, restval="", extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)
    printed = subprocess.run([program, "compare", path, "--group-by", "hardware,lender,kind,stack,source", "-f", "json",
                              *options], check=True, capture_output=True, text=True).stdout
    return json.loads(printed)["groups"]


def main():
    program, source = sys.argv[1:]
    rows = [{**row, "kind": kind_of(row)} for row in measured(source)]
    spark = [row for row in rows if row["hardware"] == "dgx-spark"]
    with tempfile.TemporaryDirectory() as folder:
        groups = compare(program, [row for row in rows if row["hardware"] != "dgx-spark"], folder)
        groups += compare(program, spark, folder, "--calibration", "data/calibration/rtx-pro-6000.json")
    print("| device | kernels of | kernel | stack | rows of | rows | MAPE | bias | in band |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for group in groups:
        if group["expected_mape"] is not None:
            bias = 100 * group["expected_bias"]
            print(f"| {group['hardware']} | {group['lender'] or 'itself'} | {group['kind']} | {group['stack'] or ''} | "
                  f"{SOURCES[group['source']]} | {group['rows']} | **{100 * group['expected_mape']:.1f}** | "
                  f"{bias:+.1f} | {100 * group['band_coverage']:.1f} |")


if __name__ == "__main__":
    main()
