#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how often the intervals of `simulate` cover the truth, and how often it calls an engine
saturated below and above what it can serve. coverage.py PROGRAM [SEEDS]. It takes some minutes."""
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SMALL = ["llama-3-8b", "-H", "h100-sxm"]
FIXED = SMALL + ["--prompt", "1k", "--generate", "200"]
BURSTS = FIXED + ["--arrivals", "gamma:3"]
MIXED = SMALL + ["--prompt", "lognormal:1000:1", "--generate", "lognormal:200:1"]
LARGE = ["llama-3.3-70b", "-H", "h100-sxm", "--tp", "4", "-p", "fp8", "--kv", "fp8",
         "--prompt", "8k", "--generate", "500"]
# The limits whose greatest rates are searched.
LIMITS = [("fixed lengths", FIXED, "--max-tpot", "p99:15ms"),
          ("fixed lengths", FIXED, "--max-ttft", "p99:100ms"),
          ("fixed lengths", FIXED, "--max-tpot", "p90:13ms"),
          ("fixed lengths", FIXED, "--max-ttft", "mean:40ms"),
          ("gamma:3", BURSTS, "--max-ttft", "p99:300ms"),
          ("gamma:3", BURSTS, "--max-tpot", "p99:15ms"),
          ("lognormal lengths", MIXED, "--max-ttft", "p99:200ms"),
          ("lognormal lengths", MIXED, "--max-tpot", "p99:16ms"),
          ("70B, 8k/500", LARGE, "--max-ttft", "p99:1s"),
          ("fixed lengths", FIXED, "--max-tpot", "p99:60ms")]
# The loads whose latencies have intervals.
RATES = [("fixed lengths, 15/s", FIXED, ["--rate", "15"]),
         ("gamma:3, 3.5/s", BURSTS, ["--rate", "3.5"]),
         ("lognormal lengths, 12/s", MIXED, ["--rate", "12"]),
         ("70B, 8k/500, 0.5/s", LARGE, ["--rate", "0.5"]),
         ("lognormal lengths, 32 in flight", MIXED, ["--concurrency", "32"])]
ENGINES = [("fixed lengths", FIXED), ("gamma:3", BURSTS), ("lognormal lengths", MIXED),
           ("70B, 8k/500", LARGE), ("4 copies", FIXED + ["--dp", "4"]),
           ("prefill copies", SMALL + ["--prompt", "8k", "--generate", "200",
                                       "--prefill-copies", "2"])]
PARTS = [0.8, 0.9, 0.95, 0.99, 1.01, 1.02, 1.03, 1.05, 1.1]
LONG = ["--requests", "1000000"]


def simulate(command, columns):
    """The one row of an answer; a missed limit is no failure."""
    out = subprocess.run([sys.argv[1], "simulate", *command, "-f", "ndjson", "--columns", columns],
                         capture_output=True, text=True, check=False).stdout
    return json.loads(out)


def repeat(command, columns, seeds, pool):
    return list(pool.map(lambda seed: simulate(command + ["--seed", str(seed)], columns),
                         range(1, seeds + 1)))


def print_limits(seeds, pool):
    """Of the intervals of greatest rates."""
    keys = ["max_rate_low_per_s", "max_rate_high_per_s"]
    print("| load | limit | truth | unknown | covered | interval / rate |\n|---|---|---|---|---|---|")
    for name, load, option, limit in LIMITS:
        search = load + [option, limit]
        truth = simulate(search + LONG, "max_rate_per_s")["max_rate_per_s"]
        rows = repeat(search, ",".join(["max_rate_per_s"] + keys), seeds, pool)
        known = [r for r in rows if keys[0] in r]
        hits = sum(r[keys[0]] <= truth <= r[keys[1]] for r in known)
        widths = sorted((r[keys[1]] - r[keys[0]]) / r["max_rate_per_s"] for r in known)
        print(f"| {name} | {option[6:]} {limit} | {truth:.4g} | {seeds - len(known)} | "
              f"{hits} of {len(known)} | {widths[len(widths) // 2] if widths else 0:.0%} |", flush=True)


def print_latencies(seeds, pool):
    """Of the intervals of latencies."""
    names = [f"{latency}_ms_{what}" for latency in ("ttft", "tpot") for what in ("mean", "p99")]
    columns = ",".join(names + [name + "_ci" for name in names])
    print("\n| load | " + " | ".join(names) + " |\n|---|---|---|---|---|")
    for name, load, rate in RATES:
        truth = simulate(load + rate + LONG, ",".join(names))
        rows = repeat(load + rate, columns, seeds, pool)
        cells = []
        for key in names:
            known = [r for r in rows if key + "_ci" in r]
            hits = sum(abs(r[key] - truth[key]) <= r[key + "_ci"] for r in known)
            cells.append(f"{hits} of {len(known)}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def print_saturation(seeds, pool):
    """At parts of what an engine completes that has too much to do."""
    print("\n| load | completes | " + " | ".join(map(str, PARTS)) + " |\n" + "|---" * 11 + "|")
    for name, load in ENGINES:
        most = simulate(load + ["--rate", "1000", "--requests", "200000"],
                        "completed_per_s")["completed_per_s"]
        cells = [sum(r["saturated"] for r in
                     repeat(load + ["--rate", str(most * part)], "saturated", seeds, pool)) / seeds
                 for part in PARTS]
        print(f"| {name} | {most:.4g}/s | " + " | ".join(f"{c:.0%}" for c in cells) + " |", flush=True)


def main():
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    with ThreadPoolExecutor(2) as pool:
        print_limits(seeds, pool)
        print_latencies(seeds, pool)
        print_saturation(seeds, pool)


if __name__ == "__main__":
    main()
