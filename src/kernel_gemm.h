// SPDX-License-Identifier: MIT
/*
 * The parameters of the GEMM model, in the order of struct roof_kernel_fit: key, least, most, where a
 * fit begins, meaning. Latencies are in clocks and rates in shares of the device's own figures, so
 * that they carry over to other devices. Where least and most are equal, the value is common to all.
 */
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
