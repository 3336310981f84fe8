#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random questions for plans: `predict` says of every plan that an answer lists what `recommend`
does, to the last digit. plans.py PROGRAM DATA --cases N --seed S; DATA is not read."""
import argparse
import json
import random as randomness
import shlex
import subprocess
import sys

import formats

MODELS = "llama-3.1-8b llama-3.3-70b mixtral-8x7b qwen3-8b deepseek-r1 gpt-oss-120b".split()
DEVICES = "h100-sxm hgx-b200 l40s a100-sxm-80gb mi300x m4-max arc-b580".split()
# No kernel was measured for the first, and none of mla-prefill for the second.
BARE = ["arc-b580"]
UNMEASURED = ["deepseek-r1", "mi300x"]
TIMES = "ttft_ms tpot_ms step_ms".split()
RATES = ["tokens_per_s"]


def ask(path, arguments):
    """The document, or None where the program refuses the question."""
    done = subprocess.run([path, *arguments, "-f", "json"], capture_output=True, text=True,
                          check=False)
    if done.returncode not in (0, 1):
        return None
    return json.loads(done.stdout)


def plan_words(plan, batch):
    """The options of a plan, for predictions of it."""
    words = ["--kv", plan["kv"], "--batch", str(batch), "--stack", plan.get("stack", "best")]
    splits = ["tp", "pp", "dp"]
    if "moe_ep" in plan and plan["moe_ep"] != plan["attention_dp"]:
        splits += ["attention_dp", "moe_tp", "moe_ep"]
    else:
        splits += ["ep"]
    for key in splits:
        words += ["--" + key.replace("_", "-"), str(plan[key])]
    if plan.get("layout"):
        words += ["--layout", plan["layout"]]
        # An engine may round the activations of a checkpoint for weights of fewer bits to 8.
        weights, activations = (formats.tensor_bytes(plan[key], 4096) for key in
                                ("weights", "activations"))
        return words + (["-a", plan["activations"]] if weights < activations < 8192 else [])
    return words + ["-w", plan["weights"], "-a", plan["activations"]]


def memory(prediction):
    """The bytes that a prediction says of memory."""
    return prediction["weights_memory_bytes"] + prediction["kv_cache_bytes"] + \
        prediction["activation_memory_bytes"]


def differences(path, command, plan, keys):
    """What differs between a prediction and the keys of a plan."""
    got = ask(path, command)
    if got is None:
        return ["refused: " + " ".join(command)]
    got["memory_bytes"] = memory(got)
    if plan["basis"] == "expected":
        keys = keys + ["expected_" + key for key in keys if key != "memory_bytes"]
    found = [f"{key}: {got.get(key)}, plan {plan.get(key)}: {' '.join(command)}" for key in keys
             if got.get(key) != plan.get(key)]
    return found if got["fits"] else found + ["does not fit: " + " ".join(command)]


def request_differences(path, asked, plan):
    """What differs between a plan and the prediction of its requests."""
    keys = TIMES + RATES + ["devices", "memory_bytes"]
    command = ["predict", *asked.of(plan), *asked.lengths, *asked.prefill, *asked.decode,
               *asked.classes, *plan_words(plan, plan["batch"])]
    return differences(path, command, plan, keys)


def phase_differences(path, asked, plan):
    """What differs between a plan without prompts and its two phases."""
    prefill = ["predict", *asked.of(plan), *asked.lengths, *asked.prefill, *asked.classes,
               *plan_words(plan, 1), "--phase", "prefill"]
    decode = ["predict", *asked.of(plan), *asked.lengths, *asked.decode, *asked.classes,
              *plan_words(plan, plan["batch"]), "--phase", "decode"]
    keys = ["tpot_ms", "devices", "memory_bytes"] + RATES
    return differences(path, prefill, plan, ["ttft_ms"]) + \
        differences(path, decode, plan, keys)


def sizes_asked(random, model):
    """Sizes of the split that are given, and how many devices they need."""
    experts = model not in ("llama-3.1-8b", "llama-3.3-70b", "qwen3-8b")
    asked = random.choice([{}, {}, {"tp": 2}, {"pp": 2}, {"dp": 2}, {"tp": 4, "dp": 2}] +
                          experts * [{"ep": 4}, {"attention_dp": 2}, {"moe_ep": 4},
                                     {"tp": 2, "attention_dp": 4, "moe_tp": 2},
                                     {"moe_tp": 2, "moe_ep": 4}])
    return asked, [word for key, value in asked.items()
                   for word in ("--" + key.replace("_", "-"), str(value))]


def half_differences(path, asked, plan):
    """What differs between a disaggregated plan and the predictions of its two kinds of copies."""
    half = {key[len("prefill_"):]: value for key, value in plan.items()
            if key.startswith("prefill_")}
    prompt, generate = (int(asked.lengths[i]) for i in (1, 3))
    prefill = ["predict", *asked.of(plan), *asked.lengths[:2], "--generate", "1",
               *asked.lengths[4:], *asked.prefill, *asked.classes,
               *plan_words({**plan, **half}, half["batch"])]
    decode = ["predict", *asked.of(plan), *asked.decode, *asked.classes,
              *plan_words(plan, plan["batch"]), "--phase", "decode", "--context"]
    # The oracle's own sums, from the digits of the two predictions.
    one = ask(path, prefill)
    step = ask(path, decode + [str(prompt + generate // 2)])
    last = ask(path, decode + [str(prompt + generate)])
    if one is None or step is None or last is None:
        return ["refused: " + " ".join(prefill) + " or " + " ".join(decode)]
    found = [] if one["fits"] and last["fits"] else ["does not fit: " + " ".join(prefill)]
    if plan["memory_bytes"] != max(memory(one), memory(last)):
        found += [f"memory_bytes {plan['memory_bytes']}: {' '.join(prefill)}; {' '.join(decode)}"]
    for kind in ["", "expected_"] if plan["basis"] == "expected" else [""]:
        # SGLang and TensorRT-LLM hand the first token over, so that no bound has a step for it.
        handed = not kind or plan.get("stack") in ("sglang", "trtllm")
        again = 0 if handed else step[kind + "step_ms"]
        first = one[kind + "ttft_ms"] + plan["transfer_ms"] + again
        serve = again + (generate - 1) * step[kind + "tpot_ms"]
        # What an engine does on the host before the first step keeps no copy busy.
        busy = one[kind + "ttft_ms"] - (one.get("engine_request_ms", 0) if kind else 0)
        rates = {"prefill": plan["prefill_copies"] * min(
                     1e3 * plan["prefill_batch"] / busy,
                     1e3 * plan["prefill_attention_dp"] / plan["transfer_ms"]),
                 "decode": plan["dp"] * min(
                     1e3 * plan["batch"] / serve,
                     plan["attention_dp"] * 1e3 / plan["transfer_ms"] *
                     max(1, plan["tp"] * plan["pp"] / (plan["prefill_tp"] * plan["prefill_pp"])))}
        wanted = {"ttft_ms": first, "prefill_ms": one[kind + "ttft_ms"],
                  "tpot_ms": step[kind + "tpot_ms"], "step_ms": step[kind + "step_ms"],
                  "prefill_requests_per_s": rates["prefill"],
                  "decode_requests_per_s": rates["decode"],
                  "tokens_per_s": generate * min(rates.values()),
                  "tokens_per_s_per_user":
                      1e3 * generate / (first + (generate - 1) * step[kind + "tpot_ms"])}
        exact = ("prefill_ms", "tpot_ms", "step_ms")
        found += [f"{kind}{key}: {value}, plan {plan[kind + key]}: {' '.join(prefill)}; "
                  f"{' '.join(decode)}" for key, value in wanted.items()
                  if abs(value - plan[kind + key]) > (0 if key in exact else 1e-11) * value]
    if plan["devices"] != plan["dp"] * plan["tp"] * plan["pp"] * plan["attention_dp"] + \
            plan["prefill_copies"] * half["tp"] * half["pp"] * half["attention_dp"]:
        found += ["devices of " + plan["copies"]]
    return found


def larger_fits(path, asked, plan):
    """Names the plan, asked for as that of the largest batch, if one sequence more fits, too."""
    if plan["engines"] == "llama.cpp" and plan["batch"] in (1, 256):
        return []  # its own limit
    batch = plan["batch"] + 1
    lengths, prefill = asked.lengths, asked.prefill
    if plan["kind"] == "disaggregated":
        lengths = ["--phase", "decode", "--context", str(int(lengths[1]) + int(lengths[3]))]
        prefill = []
    elif not asked.request:
        lengths, prefill = [*lengths, "--phase", "decode"], []
    command = ["predict", *asked.of(plan), *lengths, *prefill, *asked.decode, *asked.classes,
               *plan_words(plan, batch)]
    got = ask(path, command)
    return ["fits, too: " + " ".join(command)] if got is None or got["fits"] else []


def answer_text(path, asked):
    """The answer as people read it."""
    return subprocess.run([path, *asked.question()], capture_output=True, text=True,
                          check=True).stdout


def listed(text, plans):
    """The plans of the tables of an answer: the best ones, and those of the Pareto front."""
    ranks, inside = set(), False
    for line in text.splitlines():
        words = line.split()
        inside = bool(words) and (inside or words[0] == "rank")
        if inside and words[0] != "rank":
            ranks.add(int(words[0]))
    return [plans[rank - 1] for rank in sorted(ranks)]


def printed_differences(path, asked, text, plan):
    """What differs between the best plan and the predictions whose commands are printed for it."""
    commands = [shlex.split(line)[1:] for line in text.splitlines()
                if line.startswith("  roofline predict ")]
    rates = RATES * (plan["dp"] == 1)
    first = {**plan, "ttft_ms": plan.get("prefill_ms", plan["ttft_ms"]),
             "expected_ttft_ms": plan.get("expected_prefill_ms", plan.get("expected_ttft_ms"))}
    if plan["kind"] == "disaggregated":
        keys = [["ttft_ms"], ["tpot_ms", "step_ms"], []]  # the last one has the memory
    else:
        keys = [TIMES + rates] if asked.request else [["ttft_ms"], ["tpot_ms"] + rates]
    if len(commands) != len(keys):
        return [f"{len(commands)} commands are printed for " + " ".join(asked.question())]
    return [one for command, names in zip(commands, keys)
            for one in differences(path, command, first, names)]


class Asked:
    """A question, as words: those that its predictions share."""

    def __init__(self, random):
        name = random.choice(MODELS)
        self.model = ["model", name, "-H", random.choice(DEVICES)]
        self.request = random.random() < 0.8
        if self.request:
            self.lengths = ["--prompt", random.choice("1 100 1000 8000 8193 32000".split()),
                            "--generate", random.choice("1 2 20 500".split())]
            if random.random() < 0.6:
                self.lengths += ["--chunk", random.choice("0 512 3000".split())]
        else:
            self.lengths = ["--context", random.choice("1 1000 8193".split())]
        self.prefill, self.decode, self.classes = [], [], []
        if random.random() < 0.2:
            self.prefill = ["--prefix-hit", random.choice("0.3 0.29 1".split())]
        if random.random() < 0.2:
            self.decode = ["--draft-tokens", random.choice("1 3".split())]
            if random.random() < 0.5:
                self.decode += ["--draft-model", "mtp" if name == "deepseek-r1" else "llama-3.2-1b"]
            if random.random() < 0.5:
                self.decode += ["--acceptance", "0.5"]
        if random.random() < 0.2:
            self.classes = ["--class",
                            random.choice("lm_head=bf16 lm_head=fp8 attention=bf16".split())]
        self.sizes, self.split = sizes_asked(random, name)
        self.by = ["--by", "ideal"] if random.random() < 0.2 else []
        self.largest = random.random() < 0.2
        self.devices = ["--devices", "8" if self.split else random.choice("1,2 4 8".split())]

    def of(self, plan):
        """The words for the model of a plan, which may be a checkpoint of the one that is asked for."""
        return ["model", plan["model"], *self.model[2:]]

    def question(self):
        """The command line that asks for plans."""
        return ["recommend", *self.model, *self.lengths, *self.prefill, *self.decode,
                *self.classes, *self.split, *self.devices, *self.by,
                *self.largest * ["--batch", "max"]]

    def wrong(self, plan):
        """What is not as it was asked for."""
        found = [f"{key} {plan[key]} of {' '.join(self.question())}" for key in self.sizes
                 if plan[key] != self.sizes[key] or
                 plan.get("prefill_" + key, self.sizes[key]) != self.sizes[key]]
        bare = bool(self.by) or self.model[3] in BARE or self.model[1::2] == UNMEASURED
        if plan["basis"] != ("bound" if bare else "expected") or \
                bare and any(key.startswith("expected_") for key in plan):
            found += ["basis of " + " ".join(self.question())]
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    random = randomness.Random(options.seed)
    compared, halves, found = 0, 0, []
    for _ in range(options.cases):
        asked = Asked(random)
        answer = ask(options.program, asked.question())
        plans = answer["candidates"] if answer else []
        found += [] if answer else ["refused: " + " ".join(asked.question())]
        for plan in plans:
            found += asked.wrong(plan)
        text = answer_text(options.program, asked) if plans else ""
        found += printed_differences(options.program, asked, text, plans[0]) if plans else []
        compare = request_differences if asked.request else phase_differences
        for plan in listed(text, plans) + random.sample(plans, min(2, len(plans))):
            compared += 1
            found += larger_fits(options.program, asked, plan) if asked.largest else []
            halves += plan["kind"] == "disaggregated"
            found += (half_differences if plan["kind"] == "disaggregated" else
                      compare)(options.program, asked, plan)
    print(f"{options.cases} questions, {compared} plans, {halves} of them disaggregated, "
          f"{len(found)} differences")
    for one in found[:10]:
        print("  " + one)
    return 1 if found or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
