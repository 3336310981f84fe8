// SPDX-License-Identifier: MIT
/* Reads check files. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/check_private.h"
#include "ask/input_json.h"
#include "base/base.h"
#include "operator/operator.h"

/* A text that lives as long as the checks. */
struct roof_kept_text {
    struct roof_kept_text *next;
    char text[];
};

/* The state of reading one check, or the members above all checks. */
struct reader {
    struct roof_checks *checks;
    struct roof_checks_private *p;
    struct roof_error *error;
    const roof_json_value *defaults; /* inputs; NULL: none */
    struct roof_tolerance tolerance;
};
const char *roof_checks_keep(struct roof_checks_private *p, const char *text, size_t length)
{
    struct roof_kept_text *const kept = malloc(sizeof *kept + length + 1);
    if (kept == NULL) {
        return NULL;
    }
    memcpy(kept->text, text, length);
    kept->text[length] = '\0';
    kept->next = p->texts;
    p->texts = kept;
    return kept->text;
}

enum roof_status roof_checks_keep_text(const char **out, struct roof_checks_private *p,
                                       struct roof_text *text, struct roof_error *error)
{
    *out = text->failed ? NULL
                        : roof_checks_keep(p, text->length == 0 ? "" : text->data, text->length);
    roof_text_free(text);
    return *out == NULL ? roof_no_memory(error) : ROOF_OK;
}

/* --- members ------------------------------------------------------------------------------- */

static enum roof_status bad(const struct reader *r, const roof_json_value *at, const char *what)
{
    return roof_json_error(r->p->json, at, r->error, "%s", what);
}

/* Reads a member that is a line of text; *out is NULL when it is absent. */
static enum roof_status read_line(const char **out, const struct reader *r,
                                  const roof_json_value *object, const char *key)
{
    const roof_json_value *const node = roof_json_get(object, key);
    *out = node == NULL ? NULL : roof_json_line(node);
    return node == NULL || (*out != NULL && **out != '\0')
               ? ROOF_OK
               : roof_json_error(r->p->json, node, r->error, "%s must be a string of one line",
                                 key);
}

/* Reads "relative" and "absolute" of an object, each of which may be missing. */
static enum roof_status read_tolerance(struct roof_tolerance *out, const struct reader *r,
                                       const roof_json_value *object)
{
    static const char *const keys[] = {"relative", "absolute"};
    static const double most[] = {1, DBL_MAX}; /* a relative one of 1 allows 0 already */
    double value[2] = {0, 0};
    bool given = false;
    for (int i = 0; i < 2; i++) {
        const roof_json_value *const node = roof_json_get(object, keys[i]);
        if (node != NULL &&
            (!roof_json_number(&value[i], node) || value[i] < 0 || value[i] > most[i])) {
            return roof_json_error(r->p->json, node, r->error, "%s must be a number from 0 %s",
                                   keys[i], i == 0 ? "to 1" : "on");
        }
        given = given || node != NULL;
    }
    if (given) {
        *out = (struct roof_tolerance){value[0], value[1]};
    }
    return ROOF_OK;
}

/* Reads the member "tolerance" of the file or of a check. */
static enum roof_status read_tolerance_of(struct roof_tolerance *out, const struct reader *r,
                                          const roof_json_value *object)
{
    static const char *const known[] = {"relative", "absolute"};
    const roof_json_value *const node = roof_json_get(object, "tolerance");
    if (node == NULL) {
        return ROOF_OK;
    }
    if (!roof_json_is_object(node)) {
        return bad(r, node, "tolerance must be {\"relative\": ..., \"absolute\": ...}");
    }
    TRY(roof_json_only(r->p->json, node, known, COUNT(known), r->error));
    return read_tolerance(out, r, node);
}

/* --- inputs -------------------------------------------------------------------------------- */

/* The commands that a check may ask; the first where it names none. */
static const struct {
    const char *name;
    enum roof_command command;
} commands[] = {{"predict", ROOF_COMMAND_PREDICT},
                {"recommend", ROOF_COMMAND_RECOMMEND},
                {"simulate", ROOF_COMMAND_SIMULATE}};

/* Tells if a check can give an input: the document that answers depends on it. */
static bool is_asked(size_t id)
{
    static const size_t others[] = {ROOF_INPUT_FROM,  ROOF_INPUT_EMIT,    ROOF_INPUT_SIZE,
                                    ROOF_INPUT_TITLE, ROOF_INPUT_COLUMNS, ROOF_INPUT_CHART,
                                    ROOF_INPUT_ROWS};
    bool asked = false;
    for (size_t i = 0; i < COUNT(commands); i++) {
        asked = asked || roof_input_allowed(id, commands[i].command);
    }
    asked = asked && !roof_input(id)->own;
    for (size_t i = 0; i < COUNT(others); i++) {
        asked = asked && id != others[i];
    }
    return asked;
}

/* Finds the number of an input by its key; ROOF_INPUT_COUNT when there is none. */
static size_t find_input(const char *key)
{
    size_t id = 0;
    while (id < ROOF_INPUT_COUNT && (!is_asked(id) || !roof_input_has_key(roof_input(id), key))) {
        id++;
    }
    return id;
}

/* The keys that name what is asked about. */
static const char *const workloads[] = {"operator", "model", "graph"};

static bool is_workload(const char *key)
{
    size_t i = 0;
    while (i < COUNT(workloads) && strcmp(key, workloads[i]) != 0) {
        i++;
    }
    return i < COUNT(workloads);
}

/* Refuses members that are no inputs. */
static enum roof_status check_inputs(const struct reader *r, const roof_json_value *inputs)
{
    char keys[ROOF_INPUT_COUNT][ROOF_INPUT_NAME_SIZE];
    const char *known[ROOF_INPUT_COUNT + COUNT(workloads)];
    size_t count = 0;
    for (; count < COUNT(workloads); count++) {
        known[count] = workloads[count];
    }
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        if (is_asked(id)) {
            known[count++] = roof_input_key(keys[id], roof_input(id));
        }
    }
    if (inputs != NULL && !roof_json_is_object(inputs)) {
        return roof_json_error(r->p->json, inputs, r->error, "%s must be an object of inputs",
                               roof_json_key(inputs));
    }
    for (const roof_json_value *m = roof_json_first(inputs); m != NULL; m = roof_json_next(m)) {
        const char *const key = roof_json_key(m);
        if (!is_workload(key) && find_input(key) == ROOF_INPUT_COUNT) {
            return roof_json_place_error(
                r->p->json, m, "", r->error,
                roof_unknown_name(r->error, ROOF_INVALID, "input", key, known, count));
        }
    }
    return ROOF_OK;
}

/* The check that gets inputs, and the file that they are kept in. */
struct receiver {
    const struct reader *r;
    struct roof_check *check;
};

static enum roof_status add_input(void *context, size_t id, const char *text, size_t length,
                                  struct roof_error *error)
{
    const struct receiver *const to = context;
    struct roof_checks_private *const p = to->r->p;
    struct roof_check_input *const input = &p->input[p->given++];
    input->input = id;
    input->text = roof_checks_keep(p, text, length);
    to->check->asked.count++;
    return input->text == NULL ? roof_no_memory(error) : ROOF_OK;
}

/* Reads the value of an input; null stands for an option that is not given, whatever the defaults
 * are. */
static enum roof_status read_input(const struct reader *r, struct roof_check *check, size_t id,
                                   const roof_json_value *node)
{
    struct receiver to = {r, check};
    return roof_input_from_json(r->p->json, id, node, &(struct roof_input_taker){&to, add_input},
                                r->error);
}

/* Tells if a check can take a default. */
static bool default_applies(const struct roof_check_asked *asked, size_t id)
{
    const bool model = strcmp(asked->workload, "model") == 0;
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    if (!roof_input_allowed(id, asked->command)) {
        return false;
    }
    if (model && asked->command == ROOF_COMMAND_RECOMMEND && id == ROOF_DIM_DEVICES) {
        return true; /* the one dimension of operators that plans have */
    }
    if (!model && id < ROOF_DIM_COUNT) {
        return roof_operator_find(&op, asked->workload, NULL) == ROOF_OK &&
               roof_operator_has(op, (enum roof_dimension)id);
    }
    return roof_input_taken(roof_input(id), model, NULL) == ROOF_OK;
}

/* Reads the name of an operator, that of a model or an object that is the config of one, or a graph
 * file or what stands in one. */
static enum roof_status read_named(const char **out, const struct reader *r,
                                   const roof_json_value *inputs, const char *key)
{
    const roof_json_value *const node = roof_json_get(inputs, key);
    size_t length = 0;
    if (strcmp(key, "operator") == 0 || !roof_json_is_object(node)) {
        return read_line(out, r, inputs, key);
    }
    const char *const span = roof_json_span(r->p->json, node, &length);
    *out = roof_checks_keep(r->p, span, length);
    return *out == NULL ? roof_no_memory(r->error) : ROOF_OK;
}

/* Reads what is asked about from the inputs, else from the defaults. */
static enum roof_status read_workload(const struct reader *r, struct roof_check *check,
                                      const roof_json_value *inputs, const roof_json_value *at)
{
    const roof_json_value *const of[] = {inputs, r->defaults};
    for (size_t i = 0; i < 2 && check->asked.workload == NULL; i++) {
        for (size_t k = 0; k < COUNT(workloads); k++) {
            const char *name = NULL;
            TRY(read_named(&name, r, of[i], workloads[k]));
            if (name != NULL && check->asked.workload != NULL) {
                return roof_json_error(r->p->json, roof_json_get(of[i], workloads[k]), r->error,
                                       "operator, model and graph exclude each other: give one");
            }
            if (name != NULL) {
                check->asked.workload = k == 0 ? name : workloads[k];
                check->asked.named = k == 0 ? NULL : name;
            }
        }
    }
    return check->asked.workload != NULL
               ? ROOF_OK
               : bad(r, at, "the inputs need an operator, a model or a graph");
}

static const char *command_name(enum roof_command command)
{
    size_t i = 0;
    while (commands[i].command != command) {
        i++;
    }
    return commands[i].name;
}

/* Refuses an input that the command of the check does not take, and names the first that does. */
static enum roof_status refuse_input(const struct reader *r, enum roof_command command, size_t id,
                                     const roof_json_value *member)
{
    const char *const key = roof_json_key(member);
    size_t i = 0;
    while (!roof_input_allowed(id, commands[i].command)) {
        i++; /* there is one, because a check can give the input */
    }
    return roof_json_error(r->p->json, member, r->error,
                           "%s does not take %s; %s does: \"command\": \"%s\"",
                           command_name(command), key, commands[i].name, commands[i].name);
}

static enum roof_status read_inputs(const struct reader *r, struct roof_check *check,
                                    const roof_json_value *inputs)
{
    check->asked.input = &r->p->input[r->p->given];
    for (const roof_json_value *m = roof_json_first(inputs); m != NULL; m = roof_json_next(m)) {
        const char *const key = roof_json_key(m);
        const size_t id = find_input(key);
        if (is_workload(key)) {
            continue;
        }
        if (!roof_input_allowed(id, check->asked.command)) {
            return refuse_input(r, check->asked.command, id, m);
        }
        TRY(read_input(r, check, id, m));
    }
    for (const roof_json_value *m = roof_json_first(r->defaults); m != NULL;
         m = roof_json_next(m)) {
        const char *const key = roof_json_key(m);
        const size_t id = find_input(key);
        if (!is_workload(key) && roof_json_get(inputs, key) == NULL &&
            default_applies(&check->asked, id)) {
            TRY(read_input(r, check, id, m));
        }
    }
    return ROOF_OK;
}

/* --- expectations -------------------------------------------------------------------------- */

/* Tells if a value has a type of the schema; null, which says that the key is absent, has any. */
static bool is_of_type(const roof_json_value *value, const char *type)
{
    double number = 0;
    bool boolean = false;
    if (roof_json_is_null(value)) {
        return true;
    }
    if (*type == '\0') { /* one of several: what a change raises is a number or a format */
        return roof_json_string(value) != NULL || roof_json_number(&number, value);
    }
    return strcmp(type, "string") == 0    ? roof_json_string(value) != NULL
           : strcmp(type, "boolean") == 0 ? roof_json_boolean(&boolean, value)
                                          : roof_json_number(&number, value);
}

/* Returns the values of a type of the schema in words. */
static const char *values_of(const char *type)
{
    return *type == '\0'                  ? "a number or a string"
           : strcmp(type, "boolean") == 0 ? "true or false"
           : strcmp(type, "string") == 0  ? "a string"
                                          : "a number";
}

static enum roof_status add_expectation(const struct reader *r, struct roof_check *check,
                                        const char *key, const roof_json_value *value,
                                        struct roof_tolerance tolerance)
{
    const size_t number = r->checks->values++;
    struct roof_expectation *const e = &check->expectation[check->count++];
    size_t length = 0;
    double unused = 0;
    const char *const span = roof_json_span(r->p->json, value, &length);
    *e = (struct roof_expectation){.key = key,
                                   .expected = roof_checks_keep(r->p, span, length),
                                   .number = roof_json_number(&unused, value),
                                   .tolerance = tolerance,
                                   .got = "null",
                                   .difference = ROOF_UNKNOWN};
    roof_json_place(r->p->json, value, &e->line, &e->column);
    r->p->place[number] = value;
    return e->expected == NULL ? roof_no_memory(r->error) : ROOF_OK;
}

/* Adds {"min": 100, "max": 130}, of which one may be missing. */
static enum roof_status add_range(const struct reader *r, struct roof_check *check,
                                  const roof_json_value *node)
{
    static const char *const known[] = {"min", "max"};
    double limit[] = {-HUGE_VAL, HUGE_VAL};
    struct roof_text shown = ROOF_TEXT_INIT;
    TRY(roof_json_only(r->p->json, node, known, COUNT(known), r->error));
    for (size_t i = 0; i < COUNT(known); i++) {
        const roof_json_value *const value = roof_json_get(node, known[i]);
        if (value != NULL && !roof_json_number(&limit[i], value)) {
            return roof_json_error(r->p->json, value, r->error, "%s must be a number", known[i]);
        }
    }
    if (limit[0] > limit[1]) {
        return bad(r, node, "min must not be above max");
    }
    TRY(add_expectation(r, check, roof_json_key(node), node, r->tolerance));
    struct roof_expectation *const e = &check->expectation[check->count - 1];
    e->range = true;
    e->min = limit[0];
    e->max = limit[1];
    roof_text_put(&shown, isinf(limit[1]) ? "at least " : isinf(limit[0]) ? "at most " : "");
    if (!isinf(limit[0])) {
        roof_text_number(&shown, limit[0]);
    }
    roof_text_put(&shown, isinf(limit[0]) || isinf(limit[1]) ? "" : " to ");
    if (!isinf(limit[1])) {
        roof_text_number(&shown, limit[1]);
    }
    return roof_checks_keep_text(&e->expected, r->p, &shown, r->error);
}

static bool is_range(const roof_json_value *node)
{
    return roof_json_get(node, "min") != NULL || roof_json_get(node, "max") != NULL;
}

/* Reads {"value": 117, "relative": 0.01}. */
static enum roof_status read_value(const roof_json_value **value, struct roof_tolerance *tolerance,
                                   const struct reader *r, const roof_json_value *node)
{
    static const char *const known[] = {"value", "relative", "absolute", "min", "max"};
    double number = 0;
    *value = roof_json_get(node, "value");
    TRY(roof_json_only(r->p->json, node, known, COUNT(known), r->error));
    TRY(read_tolerance(tolerance, r, node));
    if (*value == NULL) {
        return bad(r, node, "needs a value");
    }
    if (roof_json_count(node) > 1 && !roof_json_is_null(*value) &&
        !roof_json_number(&number, *value)) { /* null stands for a number that may come again */
        return bad(r, node, "a tolerance is for numbers only");
    }
    return ROOF_OK;
}

/* Reads "time_us": 117, or "time_us": {"value": 117, "relative": 0.01}. */
static enum roof_status read_expectation(const struct reader *r, struct roof_check *check,
                                         const roof_json_value *node)
{
    const enum roof_check_document document = roof_check_document(&check->asked);
    struct roof_schema **const schema = &r->p->schema[document];
    const roof_json_value *value = node;
    struct roof_tolerance tolerance = r->tolerance;
    const char *type = "";
    if (*schema == NULL) {
        TRY(roof_schema_open(schema, roof_check_schema(document), r->error));
    }
    TRY(roof_check_key_type(&type, *schema, r->p->json, node, r->error));
    const bool of_numbers = strstr(values_of(type), "number") != NULL;
    if (is_range(node) && !of_numbers) {
        return bad(r, node, "min and max need a number");
    }
    if (is_range(node)) {
        return add_range(r, check, node);
    }
    if (roof_json_is_object(node)) {
        TRY(read_value(&value, &tolerance, r, node));
    }
    if (!is_of_type(value, type)) {
        return roof_json_error(r->p->json, value, r->error,
                               "%s must be %s (null: the key must be absent)", roof_json_key(node),
                               values_of(type));
    }
    return add_expectation(r, check, roof_json_key(node), value, tolerance);
}

static enum roof_status read_expectations(const struct reader *r, struct roof_check *check,
                                          const roof_json_value *node)
{
    const roof_json_value *const expect = roof_json_get(node, "expect");
    const roof_json_value *const refusal = roof_json_get(node, "expect_error");
    check->expectation = &r->p->expectation[r->checks->values];
    if ((expect == NULL) == (refusal == NULL)) {
        return bad(r, node, "a check needs either expect or expect_error");
    }
    if (refusal != NULL) {
        const char *text = NULL;
        TRY(read_line(&text, r, node, "expect_error"));
        TRY(add_expectation(r, check, "error", refusal, r->tolerance));
        check->expectation[0].refusal = true;
        return ROOF_OK;
    }
    if (!roof_json_is_object(expect) || roof_json_first(expect) == NULL) {
        return bad(r, expect, "expect must be an object with at least one key");
    }
    for (const roof_json_value *m = roof_json_first(expect); m != NULL; m = roof_json_next(m)) {
        TRY(read_expectation(r, check, m));
    }
    return ROOF_OK;
}

/* --- reading ------------------------------------------------------------------------------- */

static enum roof_status read_command(struct roof_check *check, const struct reader *r,
                                     const roof_json_value *node)
{
    const char *name = NULL;
    size_t i = 0;
    TRY(read_line(&name, r, node, "command"));
    while (name != NULL && i < COUNT(commands) && strcmp(commands[i].name, name) != 0) {
        i++;
    }
    if (i == COUNT(commands)) {
        return bad(r, roof_json_get(node, "command"),
                   "command must be predict, recommend or simulate");
    }
    check->asked.command = commands[i].command;
    return ROOF_OK;
}

static enum roof_status read_name(struct roof_check *check, const struct reader *r,
                                  const roof_json_value *node)
{
    int column = 0;
    roof_json_place(r->p->json, node, &check->line, &column);
    TRY(read_line(&check->name, r, node, "name"));
    if (check->name == NULL) {
        return bad(r, node, "a check needs a name");
    }
    for (const struct roof_check *earlier = r->checks->check; earlier < check; earlier++) {
        if (strcmp(earlier->name, check->name) == 0) {
            return roof_json_error(r->p->json, roof_json_get(node, "name"), r->error,
                                   "the check in line %d already has this name", earlier->line);
        }
    }
    return ROOF_OK;
}

static enum roof_status read_check(struct reader r, const roof_json_value *node)
{
    static const char *const known[] = {"name",   "note",         "command",  "inputs",
                                        "expect", "expect_error", "tolerance"};
    const roof_json_value *const inputs = roof_json_get(node, "inputs");
    struct roof_check *const check = &r.checks->check[r.checks->count];
    if (!roof_json_is_object(node)) {
        return bad(&r, node, "a check must be an object");
    }
    TRY(roof_json_only(r.p->json, node, known, COUNT(known), r.error));
    TRY(read_name(check, &r, node));
    TRY(read_command(check, &r, node));
    TRY(check_inputs(&r, inputs));
    TRY(read_tolerance_of(&r.tolerance, &r, node));
    TRY(read_workload(&r, check, inputs, inputs == NULL ? node : inputs));
    TRY(read_inputs(&r, check, inputs));
    r.p->inputs[r.checks->count] = inputs == NULL ? node : inputs;
    r.checks->count++;
    return read_expectations(&r, check, node);
}

/* Allocates room for all checks at once, so that pointers into it stay valid. */
static enum roof_status allocate(const struct reader *r, const roof_json_value *list)
{
    size_t checks = roof_json_count(list);
    size_t values = 1;
    size_t inputs = 1;
    const size_t defaults = roof_json_count(r->defaults);
    for (const roof_json_value *c = roof_json_first(list); c != NULL; c = roof_json_next(c)) {
        const roof_json_value *const own = roof_json_get(c, "inputs");
        values += roof_json_count(roof_json_get(c, "expect")) + 1;
        inputs += roof_json_count(own) + defaults;
        for (size_t k = 0; k < 2; k++) { /* lists of values of one option */
            const roof_json_value *const of = k == 0 ? own : r->defaults;
            for (const roof_json_value *m = roof_json_first(of); m != NULL; m = roof_json_next(m)) {
                inputs += roof_json_count(m);
            }
        }
    }
    struct roof_checks_private *const p = r->p;
    r->checks->check = calloc(checks + 1, sizeof *r->checks->check);
    p->inputs = calloc(checks + 1, sizeof *p->inputs);
    p->expectation = calloc(values, sizeof *p->expectation);
    p->place = calloc(values, sizeof *p->place);
    p->input = calloc(inputs, sizeof *p->input);
    return r->checks->check == NULL || p->inputs == NULL || p->expectation == NULL ||
                   p->place == NULL || p->input == NULL
               ? roof_no_memory(r->error)
               : ROOF_OK;
}

static enum roof_status read_file(struct reader *r)
{
    static const char *const known[] = {"schema", "note", "defaults", "tolerance", "checks"};
    const roof_json_value *const root = roof_json_root(r->p->json);
    const char *schema = NULL;
    if (!roof_json_is_object(root)) {
        return bad(r, root, "a check file must be an object: {\"checks\": [...]}");
    }
    TRY(roof_json_only(r->p->json, root, known, COUNT(known), r->error));
    TRY(read_line(&schema, r, root, "schema"));
    if (schema != NULL && strcmp(schema, "roofline/check/1") != 0) {
        return bad(r, roof_json_get(root, "schema"), "schema must be \"roofline/check/1\"");
    }
    const roof_json_value *const list = roof_json_get(root, "checks");
    if (!roof_json_is_array(list) || roof_json_first(list) == NULL) {
        return bad(r, list == NULL ? root : list,
                   "checks must be an array with at least one check");
    }
    r->defaults = roof_json_get(root, "defaults");
    TRY(check_inputs(r, r->defaults));
    TRY(read_tolerance_of(&r->tolerance, r, root));
    TRY(allocate(r, list));
    for (const roof_json_value *c = roof_json_first(list); c != NULL; c = roof_json_next(c)) {
        TRY(read_check(*r, c));
    }
    return ROOF_OK;
}

enum roof_status roof_checks_read(struct roof_checks *out, const char *path,
                                  struct roof_error *error)
{
    *out = (struct roof_checks){.name = ""};
    struct roof_checks_private *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return roof_no_memory(error);
    }
    out->private_data = p;
    TRY(roof_json_read_stream(&p->json, path, error));
    TRY(roof_json_index(p->json, error));
    out->name = roof_json_source(p->json);
    struct reader r = {
        .checks = out, .p = p, .error = error, .tolerance = {ROOF_TOLERANCE_RELATIVE, 0}};
    return read_file(&r);
}

void roof_checks_free(struct roof_checks *checks)
{
    struct roof_checks_private *const p = checks->private_data;
    if (p == NULL) {
        return;
    }
    for (size_t i = 0; i < ROOF_CHECK_DOCUMENTS; i++) {
        roof_schema_free(p->schema[i]);
    }
    while (p->texts != NULL) {
        struct roof_kept_text *const next = p->texts->next;
        free(p->texts);
        p->texts = next;
    }
    roof_json_free(p->json);
    free(p->place);
    free(p->inputs);
    free(p->expectation);
    free(p->input);
    free(checks->check);
    free(p);
    *checks = (struct roof_checks){.name = ""};
}
