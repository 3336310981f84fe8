// SPDX-License-Identifier: MIT
#include "model/media.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "model/audio.h"
#include "model/tower.h"

#define IMAGE_SIDE_DEFAULT 1024
#define AUDIO_LENGTH_DEFAULT_S 30

const struct roof_prompt_media roof_no_media;

bool roof_has_media(const struct roof_scenario *s)
{
    return s->media.images > 0 || s->media.audio > 0;
}

/* Returns the tokens that the encoder makes of a number of images of one size. */
static int64_t tokens_of(const struct roof_model *m, int64_t images, int64_t packed)
{
    const struct roof_sizes size = roof_sizes_unpack(packed);
    return images > 0 ? images * roof_tower_image(&m->tower, size.size[0], size.size[1]).tokens : 0;
}

int64_t roof_image_tokens(const struct roof_scenario *s, const struct roof_model *m)
{
    return tokens_of(m, s->media.images, s->media.image_size);
}

int64_t roof_audio_tokens(const struct roof_scenario *s, const struct roof_model *m)
{
    return s->media.audio > 0
               ? s->media.audio * roof_audio_clip(&m->audio, s->media.audio_length_s).tokens
               : 0;
}

int64_t roof_media_tokens(const struct roof_scenario *s, const struct roof_model *m)
{
    return roof_image_tokens(s, m) + roof_audio_tokens(s, m);
}

const char *roof_image_size_name(char out[ROOF_IMAGE_SIZE_SIZE], const struct roof_scenario *s)
{
    const struct roof_sizes size = roof_sizes_unpack(s->media.image_size);
    out[0] = '\0';
    if (s->media.images > 0) {
        (void)snprintf(out, ROOF_IMAGE_SIZE_SIZE, "%" PRId64 "x%" PRId64, size.size[0],
                       size.size[1]);
    }
    return out;
}

int64_t roof_media_places(const struct roof_scenario *s, const struct roof_model *m)
{
    return (m->tower.crossed ? s->media.images : roof_image_tokens(s, m)) + roof_audio_tokens(s, m);
}

int64_t roof_image_keys(const struct roof_scenario *s, const struct roof_model *m)
{
    return m->tower.crossed ? tokens_of(m, s->media.seen_images, s->media.seen_size) : 0;
}

bool roof_encodes_images(const struct roof_scenario *s)
{
    return s->media.images > 0 && (s->phase == ROOF_PHASE_PREFILL || s->phase == ROOF_PHASE_ENCODE);
}

void roof_media_encoded(struct roof_prompt_media *media)
{
    const struct roof_prompt_media seen = *media;
    const bool encodes = seen.images > 0;
    *media = (struct roof_prompt_media){.seen_images = encodes ? seen.images : seen.seen_images,
                                        .seen_size = encodes ? seen.image_size : seen.seen_size};
}

static enum roof_status resolve_images(struct roof_prompt_media *media, const struct roof_model *m,
                                       struct roof_error *error)
{
    const struct roof_sizes usual = {{IMAGE_SIDE_DEFAULT, IMAGE_SIDE_DEFAULT}};
    if (media->images == 0 && media->image_size > 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("image_size") " needs " ROOF_KEY("images"));
    }
    if (media->images > 0 && m->tower.layers == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              m->tower.unused > 0
                                  ? "%s: the config has no shapes of its vision encoder, so images "
                                    "cannot be predicted"
                                  : "%s has no known vision encoder",
                              m->id);
    }
    if (media->images > 0) {
        media->image_size = media->image_size == 0 ? roof_sizes_pack(&usual) : media->image_size;
        media->seen_images = media->images;
        media->seen_size = media->image_size;
    } else if (media->seen_images > 0 && media->seen_size == 0) {
        media->seen_size = roof_sizes_pack(&usual);
    }
    return ROOF_OK;
}

static enum roof_status resolve_audio(struct roof_prompt_media *media, const struct roof_model *m,
                                      struct roof_error *error)
{
    const int64_t most = m->audio.most_s;
    if (media->audio == 0 && media->audio_length_s > 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("audio_length_s") " needs " ROOF_KEY("audio"));
    }
    if (media->audio > 0 && m->audio.layers == 0) {
        return roof_error_set(error, ROOF_USAGE, "%s has no known audio encoder", m->id);
    }
    if (media->audio > 0 && media->audio_length_s == 0) {
        media->audio_length_s = AUDIO_LENGTH_DEFAULT_S;
    }
    return media->audio == 0 || most == 0 || media->audio_length_s <= most
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("audio_length_s") " must be at most %" PRId64
                                                           ": %s takes no longer clips",
                                most, m->id);
}

/* Returns the elements of the widest tensor of an image. */
static double widest_of_image(const struct roof_scenario *s, const struct roof_tower *t)
{
    const struct roof_sizes size = roof_sizes_unpack(s->media.image_size);
    const struct roof_image image = roof_tower_image(t, size.size[0], size.size[1]);
    double widest = fmax(3 * (double)t->hidden, 2 * (double)t->intermediate);
    widest = fmax(widest, (double)t->inputs);
    widest = fmax(widest, 3 * (double)t->heads * (double)t->head_dim);
    for (int i = 0; i < ROOF_PROJECTIONS_MAX; i++) {
        const double halves = t->project[i].act == ROOF_PROJECTION_GATED ? 2 : 1;
        widest = fmax(widest, fmax((double)t->project[i].in, halves * (double)t->project[i].out));
    }
    return widest * (double)roof_tower_rows(t, &image);
}

/* Returns the elements of the widest tensor of a clip. */
static double widest_of_clip(const struct roof_scenario *s, const struct roof_audio *a)
{
    const struct roof_clip clip = roof_audio_clip(a, s->media.audio_length_s);
    const double bins = (double)(a->mels + 1);           /* two rows and half of the bins */
    const int64_t quarter = roof_audio_quarter(a->mels); /* behind the second convolution */
    double widest = fmax(3 * (double)a->hidden, (double)a->intermediate);
    widest = fmax(widest, bins * (double)(a->channels[0] > 0 ? a->channels[0] : 2));
    widest = fmax(widest, fmax((double)a->project[0].in, (double)a->project[0].out));
    widest = fmax(widest, fmax((double)a->inputs, (double)a->project[1].out));
    widest = fmax(widest, (double)quarter * (double)a->channels[1]);
    widest = fmax(widest, (double)a->heads * (double)a->window); /* scores of positions */
    return widest * (double)clip.rows;
}

/* Refuses so many things, of which each has a tensor of so many elements; keys give their number
 * and their size. */
static enum roof_status check_fit(const char *things, const char *const keys[2], double count,
                                  double widest, const struct roof_model *m,
                                  struct roof_error *error)
{
    const double limit = ROOF_DIMENSION_MAX / widest;
    return count <= limit ? ROOF_OK
                          : roof_error_set(error, ROOF_USAGE,
                                           "%s takes at most %.0f %s in a pass, not %.0f: "
                                           "lower " ROOF_KEY("batch") ", " ROOF_KEY(
                                               "%s") " or " ROOF_KEY("%s"),
                                           m->id, floor(limit), things, count, keys[0], keys[1]);
}

/* Refuses images and audio whose tensors have more elements than an operator takes. */
static enum roof_status fit(const struct roof_scenario *s, const struct roof_model *m,
                            struct roof_error *error)
{
    static const char *const images[] = {"images", "image_size"};
    static const char *const audio[] = {"audio", "audio_length_s"};
    const double batch = (double)s->common.shape.batch;
    if (s->media.images > 0) {
        TRY(check_fit("images", images, batch * (double)s->media.images,
                      widest_of_image(s, &m->tower), m, error));
    }
    if (s->media.audio > 0) {
        TRY(check_fit("clips", audio, batch * (double)s->media.audio, widest_of_clip(s, &m->audio),
                      m, error));
    }
    return ROOF_OK;
}

enum roof_status roof_media_resolve(struct roof_scenario *s, const struct roof_model *m,
                                    struct roof_error *error)
{
    const bool encodes = s->phase == ROOF_PHASE_ENCODE;
    const bool prompts = encodes || s->phase == ROOF_PHASE_PREFILL || s->generate > 0;
    if (encodes && !roof_has_media(s)) {
        *(m->tower.layers > 0 || m->audio.layers == 0 ? &s->media.images : &s->media.audio) = 1;
    }
    TRY(resolve_images(&s->media, m, error));
    TRY(resolve_audio(&s->media, m, error));
    if (roof_has_media(s) && !prompts && !m->tower.crossed) { /* these see images in all phases */
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("%s") " needs " ROOF_KEY("phase") " prefill or encode, or " ROOF_KEY("prompt"),
            s->media.images > 0 ? "images" : "audio");
    }
    return fit(s, m, error);
}

enum roof_status roof_media_alone(const struct roof_scenario *s, struct roof_error *error)
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

enum roof_status roof_media_check(const struct roof_scenario *s, const struct roof_model *m,
                                  struct roof_error *error)
{
    const int64_t tokens = roof_media_places(s, m);
    const bool request = s->phase == ROOF_PHASE_REQUEST;
    const int64_t prompt = request ? s->prompt : s->context;
    if (s->phase == ROOF_PHASE_ENCODE || tokens <= prompt) {
        return ROOF_OK;
    }
    const bool both = s->media.images > 0 && s->media.audio > 0;
    const char *const things = both ? "images and audio" : s->media.images > 0 ? "images" : "audio";
    return roof_error_set(
        error, ROOF_USAGE,
        "the %s of a prompt take%s %" PRId64 " tokens: " ROOF_KEY("%s") " must be at least that",
        things, s->media.images > 0 ? "" : "s", tokens, request ? "prompt" : "context");
}
