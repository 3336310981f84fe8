// SPDX-License-Identifier: MIT
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct cli_command commands[] = {
    {"predict", ROOF_COMMAND_PREDICT, CLI_WORKLOAD, cli_ask, "WORKLOAD",
     "Predicts the roofline time of an operator or a whole model and says what limits it.",
     "  roofline predict gemv -n 4096 -k 4096 -H gb10 -p nvfp4\n"
     "  roofline predict gemm -m 128 -n 24576 -k 1536 -w int4 -a fp16 -H gb200 --why\n"
     "  roofline predict flash-attention --heads 32 --kv-heads 8 --head-dim 128 --kv-len 8192\n"
     "  roofline predict model llama-3-8b -H h100 --batch 8 --context 8192 -w fp8 --kv fp8\n"
     "  roofline predict model ./config.json -H h100 --phase prefill --context 2048 --tp 2\n"
     "  roofline predict model gpt-oss-120b -H b200 --layout checkpoint --prompt 2k --generate "
     "500\n"
     "  roofline predict --from shapes.csv -H h100-sxm -f csv\n"
     "  roofline predict model --from models.csv -H h200 -f csv\n"},
    {"sweep", ROOF_COMMAND_SWEEP, CLI_WORKLOAD, cli_ask, "WORKLOAD",
     "Predicts a grid: every dimension, precision and device takes a list or a range.",
     "  roofline sweep gemm -m 1:4096:x2 -n 4096 -k 4096 -p fp16,fp8 -f csv\n"
     "  roofline sweep gemv -n 4Ki -k 4Ki -H gb10,h100,b200 -p fp16,fp8,nvfp4\n"
     "  roofline sweep model llama-3-8b,llama-3-70b -H h100,b200 --batch 1:64:x2 -p fp16,fp8\n"},
    {"recommend", ROOF_COMMAND_RECOMMEND, CLI_WORKLOAD, cli_ask, "WORKLOAD",
     "Ranks the number formats for an operator, or the ways to serve a model, with reasons.",
     "  roofline recommend gemm -m 1 -n 4096 -k 4096 -H gb10\n"
     "  roofline recommend gemm -m 1 -n 4096 -k 4096 -H h100 --max-accuracy-loss '<1%'\n"
     "  roofline recommend model llama-3.3-70b -H h100-sxm,hgx-b200 --prompt 8k \\\n"
     "      --generate 500 --max-tpot 30ms\n"},
    {"compare", ROOF_COMMAND_COMPARE, CLI_FILES, cli_ask, "FILE.csv",
     "Compares measured times with predictions, row by row or by groups.",
     "  roofline compare measured.csv -H h100-sxm --group-by operator,weights\n"
     "  roofline compare measured.csv --summary -f json\n"
     "  roofline compare measured.csv -f csv -o rows.csv\n"},
    {"plot", ROOF_COMMAND_PLOT, CLI_WORKLOAD, cli_ask, "[WORKLOAD]",
     "Draws the roofline chart of devices with operators, models or measured points on it.",
     "  roofline plot -H h100-sxm\n"
     "  roofline plot model llama-3-8b -H h100-sxm --phase decode,prefill -o llama.svg\n"
     "  roofline plot gemm -m 1:4096:x4 -n 4096 -k 4096 -H a100-sxm-80gb,h100-sxm -o gemm.png\n"
     "  roofline plot --from measured.csv -H h100-sxm --line cuBLAS=794TFLOPS -o measured.pdf\n"},
    {"check", ROOF_COMMAND_CHECK, CLI_FILES, cli_ask, "FILE.json ...",
     "Checks expected values against predictions and recommendations, for CI.",
     "  roofline check checks.json\n"
     "  roofline check checks/*.json -f junit -o results.xml\n"
     "  roofline check checks.json --update\n"},
    {"list", ROOF_COMMAND_LIST, CLI_LIST, cli_ask,
     "hardware|precisions|operators|models|layouts|engines [ID]",
     "Prints what is known: devices, formats, operators, models, layouts, engines.",
     "  roofline list hardware\n"
     "  roofline list hardware gb10\n"
     "  roofline list precisions nvfp4\n"
     "  roofline list operators flash-attention\n"
     "  roofline list models -f csv --columns id,parameters,kv_bytes_per_token\n"},
    {"completion", ROOF_COMMAND_COMPLETION, CLI_WORD, cli_completion, "bash|zsh|fish",
     "Prints what makes a shell complete the words of command lines.",
     "  . <(roofline completion bash)\n"
     "  roofline completion zsh > ~/.zsh/functions/_roofline\n"
     "  roofline completion fish > ~/.config/fish/completions/roofline.fish\n"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

const struct cli_command *cli_commands(size_t *count)
{
    *count = COMMANDS;
    return commands;
}

int cli_exit_code(enum roof_status status)
{
    switch (status) {
    case ROOF_OK:
        return 0;
    case ROOF_UNSATISFIED:
        return 1;
    case ROOF_USAGE:
        return 2;
    case ROOF_INVALID:
        return 3;
    case ROOF_IO:
    case ROOF_MEMORY:
        break;
    }
    return 4;
}

/* Lines that are told at the end. */
static char remarks[4096];

void cli_remark(const struct roof_error *remark)
{
    char line[ROOF_ERROR_MESSAGE_SIZE + 16];
    char message[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE];
    (void)snprintf(line, sizeof line, "roofline: %s\n",
                   roof_error_spelled(message, sizeof message, remark, cli_spell));
    const size_t used = strlen(remarks);
    /* It may come twice. */
    if (strstr(remarks, line) == NULL && used + strlen(line) < sizeof remarks) {
        memcpy(remarks + used, line, strlen(line) + 1);
    }
}

void cli_spell(char *out, size_t size, const char *key)
{
    const struct roof_input *const input = roof_input_find(key);
    const bool letter = input != NULL && input->option[1] == '\0'; /* -m has no longer name */
    (void)snprintf(out, size, "%s%s",
                   input == NULL ? ""
                   : letter      ? "-"
                                 : "--",
                   input == NULL ? key : input->option);
}

void cli_complain(const char *command, const struct roof_error *error)
{
    char message[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
    fprintf(stderr, "roofline %s: %s\n", command,
            roof_error_spelled(message, sizeof message, error, cli_spell));
}

int cli_fail(const char *command, const struct roof_error *error)
{
    remarks[0] = '\0'; /* one line says what is wrong */
    cli_interrupt_end();
    cli_complain(command, error);
    return cli_interrupted() != 0 ? cli_interrupted() : cli_exit_code(error->status);
}

static void print_usage(FILE *out)
{
    fprintf(out, "usage: roofline COMMAND ...\n\n"
                 "How fast transformers and their operators can run on a device at a precision,\n"
                 "what limits them, and what to change.\n\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
    }
    fprintf(out, "\nroofline help COMMAND, or COMMAND --help, has its options and examples.\n"
                 "roofline --version prints the version. The manual: man roofline.\n");
}

/* Closes stdout and returns the exit code, which is an error when the output did not arrive. */
static int finish(int code)
{
    /* A stdout that was closed from the start matters only to those who write to it. */
    if (code == 0 &&
        (fflush(stdout) != 0 || ferror(stdout) != 0 || (fclose(stdout) != 0 && errno != EBADF))) {
        if (errno == EPIPE) {
            cli_interrupt_reader_left();
            cli_interrupt_end();
        }
        fputs("roofline: cannot write standard output\n", stderr);
        return cli_exit_code(ROOF_IO);
    }
    return code;
}

int main(int argc, char **argv)
{
    /* A full quota is an error to report, not a silent death, and a closed pipe ends the program
     * only when its files are closed; getopt must not depend on the environment. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)unsetenv("POSIXLY_CORRECT");

    if (argc < 2) {
        print_usage(stderr);
        return cli_exit_code(ROOF_USAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return finish(0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("roofline %s\n", roof_version());
        return finish(0);
    }
    char option[] = "--help";
    if (strcmp(argv[1], "help") == 0 && (argc == 2 || argv[2][0] == '-')) {
        print_usage(stdout);
        return finish(0);
    }
    if (strcmp(argv[1], "help") == 0) { /* help COMMAND ... is COMMAND --help ... */
        argv[1] = argv[2];
        argv[2] = option;
    }
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[1], names[i]) == 0) {
            const int code = commands[i].run(&commands[i], argc - 1, argv + 1);
            fputs(remarks, stderr);
            remarks[0] = '\0';
            return code == 0 ? finish(0) : code;
        }
    }
    struct roof_error error = {0};
    roof_unknown_name(&error, ROOF_USAGE, "command", argv[1], names, COMMANDS);
    fprintf(stderr, "roofline: %s\n", error.message);
    return cli_exit_code(error.status);
}
