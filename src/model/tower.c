// SPDX-License-Identifier: MIT
/*
 * Images in front of the encoder. The sizes to which processors scale them are those of
 * huggingface/transformers: image_processing_qwen2_vl.py (smart_resize),
 * image_processing_pixtral.py (get_resize_output_image_size), image_processing_llama4_fast.py
 * (get_best_fit).
 */
#include "model/tower.h"

#include <math.h>

#include "base/base.h"

static int64_t at_least(int64_t value, int64_t least)
{
    return value > least ? value : least;
}

/* Returns a length in whole units: rounded to the nearest, halves to the even one; at least 1. */
static int64_t round_to(double length, int64_t unit)
{
    return at_least((int64_t)nearbyint(length / (double)unit), 1);
}

/* Scales an image so that its sides are multiples of a token's and its pixels within limits. */
static void fit_pixels(struct roof_image *out, const struct roof_tower *t, double width,
                       double height)
{
    const int64_t unit = t->patch * t->merge;
    const double pixels = (double)(unit * unit);
    int64_t columns = round_to(width, unit);
    int64_t rows = round_to(height, unit);
    const double size = (double)columns * (double)rows * pixels;
    if (size > (double)t->most_pixels) {
        const double scale = sqrt(width * height / (double)t->most_pixels);
        columns = at_least((int64_t)floor(width / scale / (double)unit), 1);
        rows = at_least((int64_t)floor(height / scale / (double)unit), 1);
    } else if (size < (double)t->least_pixels) {
        const double scale = sqrt((double)t->least_pixels / (width * height));
        columns = (int64_t)ceil(width * scale / (double)unit);
        rows = (int64_t)ceil(height * scale / (double)unit);
    }
    out->columns = columns * t->merge;
    out->rows = rows * t->merge;
}

/* Scales an image down to the longest side, and fills it up to whole tokens. */
static void fit_longest(struct roof_image *out, const struct roof_tower *t, double width,
                        double height)
{
    const double unit = (double)(t->patch * t->merge);
    const double scale = fmax(1, fmax(width, height) / (double)t->side);
    out->columns = at_least((int64_t)ceil(floor(width / scale) / unit), 1) * t->merge;
    out->rows = at_least((int64_t)ceil(floor(height / scale) / unit), 1) * t->merge;
}

/*
 * Cuts an image into squares: of all canvases of at most `squares` of them it takes the one that
 * enlarges the image least, else the one that shrinks it least, and of equal ones the smallest.
 * Where there are several squares, the whole image is one more.
 */
static int64_t cut(const struct roof_tower *t, double width, double height)
{
    double best = 0;
    int64_t area = 1;
    for (int64_t rows = 1; rows <= t->squares; rows++) {
        for (int64_t columns = 1; columns * rows <= t->squares; columns++) {
            const double scale =
                fmin((double)(columns * t->side) / width, (double)(rows * t->side) / height);
            const bool first = best == 0;
            const bool closer = scale >= 1 ? best < 1 || scale < best : best < 1 && scale > best;
            if (first || closer || (scale == best && columns * rows < area)) {
                best = scale;
                area = columns * rows;
            }
        }
    }
    return area > 1 ? area + 1 : 1;
}

struct roof_image roof_tower_image(const struct roof_tower *t, int64_t width, int64_t height)
{
    struct roof_image out = {.squares = 1};
    switch (t->fit) {
    case ROOF_FIT_PIXELS:
        fit_pixels(&out, t, (double)width, (double)height);
        break;
    case ROOF_FIT_LONGEST:
        fit_longest(&out, t, (double)width, (double)height);
        break;
    case ROOF_FIT_SQUARES:
        out.squares = cut(t, (double)width, (double)height);
        out.columns = out.rows = t->side / t->patch;
        break;
    }
    out.tokens = out.squares * (out.columns / t->merge) * (out.rows / t->merge);
    return out;
}

int64_t roof_tower_rows(const struct roof_tower *t, const struct roof_image *image)
{
    return image->squares * (image->columns * image->rows + (t->class_token ? 1 : 0));
}

void roof_tower_windows(struct roof_windows out[ROOF_WINDOW_KINDS], const struct roof_tower *t,
                        const struct roof_image *image)
{
    const int64_t side = t->window;
    const int64_t across = image->columns / side;
    const int64_t down = image->rows / side;
    const int64_t right = image->columns % side;
    const int64_t low = image->rows % side;
    const struct roof_windows kinds[ROOF_WINDOW_KINDS] = {
        {across * down, side * side},
        {right > 0 ? down : 0, right * side},
        {low > 0 ? across : 0, side * low},
        {right > 0 && low > 0 ? 1 : 0, right * low}};
    for (int i = 0; i < ROOF_WINDOW_KINDS; i++) {
        out[i] = kinds[i];
    }
}
