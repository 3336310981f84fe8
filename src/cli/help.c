// SPDX-License-Identifier: MIT
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"

/* The help of options that mean something else when plans of a model are searched; NULL: they are
 * refused then. */
static const struct {
    size_t input;
    const char *help;
} plan_help[] = {
    {ROOF_DIM_BATCH,
     "sequences in flight: a list or range START:STOP (default 1 to 2048, doubling)"},
    {ROOF_DIM_DEVICES,
     "devices, each time all of them: a list or range START:STOP (default 1,2,4,8)"},
    {ROOF_DIM_EP, NULL},
    {ROOF_INPUT_BY, NULL},
    {ROOF_INPUT_HARDWARE, "kinds of devices, a list (default " ROOF_DEFAULT_HARDWARE ")"},
    {ROOF_INPUT_KV, "the only format of the KV cache (default: those that engines have)"},
    {ROOF_INPUT_FORMATS, "the only formats, as engines call them or of their weights, a list"},
    {ROOF_INPUT_EXPLAIN, "why B is faster than A: two devices, or two formats of engines"},
    {ROOF_INPUT_CONTEXT, "tokens of a sequence, decoded without prompts (default 4096)"}};

const char *cli_help_of(const struct cli_command *command, const char *workload, size_t input)
{
    const struct roof_input *const row = roof_input(input);
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    if (!roof_input_allowed(input, command->id)) {
        return NULL;
    }
    const bool model = workload != NULL && strcmp(workload, "model") == 0;
    if (workload == NULL || (!model && roof_operator_find(&op, workload, NULL) != ROOF_OK)) {
        return row->help;
    }
    for (size_t i = 0; i < COUNT(plan_help); i++) {
        if (model && command->id == ROOF_COMMAND_RECOMMEND && plan_help[i].input == input) {
            return plan_help[i].help;
        }
    }
    const bool taken =
        roof_input_taken(row, model, NULL) == ROOF_OK &&
        (model || input >= ROOF_DIM_COUNT || roof_operator_has(op, (enum roof_dimension)input));
    return taken ? row->help : NULL;
}

/* --- the page ------------------------------------------------------------------------------ */

enum { WIDTH = 98, COLUMN = 34 };

/* Prints words from COLUMN on, in lines of at most WIDTH, the first of which has `used` characters
 * already. */
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

/* The headings in the order of the page; NULL: "Options of COMMAND". */
static const struct heading {
    enum roof_group group;
    const char *text;
} headings[] = {{ROOF_GROUP_WORKLOAD, "Workload"},      {ROOF_GROUP_MODEL, "Model"},
                {ROOF_GROUP_FORMATS, "Formats"},        {ROOF_GROUP_DEVICE, "Device"},
                {ROOF_GROUP_EXPECTED, "Expected time"}, {ROOF_GROUP_COMMAND, NULL},
                {ROOF_GROUP_LIMITS, "Limits"},          {ROOF_GROUP_OUTPUT, "Output"}};
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
        print_option(input->letter, input->option, input->value, help);
    }
    if (heading->group == ROOF_GROUP_OUTPUT) {
        printf("%s", begun ? "" : "\nOutput\n");
        print_option('h', "help", NULL, "print this help");
    }
}

void cli_help(const struct cli_command *command, const char *workload)
{
    printf("usage: roofline %s %s [options]\n\n%s\n\nExamples\n%s", command->name,
           command->operands, command->summary, command->examples);
    for (size_t i = 0; i < ROOF_GROUP_COUNT; i++) {
        print_group(command, workload, &headings[i]);
    }
    putchar('\n');
    if (roof_input_allowed(ROOF_DIM_N, command->id)) {
        printf("Integers may carry k, M, G (1000) or Ki, Mi, Gi (1024).\n");
    }
    if (command->id == ROOF_COMMAND_SWEEP) {
        printf(
            "Dimensions take lists a,b,c and ranges START:STOP:STEP, START:STOP:xFACTOR; formats "
            "and\ndevices take lists.\n");
    }
    if (strstr(command->operands, "WORKLOAD") != NULL) {
        printf("A WORKLOAD is an operator (roofline list operators) or \"model NAME\" (roofline "
               "list\nmodels), or a model's config.json, folder, .gguf or .safetensors file. With "
               "one of\nthem, --help shows only its options. Devices: roofline list hardware. "
               "Formats:\nroofline list precisions.\n");
    }
    printf("The manual: man roofline-%s\n", command->name);
}
