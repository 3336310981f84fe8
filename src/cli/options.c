// SPDX-License-Identifier: MIT
#include <argtable2.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ask/asking.h"
#include "ask/simulate_read.h"
#include "base/base.h"
#include "base/list.h"
#include "base/nearest.h"
#include "cli.h"
#include "decide/compare.h"
#include "decide/engine.h"
#include "decide/synonym.h"

/* The argtable of a command: an entry per allowed input and one per synonym, then the operands,
 * --help and the end. */
struct table {
    void *entry[ROOF_INPUT_COUNT + ROOF_SYNONYMS_MAX + 3];
    size_t input[ROOF_INPUT_COUNT]; /* the input of each entry */
    char letter[ROOF_INPUT_COUNT][2];
    size_t count;
    const struct roof_synonym
        *synonym[ROOF_SYNONYMS_MAX]; /* the synonym of each of the following entries */
    size_t synonyms;
    struct arg_str *operands;
    struct arg_lit *help;
    struct arg_end *end;
    size_t size; /* size of `entry` */
};

/* argtable accepts this many operands, so that our own message refuses excess ones. */
#define OPERANDS_SEEN (CLI_OPERANDS_MAX + 1)
/* The most operands of a command that does not take a list of files. */
#define OPERANDS_MAX 2

/* Makes the entries for synonyms of the options of a command. */
static void build_synonyms(struct table *t, const struct cli_command *command)
{
    size_t count = 0;
    const struct roof_synonym *const all = roof_synonyms(&count);
    for (size_t i = 0; i < count; i++) {
        if (roof_synonym_of(all[i].option, command->id) == &all[i]) {
            const bool letter = all[i].option[1] == '\0';
            t->entry[t->count + t->synonyms] =
                arg_strn(letter ? all[i].option : NULL, letter ? NULL : all[i].option,
                         roof_input(all[i].input)->value, 0, 1, NULL);
            t->synonym[t->synonyms++] = &all[i];
        }
    }
}

static enum roof_status build(struct table *t, const struct cli_command *command,
                              struct roof_error *error)
{
    *t = (struct table){0};
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_input *const input = roof_input(i);
        if (!roof_input_allowed(i, command->id)) {
            continue;
        }
        t->letter[t->count][0] = input->letter;
        const char *const letter = input->letter == 0 ? NULL : t->letter[t->count];
        const char *const option = strlen(input->option) > 1 ? input->option : NULL;
        t->entry[t->count] = input->kind == ROOF_INPUT_FLAG
                                 ? (void *)arg_lit0(letter, option, input->help)
                                 : (void *)arg_strn(letter, option, input->value, 0,
                                                    input->many ? ROOF_TEXTS_MAX : 1, input->help);
        t->input[t->count++] = i;
    }
    build_synonyms(t, command);
    t->operands = arg_strn(NULL, NULL, command->operands, 0, OPERANDS_SEEN, NULL);
    t->help = arg_lit0("h", "help", "print this help");
    t->end = arg_end(8);
    t->size = t->count + t->synonyms;
    t->entry[t->size++] = t->operands;
    t->entry[t->size++] = t->help;
    t->entry[t->size++] = t->end;
    for (size_t i = 0; i < t->size; i++) {
        if (t->entry[i] == NULL) {
            return roof_no_memory(error);
        }
    }
    return ROOF_OK;
}

/* Refuses an empty text after a long option, which argtable reports as missing and does not name.
 */
static enum roof_status check_empty(int argc, char **argv, struct roof_error *error)
{
    for (int i = 1; i < argc; i++) {
        const char *const equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        if (*argv[i] == '\0' && strncmp(argv[i - 1], "--", 2) == 0) {
            return roof_error_set(error, ROOF_USAGE, "empty value after '%s'", argv[i - 1]);
        }
        if (equals != NULL && equals[1] == '\0') {
            return roof_error_set(error, ROOF_USAGE, "empty value after '%s'", argv[i]);
        }
    }
    return ROOF_OK;
}

/* Tells if a command takes an option with this name or letter; *meant is the option. */
static bool takes_option(const struct cli_command *command, const char *option, const char **meant)
{
    const struct roof_synonym *const synonym = roof_synonym_of(option, command->id);
    if (synonym != NULL) {
        *meant = roof_input(synonym->input)->option;
        return true;
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_input *const input = roof_input(i);
        if (roof_input_allowed(i, command->id) &&
            (strcmp(input->option, option) == 0 ||
             (input->letter != '\0' && option[0] == input->letter && option[1] == '\0'))) {
            *meant = option;
            return true;
        }
    }
    return false;
}

/* Names the other commands that take an option; false if none does. A name that is an option of
 * some and a synonym in others is called the option. */
static bool say_where(const char *option, struct roof_error *error)
{
    const char *const name = option + strspn(option, "-");
    const char *where[CLI_COMMANDS_MAX];
    const char *meant = name;
    bool own = false;
    size_t count = 0;
    size_t found = 0;
    const struct cli_command *const all = cli_commands(&count);
    for (size_t i = 0; i < count && found < COUNT(where); i++) {
        if (takes_option(&all[i], name, &meant)) {
            where[found++] = all[i].name;
            own = own || meant == name;
        }
    }
    if (found == 0) {
        return false;
    }
    (void)roof_error_set(error, ROOF_USAGE, "%s%s is ", name[1] == '\0' ? "-" : "--", name);
    if (!own) {
        roof_error_append(error, "--%s, ", meant);
    }
    for (size_t i = 0; i < found; i++) {
        roof_error_append(error, "%s%s", i == 0 ? "an option of " : roof_list_separator(i, found),
                          where[i]);
    }
    return true;
}

static const char *value_of(const struct roof_word *meant)
{
    return meant->value == NULL ? "" : meant->value;
}

/* Names the first command in which an ambiguous word has a likely meaning; false: none. */
static bool say_meant_elsewhere(const char *option, struct roof_error *error)
{
    size_t count = 0;
    const struct cli_command *const all = cli_commands(&count);
    for (size_t i = 0; i < count; i++) {
        const struct roof_word *const meant =
            roof_word_meant(option + strspn(option, "-"), all[i].id);
        if (meant != NULL) {
            (void)roof_error_set(error, ROOF_USAGE, "unknown option '%s'; %s takes --%s%s", option,
                                 all[i].name, roof_input(meant->input)->option, value_of(meant));
            return true;
        }
    }
    return false;
}

/* Reports an option whose word is a value of another one, such as --fp8 or --json; false: it is
 * none. */
static bool say_value(const char *option, const struct cli_command *command,
                      struct roof_error *error)
{
    const char *const word = option + strspn(option, "-");
    const size_t formats = roof_input_allowed(ROOF_INPUT_PRECISION_BOTH, command->id)
                               ? ROOF_INPUT_PRECISION_BOTH
                               : ROOF_INPUT_FORMATS;
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    enum roof_answer_format format = ROOF_TEXT;
    size_t input = ROOF_INPUT_COUNT;
    if (roof_input_allowed(formats, command->id) &&
        roof_precision_find(&precision, word, NULL) == ROOF_OK) {
        input = formats;
    } else if (roof_answer_format_find(&format, command->id, word, NULL) == ROOF_OK) {
        input = ROOF_INPUT_FORMAT;
    } else {
        return false;
    }
    (void)roof_error_set(error, ROOF_USAGE, "unknown option '%s'; did you mean --%s %s?", option,
                         roof_input(input)->option, word);
    return true;
}

/* Refuses a letter of the command with two dashes; false: it is none. */
static bool refuse_dashes(const char *option, const struct cli_command *command,
                          struct roof_error *error)
{
    const char *meant = NULL;
    const char *const letter = option + strspn(option, "-");
    if (letter[0] == '\0' || letter[1] != '\0' || !takes_option(command, letter, &meant)) {
        return false;
    }
    (void)roof_error_set(error, ROOF_USAGE, "unknown option '%s'; did you mean -%s?", option,
                         letter);
    return true;
}

/* Refuses an option that the command does not take, with a hint by its likely meaning there. False
 * without a hint. */
static bool refuse_option(const char *option, const struct cli_command *command,
                          struct roof_error *error)
{
    if (strcmp(option, "--model") == 0 &&
        (command->takes == CLI_WORKLOAD || command->takes == CLI_MODEL ||
         command->takes == CLI_MEASURED || command->takes == CLI_STEP)) {
        (void)roof_error_set(error, ROOF_USAGE,
                             "unknown option '--model'; name the model without it: roofline %s %s",
                             command->name, command->operands);
        return true;
    }
    if (refuse_dashes(option, command, error)) {
        return true;
    }
    const struct roof_word *const meant =
        roof_word_meant(option + strspn(option, "-"), command->id);
    const bool elsewhere = say_where(option, error);
    if (meant != NULL && elsewhere) {
        roof_error_append(error, "; %s takes --%s%s", command->name,
                          roof_input(meant->input)->option, value_of(meant));
    } else if (meant != NULL) {
        (void)roof_error_set(error, ROOF_USAGE, "unknown option '%s'; did you mean --%s%s?", option,
                             roof_input(meant->input)->option, value_of(meant));
    }
    return elsewhere || meant != NULL || say_value(option, command, error) ||
           say_meant_elsewhere(option, error);
}

/* Finds the entry of a long option by its whole name of `length` bytes; NULL: there is none. */
static const struct arg_hdr *find_long(const struct table *t, const char *name, size_t length)
{
    for (size_t i = 0; i + 1 < t->size; i++) {
        const struct arg_hdr *const header = t->entry[i];
        if (header->longopts != NULL && strncmp(header->longopts, name, length) == 0 &&
            header->longopts[length] == '\0') {
            return header;
        }
    }
    return NULL;
}

/* Refuses an unknown long option of the command, and suggests similar ones. */
static enum roof_status refuse_long(const struct table *t, const struct cli_command *command,
                                    const char *option, struct roof_error *error)
{
    char dashed[ROOF_INPUT_COUNT + ROOF_SYNONYMS_MAX + 1][ROOF_INPUT_NAME_SIZE];
    const char *known[ROOF_INPUT_COUNT + ROOF_SYNONYMS_MAX + 1];
    size_t count = 0;
    if (refuse_option(option, command, error)) {
        return ROOF_USAGE;
    }
    for (size_t i = 0; i + 1 < t->size; i++) {
        const struct arg_hdr *const header = t->entry[i];
        if (header->longopts != NULL) {
            (void)snprintf(dashed[count], sizeof dashed[count], "--%s", header->longopts);
            known[count] = dashed[count];
            count++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (roof_nearness(option, known[i]) < ROOF_FAR) {
            return roof_unknown_name(error, ROOF_USAGE, "option", option, known, count);
        }
    }
    return roof_error_set(error, ROOF_USAGE,
                          "unknown option '%.60s'; roofline %s%s --help lists all", option,
                          command->name, cli_help_all(command));
}

/* Accepts only whole names of long options, with two dashes: the letters after a single dash would
 * be options. getopt accepts any unambiguous prefix, and scripts would break when an option is
 * added. */
static enum roof_status check_long_options(const struct table *t, const struct cli_command *command,
                                           int argc, char **argv, struct roof_error *error)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const bool dashed = strncmp(argv[i], "--", 2) == 0;
        const size_t length = strcspn(argv[i], "=");
        if (*argv[i] != '-' || (!dashed && length <= 2)) {
            continue;
        }
        const size_t dashes = dashed ? 2 : 1;
        const struct arg_hdr *const found = find_long(t, argv[i] + dashes, length - dashes);
        if (!dashed && found != NULL) {
            return roof_error_set(error, ROOF_USAGE, "unknown option '%.*s'; did you mean --%s?",
                                  (int)length, argv[i], found->longopts);
        }
        if (found != NULL && argv[i][length] == '=' && (found->flag & ARG_HASVALUE) == 0) {
            argv[i][length] = '\0';
            return roof_error_set(error, ROOF_USAGE, "the option %s does not take a value",
                                  argv[i]);
        }
        if (dashed && found == NULL) {
            argv[i][length] = '\0';
            return refuse_long(t, command, argv[i], error);
        }
    }
    return ROOF_OK;
}

/* Appends the engines, where a value is one. */
static void append_engines(struct roof_error *error)
{
    struct roof_engines *engines = NULL;
    if (roof_engines_load(&engines, NULL) == ROOF_OK) {
        for (size_t i = 0; i < engines->count; i++) {
            roof_error_append(error, "%s%s", i == 0 ? ": " : ", ", engines->engine[i].id);
        }
    }
    roof_engines_free(engines);
}

/* Refuses an option without a value, and names the values if they are few. */
static enum roof_status refuse_missing(const struct cli_command *command, const char *option,
                                       struct roof_error *error)
{
    const char *const name = option + strspn(option, "-");
    (void)roof_error_set(error, ROOF_USAGE, "the option '%s' needs a value", option);
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_input *const input = roof_input(i);
        const bool meant = roof_input_allowed(i, command->id) &&
                           (strcmp(input->option, name) == 0 ||
                            (input->letter != '\0' && name[0] == input->letter && name[1] == '\0'));
        if (meant && i == ROOF_INPUT_OBJECTIVE) { /* each workload has its own */
            roof_error_append(error, "; %s", input->help);
        } else if (meant && input->choices != NULL) {
            for (size_t k = 0; input->choices[k] != NULL; k++) {
                roof_error_append(error, "%s%s", k == 0 ? ": " : ", ", input->choices[k]);
            }
        } else if (meant && (i == ROOF_INPUT_EMIT || i == ROOF_INPUT_ENGINE)) {
            append_engines(error);
            roof_error_append(error, i == ROOF_INPUT_EMIT ? ", dynamo" : "");
        }
    }
    return ROOF_USAGE;
}

/* Reports the first error of argtable in one line. */
static enum roof_status parse_error(const struct table *t, const struct cli_command *command,
                                    struct roof_error *error)
{
    char letter[3];
    const int code = t->end->error[0];
    const char *const text = t->end->argval[0] == NULL ? "" : t->end->argval[0];
    if (t->end->parent[0] != t->end) { /* an option that is repeated too often */
        const struct arg_hdr *const header = t->end->parent[0];
        if (header == &t->operands->hdr) {
            return roof_error_set(error, ROOF_USAGE, "unexpected argument '%s'", text);
        }
        const char *const name = header->longopts != NULL ? header->longopts : header->shortopts;
        const char *const dashes = header->longopts != NULL ? "--" : "-";
        if (header->maxcount > 1) {
            return roof_error_set(error, ROOF_USAGE, "the option %s%s is given more than %d times",
                                  dashes, name, header->maxcount);
        }
        return roof_error_set(error, ROOF_USAGE, "the option %s%s is given more than once", dashes,
                              name);
    }
    switch (code) {
    case ARG_EMISSARG:
        return refuse_missing(command, text, error);
    case ARG_EMALLOC:
        return roof_no_memory(error);
    case ARG_ENOMATCH:
        return roof_error_set(error, ROOF_USAGE, "unexpected argument '%s'", text);
    case ARG_ELONGOPT: /* a flag with a value: --causal=1 */
        return roof_error_set(error, ROOF_USAGE, "'%s' is not an option, or does not take a value",
                              text);
    default: /* the letter of an unknown short option */
        (void)snprintf(letter, sizeof letter, "-%c", code);
        if (refuse_option(letter, command, error)) {
            return ROOF_USAGE;
        }
        return roof_error_set(error, ROOF_USAGE,
                              "unknown option -%c; roofline %s%s --help lists all", code,
                              command->name, cli_help_all(command));
    }
}

/* Takes an option of the program itself; false if it is a key of the question. */
static bool take_own_option(struct cli_options *out, size_t input, const char *text)
{
    if (input == ROOF_INPUT_CHARSET || input == ROOF_INPUT_COLOR) {
        return strcmp(text, "auto") == 0; /* ask.c puts it when the output is known */
    }
    if (roof_input(input)->own) {
        out->own[input] = text;
    }
    return roof_input(input)->own;
}

static enum roof_status put(struct cli_options *out, size_t input, const char *text,
                            struct roof_error *error)
{
    char key[ROOF_INPUT_NAME_SIZE];
    return take_own_option(out, input, text)
               ? ROOF_OK
               : roof_question_put(out->question, roof_input_key(key, roof_input(input)), text,
                                   error);
}

/* Tells whether a text is an option: "--batch", or the letter of one of the command, "-p". */
static bool is_option(const char *text, const struct cli_command *command)
{
    const char *meant = NULL;
    return strncmp(text, "--", 2) == 0 ||
           (text[0] == '-' && isalpha((unsigned char)text[1]) && text[2] == '\0' &&
            takes_option(command, text + 1, &meant));
}

/* Refuses an option that stands in place of a value. */
static enum roof_status check_value(const struct arg_str *entry, const struct cli_command *command,
                                    struct roof_error *error)
{
    return entry->count > 0 && is_option(entry->sval[0], command)
               ? roof_error_set(error, ROOF_USAGE, "%s%s needs a value, not the option %s",
                                entry->hdr.longopts == NULL ? "-" : "--",
                                entry->hdr.longopts == NULL ? entry->hdr.shortopts
                                                            : entry->hdr.longopts,
                                entry->sval[0])
               : ROOF_OK;
}

/* Stores the values of an entry of the table. */
static enum roof_status put_entry(struct cli_options *out, const struct table *t, size_t i,
                                  struct roof_error *error)
{
    const size_t input = t->input[i];
    if (roof_input(input)->kind == ROOF_INPUT_FLAG) {
        return ((struct arg_lit *)t->entry[i])->count > 0 ? put(out, input, "", error) : ROOF_OK;
    }
    const struct arg_str *const entry = t->entry[i];
    TRY(check_value(entry, out->command, error));
    for (int k = 0; k < entry->count; k++) {
        TRY(put(out, input, entry->sval[k], error));
    }
    return ROOF_OK;
}

/* Stores the value of a synonym, by which messages then call the input. A value that is not that of
 * the option would not fit their limits. */
static enum roof_status put_synonym(struct cli_options *out, const struct table *t, size_t i,
                                    struct roof_error *error)
{
    const struct arg_str *const entry = t->entry[t->count + i];
    struct roof_text value = ROOF_TEXT_INIT;
    if (entry->count == 0) {
        return ROOF_OK;
    }
    TRY(check_value(entry, out->command, error));
    const struct roof_synonym *const synonym = t->synonym[i];
    if (roof_asked(out->question, synonym->input)) {
        char key[ROOF_INPUT_NAME_SIZE];
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("%s") " and %s%s are the same option: leave one out",
                              roof_input_key(key, roof_input(synonym->input)),
                              synonym->option[1] == '\0' ? "-" : "--", synonym->option);
    }
    enum roof_status status = roof_synonym_value(&value, synonym, entry->sval[0], error);
    if (status == ROOF_OK) {
        cli_call_input(synonym->input, synonym->complement ? NULL : synonym->option);
        status = put(out, synonym->input, value.data == NULL ? "" : value.data, error);
    }
    roof_text_free(&value);
    return status;
}

/* Stores the file of measured times, and the model of its rows. */
static enum roof_status put_measured(struct cli_options *out, const char *file, const char *model,
                                     struct roof_error *error)
{
    TRY(roof_question_put(out->question, "file", file, error));
    if (model != NULL && roof_compare_is_file(model)) {
        return roof_compare_refuse_second(file, model, error);
    }
    return model == NULL ? ROOF_OK : roof_question_put(out->question, "model", model, error);
}

/* Tells whether the name of a model or of a graph file follows the first operand. */
static bool names_next(const struct cli_command *command, const char *first)
{
    return strcmp(first, "model") == 0 ||
           (strcmp(first, "graph") == 0 && command->id == ROOF_COMMAND_PREDICT);
}

/* Refuses a file of rows in place of a workload. */
static enum roof_status check_rows(const struct cli_options *out, const char *name,
                                   struct roof_error *error)
{
    return roof_compare_is_file(name) && roof_input_allowed(ROOF_INPUT_FROM, out->command->id)
               ? roof_error_set(error, ROOF_USAGE,
                                "'%s' is not a model; " ROOF_KEY("from") " %s reads it as rows",
                                name, name)
               : ROOF_OK;
}

/* Stores the operands by their meaning for the command. */
static enum roof_status put_operands(struct cli_options *out, struct roof_error *error)
{
    struct roof_question *const q = out->question;
    const char *const first = out->operand_count > 0 ? out->operand[0] : NULL;
    const char *const second = out->operand_count > 1 ? out->operand[1] : NULL;
    if (first == NULL) {
        return ROOF_OK;
    }
    switch (out->command->takes) {
    case CLI_MEASURED:
        return put_measured(out, first, second, error);
    case CLI_FILES:
        for (int i = 0; i < out->operand_count; i++) {
            TRY(roof_question_put(q, "file", out->operand[i], error));
        }
        return ROOF_OK;
    case CLI_LIST:
        TRY(roof_question_put(q, "list", first, error));
        return second == NULL ? ROOF_OK : roof_question_put(q, "id", second, error);
    case CLI_WORKLOAD:
    case CLI_MODEL:
        TRY(check_rows(out, second == NULL ? first : second, error));
        return names_next(out->command, first)
                   ? roof_question_put(q, first, second == NULL ? "" : second, error)
                   : roof_question_put(q, "operator", first, error);
    case CLI_STEP:
        return strcmp(first, "model") == 0
                   ? roof_question_put(q, "model", second == NULL ? "" : second, error)
                   : roof_error_set(
                         error, ROOF_USAGE,
                         "unexpected argument '%s'; to measure the steps of a model: "
                         "roofline measure model NAME; to choose a device: --device NAME",
                         first);
    case CLI_COMMAND:
        return roof_error_set(error, ROOF_USAGE, "unexpected argument '%s'; put a command after --",
                              first);
    case CLI_NOTHING:
        return roof_error_set(error, ROOF_USAGE, "unexpected argument '%s'", first);
    case CLI_WORD:
        return ROOF_OK;
    }
    return ROOF_OK;
}

/* Cuts off the command after "--", which has its own options. */
static enum roof_status cut_command(struct cli_options *out, int *argc, char **argv,
                                    struct roof_error *error)
{
    for (int i = 1; i < *argc && out->command->takes == CLI_COMMAND; i++) {
        if (strcmp(argv[i], "--") == 0) {
            if (i + 1 == *argc) {
                return roof_error_set(error, ROOF_USAGE, "no command follows --");
            }
            out->run = &argv[i + 1];
            *argc = i;
            return ROOF_OK;
        }
    }
    return ROOF_OK;
}

/* Returns how many operands a command takes that begin with this one. */
static int most_operands(const struct cli_command *command, const char *first)
{
    const bool workload = command->takes == CLI_WORKLOAD || command->takes == CLI_MODEL;
    return command->id == ROOF_COMMAND_CHECK         ? CLI_OPERANDS_MAX
           : workload && !names_next(command, first) ? 1
                                                     : OPERANDS_MAX;
}

/* Takes over the results of argtable. */
static enum roof_status take(struct cli_options *out, const struct table *t, char **argv,
                             struct roof_error *error)
{
    const char *const *const operand = t->operands->sval;
    for (size_t i = 0; i < t->count; i++) {
        TRY(put_entry(out, t, i, error));
    }
    for (size_t i = 0; i < t->synonyms; i++) {
        TRY(put_synonym(out, t, i, error));
    }
    for (int i = 0; i < t->operands->count; i++) {
        if (i == most_operands(out->command, operand[0])) {
            return cli_refuse_operand(out, operand, t->operands->count, i, argv, error);
        }
        out->operand[out->operand_count++] = operand[i];
    }
    return put_operands(out, error);
}

/* Parses argv into the table and takes it over, or prints the help. */
static enum roof_status parse_words(struct cli_options *out, struct table *t, int argc, char **argv,
                                    struct roof_error *error)
{
    TRY(build(t, out->command, error));
    TRY(check_empty(argc, argv, error));
    TRY(check_long_options(t, out->command, argc, argv, error));
    const int errors = arg_parse(argc, argv, t->entry);
    if (t->help->count > 0) {
        cli_help(out->command, t->operands->count > 0 ? t->operands->sval[0] : NULL);
        out->help = true;
        return ROOF_OK;
    }
    return errors > 0 ? parse_error(t, out->command, error) : take(out, t, argv, error);
}

/* Parses argv; an operator in the place of a model is refused before its dimensions are. */
static enum roof_status parse(struct cli_options *out, struct table *t, int argc, char **argv,
                              struct roof_error *error)
{
    enum roof_operator op = ROOF_OPERATOR_GEMM;
    const enum roof_status status = parse_words(out, t, argc, argv, error);
    return status == ROOF_USAGE && out->command->takes == CLI_MODEL && argc > 1 &&
                   roof_operator_find(&op, argv[1], NULL) == ROOF_OK
               ? roof_simulate_refuse_operator(argv[1], error)
               : status;
}

/* Refuses an output whose extension names a format that the command does not write, or NULL. */
static enum roof_status refuse_extension(const struct cli_options *out, const char *format,
                                         struct roof_error *error)
{
    const bool image = format != NULL && strstr("svg png pdf", format) != NULL;
    struct roof_text formats = ROOF_TEXT_INIT;
    roof_answer_formats(&formats, out->command->id);
    const bool text = !formats.failed && strncmp(formats.data, "text", 4) == 0;
    const char *const more = image                    ? "; roofline plot draws images"
                             : format == NULL && text ? "; .txt, .log or no extension is text"
                                                      : "";
    const enum roof_status status =
        formats.failed ? roof_no_memory(error)
                       : roof_error_set(error, ROOF_USAGE,
                                        "cannot write '%s': the formats are %s (" ROOF_KEY(
                                            "format") " chooses one)%s",
                                        out->output, formats.data, more);
    roof_text_free(&formats);
    return status;
}

/* Returns the extension of a file name, with its dot; NULL if there is none. The end of a name like
 * llama-3.1 is not one: it does not begin with a letter. */
static const char *extension_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash == NULL ? path : slash + 1;
    const char *const dot = strrchr(name, '.');
    return dot == NULL || dot == name || !isalpha((unsigned char)dot[1]) ? NULL : dot;
}

/* Returns the format of an extension; NULL if it is that of none. */
static const char *format_of(const char *extension)
{
    static const struct {
        const char *extension;
        const char *format;
    } extensions[] = {{".json", "json"},  {".ndjson", "ndjson"},   {".jsonl", "ndjson"},
                      {".csv", "csv"},    {".md", "md"},           {".html", "html"},
                      {".svg", "svg"},    {".png", "png"},         {".pdf", "pdf"},
                      {".gp", "gnuplot"}, {".gnuplot", "gnuplot"}, {".tap", "tap"},
                      {".xml", "junit"},  {".txt", "text"},        {".log", "text"}};
    const char *format = NULL;
    for (size_t i = 0; i < COUNT(extensions) && format == NULL; i++) {
        format = strcasecmp(extension, extensions[i].extension) == 0 ? extensions[i].format : NULL;
    }
    return format;
}

/* Refuses a script or a manifest with the extension of another format. */
static enum roof_status check_script(const struct cli_options *out, const char *extension,
                                     struct roof_error *error)
{
    const char *const format = format_of(extension);
    return format == NULL || strcmp(format, "text") == 0
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "cannot write '%s': " ROOF_KEY(
                                    "emit") " writes a script (.sh), or with dynamo a manifest "
                                            "(.yaml)",
                                out->output);
}

/* Finds the format of an output by its extension, and refuses an unknown one. */
static enum roof_status find_by_extension(struct cli_options *out, const char *extension,
                                          struct roof_error *error)
{
    const char *const format = format_of(extension);
    return format != NULL &&
                   roof_answer_format_find(&out->format, out->command->id, format, NULL) == ROOF_OK
               ? ROOF_OK
               : refuse_extension(out, format, error);
}

/* Finds the format: by -f, or else by the extension of the output. A script or a manifest of an
 * engine has an extension of its own. */
static enum roof_status find_format(struct cli_options *out, struct roof_error *error)
{
    const bool named = out->output != NULL && strcmp(out->output, "-") != 0;
    const char *const extension = named ? extension_of(out->output) : NULL;
    const char *const name = out->own[ROOF_INPUT_FORMAT];
    if (name != NULL) {
        return roof_answer_format_find(&out->format, out->command->id, name, error);
    }
    if (extension != NULL && roof_asked(out->question, ROOF_INPUT_EMIT)) {
        return check_script(out, extension, error);
    }
    if (extension != NULL) {
        return find_by_extension(out, extension, error);
    }
    return out->command->id == ROOF_COMMAND_PAGE /* its only format */
               ? roof_answer_format_find(&out->format, out->command->id, "html", error)
               : ROOF_OK;
}

enum roof_status cli_options_read(struct cli_options *out, const struct cli_command *command,
                                  int argc, char **argv, struct roof_error *error)
{
    struct table t = {.size = 0};
    *out = (struct cli_options){.command = command};
    cli_forget_words();
    TRY(cut_command(out, &argc, argv, error));
    TRY(roof_question_new(&out->question, error));
    const enum roof_status status = parse(out, &t, argc, argv, error);
    arg_freetable(t.entry, t.size);
    if (status != ROOF_OK || out->help) {
        return status;
    }
    out->output = out->own[ROOF_INPUT_OUTPUT];
    TRY(cli_check_output(out, error));
    return find_format(out, error);
}

void cli_options_free(struct cli_options *options)
{
    roof_question_free(options->question);
}
