// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "calibrate/fitter.h"

static bool write_file(const char *path, const struct roof_text *text)
{
    FILE *const file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    const bool written = fwrite(text->data, 1, text->length, file) == text->length;
    return fclose(file) == 0 && written;
}

enum roof_status write_fits(const struct fitter *f, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = ROOF_OK;
    const struct roof_calibration all = {.id = f->hardware->id,
                                         .attributions = f->options->attribution,
                                         .fit = f->done,
                                         .count = (size_t)f->dones};
    roof_calibration_write(&text, &all);
    if (text.failed) {
        status = roof_no_memory(error);
    } else if (!write_file(f->options->output, &text)) {
        status = roof_error_at(error, ROOF_IO, f->options->output, 0, 0, "cannot write");
    }
    roof_text_free(&text);
    return status;
}
