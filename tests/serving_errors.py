#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Simulates measured closed loops: serving_errors.py PROGRAM FILE.

FILE is inferencemax_agg.csv: means of InferenceMAX runs, as ai-dynamo/aiconfigurator keeps them
(docs/simulation.md has the source). Prints a table in Markdown: errors by device and engine.

The file calls its times medians. Its TTFT grow with the users as means of runs do that begin with
all users at once: the tenth of the requests that waits in the beginning adds to the mean a part
that is in proportion to the users, and nothing to the median."""
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
            "-f", "ndjson", "--columns", "ttft_ms_mean,tpot_ms_mean"]


def times(program, row, host):
    """Simulated and measured means: ((TTFT, TTFT), (TPOT, TPOT)), with a host time."""
    question = command(row)
    if question is None:
        return None
    done = subprocess.run([program, *question, "--host-time", host], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(question), re.sub(r"\s+", " ", done.stderr), file=sys.stderr)
        return None
    found = json.loads(done.stdout)
    return [(found[key + "_mean"], float(row[key])) for key in ("ttft_ms", "tpot_ms")]


def error(pairs, factor=1.0, added=0.0):
    """The median size of (factor simulated + added) / measured - 1."""
    return statistics.median(abs((factor * mine + added) / other - 1) for mine, other in pairs)


def fit(pairs):
    """The factor and the added milliseconds with the least error."""
    return min(((k / 20, added) for k in range(10, 61) for added in range(0, 121, 4)),
               key=lambda pair: error(pairs, *pair))


def unseen(pairs):
    """The error of each half of the rows with the fit of the other half."""
    halves = pairs[::2], pairs[1::2]
    if min(map(len, halves)) < 5:
        return "-"
    return f"{50 * sum(error(a, *fit(b)) for a, b in (halves, halves[::-1])):.1f}"


def line(name, found):
    """A row of the table: medians of the errors and of their sizes."""
    cells = []
    for column in (1, 0):
        pairs = [row[column] for row in found]
        bias = statistics.median(mine / other - 1 for mine, other in pairs)
        cells += [f"**{100 * error(pairs):.1f}**", f"{100 * bias:+.1f}"]
    ttft = [row[0] for row in found]
    factor, added = fit(ttft)
    return (f"| {name} | {len(found)} | {' | '.join(cells)} | {factor:g} | {added} | "
            f"{unseen(ttft)} |")


def main():
    program, path = sys.argv[1:]
    groups, skipped = {}, 0
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(text for text in file if not text.startswith("#")):
            found = times(program, row, "none")
            skipped += found is None
            if found is not None:
                for key in ((row["gpu"], row["framework"], "all"),
                            (row["gpu"], row["framework"], row["model"].split("/")[1])):
                    groups.setdefault(key, []).append(found)
    print("| device | engine | model | rows | TPOT | bias | TTFT | bias | factor | added ms | TTFT then |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for (gpu, engine, model), found in sorted(groups.items()):
        name = f"**{model}**" if len(found) >= ROWS_LEAST and model == "all" else model
        print(line(f"{DEVICES[gpu]} | {engine} | {name}", found))
    print(f"\nRows left out: {skipped}.")


if __name__ == "__main__":
    main()
