# SPDX-License-Identifier: MIT
"""Encoders of audio, written a second time from docs/formulas.md ("Audio")."""
from formats import Refused

# The frames of a second, and the longest clip of most families in seconds.
FRAMES, LONGEST = 100, 30
RATE, HOP = 16000, 160


def half(x):
    """Half of it, rounded up."""
    return -(-x // 2)


def encoder(config, hidden):
    """The audio encoder of a config; None if there is none that is counted."""
    kind, a = config.get("model_type"), config.get("audio_config")
    known = {"qwen2_audio": Whisper, "voxtral": Whisper, "gemma4": Conformer, "gemma3n": Conformer}
    found = known[kind](kind, a, hidden) if isinstance(a, dict) and kind in known else None
    return found if found and found.whole() else None


def add(graph, one, clips, seconds):
    """The operators of an encoder that is run for so many clips on a device."""
    return one.run(graph, clips, seconds)


class Encoder:
    """What the encoders share: operators with the weights that they hold."""

    def __init__(self, kind, hidden):
        self.kind, self.out = kind, hidden

    def whole(self):
        """Whether its sizes go together."""
        return self.hidden % self.heads == 0

    def check(self, seconds):
        if seconds > LONGEST and self.kind != "voxtral":
            raise Refused("audio length")

    def bind(self, graph, clips, seconds):
        """Returns the functions that add operators to a graph."""
        stored, f = graph.f.stored("norm"), graph.f
        from models import Node  # which reads this file

        def last():
            return list(graph.nodes)[-1]

        def convolve(name, m, n, k, taps, subsample, bias):
            graph.product(name, "vision", 0, m, n, k * taps, bias, op="conv2d", batch=1)
            node = last()
            node.dims.update(k=k, taps=taps, subsample=subsample, batch=self.pieces(clips, seconds))

        def norm(name, rows, width, op="rmsnorm", gain=True):
            if gain:
                graph.normed(name, rows, width, op)
            else:
                graph.vector(name, op, dict(tokens=rows, hidden=width, gain=0))

        def vector(name, op, rows, width, held=0):
            graph.vector(name, op, dict(tokens=rows, hidden=width),
                         resident=[(stored, held, 0, 0)] if held else [])

        def attend(batch, length, causal, window):
            op = "attention" if graph.s.unfused else "flash-attention"
            graph.add(Node("audio_attention", op,
                           dict(batch=batch, heads=self.heads, kv_heads=self.heads, query_len=length,
                                head_dim=self.hidden // self.heads, kv_len=length, causal=causal,
                                window=window), graph.formats(f.weights, f.out, kv=f.out)))

        def product(name, m, n, k, bias=False):
            graph.product(name, "vision", 0, m, n, k, bias)
        return convolve, norm, vector, attend, product, last


class Whisper(Encoder):
    """The encoder of Whisper, of Qwen2-Audio and Voxtral."""

    def __init__(self, kind, a, hidden):
        super().__init__(kind, hidden)

        def get(default, *names):
            return next((a[name] for name in names if name in a), default)
        self.hidden = get(1280, "d_model", "hidden_size")
        self.layers = get(32, "encoder_layers", "num_hidden_layers")
        self.heads = get(20, "encoder_attention_heads", "num_attention_heads")
        self.inner = get(5120, "encoder_ffn_dim", "intermediate_size")
        self.bins, self.positions = get(128, "num_mel_bins"), get(1500, "max_source_positions")

    def whole(self):
        joined = self.kind != "voxtral" or \
            self.inner % self.hidden == 0 and self.positions % (self.inner // self.hidden) == 0
        return joined and super().whole()

    def pieces(self, clips, seconds):
        """Windows of 30 s."""
        return clips * -(-seconds // LONGEST)

    def rows(self, seconds):
        return self.positions * self.pieces(1, seconds)

    def tokens(self, seconds):
        self.check(seconds)
        if self.kind == "voxtral":
            return self.rows(seconds) * self.hidden // self.inner
        return min(half(FRAMES * seconds), self.positions) // 2

    def widest(self, seconds):
        return self.rows(seconds) * max(3 * self.hidden, self.inner, 2 * self.bins, self.out)

    def run(self, graph, clips, seconds):
        convolve, norm, vector, attend, product, last = self.bind(graph, clips, seconds)
        h, n, each = self.hidden, clips * self.rows(seconds), self.positions
        convolve("audio_conv_0", 2 * each, h, self.bins, 3, 1, True)
        vector("audio_conv_act_0", "gelu", 2 * n, h)
        convolve("audio_conv_1", each, h, h, 3, 2, True)
        vector("audio_conv_act_1", "gelu", n, h)
        vector("audio_positions", "add", n, h, held=self.positions * h)
        graph.count = self.layers
        norm("audio_attn_norm", n, h, "layernorm")
        product("audio_qkv_proj", n, 3 * h, h, bias=True)
        kept = last().resident  # K has no bias
        kept[-1] = (kept[-1][0], 2 * h, 0, 0)
        attend(self.pieces(clips, seconds), each, 0, 0)
        product("audio_o_proj", n, h, h, bias=True)
        vector("audio_attn_add", "add", n, h)
        norm("audio_mlp_norm", n, h, "layernorm")
        product("audio_up_proj", n, self.inner, h, bias=True)
        vector("audio_mlp_act", "gelu", n, self.inner)
        product("audio_down_proj", n, h, self.inner, bias=True)
        vector("audio_mlp_add", "add", n, h)
        graph.count = 1
        if self.kind == "voxtral":
            norm("audio_final_norm", n, h, "layernorm")
            m = n * h // self.inner
            product("audio_project_0", m, self.out, self.inner)
            vector("audio_project_act", "gelu", m, self.out)
            product("audio_project_1", m, self.out, self.out)
        else:
            pooled = clips * (each // 2)
            vector("audio_pool", "add", pooled, h)
            norm("audio_final_norm", pooled, h, "layernorm")
            product("audio_project_0", pooled, self.out, h, bias=True)
        return {}


class Conformer(Encoder):
    """The conformer of Gemma 4 and Gemma 3n."""

    def __init__(self, kind, a, hidden):
        super().__init__(kind, hidden)
        first = kind == "gemma3n"

        def get(name, default):
            return a.get(("conf_" if first else "") + name, default)
        self.hidden = a.get("hidden_size", 1536 if first else 1024)
        self.layers, self.heads = get("num_hidden_layers", 12), get("num_attention_heads", 8)
        self.taps = get("conv_kernel_size", 5)
        self.window = get("attention_context_left", 13) + get("attention_context_right", 0)
        self.channels = a.get("sscp_conv_channel_size" if first else "subsampling_conv_channels",
                              (128, 32))
        self.bins = a.get("input_feat_size", 128) if first else 128
        self.every = get("reduction_factor", 4) if first else 1
        self.wide, self.words = a.get("output_proj_dims", 1536), a.get("vocab_size", 128)
        self.cut = 513 if first else 161

    def pieces(self, clips, _):
        return clips

    def frames(self, seconds):
        return (RATE * seconds - self.cut) // HOP + 1

    def rows(self, seconds):
        return half(half(self.frames(seconds)))

    def tokens(self, seconds):
        self.check(seconds)
        return 188 if self.kind == "gemma3n" else self.rows(seconds)

    def widest(self, seconds):
        one, two = self.channels
        f, rows = self.frames(seconds), self.rows(seconds)
        return max(half(f) * half(self.bins) * one, rows * half(half(self.bins)) * two,
                   4 * rows * self.hidden, rows * self.wide, rows * self.out)

    def run(self, graph, clips, seconds):
        convolve, norm, vector, attend, product, last = self.bind(graph, clips, seconds)
        h, each, (one, two) = self.hidden, self.rows(seconds), self.channels
        n, f, stored = clips * each, half(self.frames(seconds)), graph.f.stored("norm")
        across = half(self.bins), half(half(self.bins))
        sizes = ((f * across[0], one, 1), (each * across[1], two, one))
        for i, (m, channels, inputs) in enumerate(sizes):
            convolve(f"audio_conv_{i}", m, channels, inputs, 9, 4, False)
            norm(f"audio_conv_norm_{i}", clips * m, channels)
            vector(f"audio_conv_act_{i}", "gelu", clips * m, channels)
        product("audio_in_proj", n, h, (across[1] if self.kind == "gemma3n" else one // 4) * two)
        graph.count = self.layers
        self.feed(0, n, norm, vector, product)
        norm("audio_attn_norm", n, h)
        product("audio_qkv_proj", n, 3 * h, h)
        last().resident.append((stored, h // self.heads, 0, 0))
        product("audio_position_proj", self.window, h, h)
        graph.product("audio_position_scores", "vision", 0, n, self.window, h // self.heads, op="bmm",
                      batch=self.heads, resident=False)
        last().formats = graph.formats(graph.f.out, graph.f.out)
        attend(clips, each, 1, self.window)
        product("audio_o_proj", n, h, h)
        norm("audio_attn_post_norm", n, h)
        vector("audio_attn_add", "add", n, h)
        norm("audio_conv_norm", n, h)
        product("audio_conv_in_proj", n, 2 * h, h)
        vector("audio_conv_gate", "silu-mul", n, h)
        graph.vector("audio_short_conv", "short-conv",
                     dict(batch=clips, query_len=each, hidden=h, taps=self.taps),
                     resident=[(stored, h * self.taps, 0, 0)])
        norm("audio_conv_mid_norm", n, h)
        vector("audio_conv_act", "gelu", n, h)
        product("audio_conv_out_proj", n, h, h)
        vector("audio_conv_add", "add", n, h)
        self.feed(1, n, norm, vector, product)
        norm("audio_layer_norm", n, h)
        graph.count = 1
        return self.project(graph, clips, each, norm, product, last)

    def feed(self, i, n, norm, vector, product):
        """An MLP of a layer."""
        h = self.hidden
        norm(f"audio_mlp_norm_{i}", n, h)
        product(f"audio_up_proj_{i}", n, 4 * h, h)
        vector(f"audio_mlp_act_{i}", "gelu", n, 4 * h)
        product(f"audio_down_proj_{i}", n, h, 4 * h)
        norm(f"audio_mlp_post_norm_{i}", n, h)
        vector(f"audio_mlp_add_{i}", "add", n, h)

    def project(self, graph, clips, each, norm, product, last):
        """Results into the width of the language model. Returns what no clip passes."""
        h, n, f = self.hidden, clips * each, graph.f
        if self.kind == "gemma4":
            product("audio_project_0", n, self.wide, h, bias=True)
            norm("audio_project_norm", n, self.wide, gain=False)
            product("audio_project_1", n, self.out, self.wide)
            return {}
        n = clips * -(-each // self.every)
        norm("audio_project_norm", n, h)
        product("audio_project_0", n, self.out, h)
        norm("audio_project_post_norm", n, self.out, gain=False)
        like = last()
        held = [(f.stored("norm"), (self.words + 1) * h, 0, 0)]  # a table, and a norm
        return {type(like)("audio_words", like.op, like.dims, like.formats, held): 1}


def config(random, kind):
    """The audio_config of an encoder that nobody trained; some of its keys are missing."""
    heads = random.choice((2, 4, 5, 8, 20))
    a = (whisper if kind in ("qwen2_audio", "voxtral") else conformer)(
        random, kind, heads * random.randint(3, 80), heads)
    return {key: value for key, value in a.items() if random.random() < 0.85}


def whisper(random, kind, hidden, heads):
    voxtral = kind == "voxtral" and random.random() < 0.7
    names = ("hidden_size num_hidden_layers num_attention_heads intermediate_size" if voxtral else
             "d_model encoder_layers encoder_attention_heads encoder_ffn_dim").split()
    inner = hidden * random.randint(1, 6) if kind == "voxtral" else random.randint(9, 900)
    return dict(zip(names, (hidden, random.randint(1, 9), heads, inner)),
                num_mel_bins=random.choice((80, 128, 81)), max_source_positions=random.choice((1500, 1500, 1500, 900, 61)))


def conformer(random, kind, hidden, heads):
    first = kind == "gemma3n"
    sizes = dict(num_hidden_layers=random.randint(1, 9), num_attention_heads=heads,
                 conv_kernel_size=random.randint(1, 7), attention_context_left=random.randint(1, 30),
                 attention_context_right=random.choice((0, 0, 2)))
    channels = [random.randint(4, 150), random.randint(1, 50)]
    if not first:
        return dict(sizes, hidden_size=hidden, subsampling_conv_channels=channels,
                    output_proj_dims=random.randint(9, 999))
    return dict({"conf_" + key: value for key, value in sizes.items()}, hidden_size=hidden,
                sscp_conv_channel_size=channels, input_feat_size=random.choice((128, 80, 37)),
                conf_reduction_factor=random.choice((4, 4, 5, 7)), vocab_size=random.randint(1, 300))


def behind(random, text):
    """A drawn config of a language model with an audio encoder."""
    kind = "gemma3n" if text["model_type"] == "gemma3n_text" else random.choice(
        ("qwen2_audio", "voxtral", "gemma4"))
    text.setdefault("num_key_value_heads", text.get("num_attention_heads", text.get("num_heads")))
    seen = dict(vision_config=dict(architecture="mobilenetv5_300m_enc", vocab_size=random.randint(1, 300))) \
        if kind == "gemma3n" and random.random() < 0.5 else {}
    return dict(seen, model_type=kind, text_config=text, audio_config=config(random, kind))
