# SPDX-License-Identifier: MIT
"""Operators and the roofline bound, written a second time from docs/formulas.md with exact
fractions. No number is taken from the program.
"""
from fractions import Fraction

from formats import (BROKEN, FORMATS, GGUF, PRUNED, Refused, STORED, multiplied_at, resolve, scale_bytes,
                     tensor_bytes)

PRODUCTS = ("gemm gemv bmm attention-scores attention-values flash-attention mla-decode mla-prefill "
            "moe moe-gate-up moe-down moe-ungated moe-up gemm-silu-mul conv2d conv3d index-scores block-scores sparse-mla gated-delta kimi-delta ssd lightning compressed-attention nsa hyper-collapse").split()
COLLECTIVES = "all-reduce all-gather reduce-scatter all-to-all send".split()
ATTENTION = "attention-scores attention-values softmax attention flash-attention".split()
LATENT = "mla-decode mla-prefill".split()
CHOSEN = "index-scores block-scores sparse-mla".split()
STATES = "gated-delta kimi-delta ssd lightning selective-scan".split()
KEPT = ATTENTION + LATENT + CHOSEN + STATES + "compressed-attention nsa kv-append rope-append".split()
EXPERTS = "moe moe-gate-up moe-down moe-ungated moe-up".split()
CONVOLUTIONS = {"conv2d": 3 ** 2, "conv3d": 3 ** 3}  # by the taps that they have
WITH_WEIGHTS = ["gemm", "gemv", "bmm", "gemm-silu-mul", "hyper-collapse", *CONVOLUTIONS] + EXPERTS
# Fused operators, by what they join: what one passes to the next is neither written nor read.
FUSED = {"add-rmsnorm": "add rmsnorm", "add-layernorm": "add layernorm", "rmsnorm-quantize": "rmsnorm quantize",
         "add-rmsnorm-quantize": "add rmsnorm quantize", "silu-mul-quantize": "silu-mul quantize"}
QUANTIZING = ["quantize"] + [op for op in FUSED if "quantize" in op]
NORMS = [op for op in ["rmsnorm", "layernorm", "groupnorm", *FUSED] if "norm" in op]
ROWS = "rmsnorm layernorm groupnorm add silu-mul gelu quantize embedding".split() + list(FUSED)
ALL = PRODUCTS + ["softmax", "attention"] + ROWS + ["rope", "kv-append", "rope-append", "router", "index-top-k", "short-conv", "selective-scan",
                                                 "hyper-expand", "depth-mix"] + \
    COLLECTIVES
_LATENT_SIZES = dict(kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128)
ROLES = "weights activations out kv".split()


def power(base, exponent):
    """base ** exponent of a fraction from 0 to 1, exact where that is short; else to 400 bits."""
    result = Fraction(1)
    while exponent:
        if exponent & 1:
            result = _short(result * base)
        base = _short(base * base)
        exponent >>= 1
    return result


def _short(value):
    if value.denominator.bit_length() <= 4000:
        return value
    shift = 400 - (value.numerator.bit_length() - value.denominator.bit_length())
    return Fraction((value.numerator << shift) // value.denominator, 1 << shift)


def pairs_and_keys(d):
    """Pairs of query and key, and how many keys are read. Queries are the last of the keys:
    query i (from 0) sees those up to its own position S - T + i if the mask is causal."""
    length, keys = d["query_len"], d["kv_len"]
    seen = min(d["window"], keys) if d.get("window") else keys
    if not d["causal"] or "causal" in BROKEN:
        return length * seen, min(keys, seen + length - 1)
    # Query i sees min(seen, S - T + i + 1) keys; the first sees S - T + 1, the last all `seen`.
    short = max(0, min(length, seen - (keys - length + 1)))
    first = keys - length + 1
    pairs = short * first + short * (short - 1) // 2 + (length - short) * seen
    return pairs, min(keys, seen + length - 1)


def steps_below(end, step, most):
    """The sum over p = 0 to end of the lesser of p // step and most, run by run."""
    total, level = 0, 0
    while level * step <= end:
        if level == most:
            return total + most * (end - level * step + 1)
        total += level * (min(end, level * step + step - 1) - level * step + 1)
        level += 1
    return total


def windowed_and_compressed(length, end, window, ratio, chosen):
    """Pairs of the last queries up to token `end` with the last tokens and what is compressed, and
    the keys of both kinds that are read."""
    seen = min(window, end) if window else end
    length = min(length, end)
    begin = end - length
    pairs = sum(range(begin + 1, min(end, seen) + 1)) + seen * (end - max(begin, min(end, seen)))
    keys = min(end, seen + length - 1)
    if ratio:
        most = chosen or end
        pairs += steps_below(end, ratio, most) - steps_below(begin, ratio, most)
        keys += min(end // ratio, most)
    return pairs, keys


def defaults(op, dims):
    """Dimensions filled in, and checked."""
    d = dict(dims)
    if op in ("gemm", "gemv", "bmm"):
        d.setdefault("batch", 1)
        if op == "gemv":
            d["m"] = 1
    if op in CONVOLUTIONS:
        d = {"batch": 1, "taps": CONVOLUTIONS[op], "subsample": 1, **d}
    if op in CHOSEN + STATES + ["index-top-k", "short-conv"]:
        usual = {"index-scores": dict(causal=0), "block-scores": dict(causal=0, compression=128),
                 "index-top-k": dict(selected=2048),
                 "sparse-mla": dict(causal=0, selected=2048, kv_lora_rank=512, qk_rope_head_dim=64),
                 "short-conv": dict(taps=4), "gated-delta": dict(v_head_dim=128, scan_chunk=64),
                 "kimi-delta": dict(v_head_dim=128, scan_chunk=64),
                 "ssd": dict(state_size=128, scan_chunk=64),
                 "lightning": dict(v_head_dim=128, scan_chunk=64),
                 "selective-scan": dict(state_size=16)}
        d = {**usual[op], "batch": 1, "query_len": 1, **d}
        if op in ("gated-delta", "ssd"):
            d.setdefault("kv_heads", d["heads"])
            if d["heads"] % d["kv_heads"]:
                raise Refused("heads")
        if op in CHOSEN and d["causal"] and d["query_len"] > d["kv_len"]:
            raise Refused("more queries than keys")
    if op == "compressed-attention":
        d = {"batch": 1, "query_len": 1, "window": 0, "compression": 0, "selected": 0, **d}
    if op == "nsa":
        d = {"batch": 1, "query_len": 1, "window": 0, "compression": 64, "selected": 1024,
             "kv_heads": d["heads"], **d}
        if d["heads"] % d["kv_heads"]:
            raise Refused("heads")
    if op.startswith("hyper-") or op == "depth-mix":
        d.setdefault("streams", 4)
    if op in ATTENTION + LATENT:
        d.setdefault("batch", 1)
        d.setdefault("query_len", 1)
        d.setdefault("causal", 0)
        d.setdefault("window", 0)
        if op in LATENT:
            d = dict(_LATENT_SIZES, **d)
        if d["causal"] and d["query_len"] > d["kv_len"]:
            raise Refused("more queries than keys")
    if op in ATTENTION or op in ("rope", "rope-append"):
        d.setdefault("kv_heads", d["heads"])
    if op == "rope-append":
        d.setdefault("qk_rope_head_dim", d["head_dim"])
        if d["qk_rope_head_dim"] > d["head_dim"]:
            raise Refused("qk_rope_head_dim")
    if op == "kv-append":
        d.setdefault("heads", d["kv_heads"])
    if (op in ATTENTION or op in ("rope", "kv-append", "rope-append")) and d["heads"] % d["kv_heads"]:
        raise Refused("heads")
    if op in EXPERTS:
        d.setdefault("routing", "uniform")
        d.setdefault("ep", 1)
        if d["experts"] % d["ep"]:
            raise Refused("ep")
    if op in EXPERTS + ["router"] and d["top_k"] > d["experts"]:
        raise Refused("top_k")
    if op in COLLECTIVES:
        group = 2 if op == "send" else d["devices"]
        if d.get("within") is None:
            d["within"] = group
        elif op != "send" and d["within"] < group:
            raise Refused("within")
        d.setdefault("algorithm", "ring")
        d.setdefault("devices", group)
    return d


def work(op, d):
    """FLOPs, and by role (elements, tensors, rows with a scale of their own); for collectives also
    the elements that are sent, and messages one after another; `bytes`: output without a format."""
    w = dict(flops=0)
    tokens, hidden = d.get("tokens"), d.get("hidden")
    if op in ("gemm", "gemv", "bmm"):
        b, m, n, k = d["batch"], d["m"], d["n"], d["k"]
        w.update(flops=2 * b * m * n * k, weights=(b * n * k, 1, b * n),
                 activations=(b * m * k, 1, b * m), out=(b * m * n, 1, b * m))
        if d.get("bias"):
            w["bias"] = b * n
    elif op in CONVOLUTIONS:
        # Each output has a product per tap and pair of channels; windows that overlap share inputs.
        outputs, touched = d["batch"] * d["m"], min(d["subsample"], d["taps"])
        w.update(flops=2 * outputs * d["taps"] * d["k"] * d["n"],
                 weights=(d["taps"] * d["k"] * d["n"], 1, d["n"]),
                 activations=(outputs * touched * d["k"], 1, outputs * touched),
                 out=(outputs * d["n"], 1, outputs))
    elif op in ATTENTION:
        b, h, g, size = d["batch"], d["heads"], d["kv_heads"], d["head_dim"]
        if "gqa" in BROKEN:
            g = h
        length = d["query_len"]
        pairs, keys = pairs_and_keys(d)
        scores = (b * h * length * d["kv_len"], 1, b * h * length)
        rows = (b * length * h * size, 1, b * length)
        one = (b * keys * g * size, 1, b * keys * g)
        if op == "attention-scores":
            w.update(flops=2 * b * h * size * pairs, activations=rows, kv=one, out=scores)
        elif op == "attention-values":
            w.update(flops=2 * b * h * size * pairs, activations=scores, kv=one, out=rows)
        elif op == "softmax":
            w.update(flops=5 * b * h * pairs, activations=scores, out=scores)
        else:
            w.update(flops=4 * b * h * size * pairs, activations=rows, out=rows,
                     kv=tuple(2 * x for x in one))
    elif op in LATENT:
        b, h, length = d["batch"], d["heads"], d["query_len"]
        latent, nope, rope, v = (d[x] for x in _LATENT_SIZES)
        pairs, keys = pairs_and_keys(d)
        if op == "mla-decode":
            # K is the latent and the position, V the latent: one product with each.
            w.update(flops=2 * b * h * pairs * ((latent + rope) + latent),
                     activations=(b * length * h * (latent + rope), 1, b * length),
                     kv=(b * keys * (latent + rope), 1, b * keys),
                     out=(b * length * h * latent, 1, b * length))
        else:
            w.update(flops=2 * b * h * pairs * ((nope + rope) + v),
                     activations=(b * length * h * (nope + rope), 1, b * length),
                     kv=(b * keys * h * (nope + rope + v), 2, 2 * b * keys * h),
                     out=(b * length * h * v, 1, b * length))
    elif op == "index-scores":
        b, h, length, size = d["batch"], d["heads"], d["query_len"], d["head_dim"]
        pairs, keys = pairs_and_keys(d)
        w.update(flops=2 * b * h * size * pairs, activations=(b * length * h * size, 1, b * length),
                 kv=(b * keys * size, 1, b * keys), out=(b * length * d["kv_len"], 1, b * length))
    elif op == "block-scores":  # of each block a head keeps the largest score
        b, h, length, size = d["batch"], d["heads"], d["query_len"], d["head_dim"]
        pairs, keys = pairs_and_keys(d)
        w.update(flops=2 * b * h * size * pairs, activations=(b * length * h * size, 1, b * length),
                 kv=(b * keys * size, 1, b * keys),
                 out=(b * length * h * -(-d["kv_len"] // d["compression"]), 1, b * length))
    elif op == "index-top-k":
        scores = d["batch"] * d["query_len"] * d["kv_len"]
        w.update(flops=scores, activations=(scores, 1, d["batch"] * d["query_len"]),
                 bytes=4 * d["batch"] * d["query_len"] * min(d["selected"], d["kv_len"]))
    elif op == "sparse-mla":
        w = work("mla-decode", dict(_LATENT_SIZES, **dict(d, window=d["selected"])))
    elif op == "compressed-attention":
        b, h, size, length, end = d["batch"], d["heads"], d["head_dim"], d["query_len"], d["kv_len"]
        pairs, near = windowed_and_compressed(length, end, d["window"], d["compression"], d["selected"])
        rows = (b * length * h * size, 1, b * length)
        # One product with a key, and one with the same as a value.
        w.update(flops=2 * 2 * b * h * size * pairs, activations=rows, out=rows,
                 kv=(b * near * size, 1, b * near))
    elif op == "nsa":
        b, h, size, length, end = d["batch"], d["heads"], d["head_dim"], d["query_len"], d["kv_len"]
        pairs = keys = 0
        # Without compressed keys the other attention counts those of a window.
        for most in (d["window"], d["selected"]):
            one, near = windowed_and_compressed(length, end, most, 0, 0)
            pairs, keys = pairs + one, keys + near
        # Of a window of one token it has that pair and that key too much.
        one, near = windowed_and_compressed(length, end, 1, d["compression"], 0)
        queries = min(length, end)
        pairs, keys = pairs + one - queries, keys + near - queries
        w.update(flops=4 * b * h * size * pairs, out=(b * length * h * size, 1, b * length),
                 activations=(b * length * h * (size + 3), 1, b * length),
                 kv=(2 * b * keys * d["kv_heads"] * size, 2, 2 * b * keys * d["kv_heads"]))
    elif op == "hyper-collapse":
        s = d["streams"]
        made = s + s + s * s  # weights: into one, of the result, and of streams among each other
        w.update(flops=2 * tokens * (made * s * hidden + s * hidden),
                 weights=(made * s * hidden, 1, made), activations=(tokens * s * hidden, 1, tokens * s),
                 out=(tokens * hidden, 1, tokens))
    elif op == "hyper-expand":
        s = d["streams"]
        w.update(flops=2 * tokens * hidden * (s * s + s),
                 activations=(tokens * hidden * (s + 1), 2, tokens * (s + 1)),
                 out=(tokens * hidden * s, 1, tokens * s))
    elif op == "depth-mix":  # squares and their sum, scores, the weighted sum
        s = d["streams"]
        w.update(flops=tokens * s * (2 * hidden + 2 * hidden + 2 * hidden), weights=(hidden + hidden, 2, 2),
                 activations=(tokens * s * hidden, 1, tokens * s), out=(tokens * hidden, 1, tokens))
    elif op == "short-conv":
        seen = d["batch"] * (d["query_len"] + d["taps"] - 1)
        rows = (seen * hidden, 2, seen)
        w.update(flops=2 * d["batch"] * d["query_len"] * hidden * d["taps"],
                 weights=(hidden * d["taps"], 1, hidden), activations=rows, out=rows)
    elif op == "selective-scan":
        # Each channel takes its tokens one by one; B and C are those of all channels.
        n, inner = d["batch"] * d["query_len"], d["state_size"]
        state = d["batch"] * hidden * inner
        # Decayed (step by A, then state), written (by B) and added, read (by C) and added.
        each = (1 + 1) + (1 + 1) + (1 + 1)
        w.update(flops=n * hidden * (each * inner + 1 + 2), weights=(hidden * inner + hidden, 2, 2 * hidden),
                 activations=(n * (hidden + hidden + inner + inner), 4, 4 * n),
                 kv=(state + state, 2, 2 * d["batch"] * hidden), out=(n * hidden, 1, n))
    elif op in STATES:
        b, h, length, size = d["batch"], d["heads"], d["query_len"], d["head_dim"]
        # A token meets those of its chunk that come before it, and itself.
        met = Fraction(length * (min(d["scan_chunk"], length) + 1), 2)
        tokens_of_all = b * length
        if op == "ssd":
            inner, wide, groups = d["state_size"], size, d["kv_heads"]
            products = h * (4 * length * size * inner + 2 * met * size) + groups * 2 * met * inner
            come, inputs = h * size + 2 * groups * inner + h, 4
        elif op == "lightning":
            inner = wide = d["v_head_dim"]
            products = h * (2 * (2 * length * size * inner) + 2 * met * (size + inner))
            come, inputs = h * (size + size + inner), 3
        else:
            inner = wide = d["v_head_dim"]
            # Keys with keys, solved for keys and for values, queries with keys, scores with values.
            products = h * (6 * length * size * inner + 2 * met * (size + size + inner + size + inner))
            keys = d["kv_heads"] if op == "gated-delta" else h
            gates = 2 * h if op == "gated-delta" else h * (size + 1)
            come, inputs = 2 * keys * size + h * inner + gates, 5
        w.update(flops=b * products, activations=(tokens_of_all * come, inputs, inputs * tokens_of_all),
                 kv=(2 * b * h * size * inner, 2, 2 * b * h),
                 out=(tokens_of_all * h * wide, 1, tokens_of_all))
    elif op in FUSED:
        whole, first = tokens * hidden, FUSED[op].split()[0]
        flops = dict(add=1, rmsnorm=5, layernorm=7, quantize=4)
        flops["silu-mul"] = 4
        w["flops"] = sum(flops[part] for part in FUSED[op].split()) * whole
        # The first one reads its inputs; a sum is also written, for the next layer.
        tensors = dict(add=2 + 1, rmsnorm=1).get(first, 2)
        w.update(activations=(tensors * whole, tensors, tensors * tokens), out=(whole, 1, tokens))
        if d.get("gain"):
            vectors = 2 if "layernorm" in op else 1
            w["weights"] = (vectors * hidden, vectors, vectors)
    elif op == "gemm-silu-mul":
        m, n, k = d["m"], d["n"], d["k"]
        w.update(flops=2 * m * (2 * n) * k, weights=(2 * n * k, 1, 2 * n), activations=(m * k, 1, m),
                 out=(m * n, 1, m))
        if d.get("bias"):
            w["bias"] = 2 * n
    elif op == "rope-append":
        q, k, new = (tokens * heads * size for heads, size in (
            (d["heads"], d["qk_rope_head_dim"]), (d["kv_heads"], d["qk_rope_head_dim"]),
            (d["kv_heads"], d["head_dim"])))
        w.update(flops=3 * (q + k), activations=(q + 2 * new, 3, 3 * tokens), out=(q, 1, tokens),
                 kv=(2 * new, 2, 2 * tokens * d["kv_heads"]))
    elif op in ROWS:
        each = (tokens * hidden, 1, tokens)
        per_element = dict(rmsnorm=5, layernorm=7, groupnorm=7, add=1, gelu=10, quantize=4, embedding=0)
        w.update(flops=per_element.get(op, 4) * tokens * hidden, out=each)
        if op == "embedding":
            w["weights"] = each
        else:
            w["activations"] = tuple((2 if op in ("add", "silu-mul") else 1) * x for x in each)
        if op in ("rmsnorm", "layernorm", "groupnorm") and d.get("gain"):
            vectors = 1 if op == "rmsnorm" else 2
            w["weights"] = (vectors * hidden, vectors, vectors)
    elif op == "rope":
        elements = tokens * (d["heads"] + d["kv_heads"]) * d["head_dim"]
        w.update(flops=3 * elements, activations=(elements, 2, 2 * tokens),
                 out=(elements, 2, 2 * tokens))
    elif op == "kv-append":
        elements = 2 * tokens * d["kv_heads"] * d["head_dim"]
        w.update(activations=(elements, 2, 2 * tokens), kv=(elements, 2, 2 * tokens * d["kv_heads"]))
    elif op == "router":
        chosen = tokens * d["top_k"]
        w.update(flops=5 * tokens * d["experts"] + 2 * chosen,
                 activations=(tokens * d["experts"], 1, tokens), out=(chosen, 1, tokens),
                 bytes=4 * chosen)
    elif op in EXPERTS:
        inner, e, k, ep = d["intermediate"], d["experts"], d["top_k"], d["ep"]
        if d["routing"] == "balanced":
            touched = Fraction(min(e, tokens * k), ep)
        elif d["routing"] == "fewest":
            touched = Fraction(-(-k // ep))
        else:
            # A token leaves an expert alone with probability 1 - k/E, all of them do with its
            # power: the expected number of experts that one token or more chose.
            touched = e * (1 - power(Fraction(e - k, e), tokens)) / ep
        if "touched" in BROKEN:
            touched = Fraction(min(e, tokens * k), ep)
        routed = Fraction(tokens * k, ep)
        rows = min(Fraction(tokens), routed)
        come, go = (rows * hidden, 1, rows), (routed * inner, 1, routed)
        if op == "moe":
            # Input read; gated result written and read; output written.
            w.update(flops=6 * routed * hidden * inner,
                     weights=(3 * touched * hidden * inner, 3 * touched,
                              touched * (2 * inner + hidden)),
                     activations=tuple(x + 2 * y for x, y in zip(come, go)), out=come)
        elif op == "moe-ungated":
            # Up and down: the activated result is written and read.
            w.update(flops=2 * (2 * routed * hidden * inner),
                     weights=(2 * (touched * hidden * inner), touched + touched,
                              touched * inner + touched * hidden),
                     activations=tuple(x + 2 * y for x, y in zip(come, go)), out=come)
        elif op == "moe-up":
            w.update(flops=2 * routed * inner * hidden,
                     weights=(touched * inner * hidden, touched, touched * inner),
                     activations=come, out=go)
        elif op == "moe-gate-up":
            w.update(flops=4 * routed * hidden * inner,
                     weights=(2 * touched * hidden * inner, 2 * touched, 2 * touched * inner),
                     activations=come, out=go)
        else:
            w.update(flops=2 * routed * hidden * inner,
                     weights=(touched * hidden * inner, touched, touched * hidden),
                     activations=go, out=come)
        if d.get("bias"):
            w["bias"] = touched * {"moe": 2 * inner + hidden, "moe-gate-up": 2 * inner,
                                   "moe-ungated": inner + hidden, "moe-up": inner,
                                   "moe-down": hidden}[op]
    elif op in COLLECTIVES:
        x, p = d["elements"], d["devices"]
        whole, share = (x, 1, 1), (Fraction(x, p), 1, 1)
        part = Fraction((p - 1) * x, p)
        w.update(activations=whole, out=whole)
        if op == "all-reduce" and d["algorithm"] == "one-shot":
            w.update(sent=(p - 1) * x, flops=(p - 1) * x, steps=min(1, p - 1))
        elif op == "all-reduce":
            w.update(sent=2 * part, flops=part, steps=2 * (p - 1))
        elif op == "reduce-scatter":
            w.update(sent=part, flops=part, steps=p - 1, out=share)
        elif op == "all-gather":
            w.update(sent=part, steps=p - 1, activations=share)
        elif op == "all-to-all":
            w.update(sent=part, steps=min(1, p - 1))
        else:
            w.update(sent=x, steps=1)
            del w["out"]
    return w


def _bottleneck(memory, compute, network):
    """The largest; compute at equality with memory."""
    if "overlap" in BROKEN:
        return "memory", memory + (compute or 0) + (network or 0)
    name, longest = "memory", memory
    if compute is not None and compute >= longest:
        name, longest = "compute", compute
    if network is not None and network > longest:
        name, longest = "network", network
    return name, longest


def _spend(p, device):
    """The energy of an operator, and the time that a power cap demands (docs/formulas.md)."""
    per_flop = None if p["sparse"] else device.flop_energy.get(p["compute_precision"])
    known = device.byte_energy is not None and (per_flop is not None or p["flops"] == 0)
    p["dynamic"] = p["flops"] * (per_flop or 0) + p["bytes"] * device.byte_energy if known else None
    p["power"] = None
    if device.cap is not None:
        if not known or device.constant is None or device.cap <= device.constant:
            raise Refused("power")
        p["power"] = p["dynamic"] / (device.cap - device.constant)
        if p["power"] > p["time"] and "power" not in BROKEN:
            p["bottleneck"], p["time"] = "power", p["power"]
    p["energy"] = None if not known or device.constant is None else \
        p["dynamic"] + device.constant * p["time"]


def bound(op, dims, formats, device, sparse=False):
    """The prediction of one operator that is not a composite, in SI units; formats are resolved."""
    w = work(op, dims)
    by_role = dict.fromkeys(ROLES, Fraction(0))
    for role in ROLES:
        if role in w:
            by_role[role] = tensor_bytes(formats[role], *w[role],
                                         pruned=sparse and role == "weights")
            if "scales" in BROKEN:
                by_role[role] -= scale_bytes(formats[role], *w[role][1:])
    if "bias" in w:
        by_role["weights"] += tensor_bytes(formats["out"], w["bias"], 0, 0)
    by_role["out"] += w.get("bytes", 0)
    total = sum(by_role.values())
    if op in PRODUCTS:
        other = "kv" if op in ATTENTION + LATENT + CHOSEN + ["compressed-attention", "nsa"] else \
            "activations" if op in STATES else "weights"
        converted = device.weight_only if FORMATS[formats[other]].get("stored") else None
        plain = multiplied_at(formats["activations"], formats[other])
        plain = FORMATS[plain].get("unit", plain)
        if other == "weights" and formats[other] in GGUF:
            plain = device.faster("int8", device.faster("fp16", plain))
        asked = formats.get("compute") or converted or plain
        asked = FORMATS[asked].get("unit", asked)
        at, peak, sparse_peak = device.unit(asked, sparse)
        native = at == asked and peak is not None
    else:
        asked = at = "fp32"
        peak, sparse_peak = device.vector.get("fp32"), False
        native = peak is not None or w["flops"] == 0
    p = dict(op=op, flops=Fraction(w["flops"]), by_role=by_role, bytes=total, native=native,
             compute_precision=at, sparse=sparse_peak, peak=peak, intensity=w["flops"] / total,
             ridge=None if peak is None else peak / device.bandwidth)
    p["memory"] = total / device.bandwidth
    p["compute"] = Fraction(0) if w["flops"] == 0 else None if peak is None else w["flops"] / peak
    p["network"] = p["network_bytes"] = None
    if op in COLLECTIVES:
        alone = op != "send" and dims["devices"] == 1
        link, latency = (1, 0) if alone else device.joined(
            dims["within"], 2 if op == "send" else dims["devices"])
        row = FORMATS[formats["activations"]]
        p["network_bytes"] = Fraction(row["bits"], 8 * row["elements"]) * w["sent"]
        p["network"] = p["network_bytes"] / link + w["steps"] * latency
    p["bottleneck"], p["time"] = _bottleneck(p["memory"], p["compute"], p["network"])
    _spend(p, device)
    p["attainable"] = None if p["compute"] is None else p["flops"] / p["time"]
    p["fraction"] = None if peak is None else p["attainable"] / peak
    return p


def predict(op, dims, formats, device, sparse=False):
    """The prediction of an operator, composites too; formats are resolved, dims filled in."""
    if op != "attention":
        return bound(op, dims, formats, device, sparse)
    between = dict(formats, activations=formats["out"], out=formats["activations"])
    parts = [bound("attention-scores", dims, formats, device, sparse),
             bound("softmax", dims, between, device, sparse),
             bound("attention-values", dims, formats, device, sparse)]
    p = add_up([(1, part) for part in parts])
    p.update(compute_precision=parts[0]["compute_precision"], sparse=parts[0]["sparse"],
             native=all(part["native"] for part in parts), parts=parts, fraction=None)
    return p


def add_up(counted):
    """Totals of operators that run one after the other, each `count` times."""
    p = dict(op=None, by_role={role: sum(c * x["by_role"][role] for c, x in counted)
                               for role in ROLES}, peak=None, ridge=None)
    for key in ("flops", "bytes", "memory", "time"):
        p[key] = sum(c * x[key] for c, x in counted)
    for key in ("network_bytes", "network"):
        known = [c * x[key] for c, x in counted if x[key] is not None]
        p[key] = sum(known) if known else None
    for key in ("dynamic", "energy", "power"):
        p[key] = None if any(x[key] is None for _, x in counted) else \
            sum(c * x[key] for c, x in counted)
    unknown = any(x["compute"] is None for _, x in counted)
    p["compute"] = None if unknown else sum(c * x["compute"] for c, x in counted)
    share = {}
    for c, x in counted:
        share[x["bottleneck"]] = share.get(x["bottleneck"], 0) + c * x["time"]
    p["shares"] = share
    # A stage behind the one that encodes images has nothing to do.
    p["bottleneck"] = max(share, key=lambda name: share[name]) if share else None
    p["intensity"] = p["flops"] / p["bytes"] if p["bytes"] else None
    p["attainable"] = None if unknown or not p["time"] else p["flops"] / p["time"]
    return p


def check_compute(asked):
    compute = asked.get("compute")
    if compute in STORED and "unit" not in FORMATS[compute]:
        raise Refused("compute")


def ask(op, dims, asked, device, sparse=False):
    """A prediction from what the program is given."""
    dims = defaults(op, dims)
    formats = resolve(asked, "bf16" if op in QUANTIZING else "fp16")
    if op in STATES and not asked.get("kv"):
        formats["kv"] = "fp32"
    if op in QUANTIZING and not asked.get("out"):
        formats["out"] = "fp8_e4m3"
    elif op not in QUANTIZING and asked.get("out") in STORED:
        raise Refused("out")
    if asked.get("compute") and op not in PRODUCTS + ["attention"]:
        raise Refused("compute")
    check_compute(asked)
    if sparse and (op not in WITH_WEIGHTS or formats["weights"] not in PRUNED):
        raise Refused("sparse")
    return dims, formats, predict(op, dims, formats, device, sparse)
