# SPDX-License-Identifier: MIT
"""Draws questions: a command, a format and inputs by their keys, some of them not possible."""

OPERATORS = {
    "gemm": "m n k batch?", "gemv": "n k", "bmm": "batch m n k",
    "attention-scores": "batch? heads kv_heads? head_dim query_len? kv_len causal? window?",
    "softmax": "batch? heads head_dim? query_len? kv_len causal?",
    "attention": "batch? heads kv_heads? head_dim query_len? kv_len causal? window?",
    "flash-attention": "batch? heads kv_heads? head_dim query_len? kv_len causal? window?",
    "mla-decode": "batch? heads kv_lora_rank? query_len? kv_len causal?",
    "mla-prefill": "batch? heads query_len kv_len causal?",
    "rmsnorm": "tokens hidden gain?", "layernorm": "tokens hidden gain?", "add": "tokens hidden",
    "silu-mul": "tokens hidden", "gelu": "tokens hidden", "quantize": "tokens hidden",
    "rope": "tokens heads kv_heads? head_dim", "kv-append": "tokens heads? kv_heads head_dim",
    "add-rmsnorm": "tokens hidden gain?", "add-rmsnorm-quantize": "tokens hidden", "gemm-silu-mul": "m n k",
    "rope-append": "tokens heads kv_heads? head_dim qk_rope_head_dim?", "silu-mul-quantize": "tokens hidden",
    "groupnorm": "tokens hidden gain?", "conv2d": "batch? m n k taps? subsample?", "conv3d": "m n k",
    "embedding": "tokens hidden", "moe": "tokens hidden intermediate experts top_k routing? ep?",
    "router": "tokens experts top_k", "all-reduce": "elements devices within? algorithm?",
    "all-gather": "elements devices within? algorithm?", "send": "elements within?",
    "index-scores": "batch? heads head_dim query_len? kv_len causal?",
    "sparse-mla": "batch? heads query_len? kv_len causal? selected?", "short-conv": "batch? hidden taps?",
    "gated-delta": "batch? heads kv_heads? head_dim query_len? scan_chunk?", "ssd": "heads head_dim state_size?",
    "moe-ungated": "tokens hidden intermediate experts top_k", "lightning": "heads head_dim query_len?", "selective-scan": "batch? query_len? hidden state_size?",
    "all-to-all": "elements devices within?", "moe-down": "tokens hidden intermediate experts top_k"}
CHOSEN = {
    "heads": [8, 16, 32, 64], "kv_heads": [1, 4, 8, 6], "head_dim": [64, 80, 128, 256],
    "query_len": [1, 16, 512], "kv_len": [512, 4096, "8Ki", 1000], "window": [0, 512, 4096],
    "batch": [1, 2, 8, 64], "experts": [8, 64, 128], "top_k": [1, 2, 8, 9], "ep": [1, 2, 4],
    "devices": [2, 4, 8, 16], "within": [1, 2, 8], "kv_lora_rank": [256, 512],
    "elements": [1024, "16Mi", 5000000], "routing": ["uniform", "balanced", "skewed"],
    "algorithm": ["ring", "one-shot", "tree"]}
SIZES = [1, 2, 7, 64, 128, 1000, 4096, 8192, "4Ki", "10k", 14336, 128256]
FLAGS = {"causal", "gain", "sparse", "no_launch_overhead", "split_projections", "unfused_attention",
         "why", "tiling", "native_only", "attainable", "expected", "summary"}
BAD_SIZES = [0, -3, "many", "1.5", "1e40", "1,2", "4Kib", "9999999999999999"]
FORMATS = ["fp32", "bf16", "fp16", "fp8", "fp8_e5m2", "int8", "int4", "mxfp4", "mxfp8", "nvfp4", "q4_k",
           "awq", "nf4", "fp17"]
DEVICES = ["h100-sxm", "h100", "gb10", "b200", "a100", "l40s", "mi300x", "t4", "m4-max", "gb300", "h800"]
MODELS = ["llama-3-8b", "llama-3-70b", "gpt-oss-20b", "gpt-oss-120b", "deepseek-v3", "mixtral-8x7b",
          "qwen3-8b", "gemma-3-27b", "gpt-2", "phi-4", "qwen3-30b-a3b", "llama-3-8c"]
LAYOUTS = ["fp8-dynamic", "q4_k_m", "w4a16-awq", "checkpoint", "gpt-oss-mxfp4", "deepseek-fp8", "q9_9"]
SETTINGS = ["bandwidth_gb_s=500", "peak_tflops.fp16=100", "tdp_w=400", "bandwidth_gb_s=x", "speed=1",
            "memory_gb=48"]
# Values that are refused wherever they stand; they would be too many without being drawn again.
REFUSED = {"fp17", "h800", "llama-3-8c", "q9_9", "bandwidth_gb_s=x", "speed=1", "memory_gb=48", "skewed",
           "tree", "none", "tim", "train", "x", "fp99", "9%", "int4,x", "t4,x", "qwen3-8b,x", "5:1", "0:3",
           "hardwares", "1.5", "2", "a", "3/2", "fp16", 0}


class Question:
    """inputs: pairs of a key and a text; true stands for a flag."""

    def __init__(self, command, output, inputs):
        self.command, self.format, self.inputs = command, output, inputs

    def given(self):
        return dict(self.inputs)

    def argv(self):
        """The arguments of the program."""
        words = [[value] if key in ("operator", "list", "id", "file") else ["model", value]
                 for key, value in self.inputs if key in ("operator", "model", "list", "id", "file")]
        words = [word for both in words for word in both if word != ""]
        for key, value in self.inputs:
            if key in ("operator", "model", "list", "id", "file"):
                continue
            name = "measured" if key == "measured_us" else key.replace("_", "-")
            if value is True:
                words.append("--" + name)
            elif len(name) == 1:
                words += ["-" + name, str(value)]
            else:
                words.append(f"--{name}={value}")
        return [self.command] + words + ["-f", self.format]

    def lines(self, output=None):
        """The lines that asker.c reads."""
        texts = "".join(f"{key}={'' if value is True else value}\n" for key, value in self.inputs)
        return f"{self.command} {output or self.format}\n{texts}\n"

    def __str__(self):
        return "roofline " + " ".join(self.argv())


class Questions:
    """Draws questions from random numbers."""

    def __init__(self, random, measured):
        self.random, self.measured = random, measured

    def maybe(self, part):
        return self.random.random() < part

    def choice(self, values):
        """One of some values, those that are refused less often."""
        value = self.random.choice(values)
        return self.random.choice(values) if value in REFUSED and self.maybe(0.8) else value

    def value(self, key):
        if key in FLAGS:
            return True
        if self.maybe(0.02):
            return self.choice(BAD_SIZES)
        return self.choice(CHOSEN.get(key, SIZES))

    def operator(self, of_models=("context", "tp", "phase")):
        name = self.choice(sorted(OPERATORS))
        inputs = [("operator", "gem" if self.maybe(0.01) else name)]
        for key in OPERATORS[name].split():
            if not self.maybe(0.6 if key.endswith("?") else 0.02):
                inputs.append((key.rstrip("?"), self.value(key.rstrip("?"))))
        if self.maybe(0.02):
            inputs.append((self.choice(of_models), "2"))
        if self.maybe(0.02) and "window" not in dict(inputs):
            inputs.append(("window", "5"))
        return inputs

    def device(self):
        inputs = [("hardware", self.choice(DEVICES))] if self.maybe(0.8) else []
        if self.maybe(0.15):
            inputs.append(("set", self.choice(SETTINGS)))
            if self.maybe(0.3):
                inputs.append(("set", self.choice(SETTINGS)))
        return inputs

    def drawn(self, chances):
        """Inputs with a chance each: (chance, key, values)."""
        return [(key, self.choice(values)) for chance, key, values in chances
                if self.maybe(chance)]

    def formats(self):
        return self.drawn([(0.4, "precision", FORMATS), (0.2, "weights", FORMATS),
                           (0.1, "activations", FORMATS), (0.05, "kv", FORMATS), (0.05, "out", FORMATS),
                           (0.05, "sparse", [True]), (0.1, "stack", ["best", "vllm", "trtllm", "none"]),
                           (0.1, "cache", ["warm", "cold"]), (0.05, "no_launch_overhead", [True])])

    def predict_operator(self):
        output = self.choice(["text", "json", "ndjson", "csv", "md"])
        columns = [(0.3, "columns", ["time_us,bottleneck", "expected_time_us,time_us", "tim"])]
        inputs = self.operator() + self.device() + self.formats() + self.drawn(
            [(0.1, "measured_us", ["83us", "1.2ms", "3"]), (0.1, "why", [True]), (0.1, "tiling", [True]),
             (0.05, "explain", ["h100-sxm,b200", "fp16,fp8", "fp16"])] +
            (columns if output in ("ndjson", "csv", "md") else []))
        return Question("predict", output, inputs)

    def model(self):
        inputs = [("model", self.choice(MODELS))]
        if self.maybe(0.3):
            return inputs + self.drawn(
                [(1, "prompt", [512, "2k", 100]), (0.9, "generate", [1, 100, "500"]),
                 (0.1, "phase", ["decode"]), (0.2, "prefix_hit", ["0.5", "2"]),
                 (0.2, "batch", [1, 4])])
        return inputs + self.drawn(
            [(0.6, "phase", ["decode", "prefill", "mixed", "train"]), (0.5, "batch", [1, 8, 64, 0]),
             (0.6, "context", [128, 4096, "8Ki", "x"]), (0.15, "draft_tokens", [2, 4]),
             (0.05, "acceptance", ["0.8", "1.5"]), (0.05, "draft_model", ["llama-3.2-1b", "gpt-2"]),
             (0.05, "chunk", [256, 512])])

    def model_options(self):
        return self.drawn(
            [(0.3, "tp", [1, 2, 4, 8, 3]), (0.15, "pp", [1, 2, 4]), (0.1, "ep", [1, 2, 8]),
             (0.1, "layout", LAYOUTS), (0.1, "class", ["lm_head=bf16", "experts=mxfp4", "attention=fp8", "a"]),
             (0.1, "split_projections", [True]), (0.1, "unfused_attention", [True]),
             (0.1, "reserve", ["0.2", "0", "3"])])

    def predict_model(self):
        output = self.choice(["text", "json", "ndjson", "csv", "md", "html"])
        few = [(0.2, "top", [1, 3, 20])] if output == "text" else []
        return Question("predict", output, self.model() + self.device() + self.formats() +
                        self.model_options() + self.drawn([(0.1, "why", [True])] + few))

    def recommend_operator(self):
        return Question("recommend", self.choice(["text", "json", "ndjson", "csv", "md"]),
                        self.operator(("context", "max_tpot")) + self.device() + self.drawn(
            [(0.3, "formats", ["fp16,fp8", "fp16,nvfp4,int4", "all", "fp99"]),
             (0.3, "max_accuracy_loss", ["none", "minimal", "<1%", "severe", "9%"]),
             (0.2, "objective", ["time", "balanced", "cost"]), (0.2, "by", ["ideal", "expected"]),
             (0.2, "native_only", [True])]))

    def recommend_model(self):
        return Question("recommend", self.choice(["text", "json", "ndjson", "csv", "md"]),
                        [("model", self.choice(MODELS)),
                         ("hardware", self.choice(["h100-sxm", "gb10", "h100-sxm,l40s", "b200"]))] +
                        self.drawn(
            [(0.5, "batch", ["1", "1,8", "4:16"]), (0.3, "devices", ["1", "1,2", "8"]),
             (0.3, "context", [4096, 512]), (0.2, "formats", ["fp8", "bf16,fp8", "nvfp4"]),
             (0.2, "max_tpot", ["30ms", "1us", "30"]), (0.2, "objective", ["cost", "latency", "energy"]),
             (0.2, "price_per_hour", ["h100-sxm=2.5", "gb10=0.1", "x"]), (0.2, "top", [1, 3]),
             (0.1, "min_tokens_per_s", ["100", "1e9"]), (0.1, "engine", ["vllm", "all", "none"]),
             (0.1, "emit", ["vllm"])]))

    def sweep(self):
        several = [("hardware", self.choice(["h100-sxm", "gb10,h100-sxm", "t4,x"]))]
        output = self.choice(["text", "json", "ndjson", "csv", "md"])
        if self.maybe(0.4):
            inputs = [("model", self.choice(["llama-3-8b", "llama-3-8b,gpt-2", "qwen3-8b,x"])),
                      ("batch", "1:8:x2"), ("phase", self.choice(["decode,prefill", "decode"]))]
        else:
            inputs = [("operator", "gemm"), ("m", self.choice(["1:64:x2", "1,5", "5:1", "0:3"])),
                      ("n", "4Ki"), ("k", "1000")]
        return Question("sweep", output, inputs + several + self.drawn(
            [(0.5, "precision", ["fp16,fp8", "fp16", "int4,x"]), (0.2, "shard", ["1/2", "2/2", "3/2"]),
             (0.2, "threads", ["1", "2", "0"]), (0.2, "tp", ["1,2"])]))

    def list(self):
        inputs = self.drawn([(0.97, "list", ["hardware", "models", "precisions", "operators", "layouts",
                                             "engines", "hardwares"])])
        if inputs and self.maybe(0.3):
            inputs += self.drawn([(1, "id", ["h100-sxm", "llama-3-8b", "fp16", "gemm", "vllm"])])
        return Question("list", self.choice(["text", "json", "ndjson", "csv", "md"]), inputs)

    def plot(self):
        output = self.choice(["text", "json", "gnuplot", "html"])
        inputs = [("hardware", self.choice(["h100-sxm", "gb10,l40s", "h800"]))]
        if self.maybe(0.3):
            inputs += [("model", "llama-3-8b")]
        elif self.maybe(0.6):
            inputs += [("operator", "gemm"), ("m", "1:4096:x4"), ("n", "4096"), ("k", "4096")]
        if output == "text":
            inputs += [("charset", self.choice(["unicode", "ascii"])),
                       ("size", self.choice(["80", "100x30", "9"]))]
        return Question("plot", output, inputs + self.drawn(
            [(0.3, "ceilings", ["fp16,fp8", "fp16:matrix", "x"]), (0.2, "line", ["cuBLAS=271TFLOPS", "a"]),
             (0.2, "title", ["A title"]), (0.1, "attainable", [True])]))

    def compare(self):
        output = self.choice(["text", "json", "ndjson", "csv", "md"])
        return Question("compare", output, [("file", self.measured)] + self.drawn(
            [(0.2, "group_by", ["operator", "run", "nothing"]), (0.2, "summary", [True]),
             (0.3, "hardware", DEVICES)]))

    def draw(self, count):
        """So many questions, of each kind its part."""
        kinds = [(self.predict_operator, 36), (self.predict_model, 26), (self.recommend_operator, 10),
                 (self.recommend_model, 6), (self.sweep, 8), (self.list, 5), (self.plot, 5),
                 (self.compare, 4)]
        return [kind() for kind in self.random.choices([kind for kind, _ in kinds],
                                                       [part for _, part in kinds], k=count)]
