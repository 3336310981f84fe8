# SPDX-License-Identifier: MIT
"""docs/formulas.md ("Tiles"), a second time, with fractions."""
from fractions import Fraction
from math import ceil, floor, gcd

from formats import BROKEN, FORMATS, Refused

CANDIDATES = [(m, n, k) for m in (64, 128, 256) for n in (16, 32, 64, 128, 256)
              for k in (32, 64, 128)]
NEEDED = ("sm_shared_bytes", "block_shared_bytes", "sm_registers", "sm_threads", "sm_blocks",
          "cluster_blocks", "sm_count", "l2_bytes")
MICRO = 10 ** 6


def width(name):
    """Bits of an element without its scales."""
    row = FORMATS[name]
    return row["bits"] if row["elements"] == 1 else row["width"]


def packed(name, elements):
    """Bytes of elements with the scales of their blocks."""
    row = FORMATS[name]
    return Fraction(row["bits"], 8 * row["elements"]) * elements


def power(*sizes):
    """The largest power of two that divides all."""
    common = gcd(*sizes)
    return common & -common


def between(name):
    """Formats whose scales lie between the elements."""
    return name.startswith(("q", "iq", "tq"))


def upward(a, b):
    return -(-a // b)


def needs(tile, stages, sides, figures, tensor):
    """Shared memory, threads and registers of a block, and how many of them an SM holds."""
    m, n, _ = tile
    stage = sides["a"]["tile"] + sides["b"]["tile"]
    if not stages:
        stages = min(max(floor(figures["block_shared_bytes"] / stage), 1), 4)
    shared, threads = stages * stage, 128
    while not tensor and m * n > threads * 128:
        threads *= 2
    registers = upward((0 if tensor else upward(m * n, threads)) + 32, 8) * 8
    system = figures["sm_shared_bytes"] - figures["block_shared_bytes"]
    fit = {"shared": 0 if shared > figures["block_shared_bytes"] else
           floor(figures["sm_shared_bytes"] / (shared + system)),
           "registers": 0 if registers > 255 else figures["sm_registers"] // (threads * registers)}
    if tensor:
        columns = 32
        while columns < upward(m, 128) * n:
            columns *= 2
        fit["tensor-memory"] = figures["sm_tmem_bytes"] // (columns * 512)
    fit["threads"] = 0 if threads > 1024 else figures["sm_threads"] // threads
    fit["blocks"] = figures["sm_blocks"]
    blocks = min(fit.values())
    if blocks < 1:
        raise Refused("does not fit")
    limit = next(name for name, count in fit.items() if count == blocks)
    return stages, shared, threads, registers, blocks, limit


def in_order(band, slots, m, n, sizes, counts, a, b, cache):
    """Bytes of A and B from DRAM, in bands of some rows of tiles."""
    rows, columns = counts
    beside = min(max(slots // band, 1), columns)
    panel = a * min(Fraction(band * m, sizes[0]), 1)
    strip = b * min(Fraction(beside * n, sizes[1]), 1)
    high = a * min(Fraction(slots * m, sizes[0]), 1)
    of_a = 1 if panel + strip <= cache else upward(columns, beside)
    of_b = 1 if b + 2 * panel <= cache else upward(rows, band)
    if band > slots and high + strip > cache:
        of_b *= upward(band, slots)
    return a * of_a + b * of_b


def sectors(side):
    if "sectors" in BROKEN:
        return Fraction(1)
    begin = power(side["row"], side["part"], 256)
    return Fraction(side["part"] + 256 - begin, side["part"])


def fill(side):
    """Clocks in which a part of an operand is put into shared memory."""
    load = power(side["row"], side["part"], 128) // 8 if \
        power(side["row"], side["part"], 128) >= 8 else Fraction(
            power(side["row"], side["part"], 128), 8)
    return side["tile"] / min(32 * load, 128)


def analyse(asked, formats, p, device, tile, stages, cluster):
    """The row of a product: asked has m, n, k and batch, p what oracle.py knows of it."""
    figures = device.figures
    if any(figures[key] is None for key in NEEDED) or p["peak"] is None:
        raise Refused("figures")
    m, n, k = tile
    size_m, size_n, size_k, batch = asked
    up, across = cluster
    if any(x % 8 for x in tile) or up * across > figures["cluster_blocks"]:
        raise Refused("tile")
    names = {"a": formats["activations"], "b": formats["weights"], "c": formats["out"]}
    lines = {"a": (size_k, k, m), "b": (size_k, k, n), "c": (size_n, n, m)}
    sides = {}
    for side, name in names.items():
        long, part, other = lines[side]
        if between(name) or long * width(name) % 8:
            raise Refused("rows")
        sides[side] = dict(row=long * width(name), part=part * width(name),
                           tile=packed(name, part * other))
    tensor = p["compute_precision"] in device.matrix and figures["sm_tmem_bytes"]
    stages, shared, threads, registers, blocks, limit = needs(tile, stages, sides, figures, tensor)
    rows, columns, steps = upward(size_m, m), upward(size_n, n), upward(size_k, k)
    a, b, c = (p["by_role"][role] / Fraction(batch) for role in ("activations", "weights", "out"))
    sms = figures["sm_count"]
    grid = upward(rows, up) * up * upward(columns, across) * across * batch
    waves = Fraction(grid, sms * blocks)
    rounds = upward(rows * columns * batch, sms)
    full = rounds * sms * 2 * m * n * steps * k
    slots, cache = sms * blocks, figures["l2_bytes"]

    def dram(band):
        return batch * (in_order(band, slots, m, n, (size_m, size_n), (rows, columns), a, b, cache)
                        + c)
    orders = {"n": dram(1), "m": dram(rows)}
    bands = {band: dram(band) for band in (2, 4, 8, 16, 32, 64) if band < rows}
    group = min(bands, key=bands.get) if bands else None
    if bands:
        orders["grouped"] = bands[group]
    best = min(orders, key=orders.get)
    from_a, from_b = a * upward(columns, across), b * upward(rows, up)
    l2 = batch * (from_a * sectors(sides["a"]) + from_b * sectors(sides["b"])
                  + c * sectors(sides["c"]))
    step = sides["a"]["tile"] + sides["b"]["tile"]
    tiles = rows * columns * batch
    ahead = min(tiles, min(tiles, sms) * blocks) * (stages - 1) * step
    times = {"compute": full / p["peak"], "memory": orders[best] / device.bandwidth, "l2": None,
             "shared": None}
    if figures["l2_bandwidth_gb_s"]:
        times["l2"] = l2 / (figures["l2_bandwidth_gb_s"] * 10 ** 9)
    if figures["boost_clock_mhz"]:
        times["shared"] = rounds * steps * (fill(sides["a"]) + fill(sides["b"])) / (
            figures["boost_clock_mhz"] * 10 ** 6)
    longest = max(value for value in times.values() if value is not None)
    traffic = tiles * steps * step
    return {"tile": f"{m}x{n}x{k}", "stages": stages, "cluster": f"{up}x{across}",
            "tile_shared_bytes": shared, "tile_threads": threads, "tile_registers": registers,
            "tile_blocks_per_sm": blocks, "tile_residency_limit": limit, "tile_grid": grid,
            "tile_waves": waves, "tile_wave_efficiency": waves / ceil(waves),
            "tile_utilisation": p["flops"] / full, "tile_order": best, "tile_group": group,
            "tile_dram_bytes_n": orders["n"], "tile_dram_bytes_m": orders["m"],
            "tile_dram_bytes_grouped": orders.get("grouped"), "tile_dram_bytes": orders[best],
            "tile_l2_bytes": l2, "tile_shared_traffic_bytes": traffic,
            "tile_sector_bytes": l2 - batch * (from_a + from_b + c),
            "tile_k_alignment_bytes": Fraction(min(power(sides["a"]["row"], 128),
                                                   power(sides["b"]["row"], 128)), 8),
            "tile_n_alignment_bytes": Fraction(power(sides["c"]["row"], 128), 8),
            "tile_bytes_in_flight": ahead, "tile_hidden_latency_us": ahead / device.bandwidth * MICRO,
            "tile_dram_intensity": p["flops"] / orders[best], "tile_l2_intensity": p["flops"] / l2,
            "tile_shared_intensity": p["flops"] / traffic,
            "tile_compute_time_us": times["compute"] * MICRO,
            "tile_memory_time_us": times["memory"] * MICRO,
            "tile_l2_time_us": times["l2"] and times["l2"] * MICRO,
            "tile_shared_time_us": times["shared"] and times["shared"] * MICRO,
            "tile_time_us": longest * MICRO,
            "tile_limit": next(name for name, value in times.items() if value == longest)}


def padded(asked, formats):
    """The sizes m, n, k and batch with rows at multiples of 16 bytes."""
    m, n, k, batch = asked
    unit = max(128 // gcd(width(formats[role]), 128) for role in ("activations", "weights"))
    wide = 128 // gcd(width(formats["out"]), 128) if m * batch > 1 else 1
    return m, upward(n, wide) * wide, upward(k, unit) * unit, batch


def alone(asked, formats, p, device, tile):
    """The analysis with the usual stages and no cluster; None: there is no tile, or it does not fit."""
    try:
        return tile and analyse(asked, formats, p, device, tile, None, (1, 1))
    except Refused:
        return None


def tile_of(asked, formats, p, device, estimated):
    """The tile of an estimate (m, n) if it fits, with 128 bytes of k; else the best usual one."""
    widest = max(width(formats[role]) for role in ("activations", "weights"))
    own = (*estimated, 1024 // widest // 8 * 8) if estimated else None
    if own and alone(asked, formats, p, device, own):
        return own
    rows = {tile: alone(asked, formats, p, device, tile) for tile in CANDIDATES}
    rank = {tile: (float(row["tile_time_us"]), row["tile_l2_bytes"],
                   row["tile_shared_traffic_bytes"], tile[2])
            for tile, row in rows.items() if row}
    return min(rank, key=rank.get, default=None)
