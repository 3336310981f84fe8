#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fits the host times of engines to whole models: host_times.py PROGRAM DIR.

DIR has e2e.csv (static batches) and more/inferencemax_agg.csv (closed loops), whose sources are in
docs/errors.md. Each group of rows is judged by the fit of the other groups. Prints a table in
Markdown, and the fit of all groups, which is what data/engines has."""
import csv
import json
import os
import re
import statistics
import subprocess
import sys

import serving_errors

USERS_MOST = 128  # in closed loops with more, requests wait for each other
FLOOR = 0.02      # errors below this weigh alike
OVERLAPS = [k / 4 for k in range(9)]  # us


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def ask(program, question, key):
    """A value, and the passes that it has: what a host time of 1 s adds to it, in seconds."""
    found = []
    for host in ("none", "1s"):
        done = subprocess.run([program, *question, "--host-time", host, "-f", "json"],
                              capture_output=True, text=True, check=False)
        value = json.loads(done.stdout).get(key) if done.returncode == 0 else None
        if value is None:
            return None
        found.append(value / 1e3)
    return found[0], found[1] - found[0]


def static(program, row):
    """A static batch of vLLM or TensorRT-LLM; those whose cache does not fit are left out."""
    model = re.sub("^meta-|-hf$", "", row["model"].lower())
    gpu = "a100-sxm-40gb" if row["gpu"].startswith("A100") else "h100-sxm"
    batch, prompt, generate = (int(row[key]) for key in ("batch", "prompt", "gen"))
    token, weights = (524288, 13.5e9) if model == "llama-2-7b" else (131072, 16.1e9)
    if weights + batch * (prompt + generate) * token > 0.9 * (40 if "40gb" in gpu else 80) * 2 ** 30:
        return None
    stack = {"TensorRT-LLM": "trtllm", "vLLM": "vllm"}[row["framework"]]
    asked = ask(program, ["predict", "model", model, "-H", gpu, "-p", "bf16", "--stack", stack,
                          "--batch", str(batch), "--prompt", str(prompt), "--generate",
                          str(generate), "--static"], "expected_e2e_ms")
    return asked and (f"{stack} 2024, steps", f"{gpu} {model}", *asked, batch, float(row["value"]))


def closed(program, row, sizes):
    """The time per token of a closed loop."""
    question = serving_errors.command(row)
    if question is None or sizes["--concurrency"] > USERS_MOST:
        return None
    words = dict(zip(question[2::2], question[3::2]))
    share = 0.9 if "Inference" in row["origin"] else 1
    kept = [word for key in ("-H", "-p", "--layout", "--activations", "--kv", "--tp", "--attention-dp",
                             "--moe-tp", "--moe-ep", "--chunk") if key in words for word in (key, words[key])]
    asked = ask(program, ["predict", "model", question[1], *kept, "--stack", words["--engine"], "--batch", words["--concurrency"],
                          "--prompt", str(int(share * int(row["isl"]))), "--generate",
                          str(int(share * int(row["osl"])))], "expected_tpot_ms")
    return asked and (f"{row['framework']}, steps", f"{words['-H']} {question[1]}", *asked,
                      sizes["--concurrency"], float(row["tpot_ms"]) / 1e3)


def first(program, row, sizes):
    """The time to first token of a closed loop, simulated."""
    if sizes is None or sizes["--concurrency"] > USERS_MOST:
        return None
    found = serving_errors.times(program, row, "none")
    if found is None:
        return None
    mine, other = found[0]
    name = f"{serving_errors.DEVICES[row['gpu']]} {row['model'].split('/')[1].lower()}"
    return f"{row['framework']}, requests", name, mine / 1e3, 1, 0, other / 1e3


def error(found, step, sequence):
    return statistics.mean(abs((x + passes * (step + sequence * batch)) / measured - 1)
                           for _, _, x, passes, batch, measured in found)


def solve(terms, step, sequence):
    """Least squares of a u + b v = y; None where a time is negative or they are alike."""
    uu, uv, vv, uy, vy = (sum(w * p * q for w, p, q in
                              ((w, *pick(u, v, y)) for w, u, v, y in terms))
                          for pick in (lambda u, v, y: (u, u), lambda u, v, y: (u, v),
                                       lambda u, v, y: (v, v), lambda u, v, y: (u, y),
                                       lambda u, v, y: (v, y)))
    if step and sequence:
        determinant = uu * vv - uv * uv
        return None if determinant <= 1e-12 * uu * vv else (
            (uy * vv - vy * uv) / determinant, (uu * vy - uv * uy) / determinant)
    return (uy / uu, 0) if step else (0, vy / vv) if vv > 0 else None


def fit(found):
    """The times of a step and of a sequence with the least mean error, by reweighted squares."""
    best = (error(found, 0, 0), 0, 0)
    for step, sequence in ((True, False), (False, True), (True, True)):
        weight = [1] * len(found)
        for _ in range(30):
            terms = [(w, p / m, p * b / m, 1 - x / m)
                     for w, (_, _, x, p, b, m) in zip(weight, found)]
            got = solve(terms, step, sequence)
            if got is None or min(got) < 0:
                break
            weight = [1 / max(FLOOR, error([row], *got)) for row in found]
        else:
            best = min(best, (error(found, *got), *got), key=lambda one: round(one[0], 4))
    return best[1:]


def report(name, groups):
    """The lines of one engine: each group by the fit of the others, and all together."""
    def cells(what, number, before, after, times):
        return (f"| {name} | {what} | {number} | {100 * before:.1f} | **{100 * after:.1f}** | "
                f"{1e6 * times[0]:.0f} | {1e6 * times[1]:.0f} |")
    kept = [row for found in groups.values() for row in found]
    total = 0.0
    for group, found in sorted(groups.items()):
        times = fit([row for other, rest in groups.items() if other != group for row in rest])
        total += len(found) * error(found, *times)
        print(cells(group, len(found), error(found, 0, 0), error(found, *times), times))
    print(cells("**all**", len(kept), error(kept, 0, 0), total / len(kept), fit(kept)))


def overlapped(program, row):
    """The time per token of a closed loop by the overlap of its kernels, simulated; and the measured one."""
    found = {}
    for overlap in OVERLAPS:
        host = "request=27ms" + (f",overlap={overlap}us" if overlap else "")
        times = serving_errors.times(program, row, host)
        if times is None:
            return None
        found[overlap] = times[1][0] / times[1][1] - 1
    return found


def report_overlaps(program, rows_of):
    """The lines of the overlap of kernels, as in `report`: each model by the fit of the other."""
    groups = {model: list(filter(None, (overlapped(program, row) for row in found)))
              for model, found in sorted(rows_of.items())}

    def size(found, overlap):
        return statistics.mean(abs(run[overlap]) for run in found)
    kept, total = sum(groups.values(), []), 0.0
    for model, found in groups.items():
        rest = [run for other, runs in groups.items() if other != model for run in runs]
        best = min(OVERLAPS, key=lambda overlap: size(rest, overlap))
        total += len(found) * size(found, best)
        print(f"| trtllm 1.2, overlap | hgx-b200 {model} | {len(found)} | {100 * size(found, 0):.1f} | "
              f"**{100 * size(found, best):.1f}** | {best:g} | 0 |")
    best = min(OVERLAPS, key=lambda overlap: size(kept, overlap))
    print(f"| trtllm 1.2, overlap | **all** | {len(kept)} | {100 * size(kept, 0):.1f} | "
          f"**{100 * total / len(kept):.1f}** | {best:g} | 0 |")


def main():
    program, folder = sys.argv[1:]
    names, overlaps = {}, {}
    static_rows = [row for row in rows(os.path.join(folder, "e2e.csv"))
                   if row["metric"] == "e2e_latency_s"]
    found = [static(program, row) for row in static_rows]
    for row in serving_errors.distinct(os.path.join(folder, "more", "inferencemax_agg.csv"))[0]:
        if serving_errors.is_overlapped(row) and serving_errors.is_public(row):
            overlaps.setdefault("gpt-oss-120b" if "gpt-oss" in row["model"] else "deepseek-r1", []).append(row)
        if row["gpu"] == "B200-SXM" and "gpt-oss" not in row["model"] or not row["concurrency"]:
            continue  # DeepSeek: docs/errors.md has why not
        sizes = {"--concurrency": int(float(row["concurrency"]))}
        found += [closed(program, row, sizes), first(program, row, sizes)]
    for row in filter(None, found):
        names.setdefault(row[0], {}).setdefault(row[1], []).append(row)
    print("| engine | left out | rows | none | error | step us | sequence us |")
    print("|---|---|---|---|---|---|---|")
    for name, groups in sorted(names.items()):
        groups = {group: found for group, found in groups.items() if len(found) >= 10}
        if len(groups) > 1:
            report(name, groups)
    report_overlaps(program, overlaps)


if __name__ == "__main__":
    main()
