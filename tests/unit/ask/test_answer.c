// SPDX-License-Identifier: MIT
#include "catalog/data.h"
#include "files.h"
#include "support.h"

#include <pthread.h>

/* A question in one line: "COMMAND KEY=VALUE ..."; a flag is KEY=. */
struct asked {
    struct roof_question *question;
    enum roof_command command;
};

static struct roof_store *store;

static int open_store(void **state)
{
    (void)state;
    return roof_store_new(&store, NULL) != ROOF_OK;
}

static int close_store(void **state)
{
    (void)state;
    roof_store_free(store);
    return 0;
}

static enum roof_command command_of(const char *name)
{
    static const char *const names[] = {"predict", "sweep", "recommend", "list",
                                        "compare", "plot",  "check",     "completion"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum roof_command)(1 << i);
        }
    }
    return (enum roof_command)0;
}

static struct asked read_line(const char *line)
{
    char text[1000];
    char *rest = NULL;
    struct asked asked = {.question = NULL};
    (void)snprintf(text, sizeof text, "%s", line);
    asked.command = command_of(strtok_r(text, " ", &rest));
    assert_int_equal(roof_question_new(&asked.question, NULL), ROOF_OK);
    for (char *word = strtok_r(NULL, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *const value = strchr(word, '=');
        assert_non_null(value);
        *value = '\0';
        assert_int_equal(roof_question_put(asked.question, word, value + 1, NULL), ROOF_OK);
    }
    return asked;
}

/* Answers a line; the caller frees the text. */
static enum roof_status answer(char **text, const char *line, enum roof_answer_format format,
                               struct roof_error *error)
{
    size_t length = 0;
    const struct asked asked = read_line(line);
    const enum roof_status status =
        roof_answer(store, asked.question, asked.command, format, text, &length, error);
    roof_question_free(asked.question);
    if (*text != NULL) {
        assert_int_equal(strlen(*text), length);
    } else {
        assert_int_equal(length, 0);
    }
    return status;
}

static void refuse(const char *line, enum roof_answer_format format, const char *message)
{
    char *text = NULL;
    struct roof_error error = {0};
    assert_int_equal(answer(&text, line, format, &error), ROOF_USAGE);
    assert_null(text);
    assert_non_null(strstr(error.message, message));
    assert_int_equal(answer(&text, line, format, NULL), ROOF_USAGE);
    assert_null(text);
}

/* Takes the place of all functions that a caller may give. */
struct heard {
    struct roof_text text;
    size_t writes;
    size_t room; /* writes that pass; the next fails with `failure` */
    enum roof_status failure;
    size_t stop_after; /* writes; 0: never */
    struct roof_text complaints;
    size_t remarks;
    size_t waits;   /* that have begun */
    bool waiting;   /* the last of them has not ended */
    size_t written; /* bytes at the beginning of the last */
    size_t steps;
    uint64_t done;
    uint64_t of;
    uint64_t kept;
    char replaced[PATH_SIZE];
    struct roof_text replacement;
};

static enum roof_status on_write(void *context, const char *bytes, size_t length,
                                 struct roof_error *error)
{
    struct heard *const heard = context;
    if (heard->failure != ROOF_OK && heard->writes == heard->room) {
        return roof_error_set(error, heard->failure, "no room");
    }
    heard->writes++;
    roof_text_add(&heard->text, bytes, length);
    return ROOF_OK;
}

static bool on_stop(void *context)
{
    const struct heard *const heard = context;
    return heard->stop_after > 0 && heard->writes >= heard->stop_after;
}

static void on_wait(void *context, bool begins)
{
    struct heard *const heard = context;
    assert_int_equal(heard->waiting, !begins); /* beginnings and ends take turns */
    heard->waiting = begins;
    heard->waits += begins;
    heard->written = begins ? heard->text.length : heard->written;
}

static void on_complaint(void *context, const struct roof_error *complaint)
{
    struct heard *const heard = context;
    roof_text_printf(&heard->complaints, "%d %s\n", complaint->line, complaint->message);
}

static void on_remark(void *context, const struct roof_error *remark)
{
    assert_string_not_equal(remark->message, "");
    ((struct heard *)context)->remarks++;
}

static void on_progress(void *context, const char *what, const char *unit, uint64_t done,
                        uint64_t of)
{
    struct heard *const heard = context;
    assert_string_equal(what, "sweep");
    assert_string_equal(unit, "points");
    assert_true(done >= heard->done && done <= of);
    assert_true(heard->steps == 0 || of == heard->of);
    heard->steps++;
    heard->done = done;
    heard->of = of;
}

static enum roof_status on_keep(void *context, uint64_t length, struct roof_error *error)
{
    (void)error;
    ((struct heard *)context)->kept = length;
    return ROOF_OK;
}

static enum roof_status on_replace(void *context, const char *name, const char *text, size_t length,
                                   struct roof_error *error)
{
    struct heard *const heard = context;
    (void)error;
    (void)snprintf(heard->replaced, sizeof heard->replaced, "%s", name);
    roof_text_add(&heard->replacement, text, length);
    return ROOF_OK;
}

static enum roof_status on_draw(void *context, char **image, size_t *length, const char *script,
                                struct roof_error *error)
{
    (void)context;
    (void)error;
    assert_non_null(strstr(script, "plot"));
    *image = strdup("an image");
    *length = strlen(*image);
    return ROOF_OK;
}

static void free_heard(struct heard *heard)
{
    roof_text_free(&heard->text);
    roof_text_free(&heard->complaints);
    roof_text_free(&heard->replacement);
}

static enum roof_status listen_to(struct heard *heard, const char *line,
                                  enum roof_answer_format format, struct roof_listener *listener,
                                  struct roof_error *error)
{
    const struct asked asked = read_line(line);
    listener->context = heard;
    listener->write = on_write;
    const enum roof_status status =
        roof_answer_to(store, asked.question, asked.command, format, listener, error);
    roof_question_free(asked.question);
    return status;
}

/* --- formats ------------------------------------------------------------------------------- */

#define MEASURED                                                                                   \
    "operator,m,n,k,measured_us,run\n"                                                             \
    "gemm,1,4096,4096,150,a\n"
#define CHECKS(value)                                                                              \
    "{\"schema\": \"roofline/check/1\", \"checks\": [{\"name\": \"a\", \"inputs\": {\"operator\""  \
    ": \"gemv\", \"n\": 10, \"k\": 10}, \"expect\": {\"flops\": " value "}}]}"
#define TABLE                                                                                      \
    (1U << ROOF_TEXT | 1U << ROOF_JSON | 1U << ROOF_NDJSON | 1U << ROOF_CSV | 1U << ROOF_MARKDOWN)
#define FORMAT(name) (1U << ROOF_##name)
#define CURVES (TABLE | FORMAT(HTML) | FORMAT(SVG) | FORMAT(PNG) | FORMAT(PDF) | FORMAT(GNUPLOT))

/* Every command writes its formats and refuses the others. */
static void test_formats(void **state)
{
    static const struct {
        const char *line; /* ends with "file=" if the path of a file is to follow */
        unsigned written;
        unsigned named; /* by roof_answer_format_find; some workloads write fewer */
        const char *file;
    } rows[] = {
        {"predict operator=gemv n=10 k=10", TABLE | FORMAT(HTML), TABLE | FORMAT(HTML), ""},
        {"predict model=gpt-2", TABLE | FORMAT(HTML), TABLE | FORMAT(HTML), ""},
        {"predict from=", TABLE, TABLE | FORMAT(HTML), MEASURED},
        {"sweep operator=gemv n=10,20 k=10", TABLE | FORMAT(HTML), CURVES, ""},
        {"sweep model=gpt-2 batch=1,2", TABLE | FORMAT(HTML) | FORMAT(GNUPLOT), CURVES, ""},
        {"recommend operator=gemv n=10 k=10", TABLE | FORMAT(HTML), CURVES, ""},
        {"recommend model=gpt-2 devices=1 batch=1", TABLE | FORMAT(HTML) | FORMAT(GNUPLOT), CURVES,
         ""},
        {"list list=engines", TABLE, TABLE, ""},
        {"compare file=", TABLE, TABLE, MEASURED},
        {"compare summary= file=", FORMAT(TEXT) | FORMAT(JSON) | FORMAT(MARKDOWN), TABLE, MEASURED},
        {"plot", FORMAT(TEXT) | FORMAT(JSON) | FORMAT(HTML) | FORMAT(GNUPLOT),
         FORMAT(TEXT) | FORMAT(JSON) | FORMAT(HTML) | FORMAT(GNUPLOT) | FORMAT(SVG) | FORMAT(PNG) |
             FORMAT(PDF),
         ""},
        {"check file=", FORMAT(TEXT) | FORMAT(JSON) | FORMAT(TAP) | FORMAT(JUNIT),
         FORMAT(TEXT) | FORMAT(JSON) | FORMAT(TAP) | FORMAT(JUNIT), CHECKS("200")}};
    static const char *const names[] = {"text", "json", "ndjson", "csv",     "md",  "html",
                                        "svg",  "png",  "pdf",    "gnuplot", "tap", "junit"};
    static const enum roof_answer_format formats[] = {
        ROOF_TEXT, ROOF_JSON, ROOF_NDJSON, ROOF_CSV,     ROOF_MARKDOWN, ROOF_HTML,
        ROOF_SVG,  ROOF_PNG,  ROOF_PDF,    ROOF_GNUPLOT, ROOF_TAP,      ROOF_JUNIT};
    static const char *const file = "file";
    char path[PATH_SIZE];
    struct roof_error unknown;
    enum roof_answer_format none = ROOF_TEXT;
    assert_int_equal(COUNT(names), ROOF_ANSWER_FORMAT_COUNT);
    assert_int_equal(roof_answer_format_find(&none, ROOF_COMMAND_SWEEP, "yaml", &unknown),
                     ROOF_USAGE);
    assert_non_null(strstr(unknown.message, "unknown format 'yaml'"));
    assert_non_null(strstr(unknown.message, "ndjson"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[1000];
        path_in(path, state, file);
        (void)snprintf(line, sizeof line, "%s%s", rows[i].line, *rows[i].file == '\0' ? "" : path);
        write_in(state, file, rows[i].file);
        for (size_t f = 0; f < COUNT(formats); f++) {
            char *text = NULL;
            struct roof_error error = {0};
            enum roof_answer_format found = ROOF_ANSWER_FORMAT_COUNT;
            const struct asked asked = read_line(line);
            const bool named = (rows[i].named & 1U << formats[f]) != 0;
            const bool wanted = (rows[i].written & 1U << formats[f]) != 0;
            /* A program without the explorer says so. */
            const bool absent = wanted && formats[f] == ROOF_HTML && roof_data_explorer() == NULL;
            const bool written = wanted && !absent;
            assert_int_equal(roof_answer_format_find(&found, asked.command, names[f], &error),
                             named ? ROOF_OK : ROOF_USAGE);
            assert_int_equal(found, named ? formats[f] : ROOF_ANSWER_FORMAT_COUNT);
            roof_question_free(asked.question);
            const enum roof_status status = answer(&text, line, formats[f], &error);
            if ((status == ROOF_OK) != written || (text != NULL) != written ||
                (*error.message == '\0') != written ||
                (status != ROOF_OK && status != (absent ? ROOF_IO : ROOF_USAGE))) {
                fail_msg("%s -f %s: %d %s", line, names[f], (int)status, error.message);
            }
            roof_answer_free(text);
        }
    }
    assert_int_equal(remove_files(state, &file, 1), 0);
    refuse("list list=models", ROOF_ANSWER_FORMAT_COUNT, "there is no output format 12");
    refuse("list list=models", (enum roof_answer_format) - 1, "there is no output format -1");
    refuse("completion", ROOF_TEXT, "this command answers no question");
    refuse("nothing", ROOF_TEXT, "this command answers no question");
}

static void test_images(void **state)
{
    static const enum roof_answer_format formats[] = {ROOF_SVG, ROOF_PNG, ROOF_PDF};
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct heard heard = {.text = ROOF_TEXT_INIT};
        struct roof_listener listener = {.draw = on_draw};
        refuse("plot", formats[i], "images cannot be drawn here");
        assert_int_equal(listen_to(&heard, "plot", formats[i], &listener, NULL), ROOF_OK);
        assert_string_equal(heard.text.data, "an image");
        free_heard(&heard);
    }
}

/* --- statuses ------------------------------------------------------------------------------ */

static void says(const char *line, enum roof_answer_format format, enum roof_status expected,
                 const char *part)
{
    char *text = NULL;
    struct roof_error error = {.message = "old"};
    const enum roof_status status = answer(&text, line, format, &error);
    if (status != expected || *error.message != '\0' || error.key_count != 0 || text == NULL ||
        strstr(text, part) == NULL) {
        fail_msg("%s: %d '%s' %s", line, (int)status, error.message, text == NULL ? "" : text);
    }
    assert_int_equal(error.status, expected);
    roof_answer_free(text);
    assert_int_equal(answer(&text, line, format, NULL), expected);
    roof_answer_free(text);
}

/* A document that says that the answer is no has no message beside it. */
static void test_statuses(void **state)
{
    static const char *const file = "file";
    char path[PATH_SIZE];
    char line[1000];
    says("recommend model=llama-3-70b hardware=t4 devices=1", ROOF_JSON, ROOF_UNSATISFIED,
         "\"candidates\": []");
    says("recommend model=llama-3-70b hardware=t4 devices=1", ROOF_TEXT, ROOF_UNSATISFIED, "");
    says("recommend operator=gemv n=10 k=10 formats=int2 max_accuracy_loss=none", ROOF_JSON,
         ROOF_UNSATISFIED, "\"candidates\": [\n]");
    /* Some splits of gpt-2 are refused, which is no error of the question. */
    says("recommend model=gpt-2 hardware=b200", ROOF_JSON, ROOF_OK, "\"candidates\": [");
    (void)snprintf(line, sizeof line, "check file=%s", path_in(path, state, file));
    write_in(state, file, CHECKS("201"));
    says(line, ROOF_TEXT, ROOF_UNSATISFIED, "expected 201, got 200");
    write_in(state, file, CHECKS("200"));
    says(line, ROOF_TEXT, ROOF_OK, "");
    refuse("predict operator=gemv n=10", ROOF_JSON, "gemv needs k");
    refuse("predict", ROOF_JSON, "no operator or model is given");
    refuse("list list=models m=1", ROOF_JSON, "m is not an input of this command");
    assert_int_equal(remove_files(state, &file, 1), 0);
}

static void test_bad_records(void **state)
{
    static const char *const file = "records.csv";
    char path[PATH_SIZE];
    char line[1000];
    struct heard heard = {.text = ROOF_TEXT_INIT, .complaints = ROOF_TEXT_INIT};
    struct roof_listener listener = {.complain = on_complaint};
    struct roof_error error = {.message = "old"};
    write_in(state, file, "operator,n,k\ngemv,10,10\ngemv,10,x\ngemv,10,\ngemv,20,10\n");
    (void)snprintf(line, sizeof line, "predict from=%s columns=n,flops",
                   path_in(path, state, file));
    says(line, ROOF_CSV, ROOF_INVALID, "n,flops\n10,200\n20,400\n");
    assert_int_equal(listen_to(&heard, line, ROOF_CSV, &listener, &error), ROOF_INVALID);
    assert_string_equal(error.message, "");
    assert_non_null(strstr(heard.complaints.data, "3 cell 3: k must be an integer"));
    assert_non_null(strstr(heard.complaints.data, "4 gemv needs k ("));
    assert_non_null(strstr(heard.complaints.data, "0 skipped lines with errors: 2 of 4"));
    free_heard(&heard);
    assert_int_equal(remove_files(state, &file, 1), 0);
}

/* Two reads of a short file: the second finds its end, and by then the rows of the first are
 * written, since more of a stream might be a while in coming. The header comes before any wait is
 * told. */
static void test_wait(void **state)
{
    static const char *const file = "records.csv";
    static const char *const rows = "n,flops\n10,200\n20,400\n";
    char path[PATH_SIZE];
    char line[1000];
    struct heard heard = {.text = ROOF_TEXT_INIT};
    struct roof_listener listener = {.wait = on_wait};
    write_in(state, file, "operator,n,k\ngemv,10,10\ngemv,20,10\n");
    (void)snprintf(line, sizeof line, "predict from=%s columns=n,flops",
                   path_in(path, state, file));
    assert_int_equal(listen_to(&heard, line, ROOF_CSV, &listener, NULL), ROOF_OK);
    assert_int_equal(heard.waits, 1);
    assert_false(heard.waiting);
    assert_int_equal(heard.written, strlen(rows));
    assert_string_equal(heard.text.data, rows);
    free_heard(&heard);
    assert_int_equal(remove_files(state, &file, 1), 0);
}

static void test_update(void **state)
{
    static const char *const file = "checks.json";
    char path[PATH_SIZE];
    char line[1000];
    struct heard heard = {.text = ROOF_TEXT_INIT, .replacement = ROOF_TEXT_INIT};
    struct roof_listener listener = {.replace = on_replace};
    write_in(state, file, CHECKS("201"));
    (void)snprintf(line, sizeof line, "check update= file=%s", path_in(path, state, file));
    refuse(line, ROOF_TEXT, "update writes files, which is not possible here: leave it out");
    assert_int_equal(listen_to(&heard, line, ROOF_TEXT, &listener, NULL), ROOF_OK);
    assert_string_equal(heard.replaced, path);
    assert_string_equal(heard.replacement.data, CHECKS("200"));
    free_heard(&heard);
    assert_int_equal(remove_files(state, &file, 1), 0);
}

/* --- listeners ----------------------------------------------------------------------------- */

#define SWEEP "sweep operator=gemv n=1:4000 k=10 threads=2"

static void test_write_fails(void **state)
{
    static const char *const lines[] = {SWEEP, "predict operator=gemv n=1 k=1", "list list=models",
                                        "recommend model=gpt-2 devices=1", "plot"};
    static const enum roof_status failures[] = {ROOF_IO, ROOF_MEMORY, ROOF_INVALID};
    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        for (size_t k = 0; k < COUNT(failures); k++) {
            struct heard heard = {.failure = failures[k], .room = i == 0 ? 1 : 0};
            struct roof_listener listener = {.stop = NULL};
            struct roof_error error = {0};
            const enum roof_answer_format format = i == 4 ? ROOF_JSON : ROOF_TEXT;
            assert_int_equal(listen_to(&heard, lines[i], format, &listener, &error), failures[k]);
            assert_string_equal(error.message, "no room");
            assert_int_equal(heard.writes, heard.room);
            free_heard(&heard);
        }
    }
}

static void test_remarks_and_progress(void **state)
{
    static const char *const file = "config.json";
    char path[PATH_SIZE];
    char line[1000];
    struct heard heard = {.remarks = 0};
    struct roof_listener listener = {.remark = on_remark, .progress = on_progress};
    assert_int_equal(listen_to(&heard, SWEEP, ROOF_CSV, &listener, NULL), ROOF_OK);
    assert_true(heard.steps > 2);
    assert_int_equal(heard.of, 4000);
    assert_int_equal(heard.done, 4000);
    assert_int_equal(heard.remarks, 0);
    write_in(state, file,
             "{\"hidden_size\": 64, \"intermediate_size\": 128, \"num_attention_heads\": 4, "
             "\"num_hidden_layers\": 2, \"vocab_size\": 100}");
    (void)snprintf(line, sizeof line, "predict model=%s", path_in(path, state, file));
    assert_int_equal(listen_to(&heard, line, ROOF_JSON, &listener, NULL), ROOF_OK);
    assert_true(heard.remarks > 0);
    free_heard(&heard);
    assert_int_equal(remove_files(state, &file, 1), 0);
}

/* A sweep that is stopped has written whole rows, and goes on behind the last of them. */
static void check_resumed(const char *line, enum roof_answer_format format, size_t stop_after,
                          size_t torn)
{
    char *whole = NULL;
    struct heard first = {.stop_after = stop_after};
    struct heard second = {.kept = 0};
    struct roof_error error = {0};
    struct roof_listener stopping = {.stop = on_stop};
    assert_int_equal(answer(&whole, line, format, NULL), ROOF_OK);
    assert_int_equal(listen_to(&first, line, format, &stopping, &error), ROOF_IO);
    assert_non_null(strstr(error.message, "interrupted: "));
    assert_true(first.text.length > 0 && first.text.length < strlen(whole));
    assert_memory_equal(first.text.data, whole, first.text.length);
    assert_true(format == ROOF_JSON || first.text.data[first.text.length - 1] == '\n');
    FILE *const part = tmpfile();
    assert_non_null(part);
    assert_int_equal(fwrite(whole, 1, first.text.length + torn, part), first.text.length + torn);
    rewind(part);
    struct roof_listener going_on = {.part = part, .part_name = "rows.part", .keep = on_keep};
    assert_int_equal(listen_to(&second, line, format, &going_on, &error), ROOF_OK);
    assert_true(second.kept > 0 && second.kept <= first.text.length + torn);
    assert_int_equal(second.kept + second.text.length, strlen(whole));
    assert_memory_equal(second.text.data, whole + second.kept, second.text.length);
    assert_int_equal(fclose(part), 0);
    free_heard(&first);
    free_heard(&second);
    roof_answer_free(whole);
}

static void test_stop_and_resume(void **state)
{
    (void)state;
    check_resumed(SWEEP, ROOF_CSV, 1, 0);
    check_resumed(SWEEP, ROOF_CSV, 2, 7);
    check_resumed(SWEEP, ROOF_NDJSON, 1, 7);
    check_resumed(SWEEP, ROOF_JSON, 1, 0);
    check_resumed(SWEEP, ROOF_JSON, 2, 9);
    check_resumed("sweep operator=gemm m=1:60 n=1:60 k=10 threads=1", ROOF_CSV, 1, 1);
}

static void test_foreign_part(void **state)
{
    struct heard heard = {.kept = 0};
    struct roof_error error = {0};
    FILE *const part = tmpfile();
    (void)state;
    assert_non_null(part);
    assert_true(fputs("a,b\n1,2\n", part) >= 0);
    rewind(part);
    struct roof_listener listener = {.part = part, .part_name = "rows.part", .keep = on_keep};
    assert_int_equal(listen_to(&heard, SWEEP, ROOF_CSV, &listener, &error), ROOF_INVALID);
    assert_string_equal(error.source, "rows.part");
    assert_int_equal(heard.writes, 0);
    assert_int_equal(fclose(part), 0);
    free_heard(&heard);
}

/* --- threads ------------------------------------------------------------------------------- */

#define ASKED 200

/* The answers of one thread, one behind the other. */
struct asker {
    struct roof_store *store;
    struct roof_text text;
};

static void *ask(void *context)
{
    static const char *const keys[] = {"n", "k"};
    static const char *const devices[] = {"t4", "h100-sxm", "gb10", "l40s", "b300", "nothing"};
    struct asker *const asker = context;
    for (int i = 0; i < ASKED; i++) {
        struct roof_question *question = NULL;
        struct roof_error error = {0};
        char value[30];
        char *text = NULL;
        (void)roof_question_new(&question, &error);
        (void)roof_question_put(question, i % 5 == 4 ? "model" : "operator",
                                i % 5 == 4 ? "gpt-2" : "gemv", &error);
        for (size_t k = 0; i % 5 != 4 && k < COUNT(keys); k++) {
            (void)snprintf(value, sizeof value, "%d", i + 1);
            (void)roof_question_put(question, keys[k], value, &error);
        }
        (void)roof_question_put(question, "hardware", devices[i % 6], &error);
        if (i % 3 == 0) {
            (void)snprintf(value, sizeof value, "bandwidth_gb_s=%d", i % 7 + 10);
            (void)roof_question_put(question, "set", value, &error);
        }
        const enum roof_status status = roof_answer(asker->store, question, ROOF_COMMAND_PREDICT,
                                                    ROOF_JSON, &text, NULL, &error);
        roof_text_printf(&asker->text, "%d %d %s %s\n", i, (int)status, error.message,
                         text == NULL ? "" : text);
        roof_answer_free(text);
        roof_question_free(question);
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct asker asker[3] = {{.store = store}, {.store = store}, {.store = NULL}};
    pthread_t thread[2];
    (void)state;
    assert_int_equal(roof_store_new(&asker[2].store, NULL), ROOF_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, ask, &asker[i]), 0);
    }
    (void)ask(&asker[2]); /* alone with a store of its own */
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(asker[i].text.length, asker[2].text.length);
        assert_memory_equal(asker[i].text.data, asker[2].text.data, asker[2].text.length);
    }
    assert_true(asker[2].text.length > (size_t)ASKED * 500);
    for (size_t i = 0; i < 3; i++) {
        roof_text_free(&asker[i].text);
    }
    roof_store_free(asker[2].store);
}

/* Asks for a prediction of an operator with dimensions of one size, and perhaps one more key; NULL:
 * it is refused. */
static char *predict_operator(struct roof_store *in, enum roof_operator op, const char *device,
                              const char *size, const char *key, const char *value)
{
    const struct roof_operator_row *const row = roof_operator_row(op);
    struct roof_question *question = NULL;
    char *text = NULL;
    assert_int_equal(roof_question_new(&question, NULL), ROOF_OK);
    assert_int_equal(roof_question_put(question, "operator", row->name, NULL), ROOF_OK);
    assert_int_equal(roof_question_put(question, "hardware", device, NULL), ROOF_OK);
    if (key != NULL) {
        assert_int_equal(roof_question_put(question, key, value, NULL), ROOF_OK);
    }
    for (int i = 0; i < row->dim_count; i++) {
        const char *const own = roof_dimensions[row->dims[i]].key;
        if ((row->required >> row->dims[i] & 1) != 0 && (key == NULL || strcmp(own, key) != 0)) {
            assert_int_equal(roof_question_put(question, own, size, NULL), ROOF_OK);
        }
    }
    (void)roof_answer(in, question, ROOF_COMMAND_PREDICT, ROOF_JSON, &text, NULL, NULL);
    roof_question_free(question);
    return text;
}

/* The first answer of a store, which reads the kernels that it needs alone, is the one that the
 * store gives when it has all: for every operator. */
static void test_first_answers(void **state)
{
    static const struct {
        const char *device;
        const char *size;
        const char *key;
        const char *value;
    } asked[] = {
        {"h100-sxm", "1", NULL, NULL},
        {"h100-sxm", "128", NULL, NULL},
        {"gb10", "128", NULL, NULL},
        {"mi300x", "128", NULL, NULL},
        {"h100-sxm", "128", "query_len", "64"},
        {"h100-sxm", "8", "algorithm", "one-shot"},
    };
    int expected[COUNT(asked)] = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(asked); i++) {
        for (int n = 0; n < ROOF_OPERATOR_COUNT; n++) {
            const enum roof_operator op = (enum roof_operator)n;
            struct roof_store *fresh = NULL;
            assert_int_equal(roof_store_new(&fresh, NULL), ROOF_OK);
            char *const first = predict_operator(fresh, op, asked[i].device, asked[i].size,
                                                 asked[i].key, asked[i].value);
            char *const second = predict_operator(fresh, op, asked[i].device, asked[i].size,
                                                  asked[i].key, asked[i].value);
            assert_int_equal(first == NULL, second == NULL);
            if (first != NULL) {
                assert_string_equal(first, second);
                expected[i] += strstr(first, "\"expected_time_us\": null") == NULL;
            }
            roof_answer_free(first);
            roof_answer_free(second);
            roof_store_free(fresh);
        }
        assert_true(expected[i] >= (asked[i].key == NULL ? 20 : 1));
    }
}

static void test_nothing(void **state)
{
    (void)state;
    roof_answer_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_formats, make_folder, remove_folder),
        cmocka_unit_test(test_images),
        cmocka_unit_test_setup_teardown(test_statuses, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_bad_records, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_wait, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_update, make_folder, remove_folder),
        cmocka_unit_test(test_write_fails),
        cmocka_unit_test_setup_teardown(test_remarks_and_progress, make_folder, remove_folder),
        cmocka_unit_test(test_stop_and_resume),
        cmocka_unit_test(test_foreign_part),
        cmocka_unit_test(test_first_answers),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
