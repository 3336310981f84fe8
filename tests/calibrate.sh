#!/bin/sh
# SPDX-License-Identifier: MIT
# roofline-calibrate finds planted kernels: sh tests/calibrate.sh PROGRAM CALIBRATE
# The rows are the expected times of a device. A fit with the same formulas is near them; what is left
# is the pull of the parameters towards their usual values.
set -eu
program=$1
calibrate=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

fail()
{
    echo "calibrate: $*"
    exit 1
}

# plant COLUMNS: the rows on standard input with a stack, and their times on a device
plant()
{
    { echo "$1,stack" && sed 's/$/,vllm/'; } > "$scratch/asked.csv"
    "$program" predict --from "$scratch/asked.csv" -H h100-sxm -f csv \
        --columns "$1,expected_time_us" | sed '1s/expected_time_us/measured_us/; s/$/,vllm/; 1s/vllm$/stack/'
}

# fit FILE: its calibration, and the kernels in it with their rows
fit()
{
    "$calibrate" "$1" --hardware h100-sxm -o "$scratch/fitted.json" --evaluations 200 > /dev/null
    jq -r '.fits[] | "\(.kernel) \(.rows)"' "$scratch/fitted.json" | sort | tr '\n' ';'
}

# is FILE KERNELS: the fitted kernels are these, and their expected times are near the planted ones
is()
{
    fitted=$(fit "$1")
    [ "$fitted" = "$2" ] || fail "$(basename "$1") has the kernels $fitted instead of $2"
    "$program" compare "$1" -H h100-sxm --calibration "$scratch/fitted.json" -f ndjson |
        jq -es 'map(.error | fabs) | length > 0 and add / length < 0.05' > "$scratch/ok" ||
        fail "$(basename "$1"): the fit is more than 5% from the planted times"
}

for m in 1 4 16 64 100 256 1000 4096; do
    for n in 1024 4096 14336; do
        echo "gemm,$m,$n,1024"
        echo "gemm,$m,$n,4096"
    done
done | plant operator,m,n,k > "$scratch/products.csv"
is "$scratch/products.csv" 'gemm 48;'

# A lent kernel reads memory no faster than the device's own products, if these read memory. Those whose
# operands stay in a cache do not show how fast it is.
for cache in cold warm; do
    awk -F, -v OFS=, -v cache="$cache" 'NR == 1 { print $0, "cache" }
        NR > 1 && $3 < 5000 { $5 *= 3; print $0, cache }' "$scratch/products.csv" > "$scratch/slow.csv"
    "$calibrate" "$scratch/slow.csv" --hardware h100-sxm --lend data/calibration/a100-sxm-80gb.json \
        -o "$scratch/slow.json" --evaluations 100 2> /dev/null
    faster=$(jq '([.fits[] | select(.lent == null) | .parameters.dram] | max) as $own
        | [.fits[] | select(.lent != null) | .parameters.dram // 0] | max > $own' "$scratch/slow.json")
    [ "$cache $faster" = 'cold false' ] || [ "$cache $faster" = 'warm true' ] ||
        fail "a lent kernel reads memory faster than $cache products of the device: $faster"
done

# attention CAUSAL: attention of prompts with a mask (1), or of an encoder (0)
attention()
{
    for batch in 1 2 8; do
        for tokens in 64 256 1024 4096; do
            for heads in 8 16 32; do
                echo "flash-attention,$batch,$heads,$heads,128,$tokens,$tokens,$1"
            done
        done
    done
}

# The kernel without a mask serves prompts, too, unless there are rows with one.
sizes=operator,batch,heads,kv_heads,head_dim,query_len,kv_len,causal
attention 0 | plant "$sizes" > "$scratch/encoder.csv"
is "$scratch/encoder.csv" 'prefill 36;'
{ attention 0 && attention 1; } | plant "$sizes" > "$scratch/both.csv"
is "$scratch/both.csv" 'encoder 36;prefill 36;'
echo 'planted kernels are found'
