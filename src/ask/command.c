// SPDX-License-Identifier: MIT
/* Writes the command line of a question. */
#include "ask/asking.h"
#include "base/base.h"
#include "base/shell.h"

static void put_word(struct roof_text *out, const char *word)
{
    roof_text_put(out, " ");
    roof_text_shell_word(out, word);
}

static void put_option(struct roof_text *out, size_t input, const char *value)
{
    char name[ROOF_INPUT_NAME_SIZE];
    roof_text_printf(out, " %s", roof_input_name(name, roof_input(input)));
    if (roof_input(input)->kind != ROOF_INPUT_FLAG) {
        put_word(out, value);
    }
}

void roof_asking_command(struct roof_text *out, const char *command,
                         const struct roof_question *question)
{
    roof_text_printf(out, "roofline %s", command);
    put_word(out, question->model ? "model" : question->op);
    if (question->model_name != NULL) {
        put_word(out, question->model_name);
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        const struct roof_texts one = {.value = {question->value[i]}, .count = 1};
        const struct roof_texts *const values = i == ROOF_INPUT_SET     ? &question->set
                                                : i == ROOF_INPUT_CLASS ? &question->classes
                                                                        : &one;
        for (int k = 0; roof_asked(question, i) && k < values->count; k++) {
            put_option(out, i, values->value[k]);
        }
    }
}

void roof_asking_greatest(struct roof_text *out, bool *limited, const struct roof_asking *a)
{
    static const size_t limits[] = {ROOF_INPUT_MAX_TTFT, ROOF_INPUT_MAX_TPOT, ROOF_INPUT_MAX_E2E};
    struct roof_question greatest;
    *limited = false;
    roof_question_borrow(&greatest, a->question);
    for (size_t i = 0; i < COUNT(limits); i++) {
        *limited = *limited || roof_asking_has(a, limits[i]);
    }
    greatest.value[ROOF_INPUT_RATE] = "max";
    if (!*limited) {
        greatest.value[ROOF_INPUT_MAX_TTFT] = "p99:1s";
    }
    roof_asking_command(out, "simulate", &greatest);
}
