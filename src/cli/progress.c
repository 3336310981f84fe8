// SPDX-License-Identifier: MIT
/* Shows the progress of long work: a line on a terminal that is updated in place. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define QUIET_S 1.0  /* work shorter than this shows no progress */
#define EVERY_S 0.25 /* interval between updates */

static double now(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_progress_begin(struct cli_progress *p, const char *label, const char *unit, uint64_t start,
                        uint64_t total, FILE *rows)
{
    const bool rows_scroll = rows != NULL && isatty(fileno(rows)) != 0;
    *p = (struct cli_progress){.label = label, .unit = unit, .start = start, .total = total};
    p->on = isatty(STDERR_FILENO) != 0 && !rows_scroll;
    p->begun = p->on ? now() : 0;
    p->due = p->begun + QUIET_S;
}

/* Formats a count with its prefix, without a trailing blank. */
static const char *count(char out[ROOF_QUANTITY_SIZE], double value)
{
    return value < 1000 ? roof_format_short(out, value)
                        : roof_format_quantity(out, value, ROOF_UNIT_COUNTS);
}

static void show(struct cli_progress *p, uint64_t done, double elapsed)
{
    char number[3][ROOF_QUANTITY_SIZE];
    char speed[ROOF_QUANTITY_SIZE + 8] = "";
    const bool timed = strcmp(p->unit, "s") == 0; /* the work takes so long, whatever it does */
    const double rate = timed ? 1 : (double)(done - p->start) / elapsed;
    const uint64_t left = (uint64_t)((double)(p->total - done) / rate);
    if (!timed) {
        snprintf(speed, sizeof speed, ", %s/s", count(number[0], rate));
    }
    const int width = fprintf(
        stderr, "\rroofline %s: %s of %s %s, %s%s, %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left",
        p->label, count(number[0], (double)done), count(number[1], (double)p->total), p->unit,
        roof_format_quantity(number[2], (double)done / (double)p->total, ROOF_UNIT_FRACTION), speed,
        left / 3600, left / 60 % 60, left % 60);
    fprintf(stderr, "%*s", p->width > width ? p->width - width : 0,
            ""); /* overwrites a longer line */
    p->width = width > p->width ? width : p->width;
    (void)fflush(stderr);
}

void cli_progress_step(struct cli_progress *p, uint64_t done)
{
    const double at = p->on ? now() : 0;
    if (p->on && at >= p->due && done > p->start) {
        show(p, done, at - p->begun);
        p->due = at + EVERY_S;
    }
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->width > 0) {
        fprintf(stderr, "\r%*s\r", p->width, "");
        (void)fflush(stderr);
    }
    p->on = false;
    p->width = 0;
}
