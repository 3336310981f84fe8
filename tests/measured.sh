#!/bin/sh
# SPDX-License-Identifier: MIT
# Published timings as rows for roofline compare: sh tests/measured.sh DIR [models|skewed] > rows.csv
# DIR holds the files by their names and columns; those that are not there are left out. Kernels; or
# with "models" whole models, with "skewed" experts that get tokens by a power law.
set -eu
LC_ALL=C
export LC_ALL
case ${2:-kernels} in
kernels | models | skewed) ;;
*) set -- ;;
esac
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
    echo "usage: $0 DIR [models|skewed]" >&2
    exit 2
fi
what=${2:-kernels}

# Steps and whole requests of serving frameworks. A mean over steps is that at the middle length. An
# A100 whose memory is not stated is taken for one of 40 GB, whose bandwidth explains its times.
if [ "$what" = models ]; then
    echo "source,kind,metric,operator,model,layout,weights,activations,kv,hardware,stack,batch,tp,phase,context,chunk,prompt,generate,static,measured_us"
    # Cells with commas are the first, of which the repository is kept, a framework, and the last.
    sed -e '/^#/d' -e '/^source,/d' -e 's/^"github.com\/\([^ @"]*\)[^"]*"/\1/' \
        -e 's/^github.com\/\([^ @,]*\)[^,]*,/\1,/' -e 's/"gpt-fast ([^"]*"/gpt-fast/' "$1/e2e.csv" | awk -F, '
    $8 == "saturated" { next }
    {
        source = $1; sub(/.*\//, "", source)
        model = tolower($5); sub(/^meta-/, "", model); sub(/-hf$/, "", model)
        if (model ~ /nemotron|mistral-small|bielik/) next
        kind = model ~ /gpt-oss/ ? "moe" : "dense"
        gpu = $2 ~ /GB10/ ? "dgx-spark" : $2 ~ /PCIe/ ? "a100-pcie-80gb" : $2 ~ /A100.*80GB/ ? "a100-sxm-80gb" \
            : $2 ~ /^A100/ ? "a100-sxm-40gb" : $2 ~ /^H100/ ? "h100-sxm" : $2 ~ /4090/ ? "rtx-4090" : $2
        layout = $6 == "MXFP4" ? "gpt-oss-gguf" : $6 ~ /^Q/ ? tolower($6) : ""
        weights = layout != "" ? "" : $6 == "int8" ? "int8_channel" : $6 == "bf16" ? "bf16" : "fp16"
        other = $6 == "bf16" || $6 == "int8" ? "bf16" : "fp16"
        stack = $4 == "TensorRT-LLM" ? "trtllm" : $4 == "vLLM" ? "vllm" : ""
        phase = $12 ~ /^decode/ ? "decode" : $12 ~ /^prefill/ ? "prefill" : ""
        us = $12 ~ /_ms$/ ? $13 * 1000 : $12 ~ /_s$/ && $12 !~ /tok_s/ ? $13 * 1e6 : 1e6 / $13
        context = chunk = prompt = generate = together = ""
        if (phase == "decode") context = $11 + int($10 / 2) + ($9 > 0 && $11 == 0 ? $9 : 0)
        if (phase == "prefill") { context = $11 + $9; chunk = $9 }
        if ($12 == "prefill_tok_s") us *= $9
        if (phase == "") { # those whose cache does not fit ran in several rounds
            prompt = $9; generate = $10; together = 1
            bytes = model == "llama-2-7b" ? 13.5e9 + $8 * ($9 + $10) * 524288 : 16.1e9 + $8 * ($9 + $10) * 131072
            if (bytes > 0.9 * (gpu ~ /40gb/ ? 40 : 80) * 1024 ^ 3) next
        }
        printf "%s,%s,%s,model,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%.1f\n", source, kind, $12, model, layout,
            weights, other, other, gpu, stack, $8, $3, phase, context, chunk, prompt, generate, together, us
    }'
    exit
fi

columns=source,operator,hardware,stack,m,n,k,batch,heads,kv_heads,head_dim,window,query_len,kv_len,causal
columns=$columns,weights,activations,kv,out,quantize_input,cache,working_set_bytes,measured_us
columns=$columns,tokens,hidden,intermediate,experts,top_k,routing,elements,devices,algorithm,scan_chunk,compression
echo "$columns"
# Rows end where nothing more is said.
pad() { awk -F, -v columns="$columns" 'BEGIN { OFS = ","; n = split(columns, c, ",") } { $n = $n; print }'; }

# Ids of the devices by the names in the files.
devices='
function device(gpu) {
    if (gpu == "A100-SXM4-80GB") return "a100-sxm-80gb"
    if (gpu == "H100-SXM5-80GB") return "h100-sxm"
    if (gpu == "B200-SXM") return "hgx-b200"
    if (gpu == "L40S") return "l40s"
    if (gpu == "RTX-PRO-6000-Server") return "rtx-pro-6000"
    if (gpu == "A100-80GB") return "a100-sxm-80gb"
    if (gpu == "H100-80GB") return "h100-sxm"
    return tolower(gpu)
}
function stack(lib) { sub(/-.*/, "", lib); return lib }
'

# Tokens spread evenly over the experts, or by a power law, which has no routing of its own here. On B200
# TensorRT-LLM has two kernels for experts of 4 bits. Served runs use its own (moe_config.backend TRTLLM), which
# SGLang calls, too: of the shapes that both measured they differ by 2 to 4% with up to 64 tokens. The rows of
# TensorRT-LLM with NVFP4 are of CUTLASS instead, which takes up to twice as long; those of SGLang stand for them,
# and for the shapes with MXFP4 weights that TensorRT-LLM did not measure.
experts() {
    [ -f "$1/aic_moe.csv" ] || return 0
    awk -F, -v kind="$2" -v routing="$3" "$devices"'
    function put(name) {
        printf "aic_moe,moe,%s,%s,,,,,,,,,,,,%s,%s,,bf16,%s,warm,,%s,%s,%s,%s,%s,%s,%s\n", device($2),
            name, w, a, q, $12, $5, $6, $7 / $10, $9, $8, routing
    }
    /^#/ || $1 == "lib" || $11 != kind || ($2 == "B200-SXM" && $3 == "moe_torch_flow_cutlass" && $4 == "nvfp4") { next }
    {
        w = a = "bf16"; q = "none"
        if ($4 == "fp8_dyn") { w = a = "fp8_e4m3"; q = "dynamic" }
        if ($4 == "fp8_block") { w = "fp8_block128"; a = "fp8_e4m3"; q = "block" }
        if ($4 == "nvfp4") { w = a = "nvfp4"; q = "block" }
        if ($4 == "w4a16") w = "int4_g128"
        if ($4 == "w4a16_mxfp4") w = "mxfp4"
        if ($4 == "w4a8_mxfp4") { w = "mxfp4"; a = "fp8_e4m3" }
        put(stack($1))
        if ($2 == "B200-SXM" && $3 ~ /^sglang_.*flashinfer_trtllm_moe$/ &&
            ($4 == "nvfp4" || ($4 == "w4a8_mxfp4" && $6 $9 $10 != "2880321"))) put("trtllm")
    }' "$1/aic_moe.csv"
}
if [ "$what" = skewed ]; then
    experts "$1" power_law_1.2 uniform | pad
    exit
fi

{
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

# Absorbed for decode, expanded for prefill, of DeepSeek-V3.
if [ -f "$1/aic_mla_decode.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" { next }
    {
        kv = $4 == "fp8" ? "fp8_e4m3" : $4
        printf "aic_mla_decode,mla-decode,%s,%s,,,,%s,%s,,,,1,%s,,,bf16,%s,bf16,,warm,,%s\n",
            device($2), stack($1), $5, $6, $7, kv, $9
    }' "$1/aic_mla_decode.csv"
fi
if [ -f "$1/aic_mla_prefill.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" { next }
    {
        printf "aic_mla_prefill,mla-prefill,%s,%s,,,,%s,%s,,,,%s,%s,1,,bf16,%s,bf16,,warm,,%s\n",
            device($2), stack($1), $5, $6, $7, $7, $4 == "fp8" ? "fp8_e4m3" : $4, $8
    }' "$1/aic_mla_prefill.csv"
fi

experts "$1" balanced balanced

# Vector kernels; their inputs were just written, so they are warm.
if [ -f "$1/vidur_elementwise.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "gpu" { next }
    {
        op = $3 == "residual_add" ? "add" : $3 == "silu_mul" ? "silu-mul" : $3
        if (op == "rope") # Q and K together, as heads of 128
            printf "vidur,rope,%s,,,,,,%s,%s,128,,,,,,fp16,,fp16,,warm,,%s,%s\n", device($1),
                $6 / 128 - 1, 1, $8, $5
        else
            printf "vidur,%s,%s,,,,,,,,,,,,,,fp16,,fp16,,warm,,%s,%s,%s\n", op, device($1), $8, $5, $6
    }' "$1/vidur_elementwise.csv"
fi
if [ -f "$1/aic_quantize.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" { next }
    {
        printf "aic_quantize,quantize,%s,,,,,,,,,,,,,,bf16,,fp8_e4m3,,warm,,%s,%s,%s\n", device($2),
            $6, $4, $5
    }' "$1/aic_quantize.csv"
fi

# The same operands over and over, of which the L2 keeps what fits. The rate of a bf16 product has no
# shape with it; it counts as one so large that its rate no longer depends on it.
if [ -f "$1/gb10_micro.csv" ]; then
    awk -F, '
    $1 == "matmul" { $3 = $4 = $5 = 8192; $8 = 2 * 8192 ^ 3 / ($6 * 1e6) }
    $1 == "gemm_cublas" || $1 == "gemm_w8a16_g64" || $1 == "matmul" {
        w = $1 == "gemm_w8a16_g64" ? "int8_channel" : "fp16"
        printf "gb10_micro,gemm,dgx-spark,,%s,%s,%s,,,,,,,,,%s,fp16,,fp16,,warm,,%s\n", $3, $4, $5, w, $8
    }' "$1/gb10_micro.csv"
fi

# The sizes of all-gather and reduce-scatter are of the whole tensor; elements are of 16 bits. Above
# 512 KiB the one-shot all-reduce of the stack gives way to others, whose rows are left out.
if [ -f "$1/aic_comm.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" || ($3 == "custom_all_reduce" && $5 > 524288) { next }
    {
        op = $3; gsub("_", "-", op); sub("alltoall", "all-to-all", op)
        one = op == "custom-all-reduce"; sub("custom-", "", op)
        printf "aic_comm,%s,%s,%s,,,,,,,,,,,,,bf16,,bf16,,,,%s,,,,,,,%.0f,%s,%s\n", op, device($2),
            one ? stack($1) : "", $6, $5 / 2, $4, one ? "one-shot" : ""
    }' "$1/aic_comm.csv"
fi

# Operands that the L2 holds.
if [ -f "$1/aic_bmm.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" { next }
    {
        printf "aic_bmm,bmm,%s,%s,%s,%s,%s,%s,,,,,,,,bf16,bf16,,bf16,,warm,,%s\n", device($2), stack($1),
            $4, $5, $6, $3, $7
    }' "$1/aic_bmm.csv"
fi

# Kernels of AMD's library, the fastest that its tuner found for a size, without a launch and without the
# quantisation. The tuner takes up to 101 copies of all operands, so what the caches keep follows from
# those. FP8 with block scales on MI355X counts where the weights are stored in the kernel's order; those of
# the other kernels are weak. Of two layouts, or of one and two kernels of an MoE, the faster counts.
fastest() { sort | awk -F, '{ t = $NF; sub(/,[^,]*$/, ""); if (!($0 in least) || t + 0 < least[$0]) least[$0] = t + 0 }
    END { for (row in least) printf "%s,%s\n", row, least[row] }' | sort; }
if [ -f "$1/more/aiter_gemm.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "gpu" || $2 == "bf16_out_fp32" { next }
    $1 == "MI355X" && $2 == "fp8_block" && $3 == "plain" { next }
    {
        w = a = "bf16"; wb = xb = 2
        if ($2 == "fp8_rowwise") { w = a = "fp8_e4m3"; wb = xb = 1 }
        if ($2 == "int8_rowwise") { w = "int8_channel"; a = "int8"; wb = xb = 1 }
        if ($2 == "fp8_block") { w = "fp8_block128"; a = "fp8_e4m3"; wb = xb = 1 }
        if ($2 == "mxfp4_block") { w = a = "mxfp4"; wb = xb = 0.53125 }
        set = 101 * ($5 * $6 * wb + $4 * $6 * xb + $4 * $5 * 2)
        printf "aiter_gemm,gemm,%s,,%s,%s,%s,,,,,,,,,%s,%s,,bf16,,,%.0f,%s\n", device($1), $4, $5, $6, w, a, set, $9
    }' "$1/more/aiter_gemm.csv" | fastest
fi
# 16-bit products of MI300X are those that hipBLASLt's tuner noted, whose buffers stay in the cache. Only linear
# layers count (weights stored by rows, BBS): in the tables of the other layout a product of 1 x 16 x 4608 takes 40 us.
if [ -f "$1/more/tensile_gemm.csv" ]; then
    awk -F, "$devices"'
    $1 == "MI300X" && $3 == "Alik_Bljk_BBS" && $4 == 1 {
        printf "tensile_gemm,gemm,%s,,%s,%s,%s,,,,,,,,,bf16,bf16,,bf16,,warm,,%s\n", device($1), $5, $6, $7, $9
    }' "$1/more/tensile_gemm.csv"
fi
if [ -f "$1/more/aiter_bmm.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "gpu" { next }
    {
        b = $2 == "bf16" ? 2 : 1
        set = 101 * $3 * (($5 + $4) * $6 * b + $4 * $5 * 2)
        printf "aiter_bmm,bmm,%s,,%s,%s,%s,%s,,,,,,,,%s,%s,,bf16,,,%.0f,%s\n", device($1), $4, $5, $6, $3,
            b == 2 ? "bf16" : "int8_channel", b == 2 ? "bf16" : "int8", set, $9
    }' "$1/more/aiter_bmm.csv" | fastest
fi
if [ -f "$1/more/aiter_moe.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "gpu" || $9 != 1 { next }
    {
        w = a = "bf16"
        if ($3 == "fp8_block128") { w = $3; a = "fp8_e4m3" }
        if ($3 == "mxfp4_1x32") w = a = "mxfp4"
        if ($3 == "a_fp8_w_mxfp4_1x32") { w = "mxfp4"; a = "fp8_e4m3" }
        if ($3 == "a_bf16_w_int4_1x32") w = "int4_g32_zp"
        printf "%s,%s,%s,%s,%s,%s,%s,%s,%s\n", device($1), w, a, $4, $5, $6, $8, $7, $10
    }' "$1/more/aiter_moe.csv" | fastest | awk -F, '
    {
        printf "aiter_moe,moe,%s,,,,,,,,,,,,,%s,%s,,bf16,,,,%s,%s,%s,%s,%s,%s,uniform\n", $1, $2, $3, $9, $4, $5, $6, $7, $8
    }'
fi

# Queries of a whole prompt without a mask; of the libraries the faster.
if [ -f "$1/more/rocm_attention.csv" ]; then
    awk -F, "$devices"'
    /^#/ || $1 == "lib" { next }
    {
        printf "rocm_attention,flash-attention,%s,,,,,%s,%s,%s,%s,,%s,%s,0,,fp16,fp16,fp16,,warm,,%s\n", device($2), $4,
            $5, $6, $7, $9, $10, $11
    }' "$1/more/rocm_attention.csv" | fastest
fi
} | pad
