// SPDX-License-Identifier: MIT
/* Finds the host that computes what does not fit on one device. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "decide/plan_inputs.h"
#include "predict/pass.h"
#include "predict/unexpected.h"

/* The memories (GB) of usual hosts. */
static const double usual_gb[] = {16,  32,  48,  64,   96,   128,  192,  256,
                                  384, 512, 768, 1024, 1536, 2048, 3072, 4096};

/* Returns the bytes of a model's weights in 4 bits, the fewest that engines serve, that do not fit
 * on any of the devices; 0: all do, or it is unknown. */
static double least_outside(const struct roof_plan_problem *problem)
{
    double room = 0;
    double parameters = 0;
    double active = 0;
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const struct roof_figure *const figure = problem->hardware[h]->figure;
        room =
            fmax(room, figure[ROOF_FIGURE_MEMORY_NOMINAL].value); /* unknown figures do not count */
        room = fmax(room, figure[ROOF_FIGURE_MEMORY_CAPACITY].value);
    }
    const bool known =
        room > 0 && roof_model_parameters(&parameters, &active, problem->model, NULL) == ROOF_OK;
    return known ? fmax(0, parameters / 2 - room) : 0;
}

/* Tells whether plans on one device fail for lack of memory: candidates did not fit, or the model
 * does not in the fewest bits. */
static bool lacks_memory(const struct roof_plan_answer *answer)
{
    const struct roof_plan_shortage *const s = &answer->shortage;
    return (s->wanted > 0 && s->served == 0 && answer->plans.rejected[ROOF_REJECTED_MEMORY] > 0) ||
           least_outside(&answer->problem) > 0;
}

/* Returns the first engine that offloads; their number if none does. */
static size_t offloading(const struct roof_engines *engines)
{
    size_t i = 0;
    while (i < engines->count && (engines->offload >> i & 1U) == 0) {
        i++;
    }
    return i;
}

/* Tells whether a host, or one with more memory, may help. Where plans fit but miss a limit, a
 * slower host would not. */
static bool may_help(const struct roof_plan_answer *answer)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    const bool alone = lacks_memory(answer);
    const bool small = problem->base.host != NULL && problem->base.host_kernels == NULL &&
                       answer->plans.rejected[ROOF_REJECTED_MEMORY] > 0;
    return answer->plans.count == 0 && answer->plans.rejected[ROOF_REJECTED_LIMIT] == 0 &&
           offloading(problem->engines) < problem->engines->count &&
           (problem->base.offload == ROOF_OFFLOAD_NONE ? alone : small);
}

/* Returns the least time between two tokens of a user in any plan, at the bound. */
static double least_tpot(const struct roof_plans *plans)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < plans->count; i++) {
        least = fmin(least, plans->plan[i].bound_tpot_s);
    }
    return least;
}

/* Searches a problem with hosts of more and more memory until there is a plan. */
static enum roof_status try_sizes(struct roof_plan_answer *answer,
                                  const struct roof_plan_problem *problem,
                                  struct roof_hardware *host, struct roof_error *error)
{
    enum roof_status status = ROOF_UNSATISFIED;
    const double present = host->figure[ROOF_FIGURE_MEMORY_NOMINAL].value;
    const double least = roof_plan_of_gguf(problem) ? 0 : least_outside(problem);
    host->figure[ROOF_FIGURE_MEMORY_CAPACITY].value = ROOF_UNKNOWN;
    for (size_t i = 0; i < COUNT(usual_gb) && status == ROOF_UNSATISFIED; i++) {
        struct roof_plans plans = {0};
        if (usual_gb[i] * 1e9 <= present || usual_gb[i] * 1e9 < least) {
            continue;
        }
        host->figure[ROOF_FIGURE_MEMORY_NOMINAL].value = usual_gb[i] * 1e9;
        status = roof_plan_search(&plans, problem, error);
        answer->shortage.host_gb = status == ROOF_OK ? usual_gb[i] : 0;
        answer->shortage.host_tpot_s = least_tpot(&plans);
        roof_plans_free(&plans);
    }
    return status == ROOF_UNSATISFIED ? ROOF_OK : status;
}

/* Searches one device with a usual host, whose bandwidth changes no plan's memory. */
static enum roof_status try_usual(struct roof_plan_answer *answer, struct roof_hardware *bare,
                                  const struct roof_hardware **bares, struct roof_hardware *host,
                                  struct roof_error *error)
{
    static const int64_t one = 1;
    struct roof_plan_problem changed = answer->problem;
    const size_t engine = offloading(changed.engines);
    const enum roof_offload_part part =
        changed.model->experts > 0 ? ROOF_OFFLOAD_EXPERTS : ROOF_OFFLOAD_LAYERS;
    for (size_t h = 0; h < changed.hardware_count; h++) {
        roof_forget_expected(&bare[h], changed.hardware[h], NULL);
        bares[h] = &bare[h];
    }
    host->figure[ROOF_FIGURE_BANDWIDTH].value = strtod(ROOF_HOST_USUAL_GB_PER_S, NULL) * 1e9;
    changed.hardware = bares;
    changed.devices = &one;
    changed.device_counts = 1;
    changed.by = 1U << engine;
    changed.by_measured = false;
    changed.beyond = ROOF_ACCURACY_NONE;
    changed.base.offload = roof_offload_pack(part, ROOF_OFFLOAD_FIT);
    changed.base.host = host;
    answer->shortage.host_engine = engine;
    return try_sizes(answer, &changed, host, error);
}

enum roof_status roof_plan_find_host(struct roof_plan_answer *answer, struct roof_error *error)
{
    const struct roof_plan_problem *const problem = &answer->problem;
    if (!may_help(answer)) {
        return ROOF_OK;
    }
    if (problem->base.offload != ROOF_OFFLOAD_NONE) {
        struct roof_plan_problem changed = *problem;
        struct roof_hardware host = *problem->base.host;
        changed.base.host = &host;
        changed.beyond = ROOF_ACCURACY_NONE;
        return try_sizes(answer, &changed, &host, error);
    }
    struct roof_hardware *host = NULL;
    TRY(roof_hardware_blank(&host, ROOF_HOST_ID, error));
    struct roof_hardware *const bare = calloc(problem->hardware_count, sizeof *bare);
    const struct roof_hardware **const bares = calloc(problem->hardware_count, sizeof *bares);
    const enum roof_status status = bare == NULL || bares == NULL
                                        ? roof_no_memory(error)
                                        : try_usual(answer, bare, bares, host, error);
    free(bares);
    free(bare);
    roof_hardware_free(host);
    return status;
}
