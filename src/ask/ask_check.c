// SPDX-License-Identifier: MIT
/* Answers `check`: asks the questions of the files and reports deviations. */
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "ask/check.h"
#include "ask/check_report.h"
#include "base/base.h"

/* All files of one question; they are read and run before anything is written. */
struct checking {
    struct roof_checks files[ROOF_FILES_MAX];
    size_t count;
    size_t replaced; /* values that were written into the files */
    bool update;
};

/* Puts the workload and the inputs of a check into a question. */
static enum roof_status put_asked(struct roof_question *question,
                                  const struct roof_check_asked *asked, struct roof_error *error)
{
    char key[ROOF_INPUT_NAME_SIZE];
    const bool named = asked->named != NULL;
    TRY(roof_question_put(question, named ? asked->workload : "operator",
                          named ? asked->named : asked->workload, error));
    for (size_t i = 0; i < asked->count; i++) {
        TRY(roof_question_put(question, roof_input_key(key, roof_input(asked->input[i].input)),
                              asked->input[i].text, error));
    }
    return ROOF_OK;
}

/* Asks the question of a check. */
static enum roof_status ask(struct roof_check_answer *out, const struct roof_asking *a,
                            const struct roof_check_asked *asked, struct roof_error *error)
{
    struct roof_question *question = NULL;
    TRY(roof_question_new(&question, error));
    *out = (struct roof_check_answer){.text = NULL};
    out->status = put_asked(question, asked, &out->refusal);
    if (out->status == ROOF_OK) {
        out->status = a->answer(a->loans.store, question, asked->command, ROOF_JSON, &out->text,
                                &out->length, &out->refusal);
    }
    roof_question_free(question);
    if (out->status == ROOF_MEMORY) {
        free(out->text);
        return roof_no_memory(error);
    }
    if (out->status == ROOF_UNSATISFIED && out->text != NULL) {
        out->status = ROOF_OK; /* a document without a result is also an answer */
    }
    return ROOF_OK;
}

static enum roof_status run_check(struct roof_checks *checks, size_t i, const struct roof_asking *a,
                                  struct roof_error *error)
{
    struct roof_check_answer answer;
    TRY(ask(&answer, a, &checks->check[i].asked, error));
    const enum roof_status status = roof_check_take(checks, i, &answer, error);
    free(answer.text);
    return status;
}

/* Asks every question of a file and compares the answers. */
static enum roof_status run_checks(struct roof_checks *checks, const struct roof_asking *a,
                                   struct roof_error *error)
{
    for (size_t i = 0; i < checks->count; i++) {
        TRY(run_check(checks, i, a, error));
    }
    return ROOF_OK;
}

/* Reads the files that the question names. */
static enum roof_status read_files(struct checking *c, const struct roof_asking *a,
                                   struct roof_error *error)
{
    const struct roof_question *const q = a->question;
    if (q->files == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "no check file is given; for example: roofline check checks.json");
    }
    c->update = roof_asking_has(a, ROOF_INPUT_UPDATE);
    if (c->update && a->listener->replace == NULL) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("update") " writes files, which is not possible here: leave it out");
    }
    for (int i = 0; i < q->files; i++) {
        struct roof_checks *const file = &c->files[c->count++]; /* freed also after a failure */
        TRY(roof_checks_read(file, q->file[i], error));
    }
    return ROOF_OK;
}

static enum roof_status run_files(struct checking *c, const struct roof_asking *a,
                                  struct roof_error *error)
{
    for (size_t i = 0; i < c->count; i++) {
        TRY(run_checks(&c->files[i], a, error));
    }
    return ROOF_OK;
}

/* Replaces the expected values of a file that deviate by the values found. */
static enum roof_status update_file(struct checking *c, const struct roof_checks *file,
                                    const struct roof_listener *listener, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    const size_t replaced = roof_checks_updated(&text, file);
    enum roof_status status = ROOF_OK;
    if (text.failed) {
        status = roof_no_memory(error);
    } else if (replaced > 0) {
        status = listener->replace(listener->context, file->name, text.data, text.length, error);
        c->replaced += replaced;
    }
    roof_text_free(&text);
    return status;
}

static enum roof_status write_report(const struct checking *c, struct roof_asking *a,
                                     struct roof_error *error)
{
    const enum roof_check_output output = a->form.format == ROOF_TEXT   ? ROOF_CHECK_TEXT
                                          : a->form.format == ROOF_JSON ? ROOF_CHECK_JSON
                                          : a->form.format == ROOF_TAP  ? ROOF_CHECK_TAP
                                                                        : ROOF_CHECK_JUNIT;
    struct roof_text text = ROOF_TEXT_INIT;
    roof_check_report(&text, output, c->files, c->count, c->update);
    const enum roof_status status = roof_asking_write(a, &text, error);
    roof_text_free(&text);
    return status;
}

static enum roof_status answer(struct checking *c, struct roof_asking *a, struct roof_error *error)
{
    size_t deviations = 0;
    TRY(read_files(c, a, error));
    TRY(run_files(c, a, error));
    for (size_t i = 0; i < c->count; i++) {
        deviations += c->files[i].deviations;
        if (c->update) {
            TRY(update_file(c, &c->files[i], a->listener, error));
        }
    }
    TRY(write_report(c, a, error));
    *error = (struct roof_error){.status = deviations > c->replaced ? ROOF_UNSATISFIED : ROOF_OK};
    return error->status;
}

enum roof_status roof_ask_check(struct roof_asking *a, struct roof_error *error)
{
    struct checking *const c = calloc(1, sizeof *c);
    if (c == NULL) {
        return roof_no_memory(error);
    }
    const enum roof_status status = answer(c, a, error);
    for (size_t i = 0; i < c->count; i++) {
        roof_checks_free(&c->files[i]);
    }
    free(c);
    return status;
}
