// SPDX-License-Identifier: MIT
/* Answers `predict` for a graph file. */
#include "ask/asking.h"
#include "ask/workflow_read.h"
#include "base/base.h"
#include "report/workflow_report.h"

/* Reads the number of operators in the document, and refuses results that it cannot show. */
static enum roof_status read_form(int64_t *top, const struct roof_asking *a,
                                  struct roof_error *error)
{
    static const size_t single[] = {ROOF_INPUT_FROM,   ROOF_INPUT_WHY,      ROOF_INPUT_TILING,
                                    ROOF_INPUT_TILE,   ROOF_INPUT_STAGES,   ROOF_INPUT_CLUSTER,
                                    ROOF_INPUT_ADVISE, ROOF_INPUT_MEASURED, ROOF_INPUT_COLUMNS,
                                    ROOF_INPUT_WIDE,   ROOF_INPUT_LAYOUT,   ROOF_INPUT_BLOCKS};
    TRY(roof_asking_refuse(a, single, COUNT(single), "a graph file", error));
    if (!a->form.document) {
        return roof_error_set(error, ROOF_USAGE,
                              "a graph file needs " ROOF_KEY("format") " text or json");
    }
    *top = ROOF_TOP_DEFAULT;
    return roof_read_integer(top, a->question, ROOF_INPUT_TOP, error);
}

enum roof_status roof_ask_predict_graph(struct roof_text *out, struct roof_asking *a,
                                        struct roof_error *error)
{
    struct roof_workflow workflow;
    int64_t top = 0;
    TRY(read_form(&top, a, error));
    const enum roof_status status = roof_workflow_read(&workflow, a, error);
    if (status == ROOF_OK && a->form.format == ROOF_JSON) {
        roof_workflow_report_json(out, &workflow);
    } else if (status == ROOF_OK) {
        roof_workflow_report_text(out, &workflow, (size_t)top);
    }
    roof_workflow_free(&workflow);
    return status;
}
