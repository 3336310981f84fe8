#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs our PTX kernels for operators without a GPU: python3 interpret.py KERNELS.ptx

Each thread is interpreted instruction by instruction, and the threads of a warp meet where they
exchange values. The results of small shapes are compared with plain formulas. The instructions are
those that our kernels have; any other ends the test."""
import math
import random
import re
import struct
import sys

WARP = 32


def to_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def to_bits(value):
    try:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def rounded(value):
    return to_float(to_bits(value))


def half(value):
    return struct.unpack("<e", struct.pack("<e", value))[0]


def half_bits(value):
    return struct.unpack("<H", struct.pack("<e", value))[0]


def half_float(bits):
    return struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0]


def load_kernels(text):
    """Returns the parameters, and the instructions with their labels, of each kernel."""
    kernels = {}
    for name, parameters, body in re.findall(r"\.visible \.entry (\w+)\((.*?)\)\s*\{(.*?)\n\}", text, re.S):
        labels, code = {}, []
        for line in body.split("\n"):
            line = line.strip()
            if line.endswith(":"):
                labels[line[:-1]] = len(code)
            elif line and not line.startswith((".reg", ".shared")):
                guard, rest = None, line.rstrip(";")
                if rest.startswith("@"):
                    guard, rest = rest[1:].split(None, 1)
                operation, _, operands = rest.partition(" ")
                code.append((guard, operation, re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", operands)))
        kernels[name] = (re.findall(r"\.param \.\w+ (\w+)", parameters), labels, code)
    return kernels


class Thread:
    def __init__(self, kernel, values, memory, shared, place):
        self.names, self.labels, self.code = kernel
        self.values = dict(zip(self.names, values))
        self.memory, self.shared, self.place = memory, shared, place
        self.register = {}

    def get(self, text):
        if text in self.place:
            return self.place[text]
        if text.startswith("%"):
            return self.register.get(text, 0)
        if text.startswith(("0f", "0F")):
            return to_float(int(text[2:], 16))
        if text == "sums":
            return 0
        return int(text, 0)

    def address(self, text):
        base, _, offset = text[1:-1].partition("+")
        return self.get(base.strip()) + (int(offset) if offset else 0)

    def pair(self, text):
        bits = self.get(text)
        return half_float(bits), half_float(bits >> 16)

    def put_pair(self, text, low, high):
        self.register[text] = half_bits(low) | half_bits(high) << 16

    def arithmetic(self, kind, types, o):
        """Returns the result of an instruction that computes, or None for another one."""
        a = [self.get(x) for x in o[1:] if not x.startswith(("{", "["))]
        if types[-1] == "f16x2":
            p = [self.pair(x) for x in o[1:]]
            work = {"add": lambda x: x[0] + x[1], "mul": lambda x: x[0] * x[1], "neg": lambda x: -x[0],
                    "fma": lambda x: x[0] * x[1] + x[2]}[kind]
            self.put_pair(o[0], work([x[0] for x in p]), work([x[1] for x in p]))
            return self.register[o[0]]
        if types[-1] == "f32" and kind in ("add", "sub", "mul", "fma", "div", "max", "ex2", "rsqrt"):
            return rounded({"add": lambda: a[0] + a[1], "sub": lambda: a[0] - a[1], "mul": lambda: a[0] * a[1],
                            "fma": lambda: a[0] * a[1] + a[2], "div": lambda: a[0] / a[1],
                            "max": lambda: max(a), "ex2": lambda: 2.0 ** a[0] if a[0] > -150 else 0.0,
                            "rsqrt": lambda: 1 / math.sqrt(a[0])}[kind]())
        bits = 64 if types[-1] in ("u64", "b64", "s64") or "wide" in types else 32
        whole = {"add": lambda: a[0] + a[1], "sub": lambda: a[0] - a[1], "mul": lambda: a[0] * a[1],
                 "mad": lambda: a[0] * a[1] + a[2], "shl": lambda: a[0] << a[1], "shr": lambda: a[0] >> a[1],
                 "and": lambda: a[0] & a[1], "div": lambda: a[0] // a[1], "min": lambda: min(a)}
        return whole[kind]() & (1 << bits) - 1 if kind in whole else None

    def convert(self, types, o):
        source = self.get(o[1])
        if types[-2:] == ["f32", "f16"]:
            return half_float(source)
        if types[-2:] == ["f16", "f32"]:
            return half_bits(source)
        return float(source) if types[-2] == "f32" else source

    def move(self, o):
        if o[0].startswith("{"):
            low, high = re.findall(r"%\w+", o[0])
            bits = self.get(o[1])
            self.register[low], self.register[high] = bits & 0xFFFF, bits >> 16
        elif o[1].startswith("{"):
            low, high = re.findall(r"%\w+", o[1])
            self.register[o[0]] = self.get(low) | self.get(high) << 16
        else:
            self.register[o[0]] = self.get(o[1])

    def access(self, kind, types, o):
        at = self.address(o[1] if kind == "ld" else o[0])
        store = self.shared if "shared" in types else self.memory
        size = 2 if types[-1] == "b16" else 4
        if kind == "ld":
            bits = struct.unpack_from("<I", store, at)[0]
            self.register[o[0]] = to_float(bits) if types[-1] == "f32" else bits
        else:
            value = self.get(o[1])
            bits = to_bits(value) if types[-1] == "f32" else value
            struct.pack_into("<H" if size == 2 else "<I", store, at, bits)

    def run(self):
        at = 0
        while True:
            guard, operation, o = self.code[at]
            at += 1
            if guard and bool(self.get(guard.lstrip("!"))) == guard.startswith("!"):
                continue
            kind, *types = operation.split(".")
            if kind == "ret":
                return
            if kind == "bra":
                at = self.labels[o[0]]
            elif kind == "shfl":
                self.register[o[0]] = yield ("shfl", self.get(o[1]), int(o[2]))
            elif kind == "bar":
                yield ("bar", 0, 0)
            elif kind == "setp":
                a, b = self.get(o[1]), self.get(o[2])
                self.register[o[0]] = {"ge": a >= b, "lt": a < b, "gt": a > b, "ne": a != b}[types[0]]
            elif kind == "cvta":
                self.register[o[0]] = self.get(o[1])
            elif kind == "cvt":
                self.register[o[0]] = self.convert(types, o)
            elif kind == "mov":
                self.move(o)
            elif kind == "ld" and types[0] == "param":
                self.register[o[0]] = self.values[o[1][1:-1]]
            elif kind in ("ld", "st"):
                self.access(kind, types, o)
            else:
                result = self.arithmetic(kind, types, o)
                if result is None:
                    sys.exit(f"unknown instruction: {operation}")
                self.register[o[0]] = result


def launch(kernel, grid, threads, values, memory):
    for block in range(grid[0] * grid[1]):
        shared = bytearray(4096)
        runs = [Thread(kernel, values, memory, shared,
                       {"%tid.x": t, "%ntid.x": threads, "%ctaid.x": block % grid[0], "%nctaid.x": grid[0],
                        "%ctaid.y": block // grid[0], "%nctaid.y": grid[1]}).run() for t in range(threads)]
        waiting = {}
        for t, run in enumerate(runs):
            waiting[t] = next(run, None)
        while any(w is not None for w in waiting.values()):
            moved = False
            for first in range(0, threads, WARP):
                warp = range(first, min(first + WARP, threads))
                if all(waiting[t] is not None and waiting[t][0] == "shfl" for t in warp):
                    got = {t: waiting[first + ((t - first) ^ waiting[t][2])][1] for t in warp}
                    for t in warp:
                        try:
                            waiting[t] = runs[t].send(got[t])
                        except StopIteration:
                            waiting[t] = None
                    moved = True
            if all(w is not None and w[0] == "bar" for w in waiting.values()):
                for t, run in enumerate(runs):
                    waiting[t] = next(run, None)
                moved = True
            if not moved:
                sys.exit("threads wait for one another")


def put_halves(memory, at, values):
    struct.pack_into(f"<{len(values)}e", memory, at, *values)


def get_halves(memory, at, count):
    return struct.unpack_from(f"<{count}e", memory, at)


def close(what, got, wanted, limit=4e-3):
    for i, (g, w) in enumerate(zip(got, wanted)):
        if not abs(g - w) <= limit * max(1, abs(w)):
            sys.exit(f"{what}: element {i} is {g}, expected {w}")


def numbers(count):
    return [half(random.uniform(-1, 1)) for _ in range(count)]


def test_rows(kernels):
    rows, size = 3, 72 * 8
    a, b = numbers(rows * size), numbers(rows * size)
    at = [256, 16384, 32768]

    def run(name, grid, count, width):
        memory = bytearray(65536)
        put_halves(memory, at[0], a)
        put_halves(memory, at[1], b)
        launch(kernels[name], (grid, 1), 256, at + [count, width], memory)
        return get_halves(memory, at[2], rows * size)

    close("add", run("roof_add", 2, rows, size), [x + y for x, y in zip(a, b)])
    close("gate", run("roof_gate", 2, rows, size), [x / (1 + math.exp(-x)) * y for x, y in zip(a, b)])
    wanted = []
    for row in range(rows):
        x = a[row * size:(row + 1) * size]
        scale = 1 / math.sqrt(sum(v * v for v in x) / size + 1e-6)
        wanted += [v * scale * g for v, g in zip(x, b)]
    close("norm", run("roof_norm", rows, rows, size), wanted)
    dim = 64
    heads, wanted = rows * size // dim, []
    for head in range(heads):
        x = a[head * dim:(head + 1) * dim]
        low = [x[k] * b[k] - x[k + 32] * b[k + 32] for k in range(32)]
        high = [x[k + 32] * b[k] + x[k] * b[k + 32] for k in range(32)]
        wanted += low + high
    close("rotate", run("roof_rotate", 2, heads, dim), wanted)


def test_attention(kernels, heads, group, keys, dim, parts):
    each = -(-keys // parts)
    queries = numbers(heads * group * dim)
    k, v = numbers(heads * keys * dim), numbers(heads * keys * dim)
    cache = 256
    query_at = cache + 4 * heads * keys * dim
    part_at = query_at + 2 * heads * group * dim
    out_at = part_at + 4 * heads * group * parts * 4 * (dim + 2)
    memory = bytearray(out_at + 2 * heads * group * dim)
    put_halves(memory, cache, k)
    put_halves(memory, cache + 2 * heads * keys * dim, v)
    put_halves(memory, query_at, queries)
    launch(kernels["roof_attend"], (heads * -(-group // 4), parts), 128,
           [query_at, cache, part_at, heads, keys, dim, group, each], memory)
    launch(kernels["roof_merge"], (heads * group, 1), dim, [part_at, part_at, out_at, parts * 4, dim], memory)
    wanted = []
    for q in range(heads * group):
        own = queries[q * dim:(q + 1) * dim]
        head = q // group
        key = [k[(head * keys + t) * dim:(head * keys + t + 1) * dim] for t in range(keys)]
        value = [v[(head * keys + t) * dim:(head * keys + t + 1) * dim] for t in range(keys)]
        score = [sum(x * y for x, y in zip(own, row)) for row in key]
        most = max(score)
        weight = [2 ** (s - most) for s in score]
        wanted += [sum(w * row[d] for w, row in zip(weight, value)) / sum(weight) for d in range(dim)]
    close(f"attention of {group} queries, {keys} keys of {dim}", get_halves(memory, out_at, len(wanted)), wanted)


def main():
    random.seed(1)
    with open(sys.argv[1], encoding="ascii") as file:
        kernels = load_kernels(file.read())
    test_rows(kernels)
    for shape in ((2, 4, 13, 128, 2), (1, 6, 9, 64, 1), (2, 1, 3, 64, 1)):
        test_attention(kernels, *shape)
    print("kernels compute what they should: rows, attention")


main()
