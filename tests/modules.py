#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares predictions with published timings of whole attention modules, experts of one rank and the
exchange of tokens between ranks: modules.py PROGRAM DIR [ROWS.csv].

DIR holds tables of ai-dynamo/aiconfigurator, with its columns; missing files are left out. Prints
tables in Markdown; ROWS.csv gets one line per row. The prediction of an attention module is the sum of the operators
of one layer between its norm and its addition, for a model with the heads of the row and one device. Every replay
used the same buffers: the cache is warm. The last table fits a factor to each part of the modules that are off."""
import concurrent.futures
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

DEVICES = {"A100-SXM4-80GB": "a100-sxm-80gb", "H100-SXM5-80GB": "h100-sxm", "B200-SXM": "hgx-b200", "L40S": "l40s",
           "RTX-PRO-6000-Server": "rtx-pro-6000"}
# Formats of the weights, by the names of the files. The modules quantise their inputs themselves.
FORMATS = {"bf16": ("bf16", "bf16", "none"), "fp8_block": ("fp8_block128", "fp8_e4m3", "block"),
           "nvfp4": ("nvfp4", "nvfp4", "block"), "w4a8_mxfp4_mxfp8": ("mxfp4", "fp8_e4m3", "none")}
# Parts of the expected time of a module. The fit may add a number of us, and of ns per token.
PARTS = ["products", "index", "quant.", "norms", "scores", "top-k", "attention"]
ADDED = ["added", "per token"]
AIM = 0.18
# Why the errors of modules are above the aim.
REASONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "module_reasons.csv")
# The parts of the sizes of a module, each of which is predicted with factors of the others.
FOLDS = 5
# Operators of a module stand between these two in a graph of one layer.
FIRST, LAST = "attn_norm", "attn_add"


def read(folder, name):
    """The rows of a file, or none."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [r for r in csv.DictReader(line for line in file if not line.startswith("#")) if r["gpu"] in DEVICES]


def module(r, name, model, **changes):
    """A row of an attention module: its model with what differs from the built-in one, and its options."""
    new, heads = int(r.get("seq_q", 1)), int(r["heads"])
    weights, activations, quantise = FORMATS[r.get("weight_dtype", "fp8_block")]
    options = dict(hardware=DEVICES[r["gpu"]], stack=r["lib"].split("-")[0], batch=r["batch"], cache="warm",
                   weights=weights, activations=activations, kv=r.get("kv_dtype", "fp8"),
                   context=int(r["past_kv"]) + new)
    options["quantize-input"] = quantise
    decode = r.get("phase", "decode") == "decode"
    options.update(dict(phase="decode") if decode else dict(phase="prefill", chunk=new))
    return dict(name=name, phase="decode" if decode else "prefill", model=model, options=options, row=r,
                changes=dict(changes, num_attention_heads=heads, num_hidden_layers=1))


def mla(r):
    return module(r, "MLA", "deepseek-v3", num_key_value_heads=int(r["heads"]), first_k_dense_replace=1)


def wide_mla(r):
    return dict(mla(r), name="MLA, " + r["kernel"])


def dsa(r):
    """Rows without the indexer are those of the attention of DeepSeek-V3."""
    if r["indexer"] == "0":
        return dict(mla(r), name="DSA, short contexts")
    return module(r, "DSA", "deepseek-v3.2", num_key_value_heads=int(r["heads"]), first_k_dense_replace=1)


def v4(r):
    ratio = dict(csa=4, hca=128)[r["attn"]]
    return module(r, "DeepSeek-V4 " + r["attn"].upper(), "deepseek-v4-flash", compress_ratios=[ratio],
                  o_groups=8 // int(r["tp"]), num_hash_layers=0)


def msa(r):
    """A rank with a quarter of the heads or fewer has one KV head."""
    return module(r, "MSA", "minimax-m3", num_key_value_heads=max(1, int(r["heads"]) // 16))


MODULES = {"aic_mla_module.csv": mla, "aic_wideep_mla_decode.csv": wide_mla, "aic_dsa_module.csv": dsa,
           "aic_dsv4_module.csv": v4, "aic_msa_module.csv": msa}


def experts_sglang(r):
    """One rank of several with equally many tokens."""
    return experts(r, "experts, " + r["phase"], "fp8_block", int(r["rank_tokens"]) * int(r["ep"]), r["experts"])


def experts_trtllm(r):
    """One rank; with a balanced placement some experts have several slots."""
    return experts(r, "experts, " + r["dtype"], r["dtype"], r["num_tokens"], r["slots"])


def experts(r, name, formats, tokens, count):
    weights, activations, quantise = FORMATS[formats]
    return dict(name=name, phase=r["distribution"] + (", balanced" if r.get("eplb") == "1" else ""), row=r,
                questions=[dict(operator="moe", tokens=tokens, hidden=r["hidden"], intermediate=r["inter"],
                                experts=count, top_k=r["topk"], ep=r["ep"], weights=weights, activations=activations,
                                out="bf16", quantize_input=quantise)])


def exchange(r, ranks):
    """Dispatch in 8 bits and combination in 16. A token goes once to every rank that has one of its experts."""
    reached = ranks * (1 - (1 - 1 / ranks) ** int(r["topk"]))
    elements = round(int(r["rank_tokens"]) * reached * int(r["hidden"]))
    return [dict(operator="all-to-all", elements=elements, devices=ranks, activations=sent, out=sent)
            for sent in ("fp8_e4m3", "bf16")]


def megamoe(r):
    """One kernel for the experts and the exchange of tokens."""
    case = experts(r, "experts and exchange", r["dtype"], int(r["rank_tokens"]) * int(r["ep"]), r["experts"])
    return dict(case, questions=case["questions"] + exchange(r, int(r["ep"])))


def deepep(r):
    tokens = "1 to 128 tokens" if int(r["rank_tokens"]) <= 128 else "more than 128"
    return dict(name="DeepEP, " + r["mode"].replace("_", " "), questions=exchange(r, int(r["gpus"])),
                row=dict(r, time_us=float(r["dispatch_us"]) + float(r["combine_us"])),
                phase=tokens if r["sms"] == "0" else "%s SMs, %s" % (r["sms"], tokens))


def hyper(r):
    """The time is that of several sites one after another."""
    return dict(name="mHC, " + r["op"], phase="1 to 512 tokens" if int(r["tokens"]) <= 512 else "more than 512",
                row=dict(r, time_us=float(r["time_us"]) / int(r["sites"])),
                questions=[dict(operator="hyper-collapse" if r["op"] == "pre" else "hyper-expand", tokens=r["tokens"],
                                hidden=r["hidden"], streams=r["hc_mult"], weights="bf16", activations="bf16")])


KERNELS = {"aic_ep_moe_sglang.csv": experts_sglang, "aic_ep_moe_trtllm.csv": experts_trtllm,
           "aic_megamoe.csv": megamoe, "aic_deepep.csv": deepep, "aic_mhc.csv": hyper}


def ask(command, text=None):
    found = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                           check=False)
    if found.returncode != 0:
        sys.exit("%s\nfailed: %s" % (found.stderr, " ".join(command)))
    return found.stdout


def model_file(folder, case):
    """The path of a file of a case's model: the built-in one with the changes."""
    changes = case["changes"]
    path = os.path.join(folder, "-".join([case["model"]] + ["%s" % value for value in changes.values()]) + ".json")
    if not os.path.exists(path):
        with open("data/models/%s.json" % case["model"], encoding="utf-8") as file:
            config = json.load(file)
        del config["roofline"]
        text = config.get("text_config", config)
        text.update(changes)
        for key in ("moe_layer_freq", "sparse_attention_config"):  # the lists have an entry per layer
            shorten(text, key)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
    return path


def shorten(config, key):
    """Keeps only the last entry of lists with one per layer."""
    if isinstance(config.get(key), list):
        config[key] = config[key][-1:]
    elif isinstance(config.get(key), dict):
        for name in config[key]:
            shorten(config[key], name)


def operators(program, folder, case):
    """The operators of a module, with and without their quantisation."""
    found = layer(program, folder, case, case["options"])
    if case["options"]["quantize-input"] == "none":
        return found, found
    return found, layer(program, folder, case, dict(case["options"], **{"quantize-input": "none"}))


def layer(program, folder, case, options):
    command = [program, "predict", "model", model_file(folder, case), "-f", "json"]
    found = json.loads(ask(command + ["--%s=%s" % option for option in options.items()]))["operators"]
    names = [o["name"] for o in found]
    return found[names.index(FIRST) + 1:names.index(LAST)]


def expected(operator):
    """The estimate, or the bound of an operator without one."""
    return operator.get("expected_time_us") or operator["time_us"]


def kernels(program, cases):
    """The predictions of the questions of cases, in one run."""
    lines = [dict(question, hardware=DEVICES[case["row"]["gpu"]], stack=case["row"]["lib"].split("-")[0], cache="warm")
             for case in cases for question in case["questions"]]
    columns = "operator,time_us,expected_time_us"
    found = [json.loads(line) for line in
             ask([program, "predict", "--from", "-", "-f", "ndjson", "--columns", columns],
                 "".join(json.dumps(line) + "\n" for line in lines)).splitlines()]
    assert len(found) == len(lines)
    for case in cases:
        yield found[:len(case["questions"])]
        del found[:len(case["questions"])]


def summed(case, found, without=()):
    """A line of a case: its measured time, its bound, its estimate, and the parts of a module."""
    row = case["row"]
    line = dict(row, module=case["name"], device=DEVICES[row["gpu"]], stack=row["lib"].split("-")[0],
                phase=case["phase"], measured=float(row["time_us"]), bound=sum(o["time_us"] for o in found),
                expected=sum(map(expected, found)),
                without=" ".join(sorted({o["operator"] for o in found if not o.get("expected_time_us")})))
    if without:
        line.update((part, 0) for part in PARTS)
        for o in without:
            line[part_of(o)] += expected(o)
        line["quant."] = line["expected"] - sum(map(expected, without))
        line["added"] = 1
        line["per token"] = int(row["batch"]) * int(row["seq_q"]) / 1000 if case["phase"] == "prefill" else 0
    return line


def part_of(operator):
    """The part of a module to which an operator belongs."""
    kind, name = operator["operator"], operator["name"]
    if kind in ("gemm", "bmm"):
        return "index" if name.startswith(("index", "compress")) else "products"
    return {"index-scores": "scores", "block-scores": "scores", "index-top-k": "top-k"}.get(
        kind, "attention" if "attention" in name else "norms")


def per_cent(share, sign=""):
    return ("%" + sign + ".1f") % (100 * share)


def grouped(lines):
    groups = {}
    for line in lines:
        groups.setdefault((line["module"], line["device"], line["stack"], line["phase"]), []).append(line)
    return groups


def table(lines):
    """Errors by module, device, stack and phase."""
    print("| module | device | stack | phase | rows | bound | MAPE | median | p90 | bias | without an estimate |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|")
    for key, rows in grouped(lines).items():
        errors = [row["expected"] / row["measured"] - 1 for row in rows]
        sizes = sorted(map(abs, errors))
        print("| %s | %d | %s | **%s** | %s | %s | %s | %s |" % (
            " | ".join(key), len(rows), per_cent(statistics.mean(abs(r["bound"] / r["measured"] - 1) for r in rows)),
            per_cent(statistics.mean(sizes)), per_cent(statistics.median(sizes)),
            per_cent(sizes[int(0.9 * (len(sizes) - 1))]), per_cent(statistics.mean(errors), "+"),
            ", ".join(sorted({name for row in rows for name in row["without"].split()})) or "-"))


def least_squares(rows, weights):
    """Non-negative factors of the columns whose sums in the rows are closest to 1, by coordinate descent."""
    count = len(rows[0])
    products = [[sum(w * r[i] * r[j] for r, w in zip(rows, weights)) for j in range(count)] for i in range(count)]
    sums = [sum(w * r[i] for r, w in zip(rows, weights)) for i in range(count)]
    found = [0.5] * count
    for _ in range(1000):
        moved = 0
        for i in range(count):
            rest = sum(products[i][j] * found[j] for j in range(count) if j != i)
            new = max(0, (sums[i] - rest) / products[i][i])
            moved, found[i] = max(moved, abs(new - found[i])), new
        if moved < 1e-6:
            break
    return found


def factors(lines):
    """The factors of the parts of modules that give the least mean error."""
    names = [name for name in PARTS + ADDED if any(line[name] > 0 for line in lines)]
    rows = [[line[name] / line["measured"] for name in names] for line in lines]
    errors = [1] * len(rows)
    for _ in range(15):  # a square divided by its error is the error
        found = least_squares(rows, [1 / max(1e-3, error) for error in errors])
        errors = [abs(sum(map(float.__mul__, row, found)) - 1) for row in rows]
    return dict(zip(names, found))


def unseen(lines):
    """The mean error of factors on sizes that they were not fitted to: each fifth of the sizes has the factors of the
    others."""
    sizes = sorted({size(line) for line in lines})
    fold = {one: i % FOLDS for i, one in enumerate(sizes)}
    errors = []
    for part in range(FOLDS):
        found = factors([line for line in lines if fold[size(line)] != part])
        errors += [abs(sum(found.get(name, 0) * line[name] for name in PARTS + ADDED) / line["measured"] - 1)
                   for line in lines if fold[size(line)] == part]
    return statistics.mean(errors)


def size(line):
    """What tells the sizes of a module from others: its batch, its new tokens and those before them."""
    return tuple(int(line.get(key) or 1) for key in ("batch", "seq_q", "past_kv"))


def reasons(lines):
    """Two tables of modules whose error is above the aim: the factors, and the reason, which each must have."""
    with open(REASONS, encoding="utf-8") as file:
        why = {(r["module"], r["device"], r["stack"], r["phase"]): r["reason"] for r in csv.DictReader(file)}
    print("| module | on | MAPE | fitted, unseen | %s | us | ns |" % " | ".join(PARTS))
    print("|---" * (6 + len(PARTS)) + "|")
    lines_of_reasons = []
    for (module, device, stack, phase), rows in grouped(lines).items():
        error = statistics.mean(abs(row["expected"] / row["measured"] - 1) for row in rows)
        if error <= AIM:
            continue
        if (module, device, stack, phase) not in why:
            sys.exit("%s: no reason for %s, %s %s, %s, whose error is %s%%" % (
                REASONS, module, device, stack, phase, per_cent(error)))
        found, fitted = factors(rows), unseen(rows)
        cells = ["-"] * len(PARTS)
        for i, part in enumerate(PARTS):
            share = statistics.mean(row[part] / row["measured"] for row in rows)
            if share >= 0.005:
                cells[i] = "%.1f (%.0f)" % (found[part], 100 * share)
        print("| %s, %s | %s %s | %s | %s | %s | %.0f | %.0f |" % (
            module, phase, device, stack, per_cent(error), per_cent(fitted), " | ".join(cells), found["added"],
            found.get("per token", 0)))
        lines_of_reasons.append("| %s, %s | %s %s | %s |" % (
            module, phase, device, stack, why[module, device, stack, phase]))
    print("\n| module | on | reason |\n|---|---|---|")
    print("\n".join(lines_of_reasons))


def main():
    if len(sys.argv) not in (3, 4) or not os.path.isdir(sys.argv[2]):
        sys.exit("usage: modules.py PROGRAM DIR [ROWS.csv]")
    program, folder = sys.argv[1:3]
    cases = [case(r) for name, case in MODULES.items() for r in read(folder, name)]
    with tempfile.TemporaryDirectory() as made, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case in cases:
            model_file(made, case)
        lines = [summed(case, *found) for case, found in
                 zip(cases, pool.map(lambda case: operators(program, made, case), cases))]
    cases = [case(r) for name, case in KERNELS.items() for r in read(folder, name)]
    more = [summed(case, found) for case, found in zip(cases, kernels(program, cases))]
    table(lines)
    print()
    reasons(lines)
    print()
    table(more)
    if len(sys.argv) == 4:
        lines += more
        with open(sys.argv[3], "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, list(dict.fromkeys(key for line in lines for key in line)), lineterminator="\n")
            out.writeheader()
            out.writerows(lines)


main()
