// SPDX-License-Identifier: MIT
#include "roofline/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/csv.h"
#include "base/json.h"
#include "roofline/input.h"
#include "roofline/plan.h"
#include "roofline/predict.h"
#include "roofline/recommend.h"
#include "roofline/speedup.h"

/* --- fields -------------------------------------------------------------------------------- */

/* What a field of a result is, and how it is found: most lie at an offset. */
enum source {
    AT_NUMBER,     /* double, in SI base */
    AT_GIVEN,      /* likewise, a figure that somebody gave */
    AT_COUNT,      /* double, shown to people with a prefix */
    AT_BOOLEAN,    /* bool */
    AT_TEXT,       /* const char * */
    AT_CHARS,      /* char[] */
    AT_PRECISION,  /* enum roof_precision */
    DIMENSION,     /* of the workload, by its input row */
    ANY_DIMENSION, /* absent where the operator of the row has none such */
    CONSTANT,      /* the text in the field itself */
    OF_HARDWARE,   /* const char * of the prediction's device, at an offset there */
    BASIS,
    OPERATOR,
    BOTTLENECK,
    EXPECTED_BOTTLENECK, /* absent where nothing is expected, like the next */
    EXPECTED_BASIS,
    SPARSE,             /* only where --sparse was given */
    LOSS,               /* accuracy class of a candidate */
    RANK,               /* absent for a rejected candidate */
    PARETO,             /* of a ranked plan */
    SPEEDUP_BOTTLENECK, /* enum roof_bottleneck of a row of a speedup, like the next */
    SPEEDUP_EXPECTED,
    HARDWARE_BASIS,
    HARDWARE_FIGURE, /* offset is the figure; its key and unit are in its own table */
    HARDWARE_PEAK,   /* what a format runs at on a device; offset is the format */
    FORMAT_TEXT,     /* of a precision entry: offset into struct roof_format */
    FORMAT_INT,
    FORMAT_INT64,
    FORMAT_NUMBER,
    FORMAT_FAMILY,
    FORMAT_BITS,
    FORMAT_BYTES,
    FORMAT_FALLBACKS,
    FORMAT_CODE_BOOK,
    ENTRY_LOSS,
    ENTRY_FIGURE,
    ENTRY_SOURCE,
    DIMENSION_LIST,
    INFERENCE_MODEL,   /* const char * of the inference's model, at an offset there */
    INFERENCE_WEIGHTS, /* absent where a layout or a file decides */
    SCENARIO_INTEGER,  /* int64_t at an offset; 0 is absent */
    SCENARIO_FRACTION, /* double; 0 is absent */
    ACCEPTANCE,        /* where there are drafts */
    DRAFT_MODEL,
    FITS,
    NODE_COUNT, /* int64_t */
    NODE_NAME,
    MODEL_TEXT, /* of a model entry: offset into struct roof_model */
    MODEL_INTEGER,
    MODEL_ATTENTION
};

struct roof_field {
    const char *key;
    enum source source;
    enum roof_unit unit;
    size_t offset;
    int width; /* in text tables; negative: left-aligned; 0: not among the readable columns */
    const char *label; /* heading in text tables; NULL: the key */
    const char *text;  /* of a CONSTANT */
    unsigned roles;    /* readable only for operators that show one of these; 0: for all */
};

#define P(member) offsetof(struct roof_prediction, member)
#define C(member) offsetof(struct roof_candidate, member)
#define NUMBER(key_, member, unit_) SHOWN(key_, member, unit_, 0, NULL)
#define GIVEN(key_, member, unit_)                                                                 \
    {                                                                                              \
        .key = (key_), .source = AT_GIVEN, .unit = ROOF_UNIT_##unit_, .offset = P(member)          \
    }
#define SHOWN(key_, member, unit_, width_, label_)                                                 \
    {                                                                                              \
        .key = (key_), .source = AT_NUMBER, .unit = ROOF_UNIT_##unit_, .offset = P(member),        \
        .width = (width_), .label = (label_)                                                       \
    }
/* The format of a role: among the readable columns for the operators that show the role. */
#define ROLE(key_, member, id, label_)                                                             \
    {                                                                                              \
        .key = (key_), .source = AT_PRECISION, .offset = P(member), .width = -8,                   \
        .label = (label_), .roles = 1U << ROOF_ROLE_##id                                           \
    }

/* The dimensions stand between the two halves: each operator has its own. */
static const struct roof_field prediction_head[] = {
    {.key = "schema", .source = CONSTANT, .text = "roofline/prediction/1"},
    {.key = "hardware",
     .source = OF_HARDWARE,
     .offset = offsetof(struct roof_hardware, id),
     .width = -12},
    {.key = "hardware_basis", .source = BASIS},
    {.key = "operator", .source = OPERATOR},
};

static const struct roof_field prediction_tail[] = {
    ROLE("weights", workload.formats.weights, WEIGHTS, NULL),
    ROLE("activations", workload.formats.activations, ACTIVATIONS, "acts"),
    ROLE("out", workload.formats.out, OUT, NULL),
    ROLE("kv", workload.formats.kv, KV, NULL),
    {.key = "compute_precision",
     .source = AT_PRECISION,
     .offset = P(compute),
     .width = -8,
     .label = "computes"},
    {.key = "native", .source = AT_BOOLEAN, .offset = P(native)},
    NUMBER("flops", flops, FLOPS),
    NUMBER("bytes", bytes, BYTES),
    NUMBER("weights_bytes", role_bytes[ROOF_ROLE_WEIGHTS], BYTES),
    NUMBER("activations_bytes", role_bytes[ROOF_ROLE_ACTIVATIONS], BYTES),
    NUMBER("out_bytes", role_bytes[ROOF_ROLE_OUT], BYTES),
    NUMBER("kv_bytes", role_bytes[ROOF_ROLE_KV], BYTES),
    NUMBER("network_bytes", network_bytes, BYTES),
    SHOWN("arithmetic_intensity", intensity, FLOP_PER_BYTE, 9, "FLOP/byte"),
    NUMBER("ridge_point", ridge, FLOP_PER_BYTE),
    NUMBER("memory_time_us", memory_time_s, MICROSECONDS),
    NUMBER("compute_time_us", compute_time_s, MICROSECONDS),
    NUMBER("network_time_us", network_time_s, MICROSECONDS),
    SHOWN("time_us", time_s, MICROSECONDS, 9, NULL),
    {.key = "bottleneck", .source = BOTTLENECK, .width = -7, .label = "bound"},
    SHOWN("attainable_tflops", attainable_flops_per_s, TFLOPS, 8, "TFLOPS"),
    GIVEN("peak_tflops", peak_flops_per_s, TFLOPS),
    GIVEN("bandwidth_gb_s", bandwidth_bytes_per_s, GB_PER_S),
    NUMBER("fraction_of_peak", fraction_of_peak, NONE),
    SHOWN("expected_time_us", expected_s, MICROSECONDS, 11, "expected_us"),
    NUMBER("expected_low_us", expected_low_s, MICROSECONDS),
    NUMBER("expected_high_us", expected_high_s, MICROSECONDS),
    {.key = "expected_bottleneck", .source = EXPECTED_BOTTLENECK},
    {.key = "expected_basis", .source = EXPECTED_BASIS},
    GIVEN("measured_us", measured_s, MICROSECONDS),
    NUMBER("achieved_tflops", achieved_flops_per_s, TFLOPS),
    NUMBER("achieved_gb_s", achieved_bytes_per_s, GB_PER_S),
    NUMBER("fraction_of_bound", fraction_of_bound, NONE),
    {.key = "sparse", .source = SPARSE},
};

static const struct roof_field candidate_fields[] = {
    {.key = "rank", .source = RANK, .offset = C(rank), .width = 4},
    {.key = "precision", .source = AT_PRECISION, .offset = C(format), .width = -12},
    {.key = "method", .source = AT_TEXT, .offset = C(method), .width = -20},
    {.key = "speedup",
     .source = AT_NUMBER,
     .unit = ROOF_UNIT_NONE,
     .offset = C(speedup),
     .width = 8},
    {.key = "expected_speedup",
     .source = AT_NUMBER,
     .unit = ROOF_UNIT_NONE,
     .offset = C(expected_speedup)},
    {.key = "accuracy_loss", .source = LOSS, .offset = C(loss), .width = -13},
    {.key = "reason", .source = AT_CHARS, .offset = C(reason), .width = -40},
};

#define H(member) offsetof(struct roof_hardware, member)
#define FIGURE(id, width_, label_)                                                                 \
    {                                                                                              \
        .source = HARDWARE_FIGURE, .offset = ROOF_FIGURE_##id, .width = (width_),                  \
        .label = (label_)                                                                          \
    }
#define PEAK(key_, id, label_)                                                                     \
    {                                                                                              \
        .key = (key_), .source = HARDWARE_PEAK, .unit = ROOF_UNIT_TFLOPS,                          \
        .offset = ROOF_PRECISION_##id, .width = 6, .label = (label_)                               \
    }
static const struct roof_field hardware_fields[] = {
    {.key = "id", .source = AT_TEXT, .offset = H(id), .width = -14},
    {.key = "name", .source = AT_TEXT, .offset = H(name)},
    {.key = "vendor", .source = AT_TEXT, .offset = H(vendor)},
    {.key = "architecture", .source = AT_TEXT, .offset = H(architecture), .width = -23},
    {.key = "basis", .source = HARDWARE_BASIS, .width = -9},
    FIGURE(BANDWIDTH, 6, "GB/s"),
    FIGURE(MEMORY_NOMINAL, 4, "GB"),
    FIGURE(MEMORY_CAPACITY, 0, NULL),
    PEAK("bf16_tflops", BF16, "bf16"),
    PEAK("fp16_tflops", FP16, "fp16"),
    PEAK("fp8_e4m3_tflops", FP8_E4M3, "fp8"),
    PEAK("int8_tflops", INT8, "int8"),
    PEAK("int4_tflops", INT4, "int4"),
    PEAK("nvfp4_tflops", NVFP4, "nvfp4"),
    FIGURE(TDP, 5, "W"),
    FIGURE(LINK, 0, NULL),
    FIGURE(NETWORK, 0, NULL),
    FIGURE(DEVICES_PER_NODE, 0, NULL),
};

#define F(member) offsetof(struct roof_format, member)
static const struct roof_field precision_fields[] = {
    {.key = "name", .source = FORMAT_TEXT, .offset = F(name), .width = -13},
    {.key = "alias", .source = FORMAT_TEXT, .offset = F(alias), .width = -6},
    {.key = "label", .source = FORMAT_TEXT, .offset = F(label)},
    {.key = "family", .source = FORMAT_FAMILY, .width = -11},
    {.key = "element_bits", .source = FORMAT_INT, .offset = F(element_bits)},
    {.key = "exponent_bits", .source = FORMAT_INT, .offset = F(exponent_bits)},
    {.key = "mantissa_bits", .source = FORMAT_INT, .offset = F(mantissa_bits)},
    {.key = "significant_bits", .source = FORMAT_INT, .offset = F(significant_bits)},
    {.key = "block_elements", .source = FORMAT_INT64, .offset = F(block_elements), .width = 14},
    {.key = "block_bytes", .source = FORMAT_INT64, .offset = F(block_bytes), .width = 11},
    {.key = "bits_per_element", .source = FORMAT_BITS, .width = 16},
    {.key = "bytes_per_element", .source = FORMAT_BYTES},
    {.key = "tensor_bytes", .source = FORMAT_INT, .offset = F(tensor_bytes)},
    {.key = "channel_bytes", .source = FORMAT_INT, .offset = F(channel_bytes)},
    {.key = "scale", .source = FORMAT_TEXT, .offset = F(scale)},
    {.key = "lowest", .source = FORMAT_NUMBER, .offset = F(lowest)},
    {.key = "highest", .source = FORMAT_NUMBER, .offset = F(highest), .width = 10},
    {.key = "accuracy_loss", .source = ENTRY_LOSS, .width = -13},
    {.key = "use", .source = FORMAT_TEXT, .offset = F(use), .width = -30},
    {.key = "remark", .source = FORMAT_TEXT, .offset = F(remark)},
    {.key = "fallbacks", .source = FORMAT_FALLBACKS},
    {.key = "code_book", .source = FORMAT_CODE_BOOK},
    {.key = "accuracy_figure", .source = ENTRY_FIGURE},
    {.key = "accuracy_source", .source = ENTRY_SOURCE},
};

#define I(member) offsetof(struct roof_model_prediction, member)
#define OF_INFERENCE(key_, member, unit_, width_, label_)                                          \
    {                                                                                              \
        .key = (key_), .source = AT_NUMBER, .unit = ROOF_UNIT_##unit_, .offset = I(member),        \
        .width = (width_), .label = (label_)                                                       \
    }
#define ASKED(key_, member, width_)                                                                \
    {                                                                                              \
        .key = (key_), .source = SCENARIO_INTEGER, .offset = I(scenario.member), .width = (width_) \
    }
/* Totals stand under the keys that predictions of operators have. */
static const struct roof_field inference_fields[] = {
    {.key = "schema", .source = CONSTANT, .text = "roofline/model-prediction/1"},
    {.key = "hardware",
     .source = OF_HARDWARE,
     .offset = offsetof(struct roof_hardware, id),
     .width = -12},
    {.key = "hardware_basis", .source = BASIS},
    {.key = "model",
     .source = INFERENCE_MODEL,
     .offset = offsetof(struct roof_model, id),
     .width = -14},
    {.key = "phase", .source = AT_TEXT, .offset = I(phase), .width = -7},
    ASKED("batch", common.shape.batch, 5),
    ASKED("context", context, 7),
    ASKED("chunk", chunk, 0),
    ASKED("prefill_batch", prefill_batch, 0),
    ASKED("prefill_context", prefill_context, 0),
    ASKED("prompt", prompt, 0),
    ASKED("generate", generate, 0),
    ASKED("draft_tokens", draft_tokens, 0),
    {.key = "draft_model", .source = DRAFT_MODEL},
    {.key = "acceptance", .source = ACCEPTANCE},
    {.key = "prefix_hit", .source = SCENARIO_FRACTION, .offset = I(scenario.prefix_hit)},
    ASKED("tp", tp, 2),
    ASKED("pp", pp, 2),
    ASKED("ep", common.shape.ep, 2),
    OF_INFERENCE("devices", devices, NONE, 0, NULL),
    {.key = "layout", .source = INFERENCE_MODEL, .offset = offsetof(struct roof_model, layout)},
    {.key = "weights", .source = INFERENCE_WEIGHTS, .width = -8},
    {.key = "activations",
     .source = AT_PRECISION,
     .offset = P(workload.formats.activations),
     .width = -8,
     .label = "acts"},
    {.key = "out", .source = AT_PRECISION, .offset = P(workload.formats.out)},
    {.key = "kv", .source = AT_PRECISION, .offset = P(workload.formats.kv), .width = -8},
    {.key = "native", .source = AT_BOOLEAN, .offset = P(native)},
    NUMBER("flops", flops, FLOPS),
    NUMBER("bytes", bytes, BYTES),
    NUMBER("weights_bytes", role_bytes[ROOF_ROLE_WEIGHTS], BYTES),
    NUMBER("activations_bytes", role_bytes[ROOF_ROLE_ACTIVATIONS], BYTES),
    NUMBER("out_bytes", role_bytes[ROOF_ROLE_OUT], BYTES),
    NUMBER("kv_bytes", role_bytes[ROOF_ROLE_KV], BYTES),
    NUMBER("network_bytes", network_bytes, BYTES),
    NUMBER("arithmetic_intensity", intensity, FLOP_PER_BYTE),
    OF_INFERENCE("memory_time_us", memory_time_us, NONE, 0, NULL),
    OF_INFERENCE("compute_time_us", compute_time_us, NONE, 0, NULL),
    OF_INFERENCE("network_time_us", network_time_us, NONE, 0, NULL),
    OF_INFERENCE("time_us", time_us, NONE, 0, NULL),
    {.key = "bottleneck", .source = BOTTLENECK, .width = -7, .label = "bound"},
    NUMBER("attainable_tflops", attainable_flops_per_s, TFLOPS),
    GIVEN("bandwidth_gb_s", bandwidth_bytes_per_s, GB_PER_S),
    OF_INFERENCE("weights_memory_bytes", weights_memory_bytes, CAPACITY, 0, NULL),
    OF_INFERENCE("kv_cache_bytes", kv_cache_bytes, CAPACITY, 0, NULL),
    OF_INFERENCE("kv_bytes_per_token", kv_bytes_per_token, BYTES, 0, NULL),
    OF_INFERENCE("activation_memory_bytes", activation_memory_bytes, CAPACITY, 0, NULL),
    OF_INFERENCE("memory_capacity_bytes", memory_capacity_bytes, CAPACITY, 0, NULL),
    OF_INFERENCE("memory_reserve_bytes", memory_reserve_bytes, CAPACITY, 0, NULL),
    {.key = "fits", .source = FITS, .offset = I(fits), .width = -4},
    OF_INFERENCE("ttft_ms", ttft_s, MILLISECONDS, 8, NULL),
    OF_INFERENCE("tpot_ms", tpot_s, MILLISECONDS, 8, NULL),
    OF_INFERENCE("e2e_ms", e2e_s, MILLISECONDS, 0, NULL),
    OF_INFERENCE("step_ms", step_s, MILLISECONDS, 0, NULL),
    OF_INFERENCE("draft_ms", draft_s, MILLISECONDS, 0, NULL),
    OF_INFERENCE("tokens_per_step", tokens_per_step, NONE, 0, NULL),
    OF_INFERENCE("tokens_per_s", tokens_per_s, NONE, 9, "tokens/s"),
    OF_INFERENCE("tokens_per_s_per_user", tokens_per_s_per_user, NONE, 9, "per user"),
    SHOWN("expected_time_us", expected_s, MICROSECONDS, 11, "expected_us"),
    NUMBER("expected_low_us", expected_low_s, MICROSECONDS),
    NUMBER("expected_high_us", expected_high_s, MICROSECONDS),
    {.key = "expected_bottleneck", .source = EXPECTED_BOTTLENECK},
    {.key = "expected_basis", .source = EXPECTED_BASIS},
    OF_INFERENCE("expected_near_fraction", expected_near, NONE, 0, NULL),
    OF_INFERENCE("expected_step_ms", expected_step_s, MILLISECONDS, 0, NULL),
    OF_INFERENCE("expected_ttft_ms", expected_ttft_s, MILLISECONDS, 0, NULL),
    OF_INFERENCE("expected_tpot_ms", expected_tpot_s, MILLISECONDS, 0, NULL),
    OF_INFERENCE("expected_e2e_ms", expected_e2e_s, MILLISECONDS, 0, NULL),
    OF_INFERENCE("expected_tokens_per_s", expected_tokens_per_s, NONE, 0, NULL),
    OF_INFERENCE("expected_tokens_per_s_per_user", expected_tokens_per_s_per_user, NONE, 0, NULL),
};

static const struct roof_field node_head[] = {
    {.key = "name",
     .source = NODE_NAME,
     .offset = offsetof(struct roof_node_prediction, node.name)},
    {.key = "count",
     .source = NODE_COUNT,
     .offset = offsetof(struct roof_node_prediction, node.count)},
    {.key = "device_count",
     .source = NODE_COUNT,
     .offset = offsetof(struct roof_node_prediction, device_count)},
};

#define MODEL_FIELD(key_, source_, member, width_, label_)                                         \
    {                                                                                              \
        .key = (key_), .source = (source_), .offset = offsetof(struct roof_model, member),         \
        .width = (width_), .label = (label_)                                                       \
    }
#define ENTRY_COUNT(key_, member, width_, label_)                                                  \
    {                                                                                              \
        .key = (key_), .source = AT_COUNT, .offset = offsetof(struct roof_model_entry, member),    \
        .width = (width_), .label = (label_)                                                       \
    }
static const struct roof_field model_fields[] = {
    MODEL_FIELD("id", MODEL_TEXT, id, -26, NULL),
    MODEL_FIELD("name", MODEL_TEXT, name, 0, NULL),
    ENTRY_COUNT("parameters", parameters, 10, NULL),
    ENTRY_COUNT("active_parameters", active_parameters, 7, "active"),
    MODEL_FIELD("layers", MODEL_INTEGER, layers, 6, NULL),
    MODEL_FIELD("hidden", MODEL_INTEGER, hidden, 6, NULL),
    MODEL_FIELD("intermediate", MODEL_INTEGER, intermediate, 0, NULL),
    {.key = "attention", .source = MODEL_ATTENTION, .width = -9},
    MODEL_FIELD("heads", MODEL_INTEGER, heads, 5, NULL),
    MODEL_FIELD("kv_heads", MODEL_INTEGER, kv_heads, 8, NULL),
    MODEL_FIELD("head_dim", MODEL_INTEGER, head_dim, 8, NULL),
    MODEL_FIELD("window", MODEL_INTEGER, window, 6, NULL),
    MODEL_FIELD("kv_lora_rank", MODEL_INTEGER, kv_lora_rank, 0, NULL),
    MODEL_FIELD("q_lora_rank", MODEL_INTEGER, q_lora_rank, 0, NULL),
    MODEL_FIELD("experts", MODEL_INTEGER, experts, 7, NULL),
    MODEL_FIELD("top_k", MODEL_INTEGER, top_k, 5, NULL),
    MODEL_FIELD("expert_intermediate", MODEL_INTEGER, expert_intermediate, 0, NULL),
    MODEL_FIELD("shared_intermediate", MODEL_INTEGER, shared_intermediate, 0, NULL),
    MODEL_FIELD("vocab", MODEL_INTEGER, vocab, 6, NULL),
    MODEL_FIELD("positions", MODEL_INTEGER, positions, 9, NULL),
    ENTRY_COUNT("kv_bytes_per_token", kv_bytes_per_token, 0, NULL),
    MODEL_FIELD("confidence", MODEL_TEXT, confidence, 0, NULL),
};

static const struct roof_field layout_fields[] = {
    {.key = "id",
     .source = AT_TEXT,
     .offset = offsetof(struct roof_layout_about, id),
     .width = -22},
    {.key = "name",
     .source = AT_TEXT,
     .offset = offsetof(struct roof_layout_about, name),
     .width = -40},
};

static const struct roof_field engine_fields[] = {
    {.key = "id",
     .source = AT_TEXT,
     .offset = offsetof(struct roof_engine_entry, id),
     .width = -10},
    {.key = "name",
     .source = AT_TEXT,
     .offset = offsetof(struct roof_engine_entry, name),
     .width = -13},
    {.key = "formats",
     .source = AT_CHARS,
     .offset = offsetof(struct roof_engine_entry, formats),
     .width = -60},
};

static const struct roof_field operator_fields[] = {
    {.key = "name",
     .source = AT_TEXT,
     .offset = offsetof(struct roof_operator_row, name),
     .width = -17},
    {.key = "summary",
     .source = AT_TEXT,
     .offset = offsetof(struct roof_operator_row, summary),
     .width = -57},
    {.key = "dimensions", .source = DIMENSION_LIST, .width = -20},
};

#define OF_PLAN(key_, source_, member, unit_, width_, label_)                                      \
    {                                                                                              \
        .key = (key_), .source = (source_), .unit = ROOF_UNIT_##unit_,                             \
        .offset = offsetof(struct roof_plan_row, member), .width = (width_), .label = (label_)     \
    }
static const struct roof_field plan_fields[] = {
    {.key = "schema", .source = CONSTANT, .text = "roofline/plan/1"},
    OF_PLAN("rank", RANK, rank, NONE, 5, NULL),
    OF_PLAN("model", AT_TEXT, model, NONE, 0, NULL),
    OF_PLAN("hardware", AT_TEXT, hardware, NONE, -14, NULL),
    OF_PLAN("formats", AT_TEXT, formats, NONE, -11, NULL),
    OF_PLAN("layout", AT_TEXT, layout, NONE, 0, NULL),
    OF_PLAN("weights", AT_PRECISION, weights, NONE, 0, NULL),
    OF_PLAN("activations", AT_PRECISION, activations, NONE, 0, NULL),
    OF_PLAN("kv", AT_PRECISION, kv, NONE, -8, NULL),
    OF_PLAN("engines", AT_CHARS, engines, NONE, 0, NULL),
    OF_PLAN("devices", NODE_COUNT, plan.devices, NONE, 7, NULL),
    OF_PLAN("dp", NODE_COUNT, plan.dp, NONE, 3, NULL),
    OF_PLAN("tp", NODE_COUNT, plan.tp, NONE, 3, NULL),
    OF_PLAN("pp", NODE_COUNT, plan.pp, NONE, 3, NULL),
    OF_PLAN("ep", NODE_COUNT, plan.ep, NONE, 3, NULL),
    OF_PLAN("batch", NODE_COUNT, plan.batch, NONE, 6, NULL),
    OF_PLAN("ttft_ms", AT_NUMBER, plan.ideal_ttft_s, MILLISECONDS, 0, NULL),
    OF_PLAN("step_ms", AT_NUMBER, plan.ideal_step_s, MILLISECONDS, 0, NULL),
    OF_PLAN("tpot_ms", AT_NUMBER, plan.ideal_tpot_s, MILLISECONDS, 0, NULL),
    OF_PLAN("expected_ttft_ms", AT_NUMBER, plan.ttft_s, MILLISECONDS, 9, "TTFT ms"),
    OF_PLAN("expected_ttft_low_ms", AT_NUMBER, plan.ttft_low_s, MILLISECONDS, 0, NULL),
    OF_PLAN("expected_ttft_high_ms", AT_NUMBER, plan.ttft_high_s, MILLISECONDS, 0, NULL),
    OF_PLAN("expected_step_ms", AT_NUMBER, plan.step_s, MILLISECONDS, 9, "step ms"),
    OF_PLAN("expected_step_low_ms", AT_NUMBER, plan.step_low_s, MILLISECONDS, 0, NULL),
    OF_PLAN("expected_step_high_ms", AT_NUMBER, plan.step_high_s, MILLISECONDS, 0, NULL),
    OF_PLAN("expected_tpot_ms", AT_NUMBER, plan.tpot_s, MILLISECONDS, 9, "TPOT ms"),
    OF_PLAN("expected_tokens_per_s", AT_NUMBER, plan.tokens_per_s, NONE, 9, "tokens/s"),
    OF_PLAN("expected_tokens_per_s_per_user", AT_NUMBER, plan.tokens_per_s_per_user, NONE, 9,
            "per user"),
    OF_PLAN("expected_tokens_per_s_per_device", AT_NUMBER, plan.tokens_per_s_per_device, NONE, 10,
            "per device"),
    OF_PLAN("expected_near_fraction", AT_NUMBER, plan.near, NONE, 0, NULL),
    OF_PLAN("expected_ttft_near_fraction", AT_NUMBER, plan.ttft_near, NONE, 0, NULL),
    OF_PLAN("memory_bytes", AT_NUMBER, plan.memory_bytes, NONE, 0, NULL),
    OF_PLAN("accuracy_loss", LOSS, plan.loss, NONE, 0, NULL),
    OF_PLAN("tdp_w", AT_NUMBER, plan.watt, NONE, 0, NULL),
    OF_PLAN("tdp_joule_per_token", AT_NUMBER, plan.joule, NONE, 0, NULL),
    OF_PLAN("cost_per_million_tokens", AT_NUMBER, plan.cost, NONE, 8, "per Mtok"),
    OF_PLAN("pareto", PARETO, plan.pareto, NONE, 6, NULL),
};

#define OF_SPEEDUP(key_, source_, member, unit_, width_, label_)                                   \
    {                                                                                              \
        .key = (key_), .source = (source_), .unit = ROOF_UNIT_##unit_,                             \
        .offset = offsetof(struct roof_speedup_row, member), .width = (width_), .label = (label_)  \
    }
#define GAIN(key_, member, width_, label_)                                                         \
    OF_SPEEDUP(key_, AT_NUMBER, member, MICROSECONDS, width_, label_)
#define CAUSE(prefix, gain_, name_, id)                                                            \
    GAIN(prefix name_ "_saved_us", gain_.saved_s[ROOF_CAUSE_##id], 0, NULL),                       \
        GAIN(prefix name_ "_alone_us", gain_.alone_s[ROOF_CAUSE_##id], 0, NULL)
static const struct roof_field speedup_fields[] = {
    {.key = "schema", .source = CONSTANT, .text = "roofline/speedup/1"},
    OF_SPEEDUP("from", AT_TEXT, from, NONE, -14, NULL),
    OF_SPEEDUP("to", AT_TEXT, to, NONE, -14, NULL),
    OF_SPEEDUP("name", AT_TEXT, name, NONE, -16, NULL),
    OF_SPEEDUP("count", AT_NUMBER, count, NONE, 5, NULL),
    GAIN("from_us", ideal.from_s, 9, NULL),
    GAIN("to_us", ideal.to_s, 9, NULL),
    OF_SPEEDUP("speedup", AT_NUMBER, ideal.speedup, NONE, 7, NULL),
    CAUSE("", ideal, "memory", MEMORY),
    CAUSE("", ideal, "compute", COMPUTE),
    CAUSE("", ideal, "network", NETWORK),
    OF_SPEEDUP("from_bottleneck", SPEEDUP_BOTTLENECK, from_bottleneck, NONE, 0, NULL),
    OF_SPEEDUP("to_bottleneck", SPEEDUP_BOTTLENECK, to_bottleneck, NONE, 0, NULL),
    GAIN("expected_from_us", expected.from_s, 9, NULL),
    GAIN("expected_to_us", expected.to_s, 9, NULL),
    OF_SPEEDUP("expected_speedup", AT_NUMBER, expected.speedup, NONE, 7, NULL),
    CAUSE("expected_", expected, "memory", MEMORY),
    CAUSE("expected_", expected, "compute", COMPUTE),
    CAUSE("expected_", expected, "network", NETWORK),
    CAUSE("expected_", expected, "launch", LAUNCH),
    CAUSE("expected_", expected, "kernels", KERNELS),
    OF_SPEEDUP("expected_from_bottleneck", SPEEDUP_EXPECTED, expected_from_bottleneck, NONE, 0,
               NULL),
    OF_SPEEDUP("expected_to_bottleneck", SPEEDUP_EXPECTED, expected_to_bottleneck, NONE, 0, NULL),
};

/* Every dimension is a column of this field; its key is that of the input row. */
static const struct roof_field dimension_field = {.source = DIMENSION, .width = 6};
static const struct roof_field any_dimension_field = {.source = ANY_DIMENSION, .width = 6};

static const char *column_key(const struct roof_column *column)
{
    switch ((int)column->field->source) {
    case DIMENSION:
    case ANY_DIMENSION:
        return roof_dimensions[column->dimension].key;
    case HARDWARE_FIGURE:
        return roof_figure_key((enum roof_figure_id)column->field->offset)->key;
    default:
        return column->field->key;
    }
}

/* --- cells --------------------------------------------------------------------------------- */

enum cell_kind { ABSENT, TEXT, NUMERIC, BOOLEAN, WORDS, NUMBERS }; /* the last two: by blanks */

/* The value of a field in the unit of its key. */
struct cell {
    enum cell_kind kind;
    const char *text;
    double number;
    bool prefixed; /* for people: 8.03 G */
    char buffer[400];
};

static void text_cell(struct cell *cell, const char *text)
{
    cell->kind = text == NULL || *text == '\0' ? ABSENT : TEXT;
    cell->text = text;
}

static void buffer_cell(struct cell *cell)
{
    cell->kind = cell->buffer[0] == '\0' ? ABSENT : TEXT;
    cell->text = cell->buffer;
}

static void number_cell(struct cell *cell, double value)
{
    cell->kind = isfinite(value) ? NUMERIC : ABSENT;
    cell->number = value;
}

static void dimension_cell(struct cell *cell, const struct roof_workload *workload,
                           enum roof_dimension dimension)
{
    const struct roof_input *const input = &roof_dimensions[dimension];
    const int64_t value = roof_input_get(workload, input);
    switch (input->kind) {
    case ROOF_INPUT_CHOICE:
        text_cell(cell, input->choices[value]);
        break;
    case ROOF_INPUT_FLAG:
        cell->kind = BOOLEAN;
        cell->number = (double)value;
        break;
    case ROOF_INPUT_INTEGER:
    case ROOF_INPUT_PRECISION:
    case ROOF_INPUT_TEXT:
    case ROOF_INPUT_NUMBER:
        number_cell(cell, value == 0 && input->min > 0 ? ROOF_UNKNOWN : (double)value);
        break;
    }
}

static void dimension_list(struct cell *cell, const struct roof_operator_row *row)
{
    size_t used = 0;
    for (int i = 0; i < row->dim_count; i++) {
        const bool required = (row->required & (1U << row->dims[i])) != 0;
        char name[ROOF_INPUT_NAME_SIZE];
        used += (size_t)snprintf(cell->buffer + used, sizeof cell->buffer - used, "%s%s%s%s",
                                 i == 0 ? "" : " ", required ? "" : "[",
                                 roof_input_name(name, &roof_dimensions[row->dims[i]]),
                                 required ? "" : "]");
    }
    buffer_cell(cell);
}

static void fallback_list(struct cell *cell, const struct roof_format *format)
{
    size_t used = 0;
    for (int i = 0; format->fallback[i] != ROOF_PRECISION_AUTO; i++) {
        used += (size_t)snprintf(cell->buffer + used, sizeof cell->buffer - used, "%s%s",
                                 i == 0 ? "" : " ", roof_format(format->fallback[i])->name);
    }
    buffer_cell(cell);
    cell->kind = used == 0 ? ABSENT : WORDS;
}

static void code_book_list(struct cell *cell, const struct roof_format *format)
{
    size_t used = 0;
    for (int i = 0; i < format->code_count; i++) {
        cell->buffer[used] = ' ';
        used += used > 0;
        used += roof_format_number(cell->buffer + used, format->code_book[i]);
    }
    buffer_cell(cell);
    cell->kind = used == 0 ? ABSENT : NUMBERS;
}

static void fill_cell(struct cell *cell, const struct roof_column *column, const void *result)
{
    cell->kind = ABSENT; /* the buffer is not worth clearing for every cell */
    cell->prefixed = false;
    const struct roof_field *const field = column->field;
    const char *const at = (const char *)result + field->offset;
    const struct roof_prediction *const p = result;
    const struct roof_hardware *const hardware = result;
    const struct roof_precision_entry *const entry = result;
    const struct roof_model_prediction *const inference = result;
    const struct roof_model_entry *const model = result;
    const char *const format_at = field->source >= FORMAT_TEXT && field->source <= ENTRY_SOURCE
                                      ? (const char *)roof_format(entry->precision) + field->offset
                                      : NULL;
    switch (field->source) {
    case AT_NUMBER:
        number_cell(cell, roof_to_unit(*(const double *)(const void *)at, field->unit));
        break;
    case AT_GIVEN:
        number_cell(cell, roof_given(*(const double *)(const void *)at, field->unit));
        break;
    case AT_COUNT:
        number_cell(cell, *(const double *)(const void *)at);
        cell->prefixed = true;
        break;
    case AT_BOOLEAN:
        cell->kind = BOOLEAN;
        cell->number = *(const bool *)at ? 1 : 0;
        break;
    case PARETO:
        if (((const struct roof_plan_row *)result)->rank > 0) { /* others were not compared */
            cell->kind = BOOLEAN;
            cell->number = *(const bool *)at ? 1 : 0;
        }
        break;
    case SPEEDUP_EXPECTED:
        if (isnan(((const struct roof_speedup_row *)result)->expected.from_s)) {
            break;
        }
        text_cell(cell, roof_bottleneck_name(*(const enum roof_bottleneck *)(const void *)at));
        break;
    case SPEEDUP_BOTTLENECK:
        text_cell(cell, roof_bottleneck_name(*(const enum roof_bottleneck *)(const void *)at));
        break;
    case AT_TEXT:
        text_cell(cell, *(const char *const *)(const void *)at);
        break;
    case AT_CHARS:
        text_cell(cell, at);
        break;
    case RANK: {
        const int rank = *(const int *)(const void *)at;
        number_cell(cell, rank == 0 ? ROOF_UNKNOWN : (double)rank);
        break;
    }
    case AT_PRECISION:
        text_cell(cell, roof_format(*(const enum roof_precision *)(const void *)at)->name);
        break;
    case ANY_DIMENSION:
        if (!roof_operator_has(p->workload.op, column->dimension)) {
            break;
        }
        dimension_cell(cell, &p->workload, column->dimension);
        break;
    case DIMENSION:
        dimension_cell(cell, &p->workload, column->dimension);
        break;
    case CONSTANT:
        text_cell(cell, field->text);
        break;
    case OF_HARDWARE:
        text_cell(cell,
                  *(const char *const *)(const void *)((const char *)p->hardware + field->offset));
        break;
    case BASIS:
        text_cell(cell, roof_basis_name(p->hardware->basis));
        break;
    case OPERATOR:
        text_cell(cell, roof_operator_row(p->workload.op)->name);
        break;
    case BOTTLENECK:
        text_cell(cell, roof_bottleneck_name(p->bottleneck));
        break;
    case EXPECTED_BOTTLENECK:
        text_cell(cell, isnan(p->expected_s) ? NULL : roof_bottleneck_name(p->expected_bottleneck));
        break;
    case EXPECTED_BASIS:
        text_cell(cell, isnan(p->expected_s) ? NULL : p->expected_near ? "nearest" : "measured");
        break;
    case SPARSE:
        cell->kind = p->workload.sparse > 0 ? BOOLEAN : ABSENT;
        cell->number = p->sparse ? 1 : 0;
        break;
    case LOSS:
        text_cell(cell, roof_accuracy_name(*(const enum roof_accuracy_class *)(const void *)at));
        break;
    case HARDWARE_BASIS:
        text_cell(cell, roof_basis_name(hardware->basis));
        break;
    case HARDWARE_FIGURE:
        number_cell(cell, roof_given(hardware->figure[field->offset].value,
                                     roof_figure_key((enum roof_figure_id)field->offset)->unit));
        break;
    case HARDWARE_PEAK: {
        const struct roof_compute *const compute = &hardware->compute[field->offset];
        number_cell(cell, compute->native ? roof_given(compute->peak_flops_per_s, field->unit)
                                          : ROOF_UNKNOWN);
        break;
    }
    case FORMAT_TEXT:
        text_cell(cell, *(const char *const *)(const void *)format_at);
        break;
    case FORMAT_INT:
        number_cell(cell, *(const int *)(const void *)format_at);
        break;
    case FORMAT_INT64:
        number_cell(cell, (double)*(const int64_t *)(const void *)format_at);
        break;
    case FORMAT_NUMBER:
        number_cell(cell, *(const double *)(const void *)format_at);
        break;
    case FORMAT_FAMILY:
        text_cell(cell, roof_family_name(roof_format(entry->precision)->family));
        break;
    case FORMAT_BITS:
        number_cell(cell, roof_precision_bits(entry->precision));
        break;
    case FORMAT_BYTES:
        number_cell(cell, roof_tensor_bytes(entry->precision, 1, 0, 0));
        break;
    case FORMAT_FALLBACKS:
        fallback_list(cell, roof_format(entry->precision));
        break;
    case FORMAT_CODE_BOOK:
        code_book_list(cell, roof_format(entry->precision));
        break;
    case ENTRY_LOSS:
        text_cell(cell, roof_accuracy_name(entry->accuracy->of[entry->precision].loss));
        break;
    case ENTRY_FIGURE:
        text_cell(cell, entry->accuracy->of[entry->precision].figure);
        break;
    case ENTRY_SOURCE:
        text_cell(cell, entry->accuracy->of[entry->precision].source);
        break;
    case DIMENSION_LIST:
        dimension_list(cell, result);
        break;
    case INFERENCE_MODEL:
        text_cell(cell, *(const char *const *)(const void *)((const char *)inference->model +
                                                             field->offset));
        break;
    case INFERENCE_WEIGHTS:
        text_cell(cell, inference->model->layout != NULL
                            ? NULL
                            : roof_format(inference->total.workload.formats.weights)->name);
        break;
    case SCENARIO_INTEGER: {
        const int64_t value = *(const int64_t *)(const void *)at;
        number_cell(cell, value == 0 ? ROOF_UNKNOWN : (double)value);
        break;
    }
    case SCENARIO_FRACTION: {
        const double value = *(const double *)(const void *)at;
        number_cell(cell, value > 0 ? value : ROOF_UNKNOWN);
        break;
    }
    case ACCEPTANCE:
        number_cell(cell, inference->scenario.draft_tokens > 0 ? inference->scenario.acceptance
                                                               : ROOF_UNKNOWN);
        break;
    case DRAFT_MODEL:
        text_cell(cell, inference->scenario.draft == NULL ? NULL : inference->scenario.draft->id);
        break;
    case FITS: {
        const enum roof_fit fits = *(const enum roof_fit *)(const void *)at;
        cell->kind = fits == ROOF_FIT_UNKNOWN ? ABSENT : BOOLEAN;
        cell->number = fits == ROOF_FIT_YES ? 1 : 0;
        break;
    }
    case NODE_NAME:
        text_cell(cell, *(const char *const *)(const void *)at);
        break;
    case NODE_COUNT:
        number_cell(cell, (double)*(const int64_t *)(const void *)at);
        break;
    case MODEL_TEXT:
        text_cell(cell,
                  *(const char *const *)(const void *)((const char *)model->model + field->offset));
        break;
    case MODEL_INTEGER: {
        const int64_t value =
            *(const int64_t *)(const void *)((const char *)model->model + field->offset);
        number_cell(cell, value == 0 ? ROOF_UNKNOWN : (double)value);
        break;
    }
    case MODEL_ATTENTION:
        text_cell(cell, roof_attention_name(model->model));
        break;
    }
}

/* --- tables -------------------------------------------------------------------------------- */

static bool machine(enum roof_output output)
{
    return output == ROOF_OUTPUT_JSON || output == ROOF_OUTPUT_NDJSON || output == ROOF_OUTPUT_CSV;
}

/* Where a column's cells come from, for those whose text hangs on one value alone. */
static void find_state(struct roof_column *column)
{
    const struct roof_field *const field = column->field;
    column->steady = true;
    column->state = field->offset;
    column->state_size = 0;
    switch ((int)field->source) {
    case CONSTANT:
        break;
    case AT_NUMBER:
    case AT_GIVEN:
    case SCENARIO_INTEGER:
    case SCENARIO_FRACTION:
        column->state_size = sizeof(int64_t);
        break;
    case AT_PRECISION:
        column->state_size = sizeof(enum roof_precision);
        break;
    case AT_BOOLEAN:
        column->state_size = sizeof(bool);
        break;
    case DIMENSION:
    case ANY_DIMENSION:
        column->state = roof_dimensions[column->dimension].offset;
        column->state_size = sizeof(int64_t);
        break;
    case OF_HARDWARE: /* what the device has there, whichever device it is */
    case BASIS:
        break;
    case OPERATOR:
        column->state = P(workload.op);
        column->state_size = sizeof(enum roof_operator);
        break;
    case BOTTLENECK:
        column->state = P(bottleneck);
        column->state_size = sizeof(enum roof_bottleneck);
        break;
    default:
        column->steady = false;
        break;
    }
}

#define NO_DIMENSION ROOF_DIM_M /* of a field that is none: not looked at */

static void add_column(struct roof_table *table, const struct roof_field *field,
                       enum roof_dimension dimension)
{
    if (table->count < ROOF_COLUMNS_MAX) {
        struct roof_column *const column = &table->column[table->count++];
        *column = (struct roof_column){.field = field, .dimension = dimension};
        find_state(column);
    }
}

static void add_fields(struct roof_table *table, const struct roof_field *fields, size_t count,
                       bool all)
{
    for (size_t i = 0; i < count; i++) {
        if (all || fields[i].width != 0) {
            add_column(table, &fields[i], NO_DIMENSION);
        }
    }
}

/* The roles whose formats a reader wants to see: those that the time hangs on. */
static unsigned shown_roles(enum roof_operator op)
{
    const struct roof_operator_row *const row = roof_operator_row(op);
    const unsigned acts = 1U << ROOF_ROLE_ACTIVATIONS;
    const unsigned out = 1U << ROOF_ROLE_OUT;
    if (op == ROOF_OPERATOR_EMBEDDING) {
        return 1U << ROOF_ROLE_WEIGHTS | out;
    }
    if (row->other == ROOF_ROLE_KV || roof_is_product(op)) {
        return 1U << row->other | acts;
    }
    return acts | out;
}

/* skip leaves out that many of the first fields. */
static void add_prediction(struct roof_table *table, enum roof_operator op, bool all, size_t skip)
{
    add_fields(table, prediction_head + skip, COUNT(prediction_head) - skip, all);
    const bool any = op == ROOF_OPERATOR_COUNT;
    table->any = any;
    const struct roof_operator_row *const row = any ? NULL : roof_operator_row(op);
    for (int i = 0; i < (any ? (int)ROOF_DIM_COUNT : row->dim_count); i++) {
        add_column(table, any ? &any_dimension_field : &dimension_field,
                   any ? (enum roof_dimension)i : row->dims[i]);
    }
    const unsigned roles = any ? ~0U : shown_roles(op);
    for (size_t i = 0; i < COUNT(prediction_tail); i++) {
        const struct roof_field *const field = &prediction_tail[i];
        if (field->roles == 0 || (field->roles & roles) != 0 || all) {
            add_fields(table, field, 1, all);
        }
    }
}

/* Keeps the fields that columns names, in its order. */
static enum roof_status choose(struct roof_table *table, const char *columns,
                               struct roof_error *error)
{
    const struct roof_table all = *table;
    const char *known[ROOF_COLUMNS_MAX];
    for (size_t i = 0; i < all.count; i++) {
        known[i] = column_key(&all.column[i]);
    }
    table->count = 0;
    const char *item = columns;
    while (item != NULL) {
        const char *const comma = strchr(item, ',');
        const size_t length = comma == NULL ? strlen(item) : (size_t)(comma - item);
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), item);
        size_t found = 0;
        while (found < all.count && strcmp(name, known[found]) != 0) {
            found++;
        }
        if (found == all.count) {
            return roof_unknown_name(error, ROOF_USAGE, "column", name, known, all.count);
        }
        for (size_t i = 0; i < table->count; i++) {
            if (strcmp(column_key(&table->column[i]), name) == 0) {
                return roof_error_set(error, ROOF_USAGE, ROOF_KEY("columns") " names '%s' twice",
                                      name);
            }
        }
        table->column[table->count++] = all.column[found];
        item = comma == NULL ? NULL : comma + 1;
    }
    return ROOF_OK;
}

enum roof_status roof_table_open(struct roof_table *out, enum roof_output output,
                                 enum roof_table_kind kind, enum roof_operator op,
                                 const char *columns, struct roof_error *error)
{
    *out = (struct roof_table){.output = output};
    if (columns != NULL && (output == ROOF_OUTPUT_TEXT || output == ROOF_OUTPUT_JSON)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("columns") " goes with " ROOF_KEY("format") " csv, ndjson or md");
    }
    const bool all = machine(output) || columns != NULL;
    switch (kind) {
    case ROOF_TABLE_PREDICTIONS:
        add_prediction(out, op, all, 0);
        break;
    case ROOF_TABLE_RECOMMENDATIONS:
        if (all) {
            add_fields(out, candidate_fields, 1, true); /* the rank opens the row */
            add_prediction(out, op, true, 0);
            add_fields(out, candidate_fields + 1, COUNT(candidate_fields) - 1, true);
        } else {
            add_fields(out, candidate_fields, COUNT(candidate_fields) - 1, false);
            for (size_t i = 0; i < COUNT(prediction_tail); i++) {
                if (prediction_tail[i].offset == P(time_s)) {
                    add_fields(out, &prediction_tail[i], 1, true);
                }
            }
            add_fields(out, &candidate_fields[COUNT(candidate_fields) - 1], 1, true);
        }
        break;
    case ROOF_TABLE_HARDWARE:
        add_fields(out, hardware_fields, COUNT(hardware_fields), all);
        break;
    case ROOF_TABLE_PRECISIONS:
        add_fields(out, precision_fields, COUNT(precision_fields), all);
        break;
    case ROOF_TABLE_OPERATORS:
        add_fields(out, operator_fields, COUNT(operator_fields), all);
        break;
    case ROOF_TABLE_MODEL_PREDICTIONS:
        out->inferences = true;
        add_fields(out, inference_fields, COUNT(inference_fields), all);
        break;
    case ROOF_TABLE_NODES:
        add_fields(out, node_head, COUNT(node_head), true);
        add_prediction(out, op, true, 3); /* the device stands in the model's own row */
        break;
    case ROOF_TABLE_PLANS:
        add_fields(out, plan_fields, COUNT(plan_fields), all);
        break;
    case ROOF_TABLE_SPEEDUPS:
        add_fields(out, speedup_fields, COUNT(speedup_fields), all);
        break;
    case ROOF_TABLE_ENGINES:
        add_fields(out, engine_fields, COUNT(engine_fields), all);
        break;
    case ROOF_TABLE_LAYOUTS:
        add_fields(out, layout_fields, COUNT(layout_fields), all);
        break;
    case ROOF_TABLE_MODELS:
        add_fields(out, model_fields, COUNT(model_fields), all);
        break;
    }
    const enum roof_status status = columns == NULL ? ROOF_OK : choose(out, columns, error);
    if (status != ROOF_OK) {
        *out = (struct roof_table){.output = output};
    }
    return status;
}

void roof_table_show(struct roof_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(column_key(&table->column[i]), key) == 0) {
            return;
        }
    }
    for (size_t i = 0; i < COUNT(inference_fields); i++) {
        if (table->inferences && strcmp(inference_fields[i].key, key) == 0) {
            add_column(table, &inference_fields[i], NO_DIMENSION);
        }
    }
}

void roof_table_keep_dimensions(struct roof_table *table, uint32_t dimensions)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct roof_column *const column = &table->column[i];
        if (column->field->source != ANY_DIMENSION ||
            (dimensions & (UINT32_C(1) << column->dimension)) != 0) {
            table->column[kept++] = *column;
        }
    }
    table->count = kept;
}

void roof_table_carry(struct roof_table *table, const struct roof_carried *carried, size_t count)
{
    table->carried = carried;
    table->carried_count = count;
}

static bool among(const struct roof_field *fields, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

bool roof_table_has(enum roof_table_kind kind, const char *key)
{
    if (kind == ROOF_TABLE_MODEL_PREDICTIONS) {
        return among(inference_fields, COUNT(inference_fields), key);
    }
    for (size_t i = 0; i < ROOF_DIM_COUNT; i++) {
        if (strcmp(roof_dimensions[i].key, key) == 0) {
            return true;
        }
    }
    return among(prediction_head, COUNT(prediction_head), key) ||
           among(prediction_tail, COUNT(prediction_tail), key);
}

/* Words of our own have brackets and "<1%", which mean nothing there; a name from a file may have
 * a tag. */
static void markdown_cell(struct roof_text *out, const char *text)
{
    roof_text_put(out, " ");
    for (const char *p = text; *p != '\0'; p++) {
        const size_t control = roof_control(p);
        const bool tag =
            *p == '<' && (isalpha((unsigned char)p[1]) != 0 || ispunct((unsigned char)p[1]) != 0);
        roof_text_put(out, *p == '|' || *p == '\\' || tag ? "\\" : "");
        roof_text_add(out, control > 0 ? " " : p, 1);
        p += control > 0 ? control - 1 : 0;
    }
    roof_text_put(out, " |");
}

/* What is carried may be anything. */
static void carried_markdown(struct roof_text *out, const char *text)
{
    roof_text_put(out, " ");
    roof_text_markdown(out, text);
    roof_text_put(out, " |");
}

/* A cell for people: short numbers, yes and no. */
static const char *readable(struct cell *cell)
{
    switch (cell->kind) {
    case ABSENT:
        return "-";
    case TEXT:
    case WORDS:
    case NUMBERS:
        return cell->text;
    case BOOLEAN:
        return cell->number > 0 ? "yes" : "no";
    case NUMERIC:
        if (cell->prefixed) {
            return roof_format_quantity(cell->buffer, cell->number, ROOF_UNIT_COUNTS);
        }
        if (fabs(cell->number) < 1e9 && cell->number == floor(cell->number)) {
            roof_format_number(cell->buffer, cell->number);
        } else {
            roof_format_short(cell->buffer, cell->number);
        }
        break;
    }
    return cell->buffer;
}

/* Pads to width, to the left when it is negative; the last column of a row is not padded. */
static void padded(struct roof_text *out, const char *text, int width, bool last)
{
    const size_t wanted = (size_t)(width < 0 ? -width : width);
    const size_t used = roof_text_width(text);
    const size_t blanks = used < wanted ? wanted - used : 0;
    if (width > 0) {
        roof_text_fill(out, ' ', blanks);
    }
    roof_text_plain(out, text);
    if (width < 0 && !last) {
        roof_text_fill(out, ' ', blanks);
    }
}

static const char *column_label(const struct roof_column *column)
{
    return column->field->label == NULL ? column_key(column) : column->field->label;
}

/* At least as wide as its heading, so that headings need no room of their own. */
static int column_width(const struct roof_column *column)
{
    const int width = column->field->width == 0 ? 12 : column->field->width;
    const int key = (int)strlen(column_label(column));
    return width < 0 ? (key > -width ? -key : width) : (key > width ? key : width);
}

/* A carried column in a text table, wide enough for its name. */
static void carried_text(struct roof_text *out, const struct roof_carried *carried,
                         const char *text)
{
    const int name = (int)roof_text_width(carried->name);
    padded(out, text, name > 12 ? -name : -12, false);
    roof_text_put(out, "  ");
}

void roof_table_begin(struct roof_table *table, struct roof_text *out)
{
    const size_t carried = table->carried_count;
    switch (table->output) {
    case ROOF_OUTPUT_TEXT:
        for (size_t i = 0; i < carried; i++) {
            carried_text(out, &table->carried[i], table->carried[i].name);
        }
        for (size_t i = 0; i < table->count; i++) {
            roof_text_put(out, i == 0 ? "" : "  ");
            padded(out, column_label(&table->column[i]), column_width(&table->column[i]),
                   i + 1 == table->count);
        }
        roof_text_put(out, "\n");
        break;
    case ROOF_OUTPUT_JSON:
        roof_text_put(out, "[");
        break;
    case ROOF_OUTPUT_NDJSON:
        break;
    case ROOF_OUTPUT_CSV:
        for (size_t i = 0; i < carried; i++) {
            roof_csv_cell(out, table->carried[i].name);
            roof_text_put(out, ",");
        }
        for (size_t i = 0; i < table->count; i++) {
            roof_text_put(out, i == 0 ? "" : ",");
            roof_text_put(out, column_key(&table->column[i]));
        }
        roof_text_put(out, "\n");
        break;
    case ROOF_OUTPUT_MARKDOWN:
        roof_text_put(out, "|");
        for (size_t i = 0; i < carried; i++) {
            carried_markdown(out, table->carried[i].name);
        }
        for (size_t i = 0; i < table->count; i++) {
            markdown_cell(out, column_key(&table->column[i]));
        }
        roof_text_put(out, "\n|");
        for (size_t i = 0; i < carried; i++) {
            roof_text_put(out, " --- |");
        }
        for (size_t i = 0; i < table->count; i++) {
            roof_text_put(out, column_width(&table->column[i]) < 0 ? " --- |" : " ---: |");
        }
        roof_text_put(out, "\n");
        break;
    }
}

/* The blank-separated items of a cell as an array. */
static void json_list(struct roof_text *out, const struct cell *cell)
{
    const char *const quote = cell->kind == WORDS ? "\"" : "";
    roof_text_put(out, "[");
    for (const char *item = cell->text; item != NULL;) {
        const size_t length = strcspn(item, " ");
        roof_text_put(out, item == cell->text ? "" : ", ");
        roof_text_put(out, quote);
        roof_text_add(out, item, length);
        roof_text_put(out, quote);
        item = item[length] == '\0' ? NULL : item + length + 1;
    }
    roof_text_put(out, "]");
}

/* The dimensions of the operator of a row as bits. */
static uint32_t own_dimensions(const struct roof_prediction *prediction)
{
    const struct roof_operator_row *const row = roof_operator_row(prediction->workload.op);
    uint32_t bits = 0;
    for (int i = 0; i < row->dim_count; i++) {
        bits |= UINT32_C(1) << row->dims[i];
    }
    return bits;
}

static void render_json(struct roof_text *out, const struct cell *cell)
{
    switch (cell->kind) {
    case ABSENT:
        break;
    case TEXT:
        roof_json_quote(out, cell->text);
        break;
    case WORDS:
    case NUMBERS:
        json_list(out, cell);
        break;
    case BOOLEAN:
        roof_text_put(out, cell->number > 0 ? "true" : "false");
        break;
    case NUMERIC:
        roof_text_number(out, cell->number);
        break;
    }
}

static void render_csv(struct roof_text *out, const struct cell *cell)
{
    if (cell->kind == NUMERIC || cell->kind == BOOLEAN) {
        roof_text_number(out, cell->number);
    } else if (cell->kind != ABSENT) {
        roof_csv_cell(out, cell->text);
    }
}

/* Stands for a text: a device may change, or another may take its place in memory. */
static uint64_t text_state(const char *text)
{
    const size_t length = strlen(text);
    uint64_t state = length;
    for (size_t i = 0; i < length; i += sizeof state) {
        uint64_t word = 0;
        memcpy(&word, text + i, length - i < sizeof word ? length - i : sizeof word);
        state = (state ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        state ^= state >> 32;
    }
    return state;
}

/* Whether a column's cell is that of the row before; if not, what it is made of is noted. own: the
 * dimensions that the row has. */
static bool same_state(struct roof_cell *last, const struct roof_column *column, const void *result,
                       uint32_t own)
{
    const char *const at = (const char *)result + column->state;
    uint64_t state = 0;
    if (!column->steady) {
        return false;
    }
    switch (column->state_size) {
    case 8:
        memcpy(&state, at, 8);
        break;
    case 4:
        memcpy(&state, at, 4);
        break;
    case 1:
        memcpy(&state, at, 1);
        break;
    default:
        break;
    }
    const struct roof_prediction *const p = result;
    if (column->field->source == OF_HARDWARE) {
        state = text_state(*(const char *const *)(const void *)((const char *)p->hardware +
                                                                column->field->offset));
    } else if (column->field->source == BASIS) {
        state = p->hardware->basis;
    } else if (column->field->source == ANY_DIMENSION && (own >> column->dimension & 1) == 0) {
        state = UINT64_MAX; /* no dimension is negative */
    }
    const bool same = last->known && last->state == state;
    last->state = state;
    return same;
}

/* Room for what is left of a row from column i on, unless a cell is long: so that short ones are
 * copied in whole words without looking. */
static bool reserve_rest(const struct roof_table *table, struct roof_text *out, size_t i)
{
    const size_t columns = table->count - i;
    return roof_text_room(out, columns * (ROOF_LEAD_SIZE + ROOF_CELL_SIZE + 2) + ROOF_CELL_SIZE) !=
           NULL;
}

/* Appends the first `length` of a block of `size` bytes into room that there is. */
static inline void put_block(struct roof_text *out, const char *block, size_t size, size_t length)
{
    memcpy(out->data + out->length, block, size);
    out->length += length;
}

/* The key of a member, made once for all rows. */
static bool put_lead(struct roof_table *table, size_t i, struct roof_text *out,
                     const char *separator)
{
    struct roof_column *const column = &table->column[i];
    const bool spaced = *separator != '\0';
    if (column->lead_length == 0) {
        column->lead_length =
            (size_t)snprintf(column->lead, sizeof column->lead, "\"%s\":", column_key(column));
    }
    if (spaced) {
        roof_text_put(out, separator);
        if (!reserve_rest(table, out, i)) {
            return false;
        }
    }
    put_block(out, column->lead, ROOF_LEAD_SIZE, column->lead_length);
    put_block(out, " ", 1, spaced);
    return true;
}

/* A cell that is new, and kept for the next row if it may be and is short. */
static bool put_new(struct roof_table *table, size_t i, struct roof_text *out,
                    const struct cell *cell, bool object)
{
    struct roof_cell *const last = &table->last[i];
    const size_t before = out->length;
    (object ? render_json : render_csv)(out, cell);
    if (!reserve_rest(table, out, i + 1)) {
        return false;
    }
    last->length = out->length - before;
    last->known = table->column[i].steady && last->length <= ROOF_CELL_SIZE;
    memcpy(last->text, out->data + before, ROOF_CELL_SIZE);
    return true;
}

/* The cells of a row, most of what a sweep does. Those that are made of the same as in the row
 * before are copied; only the others are formatted. begun: members of the object stand before. */
static void put_cells(struct roof_table *table, struct roof_text *out, const void *result,
                      bool object, const char *separator, bool begun)
{
    const uint32_t own = table->any ? own_dimensions(result) : ~UINT32_C(0);
    bool room = reserve_rest(table, out, 0);
    for (size_t i = 0; i < table->count && room; i++) {
        struct roof_cell *const last = &table->last[i];
        struct cell cell;
        const bool same = same_state(last, &table->column[i], result, own);
        if (!same) {
            fill_cell(&cell, &table->column[i], result);
            last->absent = cell.kind == ABSENT;
        }
        if (object && last->absent) { /* as an object has no empty members */
            last->known = table->column[i].steady;
            continue;
        }
        put_block(out, ",", 1, object ? begun : i > 0);
        begun = true;
        room = !object || put_lead(table, i, out, separator);
        if (same && room) {
            put_block(out, last->text, ROOF_CELL_SIZE, last->length);
        } else if (room) {
            room = put_new(table, i, out, &cell, object);
        }
    }
    roof_text_add(out, "", 0); /* ends with a zero again */
}

void roof_table_object(struct roof_table *table, struct roof_text *out, const void *result,
                       const char *separator)
{
    put_cells(table, out, result, true, separator, false);
}

/* A row as an object: what is carried, as it came, and the fields. */
static void row_object(struct roof_table *table, struct roof_text *out, const void *result)
{
    bool begun = false;
    roof_text_put(out, "{");
    for (size_t i = 0; i < table->carried_count; i++) {
        const struct roof_carried *const carried = &table->carried[i];
        if (carried->json == NULL && *carried->text == '\0') {
            continue;
        }
        roof_text_put(out, begun ? "," : "");
        roof_json_quote(out, carried->name);
        roof_text_put(out, ":");
        if (carried->json == NULL) {
            roof_json_cell(out, carried->text);
        } else {
            roof_text_put(out, carried->quoted ? "\"" : "");
            roof_text_put(out, carried->json);
            roof_text_put(out, carried->quoted ? "\"" : "");
        }
        begun = true;
    }
    put_cells(table, out, result, true, "", begun);
    roof_text_put(out, "}");
}

static void csv_row(struct roof_table *table, struct roof_text *out, const void *result)
{
    for (size_t i = 0; i < table->carried_count; i++) {
        roof_csv_cell(out, table->carried[i].text);
        roof_text_add(out, ",", 1);
    }
    put_cells(table, out, result, false, "", false);
    roof_text_add(out, "\n", 1);
}

static void readable_row(const struct roof_table *table, struct roof_text *out, const void *result)
{
    const bool markdown = table->output == ROOF_OUTPUT_MARKDOWN;
    roof_text_put(out, markdown ? "|" : "");
    for (size_t i = 0; i < table->carried_count; i++) {
        const struct roof_carried *const carried = &table->carried[i];
        const char *const text = *carried->text == '\0' ? "-" : carried->text;
        if (markdown) {
            carried_markdown(out, text);
        } else {
            carried_text(out, carried, text);
        }
    }
    for (size_t i = 0; i < table->count; i++) {
        struct cell cell;
        fill_cell(&cell, &table->column[i], result);
        const char *const text = readable(&cell);
        if (markdown) {
            markdown_cell(out, text);
        } else {
            roof_text_put(out, i == 0 ? "" : "  ");
            padded(out, text, column_width(&table->column[i]), i + 1 == table->count);
        }
    }
    roof_text_put(out, "\n");
}

void roof_table_row(struct roof_table *table, struct roof_text *out, const void *result)
{
    switch (table->output) {
    case ROOF_OUTPUT_TEXT:
    case ROOF_OUTPUT_MARKDOWN:
        readable_row(table, out, result);
        break;
    case ROOF_OUTPUT_JSON:
        roof_text_put(out, table->rows == 0 ? "\n" : ",\n");
        row_object(table, out, result);
        break;
    case ROOF_OUTPUT_NDJSON:
        row_object(table, out, result);
        roof_text_put(out, "\n");
        break;
    case ROOF_OUTPUT_CSV:
        csv_row(table, out, result);
        break;
    }
    table->rows++;
}

void roof_table_end(struct roof_table *table, struct roof_text *out)
{
    if (table->output == ROOF_OUTPUT_JSON) {
        roof_text_put(out, table->rows == 0 ? "]\n" : "\n]\n");
    }
}

void roof_table_record(const struct roof_table *table, struct roof_text *out, const void *result)
{
    for (size_t i = 0; i < table->count; i++) {
        struct cell cell;
        fill_cell(&cell, &table->column[i], result);
        if (cell.kind != ABSENT) {
            roof_text_printf(out, "  %-20s %s\n", column_key(&table->column[i]), readable(&cell));
        }
    }
}
