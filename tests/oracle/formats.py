# SPDX-License-Identifier: MIT
"""Number formats: what a block of each holds, from the definitions of the formats, and the rules
of docs/formulas.md ("Bytes of a tensor", "Formats"). Exact: integers and fractions.
"""
import re
from fractions import Fraction

# What a self-test breaks, to see that the comparison finds it (oracle.py --self-test).
BROKEN = set()


class Refused(Exception):
    """The case is not valid."""


def _float(bits, fallbacks, stored=None):
    return dict(elements=1, bits=stored or bits, width=bits, fallbacks=fallbacks)


_16 = "bf16 fp16 fp32"
_INT = "fp16 bf16 fp32"


def _block(elements, width, other_bits, fallbacks=_16, tensor=0):
    """`other_bits` are those of scales and other fields in a block."""
    return dict(elements=elements, bits=elements * width + other_bits, width=width,
                fallbacks=fallbacks, tensor=tensor)


def _stored(elements, width, other_bits, tensor=0, payload=None):
    """A format of weights alone: kernels multiply it at the activations' format. `payload` is the
    bits of all elements where codes do not have `width` bits each."""
    row = _block(elements, width, other_bits, tensor=tensor)
    if payload is not None:
        row["bits"] = payload + other_bits
    row["stored"] = True
    return row


FORMATS = {
    "fp64": _float(64, ""),
    "fp32": _float(32, "fp64"),
    "tf32": _float(19, "fp32", stored=32),
    "bf16": _float(16, "fp32 fp16"),
    "fp16": _float(16, "fp32 bf16"),
    "fp8_e4m3": _float(8, _16),
    "fp8_e5m2": _float(8, _16),
    "int8": _float(8, _INT),
    "int4": _float(4, "int8 " + _INT),
    "int2": _float(2, "int4 int8 " + _INT),
    # OCP MX: 32 elements share 8 bits.
    "mxfp8_e4m3": _block(32, 8, 8),
    "mxfp8_e5m2": _block(32, 8, 8),
    "mxfp6_e3m2": _block(32, 6, 8),
    "mxfp6_e2m3": _block(32, 6, 8),
    "mxfp4": _block(32, 4, 8),
    "mxint8": _block(32, 8, 8),
    "nvfp4": _block(16, 4, 8, tensor=4),
    # bitsandbytes: a maximum per 64; doubly quantised: 8 bits each, and 32 per 256 of them.
    "nf4": _stored(64, 4, 16),
    "nf4_fp32": _stored(64, 4, 32),
    "nf4_dq": _stored(64 * 256, 4, 256 * 8 + 32, tensor=4),
    "fp4_bnb": _stored(64, 4, 32),
    # AWQ, GPTQ: a 16-bit scale per group, and with _zp a 4-bit zero point.
    "int4_g128": _stored(128, 4, 16),
    "int4_g128_zp": _stored(128, 4, 20),
    "int4_g64_zp": _stored(64, 4, 20),
    "int4_g32_zp": _stored(32, 4, 20),
    "int8_channel": dict(elements=1, bits=8, width=8, fallbacks=_INT, channel=4, unit="int8"),
    "fp8_block128": dict(_stored(128 * 128, 8, 32), pair="fp8_e4m3", unit="fp8_e4m3"),
    # GGUF: blocks of 32, super-blocks of 256 with scales of sub-blocks.
    "q1_0": _stored(128, 1, 16),
    "q2_0": _stored(64, 2, 16),
    "q4_0": _stored(32, 4, 16),
    "q4_1": _stored(32, 4, 32),
    "q5_0": _stored(32, 5, 16),
    "q5_1": _stored(32, 5, 32),
    "q8_0": _stored(32, 8, 16),
    "q8_1": _stored(32, 8, 32),
    "q2_k": _stored(256, 2, 32 + 16 * 8),
    "q3_k": _stored(256, 3, 16 + 16 * 6),
    "q4_k": _stored(256, 4, 32 + 8 * 12),
    "q5_k": _stored(256, 5, 32 + 8 * 12),
    "q6_k": _stored(256, 6, 16 + 16 * 8),
    "q8_k": _stored(256, 8, 32 + 16 * 16),
    # Code books: 8 or 4 weights per index, signs and scales beside it.
    "iq1_s": _stored(256, 1, 16, payload=32 * 8 + 8 * 16),
    "iq1_m": _stored(256, 1, 0, payload=32 * 8 + 16 * 8 + 8 * 8),
    "iq2_xxs": _stored(256, 2, 16, payload=32 * 16),
    "iq2_xs": _stored(256, 2, 16, payload=32 * 16 + 16 * 4),
    "iq2_s": _stored(256, 2, 16, payload=32 * 8 + 32 * 8 + 8 * 8 + 16 * 4),
    "iq3_xxs": _stored(256, 3, 16, payload=64 * 8 + 8 * 32),
    "iq3_s": _stored(256, 3, 16, payload=64 * 8 + 64 + 256 + 8 * 4),
    "iq4_nl": _stored(32, 4, 16),
    "iq4_xs": _stored(256, 4, 16 + 8 * 6),
    "tq1_0": _stored(256, 2, 16, payload=48 * 8 + 4 * 8),
    "tq2_0": _stored(256, 2, 16),
    "int4_g64": _stored(64, 4, 16),
    "int4_g32": _stored(32, 4, 16),
}
ALIASES = {"fp8": "fp8_e4m3", "mxfp8": "mxfp8_e4m3", "mxfp6": "mxfp6_e3m2", "awq": "int4_g128_zp",
           "gptq": "int4_g128"}
NAMES = list(FORMATS)
STORED = [name for name in NAMES if FORMATS[name].get("stored")]
GGUF = [name for name in STORED if re.match(r"[it]?q\d_", name)]
MULTIPLIED = [name for name in NAMES if name not in STORED]


def scale_bytes(name, tensors, channels):
    row = FORMATS[name]
    return row.get("tensor", 0) * tensors + row.get("channel", 0) * channels


# Weights in these are stored with two of four pruned where that is asked for.
PRUNED = "bf16 fp16 fp8_e4m3 fp8_e5m2 int8 int8_channel fp8_block128".split()


def tensor_bytes(name, elements, tensors=1, channels=1, pruned=False):
    row = FORMATS[name]
    bits = row["bits"]
    if pruned and "pruned" not in BROKEN:
        # Of four values two stay, each with two bits that say which of the four it is.
        bits -= row["elements"] * row["width"]
        bits += Fraction(row["elements"], 4) * (2 * row["width"] + 2 * 2)
    return Fraction(bits) / (8 * row["elements"]) * elements + scale_bytes(name, tensors, channels)


def wider(one, other):
    """At equal width the first."""
    return other if FORMATS[other]["width"] > FORMATS[one]["width"] else one


def larger(one, other):
    """The one that stores more bits per element, scales included; at equal size the first."""
    def bits(name):
        return Fraction(FORMATS[name]["bits"], FORMATS[name]["elements"])
    return other if bits(other) > bits(one) else one


def pair(name):
    """The activations that --precision gives to weights."""
    row = FORMATS[name]
    return row.get("pair", "fp16") if row.get("stored") else name


def kept(activations):
    """What --out and --kv default to."""
    return activations if FORMATS[activations]["width"] >= 16 else "bf16"


def resolve(asked, reads="fp16"):
    """All formats of an operator from those that were said. `reads` is what the activations are
    where nothing says so."""
    def multiplied(role):
        if asked.get(role) in STORED:
            raise Refused(f"{role} {asked[role]}")
    said = asked.get("precision")
    weights = asked.get("weights") or said or "fp16"
    activations = asked.get("activations") or (pair(said) if said else reads)
    multiplied("activations")
    out = asked.get("out") or kept(activations)
    kv = asked.get("kv") or kept(activations)
    return dict(weights=weights, activations=activations, out=out, kv=kv,
                compute=asked.get("compute"))


def multiplied_at(activations, other):
    """The format of the unit that multiplies two formats."""
    at = activations if FORMATS[other].get("stored") else wider(activations, other)
    return FORMATS[at].get("unit", at)
