// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "cli.h"
#include "decide/engine.h"
#include "model/layout.h"
#include "model/load.h"
#include "report/rows.h"

/* --- candidates for the typed word ---------------------------------------------------------- */

/* The typed word, and the candidates for it. */
struct offers {
    struct roof_text *text;
    const char *kept; /* the beginning that all candidates share, kept_length long */
    int kept_length;
    const char *typed; /* the rest of the typed word */
};

/* Offers a name, with a description that may be NULL, if it begins with the typed text. */
static void offer(struct offers *o, const char *name, const char *description)
{
    if (strncmp(name, o->typed, strlen(o->typed)) == 0) {
        roof_text_printf(o->text, "%.*s%s%s%s\n", o->kept_length, o->kept, name,
                         description == NULL ? "" : "\t", description == NULL ? "" : description);
    }
}

static void offer_files(struct offers *o)
{
    roof_text_put(o->text, "/\n");
}

/* Begins the candidates for a word, all of which start with its first `length` characters. */
static void set_kept_length(struct offers *o, const char *word, size_t length)
{
    o->kept = word;
    o->kept_length = (int)length;
    o->typed = word + length;
}

/* Offers the names of built-in files and of those in search directories. */
static enum roof_status offer_ids(struct offers *o,
                                  enum roof_status (*ids_of)(struct roof_text *, size_t *,
                                                             const char *const *,
                                                             struct roof_error *),
                                  struct roof_error *error)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    struct roof_store *store = NULL;
    size_t count = 0;
    enum roof_status status = cli_store(&store, error);
    if (status == ROOF_OK) {
        status = ids_of(&ids, &count, roof_store_folders(store), error);
    }
    const char *id = ids.data;
    for (size_t i = 0; i < count && status == ROOF_OK; i++) {
        offer(o, id, NULL);
        id += strlen(id) + 1;
    }
    roof_text_free(&ids);
    roof_store_free(store);
    return status;
}

static enum roof_status offer_hardware(struct offers *o, struct roof_error *error)
{
    return offer_ids(o, roof_hardware_ids, error);
}

static enum roof_status offer_models(struct offers *o, struct roof_error *error)
{
    return offer_ids(o, roof_model_ids, error);
}

static enum roof_status offer_layouts(struct offers *o, struct roof_error *error)
{
    return offer_ids(o, roof_layout_ids, error);
}

static enum roof_status offer_engines(struct offers *o, struct roof_error *error)
{
    struct roof_engines *engines = NULL;
    const enum roof_status status = roof_engines_load(&engines, error);
    for (size_t i = 0; status == ROOF_OK && i < engines->count; i++) {
        offer(o, engines->engine[i].id, engines->engine[i].name);
    }
    roof_engines_free(engines);
    return status;
}

static enum roof_status offer_precisions(struct offers *o, struct roof_error *error)
{
    (void)error;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_format *const format = roof_format((enum roof_precision)p);
        offer(o, format->name, format->label);
    }
    return ROOF_OK;
}

static enum roof_status offer_operators(struct offers *o, struct roof_error *error)
{
    (void)error;
    for (int i = 0; i < ROOF_OPERATOR_COUNT; i++) {
        const struct roof_operator_row *const row = roof_operator_row((enum roof_operator)i);
        offer(o, row->name, row->summary);
    }
    return ROOF_OK;
}

/* The kinds of names, with their words in `list`. */
static const struct names {
    const char *list;
    enum roof_table_kind kind;
    enum roof_status (*offer)(struct offers *, struct roof_error *);
} kinds_of_names[] = {{"hardware", ROOF_TABLE_HARDWARE, offer_hardware},
                      {"precisions", ROOF_TABLE_PRECISIONS, offer_precisions},
                      {"operators", ROOF_TABLE_OPERATORS, offer_operators},
                      {"models", ROOF_TABLE_MODELS, offer_models},
                      {"layouts", ROOF_TABLE_LAYOUTS, offer_layouts},
                      {"engines", ROOF_TABLE_ENGINES, offer_engines}};

static const struct names *names_of(const char *list)
{
    for (size_t i = 0; list != NULL && i < COUNT(kinds_of_names); i++) {
        if (strcmp(kinds_of_names[i].list, list) == 0) {
            return &kinds_of_names[i];
        }
    }
    return NULL;
}

static enum roof_status offer_names(struct offers *o, const char *list, struct roof_error *error)
{
    const struct names *const names = names_of(list);
    return names == NULL ? ROOF_OK : names->offer(o, error);
}

/* The options whose values are names. */
static const struct {
    size_t input;
    const char *list;
    const char *beside; /* a keyword that is also a value */
} named_values[] = {
    {ROOF_INPUT_HARDWARE, "hardware", NULL},      {ROOF_INPUT_EXPLAIN, "hardware", NULL},
    {ROOF_INPUT_EXPLAIN, "precisions", NULL},     {ROOF_INPUT_FORMATS, "precisions", "all"},
    {ROOF_INPUT_CEILINGS, "precisions", NULL},    {ROOF_INPUT_DRAFT_MODEL, "models", NULL},
    {ROOF_INPUT_LAYOUT, "layouts", "checkpoint"}, {ROOF_INPUT_ENGINE, "engines", "all"},
    {ROOF_INPUT_EMIT, "engines", "dynamo"},       {ROOF_INPUT_HOST, "hardware", NULL}};

/* --- the line ------------------------------------------------------------------------------ */

/* A command line before the typed word. */
struct line {
    const struct cli_command *command;
    const char *operand[CLI_OPERANDS_MAX]; /* NULL: not there */
    int operand_count;
    size_t input; /* the option that expects a value next; ROOF_INPUT_COUNT: none */
};

/* Finds the option of a command by a word, "-H" or "--hardware"; ROOF_INPUT_COUNT: none. */
static size_t find_option(const struct cli_command *command, const char *word, size_t length)
{
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_input *const input = roof_input(i);
        const bool is_letter = length == 2 && word[0] == '-' && word[1] == input->letter;
        const bool is_long = length > 3 && strncmp(word, "--", 2) == 0 &&
                             strlen(input->option) == length - 2 &&
                             strncmp(word + 2, input->option, length - 2) == 0;
        if (roof_input_allowed(i, command->id) && (is_letter || is_long)) {
            return i;
        }
    }
    return ROOF_INPUT_COUNT;
}

static void read_line(struct line *line, int count, char **words)
{
    line->input = ROOF_INPUT_COUNT;
    for (int i = 0; i < count; i++) {
        if (line->input < ROOF_INPUT_COUNT) { /* this word is its value */
            line->input = ROOF_INPUT_COUNT;
        } else if (words[i][0] == '-' && words[i][1] != '\0') {
            const size_t input = find_option(line->command, words[i], strlen(words[i]));
            line->input = input < ROOF_INPUT_COUNT && roof_input(input)->kind != ROOF_INPUT_FLAG
                              ? input
                              : ROOF_INPUT_COUNT;
        } else if (line->operand_count < CLI_OPERANDS_MAX) {
            line->operand[line->operand_count++] = words[i];
        }
    }
}

/* Offers the keys of the rows that the command prints. */
static enum roof_status offer_columns(struct offers *o, const struct line *line,
                                      struct roof_error *error)
{
    const bool monitor = line->command->id == ROOF_COMMAND_MONITOR;
    const struct names *const listed =
        line->command->id == ROOF_COMMAND_LIST ? names_of(line->operand[0]) : NULL;
    const bool model = line->operand_count > 0 && strcmp(line->operand[0], "model") == 0;
    const bool recommended = line->command->id == ROOF_COMMAND_RECOMMEND;
    const enum roof_table_kind kind =
        listed != NULL                      ? listed->kind
        : monitor                           ? ROOF_TABLE_SAMPLES
        : line->command->takes == CLI_MODEL ? ROOF_TABLE_SIMULATIONS
        : recommended ? (model ? ROOF_TABLE_PLANS : ROOF_TABLE_RECOMMENDATIONS)
                      : (model ? ROOF_TABLE_MODEL_PREDICTIONS : ROOF_TABLE_PREDICTIONS);
    struct roof_table table;
    struct roof_text header = ROOF_TEXT_INIT;
    enum roof_operator op = ROOF_OPERATOR_GEMM;
    if (line->operand_count > 0 && !model && listed == NULL) {
        (void)roof_operator_find(&op, line->operand[0], NULL);
    }
    enum roof_status status = roof_table_open(&table, ROOF_OUTPUT_CSV, kind, op, NULL, error);
    if (status == ROOF_OK) {
        roof_table_begin(&table, &header);
        status = header.failed ? roof_no_memory(error) : ROOF_OK;
    }
    char *rest = header.data;
    while (rest != NULL && *rest != '\0') {
        char *const key = rest;
        rest += strcspn(rest, ",\n");
        if (*rest != '\0') {
            *rest++ = '\0';
        }
        offer(o, key, NULL);
    }
    roof_text_free(&header);
    return status;
}

/* Tells whether an operator, or a model, has an objective. */
static bool has_objective(const struct line *line, size_t objective)
{
    enum roof_operator op = ROOF_OPERATOR_GEMM;
    const bool of_operators = objective <= ROOF_OBJECTIVE_TIME;
    return line->operand_count == 0 ||
           of_operators == (roof_operator_find(&op, line->operand[0], NULL) == ROOF_OK);
}

/* Offers values of an option, for the last item of a list. */
static enum roof_status offer_values(struct offers *o, const struct line *line, size_t id,
                                     struct roof_error *error)
{
    const struct roof_input *const input = roof_input(id);
    const char *const comma = strrchr(o->typed, ',');
    enum roof_status status = ROOF_OK;
    if (comma != NULL) {
        set_kept_length(o, o->kept, (size_t)(comma + 1 - o->kept));
    }
    for (size_t i = 0; input->choices != NULL && input->choices[i] != NULL; i++) {
        if (id != ROOF_INPUT_OBJECTIVE || has_objective(line, i)) {
            offer(o, input->choices[i], NULL);
        }
    }
    if (id == ROOF_INPUT_FORMAT) {
        const char *names[ROOF_ANSWER_FORMAT_COUNT];
        const size_t count = roof_answer_format_names(names, line->command->id);
        for (size_t i = 0; i < count; i++) {
            offer(o, names[i], NULL);
        }
    }
    if (input->kind == ROOF_INPUT_PRECISION) {
        status = offer_precisions(o, error);
    }
    for (size_t i = 0; i < COUNT(named_values) && status == ROOF_OK; i++) {
        if (named_values[i].input == id) {
            status = offer_names(o, named_values[i].list, error);
            if (named_values[i].beside != NULL) {
                offer(o, named_values[i].beside, NULL);
            }
        }
    }
    if (id == ROOF_INPUT_COLUMNS && status == ROOF_OK) {
        status = offer_columns(o, line, error);
    }
    for (int i = 0; id == ROOF_INPUT_MAX_ACCURACY_LOSS && i < ROOF_ACCURACY_CLASS_COUNT; i++) {
        offer(o, roof_accuracy_name((enum roof_accuracy_class)i), NULL);
    }
    if (input->value != NULL && strstr(input->value, "FILE") != NULL) {
        offer_files(o);
    }
    return status;
}

static void offer_options(struct offers *o, const struct line *line)
{
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const char *const help =
            cli_help_of(line->command, line->operand_count > 0 ? line->operand[0] : NULL, i);
        if (help != NULL) {
            const char *const option = roof_input(i)->option;
            char name[ROOF_INPUT_NAME_SIZE];
            snprintf(name, sizeof name, "%s%s", strlen(option) > 1 ? "--" : "-", option);
            offer(o, name, help);
        }
    }
    offer(o, "--help", "print this help");
}

/* Tells whether the next operand must be a file. */
static bool file_is_next(const struct line *line)
{
    const bool graph = line->command->id == ROOF_COMMAND_PREDICT && line->operand_count == 1 &&
                       strcmp(line->operand[0], "graph") == 0;
    return graph || (line->operand_count == 0 && strstr(line->command->operands, "FILE") != NULL);
}

/* Offers the next operand, by its name in the usage line. */
static enum roof_status offer_operands(struct offers *o, const struct line *line,
                                       struct roof_error *error)
{
    const char *const usage = line->command->operands;
    const bool workload = strstr(usage, "WORKLOAD") != NULL;
    enum roof_status status = ROOF_OK;
    const bool model = (line->operand_count == 0 && line->command->takes == CLI_MODEL) ||
                       (line->operand_count == 1 && line->command->takes == CLI_STEP);
    if (model) {
        status = offer_models(o, error);
        offer_files(o);
    } else if (line->operand_count == 0 && workload) {
        status = offer_operators(o, error);
        offer(o, "model", "a whole model: its name or file comes next");
        if (line->command->id == ROOF_COMMAND_PREDICT) {
            offer(o, "graph", "stages of operators: their file comes next");
        }
        if (status == ROOF_OK && *o->typed != '\0') { /* a model needs no word before it */
            status = offer_models(o, error);
        }
    } else if (line->operand_count == 0 && line->command->takes == CLI_STEP) {
        offer(o, "model", "the steps of a model: its name or file comes next");
    } else if (file_is_next(line)) {
        offer_files(o);
    } else if (line->operand_count == 0 &&
               line->command->id != ROOF_COMMAND_SERVE) { /* a|b|c [...] */
        char name[32];
        for (const char *at = usage; at != NULL;) {
            const size_t length = strcspn(at, "| ");
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            offer(o, name, NULL);
            at = at[length] == '|' ? at + length + 1 : NULL;
        }
    } else if (line->operand_count == 1 && workload && strcmp(line->operand[0], "model") == 0) {
        const char *const comma = strrchr(o->typed, ',');
        set_kept_length(o, o->kept, comma == NULL ? 0 : (size_t)(comma + 1 - o->kept));
        status = offer_models(o, error);
        offer_files(o);
    } else if (line->operand_count == 1 && line->command->takes == CLI_MEASURED) {
        status = offer_models(o, error);
    } else if (line->operand_count == 1 && line->command->id == ROOF_COMMAND_LIST) {
        status = offer_names(o, line->operand[0], error);
    }
    return status;
}

/* Offers candidates for the last word of a line. The words do not include the name of the program.
 */
static enum roof_status offer_words(struct roof_text *text, int count, char **words,
                                    struct roof_error *error)
{
    size_t commands = 0;
    const struct cli_command *const command = cli_commands(&commands);
    const char *const word = words[count - 1];
    struct offers o = {.text = text};
    struct line line = {.command = NULL};
    set_kept_length(&o, word, 0);
    const bool help = strcmp(words[0], "help") == 0;
    if (count == 1 || (help && count == 2)) {
        for (size_t i = 0; i < commands; i++) {
            offer(&o, command[i].name, command[i].summary);
        }
    }
    if (count == 1) {
        offer(&o, "help", "the options of a command, and examples");
        offer(&o, "--help", NULL);
        offer(&o, "--version", NULL);
        return ROOF_OK;
    }
    for (size_t i = 0; i < commands; i++) {
        line.command = strcmp(command[i].name, words[0]) == 0 ? &command[i] : line.command;
    }
    if (line.command == NULL) {
        return ROOF_OK;
    }
    read_line(&line, count - 2, words + 1);
    if (line.input < ROOF_INPUT_COUNT) {
        return offer_values(&o, &line, line.input, error);
    }
    const size_t length = strcspn(word, "=");
    if (word[0] == '-' && word[length] == '=') {
        const size_t input = find_option(line.command, word, length);
        set_kept_length(&o, word, length + 1);
        return input < ROOF_INPUT_COUNT ? offer_values(&o, &line, input, error) : ROOF_OK;
    }
    if (word[0] == '-') {
        offer_options(&o, &line);
        return ROOF_OK;
    }
    return offer_operands(&o, &line, error);
}

/* Puts the script of a shell, or prints the help. */
static enum roof_status put_script(struct roof_text *text, const struct cli_options *options,
                                   struct roof_error *error)
{
    if (options->operand_count != 1) {
        return roof_error_set(error, ROOF_USAGE,
                              "give one shell, bash, zsh or fish; for example in ~/.bashrc: source "
                              "<(roofline completion bash)");
    }
    const char *script = NULL;
    TRY(cli_completion_script(&script, options->operand[0], error));
    roof_text_put(text, script);
    return ROOF_OK;
}

static enum roof_status read_script(struct roof_text *text, const struct cli_command *command,
                                    int argc, char **argv, struct roof_error *error)
{
    struct cli_options options;
    enum roof_status status = cli_options_read(&options, command, argc, argv, error);
    if (status == ROOF_OK && !options.help) {
        status = put_script(text, &options, error);
    }
    cli_options_free(&options);
    return status;
}

int cli_completion(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {.status = ROOF_OK};
    struct roof_text text = ROOF_TEXT_INIT;
    const bool words = argc > 2 && strcmp(argv[1], "words") ==
                                       0; /* options after "words" belong to the completed line */
    enum roof_status status = words ? offer_words(&text, argc - 2, argv + 2, &error)
                                    : read_script(&text, command, argc, argv, &error);
    if (status == ROOF_OK && text.failed) {
        status = roof_no_memory(&error);
    }
    if (status == ROOF_OK) {
        status = cli_output_all(NULL, text.data, text.length, &error);
    }
    roof_text_free(&text);
    return status == ROOF_OK ? 0 : cli_fail(command->name, &error);
}
