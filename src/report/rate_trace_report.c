// SPDX-License-Identifier: MIT
#include "report/rate_trace_report.h"

#include <inttypes.h>
#include <math.h>

#include "base/base.h"
#include "base/json.h"
#include "report/render.h"

/* The most rows of a table for people. */
#define ROWS_MAX 48
#define HOUR 3600.

/* Returns the copies for an interval; NULL: none are needed. */
static const struct roof_rate_plan *copies_at(const struct roof_rate_answer *a, size_t interval)
{
    const size_t place = a->trace->interval[interval].place;
    return place < a->found->others ? &a->found->other[place] : NULL;
}

static int64_t devices_at(const struct roof_rate_answer *a, size_t interval)
{
    const struct roof_rate_plan *const way = copies_at(a, interval);
    return way == NULL ? 0 : way->plan.devices;
}

/* The sums over all intervals. */
struct sums {
    double hours;
    double device_hours;
    double peak_device_hours; /* of the best plan for the greatest rate, if it runs all the time */
    double cost;              /* NAN: the price is unknown */
    double peak_cost;
};

/* Returns the price of a device of a plan per hour; NAN: unknown. */
static double device_price(const struct roof_rate_plan *way)
{
    return way->price / (double)way->plan.devices;
}

/* The plan that serves the greatest rate best need not be the first, which is the best over time.
 */
static const struct roof_rate_plan *plan_at_peak(const struct roof_rate_answer *a)
{
    return &a->found->way[a->found->at_peak];
}

static struct sums sums_of(const struct roof_rate_answer *a)
{
    const struct roof_rate_plan *const peak = plan_at_peak(a);
    struct sums sums = {.device_hours = a->found->way[0].device_seconds / HOUR};
    for (size_t i = 0; i < a->trace->count; i++) {
        sums.hours += a->trace->interval[i].duration_s / HOUR;
    }
    sums.peak_device_hours = sums.hours * (double)peak->plan.devices;
    sums.cost = device_price(&a->found->way[0]) * sums.device_hours;
    sums.peak_cost = device_price(peak) * sums.peak_device_hours;
    return sums;
}

/* --- for people ---------------------------------------------------------------------------- */

/* Returns the end of the run of intervals from `first` with the same copies; *rate is their
 * greatest rate. */
static size_t end_of(double *rate, const struct roof_rate_answer *a, size_t first)
{
    const struct roof_rate_plan *const way = copies_at(a, first);
    size_t end = first;
    *rate = 0;
    for (; end < a->trace->count; end++) {
        const struct roof_rate_plan *const other = copies_at(a, end);
        const bool both = way != NULL && other != NULL;
        if (way != other && !(both && way->plan.dp == other->plan.dp &&
                              way->plan.prefill.copies == other->plan.prefill.copies)) {
            break;
        }
        *rate = fmax(*rate, a->trace->interval[end].rate);
    }
    return end;
}

static void put_row(struct roof_text *out, const struct roof_rate_answer *a, size_t first,
                    size_t end, double rate)
{
    const struct roof_rate_interval *const i = a->trace->interval;
    const double until = i[end - 1].begin_s + i[end - 1].duration_s;
    const struct roof_rate_plan *const way = copies_at(a, first);
    char hours[ROOF_QUANTITY_SIZE];
    char most[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "  ");
    const size_t from = out->length;
    roof_text_plain(out, i[first].time);
    roof_text_fill(out, ' ', from + 19 > out->length ? from + 19 - out->length : 0);
    roof_text_printf(out, "  %8s  %10s  ",
                     roof_format_short(hours, (until - i[first].begin_s) / HOUR),
                     roof_format_short(most, rate));
    if (way != NULL && way->plan.prefill.copies > 0) {
        struct roof_plan_row row;
        roof_plan_name(&row, &way->plan, 1, &a->problem->answer->problem);
        roof_text_printf(out, "%9s", row.copies);
    } else {
        roof_text_printf(out, "%9" PRId64, way == NULL ? 0 : way->plan.dp);
    }
    roof_text_printf(out, "  %7" PRId64 "\n", devices_at(a, first));
}

/* Says by what the plan for the greatest rate is the best. */
static const char *best_at_peak(enum roof_plan_objective objective)
{
    return objective == ROOF_PLAN_COST     ? "the cheapest"
           : objective == ROOF_PLAN_ENERGY ? "the least TDP"
                                           : "the fewest";
}

static void put_sums(struct roof_text *out, const struct roof_rate_answer *a)
{
    const struct sums sums = sums_of(a);
    const double saved = 1 - sums.device_hours / sums.peak_device_hours;
    char some[ROOF_QUANTITY_SIZE];
    char all[ROOF_QUANTITY_SIZE];
    roof_text_put(out, "\n");
    const size_t from = out->length;
    roof_text_printf(out,
                     "  device-hours %s with the copies of each interval, %s with the %" PRId64
                     " devices of rank %zu (%s for the greatest rate) all the time: %.0f%% less\n",
                     roof_format_short(some, sums.device_hours),
                     roof_format_short(all, sums.peak_device_hours), plan_at_peak(a)->plan.devices,
                     a->found->at_peak + 1, best_at_peak(a->problem->answer->problem.objective),
                     100 * saved);
    roof_text_fold(out, from, 15);
    if (!isnan(sums.cost) && !isnan(sums.peak_cost)) {
        roof_text_printf(out, "  cost         %s instead of %s\n",
                         roof_format_short(some, sums.cost),
                         roof_format_short(all, sums.peak_cost));
    }
}

/* Says what the rows leave open: the rates of joined intervals, and the length of the last one. */
static void put_notes(struct roof_text *out, const struct roof_rate_answer *a, bool joined)
{
    const struct roof_rate_interval *const last = &a->trace->interval[a->trace->count - 1];
    char hours[ROOF_QUANTITY_SIZE];
    if (joined) {
        roof_text_put(out,
                      "  Intervals with the same copies are one line, which has their greatest "
                      "rate.\n");
    }
    roof_text_put(out, "  The last interval (");
    roof_text_plain(out, last->time);
    roof_text_printf(out, ") lasts as long as the one before it: %s h.",
                     roof_format_short(hours, last->duration_s / HOUR));
    roof_text_printf(out, " All together last %s h.\n", roof_format_short(hours, sums_of(a).hours));
}

void roof_rate_trace_text(struct roof_text *out, const struct roof_rate_answer *answer)
{
    size_t rows = 0;
    if (answer->trace == NULL) {
        return;
    }
    roof_text_printf(out, "\n  %-19s  %8s  %10s  %9s  %7s\n", "from", "hours", "requests/s",
                     "copies", "devices");
    for (size_t i = 0; i < answer->trace->count; rows++) {
        double rate = 0;
        const size_t end = end_of(&rate, answer, i);
        if (rows < ROWS_MAX) {
            put_row(out, answer, i, end, rate);
        }
        i = end;
    }
    if (rows > ROWS_MAX) {
        roof_text_printf(out, "  and %zu more; -f json has all\n", rows - ROWS_MAX);
    }
    put_notes(out, answer, rows < answer->trace->count);
    put_sums(out, answer);
}

void roof_rate_trace_order(struct roof_text *out, const struct roof_rate_answer *a, size_t shown)
{
    static const char *const over_time[] = {
        [ROOF_PLAN_THROUGHPUT] = "device-hours",
        [ROOF_PLAN_COST] = "cost",
        [ROOF_PLAN_ENERGY] = "TDP times hours",
    };
    static const char *const at_peak[] = {
        [ROOF_PLAN_THROUGHPUT] = "devices",
        [ROOF_PLAN_COST] = "cost per hour",
        [ROOF_PLAN_ENERGY] = "TDP",
    };
    const enum roof_plan_objective objective = a->problem->answer->problem.objective;
    const size_t compared = a->found->compared;
    if (compared == 0) {
        return;
    }
    roof_text_printf(out, "rank: by %s over all intervals", over_time[objective]);
    if (compared < shown) {
        roof_text_printf(out, "; after rank %zu by %s for the greatest rate", compared,
                         at_peak[objective]);
    }
    roof_text_put(out, "\ndev-hours: device-hours over all intervals, with the copies of each\n");
}

/* --- for programs -------------------------------------------------------------------------- */

static void put_number(struct roof_text *out, const char *key, double value)
{
    if (!isnan(value)) {
        roof_text_printf(out, "%s\": ", key);
        roof_text_number(out, value);
    }
}

static void put_interval(struct roof_text *out, const struct roof_rate_answer *a, size_t number)
{
    const struct roof_rate_interval *const i = &a->trace->interval[number];
    const struct roof_rate_plan *const way = copies_at(a, number);
    roof_text_put(out, "{\"time\": ");
    roof_json_quote(out, i->time);
    put_number(out, ", \"begin_s", i->begin_s);
    put_number(out, ", \"duration_s", i->duration_s);
    put_number(out, ", \"rate_per_s", i->rate);
    put_number(out, ", \"dp", way == NULL ? 0 : (double)way->plan.dp);
    if (a->found->way[0].plan.prefill.copies > 0) {
        put_number(out, ", \"prefill_copies", way == NULL ? 0 : (double)way->plan.prefill.copies);
    }
    put_number(out, ", \"devices", (double)devices_at(a, number));
    roof_text_put(out, "}");
}

void roof_rate_trace_json(struct roof_text *out, const struct roof_rate_answer *answer)
{
    if (answer->trace == NULL) {
        return;
    }
    const struct sums sums = sums_of(answer);
    roof_text_put(out, ",\n\"intervals\": [");
    for (size_t i = 0; i < answer->trace->count; i++) {
        roof_text_put(out, i == 0 ? "\n" : ",\n");
        put_interval(out, answer, i);
    }
    roof_text_put(out, "\n]");
    put_number(out, ",\n\"device_hours", sums.device_hours);
    put_number(out, ",\n\"peak_device_hours", sums.peak_device_hours);
    put_number(out, ",\n\"peak_rank", (double)(answer->found->at_peak + 1));
    put_number(out, ",\n\"cost", sums.cost);
    put_number(out, ",\n\"peak_cost", sums.peak_cost);
}
