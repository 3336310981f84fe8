// SPDX-License-Identifier: MIT
/* Requests of a file: in memory where they must be, else read while they are served, with the same
 * answer. */
#include "files.h"

#include <math.h>

#include "simulate/trace.h"

#define NAME "trace"
#define PART_TOKENS 32

static enum roof_status plane(double *out_s, void *context, const struct roof_step_load *load,
                              struct roof_error *error)
{
    (void)context;
    (void)error;
    *out_s = 1e-3 * (2 + 0.05 * load->decoding + 0.1 * load->tokens);
    return ROOF_OK;
}

static enum roof_status read_text(struct roof_request_trace *out, void **state, const char *text,
                                  int64_t part_tokens, struct roof_error *error)
{
    static char path[PATH_SIZE]; /* the trace names it later */
    write_in(state, NAME, text);
    return roof_request_trace_read(out, path_in(path, state, NAME), 1000, part_tokens, error);
}

static int remove_trace(void **state)
{
    static const char *const names[] = {NAME};
    return remove_files(state, names, 1) | remove_folder(state);
}

static void check_next(const struct roof_request_trace *t, uint64_t number, double time_s,
                       int64_t prompt, int64_t generate)
{
    struct roof_arrival a;
    assert_int_equal(t->source.next(&a, number, t->source.context, NULL), ROOF_OK);
    assert_near(a.time_s, time_s, 1e-12);
    assert_int_equal(a.prompt, prompt);
    assert_int_equal(a.generate, generate);
}

static const char ordered[] =
    "arrival_s,prompt,generate\n7,10,1\n7,0,4\n7,20,2\n8.5,30,3\n9,1,0\n10,4,4\n";

/* Requests in the order of their times stay in the file, which is read again from its beginning. */
static void test_ordered(void **state)
{
    struct roof_request_trace t;
    assert_int_equal(read_text(&t, state, ordered, 0, NULL), ROOF_OK);
    assert_null(t.arrival);
    assert_null(t.measured);
    assert_int_equal(t.count, 4);
    assert_int_equal(t.empty, 2);
    assert_near(t.mean_prompt, 16, 1e-12);
    assert_near(t.mean_generate, 2.5, 1e-12);
    for (int i = 0; i < 2; i++) {
        check_next(&t, 0, 0, 10, 1);
        check_next(&t, 1, 0, 20, 2);
        check_next(&t, 2, 1.5, 30, 3);
    }
    check_next(&t, 3, 3, 4, 4);
    roof_request_trace_free(&t);

    assert_int_equal(read_text(&t, state, "arrival_s,prompt,generate\n-5,1,1\n-4,2,1\n", 0, NULL),
                     ROOF_OK);
    assert_null(t.arrival);
    check_next(&t, 0, 0, 1, 1);
    check_next(&t, 1, 1, 2, 1);
    roof_request_trace_free(&t);
}

/* A pipe is read twice as well. */
static void test_pipe(void **state)
{
    struct roof_request_trace t;
    int ends[2];
    char path[PATH_SIZE];
    write_in(state, NAME, "");
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], ordered, sizeof ordered - 1), sizeof ordered - 1);
    assert_int_equal(close(ends[1]), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(roof_request_trace_read(&t, path, 3, 0, NULL), ROOF_OK);
    assert_int_equal(close(ends[0]), 0);
    assert_null(t.arrival);
    assert_int_equal(t.count, 3);
    for (int i = 0; i < 2; i++) {
        check_next(&t, 0, 0, 10, 1);
        check_next(&t, 1, 0, 20, 2);
        check_next(&t, 2, 1.5, 30, 3);
    }
    roof_request_trace_free(&t);
}

/* Others are put into order; those of one time keep theirs. */
static void test_unordered(void **state)
{
    static const double times[] = {0, 1, 1, 4};
    static const int64_t prompts[] = {2, 3, 4, 1};
    struct roof_request_trace t;
    assert_int_equal(
        read_text(&t, state, "arrival_s,prompt,generate\n5,1,1\n1,2,1\n2,3,1\n2,4,1\n", 0, NULL),
        ROOF_OK);
    assert_int_equal(t.count, 4);
    assert_non_null(t.arrival);
    assert_null(t.measured);
    for (size_t i = 0; i < t.count; i++) {
        assert_near(t.arrival[i].time_s, times[i], 1e-12);
        assert_int_equal(t.arrival[i].prompt, prompts[i]);
    }
    roof_request_trace_free(&t);
}

/* Each keeps the ids of its own prompt. */
static void test_unordered_ids(void **state)
{
    struct roof_request_trace t;
    assert_int_equal(
        read_text(
            &t, state,
            "{\"timestamp\": 9, \"input_length\": 64, \"output_length\": 1, \"hash_ids\": [7, 8]}\n"
            "{\"timestamp\": 9, \"input_length\": 0, \"output_length\": 1, \"hash_ids\": [5]}\n"
            "{\"timestamp\": 5, \"input_length\": 70, \"output_length\": 1, \"hash_ids\": [1, 2, "
            "3]}\n"
            "{\"timestamp\": 6, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [4]}\n",
            PART_TOKENS, NULL),
        ROOF_OK);
    static const uint64_t ids[][3] = {{1, 2, 3}, {4}, {7, 8}};
    static const size_t counts[] = {3, 1, 2};
    assert_int_equal(t.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(t.arrival[i].ids, ids[i], counts[i] * sizeof ids[i][0]);
    }
    roof_request_trace_free(&t);
}

/* Three tokens of half a second each, and one of a second. */
static void check_measured(const struct roof_request_trace *t)
{
    assert_near(t->measured[0][ROOF_LATENCY_TTFT], 0.5, 1e-12);
    assert_near(t->measured[0][ROOF_LATENCY_TPOT], 0.5, 1e-12);
    assert_near(t->measured[0][ROOF_LATENCY_E2E], 1.5, 1e-12);
    assert_near(t->measured[1][ROOF_LATENCY_TTFT], 1, 1e-12);
    assert_near(t->measured[1][ROOF_LATENCY_E2E], 1, 1e-12);
    assert_true(isnan(t->measured[1][ROOF_LATENCY_TPOT]));
}

/* Measured times go with their requests, in memory: an answer looks at each several times. */
static void test_measured(void **state)
{
    struct roof_request_trace t;
    assert_int_equal(read_text(&t, state,
                               "queued_ts,prompt,generate,first_token_ts,last_token_ts\n"
                               "3,5,1,4,4\n1,6,3,1.5,2.5\n",
                               0, NULL),
                     ROOF_OK);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.arrival[1].prompt, 5);
    assert_near(t.arrival[1].time_s, 2, 1e-12);
    check_measured(&t);
    roof_request_trace_free(&t);
}

/* Measured times may also be durations: the time of a request, or that of a token, is enough. */
static void test_durations(void **state)
{
    static const char *const texts[] = {
        "arrival_s,prompt,generate,ttft_ms,tpot_ms,e2e_ms\n1,6,3,500,500,1500\n3,5,1,1000,,1000\n",
        "arrival_s,prompt,generate,ttft_ms,tpot_ms\n1,6,3,500,500\n3,5,1,1000,\n",
        "arrival_s,prompt,generate,e2e_ms,ttft_ms\n1,6,3,1500,500\n3,5,1,1000,1000\n",
        "{\"arrival_s\": 1, \"prompt\": 6, \"generate\": 3, \"ttft_ms\": 500, \"tpot_ms\": 500}\n"
        "{\"arrival_s\": 3, \"prompt\": 5, \"generate\": 1, \"ttft_ms\": 1000, \"tpot_ms\": "
        "null}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct roof_request_trace t;
        assert_int_equal(read_text(&t, state, texts[i], 0, NULL), ROOF_OK);
        assert_int_equal(t.count, 2);
        assert_non_null(t.measured);
        check_measured(&t);
        roof_request_trace_free(&t);
    }
    struct roof_request_trace t; /* a time to first token alone is not enough */
    assert_int_equal(
        read_text(&t, state, "arrival_s,prompt,generate,ttft_ms\n1,6,3,500\n", 0, NULL), ROOF_OK);
    assert_null(t.measured);
    roof_request_trace_free(&t);
}

/* More than a million requests are not put into order: the line that breaks it is named. */
static void test_long(void **state)
{
    struct roof_request_trace t;
    struct roof_error error = {0};
    char path[PATH_SIZE];
    const int bad = 500000;
    FILE *const file = fopen(path_in(path, state, NAME), "w");
    assert_non_null(file);
    fputs("arrival_s,prompt,generate\n", file);
    for (int i = 1; i <= ROOF_TRACE_SORTED_MAX; i++) {
        fputs(i == bad ? "0,1,1\n" : "1,1,1\n", file);
    }
    assert_int_equal(fflush(file), 0);
    assert_int_equal(roof_request_trace_read(&t, path, UINT64_MAX, 0, NULL), ROOF_OK);
    assert_int_equal(t.count, ROOF_TRACE_SORTED_MAX);
    assert_near(t.arrival[0].time_s, 0, 1e-12);
    assert_near(t.arrival[1].time_s, 1, 1e-12);
    roof_request_trace_free(&t);
    fputs("2,1,1\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(roof_request_trace_read(&t, path, UINT64_MAX, 0, &error), ROOF_INVALID);
    assert_int_equal(error.line, bad + 1);
    assert_non_null(strstr(error.message, "sort the file"));
    roof_request_trace_free(&t);

    FILE *const again = fopen(path, "r+"); /* in order */
    assert_non_null(again);
    assert_int_equal(fseek(again, (long)strlen("arrival_s,prompt,generate\n") + 6L * (bad - 1), 0),
                     0);
    fputs("1", again);
    assert_int_equal(fclose(again), 0);
    assert_int_equal(roof_request_trace_read(&t, path, UINT64_MAX, 0, NULL), ROOF_OK);
    assert_int_equal(t.count, ROOF_TRACE_SORTED_MAX + 1);
    assert_null(t.arrival);
    roof_request_trace_free(&t);
}

/* A file that loses requests, or their order, after it was read is no trace any more. */
static void test_changed(void **state)
{
    static const char *const texts[] = {"arrival_s,prompt,generate\n7,10,1\n",
                                        "arrival_s,prompt,generate\n7,10,1\n6,10,1\n"};
    for (size_t i = 0; i < 2; i++) {
        struct roof_request_trace t;
        struct roof_arrival a;
        struct roof_error error = {0};
        assert_int_equal(read_text(&t, state, ordered, 0, NULL), ROOF_OK);
        write_in(state, NAME, texts[i]);
        assert_int_equal(t.source.next(&a, 0, t.source.context, &error), ROOF_OK);
        assert_int_equal(t.source.next(&a, 1, t.source.context, &error), ROOF_IO);
        assert_non_null(strstr(error.message, "changed"));
        roof_request_trace_free(&t);
    }
}

/* --- simulations --------------------------------------------------------------------------- */

/* Writes a trace whose prompts begin alike, with the requests that it means. */
static void write_prompts(void **state, struct roof_arrival *out, uint64_t *ids, int count)
{
    struct roof_text text = ROOF_TEXT_INIT;
    for (int i = 0; i < count; i++) {
        const int parts = 1 + i * 7 % 5;
        const int pair = i / 2;
        out[i] = (struct roof_arrival){.time_s = pair * 4e-3,
                                       .prompt = parts * PART_TOKENS - i % 3,
                                       .generate = 1 + i % 4,
                                       .ids = ids};
        roof_text_printf(&text,
                         "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": %d, "
                         "\"hash_ids\": [",
                         i / 2 * 4, (int)out[i].prompt, (int)out[i].generate);
        for (int p = 0; p < parts; p++) {
            *ids = (uint64_t)(p < 2 ? p : 1000 * i + p);
            roof_text_printf(&text, "%s%d", p == 0 ? "" : ", ", (int)*ids++);
        }
        roof_text_put(&text, "]}\n");
    }
    write_in(state, NAME, text.data);
    roof_text_free(&text);
}

static void run(struct roof_simulation *out, struct roof_simulation_inputs *inputs)
{
    struct roof_step_table *table = NULL;
    assert_int_equal(roof_step_table_open(&table, plane, NULL, NULL), ROOF_OK);
    struct roof_prefills prefills;
    struct roof_simulation_inputs with = *inputs;
    with.table = table;
    if (inputs->prefills != NULL) {
        prefills = *inputs->prefills;
        prefills.table = table;
        with.prefills = &prefills;
    }
    assert_int_equal(roof_simulate(out, &with, NULL), ROOF_OK);
    roof_step_table_free(table);
}

/* Requests that are read while they are served are served as those in memory: with a prefix cache,
 * with copies that only prefill, and where some are turned away. Their ids are given back. */
static void test_streamed(void **state)
{
    enum { COUNT_OF = 200 };
    struct roof_arrival arrival[COUNT_OF];
    uint64_t ids[COUNT_OF * 5];
    struct roof_request_trace t;
    char path[PATH_SIZE];
    write_prompts(state, arrival, ids, COUNT_OF);
    assert_int_equal(
        roof_request_trace_read(&t, path_in(path, state, NAME), COUNT_OF, PART_TOKENS, NULL),
        ROOF_OK);
    assert_null(t.arrival);
    const struct roof_scheduler_limits limits = {
        .budget = 64, .sequences = 4, .blocks = 30, .part_blocks = PART_TOKENS / ROOF_BLOCK_TOKENS};
    const struct roof_prefills prefills = {
        .copies = 2,
        .limits = limits,
        .transfer = {.send_s = 1e-6, .receive_s = 1e-6, .senders = 1, .receivers = 1}};
    for (int apart = 0; apart < 2; apart++) {
        struct roof_simulation_inputs inputs = {
            .limits = limits,
            .copies = 1,
            .requests = COUNT_OF,
            .seed = 1,
            .keep = true,
            .prefills = apart == 1 ? &prefills : NULL,
            .limit = {{(double)NAN, 99}, {(double)NAN, 99}, {(double)NAN, 99}}};
        struct roof_simulation kept;
        struct roof_simulation streamed;
        inputs.limits.part_blocks = apart == 1 ? 0 : limits.part_blocks;
        inputs.limits.blocks = apart == 1 ? 9 : limits.blocks; /* too few for the longest */
        inputs.trace = arrival;
        run(&kept, &inputs);
        inputs.trace = NULL;
        inputs.source = &t.source;
        run(&streamed, &inputs);
        assert_true(kept.prefix_hit > 0.1);
        assert_int_equal(kept.rejected > 0, apart == 1);
        assert_true(kept.prefix_hit == streamed.prefix_hit);
        assert_true(kept.busy == streamed.busy && kept.steps == streamed.steps);
        for (int i = 0; i < COUNT_OF; i++) {
            assert_true(kept.served[i].last_s == streamed.served[i].last_s);
            assert_int_equal(kept.served[i].cached, streamed.served[i].cached);
        }
        assert_null(t.given);
        roof_simulation_free(&kept);
        roof_simulation_free(&streamed);
    }
    roof_request_trace_free(&t);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        const char *message;
        int line;
    } cases[] = {
        {"arrival_s,prompt,generate\n1,1,1\n,1,1\n", "needs a time", 3},
        {"arrival_s,prompt,generate\n1,1,1\n1,1.5,1\n", "a number of tokens from 0", 3},
        {"arrival_s,prompt,generate,ttft_ms,e2e_ms\n1,1,9,50,60\n2,1,9,50,20\n",
         "the first token comes 50 ms after the request, and the last one 20 ms; the first must "
         "come after it, and the last not before the first",
         3},
        {"arrival_s,prompt,generate,ttft_ms,e2e_ms\n1,1,9,-5,60\n", "comes -5 ms after", 2},
        {"arrival_s,prompt,generate,ttft_ms,e2e_ms\n1,1,9,0,60\n", "comes 0 ms after", 2},
        {"arrival_s,prompt,generate,ttft_ms,tpot_ms\n1,1,9,5,-1\n", "the last one -3 ms", 2},
        {"queued_ts,prompt,generate,first_token_ts,last_token_ts\n5,1,9,4,6\n",
         "comes -1000 ms after", 2},
        {"{\"timestamp\": 1, \"input_length\": 33, \"output_length\": 1, \"hash_ids\": [1]}\n",
         "has 2 hash_ids", 1},
        {"{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [-1]}\n",
         "whole numbers", 1},
        {"{\"timestamp\": 1, \"input_length\": 1, \"output_length\": 0}\n", "no requests", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct roof_request_trace t;
        struct roof_error error = {0};
        const int64_t part_tokens = cases[i].text[0] == '{' ? PART_TOKENS : 0;
        assert_int_equal(read_text(&t, state, cases[i].text, part_tokens, &error), ROOF_INVALID);
        check_refusal(i, &error, cases[i].message, cases[i].line);
        roof_request_trace_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ordered, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_pipe, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_unordered, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_unordered_ids, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_measured, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_durations, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_long, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_changed, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_streamed, make_folder, remove_trace),
        cmocka_unit_test_setup_teardown(test_refused, make_folder, remove_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
