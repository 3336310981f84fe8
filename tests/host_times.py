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
from serving_errors import host_words, joined, launches_of, part

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


# Parts of the host time of which several values are simulated: the time per token or (TTFT) the time to first token
# judges them. Each has its values in us, and the words of --host-time for one.
def overlap_words(_, value):
    return joined("request=27ms", part("overlap", value, "us"))


def front_words(row, value):
    return host_words(row, part("front", value, "us"), launches_of(row))


def latent_words(row, value):
    return host_words(row, part("latent", value, "us"))


def request_words(row, value):
    return joined(part("request", value, "us"), launches_of(row), "overlap=1us")


REQUESTS = [0, 9000, 18000, 27000, 36000]
FRONTS = [0, 5000, 10000, 15000, 20000, 25000]
LATENTS = [0, 30, 60, 90, 120]


def simulated(program, row, values, words, column):
    """The error of a run by the value of a part of the host time."""
    found = {}
    for value in values:
        times = serving_errors.times(program, row, words(row, value))
        if times is None:
            return None
        found[value] = times[column][0] / times[column][1] - 1
    return found


def report_values(program, name, rows_of, how):
    """The lines of a part of the host time, as in `report`: each group by the fit of the others."""
    values = how[0]
    groups = {group: list(filter(None, (simulated(program, row, *how) for row in found)))
              for group, found in sorted(rows_of.items())}

    def size(found, value):
        return statistics.mean(abs(run[value]) for run in found)
    kept, total = sum(groups.values(), []), 0.0
    for group, found in groups.items():
        rest = [run for other, runs in groups.items() if other != group for run in runs]
        best = min(values, key=lambda value: size(rest, value))
        total += len(found) * size(found, best)
        print(f"| {name} | {group} | {len(found)} | {100 * size(found, 0):.1f} | "
              f"**{100 * size(found, best):.1f}** | {best:g} | 0 |")
    best = min(values, key=lambda value: size(kept, value))
    print(f"| {name} | **all** | {len(kept)} | {100 * size(kept, 0):.1f} | "
          f"**{100 * total / len(kept):.1f}** | {best:g} | 0 |")


def report_parts(program, all_rows):
    """The lines of all such parts."""
    parts = {}

    def put(name, row):
        group = f"{serving_errors.DEVICES[row['gpu']]} {row['model'].split('/')[1].lower()}"
        if "DeepSeek" in row["model"]:
            group = f"{serving_errors.DEVICES[row['gpu']]} deepseek-r1"
        parts.setdefault(name, {}).setdefault(group, []).append(row)
    for row in all_rows:
        if not row["concurrency"]:
            continue
        public, engine = serving_errors.is_public(row), row["framework"]
        warm = serving_errors.has_warm_up(row)
        if serving_errors.is_overlapped(row) and public:
            put("trtllm 1.2, overlap", row)
        if row["version"] == "1.0.0rc3":
            put("trtllm 1.0, front", row)
        if engine == "trtllm" and warm:
            put("trtllm 1.2, front", row)
            put("trtllm 1.2, requests", row)
        if engine == "vllm" and warm:
            put("vllm, front", row)
        if warm and serving_errors.has_latents(row):
            parts.setdefault("latent attention", {}).setdefault(f"hgx-b200 {engine}", []).append(row)
    for name, rows_of in sorted(parts.items()):
        how = ((OVERLAPS, overlap_words, 1) if "overlap" in name else
               (LATENTS, latent_words, 0) if "latent" in name else
               (REQUESTS, request_words, 0) if "requests" in name else (FRONTS, front_words, 0))
        report_values(program, name, rows_of, how)


def main():
    program, folder = sys.argv[1:]
    names = {}
    static_rows = [row for row in rows(os.path.join(folder, "e2e.csv"))
                   if row["metric"] == "e2e_latency_s"]
    found = [static(program, row) for row in static_rows]
    loops = serving_errors.distinct(os.path.join(folder, "more", "inferencemax_agg.csv"))[0]
    for row in loops:
        if row["gpu"] == "B200-SXM" and "gpt-oss" not in row["model"] or not row["concurrency"]:
            continue  # DeepSeek: docs/errors.md has why not
        sizes = {"--concurrency": int(float(row["concurrency"]))}
        found += [closed(program, row, sizes)]
        if row["version"] != "1.0.0rc3":  # requests that come together wait for each other there: report_parts
            found += [first(program, row, sizes)]
    for row in filter(None, found):
        names.setdefault(row[0], {}).setdefault(row[1], []).append(row)
    print("| engine | left out | rows | none | error | step us | sequence us |")
    print("|---|---|---|---|---|---|---|")
    for name, groups in sorted(names.items()):
        groups = {group: found for group, found in groups.items() if len(found) >= 10}
        if len(groups) > 1:
            report(name, groups)
    report_parts(program, loops)


if __name__ == "__main__":
    main()
