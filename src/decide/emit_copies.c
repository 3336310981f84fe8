// SPDX-License-Identifier: MIT
#include "decide/emit_copies.h"

#include <inttypes.h>
#include <string.h>

int64_t roof_emit_copies_per_node(const struct roof_plan *plan,
                                  const struct roof_hardware *hardware)
{
    const int64_t each = plan->devices / plan->dp;
    const double node = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    return !(node < (double)plan->devices) ? plan->dp : (int64_t)(node / (double)each);
}

void roof_emit_copies_note(struct roof_text *out, const struct roof_plan *plan, int64_t per_node)
{
    const int64_t each = plan->devices / plan->dp;
    roof_text_printf(out, "%" PRId64 " copies of %" PRId64 " %s, behind a load balancer", plan->dp,
                     each, each == 1 ? "device" : "devices");
    if (per_node == 0) {
        roof_text_put(out, ": run this once for each copy");
        return;
    }
    const int64_t nodes = (plan->dp + per_node - 1) / per_node;
    const int64_t last = plan->dp - (nodes - 1) * per_node;
    if (nodes > 1) {
        roof_text_printf(out, "; %" PRId64 " on a node: run this on each of %" PRId64 " nodes",
                         per_node, nodes);
    }
    if (last == 1 && per_node > 1) {
        roof_text_put(out, ", on the last with only the first entry after \"in\"");
    } else if (last < per_node) {
        roof_text_printf(out, ", on the last with only the first %" PRId64 " entries after \"in\"",
                         last);
    }
    roof_text_put(out, "; the port is 8000 + the first device");
}

void roof_emit_copies_begin(struct roof_text *out, const struct roof_plan *plan,
                            const struct roof_hardware *hardware, int64_t per_node)
{
    const int64_t each = plan->devices / plan->dp;
    roof_text_put(out, "for devices in");
    for (int64_t i = 0; i < per_node * each; i++) {
        roof_text_printf(out, "%s%" PRId64, i % each == 0 ? " " : ",", i);
    }
    roof_text_printf(out, "; do\n%s=\"$devices\" ",
                     strcmp(hardware->vendor, "AMD") == 0 ? "HIP_VISIBLE_DEVICES"
                                                          : "CUDA_VISIBLE_DEVICES");
}
