// SPDX-License-Identifier: MIT
#include "predict/closed_loop.h"

#include <math.h>

#include "base/base.h"

/* Tells whether a value belongs to the expected time or its band, not to the bound. */
static bool is_expected(int value)
{
    return value != ROOF_STEP_BOUND && value != ROOF_STEP_PATH && value != ROOF_STEP_TURN &&
           (value < ROOF_STEP_SHARE || value >= ROOF_STEP_EXPECTED_SHARE);
}

void roof_step_add(struct roof_step_times *sum, double weight, const struct roof_step_times *step)
{
    for (int i = 0; i < ROOF_STEP_VALUES; i++) {
        sum->value[i] += weight * step->value[i];
    }
}

/* Adds weight times the step function; a weight of 0 asks for no step. */
static enum roof_status add(struct roof_step_times *sum, double weight, roof_step_function *step,
                            void *context, double decoding, double chunks, struct roof_error *error)
{
    struct roof_step_times one;
    if (weight > 0) {
        TRY(step(&one, context, decoding, chunks, error));
        roof_step_add(sum, weight, &one);
    }
    return ROOF_OK;
}

/*
 * Adds the steps in which a lane waits for another. Stages of a pipeline serve the lanes in turn,
 * so each step of a round of L steps takes as long as the longest of them: a step without a chunk
 * takes the time of one with a chunk if any of the other L - 1 lanes has one. Each has one in x of
 * its steps, and the lanes are assumed to be independent. A better schedule may avoid this, so
 * bounds do not include it.
 */
static void add_waiting(struct roof_step_times *sum, double without, double chunks, int64_t lanes,
                        const struct roof_step_times *light, const struct roof_step_times *heavy)
{
    double none = 1; /* the other lanes have no chunk */
    if (!(heavy->value[ROOF_STEP_EXPECTED] > light->value[ROOF_STEP_EXPECTED])) {
        return;
    }
    for (int64_t i = 1; i < lanes; i++) {
        none *= 1 - chunks;
    }
    for (int i = 0; i < ROOF_STEP_VALUES; i++) {
        if (is_expected(i)) {
            sum->value[i] += without * (1 - none) * (heavy->value[i] - light->value[i]);
        }
    }
}

/*
 * Computes the time of the K chunks of a prompt, one per step. In a pipeline the first one takes
 * the time of all stages, and the next one begins when the slowest stage is free, in the microbatch
 * of the next lane. If no sequence decodes, all lanes have chunks, which take turns.
 */
static void add_chunks(struct roof_step_times *sum, const struct roof_loop *loop,
                       const struct roof_step_times *heavy)
{
    const bool follow = loop->pipeline && (loop->steps > 0 || loop->lanes == 1);
    const double *const v = heavy->value;
    for (int i = 0; i < ROOF_STEP_VALUES; i++) {
        const bool expected = is_expected(i);
        const double path = v[expected ? ROOF_STEP_EXPECTED_PATH : ROOF_STEP_PATH];
        const double turn = v[expected ? ROOF_STEP_EXPECTED_TURN : ROOF_STEP_TURN];
        const double steps =
            (path + (loop->chunks - 1) * turn) / v[expected ? ROOF_STEP_EXPECTED : ROOF_STEP_BOUND];
        sum->value[i] += (follow ? steps : loop->chunks) * v[i];
    }
}

/*
 * A request passes through K steps with a chunk of its prompt and S steps in which it decodes: a
 * cycle of n = S + K steps, in which all b users bring b K chunks and b S decoded tokens. So on
 * average a step has x = b K / n chunks and D = b S / n decoding sequences.
 *
 * - x <= 1: a user's own K steps apart, (b - 1) K of its S decode steps have a chunk of another.
 * - x > 1: every step has x chunks.
 * - x > room: prompts wait. The steps that prefill b K chunks, `room` at a time, make the cycle.
 */
static enum roof_status spread_chunks(struct roof_loop_times *out, const struct roof_loop *loop,
                                      roof_step_function *step, void *context,
                                      struct roof_error *error)
{
    const double b = loop->users;
    const double s = loop->steps;
    const double k = loop->chunks;
    const bool waits = b * k / loop->room > s + k;
    const double cycle = waits ? b * k / loop->room : s + k;
    const double chunks = fmin(b * k / cycle, loop->room);
    const double beside = b > 1 ? b * s / cycle : 0; /* sequences that decode beside a chunk */
    *out = (struct roof_loop_times){.waits = waits};
    if (waits || chunks > 1) {
        struct roof_step_times full = {0};
        TRY(add(&full, 1, step, context, beside, chunks, error));
        roof_step_add(&out->ttft, waits ? cycle - s : k, &full);
        if (s > 0) {
            out->step = full;
        }
        return ROOF_OK;
    }
    struct roof_step_times heavy = {0};
    TRY(add(&heavy, 1, step, context, beside, 1, error));
    add_chunks(&out->ttft, loop, &heavy);
    if (s > 0) {
        const double mixed = fmin(1, (b - 1) * k / s);
        struct roof_step_times light = {0};
        TRY(add(&light, 1, step, context, b > 1 ? beside : b, 0, error));
        roof_step_add(&out->step, 1 - mixed, &light);
        roof_step_add(&out->step, mixed, &heavy);
        add_waiting(&out->step, 1 - mixed, chunks, loop->lanes, &light, &heavy);
    }
    return ROOF_OK;
}

/* Adds up a request from its first step to its last. */
static void add_whole(struct roof_loop_times *out, const struct roof_loop *loop)
{
    out->whole = out->ttft;
    roof_step_add(&out->whole, loop->steps, &out->step);
}

/* Takes the bound of another step, with its parts, if it is lower. */
static void lower_bound(struct roof_step_times *out, const struct roof_step_times *other)
{
    if (!(other->value[ROOF_STEP_BOUND] < out->value[ROOF_STEP_BOUND])) {
        return;
    }
    for (int i = 0; i < ROOF_STEP_VALUES; i++) {
        if (!is_expected(i)) {
            out->value[i] = other->value[i];
        }
    }
}

/* Lowers the bounds to those of a schedule in which j prompts pass through the same K steps. Beside
 * them b - j sequences decode, and (b - j) K / j of the S decode steps of a user have chunks of
 * others; `light` is a step without. With j = b nobody decodes meanwhile. */
static enum roof_status join(struct roof_loop_times *out, const struct roof_loop *loop, double j,
                             const struct roof_step_times *light, roof_step_function *step,
                             void *context, struct roof_error *error)
{
    const double beside = loop->users - j;
    const double mixed = beside * loop->chunks / (j * loop->steps);
    struct roof_step_times heavy = {0};
    struct roof_loop_times joined = {0};
    TRY(add(&heavy, 1, step, context, beside, j, error));
    add_chunks(&joined.ttft, loop, &heavy);
    roof_step_add(&joined.step, 1 - mixed, light);
    roof_step_add(&joined.step, mixed, &heavy);
    add_whole(&joined, loop);
    lower_bound(&out->ttft, &joined.ttft);
    lower_bound(&out->step, &joined.step);
    lower_bound(&out->whole, &joined.whole);
    return ROOF_OK;
}

/* Lowers the bounds to those of schedules that start several prompts in the same step: one in each
 * group of the attention, or as many as there are users and room. One at a time is not the same as
 * chunks that are spread: it has exactly b - 1 sequences beside it. Schedules with fewer prompts
 * at once than x do not keep up. */
static enum roof_status join_prompts(struct roof_loop_times *out, const struct roof_loop *loop,
                                     roof_step_function *step, void *context,
                                     struct roof_error *error)
{
    const double most = floor(fmin(loop->users, loop->room));
    const double least = loop->users * loop->chunks / (loop->steps + loop->chunks);
    const double at_once[] = {1, fmin(loop->groups, most), most};
    struct roof_step_times light = {0};
    TRY(add(&light, 1, step, context, loop->users, 0, error));
    for (size_t i = 0; i < COUNT(at_once); i++) {
        if (at_once[i] >= least && (i == 0 || at_once[i] > at_once[i - 1])) {
            TRY(join(out, loop, at_once[i], &light, step, context, error));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_closed_loop(struct roof_loop_times *out, const struct roof_loop *loop,
                                  roof_step_function *step, void *context, struct roof_error *error)
{
    TRY(spread_chunks(out, loop, step, context, error));
    add_whole(out, loop);
    /* Steps that are full have no choice. */
    return loop->users > 1 && loop->steps > 0 && !out->waits
               ? join_prompts(out, loop, step, context, error)
               : ROOF_OK;
}
