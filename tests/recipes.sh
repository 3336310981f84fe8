#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes of docs/design.md are true: CC=cc sh tests/recipes.sh
#
# They are applied to a copy of the tree, which is then built with warnings as errors; predict, sweep,
# list and --help must know what is new, and its numbers must be those derived here by hand.
set -eu
LC_ALL=C
export LC_ALL
CC=${CC:-cc}
cd "$(dirname "$0")/.."

scratch=${TMPDIR:-/tmp}/roofline-recipes.$$
(umask 077 && mkdir "$scratch")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
HOME=$scratch XDG_DATA_HOME='' ROOFLINE_DATA=''
export HOME XDG_DATA_HOME ROOFLINE_DATA
failures=0

mkdir "$scratch/tree"
cp -R Makefile LICENSE data docs include src "$scratch/tree/"
cd "$scratch/tree"

# insert before|after LINE FILE: standard input, beside the one line that begins with LINE.
insert() {
    cat > "$scratch/new"
    awk -v where="$1" -v line="$2" -v new="$scratch/new" '
        function put(    text) { while ((getline text < new) > 0) print text; found++ }
        where == "before" && index($0, line) == 1 { put() }
        { print }
        where == "after" && index($0, line) == 1 { put() }
        END { if (found != 1) exit 1 }' "$3" > "$scratch/edited" || {
        echo "FAIL $recipe: no single place for '$2' in $3"
        exit 1
    }
    cat "$scratch/edited" > "$3"
}

build() {
    if ! (
        unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD
        make -s CC="$CC" WERROR=-Werror CFLAGS=-O0 all > "$scratch/make.log" 2>&1
    ); then
        echo "FAIL $recipe: it does not build"
        sed 's/^/    /' "$scratch/make.log"
        exit 1
    fi
}

# prints EXPECTED ARGUMENT...: the program prints these lines, among others.
prints() {
    expected=$1
    shift
    if ! build/roofline "$@" > "$scratch/printed" 2>&1; then
        failures=$((failures + 1))
        echo "FAIL $recipe: roofline $*"
        sed 's/^/    /' "$scratch/printed"
        return
    fi
    printf '%s\n' "$expected" | while IFS= read -r line; do
        grep -q -F -e "$line" "$scratch/printed" || echo "$line"
    done > "$scratch/missing"
    [ -s "$scratch/missing" ] || return 0
    failures=$((failures + 1))
    echo "FAIL $recipe: roofline $*"
    sed 's/^/    missing: /' "$scratch/missing"
    sed 's/^/    /' "$scratch/printed"
}

# --- an operator ----------------------------------------------------------------------------------

recipe=operator
# The one place: a line of the enum,
insert before '    ROOF_OPERATOR_COUNT' include/roofline/workload.h <<'EOF'
    ROOF_OPERATOR_SCALE,
EOF
# its formula,
insert before '/* The residual reads two tensors' src/operator/formulas.c <<'EOF'
/* y = a x: one multiplication per element. */
FORMULA(scale)
{
    DIM(tokens);
    DIM(hidden);
    FLOPS(tokens * hidden);
    TENSOR(ACTIVATIONS, tokens * hidden, 1, tokens);
    TENSOR(OUT, tokens * hidden, 1, tokens);
}

EOF
# its name,
insert after '#define ROOF_FORMULAS(X)' src/operator/formula.h <<'EOF'
    X(scale) \
EOF
# and a row of the table.
insert after 'const struct roof_operator_row roof_operator_rows[' src/operator/operator.c <<'EOF'
    [ROOF_OPERATOR_SCALE] = {.name = "scale",
                             .summary = "a multiple of a tensor",
                             .kind = ROOF_KIND_VECTOR,
                             ROWS,
                             .formula = roof_formula_scale},
EOF
# --- a precision ----------------------------------------------------------------------------------

recipe=precision
# The one place: a line of the enum,
insert before '    ROOF_PRECISION_COUNT' include/roofline/device.h <<'EOF'
    ROOF_PRECISION_INT3_G32,
EOF
# the layout of its block,
insert after '#define BLOCKS(X)' src/catalog/precision.c <<'EOF'
    X(INT3_G32, 32, 32 * 3 + 16, 14) \
EOF
# a row of the catalog,
insert after 'static const struct roof_format formats[' src/catalog/precision.c <<'EOF'
    [P(INT3_G32)] = {.name = "int3_g32",
                     .label = "INT3 group of 32",
                     INTEGER(3, -4, 3),
                     BLOCK(INT3_G32),
                     .scale = "FP16 per group of 32",
                     STORED,
                     .weight_method = "int3",
                     .use = "none",
                     FALLBACK_16},
EOF
# and its class, with the source.
insert after '  "formats": {' data/accuracy.json <<'EOF'
    "int3_g32": {"class": "severe", "source": "made up by a test"},
EOF
build

# --- what they print --------------------------------------------------------------------------------

recipe=operator
# 4 * 1000 elements: 4000 FLOP at 1 TFLOPS are 4 ns; 8000 bytes in and out, 16000 at 100 GB/s, 160 ns.
set -- --hidden 1000 --set bandwidth_gb_s=100 --set vector_tflops.fp32=1
prints '"operator": "scale"
"tokens": 4
"flops": 4000
"bytes": 16000
"compute_precision": "fp32"
"compute_time_us": 0.004
"time_us": 0.16,
"bottleneck": "memory"' predict scale --tokens 4 "$@" -f json
prints 'scale tokens=4 hidden=1000 on dgx-spark (default)
  time          160 ns        lower bound; memory-bound
  flops = tokens * hidden
      = 4 * 1000' predict scale --tokens 4 "$@" --why
prints 'operator,tokens,time_us
scale,4,0.16
scale,8,0.32' sweep scale --tokens 4,8 "$@" -f csv --columns operator,tokens,time_us
prints 'fp16,1' recommend scale --tokens 4 "$@" -f csv --columns precision,speedup
prints 'scale ' list operators
prints 'scale,a multiple of a tensor' list operators -f csv
prints '"dimensions": "--tokens --hidden"' list operators scale -f json
prints '  --tokens=N
  --hidden=N' predict scale --help

recipe=precision
# 1000 * 2000 elements in blocks of 14 bytes per 32 are 875000 bytes; 4000 in and 2000 out in fp16
# make 881000, at 1 GB/s 881 us. 2 * 1000 * 2000 FLOP at 1 TFLOPS are 4 us.
set -- -n 1000 -k 2000 --set bandwidth_gb_s=1 --set peak_tflops.fp16=1
prints '"weights": "int3_g32"
"activations": "fp16"
"compute_precision": "fp16"
"weights_bytes": 875000,
"bytes": 881000,
"compute_time_us": 4,
"time_us": 881,' predict gemv "$@" -p int3_g32 -f json
prints 'gemv n=1000 k=2000 on dgx-spark (default): weights int3_g32, activations fp16, out fp16
  time          881 us        lower bound; memory-bound' predict gemv "$@" -p INT3_G32
prints 'int3_g32,875000
fp16,4000000' sweep gemv "$@" -p int3_g32,fp16 -f csv --columns weights,weights_bytes
prints 'int3_g32,int3,severe' recommend gemv "$@" --formats all --max-accuracy-loss severe -f csv \
    --columns precision,method,accuracy_loss
prints 'int3_g32 ' list precisions
prints 'int3_g32,32,14,3.5' list precisions -f csv \
    --columns name,block_elements,block_bytes,bits_per_element
prints '"bits_per_element": 3.5
"accuracy_loss": "severe"' list precisions int3_g32 -f json
prints '--precision=P' predict gemv --help

# --- a device -------------------------------------------------------------------------------------

recipe=device
# The one place: a file.
cat > data/hardware/abacus.json <<'EOF'
{
  "schema": "roofline/hardware/1",
  "id": "abacus",
  "name": "Abacus",
  "aliases": ["beads"],
  "basis": "published",
  "bandwidth_gb_s": {"value": 100, "source": "made up by a test", "confidence": "low"},
  "peak_tflops": {"fp16": 1}
}
EOF
build
# (1000 * 1000 + 1000 + 1000) * 2 = 2004000 bytes at 100 GB/s are 20.04 us; 2000000 FLOP 2 us.
set -- -n 1000 -k 1000
prints '"hardware": "abacus"
"hardware_basis": "published"
"ridge_point": 10,
"compute_time_us": 2,
"time_us": 20.04
"bottleneck": "memory"' predict gemv "$@" -H abacus -f json
prints 'gemv n=1000 k=1000 on abacus: weights fp16, activations fp16, out fp16
  time          20.04 us      lower bound; memory-bound
  bandwidth = 100 GB/s
      [made up by a test' predict gemv "$@" -H beads --why
prints 'abacus,20.04
gb10,' sweep gemv "$@" -H abacus,gb10 -f csv --columns hardware,time_us
prints 'abacus,native_fp16,1' recommend gemv "$@" -H abacus -f csv --columns hardware,method,speedup
prints 'abacus ' list hardware
prints 'abacus,published,100,1' list hardware -f csv --columns id,basis,bandwidth_gb_s,fp16_tflops
prints '"id": "abacus"
"fp16": {"value": 1}' list hardware abacus -f json

# --- a model and an engine ------------------------------------------------------------------------

recipe=model
# The one place: a file.
cat > data/models/pebble.json <<'EOF'
{
  "roofline": {
    "schema": "roofline/model/1",
    "name": "Pebble",
    "aliases": ["grain"],
    "confidence": "low",
    "sources": ["made up by a test"]
  },
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "hidden_act": "silu",
  "attention_bias": false,
  "tie_word_embeddings": true,
  "vocab_size": 1000,
  "max_position_embeddings": 4096,
  "rms_norm_eps": 1e-05,
  "rope_theta": 10000.0,
  "hidden_size": 64,
  "num_hidden_layers": 2,
  "num_attention_heads": 8,
  "num_key_value_heads": 2,
  "intermediate_size": 80
}
EOF
# The one place of an engine: a file.
cat > data/engines/kiln.json <<'EOF'
{
  "schema": "roofline/engine/1",
  "id": "kiln",
  "name": "Kiln",
  "source": ["made up by a test"],
  "beware": "its kernels were not measured",
  "formats": [
    {"id": "fp16", "weights": "fp16", "activations": "fp16", "kv": ["fp16"], "on": ["Hopper"],
     "words": ["--half"], "checkpoint": "{name}"}
  ],
  "kv": {"fp16": {"words": []}},
  "splits": [{"tp": 1, "pp": 1, "attention_dp": 1, "batch": 8, "words": []}],
  "run": [{"command": ["kiln-serve {checkpoint}", "{format}", "{split}", "--slots {batch}"]}]
}
EOF
build
# Embeddings 1000 * 64, which the head shares; two layers of 2 * 64^2 for q and o, 2 * 64 * 16 for k
# and v, 3 * 64 * 80 and two norms of 64; a last norm: 64000 + 2 * 25728 + 64 = 115520. A token has
# 2 * 2 heads * 8 of k and v in two layers, of two bytes each: 128 bytes.
prints 'pebble,2,115520,128' list models -f csv --columns id,layers,parameters,kv_bytes_per_token
prints 'pebble ' list models
prints '"id": "pebble"' list models grain -f json
prints '"kv_bytes_per_token": 128' predict model grain -H h100-sxm --context 64 -f json
prints 'pebble on h100-sxm' predict model pebble -H h100-sxm --context 64
prints 'pebble,1
pebble,2' sweep model pebble -H h100-sxm --context 64 --batch 1,2 -f csv --columns model,batch

recipe=engine
set -- -H h100-sxm --devices 1 --context 64 --engine kiln
prints 'kiln ' list engines
prints 'fp16            fp16          fp16         fp16' list engines kiln
prints 'fp16,8,kiln' recommend model pebble "$@" -f csv --columns weights,batch,engines
prints 'kiln-serve pebble \
    --half \
    --slots 8' recommend model pebble "$@" --emit kiln

echo "5 recipes, $failures failed"
[ $failures -eq 0 ]
