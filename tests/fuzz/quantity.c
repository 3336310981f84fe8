// SPDX-License-Identifier: MIT
/* Values from texts: the first byte says which parser, the rest is its text.
 * Bytes: 64
 * Words: src/base/quantity.c src/catalog/precision.c src/operator/operator.c src/model/weights.c
 * Words: src/base/values.c src/operator/operator.h
 * Words: src/decide/input.c */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "fuzz.h"

static void parse_integer(const char *text)
{
    const int64_t min = -1000;
    const int64_t max = INT64_C(1000000000000000);
    struct roof_error error = {0};
    int64_t value = 0;
    const enum roof_status status = roof_parse_integer(&value, text, "value", min, max, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
        return;
    }
    CHECK(value >= min && value <= max);
    char shown[32];
    int64_t again = 0;
    snprintf(shown, sizeof shown, "%" PRId64, value);
    CHECK(roof_parse_integer(&again, shown, "value", min, max, NULL) == ROOF_OK && again == value);
}

static void parse_number(const char *text)
{
    struct roof_error error = {0};
    double value = 0;
    const enum roof_status status =
        roof_parse_number(&value, text, "value", -HUGE_VAL, HUGE_VAL, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
        return;
    }
    CHECK(isfinite(value));
    CHECK(value == strtod(text, NULL)); /* in the locale "C", which nothing here changes */
    char shown[ROOF_NUMBER_SIZE];
    char people[ROOF_QUANTITY_SIZE];
    double again = 0;
    CHECK(roof_format_number(shown, value) == strlen(shown));
    CHECK(roof_parse_number(&again, shown, "value", -HUGE_VAL, HUGE_VAL, NULL) == ROOF_OK);
    CHECK(again == value);
    for (int unit = 0; unit < ROOF_UNIT_COUNT; unit++) {
        fuzz_one_line(roof_format_quantity(people, value, (enum roof_unit)unit));
    }
    fuzz_one_line(roof_format_short(people, value));
}

static void parse_time(const char *text)
{
    struct roof_error error = {0};
    double value = 0;
    const enum roof_status status = roof_parse_time(&value, text, "value", &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    } else {
        CHECK(isfinite(value) && value > 0);
    }
}

static void parse_rate(const char *text)
{
    struct roof_error error = {0};
    double value = 0;
    enum roof_unit unit = ROOF_UNIT_COUNT;
    const enum roof_status status = roof_parse_rate(&value, &unit, text, "value", &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    } else {
        CHECK(isfinite(value) && value > 0);
        CHECK(unit == ROOF_UNIT_TFLOPS || unit == ROOF_UNIT_GB_PER_S);
    }
}

static void parse_values(const char *text)
{
    const int64_t min = 0;
    const int64_t max = INT64_C(1000000000000);
    struct roof_error error = {0};
    struct roof_values values;
    const enum roof_status status = roof_parse_values(&values, text, "value", min, max, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
        CHECK(values.run == NULL && values.run_count == 0 && values.count == 0);
        return;
    }
    int64_t count = 0;
    for (size_t i = 0; i < values.run_count; i++) {
        CHECK(values.run[i].count > 0);
        count += values.run[i].count;
    }
    CHECK(count == values.count && count > 0 && count <= ROOF_VALUES_MAX);
    for (int64_t i = 0; i < count; i += i < 100 ? 1 : count / 17 + 1) {
        CHECK(roof_values_at(&values, i) >= min && roof_values_at(&values, i) <= max);
    }
    CHECK(roof_values_at(&values, count - 1) >= min && roof_values_at(&values, count - 1) <= max);
    roof_values_free(&values);
}

/* The word that a precision was found by is plain, in capitals or not; its own name and its alias
 * lead to it too. */
static void find_again(enum roof_precision precision, const char *text)
{
    const struct roof_format *const format = roof_format(precision);
    enum roof_precision again = ROOF_PRECISION_AUTO;
    CHECK(roof_precision_find(&again, format->name, NULL) == ROOF_OK && again == precision);
    CHECK(format->alias == NULL ||
          (roof_precision_find(&again, format->alias, NULL) == ROOF_OK && again == precision));
    char capitals[24] = {0};
    CHECK(strlen(text) < sizeof capitals);
    for (size_t i = 0; text[i] != '\0'; i++) {
        CHECK(isalnum((unsigned char)text[i]) || strchr("_-+.", text[i]) != NULL);
        capitals[i] = (char)toupper((unsigned char)text[i]);
    }
    CHECK(roof_precision_find(&again, capitals, NULL) == ROOF_OK && again == precision);
}

static void find_names(const char *text)
{
    struct roof_error error = {0};
    enum roof_precision precision = ROOF_PRECISION_AUTO;
    enum roof_status status = roof_precision_find(&precision, text, &error);
    if (status == ROOF_OK) {
        find_again(precision, text);
    } else {
        fuzz_refused(status, &error);
    }
    enum roof_accuracy_class accuracy = ROOF_ACCURACY_NONE;
    status = roof_accuracy_find(&accuracy, text, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    enum roof_operator op = ROOF_OPERATOR_COUNT;
    status = roof_operator_find(&op, text, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    }
    unsigned bits = 0;
    status = roof_weight_find(&bits, text, &error);
    if (status != ROOF_OK) {
        fuzz_refused(status, &error);
    } else {
        CHECK(bits != 0 && bits >> ROOF_WEIGHT_COUNT == 0);
    }
}

/* "*ID VALUE": an input of the table by its number, as an option, a list and a column has it. */
static void parse_input(const char *text)
{
    char *end = NULL;
    const unsigned long id = strtoul(text, &end, 10);
    if (id >= ROOF_INPUT_COUNT || *end != ' ') {
        return;
    }
    const struct roof_input *const input = roof_input(id);
    struct roof_error error = {0};
    enum roof_status status = ROOF_OK;
    if (input->kind == ROOF_INPUT_TEXT) {
        return;
    }
    if (input->kind == ROOF_INPUT_NUMBER) {
        struct roof_scenario scenario;
        roof_scenario_init(&scenario);
        status = roof_input_parse_number(&scenario, input, end + 1, &error);
        if (status != ROOF_OK) {
            fuzz_refused(status, &error);
        }
        return;
    }
    int64_t value = 0;
    status = roof_input_parse(&value, input, end + 1, &error);
    if (status == ROOF_OK) {
        struct roof_text shown = ROOF_TEXT_INIT;
        int64_t again = 0;
        roof_input_show(&shown, input, value);
        CHECK(roof_input_parse(&again, input, shown.data, NULL) == ROOF_OK && again == value);
        roof_text_free(&shown);
    } else {
        fuzz_refused(status, &error);
    }
    struct roof_values values;
    status = roof_input_parse_list(&values, input, end + 1, &error);
    if (status == ROOF_OK) {
        CHECK(values.count > 0);
        roof_values_free(&values);
    } else {
        fuzz_refused(status, &error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        char letter;
        void (*parse)(const char *text);
    } parsers[] = {{'i', parse_integer}, {'n', parse_number}, {'t', parse_time}, {'r', parse_rate},
                   {'v', parse_values},  {'p', find_names},   {'*', parse_input}};
    if (size == 0) {
        return 0;
    }
    char *const text = fuzz_text(data + 1, size - 1);
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++) {
        if (data[0] == (uint8_t)parsers[i].letter) {
            parsers[i].parse(text);
        }
    }
    free(text);
    return 0;
}
