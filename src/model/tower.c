// SPDX-License-Identifier: MIT
/*
 * Images in front of the encoder. The sizes to which processors scale them are those of
 * huggingface/transformers: image_processing_qwen2_vl.py and _glm4v.py (smart_resize),
 * image_processing_pixtral.py (get_resize_output_image_size), image_processing_llama4_fast.py
 * (get_best_fit), image_processing_kimi_k25.py (navit_resize), image_processing_gemma4.py
 * (get_aspect_ratio_preserving_size), image_processing_mllama.py and _cohere2_vision.py
 * (get_optimal_tiled_canvas), image_processing_utils.py (select_best_resolution) with
 * modeling_llava_next.py (unpad_image, pack_image_features); of
 * OpenGVLab/InternVL, internvl_chat, dynamic_preprocess.
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
    const double narrow = fmin(width, height);
    if (t->grows && narrow < (double)unit) {
        const double scale = (double)unit / narrow;
        width = floor(width * scale);
        height = floor(height * scale);
    }
    const double pixels = (double)unit * (double)unit;
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
 * Where there are several squares, the whole image is one more in most classes.
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
    return area > 1 && !t->no_overview ? area + 1 : area;
}

/*
 * Cuts an image into squares: of all canvases of at most `squares` of them it takes the one whose
 * ratio of sides is closest to the image's. Of equally close ones a larger canvas is taken if the
 * image has more than half of its pixels.
 */
static int64_t cut_by_aspect(const struct roof_tower *t, double width, double height)
{
    const double aspect = width / height;
    const double pixels = (double)t->side * (double)t->side;
    double least = HUGE_VAL;
    int64_t best = 1;
    for (int64_t area = 1; area <= t->squares; area++) {
        for (int64_t columns = 1; columns <= area; columns++) {
            const int64_t rows = area / columns;
            const double off = fabs(aspect - (double)columns / (double)rows);
            if (area % columns == 0 &&
                (off < least || (off == least && width * height > 0.5 * pixels * (double)area))) {
                least = off;
                best = area;
            }
        }
    }
    return best > 1 && !t->no_overview ? best + 1 : best;
}

/* Scales an image down to a number of whole patches, and to the longest side, and fills it up to
 * whole tokens. */
static void fit_patches(struct roof_image *out, const struct roof_tower *t, double width,
                        double height)
{
    const double patch = (double)t->patch;
    const double unit = (double)(t->patch * t->merge);
    const double count = fmax(1, floor(width / patch)) * fmax(1, floor(height / patch));
    double scale = fmin(1, sqrt((double)t->most_patches / count));
    scale = fmin(scale, fmin((double)t->side / width, (double)t->side / height));
    out->columns = (int64_t)ceil(fmax(1, floor(width * scale)) / unit) * t->merge;
    out->rows = (int64_t)ceil(fmax(1, floor(height * scale)) / unit) * t->merge;
}

/* Scales an image, also up, to as many whole tokens as the number of patches allows. */
static void fit_budget(struct roof_image *out, const struct roof_tower *t, double width,
                       double height)
{
    const double unit = (double)(t->patch * t->merge);
    const double pixels = (double)t->most_patches * (double)(t->patch * t->patch);
    const double scale = sqrt(pixels / (width * height));
    const int64_t most = at_least(t->most_patches / (t->merge * t->merge), 1);
    int64_t columns = (int64_t)floor(scale * width / unit);
    int64_t rows = (int64_t)floor(scale * height / unit);
    if (rows == 0) {
        rows = 1;
        columns = (int64_t)fmin(floor(width / height), (double)most);
    } else if (columns == 0) {
        columns = 1;
        rows = (int64_t)fmin(floor(height / width), (double)most);
    }
    out->columns = at_least(columns, 1) * t->merge;
    out->rows = at_least(rows, 1) * t->merge;
}

/* Finds the canvas on which an image keeps most of its pixels, and of such the one that wastes
 * least; *rows and *columns are its squares. */
static void find_canvas(const struct roof_tower *t, double width, double height, int64_t *rows,
                        int64_t *columns)
{
    const double side = (double)t->side;
    double most = -1;
    double least = HUGE_VAL;
    for (int64_t i = 0; i < t->canvases; i++) {
        const double high = (double)t->canvas[i][0] * side;
        const double wide = (double)t->canvas[i][1] * side;
        const double scale = fmin(wide / width, high / height);
        const double kept = fmin(floor(width * scale) * floor(height * scale), width * height);
        const double wasted = wide * high - kept;
        if (kept > most || (kept == most && wasted < least)) {
            most = kept;
            least = wasted;
            *rows = t->canvas[i][0];
            *columns = t->canvas[i][1];
        }
    }
}

/*
 * Cuts an image into the squares of a canvas, and one of all of it. Whole lines and columns of
 * patches beside the image, equally many on both sides, make no tokens, and a token ends each line.
 */
static void fit_canvas(struct roof_image *out, const struct roof_tower *t, double width,
                       double height)
{
    const int64_t grid = t->side / t->patch;
    int64_t rows = 1;
    int64_t columns = 1;
    find_canvas(t, width, height, &rows, &columns);
    int64_t high = rows * grid;
    int64_t wide = columns * grid;
    if (width / height > (double)wide / (double)high) {
        high -= (high - (int64_t)floor(height * (double)wide / width + 5e-8)) / 2 * 2;
    } else {
        wide -= (wide - (int64_t)floor(width * (double)high / height + 5e-8)) / 2 * 2;
    }
    out->squares = rows * columns + 1;
    out->columns = out->rows = grid;
    out->tokens = grid * grid + high * wide + high;
}

/* Cuts an image into squares, and counts them. */
static void fit_squares(struct roof_image *out, const struct roof_tower *t, int64_t squares)
{
    out->squares = squares;
    out->columns = out->rows = t->side / t->patch;
}

struct roof_image roof_tower_image(const struct roof_tower *t, int64_t width, int64_t height)
{
    struct roof_image out = {.squares = 1};
    const double w = (double)width;
    const double h = (double)height;
    switch (t->fit) {
    case ROOF_FIT_PIXELS:
        fit_pixels(&out, t, w, h);
        break;
    case ROOF_FIT_LONGEST:
        fit_longest(&out, t, w, h);
        break;
    case ROOF_FIT_SQUARES:
        fit_squares(&out, t, cut(t, w, h));
        break;
    case ROOF_FIT_ASPECT:
        fit_squares(&out, t, cut_by_aspect(t, w, h));
        break;
    case ROOF_FIT_PATCHES:
        fit_patches(&out, t, w, h);
        break;
    case ROOF_FIT_CANVASES:
        fit_canvas(&out, t, w, h);
        return out;
    case ROOF_FIT_BUDGET:
        fit_budget(&out, t, w, h);
        break;
    }
    out.tokens =
        out.squares * ((out.columns / t->merge) * (out.rows / t->merge) + t->class_results);
    out.squares = t->crossed ? t->squares : out.squares;
    return out;
}

int64_t roof_tower_embedded(const struct roof_tower *t, const struct roof_image *image)
{
    return image->squares * (image->columns * image->rows + (t->class_token ? 1 : 0));
}

int64_t roof_tower_rows(const struct roof_tower *t, const struct roof_image *image)
{
    const int64_t unit = at_least(t->row_unit, 1);
    const int64_t each = roof_tower_embedded(t, image) / image->squares;
    return image->squares * roof_divide_up(each, unit) * unit;
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
