// SPDX-License-Identifier: MIT
#include "report/block_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "base/quantity.h"

static void json_block(struct roof_text *out, const struct roof_block_total *b)
{
    const double layers = (double)b->layers;
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"flops", b->flops},
        {"bytes", b->bytes},
        {"time_ms", roof_to_unit(b->time_s, ROOF_UNIT_MILLISECONDS)},
        {"expected_time_ms", roof_to_unit(b->expected_s, ROOF_UNIT_MILLISECONDS)},
        {"layer_time_ms", roof_to_unit(b->time_s / layers, ROOF_UNIT_MILLISECONDS)},
        {"layer_expected_time_ms", roof_to_unit(b->expected_s / layers, ROOF_UNIT_MILLISECONDS)},
        {"share_of_time", b->share_of_time},
        {"share_of_flops", b->share_of_flops},
    };
    roof_text_printf(out, "{\"layers\":%" PRId64, b->layers);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (isfinite(numbers[i].value)) {
            roof_text_printf(out, ",\"%s\":", numbers[i].key);
            roof_text_number(out, numbers[i].value);
        }
    }
    roof_text_put(out, "}");
}

static void text_block(struct roof_text *out, const char *name, const struct roof_block_total *b)
{
    const double times[] = {b->time_s, b->expected_s, b->time_s / (double)b->layers,
                            b->expected_s / (double)b->layers};
    const double shares[] = {b->share_of_time, b->share_of_flops};
    char value[ROOF_QUANTITY_SIZE];
    roof_text_printf(out, "  %-10s %6" PRId64, name, b->layers);
    for (size_t i = 0; i < COUNT(times); i++) {
        roof_text_printf(out, "  %10s", roof_format_in(value, times[i], ROOF_UNIT_MILLISECONDS));
    }
    for (size_t i = 0; i < COUNT(shares); i++) {
        if (isnan(shares[i])) {
            snprintf(value, sizeof value, "-");
        } else {
            snprintf(value, sizeof value, "%.1f%%", 100 * shares[i]);
        }
        roof_text_printf(out, "  %8s", value);
    }
    roof_text_put(out, "\n");
}

void roof_report_blocks(struct roof_text *out, bool json, const struct roof_blocks *blocks)
{
    bool begun = false;
    if (!blocks->known) {
        return;
    }
    if (json) {
        roof_text_put(out, ",\n  \"blocks\": {");
    } else {
        roof_text_printf(out, "\n  %-10s %6s  %10s  %10s  %10s  %10s  %8s  %8s\n", "block",
                         "layers", "time", "expected", "per layer", "expected", "of time",
                         "of FLOPs");
    }
    for (int i = ROOF_BLOCK_COUNT; i-- > 0;) {
        const struct roof_block_total *const b = &blocks->of[i];
        const char *const name = roof_block_name((enum roof_block)i);
        if (b->layers == 0 || b->time_s == 0) {
            continue;
        }
        if (json) {
            roof_text_printf(out, "%s\"%s\":", begun ? "," : "", name);
            json_block(out, b);
        } else {
            text_block(out, name, b);
        }
        begun = true;
    }
    roof_text_put(out, json ? "}" : "");
}
