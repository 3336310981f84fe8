#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predicts measured offline throughput: mlperf_errors.py PROGRAM FILE.

FILE is mlperf_llm.csv: results of MLPerf Inference, whose sources are in docs/errors.md. Prints a table
in Markdown: errors by device, model and format."""
import csv
import json
import statistics
import subprocess
import sys

DEVICES = {"H100-SXM": "h100-sxm", "H100-PCIe": "h100-pcie", "L40S": "l40s", "B200-SXM": "hgx-b200",
           "MI300X": "mi300x", "MI355X": "mi355x"}
AMD = ("MI300X", "MI355X")
# The mean prompts, and the mean answers of the reference where a row has none (docs/errors.md has the sources).
LENGTHS = {"llama2-70b": ("llama-2-70b", 221, 294), "llama3.1-405b": ("llama-3.1-405b", 9400, 685)}
FORMATS = {"fp4": "nvfp4", "fp8": "fp8", "mxfp4": "mxfp4"}
BATCHES = [2 ** (k // 2) * (3 if k % 2 else 2) // 2 for k in range(2, 25)]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(text for text in file if not text.startswith("#")))


def format_of(row):
    """The weights of a run. Rounds without the column had FP8, and FP4 on B200."""
    if row["weights"] in FORMATS:
        return "mxfp4" if row["gpu"] in AMD and row["weights"] == "fp4" else FORMATS[row["weights"]]
    return "nvfp4" if row["gpu"] == "B200-SXM" else "fp8"


def reason_to_skip(row):
    """Why a run cannot be predicted; None if it can."""
    if row["scenario"].lower() != "offline":
        return "not offline"
    if row["division"] != "closed":
        return "open division, which may change the model"
    if model_of(row) not in LENGTHS:
        return "Mixtral, whose mean prompt no source states"
    return None


def model_of(row):
    return row["model"].replace("_1-", ".1-").replace("-99.9", "").replace("-99", "")


def ask(program, model, device, weights, stack, tp, batch, prompt, generate):
    """The expected tokens/s, or None where the memory has no room."""
    done = subprocess.run([program, "predict", "model", model, "-H", device, "-p", weights, "--kv", "fp8", "--stack",
                           stack, "--tp", str(tp), "--batch", str(batch), "--prompt", str(prompt), "--generate",
                           str(generate), "-f", "json"], capture_output=True, text=True, check=False)
    found = json.loads(done.stdout) if done.returncode == 0 else {}
    return found.get("expected_tokens_per_s") if found.get("fits") else None


def best(program, model, device, weights, stack, most, prompt, generate, known={}):
    """The greatest expected tokens/s of a device: of all splits and batches that fit."""
    key = (model, device, weights, stack, most, prompt, generate)
    if key not in known:
        known[key] = (0, 0, 0)
        for tp in (tp for tp in (1, 2, 4, 8) if tp <= most):
            for batch in BATCHES:
                found = ask(program, model, device, weights, stack, tp, batch, prompt, generate)
                if found is None:
                    break
                known[key] = max(known[key], (found / tp, tp, batch))
    return known[key]


def main():
    program, path = sys.argv[1:]
    rows = read(path)
    skipped, once, groups = {}, {}, {}
    for row in rows:
        reason = reason_to_skip(row)
        key = tuple(row[name] for name in ("round", "submitter", "system", "tok_s")) + (model_of(row),)
        if reason is None and key in once:
            reason = "the same run as another accuracy"
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
        else:
            once[key] = row
    for row in once.values():
        model, prompt, generate = LENGTHS[model_of(row)]
        answer = round(float(row["output_tokens_per_sample"] or generate))
        devices = int(row["n_gpus"]) // int(row["nodes"])
        found = best(program, model, DEVICES[row["gpu"]], format_of(row), "best" if row["gpu"] in AMD else "trtllm",
                     devices, prompt, answer)
        if found[0] == 0:
            skipped["no expected time, or no room"] = skipped.get("no expected time, or no room", 0) + 1
            continue
        groups.setdefault((DEVICES[row["gpu"]], model, format_of(row), row["round"]), []).append(
            (found, float(row["tok_s_per_gpu"])))
    print("| device | model | weights | round | runs | tokens/s of a device | expected | split, batch | error | bias |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for (device, model, weights, year), found in sorted(groups.items()):
        ratios = [mine[0] / other - 1 for mine, other in found]
        middle = found[len(found) // 2][0]
        print(f"| {device} | {model} | {weights} | {year} | {len(found)} | "
              f"{statistics.median(other for _, other in found):.0f} | "
              f"{statistics.median(mine[0] for mine, _ in found):.0f} | tp {middle[1]}, {middle[2]} | "
              f"**{100 * statistics.median(map(abs, ratios)):.1f}** | {100 * statistics.median(ratios):+.1f} |")
    print("\nRows left out: " + ", ".join(f"{count} ({reason})" for reason, count in sorted(skipped.items())) + ".")


if __name__ == "__main__":
    main()
