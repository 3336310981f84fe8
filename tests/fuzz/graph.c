// SPDX-License-Identifier: MIT
/*
 * Stages of operators from a file, as predict graph answers them.
 * Keys: src/ask/workflow_read.c
 */
#include "mutate_json.h"

static struct roof_store *store;

static void end(void)
{
    roof_store_free(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct roof_question *question = NULL;
    struct roof_error error = {0};
    char *answer = NULL;
    if (store == NULL) {
        CHECK(roof_store_new(&store, &error) == ROOF_OK);
        CHECK(atexit(end) == 0);
    }
    if (size == 0 || data[0] != '{') {
        return 0; /* this would be the name of a file */
    }
    char *const text = fuzz_text(data, size);
    CHECK(roof_question_new(&question, &error) == ROOF_OK);
    enum roof_status status = roof_question_put(question, "graph", text, &error);
    if (status == ROOF_OK) {
        status =
            roof_answer(store, question, ROOF_COMMAND_PREDICT, ROOF_JSON, &answer, NULL, &error);
    }
    if (status == ROOF_OK) {
        struct roof_text document = ROOF_TEXT_INIT;
        roof_text_add(&document, answer, strlen(answer));
        fuzz_json(&document);
    } else {
        CHECK(answer == NULL);
        fuzz_refused(status, &error);
    }
    roof_answer_free(answer);
    roof_question_free(question);
    free(text);
    return 0;
}
