// SPDX-License-Identifier: MIT
/* Answers `list`: the contents of the library's tables. */
#include <stdlib.h>
#include <string.h>

#include "ask/asking.h"
#include "base/base.h"
#include "model/load.h"
#include "report/engine_report.h"
#include "report/model_report.h"
#include "report/published_report.h"
#include "report/report.h"

/* The question. */
struct list_input {
    size_t number;                /* number of the list */
    const char *id;               /* NULL: all entries */
    const struct roof_texts *set; /* changes of a device */
    struct roof_kept_columns kept;
};

/* The state of one list. */
struct list {
    struct roof_asking *asking;
    struct list_input in;
    struct roof_table table;
    struct roof_text *text;
    struct roof_text products; /* those of devices with the figures of roofline's specification */
    struct roof_text sparse;   /* devices whose printed nvfp4 peak requires 2:4 sparsity */
};

/* Tells whether the answer is a full report: a single entry, for people and as JSON. Otherwise it
 * has rows. */
static bool in_full(const struct list *list)
{
    return list->in.id != NULL && list->asking->form.document;
}

static const char *const *folders(const struct list *list)
{
    return roof_store_folders(list->asking->loans.store);
}

/* Tells whether the shipping product of a device reaches its nvfp4 peak only with 2:4 sparsity. */
static bool prints_sparse(const struct roof_hardware *hardware, const struct roof_hardware *product)
{
    const enum roof_precision format = ROOF_PRECISION_NVFP4;
    return product != NULL && hardware->peak[ROOF_PEAK_MATRIX][format].value ==
                                  product->peak[ROOF_PEAK_SPARSE][format].value;
}

static enum roof_status put_hardware(struct list *list, struct roof_loans *loans, const char *id,
                                     struct roof_error *error)
{
    const struct roof_hardware *hardware = NULL;
    const struct roof_hardware *product = NULL;
    const struct roof_device_wish wish = {.name = id, .set = list->in.set, .once = true};
    TRY(roof_loan_hardware(&hardware, loans, &wish, error));
    TRY(roof_read_product(&product, loans, hardware, error));
    if (!in_full(list)) {
        roof_table_hardware(&list->table, list->text, hardware);
        if (product != NULL) {
            roof_text_printf(&list->products, "%s%s (%s)", list->products.length > 0 ? ", " : "",
                             product->id, id);
        }
        if (prints_sparse(hardware, product)) {
            roof_text_printf(&list->sparse, "%s%s", list->sparse.length > 0 ? ", " : "", id);
        }
        return ROOF_OK;
    }
    roof_report_hardware(list->text, list->asking->form.format == ROOF_JSON, hardware, product);
    return ROOF_OK;
}

static enum roof_status one_hardware(struct list *list, const char *id, struct roof_error *error)
{
    struct roof_loans loans = {.store = list->asking->loans.store};
    const enum roof_status status = put_hardware(list, &loans, id, error);
    roof_loans_return(&loans); /* at once, because a list goes through all devices */
    return status;
}

/* Lists an entry of a registry. */
typedef enum roof_status (*lister)(struct list *list, const char *id, struct roof_error *error);
/* Finds the ids of a registry, each terminated by NUL. */
typedef enum roof_status (*finder)(struct roof_text *ids, size_t *count, const char *const *folders,
                                   struct roof_error *error);

static enum roof_status list_ids(struct list *list, lister one, const char *id, size_t count,
                                 struct roof_error *error)
{
    for (size_t i = 0; i < count; i++) {
        TRY(one(list, id, error));
        id += strlen(id) + 1;
    }
    return ROOF_OK;
}

/* Lists the named entry, or all entries of a registry. */
static enum roof_status list_registry(struct list *list, lister one, finder all,
                                      struct roof_error *error)
{
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    if (list->in.id != NULL) {
        return one(list, list->in.id, error);
    }
    enum roof_status status = all(&ids, &count, folders(list), error);
    if (status == ROOF_OK) {
        status = list_ids(list, one, ids.data, count, error);
    }
    roof_text_free(&ids);
    return status;
}

static enum roof_status list_hardware(struct list *list, struct roof_error *error)
{
    TRY(list_registry(list, one_hardware, roof_hardware_ids, error));
    if (list->in.id == NULL && list->asking->form.format == ROOF_TEXT) {
        const size_t from = list->text->length + 1;
        roof_text_printf(list->text,
                         "\nPeaks are dense, in TFLOPS%s%s%s; -: no unit for this format. fp4: "
                         "nvfp4, or else mxfp4. GB: as printed by the maker; reports have usable "
                         "GiB. Other formats and sources: roofline list hardware ID\n",
                         list->sparse.length > 0 ? ", except fp4 of " : "",
                         list->sparse.length > 0 ? list->sparse.data : "",
                         list->sparse.length > 0 ? ", which is with 2:4 sparsity" : "");
        roof_text_fold(list->text, from, 2);
        const size_t second = list->text->length;
        if (list->products.length > 0) {
            roof_text_printf(list->text,
                             "documents: reference devices with " ROOF_REPORT_DOCUMENTS
                             "; the products: %s\n",
                             list->products.data);
            roof_text_fold(list->text, second, 2);
        }
        list->text->failed |= list->sparse.failed || list->products.failed;
    }
    return ROOF_OK;
}

static enum roof_status list_precisions(struct list *list, struct roof_error *error)
{
    struct roof_accuracy accuracy = {0};
    enum roof_precision only = ROOF_PRECISION_AUTO;
    enum roof_status status = ROOF_OK;
    if (list->in.id != NULL) {
        status = roof_precision_find(&only, list->in.id, error);
    }
    if (status == ROOF_OK) {
        status = roof_accuracy_load(&accuracy, error);
    }
    if (status == ROOF_OK && in_full(list)) {
        roof_report_precision(list->text, list->asking->form.format == ROOF_JSON, only, &accuracy);
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT && status == ROOF_OK && !in_full(list); p++) {
        const struct roof_precision_entry entry = {(enum roof_precision)p, &accuracy};
        if (list->in.id == NULL || p == (int)only) {
            roof_table_precision(&list->table, list->text, &entry);
        }
    }
    roof_accuracy_free(&accuracy);
    return status;
}

static enum roof_status list_operators(struct list *list, struct roof_error *error)
{
    enum roof_operator only = ROOF_OPERATOR_COUNT;
    enum roof_status status = ROOF_OK;
    if (list->in.id != NULL) {
        status = roof_operator_find(&only, list->in.id, error);
    }
    if (status == ROOF_OK && in_full(list)) {
        roof_report_operator(list->text, list->asking->form.format == ROOF_JSON, only);
    }
    for (int i = 0; i < ROOF_OPERATOR_COUNT && status == ROOF_OK && !in_full(list); i++) {
        if (list->in.id == NULL || i == (int)only) {
            roof_table_operator(&list->table, list->text, roof_operator_row((enum roof_operator)i));
        }
    }
    return status;
}

static enum roof_status describe_model(struct roof_model_entry *out, const struct roof_model *model,
                                       struct roof_error *error)
{
    struct roof_scenario scenario;
    TRY(roof_model_parameters(&out->parameters, &out->active_parameters, model, error));
    roof_scenario_init(&scenario);
    TRY(roof_scenario_resolve(&scenario, model, error));
    out->model = model;
    out->kv_bytes_per_token = roof_kv_bytes_per_token(model, &scenario);
    return ROOF_OK;
}

static enum roof_status put_model(struct list *list, const struct roof_model *model,
                                  struct roof_error *error)
{
    struct roof_model_entry entry;
    TRY(describe_model(&entry, model, error));
    roof_asking_remark(list->asking, model);
    if (in_full(list)) {
        roof_model_report_about(list->text, list->asking->form.format == ROOF_JSON, &entry);
    } else {
        roof_table_model(&list->table, list->text, &entry);
    }
    return ROOF_OK;
}

static enum roof_status one_model(struct list *list, const char *name, struct roof_error *error)
{
    const struct roof_model *model = NULL;
    const struct roof_model_wish wish = {.name = name, .once = true};
    struct roof_loans loans = {.store = list->asking->loans.store};
    enum roof_status status = roof_loan_model(&model, &loans, &wish, error);
    if (status == ROOF_OK) {
        status = put_model(list, model, error);
    }
    roof_loans_return(&loans);
    return status;
}

static enum roof_status one_layout(struct list *list, const char *name, struct roof_error *error)
{
    struct roof_layout_about about;
    TRY(roof_layout_load(&about, name, folders(list), error));
    if (in_full(list)) {
        roof_model_report_layout(list->text, list->asking->form.format == ROOF_JSON, &about);
    } else {
        roof_table_layout(&list->table, list->text, &about);
    }
    roof_layout_about_free(&about);
    return ROOF_OK;
}

static enum roof_status list_models(struct list *list, struct roof_error *error)
{
    return list_registry(list, one_model, roof_model_ids, error);
}

static enum roof_status list_layouts(struct list *list, struct roof_error *error)
{
    return list_registry(list, one_layout, roof_layout_ids, error);
}

static enum roof_status list_engines(struct list *list, struct roof_error *error)
{
    const struct roof_engines *engines = NULL;
    size_t only = 0;
    enum roof_status status = roof_loan_engines(&engines, &list->asking->loans, error);
    if (status == ROOF_OK && list->in.id != NULL) {
        status = roof_engine_find(&only, engines, list->in.id, error);
    }
    for (size_t i = 0; status == ROOF_OK && i < engines->count; i++) {
        struct roof_engine_entry entry;
        roof_engine_entry_make(&entry, &engines->engine[i]);
        if (list->in.id != NULL && i != only) {
            continue;
        }
        if (in_full(list)) {
            roof_engine_report(list->text, list->asking->form.format == ROOF_JSON, &entry);
        } else {
            roof_table_engine(&list->table, list->text, &entry);
        }
    }
    return status;
}

static const struct {
    const char *name;
    enum roof_table_kind kind;
    enum roof_status (*run)(struct list *list, struct roof_error *error);
} lists[] = {{"hardware", ROOF_TABLE_HARDWARE, list_hardware},
             {"precisions", ROOF_TABLE_PRECISIONS, list_precisions},
             {"operators", ROOF_TABLE_OPERATORS, list_operators},
             {"models", ROOF_TABLE_MODELS, list_models},
             {"layouts", ROOF_TABLE_LAYOUTS, list_layouts},
             {"engines", ROOF_TABLE_ENGINES, list_engines}};
enum { LISTS = sizeof lists / sizeof *lists };

/* Writes a list. */
static enum roof_status write_list(struct list *list, struct roof_error *error)
{
    const size_t number = list->in.number;
    TRY(roof_table_open(&list->table, list->asking->form.rows, lists[number].kind,
                        ROOF_OPERATOR_GEMM, list->asking->form.columns, error));
    if (in_full(list)) {
        return lists[number].run(list, error);
    }
    roof_table_narrow(&list->table, &list->in.kept, NULL);
    roof_table_begin(&list->table, list->text);
    TRY(lists[number].run(list, error));
    roof_table_end(&list->table, list->text);
    return ROOF_OK;
}

/* Synonyms of the lists, which are only suggested in error messages. */
static const struct {
    const char *word;
    const char *list;
} meant[] = {{"device", "hardware"},    {"devices", "hardware"},        {"gpu", "hardware"},
             {"gpus", "hardware"},      {"format", "precisions"},       {"formats", "precisions"},
             {"dtypes", "precisions"},  {"quantization", "precisions"}, {"ops", "operators"},
             {"kernels", "operators"},  {"backends", "engines"},        {"stacks", "engines"},
             {"checkpoints", "layouts"}};

static enum roof_status find_list(size_t *out, const char *name, struct roof_error *error)
{
    const char *names[LISTS];
    if (name == NULL) {
        return roof_error_set(
            error, ROOF_USAGE,
            "list needs one of hardware, precisions, operators, models, layouts and engines");
    }
    for (*out = 0; *out < LISTS; (*out)++) {
        names[*out] = lists[*out].name;
        if (strcmp(name, names[*out]) == 0) {
            return ROOF_OK;
        }
    }
    (void)roof_unknown_name(error, ROOF_USAGE, "list", name, names, LISTS);
    for (size_t i = 0; i < COUNT(meant); i++) {
        if (strcmp(name, meant[i].word) == 0) {
            roof_error_append(error, " (did you mean %s?)", meant[i].list);
        }
    }
    return error == NULL ? ROOF_USAGE : error->status;
}

static enum roof_status read_input(struct list_input *in, const struct roof_question *question,
                                   struct roof_error *error)
{
    TRY(find_list(&in->number, question->list, error));
    in->id = question->id;
    in->set = &question->set;
    roof_read_kept_columns(&in->kept, question);
    return in->set->count == 0 || lists[in->number].kind == ROOF_TABLE_HARDWARE
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("set") " works with list hardware only");
}

enum roof_status roof_ask_list(struct roof_asking *a, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct list list = {
        .asking = a, .text = &text, .products = ROOF_TEXT_INIT, .sparse = ROOF_TEXT_INIT};
    TRY(read_input(&list.in, a->question, error));
    enum roof_status status = write_list(&list, error);
    if (status == ROOF_OK) {
        status = roof_asking_write(a, &text, error);
    }
    roof_text_free(&text);
    roof_text_free(&list.products);
    roof_text_free(&list.sparse);
    return status;
}
