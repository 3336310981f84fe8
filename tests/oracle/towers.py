# SPDX-License-Identifier: MIT
"""Encoders of images, written a second time from docs/formulas.md ("Images")."""
import math
from fractions import Fraction

# By the model_type of the whole model: norm, gated, biases of layers, patches and products, rotated
# heads, and how an image is scaled.
CLASSES = {
    "qwen2_vl": dict(norm="layernorm", bias=1, project_bias=1, rotated=1, pixels=(3136, 12845056)),
    "qwen2_5_vl": dict(norm="rmsnorm", gated=1, bias=1, project_bias=1, rotated=1,
                       pixels=(3136, 12845056)),
    "qwen3_vl": dict(norm="layernorm", bias=1, patch_bias=1, project_bias=1, rotated=1,
                     pixels=(65536, 16777216)),
    "gemma3": dict(norm="layernorm", bias=1, patch_bias=1, after=1, squares=1),
    "llama4": dict(norm="layernorm", bias=1, rotated=1, first=1, after=1, marker=1, squares=16),
    "mistral3": dict(norm="rmsnorm", gated=1, rotated=1, first=1),
}
CLASSES["qwen3_vl_moe"] = CLASSES["qwen3_5"] = CLASSES["qwen3_5_moe"] = CLASSES["qwen3_vl"]


class Tower:
    """The sizes of an encoder, and what it does with an image."""

    def __init__(self, config, hidden):
        kind, v = config["model_type"], config["vision_config"]
        c = CLASSES[kind]
        qwen = kind.startswith("qwen")
        second = kind == "qwen2_vl"
        self.norm, self.gated, self.squares = c["norm"], bool(c.get("gated")), c.get("squares", 0)
        self.bias, self.patch_bias, self.project_bias, self.rotated, self.first, self.after, self.marker = (
            c.get(key, 0) for key in
            "bias patch_bias project_bias rotated first after marker".split())
        self.pixels = c.get("pixels")
        self.layers = v["depth" if qwen else "num_hidden_layers"]
        self.hidden = v["embed_dim" if second else "hidden_size"]
        self.heads = v["num_heads" if qwen else "num_attention_heads"]
        self.inner = int(v.get("mlp_ratio", 4) * self.hidden) if second else v["intermediate_size"]
        self.patch = v.get("patch_size", 14 if kind in ("qwen2_vl", "qwen2_5_vl") else 16)
        channels = v.get("in_channels", v.get("in_chans", v.get("num_channels", 3)))
        self.inputs = channels * self.patch ** 2 * (v.get("temporal_patch_size", 2) if qwen else 1)
        self.merge = v.get("spatial_merge_size", config.get("spatial_merge_size", 2))
        self.side, self.window, self.whole, self.table, self.taps = v.get("image_size"), 0, 0, 0, 0
        if kind == "qwen2_5_vl":
            self.window = v.get("window_size", 112) // self.patch
            self.whole = len(v.get("fullatt_block_indexes", []))
        if qwen and c is CLASSES["qwen3_vl"]:
            self.table, self.taps = v.get("num_position_embeddings", 2304), len(
                v.get("deepstack_visual_indexes", []))
        if self.squares:
            self.table = (self.side // self.patch) ** 2 + self.marker
        wide = self.hidden * self.merge ** 2
        if qwen:
            out = v["hidden_size" if second else "out_hidden_size"]
            self.products = [(wide, wide, True), (wide, out, False)]
        elif kind == "gemma3":
            grid = self.side // self.patch
            self.merge = grid // math.isqrt(config.get("mm_tokens_per_image", 256))
            self.products = [(self.hidden, hidden, False)]
        elif kind == "llama4":
            self.merge = round(1 / v.get("pixel_shuffle_ratio", 0.5))
            one, two = v.get("projector_input_dim", 4096), v.get("projector_output_dim", 4096)
            self.products = [(self.hidden * self.merge ** 2, one, True), (one, two, True),
                             (two, hidden, False)]
        else:
            self.project_bias = int(config.get("multimodal_projector_bias", False))
            self.products = [(wide, self.hidden, False), (self.hidden, hidden, True),
                             (hidden, hidden, False)]
        # The norm before the products: of patches, or in Gemma of means of patches.
        self.pooled = kind == "gemma3"
        self.normed = kind != "llama4"

    def grid(self, width, height):
        """Squares of an image, and columns and rows of patches of each."""
        unit = self.patch * self.merge
        if self.squares:
            return self.cut(width, height), self.side // self.patch, self.side // self.patch
        if self.pixels:
            least, most = self.pixels
            sides = [max(1, round(Fraction(x, unit))) for x in (width, height)]
            size = sides[0] * sides[1] * unit ** 2
            if size > most:
                scale = math.sqrt(width * height / most)
                sides = [max(1, math.floor(x / scale / unit)) for x in (width, height)]
            elif size < least:
                scale = math.sqrt(least / (width * height))
                sides = [math.ceil(x * scale / unit) for x in (width, height)]
        else:
            scale = max(1, max(width, height) / self.side)
            sides = [max(1, math.ceil(math.floor(x / scale) / unit)) for x in (width, height)]
        return 1, sides[0] * self.merge, sides[1] * self.merge

    def cut(self, width, height):
        canvases = []
        for rows in range(1, self.squares + 1):
            for columns in range(1, self.squares // rows + 1):
                scale = min(Fraction(columns * self.side, width), Fraction(rows * self.side, height))
                canvases.append((scale < 1, scale if scale >= 1 else -scale, rows * columns))
        area = min(canvases)[2]
        return area + (area > 1)

    def tokens(self, width, height):
        squares, columns, rows = self.grid(width, height)
        return squares * (columns // self.merge) * (rows // self.merge)

    def rows(self, width, height):
        squares, columns, rows = self.grid(width, height)
        return squares * (columns * rows + self.marker)


def windows(tower, columns, rows):
    """The patches of the windows of a grid, by size in the order in which they come."""
    w, found = tower.window, {}
    for top in range(0, rows, w):
        for left in range(0, columns, w):
            size = (min(w, columns - left), min(w, rows - top))
            found[size] = found.get(size, 0) + 1
    return found


def add(graph, tower, images, size):
    """The operators of an encoder that is run for so many images on a device."""
    t, f = tower, graph.f
    tp = graph.s.tp if t.heads % graph.s.tp == 0 else 1
    squares, columns, rows = t.grid(*size)
    patches, tokens = images * squares * columns * rows, images * t.tokens(*size)
    n, h = images * t.rows(*size), t.hidden
    heads, inner = t.heads // tp, -(-t.inner // tp)
    head = h // t.heads

    def product(name, m, out, k, bias):
        graph.product(name, "vision", 0, m, out, k, bias)

    def norm(name, count, width, op):
        graph.normed(name, count, width, op)

    def attend(name, places, length):
        op = "attention" if graph.s.unfused else "flash-attention"
        from models import Node  # which reads this file
        graph.add(Node(name, op, dict(batch=places, heads=heads, kv_heads=heads, head_dim=head,
                                      query_len=length, kv_len=length),
                       graph.formats(f.weights, f.out, kv=f.out)))
    product("image_patches", patches, h, t.inputs, t.patch_bias)
    if t.table:
        graph.vector("image_positions", "add", dict(tokens=n, hidden=h),
                     resident=[(f.stored("norm"), (t.table + t.marker) * h, 0, 0)])
    if t.first:
        norm("image_norm", n, h, t.norm)
    graph.count = t.layers
    norm("image_attn_norm", n, h, t.norm)
    product("image_qkv_proj", n, 3 * heads * head, h, t.bias)
    if t.rotated:
        graph.vector("image_rope", "rope", dict(tokens=n, heads=heads, kv_heads=heads, head_dim=head))
    graph.count = t.whole if t.window else t.layers
    if graph.count:
        attend("image_attention", images * squares, columns * rows + t.marker)
    graph.count = t.layers - t.whole
    if t.window and graph.count:
        for (across, down), count in windows(t, columns, rows).items():
            name = "window" if (across, down) == (t.window, t.window) else "right" \
                if down == t.window else "low" if across == t.window else "corner"
            attend("image_attention_" + name, images * count, across * down)
    graph.count = t.layers
    product("image_o_proj", n, h, heads * head, t.bias)
    if tp > 1:
        graph.collective("image_attn_all_reduce", "all-reduce", n * h, tp, f.out)
    graph.vector("image_attn_add", "add", dict(tokens=n, hidden=h))
    norm("image_mlp_norm", n, h, t.norm)
    product("image_gate_up_proj" if t.gated else "image_up_proj", n, (1 + t.gated) * inner, h, t.bias)
    graph.vector("image_mlp_act", "silu-mul" if t.gated else "gelu", dict(tokens=n, hidden=inner))
    product("image_down_proj", n, h, inner, t.bias)
    if tp > 1:
        graph.collective("image_mlp_all_reduce", "all-reduce", n * h, tp, f.out)
    graph.vector("image_mlp_add", "add", dict(tokens=n, hidden=h))
    for name, count in (("tap", t.taps), ("project", 1)):
        graph.count = count
        if not count:
            continue
        if name == "tap":
            norm("image_tap_norm", tokens, t.products[0][0], t.norm)
        else:
            if t.after:
                norm("image_final_norm", n, h, t.norm)
            if t.normed:
                norm("image_project_norm", tokens if t.pooled else patches, h,
                     "rmsnorm" if t.pooled else t.norm)
        for i, (k, out, active) in enumerate(t.products):
            product(f"image_{name}_{i}", tokens, out, k, t.project_bias)
            if active:
                graph.vector(f"image_{name}_act_{i}", "gelu", dict(tokens=tokens, hidden=out))
    graph.count = 1


def config(random, text):
    """Puts a drawn config behind an encoder that nobody trained."""
    kind = random.choice(list(CLASSES))
    heads, merge = random.choice((2, 4, 6, 8)), random.choice((1, 2, 3))
    v = dict(hidden_size=heads * random.choice((32, 40, 64)), intermediate_size=random.randint(50, 900),
             patch_size=random.choice((8, 14, 16)))
    whole = dict(model_type=kind, text_config=text, vision_config=v)
    layers = random.randint(1, 9)
    if kind.startswith("qwen"):
        v.update(depth=layers, num_heads=heads, spatial_merge_size=merge,
                 out_hidden_size=text["hidden_size"])
        if kind == "qwen2_vl":
            v.update(embed_dim=v["hidden_size"], hidden_size=text["hidden_size"], mlp_ratio=3)
        if kind == "qwen2_5_vl":
            v.update(window_size=v["patch_size"] * merge * random.randint(1, 5),
                     fullatt_block_indexes=list(range(random.randint(0, layers))))
        if CLASSES[kind] is CLASSES["qwen3_vl"]:
            v.update(num_position_embeddings=random.randint(4, 90) ** 2,
                     deepstack_visual_indexes=list(range(random.randint(0, min(3, layers)))))
        return whole
    v.update(num_hidden_layers=layers, num_attention_heads=heads)
    merge = 2 if kind == "llama4" else merge
    across = random.randint(2, 12)
    v["image_size"] = v["patch_size"] * merge * across
    if kind == "gemma3":
        whole["mm_tokens_per_image"] = across ** 2
    elif kind == "llama4":
        v.update(projector_input_dim=random.randint(10, 500),
                 projector_output_dim=random.randint(10, 500))
    else:
        whole.update(spatial_merge_size=merge, multimodal_projector_bias=random.random() < 0.5)
    return whole
