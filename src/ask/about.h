// SPDX-License-Identifier: MIT
/* The scenarios and formats of the models in a chart, for the note below it. */
#ifndef ROOF_ASK_ABOUT_H
#define ROOF_ASK_ABOUT_H

#include "base/text.h"
#include "decide/sweep.h"
#include "predict/model_prediction.h"
#include "report/scenario_report.h"

/* The most scenarios that a note names. */
#define ROOF_ABOUT_MOST 2

struct roof_about_scenario {
    struct roof_text text;
    struct roof_scenario_part part[ROOF_SCENARIO_PARTS];
    size_t parts;
};

struct roof_about {
    struct roof_about_scenario scenario[ROOF_ABOUT_MOST + 1]; /* and the next one */
    size_t scenarios; /* number of different ones, at most one more than a note names */
    struct roof_about_scenario common; /* what all have in common, however many they are */
    struct roof_text formats;
    bool mixed;       /* the models have several formats */
    bool unquantized; /* a quantised checkpoint is drawn in other formats, but can be read */
    bool unreadable;  /* its formats are not supported */
};

/* Notes the scenario and the formats of a model; inputs with several values in a sweep (NULL: none)
 * are left out. */
void roof_about_add(struct roof_about *about, const struct roof_model_prediction *model,
                    const struct roof_sweep *sweep);
/* Writes the note: "decode, batch 1 and 8, context 4096; weights fp16, ...". Of more scenarios than
 * it names, it has what they have in common. */
void roof_about_put(struct roof_text *out, const struct roof_about *about);
/* Tells whether the note has the value of an input. */
bool roof_about_tells(const struct roof_about *about, const struct roof_input *input);
void roof_about_free(struct roof_about *about);

#endif
