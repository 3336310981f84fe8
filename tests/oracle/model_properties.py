# SPDX-License-Identifier: MIT
"""What must hold between predictions of whole models (see docs/testing.md)."""
import copy
import os

import audio
import cases
import formats

TIMES = "time_us memory_time_us compute_time_us network_time_us step_ms draft_ms ttft_ms tpot_ms " \
        "e2e_ms".split()
RATES = "tokens_per_s tokens_per_s_per_user attainable_tflops".split()
WORK = "flops bytes weights_bytes activations_bytes out_bytes kv_bytes network_bytes".split()
MEMORY = "weights_memory_bytes kv_cache_bytes activation_memory_bytes kv_bytes_per_token".split()
ROUNDED = 2  # bytes: sizes in memory are rounded up, and sums of two are compared
ROLES = "weights activations out kv".split()


def drawn(check, number, without=(), names=None, layouts=True):
    """Records of models, phases, splits and formats; `without` these keys."""
    random, records = check.random, []
    names, devices = names or list(check.models), list(check.devices)
    for _ in range(number):
        name = random.choice(names)
        asked = cases.scenario(random, check.models[name])
        while "prompt" in without and "prompt" in asked:
            asked = cases.scenario(random, check.models[name])
        said = cases.asked_formats(random, "gemm")
        if layouts and random.random() < 0.2:
            said = {key: said[key] for key in said if key not in ("weights", "precision")}
            said["layout"] = random.choice(check.layouts)
        records.append(dict({key: value for key, value in {**asked, **said}.items()
                             if key not in without},
                            model=name, hardware=random.choice(devices)))
    return records


def rows_of(check, *lists):
    """Rows of several lists of records, in step; where one is refused, all are left out."""
    rows = [check.program.records(["model"], records) for records in lists]
    for together in zip(lists[0], *rows):
        if all(together[1:]):
            yield together


def scaled_by_tensor(row, *roles):
    """Whether tensors may have scales that do not grow with them; collectives have one row."""
    return "layout" in row or any(formats.FORMATS[row[role]].get(key) for role in roles
                                  for key in ("tensor", "channel"))


def scaled_devices(check):
    """Twice all rates and half the latencies: half of each time, and the same work and memory."""
    records = drawn(check, check.count)
    faster = [dict(x, hardware=check.faster[x["hardware"]]) for x in records]
    for record, one, other in rows_of(check, records, faster):
        for key in TIMES:
            if key in one:
                check.near("half the time of a model", 2 * other[key], one[key], (key, record))
        for key in RATES:
            if key in one:
                check.near("twice the tokens", other[key], 2 * one[key], (key, record))
        check.hold("the same work and memory", all(
            one.get(key) == other.get(key) for key in WORK + MEMORY + ["fits", "bottleneck"]),
            record)


def in_flight(record):
    """Tells whether the bounds are the lowest of several schedules. Each of these is a line over the
    layers, and the lowest of them bends down where another becomes the lowest."""
    return "prompt" in record and "static" not in record and record.get("batch", 1) > 1


def layers(check):
    """What a layer adds is the same for each dozen of layers."""
    random, sets = check.random, ([], [], [])
    for number in range(max(1, check.count // 40)):
        config = cases.config(random)
        while config["model_type"] == "kimi_k3":  # a later layer mixes the sums of more blocks
            config = cases.config(random)
        period = 12
        for key in ("first_k_dense_replace", "mlp_only_layers", "no_rope_layers", "moe_layers"):
            config.pop(key, None)
        if config["model_type"].startswith("qwen"):
            config["max_window_layers"] = 0
        for key in ("attn_layer_period", "expert_layer_period"):
            if key in config:
                config[key] = random.choice((1, 2, 3, 4, 6, 12))
                config[key.replace("period", "offset")] = random.randrange(config[key])
        for key in ("sliding_window_pattern", "_sliding_window_pattern", "full_attention_interval"):
            if key in config:
                config[key] = random.choice((1, 2, 3, 4, 6, 12))
        if "hidden_size_per_layer_input" in config:
            config["hidden_size_per_layer_input"] = 0  # inputs of all layers are there at once
        kinds = ("sliding_attention", "full_attention")
        if config["model_type"] == "granitemoehybrid":
            kinds = ("mamba", "attention")
        types = [random.choice(kinds) for _ in range(period)]
        letters = "".join(random.choice("M*-") for _ in range(period))
        windows = [random.choice((0, 1)) for _ in range(period)]
        lists = {key: (period * value)[:period] for key, value in config.items()
                 if isinstance(value, list) and len(value) >= config["num_hidden_layers"]}
        names = []
        for times in (1, 2, 3):
            one = copy.deepcopy(config)
            one["num_hidden_layers"] = times * period
            one.update((key, times * value) for key, value in lists.items())
            if "layer_types" in one:
                one["layer_types"] = times * types
            if "hybrid_override_pattern" in one:
                one["hybrid_override_pattern"] = times * letters
            if "attn_type_list" in one:
                one["attn_type_list"] = times * windows
            if "hybrid_layer_pattern" in one:
                one["hybrid_layer_pattern"] = times * windows
            if isinstance(one.get("moe_layer_freq"), list):
                one["moe_layer_freq"] = times * windows[::-1]
            if "sparse_attention_config" in one:
                one["sparse_attention_config"].update(sparse_attention_freq=times * windows,
                                                      sparse_disable_index_value=times * windows)
            names.append(cases.model_file(check.program.folder, f"layers-{number}-{times}", one))
            check.models[names[-1]] = cases.models.Model(one, names[-1])
        base = drawn(check, 40, without=("pp",), names=names[:1], layouts=False)
        for records, name in zip(sets, names):
            records += [dict(record, model=name) for record in base]
            del check.models[name]
    for record, one, two, three in rows_of(check, *sets):
        for key in WORK + MEMORY + ["time_us", "step_ms", "ttft_ms", "e2e_ms"]:
            if key == "activation_memory_bytes":
                check.hold("layers share the memory of activations", one[key] == two[key], record)
            elif key in one and key.startswith(("time", "ttft", "e2e")) and in_flight(record):
                check.hold("each dozen of layers adds at most as much as the one before",
                           one[key] <= two[key] <= three[key] and
                           one[key] + three[key] <= 2 * two[key] * (1 + 1e-12), (key, record))
            elif key in one:
                check.near("each dozen of layers adds the same", one[key] + three[key],
                           2 * two[key], (key, record), ROUNDED if key in MEMORY else 0)


SPLITS = "tp pp ep attention_dp moe_tp moe_ep".split()


def groups_of(record):
    """Groups of the attention, each with sequences of its own."""
    return max(record.get("attention_dp", 1), record.get("ep", 1))


def batches(check):
    """Two batches together: FLOPs and caches of both, and no more time than one after the other."""
    random, sets = check.random, ([], [], [])
    for record in drawn(check, check.count, without=("prompt", "generate", "static")):
        # Whole microbatches, and as many sequences in each group of the attention.
        grain = record.get("pp", 1) * groups_of(record)
        if record.get("tp", 1) > 1 and record["hardware"] not in check.shipped:
            record["hardware"] = random.choice(list(check.shipped))  # no latency: rings alone
        first, other = (grain * cases.size(random, 4) for _ in range(2))
        counts = (first, first + other, first + 2 * other) if record.get("phase") == "mixed" \
            else (first, other, first + other)
        for records, count in zip(sets, counts):
            records.append(dict(record, batch=count))
    for record, one, two, three in rows_of(check, *sets):
        if record.get("pp", 1) > 1:  # work and memory are those of a stage, not always the same one
            check.hold("more sequences take more time", max(one["step_ms"], two["step_ms"]) <=
                       three["step_ms"], record)
            if record.get("phase") != "mixed":
                check.hold("together no slower than one after the other", three["step_ms"] <=
                           (one["step_ms"] + two["step_ms"]) * (1 + 1e-12), record)
            continue
        if record.get("phase") == "mixed":  # beside the same prefill
            for key in ("flops", "kv_cache_bytes"):
                check.near("each batch adds the same to a prefill", one[key] + three[key],
                           2 * two[key], (key, record), ROUNDED if key in MEMORY else 0)
            check.hold("more sequences take more time", one["step_ms"] <= two["step_ms"] <=
                       three["step_ms"], record)
            continue
        model = check.models[record["model"]]
        # A conformer multiplies the positions of its keys once, for however many clips.
        once = one.get("audio") and isinstance(model.audio, audio.Conformer)
        if not model.compressed and not once:  # a compressed key is whole, in each group
            check.near("FLOPs of two batches", one["flops"] + two["flops"], three["flops"], record)
        check.near("caches of two batches", one["kv_cache_bytes"] + two["kv_cache_bytes"],
                   three["kv_cache_bytes"], record, ROUNDED)
        if groups_of(record) == 1 and not scaled_by_tensor(one, "weights", "activations",
                                                                 "out", "kv"):
            for key in ("kv_bytes",) if once else ("activations_bytes", "out_bytes", "kv_bytes"):
                check.near("activations and caches of two batches are moved", one[key] + two[key],
                           three[key], (key, record))
        longest, whole = max(one["step_ms"], two["step_ms"]), one["step_ms"] + two["step_ms"]
        check.hold("together no slower than one after the other",
                   longest <= three["step_ms"] <= whole * (1 + 1e-12), record)
        check.hold("weights are read no more often than by each alone",
                   max(one["weights_bytes"], two["weights_bytes"]) <= three["weights_bytes"] *
                   (1 + 1e-12) and three["weights_bytes"] <=
                   (one["weights_bytes"] + two["weights_bytes"]) * (1 + 1e-12), record)


def contexts(check):
    """A cache has its bytes per token for each token that it keeps."""
    random, sets = check.random, ([], [], [])
    drawn_without = ("draft_tokens", "acceptance", "phase", "prompt", "generate", "static", "tp", "pp", "ep",
                     "attention_dp", "moe_tp", "moe_ep", "chunk", "prefix_hit", "prefill_batch", "prefill_context")
    for record in drawn(check, check.count, without=drawn_without):
        first, other = cases.size(random, 10), cases.size(random, 10)
        for records, context in zip(sets, (first, other, first + other)):
            records.append(dict(record, context=context))
    for record, one, two, three in rows_of(check, *sets):
        model = check.models[record["model"]]
        if model.branches or "images" in record and any(model.crossed):
            continue  # only whole blocks have a key, and images have keys of their own
        if not any(layer[0] or layer[2] for layer in model.layers):
            check.near("caches of two contexts", one["kv_cache_bytes"] + two["kv_cache_bytes"],
                       three["kv_cache_bytes"], record, ROUNDED)
            check.near("bytes per token, tokens and sequences", three["kv_bytes_per_token"] *
                       three["context"] * three["batch"], three["kv_cache_bytes"], record, ROUNDED)
        elif not model.state and not model.compressed:  # whose keys are whole, whatever the context
            check.hold("windows keep no more", max(one["kv_cache_bytes"], two["kv_cache_bytes"]) <=
                       three["kv_cache_bytes"] <= three["kv_bytes_per_token"] * three["context"] *
                       three["batch"] * (1 + 1e-12) + ROUNDED, record)
        # Chunks end: beyond the first one the mean over places counts, which is less than a whole one.
        for key in ("flops", "bytes", "time_us") if not model.chunked else ():
            check.hold("a longer context is no less", max(one[key], two[key]) <= three[key] *
                       (1 + 1e-12), (key, record))


def chunks(check):
    """The FLOPs of a prompt in two chunks are the same wherever it is cut."""
    random, sets = check.random, ([], [], [], [])
    # A state takes chunks of its own, and a latent is expanded for each. Blocks are chosen among all
    # of a chunk's context.
    names = [name for name, model in check.models.items() if not (
        model.latent or model.state or model.chunked or model.compressed or model.choice)]
    for record in drawn(check, check.count // 2, names=names, without=(
            "draft_tokens", "acceptance", "prompt", "generate", "static", "chunk", "prefix_hit",
            "prefill_batch", "prefill_context", "pp")):
        if record.get("tp", 1) > 1 and record["hardware"] not in check.shipped:
            record["hardware"] = random.choice(list(check.shipped))
        context = 2 + cases.size(random, 10)
        record.update(phase="prefill")
        for number in range(2):
            cut = random.randint(1, context - 1)
            sets[2 * number].append(dict(record, context=cut))
            sets[2 * number + 1].append(dict(record, context=context, chunk=context - cut))
    for record, *four in rows_of(check, *sets):
        first, last, other_first, other_last = (row["flops"] for row in four)
        check.near("FLOPs of a prompt in chunks", first + last, other_first + other_last,
                   record)


def requests(check):
    """A static batch is a prefill and the decode steps behind it; its cache is that of the last."""
    random, wholes, prefills, steps = check.random, [], [], []
    for record in drawn(check, check.count // 8, without=(
            "phase", "context", "chunk", "prompt", "generate", "static", "prefill_batch",
            "prefill_context")):
        prompt, generate = cases.size(random, 9), random.randint(2, 7)
        decode = {key: value for key, value in record.items() if key != "prefix_hit"}
        before = {key: value for key, value in record.items() if key not in ("draft_tokens",
                                                                             "acceptance")}
        wholes.append(dict(record, prompt=prompt, generate=generate, static=1))
        prefills.append(dict(before, phase="prefill", context=prompt))
        steps.append([dict(decode, context=prompt + i) for i in range(1, generate + 1)])
    flat = check.program.records(["model"], [step for some in steps for step in some])
    at = 0
    for record, some, whole, first in zip(wholes, steps,
                                          check.program.records(["model"], wholes),
                                          check.program.records(["model"], prefills)):
        rows = flat[at:at + len(some)]
        at += len(some)
        if not (whole and first and all(rows)):
            continue
        times = [row["tpot_ms"] for row in rows[:-1]]
        check.near("the first token of a request", whole["ttft_ms"], first["ttft_ms"], record)
        check.near("the steps of a request", whole["tpot_ms"], sum(times) / len(times), record)
        check.near("the end of a request", whole["e2e_ms"], first["ttft_ms"] + sum(times), record)
        if record.get("pp", 1) > 1:
            continue  # the stage that needs most may be another
        check.hold("the memory of a request", whole["kv_cache_bytes"] == rows[-1]["kv_cache_bytes"]
                   and whole["weights_memory_bytes"] == rows[-1]["weights_memory_bytes"] and
                   whole["activation_memory_bytes"] == max(row["activation_memory_bytes"]
                                                           for row in (rows[-1], first)), record)


def heads(check):
    """With fewer heads of K and V a model has less of everything; its cache in proportion."""
    random, sets, shares = check.random, ([], [], []), []
    for number in range(max(1, check.count // 40)):
        config = cases.config(random)
        while "kv_lora_rank" in config or config["model_type"].startswith(("deepseek", "minimax_m3")) or \
                config["model_type"] in ("gpt2", "opt", "phi", "gpt_neox", "starcoder2", "mimo_v2",
                                         "mimo_v2_flash", "gemma4_text"):
            config = cases.config(random)
        every = config["num_attention_heads"]
        config.setdefault("head_dim", config["hidden_size"] // every)
        some = random.choice([x for x in range(1, every + 1) if every % x == 0])
        names = []
        for count in (1, some, every):
            one = dict(config, num_key_value_heads=count)
            names.append(cases.model_file(check.program.folder, f"heads-{number}-{count}", one))
            check.models[names[-1]] = cases.models.Model(one, names[-1])
        base = drawn(check, 40, names=names[:1], without=("pp",), layouts=False)
        for records, name in zip(sets, names):
            records += [dict(record, model=name) for record in base]
            check.models.pop(name, None)
        shares += len(base) * [(some, every)]
    share_of = {id(record): share for record, share in zip(sets[0], shares)}
    for record, mqa, gqa, mha in rows_of(check, *sets):
        for key in ("kv_cache_bytes", "kv_bytes_per_token", "weights_memory_bytes", "bytes",
                    "flops", "step_ms", "e2e_ms"):
            if key in mha:
                check.hold("MQA, GQA, MHA", mqa[key] <= gqa[key] * (1 + 1e-12) and
                           gqa[key] <= mha[key] * (1 + 1e-12), (key, record))
        some, every = share_of[id(record)]
        check.near("the cache of GQA in proportion to its heads", gqa["kv_bytes_per_token"] * every,
                   mha["kv_bytes_per_token"] * some, record)


def bits_per_element(name):
    row = formats.FORMATS[name]
    return row["bits"] / row["elements"]


PLAIN = ["int2", "int4", "fp8_e4m3", "bf16", "fp32", "fp64"]


def by_bits(check):
    """Weights and caches: more bits per element are more bytes; blocks of codes with scales lie
    between the plain formats of these codes and of the next width."""
    random = check.random
    # A scale per row weighs more or less by the length of rows; it is compared with plain formats.
    order = sorted((name for name in formats.NAMES if name != "int8_channel"),
                   key=lambda name: formats.tensor_bytes(name, 10 ** 9))
    every = order + ["int8_channel"]
    for what, keys in (("weights", ("weights_memory_bytes", "weights_bytes", "bytes",
                                    "memory_time_us")),
                       ("kv", ("kv_cache_bytes", "kv_bytes", "bytes"))):
        records = []
        for _ in range(max(1, check.count // len(every))):
            base = dict(model=random.choice(list(check.shipped_models)), phase="decode",
                        batch=cases.size(random, 4), context=4096 if what == "kv" else 512,
                        hardware=random.choice(list(check.shipped)), activations="fp16", kv="fp16",
                        out="fp16", weights="fp16")
            if check.models[base["model"]].learned:
                base["model"] = "llama-3-8b"
            records += [dict(base, **{what: name}) for name in every]
        rows = check.program.records(["model"], records)
        for start in range(0, len(rows), len(every)):
            of = dict(zip(every, rows[start:start + len(every)]))
            if not all(of.values()):
                continue
            for one, other in zip(order, order[1:]):
                for key in keys:
                    check.hold(f"{what} in the order of their bits",
                               of[one][key] <= of[other][key] * (1 + 1e-12), (key, one, other))
            for name in every:
                width = formats.FORMATS[name]["width"]
                below = [x for x in PLAIN if formats.FORMATS[x]["width"] <= width]
                above = [x for x in PLAIN if formats.FORMATS[x]["width"] > width]
                # Three values share less than two bits.
                if below and name not in ("tq1_0", "iq1_s", "iq1_m"):
                    check.hold(f"{what} in blocks, no less than their codes",
                               of[below[-1]][keys[0]] <= of[name][keys[0]], (name, below[-1]))
                if above and name not in ("tf32",):
                    check.hold(f"{what} in blocks, less than the next width",
                               of[name][keys[0]] <= of[above[0]][keys[0]], (name, above[0]))
            four = [of[name][keys[0]] for name in ("int4", "mxfp4", "nvfp4", "fp8_e4m3",
                                                   "mxfp8_e4m3", "bf16")]
            check.hold(f"{what} of 4 bits, of blocks of them, of 8 bits, of blocks of them",
                       four == sorted(set(four)), (start, four))


def splits(check):
    """A device of a split holds no more than the whole, and no less than its share."""
    sets, parts = ([], []), []
    for record in drawn(check, check.count, without=("prompt", "generate", "static")):
        devices = record.get("tp", 1) * record.get("pp", 1) * groups_of(record)
        if record.get("phase") == "mixed" or devices == 1:
            continue
        if record.get("pp", 1) > 1:  # the last stage has a copy of the embedding for drafts
            record.pop("draft_tokens", None)
            record.pop("acceptance", None)
        record["batch"] = record.get("batch", 1) * groups_of(record)
        sets[0].append(record)
        sets[1].append({key: value for key, value in record.items() if key not in SPLITS})
        parts.append(devices)
    part_of = {id(record): part for record, part in zip(sets[0], parts)}
    for record, part, whole in rows_of(check, *sets):
        devices = part_of[id(record)]
        # Of the stage that needs most, which may be for any of the three.
        held, every = (row["weights_memory_bytes"] + row["kv_cache_bytes"] for row in (part, whole))
        check.hold("devices of a split hold the whole", (
            held + part["activation_memory_bytes"]) * devices >= every * (1 - 1e-12), record)
        check.hold("a device of a split holds no more than the whole",
                   held <= every * (1 + 1e-12), record)
        check.hold("devices of a split", part["devices"] == devices * record.get("dp", 1), record)


def files(check):
    """A model, or a layout, by its file is what it is by its name."""
    random, sets = check.random, ([], [])
    for record in drawn(check, check.count // 4, names=list(check.shipped_models)):
        path = os.path.join(check.data, "models", record["model"] + ".json")
        other = dict(record, model=path)
        if "layout" in record:
            other["layout"] = os.path.join(check.data, "layouts", record["layout"] + ".json")
        sets[0].append(record)
        sets[1].append(other)
    for record, one, other in rows_of(check, *sets):
        check.hold("a model by its file", all(other[key] == value for key, value in one.items()
                                              if key not in ("model", "layout")), record)


def drafts(check):
    """The model that proposes takes a step of its own per draft, and memory."""
    for _ in range(max(1, check.count // 200)):
        name = check.random.choice(list(check.models))
        sets = ([], [], [])
        for record in drawn(check, 60, layouts=False, without=(
                "phase", "chunk", "prompt", "generate", "static", "prefix_hit", "prefill_batch",
                "prefill_context", "ep", "attention_dp", "moe_tp", "moe_ep", "routing")):
            record.setdefault("draft_tokens", check.random.randint(1, 6))
            sets[0].append(record)
            sets[1].append({key: value for key, value in dict(record, model=name).items()
                            if key not in ("draft_tokens", "acceptance")})
            context = record.get("context", min(4096, max(1, (
                check.models[record["model"]].positions or 4096) - record["draft_tokens"] *
                check.models[record["model"]].learned)))
            sets[1][-1]["context"] = context
        alone = check.program.records(["model"], sets[0], ["--draft-model", "none"])
        own = check.program.records(["model"], sets[1])
        both = check.program.records(["model"], sets[0], ["--draft-model", name])
        for record, one, step, whole in zip(sets[0], alone, own, both):
            if not (one and step and whole):
                continue
            time = record["draft_tokens"] * step["step_ms"]
            check.near("the steps of a draft model", whole["draft_ms"], time, (name, record))
            check.near("a step with drafts", whole["step_ms"], one["step_ms"] + time,
                       (name, record))
            check.near("the memory of a draft model", whole["weights_memory_bytes"],
                       one["weights_memory_bytes"] + step["weights_memory_bytes"], (name, record),
                       ROUNDED)


PROPERTIES = (scaled_devices, layers, batches, contexts, chunks, requests, heads, by_bits, splits,
              files, drafts)
