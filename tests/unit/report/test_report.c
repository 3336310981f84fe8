// SPDX-License-Identifier: MIT
/* Reports: the keys and their order, numbers that read back, and one result in every format. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct roof_reasons no_reasons = {NULL, NULL};
#define EXACT 0
#define SHAPE(...) ((struct roof_shape){__VA_ARGS__})
#define P(id) ROOF_PRECISION_##id

#define NO_VECTOR                                                                                  \
    "{\"id\": \"plain\", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1},"                 \
    " \"devices_per_node\": 1000, \"link_gb_s\": 10}"

static const enum roof_output outputs[] = {ROOF_OUTPUT_TEXT, ROOF_OUTPUT_JSON, ROOF_OUTPUT_NDJSON,
                                           ROOF_OUTPUT_CSV, ROOF_OUTPUT_MARKDOWN};

static struct roof_prediction predict_in(enum roof_operator op, struct roof_shape shape,
                                         enum roof_precision precision,
                                         const struct roof_hardware *hardware)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_prediction p;
    struct roof_error error = {0};
    w.op = op;
    w.shape = shape;
    w.formats.precision = precision;
    if (roof_predict(&p, &w, hardware, &error) != ROOF_OK) {
        fail_msg("%s: %s", roof_operator_row(op)->name, error.message);
    }
    return p;
}

static struct roof_prediction predict(enum roof_operator op, struct roof_shape shape,
                                      const struct roof_hardware *hardware)
{
    return predict_in(op, shape, P(FP16), hardware);
}

/* A shape of each operator whose figures have many digits. */
static struct roof_shape odd_shape(enum roof_operator op)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    int64_t next = 7;
    for (int d = 0; d < ROOF_DIM_COUNT; d++) {
        const struct roof_input *const input = &roof_dimensions[d];
        if (roof_operator_has(op, (enum roof_dimension)d)) {
            roof_input_put(&w, input, input->kind == ROOF_INPUT_INTEGER ? next : 1);
            next = 3 * next + 1;
        }
    }
    if (w.shape.kv_heads > 0) {
        w.shape.heads = 3 * w.shape.kv_heads;
    }
    if (w.shape.head_dim > 0 && w.shape.qk_rope_head_dim > 0) {
        w.shape.head_dim = 3 * w.shape.qk_rope_head_dim;
    }
    if (w.shape.top_k > 0) {
        w.shape.experts = 3 * w.shape.top_k * (w.shape.ep > 0 ? w.shape.ep : 1);
    }
    return w.shape;
}

static struct roof_table open_table(enum roof_output output, enum roof_table_kind kind,
                                    enum roof_operator op, const char *columns)
{
    struct roof_table table;
    struct roof_error error = {0};
    if (roof_table_open(&table, output, kind, op, columns, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    return table;
}

static struct roof_text close_table(struct roof_table *table, struct roof_text text)
{
    roof_table_end(table, &text);
    assert_false(text.failed);
    assert_int_equal(table->rows, 1);
    return text;
}

/* Each makes a table with one row. */

static struct roof_text one_row(enum roof_output output, enum roof_operator op, const char *columns,
                                const struct roof_prediction *prediction)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_table table = open_table(output, ROOF_TABLE_PREDICTIONS, op, columns);
    roof_table_begin(&table, &text);
    roof_table_prediction(&table, &text, prediction);
    return close_table(&table, text);
}

static struct roof_text device_row(enum roof_output output, const char *columns,
                                   const struct roof_hardware *device)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_table table = open_table(output, ROOF_TABLE_HARDWARE, ROOF_OPERATOR_GEMM, columns);
    roof_table_begin(&table, &text);
    roof_table_hardware(&table, &text, device);
    return close_table(&table, text);
}

static struct roof_text precision_row(enum roof_output output, const char *columns,
                                      const struct roof_precision_entry *entry)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_table table =
        open_table(output, ROOF_TABLE_PRECISIONS, ROOF_OPERATOR_GEMM, columns);
    roof_table_begin(&table, &text);
    roof_table_precision(&table, &text, entry);
    return close_table(&table, text);
}

static struct roof_json *parse(const char *text, size_t length)
{
    struct roof_json *json = NULL;
    struct roof_error error = {0};
    if (roof_json_parse(&json, text, length, "report", &error) != ROOF_OK) {
        fail_msg("%d:%d: %s in %.*s", error.line, error.column, error.message, (int)length, text);
    }
    return json;
}

/* Lines: each ends with a newline, none with a blank; the text has no other control characters. */
static void check_text(const struct roof_text *text)
{
    assert_false(text->failed);
    assert_non_null(text->data);
    assert_true(text->length > 0 && text->data[text->length - 1] == '\n');
    assert_int_equal(strlen(text->data), text->length);
    for (size_t i = 0; i < text->length; i++) {
        const unsigned char c = (unsigned char)text->data[i];
        assert_true(c >= 0x20 || c == '\n');
        if (c == '\n' && i > 0 && text->data[i - 1] == ' ') {
            size_t start = i;
            while (start > 0 && text->data[start - 1] != '\n') {
                start--;
            }
            fail_msg("a blank at the end of '%.*s'", (int)(i - start), text->data + start);
        }
    }
}

/* --- CSV, read back ------------------------------------------------------------------------ */

struct record {
    char buffer[16384];
    const char *field[100];
    size_t count;
};

/* One record (RFC 4180 with LF); returns what follows it. */
static const char *read_record(struct record *out, const char *p)
{
    char *to = out->buffer;
    out->count = 0;
    for (;;) {
        assert_true(out->count < COUNT(out->field));
        out->field[out->count++] = to;
        const bool quoted = *p == '"';
        p += quoted;
        while (quoted ? *p != '"' || p[1] == '"' : *p != ',' && *p != '\n') {
            assert_true(*p != '\0' && (quoted || *p != '"'));
            assert_true((size_t)(to - out->buffer) < sizeof out->buffer - 2);
            p += quoted && *p == '"'; /* the first of two */
            *to++ = *p++;
        }
        p += quoted;
        *to++ = '\0';
        assert_true(*p == ',' || *p == '\n');
        if (*p++ == '\n') {
            return p;
        }
    }
}

static void test_read_record(void **unused)
{
    (void)unused;
    struct record r;
    assert_string_equal(read_record(&r, "a,,\"b,\"\"c\"\"\",1\nnext"), "next");
    assert_int_equal(r.count, 4);
    assert_string_equal(r.field[0], "a");
    assert_string_equal(r.field[1], "");
    assert_string_equal(r.field[2], "b,\"c\"");
    assert_string_equal(r.field[3], "1");
}

/* --- keys ---------------------------------------------------------------------------------- */

/* The keys of a gemm that scripts rely on, in their order; more may follow. */
#define GEMM_KEYS                                                                                  \
    "schema,hardware,hardware_basis,operator,m,n,k,batch,"                                         \
    "weights,activations,out,kv,compute_precision,native,"                                         \
    "flops,bytes,weights_bytes,activations_bytes,out_bytes,kv_bytes,network_bytes,"                \
    "arithmetic_intensity,ridge_point,memory_time_us,compute_time_us,network_time_us,time_us,"     \
    "bottleneck,attainable_tflops,peak_tflops,bandwidth_gb_s,fraction_of_peak"

static void test_keys_of_gemm(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_prediction p =
        predict(ROOF_OPERATOR_GEMM, SHAPE(.m = 2, .n = 3, .k = 4), device);

    struct roof_text csv = one_row(ROOF_OUTPUT_CSV, ROOF_OPERATOR_GEMM, NULL, &p);
    assert_true(strncmp(csv.data, GEMM_KEYS, strlen(GEMM_KEYS)) == 0);
    assert_true(csv.data[strlen(GEMM_KEYS)] == ',' || csv.data[strlen(GEMM_KEYS)] == '\n');
    roof_text_free(&csv);

    /* In JSON the unknown ones are absent: a gemm has no network, nothing was measured. */
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_text keys = ROOF_TEXT_INIT;
    roof_report_json(&text, &p, NULL);
    struct roof_json *const json = parse(text.data, text.length);
    for (const roof_json_value *item = roof_json_first(roof_json_root(json)); item != NULL;
         item = roof_json_next(item)) {
        roof_text_printf(&keys, "%s%s", keys.length == 0 ? "" : ",", roof_json_key(item));
    }
    struct roof_text expected = ROOF_TEXT_INIT;
    const char *key = GEMM_KEYS;
    while (*key != '\0') {
        const size_t length = strcspn(key, ",");
        if (strncmp(key, "network_", 8) != 0) {
            roof_text_put(&expected, expected.length == 0 ? "" : ",");
            roof_text_add(&expected, key, length);
        }
        key += length + (key[length] == ',');
    }
    roof_text_put(&expected, ",expected_missing"); /* no kernel was measured */
    assert_string_equal(keys.data, expected.data);
    roof_text_free(&expected);
    roof_text_free(&keys);
    roof_text_free(&text);
    roof_json_free(json);
    roof_hardware_free(device);
}

/* --- values -------------------------------------------------------------------------------- */

/* One prediction as text that is made by hand, figure by figure: 2 x 3 x 4 at fp16. */
static void test_gemm_in_full(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_prediction p = predict(ROOF_OPERATOR_GEMM, SHAPE(.m = 2, .n = 3, .k = 4), device);
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_json *json = NULL;
    static const struct {
        const char *key;
        const char *text; /* or NULL */
        double number;
    } expected[] = {
        {"schema", "roofline/prediction/1", 0},
        {"hardware", "synthetic", 0},
        {"hardware_basis", "user", 0},
        {"operator", "gemm", 0},
        {"m", NULL, 2},
        {"n", NULL, 3},
        {"k", NULL, 4},
        {"batch", NULL, 1},
        {"weights", "fp16", 0},
        {"activations", "fp16", 0},
        {"out", "fp16", 0},
        {"kv", "fp16", 0},
        {"compute_precision", "fp16", 0},
        {"flops", NULL, 48},
        {"bytes", NULL, 52},
        {"weights_bytes", NULL, 24},
        {"activations_bytes", NULL, 16},
        {"out_bytes", NULL, 12},
        {"kv_bytes", NULL, 0}, /* known to be none */
        {"arithmetic_intensity", NULL, 48.0 / 52},
        {"ridge_point", NULL, 10},
        {"memory_time_us", NULL, 0.00052},
        {"compute_time_us", NULL, 0.000048},
        {"time_us", NULL, 0.00052},
        {"bottleneck", "memory", 0},
        {"attainable_tflops", NULL, 4.8 / 52},
        {"peak_tflops", NULL, 1},
        {"bandwidth_gb_s", NULL, 100},
        {"fraction_of_peak", NULL, 4.8 / 52},
    };
    roof_report_json(&text, &p, NULL);
    json = parse(text.data, text.length);
    for (size_t i = 0; i < COUNT(expected); i++) {
        const roof_json_value *const value = roof_json_get(roof_json_root(json), expected[i].key);
        double number = 0;
        if (expected[i].text != NULL) {
            assert_non_null(roof_json_string(value));
            assert_string_equal(roof_json_string(value), expected[i].text);
        } else {
            assert_true(roof_json_number(&number, value));
            assert_near(number, expected[i].number, 1e-12);
        }
    }
    assert_non_null(strstr(text.data, "\"native\": true"));
    roof_json_free(json);

    /* With a measured time there are four more keys. */
    roof_predict_measured(&p, 1.04e-9);
    roof_text_clear(&text);
    roof_report_json(&text, &p, NULL);
    json = parse(text.data, text.length);
    static const struct {
        const char *key;
        double number;
    } measured[] = {{"measured_us", 0.00104},
                    {"achieved_tflops", 48 / 1.04 / 1e3},
                    {"achieved_gb_s", 50},
                    {"fraction_of_bound", 0.5}};
    for (size_t i = 0; i < COUNT(measured); i++) {
        double number = 0;
        assert_true(
            roof_json_number(&number, roof_json_get(roof_json_root(json), measured[i].key)));
        assert_near(number, measured[i].number, 1e-12);
    }
    roof_json_free(json);
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* Rounded or human-readable numbers would not read back. */
static void check_values(const struct roof_prediction *p, const roof_json_value *root)
{
    const struct {
        const char *key;
        double si;
        enum roof_unit unit;
    } numbers[] = {
        {"flops", p->flops, ROOF_UNIT_NONE},
        {"bytes", p->bytes, ROOF_UNIT_NONE},
        {"weights_bytes", p->role_bytes[ROOF_ROLE_WEIGHTS], ROOF_UNIT_NONE},
        {"activations_bytes", p->role_bytes[ROOF_ROLE_ACTIVATIONS], ROOF_UNIT_NONE},
        {"out_bytes", p->role_bytes[ROOF_ROLE_OUT], ROOF_UNIT_NONE},
        {"kv_bytes", p->role_bytes[ROOF_ROLE_KV], ROOF_UNIT_NONE},
        {"network_bytes", p->network_bytes, ROOF_UNIT_NONE},
        {"arithmetic_intensity", p->intensity, ROOF_UNIT_NONE},
        {"ridge_point", p->ridge, ROOF_UNIT_NONE},
        {"memory_time_us", p->memory_time_s, ROOF_UNIT_MICROSECONDS},
        {"compute_time_us", p->compute_time_s, ROOF_UNIT_MICROSECONDS},
        {"network_time_us", p->network_time_s, ROOF_UNIT_MICROSECONDS},
        {"time_us", p->time_s, ROOF_UNIT_MICROSECONDS},
        {"attainable_tflops", p->attainable_flops_per_s, ROOF_UNIT_TFLOPS},
        {"peak_tflops", p->peak_flops_per_s, ROOF_UNIT_TFLOPS},
        {"bandwidth_gb_s", p->bandwidth_bytes_per_s, ROOF_UNIT_GB_PER_S},
        {"fraction_of_peak", p->fraction_of_peak, ROOF_UNIT_NONE},
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const roof_json_value *const value = roof_json_get(root, numbers[i].key);
        double number = 0;
        if (isnan(numbers[i].si)) {
            assert_null(value);
        } else {
            assert_true(roof_json_number(&number, value));
            assert_near(number, roof_to_unit(numbers[i].si, numbers[i].unit), EXACT);
        }
    }
    const struct roof_formats *const f = &p->workload.formats;
    const struct {
        const char *key;
        const char *text;
    } texts[] = {
        {"hardware", p->hardware->id},
        {"operator", roof_operator_row(p->workload.op)->name},
        {"weights", roof_format(f->weights)->name},
        {"activations", roof_format(f->activations)->name},
        {"out", roof_format(f->out)->name},
        {"kv", roof_format(f->kv)->name},
        {"compute_precision", roof_format(p->compute)->name},
        {"bottleneck", roof_bottleneck_name(p->bottleneck)},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_string_equal(roof_json_string(roof_json_get(root, texts[i].key)), texts[i].text);
    }
    for (int d = 0; d < ROOF_DIM_COUNT; d++) { /* its own dimensions and no others */
        const struct roof_input *const input = &roof_dimensions[d];
        const roof_json_value *const value = roof_json_get(root, input->key);
        const int64_t dimension = roof_input_get(&p->workload, input);
        double number = 0;
        assert_int_equal(value != NULL, roof_operator_has(p->workload.op, (enum roof_dimension)d));
        if (value != NULL && input->kind == ROOF_INPUT_INTEGER) {
            assert_true(roof_json_number(&number, value));
            assert_near(number, (double)dimension, EXACT);
        } else if (value != NULL && input->kind == ROOF_INPUT_CHOICE) {
            assert_string_equal(roof_json_string(value), input->choices[dimension]);
        }
    }
}

/* CSV has all keys in every row: absent in JSON is empty there, all else is equal. */
static void check_csv(const struct roof_prediction *p, const roof_json_value *root)
{
    static struct record header;
    static struct record row;
    struct roof_text csv = one_row(ROOF_OUTPUT_CSV, p->workload.op, NULL, p);
    assert_string_equal(read_record(&row, read_record(&header, csv.data)), "");
    assert_int_equal(header.count, row.count);
    const roof_json_value *next = roof_json_first(root);
    for (size_t i = 0; i < header.count; i++) {
        const roof_json_value *const value = roof_json_get(root, header.field[i]);
        const char *const field = row.field[i];
        double number = 0;
        if (value == NULL) {
            assert_string_equal(field, "");
            continue;
        }
        assert_ptr_equal(value, next); /* the same order */
        next = roof_json_next(next);
        if (roof_json_string(value) != NULL) {
            assert_string_equal(field, roof_json_string(value));
        } else if (roof_json_number(&number, value)) {
            assert_near(strtod(field, NULL), number, EXACT);
        } else { /* a boolean */
            assert_true(strcmp(field, "0") == 0 || strcmp(field, "1") == 0);
        }
    }
    assert_string_equal(roof_json_key(next), "expected_missing"); /* in documents only */
    next = roof_json_next(next);
    if (p->part_count > 1) {
        assert_string_equal(roof_json_key(next), "parts");
        next = roof_json_next(next);
    }
    if (next != NULL) {
        assert_string_equal(roof_json_key(next), "notes");
        next = roof_json_next(next);
    } else {
        assert_true(p->native || p->flops == 0 || isnan(p->compute_time_s));
    }
    assert_null(next);
    roof_text_free(&csv);
}

static void test_values_read_back(void **unused)
{
    (void)unused;
    static const char *const devices[] = {SYNTHETIC, NO_VECTOR};
    static const enum roof_precision formats[] = {P(FP16), P(NVFP4), P(NF4), P(FP64)};
    for (size_t d = 0; d < COUNT(devices); d++) {
        struct roof_hardware *const device = parse_device(devices[d]);
        for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
            for (size_t f = 0; f < COUNT(formats); f++) {
                const enum roof_operator id = (enum roof_operator)op;
                const struct roof_prediction p = predict_in(id, odd_shape(id), formats[f], device);
                struct roof_text text = ROOF_TEXT_INIT;
                roof_report_json(&text, &p, NULL);
                check_text(&text);
                struct roof_json *json = parse(text.data, text.length);
                check_values(&p, roof_json_root(json));
                check_csv(&p, roof_json_root(json));
                roof_json_free(json);
                roof_text_free(&text);

                /* One object per line, the same members. */
                text = one_row(ROOF_OUTPUT_NDJSON, id, NULL, &p);
                assert_ptr_equal(strchr(text.data, '\n'), text.data + text.length - 1);
                json = parse(text.data, text.length);
                check_values(&p, roof_json_root(json));
                roof_json_free(json);
                roof_text_free(&text);
            }
        }
        roof_hardware_free(device);
    }
}

/* The text is the expected one, or ends with it. */
static void expect_end(const struct roof_text *text, const char *end)
{
    const size_t length = strlen(end);
    assert_true(text->length >= length);
    assert_string_equal(text->data + text->length - length, end);
}

static void test_booleans(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_prediction native =
        predict(ROOF_OPERATOR_GEMV, SHAPE(.n = 1, .k = 1), device);
    const struct roof_prediction fallback =
        predict_in(ROOF_OPERATOR_GEMV, SHAPE(.n = 1, .k = 1), P(MXFP4), device);
    const struct roof_prediction causal =
        predict(ROOF_OPERATOR_FLASH_ATTENTION,
                SHAPE(.heads = 1, .head_dim = 1, .kv_len = 1, .causal = 1), device);
    static const struct {
        enum roof_output output;
        const char *yes, *no, *causal;
    } cases[] = {
        {ROOF_OUTPUT_CSV, "native\n1\n", "native\n0\n", "causal\n1\n"},
        {ROOF_OUTPUT_NDJSON, "{\"native\":true}\n", "{\"native\":false}\n", "{\"causal\":true}\n"},
        {ROOF_OUTPUT_MARKDOWN, "\n| yes |\n", "\n| no |\n", "\n| yes |\n"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const enum roof_output output = cases[i].output;
        struct roof_text text = one_row(output, ROOF_OPERATOR_GEMV, "native", &native);
        expect_end(&text, cases[i].yes);
        roof_text_free(&text);
        text = one_row(output, ROOF_OPERATOR_GEMV, "native", &fallback);
        expect_end(&text, cases[i].no);
        roof_text_free(&text);
        text = one_row(output, ROOF_OPERATOR_FLASH_ATTENTION, "causal", &causal);
        expect_end(&text, cases[i].causal);
        roof_text_free(&text);
    }
    roof_hardware_free(device);
}

/* A report tells if a sparse peak was used when one was asked for: fp16 has one, fp8 has none. */
static void test_sparse(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_precision precision;
        int64_t sparse;
        const char *csv, *ndjson;
    } cases[] = {{P(FP16), 0, "\n1,\n", "{\"n\":1}\n"},
                 {P(FP16), 1, "\n1,1\n", "{\"n\":1,\"sparse\":true}\n"},
                 {P(FP8_E4M3), 1, "\n1,0\n", "{\"n\":1,\"sparse\":false}\n"}};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_workload w = ROOF_WORKLOAD_INIT;
        struct roof_prediction p;
        w.op = ROOF_OPERATOR_GEMV;
        w.shape = SHAPE(.n = 1, .k = 1);
        w.formats.precision = cases[i].precision;
        w.sparse = cases[i].sparse;
        assert_int_equal(roof_predict(&p, &w, device, NULL), ROOF_OK);
        struct roof_text text = one_row(ROOF_OUTPUT_CSV, w.op, "n,sparse", &p);
        expect_end(&text, cases[i].csv);
        roof_text_free(&text);
        text = one_row(ROOF_OUTPUT_NDJSON, w.op, "n,sparse", &p);
        expect_end(&text, cases[i].ndjson);
        roof_text_free(&text);
    }
    roof_hardware_free(device);
}

/* The parts of a composite, each with its times. */
static void test_parts(void **unused)
{
    (void)unused;
    static const char *const names[] = {"attention-scores", "softmax", "attention-values"};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_prediction p =
        predict(ROOF_OPERATOR_ATTENTION, SHAPE(.heads = 3, .head_dim = 7, .kv_len = 11), device);
    struct roof_text text = ROOF_TEXT_INIT;
    roof_report_json(&text, &p, NULL);
    struct roof_json *const json = parse(text.data, text.length);
    const roof_json_value *item = roof_json_first(roof_json_get(roof_json_root(json), "parts"));
    for (int i = 0; i < 3; i++) {
        const struct roof_part *const part = &p.part[i];
        const struct {
            const char *key;
            double value;
        } numbers[] = {
            {"flops", part->work.flops},
            {"bytes", part->bytes},
            {"memory_time_us", roof_to_unit(part->memory_time_s, ROOF_UNIT_MICROSECONDS)},
            {"compute_time_us", roof_to_unit(part->compute_time_s, ROOF_UNIT_MICROSECONDS)},
            {"time_us", roof_to_unit(part->time_s, ROOF_UNIT_MICROSECONDS)}};
        assert_string_equal(roof_json_string(roof_json_get(item, "operator")), names[i]);
        assert_string_equal(roof_json_string(roof_json_get(item, "bottleneck")),
                            roof_bottleneck_name(part->bottleneck));
        for (size_t n = 0; n < COUNT(numbers); n++) {
            double number = 0;
            assert_true(roof_json_number(&number, roof_json_get(item, numbers[n].key)));
            assert_near(number, numbers[n].value, EXACT);
        }
        item = roof_json_next(item);
    }
    assert_null(item);
    assert_null(roof_json_get(roof_json_root(json), "ridge_point"));
    assert_null(roof_json_get(roof_json_root(json), "peak_tflops"));
    roof_json_free(json);
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* --- quoting ------------------------------------------------------------------------------- */

/* An id with all that the formats have to escape. */
static void test_quoting(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(
        "{\"id\": \"a,\\\"b\\\"|c\\\\d\", \"bandwidth_gb_s\": 1, \"peak_tflops\": {\"fp16\": 1}}");
    assert_string_equal(device->id, "a,\"b\"|c\\d");
    const struct roof_prediction p = predict(ROOF_OPERATOR_GEMV, SHAPE(.n = 5, .k = 6), device);
    static const struct {
        enum roof_output output;
        const char *expected;
    } cases[] = {
        {ROOF_OUTPUT_CSV, "hardware,n\n\"a,\"\"b\"\"|c\\d\",5\n"},
        {ROOF_OUTPUT_NDJSON, "{\"hardware\":\"a,\\\"b\\\"|c\\\\d\",\"n\":5}\n"},
        {ROOF_OUTPUT_MARKDOWN, "| hardware | n |\n| --- | ---: |\n| a,\"b\"\\|c\\\\d | 5 |\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_text text = one_row(cases[i].output, ROOF_OPERATOR_GEMV, "hardware,n", &p);
        assert_string_equal(text.data, cases[i].expected);
        roof_text_free(&text);
    }
    struct roof_text text = ROOF_TEXT_INIT;
    roof_report_json(&text, &p, NULL);
    struct roof_json *const json = parse(text.data, text.length);
    assert_string_equal(roof_json_string(roof_json_get(roof_json_root(json), "hardware")),
                        device->id);
    roof_json_free(json);
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* --- columns ------------------------------------------------------------------------------- */

static void test_columns(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    /* 64 x 64 at fp16: 8192 + 128 + 128 bytes at 100 GB/s. */
    const struct roof_prediction p = predict(ROOF_OPERATOR_GEMV, SHAPE(.n = 64, .k = 64), device);
    static const struct {
        enum roof_output output;
        const char *columns;
        const char *expected;
    } cases[] = {
        {ROOF_OUTPUT_CSV, "time_us", "time_us\n0.08448\n"},
        {ROOF_OUTPUT_CSV, "bytes,k,operator", "bytes,k,operator\n8448,64,gemv\n"}, /* as asked */
        {ROOF_OUTPUT_CSV, "network_bytes,n", "network_bytes,n\n,64\n"},
        {ROOF_OUTPUT_NDJSON, "bytes,k", "{\"bytes\":8448,\"k\":64}\n"},
        {ROOF_OUTPUT_NDJSON, "network_bytes,n", "{\"n\":64}\n"},
        {ROOF_OUTPUT_MARKDOWN, "bottleneck,network_bytes",
         "| bound | network_bytes |\n| --- | ---: |\n| memory | - |\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_text text = one_row(cases[i].output, ROOF_OPERATOR_GEMV, cases[i].columns, &p);
        assert_string_equal(text.data, cases[i].expected);
        roof_text_free(&text);
    }
    roof_hardware_free(device);
}

static void test_refused_columns(void **unused)
{
    (void)unused;
    static const struct {
        enum roof_output output;
        const char *columns;
        const char *first, *second;
    } cases[] = {
        {ROOF_OUTPUT_CSV, "time_ns", "unknown column 'time_ns'", "did you mean time_us"},
        {ROOF_OUTPUT_CSV, "time_us,", "unknown column ''", "known: schema"},
        {ROOF_OUTPUT_CSV, "", "unknown column ''", "schema"},
        {ROOF_OUTPUT_CSV, "m", "unknown column 'm'", "n"}, /* a gemv has no m */
        {ROOF_OUTPUT_NDJSON, "n,k,n", "'n' twice", "columns names"},
        {ROOF_OUTPUT_MARKDOWN, "time_us,time_us", "'time_us' twice", "columns names"},
        {ROOF_OUTPUT_CSV,
         "a_name_that_is_longer_than_any_key_of_any_table_and_longer_than_the_buffer_for_it",
         "unknown column 'a_name_that_is_longer", "schema"},
        {ROOF_OUTPUT_JSON, "n", "columns needs format", "text, csv, ndjson or md"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_table table;
        struct roof_error error = {0};
        assert_int_equal(roof_table_open(&table, cases[i].output, ROOF_TABLE_PREDICTIONS,
                                         ROOF_OPERATOR_GEMV, cases[i].columns, &error),
                         ROOF_USAGE);
        if (strstr(error.message, cases[i].first) == NULL ||
            strstr(error.message, cases[i].second) == NULL) {
            fail_msg("'%s': %s", cases[i].columns, error.message);
        }
        assert_int_equal(roof_table_open(&table, cases[i].output, ROOF_TABLE_PREDICTIONS,
                                         ROOF_OPERATOR_GEMV, cases[i].columns, NULL),
                         ROOF_USAGE);
    }
}

/* --- tables -------------------------------------------------------------------------------- */

/* A JSON table is an array; without rows it is empty. */
static void test_json_array(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    for (int rows = 0; rows <= 3; rows++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_table table =
            open_table(ROOF_OUTPUT_JSON, ROOF_TABLE_PREDICTIONS, ROOF_OPERATOR_GEMV, NULL);
        roof_table_begin(&table, &text);
        for (int i = 0; i < rows; i++) {
            const struct roof_prediction p =
                predict(ROOF_OPERATOR_GEMV, SHAPE(.n = i + 1, .k = 1), device);
            roof_table_prediction(&table, &text, &p);
        }
        roof_table_end(&table, &text);
        if (rows == 0) {
            assert_string_equal(text.data, "[]\n");
        }
        struct roof_json *const json = parse(text.data, text.length);
        assert_true(roof_json_is_array(roof_json_root(json)));
        int found = 0;
        for (const roof_json_value *item = roof_json_first(roof_json_root(json)); item != NULL;
             item = roof_json_next(item)) {
            double n = 0;
            assert_true(roof_json_number(&n, roof_json_get(item, "n")));
            assert_near(n, ++found, EXACT);
        }
        assert_int_equal(found, rows);
        roof_json_free(json);
        roof_text_free(&text);
    }
    roof_hardware_free(device);
}

static size_t count_char(const char *text, size_t length, char wanted)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += text[i] == wanted && (i == 0 || text[i - 1] != '\\');
    }
    return count;
}

/* Every line of a table in Markdown has the same number of cells. */
static void check_markdown(const struct roof_text *text, size_t rows)
{
    size_t cells = 0;
    size_t lines = 0;
    for (const char *line = text->data; *line != '\0'; lines++) {
        const size_t length = strcspn(line, "\n");
        assert_true(length > 2 && line[0] == '|' && line[length - 1] == '|');
        const size_t here = count_char(line, length, '|');
        assert_true(lines == 0 || here == cells);
        cells = here;
        line += length + 1;
    }
    assert_int_equal(lines, rows + 2);
}

/* A finished table of any kind, in any format. */
static void check_table(enum roof_output output, const struct roof_text *text, size_t rows)
{
    static struct record header;
    static struct record row;
    const char *p = text->data;
    size_t count = 0;
    struct roof_json *json = NULL;
    check_text(text);
    switch (output) {
    case ROOF_OUTPUT_TEXT:
        assert_int_equal(count_char(text->data, text->length, '\n'), rows + 1);
        break;
    case ROOF_OUTPUT_JSON:
        json = parse(text->data, text->length);
        for (const roof_json_value *item = roof_json_first(roof_json_root(json)); item != NULL;
             item = roof_json_next(item)) {
            assert_true(roof_json_is_object(item));
            count++;
        }
        assert_int_equal(count, rows);
        roof_json_free(json);
        break;
    case ROOF_OUTPUT_NDJSON:
        for (; *p != '\0'; count++) {
            const size_t length = strcspn(p, "\n");
            json = parse(p, length);
            assert_true(roof_json_is_object(roof_json_root(json)));
            roof_json_free(json);
            p += length + 1;
        }
        assert_int_equal(count, rows);
        break;
    case ROOF_OUTPUT_CSV:
        p = read_record(&header, p);
        for (; *p != '\0'; count++) {
            p = read_record(&row, p);
            assert_int_equal(row.count, header.count);
        }
        assert_int_equal(count, rows);
        break;
    case ROOF_OUTPUT_MARKDOWN:
        check_markdown(text, rows);
        break;
    }
}

static void test_prediction_tables(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_hardware *const plain = parse_device(NO_VECTOR);
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const enum roof_operator id = (enum roof_operator)op;
        for (size_t o = 0; o < COUNT(outputs); o++) {
            struct roof_text text = ROOF_TEXT_INIT;
            struct roof_table table = open_table(outputs[o], ROOF_TABLE_PREDICTIONS, id, NULL);
            roof_table_begin(&table, &text);
            const struct roof_prediction first = predict(id, odd_shape(id), device);
            const struct roof_prediction second = predict(id, odd_shape(id), plain);
            roof_table_prediction(&table, &text, &first);
            roof_table_prediction(&table, &text, &second);
            roof_table_end(&table, &text);
            assert_int_equal(table.rows, 2);
            check_table(outputs[o], &text, 2);
            roof_text_free(&text);
        }
    }
    roof_hardware_free(device);
    roof_hardware_free(plain);
}

/* A dimension that was not given is absent; a window of 0 is one. */
static void test_dimensions_not_given(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_prediction append =
        predict(ROOF_OPERATOR_KV_APPEND, SHAPE(.tokens = 1, .kv_heads = 2, .head_dim = 3), device);
    const struct roof_prediction flash = predict(
        ROOF_OPERATOR_FLASH_ATTENTION, SHAPE(.heads = 1, .head_dim = 1, .kv_len = 1), device);
    struct roof_text text =
        one_row(ROOF_OUTPUT_CSV, ROOF_OPERATOR_KV_APPEND, "heads,kv_heads", &append);
    assert_string_equal(text.data, "heads,kv_heads\n,2\n");
    roof_text_free(&text);
    text = one_row(ROOF_OUTPUT_NDJSON, ROOF_OPERATOR_KV_APPEND, "heads,kv_heads", &append);
    assert_string_equal(text.data, "{\"kv_heads\":2}\n");
    roof_text_free(&text);
    text =
        one_row(ROOF_OUTPUT_CSV, ROOF_OPERATOR_FLASH_ATTENTION, "window,query_len,batch", &flash);
    assert_string_equal(text.data, "window,query_len,batch\n0,1,1\n");
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* For people: whole numbers below a thousand million in full, others with four digits. */
static void test_readable_numbers(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    /* 2 x 1024^3 FLOPs take 2147.483648 us, 3 x 1024^2 x 2 bytes 62.91456. */
    const struct roof_prediction p =
        predict(ROOF_OPERATOR_GEMM, SHAPE(.m = 1024, .n = 1024, .k = 1024), device);
    struct roof_text text =
        one_row(ROOF_OUTPUT_MARKDOWN, ROOF_OPERATOR_GEMM,
                "flops,bytes,time_us,memory_time_us,peak_tflops,network_time_us", &p);
    expect_end(&text, "\n| 2.147e+09 | 6291456 | 2147 | 62.91 | 1 | - |\n");
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* Text and Markdown show a selection, machines get all. */
static void test_selections(void **unused)
{
    (void)unused;
    static const enum roof_table_kind kinds[] = {ROOF_TABLE_PREDICTIONS, ROOF_TABLE_RECOMMENDATIONS,
                                                 ROOF_TABLE_HARDWARE, ROOF_TABLE_PRECISIONS};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        size_t counts[COUNT(outputs)];
        for (size_t o = 0; o < COUNT(outputs); o++) {
            counts[o] = open_table(outputs[o], kinds[k], ROOF_OPERATOR_GEMM, NULL).columns.count;
        }
        assert_int_equal(counts[ROOF_OUTPUT_TEXT], counts[ROOF_OUTPUT_MARKDOWN]);
        assert_int_equal(counts[ROOF_OUTPUT_JSON], counts[ROOF_OUTPUT_CSV]);
        assert_int_equal(counts[ROOF_OUTPUT_JSON], counts[ROOF_OUTPUT_NDJSON]);
        assert_true(counts[ROOF_OUTPUT_TEXT] < counts[ROOF_OUTPUT_CSV]);
        assert_true(counts[ROOF_OUTPUT_TEXT] >= 5);
    }
    static const char heading[] =
        "| rank | precision | method | speedup | accuracy_loss | time_us | reason |\n";
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_table table =
        open_table(ROOF_OUTPUT_MARKDOWN, ROOF_TABLE_RECOMMENDATIONS, ROOF_OPERATOR_GEMM, NULL);
    roof_table_begin(&table, &text);
    assert_true(strncmp(text.data, heading, strlen(heading)) == 0);
    roof_text_free(&text);
}

/* In a text table, a cell begins or ends in the column in which its heading does. */
static void test_alignment(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_table table =
        open_table(ROOF_OUTPUT_TEXT, ROOF_TABLE_PREDICTIONS, ROOF_OPERATOR_GEMM, NULL);
    roof_table_begin(&table, &text);
    for (int64_t m = 1; m <= 1000; m *= 10) {
        const struct roof_prediction p =
            predict(ROOF_OPERATOR_GEMM, SHAPE(.m = m, .n = 64, .k = 100), device);
        roof_table_prediction(&table, &text, &p);
    }
    roof_table_end(&table, &text);
    assert_true(strncmp(text.data, "hardware ", 9) == 0);
    const size_t header = strcspn(text.data, "\n");
    size_t headings = 0;
    for (size_t start = 0; start < header; headings++) {
        const size_t end = start + strcspn(text.data + start, " \n");
        for (const char *row = text.data + header + 1; *row != '\0';
             row += strcspn(row, "\n") + 1) {
            const size_t length = strcspn(row, "\n");
            const bool left =
                start < length && row[start] != ' ' && (start == 0 || row[start - 1] == ' ');
            const bool right =
                end <= length && row[end - 1] != ' ' && (end == length || row[end] == ' ');
            if (!left && !right) {
                fail_msg("heading %zu in:\n%s", headings, text.data);
            }
        }
        start = end + strspn(text.data + end, " ");
    }
    assert_int_equal(headings, table.columns.count);
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* Devices, formats, operators. */
static void test_list_tables(void **unused)
{
    (void)unused;
    struct roof_accuracy accuracy;
    assert_int_equal(roof_accuracy_load(&accuracy, NULL), ROOF_OK);
    struct roof_hardware *const devices[] = {load_device("gb10"), load_device("a100"),
                                             parse_device(SYNTHETIC)};
    for (size_t o = 0; o < COUNT(outputs); o++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_table table =
            open_table(outputs[o], ROOF_TABLE_HARDWARE, ROOF_OPERATOR_GEMM, NULL);
        roof_table_begin(&table, &text);
        for (size_t i = 0; i < COUNT(devices); i++) {
            roof_table_hardware(&table, &text, devices[i]);
        }
        roof_table_end(&table, &text);
        check_table(outputs[o], &text, COUNT(devices));
        assert_non_null(strstr(text.data, "gb10"));
        roof_text_clear(&text);

        table = open_table(outputs[o], ROOF_TABLE_PRECISIONS, ROOF_OPERATOR_GEMM, NULL);
        roof_table_begin(&table, &text);
        for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
            const struct roof_precision_entry entry = {(enum roof_precision)p, &accuracy};
            roof_table_precision(&table, &text, &entry);
        }
        roof_table_end(&table, &text);
        check_table(outputs[o], &text, ROOF_PRECISION_COUNT);
        roof_text_clear(&text);

        table = open_table(outputs[o], ROOF_TABLE_OPERATORS, ROOF_OPERATOR_GEMM, NULL);
        roof_table_begin(&table, &text);
        for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
            roof_table_operator(&table, &text, roof_operator_row((enum roof_operator)op));
        }
        roof_table_end(&table, &text);
        check_table(outputs[o], &text, ROOF_OPERATOR_COUNT);
        roof_text_free(&text);
    }
    for (size_t i = 0; i < COUNT(devices); i++) {
        roof_hardware_free(devices[i]);
    }
    roof_accuracy_free(&accuracy);
}

/* Unknown figures of a device are absent or empty; the peak of a fallback is not its own. */
static void test_hardware_row(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    static const struct {
        const char *columns;
        const char *csv;
    } cases[] = {
        {"id,basis,bandwidth_gb_s", "synthetic,user,100"},
        {"fp16_tflops,fp8_e4m3_tflops,int8_tflops,nvfp4_tflops", "1,2,2,4"},
        {"int4_tflops,id", ",synthetic"},
        {"memory_nominal_gb,memory_capacity_bytes,tdp_w", ",,"},
        {"vendor,architecture", ","},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_text text = device_row(ROOF_OUTPUT_CSV, cases[i].columns, device);
        const char *const row = strchr(text.data, '\n') + 1;
        assert_int_equal(strlen(row), strlen(cases[i].csv) + 1);
        assert_memory_equal(row, cases[i].csv, strlen(cases[i].csv));
        roof_text_free(&text);
    }
    roof_hardware_free(device);
}

static void test_unknown_texts_are_absent(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC); /* no vendor, no architecture */
    struct roof_text text = device_row(ROOF_OUTPUT_NDJSON, NULL, device);
    struct roof_json *const json = parse(text.data, text.length);
    assert_null(roof_json_get(roof_json_root(json), "tdp_w"));
    assert_null(roof_json_get(roof_json_root(json), "vendor"));
    assert_null(roof_json_get(roof_json_root(json), "architecture"));
    roof_json_free(json);
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* nvfp4 has 4.5 bits: 4 and a byte per 16, and 4 bytes per tensor. */
static void test_precision_row(void **unused)
{
    (void)unused;
    struct roof_accuracy accuracy;
    assert_int_equal(roof_accuracy_load(&accuracy, NULL), ROOF_OK);
    const struct roof_precision_entry entry = {P(NVFP4), &accuracy};
    struct roof_text text = precision_row(
        ROOF_OUTPUT_CSV,
        "name,element_bits,block_elements,block_bytes,bits_per_element,bytes_per_element,"
        "tensor_bytes,channel_bytes,accuracy_loss",
        &entry);
    assert_non_null(strstr(text.data, "\nnvfp4,4,16,9,4.5,0.5625,4,0,1-2%\n"));
    roof_text_free(&text);
    static const struct {
        enum roof_precision precision;
        enum roof_output output;
        const char *columns;
        const char *end; /* the last line */
    } cases[] = {
        {P(INT8_CHANNEL), ROOF_OUTPUT_CSV, "bytes_per_element,channel_bytes", "\n1,4\n"},
        {P(INT4), ROOF_OUTPUT_CSV, "fallbacks", "\nint8 fp16 bf16 fp32\n"},
        {P(INT2), ROOF_OUTPUT_CSV, "fallbacks", "\nint4 int8 fp16 bf16 fp32\n"},
        {P(FP64), ROOF_OUTPUT_CSV, "name,fallbacks,code_book,alias", "\nfp64,,,\n"},
        {P(INT4), ROOF_OUTPUT_NDJSON, "fallbacks",
         "{\"fallbacks\":[\"int8\", \"fp16\", \"bf16\", \"fp32\"]}\n"},
        {P(TF32), ROOF_OUTPUT_NDJSON, "fallbacks,code_book", "{\"fallbacks\":[\"fp32\"]}\n"},
        {P(FP64), ROOF_OUTPUT_NDJSON, "name,fallbacks", "{\"name\":\"fp64\"}\n"},
        {P(NVFP4), ROOF_OUTPUT_NDJSON, "code_book",
         "{\"code_book\":[0, 0.5, 1, 1.5, 2, 3, 4, 6]}\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_precision_entry row = {cases[i].precision, &accuracy};
        text = precision_row(cases[i].output, cases[i].columns, &row);
        expect_end(&text, cases[i].end);
        roof_text_free(&text);
    }
    roof_accuracy_free(&accuracy);
}

/* --- text for people ----------------------------------------------------------------------- */

static void expect(const struct roof_text *text, const char *part)
{
    if (strstr(text->data, part) == NULL) {
        fail_msg("'%s' is not in:\n%s", part, text->data);
    }
}

static void test_text_of_gemv(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb10 = load_device("gb10");
    struct roof_hardware *const spark = load_device("dgx-spark");
    struct roof_prediction p = predict(ROOF_OPERATOR_GEMV, SHAPE(.n = 4096, .k = 4096), gb10);
    struct roof_text text = ROOF_TEXT_INIT;
    roof_report_text(&text, &p, NULL);
    expect(&text, "gemv n=4096 k=4096 on gb10: weights fp16, activations fp16, out fp16\n");
    expect(&text, "117 us"); /* 116.97 */
    expect(&text, "memory-bound");
    expect(&text, "33.57 MB at 287 GB/s");
    expect(&text, "33.55 MFLOP at 62 TFLOPS (fp16, matrix unit)");
    expect(&text, "0.9995");
    expect(&text, "ridge point 216");
    assert_null(strstr(text.data, "published"));
    expect(&text, "no kernels of a device like gb10 were measured\n");
    assert_null(strstr(text.data, "Why"));

    /* The device is as the documents specify it; the product has other figures. */
    roof_text_clear(&text);
    roof_report_text(&text, &p, &(struct roof_report_beside){.product = spark});
    expect(
        &text,
        "\nNote: gb10 has the figures of roofline's specification;\nfor the GPU that is sold, with "
        "273 GB/s and 124 TFLOPS FP16, use -H dgx-spark.\n");
    check_text(&text);

    /* Half of the bound, and twice as fast as it. */
    roof_text_clear(&text);
    roof_predict_measured(&p, 2 * p.time_s);
    roof_report_text(&text, &p, NULL);
    expect(&text, "measured");
    expect(&text, "50% of the bound");
    expect(&text, "143.5 GB/s"); /* half of 287 */
    assert_null(strstr(text.data, "below the bound"));
    roof_text_clear(&text);
    roof_predict_measured(&p, p.time_s / 2);
    roof_report_text(&text, &p, NULL);
    expect(&text, "The measured time is below the lower bound");
    check_text(&text);

    /* The published figures of this device are its own. */
    p = predict(ROOF_OPERATOR_GEMV, SHAPE(.n = 4096, .k = 4096), spark);
    roof_text_clear(&text);
    roof_report_text(&text, &p, &(struct roof_report_beside){.product = spark});
    assert_null(strstr(text.data, "published"));
    roof_text_free(&text);
    roof_hardware_free(gb10);
    roof_hardware_free(spark);
}

/* The text names the origin of an estimate that was not fitted to these kernels on this device. */
static void test_text_of_expected(void **unused)
{
    (void)unused;
    static const char *const none[] = {NULL};
    static const struct {
        enum roof_stack fit_stack, asked;
        enum roof_numerics numerics;
        enum roof_precision precision;
        const char *lent;
        bool inherited;
        const char *line; /* from the band on */
    } cases[] = {
        {ROOF_STACK_VLLM, ROOF_STACK_BEST, ROOF_NUMERICS_16BIT, P(FP16), NULL, false,
         "80% interval: 10 to 40 us; overhead-bound\n"},
        {ROOF_STACK_VLLM, ROOF_STACK_VLLM, ROOF_NUMERICS_16BIT, P(FP16), NULL, false,
         "80% interval: 10 to 40 us; overhead-bound\n"},
        {ROOF_STACK_BEST, ROOF_STACK_VLLM, ROOF_NUMERICS_16BIT, P(FP16), NULL, false,
         "80% interval: 10 to 40 us; overhead-bound\n"},
        {ROOF_STACK_VLLM, ROOF_STACK_SGLANG, ROOF_NUMERICS_16BIT, P(FP16), NULL, false,
         "80% interval: 8 to 50 us; overhead-bound;\n"
         "                              estimated from gemm kernels (16bit, vllm)\n"},
        {ROOF_STACK_TRTLLM, ROOF_STACK_BEST, ROOF_NUMERICS_W8A16, P(FP8_E4M3), NULL, false,
         "80% interval: 6.67 to 60 us; overhead-bound;\n"
         "                              estimated from gemm kernels (w8a16, trtllm)\n"},
        {ROOF_STACK_BEST, ROOF_STACK_BEST, ROOF_NUMERICS_W8A16, P(FP8_E4M3), NULL, false,
         "80% interval: 6.67 to 60 us; overhead-bound;\n"
         "                              estimated from gemm kernels (w8a16)\n"},
        {ROOF_STACK_VLLM, ROOF_STACK_BEST, ROOF_NUMERICS_16BIT, P(FP16), "other", false,
         "80% interval: 8.33 to 48 us; overhead-bound; estimated from other\n"},
        {ROOF_STACK_VLLM, ROOF_STACK_BEST, ROOF_NUMERICS_16BIT, P(FP16), NULL, true,
         "80% interval: 8.33 to 48 us; overhead-bound; estimated from kin\n"},
        {ROOF_STACK_VLLM, ROOF_STACK_BEST, ROOF_NUMERICS_16BIT, P(FP16), "other", true,
         "80% interval: 8.33 to 48 us; overhead-bound; estimated from other\n"},
    };
    struct roof_hardware *const device =
        parse_device("{\"id\": \"fast\", \"bandwidth_gb_s\": 1e7, \"sm_count\": 10, "
                     "\"boost_clock_mhz\": 1000, \"l2_bytes\": 1000000, "
                     "\"peak_tflops\": {\"fp16\": 1e9, \"fp8\": 1e9}}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_kernel_fit fit = {.kernel = ROOF_KERNEL_GEMM,
                                      .stack = cases[i].fit_stack,
                                      .numerics = cases[i].numerics,
                                      .device = cases[i].lent == NULL ? "kin" : cases[i].lent,
                                      .lent = cases[i].lent,
                                      .low = 0.5,
                                      .high = 2};
        struct roof_calibration calibration = {.id = "kin",
                                               .attributions = none,
                                               .inherited = cases[i].inherited,
                                               .fit = &fit,
                                               .count = 1};
        size_t count = 0;
        const struct roof_parameter *const row = roof_kernel_parameters(fit.kernel, &count);
        for (size_t k = 0; k < count; k++) { /* a launch of 20 us, and nothing else */
            fit.parameter[k] = strstr(row[k].key, "clocks") != NULL ? 0 : 1e12;
        }
        fit.parameter[0] = 20000;
        assert_string_equal(row[0].key, "launch_clocks");
        struct roof_workload w = ROOF_WORKLOAD_INIT;
        struct roof_prediction p;
        struct roof_text text = ROOF_TEXT_INIT;
        w.op = ROOF_OPERATOR_GEMM;
        w.shape = SHAPE(.m = 1, .n = 64, .k = 64);
        w.formats.precision = cases[i].precision;
        w.stack = cases[i].asked;
        device->calibration = &calibration;
        assert_int_equal(roof_predict(&p, &w, device, NULL), ROOF_OK);
        roof_report_text(&text, &p, NULL);
        expect(&text, "\n  expected      20 us         ");
        expect(&text, cases[i].line);
        const bool other = cases[i].fit_stack != ROOF_STACK_BEST &&
                           cases[i].asked != ROOF_STACK_BEST &&
                           cases[i].fit_stack != cases[i].asked;
        assert_int_equal(strstr(text.data, "\nNote: no kernels of sglang for this") != NULL, other);
        check_text(&text);
        roof_text_free(&text);
    }
    /* Three kernels, of which the second is from elsewhere. */
    struct roof_kernel_fit fits[] = {{.kernel = ROOF_KERNEL_BMM, .low = 0.5, .high = 2},
                                     {.kernel = ROOF_KERNEL_ACTIVATION, .low = 0.5, .high = 2}};
    struct roof_calibration calibration = {
        .id = "kin", .attributions = none, .fit = fits, .count = COUNT(fits)};
    for (size_t i = 0; i < COUNT(fits); i++) {
        for (size_t k = 0; k < ROOF_FIT_PARAMETERS_MAX; k++) {
            fits[i].parameter[k] = 1;
        }
    }
    fits[1].lent = fits[1].device = "other";
    device->calibration = &calibration;
    const struct roof_prediction p = predict(
        ROOF_OPERATOR_ATTENTION,
        SHAPE(.batch = 1, .heads = 4, .kv_heads = 2, .head_dim = 8, .query_len = 1, .kv_len = 10),
        device);
    struct roof_text text = ROOF_TEXT_INIT;
    roof_report_text(&text, &p, NULL);
    expect(&text, "-bound; estimated from other\n");
    roof_text_free(&text);
    device->calibration = NULL;
    roof_hardware_free(device);
}

static void test_text_of_fallbacks(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_prediction p =
        predict_in(ROOF_OPERATOR_GEMV, SHAPE(.n = 64, .k = 64), P(MXFP4), device);
    roof_report_text(&text, &p, NULL);
    expect(&text, "synthetic has no mxfp4 unit: the product is computed in fp16");
    roof_text_clear(&text);
    p = predict_in(ROOF_OPERATOR_GEMV, SHAPE(.n = 64, .k = 64), P(FP64), device);
    roof_report_text(&text, &p, NULL);
    expect(&text, "synthetic has no known peak for fp64");
    roof_text_clear(&text);
    p = predict(ROOF_OPERATOR_GEMV, SHAPE(.n = 64, .k = 64), device);
    roof_report_text(&text, &p, NULL);
    assert_null(strstr(text.data, "has no"));
    roof_text_free(&text);
    roof_hardware_free(device);
}

/* A look-up computes nothing, so nothing is computed at a format that the device lacks. */
static void test_text_without_flops(void **unused)
{
    (void)unused;
    static const enum roof_operator ops[] = {ROOF_OPERATOR_EMBEDDING, ROOF_OPERATOR_KV_APPEND,
                                             ROOF_OPERATOR_ALL_GATHER, ROOF_OPERATOR_ALL_TO_ALL};
    struct roof_hardware *const plain = parse_device(NO_VECTOR);
    for (size_t i = 0; i < COUNT(ops); i++) {
        const struct roof_prediction p = predict(ops[i], odd_shape(ops[i]), plain);
        struct roof_text text = ROOF_TEXT_INIT;
        roof_report_text(&text, &p, NULL);
        if (strstr(text.data, "computed at fp32") != NULL) {
            fail_msg("%s", text.data);
        }
        roof_text_free(&text);
    }
    roof_hardware_free(plain);
}

/* A group of one sends nothing: no rate without a number. */
static void test_text_of_a_group_of_one(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_prediction p =
        predict(ROOF_OPERATOR_ALL_REDUCE, SHAPE(.elements = 64, .devices = 1), device);
    struct roof_text text = ROOF_TEXT_INIT;
    roof_report_text(&text, &p, NULL);
    if (strstr(text.data, "at - ") != NULL) {
        fail_msg("%s", text.data);
    }
    roof_text_free(&text);
    roof_hardware_free(device);
}

static void test_text_of_every_operator(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb10 = load_device("gb10");
    struct roof_hardware *const spark = load_device("dgx-spark");
    struct roof_hardware *const devices[] = {parse_device(SYNTHETIC), parse_device(NO_VECTOR)};
    for (size_t d = 0; d < COUNT(devices); d++) {
        for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
            const enum roof_operator id = (enum roof_operator)op;
            struct roof_prediction p = predict(id, odd_shape(id), devices[d]);
            struct roof_trace why;
            assert_int_equal(roof_trace_prediction(&why, &p, NULL), ROOF_OK);
            struct roof_text text = ROOF_TEXT_INIT;
            roof_report_text(&text, &p, NULL);
            check_text(&text);
            expect(&text, roof_operator_row(id)->name);
            expect(&text, devices[d]->id);
            roof_text_clear(&text);
            roof_predict_measured(&p, 1e-3);
            roof_report_text(&text, &p,
                             &(struct roof_report_beside){.product = spark, .explanation = &why});
            check_text(&text);
            expect(&text, "\nWhy\n");
            for (size_t i = 0; i < why.count; i++) {
                expect(&text, why.step[i].result);
            }
            roof_text_free(&text);
            roof_trace_free(&why);
        }
        roof_hardware_free(devices[d]);
    }
    roof_hardware_free(gb10);
    roof_hardware_free(spark);
}

/* --- recommendations ----------------------------------------------------------------------- */

static struct roof_recommendation recommendation; /* large */

static enum roof_status recommend(const struct roof_workload *w, const struct roof_hardware *device,
                                  enum roof_accuracy_class max_loss)
{
    struct roof_accuracy accuracy;
    struct roof_recommend_options options = ROOF_RECOMMEND_INIT;
    assert_int_equal(roof_accuracy_load(&accuracy, NULL), ROOF_OK);
    options.max_loss = max_loss;
    const enum roof_status status =
        roof_recommend(&recommendation, w, device, &accuracy, &options, NULL);
    roof_accuracy_free(&accuracy);
    return status;
}

static struct roof_workload gemm(void)
{
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape = SHAPE(.m = 1, .n = 512, .k = 512);
    return w;
}

/* Some ranked, some rejected; all ranked; all rejected. */
static void test_recommendation_json(void **unused)
{
    (void)unused;
    static const enum roof_accuracy_class classes[] = {ROOF_ACCURACY_BELOW_1, ROOF_ACCURACY_2_TO_5,
                                                       ROOF_ACCURACY_NONE};
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_workload w = gemm();
    for (size_t c = 0; c < COUNT(classes); c++) {
        const enum roof_status status = recommend(&w, device, classes[c]);
        assert_int_equal(status, classes[c] == ROOF_ACCURACY_NONE ? ROOF_UNSATISFIED : ROOF_OK);
        struct roof_text text = ROOF_TEXT_INIT;
        roof_report_recommendation_json(&text, &recommendation, &no_reasons, NULL, w.op);
        check_text(&text);
        struct roof_json *const json = parse(text.data, text.length);
        const roof_json_value *const root = roof_json_root(json);
        const roof_json_value *const lists[] = {roof_json_get(root, "candidates"),
                                                roof_json_get(root, "rejected")};
        size_t i = 0;
        for (size_t l = 0; l < COUNT(lists); l++) {
            assert_true(roof_json_is_array(lists[l]));
            for (const roof_json_value *item = roof_json_first(lists[l]); item != NULL;
                 item = roof_json_next(item)) {
                const struct roof_candidate *const candidate = &recommendation.candidate[i++];
                double number = 0;
                check_values(&candidate->prediction, item);
                assert_string_equal(roof_json_string(roof_json_get(item, "precision")),
                                    roof_format(candidate->format)->name);
                assert_string_equal(roof_json_string(roof_json_get(item, "method")),
                                    candidate->method);
                assert_string_equal(roof_json_string(roof_json_get(item, "accuracy_loss")),
                                    roof_accuracy_name(candidate->loss));
                assert_string_equal(roof_json_string(roof_json_get(item, "reason")),
                                    candidate->reason);
                assert_true(roof_json_number(&number, roof_json_get(item, "speedup")));
                assert_near(number, candidate->speedup, EXACT);
                if (l == 0) {
                    assert_string_equal(roof_json_key(roof_json_first(item)), "rank");
                    assert_true(roof_json_number(&number, roof_json_get(item, "rank")));
                    assert_near(number, (double)i, EXACT);
                } else {
                    assert_null(roof_json_get(item, "rank"));
                }
            }
            assert_int_equal(i, l == 0 ? recommendation.count
                                       : recommendation.count + recommendation.rejected);
        }
        assert_int_equal(i, 7);
        roof_json_free(json);
        roof_text_free(&text);
    }
    roof_hardware_free(device);
}

static void test_recommendation_text(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb10 = load_device("gb10");
    struct roof_hardware *const spark = load_device("dgx-spark");
    const struct roof_workload w = gemm();
    struct roof_text text = ROOF_TEXT_INIT;
    assert_int_equal(recommend(&w, gb10, ROOF_ACCURACY_1_TO_2), ROOF_OK);
    roof_report_recommendation_text(&text, &recommendation, &no_reasons, &w, spark,
                                    ROOF_RANKING_IDEAL);
    check_text(&text);
    expect(&text, "gemm m=1 n=512 k=512 on gb10\n");
    expect(&text, "Use nvfp4 (native_fp4): ");
    expect(&text, "over fp16, accuracy loss 1-2%.");
    expect(&text, "\nRejected (speedups by lower bounds)\n");
    expect(&text, "-H dgx-spark");
    for (size_t i = 0; i < recommendation.count + recommendation.rejected; i++) {
        expect(&text, recommendation.candidate[i].reason);
    }
    roof_text_clear(&text);
    assert_int_equal(recommend(&w, gb10, ROOF_ACCURACY_NONE), ROOF_UNSATISFIED);
    roof_report_recommendation_text(&text, &recommendation, &no_reasons, &w, NULL,
                                    ROOF_RANKING_IDEAL);
    check_text(&text);
    expect(&text, "No format satisfies the constraints.");
    for (size_t i = 0; i < recommendation.rejected; i++) {
        expect(&text, recommendation.candidate[i].reason);
    }
    roof_text_free(&text);
    roof_hardware_free(gb10);
    roof_hardware_free(spark);
}

static void test_recommendation_tables(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_workload w = gemm();
    assert_int_equal(recommend(&w, device, ROOF_ACCURACY_BELOW_1), ROOF_OK);
    const size_t total = recommendation.count + recommendation.rejected;
    for (size_t o = 0; o < COUNT(outputs); o++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_table table = open_table(outputs[o], ROOF_TABLE_RECOMMENDATIONS, w.op, NULL);
        roof_table_begin(&table, &text);
        for (size_t i = 0; i < total; i++) {
            roof_table_candidate(&table, &text, &recommendation.candidate[i]);
        }
        roof_table_end(&table, &text);
        check_table(outputs[o], &text, total);
        if (outputs[o] == ROOF_OUTPUT_CSV) { /* the rank, a prediction, what was said of it */
            static struct record header;
            static struct record row;
            const char *p = read_record(&header, text.data);
            assert_string_equal(header.field[0], "rank");
            assert_string_equal(header.field[1], "schema");
            assert_string_equal(header.field[header.count - 8], "precision");
            assert_string_equal(header.field[header.count - 7], "method");
            assert_string_equal(header.field[header.count - 6], "speedup");
            assert_string_equal(header.field[header.count - 5], "expected_speedup");
            assert_string_equal(header.field[header.count - 4], "accuracy_loss");
            assert_string_equal(header.field[header.count - 3], "reason");
            for (size_t i = 0; i < total; i++) {
                const struct roof_candidate *const c = &recommendation.candidate[i];
                p = read_record(&row, p);
                assert_int_equal(atoi(row.field[0]), c->rank); /* empty when rejected */
                assert_int_equal(row.field[0][0] == '\0', c->rank == 0);
                assert_string_equal(row.field[row.count - 3], c->reason);
                assert_string_equal(row.field[row.count - 5], ""); /* no calibration */
                assert_near(strtod(row.field[row.count - 6], NULL), c->speedup, EXACT);
            }
        }
        roof_text_free(&text);
    }
    roof_hardware_free(device);
}

/* --- one device, format, operator ---------------------------------------------------------- */

/* Also when there is none. */
static void assert_same_text(const char *a, const char *b)
{
    assert_string_equal(a == NULL ? "(none)" : a, b == NULL ? "(none)" : b);
}

/* The JSON of a device can be read again and gives the same device. */
static void check_round_trip(const struct roof_hardware *device,
                             const struct roof_hardware *product)
{
    struct roof_text text = ROOF_TEXT_INIT;
    struct roof_hardware *again = NULL;
    struct roof_error error = {0};
    roof_report_hardware(&text, true, device, product);
    check_text(&text);
    if (roof_hardware_parse(&again, text.data, text.length, device->id, &error) != ROOF_OK) {
        fail_msg("%s:%d:%d: %s", device->id, error.line, error.column, error.message);
    }
    if (roof_hardware_differs(device, again)) {
        fail_msg("%s is not the same when it is read back", device->id);
    }
    assert_string_equal(again->id, device->id);
    assert_string_equal(again->name, device->name);
    assert_string_equal(again->vendor, device->vendor);
    assert_string_equal(again->architecture, device->architecture);
    assert_int_equal(again->basis, device->basis);
    for (int i = 0; i < ROOF_FIGURE_COUNT; i++) {
        const struct roof_figure *const a = &device->figure[i];
        const struct roof_figure *const b = &again->figure[i];
        assert_int_equal(a->confidence, b->confidence);
        assert_same_text(a->source, b->source);
        assert_same_text(a->note, b->note);
    }
    roof_hardware_free(again);
    roof_text_free(&text);
}

static void test_every_device(void **unused)
{
    (void)unused;
    struct roof_text ids = ROOF_TEXT_INIT;
    size_t count = 0;
    assert_int_equal(roof_hardware_ids(&ids, &count, NULL, NULL), ROOF_OK);
    const char *id = ids.data;
    for (size_t i = 0; i < count; i++) {
        struct roof_hardware *const device = load_device(id);
        struct roof_hardware *const product =
            device->product == NULL ? NULL : load_device(device->product);
        check_round_trip(device, product);
        check_round_trip(device, NULL);
        struct roof_text text = ROOF_TEXT_INIT;
        roof_report_hardware(&text, false, device, product);
        check_text(&text);
        expect(&text, id);
        roof_text_free(&text);
        roof_hardware_free(product);
        roof_hardware_free(device);
        id += strlen(id) + 1;
    }
    roof_text_free(&ids);
}

static void test_text_of_a_device(void **unused)
{
    (void)unused;
    struct roof_hardware *const gb10 = load_device("gb10");
    struct roof_hardware *const spark = load_device("dgx-spark");
    struct roof_text text = ROOF_TEXT_INIT;
    roof_report_hardware(&text, false, gb10, spark);
    expect(&text, "287 GB/s");
    expect(&text, "published (dgx-spark): 273 GB/s");
    expect(&text, "the figures of roofline's specification");
    expect(&text, "b10"); /* its alias */
    expect(&text, "Ridge points");
    roof_text_clear(&text);
    roof_report_hardware(&text, false, gb10, NULL);
    assert_null(strstr(text.data, "published ("));
    roof_text_free(&text);
    roof_hardware_free(gb10);
    roof_hardware_free(spark);
}

static void test_every_format(void **unused)
{
    (void)unused;
    struct roof_accuracy accuracy;
    assert_int_equal(roof_accuracy_load(&accuracy, NULL), ROOF_OK);
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const enum roof_precision precision = (enum roof_precision)p;
        const char *const name = roof_format(precision)->name;
        struct roof_text text = ROOF_TEXT_INIT;
        roof_report_precision(&text, false, precision, &accuracy);
        check_text(&text);
        expect(&text, name);
        roof_text_clear(&text);

        roof_report_precision(&text, true, precision, &accuracy);
        check_text(&text);
        struct roof_json *const json = parse(text.data, text.length);
        const roof_json_value *const root = roof_json_root(json);
        double bits = 0;
        assert_true(roof_json_number(&bits, roof_json_get(root, "bits_per_element")));
        assert_near(bits, roof_precision_bits(precision), EXACT);
        assert_string_equal(roof_json_string(roof_json_get(root, "name")), name);
        assert_string_equal(roof_json_string(roof_json_get(root, "accuracy_loss")),
                            roof_accuracy_name(accuracy.of[p].loss));
        roof_json_free(json);
        roof_text_free(&text);
    }
    roof_accuracy_free(&accuracy);
}

static void test_every_operator(void **unused)
{
    (void)unused;
    struct roof_text text = ROOF_TEXT_INIT;
    for (int op = 0; op < ROOF_OPERATOR_COUNT; op++) {
        const struct roof_operator_row *const row = roof_operator_row((enum roof_operator)op);
        for (int as_json = 0; as_json <= 1; as_json++) {
            roof_text_clear(&text);
            roof_report_operator(&text, as_json == 1, (enum roof_operator)op);
            check_text(&text);
            expect(&text, row->name);
            expect(&text, row->summary);
            for (int d = 0; d < row->dim_count; d++) {
                const struct roof_input *const input = &roof_dimensions[row->dims[d]];
                expect(&text, input->option);
                if (as_json == 0) {
                    expect(&text, roof_dimension_help((enum roof_operator)op, row->dims[d]));
                }
            }
            if (as_json == 1) {
                roof_json_free(parse(text.data, text.length));
            }
        }
    }
    roof_text_clear(&text);
    roof_report_operator(&text, false, ROOF_OPERATOR_GEMM);
    expect(&text, " -m -n -k [--batch]\n"); /* what must be given, what may be */
    roof_report_operator(&text, false, ROOF_OPERATOR_SSD);
    expect(&text, "groups of heads that share B and C"); /* not KV heads */
    roof_text_free(&text);
}

/* --- out of memory ------------------------------------------------------------------------- */

/* A buffer that failed stays failed, whatever is written into it. */
static void test_failed_buffer(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = parse_device(SYNTHETIC);
    const struct roof_workload w = gemm();
    const struct roof_prediction p =
        predict(ROOF_OPERATOR_ATTENTION, SHAPE(.heads = 1, .head_dim = 1, .kv_len = 1), device);
    struct roof_accuracy accuracy;
    struct roof_trace why;
    assert_int_equal(roof_accuracy_load(&accuracy, NULL), ROOF_OK);
    assert_int_equal(roof_trace_prediction(&why, &p, NULL), ROOF_OK);
    assert_int_equal(recommend(&w, device, ROOF_ACCURACY_BELOW_1), ROOF_OK);
    for (int begun = 0; begun <= 1; begun++) {
        struct roof_text text = ROOF_TEXT_INIT;
        if (begun == 1) {
            roof_text_put(&text, "begun");
        }
        const size_t length = text.length;
        text.failed = true;
        roof_report_json(&text, &p,
                         &(struct roof_report_beside){.explanation = &why, .tiling = true});
        roof_report_text(&text, &p,
                         &(struct roof_report_beside){.explanation = &why, .tiling = true});
        roof_report_recommendation_json(&text, &recommendation, &no_reasons, NULL, w.op);
        roof_report_recommendation_text(&text, &recommendation, &no_reasons, &w, NULL,
                                        ROOF_RANKING_IDEAL);
        for (size_t o = 0; o < COUNT(outputs); o++) {
            struct roof_table table =
                open_table(outputs[o], ROOF_TABLE_PREDICTIONS, ROOF_OPERATOR_ATTENTION, NULL);
            roof_table_begin(&table, &text);
            roof_table_prediction(&table, &text, &p);
            roof_table_end(&table, &text);
        }
        for (int as_json = 0; as_json <= 1; as_json++) {
            roof_report_hardware(&text, as_json == 1, device, NULL);
            roof_report_precision(&text, as_json == 1, P(NVFP4), &accuracy);
            roof_report_operator(&text, as_json == 1, ROOF_OPERATOR_GEMM);
        }
        assert_true(text.failed);
        assert_int_equal(text.length, length);
        roof_text_free(&text);
    }
    roof_trace_free(&why);
    roof_accuracy_free(&accuracy);
    roof_hardware_free(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_record),
        cmocka_unit_test(test_keys_of_gemm),
        cmocka_unit_test(test_gemm_in_full),
        cmocka_unit_test(test_values_read_back),
        cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_refused_columns),
        cmocka_unit_test(test_json_array),
        cmocka_unit_test(test_prediction_tables),
        cmocka_unit_test(test_list_tables),
        cmocka_unit_test(test_hardware_row),
        cmocka_unit_test(test_unknown_texts_are_absent),
        cmocka_unit_test(test_precision_row),
        cmocka_unit_test(test_text_of_gemv),
        cmocka_unit_test(test_text_of_expected),
        cmocka_unit_test(test_text_of_fallbacks),
        cmocka_unit_test(test_text_without_flops),
        cmocka_unit_test(test_text_of_a_group_of_one),
        cmocka_unit_test(test_text_of_every_operator),
        cmocka_unit_test(test_recommendation_json),
        cmocka_unit_test(test_recommendation_text),
        cmocka_unit_test(test_recommendation_tables),
        cmocka_unit_test(test_every_device),
        cmocka_unit_test(test_text_of_a_device),
        cmocka_unit_test(test_every_format),
        cmocka_unit_test(test_every_operator),
        cmocka_unit_test(test_failed_buffer),
        cmocka_unit_test(test_dimensions_not_given),
        cmocka_unit_test(test_readable_numbers),
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
