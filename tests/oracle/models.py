# SPDX-License-Identifier: MIT
"""Models, written a second time from docs/formulas.md ("Models") and docs/formats.md ("Model
files", "Layouts"): from a config.json and a scenario to operators, totals, memory and rates.
"""
import json
import math
import os
from fractions import Fraction

import audio
import operators
import towers
from formats import BROKEN, FORMATS, PRUNED, Refused, STORED, kept, larger, pair, tensor_bytes

# What the classes of the transformers library do that their configs do not say.
_NEOX = dict(qkv_bias=1, o_bias=1, mlp_bias=1, layernorm=1, ungated=1)
FAMILIES = {
    "llama": {}, "mistral": {}, "mixtral": {}, "phi3": {}, "internlm2": {}, "granite": {},
    "smollm3": dict(tied=1), "ernie4_5": dict(tied=1), "cohere": dict(tied=1, parallel=1),
    "starcoder2": dict(_NEOX, tied=1), "olmoe": dict(wide_norm=1), "hunyuan_v1_dense": dict(qk_norm=1),
    "glm4_moe": dict(router_bias=1), "mimo_v2": dict(router_bias=1),
    "qwen3_5_text": dict(qk_norm=1, shared_gate=1, query_gate=1, state="gated-delta", quarter=1),
    "qwen2": dict(qkv_bias=1, window_asked=1),
    "qwen2_moe": dict(qkv_bias=1, window_asked=1, shared_gate=1),
    "qwen3": dict(qk_norm=1, window_asked=1), "qwen3_moe": dict(qk_norm=1, window_asked=1),
    "gemma": dict(tied=1), "gemma2": dict(tied=1, post_norms=1, pattern=2),
    "gemma3": dict(tied=1, post_norms=1, qk_norm=1, pattern=6),
    "gemma3_text": dict(tied=1, post_norms=1, qk_norm=1, pattern=6),
    "phi": dict(_NEOX, parallel=1, head_bias=1), "gpt_neox": dict(_NEOX, parallel=1),
    "gpt2": dict(_NEOX, tied=1, learned=1), "opt": dict(_NEOX, tied=1, learned=1, more_rows=2),
    "gpt_oss": dict(qkv_bias=1, o_bias=1, sinks=1, expert_bias=1, router_bias=1, pattern=2),
    "deepseek_v2": {}, "deepseek_v3": dict(router_bias=1),
    "deepseek_v32": dict(router_bias=1), "glm_moe_dsa": dict(router_bias=1),
    "glm4v_moe_text": dict(qkv_bias=1, router_bias=1), "glm4v_text": dict(qkv_bias=1, post_norms=1),
    "longcat_flash": dict(router_bias=1, zero=256),
    "kimi_k2": dict(router_bias=1), "glm4_moe_lite": dict(router_bias=1),
    "hunyuan_v1_moe": dict(qk_norm=1),
    "laguna": dict(qk_norm=1, router_bias=1),
    "deepseek_v4": dict(router_bias=1, sinks=1),
    "gemma4_text": dict(tied=1, post_norms=1, qk_norm=1, router_bias=1, pattern=6),
    "gemma3n_text": dict(tied=1, post_norms=1, qk_norm=1, pattern=5),
    "mimo_v2_flash": dict(router_bias=1),
    "olmo2": dict(wide_norm=1, post_only=1), "olmo3": dict(wide_norm=1, post_only=1, pattern=4),
    "minimax_m2": dict(wide_norm=1, router_bias=1),
    "minimax_m3": dict(qk_norm=1, router_bias=1), "minimax_m3_vl": dict(qk_norm=1, router_bias=1),
    "cohere2": dict(tied=1, parallel=1, pattern=4), "glm4": dict(post_norms=1),
    "ernie4_5_moe": dict(tied=1, router_bias=1),
    "qwen3_next": dict(qk_norm=1, shared_gate=1, query_gate=1, state="gated-delta", quarter=1),
    "qwen3_5_moe_text": dict(qk_norm=1, shared_gate=1, query_gate=1, state="gated-delta", quarter=1),
    "kimi_linear": dict(router_bias=1, state="kimi-delta"),
    "kimi_k3": dict(router_bias=1, state="kimi-delta"),
    "nemotron_h": dict(ungated=1, router_bias=1, state="ssd", no_rope=1),
    "mllama_text_model": {}, "nsa": {},
    "llama4": dict(qk_norm=1, chunked=1), "llama4_text": dict(qk_norm=1, chunked=1),
    "granitemoehybrid": dict(state="ssd", no_rope=1), "falcon_h1": dict(state="ssd", beside=1),
    "minimax": dict(state="lightning"), "minimax_m1": dict(state="lightning"),
    "jamba": dict(state="selective-scan", no_rope=1, kv_heads=8),
}
# 8 bits and, for the 128 elements of a published key, 4 bytes of scale.
INDEX_KEYS = "mxfp8_e4m3"
GROUPS = {"attention": "q k v o q_a q_b kv_a kv_b index mixer_in mixer_out".split(), "mlp": "gate up down".split(),
           "experts": "expert_gate expert_up expert_down".split(),
           "shared": "shared_gate shared_up shared_down".split()}
GROUPED = [name for group in GROUPS.values() for name in group]
# Small matrices, and the larger ones whose format they have where a source does not name them.
SMALL = {"mixer_low": "mixer_in", "latent_in": "shared_up", "latent_out": "shared_down",
         "per_layer_in": "up", "per_layer_out": "down"}
LINEAR = GROUPED + list(SMALL)
CLASSES = ["embedding", "norm", "router", "lm_head", "compress", "vision"] + LINEAR
GROUPS["linear"] = GROUPED
WIDE = ("embedding", "norm", "router", "lm_head", "compress", "vision")


def spread(assignments):
    """A format or rule of each class; narrower names win over wider ones."""
    result = {}
    order = sorted(assignments, key=lambda name: -len(GROUPS.get(name, (name,))))
    for name in order:
        for one in GROUPS.get(name, (name,)):
            result[one] = assignments[name]
    return result


# What is asked of images and audio.
MEDIA = ("images", "image_size", "audio", "audio_length_s")
# Lists with a number for each layer, all alike.
EQUAL = ("moe_intermediate_size", "intermediate_size", "moe_topk", "num_shared_expert")


def every_layer(frequency, i):
    """Whether layer i has experts: a number for each layer, or every n-th."""
    return frequency[i] == 1 if isinstance(frequency, list) else i % frequency == 0


class Model:
    """Sizes and parts; `layers` has for each layer (windowed, with experts, with a state, with
    attention, with an MLP)."""

    def __init__(self, config, name):
        text = config.get("text_config", config.get("llm_config", config))
        kind = text.get("model_type", config.get("model_type"))
        if config.get("model_type", "").startswith("minimax_m3"):
            kind = config["model_type"]  # which names an older class inside
        family = FAMILIES[kind]

        def get(*keys, default=None):
            for key in keys:
                value = text.get(key, config.get(key))
                if value is not None:
                    same = isinstance(value, list) and key in EQUAL
                    return value[0] if same and len(set(value)) == 1 else value
            return default

        def flag(key, part):
            every = get("use_bias") if "bias" in key else None
            return bool(get(key, default=family.get(part, 0) if every is None else every))
        self.name, self.kind = name, kind
        self.hidden = get("hidden_size", "n_embd")
        seen = "vision_config" in config and config["model_type"] in towers.CLASSES
        self.tower = towers.Tower(config, self.hidden) if seen else None
        self.audio = audio.encoder(config, self.hidden)
        self.held = towers.held(config, self.hidden)
        count = get("num_hidden_layers", "n_layer") if kind != "longcat_flash" else 2 * get("num_layers")
        self.heads = get("num_attention_heads", "n_head", "num_heads")
        self.kv_heads = get("num_key_value_heads", "num_kv_heads", default=family.get("kv_heads", self.heads))
        self.head_dim = get("head_dim", "attention_head_dim", default=self.hidden // self.heads)
        self.vocab = get("vocab_size")
        self.inner = get("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size",
                         default=4 * self.hidden if family.get("learned") else 0)
        self.positions = get("max_position_embeddings", "n_positions", default=0)
        self.learned = bool(family.get("learned"))
        self.position_rows = self.positions + family.get("more_rows", 0)
        self.qkv_bias, self.o_bias = (flag("attention_bias", x) for x in ("qkv_bias", "o_bias"))
        self.o_bias = self.o_bias and not kind.startswith("glm4")
        self.branches = None
        if kind == "nsa":  # tokens of a block, blocks that are chosen, the window
            self.branches = tuple(get(*key) if get(*key) else usual for key, usual in (
                (("block_size",), 64), (("block_counts",), 16), (("window_size",), 512)))
            self.qkv_bias = bool(get("qkv_bias"))
            self.inner = self.inner or 256 * ceil_div(self.hidden * get("hidden_ratio", default=4) * 2 // 3, 256)
        self.mlp_bias = flag("mlp_bias", "mlp_bias")
        self.head_bias = bool(family.get("head_bias"))
        self.tied = flag("tie_word_embeddings", "tied")
        self.gated = not family.get("ungated")
        self.norm = "layernorm" if family.get("layernorm") else "rmsnorm"
        self.wide_norm, self.post_only = family.get("wide_norm"), bool(family.get("post_only"))
        self.qk_norm = get("use_qk_norm", default=bool(family.get("qk_norm") or self.wide_norm))
        self.post_norms = bool(family.get("post_norms")) or self.post_only
        self.parallel = bool(family.get("parallel")) and get("use_parallel_residual", default=True)
        self.norms = 1 if self.parallel and kind != "gpt_neox" else 2
        self.sinks, self.shared_gate = bool(family.get("sinks")), bool(family.get("shared_gate"))
        self.expert_bias = bool(family.get("expert_bias"))
        self.router_bias = bool(family.get("router_bias"))
        self.rotated = int(get("partial_rotary_factor", "rotary_pct",
                               default=0.25 if family.get("quarter") else 1) * self.head_dim)
        self.rotated = get("rotary_dim", default=self.rotated)
        self.query_gate, self.rope_free = bool(family.get("query_gate")), family.get("no_rope")
        self.read_state(get, family)
        self.latent = get("kv_lora_rank", default=0)
        self.q_latent = get("q_lora_rank", default=0)
        self.nope, self.rope = get("qk_nope_head_dim"), get("qk_rope_head_dim")
        self.v = get("v_head_dim")
        self.chosen = get("index_topk", default=0)
        self.index = get("index_n_heads", default=0), get("index_head_dim", default=0)
        self.compressed, self.streams, self.top = kind == "deepseek_v4", 1, 0
        if self.compressed:
            self.top, self.chosen = self.chosen, 0
            self.streams, self.out = get("hc_mult", default=4), get("o_lora_rank", default=1024)
            self.out_groups = get("o_groups", default=8)
        # Layers with a window may have KV heads of their own, and heads of V a size of their own.
        self.window_kv = get("swa_num_key_value_heads", default=0)
        self.value_dim = self.v if self.window_kv else self.head_dim
        self.window_sinks = self.window_kv and get("add_swa_attention_sink_bias", default=False)
        self.predictors = get("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules",
                              default=0)
        self.predictors *= not self.window_kv and not self.compressed  # those differ from its other layers
        self.experts = get("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts",
                           default=0)
        self.top_k = get("num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_topk", "moe_k", "top_k_experts")
        # Experts that do nothing: a token chooses among all, and computes with its share of others.
        self.zero, self.chosen_experts = get("zero_expert_num", default=family.get("zero", 0)), self.top_k
        if self.zero:
            self.top_k = self.top_k * self.experts // (self.experts + self.zero)
        # Groups of experts that a token chooses some of first, where that limits anything.
        self.groups = get("n_group", default=0) or 1, get("topk_group", default=0) or 1
        if self.experts > 1 and (self.experts % self.groups[0] or self.groups[1] >= self.groups[0] or
                                 self.experts // self.groups[0] * self.groups[1] < self.top_k):
            self.groups = 1, 1
        self.expert_inner = get("moe_intermediate_size", "expert_ffn_hidden_size", default=self.inner)
        self.expert_hidden = get("moe_latent_size", "routed_expert_hidden_size", default=0)
        self.latent_norm = get("latent_moe_use_norm", default=False)
        self.unturned, self.output_gate = get("mla_use_nope", default=False), get("mla_use_output_gate", default=False)
        self.depth = get("attn_res_block_size", default=0)
        self.shared = get("shared_expert_intermediate_size", "shared_intermediate_size",
                          "moe_shared_expert_intermediate_size",
                          default=get("n_shared_experts", "num_shared_experts",
                                      "moe_num_shared_experts", "num_shared_expert", default=0)
                          * (self.expert_inner or 0))
        self.choice, chosen = get("sparse_attention_config", default={}), [0] * count
        if "dense_intermediate_size" in text:
            self.expert_inner, self.inner = get("moe_intermediate_size", default=self.inner), text["dense_intermediate_size"]
            self.predictors = 0
        if self.choice.get("use_sparse_attention"):
            chosen = self.choice["sparse_attention_freq"]
        self.window = get("sliding_window", default=0)
        windowed = [False] * count
        if get("layer_types") and not self.state:
            windowed = [x == "sliding_attention" and self.window > 0 for x in get("layer_types")]
        elif self.compressed:
            windowed = [True] * count
        elif self.window_kv:
            windowed = [x == 1 for x in get("hybrid_layer_pattern")]
        elif self.window and get("use_sliding_window", default=not family.get("window_asked")):
            every = get("sliding_window_pattern", "_sliding_window_pattern",
                        default=family.get("pattern", 0))
            first = get("max_window_layers", default=28) if family.get("window_asked") else 0
            windowed = [i >= first and (every == 0 or (i + 1) % every != 0) for i in range(count)]
        step, first = get("decoder_sparse_step", default=1), get(
            "first_k_dense_replace", "moe_layer_start_index", default=0)
        dense = get("mlp_only_layers", default=[])
        routed = [self.experts > 1 and i >= first and (i + 1) % step == 0 and i not in dense
                  and every_layer(get("moe_layer_freq", default=1), i) for i in range(count)]
        if get("hybrid_override_pattern"):
            routed = [self.experts > 1 and x == "E" for x in get("hybrid_override_pattern")]
            self.predictors = 0  # they have two parts, its layers one
        if kind == "jamba":
            period, offset = get("expert_layer_period", default=2), get("expert_layer_offset", default=1)
            routed = [self.experts > 1 and i % period == offset for i in range(count)]
        self.chunked, self.still = bool(family.get("chunked")), [False] * count
        if self.chunked:
            windowed, routed = self.read_chunks(get, count)
        self.altup = get("altup_num_inputs", default=4) if kind == "gemma3n_text" else 0
        self.laurel = get("laurel_rank", default=64)
        self.head_gate, self.value_norm = kind == "laguna", kind == "gemma4_text" or self.altup
        self.ple, self.ple_rows = 0, 0
        if self.value_norm:
            self.ple = get("hidden_size_per_layer_input",
                           default=0 if "hidden_size_per_layer_input" in text else 256)
            self.ple_rows = get("vocab_size_per_layer_input", default=262144)
            if not get("enable_moe_block", default=False):
                self.experts, self.shared, routed = 0, 0, [False] * count
        if kind == "longcat_flash":
            self.shared, routed = self.inner, [i % 2 == 0 for i in range(count)]
        if get("mlp_layer_types"):
            routed = [routed[i] and x == "sparse" for i, x in enumerate(get("mlp_layer_types"))]
        self.layers = [(windowed[i], routed[i]) + self.parts(i, get, family) for i in range(count)]
        self.own = [dict(self.sizes_of(i, windowed[i], count, get), blocks=bool(chosen[i]),
                         chooses=self.chosen > 0 and not self.follows(i, kind, get)) for i in range(count)]
        self.crossed = [kind == "mllama_text_model" and i in get("cross_attention_layers")
                        for i in range(count)]
        self.rows_more = 8 if kind == "mllama_text_model" else 0
        self.gqa = self.heads // self.kv_heads

    @staticmethod
    def follows(i, kind, get):
        """Whether layer i uses the keys that an earlier layer chose (GLM-5.2)."""
        if kind != "glm_moe_dsa":
            return False
        words = get("indexer_types", "index_topk_pattern")
        if words:
            return words[i] in ("shared", "S")
        behind = i - get("index_skip_topk_offset", default=2) + 1
        return behind > 0 and behind % get("index_topk_freq", default=1) > 0

    def residuals(self, passed):
        """Vectors that a token has between layers, of which it has passed some."""
        return self.altup or self.streams + self.kept(passed)

    def kept(self, passed):
        """Sums that are kept where so many layers have begun."""
        return len(range(0, passed, self.depth)) if self.depth else 0

    def read_chunks(self, get, count):
        """Llama 4: which layers attend within chunks, the others neither rotate nor norm heads;
        which have experts, with another width than the dense ones."""
        self.window = get("attention_chunk_size", default=8192)
        every = get("no_rope_layer_interval", default=4)
        rotated = get("no_rope_layers", default=[]) or [
            0 if i % every == every - 1 else 1 for i in range(count)]
        self.still = [x == 0 for x in rotated]
        self.expert_inner = self.shared = self.inner
        self.inner = get("intermediate_size_mlp", default=16384)
        step = get("interleave_moe_layer_step", default=1)
        routed = get("moe_layers", default=list(range(step - 1, count, step)))
        return [x == 1 for x in rotated], [i in routed for i in range(count)]

    def sizes_of(self, i, windowed, count, get):
        """Of layer i: heads, KV heads, elements of a head of K and of V, those that are rotated, the
        width of a dense MLP; whether K and V are those of an earlier layer, or V is made with K."""
        one = dict(heads=self.heads, kv=self.kv_heads, key=self.head_dim, value=self.value_dim,
                   rotated=self.rotated, inner=self.inner, late=False, same=False, ratio=0)
        if self.compressed:
            one["ratio"] = get("compress_ratios")[i]
        if windowed and self.window_kv:
            one["kv"] = self.window_kv
        if get("num_attention_heads_per_layer"):
            one["heads"] = get("num_attention_heads_per_layer")[i]
        if self.value_norm:
            one["late"] = i >= count - get("num_kv_shared_layers", default=15 if self.altup else 0)
            if one["late"] and get("use_double_wide_mlp", default=False):
                one["inner"] *= 2
            if not windowed and not self.altup:
                one["key"] = one["value"] = get("global_head_dim", default=512)
                one["rotated"] = one["key"] // 4 or self.rotated
                if get("attention_k_eq_v", default=False):
                    one["same"] = True
                    one["kv"] = get("num_global_key_value_heads", default=self.kv_heads)
        return one

    def read_state(self, get, family):
        """Heads with a state, heads of keys, and the sizes of both; taps of the convolution."""
        self.state, config = family.get("state"), get("linear_attn_config", default={})
        self.sizes = self.taps = None
        if self.state == "kimi-delta":
            size = config["head_dim"]
            self.sizes = (config["num_heads"], config["num_heads"], size, size)
            self.taps = config["short_conv_kernel_size"]
            self.one_gate = config.get("use_full_rank_gate", False)
        elif self.state == "lightning":
            self.sizes = (self.heads, self.heads, self.head_dim, self.head_dim)
            self.taps = 0
        elif self.state == "selective-scan":
            # Every channel is a head of one element, and all share B and C.
            self.sizes = (get("mamba_expand", default=2) * self.hidden, 1, get("mamba_d_state", default=16), 1)
            self.taps, rank = get("mamba_d_conv", default=4), get("mamba_dt_rank", default="auto")
            self.rank = ceil_div(self.hidden, 16) if rank == "auto" else rank
        elif self.state:
            self.sizes = tuple(get(*keys) for keys in (
                ("linear_num_value_heads", "mamba_num_heads", "mamba_n_heads"),
                ("linear_num_key_heads", "n_groups", "mamba_n_groups"),
                ("linear_key_head_dim", "ssm_state_size", "mamba_d_state"),
                ("linear_value_head_dim", "mamba_head_dim", "mamba_d_head")))
            self.taps = get("linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv")
        self.scan = get("chunk_size", "mamba_chunk_size", "block_size",
                        default=256 if self.state == "lightning" else 64)
        self.state_format = "bf16" if self.state in ("lightning", "selective-scan") else "fp32"
        self.conv_bias = self.state in ("ssd", "selective-scan") and get("use_conv_bias", "mamba_conv_bias", default=True)
        self.bare_state = self.state == "selective-scan" or not get("mamba_rms_norm", default=True)

    def parts(self, i, get, family):
        """Of layer i: a state, attention, an MLP."""
        if not self.state:
            return False, True, True
        letters = get("hybrid_override_pattern")
        if letters:
            return letters[i] == "M", letters[i] == "*", letters[i] in "-E"
        if family.get("beside"):
            return True, True, True
        if get("attn_type_list"):
            state = get("attn_type_list")[i] == 0
        elif self.state == "selective-scan":
            state = i % get("attn_layer_period", default=8) != get("attn_layer_offset", default=4)
        elif get("linear_attn_config"):
            state = i + 1 in get("linear_attn_config")["kda_layers"]
        elif get("layer_types"):
            state = get("layer_types")[i] in ("linear_attention", "mamba")
        else:
            state = (i + 1) % get("full_attention_interval", default=4) > 0
        return state, not state, True


def shipped(data):
    result = {}
    folder = os.path.join(data, "models")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            result[name[:-5]] = Model(json.load(file), name[:-5])
    return result


class Formats:
    """What each class of weights is stored in, layer by layer, and what meets it."""

    def __init__(self, model, asked, classes, layout):
        for role in ("activations", "out"):
            if asked.get(role) in STORED:
                raise Refused(role)
        operators.check_compute(asked)
        if layout and (asked.get("precision") or asked.get("weights")):
            raise Refused("-w with a layout")
        layout = layout or {}
        said = asked.get("precision")
        self.weights = asked.get("weights") or said or "fp16"
        self.activations = asked.get("activations") or layout.get("activations") or \
            (pair(said) if said else "fp16")
        self.out = asked.get("out") or kept(self.activations)
        self.kv = asked.get("kv") or layout.get("kv") or kept(self.activations)
        self.compute = asked.get("compute")
        self.layers = len(model.layers)
        self.rules = spread(layout.get("classes", {}))
        for entry in layout.get("when", []):
            facts = dict(tied=model.tied, gqa=model.gqa, layers=self.layers, experts=model.experts)
            if all(facts[key] == value for key, value in entry["if"].items()):
                self.rules.update(spread(entry["classes"]))
        self.said = spread(classes)

    def rule(self, name):
        names = (name, SMALL.get(name, name))
        return next((source[one] for source in (self.said, self.rules) for one in names if one in source), None)

    def stored(self, name, layer=0):
        rule = self.rule(name)
        if rule is None:
            return self.default(name)
        if isinstance(rule, str):
            return rule
        for key, value in rule.items():
            if key == "else":
                return value
            if key == "more_bits":
                n = self.layers
                if layer < n // 8 or layer >= 7 * n // 8 or (layer - n // 8) % 3 == 2:
                    return value
            else:
                first = key.split()[1]
                limit = self.layers // int(first[2:]) if "/" in first else int(first)
                if layer < limit:
                    return value
        raise AssertionError(rule)

    def default(self, name):
        return larger(self.weights, "bf16") if name in WIDE else self.weights

    def read_in(self, name, layer=0):
        """The format of the inputs of a product with these weights."""
        if name in LINEAR and self.rule(name) is None:
            return self.activations
        return larger(self.activations, pair(self.stored(name, layer)))

    def signature(self, layer):
        return tuple(self.stored(name, layer) for name in LINEAR + ["router", "compress"])


class Node:
    """One operator of the graph; `resident`: (format, elements, tensors, rows) of its weights.
    `linear`: its weights are pruned where that is asked for, and their format is stored so."""

    def __init__(self, name, op, dims, formats, resident=(), routed=False, linear=False):
        self.name, self.op, self.formats = name, op, formats
        self.dims = operators.defaults(op, {k: v for k, v in dims.items() if k != "bias"})
        if dims.get("bias"):
            self.dims["bias"] = 1
        self.resident, self.routed, self.borrowed = list(resident), routed, False
        self.away = self.copied = False
        self.linear = linear and formats["weights"] in PRUNED

    def own(self):
        """What is resident of it and not another node's: of a tied head the bias alone."""
        return self.resident[self.borrowed:]

    def own_bytes(self, sparse):
        """Of what is resident. Where the weights are linear they come first, before vectors."""
        return sum(tensor_bytes(*part, pruned=sparse and self.linear and part[2] > 0)
                   for part in self.own())


def width_of(name):
    """Bits of an element of a format."""
    return Fraction(FORMATS[name]["bits"], FORMATS[name]["elements"])


def ceil_div(a, b):
    return -(-a // b)


class Scenario:
    """What is asked of a model, with its defaults."""

    def __init__(self, model, asked):
        def get(key, default):
            return asked.get(key, default)
        self.asked = asked
        self.phase, self.batch = get("phase", "decode"), get("batch", 1)
        self.tp, self.pp = get("tp", 1), get("pp", 1)
        self.split_experts(model, asked)
        self.routing = get("routing", "uniform")
        part, _, layers = get("offload", "none").partition(":")
        self.offload = part
        self.away = 0 if part == "none" else int(layers or len(model.layers))
        if self.away and self.tp * self.pp * self.groups * get("dp", 1) > 1:
            raise Refused("offload of several devices")
        if self.away > len(model.layers) or part == "experts" and self.away and model.experts <= 1:
            raise Refused("offload")
        self.drafts, self.acceptance = get("draft_tokens", 0), Fraction(str(get("acceptance", 0.7)))
        if "acceptance" in asked and "draft_tokens" not in asked:
            raise Refused("acceptance of nothing")
        self.reserve = Fraction(str(get("reserve", 0.1)))
        if self.reserve > Fraction(99, 100):
            raise Refused("reserve")
        self.fuse = get("fuse", "default")
        self.split = get("split_projections", 0) or self.fuse == "none"
        self.unfused = get("unfused_attention", 0) or self.fuse == "none"
        # Of a table of positions drafts need rows, too.
        room = model.positions - self.drafts * model.learned
        limit = min(4096, max(1, room)) if model.positions else 4096
        self.context = get("context", limit)
        self.others = self.others_context = 0
        self.new = 1 + self.drafts
        self.read_media(model, asked)
        for key, phases in (("prefix_hit", "prefill"), ("chunk", "prefill mixed"),
                            ("prefill_batch", "mixed"), ("prefill_context", "mixed"),
                            ("draft_tokens", "decode")):
            if key in asked and self.phase not in phases and not (
                    key == "draft_tokens" and asked.get("in_loop")):
                raise Refused(key)
        if self.phase == "prefill":
            cached = min(int(Fraction(str(get("prefix_hit", 0))) * self.context), self.context - 1)
            self.new = get("chunk", self.context - cached)
            if self.new > self.context:
                raise Refused("chunk")
        elif self.phase == "mixed":
            self.chunk = get("chunk", 512)
            self.others = get("prefill_batch", 1)
            self.others_context = get("prefill_context", self.chunk)
            if self.others_context < self.chunk:
                raise Refused("prefill context")
        self.seen = self.context + self.drafts
        self.held = get("held", 0)
        if model.learned and max(self.context, self.others_context) + self.drafts > \
                model.positions and not asked.get("in_loop"):
            raise Refused("positions")
        tokens = self.batch * self.new + self.others * getattr(self, "chunk", 0)
        if tokens * max(model.vocab, model.hidden * max(1, model.top_k or 1)) > 10 ** 12:
            raise Refused("tokens")
        micro = max(self.batch, self.others)
        self.microbatches = min(self.pp, micro)

    def read_media(self, model, asked):
        """Images and audio of a prompt, and how many of its tokens they are."""
        alone, tower, encoder = self.phase == "encode", model.tower, model.audio
        width, height = (int(x) for x in asked.get("image_size", "1024x1024").split("x"))
        self.size, self.seconds = (width, height), asked.get("audio_length_s", 30)
        none = alone and "images" not in asked and "audio" not in asked
        self.images = asked.get("images", int(none and tower is not None))
        self.clips = asked.get("audio", int(none and tower is None))
        crossed = tower is not None and tower.crossed  # layers of the text attend to images
        ends = self.phase in ("prefill", "encode")
        for count, part, key in ((self.images, tower, "image_size"), (self.clips, encoder, "audio_length_s")):
            if key in asked and not count or count and not (part and (ends or crossed)):
                raise Refused("images or audio")
        self.encodes = self.images > 0 and ends
        self.image_tokens = self.images and self.images * tower.tokens(*self.size)
        self.audio_tokens = self.clips and self.clips * encoder.tokens(self.seconds)
        self.places = tokens = (self.images if crossed else self.image_tokens) + self.audio_tokens
        # Such layers see the images that another pass has encoded, too.
        seen = asked if self.images else asked.get("seen", {})
        size = (int(x) for x in seen.get("image_size", "1024x1024").split("x"))
        self.keys = (self.images or seen.get("images", 0)) * tower.tokens(*size) if crossed else 0
        if alone:
            if "context" in asked or "chunk" in asked:
                raise Refused("text")
            self.context = 0
        elif "context" not in asked:
            self.context = max(self.context, tokens)
        if not alone and tokens > self.context:
            raise Refused("tokens of images and audio")
        if self.images and self.batch * self.images * tower.widest(*self.size) > 10 ** 12 or \
                self.clips and self.batch * self.clips * encoder.widest(self.seconds) > 10 ** 12:
            raise Refused("images or audio")

    def split_experts(self, model, asked):
        """Groups of the attention, devices that cut each expert, parts that they are dealt into."""
        groups, cut, parts = (asked.get(key) for key in ("attention_dp", "moe_tp", "moe_ep"))
        short = asked.get("ep") or 1
        if short > 1 and any(x not in (None, y) for x, y in
                             ((groups, short), (cut, self.tp), (parts, short))):
            raise Refused("ep beside others")
        if model.experts <= 1:
            if max(short, groups or 1, cut or 1, parts or 1) > 1:
                raise Refused("no experts")
            self.groups, self.cut, self.parts = 1, None, None
            return
        if short > 1:
            groups, cut, parts = short, self.tp, short
        self.groups = groups or 1
        devices = self.tp * self.groups
        if cut is None and parts is None:
            parts = 1
        if cut is None:
            cut = Fraction(devices, parts)
        elif parts is None:
            parts = Fraction(devices, cut)
        if cut * parts != devices or cut != int(cut) or parts != int(parts):
            raise Refused("devices of experts")
        self.cut, self.parts = int(cut), int(parts)

    def sequences(self, count):
        """Of one microbatch."""
        return ceil_div(count, self.microbatches)


def check_split(m, s):
    t = s.tp
    for own, layer in zip(m.own, m.layers):
        if own["heads"] % t or (not m.latent and own["kv"] % t and t % own["kv"]):
            raise Refused("heads")
        if layer[4] and not layer[1] and own["inner"] % t:
            raise Refused("width")
    if m.compressed and m.out_groups % t:
        raise Refused("groups of heads")
    if m.state and (m.sizes[0] % t or (m.sizes[1] % t and t % m.sizes[1])):
        raise Refused("state")
    if s.pp > len(m.layers):
        raise Refused("split")
    if m.experts > 1:
        if m.expert_inner % s.cut or m.shared % t or m.experts % s.parts:
            raise Refused("experts")


class Graph:
    """The operators of one pipeline stage, as (count, Node)."""

    def __init__(self, m, s, f, stage, places, layers):
        self.m, self.s, self.f, self.nodes = m, s, f, {}
        self.places, self.stage = places, stage
        b, others = s.sequences(s.batch), s.sequences(s.others) if s.others else 0
        self.whole = b * s.new + others * (s.chunk if others else 0)
        self.b, self.others = ceil_div(b, s.groups), ceil_div(others, s.groups)
        self.idle = {}
        self.n = self.b * s.new + self.others * (s.chunk if others else 0)
        decode = s.phase != "prefill"
        self.rows = (self.b * s.new if decode else self.b) + self.others
        self.build(layers)

    def build(self, layers):
        m, s, f, h = self.m, self.s, self.f, self.m.hidden
        if self.stage == 0:
            unit = (m.tower.patch * m.tower.merge,) * 2 if m.tower else None
            self.encode(towers, m.tower, s.images if s.encodes else 0, s.size if s.encodes else unit)
            self.encode(audio, m.audio, s.clips, s.seconds if s.clips else 1)
            if m.held:
                self.idle[Node("image_held", "add", dict(tokens=1, hidden=1),
                               self.formats(f.stored("norm"), f.out),
                               [(f.stored("norm"), m.held, 0, 0)])] = 1
        self.last_layer = layers[-1]
        self.image_keys(layers)
        if s.phase == "encode":
            return
        if self.stage == 0:
            self.embed()
            self.embed_layers()
            if m.learned:
                self.vector("position", "embedding", dict(tokens=self.n, hidden=h),
                            weights="embedding",
                            resident=[(f.stored("embedding"), m.position_rows * h, 1,
                                       m.position_rows)])
                self.vector("position_add", "add", dict(tokens=self.n, hidden=h))
        if s.fuse == "all":  # layer by layer, since the ends of layers join
            for i in layers:
                self.away = i < s.away
                self.layer_or_idle(i)
        seen = {}
        for i in layers if s.fuse != "all" else []:
            key = m.layers[i] + (m.still[i], m.crossed[i], i < s.away, m.kept(i), m.kept(i + 1)) + tuple(m.own[i].values()) + f.signature(i)
            if key not in seen:
                seen[key] = [i, 0]
            seen[key][1] += 1
        for i, count in seen.values():
            self.count = count
            self.away = i < s.away
            self.layer_or_idle(i)
        self.count, self.away = 1, False
        if self.stage == s.pp - 1:
            # A tied head in another format, or on another device, is a copy.
            self.head(m.tied and s.pp == 1 and f.stored("lm_head") == f.stored("embedding"))
        else:
            later = len(m.layers) - layers[-1] - 1
            self.collective("send", "send", self.n * (h * m.residuals(layers[-1] + 1) + later * m.ple) +
                            self.choices(layers[-1] + 1), 2, f.out)
        self.join()

    def encode(self, kind, encoder, count, size):
        """The operators of an encoder; without images or clips its weights alone."""
        if not encoder:
            return
        before, self.nodes = self.nodes, {}
        idle = kind.add(self, encoder, self.b * count if count else 1, size)
        self.join()
        if not count:
            idle, self.nodes = self.nodes | idle, {}
        self.idle.update(idle)
        self.nodes = before | self.nodes

    def layer_or_idle(self, i):
        """A layer that attends to images does not run without them."""
        before = self.nodes
        if self.m.crossed[i] and not self.s.keys:
            self.nodes = {}
            self.layer(i)
            self.idle.update(self.nodes)
            self.nodes = before
        else:
            self.layer(i)

    def image_keys(self, layers):
        """Keys and values of images, made by the layers that attend to them."""
        m, s, f, before = self.m, self.s, self.f, self.nodes
        rows = self.b * s.keys if s.encodes else 1
        if not s.encodes:
            self.nodes = {}
        for i in layers:
            if not m.crossed[i]:
                continue
            groups, self.away = max(1, m.kv_heads // s.tp), i < s.away
            wide = groups * m.head_dim
            self.quantised("image_kv_quantize", rows, m.hidden, i, "k", "v")
            if f.stored("k", i) == f.stored("v", i) and f.read_in("k", i) == f.read_in("v", i) \
                    and not s.split:
                self.product("image_kv_proj", "k", i, rows, 2 * wide, m.hidden)
            else:
                self.product("image_k_proj", "k", i, rows, wide, m.hidden)
                self.product("image_v_proj", "v", i, rows, wide, m.hidden)
            self.normed("image_k_norm", rows * groups, m.head_dim)
            self.vector("image_kv_append", "kv-append", dict(
                tokens=rows, heads=m.heads // s.tp, kv_heads=groups, head_dim=m.head_dim))
        self.away = False
        if not s.encodes:
            self.idle.update(self.nodes)
            self.nodes = before
        elif s.keys and self.stage < s.pp - 1:
            self.collective("image_send", "send", rows * m.hidden, 2, f.out)

    def join(self):
        """Makes one of two operators that follow each other where a kernel does both."""
        if self.s.fuse != "all":
            return
        done = []
        for node, count in self.nodes.items():
            one = self.joined(done[-1][0], node) if done else None
            if one:
                one.away, one.copied = node.away, done[-1][0].copied and node.copied
            done[-1:] = [(one, count)] if one else done[-1:] + [(node, count)]
        self.nodes = dict(done)

    def joined(self, a, b):
        x, y, m = a.dims, b.dims, self.m
        rows = (x.get("m", x.get("tokens")), x.get("n", x.get("hidden")))
        same = rows == (y.get("tokens"), y.get("hidden"))
        if a.op == "add" and b.name in ("attn_norm", "mlp_norm", "final_norm") and same:
            # A sum is the residual; a parallel MLP does not read that of the attention. Where a
            # layer begins without a norm, only sums within layers are joined.
            if a.name not in ("attn_add", "mlp_add", "embedding_out_add", "attn_laurel_add") or m.parallel and b.name == "mlp_norm":
                return None
            first = all(mixes or state or (mlp and m.norms == 2) for _, _, state, mixes, mlp in m.layers)
            within = (a.name, b.name) in (("attn_add", "mlp_norm"), ("attn_laurel_add", "mlp_norm"))
            if not within and (m.post_only or not first):
                return None
            return Node("add_" + b.name, "add-" + b.op, y, b.formats, b.resident)
        if a.op == "gemm" and b.op == "silu-mul" and rows == (y["tokens"], 2 * y["hidden"]):
            one = Node(a.name, "gemm-silu-mul", dict(m=x["m"], n=y["hidden"], k=x["k"],
                                                     bias=x.get("bias")), a.formats, a.resident)
            one.linear = a.linear
            return one
        if b.op == "quantize" and b.alone and same and a.op in (
                "rmsnorm", "add-rmsnorm", "silu-mul", "gemm-silu-mul"):
            op = a.op + ("" if a.op == "gemm-silu-mul" else "-quantize")
            one = Node(a.name, op, x, dict(a.formats, out=b.formats["out"]), a.resident)
            one.linear = a.linear
            return one
        if (a.name, b.name) == ("rope", "kv_append") and x["head_dim"] <= y["head_dim"]:
            return Node("rope_append", "rope-append", dict(x, head_dim=y["head_dim"],
                                                           qk_rope_head_dim=x["head_dim"]), a.formats)
        return None

    def quantised(self, name, rows, width, i, *readers):
        """An input that is quantised by a kernel, once for each format that it is read in."""
        if self.s.fuse == "default":
            return
        read = [self.f.read_in(reader, i) for reader in readers]
        few = list(dict.fromkeys(x for x in read if width_of(x) < width_of(self.f.out)))
        for one in few:
            self.vector(name, "quantize", dict(tokens=rows, hidden=width))
            node = list(self.nodes)[-1]
            node.formats["out"] = one
            node.alone = set(read) == {one}

    def embed(self):
        rows = ceil_div(self.m.vocab + self.m.rows_more, self.s.tp)
        self.vector("embedding", "embedding", dict(tokens=self.n, hidden=self.m.hidden),
                    weights="embedding",
                    resident=[(self.f.stored("embedding"), rows * self.m.hidden, 1, rows)])
        self.reduce("embedding_all_reduce")

    def embed_layers(self):
        """Embeddings that layers have of their own: rows of a table, and a projection of the usual
        ones, with a norm for each layer."""
        m, t, n = self.m, self.s.tp, self.n
        wide, rows = m.ple * len(m.layers), ceil_div(m.ple_rows, t)
        if not wide:
            return
        self.vector("layer_embedding", "embedding", dict(tokens=n, hidden=wide), weights="embedding",
                    resident=[(self.f.stored("embedding"), rows * wide, 1, rows)])
        if t > 1:
            self.collective("layer_embedding_all_reduce", "all-reduce", n * wide, t, self.f.out)
        self.product("layer_embedding_proj", "embedding", 0, n, ceil_div(wide, t), m.hidden)
        if t > 1:
            self.collective("layer_embedding_all_gather", "all-gather", n * wide, t, self.f.out)
        self.normed("layer_embedding_norm", n * len(m.layers), m.ple)
        self.vector("layer_embedding_add", "add", dict(tokens=n, hidden=wide))
        if m.altup:
            self.product("altup_proj", "embedding", 0, n, (m.altup - 1) * m.hidden, m.hidden)
            self.vector("altup_scale", "rmsnorm", dict(tokens=n * (m.altup - 1), hidden=m.hidden, gain=0))

    def head(self, borrowed):
        m, t = self.m, self.s.tp
        if m.compressed:
            self.product("final_collapse", "norm", 0, self.rows, m.streams, m.streams * m.hidden, True)
        if m.altup:
            more = m.altup - 1
            self.product("altup_join_proj", "embedding", 0, self.rows, m.hidden, m.hidden, op="bmm", batch=more)
            list(self.nodes)[-1].resident[:] = [(self.f.stored("embedding"), more * m.hidden ** 2, more, more * m.hidden)]
            self.vector("altup_join_scale", "rmsnorm", dict(tokens=self.rows * more, hidden=m.hidden, gain=0))
        if m.depth:
            self.mix_depth("final_mix", self.rows, ceil_div(len(m.layers), m.depth))
        self.normed("final_norm", self.rows, m.hidden)
        self.quantised("head_quantize", self.rows, m.hidden, 0, "lm_head")
        self.product("lm_head", "lm_head", 0, self.rows, ceil_div(m.vocab, t), m.hidden,
                     m.head_bias)
        next(node for node in self.nodes if node.name == "lm_head").borrowed = borrowed
        if t > 1:
            self.collective("logits_all_gather", "all-gather", self.rows * m.vocab, t, self.f.out)

    count, away = 1, False

    def add(self, node):
        node.away = self.away and (node.routed or self.s.offload == "layers")
        # llama.cpp copies weights for long passes. What reads a cache or a state stays with it.
        node.copied = node.away and self.n >= 32 and node.op not in operators.KEPT
        self.nodes[node] = self.count

    def formats(self, weights, activations, kv=None, compute=None):
        return dict(weights=weights, activations=activations, out=self.f.out, kv=kv or self.f.kv,
                    compute=compute)

    def vector(self, name, op, dims, weights="norm", resident=()):
        formats = self.formats(self.f.stored(weights), self.f.out)
        self.add(Node(name, op, dims, formats, resident))

    def normed(self, name, rows, width, op=None):
        op = op or self.m.norm
        vectors = 2 if op == "layernorm" else 1
        self.vector(name, op, dict(tokens=rows, hidden=width, gain=1),
                    resident=[(self.f.stored("norm"), vectors * width, 0, 0)])

    def product(self, name, weight, i, m, n, k, bias=False, op="gemm", batch=1, resident=True):
        stored = self.f.stored(weight, i)
        held = [(stored, batch * n * k, 1, batch * n)] if resident else []
        if bias:
            held.append((self.f.stored("norm"), n, 0, 0))
        self.add(Node(name, op, dict(batch=batch, m=m, n=n, k=k, bias=int(bias)),
                      self.formats(stored, self.f.read_in(weight, i),
                                   compute=self.f.compute if weight in LINEAR else None), held,
                      linear=weight in LINEAR))

    def link_group(self, kind):
        """How many consecutive devices the widest group of a kind lies within: `size` while each
        is on one bridge and inside one node, else more than a bridge or a node has."""
        t = self.s.tp
        stage = t * self.s.groups
        if kind == "tensor":
            starts, size = range(self.stage * stage, (self.stage + 1) * stage, t), t
        elif kind == "stage":
            starts, size = [self.stage * stage], stage
        else:
            starts, size = range(self.stage * stage, (self.stage + 1) * stage), stage + 1
        within = size
        for place in self.places:
            if place and any(a // place != (a + size - 1) // place for a in starts):
                within = max(within, place + 1)
        return within

    def collective(self, name, op, elements, devices, fmt, within="tensor"):
        within = {"send": "send", "all-to-all": "stage"}.get(op, within)
        dims = dict(elements=elements, devices=devices, within=self.link_group(within))
        dims["within"] = max(dims["within"], devices)
        if op == "send":
            del dims["devices"]
        self.add(Node(name, op, dims, self.formats(self.f.weights, fmt)))

    def reduce(self, name):
        if self.s.tp > 1:
            self.collective(name, "all-reduce", self.n * self.m.hidden, self.s.tp, self.f.out)

    def layer(self, i):
        m, s, f, n = self.m, self.s, self.f, self.n
        h = m.hidden
        windowed, routed, state, attention, mlp = m.layers[i]
        if attention or state:
            if m.altup:
                self.weigh_streams("altup", i, True)
                self.vector("altup_predict", "gelu", dict(tokens=n * m.altup, hidden=h))
            self.collapse("attn_collapse", i)
            self.mix_depth("attn_mix", n, m.kept(i))
            if not m.post_only:
                self.normed("attn_norm", n, h)
            blocks = ["index"] * m.own[i]["blocks"]
            readers = (["q_a" if m.q_latent else "q", "kv_a"] + ["index"] * m.own[i]["chooses"] if m.latent
                       else ["q_a", "kv_a"] + ["compress"] * bool(m.own[i]["ratio"]) if m.compressed
                       else ["q"] if m.own[i]["late"] or m.crossed[i] else ["q", "k", "v"] + blocks) * bool(attention) + \
                ["mixer_in"] * bool(state)
            if m.norms == 1 and mlp:  # the MLP reads the same norm
                readers += ["router"] if routed else ["up"] + ["gate"] * bool(m.gated)
            self.quantised("attn_quantize", n, h, i, *readers)
            if m.compressed:
                self.compressed_attention(i, m.own[i]["ratio"])
            elif attention and m.latent:
                self.latent_attention(i)
            elif m.crossed[i]:
                self.cross_attention(i)
            elif attention:
                self.plain_attention(i, windowed, m.own[i])
            if state:
                self.keep_state(i)
                if attention:
                    self.vector("mixer_add", "add", dict(tokens=n, hidden=h))
            if not m.parallel:
                self.reduce("attn_all_reduce")
            if m.post_norms:
                self.normed("attn_post_norm", n, h)
            if not m.depth or i % m.depth:
                self.residual("attn_add")
            if m.altup:
                self.product("laurel_left_proj", "up", i, n, m.laurel, h)
                self.product("laurel_right_proj", "down", i, n, h, m.laurel)
                self.normed("laurel_norm", n, h)
                self.vector("laurel_add", "add", dict(tokens=n, hidden=h))
                self.vector("attn_laurel_add", "add", dict(tokens=n, hidden=h))
        if not mlp:
            return
        self.collapse("mlp_collapse", i)
        self.mix_depth("mlp_mix", n, m.kept(i + 1))
        if m.norms == 2 and not m.post_only:
            self.normed("mlp_norm", n, h)
        if routed and m.value_norm:  # the dense MLP beside the experts, with norms of their own
            self.quantised("mlp_quantize", n, h, i, "gate", "up")
            self.mlp("", "", i, m.own[i]["inner"] // s.tp)
            self.reduce("dense_all_reduce")
            self.normed("dense_post_norm", n, h)
            self.normed("router_norm", n, h)
            self.normed("experts_norm", n, h)
            self.expert_layer(i)
            self.reduce("mlp_all_reduce")
            self.normed("experts_post_norm", n, h)
            self.vector("dense_add", "add", dict(tokens=n, hidden=h))
        elif routed:
            self.expert_layer(i)
        else:
            if m.norms == 2:
                self.quantised("mlp_quantize", n, h, i, *["gate"] * bool(m.gated), "up")
            self.mlp("", "", i, m.own[i]["inner"] // s.tp)
        if not m.parallel and not (routed and m.value_norm):
            self.reduce("mlp_all_reduce")
        if m.post_norms:
            self.normed("mlp_post_norm", n, h)
        self.residual("mlp_add")
        if m.parallel:  # one device has added the residual
            self.reduce("mlp_all_reduce")
        if m.altup:
            self.weigh_streams("altup_correct", i, False)
            self.vector("altup_correct", "hyper-expand", dict(tokens=n, hidden=h, streams=m.altup),
                        resident=[(f.stored("norm"), h, 0, 0)])
        if m.ple:
            self.quantised("embedding_gate_quantize", n, h, i, "per_layer_in")
            self.product("embedding_gate_proj", "per_layer_in", i, n, m.ple, h)
            self.vector("embedding_gate", "silu-mul", dict(tokens=n, hidden=m.ple))
            self.quantised("embedding_out_quantize", n, m.ple, i, "per_layer_out")
            self.product("embedding_out_proj", "per_layer_out", i, n, h, m.ple)
            self.normed("embedding_out_norm", n, h)
            if m.altup:  # to all streams but that of the layers
                self.vector("embedding_out_add", "hyper-expand", dict(tokens=n, hidden=h, streams=m.altup - 1))
            else:
                self.vector("embedding_out_add", "add", dict(tokens=n, hidden=h))

    def weigh_streams(self, name, i, first):
        """A norm and a product that the coefficients of streams are made of, used twice in a layer."""
        m, n, kind = self.m, self.n, self.f.stored("norm")
        self.vector(name + "_norm", "rmsnorm", dict(tokens=n, hidden=m.hidden, gain=1),
                    resident=[(kind, m.hidden, 0, 0)] if first else [])
        self.product(name + "_router", "router", i, n, m.altup, m.hidden, resident=first)
        list(self.nodes)[-1].resident.append((kind, m.altup ** 3 if first else m.altup ** 2, 0, 0))

    def mix_depth(self, name, rows, kept):
        """Sums that blocks of layers have begun from, and the one that is under way."""
        if kept:
            self.vector(name, "depth-mix", dict(tokens=rows, hidden=self.m.hidden, streams=kept + 1),
                        resident=[(self.f.stored("norm"), 2 * self.m.hidden, 0, 0)])

    def residual(self, name):
        dims = dict(tokens=self.n, hidden=self.m.hidden)
        if self.m.compressed:
            self.vector(name, "hyper-expand", dict(dims, streams=self.m.streams))
        else:
            self.vector(name, "add", dims)

    def collapse(self, name, i):
        """Streams of the residual into one, with weights that they make; biases and three scales."""
        m, f = self.m, self.f
        if not m.compressed:
            return
        made = 2 * m.streams + m.streams ** 2
        formats = self.formats(f.stored("router", i), f.out)
        self.add(Node(name, "hyper-collapse", dict(tokens=self.n, hidden=m.hidden, streams=m.streams),
                      formats, [(f.stored("router", i), made * m.streams * m.hidden, 1, made),
                                (f.stored("norm"), made + 3, 0, 0)]))

    def turn(self, name, heads):
        """Rotates a part of so many heads: the two elements of each pair count as Q and K."""
        self.rotate(name, heads, self.m.rope)

    def rotate(self, name, heads, elements):
        self.vector(name, "rope", dict(tokens=self.n * heads, heads=1, kv_heads=1,
                                       head_dim=elements // 2))

    def compressed_attention(self, i, ratio):
        """A window and, for every `ratio` tokens, a compressed key; keys are values, too."""
        m, s, f, n, h = self.m, self.s, self.f, self.n, self.m.hidden
        heads, d, chooses = m.heads // s.tp, m.head_dim, ratio == 4
        self.product("q_a_proj", "q_a", i, n, m.q_latent, h)
        self.normed("q_a_norm", n, m.q_latent)
        self.quantised("q_b_quantize", n, m.q_latent, i, "q_b", *["index"] * chooses)
        self.product("q_b_proj", "q_b", i, n, heads * d, m.q_latent)
        self.vector("q_norm", "rmsnorm", dict(tokens=n * heads, hidden=d, gain=0))
        self.turn("rope", heads)
        self.product("kv_proj", "kv_a", i, n, d, h)
        self.normed("kv_norm", n, d)
        self.turn("k_rope", 1)
        self.vector("kv_append", "kv-append", dict(tokens=n, kv_heads=1, head_dim=Fraction(d, 2)))
        # A vector and a gate of each token, two of each where windows overlap.
        for name, size in [("", d)] * (ratio > 0) + [("index_", m.index[1])] * chooses:
            wide = size * (2 if chooses else 1)
            self.product(name + "compress_proj", "compress", i, n, 2 * wide, h)
            self.vector(name + "compress", "gelu", dict(tokens=n, hidden=wide),
                        resident=[(f.stored("norm"), ratio * wide + size, 0, 0)])
        if chooses:
            self.product("index_weights_proj", "compress", i, n, m.index[0], h)
            self.product("index_q_proj", "index", i, n, m.index[0] * m.index[1], m.q_latent)
            self.turn("index_rope", m.index[0])
        kinds = [(self.b, s.new, s.seen, "_decode" if self.others else "")]
        if self.others:
            kinds.append((self.others, s.chunk, s.others_context, "_prefill"))
        for number, (batch, new, seen, phase) in enumerate(kinds):
            keys = seen // ratio if ratio else 0
            if chooses and keys > m.top:
                few = min(new, ratio)  # queries that see the same keys
                for name, op, dims, read, out in (
                        ("index_scores", "index-scores", dict(heads=m.index[0] * few, causal=1,
                         head_dim=m.index[1], query_len=new // few), "fp8_e4m3", "fp32"),
                        ("index_top_k", "index-top-k", dict(query_len=new, selected=m.top), "fp32", "fp32")):
                    one = dict(self.formats(f.weights, read, INDEX_KEYS), out=out)
                    self.add(Node(name + "_prefill" * (number > 0), op,
                                  dict(dims, batch=batch, kv_len=keys), one))
            held = [] if number else [(f.stored("norm"), heads, 0, 0)]
            self.add(Node("attention" + phase, "compressed-attention",
                          dict(batch=batch, heads=heads, head_dim=d, query_len=new, kv_len=seen,
                               window=m.window, compression=ratio, selected=m.top if chooses else 0),
                          self.formats(f.weights, f.out), held))
        self.turn("o_rope", heads)
        groups, wide = m.out_groups // s.tp, m.heads // m.out_groups * d
        self.quantised("o_a_quantize", n, groups * wide, i, "o")
        self.product("o_a_proj", "o", i, n, m.out, wide, op="bmm", batch=groups)
        self.quantised("o_b_quantize", n, groups * m.out, i, "o")
        self.product("o_b_proj", "o", i, n, h, groups * m.out)

    def keep_state(self, i):
        """A layer with a state: its inputs, a convolution, the state, a norm, a gate."""
        m, s, f, n = self.m, self.s, self.f, self.n
        heads, groups, size, wide = m.sizes
        heads, groups = heads // s.tp, max(1, groups // s.tp)
        channels, width = self.channels(), heads * wide
        more = {"gated-delta": width + 2 * heads, "kimi-delta": heads + wide + (width if m.state == "kimi-delta" and m.one_gate else wide), "ssd": width + heads,
                "lightning": width, "selective-scan": width}[m.state]
        scalars = {"gated-delta": 2 * heads, "kimi-delta": heads + heads * size, "ssd": 3 * heads,
                   "lightning": 0, "selective-scan": heads * size + heads}
        self.product("mixer_in_proj", "mixer_in", i, n, channels + more, m.hidden)
        if m.state == "kimi-delta":
            self.quantised("mixer_gates_quantize", n, (2 - m.one_gate) * wide, i, "mixer_low")
            self.product("mixer_decay_proj", "mixer_low", i, n, heads * size, wide)
            if not m.one_gate:
                self.product("mixer_gate_proj", "mixer_low", i, n, width, wide)
        kinds = [(self.b, s.new)] + ([(self.others, s.chunk)] if self.others else [])
        for number, (batch, new) in enumerate(kinds):
            held = [] if number else [(f.stored("norm"), channels * (m.taps + m.conv_bias), 0, 0)]
            if m.taps:
                self.vector("short_conv", "short-conv", dict(batch=batch, query_len=new, hidden=channels,
                                                             taps=m.taps), resident=held)
        if m.state == "selective-scan":
            narrow = m.rank + 2 * size
            self.quantised("mixer_x_quantize", n, channels, i, "mixer_low")
            self.product("mixer_x_proj", "mixer_low", i, n, narrow, channels)
            if s.tp > 1:
                self.collective("mixer_x_all_reduce", "all-reduce", n * narrow, s.tp, f.out)
            self.normed("mixer_x_norm", n, narrow)
            self.quantised("mixer_step_quantize", n, m.rank, i, "mixer_low")
            self.product("mixer_step_proj", "mixer_low", i, n, channels, m.rank, bias=True)
        for number, (batch, new) in enumerate(kinds):
            dims = dict(batch=batch, heads=heads, query_len=new, scan_chunk=m.scan)
            if m.state == "selective-scan":
                dims = dict(batch=batch, hidden=heads, query_len=new, state_size=size)
            elif m.state == "ssd":
                dims.update(head_dim=wide, state_size=size, kv_heads=groups)
            else:
                dims.update(head_dim=size, v_head_dim=wide)
                if m.state == "gated-delta":
                    dims["kv_heads"] = groups
            held = [] if number else [(f.stored("norm"), scalars[m.state], 0, 0)]
            self.vector("state" + ("_prefill" if number else ""), m.state, dims, resident=held)
            list(self.nodes)[-1].formats["kv"] = m.state_format
        if not m.bare_state:
            rows, row = (n, width) if m.state in ("ssd", "lightning") else (n * heads, wide)
            self.normed("mixer_norm", rows, row, "rmsnorm")
        self.vector("mixer_gate", "silu-mul", dict(tokens=n, hidden=width))
        self.quantised("mixer_out_quantize", n, width, i, "mixer_out")
        self.product("mixer_out_proj", "mixer_out", i, n, m.hidden, width)

    def attend(self, op, dims, kv, name):
        """Attention of the sequences in decode and of those in prefill."""
        s = self.s
        kinds = [(self.b, s.new, s.seen, "_decode" if self.others else "")]
        if self.others:
            kinds.append((self.others, s.chunk, s.others_context, "_prefill"))
        for batch, new, seen, phase in kinds:
            self.add(Node("attention" + phase + name, op, dict(dims, batch=batch, query_len=new,
                                                         kv_len=seen, causal=1),
                          self.formats(self.f.weights, self.f.out, kv)))

    def attend_chunks(self, op, dims, kv):
        """Runs of tokens of one chunk, which attend to their chunk up to themselves. A pass shorter
        than a chunk that begins behind its first token and ends beyond the first chunk may stand
        anywhere: its tokens see (chunk + 1) / 2 keys in the mean."""
        s, size = self.s, self.m.window
        kinds = [(self.b, s.new, s.seen, "_decode" if self.others else "")]
        if self.others:
            kinds.append((self.others, s.chunk, s.others_context, "_prefill"))
        for batch, new, seen, phase in kinds:
            if seen > size > new and seen > new:
                runs = {(new, (size + new) // 2): 1}
            else:
                runs, position = {}, seen - new
                while position < seen:
                    end = min(seen, (position // size + 1) * size)
                    run = end - position, end - position // size * size
                    runs[run] = runs.get(run, 0) + 1
                    position = end
            for (some, keys), count in runs.items():
                whole = len(runs) == 1 or some == keys == size
                name = "" if whole else "_begin" if keys == size else "_end"
                self.add(Node("attention" + phase + "_chunk" + name, op,
                              dict(dims, batch=batch * count, query_len=some, kv_len=keys, causal=1),
                              self.formats(self.f.weights, self.f.out, kv)))

    def attend_blocks(self, i, op, dims, rotated):
        """An indexer chooses blocks of keys, where there are more keys than in those."""
        c, n, f, s = self.m.choice, self.n, self.f, self.s
        heads, width = max(1, c["sparse_num_index_heads"] // s.tp), c["sparse_index_dim"]
        most = c["sparse_topk_blocks"] * c["sparse_block_size"]
        self.product("index_q_proj", "index", i, n, heads * width, self.m.hidden)
        self.normed("index_q_norm", n * heads, width)
        self.product("index_k_proj", "index", i, n, width, self.m.hidden)
        self.normed("index_k_norm", n, width)
        self.vector("index_rope", "rope", dict(tokens=n, heads=heads, kv_heads=1, head_dim=rotated))
        self.vector("index_append", "kv-append", dict(tokens=n, heads=1, kv_heads=1, head_dim=width // 2))
        kinds = [(self.b, s.new, s.seen, "", "_decode" if self.others else "")]
        if self.others:
            kinds.append((self.others, s.chunk, s.others_context, "_prefill", "_prefill"))
        for batch, new, seen, behind, phase in kinds:
            chosen = seen > most
            if chosen:
                scores = self.formats(f.weights, f.out, f.kv)
                self.add(Node("block_scores" + behind, "block-scores",
                              dict(batch=batch, heads=heads, head_dim=width, query_len=new, kv_len=seen,
                                   causal=1, compression=c["sparse_block_size"]), dict(scores, out="fp32")))
                self.add(Node("block_top_k" + behind, "index-top-k",
                              dict(batch=batch * heads, query_len=new, selected=c["sparse_topk_blocks"],
                                   kv_len=ceil_div(seen, c["sparse_block_size"])),
                              dict(scores, activations="fp32", out="fp32")))
            self.add(Node("attention" + phase + "_blocks" * chosen, op,
                          dict(dims, window=most if chosen else 0, batch=batch, query_len=new, kv_len=seen,
                               causal=1), self.formats(f.weights, f.out, f.kv)))

    def plain_attention(self, i, windowed, own):
        m, s, f, n = self.m, self.s, self.f, self.n
        heads, d, wide = own["heads"] // s.tp, own["key"], own["value"]
        groups = max(1, own["kv"] // s.tp)
        mean = Fraction(d + wide, 2)
        one = len({f.stored(x, i) for x in "qkv"}) == 1 and \
            len({f.read_in(x, i) for x in "qkv"}) == 1
        asks = heads * (2 if m.query_gate else 1)
        widths = [("q", asks * d)] + [("k", groups * d)] * (not own["late"]) + \
            [("v", groups * wide)] * (not own["late"] and not own["same"])
        if one and not s.split and not own["late"]:
            self.product("qkv_proj", "q", i, n, sum(x for _, x in widths), m.hidden, m.qkv_bias)
        else:
            for name, width in widths:
                self.product(name + "_proj", name, i, n, width, m.hidden, m.qkv_bias)
        if m.qk_norm and m.wide_norm:
            self.normed("q_norm", n, heads * d, "rmsnorm")
            self.normed("k_norm", n, groups * d, "rmsnorm")
        elif m.qk_norm and m.chunked:
            if not m.still[i]:
                self.vector("q_norm", "rmsnorm", dict(tokens=n * heads, hidden=d, gain=0))
                self.vector("k_norm", "rmsnorm", dict(tokens=n * groups, hidden=d, gain=0))
        elif m.qk_norm:
            self.normed("q_norm", n * heads, d, "rmsnorm")
            if not own["late"]:
                self.normed("k_norm", n * groups, d, "rmsnorm")
        if m.value_norm and not own["late"]:
            self.vector("v_norm", "rmsnorm", dict(tokens=n * groups, hidden=d, gain=0))
        if own["late"]:  # Q alone is rotated
            self.rotate("rope", heads, own["rotated"])
        elif not m.learned and not m.rope_free and not m.still[i]:
            self.vector("rope", "rope", dict(tokens=n, heads=heads, kv_heads=groups,
                                             head_dim=own["rotated"]))
        if not own["late"]:
            self.vector("kv_append", "kv-append", dict(tokens=n, heads=heads, kv_heads=groups,
                                                       head_dim=mean))
        op = "attention" if s.unfused else "flash-attention"
        dims = dict(heads=heads, kv_heads=groups, head_dim=mean)
        if m.branches:
            block, count, last = m.branches
            self.vector("compress_append", "kv-append", dict(
                tokens=ceil_div(n, block), heads=heads, kv_heads=groups, head_dim=d))
            self.product("gates_proj", "q", i, n, 3 * heads, m.hidden)
            self.attend("nsa", dict(dims, window=last, compression=block, selected=count * block), f.kv, "")
        elif own["blocks"]:
            self.attend_blocks(i, op, dims, own["rotated"])
        elif windowed and m.chunked:
            self.attend_chunks(op, dict(dims, window=0), f.kv)
        else:
            self.attend(op, dict(dims, window=m.window if windowed else 0), f.kv,
                        "_window" if windowed else "")
        if m.sinks or (m.window_sinks and windowed):
            last = list(self.nodes)[-1]
            last.resident.append((f.stored("norm"), heads, 0, 0))
        if m.query_gate:
            self.vector("attn_gate", "silu-mul", dict(tokens=n, hidden=heads * wide))
        if m.head_gate:
            self.product("head_gate_proj", "q", i, n, heads, m.hidden)
            self.vector("attn_gate", "gelu", dict(tokens=n, hidden=heads * wide))
        self.quantised("o_quantize", n, heads * wide, i, "o")
        self.product("o_proj", "o", i, n, m.hidden, heads * wide, m.o_bias)

    def cross_attention(self, i):
        """Queries of the text, and the keys and values that images have left; two gates."""
        m, s, f, n = self.m, self.s, self.f, self.n
        heads, groups = m.heads // s.tp, max(1, m.kv_heads // s.tp)
        self.product("q_proj", "q", i, n, heads * m.head_dim, m.hidden)
        self.normed("q_norm", n * heads, m.head_dim)
        op, gates = "attention" if s.unfused else "flash-attention", [(f.stored("norm"), 2, 0, 0)]
        kinds = [(self.b, s.new, "_decode" if self.others else "")]
        if self.others:
            kinds.append((self.others, s.chunk, "_prefill"))
        for batch, new, phase in kinds:
            self.add(Node("attention" + phase + "_cross", op,
                          dict(batch=batch, heads=heads, kv_heads=groups, head_dim=m.head_dim,
                               query_len=new, kv_len=max(1, s.keys)),
                          self.formats(f.weights, f.out, f.kv), gates))
            gates = []
        self.quantised("o_quantize", n, heads * m.head_dim, i, "o")
        self.product("o_proj", "o", i, n, m.hidden, heads * m.head_dim, m.o_bias)

    def latent_attention(self, i):
        m, s, f, n = self.m, self.s, self.f, self.n
        chooses = m.own[i]["chooses"]
        heads, width = m.heads // s.tp, m.latent + m.rope
        if m.q_latent:
            same = f.stored("q_a", i) == f.stored("kv_a", i) and \
                f.read_in("q_a", i) == f.read_in("kv_a", i)
            if same and not s.split:
                self.product("qkv_a_proj", "q_a", i, n, m.q_latent + width, m.hidden)
            else:
                self.product("q_a_proj", "q_a", i, n, m.q_latent, m.hidden)
                self.product("kv_a_proj", "kv_a", i, n, width, m.hidden)
            self.normed("q_a_norm", n, m.q_latent, "rmsnorm")
            self.quantised("q_b_quantize", n, m.q_latent, i, "q_b", *["index"] * chooses)
            self.product("q_b_proj", "q_b", i, n, heads * (m.nope + m.rope), m.q_latent)
        else:
            self.product("q_proj", "q", i, n, heads * (m.nope + m.rope), m.hidden)
            self.product("kv_a_proj", "kv_a", i, n, width, m.hidden)
        self.normed("kv_a_norm", n, m.latent, "rmsnorm")
        if not m.unturned:
            self.vector("rope", "rope", dict(tokens=n, heads=heads, kv_heads=1, head_dim=m.rope))
        self.vector("kv_append", "kv-append", dict(tokens=n, kv_heads=1,
                                                   head_dim=Fraction(width, 2)))
        sizes = dict(heads=heads, kv_lora_rank=m.latent, qk_nope_head_dim=m.nope,
                     qk_rope_head_dim=m.rope, v_head_dim=m.v)
        # The matrix that expands the latent is stored once, however it is used.
        held = (f.stored("kv_b", i), heads * (m.nope + m.v) * m.latent, 1, heads * (m.nope + m.v))
        if chooses:
            self.index_inputs(i)
        decode = s.phase != "prefill"
        kinds = [(self.b, s.new, s.seen if decode else s.context, decode)]
        if self.others:
            kinds.append((self.others, s.chunk, s.others_context, False))
        for number, (batch, new, seen, absorbed) in enumerate(kinds):
            after = "_prefill" if number else ""
            if chooses and seen > m.chosen:
                self.choose(batch, new, seen, after)
            absorbed = absorbed or not self.expanding_is_less(new, seen)
            if absorbed:
                rows = batch * new
                sparse = m.chosen and seen > m.chosen
                self.quantised("q_absorb_quantize", rows, heads * m.nope, i, "kv_b")
                self.product("q_absorb" + after, "kv_b", i, rows, m.latent, m.nope, op="bmm",
                             batch=heads, resident=False)
                self.attend_latent("sparse-mla" if sparse else "mla-decode", sizes, batch, new,
                                   seen, f.kv, number)
                self.quantised("v_absorb_quantize", rows, heads * m.latent, i, "kv_b")
                self.product("v_absorb" + after, "kv_b", i, rows, m.v, m.latent, op="bmm",
                             batch=heads, resident=False)
            else:
                self.quantised("kv_b_quantize", batch * seen, m.latent, i, "kv_b")
                self.product("kv_b_proj", "kv_b", i, batch * seen, heads * (m.nope + m.v), m.latent,
                             resident=False)
                self.attend_latent("mla-prefill", sizes, batch, new, seen, f.out, number)
        last = next(node for node in reversed(list(self.nodes))
                    if node.name.startswith(("kv_b_proj", "v_absorb")))
        last.resident.append(held)
        if m.output_gate:
            self.product("attn_gate_proj", "q_a" if m.q_latent else "q", i, n, heads * m.v, m.hidden)
            self.vector("attn_gate", "silu-mul", dict(tokens=n, hidden=heads * m.v))
        self.quantised("o_quantize", n, heads * m.v, i, "o")
        self.product("o_proj", "o", i, n, m.hidden, heads * m.v, m.o_bias)

    def choices(self, i):
        """The chosen keys, numbers of 32 bits, that layer i gets from the stage before it."""
        m, s = self.m, self.s
        if not m.chosen or m.own[i]["chooses"]:
            return 0
        groups = [(self.b, s.new, s.seen if s.phase != "prefill" else s.context)]
        if self.others:
            groups.append((self.others, s.chunk, s.others_context))
        keys = sum(count * new * m.chosen for count, new, seen in groups if seen > m.chosen)
        return int(keys * 32 / Fraction(FORMATS[self.f.out]["bits"]))

    def index_inputs(self, i):
        """The queries, the key and the weights of the indexer, whole on every device."""
        m, n = self.m, self.n
        heads, size = m.index
        self.product("index_q_proj", "index", i, n, heads * size, m.q_latent)
        self.product("index_k_proj", "index", i, n, size + heads, m.hidden)
        self.normed("index_k_norm", n, size, "layernorm")
        self.vector("index_rope", "rope", dict(tokens=n, heads=heads, kv_heads=1, head_dim=m.rope))
        self.vector("index_append", "kv-append", dict(tokens=n, kv_heads=1,
                                                      head_dim=Fraction(size, 2)))
        list(self.nodes)[-1].formats["kv"] = INDEX_KEYS

    def choose(self, batch, new, seen, after):
        heads, size = self.m.index
        dims = dict(batch=batch, query_len=new, kv_len=seen)
        for op, more, formats in (
                ("index-scores", dict(heads=heads, head_dim=size, causal=1),
                 dict(activations="fp8_e4m3", kv=INDEX_KEYS, out="fp32")),
                ("index-top-k", dict(selected=self.m.chosen),
                 dict(activations="fp32", kv=INDEX_KEYS, out="fp32"))):
            self.add(Node(op.replace("-", "_") + after, op, dict(dims, **more),
                          dict(formats, weights=self.f.weights, compute=None)))

    def expanding_is_less(self, new, seen):
        """Whether K and V of each head over all keys take fewer FLOPs, made from the latents of the
        keys, than Q and the result on the latents of those that are attended to. Query i sees up to
        seen - new + 1 + i keys."""
        m = self.m
        first = seen - new + 1
        dense = (first + seen) * new // 2
        few = sum(min(m.chosen, keys) for keys in range(first, seen + 1)) \
            if m.chosen and seen > m.chosen else dense
        each = m.latent * (m.nope + m.v)
        return dense * (m.nope + m.rope + m.v) + seen * each < \
            few * (2 * m.latent + m.rope) + new * each

    def attend_latent(self, op, sizes, batch, new, seen, kv, number):
        phase = ("_prefill" if number else "_decode") if self.others else ""
        if op == "sparse-mla":
            sizes = dict(heads=sizes["heads"], kv_lora_rank=self.m.latent,
                         qk_rope_head_dim=self.m.rope, selected=self.m.chosen)
        self.add(Node("attention" + phase, op, dict(sizes, batch=batch, query_len=new, kv_len=seen,
                                            causal=1), self.formats(self.f.weights, self.f.out, kv)))

    def mlp(self, prefix, classes, i, inner):
        m, s, f, n = self.m, self.s, self.f, self.n
        gate, up, down = classes + "gate", classes + "up", classes + "down"
        if not m.gated:
            self.product(prefix + "up_proj", up, i, n, inner, m.hidden, m.mlp_bias)
        elif f.stored(gate, i) == f.stored(up, i) and f.read_in(gate, i) == f.read_in(up, i) \
                and not s.split:
            self.product(prefix + "gate_up_proj", gate, i, n, 2 * inner, m.hidden, m.mlp_bias)
        else:
            self.product(prefix + "gate_proj", gate, i, n, inner, m.hidden, m.mlp_bias)
            self.product(prefix + "up_proj", up, i, n, inner, m.hidden, m.mlp_bias)
        self.vector((prefix or "mlp_") + "act", "silu-mul" if m.gated else "gelu",
                    dict(tokens=n, hidden=inner))
        self.quantised("down_quantize", n, inner, i, down)
        self.product(prefix + "down_proj", down, i, n, m.hidden, inner, m.mlp_bias)

    def copies(self):
        """Devices of other groups that each device sends a token to, in expectation."""
        e, k, (groups, few) = self.m.experts, self.m.top_k, self.m.groups
        parts = self.s.parts
        if parts % groups and groups % parts:
            groups, few = 1, 1
        if self.m.zero:
            groups, few, e, k = 1, 1, e + self.m.zero, self.m.chosen_experts
            missed = Fraction(math.comb(e - self.m.experts // parts, k), math.comb(e, k))
            return (self.s.groups - 1) * (1 - missed)
        # A part has some of the experts of each of its groups, which are chosen or not.
        own, here = max(1, groups // parts), e // max(parts, groups)
        drawn = few * (e // groups)
        missed = sum(Fraction(math.comb(own, j) * math.comb(groups - own, few - j), math.comb(groups, few))
                     * Fraction(math.comb(drawn - j * here, k), math.comb(drawn, k))
                     for j in range(min(own, few) + 1))
        return (self.s.groups - 1) * (1 - missed)

    def exchange(self, name, gathers, fmt):
        """Tokens to the experts, or their results back."""
        held, groups, parts = self.n * (self.m.expert_hidden or self.m.hidden), self.s.groups, self.s.parts
        if groups > 1 and parts > 1:
            sent = math.ceil(held * self.copies() * parts / (parts - 1))
            self.collective(name, "all-to-all", sent, parts, fmt)
        elif groups > 1:
            self.collective(name, gathers, groups * held, groups, fmt, "stage")

    def expert_layer(self, i):
        m, s, f, n = self.m, self.s, self.f, self.n
        h, inner = m.hidden, m.expert_inner // s.cut
        e = m.expert_hidden or h
        every = m.experts + m.zero
        self.product("router", "router", i, n, every, h, m.router_bias)
        self.vector("top_k", "router", dict(tokens=n, experts=every, top_k=m.chosen_experts))
        gate, up = f.stored("expert_gate", i), f.stored("expert_up", i)
        stored = larger(gate, up) if m.gated else up
        read = f.read_in("expert_gate" if m.gated and stored == gate else "expert_up", i)
        down, read_down = f.stored("expert_down", i), f.read_in("expert_down", i)
        if m.expert_hidden:
            self.quantised("latent_in_quantize", n, h, i, "latent_in")
            self.product("latent_in_proj", "latent_in", i, n, e, h, m.mlp_bias)
        self.exchange("dispatch", "all-gather", read)
        dims = dict(tokens=self.whole, hidden=e, intermediate=inner, experts=m.experts,
                    top_k=m.top_k, routing=s.routing, ep=s.parts, bias=int(m.expert_bias))
        own = m.experts // s.parts
        bias = f.stored("norm")

        def expert(name, op, fmt, read, matrices, rows):
            held = [(fmt, own * matrices * e * inner, own * matrices, own * rows)]
            if m.expert_bias:
                held.append((bias, own * rows, 0, 0))
            self.add(Node(name, op, dims, self.formats(fmt, read, compute=f.compute), held,
                          routed=True, linear=True))
        if stored == down and read == read_down:
            if m.gated:
                expert("experts", "moe", stored, read, 3, 2 * inner + e)
            else:
                expert("experts", "moe-ungated", stored, read, 2, inner + e)
        else:
            if m.gated:
                expert("experts_gate_up", "moe-gate-up", stored, read, 2, 2 * inner)
            else:
                expert("experts_up", "moe-up", stored, read, 1, inner)
            expert("experts_down", "moe-down", down, read_down, 1, e)
        self.exchange("combine", "reduce-scatter", f.out)
        if m.expert_hidden and m.latent_norm:
            if s.tp > 1:
                self.collective("latent_all_reduce", "all-reduce", n * e, s.tp, f.out)
            self.normed("latent_norm", n, e)
        if m.expert_hidden:
            self.quantised("latent_out_quantize", n, e, i, "latent_out")
            self.product("latent_out_proj", "latent_out", i, n, h, e, m.mlp_bias)
        if m.shared:
            self.quantised("shared_quantize", n, h, i, *["shared_gate"] * bool(m.gated), "shared_up")
            self.mlp("shared_", "shared_", i, m.shared // s.tp)
            if m.shared_gate:
                list(self.nodes)[-1].resident.append((f.stored("norm"), h, 0, 0))
            self.vector("shared_add", "add", dict(tokens=n, hidden=h))

    # Totals of the stage.
    def predict(self, device, sparse):
        return [(count, node, self.placed(node, device, sparse))
                for node, count in self.nodes.items()]

    def placed(self, node, device, sparse):
        """The bound of an operator on the host: that of the host, or if its weights may be copied,
        the lower one of that and of the device, which waits for the weights."""
        there = self.one(node, device, sparse) if node.copied or not node.away else None
        if not node.away:
            return there
        p = self.one(node, device.host, sparse)
        if not node.copied:
            return p
        rates = [device.host.bandwidth] + ([device.host_link] if device.host_link else [])
        arrives = p["by_role"]["weights"] / min(rates)
        if p["time"] <= max(arrives, there["time"]):
            return p
        if there["time"] >= arrives:
            return there
        return dict(p, memory=arrives, time=arrives,
                    attainable=None if p["compute"] is None else p["flops"] / arrives)

    @staticmethod
    def one(node, device, sparse):
        sparse = sparse and node.linear
        p = operators.predict(node.op, node.dims, node.formats, device, sparse)
        if node.op == "all-reduce" and device.joined(node.dims["within"], 2)[1] > 0:
            other = operators.predict(node.op, dict(node.dims, algorithm="one-shot"), node.formats,
                                      device, sparse)
            p = min(p, other, key=lambda x: x["time"])
        return p

    def weights_memory(self, sparse, away=False):
        return sum(count * node.own_bytes(sparse) for node, count in self.held()
                   if node.away == away)

    def held(self):
        """The operators whose weights are resident: of an encoder also where it does not run."""
        return list(self.nodes.items()) + list(self.idle.items())

    def host_memory(self, sparse, layers):
        """Weights and cache that are not on the device."""
        s = self.s
        cached = [i for i in layers if i < s.away and s.offload == "layers"]
        return self.weights_memory(sparse, True) + self.cache(cached)

    def cache(self, layers, context=None, chooses=None):
        """Of all sequences: each group has ceil(B / a) of them."""
        m, s = self.m, self.s
        sequences = [(ceil_div(s.batch, s.groups), context or s.seen)]
        if s.others:
            sequences.append((ceil_div(s.others, s.groups), s.others_context))
        total = Fraction(0)
        if s.phase == "encode":  # layers that attend to images have their keys made
            layers = [i for i in layers if m.crossed[i]]
        for i in layers:
            for count, seen in sequences:
                seen = seen if context else max(seen, s.held)
                tokens = min(seen, m.window) if m.layers[i][0] else seen
                tokens = s.keys if m.crossed[i] else tokens
                if m.layers[i][3]:
                    own = m.own[i] if chooses is None else dict(m.own[i], chooses=chooses)
                    total += cache_bytes(m, s.tp, self.f.kv, count * tokens, own)
                if m.branches:  # a key and a value of each whole block
                    total += cache_bytes(m, s.tp, self.f.kv, count * (seen // m.branches[0]), m.own[i])
                if m.layers[i][2]:
                    total += count * self.state_bytes()
                ratio = m.own[i]["ratio"]
                if ratio:  # and what waits to be compressed: tokens, of overlapping windows also before
                    wide = m.head_dim + m.index[1] * (ratio == 4)
                    total += compressed_bytes(m, self.f.kv, ratio, count * (seen // ratio)) + count * \
                        tensor_bytes(self.f.out, 2 * ratio * wide * (3 if ratio == 4 else 1), 0, ratio)
        return total

    def state_bytes(self):
        """Of a sequence in a layer: the state, and the last inputs of the convolution."""
        m, t = self.m, self.s.tp
        heads, _, size, wide = m.sizes
        before = max(0, m.taps - 1)
        return tensor_bytes(m.state_format, heads // t * size * wide, 0, heads // t) + \
            tensor_bytes(self.f.out, before * self.channels(), 0, before)

    def channels(self):
        """What goes through the convolution: values, and but for Mamba-1 queries and keys."""
        heads, groups, size, wide = self.m.sizes
        own = heads // self.s.tp * wide
        return own if self.m.state == "selective-scan" else 2 * max(1, groups // self.s.tp) * size + own

    def activations_memory(self, predicted):
        residual = tensor_bytes(self.f.out, self.n * self.m.hidden * self.m.residuals(self.last_layer + 1), 1, self.n)
        if self.s.phase == "encode":
            s, sizes = self.s, []
            if s.images:
                sizes.append((self.b * s.images * self.m.tower.rows(*s.size), self.m.tower.hidden))
            if s.clips:
                sizes.append((self.b * s.clips * self.m.audio.rows(s.seconds), self.m.audio.hidden))
            residual = max(tensor_bytes(self.f.out, rows * wide, 1, rows) for rows, wide in sizes) \
                if self.stage == 0 else 0
        return residual + self.most_live([one for one in predicted if not one[1].away])

    @staticmethod
    def most_live(predicted):
        most = 0
        for _, node, p in predicted:
            for part in p.get("parts", [p]):
                held = part["by_role"]["activations"] + part["by_role"]["out"]
                if node.op == "mla-prefill":
                    held += part["by_role"]["kv"]
                most = max(most, held)
        return most


class Predictor(Graph):
    """One module for multi-token prediction, on the last stage."""

    def build(self, layers):
        h = self.m.hidden
        self.embed()
        self.normed("embedding_norm", self.n, h)
        self.normed("hidden_norm", self.n, h)
        self.quantised("join_quantize", self.n, 2 * h, 0, "lm_head")
        self.product("join_proj", "lm_head", 0, self.n, h, 2 * h)
        own = self.m.own[layers[-1]]
        kept, own["chooses"] = own["chooses"], self.m.chosen > 0  # a module chooses its own keys
        self.layer(layers[-1])
        own["chooses"] = kept
        self.head(True)
        self.join()

    def resident_of(self, modules, sparse):
        """All modules, and the table of the embedding where another device has it."""
        table = next(node for node in self.nodes if node.name == "embedding")
        table.borrowed = True
        copy = tensor_bytes(*table.resident[0]) if self.s.pp > 1 else 0
        return modules * self.weights_memory(sparse) + copy


def predict_own(m, s, asked, device, f, sparse):
    """The step of one module, and what all of them hold."""
    without = dict(asked, context=s.context)
    for key in ("draft_tokens", "acceptance"):
        without.pop(key, None)
    s = Scenario(m, without)
    last = [len(m.layers) - 1]
    graph = Predictor(m, s, f, s.pp - 1, device.places, last)
    one = operators.add_up([(count, p) for count, _, p in graph.predict(device, sparse)])
    wait = Fraction(str(asked.get("host_gap_us", 0))) / 10 ** 6
    waits = sum(count * len(p.get("parts", [p])) for count, _, p in graph.predict(device, sparse))
    return dict(step=s.microbatches * (one["time"] + waits * wait), weights=graph.resident_of(m.predictors, sparse),
                cache=m.predictors * graph.cache(last, chooses=m.chosen > 0))


def cache_bytes(m, tp, kv, tokens, own):
    if m.latent:
        keys = tensor_bytes(INDEX_KEYS, tokens * m.index[1], 0, tokens) if own["chooses"] else 0
        return tensor_bytes(kv, tokens * (m.latent + m.rope), 0, tokens) + keys
    if own["late"]:
        return 0
    if m.compressed:
        return tensor_bytes(kv, tokens * m.head_dim, 0, tokens)
    groups = max(1, own["kv"] // tp)
    index = tensor_bytes(kv, tokens * m.choice["sparse_index_dim"], 0, tokens) if own["blocks"] else 0
    return index + tensor_bytes(kv, tokens * groups * (own["key"] + own["value"]), 0, 2 * tokens * groups)


def compressed_bytes(m, kv, ratio, keys):
    """Compressed keys of a layer, and index keys where they are chosen."""
    index = tensor_bytes(INDEX_KEYS, keys * m.index[1], 0, keys) if ratio == 4 else 0
    return tensor_bytes(kv, keys * m.head_dim, 0, keys) + index


def cache_per_token(m, kv, full=False):
    """Of the whole model; full: windows are, so that only the other layers keep one more."""
    more = sum(compressed_bytes(m, kv, own["ratio"], Fraction(1, own["ratio"]))
               for own in m.own if own["ratio"])
    one = 1 + (Fraction(1, m.branches[0]) if m.branches else 0)
    return more + sum(cache_bytes(m, 1, kv, one, own) for layer, own, crossed in zip(m.layers, m.own, m.crossed)
                      if layer[3] and not crossed and not (full and layer[0]))


def stages(count, pp):
    """The layers of each stage."""
    result, first = [], 0
    for stage in range(pp):
        size = count // pp + (stage < count % pp)
        result.append(range(first, first + size))
        first += size
    return result


def infer(m, asked, device, classes=None, layout=None, sparse=False, draft=None):
    """The row that the program should print of one pass, or of a request."""
    s = Scenario(m, asked)
    check_split(m, s)
    f = Formats(m, asked, classes or {}, layout)
    parts = stages(len(m.layers), s.pp)
    graphs = [Graph(m, s, f, stage, device.places, layers) for stage, layers in enumerate(parts)]
    if sparse and s.phase != "encode" and not all(any(node.linear for node in graph.nodes)
                                                   for graph in graphs):
        raise Refused("sparse")
    predicted = [graph.predict(device, sparse) for graph in graphs]
    sums = [operators.add_up([(count, p) for count, _, p in one]) for one in predicted]
    slowest = max(range(s.pp), key=lambda x: sums[x]["time"])
    everything = operators.add_up([(count, p) for one in predicted for count, _, p in one])
    # Each stage waits for the host, and has a share of what is beside the model.
    gap, serial = (Fraction(str(asked.get(key, 0))) / 10 ** power
                   for key, power in (("host_gap_us", 6), ("serial_ms", 3)))
    waits = [Fraction(asked["launches"], s.pp) if "launches" in asked else
             sum(count * len(p.get("parts", [p])) for count, _, p in one) for one in predicted]
    host = [wait * gap + serial / s.pp for wait in waits]
    if "launches" in asked and not gap:
        raise Refused("launches")
    times = [one["time"] + more for one, more in zip(sums, host)]
    everything["shares"]["overhead"] = sum(host)
    if any(host):
        shares = everything["shares"]
        everything["bottleneck"] = max(shares, key=lambda name: shares[name])
        slowest = max(range(s.pp), key=lambda x: times[x])
    path, slow, micro = sum(times), times[slowest], s.microbatches
    if "stages" in BROKEN:
        step = path
    elif s.phase == "prefill":
        # The batch is dealt out evenly: `larger` microbatches have one sequence more, the first too.
        larger = s.batch % micro
        step = path + (micro - 1) * slow
        if larger and micro > 1:
            even = infer(m, dict(asked, batch=s.batch - larger), device, classes, layout, sparse)
            step -= (micro - larger) * (slow - even["slow"])
    else:
        step = max(path, micro * slow)
    here = [[i for i in layers if i >= s.away or s.offload != "layers"] for layers in parts]
    memory = [(graph.weights_memory(sparse), graph.cache(layers), graph.activations_memory(one))
              for graph, layers, one in zip(graphs, here, predicted)]
    most = max(memory, key=sum)
    weights, cache, active = most
    if s.phase == "encode":  # its passes have the weights of the encoder alone
        text = infer(m, {k: v for k, v in dict(asked, phase="prefill", context=1).items()
                         if k not in MEDIA}, device.linked(), classes, layout, sparse)
        weights, away = text["weights"], text.get("away_weights", 0) + graphs[0].cache(
            [i for i in parts[0] if i < s.away and s.offload == "layers"])
    if "acceptance" in BROKEN:
        s.acceptance = 1
    tokens_per_step = sum(s.acceptance ** j for j in range(s.drafts + 1))
    total = sums[slowest]
    if everything["network_bytes"] is not None:
        total["network_bytes"] = total["network_bytes"] or Fraction(0)
    row = dict(flops=total["flops"], bytes=total["bytes"], network_bytes=total["network_bytes"],
               arithmetic_intensity=total["intensity"], memory_time=everything["memory"],
               compute_time=everything["compute"], network_time=everything["network"],
               time=everything["time"], host=sum(host), waits=sum(waits) if gap else None,
               bottleneck=everything["bottleneck"], step=step, weights=weights, cache=cache,
               active=active, by_role=total["by_role"], shares=everything["shares"],
               attainable=total["attainable"] if s.pp == 1 else None,
               native=all(p["native"] for one in predicted for _, node, p in one if not node.away),
               tokens_per_step=tokens_per_step, predicted=predicted, slowest=slowest, s=s, f=f)
    row["slow"], row["power"] = slow, everything["power"]
    known = everything["dynamic"] is not None and device.constant is not None
    row["energy"] = everything["dynamic"] + device.constant * step \
        if known and s.pp == 1 and not s.drafts else None
    row["per_token"] = cache_per_token(m, f.kv)
    row["per_further_token"] = cache_per_token(m, f.kv, full=True)
    row["capacity"], row["reserve"] = device.capacity, None
    if asked.get("in_loop"):
        draft = None
    if draft:
        draft_asked = dict(asked, context=s.context, tp=s.tp * s.groups)
        for key in ("draft_tokens", "acceptance", "routing", "ep", "attention_dp", "moe_tp",
                    "moe_ep", *MEDIA, "seen"):  # it drafts text
            draft_asked.pop(key, None)
        if draft.learned and s.context + s.drafts - 1 > draft.positions:
            raise Refused("positions")
        other = infer(draft, draft_asked, device, {}, None, sparse)
    own = s.drafts and m.predictors and not draft and not asked.get("in_loop")
    if own:
        other = predict_own(m, s, asked, device, f, sparse)
    if draft or own:
        row["draft"] = s.drafts * other["step"]
        row["step"] = step = step + row["draft"]
        row["weights"] += other["weights"]
        row["cache"] += other["cache"]
    if s.away:
        row["away"] = sum(count * p["time"] for count, node, p in predicted[0] if node.away)
        row["host_active"] = graphs[0].most_live([one for one in predicted[0] if one[1].away])
        row["host_held"] = away if s.phase == "encode" else graphs[0].host_memory(sparse, parts[0])
        row["away_weights"] = graphs[0].weights_memory(sparse, True)
        row["host_capacity"] = device.host.capacity
    fill_memories(row, device)
    row["ttft"] = row["tpot"] = None
    if s.phase == "encode":
        row["rate"] = s.batch * (s.image_tokens + s.audio_tokens) / step
    elif s.phase == "prefill":
        row["ttft"] = None if "chunk" in asked and s.new < s.context else step
        row["rate"] = s.batch * s.new / step
    else:
        row["tpot"] = step / tokens_per_step
        row["rate"] = s.batch * tokens_per_step / step
    return row


def fill_memories(row, device):
    """Whether what a device and its host hold fits."""
    s = row["s"]
    row["fits"] = None if device.capacity is None else \
        row["weights"] + row["cache"] + row["active"] <= (1 - s.reserve) * device.capacity
    if s.away:
        row["host_memory"] = row["host_held"] + row["host_active"]
        row["host_fits"] = "host" in BROKEN or row["host_memory"] <= device.host.capacity
        # What does not fit in one memory does not fit, known or not the other.
        row["fits"] = False if not row["host_fits"] else row["fits"]


def widen(row, others):
    """What a request holds beside weights and cache is the most that one of its passes does."""
    for key in ("active", "host_active"):
        if key in row:
            row[key] = max([row[key]] + [other.get(key, 0) for other in others])


def parameters(m):
    """All of the model and those that a token uses."""
    f = Formats(m, {}, {}, None)
    graph = Graph(m, Scenario(m, {"context": 1}), f, 0, (), range(len(m.layers)))
    total = active = Fraction(0)
    for node, count in graph.held():
        elements = count * sum(part[1] for part in node.own())
        total += elements
        used = Fraction(m.top_k, m.experts) if node.routed else node not in graph.idle
        active += elements * used
    return total, active


class InFlight:
    """Requests in a closed loop (docs/formulas.md, "Requests")."""

    def __init__(self, m, asked, device, options):
        self.m, self.device, self.options = m, device, options
        self.prompt, self.generate = asked["prompt"], asked["generate"]
        self.common = {key: value for key, value in asked.items()
                       if key not in ("prompt", "generate", "chunk", "prefix_hit") + MEDIA}
        self.media = {key: asked[key] for key in MEDIA if key in asked}
        if "image_size" in asked and "images" not in asked or \
                "audio_length_s" in asked and "audio" not in asked:
            raise Refused("images or audio")
        if self.media:
            first = Scenario(m, dict(self.media, phase="encode", batch=asked.get("batch", 1)))
            if first.places > self.prompt:
                raise Refused("tokens of images and audio")
            if "images" in self.media:  # each pass attends to them where layers do
                self.common["seen"] = {key: self.media[key] for key in ("images", "image_size") if key in self.media}
        hit = Fraction(str(asked.get("prefix_hit", 0)))
        if not 0 <= hit <= 1:
            raise Refused("prefix hit")
        self.cached = min(math.floor(hit * self.prompt), self.prompt - 1)
        self.new = self.prompt - self.cached
        self.budget = asked.get("chunk", 8192) or self.new
        self.chunks = ceil_div(self.new, self.budget)
        self.context = self.prompt + self.generate // 2
        self.full = self.prompt + self.generate
        if m.learned and self.full + asked.get("draft_tokens", 0) > m.positions:
            raise Refused("positions")
        self.last = infer(m, dict(self.common, context=self.context, held=self.full), device,
                          **options)
        s = self.last["s"]
        self.batch, self.groups, self.lanes = s.batch, s.groups, min(s.pp, s.batch)
        self.known = {}

    def run(self, **said):
        """A pass of the step. The drafts before it are apart, and the lengths were checked."""
        plain = {key: value for key, value in self.common.items()
                 if said.get("phase") != "prefill" or key not in ("draft_tokens", "acceptance")}
        return infer(self.m, dict(plain, in_loop=1, **said), self.device, **self.options)

    def parts(self):
        """The chunks of a prompt: how many, of how many tokens, up to where."""
        groups = min(self.chunks, 32)
        for g in range(groups):
            first, after = self.chunks * g // groups, self.chunks * (g + 1) // groups
            begin, end = (self.new * x // self.chunks for x in (first, after))
            tokens = (end - begin) // (after - first)
            yield after - first, tokens, self.cached + (begin + tokens + end) // 2

    def beside(self, decoding, chunks, tokens, context):
        """The pass with chunks, alone or beside sequences that decode."""
        if decoding == 0:
            return self.run(phase="prefill", batch=chunks, chunk=tokens, context=context)
        return self.run(phase="mixed", batch=decoding, context=self.context, held=self.full,
                        prefill_batch=chunks, chunk=tokens, prefill_context=context)

    def encode(self, prompts):
        return self.run(phase="encode", batch=prompts, **self.media)

    def whole(self, decoding, chunks):
        """A step of whole numbers of sequences and chunks in all lanes."""
        if (decoding, chunks) in self.known:
            return self.known[decoding, chunks]
        drafts = infer(self.m, dict(self.common, batch=decoding, context=self.context),
                       self.device, **self.options).get("draft", 0) if decoding else 0
        if chunks:
            passes = [(Fraction(count, self.chunks), self.beside(decoding, chunks, tokens, at))
                      for count, tokens, at in self.parts()]
        else:
            passes = [(1, self.run(batch=decoding, context=self.context))]
        if chunks and self.media:  # in one of the steps of a prompt
            passes.append((Fraction(1, self.chunks), self.encode(chunks)))
        # A lane comes round again, whatever the pass does.
        time = sum(share * max(row["time"], row["s"].microbatches * row["slow"])
                   for share, row in passes)
        turn = sum(share * row["slow"] for share, row in passes)
        path = sum(share * row["time"] for share, row in passes)
        self.known[decoding, chunks] = time + drafts, turn, path + drafts
        return self.known[decoding, chunks]

    def step(self, decoding, chunks):
        """Between whole numbers: decoding in all lanes, chunks in one."""
        return self.step_turn_and_path(decoding, chunks)[0]

    def step_turn_and_path(self, decoding, chunks):
        """The time of a step, of its slowest stage, and of its way through all stages."""
        unit = 1 if chunks < self.groups else self.groups
        if "shared" in BROKEN:
            unit = 1
        total = decoding * self.lanes
        least, low = math.floor(total), math.floor(chunks / unit) * unit
        part, share = total - least, (chunks - low) / unit
        parts = [(one * two, self.whole(least + i, (low + j * unit) * self.lanes))
                 for i, one in enumerate((1 - part, part))
                 for j, two in enumerate((1 - share, share)) if one * two]
        return [sum(weight * times[i] for weight, times in parts) for i in (0, 1, 2)]

    def times(self, tokens_per_step):
        """ttft, tpot or None, and the whole."""
        b, steps = Fraction(self.batch, self.lanes), (self.generate - 1) / tokens_per_step
        room = self.budget / Fraction(self.new, self.chunks)
        room *= 1 if "shared" in BROKEN else self.groups
        cycle = steps + self.chunks
        waits = b * self.chunks / room > cycle
        cycle = b * self.chunks / room if waits else cycle
        prefilled = b * self.chunks / cycle
        decoding = b * steps / cycle
        if waits or prefilled > 1:
            full = self.step(decoding, prefilled)
            ttft, step = (cycle - steps if waits else self.chunks) * full, full
        else:
            beside = decoding if b > 1 else Fraction(0)
            time, turn, path = self.step_turn_and_path(beside, Fraction(1))
            follows = self.common.get("pp", 1) > 1 and (steps > 0 or self.lanes == 1)
            ttft = path + (self.chunks - 1) * turn if follows else self.chunks * time
            mixed = (b - 1) * self.chunks / steps if steps else 0
            step = ((1 - mixed) * self.step(decoding if b > 1 else b, Fraction(0)) if mixed < 1
                    else 0) + (mixed * self.step(decoding, Fraction(1)) if mixed else 0) \
                if steps else 0
        bounds = [(ttft, step, ttft + steps * step)]
        most = b if b <= room else Fraction(room // 1)
        if b > 1 and steps and not waits and "together" not in BROKEN:
            bounds += [self.together(b, steps, at_once)
                       for at_once in {Fraction(1), min(Fraction(self.groups), most), most}
                       if at_once >= prefilled]
        ttft, step, whole = (min(values) for values in zip(*bounds))
        return ttft, step / tokens_per_step if self.generate > 1 else None, whole

    def together(self, b, steps, at_once):
        """ttft, a step and the whole if some prompts are prefilled in the same steps."""
        time, turn, path = self.step_turn_and_path(b - at_once, at_once)
        ttft = path + (self.chunks - 1) * turn if self.common.get("pp", 1) > 1 else self.chunks * time
        mixed = (b - at_once) * self.chunks / (at_once * steps)
        step = mixed * time + ((1 - mixed) * self.step(b, Fraction(0)) if mixed < 1 else 0)
        return ttft, step, ttft + steps * step

    def widen(self, row):
        """To the widest step: each group in each lane prefills what its budget allows."""
        in_lane = ceil_div(self.batch, self.lanes)
        groups = 1 if "shared" in BROKEN else min(self.groups, in_lane)
        count = min(groups * self.lanes, self.batch)
        tokens = min(self.budget, ceil_div(in_lane, groups) * self.new)
        widen(row, [self.beside(self.batch - count, count, tokens, max(self.prompt, tokens)),
                    self.run(context=self.context, held=self.full)])
        begin = min(ceil_div(in_lane, groups), ceil_div(self.budget, self.new)) * count
        if self.media:
            widen(row, [self.encode(min(begin, self.batch))])


def in_flight(m, asked, device, **options):
    """The row of requests in a closed loop."""
    loop = InFlight(m, asked, device, options)
    row = dict(loop.last)
    if "draft" in row:  # memory, of a draft at the end of the requests
        end = infer(m, dict(loop.common, context=loop.full), device, **options)
        bare = loop.run(context=loop.full)
        own = loop.run(context=loop.context, held=loop.full)
        row["weights"] = own["weights"] + end["weights"] - bare["weights"]
        row["cache"] = own["cache"] + end["cache"] - bare["cache"]
    loop.widen(row)
    fill_memories(row, device)
    row["ttft"], row["tpot"], row["e2e"] = loop.times(row["tokens_per_step"])
    row["rate"] = loop.batch * loop.generate / row["e2e"]
    return row


def request(m, asked, device, **options):
    """Requests: in a closed loop, or a static batch."""
    return (static if asked.get("static") else in_flight)(m, asked, device, **options)


def static(m, asked, device, **options):
    """A static batch: a prefill, which yields the first of them, and
    decode steps at the contexts P + 1 to P + G - 1, one by one."""
    prompt, generate = asked["prompt"], asked["generate"]
    common = {key: value for key, value in asked.items() if key not in ("prompt", "generate", "static")}
    if m.learned and prompt + generate + asked.get("draft_tokens", 0) > m.positions:
        raise Refused("positions")
    steps = {key: value for key, value in common.items()
             if key not in ("prefix_hit",) + MEDIA}
    if "images" in common:  # layers may attend to them
        steps["seen"] = {key: common[key] for key in ("images", "image_size") if key in common}
    before = {key: value for key, value in common.items() if key not in ("draft_tokens",
                                                                         "acceptance")}
    first = infer(m, dict(before, phase="prefill", context=prompt), device, **options)
    times, shares = Fraction(0), dict(first["shares"])
    for context in range(prompt + 1, prompt + generate):
        step = infer(m, dict(steps, context=context), device, **options)
        times += step["tpot"]
    row = infer(m, dict(steps, context=prompt + generate), device, **options)
    widen(row, [first])
    fill_memories(row, device)
    row["step"] = infer(m, dict(steps, context=prompt + generate // 2), device, **options)["step"]
    row["ttft"], row["tpot"] = first["ttft"], times / (generate - 1) if generate > 1 else None
    row["e2e"] = first["ttft"] + times
    row["rate"] = row["s"].batch * generate / row["e2e"]
    return row


def chosen_crossover(m, f, read, tokens):
    """Up to the number of chosen keys all latents are read, and no index; beyond it so many latents
    and, in layers that choose, every index key."""
    count = len(m.layers) * tokens
    latent = tensor_bytes(f.kv, m.latent + m.rope, 0, 1)
    index = tensor_bytes(INDEX_KEYS, m.index[1], 0, 1)
    at = read / (latent * count)
    if at <= m.chosen + 1:
        return at
    return (read - m.chosen * latent * count) / (index * tokens * sum(own["chooses"] for own in m.own))


def crossover(m, row):
    """The context from which a decode step reads more bytes of the cache than of weights."""
    s, f = row["s"], row["f"]
    # K and V of a layer have a scale each where the format has one per tensor, at any context.
    own = len(m.layers) - sum(m.crossed)
    scales = FORMATS[f.kv].get("tensor", 0) * own * (1 if m.latent else 2)
    read = row["by_role"]["weights"] - scales
    # What later layers use again is read again.
    full, narrow = (row["predicted"][0][0][1].dims["tokens"] * sum(
        cache_bytes(m, s.tp, f.kv, 1, dict(own, late=False))
        for layer, own, crossed in zip(m.layers, m.own, m.crossed)
        if layer[3] and bool(layer[0]) == x and not crossed) for x in (False, True))
    attending = sum(1 for i, layer in enumerate(m.layers) if layer[3] and not m.crossed[i])
    # States are read and written at any context, and keys of images are read.
    read -= sum(count * p["by_role"]["kv"] for count, node, p in row["predicted"][0]
                if node.op in operators.STATES or node.name == "attention_cross")
    if not attending or m.compressed or m.branches or m.choice.get("use_sparse_attention"):
        return None
    if m.chosen:
        return chosen_crossover(m, f, read, row["predicted"][0][0][1].dims["tokens"])
    at = read / (full + narrow)
    if narrow and at > m.window:
        kept = (m.window + 1) // 2 if m.chunked else m.window
        at = (read - narrow * kept) / full if full else None
    return at
