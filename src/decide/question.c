// SPDX-License-Identifier: MIT
#include "decide/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "base/text.h"
#include "decide/synonym.h"

enum roof_status roof_question_new(struct roof_question **out, struct roof_error *error)
{
    *out = calloc(1, sizeof **out);
    return *out == NULL ? roof_no_memory(error) : ROOF_OK;
}

void roof_question_free(struct roof_question *question)
{
    while (question != NULL && question->kept != NULL) {
        struct roof_kept_text *const first = question->kept;
        question->kept = first->next;
        free(first);
    }
    free(question);
}

bool roof_asked_formats(const struct roof_question *question)
{
    static const size_t inputs[] = {ROOF_INPUT_PRECISION_BOTH, ROOF_INPUT_WEIGHTS,
                                    ROOF_INPUT_ACTIVATIONS, ROOF_INPUT_LAYOUT, ROOF_INPUT_FORMATS};
    bool any = false;
    for (size_t i = 0; i < COUNT(inputs); i++) {
        any = any || roof_asked(question, inputs[i]);
    }
    return any;
}

void roof_question_borrow(struct roof_question *out, const struct roof_question *question)
{
    *out = *question;
    out->kept = NULL;
}

/* Copies a text for the question; NULL without memory. */
static const char *keep(struct roof_question *question, const char *text)
{
    const size_t size = strlen(text) + 1;
    struct roof_kept_text *const kept = malloc(sizeof *kept + size);
    if (kept == NULL) {
        return NULL;
    }
    memcpy(kept->text, text, size);
    kept->next = question->kept;
    question->kept = kept;
    return kept->text;
}

/* --- keys outside the input table ---------------------------------------------------------- */

static enum roof_status put_once(const char **slot, struct roof_question *question, const char *key,
                                 const char *value, struct roof_error *error)
{
    if (*slot != NULL) {
        return roof_error_set(error, ROOF_USAGE, ROOF_KEY("%s") " is given more than once", key);
    }
    *slot = keep(question, value);
    return *slot == NULL ? roof_no_memory(error) : ROOF_OK;
}

static enum roof_status put_file(struct roof_question *question, const char *value,
                                 struct roof_error *error)
{
    if (question->files == ROOF_FILES_MAX) {
        return roof_error_set(error, ROOF_USAGE, "more than %d files are given", ROOF_FILES_MAX);
    }
    const char *const kept = keep(question, value);
    if (kept == NULL) {
        return roof_no_memory(error);
    }
    question->file[question->files++] = kept;
    return ROOF_OK;
}

static enum roof_status put_workload(struct roof_question *question, bool model, const char *value,
                                     struct roof_error *error)
{
    if (question->op != NULL || question->model || question->graph != NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "a question has one operator or one model: leave out %s", value);
    }
    question->model = model;
    const char **const slot = model ? &question->model_name : &question->op;
    return model && *value == '\0'
               ? ROOF_OK
               : put_once(slot, question, model ? "model" : "operator", value, error);
}

static enum roof_status put_graph(struct roof_question *question, const char *value,
                                  struct roof_error *error)
{
    if (question->op != NULL || question->model) {
        return roof_error_set(error, ROOF_USAGE,
                              "a graph file replaces the operator or model: leave one out");
    }
    return *value == '\0'
               ? roof_error_set(error, ROOF_USAGE,
                                "no graph file is given: roofline predict graph FILE.json")
               : put_once(&question->graph, question, "graph", value, error);
}

/* --- rows of the input table --------------------------------------------------------------- */

/* Returns the list of values for a key that may be repeated; NULL for other keys. */
static struct roof_texts *texts_of(struct roof_question *question, size_t input)
{
    return input == ROOF_INPUT_SET     ? &question->set
           : input == ROOF_INPUT_CLASS ? &question->classes
           : input == ROOF_INPUT_PRICE ? &question->prices
           : input == ROOF_INPUT_LINE  ? &question->lines
                                       : NULL;
}

/* Refuses a KEY=VALUE whose key is already given, because one of the two would silently win. A
 * wider key beside a narrower one is fine (linear, then q). */
static enum roof_status check_assignment(const struct roof_texts *texts, size_t input,
                                         const char *text, struct roof_error *error)
{
    const size_t length = strcspn(text, "=");
    const bool keyed = input == ROOF_INPUT_SET || input == ROOF_INPUT_CLASS;
    char name[ROOF_INPUT_NAME_SIZE];
    for (int i = 0; keyed && i < texts->count; i++) {
        if (strcspn(texts->value[i], "=") == length &&
            strncmp(texts->value[i], text, length) == 0) {
            return roof_error_set(error, ROOF_USAGE, "%s %s: %.*s is already given",
                                  roof_input_marked(name, roof_input(input)), text, (int)length,
                                  text);
        }
    }
    return ROOF_OK;
}

static enum roof_status put_one_of_many(struct roof_question *question, struct roof_texts *texts,
                                        size_t input, const char *text, struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    if (texts->count == ROOF_TEXTS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "%s is given more than %d times",
                              roof_input_marked(name, roof_input(input)), ROOF_TEXTS_MAX);
    }
    TRY(check_assignment(texts, input, text, error));
    const char *const kept = keep(question, text);
    if (kept == NULL) {
        return roof_no_memory(error);
    }
    texts->value[texts->count++] = kept;
    question->value[input] = texts->value[0];
    return ROOF_OK;
}

/* Reads if a flag is given. */
static enum roof_status read_flag(bool *given, size_t input, const char *text,
                                  struct roof_error *error)
{
    static const char *const yes[] = {"", "1", "true"};
    static const char *const no[] = {"0", "false"};
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < COUNT(yes); i++) {
        if (strcmp(text, yes[i]) == 0) {
            *given = true;
            return ROOF_OK;
        }
    }
    for (size_t i = 0; i < COUNT(no); i++) {
        if (strcmp(text, no[i]) == 0) {
            *given = false;
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_USAGE, "%s is a flag: true or false, not '%s'",
                          roof_input_marked(name, roof_input(input)), text);
}

static enum roof_status put_input(struct roof_question *question, size_t input, const char *text,
                                  struct roof_error *error)
{
    struct roof_texts *const texts = texts_of(question, input);
    char name[ROOF_INPUT_NAME_SIZE];
    bool given = true;
    if (roof_input(input)->many) {
        return put_one_of_many(question, texts, input, text, error);
    }
    if (roof_input(input)->kind == ROOF_INPUT_FLAG) {
        TRY(read_flag(&given, input, text, error));
        text = "";
    }
    if (!given && !roof_asked(question, input)) {
        return ROOF_OK; /* "false" beside "true" is refused, because one of the two would silently
                           win */
    }
    return put_once(&question->value[input], question, roof_input_key(name, roof_input(input)),
                    text, error);
}

static enum roof_status unknown_key(const char *key, struct roof_error *error)
{
    char names[ROOF_INPUT_COUNT][ROOF_INPUT_NAME_SIZE];
    /* The keys of the subject are not in the table. */
    const char *known[ROOF_INPUT_COUNT + 6] = {"operator", "model", "graph", "list", "id", "file"};
    size_t count = 6;
    const size_t own = roof_input_number(key);
    if (own < ROOF_INPUT_COUNT) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("%s") " is not an input of a question: it sets %s, which "
                                             "the calling program decides",
                              key,
                              roof_input(own)->commands == ROOF_COMMAND_SERVE
                                  ? "how the service runs"
                                  : "how the answer is written");
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        if (!roof_input(i)->own) {
            known[count] = roof_input_key(names[i], roof_input(i));
            count++;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "key", key, known, count);
}

static enum roof_status put_synonym(struct roof_question *question,
                                    const struct roof_synonym *synonym, const char *value,
                                    struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = roof_synonym_value(&text, synonym, value, error);
    if (status == ROOF_OK) {
        status = put_input(question, synonym->input, text.data == NULL ? "" : text.data, error);
    }
    roof_text_free(&text);
    return status;
}

enum roof_status roof_question_put(struct roof_question *question, const char *key,
                                   const char *value, struct roof_error *error)
{
    if (strcmp(key, "operator") == 0 || strcmp(key, "model") == 0) {
        return put_workload(question, *key == 'm', value, error);
    }
    if (strcmp(key, "graph") == 0) {
        return put_graph(question, value, error);
    }
    if (strcmp(key, "file") == 0) {
        return put_file(question, value, error);
    }
    if (strcmp(key, "list") == 0 || strcmp(key, "id") == 0) {
        return put_once(*key == 'l' ? &question->list : &question->id, question, key, value, error);
    }
    const size_t input = roof_input_number(key);
    if (input < ROOF_INPUT_COUNT && !roof_input(input)->own) {
        return put_input(question, input, value, error);
    }
    const struct roof_synonym *const synonym = roof_synonym_of_key(key);
    return synonym != NULL ? put_synonym(question, synonym, value, error) : unknown_key(key, error);
}

enum roof_status roof_question_taken(const struct roof_question *question, size_t id,
                                     struct roof_error *error)
{
    /* Operators have no host time, which they may say. */
    if (id == ROOF_INPUT_HOST_TIME && strcmp(question->value[id], "none") == 0) {
        return ROOF_OK;
    }
    return roof_input_taken(roof_input(id), question->model, error);
}

/* Refuses a time of copies that serve, which predictions do not have. */
static enum roof_status check_compile(const struct roof_question *question,
                                      enum roof_command command, struct roof_error *error)
{
    static const char name[] = "compile=";
    const bool serves =
        command == ROOF_COMMAND_SIMULATE ||
        (command == ROOF_COMMAND_RECOMMEND &&
         (roof_asked(question, ROOF_INPUT_RATE) || roof_asked(question, ROOF_INPUT_RATE_TRACE)));
    struct roof_list_item item;
    for (const char *rest = question->value[ROOF_INPUT_HOST_TIME];
         !serves && roof_list_next(&item, &rest);) {
        if (strncmp(item.text, name, strlen(name)) == 0) {
            return roof_error_set(error, ROOF_USAGE,
                                  ROOF_KEY("host_time") ": compile needs simulate, or recommend "
                                                        "model with " ROOF_KEY("rate"));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_question_check(const struct roof_question *question,
                                     enum roof_command command, struct roof_error *error)
{
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        if (roof_asked(question, i) && !roof_input_allowed(i, command)) {
            return roof_error_set(error, ROOF_USAGE, "%s is not an input of this command",
                                  roof_input_marked(name, roof_input(i)));
        }
    }
    if (question->graph != NULL && command != ROOF_COMMAND_PREDICT) {
        return roof_error_set(error, ROOF_USAGE, "a graph file works with predict only");
    }
    /* Records may mix requests and passes. */
    if (roof_asked(question, ROOF_INPUT_PHASE) && !roof_asked(question, ROOF_INPUT_FROM) &&
        (roof_asked(question, ROOF_INPUT_PROMPT) || roof_asked(question, ROOF_INPUT_GENERATE))) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("prompt") " and " ROOF_KEY(
                "generate") " ask for a whole request: leave out " ROOF_KEY("phase"));
    }
    return check_compile(question, command, error);
}
