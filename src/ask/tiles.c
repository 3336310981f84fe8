// SPDX-License-Identifier: MIT
/* Answers `predict` for a product with a tile, or with a ranking of all common tiles. */
#include <stdlib.h>

#include "ask/asking.h"
#include "base/base.h"
#include "report/tile_report.h"

/* The capacity for common tiles, which exceeds their number. */
#define TILES_MAX 64

/* The question about tiles of an operator. */
struct tiles_input {
    struct roof_scenario scenario;
    const struct roof_hardware *hardware;
    struct roof_kept_columns kept;
    bool all; /* the common tiles are ranked */
};

/* The question, and the tiles that fit. */
struct tiles {
    struct tiles_input in;
    struct roof_prediction prediction;
    struct roof_tile tile[TILES_MAX];
    size_t count;
    size_t left;
};

/* Analyses all common tiles. If none fits, the error is that of the first one. */
static enum roof_status rank(struct tiles *s, struct roof_error *error)
{
    struct roof_error first = {.status = ROOF_OK};
    struct roof_tile_choice choice = s->in.scenario.tile;
    for (size_t i = 0; roof_tile_candidate(i) != 0 && s->count < TILES_MAX; i++) {
        struct roof_error refused = {.status = ROOF_OK};
        choice.tile = roof_tile_candidate(i);
        if (roof_tile_predict(&s->tile[s->count], &s->prediction, &choice, &refused) == ROOF_OK) {
            s->count++;
        } else if (s->left++ == 0) {
            first = refused;
        }
    }
    if (s->count == 0) {
        *error = first;
        return first.status;
    }
    qsort(s->tile, s->count, sizeof s->tile[0], roof_tile_compare);
    return ROOF_OK;
}

static enum roof_status read_input(struct tiles_input *in, struct roof_asking *a,
                                   struct roof_error *error)
{
    static const size_t others[] = {ROOF_INPUT_WHY, ROOF_INPUT_TILING, ROOF_INPUT_MEASURED,
                                    ROOF_INPUT_ADVISE};
    TRY(roof_asking_refuse(a, others, COUNT(others), ROOF_KEY("tile"), error));
    TRY(roof_read_scenario(&in->scenario, a->question, error));
    in->all = in->scenario.tile.tile == ROOF_SIZES_ALL;
    roof_read_kept_columns(&in->kept, a->question);
    return roof_asking_hardware(&in->hardware, a, NULL, error);
}

static enum roof_status predict_tiles(struct tiles *s, struct roof_error *error)
{
    TRY(roof_predict(&s->prediction, &s->in.scenario.common, s->in.hardware, error));
    if (s->in.all) {
        return rank(s, error);
    }
    s->count = 1;
    return roof_tile_predict(&s->tile[0], &s->prediction, &s->in.scenario.tile, error);
}

static void write_tiles(struct roof_text *out, struct roof_table *table, const struct tiles *s,
                        const struct roof_form *form)
{
    if (!s->in.all && form->document) {
        roof_report_tile(out, form->format == ROOF_JSON, &s->prediction, &s->tile[0]);
        return;
    }
    struct roof_variety variety = {.rows = 0};
    for (size_t i = 0; i < s->count; i++) {
        roof_variety_add(&variety, table, &s->prediction, NULL, &s->tile[i]);
    }
    roof_table_narrow(table, &s->in.kept, &variety);
    roof_table_begin(table, out);
    for (size_t i = 0; i < s->count; i++) {
        roof_table_tile(table, out, &s->prediction, &s->tile[i]);
    }
    roof_table_end(table, out);
    if (form->format == ROOF_TEXT) {
        roof_report_tiles_left(out, s->left, s->prediction.hardware);
    }
}

enum roof_status roof_ask_tiles(struct roof_text *out, struct roof_asking *a,
                                struct roof_error *error)
{
    struct roof_table table;
    struct tiles *const s = calloc(1, sizeof *s);
    if (s == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = read_input(&s->in, a, error);
    if (status == ROOF_OK) {
        status = roof_table_open(&table, a->form.rows, ROOF_TABLE_TILES, s->in.scenario.common.op,
                                 a->form.columns, error);
    }
    if (status == ROOF_OK) {
        status = predict_tiles(s, error);
    }
    if (status == ROOF_OK) {
        write_tiles(out, &table, s, &a->form);
    }
    free(s);
    return status;
}
