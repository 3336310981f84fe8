// SPDX-License-Identifier: MIT
/* Reads the measured rows, groups them and deals them into folds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/list.h"
#include "calibrate/fitter.h"
#include "catalog/data.h"

/* --- sizes --------------------------------------------------------------------------------- */

/* Combines two numbers (Fibonacci hashing). */
static int64_t mixed(int64_t a, int64_t b)
{
    return (int64_t)((((uint64_t)a + (uint64_t)b) * 0x9e3779b97f4a7c15U ^ (uint64_t)b) >> 1);
}

/* Combines sizes into a number that sorts by the first one, and arbitrarily within it. */
static int64_t ordered(int64_t first, int64_t others)
{
    return (int64_t)(((uint64_t)first << 40 | (uint64_t)others >> 23) & INT64_MAX);
}

/* Finds the sizes by which a kernel's rows are dealt; a fold holds out all rows of a size. Returns
 * the number of sizes. */
static int sizes_of(int64_t out[2], const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    switch (roof_kernel_of(w)) {
    case ROOF_KERNEL_GEMM:
        out[0] = s->n;
        out[1] = s->k;
        return 2;
    case ROOF_KERNEL_BMM:
        out[0] = s->batch;
        return 1;
    case ROOF_KERNEL_DECODE:
    case ROOF_KERNEL_PREFILL:
    case ROOF_KERNEL_MLA_DECODE:
    case ROOF_KERNEL_MLA_PREFILL:
    case ROOF_KERNEL_ENCODER:
    case ROOF_KERNEL_STATE_PREFILL:
    case ROOF_KERNEL_KIMI_PREFILL:
    case ROOF_KERNEL_SSD_PREFILL:
        out[0] = s->heads;
        return 1;
    case ROOF_KERNEL_MOE: /* the model */
        out[0] = ordered(s->hidden, mixed(mixed(s->intermediate, s->experts), s->top_k));
        return 1;
    case ROOF_KERNEL_ALL_REDUCE:
    case ROOF_KERNEL_ONE_SHOT:
    case ROOF_KERNEL_ALL_GATHER:
    case ROOF_KERNEL_REDUCE_SCATTER:
    case ROOF_KERNEL_ALL_TO_ALL: /* two octaves */
        out[0] = (int64_t)(log2((double)s->elements) / 2);
        return 1;
    case ROOF_KERNEL_STATE:
    case ROOF_KERNEL_CONV:
        out[0] = s->batch;
        return 1;
    case ROOF_KERNEL_INDEX_SCORES:
    case ROOF_KERNEL_TOP_K:
    case ROOF_KERNEL_SPARSE_MLA:
    case ROOF_KERNEL_COMPRESSED:
    case ROOF_KERNEL_COMPRESSED_PREFILL: /* all queries */
        out[0] = s->batch * s->query_len;
        return 1;
    case ROOF_KERNEL_HYPER_COLLAPSE:
    case ROOF_KERNEL_HYPER_EXPAND:
        out[0] = s->tokens;
        return 1;
    case ROOF_KERNEL_ROPE:
        out[0] = mixed(s->heads, s->head_dim);
        return 1;
    default:
        out[0] = s->hidden;
        return 1;
    }
}

/* Adds a size unless it is present; false if there are too many. */
static bool add_size(struct sizes *sizes, int64_t size)
{
    int at = 0;
    while (at < sizes->count && sizes->size[at] < size) {
        at++;
    }
    if (at < sizes->count && sizes->size[at] == size) {
        return true;
    }
    if (sizes->count == SIZES_MAX) {
        return false;
    }
    memmove(&sizes->size[at + 1], &sizes->size[at],
            (size_t)(sizes->count - at) * sizeof sizes->size[0]);
    sizes->size[at] = size;
    sizes->count++;
    return true;
}

static enum roof_status add_sizes(struct fitter *f, const struct roof_workload *w,
                                  struct roof_error *error)
{
    const enum roof_kernel kernel = roof_kernel_of(w);
    int64_t size[2];
    for (int i = sizes_of(size, w); i > 0; i--) {
        if (!add_size(&f->sizes[kernel], size[i - 1])) {
            return roof_error_set(error, ROOF_USAGE, "more than %d sizes of %s", SIZES_MAX,
                                  roof_kernel_name(kernel));
        }
    }
    return ROOF_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

static enum roof_status on_hardware(void *context, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    struct fitter *const f = context;
    for (int i = 0; i < f->devices; i++) {
        const bool given = f->measured[i] == f->hardware && strcmp(name, f->options->hardware) == 0;
        if (given || strcmp(name, f->measured[i]->id) == 0) {
            *out = f->measured[i];
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_UNSATISFIED, "another device");
}

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    (void)context;
    (void)out;
    (void)layout;
    return roof_error_set(error, ROOF_USAGE, "models are not fitted: %s", name);
}

static void on_bad(void *context, const struct roof_error *error)
{
    ((struct fitter *)context)->bad_rows = true;
    print_error(error);
}

static bool is_same(const struct group *a, const struct group *b)
{
    return a->kernel == b->kernel && a->stack == b->stack && a->numerics == b->numerics &&
           a->quantize == b->quantize && a->least_heads == b->least_heads &&
           a->own_kv_heads == b->own_kv_heads;
}

/* Finds the group of a kernel, and makes a new one if needed. */
static enum roof_status find_group(int *out, struct fitter *f, const struct group *g,
                                   struct roof_error *error)
{
    int at = 0;
    while (at < f->groups && (!is_same(&f->group[at], g) || f->group[at].weights != g->weights)) {
        at++;
    }
    if (at == GROUPS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "too many kinds of kernels");
    }
    if (at == f->groups) {
        f->group[f->groups++] = *g;
    }
    *out = at;
    return ROOF_OK;
}

static enum roof_status add_row(struct fitter *f, const struct row *row, struct roof_error *error)
{
    if (f->rows == f->capacity) {
        struct row *const grown = roof_grow(f->row, &f->capacity, 4096, sizeof *grown);
        if (grown == NULL) {
            return roof_no_memory(error);
        }
        f->row = grown;
    }
    f->row[f->rows++] = *row;
    f->group[row->group].rows++;
    return ROOF_OK;
}

/* Tells whether products have kernels per format of weights that the quantisation of the input does
 * not separate: with scales per row or per block. */
static bool has_own_kernels(const struct group *g)
{
    return g->kernel == ROOF_KERNEL_GEMM && g->numerics != ROOF_NUMERICS_16BIT &&
           g->quantize == ROOF_QUANTIZE_NONE;
}

/* Returns the least number of heads if a library has a kernel of its own for so many. TensorRT-LLM
 * has one for the 128 heads of DeepSeek-V3 over a cache of 8 bits on SM120 and SM121
 * (NVIDIA/TensorRT-LLM@0249976, cpp/kernels/xqa/mla_sm120.cu). */
static int64_t many_heads(const struct group *g, const struct roof_workload *w,
                          const struct roof_hardware *hardware)
{
    const bool owns = g->kernel == ROOF_KERNEL_MLA_DECODE && g->stack == ROOF_STACK_TRTLLM &&
                      g->numerics == ROOF_NUMERICS_W8A16 &&
                      strncmp(hardware->architecture, "Blackwell (SM12", 15) == 0;
    return owns && w->shape.heads >= 128 ? 128 : 0;
}

/* Tells whether a library has a kernel of its own for query heads with a KV head each. TensorRT-LLM
 * has one for a cache of 8 bits, except on devices with tensor memory. */
static bool has_own_kv_heads(const struct group *g, const struct roof_workload *w,
                             const struct roof_hardware *hardware)
{
    return g->kernel == ROOF_KERNEL_DECODE && g->stack == ROOF_STACK_TRTLLM &&
           g->numerics == ROOF_NUMERICS_W8A16 && w->shape.heads == w->shape.kv_heads &&
           roof_matrix_rows(hardware->architecture, g->stack) < 128;
}

static enum roof_status on_row(void *context, const struct roof_compared *compared,
                               struct roof_error *error)
{
    struct fitter *const f = context;
    const struct roof_prediction *const p = compared->prediction;
    const struct roof_workload *const w = &p->workload;
    struct group g = {.kernel = roof_kernel_of(w),
                      .stack = (enum roof_stack)w->stack,
                      .numerics = roof_workload_numerics(w),
                      .quantize = (enum roof_quantize)w->quantize_input};
    const bool collective = roof_operator_row(w->op)->kind == ROOF_KIND_COLLECTIVE;
    const struct roof_figure *const figure = compared->hardware->figure;
    struct row row = {.workload = *w,
                      .measured_s = compared->measured_s,
                      .work = p->part[0].work,
                      .rate = collective ? p->link.bytes_per_s : p->peak_flops_per_s,
                      .bound_s = p->time_s};
    if (g.kernel == ROOF_KERNEL_COUNT || g.numerics == ROOF_NUMERICS_COUNT || isnan(row.rate) ||
        isnan(figure[ROOF_FIGURE_SM_COUNT].value) || isnan(figure[ROOF_FIGURE_L2].value) ||
        isnan(figure[ROOF_FIGURE_BOOST_CLOCK].value)) {
        return ROOF_OK; /* the models need all of these */
    }
    while (f->measured[row.device] != compared->hardware) {
        row.device++;
    }
    g.weights = has_own_kernels(&g) ? w->formats.weights : ROOF_PRECISION_AUTO;
    g.least_heads = many_heads(&g, w, compared->hardware);
    g.own_kv_heads = has_own_kv_heads(&g, w, compared->hardware);
    TRY(find_group(&row.group, f, &g, error));
    TRY(add_row(f, &row, error));
    return add_sizes(f, w, error);
}

/* --- folds --------------------------------------------------------------------------------- */

static unsigned fold_of(const struct sizes *sizes, int64_t size)
{
    int at = 0;
    while (sizes->size[at] < size) {
        at++;
    }
    return 1U << (at % FOLDS);
}

/* Deals the rows into folds by their sizes. */
static void deal_sizes(struct fitter *f)
{
    for (size_t i = 0; i < f->rows; i++) {
        const struct roof_workload *const w = &f->row[i].workload;
        int64_t size[2];
        for (int k = sizes_of(size, w); k > 0; k--) {
            f->row[i].folds |= fold_of(&f->sizes[roof_kernel_of(w)], size[k - 1]);
        }
    }
}

/* Deals rows again, every fifth into a fold, if a fold would hold out most rows of their group. */
static void deal_small_groups(struct fitter *f)
{
    size_t left_out[GROUPS_MAX][FOLDS] = {{0}};
    size_t dealt[GROUPS_MAX] = {0};
    for (size_t i = 0; i < f->rows; i++) {
        for (int fold = 0; fold < FOLDS; fold++) {
            left_out[f->row[i].group][fold] += f->row[i].folds >> fold & 1;
        }
    }
    for (size_t i = 0; i < f->rows; i++) {
        const int g = f->row[i].group;
        for (int fold = 0; fold < FOLDS; fold++) {
            if (3 * left_out[g][fold] > 2 * f->group[g].rows) {
                f->row[i].folds = 1U << dealt[g]++ % FOLDS;
                break;
            }
        }
    }
}

/* --- order --------------------------------------------------------------------------------- */

/* Makes a group that is the only one of its kernel cover all formats of weights. */
static void name_formats(struct fitter *f)
{
    for (int i = 0; i < f->groups; i++) {
        int same = 0;
        for (int k = 0; k < f->groups; k++) {
            same += is_same(&f->group[k], &f->group[i]);
        }
        if (same == 1) {
            f->group[i].weights = ROOF_PRECISION_AUTO;
        }
    }
}

/* Makes attention without a mask serve prompts with one, too, if none of these was measured. */
static void widen_encoders(struct fitter *f)
{
    bool measured[ROOF_NUMERICS_COUNT] = {false};
    for (int i = 0; i < f->groups; i++) {
        measured[f->group[i].numerics] |= f->group[i].kernel == ROOF_KERNEL_PREFILL;
    }
    for (int i = 0; i < f->groups; i++) {
        if (f->group[i].kernel == ROOF_KERNEL_ENCODER && !measured[f->group[i].numerics]) {
            f->group[i].kernel = ROOF_KERNEL_PREFILL;
        }
    }
}

/* Sorts the rows by group, in the order in which they were read, because a search only reads those
 * of one group. */
static enum roof_status sort_rows(struct fitter *f, struct roof_error *error)
{
    struct row *const sorted = malloc((f->rows + 1) * sizeof *sorted);
    if (sorted == NULL) {
        return roof_no_memory(error);
    }
    size_t count = 0;
    for (int g = 0; g < f->groups; g++) {
        f->group[g].first = count;
        for (size_t i = 0; i < f->rows; i++) {
            if (f->row[i].group == g) {
                sorted[count++] = f->row[i];
            }
        }
    }
    free(f->row);
    f->row = sorted;
    return ROOF_OK;
}

/* --- opening ------------------------------------------------------------------------------- */

/* Loads the devices with rows. */
static enum roof_status load_measured(struct fitter *f, struct roof_error *error)
{
    if (f->options->pool == NULL) {
        f->measured[f->devices++] = f->hardware;
        return ROOF_OK;
    }
    struct roof_list_item item;
    for (const char *rest = f->options->pool; roof_list_next(&item, &rest);) {
        char id[128];
        if (item.length == 0 || !roof_list_item_copy(id, sizeof id, &item) ||
            f->devices == DEVICES_MAX) {
            return roof_error_set(error, ROOF_USAGE, "--from takes 1 to %d device ids",
                                  DEVICES_MAX);
        }
        TRY(roof_hardware_load(&f->measured[f->devices], id, NULL, error));
        f->devices++;
    }
    return ROOF_OK;
}

static enum roof_status read_rows(struct fitter *f, struct roof_error *error)
{
    const struct roof_compare_calls calls = {
        .context = f, .hardware = on_hardware, .model = on_model, .row = on_row, .bad = on_bad};
    const struct options *const options = f->options;
    struct roof_comparison comparison = {.bad = 0};
    struct roof_scenario base;
    roof_scenario_init(&base);
    const enum roof_status status = roof_compare(&comparison, options->input, &base,
                                                 options->hardware, NULL, NULL, &calls, error);
    roof_comparison_free(&comparison);
    return status;
}

/* Loads a lender of one kernel, or of all (NULL). */
static enum roof_status load_lender(struct fitter *f, const char *path, const char *kernel,
                                    struct roof_error *error)
{
    if (f->lenders == LENDERS_MAX) {
        return roof_error_set(error, ROOF_USAGE, "at most %d devices lend", LENDERS_MAX);
    }
    int only = ROOF_KERNEL_COUNT;
    if (kernel != NULL) {
        only = 0;
        while (only < ROOF_KERNEL_COUNT &&
               strcmp(kernel, roof_kernel_name((enum roof_kernel)only)) != 0) {
            only++;
        }
        if (only == ROOF_KERNEL_COUNT) {
            return roof_error_set(error, ROOF_USAGE, "%s: no kernel is called '%s'", path, kernel);
        }
    }
    f->lends[f->lenders] = (enum roof_kernel)only;
    return roof_calibration_load(&f->lender[f->lenders++], f->hardware, path, NULL, error);
}

/* Loads the lenders of a row of data/borrowing.json from a folder. */
static enum roof_status load_row_lenders(struct fitter *f, const char *folder,
                                         const roof_json_value *row, struct roof_error *error)
{
    const char *const kernel = roof_json_string(roof_json_get(row, "kernel"));
    for (const roof_json_value *id = roof_json_first(roof_json_get(row, "from")); id != NULL;
         id = roof_json_next(id)) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s.json", folder, roof_json_string(id));
        TRY(load_lender(f, path, kernel, error));
    }
    return ROOF_OK;
}

/* Loads the device's lenders in data/borrowing.json from a folder. */
static enum roof_status load_named_lenders(struct fitter *f, const char *folder,
                                           struct roof_error *error)
{
    struct roof_json *json = NULL;
    enum roof_status status = roof_data_json(&json, "borrowing.json", error);
    const roof_json_value *row =
        status != ROOF_OK ? NULL : roof_json_first(roof_json_get(roof_json_root(json), "lenders"));
    for (; row != NULL && status == ROOF_OK; row = roof_json_next(row)) {
        if (strcmp(roof_json_string(roof_json_get(row, "calibration")), f->options->hardware) ==
            0) {
            status = load_row_lenders(f, folder, row, error);
        }
    }
    roof_json_free(json);
    return status;
}

enum roof_status open_fitter(struct fitter *out, const struct options *options,
                             struct roof_error *error)
{
    *out = (struct fitter){.options = options};
    TRY(roof_hardware_load(&out->hardware, options->hardware, NULL, error));
    if (options->kept == NULL) {
        TRY(load_measured(out, error));
        TRY(read_rows(out, error));
    }
    for (int i = 0; i < options->lenders; i++) {
        TRY(load_lender(out, options->lender[i], NULL, error));
    }
    if (options->folder != NULL) {
        TRY(load_named_lenders(out, options->folder, error));
    }
    if (out->rows == 0 && options->kept == NULL) {
        return roof_error_set(error, ROOF_INVALID, "no rows of %s that can be fitted",
                              options->hardware);
    }
    name_formats(out);
    widen_encoders(out);
    deal_sizes(out);
    deal_small_groups(out);
    return sort_rows(out, error);
}

void close_fitter(struct fitter *f)
{
    roof_calibration_free(f->kept);
    for (int i = 0; i < f->lenders; i++) {
        roof_calibration_free(f->lender[i]);
    }
    for (int i = 0; i < f->devices; i++) {
        if (f->measured[i] != f->hardware) {
            roof_hardware_free(f->measured[i]);
        }
    }
    roof_hardware_free(f->hardware);
    free(f->row);
}
