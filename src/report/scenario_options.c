// SPDX-License-Identifier: MIT
/* Writes the options of a command line that give a scenario. */
#include "report/scenario_options.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/shell.h"
#include "decide/input.h"

void roof_put_reference(struct roof_text *out, const char *reference, const char *id)
{
    roof_text_shell_word(out, reference == NULL ? id : reference);
}

/* Writes an input that is a field of a scenario, unless it has the default. */
static void put_field(struct roof_text *out, const struct roof_input *input,
                      const struct roof_scenario *s, const struct roof_scenario *usual)
{
    char name[ROOF_INPUT_NAME_SIZE];
    if (input->kind == ROOF_INPUT_NUMBER) {
        const double value = *(const double *)(const void *)((const char *)s + input->offset);
        const double other = *(const double *)(const void *)((const char *)usual + input->offset);
        if (value != other) {
            roof_text_printf(out, " %s ", roof_input_name(name, input));
            roof_text_number(out, value);
        }
        return;
    }
    const int64_t value = roof_input_get(s, input);
    if (value == roof_input_get(usual, input)) {
        return;
    }
    roof_text_printf(out, " %s", roof_input_name(name, input));
    if (input->kind != ROOF_INPUT_FLAG) {
        roof_text_put(out, " ");
        roof_input_show(out, input, value == input->zero ? 0 : value);
    }
}

/* Writes the options for the host. */
static void put_host(struct roof_text *out, const struct roof_hardware *host)
{
    static const struct {
        enum roof_figure_id figure;
        const char *option;
    } given[] = {{ROOF_FIGURE_BANDWIDTH, "host-bandwidth"},
                 {ROOF_FIGURE_MEMORY_NOMINAL, "host-memory"}};
    if (strcmp(host->id, ROOF_HOST_ID) != 0) {
        roof_text_put(out, " --host ");
        roof_text_shell_word(out, host->reference);
    }
    for (size_t i = 0; i < COUNT(given); i++) {
        const double value = host->figure[given[i].figure].value;
        if (!isnan(value)) {
            roof_text_printf(out, " --%s ", given[i].option);
            roof_text_number(out, value / 1e9);
        }
    }
}

void roof_put_options(struct roof_text *out, const struct roof_scenario *s,
                      const struct roof_scenario *usual, enum roof_command command)
{
    for (size_t id = 0; id < ROOF_INPUT_COUNT; id++) {
        const struct roof_input *const input = roof_input(id);
        const bool length = id == ROOF_INPUT_PROMPT || id == ROOF_INPUT_GENERATE;
        if (command == ROOF_COMMAND_SIMULATE && length) {
            continue; /* a text in that command, which may be a distribution */
        }
        if (input->field && input->of != ROOF_OF_OPERATORS && roof_input_allowed(id, command)) {
            put_field(out, input, s, usual);
        }
    }
    if (s->draft_tokens > 0 && (s->drafting != ROOF_DRAFTING_DEFAULT || s->draft != NULL)) {
        roof_text_put(out, " --draft-model ");
        if (s->draft != NULL) {
            roof_put_reference(out, s->draft->reference, s->draft->id);
        } else {
            roof_text_put(out, s->drafting == ROOF_DRAFTING_OWN ? "mtp" : "none");
        }
    }
    if (s->offload != ROOF_OFFLOAD_NONE) {
        put_host(out, s->host);
    }
    if (s->host_time_said != NULL) {
        roof_text_put(out, " --host-time ");
        roof_text_shell_word(out, s->host_time_said);
    }
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        if (s->weight[w] != ROOF_PRECISION_AUTO) {
            roof_text_printf(out, " --class %s=%s", roof_weight_name((enum roof_weight)w),
                             roof_format(s->weight[w])->name);
        }
    }
}
