// SPDX-License-Identifier: MIT
/*
 * The blocks of a KV cache whose contents have names: whole blocks of prompts. A request that comes
 * with the same names need not compute them.
 *
 * A prompt has an id for each part of so many tokens, which stands for all tokens up to the end of
 * the part; block b of the prompt is block b mod n of part b / n, for parts of n blocks. Blocks
 * that no request uses are idle: they keep their contents until they are evicted, the one that is
 * idle for the longest time first.
 */
#ifndef ROOF_SIMULATE_PREFIX_CACHE_H
#define ROOF_SIMULATE_PREFIX_CACHE_H

#include <stdint.h>

#include "base/error.h"

/* Tokens of a block of the KV cache. */
#define ROOF_BLOCK_TOKENS 16

struct roof_prefix_cache;

/* Opens an empty cache for parts of so many blocks, and at most so many requests that use it at a
 * time. The caller owns *out: roof_prefix_cache_free. */
enum roof_status roof_prefix_cache_open(struct roof_prefix_cache **out, int64_t part_blocks,
                                        int64_t requests, struct roof_error *error);
void roof_prefix_cache_free(struct roof_prefix_cache *cache);

/* Counts the blocks of a prompt that are there, from the first one on and at most so many; *used
 * are those of them that are not idle. */
int64_t roof_prefix_cache_find(int64_t *used, const struct roof_prefix_cache *cache,
                               const uint64_t *ids, int64_t blocks);

/* Lets a request use blocks `first` to `end` - 1 of its prompt, which are added where they are not
 * there. *others are those that other requests use already. */
enum roof_status roof_prefix_cache_use(int64_t *others, struct roof_prefix_cache *cache,
                                       const uint64_t *ids, int64_t first, int64_t end,
                                       struct roof_error *error);

/* Says that a request does not use the first blocks of its prompt any more. */
void roof_prefix_cache_leave(struct roof_prefix_cache *cache, const uint64_t *ids, int64_t blocks,
                             uint64_t admission);
/* Ends the use of blocks by all that left, in the order of their admission, and the last block of a
 * prompt first; returns how many blocks became idle. */
int64_t roof_prefix_cache_settle(struct roof_prefix_cache *cache);

/* Evicts idle blocks until there are at most so many. */
void roof_prefix_cache_evict(struct roof_prefix_cache *cache, int64_t most);

#endif
