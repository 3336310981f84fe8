#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints docs/errors.md: sh docs/errors.sh DIR BIN FIT
# DIR: published timings, BIN: roofline, FIT: roofline-calibrate. Some minutes.
set -eu
LC_ALL=C
export LC_ALL
if [ $# -ne 3 ]; then
    echo "usage: $0 DIR BIN FIT" >&2
    exit 2
fi
dir=$1
bin=$2
fit=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh tests/measured.sh "$dir" > "$work/rows.csv"
set --
for file in data/calibration/*.json; do # those of llama.cpp have tables of their own
    case $file in */llama.cpp-*) ;; *) set -- "$@" "$file" ;; esac
done
sh tests/measured.sh "$dir" models > "$work/models.csv"
sh tests/measured.sh "$dir" skewed > "$work/skewed.csv"
cp "$work/rows.csv" "$work/all.csv"
[ ! -d "$dir/kinds" ] || python3 -B tests/kinds.py "$dir/kinds" "$work/rows.csv" >> "$work/all.csv"
exec 3>&1 > "$work/page.md" # the aims are compared at the end: some are of tables that follow them

# Fractions as per cent, and rows of a Markdown table.
helpers='def pc: if . == null then "-" else (. * 1000 | round / 10 | tostring | if test("[.]") then . else . + ".0" end) end;
    def signed: if . == null then "-" elif . >= 0.0005 then "+" + pc else pc end;
    def heads: if .least_heads then ", \(.least_heads) heads" elif .own_kv_heads then ", own KV heads" else "" end;
    def row: "| " + (map(if . == null then "" else tostring end) | join(" | ")) + " |";'

# compare ROWS COLUMNS HEADING...: statistics of groups of rows
compare() {
    file=$1
    columns=$2
    shift 2
    printf '| %s | rows | ideal | MAPE | median | p90 | bias | in band |\n' "$(echo "$columns" | sed 's/,/ | /g')"
    printf '|%s---|---|---|---|---|---|---|\n' "$(echo "$columns" | sed 's/[^,]*,*/---|/g')"
    "$bin" compare "$file" --group-by "$columns" -f json "$@" > "$work/groups.json"
    jq -r --arg columns "$columns" "$helpers"'
        .groups[] | select(.expected_mape != null) | . as $g | ($columns / ",") as $c
        | [$g[$c[]], .rows, (.ideal_mape | pc), "**" + (.expected_mape | pc) + "**", (.expected_median_ape | pc),
           (.expected_p90_ape | pc), (.expected_bias | signed), (.band_coverage | pc)] | row' "$work/groups.json"
}

cat << EOF
# Errors of the expected time

This page compares expected times with measured ones. All errors are per cent of the measured
time. [accuracy](accuracy.md) explains how the estimate works; \`make errors MEASURED=DIR\` writes this page.

**A change of the estimate** is judged with \`make check-errors MEASURED=DIR\`. It writes this page again and compares each line with the kept one. It fails if a line is missing, if an error (bold) is larger by more than 0.2 points,
if a share of rows in the interval falls by more than 2 points and more than one row, or if a band is wider by more than 5%. If you keep the change, renew this page with \`make errors\`.

## What you may believe

The table has a line for each device and engine. Each cell is the mean error of a phase, in brackets with the share of its measured times that lie between expected_low_us and expected_high_us, which should hold 80%. [accuracy](accuracy.md#what-you-may-believe) explains the columns and begins with the same table.

@believe@

Two kinds of kernels were measured without an engine, or count for all of them:

| device | stack | vectors | rows | collectives | rows |
|---|---|---|---|---|---|
EOF
jq -r "$helpers"'
    def cell(kernels): map(select(.kernel | IN(kernels))) | if . == [] then ["-", "-"] else
        ["**" + ((map(.rows * .mape) | add) / (map(.rows) | add) | pc) + "**", (map(.rows) | add)] end;
    .hardware as $d | .fits | map(select(.lent == null)) | group_by(.stack)[] | .[0].stack as $s
    | cell("norm", "add", "activation", "rope", "quantize") as $vectors
    | cell("all_reduce", "one_shot", "all_gather", "reduce_scatter", "all_to_all") as $collectives
    | select($vectors[0] != "-" or $collectives[0] != "-") | [$d, $s] + $vectors + $collectives | row' "$@"
cat << 'EOF'

Devices without rows of their own borrow the calibration of their family, with a wider band ([which devices](accuracy.md#which-devices)); their \`expected_basis\` is \`nearest\`.

In the tables below, MAPE is the mean of |expected / measured - 1| over all rows, including small and launch-bound ones, and p90 is the 90th percentile. `ideal` is the MAPE of the lower bound. A negative bias means that expected times are too short.

## Kernels, on sizes that no fit saw

The first table has each kernel over all devices and stacks, with its worst fit.

| kernel | formats | fits | rows | unseen MAPE | worst |
|---|---|---|---|---|---|
EOF
jq -rs "$helpers"'
    [.[] | .hardware as $d | .fits[] | select(.lent == null) + {device: $d}]
    | group_by([.kernel, .numerics])[]
    | [.[0].kernel, .[0].numerics, length, (map(.rows) | add),
       "**" + ((map(.rows * .mape) | add) / (map(.rows) | add) | pc) + "**",
       (max_by(.mape) | (.mape | pc) + " (" + .device + " " + .stack + ")")] | row' "$@"
cat << 'EOF'

The second table has each fit with its band, which contains measured / expected of 80% of the rows.

| device | kernel | formats | quantisation | stack | rows | unseen MAPE | band |
|---|---|---|---|---|---|---|---|
EOF
jq -r "$helpers"'
    .hardware as $d | .fits[] | select(.lent == null)
    | [$d, .kernel, .numerics + (if .weights then ": " + .weights else "" end) + heads, .quantize_input, .stack, .rows, "**" + (.mape | pc) + "**",
       ((.low * 100 | round / 100 | tostring) + " to " + (.high * 100 | round / 100 | tostring))] | row' "$@"
cat << 'EOF'

## Beside the aims

These tables compare each aim with its figure (tests/residuals.py). Kernels have their error on sizes that no fit saw; those from state to encoder are of [layers with a state, indexers and encoders](#layers-with-a-state-indexers-and-encoders), and [modules](#attention-modules-experts-of-one-rank-and-deepep) are named as in their table. For a device that is left out, the kernels of the nearest other device are used ([below](#a-device-that-no-fit-saw)); with the same SM, the rows are [those that no fit used](#devices-with-the-sm-of-their-lender). Vectors have the aim of 12% in both. Lines of llama.cpp have the fit of the device without the rows that are tested, or that of its lender ([below](#llamacpp)). Devices that borrow have the same aims there. Times per token under load and static batches are [medians of runs](#serving). If an aim is missed, the last column names the part of the rows with the largest error: a range of one dimension, or one value. Only parts with at least a tenth of the whole error count. For kinds with `no fit`, the last column gives the reason.
For comparison: repeated measurements of the same kernel differ by 2%, and two stacks that call the same library by 4 to 9%.

@aims@

## What the errors are made of

For the kinds and devices that miss their aims, this table splits the error (tests/scatter.py). "unseen" is the error of the table above, and "seen" that with the parameters of the files. The next two columns have what would remain of it if each stack and format had a factor of its own, and if each shape had one: (n, k) of products, heads and head_dim of attention, the layer of experts, the devices of collectives. "roughness" is the error of independent noise that would explain how far neighbouring sizes of the same shape are from a line, so a formula that is smooth in the sizes hardly gets below it. "falls" is the share of neighbouring sizes whose measured time falls by more than 5% when the size grows, which an expected time [never does](accuracy.md#what-always-holds). "other stacks" is the mean difference of the times of two stacks for the same product, which mostly call the same library. [Weak points](accuracy.md#weak-points) has the reasons by kind.

EOF
"$bin" compare "$work/rows.csv" -f csv > "$work/compared.csv"
python3 -B tests/scatter.py "$work/compared.csv" "$@"
cat << 'EOF'

## Kernels, with the parameters of the files

These are the errors that `roofline compare` prints for the same rows. The fits saw these rows.

<details>
<summary>All kernels, by source, device, stack and formats</summary>

EOF
compare "$work/rows.csv" source,operator,algorithm,hardware,stack,weights,activations,kv,quantize_input
cat << 'EOF'

</details>

## The fastest of the stacks

For shapes that were measured on two or more stacks, the table compares the fastest stack with `--stack best`. Its interval is that of the stack with the shortest estimate, which [reaches to the next stack](accuracy.md#the-band). It holds 72 to 97% of the rows, least in decode with an FP8 cache on H100, because the shortest of several estimates is more often too short than too long (most biases are negative).

<details>
<summary>The fastest kernels, by source, device and formats</summary>

EOF
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; s = column["stack"]; t = column["measured_us"]; print; next }
    $s != "" { time = $t; $s = "best"; $t = ""; key = $0; count[key]++; $t = time
      if (!(key in least) || time + 0 < least[key]) { least[key] = time + 0; row[key] = $0 } }
    END { for (key in row) if (count[key] > 1) print row[key] | "sort" }' "$work/rows.csv" > "$work/best.csv"
compare "$work/best.csv" source,hardware,weights,activations,kv,quantize_input
cat << 'EOF'

</details>

## Experts that share their tokens unevenly

In these rows the tokens per expert follow a power law. No fit saw them. The estimate assumes random routing (`routing uniform`), and its interval is [wider](accuracy.md#the-band) by 1.12. Without this factor it would hold 46 to 65% of the rows of a device.

EOF
compare "$work/skewed.csv" source,hardware,weights,activations
cat << 'EOF'

## Layers with a state, indexers and encoders

tests/kinds.py reads these rows, which were measured in CUDA graphs with warm caches. Most of these operators are small. The kernels of states, prompts through a state, convolutions, encoder attention, sparse attention, attention to compressed keys and hyper-connections were fitted to them: their errors on unseen sizes are in the tables [above](#kernels-on-sizes-that-no-fit-saw) (kernels state, state_prefill, kimi_prefill, ssd_prefill, conv, conv_prefill, encoder, index_scores, top_k, sparse_mla, compressed, compressed_prefill, hyper_collapse and hyper_expand). The encoder attention of vLLM has larger errors here, because estimates for short sequences are raised to the time of [one query](accuracy.md#attention).
No fit saw six kinds of rows. Their aims, errors and reasons are also [above](#beside-the-aims):

- **Top-k with more than 32768 queries** takes up to five times as long as the numbers of queries and scores explain, on both devices, although the kernels are the same. No step of an engine has so many queries.
- **Convolutions with a call per graph** are those of Kimi delta attention. All other convolutions were measured with other versions of the libraries, and with ten calls in a graph, since a step also has several. With few tokens, the rows with one call take 1.4 to 2.8 us longer than the estimate. With data that fits into the L2, they take up to 1.5 times as long. So the estimates for convolutions of Kimi models may be too short. One fit to both kinds of rows would be off by up to 16%.
- **Prompts of 2 to 15 tokens through a state** have the estimate of a step with drafts in this table, which compares operators. Engines run them as prompts, which takes longer; in models they have the estimate of 16 tokens ([short prompts](accuracy.md#prompts-through-a-state)).
- **Steps with drafts through a state** have 2, 4 or 8 tokens per sequence. Their estimate follows from that of one token ([vector operators](accuracy.md#vector-operators)).
- **Batched products of vLLM** are those of latent attention. The fit uses the rows of TensorRT-LLM, which calls the same library. They do not include 24 or 96 products at a time, for which the estimate is off by 7 to 8%.
- **All-reduces of an engine**, 411 rows of vLLM and SGLang with 2 to 8 devices. An engine has a kernel of its own for small buffers and calls NCCL for large ones. The fits are to NCCL and to the one-shot kernel of TensorRT-LLM, and models take the shorter estimate. It is off by 16 to 28%: up to 256 KiB estimates are 31% too short for vLLM on H100 and B200, and off by 8 to 15% for SGLang on A100, H100 and B200; from there to 8 MB most are 8 to 50% too long, because each engine changes between kernels at sizes of its own. A fit for each engine would replace the expected times of all splits over several devices, so it has to be judged with the [serving](#serving) runs.

Eight kinds of rows in these files are not compared, 2,176 rows in all: index scores of compressed keys in pages (468; vLLM's rows count all queries as one sequence, and SGLang's do not), convolutions of three tensors in three launches (280) and of steps with drafts (280), kernels that join the convolution, the state and a norm (148), states that are read in one format and written in another (130), top-k of equal scores or of at most 2,048 keys (252), index scores and sparse attention of 1 to 15 new tokens or at most 2,048 keys, which have other kernels (241), and sequences of one token in kernels for prompts (377).

EOF
python3 -B tests/kinds.py "$dir/kinds" > "$work/kinds.csv"
compare "$work/kinds.csv" kind,hardware,stack | sed '/^| all-reduce of an engine/d' # two rows for one time
"$bin" compare "$work/kinds.csv" -f csv > "$work/others.csv"
cat << 'EOF'

Among the prompts through a state, those of 16 tokens have the largest errors (12%, mostly too long). The estimates for Mamba-2, whose chunks have 128 tokens, are 14 to 25% too long for prompts of 128 and 256 tokens.
Convolutions of one token with TensorRT-LLM are off by 16% on L40S and 14% on RTX PRO 6000, because measured times of launch-bound sizes differ as much from each other: on RTX PRO 6000, the same shapes of 6144 channels took 4.0 to 4.9 us in one collection and 5.2 to 6.7 us in another.
EOF
if [ -f "$dir/kinds/aic_mla_module.csv" ]; then
    python3 -B tests/modules.py "$bin" "$dir/kinds" > "$work/modules.md"
    part() { awk -v RS= -v n="$1" 'NR == n' "$work/modules.md"; }
    cat << 'EOF'

## Attention modules, experts of one rank and DeepEP

tests/modules.py compares predictions with timings of whole modules on one GPU. The expected time of an attention module is the sum of the operators of one layer (`predict model`), each with the time to launch its kernel. The modules ran in CUDA graphs with warm caches, where one kernel follows another without such a gap. Three kinds of rows were launched by the host instead: prefill of DSA with vLLM and SGLang, prefill of MSA with SGLang, and prefill of SGLang's experts.
An operator without an estimate counts with its lower bound. No fit saw these rows. The aim for modules is 18%.

EOF
    part 1
    cat << 'EOF'

The next table shows where the errors above 18% come from. It divides the expected time into parts: products, products of an indexer, quantisation, norms with RoPE, index scores, top-k and attention. Each cell has a factor for the part, and in brackets its expected time in per cent of the measured time. The factors are fitted: parts that are multiplied by them add up to the estimate with the smallest mean error. "fitted, unseen" is the error of such factors on the fifth of the sizes that they were not fitted to. It is at most 18% in 30 of the 41 lines. Above it are prompts of DSA (20 to 26%) and of MSA with SGLang (33 and 34%), most of which the host launched; decode on L40S (23 and 32%) and MSA decode on RTX PRO 6000 (19%), whose parts do not grow like the module; and prompts of MSA with vLLM on H100 (18.1%). Predictions of whole models do not have these factors: without them, steps of DeepSeek-R1 with SGLang on B200 are off by 8%, while its attention modules are off by 45% ([Serving](#serving)). The columns `us` and `ns` are times that the fit adds to each module and to each token of a prompt. A factor of 0 means that the measured module does not take this time. If a part is small and its factor is large, the factor stands for other work that grows like this part.

EOF
    part 2
    cat << 'EOF'

The main reason of each error, with the error of an estimate that has only this change (tests/module_reasons.csv):

EOF
    part 3
    cat << 'EOF'

- **Quantisation.** Projections of the same input share one quantisation in the estimate. The libraries also fuse quantisations with norms and products. This matters most with SGLang on B200, whose separate products were measured with a slow quantisation: in DeepSeek-V4 decode, block FP8 takes only 5 us longer than bf16 (median of 23 pairs of rows).
- **Norms, RoPE and projections of the indexer** have factors near 0 in most decode modules: the libraries fuse them with their neighbours. MSA with vLLM has one product for Q, K, V and the indexer, where the estimate has three, with four norms and two RoPE kernels (with 8 heads on H100, 79 us are expected and 40 us were measured).
- **Launches that the estimate does not know.** MLA with vLLM on H100 takes 55 us longer than expected at every batch, context and number of heads; with this time added, the error in decode falls from 34 to 8%. On RTX PRO 6000 it takes 38 us longer (28 to 12%). DSA in decode takes 100 us longer with vLLM on B200 (50 to 14%), 121 us with vLLM on H100 (49 to 16%), and 178 us with TensorRT-LLM on H100 (59 to 15%). MSA with TensorRT-LLM on B200 takes 88 us longer (52 to 17%). Modules that the host launches take 0.1 to 1.7 ms longer.
- **Sparse attention in prefill.** For prompts of up to a few thousand tokens, the estimate uses dense attention, which is the least work. The libraries go through 2048 keys per query, even if fewer are valid, and pad a small number of heads. DSA with TensorRT-LLM on H100 with 8 heads takes 1.4 to 1.7 us per token for all prompts of 64 to 16384 tokens, where the estimate has 0.14 to 0.28 us up to 6144 tokens.
- **Top-k in prefill** has a factor of 4 to 25 in DSA with TensorRT-LLM and vLLM and in DeepSeek-V4 CSA, but is only 1 or 2% of the time. The factor is large because it stands for other work too: the steps above that no operator counts also grow with the keys of all queries. Dummy weights make scores equal, and equal scores make the top-k kernel of SGLang 1.3 to 3.5 times as slow (median 2.5, 64 shapes of aic_sparse_kernels.csv).
- **DeepSeek-V4.** The estimate of attention to compressed keys uses the kernels of vLLM for all libraries. With vLLM its factor is 0.9 to 1.3, even for modules that choose keys, which the fit did not see.
- **L40S.** Latent attention of vLLM is a Triton kernel there, which was not measured separately. The estimate uses SGLang's kernel instead: it is 0.4 times the measured time at batch 1, and twice the measured time at batch 512.

EOF
    part 4
    cat << 'EOF'

- **Experts.** The rows do not state how many experts their tokens hit, and the estimate assumes random routing. With a power law, the error is larger if a rank has fewer experts: SGLang's prefill with power_law_1.2 on H100 is off by 20% with 128 experts per rank, and by 93% with one expert, which may get nearly all tokens or none. TensorRT-LLM's rows include the routing. On B200 they come from its CUTLASS kernels, but the expected time is that of the TRTLLM kernels, which served runs use. The rows there take 34 to 41 us longer than expected; with this time added, the errors fall from 46-57% to 14-24%. In SGLang's decode with even routing on B200, most ranks with one or two experts take 27 to 37 us, where 36 to 73 us are expected: the fitted kernel was measured with routing and sorting. The other groups above 18% have these reasons:
  - *SGLang, decode with even routing.* On H100 and B200 the ratio of expected to measured time falls with the experts of a rank: 1.5 and 1.9 with one, 1.3 and 1.7 with two, 0.8 with 64 or more. The rows are masked grouped products of DeepGEMM, which skip the routing (20 to 25 us for one or two experts) and read the weights of many experts at half to two thirds of the bandwidth; the fit saw fused kernels.
  - *SGLang, decode with a power law.* On H100 the errors come from ranks with one expert (42%, expected 0.62 of measured): their load is several times the mean, which is all that the rows state. Ranks with 8 or 32 experts are off by 9 and 13%. On B200 ranks with 8 experts are expected to take 1.26 times as long as they do, for the reason of even routing.
  - *SGLang, prefill with even routing.* With 8 or more experts per rank the expected time is 1.2 to 1.9 times the measured one: DeepGEMM reaches about half of the FP8 peak, the fused kernels of the fit a third. With one or two experts it is 0.4 to 0.7: all rows of a rank go to them, and moving these rows, eagerly, takes longer than the products.
  - *SGLang, prefill with a power law.* The expected time is 0.13 to 0.26 of the measured one with one or two experts per rank, and 0.7 to 1.0 with 32 to 128. The rows do not state the load of a rank; up to 512 tokens the eager launches add 100 to 450 us.
  - *TensorRT-LLM on RTX PRO 6000.* With power_law_1.2 the expected time is 1.1 to 1.2 times the measured one from 16 to 384 tokens, and 0.7 times from 8192 on, because the busiest expert has more rows than the mean.
  - *TensorRT-LLM on H100.* Up to 64 tokens and with at most 32 experts per rank the expected time is 1.1 to 1.3 times the measured one (10 to 35 us), because a skewed choice hits fewer experts than a random one. From 1024 tokens on it is 0.8 to 0.9: the busiest expert has more rows than the mean. Between these sizes, and with 36 to 128 experts per rank, the error is 10 to 20%.
- **DeepEP** is compared with two `all-to-all` operators, a dispatch in FP8 and a combination in bf16, in which each token goes once to each rank that has one of its experts. The fitted kernel is NCCL's. The low-latency kernels are close to it up to 128 tokens. With more tokens they take longer, because they send a token once per expert and so move more bytes. With few tokens, the normal kernels take 40 to 50 us longer, because the host launches them. With many tokens they move 11 to 16 GB/s per SM that they use: 62 GB/s with 4 SMs and 270 to 330 GB/s with 24, on H100 and B200 alike.
- **Hyper-connections (mHC)** were fitted to these rows, so their errors here are not on unseen sizes. On L40S, `pre` of 2 to 64 tokens is off by up to 45%: one fit covers all sizes, and these take up to 1.8 times the expected time.
EOF
fi
cat << 'EOF'

## A device that no fit saw

The bf16 products of a device were predicted by a fit to every fifth row of the other devices together (`roofline-calibrate --from`).

EOF
awk -F, 'NR == 1 || ($1 == "aic_gemm" && $16 == "bf16" && $17 == "bf16")' "$work/rows.csv" > "$work/bf16.csv"
awk 'NR % 5 == 1' "$work/bf16.csv" > "$work/fifth.csv"
devices='a100-sxm-80gb h100-sxm hgx-b200 l40s rtx-pro-6000'
first=yes
for device in $devices; do
    others=$(echo "$devices" | tr ' ' '\n' | grep -vx "$device" | paste -sd, -)
    "$fit" "$work/fifth.csv" --hardware "$device" --from "$others" --evaluations 300 -o "$work/others.json" 2> /dev/null
    awk -F, -v d="$device" 'NR == 1 || $3 == d' "$work/bf16.csv" > "$work/own.csv"
    compare "$work/own.csv" hardware --calibration "$work/others.json" | if [ $first = yes ]; then cat; else sed 1,2d; fi
    first=no
done
cat << 'EOF'

The next table uses the parameters of one other device, as a device that borrows them does. The bias is in brackets:

EOF
echo "| rows of | $(echo "$devices" | sed 's/\([^ ]*\)/from \1/g; s/ from/ | from/g') |"
echo '|---|---|---|---|---|---|'
for device in $devices; do
    awk -F, -v d="$device" 'NR == 1 || $3 == d' "$work/bf16.csv" > "$work/own.csv"
    cells=
    for other in $devices; do
        cells="$cells $("$bin" compare "$work/own.csv" --summary -f json --calibration "data/calibration/$other.json" |
            jq -r "$helpers"'.overall | (.expected_mape | pc) + " (" + (.expected_bias | signed) + ")"') |"
    done
    echo "| $device |$cells"
done
cat << 'EOF'

The next tables leave out more (tests/left_out.py). The first one predicts all rows of a device with the kernels of the nearest other device that has them: H100 for A100 and B200, B200 for H100, L40S for RTX PRO 6000 and the reverse. In brackets are the errors from the best and the worst of the other devices.

EOF
others() { awk -v RS= -v n="$1" 'NR == n' "$work/left_out.md"; }
python3 -B tests/left_out.py "$bin" "$fit" "$work/all.csv" "$@" --aims "$work/left_out.json" > "$work/left_out.md"
others 1
cat << 'EOF'

The second table judges the [widths of intervals](accuracy.md#the-band) of borrowed kernels: the factor w of the program, the share of the rows in the interval, and the factor that would hold 80% of them. Each device borrows from each other one, near or not; the last column has only the nearest. Stacks and formats that are left out borrow from others of their device. Norms, activations and RoPE were measured on two devices only, which is too few for a narrower interval. A100 has no hyper-connections, and lends the kernels of norms and additions in their place.

EOF
others 2
cat << 'EOF'

The third table has the share of all rows of a device in the interval, by the device that lends.

EOF
others 3
cat << 'EOF'

### Devices with the SM of their lender

No fit of the device used these rows (tests/same_sm.py). Each device has the kernels of one with the same SM, DGX Spark by `"like": "rtx-pro-6000"` in place of its own. The rows are those of `roofline measure` on H200 and H100 ([docs/reports](reports/measured-h200.md)), those of the next section, products of DeepGEMM and attention of FlashInfer and FlashMLA on H800 (alibaba/InferSim@f2293da, bench_data; Apache-2.0),
products of cuBLAS and MLX on DGX Spark (ml-explore/mlx#3137 and huggingface/kernels#283; they state no licence, so this page has their figures and no rows), and the fastest product of a search on MI300X and on MI355X (stas00/ml-engineering@744d01e, compute/accelerator/README.md; CC-BY-SA-4.0, for comparison alone). H100, MI300X and MI355X have their own kernels here.

EOF
python3 -B tests/same_sm.py "$bin" "$dir"
cat << 'EOF'

- **16-bit products of H200** are 8% too short, because the clock falls under load: up to m = 256 the error is 8%, and from 512 on 16%, all of it too short. There the GPU ran at 1.5 to 1.8 GHz at its limit of 700 W.
- **INT8 products of H200 and H100** have the kernels of A100, which also scale and convert their results. cuBLASLt writes 32-bit sums. Estimates are 37 and 32% too long, mostly between m = 8 and 1024. With one row and from 2048 rows on the error is 11 to 24%.
- **Vectors and quantisation of H200 and H100** are kernels of `measure`, and the estimates are those of an engine. Norms of the engine take twice as long as those of `measure`, additions and quantisation two thirds of the time. So this compares two kernels more than two devices: on H100, with kernels of its own, the errors are as large.
- **Prefill attention of H100** is that of cuDNN, which is faster than the kernels of the engines.
- **FP8 products of H800.** The kernels of vLLM and SGLang include a quantisation, which the estimate leaves out here. With vLLM, products with 16 and 32 rows have 30% of the error (estimates are 21 and 8% too short). From 4096 rows on the error is 7 to 11%. TensorRT-LLM has other kernels than DeepGEMM.
- **Decode attention of H800** was timed by the host, which adds 15 to 35 us to a call. With one sequence the error is 34%, and from 64 sequences on 3 to 8%.
- **Weight-only products of DGX Spark** are those of MLX, which takes 175 and 309 us with 64 and 128 rows, where 100 and 109 us are expected. With up to 16 rows estimates are 14 to 16% too long.
- **GeForce.** The first rule of [borrowed products](accuracy.md#which-devices) makes RTX 5080 worse (14%, and 6% without it), and RTX 5090 ran above its printed clock.

### Devices that borrow

These are published times of devices that borrow their kernels (docs/reports/borrowed.csv has them with their sources): square products of PyTorch with 1024 to 10240 rows, and on H20 attention of FlashAttention 3 and FlashMLA. No fit used them, but the exponent of the [power rule](accuracy.md#which-devices) was chosen by a100-pcie-40gb, h100-pcie and l4. rtx-5090 runs above its printed clock, so that some times are below the bound.

EOF
compare docs/reports/borrowed.csv hardware,operator
cat << 'EOF'

The next table shows what a few measured rows gain, as with `roofline measure` ([from rows to expected times](measuring.md#from-rows-to-expected-times)). A fit to 20 or 50 random rows of each kernel starts from the kernels of the device's lenders (data/borrowing.json) and is tested on all other rows. `lent` is the error of the lender's kernels without a fit, and `all` is the error of
the full fit on sizes that it did not see. The figures are means over kernels, formats and stacks whose measured time includes no quantisation; "worse" counts those for which 20 rows give a larger error than none.

| device | kernels | lent | 20 rows | 50 rows | all | worse |
|---|---|---|---|---|---|---|
EOF
for few in 20 50; do
    for device in $devices; do
        "$fit" "$work/rows.csv" --hardware "$device" --few "$few" --lenders data/calibration
    done
done > "$work/few.csv"
jq -r '.hardware as $d | .fits[] | select(.lent == null and .quantize_input == "none")
    | ["all", $d, .kernel, .numerics + " \(.least_heads // 0)" + (if .own_kv_heads then " own" else "" end), .stack, .mape * 100] | join(",")' "$@" > "$work/all.csv"
awk -F, '$1 == "all" { all[$2 FS $3 FS $4 FS $5] = $6; next }
    $1 == "hardware" { next }
    { key = $1 FS $2 FS $3 FS $4; fit[key, $6] = $9; lent[key] = $8; if ($6 == 20) order[++n] = key }
    function put(name, i) { printf "| %s | %d | %.1f | **%.1f** | **%.1f** | %.1f | %d |\n", name, count[i], a[i] / count[i],
        b[i] / count[i], c[i] / count[i], e[i] / count[i], worse[i] }
    function add(i, key) { count[i]++; a[i] += lent[key]; b[i] += fit[key, 20]; c[i] += fit[key, 50]; e[i] += all[key]
        worse[i] += fit[key, 20] > lent[key] }
    END { for (i = 1; i <= n; i++) { key = order[i]; if (!((key, 50) in fit)) continue
            split(key, part, FS); if (!(part[1] in count)) names[++m] = part[1]; add(part[1], key); add("all of them", key) }
        for (i = 1; i <= m; i++) put(names[i], names[i]); put("all of them", "all of them") }' "$work/all.csv" "$work/few.csv"
cat << 'EOF'

## Whole models

The first two tables have decode steps, and static batches from the prompt to the last token, of dense models at a batch of 1 to 32. No fit saw these rows. The fits of llama.cpp saw its rows on DGX Spark and RTX 4090, so those are under [llama.cpp](#llamacpp) instead.

EOF
awk -F, '$1 != "llama.cpp" && $10 != "rtx-4090"' "$work/models.csv" > "$work/strangers.csv"
awk -F, 'NR == 1 || ($2 == "dense" && $12 <= 32 && $3 !~ /^prefill/)' "$work/strangers.csv" > "$work/dense.csv"
compare "$work/dense.csv" source --host-time none
echo
compare "$work/dense.csv" source,hardware,stack,model,layout --host-time none
cat << 'EOF'

All of them together:

EOF
compare "$work/dense.csv" kind --host-time none
cat << 'EOF'

Prefill, mixtures of experts and larger batches:

EOF
awk -F, 'NR == 1 || $2 == "moe" || $12 > 32 || $3 ~ /^prefill/' "$work/strangers.csv" > "$work/rest.csv"
compare "$work/rest.csv" source,hardware,model,metric --host-time none
if [ -f "$dir/more/llamacpp_strix_halo.csv" ]; then
    cat << 'EOF'

## llama.cpp

The fits of llama.cpp are to whole passes ([accuracy](accuracy.md#llamacpp)). The table has mean errors in decode, in passes of up to 32 tokens, and in prompts at several depths, with the number of rows in brackets. "itself, without them" is the device's own fit, which leaves out the rows of the same model. RTX 4090 has rows of one model only, so its fit leaves out the rows of the same weight format instead. The fit of the Apple GPUs leaves out the rows of the same device. All other lines use the fit of another device.

- **Decode.** DGX Spark and Strix Halo meet the aim of 10%. R9700 (19%, two models), the Apple GPUs (22%, devices left out) and RTX 4090 (13%, formats left out, with the decode parameters of DGX Spark) miss it.
- **Prompts.** The Apple GPUs meet the aim of 20%, R9700 has 20%, and the others have 23 to 40% (RTX 4090 27%). On Strix Halo the error comes from kernels that llama.cpp chooses by size: prompts of 64 to 512 tokens take 0.7 to 1.6 times the expected time, and attention at depths above 16k tokens takes half of it.
- **A100.** Its rows, those of RTX A6000 and 16 of RTX 4090 come from one source and builds of May 2024. With the fit of DGX Spark, decode of RTX A6000 is off by 11%, and that of A100 by 47 to 51%. So the date alone does not explain A100: it decoded 1.3 times as fast as RTX A6000, with a memory that is 2.5 times as fast, and in 16 bits reached 40% of its bandwidth (RTX A6000: 80%).
- **Full rate.** A lender's share of the peak follows the full rate of the SMs. Without that, prompts of RTX 4090 with the fit of DGX Spark were 81% off, and those of RTX A6000 with the fit of RTX 4090 47%.
- **Newer builds.** The last lines have six speeds that no fit saw, of builds 4008 and 4011 (November 2024; tests/llama/discrete.csv). Prompts on RTX 3090 and RTX 4090 were 1.4 times as fast as expected: the fits also have older builds. Decode of RTX 4090 is within 5%.
- **Intervals.** The second table has the share of the passes in the 80% interval of the program.
- **Rows.** Among ROCm, Vulkan and several builds the fastest counts.

EOF
    python3 -B tests/llamacpp.py "$bin" "$dir"
fi
if [ -f "$dir/more/inferencemax_agg.csv" ]; then
    cat << 'EOF'

## llama.cpp on a CPU

`make llama-check` measures the machine with 1 and 2 threads and times the llama.cpp of an npm package beside it ([measuring](measuring.md#beside-llamacpp)). The first table is from `make llama-check SHAPES='narrow wide' FORMATS='q4_0 q8_0 f16' SECONDS_EACH=25` on a virtual machine with two processors of an AMD EPYC (Zen 3, AVX2): medians of three turns. Other virtual machines used the memory at the same time, and llama.cpp itself became slower during the test. Ten of twelve decode steps are within 15%, and eleven of twelve prefills within 25%; q8_0 with one thread, and q4_0 with two, exceed the limits in the narrow model, whose steps are the shortest. All steps of f16 are within 14%.

| threads | model | format | decode, ms | expected | error | prefill, ms | expected | error |
|---|---|---|---|---|---|---|---|---|
| 1 | narrow | q4_0 | 13.2 | 11.8 | -11% | 756 | 635 | -16% |
| 1 | narrow | q8_0 | 24.3 | 20 | -18% | 855 | 833 | -3% |
| 1 | narrow | f16 | 34.9 | 34.1 | -2% | 1436 | 1435 | -0% |
| 1 | wide | q4_0 | 26.7 | 24 | -10% | 1277 | 1254 | -2% |
| 1 | wide | q8_0 | 43.5 | 41.1 | -6% | 1423 | 1667 | +17% |
| 1 | wide | f16 | 69 | 70.6 | +2% | 2565 | 2926 | +14% |
| 2 | narrow | q4_0 | 9.72 | 7.5 | -23% | 497 | 338 | -32% |
| 2 | narrow | q8_0 | 14.7 | 13.2 | -10% | 543 | 430 | -21% |
| 2 | narrow | f16 | 22.6 | 21.4 | -5% | 775 | 723 | -7% |
| 2 | wide | q4_0 | 16.3 | 15.1 | -8% | 759 | 670 | -12% |
| 2 | wide | q8_0 | 28.1 | 27 | -4% | 792 | 863 | +9% |
| 2 | wide | f16 | 43.3 | 44 | +1% | 1478 | 1474 | -0% |

The second table has medians of two runs on an idle virtual machine with two processors of an AMD EPYC (Zen 5). With one thread all decode steps are within 17% (6% for q4_0, q8_0 and f16) and all prefills within 30%. With two threads llama.cpp decodes f16 20 to 27% slower than predicted there, and the short steps of the small model vary; the reason is unknown.

| threads | model | format | decode, ms | expected | error | prefill, ms | expected | error |
|---|---|---|---|---|---|---|---|---|
| 1 | narrow | q4_0 | 4 | 3.84 | -4% | 157 | 159 | +1% |
| 1 | narrow | q8_0 | 6.41 | 6.02 | -6% | 284 | 305 | +7% |
| 1 | narrow | f16 | 11.2 | 10.7 | -5% | 481 | 374 | -22% |
| 1 | narrow | q4_k | 3.93 | 4.29 | +9% | 194 | 152 | -22% |
| 1 | narrow | q6_k | 5.1 | 5.46 | +7% | 428 | 330 | -23% |
| 1 | wide | q4_0 | 7.89 | 7.83 | -1% | 260 | 322 | +24% |
| 1 | wide | q8_0 | 12.1 | 12.4 | +2% | 483 | 626 | +30% |
| 1 | wide | f16 | 19 | 20.3 | +6% | 841 | 770 | -8% |
| 1 | wide | q4_k | 7.5 | 8.76 | +17% | 332 | 308 | -7% |
| 1 | wide | q6_k | 9.72 | 11.2 | +15% | 766 | 680 | -11% |
| 2 | narrow | q4_0 | 2.62 | 3.78 | +44% | 81.3 | 82.3 | +1% |
| 2 | narrow | q8_0 | 4.53 | 4.47 | -1% | 146 | 140 | -4% |
| 2 | narrow | f16 | 8.13 | 5.97 | -27% | 240 | 190 | -21% |
| 2 | narrow | q4_k | 2.65 | 3.33 | +26% | 98.5 | 79.4 | -19% |
| 2 | narrow | q6_k | 4.47 | 3.35 | -25% | 218 | 168 | -23% |
| 2 | wide | q4_0 | 4.58 | 4.61 | +1% | 133 | 162 | +22% |
| 2 | wide | q8_0 | 8.94 | 8.72 | -3% | 252 | 286 | +13% |
| 2 | wide | f16 | 14.8 | 11.8 | -20% | 426 | 390 | -8% |
| 2 | wide | q4_k | 4.91 | 5.15 | +5% | 168 | 157 | -6% |
| 2 | wide | q6_k | 7.19 | 6.38 | -11% | 386 | 344 | -11% |

On a virtual machine with two processors of an Intel Xeon (AVX-512 with VNNI, no AMX) the errors are larger, and two threads of llama.cpp are faster than predicted:

| threads | phase | q4_0, narrow and wide | q8_0, narrow and wide | f16, narrow and wide | limit |
|---|---|---|---|---|---|
| 1 | decode | +24, -31% | +10, +11% | +6, +11% | 15% |
| 2 | decode | +26, +8% | +26, +30% | +22, +18% | 15% |
| 1 | prefill | -24, -17% | -4, +9% | -3, +12% | 25% |
| 2 | prefill | +4, +19% | +11, +36% | +9, +29% | 25% |

The mixture has 32 experts, of which each token chooses 4 (`experts` in tests/llama/shapes.mjs). The table has the times of one thread of a busy AMD EPYC (Zen 4), as medians of three steps. The decode of f16 and the prefill of q4_k exceed the limits. In q4_k, llama.cpp multiplies eight packed rows at a time, and `measure` multiplies one. Two threads are left out, because the threads of llama.cpp wait for each other on a busy machine.

| format | decode, ms | expected | error | prefill, ms | expected | error |
|---|---|---|---|---|---|---|
| q4_0 | 3.28 | 2.78 | -15% | 247 | 245 | -1% |
| q8_0 | 4.62 | 3.93 | -15% | 315 | 341 | +8% |
| f16 | 6.53 | 5.09 | -22% | 531 | 523 | -2% |
| q4_k | 3.08 | 3.45 | +12% | 229 | 305 | +33% |
| q6_k | 4.02 | 4.14 | +3% | 334 | 389 | +16% |

A long cache changes little: after 3,840 tokens, one thread decodes the narrow model in q8_0 in 18.4 to 19.3 ms, and 17.0 ms are expected (-10%).

llama.cpp uses AMX. On a Xeon with AMX, before `measure` had kernels for it, the predicted times of q4_0 and q8_0 were 30 to 190% too long in decode and 40 to 210% in prefill. With these kernels, prefills of the dense models in q4_0 and q8_0 were within -26 and +25% on another Xeon with AMX (16 processors, one run with `SECONDS_EACH=20 TURNS=1`). The rest of that run says little. Other work wrote 60 GB to memory while `measure` ran, so that it read 13 GB/s with one thread, and had time for 79 of 386 measurements. Decode of these formats was 26 to 127% too long. With one row of each format, experts were not fitted, and their prefills were 63 to 87% too short.

## Host time of engines

The host time of engines ([accuracy](accuracy.md#host-time-of-engines)) was fitted to the static batches above and to the closed loops below with at most 128 users. Each group of rows was then predicted with the host time that was fitted to the other groups. If this lowers the mean error, the engine has that host time:

- The error falls with a time per request, with a time per step in vLLM of 2024, and with the overlap of kernels. It does not fall with a time per step in TensorRT-LLM and in vLLM since 0.11, so their steps have no host time.
- `front_ms` is the time in which an engine handles one request at a time. It lowers the error of TensorRT-LLM 1.0, but not that of TensorRT-LLM 1.2 and of vLLM, so only TensorRT-LLM 1.0 has it.
- `latent_us` is the time to launch a kernel of a prompt with latent attention. The value that was fitted to SGLang lowers the error of TensorRT-LLM, and the value that was fitted to TensorRT-LLM lowers the error of SGLang.
- The requests of SGLang (DeepSeek on B200, median error 55%) do not determine a time. With 26 ms, between those of the other engines, their mean error falls from 59 to 53%.
- Splitwise (vLLM of 2023, Llama-2-70B on A100) tests vLLM of 2024. Its error falls from 12.1 to 10.2% with two devices, from 36.9 to 34.6% with four, and from 61.8 to 59.5% with eight. Each of its devices adds 4 ms to a step, which no other source shows.

Each line of the table leaves out one group of at least ten rows. It has the mean error of this group without host time (`none`), and with the host time fitted to the other groups (`error`). The error of steps is that of whole requests and of times per token, and the error of requests is that of simulated times to first token. The last two columns have the fitted host time, in us: `step us` has the time per step or per request, or else the overlap of kernels, `latent_us` or `front_ms`. For these three, the fit tries a few values, with a simulation for each; the runs of InferenceMAX are warm, except for the overlap. **all** has the means of these errors and the fit to all groups, which data/engines keeps if the error falls. The overlap was fitted to the simulated times per token in all runs of TensorRT-LLM since 1.2 on B200 below.

EOF
    python3 -B tests/host_times.py "$bin" "$dir"
    cat << 'EOF'

## Serving

The table compares `simulate` with closed loops: runs of InferenceMAX and NVIDIA's own (ai-dynamo/aiconfigurator@095f58a, aic-core/src/aiconfigurator_core/systems/silicon_sample.csv, Apache-2.0; measured by SemiAnalysis InferenceMAX,
Apache-2.0, and by NVIDIA). TPOT and TTFT are
the medians of |simulated / measured - 1| over the rows, and bias is the median with its sign.

**Columns.** "bare" is without host time. The other columns have the [host time](accuracy.md#host-time-of-engines) that `simulate --engine` adds by default for the version of the engine, with four exceptions. TensorRT-LLM has the overlap of kernels from the middle of December 2025 on, when InferenceMAX began to run version 1.2. It has no `front_ms` in any run of InferenceMAX, whose recipes start several processes for answers. Prompts with piecewise CUDA graphs have no `latent_us`. Cold runs have a compile time, too (below).

The last three columns test `front_ms` and `latent_us` on runs that no fit saw. They are fitted to each half of the line's runs, and the other half is predicted with them. "front" has the error of TTFT if only `front_ms` (0 to 25 ms) is fitted. "launch" has the error if `latent_us` (0 to 120 us) is fitted, too, and "front, launch" has the two fits. The overlap is tested [above](#host-time-of-engines) on models that its fit did not see. "all, unseen" leaves out the 59 runs that show that one user waits (below).

**Warm runs** are those of InferenceMAX since 17 January 2026, whose client sends two requests per user before it measures (SemiAnalysisAI/InferenceX pull request 480).

**Cold runs** are the earlier ones of InferenceMAX. Their servers compiled or tuned kernels while the first tenth of the requests waited: with SGLang on 10 November 2025 the mean TTFT was 5 to 12 s in all runs of DeepSeek-R1 whose first step had its full budget of 16384 tokens, and at most 2.7 s in those of March 2026. They are simulated with a [compile time](simulation.md#engines), by which this first step takes longer. No run is in its own fit: every other cold run of a device and engine fits a time (0 to 100 s, in steps of 10 s) to the TTFT, and the other half is simulated with it. The last table has both fits, and the errors of TTFT without them.

- SGLang compiled for 52 to 97 s on 10 November 2025. In three runs of 2 November and one of 31 December it compiled for 9 to 14 s, so the fitted times are too long for these.
- In runs whose first step left budget, SGLang compiled for 2 to 6 s. `compile` does not have this time, so their TTFT is too short.
- With TensorRT-LLM and vLLM no compile time lowers the error, so their fits are 0.

**Simulated runs.** The recipes of InferenceMAX (SemiAnalysisAI/InferenceX@34bc7c4, benchmarks/single_node) give the layouts, the FP8 cache on B200 and the token budgets of a step. In the runs of NVIDIA each engine
has its defaults ([simulation](simulation.md#how-well-it-does)). `--engine` sets the scheduler. SGLang looks for requests every tenth step, or every thirtieth from 16 users on (`--recv-interval`), as in the recipes. No drafts are assumed. All users ask at once in the beginning, as the clients of benchmarks do (`--warm-up 0`), and each asks ten times on average. The source calls the measured times medians, but they are compared with simulated means, because
they behave like means: the tenth of the requests that waits in the beginning adds half the time of all prompts to a mean, which grows with the users, and nothing to a median.

tests/serving_errors.py reads the rows of the file as follows:

- **Formats.** The file has nvfp4 for all weights of gpt-oss, but only its experts have four bits. On B200 they are multiplied with 8-bit activations: TensorRT-LLM chooses these from SM100 on (get_mxfp4_quant_algo in NVIDIA/TensorRT-LLM@93cb651
  tensorrt_llm/_torch/model_config.py), and the recipe of vLLM asks for them.
- **Devices.** Two of the exports count parallel experts twice: rows with moe_tp = moe_ep = N state N times the devices. Half of these runs are also in a third export, with the same times to the last digit and moe_tp = 1. The devices of all such rows are divided by N.
- **Drafts.** No column marks runs with draft tokens. For DeepSeek, InferenceMAX had TensorRT-LLM 1.2.0rc6.post2 without drafts and 1.2.0rc6.post3 with them; with four users the latter take about half as long per token. The runs with drafts, those of 14 January 2026, and runs of SGLang in FP8
  that only one export has are left out.
- **Repeats.** An export may repeat the runs of another, also under another name of the model. Each run counts once.
- **Experts in NVFP4.** TensorRT-LLM's kernels were measured with its CUTLASS backend, but InferenceMAX runs its TRTLLM backend, which SGLang also calls. So the rows of SGLang replace those of CUTLASS.
- **Users.** The nine rows of gpt-oss-120b with vLLM on H100 and 512 users are left out, because they contradict the others. By Little's law 88 to 98 of their sequences decode at a time, but in six of the nine the TPOT is 31 to 50% of that with 64 users on the same split (TP 8, prompts of 8192 tokens, 1024 generated: 4.4 ms with 512 users and 14.4 ms with 64; TP 2, 1024 and 1024: 5.6 and 14.8 ms). With them the group has 54 rows and a TTFT error of 34%, or 29% with at most 128 sequences (second table). The other 45 rows miss the aim for the time to first token (25%). One row states no concurrency.

The following effects explain many of these errors; most are not simulated, or not by default. The second table shows what some of them and the parts of the host time change, and the third one shows cold runs.

- **One request at a time.** NVIDIA's client (ai-dynamo/aiconfigurator@5e16187 src/aiconfigurator/eval, genai-perf) gives all requests the same length of prompt and answer. If the requests of all users reached the engine at once, they would stay in step and wait for each other's prompts, and the simulated TTFT would be up to three times the measured one. An engine handles one request at a time in its tokenizer, so users drift apart. With `front_ms` of 27 ms, the errors fall by half, for Qwen3-235B as for Llama-3.1-8B. The recipes of InferenceMAX start several processes for answers. In these runs with TensorRT-LLM, 5 ms fit gpt-oss-120b best, but no value also fits DeepSeek-R1, so newer versions have no `front_ms`.
- **One user waits.** In NVIDIA's runs of Llama-3.1-8B one user waits at any time. By Little's law users x TTFT / (TTFT + (G - 1) TPOT) requests wait for their first token, and this is 1.0 to 1.4 with 8 and 16 users and 512 generated tokens, on one device as on eight. So their servers ran one sequence less than they had users, which no column states. It was seen in the 59 runs with 512 generated tokens; in the other 118 the error of TTFT falls from 43 to 24%, and that of TPOT from 12 to 8%.
- **Prompts without CUDA graphs** ([accuracy](accuracy.md#host-time-of-engines)). With DeepSeek-R1 in FP4, prompts of 1024 tokens and four users, the TTFT of TensorRT-LLM is 156 ms on four devices and 159 ms on eight: it waits for the host. The recipe turns on piecewise graphs for one of these splits (TP 8, EP 8), and there it is 137 ms even with 64 users. 90 us for each kernel of the estimate fit DeepSeek-R1 with TensorRT-LLM and with SGLang, but not gpt-oss-120b, so only models with latent attention have this time.
- **Attention DP of TensorRT-LLM.** The recipes have `enable_balance`: prompts wait until each rank has one, for 50 to 60 steps at most. The measured TTFT is 2 to 7 times the simulated one. `batch_wait_timeout_iters` of DeepSeek-R1 in FP8 has the same effect from 64 users on.
- **Marlin.** vLLM on H100 ran the experts of gpt-oss with Marlin kernels (`VLLM_MXFP4_USE_MARLIN`), but its measured MXFP4 kernels are those of Triton. Marlin was measured in INT4: a prompt of 7373 tokens takes 1.5 times as long with `--class experts=int4_g128`. With this option the error of TTFT falls, and that of TPOT rises.
- **Shared experts.** Tokens of a batch share experts, but the estimate assumes that each chooses its own.
- **Tokens of the front end.** With Llama-3.1-8B on 4 and 8 devices and 64 or 128 users, TensorRT-LLM 1.0 returns at most 9,200 tokens per second, whatever the split, because it streams one token at a time. Later recipes stream every tenth or twentieth token.
- **Above the lower bound.** No run of the 162 with TensorRT-LLM on B200 has a shorter time per token than the lower bound of `predict`. For attention DP that bound is the lower one of two schedules ([requests](formulas.md#requests)): prompts of different ranks in different steps, or in the same ones, as TensorRT-LLM starts them with `enable_balance`. With prompts in different steps alone, two runs of DeepSeek-R1 would be below it: 27.1 ms with 128 users (29.7 ms) and 36.9 ms with 256 (51.6 ms).
- **Runs of a gap analysis.** Twelve runs of TensorRT-LLM 1.3.0rc1 and rc5 in March 2026 (column origin: "NVIDIA run (aic gap analysis)"; the options of the servers are not stated) contradict all others. In eleven of them the time per token hardly depends on the users: DeepSeek-R1-NVFP4 on B200 takes 85 to 92 ms with 5 to 56 users per device, on four devices as on eight, where InferenceMAX has 21 to 30 ms with 128 users; gpt-oss-120b on four H100 takes 47 to 49 ms with 40 to 96 users per device. So their steps have a fixed time that no other run shows. The twelfth run, DeepSeek-V3.1-NVFP4, has the same sizes and format as R1 and 448 users on eight devices, but takes 21 ms, and a first token 0.4 s.

EOF
    python3 -B tests/serving_errors.py "$bin" "$dir/more/inferencemax_agg.csv"
fi
if [ -f "$dir/more/mlperf_llm.csv" ]; then
    cat << 'EOF'

## Offline throughput

The table compares the highest expected tokens/s of a device with the Offline scenario of MLPerf Inference, closed division (mlcommons/inference_results_v4.1, v5.1 and v6.0, as gbeezybez/inference_results_v6.0@232fbf9 has it; Apache-2.0). No fit saw these runs. The plan is the best of tensor parallel 1 to 8 and of all batches that fit in memory (`predict model`), with an FP8 cache and kernels of TensorRT-LLM, or on AMD the fastest that were measured.
The error is the median of |expected / measured - 1| over the runs of a round, whose software differs.

- **Software.** H100 gained 29% from v4.1 to v5.1, and MI300X 16%.
- **B200** has been a fifth faster than expected since v5.1, for an unknown reason.
- **H100 PCIe** reaches half of the expected rate, although the estimate has its power limit of 350 W ([power rule](accuracy.md#which-devices)). None of its kernels were measured.
- **MI355X.** Its one run in FP8 is as fast as those in FP4.
- **Lengths.** The documents of the data sets state only the mean answers: 294.45 tokens for llama2-70b and 684.68 for llama3.1-405b (mlcommons/inference, language/llama2-70b/README.md and language/llama3.1-405b/README.md). Runs since v5.1 state their own mean answers. The mean prompt is 221 tokens for llama2-70b, counted with MLPerf's template, and 9400 for llama3.1-405b, according to MLCommons (both by mannysinghx/chipdesignsoftware, C1 Result). All requests have the mean lengths.
- **Formats.** Runs of v4.1 state none: they count as FP8, and as NVFP4 on B200. FP4 on AMD is MXFP4.
- **Runs.** llama2-70b-99 and llama2-70b-99.9 are often one run, which then counts once.

EOF
    python3 -B tests/mlperf_errors.py "$bin" "$dir/more/mlperf_llm.csv"
fi
cat << 'EOF'

## The largest errors of products

These are the groups of rows with the same m that have the largest errors, with the parameters of the files.

| device | formats | quantisation | stack | m | rows | MAPE | bias |
|---|---|---|---|---|---|---|---|
EOF
awk -F, 'NR == 1 || $1 == "aic_gemm"' "$work/rows.csv" > "$work/gemm.csv"
"$bin" compare "$work/gemm.csv" --group-by hardware,weights,quantize_input,stack,m -f json | jq -r "$helpers"'
    [.groups[]] | sort_by(-.expected_mape)[:12][]
    | [.hardware, .weights, .quantize_input, .stack, .m, .rows, (.expected_mape | pc), (.expected_bias | signed)] | row'
"$bin" compare "$work/skewed.csv" -f csv > "$work/uneven.csv"
{ cat "$work/rows.csv" && sed 1d "$work/skewed.csv" && sed 1d "$work/best.csv"; } > "$work/shares.csv"
"$bin" compare "$work/shares.csv" --group-by hardware,operator,stack,weights,activations,kv,query_len,routing -f json > "$work/shares.json"
python3 -B tests/residuals.py "$work/compared.csv" "$work/others.csv" "$work/uneven.csv" "$work/shares.json" "$work/left_out.json" "$work/page.md" "$@" > "$work/aims.md"
python3 -B tests/believe.py "$bin" "$work/page.md" "$work/shares.json" "$@" > "$work/believe.md"
exec >&3
awk -v work="$work" '$0 != "@aims@" && $0 != "@believe@" { print; next }
    { file = work "/" substr($0, 2, length($0) - 2) ".md"; while ((getline line < file) > 0) print line }' "$work/page.md"
