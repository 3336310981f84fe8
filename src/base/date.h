// SPDX-License-Identifier: MIT
/* Dates as numbers of days. */
#ifndef ROOF_BASE_DATE_H
#define ROOF_BASE_DATE_H

/* Returns the days from 1970-01-01 to a date of the Gregorian calendar: a year from 1 on, a month
 * from 1 to 12, and a day, which may lie beyond the end of its month. */
double roof_days(int year, int month, int day);

#endif
