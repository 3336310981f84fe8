// SPDX-License-Identifier: MIT
#include "measure/cpu_experts.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "measure/cpu_dot.h"

/* A thread multiplies so many rows of weights by so many inputs before it goes on, so that the rows
 * stay in the nearest cache. Packed weights are read from end to end for each input instead
 * (ggml-org/llama.cpp ggml/src/ggml-cpu, mul_mat_id of ggml-cpu.c and repack.cpp). */
#define BLOCK 16

/* The calls of the team, in order. An operator with only half of the experts' work has three. */
enum phase {
    CONVERT_INPUTS,
    MULTIPLY_IN, /* by gate and up */
    GATE,
    CONVERT_MIDDLE,
    MULTIPLY_DOWN,
    SUM,
    PHASES
};

static bool has_in(const struct roof_cpu_job *job)
{
    return job->task.workload.op != ROOF_OPERATOR_MOE_DOWN;
}

static bool has_down(const struct roof_cpu_job *job)
{
    return job->task.workload.op != ROOF_OPERATOR_MOE_GATE_UP;
}

/* Returns the kernels for one input. */
static struct roof_dot_kernels kernels_of(const struct roof_cpu_job *job)
{
    struct roof_dot_kernels kernels = {.inputs = ROOF_PRECISION_FP32};
    (void)roof_dot_find(&kernels, job->task.workload.formats.weights, false, &job->features);
    return kernels;
}

/* --- memory -------------------------------------------------------------------------------- */

/* Memory that is given out part by part. */
struct room {
    unsigned char *base; /* NULL: only the bytes are counted */
    int64_t used;
};

/* Takes bytes of memory, in whole lines. */
static void *take(struct room *room, int64_t bytes)
{
    void *const taken = room->base == NULL ? NULL : room->base + room->used;
    room->used += (bytes + 63) / 64 * 64;
    return taken;
}

/* Finds the parts of memory at base, and returns their bytes. Those that the operator does not have
 * are empty. */
static int64_t lay(struct roof_cpu_experts *out, const struct roof_cpu_job *job,
                   unsigned char *base)
{
    struct room room = {.base = base};
    const struct roof_shape *const s = &job->task.workload.shape;
    const enum roof_precision weights = job->task.workload.formats.weights;
    const enum roof_precision inputs = kernels_of(job).inputs;
    const int64_t in = has_in(job) ? 1 : 0;
    const int64_t down = has_down(job) ? 1 : 0;
    const int64_t word = (int64_t)sizeof(float);
    out->routed = s->tokens * s->top_k;
    out->in_bytes = in * s->intermediate * roof_cpu_row_bytes(weights, s->hidden);
    out->expert_bytes =
        2 * out->in_bytes + down * s->hidden * roof_cpu_row_bytes(weights, s->intermediate);
    out->first = take(&room, (s->experts + 1) * (int64_t)sizeof(int64_t));
    out->pair = take(&room, out->routed * (int64_t)sizeof(int64_t));
    out->inputs = take(&room, in * s->tokens * s->hidden * word);
    out->converted = take(&room, in * s->tokens * roof_cpu_row_bytes(inputs, s->hidden));
    out->gate = take(&room, out->routed * s->intermediate * word);
    out->up = take(&room, in * out->routed * s->intermediate * word);
    out->middle = take(&room, down * out->routed * roof_cpu_row_bytes(inputs, s->intermediate));
    out->down = take(&room, down * out->routed * s->hidden * word);
    out->out = take(&room, down * s->tokens * s->hidden * word);
    return room.used;
}

void roof_cpu_experts_find(struct roof_cpu_experts *out, const struct roof_cpu_job *job)
{
    (void)lay(out, job, job->scratch);
    out->chosen = 0;
    while (out->first[out->chosen] < out->routed) {
        out->chosen++;
    }
}

/* --- work ---------------------------------------------------------------------------------- */

/* Rows of one matrix and the pairs that it multiplies. */
struct product {
    const unsigned char *weights;
    const unsigned char *inputs; /* converted: a row for each pair, or for each token */
    float *out;                  /* a row for each pair */
    const int64_t *pair;
    int64_t pairs;
    int64_t inputs_of; /* pairs that share an input */
    int64_t first;     /* row of the matrix, and its end */
    int64_t end;
    int64_t n; /* rows of the whole matrix */
    int64_t k;
};

static void multiply(const struct roof_cpu_job *job, const struct roof_dot_kernels *kernels,
                     const struct product *p)
{
    const int64_t inputs = kernels->packed ? 1 : BLOCK;
    const int64_t rows = kernels->packed ? p->end - p->first : BLOCK;
    const int64_t bytes = roof_cpu_row_bytes(job->task.workload.formats.weights, p->k);
    const int64_t input_bytes = roof_cpu_row_bytes(kernels->inputs, p->k);
    for (int64_t block = 0; block < p->pairs; block += inputs) {
        for (int64_t row = p->first; row < p->end; row += rows) {
            for (int64_t i = block; i < block + inputs && i < p->pairs; i++) {
                const int64_t pair = p->pair[i];
                const struct roof_dot dot = {.weights = p->weights + row * bytes,
                                             .inputs =
                                                 p->inputs + pair / p->inputs_of * input_bytes,
                                             .out = p->out + pair * p->n + row,
                                             .row_bytes = bytes,
                                             .input_bytes = input_bytes,
                                             .stride = p->n,
                                             .k = p->k};
                roof_dot_multiply(kernels, &dot, p->end - row < rows ? p->end - row : rows, 1);
            }
        }
    }
}

/* Multiplies by a part of the rows of each chosen expert: of gate and up, or of down. */
static void multiply_all(const struct roof_cpu_job *job, const struct roof_cpu_experts *e,
                         const unsigned char *weights, size_t thread, size_t threads, bool down)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    const struct roof_dot_kernels kernels = kernels_of(job);
    const int64_t n = down ? s->hidden : s->intermediate;
    for (int64_t i = 0; i < e->chosen; i++) {
        struct product p = {.weights = weights + i * e->expert_bytes,
                            .inputs = down ? e->middle : e->converted,
                            .out = down ? e->down : e->gate,
                            .pair = e->pair + e->first[i],
                            .pairs = e->first[i + 1] - e->first[i],
                            .inputs_of = down ? 1 : s->top_k,
                            .first = roof_cpu_part(n, BLOCK, thread, threads),
                            .end = roof_cpu_part(n, BLOCK, thread + 1, threads),
                            .n = n,
                            .k = down ? s->intermediate : s->hidden};
        p.weights += down ? 2 * e->in_bytes : 0;
        multiply(job, &kernels, &p);
        if (!down) {
            p.weights += e->in_bytes;
            p.out = e->up;
            multiply(job, &kernels, &p);
        }
    }
}

/* Adds up the results of the experts of each token. All weights of a mixture are equal. */
static void sum_up(const struct roof_cpu_job *job, const struct roof_cpu_experts *e, size_t thread,
                   size_t threads)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    const float weight = 1 / (float)s->top_k;
    const int64_t end = roof_cpu_part(s->tokens, 1, thread + 1, threads);
    for (int64_t token = roof_cpu_part(s->tokens, 1, thread, threads); token < end; token++) {
        float *const out = e->out + token * s->hidden;
        memset(out, 0, (size_t)s->hidden * sizeof *out);
        for (int64_t i = 0; i < s->top_k; i++) {
            const float *const from = e->down + (token * s->top_k + i) * s->hidden;
            for (int64_t j = 0; j < s->hidden; j++) {
                out[j] += weight * from[j];
            }
        }
    }
}

/* Converts rows of inputs, or multiplies gate and up. */
static void do_rows(const struct roof_cpu_job *job, const struct roof_cpu_experts *e,
                    enum phase phase, size_t thread, size_t threads)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    const enum roof_precision inputs = kernels_of(job).inputs;
    const bool first = phase == CONVERT_INPUTS;
    const int64_t k = first ? s->hidden : s->intermediate;
    const int64_t rows = first ? s->tokens : e->routed;
    const int64_t bytes = roof_cpu_row_bytes(inputs, k);
    const int64_t end = roof_cpu_part(rows, 1, thread + 1, threads);
    for (int64_t row = roof_cpu_part(rows, 1, thread, threads); row < end; row++) {
        if (phase == GATE) {
            roof_cpu_gate(e->gate + row * k, e->up + row * k, k, job->features.isa);
        } else {
            roof_dot_convert((first ? e->converted : e->middle) + row * bytes, inputs,
                             (first ? e->inputs : e->gate) + row * k, k, &job->features);
        }
    }
}

static void share_experts(void *context, size_t thread, size_t threads, int64_t call)
{
    const struct roof_cpu_job *const job = context;
    const unsigned char *const weights = job->data + call / job->phases % job->copies * job->stride;
    const enum phase phase =
        (enum phase)(call % job->phases + (has_in(job) ? CONVERT_INPUTS : CONVERT_MIDDLE));
    struct roof_cpu_experts e;
    roof_cpu_experts_find(&e, job);
    if (phase == MULTIPLY_IN || phase == MULTIPLY_DOWN) {
        multiply_all(job, &e, weights, thread, threads, phase == MULTIPLY_DOWN);
    } else if (phase == SUM) {
        sum_up(job, &e, thread, threads);
    } else {
        do_rows(job, &e, phase, thread, threads);
    }
}

/* --- routing ------------------------------------------------------------------------------- */

/* The number of draws. The draw with the median number of chosen experts is used, because this
 * number decides how much memory is read. */
#define DRAWS 15

/* Draws the experts of each token, all different, and counts the chosen experts. `order` has room
 * for all experts, `expert` for those of all tokens. */
static void draw(int64_t *chosen, int64_t *expert, int64_t *order, const struct roof_shape *s,
                 uint64_t seed)
{
    uint64_t state = seed;
    *chosen = 0;
    for (int64_t i = 0; i < s->experts; i++) {
        order[i] = i;
    }
    for (int64_t i = 0; i < s->tokens * s->top_k; i++) {
        uint64_t random = 0;
        const int64_t at = i % s->top_k;
        roof_cpu_noise((unsigned char *)&random, sizeof random, &state);
        const int64_t other = at + (int64_t)(random % (uint64_t)(s->experts - at));
        const int64_t drawn = order[other];
        order[other] = order[at];
        order[at] = drawn;
        expert[i] = drawn;
    }
    memset(order, 0, (size_t)s->experts * sizeof *order);
    for (int64_t i = 0; i < s->tokens * s->top_k; i++) {
        *chosen += 1 - order[expert[i]];
        order[expert[i]] = 1;
    }
}

static int compare_counts(const void *left, const void *right)
{
    const int64_t *const a = left;
    const int64_t *const b = right;
    return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}

/* Draws often, and then repeats the draw with the median number of chosen experts. */
static void route(int64_t *chosen, int64_t *expert, int64_t *order, const struct roof_shape *s)
{
    int64_t draws[DRAWS][2]; /* number of chosen experts, seed */
    for (int64_t i = 0; i < DRAWS; i++) {
        draws[i][1] = i + 1;
        draw(&draws[i][0], expert, order, s, (uint64_t)draws[i][1]);
    }
    qsort(draws, DRAWS, sizeof *draws, compare_counts);
    draw(chosen, expert, order, s, (uint64_t)draws[DRAWS / 2][1]);
}

/* Lists the pairs by expert. */
static void list_pairs(struct roof_cpu_experts *out, const int64_t *expert, int64_t experts)
{
    int64_t pairs = 0;
    out->chosen = 0;
    for (int64_t e = 0; e < experts; e++) {
        const int64_t first = pairs;
        for (int64_t i = 0; i < out->routed; i++) {
            if (expert[i] == e) {
                out->pair[pairs++] = i;
            }
        }
        if (pairs > first) {
            out->first[out->chosen++] = first;
        }
    }
    out->first[out->chosen] = out->routed;
}

/* --- both ---------------------------------------------------------------------------------- */

bool roof_cpu_experts_able(const struct roof_cpu_features *features,
                           const struct roof_meter_task *task)
{
    const struct roof_workload *const w = &task->workload;
    const struct roof_shape *const s = &w->shape;
    const int64_t own = roof_format(w->formats.weights)->block_elements;
    const int64_t block = own > ROOF_BLOCK ? own : ROOF_BLOCK;
    const bool in = w->op == ROOF_OPERATOR_MOE || w->op == ROOF_OPERATOR_MOE_GATE_UP;
    const bool down = w->op == ROOF_OPERATOR_MOE || w->op == ROOF_OPERATOR_MOE_DOWN;
    struct roof_dot_kernels kernels;
    return (in || down) && s->ep <= 1 && s->routing == ROOF_ROUTING_UNIFORM &&
           s->hidden % (in ? block : ROOF_BLOCK) == 0 &&
           s->intermediate % (down ? block : ROOF_BLOCK) == 0 &&
           roof_dot_find(&kernels, w->formats.weights, false, features);
}

/* Fills all experts of a copy, and the inputs. */
static void fill(struct roof_cpu_job *job, const struct roof_cpu_experts *e)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    const struct roof_dot_kernels kernels = kernels_of(job);
    uint64_t state = 1;
    roof_cpu_fill_weights(job->data, job->task.workload.formats.weights,
                          e->chosen * e->expert_bytes, kernels.packed ? kernels.tile_rows : 1,
                          &state);
    roof_cpu_repeat(job);
    if (has_in(job)) {
        roof_cpu_random(e->inputs, s->tokens * s->hidden, &state);
    } else {
        roof_cpu_random(e->gate, e->routed * s->intermediate, &state);
    }
}

enum roof_status roof_cpu_experts_begin(struct roof_cpu_job *job, int64_t cache_bytes,
                                        struct roof_error *error)
{
    const struct roof_shape *const s = &job->task.workload.shape;
    int64_t *const expert = calloc((size_t)(s->tokens * s->top_k + s->experts), sizeof *expert);
    struct roof_cpu_experts e = {0};
    if (expert == NULL) {
        return roof_no_memory(error);
    }
    route(&e.chosen, expert, expert + s->tokens * s->top_k, s);
    const int64_t scratch = lay(&e, job, NULL);
    job->share = share_experts;
    job->phases = has_in(job) && has_down(job) ? PHASES : PHASES / 2;
    job->stride = (e.chosen * e.expert_bytes + 63) / 64 * 64;
    job->copies = roof_cpu_copies(job, job->stride, cache_bytes);
    const enum roof_status status =
        roof_cpu_allocate(job, job->copies * job->stride + scratch, error);
    if (status == ROOF_OK) {
        job->scratch = job->data + job->copies * job->stride;
        (void)lay(&e, job, job->scratch);
        list_pairs(&e, expert, s->experts);
        fill(job, &e);
    }
    free(expert);
    return status;
}
