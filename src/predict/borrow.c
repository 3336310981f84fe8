// SPDX-License-Identifier: MIT
/* Chooses the calibration of a device: its own, that of its product, of the device that it is like,
 * or of its family. data/borrowing.json has the lenders of each device, with the reasons. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "catalog/data.h"
#include "predict/calibration_parts.h"
#include "roofline/predict.h"

/* The table, and the place of the calibrations. */
struct borrowing {
    struct roof_json *table;
    struct roof_calibration_source source;
};

/* Returns the first row of a list whose name begins an architecture and that has the calibration
 * (NULL: any or none); NULL if there is none. */
static const roof_json_value *find_row(const struct borrowing *b, const char *list,
                                       const char *architecture, const char *calibration)
{
    const roof_json_value *const rows = roof_json_get(roof_json_root(b->table), list);
    for (const roof_json_value *row = roof_json_first(rows); row != NULL;
         row = roof_json_next(row)) {
        const char *const begin = roof_json_line(roof_json_get(row, "architecture"));
        const char *const id = roof_json_line(roof_json_get(row, "calibration"));
        if (begin != NULL && strncmp(architecture, begin, strlen(begin)) == 0 &&
            (calibration == NULL || (id != NULL && strcmp(id, calibration) == 0))) {
            return row;
        }
    }
    return NULL;
}

/* Marks the fits of devices with the same SM as one of an architecture: other SMs have other
 * kernels and limits. */
static void mark_same_sms(struct roof_calibration *c, const struct borrowing *b,
                          const char *architecture)
{
    struct roof_kernel_fit *const fit = roof_calibration_fits(c);
    const char *of = NULL; /* the fits of a device stand together mostly */
    bool same = false;
    for (size_t n = 0; n < c->count; n++) {
        const char *const id = fit[n].lent != NULL ? fit[n].lent : c->id;
        if (of == NULL || id == NULL || strcmp(id, of) != 0) {
            same = find_row(b, "same_sm", architecture, id) != NULL;
            of = id;
        }
        fit[n].same_sm = same;
    }
}

/* Tells whether a kernel is a collective that is fitted to the links of a machine. A program may
 * have read the fits of one of them only. */
static bool is_collective(enum roof_kernel kernel)
{
    return kernel >= ROOF_KERNEL_ALL_REDUCE && kernel <= ROOF_KERNEL_ALL_TO_ALL;
}

/* Keeps the reason why the measured times of the collectives of a machine may be far off elsewhere.
 */
static enum roof_status warn_of_collectives(struct roof_calibration *c, const struct borrowing *b,
                                            struct roof_error *error)
{
    const roof_json_value *const rows = roof_json_get(roof_json_root(b->table), "collectives");
    for (const roof_json_value *row = roof_json_first(rows); row != NULL;
         row = roof_json_next(row)) {
        const char *const id = roof_json_line(roof_json_get(row, "calibration"));
        const char *const reason = roof_json_line(roof_json_get(row, "reason"));
        double devices = 0;
        bool measured = false;
        for (size_t n = 0; n < c->count; n++) {
            const struct roof_kernel_fit *const fit = &c->fit[n];
            measured = measured || (is_collective(fit->kernel) && !fit->own &&
                                    strcmp(fit->lent != NULL ? fit->lent : c->id, id) == 0);
        }
        if (measured && roof_json_number(&devices, roof_json_get(row, "devices"))) {
            return roof_calibration_warn(c, reason, (int64_t)devices, error);
        }
    }
    return ROOF_OK;
}

static enum roof_status load_known(struct roof_calibration **out, const char *id,
                                   const struct borrowing *b, struct roof_error *error)
{
    return roof_registry_has(&roof_calibration_registry, id, b->source.directories)
               ? roof_calibration_read(out, id, &b->source, error)
               : ROOF_OK;
}

double roof_matrix_rows(const char *architecture, enum roof_stack stack)
{
    return strncmp(architecture, "Hopper", 6) == 0                   ? 64
           : strncmp(architecture, "Blackwell (SM10", 15) == 0       ? 128
           : strncmp(architecture, "Blackwell Ultra (SM10", 21) == 0 ? 128
           : stack == ROOF_STACK_TRTLLM                              ? 64
                                                                     : 16;
}

bool roof_kernel_has_tiles(enum roof_kernel kernel)
{
    return kernel == ROOF_KERNEL_MLA_DECODE || kernel == ROOF_KERNEL_SPARSE_MLA;
}

/* Gives all fits of latent attention the tile of the device itself, even if they are borrowed. */
static void set_matrix_rows(struct roof_calibration *c, const char *architecture)
{
    struct roof_kernel_fit *const fit = roof_calibration_fits(c);
    for (size_t n = 0; n < c->count; n++) {
        const bool tiled = roof_kernel_has_tiles(fit[n].kernel) && !fit[n].plain;
        double *const rows = tiled ? roof_fit_parameter(&fit[n], "tile_rows") : NULL;
        if (rows != NULL) {
            *rows = roof_matrix_rows(architecture, fit[n].stack);
        }
    }
}

/* Tells whether a calibration is that of the product whose figures a device has. */
static bool is_of_product(const struct roof_calibration *c, const struct roof_hardware *hardware)
{
    return hardware->product != NULL && strcmp(c->id, hardware->product) == 0;
}

/* Loads the calibration at a path, which may be for another device. */
static enum roof_status load_path(struct roof_calibration **out,
                                  const struct roof_hardware *hardware, const char *path,
                                  const struct borrowing *b, struct roof_error *error)
{
    TRY(roof_calibration_read(out, path, &b->source, error));
    assert(*out != NULL && (*out)->id != NULL);
    (*out)->inherited = strcmp((*out)->id, hardware->id) != 0 && !is_of_product(*out, hardware);
    return ROOF_OK;
}

/* Tells whether a device was loaded from a folder that has its calibration, as `measure` writes it.
 */
static bool in_measured_folder(const struct roof_hardware *hardware)
{
    return roof_registry_path(hardware->reference) &&
           roof_registry_folder(&roof_calibration_registry, hardware->reference);
}

/* Loads the calibration of the folder that a device was loaded from, of the device itself, or of
 * its product. */
static enum roof_status load_own(struct roof_calibration **out,
                                 const struct roof_hardware *hardware, const struct borrowing *b,
                                 struct roof_error *error)
{
    if (in_measured_folder(hardware)) {
        return roof_calibration_read(out, hardware->reference, &b->source, error);
    }
    TRY(load_known(out, hardware->id, b, error));
    if (*out == NULL && hardware->product != NULL) {
        TRY(load_known(out, hardware->product, b, error));
    }
    return ROOF_OK;
}

/* Loads the calibration that a list has for an architecture, with the reason. */
static enum roof_status load_listed(struct roof_calibration **out, const struct borrowing *b,
                                    const char *list, const char *architecture,
                                    struct roof_error *error)
{
    const roof_json_value *const row = find_row(b, list, architecture, NULL);
    if (row == NULL) {
        return ROOF_OK;
    }
    TRY(load_known(out, roof_json_line(roof_json_get(row, "calibration")), b, error));
    const char *const reason = roof_json_line(roof_json_get(row, "reason"));
    return *out == NULL || reason == NULL ? ROOF_OK : roof_calibration_explain(*out, reason, error);
}

/* Loads the device in `like`. */
static enum roof_status load_lender(struct roof_hardware **out,
                                    const struct roof_hardware *hardware, const struct borrowing *b,
                                    struct roof_error *error)
{
    const enum roof_status status =
        roof_hardware_load(out, hardware->like, b->source.directories, error);
    return status == ROOF_OK ? ROOF_OK
                             : roof_error_prefix(error, ROOF_INVALID, "like of %s: ", hardware->id);
}

#define LIKE_REASON "the device names it with the key like"

/* Loads the calibration of the device in `like`, or of that device's family. That device's own
 * `like` is not followed, so that two devices may name each other. */
static enum roof_status load_like(struct roof_calibration **out,
                                  const struct roof_hardware *hardware, const struct borrowing *b,
                                  struct roof_error *error)
{
    struct roof_hardware *lender = NULL;
    TRY(load_lender(&lender, hardware, b, error));
    enum roof_status status = load_own(out, lender, b, error);
    if (status == ROOF_OK && *out == NULL) {
        status = load_listed(out, b, "families", lender->architecture, error);
    }
    if (*out != NULL) {
        set_matrix_rows(*out, lender->architecture);
    }
    roof_hardware_free(lender);
    return status == ROOF_OK && *out != NULL && (*out)->reason == NULL
               ? roof_calibration_explain(*out, LIKE_REASON, error)
               : status;
}

/* The list of the lenders of kernels of llama.cpp. */
#define LOCAL "llama.cpp"

/* Loads the kernels of llama.cpp that a device borrows: those for its architecture, else for that
 * of the device in `like`. */
static enum roof_status load_local(struct roof_calibration **out,
                                   const struct roof_hardware *hardware, const struct borrowing *b,
                                   struct roof_error *error)
{
    struct roof_hardware *lender = NULL;
    TRY(load_listed(out, b, LOCAL, hardware->architecture, error));
    if (*out != NULL || hardware->like == NULL) {
        return ROOF_OK;
    }
    TRY(load_lender(&lender, hardware, b, error));
    const enum roof_status status = load_listed(out, b, LOCAL, lender->architecture, error);
    roof_hardware_free(lender);
    return status;
}

/* Loads the product with the full rate of the SMs of an architecture; *out stays as it is if no
 * product of it is known to be limited. */
static enum roof_status load_full(struct roof_hardware **out, const char *architecture,
                                  const struct borrowing *b, struct roof_error *error)
{
    const roof_json_value *const row = find_row(b, "full_rate", architecture, NULL);
    return row == NULL ? ROOF_OK
                       : roof_hardware_load(out, roof_json_line(roof_json_get(row, "device")),
                                            b->source.directories, error);
}

/* Adapts the kernels of llama.cpp of another device to the rate of the matrix units. A device whose
 * architecture has no lender has that of the device in `like`. */
static enum roof_status adapt_local(struct roof_calibration *local,
                                    const struct roof_hardware *hardware, const struct borrowing *b,
                                    struct roof_error *error)
{
    struct roof_hardware *like = NULL;
    struct roof_hardware *lender = NULL;
    struct roof_hardware *full = NULL;
    struct roof_hardware *full_lender = NULL;
    enum roof_status status = roof_hardware_load(&lender, local->id, b->source.directories, error);
    const bool listed = find_row(b, LOCAL, hardware->architecture, NULL) != NULL;
    if (status == ROOF_OK && !listed && hardware->like != NULL) {
        status = load_lender(&like, hardware, b, error);
    }
    if (status == ROOF_OK) {
        const char *const architecture = (like != NULL ? like : hardware)->architecture;
        status = load_full(&full, architecture, b, error);
    }
    status = status != ROOF_OK ? status : load_full(&full_lender, lender->architecture, b, error);
    if (status == ROOF_OK) {
        roof_calibration_move_rate(local, hardware, full, lender, full_lender);
    }
    roof_hardware_free(like);
    roof_hardware_free(lender);
    roof_hardware_free(full);
    roof_hardware_free(full_lender);
    return status;
}

/* Adds the kernels of llama.cpp to the calibration of a device, which may have none yet. Their
 * parameters are shares of a device's own figures, so that many devices can borrow from a measured
 * one. */
static enum roof_status add_local(struct roof_calibration **out,
                                  const struct roof_hardware *hardware, const struct borrowing *b,
                                  struct roof_error *error)
{
    struct roof_calibration *local = NULL;
    enum roof_status status = load_local(&local, hardware, b, error);
    const bool inherited = local != NULL && strcmp(local->id, hardware->id) != 0;
    if (status == ROOF_OK && inherited) {
        status = adapt_local(local, hardware, b, error);
    }
    if (status != ROOF_OK) {
        roof_calibration_free(local);
        return status;
    }
    if (local == NULL || *out != NULL) {
        return local == NULL ? ROOF_OK : roof_calibration_join(*out, local, hardware->id, error);
    }
    *out = local;
    local->local = true;
    local->inherited = inherited;
    return ROOF_OK;
}

static bool contradicts(double said, double measured)
{
    return fabs(said / measured - 1) > 0.01; /* false where one is unknown */
}

/* Tells if the bandwidth or a peak of a device differs from that of the product that was measured.
 */
static bool contradicts_product(const struct roof_hardware *hardware,
                                const struct roof_hardware *product)
{
    bool differs = contradicts(hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
                               product->figure[ROOF_FIGURE_BANDWIDTH].value);
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        differs = differs || contradicts(hardware->peak[ROOF_PEAK_MATRIX][p].value,
                                         product->peak[ROOF_PEAK_MATRIX][p].value);
    }
    return differs;
}

/* Marks the calibration of the product of a device as another device's if the device has other
 * figures, because its bounds are then not those of the measured product. */
static enum roof_status check_product(struct roof_calibration *out,
                                      const struct roof_hardware *hardware,
                                      const struct borrowing *b, struct roof_error *error)
{
    struct roof_hardware *product = NULL;
    if (!is_of_product(out, hardware)) {
        return ROOF_OK;
    }
    TRY(roof_hardware_load(&product, hardware->product, b->source.directories, error));
    out->inherited = contradicts_product(hardware, product);
    roof_hardware_free(product);
    return ROOF_OK;
}

/* Loads the calibration of the device, of its product, of the device that it is like, or of its
 * family. */
static enum roof_status load_nearest(struct roof_calibration **out,
                                     const struct roof_hardware *hardware,
                                     const struct borrowing *b, struct roof_error *error)
{
    TRY(load_own(out, hardware, b, error));
    if (*out != NULL) {
        return check_product(*out, hardware, b, error);
    }
    TRY(hardware->like != NULL ? load_like(out, hardware, b, error)
                               : load_listed(out, b, "families", hardware->architecture, error));
    if (*out != NULL) {
        (*out)->inherited = true;
    }
    return ROOF_OK;
}

/* Adapts a calibration of another device to the limits of a product. The product with the full rate
 * of its SMs is often the measured device. */
static enum roof_status adapt(struct roof_calibration *c, const struct roof_hardware *hardware,
                              const struct borrowing *b, struct roof_error *error)
{
    if (!c->inherited || is_of_product(c, hardware)) {
        return ROOF_OK;
    }
    const char *const *const folders = b->source.directories;
    const bool same = find_row(b, "same_sm", hardware->architecture, c->id) != NULL;
    struct roof_hardware *other = NULL;
    TRY(load_full(&other, hardware->architecture, b, error));
    if (other != NULL) {
        roof_calibration_limit_rate(c, hardware, other);
    }
    enum roof_status status = ROOF_OK;
    if (same && (other == NULL || strcmp(other->id, c->id) != 0)) {
        roof_hardware_free(other);
        status = roof_hardware_load(&other, c->id, folders, error);
    }
    if (same && status == ROOF_OK) {
        roof_calibration_limit_power(c, hardware, other);
    }
    roof_hardware_free(other);
    return status;
}

/* Chooses the calibration, and marks what is borrowed. */
static enum roof_status choose(struct roof_calibration **out, const struct roof_hardware *hardware,
                               const char *path, const struct borrowing *b,
                               struct roof_error *error)
{
    TRY(path != NULL ? load_path(out, hardware, path, b, error)
                     : load_nearest(out, hardware, b, error));
    TRY(*out != NULL ? adapt(*out, hardware, b, error) : ROOF_OK);
    if (path == NULL && !in_measured_folder(hardware)) {
        TRY(add_local(out, hardware, b, error));
    }
    if (*out != NULL) {
        mark_same_sms(*out, b, hardware->architecture);
        TRY(warn_of_collectives(*out, b, error));
    }
    const bool lent_rows = hardware->like != NULL && *hardware->architecture == '\0';
    if (*out != NULL && !lent_rows) {
        set_matrix_rows(*out, hardware->architecture);
    }
    return ROOF_OK;
}

/* --- reasons ------------------------------------------------------------------------------- */

/* Tells whether a row of `lenders` has a device among those that it lends from. */
static bool lends_from(const roof_json_value *row, const char *device)
{
    const roof_json_value *id = roof_json_first(roof_json_get(row, "from"));
    while (id != NULL && strcmp(roof_json_string(id), device) != 0) {
        id = roof_json_next(id);
    }
    return id != NULL;
}

/* Returns the row of `lenders` by which a calibration has a fit of another device; NULL: there is
 * none. A row for the kernel alone is preferred. */
static const roof_json_value *find_lender(const struct borrowing *b, const char *calibration,
                                          const struct roof_kernel_fit *fit)
{
    const roof_json_value *found = NULL;
    const roof_json_value *const rows = roof_json_get(roof_json_root(b->table), "lenders");
    for (const roof_json_value *row = roof_json_first(rows); row != NULL;
         row = roof_json_next(row)) {
        const char *const kernel = roof_json_string(roof_json_get(row, "kernel"));
        const bool for_all = kernel == NULL;
        if (strcmp(roof_json_string(roof_json_get(row, "calibration")), calibration) == 0 &&
            lends_from(row, fit->lent) &&
            (for_all ? found == NULL : strcmp(kernel, roof_kernel_name(fit->kernel)) == 0)) {
            found = row;
        }
    }
    return found;
}

/* Puts the reason for a kernel that the calibration of the device itself, or of the one that it
 * borrows from, has from another device. */
static void put_lender(struct roof_text *out, const struct borrowing *b,
                       const struct roof_hardware *hardware, const struct roof_kernel_fit *fit)
{
    const roof_json_value *const row = fit->stack == ROOF_STACK_LLAMA_CPP
                                           ? find_row(b, LOCAL, hardware->architecture, NULL)
                                           : find_lender(b, hardware->calibration->id, fit);
    const char *const reason = row == NULL ? NULL : roof_json_line(roof_json_get(row, "reason"));
    const bool liked = fit->stack == ROOF_STACK_LLAMA_CPP && hardware->like != NULL;
    roof_text_put(out, reason != NULL ? reason : liked ? LIKE_REASON : "");
}

enum roof_status roof_calibration_reason(struct roof_text *out,
                                         const struct roof_hardware *hardware,
                                         const struct roof_kernel_fit *fit,
                                         struct roof_error *error)
{
    const struct roof_calibration *const c = hardware->calibration;
    struct borrowing b = {.table = NULL};
    if (fit->lent != NULL) {
        TRY(roof_data_json(&b.table, "borrowing.json", error));
        put_lender(out, &b, hardware, fit);
        roof_json_free(b.table);
    } else if (c != NULL && c->inherited && !fit->own) {
        roof_text_put(out, c->reason != NULL ? c->reason
                           : is_of_product(c, hardware)
                               ? "the product of this id, whose figures differ"
                               : "");
    }
    return ROOF_OK;
}

enum roof_status roof_calibration_put_libraries(struct roof_text *out,
                                                const struct roof_kernel_fit *fit,
                                                struct roof_error *error)
{
    const struct borrowing b = {.source = {.wanted = 0}};
    struct roof_calibration *lender = NULL;
    const char *libraries = fit->libraries;
    if (libraries == NULL && fit->lent != NULL) {
        TRY(load_known(&lender, fit->lent, &b, error));
        libraries = lender == NULL ? NULL : roof_calibration_libraries(lender, fit->stack);
    }
    if (libraries != NULL) {
        roof_text_printf(out, "; libraries: %s", libraries);
    }
    roof_calibration_free(lender);
    return ROOF_OK;
}

/* --- loading ------------------------------------------------------------------------------- */

enum roof_status roof_calibration_load_some(struct roof_calibration **out,
                                            const struct roof_hardware *hardware, const char *path,
                                            const char *const *directories, unsigned wanted,
                                            struct roof_error *error)
{
    struct borrowing b = {.source = {.directories = directories, .wanted = wanted}};
    *out = NULL;
    TRY(roof_data_json(&b.table, "borrowing.json", error));
    const enum roof_status status = choose(out, hardware, path, &b, error);
    if (status != ROOF_OK) {
        roof_calibration_free(*out);
        *out = NULL;
    }
    roof_json_free(b.table);
    return status;
}

enum roof_status roof_calibration_load(struct roof_calibration **out,
                                       const struct roof_hardware *hardware, const char *path,
                                       const char *const *directories, struct roof_error *error)
{
    return roof_calibration_load_some(out, hardware, path, directories, ROOF_KERNELS_ALL, error);
}

enum roof_status roof_hardware_calibrate_some(struct roof_hardware *hardware, const char *path,
                                              const char *const *directories, unsigned wanted,
                                              struct roof_error *error)
{
    hardware->free_calibration = roof_calibration_free;
    return roof_calibration_load_some(&hardware->calibration, hardware, path, directories, wanted,
                                      error);
}

enum roof_status roof_hardware_calibrate(struct roof_hardware *hardware, const char *path,
                                         const char *const *directories, struct roof_error *error)
{
    return roof_hardware_calibrate_some(hardware, path, directories, ROOF_KERNELS_ALL, error);
}
