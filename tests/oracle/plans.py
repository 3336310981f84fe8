#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random questions for plans: `predict` says of each listed plan what `recommend` does, to the last
digit. plans.py PROGRAM DATA --cases N --seed S; DATA is not read."""
import argparse
import json
import random as randomness
import subprocess
import sys

MODELS = "llama-3.1-8b llama-3.3-70b mixtral-8x7b qwen3-8b deepseek-r1 gpt-oss-120b".split()
DEVICES = "h100-sxm hgx-b200 l40s a100-sxm-80gb mi300x m4-max".split()
TIMES = "ttft_ms tpot_ms step_ms".split()
RATES = ["tokens_per_s"]


def ask(path, arguments):
    """The document, or None where the program refuses the question."""
    done = subprocess.run([path, *arguments, "-f", "json"], capture_output=True, text=True,
                          check=False)
    if done.returncode not in (0, 1):
        return None
    return json.loads(done.stdout)


def differences(path, shared, plan):
    """What differs between a plan and its prediction."""
    command = ["predict", *shared, "--kv", plan["kv"], "--batch", str(plan["batch"]),
               "--stack", plan.get("stack", "best")]
    splits = ["tp", "pp"]
    if "moe_ep" in plan and plan["moe_ep"] != plan["attention_dp"]:
        splits += ["attention_dp", "moe_tp", "moe_ep"]
    else:
        splits += ["ep"]
    for key in splits:
        command += ["--" + key.replace("_", "-"), str(plan[key])]
    if plan.get("layout"):
        command += ["--layout", plan["layout"]]
    else:
        command += ["-w", plan["weights"], "-a", plan["activations"]]
    got = ask(path, command)
    if got is None:
        return ["refused: " + " ".join(command)]
    got["memory_bytes"] = got["weights_memory_bytes"] + got["kv_cache_bytes"] + \
        got["activation_memory_bytes"]
    keys = TIMES + (RATES if plan["dp"] == 1 else [])
    if plan["basis"] == "expected":
        keys = keys + ["expected_" + key for key in keys]
    keys = keys + ["memory_bytes"]
    found = [f"{key}: {got.get(key)}, plan {plan.get(key)}: {' '.join(command)}" for key in keys
             if got.get(key) != plan.get(key)]
    return found if got["fits"] else found + ["does not fit: " + " ".join(command)]


def sizes_asked(random, model):
    """Sizes of the split that are given, and how many devices they need."""
    experts = model not in ("llama-3.1-8b", "llama-3.3-70b", "qwen3-8b")
    asked = random.choice([{}, {}, {"tp": 2}, {"pp": 2}, {"dp": 2}, {"tp": 4, "dp": 2}] +
                          experts * [{"ep": 4}, {"attention_dp": 2}, {"moe_ep": 4},
                                     {"tp": 2, "attention_dp": 4, "moe_tp": 2},
                                     {"moe_tp": 2, "moe_ep": 4}])
    return asked, [word for key, value in asked.items()
                   for word in ("--" + key.replace("_", "-"), str(value))]


def options_asked(random, model):
    """What predictions take as plans do: a prefix cache, drafts and formats of classes."""
    words = []
    if random.random() < 0.2:
        words += ["--prefix-hit", random.choice("0.3 0.29 1".split())]
    if random.random() < 0.2:
        words += ["--draft-tokens", random.choice("1 3".split())]
        if random.random() < 0.5:
            words += ["--draft-model", "mtp" if model == "deepseek-r1" else "llama-3.2-1b"]
        if random.random() < 0.5:
            words += ["--acceptance", "0.5"]
    if random.random() < 0.2:
        words += ["--class", random.choice("lm_head=bf16 lm_head=fp8 attention=bf16".split())]
    return words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    random = randomness.Random(options.seed)
    compared, found = 0, []
    for _ in range(options.cases):
        shared = ["model", random.choice(MODELS), "-H", random.choice(DEVICES), "--prompt",
                  random.choice("1 100 1000 8000 8193 32000".split()), "--generate",
                  random.choice("1 2 20 500".split())]
        if random.random() < 0.6:
            shared += ["--chunk", random.choice("0 512 3000".split())]
        shared += options_asked(random, shared[1])
        asked, split = sizes_asked(random, shared[1])
        by_bound = random.random() < 0.2
        question = ["recommend", *shared, *split, "--devices",
                    "8" if split else random.choice("1,2 4 8".split()),
                    *(["--by", "ideal"] if by_bound else [])]
        answer = ask(options.program, question)
        plans = answer["candidates"] if answer else []
        found += [] if answer else ["refused: " + " ".join(question)]
        found += [f"{key} {plan[key]} of {' '.join(question)}" for plan in plans
                  for key in asked if plan[key] != asked[key]]
        bare = by_bound or shared[3] in ("mi300x", "m4-max")
        found += [f"basis of {' '.join(shared)}" for plan in plans
                  if plan["basis"] != ("bound" if bare else "expected") or
                  bare and any(key.startswith("expected_") for key in plan)]
        for plan in random.sample(plans, min(12, len(plans))):
            compared += 1
            found += differences(options.program, shared, plan)
    print(f"{options.cases} questions, {compared} plans, {len(found)} differences")
    for one in found[:10]:
        print("  " + one)
    return 1 if found or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
