// SPDX-License-Identifier: MIT
/** Notes on the figures of a device: published ones that differ from those of the source documents,
 * those of a user's file, and kernels of several engines in one estimate. */
#ifndef ROOF_REPORT_PUBLISHED_REPORT_H
#define ROOF_REPORT_PUBLISHED_REPORT_H

#include "base/text.h"
#include "predict/model_prediction.h"
#include "report/caveat_report.h"

/** The words for the figures of a device that follows documents (ROOF_BASIS_DOCUMENTS). */
#define ROOF_REPORT_DOCUMENTS "the figures of roofline's specification"

/** The words for a product without other figures of memory and matrix units. */
#define ROOF_REPORT_SAME "the same memory bandwidth and matrix peaks"

/** Writes the notes of caveat_report.h. Says that the device follows the source documents, and
 * gives the published figures that the prediction would use; not if `product` is NULL or has the
 * same figures. */
void roof_report_basis(struct roof_text *out, const struct roof_prediction *prediction,
                       const struct roof_hardware *product);
void roof_report_model_basis(struct roof_text *out, const struct roof_model_prediction *model,
                             const struct roof_hardware *product);
/** Writes a note on expected times that use the fastest kernels of several engines, and names the
 * stacks with kernels on the device. It writes nothing if a stack is chosen. */
void roof_report_fastest(struct roof_text *out, const struct roof_model_prediction *model);
/** Tells whether the expected time of a model has the fastest kernels of several engines. */
bool roof_report_is_fastest(const struct roof_model_prediction *model);
/** Says the same about any work on a device, with the published bandwidth and peak of fp16. */
void roof_report_device_basis(struct roof_text *out, const struct roof_used *used,
                              const struct roof_hardware *product);

/** Writes a member "published" of an object, after a comma and the indent: the differing figures of
 * the product, if any. That of a model has an object of peaks by formats. */
void roof_report_published(struct roof_text *out, const char *indent,
                           const struct roof_prediction *prediction,
                           const struct roof_hardware *product);
void roof_report_model_published(struct roof_text *out, const char *indent,
                                 const struct roof_model_prediction *model,
                                 const struct roof_hardware *product);

/** Tells whether a product has other figures of memory or matrix units than the device; NULL: there
 * is no product. */
bool roof_report_is_other(const struct roof_hardware *hardware,
                          const struct roof_hardware *product);
/** Writes the object: the differing figures of memory and matrix units of the product, with the id
 * of the device as "of". */
void roof_report_published_device(struct roof_text *out, const struct roof_hardware *hardware,
                                  const struct roof_hardware *product);
/** Writes a member "published" of an object, after a comma: an array of these objects, if a device
 * differs from its product (NULL: it has none; `products` NULL: no device has). */
void roof_report_published_devices(struct roof_text *out,
                                   const struct roof_hardware *const *hardware,
                                   const struct roof_hardware *const *products, size_t count);
/** Says for people that a device follows the source documents, and gives the published bandwidth
 * and peak of fp16: "gb10 has ...; the product has 273 GB/s and 124 TFLOPS FP16 (-H
 * dgx-spark)". `product` may be NULL: it has the same figures. */
void roof_report_documents(struct roof_text *out, const struct roof_hardware *hardware,
                           const struct roof_hardware *product);

#endif
