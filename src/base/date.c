// SPDX-License-Identifier: MIT
#include "base/date.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

#define NUMBER_SIZE 64

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

bool roof_date_read(double *out, const char *text)
{
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int used = 0;
    double second = 0;
    char rest[NUMBER_SIZE];
    if (sscanf(text, "%4d-%2d-%2d%*1[ T]%2d:%2d%n", &year, &month, &day, &hour, &minute, &used) !=
            5 ||
        used == 0 || month < 1 || month > 12 || year < 1) {
        return false;
    }
    if (text[used] == ':') {
        const char *const seconds = text + used + 1;
        (void)snprintf(rest, sizeof rest, "%.*s", (int)strspn(seconds, "0123456789."), seconds);
        if (roof_parse_number(&second, rest, "", 0, 61, NULL) != ROOF_OK) {
            return false;
        }
    } else if (text[used] >= '0' && text[used] <= '9') {
        return false;
    }
    *out = roof_days(year, month, day) * 86400 + hour * 3600. + minute * 60. + second;
    return true;
}
