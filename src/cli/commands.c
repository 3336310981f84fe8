// SPDX-License-Identifier: MIT
/* The table of the commands, which the help and the completion read too. */
#include "base/base.h"
#include "cli.h"

static const struct cli_command commands[] = {
    {"predict", ROOF_COMMAND_PREDICT, CLI_WORKLOAD, "WORKLOAD",
     "Predicts the roofline time of an operator or a whole model, and what limits it.",
     "  roofline predict model llama-3-8b -H h100-sxm --batch 8 --context 8192 -w fp8 --kv fp8\n"
     "  roofline predict model ./config.json -H h100-sxm --phase prefill --context 2048 --tp 2\n"
     "  roofline predict model gpt-oss-120b -H hgx-b200 --layout checkpoint --prompt 2k \\\n"
     "      --generate 500\n"
     "  roofline predict model llama-3.3-70b -H h100-sxm,hgx-b200 --tp 2 -p fp8\n"
     "  roofline predict gemv -n 4096 -k 4096 -H dgx-spark -p nvfp4\n"
     "  roofline predict gemm -m 128 -n 24576 -k 1536 -w int4 -a fp16 -H h200-sxm --why\n"
     "  roofline predict flash-attention --heads 32 --kv-heads 8 --head-dim 128 --kv-len 8192\n"
     "  roofline predict graph docs/graphs/streaming-video.json -H hgx-b200 --devices 2\n"
     "  roofline predict --from shapes.csv -H h100-sxm -f csv\n"
     "  roofline predict model --from models.csv -H h200-sxm -f csv\n"},
    {"sweep", ROOF_COMMAND_SWEEP, CLI_WORKLOAD, "WORKLOAD",
     "Predicts a grid: lists or ranges of dimensions, precisions and devices.",
     "  roofline sweep gemm -m 1:4096:x2 -n 4096 -k 4096 -p fp16,fp8 -f csv\n"
     "  roofline sweep gemv -n 4Ki -k 4Ki -H dgx-spark,h100-sxm,hgx-b200 -p fp16,fp8,nvfp4\n"
     "  roofline sweep model llama-3-8b,llama-3-70b -H h100-sxm,hgx-b200 --batch 1:64:x2 -p "
     "fp16,fp8\n"},
    {"recommend", ROOF_COMMAND_RECOMMEND, CLI_WORKLOAD, "WORKLOAD",
     "Ranks the number formats for an operator, or the ways to serve a model, with reasons.",
     "  roofline recommend model llama-3.3-70b -H h100-sxm,hgx-b200 --prompt 8k \\\n"
     "      --generate 500 --max-tpot 30ms\n"
     "  roofline recommend gemm -m 1 -n 4096 -k 4096 -H dgx-spark\n"
     "  roofline recommend gemm -m 1 -n 4096 -k 4096 -H h100-sxm --max-accuracy-loss 1%\n"},
    {"simulate", ROOF_COMMAND_SIMULATE, CLI_MODEL, "MODEL",
     "Simulates requests that arrive over time: percentiles of latency, goodput, saturation.",
     "  roofline simulate llama-3.3-70b -H h100-sxm --tp 4 -p fp8 --kv fp8 --rate 0.5 \\\n"
     "      --prompt 8k --generate 500 --max-ttft p99:1s --max-tpot p99:30ms\n"
     "  roofline simulate llama-3-8b -H h100-sxm --prompt 1k --generate 200 --max-ttft p99:200ms\n"
     "  roofline simulate llama-3-8b -H h100-sxm --concurrency 64 --prompt 1k --generate 200\n"
     "  for tp in 1 2 4 8; do roofline simulate llama-3-8b -H h100-sxm --tp $tp --dp $((8 / tp)) "
     "\\\n"
     "      --prompt 1k --generate 200 --max-ttft p99:1s -f csv --columns tp,dp,max_rate_per_s; "
     "done\n"
     "  roofline simulate llama-3-8b -H l40s --rate 2 --arrivals gamma:2 \\\n"
     "      --prompt lognormal:1000:1.5 --generate uniform:50:400 --rows requests -f csv\n"},
    {"compare", ROOF_COMMAND_COMPARE, CLI_MEASURED, "FILE [MODEL]",
     "Compares measured times with predictions, row by row or by group.",
     "  roofline compare measured.csv -H h100-sxm --group-by operator,weights\n"
     "  roofline compare bench.json llama-3.1-8b -H h100-sxm --tp 2 -p fp8\n"
     "  roofline compare measured.csv --summary -f json\n"
     "  roofline compare measured.csv -f csv -o rows.csv\n"},
    {"plot", ROOF_COMMAND_PLOT, CLI_WORKLOAD, "[WORKLOAD]",
     "Draws the roofline chart of devices, with operators, models or measured points.",
     "  roofline plot -H h100-sxm\n"
     "  roofline plot model llama-3-8b -H h100-sxm --phase decode,prefill -o llama.svg\n"
     "  roofline plot gemm -m 1:4096:x4 -n 4096 -k 4096 -H a100-sxm-80gb,h100-sxm -o gemm.png\n"
     "  roofline plot --from measured.csv -H h100-sxm --line cuBLAS=794TFLOPS -o measured.pdf\n"},
    {"check", ROOF_COMMAND_CHECK, CLI_FILES, "FILE.json ...",
     "Checks expected values against predictions, plans and simulations, for CI.",
     "  roofline check checks.json\n"
     "  roofline check checks/*.json -f junit -o results.xml\n"
     "  roofline check checks.json --update\n"},
    {"list", ROOF_COMMAND_LIST, CLI_LIST,
     "hardware|precisions|operators|models|layouts|engines [ID]",
     "Lists what is built in: devices, formats, operators, models, layouts, engines.",
     "  roofline list hardware\n"
     "  roofline list hardware h100-sxm\n"
     "  roofline list precisions nvfp4\n"
     "  roofline list operators flash-attention\n"
     "  roofline list models -f csv --columns id,parameters,kv_bytes_per_token\n"},
    {"measure", ROOF_COMMAND_MEASURE, CLI_STEP, "[model NAME]",
     "Measures this machine as a device for -H, or times the steps of a model on it.",
     "  roofline measure --seconds 10\n"
     "  roofline measure --threads 4 -o here && roofline predict model llama-3.2-1b -H here\n"
     "  roofline measure --save my-server --formats q4_0,q8_0\n"
     "  roofline measure --compare -H epyc-9654\n"
     "  roofline measure model llama-3.2-1b -H here -w q8_0 --context 128\n"},
    {"monitor", ROOF_COMMAND_MONITOR, CLI_COMMAND, "[-- COMMAND ...]",
     "Reports power, clocks and energy of the GPUs, live or while a command runs.",
     "  roofline monitor\n"
     "  roofline monitor --interval 100ms --device 0 -f csv -o power.csv\n"
     "  roofline monitor --tokens 4096 -- ./generate.sh\n"
     "  roofline monitor --count-tokens -- llama-bench -m model.gguf\n"
     "  roofline monitor --from nvidia-smi.csv\n"},
    {"page", ROOF_COMMAND_PAGE, CLI_NOTHING, "-o FILE.html",
     "Writes the explorer: a web page that answers questions offline.",
     "  roofline page -o explorer.html\n"
     "  roofline predict model llama-3-8b -H h100-sxm -o llama.html\n"},
    {"serve", ROOF_COMMAND_SERVE, CLI_NOTHING, "[--listen ADDRESS:PORT]",
     "Serves the other commands and the explorer over HTTP.",
     "  roofline serve\n"
     "  roofline serve --listen 127.0.0.1:9000 --max-time 2s\n"
     "  roofline serve --listen 0.0.0.0:8080 --token token.txt --allow-host roofline.example\n"},
    {"completion", ROOF_COMMAND_COMPLETION, CLI_WORD, "bash|zsh|fish",
     "Prints a script that completes command lines in a shell.",
     "  source <(roofline completion bash)  # in ~/.bashrc\n"
     "  roofline completion zsh > ~/.zsh/functions/_roofline\n"
     "  roofline completion fish > ~/.config/fish/completions/roofline.fish\n"},
};

_Static_assert(COUNT(commands) <= CLI_COMMANDS_MAX, "callers have room for all of them");

const struct cli_command *cli_commands(size_t *count)
{
    *count = COUNT(commands);
    return commands;
}
