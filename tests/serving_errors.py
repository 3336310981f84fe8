#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Simulates measured closed loops: serving_errors.py PROGRAM FILE.

FILE is inferencemax_agg.csv: medians of InferenceMAX runs, as ai-dynamo/aiconfigurator keeps them
(docs/simulation.md has the source). Prints tables in Markdown: errors of the medians by device and
engine."""
import csv
import json
import re
import statistics
import subprocess
import sys

DEVICES = {"H100-SXM": "h100-sxm", "B200-SXM": "hgx-b200"}
MODELS = (("Llama-3.1-8B", "llama-3.1-8b"), ("Qwen3-235B", "qwen3-235b-a22b"),
          ("gpt-oss-120b", "gpt-oss-120b"), ("DeepSeek-R1", "deepseek-r1"),
          ("DeepSeek-V3.1", "deepseek-v3"), ("DeepSeek-V3", "deepseek-v3"))
FORMATS = {"": "bf16", "fp8": "fp8-block", "fp8_block": "fp8-block", "nvfp4": "nvfp4"}
# The defaults of the servers: prompt tokens of a step, and sequences (docs/simulation.md).
BUDGETS = {("trtllm", "H100-SXM"): (8192, 2048), ("trtllm", "B200-SXM"): (8192, 2048),
           ("vllm", "H100-SXM"): (8192, 1024), ("vllm", "B200-SXM"): (8192, 1024),
           ("sglang", "H100-SXM"): (8192, 2048), ("sglang", "B200-SXM"): (16384, 2048)}
ROWS_LEAST = 50


def size(text):
    return max(1, int(float(text or 1)))


def command(row):
    """The question of a row; None where the row is left out."""
    model = next(name for part, name in MODELS if part in row["model"])
    tp, groups = size(row["tp_size"]), size(row["attention_dp_size"])
    moe_tp, moe_ep = size(row["moe_tp_size"]), size(row["moe_ep_size"])
    dense = model == "llama-3.1-8b"
    if not row["concurrency"] or not dense and moe_tp * moe_ep != tp * groups:
        return None
    users = int(float(row["concurrency"]))
    if model == "gpt-oss-120b" and row["gpu"] == "H100-SXM" and users >= 512:
        return None  # measured times of fewer sequences: they are below the bound
    budget, sequences = BUDGETS[row["framework"], row["gpu"]]
    # Only the experts of gpt-oss have four bits; on B200 their activations have few, too.
    formats = (["-p", FORMATS[row["gemm_quant_mode"]]] if not model.startswith("gpt-oss")
               else ["-p", "mxfp4"] if row["gpu"] == "B200-SXM"
               else ["--layout", "gpt-oss-mxfp4"])
    # InferenceMAX draws lengths from 80% of the size up; the other runs have one length.
    spread = "Inference" in row["origin"]
    prompt, generate = (f"uniform:{int(0.8 * n)}:{n}" if spread else str(n)
                        for n in (int(row["isl"]), int(row["osl"])))
    return ["simulate", model, "-H", DEVICES[row["gpu"]], *formats, "--stack",
            row["framework"], "--tp", str(tp), "--attention-dp", str(groups),
            *([] if dense else ["--moe-tp", str(moe_tp), "--moe-ep", str(moe_ep)]),
            "--concurrency", str(users), "--requests", str(max(10 * users, 2)), "--warm-up", "0", "--prompt", prompt,
            "--generate", generate, "--chunk", str(budget), "--max-num-seqs", str(sequences),
            "-f", "ndjson", "--columns", "ttft_ms_p50,tpot_ms_p50"]


def errors(program, row):
    """Simulated over measured medians, less 1: (TTFT, TPOT)."""
    question = command(row)
    if question is None:
        return None
    done = subprocess.run([program, *question], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(question), re.sub(r"\s+", " ", done.stderr), file=sys.stderr)
        return None
    found = json.loads(done.stdout)
    return [found[key + "_p50"] / float(row[key]) - 1 for key in ("ttft_ms", "tpot_ms")]


def line(name, found):
    """A row of the table: medians of the errors and of their sizes."""
    cells = []
    for column in (1, 0):
        values = [error[column] for error in found]
        cells += [f"**{100 * statistics.median(map(abs, values)):.1f}**",
                  f"{100 * statistics.median(values):+.1f}"]
    return f"| {name} | {len(found)} | {' | '.join(cells)} |"


def main():
    program, path = sys.argv[1:]
    groups, skipped = {}, 0
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(text for text in file if not text.startswith("#")):
            found = errors(program, row)
            skipped += found is None
            if found is not None:
                for key in ((row["gpu"], row["framework"], "all"),
                            (row["gpu"], row["framework"], row["model"].split("/")[1])):
                    groups.setdefault(key, []).append(found)
    print("| device | engine | model | rows | TPOT | bias | TTFT | bias |")
    print("|---|---|---|---|---|---|---|---|")
    for (gpu, engine, model), found in sorted(groups.items()):
        name = f"**{model}**" if len(found) >= ROWS_LEAST and model == "all" else model
        print(line(f"{DEVICES[gpu]} | {engine} | {name}", found))
    print(f"\nRows left out: {skipped}.")


if __name__ == "__main__":
    main()
