// SPDX-License-Identifier: MIT
/* Answers `predict` of a graph file. */
#include "ask/asking.h"
#include "ask/workflow_read.h"
#include "base/base.h"
#include "report/workflow_report.h"

enum roof_status roof_ask_predict_graph(struct roof_text *out, struct roof_asking *a,
                                        struct roof_error *error)
{
    static const size_t single[] = {ROOF_INPUT_FROM,   ROOF_INPUT_WHY,      ROOF_INPUT_TILING,
                                    ROOF_INPUT_TILE,   ROOF_INPUT_STAGES,   ROOF_INPUT_CLUSTER,
                                    ROOF_INPUT_ADVISE, ROOF_INPUT_MEASURED, ROOF_INPUT_COLUMNS,
                                    ROOF_INPUT_WIDE,   ROOF_INPUT_LAYOUT,   ROOF_INPUT_BLOCKS};
    struct roof_workflow workflow;
    int64_t top = 0;
    TRY(roof_asking_refuse(a, single, COUNT(single), "a graph file", error));
    if (!roof_asking_document(a)) {
        return roof_error_set(error, ROOF_USAGE,
                              "a graph file goes with " ROOF_KEY("format") " text or json");
    }
    TRY(roof_read_integer(&top, a->question, ROOF_INPUT_TOP, error));
    const enum roof_status status = roof_workflow_read(&workflow, a, error);
    if (status == ROOF_OK && a->format == ROOF_JSON) {
        roof_workflow_report_json(out, &workflow);
    } else if (status == ROOF_OK) {
        roof_workflow_report_text(out, &workflow, top == 0 ? 12 : (size_t)top);
    }
    roof_workflow_free(&workflow);
    return status;
}
