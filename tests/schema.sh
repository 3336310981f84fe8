#!/bin/sh
# SPDX-License-Identifier: MIT
# The JSON documents of many command lines against docs/schema: sh tests/schema.sh PROGRAM
#
# Every document must be valid, and every key of a schema must be in one of the documents: a key that
# is no longer printed is noticed. tests/schema.py does the comparing.
set -eu

[ $# -eq 1 ] || { echo "usage: sh schema.sh PROGRAM" >&2; exit 2; }
python=${PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import jsonschema; jsonschema.Draft202012Validator' 2> /dev/null; then
    echo "skipped: schemas (python3-jsonschema 4 is not here)"
    exit 0
fi
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/cli/program.sh
. "$root/tests/cli/program.sh"
HOME=$scratch/home
XDG_DATA_HOME=
export HOME XDG_DATA_HOME
unset ROOFLINE_DATA
mkdir "$scratch/home" "$scratch/documents"
cd "$scratch/home"
number=0

# keep KIND SCHEMA ARGUMENT...: what the program prints, and in the index what it should be. A
# question whose answer is no has a document, too.
keep() {
    number=$((number + 1))
    kind=$1
    schema=$2
    shift 2
    status=0
    "$scratch/bin/roofline" "$@" > "$scratch/documents/$number" 2> "$scratch/error" || status=$?
    if [ $status -gt 1 ]; then
        echo "roofline $* ended with $status: $(cat "$scratch/error")" >&2
        exit 1
    fi
    printf '%s\t%s\t%s\t%s\n' "$kind" "$schema" "$number" "roofline $*" >> "$scratch/index"
}

one() { # SCHEMA ARGUMENT...: a document
    keep one "$@" -f json
}
list() { # likewise: a JSON array
    keep list "$@" -f json
}
each() { # likewise: one a line
    keep each "$@" -f ndjson
}
header() { # SCHEMA ARGUMENT...: CSV, whose columns are all that the table of fields has
    keep header "$@" -f csv
}
file() { # SCHEMA FILE: an input
    number=$((number + 1))
    cp "$2" "$scratch/documents/$number"
    printf 'one\t%s\t%s\t%s\n' "$1" "$number" "$2" >> "$scratch/index"
}

# --- predictions of operators

roofline() { "$scratch/bin/roofline" "$@"; }

roofline list operators -f csv --columns name,dimensions | sed 1d > "$scratch/operators"
while IFS=, read -r operator dimensions; do
    needed=$(printf '%s\n' "$dimensions" | sed -e 's/\[[^]]*\]//g' -e 's/-[a-z-]*/& 2/g')
    # Word splitting is wanted.
    # shellcheck disable=SC2086
    {
        one prediction predict "$operator" $needed -H h100-sxm --why --tiling
        one prediction predict "$operator" $needed -H mi300x -p fp8
        each prediction sweep "$operator" $needed -H gb10,a100-sxm-80gb -p fp16,nvfp4
    }
done < "$scratch/operators"
one prediction predict gemm -m 64 -n 4096 -k 4096 -H h100-sxm -p fp8 --sparse --measured 12us
one prediction predict compressed-attention --heads 2 --head-dim 64 --kv-len 4096 --compression 4
one prediction predict nsa --heads 64 --kv-heads 4 --head-dim 128 --kv-len 4096 --window 512
one prediction predict gemm -m 64 -n 4096 -k 4096 -H h100-sxm --stack vllm --tiling --why
one prediction predict gemm -m 64 -n 4096 -k 4096 -H h100-sxm --advise
one prediction predict add --tokens 64 --hidden 4096 --advise
one prediction predict gemm -m 640 -n 4096 -k 4097 -H a100 --tile 128x128x32
one prediction predict gemm -m 640 -n 4096 -k 4096 -H b200 --tile 128x256x64 --cluster 2x1
one prediction predict flash-attention --heads 32 --kv-heads 8 --head-dim 128 --query-len 64 \
    --kv-len 4096 --causal --window 1024 -H h100-sxm --tiling
one prediction predict gemv -n 4096 -k 4096 -p fp64 -H l4
one prediction predict gemm -m 1 -n 4096 -k 4096 -H gb10
one prediction predict gemm -m 512 -n 4095 -k 4097 -H h100-sxm
one prediction predict rmsnorm --tokens 4 --hidden 64 --gain --set bandwidth_gb_s=500
one prediction predict all-reduce --elements 1024 --devices 1 --tiling -H h100-sxm
list prediction sweep gemm -m 1:64:x4 -n 4096 -k 4096 -H h100,b200 -p fp8,nvfp4
cat > records.ndjson << 'END'
{"operator": "gemm", "m": 8, "n": 64, "k": 64}
{"operator": "add", "tokens": 8, "hidden": 64}
END
each prediction predict --from records.ndjson

# --- predictions of models: dense, experts, MLA, window; every phase

one model-prediction predict model gpt-oss-20b -H rtx-4090 --offload experts:2 --host-bandwidth 80 --host-memory 64
for model in llama-3-8b gpt-oss-20b deepseek-v3 gemma-3-27b qwen3-30b-a3b; do
    one model-prediction predict model "$model" -H h100-sxm --tp 8 --batch 4
    one model-prediction predict model "$model" -H b200 --phase prefill --context 2048
    one model-prediction predict model "$model" -H gb10 --prompt 2k --generate 100 -p fp8
done
one model-prediction predict model llama-3-8b -H h100-sxm --phase mixed --batch 8 --chunk 512 \
    --prefill-batch 2 --prefill-context 1024
one model-prediction predict model llama-3-8b -H h100-sxm --phase prefill --context 4096 \
    --prefix-hit 0.5
one model-prediction predict model llama-3-70b -H h200 --draft-model llama-3-8b --draft-tokens 4 \
    --acceptance 0.8 --tp 2 --pp 2 -w fp8
one model-prediction predict model llama-3-8b -H h100 -p fp8 --fuse all --host-gap 20us --serial 1ms --step-scale 1.1 --phase decode --blocks
one model-prediction predict model llama-3-8b -H h100-sxm --prompt 2k --generate 100 --tp 2 --advise
one model-prediction predict model nemotron-nano-9b-v2 -H h100-sxm
one model-prediction predict model gemma-3-4b -H h100-sxm --phase encode --images 2
one model-prediction predict model gemma-3-4b -H h100-sxm --phase prefill --images 2 --image-size 640x480 --blocks
one model-prediction predict model gemma-4-e2b -H h100-sxm --phase prefill --images 2 --audio 1
one model-prediction predict model llama-3-8b -H h100-sxm --host-time 1ms
one model-prediction predict model deepseek-v3 -H h200-sxm --phase prefill --context 1k --host-time latent=90us
one model-prediction predict model llama-3-8b -H h100-sxm --batch 60 --context 8k
one model-prediction predict model gpt-oss-120b -H rtx-4090 --layout checkpoint
one model-prediction predict model llama-3-8b -H h100-sxm --stack vllm --prompt 2k --generate 100
one model-prediction predict model llama-3-8b -H h100 --layout q4_k_m
one model-prediction predict model deepseek-v3 -H h200 --tp 8 --pp 2 --layout checkpoint
echo '{"id": "abacus", "bandwidth_gb_s": 100, "peak_tflops": {"fp16": 1}}' > abacus.json
one model-prediction predict model llama-3-8b -H abacus.json
echo '{"bandwidth_gb_s": 100, "peak_tflops": {"fp16": 10}, "constant_w": 40, "byte_pj": 100, "flop_pj": {"fp16": 5, "fp32": 20}, "power_cap_w": 70}' > hot.json
one model-prediction predict model tinyllama-1.1b -H hot.json --context 1024
one prediction predict gemm -m 1000 -n 1000 -k 1000 -H hot.json -p fp16
one hardware list hardware ./hot.json
one model-prediction predict model llama-3-70b -H h100-sxm --prompt 2k --generate 100 \
    --draft-tokens 2
each model-prediction sweep model llama-3-8b,gpt-oss-20b -H h100,b200 --batch 1,64 -p fp16,fp8
list model-prediction sweep model deepseek-v3 -H h200 --ep 1,8 --batch 1,64 -w fp8

# --- graph files

one graph-prediction predict graph "$root/docs/graphs/streaming-video.json"
one graph-prediction predict graph "$root/docs/graphs/streaming-video.json" --devices 2 --host-gap 10us
echo '{"stages": [{"name": "s", "operators": [{"operator": "gemm", "m": 64, "n": 64, "k": 64}]}]}' > graph.json
one graph-prediction predict graph graph.json

# --- speedups

one speedup predict gemm -m 1 -n 4096 -k 4096 -H h100-sxm --explain fp16,nvfp4
one speedup predict gemm -m 64 -n 4096 -k 4096 --explain a100-sxm-80gb:fp16,h100-sxm:fp8
one speedup predict model llama-3-8b -H h100-sxm --explain bf16,fp8
one speedup predict model llama-3-70b --tp 2 --explain h100-sxm,mi300x
each speedup predict model llama-3-8b -H h100-sxm --explain bf16,fp8
one speedup recommend gemm -m 1 -n 4096 -k 4096 --explain h100-sxm,l40s

# --- recommendations

one recommendation recommend gemm -m 1 -n 4096 -k 4096 -H h100-sxm
one recommendation recommend gemm -m 512 -n 4096 -k 4096 -H gb10 --objective time --by expected
one recommendation recommend gemm -m 1 -n 4096 -k 4096 -H a100 --native-only
one recommendation recommend gemm -m 1 -n 4096 -k 4096 -H gb10 --max-accuracy-loss none
one recommendation recommend moe --tokens 8 --hidden 2048 --intermediate 1024 --experts 64 \
    --top-k 4 -H hgx-b200 --formats all
one recommendation recommend gemm -m 64 -n 4096 -k 4096 -H dgx-spark --engine torchao
one recommendation recommend rmsnorm --tokens 8 --hidden 2048
each 'recommendation#candidate' recommend gemv -n 4096 -k 4096 -H h100-sxm --native-only --engine vllm
one plans recommend model llama-3-8b -H gb10,h100-sxm --devices 1 --top 2
one plans recommend model llama-3-8b -H h100-sxm,l40s --batch 4:64:x4 --devices 1,2 --prompt 2k \
    --generate 200 --max-ttft 1s --max-tpot 20ms --top 5
one plans recommend model llama-3-8b -H h100-sxm --batch 1,8 --devices 1,2 --max-power 1000 \
    --max-cost 1 --price-per-hour h100-sxm=2 --min-tokens-per-s 100 --concurrency 8 --top 3
one plans recommend model llama-3-8b -H h100-sxm --devices 1 --batch 1,8 --max-tpot 0.1ms
one plans recommend model llama-3.3-70b -H h100-sxm --devices 2 --batch 16 --prompt 32k --generate 500 --kv fp8
one plans recommend model llama-3-8b -H h100-sxm --devices 1 --kind aggregated --concurrency 4 --prompt 2k --generate 200 --top 1
one plans recommend model gpt-oss-20b -H hgx-b200 --devices 1 --batch 1,8 --top 9
one plans recommend model deepseek-r1 -H hgx-b200 --devices 8 --prompt 4k --generate 1000 --batch 256 --kind disaggregated
one plans recommend model llama-3-70b -H h100-sxm --batch 8 --dp 2 --tp 2 --pp 2 --draft-model llama-3-8b \
    --draft-tokens 3 --acceptance 0.7 --prompt 2k --generate 100 --prefix-hit 0.5 --class attention=fp8
one plans recommend model deepseek-v3 -H h200-sxm --batch 64 --tp 2 --ep 8
one plans recommend model gpt-oss-20b -H rtx-4090 --offload experts:2 --host-bandwidth 80 --host-memory 64 --batch 1
one plans recommend model gemma-3-4b -H h100-sxm --devices 1 --batch 4 --prompt 2000 --generate 100 --images 2
one plans recommend model gemma-4-e2b -H h100-sxm --devices 1 --batch 4 --prompt 2000 --generate 100 --audio 1 --audio-length 10
one rates recommend model llama-3-8b -H l40s,m5-max --rate 2,20 --prompt 1k --generate 100 --max-ttft p99:1s --max-e2e 9s \
    --price-per-hour l40s=1
one rates recommend model llama-3-8b -H l40s --rate 2 --prompt 1k --generate 100 --max-ttft p99:90ms --arrivals gamma:20
one rates recommend model qwen3-30b-a3b -H h100-sxm --devices 2,4 --kind disaggregated --rate 2 --prompt 1k --generate 100 \
    --requests 200
one rates recommend model llama-3-8b -H l40s --devices 1 --rate 2 --prompt 1k --generate 100 --formats fp8 --draft-tokens 2
printf 'time,rate\n0,1\n3600,9\n7200,0\n' > day.csv
one rates recommend model llama-3-8b -H l40s --devices 1 --rate-trace day.csv --prompt 1k --generate 100 --formats fp8 \
    --price-per-hour l40s=1
one rates recommend model llama-3-8b -H h100-sxm --devices 2,4 --rate-trace day.csv --prompt 1k --generate 100 --formats fp8 \
    --kind disaggregated
one rates recommend model llama-3-8b -H l40s --rate 1e9 --prompt 1k --generate 100 --formats fp8
each rate recommend model deepseek-r1 -H h200-sxm --devices 8 --rate 1 --prompt 1k --generate 100 --requests 200
one plans recommend model deepseek-v3 -H h200-sxm --batch 64 --tp 1 --attention-dp 8 --moe-tp 1 --moe-ep 8
one plans recommend model llama-3-8b -H h100-sxm,m5-max --batch 1,8 --devices 1
each plan recommend model llama-3-8b -H h100-sxm,m5-max --batch 1,8 --devices 1 --by ideal
each plan recommend model deepseek-v3 -H h200-sxm --devices 8 --batch 8,64 --top 20
one plan-speedup recommend model llama-3-8b --devices 1 --batch 8 --explain h100-sxm,l40s
one plan-speedup recommend model llama-3-8b -H h100-sxm --devices 1 --batch 8 --explain bf16,fp8

# --- comparisons

cat > measured.csv << 'END'
operator,hardware,m,n,k,weights,activations,run,measured_us
gemm,h100-sxm,1,4096,4096,bf16,bf16,monday,15.1
gemm,mi300x,4096,4096,4096,bf16,bf16,monday,175
gemm,some-gpu,4096,4096,4096,bf16,bf16,tuesday,170
END
one comparison compare measured.csv
one comparison compare measured.csv --summary --group-by run,operator
each compared compare measured.csv
printf 'model,batch,prompt,generate,tpot_ms,tokens_per_s\nllama-3-8b,8,100,10,200,300\n' > serving.csv
each compared compare serving.csv
printf 'model,batch,tpot_ms\nllama-3-8b,1,200\nllama-3-8b,2,210\nllama-3-8b,4,300\n' > steps.csv
one comparison compare steps.csv --fit scale
printf 'model,context,batch,tpot_ms\nllama-3-8b,1024,1,8.4\nllama-3-8b,1024,8,8.8\nllama-3-8b,1024,64,12.5\nllama-3-8b,1024,128,16.6\n' > hosted.csv
one comparison compare hosted.csv -H h100-sxm -p bf16 --fit scale
one losses compare serving.csv --below 99%
one losses compare measured.csv --below 99%

# --- samples of GPUs

cat > power.csv << 'END'
timestamp, index, name, power.draw [W], clocks.sm [MHz], clocks.mem [MHz], temperature.gpu, utilization.gpu [%], memory.used [MiB], clocks_event_reasons.active
2024/01/31 12:00:00.000, 0, Some GPU, 100.00 W, 1410 MHz, 2619 MHz, 40, 35 %, 1024 MiB, 0x0000000000000004
2024/01/31 12:00:01.000, 0, Some GPU, 200.00 W, 1410 MHz, 2619 MHz, 40, 35 %, 1024 MiB, 0x0000000000000000
END
one monitor monitor --from power.csv --tokens 10
one monitor monitor --from power.csv --summary
each 'monitor#sample' monitor --from power.csv
header 'monitor#sample' monitor --from power.csv

# --- measurements

one measured measure --threads 1 --seconds 1 --formats q8_0 -o here
one measured measure --threads 1 --seconds 1 --formats q4_0,q4_k -o formats
file calibration formats/calibration.json # each format has a fit of its own
LD_LIBRARY_PATH=$fakes/nvidia FAKE_ENERGY=90,40e-12,0.4e-12
export LD_LIBRARY_PATH FAKE_ENERGY # the planted GPU, which counts its energy
one measured measure --device cuda --seconds 15 --formats bf16
unset LD_LIBRARY_PATH FAKE_ENERGY
one hardware list hardware ./here
printf '{"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512, "vocab_size": 1024, "tie_word_embeddings": false}' > small.json
one measured-model measure model small.json -H here --threads 1 --seconds 1 -w q8_0 --class lm_head=q8_0 --context 64

# --- charts

one chart plot -H h100-sxm
one chart plot gemm -m 1:64:x8 -n 4096 -k 4096 -H h100-sxm,gb10 --attainable --line STREAM=1.8TB/s
one chart plot model llama-3-8b -H h100-sxm --phase decode,prefill
grep -v some-gpu measured.csv > known.csv
one chart plot gemm -m 64 -n 4096 -k 4096 -H a100 --l2
one chart plot --from known.csv -H h100-sxm --line cuBLAS=271TFLOPS
one curves plot model llama-3-8b -H h100-sxm --chart latency --batch 1:256:x4
one curves plot model llama-3-8b -H h100-sxm --chart pareto --batch 1:256:x4

# --- lists

list hardware-row list hardware
list precision list precisions
list operator list operators
list model list models
list layout list layouts
list engine-row list engines
for id in gb10 h100-sxm dgx-spark mi300x; do one hardware list hardware "$id"; done
echo '{"bandwidth_gb_s": 1, "peak_tflops": {"fp16": 1}, "like": "h100-sxm"}' > like.json
one hardware list hardware ./like.json
one hardware list hardware h100-sxm --set link_latency_us=1 --set network_latency_us=5
for id in nvfp4 nf4 fp8 fp64; do one precision list precisions "$id"; done
for id in llama-3-8b deepseek-v3 gpt-oss-20b; do one model list models "$id"; done
one operator list operators gemm
one layout list layouts q4_k_m
roofline list engines -f csv --columns id | sed 1d > "$scratch/engines"
while read -r id; do one engine list engines "$id"; done < "$scratch/engines"

# --- simulations

one simulation simulate gemma-3-4b -H h100-sxm --rate 2 --requests 100 --prompt 1000 --generate 20 --images 2
one simulation simulate gemma-4-e2b -H h100-sxm --rate 2 --requests 100 --prompt 1000 --generate 20 --audio 1
one simulation simulate llama-3-8b -H h100-sxm --rate 2 --prompt 500 --generate 50 --requests 200 \
    --max-ttft p99:1s --max-tpot mean:1s --arrivals gamma:2
one simulation simulate llama-3-8b -H m5-max --by ideal --concurrency 4 --prompt 500 --generate 50 --max-ttft p99:1ms
one simulation simulate llama-3-8b -H gb10 --concurrency 4 --prompt 500 --generate 50
one simulation simulate llama-3-8b -H h100-sxm --prompt 500 --generate 50 --max-ttft p99:100ms
one simulation simulate llama-3-8b -H h100-sxm --rate 2 --prompt 500 --generate 50 --requests 200 --prefix-hit 0.5 --engine vllm
one simulation simulate llama-3-8b -H h100-sxm --prompt 500 --generate 50 --max-tpot 1us
printf 'time,prompt,generate\n0,900,3\n1,50,2\n4,300,9\n' > trace.csv
"$program" simulate llama-3-8b -H h100-sxm --rate 2 --prompt 500 --generate 20 --requests 300 --rows requests -f csv > rates.csv
one simulation simulate llama-3-8b -H h100-sxm --trace rates.csv --rate max --max-ttft p90:50ms
one simulation simulate llama-3.1-8b -H h100-sxm -p fp8 --kv fp8 --prefill-copies 3 --prompt 8k --generate 200 --max-ttft p99:1s --max-tpot p99:30ms
one simulation simulate llama-3-8b -H rtx-5090 -p q4_k_m --rate 2 --prompt 500 --generate 50 --requests 200
one simulation simulate qwen3-30b-a3b -H h100-sxm --prefill-copies 2 --prefill-split tp=2,attention-dp=2,moe-ep=4 \
    --rate 2 --prompt 500 --generate 50 --requests 200
one simulation simulate llama-3-8b -H h100-sxm --rate 2 --prompt 500 --generate 50 --requests 200 \
    --draft-tokens 2 --draft-model llama-3.2-1b
one simulation simulate llama-3-8b -H h100-sxm --rate 9 --prompt 500 --generate 50 --requests 200 \
    --dp 2 --router least-loaded
each simulation simulate llama-3-8b -H h100-sxm --rate 999 --prompt 500 --generate 50
each 'simulation#request' simulate llama-3-8b -H h100-sxm --rate 2 --prompt 500 \
    --generate uniform:1:3 --requests 20 --rows requests
each 'simulation#interval' simulate llama-3-8b -H h100-sxm --rate 2 --prompt 500 --generate 50 --requests 20 --rows time
for chart in rate time distribution; do
    one curves simulate llama-3-8b -H h100-sxm --rate 2 --prompt 500 --generate 50 --requests 20 --chart "$chart"
done

cat > trace.json << 'END'
{"arrival_time": 1, "input_toks": 50, "output_toks": 3, "queued_ts": 7, "first_token_ts": 7.5, "last_token_ts": 8}
{"arrival_time": 2, "input_toks": 70, "output_toks": 1, "queued_ts": 9, "first_token_ts": 9.5, "last_token_ts": 9.5}
END
one simulation simulate llama-3-8b -H h100-sxm --trace trace.json
one simulation simulate llama-3-8b -H h100-sxm --trace trace.json --fit

# --- every field of every table

header prediction sweep gemm -m 1 -n 64 -k 64
header prediction predict --from records.ndjson
header model-prediction sweep model llama-3-8b
header 'recommendation#candidate' recommend gemv -n 64 -k 64
header plan recommend model llama-3-8b -H h100-sxm --devices 1 --batch 8
header speedup predict gemv -n 64 -k 64 --explain h100-sxm,l40s
each 'simulation#request' simulate llama-3-8b -H h100-sxm --prefill-copies 1 --rate 2 --prompt 500 \
    --generate 3 --requests 20 --rows requests
header simulation simulate llama-3-8b -H h100-sxm --rate 2 --prompt 500 --generate 50
header 'simulation#request' simulate llama-3-8b -H h100-sxm --rate 2 --prompt 5 --generate 2 \
    --rows requests
header 'simulation#interval' simulate llama-3-8b -H h100-sxm --rate 2 --prompt 5 --generate 2 --rows time
header hardware-row list hardware
header precision list precisions
header operator list operators
header model list models
header layout list layouts
header engine-row list engines

# --- checks, and the files that are read

for each in "$root"/tests/check/*.json; do one check-results check "$each"; done
sed 's/424000/425000/' "$root/tests/check/operators.json" > wrong.json
one check-results check wrong.json
sed 's/"relative": 1e-12}/"relative": 1e-12, "absolute": 0}/' "$root/tests/check/operators.json" > both.json
file check both.json
echo '{"checks": [{"name": "a range", "inputs": {"operator": "gemm", "m": 1, "n": 1, "k": 1}, "expect": {"flops": {"min": 1, "max": 2}}}]}' > range.json
file check range.json
one check-results check range.json
echo '{"bandwidth_gb_s": 4000, "memory_gb": 96, "peak_tflops": {"fp16": 900}, "like": "h100-sxm"}' > three.json
file hardware three.json
for each in "$root"/tests/check/*.json; do file check "$each"; done
for each in "$root"/data/hardware/*.json; do file hardware "$each"; done
for each in "$root"/data/calibration/*.json; do file calibration "$each"; done
cat > plain.json << 'END'
{"schema": "roofline/calibration/1", "hardware": "h100-sxm", "attributions": [], "fits": [
 {"kernel": "gemm", "form": "plain", "stack": "best", "numerics": "16bit", "quantize_input": "none", "rows": 2,
  "moved": ["launch_clocks"], "error_before": 0.6, "error_after": 0.5, "mape": 0.5, "low": 1, "high": 2, "parameters": {"launch_clocks": 24, "dram": 1, "peak": 1, "narrow_rows": 0.001,
  "overlap": 0.001, "cache_rate": 2, "cache_capacity": 0.7}}]}
END
file calibration plain.json
one prediction predict gemm -m 1 -n 64 -k 64 -H h100-sxm -p bf16 --calibration plain.json
for each in "$root"/data/models/*.json; do file model-file "$each"; done
for each in "$root"/data/layouts/*.json; do file layout-file "$each"; done
for each in "$root"/docs/graphs/*.json; do file graph "$each"; done

"$python" "$root/tests/schema.py" "$root/docs/schema" "$scratch/index" "$scratch/documents"
