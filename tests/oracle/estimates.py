# SPDX-License-Identifier: MIT
"""The expected time of a product whose K is cut into parts, written from docs/accuracy.md
(Products) and docs/formulas.md (Split-K)."""
import math

from formats import BROKEN

TILES = ((128, 128), (128, 256), (256, 128), (256, 256), (64, 128), (128, 64), (64, 256), (64, 64),
         (32, 128), (32, 64), (16, 128), (16, 64))
SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
BYTES = 2  # of each element: 16-bit formats


def device(random):
    """A device file and a calibration file of one kernel."""
    parameters = {
        "launch_clocks": random.uniform(500, 5000), "dram": random.uniform(0.4, 1),
        "peak": random.uniform(0.5, 1), "l2_capacity": 1,
        "feed_bytes_per_clock": random.uniform(20, 400),
        "l2_bytes_per_clock": random.uniform(10, 100), "stream": 5.5,
        "prologue_clocks": random.uniform(100, 3000), "k_step_clocks": random.uniform(20, 1000),
        "overlap": random.uniform(0.01, 1), "wave": random.uniform(0.02, 1),
        "split_clocks": random.uniform(100, 3000), "reduce": 3.9,
        "tile": random.uniform(0.001, 1), "epilogue": random.uniform(0.2, 2),
        "power": random.uniform(0.0001, 0.1), "quantize_launch_clocks": 1000, "quantize_rate": 1,
        "quantize_row_clocks": 1}
    if random.random() < 0.5:
        parameters["row_granule"] = random.choice((64, 128, 256))
    if random.random() < 0.5:
        parameters["vector_rows"] = random.choice((4, 8, 16))
    fit = {"kernel": "gemm", "stack": "best", "numerics": "16bit", "quantize_input": "none",
           "rows": 1, "mape": 0.1, "low": 0.9, "high": 1.1, "parameters": parameters}
    sms, clock = random.randint(4, 200), random.randint(800, 2500)
    figures = {"bandwidth_gb_s": random.randint(100, 8000),
               "peak_tflops": {"fp16": sms * clock * random.randint(500, 8000) / 1e6},
               "sm_count": sms, "boost_clock_mhz": clock,
               "l2_bytes": random.randint(10**6, 10**8)}
    return figures, {"schema": "roofline/calibration/1", "fits": [fit]}


def rows_computed(p, m):
    """The rows with those that fill a cluster's tiles up."""
    rows = p.get("row_granule", 1)
    while rows > 1 and rows // 2 >= m:
        rows //= 2
    return -(-m // rows) * rows


def without_tiles(p, h, m, n, k, batch):
    """The time of the kernel for a few rows, without its launch."""
    sms, clock = h["sm_count"], h["boost_clock_mhz"] * 1e6
    step = 128 // BYTES
    sm = max(k * p["k_step_clocks"] / (clock * step),
             batch * n * k * BYTES / (p["feed_bytes_per_clock"] * clock * sms),
             2 * batch * m * n * k / (h["peak_tflops"]["fp16"] * 1e12))
    moved = batch * (m * k + n * k + m * n) * BYTES / (p["dram"] * h["bandwidth_gb_s"] * 1e9)
    return max(sm, moved) + p["overlap"] * min(sm, moved)


def over_tile(p, h, m, n, k, batch, tile, parts):
    """The time of the kernel with one tile and as many parts, without its launch."""
    tall, wide = tile
    sms, clock = h["sm_count"], h["boost_clock_mhz"] * 1e6
    peak, bandwidth = h["peak_tflops"]["fp16"] * 1e12, h["bandwidth_gb_s"] * 1e9
    blocks = batch * -(-rows_computed(p, m) // tall) * -(-n // wide) * parts
    rounds = blocks / sms
    waves = 1 if rounds <= 1 else rounds + p["wave"] * (math.ceil(rounds) - rounds)
    step = 128 // BYTES
    depth = -(-k // (step if "parts" in BROKEN else parts * step)) * step
    slow = 1 + p["power"] * math.log1p(2 * batch * m * n * k / peak / 100e-6)
    loss = 1 + p["tile"] * (64 / tall + 64 / wide)
    multiply = 2 * tall * wide * sms / (p["peak"] * peak) * loss * slow
    fetch = (wide + tall) * BYTES / (p["feed_bytes_per_clock"] * clock)
    latency = p["k_step_clocks"] / (clock * step)
    ends = p["prologue_clocks"] / clock + tall * wide * BYTES * sms / (p["epilogue"] * bandwidth)
    in_sm = waves * (ends + depth * max(multiply, fetch, latency))
    moved = batch * (m * k + n * k + m * n) * BYTES / (p["dram"] * bandwidth)
    memory = max(moved, depth * (wide + tall) * BYTES * sms / (p["stream"] * bandwidth))
    split = 0 if parts == 1 else p["split_clocks"] / clock + \
        parts * 8 * batch * m * n / (p["reduce"] * bandwidth)
    return max(in_sm, memory) + p["overlap"] * min(in_sm, memory) + split


def product(p, h, m, n, k, batch, split):
    """The expected time; split is the number of parts, None: the fastest."""
    flops, bytes_ = 2 * batch * m * n * k, batch * (m * k + n * k + m * n) * BYTES
    bound = max(flops / (h["peak_tflops"]["fp16"] * 1e12), bytes_ / (h["bandwidth_gb_s"] * 1e9))
    best = math.inf
    if split in (None, 1) and m <= p.get("vector_rows", 1):
        best = without_tiles(p, h, m, n, k, batch)
    for tile in TILES:
        blocks = batch * -(-rows_computed(p, m) // tile[0]) * -(-n // tile[1])
        for parts in SPLITS if split is None else (split,):
            if split is not None or parts == 1 or blocks * parts <= 2 * h["sm_count"]:
                best = min(best, over_tile(p, h, m, n, k, batch, tile, parts))
    return p["launch_clocks"] / (h["boost_clock_mhz"] * 1e6) + max(bound, best)
