// SPDX-License-Identifier: MIT
/* Answers questions about several devices whose answers do not stand side by side: one answer for
 * each device, in the order of the list. */
#include "ask/each.h"

#include <stdlib.h>
#include <string.h>

#include "ask/draw.h"
#include "base/base.h"
#include "base/list.h"

bool roof_check_each(const struct roof_asking *a)
{
    static const size_t alone[] = {ROOF_INPUT_WHY,    ROOF_INPUT_TILING, ROOF_INPUT_TILE,
                                   ROOF_INPUT_TOP,    ROOF_INPUT_WIDE,   ROOF_INPUT_MEASURED,
                                   ROOF_INPUT_ADVISE, ROOF_INPUT_BLOCKS};
    const struct roof_question *const q = a->question;
    const char *const offload = q->value[ROOF_INPUT_OFFLOADED];
    if (!roof_check_sides(a) || roof_asking_has(a, ROOF_INPUT_EXPLAIN) ||
        roof_asking_has(a, ROOF_INPUT_FROM)) {
        return false;
    }
    if (a->command != ROOF_COMMAND_PREDICT) {
        return a->command == ROOF_COMMAND_SIMULATE ||
               (a->command == ROOF_COMMAND_RECOMMEND && !q->model);
    }
    bool each = q->graph != NULL || (q->model && roof_form_is_markdown(&a->form)) ||
                (offload != NULL && strstr(offload, ":fit") != NULL && a->form.format == ROOF_TEXT);
    for (size_t i = 0; i < COUNT(alone); i++) {
        each = each || roof_asking_has(a, alone[i]);
    }
    return each;
}

/* Refuses inputs for one device only, and files that can be read only once. */
static enum roof_status check(const struct roof_asking *a, struct roof_error *error)
{
    const struct roof_question *const q = a->question;
    const char *const read[] = {q->graph, q->value[ROOF_INPUT_TRACE]};
    if (roof_asking_has(a, ROOF_INPUT_MEASURED)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("measured_us") " is a time on one device: give one device");
    }
    if (roof_asking_drawn(a)) {
        return roof_error_set(error, ROOF_USAGE,
                              "an image shows one device: give one device, or ask for text");
    }
    for (size_t i = 0; i < COUNT(read); i++) {
        if (read[i] != NULL && strcmp(read[i], "-") == 0) {
            return roof_error_set(
                error, ROOF_USAGE,
                "standard input can be read only once: give one device, or a file");
        }
    }
    return ROOF_OK;
}

/* Adds the answer of a device to those before it: as an element of a JSON array, or below them.
 * Rows of CSV have one header. */
static void join(struct roof_text *out, const struct roof_asking *a, const struct roof_text *one)
{
    const enum roof_answer_format format = a->form.format;
    const bool first = out->length == 0;
    const char *const line = one->length == 0 ? NULL : memchr(one->data, '\n', one->length);
    size_t from = 0;
    size_t length = one->length;
    if (format == ROOF_JSON) {
        roof_text_put(out, first ? "[" : ",\n");
        length -= length > 0 && one->data[length - 1] == '\n';
    } else if (format == ROOF_CSV && !first && line != NULL) {
        from = (size_t)(line - one->data) + 1;
    } else if (format != ROOF_NDJSON && !first) {
        roof_text_put(out, "\n");
    }
    if (length > 0) {
        roof_text_add(out, one->data + from, length - from);
    }
    out->failed |= one->failed;
}

/* Answers for one device of the list. A document that says that nothing is left is an answer. */
static enum roof_status answer_one(struct roof_text *out, struct roof_asking *a,
                                   enum roof_status *found, const struct roof_list_item *device,
                                   enum roof_status (*answer)(struct roof_asking *,
                                                              struct roof_error *),
                                   struct roof_error *error)
{
    const struct roof_question *const asked = a->question;
    struct roof_question question;
    struct roof_text one = ROOF_TEXT_INIT;
    char *const name = strndup(device->text, device->length);
    if (name == NULL) {
        return roof_no_memory(error);
    }
    roof_question_borrow(&question, asked);
    question.value[ROOF_INPUT_HARDWARE] = name;
    a->question = &question;
    a->collected = &one;
    enum roof_status status = answer(a, error);
    a->collected = NULL;
    a->question = asked;
    if (status == ROOF_UNSATISFIED && one.length > 0) {
        *found = status;
        status = ROOF_OK;
    }
    if (status == ROOF_OK) {
        join(out, a, &one);
    }
    roof_text_free(&one);
    free(name);
    return status;
}

enum roof_status roof_ask_each(struct roof_asking *a,
                               enum roof_status (*answer)(struct roof_asking *,
                                                          struct roof_error *),
                               struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_list_item device;
    enum roof_status found = ROOF_OK;
    enum roof_status status = check(a, error);
    const char *rest = a->question->value[ROOF_INPUT_HARDWARE];
    while (status == ROOF_OK && roof_list_next(&device, &rest)) {
        status = answer_one(&text, a, &found, &device, answer, error);
    }
    if (status == ROOF_OK) {
        roof_text_put(&text, a->form.format == ROOF_JSON ? "]\n" : "");
        status = roof_asking_write(a, &text, error);
    }
    roof_text_free(&text);
    if (status == ROOF_OK && found != ROOF_OK) {
        *error = (struct roof_error){.status = found}; /* the document says it */
        return found;
    }
    return status;
}
