// SPDX-License-Identifier: MIT
#include "decide/plan_largest.h"

#include <math.h>

#include "base/base.h"

bool roof_plan_listed(const struct roof_plan_problem *problem, int64_t batch)
{
    bool listed = false;
    for (size_t i = 0; i < problem->batches && problem->largest != ROOF_BATCHES_LARGEST; i++) {
        listed = listed || problem->batch[i] == batch;
    }
    return listed;
}

bool roof_plan_wants_largest(const struct roof_plan_problem *problem, int64_t fits, int64_t more)
{
    return fits > 0 && problem->largest >= (more > 0 ? ROOF_BATCHES_WITHIN : ROOF_BATCHES_BEYOND);
}

/* Returns the next batch to try between one that fits and one that does not. Memory is nearly
 * linear in the batch; if it is not, or is unknown, bisection ends the search. */
static int64_t between(const struct roof_sized *fits, const struct roof_sized *more, int tries)
{
    const int64_t steps = more->batch - fits->batch;
    const double part = fits->room / (fits->room - more->room);
    if (tries % 3 == 2 || !(part >= 0 && part <= 1)) {
        return fits->batch + steps / 2;
    }
    const int64_t guess = fits->batch + (int64_t)((double)steps * part);
    return guess <= fits->batch ? fits->batch + 1 : guess >= more->batch ? more->batch - 1 : guess;
}

/* Returns a batch to try beyond two that fit: the first one that should not fit by linear
 * extrapolation, and at least twice as many. */
static int64_t beyond(const struct roof_sized *before, const struct roof_sized *fits)
{
    const double each = (before->room - fits->room) / (double)(fits->batch - before->batch);
    const double end = (double)fits->batch + floor(fits->room / each) + 1;
    const int64_t twice = fits->batch > ROOF_LIMIT_MAX / 2 ? ROOF_LIMIT_MAX : 2 * fits->batch;
    return end > (double)twice && end <= (double)ROOF_LIMIT_MAX ? (int64_t)end : twice;
}

/* Finds the memory that a batch leaves free. A batch that no engine runs does not fit, by an
 * unknown amount. */
static enum roof_status measure(struct roof_sized *out, struct roof_plan_predictor *p,
                                const struct roof_plan *plan, int64_t batch)
{
    const struct roof_plan_problem *const q = p->problem;
    struct roof_plan tried = *plan;
    tried.batch = batch;
    *out = (struct roof_sized){batch, ROOF_UNKNOWN};
    if ((plan->engines &
         roof_engines_split(q->engines, q->hardware[plan->hardware], &plan->split, batch)) == 0) {
        return ROOF_OK;
    }
    const enum roof_status status = roof_plan_room(&out->room, p, &tried);
    return status == ROOF_USAGE ? ROOF_OK : status; /* a number beyond the range does not fit */
}

enum roof_status roof_plan_largest(int64_t *out, struct roof_plan_predictor *p,
                                   const struct roof_plan *plan, struct roof_sized fits,
                                   struct roof_sized more)
{
    struct roof_sized before = {0, fits.room};
    while (more.batch == 0 && fits.batch < ROOF_LIMIT_MAX) {
        struct roof_sized one;
        TRY(measure(&one, p, plan, beyond(&before, &fits)));
        if (one.room >= 0) {
            before = fits;
            fits = one;
        } else {
            more = one;
        }
    }
    for (int tries = 0; more.batch - fits.batch > 1; tries++) {
        struct roof_sized one;
        TRY(measure(&one, p, plan, between(&fits, &more, tries)));
        *(one.room >= 0 ? &fits : &more) = one;
    }
    *out = fits.batch;
    return ROOF_OK;
}
