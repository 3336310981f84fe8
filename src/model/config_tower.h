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

#define ROOF_TOWER_SIZE_MAX 1000000
#define TOWER_KEYS_MAX 3

/* A size of vision_config. */
struct tower_size {
    const char *names[TOWER_KEYS_MAX];
    int64_t *out;
    int64_t otherwise; /* the default of the class; 0: the config must have it */
};

/* Reads a size of an object; a missing size, or one that differs between two sides, is remembered.
 */
enum roof_status roof_tower_size(struct tower_reading *r, const roof_json_value *object,
                                 const struct tower_size *size);
/* Reads sizes of vision_config. */
enum roof_status roof_tower_sizes(struct tower_reading *r, const struct tower_size *sizes,
                                  size_t count);
/* Reads a flag of an object, with the default of the class. */
enum roof_status roof_tower_flag(bool *out, const struct tower_reading *r,
                                 const roof_json_value *object, const char *key, bool otherwise);
/* Returns the elements of a patch; 0: there are more than make sense. */
int64_t roof_tower_elements(int64_t channels, int64_t frames, int64_t patch);
/* Reads the sizes that most classes share. */
enum roof_status roof_tower_usual(struct tower_reading *r);
/* Reads these sizes, and that of the square that an image is scaled to. */
enum roof_status roof_tower_square(struct tower_reading *r);
/* Returns the patches of such a square. */
int64_t roof_tower_patches(const struct roof_tower *t);
/* Reads the layer whose output is used, or the number of layers whose outputs stand side by side;
 * the layers after the last of them exist, but are not needed. */
enum roof_status roof_tower_feature_layer(struct tower_reading *r, const char *key,
                                          int64_t otherwise, int64_t *results);
/* Adds the next product, from one width to another. */
struct roof_projection *roof_tower_product(struct roof_tower *t, int64_t in, int64_t out,
                                           enum roof_projection_act act, bool bias);

/* Read the encoders of LLaVA, of LLaVA-NeXT, and of Command-A Vision. */
enum roof_status roof_tower_llava(struct tower_reading *r);
enum roof_status roof_tower_llava_next(struct tower_reading *r);
enum roof_status roof_tower_cohere2(struct tower_reading *r);

/* Finds the class by the model_type of the whole model and of vision_config, each of which may be
 * NULL. Returns NULL if it is not known. */
const struct tower_class *roof_config_tower_class(const char *whole, const char *vision);

#endif
