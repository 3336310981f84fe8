// SPDX-License-Identifier: MIT
/** Reports the results of checks: for people, as JSON, and as test reports that CI systems read. */
#ifndef ROOF_ASK_CHECK_REPORT_H
#define ROOF_ASK_CHECK_REPORT_H

#include "ask/check.h"
#include "base/text.h"

/** These have the same numbers as the choices of the input "format" of check. */
enum roof_check_output {
    ROOF_CHECK_TEXT,
    ROOF_CHECK_JSON,
    ROOF_CHECK_TAP,  /**< version 14 */
    ROOF_CHECK_JUNIT /**< XML: a suite per file, a case per check */
};

/** The checks of some files, after roof_check_take. updated: values were written into the files, so
 * for people a deviation is told as a change. */
void roof_check_report(struct roof_text *out, enum roof_check_output output,
                       const struct roof_checks *files, size_t count, bool updated);

#endif
