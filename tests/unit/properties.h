// SPDX-License-Identifier: MIT
/* For tests of the expected time of operators: one figure with all that goes with it; and what
 * holds on shapes drawn at random: the bound, the band, the launch, caches, and that more is never
 * faster. */
#ifndef ROOF_TESTS_PROPERTIES_H
#define ROOF_TESTS_PROPERTIES_H

#include "support.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* A fit of 16 bits without parameters but those that do nothing; its band is from half to twice. */
static inline struct roof_kernel_fit empty_fit(enum roof_kernel kernel, enum roof_stack stack)
{
    struct roof_kernel_fit fit = {
        .kernel = kernel, .stack = stack, .numerics = ROOF_NUMERICS_16BIT, .low = 0.5, .high = 2};
    size_t count = 0;
    const struct roof_parameter *const parameter = roof_fit_parameters(&fit, &count);
    for (size_t i = 0; i < count; i++) {
        const double neutral = parameter[i].neutral;
        fit.parameter[i] = isnan(neutral) ? 0 : neutral;
    }
    return fit;
}

/* Predicts. The L2 has a share `hit` of what is read; the band is `wider` than that of an empty fit
 * on either side, which it is where a fit stands in. */
static inline void check_time(struct roof_prediction *p, const struct roof_workload *w,
                              const struct roof_hardware *device, double us,
                              enum roof_kernel_limit bound, double hit, double wider)
{
    static const enum roof_bottleneck of[ROOF_KERNEL_LIMIT_COUNT] = {
        [ROOF_KERNEL_LIMIT_LAUNCH] = ROOF_BOTTLENECK_OVERHEAD,
        [ROOF_KERNEL_LIMIT_MEMORY] = ROOF_BOTTLENECK_MEMORY,
        [ROOF_KERNEL_LIMIT_COMPUTE] = ROOF_BOTTLENECK_COMPUTE,
        [ROOF_KERNEL_LIMIT_LATENCY] = ROOF_BOTTLENECK_OVERHEAD,
        [ROOF_KERNEL_LIMIT_NETWORK] = ROOF_BOTTLENECK_NETWORK};
    struct roof_error error = {0};
    if (roof_predict(p, w, device, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    const struct roof_expected *const e = &p->part[0].expected;
    assert_near(p->expected_s * 1e6, us, 1e-9);
    assert_int_equal(e->limit, bound);
    assert_near(e->tiling.l2_hit, hit, 1e-9);
    assert_false(e->tiled);
    assert_int_equal(p->expected_bottleneck, of[bound]);
    const bool uneven =
        e->fit->kernel == ROOF_KERNEL_MOE && w->shape.routing != ROOF_ROUTING_BALANCED;
    assert_true(uneven || e->near == (wider > 1)); /* uneven loads are of the device's own kernel */
    assert_int_equal(p->expected_near, e->near);
    /* The band does not begin below the bound, which only a cache makes possible. */
    const bool bounded = roof_operator_row(w->op)->kind == ROOF_KIND_COLLECTIVE ||
                         (w->cache == ROOF_CACHE_COLD && w->working_set == 0);
    assert_near(p->expected_low_s * 1e6, fmax(us / 2 / wider, bounded ? p->time_s * 1e6 : 0), 1e-9);
    assert_near(p->expected_high_s * 1e6, us * 2 * wider, 1e-9);
}

#define PROPERTY_SEED 20261121
#define PROPERTY_SHAPES 20000

static inline uint64_t draw(void)
{
    return random_bits() >> 8;
}

/* At least 1 and less than 2^(bits + 1), evenly on a log scale. */
static inline int64_t draw_size(unsigned bits)
{
    const int64_t top = (int64_t)1 << (draw() % (bits + 1));
    return top + (int64_t)(draw() % (uint64_t)top);
}

/* The parts of the properties that differ from operator to operator. */
struct properties {
    /* Ids, NULL at the end; NULL: those on which all kernels were measured. */
    const char *const *devices;
    /* Formats, stack and shape of a workload that begins as the default one; false: draw again. */
    bool (*draw)(struct roof_workload *w, const struct roof_calibration *c);
    /* Tells if a workload with one larger dimension is valid for the operator, and comparable. */
    bool (*allowed)(const struct roof_hardware *device, const struct roof_workload *w,
                    enum roof_dimension grown);
    /* Checks further properties of an operator; may be NULL. */
    void (*also)(const struct roof_hardware *device, const struct roof_workload *w, double time);
};

static inline const char *format_name(enum roof_precision precision)
{
    return precision == ROOF_PRECISION_AUTO ? "auto" : roof_format(precision)->name;
}

static inline void show(const struct roof_hardware *device, const struct roof_workload *w,
                        const char *what, double one, double other)
{
    const struct roof_operator_row *const row = roof_operator_row(w->op);
    const struct roof_formats *const f = &w->formats;
    char shape[512] = "";
    size_t used = 0;
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        used += (size_t)snprintf(shape + used, sizeof shape - used, " %s %lld", input->key,
                                 (long long)roof_input_get(w, input));
    }
    fail_msg("%s: %s: %.17g s, %.17g s: %s%s, p %s, w %s, a %s, kv %s, stack %lld, cache %lld, "
             "working set %lld",
             device->id, what, one, other, row->name, shape, format_name(f->precision),
             format_name(f->weights), format_name(f->activations), format_name(f->kv),
             (long long)w->stack, (long long)w->cache, (long long)w->working_set);
}

static inline double expect(struct roof_prediction *p, const struct roof_workload *w,
                            const struct roof_hardware *device)
{
    struct roof_error error = {0};
    if (roof_predict(p, w, device, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    if (!(p->expected_s > 0 && isfinite(p->expected_high_s) && p->expected_low_s <= p->expected_s &&
          p->expected_s <= p->expected_high_s)) {
        show(device, w, "expected time and the end of its band", p->expected_s, p->expected_high_s);
    }
    return p->expected_s;
}

static inline void check_shape(const struct properties *of, const struct roof_hardware *device,
                               const struct roof_workload *drawn)
{
    struct roof_workload w = *drawn;
    struct roof_prediction p;
    w.cache = ROOF_CACHE_COLD;
    const double cold = expect(&p, &w, device);
    if (!(cold >= p.time_s && p.expected_low_s >= p.time_s)) {
        show(device, &w, "below the bound", p.expected_low_s, p.time_s);
    }
    w.no_launch_overhead = 1;
    const double bare = expect(&p, &w, device);
    if (!(bare <= cold && p.part[0].expected.launch_s == 0)) {
        show(device, &w, "without a launch", bare, cold);
    }
    w.no_launch_overhead = 0;
    w.cache = ROOF_CACHE_WARM;
    const double warm = expect(&p, &w, device);
    if (!(warm <= cold * (1 + 1e-9))) {
        show(device, &w, "warm", warm, cold);
    }
    /* The more lies between two uses, the less is found. */
    const int64_t between = 1 + (int64_t)(draw() % 100000000);
    w.working_set = between;
    const double near = expect(&p, &w, device);
    w.working_set = 2 * between;
    const double far = expect(&p, &w, device);
    if (!(near <= far * (1 + 1e-9) && far <= cold * (1 + 1e-9))) {
        show(device, &w, "working set", near, far);
    }
    /* More is never faster: one more, and twice as much. */
    w = *drawn;
    const double time = w.cache == ROOF_CACHE_COLD ? cold : warm;
    const struct roof_operator_row *const row = roof_operator_row(w.op);
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = &roof_dimensions[row->dims[i]];
        const int64_t size = roof_input_get(drawn, input);
        for (int64_t more = size + 1; input->kind == ROOF_INPUT_INTEGER && more <= 2 * size;
             more += size > 1 ? size - 1 : 1) {
            roof_input_put(&w, input, more);
            if (!of->allowed(device, &w, row->dims[i])) {
                continue;
            }
            const double longer = expect(&p, &w, device);
            if (!(longer >= time * (1 - 1e-12))) {
                show(device, &w, "smaller is slower", time, longer);
            }
        }
        roof_input_put(&w, input, size);
    }
    if (of->also != NULL) {
        of->also(device, drawn, time);
    }
}

static inline void check_properties(const struct properties *of)
{
    static const char *const measured[] = {"a100-sxm-80gb", "h100-sxm", "hgx-b200", "l40s", NULL};
    random_state = PROPERTY_SEED;
    for (const char *const *id = of->devices != NULL ? of->devices : measured; *id != NULL; id++) {
        print_message("%s: seed %llu\n", *id, (unsigned long long)random_state);
        struct roof_hardware *const device = load_calibrated(*id);
        for (int done = 0, tries = 0; done < PROPERTY_SHAPES; tries++) {
            struct roof_workload w = ROOF_WORKLOAD_INIT;
            assert_true(tries < 1000 * PROPERTY_SHAPES); /* there is a fit of the kernel */
            w.cache = (int64_t)(draw() % 2);
            if (of->draw(&w, device->calibration)) {
                check_shape(of, device, &w);
                done++;
            }
        }
        free_calibrated(device);
    }
}

#endif
