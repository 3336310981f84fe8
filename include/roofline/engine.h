// SPDX-License-Identifier: MIT
/**
 * Serving engines: which formats each of them runs on which architecture (data/engines, with their
 * sources). What no engine runs is never recommended.
 *
 * A loaded table is read only: any number of threads may use it.
 */
#ifndef ROOFLINE_ENGINE_H
#define ROOFLINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "roofline/hardware.h"
#include "roofline/precision.h"
#include "roofline/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ROOF_ENGINES_MAX 32

/** Formats that go together, as the first engine calls them. */
struct roof_serving {
    const char *id; /**< "fp8" */
    enum roof_precision weights;
    enum roof_precision activations;
    enum roof_precision kv;
};

struct roof_engines {
    size_t count;
    const char *id[ROOF_ENGINES_MAX];   /**< "vllm" */
    const char *name[ROOF_ENGINES_MAX]; /**< "vLLM" */
    size_t servings;                    /**< combinations of formats, each once */
    const struct roof_serving *serving;
    void *private_data;
};

/** The embedded table. On success the caller owns *out: roof_engines_free. */
enum roof_status roof_engines_load(struct roof_engines **out, struct roof_error *error);
void roof_engines_free(struct roof_engines *engines);

/** The engines that run a combination (its number) on a device: a set of bits by number. */
unsigned roof_engines_run(const struct roof_engines *engines, size_t serving,
                          const struct roof_hardware *hardware);

#ifdef __cplusplus
}
#endif

#endif
