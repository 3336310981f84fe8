// SPDX-License-Identifier: MIT
#include <argtable2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* The argtable of a command: one entry per allowed input, then the operands, --help and the end. */
struct table {
    void *entry[ROOF_INPUT_COUNT + 3];
    size_t input[ROOF_INPUT_COUNT]; /* which input an entry is */
    char letter[ROOF_INPUT_COUNT][2];
    size_t count;
    struct arg_str *operands;
    struct arg_lit *help;
    struct arg_end *end;
    size_t size; /* of entry */
};

/* Operands are counted by argtable up to this; more than a command takes is our own message. */
#define OPERANDS_SEEN (CLI_OPERANDS_MAX + 1)
/* Room for a path, and more than the system takes. */
#define PATH_SIZE 4100
/* Most operands of a command that takes no list of files. */
#define OPERANDS_MAX 2

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
                                                    input->many ? CLI_MANY_MAX : 1, input->help);
        t->input[t->count++] = i;
    }
    t->operands = arg_strn(NULL, NULL, command->operands, 0, OPERANDS_SEEN, NULL);
    t->help = arg_lit0("h", "help", "print this help");
    t->end = arg_end(8);
    t->size = t->count;
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

/* argtable takes an empty text after a long option for none, and does not name the option. */
static enum roof_status check_empty(int argc, char **argv, struct roof_error *error)
{
    for (int i = 1; i < argc; i++) {
        const char *const equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        if (*argv[i] == '\0' && strncmp(argv[i - 1], "--", 2) == 0) {
            return roof_error_set(error, ROOF_USAGE, "empty text after '%s'", argv[i - 1]);
        }
        if (equals != NULL && equals[1] == '\0') {
            return roof_error_set(error, ROOF_USAGE, "empty text after '%s'", argv[i]);
        }
    }
    return ROOF_OK;
}

/* getopt takes any unambiguous beginning of a long option; scripts would break when one is added,
 * so only whole names pass. */
static enum roof_status check_long_options(const struct table *t, int argc, char **argv,
                                           struct roof_error *error)
{
    char dashed[ROOF_INPUT_COUNT + 1][ROOF_INPUT_NAME_SIZE];
    const char *known[ROOF_INPUT_COUNT + 1];
    char flags[ROOF_INPUT_COUNT + 1];
    size_t count = 0;
    for (size_t i = 0; i + 1 < t->size; i++) {
        const struct arg_hdr *const header = t->entry[i];
        if (header->longopts != NULL) {
            snprintf(dashed[count], sizeof dashed[count], "--%s", header->longopts);
            flags[count] = header->flag;
            known[count] = dashed[count];
            count++;
        }
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            continue;
        }
        const size_t length = strcspn(argv[i], "=");
        bool found = false;
        char flag = 0;
        for (size_t k = 0; k < count && !found; k++) {
            found = strlen(known[k]) == length && memcmp(known[k], argv[i], length) == 0;
            flag = flags[k];
        }
        if (found && argv[i][length] == '=' && (flag & ARG_HASVALUE) == 0) {
            argv[i][length] = '\0';
            return roof_error_set(error, ROOF_USAGE, "the option %s takes no value", argv[i]);
        }
        if (!found) {
            argv[i][length] = '\0';
            return roof_unknown_name(error, ROOF_USAGE, "option", argv[i], known, count);
        }
    }
    return ROOF_OK;
}

/* The first thing argtable found wrong, as one line. */
static enum roof_status parse_error(const struct table *t, struct roof_error *error)
{
    const int code = t->end->error[0];
    const char *const text = t->end->argval[0] == NULL ? "" : t->end->argval[0];
    if (t->end->parent[0] != t->end) { /* an option given more often than it may be */
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
        return roof_error_set(error, ROOF_USAGE, "the option '%s' needs a value", text);
    case ARG_EMALLOC:
        return roof_no_memory(error);
    case ARG_ENOMATCH:
        return roof_error_set(error, ROOF_USAGE, "unexpected argument '%s'", text);
    case ARG_ELONGOPT: /* a flag with a value: --causal=1 */
        return roof_error_set(error, ROOF_USAGE, "'%s' is not an option, or takes no value", text);
    default: /* the letter of an unknown short option */
        return roof_error_set(error, ROOF_USAGE, "unknown option -%c; see --help", code);
    }
}

/* The choices that predict has are those of the other tables, and html. */
static enum roof_status read_output(struct cli_options *out, struct roof_error *error)
{
    const bool predict = out->command == ROOF_COMMAND_PREDICT;
    const size_t input = predict ? ROOF_INPUT_PREDICT_FORMAT : ROOF_INPUT_FORMAT;
    int64_t output = ROOF_OUTPUT_TEXT;
    const enum roof_status status = cli_choice(&output, out, input, error);
    out->html = output > ROOF_OUTPUT_MARKDOWN || (predict && out->value[input] == NULL &&
                                                  cli_page_name(out->value[ROOF_INPUT_OUTPUT]));
    out->output = out->html ? ROOF_OUTPUT_TEXT : (enum roof_output)output;
    return status;
}

/* Whether -o would put a file in place of one that is read, or write into it on the way. */
static enum roof_status check_replaced(const char *output, const char *input,
                                       struct roof_error *error)
{
    return cli_output_replaces(output, input)
               ? roof_error_set(error, ROOF_USAGE, "-o %s would replace %s, which is read", output,
                                input)
           : cli_output_spoils(output, input)
               ? roof_error_set(error, ROOF_USAGE, "%s is written while -o %s is made; rename it",
                                input, output)
               : ROOF_OK;
}

/* The same of what may be a path, or a known name that a file has, too. */
static enum roof_status check_path(const char *output, const char *path, struct roof_error *error)
{
    static const char *const ends[] = {".json", ".gguf", ".safetensors"};
    bool file = strchr(path, '/') != NULL;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !file; i++) {
        const size_t length = strlen(path);
        file = length > strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0;
    }
    return file ? check_replaced(output, path, error) : ROOF_OK;
}

/* The same of a list of names. */
static enum roof_status check_named(const char *output, const char *names, struct roof_error *error)
{
    struct stat info;
    enum roof_status status = ROOF_OK;
    if (names == NULL || stat(names, &info) == 0) { /* with commas and all */
        return names == NULL ? ROOF_OK : check_path(output, names, error);
    }
    for (const char *name = names, *next = NULL; name != NULL && status == ROOF_OK; name = next) {
        char path[PATH_SIZE];
        const size_t length = strcspn(name, ",");
        next = name[length] == ',' ? name + length + 1 : NULL;
        if (length < sizeof path) { /* else it is longer than a path can be */
            memcpy(path, name, length);
            path[length] = '\0';
            status = check_path(output, path, error);
        }
    }
    return status;
}

/* The same of a model, whose config.json is in its folder or beside its weights. */
static enum roof_status check_model(const char *output, const char *name, struct roof_error *error)
{
    char path[PATH_SIZE];
    struct stat info;
    const bool folder = stat(name, &info) == 0 && S_ISDIR(info.st_mode);
    const char *const slash = strrchr(name, '/');
    const size_t length = folder ? strlen(name) : slash == NULL ? 0 : (size_t)(slash - name);
    const bool weights = strstr(name, ".safetensors") != NULL;
    enum roof_status status = check_named(output, name, error);
    if (status == ROOF_OK && (folder || weights) && length < PATH_SIZE / 2) {
        snprintf(path, sizeof path, "%.*s%sconfig.json", (int)length, name, length == 0 ? "" : "/");
        status = check_replaced(output, path, error);
    }
    return status;
}

static enum roof_status check_output(const struct cli_options *options, struct roof_error *error)
{
    static const size_t named[] = {ROOF_INPUT_HARDWARE, ROOF_INPUT_CALIBRATION, ROOF_INPUT_LAYOUT,
                                   ROOF_INPUT_DRAFT_MODEL};
    const bool files =
        options->command == ROOF_COMMAND_CHECK || options->command == ROOF_COMMAND_COMPARE;
    const char *const output = options->value[ROOF_INPUT_OUTPUT];
    const char *const from = options->value[ROOF_INPUT_FROM];
    if (output == NULL) {
        return ROOF_OK;
    }
    enum roof_status status = from == NULL ? ROOF_OK : check_replaced(output, from, error);
    for (int i = 0; i < options->operand_count && status == ROOF_OK; i++) {
        status = files ? check_replaced(output, options->operand[i], error)
                       : check_model(output, options->operand[i], error);
    }
    for (size_t i = 0; i < sizeof named / sizeof *named && status == ROOF_OK; i++) {
        status = check_named(output, options->value[named[i]], error);
    }
    return status;
}

/* Where the values of an option go that may be given several times; NULL: of another. */
static struct cli_many *many_of(struct cli_options *options, size_t input)
{
    return input == ROOF_INPUT_SET     ? &options->set
           : input == ROOF_INPUT_CLASS ? &options->classes
           : input == ROOF_INPUT_PRICE ? &options->prices
           : input == ROOF_INPUT_LINE  ? &options->lines
                                       : NULL;
}

/* Of KEY=VALUE the last of two values would win without a word. A key that covers another stands
 * beside it: linear and then q. */
static enum roof_status check_key(const struct cli_many *many, size_t input, const char *text,
                                  struct roof_error *error)
{
    const size_t length = strcspn(text, "=");
    const bool keyed = input == ROOF_INPUT_SET || input == ROOF_INPUT_CLASS;
    for (int i = 0; keyed && i < many->count; i++) {
        if (strcspn(many->value[i], "=") == length && strncmp(many->value[i], text, length) == 0) {
            return roof_error_set(error, ROOF_USAGE, "--%s %s: %.*s is given already",
                                  roof_input(input)->option, text, (int)length, text);
        }
    }
    return ROOF_OK;
}

enum roof_status cli_options_add(struct cli_options *options, size_t input, const char *text,
                                 struct roof_error *error)
{
    struct cli_many *const many = many_of(options, input);
    if (options->value[input] == NULL) {
        options->value[input] = text;
    }
    if (many == NULL) {
        return ROOF_OK;
    }
    if (many->count == CLI_MANY_MAX) {
        return roof_error_set(error, ROOF_USAGE, "the option --%s is given more than %d times",
                              roof_input(input)->option, CLI_MANY_MAX);
    }
    const enum roof_status status = check_key(many, input, text, error);
    if (status == ROOF_OK) {
        many->value[many->count++] = text;
    }
    return status;
}

enum roof_status cli_options(struct cli_options *out, const struct cli_command *command, int argc,
                             char **argv, struct roof_error *error)
{
    *out = (struct cli_options){.command = command->id};
    struct table t;
    enum roof_status status = build(&t, command, error);
    if (status == ROOF_OK) {
        status = check_empty(argc, argv, error);
    }
    if (status == ROOF_OK) {
        status = check_long_options(&t, argc, argv, error);
    }
    if (status == ROOF_OK) {
        const int errors = arg_parse(argc, argv, t.entry);
        if (t.help->count > 0) {
            cli_help(command, t.operands->count > 0 ? t.operands->sval[0] : NULL);
            out->help = true;
        } else if (errors > 0) {
            status = parse_error(&t, error);
        }
    }
    if (status == ROOF_OK && !out->help) {
        for (size_t i = 0; i < t.count; i++) {
            const size_t input = t.input[i];
            if (roof_input(input)->kind == ROOF_INPUT_FLAG) {
                out->value[input] = ((struct arg_lit *)t.entry[i])->count > 0 ? "" : NULL;
                continue;
            }
            const struct arg_str *const entry = t.entry[i];
            if (entry->count > 0 && strncmp(entry->sval[0], "--", 2) == 0) {
                char name[ROOF_INPUT_NAME_SIZE];
                status = roof_error_set(error, ROOF_USAGE, "%s needs a value, not the option %s",
                                        roof_input_name(name, roof_input(input)), entry->sval[0]);
            }
            for (int k = 0; k < entry->count && status == ROOF_OK; k++) {
                status = cli_options_add(out, input, entry->sval[k], error);
            }
        }
        const int most = command->id == ROOF_COMMAND_CHECK ? CLI_OPERANDS_MAX : OPERANDS_MAX;
        for (int i = 0; i < t.operands->count; i++) {
            if (i == most) {
                status = roof_error_set(error, ROOF_USAGE, "unexpected argument '%s'",
                                        t.operands->sval[i]);
                break;
            }
            out->operand[out->operand_count++] = t.operands->sval[i];
        }
    }
    arg_freetable(t.entry, t.size);
    if (status == ROOF_OK && !out->help) {
        status = check_output(out, error);
    }
    /* Of records some may be of requests. */
    if (status == ROOF_OK && out->value[ROOF_INPUT_PHASE] != NULL &&
        (out->value[ROOF_INPUT_PROMPT] != NULL || out->value[ROOF_INPUT_GENERATE] != NULL) &&
        out->value[ROOF_INPUT_FROM] == NULL) {
        status = roof_error_set(error, ROOF_USAGE,
                                "--prompt and --generate are a whole request, without --phase");
    }
    return status == ROOF_OK ? read_output(out, error) : status;
}

bool cli_is_model(const struct cli_options *options)
{
    return options->operand_count > 0 && strcmp(options->operand[0], "model") == 0;
}

enum roof_status cli_operator(enum roof_operator *out, const struct cli_options *options,
                              struct roof_error *error)
{
    if (options->operand_count == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "which operator or model? for example: gemm -m 128 -n 4096 -k 4096, "
                              "or: model llama-3-8b");
    }
    if (options->operand_count > 1) {
        return roof_error_set(error, ROOF_USAGE, "unexpected argument '%s'", options->operand[1]);
    }
    return roof_operator_find(out, options->operand[0], error);
}

/* One input that is a field of the scenario. */
static enum roof_status put_input(struct roof_scenario *out, size_t id, const char *text,
                                  struct roof_error *error)
{
    const struct roof_input *const input = roof_input(id);
    int64_t value = 1;
    enum roof_status status = ROOF_OK;
    if (input->kind == ROOF_INPUT_NUMBER) {
        return roof_input_parse_number(out, input, text, error);
    }
    if (input->kind != ROOF_INPUT_FLAG) {
        status = roof_input_parse(&value, input, text, error);
        if (status != ROOF_OK && strpbrk(text, ",:") != NULL) {
            status = roof_error_set(error, ROOF_USAGE,
                                    "'%s': lists and ranges go with roofline sweep", text);
        }
    }
    if (status == ROOF_OK) {
        roof_input_put(out, input, value);
    }
    return status;
}

enum roof_status cli_fields(struct roof_scenario *out, const struct cli_options *options,
                            struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < ROOF_INPUT_COUNT && status == ROOF_OK; i++) {
        if (options->value[i] != NULL && roof_input(i)->field) {
            status = put_input(out, i, options->value[i], error);
        }
    }
    return status;
}

enum roof_status cli_scenario(struct roof_scenario *out, const struct cli_options *options,
                              struct roof_error *error)
{
    const bool model = cli_is_model(options);
    /* The records of a file name their own. */
    const bool any = options->value[ROOF_INPUT_FROM] != NULL && options->operand_count == 0;
    roof_scenario_init(out);
    enum roof_status status =
        model || any ? ROOF_OK : cli_operator(&out->common.op, options, error);
    for (size_t i = 0; i < ROOF_INPUT_COUNT && status == ROOF_OK; i++) {
        if (options->value[i] == NULL) {
            continue;
        }
        status = roof_input_taken(roof_input(i), model, error);
        if (status == ROOF_OK && i < ROOF_DIM_COUNT && !model && !any) {
            status = roof_operator_takes(out->common.op, (enum roof_dimension)i, error);
        }
    }
    if (status == ROOF_OK) {
        status = cli_fields(out, options, error);
    }
    return status == ROOF_OK && model ? cli_model_options(out, options, error) : status;
}

enum roof_status cli_model_options(struct roof_scenario *out, const struct cli_options *options,
                                   struct roof_error *error)
{
    if (options->value[ROOF_INPUT_LAYOUT] != NULL &&
        (options->value[ROOF_INPUT_WEIGHTS] != NULL ||
         options->value[ROOF_INPUT_PRECISION_BOTH] != NULL)) {
        return roof_error_set(error, ROOF_USAGE,
                              "--layout gives the formats of the weights; change one with "
                              "--class NAME=P, not with -w or -p");
    }
    return roof_scenario_classes(out, options->classes.value, options->classes.count, error);
}

/* Whether what is printed says what was assumed. */
static bool in_report(const struct cli_options *options)
{
    return options->command == ROOF_COMMAND_PREDICT && options->output == ROOF_OUTPUT_TEXT &&
           options->value[ROOF_INPUT_FROM] == NULL && options->value[ROOF_INPUT_EXPLAIN] == NULL;
}

enum roof_status cli_model(struct roof_model **out, const char *name,
                           const struct cli_options *options, struct roof_error *error)
{
    *out = NULL;
    struct cli_directories directories;
    const char *const wanted = options->value[ROOF_INPUT_LAYOUT];
    enum roof_status status = cli_directories(&directories, error);
    if (status == ROOF_OK) {
        status = roof_model_load(out, name, directories.path, error);
    }
    const bool as_stored =
        wanted != NULL && strcmp(wanted, "checkpoint") == 0 && status == ROOF_OK && (*out)->stored;
    if (status == ROOF_OK && wanted != NULL && !as_stored) {
        status = roof_layout_apply(*out, wanted, directories.path, error);
    }
    if (status == ROOF_OK && (options->value[ROOF_INPUT_WEIGHTS] != NULL ||
                              options->value[ROOF_INPUT_PRECISION_BOTH] != NULL)) {
        roof_model_forget_formats(*out); /* a file's own, where the user asks for others */
    }
    if (status == ROOF_OK && !in_report(options)) {
        cli_remark(*out);
    }
    free(directories.owned);
    if (status != ROOF_OK) {
        roof_model_free(*out);
        *out = NULL;
    }
    return status;
}

enum roof_status cli_draft(struct roof_model **out, struct roof_scenario *scenario,
                           const struct cli_options *options, struct roof_error *error)
{
    const char *const name = options->value[ROOF_INPUT_DRAFT_MODEL];
    struct cli_directories directories;
    *out = NULL;
    const bool acceptance = options->value[ROOF_INPUT_ACCEPTANCE] != NULL;
    if ((name != NULL || acceptance) && options->value[ROOF_INPUT_DRAFT_TOKENS] == NULL &&
        options->value[ROOF_INPUT_FROM] == NULL &&
        options->command != ROOF_COMMAND_COMPARE) { /* records may say it */
        return roof_error_set(
            error, ROOF_USAGE, "--%s needs --draft-tokens N",
            roof_input(name == NULL ? ROOF_INPUT_ACCEPTANCE : ROOF_INPUT_DRAFT_MODEL)->option);
    }
    if (name == NULL) {
        return ROOF_OK;
    }
    enum roof_status status = cli_directories(&directories, error);
    if (status == ROOF_OK) {
        status = roof_model_load(out, name, directories.path, error);
    }
    if (status == ROOF_OK) {
        cli_remark(*out);
    }
    free(directories.owned);
    scenario->draft = *out;
    return status;
}

enum roof_status cli_choice(int64_t *out, const struct cli_options *options, size_t input,
                            struct roof_error *error)
{
    *out = 0;
    return options->value[input] == NULL
               ? ROOF_OK
               : roof_input_parse(out, roof_input(input), options->value[input], error);
}

enum roof_status cli_directories(struct cli_directories *out, struct roof_error *error)
{
    *out = (struct cli_directories){0};
    size_t count = 0;
    const char *const data = getenv("ROOFLINE_DATA");
    if (data != NULL && *data != '\0') {
        out->path[count++] = data;
    }
    const char *home = getenv("XDG_DATA_HOME");
    const char *below = "/roofline";
    if (home == NULL || *home == '\0') {
        home = getenv("HOME");
        below = "/.local/share/roofline";
    }
    if (home != NULL && *home != '\0') {
        const size_t size = strlen(home) + strlen(below) + 1;
        out->owned = malloc(size);
        if (out->owned == NULL) {
            return roof_no_memory(error);
        }
        snprintf(out->owned, size, "%s%s", home, below);
        out->path[count++] = out->owned;
    }
    return ROOF_OK;
}

/* Whether nobody asks for an expected time, which takes several times as long as a bound. */
static bool only_bounds(const struct cli_options *options)
{
    const char *const columns = options->value[ROOF_INPUT_COLUMNS];
    const bool predicted =
        options->command == ROOF_COMMAND_PREDICT || options->command == ROOF_COMMAND_SWEEP;
    return predicted && !cli_is_model(options) && columns != NULL &&
           strstr(columns, "expected") == NULL && options->value[ROOF_INPUT_CALIBRATION] == NULL;
}

enum roof_status cli_hardware(struct roof_hardware **out, const char *name,
                              const struct cli_options *options, struct roof_error *error)
{
    *out = NULL;
    if (name != NULL && strchr(name, ',') != NULL && strchr(name, '/') == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "'%s': one device here; lists of devices go with roofline sweep",
                              name);
    }
    struct cli_directories directories;
    enum roof_status status = cli_directories(&directories, error);
    if (status == ROOF_OK) {
        status = roof_hardware_load(out, name == NULL ? ROOF_DEFAULT_HARDWARE : name,
                                    directories.path, error);
    }
    for (int i = 0; i < options->set.count && status == ROOF_OK; i++) {
        status = roof_hardware_set(*out, options->set.value[i], error);
    }
    if (status == ROOF_OK && !only_bounds(options)) {
        status = roof_device_calibrate(*out, options->value[ROOF_INPUT_CALIBRATION],
                                       directories.path, error);
    }
    free(directories.owned);
    if (status != ROOF_OK) {
        cli_hardware_free(*out);
        *out = NULL;
    }
    return status;
}

void cli_hardware_free(struct roof_hardware *hardware)
{
    roof_device_free(hardware);
}

enum roof_status cli_product(struct roof_hardware **out, const struct roof_hardware *hardware,
                             struct roof_error *error)
{
    *out = NULL;
    if (hardware->basis != ROOF_BASIS_DOCUMENTS || hardware->product == NULL) {
        return ROOF_OK;
    }
    return roof_hardware_load(out, hardware->product, NULL, error);
}
