#!/bin/sh
# SPDX-License-Identifier: MIT
# Simulates measured serving runs: sh tests/serving.sh DIR PROGRAM
#
# DIR has requests.jsonl of the runs of casys-kaist/LLMServingSim, bench/examples/*/vllm, under the
# names below. A step scale is fitted to the first fifth of each run; the means of the others must
# agree within 3%. Without a fit all means must agree within 15%, with the engine, and in the second
# run with the link of its authors' configuration (docs/simulation.md). The same requests were served
# again when the link was faster: the means of that run stand here, and must agree with the default link.
set -eu

dir=$1
program=$2
bad=0
while read -r file model tp link; do
    [ -f "$dir/$file" ] || { echo "serving: no $file in $dir" >&2; exit 2; }
    set -- "$model" -H rtx-pro-6000 -p bf16 --tp "$tp" --chunk 2048 --max-num-seqs 128 \
        --trace "$dir/$file" -f json
    echo "$model, as predicted:"
    "$program" simulate "$@" | jq -r '.measured | "  TTFT \(.ttft_error), TPOT \(.tpot_error), E2E \(.e2e_error)"'
    echo "$model, as predicted, with the engine and a link of $link GB/s:"
    "$program" simulate "$@" --engine vllm --set link_gb_s="$link" | jq -e -r '.measured |
        "  TTFT \(.ttft_error), TPOT \(.tpot_error), E2E \(.e2e_error)",
        ([.ttft_error, .tpot_error, .e2e_error] | all(-0.15 < . and . < 0.15))' || bad=1
    echo "$model, fitted:"
    "$program" simulate "$@" --fit | jq -e -r '"  scale \(.step_scale)", (.measured |
        "  TTFT \(.ttft_error), TPOT \(.tpot_error), E2E \(.e2e_error)",
        ([.ttft_error, .tpot_error, .e2e_error] | all(-0.03 < . and . < 0.03)))' || bad=1
done << 'END'
RTXPRO6000_Llama-3.1-8B.requests.jsonl llama-3.1-8b 1 63
RTXPRO6000_Qwen3-32B.requests.jsonl qwen3-32b 2 28
END

# bench/examples/RTXPRO6000/Qwen3-32B/validation/summary.txt at 0d3de68, column vLLM, in ms
echo "qwen3-32b, as predicted, with the engine, beside the run of September 2026:"
"$program" simulate qwen3-32b -H rtx-pro-6000 -p bf16 --tp 2 --chunk 2048 --max-num-seqs 128 --engine vllm \
    --trace "$dir/RTXPRO6000_Qwen3-32B.requests.jsonl" -f json | jq -e -r '
    [.ttft_ms_mean / 27585.4, .tpot_ms_mean / 67.5, .e2e_ms_mean / 72511.3 | . - 1] |
    "  TTFT \(.[0]), TPOT \(.[1]), E2E \(.[2])", all(-0.15 < . and . < 0.15)' || bad=1
exit $bad
