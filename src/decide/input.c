// SPDX-License-Identifier: MIT
#include "decide/input.h"
#include "decide/hint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "predict/tile.h"
#include "simulate/copies.h"

#define POINT (ROOF_COMMAND_PREDICT | ROOF_COMMAND_SWEEP | ROOF_COMMAND_COMPARE | ROOF_COMMAND_PLOT)
#define WORKLOAD (POINT | ROOF_COMMAND_RECOMMEND)
/* The inputs of a model that is served, too. */
#define SERVED(commands_) ((commands_) | ROOF_COMMAND_SIMULATE)
/* The inputs of a model whose steps are measured, too. */
#define STEPPED(commands_) ((commands_) | ROOF_COMMAND_MEASURE)
#define ALL (SERVED(WORKLOAD) | ROOF_COMMAND_LIST)
/* The commands whose models may have a part on a host: a chart has the roofs of devices alone. */
#define OFFLOADS (WORKLOAD & ~(unsigned)ROOF_COMMAND_PLOT)
/* Commands whose answers about models can be charts of curves. */
#define CURVES (ROOF_COMMAND_SWEEP | ROOF_COMMAND_RECOMMEND | ROOF_COMMAND_SIMULATE)
/* The commands that print documents and tables. */
#define TABLES (ALL & ~(unsigned)ROOF_COMMAND_PLOT)
#define FORMAT(key_, option_, letter_, field_, help_, commands_)                                   \
    {                                                                                              \
        .key = (key_), .option = (option_), .letter = (letter_), .kind = ROOF_INPUT_PRECISION,     \
        .value = "P", .help = (help_), .offset = offsetof(struct roof_workload, formats.field_),   \
        .field = true, .commands = (commands_), .group = ROOF_GROUP_FORMATS                        \
    }
/* A choice of how kernels run, on which the expected time depends. */
#define CHOICE(key_, field_, choices_, max_, value_, help_, commands_)                             \
    {                                                                                              \
        .key = (key_), .option = (option_##field_), .kind = ROOF_INPUT_CHOICE, .max = (max_),      \
        .choices = (choices_), .value = (value_), .help = (help_),                                 \
        .offset = offsetof(struct roof_workload, field_), .field = true, .commands = (commands_),  \
        .group = ROOF_GROUP_EXPECTED                                                               \
    }
#define option_stack "stack"
#define option_cache "cache"
#define option_quantize_input "quantize-input"
#define MODEL(field_)                                                                              \
    .offset = offsetof(struct roof_scenario, field_), .field = true, .of = ROOF_OF_MODELS
#define LENGTH(option_, field_, key_, help_) LENGTH_OF(option_, field_, key_, help_, POINT)
#define LENGTH_OF(option_, field_, key_, help_, commands_)                                         \
    {                                                                                              \
        .key = (key_), .option = (option_), .kind = ROOF_INPUT_INTEGER, .min = 1,                  \
        .max = LENGTH_MAX, .value = "N", .help = (help_), MODEL(field_), .commands = (commands_),  \
        .group = ROOF_GROUP_MODEL                                                                  \
    }
#define NUMBER(option_, field_, key_, value_, help_)                                               \
    NUMBER_OF(option_, field_, key_, value_, help_, POINT)
#define NUMBER_OF(option_, field_, key_, value_, help_, commands_)                                 \
    {                                                                                              \
        .key = (key_), .option = (option_), .kind = ROOF_INPUT_NUMBER, .max = 1,                   \
        .value = (value_), .help = (help_), MODEL(field_), .commands = (commands_),                \
        .group = ROOF_GROUP_MODEL                                                                  \
    }
/* A time, whose key counts a part of a second. */
#define TIME_OF(option_, field_, key_, unit_, help_)                                               \
    {                                                                                              \
        .key = (key_), .option = (option_), .kind = ROOF_INPUT_NUMBER, .max = LENGTH_MAX,          \
        .unit = (unit_), .value = "TIME", .help = (help_), MODEL(field_), .commands = POINT,       \
        .group = ROOF_GROUP_MODEL                                                                  \
    }
/* A bound for plans of models, as a text. */
#define LIMIT(option_, value_, help_, commands_)                                                   \
    {                                                                                              \
        .option = (option_), .kind = ROOF_INPUT_TEXT, .value = (value_), .help = (help_),          \
        .of = ROOF_OF_MODELS, .commands = (commands_), .group = ROOF_GROUP_LIMITS                  \
    }
/* A whole number of simulations. */
#define SIMULATED(option_, min_, max_, help_)                                                      \
    {                                                                                              \
        .option = (option_), .kind = ROOF_INPUT_INTEGER, .min = (min_), .max = (max_),             \
        .value = "N", .help = (help_), .of = ROOF_OF_MODELS, .commands = ROOF_COMMAND_SIMULATE     \
    }
#define SWITCH(option_, field_, help_)                                                             \
    {                                                                                              \
        .option = (option_), .kind = ROOF_INPUT_FLAG, .max = 1, .help = (help_), MODEL(field_),    \
        .commands = SERVED(POINT), .group = ROOF_GROUP_MODEL                                       \
    }
/* The longest lengths and largest groups of models. */
#define LENGTH_MAX 1000000000

static const char *const charts[] = {"roofline", "latency",      "pareto", "rate",
                                     "time",     "distribution", NULL};
static const char *const charsets[] = {"auto", "unicode", "ascii", NULL};
static const char *const colors[] = {"auto", "always", "never", NULL};
static const char *const caches[] = {"cold", "warm", NULL};
static const char *const phases[] = {ROOF_PHASES_ASKED, NULL};
static const char *const rankings[] = {"ideal", "expected", NULL};
static const char *const compare_fits[] = {"scale", NULL};
static const char *const simulation_rows[] = {"summary", "requests", "time", NULL};
static const char *const kinds[] = {"any", "aggregated", "disaggregated", NULL};
static const char *const objectives[] = {"balanced", "time",   "throughput", "latency",
                                         "cost",     "energy", NULL};

static const struct roof_input inputs[(int)ROOF_INPUT_COUNT - (int)ROOF_DIM_COUNT] = {
#define ROW(id) [(int)ROOF_INPUT_##id - (int) ROOF_DIM_COUNT]
    ROW(HARDWARE) = {.key = "hardware",
                     .option = "hardware",
                     .letter = 'H',
                     .kind = ROOF_INPUT_TEXT,
                     .value = "ID|FILE",
                     .help = "device id, its name in nvidia-smi, or a file or folder "
                             "(default " ROOF_DEFAULT_HARDWARE ")",
                     .commands = SERVED(WORKLOAD) | ROOF_COMMAND_MEASURE,
                     .group = ROOF_GROUP_DEVICE},
    ROW(PRECISION_BOTH) = FORMAT(NULL, "precision", 'p', precision,
                                 "precision of weights and activations (default fp16); for models "
                                 "also an engine's format or a layout",
                                 STEPPED(SERVED(POINT))),
    ROW(WEIGHTS) = FORMAT("weights", "weights", 'w', weights, "precision of the weights",
                          STEPPED(SERVED(POINT))),
    ROW(ACTIVATIONS) = FORMAT("activations", "activations", 'a', activations,
                              "precision of the activations", STEPPED(SERVED(POINT))),
    ROW(KV) = FORMAT(
        "kv", "kv", 0, kv,
        "precision of the KV cache (default: as the activations; bf16 if these have under 16 bits)",
        STEPPED(SERVED(WORKLOAD))),
    ROW(OUT) = FORMAT(
        "out", "out", 0, out,
        "precision of the output (default: as the activations; bf16 if these have under 16 bits)",
        STEPPED(SERVED(WORKLOAD))),
    ROW(COMPUTE) = FORMAT("compute", "compute", 0, compute,
                          "precision of the multiplications, if the kernel converts its operands",
                          SERVED(POINT)),
    ROW(SPARSE) =
        {.key = "sparse",
         .option = "sparse",
         .kind = ROOF_INPUT_FLAG,
         .max = 1,
         .help = "prune weights 2:4: they are stored compressed and multiplied at the sparse peak",
         .offset = offsetof(struct roof_workload, sparse),
         .field = true,
         .commands = SERVED(WORKLOAD),
         .group = ROOF_GROUP_DEVICE},
    ROW(SET) = {.option = "set",
                .kind = ROOF_INPUT_TEXT,
                .value = "KEY=VALUE",
                .help = "override a figure of the device: bandwidth_gb_s=500, peak_tflops.fp16=100",
                .commands = SERVED(WORKLOAD) | ROOF_COMMAND_LIST,
                .group = ROOF_GROUP_DEVICE,
                .many = true},
    ROW(POWER_CAP) = {.option = "power-cap",
                      .kind = ROOF_INPUT_TEXT,
                      .value = "W",
                      .help = "power limit per device in watts; the device needs constant_w (W), "
                              "byte_pj and flop_pj (pJ)",
                      .commands = SERVED(WORKLOAD),
                      .group = ROOF_GROUP_DEVICE},
    ROW(STACK) =
        CHOICE("stack", stack, roof_stack_names, ROOF_STACK_COUNT - 1,
               "best|trtllm|vllm|sglang|aiter|llama.cpp",
               "stack of the estimates; best (default): the fastest (llama.cpp: GGUF, or no other "
               "has a kernel)",
               SERVED(WORKLOAD)),
    ROW(CACHE) =
        CHOICE("cache", cache, caches, 1, "cold|warm",
               "estimate with operands in memory (cold, the default) or in the L2 cache (warm)",
               WORKLOAD),
    ROW(QUANTIZE_INPUT) = CHOICE(
        "quantize_input", quantize_input, roof_quantize_names, 3, "none|static|dynamic|block",
        "how the input tensor is quantised; the estimate includes its time (default none)",
        WORKLOAD),
    ROW(WORKING_SET) = {.key = "working_set_bytes",
                        .option = "working-set",
                        .kind = ROOF_INPUT_INTEGER,
                        .min = 1,
                        .max = 1000000000000000,
                        .value = "BYTES",
                        .help = "bytes touched between two uses of the same data; decides how much "
                                "the L2 cache still holds",
                        .of = ROOF_OF_OPERATORS,
                        .offset = offsetof(struct roof_workload, working_set),
                        .field = true,
                        .commands = WORKLOAD,
                        .group = ROOF_GROUP_EXPECTED},
    ROW(NO_LAUNCH_OVERHEAD) = {.option = "no-launch-overhead",
                               .kind = ROOF_INPUT_FLAG,
                               .max = 1,
                               .help = "estimate without the time to launch the kernel",
                               .offset = offsetof(struct roof_workload, no_launch_overhead),
                               .field = true,
                               .commands = WORKLOAD,
                               .group = ROOF_GROUP_EXPECTED},
    ROW(SPLIT_K) = {.key = "split_k",
                    .option = "split-k",
                    .kind = ROOF_INPUT_INTEGER,
                    .min = 1,
                    .max = 64,
                    .value = "N",
                    .help = "number of parts that K is split into (default: the fastest)",
                    .of = ROOF_OF_OPERATORS,
                    .offset = offsetof(struct roof_workload, split_k),
                    .field = true,
                    .commands = WORKLOAD,
                    .group = ROOF_GROUP_EXPECTED},
    ROW(CALIBRATION) = {.option = "calibration",
                        .kind = ROOF_INPUT_TEXT,
                        .value = "FILE",
                        .help = "parameters of the estimate, written by roofline-calibrate",
                        .commands = SERVED(WORKLOAD),
                        .group = ROOF_GROUP_EXPECTED},
    ROW(PHASE) = {.key = "phase",
                  .option = "phase",
                  .kind = ROOF_INPUT_CHOICE,
                  .max = 3,
                  .choices = phases,
                  .value = "NAME",
                  .help =
                      "decode (one step; the default), prefill, mixed (both in one step) or encode "
                      "(images and audio)",
                  MODEL(phase),
                  .commands = STEPPED(POINT),
                  .group = ROOF_GROUP_MODEL},
    ROW(CONTEXT) =
        LENGTH_OF("context", context, "context",
                  "length of the prompt or the KV cache (default 4096, or the model's limit); "
                  "32k: 32000, 32Ki: 32768",
                  STEPPED(WORKLOAD)),
    ROW(CHUNK) = {.key = "chunk",
                  .option = "chunk",
                  .kind = ROOF_INPUT_INTEGER,
                  .max = LENGTH_MAX,
                  .zero = ROOF_CHUNK_WHOLE,
                  .value = "N",
                  .help = "prompt tokens per step and attention group (default 8192; 0: whole "
                          "prompts); --phase: new tokens",
                  MODEL(chunk),
                  .commands = SERVED(WORKLOAD),
                  .group = ROOF_GROUP_MODEL},
    ROW(PROMPT) = LENGTH_OF("prompt", prompt, "prompt",
                            "prompt tokens of each request (needs --generate)", SERVED(WORKLOAD)),
    ROW(GENERATE) =
        LENGTH_OF("generate", generate, "generate",
                  "tokens that each request generates (needs --prompt)", SERVED(WORKLOAD)),
    ROW(STATIC) =
        {.key = "static",
         .option = "static",
         .kind = ROOF_INPUT_FLAG,
         .max = 1,
         .help = "static batch: all prompts are prefilled together, then all sequences decode",
         MODEL(static_batch),
         .commands = POINT,
         .group = ROOF_GROUP_MODEL},
    ROW(PREFIX_HIT) =
        NUMBER_OF("prefix-hit", prefix_hit, "prefix_hit", "FRACTION",
                  "fraction of the prompt found in a prefix cache (0 to 1)", SERVED(WORKLOAD)),
    ROW(IMAGES) = LENGTH_OF("images", media.images, "images",
                            "images in each prompt; the length of the prompt includes their tokens "
                            "(not with cross-attention)",
                            SERVED(WORKLOAD)),
    ROW(IMAGE_SIZE) = {.key = "image_size",
                       .option = "image-size",
                       .kind = ROOF_INPUT_SIZES,
                       .sizes = 2,
                       .min = 1,
                       .max = 65536,
                       .value = "WxH",
                       .help = "width and height of these images in pixels (default 1024x1024)",
                       MODEL(media.image_size),
                       .commands = SERVED(WORKLOAD),
                       .group = ROOF_GROUP_MODEL},
    ROW(AUDIO) =
        LENGTH_OF("audio", media.audio, "audio",
                  "audio clips in each prompt; the length of the prompt includes their tokens",
                  SERVED(WORKLOAD)),
    ROW(AUDIO_LENGTH) =
        LENGTH_OF("audio-length", media.audio_length_s, "audio_length_s",
                  "length of each of these clips in seconds (default 30)", SERVED(WORKLOAD)),
    ROW(PREFILL_BATCH) =
        LENGTH("prefill-batch", prefill_batch, "prefill_batch",
               "sequences that prefill in a mixed step, while --batch others decode (default 1)"),
    ROW(PREFILL_CONTEXT) =
        LENGTH("prefill-context", prefill_context, "prefill_context",
               "sequence length of the sequences that prefill (default: the chunk)"),
    ROW(DRAFT_TOKENS) = {.key = "draft_tokens",
                         .option = "draft-tokens",
                         .kind = ROOF_INPUT_INTEGER,
                         .min = 1,
                         .max = ROOF_DRAFT_TOKENS_MAX,
                         .value = "N",
                         .help = "tokens drafted per step of speculative decoding",
                         MODEL(draft_tokens),
                         .commands = SERVED(WORKLOAD),
                         .group = ROOF_GROUP_MODEL},
    ROW(ACCEPTANCE) =
        NUMBER_OF("acceptance", acceptance, "acceptance", "FRACTION",
                  "probability that a drafted token is accepted (default 0.7)", SERVED(WORKLOAD)),
    ROW(DRAFT_MODEL) = {.option = "draft-model",
                        .kind = ROOF_INPUT_TEXT,
                        .value = "NAME|FILE|mtp|none",
                        .help = "model that drafts tokens; mtp: the model's own MTP layers "
                                "(default if any); none: free drafts",
                        .of = ROOF_OF_MODELS,
                        .commands = SERVED(WORKLOAD),
                        .group = ROOF_GROUP_MODEL},
    ROW(OFFLOADED) =
        {.key = "offload",
         .option = "offload",
         .kind = ROOF_INPUT_OFFLOAD,
         .value = "experts[:N]|layers:N",
         .help = "part that the host computes (:fit: the least that lets the rest fit); needs "
                 "--host or its rate",
         MODEL(offload),
         .commands = OFFLOADS,
         .group = ROOF_GROUP_MODEL},
    ROW(HOST) = {.option = "host",
                 .kind = ROOF_INPUT_TEXT,
                 .value = "ID|FILE",
                 .help = "CPU that computes the offloaded part (default: none, --host-bandwidth "
                         "bounds its time)",
                 .of = ROOF_OF_MODELS,
                 .commands = OFFLOADS,
                 .group = ROOF_GROUP_MODEL},
    ROW(HOST_BANDWIDTH) =
        {.option = "host-bandwidth",
         .kind = ROOF_INPUT_TEXT,
         .value = "GB/S",
         .help = "memory bandwidth of the host, for --offload (" ROOF_HOST_USUAL_GB_PER_S
                 " for two channels of DDR5-5600)",
         .of = ROOF_OF_MODELS,
         .commands = OFFLOADS,
         .group = ROOF_GROUP_MODEL},
    ROW(HOST_MEMORY) = {.option = "host-memory",
                        .kind = ROOF_INPUT_TEXT,
                        .value = "GB",
                        .help = "host memory that the model may use, for --offload (such as 64)",
                        .of = ROOF_OF_MODELS,
                        .commands = OFFLOADS,
                        .group = ROOF_GROUP_MODEL},
    ROW(TP) =
        LENGTH_OF("tp", tp, "tp", "tensor-parallel size: devices that share each layer (default 1)",
                  SERVED(WORKLOAD)),
    ROW(PP) = LENGTH_OF("pp", pp, "pp", "pipeline-parallel size: stages of layers (default 1)",
                        SERVED(WORKLOAD)),
    ROW(DP) = LENGTH_OF("dp", dp, "dp",
                        "copies of the model, each with its own devices and batch (default 1)",
                        SERVED(WORKLOAD)),
    ROW(ATTENTION_DP) = LENGTH_OF("attention-dp", attention_dp, "attention_dp",
                                  "attention groups of tp devices, each with own sequences "
                                  "(default 1); devices: tp x attention-dp",
                                  SERVED(WORKLOAD)),
    ROW(MOE_TP) = LENGTH_OF("moe-tp", moe_tp, "moe_tp",
                            "devices that split each expert (default: tp x attention-dp / moe-ep)",
                            SERVED(WORKLOAD)),
    ROW(MOE_EP) = LENGTH_OF(
        "moe-ep", moe_ep, "moe_ep",
        "groups of devices over which the experts are spread (default 1, or what --moe-tp leaves)",
        SERVED(WORKLOAD)),
    ROW(LAYOUT) =
        {.option = "layout",
         .kind = ROOF_INPUT_TEXT,
         .value = "NAME|FILE",
         .help =
             "precisions of the weights by class (roofline list layouts); checkpoint: as published",
         .of = ROOF_OF_MODELS,
         .commands = STEPPED(SERVED(WORKLOAD)),
         .group = ROOF_GROUP_MODEL},
    ROW(CLASS) =
        {.option = "class",
         .kind = ROOF_INPUT_TEXT,
         .value = "NAME=P",
         .help = "precision of one class of weights: lm_head=bf16, experts=mxfp4, attention=fp8",
         .of = ROOF_OF_MODELS,
         .commands = STEPPED(SERVED(WORKLOAD)),
         .group = ROOF_GROUP_MODEL,
         .many = true},
    ROW(SPLIT_PROJECTIONS) = SWITCH("split-projections", split_projections,
                                    "run Q, K and V, and gate and up, as separate products"),
    ROW(UNFUSED_ATTENTION) =
        SWITCH("unfused-attention", unfused_attention,
               "write the attention scores to memory instead of using flash attention"),
    ROW(FUSE) = {.key = "fuse",
                 .option = "fuse",
                 .kind = ROOF_INPUT_CHOICE,
                 .max = ROOF_FUSE_COUNT - 1,
                 .choices = roof_fuse_names,
                 .value = "default|none|all",
                 .help = "operators that share a kernel: attention and joined products (default), "
                         "none, or all that can",
                 MODEL(fuse),
                 .commands = STEPPED(SERVED(POINT)),
                 .group = ROOF_GROUP_MODEL},
    ROW(RESERVE) = {.key = "reserve",
                    .option = "reserve",
                    .kind = ROOF_INPUT_NUMBER,
                    .most = ROOF_RESERVE_MAX,
                    .value = "FRACTION",
                    .help = "fraction of device memory to keep free (default 0.1)",
                    MODEL(reserve),
                    .commands = SERVED(WORKLOAD),
                    .group = ROOF_GROUP_MODEL},
    ROW(HOST_GAP) =
        TIME_OF("host-gap", host_gap_s, "host_gap_us", 1e-6,
                "time that the device waits for the host before each kernel, such as 20us"),
    ROW(LAUNCHES) = LENGTH("launches", launches, "launches",
                           "number of --host-gap waits in a pass (default: one per kernel)"),
    ROW(SERIAL) = TIME_OF("serial", serial_s, "serial_ms", 1e-3,
                          "time outside the model that is added to each pass and that no split "
                          "shortens, such as 13ms"),
    ROW(HOST_TIME) = {.option = "host-time",
                      .kind = ROOF_INPUT_TEXT,
                      .value = "engine|none|TIME|LIST",
                      .help = "host time: engine (default; best: early starts), "
                              "engine:VERSION, none, TIME, request=27ms,...",
                      .of = ROOF_OF_MODELS,
                      .commands = SERVED(WORKLOAD) & ~(unsigned)ROOF_COMMAND_PLOT,
                      .group = ROOF_GROUP_EXPECTED},
    ROW(BLOCKS) = {.option = "blocks",
                   .kind = ROOF_INPUT_FLAG,
                   .max = 1,
                   .help = "show time and FLOPs of attention, MLP, and embedding with lm_head, in "
                           "total and per layer",
                   .of = ROOF_OF_MODELS,
                   .commands = ROOF_COMMAND_PREDICT,
                   .group = ROOF_GROUP_OUTPUT},
    ROW(TOP) = {.option = "top",
                .kind = ROOF_INPUT_INTEGER,
                .min = 1,
                .max = LENGTH_MAX,
                .value = "N",
                .help = "number of operators to show (default 12)",
                .of = ROOF_OF_MODELS,
                .commands = ROOF_COMMAND_PREDICT | ROOF_COMMAND_RECOMMEND | ROOF_COMMAND_PLOT,
                .group = ROOF_GROUP_OUTPUT},
    ROW(FROM) = {.option = "from",
                 .kind = ROOF_INPUT_TEXT,
                 .value = "FILE",
                 .help = "predict each record of a CSV or NDJSON file (-: standard input)",
                 .commands = ROOF_COMMAND_PREDICT | ROOF_COMMAND_PLOT | ROOF_COMMAND_MONITOR},
    ROW(MEASURED) = {.key = "measured_us",
                     .option = "measured",
                     .kind = ROOF_INPUT_TEXT,
                     .value = "TIME",
                     .help = "measured time (83us, 1.2ms), to compare with the prediction",
                     .of = ROOF_OF_OPERATORS,
                     .commands = ROOF_COMMAND_PREDICT | ROOF_COMMAND_PLOT},
    ROW(WHY) = {.option = "why",
                .kind = ROOF_INPUT_FLAG,
                .max = 1,
                .help = "show every formula, its numbers and their sources",
                .commands = ROOF_COMMAND_PREDICT},
    ROW(TILING) =
        {.option = "tiling",
         .kind = ROOF_INPUT_FLAG,
         .max = 1,
         .help =
             "show how the estimated kernel divides its work: tile, grid, waves, split-K, L2 hits",
         .of = ROOF_OF_OPERATORS,
         .commands = ROOF_COMMAND_PREDICT},
    ROW(ADVISE) =
        {.option = "advise",
         .kind = ROOF_INPUT_FLAG,
         .max = 1,
         .help = "predict which change makes it faster: formats, sizes, fusion, launches, devices",
         .commands = ROOF_COMMAND_PREDICT},
    ROW(TILE) = {.option = "tile",
                 .kind = ROOF_INPUT_SIZES,
                 .sizes = 3,
                 .min = 8,
                 .max = 1024,
                 .value = "MxNxK|all",
                 .help = "analyse tiles of MxN outputs and K steps: waves, traffic, limit; all: "
                         "rank the usual tiles",
                 .offset = offsetof(struct roof_scenario, tile.tile),
                 .field = true,
                 .of = ROOF_OF_OPERATORS,
                 .commands = ROOF_COMMAND_PREDICT | ROOF_COMMAND_SWEEP,
                 .group = ROOF_GROUP_TILE},
    ROW(STAGES) = {.option = "stages",
                   .kind = ROOF_INPUT_INTEGER,
                   .min = 1,
                   .max = 64,
                   .value = "N",
                   .help = "pipeline stages: steps of K in shared memory at once (default: as many "
                           "as fit, up to 4)",
                   .offset = offsetof(struct roof_scenario, tile.stages),
                   .field = true,
                   .of = ROOF_OF_OPERATORS,
                   .commands = ROOF_COMMAND_PREDICT | ROOF_COMMAND_SWEEP,
                   .group = ROOF_GROUP_TILE},
    ROW(CLUSTER) = {.option = "cluster",
                    .kind = ROOF_INPUT_SIZES,
                    .sizes = 2,
                    .min = 1,
                    .max = 64,
                    .value = "MxN",
                    .help = "thread blocks in a cluster, which share their loads (default 1x1)",
                    .offset = offsetof(struct roof_scenario, tile.cluster),
                    .field = true,
                    .of = ROOF_OF_OPERATORS,
                    .commands = ROOF_COMMAND_PREDICT | ROOF_COMMAND_SWEEP,
                    .group = ROOF_GROUP_TILE},
    ROW(EXPLAIN) = {.option = "explain",
                    .kind = ROOF_INPUT_TEXT,
                    .value = "A,B",
                    .help = "explain why B is faster than A: two devices, two precisions, or two "
                            "of DEVICE:PRECISION",
                    .commands = ROOF_COMMAND_PREDICT | ROOF_COMMAND_RECOMMEND},
    ROW(FORMATS) =
        {.option = "formats",
         .kind = ROOF_INPUT_TEXT,
         .value = "P,...",
         .help =
             "precisions to rank, or all (default fp16,fp8_e4m3,int8,int4,mxfp8_e4m3,mxfp4,nvfp4)",
         .commands = ROOF_COMMAND_RECOMMEND | ROOF_COMMAND_MEASURE},
    ROW(OBJECTIVE) = {.option = "objective",
                      .kind = ROOF_INPUT_CHOICE,
                      .choices = objectives,
                      .max = 5,
                      .value = "NAME",
                      .help = "operators: balanced (default) or time; models: throughput "
                              "(default), latency, cost or energy",
                      .commands = ROOF_COMMAND_RECOMMEND,
                      .group = ROOF_GROUP_LIMITS},
    ROW(BY) = {.option = "by",
               .kind = ROOF_INPUT_CHOICE,
               .choices = rankings,
               .max = 1,
               .value = "ideal|expected",
               .help = "time to rank by: the lower bound (ideal; default for operators) or the "
                       "estimate (expected)",
               .commands = SERVED(ROOF_COMMAND_RECOMMEND)},
    ROW(KIND) = {.option = "kind",
                 .kind = ROOF_INPUT_CHOICE,
                 .choices = kinds,
                 .max = 2,
                 .value = "any|aggregated|disaggregated",
                 .help = "aggregated: each copy prefills and decodes; disaggregated: separate "
                         "copies; default any",
                 .of = ROOF_OF_MODELS,
                 .commands = ROOF_COMMAND_RECOMMEND},
    ROW(MAX_ACCURACY_LOSS) = {.option = "max-accuracy-loss",
                              .kind = ROOF_INPUT_TEXT,
                              .value = "CLASS",
                              .help =
                                  "worst accuracy loss: none, minimal, <1% (or 1%), 1-2% (models: "
                                  "default), 2-5% (operators), severe",
                              .commands = ROOF_COMMAND_RECOMMEND,
                              .group = ROOF_GROUP_LIMITS},
    ROW(NATIVE_ONLY) = {.option = "native-only",
                        .kind = ROOF_INPUT_FLAG,
                        .max = 1,
                        .help = "leave out precisions that the device cannot multiply natively",
                        .commands = ROOF_COMMAND_RECOMMEND,
                        .group = ROOF_GROUP_LIMITS},
    ROW(MAX_TTFT) =
        LIMIT("max-ttft", "TIME",
              "longest time to first token allowed, such as 500ms; with --rate also p99:1s",
              SERVED(ROOF_COMMAND_RECOMMEND)),
    ROW(MAX_TPOT) =
        LIMIT("max-tpot", "TIME",
              "longest time per output token allowed, such as 30ms; with --rate also p99:30ms",
              SERVED(ROOF_COMMAND_RECOMMEND)),
    ROW(MIN_TOKENS_PER_S) =
        LIMIT("min-tokens-per-s", "RATE", "lowest tokens/s allowed, summed over all sequences",
              ROOF_COMMAND_RECOMMEND),
    ROW(CONCURRENCY) = {.option = "concurrency",
                        .kind = ROOF_INPUT_INTEGER,
                        .min = 1,
                        .max = 1000000000000,
                        .value = "N",
                        .help = "number of sequences that must fit at the same time",
                        .of = ROOF_OF_MODELS,
                        .commands = SERVED(ROOF_COMMAND_RECOMMEND),
                        .group = ROOF_GROUP_LIMITS},
    ROW(MAX_COST) = LIMIT("max-cost", "PRICE", "highest cost allowed per million tokens",
                          ROOF_COMMAND_RECOMMEND),
    ROW(MAX_POWER) = LIMIT("max-power", "WATT", "highest total TDP of all devices allowed",
                           ROOF_COMMAND_RECOMMEND),
    ROW(PRICE) = {.option = "price-per-hour",
                  .kind = ROOF_INPUT_TEXT,
                  .value = "ID=PRICE",
                  .help = "price of one device per hour, in any currency; PRICE alone for a "
                          "single device",
                  .of = ROOF_OF_MODELS,
                  .commands = ROOF_COMMAND_RECOMMEND,
                  .group = ROOF_GROUP_LIMITS,
                  .many = true},
    ROW(ENGINE) = {.option = "engine",
                   .kind = ROOF_INPUT_TEXT,
                   .value = "ID,...",
                   .help = "engines to consider, or all (default: those with measured kernels)",
                   .commands = ROOF_COMMAND_RECOMMEND | ROOF_COMMAND_SIMULATE},
    ROW(EMIT) = {.option = "emit",
                 .kind = ROOF_INPUT_TEXT,
                 .value = "ENGINE",
                 .help = "print a script that serves the best plan with this engine; dynamo: a "
                         "Kubernetes manifest",
                 .of = ROOF_OF_MODELS,
                 .commands = ROOF_COMMAND_RECOMMEND},
    ROW(RATE) = {.option = "rate",
                 .kind = ROOF_INPUT_TEXT,
                 .value = "RATE",
                 .help =
                     "requests per second over all copies, or max: the highest within the limits; "
                     "scales a --trace",
                 .of = ROOF_OF_MODELS,
                 .commands = SERVED(ROOF_COMMAND_RECOMMEND)},
    ROW(RATE_TRACE) =
        {.option = "rate-trace",
         .kind = ROOF_INPUT_TEXT,
         .value = "FILE",
         .help = "file of rates over a day: CSV with the columns time and rate (per second)",
         .of = ROOF_OF_MODELS,
         .commands = ROOF_COMMAND_RECOMMEND},
    ROW(ARRIVALS) = {.option = "arrivals",
                     .kind = ROOF_INPUT_TEXT,
                     .value = "poisson|constant|gamma:CV",
                     .help =
                         "how arrivals are spaced (default poisson); gamma: in bursts if CV > 1",
                     .of = ROOF_OF_MODELS,
                     .commands = SERVED(ROOF_COMMAND_RECOMMEND)},
    ROW(TRACE) =
        {.option = "trace",
         .kind = ROOF_INPUT_TEXT,
         .value = "FILE",
         .help = "file of requests: Azure, BurstGPT, Vidur, Mooncake, bench serve or plain columns",
         .of = ROOF_OF_MODELS,
         .commands = ROOF_COMMAND_SIMULATE},
    ROW(FIT) = {.option = "fit",
                .kind = ROOF_INPUT_FLAG,
                .max = 1,
                .help = "fit --step-scale and --request-overhead to the first fifth of a measured "
                        "trace",
                .of = ROOF_OF_MODELS,
                .commands = ROOF_COMMAND_SIMULATE},
    ROW(PREFIX_CACHE) = {.option = "prefix-cache",
                         .kind = ROOF_INPUT_FLAG,
                         .max = 1,
                         .help = "reuse prompt blocks among trace requests with the same hash_ids",
                         .of = ROOF_OF_MODELS,
                         .commands = ROOF_COMMAND_SIMULATE},
    ROW(HASH_TOKENS) = SIMULATED("hash-tokens", 16, 1 << 20,
                                 "prompt tokens per hash_id of a trace, a multiple of "
                                 "16 (default 512)"),
    ROW(REQUESTS) = {.option = "requests",
                     .kind = ROOF_INPUT_INTEGER,
                     .min = 1,
                     .max = 100000000,
                     .value = "N",
                     .help = "requests to simulate (default 4000, or 20 times --concurrency)",
                     .of = ROOF_OF_MODELS,
                     .commands = SERVED(ROOF_COMMAND_RECOMMEND)},
    ROW(MAX_NUM_SEQS) =
        SIMULATED("max-num-seqs", 1, 1000000,
                  "maximum number of sequences that run at once in a copy (default: the engine's, "
                  "or 256)"),
    ROW(RECV_INTERVAL) = SIMULATED("recv-interval", 1, 1000000,
                                   "decode steps between two checks for new requests (default 1)"),
    ROW(SEED) = {.option = "seed",
                 .kind = ROOF_INPUT_INTEGER,
                 .max = INT64_MAX,
                 .value = "N",
                 .help = "seed of the random numbers (default 1)",
                 .of = ROOF_OF_MODELS,
                 .commands = SERVED(ROOF_COMMAND_RECOMMEND)},
    ROW(WARM_UP) =
        {.option = "warm-up",
         .kind = ROOF_INPUT_TEXT,
         .value = "FRACTION",
         .help = "fraction of the requests that is simulated first and not measured (default 0.2)",
         .of = ROOF_OF_MODELS,
         .commands = SERVED(ROOF_COMMAND_RECOMMEND)},
    ROW(ROUTER) = {.option = "router",
                   .kind = ROOF_INPUT_CHOICE,
                   .choices = roof_router_names,
                   .max = ROOF_ROUTER_COUNT - 1,
                   .value = "round-robin|least-loaded|prefix-aware",
                   .help = "how requests are spread over the --dp copies (default round-robin)",
                   .of = ROOF_OF_MODELS,
                   .commands = SERVED(ROOF_COMMAND_RECOMMEND)},
    ROW(PREFILL_COPIES) =
        {.option = "prefill-copies",
         .kind = ROOF_INPUT_INTEGER,
         .min = 1,
         .max = 1024,
         .value = "N",
         .help = "copies that only prefill; the --dp copies receive the KV cache and only decode",
         .of = ROOF_OF_MODELS,
         .commands = ROOF_COMMAND_SIMULATE},
    ROW(PREFILL_SPLIT) = {.option = "prefill-split",
                          .kind = ROOF_INPUT_TEXT,
                          .value = "KEY=N,...",
                          .help = "split of a copy that prefills: "
                                  "tp=4,pp=1,attention-dp=1,moe-tp=1,moe-ep=1 (default: as decode)",
                          .of = ROOF_OF_MODELS,
                          .commands = ROOF_COMMAND_SIMULATE},
    ROW(STEP_SCALE) =
        {.option = "step-scale",
         .key = "step_scale",
         .kind = ROOF_INPUT_NUMBER,
         .least = ROOF_STEP_SCALE_MIN,
         .max = ROOF_STEP_SCALE_MAX,
         .value = "X",
         .help = "factor for the estimated times of kernels, from a measured engine (default "
                 "1); not for host times",
         MODEL(common.step_scale),
         .commands = ALL & ~(unsigned)ROOF_COMMAND_PLOT & ~(unsigned)ROOF_COMMAND_LIST,
         .group = ROOF_GROUP_EXPECTED},
    ROW(REQUEST_OVERHEAD) =
        {.option = "request-overhead",
         .kind = ROOF_INPUT_TEXT,
         .value = "TIME",
         .help = "host time of a request before the engine sees it (default: the request time of "
                 "--host-time)",
         .of = ROOF_OF_MODELS,
         .commands = SERVED(ROOF_COMMAND_RECOMMEND),
         .group = ROOF_GROUP_EXPECTED},
    ROW(ROWS) = {.option = "rows",
                 .kind = ROOF_INPUT_CHOICE,
                 .choices = simulation_rows,
                 .max = 2,
                 .value = "summary|requests|time",
                 .help = "rows of csv, ndjson and md: the result (default), one per request, or "
                         "the queue over time",
                 .of = ROOF_OF_MODELS,
                 .commands = ROOF_COMMAND_SIMULATE,
                 .group = ROOF_GROUP_OUTPUT},
    ROW(MAX_E2E) = LIMIT("max-e2e", "TIME", "longest time of a whole request allowed (p90:20s)",
                         SERVED(ROOF_COMMAND_RECOMMEND)),
    ROW(SHARD) = {.option = "shard",
                  .kind = ROOF_INPUT_TEXT,
                  .value = "I/N",
                  .help = "compute part I of N of the sweep; the parts joined are the whole sweep",
                  .commands = ROOF_COMMAND_SWEEP},
    ROW(RESUME) = {.option = "resume",
                   .kind = ROOF_INPUT_FLAG,
                   .max = 1,
                   .help = "continue the FILE.part of an interrupted sweep -o FILE",
                   .own = true,
                   .commands = ROOF_COMMAND_SWEEP},
    ROW(INTERVAL) = {.option = "interval",
                     .kind = ROOF_INPUT_TEXT,
                     .value = "TIME",
                     .help = "time between two samples (default 1s; 1ms to 3600s)",
                     .commands = ROOF_COMMAND_MONITOR},
    ROW(SECONDS) =
        {.option = "seconds",
         .kind = ROOF_INPUT_TEXT,
         .value = "S",
         .help = "end after this time, in seconds or with a unit such as 10s (default: at Ctrl-C)",
         .commands = ROOF_COMMAND_MONITOR | ROOF_COMMAND_MEASURE},
    ROW(DEVICE) = {.option = "device",
                   .kind = ROOF_INPUT_TEXT,
                   .value = "N,...",
                   .help = "GPUs to watch, by their numbers (default: all)",
                   .commands = ROOF_COMMAND_MONITOR | ROOF_COMMAND_MEASURE},
    ROW(COUNT_TOKENS) =
        {.option = "count-tokens",
         .kind = ROOF_INPUT_FLAG,
         .max = 1,
         .help =
             "take the number of tokens from COMMAND's output: the last 'N tokens' or 'tokens: N'",
         .commands = ROOF_COMMAND_MONITOR},
    ROW(LIVE) = {.option = "live",
                 .kind = ROOF_INPUT_FLAG,
                 .max = 1,
                 .help = "overwrite the previous sample (default in a terminal)",
                 .commands = ROOF_COMMAND_MONITOR},
    ROW(THREADS) = {.option = "threads",
                    .kind = ROOF_INPUT_INTEGER,
                    .min = 1,
                    .max = 1024,
                    .value = "N",
                    .help = "threads to use (default: one per processor)",
                    .commands = ROOF_COMMAND_SWEEP | ROOF_COMMAND_MEASURE | ROOF_COMMAND_SERVE |
                                ROOF_COMMAND_RECOMMEND},
    ROW(LISTEN) = {.option = "listen",
                   .kind = ROOF_INPUT_TEXT,
                   .value = "ADDRESS:PORT",
                   .help = "address to listen at (default 127.0.0.1:8080; port 0: any free port)",
                   .own = true,
                   .commands = ROOF_COMMAND_SERVE},
    ROW(TOKEN) = {.option = "token",
                  .kind = ROOF_INPUT_TEXT,
                  .value = "FILE",
                  .help = "file with the token that requests must send (Authorization: Bearer); "
                          "required beyond loopback",
                  .own = true,
                  .commands = ROOF_COMMAND_SERVE},
    ROW(ALLOW_HOST) =
        {.option = "allow-host",
         .kind = ROOF_INPUT_TEXT,
         .value = "NAME,...",
         .help = "host names that requests may address, besides localhost and IP addresses",
         .own = true,
         .commands = ROOF_COMMAND_SERVE},
    ROW(MAX_ROWS) = {.option = "max-rows",
                     .kind = ROOF_INPUT_INTEGER,
                     .min = 1,
                     .max = 1000000000000,
                     .value = "N",
                     .help = "maximum number of points of a sweep in one request (default 100000)",
                     .own = true,
                     .commands = ROOF_COMMAND_SERVE},
    ROW(MAX_TIME) = {.option = "max-time",
                     .kind = ROOF_INPUT_TEXT,
                     .value = "TIME",
                     .help = "maximum time for one answer (default 10s)",
                     .own = true,
                     .commands = ROOF_COMMAND_SERVE},
    ROW(MAX_CONNECTIONS) = {.option = "max-connections",
                            .kind = ROOF_INPUT_INTEGER,
                            .min = 1,
                            .max = 1000000,
                            .value = "N",
                            .help = "maximum number of connections at a time (default 16384, or as "
                                    "open files are limited)",
                            .own = true,
                            .commands = ROOF_COMMAND_SERVE},
    ROW(SUMMARY) = {.option = "summary",
                    .kind = ROOF_INPUT_FLAG,
                    .max = 1,
                    .help = "print statistics of the errors without the rows (json always does)",
                    .commands = ROOF_COMMAND_COMPARE | ROOF_COMMAND_MONITOR},
    ROW(GROUP_BY) = {.option = "group-by",
                     .kind = ROOF_INPUT_TEXT,
                     .value = "COLUMN,...",
                     .help = "group the statistics by these columns of the file",
                     .commands = ROOF_COMMAND_COMPARE},
    ROW(BELOW) = {.option = "below",
                  .kind = ROOF_INPUT_TEXT,
                  .value = "SHARE",
                  .help =
                      "list rows under this share of their bound (such as 70%), the most lost time "
                      "first, with a remedy",
                  .commands = ROOF_COMMAND_COMPARE},
    ROW(COMPARE_FIT) = {.key = "compare_fit",
                        .option = "fit",
                        .kind = ROOF_INPUT_CHOICE,
                        .choices = compare_fits,
                        .value = "scale",
                        .help = "fit a factor and a host time per pass that bring estimates "
                                "closest to the measured times",
                        .commands = ROOF_COMMAND_COMPARE},
    ROW(CHART) = {.option = "chart",
                  .kind = ROOF_INPUT_CHOICE,
                  .choices = charts,
                  .max = 5,
                  .value = "NAME",
                  .help = "roofline (operators, the default), latency (over lengths) or pareto "
                          "(throughput and speed)",
                  .of = ROOF_OF_MODELS,
                  .commands = SERVED(ROOF_COMMAND_PLOT)},
    ROW(CEILINGS) =
        {.option = "ceilings",
         .kind = ROOF_INPUT_TEXT,
         .value = "P[:UNIT],...",
         .help = "peaks to draw, by precision (default: all of the device); UNIT: matrix or vector",
         .commands = ROOF_COMMAND_PLOT},
    ROW(LINE) = {.option = "line",
                 .kind = ROOF_INPUT_TEXT,
                 .value = "NAME=RATE",
                 .help = "draw a measured ceiling: cuBLAS=271TFLOPS, STREAM=1.8TB/s",
                 .commands = ROOF_COMMAND_PLOT,
                 .many = true},
    ROW(ATTAINABLE) = {.option = "attainable",
                       .kind = ROOF_INPUT_FLAG,
                       .max = 1,
                       .help = "draw the estimated rates of large products as ceilings",
                       .commands = ROOF_COMMAND_PLOT},
    ROW(L2) = {.option = "l2",
               .kind = ROOF_INPUT_FLAG,
               .max = 1,
               .help = "draw the L2 bandwidth, and products at their FLOPs per byte of L2 traffic",
               .commands = ROOF_COMMAND_PLOT},
    ROW(BY_PHASE) = {.option = "by-phase",
                     .kind = ROOF_INPUT_FLAG,
                     .max = 1,
                     .help =
                         "draw two charts: -o NAME.png writes NAME-decode.png and NAME-prefill.png",
                     .of = ROOF_OF_MODELS,
                     .own = true,
                     .commands = ROOF_COMMAND_PLOT},
    ROW(EXPECTED) = {.option = "expected",
                     .kind = ROOF_INPUT_FLAG,
                     .max = 1,
                     .help = "connect each dot that has no measured time with its estimate",
                     .commands = ROOF_COMMAND_PLOT},
    ROW(TITLE) = {.option = "title",
                  .kind = ROOF_INPUT_TEXT,
                  .value = "TEXT",
                  .help = "title of the chart",
                  .commands = ROOF_COMMAND_PLOT | CURVES},
    ROW(SIZE) = {.option = "size",
                 .kind = ROOF_INPUT_TEXT,
                 .value = "WIDTH[xHEIGHT]",
                 .help = "pixels of an image (default 1200x800), columns of text (default: those "
                         "of the terminal, or 100)",
                 .commands = ROOF_COMMAND_PLOT | CURVES},
    ROW(CHARSET) = {.option = "charset",
                    .kind = ROOF_INPUT_CHOICE,
                    .choices = charsets,
                    .max = 2,
                    .value = "auto|unicode|ascii",
                    .help = "characters of a text chart (default: those of the locale)",
                    .commands = ROOF_COMMAND_PLOT},
    ROW(COLOR) = {.option = "color",
                  .kind = ROOF_INPUT_CHOICE,
                  .choices = colors,
                  .max = 2,
                  .value = "auto|always|never",
                  .help =
                      "colours of a text chart (default: in a terminal, unless NO_COLOR is set)",
                  .commands = ROOF_COMMAND_PLOT},
    ROW(FORMAT) = {.option = "format",
                   .letter = 'f',
                   .kind = ROOF_INPUT_TEXT,
                   .value = "FORMAT",
                   .help = "text (default), json, ndjson, csv or md; with -o, by its extension",
                   .commands = ALL | ROOF_COMMAND_CHECK | ROOF_COMMAND_MEASURE |
                               ROOF_COMMAND_MONITOR | ROOF_COMMAND_PAGE,
                   .own = true,
                   .group = ROOF_GROUP_OUTPUT},
    ROW(UPDATE) = {.option = "update",
                   .kind = ROOF_INPUT_FLAG,
                   .max = 1,
                   .help =
                       "rewrite expected values that differ; review the diff like a code change",
                   .commands = ROOF_COMMAND_CHECK},
    ROW(LIKE) = {.option = "like",
                 .kind = ROOF_INPUT_TEXT,
                 .value = "ID",
                 .help = "device whose fitted kernels the fit starts from; they also replace "
                         "kernels that were not measured",
                 .commands = ROOF_COMMAND_MEASURE,
                 .group = ROOF_GROUP_EXPECTED},
    ROW(SAVE) = {.option = "save",
                 .kind = ROOF_INPUT_TEXT,
                 .value = "ID",
                 .help = "keep the device in the user's data folder, where -H ID finds it",
                 .commands = ROOF_COMMAND_MEASURE,
                 .group = ROOF_GROUP_OUTPUT},
    ROW(FOLDER) = {.key = "folder",
                   .option = "output",
                   .letter = 'o',
                   .kind = ROOF_INPUT_TEXT,
                   .value = "FOLDER",
                   .help =
                       "write what was measured to this folder: hardware.json, rows.csv and others",
                   .commands = ROOF_COMMAND_MEASURE,
                   .group = ROOF_GROUP_OUTPUT},
    ROW(RESUME_FOLDER) = {.key = "resume_folder",
                          .option = "resume",
                          .kind = ROOF_INPUT_FLAG,
                          .max = 1,
                          .help = "keep the measurements that -o FOLDER has, and measure the rest",
                          .commands = ROOF_COMMAND_MEASURE},
    ROW(AGAINST) =
        {.key = "compare",
         .option = "compare",
         .kind = ROOF_INPUT_FLAG,
         .max = 1,
         .help =
             "compare predictions with measurements; exit 1 if a kernel or step is off by over 15%",
         .commands = ROOF_COMMAND_MEASURE},
    ROW(SHARED) = {.option = "shared",
                   .kind = ROOF_INPUT_FLAG,
                   .max = 1,
                   .help = "measure a GPU even if other processes use it or it is divided (MIG)",
                   .commands = ROOF_COMMAND_MEASURE},
    ROW(COLUMNS) = {.option = "columns",
                    .kind = ROOF_INPUT_TEXT,
                    .value = "KEY,...",
                    .help = "columns to print, in this order (not json)",
                    .commands = TABLES | ROOF_COMMAND_MONITOR,
                    .group = ROOF_GROUP_OUTPUT},
    ROW(WIDE) = {.option = "wide",
                 .kind = ROOF_INPUT_FLAG,
                 .max = 1,
                 .help = "print all columns of a text or Markdown table, however wide",
                 .commands = TABLES & ~(unsigned)ROOF_COMMAND_COMPARE,
                 .group = ROOF_GROUP_OUTPUT},
    ROW(OUTPUT) = {.option = "output",
                   .letter = 'o',
                   .kind = ROOF_INPUT_TEXT,
                   .value = "FILE",
                   .help = "write to FILE, which is replaced only when the output is complete",
                   .own = true,
                   .commands = ALL | ROOF_COMMAND_CHECK | ROOF_COMMAND_MONITOR | ROOF_COMMAND_PAGE,
                   .group = ROOF_GROUP_OUTPUT},
};

const struct roof_input *roof_input(size_t id)
{
    return id < ROOF_DIM_COUNT ? &roof_dimensions[id] : &inputs[id - ROOF_DIM_COUNT];
}

size_t roof_input_number(const char *key)
{
    size_t i = 0;
    while (i < ROOF_INPUT_COUNT && !roof_input_has_key(roof_input(i), key)) {
        i++;
    }
    return i;
}

const struct roof_input *roof_input_find(const char *key)
{
    const size_t number = roof_input_number(key);
    return number == ROOF_INPUT_COUNT ? NULL : roof_input(number);
}

bool roof_input_allowed(size_t id, enum roof_command command)
{
    const bool served = id == ROOF_DIM_EP || id == ROOF_DIM_ROUTING;
    const unsigned commands = id >= ROOF_DIM_COUNT    ? roof_input(id)->commands
                              : served                ? SERVED(WORKLOAD)
                              : id == ROOF_DIM_BATCH  ? STEPPED(WORKLOAD)
                              : id == ROOF_DIM_TOKENS ? WORKLOAD | ROOF_COMMAND_MONITOR
                                                      : WORKLOAD;
    return (commands & (unsigned)command) != 0;
}

static enum roof_status parse_choice(int64_t *out, const struct roof_input *input, const char *text,
                                     struct roof_error *error)
{
    size_t count = 0;
    for (; input->choices[count] != NULL; count++) {
        if (strcmp(text, input->choices[count]) == 0) {
            *out = (int64_t)count;
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, input->option, text, input->choices, count);
}

enum roof_status roof_input_taken(const struct roof_input *input, bool model,
                                  struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    if (input->of != (model ? ROOF_OF_OPERATORS : ROOF_OF_MODELS)) {
        return ROOF_OK;
    }
    (void)roof_error_set(error, ROOF_USAGE,
                         model ? "%s is for operators, not for models"
                               : "%s is for models, not for operators",
                         roof_input_marked(name, input));
    if (input == roof_input(ROOF_DIM_DEVICES)) {
        roof_error_append(
            error,
            "; the devices of a model follow from its split: " ROOF_KEY("tp") ", " ROOF_KEY(
                "pp") ", " ROOF_KEY("dp") ", " ROOF_KEY("attention_dp") " or " ROOF_KEY("ep"));
    }
    return ROOF_USAGE;
}

enum roof_status roof_input_parse_number(struct roof_scenario *scenario,
                                         const struct roof_input *input, const char *text,
                                         struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    double *const at = (double *)(void *)((char *)scenario + input->offset);
    const double least = input->least > 0 ? input->least : (double)input->min;
    const double most = input->most > 0 ? input->most : (double)input->max;
    (void)roof_input_marked(name, input);
    if (input->unit == 0) {
        return roof_parse_number(at, text, name, least, most, error);
    }
    if (roof_parse_number(at, text, name, least, most, NULL) != ROOF_OK) {
        return roof_parse_time_or_none(at, text, name, error);
    }
    *at *= input->unit;
    return ROOF_OK;
}

static enum roof_status refuse_sizes(const struct roof_input *input, const char *text,
                                     struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    return roof_error_set(
        error, ROOF_USAGE, "%s must be %s, each size from %" PRId64 " to %" PRId64 ", not '%s'",
        roof_input_marked(name, input), input->value, input->min, input->max, text);
}

/* Reads sizes with x between them, or `all`. */
static enum roof_status parse_sizes(int64_t *out, const struct roof_input *input, const char *text,
                                    struct roof_error *error)
{
    struct roof_sizes sizes = {{0}};
    const char *rest = text;
    if (input->sizes == ROOF_SIZES_MAX && strcmp(text, "all") == 0) {
        *out = ROOF_SIZES_ALL;
        return ROOF_OK;
    }
    for (int i = 0; i < input->sizes; i++) {
        char number[24] = "";
        const size_t length = strcspn(rest, "x");
        const bool last = i + 1 == input->sizes;
        if (length >= sizeof number || (rest[length] == '\0') != last) {
            return refuse_sizes(input, text, error);
        }
        memcpy(number, rest, length);
        if (roof_parse_integer(&sizes.size[i], number, "", input->min, input->max, NULL) !=
            ROOF_OK) {
            return refuse_sizes(input, text, error);
        }
        rest += length + !last;
    }
    *out = roof_sizes_pack(&sizes);
    return ROOF_OK;
}

enum roof_status roof_input_parse(int64_t *out, const struct roof_input *input, const char *text,
                                  struct roof_error *error)
{
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    char name[ROOF_INPUT_NAME_SIZE];
    enum roof_status status = ROOF_OK;
    switch (input->kind) {
    case ROOF_INPUT_CHOICE:
        return parse_choice(out, input, text, error);
    case ROOF_INPUT_PRECISION:
        status = roof_precision_find(&precision, text, error);
        if (status != ROOF_OK) {
            roof_hint_format(error, text, input == roof_input(ROOF_INPUT_PRECISION_BOTH), NULL);
        }
        *out = status == ROOF_OK ? precision : *out;
        return status;
    case ROOF_INPUT_INTEGER:
    case ROOF_INPUT_FLAG: /* the name costs more than the number, and only a mistake needs it */
        status = roof_parse_integer(out, text, "", input->min, input->max, NULL);
        return status == ROOF_OK ? ROOF_OK
                                 : roof_parse_integer(out, text, roof_input_marked(name, input),
                                                      input->min, input->max, error);
    case ROOF_INPUT_SIZES:
        return parse_sizes(out, input, text, error);
    case ROOF_INPUT_OFFLOAD:
        return roof_offload_read(out, text, error);
    case ROOF_INPUT_TEXT:
    case ROOF_INPUT_NUMBER:
        break;
    }
    return roof_error_set(error, ROOF_USAGE, "%s has no single value",
                          roof_input_marked(name, input));
}

static void show_sizes(struct roof_text *out, const struct roof_input *input, int64_t value)
{
    const struct roof_sizes sizes = roof_sizes_unpack(value);
    for (int i = 0; i < input->sizes && value != ROOF_SIZES_ALL; i++) {
        roof_text_printf(out, "%s%" PRId64, i == 0 ? "" : "x", sizes.size[i]);
    }
    roof_text_put(out, value == ROOF_SIZES_ALL ? "all" : "");
}

void roof_input_show(struct roof_text *out, const struct roof_input *input, int64_t value)
{
    if (input->kind == ROOF_INPUT_PRECISION) {
        roof_text_put(out, roof_format((enum roof_precision)value)->name);
    } else if (input->kind == ROOF_INPUT_CHOICE) {
        roof_text_put(out, input->choices[value]);
    } else if (input->kind == ROOF_INPUT_SIZES) {
        show_sizes(out, input, value);
    } else if (input->kind == ROOF_INPUT_OFFLOAD) {
        char name[ROOF_OFFLOAD_NAME_SIZE];
        roof_text_put(out, roof_offload_name(name, value));
    } else {
        roof_text_printf(out, "%" PRId64, value);
    }
}

/* Appends every tile that is usual. */
static enum roof_status append_tiles(struct roof_values *out, struct roof_error *error)
{
    for (size_t i = 0; roof_tile_candidate(i) != 0; i++) {
        TRY(roof_values_append(out, (struct roof_run){roof_tile_candidate(i), 0, 1}, error));
    }
    return ROOF_OK;
}

/* Appends the value of one item of the list `text`. */
static enum roof_status append_item(struct roof_values *out, const struct roof_input *input,
                                    const struct roof_list_item *item, const char *text,
                                    struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    int64_t value = 0;
    if (item->length == 0) {
        return roof_error_set(error, ROOF_USAGE, "%s: the list '%s' has an empty element",
                              roof_input_marked(name, input), text);
    }
    char *const copy = strndup(item->text, item->length);
    if (copy == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = roof_input_parse(&value, input, copy, error);
    free(copy);
    TRY(status);
    return input->kind == ROOF_INPUT_SIZES && value == ROOF_SIZES_ALL
               ? append_tiles(out, error)
               : roof_values_append(out, (struct roof_run){value, 0, 1}, error);
}

enum roof_status roof_input_parse_list(struct roof_values *out, const struct roof_input *input,
                                       const char *text, struct roof_error *error)
{
    *out = (struct roof_values){0};
    char name[ROOF_INPUT_NAME_SIZE];
    roof_input_marked(name, input);
    if (input->kind == ROOF_INPUT_INTEGER) {
        return roof_parse_values(out, text, name, input->min, input->max, error);
    }
    enum roof_status status = ROOF_OK;
    struct roof_list_item item;
    for (const char *rest = text; status == ROOF_OK && roof_list_next(&item, &rest);) {
        status = append_item(out, input, &item, text, error);
    }
    if (status != ROOF_OK) {
        roof_values_free(out);
    }
    return status;
}
