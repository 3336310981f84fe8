// SPDX-License-Identifier: MIT
#include "ask/page.h"

#include <stdlib.h>

#include "ask/asking.h"
#include "base/base.h"
#include "chart/chart.h"

/* Chooses the phases of a page where the question does not. */
static void show_phases(struct roof_page_sizes *sizes)
{
    const bool mixed = sizes->scenario.phase == ROOF_PHASE_MIXED;
    sizes->phase[ROOF_PHASE_MIXED] = mixed;
    sizes->phase[ROOF_PHASE_DECODE] = sizes->phase[ROOF_PHASE_PREFILL] = !mixed;
}

bool roof_page_grid(struct roof_page_sizes *out, const struct roof_grid *grid,
                    const struct roof_question *question)
{
    const struct roof_input *const phase = roof_input(ROOF_INPUT_PHASE);
    *out = (struct roof_page_sizes){.model = grid->model[0], .scenario = grid->sweep.base};
    if (roof_asked(question, ROOF_INPUT_FROM) || grid->models != 1) {
        return false;
    }
    for (size_t i = 0; i < grid->sweep.axis_count; i++) {
        const struct roof_axis *const axis = &grid->sweep.axis[i];
        if (axis->values.count > 1 && axis->input != phase) {
            return false;
        }
        for (int64_t k = axis->values.count; k > 0; k--) { /* the first value stays */
            const int64_t value = roof_values_at(&axis->values, k - 1);
            roof_input_put(&out->scenario, axis->input, value);
            if (axis->input == phase) {
                out->phase[value] = true;
            }
        }
    }
    if (!roof_asked(question, ROOF_INPUT_PHASE)) {
        show_phases(out);
    }
    return true;
}

/* The parts that a page is made from; large. */
struct page {
    struct roof_page_sizes sizes;
    const struct roof_model *model;
    const struct roof_model *draft;
    const struct roof_hardware *hardware;
    struct roof_chart chart;
    struct roof_text title;
};

/* Refuses what no page has. */
static enum roof_status check(const struct roof_asking *a, struct roof_error *error)
{
    static const size_t refused[] = {ROOF_INPUT_FROM, ROOF_INPUT_EXPLAIN, ROOF_INPUT_WHY,
                                     ROOF_INPUT_TOP, ROOF_INPUT_COLUMNS};
    if (!a->question->model) {
        return roof_error_set(error, ROOF_USAGE,
                              "html is a format of models; a page of operators is roofline plot "
                              "OPERATOR ... " ROOF_KEY("format") " html");
    }
    TRY(roof_asking_refuse(a, refused, COUNT(refused), "html", error));
    return a->question->model_name == NULL ? roof_which_model(error) : ROOF_OK;
}

static enum roof_status read_input(struct page *p, struct roof_asking *a, struct roof_error *error)
{
    struct roof_scenario *const scenario = &p->sizes.scenario;
    TRY(check(a, error));
    TRY(roof_read_scenario(scenario, a->question, error));
    if (scenario->prompt > 0 || scenario->generate > 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "a page shows one pass: give " ROOF_KEY("batch") " and " ROOF_KEY(
                                  "context") ", not " ROOF_KEY("prompt") " and " ROOF_KEY("generat"
                                                                                          "e"));
    }
    TRY(roof_asking_hardware(&p->hardware, a, NULL, error));
    TRY(roof_asking_model(&p->model, a, a->question, a->question->model_name, error));
    TRY(roof_asking_draft(&p->draft, scenario, a, error));
    p->sizes.model = p->model;
    show_phases(&p->sizes);
    return ROOF_OK;
}

static enum roof_status write_page(struct roof_text *out, struct page *p, struct roof_asking *a,
                                   struct roof_error *error)
{
    TRY(read_input(p, a, error));
    TRY(roof_chart_add_roof(&p->chart, p->hardware, NULL, p->sizes.scenario.common.sparse, error));
    roof_text_printf(&p->title, "%s on %s", p->model->name, p->hardware->name);
    if (p->title.failed) {
        return roof_no_memory(error);
    }
    roof_chart_name(p->chart.title, p->title.data);
    return roof_chart_page(out, &p->chart, &p->sizes, error);
}

enum roof_status roof_ask_page(struct roof_text *out, struct roof_asking *a,
                               struct roof_error *error)
{
    struct page *const p = calloc(1, sizeof *p);
    if (p == NULL) {
        return roof_no_memory(error);
    }
    roof_chart_init(&p->chart);
    p->chart.expected = true;
    const enum roof_status status = write_page(out, p, a, error);
    roof_chart_free(&p->chart);
    roof_text_free(&p->title);
    free(p);
    return status;
}
