// SPDX-License-Identifier: MIT
/*
 * Clips in front of the audio encoder. Lengths are those of huggingface/transformers:
 * feature_extraction_whisper.py and processing_qwen2_audio.py, processing_voxtral.py,
 * feature_extraction_gemma4.py and _gemma3n.py. A second has 16,000 samples, and a frame begins
 * every 160.
 */
#include "model/audio.h"

#include "base/base.h"

#define SAMPLES_PER_S 16000
#define HOP 160

int64_t roof_audio_half(int64_t frames)
{
    return roof_divide_up(frames, 2); /* 3 taps, and a zero on each side */
}

int64_t roof_audio_quarter(int64_t frames)
{
    return roof_audio_half(roof_audio_half(frames));
}

/* Fills windows of 30 s up with silence. The second convolution halves the frames. */
static struct roof_clip whisper(const struct roof_audio *a, int64_t seconds)
{
    const int64_t windows = a->windows ? roof_divide_up(seconds, ROOF_AUDIO_WINDOW_S) : 1;
    const int64_t rows = windows * a->positions;
    const int64_t heard = roof_audio_half(seconds * SAMPLES_PER_S / HOP); /* rows of the clip */
    const int64_t tokens = a->windows || heard > rows ? rows : heard;
    const int64_t part = a->pooled * a->joined;
    return (struct roof_clip){.windows = windows,
                              .frames = 2 * rows,
                              .rows = rows,
                              .results = rows / part,
                              .tokens = tokens / part};
}

static struct roof_clip conformer(const struct roof_audio *a, int64_t seconds)
{
    const int64_t frames = (seconds * SAMPLES_PER_S - a->lead) / HOP + 1;
    const int64_t rows = roof_audio_quarter(frames);
    const int64_t results = roof_divide_up(rows, a->stride);
    return (struct roof_clip){.windows = 1,
                              .frames = frames,
                              .rows = rows,
                              .results = results,
                              .tokens = a->tokens > 0 ? a->tokens : results};
}

struct roof_clip roof_audio_clip(const struct roof_audio *a, int64_t seconds)
{
    return a->positions > 0 ? whisper(a, seconds) : conformer(a, seconds);
}
