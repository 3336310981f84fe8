// SPDX-License-Identifier: MIT
/* The measured values of a record, and the request behind the result of a serving benchmark. */
#ifndef ROOF_DECIDE_RECORD_MEASURED_H
#define ROOF_DECIDE_RECORD_MEASURED_H

#include "decide/record_columns.h"

/* Reads the measured values of a record, of a model or of an operator, into r->measured_s. */
enum roof_status roof_record_measured(struct roof_records *r, bool model, struct roof_error *error);

/* Fills in the lengths and the number of requests in flight from the result of a benchmark or the
 * column concurrency, unless the record has them as inputs. */
enum roof_status roof_record_request(struct roof_scenario *asked, struct roof_records *r,
                                     struct roof_error *error);

#endif
