// SPDX-License-Identifier: MIT
#include "base/date.h"

/*
 * A year begins in March here, so that the leap day is its last one, and the months before a month
 * have (153 months + 2) / 5 days: 31, 30, 31, 30, 31 in turn. 719468 days lie between 0000-03-01
 * and 1970-01-01.
 */
double roof_days(int year, int month, int day)
{
    const int from_march = (month + 9) % 12;
    const int years = year - (month < 3);
    const int leap = years / 4 - years / 100 + years / 400;
    const int before = (153 * from_march + 2) / 5; /* days of the months before */
    return 365. * years + leap + before + day - 1 - 719468;
}
