// SPDX-License-Identifier: MIT
/* The fewest layers that are offloaded to the host. */
#include <math.h>

#include "base/base.h"
#include "predict/pass.h"
#include "predict/request.h"

/* Tells whether the device has room for the rest of the model. */
static enum roof_status has_room(bool *out, int64_t layers, const struct roof_scenario *scenario,
                                 const struct roof_model *model,
                                 const struct roof_hardware *hardware, struct roof_error *error)
{
    struct roof_scenario s = *scenario;
    struct roof_memory m;
    s.offload = roof_offload_pack(roof_offload_part(s.offload), layers);
    TRY(roof_memory_needed(&m, model, &s, hardware, error));
    *out = m.weights + m.kv + m.activations <= m.capacity - m.reserve;
    return isnan(m.capacity) ? roof_error_set(error, ROOF_USAGE,
                                              "the memory of %s is unknown: " ROOF_KEY(
                                                  "offload") " needs a "
                                                             "number of layers, or " ROOF_KEY(
                                                                 "set") " memory_nominal_gb=GB",
                                              hardware->id)
                             : ROOF_OK;
}

/* A further layer never leaves less room, so a bisection finds the fewest. */
enum roof_status roof_offload_solve(struct roof_scenario *scenario, const struct roof_model *model,
                                    const struct roof_hardware *hardware, struct roof_error *error)
{
    int64_t fewest = 0;
    int64_t most = model->layers;
    if (roof_offload_layers(scenario->offload) != ROOF_OFFLOAD_FIT) {
        return ROOF_OK;
    }
    while (fewest < most) {
        const int64_t middle = fewest + (most - fewest) / 2;
        bool room = false;
        TRY(has_room(&room, middle, scenario, model, hardware, error));
        if (room) {
            most = middle;
        } else {
            fewest = middle + 1;
        }
    }
    scenario->offload = roof_offload_pack(roof_offload_part(scenario->offload), fewest);
    return ROOF_OK;
}
