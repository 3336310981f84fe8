// SPDX-License-Identifier: MIT
/* Answers `predict` of a product with a tile, or with a ranking of all usual tiles. */
#include <stdlib.h>

#include "ask/asking.h"
#include "base/base.h"
#include "report/tile_report.h"

/* The usual tiles: more than there are candidates. */
#define TILES_MAX 64

/* The question, and the tiles that fit. */
struct tiles {
    struct roof_scenario scenario;
    struct roof_prediction prediction;
    struct roof_tile tile[TILES_MAX];
    size_t count;
    size_t left;
};

/* Analyses all usual tiles. None that fits is refused for the reason of the first. */
static enum roof_status rank(struct tiles *s, struct roof_error *error)
{
    struct roof_error first = {.status = ROOF_OK};
    struct roof_tile_choice choice = s->scenario.tile;
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

static enum roof_status read_input(struct tiles *s, struct roof_asking *a, struct roof_error *error)
{
    static const size_t others[] = {ROOF_INPUT_WHY, ROOF_INPUT_TILING, ROOF_INPUT_MEASURED,
                                    ROOF_INPUT_ADVISE};
    const struct roof_hardware *hardware = NULL;
    TRY(roof_asking_refuse(a, others, COUNT(others), ROOF_KEY("tile"), error));
    TRY(roof_read_scenario(&s->scenario, a->question, error));
    TRY(roof_asking_hardware(&hardware, a, NULL, error));
    TRY(roof_predict(&s->prediction, &s->scenario.common, hardware, error));
    if (s->scenario.tile.tile == ROOF_SIZES_ALL) {
        return rank(s, error);
    }
    s->count = 1;
    return roof_tile_predict(&s->tile[0], &s->prediction, &s->scenario.tile, error);
}

static enum roof_status write_tiles(struct roof_text *out, const struct tiles *s,
                                    struct roof_asking *a, struct roof_error *error)
{
    struct roof_table table;
    const bool all = s->scenario.tile.tile == ROOF_SIZES_ALL;
    TRY(roof_table_open(&table, roof_asking_rows(a), ROOF_TABLE_TILES, s->prediction.workload.op,
                        a->question->value[ROOF_INPUT_COLUMNS], error));
    if (!all && (roof_asking_report(a) || a->format == ROOF_JSON)) {
        roof_report_tile(out, a->format == ROOF_JSON, &s->prediction, &s->tile[0]);
        return ROOF_OK;
    }
    struct roof_variety variety = {.rows = 0};
    for (size_t i = 0; i < s->count; i++) {
        roof_variety_add(&variety, &table, &s->prediction, NULL, &s->tile[i]);
    }
    roof_table_narrow(&table, a->question, &variety);
    roof_table_begin(&table, out);
    for (size_t i = 0; i < s->count; i++) {
        roof_table_tile(&table, out, &s->prediction, &s->tile[i]);
    }
    roof_table_end(&table, out);
    if (a->format == ROOF_TEXT) {
        roof_report_tiles_left(out, s->left, s->prediction.hardware);
    }
    return ROOF_OK;
}

enum roof_status roof_ask_tiles(struct roof_text *out, struct roof_asking *a,
                                struct roof_error *error)
{
    struct tiles *const s = calloc(1, sizeof *s);
    if (s == NULL) {
        return roof_no_memory(error);
    }
    enum roof_status status = read_input(s, a, error);
    if (status == ROOF_OK) {
        status = write_tiles(out, s, a, error);
    }
    free(s);
    return status;
}
