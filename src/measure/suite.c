// SPDX-License-Identifier: MIT
#include "measure/suite.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/quantity.h"
#include "measure/timing.h"

/* A suite has at most so many tasks. */
#define TASKS_MAX 640

struct suite {
    struct roof_meter_task task[TASKS_MAX];
    size_t count;
    size_t
        needed; /* the first of them, without which a device is not whole: they are all measured */
};

/* --- what is measured ---------------------------------------------------------------------- */

/* The memory level is measured over so many bytes at least, and over so many times all caches. */
#define MEMORY_BYTES ((int64_t)128 << 20)
#define MEMORY_CACHES 4
/* The link to the host is measured with so many bytes: the start of a copy is a small part of its
 * time, and caches of the host may hold them, since its memory is not what is measured. */
#define LINK_BYTES ((int64_t)64 << 20)

int64_t roof_level_bytes(const struct roof_meter_device *device, size_t level)
{
    int64_t most = 0;
    for (size_t i = 0; i < device->level_count; i++) {
        most = device->level[i].bytes > most ? device->level[i].bytes : most;
    }
    const int64_t memory = MEMORY_CACHES * most;
    return device->level[level].bytes > 0 ? device->level[level].bytes / 2
           : memory > MEMORY_BYTES        ? memory
                                          : MEMORY_BYTES;
}

static void add(struct suite *out, const struct roof_meter *meter, const struct roof_bench *bench,
                const struct roof_meter_task *task)
{
    struct roof_meter_task resolved = *task;
    const bool valid = task->probe != ROOF_PROBE_OPERATOR ||
                       roof_workload_resolve(&resolved.workload, NULL) == ROOF_OK;
    if (valid && out->count < TASKS_MAX && meter->able(bench, &resolved)) {
        out->task[out->count++] = resolved;
    }
}

static void add_probes(struct suite *out, const struct roof_meter *meter,
                       const struct roof_bench *bench, const struct roof_meter_device *device)
{
    for (size_t level = device->level_count; level-- > 0;) {
        for (int probe = ROOF_PROBE_READ; probe <= ROOF_PROBE_TRIAD; probe++) {
            add(out, meter, bench,
                &(struct roof_meter_task){.probe = (enum roof_probe)probe,
                                          .bytes = roof_level_bytes(device, level)});
        }
    }
    for (int probe = ROOF_PROBE_TO_DEVICE; probe <= ROOF_PROBE_FROM_DEVICE; probe++) {
        add(out, meter, bench,
            &(struct roof_meter_task){.probe = (enum roof_probe)probe, .bytes = LINK_BYTES});
    }
    for (int unit = ROOF_COMPUTE_MATRIX; unit <= ROOF_COMPUTE_VECTOR; unit++) {
        for (int format = 0; format < ROOF_PRECISION_COUNT; format++) {
            add(out, meter, bench,
                &(struct roof_meter_task){.probe = ROOF_PROBE_MULTIPLY,
                                          .format = (enum roof_precision)format,
                                          .unit = (enum roof_compute_unit)unit});
        }
    }
    add(out, meter, bench, &(struct roof_meter_task){.probe = ROOF_PROBE_LAUNCH});
}

struct side {
    int64_t n, k;
};

/* The sizes of products, the most telling ones first. A list of tokens ends with 0. */
struct sizes {
    const int64_t *tokens;
    const struct side *side;
    size_t sides;
};
static const struct side sides_of_hosts[] = {
    {4096, 1024}, {1024, 4096}, {2048, 2048}, {8192, 2048}, {1024, 1024}};
static const struct side sides_of_gpus[] = {{4096, 4096}, {28672, 4096}, {4096, 14336},
                                            {6144, 4096}, {8192, 8192},  {2048, 2048}};
static const struct sizes sizes_of_hosts = {(const int64_t[]){1, 128, 16, 512, 4, 2, 8, 32, 0},
                                            sides_of_hosts, COUNT(sides_of_hosts)};
/* They have rows on both sides of where memory and arithmetic take the same time. */
static const struct sizes sizes_of_gpus = {
    (const int64_t[]){1, 4096, 256, 16, 1024, 64, 512, 4, 2048, 128, 32, 8, 8192, 2, 0},
    sides_of_gpus, COUNT(sides_of_gpus)};

struct roof_meter_task roof_suite_product(const struct roof_meter_device *device,
                                          enum roof_precision weights, int64_t m, int64_t n,
                                          int64_t k)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    const bool converted = device->host && roof_precision_bits(weights) <= 16;
    task.workload.op = ROOF_OPERATOR_GEMM;
    task.workload.formats.weights = weights;
    task.workload.formats.activations = converted ? ROOF_PRECISION_FP16 : weights;
    if (weights == ROOF_PRECISION_INT8 && !device->host) {
        task.workload.formats.out = ROOF_PRECISION_FP32; /* integers of as many bits */
    }
    task.workload.shape.m = m;
    task.workload.shape.n = n;
    task.workload.shape.k = k;
    return task;
}

/* An operator that streams rows: of fp32 on a CPU, of 16 bits on a GPU. */
static struct roof_meter_task rows(const struct roof_meter_device *device, enum roof_operator op,
                                   int64_t tokens, int64_t hidden)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    struct roof_shape *const s = &task.workload.shape;
    task.workload.op = op;
    task.workload.formats.precision = device->host ? ROOF_PRECISION_FP32 : ROOF_PRECISION_FP16;
    s->tokens = tokens;
    if (op == ROOF_OPERATOR_ROPE) {
        s->head_dim = 64;
        s->heads = hidden / 64;
        s->kv_heads = s->heads / 4;
    } else {
        s->hidden = hidden;
    }
    return task;
}

static struct roof_meter_task attention(int64_t batch, int64_t queries, int64_t keys, int64_t heads,
                                        int64_t dim)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    struct roof_shape *const s = &task.workload.shape;
    task.workload.op = ROOF_OPERATOR_FLASH_ATTENTION;
    task.workload.formats.precision = ROOF_PRECISION_FP16;
    *s = (struct roof_shape){.batch = batch,
                             .heads = heads,
                             .kv_heads = heads / 4,
                             .head_dim = dim,
                             .query_len = queries,
                             .kv_len = keys,
                             .causal = queries > 1};
    return task;
}

/* Routed experts with weights of a format: those of a large model, but fewer, or small ones. */
static struct roof_meter_task experts(const struct roof_meter_device *device,
                                      enum roof_precision weights, int64_t tokens, bool large)
{
    struct roof_meter_task task = roof_suite_product(device, weights, 0, 0, 0);
    task.workload.op = ROOF_OPERATOR_MOE;
    task.workload.shape.tokens = tokens;
    task.workload.shape.hidden = large ? 2048 : 1024;
    task.workload.shape.intermediate = large ? 768 : 512;
    task.workload.shape.experts = large ? 16 : 32;
    task.workload.shape.top_k = large ? 2 : 4;
    return task;
}

/* From 16 bits to 8, as before products in 8 bits. */
static struct roof_meter_task quantize(int64_t tokens, int64_t hidden)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    task.workload.op = ROOF_OPERATOR_QUANTIZE;
    task.workload.formats.activations = ROOF_PRECISION_FP16;
    task.workload.formats.out = ROOF_PRECISION_INT8;
    task.workload.shape.tokens = tokens;
    task.workload.shape.hidden = hidden;
    return task;
}

/* A product for each head, as of latent attention that is absorbed. */
static struct roof_meter_task product_of_heads(enum roof_precision format, int64_t tokens)
{
    struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
    struct roof_shape *const s = &task.workload.shape;
    task.workload.op = ROOF_OPERATOR_BMM;
    task.workload.formats.weights = task.workload.formats.activations = format;
    *s = (struct roof_shape){.batch = 128, .m = tokens, .n = 512, .k = 128};
    return task;
}

bool roof_suite_able(const struct roof_meter *meter, const struct roof_bench *bench,
                     enum roof_precision format)
{
    struct roof_meter_device device;
    meter->describe(&device, bench);
    struct roof_meter_task task =
        roof_suite_product(&device, format, 1, sides_of_hosts[0].n, sides_of_hosts[0].k);
    return roof_workload_resolve(&task.workload, NULL) == ROOF_OK && meter->able(bench, &task);
}

/* The most sequences that decode at once, of 2048 tokens each, and how many longer ones do. */
#define BATCH_MAX ((int64_t)256)
#define LONG_BATCH 16

/* Adds operators that stream rows, and attention, of a number of tokens. */
static void add_others(struct suite *out, const struct roof_meter *meter,
                       const struct roof_bench *bench, const struct roof_meter_device *device,
                       int64_t tokens, bool first)
{
    static const enum roof_operator ops[] = {ROOF_OPERATOR_RMSNORM, ROOF_OPERATOR_ADD,
                                             ROOF_OPERATOR_SILU_MUL, ROOF_OPERATOR_ROPE};
    struct roof_meter_task task;
    for (size_t i = 0; i < COUNT(ops); i++) {
        task = rows(device, ops[i], tokens, first ? 2048 : 4096);
        add(out, meter, bench, &task);
    }
    if (!device->host) {
        task = quantize(tokens, first ? 2048 : 4096);
        add(out, meter, bench, &task);
    }
    /* Decode has one query whatever the tokens are: its length varies instead, and on GPUs, which
     * decode for many users at once, the batch. */
    task = device->host ? attention(1, 1, first ? 32 * tokens : 16 * tokens, first ? 16 : 32, 64)
           : first      ? attention(1, 1, 32 * tokens, 32, 128)
           : tokens <= BATCH_MAX ? attention(tokens, 1, 2048, 32, 128)
                                 : attention(LONG_BATCH, 1, 4 * tokens, 32, 128);
    add(out, meter, bench, &task);
    if (tokens > 1) {
        const int64_t keys = first ? tokens : 4 * tokens;
        task =
            device->host ? attention(1, tokens, keys, 16, 64) : attention(1, tokens, keys, 32, 128);
        add(out, meter, bench, &task);
    }
}

/* Products of heads are so many tokens at most, and in so many rounds. */
#define HEADS_TOKENS ((int64_t)1024)
#define HEADS_ROUNDS 6

static void add_products_of_heads(struct suite *out, const struct roof_meter *meter,
                                  const struct roof_bench *bench,
                                  const struct roof_suite_formats *formats, int64_t tokens)
{
    for (size_t i = 0; i < formats->count; i++) {
        const struct roof_meter_task task = product_of_heads(formats->format[i], tokens);
        add(out, meter, bench, &task);
    }
}

/* Adds collectives of 16-bit numbers over all devices, and over two of them. Smaller messages would
 * show the time of the host, which queues them on each device. */
static void add_collectives(struct suite *out, const struct roof_meter *meter,
                            const struct roof_bench *bench, const struct roof_meter_device *device)
{
    static const enum roof_operator ops[] = {ROOF_OPERATOR_ALL_REDUCE, ROOF_OPERATOR_ALL_GATHER};
    static const int64_t mib[] = {64, 1, 16, 4, 256};
    const int groups[] = {device->devices, 2};
    const size_t count = device->devices < 2 ? 0 : device->devices == 2 ? 1 : COUNT(groups);
    for (size_t g = 0; g < count; g++) {
        for (size_t i = 0; i < COUNT(ops) * COUNT(mib); i++) {
            struct roof_meter_task task = {.workload = ROOF_WORKLOAD_INIT};
            task.workload.op = ops[i % COUNT(ops)];
            task.workload.formats.precision = ROOF_PRECISION_BF16;
            task.workload.shape.devices = groups[g];
            task.workload.shape.elements =
                (mib[i / COUNT(ops)] << 19) / groups[g] * groups[g]; /* of two bytes */
            add(out, meter, bench, &task);
        }
    }
}

/* The rounds by which experts come later than other products, because fewer models have them. */
#define ROUNDS_LARGE 2
#define ROUNDS_SMALL 6

/* Adds experts of formats that models with experts have. */
static void add_experts(struct suite *out, const struct roof_meter *meter,
                        const struct roof_bench *bench, const struct roof_meter_device *device,
                        const struct roof_suite_formats *formats, int64_t tokens, bool large)
{
    for (size_t i = 0; i < formats->count; i++) {
        const enum roof_precision format = formats->format[i];
        const struct roof_meter_task task = experts(device, format, tokens, large);
        if (roof_precision_bits(format) <= 16) {
            add(out, meter, bench, &task);
        }
    }
}

/* The rounds in which every kernel occurs, except experts. */
#define ROUNDS_NEEDED 2

/* Lists the tasks: round by round further sizes, so that any beginning of the list is balanced. */
static void make(struct suite *out, const struct roof_meter *meter, const struct roof_bench *bench,
                 const struct roof_meter_device *device, const struct roof_suite_formats *formats)
{
    const struct sizes *const sizes = device->host ? &sizes_of_hosts : &sizes_of_gpus;
    size_t count = 0;
    while (sizes->tokens[count] > 0) {
        count++;
    }
    const size_t last = count + 2 * sizes->sides;
    add_probes(out, meter, bench, device);
    for (size_t round = 0; round < last; round++) {
        if (round == ROUNDS_NEEDED) {
            add_collectives(out, meter, bench, device);
        }
        out->needed = round <= ROUNDS_NEEDED ? out->count : out->needed;
        for (size_t side = 0; side < sizes->sides && 2 * side <= round; side++) {
            const struct side *const s = &sizes->side[side];
            const size_t number = round - 2 * side;
            const int64_t tokens = number < count ? sizes->tokens[number] : 0;
            for (size_t i = 0; i < formats->count && tokens > 0; i++) {
                const struct roof_meter_task task =
                    roof_suite_product(device, formats->format[i], tokens, s->n, s->k);
                add(out, meter, bench, &task);
            }
            if (tokens > 0 && side < 2) {
                add_others(out, meter, bench, device, tokens, side == 0);
            }
            if (tokens > 0 && tokens <= HEADS_TOKENS && side == 0 && number < HEADS_ROUNDS &&
                !device->host) {
                add_products_of_heads(out, meter, bench, formats, tokens);
            }
        }
        for (int large = 1; large >= 0; large--) {
            const size_t late = large != 0 ? ROUNDS_LARGE : ROUNDS_SMALL;
            if (round >= late && round - late < count) {
                add_experts(out, meter, bench, device, formats, sizes->tokens[round - late],
                            large != 0);
            }
        }
    }
}

/* --- measuring ----------------------------------------------------------------------------- */

struct run {
    const struct roof_meter *meter;
    struct roof_bench *bench;
    /* Sums over the samples of a task. */
    double waited;
    double samples;
};

static enum roof_status take_sample(void *context, double *seconds, struct roof_error *error)
{
    struct run *const run = context;
    TRY(run->meter->sample(seconds, run->bench, error));
    run->waited += run->meter->waited == NULL ? 0 : run->meter->waited(run->bench);
    run->samples++;
    return ROOF_OK;
}

static double mean(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : (a + b) / 2;
}

/* Returns the power in a span of time, from which the device counted so many joules; NAN: it does
 * not count, or its counter stood still. */
static double mean_power(double joules, double seconds)
{
    return joules > 0 && seconds > 0 ? joules / seconds : ROOF_UNKNOWN;
}

/* Times a task that was begun. */
static enum roof_status time_begun(struct roof_meter_row *out, struct run *run, double share_s,
                                   struct roof_error *error)
{
    struct roof_meter_clocks before;
    struct roof_meter_clocks after;
    struct roof_timing timing = {0};
    struct roof_timing_rules rules = ROOF_TIMING_RULES;
    rules.limit_s = share_s;
    run->waited = run->samples = 0;
    run->meter->clocks(&before, run->bench);
    const double joules = run->meter->energy(run->bench);
    const double start = roof_seconds();
    TRY(roof_time(&timing, take_sample, run, &rules, error));
    const double power_w =
        mean_power(run->meter->energy(run->bench) - joules, roof_seconds() - start);
    run->meter->clocks(&after, run->bench);
    out->time_s = timing.median_s;
    out->noise = timing.noise;
    out->noisy = timing.noisy || run->waited > ROOF_WAITED_MAX * run->samples;
    out->clocks =
        (struct roof_meter_clocks){.sm_hz = mean(before.sm_hz, after.sm_hz),
                                   /* A device that tells no power may count its energy. */
                                   .power_w = isnan(before.power_w) && isnan(after.power_w)
                                                  ? power_w
                                                  : mean(before.power_w, after.power_w),
                                   .temperature_c = mean(before.temperature_c, after.temperature_c),
                                   .throttled = before.throttled || after.throttled};
    return ROOF_OK;
}

static enum roof_status measure(struct roof_meter_row *out, struct run *run,
                                const struct roof_meter_task *task, double share_s,
                                struct roof_error *error)
{
    *out = (struct roof_meter_row){.task = *task};
    TRY(run->meter->begin(&out->amount, run->bench, task, error));
    const enum roof_status status = time_begun(out, run, share_s, error);
    run->meter->end(run->bench);
    return status;
}

/* The last look at the rates gets so much of the time. */
#define LOOK_SHARE 0.1

/* Tells if a task measures a rate that bounds are made of. */
static bool is_rate(const struct roof_meter_task *task)
{
    return task->probe == ROOF_PROBE_READ || task->probe == ROOF_PROBE_MULTIPLY;
}

/* Looks at the rates again, long after the first look: what disturbed one hardly disturbs both. */
static enum roof_status look_again(struct roof_measured *out, struct run *run, double seconds,
                                   const struct roof_suite_calls *calls, struct roof_error *error)
{
    size_t rates = 0;
    for (size_t i = 0; i < out->count; i++) {
        rates += is_rate(&out->row[i].task) && !out->row[i].earlier ? 1 : 0;
    }
    for (size_t i = 0; i < out->count; i++) {
        struct roof_meter_row *const row = &out->row[i];
        struct roof_meter_row again;
        if (!is_rate(&row->task) || row->earlier) {
            continue;
        }
        if (calls->stop != NULL && calls->stop(calls->context)) {
            break;
        }
        TRY(measure(&again, run, &row->task, seconds / (double)rates, error));
        const double faster = fmin(again.time_s, row->time_s);
        const bool differs = fmax(again.time_s, row->time_s) > (1 + ROOF_LOOKS_MAX) * faster;
        *row = again.time_s < row->time_s ? again : *row;
        row->noisy = row->noisy || differs;
    }
    return ROOF_OK;
}

/* Returns the seconds of a call of a task by the peaks that were measured: a third of them. */
static double guess_s(const struct roof_measured *m, const struct roof_meter_task *task)
{
    struct roof_work work = {0};
    const double peak = roof_measured_rate(m, ROOF_PROBE_MULTIPLY, 0, ROOF_PRECISION_FP32);
    if (task->probe != ROOF_PROBE_OPERATOR || isnan(peak)) {
        return 0;
    }
    roof_operator_work(&work, &task->workload, NULL);
    return 3 * work.flops / peak;
}

/* A task whose samples would take longer than this share of the time is left out. */
#define SLOW_SHARE 0.02
/* Probes get so much of the time at most, and operators the rest. */
#define PROBE_SHARE 0.25

/* A task that is needed gets so many seconds at least. */
#define NEEDED_S 0.03

/* Returns how many tasks at the beginning of a suite are probes. */
static size_t count_probes(const struct suite *suite)
{
    size_t count = 0;
    while (count < suite->count && suite->task[count].probe != ROOF_PROBE_OPERATOR) {
        count++;
    }
    return count;
}

/* Returns the seconds that a task may take; 0 if it is left out, for lack of time. */
static double share_of(const struct roof_measured *m, const struct suite *suite, size_t number,
                       size_t probes, double seconds)
{
    const double left = seconds - m->took_s;
    const double fair = fmin(4 * left / (double)(suite->count - number), left / 16);
    if (number < probes) {
        return PROBE_SHARE * seconds / (double)probes;
    }
    if (number < suite->needed) {
        return fmax(fair, NEEDED_S);
    }
    return left <= 0 || guess_s(m, &suite->task[number]) > SLOW_SHARE * seconds ? 0 : fair;
}

/* Measures the tasks in order until the time is over. */
static enum roof_status run_tasks(struct roof_measured *out, struct run *run,
                                  const struct suite *suite, double seconds,
                                  const struct roof_suite_calls *calls, struct roof_error *error)
{
    const double start = roof_seconds();
    const size_t probes = count_probes(suite);
    for (size_t i = 0; i < suite->count; i++) {
        const struct roof_meter_task *const task = &suite->task[i];
        struct roof_meter_row *const row = &out->row[out->count];
        const bool known = calls->known != NULL && calls->known(calls->context, row, task);
        const double share = known ? 0 : share_of(out, suite, i, probes, seconds);
        if (calls->stop != NULL && calls->stop(calls->context)) {
            break;
        }
        if (!known && share <= 0) {
            continue;
        }
        if (!known) {
            TRY(measure(row, run, task, share, error));
        }
        row->earlier = known;
        out->count++;
        out->took_s = roof_seconds() - start;
        if (calls->measured != NULL) {
            TRY(calls->measured(calls->context, out, error));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_suite_run(struct roof_measured *out, const struct roof_meter *meter,
                                struct roof_bench *bench, const struct roof_suite_formats *formats,
                                double seconds, const struct roof_suite_calls *calls,
                                struct roof_error *error)
{
    struct run run = {.meter = meter, .bench = bench};
    struct roof_meter_clocks idle;
    struct suite *const suite = calloc(1, sizeof *suite);
    *out = (struct roof_measured){.row = calloc(TASKS_MAX, sizeof *out->row)};
    if (suite == NULL || out->row == NULL) {
        free(suite);
        return roof_no_memory(error);
    }
    meter->describe(&out->device, bench);
    meter->clocks(&idle, bench);
    out->power = (struct roof_power_term){.idle_w = idle.power_w, .constant_w = ROOF_UNKNOWN};
    make(suite, meter, bench, &out->device, formats);
    out->planned = suite->count;
    const double start = roof_seconds();
    enum roof_status status = run_tasks(out, &run, suite, (1 - LOOK_SHARE) * seconds, calls, error);
    free(suite);
    if (status == ROOF_OK) {
        status = look_again(out, &run, LOOK_SHARE * seconds, calls, error);
        out->took_s = roof_seconds() - start;
    }
    return status;
}

void roof_measured_free(struct roof_measured *measured)
{
    free(measured->row);
    measured->row = NULL;
    measured->count = 0;
}

double roof_measured_rate(const struct roof_measured *measured, enum roof_probe probe,
                          int64_t bytes, enum roof_precision format)
{
    double best = ROOF_UNKNOWN;
    for (size_t i = 0; i < measured->count; i++) {
        const struct roof_meter_row *const row = &measured->row[i];
        const bool same = row->task.probe == probe && row->task.bytes >= bytes &&
                          (probe != ROOF_PROBE_MULTIPLY || row->task.format == format);
        const double rate = row->amount / row->time_s;
        if (same && !(rate <= best)) {
            best = rate;
        }
    }
    return best;
}
