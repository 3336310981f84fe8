// SPDX-License-Identifier: MIT
#include "simulate/step_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* --- axes ---------------------------------------------------------------------------------- */

/* An axis has the whole numbers up to 2^(bits + 1), and then 2^bits points per doubling, so that
 * the bits of a double give the two neighbouring points. */
enum {
    COUNT_BITS = 3,
    CONTEXT_BITS = 1,
    ALONE_BITS = 0, /* for an axis of which only the first point is used */
    PROMPT_BITS = 2,
    OCTAVES = 28,
    MANTISSA = 52,
    BIAS = 1023
};

/* A number between two points of an axis. */
struct place {
    size_t point; /* the lower point, from 0 */
    double part;  /* fraction of the distance to the next point */
};

static size_t points_of(int bits)
{
    return (((size_t)OCTAVES - (size_t)bits) << bits) + ((size_t)1 << bits) + 1;
}

/* Finds the place of a number of 1 or more. */
static inline struct place place_of(double x, int bits)
{
    const double first = (double)(1 << bits);
    if (x < first) {
        const double whole = floor(x);
        return (struct place){(size_t)whole - 1, x - whole};
    }
    uint64_t raw = 0;
    memcpy(&raw, &x, sizeof raw);
    const int rest = MANTISSA - bits;
    const uint64_t steps = (raw >> rest) - ((uint64_t)(BIAS + bits) << bits);
    const uint64_t below = raw & (((uint64_t)1 << rest) - 1);
    return (struct place){(size_t)steps + (size_t)first - 1, (double)below * (0x1p-52 * first)};
}

/* Returns the number at a point, which is whole. */
static double value_of(size_t point, int bits)
{
    const size_t first = (size_t)1 << bits;
    if (point + 1 < first) {
        return (double)point + 1;
    }
    const size_t steps = point + 1 - first;
    return ldexp((double)(first + steps % first), (int)(steps / first));
}

/* --- tables -------------------------------------------------------------------------------- */

/* The most numbers of prompt tokens with separate points, after those of the axis. */
enum { PINS = 4 };

/* A table over two axes; unpredicted cells are NAN. */
struct grid {
    int row_bits;
    int column_bits;
    size_t columns;
    double *cell;
};

struct roof_step_table {
    roof_step_source *source;
    void *context;
    size_t cells; /* number of predicted cells */
    double pin[PINS];
    size_t pins;
    struct grid decode;
    struct grid prefill;
    struct grid
        spread; /* prefill with as many tokens in each group of the attention; or no cells */
    double groups;
    struct grid shared;
    struct grid beside;  /* the time that decode contexts add in steps with prompts; or no cells */
    struct grid wait[2]; /* the time in which decode steps, and steps with prompts, wait for a
                            context above 1; or no cells */
    struct grid encode;  /* the time to encode the images of prompts; or no cells */
};

static enum roof_status open_grid(struct grid *out, int row_bits, int column_bits,
                                  struct roof_error *error)
{
    const size_t columns = points_of(column_bits) + PINS;
    const size_t count = (points_of(row_bits) + PINS) * columns;
    *out = (struct grid){.row_bits = row_bits, .column_bits = column_bits, .columns = columns};
    out->cell = malloc(count * sizeof *out->cell);
    if (out->cell == NULL) {
        return roof_no_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        out->cell[i] = ROOF_UNKNOWN;
    }
    return ROOF_OK;
}

static enum roof_status open_grids(struct roof_step_table *t, struct roof_error *error)
{
    TRY(open_grid(&t->decode, COUNT_BITS, CONTEXT_BITS, error));
    TRY(open_grid(&t->prefill, COUNT_BITS, PROMPT_BITS, error));
    return open_grid(&t->shared, COUNT_BITS, COUNT_BITS, error);
}

enum roof_status roof_step_table_open(struct roof_step_table **out, roof_step_source *source,
                                      void *context, struct roof_error *error)
{
    struct roof_step_table *const t = calloc(1, sizeof *t);
    *out = NULL;
    if (t == NULL) {
        return roof_no_memory(error);
    }
    t->source = source;
    t->context = context;
    const enum roof_status status = open_grids(t, error);
    if (status != ROOF_OK) {
        roof_step_table_free(t);
        return status;
    }
    *out = t;
    return ROOF_OK;
}

void roof_step_table_free(struct roof_step_table *table)
{
    if (table != NULL) {
        free(table->decode.cell);
        free(table->prefill.cell);
        free(table->spread.cell);
        free(table->shared.cell);
        free(table->beside.cell);
        free(table->wait[0].cell);
        free(table->wait[1].cell);
        free(table->encode.cell);
        free(table);
    }
}

void roof_step_table_pin(struct roof_step_table *table, int64_t tokens)
{
    if (table->pins < PINS && tokens > 0) {
        table->pin[table->pins++] = (double)tokens;
    }
}

enum roof_status roof_step_table_groups(struct roof_step_table *table, int64_t groups,
                                        struct roof_error *error)
{
    table->groups = (double)groups;
    return groups == 1 ? ROOF_OK : open_grid(&table->spread, COUNT_BITS, PROMPT_BITS, error);
}

enum roof_status roof_step_table_beside(struct roof_step_table *table, struct roof_error *error)
{
    return open_grid(&table->beside, COUNT_BITS, CONTEXT_BITS, error);
}

enum roof_status roof_step_table_longest(struct roof_step_table *table, struct roof_error *error)
{
    TRY(open_grid(&table->wait[0], COUNT_BITS, CONTEXT_BITS, error));
    return open_grid(&table->wait[1], COUNT_BITS, CONTEXT_BITS, error);
}

bool roof_step_table_waits(const struct roof_step_table *table)
{
    return table->wait[1].cell != NULL;
}

enum roof_status roof_step_table_encode(struct roof_step_table *table, struct roof_error *error)
{
    return open_grid(&table->encode, COUNT_BITS, ALONE_BITS, error);
}

size_t roof_step_table_cells(const struct roof_step_table *table)
{
    return table->cells;
}

/* Finds the place of a number of prompt tokens. */
static struct place place_of_tokens(const struct roof_step_table *t, double tokens)
{
    for (size_t i = 0; i < t->pins; i++) {
        if (tokens == t->pin[i]) {
            return (struct place){points_of(COUNT_BITS) + i, 0};
        }
    }
    return place_of(tokens, COUNT_BITS);
}

/* Returns the number at a point of an axis that may have pinned points. */
static double value_at(const struct roof_step_table *t, size_t point, int bits)
{
    const size_t points = points_of(bits);
    return point < points ? value_of(point, bits) : t->pin[point - points];
}

/* --- cells --------------------------------------------------------------------------------- */

/* Steps with both kinds of sequences are predicted for this context of the decoding ones. The
 * others have one new prompt. */
#define SHARED_CONTEXT 1024

/* Computes the saving of a step of D and h over two separate steps. */
static enum roof_status fill_shared(double *out, struct roof_step_table *t, double decoding,
                                    double tokens, struct roof_error *error)
{
    const double fresh = (tokens + 1) / 2;
    const struct roof_step_load decode = {.decoding = decoding, .context = SHARED_CONTEXT};
    const struct roof_step_load prefill = {.tokens = tokens, .prompt_context = fresh};
    const struct roof_step_load both = {
        .decoding = decoding, .context = SHARED_CONTEXT, .tokens = tokens, .prompt_context = fresh};
    double apart = 0;
    double together = 0;
    double other = 0;
    TRY(t->source(&apart, t->context, &decode, error));
    TRY(t->source(&other, t->context, &prefill, error));
    TRY(t->source(&together, t->context, &both, error));
    *out = together - apart - other;
    return ROOF_OK;
}

/* Computes how much more a context above SHARED_CONTEXT adds to a step that also has one prompt
 * token than to a step without prompts. */
static enum roof_status fill_beside(double *out, struct roof_step_table *t, double decoding,
                                    double context, struct roof_error *error)
{
    double time[2][2];
    for (int beside = 0; beside < 2; beside++) {
        struct roof_step_load here = {
            .decoding = decoding, .context = context, .tokens = beside, .prompt_context = beside};
        struct roof_step_load usual = here;
        usual.context = SHARED_CONTEXT;
        TRY(t->source(&time[beside][0], t->context, &here, error));
        TRY(t->source(&time[beside][1], t->context, &usual, error));
    }
    *out = (time[1][0] - time[1][1]) - (time[0][0] - time[0][1]);
    return ROOF_OK;
}

/* Computes how much longer a step is in which one context is longer than 1 and the others are 1. */
static enum roof_status fill_wait(double *out, struct roof_step_table *t, double decoding,
                                  double longest, bool beside, struct roof_error *error)
{
    struct roof_step_load load = {
        .decoding = decoding, .context = 1, .tokens = beside, .prompt_context = beside};
    double equal = 0;
    TRY(t->source(&equal, t->context, &load, error));
    load.longest = longest;
    TRY(t->source(out, t->context, &load, error));
    *out -= equal;
    return ROOF_OK;
}

/* Fills a cell of a table. */
static enum roof_status fill(struct roof_step_table *t, const struct grid *grid, size_t row,
                             size_t column, struct roof_error *error)
{
    double *const cell = &grid->cell[row * grid->columns + column];
    const double count = value_at(t, row, grid->row_bits);
    const double other = value_at(t, column, grid->column_bits);
    t->cells++;
    if (grid == &t->shared) {
        return fill_shared(cell, t, count, other, error);
    }
    if (grid == &t->beside) {
        return fill_beside(cell, t, count, other, error);
    }
    if (grid == &t->wait[0] || grid == &t->wait[1]) {
        return fill_wait(cell, t, count, other, grid == &t->wait[1], error);
    }
    struct roof_step_load load = {
        .tokens = count, .prompt_context = other, .parts = grid == &t->spread ? t->groups : 0};
    if (grid == &t->decode) {
        load = (struct roof_step_load){.decoding = count, .context = other};
    } else if (grid == &t->encode) {
        load = (struct roof_step_load){.encoded = count};
    }
    return t->source(cell, t->context, &load, error);
}

/* Adds a weighted cell of a table. Cells of weight 0 are not predicted. */
static inline enum roof_status add_cell(double *sum, struct roof_step_table *t,
                                        const struct grid *grid, double weight, size_t row,
                                        size_t column, struct roof_error *error)
{
    if (weight <= 0) {
        return ROOF_OK;
    }
    const double *const cell = &grid->cell[row * grid->columns + column];
    if (isnan(*cell)) {
        TRY(fill(t, grid, row, column, error));
    }
    *sum += weight * *cell;
    return ROOF_OK;
}

/* Adds a value interpolated between four cells of a table. */
static enum roof_status add(double *sum, struct roof_step_table *t, const struct grid *grid,
                            struct place row, struct place column, struct roof_error *error)
{
    const double up = 1 - row.part;
    const double left = 1 - column.part;
    const size_t down = row.point + 1;
    const size_t right = column.point + 1;
    TRY(add_cell(sum, t, grid, up * left, row.point, column.point, error));
    TRY(add_cell(sum, t, grid, up * column.part, row.point, right, error));
    TRY(add_cell(sum, t, grid, row.part * left, down, column.point, error));
    return add_cell(sum, t, grid, row.part * column.part, down, right, error);
}

/* Adds the time of prompt tokens. */
static enum roof_status add_prefill(double *sum, struct roof_step_table *t,
                                    const struct roof_step_load *load, struct place tokens,
                                    struct roof_error *error)
{
    const struct place context = place_of(load->prompt_context, PROMPT_BITS);
    double one = 0;
    double all = 0;
    if (t->spread.cell == NULL || load->widest == 0 || load->widest == load->tokens) {
        return add(sum, t, &t->prefill, tokens, context, error);
    }
    TRY(add(&one, t, &t->prefill, tokens, context, error));
    TRY(add(&all, t, &t->spread, tokens, context, error));
    const double part = (load->widest / load->tokens * t->groups - 1) / (t->groups - 1);
    *sum += all + part * (one - all);
    return ROOF_OK;
}

/* Adds the time in which a step waits for its longest context. */
static enum roof_status add_wait(double *sum, struct roof_step_table *t,
                                 const struct roof_step_load *load, struct place decoding,
                                 struct place context, struct roof_error *error)
{
    const struct grid *const grid = &t->wait[load->tokens > 0 ? 1 : 0];
    double longest = 0;
    double mean = 0;
    TRY(add(&longest, t, grid, decoding, place_of(load->longest, CONTEXT_BITS), error));
    TRY(add(&mean, t, grid, decoding, context, error));
    *sum += longest - mean;
    return ROOF_OK;
}

enum roof_status roof_step_time(double *out_s, struct roof_step_table *table,
                                const struct roof_step_load *load, struct roof_error *error)
{
    double sum = 0;
    struct place decoding = {0};
    struct place context = {0};
    if (load->decoding > 0) {
        decoding = place_of(load->decoding, COUNT_BITS);
        context = place_of(load->context, CONTEXT_BITS);
        TRY(add(&sum, table, &table->decode, decoding, context, error));
    }
    if (load->longest > 0 && load->decoding > 0 && roof_step_table_waits(table)) {
        TRY(add_wait(&sum, table, load, decoding, context, error));
    }
    if (load->tokens > 0) {
        const struct place tokens = place_of_tokens(table, load->tokens);
        TRY(add_prefill(&sum, table, load, tokens, error));
        if (load->decoding > 0) {
            TRY(add(&sum, table, &table->shared, decoding, tokens, error));
        }
        if (load->decoding > 0 && table->beside.cell != NULL) {
            TRY(add(&sum, table, &table->beside, decoding, context, error));
        }
    }
    if (load->encoded > 0 && table->encode.cell != NULL) {
        TRY(add(&sum, table, &table->encode, place_of(load->encoded, COUNT_BITS),
                (struct place){.point = 0}, error));
    }
    *out_s = sum;
    return ROOF_OK;
}

/* Finds a line of a table; false if its cells are not all predicted. */
static bool find_line(struct roof_step_line *out, const struct grid *grid, double decoding,
                      double context)
{
    const struct place row = place_of(decoding, COUNT_BITS);
    const size_t column = place_of(context, CONTEXT_BITS).point;
    const double *const upper = grid->cell + row.point * grid->columns + column;
    const double *const lower = row.part > 0 ? upper + grid->columns : upper;
    *out = (struct roof_step_line){.low = value_of(column, CONTEXT_BITS),
                                   .high = value_of(column + 1, CONTEXT_BITS),
                                   .row_part = row.part,
                                   .cell = {upper[0], upper[1], lower[0], lower[1]}};
    out->per_context = 1 / (out->high - out->low);
    return !isnan(upper[0] + upper[1] + lower[0] + lower[1]);
}

bool roof_step_lines_find(struct roof_step_lines *out, const struct roof_step_table *table,
                          const struct roof_step_load *load)
{
    if (load->context < 1 << CONTEXT_BITS) {
        return false; /* neighbouring points differ by 1 */
    }
    out->waits = roof_step_table_waits(table);
    return find_line(&out->decode, &table->decode, load->decoding, load->context) &&
           (!out->waits || (find_line(&out->wait, table->wait, load->decoding, load->context) &&
                            find_line(&out->longest, table->wait, load->decoding, load->longest)));
}

/* --- the steps of a request ---------------------------------------------------------------- */

/* Makes chunks with this number of tokens and the mean context k: one chunk after others of its
 * prompt, or as many whole prompts as have that mean. */
static void shape_prompts(struct roof_step_shape *out, double tokens, double mean)
{
    const double whole = 2 * mean - 1; /* a prompt with this number of tokens has that mean */
    const double prompts = whole >= tokens ? 1 : fmax(1, round(tokens / whole));
    const double each = fmax(1, round(tokens / prompts));
    const double context = mean + (tokens / prompts - 1) / 2;
    out->prompts = (int64_t)prompts;
    out->tokens = (int64_t)each;
    out->prompt_context = (int64_t)fmax(each, round(context));
}

/* Returns a decode context within the longest context of the draft model, because a point of the
 * table may exceed all contexts of the requests. */
static int64_t context_within(const struct roof_scenario *s, double context)
{
    const int64_t whole = (int64_t)fmax(1, context);
    const bool limited = s->draft_tokens > 0 && s->draft != NULL && s->draft->position_rows > 0;
    const int64_t last = limited ? s->draft->positions - (s->draft_tokens - 1) : whole;
    return whole < last ? whole : last;
}

enum roof_status roof_request_steps(double *out_s, void *context, const struct roof_step_load *load,
                                    struct roof_error *error)
{
    const struct roof_request_steps *const steps = context;
    struct roof_step_times times;
    struct roof_step_shape shape = {.decoding = (int64_t)load->decoding,
                                    .context =
                                        context_within(&steps->request->asked, load->context)};
    if (load->longest > 0) {
        shape.longest = context_within(&steps->request->asked, load->longest);
    }
    if (load->encoded > 0) {
        TRY(roof_request_encoding(&times, steps->request,
                                  (int64_t)load->encoded * steps->request->asked.pp, error));
        *out_s = times.value[steps->value];
        return ROOF_OK;
    }
    if (load->tokens > 0) {
        const double parts = load->parts > 0 ? load->parts : 1;
        shape_prompts(&shape, load->tokens / parts, load->prompt_context);
        shape.prompts *= (int64_t)parts;
    }
    /* All pipeline stages have such a step under way: each step is one microbatch. */
    shape.decoding *= steps->request->asked.pp;
    shape.prompts *= steps->request->asked.pp;
    TRY(roof_request_step(&times, steps->request, &shape, error));
    *out_s = times.value[steps->value];
    return ROOF_OK;
}
