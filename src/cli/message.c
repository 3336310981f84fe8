// SPDX-License-Identifier: MIT
/* Turns statuses into exit codes, and errors and remarks into lines on stderr. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "decide/synonym.h"

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

/* The words that the user typed for options, by input; NULL: the option itself. */
static const char *typed[ROOF_INPUT_COUNT];

/* Returns the row of the key of an input, which other inputs may share. */
static size_t first_with_key(size_t input)
{
    char key[ROOF_INPUT_NAME_SIZE];
    return roof_input_number(roof_input_key(key, roof_input(input)));
}

void cli_call_input(size_t input, const char *word)
{
    typed[first_with_key(input)] = word;
}

void cli_forget_words(void)
{
    memset(typed, 0, sizeof typed);
}

/* Writes the option for an input key in a message ("--kv-heads"); a roof_speller. */
static void spell(char *out, size_t size, const char *key)
{
    const size_t number = roof_input_number(key);
    const struct roof_input *const input = number < ROOF_INPUT_COUNT ? roof_input(number) : NULL;
    const struct roof_synonym *const synonym = roof_synonym_of_key(key);
    const char *const word = input != NULL ? typed[number] : NULL;
    const char *const option = word != NULL      ? word
                               : input != NULL   ? input->option
                               : synonym != NULL ? synonym->option
                                                 : key;
    const char *const dashes = option == key       ? ""
                               : option[1] == '\0' ? "-" /* -m has no long name */
                                                   : "--";
    (void)snprintf(out, size, "%s%s", dashes, option);
}

/* The lines that cli_remarks_print writes. */
static char remarks[4096];

void cli_remark(const struct roof_error *remark)
{
    char line[ROOF_ERROR_MESSAGE_SIZE + 16];
    char message[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE];
    (void)snprintf(line, sizeof line, "roofline: %s\n",
                   roof_error_spelled(message, sizeof message, remark, spell));
    const size_t used = strlen(remarks);
    /* A repeated remark is printed once. */
    if (strstr(remarks, line) == NULL && used + strlen(line) < sizeof remarks) {
        memcpy(remarks + used, line, strlen(line) + 1);
    }
}

void cli_complain(const char *command, const struct roof_error *error)
{
    char message[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
    fprintf(stderr, "roofline %s: %s\n", command,
            roof_error_spelled(message, sizeof message, error, spell));
}

int cli_fail(const char *command, const struct roof_error *error)
{
    remarks[0] = '\0'; /* an error message replaces the remarks */
    cli_interrupt_end();
    cli_complain(command, error);
    return cli_interrupted() != 0 ? cli_interrupted() : cli_exit_code(error->status);
}

void cli_remarks_print(void)
{
    fputs(remarks, stderr);
    remarks[0] = '\0';
}
