// SPDX-License-Identifier: MIT
/* Pages: one document that stands alone, text that stays text, and the figures of every size that
 * the sliders stop at. What a reader sees of it is tested in a browser (tests/browser.py). */
#include "models.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "catalog/data.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define DATA "<script type=\"application/json\" id=\"data\">"
#define SIZE_MAX_BYTES 1500000

/* Text that would be markup, were it not escaped; U+2028 ends lines of old scripts. */
#define HOSTILE "</script><!--<script>\"'&\\\xe2\x80\xa8{{data}}</title>"

static const char policy[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">";

/* A page and its data. */
struct made {
    struct roof_text text;
    struct roof_json *json;
    const roof_json_value *root;
};

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        count++;
    }
    return count;
}

static struct made make_page(const struct roof_chart *chart, const struct roof_page_sizes *sizes)
{
    struct made page = {.text = ROOF_TEXT_INIT};
    struct roof_error error = {0};
    if (roof_chart_page(&page.text, chart, sizes, &error) != ROOF_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(strlen(page.text.data), page.text.length);
    const char *const from = strstr(page.text.data, DATA) + strlen(DATA);
    const char *const to = strstr(from, "</script>");
    if (roof_json_parse(&page.json, from, (size_t)(to - from), "page", &error) != ROOF_OK) {
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
    }
    page.root = roof_json_root(page.json);
    return page;
}

static void free_page(struct made *page)
{
    roof_json_free(page->json);
    roof_text_free(&page->text);
}

static const roof_json_value *item(const roof_json_value *array, size_t at)
{
    const roof_json_value *value = roof_json_first(array);
    for (; at > 0; at--) {
        value = roof_json_next(value);
    }
    assert_non_null(value);
    return value;
}

/* The member of a row that its keys name. */
static const roof_json_value *member(const struct made *page, const char *keys,
                                     const roof_json_value *row, const char *key)
{
    const roof_json_value *const names = roof_json_get(page->root, keys);
    assert_int_equal(roof_json_count(names), roof_json_count(row));
    for (size_t i = 0; i < roof_json_count(names); i++) {
        if (strcmp(roof_json_string(item(names, i)), key) == 0) {
            return item(row, i);
        }
    }
    fail_msg("no key %s", key);
    return NULL;
}

static const char *text_of(const struct made *page, const char *keys, const roof_json_value *row,
                           const char *key)
{
    const char *const text = roof_json_string(member(page, keys, row, key));
    return text == NULL ? "null" : text;
}

static struct roof_chart chart_of(const struct roof_hardware *hardware)
{
    struct roof_chart chart;
    roof_chart_init(&chart);
    assert_int_equal(roof_chart_add_roof(&chart, hardware, NULL, false, NULL), ROOF_OK);
    return chart;
}

static void add_gemm(struct roof_chart *chart, const struct roof_hardware *hardware, int64_t m,
                     const char *name, const char *group)
{
    const struct roof_workload w =
        workload(ROOF_OPERATOR_GEMM, (struct roof_shape){.m = m, .n = 1000, .k = 1000});
    struct roof_prediction p;
    assert_int_equal(roof_predict(&p, &w, hardware, NULL), ROOF_OK);
    assert_int_equal(roof_chart_add(chart, &p, name, group, 1, ROOF_UNKNOWN, NULL), ROOF_OK);
}

/* --- the document -------------------------------------------------------------------------- */

static void test_alone(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = parse_device(SYNTHETIC);
    struct roof_chart chart = chart_of(hardware);
    add_gemm(&chart, hardware, 1, "one", "some");
    roof_chart_name(chart.title, "A chart");
    struct made page = make_page(&chart, NULL);
    static const char *const once[] = {"<!DOCTYPE html>",
                                       "<html lang=\"en\">",
                                       policy,
                                       "<title>A chart</title>",
                                       "<h1>A chart</h1>",
                                       "Copyright (c) 2022 Leon Sorokin",
                                       "THE SOFTWARE IS PROVIDED \"AS IS\"",
                                       "</html>"};
    for (size_t i = 0; i < COUNT(once); i++) {
        if (occurrences(page.text.data, once[i]) != 1) {
            fail_msg("%zu times: %s", occurrences(page.text.data, once[i]), once[i]);
        }
    }
    static const char *const never[] = {"{{",   "}}<",     "<link",
                                        "<img", "<iframe", "@import",
                                        "url(", " src=",   "http-equiv=\"refresh"};
    for (size_t i = 0; i < COUNT(never); i++) {
        if (strstr(page.text.data, never[i]) != NULL) {
            fail_msg("%s", strstr(page.text.data, never[i]));
        }
    }
    assert_int_equal(occurrences(page.text.data, "<script"), 3);
    assert_int_equal(occurrences(page.text.data, "</script"), 3);
    /* The files are in it as they stand. */
    static const char *const files[] = {"web/page.js", "web/page.css", "web/uPlot.iife.min.js",
                                        "web/uPlot.min.css"};
    for (size_t i = 0; i < COUNT(files); i++) {
        assert_int_equal(occurrences(page.text.data, roof_data_file(files[i])->text), 1);
    }
    free_page(&page);
    roof_chart_free(&chart);
    roof_hardware_free(hardware);
}

static void test_hostile_text(void **state)
{
    (void)state;
    struct roof_text device = ROOF_TEXT_INIT;
    roof_text_put(&device, "{\"id\": \"h\", \"name\": ");
    roof_json_quote(&device, HOSTILE);
    roof_text_put(&device, ", \"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 1}}");
    struct roof_hardware *const hardware = parse_device(device.data);
    struct roof_chart chart = chart_of(hardware);
    add_gemm(&chart, hardware, 1, HOSTILE "1", HOSTILE "2");
    add_gemm(&chart, hardware, 2, "not UTF-8: \xff", "\xc3(");
    roof_chart_name(chart.title, HOSTILE);
    assert_int_equal(roof_chart_add_line(&chart, HOSTILE "=1TFLOPS", NULL), ROOF_OK);
    struct made page = make_page(&chart, NULL);
    assert_int_equal(occurrences(page.text.data, "<script"), 3);
    assert_int_equal(occurrences(page.text.data, "</script"), 3);
    assert_int_equal(occurrences(page.text.data, "</title"), 1);
    static const char escaped[] = "&lt;/script&gt;&lt;!--&lt;script&gt;&quot;&#39;&amp;\\"
                                  "\xe2\x80\xa8{{data}}&lt;/title&gt;";
    struct roof_text heading = ROOF_TEXT_INIT;
    roof_text_printf(&heading, "<h1>%s</h1>", escaped);
    assert_int_equal(occurrences(page.text.data, heading.data), 1);
    roof_text_clear(&heading);
    roof_text_printf(&heading, "<tr><td>%s1</td><td>%s2</td>", escaped, escaped);
    assert_int_equal(occurrences(page.text.data, heading.data), 1);
    assert_int_equal(occurrences(page.text.data, "<td>not UTF-8: \xef\xbf\xbd</td>"), 1);
    /* In the data it is the same text again. */
    const roof_json_value *const rows = roof_json_get(page.root, "rows");
    assert_string_equal(roof_json_string(roof_json_get(page.root, "title")), HOSTILE);
    assert_string_equal(text_of(&page, "row_keys", item(rows, 0), "name"), HOSTILE "1");
    assert_string_equal(text_of(&page, "row_keys", item(rows, 1), "name"),
                        "not UTF-8: \xef\xbf\xbd");
    assert_string_equal(roof_json_string(item(roof_json_get(page.root, "groups"), 0)), HOSTILE "2");
    assert_string_equal(
        roof_json_string(roof_json_get(item(roof_json_get(page.root, "roofs"), 0), "name")),
        HOSTILE);
    assert_string_equal(
        roof_json_string(roof_json_get(item(roof_json_get(page.root, "lines"), 0), "name")),
        HOSTILE);
    roof_text_free(&heading);
    roof_text_free(&device);
    free_page(&page);
    roof_chart_free(&chart);
    roof_hardware_free(hardware);
}

/* --- the dots of a chart ------------------------------------------------------------------- */

/* 1000 x 1000 x m at 100 GB/s and 1 TFLOP/s, ridge point 10: 2e6 m FLOPs, and at m = 1 2.004 MB,
 * so 20.04 us and 2 / 2.004 FLOP/byte; at m = 100 2.4 MB, 200 MFLOP: 200 us, compute-bound. */
static void test_dots(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = parse_device(SYNTHETIC);
    struct roof_chart chart = chart_of(hardware);
    add_gemm(&chart, hardware, 1, "a", "first");
    add_gemm(&chart, hardware, 100, "b", "second");
    add_gemm(&chart, hardware, 1, "c", "first");
    add_gemm(&chart, hardware, 1, "a", "first"); /* the row is there */
    struct made page = make_page(&chart, NULL);
    const roof_json_value *const rows = roof_json_get(page.root, "rows");
    const roof_json_value *const series = roof_json_get(page.root, "series");
    assert_int_equal(roof_json_count(rows), 3);
    assert_int_equal(roof_json_count(series), 2);
    static const struct {
        const char *key;
        const char *text[2];
    } wanted[] = {
        {"name", {"a", "b"}},
        {"shape", {"gemm m=1 n=1000 k=1000 (fp16)", "gemm m=100 n=1000 k=1000 (fp16)"}},
        {"unit", {"fp16 matrix", "fp16 matrix"}},
        {"bound", {"memory", "compute"}},
        {"intensity", {"0.998 FLOP/byte", "83.33 FLOP/byte"}},
        {"attainable", {"0.0998 TFLOPS", "1 TFLOPS"}},
        {"time", {"20.04 us", "200 us"}},
        {"total", {"20.04 us", "200 us"}},
        {"expected", {"null", "null"}},
    };
    for (size_t i = 0; i < COUNT(wanted); i++) {
        /* Groups one after the other: a, c, then b. */
        assert_string_equal(text_of(&page, "row_keys", item(rows, 0), wanted[i].key),
                            wanted[i].text[0]);
        assert_string_equal(text_of(&page, "row_keys", item(rows, 2), wanted[i].key),
                            wanted[i].text[1]);
    }
    /* Series: a, c, a. */
    static const double order[] = {0, 1, 0};
    const roof_json_value *const point = item(roof_json_get(item(series, 0), "points"), 0);
    assert_int_equal(roof_json_count(item(point, 0)), 3);
    for (size_t i = 0; i < 3; i++) {
        double row = -1;
        assert_true(roof_json_number(&row, item(item(point, 0), i)));
        assert_true(row == order[i]);
        assert_true(roof_json_is_null(item(item(point, 1), i)));
    }
    assert_null(roof_json_get(page.root, "batch"));
    const roof_json_value *const used = roof_json_get(page.root, "used");
    assert_int_equal(roof_json_count(used), 1);
    assert_string_equal(roof_json_string(item(used, 0)), "fp16");
    free_page(&page);
    roof_chart_free(&chart);

    struct roof_chart_ceilings wanted_ceilings; /* chosen ones are all shown */
    roof_chart_init(&chart);
    assert_int_equal(roof_chart_parse_ceilings(&wanted_ceilings, "fp8", NULL), ROOF_OK);
    assert_int_equal(roof_chart_add_roof(&chart, hardware, &wanted_ceilings, false, NULL), ROOF_OK);
    add_gemm(&chart, hardware, 1, "a", "first");
    page = make_page(&chart, NULL);
    assert_int_equal(roof_json_count(roof_json_get(page.root, "used")), 0);
    free_page(&page);
    roof_chart_free(&chart);
    roof_hardware_free(hardware);
}

/* --- the sizes of a model ------------------------------------------------------------------ */

static struct roof_page_sizes sizes_of(const struct roof_model *model, int64_t batch,
                                       int64_t context)
{
    struct roof_page_sizes sizes = {.model = model};
    sizes.scenario = asked(ROOF_PHASE_DECODE, batch, context);
    sizes.phase[ROOF_PHASE_DECODE] = sizes.phase[ROOF_PHASE_PREFILL] = true;
    return sizes;
}

static void check_stops(const struct made *page, const char *key, const char *wanted, size_t at)
{
    struct roof_text text = ROOF_TEXT_INIT;
    const roof_json_value *const axis = roof_json_get(page->root, key);
    const roof_json_value *const values = roof_json_get(axis, "values");
    double number = 0;
    for (size_t i = 0; i < roof_json_count(values); i++) {
        assert_true(roof_json_number(&number, item(values, i)));
        roof_text_printf(&text, "%s%.0f", i == 0 ? "" : " ", number);
    }
    assert_string_equal(text.data, wanted);
    assert_true(roof_json_number(&number, roof_json_get(axis, "at")));
    assert_int_equal((size_t)number, at);
    roof_text_free(&text);
}

static void test_stops(void **state)
{
    (void)state;
    static const struct {
        const char *model; /* llama-3-8b was made for 8192 tokens, gpt-2 for 1024 */
        int64_t batch, context;
        const char *batches;
        size_t batch_at;
        const char *contexts;
        size_t context_at;
    } cases[] = {
        {"llama-3-8b", 0, 0, "1 2 4 8 16 32 64 128 256 512", 0, "512 1024 2048 4096 8192", 3},
        {"llama-3-8b", 3, 3000, "1 2 3 4 8 16 32 64 128 256 512", 2, "512 1024 2048 3000 4096 8192",
         3},
        {"llama-3-8b", 700, 100, "1 2 4 8 16 32 64 128 256 512 700", 10,
         "100 512 1024 2048 4096 8192", 0},
        {"llama-3-8b", 2048, 10000, "1 2 4 8 16 32 64 128 256 512 1024 2048", 11,
         "512 1024 2048 4096 8192 10000", 5},
        {"gpt-2", 1, 1000, "1 2 4 8 16 32 64 128 256 512", 0, "512 1000 1024", 1},
    };
    struct roof_hardware *const hardware = load_device("h100-sxm");
    struct roof_chart chart = chart_of(hardware);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_model *const model = load(cases[i].model);
        const struct roof_page_sizes sizes = sizes_of(model, cases[i].batch, cases[i].context);
        struct made page = make_page(&chart, &sizes);
        check_stops(&page, "batch", cases[i].batches, cases[i].batch_at);
        check_stops(&page, "context", cases[i].contexts, cases[i].context_at);
        free_page(&page);
        roof_model_free(model);
    }
    roof_chart_free(&chart);
    roof_hardware_free(hardware);
}

/* The figures of a point are those of that pass: rows by their share of the time. */
static void check_point(const struct made *page, const roof_json_value *point,
                        const struct roof_model_prediction *r)
{
    char text[ROOF_QUANTITY_SIZE];
    size_t order[ROOF_GRAPH_MAX];
    const size_t count = roof_model_report_order(order, r);
    const roof_json_value *const rows = roof_json_get(page->root, "rows");
    assert_int_equal(roof_json_count(item(point, 0)), count);
    assert_int_equal(roof_json_count(item(point, 1)), count);
    for (size_t i = 0; i < count; i++) {
        const struct roof_node_prediction *const n = &r->node[order[i]];
        double at = 0;
        double share = 0;
        double runs = 0;
        assert_true(roof_json_number(&at, item(item(point, 0), i)));
        const roof_json_value *const row = item(rows, (size_t)at);
        assert_string_equal(text_of(page, "row_keys", row, "name"), n->node.name);
        assert_true(roof_json_number(&runs, member(page, "row_keys", row, "count")));
        assert_true(runs == (double)n->node.count);
        assert_string_equal(
            text_of(page, "row_keys", row, "time"),
            roof_format_quantity(text, n->prediction.time_s, ROOF_UNIT_MICROSECONDS));
        assert_string_equal(
            text_of(page, "row_keys", row, "high"),
            roof_format_quantity(text, n->prediction.expected_high_s, ROOF_UNIT_MICROSECONDS));
        assert_string_equal(text_of(page, "row_keys", row, "bound"),
                            roof_bottleneck_name(n->prediction.bottleneck));
        assert_true(roof_json_number(&share, item(item(point, 1), i)));
        assert_true(fabs(share - 100 * (double)n->node.count * n->prediction.time_s /
                                     r->total.time_s) <= 0.0501);
    }
    const roof_json_value *const summary = item(point, 2);
    const bool prefill = r->scenario.phase == ROOF_PHASE_PREFILL;
    assert_string_equal(
        text_of(page, "summary_keys", summary, "time"),
        roof_format_quantity(text, prefill ? r->ttft_s : r->tpot_s, ROOF_UNIT_MILLISECONDS));
    assert_string_equal(text_of(page, "summary_keys", summary, "expected"),
                        roof_format_quantity(text,
                                             prefill ? r->expected_ttft_s : r->expected_tpot_s,
                                             ROOF_UNIT_MILLISECONDS));
    assert_string_equal(text_of(page, "summary_keys", summary, "kv"),
                        roof_format_quantity(text, r->kv_cache_bytes, ROOF_UNIT_CAPACITY));
    bool fits = false;
    assert_true(roof_json_boolean(&fits, member(page, "summary_keys", summary, "fits")));
    assert_int_equal(fits, r->fits == ROOF_FIT_YES);
}

static void test_grid(void **state)
{
    (void)state;
    static const int64_t batches[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    static const int64_t contexts[] = {512, 1024, 2048, 4096, 8192};
    static const enum roof_phase phases[] = {ROOF_PHASE_DECODE, ROOF_PHASE_PREFILL};
    struct roof_hardware *const hardware[] = {load_calibrated("h100-sxm"),
                                              load_calibrated("hgx-b200")};
    struct roof_model *const model = load("llama-3-8b");
    struct roof_chart chart = chart_of(hardware[0]);
    assert_int_equal(roof_chart_add_roof(&chart, hardware[1], NULL, false, NULL), ROOF_OK);
    const struct roof_page_sizes sizes = sizes_of(model, 0, 0);
    struct made page = make_page(&chart, &sizes);
    const roof_json_value *const series = roof_json_get(page.root, "series");
    assert_int_equal(roof_json_count(series), 4);
    for (size_t s = 0; s < 4; s++) {
        double group = -1;
        double roof = -1;
        assert_true(roof_json_number(&group, roof_json_get(item(series, s), "group")));
        assert_true(roof_json_number(&roof, roof_json_get(item(series, s), "roof")));
        const roof_json_value *const points = roof_json_get(item(series, s), "points");
        assert_int_equal(roof_json_count(points), COUNT(batches) * COUNT(contexts));
        for (size_t b = s % 2; b < COUNT(batches);
             b += 2) { /* half of them take as long as needed */
            for (size_t c = 0; c < COUNT(contexts); c++) {
                check_point(&page, item(points, b * COUNT(contexts) + c),
                            infer(model, asked(phases[(size_t)group], batches[b], contexts[c]),
                                  hardware[(size_t)roof]));
            }
        }
    }
    free_page(&page);
    roof_chart_free(&chart);
    roof_model_free(model);
    free_calibrated(hardware[0]);
    free_calibrated(hardware[1]);
}

/* Impossible passes are empty; a question for one is refused. */
static void test_impossible(void **state)
{
    (void)state;
    struct roof_hardware *const hardware = load_device("h100-sxm");
    struct roof_model *const model = load("llama-3-8b");
    struct roof_chart chart = chart_of(hardware);
    struct roof_page_sizes sizes = sizes_of(model, 8, 1024);
    struct roof_error error = {0};
    struct roof_text text = ROOF_TEXT_INIT;

    sizes.scenario.phase = ROOF_PHASE_PREFILL; /* no chunk is longer than its context */
    sizes.scenario.chunk = 1000;
    struct made page = make_page(&chart, &sizes);
    assert_int_equal(roof_json_count(roof_json_get(page.root, "groups")), 1);
    assert_string_equal(roof_json_string(item(roof_json_get(page.root, "groups"), 0)), "prefill");
    const roof_json_value *const points =
        roof_json_get(item(roof_json_get(page.root, "series"), 0), "points");
    for (size_t i = 0; i < 50; i++) { /* contexts 512 to 8192 of each batch */
        assert_int_equal(roof_json_is_null(item(points, i)), i % 5 == 0);
    }
    free_page(&page);

    sizes = sizes_of(model, 8, 1024); /* a prefill has no drafts */
    sizes.scenario.draft_tokens = 2;
    page = make_page(&chart, &sizes);
    assert_int_equal(roof_json_count(roof_json_get(page.root, "groups")), 1);
    assert_string_equal(roof_json_string(item(roof_json_get(page.root, "groups"), 0)), "decode");
    assert_int_equal(roof_json_count(roof_json_get(page.root, "series")), 1);
    free_page(&page);

    sizes = sizes_of(model, 8, 1024); /* heads cannot be split by three */
    sizes.scenario.tp = 3;
    assert_int_equal(roof_chart_page(&text, &chart, &sizes, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "which tp 3 "));
    sizes = (struct roof_page_sizes){.model = model, .scenario = sizes.scenario};
    assert_int_equal(roof_chart_page(&text, &chart, &sizes, &error), ROOF_USAGE);
    assert_non_null(strstr(error.message, "decode, prefill or mixed"));
    assert_int_equal(text.length, 0);
    roof_chart_free(&chart);
    roof_model_free(model);
    roof_hardware_free(hardware);
}

static void test_size(void **state)
{
    (void)state;
    struct roof_hardware *const hardware[] = {load_calibrated("h100-sxm"),
                                              load_calibrated("hgx-b200")};
    struct roof_model *const model = load("llama-3.3-70b");
    struct roof_chart chart = chart_of(hardware[0]);
    assert_int_equal(roof_chart_add_roof(&chart, hardware[1], NULL, false, NULL), ROOF_OK);
    struct roof_page_sizes sizes = sizes_of(model, 16, 5000);
    sizes.scenario.tp = 8;
    struct made page = make_page(&chart, &sizes);
    assert_in_range(page.text.length, 100000, SIZE_MAX_BYTES);
    free_page(&page);
    roof_chart_free(&chart);
    roof_model_free(model);
    free_calibrated(hardware[0]);
    free_calibrated(hardware[1]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone), cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_dots),  cmocka_unit_test(test_stops),
        cmocka_unit_test(test_grid),  cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
