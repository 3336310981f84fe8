#!/bin/sh
# SPDX-License-Identifier: MIT
# Published kernel timings as rows for roofline compare: sh tests/measured.sh DIR > rows.csv
# DIR holds the files by their names and columns; those that are not there are left out.
set -eu
LC_ALL=C
export LC_ALL
if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    echo "usage: $0 DIR" >&2
    exit 2
fi

columns=source,operator,hardware,stack,m,n,k,batch,heads,kv_heads,head_dim,window,query_len,kv_len,causal
echo "$columns,weights,activations,kv,out,quantize_input,cache,working_set_bytes,measured_us"

# Ids of the devices by the names in the files.
devices='
function device(gpu) {
    if (gpu == "A100-SXM4-80GB") return "a100-sxm-80gb"
    if (gpu == "H100-SXM5-80GB") return "h100-sxm"
    if (gpu == "B200-SXM") return "hgx-b200"
    if (gpu == "L40S") return "l40s"
    return tolower(gpu)
}
function stack(lib) { sub(/-.*/, "", lib); return lib }
'

if [ -f "$1/aic_gemm.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" { next }
    {
        w = a = "bf16"; wb = xb = 2; q = "none"
        if ($3 == "fp8_dyn") { w = a = "fp8_e4m3"; wb = xb = 1; q = "dynamic" }
        if ($3 == "fp8_static") { w = a = "fp8_e4m3"; wb = xb = 1; q = "static" }
        if ($3 == "fp8_block") { w = "fp8_block128"; a = "fp8_e4m3"; wb = xb = 1; q = "block" }
        if ($3 == "nvfp4") { w = a = "nvfp4"; wb = xb = 0.5625; q = "block" }
        if ($3 == "int8_w8a8") { w = a = "int8"; wb = xb = 1 }
        if ($3 == "w8a16") { w = "int8_channel"; wb = 1 }
        if ($3 == "w4a16") { w = "int4_g128"; wb = 0.515625 }
        set = $7 * $5 * $6 * wb + $4 * $6 * xb + $4 * $5 * 2
        printf "aic_gemm,gemm,%s,%s,%s,%s,%s,,,,,,,,,%s,%s,,bf16,%s,,%.0f,%s\n", device($2),
            stack($1), $4, $5, $6, w, a, q, set, $9
    }' "$1/aic_gemm.csv"
fi

# Attention repeats one cache, so it is warm as far as the cache fits in the L2.
if [ -f "$1/aic_attn_decode.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" { next }
    {
        kv = $4 == "fp8" ? "fp8_e4m3" : $4
        printf "aic_attn_decode,flash-attention,%s,%s,,,,%s,%s,%s,%s,%s,1,%s,,,bf16,%s,bf16,,warm,,%s\n",
            device($2), stack($1), $5, $6, $7, $8, $9, $10, kv, $12
    }' "$1/aic_attn_decode.csv"
fi
if [ -f "$1/aic_attn_prefill.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" { next }
    {
        a = $4 == "fp8" ? "fp8_e4m3" : $4
        kv = $5 == "fp8" ? "fp8_e4m3" : $5
        printf "aic_attn_prefill,flash-attention,%s,%s,,,,%s,%s,%s,%s,%s,%s,%s,1,,%s,%s,bf16,,warm,,%s\n",
            device($2), stack($1), $6, $7, $8, $9, $10, $11, $11, a, kv, $12
    }' "$1/aic_attn_prefill.csv"
fi
