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

# Fractions as per cent, and rows of a Markdown table.
helpers='def pc: if . == null then "-" else (. * 1000 | round / 10 | tostring | if test("[.]") then . else . + ".0" end) end;
    def signed: if . == null then "-" elif . >= 0.0005 then "+" + pc else pc end;
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

\`make errors MEASURED=DIR\` writes this page, and [accuracy](accuracy.md) explains its words. All errors are per cent of the measured
time. MAPE is the mean of |expected / measured - 1| over all rows, including small and launch-bound ones; p90 is its 90th percentile.

## What you may believe

The mean error of each kind of work on sizes that no fit saw, by device and stack, with its rows; \`from ID\` is a kernel that another device lends. "In band" is the share of all rows of the device and stack that lie
between expected_low_us and expected_high_us, which should hold 80% of them. \`best\` are kernels without a stack. Decode steps and whole requests are [below](#whole-models), runs under load in [Serving](#serving).

| device | stack | 16-bit products | of fewer bits | experts | prefill attention | decode attention | vectors | collectives | in band |
|---|---|---|---|---|---|---|---|---|---|
EOF
"$bin" compare "$work/rows.csv" --group-by hardware,stack -f json > "$work/bands.json"
jq -rs --slurpfile bands "$work/bands.json" "$helpers"'
    def cell(kernels; numerics): map(select((.kernel | IN(kernels)) and (.numerics | numerics)))
        | map(select(.lent == null)) as $own | map(select(.lent != null) | .lent) as $lent
        | if $own != [] then (($own | map(.rows * .mape) | add) / ($own | map(.rows) | add) | pc) + " (" + ($own | map(.rows) | add | tostring) + ")"
          elif $lent != [] then "from " + ($lent | unique | join(", ")) else "-" end;
    .[] | .hardware as $d | .fits | group_by(.stack)[] | .[0].stack as $s
    | [$d, $s, cell("gemm", "bmm"; . == "16bit"), cell("gemm"; . != "16bit"), cell("moe"; true),
       cell("prefill", "mla_prefill"; true), cell("decode", "mla_decode"; true),
       cell("norm", "add", "activation", "rope", "quantize"; true),
       cell("all_reduce", "one_shot", "all_gather", "reduce_scatter", "all_to_all"; true),
       ([$bands[0].groups[] | select(.hardware == $d and ((.stack // "") == (if $s == "best" then "" else $s end))) | .band_coverage][0] | pc)]
    | row' "$@"
cat << EOF

Devices without rows of their own take the calibration of their family, with a wider band ([which devices](accuracy.md#which-devices)); their \`expected_basis\` is \`nearest\`.

## Kernels, on sizes that no fit saw

All devices and stacks of a kernel together, and the worst line of the next table.

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

Each fit, with its band: measured / expected of eight rows of ten. `best` is a kernel without a stack.

| device | kernel | formats | quantisation | stack | rows | unseen MAPE | band |
|---|---|---|---|---|---|---|---|
EOF
jq -r "$helpers"'
    .hardware as $d | .fits[] | select(.lent == null)
    | [$d, .kernel, .numerics + (if .weights then ": " + .weights else "" end), .quantize_input, .stack, .rows, "**" + (.mape | pc) + "**",
       ((.low * 100 | round / 100 | tostring) + " to " + (.high * 100 | round / 100 | tostring))] | row' "$@"
cat << 'EOF'

## Beside the aims

Errors on sizes that no fit saw, per device, beside what we aim at. The last column names the part of the rows with the largest error, where the aim is missed: a range of one dimension, or one value. Only parts that hold a tenth of the whole error count (tests/residuals.py). Repeated collections of the same kernels differ by 2%,
those of two stacks that call the same library by 4 to 9%.

EOF
"$bin" compare "$work/rows.csv" -f csv > "$work/compared.csv"
python3 -B tests/residuals.py "$work/compared.csv" "$@"
cat << 'EOF'

## Kernels, with the parameters of the files

The same rows as `roofline compare` sees them: the parameters saw them too. `ideal` is the error of the roofline bound.

<details>
<summary>All kernels, by source, device, stack and formats</summary>

EOF
compare "$work/rows.csv" source,operator,algorithm,hardware,stack,weights,activations,kv,quantize_input
cat << 'EOF'

</details>

## The fastest of the stacks

Shapes that two stacks or more were measured on, the fastest of them against `--stack best`.

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

Rows whose tokens follow a power law, which no fit saw, as if they were routed at random (`routing uniform`).

EOF
sh tests/measured.sh "$dir" skewed > "$work/skewed.csv"
compare "$work/skewed.csv" source,hardware,weights,activations
cat << 'EOF'

## A device that no fit saw

The bf16 products of a device, predicted by a fit to every fifth row of the other devices together (`roofline-calibrate --from`).

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

With the parameters of one other device, as a device of another family would inherit them; the mean error in brackets:

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

With a few rows of its own, as `roofline measure` fits them ([from rows to expected times](measuring.md#from-rows-to-expected-times)): 20 or 50 rows of each kernel, drawn at random, begin at the kernels of the device's lenders (data/borrowing.json), and all other rows judge the result. `lent` is the error of the lender's kernels as they are, `all` that of
the full fit on sizes it did not see. The figures are means over kernels, formats and stacks without a quantisation of their own; "worse" counts those where 20 rows do worse than none.

| device | kernels | lent | 20 rows | 50 rows | all | worse |
|---|---|---|---|---|---|---|
EOF
for few in 20 50; do
    for device in $devices; do
        "$fit" "$work/rows.csv" --hardware "$device" --few "$few" --lenders data/calibration
    done
done > "$work/few.csv"
jq -r '.hardware as $d | .fits[] | select(.lent == null and .quantize_input == "none")
    | ["all", $d, .kernel, .numerics, .stack, .mape * 100] | join(",")' "$@" > "$work/all.csv"
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

Decode steps, and static batches from the prompt to the last token, of dense models at a batch of 1 to 32, by source. No fit saw any of them. The fits of llama.cpp saw its rows on DGX Spark and RTX 4090, so those are not here but under [llama.cpp](#llamacpp).

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

The fits of llama.cpp are to whole passes ([accuracy](accuracy.md#llamacpp)). The table has mean errors with the fit of another device, and with the device's own fit without the rows of the same model. RTX 4090 has rows of one model only, so its own fit leaves out the rows of the same weight format, whose share of the bandwidth it then does not know. The Apple GPUs have one fit, which leaves out the rows of the same device. The columns are the mean time of a token in decode, passes of up to 32 tokens, and prompts at several depths, with the number of rows in brackets. The rows of A100 date from May 2024, when decode in 16 bits reached half its bandwidth; the others are from 2025 and later. The fastest of ROCm, Vulkan and several builds counts.
The aim for decode was 10%. DGX Spark and Strix Halo meet it; R9700 (19%, two models), the Apple GPUs (22%, devices left out) and RTX 4090 (22%, formats left out) miss it. The aim for prompts was 20%. The Apple GPUs meet it, R9700 has 20%, the others have 23 to 40%. On Strix Halo the rest of the error comes from the choice among kernels by size. Its prompts of 64 to 512 tokens take 0.7 to 1.6 times the expected time, and attention at depths above 16k tokens takes half of it.

EOF
    python3 -B tests/llamacpp.py "$bin" "$dir"
fi
if [ -f "$dir/more/inferencemax_agg.csv" ]; then
    cat << 'EOF'

## llama.cpp on a CPU

`make llama-check` measures the machine with 1 and 2 threads and times the llama.cpp of an npm package beside it ([measuring](measuring.md#beside-llamacpp)). These are medians of two turns on an idle virtual machine with two processors of an AMD EPYC (Zen 5). On one thread all decode steps are within 17% and all prefills within 30%; those of q4_0, q8_0 and f16 are within 6 and 30%. Two threads of llama.cpp decode f16 20 to 27% slower than predicted, for a reason that is not known, and small models have short steps that scatter.

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

## Host time of engines

The host time of engines ([accuracy](accuracy.md#host-time-of-engines)) was fitted to the static batches above and to the closed loops below with at most 128 users. The errors are means: of whole requests and times per token for steps, and of simulated times to first token for requests.
Each line has the error of one group without host time (`none`), and with the host time fitted to the other groups (`error`). The last two columns are that host time; the time of a request is under `step us`. **all** has the means of these errors and the fit to all groups, which data/engines keeps if the error falls. Groups have ten rows or more.

The last lines are the overlap of kernels (in us, under `step us`) in all runs of TensorRT-LLM since 1.2 on B200 below, fitted to the simulated times per token.

The error falls for requests, for steps of vLLM of 2024, and for the overlap. It does not fall for steps of TensorRT-LLM and of vLLM since 0.11, so these have no host time. The requests of SGLang (DeepSeek on B200, median error 55%) do not determine a time; with 26 ms, between those of the others, their mean error falls from 59 to 53%. Splitwise (vLLM of 2023, Llama-2-70B on A100) tests vLLM of 2024. Its error falls from 12.1 to 10.2% with two devices, from 36.9 to 34.6% with four, and from 61.8 to 59.5% with eight. Each of its devices adds 4 ms to a step, which no other source shows.

EOF
    python3 -B tests/host_times.py "$bin" "$dir"
    cat << 'EOF'

## Serving

`simulate` against closed loops: InferenceMAX and NVIDIA's own runs (ai-dynamo/aiconfigurator@095f58a, aic-core/src/aiconfigurator_core/systems/silicon_sample.csv, Apache-2.0; measured by SemiAnalysis InferenceMAX,
Apache-2.0, and by NVIDIA). The recipes of InferenceMAX (SemiAnalysisAI/InferenceX@34bc7c4, benchmarks/single_node) give the layouts, the FP8 cache on B200 and the budgets of a step. In the runs of NVIDIA each engine
has its defaults ([simulation](simulation.md#how-well-it-does)). The schedulers are those of `--engine`. SGLang looks for requests every tenth step, or every thirtieth from 16 users on (`--recv-interval`), as in the recipes. No drafts are assumed. TPOT and TTFT are
the medians of |simulated / measured - 1| over the rows, and bias is the median with its sign.

The columns "bare" are without host time. The others have the [host time](accuracy.md#host-time-of-engines) that `simulate --engine` adds by default, of the version of the engine: TensorRT-LLM has the overlap of kernels since 1.2, which InferenceMAX had from the middle of December 2025 on. The time of a request was fitted to the mean errors of these runs. "unseen" is therefore an error of TTFT in runs that no fit saw: the time of a request (10, 20, 30 or 40 ms) is fitted to each half of the line's runs, and judged on the other half. The last two columns also fit the time to launch a kernel of a step with prompts (0 to 120 us) in this way, and show the two fits. The overlap is judged [above](#host-time-of-engines) on models that its fit did not see.

**warm** are the runs of InferenceMAX since 17 January 2026, whose client sends two requests per user before it measures (SemiAnalysisAI/InferenceX pull request 480). In earlier runs the first tenth of the requests also waited for kernels to be compiled or tuned. With SGLang on 10 November 2025 the mean TTFT was 5 to 12 s in all runs of DeepSeek-R1 whose first step had its full budget of 16384 tokens, and at most 2.7 s in those of March 2026. So only warm runs tell about an engine's TTFT.

All users ask at once in the beginning, as the clients of benchmarks do (`--warm-up 0`), and each asks ten times in the mean. The copy at hand calls the measured times medians; they are compared with simulated means, because
they behave like means: the tenth of the requests that waits in the beginning adds half the time of all prompts to a mean, which grows with the users, and nothing to a median.

tests/serving_errors.py reads the rows of the file as follows:

- **Formats.** The file says nvfp4 for all weights of gpt-oss, but only its experts have four bits. On B200 they are multiplied with activations of eight bits: TensorRT-LLM chooses these from SM100 on (get_mxfp4_quant_algo in NVIDIA/TensorRT-LLM@93cb651
  tensorrt_llm/_torch/model_config.py), and the recipe of vLLM asks for them.
- **Devices.** Two of the exports count parallel experts twice: rows with moe_tp = moe_ep = N state N times the devices. Half of these runs are also in a third export, with the same times to the last digit and moe_tp = 1. The devices of all such rows are divided by N.
- **Drafts.** No column says which runs draft tokens. For DeepSeek, InferenceMAX had TensorRT-LLM 1.2.0rc6.post2 without drafts and 1.2.0rc6.post3 with them; with four users the latter take about half as long per token. Left out are these runs, those of 14 January 2026, and runs of SGLang in FP8
  that only one export has.
- **Repeats.** An export may repeat the runs of another, also under another name of the model. Each run counts once.
- **Experts in NVFP4.** TensorRT-LLM's kernels were measured with its CUTLASS backend, but InferenceMAX runs its TRTLLM backend, which SGLang calls, too. So the rows of SGLang stand for those of CUTLASS.
- **Users.** Rows of gpt-oss-120b on H100 at 512 users are left out: they are below the lower bound of that many sequences, so fewer ran. One row states no concurrency.

Five things are not simulated, or not by default. The second table shows what three of them change.

- **Prompts without CUDA graphs** ([accuracy](accuracy.md#host-time-of-engines)). With DeepSeek-R1 in FP4, TensorRT-LLM has the first token of 1024 tokens after 156 ms on four devices and after 159 ms on eight, with four users: it waits for the host. The recipe turns on piecewise graphs for one of these splits (TP 8, EP 8), and there it is 137 ms with 64 users. With `--host-time request=27ms,overlap=1us,launch=90us` the error of DeepSeek-R1 falls, but that of gpt-oss-120b rises.
- **Attention DP of TensorRT-LLM.** The recipes have `enable_balance`: prompts wait until each rank has one, for 50 to 60 steps at most. The measured TTFT is 2 to 7 times the simulated one. `batch_wait_timeout_iters` of DeepSeek-R1 in FP8 has the same effect from 64 users on.
- **Marlin.** vLLM on H100 ran the experts of gpt-oss with Marlin kernels (`VLLM_MXFP4_USE_MARLIN`), but its rows in MXFP4 are those of Triton. The rows of Marlin are in INT4: a prompt of 7373 tokens takes 1.5 times as long with `--class experts=int4_g128`. With them the error of TTFT falls, and that of TPOT rises.
- **Shared experts.** Tokens of a batch share experts, but the estimate assumes that each chooses its own.
- **Users who drift apart.** NVIDIA's client (ai-dynamo/aiconfigurator@5e16187 src/aiconfigurator/eval, genai-perf) has one length of prompts and answers, so that simulated users stay in step and ask together. With the time of a request they even ask while the engine is idle, so host time makes the errors of these runs larger. The measured users do drift apart, for a reason that no source gives: lengths that vary by 10% come nearer to them. Their TTFT scatters, too: with prompts of 1024 and 512 generated tokens it is 226 ms with 32 users on one device and 1981 ms with 128 users on four.

EOF
    python3 -B tests/serving_errors.py "$bin" "$dir/more/inferencemax_agg.csv"
fi
if [ -f "$dir/more/mlperf_llm.csv" ]; then
    cat << 'EOF'

## Offline throughput

The greatest expected tokens/s of a device against the Offline scenario of MLPerf Inference, closed division (mlcommons/inference_results_v4.1, v5.1 and v6.0, as gbeezybez/inference_results_v6.0@232fbf9 has it; Apache-2.0). No fit saw any of them. The plan is the best of tensor parallel 1 to 8 and of batches up to the memory (`predict model`), with an FP8 cache, and kernels of TensorRT-LLM, or on AMD the best of all that were measured.
The error is the median of |expected / measured - 1| over the runs, whose software differs within a round.

- **Lengths.** The data sets are fixed, but their documents state only the mean answers: 294.45 tokens for llama2-70b and 684.68 for llama3.1-405b (mlcommons/inference, language/llama2-70b/README.md and language/llama3.1-405b/README.md). The rows have their own mean answers since v5.1. The mean prompt of llama2-70b is 221 tokens, counted with MLPerf's template, and that of llama3.1-405b 9400, as MLCommons says (both by mannysinghx/chipdesignsoftware, C1 Result). All requests have the mean lengths.
- **Formats.** Runs of v4.1 state none: they count as FP8, and as NVFP4 on B200. FP4 on AMD is MXFP4.
- **Runs.** llama2-70b-99 and llama2-70b-99.9 are often one run, which then counts once.

Software moves: H100 gained 29% from v4.1 to v5.1, and MI300X 16%. B200 is faster than expected, by a fifth since v5.1; why is not known. H100 PCIe reaches less than half of it: none of its kernels were measured, and its power limit of 350 W is not in the estimate. The one run of MI355X in FP8 is as fast as those in FP4.

EOF
    python3 -B tests/mlperf_errors.py "$bin" "$dir/more/mlperf_llm.csv"
fi
cat << 'EOF'

## The largest errors of products

Groups of one m, with the parameters of the files.

| device | formats | quantisation | stack | m | rows | MAPE | bias |
|---|---|---|---|---|---|---|---|
EOF
awk -F, 'NR == 1 || $1 == "aic_gemm"' "$work/rows.csv" > "$work/gemm.csv"
"$bin" compare "$work/gemm.csv" --group-by hardware,weights,quantize_input,stack,m -f json | jq -r "$helpers"'
    [.groups[]] | sort_by(-.expected_mape)[:12][]
    | [.hardware, .weights, .quantize_input, .stack, .m, .rows, (.expected_mape | pc), (.expected_bias | signed)] | row'
