// SPDX-License-Identifier: MIT
#include "report/caveat_report.h"

#include <inttypes.h>
#include <math.h>

#include "base/base.h"
#include "base/shell.h"
#include "decide/plan.h"
#include "measure/fit.h"
#include "operator/operator.h"
#include "predict/calibration.h"
#include "predict/predict_sizes.h"

/* --- what an answer uses ------------------------------------------------------------------- */

static void add(struct roof_used *out, const struct roof_prediction *p)
{
    for (int i = 0; i < p->part_count; i++) {
        out->peak[roof_part_peaks(&p->part[i])][p->part[i].compute] = true;
    }
    if (p->network_bytes > 0) {
        out->bridge = out->bridge || roof_link_is_bridge(&p->link, p->hardware);
        out->members = fmax(out->members, (double)p->workload.shape.devices);
    }
}

/* Finds a kernel of another stack than the one that was asked for. */
static void add_other_stack(struct roof_used *out, const struct roof_prediction *p)
{
    const enum roof_stack asked = (enum roof_stack)p->workload.stack;
    if (!out->expected || asked == ROOF_STACK_BEST) {
        return;
    }
    for (int i = 0; i < p->part_count; i++) {
        const struct roof_kernel_fit *const fit = p->part[i].expected.fit;
        if (out->instead == NULL && fit->stack != ROOF_STACK_BEST && fit->stack != asked) {
            out->asked = asked;
            out->instead = fit;
        }
    }
}

void roof_used_by(struct roof_used *out, const struct roof_prediction *prediction)
{
    *out = (struct roof_used){.hardware = prediction->hardware,
                              .expected = !isnan(prediction->expected_s)};
    add(out, prediction);
    add_other_stack(out, prediction);
}

/* Tells whether a calibration has kernels of a stack. Those of aiter are kept as kernels of any
 * stack, because several engines call them. So aiter is there if the device has products of any
 * stack that no other device lent. */
static bool has_stack(const struct roof_calibration *c, enum roof_stack stack)
{
    bool has = roof_calibration_of(c, stack) != NULL;
    for (size_t i = 0; i < c->count && stack == ROOF_STACK_AITER; i++) {
        const struct roof_kernel_fit *const fit = &c->fit[i];
        has = has || (fit->kernel == ROOF_KERNEL_GEMM && fit->stack == ROOF_STACK_BEST &&
                      fit->lent == NULL);
    }
    return has;
}

/* Notes a stack that was asked for if a device has no kernels of it. A model in a GGUF format has a
 * note of its own for llama.cpp. */
static void add_missing_stack(struct roof_used *out, const struct roof_model_prediction *model)
{
    const struct roof_scenario *const s = &model->scenario;
    const struct roof_calibration *const c = out->hardware->calibration;
    const enum roof_stack asked = (enum roof_stack)s->common.stack;
    const bool noted = asked == ROOF_STACK_LLAMA_CPP && roof_scenario_gguf(s, model->model);
    if (!out->expected || c == NULL) {
        return;
    }
    if (s->asked_stack != ROOF_STACK_BEST) {
        out->asked = (enum roof_stack)s->asked_stack;
        out->instead = roof_calibration_of(c, ROOF_STACK_LLAMA_CPP);
    } else if (!noted && asked != ROOF_STACK_BEST && !has_stack(c, asked)) {
        out->asked = asked;
        out->instead = c->local ? &c->fit[0] : NULL;
    }
}

static const struct roof_hardware *host_of(const struct roof_scenario *scenario)
{
    return scenario->offload == ROOF_OFFLOAD_NONE ? NULL : scenario->host_kernels;
}

static double copy_devices(const struct roof_scenario *scenario)
{
    return (double)roof_scenario_devices(scenario) / (double)scenario->dp;
}

/* Adds the link between the devices that share the narrowest part of a model: with tensor
 * parallelism these, else those among experts, else a pair that sends. */
static void add_link(struct roof_used *out, const struct roof_scenario *scenario)
{
    const double stage = (double)roof_stage_devices(scenario);
    const double within = scenario->tp > 1   ? (double)scenario->tp
                          : stage > 1        ? stage
                          : scenario->pp > 1 ? 2
                                             : 1;
    const struct roof_hardware *const hardware = out->hardware;
    struct roof_link link = {.figure = NULL};
    if (within > 1 && roof_hardware_link(&link, hardware, within, within, NULL) == ROOF_OK) {
        out->bridge = out->bridge || roof_link_is_bridge(&link, hardware);
        out->host_link = roof_link_is_host(&link, hardware);
    }
}

/* Adds the peaks of the formats of a scenario whose operators are not known one by one. */
static void add_formats(struct roof_used *out, const struct roof_scenario *scenario)
{
    const struct roof_formats *const formats = &scenario->common.formats;
    const enum roof_precision asked[] = {formats->weights, formats->activations};
    for (size_t i = 0; i < COUNT(asked); i++) {
        const struct roof_compute *const compute = &out->hardware->compute[asked[i]];
        const bool vector = compute->unit == ROOF_COMPUTE_VECTOR;
        out->peak[vector ? ROOF_PEAK_VECTOR : ROOF_PEAK_MATRIX][compute->precision] = true;
    }
    out->peak[ROOF_PEAK_VECTOR][ROOF_PRECISION_FP32] = true; /* norms and the like */
}

void roof_used_by_model(struct roof_used *out, const struct roof_model_prediction *model)
{
    *out = (struct roof_used){.hardware = model->total.hardware,
                              .host = host_of(&model->scenario),
                              .devices = copy_devices(&model->scenario),
                              .copies = (double)model->scenario.dp,
                              .expected =
                                  !isnan(model->expected_step_s) || !isnan(model->expected_e2e_s)};
    for (size_t i = 0; i < model->count; i++) {
        if (model->node[i].node.host == NULL) {
            add(out, &model->node[i].prediction);
        }
    }
    if (model->count == 0) { /* a request */
        add_formats(out, &model->scenario);
        out->members = (double)roof_stage_devices(&model->scenario);
    }
    add_link(out, &model->scenario);
    add_missing_stack(out, model);
}

void roof_used_by_scenario(struct roof_used *out, const struct roof_scenario *scenario,
                           const struct roof_hardware *hardware, bool expected)
{
    *out = (struct roof_used){.hardware = hardware,
                              .host = host_of(scenario),
                              .devices = copy_devices(scenario),
                              .copies = (double)scenario->dp,
                              .members = (double)roof_stage_devices(scenario),
                              .expected = expected};
    add_formats(out, scenario);
    add_link(out, scenario);
}

/* --- the notes ----------------------------------------------------------------------------- */

/* Tells if a user's calibration has too few rows of most of its own kernels to fit them. */
static bool has_few_rows(const struct roof_hardware *hardware)
{
    const struct roof_calibration *const c = hardware->calibration;
    size_t own = 0;
    size_t few = 0;
    for (size_t i = 0; c != NULL && i < c->count; i++) {
        own += c->fit[i].lent == NULL ? 1 : 0;
        few += c->fit[i].lent == NULL && c->fit[i].rows < ROOF_FIT_ROWS_MIN ? 1 : 0;
    }
    return c != NULL && !c->inherited && 2 * few > own;
}

/* Each writes a note without a line end, and tells whether it wrote one. */
typedef bool put_function(struct roof_text *out, const struct roof_used *used);

/* The bandwidth or a peak that the answer uses has a low confidence. Devices with the figures of
 * roofline's specification have a note of their own (published_report.h). */
static bool put_figures(struct roof_text *out, const struct roof_used *used)
{
    const struct roof_hardware *const hardware = used->hardware;
    const bool memory = hardware->figure[ROOF_FIGURE_BANDWIDTH].confidence == ROOF_CONFIDENCE_LOW;
    bool peaks = false;
    for (int t = 0; t < ROOF_PEAK_TABLE_COUNT; t++) {
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            peaks = peaks ||
                    (used->peak[t][p] && hardware->peak[t][p].confidence == ROOF_CONFIDENCE_LOW);
        }
    }
    if (hardware->basis == ROOF_BASIS_DOCUMENTS || (!memory && !peaks)) {
        return false;
    }
    roof_text_printf(out,
                     "the %s of %s %s uncertain, and so are times that depend on %s; roofline list "
                     "hardware ",
                     memory && peaks ? "memory bandwidth and peaks"
                     : memory        ? "memory bandwidth"
                                     : "peaks",
                     hardware->id, peaks ? "are" : "is", peaks ? "them" : "it");
    roof_text_shell_word(out, hardware->reference);
    roof_text_put(out, peaks ? " marks them" : " marks it");
    return true;
}

/* The kernels of the device, or of the host that runs a part of the model, were measured in a few
 * rows. */
static bool put_few_rows(struct roof_text *out, const struct roof_used *used)
{
    const bool device = used->hardware->basis == ROOF_BASIS_USER && has_few_rows(used->hardware);
    const struct roof_hardware *const hardware = device ? used->hardware : used->host;
    if (!device && (hardware == NULL || !has_few_rows(hardware))) {
        return false;
    }
    roof_text_printf(out,
                     "most kernels of %s have fewer than %d measured times, so intervals are wide "
                     "and expected times can be far off (measure --seconds)",
                     hardware->id, ROOF_FIT_ROWS_MIN);
    return true;
}

static bool put_bridge(struct roof_text *out, const struct roof_used *used)
{
    const struct roof_figure *const figure = used->hardware->figure;
    char rate[ROOF_QUANTITY_SIZE];
    if (used->bridge) {
        roof_text_printf(
            out,
            "every %.0f %s are assumed to share a bridge (%s per direction); without "
            "bridges: --set bridge_devices=1",
            figure[ROOF_FIGURE_BRIDGE_DEVICES].value, used->hardware->id,
            roof_format_quantity(rate, figure[ROOF_FIGURE_BRIDGE].value, ROOF_UNIT_GB_PER_S));
    }
    return used->bridge;
}

/* Devices send to each other over PCIe, which settings of the host may slow down. */
static bool put_host_link(struct roof_text *out, const struct roof_used *used)
{
    char rate[ROOF_QUANTITY_SIZE];
    if (used->host_link) {
        roof_text_printf(
            out,
            "the devices are assumed to send at %s per direction over PCIe; ACS or the "
            "IOMMU may halve it: --set link_gb_s=VALUE",
            roof_format_quantity(rate, used->hardware->figure[ROOF_FIGURE_LINK].value,
                                 ROOF_UNIT_GB_PER_S));
    }
    return used->host_link;
}

/* A copy is on several nodes, and its groups that span them use the network. */
static bool put_nodes(struct roof_text *out, const struct roof_used *used)
{
    const struct roof_hardware *const hardware = used->hardware;
    const double each = hardware->figure[ROOF_FIGURE_DEVICES_PER_NODE].value;
    const double network = hardware->figure[ROOF_FIGURE_NETWORK].value;
    const double last = fmod(used->devices, each);
    char rate[2][ROOF_QUANTITY_SIZE];
    if (!(used->devices > each)) {
        return false;
    }
    roof_text_printf(out, "%s%.0f devices %sare on %.0f nodes of %.0f",
                     used->copies > 1 ? "the " : "", used->devices,
                     used->copies > 1 ? "of each copy " : "", ceil(used->devices / each), each);
    if (last > 0) {
        roof_text_printf(out, ", the last with %.0f", last);
    }
    if (network < hardware->figure[ROOF_FIGURE_LINK].value) {
        roof_text_printf(
            out,
            "; between nodes they send at %s per direction (network), inside a node at %s (link)",
            roof_format_quantity(rate[0], network, ROOF_UNIT_GB_PER_S),
            roof_format_quantity(rate[1], hardware->figure[ROOF_FIGURE_LINK].value,
                                 ROOF_UNIT_GB_PER_S));
    }
    return true;
}

static bool put_collectives(struct roof_text *out, const struct roof_used *used)
{
    const struct roof_calibration *const c = used->hardware->calibration;
    if (!used->expected || c == NULL || c->collectives == NULL ||
        fmax(used->members, used->rivals) <= (double)c->collectives_to) {
        return false;
    }
    roof_text_printf(out,
                     used->members > (double)c->collectives_to
                         ? "expected times of collectives between more than %" PRId64
                           " devices may be far off: %s"
                         : "expected times of plans with tp or ep above %" PRId64
                           " may be far off: %s",
                     c->collectives_to, c->collectives);
    return true;
}

static bool put_stack(struct roof_text *out, const struct roof_used *used)
{
    if (used->asked == ROOF_STACK_BEST) {
        return false;
    }
    roof_text_printf(out,
                     "no kernels of %s for this were measured on a device like %s; the estimate "
                     "uses those of ",
                     roof_stack_name(used->asked), used->hardware->id);
    if (used->instead == NULL) {
        roof_text_put(out, "other stacks");
    } else {
        roof_text_printf(out, "%s on %s", roof_stack_name(used->instead->stack),
                         used->instead->device);
    }
    return true;
}

static put_function *const notes[] = {put_figures, put_few_rows,    put_bridge, put_host_link,
                                      put_nodes,   put_collectives, put_stack};

/* Writes one note with a beginning and an end, folded with an indent. */
static void put_note(struct roof_text *out, put_function *put, const struct roof_used *used,
                     const char *begin, const char *end, size_t indent)
{
    struct roof_text note = ROOF_TEXT_INIT;
    if (put(&note, used) && !note.failed) {
        roof_text_put(out, *end == '.' ? "\n" : ""); /* a paragraph */
        const size_t from = out->length;
        roof_text_printf(out, "%s%s%s", begin, note.data, end);
        roof_text_fold(out, from, indent);
        roof_text_put(out, "\n");
    }
    out->failed |= note.failed;
    roof_text_free(&note);
}

static void put_all(struct roof_text *out, const struct roof_used *used, const char *begin,
                    const char *end, size_t indent)
{
    for (size_t i = 0; i < COUNT(notes); i++) {
        put_note(out, notes[i], used, begin, end, indent);
    }
}

void roof_report_caveats(struct roof_text *out, const struct roof_used *used)
{
    put_all(out, used, "Note: ", ".", 0);
}

void roof_plan_put_caveats(struct roof_text *out, const struct roof_used *used)
{
    put_all(out, used, "  note:        ", "", 15);
}

void roof_plan_put_collectives(struct roof_text *out, const struct roof_plan_problem *problem,
                               const struct roof_plan *best)
{
    for (size_t h = 0; h < problem->hardware_count; h++) {
        const struct roof_used used = {.hardware = problem->hardware[h],
                                       .members = (double)roof_plan_most_members(problem),
                                       .expected = true};
        struct roof_text begin = ROOF_TEXT_INIT;
        roof_text_printf(&begin, "Note on %s: ", used.hardware->id);
        if (!begin.failed && (best == NULL || best->hardware != h)) {
            put_note(out, put_collectives, &used, begin.data, ".", 0);
        }
        out->failed |= begin.failed;
        roof_text_free(&begin);
    }
}

void roof_report_unlinked(struct roof_text *out, const char *separator,
                          const struct roof_hardware *device, double devices)
{
    const enum roof_figure_id missing =
        devices > 0 ? roof_hardware_unlinked(device, devices) : ROOF_FIGURE_COUNT;
    if (missing != ROOF_FIGURE_COUNT) {
        const char *const key = roof_figure_key(missing)->key;
        roof_text_put(out, separator);
        const size_t from = out->length;
        roof_text_printf(out,
                         "Note: plans with separate prefill copies were left out if they need %s "
                         "of %s, which is unknown: --set %s=VALUE",
                         key, device->id, key);
        roof_text_fold(out, from, 0);
        roof_text_put(out, "\n");
    }
}

void roof_plan_put_unpriced(struct roof_text *out, const char *separator,
                            const struct roof_plan_problem *problem)
{
    const char *first = NULL;
    size_t unknown = 0;
    for (size_t h = 0; h < problem->hardware_count && problem->price != NULL; h++) {
        const bool known = !isnan(problem->price[h]);
        first = first == NULL && !known ? problem->hardware[h]->id : first;
        unknown += known ? 0 : 1;
    }
    if (first == NULL || unknown == problem->hardware_count) {
        return;
    }
    roof_text_put(out, separator);
    const size_t from = out->length;
    roof_text_printf(out, "Note: %s ", first);
    if (unknown > 1) {
        roof_text_printf(out, "and %zu other device%s have no price, so their costs are",
                         unknown - 1, unknown == 2 ? "" : "s");
    } else {
        roof_text_put(out, "has no price, so its cost is");
    }
    roof_text_printf(out, " missing: --price-per-hour %s=PRICE", first);
    roof_text_fold(out, from, 0);
    roof_text_put(out, "\n");
}
