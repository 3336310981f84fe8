// SPDX-License-Identifier: MIT
#include "ask/record_batch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/crew.h"

/* The most bytes of a part: some hundred rows, which take a millisecond. */
#define PART_SIZE ((size_t)32 * 1024)
/* The least bytes that are worth starting threads. */
#define PART_LEAST ((size_t)8 * 1024)
/* Parts per thread. A thread that finishes early takes another part. */
#define PARTS_EACH 4
#define THREADS_MAX 64
/* The number of records that are answered singly after a part that stopped; it doubles with each
 * further one. A file of such records would otherwise be read in parts without progress. */
#define ALONE_LEAST 64
#define ALONE_MOST 65536

/* A part with its rows. */
struct roof_batch_part {
    struct roof_record_part records;
    struct roof_table table;
    struct roof_text text;
};

/* Allocates parts. Without memory, or on a single processor, there are none. */
static void open_batch(struct roof_record_batch *b)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    b->threads = online < 1 ? 1 : online < THREADS_MAX ? online : THREADS_MAX;
    b->wait = ALONE_LEAST;
    if (b->threads > 1) {
        b->parts = (size_t)b->threads * PARTS_EACH;
        b->part = calloc(b->parts, sizeof *b->part);
    }
}

/* Answers the records of a part. Parts after one that has stopped are not begun. */
static enum roof_status answer_part(void *context, size_t number, struct roof_error *error)
{
    const struct roof_record_batch *const b = context;
    struct roof_batch_part *const part = &b->part[number];
    for (;;) {
        const struct roof_prediction *prediction = NULL;
        bool more = false;
        TRY(roof_record_part_next(&part->records, &more, error));
        if (!more) {
            break;
        }
        const enum roof_status status = b->predict(b->context, &prediction, &part->records, error);
        if (status == ROOF_MEMORY) {
            return status;
        }
        if (part->records.stopped) {
            break;
        }
        if (status == ROOF_OK) {
            roof_table_prediction(&part->table, &part->text, prediction);
            roof_record_part_keep(&part->records);
        } else {
            roof_records_refuse(&part->records.records, error);
        }
    }
    return part->text.failed       ? roof_no_memory(error)
           : part->records.stopped ? ROOF_UNSATISFIED
                                   : ROOF_OK;
}

/* Cuts lines into parts; *count is their number. */
static enum roof_status cut(size_t *count, struct roof_record_batch *b, const char *lines,
                            size_t length, struct roof_error *error)
{
    const size_t even = length / b->parts + 1;
    const size_t size = even > PART_LEAST ? even : PART_LEAST;
    size_t from = 0;
    for (*count = 0; from < length; ++*count) {
        struct roof_batch_part *const part = &b->part[*count];
        const size_t rest = length - from;
        const char *const end =
            rest <= size ? NULL : memchr(lines + from + size, '\n', rest - size);
        const size_t bytes = end == NULL ? rest : (size_t)(end - (lines + from)) + 1;
        TRY(roof_record_part_begin(&part->records, b->records, lines + from, bytes, error));
        part->table = *b->table;
        part->table.rows = 0;
        roof_text_clear(&part->text);
        roof_table_carry(&part->table, part->records.records.carried, b->table->carried_count);
        from += bytes;
    }
    return ROOF_OK;
}

/* Takes over the finished work of parts and writes their rows in order, up to one that has stopped.
 */
static enum roof_status take(struct roof_record_batch *b, size_t count, struct roof_error *error)
{
    bool stopped = false;
    TRY(roof_asking_write(b->asking, b->text, error));
    for (size_t i = 0; i < count && !stopped; i++) {
        struct roof_batch_part *const part = &b->part[i];
        roof_records_take(b->records, &part->records);
        b->table->rows += part->table.rows;
        TRY(roof_asking_write(b->asking, &part->text, error));
        stopped = part->records.stopped;
    }
    b->alone = stopped ? b->wait : 0;
    b->wait = !stopped ? ALONE_LEAST : b->wait < ALONE_MOST ? 2 * b->wait : ALONE_MOST;
    return ROOF_OK;
}

enum roof_status roof_record_batch_answer(struct roof_record_batch *batch, bool *some,
                                          struct roof_error *error)
{
    size_t length = 0;
    size_t count = 0;
    *some = false;
    if (batch->threads == 0) {
        open_batch(batch);
    }
    if (batch->part == NULL || batch->alone > 0) {
        batch->alone -= batch->alone > 0;
        return ROOF_OK;
    }
    const char *const lines = roof_records_lines(batch->records, &length, batch->parts * PART_SIZE);
    if (length < 2 * PART_LEAST) {
        return ROOF_OK;
    }
    TRY(cut(&count, batch, lines, length, error));
    const enum roof_status status = roof_crew_run(count, batch->threads, answer_part, batch, error);
    if (status != ROOF_OK && status != ROOF_UNSATISFIED) {
        return status;
    }
    *some = true;
    return take(batch, count, error);
}

void roof_record_batch_free(struct roof_record_batch *batch)
{
    for (size_t i = 0; batch->part != NULL && i < batch->parts; i++) {
        roof_record_part_close(&batch->part[i].records);
        roof_text_free(&batch->part[i].text);
    }
    free(batch->part);
    batch->part = NULL;
}
