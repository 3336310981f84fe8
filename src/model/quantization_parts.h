// SPDX-License-Identifier: MIT
/* The parts of the reader of quantization_config: its methods, and their modules. */
#ifndef ROOF_MODEL_QUANTIZATION_PARTS_H
#define ROOF_MODEL_QUANTIZATION_PARTS_H

#include "base/json.h"
#include "model/model.h"

#define GIVE_FORMATS "; give the formats with " ROOF_KEY("layout") " or " ROOF_KEY("class")

struct quantization {
    struct roof_model *model;
    struct roof_layer *layer; /* the layers one by one */
    const struct roof_json *json;
    struct roof_error *error;
    int64_t work; /* steps taken so far by lists of modules */
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

/* Returns a member; null counts as absent. */
const roof_json_value *roof_quantization_member(const roof_json_value *object, const char *key);
/* Reads the size of the blocks that FP8 scales are for: [128, 128], or in old files "128x128". */
enum roof_status roof_quantization_block(enum roof_precision *out, struct quantization *r,
                                         const roof_json_value *block);
/* Reads the method that an object names, and its formats. */
enum roof_status roof_quantization_method(struct method *out, struct quantization *r,
                                          const roof_json_value *q);

#endif
