#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs our PTX kernels for operators without a GPU: python3 interpret.py KERNELS.ptx

Each thread is interpreted instruction by instruction, and the threads of a warp meet where they
exchange values or multiply matrices. The results of small shapes are compared with plain formulas.
The instructions are those that our kernels have; any other ends the test."""
import math
import random
import re
import struct
import sys

WARP = 32
WIDTH = {"u16": 16, "s16": 16, "b16": 16, "u32": 32, "s32": 32, "b32": 32, "u64": 64, "s64": 64, "b64": 64}


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


def halves(bits):
    return half_float(bits), half_float(bits >> 16)


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def load_kernels(text):
    """Returns the parameters, the arrays in shared memory, and the instructions with their labels, of
    each kernel."""
    kernels = {}
    pattern = r"\.visible \.entry (\w+)\((.*?)\)((?:\s*\.\w+ [^\n]*)*)\s*\{(.*?)\n\}"
    for name, parameters, _, body in re.findall(pattern, text, re.S):
        labels, code, arrays, top = {}, [], {}, 0
        for line in body.split("\n"):
            line = line.strip()
            array = re.match(r"\.shared \.align \d+ \.b8 (\w+)\[(\d+)\]", line)
            if array:
                arrays[array[1]], top = top, top + int(array[2])
            elif line.endswith(":"):
                labels[line[:-1]] = len(code)
            elif line and not line.startswith((".reg", ".pragma")):
                guard, rest = None, line.rstrip(";")
                if rest.startswith("@"):
                    guard, rest = rest[1:].split(None, 1)
                operation, _, operands = rest.partition(" ")
                kind, *types = operation.split(".")
                code.append((guard, kind, types, re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", operands)))
        kernels[name] = (re.findall(r"\.param \.\w+ (\w+)", parameters), labels, code, arrays)
    return kernels


FLOATS = {"add": lambda a: a[0] + a[1], "sub": lambda a: a[0] - a[1], "mul": lambda a: a[0] * a[1],
          "fma": lambda a: a[0] * a[1] + a[2], "div": lambda a: a[0] / a[1], "max": max, "neg": lambda a: -a[0],
          "abs": lambda a: abs(a[0]), "ex2": lambda a: 2.0 ** a[0] if a[0] > -150 else 0.0,
          "rsqrt": lambda a: 1 / math.sqrt(a[0]), "rcp": lambda a: 1 / a[0]}
WHOLES = {"add": lambda a: a[0] + a[1], "sub": lambda a: a[0] - a[1], "mul": lambda a: a[0] * a[1],
          "mad": lambda a: a[0] * a[1] + a[2], "shl": lambda a: a[0] << a[1], "shr": lambda a: a[0] >> a[1],
          "and": lambda a: a[0] & a[1], "or": lambda a: a[0] | a[1], "div": lambda a: a[0] // a[1], "min": min,
          "bfe": lambda a: a[0] >> a[1] & (1 << a[2]) - 1}
TESTS = {"ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "gt": lambda a, b: a > b, "le": lambda a, b: a <= b,
         "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}


class Thread:
    def __init__(self, kernel, values, memory, shared, place):
        self.names, self.labels, self.code, self.arrays = kernel
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
        return self.arrays[text] if text in self.arrays else int(text, 0)

    def each(self, text):
        return re.findall(r"%\w+", text)

    def address(self, text):
        base, _, offset = text[1:-1].partition("+")
        return self.get(base.strip()) + (int(offset) if offset else 0)

    def compute(self, kind, types, o):
        """Returns the result of an instruction that computes, or None for another one."""
        if types[-1] == "f32" and kind in FLOATS:
            return rounded(FLOATS[kind]([self.get(x) for x in o[1:]]))
        if types[-1] == "pred" and kind in ("and", "or"):
            return WHOLES[kind]([bool(self.get(x)) for x in o[1:]])
        if types[-1] not in WIDTH or kind not in WHOLES:
            return None
        bits = WIDTH[types[-1]]
        a = [self.get(x) for x in o[1:]]
        if types[-1].startswith("s"):
            a = [signed(x, bits) for x in a]
        return WHOLES[kind](a) & (1 << (64 if "wide" in types else bits)) - 1

    def convert(self, types, o):
        source = self.get(o[1])
        to, what = types[-2:]
        if (to, what) == ("f32", "f16"):
            return half_float(source)
        if (to, what) == ("f16", "f32"):
            return half_bits(source)
        if to == "f32":
            return float(source)
        if what == "f32":
            return round(source) & 0xFFFFFFFF  # to even, as .rni does
        return source & (1 << WIDTH[to]) - 1

    def move(self, o):
        if o[1].startswith("{"):
            low, high = self.each(o[1])
            self.register[o[0]] = self.get(low) & 0xFFFF | (self.get(high) & 0xFFFF) << 16
        else:
            self.register[o[0]] = self.get(o[1])

    def access(self, kind, types, o):
        at = self.address(o[1] if kind == "ld" else o[0])
        store = self.shared if "shared" in types else self.memory
        size = 2 if types[-1] in ("b16", "u16") else 4
        for i, name in enumerate(self.each(o[0] if kind == "ld" else o[1])):
            if kind == "ld":
                bits = struct.unpack_from("<I", store, at + 4 * i)[0]
                self.register[name] = to_float(bits) if types[-1] == "f32" else bits
            else:
                value = self.get(name)
                bits = to_bits(value) if types[-1] == "f32" else value
                struct.pack_into("<H" if size == 2 else "<I", store, at + 4 * i, bits & (1 << 8 * size) - 1)

    def run(self):
        at = 0
        while True:
            guard, kind, types, o = self.code[at]
            at += 1
            if guard and bool(self.get(guard.lstrip("!"))) == guard.startswith("!"):
                continue
            if kind == "ret":
                return
            if kind == "bra":
                at = self.labels[o[0]]
            elif kind == "shfl":
                self.register[o[0].split("|")[0]] = yield ("shfl", self.get(o[1]), int(o[2]))
            elif kind == "vote":
                self.register[o[0]] = yield ("vote", bool(self.get(o[1])), 0)
            elif kind == "mma":
                a = [self.get(x) for x in self.each(o[1])]
                sums = [self.get(x) for x in self.each(o[3])]
                got = yield ("mma", (a, self.get(self.each(o[2])[0]), sums), 0)
                self.register.update(zip(self.each(o[0]), got))
            elif kind == "bar":
                yield ("bar", 0, 0)
            elif kind == "setp":
                a, b = self.get(o[1]), self.get(o[2])
                if types[1].startswith("s"):
                    a, b = signed(a, WIDTH[types[1]]), signed(b, WIDTH[types[1]])
                self.register[o[0]] = TESTS[types[0]](a, b)
            elif kind == "selp":
                self.register[o[0]] = self.get(o[1] if self.get(o[3]) else o[2])
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
                result = self.compute(kind, types, o)
                if result is None:
                    sys.exit(f"unknown instruction: {kind}.{'.'.join(types)}")
                self.register[o[0]] = result


def multiply(lanes):
    """Returns what each lane has of the sum of a 16 x 8 and an 8 x 8 product and 16 x 8 numbers: the places
    are those of the PTX ISA for mma.m16n8k8 in halves."""
    a = [[0.0] * 8 for _ in range(16)]
    b = [[0.0] * 8 for _ in range(8)]
    for lane, ((low, high), column, _) in enumerate(lanes):
        row, t = divmod(lane, 4)
        a[row][2 * t], a[row][2 * t + 1] = halves(low)
        a[row + 8][2 * t], a[row + 8][2 * t + 1] = halves(high)
        b[2 * t][row], b[2 * t + 1][row] = halves(column)
    out = []
    for lane, (_, _, sums) in enumerate(lanes):
        row, t = divmod(lane, 4)
        places = [(row, 2 * t), (row, 2 * t + 1), (row + 8, 2 * t), (row + 8, 2 * t + 1)]
        out.append([rounded(s + sum(a[r][k] * b[k][c] for k in range(8))) for s, (r, c) in zip(sums, places)])
    return out


def exchange(kind, waiting):
    if kind == "shfl":
        return [waiting[t ^ waiting[t][2]][1] for t in range(len(waiting))]
    if kind == "vote":
        return [any(w[1] for w in waiting)] * len(waiting)
    return multiply([w[1] for w in waiting])


def launch(kernel, grid, threads, values, memory):
    for block in range(grid[0] * grid[1]):
        shared = bytearray(40960)
        runs = [Thread(kernel, values, memory, shared,
                       {"%tid.x": t, "%ntid.x": threads, "%ctaid.x": block % grid[0], "%nctaid.x": grid[0],
                        "%ctaid.y": block // grid[0], "%nctaid.y": grid[1]}).run() for t in range(threads)]
        waiting = [next(run, None) for run in runs]
        while any(w is not None for w in waiting):
            moved = False
            for first in range(0, threads, WARP):
                warp = waiting[first:first + WARP]
                kinds = {w[0] if w else None for w in warp}
                if len(kinds) == 1 and kinds <= {"shfl", "vote", "mma"}:
                    for t, got in enumerate(exchange(kinds.pop(), warp), first):
                        try:
                            waiting[t] = runs[t].send(got)
                        except StopIteration:
                            waiting[t] = None
                    moved = True
            if all(w is not None and w[0] == "bar" for w in waiting):
                waiting = [next(run, None) for run in runs]
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


def test_rows(kernels, rows, size):
    a, b = numbers(rows * size), numbers(rows * size)
    array = 2 * rows * size
    at = [256, 256 + array, 256 + 2 * array]

    def run(name, grid, count, width):
        memory = bytearray(256 + 3 * array)
        put_halves(memory, at[0], a)
        put_halves(memory, at[1], b)
        launch(kernels[name], (grid, 1), 256, at + [count, width], memory)
        return memory

    def numbers_of(name, grid, count, width):
        return get_halves(run(name, grid, count, width), at[2], rows * size)

    close("add", numbers_of("roof_add", 2, rows, size), [x + y for x, y in zip(a, b)])
    close("gate", numbers_of("roof_gate", 2, rows, size), [x / (1 + math.exp(-x)) * y for x, y in zip(a, b)])
    wanted = []
    for row in range(rows):
        x = a[row * size:(row + 1) * size]
        scale = 1 / math.sqrt(sum(v * v for v in x) / size + 1e-6)
        wanted += [v * scale * g for v, g in zip(x, b)]
    close("norm", numbers_of("roof_norm", rows, rows, size), wanted)
    memory = run("roof_quantize", rows, rows, size)
    whole = struct.unpack_from(f"<{rows * size}b", memory, at[2])
    scale = struct.unpack_from(f"<{rows}f", memory, at[2] + rows * size)
    close("quantize", [w * scale[i // size] for i, w in enumerate(whole)], a)
    dim = 64
    heads, wanted = rows * size // dim, []
    for head in range(heads):
        x = a[head * dim:(head + 1) * dim]
        low = [x[k] * b[k] - x[k + 32] * b[k + 32] for k in range(32)]
        high = [x[k + 32] * b[k] + x[k] * b[k + 32] for k in range(32)]
        wanted += low + high
    close("rotate", numbers_of("roof_rotate", 2, heads, dim), wanted)


def test_attention(kernels, heads, group, keys, dim, parts):
    each = -(-keys // parts)
    queries = numbers(heads * group * dim)
    k, v = numbers(heads * keys * dim), numbers(heads * keys * dim)
    keys_at = 256
    values_at = keys_at + 2 * heads * keys * dim
    query_at = values_at + 2 * heads * keys * dim
    part_at = query_at + 2 * heads * group * dim
    out_at = part_at + 4 * heads * group * parts * (dim + 2)
    memory = bytearray(out_at + 2 * heads * group * dim)
    put_halves(memory, keys_at, k)
    put_halves(memory, values_at, v)
    put_halves(memory, query_at, queries)
    launch(kernels[f"roof_attend_{dim}"], (heads * -(-group // 16), parts), 128,
           [query_at, keys_at, values_at, part_at, out_at, keys, group, each], memory)
    if parts > 1:
        launch(kernels["roof_merge"], (heads * group, 1), dim, [part_at, out_at, parts], memory)
    wanted = []
    for q in range(heads * group):
        own = queries[q * dim:(q + 1) * dim]
        head = q // group
        key = [k[(head * keys + t) * dim:(head * keys + t + 1) * dim] for t in range(keys)]
        value = [v[(head * keys + t) * dim:(head * keys + t + 1) * dim] for t in range(keys)]
        score = [sum(x * y for x, y in zip(own, row)) / math.sqrt(dim) for row in key]
        most = max(score)
        weight = [math.exp(s - most) for s in score]
        wanted += [sum(w * row[d] for w, row in zip(weight, value)) / sum(weight) for d in range(dim)]
    close(f"attention of {group} queries, {keys} keys of {dim}", get_halves(memory, out_at, len(wanted)), wanted)


def main():
    random.seed(1)
    with open(sys.argv[1], encoding="ascii") as file:
        kernels = load_kernels(file.read())
    for shape in ((2, 72 * 8), (1, 4160)):
        test_rows(kernels, *shape)
    for shape in ((2, 4, 45, 128, 2), (1, 6, 9, 64, 1), (1, 17, 3, 64, 1)):
        test_attention(kernels, *shape)
    print("kernels compute what they should: rows, attention")


main()
