// SPDX-License-Identifier: MIT
#include "support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/csv.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char path[] = "/tmp/roofline-csv-XXXXXX";

static void open_bytes(struct roof_csv *csv, const char *bytes, size_t length)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    struct roof_error error = {0};
    assert_int_equal(roof_csv_open(csv, path, &error), ROOF_OK);
}

/* Reads a whole file and writes down what came: "LINE:cell|cell;" for a row, "LINE!;" for a row
 * that is no CSV. */
static void check_bytes(const char *bytes, size_t length, const char *expected)
{
    struct roof_csv csv;
    struct roof_text seen = ROOF_TEXT_INIT;
    bool more = true;
    open_bytes(&csv, bytes, length);
    roof_text_put(&seen, "");
    for (int calls = 0; more; calls++) {
        struct roof_error error = {0};
        const enum roof_status status = roof_csv_read(&csv, &more, &error);
        assert_true(calls < 100);
        if (status != ROOF_OK) {
            assert_int_equal(status, ROOF_INVALID);
            assert_int_equal(error.status, ROOF_INVALID);
            assert_string_equal(error.source, path);
            assert_int_equal(error.line, csv.line);
            assert_true(more);
            roof_text_printf(&seen, "%d!;", error.line);
            continue;
        }
        for (size_t i = 0; i < csv.count && more; i++) {
            if (i == 0) {
                roof_text_printf(&seen, "%d:", csv.line);
            }
            roof_text_printf(&seen, "%s%s", csv.cell[i], i + 1 < csv.count ? "|" : ";");
        }
    }
    assert_string_equal(seen.data, expected);
    roof_text_free(&seen);
    roof_csv_close(&csv);
}

static void test_rows(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        const char *rows;
    } cases[] = {
        {"", ""},
        {"\n", ""},
        {"a", "1:a;"},
        {"a,b\n1,2\n", "1:a|b;2:1|2;"},
        {"a,b\n1,2", "1:a|b;2:1|2;"}, /* no newline at the end */
        {"a,b\r\n1,2\r\n", "1:a|b;2:1|2;"},
        {"a,b\r\n1,2\r", "1:a|b;2:1|2\r;"}, /* a lone CR is a byte */
        {"a\rb,c\n", "1:a\rb|c;"},
        {",\n", "1:|;"},
        {",,", "1:||;"},
        {"a,\n", "1:a|;"},
        {" a , b \n", "1: a | b ;"}, /* spaces belong to the cell */
        /* Quotes. */
        {"\"a\"\n", "1:a;"},
        {"\"\"\n", "1:;"},
        {"\"\",\"\"\n", "1:|;"},
        {"\"a\"", "1:a;"},
        {"\"a\"\r\nb\n", "1:a;2:b;"},
        {"\"a,b\",c\n", "1:a,b|c;"},
        {"\"say \"\"x\"\"\",\"\"\"\"\n", "1:say \"x\"|\";"},
        {"\"a\r\nb\"\r\nc\n", "1:a\r\nb;3:c;"}, /* kept as they are inside */
        {"\"# no comment\"\n", "1:# no comment;"},
        {"a,#b\n", "1:a|#b;"},
        /* Lines that are no rows, and the lines of rows behind them. */
        {"# a\n#\n\n\r\na\n\n# b,\"\nc\n#d", "5:a;8:c;"},
        {"a\n \nb\n", "1:a;2: ;3:b;"},
        {"\"x\ny\nz\",1\nb\n\"\n\"\nc\n", "1:x\ny\nz|1;4:b;5:\n;7:c;"},
        /* Not CSV; the rest is read. */
        {"a\"b\nc\n", "1!;2:c;"},
        {"a\n\"b\"c\nd\n", "1:a;2!;3:d;"},
        {"\"b\" ,c\nd\n", "1!;2:d;"},
        {"a,b\"\",c\nd\n", "1!;2:d;"},
        {"a,\"\"\"b\"\"c\"d\nd\n", "1!;2:d;"},
        {"a\n\"b\nc\n", "1:a;2!;3:c;"},
        {"\"", "1!;"},
        {"\"\"\"", "1!;"},
        {"x\"", "1!;"},
        {"\"a\nb\"c\nd\n", "1!;2!;3:d;"},
        /* A quote too many takes its line only, and leaves those behind it as they were. */
        {"a,\"b\nc,\"d\"\"e\"\nf\"\n\"g\nh\"\n", "1!;2:c|d\"e;3!;4:g\nh;"},
        {"\"x\"\"y\",\"1\nb,\"p\"\"q\",r\nc\n", "1!;2:b|p\"q|r;3:c;"},
        {"a\n5\",\"b\r\nc,d\r\n\"\"\"\"\r\n", "1:a;2!;3:c|d;4:\";"},
        {"\"b\n\n# no\nc\n", "1!;4:c;"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_bytes(cases[i].text, strlen(cases[i].text), cases[i].rows);
    }
}

static void test_nul(void **unused)
{
    (void)unused;
    check_bytes("a,b\0c,d\ne\n", 10, "1!;2:e;");
    check_bytes("\0\ne\n", 4, "1!;2:e;");
    check_bytes("\"b\"\0\ne\n", 7, "1!;2:e;");
    check_bytes("\"b\0c\"\ne\n", 8, "1!;2:e;");
}

/* Cells: 256 are read, 257 are not. */
static void test_many_cells(void **unused)
{
    (void)unused;
    for (size_t cells = ROOF_CSV_CELLS_MAX - 1; cells <= ROOF_CSV_CELLS_MAX + 1; cells++) {
        struct roof_csv csv;
        struct roof_error error = {0};
        struct roof_text text = ROOF_TEXT_INIT;
        bool more = false;
        for (size_t i = 0; i < cells; i++) {
            roof_text_printf(&text, "%s%zu", i == 0 ? "" : ",", i);
        }
        roof_text_put(&text, "\nnext\n");
        open_bytes(&csv, text.data, text.length);
        if (cells > ROOF_CSV_CELLS_MAX) {
            assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_INVALID);
            assert_int_equal(error.line, 1);
            assert_non_null(strstr(error.message, "256"));
        } else {
            assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
            assert_int_equal(csv.count, cells);
            for (size_t i = 0; i < cells; i++) {
                assert_int_equal(strtoul(csv.cell[i], NULL, 10), i);
            }
        }
        assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
        assert_true(more);
        assert_int_equal(csv.line, 2);
        assert_int_equal(csv.count, 1);
        assert_string_equal(csv.cell[0], "next");
        roof_text_free(&text);
        roof_csv_close(&csv);
    }
}

/* The row of a megabyte is read, a longer one is refused, and the next row comes whole either way.
 */
static void test_long_rows(void **unused)
{
    (void)unused;
    static const size_t more_than[] = {0, 2, 3, 4, 5, 6, 100000};
    for (size_t i = 0; i < COUNT(more_than); i++) {
        for (int quotes = 0; quotes < 2; quotes++) {
            const size_t length = ROOF_CSV_ROW_MAX - 1 + more_than[i];
            struct roof_csv csv;
            struct roof_error error = {0};
            struct roof_text text = ROOF_TEXT_INIT;
            bool more = false;
            roof_text_put(&text, quotes ? "\"" : "");
            roof_text_fill(&text, 'x', length);
            roof_text_put(&text, quotes ? "\"\nnext\nlast\n" : "\nnext\nlast\n");
            open_bytes(&csv, text.data, text.length);
            const enum roof_status status = roof_csv_read(&csv, &more, &error);
            assert_int_equal(csv.line, 1);
            if (more_than[i] == 0) {
                assert_int_equal(status, ROOF_OK);
                assert_int_equal(strlen(csv.cell[0]), length);
            } else if (length > ROOF_CSV_ROW_MAX + 1) {
                assert_int_equal(status, ROOF_INVALID);
                assert_int_equal(error.line, 1);
                assert_non_null(strstr(error.message, "megabyte"));
            }
            assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
            assert_string_equal(csv.cell[0], "next");
            assert_int_equal(csv.line, 2);
            assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
            assert_string_equal(csv.cell[0], "last");
            roof_text_free(&text);
            roof_csv_close(&csv);
        }
    }
}

/* A quoted cell that goes on for more than a megabyte, or to the end, takes its first line only. */
static void test_stray_quotes(void **unused)
{
    (void)unused;
    static const size_t lines[] = {10, 100000, 400000};
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct roof_csv csv;
        struct roof_text text = ROOF_TEXT_INIT;
        bool more = true;
        roof_text_put(&text, "x,\"stray\n");
        for (size_t k = 0; k < lines[i]; k++) {
            roof_text_put(&text, "a,\"\"\n");
        }
        open_bytes(&csv, text.data, text.length);
        assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_INVALID);
        assert_int_equal(csv.line, 1);
        for (size_t k = 0; k < lines[i]; k++) {
            assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
            assert_true(more && csv.count == 2 && csv.line == (int)k + 2);
            assert_string_equal(csv.cell[0], "a");
            assert_string_equal(csv.cell[1], "");
        }
        assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
        assert_false(more);
        roof_text_free(&text);
        roof_csv_close(&csv);
    }
}

/* The end stays the end. */
static void test_end(void **unused)
{
    (void)unused;
    struct roof_csv csv;
    bool more = true;
    open_bytes(&csv, "a\n", 2);
    assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
    assert_true(more);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
        assert_false(more);
    }
    roof_csv_close(&csv);
    roof_csv_close(&csv); /* twice is fine */
}

/* Rows of all kinds at every place around the end of what is read at once. */
static void test_borders(void **unused)
{
    (void)unused;
    static const char *const row[] = {"a,\"b\"\"c\"\r\n", "\"x\ny\",\n", "\"\",\"\"\"\"\n", "p,q",
                                      "\"r\"\n"};
    static const size_t quantum = 1U << 17;
    for (size_t before = quantum - 12; before <= quantum + 2; before++) {
        struct roof_text text = ROOF_TEXT_INIT;
        struct roof_text rows = ROOF_TEXT_INIT;
        roof_text_fill(&text, 'f', before - 1);
        roof_text_put(&text, "\n");
        roof_text_put(&rows, "1:");
        roof_text_fill(&rows, 'f', before - 1);
        roof_text_put(&rows, ";2:a|b\"c;3:x\ny|;5:|\";6:p|q;");
        for (size_t i = 0; i + 1 < COUNT(row); i++) {
            roof_text_put(&text, row[i]);
        }
        check_bytes(text.data, text.length, rows.data); /* the last line has no end */
        roof_text_put(&text, "\r\n");
        roof_text_put(&text, row[4]);
        roof_text_put(&rows, "7:r;");
        check_bytes(text.data, text.length, rows.data);
        roof_text_free(&text);
        roof_text_free(&rows);
    }
}

/* A pipe gives what is there: cells arrive in pieces. */
static void test_pieces(void **unused)
{
    (void)unused;
    static const char *const pieces[] = {"o",    "ne,",    "\"t\"", "\"w\\no", "\"", "\\r",
                                         "\\n#", " no\\n", "three", ",\\r",    "\\n"};
    struct roof_csv csv;
    bool more = false;
    struct roof_text command = ROOF_TEXT_INIT;
    for (size_t i = 0; i < COUNT(pieces); i++) {
        roof_text_printf(&command, "%sprintf '%s'", i == 0 ? "" : "; sleep 0.02; ", pieces[i]);
    }
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)execl("/bin/sh", "sh", "-c", command.data, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(roof_csv_open(&csv, name, NULL), ROOF_OK);
    assert_int_equal(roof_csv_first(&csv), 'o');
    assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
    assert_int_equal(csv.count, 2);
    assert_string_equal(csv.cell[0], "one");
    assert_string_equal(csv.cell[1], "t\"w\no");
    assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
    assert_int_equal(csv.line, 4);
    assert_string_equal(csv.cell[0], "three");
    assert_string_equal(csv.cell[1], "");
    assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
    assert_false(more);
    roof_csv_close(&csv);
    close(ends[0]);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    roof_text_free(&command);
}

/* Lines as they are; the first byte that is no blank is only looked at. */
static void test_lines(void **unused)
{
    (void)unused;
    struct roof_csv csv;
    struct roof_error error = {0};
    struct roof_text text = ROOF_TEXT_INIT;
    char *line = NULL;
    size_t length = 0;
    bool more = false;
    roof_text_put(&text, "\n \t\r\n {\"a\"}\r\n\n#,\"\n");
    roof_text_fill(&text, 'x', ROOF_CSV_ROW_MAX + 2);
    roof_text_put(&text, "\n");
    roof_text_fill(&text, 'y', ROOF_CSV_ROW_MAX);
    roof_text_put(&text, "\nend");
    open_bytes(&csv, text.data, text.length);
    assert_int_equal(roof_csv_first(&csv), '{');
    assert_int_equal(roof_csv_line(&csv, &line, &length, &more, &error), ROOF_OK);
    assert_string_equal(line, " {\"a\"}\r");
    assert_int_equal(length, 7);
    assert_int_equal(csv.line, 3);
    assert_int_equal(roof_csv_line(&csv, &line, &length, &more, &error), ROOF_OK);
    assert_string_equal(line, "#,\"");
    assert_int_equal(roof_csv_line(&csv, &line, &length, &more, &error), ROOF_INVALID);
    assert_int_equal(error.line, 6);
    assert_non_null(strstr(error.message, "megabyte"));
    assert_int_equal(roof_csv_line(&csv, &line, &length, &more, &error), ROOF_OK);
    assert_int_equal(length, ROOF_CSV_ROW_MAX);
    assert_int_equal(roof_csv_line(&csv, &line, &length, &more, &error), ROOF_OK);
    assert_string_equal(line, "end");
    assert_true(more);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(roof_csv_line(&csv, &line, &length, &more, &error), ROOF_OK);
        assert_false(more);
    }
    assert_int_equal(roof_csv_first(&csv), EOF);
    roof_csv_close(&csv);
    roof_text_free(&text);
}

static void test_refused_files(void **unused)
{
    (void)unused;
    static const struct {
        const char *path;
        const char *reason;
    } cases[] = {{"/tmp", "not a regular file"},
                 {"/tmp/roofline-csv-XXXXXX/none.csv", "cannot read: "},
                 {"", "cannot read: "}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_csv csv;
        struct roof_error error = {0};
        assert_int_equal(roof_csv_open(&csv, cases[i].path, &error), ROOF_IO);
        assert_int_equal(error.status, ROOF_IO);
        assert_string_equal(error.source, cases[i].path);
        assert_int_equal(error.line, 0);
        assert_memory_equal(error.message, cases[i].reason, strlen(cases[i].reason));
        roof_csv_close(&csv); /* also after a failure */
        assert_int_equal(roof_csv_open(&csv, cases[i].path, NULL), ROOF_IO);
        roof_csv_close(&csv);
    }
}

/* Cells that are written read back the same. */
/* 64 MiB without a line end are read and left out, but no more, as of a device that has no end. */
static void test_endless_line(void **unused)
{
    (void)unused;
    static const char *const before[] = {"a\n", "a\nb\n#"};
    for (size_t i = 0; i < COUNT(before); i++) {
        struct roof_csv csv;
        struct roof_error error = {0};
        bool more = false;
        open_bytes(&csv, before[i], strlen(before[i]));
        assert_int_equal(truncate(path, (off_t)1 << 30), 0);
        for (size_t rows = 0; rows <= i; rows++) {
            assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
            assert_true(more);
        }
        if (i == 0) { /* a comment may have any bytes, a row may not */
            assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_INVALID);
        }
        assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_IO);
        assert_non_null(strstr(error.message, "does not end within 64 MiB"));
        assert_true(lseek(csv.file, 0, SEEK_CUR) < (off_t)65 << 20);
        roof_csv_close(&csv);
    }
    /* A long line that ends is only left out. */
    struct roof_csv csv;
    struct roof_error error = {0};
    bool more = false;
    open_bytes(&csv, "a\n", 2);
    assert_int_equal(truncate(path, (off_t)60 << 20), 0);
    const int file = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(file, "\nb\n", 3), 3);
    assert_int_equal(close(file), 0);
    assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
    assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_INVALID);
    assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
    assert_string_equal(csv.cell[0], "b");
    roof_csv_close(&csv);
}

static void test_cells_written(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        const char *cell;
    } cases[] = {{"", ""},
                 {"a b", "a b"},
                 {"a,b", "\"a,b\""},
                 {"\"", "\"\"\"\""},
                 {"say \"x\"", "\"say \"\"x\"\"\""},
                 {"a\nb", "\"a\nb\""},
                 {"a\rb", "\"a\rb\""}};
    struct roof_text row = ROOF_TEXT_INIT;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_text one = ROOF_TEXT_INIT;
        roof_text_put(&one, "");
        roof_csv_cell(&one, cases[i].text);
        assert_string_equal(one.data, cases[i].cell);
        roof_text_free(&one);
        roof_text_put(&row, i == 0 ? "first" : "");
        roof_text_put(&row, ",");
        roof_csv_cell(&row, cases[i].text);
    }
    struct roof_csv csv;
    bool more = false;
    open_bytes(&csv, row.data, row.length);
    assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
    assert_int_equal(csv.count, COUNT(cases) + 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_string_equal(csv.cell[i + 1], cases[i].text);
    }
    roof_csv_close(&csv);
    roof_text_free(&row);
}

/* A file is read a second time from where it was opened, with its mark passed over again. */
static void test_twice(void **unused)
{
    (void)unused;
    static const char bytes[] = "\xef\xbb\xbf"
                                "a,b\n\n1,2\nx\"\n";
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes - 1, file), sizeof bytes - 1);
    assert_int_equal(fclose(file), 0);
    struct roof_csv csv;
    assert_int_equal(roof_csv_open_twice(&csv, path, NULL), ROOF_OK);
    for (int i = 0; i < 3; i++) {
        bool more = false;
        assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
        assert_string_equal(csv.cell[0], "a");
        assert_int_equal(csv.line, 1);
        assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
        assert_string_equal(csv.cell[1], "2");
        assert_int_equal(csv.line, 3);
        assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_INVALID);
        assert_int_equal(roof_csv_read(&csv, &more, NULL), ROOF_OK);
        assert_false(more);
        assert_int_equal(roof_csv_rewind(&csv, NULL), ROOF_OK);
    }
    roof_csv_close(&csv);
}

static int set_up(void **unused)
{
    (void)unused;
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int tear_down(void **unused)
{
    (void)unused;
    return unlink(path);
}

/* Rows are read elsewhere, in lines that end before a limit; the reader goes on behind them. */
static void test_lines_elsewhere(void **unused)
{
    (void)unused;
    static const char file[] = "a,b\n# c\n1,2\n3,\"4\n5\"\n6,7";
    struct roof_csv csv;
    struct roof_csv part;
    struct roof_error error = {0};
    size_t length = 0;
    bool more = false;
    open_bytes(&csv, file, sizeof file - 1);
    assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
    const char *lines = roof_csv_lines(&csv, &length, 1000);
    assert_int_equal(length, 16); /* the last line has no end yet */
    assert_memory_equal(lines, file + 4, length);
    lines = roof_csv_lines(&csv, &length, 15);
    assert_int_equal(length, 13);
    roof_csv_open_lines(&part, "part");
    assert_int_equal(roof_csv_give(&part, lines, length, &error), ROOF_OK);
    assert_int_equal(roof_csv_read(&part, &more, &error), ROOF_OK);
    assert_string_equal(part.cell[1], "2");
    assert_int_equal(part.line, 2);
    assert_false(part.open);
    assert_int_equal(part.next, 8);
    assert_int_equal(roof_csv_read(&part, &more, &error),
                     ROOF_INVALID); /* it goes on behind them */
    assert_true(part.open);
    roof_csv_go_on(&csv, 8, 2);
    assert_int_equal(csv.line, 3);
    assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
    assert_string_equal(csv.cell[1], "4\n5");
    assert_int_equal(csv.line, 4);
    (void)roof_csv_lines(&csv, &length, 1000);
    assert_int_equal(length, 0);
    assert_int_equal(roof_csv_read(&csv, &more, &error), ROOF_OK);
    assert_string_equal(csv.cell[1], "7");
    assert_int_equal(csv.line, 6);
    assert_int_equal(roof_csv_give(&part, "8\n", 2, &error), ROOF_OK); /* used again */
    assert_int_equal(roof_csv_read(&part, &more, &error), ROOF_OK);
    assert_true(more && !part.open && part.line == 1);
    assert_string_equal(part.cell[0], "8");
    assert_int_equal(roof_csv_read(&part, &more, &error), ROOF_OK);
    assert_false(more);
    roof_csv_close(&part);
    roof_csv_close(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_nul),
        cmocka_unit_test(test_many_cells),    cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_end),           cmocka_unit_test(test_stray_quotes),
        cmocka_unit_test(test_refused_files), cmocka_unit_test(test_cells_written),
        cmocka_unit_test(test_borders),       cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_twice),         cmocka_unit_test(test_lines_elsewhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
