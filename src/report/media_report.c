// SPDX-License-Identifier: MIT
#include "report/media_report.h"

#include <inttypes.h>

#include "model/model.h"

void roof_report_images(struct roof_text *out, const struct roof_scenario *s,
                        const struct roof_model *model)
{
    char size[ROOF_IMAGE_SIZE_SIZE];
    roof_text_printf(out, "%" PRId64 " of %s (%" PRId64 " tokens)", s->media.images,
                     roof_image_size_name(size, s), roof_image_tokens(s, model));
}

void roof_report_audio(struct roof_text *out, const struct roof_scenario *s,
                       const struct roof_model *model)
{
    roof_text_printf(out, "%" PRId64 " of %" PRId64 " s (%" PRId64 " tokens)", s->media.audio,
                     s->media.audio_length_s, roof_audio_tokens(s, model));
}

void roof_report_media(struct roof_text *out, const struct roof_scenario *s,
                       const struct roof_model *model)
{
    if (s->media.images > 0) {
        roof_text_put(out, ", images ");
        roof_report_images(out, s, model);
    }
    if (s->media.audio > 0) {
        roof_text_put(out, ", audio ");
        roof_report_audio(out, s, model);
    }
}

void roof_report_media_lines(struct roof_text *out, const struct roof_scenario *s,
                             const struct roof_model *model)
{
    char size[ROOF_IMAGE_SIZE_SIZE];
    if (s->media.images > 0) {
        roof_text_printf(
            out, "  images:      %" PRId64 " of %s in each prompt: %" PRId64 " %s its tokens\n",
            s->media.images, roof_image_size_name(size, s), roof_image_tokens(s, model),
            model->tower.crossed ? "beside" : "of");
    }
    if (s->media.audio > 0) {
        roof_text_printf(out,
                         "  audio:       %" PRId64 " of %" PRId64 " s in each prompt: %" PRId64
                         " of its tokens\n",
                         s->media.audio, s->media.audio_length_s, roof_audio_tokens(s, model));
    }
}

void roof_report_media_json(struct roof_text *out, const struct roof_scenario *s,
                            const struct roof_model *model)
{
    char size[ROOF_IMAGE_SIZE_SIZE];
    if (s->media.images > 0) {
        roof_text_printf(
            out, ", \"images\": %" PRId64 ", \"image_size\": \"%s\", \"image_tokens\": %" PRId64,
            s->media.images, roof_image_size_name(size, s), roof_image_tokens(s, model));
    }
    if (s->media.audio > 0) {
        roof_text_printf(out,
                         ", \"audio\": %" PRId64 ", \"audio_length_s\": %" PRId64
                         ", \"audio_tokens\": %" PRId64,
                         s->media.audio, s->media.audio_length_s, roof_audio_tokens(s, model));
    }
}
