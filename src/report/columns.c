// SPDX-License-Identifier: MIT
/* Lists the fields of each kind of result that tables have. */
#include "catalog/catalog_fields.h"
#include "decide/decision_fields.h"
#include "model/model_fields.h"
#include "operator/operator_fields.h"
#include "predict/prediction_fields.h"
#include "predict/tile_fields.h"
#include "report/render.h"
#include "simulate/simulation_fields.h"

void roof_table_fields(struct roof_fields *out, enum roof_table_kind kind, enum roof_operator op,
                       bool for_people)
{
    out->count = 0;
    switch (kind) {
    case ROOF_TABLE_PREDICTIONS:
        roof_prediction_fields(out, op, 0);
        break;
    case ROOF_TABLE_TILES:
        roof_tile_fields(out, op);
        break;
    case ROOF_TABLE_RECOMMENDATIONS:
        roof_candidate_fields(out, op, for_people);
        break;
    case ROOF_TABLE_HARDWARE:
        roof_hardware_fields(out);
        break;
    case ROOF_TABLE_PRECISIONS:
        roof_precision_fields(out);
        break;
    case ROOF_TABLE_OPERATORS:
        roof_operator_fields(out);
        break;
    case ROOF_TABLE_MODEL_PREDICTIONS:
        roof_model_prediction_fields(out);
        break;
    case ROOF_TABLE_NODES:
        roof_node_fields(out, op);
        break;
    case ROOF_TABLE_MODELS:
        roof_model_fields(out);
        break;
    case ROOF_TABLE_LAYOUTS:
        roof_layout_fields(out);
        break;
    case ROOF_TABLE_PLANS:
        roof_plan_fields(out);
        break;
    case ROOF_TABLE_SPEEDUPS:
        roof_speedup_fields(out);
        break;
    case ROOF_TABLE_ENGINES:
        roof_engine_fields(out);
        break;
    case ROOF_TABLE_SIMULATIONS:
        roof_simulation_fields(out);
        break;
    case ROOF_TABLE_SERVED:
        roof_served_fields(out);
        break;
    case ROOF_TABLE_SAMPLES:
        roof_sample_fields(out);
        break;
    case ROOF_TABLE_ENERGIES:
        roof_energy_fields(out);
        break;
    }
}
