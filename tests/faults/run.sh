#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls that fail, one at a time, in many command lines: sh run.sh PROGRAM DRIVER LIBRARY [all] [LINE]
#
# driver.c says what must come out. A sanitizer of the program must be told that it is not loaded
# first: ASAN_OPTIONS=verify_asan_link_order=0.
set -eu

[ $# -ge 3 ] || { echo "usage: sh run.sh PROGRAM DRIVER LIBRARY [all] [LINE]" >&2; exit 2; }
# shellcheck source=tests/cli/program.sh
. "$(dirname "$0")/../cli/program.sh"
absolute() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$PWD/$1" ;;
    esac
}
here=$(absolute "$(dirname "$0")")
driver=$(absolute "$2")
library=$(absolute "$3")
shift 3
corpus=$here/../fuzz/corpus

# gguf NAME INPUT: a file from the header of a fuzz target, with weights that are a hole.
gguf() {
    tail -c +2 "$corpus/gguf/$2" > "$1"
    truncate -s +4194304 "$1"
}

# number BYTES VALUE: little-endian, up to 65535
number() {
    # shellcheck disable=SC2059
    printf "\\$(printf %o $(($2 % 256)))\\$(printf %o $(($2 / 256)))"
    head -c $(($1 - 2)) /dev/zero
}

# entry KEY TYPE BYTES VALUE: of the metadata of GGUF
entry() {
    number 8 ${#1}
    printf %s "$1"
    number 4 "$2"
    number "$3" "$4"
}

# split NUMBER TENSORS: the entries of one of two files
split() {
    entry split.no 2 2 "$1"
    entry split.count 2 2 2
    entry split.tensors.count 5 4 "$2"
}

# A model in two files, of which the second has no tensors.
gguf_parts() {
    tensors=$(od -A n -t u2 -j 8 -N 2 m.gguf)
    entries=$(od -A n -t u2 -j 16 -N 2 m.gguf)
    {
        head -c 16 m.gguf
        number 8 $((entries + 3))
        split 0 "$tensors"
        tail -c +25 m.gguf
    } > parts-00001-of-00002.gguf
    {
        head -c 8 m.gguf
        number 8 0
        number 8 3
        split 1 "$tensors"
    } > parts-00002-of-00002.gguf
    truncate -s +4096 parts-00002-of-00002.gguf
}

# safetensors NAME HEADER: weights that are a hole behind it
safetensors() {
    number 8 "$(printf %s "$2" | wc -c)" > "$1"
    printf %s "$2" >> "$1"
    truncate -s "+$(printf %s "$2" | sed 's/"data_offsets": *\[[0-9]*,/\n&/g' |
        sed -n 's/^"data_offsets": *\[[0-9]*, *\([0-9]*\).*/\1/p' | sort -n | tail -n 1)" "$1"
}

shard() {
    safetensors "$1" "{\"$2\": {\"dtype\": \"BF16\", \"shape\": [64], \"data_offsets\": [0, 128]}}"
}

# As tests/fuzz/safetensors.c has them.
checkpoints() {
    mkdir folder shards
    echo '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8,
 "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 80, "vocab_size": 100,
 "quantization_config": {"quant_method": "fp8"}}' > folder/config.json
    sed 's/,$/, "architectures": ["LlamaForCausalLM"],/; s/"quantization_config.*/"dtype": "bfloat16"}/' folder/config.json > shards/config.json
    cp shards/config.json .
    safetensors m.safetensors "$(tail -c +3 "$corpus/safetensors/dense")"
    shard shards/a.safetensors model.norm.weight
    shard shards/b.safetensors model.layers.0.input_layernorm.weight
    tail -c +3 "$corpus/safetensors/index" > shards/model.safetensors.index.json
}

files() {
    sizes='"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 8,
 "num_key_value_heads": 2, "intermediate_size": 80, "vocab_size": 1000'
    echo "{\"model_type\": \"llama\", $sizes}" > m.json
    head -c 100 m.json > cut.json
    cat > h.json <<'EOF'
{"id": "h", "bandwidth_gb_s": 100, "memory_capacity_bytes": 80e9, "aliases": ["hh"],
 "peak_tflops": {"fp16": 1, "fp8": 2, "nvfp4": 4}, "vector_tflops": {"fp32": 0.1},
 "devices_per_node": 2, "link_gb_s": 10, "network_gb_s": 1, "tdp_w": 700}
EOF
    cat > l.json <<'EOF'
{"schema": "roofline/layout/1", "id": "l", "activations": "fp8",
 "classes": {"linear": "fp8", "lm_head": "bf16"}}
EOF
    printf 'time_s,device,power_w\n0,0,100\n1,0,200\n' > p.csv
    { echo n,note; seq 1 1700 | sed 's/$/,row/'; } > many.csv
    cat > r.csv <<'EOF'
operator,m,n,k,weights,measured_us,note
gemm,1,64,64,fp8,3,"a, b"
gemv,,4,4,,2,x
gemm,2,0,4,,1,
gemm,4,64,64,,5,x
 gemm ,4,64, 64 ,fp7, 5 ,x
EOF
    cat > b.json <<'EOF'
{"backend": "vllm", "model_id": "/m/llama", "request_rate": 4, "completed": 9, "total_input_tokens": 900, "total_output_tokens": 90, "request_throughput": 3, "mean_ttft_ms": 60, "mean_tpot_ms": 20}
EOF
    cat > r.ndjson <<'EOF'
{"operator": "gemm", "m": 1, "n": 64, "k": 64, "measured_us": 3}
{"operator": "gemm", "m": 4, "n": 64, "k": 64, "measured_us": 4, "key": "\n"}
{"operator": "gemm", "m": 4, "n": 64, "k": 64, "measured_us": 4, "more": {"a": [1]}}
EOF
    cat > graph.json <<'EOF'
{"unit": "frames", "yields": 2, "inputs": {"hardware": "h100-sxm", "devices": 2, "m": 64},
 "stages": [{"name": "s", "repeat": 3, "inputs": {"serial_ms": 1}, "operators": [
   {"name": "up", "operator": "gemm", "n": 64, "k": 64, "split": ["n"], "count": 2},
   {"operator": "all-reduce", "elements": 64}]}]}
EOF
    cat > m.csv <<'EOF'
operator,model,batch,context,measured_us,layout
model,./m.json,1,8,5,
model,none,1,8,5,
model,./m.json,2,8,5,l.json
EOF
    cat > c.json <<'EOF'
{"schema": "roofline/check/1", "checks": [
 {"name": "a", "inputs": {"operator": "gemm", "m": 1, "n": 64, "k": 64},
  "expect": {"bytes": 8448, "time_us": 7, "bottleneck": "compute"}},
 {"name": "b", "inputs": {"command": "recommend", "operator": "gemm", "m": 1, "n": 64, "k": 64},
  "expect": {"recommended": "fp16"}}]}
EOF
    cp c.json d.json
    echo old > old.txt
    cp "$here/../../data/calibration/h100-sxm.json" calibration.json
    roofline sweep gemm -m 1:500 -n 64 -k 64 -f csv --columns m,n 2> /dev/null | head -c 3000 > s.csv.part
    roofline sweep gemm -m 1:600 -n 64 -k 64 -f json 2> /dev/null | head -c 300000 > s.json.part
    gguf m.gguf mla
    gguf k.gguf kimi-linear
    head -c 900 m.gguf > cut.gguf
    gguf_parts
    checkpoints
    mkdir -p data/hardware data/models home/.local/share/roofline/hardware
    cp h.json data/hardware/h.json
    cp m.json data/models/m.json
    sed 's/"id": "h"/"id": "own"/' h.json > home/.local/share/roofline/hardware/own.json
}

mkdir "$scratch/files" "$scratch/home"
ln -s "$library" "$scratch/preload.so" # LD_PRELOAD ends a name at a blank
cd "$scratch/files"
PATH=$scratch/bin:$PATH HOME=$scratch/home XDG_DATA_HOME='' ROOFLINE_DATA=''
export PATH HOME XDG_DATA_HOME ROOFLINE_DATA
files
"$driver" "$program" "$scratch/preload.so" "$here/commands" "$scratch" "$@"
