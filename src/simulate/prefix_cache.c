// SPDX-License-Identifier: MIT
#include "simulate/prefix_cache.h"

#include <stdlib.h>

#include "base/base.h"

#define NONE UINT32_MAX
#define ROOM_FIRST 1024

/* A block. Idle blocks form a list in the order in which they became idle; blocks without contents
 * form a list by `after`. */
struct block {
    uint64_t id;     /* id of its part of a prompt */
    uint32_t number; /* number of the block within the part */
    uint32_t users;
    uint32_t chain; /* the next block in the same bucket of the table */
    uint32_t before;
    uint32_t after;
};

/* A request that has left. */
struct leaving {
    const uint64_t *ids;
    int64_t blocks;
    uint64_t admission;
};

struct roof_prefix_cache {
    int64_t part_blocks;
    struct block *block;
    uint32_t *table; /* first block of each bucket */
    uint32_t room;   /* size of both arrays, a power of two */
    uint32_t spare;  /* first block without contents; NONE: there is none */
    uint32_t oldest; /* ends of the list of idle blocks */
    uint32_t newest;
    int64_t idle;
    struct leaving *leaving; /* sorted by admission */
    size_t leavings;
};

/* Hashes a name to a bucket of the table with the finalizer of SplitMix64. */
static uint32_t place_of(const struct roof_prefix_cache *c, uint64_t id, uint32_t number)
{
    uint64_t x = id + UINT64_C(0x9e3779b97f4a7c15) * (number + UINT64_C(1));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x ^ (x >> 31)) & (c->room - 1);
}

static uint32_t look_up(const struct roof_prefix_cache *c, uint64_t id, uint32_t number)
{
    uint32_t at = c->table[place_of(c, id, number)];
    while (at != NONE && (c->block[at].id != id || c->block[at].number != number)) {
        at = c->block[at].chain;
    }
    return at;
}

static uint64_t id_of(const struct roof_prefix_cache *c, const uint64_t *ids, int64_t block)
{
    return ids[block / c->part_blocks];
}

static uint32_t number_of(const struct roof_prefix_cache *c, int64_t block)
{
    return (uint32_t)(block % c->part_blocks);
}

static void chain(struct roof_prefix_cache *c, uint32_t at)
{
    uint32_t *const first = &c->table[place_of(c, c->block[at].id, c->block[at].number)];
    c->block[at].chain = *first;
    *first = at;
}

/* Doubles the arrays; all blocks have contents. */
static enum roof_status grow(struct roof_prefix_cache *c, struct roof_error *error)
{
    const uint32_t before = c->room;
    const uint32_t room = before == 0 ? ROOM_FIRST : 2 * before;
    if (room > NONE / 2) {
        return roof_no_memory(error);
    }
    struct block *const block = realloc(c->block, room * sizeof *block);
    c->block = block == NULL ? c->block : block;
    uint32_t *const table = realloc(c->table, room * sizeof *table);
    c->table = table == NULL ? c->table : table;
    if (block == NULL || table == NULL) {
        return roof_no_memory(error);
    }
    c->room = room;
    for (uint32_t i = 0; i < room; i++) {
        table[i] = NONE;
    }
    for (uint32_t i = 0; i < before; i++) {
        chain(c, i);
    }
    for (uint32_t i = room; i > before; i--) {
        block[i - 1] = (struct block){.after = c->spare};
        c->spare = i - 1;
    }
    return ROOF_OK;
}

enum roof_status roof_prefix_cache_open(struct roof_prefix_cache **out, int64_t part_blocks,
                                        int64_t requests, struct roof_error *error)
{
    struct roof_prefix_cache *const c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL) {
        return roof_no_memory(error);
    }
    c->part_blocks = part_blocks;
    c->spare = c->oldest = c->newest = NONE;
    c->leaving = calloc((size_t)requests, sizeof *c->leaving);
    return c->leaving == NULL ? roof_no_memory(error) : grow(c, error);
}

void roof_prefix_cache_free(struct roof_prefix_cache *c)
{
    if (c != NULL) {
        free(c->block);
        free(c->table);
        free(c->leaving);
        free(c);
    }
}

int64_t roof_prefix_cache_find(int64_t *used, const struct roof_prefix_cache *c,
                               const uint64_t *ids, int64_t blocks)
{
    int64_t found = 0;
    *used = 0;
    while (found < blocks) {
        const uint32_t at = look_up(c, id_of(c, ids, found), number_of(c, found));
        if (at == NONE) {
            break;
        }
        *used += c->block[at].users > 0 ? 1 : 0;
        found++;
    }
    return found;
}

/* Removes a block from the list of idle ones. */
static void take_idle(struct roof_prefix_cache *c, uint32_t at)
{
    const struct block *const b = &c->block[at];
    *(b->before == NONE ? &c->oldest : &c->block[b->before].after) = b->after;
    *(b->after == NONE ? &c->newest : &c->block[b->after].before) = b->before;
    c->idle--;
}

/* Adds a block to the cache. No request uses it yet. */
static enum roof_status add(uint32_t *out, struct roof_prefix_cache *c, uint64_t id,
                            uint32_t number, struct roof_error *error)
{
    if (c->spare == NONE) {
        TRY(grow(c, error));
    }
    *out = c->spare;
    c->spare = c->block[*out].after;
    c->block[*out] = (struct block){.id = id, .number = number};
    chain(c, *out);
    return ROOF_OK;
}

enum roof_status roof_prefix_cache_use(int64_t *others, struct roof_prefix_cache *c,
                                       const uint64_t *ids, int64_t first, int64_t end,
                                       struct roof_error *error)
{
    *others = 0;
    for (int64_t i = first; i < end; i++) {
        const uint64_t id = id_of(c, ids, i);
        const uint32_t number = number_of(c, i);
        uint32_t at = look_up(c, id, number);
        if (at == NONE) {
            TRY(add(&at, c, id, number, error));
        } else if (c->block[at].users == 0) {
            take_idle(c, at);
        } else {
            ++*others;
        }
        c->block[at].users++;
    }
    return ROOF_OK;
}

void roof_prefix_cache_leave(struct roof_prefix_cache *c, const uint64_t *ids, int64_t blocks,
                             uint64_t admission)
{
    size_t at = c->leavings++;
    for (; at > 0 && c->leaving[at - 1].admission > admission; at--) {
        c->leaving[at] = c->leaving[at - 1];
    }
    c->leaving[at] = (struct leaving){ids, blocks, admission};
}

/* Ends a use of a block. */
static void end_use(struct roof_prefix_cache *c, uint32_t at)
{
    struct block *const b = &c->block[at];
    if (--b->users == 0) {
        b->before = c->newest;
        b->after = NONE;
        *(c->newest == NONE ? &c->oldest : &c->block[c->newest].after) = at;
        c->newest = at;
        c->idle++;
    }
}

int64_t roof_prefix_cache_settle(struct roof_prefix_cache *c)
{
    const int64_t before = c->idle;
    for (size_t i = 0; i < c->leavings; i++) {
        const struct leaving *const left = &c->leaving[i];
        for (int64_t b = left->blocks - 1; b >= 0; b--) {
            end_use(c, look_up(c, id_of(c, left->ids, b), number_of(c, b)));
        }
    }
    c->leavings = 0;
    return c->idle - before;
}

void roof_prefix_cache_evict(struct roof_prefix_cache *c, int64_t most)
{
    while (c->idle > most) {
        const uint32_t at = c->oldest;
        struct block *const b = &c->block[at];
        uint32_t *link = &c->table[place_of(c, b->id, b->number)];
        while (*link != at) {
            link = &c->block[*link].chain;
        }
        *link = b->chain;
        take_idle(c, at);
        b->after = c->spare;
        c->spare = at;
    }
}
