// SPDX-License-Identifier: MIT
#include "ask/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"
#include "catalog/schema.h"
#include "operator/operator.h"

#define KEYS_MAX 200
#define KEY_SIZE 64

/* The documents that answer. */
enum document {
    PREDICTION,
    MODEL_PREDICTION,
    RECOMMENDATION,
    PLANS,
    SPEEDUP,
    PLAN_SPEEDUP,
    DOCUMENTS
};
static const char *const document_names[DOCUMENTS] = {
    "prediction", "model-prediction", "recommendation", "plans", "speedup", "plan-speedup"};

/* A text that lives as long as the checks. */
struct kept {
    struct kept *next;
    char text[];
};

struct roof_checks_private {
    struct roof_json *json;
    struct roof_schema *schema[DOCUMENTS]; /* NULL: not needed yet */
    struct kept *kept;
    const roof_json_value **place; /* of the expected value of each expectation */
    const roof_json_value **inputs;
    struct roof_expectation *expectation; /* of all checks */
    struct roof_check_input *input;
    size_t given; /* inputs so far */
};

/* What is known while one check is read. */
struct reader {
    struct roof_checks *checks;
    struct roof_checks_private *p;
    struct roof_error *error;
    const roof_json_value *defaults; /* inputs; NULL: none */
    struct roof_tolerance tolerance;
};

static enum roof_status no_memory(struct roof_error *error)
{
    return roof_no_memory(error);
}

/* A copy that lives as long as the checks; NULL when memory is out. */
static const char *keep(struct roof_checks_private *p, const char *text, size_t length)
{
    struct kept *const kept = malloc(sizeof *kept + length + 1);
    if (kept == NULL) {
        return NULL;
    }
    memcpy(kept->text, text, length);
    kept->text[length] = '\0';
    kept->next = p->kept;
    p->kept = kept;
    return kept->text;
}

/* Takes a built text over; frees it. */
static enum roof_status keep_text(const char **out, struct roof_checks_private *p,
                                  struct roof_text *text, struct roof_error *error)
{
    *out = text->failed ? NULL : keep(p, text->length == 0 ? "" : text->data, text->length);
    roof_text_free(text);
    return *out == NULL ? no_memory(error) : ROOF_OK;
}

/* --- members ------------------------------------------------------------------------------- */

static enum roof_status bad(const struct reader *r, const roof_json_value *at, const char *what)
{
    return roof_json_error(r->p->json, at, r->error, "%s", what);
}

/* A member that is a line of text; *out is NULL when it is absent. */
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

/* "relative" and "absolute" of an object, each of which may be missing. */
static enum roof_status read_tolerance(struct roof_tolerance *out, const struct reader *r,
                                       const roof_json_value *object)
{
    static const char *const keys[] = {"relative", "absolute"};
    double value[2] = {0, 0};
    bool given = false;
    for (int i = 0; i < 2; i++) {
        const roof_json_value *const node = roof_json_get(object, keys[i]);
        if (node != NULL && (!roof_json_number(&value[i], node) || value[i] < 0)) {
            return roof_json_error(r->p->json, node, r->error, "%s must be a number from 0 on",
                                   keys[i]);
        }
        given = given || node != NULL;
    }
    if (given) {
        *out = (struct roof_tolerance){value[0], value[1]};
    }
    return ROOF_OK;
}

/* The member "tolerance" of the file or of a check. */
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
    const enum roof_status status = roof_json_only(r->p->json, node, known, 2, r->error);
    return status == ROOF_OK ? read_tolerance(out, r, node) : status;
}

/* --- inputs -------------------------------------------------------------------------------- */

/* Whether a check can give an input: what a document hangs on. */
static bool is_asked(size_t id)
{
    static const size_t others[] = {ROOF_INPUT_FROM,    ROOF_INPUT_EMIT,
                                    ROOF_INPUT_FORMAT,  ROOF_INPUT_PREDICT_FORMAT,
                                    ROOF_INPUT_COLUMNS, ROOF_INPUT_OUTPUT};
    bool asked = roof_input_allowed(id, ROOF_COMMAND_PREDICT) ||
                 roof_input_allowed(id, ROOF_COMMAND_RECOMMEND);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        asked = asked && id != others[i];
    }
    return asked;
}

/* The number of an input; ROOF_INPUT_COUNT: none. */
static size_t find_input(const char *key)
{
    char own[ROOF_INPUT_NAME_SIZE];
    size_t id = 0;
    while (id < ROOF_INPUT_COUNT &&
           (!is_asked(id) || strcmp(roof_input_key(own, roof_input(id)), key) != 0)) {
        id++;
    }
    return id;
}

static bool is_workload(const char *key)
{
    return strcmp(key, "operator") == 0 || strcmp(key, "model") == 0;
}

/* Every member must be an input. */
static enum roof_status check_inputs(const struct reader *r, const roof_json_value *inputs)
{
    char keys[ROOF_INPUT_COUNT][ROOF_INPUT_NAME_SIZE];
    const char *known[ROOF_INPUT_COUNT + 2] = {"operator", "model"};
    size_t count = 2;
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

/* The text that an option would have for a string or number. */
static enum roof_status put_scalar(struct roof_text *out, const struct reader *r, size_t id,
                                   const roof_json_value *node)
{
    double number = 0;
    const char *const text = roof_json_line(node);
    if (text != NULL && *text != '\0') {
        roof_text_put(out, text);
        return ROOF_OK;
    }
    if (roof_json_number(&number, node)) {
        roof_text_number(out, number);
        roof_text_put(out, id == ROOF_INPUT_MEASURED ? "us" : ""); /* as its key says */
        return ROOF_OK;
    }
    char key[ROOF_INPUT_NAME_SIZE];
    return roof_json_error(r->p->json, node, r->error, "%s must be a string or a number",
                           roof_input_key(key, roof_input(id)));
}

static enum roof_status add_input(const struct reader *r, struct roof_check *check, size_t id,
                                  struct roof_text *text)
{
    struct roof_check_input *const input = &r->p->input[r->p->given++];
    input->input = id;
    check->request.count++;
    return keep_text(&input->text, r->p, text, r->error);
}

/* Of an option that may be given several times: an array of its values, or {"KEY": VALUE}. */
static enum roof_status read_many(const struct reader *r, struct roof_check *check, size_t id,
                                  const roof_json_value *node)
{
    enum roof_status status = ROOF_OK;
    for (const roof_json_value *m = roof_json_first(node); m != NULL && status == ROOF_OK;
         m = roof_json_next(m)) {
        struct roof_text text = ROOF_TEXT_INIT;
        if (roof_json_is_object(node)) {
            roof_text_printf(&text, "%s=", roof_json_key(m));
        }
        status = put_scalar(&text, r, id, m);
        if (status == ROOF_OK) {
            status = add_input(r, check, id, &text);
        } else {
            roof_text_free(&text);
        }
    }
    return status;
}

/* null stands for an option that is not given, whatever the defaults are. */
static enum roof_status read_input(const struct reader *r, struct roof_check *check, size_t id,
                                   const roof_json_value *node)
{
    const struct roof_input *const input = roof_input(id);
    const bool array = roof_json_is_array(node);
    struct roof_text text = ROOF_TEXT_INIT;
    bool flag = false;
    enum roof_status status = ROOF_OK;
    if (roof_json_is_null(node)) {
        return ROOF_OK;
    }
    if (input->kind == ROOF_INPUT_FLAG) {
        if (!roof_json_boolean(&flag, node)) {
            return roof_json_error(r->p->json, node, r->error, "%s must be true or false",
                                   roof_json_key(node));
        }
        return flag ? add_input(r, check, id, &text) : ROOF_OK;
    }
    if (input->many && (array || roof_json_is_object(node))) {
        return read_many(r, check, id, node);
    }
    if (!array) {
        status = put_scalar(&text, r, id, node);
    }
    const roof_json_value *item = array ? roof_json_first(node) : NULL;
    if (array && item == NULL) {
        status = bad(r, node, "an empty list");
    }
    for (; item != NULL && status == ROOF_OK; item = roof_json_next(item)) {
        roof_text_put(&text, text.length == 0 ? "" : ",");
        status = put_scalar(&text, r, id, item);
    }
    if (status != ROOF_OK) {
        roof_text_free(&text);
        return status;
    }
    return add_input(r, check, id, &text);
}

/* A default is for the checks that can take it. */
static bool default_applies(const struct roof_check_request *request, size_t id)
{
    const bool model = request->model != NULL;
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    if (!roof_input_allowed(id, request->command)) {
        return false;
    }
    if (model && request->command == ROOF_COMMAND_RECOMMEND && id == ROOF_DIM_DEVICES) {
        return true; /* the one dimension of operators that plans have */
    }
    if (!model && id < ROOF_DIM_COUNT) {
        return roof_operator_find(&op, request->workload, NULL) == ROOF_OK &&
               roof_operator_has(op, (enum roof_dimension)id);
    }
    return roof_input_taken(roof_input(id), model, NULL) == ROOF_OK;
}

/* operator or model, of the inputs, else of the defaults. */
static enum roof_status read_workload(const struct reader *r, struct roof_check *check,
                                      const roof_json_value *inputs, const roof_json_value *at)
{
    const roof_json_value *const of[] = {inputs, r->defaults};
    for (size_t i = 0; i < 2 && check->request.workload == NULL; i++) {
        const char *op = NULL;
        enum roof_status status = read_line(&op, r, of[i], "operator");
        if (status == ROOF_OK) {
            status = read_line(&check->request.model, r, of[i], "model");
        }
        if (status != ROOF_OK) {
            return status;
        }
        if (op != NULL && check->request.model != NULL) {
            return bad(r, roof_json_get(of[i], "model"), "operator and model at once");
        }
        check->request.workload = check->request.model != NULL ? "model" : op;
    }
    return check->request.workload != NULL ? ROOF_OK
                                           : bad(r, at, "the inputs name no operator and no model");
}

static enum roof_status read_inputs(const struct reader *r, struct roof_check *check,
                                    const roof_json_value *inputs)
{
    enum roof_status status = ROOF_OK;
    check->request.input = &r->p->input[r->p->given];
    for (const roof_json_value *m = roof_json_first(inputs); m != NULL && status == ROOF_OK;
         m = roof_json_next(m)) {
        const size_t id = find_input(roof_json_key(m));
        if (is_workload(roof_json_key(m))) {
            continue;
        }
        status = roof_input_allowed(id, check->request.command)
                     ? read_input(r, check, id, m)
                     : roof_json_error(r->p->json, m, r->error, "%s does not take %s",
                                       check->request.command == ROOF_COMMAND_PREDICT ? "predict"
                                                                                      : "recommend",
                                       roof_json_key(m));
    }
    for (const roof_json_value *m = roof_json_first(r->defaults); m != NULL && status == ROOF_OK;
         m = roof_json_next(m)) {
        const char *const key = roof_json_key(m);
        const size_t id = find_input(key);
        if (!is_workload(key) && roof_json_get(inputs, key) == NULL &&
            default_applies(&check->request, id)) {
            status = read_input(r, check, id, m);
        }
    }
    return status;
}

/* --- keys ---------------------------------------------------------------------------------- */

static enum document document_of(const struct roof_check_request *request)
{
    const bool model = request->model != NULL;
    const bool recommend = request->command == ROOF_COMMAND_RECOMMEND;
    for (size_t i = 0; i < request->count; i++) {
        if (request->input[i].input == ROOF_INPUT_EXPLAIN) {
            return model && recommend ? PLAN_SPEEDUP : SPEEDUP;
        }
    }
    return recommend ? (model ? PLANS : RECOMMENDATION) : (model ? MODEL_PREDICTION : PREDICTION);
}

/* The next part of a path, up to a dot; false at its end. */
static bool next_part(char out[KEY_SIZE], const char **path)
{
    if (*path == NULL) {
        return false;
    }
    const size_t length = strcspn(*path, ".");
    snprintf(out, KEY_SIZE, "%.*s", (int)(length < KEY_SIZE ? length : KEY_SIZE - 1), *path);
    *path = (*path)[length] == '\0' ? NULL : *path + length + 1;
    return true;
}

/* Whether the document can have the key, and its type. */
static enum roof_status check_key(const char **type, const struct reader *r, enum document document,
                                  const roof_json_value *at)
{
    const char *path = roof_json_key(at);
    char part[KEY_SIZE];
    enum roof_status status = ROOF_OK;
    if (r->p->schema[document] == NULL) {
        status = roof_schema_open(&r->p->schema[document], document_names[document], r->error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    const struct roof_schema *const schema = r->p->schema[document];
    struct roof_schema_node node = roof_schema_root(schema);
    *type = roof_schema_type(schema, node);
    while (next_part(part, &path)) {
        const char *known[KEYS_MAX];
        const struct roof_schema_node of = node;
        if (strcmp(*type, "array") == 0) {
            node = roof_schema_items(schema, of);
        } else {
            node = roof_schema_member(schema, of, part);
        }
        if (node.value == NULL) {
            const size_t count = roof_schema_keys(schema, of, known, KEYS_MAX);
            return roof_json_place_error(
                r->p->json, at, "", r->error,
                roof_unknown_name(r->error, ROOF_INVALID, "key", part, known, count));
        }
        *type = roof_schema_type(schema, node);
    }
    if (strcmp(*type, "array") == 0 || strcmp(*type, "object") == 0) {
        return roof_json_error(r->p->json, at, r->error, "%s is an %s; name what is in it: %s.%s",
                               roof_json_key(at), *type, roof_json_key(at),
                               **type == 'a' ? "0" : "KEY");
    }
    return ROOF_OK;
}

/* The element of an array by its number, or the first that is called so. */
static const roof_json_value *find_element(const roof_json_value *array, const char *name)
{
    static const char *const called[] = {"name", "precision", "operator"};
    const bool number = *name != '\0' && name[strspn(name, "0123456789")] == '\0';
    const unsigned long wanted = number ? strtoul(name, NULL, 10) : 0;
    unsigned long at = 0;
    for (size_t i = 0; i < sizeof called / sizeof *called && !number; i++) {
        for (const roof_json_value *e = roof_json_first(array); e != NULL; e = roof_json_next(e)) {
            const char *const own = roof_json_string(roof_json_get(e, called[i]));
            if (own != NULL && strcmp(own, name) == 0) {
                return e;
            }
        }
    }
    for (const roof_json_value *e = roof_json_first(array); e != NULL && number;
         e = roof_json_next(e)) {
        if (at++ == wanted) {
            return e;
        }
    }
    return NULL;
}

/* The value of a path in a document; NULL: it is absent. */
static const roof_json_value *find_value(bool *nowhere, const struct roof_json *document,
                                         const char *path)
{
    const roof_json_value *value = roof_json_root(document);
    char part[KEY_SIZE];
    while (value != NULL && next_part(part, &path)) {
        value = roof_json_is_array(value) ? find_element(value, part) : roof_json_get(value, part);
    }
    *nowhere = value == NULL && next_part(part, &path);
    return value;
}

/* --- expectations -------------------------------------------------------------------------- */

/* Whether a value is of a type of the schema; null says that the key is absent. */
static bool is_of_type(const roof_json_value *value, const char *type)
{
    double number = 0;
    bool boolean = false;
    if (roof_json_is_null(value)) {
        return true;
    }
    return strcmp(type, "string") == 0    ? roof_json_string(value) != NULL
           : strcmp(type, "boolean") == 0 ? roof_json_boolean(&boolean, value)
                                          : roof_json_number(&number, value);
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
                                   .expected = keep(r->p, span, length),
                                   .number = roof_json_number(&unused, value),
                                   .tolerance = tolerance,
                                   .got = "null",
                                   .difference = ROOF_UNKNOWN};
    roof_json_place(r->p->json, value, &e->line, &e->column);
    r->p->place[number] = value;
    return e->expected == NULL ? no_memory(r->error) : ROOF_OK;
}

/* "time_us": 117, or {"value": 117, "relative": 0.01}. */
static enum roof_status read_expectation(const struct reader *r, struct roof_check *check,
                                         const roof_json_value *node)
{
    static const char *const known[] = {"value", "relative", "absolute"};
    const roof_json_value *value = node;
    struct roof_tolerance tolerance = r->tolerance;
    const char *type = "";
    double number = 0;
    enum roof_status status = check_key(&type, r, document_of(&check->request), node);
    if (status == ROOF_OK && roof_json_is_object(node)) {
        value = roof_json_get(node, "value");
        status = roof_json_only(r->p->json, node, known, sizeof known / sizeof *known, r->error);
        if (status == ROOF_OK) {
            status = read_tolerance(&tolerance, r, node);
        }
        if (status == ROOF_OK && value == NULL) {
            status = bad(r, node, "needs a value");
        }
        if (status == ROOF_OK && roof_json_count(node) > 1 && !roof_json_is_null(value) &&
            !roof_json_number(&number, value)) { /* null: of the number that may come again */
            status = bad(r, node, "a tolerance is of a number");
        }
    }
    if (status == ROOF_OK && !is_of_type(value, type)) {
        status = roof_json_error(
            r->p->json, value, r->error, "%s must be a %s, or null where it should be absent",
            roof_json_key(node), strcmp(type, "integer") == 0 ? "number" : type);
    }
    return status == ROOF_OK ? add_expectation(r, check, roof_json_key(node), value, tolerance)
                             : status;
}

static enum roof_status read_expectations(const struct reader *r, struct roof_check *check,
                                          const roof_json_value *node)
{
    const roof_json_value *const expect = roof_json_get(node, "expect");
    const roof_json_value *const refusal = roof_json_get(node, "expect_error");
    enum roof_status status = ROOF_OK;
    check->expectation = &r->p->expectation[r->checks->values];
    if ((expect == NULL) == (refusal == NULL)) {
        return bad(r, node, "a check needs expect or expect_error, and not both");
    }
    if (refusal != NULL) {
        const char *text = NULL;
        status = read_line(&text, r, node, "expect_error");
        if (status == ROOF_OK) {
            status = add_expectation(r, check, "error", refusal, r->tolerance);
            check->expectation[0].refusal = true;
        }
        return status;
    }
    if (!roof_json_is_object(expect) || roof_json_first(expect) == NULL) {
        return bad(r, expect, "expect must be an object with a key or more");
    }
    for (const roof_json_value *m = roof_json_first(expect); m != NULL && status == ROOF_OK;
         m = roof_json_next(m)) {
        status = read_expectation(r, check, m);
    }
    return status;
}

/* --- reading ------------------------------------------------------------------------------- */

static enum roof_status read_command(struct roof_check *check, const struct reader *r,
                                     const roof_json_value *node)
{
    const char *name = NULL;
    const enum roof_status status = read_line(&name, r, node, "command");
    check->request.command = ROOF_COMMAND_PREDICT;
    if (status != ROOF_OK || name == NULL || strcmp(name, "predict") == 0) {
        return status;
    }
    check->request.command = ROOF_COMMAND_RECOMMEND;
    return strcmp(name, "recommend") == 0
               ? ROOF_OK
               : bad(r, roof_json_get(node, "command"), "command must be predict or recommend");
}

static enum roof_status read_name(struct roof_check *check, const struct reader *r,
                                  const roof_json_value *node)
{
    int column = 0;
    enum roof_status status = read_line(&check->name, r, node, "name");
    roof_json_place(r->p->json, node, &check->line, &column);
    if (status != ROOF_OK || check->name == NULL) {
        return status != ROOF_OK ? status : bad(r, node, "a check needs a name");
    }
    for (size_t i = 0; status == ROOF_OK && &r->checks->check[i] < check; i++) {
        if (strcmp(r->checks->check[i].name, check->name) == 0) {
            status =
                roof_json_error(r->p->json, roof_json_get(node, "name"), r->error,
                                "the check in line %d has this name too", r->checks->check[i].line);
        }
    }
    return status;
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
    enum roof_status status =
        roof_json_only(r.p->json, node, known, sizeof known / sizeof *known, r.error);
    if (status == ROOF_OK) {
        status = read_name(check, &r, node);
    }
    if (status == ROOF_OK) {
        status = read_command(check, &r, node);
    }
    if (status == ROOF_OK) {
        status = check_inputs(&r, inputs);
    }
    if (status == ROOF_OK) {
        status = read_tolerance_of(&r.tolerance, &r, node);
    }
    if (status == ROOF_OK) {
        status = read_workload(&r, check, inputs, inputs == NULL ? node : inputs);
    }
    if (status == ROOF_OK) {
        status = read_inputs(&r, check, inputs);
    }
    if (status == ROOF_OK) {
        r.p->inputs[r.checks->count] = inputs == NULL ? node : inputs;
        r.checks->count++;
        status = read_expectations(&r, check, node);
    }
    return status;
}

/* Room for all, so that what points to something needs no care. */
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
               ? no_memory(r->error)
               : ROOF_OK;
}

static enum roof_status read_file(struct reader *r)
{
    static const char *const known[] = {"schema", "note", "defaults", "tolerance", "checks"};
    const roof_json_value *const root = roof_json_root(r->p->json);
    const char *schema = NULL;
    if (!roof_json_is_object(root)) {
        return bad(r, root, "a check file must be an object");
    }
    enum roof_status status =
        roof_json_only(r->p->json, root, known, sizeof known / sizeof *known, r->error);
    if (status == ROOF_OK) {
        status = read_line(&schema, r, root, "schema");
    }
    if (status == ROOF_OK && (schema == NULL || strcmp(schema, "roofline/check/1") != 0)) {
        const roof_json_value *const at = roof_json_get(root, "schema");
        status = bad(r, at == NULL ? root : at, "schema must be \"roofline/check/1\"");
    }
    const roof_json_value *const list = roof_json_get(root, "checks");
    if (status == ROOF_OK && (!roof_json_is_array(list) || roof_json_first(list) == NULL)) {
        status = bad(r, list == NULL ? root : list, "checks must be an array with a check or more");
    }
    r->defaults = roof_json_get(root, "defaults");
    if (status == ROOF_OK) {
        status = check_inputs(r, r->defaults);
    }
    if (status == ROOF_OK) {
        status = read_tolerance_of(&r->tolerance, r, root);
    }
    if (status == ROOF_OK) {
        status = allocate(r, list);
    }
    for (const roof_json_value *c = roof_json_first(list); c != NULL && status == ROOF_OK;
         c = roof_json_next(c)) {
        status = read_check(*r, c);
    }
    return status;
}

enum roof_status roof_checks_read(struct roof_checks *out, const char *path,
                                  struct roof_error *error)
{
    *out = (struct roof_checks){.name = ""};
    struct roof_checks_private *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return no_memory(error);
    }
    out->private_data = p;
    enum roof_status status = roof_json_read_stream(&p->json, path, error);
    if (status == ROOF_OK) {
        status = roof_json_index(p->json, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
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
    for (size_t i = 0; i < DOCUMENTS; i++) {
        roof_schema_free(p->schema[i]);
    }
    while (p->kept != NULL) {
        struct kept *const next = p->kept->next;
        free(p->kept);
        p->kept = next;
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

/* --- running ------------------------------------------------------------------------------- */

static bool is_within(double expected, double difference, struct roof_tolerance tolerance)
{
    const double off = fabs(difference);
    return off == 0 || off <= tolerance.relative * fabs(expected) || off <= tolerance.absolute;
}

/* Compares one value of a document. */
static enum roof_status compare(struct roof_expectation *e, struct roof_checks_private *p,
                                const roof_json_value *expected, const struct roof_json *document,
                                struct roof_error *error)
{
    const roof_json_value *const got = find_value(&e->nowhere, document, e->key);
    double wanted = 0;
    double found = 0;
    if (got == NULL) {
        e->passed = roof_json_is_null(expected);
        return ROOF_OK;
    }
    size_t length = 0;
    const char *const span = roof_json_span(document, got, &length);
    e->got = keep(p, span, length);
    if (e->got == NULL) {
        return no_memory(error);
    }
    if (roof_json_number(&wanted, expected) && roof_json_number(&found, got)) {
        e->difference = found - wanted;
        e->passed = is_within(wanted, e->difference, e->tolerance);
        return ROOF_OK;
    }
    bool one = false;
    bool other = false;
    const char *const text = roof_json_string(expected);
    const char *const other_text = roof_json_string(got);
    e->passed = text != NULL ? other_text != NULL && strcmp(text, other_text) == 0
                             : roof_json_boolean(&one, expected) &&
                                   roof_json_boolean(&other, got) && one == other;
    return ROOF_OK;
}

/* A request that should be refused: with what message it was, if it was. */
static enum roof_status compare_refusal(struct roof_expectation *e, struct roof_checks_private *p,
                                        const roof_json_value *expected,
                                        const struct roof_error *why, struct roof_error *error)
{
    char line[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE];
    struct roof_text text = ROOF_TEXT_INIT;
    if (why == NULL) {
        e->passed = false;
        return ROOF_OK;
    }
    roof_error_line(line, sizeof line, why);
    roof_json_quote(&text, line);
    e->passed = strstr(line, roof_json_string(expected)) != NULL;
    return keep_text(&e->got, p, &text, error);
}

/* The request of a check that expects values was refused. */
static enum roof_status refused(const struct roof_checks *checks, size_t i,
                                const struct roof_error *why, struct roof_error *error)
{
    const struct roof_checks_private *const p = checks->private_data;
    const enum roof_status status = why->status == ROOF_IO ? ROOF_IO : ROOF_INVALID;
    int line = 0;
    int column = 0;
    roof_json_place(p->json, p->inputs[i], &line, &column);
    if (error == NULL) {
        return status;
    }
    *error = *why;
    (void)roof_error_move(error, status, "", 0, 0); /* a place of its own is part of the message */
    (void)roof_error_prefix(error, status, "%s: ", checks->check[i].name);
    return roof_error_move(error, status, checks->name, line, column);
}

/* Compares what was expected with the document that answered, or with the refusal. */
static enum roof_status compare_answer(struct roof_checks *checks, size_t i,
                                       const struct roof_check_answer *answer,
                                       struct roof_error *error)
{
    struct roof_checks_private *const p = checks->private_data;
    struct roof_check *const check = &checks->check[i];
    const roof_json_value *const *const place =
        &p->place[(size_t)(check->expectation - p->expectation)];
    if (check->expectation[0].refusal) {
        return compare_refusal(&check->expectation[0], p, place[0],
                               answer->status == ROOF_OK ? NULL : &answer->why, error);
    }
    if (answer->status != ROOF_OK) {
        return refused(checks, i, &answer->why, error);
    }
    struct roof_json *document = NULL;
    TRY(roof_json_parse(&document, answer->text, answer->length, "answer", error));
    enum roof_status status = ROOF_OK;
    for (size_t k = 0; k < check->count && status == ROOF_OK; k++) {
        status = compare(&check->expectation[k], p, place[k], document, error);
    }
    roof_json_free(document);
    return status;
}

enum roof_status roof_check_take(struct roof_checks *checks, size_t i,
                                 const struct roof_check_answer *answer, struct roof_error *error)
{
    struct roof_check *const check = &checks->check[i];
    TRY(compare_answer(checks, i, answer, error));
    for (size_t k = 0; k < check->count; k++) {
        check->deviations += check->expectation[k].passed ? 0 : 1;
    }
    checks->deviations += check->deviations;
    checks->failed += check->deviations > 0 ? 1 : 0;
    return ROOF_OK;
}

/* Puts what a check asks into a question. */
static enum roof_status put_request(struct roof_question *question,
                                    const struct roof_check_request *request,
                                    struct roof_error *error)
{
    char key[ROOF_INPUT_NAME_SIZE];
    const bool model = request->model != NULL;
    TRY(roof_question_put(question, model ? "model" : "operator",
                          model ? request->model : request->workload, error));
    for (size_t i = 0; i < request->count; i++) {
        TRY(roof_question_put(question, roof_input_key(key, roof_input(request->input[i].input)),
                              request->input[i].text, error));
    }
    return ROOF_OK;
}

/* Asks what a check asks. */
static enum roof_status ask(struct roof_check_answer *out, struct roof_store *store,
                            const struct roof_check_request *request, struct roof_error *error)
{
    struct roof_question *question = NULL;
    TRY(roof_question_new(&question, error));
    *out = (struct roof_check_answer){.text = NULL};
    out->status = put_request(question, request, &out->why);
    if (out->status == ROOF_OK) {
        out->status = roof_answer(store, question, request->command, ROOF_JSON, &out->text,
                                  &out->length, &out->why);
    }
    roof_question_free(question);
    if (out->status == ROOF_MEMORY) {
        roof_answer_free(out->text);
        return roof_no_memory(error);
    }
    if (out->status == ROOF_UNSATISFIED && out->text != NULL) {
        out->status = ROOF_OK; /* a document that says that nothing is left is an answer, too */
    }
    return ROOF_OK;
}

static enum roof_status run_check(struct roof_checks *checks, size_t i, struct roof_store *store,
                                  struct roof_error *error)
{
    struct roof_check_answer answer;
    TRY(ask(&answer, store, &checks->check[i].request, error));
    const enum roof_status status = roof_check_take(checks, i, &answer, error);
    roof_answer_free(answer.text);
    return status;
}

enum roof_status roof_checks_run(struct roof_checks *checks, struct roof_store *store,
                                 struct roof_error *error)
{
    for (size_t i = 0; i < checks->count; i++) {
        TRY(run_check(checks, i, store, error));
    }
    return ROOF_OK;
}

/* --- updating ------------------------------------------------------------------------------ */

bool roof_expectation_updates(const struct roof_expectation *expectation)
{
    return !expectation->nowhere &&
           (!expectation->refusal || strcmp(expectation->got, "null") != 0);
}

size_t roof_checks_updated(struct roof_text *out, const struct roof_checks *checks)
{
    const struct roof_checks_private *const p = checks->private_data;
    size_t length = 0;
    const char *const text = roof_json_text(p->json, &length);
    const char *from = text;
    size_t replaced = 0;
    for (size_t i = 0; i < checks->values; i++) { /* they stand in the order of the file */
        const struct roof_expectation *const e = &p->expectation[i];
        if (e->passed || !roof_expectation_updates(e)) {
            continue;
        }
        size_t old = 0;
        const char *const at = roof_json_span(p->json, p->place[i], &old);
        roof_text_add(out, from, (size_t)(at - from));
        roof_text_put(out, e->got);
        from = at + old;
        replaced++;
    }
    roof_text_add(out, from, (size_t)(text + length - from));
    return replaced;
}
