// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/fitter.h"

static bool usage(void)
{
    fputs("usage: roofline-calibrate FILE.csv --hardware ID -o FILE.json [--from ID,...]\n"
          "       [--lend FILE.json]... [--lenders DIR] [--attribution TEXT]...\n"
          "       [--evaluations N]\n"
          "       roofline-calibrate --kept FILE.json --hardware ID -o FILE.json [--lend "
          "FILE.json]...\n"
          "       [--lenders DIR] [--attribution TEXT]...\n"
          "       roofline-calibrate FILE.csv --hardware ID --few N [--lend FILE.json]...\n"
          "       [--lenders DIR]\n"
          "\n"
          "Fits the parameters of the expected time to measured rows (the columns of roofline\n"
          "compare, with stack); use the result with roofline ... --calibration FILE.json.\n"
          "--from fits the rows of these devices, together, instead of the device's own.\n"
          "--lend takes kernels that have no rows from the calibration of another device.\n"
          "--lenders lends those of DIR that data/borrowing.json names for the device.\n"
          "--kept takes the device's own fits from its calibration, and lends the others anew.\n"
          "--attribution is kept in the result: a line without \" and \\.\n"
          "--few fits N rows of each kernel as roofline measure does, and prints the errors on\n"
          "its other rows, in CSV: those of the lender and those of the fit, in per cent.\n"
          "--evaluations bounds each of the three rounds of a search (default 1200); kernels with\n"
          "fewer than 1000 rows have three times as many.\n",
          stderr);
    return false;
}

/* Reads an option with its value; false if it is unknown, repeated too often or has a wrong value.
 */
static bool read_option(struct options *out, const char *option, const char *value)
{
    if (strcmp(option, "--hardware") == 0 || strcmp(option, "-H") == 0) {
        out->hardware = value;
    } else if (strcmp(option, "-o") == 0) {
        out->output = value;
    } else if (strcmp(option, "--from") == 0) {
        out->pool = value;
    } else if (strcmp(option, "--lend") == 0 && out->lenders < LENDERS_MAX) {
        out->lender[out->lenders++] = value;
    } else if (strcmp(option, "--lenders") == 0) {
        out->folder = value;
    } else if (strcmp(option, "--kept") == 0) {
        out->kept = value;
    } else if (strcmp(option, "--few") == 0) {
        out->few = (int)strtol(value, NULL, 10);
        return out->few >= 1 && out->few <= 1000000;
    } else if (strcmp(option, "--evaluations") == 0) {
        out->evaluations = (int)strtol(value, NULL, 10);
    } else if (strcmp(option, "--attribution") == 0 && out->attributions < ATTRIBUTIONS_MAX) {
        out->attribution[out->attributions++] = value;
        return strpbrk(value, "\"\\\n") == NULL; /* it is copied into JSON */
    } else {
        return false;
    }
    return true;
}

bool read_options(struct options *out, int argc, char **argv)
{
    *out = (struct options){.evaluations = 1200};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' && out->input == NULL) {
            out->input = argv[i];
        } else if (i + 1 == argc || !read_option(out, argv[i], argv[i + 1])) {
            return usage();
        } else {
            i++;
        }
    }
    const bool complete = (out->input == NULL) == (out->kept != NULL) && out->hardware != NULL &&
                          (out->output == NULL) == (out->few > 0);
    return complete && out->evaluations >= 1 ? true : usage();
}
