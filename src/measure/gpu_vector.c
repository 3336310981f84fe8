// SPDX-License-Identifier: MIT
#include "measure/gpu_vector.h"

#include "base/base.h"

/* --- the kernels --------------------------------------------------------------------------- */

static const char *const names[ROOF_GPU_VECTORS] = {[ROOF_GPU_NORM] = "roof_norm",
                                                    [ROOF_GPU_ADD] = "roof_add",
                                                    [ROOF_GPU_GATE] = "roof_gate",
                                                    [ROOF_GPU_ROTATE] = "roof_rotate",
                                                    [ROOF_GPU_QUANTIZE] = "roof_quantize",
                                                    [ROOF_GPU_ATTEND_64] = "roof_attend_64",
                                                    [ROOF_GPU_ATTEND_128] = "roof_attend_128",
                                                    [ROOF_GPU_MERGE] = "roof_merge"};

enum roof_status roof_gpu_vectors_open(struct roof_gpu_vectors *out, const struct roof_gpu *gpu,
                                       const char *image, bool attention, struct roof_error *error)
{
    return roof_gpu_load(&out->module, out->function, gpu, image, names,
                         attention ? ROOF_GPU_VECTORS : ROOF_GPU_ATTEND_64, error);
}

void roof_gpu_vectors_close(struct roof_gpu_vectors *vectors, const struct roof_gpu *gpu)
{
    roof_gpu_unload(gpu, vectors->module);
    *vectors = (struct roof_gpu_vectors){.module = NULL};
}

/* --- which operators ----------------------------------------------------------------------- */

#define HALF 2   /* bytes */
#define HALVES 8 /* that the kernels load at once */
#define BYTE_BITS 8

/* The operators that go over rows, and their kernels. */
static const struct {
    enum roof_operator op;
    enum roof_gpu_vector_kernel kernel;
} rows[] = {{ROOF_OPERATOR_RMSNORM, ROOF_GPU_NORM},
            {ROOF_OPERATOR_ADD, ROOF_GPU_ADD},
            {ROOF_OPERATOR_SILU_MUL, ROOF_GPU_GATE},
            {ROOF_OPERATOR_ROPE, ROOF_GPU_ROTATE},
            {ROOF_OPERATOR_QUANTIZE, ROOF_GPU_QUANTIZE}};

/* Returns the place of an operator in rows[]; COUNT(rows): it is not there. */
static size_t find_row(enum roof_operator op)
{
    size_t i = 0;
    while (i < COUNT(rows) && rows[i].op != op) {
        i++;
    }
    return i;
}

/* Returns the halves of a row, and how many rows there are: heads for RoPE. */
static int64_t row_size(int64_t *count, const struct roof_workload *w)
{
    const bool rope = w->op == ROOF_OPERATOR_ROPE;
    *count = w->shape.tokens * (rope ? w->shape.heads + w->shape.kv_heads : 1);
    return rope ? w->shape.head_dim : w->shape.hidden;
}

bool roof_gpu_vector_able(const struct roof_gpu_vectors *vectors, const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    const bool attention = w->op == ROOF_OPERATOR_FLASH_ATTENTION;
    const enum roof_precision format = attention ? w->formats.kv : w->formats.activations;
    int64_t count = 0;
    if (vectors->function[attention ? ROOF_GPU_MERGE : ROOF_GPU_NORM] == NULL) {
        return false;
    }
    if (format != ROOF_PRECISION_FP16 && format != ROOF_PRECISION_BF16) {
        return false; /* bf16 takes as long as fp16, in which the kernels are */
    }
    if (attention) {
        return s->query_len == 1 && (s->head_dim == 64 || s->head_dim == 128) &&
               (s->window == 0 || s->window >= s->kv_len) && s->heads % s->kv_heads == 0;
    }
    const bool known = find_row(w->op) < COUNT(rows);
    const int64_t size = known ? row_size(&count, w) : 0;
    const bool bytes =
        w->op != ROOF_OPERATOR_QUANTIZE || roof_precision_bits(w->formats.out) == BYTE_BITS;
    return known && bytes && size % (w->op == ROOF_OPERATOR_ROPE ? 2 * HALVES : HALVES) == 0 &&
           count * size < INT32_MAX;
}

/* --- attention ----------------------------------------------------------------------------- */

/* As in cuda_operators.cu. */
#define ATTEND_QUERIES 16
#define ATTEND_THREADS 128
#define PARTS_MAX 64
/* Keys of a part, at least. */
#define PART_KEYS 64
/* Blocks that an SM holds, and what a block and the merging of a part take, in the time of a key:
 * those of a Hopper GPU. */
#define ATTEND_BLOCKS 3
#define BLOCK_KEYS 256
#define PART_MERGE_KEYS 8

/* The sizes of a launch, and where its arrays begin. */
struct attention {
    int64_t heads;  /* of keys, of all sequences */
    int64_t group;  /* queries of each */
    int64_t blocks; /* of queries */
    int64_t parts;
    int64_t each; /* keys of a part */
    int64_t queries_at;
    int64_t parts_at;
    int64_t out_at;
    int64_t bytes;
};

/* Returns into how many parts the keys are cut: what takes the least time, in that of a key. A wave
 * of blocks takes as long as one of them. */
static int64_t parts_of(const struct roof_gpu *gpu, int64_t blocks, int64_t keys)
{
    const int64_t slots = ATTEND_BLOCKS * (int64_t)gpu->units;
    int64_t best = 1;
    int64_t least = INT64_MAX;
    for (int64_t parts = 1; parts <= PARTS_MAX && (parts - 1) * PART_KEYS < keys; parts++) {
        const int64_t waves = (blocks * parts + slots - 1) / slots;
        const int64_t time =
            waves * ((keys + parts - 1) / parts + BLOCK_KEYS) + PART_MERGE_KEYS * parts;
        best = time < least ? parts : best;
        least = time < least ? time : least;
    }
    return best;
}

static struct attention attention_of(const struct roof_gpu *gpu, const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    struct attention a = {.heads = s->batch * s->kv_heads, .group = s->heads / s->kv_heads};
    a.blocks = a.heads * ((a.group + ATTEND_QUERIES - 1) / ATTEND_QUERIES);
    a.parts = parts_of(gpu, a.blocks, s->kv_len);
    a.each = (s->kv_len + a.parts - 1) / a.parts;
    a.queries_at = roof_gpu_aligned((int64_t)2 * HALF * a.heads * s->kv_len * s->head_dim);
    a.parts_at = a.queries_at + roof_gpu_aligned(HALF * a.heads * a.group * s->head_dim);
    a.out_at = a.parts_at + roof_gpu_aligned((int64_t)sizeof(float) * a.heads * a.group * a.parts *
                                             (s->head_dim + 2));
    a.bytes = a.out_at + roof_gpu_aligned(HALF * a.heads * a.group * s->head_dim);
    return a;
}

static enum roof_status attend(const struct roof_gpu *gpu, const struct roof_gpu_vectors *vectors,
                               const struct roof_workload *w, uint64_t data,
                               struct roof_error *error)
{
    const struct attention a = attention_of(gpu, w);
    const bool wide = w->shape.head_dim > 64;
    uint64_t keys_at = data;
    uint64_t values_at = data + (uint64_t)(HALF * a.heads * w->shape.kv_len * w->shape.head_dim);
    uint64_t queries = data + (uint64_t)a.queries_at;
    uint64_t parts = data + (uint64_t)a.parts_at;
    uint64_t out = data + (uint64_t)a.out_at;
    uint32_t keys = (uint32_t)w->shape.kv_len;
    uint32_t group = (uint32_t)a.group;
    uint32_t each = (uint32_t)a.each;
    uint32_t count = (uint32_t)a.parts;
    void *attending[] = {&queries, &keys_at, &values_at, &parts, &out, &keys, &group, &each};
    void *merging[] = {&parts, &out, &count};
    ROOF_GPU_CALL(gpu, launch, vectors->function[wide ? ROOF_GPU_ATTEND_128 : ROOF_GPU_ATTEND_64],
                  (unsigned)a.blocks, (unsigned)a.parts, 1, ATTEND_THREADS, 1, 1, 0, gpu->stream,
                  attending, NULL);
    if (a.parts == 1) {
        return ROOF_OK;
    }
    ROOF_GPU_CALL(gpu, launch, vectors->function[ROOF_GPU_MERGE], (unsigned)(a.heads * a.group), 1,
                  1, (unsigned)w->shape.head_dim, 1, 1, 0, gpu->stream, merging, NULL);
    return ROOF_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Threads of a block, as in cuda_operators.cu. */
#define THREADS 256
/* Blocks for each SM where a block has no row of its own, at most. */
#define BLOCKS 8

int64_t roof_gpu_vector_bytes(const struct roof_gpu *gpu, const struct roof_workload *w)
{
    if (w->op == ROOF_OPERATOR_FLASH_ATTENTION) {
        return attention_of(gpu, w).bytes;
    }
    int64_t count = 0;
    const int64_t size = row_size(&count, w);
    return 3 * roof_gpu_aligned(HALF * count * size);
}

enum roof_status roof_gpu_vector_run(const struct roof_gpu *gpu,
                                     const struct roof_gpu_vectors *vectors,
                                     const struct roof_workload *w, uint64_t data,
                                     struct roof_error *error)
{
    if (w->op == ROOF_OPERATOR_FLASH_ATTENTION) {
        return attend(gpu, vectors, w, data, error);
    }
    int64_t count = 0;
    const int64_t size = row_size(&count, w);
    const uint64_t array = (uint64_t)roof_gpu_aligned(HALF * count * size);
    const enum roof_gpu_vector_kernel kernel = rows[find_row(w->op)].kernel;
    const bool whole = kernel == ROOF_GPU_NORM || kernel == ROOF_GPU_QUANTIZE;
    const int64_t blocks = (count * size / HALVES + THREADS - 1) / THREADS;
    const int64_t most = (int64_t)gpu->units * BLOCKS;
    uint64_t a = data;
    uint64_t b = data + array;
    uint64_t out = data + 2 * array;
    uint32_t number = (uint32_t)count;
    uint32_t width = (uint32_t)size;
    void *parameters[] = {&a, &b, &out, &number, &width};
    ROOF_GPU_CALL(gpu, launch, vectors->function[kernel],
                  (unsigned)(whole           ? count
                             : blocks > most ? most
                                             : blocks),
                  1, 1, THREADS, 1, 1, 0, gpu->stream, parameters, NULL);
    return ROOF_OK;
}
