// SPDX-License-Identifier: MIT
/* The blocks of a KV cache whose contents have names: whole blocks of prompts. A request with the
 * same names need not compute them.
 *
 * A prompt has one id per part, a fixed number of tokens; the id stands for all tokens up to the
 * end of the part. Block b of the prompt is block b mod n of part b / n, for parts of n blocks.
 * Blocks that no request uses are idle: they keep their contents until they are evicted, the
 * longest idle one first. */
#ifndef ROOF_SIMULATE_PREFIX_CACHE_H
#define ROOF_SIMULATE_PREFIX_CACHE_H

#include <stdint.h>

#include "base/error.h"

/* The tokens in a block of the KV cache. */
#define ROOF_BLOCK_TOKENS 16

struct roof_prefix_cache;

/* Opens an empty cache. `part_blocks` is the number of blocks in a part, and `requests` the most
 * that use the cache at a time. The caller owns *out: roof_prefix_cache_free. */
enum roof_status roof_prefix_cache_open(struct roof_prefix_cache **out, int64_t part_blocks,
                                        int64_t requests, struct roof_error *error);
void roof_prefix_cache_free(struct roof_prefix_cache *cache);

/* Counts the leading blocks of a prompt that are in the cache, up to a limit; *used is the number
 * of those that are not idle. */
int64_t roof_prefix_cache_find(int64_t *used, const struct roof_prefix_cache *cache,
                               const uint64_t *ids, int64_t blocks);

/* Makes a request use blocks `first` to `end` - 1 of its prompt, and adds those that are missing.
 * *others is the number of those that other requests already use. */
enum roof_status roof_prefix_cache_use(int64_t *others, struct roof_prefix_cache *cache,
                                       const uint64_t *ids, int64_t first, int64_t end,
                                       struct roof_error *error);

/* Records that a request does not use the first blocks of its prompt any more. */
void roof_prefix_cache_leave(struct roof_prefix_cache *cache, const uint64_t *ids, int64_t blocks,
                             uint64_t admission);
/* Ends the use of blocks by all requests that left, in the order of their admission, and from the
 * last block of a prompt to the first; returns the number of blocks that became idle. */
int64_t roof_prefix_cache_settle(struct roof_prefix_cache *cache);

/* Evicts idle blocks until at most `most` are left. */
void roof_prefix_cache_evict(struct roof_prefix_cache *cache, int64_t most);

#endif
