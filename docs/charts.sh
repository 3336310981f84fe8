#!/bin/sh
# SPDX-License-Identifier: MIT
# The charts of the documentation: sh docs/charts.sh PROGRAM FOLDER [scripts]
# Writes for each its script for gnuplot, and unless only scripts are wanted its image.
set -eu
[ $# -ge 2 ] || { echo "usage: sh docs/charts.sh PROGRAM FOLDER [scripts]" >&2; exit 2; }
program=$1
folder=$2
only=${3:-}
here=$(dirname "$0")/charts

# chart NAME OPTION...
chart() {
    name=$1
    shift
    "$program" plot "$@" -o "$folder/$name.gp"
    [ "$only" = scripts ] || "$program" plot "$@" -o "$folder/$name.svg"
}

# curves NAME COMMAND OPTION...
curves() {
    name=$1
    shift
    "$program" "$@" -o "$folder/$name.gp"
    [ "$only" = scripts ] || "$program" "$@" -o "$folder/$name.svg"
}

chart llama-2-7b-a100 --from "$here/llama-2-7b.csv" -H a100 \
    --ceilings int8,fp16,tf32,fp32,fp64:vector --line 'measured GEMM=271.2TFLOPS' \
    --title 'Llama-2-7B on an A100: decode and prefill'
chart deepseek-r1-gb200 model deepseek-r1-0528-nvfp4-v2 -H gb200-nvl72 --layout checkpoint \
    --tp 4 --phase decode --batch 1,128 --context 4096 \
    --title 'DeepSeek-R1 NVFP4 on four GB200: decode kernels at batch 1 and 128'
chart gemm-expected gemm -m 1:4096:x4 -n 4096 -k 4096 -H a100-sxm-80gb,h100-sxm --expected \
    --ceilings bf16 --title 'A GEMM of 4096 x 4096 with 1 to 4096 rows: bound and expected'
curves llama-3.3-70b-plans recommend model llama-3.3-70b -H h100-sxm,h200-sxm --devices 4 --prompt 2k \
    --generate 500 --title 'Llama-3.3-70B on four GPUs: ways to serve it' --size 1000x620
curves llama-3-8b-load simulate llama-3-8b -H h100-sxm --prompt 1k --generate 200 \
    --max-ttft p99:200ms --title 'Llama-3-8B on one H100: latency over load' --size 1000x620
curves llama-3-8b-queue simulate llama-3-8b -H h100-sxm --rate 16 --arrivals gamma:3 --prompt 1k --generate 200 \
    --requests 1500 --chart time --title 'Llama-3-8B on one H100: bursts of requests' --size 1000x560
curves llama-3-8b-latencies simulate llama-3-8b -H h100-sxm --rate 16 --arrivals gamma:3 --prompt 1k --generate 200 \
    --chart distribution --max-ttft p90:400ms --title 'Llama-3-8B on one H100: latencies of requests in bursts' \
    --size 1000x560
