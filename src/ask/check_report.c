// SPDX-License-Identifier: MIT
#include "ask/check_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/character.h"
#include "base/json.h"
#include "base/quantity.h"

/* The sums over all files. */
struct sum {
    size_t checks;
    size_t values;
    size_t deviations;
    size_t failed;
};

static struct sum sum_of(const struct roof_checks *files, size_t count)
{
    struct sum sum = {0, 0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        sum.checks += files[i].count;
        sum.values += files[i].values;
        sum.deviations += files[i].deviations;
        sum.failed += files[i].failed;
    }
    return sum;
}

/* --- one deviation ------------------------------------------------------------------------- */

/* Writes a difference to four digits: its last ones mean nothing. */
static void put_short(struct roof_text *out, double value)
{
    char number[32];
    snprintf(number, sizeof number, "%.4g", value); /* printed, not read back */
    roof_text_put(out, number);
}

static const char *or_absent(const char *json)
{
    return strcmp(json, "null") == 0 ? "no such key" : json;
}

static void put_tolerance(struct roof_text *out, const struct roof_tolerance *t)
{
    if (t->relative == 0 && t->absolute == 0) {
        roof_text_put(out, "nothing");
    }
    if (t->relative > 0) {
        roof_text_number(out, t->relative);
        roof_text_put(out, " relative");
    }
    if (t->absolute > 0) {
        roof_text_put(out, t->relative > 0 ? " or " : "");
        roof_text_number(out, t->absolute);
    }
}

/* "time_us: expected 117, got 116.97: off by -0.0285 (-0.000244 relative), allowed 1e-9 relative"
 */
static void put_deviation(struct roof_text *out, const struct roof_expectation *e)
{
    double expected = 0;
    if (e->refusal) {
        roof_text_printf(out, "expected the error %s, got %s", e->expected,
                         strcmp(e->got, "null") == 0 ? "an answer" : e->got);
        return;
    }
    roof_text_put(out, e->key);
    roof_text_put(out, ": expected ");
    roof_text_put(out, or_absent(e->expected));
    roof_text_put(out, ", got ");
    roof_text_put(out, e->nowhere ? "nothing of that name" : or_absent(e->got));
    if (isnan(e->difference) ||
        roof_parse_number(&expected, e->expected, "", -HUGE_VAL, HUGE_VAL, NULL) != ROOF_OK) {
        return;
    }
    roof_text_put(out, ": off by ");
    put_short(out, e->difference);
    if (expected != 0) {
        roof_text_put(out, " (");
        put_short(out, e->difference / fabs(expected));
        roof_text_put(out, " relative)");
    }
    roof_text_put(out, ", allowed ");
    put_tolerance(out, &e->tolerance);
}

/* --- for people ---------------------------------------------------------------------------- */

static void put_plural(struct roof_text *out, size_t count, const char *noun)
{
    roof_text_printf(out, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

/* Tells if every value that deviated was written into the file. */
static bool is_updated(const struct roof_check *check)
{
    size_t k = 0;
    while (k < check->count &&
           (check->expectation[k].passed || roof_expectation_updates(&check->expectation[k]))) {
        k++;
    }
    return k == check->count;
}

static void text_check(struct roof_text *out, const struct roof_checks *file,
                       const struct roof_check *check, bool updated)
{
    roof_text_printf(out, "%s: %s\n", updated && is_updated(check) ? "CHANGED" : "FAIL",
                     check->name);
    for (size_t k = 0; k < check->count; k++) {
        const struct roof_expectation *const e = &check->expectation[k];
        if (!e->passed) {
            roof_text_printf(out, "  %s:%d:%d: ", file->name, e->line, e->column);
            put_deviation(out, e);
            roof_text_put(out, "\n");
        }
    }
}

static void put_text(struct roof_text *out, const struct roof_checks *files, size_t count,
                     bool updated)
{
    const struct sum sum = sum_of(files, count);
    for (size_t f = 0; f < count; f++) {
        for (size_t i = 0; i < files[f].count; i++) {
            const struct roof_check *const check = &files[f].check[i];
            if (check->deviations > 0) {
                text_check(out, &files[f], check, updated);
            }
        }
    }
    put_plural(out, sum.checks, "check");
    roof_text_put(out, ", ");
    put_plural(out, sum.values, "value");
    if (sum.deviations == 0) {
        roof_text_put(out, ": all as expected\n");
    } else {
        roof_text_printf(out, ": %zu %s in ", sum.deviations,
                         sum.deviations == 1 ? "deviates" : "deviate");
        put_plural(out, sum.failed, "check");
        roof_text_put(out, "\n");
    }
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void json_value(struct roof_text *out, const struct roof_expectation *e)
{
    roof_text_printf(out, "{\"key\": ");
    roof_json_quote(out, e->key);
    roof_text_printf(out, ", \"line\": %d, \"column\": %d, \"passed\": %s, \"expected\": ", e->line,
                     e->column, e->passed ? "true" : "false");
    roof_text_put(out, e->range ? "null" : e->expected);
    if (e->range && !isinf(e->min)) {
        roof_text_put(out, ", \"min\": ");
        roof_text_number(out, e->min);
    }
    if (e->range && !isinf(e->max)) {
        roof_text_put(out, ", \"max\": ");
        roof_text_number(out, e->max);
    }
    roof_text_put(out, ", \"got\": ");
    roof_text_put(out, e->got);
    if (!isnan(e->difference)) {
        roof_text_put(out, ", \"difference\": ");
        roof_text_number(out, e->difference);
    }
    if (e->number) {
        roof_text_put(out, ", \"relative\": ");
        roof_text_number(out, e->tolerance.relative);
        roof_text_put(out, ", \"absolute\": ");
        roof_text_number(out, e->tolerance.absolute);
    }
    roof_text_put(out, "}");
}

static void json_check(struct roof_text *out, const struct roof_checks *file,
                       const struct roof_check *check)
{
    roof_text_put(out, "    {\"file\": ");
    roof_json_quote(out, file->name);
    roof_text_printf(out, ", \"line\": %d, \"name\": ", check->line);
    roof_json_quote(out, check->name);
    roof_text_printf(out, ", \"passed\": %s, \"values\": [",
                     check->deviations == 0 ? "true" : "false");
    for (size_t k = 0; k < check->count; k++) {
        roof_text_put(out, k == 0 ? "\n      " : ",\n      ");
        json_value(out, &check->expectation[k]);
    }
    roof_text_put(out, "]}");
}

static void put_json(struct roof_text *out, const struct roof_checks *files, size_t count)
{
    const struct sum sum = sum_of(files, count);
    const char *separator = "\n";
    roof_text_printf(out,
                     "{\"schema\": \"roofline/check-results/1\", \"checks\": %zu, \"failed\": %zu, "
                     "\"values\": %zu, \"deviations\": %zu,\n  \"results\": [",
                     sum.checks, sum.failed, sum.values, sum.deviations);
    for (size_t f = 0; f < count; f++) {
        for (size_t i = 0; i < files[f].count; i++) {
            roof_text_put(out, separator);
            json_check(out, &files[f], &files[f].check[i]);
            separator = ",\n";
        }
    }
    roof_text_put(out, "\n  ]\n}\n");
}

/* --- TAP ----------------------------------------------------------------------------------- */

/* A description ends at a directive: # and \ are escaped. */
static void tap_text(struct roof_text *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        roof_text_put(out, *p == '#' || *p == '\\' ? "\\" : "");
        roof_text_add(out, p, 1);
    }
}

/* The block of YAML below a test; its texts are quoted as in JSON, which YAML reads too. */
static void tap_block(struct roof_text *out, const struct roof_checks *file,
                      const struct roof_check *check)
{
    roof_text_put(out, "  ---\n  file: ");
    roof_json_quote(out, file->name);
    roof_text_printf(out, "\n  line: %d\n  deviations:\n", check->line);
    for (size_t k = 0; k < check->count; k++) {
        const struct roof_expectation *const e = &check->expectation[k];
        if (e->passed) {
            continue;
        }
        struct roof_text message = ROOF_TEXT_INIT;
        put_deviation(&message, e);
        roof_text_put(out, "    - ");
        roof_json_quote(out, message.failed ? "" : message.data);
        roof_text_put(out, "\n");
        out->failed |= message.failed;
        roof_text_free(&message);
    }
    roof_text_put(out, "  ...\n");
}

static void put_tap(struct roof_text *out, const struct roof_checks *files, size_t count)
{
    size_t number = 0;
    roof_text_printf(out, "TAP version 14\n1..%zu\n", sum_of(files, count).checks);
    for (size_t f = 0; f < count; f++) {
        for (size_t i = 0; i < files[f].count; i++) {
            const struct roof_check *const check = &files[f].check[i];
            roof_text_printf(out, "%s %zu - ", check->deviations == 0 ? "ok" : "not ok", ++number);
            tap_text(out, check->name);
            roof_text_put(out, "\n");
            if (check->deviations > 0) {
                tap_block(out, &files[f], check);
            }
        }
    }
}

/* --- JUnit --------------------------------------------------------------------------------- */

static void xml_text(struct roof_text *out, const char *text)
{
    static const struct {
        char byte;
        const char *entity;
    } entities[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};
    for (const char *p = text; *p != '\0';) {
        const size_t length = roof_xml(p); /* the name of a file may be anything */
        const char *entity = length == 0 ? "?" : NULL;
        for (size_t i = 0; i < COUNT(entities); i++) {
            entity = *p == entities[i].byte ? entities[i].entity : entity;
        }
        roof_text_add(out, entity == NULL ? p : entity, entity == NULL ? length : strlen(entity));
        p += length == 0 ? 1 : length;
    }
}

static void junit_case(struct roof_text *out, const struct roof_checks *file,
                       const struct roof_check *check)
{
    roof_text_put(out, "    <testcase classname=\"");
    xml_text(out, file->name);
    roof_text_put(out, "\" name=\"");
    xml_text(out, check->name);
    roof_text_put(out, "\" file=\"");
    xml_text(out, file->name);
    roof_text_printf(out, "\" line=\"%d\" assertions=\"%zu\"", check->line, check->count);
    if (check->deviations == 0) {
        roof_text_put(out, "/>\n");
        return;
    }
    roof_text_printf(out, ">\n      <failure type=\"deviation\" message=\"%zu of %zu values\">",
                     check->deviations, check->count);
    const char *separator = "";
    for (size_t k = 0; k < check->count; k++) {
        if (check->expectation[k].passed) {
            continue;
        }
        struct roof_text message = ROOF_TEXT_INIT;
        put_deviation(&message, &check->expectation[k]);
        roof_text_put(out, separator);
        xml_text(out, message.failed ? "" : message.data);
        out->failed |= message.failed;
        roof_text_free(&message);
        separator = "\n";
    }
    roof_text_put(out, "</failure>\n    </testcase>\n");
}

static void put_junit(struct roof_text *out, const struct roof_checks *files, size_t count)
{
    const struct sum sum = sum_of(files, count);
    roof_text_printf(out,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuites name=\"roofline check\" tests=\"%zu\" failures=\"%zu\" "
                     "errors=\"0\">\n",
                     sum.checks, sum.failed);
    for (size_t f = 0; f < count; f++) {
        roof_text_put(out, "  <testsuite name=\"");
        xml_text(out, files[f].name);
        roof_text_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\">\n",
                         files[f].count, files[f].failed);
        for (size_t i = 0; i < files[f].count; i++) {
            junit_case(out, &files[f], &files[f].check[i]);
        }
        roof_text_put(out, "  </testsuite>\n");
    }
    roof_text_put(out, "</testsuites>\n");
}

void roof_check_report(struct roof_text *out, enum roof_check_output output,
                       const struct roof_checks *files, size_t count, bool updated)
{
    switch (output) {
    case ROOF_CHECK_TEXT:
        put_text(out, files, count, updated);
        break;
    case ROOF_CHECK_JSON:
        put_json(out, files, count);
        break;
    case ROOF_CHECK_TAP:
        put_tap(out, files, count);
        break;
    case ROOF_CHECK_JUNIT:
        put_junit(out, files, count);
        break;
    }
}
