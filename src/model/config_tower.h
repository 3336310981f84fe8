// SPDX-License-Identifier: MIT
/* How the vision encoder of a config is read: by its class, of which config_tower.c knows which
 * one it is. */
#ifndef ROOF_MODEL_CONFIG_TOWER_H
#define ROOF_MODEL_CONFIG_TOWER_H

#include "model/config_parts.h"

/* An encoder that is being read. */
struct tower_reading {
    struct roof_tower tower;
    const struct config *config;
    const roof_json_value *vision; /* vision_config */
    const char *missing;           /* the first size that the config lacks; NULL: none */
    const char *unknown;           /* a value whose effect in the class is not known; NULL: there is
                                      none */
};

/* A class of encoders: its fixed properties, and the function that reads the rest. */
struct tower_class {
    struct roof_tower tower;
    enum roof_status (*read)(struct tower_reading *r);
};

/* Finds the class by the model_type of the whole model and of vision_config, each of which may be
 * NULL. Returns NULL if it is not known. */
const struct tower_class *roof_config_tower_class(const char *whole, const char *vision);

#endif
