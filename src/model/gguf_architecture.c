// SPDX-License-Identifier: MIT
/*
 * Which architectures of GGUF files are read. A file has sizes and tensors, but not everything that
 * a model class of llama.cpp knows: which layers have a window or a chunk, which share keys and
 * values. An answer without it may be wrong by a large factor, so such a file is refused.
 * Names: ggml-org/llama.cpp, gguf-py/gguf/constants.py (MODEL_ARCH_NAMES).
 */
#include "model/gguf_architecture.h"

#include <string.h>

#include "base/base.h"
#include "model/model_make.h"

#define BAD ROOF_GGUF_BAD
#define INSTEAD "; name the config.json of the model instead, with a layout such as q4_k_m"

/* Decoders of attention and MLP whose files say everything. docs/formats.md has them, too. */
static const char *const plain[] = {
    "arcee",      "bailingmoe", "bailingmoe2", "command-r",  "cohere2",     "deepseek",
    "deepseek2",  "dots1",      "ernie4_5",    "exaone",     "exaone4",     "ernie4_5-moe",
    "gemma",      "gemma2",     "gemma3",      "glm4",       "glm4moe",     "gpt-oss",
    "gpt2",       "gptneox",    "granite",     "granitemoe", "hunyuan-moe", "hunyuan-dense",
    "internlm2",  "llama",      "minimax-m2",  "mistral",    "mistral3",    "nemotron",
    "olmo",       "olmo2",      "olmoe",       "phi2",       "phi3",        "phimoe",
    "qwen2",      "qwen2moe",   "qwen2vl",     "qwen3",      "qwen3moe",    "qwen3vl",
    "qwen3vlmoe", "seed_oss",   "smollm3",     "stablelm",   "starcoder2",
};

static const struct {
    const char *name;
    const char *what;
} refused[] = {
    {"step35", "layers with a window have heads of their own"},
    {"plamo2", "most layers keep a state"},
    {"lfm2", "most layers are convolutions"},
    {"lfm2moe", "most layers are convolutions"},
    {"dream", "it is a diffusion model"},
    {"llada", "it is a diffusion model"},
    {"llada-moe", "it is a diffusion model"},
    {"rnd1", "it is a diffusion model"},
};

enum roof_status roof_gguf_refuse(struct roof_gguf *g, const char *what)
{
    return BAD(&g->stream,
               "%s is not known for the architecture %s and would change the layers" INSTEAD, what,
               g->metadata.architecture);
}

enum roof_status roof_gguf_check_architecture(struct roof_gguf *g)
{
    const struct roof_gguf_metadata *const m = &g->metadata;
    for (size_t i = 0; i < COUNT(refused); i++) {
        if (strcmp(refused[i].name, m->architecture) == 0) {
            return BAD(&g->stream, "the architecture %s is not read from GGUF files: %s" INSTEAD,
                       m->architecture, refused[i].what);
        }
    }
    if (m->not_causal != 0) {
        return BAD(&g->stream, "it is no decoder: %s.attention.causal is false", m->architecture);
    }
    return m->other_part[0] == '\0' ? ROOF_OK : roof_gguf_refuse(g, m->other_part);
}

void roof_gguf_note_architecture(struct roof_gguf *g)
{
    for (size_t i = 0; i < COUNT(plain); i++) {
        if (g->metadata.mixed || strcmp(plain[i], g->metadata.architecture) == 0) {
            return;
        }
    }
    roof_model_note(g->model, "the architecture of the file is not known: it is read as a decoder "
                              "of attention and MLP, since it has no other matrices");
}
