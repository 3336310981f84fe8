// SPDX-License-Identifier: MIT
/*
 * The parameters of the kernels' models, each list in the order of struct roof_kernel_fit: key,
 * least, most, where a fit begins, meaning. An includer defines the macro of the list that it
 * wants. Latencies are in clocks and rates in shares of the device's own figures, so that they
 * carry over to other devices. Where least and most are equal, the value is common to all.
 */
#ifndef ROOF_GEMM_PARAMETER
#define ROOF_GEMM_PARAMETER(id, key, least, most, start, meaning)
#endif
#ifndef ROOF_DECODE_PARAMETER
#define ROOF_DECODE_PARAMETER(id, key, least, most, start, meaning)
#endif
#ifndef ROOF_PREFILL_PARAMETER
#define ROOF_PREFILL_PARAMETER(id, key, least, most, start, meaning)
#endif

ROOF_GEMM_PARAMETER(LAUNCH, "launch_clocks", 300, 4e4, 4600,
                    "launch of a kernel inside a graph, with the drain at its end")
ROOF_GEMM_PARAMETER(DRAM, "dram", 0.4, 1, 0.85, "share of the printed bandwidth")
ROOF_GEMM_PARAMETER(PEAK, "peak", 0.1, 1, 0.94, "share of the dense peak with an endless tile")
ROOF_GEMM_PARAMETER(L2_CAPACITY, "l2_capacity", 0.5, 1.3, 1, "share of the L2 that keeps data")
ROOF_GEMM_PARAMETER(FEED, "feed_bytes_per_clock", 4, 400, 70, "operands from the L2 into an SM")
ROOF_GEMM_PARAMETER(L2_RATE, "l2_bytes_per_clock", 2, 100, 11,
                    "what an SM gets of data that is in the L2 already")
ROOF_GEMM_PARAMETER(STREAM, "stream", 5.5, 5.5, 5.5,
                    "DRAM rate of a lone thread block, in fair shares of an SM")
ROOF_GEMM_PARAMETER(PROLOGUE, "prologue_clocks", 20, 3e4, 440, "fill and drain of a thread block")
ROOF_GEMM_PARAMETER(K_STEP, "k_step_clocks", 5, 2000, 138, "least time of 128 bytes of K")
ROOF_GEMM_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.2,
                    "share of the shorter of memory and SM time that shows")
ROOF_GEMM_PARAMETER(WAVE, "wave", 0.02, 1, 0.25, "share of a last wave's idle time that is lost")
ROOF_GEMM_PARAMETER(SPLIT, "split_clocks", 30, 6e5, 4000, "fixed cost of split-K")
ROOF_GEMM_PARAMETER(REDUCE, "reduce", 3.9, 3.9, 3.9,
                    "rate of adding up partial results, over that of DRAM")
ROOF_GEMM_PARAMETER(TILE, "tile", 0.001, 2, 0.075, "loss of small tiles: 1 + this (64/m + 64/n)")
ROOF_GEMM_PARAMETER(EPILOGUE, "epilogue", 0.1, 50, 2,
                    "rate of writing a tile, in fair shares of an SM")
ROOF_GEMM_PARAMETER(POWER, "power", 0.0001, 0.3, 0.036,
                    "clock lost per e-fold of compute time above 100 us")
ROOF_GEMM_PARAMETER(Q_LAUNCH, "quantize_launch_clocks", 300, 4e4, 5500,
                    "launch of the quantisation of the input")
ROOF_GEMM_PARAMETER(Q_RATE, "quantize_rate", 0.02, 5, 0.8, "its rate over that of DRAM")
ROOF_GEMM_PARAMETER(Q_ROW, "quantize_row_clocks", 0.02, 40, 0.8, "its serial time per row")

ROOF_DECODE_PARAMETER(LAUNCH, "launch_clocks", 1000, 1e5, 15000,
                      "launch, with the append of K and V and the last reduction")
ROOF_DECODE_PARAMETER(DRAM, "dram", 0.2, 1, 0.87, "share of the printed bandwidth")
ROOF_DECODE_PARAMETER(L2_RATE, "l2_rate", 1, 12, 6, "L2 bandwidth over that of DRAM")
ROOF_DECODE_PARAMETER(L2_CAPACITY, "l2_capacity", 0.05, 3, 0.9, "share of the L2 that keeps data")
ROOF_DECODE_PARAMETER(OVERLAP, "overlap", 0.001, 1, 0.06,
                      "share of the shorter of memory and compute time that shows")
ROOF_DECODE_PARAMETER(DOUBLING, "doubling_clocks", 1, 1e4, 1500,
                      "each doubling of the length: more splits, a deeper reduction")
ROOF_DECODE_PARAMETER(CHUNK, "chunk_tokens", 8, 4096, 150, "length from which it is split")
ROOF_DECODE_PARAMETER(PAD_HEADS, "pad_heads", 0.1, 64, 15,
                      "rows of a matrix tile that no query head of the group fills")
ROOF_DECODE_PARAMETER(PAD_TOKENS, "pad_tokens", 1, 256, 40, "tokens computed beyond the length")
ROOF_DECODE_PARAMETER(PEAK, "peak", 0.005, 1, 0.32, "share of the dense peak")
ROOF_DECODE_PARAMETER(WINDOW, "window", 0.0001, 1, 0.009,
                      "share of the tokens before a window that is read all the same")
ROOF_DECODE_PARAMETER(BLOCK, "block_clocks", 1, 1e5, 1800, "ends of a thread block")
ROOF_DECODE_PARAMETER(STREAM, "stream", 0.2, 300, 160,
                      "rate of one sequence and KV head, in fair shares of an SM")

ROOF_PREFILL_PARAMETER(LAUNCH, "launch_clocks", 1000, 2e5, 19000,
                       "launch, with the append of K and V")
ROOF_PREFILL_PARAMETER(PASSES, "passes", 0.3, 10, 1.1,
                       "times that Q, K, V and the result cross the printed bandwidth")
ROOF_PREFILL_PARAMETER(PEAK, "peak", 0.02, 1, 0.76, "share of the dense peak")
ROOF_PREFILL_PARAMETER(EXP, "exp_clocks", 1e-4, 1, 0.06, "softmax of a score in an SM")
ROOF_PREFILL_PARAMETER(TILE, "tile_scores", 1, 512, 19, "masked scores computed per query")
ROOF_PREFILL_PARAMETER(WAVE, "wave", 0.001, 5, 0.7, "share of a last tile that all wait for")
ROOF_PREFILL_PARAMETER(BLOCK, "block_clocks", 1, 2e4, 3000, "ends of a thread block")
ROOF_PREFILL_PARAMETER(L2_CAPACITY, "l2_capacity", 0.02, 3, 1, "share of the L2 that keeps data")
ROOF_PREFILL_PARAMETER(WINDOW, "window", 0.0001, 1, 0.06,
                       "share of the scores before a window that is computed all the same")

#undef ROOF_GEMM_PARAMETER
#undef ROOF_DECODE_PARAMETER
#undef ROOF_PREFILL_PARAMETER
