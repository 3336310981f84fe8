// SPDX-License-Identifier: MIT
/* The parts of the reader of quantization_config: its methods, and their modules. */
#ifndef ROOF_MODEL_QUANTIZATION_PARTS_H
#define ROOF_MODEL_QUANTIZATION_PARTS_H

#include "base/json.h"
#include "model/model.h"
#include "model/module_names.h"

#define GIVE_FORMATS "; give the formats with " ROOF_KEY("layout") " or " ROOF_KEY("class")

/* The format of routed experts, if it differs from that of the method (DeepSeek-V4). */
#define EXPERT_FORMAT "moe_quant_algo"

struct quantization {
    struct roof_model *model;
    struct roof_layer *layer; /* the layers one by one */
    const struct roof_json *json;
    struct roof_error *error;
    int64_t work; /* steps taken so far by lists of modules */
    /* Modules that layers of the model may have, and the weights that each of them has there. */
    int modules;
    int16_t module[ROOF_MODULES_MAX];
    unsigned weights[ROOF_MODULES_MAX];
};

/* The formats of a method. */
struct method {
    const char *method;
    const char *algorithm; /* quant_algo; NULL: any */
    int bits;              /* 0: any */
    enum roof_precision weights;
    enum roof_precision activations; /* AUTO: inputs are not converted */
    bool experts_only;
};

/* How numbers are quantised. */
struct numbers {
    double bits;
    bool real;      /* floating point, not integers */
    double group;   /* values that share a scale; 0: those of a channel, or all */
    bool symmetric; /* they lie around 0 */
};

#define LINEAR_CLASS "Linear"

/* The keys of lists of modules that are not quantised; NULL ends them. */
extern const char *const roof_quantization_lists[];

/* Lists the modules of the layers. */
void roof_quantization_list(struct quantization *r);
/* Reads an entry with its text in item, and sets the format of the weights that it names. In a list
 * of exclusions claimed is NULL. For the targets of a group it has, as bits, the weights of each
 * layer that already have their format, and "Linear" names all. */
enum roof_status roof_quantization_put(struct quantization *r, const roof_json_value *item,
                                       const char *text, enum roof_precision to, unsigned *claimed);
/* Notes the entries that name no module of the model. */
enum roof_status roof_quantization_note(struct roof_model *model, const roof_json_value *q,
                                        struct roof_error *error);

/* Reads a quantisation into the layers and the model of a reader. */
enum roof_status roof_quantization_read(struct quantization *r, const roof_json_value *q);
/* Returns a member; null counts as absent. */
const roof_json_value *roof_quantization_member(const roof_json_value *object, const char *key);
/* Reads the size of the blocks that FP8 scales are for: [128, 128], or in old files "128x128". */
enum roof_status roof_quantization_block(enum roof_precision *out, struct quantization *r,
                                         const roof_json_value *block);
/* Reads the method that an object names, and its formats. */
enum roof_status roof_quantization_method(struct method *out, struct quantization *r,
                                          const roof_json_value *q);
/* Reads the numbers of a group of compressed-tensors; false: they are not known. */
bool roof_quantization_numbers(struct numbers *out, const roof_json_value *value);
/* Tells whether a group of compressed-tensors has weights. One without them is for attention or the
 * KV cache. */
bool roof_quantization_has_weights(const roof_json_value *group);

#endif
