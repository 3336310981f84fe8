# SPDX-License-Identifier: MIT
"""Encoders of images, written a second time from docs/formulas.md ("Images")."""
import math
from fractions import Fraction

import audio

# By the model_type of the whole model: norm, gated, biases of layers, patches and products, rotated
# heads, and how an image is scaled.
CLASSES = {
    "qwen2_vl": dict(norm="layernorm", bias=3, rotated=1, pixels=(3136, 12845056)),
    "qwen2_5_vl": dict(norm="rmsnorm", gated=1, bias=3, rotated=1, pixels=(3136, 12845056)),
    "qwen3_vl": dict(norm="layernorm", bias=3, patch_bias=1, rotated=1, pixels=(65536, 16777216)),
    "gemma3": dict(norm="layernorm", bias=3, patch_bias=1, after=1, squares=1),
    "gemma4": dict(norm="rmsnorm", gated=1, rotated=1, budget=280, posts=1, heads_normed=1),
    "mllama": dict(norm="layernorm", bias=2, first=1, after=1, marker=1, squares=4),
    "llama4": dict(norm="layernorm", bias=3, rotated=1, first=1, after=1, marker=1, squares=16),
    "mistral3": dict(norm="rmsnorm", gated=1, rotated=1, first=1),
    "llava": dict(norm="layernorm", bias=3, first=1, marker=1, squares=1),
    "glm4v": dict(norm="rmsnorm", gated=1, patch_bias=1, rotated=1, first=1, after=1,
                  pixels=(6272, 4816896)),
    "internvl": dict(bias=2, patch_bias=1, marker=1, tiles=12, scaled=1),
    "internvl_chat": dict(bias=2, patch_bias=1, marker=1, tiles=6, scaled=1),
    "kimi_vl": dict(norm="layernorm", bias=3, patch_bias=1, rotated=1, after=1, patches=4096),
    "kimi_k25": dict(norm="layernorm", bias=3, patch_bias=1, rotated=1, after=1, patches=16384),
    "kimi_k3": dict(norm="rmsnorm", rotated=1, after=1, patches=65536),
    "llava_next": dict(norm="layernorm", bias=3, first=1, marker=1),
    "cohere2_vision": dict(norm="layernorm", bias=3, patch_bias=1, after=1, squares=12),
    "minimax_m3_vl": dict(norm="layernorm", bias=3, rotated=1, first=1, pixels=(3136, 451584)),
}
CLASSES["qwen3_vl_moe"] = CLASSES["qwen3_5"] = CLASSES["qwen3_5_moe"] = CLASSES["qwen3_vl"]
CLASSES["glm4v_moe"] = CLASSES["glm4v"]
DEPTH = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "glm4v",
         "glm4v_moe")
FRAMES = DEPTH + ("minimax_m3_vl",)
PLAIN, GELU, GATED = 0, 1, 2


def held(config, hidden):
    """The parameters of an encoder whose shapes its config lacks, and of what embeds its results."""
    v = config.get("vision_config")
    if config.get("model_type") != "gemma3n" or not isinstance(v, dict):
        return 0
    wide = v.get("hidden_size", 2048)
    return 294126912 + wide * (v.get("vocab_size", 128) + 2) + wide * hidden


class Tower:
    """The sizes of an encoder, and what it does with an image."""

    def __init__(self, config, hidden):
        kind, v = config["model_type"], config["vision_config"]
        c = CLASSES[kind]
        depth, second = kind in DEPTH, kind == "qwen2_vl"
        self.kind, self.gated, self.squares = kind, bool(c.get("gated")), c.get("squares", 0)
        self.bias, self.patch_bias, self.rotated, self.first, self.after, self.marker = (
            c.get(key, 0) for key in "bias patch_bias rotated first after marker".split())
        self.posts, self.heads_normed, self.scaled = (
            c.get(key, 0) for key in "posts heads_normed scaled".split())
        self.pixels, self.patches, self.tiles = c.get("pixels"), c.get("patches"), c.get("tiles")

        def size(name, default=None):
            return v.get(name, v.get("vt_" + name, default))
        if kind == "mllama":  # what its class has where a config says nothing
            v = {**dict(num_hidden_layers=32, num_global_layers=8, hidden_size=1280, image_size=448,
                        num_attention_heads=v.get("attention_heads", 16), intermediate_size=5120,
                        max_num_tiles=4, vision_output_dim=7680), **v}
        self.layers = v["depth"] if depth else size("num_hidden_layers")
        self.hidden = v["embed_dim"] if second else size("hidden_size")
        self.heads = v["num_heads"] if depth else size("num_attention_heads")
        self.head = v.get("head_dim", self.hidden // self.heads) if kind == "gemma4" else \
            self.hidden // self.heads
        self.inner = int(v.get("mlp_ratio", 4) * self.hidden) if second else size("intermediate_size")
        self.patch = v.get("patch_size", 14 if kind != "qwen3_vl" else 16)
        channels = v.get("in_channels", v.get("in_chans", v.get("num_channels", 3)))
        self.inputs = channels * self.patch ** 2 * \
            (v.get("temporal_patch_size", 2) if kind in FRAMES else 1)
        self.merge = v.get("spatial_merge_size", config.get("spatial_merge_size", 2))
        self.norm, self.wide_norm = c.get("norm"), False
        self.side, self.window, self.whole, self.table, self.taps = v.get("image_size"), 0, 0, 0, 0
        self.skipped = self.unused = self.kept = self.post = 0
        self.canvases = []
        self.crossed, self.tiled, self.late, self.scalars = kind == "mllama", 0, 0, 0
        self.overview = True
        # Products: in, out, what follows, bias, of patches, norm between.
        self.products, self.normed = [], None
        getattr(self, "read_" + {"qwen2_5_vl": "qwen", "qwen2_vl": "qwen", "internvl_chat": "internvl",
                                 "kimi_k25": "kimi_vl", "glm4v_moe": "glm4v"}.get(
            kind, "qwen" if kind.startswith("qwen3") else kind))(config, v, hidden)

    def read_qwen(self, config, v, _):
        kind, wide = config["model_type"], self.hidden * self.merge ** 2
        out = v["hidden_size" if kind == "qwen2_vl" else "out_hidden_size"]
        self.products = [(wide, wide, GELU, True, False, False), (wide, out, PLAIN, True, False, False)]
        self.normed = ("patches", self.hidden, self.norm)
        if kind == "qwen2_5_vl":
            self.window = v.get("window_size", 112) // self.patch
            self.whole = len(v.get("fullatt_block_indexes", []))
        elif kind != "qwen2_vl":
            self.table, self.taps = v.get("num_position_embeddings", 2304), len(
                v.get("deepstack_visual_indexes", []))

    def read_gemma3(self, config, _, hidden):
        grid = self.side // self.patch
        self.merge, self.table = grid // math.isqrt(config.get("mm_tokens_per_image", 256)), grid ** 2
        self.products = [(self.hidden, hidden, PLAIN, False, False, False)]
        self.normed = ("tokens", self.hidden, "rmsnorm")

    def read_gemma4(self, _, v, hidden):
        self.merge, self.table = v.get("pooling_kernel_size", 3), 2 * v["position_embedding_size"]
        self.products = [(self.hidden, hidden, PLAIN, False, False, False)]
        self.normed = ("tokens", self.hidden, None)
        self.budget = 280 * self.merge ** 2

    def read_llama4(self, _, v, hidden):
        self.merge = round(1 / v.get("pixel_shuffle_ratio", 0.5))
        self.table = (self.side // self.patch) ** 2 + 1
        one, two = v.get("projector_input_dim", 4096), v.get("projector_output_dim", 4096)
        self.products = [(self.hidden * self.merge ** 2, one, GELU, False, False, False),
                         (one, two, GELU, False, False, False), (two, hidden, PLAIN, False, False, False)]

    def read_mllama(self, _, v, hidden):
        self.layers += v["num_global_layers"]
        self.squares, self.merge, self.kept = v["max_num_tiles"], 1, 1
        one, table = self.squares, (self.side // self.patch) ** 2 + 1
        canvases = sum(a * b <= one for a in range(1, one + 1) for b in range(1, one + 1))
        canvases = len(v.get("supported_aspect_ratios", range(canvases)))
        self.table, self.late = table, (canvases + 1) * one
        self.tiled, self.scalars = self.late * (table + 1), 3 + 2 * v["num_global_layers"]
        self.products = [(v["vision_output_dim"], hidden, PLAIN, True, False, False)]
        self.overview = False

    def read_mistral3(self, config, _, hidden):
        bias = bool(config.get("multimodal_projector_bias", False))
        self.products = [(self.hidden * self.merge ** 2, self.hidden, PLAIN, bias, False, False),
                         (self.hidden, hidden, GELU, bias, False, False),
                         (hidden, hidden, PLAIN, bias, False, False)]
        self.normed = ("patches", self.hidden, "rmsnorm")

    def read_llava(self, config, _, hidden):
        bias = config.get("multimodal_projector_bias", True)
        self.merge, self.table = 1, (self.side // self.patch) ** 2 + 1
        self.kept = int(config.get("vision_feature_select_strategy") == "full")
        self.unused = 2 * self.hidden
        self.skipped = -1 - config.get("vision_feature_layer", -2)
        self.layers -= self.skipped
        self.products = [(self.hidden, hidden, GELU, bias, False, False),
                         (hidden, hidden, PLAIN, bias, False, False)]

    def read_llava_next(self, config, v, hidden):
        self.read_llava({**config, "vision_feature_select_strategy": "default"}, v, hidden)
        self.products = [(k, out, act, bias, True, False) for k, out, act, bias, _, _ in self.products]
        self.unused += hidden
        self.canvases = [(x // self.side, y // self.side) for y, x in config["image_grid_pinpoints"]]

    def read_cohere2_vision(self, config, v, hidden):
        h, i, self.merge = self.hidden, self.inner, config.get("downsample_factor", 2)
        wide, self.table = config.get("alignment_intermediate_size", 36864) // 2, \
            (self.side // self.patch) ** 2
        if v.get("vision_use_head", True):  # a query, attention, a norm and an MLP
            self.unused = h + 4 * h * (h + 1) + 2 * h + i * (h + 1) + h * (i + 1)
        self.products = [(h * self.merge ** 2, wide, GATED, True, False, False),
                         (wide, hidden, PLAIN, True, False, False)]

    def read_glm4v(self, _, v, __):
        out, inner = v["out_hidden_size"], self.inner
        self.inner, self.table = out, (v.get("image_size", 336) // self.patch) ** 2
        self.bias = 1 if v.get("attention_bias") else 0
        self.products = [(self.hidden * self.merge ** 2, out, PLAIN, True, False, False),
                         (out, out, GELU, False, False, True), (out, inner, GATED, False, False, False),
                         (inner, out, PLAIN, False, False, False)]

    def read_internvl(self, config, v, hidden):
        chat = config["model_type"] == "internvl_chat"
        self.table = (self.side // self.patch) ** 2 + 1
        self.merge = round(1 / config.get("downsample_ratio", 0.5))
        self.bias = 2 + int(v.get("qkv_bias" if chat else "attention_bias", False))
        self.wide_norm = v.get("qk_normalization", True) if chat else v.get("use_qk_norm", False)
        self.norm = v.get("norm_type", "rms_norm" if chat else "layer_norm").replace("_", "")
        self.norm = {"rmsnorm": "rmsnorm", "layernorm": "layernorm"}[self.norm]
        if chat:
            cut = config.get("dynamic_image_size", False)
            self.tiles = config.get("max_dynamic_patch", 6) if cut else 1
            self.overview = config.get("use_thumbnail", False)
        wide = self.hidden * self.merge ** 2
        self.products = [(wide, hidden, GELU, True, False, False),
                         (hidden, hidden, PLAIN, True, False, False)]
        self.normed = ("tokens", wide, "layernorm")

    def read_kimi_vl(self, _, v, hidden):
        self.merge, self.side = v["merge_kernel_size"][0], 512 * self.patch
        self.table = v["init_pos_emb_height"] * v["init_pos_emb_width"]
        wide = self.hidden * self.merge ** 2
        self.products = [(wide, wide, GELU, True, False, False),
                         (wide, hidden, PLAIN, True, False, False)]
        self.normed = ("patches", self.hidden, "layernorm")

    def read_kimi_k3(self, config, v, hidden):
        self.read_kimi_vl(config, v, hidden)
        self.bias, self.patch_bias = 3 * v.get("linear_bias", False), v.get("patch_embed_proj_bias", False)
        self.head, self.normed = v.get("qkv_hidden_size", 1536) // self.heads, None
        self.products = [(k, out, act, False, False, False) for k, out, act, *_ in self.products]
        self.post = hidden

    def read_minimax_m3_vl(self, config, _, hidden):
        wide = config.get("projector_hidden_size", 6144)
        self.products = [(self.hidden, wide, GELU, True, True, False),
                         (wide, hidden, PLAIN, True, True, False),
                         (hidden * self.merge ** 2, wide, GELU, True, False, False),
                         (wide, hidden, PLAIN, True, False, False)]

    def grid(self, width, height):
        """Squares of an image, and columns and rows of patches of each."""
        unit = self.patch * self.merge
        if self.canvases:
            columns, rows = self.canvas(width, height)
            return columns * rows + 1, self.side // self.patch, self.side // self.patch
        if self.squares or self.tiles:
            count = self.cut(width, height) if self.squares else self.cut_by_aspect(width, height)
            return count, self.side // self.patch, self.side // self.patch
        if self.kind == "gemma4":
            sides = self.within_budget(width, height, unit)
        elif self.patches:
            count = max(1, width // self.patch) * max(1, height // self.patch)
            scale = min(1.0, math.sqrt(self.patches / count), self.side / width, self.side / height)
            sides = [math.ceil(max(1, int(x * scale)) / unit) for x in (width, height)]
        elif self.pixels:
            sides = self.within_pixels(width, height, unit)
        else:
            scale = max(1, max(width, height) / self.side)
            sides = [max(1, math.ceil(math.floor(x / scale) / unit)) for x in (width, height)]
        return 1, sides[0] * self.merge, sides[1] * self.merge

    def within_pixels(self, width, height, unit):
        least, most = self.pixels
        if self.kind.startswith("glm4v") and min(width, height) < unit:
            scale = max(unit / width, unit / height)
            width, height = int(width * scale), int(height * scale)
        sides = [max(1, round(Fraction(x, unit))) for x in (width, height)]
        size = sides[0] * sides[1] * unit ** 2
        if size > most:
            scale = math.sqrt(width * height / most)
            sides = [max(1, math.floor(x / scale / unit)) for x in (width, height)]
        elif size < least:
            scale = math.sqrt(least / (width * height))
            sides = [math.ceil(x * scale / unit) for x in (width, height)]
        return sides

    def within_budget(self, width, height, unit):
        scale = math.sqrt(self.budget * self.patch ** 2 / (width * height))
        columns, rows = (math.floor(scale * x / unit) for x in (width, height))
        most = self.budget // self.merge ** 2
        if not rows:
            rows, columns = 1, min(width // height, most)
        elif not columns:
            rows, columns = min(height // width, most), 1
        return max(1, columns), max(1, rows)

    def cut_by_aspect(self, width, height):
        """The closest ratio of sides; of equally close ones the largest that more than half of the
        pixels fill."""
        best, off = 1, math.inf
        for area in range(1, self.tiles + 1):
            for columns in (x for x in range(1, area + 1) if area % x == 0):
                this = abs(width / height - columns / (area // columns))
                if this < off or this == off and width * height > 0.5 * self.side ** 2 * area:
                    best, off = area, this
        return best + (best > 1 and self.overview)

    def cut(self, width, height):
        canvases = []
        for rows in range(1, self.squares + 1):
            for columns in range(1, self.squares // rows + 1):
                scale = min(Fraction(columns * self.side, width), Fraction(rows * self.side, height))
                canvases.append((scale < 1, scale if scale >= 1 else -scale, rows * columns))
        area = min(canvases)[2]
        return area + (area > 1 and self.overview)

    def canvas(self, width, height):
        """The canvas that keeps most pixels, and of such the smallest; the first of several."""
        def quality(canvas):
            scale = min(canvas[0] * self.side / width, canvas[1] * self.side / height)
            kept = min(int(width * scale) * int(height * scale), width * height)
            return -kept, canvas[0] * canvas[1] * self.side ** 2 - kept
        return min(self.canvases, key=quality)

    def tokens(self, width, height):
        squares, columns, rows = self.grid(width, height)
        if self.canvases:  # what the image fills, a token at the end of each line, and all of it
            wide, high = (x * columns for x in self.canvas(width, height))
            if width / height > wide / high:
                high -= (high - int(round(height * (wide / width), 7))) // 2 * 2
            else:
                wide -= (wide - int(round(width * (high / height), 7))) // 2 * 2
            return columns * rows + high * (wide + 1)
        return squares * ((columns // self.merge) * (rows // self.merge) + self.kept)

    def widest(self, width, height):
        """Elements of the largest tensor that a product of one image has."""
        return self.rows(width, height) * max(
            3 * self.hidden, 2 * self.inner, self.inputs, 3 * self.heads * self.head,
            *(x[0] for x in self.products), *(x[1] * (2 if x[2] == GATED else 1) for x in self.products))

    def placed(self, width, height):
        """Patches and class tokens of all squares that the encoder works on, full or not."""
        squares, columns, rows = self.grid(width, height)
        return (self.squares if self.crossed else squares) * (columns * rows + self.marker)

    def rows(self, width, height):
        """The same in the layers, where the squares of some are filled up."""
        one = self.placed(width, height)
        return self.squares * 8 * -(-one // self.squares // 8) if self.crossed else one


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
    squares = t.squares if t.crossed else squares
    patches, tokens = images * squares * columns * rows, images * t.tokens(*size)
    placed = images * t.placed(*size)
    n, h = images * t.rows(*size), t.hidden
    heads, inner, head = t.heads // tp, -(-t.inner // tp), t.head
    from models import Node  # which reads this file

    def product(name, m, out, k, bias):
        graph.product(name, "vision", 0, m, out, k, bias)

    def norm(name, count, width, op):
        if op:
            graph.normed(name, count, width, op)
        else:
            graph.vector(name, "rmsnorm", dict(tokens=count, hidden=width, gain=0))

    def attend(name, places, length):
        op = "attention" if graph.s.unfused else "flash-attention"
        graph.add(Node(name, op, dict(batch=places, heads=heads, kv_heads=heads, head_dim=head,
                                      query_len=length, kv_len=length),
                       graph.formats(f.weights, f.out, kv=f.out)))

    def end(name, post):
        if t.posts:
            norm(post, n, h, t.norm)
        graph.vector(name, "add", dict(tokens=n, hidden=h),
                     resident=[(f.stored("norm"), h, 0, 0)] if t.scaled else [])

    product("image_patches", patches, h, t.inputs, t.patch_bias)
    if t.table:
        graph.vector("image_positions", "add", dict(tokens=placed, hidden=h),
                     resident=[(f.stored("norm"), (t.table + t.marker) * h, 0, 0)])
    if t.tiled:
        graph.vector("image_tiles", "add", dict(tokens=placed, hidden=h),
                     resident=[(f.stored("norm"), t.tiled * h + t.scalars, 0, 0)])
    if t.first:
        norm("image_norm", placed, h, t.norm)
    before = set(graph.nodes)
    graph.count = t.layers
    norm("image_attn_norm", n, h, t.norm)
    product("image_qkv_proj", n, 3 * heads * head, h, t.bias & 1)
    if t.wide_norm or t.heads_normed:
        wide = heads * head if t.wide_norm else head
        norm("image_q_norm", n * heads * head // wide, wide, "rmsnorm")
        norm("image_k_norm", n * heads * head // wide, wide, "rmsnorm")
    if t.heads_normed:
        norm("image_v_norm", n * heads, head, None)
    if t.rotated:
        graph.vector("image_rope", "rope", dict(tokens=n, heads=heads, kv_heads=heads, head_dim=head))
    graph.count = t.whole if t.window else t.layers
    if graph.count and t.crossed:
        attend("image_attention", images, n // images)
    elif graph.count:
        attend("image_attention", images * squares, columns * rows + t.marker)
    graph.count = t.layers - t.whole
    if t.window and graph.count:
        for (across, down), count in windows(t, columns, rows).items():
            name = "window" if (across, down) == (t.window, t.window) else "right" \
                if down == t.window else "low" if across == t.window else "corner"
            attend("image_attention_" + name, images * count, across * down)
    graph.count = t.layers
    product("image_o_proj", n, h, heads * head, t.bias & 2 and not t.crossed)
    if tp > 1:
        graph.collective("image_attn_all_reduce", "all-reduce", n * h, tp, f.out)
    end("image_attn_add", "image_attn_post_norm")
    norm("image_mlp_norm", n, h, t.norm)
    product("image_gate_up_proj" if t.gated else "image_up_proj", n, (1 + t.gated) * inner, h,
            t.bias & 2)
    graph.vector("image_mlp_act", "silu-mul" if t.gated else "gelu", dict(tokens=n, hidden=inner))
    product("image_down_proj", n, h, inner, t.bias & 2)
    if tp > 1:
        graph.collective("image_mlp_all_reduce", "all-reduce", n * h, tp, f.out)
    end("image_mlp_add", "image_mlp_post_norm")
    layer = [node for node in graph.nodes if node not in before]
    for name, count in (("tap", t.taps), ("project", 1)):
        graph.count = count
        if not count:
            continue
        if name == "tap":
            norm("image_tap_norm", tokens, t.products[0][0], t.norm)
        else:
            if t.after:
                norm("image_final_norm", n, h, t.norm)
            if t.late:
                graph.vector("image_late_tiles", "add", dict(tokens=n, hidden=h),
                             resident=[(f.stored("norm"), t.late * h, 0, 0)])
            if t.normed:
                of, width, op = t.normed
                norm("image_project_norm", tokens if of == "tokens" else patches, width, op)
        for i, (k, out, act, bias, of_patches, between) in enumerate(t.products):
            count = patches if of_patches else tokens
            product(f"image_{name}_{i}", count, out * (1 + (act == GATED)), k, bias)
            if between:
                norm(f"image_{name}_norm_{i}", count, out, "layernorm")
            if act:
                graph.vector(f"image_{name}_act_{i}", "silu-mul" if act == GATED else "gelu",
                             dict(tokens=count, hidden=out))
        if name == "project" and t.post:
            norm("image_project_post_norm", tokens, t.post, "rmsnorm")
    graph.count = 1
    return leave_idle(t, layer, f.stored("norm"))


def leave_idle(t, layer, vectors):
    """What no token passes: as many layers more, and a norm."""
    from models import Node
    idle = {}
    for node in layer if t.skipped else []:
        idle[Node(node.name, node.op, node.dims, node.formats, node.resident)] = t.skipped
    if t.unused:
        held = [(vectors, t.unused, 0, 0)]
        like = layer[0]
        idle[Node("image_unused", like.op, like.dims, like.formats, held)] = 1
    return idle


def config(random, text, kind=None):
    """Puts a drawn config behind an encoder that nobody trained."""
    plain = text["model_type"] in ("llama", "mistral", "qwen3")
    crossed = text["model_type"] == "mllama_text_model"
    kind = "mllama" if crossed else kind or random.choice(
        [x for x in CLASSES if x != "mllama" and (plain or not x.startswith("minimax"))])
    heads, merge = random.choice((2, 4, 6, 8)), random.choice((1, 2, 3))
    v = dict(hidden_size=heads * random.choice((32, 40, 64)), intermediate_size=random.randint(50, 900),
             patch_size=random.choice((8, 14, 16)))
    whole = dict(model_type=kind, text_config=text, vision_config=v)
    layers = random.randint(1, 9)
    if kind in DEPTH:
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
        if kind.startswith("glm4v"):
            v.update(image_size=v["patch_size"] * random.randint(2, 30),
                     attention_bias=random.random() < 0.5)
        return whole
    v.update(num_hidden_layers=layers, num_attention_heads=heads)
    merge = 2 if kind in ("llama4", "internvl", "internvl_chat") else merge
    across = random.randint(2, 12)
    v["image_size"] = v["patch_size"] * merge * across
    if kind == "mllama":
        v.update(num_global_layers=random.randint(1, 4), max_num_tiles=random.choice((1, 2, 4, 6)),
                 intermediate_layers_indices=list(range(random.randint(0, layers))))
        v["vision_output_dim"] = v["hidden_size"] * (1 + len(v["intermediate_layers_indices"]))
        if random.random() < 0.5:
            v["attention_heads"] = v.pop("num_attention_heads")
        if random.random() < 0.3:
            v["supported_aspect_ratios"] = [[1, 1]] * random.randint(1, 9)
    elif kind == "gemma3":
        whole["mm_tokens_per_image"] = across ** 2
    elif kind == "gemma4":
        if random.random() < 0.5:
            whole["audio_config"] = audio.config(random, kind)
        v.update(head_dim=random.choice((32, 64, 72)), num_key_value_heads=heads,
                 pooling_kernel_size=merge, position_embedding_size=random.randint(10, 900))
    elif kind == "llama4":
        v.update(projector_input_dim=random.randint(10, 500),
                 projector_output_dim=random.randint(10, 500))
    elif kind == "cohere2_vision":
        whole.update(downsample_factor=merge, alignment_intermediate_size=2 * random.randint(10, 500))
        if random.random() < 0.5:
            v["vision_use_head"] = random.random() < 0.5
    elif kind.startswith("llava"):
        if kind == "llava_next":
            whole["image_grid_pinpoints"] = [[v["image_size"] * random.randint(1, 3) for _ in "yx"]
                                             for _ in range(random.randint(1, 6))]
        text.setdefault("num_key_value_heads", text.get("num_attention_heads", text.get("num_heads")))
        whole.update(vision_feature_layer=-random.randint(1, layers),
                     vision_feature_select_strategy=random.choice(("default", "full"))
                     if kind == "llava" else "default",
                     multimodal_projector_bias=random.random() < 0.5)
    elif kind == "internvl":
        v.update(attention_bias=random.random() < 0.5, use_qk_norm=random.random() < 0.5,
                 norm_type=random.choice(("layer_norm", "rms_norm")))
    elif kind == "internvl_chat":
        v.update(qkv_bias=random.random() < 0.5, qk_normalization=random.random() < 0.5,
                 norm_type=random.choice(("layer_norm", "rms_norm")))
        whole.update(dynamic_image_size=random.random() < 0.8, use_thumbnail=random.random() < 0.8,
                     max_dynamic_patch=random.randint(1, 14))
    elif kind.startswith("kimi"):
        v.update(merge_kernel_size=[merge, merge], init_pos_emb_height=random.randint(2, 70),
                 init_pos_emb_width=random.randint(2, 70))
        if kind == "kimi_k3":
            bias = random.random() < 0.5
            v.update(qkv_hidden_size=heads * random.choice((32, 64)), attn_bias=bias, linear_bias=bias,
                     patch_embed_proj_bias=random.random() < 0.5)
        if random.random() < 0.5:
            for key in "hidden_size intermediate_size num_hidden_layers num_attention_heads".split():
                v["vt_" + key] = v.pop(key)
    elif kind.startswith("minimax"):
        v.update(spatial_merge_size=merge)
        whole["projector_hidden_size"] = random.randint(10, 500)
    else:
        whole.update(spatial_merge_size=merge, multimodal_projector_bias=random.random() < 0.5)
    return whole
