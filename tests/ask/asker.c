// SPDX-License-Identifier: MIT
/*
 * Answers the questions on standard input with the public functions of the library alone, as any C
 * program would; tests/ask/ask.py compares the answers with those of the other ways to ask.
 *
 * A question is a line with the command and the format, a line KEY=VALUE for each input, and an
 * empty line. An answer is a line with the status and three lengths in bytes, and behind it the
 * document, the message, and the message with the options of the program in place of keys.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roofline/question.h"

#define LINE_SIZE 4096

static const struct {
    const char *name;
    enum roof_command command;
} commands[] = {{"predict", ROOF_COMMAND_PREDICT},     {"sweep", ROOF_COMMAND_SWEEP},
                {"recommend", ROOF_COMMAND_RECOMMEND}, {"list", ROOF_COMMAND_LIST},
                {"compare", ROOF_COMMAND_COMPARE},     {"plot", ROOF_COMMAND_PLOT},
                {"check", ROOF_COMMAND_CHECK}};

static enum roof_command find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return commands[i].command;
        }
    }
    fprintf(stderr, "asker: no command '%s'\n", name);
    exit(2);
}

/* Spells a key as the program does; this front end knows the few whose option has another name. */
static void spell(char *out, size_t size, const char *key)
{
    static const char *const no_options[] = {"operator", "model", "list", "id", "file"};
    for (size_t i = 0; i < sizeof no_options / sizeof *no_options; i++) {
        if (strcmp(key, no_options[i]) == 0) {
            snprintf(out, size, "%s", key);
            return;
        }
    }
    snprintf(out, size, "%s%s", strlen(key) == 1 ? "-" : "--",
             strcmp(key, "measured_us") == 0 ? "measured" : key);
    for (char *p = out; *p != '\0'; p++) {
        if (*p == '_') {
            *p = '-';
        }
    }
}

static void write_answer(enum roof_status status, const char *text, size_t length,
                         const struct roof_error *error)
{
    char plain[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE];
    char spelled[ROOF_ERROR_SOURCE_SIZE + 2 * ROOF_ERROR_MESSAGE_SIZE];
    roof_error_line(plain, sizeof plain, error);
    roof_error_spelled(spelled, sizeof spelled, error, spell);
    printf("%d %zu %zu %zu\n", (int)status, length, strlen(plain), strlen(spelled));
    fwrite(text == NULL ? "" : text, 1, length, stdout);
    printf("%s%s", plain, spelled);
    fflush(stdout);
}

/* Reads a line without its end; false at the end of the input. */
static int read_line(char line[LINE_SIZE])
{
    if (fgets(line, LINE_SIZE, stdin) == NULL) {
        return 0;
    }
    line[strcspn(line, "\n")] = '\0';
    return 1;
}

/* Puts the inputs of a question; all lines are read even where one of them is refused. */
static enum roof_status read_inputs(struct roof_question *question, struct roof_error *error)
{
    char line[LINE_SIZE];
    enum roof_status status = ROOF_OK;
    while (read_line(line) && *line != '\0') {
        char *const equals = strchr(line, '=');
        if (equals == NULL) {
            fprintf(stderr, "asker: no '=' in '%s'\n", line);
            exit(2);
        }
        *equals = '\0';
        if (status == ROOF_OK) {
            status = roof_question_put(question, line, equals + 1, error);
        }
    }
    return status;
}

static void answer(struct roof_store *store, char *line)
{
    struct roof_question *question = NULL;
    struct roof_error error = {0};
    enum roof_answer_format format = ROOF_TEXT;
    char *text = NULL;
    size_t length = 0;
    char *const blank = strchr(line, ' ');
    if (blank == NULL || roof_question_new(&question, &error) != ROOF_OK) {
        exit(2);
    }
    *blank = '\0';
    const enum roof_command command = find_command(line);
    enum roof_status status = read_inputs(question, &error);
    if (status == ROOF_OK) {
        status = roof_answer_format_find(&format, command, blank + 1, &error);
    }
    if (status == ROOF_OK) {
        status = roof_answer(store, question, command, format, &text, &length, &error);
    }
    write_answer(status, text, length, &error);
    roof_answer_free(text);
    roof_question_free(question);
}

int main(void)
{
    char line[LINE_SIZE];
    struct roof_store *store = NULL;
    struct roof_error error;
    if (roof_store_new(&store, &error) != ROOF_OK) {
        return 2;
    }
    while (read_line(line)) {
        answer(store, line);
    }
    roof_store_free(store);
    return 0;
}
