// SPDX-License-Identifier: MIT
/* Reads the accuracy loss of each format from data/accuracy.json. */
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "catalog/data.h"
#include "catalog/precision.h"

static const char *const accuracy_names[ROOF_ACCURACY_CLASS_COUNT] = {
    [ROOF_ACCURACY_NONE] = "none",   [ROOF_ACCURACY_MINIMAL] = "minimal",
    [ROOF_ACCURACY_BELOW_1] = "<1%", [ROOF_ACCURACY_1_TO_2] = "1-2%",
    [ROOF_ACCURACY_2_TO_5] = "2-5%", [ROOF_ACCURACY_SEVERE] = "severe",
};

const char *roof_accuracy_name(enum roof_accuracy_class accuracy)
{
    return accuracy_names[accuracy];
}

enum roof_status roof_accuracy_find(enum roof_accuracy_class *out, const char *name,
                                    struct roof_error *error)
{
    for (int i = 0; i < ROOF_ACCURACY_CLASS_COUNT; i++) {
        /* A class may be named by its largest loss, because a shell takes < as a redirection. */
        const char *const worst = strpbrk(accuracy_names[i], "<-");
        if (strcasecmp(name, accuracy_names[i]) == 0 ||
            (worst != NULL && strcmp(name, worst + 1) == 0)) {
            *out = (enum roof_accuracy_class)i;
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "accuracy class", name, accuracy_names,
                             ROOF_ACCURACY_CLASS_COUNT);
}

/* Reads the row of a format; its strings belong to json. */
static enum roof_status read_format(struct roof_accuracy *out, enum roof_precision precision,
                                    const struct roof_json *json, struct roof_error *error)
{
    const char *const name = roof_format(precision)->name;
    const roof_json_value *const root = roof_json_root(json);
    const roof_json_value *const row = roof_json_get(roof_json_get(root, "formats"), name);
    const char *const loss = roof_json_string(roof_json_get(row, "class"));
    out->of[precision].source = roof_json_string(roof_json_get(row, "source"));
    out->of[precision].figure = roof_json_string(roof_json_get(row, "figure"));
    if (loss == NULL || out->of[precision].source == NULL) {
        return roof_json_error(json, row == NULL ? root : row, error,
                               "the format '%s' needs a class and a source", name);
    }
    return roof_accuracy_find(&out->of[precision].loss, loss, error);
}

enum roof_status roof_accuracy_load(struct roof_accuracy *out, struct roof_error *error)
{
    *out = (struct roof_accuracy){0};
    struct roof_json *json = NULL;
    TRY(roof_data_json(&json, "accuracy.json", error));
    out->document = json;
    enum roof_status status = ROOF_OK;
    for (int p = 0; p < ROOF_PRECISION_COUNT && status == ROOF_OK; p++) {
        status = read_format(out, (enum roof_precision)p, json, error);
    }
    if (status != ROOF_OK) {
        roof_accuracy_free(out);
    }
    return status;
}

void roof_accuracy_free(struct roof_accuracy *accuracy)
{
    if (accuracy != NULL) {
        roof_json_free(accuracy->document);
        *accuracy = (struct roof_accuracy){0};
    }
}
