// SPDX-License-Identifier: MIT
/* Opens and frees schedulers, and tells what they have. */
#include <stdlib.h>

#include "base/base.h"
#include "simulate/scheduler_parts.h"

/* Allocates an array whose elements are set before they are read. Clearing those of thousands of
 * sequences would take a tenth of a short simulation. */
static void *allocate_array(size_t count, size_t size)
{
    return count > SIZE_MAX / size ? NULL : malloc(count * size);
}

static enum roof_status allocate(struct roof_scheduler *s, struct roof_error *error)
{
    const size_t most = (size_t)s->limits.sequences;
    bool all = true;
    s->sequence = allocate_array(most, sizeof *s->sequence);
    s->spare = allocate_array(most, sizeof *s->spare);
    s->group = calloc(s->stages, sizeof *s->group);
    s->free_s = calloc(s->stages, sizeof *s->free_s);
    s->flight = calloc(s->stages, sizeof *s->flight);
    s->rank = calloc(s->ranks, sizeof *s->rank);
    for (size_t i = 0; i < s->stages && s->group != NULL; i++) {
        s->group[i].heap = allocate_array(most, sizeof *s->group->heap);
        s->group[i].complete = allocate_array(most, sizeof *s->group->complete);
        all = all && s->group[i].heap != NULL && s->group[i].complete != NULL;
    }
    if (s->sequence == NULL || s->spare == NULL || s->group == NULL || s->free_s == NULL ||
        s->flight == NULL || s->rank == NULL || !all) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < s->ranks; i++) {
        s->rank[i].partial = NONE;
    }
    for (size_t i = 0; i < most; i++) {
        s->spare[s->spares++] = most - 1 - i;
    }
    return ROOF_OK;
}

enum roof_status roof_scheduler_open(struct roof_scheduler **out,
                                     const struct roof_scheduler_limits *limits,
                                     struct roof_step_table *table, roof_on_served *on_served,
                                     void *context, struct roof_error *error)
{
    struct roof_scheduler *const s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL) {
        return roof_no_memory(error);
    }
    s->limits = *limits;
    s->table = table;
    s->waits = roof_step_table_waits(table);
    s->on_served = on_served;
    s->context = context;
    s->last = NONE;
    if (limits->blocks == 0) {
        s->limits.ratio.most_tokens = 0; /* there is room for all */
    }
    s->stages = limits->stages > 1 ? (size_t)limits->stages : 1;
    s->ranks = limits->ranks > 1 ? (size_t)limits->ranks : 1;
    s->blocks = s->free = limits->blocks > 0 ? limits->blocks : INT64_MAX / 2;
    enum roof_status status = allocate(s, error);
    if (status == ROOF_OK && limits->part_blocks > 0) {
        status = roof_prefix_cache_open(&s->cache, limits->part_blocks, limits->sequences, error);
    }
    if (status != ROOF_OK) {
        roof_scheduler_free(s);
        return status;
    }
    roof_room_reset(s);
    *out = s;
    return ROOF_OK;
}

void roof_scheduler_free(struct roof_scheduler *s)
{
    if (s == NULL) {
        return;
    }
    for (size_t i = 0; i < s->stages && s->group != NULL; i++) {
        free(s->group[i].heap);
        free(s->group[i].complete);
    }
    free(s->group);
    free(s->sequence);
    free(s->spare);
    free(s->free_s);
    free(s->flight);
    free(s->rank);
    free(s->queue.request);
    roof_prefix_cache_free(s->cache);
    free(s);
}

size_t roof_scheduler_waiting(const struct roof_scheduler *s)
{
    return s->queue.count;
}

size_t roof_scheduler_present(const struct roof_scheduler *s)
{
    return s->queue.count + s->running;
}

double roof_scheduler_use(const struct roof_scheduler *s)
{
    return s->limits.blocks == 0 ? ROOF_UNKNOWN : 1 - (double)s->free / (double)s->limits.blocks;
}

double roof_scheduler_wakes(const struct roof_scheduler *s)
{
    return s->wakes_s;
}

double roof_scheduler_clock(const struct roof_scheduler *s)
{
    return s->clock_s;
}

const struct roof_scheduler_sums *roof_scheduler_sums(const struct roof_scheduler *s)
{
    return &s->sums;
}
