#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fits the kernels of llama.cpp to whole passes: llamacpp.py PROGRAM DIR [FOLDER].

DIR has e2e.csv and more/: llamacpp_strix_halo.csv, llamacpp_r9700.csv, llamacpp_microbatch.csv and
local_llm.csv, whose sources are in docs/errors.md; llama/apple.csv and llama/discrete.csv, whose rows
no fit sees, are beside this file. Prints tables in Markdown; with FOLDER it writes the calibrations
(llama.cpp-ID.json). A pass is the sum of its operators, each by the plain formula of
docs/accuracy.md; its numbers of FLOPs and bytes are those of PROGRAM."""
import collections
import csv
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys

# The devices that lend, and the one at whose fit each begins. m1-max stands for all Apple GPUs, which
# have a few rows each.
LENDERS = {"strix-halo": None, "r9700": "strix-halo", "dgx-spark": "strix-halo",
           "rtx-4090": "dgx-spark", "m1-max": "dgx-spark"}
# Parameters of a device that stay those of the fit at which it begins, because own ones raise the error of decode
# for formats that were left out (RTX 4090: 22% with own ones, 13% without, and 20 and 4% for build 4011).
HELD_KEYS = {"rtx-4090": frozenset(("launch", "vector_launch", "dram_16bit", "dram_w8a16", "dram_w4a16", "decode_dram",
                                    "moe_launch", "moe_dram", "moe_peak", "moe_overlap"))}
APPLE = ("m1-max", "m1-ultra", "m2-pro", "m2-ultra", "m4", "m5")
MODELS = {"Llama-3-8B": "llama-3-8b", "llama-2-7b.Q4_0": "llama-2-7b", "Qwen2.5-7B": "qwen2.5-7b",
          "llama-2-7b.Q4_K_M": "llama-2-7b", "gemma-3-4b": "gemma-3-4b",
          "gpt-oss-20b": "gpt-oss-20b", "gpt-oss-20b-mxfp4": "gpt-oss-20b",
          "llama-2-7b": "llama-2-7b", "Qwen3-32B-Q8_0": "qwen3-32b", "shisa-v2-llama3.1-8b.i1-Q4_K_M": "llama-3.1-8b"}
DEVICES = {"RTX 4090": "rtx-4090", "4090 24GB": "rtx-4090", "A100 PCIe 80GB": "a100-pcie-80gb",
           "A100 SXM 80GB": "a100-sxm-80gb", "GB10 (DGX Spark)": "dgx-spark",
           "RX 7900 XTX": "rx-7900-xtx", "RTX A6000 48GB": "rtx-a6000"}
LAYOUTS = ("q4_0", "q8_0", "q4_k_m", "q4_k_s", "q5_0")
# Parameters: least, most, and where the first search begins; launches in microseconds.
PARAMETERS = {"launch": (0.1, 40, 4), "vector_launch": (0.1, 30, 2), "overlap": (0.001, 1, 0.5),
              "dram_16bit": (0.3, 1, 0.9), "dram_w8a16": (0.3, 1, 0.85),
              "dram_w4a16": (0.3, 1, 0.8), "peak": (0.02, 1, 0.5), "narrow": (0.001, 30, 0.5),
              "decode_dram": (0.1, 1, 0.6), "prefill_launch": (0.1, 300, 10),
              "prefill_peak": (0.01, 1, 0.3), "prefill_overlap": (0.001, 1, 0.3),
              "moe_launch": (0.1, 300, 20), "moe_dram": (0.05, 1, 0.6),
              "moe_peak": (0.005, 1, 0.15), "moe_overlap": (0.001, 1, 0.5)}
VECTOR_DRAM = 0.7
SAME_RATE = 0.95  # as in src/predict/product_limits.c
# Per row and square of the distance from the start, on a logarithmic scale: few rows move it little.
HELD = 0.1

ATTRIBUTION = "Fitted to published speeds of llama.cpp on"

Row = collections.namedtuple("Row", "device model weights kind tokens depth batch measured passes build")


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def number(text):
    return int(float(text or 0))


def build_of(row):
    """The build of llama.cpp that a row states; else the date of its source, or the pull request."""
    if row.get("build"):
        return "b" + row["build"] if row["build"].isdigit() else row["build"]
    text = row.get("env", "") + " " + row["source"]
    for pattern, name in ((r"\b(b\d{4,5})-ish, (\w+ \d{4})", r"\1 (\2)"), (r"\b(b\d{4,5})\b", r"\1"),
                          (r"build \w+ \((\d+)\)", r"b\1"), (r"\b(\d{4}-\d{2})\b", r"of \1"),
                          (r"github.com/([^/]+/[^/]+)/\w+/(\d+)", r"of \1#\2")):
        found = re.search(pattern, text)
        if found:
            return found.expand(name)
    return "not stated"


def speeds(row, device, model, step):
    """The row of tokens/s: a decode step, or a prompt in passes of `step` tokens."""
    prompt, depth = number(row["prompt"]), number(row["depth"])
    rate = float(row["value"])
    if row["metric"] == "decode_tok_s":
        return Row(device, model, row["weights"], "decode", 1, depth + number(row["gen"]) // 2, 1,
                   1 / rate, 1, build_of(row))
    kind = "pass" if prompt <= 32 else "prefill"
    tokens = min(prompt, step)
    return Row(device, model, row["weights"], kind, tokens, depth + (prompt - tokens) // 2, 1,
               prompt / rate, prompt / tokens, build_of(row))


def published(name):
    """The rows of a file beside this one."""
    for row in rows(os.path.join(os.path.dirname(__file__), "llama", name)):
        yield from published_row(row)


def published_row(row):
    """The rows of one model on one GPU."""
    for key, prompt in (("pp512", 512), ("pp4096", 4096)):
        if row[key]:
            yield Row(row["device"], row["model"], row["weights"], "prefill", 512, (prompt - 512) // 2, 1,
                      prompt / float(row[key]), prompt / 512, build_of(row))
    if row["tg128"]:
        yield Row(row["device"], row["model"], row["weights"], "decode", 1, 64, 1, 1 / float(row["tg128"]), 1,
                  build_of(row))


def family(device):
    """The devices whose rows a lender has: itself, or for Apple all of them."""
    return APPLE if device in APPLE else (device,)


def read(folder):
    """All rows; of several back ends and builds of one point the fastest counts."""
    found = []
    for row in rows(os.path.join(folder, "more", "llamacpp_strix_halo.csv")):
        if row["model"] in MODELS:
            row["weights"] = ("MXFP4" if "gpt-oss" in row["model"] else
                              row["model"].replace("-", ".").split(".")[-1])
            found.append(speeds(row, "strix-halo", MODELS[row["model"]], number(row["n_ubatch"]) or 512))
    for row in rows(os.path.join(folder, "more", "llamacpp_r9700.csv")):
        if row["model"] in MODELS and row["gpu_config"] == "single":
            found.append(speeds(row, "r9700", MODELS[row["model"]], 512))
    found.extend(published("apple.csv"))
    for row in rows(os.path.join(folder, "more", "local_llm.csv")):
        if row["framework"].startswith("llama.cpp") and row["n_gpus"] == "1" and row["gpu"] in DEVICES:
            found.append(speeds(row, DEVICES[row["gpu"]], MODELS[row["model"]], 512))
    for row in rows(os.path.join(folder, "e2e.csv")):
        if (row["gpu"] == "GB10 (DGX Spark)" and row["model"] in MODELS
                and row["metric"] in ("decode_tok_s", "prefill_tok_s")):
            found.append(speeds(row, "dgx-spark", MODELS[row["model"]], 2048))
    for row in rows(os.path.join(folder, "more", "llamacpp_microbatch.csv")):
        if row["gpu"] in ("RTX 4090", "RX 7900 XTX") and row["model"] in MODELS:
            tokens = number(row["n_ubatch"])
            middle = number(row["depth"]) + max(0, number(row["prompt"]) - tokens) // 2
            kind = "decode" if tokens == 1 else "pass" if tokens <= 32 else "prefill"
            found.append(Row(DEVICES[row["gpu"]], MODELS[row["model"]], row["weights"], kind, tokens, middle, 1,
                             float(row["time_us"]) / 1e6, 1, build_of(row)))
    fastest = {}
    for row in found:
        least = fastest.setdefault(row[:7], row)
        fastest[row[:7]] = min(least, row, key=lambda one: one.measured)
    return list(fastest.values())


def kind_of(operator):
    """Which parameters an operator has, and the rows that share a weight."""
    name = operator["operator"]
    if name in ("gemm", "gemv"):
        weights = operator["weights"]
        return ("16bit" if weights in ("fp16", "bf16", "fp32") else "w8a16" if weights == "q8_0"
                else "w4a16"), operator.get("m") or 1
    if name == "flash-attention":
        return "decode" if operator.get("query_len", 1) == 1 else "prefill", 1
    return "moe" if name.startswith("moe") else "vector", 1


def device_of(program, name, known={}):
    """The figures of a device."""
    if name not in known:
        listed = subprocess.run([program, "list", "hardware", name, "-f", "json"],
                                capture_output=True, check=True).stdout
        known[name] = json.loads(listed)
    return known[name]


def sm_rate(device):
    """FLOPs of an SM in a clock, in FP16."""
    return device["peak_tflops"]["fp16"]["value"] / (device["sm_count"]["value"] * device["boost_clock_mhz"]["value"])


def limited(program, name):
    """How many times the peak of a device its SMs would reach at their full rate (data/borrowing.json)."""
    device = device_of(program, name)
    if "peak_tflops" not in device:
        return 1
    path = os.path.join(os.path.dirname(__file__), "..", "data", "borrowing.json")
    with open(path, encoding="utf-8") as file:
        full = [row["device"] for row in json.load(file)["full_rate"]
                if device["architecture"].startswith(row["architecture"])]
    factor = sm_rate(device_of(program, full[0])) / sm_rate(device) if full else 1
    return factor if factor > 1 / SAME_RATE else 1


def question_of(program, row):
    """The command that predicts a pass, or None if its format is not known."""
    formats = ([] if row.model != "gpt-oss-20b" else ["--layout", "gpt-oss-gguf"]) or (
        ["-p", "fp16"] if row.weights.upper() in ("F16", "BF16") else
        ["--layout", row.weights.lower()] if row.weights.lower() in LAYOUTS else None)
    if formats is None:
        return None
    question = (["--phase", "decode", "--context", str(max(1, row.depth))] if row.tokens == 1 else
                ["--phase", "prefill", "--chunk", str(row.tokens), "--context",
                 str(row.depth + row.tokens)])
    return [program, "predict", "model", row.model, "-H", row.device, *formats, *question, "-f", "json"]


def operators(program, row, known={}):
    """The operators of a pass: kind, count, seconds of bytes and of FLOPs at the roofs in 16 bits, rows, and the
    least seconds of FLOPs, which GGUF products in INT8 take."""
    command = question_of(program, row)
    if command is None:
        return None
    key = tuple(command)
    if key not in known:
        answer = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        sums = collections.Counter()
        for one in answer["operators"]:
            kind, shared = kind_of(one)
            peak = one.get("peak_tflops", 0) * 1e12
            least = one["flops"] / peak if peak and kind != "vector" else 0
            matrix = device_of(program, row.device).get("peak_tflops")
            product = kind in ("w8a16", "w4a16")
            rate = matrix["fp16"]["value"] * 1e12 if matrix and product else peak
            sums[kind, one["bytes"] / one["bandwidth_gb_s"] / 1e9, one["flops"] / rate if least else 0, shared,
                 least] += one["count"]
        known[key] = tuple((kind, count, *rest) for (kind, *rest), count in sums.items())
    return known[key]


def fit_of(p, kind):
    """The plain formula of a kind: launch, dram, peak, narrow rows, overlap."""
    if kind == "vector":
        return p["vector_launch"], VECTOR_DRAM, 1, 0.001, 0.001
    if kind == "decode":
        return p["launch"], p["decode_dram"], 1, 0.001, 0.001
    if kind == "prefill":
        return p["prefill_launch"], 1, p["prefill_peak"], 0.001, p["prefill_overlap"]
    if kind == "moe":
        return p["moe_launch"], p["moe_dram"], p["moe_peak"], 0.001, p["moe_overlap"]
    narrow = 0.001 if kind == "16bit" else p["narrow"]
    return p["launch"], p["dram_" + kind], p["peak"], narrow, p["overlap"]


def expected(p, pass_, lent=False):
    row, parts = pass_
    total = 0
    for kind, count, memory, compute, shared, least in parts:
        launch, dram, peak, narrow, overlap = fit_of(p, kind)
        longer, shorter = sorted((memory / dram, compute * (1 + narrow / shared) / peak))[::-1]
        total += count * (launch / 1e6 + max(longer + overlap * shorter, memory, least if lent else compute))
    return total * row.passes


def ratio(p, pass_):
    return expected(p, pass_) / pass_[0].measured


def lent(program, fits, lender, pass_):
    """The ratio by the fit of another device, whose share of the peak follows the full rate of the SMs."""
    device = pass_[0].device
    if device in family(lender):
        return ratio(fits[lender], pass_)
    move = limited(program, device) / limited(program, lender)
    moved = {key: fits[lender][key] * move for key in ("peak", "moe_peak")}
    return expected({**fits[lender], **moved}, pass_, True) / pass_[0].measured


def loss(p, passes, weight, start):
    total = sum(w * ((abs(r - 1) + abs(1 / r - 1)) / 2 if r < 1 else r - 1)
                for w, r in zip(weight, (ratio(p, one) for one in passes)))
    return total + HELD / len(passes) * sum(math.log(p[key] / start[key]) ** 2 for key in p)


def search(passes, start, steps=2500):
    """The best of three random searches. Points of one curve weigh as much as their root."""
    held = HELD_KEYS.get(passes[0][0].device, ())
    group = collections.Counter(one[0][:4] for one in passes)
    weight = [1 / math.sqrt(group[one[0][:4]]) for one in passes]
    weight = [w / sum(weight) for w in weight]
    free = sorted(set(start) - set(held))
    found = [wander(passes, weight, start, free, steps, seed) for seed in (1, 2, 3)]
    return min(found, key=lambda one: loss(one, passes, weight, start))


def wander(passes, weight, start, free, steps, seed):
    """A random search with steps that adapt, which changes the parameters `free`."""
    chance, size, best = random.Random(seed), 0.3, dict(start)
    least = loss(best, passes, weight, start)
    for _ in range(steps):
        trial = dict(best)
        for key in chance.sample(free, chance.choice((1, 2, 3, len(free)))):
            low, high, _ = PARAMETERS[key]
            moved = trial[key] * math.exp(chance.gauss(0, size * chance.choice((0.1, 0.5, 2))))
            trial[key] = min(high, max(low, moved))
        found = loss(trial, passes, weight, start)
        if found < least:
            best, least, size = trial, found, min(1, size * 1.2)
        else:
            size = max(0.01, size * 0.98)
    return best


def mape(ratios):
    return 100 * statistics.mean(abs(r - 1) for r in ratios)


def left_out_key(rows):
    """What a fit leaves out for its error: devices; of one device, models; of one model, formats of weights."""
    return next((key for key in ("device", "model") if len({getattr(row, key) for row in rows}) > 1), "weights")


def note(device, rows, decode, prompts):
    """Says what the rows and the errors of a fit are. The program prints it with --why."""
    counts = collections.Counter(row.device for row in rows)
    own = f"{device} ({counts[device]} of {len(rows)})" if len(counts) > 1 else device
    names = [own, *(one for one in family(device) if one != device)]
    listed = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    left_out = {"device": "GPUs", "model": "models", "weights": "formats"}[left_out_key(rows)]
    return (f"rows are speeds of whole passes of {listed}; the error is that of {left_out} that were left out "
            f"of the fit (decode {decode * 100:.0f}%, prompts {prompts * 100:.0f}%)")


def attributions(device, rows):
    """What the rows of a fit are, and the builds of llama.cpp, which the program prints with --why."""
    builds = sorted({row.build for row in rows}, key=lambda one: (not re.match(r"b\d", one), len(one), one))
    return [f"{ATTRIBUTION} {', '.join(family(device))} (docs/accuracy.md)", f"llama.cpp: llama.cpp {', '.join(builds)}"]


def unseen(passes, start):
    """Ratios of the passes of each device by the fit of the others, by kind; of one device, of each
    model; of one model, of each format of its weights."""
    found = collections.defaultdict(list)
    key = left_out_key([one[0] for one in passes])
    part = {one: getattr(one[0], key) for one in passes}
    for left_out in sorted(set(part.values())):
        others = search([one for one in passes if part[one] != left_out], start, 1200)
        for one in passes:
            if part[one] == left_out:
                found[one[0].kind].append(ratio(others, one))
    return found


def band(ratios):
    """measured / expected of eight of ten."""
    inverse = sorted(1 / r for r in ratios)
    cut = len(inverse) // 10
    return min(1, inverse[cut]), max(1, inverse[-1 - cut])


def write(folder, device, clock, p, ratios, rows, kinds):
    """Writes the calibration of a lender, without the kinds that it has no rows of."""
    everything = [r for found in ratios.values() for r in found]
    judged = {"decode": ratios["decode"], "prefill": ratios["prefill"] or everything}
    fits = []
    for kernel, numerics, kind in (("gemm", "16bit", "16bit"), ("gemm", "w8a16", "w8a16"),
                                   ("gemm", "w4a16", "w4a16"), ("decode", "16bit", "decode"),
                                   ("prefill", "16bit", "prefill"), ("moe", "mx4a16", "moe"),
                                   *((vector, "16bit", "vector") for vector in
                                     ("norm", "add", "activation", "rope", "quantize"))):
        if kind not in kinds:
            continue
        launch, dram, peak, narrow, overlap = fit_of(p, kind)
        own = judged.get(kernel, everything)
        low, high = band(own)
        values = {"launch_clocks": launch * clock, "dram": dram, "peak": peak,
                  "narrow_rows": narrow, "overlap": overlap, "cache_rate": 4, "cache_capacity": 0.7}
        fits.append({"kernel": kernel, "stack": "llama.cpp", "numerics": numerics,
                     "quantize_input": "none", "form": "plain", "rows": len(own), "mape": round(mape(own) / 100, 4),
                     "low": round(low, 4), "high": round(high, 4),
                     "parameters": {key: float(f"{value:.4g}") for key, value in values.items()}})
    error = {kernel: mape(judged[kernel]) / 100 for kernel in judged}
    said = note(device, rows, error["decode"], error["prefill"])
    lines = ",\n".join("    " + json.dumps(fit, separators=(",", ":")) for fit in fits)
    with open(os.path.join(folder, f"llama.cpp-{device}.json"), "w", encoding="utf-8") as file:
        file.write('{\n  "schema": "roofline/calibration/1",\n'
                   f'  "hardware": "{device}",\n  "note": "{said}",\n  "attributions": {json.dumps(attributions(device, rows))},\n'
                   f'  "fits": [\n{lines}\n  ]\n}}\n')


def line(name, lender, by_kind):
    cells = [f"**{mape(by_kind[kind]):.1f}** ({len(by_kind[kind])})" if by_kind.get(kind) else "-"
             for kind in ("decode", "pass", "prefill")]
    print(f"| {name} | {lender} | {' | '.join(cells)} |")


def within(program, row):
    """Whether a pass is in the interval of the program, with the kernels of the files; None without an estimate."""
    answer = json.loads(subprocess.run([*question_of(program, row), "--stack", "llama.cpp"], capture_output=True,
                                       check=True).stdout)
    if "expected_low_us" not in answer:
        return None
    return answer["expected_low_us"] <= row.measured / row.passes * 1e6 <= answer["expected_high_us"]


def print_intervals(program, found):
    """The share of the rows of each device in the interval."""
    groups = collections.defaultdict(list)
    for row in found:
        inside = within(program, row)
        if inside is not None:
            name = "decode" if row.kind == "decode" else "up to 32 tokens" if row.kind == "pass" else "prompts"
            groups[row.device, name].append(inside)
    print("\n| device | passes | rows | in band |\n|---|---|---|---|")
    for (device, name), inside in sorted(groups.items()):
        print(f"| {device} | {name} | {len(inside)} | {100 * statistics.mean(inside):.1f} |")


def main():
    program, folder = sys.argv[1:3]
    passes = [(row, parts) for row in read(folder) if (parts := operators(program, row))]
    fits = {None: {key: begin for key, (_, _, begin) in PARAMETERS.items()}}
    judged = {}
    for device, before in LENDERS.items():
        start = fits[before]
        own = [one for one in passes if one[0].device in family(device)]
        fits[device] = search(own, start)
        judged[device] = unseen(own, start)
    print("| rows of | fit of | decode | up to 32 tokens | prompts |")
    print("|---|---|---|---|---|")
    for device in sorted({one[0].device for one in passes}):
        for lender in LENDERS:
            found = collections.defaultdict(list)
            for one in passes:
                if one[0].device == device:
                    found[one[0].kind].append(lent(program, fits, lender, one))
            if lender not in family(device):
                line(device, lender, found)
            elif device == lender and len(family(lender)) == 1:
                line(device, "itself, without them", judged[device])
    line("all Apple GPUs", "the others of them", judged["m1-max"])
    unfitted = collections.defaultdict(list)
    for row in published("discrete.csv"):
        unfitted[row.device, row.build].append((row, operators(program, row)))
    for (device, build), found in unfitted.items():
        for lender in LENDERS:
            line(f"{device}, {build}", lender, {one[0].kind: [lent(program, fits, lender, one)] for one in found})
    print_intervals(program, [one[0] for one in passes] +
                    [one[0] for found in unfitted.values() for one in found if one[1]])
    if len(sys.argv) > 3:
        for device in LENDERS:
            own = [(row, parts) for row, parts in passes if row.device in family(device)]
            kinds = {part[0] for row, parts in own for part in parts}
            clock = device_of(program, device)["boost_clock_mhz"]["value"]
            write(sys.argv[3], device, clock, fits[device], judged[device], [row for row, _ in own], kinds)


if __name__ == "__main__":
    main()
