// SPDX-License-Identifier: MIT
#include "ask/row_block.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/crew.h"

/* So many rows take a millisecond, beside which the start of threads costs little. */
#define ROWS 1024
/* Fewer rows for each thread are not worth it. */
#define ROWS_EACH 128
#define PARTS_MAX (ROWS / ROWS_EACH)

/* Successive rows of a block, which one thread writes. */
struct roof_row_part {
    const struct roof_prediction *prediction;
    size_t count;
    const char *cells; /* those that the first of them carries, then those of the next */
    struct roof_table table;
    struct roof_carried *carried;
    struct roof_text text;
};

void roof_row_block_open(struct roof_row_block *out)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    *out = (struct roof_row_block){.threads = online < PARTS_MAX ? online : PARTS_MAX};
    if (online < 2) {
        return;
    }
    out->prediction = malloc(ROWS * sizeof *out->prediction);
    out->part = calloc(PARTS_MAX, sizeof *out->part);
    if (out->prediction == NULL || out->part == NULL) {
        roof_row_block_free(out);
    }
}

bool roof_row_block_full(const struct roof_row_block *block)
{
    return block->count == ROWS;
}

void roof_row_block_add(struct roof_row_block *block, const struct roof_prediction *prediction,
                        const struct roof_table *table)
{
    block->prediction[block->count++] = *prediction;
    for (size_t i = 0; i < table->carried_count; i++) {
        const char *const text = table->carried[i].text;
        roof_text_add(&block->carried, text, strlen(text) + 1);
    }
}

/* Writes the rows of a part. */
static enum roof_status write_part(void *context, size_t number, struct roof_error *error)
{
    struct roof_row_part *const part = (struct roof_row_part *)context + number;
    const char *cell = part->cells;
    for (size_t i = 0; i < part->count; i++) {
        for (size_t k = 0; k < part->table.carried_count; k++) {
            part->carried[k].text = cell;
            cell += strlen(cell) + 1;
        }
        roof_table_prediction(&part->table, &part->text, &part->prediction[i]);
    }
    return part->text.failed ? roof_no_memory(error) : ROOF_OK;
}

/* Gives a part its rows and moves *cells behind those that they carry; false: no memory. */
static bool share(struct roof_row_part *part, const struct roof_row_block *block,
                  const struct roof_table *table, const char **cells, size_t from, size_t to)
{
    const size_t columns = table->carried_count;
    part->prediction = &block->prediction[from];
    part->count = to - from;
    part->cells = *cells;
    part->table = *table;
    roof_text_clear(&part->text);
    if (part->carried == NULL && columns > 0) {
        part->carried = calloc(columns, sizeof *part->carried);
        if (part->carried == NULL) {
            return false;
        }
        memcpy(part->carried, table->carried, columns * sizeof *part->carried);
    }
    part->table.carried = part->carried;
    for (size_t i = 0; i < part->count * columns; i++) {
        *cells += strlen(*cells) + 1;
    }
    return true;
}

enum roof_status roof_row_block_write(struct roof_row_block *block, struct roof_table *table,
                                      struct roof_text *out, struct roof_error *error)
{
    const size_t count = block->count;
    const size_t most = count / ROWS_EACH > 0 ? count / ROWS_EACH : 1;
    const size_t parts = most < (size_t)block->threads ? most : (size_t)block->threads;
    const char *cells = block->carried.data;
    if (count == 0) {
        return ROOF_OK;
    }
    if (block->carried.failed) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < parts; i++) {
        if (!share(&block->part[i], block, table, &cells, count * i / parts,
                   count * (i + 1) / parts)) {
            return roof_no_memory(error);
        }
    }
    TRY(roof_crew_run(parts, block->threads, write_part, block->part, error));
    for (size_t i = 0; i < parts; i++) {
        roof_text_add(out, block->part[i].text.data, block->part[i].text.length);
    }
    table->rows += count;
    block->count = 0;
    roof_text_clear(&block->carried);
    return ROOF_OK;
}

void roof_row_block_free(struct roof_row_block *block)
{
    for (size_t i = 0; block->part != NULL && i < PARTS_MAX; i++) {
        free(block->part[i].carried);
        roof_text_free(&block->part[i].text);
    }
    free(block->part);
    free(block->prediction);
    roof_text_free(&block->carried);
    *block = (struct roof_row_block){.threads = 0};
}
