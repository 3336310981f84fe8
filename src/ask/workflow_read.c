// SPDX-License-Identifier: MIT
#include "ask/workflow_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ask/input_json.h"
#include "base/base.h"
#include "decide/question.h"

#define SCHEMA "roofline/graph/1"

/* The keys of each object that are not inputs. */
static const char *const root_keys[] = {"schema", "name",   "source", "unit",
                                        "yields", "inputs", "stages"};
static const char *const stage_keys[] = {"name", "repeat", "inputs", "operators"};
static const char *const operator_keys[] = {"name", "count", "split", NULL};

/* The state while a file is read. */
struct reading {
    struct roof_asking *asking;
    struct roof_workflow *out;
    struct roof_question file; /* the inputs of the file */
    struct roof_question *file_owner;
    struct roof_question stage;   /* the inputs of the current stage */
    bool taken[ROOF_INPUT_COUNT]; /* inputs of the question that an operator uses */
    struct roof_error *error;
};

/* --- values -------------------------------------------------------------------------------- */

static enum roof_status read_line(const char **out, const struct reading *r,
                                  const roof_json_value *object, const char *key,
                                  const char *otherwise)
{
    const roof_json_value *const node = roof_json_get(object, key);
    *out = node == NULL ? otherwise : roof_json_line(node);
    return *out != NULL && **out != '\0'
               ? ROOF_OK
               : roof_json_error(r->out->json, node == NULL ? object : node, r->error,
                                 "%s must be a string of one line", key);
}

static enum roof_status read_count(int64_t *out, const struct reading *r,
                                   const roof_json_value *object, const char *key)
{
    const roof_json_value *const node = roof_json_get(object, key);
    double number = 1;
    if (node != NULL && (!roof_json_number(&number, node) || number < 1 ||
                         number > ROOF_WORKFLOW_COUNT_MAX || number != (double)(int64_t)number)) {
        return roof_json_error(r->out->json, node, r->error, "%s must be an integer from 1 to %d",
                               key, ROOF_WORKFLOW_COUNT_MAX);
    }
    *out = (int64_t)number;
    return ROOF_OK;
}

/* Borrows an array of objects, which must not be empty. */
static enum roof_status read_array(const roof_json_value **out, const struct reading *r,
                                   const roof_json_value *object, const char *key)
{
    const roof_json_value *const node = roof_json_get(object, key);
    *out = roof_json_first(node);
    return node != NULL && roof_json_is_array(node) && *out != NULL
               ? ROOF_OK
               : roof_json_error(r->out->json, node == NULL ? object : node, r->error,
                                 "%s must be an array with at least one object", key);
}

/* Inputs outside operators: of the host, of a stage or the file, and of the file only. */
static const size_t host_inputs[] = {ROOF_INPUT_SERIAL, ROOF_INPUT_HOST_GAP, ROOF_INPUT_LAUNCHES};

static bool is_host(size_t input)
{
    return input == host_inputs[0] || input == host_inputs[1] || input == host_inputs[2];
}

/* Tells whether an operator may inherit an input. */
static bool is_shared(size_t input)
{
    return roof_input(input)->field && roof_input(input)->of != ROOF_OF_MODELS;
}

/* Reads the member "inputs" of an object into a new question, which *out borrows. */
static enum roof_status read_inputs(struct roof_question *out, struct roof_question **owner,
                                    const struct reading *r, const roof_json_value *object,
                                    bool file)
{
    const roof_json_value *const inputs = roof_json_get(object, "inputs");
    char name[ROOF_INPUT_NAME_SIZE];
    *out = (struct roof_question){.op = NULL};
    if (inputs == NULL) {
        return ROOF_OK;
    }
    TRY(roof_question_new(owner, r->error));
    TRY(roof_question_from_json(*owner, r->out->json, inputs, ROOF_COMMAND_PREDICT, NULL,
                                r->error));
    roof_question_borrow(out, *owner);
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        if (roof_asked(out, i) && !is_shared(i) && !is_host(i) &&
            !(file && i == ROOF_INPUT_HARDWARE)) {
            return roof_json_error(r->out->json, inputs, r->error, "%s is not an input of a %s",
                                   roof_input_key(name, roof_input(i)), file ? "graph" : "stage");
        }
    }
    return out->op == NULL && !out->model
               ? ROOF_OK
               : roof_json_error(r->out->json, inputs, r->error,
                                 "inputs must not name an operator: put it in operators");
}

/* --- operators ----------------------------------------------------------------------------- */

static bool applies(enum roof_operator op, size_t input)
{
    return is_shared(input) &&
           (input >= ROOF_DIM_COUNT || roof_operator_has(op, (enum roof_dimension)input));
}

/* Gives a question the values from another one that it lacks. A closer format of both operands wins
 * over formats of one. Marks these inputs, unless `taken` is NULL. */
static void inherit(struct roof_question *question, const struct roof_question *from,
                    enum roof_operator op, bool *taken)
{
    const bool both = roof_asked(question, ROOF_INPUT_PRECISION_BOTH);
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const bool one = i == ROOF_INPUT_WEIGHTS || i == ROOF_INPUT_ACTIVATIONS;
        if (roof_asked(from, i) && !roof_asked(question, i) && applies(op, i) && !(both && one)) {
            question->value[i] = from->value[i];
            if (taken != NULL) {
                taken[i] = true;
            }
        }
    }
}

/* Divides a dimension by the devices. */
static enum roof_status split_dimension(struct roof_workload *w, const struct reading *r,
                                        const roof_json_value *node)
{
    const char *const key = roof_json_string(node);
    const int64_t devices = r->out->devices;
    size_t i = 0;
    while (key != NULL && i < ROOF_DIM_COUNT &&
           !(applies(w->op, i) && roof_input_has_key(roof_input(i), key))) {
        i++;
    }
    if (key == NULL || i == ROOF_DIM_COUNT) {
        return roof_json_error(r->out->json, node, r->error,
                               "split must name dimensions of %s, as \"n\" or [\"heads\"]",
                               roof_operator_name(w->op));
    }
    const int64_t size = roof_input_get(w, roof_input(i));
    if (size == 0) {
        return roof_json_error(r->out->json, node, r->error, "split: %s is not given", key);
    }
    if (size % devices != 0) {
        return roof_json_error(r->out->json, node, r->error,
                               "split: %s %" PRId64 " is not a multiple of the %" PRId64 " devices",
                               key, size, devices);
    }
    roof_input_put(w, roof_input(i), size / devices);
    return ROOF_OK;
}

static enum roof_status split(struct roof_workload *w, const struct reading *r,
                              const roof_json_value *node)
{
    if (!roof_json_is_array(node)) {
        return split_dimension(w, r, node);
    }
    for (const roof_json_value *m = roof_json_first(node); m != NULL; m = roof_json_next(m)) {
        TRY(split_dimension(w, r, m));
    }
    return ROOF_OK;
}

/* Adds an operator. Collectives on a single device are left out. */
static enum roof_status add_operator(struct reading *r, const roof_json_value *object,
                                     const struct roof_scenario *scenario)
{
    struct roof_workflow *const w = r->out;
    struct roof_workflow_operator *const op = &w->operators[w->operator_count];
    struct roof_workload workload = scenario->common;
    const roof_json_value *const node = roof_json_get(object, "split");
    const bool collective = roof_operator_row(workload.op)->kind == ROOF_KIND_COLLECTIVE;
    if (node != NULL) {
        TRY(split(&workload, r, node));
    }
    if (collective && w->devices == 1) {
        return ROOF_OK;
    }
    op->stage = w->stages;
    op->split = node != NULL || collective;
    TRY(read_line(&op->name, r, object, "name", roof_operator_name(workload.op)));
    TRY(read_count(&op->count, r, object, "count"));
    const enum roof_status status = roof_predict(&op->prediction, &workload, w->hardware, r->error);
    if (status != ROOF_OK) {
        return roof_json_place_error(w->json, object, op->name, r->error, status);
    }
    w->operator_count++;
    w->stage[w->stages].count++;
    return ROOF_OK;
}

/* Reads the inputs of an operator, including inherited ones. */
static enum roof_status read_question(struct roof_scenario *out, struct roof_question *question,
                                      struct reading *r, const roof_json_value *object)
{
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    TRY(roof_question_from_json(question, r->out->json, object, ROOF_COMMAND_PREDICT, operator_keys,
                                r->error));
    if (question->op == NULL) {
        return roof_json_error(r->out->json, object, r->error,
                               "an operator needs the key \"operator\"");
    }
    enum roof_status status = roof_operator_find(&op, question->op, r->error);
    if (status == ROOF_OK) {
        inherit(question, &r->stage, op, NULL);
        inherit(question, r->asking->question, op, r->taken);
        inherit(question, &r->file, op, NULL);
        status = roof_read_scenario(out, question, r->error);
    }
    return status == ROOF_OK ? ROOF_OK
                             : roof_json_place_error(r->out->json, object, "", r->error, status);
}

static enum roof_status read_operator(struct reading *r, const roof_json_value *object)
{
    struct roof_question *question = NULL;
    struct roof_scenario scenario;
    if (!roof_json_is_object(object)) {
        return roof_json_error(r->out->json, object, r->error, "an operator must be an object");
    }
    enum roof_status status = roof_question_new(&question, r->error);
    if (status == ROOF_OK) {
        status = read_question(&scenario, question, r, object);
    }
    if (status == ROOF_OK) {
        status = add_operator(r, object, &scenario);
    }
    roof_question_free(question);
    return status;
}

/* --- stages -------------------------------------------------------------------------------- */

/* Reads the times of the host: those of the stage, or else the question, or else the file. */
static enum roof_status read_host(struct roof_workflow_stage *out, const struct reading *r)
{
    const struct roof_question *const levels[] = {&r->stage, r->asking->question, &r->file};
    struct roof_question host = {.model = true};
    struct roof_scenario scenario;
    for (size_t i = 0; i < COUNT(host_inputs); i++) {
        for (size_t k = 0; k < COUNT(levels) && host.value[host_inputs[i]] == NULL; k++) {
            host.value[host_inputs[i]] = levels[k]->value[host_inputs[i]];
        }
    }
    roof_scenario_init(&scenario);
    TRY(roof_read_fields(&scenario, &host, r->error));
    out->serial_s = scenario.serial_s;
    out->gap_s = scenario.host_gap_s;
    out->launches = scenario.launches;
    return ROOF_OK;
}

/* Reads a stage and its operators. */
static enum roof_status read_operators(struct reading *r, const roof_json_value *object)
{
    struct roof_workflow *const w = r->out;
    struct roof_workflow_stage *const s = &w->stage[w->stages];
    const roof_json_value *item = NULL;
    TRY(read_line(&s->name, r, object, "name", NULL));
    TRY(read_count(&s->repeat, r, object, "repeat"));
    TRY(read_host(s, r));
    s->first = w->operator_count;
    TRY(read_array(&item, r, object, "operators"));
    for (; item != NULL; item = roof_json_next(item)) {
        TRY(read_operator(r, item));
    }
    w->stages++;
    return ROOF_OK;
}

static enum roof_status read_stage(struct reading *r, const roof_json_value *object)
{
    if (!roof_json_is_object(object)) {
        return roof_json_error(r->out->json, object, r->error, "a stage must be an object");
    }
    TRY(roof_json_only(r->out->json, object, stage_keys, COUNT(stage_keys), r->error));
    struct roof_question *owner = NULL;
    enum roof_status status = read_inputs(&r->stage, &owner, r, object, false);
    if (status == ROOF_OK) {
        status = read_operators(r, object);
    }
    roof_question_free(owner);
    return status;
}

/* Allocates all stages and operators. */
static enum roof_status make_room(const struct reading *r, const roof_json_value *stages)
{
    size_t count = 0;
    size_t operators = 0;
    for (const roof_json_value *s = stages; s != NULL; s = roof_json_next(s)) {
        operators += roof_json_count(roof_json_get(s, "operators"));
        count++;
    }
    if (count > ROOF_WORKFLOW_STAGES_MAX || operators > ROOF_WORKFLOW_OPERATORS_MAX) {
        return roof_json_error(r->out->json, stages, r->error,
                               "more than %d stages or %d operators", ROOF_WORKFLOW_STAGES_MAX,
                               ROOF_WORKFLOW_OPERATORS_MAX);
    }
    r->out->stage = calloc(count + 1, sizeof *r->out->stage);
    r->out->operators = calloc(operators + 1, sizeof *r->out->operators);
    return r->out->stage == NULL || r->out->operators == NULL ? roof_no_memory(r->error) : ROOF_OK;
}

/* --- files --------------------------------------------------------------------------------- */

/* Borrows the device of the question, or else the file; reads the number of devices. */
static enum roof_status read_devices(const struct reading *r)
{
    const struct roof_question *const asked = r->asking->question;
    const char *const own = asked->value[ROOF_INPUT_HARDWARE];
    const bool here = roof_asked(asked, ROOF_DIM_DEVICES);
    TRY(roof_asking_hardware(&r->out->hardware, r->asking,
                             own != NULL ? own : r->file.value[ROOF_INPUT_HARDWARE], r->error));
    TRY(roof_read_integer(&r->out->devices, here ? asked : &r->file, ROOF_DIM_DEVICES, r->error));
    r->out->devices = r->out->devices == 0 ? 1 : r->out->devices;
    return ROOF_OK;
}

/* Refuses inputs of the question that nothing in the file uses. */
static enum roof_status check_taken(const struct reading *r)
{
    const struct roof_question *const asked = r->asking->question;
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_input *const input = roof_input(i);
        if (!roof_asked(asked, i) || !input->field || i == ROOF_DIM_DEVICES || is_host(i) ||
            r->taken[i]) {
            continue;
        }
        return input->of == ROOF_OF_MODELS
                   ? roof_error_set(
                         r->error, ROOF_USAGE,
                         "%s is for models; in a graph file, " ROOF_KEY(
                             "devices") " splits the work and each operator has its own sizes",
                         roof_input_marked(name, input))
                   : roof_error_set(r->error, ROOF_USAGE,
                                    "%s changes no operator of the graph file: each one sets it or "
                                    "cannot use it",
                                    roof_input_marked(name, input));
    }
    return ROOF_OK;
}

static enum roof_status read_root(struct reading *r)
{
    const struct roof_json *const json = r->out->json;
    const roof_json_value *const root = roof_json_root(json);
    const roof_json_value *const yields = roof_json_get(root, "yields");
    const roof_json_value *stages = NULL;
    const char *schema = NULL;
    const char *source = NULL;
    if (!roof_json_is_object(root)) {
        return roof_json_error(json, root, r->error, "a graph file must be an object");
    }
    TRY(roof_json_only(json, root, root_keys, COUNT(root_keys), r->error));
    TRY(read_line(&schema, r, root, "schema", SCHEMA));
    if (strcmp(schema, SCHEMA) != 0) {
        return roof_json_error(json, roof_json_get(root, "schema"), r->error,
                               "schema must be " SCHEMA);
    }
    TRY(read_line(&r->out->name, r, root, "name", "graph"));
    TRY(read_line(&r->out->unit, r, root, "unit", "runs"));
    TRY(read_line(&source, r, root, "source", "-"));
    r->out->yields = 1;
    if (yields != NULL && (!roof_json_number(&r->out->yields, yields) || r->out->yields <= 0)) {
        return roof_json_error(json, yields, r->error, "yields must be a number above 0");
    }
    TRY(read_inputs(&r->file, &r->file_owner, r, root, true));
    TRY(read_devices(r));
    TRY(read_array(&stages, r, root, "stages"));
    TRY(make_room(r, stages));
    for (; stages != NULL; stages = roof_json_next(stages)) {
        TRY(read_stage(r, stages));
    }
    return check_taken(r);
}

/* Parses the value in the question: a path, "-", or the document itself. */
static enum roof_status open_json(struct roof_json **out, const char *graph,
                                  struct roof_error *error)
{
    return *graph == '{' ? roof_json_parse(out, graph, strlen(graph), "graph", error)
                         : roof_json_read_stream(out, graph, error);
}

enum roof_status roof_workflow_read(struct roof_workflow *out, struct roof_asking *a,
                                    struct roof_error *error)
{
    struct reading r = {.asking = a, .out = out, .error = error};
    *out = (struct roof_workflow){.json = NULL};
    enum roof_status status = open_json(&out->json, a->question->graph, error);
    if (status == ROOF_OK) {
        status = read_root(&r);
    }
    roof_question_free(r.file_owner);
    if (status == ROOF_OK) {
        roof_workflow_sum(out);
        status = out->total.time_s > 0
                     ? ROOF_OK
                     : roof_json_error(
                           out->json, roof_json_root(out->json), error,
                           "the graph takes no time: collectives of one device move no bytes");
    }
    return status;
}
