// SPDX-License-Identifier: MIT
/* Dates as numbers of days. */
#ifndef ROOF_BASE_DATE_H
#define ROOF_BASE_DATE_H

#include <stdbool.h>

/* Returns the days from 1970-01-01 to a date of the Gregorian calendar: a year from 1 on, a month
 * from 1 to 12, and a day, which may lie beyond the end of its month. */
double roof_days(int year, int month, int day);

/* Reads "2023-11-16 18:17:03.9799600", perhaps followed by a time zone, which is ignored, as
 * seconds since 1970. */
bool roof_date_read(double *out, const char *text);

#endif
