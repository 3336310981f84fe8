// SPDX-License-Identifier: MIT
/* Compares answers with the expected values of checks, and updates these. */
#include <math.h>
#include <string.h>

#include "ask/check_private.h"
#include "base/base.h"

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
    const roof_json_value *const got = roof_check_key_value(&e->nowhere, document, e->key);
    double wanted = 0;
    double found = 0;
    if (got == NULL) {
        e->passed = roof_json_is_null(expected);
        return ROOF_OK;
    }
    size_t length = 0;
    const char *const span = roof_json_span(document, got, &length);
    e->got = roof_checks_keep(p, span, length);
    if (e->got == NULL) {
        return roof_no_memory(error);
    }
    if (e->range) {
        e->passed = roof_json_number(&found, got) && found >= e->min && found <= e->max;
        return ROOF_OK;
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

/* Compares the message of an error with the expected one; refusal is NULL if there was none. */
static enum roof_status compare_refusal(struct roof_expectation *e, struct roof_checks_private *p,
                                        const roof_json_value *expected,
                                        const struct roof_error *refusal, struct roof_error *error)
{
    char line[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE];
    struct roof_text text = ROOF_TEXT_INIT;
    if (refusal == NULL) {
        e->passed = false;
        return ROOF_OK;
    }
    roof_error_line(line, sizeof line, refusal);
    roof_json_quote(&text, line);
    e->passed = strstr(line, roof_json_string(expected)) != NULL;
    return roof_checks_keep_text(&e->got, p, &text, error);
}

/* Fails because the request of a check that expects values was refused. */
static enum roof_status refused(const struct roof_checks *checks, size_t i,
                                const struct roof_error *refusal, struct roof_error *error)
{
    const struct roof_checks_private *const p = checks->private_data;
    const enum roof_status status = refusal->status == ROOF_IO ? ROOF_IO : ROOF_INVALID;
    int line = 0;
    int column = 0;
    roof_json_place(p->json, p->inputs[i], &line, &column);
    if (error == NULL) {
        return status;
    }
    *error = *refusal;
    (void)roof_error_move(error, status, "", 0, 0); /* a place of its own is part of the message */
    (void)roof_error_prefix(error, status, "%s: ", checks->check[i].name);
    return roof_error_move(error, status, checks->name, line, column);
}

/* Compares the expected values with the document, or with the error. */
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
                               answer->status == ROOF_OK ? NULL : &answer->refusal, error);
    }
    if (answer->status != ROOF_OK) {
        return refused(checks, i, &answer->refusal, error);
    }
    struct roof_json *document = NULL;
    TRY(roof_json_parse(&document, answer->text, answer->length, "answer", error));
    if (roof_json_is_array(roof_json_root(document))) {
        struct roof_error several;
        (void)roof_error_set(&several, ROOF_USAGE,
                             "the answer is one document for each device: give one device");
        roof_json_free(document);
        return refused(checks, i, &several, error);
    }
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

/* --- updating ------------------------------------------------------------------------------ */

bool roof_expectation_updates(const struct roof_expectation *expectation)
{
    return !expectation->nowhere && !expectation->range &&
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
