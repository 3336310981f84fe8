// SPDX-License-Identifier: MIT
/* Accessors of a device, for callers of the library, to whom its struct is opaque. */
#include "roofline/device.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "catalog/hardware.h"
#include "catalog/hardware_parts.h"

const char *roof_hardware_id(const struct roof_hardware *hardware)
{
    return hardware->id;
}

const char *roof_hardware_name(const struct roof_hardware *hardware)
{
    return hardware->name;
}

/* Returns the peak with a key such as "peak_tflops.fp16"; NAN when it is unknown, or the key is. */
static double peak_number(const struct roof_hardware *hardware, const char *key)
{
    const size_t length = strcspn(key, ".");
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    if (key[length] == '\0' || roof_precision_find(&precision, key + length + 1, NULL) != ROOF_OK) {
        return ROOF_UNKNOWN;
    }
    for (int i = 0; i < ROOF_PEAK_TABLE_COUNT; i++) {
        const char *const table = roof_peak_table_key((enum roof_peak_table)i);
        if (strlen(table) == length && strncmp(table, key, length) == 0) {
            return roof_given(hardware->peak[i][precision].value,
                              roof_peak_table_unit((enum roof_peak_table)i));
        }
    }
    return ROOF_UNKNOWN;
}

double roof_hardware_number(const struct roof_hardware *hardware, const char *key)
{
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        if (roof_figure_named((enum roof_figure_id)i, key)) {
            return roof_given(hardware->figure[i].value,
                              roof_figure_key((enum roof_figure_id)i)->unit);
        }
    }
    return peak_number(hardware, key);
}

double roof_hardware_peak(const struct roof_hardware *hardware, enum roof_precision precision)
{
    return precision < 0 || precision >= ROOF_PRECISION_COUNT
               ? ROOF_UNKNOWN
               : hardware->compute[precision].peak_flops_per_s;
}

enum roof_status roof_hardware_each(void (*each)(void *context, const char *id), void *context,
                                    const char *const *directories, struct roof_error *error)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    const enum roof_status status = roof_hardware_ids(&ids, &count, directories, error);
    const char *id = ids.data;
    for (size_t i = 0; status == ROOF_OK && i < count; i++) {
        each(context, id);
        id += strlen(id) + 1;
    }
    roof_text_free(&ids);
    return status;
}

/* A figure that only one device has is a difference; a figure that both lack is not. */
static bool figure_differs(const struct roof_figure *a, const struct roof_figure *b)
{
    return isnan(a->value) != isnan(b->value) || (!isnan(a->value) && a->value != b->value);
}

bool roof_hardware_differs(const struct roof_hardware *a, const struct roof_hardware *b)
{
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        if (figure_differs(&a->figure[i], &b->figure[i])) {
            return true;
        }
    }
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            if (figure_differs(&a->peak[t][p], &b->peak[t][p])) {
                return true;
            }
        }
    }
    return false;
}

/* Tells whether a group of devices is larger than a node. If the size of a node is unknown (NAN),
 * the group is assumed to fit in one. */
static bool crosses_nodes(const struct roof_hardware *hardware, double within)
{
    return within > hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
}

/* Tells whether a bridge joins a group of devices, and is faster than the link of the node. */
static bool is_bridged(const struct roof_hardware *hardware, double within)
{
    const struct roof_figure *const figure = hardware->figure;
    return within <= figure[ROOF_FIGURE_BRIDGE_DEVICES].value &&
           !isnan(figure[ROOF_FIGURE_BRIDGE].value) &&
           !(figure[ROOF_FIGURE_BRIDGE].value <= figure[ROOF_FIGURE_LINK].value);
}

bool roof_hardware_is_cpu(const struct roof_hardware *hardware)
{
    return hardware->architecture != NULL && strncmp(hardware->architecture, "CPU", 3) == 0;
}

bool roof_hardware_is_gpu(const struct roof_hardware *hardware)
{
    const char *const vendor = hardware->vendor;
    return hardware->basis != ROOF_BASIS_USER && vendor != NULL &&
           (strcmp(vendor, "NVIDIA") == 0 || strcmp(vendor, "AMD") == 0) &&
           !roof_hardware_is_cpu(hardware);
}

static bool is_power_of_two(int64_t n)
{
    return (n & (n - 1)) == 0;
}

bool roof_hardware_comes_in(const struct roof_hardware *hardware, int64_t devices, int64_t present)
{
    const double node = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    return !roof_hardware_is_cpu(hardware) &&
           (is_power_of_two(devices) ||
            (devices % present == 0 && is_power_of_two(devices / present)) ||
            (node >= 1 && devices % (int64_t)node == 0));
}

enum roof_figure_id roof_hardware_unlinked(const struct roof_hardware *hardware, double within)
{
    const bool crosses = crosses_nodes(hardware, within);
    if (!crosses && is_bridged(hardware, within)) {
        return ROOF_FIGURE_COUNT;
    }
    const bool alone = crosses && hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value == 1;
    return crosses && isnan(hardware->figure[ROOF_FIGURE_NETWORK].value) ? ROOF_FIGURE_NETWORK
           : isnan(hardware->figure[ROOF_FIGURE_LINK].value) && !alone   ? ROOF_FIGURE_LINK
                                                                         : ROOF_FIGURE_COUNT;
}

enum roof_status roof_hardware_link(struct roof_link *out, const struct roof_hardware *hardware,
                                    double within, double members, struct roof_error *error)
{
    const struct roof_figure *const link = &hardware->figure[ROOF_FIGURE_LINK];
    const struct roof_figure *const network = &hardware->figure[ROOF_FIGURE_NETWORK];
    const bool crosses = crosses_nodes(hardware, within);
    const enum roof_figure_id missing = roof_hardware_unlinked(hardware, within);
    const struct roof_figure *const used = crosses && !(link->value < network->value) ? network
                                           : !crosses && is_bridged(hardware, within)
                                               ? &hardware->figure[ROOF_FIGURE_BRIDGE]
                                               : link;
    if (missing != ROOF_FIGURE_COUNT) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s: %s is unknown, and %.0f devices need it; give it with " ROOF_KEY(
                                  "set") " %s=VALUE",
                              hardware->id, roof_figure_key(missing)->key, within,
                              roof_figure_key(missing)->key);
    }
    const double latency =
        hardware->figure[crosses ? ROOF_FIGURE_NETWORK_LATENCY : ROOF_FIGURE_LINK_LATENCY].value;
    const double direct = (members - 1) * hardware->figure[ROOF_FIGURE_PEER_LINK].value;
    const double rate = !crosses && direct < used->value ? direct : used->value;
    *out = (struct roof_link){rate, isnan(latency) ? 0 : latency, used};
    return ROOF_OK;
}

bool roof_link_is_bridge(const struct roof_link *link, const struct roof_hardware *hardware)
{
    return link->figure == &hardware->figure[ROOF_FIGURE_BRIDGE];
}

bool roof_link_is_host(const struct roof_link *link, const struct roof_hardware *hardware)
{
    const struct roof_figure *const figure = hardware->figure;
    return link->figure == &figure[ROOF_FIGURE_LINK] &&
           figure[ROOF_FIGURE_LINK].value == figure[ROOF_FIGURE_HOST_LINK].value;
}

void roof_hardware_raise(struct roof_hardware *out, const struct roof_hardware *hardware,
                         enum roof_raised raised, double factor)
{
    const double peaks = raised == ROOF_RAISED_PEAKS ? factor : 1;
    const double links = raised == ROOF_RAISED_LINKS ? factor : 1;
    *out = *hardware;
    out->figure[ROOF_FIGURE_BANDWIDTH].value *= raised == ROOF_RAISED_BANDWIDTH ? factor : 1;
    out->figure[ROOF_FIGURE_LINK].value *= links;
    out->figure[ROOF_FIGURE_NETWORK].value *= links;
    out->figure[ROOF_FIGURE_PEER_LINK].value *= links;
    out->figure[ROOF_FIGURE_BRIDGE].value *= links;
    out->vector_flops_per_s *= peaks;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
            out->peak[t][p].value *= t == ROOF_FLOP_ENERGY ? 1 : peaks;
        }
        out->compute[p].peak_flops_per_s *= peaks;
        out->compute[p].sparse_flops_per_s *= peaks;
    }
}
