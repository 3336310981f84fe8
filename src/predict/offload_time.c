// SPDX-License-Identifier: MIT
/* The time of a model that does not fit, with the offload that makes room. */
#include <stdlib.h>

#include "base/base.h"
#include "predict/model_prediction.h"

/* Predicts a scenario with what makes room into *room, and finds its time; NAN: it is not possible.
 */
static enum roof_status time_room(double *out_s, struct roof_model_prediction *room,
                                  const struct roof_model_prediction *prediction,
                                  const struct roof_scenario *scenario, struct roof_error *error)
{
    struct roof_hardware bare = *prediction->total.hardware;
    bare.calibration = NULL; /* a bound needs no expected times */
    const enum roof_status status =
        roof_predict_model(room, prediction->model, scenario, &bare, NULL);
    *out_s = status != ROOF_OK                            ? ROOF_UNKNOWN
             : room->scenario.phase == ROOF_PHASE_REQUEST ? room->e2e_s
             : room->scenario.phase == ROOF_PHASE_PREFILL ? room->ttft_s
                                                          : room->tpot_s;
    return status == ROOF_MEMORY ? roof_no_memory(error) : ROOF_OK;
}

enum roof_status roof_model_time_room(struct roof_limits *limits,
                                      const struct roof_model_prediction *prediction,
                                      const struct roof_scenario *scenario,
                                      struct roof_error *error)
{
    struct roof_scenario s = *scenario;
    struct roof_hardware *usual = NULL;
    if (limits->fit_offload == ROOF_OFFLOAD_NONE) {
        return ROOF_OK;
    }
    TRY(roof_hardware_blank(&usual, ROOF_HOST_ID, error));
    struct roof_model_prediction *const room = calloc(1, sizeof *room);
    usual->figure[ROOF_FIGURE_BANDWIDTH].value = strtod(ROOF_HOST_USUAL_GB_PER_S, NULL) * 1e9;
    s.offload = limits->fit_offload;
    s.host = limits->fit_offload_more ? scenario->host : usual;
    const enum roof_status status =
        room == NULL ? roof_no_memory(error)
                     : time_room(&limits->fit_offload_s, room, prediction, &s, error);
    roof_hardware_free(usual);
    free(room);
    return status;
}
