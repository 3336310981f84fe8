// SPDX-License-Identifier: MIT
#include "predict/prediction_fields.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "operator/operator_fields.h"
#include "predict/calibration.h"
#include "predict/power.h"
#include "predict/predict_sizes.h"

/* --- predictions of operators -------------------------------------------------------------- */

/* The values of a prediction that do not lie in its struct under their own name. */
enum prediction_value {
    SCHEMA = 1,
    HARDWARE,
    HARDWARE_BASIS,
    OPERATOR,
    BOTTLENECK,
    EXPECTED_BOTTLENECK,
    EXPECTED_BASIS,
    EXPECTED_DEVICE,
    EXPECTED_STACK,
    EXPECTED_ROWS,
    EXPECTED_MAPE,
    SPARSE,
    LEAST_TIME,
    STATE_BYTES,
    POWER_TIME,
    ENERGY,
    POWER,
    DIMENSION /* this and the following numbers: the dimension of that number */
};

#define DERIVED_TEXT(value) .type = ROOF_TYPE_TEXT, .derived = (value)
#define AT(member) .offset = offsetof(struct roof_prediction, member)
#define NUMBER(member, unit_) .unit = ROOF_UNIT_##unit_, AT(member)
#define GIVEN(member, unit_) .type = ROOF_TYPE_GIVEN, NUMBER(member, unit_)
#define FORMAT(member) .type = ROOF_TYPE_PRECISION, AT(member)

static const struct roof_field identity_fields[] = {
    {.key = "schema", DERIVED_TEXT(SCHEMA)},
    {.key = "hardware", DERIVED_TEXT(HARDWARE), .width = -12},
    {.key = "hardware_basis", DERIVED_TEXT(HARDWARE_BASIS)},
};

static const struct roof_field operator_field = {.key = "operator", DERIVED_TEXT(OPERATOR)};

/* The formats of the roles, in their order: people see those that the time depends on. */
static const struct roof_field role_fields[ROOF_ROLE_COUNT] = {
    [ROOF_ROLE_WEIGHTS] = {.key = "weights", FORMAT(workload.formats.weights), .width = -8},
    [ROOF_ROLE_ACTIVATIONS] = {.key = "activations",
                               FORMAT(workload.formats.activations),
                               .width = -8,
                               .label = "acts"},
    [ROOF_ROLE_OUT] = {.key = "out", FORMAT(workload.formats.out), .width = -8},
    [ROOF_ROLE_KV] = {.key = "kv", FORMAT(workload.formats.kv), .width = -8},
};

static const struct roof_field prediction_fields[] = {
    {.key = "compute_precision", FORMAT(compute), .width = -8, .label = "computes"},
    {.key = "native", .type = ROOF_TYPE_FLAG, AT(native)},
    {.key = "flops", NUMBER(flops, FLOPS)},
    {.key = "bytes", NUMBER(bytes, BYTES)},
    {.key = "weights_bytes", NUMBER(role_bytes[ROOF_ROLE_WEIGHTS], BYTES)},
    {.key = "activations_bytes", NUMBER(role_bytes[ROOF_ROLE_ACTIVATIONS], BYTES)},
    {.key = "out_bytes", NUMBER(role_bytes[ROOF_ROLE_OUT], BYTES)},
    {.key = "kv_bytes", NUMBER(role_bytes[ROOF_ROLE_KV], BYTES)},
    {.key = "network_bytes", NUMBER(network_bytes, BYTES)},
    {.key = "arithmetic_intensity",
     NUMBER(intensity, FLOP_PER_BYTE),
     .width = 9,
     .label = "FLOP/byte"},
    {.key = "ridge_point", NUMBER(ridge, FLOP_PER_BYTE)},
    {.key = "memory_time_us", NUMBER(memory_time_s, MICROSECONDS)},
    {.key = "compute_time_us", NUMBER(compute_time_s, MICROSECONDS)},
    {.key = "network_time_us", NUMBER(network_time_s, MICROSECONDS)},
    {.key = "time_us", NUMBER(time_s, MICROSECONDS), .width = 9},
    {.key = "bottleneck", DERIVED_TEXT(BOTTLENECK), .width = -7, .label = "bound"},
    {.key = "attainable_tflops",
     NUMBER(attainable_flops_per_s, TFLOPS),
     .width = 8,
     .label = "TFLOPS"},
    {.key = "peak_tflops", GIVEN(peak_flops_per_s, TFLOPS)},
    {.key = "bandwidth_gb_s", GIVEN(bandwidth_bytes_per_s, GB_PER_S)},
    {.key = "fraction_of_peak", NUMBER(fraction_of_peak, NONE)},
    {.key = "expected_time_us",
     NUMBER(expected_s, MICROSECONDS),
     .width = 11,
     .label = "expected_us"},
    {.key = "expected_low_us", NUMBER(expected_low_s, MICROSECONDS)},
    {.key = "expected_high_us", NUMBER(expected_high_s, MICROSECONDS)},
    {.key = "expected_bottleneck", DERIVED_TEXT(EXPECTED_BOTTLENECK)},
    {.key = "expected_basis", DERIVED_TEXT(EXPECTED_BASIS)},
    {.key = "expected_device", DERIVED_TEXT(EXPECTED_DEVICE), .named = true},
    {.key = "expected_stack", DERIVED_TEXT(EXPECTED_STACK), .named = true},
    {.key = "expected_rows", .derived = EXPECTED_ROWS, .named = true},
    {.key = "expected_mape", .derived = EXPECTED_MAPE, .named = true},
    {.key = "measured_us", GIVEN(measured_s, MICROSECONDS)},
    {.key = "achieved_tflops", NUMBER(achieved_flops_per_s, TFLOPS)},
    {.key = "achieved_gb_s", NUMBER(achieved_bytes_per_s, GB_PER_S)},
    {.key = "fraction_of_bound", NUMBER(fraction_of_bound, NONE)},
    {.key = "sparse", .type = ROOF_TYPE_FLAG, .derived = SPARSE},
    {.key = "power_time_us", .unit = ROOF_UNIT_MICROSECONDS, .derived = POWER_TIME},
    {.key = "energy_j", .unit = ROOF_UNIT_JOULES, .derived = ENERGY},
    {.key = "power_w", .unit = ROOF_UNIT_WATTS, .derived = POWER},
};

/* Operators with routed experts have it. */
static const struct roof_field least_field = {.key = "least_time_us", .derived = LEAST_TIME};

/* Operators with a state have it. */
static const struct roof_field state_field = {
    .key = "state_bytes_per_sequence", .unit = ROOF_UNIT_BYTES, .derived = STATE_BYTES};

/* The roles whose formats people want to see in a table, as bits. */
static unsigned shown_roles(enum roof_operator op)
{
    const unsigned acts = 1U << ROOF_ROLE_ACTIVATIONS;
    const unsigned out = 1U << ROOF_ROLE_OUT;
    if (op == ROOF_OPERATOR_COUNT) {
        return ~0U;
    }
    const struct roof_operator_row *const row = roof_operator_row(op);
    if (op == ROOF_OPERATOR_EMBEDDING) {
        return 1U << ROOF_ROLE_WEIGHTS | out;
    }
    if (row->other == ROOF_ROLE_KV || roof_is_product(op)) {
        return 1U << row->other | acts;
    }
    return acts | out;
}

static void add_dimension(struct roof_fields *out, enum roof_dimension dimension, int part)
{
    const struct roof_field field = roof_dimension_field(dimension, DIMENSION + (int)dimension);
    roof_fields_add(out, &field, 1, part);
}

/* Adds what stands in every row of an operator, whichever device it runs on. */
static void add_operator_fields(struct roof_fields *out, enum roof_operator op, int part)
{
    roof_fields_add(out, &operator_field, 1, part);
    if (op == ROOF_OPERATOR_COUNT) {
        for (int i = 0; i < ROOF_DIM_COUNT; i++) {
            add_dimension(out, (enum roof_dimension)i, part);
        }
    } else {
        const struct roof_operator_row *const row = roof_operator_row(op);
        for (int i = 0; i < row->dim_count; i++) {
            add_dimension(out, row->dims[i], part);
        }
    }
    const unsigned shown = shown_roles(op);
    for (int role = 0; role < ROOF_ROLE_COUNT; role++) {
        struct roof_field field = role_fields[role];
        field.hidden = (shown >> role & 1) == 0;
        roof_fields_add(out, &field, 1, part);
    }
    roof_fields_add(out, prediction_fields, COUNT(prediction_fields), part);
    if (op == ROOF_OPERATOR_COUNT || roof_operator_has(op, ROOF_DIM_ROUTING)) {
        roof_fields_add(out, &least_field, 1, part);
    }
    if (op == ROOF_OPERATOR_COUNT || roof_operator_row(op)->stateful) {
        roof_fields_add(out, &state_field, 1, part);
    }
}

void roof_prediction_fields(struct roof_fields *out, enum roof_operator op, int part)
{
    roof_fields_add(out, identity_fields, COUNT(identity_fields), part);
    add_operator_fields(out, op, part);
}

/* Returns the fit of the kernel of an operator; NULL: it has no expected time, or several kernels.
 */
static const struct roof_kernel_fit *fit_of(const struct roof_prediction *p)
{
    return isnan(p->expected_s) || p->part_count != 1 ? NULL : p->part[0].expected.fit;
}

/* Returns the device whose kernels an expected time uses; NULL: there is none, or several. */
static const char *device_of(const struct roof_prediction *p)
{
    if (isnan(p->expected_s)) {
        return NULL;
    }
    const char *const device = p->part[0].expected.fit->device;
    for (int i = 1; i < p->part_count; i++) {
        const char *const other = p->part[i].expected.fit->device;
        if (device == NULL || other == NULL || strcmp(device, other) != 0) {
            return NULL;
        }
    }
    return device;
}

/* Reads a value of the fits behind an expected time. */
static void derive_of_fit(struct roof_value *out, enum prediction_value wanted,
                          const struct roof_prediction *p)
{
    const struct roof_kernel_fit *const fit = fit_of(p);
    if (wanted == EXPECTED_DEVICE) {
        out->text = device_of(p);
    } else if (wanted == EXPECTED_STACK) {
        out->text = fit == NULL ? NULL : roof_stack_name(fit->stack);
    } else {
        out->number = fit == NULL               ? ROOF_UNKNOWN
                      : wanted == EXPECTED_ROWS ? (double)fit->rows
                                                : fit->mape;
    }
}

/* Reads a value that predictions of operators and of models have. */
static void derive(struct roof_value *out, enum prediction_value wanted,
                   const struct roof_prediction *p)
{
    switch (wanted) {
    case SCHEMA:
        out->text = "roofline/prediction/1";
        break;
    case HARDWARE:
        out->text = p->hardware->id;
        break;
    case HARDWARE_BASIS:
        out->text = roof_basis_name(p->hardware->basis);
        break;
    case OPERATOR:
        out->text = roof_operator_row(p->workload.op)->name;
        break;
    case BOTTLENECK:
        out->text = roof_bottleneck_name(p->bottleneck);
        break;
    case EXPECTED_BOTTLENECK:
        out->text = isnan(p->expected_s) ? NULL : roof_bottleneck_name(p->expected_bottleneck);
        break;
    case EXPECTED_BASIS:
        out->text = isnan(p->expected_s) ? NULL : p->expected_near ? "nearest" : "measured";
        break;
    case EXPECTED_DEVICE:
    case EXPECTED_STACK:
    case EXPECTED_ROWS:
    case EXPECTED_MAPE:
        derive_of_fit(out, wanted, p);
        break;
    case SPARSE: /* shown only if it was asked for */
        out->number = p->workload.sparse == 0 ? ROOF_UNKNOWN : p->sparse ? 1 : 0;
        break;
    case LEAST_TIME:
        out->number = roof_to_unit(roof_least_time(p), ROOF_UNIT_MICROSECONDS);
        break;
    case STATE_BYTES:
        out->number = roof_sequence_state_bytes(p);
        break;
    case POWER_TIME:
        out->number = roof_power_of(p).power_time_s;
        break;
    case ENERGY:
        out->number = roof_power_of(p).energy_j;
        break;
    case POWER:
        out->number = roof_power_of(p).power_w;
        break;
    case DIMENSION:
        break;
    }
}

void roof_prediction_values(struct roof_value *out, const struct roof_fields *fields, int part,
                            const struct roof_prediction *prediction)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct roof_field *const field = &fields->field[i];
        if (field->part != part) {
            continue;
        }
        if (field->derived == 0) {
            roof_field_read(&out[i], field, (const char *)prediction);
        } else if (field->derived < DIMENSION) {
            out[i] = (struct roof_value){.number = ROOF_UNKNOWN};
            derive(&out[i], (enum prediction_value)field->derived, prediction);
        } else {
            out[i] = roof_dimension_value(&prediction->workload,
                                          (enum roof_dimension)(field->derived - DIMENSION));
        }
    }
}

bool roof_prediction_has_key(const char *key)
{
    struct roof_fields fields = {0};
    roof_prediction_fields(&fields, ROOF_OPERATOR_COUNT, 0);
    return roof_fields_find(&fields, key) != NULL;
}

#undef AT

/* --- the operators of a model -------------------------------------------------------------- */

#define NODE_HOST 1
#define NODE 0 /* the parts of a node's prediction */
#define NODE_PREDICTION 1
#define AT(member) .offset = offsetof(struct roof_node_prediction, member)

static const struct roof_field node_fields[] = {
    {.key = "name", .type = ROOF_TYPE_TEXT, AT(node.name)},
    {.key = "count", .type = ROOF_TYPE_INTEGER, AT(node.count)},
    {.key = "device_count", .type = ROOF_TYPE_INTEGER, AT(device_count)},
    {.key = "host", DERIVED_TEXT(NODE_HOST)},
};

void roof_node_fields(struct roof_fields *out, enum roof_operator op)
{
    roof_fields_add(out, node_fields, COUNT(node_fields), NODE);
    add_operator_fields(out, op, NODE_PREDICTION);
}

void roof_node_values(struct roof_value *out, const struct roof_fields *fields,
                      const struct roof_node_prediction *node)
{
    roof_fields_read(out, fields, NODE, (const char *)node);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->field[i].part == NODE && fields->field[i].derived == NODE_HOST) {
            out[i].text = node->node.host != NULL ? node->node.host->id : NULL;
        }
    }
    roof_prediction_values(out, fields, NODE_PREDICTION, &node->prediction);
}

#undef AT

/* --- predictions of models ----------------------------------------------------------------- */

/* The values of a model's prediction that are not among those of its totals. */
enum model_prediction_value {
    MODEL_SCHEMA = DIMENSION + 1, /* behind those of enum prediction_value that are used here */
    MODEL_ID,
    DRAFT_MODEL,
    ACCEPTANCE,
    PREFIX_HIT,
    STATIC,
    FUSE,
    HOST_GAP,
    SERIAL,
    ENGINE_STEP,
    ENGINE_REQUEST,
    STEP_SCALE,
    STACK,
    LAYOUT,
    WEIGHTS,
    MODEL_LEAST_TIME,
    HOST_ID,
    HOST_BANDWIDTH,
    HOST_FITS,
    FITS
};

/* The times that are sums over operators. */
enum printed_time {
    MODEL_MEMORY_TIME = FITS + 1,
    MODEL_COMPUTE_TIME,
    MODEL_NETWORK_TIME,
    MODEL_TIME
};

#define AT(member) .offset = offsetof(struct roof_model_prediction, member)
#define ASKED(member) .type = ROOF_TYPE_POSITIVE, AT(scenario.member)

/* Totals stand under the keys that they have in predictions of operators. */
static const struct roof_field model_prediction_fields[] = {
    {.key = "schema", DERIVED_TEXT(MODEL_SCHEMA)},
    {.key = "hardware", DERIVED_TEXT(HARDWARE), .width = -12},
    {.key = "hardware_basis", DERIVED_TEXT(HARDWARE_BASIS)},
    {.key = "model", DERIVED_TEXT(MODEL_ID), .width = -14},
    {.key = "phase", .type = ROOF_TYPE_TEXT, AT(phase), .width = -7},
    {.key = "batch", ASKED(common.shape.batch), .width = 5},
    {.key = "context", ASKED(context), .width = 7},
    {.key = "chunk", ASKED(chunk)},
    {.key = "prefill_batch", ASKED(prefill_batch)},
    {.key = "prefill_context", ASKED(prefill_context)},
    {.key = "prompt", ASKED(prompt)},
    {.key = "generate", ASKED(generate)},
    {.key = "static", .type = ROOF_TYPE_FLAG, .derived = STATIC},
    {.key = "draft_tokens", ASKED(draft_tokens)},
    {.key = "draft_model", DERIVED_TEXT(DRAFT_MODEL)},
    {.key = "acceptance", .derived = ACCEPTANCE},
    {.key = "prefix_hit", .derived = PREFIX_HIT},
    {.key = "tp", ASKED(tp), .width = 2},
    {.key = "pp", ASKED(pp), .width = 2},
    {.key = "ep", ASKED(common.shape.ep), .width = 2},
    {.key = "attention_dp", ASKED(attention_dp)},
    {.key = "moe_tp", ASKED(moe_tp)},
    {.key = "moe_ep", ASKED(moe_ep)},
    {.key = "dp", ASKED(dp)},
    {.key = "devices", NUMBER(devices, NONE)},
    {.key = "images", ASKED(media.images)},
    {.key = "image_size", .type = ROOF_TYPE_CHARS, AT(image_size)},
    {.key = "image_tokens", NUMBER(image_tokens, NONE)},
    {.key = "audio", ASKED(media.audio)},
    {.key = "audio_length_s", ASKED(media.audio_length_s)},
    {.key = "audio_tokens", NUMBER(audio_tokens, NONE)},
    {.key = "fuse", DERIVED_TEXT(FUSE)},
    {.key = "host_gap_us", .derived = HOST_GAP},
    {.key = "launches", NUMBER(launches, NONE)},
    {.key = "serial_ms", .derived = SERIAL},
    {.key = "engine_host_ms", .derived = ENGINE_STEP},
    {.key = "engine_request_ms", .derived = ENGINE_REQUEST},
    {.key = "engine_launches_ms", NUMBER(engine_launches_s, MILLISECONDS)},
    {.key = "step_scale", .derived = STEP_SCALE},
    {.key = "host_ms", NUMBER(host_s, MILLISECONDS)},
    {.key = "offload", .type = ROOF_TYPE_CHARS, AT(offload)},
    {.key = "host", DERIVED_TEXT(HOST_ID)},
    {.key = "host_bandwidth_gb_s", .derived = HOST_BANDWIDTH},
    {.key = "offloaded_ms", NUMBER(offloaded_s, MILLISECONDS)},
    {.key = "stack", DERIVED_TEXT(STACK)},
    {.key = "layout", DERIVED_TEXT(LAYOUT)},
    {.key = "weights", DERIVED_TEXT(WEIGHTS), .width = -8},
    {.key = "activations",
     FORMAT(total.workload.formats.activations),
     .width = -8,
     .label = "acts"},
    {.key = "out", FORMAT(total.workload.formats.out)},
    {.key = "kv", FORMAT(total.workload.formats.kv), .width = -8},
    {.key = "native", .type = ROOF_TYPE_FLAG, AT(total.native)},
    {.key = "flops", NUMBER(total.flops, FLOPS)},
    {.key = "bytes", NUMBER(total.bytes, BYTES)},
    {.key = "weights_bytes", NUMBER(total.role_bytes[ROOF_ROLE_WEIGHTS], BYTES)},
    {.key = "activations_bytes", NUMBER(total.role_bytes[ROOF_ROLE_ACTIVATIONS], BYTES)},
    {.key = "out_bytes", NUMBER(total.role_bytes[ROOF_ROLE_OUT], BYTES)},
    {.key = "kv_bytes", NUMBER(total.role_bytes[ROOF_ROLE_KV], BYTES)},
    {.key = "network_bytes", NUMBER(total.network_bytes, BYTES)},
    {.key = "arithmetic_intensity", NUMBER(total.intensity, FLOP_PER_BYTE)},
    {.key = "memory_time_us", .derived = MODEL_MEMORY_TIME},
    {.key = "compute_time_us", .derived = MODEL_COMPUTE_TIME},
    {.key = "network_time_us", .derived = MODEL_NETWORK_TIME},
    {.key = "power_time_us", NUMBER(power_time_s, MICROSECONDS)},
    {.key = "time_us", .derived = MODEL_TIME},
    {.key = "bottleneck", DERIVED_TEXT(BOTTLENECK), .width = -7, .label = "bound"},
    {.key = "attainable_tflops", NUMBER(total.attainable_flops_per_s, TFLOPS)},
    {.key = "bandwidth_gb_s", GIVEN(total.bandwidth_bytes_per_s, GB_PER_S)},
    {.key = "weights_memory_bytes", NUMBER(weights_memory_bytes, CAPACITY)},
    {.key = "kv_cache_bytes", NUMBER(kv_cache_bytes, CAPACITY)},
    {.key = "kv_bytes_per_token", NUMBER(kv_bytes_per_token, BYTES)},
    {.key = "kv_bytes_per_further_token", NUMBER(kv_bytes_per_further_token, BYTES)},
    {.key = "activation_memory_bytes", NUMBER(activation_memory_bytes, CAPACITY)},
    {.key = "memory_capacity_bytes", NUMBER(memory_capacity_bytes, CAPACITY)},
    {.key = "memory_reserve_bytes", NUMBER(memory_reserve_bytes, CAPACITY)},
    {.key = "host_memory_bytes", NUMBER(host_memory_bytes, CAPACITY)},
    {.key = "host_capacity_bytes", NUMBER(host_capacity_bytes, CAPACITY)},
    {.key = "host_fits", .type = ROOF_TYPE_FLAG, .derived = HOST_FITS},
    {.key = "fits", .type = ROOF_TYPE_FLAG, .derived = FITS, .width = -4},
    {.key = "ttft_ms", NUMBER(ttft_s, MILLISECONDS), .width = 8},
    {.key = "tpot_ms", NUMBER(tpot_s, MILLISECONDS), .width = 8},
    {.key = "e2e_ms", NUMBER(e2e_s, MILLISECONDS)},
    {.key = "step_ms", NUMBER(step_s, MILLISECONDS)},
    {.key = "draft_ms", NUMBER(draft_s, MILLISECONDS)},
    {.key = "tokens_per_step", NUMBER(tokens_per_step, NONE)},
    {.key = "tokens_per_s", NUMBER(tokens_per_s, NONE), .width = 9, .label = "tokens/s"},
    {.key = "tokens_per_s_per_user",
     NUMBER(tokens_per_s_per_user, NONE),
     .width = 10,
     .label = "tok/s/user"},
    {.key = "energy_j", NUMBER(energy_j, JOULES)},
    {.key = "power_w", NUMBER(power_w, WATTS)},
    {.key = "joule_per_token", NUMBER(joule_per_token, NONE)},
    {.key = "expected_time_us", NUMBER(total.expected_s, MICROSECONDS)},
    {.key = "expected_low_us", NUMBER(total.expected_low_s, MICROSECONDS)},
    {.key = "expected_high_us", NUMBER(total.expected_high_s, MICROSECONDS)},
    {.key = "expected_bottleneck", DERIVED_TEXT(EXPECTED_BOTTLENECK)},
    {.key = "expected_basis", DERIVED_TEXT(EXPECTED_BASIS)},
    {.key = "expected_near_fraction", NUMBER(expected_near, NONE)},
    {.key = "expected_step_ms", NUMBER(expected_step_s, MILLISECONDS)},
    {.key = "expected_ttft_ms",
     NUMBER(expected_ttft_s, MILLISECONDS),
     .width = 11,
     .label = "exp_ttft_ms"},
    {.key = "expected_tpot_ms",
     NUMBER(expected_tpot_s, MILLISECONDS),
     .width = 11,
     .label = "exp_tpot_ms"},
    {.key = "expected_e2e_ms", NUMBER(expected_e2e_s, MILLISECONDS)},
    {.key = "expected_tokens_per_s",
     NUMBER(expected_tokens_per_s, NONE),
     .width = 9,
     .label = "exp_tok/s"},
    {.key = "expected_tokens_per_s_per_user", NUMBER(expected_tokens_per_s_per_user, NONE)},
    {.key = "least_time_us", .derived = MODEL_LEAST_TIME},
    {.key = "state_bytes", NUMBER(state_bytes, CAPACITY)},
};

void roof_model_prediction_fields(struct roof_fields *out)
{
    roof_fields_add(out, model_prediction_fields, COUNT(model_prediction_fields), 0);
}

/* Derives a time of the engine on the host, where there is one. */
static double engine_ms(enum model_prediction_value wanted, const struct roof_scenario *s)
{
    const enum roof_stack stack = (enum roof_stack)s->common.stack;
    const double time_s =
        wanted == ENGINE_STEP ? roof_scenario_host_s(s, stack) : s->host_time[stack].request_s;
    return time_s > 0 ? roof_to_unit(time_s, ROOF_UNIT_MILLISECONDS) : ROOF_UNKNOWN;
}

/* Derives a value of the host, where something is offloaded to it. */
static void derive_host(struct roof_value *out, enum model_prediction_value wanted,
                        const struct roof_model_prediction *p)
{
    const struct roof_hardware *const host = p->scenario.host;
    const bool used = p->scenario.offload != ROOF_OFFLOAD_NONE;
    const bool known = !isnan(p->host_memory_bytes) && !isnan(p->host_capacity_bytes);
    if (wanted == ENGINE_STEP || wanted == ENGINE_REQUEST) {
        out->number = engine_ms(wanted, &p->scenario);
    } else if (wanted == HOST_ID) {
        out->text = used ? host->id : NULL;
    } else if (wanted == HOST_BANDWIDTH) {
        out->number =
            used ? roof_to_unit(host->figure[ROOF_FIGURE_BANDWIDTH].value, ROOF_UNIT_GB_PER_S)
                 : ROOF_UNKNOWN;
    } else {
        out->number = !known                                           ? ROOF_UNKNOWN
                      : p->host_memory_bytes <= p->host_capacity_bytes ? 1
                                                                       : 0;
    }
}

/* Returns a time of a prediction in the unit that is printed. */
static double printed_us(const struct roof_prediction *p, enum printed_time wanted)
{
    const double time_s = wanted == MODEL_MEMORY_TIME    ? p->memory_time_s
                          : wanted == MODEL_COMPUTE_TIME ? p->compute_time_s
                          : wanted == MODEL_NETWORK_TIME ? p->network_time_s
                                                         : p->time_s;
    return roof_to_unit(time_s, ROOF_UNIT_MICROSECONDS);
}

/* Adds up a time of the operators as it is printed, so that the sum equals that of printed
 * operators to the last bit. Most operators have no time of the network. A request has no
 * operators, but times of its own. */
static double sum_us(const struct roof_model_prediction *p, enum printed_time wanted)
{
    const bool absent = wanted == MODEL_NETWORK_TIME;
    double sum = absent ? ROOF_UNKNOWN : 0;
    for (size_t i = 0; i < p->count; i++) {
        const double us =
            (double)p->node[i].node.count * printed_us(&p->node[i].prediction, wanted);
        if (!absent || !isnan(us)) {
            sum = absent && isnan(sum) ? us : sum + us;
        }
    }
    return p->count > 0 ? sum : printed_us(&p->total, wanted);
}

/* Returns a time that was given, in a unit; ROOF_UNKNOWN where there is none. */
static double unless_none(double time_s, enum roof_unit unit)
{
    return time_s > 0 ? roof_to_unit(time_s, unit) : ROOF_UNKNOWN;
}

/* Returns the stack whose kernels the estimate uses; NULL where it is the fastest of all. */
static const char *stack_of(const struct roof_scenario *scenario)
{
    const enum roof_stack stack = (enum roof_stack)scenario->common.stack;
    return stack == ROOF_STACK_BEST ? NULL : roof_stack_name(stack);
}

static void derive_of_model(struct roof_value *out, enum model_prediction_value wanted,
                            const struct roof_model_prediction *p)
{
    const struct roof_scenario *const scenario = &p->scenario;
    switch (wanted) {
    case MODEL_SCHEMA:
        out->text = "roofline/model-prediction/1";
        break;
    case MODEL_ID:
        out->text = p->model->id;
        break;
    case DRAFT_MODEL:
        out->text = roof_drafter_name(scenario, p->model);
        break;
    case ACCEPTANCE:
        out->number = scenario->draft_tokens > 0 ? scenario->acceptance : ROOF_UNKNOWN;
        break;
    case PREFIX_HIT:
        out->number = scenario->prefix_hit > 0 ? scenario->prefix_hit : ROOF_UNKNOWN;
        break;
    case STATIC:
        out->number = scenario->phase != ROOF_PHASE_REQUEST ? ROOF_UNKNOWN
                      : scenario->static_batch > 0          ? 1
                                                            : 0;
        break;
    case FUSE:
        out->text = scenario->fuse == ROOF_FUSE_DEFAULT ? NULL : roof_fuse_names[scenario->fuse];
        break;
    case HOST_GAP:
        out->number = unless_none(scenario->host_gap_s, ROOF_UNIT_MICROSECONDS);
        break;
    case SERIAL:
        out->number = unless_none(scenario->serial_s, ROOF_UNIT_MILLISECONDS);
        break;
    case STEP_SCALE:
        out->number = scenario->common.step_scale == 1 ? ROOF_UNKNOWN : scenario->common.step_scale;
        break;
    case STACK:
        out->text = stack_of(scenario);
        break;
    case LAYOUT:
        out->text = p->model->layout;
        break;
    case WEIGHTS: /* not where a layout or a file decides */
        out->text =
            p->model->layout != NULL ? NULL : roof_format(p->total.workload.formats.weights)->name;
        break;
    case MODEL_LEAST_TIME:
        out->number = roof_to_unit(roof_model_least_time(p), ROOF_UNIT_MICROSECONDS);
        break;
    case FITS:
        out->number = p->fits == ROOF_FIT_UNKNOWN ? ROOF_UNKNOWN : p->fits == ROOF_FIT_YES ? 1 : 0;
        break;
    default:
        derive_host(out, wanted, p);
        break;
    }
}

void roof_model_prediction_values(struct roof_value *out, const struct roof_fields *fields,
                                  const struct roof_model_prediction *prediction)
{
    roof_fields_read(out, fields, 0, (const char *)prediction);
    for (size_t i = 0; i < fields->count; i++) {
        const int derived = fields->field[i].derived;
        if (derived > FITS) {
            out[i].number = sum_us(prediction, (enum printed_time)derived);
        } else if (derived > DIMENSION) {
            derive_of_model(&out[i], (enum model_prediction_value)derived, prediction);
        } else if (derived != 0) {
            derive(&out[i], (enum prediction_value)derived, &prediction->total);
        }
    }
}

bool roof_model_prediction_has_key(const char *key)
{
    struct roof_fields fields = {0};
    roof_model_prediction_fields(&fields);
    return roof_fields_find(&fields, key) != NULL;
}
