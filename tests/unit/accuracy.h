// SPDX-License-Identifier: MIT
/* The accuracy classes as embedded, for tests that recommend: a fixture of a group. */
#ifndef ROOF_TESTS_ACCURACY_H
#define ROOF_TESTS_ACCURACY_H

#include "support.h"

static struct roof_accuracy accuracy;

static int load_accuracy(void **unused)
{
    (void)unused;
    return roof_accuracy_load(&accuracy, NULL) == ROOF_OK ? 0 : -1;
}

static int free_accuracy(void **unused)
{
    (void)unused;
    roof_accuracy_free(&accuracy);
    return 0;
}

#endif
