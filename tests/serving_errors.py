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
# What InferenceMAX starts its servers with (SemiAnalysisAI/InferenceX@34bc7c4, benchmarks/single_node), where
# that is not in the file: formats, prompt tokens of a step, and sequences. With TensorRT-LLM, and with vLLM as
# the recipe sets it, the experts of gpt-oss have activations of 8 bits on B200 (get_mxfp4_quant_algo in
# NVIDIA/TensorRT-LLM@93cb651 tensorrt_llm/_torch/model_config.py); the NVFP4 checkpoint of DeepSeek is NVIDIA's.
EIGHT_BITS = ["--layout", "gpt-oss-mxfp4", "--activations", "fp8", "--kv", "fp8"]
NVIDIA_FP4 = ["--layout", "deepseek-r1-nvfp4-v2", "--kv", "fp8"]
FP8 = ["-p", "fp8-block", "--kv", "fp8"]
RECIPES = {("trtllm", "B200-SXM", "gpt-oss", "fp4"): (EIGHT_BITS, 20000, 512),
           ("vllm", "B200-SXM", "gpt-oss", "fp4"): (EIGHT_BITS, 8192, 512),
           ("vllm", "H100-SXM", "gpt-oss", "fp4"): (["--layout", "gpt-oss-mxfp4"], 8192, 1024),
           ("trtllm", "B200-SXM", "deepseek", "fp4"): (NVIDIA_FP4, None, 2048),
           ("trtllm", "B200-SXM", "deepseek", "fp8"): (FP8, None, 2048),
           ("sglang", "B200-SXM", "deepseek", "fp4"): (NVIDIA_FP4, 16384, 256),
           ("sglang", "B200-SXM", "deepseek", "fp8"): (FP8, 32768, 128)}
# The defaults of the servers: prompt tokens of a step, and sequences (docs/simulation.md).
DEFAULTS = (8192, 2048)
ROWS_LEAST = 50
SPLIT = ("tp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size")


def size(text):
    return max(1, int(float(text or 1)))


def is_public(row):
    """True for a run of InferenceMAX, false for one of NVIDIA's own."""
    return "Inference" in row["origin"]


def split_of(row):
    """TP, attention DP, and the parts and groups of the experts of a run. Two exports of InferenceMAX count the
    parallel experts twice: their rows with moe_tp = moe_ep = N have N times the devices that the same runs, with
    the same times, have in a third export, where moe_tp is 1."""
    tp, groups, moe_tp, moe_ep = (size(row[key]) for key in SPLIT)
    if is_public(row) and moe_tp == moe_ep > 1 and tp * groups == moe_tp * moe_ep:
        tp, groups, moe_tp = max(1, tp // moe_tp), max(1, groups // moe_tp), 1
    return tp, groups, moe_tp, moe_ep


def key_of(row):
    """What tells one measured run from another; the exports name the model of DeepSeek differently."""
    return (row["gpu"], row["framework"], row["precision"], "gpt-oss" in row["model"], row["isl"], row["osl"],
            row["concurrency"], row["ttft_ms"], row["tpot_ms"])


def has_drafts(row, dumped):
    """True if a run drafts tokens, or may do so, which no column says. InferenceMAX had other versions of
    TensorRT-LLM for its runs with drafts. The runs of SGLang in FP8 that only one export has are up to a third
    faster than those of the same split in the dump, which are without drafts."""
    if row["gpu"] != "B200-SXM" or not is_public(row) or "DeepSeek" not in row["model"]:
        return False
    if row["framework"] == "trtllm":
        return row["version"].endswith("rc6.post3") or row["measured"] == "2026-01-14"
    return row["precision"] == "fp8" and row["version"] == "0.5.9" and key_of(row) not in dumped


def read(path):
    """The rows of a file."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(text for text in file if not text.startswith("#")))


def counted_twice(rows):
    """How many runs have parallel experts that an export counts twice, and how many of these another export has
    with the same times and the split as it is."""
    runs = {}
    for row in rows:
        stated = tuple(size(row[key]) for key in SPLIT)
        runs.setdefault(key_of(row), set()).add("as stated" if stated == split_of(row) else "twice")
    twice = [found for found in runs.values() if "twice" in found]
    return len(twice), sum("as stated" in found for found in twice)


def distinct(path):
    """The runs of a file, each once and without those that draft; how many rows are repeated, and how many
    draft."""
    rows = read(path)
    dumped = {key_of(row) for row in rows if "dump" in row["origin"]}
    drafted = [row for row in rows if has_drafts(row, dumped)]
    once = {key_of(row): row for row in reversed([row for row in rows if not has_drafts(row, dumped)])}
    return list(once.values())[::-1], len(rows) - len(drafted) - len(once), len(drafted)


def one_waits(row):
    """True for NVIDIA's runs of Llama-3.1-8B: by Little's law one of their users waits at any time, whatever their
    number. With 512 generated tokens users x TTFT / (TTFT + 511 TPOT) is 1.0 to 1.4 with 8 and 16 users. So their
    servers run one sequence less than they have users, which the rows do not say."""
    return not is_public(row) and "Llama" in row["model"]


def shows_waits(row):
    """True for the runs that show that one user waits."""
    return one_waits(row) and row["osl"] == "512"


def interval_of(row):
    """How many steps without prompts a server runs until it looks for requests again. InferenceMAX starts SGLang
    with --scheduler-recv-interval 10, or 30 from 16 users on."""
    if row["framework"] != "sglang" or not is_public(row):
        return 1
    return 30 if size(row["concurrency"]) >= 16 else 10


def recipe_of(row, model):
    """The formats, the budget and the most sequences of a run's server."""
    found = RECIPES.get((row["framework"], row["gpu"], model.split("-")[0].replace("gpt", "gpt-oss"),
                         row["precision"])) if is_public(row) else None
    if found is None:
        formats = (["-p", FORMATS[row["gemm_quant_mode"]]] if not model.startswith("gpt-oss")
                   else ["--layout", "gpt-oss-mxfp4"])
        budget, sequences = DEFAULTS
        return formats, budget, size(row["concurrency"]) - 1 if one_waits(row) else sequences
    formats, budget, sequences = found
    # TensorRT-LLM with DeepSeek has room for a prompt beside all sequences.
    return formats, budget or max(8192, (size(row["concurrency"]) + int(row["isl"]) + 127) // 64 * 64), sequences


def is_crowded(row):
    """True for the runs of gpt-oss-120b on H100 with 512 users, which contradict the others: print_crowded."""
    return row["gpu"] == "H100-SXM" and "gpt-oss" in row["model"] and size(row["concurrency"]) >= 512


def command(row):
    """The question of a row; None where the row is left out."""
    model = next(name for part, name in MODELS if part in row["model"])
    tp, groups, moe_tp, moe_ep = split_of(row)
    dense = model == "llama-3.1-8b"
    if not row["concurrency"] or not dense and moe_tp * moe_ep != tp * groups:
        return None
    users = int(float(row["concurrency"]))
    formats, budget, sequences = recipe_of(row, model)
    # Groups of the attention of SGLang share these; in other engines each group has so many.
    if row["framework"] == "sglang":
        budget = max(1, budget // groups)
    else:
        sequences *= groups
    # InferenceMAX draws lengths from 80% of the size up; the other runs have one length.
    prompt, generate = (f"uniform:{int(0.8 * n)}:{n}" if is_public(row) else str(n)
                        for n in (int(row["isl"]), int(row["osl"])))
    return ["simulate", model, "-H", DEVICES[row["gpu"]], *formats, "--engine",
            row["framework"], "--tp", str(tp), "--attention-dp", str(groups),
            *([] if dense else ["--moe-tp", str(moe_tp), "--moe-ep", str(moe_ep)]),
            "--concurrency", str(users), "--requests", str(max(10 * users, 2)), "--warm-up", "0", "--prompt", prompt,
            "--generate", generate, "--chunk", str(budget), "--max-num-seqs", str(sequences),
            "--recv-interval", str(interval_of(row)),
            "-f", "ndjson", "--columns", "ttft_ms_mean,tpot_ms_mean"]


def is_overlapped(row):
    """True if kernels begin before the last ones end: TensorRT-LLM since 1.2, which InferenceMAX had from the
    middle of December 2025 on where a run has no version."""
    return row["framework"] == "trtllm" and (row["version"] or row["measured"]) >= (
        "1.2" if row["version"] else "2025-12-16")


def has_warm_up(row):
    """True if requests went before the measured ones: the client of InferenceMAX has sent them since January 2026
    (SemiAnalysisAI/InferenceX pull request 480). Without them means have the compilation of kernels."""
    return is_public(row) and row["measured"] >= "2026-01-17"


def is_cold(row):
    """True if a run has the compilation of kernels."""
    return is_public(row) and not has_warm_up(row)


def host_of(row):
    """The host time of a run's engine, of its version. The servers of InferenceMAX have had several processes for
    answers from the beginning, like the newest version."""
    if row["framework"] != "trtllm" or (is_overlapped(row) and not has_graphs(row)):
        return "engine"
    return together(row) if is_public(row) else "engine:1.0"


def has_graphs(row):
    """True if prompts have piecewise CUDA graphs: what the recipes of DeepSeek-R1 for TensorRT-LLM turn on."""
    if not is_public(row) or row["framework"] != "trtllm" or "DeepSeek" not in row["model"]:
        return False
    tp, groups, _, moe_ep = split_of(row)
    users, lengths = size(row["concurrency"]), (row["isl"], row["osl"])
    if row["precision"] == "fp4":
        return lengths == ("1024", "1024") and tp * groups == moe_ep == 8
    return users >= (128 if lengths == ("1024", "8192") else 64)


def times(program, row, host, change=lambda question: question):
    """Simulated and measured means: ((TTFT, TTFT), (TPOT, TPOT)), with a host time and a change of the question."""
    question = command(row)
    if question is None:
        return None
    question = change(question)
    done = subprocess.run([program, *question, "--host-time", host], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(question), re.sub(r"\s+", " ", done.stderr), file=sys.stderr)
        return None
    found = json.loads(done.stdout)
    return [(found[key + "_mean"], float(row[key])) for key in ("ttft_ms", "tpot_ms")]


def is_below(program, row):
    """True if the time per token of a run is below the lower bound of its split, with lengths of the mean."""
    question = command(row)
    split = ["--stack" if word == "--engine" else word for word in question[1:question.index("--concurrency")]]
    lengths = [str(int(0.9 * int(row[key]))) for key in ("isl", "osl")]
    done = subprocess.run([program, "predict", "model", *split, "--batch", str(size(row["concurrency"])), "--prompt",
                           lengths[0], "--generate", lengths[1], "-f", "json"],
                          capture_output=True, text=True, check=True)
    return float(row["tpot_ms"]) < json.loads(done.stdout)["tpot_ms"]


def error(pairs):
    """The median size of simulated / measured - 1."""
    return statistics.median(abs(mine / other - 1) for mine, other in pairs)


def bias(pairs):
    """The median of simulated / measured - 1."""
    return statistics.median(mine / other - 1 for mine, other in pairs)


# Host times that are tried: ms of a request, ms of it in which there is one request at a time, and us to launch a
# kernel of a prompt of models with latent attention.
REQUEST = {"vllm": 25, "sglang": 26, "trtllm": 27}
FRONTS = (0, 5, 10, 15, 20, 25)
LATENTS = (0, 30, 60, 90, 120)
# Seconds that servers compile which have not run before.
COMPILES = range(0, 101, 10)


def has_latents(row):
    """True if the launches of a run's prompts matter: with latent attention, and without graphs."""
    return row["framework"] != "vllm" and "DeepSeek" in row["model"] and not has_graphs(row)


def part(name, value, unit):
    """The word of --host-time for one part; empty for 0, which the option does not take."""
    return f"{name}={value}{unit}" if value else ""


def launches_of(row):
    """The word for the launches of a run's prompts."""
    return part("latent", 90 if has_latents(row) else 0, "us")


def joined(*parts):
    """The value of --host-time with these parts."""
    return ",".join(filter(None, parts))


def host_words(row, *parts):
    """That of a run: the time of its requests, these parts, and the overlap of its version."""
    return joined(part("request", REQUEST[row["framework"]], "ms"), *parts,
                  part("overlap", 1 if is_overlapped(row) else 0, "us"))


def together(row):
    """The host time of a run's engine, with all requests at once in its front end."""
    return host_words(row, launches_of(row))


def tried(program, run):
    """The simulated TTFT of a run by the host time, with the overlap of its version and the compile time of its
    group; and the measured one."""
    if "tried" not in run:
        row, run["tried"] = run["row"], {}
        compile_time = part("compile", run.get("compile", 0), "s")
        for front in FRONTS:
            for latent in LATENTS if has_latents(row) else (0,):
                host = host_words(row, part("front", front, "ms"), part("latent", latent, "us"), compile_time)
                run["tried"][front, latent] = times(program, row, host)[0]
        if not has_latents(row):
            for front in FRONTS:
                run["tried"].update({(front, latent): run["tried"][front, 0] for latent in LATENTS})
    return run["tried"]


def unseen(runs, hosts):
    """The error of each half of the runs with the one of some host times that has the least error in the other half;
    and these host times."""
    halves, cells, fits = (runs[::2], runs[1::2]), [], []
    for judged, fitted in (halves, halves[::-1]):
        best = min(hosts, key=lambda host: error([run[host] for run in fitted]))
        cells.append(error([run[best] for run in judged]))
        fits.append(best)
    return f"**{50 * sum(cells):.1f}**", fits[::-1]


def line(program, name, runs):
    """A row of the table: medians of the errors and of their sizes, without and with the engine's host time."""
    plain, hosted = ([run[key] for run in runs] for key in ("none", "host"))
    cells = [f"{100 * error([pair[1] for pair in plain]):.1f}",
             f"**{100 * error([pair[1] for pair in hosted]):.1f}**",
             f"{100 * bias([pair[1] for pair in hosted]):+.1f}",
             f"{100 * error([pair[0] for pair in plain]):.1f}",
             f"**{100 * error([pair[0] for pair in hosted]):.1f}**",
             f"{100 * bias([pair[0] for pair in hosted]):+.1f}"]
    rest = ["-", "-", "-"]
    if len(runs) >= 10:
        found = [tried(program, run) for run in runs]
        rest[0] = unseen(found, [(front, 90) for front in FRONTS])[0]
        rest[1], fits = unseen(found, [(front, latent) for front in FRONTS for latent in LATENTS])
        latents = any(has_latents(run["row"]) for run in runs)
        rest[2] = " and ".join(f"{front} ms" + (f", {latent} us" if latents else "") for front, latent in fits)
    return f"| {name} | {len(runs)} | {' | '.join(cells + rest)} |"


def as_many(question):
    """As many sequences as users."""
    users = question[question.index("--concurrency") + 1]
    at = question.index("--max-num-seqs") + 1
    return question[:at] + [users] + question[at + 1:]


def few(question):
    """At most 128 sequences."""
    at = question.index("--max-num-seqs") + 1
    return question[:at] + ["128"] + question[at + 1:]


def print_crowded(rows, crowded):
    """How many sequences decode by Little's law in the runs with 512 users, with 90% of the tokens in the mean; and
    their times per token, divided by those of 64 users on the same split."""
    lone = {tuple(row[key] for key in (*SPLIT, "framework", "isl", "osl")): float(row["tpot_ms"]) for row in rows
            if row["gpu"] == "H100-SXM" and "gpt-oss" in row["model"] and row["concurrency"]
            and size(row["concurrency"]) == 64}
    decoded, ratios = [], []
    for row in crowded:
        rest = (0.9 * int(row["osl"]) - 1) * float(row["tpot_ms"])
        decoded.append(size(row["concurrency"]) * rest / (float(row["ttft_ms"]) + rest))
        ratios.append(float(row["tpot_ms"]) / lone[tuple(row[key] for key in (*SPLIT, "framework", "isl", "osl"))])
    print(f"\nRuns of gpt-oss-120b on H100 with 512 users: {len(crowded)}; {min(decoded):.0f} to {max(decoded):.0f} "
          "sequences decode by Little's law. Their TPOT over that of 64 users: "
          + ", ".join(f"{ratio:.2f}" for ratio in sorted(ratios)) + ".")


def print_changes(program, groups, crowded):
    """A table of what the errors are with something else than what is simulated."""
    def same(question):
        return question

    def marlin(question):
        return question + ["--class", "experts=int4_g128"]

    def in_line(row):
        return host_words(row, "front=5ms")

    def launches(row):
        return host_words(row, "launch=90us")

    def of(*key):
        return [run["row"] for run in groups[key]]
    llama = of("H100-SXM", "trtllm", "Llama-3.1-8B-Instruct")
    changes = (
        ("H100, TensorRT-LLM: Llama-3.1-8B", llama, "`front=0ms`", together, same),
        ("H100, TensorRT-LLM: Qwen3-235B", of("H100-SXM", "trtllm", "Qwen3-235B-A22B-FP8"), "`front=0ms`", together,
         same),
        ("H100, TensorRT-LLM: Llama-3.1-8B, 512 generated", [row for row in llama if shows_waits(row)],
         "as many sequences as users", host_of, as_many),
        ("H100, TensorRT-LLM: Llama-3.1-8B, 128 or 256 generated", [row for row in llama if not shows_waits(row)],
         "as many sequences as users", host_of, as_many),
        ("H100, TensorRT-LLM: all", of("H100-SXM", "trtllm", "all"), "as many sequences as users", host_of, as_many),
        ("B200, TensorRT-LLM, warm: gpt-oss-120b",
         [row for row in of("B200-SXM", "trtllm", "warm") if "gpt-oss" in row["model"]], "`front=5ms`", in_line, same),
        ("B200, TensorRT-LLM, warm: gpt-oss-120b",
         [row for row in of("B200-SXM", "trtllm", "warm") if "gpt-oss" in row["model"]], "`launch=90us`", launches,
         same),
        ("H100, vLLM: gpt-oss-120b, and with 512 users", of("H100-SXM", "vllm", "all") + crowded,
         "`--max-num-seqs 128`", host_of, few),
        ("H100, vLLM, warm: gpt-oss-120b", of("H100-SXM", "vllm", "warm"), "`--class experts=int4_g128`", host_of,
         marlin))
    print("\n| runs | with | rows | TPOT before | TPOT | TTFT before | TTFT |")
    print("|---|---|---|---|---|---|---|")
    for name, rows, what, host, change in changes:
        before = [times(program, row, host_of(row)) for row in rows]
        after = [times(program, row, host(row), change) for row in rows]
        cells = [f"{100 * error([run[column] for run in runs]):.1f}" for column in (1, 0) for runs in (before, after)]
        print(f"| {name} | {what} | {len(rows)} | {cells[0]} | **{cells[1]}** | {cells[2]} | **{cells[3]}** |")


def compiled(program, row):
    """The times of a run by the seconds that its server compiles."""
    return {seconds: times(program, row, joined(host_of(row), part("compile", seconds, "s"))) for seconds in COMPILES}


def fit_cold(program, runs):
    """Simulates the cold runs of a device and engine with the compile time that fits the TTFT of every other one of
    them best; returns the fits."""
    halves, fits = (runs[::2], runs[1::2]), []
    for run in runs:
        run["compiled"] = compiled(program, run["row"])
    for judged, fitted in (halves, halves[::-1]):
        best = min(COMPILES, key=lambda seconds: error([run["compiled"][seconds][0] for run in fitted]))
        fits.append(best)
        for run in judged:
            run["compile"], run["host"] = best, run["compiled"][best]
    return fits[::-1]


def fit_all_cold(program, runs):
    """That of all devices and engines with ten cold runs or more."""
    groups, fits = {}, {}
    for run in runs:
        if is_cold(run["row"]):
            groups.setdefault((run["row"]["gpu"], run["row"]["framework"]), []).append(run)
    for key, found in groups.items():
        if len(found) >= 10:
            fits[key] = fit_cold(program, found)
    return fits


def print_launches(runs):
    """How far measured first tokens are from the simulated ones where the launches of prompts matter; LAUNCHES_LOW
    and LAUNCHES_HIGH of src/predict/pass.c."""
    ratios = sorted(other / mine for run in runs if has_latents(run["row"]) and not is_cold(run["row"])
                    for mine, other in (run["warm"][0],))
    if len(ratios) >= 10:
        low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
        print(f"\nFirst tokens of warm runs with latent attention took {low:.2f} to {high:.2f} of the simulated time "
              f"in 8 of 10 of {len(ratios)} runs.")


def print_cold(groups, fits):
    """A table of runs without warm-up: their fits, and the errors of TTFT without and with them."""
    print("\n| device | engine | cold rows | compile | TTFT without | TTFT | all rows | TTFT without | TTFT |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (gpu, engine), found in sorted(fits.items()):
        runs = groups[gpu, engine, "all"]
        cells = [f"{found[0]} and {found[1]} s"]
        for some in ([run for run in runs if is_cold(run["row"])], runs):
            cells += [f"{100 * error([run[key][0] for run in some]):.1f}" for key in ("warm", "host")]
        print(f"| {DEVICES[gpu]} | {engine} | {sum(is_cold(run['row']) for run in runs)} | {cells[0]} | {cells[1]} | "
              f"**{cells[2]}** | {len(runs)} | {cells[3]} | **{cells[4]}** |")


def name_of(row):
    """The model of a run, with its formats where there are several."""
    model = row["model"].split("/")[1]
    return f"DeepSeek-R1 {row['precision']}" if is_public(row) and "DeepSeek" in model else model


def main():
    program, path = sys.argv[1:]
    groups, runs = {}, []
    rows, repeated, drafted = distinct(path)
    crowded = [row for row in rows if is_crowded(row)]
    for row in [row for row in rows if not is_crowded(row)]:
        found = {"row": row, "none": times(program, row, "none")}
        if found["none"] is not None:
            found["host"] = found["warm"] = times(program, row, host_of(row))
            runs.append(found)
    fits = fit_all_cold(program, runs)
    for found in runs:
        row = found["row"]
        for name in ("all", *(["warm"] if has_warm_up(row) else []), name_of(row),
                     *(["all, unseen"] if row["gpu"] == "H100-SXM" and not is_public(row) and not shows_waits(row)
                       else [])):
            groups.setdefault((row["gpu"], row["framework"], name), []).append(found)
    print("| device | engine | model | rows | TPOT, bare | TPOT | bias | TTFT, bare | TTFT | bias | front | launch "
          "| front, launch |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for (gpu, engine, model), found in sorted(groups.items()):
        name = f"**{model}**" if len(found) >= ROWS_LEAST and model == "all" else model
        print(line(program, f"{DEVICES[gpu]} | {engine} | {name}", found))
    print_changes(program, groups, crowded)
    print_crowded(rows, crowded)
    print_cold(groups, fits)
    print_launches(runs)
    print(f"\nRows left out: {repeated} that repeat a run, {drafted} that draft or may do so, {len(rows) - len(runs)} others.")
    twice, once = counted_twice(read(path))
    print(f"Runs with parallel experts that an export counts twice: {twice}; {once} of these are in another export "
          "with the same times, and with experts counted once.")
    shown = [row for row in rows if (row["gpu"], row["framework"]) == ("B200-SXM", "trtllm") and is_public(row)]
    print(f"Runs of InferenceMAX with TensorRT-LLM on B200 below the lower bound of their split: "
          f"{sum(is_below(program, row) for row in shown)} of {len(shown)}.")


if __name__ == "__main__":
    main()
