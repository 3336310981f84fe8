// SPDX-License-Identifier: MIT
/*
 * The parameters of the formulas of kernels, each list in the order of struct roof_kernel_fit: key,
 * minimum, maximum, start of a fit, the value without an effect at which it may be left out
 * (NEEDED: it may not), meaning. An includer defines the macro of the list that it wants. Latencies
 * are in clocks and rates in shares of the device's own figures, so that other devices can use
 * them. If minimum and maximum are equal, all fits have this value.
 */
#ifndef ROOF_GEMM_PARAMETER
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_DECODE_PARAMETER
#define ROOF_DECODE_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_PREFILL_PARAMETER
#define ROOF_PREFILL_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_MLA_DECODE_PARAMETER
#define ROOF_MLA_DECODE_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_MLA_PREFILL_PARAMETER
#define ROOF_MLA_PREFILL_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_MOE_PARAMETER
#define ROOF_MOE_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_COLLECTIVE_PARAMETER
#define ROOF_COLLECTIVE_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_ONE_SHOT_PARAMETER
#define ROOF_ONE_SHOT_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_PLAIN_PARAMETER
#define ROOF_PLAIN_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_VECTOR_PARAMETER
#define ROOF_VECTOR_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_INDEX_PARAMETER
#define ROOF_INDEX_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_TOP_K_PARAMETER
#define ROOF_TOP_K_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_SPARSE_PARAMETER
#define ROOF_SPARSE_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_COMPRESSED_PARAMETER
#define ROOF_COMPRESSED_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_GROUPS_PARAMETER
#define ROOF_GROUPS_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif
#ifndef ROOF_SCAN_PARAMETER
#define ROOF_SCAN_PARAMETER(id, key, least, most, start, neutral, meaning)
#endif

ROOF_GEMM_PARAMETER(LAUNCH, "launch_clocks", 300, 4e4, 4600, NEEDED,
                    "launch of a kernel inside a graph, with the drain at its end")
ROOF_GEMM_PARAMETER(DRAM, "dram", 0.4, 1, 0.85, NEEDED, "share of the printed bandwidth")
ROOF_GEMM_PARAMETER(PEAK, "peak", 0.1, 1, 0.94, NEEDED,
                    "share of the dense peak with an endless tile")
ROOF_GEMM_PARAMETER(L2_CAPACITY, "l2_capacity", 0.5, 1.3, 1, NEEDED,
                    "share of the L2 that keeps data")
ROOF_GEMM_PARAMETER(FEED, "feed_bytes_per_clock", 4, 400, 70, NEEDED,
                    "operands from the L2 into an SM")
ROOF_GEMM_PARAMETER(L2_RATE, "l2_bytes_per_clock", 2, 100, 11, NEEDED,
                    "what an SM gets of data that is in the L2 already")
ROOF_GEMM_PARAMETER(STREAM, "stream", ROOF_LONE_BLOCK, ROOF_LONE_BLOCK, ROOF_LONE_BLOCK, NEEDED,
                    "DRAM rate of a lone thread block, in fair shares of an SM")
ROOF_GEMM_PARAMETER(PROLOGUE, "prologue_clocks", 20, 3e4, 440, NEEDED,
                    "fill and drain of a thread block")
ROOF_GEMM_PARAMETER(K_STEP, "k_step_clocks", 5, 2000, 138, NEEDED, "least time of 128 bytes of K")
ROOF_GEMM_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.2, NEEDED,
                    "share of the shorter of memory and SM time that shows")
ROOF_GEMM_PARAMETER(WAVE, "wave", 0.02, 1, 0.25, NEEDED,
                    "share of a last wave's idle time that is lost")
ROOF_GEMM_PARAMETER(SPLIT, "split_clocks", 30, 6e5, 4000, NEEDED, "fixed cost of split-K")
ROOF_GEMM_PARAMETER(REDUCE, "reduce", 3.9, 3.9, 3.9, NEEDED,
                    "rate of adding up partial results, over that of DRAM")
ROOF_GEMM_PARAMETER(TILE, "tile", 0.001, 2, 0.075, NEEDED,
                    "loss of small tiles: 1 + this (64/m + 64/n)")
ROOF_GEMM_PARAMETER(EPILOGUE, "epilogue", 0.1, 50, 2, NEEDED,
                    "rate of writing a tile, in fair shares of an SM")
ROOF_GEMM_PARAMETER(POWER, "power", 0.0001, 0.3, 0.036, NEEDED,
                    "clock lost per e-fold of compute time above 100 us")
ROOF_GEMM_PARAMETER(Q_LAUNCH, "quantize_launch_clocks", 300, 4e4, 5500, NEEDED,
                    "launch of the quantisation of the input")
ROOF_GEMM_PARAMETER(Q_RATE, "quantize_rate", 0.02, 5, 0.8, NEEDED, "its rate over that of DRAM")
ROOF_GEMM_PARAMETER(Q_ROW, "quantize_row_clocks", 0.02, 40, 0.8, NEEDED, "its serial time per row")
ROOF_GEMM_PARAMETER(GRANULE, "row_granule", 1, 256, 128, 1,
                    "rows that a large product has a multiple of: those of a cluster's tiles")
ROOF_GEMM_PARAMETER(VECTOR_ROWS, "vector_rows", 1, 16, 4, 1,
                    "rows that a kernel without tiles has at most")

ROOF_DECODE_PARAMETER(LAUNCH, "launch_clocks", 1000, 1e5, 15000, NEEDED,
                      "launch, with the append of K and V and the last reduction")
ROOF_DECODE_PARAMETER(DRAM, "dram", 0.2, 1, 0.87, NEEDED, "share of the printed bandwidth")
ROOF_DECODE_PARAMETER(L2_RATE, "l2_rate", 1, 12, 6, NEEDED, "L2 bandwidth over that of DRAM")
ROOF_DECODE_PARAMETER(L2_CAPACITY, "l2_capacity", 0.05, 3, 0.9, NEEDED,
                      "share of the L2 that keeps data")
ROOF_DECODE_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.06, NEEDED,
                      "share of the shorter of memory and compute time that shows")
ROOF_DECODE_PARAMETER(DOUBLING, "doubling_clocks", 1, 1e4, 1500, NEEDED,
                      "each doubling of the length: more splits, a deeper reduction")
ROOF_DECODE_PARAMETER(CHUNK, "chunk_tokens", 8, 4096, 150, NEEDED, "length from which it is split")
ROOF_DECODE_PARAMETER(PAD_HEADS, "pad_heads", 0.1, 64, 15, NEEDED,
                      "rows of a matrix tile that no query head of the group fills")
ROOF_DECODE_PARAMETER(PAD_TOKENS, "pad_tokens", 1, 256, 40, NEEDED,
                      "tokens computed beyond the length")
ROOF_DECODE_PARAMETER(PEAK, "peak", 0.005, 1, 0.32, NEEDED, "share of the dense peak")
ROOF_DECODE_PARAMETER(WINDOW, "window", 0.0001, 1, 0.009, NEEDED,
                      "share of the tokens before a window that is read all the same")
ROOF_DECODE_PARAMETER(BLOCK, "block_clocks", 1, 1e5, 1800, NEEDED, "ends of a thread block")
ROOF_DECODE_PARAMETER(STREAM, "stream", 0.2, 300, 160, NEEDED,
                      "rate of one sequence and KV head, in fair shares of an SM")
ROOF_DECODE_PARAMETER(ALONE, "lone_rows", 1, 128, 64, 1,
                      "rows of the tile of a query head that does not share one with others")

ROOF_PREFILL_PARAMETER(LAUNCH, "launch_clocks", 1000, 2e5, 19000, NEEDED,
                       "launch, with the append of K and V")
ROOF_PREFILL_PARAMETER(PASSES, "passes", 0.3, 10, 1.1, NEEDED,
                       "times that Q, K, V and the result cross the printed bandwidth")
ROOF_PREFILL_PARAMETER(PEAK, "peak", 0.02, 1, 0.76, NEEDED, "share of the dense peak")
ROOF_PREFILL_PARAMETER(EXP, "exp_clocks", 1e-4, 1, 0.06, NEEDED, "softmax of a score in an SM")
ROOF_PREFILL_PARAMETER(TILE, "tile_scores", 1, 512, 19, NEEDED, "masked scores computed per query")
ROOF_PREFILL_PARAMETER(WAVE, "wave", 0.001, 5, 0.7, NEEDED,
                       "share of a last tile that all wait for")
ROOF_PREFILL_PARAMETER(BLOCK, "block_clocks", 1, 2e4, 3000, NEEDED, "ends of a thread block")
ROOF_PREFILL_PARAMETER(L2_CAPACITY, "l2_capacity", 0.02, 3, 1, NEEDED,
                       "share of the L2 that keeps data")
ROOF_PREFILL_PARAMETER(WINDOW, "window", 0.0001, 1, 0.06, NEEDED,
                       "share of the scores before a window that is computed all the same")
ROOF_PREFILL_PARAMETER(NARROW, "narrow", 0.05, 2, 1, 1,
                       "rate of scores of heads below 128, over that of heads of 128")
ROOF_PREFILL_PARAMETER(WIDE, "wide", 0.05, 2, 1, 1,
                       "rate of scores of heads above 128, over that of heads of 128")

ROOF_MLA_DECODE_PARAMETER(LAUNCH, "launch_clocks", 1000, 1e5, 18000, NEEDED,
                          "launch, with the append to the cache and the last reduction")
ROOF_MLA_DECODE_PARAMETER(DRAM, "dram", 0.2, 1, 0.9, NEEDED, "share of the printed bandwidth")
ROOF_MLA_DECODE_PARAMETER(L2_RATE, "l2_rate", 1, 12, 2, NEEDED, "L2 bandwidth over that of DRAM")
ROOF_MLA_DECODE_PARAMETER(QUERIES, "query_passes", 2.5, 2.5, 2.5, NEEDED,
                          "times that Q and the partial results cross the printed bandwidth")
ROOF_MLA_DECODE_PARAMETER(L2_CAPACITY, "l2_capacity", 0.05, 3, 0.7, NEEDED,
                          "share of the L2 that keeps data")
ROOF_MLA_DECODE_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.1, NEEDED,
                          "share of the shorter of memory and compute time that shows")
ROOF_MLA_DECODE_PARAMETER(DOUBLING, "doubling_clocks", 1, 2e4, 1700, NEEDED,
                          "each doubling of the length: more splits, a deeper reduction")
ROOF_MLA_DECODE_PARAMETER(CHUNK, "chunk_tokens", 8, 4096, 150, NEEDED,
                          "length from which it is split")
ROOF_MLA_DECODE_PARAMETER(ROWS, "tile_rows", 16, 128, 64, NEEDED,
                          "query heads of a matrix tile, as the device's matrix instruction has")
ROOF_MLA_DECODE_PARAMETER(REREAD, "reread", 0.001, 1, 0.3, NEEDED,
                          "share of the cache that each further tile reads from DRAM again")
ROOF_MLA_DECODE_PARAMETER(PAD_TOKENS, "pad_tokens", 1, 256, 25, NEEDED,
                          "tokens computed beyond the length")
ROOF_MLA_DECODE_PARAMETER(PEAK, "peak", 0.01, 1, 0.8, NEEDED, "share of the dense peak")
ROOF_MLA_DECODE_PARAMETER(BLOCK, "block_clocks", 1, 4e5, 3000, NEEDED, "ends of a thread block")
ROOF_MLA_DECODE_PARAMETER(STREAM, "stream", 0.2, 300, 80, NEEDED,
                          "rate of one sequence, in fair shares of an SM")
ROOF_MLA_DECODE_PARAMETER(SEQUENCE_SMS, "sequence_sms", 1e-9, 16, 2, 1e-9,
                          "SMs that walk over the cache of one sequence without splitting it")
ROOF_MLA_DECODE_PARAMETER(QUERY_CAPACITY, "query_capacity", 1e-9, 3, 1, 1e-9,
                          "share of the L2 that keeps queries beside the cache")

ROOF_MLA_PREFILL_PARAMETER(LAUNCH, "launch_clocks", 1000, 4e5, 27000, NEEDED, "launch")
ROOF_MLA_PREFILL_PARAMETER(PASSES, "passes", 0.1, 10, 1.2, NEEDED,
                           "times that Q, K, V and the result cross the printed bandwidth")
ROOF_MLA_PREFILL_PARAMETER(PEAK, "peak", 0.02, 1, 0.62, NEEDED, "share of the dense peak")
ROOF_MLA_PREFILL_PARAMETER(TILE, "tile_scores", 1, 512, 41, NEEDED,
                           "masked scores computed per query")
ROOF_MLA_PREFILL_PARAMETER(LONE, "lone_flop_per_clock", 50, 1e6, 4000, NEEDED,
                           "rate of one tile of queries over its keys")
ROOF_MLA_PREFILL_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.4, NEEDED,
                           "share of the shorter of all tiles and of one that shows")
ROOF_MLA_PREFILL_PARAMETER(BLOCK, "block_clocks", 1, 2e4, 2000, NEEDED, "ends of a thread block")
ROOF_MLA_PREFILL_PARAMETER(SEQUENCE, "sequence_clocks", 0.1, 2e4, 180, NEEDED,
                           "setup of a sequence")
ROOF_MLA_PREFILL_PARAMETER(L2_CAPACITY, "l2_capacity", 0.02, 3, 0.46, NEEDED,
                           "share of the L2 that keeps data")

ROOF_MOE_PARAMETER(LAUNCH, "launch_clocks", 1000, 4e5, 32000, NEEDED,
                   "launches: routing, permutation, both products, the sum")
ROOF_MOE_PARAMETER(DRAM, "dram", 0.2, 1, 0.9, NEEDED, "share of the printed bandwidth")
ROOF_MOE_PARAMETER(PEAK, "peak", 0.02, 1, 0.5, NEEDED, "share of the dense peak")
ROOF_MOE_PARAMETER(TILE_ROWS, "tile_rows", 1, 256, 14, NEEDED,
                   "rows padded per expert that is touched")
ROOF_MOE_PARAMETER(REREAD, "reread", 0.001, 4, 0.2, NEEDED,
                   "passes over an expert's weights beyond the first, when it has many rows")
ROOF_MOE_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.2, NEEDED,
                   "share of the shorter of memory and compute time that shows")
ROOF_MOE_PARAMETER(PASSES, "passes", 0.01, 10, 1.6, NEEDED,
                   "times that the activations cross the printed bandwidth")
ROOF_MOE_PARAMETER(DOUBLING, "doubling_clocks", 1, 2e4, 4200, NEEDED,
                   "each doubling of the rows: sorting them by expert")
ROOF_MOE_PARAMETER(STREAM, "stream", 0.1, 100, 16, NEEDED,
                   "rate of a column tile over all of K, in fair shares of an SM")
ROOF_MOE_PARAMETER(L2_RATE, "l2_rate", 1, 12, 7, NEEDED, "L2 bandwidth over that of DRAM")
ROOF_MOE_PARAMETER(L2_CAPACITY, "l2_capacity", 0.02, 3, 0.9, NEEDED,
                   "share of the L2 that keeps data")
ROOF_MOE_PARAMETER(COLUMNS, "column_granule", 1, 256, 128, 1,
                   "columns that an expert has a multiple of: those of a tile")

ROOF_VECTOR_PARAMETER(LAUNCH, "launch_clocks", 100, 1e5, 3500, NEEDED,
                      "launch of a kernel inside a graph")
ROOF_VECTOR_PARAMETER(DRAM, "dram", 0.1, 1, 0.8, NEEDED, "share of the printed bandwidth")
ROOF_VECTOR_PARAMETER(L2_RATE, "l2_rate", 1, 12, 3.5, NEEDED, "L2 bandwidth over that of DRAM")
ROOF_VECTOR_PARAMETER(L2_CAPACITY, "l2_capacity", 0.02, 3, 0.66, NEEDED,
                      "share of the L2 that keeps data")
ROOF_VECTOR_PARAMETER(ROW, "row_clocks", 1e-3, 2000, 2, NEEDED, "each row, in an SM")

ROOF_SCAN_PARAMETER(LAUNCH, "launch_clocks", 1000, 4e5, 33000, NEEDED,
                    "launches of all kernels of a chain")
ROOF_SCAN_PARAMETER(TOKENS, "token_passes", 1e-3, 100, 4.5, NEEDED,
                    "intermediate results of the tokens, in sizes of the inputs and results")
ROOF_SCAN_PARAMETER(STATES, "state_passes", 1e-3, 100, 0.37, NEEDED,
                    "further times that the states are read and written")
ROOF_SCAN_PARAMETER(CHUNKS, "chunk_passes", 1e-3, 100, 2.7, NEEDED,
                    "times that a state of 16 bits for each 64 tokens is read or written")
ROOF_SCAN_PARAMETER(RATE, "bytes_per_clock", 1, 300, 10, NEEDED,
                    "what an SM moves and computes of all these")
ROOF_SCAN_PARAMETER(STEP, "chunk_clocks", 1, 1e6, 3300, NEEDED,
                    "64 tokens of a sequence, which wait for those before them")
ROOF_SCAN_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.27, NEEDED,
                    "share of the shorter of moving and waiting that shows")
ROOF_SCAN_PARAMETER(L2_CAPACITY, "l2_capacity", 0.05, 100, 2.7, NEEDED,
                    "moved bytes of which the L2 keeps half, in its size")

ROOF_INDEX_PARAMETER(LAUNCH, "launch_clocks", 500, 1e5, 6000, NEEDED, "launch")
ROOF_INDEX_PARAMETER(PEAK, "peak", 0.02, 1, 0.45, NEEDED, "share of the dense peak")
ROOF_INDEX_PARAMETER(BLOCK, "block_clocks", 1, 1e5, 1200, NEEDED, "ends of a tile of rows")
ROOF_INDEX_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.1, NEEDED,
                     "share of the shorter of all tiles, one of them and memory that shows")
ROOF_INDEX_PARAMETER(DRAM, "dram", 0.2, 1, 0.85, NEEDED, "share of the printed bandwidth")

ROOF_TOP_K_PARAMETER(LAUNCH, "launch_clocks", 1, 1e5, 500, NEEDED, "launch")
ROOF_TOP_K_PARAMETER(ROW, "row_clocks", 10, 1e6, 7000, NEEDED,
                     "passes over the scores of a query, without the scores themselves")
ROOF_TOP_K_PARAMETER(KEY, "key_clocks", 1e-3, 100, 0.3, NEEDED, "each score of a query")
ROOF_TOP_K_PARAMETER(EASY, "easy", 0.001, 1, 0.35, NEEDED,
                     "share of these passes if all keys of a query are chosen")
ROOF_TOP_K_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.3, NEEDED,
                     "share of the shorter of all queries and one of them that shows")
ROOF_TOP_K_PARAMETER(DRAM, "dram", 0.1, 1, 0.7, NEEDED, "share of the printed bandwidth")
ROOF_TOP_K_PARAMETER(L2_CAPACITY, "l2_capacity", 0.02, 3, 0.5, NEEDED,
                     "share of the L2 that keeps data")

ROOF_SPARSE_PARAMETER(LAUNCH, "launch_clocks", 500, 3e4, 5000, NEEDED, "launch")
ROOF_SPARSE_PARAMETER(PEAK, "peak", 0.02, 1, 0.55, NEEDED, "share of the dense peak")
ROOF_SPARSE_PARAMETER(WAVE, "wave", 0.001, 1, 0.8, NEEDED,
                      "share of a last wave's idle time that is lost")
ROOF_SPARSE_PARAMETER(ROWS, "tile_rows", 16, 128, 64, NEEDED,
                      "query heads of a matrix tile, as the device's matrix instruction has")

ROOF_COMPRESSED_PARAMETER(LAUNCH, "launch_clocks", 500, 1e5, 6000, NEEDED, "launch")
ROOF_COMPRESSED_PARAMETER(PEAK, "peak", 0.02, 1, 0.3, NEEDED, "share of the dense peak")
ROOF_COMPRESSED_PARAMETER(BLOCK, "block_clocks", 1, 1e5, 8000, NEEDED, "ends of a tile of heads")
ROOF_COMPRESSED_PARAMETER(COMBINE, "combine_clocks", 1, 1e5, 10000, NEEDED,
                          "sum of the results of a query whose keys are split over SMs")

ROOF_GROUPS_PARAMETER(LAUNCH, "launch_clocks", 500, 1e5, 19000, NEEDED, "launch")
ROOF_GROUPS_PARAMETER(GROUP, "group_clocks", 1, 1e5, 9000, NEEDED,
                      "four sequences of a prompt, whose keys are gathered first")
ROOF_GROUPS_PARAMETER(PEAK, "peak", 0.02, 1, 0.6, NEEDED, "share of the dense peak")
ROOF_GROUPS_PARAMETER(BLOCK, "block_clocks", 1, 1e5, 12000, NEEDED,
                      "ends of a tile of heads: queries are read, results written")

ROOF_COLLECTIVE_PARAMETER(LAUNCH, "launch_clocks", 500, 1e5, 9000, NEEDED, "launch")
ROOF_COLLECTIVE_PARAMETER(STEP, "step_clocks", 1, 2e4, 1300, NEEDED,
                          "a step that waits for another device")
ROOF_COLLECTIVE_PARAMETER(LINK, "link", 0.02, 1, 0.6, NEEDED,
                          "share of the printed link bandwidth between two devices")
ROOF_COLLECTIVE_PARAMETER(GROWTH, "growth", 0.001, 100, 0.5, NEEDED,
                          "growth of the time per byte from two to eight devices (a ring: 0.75)")
ROOF_COLLECTIVE_PARAMETER(SHORT, "short", 0.005, 1, 0.3, NEEDED,
                          "share of that bandwidth in the protocol of short messages")
ROOF_COLLECTIVE_PARAMETER(SHORT_GROWTH, "short_growth", 0.001, 100, 0.75, NEEDED,
                          "the same growth in the protocol of short messages")
ROOF_COLLECTIVE_PARAMETER(LONG, "long_clocks", 50, 2e5, 12000, NEEDED,
                          "later start of the protocol of long messages")
ROOF_COLLECTIVE_PARAMETER(PIPE, "pipe_clocks", 1, 1e6, 14000, NEEDED, "fill of its pipeline")
ROOF_COLLECTIVE_PARAMETER(BRIEF, "short_bytes", 1, 65536, 65536, 1,
                          "bytes of a device up to which the protocol of short messages is taken")

ROOF_ONE_SHOT_PARAMETER(LAUNCH, "launch_clocks", 500, 1e5, 6000, NEEDED, "launch")
ROOF_ONE_SHOT_PARAMETER(STEP, "step_clocks", 1, 2e4, 500, NEEDED,
                        "each doubling of the devices in a barrier")
ROOF_ONE_SHOT_PARAMETER(LINK, "link", 0.01, 1, 0.5, NEEDED, "share of the printed link bandwidth")

ROOF_PLAIN_PARAMETER(LAUNCH, "launch_clocks", 1, 1e7, 4000, NEEDED,
                     "launch, or a barrier of all threads")
ROOF_PLAIN_PARAMETER(DRAM, "dram", 0.01, 1, 1, NEEDED, "share of the printed bandwidth")
ROOF_PLAIN_PARAMETER(PEAK, "peak", 1e-4, 1, 1, NEEDED, "share of the dense peak")
ROOF_PLAIN_PARAMETER(NARROW, "narrow_rows", 1e-3, 1e3, 1e-3, NEEDED,
                     "rows that converting the weights takes as long as")
ROOF_PLAIN_PARAMETER(OVERLAP, "overlap", 1e-3, 1, 1e-3, NEEDED,
                     "share of the shorter of memory and compute time that shows")
ROOF_PLAIN_PARAMETER(CACHE_RATE, "cache_rate", 1, 100, 4, NEEDED,
                     "cache bandwidth over that of DRAM")
ROOF_PLAIN_PARAMETER(CACHE_CAPACITY, "cache_capacity", 0.02, 3, 0.7, NEEDED,
                     "share of the last cache that keeps data")

#undef ROOF_PLAIN_PARAMETER
#undef ROOF_ONE_SHOT_PARAMETER
#undef ROOF_COLLECTIVE_PARAMETER
#undef ROOF_MLA_DECODE_PARAMETER
#undef ROOF_MLA_PREFILL_PARAMETER
#undef ROOF_MOE_PARAMETER
#undef ROOF_SCAN_PARAMETER
#undef ROOF_GROUPS_PARAMETER
#undef ROOF_COMPRESSED_PARAMETER
#undef ROOF_SPARSE_PARAMETER
#undef ROOF_TOP_K_PARAMETER
#undef ROOF_INDEX_PARAMETER
#undef ROOF_VECTOR_PARAMETER
#undef ROOF_GEMM_PARAMETER
#undef ROOF_DECODE_PARAMETER
#undef ROOF_PREFILL_PARAMETER
