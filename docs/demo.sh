#!/bin/sh
# SPDX-License-Identifier: MIT
# The decision that the tool exists for, in one page: sh docs/demo.sh PROGRAM
set -eu
roofline=${1:-roofline}

say() {
    printf '\n== %s\n\n' "$*"
}

show() {
    printf '$ roofline %s\n' "$*"
    "$roofline" "$@"
}

say 'One token on a DGX Spark: a decode GEMV, 4096 x 4096. How fast at best, in which format?'
show sweep gemv -n 4096 -k 4096 -H dgx-spark -p fp16,fp8,int4,nvfp4

say 'A prompt of 4096 tokens through the same layer: a prefill GEMM'
show sweep gemm -m 4096 -n 4096 -k 4096 -H dgx-spark -p fp16,fp8,int4,nvfp4

say 'What limits the GEMV?'
show predict gemv -n 4096 -k 4096 -H dgx-spark -p nvfp4

say 'Which format, then?'
show recommend gemm -m 1 -n 4096 -k 4096 -H dgx-spark

say 'And a whole model: Llama-3-8B on it in NVFP4, one user. How many tokens per second?'
show predict model llama-3-8b -H dgx-spark -p nvfp4 --context 8192 --top 6

say 'Every formula with its numbers: add --why. Every device and model: roofline list hardware, list models.'
