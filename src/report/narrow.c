// SPDX-License-Identifier: MIT
/* Text tables fit on a page: what matters least is left out. */
#include <string.h>

#include "base/base.h"
#include "decide/question.h"
#include "report/render.h"

#define LEFT_OUT_MAX 16

/* The columns that may be left out of tables of a kind, the first of these first. */
static const struct {
    enum roof_table_kind kind;
    const char *key[LEFT_OUT_MAX];
} left_out[] = {
    {ROOF_TABLE_PREDICTIONS,
     {"batch", "activations", "arithmetic_intensity", "compute_precision", "attainable_tflops",
      "out", "kv", "bottleneck"}},
    {ROOF_TABLE_MODEL_PREDICTIONS,
     {"pp", "ep", "kv", "activations", "tp", "tokens_per_s_per_user", "phase", "generate", "prompt",
      "context", "weights", "bottleneck", "fits", "expected_ttft_ms", "ttft_ms"}},
    {ROOF_TABLE_PLANS,
     {"expected_step_ms", "step_ms", "expected_tokens_per_s", "tokens_per_s", "devices", "kv",
      "expected_ttft_ms", "ttft_ms"}},
    {ROOF_TABLE_HARDWARE, {"int4_tflops", "int8_tflops", "tdp_w", "basis"}},
    {ROOF_TABLE_PRECISIONS, {"block_elements", "block_bytes", "highest", "family"}},
    {ROOF_TABLE_OPERATORS, {"dimensions"}},
    {ROOF_TABLE_MODELS, {"window", "positions", "vocab", "head_dim", "top_k", "kv_heads"}},
};

/* Tells if a question gives an input several values. */
static bool is_list(const struct roof_question *question, size_t input)
{
    return roof_asked(question, input) && strpbrk(question->value[input], ",:") != NULL;
}

/* Tells if a column differs from row to row because the question asks for it. */
static bool varies(const struct roof_question *question, const char *key)
{
    const size_t input = roof_input_number(key);
    return (input < ROOF_INPUT_COUNT && is_list(question, input)) ||
           (strcmp(key, "weights") == 0 && is_list(question, ROOF_INPUT_PRECISION_BOTH));
}

void roof_table_hide(struct roof_table *table, const char *key)
{
    struct roof_fields *const columns = &table->columns;
    size_t kept = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->field[i].key, key) != 0) {
            columns->field[kept++] = columns->field[i];
        }
    }
    columns->count = kept;
}

void roof_table_narrow(struct roof_table *table, const struct roof_question *question)
{
    if (table->output != ROOF_OUTPUT_TEXT || roof_asked(question, ROOF_INPUT_COLUMNS) ||
        roof_asked(question, ROOF_INPUT_WIDE)) {
        return;
    }
    for (size_t i = 0; i < COUNT(left_out); i++) {
        const char *const *const key = left_out[i].key;
        for (size_t k = 0; left_out[i].kind == table->kind && k < LEFT_OUT_MAX && key[k] != NULL &&
                           roof_table_width(table) > ROOF_PAGE_WIDTH;
             k++) {
            if (!varies(question, key[k])) {
                roof_table_hide(table, key[k]);
            }
        }
    }
}
