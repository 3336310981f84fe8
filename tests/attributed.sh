#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs roofline-calibrate with the attributions of a device: sh tests/attributed.sh PROGRAM ID OPTION...
# Without PROGRAM (""), prints them. A line that begins with a stack has the versions of its libraries, which the
# rows state (column lib) and --why prints; `best` is for kernels that were measured without a stack.
set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 PROGRAM ID OPTION..." >&2
    exit 2
fi
program=$1
id=$2
shift 2
aic='Kernel timings: ai-dynamo/aiconfigurator@095f58a, aic-core/src/aiconfigurator_core/systems/data, (c) NVIDIA, Apache-2.0'
vidur='Vector kernels: microsoft/vidur, (c) Microsoft, MIT'
aiter='Products and experts: ROCm/aiter@e404860, aiter/configs, (c) AMD, MIT'
kimi='prompts and steps of Kimi delta attention'
vllm="vllm: vLLM 0.24.0 ($kimi 0.1.dev19262)"
sglang="sglang: SGLang 0.5.14 ($kimi 0.5.16)"
trtllm='trtllm: TensorRT-LLM 1.3.0rc20'

lines() {
    case $id in
    a100-sxm-80gb)
        printf '%s\n' "$aic" "$vidur" 'trtllm: TensorRT-LLM 1.0.0' 'vllm: vLLM 0.14.0' 'sglang: SGLang 0.5.10' \
            'best: NCCL 2.27.3 (collectives), vidur@7d47513 (norms, activations and RoPE)'
        ;;
    h100-sxm)
        printf '%s\n' "$aic" "$vidur" "$trtllm" "$vllm" "$sglang" \
            'best: NCCL 2.29.2 (collectives), TensorRT-LLM 1.3.0rc20 (quantisation), vidur@7d47513 (norms, activations and RoPE)'
        ;;
    hgx-b200)
        printf '%s\n' "$aic" "$trtllm (FP8 products without quantisation 1.2.0rc5, some Mamba-2 1.3.0rc15)" "$vllm" \
            "$sglang" 'best: NCCL 2.29.2 (collectives), TensorRT-LLM 1.3.0rc20 (quantisation)'
        ;;
    l40s)
        printf '%s\n' "$aic" "$trtllm (INT8 and weight-only products 1.0.0)" "$vllm" "$sglang" \
            'best: NCCL 2.27.3 (collectives), TensorRT-LLM 1.3.0rc20 (quantisation)'
        ;;
    rtx-pro-6000)
        printf '%s\n' "$aic" "$trtllm" "$vllm" "$sglang" 'best: NCCL 2.29.2 (collectives), TensorRT-LLM 1.3.0rc20 (quantisation)'
        ;;
    dgx-spark)
        printf '%s\n' 'Figures quoted in ml-explore/mlx#3137 and huggingface/kernels#283' \
            'best: cuBLAS and MLX without versions, PyTorch 2.10 (large products)'
        ;;
    mi300x)
        printf '%s\n' "$aiter" 'Attention: nod-ai/rocm-gemm-benchmark@068af6f (figures)' \
            '16-bit products: ROCm/hipBLASLt@7d9fb68, library (Tensile logic), (c) AMD, MIT' \
            'best: aiter@e404860, hipBLASLt@7d9fb68 (16-bit products), PyTorch and Triton of August 2024 (attention)'
        ;;
    mi355x) printf '%s\n' "$aiter" 'best: aiter@e404860' ;;
    *)
        echo "$0: no attributions of $id" >&2
        exit 1
        ;;
    esac
}

[ -n "$program" ] || { lines; exit; }
found=$(lines)
while IFS= read -r line; do
    set -- "$@" --attribution "$line"
done << EOF
$found
EOF
exec "$program" --hardware "$id" "$@"
