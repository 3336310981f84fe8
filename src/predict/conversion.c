// SPDX-License-Identifier: MIT
#include "predict/conversion.h"

/* Tells whether llama.cpp may choose the format of a product with the tensor of a role. */
static bool is_free(const struct roof_hardware *hardware, const struct roof_formats *formats,
                    enum roof_role role)
{
    return role == ROOF_ROLE_WEIGHTS && roof_precision_gguf(formats->weights) &&
           hardware->weight_only_compute == ROOF_PRECISION_AUTO;
}

/* Returns a format if the device multiplies it faster than another one, else the other. */
static enum roof_precision faster(const struct roof_hardware *hardware, enum roof_precision format,
                                  enum roof_precision other)
{
    const struct roof_compute *const compute = &hardware->compute[format];
    const bool is =
        compute->native && compute->peak_flops_per_s > hardware->compute[other].peak_flops_per_s;
    return is ? format : other;
}

/* Returns the faster one of FP16 and the format of the inputs. */
static enum roof_precision plain(const struct roof_hardware *hardware,
                                 const struct roof_formats *formats)
{
    return faster(hardware, ROOF_PRECISION_FP16, roof_format(formats->activations)->unit);
}

enum roof_precision roof_converted_format(const struct roof_hardware *hardware,
                                          const struct roof_formats *formats, enum roof_role role)
{
    return is_free(hardware, formats, role)
               ? faster(hardware, ROOF_PRECISION_INT8, plain(hardware, formats))
               : roof_precision_product(roof_role_format(formats, role), formats->activations);
}

enum roof_precision roof_product_format(const struct roof_hardware *hardware,
                                        const struct roof_formats *formats, enum roof_role role)
{
    const bool weight_only = roof_precision_weight_only(roof_role_format(formats, role));
    if (formats->compute != ROOF_PRECISION_AUTO) {
        return formats->compute;
    }
    return weight_only && hardware->weight_only_compute != ROOF_PRECISION_AUTO
               ? hardware->weight_only_compute
               : roof_converted_format(hardware, formats, role);
}

double roof_plain_rate(const struct roof_workload *workload, const struct roof_hardware *hardware,
                       double rate)
{
    const struct roof_operator_row *const row = roof_operator_row(workload->op);
    if (row->kind != ROOF_KIND_MATRIX || !is_free(hardware, &workload->formats, row->other)) {
        return rate;
    }
    const double most = hardware->compute[plain(hardware, &workload->formats)].peak_flops_per_s;
    return most < rate ? most : rate;
}
