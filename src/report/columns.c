// SPDX-License-Identifier: MIT
/* Lists the fields of each kind of result in tables. */
#include "catalog/catalog_fields.h"
#include "decide/decision_fields.h"
#include "decide/rate_fields.h"
#include "measure/energy.h"
#include "model/model_fields.h"
#include "operator/operator_fields.h"
#include "predict/prediction_fields.h"
#include "predict/tile_fields.h"
#include "report/render.h"
#include "simulate/simulation_fields.h"

/* The kinds whose fields do not depend on the request. */
static void (*const fields_of[])(struct roof_fields *) = {
    [ROOF_TABLE_HARDWARE] = roof_hardware_fields,
    [ROOF_TABLE_PRECISIONS] = roof_precision_fields,
    [ROOF_TABLE_OPERATORS] = roof_operator_fields,
    [ROOF_TABLE_MODEL_PREDICTIONS] = roof_model_prediction_fields,
    [ROOF_TABLE_MODELS] = roof_model_fields,
    [ROOF_TABLE_LAYOUTS] = roof_layout_fields,
    [ROOF_TABLE_PLANS] = roof_plan_fields,
    [ROOF_TABLE_RATES] = roof_rate_fields,
    [ROOF_TABLE_SPEEDUPS] = roof_speedup_fields,
    [ROOF_TABLE_ENGINES] = roof_engine_fields,
    [ROOF_TABLE_SIMULATIONS] = roof_simulation_fields,
    [ROOF_TABLE_SERVED] = roof_served_fields,
    [ROOF_TABLE_MOMENTS] = roof_moment_fields,
    [ROOF_TABLE_SAMPLES] = roof_sample_fields,
    [ROOF_TABLE_ENERGIES] = roof_energy_fields};

void roof_table_fields(struct roof_fields *out, enum roof_table_kind kind, enum roof_operator op,
                       bool for_people)
{
    out->count = 0;
    if (kind == ROOF_TABLE_PREDICTIONS) {
        roof_prediction_fields(out, op, 0);
    } else if (kind == ROOF_TABLE_TILES) {
        roof_tile_fields(out, op);
    } else if (kind == ROOF_TABLE_RECOMMENDATIONS) {
        roof_candidate_fields(out, op, for_people);
    } else if (kind == ROOF_TABLE_NODES) {
        roof_node_fields(out, op);
    } else {
        fields_of[kind](out);
    }
}
