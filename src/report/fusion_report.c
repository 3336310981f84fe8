// SPDX-License-Identifier: MIT
#include "report/fusion_report.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "base/quantity.h"
#include "report/model_report.h"
#include "report/report.h"

void roof_report_fusion(struct roof_text *out, const struct roof_fusion *f)
{
    for (int i = ROOF_FUSE_COUNT; i-- > 0;) {
        char label[32];
        char value[ROOF_QUANTITY_SIZE];
        char ratio[ROOF_QUANTITY_SIZE];
        char expected[96] = "";
        char work[96] = "";
        char detail[256];
        const double more = f->way[i].expected_s / f->way[ROOF_FUSE_ALL].expected_s;
        if (!isnan(more)) {
            roof_format_quantity(value, f->way[i].expected_s, ROOF_UNIT_MILLISECONDS);
            snprintf(expected, sizeof expected, "; expected %s, %sx", value,
                     roof_format_short(ratio, more));
        }
        if (!isnan(f->way[i].launches)) {
            roof_format_quantity(value, f->way[i].bytes, ROOF_UNIT_BYTES);
            snprintf(work, sizeof work, "; %.0f kernels, %s", f->way[i].launches, value);
        }
        roof_format_short(ratio, f->way[i].time_s / f->way[ROOF_FUSE_ALL].time_s);
        snprintf(detail, sizeof detail, "%sx%s%s", ratio, expected, work);
        snprintf(label, sizeof label, "fuse %s", roof_fuse_names[i]);
        roof_report_line(out, ROOF_MODEL_REPORT_LABEL, label,
                         roof_format_quantity(value, f->way[i].time_s, ROOF_UNIT_MILLISECONDS),
                         detail);
    }
    if (f->way[ROOF_FUSE_DEFAULT].time_s < f->way[ROOF_FUSE_ALL].time_s ||
        f->way[ROOF_FUSE_DEFAULT].expected_s < f->way[ROOF_FUSE_ALL].expected_s) {
        roof_report_line(out, ROOF_MODEL_REPORT_LABEL, "",
                         "the default leaves out the time to quantise inputs", "");
    }
}

void roof_report_fusion_json(struct roof_text *out, const struct roof_fusion *f)
{
    roof_text_put(out, ",\n  \"fusion\": {");
    for (int i = 0; i < ROOF_FUSE_COUNT; i++) {
        roof_text_printf(out, "%s\"%s\":{", i == 0 ? "" : ",", roof_fuse_names[i]);
        roof_report_number(out, "", "time_ms",
                           roof_to_unit(f->way[i].time_s, ROOF_UNIT_MILLISECONDS));
        roof_report_number(out, ",", "expected_time_ms",
                           roof_to_unit(f->way[i].expected_s, ROOF_UNIT_MILLISECONDS));
        roof_report_number(out, ",", "bytes", f->way[i].bytes);
        roof_report_number(out, ",", "launches", f->way[i].launches);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "}");
}
