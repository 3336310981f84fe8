# SPDX-License-Identifier: MIT
"""Cases drawn at random: devices, operators with their dimensions and formats, models, scenarios.
Some of them are not valid, on purpose: the program must refuse those, too.
"""
import json
import os
from fractions import Fraction

import audio
import device as devices
import formats
import models
import operators
import towers


def size(random, bits):
    """From 1 to below 2^(bits + 1), evenly on a log scale, or a round number."""
    top = 1 << random.randint(0, bits)
    return top if random.random() < 0.3 else top + random.randrange(top)


def chance(random, probability):
    return random.random() < probability


def energies(random, data, figure, units):
    """What a device draws, and often a cap; a few figures are missing, or leave nothing of it."""
    if chance(random, 0.5):
        data.update(constant_w=figure(10, 200), byte_pj=figure(5, 300),
                    flop_pj={name: figure(1, 20) for name in units if chance(random, 0.95)})
        if chance(random, 0.5):
            data["power_cap_w"] = round(data["constant_w"] * random.uniform(0.9, 6), 2)
    elif chance(random, 0.1):
        data.update(power_cap_w=300, byte_pj=figure(5, 300))


def device_file(random, folder, number):
    """A device with figures that no real one has, but could; some are unknown."""
    def figure(low, high):
        return round(random.uniform(low, high), random.randint(0, 3))

    def table(least, low, high, names):
        return {name: figure(low, high) for name in
                random.sample(names, random.randint(least, len(names)))}
    units = "fp64 fp32 tf32 bf16 fp16 fp8_e4m3 fp8_e5m2 int8 int4 int2 mxfp8 mxfp6 mxfp4 mxint8 " \
            "nvfp4".split()
    matrix = table(1, 200, 5000, units)  # the program refuses a narrow format far below a wide one
    data = {"id": f"random-{number}", "bandwidth_gb_s": figure(50, 9000), "peak_tflops": matrix,
            "sparse_tflops": table(0, 5000, 9000, list(matrix)),
            "vector_tflops": table(0, 1, 100, "fp64 fp32 bf16 fp16 int8".split())}
    for key, value in (("memory_capacity_bytes", random.randint(10 ** 9, 3 * 10 ** 11)),
                       ("memory_nominal_gb", random.choice((8, 24, 80, 192))),
                       ("devices_per_node", random.choice((1, 2, 4, 8, 72))),
                       ("link_gb_s", figure(10, 900)),
                       ("bridge_gb_s", figure(20, 900)), ("bridge_devices", random.choice([2, 4])),
                       ("peer_link_gb_s", figure(5, 200)), ("network_gb_s", figure(5, 100)),
                       ("link_latency_us", figure(0.5, 5)), ("network_latency_us", figure(1, 20))):
        if chance(random, 0.7):
            data[key] = value
    energies(random, data, figure, units)
    path = os.path.join(folder, f"device-{number}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file)
    return path


def operator(random, op):
    """Dimensions of an operator."""
    d = {}

    def draw(bits, *names):
        for name in names:
            d[name] = size(random, bits)

    def maybe(bits, *names):
        for name in names:
            if chance(random, 0.6):
                d[name] = size(random, bits)
    if op == "gemm-silu-mul":
        draw(14, "m", "n", "k")
    elif op in ("gemm", "bmm"):
        draw(14, "m", "n", "k")
        (draw if op == "bmm" else maybe)(7, "batch")
    elif op == "gemv":
        draw(16, "n", "k")
    elif op in operators.CONVOLUTIONS:
        draw(12, "m", "n", "k")
        maybe(5, "batch", "taps", "subsample")
    elif op in operators.ATTENTION + operators.LATENT:
        maybe(6, "batch")
        draw(7, "heads")
        if op in operators.ATTENTION:
            groups = [x for x in range(1, d["heads"] + 1) if d["heads"] % x == 0]
            d["kv_heads"] = random.choice(groups) if chance(random, 0.95) else size(random, 7)
            draw(8, "head_dim")
            if chance(random, 0.4):
                d["window"] = random.choice((0, size(random, 14)))
        else:
            maybe(9, "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        draw(15, "kv_len")
        length = random.choice((1, d["kv_len"], random.randint(1, d["kv_len"]), size(random, 15)))
        if op == "mla-prefill" or chance(random, 0.7):
            d["query_len"] = length
        if chance(random, 0.6):
            d["causal"] = random.choice((0, 1, 1))
    elif op in operators.CHOSEN + operators.STATES + ["index-top-k", "short-conv"]:
        maybe(6, "batch")
        maybe(12, "query_len")
        if op in operators.CHOSEN + operators.STATES and op != "selective-scan":
            draw(6, "heads")
        if op in operators.CHOSEN + ["index-top-k"]:
            draw(15, "kv_len")
        if op in ("index-scores", "block-scores", "gated-delta", "kimi-delta", "ssd", "lightning"):
            draw(8, "head_dim")
        if op in operators.CHOSEN and chance(random, 0.6):
            d["causal"] = random.choice((0, 1, 1))
        if op in ("gated-delta", "ssd") and chance(random, 0.7):
            d["kv_heads"] = random.choice([x for x in range(1, d["heads"] + 1)
                                           if d["heads"] % x == 0])
        sizes = {"index-top-k": ("selected",), "block-scores": ("compression",), "sparse-mla": ("selected", "kv_lora_rank",
                                                             "qk_rope_head_dim"),
                 "short-conv": ("taps",), "gated-delta": ("v_head_dim", "scan_chunk"),
                 "kimi-delta": ("v_head_dim", "scan_chunk"), "ssd": ("state_size", "scan_chunk"),
                 "lightning": ("v_head_dim", "scan_chunk"), "selective-scan": ("state_size",)}
        maybe(9, *sizes.get(op, ()))
        if op in ("short-conv", "selective-scan"):
            draw(12, "hidden")
    elif op in ("compressed-attention", "nsa"):
        maybe(6, "batch")
        draw(7, "heads")
        if op == "nsa" and chance(random, 0.7):
            d["kv_heads"] = random.choice([x for x in range(1, d["heads"] + 1) if d["heads"] % x == 0])
        draw(8, "head_dim")
        draw(15, "kv_len")
        maybe(9, "window", "compression", "selected")
        if chance(random, 0.7):
            d["query_len"] = random.choice((1, d["kv_len"], random.randint(1, d["kv_len"]), size(random, 15)))
    elif op.startswith("hyper-") or op == "depth-mix":
        draw(12, "tokens", "hidden")
        maybe(3, "streams")
    elif op in operators.ROWS:
        draw(14, "tokens", "hidden")
        if op in operators.NORMS and chance(random, 0.6):
            d["gain"] = random.choice((0, 1))
    elif op in ("rope", "kv-append", "rope-append"):
        draw(13, "tokens")
        draw(5, "kv_heads")
        draw(8, "head_dim")
        d["heads"] = d["kv_heads"] * size(random, 4) if chance(random, 0.95) else size(random, 6)
        if op == "rope-append":
            maybe(7, "qk_rope_head_dim")
        if op != "kv-append" and chance(random, 0.3):
            del d["kv_heads"]
        if op == "kv-append" and chance(random, 0.5):
            del d["heads"]
    elif op == "router" or op in operators.EXPERTS:
        draw(13, "tokens")
        draw(9, "experts")
        d["top_k"] = random.randint(1, min(d["experts"], 16)) if chance(random, 0.95) \
            else size(random, 9)
        if op != "router":
            draw(12, "hidden", "intermediate")
            if chance(random, 0.5):
                d["routing"] = random.choice(("uniform", "balanced", "fewest"))
            if chance(random, 0.5):
                d["ep"] = random.choice([x for x in range(1, d["experts"] + 1)
                                         if d["experts"] % x == 0] + [size(random, 3)])
    else:
        draw(30, "elements")
        if op != "send":
            d["devices"] = random.choice((1, 2, 3, 4, 6, 8, 16, 72))
            if chance(random, 0.4):
                d["algorithm"] = random.choice(("ring", "one-shot"))
        if chance(random, 0.4):
            d["within"] = random.choice((1, 2, 4, 8, 9, 16, 100))
    return d


def asked_formats(random, op=None):
    """What is said of formats; each combination of two comes up."""
    said = {}
    for role, likely in (("precision", 0.5), ("weights", 0.4), ("activations", 0.4), ("kv", 0.3),
                         ("out", 0.3), ("compute", 0.15)):
        if not chance(random, likely):
            continue
        if role in ("precision", "weights", "kv") or chance(random, 0.03) or \
                (op in operators.QUANTIZING and role == "out"):
            said[role] = random.choice(formats.NAMES)
        elif role != "compute" or op is None or op in operators.PRODUCTS + ["attention"]:
            said[role] = random.choice(formats.MULTIPLIED)
    return said


def config(random):
    """A config.json of a model that nobody trained."""
    kind = random.choice("llama mistral qwen2 qwen2_moe qwen3 qwen3_moe gemma gemma2 gemma3_text phi "
                         "gpt_neox gpt2 opt gpt_oss mixtral olmo2 glm4 cohere2 deepseek_v2 deepseek_v3 phi3 mimo_v2_flash llama4_text".split())
    heads = random.choice((4, 6, 8, 12, 16, 32))
    size_of_head = random.choice((32, 64, 80, 128))
    c = dict(model_type=kind, hidden_size=heads * size_of_head,
             num_hidden_layers=random.randint(1, 12), num_attention_heads=heads,
             intermediate_size=16 * size(random, 9), vocab_size=size(random, 16) + 7)
    if chance(random, 0.8):
        c["max_position_embeddings"] = size(random, 17) + 100
    elif kind in ("gpt2", "opt"):
        c["max_position_embeddings"] = 5000
    if kind not in ("gpt2", "opt", "phi", "gpt_neox") and not kind.startswith("deepseek"):
        if chance(random, 0.7):
            c["num_key_value_heads"] = random.choice([x for x in range(1, heads + 1)
                                                      if heads % x == 0])
        if chance(random, 0.3) or kind.startswith("gemma3"):
            c["head_dim"] = random.choice((32, 64, 96, 128, 256))
        for key, probability in (("attention_bias", 0.2), ("mlp_bias", 0.1)):
            if chance(random, probability):
                c[key] = chance(random, 0.7)
        if kind.startswith("gemma3"):
            c.setdefault("num_key_value_heads", heads)
    if kind in ("mistral", "gemma2", "gemma3_text", "gpt_oss", "qwen2", "qwen3", "phi3"):
        if chance(random, 0.7):
            c["sliding_window"] = size(random, 12)
        if kind.startswith("qwen") and chance(random, 0.7):
            c["use_sliding_window"] = chance(random, 0.7) and "sliding_window" in c
            c["max_window_layers"] = random.randint(0, 14)
        elif kind == "gemma3_text" and chance(random, 0.5):
            key = random.choice(("sliding_window_pattern", "_sliding_window_pattern"))
            c[key] = random.randint(1, 7)
        elif chance(random, 0.2): # a window must be given then, if only as null, and be used
            c.setdefault("sliding_window")
            if kind.startswith("qwen"):
                c["use_sliding_window"] = True
            c["layer_types"] = [random.choice(("sliding_attention", "full_attention"))
                                for _ in range(c["num_hidden_layers"])]
    if kind == "mimo_v2_flash":
        c.update(head_dim=2 * size_of_head, v_head_dim=2 * random.randint(1, 100),
                 swa_num_key_value_heads=random.choice([x for x in range(1, heads + 1) if heads % x == 0]),
                 sliding_window=size(random, 12), add_swa_attention_sink_bias=chance(random, 0.5),
                 hybrid_layer_pattern=[random.randint(0, 1) for _ in range(c["num_hidden_layers"])])
        if chance(random, 0.5):
            c.update(n_routed_experts=8, num_experts_per_tok=2, moe_intermediate_size=48,
                     moe_layer_freq=[random.randint(0, 1) for _ in range(c["num_hidden_layers"])])
    if kind == "llama4_text":
        layers = c["num_hidden_layers"]
        c.update(attention_chunk_size=size(random, 10), use_qk_norm=chance(random, 0.5),
                 num_local_experts=random.choice((4, 8, 16)), num_experts_per_tok=random.randint(1, 2),
                 intermediate_size_mlp=16 * size(random, 8),
                 interleave_moe_layer_step=random.randint(1, 3), no_rope_layers=[])
        if chance(random, 0.3):
            c["no_rope_layers"] = [random.randint(0, 1) for _ in range(layers)]
        if chance(random, 0.3):
            c["moe_layers"] = [i for i in range(layers) if chance(random, 0.5)]
    if chance(random, 0.4):
        c["tie_word_embeddings"] = chance(random, 0.6)
    if kind in ("phi", "gpt_neox") and chance(random, 0.5):
        c["partial_rotary_factor" if kind == "phi" else "rotary_pct"] = random.choice((0.25, 0.5, 1))
    if kind == "gpt_neox" and chance(random, 0.3):
        c["use_parallel_residual"] = chance(random, 0.5)
    if kind.startswith("deepseek"):
        c.update(kv_lora_rank=16 * random.randint(1, 40), qk_nope_head_dim=8 * random.randint(1, 20),
                 qk_rope_head_dim=2 * random.randint(1, 40), v_head_dim=8 * random.randint(1, 20))
        if chance(random, 0.6):
            c["q_lora_rank"] = 16 * random.randint(1, 100)
    if kind == "deepseek_v3" and chance(random, 0.3):
        zero, real = random.choice(((0, 1), (1, 1), (1, 2), (2, 2)))
        share = random.choice((4, 8))
        c.update(model_type="longcat_flash", num_layers=(c.pop("num_hidden_layers") + 1) // 2,
                 ffn_hidden_size=c.pop("intermediate_size"), expert_ffn_hidden_size=48,
                 n_routed_experts=real * share, zero_expert_num=zero * share, moe_topk=real + zero)
        c.setdefault("q_lora_rank", 64)
        return c
    if kind == "deepseek_v3" and chance(random, 0.4):
        return compressed(random, c, heads)
    if kind == "deepseek_v3" and chance(random, 0.4):
        return kimi(random, c, heads)
    if chance(random, 0.3):
        c["num_nextn_predict_layers"] = random.randint(0, 3)
    if kind in ("mixtral", "qwen3_moe", "qwen2_moe", "gpt_oss") or kind.startswith("deepseek"):
        names = {"mixtral": "num_local_experts", "gpt_oss": "num_local_experts"}
        experts = random.choice((4, 8, 12, 16, 64, 128))
        deepseek = kind.startswith("deepseek")
        c[names.get(kind, "n_routed_experts" if deepseek else "num_experts")] = experts
        c["num_experts_per_tok"] = random.randint(1, min(8, experts))
        if kind not in ("mixtral", "gpt_oss") or chance(random, 0.2):
            c["moe_intermediate_size"] = 16 * size(random, 7)
        if deepseek:
            if chance(random, 0.7):
                c["n_shared_experts"] = random.randint(1, 3)
            if chance(random, 0.6):
                c["first_k_dense_replace"] = random.randint(0, 3)
            if chance(random, 0.5):
                c.update(n_group=random.choice((1, 2, 4, 8)), topk_group=random.randint(1, 4))
            if chance(random, 0.3):
                c["moe_layer_freq"] = random.randint(1, 3)
            if "q_lora_rank" in c and chance(random, 0.4):
                c.update(model_type="deepseek_v32", index_topk=size(random, 10),
                         index_n_heads=random.randint(1, 64), index_head_dim=2 * random.randint(1, 80))
                if chance(random, 0.6):
                    shared_choice(random, c)
        elif kind == "qwen2_moe" and chance(random, 0.7):
            c["shared_expert_intermediate_size"] = 16 * size(random, 7)
        if kind.startswith("qwen"):
            if chance(random, 0.4):
                c["decoder_sparse_step"] = random.randint(1, 3)
            if chance(random, 0.3):
                c["mlp_only_layers"] = [random.randrange(c["num_hidden_layers"])]
    if kind == "qwen3_moe" and chance(random, 0.25):
        return blocks(random, c)
    if kind in ("qwen3_moe", "qwen3", "mixtral") and chance(random, 0.35):
        stateful(random, c)
    elif kind == "gemma3_text" and chance(random, 0.3):
        predicted(random, c)
    elif kind == "llama" and chance(random, 0.4):
        return crossed(random, c) if chance(random, 0.5) else branched(random, c)
    elif kind in ("qwen3_moe", "gemma3_text") and chance(random, 0.4):
        uneven(random, c)
    if chance(random, 0.5):
        related(random, c)
    return c


def related(random, c):
    """Turns a drawn config into one of a family that differs from its own in little."""
    kind = c["model_type"]
    names = {"llama": ("internlm2", "granite"), "gemma": ("smollm3", "ernie4_5"), "cohere2": ("cohere",),
             "mimo_v2_flash": ("mimo_v2",), "gpt_neox": ("starcoder2",), "mixtral": ("olmoe",),
             "qwen3": ("hunyuan_v1_dense",), "qwen3_moe": ("glm4_moe",), "qwen3_next": ("qwen3_5_text",)}
    if kind not in names or kind == "qwen3_next" and "num_experts" in c:
        return
    c["model_type"] = random.choice(names[kind])
    for key in ("use_sliding_window", "max_window_layers", "sliding_window", "layer_types") \
            if kind.startswith("qwen3") else ("rotary_pct", "use_parallel_residual"):
        c.pop(key, None)
    if kind == "mixtral":
        c["num_experts"] = c.pop("num_local_experts")
    elif kind == "qwen3_moe":
        for key in ("decoder_sparse_step", "mlp_only_layers"):
            c.pop(key, None)
        c["n_routed_experts"] = c.pop("num_experts")
        if chance(random, 0.5):
            c.update(n_shared_experts=random.randint(1, 2), first_k_dense_replace=random.randint(0, 3))
        if chance(random, 0.5):
            c["use_qk_norm"] = True
    elif kind == "gpt_neox" and chance(random, 0.4):
        c["use_bias"] = False


def shared_choice(random, c):
    """Layers after the first may use the keys that an earlier one chose (GLM-5.2)."""
    layers, c["model_type"] = c["num_hidden_layers"], "glm_moe_dsa"
    words = ["full"] + [random.choice(("full", "shared")) for _ in range(layers - 1)]
    how = random.randrange(3)
    if how == 0:
        c["indexer_types"] = words
    elif how == 1:
        c["index_topk_pattern"] = "".join(word[0].upper() for word in words)
    else:
        c["index_topk_freq"], offset = random.randint(1, 5), random.randint(0, 4)
        if offset or c["index_topk_freq"] == 1:  # else the first layer has nothing to follow
            c["index_skip_topk_offset"] = offset


def blocks(random, c):
    """Turns a drawn config into one of a model that attends to chosen blocks of keys."""
    layers = c["num_hidden_layers"]
    for key in ("sliding_window", "use_sliding_window", "max_window_layers", "decoder_sparse_step",
                "mlp_only_layers", "attention_bias", "mlp_bias"):
        c.pop(key, None)
    chosen = [random.randint(0, 1) for _ in range(layers)]
    c.update(model_type=random.choice(("minimax_m3", "minimax_m3_vl")), shared_intermediate_size=16 * size(random, 5),
             dense_intermediate_size=16 * size(random, 7), head_dim=c.get("head_dim", 64), n_shared_experts=1,
             moe_layer_freq=[random.randint(0, 1) for _ in range(layers)],
             sparse_attention_config=dict(
                 use_sparse_attention=chance(random, 0.9), sparse_num_index_heads=random.choice((1, 2, 4, 8)),
                 sparse_index_dim=2 * random.randint(4, 80), sparse_topk_blocks=size(random, 4),
                 sparse_block_size=size(random, 8), sparse_attention_freq=chosen,
                 sparse_disable_index_value=chosen))
    return c


def kimi(random, c, heads):
    """Turns a drawn config into one of Kimi-K3, in which sums of blocks of layers are mixed."""
    layers, experts = c["num_hidden_layers"], random.choice((4, 8, 16, 64))
    c.update(model_type="kimi_k3", num_experts=experts, num_experts_per_token=random.randint(1, 4),
             moe_intermediate_size=16 * size(random, 6), num_shared_experts=random.randint(0, 2),
             first_k_dense_replace=random.randint(0, 2), mla_use_nope=chance(random, 0.7),
             mla_use_output_gate=chance(random, 0.7),
             linear_attn_config=dict(
                 kda_layers=[i + 1 for i in range(layers) if chance(random, 0.6)], num_heads=heads,
                 head_dim=8 * random.randint(1, 20), short_conv_kernel_size=random.randint(1, 5),
                 use_full_rank_gate=chance(random, 0.7), gate_lower_bound=-5.0))
    if chance(random, 0.8):
        c["attn_res_block_size"] = random.randint(1, layers + 1)
    if chance(random, 0.7):
        c.update(routed_expert_hidden_size=8 * random.randint(1, 40), latent_moe_use_norm=chance(random, 0.8))
    return c


def compressed(random, c, heads):
    """Turns a drawn config into one of a model with compressed keys and streams."""
    for key in ("kv_lora_rank", "qk_nope_head_dim", "v_head_dim", "intermediate_size"):
        c.pop(key, None)
    experts = random.choice((4, 8, 16, 64))
    c.update(model_type="deepseek_v4", num_key_value_heads=1, head_dim=2 * random.randint(20, 128),
             q_lora_rank=16 * random.randint(1, 60), sliding_window=size(random, 8),
             index_topk=size(random, 8), index_n_heads=random.randint(1, 64),
             index_head_dim=2 * random.randint(1, 80), hc_mult=random.randint(1, 4),
             o_groups=random.choice([x for x in range(1, heads + 1) if heads % x == 0]),
             o_lora_rank=8 * random.randint(1, 40), n_routed_experts=experts, n_shared_experts=1,
             num_experts_per_tok=random.randint(1, 4), moe_intermediate_size=16 * size(random, 6),
             compress_ratios=[random.choice((0, 4, 4, 128)) for _ in range(c["num_hidden_layers"] + 1)])
    return c


def branched(random, c):
    """Turns a drawn config into one of native sparse attention."""
    for key in ("attention_bias", "mlp_bias", "num_nextn_predict_layers"):
        c.pop(key, None)
    c.update(model_type="nsa", num_heads=c.pop("num_attention_heads"), qkv_bias=chance(random, 0.5))
    for key, bits in (("block_size", 6), ("block_counts", 4), ("window_size", 10)):
        if chance(random, 0.7):
            c[key] = size(random, bits)
    if chance(random, 0.5):
        c["hidden_ratio"] = random.randint(1, 5)
        del c["intermediate_size"]
    return c


def crossed(random, c):
    """Turns a drawn config into one whose text attends to images."""
    for key in ("attention_bias", "num_nextn_predict_layers", "tie_word_embeddings", "head_dim"):
        c.pop(key, None)
    layers = range(c["num_hidden_layers"])
    c.update(model_type="mllama_text_model", cross_attention_layers=random.sample(
        layers, random.randint(1, len(layers))))
    return c


def predicted(random, c):
    """Turns a drawn config into one of Gemma 3n, whose layers predict streams of the residual."""
    for key in ("sliding_window_pattern", "_sliding_window_pattern", "attention_bias", "mlp_bias",
                "num_nextn_predict_layers"):
        c.pop(key, None)
    c.update(model_type="gemma3n_text", sliding_window=size(random, 11),
             num_kv_shared_layers=random.randint(0, c["num_hidden_layers"] - 1),
             altup_num_inputs=random.randint(2, 5), laurel_rank=random.randint(1, 90),
             hidden_size_per_layer_input=random.randint(1, 300),
             vocab_size_per_layer_input=random.randint(20, 20000))


def uneven(random, c):
    """Turns a drawn config into one of a family whose layers differ in their sizes."""
    layers, heads = c["num_hidden_layers"], c["num_attention_heads"]
    for key in ("use_sliding_window", "max_window_layers", "sliding_window_pattern",
                "_sliding_window_pattern", "mlp_only_layers", "decoder_sparse_step", "attention_bias",
                "mlp_bias", "num_nextn_predict_layers"):
        c.pop(key, None)
    c.update(sliding_window=size(random, 10), head_dim=c.get("head_dim", 64),
             layer_types=[random.choice(("sliding_attention", "full_attention")) for _ in range(layers)])
    if c["model_type"] == "qwen3_moe":
        c.update(model_type="laguna", gating=random.choice((True, "per-head")),
                 num_attention_heads_per_layer=[heads * random.randint(1, 2) for _ in range(layers)],
                 shared_expert_intermediate_size=16 * size(random, 5))
        if chance(random, 0.5):
            c["mlp_layer_types"] = [random.choice(("dense", "sparse")) for _ in range(layers)]
        return
    c.update(model_type="gemma4_text", global_head_dim=8 * random.randint(1, 64),
             num_kv_shared_layers=random.randrange(layers), use_double_wide_mlp=chance(random, 0.5),
             hidden_size_per_layer_input=random.choice((0, 16, 96)),
             vocab_size_per_layer_input=size(random, 12))
    if chance(random, 0.5):
        c.update(attention_k_eq_v=True, num_global_key_value_heads=random.choice(
            [x for x in range(1, heads + 1) if heads % x == 0]))
    if chance(random, 0.4):
        c.update(enable_moe_block=True, num_experts=8, top_k_experts=random.randint(1, 4),
                 moe_intermediate_size=16 * size(random, 5))


def stateful(random, c):
    """Turns a drawn config into one of a family with layers that keep a state."""
    for key in ("sliding_window", "use_sliding_window", "max_window_layers", "layer_types",
                "num_nextn_predict_layers", "attention_bias", "mlp_bias"):
        c.pop(key, None)
    layers, groups = c["num_hidden_layers"], random.choice((1, 2, 4))
    heads = groups * random.choice((1, 2, 4))
    sizes = [8 * random.randint(1, 16), 8 * random.randint(1, 16)]
    if c["model_type"] == "mixtral" and chance(random, 0.3):
        c.update(model_type="minimax_m1", attn_type_list=[random.choice((0, 0, 1)) for _ in range(layers)])
        if chance(random, 0.5):
            c["block_size"] = size(random, 8)
        return
    if c["model_type"] == "mixtral" and chance(random, 0.4):
        c.update(model_type="jamba", mamba_d_state=sizes[0], mamba_d_conv=random.randint(2, 5),
                 mamba_expand=random.randint(1, 3), mamba_dt_rank=random.choice(("auto", sizes[1])),
                 mamba_conv_bias=chance(random, 0.5), attn_layer_period=random.randint(1, 4),
                 expert_layer_period=random.choice((1, 2, 4)), intermediate_size=16 * size(random, 7))
        c["attn_layer_offset"] = random.randrange(c["attn_layer_period"])
        c["expert_layer_offset"] = random.randrange(c["expert_layer_period"])
        if c["num_attention_heads"] % 8:  # as many as this family has KV heads by default
            c.setdefault("num_key_value_heads", c["num_attention_heads"])
        return
    if c["model_type"] == "mixtral":
        c.update(model_type="granitemoehybrid", mamba_n_heads=heads, mamba_n_groups=groups,
                 mamba_d_state=sizes[0], mamba_d_head=sizes[1], mamba_d_conv=random.randint(2, 5),
                 layer_types=[random.choice(("mamba", "attention")) for _ in range(layers)])
        if chance(random, 0.5):
            c.update(shared_intermediate_size=16 * size(random, 6), mamba_chunk_size=size(random, 8))
        return
    if c["model_type"] == "qwen3" and chance(random, 0.5):
        c.update(model_type="falcon_h1", mamba_n_heads=heads, mamba_n_groups=groups,
                 mamba_d_state=sizes[0], mamba_d_head=sizes[1], mamba_d_conv=4, mamba_rms_norm=False)
        return
    if c["model_type"] == "qwen3" and chance(random, 0.5):
        c.update(model_type="nemotron_h", mamba_num_heads=heads, n_groups=groups, conv_kernel=4,
                 ssm_state_size=sizes[0], mamba_head_dim=sizes[1], chunk_size=size(random, 8),
                 hybrid_override_pattern="".join(random.choice("M*-") for _ in range(layers)))
        if chance(random, 0.6):
            c.update(n_routed_experts=4 * random.randint(1, 8), num_experts_per_tok=random.randint(1, 4),
                     moe_intermediate_size=16 * size(random, 6),
                     hybrid_override_pattern="".join(random.choice("M*EE-") for _ in range(layers)))
            if chance(random, 0.6):
                c["moe_shared_expert_intermediate_size"] = 16 * size(random, 6)
            if chance(random, 0.6):
                c["moe_latent_size"] = 8 * size(random, 5)
        return
    c.update(model_type="qwen3_next", linear_num_value_heads=heads, linear_num_key_heads=groups,
             linear_key_head_dim=sizes[0], linear_value_head_dim=sizes[1],
             linear_conv_kernel_dim=random.randint(2, 5))
    if chance(random, 0.5):
        c["full_attention_interval"] = random.randint(1, 5)


def scenario(random, model):
    """A phase with its sizes, a split and formats."""
    d = {}
    phase = random.choice(("decode", "decode", "prefill", "prefill", "mixed"))
    if phase != "decode" or chance(random, 0.5):
        d["phase"] = phase
    if chance(random, 0.7):
        d["batch"] = size(random, 7)
    if chance(random, 0.8):
        d["context"] = size(random, 13)
        if model.learned and model.positions and chance(random, 0.5):  # about where the table ends
            d["context"] = max(1, model.positions - random.randint(-1, 8))
    if phase == "prefill":
        if chance(random, 0.3):
            d["chunk"] = size(random, 10)
        elif chance(random, 0.3):
            d["prefix_hit"] = random.choice((0, 1, 0.5, round(random.random(), 3)))
    elif phase == "mixed":
        for key, bits in (("chunk", 9), ("prefill_batch", 3), ("prefill_context", 12)):
            if chance(random, 0.6):
                d[key] = size(random, bits)
    elif chance(random, 0.3):
        d["draft_tokens"] = random.randint(1, 8)
        if chance(random, 0.5):
            d["acceptance"] = round(random.random() * 0.99, 2)
    if phase == "decode" and chance(random, 0.12):
        d.pop("context", None)
        d.pop("phase", None)
        d.update(prompt=size(random, 9), generate=size(random, 4), static=1)
        if chance(random, 0.3):
            d["prefix_hit"] = round(random.random(), 2)
    elif phase == "decode" and chance(random, 0.2):
        d.pop("context", None)
        d.pop("phase", None)
        d.update(in_flight(random))
    if model.tower or model.audio:
        media(random, d, model)
    for key, likely in (("tp", 0.4), ("pp", 0.4), ("ep", 0.4 if model.experts > 1 else 0.02)):
        if chance(random, likely):
            d[key] = random.choice((1, 2, 2, 4, 8, 3))
    if chance(random, 0.4 if model.experts > 1 else 0.02):
        apart(random, d)
    if chance(random, 0.1):
        d["dp"] = random.randint(1, 5)
    if chance(random, 0.2):
        d["reserve"] = round(random.random() * 0.99, 2)
    if model.experts > 1 and chance(random, 0.3):
        d["routing"] = random.choice(("uniform", "balanced", "fewest"))
    return d


def media(random, d, model):
    """Images and audio in a prompt, or alone."""
    if chance(random, 0.2):
        for key in ("context", "chunk", "prefix_hit", "prompt", "generate", "static", "draft_tokens",
                    "acceptance", "prefill_batch", "prefill_context"):
            if chance(random, 0.98):
                d.pop(key, None)
        d["phase"] = "encode"
    often = 0.5 if model.tower and model.tower.crossed else 0.03
    if not (d.get("phase") in ("prefill", "encode") or "prompt" in d or chance(random, often)):
        return
    if chance(random, 0.98 if model.tower else 0.02):
        if chance(random, 0.7):
            d["images"] = random.randint(1, 3)
        if chance(random, 0.7 if "images" in d else 0.05):
            d["image_size"] = f"{size(random, 12)}x{size(random, 12)}"
    if chance(random, 0.9 if model.audio else 0.02):
        if chance(random, 0.7):
            d["audio"] = random.randint(1, 3)
        if chance(random, 0.8 if "audio" in d else 0.05):
            longest = 30 if chance(random, 0.9) else 200
            d["audio_length_s"] = random.randint(1, longest)
    if chance(random, 0.5) and "audio" in d and "context" in d:
        d["context"] += 400


def in_flight(random):
    """Requests that follow each other, mostly with a budget of chunks about as long as a prompt."""
    d = dict(prompt=size(random, 10), generate=size(random, random.choice((3, 9))))
    if chance(random, 0.6):
        about = Fraction(d["prompt"], random.randint(1, 12)) * random.randint(1, 20)
        d["chunk"] = 0 if chance(random, 0.2) else max(1, int(about))
    if chance(random, 0.2):
        d["prefix_hit"] = round(random.random(), 2)
    return d


def apart(random, d):
    """Data-parallel attention and a split of the experts, mostly one that fills the devices."""
    if chance(random, 0.95):
        d.pop("ep", None)
    groups = random.choice((1, 2, 4, 8))
    devices = groups * d.get("tp", 1)
    parts = random.choice([x for x in (1, 2, 3, 4, 8, 16) if devices % x == 0 or x == 3])
    for key, value in (("attention_dp", groups), ("moe_tp", max(1, devices // parts)),
                       ("moe_ep", parts)):
        if chance(random, 0.6):
            d[key] = value


def drawn_devices(random, folder):
    """20 devices, by their files."""
    paths = [device_file(random, folder, number) for number in range(20)]
    return {path: devices.Device(path, path) for path in paths}


def model_file(folder, name, config_of_it):
    path = os.path.join(folder, f"model-{name}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config_of_it, file)
    return path


def drawn_models(random, folder):
    """80 models, by their files; 20 of them hear, and some of these see."""
    result = {}
    for number in range(80):
        drawn = config(random)
        while number >= 75 and drawn["model_type"] != "gemma3n_text" or \
                number >= 60 and drawn["model_type"] == "mllama_text_model":
            drawn = config(random)
        if number >= 65:
            drawn = audio.behind(random, drawn)
        elif number >= 60:
            drawn = towers.config(random, drawn, "gemma4")
            drawn["audio_config"] = audio.config(random, "gemma4")
        elif chance(random, 0.8 if drawn["model_type"] == "mllama_text_model" else 0.25):
            drawn = towers.config(random, drawn)
        path = model_file(folder, number, drawn)
        result[path] = models.Model(drawn, path)
    return result


def layouts(data):
    """Those that are shipped, by their names."""
    result, folder = {}, os.path.join(data, "layouts")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            result[name[:-5]] = json.load(file)
    return result
