// SPDX-License-Identifier: MIT
/* Refuses operands that a command does not take, with a hint by what the user probably meant. */
#include <string.h>

#include "base/base.h"
#include "cli.h"
#include "decide/compare.h"
#include "decide/size_words.h"

/* Returns where an operand stands in argv. */
static int place_of(const char *operand, char **argv)
{
    int i = 0;
    while (argv[i] != NULL && argv[i] != operand) {
        i++;
    }
    return i;
}

/* Refuses an operand behind the value of an option, as whose second word it was probably meant;
 * false: it is not behind one. */
static bool refuse_second_word(const char *const *operand, int index, char **argv,
                               struct roof_error *error)
{
    const int at = place_of(operand[index], argv);
    const char *const value = argv[at - 1];
    const bool joined = strncmp(value, "--", 2) == 0 && strchr(value, '=') != NULL;
    if (!joined && (at < 3 || *value == '-' || *argv[at - 2] != '-' ||
                    (index > 0 && operand[index - 1] == value))) {
        return false;
    }
    (void)roof_error_set(error, ROOF_USAGE, "unexpected argument '%s' after '%s%s%s'",
                         operand[index], joined ? "" : argv[at - 2], joined ? "" : " ", value);
    if (roof_is_time_unit(operand[index])) {
        roof_error_append(error, "; write %s%s", joined ? strchr(value, '=') + 1 : value,
                          operand[index]);
    } else {
        roof_error_append(error, "; quote a value with blanks, and join a list with commas");
    }
    return true;
}

enum roof_status cli_refuse_operand(const struct cli_options *options, const char *const *operand,
                                    int count, int index, char **argv, struct roof_error *error)
{
    const struct cli_command *const command = options->command;
    const char *const extra = operand[index];
    const bool workload = command->takes == CLI_WORKLOAD || command->takes == CLI_MODEL;
    enum roof_operator op = ROOF_OPERATOR_GEMM;
    if (command->takes == CLI_MEASURED && roof_compare_is_result(extra) &&
        roof_compare_is_result(operand[index - 1])) {
        return roof_compare_refuse_second(operand[0], operand[index - 1], error);
    }
    if (refuse_second_word(operand, index, argv, error)) {
        return ROOF_USAGE;
    }
    (void)roof_error_set(error, ROOF_USAGE, "unexpected argument '%s'", extra);
    if (command->takes == CLI_WORKLOAD && roof_is_size(extra) &&
        roof_operator_find(&op, operand[0], NULL) == ROOF_OK) {
        roof_hint_sizes(error, op, operand, count);
    } else if (workload && !roof_asked(options->question, ROOF_INPUT_HARDWARE)) {
        roof_error_append(error, "; name a device with -H");
    } else {
        roof_error_append(error, "; usage: roofline %s %s", command->name, command->operands);
    }
    return ROOF_USAGE;
}
