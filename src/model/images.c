// SPDX-License-Identifier: MIT
#include "model/images.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "model/tower.h"

#define IMAGE_SIDE_DEFAULT 1024

int64_t roof_image_tokens(const struct roof_scenario *s, const struct roof_model *m)
{
    const struct roof_sizes size = roof_sizes_unpack(s->image_size);
    return s->images > 0
               ? s->images * roof_tower_image(&m->tower, size.size[0], size.size[1]).tokens
               : 0;
}

int64_t roof_image_places(const struct roof_scenario *s, const struct roof_model *m)
{
    return m->tower.crossed ? s->images : roof_image_tokens(s, m);
}

int64_t roof_image_keys(const struct roof_scenario *s, const struct roof_model *m)
{
    const struct roof_sizes size = roof_sizes_unpack(s->seen_size);
    return m->tower.crossed && s->seen_images > 0
               ? s->seen_images * roof_tower_image(&m->tower, size.size[0], size.size[1]).tokens
               : 0;
}

bool roof_encodes_images(const struct roof_scenario *s)
{
    return s->images > 0 && (s->phase == ROOF_PHASE_PREFILL || s->phase == ROOF_PHASE_ENCODE);
}

void roof_images_none(struct roof_scenario *s)
{
    s->images = s->image_size = s->seen_images = s->seen_size = 0;
}

void roof_images_encoded(struct roof_scenario *s)
{
    if (s->images > 0) {
        s->seen_images = s->images;
        s->seen_size = s->image_size;
    }
    s->images = s->image_size = 0;
}

const char *roof_image_size_name(char out[ROOF_IMAGE_SIZE_SIZE], const struct roof_scenario *s)
{
    const struct roof_sizes size = roof_sizes_unpack(s->image_size);
    out[0] = '\0';
    if (s->images > 0) {
        (void)snprintf(out, ROOF_IMAGE_SIZE_SIZE, "%" PRId64 "x%" PRId64, size.size[0],
                       size.size[1]);
    }
    return out;
}

static int64_t usual_size(void)
{
    const struct roof_sizes usual = {{IMAGE_SIDE_DEFAULT, IMAGE_SIDE_DEFAULT}};
    return roof_sizes_pack(&usual);
}

enum roof_status roof_images_resolve(struct roof_scenario *s, const struct roof_model *m,
                                     struct roof_error *error)
{
    const bool encodes = s->phase == ROOF_PHASE_ENCODE;
    const bool prompts =
        encodes || s->phase == ROOF_PHASE_PREFILL || s->generate > 0 || m->tower.crossed;
    s->images = encodes && s->images == 0 ? 1 : s->images;
    if (s->images == 0 && s->image_size == 0) {
        s->seen_size = s->seen_images > 0 && s->seen_size == 0 ? usual_size() : s->seen_size;
        return ROOF_OK;
    }
    if (s->images == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("image_size") " needs " ROOF_KEY("images"));
    }
    if (m->tower.layers == 0) {
        return roof_error_set(error, ROOF_USAGE, "%s has no known encoder of images", m->id);
    }
    if (!prompts) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("images") " needs " ROOF_KEY(
                                  "phase") " prefill or encode, or " ROOF_KEY("prompt"));
    }
    s->image_size = s->image_size == 0 ? usual_size() : s->image_size;
    s->seen_images = s->images;
    s->seen_size = s->image_size;
    return ROOF_OK;
}

enum roof_status roof_images_alone(const struct roof_scenario *s, struct roof_error *error)
{
    const struct {
        const char *key;
        bool said;
    } others[] = {{"context", s->context > 0},
                  {"chunk", s->chunk > 0},
                  {"draft_tokens", s->draft_tokens > 0},
                  {"prefix_hit", s->prefix_hit > 0}};
    for (size_t i = 0; i < COUNT(others); i++) {
        if (others[i].said) {
            return roof_error_set(
                error, ROOF_USAGE,
                ROOF_KEY("%s") " concerns text: leave it out with " ROOF_KEY("phase") " encode",
                others[i].key);
        }
    }
    return ROOF_OK;
}

enum roof_status roof_images_check(const struct roof_scenario *s, const struct roof_model *m,
                                   struct roof_error *error)
{
    const int64_t tokens = roof_image_places(s, m);
    const bool request = s->phase == ROOF_PHASE_REQUEST;
    const int64_t prompt = request ? s->prompt : s->context;
    return s->phase == ROOF_PHASE_ENCODE || tokens <= prompt
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "%" PRId64 " image%s of a prompt are %" PRId64
                                " of its tokens: " ROOF_KEY("%s") " must be at least that",
                                s->images, s->images == 1 ? "" : "s", tokens,
                                request ? "prompt" : "context");
}

enum roof_status roof_images_fit(const struct roof_scenario *s, const struct roof_model *m,
                                 struct roof_error *error)
{
    const struct roof_tower *const t = &m->tower;
    const struct roof_sizes size = roof_sizes_unpack(s->image_size);
    const struct roof_image image = roof_tower_image(t, size.size[0], size.size[1]);
    const double images = (double)s->common.shape.batch * (double)s->images;
    double widest = fmax(3 * (double)t->hidden, 2 * (double)t->intermediate);
    widest = fmax(widest, (double)t->inputs);
    widest = fmax(widest, 3 * (double)t->heads * (double)t->head_dim);
    for (int i = 0; i < ROOF_PROJECTIONS_MAX; i++) {
        const double halves = t->project[i].act == ROOF_PROJECTION_GATED ? 2 : 1;
        widest = fmax(widest, fmax((double)t->project[i].in, halves * (double)t->project[i].out));
    }
    const double limit = ROOF_DIMENSION_MAX / (widest * (double)roof_tower_rows(t, &image));
    return images <= limit
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "%.0f images are more than the %.0f that are possible with %s: "
                                "lower " ROOF_KEY("batch") " or " ROOF_KEY("images"),
                                images, floor(limit), m->id);
}
