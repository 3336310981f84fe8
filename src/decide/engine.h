// SPDX-License-Identifier: MIT
/**
 * Serving engines (data/engines, with their sources): the formats of each by architecture, the
 * splits that it runs, and its options for them. Formats that no engine runs are never recommended.
 *
 * A loaded table is read only: any number of threads may use it.
 */
#ifndef ROOF_DECIDE_ENGINE_H
#define ROOF_DECIDE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "catalog/hardware.h"
#include "catalog/precision.h"
#include "model/scenario.h"
#include "roofline/workload.h"
#include "simulate/new_tokens.h"

#define ROOF_ENGINES_MAX 32

/** Formats that go together, under the name that the first engine gives them. */
struct roof_serving {
    const char *id;                  /**< "fp8" */
    const char *layout;              /**< layout of the weights; NULL: all are as in `weights` */
    const char *quantization;        /**< only for models that are published in this method ("fp8",
                                          or "modelopt/NVFP4" with the algorithm); NULL: for all */
    enum roof_precision weights;     /**< with a layout, the format of most weights */
    enum roof_precision activations; /**< with a layout, that of most activations */
    enum roof_precision kv;
};

/** Lines with {placeholders} (emit.h); the lists end with NULL. */
struct roof_engine_words {
    const char *const *command; /**< on the command line */
    const char *const *file;    /**< in a file that the command reads */
};

/** Formats of one engine, under the name that it gives them. */
struct roof_engine_format {
    const char *id;
    const char *layout; /**< like those of struct roof_serving */
    const char *quantization;
    enum roof_precision weights;
    enum roof_precision activations;
    const enum roof_precision *kv;
    size_t kvs;
    const char *const *on; /**< the architectures whose names begin so */
    struct roof_engine_words words;
    const char *checkpoint;  /**< a checkpoint to be made first; NULL: the published one is read */
    const char *const *make; /**< the commands that make it */
};

/** The words for a format of the KV cache. */
struct roof_engine_kv {
    enum roof_precision format;
    struct roof_engine_words words;
};

/** The needs of an engine for one class of models. */
struct roof_engine_class {
    const char *id;                  /**< "DeepseekV4ForCausalLM" */
    const struct roof_engine_kv *kv; /**< the only formats of its KV cache; kvs is 0: all of the
                                        engine */
    size_t kvs;
    const char *const
        *on; /**< the architectures whose names begin so; empty: those of its formats */
    struct roof_engine_words words;
};

/** How the devices of one copy share a model: tp x attention_dp of them in each of pp stages, which
 * are moe_tp x moe_ep for the experts. */
struct roof_split {
    int64_t tp;
    int64_t pp;
    int64_t attention_dp;
    int64_t moe_tp; /**< 0 in a model without experts, like moe_ep */
    int64_t moe_ep;
};
/** Returns the devices of one copy. */
int64_t roof_split_devices(const struct roof_split *split);
/** Returns E if "ep" E describes the whole split of the experts, else 1. */
int64_t roof_split_ep(const struct roof_split *split);
/** Tells whether "tp" and "ep" do not describe the whole split of the experts. */
bool roof_split_apart(const struct roof_split *split);

/** The sizes that limit a split; roof_split_limits has their names. */
enum roof_split_limit {
    ROOF_SPLIT_TP,
    ROOF_SPLIT_PP,
    ROOF_SPLIT_ATTENTION_DP,
    ROOF_SPLIT_MOE_TP,
    ROOF_SPLIT_MOE_EP,
    ROOF_SPLIT_BATCH,
    ROOF_SPLIT_LIMITS
};
extern const char *const roof_split_limits[ROOF_SPLIT_LIMITS];

/** Splits that an engine runs, up to these sizes; INT64_MAX: any. */
struct roof_engine_split {
    int64_t most[ROOF_SPLIT_LIMITS];
    struct roof_engine_words words;
    const char *note; /**< NULL: none */
};

/** The words for one way of drafting, over splits up to some sizes. */
struct roof_engine_drafts {
    struct roof_engine_split over;
    const char *checkpoint;  /**< that of the model that drafts; NULL: the published one is read */
    const char *const *make; /**< the commands that make it; NULL: the engine does not draft so */
    struct roof_engine_words unquantised; /**< more words if that model stays as published, although
                                             the checkpoint of the main one is quantised */
};
/** The ways of drafting by their keys in engine files: by enum roof_drafting, NULL without one. */
extern const char *const roof_engine_drafting[ROOF_DRAFTING_MODEL + 1];

/** A file to write, or a command to run. */
struct roof_engine_step {
    const char *file; /**< NULL: a command */
    const char *const *line;
};

/** Defaults of a scheduler on some devices. */
struct roof_engine_defaults {
    double memory_from; /**< bytes that a device has at least */
    const char *except; /**< no device whose id begins so; NULL: none is left out */
    int64_t chunk;      /**< tokens of a step */
    int64_t max_num_seqs;
};

/** The default behaviour of the scheduler of an engine. */
struct roof_engine_scheduler {
    bool known;
    bool counts_decode; /**< the budget of a step has the tokens that decode, too */
    bool mixes;         /**< prompts and sequences that decode share steps */
    bool preempts;      /**< it admits more than may fit, and computes again what it put back */
    struct roof_new_token_ratio ratio; /**< for a share of new tokens, room is kept */
    bool whole_prompts; /**< a request starts only if the cache has room for all of its prompt */
    bool keeps_prefixes;
    bool ahead;              /**< it puts a step together while the one before it runs */
    bool passes_first_token; /**< the first token comes with the cache of a prefill copy; otherwise
                                  the decode copy computes it again */
    bool splits_limits; /**< groups of the attention share the tokens and sequences of the command
                             line; otherwise each has so many */
    const struct roof_engine_defaults *defaults; /**< the first that fits holds */
    size_t count;
};

/** The host times of a version of an engine, from measured runs. */
struct roof_engine_host {
    const char *version;
    const char *source;
    struct roof_host_time time;
};

struct roof_engine {
    const char *id;             /**< "vllm" */
    const char *const *aliases; /**< other ids, as packages and people spell it; ends with NULL */
    const char *name;           /**< "vLLM" */
    const char *beware;    /**< a warning that its kernels were not measured and the times are from
                                others; or NULL */
    enum roof_stack stack; /**< the stack of its kernels, if these were measured; else BEST */
    const char *disaggregated;  /**< how some copies prefill and others decode; NULL: this is not
                                     possible */
    const char *nodes;          /**< what several nodes also need; NULL: it runs on one node only */
    const char *const *sources; /**< lists end with NULL */
    const char *const *notes;
    const char *const *models; /**< the classes of models that it runs ("LlamaForCausalLM"); empty:
                                    unknown */
    const struct roof_engine_class *class; /**< classes with needs of their own */
    size_t classes;
    const struct roof_engine_format *format;
    size_t formats;
    const struct roof_engine_kv *kv;
    size_t kvs;
    const struct roof_engine_split *split; /**< the first that fits holds */
    size_t splits;
    struct roof_engine_words offload[ROOF_OFFLOAD_PARTS]; /**< of nothing, too; empty: none */
    struct roof_upload upload; /**< of weights on the host; share 0: not measured */
    const char *upload_source; /**< NULL: not measured */
    struct roof_engine_drafts drafts[ROOF_DRAFTING_MODEL + 1]; /**< by enum roof_drafting */
    const struct roof_engine_step *step;
    size_t steps;
    struct roof_engine_scheduler scheduler;
    const struct roof_engine_host *host; /**< the newest version comes first */
    size_t hosts;
};

struct roof_engines {
    size_t count;
    const struct roof_engine *engine;
    unsigned disaggregated; /**< those whose copies may prefill or decode alone, as bits */
    unsigned offload;       /**< those that leave a part of a model to the host, as bits */
    unsigned lent;          /**< those whose kernels were not measured, as bits */
    unsigned passing;       /**< the stacks of engines with passes_first_token, as bits */
    size_t servings;        /**< combinations of formats, each once */
    const struct roof_serving *serving;
    void *private_data;
};

/** Finds the time by which the newest version of each engine starts a kernel early, by stack; 0: it
 * does not. Reads only the files of data/ that state such a time. */
enum roof_status roof_engines_overlaps(double out_s[ROOF_STACK_COUNT], struct roof_error *error);

/** Loads the embedded table. On success the caller owns *out: roof_engines_free. */
enum roof_status roof_engines_load(struct roof_engines **out, struct roof_error *error);
void roof_engines_free(struct roof_engines *engines);

/** Finds the number of an engine by its id. ROOF_USAGE with the known ones. */
enum roof_status roof_engine_find(size_t *out, const struct roof_engines *engines, const char *id,
                                  struct roof_error *error);

/** Returns how fast weights on the host reach the device with the engines `asked` (as bits), or
 * with any engine that offloads if none of these does. share is 0 if this was not measured. */
struct roof_upload roof_engines_upload(const struct roof_engines *engines, unsigned asked);

struct roof_scheduler_limits;
/** Sets the rules of the scheduler of an engine, but not its numbers of tokens and sequences. */
void roof_engine_schedule(struct roof_scheduler_limits *limits, const struct roof_engine *engine);

/** Finds the defaults of a scheduler on a device; NULL: its scheduler is unknown. */
const struct roof_engine_defaults *roof_engine_defaults(const struct roof_engine *engine,
                                                        const struct roof_hardware *hardware);
/** Returns the default number of prompt tokens that each of some groups of the attention takes in a
 * step, and of sequences that all of them run. */
int64_t roof_engine_chunk(const struct roof_engine *engine,
                          const struct roof_engine_defaults *defaults, int64_t groups);
int64_t roof_engine_sequences(const struct roof_engine *engine,
                              const struct roof_engine_defaults *defaults, int64_t groups);

/** Finds the host times of a version of an engine; NULL, or an unknown version, means the newest.
 * Returns NULL if nothing is known. */
const struct roof_engine_host *roof_engine_host(const struct roof_engine *engine,
                                                const char *version);

/** Tells whether two combinations of formats are the same, whatever engines call them. */
bool roof_serving_same(const struct roof_serving *a, const struct roof_serving *b);
/** Tells whether the weights are those of the published checkpoint. */
bool roof_serving_published(const struct roof_serving *serving);
/** Tells whether a combination has an advantage over the published one of a model: its weights have
 * fewer bits, or they have as many bits, are no larger and are also multiplied in these bits, while
 * the published weights are only stored in them (NVFP4 against int4 in groups of 32). */
bool roof_serving_gains(const struct roof_serving *serving, const struct roof_serving *published);
/** Finds a combination of formats by its name, or else by an engine's name for it; NULL: no engine
 * has it. */
const struct roof_serving *roof_serving_find(const struct roof_engines *engines, const char *name);
/** Tells whether a combination applies to a model; those of published checkpoints apply only to
 * some. */
bool roof_serving_suits(const struct roof_serving *serving, const struct roof_model *model);
/** Tells whether a combination is the checkpoint in which a model itself is published. */
bool roof_serving_own(const struct roof_serving *serving, const struct roof_model *model);
/** Tells whether a name is that of a combination (its number): its own name or, for a name that is
 * none of these, the format of its weights, or else what one of the engines calls it. */
bool roof_serving_called(const struct roof_engines *engines, size_t serving, const char *name);

/** Returns the engines whose kernels were measured, as bits by number. */
unsigned roof_engines_measured(const struct roof_engines *engines);

/** Returns the engines that run a combination (its number) on a device, as bits by number. */
unsigned roof_engines_run(const struct roof_engines *engines, size_t serving,
                          const struct roof_hardware *hardware);

/** Returns the engines that run a model, as bits by number: those whose list has the class that the
 * model's config names, and those without a list. If no list has it, or the config names none, it
 * is unknown which engines run it, and all count. */
unsigned roof_engines_model(const struct roof_engines *engines, const struct roof_model *model);
/** Returns the engines that run a model in a combination (its number) on a device, as bits by
 * number. It does not look at their lists of models. */
unsigned roof_engines_serve(const struct roof_engines *engines, size_t serving,
                            const struct roof_model *model, const struct roof_hardware *hardware);
/** Checks that one of the engines `asked` (as bits; not 0), which the option `key` names, runs a
 * model. ROOF_USAGE with those that do. */
enum roof_status roof_engines_check_model(const struct roof_engines *engines, unsigned asked,
                                          const struct roof_model *model, const char *key,
                                          struct roof_error *error);

/** Tells whether any of the engines `by`, as bits by number, runs any of its formats on a device.
 */
bool roof_engines_reach(const struct roof_engines *engines, unsigned by,
                        const struct roof_hardware *hardware);
/** Returns the engines that have a combination for whose products a device has units, whatever its
 * architecture. */
unsigned roof_engines_units(const struct roof_engines *engines, size_t serving,
                            const struct roof_hardware *hardware);

/** The ways in which engines use a kind of format on a device. */
enum roof_engine_use {
    ROOF_ENGINE_USE_UNKNOWN, /**< the device has no architecture by which engines know it */
    ROOF_ENGINE_USE_NONE,
    ROOF_ENGINE_USE_PUBLISHED, /**< only in models that are published in it */
    ROOF_ENGINE_USE_STORED,    /**< weights are stored so, with wider inputs */
    ROOF_ENGINE_USE_COMPUTED   /**< inputs have the format, too, or it has 16 bits or more */
};
/** Finds the widest use that an engine (NULL: any) makes of a format, or of one with other scales,
 * on a device: for the weights of any model or, if `cache`, for the KV cache. */
enum roof_engine_use roof_engines_use(const struct roof_engines *engines,
                                      const struct roof_engine *engine, enum roof_precision format,
                                      bool cache, const struct roof_hardware *hardware);
/** Finds the first format with which an engine runs a device, for any model, that has these weights
 * and activations or, if `cache`, this KV cache. Other scales, and fp16 for bf16, count as the
 * same where no format has the very weights. NULL: there is none. */
const struct roof_engine_format *roof_engine_stores(const struct roof_engine *engine,
                                                    const struct roof_formats *formats, bool cache,
                                                    const struct roof_hardware *hardware);

/** Returns the engines that run a batch over a split, as bits by number. */
unsigned roof_engines_split(const struct roof_engines *engines,
                            const struct roof_hardware *hardware, const struct roof_split *split,
                            int64_t batch);
/** Tells whether a number of devices exceeds one node; an unknown node size is large enough. */
bool roof_several_nodes(const struct roof_hardware *hardware, int64_t devices);

/** Tells whether the architecture of a device begins with one of the names. */
bool roof_engine_on(const char *const *on, const struct roof_hardware *hardware);
/** Tells whether an engine runs a class of models on a device; one without an architecture may run
 * any class. */
bool roof_engine_class_on(const struct roof_engine_class *class,
                          const struct roof_hardware *hardware);
/** Returns what an engine needs for the class of a model; NULL: nothing. */
const struct roof_engine_class *roof_engine_class(const struct roof_engine *engine,
                                                  const struct roof_model *model);
/** These return the words of an engine for a combination on a device, for a format of the KV cache
 * of a model and for a split; NULL if the engine does not run it. */
const struct roof_engine_format *roof_engine_format(const struct roof_engine *engine,
                                                    const struct roof_serving *serving,
                                                    const struct roof_hardware *hardware);
const struct roof_engine_kv *roof_engine_kv(const struct roof_engine *engine,
                                            const struct roof_model *model, enum roof_precision kv);
const struct roof_engine_split *roof_engine_split(const struct roof_engine *engine,
                                                  const struct roof_split *split, int64_t batch);
/** Returns the words with which an engine drafts over a split; NULL: it does not. */
const struct roof_engine_drafts *roof_engine_drafts(const struct roof_engine *engine,
                                                    enum roof_drafting by,
                                                    const struct roof_split *split, int64_t batch);

/** An engine with the names of its formats: a row of the table of engines (engine_report.h). */
struct roof_engine_entry {
    const char *id;
    const char *name;
    char formats[256]; /**< the engine's names, separated by blanks */
    const struct roof_engine *engine;
};

#endif
