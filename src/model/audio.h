// SPDX-License-Identifier: MIT
/* The audio encoder in front of a language model: what it makes of a clip. */
#ifndef ROOF_MODEL_AUDIO_H
#define ROOF_MODEL_AUDIO_H

#include "model/model.h"

/* The window of Whisper's encoder, and the longest clip of other encoders. */
#define ROOF_AUDIO_WINDOW_S 30

/* A clip as the encoder works on it. */
struct roof_clip {
    int64_t windows; /* of Whisper's encoder, which do not attend to each other; else 1 */
    int64_t frames;  /* of the spectrogram */
    int64_t rows;    /* that the layers work on */
    int64_t results; /* rows that are mapped to tokens */
    int64_t tokens;  /* of the prompt */
};

/* Cuts a clip of some seconds as the processors of the families do, and counts its tokens. */
struct roof_clip roof_audio_clip(const struct roof_audio *audio, int64_t seconds);

/* Return the frames (or bins) after the first convolution of a conformer, and after both. */
int64_t roof_audio_half(int64_t frames);
int64_t roof_audio_quarter(int64_t frames);

#endif
