// SPDX-License-Identifier: MIT
/* What the readers of encoders share: sizes, flags, and the products that make tokens. */
#include "base/base.h"
#include "model/config_tower.h"

/* Returns the number that all items of a list are, NULL if they differ; any other value itself. */
static const roof_json_value *same_item(const roof_json_value *value)
{
    const roof_json_value *const first = roof_json_first(value);
    double wanted = 0;
    double number = 0;
    if (!roof_json_is_array(value) || !roof_json_number(&wanted, first)) {
        return value;
    }
    for (const roof_json_value *item = first; item != NULL; item = roof_json_next(item)) {
        if (!roof_json_number(&number, item) || number != wanted) {
            return NULL;
        }
    }
    return first;
}

/* Reads a size of an object; a missing size, or one that differs between two sides, is remembered.
 */
enum roof_status roof_tower_size(struct tower_reading *r, const roof_json_value *object,
                                 const struct tower_size *size)
{
    const roof_json_value *const value = roof_config_spelled(object, size->names, TOWER_KEYS_MAX);
    *size->out = size->otherwise;
    if (value != NULL) {
        const char *const key = roof_json_key(value);
        const roof_json_value *const number = same_item(value);
        if (number == NULL) {
            r->unknown = key;
            return ROOF_OK;
        }
        return roof_config_integer(size->out, r->config, number, key, 1, ROOF_TOWER_SIZE_MAX);
    }
    if (size->otherwise == 0 && r->missing == NULL) {
        r->missing = size->names[0];
    }
    return ROOF_OK;
}

enum roof_status roof_tower_sizes(struct tower_reading *r, const struct tower_size *sizes,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(roof_tower_size(r, r->vision, &sizes[i]));
    }
    return ROOF_OK;
}

/* Reads a flag of an object, with the default of the class. */
enum roof_status roof_tower_flag(bool *out, const struct tower_reading *r,
                                 const roof_json_value *object, const char *key, bool otherwise)
{
    const roof_json_value *const value = roof_json_get(object, key);
    *out = otherwise;
    if (value != NULL && !roof_json_is_null(value) && !roof_json_boolean(out, value)) {
        return roof_json_error(r->config->json, value, r->config->error, "%s must be true or false",
                               key);
    }
    return ROOF_OK;
}

/* Returns the elements of a patch; 0: there are more than make sense. */
int64_t roof_tower_elements(int64_t channels, int64_t frames, int64_t patch)
{
    const double count = (double)channels * (double)frames * (double)patch * (double)patch;
    return count <= 1e9 ? (int64_t)count : 0;
}

/* Adds the next product, from one width to another. */
struct roof_projection *roof_tower_product(struct roof_tower *t, int64_t in, int64_t out,
                                           enum roof_projection_act act, bool bias)
{
    int i = 0;
    while (i < ROOF_PROJECTIONS_MAX - 1 && t->project[i].in > 0) {
        i++;
    }
    t->project[i] = (struct roof_projection){.in = in, .out = out, .act = act, .bias = bias};
    return &t->project[i];
}

/* Reads the sizes that the other classes share. */
enum roof_status roof_tower_usual(struct tower_reading *r)
{
    struct roof_tower *const t = &r->tower;
    int64_t channels = 0;
    const struct tower_size sizes[] = {
        {{"num_hidden_layers", "vt_num_hidden_layers"}, &t->layers, 0},
        {{"hidden_size", "vt_hidden_size"}, &t->hidden, 0},
        {{"num_attention_heads", "vt_num_attention_heads"}, &t->heads, 0},
        {{"intermediate_size", "vt_intermediate_size"}, &t->intermediate, 0},
        {{"patch_size", NULL}, &t->patch, 0},
        {{"num_channels", NULL}, &channels, 3}};
    TRY(roof_tower_sizes(r, sizes, COUNT(sizes)));
    t->inputs = roof_tower_elements(channels, 1, t->patch);
    return ROOF_OK;
}

/* Reads these sizes and that of the square that an image is scaled to. */
enum roof_status roof_tower_square(struct tower_reading *r)
{
    const struct tower_size size = {{"image_size", NULL}, &r->tower.side, 0};
    TRY(roof_tower_usual(r));
    return roof_tower_size(r, r->vision, &size);
}

/* Returns the patches of such a square. */
int64_t roof_tower_patches(const struct roof_tower *t)
{
    const int64_t grid = t->patch > 0 ? t->side / t->patch : 0;
    return grid * grid;
}
