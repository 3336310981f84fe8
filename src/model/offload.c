// SPDX-License-Identifier: MIT
/* Reads and names the part of a model that is in the memory of the host. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "model/scenario.h"

static const char *const part_names[] = {
    [ROOF_OFFLOAD_NONE] = "none",
    [ROOF_OFFLOAD_LAYERS] = "layers",
    [ROOF_OFFLOAD_EXPERTS] = "experts",
};

const char *roof_offload_part_name(enum roof_offload_part part)
{
    return part_names[part];
}

/* A packed value is layers x ROOF_OFFLOAD_PARTS + part. */
int64_t roof_offload_pack(enum roof_offload_part part, int64_t layers)
{
    return part == ROOF_OFFLOAD_NONE || layers == 0 ? 0
                                                    : layers * ROOF_OFFLOAD_PARTS + (int64_t)part;
}

enum roof_offload_part roof_offload_part(int64_t offload)
{
    return (enum roof_offload_part)(offload % ROOF_OFFLOAD_PARTS);
}

int64_t roof_offload_layers(int64_t offload)
{
    return offload / ROOF_OFFLOAD_PARTS;
}

/* Reads the number of layers after the name of a part. */
static bool read_layers(int64_t *out, enum roof_offload_part part, const char *text)
{
    if (*text == '\0') { /* all experts; layers need a number, because a model cannot be offloaded
                            as a whole */
        *out = ROOF_LAYERS_MAX;
        return part == ROOF_OFFLOAD_EXPERTS;
    }
    if (strcmp(text, ":fit") == 0) {
        *out = ROOF_OFFLOAD_FIT;
        return true;
    }
    return *text == ':' &&
           roof_parse_integer(out, text + 1, "", 0, ROOF_LAYERS_MAX - 1, NULL) == ROOF_OK;
}

enum roof_status roof_offload_read(int64_t *out, const char *text, struct roof_error *error)
{
    if (strcmp(text, part_names[ROOF_OFFLOAD_NONE]) == 0) {
        *out = 0;
        return ROOF_OK;
    }
    for (int i = ROOF_OFFLOAD_LAYERS; i <= ROOF_OFFLOAD_EXPERTS; i++) {
        const enum roof_offload_part part = (enum roof_offload_part)i;
        const size_t length = strlen(part_names[i]);
        int64_t layers = 0;
        if (strncmp(text, part_names[i], length) == 0 &&
            read_layers(&layers, part, text + length)) {
            *out = roof_offload_pack(part, layers);
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_USAGE,
                          ROOF_KEY("offload") " must be experts, experts:N, layers:N, or "
                                              "experts:fit or layers:fit for the fewest layers "
                                              "with which it fits, not '%s'",
                          text);
}

const char *roof_offload_name(char out[ROOF_OFFLOAD_NAME_SIZE], int64_t offload)
{
    const int64_t layers = roof_offload_layers(offload);
    const char *const part = part_names[roof_offload_part(offload)];
    if (layers == ROOF_OFFLOAD_FIT) {
        snprintf(out, ROOF_OFFLOAD_NAME_SIZE, "%s:fit", part);
    } else if (layers > 0 && layers < ROOF_LAYERS_MAX) {
        snprintf(out, ROOF_OFFLOAD_NAME_SIZE, "%s:%d", part, (int)layers);
    } else {
        snprintf(out, ROOF_OFFLOAD_NAME_SIZE, "%s", part);
    }
    return out;
}
