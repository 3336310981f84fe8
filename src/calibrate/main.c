// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "calibrate/fitter.h"

void print_error(const struct roof_error *error)
{
    char message[ROOF_ERROR_SOURCE_SIZE + ROOF_ERROR_MESSAGE_SIZE + 32];
    fprintf(stderr, "roofline-calibrate: %s\n", roof_error_line(message, sizeof message, error));
}

static enum roof_status calibrate(struct fitter *f, const struct options *options,
                                  struct roof_error *error)
{
    TRY(open_fitter(f, options, error));
    if (options->few > 0) {
        return judge_few(f, error);
    }
    TRY(options->kept != NULL ? keep_fits(f, error) : fit_groups(f, error));
    return write_fits(f, error);
}

int main(int argc, char **argv)
{
    struct options options;
    if (!read_options(&options, argc, argv)) {
        return 2;
    }
    struct fitter fitter = {.rows = 0};
    struct roof_error error = {0};
    const enum roof_status status = calibrate(&fitter, &options, &error);
    if (status != ROOF_OK) {
        print_error(&error);
    }
    const bool bad_rows = fitter.bad_rows;
    close_fitter(&fitter);
    return status == ROOF_USAGE     ? 2
           : status == ROOF_INVALID ? 3
           : status != ROOF_OK      ? 4
           : bad_rows               ? 3
                                    : 0;
}
