// SPDX-License-Identifier: MIT
#include "ask/chunks.h"

#include <pthread.h>
#include <stdlib.h>

/* The number of points in a chunk: some tenths of a millisecond of work, so that the cost of a lock
 * is negligible. */
#define OPERATORS 512
#define MODELS 16
/* The number of rows per sample. */
#define SAMPLES 16
/* Chunks in hand per thread: while one is written, the next is at work. */
#define SLOTS_EACH 3

/* A point takes some 150 kB of the stack; sanitizers take several times as much. */
#define STACK_SIZE ((size_t)1024 * 1024)
/* The rows of a chunk are seldom longer. */
#define ROWS_SIZE ((size_t)256 * 1024)

struct pool {
    const struct roof_sweep *sweep; /* refused is set, or not */
    struct roof_table table;        /* as a chunk's begins */
    bool sampled;                   /* only some rows are written */
    uint64_t first;
    uint64_t count;
    uint64_t size;
    uint64_t chunks;
    struct roof_chunk *slot; /* of chunk i: i % slots */
    uint64_t slots;
    pthread_mutex_t lock;
    pthread_cond_t due;   /* the chunk that is taken next is done */
    pthread_cond_t freed; /* a slot is free again, or nothing is left to do */
    uint64_t next;        /* the chunk that is begun next */
    uint64_t taken;       /* chunks that the caller has had */
    bool stop;
};

bool roof_chunk_sampled(uint64_t number, uint64_t row)
{
    return number == 0 || row % SAMPLES == number % SAMPLES;
}

void roof_table_point(struct roof_table *table, struct roof_text *out,
                      const struct roof_prediction *prediction,
                      const struct roof_model_prediction *model, const struct roof_tile *tile)
{
    if (table->kind == ROOF_TABLE_TILES) {
        roof_table_tile(table, out, prediction, tile);
    } else if (model != NULL) {
        roof_table_model_prediction(table, out, model);
    } else {
        roof_table_prediction(table, out, prediction);
    }
}

static enum roof_status on_point(void *context, const struct roof_prediction *prediction,
                                 const struct roof_model_prediction *model,
                                 struct roof_error *error)
{
    struct roof_chunk *const chunk = context;
    chunk->rows++;
    roof_table_point(&chunk->table, &chunk->text, prediction, model, &chunk->tile);
    return chunk->text.failed ? roof_no_memory(error) : ROOF_OK;
}

static enum roof_status on_sample(void *context, const struct roof_prediction *prediction,
                                  const struct roof_model_prediction *model,
                                  struct roof_error *error)
{
    struct roof_chunk *const chunk = context;
    if (!roof_chunk_sampled(chunk->number, chunk->rows)) {
        chunk->rows++;
        return ROOF_OK;
    }
    chunk->table.rows = 0;
    return on_point(context, prediction, model, error);
}

static void on_refused(void *context, const struct roof_error *error)
{
    struct roof_chunk *const chunk = context;
    if (chunk->refused++ == 0) {
        chunk->first_refused = *error;
    }
}

static void fill(struct pool *p, uint64_t number)
{
    struct roof_chunk *const chunk = &p->slot[number % p->slots];
    const uint64_t first = number * p->size;
    const uint64_t left = p->count - first;
    struct roof_sweep sweep = *p->sweep;
    sweep.refused = on_refused;
    sweep.tile = &chunk->tile;
    chunk->table = p->table;
    chunk->number = number;
    chunk->rows = 0;
    chunk->refused = 0;
    chunk->error = (struct roof_error){.status = ROOF_OK};
    roof_text_clear(&chunk->text);
    chunk->status = roof_sweep_run(&sweep, p->first + first, left < p->size ? left : p->size,
                                   p->sampled ? on_sample : on_point, chunk, &chunk->error);
}

/* Tells if a chunk can be begun: one is left, and a slot is free for it. */
static bool may_begin(const struct pool *p)
{
    return p->next < p->chunks && p->next - p->taken < p->slots;
}

/* Makes the next chunk; the lock is held before and after. */
static void make(struct pool *p)
{
    const uint64_t number = p->next++;
    (void)pthread_mutex_unlock(&p->lock);
    fill(p, number);
    (void)pthread_mutex_lock(&p->lock);
    p->slot[number % p->slots].done = true;
    if (number == p->taken) {
        (void)pthread_cond_signal(&p->due);
    }
}

static void *work(void *context)
{
    struct pool *const p = context;
    (void)pthread_mutex_lock(&p->lock);
    while (!p->stop && p->next < p->chunks) {
        if (may_begin(p)) {
            make(p);
        } else {
            (void)pthread_cond_wait(&p->freed, &p->lock);
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Passes the chunks on in order, and makes some itself while the next one is not done. */
static enum roof_status take(struct pool *p, roof_chunk_taker taker, void *context,
                             struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    (void)pthread_mutex_lock(&p->lock);
    while (p->taken < p->chunks && status == ROOF_OK) {
        struct roof_chunk *const chunk = &p->slot[p->taken % p->slots];
        if (!chunk->done && may_begin(p)) {
            make(p);
        } else if (!chunk->done) {
            (void)pthread_cond_wait(&p->due, &p->lock);
        } else {
            (void)pthread_mutex_unlock(&p->lock);
            status = taker(context, chunk, error);
            if (status == ROOF_OK && chunk->status != ROOF_OK) {
                *error = chunk->error;
                status = chunk->status;
            }
            (void)pthread_mutex_lock(&p->lock);
            chunk->done = false;
            p->taken++;
            (void)pthread_cond_signal(&p->freed);
        }
    }
    p->stop = true;
    (void)pthread_cond_broadcast(&p->freed);
    (void)pthread_mutex_unlock(&p->lock);
    return status;
}

/* Returns the number of threads, at least one, that fit into the address space with their stacks
 * and their waiting rows, at most the given number. */
static int64_t threads_that_fit(int64_t threads)
{
    for (; threads > 1; threads -= threads / 4 + 1) {
        void *volatile const room = malloc((size_t)threads * (STACK_SIZE + SLOTS_EACH * ROWS_SIZE));
        if (room != NULL) {
            free(room);
            break;
        }
    }
    return threads > 1 ? threads : 1;
}

/* Starts threads, and returns how many; fewer than asked for are enough. Their stacks are small, so
 * that many of them leave address space for the rest of the program. */
static int64_t start(struct pool *p, pthread_t *thread, int64_t threads)
{
    pthread_attr_t attributes;
    int64_t started = 0;
    if (pthread_attr_init(&attributes) != 0) {
        return 0;
    }
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE); /* else the default size */
    while (started < threads && pthread_create(&thread[started], &attributes, work, p) == 0) {
        started++;
    }
    (void)pthread_attr_destroy(&attributes);
    return started;
}

/* Starts the threads, takes all chunks and joins the threads. */
static enum roof_status run_pool(struct pool *p, pthread_t *thread, int64_t threads,
                                 roof_chunk_taker taker, void *context, struct roof_error *error)
{
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->due, NULL);
    (void)pthread_cond_init(&p->freed, NULL);
    const int64_t started = start(p, thread, threads - 1);
    const enum roof_status status = take(p, taker, context, error);
    for (int64_t i = 0; i < started; i++) {
        (void)pthread_join(thread[i], NULL);
    }
    (void)pthread_cond_destroy(&p->freed);
    (void)pthread_cond_destroy(&p->due);
    (void)pthread_mutex_destroy(&p->lock);
    return status;
}

enum roof_status roof_sweep_chunks(const struct roof_sweep *sweep, const struct roof_table *table,
                                   bool sampled, uint64_t first, uint64_t count, int64_t threads,
                                   roof_chunk_taker taker, void *context, struct roof_error *error)
{
    const uint64_t size = sweep->model == NULL ? OPERATORS : MODELS;
    threads = threads_that_fit(threads);
    struct pool p = {.sweep = sweep,
                     .table = *table,
                     .sampled = sampled,
                     .first = first,
                     .count = count,
                     .size = size,
                     .chunks = count / size + (count % size != 0),
                     .slots = threads > 1 ? (uint64_t)threads * SLOTS_EACH : 1};
    p.table.rows = 0;
    pthread_t *const thread = calloc((size_t)threads, sizeof *thread);
    p.slot = calloc((size_t)p.slots, sizeof *p.slot);
    const enum roof_status status = thread == NULL || p.slot == NULL
                                        ? roof_no_memory(error)
                                        : run_pool(&p, thread, threads, taker, context, error);
    for (uint64_t i = 0; i < p.slots && p.slot != NULL; i++) {
        roof_text_free(&p.slot[i].text);
    }
    free(p.slot);
    free(thread);
    return status;
}
