// SPDX-License-Identifier: MIT
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"
#include "decide/synonym.h"

/* The users of a help text. */
enum audience { ANY, OPERATORS, MODELS };

#define ALL_COMMANDS (~0U)

/* The help of options with a special meaning for a command, or for operators or models; NULL: they
 * are refused. The first matching row applies. */
static const struct special_help {
    unsigned commands;
    enum audience audience;
    size_t input;
    const char *help;
} special_help[] = {
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_DIM_BATCH,
     "batches to try: a list or range START:STOP (default 1 to 2048, doubling); max is the largest "
     "that fits"},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_DIM_DEVICES,
     "devices of a plan (with --rate: of a copy): a list or range START:STOP (default 1,2,4,8)"},
    {ROOF_COMMAND_RECOMMEND, OPERATORS, ROOF_DIM_DEVICES, "devices that communicate"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_DIM_DEVICES,
     "devices of a plan (with --rate: of a copy), as a list or range START:STOP (default 1,2,4,8); "
     "of a collective: those that communicate"},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_DIM_EP, NULL},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_INPUT_BY, NULL},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_INPUT_HARDWARE,
     "devices to try, as a list (default " ROOF_DEFAULT_HARDWARE ")"},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_INPUT_KV,
     "precision of the KV cache (default: all that engines support)"},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_INPUT_FORMATS,
     "formats to try, as a list: an engine's name or the precision of the weights (default: all)"},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_INPUT_EXPLAIN,
     "explain why B is faster than A: two devices, or two formats of engines"},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_INPUT_CONTEXT,
     "length of the KV cache, to plan decode without prompts (default 4096)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_TP,
     "tensor-parallel size: devices that share each layer (default: all sizes are tried)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_PP,
     "pipeline-parallel size: stages of layers (default: all sizes are tried)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_DP,
     "copies of the model, each with its own devices and batch (default: all numbers are tried)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_ATTENTION_DP,
     "data-parallel attention: groups of tp devices; the devices are tp x attention-dp (default: "
     "all sizes are tried)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_MOE_TP,
     "devices that split each expert (default: all sizes are tried)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_MOE_EP,
     "groups of devices over which the experts are spread (default: all sizes are tried)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_CHUNK,
     "prompt tokens prefilled per step (default 8192; 0: whole prompts)"},
    {ROOF_COMMAND_RECOMMEND, OPERATORS, ROOF_INPUT_OBJECTIVE,
     "balanced (least accuracy loss within 20% of the fastest, the default) or time (the fastest)"},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_INPUT_OBJECTIVE,
     "throughput (tokens/s per device, the default), latency, cost or energy"},
    {ROOF_COMMAND_RECOMMEND, OPERATORS, ROOF_INPUT_MAX_ACCURACY_LOSS,
     "worst accuracy loss: none, minimal, <1% (or 1%), 1-2% (2%), 2-5% (5%, the default) or "
     "severe"},
    {ROOF_COMMAND_RECOMMEND, MODELS, ROOF_INPUT_MAX_ACCURACY_LOSS,
     "worst accuracy loss: none, minimal, <1% (or 1%), 1-2% (2%, the default), 2-5% (5%) or "
     "severe"},
    {ROOF_COMMAND_RECOMMEND, OPERATORS, ROOF_INPUT_ENGINE,
     "engine that must run the formats (roofline list engines)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_RATE,
     "requests to serve per second, over all copies: one rate (0.6 or 0.6/s) or a list"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_TOP, "number of plans to show (default 12)"},
    {ROOF_COMMAND_PREDICT, ANY, ROOF_INPUT_TOP,
     "number of operators to show (default: the largest 12, and all with 1% of the expected time)"},
    {ROOF_COMMAND_PLOT, ANY, ROOF_INPUT_TOP,
     "number of operators to draw (default: those with 1% of the time)"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_ENGINE,
     "engine whose scheduler, limits and host time are simulated (one; roofline list engines)"},
    {ALL_COMMANDS, MODELS, ROOF_DIM_BATCH, "sequences that run at the same time (default 1)"},
    {ALL_COMMANDS, MODELS, ROOF_DIM_EP,
     "expert-parallel size E: short for --attention-dp E --moe-ep E (default 1)"},
    {ALL_COMMANDS, OPERATORS, ROOF_INPUT_PRECISION_BOTH,
     "precision of weights and activations (default fp16)"},
    {ALL_COMMANDS, MODELS, ROOF_INPUT_PRECISION_BOTH,
     "precision of weights and activations, an engine's format, or a layout (default fp16)"},
    {ROOF_COMMAND_SWEEP | ROOF_COMMAND_RECOMMEND | ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_FORMAT,
     "text (default), json, ndjson, csv, md, html (needs make page), svg, png, pdf or gnuplot; "
     "with -o, by its extension"},
    {ROOF_COMMAND_PREDICT, ANY, ROOF_INPUT_FORMAT,
     "text (default), json, ndjson, csv, md (report), html (interactive; needs make page); with "
     "-o, "
     "by its extension"},
    {ROOF_COMMAND_PLOT, ANY, ROOF_INPUT_FROM,
     "draw the points of a CSV or NDJSON file (-: standard input)"},
    {ROOF_COMMAND_PLOT, ANY, ROOF_INPUT_FORMAT,
     "text (default), svg, png, pdf, html (needs make page), gnuplot or json; with -o, by its "
     "extension"},
    {ROOF_COMMAND_CHECK, ANY, ROOF_INPUT_FORMAT,
     "text (default), json, tap or junit; with -o, by its extension"},
    {ROOF_COMMAND_MEASURE, ANY, ROOF_INPUT_FORMAT, "text (default), json, csv (the rows) or md"},
    {ROOF_COMMAND_COMPARE | ROOF_COMMAND_MONITOR, ANY, ROOF_INPUT_FORMAT,
     "text (default), json, ndjson or csv; with -o, by its extension"},
    {ROOF_COMMAND_PAGE, ANY, ROOF_INPUT_FORMAT, "html, the explorer (needs make page)"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_PROMPT,
     "prompt tokens of each request: a number, uniform:A:B or lognormal:MEAN:CV"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_GENERATE,
     "tokens that each request generates: a number, uniform:A:B or lognormal:MEAN:CV"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_CHUNK,
     "prompt tokens prefilled per step (default 8192; 0: whole prompts)"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_CHART,
     "rate (latency over the rate, the default), time (queue and KV cache) or distribution"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_CONCURRENCY,
     "closed loop instead of --rate: number of requests that are always in flight"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_BY,
     "times of the steps: estimated (expected, the default) or lower bounds (ideal)"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_MAX_TTFT,
     "longest time to first token: TIME (that of 99% of requests), p95:TIME or mean:TIME"},
    {ROOF_COMMAND_SIMULATE, ANY, ROOF_INPUT_MAX_TPOT,
     "longest time per output token after the first: TIME (p99), p95:TIME or mean:TIME"},
    {ROOF_COMMAND_MEASURE, ANY, ROOF_INPUT_HARDWARE,
     "device whose predictions are compared (default: the measured one)"},
    {ROOF_COMMAND_MEASURE, ANY, ROOF_INPUT_PHASE,
     "phase to measure, decode or prefill (default: both)"},
    {ROOF_COMMAND_MEASURE, ANY, ROOF_INPUT_FORMATS,
     "precisions of weights to measure (default of a CPU q4_0,q4_k,q6_k,q8_0,fp16,fp32; of a GPU "
     "bf16,fp16,fp8_e4m3,int8,mxfp8_e4m3,nvfp4)"},
    {ROOF_COMMAND_MEASURE, ANY, ROOF_INPUT_DEVICE,
     "device to measure (default: the first GPU, else the CPU)"},
    {ROOF_COMMAND_MEASURE, ANY, ROOF_INPUT_SECONDS,
     "approximate time, such as 90 or 90s (default 60; model 20)"},
    {ROOF_COMMAND_RECOMMEND, ANY, ROOF_INPUT_THREADS,
     "threads that search and simulate plans (default: one per processor)"},
    {ROOF_COMMAND_MEASURE, ANY, ROOF_INPUT_THREADS,
     "CPU threads to measure with; the measured device has as many (default: one per core)"},
    {ROOF_COMMAND_MONITOR, ANY, ROOF_DIM_TOKENS,
     "tokens that COMMAND generates, to print the energy per token"},
    {ROOF_COMMAND_MONITOR, ANY, ROOF_INPUT_FROM,
     "read a log of nvidia-smi --query-gpu=timestamp,index,power.draw,... --format=csv instead of "
     "the GPUs"},
    {ROOF_COMMAND_MONITOR, ANY, ROOF_INPUT_SUMMARY,
     "print the energies at the end, not the samples (default with a COMMAND in text)"},
    {ROOF_COMMAND_MONITOR, ANY, ROOF_INPUT_COLUMNS,
     "columns of the samples to print, in this order (not json)"},
    {ROOF_COMMAND_SERVE, ANY, ROOF_INPUT_THREADS,
     "threads that answer requests (default: one per processor)"}};

/* The row of the table above for an input; NULL if there is none. */
static const struct special_help *special_help_of(const struct cli_command *command,
                                                  enum audience audience, size_t input)
{
    for (size_t i = 0; i < COUNT(special_help); i++) {
        if ((special_help[i].commands & (unsigned)command->id) != 0 &&
            (special_help[i].audience == ANY || special_help[i].audience == audience) &&
            special_help[i].input == input) {
            return &special_help[i];
        }
    }
    return NULL;
}

/* The help of an input of an operator; ROOF_OPERATOR_COUNT: of any. */
static const char *operator_help(enum roof_operator op, size_t input)
{
    if (op == ROOF_OPERATOR_COUNT) {
        return roof_input(input)->help;
    }
    if (input == ROOF_INPUT_KV && roof_operator_row(op)->stateful) {
        return "precision of the state (default fp32)";
    }
    return input < ROOF_DIM_COUNT ? roof_dimension_help(op, (enum roof_dimension)input)
                                  : roof_input(input)->help;
}

const char *cli_help_of(const struct cli_command *command, const char *workload, size_t input)
{
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    if (!roof_input_allowed(input, command->id)) {
        return NULL;
    }
    const bool model = workload != NULL && strcmp(workload, "model") == 0;
    const enum audience audience =
        model                                                                    ? MODELS
        : workload != NULL && roof_operator_find(&op, workload, NULL) == ROOF_OK ? OPERATORS
                                                                                 : ANY;
    const struct special_help *const special = special_help_of(command, audience, input);
    const bool taken =
        audience == ANY || (special != NULL && special->audience != ANY) ||
        (roof_input_taken(roof_input(input), model, NULL) == ROOF_OK &&
         (model || input >= ROOF_DIM_COUNT || roof_operator_has(op, (enum roof_dimension)input)));
    return !taken ? NULL : special != NULL ? special->help : operator_help(op, input);
}

/* --- the page ------------------------------------------------------------------------------ */

enum { WIDTH = 98, COLUMN = 34 };

/* Prints words from COLUMN on, in lines of at most WIDTH; the first line already has `used`
 * characters. */
static void print_words(int used, const char *text)
{
    int at = used;
    if (used >= COLUMN) {
        putchar('\n');
        at = 0;
    }
    while (*text != '\0') {
        const int length = (int)strcspn(text, " ");
        if (at > COLUMN && at + 1 + length > WIDTH) {
            putchar('\n');
            at = 0;
        }
        const int blanks = at < COLUMN ? COLUMN - at : 1;
        printf("%*s%.*s", blanks, "", length, text);
        at += blanks + length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_option(char letter, const char *option, const char *value, const char *help)
{
    char head[ROOF_INPUT_NAME_SIZE + 64];
    const bool is_long = strlen(option) > 1;
    const int used =
        snprintf(head, sizeof head, "  %s%.1s%s%s%s%s%s", letter != 0 ? "-" : "", &letter,
                 letter != 0 && is_long ? ", " : "", is_long ? "--" : "", is_long ? option : "",
                 value == NULL ? ""
                 : is_long     ? "="
                               : " ",
                 value == NULL ? "" : value);
    fputs(head, stdout);
    print_words(used, help);
}

/* Returns what stands for the value of an option: a device to measure is one, and may be a CPU. */
static const char *value_of(const struct cli_command *command, size_t input)
{
    return input == ROOF_INPUT_DEVICE && command->id == ROOF_COMMAND_MEASURE
               ? "cpu|cuda[:N]|hip[:N]"
               : roof_input(input)->value;
}

/* The headings in the order of the page; NULL: "Options of COMMAND". */
static const struct heading {
    enum roof_group group;
    const char *text;
} headings[] = {{ROOF_GROUP_WORKLOAD, "Workload"},
                {ROOF_GROUP_MODEL, "Model"},
                {ROOF_GROUP_FORMATS, "Formats"},
                {ROOF_GROUP_DEVICE, "Device"},
                {ROOF_GROUP_EXPECTED, "Expected time"},
                {ROOF_GROUP_TILE, "Tiles"},
                {ROOF_GROUP_COMMAND, NULL},
                {ROOF_GROUP_LIMITS, "Goals and limits"},
                {ROOF_GROUP_OUTPUT, "Output"}};
static_assert(COUNT(headings) == ROOF_GROUP_COUNT, "every group has a heading");

static void print_group(const struct cli_command *command, const char *workload,
                        const struct heading *heading)
{
    bool begun = false;
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_input *const input = roof_input(i);
        const char *const help =
            input->group == heading->group ? cli_help_of(command, workload, i) : NULL;
        if (help == NULL) {
            continue;
        }
        if (!begun && heading->text != NULL) {
            printf("\n%s\n", heading->text);
        } else if (!begun) {
            printf("\nOptions of %s\n", command->name);
        }
        begun = true;
        print_option(input->letter, input->option, value_of(command, i), help);
    }
    if (heading->group == ROOF_GROUP_OUTPUT) {
        printf("%s", begun ? "" : "\nOutput\n");
        print_option('h', "help", NULL, "print this help");
    }
}

/* Topics below the options: the input files of a command, or the requests that it answers. */
static const struct {
    enum roof_command command;
    const char *text;
} subjects[] = {
    {ROOF_COMMAND_COMPARE,
     "FILE is CSV with a header, NDJSON, or the JSON that `vllm bench serve --save-result` and\n"
     "sglang.bench_serving write. MODEL is used for rows that name none. Columns that are read:\n"
     "  measured      measured_us; for models also ttft_ms, tpot_ms, e2e_ms, tokens_per_s\n"
     "  what          operator and its dimensions (m, n, k, ...), or model; hardware\n"
     "  for models    concurrency or batch, prompt, generate, phase, context, tp, pp, ...\n"
     "  formats       precision, weights, activations, kv, out, compute, layout\n"
     "  how           stack, cache, working_set_bytes, quantize_input, split_k\n"
     "An option applies to rows without its column. --group-by may use any column of the file.\n"},
    {ROOF_COMMAND_CHECK,
     "FILE.json\n"
     "  {\"defaults\": {\"hardware\": \"h100-sxm\"}, \"checks\": [\n"
     "    {\"name\": \"eight users\",\n"
     "     \"inputs\": {\"model\": \"llama-3-8b\", \"precision\": \"fp8\", \"batch\": 8},\n"
     "     \"expect\": {\"expected_tpot_ms\": {\"max\": 10}, \"fits\": true}},\n"
     "    {\"name\": \"best format\", \"command\": \"recommend\",\n"
     "     \"inputs\": {\"operator\": \"gemm\", \"m\": 1, \"n\": 4096, \"k\": 4096},\n"
     "     \"expect\": {\"candidates.fp8_e4m3.rank\": 2}},\n"
     "    {\"name\": \"batch of the best plan\", \"command\": \"recommend\",\n"
     "     \"inputs\": {\"model\": \"llama-3-8b\", \"max_tpot\": \"30ms\"},\n"
     "     \"expect\": {\"candidates.0.batch\": {\"min\": 16}}}]}\n"
     "The command is predict (default), recommend or simulate. Members of inputs are options by\n"
     "their keys (max_tpot for --max-tpot), and members of expect are keys of the JSON answer\n"
     "(predict ... -f json): each has a value, {\"value\": V, \"relative\": R} or\n"
     "{\"min\": A, \"max\": B}.\n"},
    {ROOF_COMMAND_SERVE,
     "A request is a JSON object of options by their keys; the answer is that of -f json:\n"
     "  curl -s http://127.0.0.1:8080/api/predict -d '{\"model\": \"llama-3-8b\", \"batch\": 8}'\n"
     "POST /api/predict, sweep, recommend, simulate and GET /api/list/hardware answer; all\n"
     "endpoints are in /api/openapi.json. The explorer is at /.\n"},
};

/* --- the menu ------------------------------------------------------------------------------- */

enum { MENU_MAX = 12 };

/* The first screen of a command with many options: typical questions, and the most common options.
 */
static const struct menu {
    enum roof_command command;
    const char *examples; /* NULL: those of the table of commands */
    size_t count;
    size_t input[MENU_MAX];
} menus[] = {
    {ROOF_COMMAND_PREDICT,
     "  roofline predict gemm -m 128 -n 4096 -k 4096 -H h100-sxm -p fp8\n"
     "  roofline predict llama-3.3-70b -H h100-sxm --tp 4 --prompt 2k --generate 500\n"
     "  roofline predict ./config.json -H hgx-b200 --batch 8 --context 8k\n",
     6,
     {ROOF_INPUT_HARDWARE, ROOF_INPUT_PRECISION_BOTH, ROOF_DIM_BATCH, ROOF_INPUT_CONTEXT,
      ROOF_INPUT_TP, ROOF_INPUT_WHY}},
    {ROOF_COMMAND_SWEEP,
     "  roofline sweep gemm -m 1:4096:x2 -n 4096 -k 4096 -p fp16,fp8 -f csv\n"
     "  roofline sweep llama-3-8b,llama-3-70b -H h100-sxm,hgx-b200 --batch 1:64:x2\n",
     6,
     {ROOF_INPUT_HARDWARE, ROOF_INPUT_PRECISION_BOTH, ROOF_DIM_BATCH, ROOF_INPUT_CONTEXT,
      ROOF_INPUT_COLUMNS, ROOF_INPUT_OUTPUT}},
    {ROOF_COMMAND_RECOMMEND,
     "  roofline recommend gemm -m 1 -n 4096 -k 4096 -H h100-sxm\n"
     "  roofline recommend llama-3.3-70b -H h100-sxm,hgx-b200 --prompt 8k --generate 500 \\\n"
     "      --max-tpot 30ms\n",
     10,
     {ROOF_INPUT_HARDWARE, ROOF_DIM_DEVICES, ROOF_INPUT_PROMPT, ROOF_INPUT_GENERATE,
      ROOF_INPUT_MAX_TTFT, ROOF_INPUT_MAX_TPOT, ROOF_INPUT_RATE, ROOF_INPUT_PRICE, ROOF_INPUT_EMIT,
      ROOF_INPUT_MAX_ACCURACY_LOSS}},
    {ROOF_COMMAND_SIMULATE,
     NULL,
     12,
     {ROOF_INPUT_HARDWARE, ROOF_INPUT_TP, ROOF_INPUT_PRECISION_BOTH, ROOF_INPUT_KV, ROOF_INPUT_RATE,
      ROOF_INPUT_CONCURRENCY, ROOF_INPUT_ARRIVALS, ROOF_INPUT_PROMPT, ROOF_INPUT_GENERATE,
      ROOF_INPUT_MAX_TTFT, ROOF_INPUT_MAX_TPOT, ROOF_INPUT_OUTPUT}},
    {ROOF_COMMAND_COMPARE,
     NULL,
     11,
     {ROOF_INPUT_HARDWARE, ROOF_INPUT_TP, ROOF_INPUT_PRECISION_BOTH, ROOF_INPUT_STACK,
      ROOF_INPUT_SUMMARY, ROOF_INPUT_GROUP_BY, ROOF_INPUT_BELOW, ROOF_INPUT_COMPARE_FIT,
      ROOF_INPUT_FORMAT, ROOF_INPUT_COLUMNS, ROOF_INPUT_OUTPUT}},
    {ROOF_COMMAND_MEASURE,
     NULL,
     8,
     {ROOF_INPUT_DEVICE, ROOF_INPUT_SECONDS, ROOF_INPUT_THREADS, ROOF_INPUT_FORMATS,
      ROOF_INPUT_AGAINST, ROOF_INPUT_RESUME_FOLDER, ROOF_INPUT_SAVE, ROOF_INPUT_FOLDER}},
    {ROOF_COMMAND_PLOT,
     "  roofline plot -H h100-sxm\n"
     "  roofline plot llama-3-8b -H h100-sxm --phase decode,prefill -o llama.svg\n"
     "  roofline plot --from measured.csv -H h100-sxm -o measured.pdf\n",
     7,
     {ROOF_INPUT_HARDWARE, ROOF_INPUT_PRECISION_BOTH, ROOF_INPUT_FROM, ROOF_INPUT_PHASE,
      ROOF_INPUT_CHART, ROOF_INPUT_LINE, ROOF_INPUT_OUTPUT}},
};

static void print_usage(const struct cli_command *command)
{
    printf("usage: roofline %s%s%s [options]\n\n%s\n\n", command->name,
           *command->operands == '\0' ? "" : " ", command->operands, command->summary);
}

/* Prints the topic below the options of a command, if there is one. */
static void print_subject(const struct cli_command *command, const char *before)
{
    for (size_t i = 0; i < COUNT(subjects); i++) {
        if (subjects[i].command == command->id) {
            printf("%s%s", before, subjects[i].text);
        }
    }
}

/* Prints the commands of a menu that tell more. */
static void print_more(const struct cli_command *command)
{
    const bool workload = command->takes == CLI_WORKLOAD;
    const int width = (int)strlen(command->name) +
                      (int)strlen(workload ? "roofline  OPERATOR --help" : "roofline  all --help") +
                      2;
    char line[128];
    printf("\nMore\n");
    if (workload) {
        snprintf(line, sizeof line, "roofline %s model --help", command->name);
        printf("  %-*s %s\n", width, line,
               command->id == ROOF_COMMAND_RECOMMEND
                   ? "limits, objectives and the other options of models"
                   : "the options of models");
        snprintf(line, sizeof line, "roofline %s OPERATOR --help", command->name);
        printf("  %-*s the options of one operator, such as gemm\n", width, line);
    }
    snprintf(line, sizeof line, "roofline %s all --help", command->name);
    printf("  %-*s every option; also man roofline-%s\n", width, line, command->name);
    printf("  %-*s hardware, precisions, operators, models, layouts or engines\n", width,
           "roofline list WHAT");
}

static void print_menu(const struct cli_command *command, const struct menu *menu)
{
    const bool models = command->id == ROOF_COMMAND_RECOMMEND || command->takes == CLI_MODEL;
    print_usage(command);
    printf("Examples\n%s\nCommon options\n",
           menu->examples == NULL ? command->examples : menu->examples);
    for (size_t i = 0; i < menu->count; i++) {
        const struct roof_input *const row = roof_input(menu->input[i]);
        const char *const help = cli_help_of(command, models ? "model" : NULL, menu->input[i]);
        print_option(row->letter, row->option, value_of(command, menu->input[i]),
                     help == NULL ? "" : help);
    }
    print_subject(command, "\n");
    print_more(command);
}

/* Returns the first screen of a command; NULL if its options fit on one. */
static const struct menu *menu_of(const struct cli_command *command)
{
    for (size_t i = 0; i < COUNT(menus); i++) {
        if (menus[i].command == command->id) {
            return &menus[i];
        }
    }
    return NULL;
}

/* Tells whether an operand asks for more than the first screen: a workload or the model of measure
 * for its options, "all" for every option. */
static bool asks_more(const struct cli_command *command, const char *operand)
{
    return operand != NULL && (command->takes == CLI_WORKLOAD || command->takes == CLI_STEP ||
                               strcmp(operand, "all") == 0);
}

const char *cli_help_all(const struct cli_command *command)
{
    return menu_of(command) == NULL ? "" : " all";
}

/* --- the whole page ------------------------------------------------------------------------- */

/* The groups for plans of models, beginning with the objective. */
static const enum roof_group plan_order[] = {
    ROOF_GROUP_LIMITS,   ROOF_GROUP_COMMAND, ROOF_GROUP_MODEL,
    ROOF_GROUP_WORKLOAD, ROOF_GROUP_DEVICE,  ROOF_GROUP_FORMATS,
    ROOF_GROUP_EXPECTED, ROOF_GROUP_TILE,    ROOF_GROUP_OUTPUT};
static_assert(COUNT(plan_order) == ROOF_GROUP_COUNT, "every group has a place");

static const struct heading *heading_of(enum roof_group group)
{
    size_t i = 0;
    while (headings[i].group != group) {
        i++;
    }
    return &headings[i];
}

/* Example values for an operator without an example in the table of commands. */
static const struct {
    enum roof_dimension dimension;
    const char *value;
} sample[] = {{ROOF_DIM_M, "128"},
              {ROOF_DIM_N, "4096"},
              {ROOF_DIM_K, "4096"},
              {ROOF_DIM_BATCH, "8"},
              {ROOF_DIM_HEADS, "32"},
              {ROOF_DIM_KV_HEADS, "8"},
              {ROOF_DIM_HEAD_DIM, "128"},
              {ROOF_DIM_QUERY_LEN, "8"},
              {ROOF_DIM_KV_LEN, "8192"},
              {ROOF_DIM_TOKENS, "128"},
              {ROOF_DIM_HIDDEN, "4096"},
              {ROOF_DIM_EXPERTS, "128"},
              {ROOF_DIM_INTERMEDIATE, "2048"},
              {ROOF_DIM_TOP_K, "8"},
              {ROOF_DIM_ELEMENTS, "1M"},
              {ROOF_DIM_DEVICES, "8"}};

/* Prints the dimensions of an operator that have no default, with values. */
static void print_sample(const struct cli_command *command, const struct roof_operator_row *row)
{
    int at = printf("  roofline %s %s", command->name, row->name);
    for (size_t i = 0; i <= COUNT(sample); i++) {
        char word[ROOF_INPUT_NAME_SIZE + 16] = " -H h100-sxm"; /* the last one */
        if (i < COUNT(sample)) {
            const char *const option = roof_input(sample[i].dimension)->option;
            (void)snprintf(word, sizeof word, " %s%s %s", strlen(option) > 1 ? "--" : "-", option,
                           sample[i].value);
        }
        if (i < COUNT(sample) && (row->required >> sample[i].dimension & 1U) == 0) {
            continue;
        }
        if (at + (int)strlen(word) + 2 > WIDTH) { /* room for a backslash */
            printf(" \\\n     ");
            at = 5;
        }
        at += printf("%s", word);
    }
    putchar('\n');
}

/* Prints the examples of a workload; NULL: all. An example may continue in lines with a deeper
 * indent. */
static void print_examples(const struct cli_command *command, const char *workload)
{
    static const char begin[] = "  roofline ";
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    size_t printed = 0;
    bool meant = workload == NULL;
    printf("Examples\n");
    for (const char *line = command->examples; *line != '\0';) {
        const size_t length = strcspn(line, "\n") + 1;
        if (strncmp(line, begin, strlen(begin)) == 0) {
            const char *const kind = line + strlen(begin) + strlen(command->name) + 1;
            meant = workload == NULL || (strlen(workload) == strcspn(kind, " \n") &&
                                         strncmp(kind, workload, strlen(workload)) == 0);
        }
        if (meant) {
            printf("%.*s", (int)length, line);
            printed++;
        }
        line += length;
    }
    if (printed == 0 && roof_operator_find(&op, workload, NULL) == ROOF_OK) {
        print_sample(command, roof_operator_row(op));
    }
}

/* Tells whether the help of a command shows a synonym. */
static bool has_synonym(const struct cli_command *command, const char *workload,
                        const struct roof_synonym *synonym)
{
    return roof_synonym_of(synonym->option, command->id) == synonym &&
           cli_help_of(command, workload, synonym->input) != NULL;
}

/* Prints the other words for options of a command, those of an option together, in lines of at most
 * WIDTH. */
static void print_synonyms(const struct cli_command *command, const char *workload)
{
    size_t count = 0;
    const struct roof_synonym *const all = roof_synonyms(&count);
    int at = 0;
    for (size_t i = 0; i < count; i++) {
        char word[2 * ROOF_INPUT_NAME_SIZE + 24];
        const char *const option = all[i].option;
        if (!has_synonym(command, workload, &all[i])) {
            continue;
        }
        int length = snprintf(word, sizeof word, "%s%s", strlen(option) > 1 ? "--" : "-", option);
        if (i + 1 == count || all[i + 1].input != all[i].input ||
            !has_synonym(command, workload, &all[i + 1])) {
            length +=
                snprintf(word + length, sizeof word - (size_t)length, " (--%s%s)",
                         roof_input(all[i].input)->option, all[i].complement ? ", 1 - X" : "");
        }
        at += printf("%s", at == 0 ? "Other words:" : ",");
        if (at + 2 + length > WIDTH) {
            putchar('\n');
            at = 0;
        }
        at += printf("%s%s", at == 0 ? "" : " ", word);
    }
    printf("%s", at == 0 ? "" : "\n");
}

static void print_page(const struct cli_command *command, const char *workload)
{
    const bool plans =
        command->id == ROOF_COMMAND_RECOMMEND && workload != NULL && strcmp(workload, "model") == 0;
    print_usage(command);
    print_examples(command, command->takes == CLI_WORKLOAD ? workload : NULL);
    for (size_t i = 0; i < ROOF_GROUP_COUNT; i++) {
        print_group(command, workload, plans ? heading_of(plan_order[i]) : &headings[i]);
    }
    putchar('\n');
    if (roof_input_allowed(ROOF_DIM_N, command->id) || command->takes == CLI_MODEL) {
        printf("Integers may carry k, M, G (1000) or Ki, Mi, Gi (1024).\n");
    }
    if (command->id == ROOF_COMMAND_SWEEP) {
        printf(
            "Dimensions take lists a,b,c and ranges START:STOP:STEP, START:STOP:xFACTOR; formats "
            "and\ndevices take lists.\n");
    }
    print_synonyms(command, workload);
    print_subject(command, "");
    if (strstr(command->operands, "WORKLOAD") != NULL) {
        printf(
            "A WORKLOAD is an operator (roofline list operators) or a model: a name (roofline list "
            "models),\na name at Hugging Face, or a config.json, folder, .gguf or .safetensors "
            "file. With one, --help\nshows only its options. Devices: roofline list hardware. "
            "Precisions: roofline list precisions.\n");
    }
    if (command->takes == CLI_MODEL) {
        printf(
            "A MODEL is a name (roofline list models), a name at Hugging Face, or a config.json, "
            "folder,\n.gguf or .safetensors file. Devices: roofline list hardware.\n");
    }
    printf("The manual: man roofline-%s\n", command->name);
}

void cli_help(const struct cli_command *command, const char *workload)
{
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    const struct menu *const menu = asks_more(command, workload) ? NULL : menu_of(command);
    if (menu != NULL) {
        print_menu(command, menu);
    } else if (command->takes == CLI_MODEL) {
        print_page(command, "model");
    } else if (workload == NULL || command->takes != CLI_WORKLOAD || strcmp(workload, "all") == 0) {
        print_page(command, NULL);
    } else { /* other words are model names */
        print_page(command,
                   roof_operator_find(&op, workload, NULL) == ROOF_OK ? workload : "model");
    }
}
