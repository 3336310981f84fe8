// SPDX-License-Identifier: MIT
#include "decide/read.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "catalog/registry.h"
#include "decide/engine.h"
#include "decide/named.h"
#include "predict/unexpected.h"

enum roof_status roof_which_model(struct roof_error *error)
{
    return roof_error_set(error, ROOF_USAGE,
                          "no model is given: name one (roofline list models), or give a "
                          "config.json, its folder, a .gguf or a .safetensors file");
}

/* --- scenarios ----------------------------------------------------------------------------- */

enum roof_status roof_read_operator(enum roof_operator *out, const struct roof_question *question,
                                    struct roof_error *error)
{
    if (question->op != NULL) {
        return roof_operator_find(out, question->op, error);
    }
    return roof_error_set(
        error, ROOF_USAGE,
        "no operator or model is given; for example: gemm " ROOF_KEY("m") " 128 " ROOF_KEY(
            "n") " 4096 " ROOF_KEY("k") " 4096, or: model llama-3-8b");
}

/* Tells whether a text looks like a number with separated thousands: "4,000". */
static bool has_thousands(const char *text)
{
    const size_t first = strspn(text, "0123456789");
    const char *rest = text + first;
    while (*rest == ',' && strspn(rest + 1, "0123456789") == 3) {
        rest += 4;
    }
    return first > 0 && first < 4 && text[first] == ',' && *rest == '\0';
}

/* Reads an input that is a field of the scenario. */
static enum roof_status read_field(struct roof_scenario *out, size_t number, const char *text,
                                   struct roof_error *error)
{
    const struct roof_input *const input = roof_input(number);
    int64_t value = 1;
    if (input->kind == ROOF_INPUT_NUMBER) {
        return roof_input_parse_number(out, input, text, error);
    }
    if (input->kind != ROOF_INPUT_FLAG) {
        const enum roof_status status = roof_input_parse(&value, input, text, error);
        if (status != ROOF_OK) {
            const bool one = input->kind == ROOF_INPUT_OFFLOAD && strchr(text, ',') == NULL;
            return one || strpbrk(text, ",:") == NULL
                       ? status
                       : roof_error_set(
                             error, ROOF_USAGE, "'%s': for lists and ranges use roofline sweep%s",
                             text, has_thousands(text) ? "; write a number without commas" : "");
        }
    }
    roof_input_put(out, input, value);
    return ROOF_OK;
}

enum roof_status roof_read_split(const struct roof_question *question, struct roof_error *error)
{
    static const size_t others[] = {ROOF_INPUT_ATTENTION_DP, ROOF_INPUT_MOE_TP, ROOF_INPUT_MOE_EP};
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < COUNT(others) && roof_asked(question, ROOF_DIM_EP); i++) {
        if (roof_asked(question, others[i])) {
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY("ep") " already sets " ROOF_KEY("attention_dp") ", " ROOF_KEY(
                    "moe_ep") " and " ROOF_KEY("moe_tp") ": leave out %s",
                roof_input_marked(name, roof_input(others[i])));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_read_tile(const struct roof_question *question, struct roof_error *error)
{
    static const size_t details[] = {ROOF_INPUT_STAGES, ROOF_INPUT_CLUSTER};
    char name[ROOF_INPUT_NAME_SIZE];
    for (size_t i = 0; i < COUNT(details); i++) {
        if (roof_asked(question, details[i]) && !roof_asked(question, ROOF_INPUT_TILE)) {
            return roof_error_set(error, ROOF_USAGE, "%s needs " ROOF_KEY("tile"),
                                  roof_input_marked(name, roof_input(details[i])));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_read_fields(struct roof_scenario *out, const struct roof_question *question,
                                  struct roof_error *error)
{
    TRY(roof_read_split(question, error));
    TRY(roof_read_tile(question, error));
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        if (roof_asked(question, i) && roof_input(i)->field) {
            TRY(read_field(out, i, question->value[i], error));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_read_classes(struct roof_scenario *out, const struct roof_question *question,
                                   struct roof_error *error)
{
    if (roof_asked(question, ROOF_INPUT_LAYOUT) &&
        (roof_asked(question, ROOF_INPUT_WEIGHTS) ||
         roof_asked(question, ROOF_INPUT_PRECISION_BOTH))) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("layout") " sets the formats of the weights; change one with " ROOF_KEY(
                "class") " NAME=P, not with " ROOF_KEY("weights") " or " ROOF_KEY("precision"));
    }
    return roof_scenario_classes(out, question->classes.value, question->classes.count, error);
}

/* Refuses inputs that the workload does not accept. */
static enum roof_status check_taken(const struct roof_scenario *scenario,
                                    const struct roof_question *question, bool any,
                                    struct roof_error *error)
{
    const bool model = question->model;
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        if (!roof_asked(question, i)) {
            continue;
        }
        TRY(roof_question_taken(question, i, error));
        if (i < ROOF_DIM_COUNT && !model && !any) {
            TRY(roof_operator_takes(scenario->common.op, (enum roof_dimension)i, error));
        }
    }
    return ROOF_OK;
}

enum roof_status roof_read_scenario(struct roof_scenario *out, const struct roof_question *question,
                                    struct roof_error *error)
{
    const bool from_records = roof_asked(question, ROOF_INPUT_FROM);
    const bool any = from_records && question->op == NULL && !question->model;
    roof_scenario_init(out);
    if (!question->model && !any) {
        TRY(roof_read_operator(&out->common.op, question, error));
    }
    TRY(check_taken(out, question, any, error));
    TRY(roof_read_fields(out, question, error));
    return question->model ? roof_read_classes(out, question, error) : ROOF_OK;
}

enum roof_status roof_read_choice(int64_t *out, const struct roof_question *question, size_t input,
                                  struct roof_error *error)
{
    *out = 0;
    return roof_read_integer(out, question, input, error);
}

enum roof_status roof_read_integer(int64_t *out, const struct roof_question *question, size_t input,
                                   struct roof_error *error)
{
    return roof_asked(question, input)
               ? roof_input_parse(out, roof_input(input), question->value[input], error)
               : ROOF_OK;
}

void roof_read_kept_columns(struct roof_kept_columns *out, const struct roof_question *question)
{
    out->all = roof_asked(question, ROOF_INPUT_COLUMNS) || roof_asked(question, ROOF_INPUT_WIDE);
    for (size_t i = 0; i < ROOF_INPUT_COUNT; i++) {
        out->input[i] = roof_asked(question, i) && strpbrk(question->value[i], ",:") != NULL;
    }
    /* The names of formats may be those of layouts, or denote the published checkpoint. */
    out->input[ROOF_INPUT_LAYOUT] = out->input[ROOF_INPUT_LAYOUT] ||
                                    (out->input[ROOF_INPUT_PRECISION_BOTH] &&
                                     !roof_named_plain(question->value[ROOF_INPUT_PRECISION_BOTH]));
}

/* --- devices and models -------------------------------------------------------------------- */

struct roof_device_wish roof_read_device_wish(const struct roof_question *question,
                                              bool bounds_only)
{
    return (struct roof_device_wish){.name = question->value[ROOF_INPUT_HARDWARE],
                                     .set = &question->set,
                                     .power_cap = question->value[ROOF_INPUT_POWER_CAP],
                                     .calibration = question->value[ROOF_INPUT_CALIBRATION],
                                     .bounds_only = bounds_only};
}

enum roof_status roof_borrow_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                      const struct roof_device_wish *wish, struct roof_error *error)
{
    const char *const name = wish->name;
    *out = NULL;
    if (name != NULL && !roof_registry_document(name) && strchr(name, ',') != NULL &&
        strchr(name, '/') == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "'%s': give one device here; for lists of devices use roofline sweep",
                              name);
    }
    return roof_loan_hardware(out, loans, wish, error);
}

enum roof_status roof_read_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                    const struct roof_question *question, const char *name,
                                    bool bounds_only, struct roof_error *error)
{
    struct roof_device_wish wish = roof_read_device_wish(question, bounds_only);
    wish.name = name;
    return roof_borrow_hardware(out, loans, &wish, error);
}

enum roof_status roof_read_product(const struct roof_hardware **out, struct roof_loans *loans,
                                   const struct roof_hardware *hardware, struct roof_error *error)
{
    *out = NULL;
    if (hardware->basis != ROOF_BASIS_DOCUMENTS || hardware->product == NULL) {
        return ROOF_OK;
    }
    const struct roof_device_wish wish = {.name = hardware->product, .bounds_only = true};
    return roof_loan_hardware(out, loans, &wish, error);
}

struct roof_model_wish roof_read_model_wish(const struct roof_question *question)
{
    return (struct roof_model_wish){.name = question->model_name,
                                    .layout = question->value[ROOF_INPUT_LAYOUT],
                                    .forget_formats =
                                        roof_asked(question, ROOF_INPUT_WEIGHTS) ||
                                        roof_asked(question, ROOF_INPUT_PRECISION_BOTH)};
}

enum roof_status roof_read_model(const struct roof_model **out, struct roof_loans *loans,
                                 const struct roof_question *question, const char *name,
                                 struct roof_error *error)
{
    struct roof_model_wish wish = roof_read_model_wish(question);
    wish.name = name;
    return roof_loan_model(out, loans, &wish, error);
}

/* The figures of the host that a question may have. */
static const struct {
    size_t input;
    enum roof_figure_id figure;
} host_figures[] = {{ROOF_INPUT_HOST_BANDWIDTH, ROOF_FIGURE_BANDWIDTH},
                    {ROOF_INPUT_HOST_MEMORY, ROOF_FIGURE_MEMORY_NOMINAL}};

/* Writes an assignment for a figure of the host. */
static enum roof_status set_host(char out[64], size_t number, const char *text,
                                 struct roof_error *error)
{
    const struct roof_figure_key *const row = roof_figure_key(host_figures[number].figure);
    char name[ROOF_INPUT_NAME_SIZE];
    double value = 0;
    (void)roof_input_marked(name, roof_input(host_figures[number].input));
    TRY(roof_parse_quantity(&value, text, name, row->unit, row->min, row->max, error));
    snprintf(out, 64, "%s=%.17g", row->key, value);
    return ROOF_OK;
}

/* Reads how fast weights on the host reach the device with the engine of the question. */
static enum roof_status read_upload(struct roof_scenario *scenario, const struct roof_loans *loans,
                                    const struct roof_question *question, struct roof_error *error)
{
    const struct roof_engines *engines = NULL;
    TRY(roof_loan_engines(&engines, loans, error));
    scenario->upload = roof_engines_upload(engines, roof_read_engines(engines, question));
    return ROOF_OK;
}

enum roof_status roof_read_host(struct roof_scenario *scenario, struct roof_loans *loans,
                                const struct roof_question *question, bool offloads_elsewhere,
                                struct roof_error *error)
{
    char set[COUNT(host_figures)][64];
    struct roof_texts texts = {.count = 0};
    const char *const name = question->value[ROOF_INPUT_HOST];
    size_t asked = name != NULL ? ROOF_INPUT_HOST : ROOF_INPUT_COUNT;
    for (size_t i = 0; i < COUNT(host_figures); i++) {
        const char *const text = question->value[host_figures[i].input];
        if (text != NULL) {
            TRY(set_host(set[i], i, text, error));
            asked = host_figures[i].input;
            texts.value[texts.count++] = set[i];
        }
    }
    if (asked == ROOF_INPUT_COUNT) {
        return ROOF_OK;
    }
    if (!roof_asked(question, ROOF_INPUT_OFFLOADED) && !offloads_elsewhere) {
        char key[ROOF_INPUT_NAME_SIZE];
        return roof_error_set(error, ROOF_USAGE, "%s needs " ROOF_KEY("offload"),
                              roof_input_marked(key, roof_input(asked)));
    }
    if (name == NULL && !roof_asked(question, ROOF_INPUT_HOST_BANDWIDTH)) {
        return ROOF_OK; /* the scenario reports what is missing */
    }
    const struct roof_device_wish wish = {
        .name = name, .set = &texts, .bounds_only = true, .host = true};
    const struct roof_device_wish measured = {.name = name, .set = &texts};
    const struct roof_hardware *kernels = NULL;
    TRY(roof_loan_hardware(&scenario->host, loans, &wish, error));
    if (name != NULL && roof_hardware_is_cpu(scenario->host)) {
        TRY(roof_loan_hardware(&kernels, loans, &measured, error));
        scenario->host_kernels = roof_expects_times(kernels) ? kernels : NULL;
    }
    return read_upload(scenario, loans, question, error);
}

enum roof_status roof_read_draft(const struct roof_model **out, struct roof_scenario *scenario,
                                 struct roof_loans *loans, const struct roof_question *question,
                                 bool drafts_elsewhere, struct roof_error *error)
{
    const char *const name = question->value[ROOF_INPUT_DRAFT_MODEL];
    const size_t needs = name != NULL ? ROOF_INPUT_DRAFT_MODEL : ROOF_INPUT_ACCEPTANCE;
    char key[ROOF_INPUT_NAME_SIZE];
    *out = NULL;
    if (roof_asked(question, needs) && !roof_asked(question, ROOF_INPUT_DRAFT_TOKENS) &&
        !drafts_elsewhere) {
        return roof_error_set(error, ROOF_USAGE, "%s needs " ROOF_KEY("draft_tokens") " N",
                              roof_input_marked(key, roof_input(needs)));
    }
    if (name != NULL && !roof_drafter_find(scenario, name)) {
        const struct roof_model_wish wish = {.name = name};
        TRY(roof_loan_model(out, loans, &wish, error));
    }
    scenario->draft = *out;
    return ROOF_OK;
}

enum roof_status roof_read_subject(struct roof_subject *out, const struct roof_hardware **hardware,
                                   const char *const *name, size_t count, struct roof_loans *loans,
                                   const struct roof_question *question, bool bounds_only,
                                   struct roof_error *error)
{
    out->model = out->draft = NULL;
    if (question->model && question->model_name == NULL) {
        return roof_which_model(error);
    }
    TRY(roof_read_scenario(&out->scenario, question, error));
    for (size_t i = 0; i < count; i++) {
        TRY(roof_read_hardware(&hardware[i], loans, question,
                               name[i] == NULL ? question->value[ROOF_INPUT_HARDWARE] : name[i],
                               bounds_only, error));
    }
    if (!question->model) {
        return ROOF_OK;
    }
    TRY(roof_read_model(&out->model, loans, question, question->model_name, error));
    TRY(roof_read_draft(&out->draft, &out->scenario, loans, question, false, error));
    TRY(roof_read_host_time(&out->scenario, loans, question, false, error));
    return roof_read_host(&out->scenario, loans, question, false, error);
}
