// SPDX-License-Identifier: MIT
/* Scenarios: the defaults of what was not given, and the checks against the model. */
#include "model/scenario.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/list.h"
#include "model/media.h"

#define CONTEXT_DEFAULT 4096
#define CHUNK_DEFAULT 512
#define SEQUENCES_MAX 1000000000

const char *roof_phase_name(enum roof_phase phase)
{
    static const char *const names[ROOF_PHASE_COUNT] = {
        ROOF_PHASES_ASKED,
        "request",
    };
    return names[phase];
}

const char *const roof_fuse_names[ROOF_FUSE_COUNT + 1] = {"default", "none", "all", NULL};

void roof_scenario_init(struct roof_scenario *scenario)
{
    *scenario = (struct roof_scenario){.common = ROOF_WORKLOAD_INIT,
                                       .acceptance = ROOF_SCENARIO_ACCEPTANCE,
                                       .reserve = ROOF_SCENARIO_RESERVE};
    for (int w = 0; w < ROOF_WEIGHT_COUNT; w++) {
        scenario->weight[w] = ROOF_PRECISION_AUTO;
    }
}

double roof_scenario_host_s(const struct roof_scenario *s, enum roof_stack stack)
{
    const struct roof_host_time *const host = &s->host_time[stack];
    const int64_t others = s->phase == ROOF_PHASE_MIXED ? s->prefill_batch : 0;
    const int64_t groups = roof_microbatches(s) * (s->attention_dp > 0 ? s->attention_dp : 1);
    const int64_t sequences = roof_divide_up(s->common.shape.batch + others, groups);
    return host->step_s + host->sequence_s * (double)sequences;
}

double roof_scenario_launch_s(const struct roof_scenario *s, enum roof_stack stack,
                              const struct roof_model *model)
{
    const struct roof_host_time *const host = &s->host_time[stack];
    const bool latent = model->kv_lora_rank > 0 && s->phase != ROOF_PHASE_ENCODE;
    return s->phase == ROOF_PHASE_DECODE ? 0
           : latent                      ? fmax(host->launch_s, host->latent_s)
                                         : host->launch_s;
}

/* Reads "NAME=P" into the bits of the classes and their format. */
static enum roof_status read_class(unsigned *classes, enum roof_precision *format,
                                   const char *assignment, struct roof_error *error)
{
    const char *const equals = strchr(assignment, '=');
    char name[32];
    if (equals == NULL || (size_t)(equals - assignment) >= sizeof name) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("class") " must be NAME=P such as lm_head=bf16, not '%s'",
                              assignment);
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);
    TRY(roof_weight_find(classes, name, error));
    return roof_precision_find(format, equals + 1, error);
}

enum roof_status roof_scenario_classes(struct roof_scenario *scenario,
                                       const char *const *assignment, int count,
                                       struct roof_error *error)
{
    /* Wide names first, so that a narrower one wins over a wider one. */
    for (int width = ROOF_WEIGHT_COUNT; width > 0; width--) {
        for (int i = 0; i < count; i++) {
            unsigned classes = 0;
            enum roof_precision format = ROOF_PRECISION_AUTO;
            TRY(read_class(&classes, &format, assignment[i], error));
            for (int w = 0; w < ROOF_WEIGHT_COUNT && roof_weight_width(classes) == width; w++) {
                scenario->weight[w] = (classes >> w & 1) != 0 ? format : scenario->weight[w];
            }
        }
    }
    return ROOF_OK;
}

static int64_t at_least_1(int64_t value)
{
    return value > 0 ? value : 1;
}

/* The most numbers of parts that a message names, and the largest of them. */
#define DIVISORS_MAX 4
#define DIVISOR_MOST 1024

static bool splits_layers(const struct roof_scenario *s, const struct roof_model *m, int64_t tp);

/* Finds the divisors of a value, the last of those up to four times the number of parts; those of
 * tensor parallelism divide all layers. Returns how many there are. */
static size_t divisors_near(int64_t out[DIVISORS_MAX], const struct roof_scenario *s,
                            const struct roof_model *m, int64_t value, const char *key,
                            int64_t parts)
{
    const int64_t most = parts < DIVISOR_MOST / 4 ? 4 * parts : DIVISOR_MOST;
    const bool tp = strcmp(key, "tp") == 0;
    size_t count = 0;
    for (int64_t i = 1; i <= value && i <= most; i++) {
        if (value % i != 0 || (tp && !splits_layers(s, m, i))) {
            continue;
        }
        if (count == DIVISORS_MAX) {
            memmove(out, out + 1, (DIVISORS_MAX - 1) * sizeof *out);
            count--;
        }
        out[count++] = i;
    }
    return count;
}

/* Refuses a split into parts that do not divide what the model has, and names numbers that do. */
static enum roof_status indivisible(const struct roof_scenario *s, const struct roof_model *m,
                                    const char *parted, int64_t value, const char *key,
                                    int64_t parts, struct roof_error *error)
{
    int64_t divisor[DIVISORS_MAX];
    if (error == NULL) {
        return ROOF_USAGE;
    }
    const size_t count = divisors_near(divisor, s, m, value, key, parts);
    (void)roof_error_set(error, ROOF_USAGE,
                         "%s has %" PRId64 " %s, which " ROOF_KEY("%s") " %" PRId64
                                                                        " does not divide; ",
                         m->id, value, parted, key, parts);
    for (size_t i = 0; i < count; i++) {
        roof_error_append(error, "%s%" PRId64, roof_list_separator(i, count), divisor[i]);
    }
    roof_error_append(error, count == 1 ? " does" : " do");
    return ROOF_USAGE;
}

/* Refuses a split of experts where there are none. */
static enum roof_status refuse_experts(const struct roof_scenario *s, const struct roof_model *m,
                                       struct roof_error *error)
{
    const struct {
        const char *key;
        int64_t value;
    } splits[] = {{"ep", s->common.shape.ep},
                  {"attention_dp", s->attention_dp},
                  {"moe_tp", s->moe_tp},
                  {"moe_ep", s->moe_ep}};
    for (size_t i = 0; i < COUNT(splits); i++) {
        if (splits[i].value > 1) {
            return roof_error_set(error, ROOF_USAGE,
                                  "%s has no experts for " ROOF_KEY("%s") " %" PRId64, m->id,
                                  splits[i].key, splits[i].value);
        }
    }
    return ROOF_OK;
}

/* Takes "ep", which is short for three others; they may say the same, as a resolved scenario does.
 */
static enum roof_status expand_ep(struct roof_scenario *s, struct roof_error *error)
{
    const int64_t ep = s->common.shape.ep;
    if (ep == 1) {
        return ROOF_OK;
    }
    if ((s->attention_dp > 0 && s->attention_dp != ep) || (s->moe_ep > 0 && s->moe_ep != ep) ||
        (s->moe_tp > 0 && s->moe_tp != s->tp)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("ep") " %" PRId64
                           " is short for " ROOF_KEY("attention_dp") " %" PRId64 ", " ROOF_KEY(
                               "moe_ep") " %" PRId64
                                         " and " ROOF_KEY("moe_tp") " %" PRId64
                                                                    ": give it or those, not both",
            ep, ep, ep, s->tp);
    }
    s->attention_dp = s->moe_ep = ep;
    s->moe_tp = s->tp;
    return ROOF_OK;
}

/* Refuses parts of experts that are not as many as the devices that share them. */
static enum roof_status refuse_parts(const struct roof_scenario *s, struct roof_error *error)
{
    const int64_t devices = roof_stage_devices(s);
    const bool both = s->moe_tp > 0 && s->moe_ep > 0;
    char shared[160];
    snprintf(shared, sizeof shared,
             ROOF_KEY("tp") " %" PRId64 " x " ROOF_KEY("attention_dp") " %" PRId64 " = %" PRId64,
             s->tp, s->attention_dp, devices);
    return both ? roof_error_set(error, ROOF_USAGE,
                                 ROOF_KEY("moe_tp") " %" PRId64 " x " ROOF_KEY(
                                     "moe_ep") " %" PRId64 " = %" PRId64 " must be equal to %s",
                                 s->moe_tp, s->moe_ep, s->moe_tp * s->moe_ep, shared)
                : roof_error_set(error, ROOF_USAGE,
                                 ROOF_KEY("%s") " %" PRId64
                                                " must divide the devices of the experts, %s",
                                 s->moe_tp > 0 ? "moe_tp" : "moe_ep",
                                 s->moe_tp > 0 ? s->moe_tp : s->moe_ep, shared);
}

/* Gives the experts of a stage to all of its devices: what one of moe_ep and moe_tp leaves is the
 * other, and neither cuts each expert over all. */
static enum roof_status split_experts(struct roof_scenario *s, const struct roof_model *m,
                                      struct roof_error *error)
{
    if (m->experts == 0) {
        TRY(refuse_experts(s, m, error));
        s->attention_dp = 1;
        s->moe_tp = s->moe_ep = 0;
        return ROOF_OK;
    }
    TRY(expand_ep(s, error));
    s->attention_dp = at_least_1(s->attention_dp);
    const int64_t devices = roof_stage_devices(s);
    const int64_t tp = s->moe_tp;
    const int64_t ep = tp > 0 ? s->moe_ep : at_least_1(s->moe_ep);
    const int64_t known = at_least_1(tp) * at_least_1(ep);
    if (tp > 0 && ep > 0 ? known != devices : devices % known != 0) {
        return refuse_parts(s, error);
    }
    s->moe_tp = tp > 0 ? tp : devices / ep;
    s->moe_ep = ep > 0 ? ep : devices / tp;
    return ROOF_OK;
}

static enum roof_status check_experts(const struct roof_scenario *s, const struct roof_model *m,
                                      struct roof_error *error)
{
    if (m->expert_intermediate % s->moe_tp != 0) {
        return indivisible(s, m, "elements between the products of an expert",
                           m->expert_intermediate, s->moe_tp == s->tp ? "tp" : "moe_tp", s->moe_tp,
                           error);
    }
    return m->experts % s->moe_ep == 0
               ? ROOF_OK
               : indivisible(s, m, "experts", m->experts, s->common.shape.ep > 1 ? "ep" : "moe_ep",
                             s->moe_ep, error);
}

/* Checks that tensor parallelism divides a layer. */
static enum roof_status check_layer_split(const struct roof_scenario *s, const struct roof_model *m,
                                          const struct roof_layer *layer, struct roof_error *error)
{
    const int64_t heads = roof_heads(m, layer);
    const int64_t kv_heads = roof_kv_heads(m, layer, 1);
    const int64_t width = roof_intermediate(m, layer);
    if (heads % s->tp != 0) {
        return indivisible(s, m, "attention heads", heads, "tp", s->tp, error);
    }
    if (m->kv_lora_rank == 0 && kv_heads % s->tp != 0 && s->tp % kv_heads != 0) {
        return indivisible(s, m,
                           layer->windowed && layer->kv_heads > 0
                               ? "KV heads in layers with a window"
                               : "KV heads",
                           kv_heads, "tp", s->tp, error);
    }
    return !layer->no_mlp && !layer->moe && width % s->tp != 0
               ? indivisible(s, m, "elements between the products of the MLP", width, "tp", s->tp,
                             error)
               : ROOF_OK;
}

static bool splits_layers(const struct roof_scenario *s, const struct roof_model *m, int64_t tp)
{
    struct roof_scenario other = *s;
    bool splits = true;
    other.tp = tp;
    for (int64_t c = 0; c < m->layer_classes && splits; c++) {
        splits = check_layer_split(&other, m, &m->layer[c], NULL) == ROOF_OK;
    }
    return splits;
}

static enum roof_status check_split(const struct roof_scenario *s, const struct roof_model *m,
                                    struct roof_error *error)
{
    for (int64_t c = 0; c < m->layer_classes; c++) {
        TRY(check_layer_split(s, m, &m->layer[c], error));
    }
    if (m->out_groups % s->tp != 0) {
        return indivisible(s, m, "groups of the output of attention", m->out_groups, "tp", s->tp,
                           error);
    }
    if (m->mixer.heads % s->tp != 0) {
        return indivisible(s, m, "heads with a state", m->mixer.heads, "tp", s->tp, error);
    }
    if (m->mixer.heads > 0 && m->mixer.key_heads % s->tp != 0 && s->tp % m->mixer.key_heads != 0) {
        return indivisible(s, m, "key heads of a state", m->mixer.key_heads, "tp", s->tp, error);
    }
    if (m->shared_intermediate % s->tp != 0) {
        return indivisible(s, m, "elements between the products of the shared experts",
                           m->shared_intermediate, "tp", s->tp, error);
    }
    if (s->pp > m->layers) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s has %" PRId64 " layers, too few for " ROOF_KEY("pp") " %" PRId64,
                              m->id, m->layers, s->pp);
    }
    return m->experts > 0 ? check_experts(s, m, error) : ROOF_OK;
}

/* Gives the scenario the formats of a plain product, by the rules that operators have; a layout
 * speaks before the defaults do. */
static enum roof_status resolve_formats(struct roof_scenario *s, const struct roof_model *m,
                                        struct roof_error *error)
{
    struct roof_workload product = {
        .op = ROOF_OPERATOR_GEMM, .shape = {.m = 1, .n = 1, .k = 1}, .formats = s->common.formats};
    struct roof_formats *const f = &product.formats;
    if (f->activations == ROOF_PRECISION_AUTO && f->precision == ROOF_PRECISION_AUTO) {
        f->activations = m->activations;
    }
    if (f->kv == ROOF_PRECISION_AUTO) {
        f->kv = m->kv;
    }
    TRY(roof_workload_resolve(&product, error));
    s->common.formats = product.formats;
    return ROOF_OK;
}

static enum roof_status check_range(const char *key, int64_t value, int64_t min, int64_t max,
                                    struct roof_error *error)
{
    return value >= min && value <= max
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                ROOF_KEY("%s") " must be %" PRId64 " to %" PRId64 ", not %" PRId64,
                                key, min, max, value);
}

static enum roof_status check_request(struct roof_scenario *s, struct roof_error *error)
{
    if (s->prompt == 0 || s->generate == 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("prompt") " and " ROOF_KEY("generate") " need each other: give both");
    }
    if (s->phase != ROOF_PHASE_DECODE && s->phase != ROOF_PHASE_REQUEST) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("prompt") " and " ROOF_KEY(
                "generate") " ask for a whole request: leave out " ROOF_KEY("phase"));
    }
    if (s->context > 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("prompt") " and " ROOF_KEY(
                                  "generate") " give the lengths: leave out " ROOF_KEY("context"));
    }
    if (s->static_batch > 0 && s->chunk != 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("static") " prefills whole prompts: leave out " ROOF_KEY("chunk"));
    }
    s->phase = ROOF_PHASE_REQUEST;
    if (s->chunk == ROOF_CHUNK_WHOLE) {
        s->chunk = roof_uncached(s->prompt, s->prefix_hit);
    } else if (s->chunk == 0 && s->static_batch == 0) {
        s->chunk = ROOF_REQUEST_CHUNK;
    }
    return ROOF_OK;
}

/* Refuses more tokens than a learned table has positions; drafts stand behind the context. */
static enum roof_status check_positions(const struct roof_scenario *s, const struct roof_model *m,
                                        struct roof_error *error)
{
    /* Lengths that go with another phase are 0. */
    const int64_t context = s->prefill_context > s->context ? s->prefill_context : s->context;
    const int64_t request = s->prompt + s->generate;
    const int64_t longest = request > context ? request : context;
    return m->position_rows == 0 || longest + s->draft_tokens <= m->positions
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "%s has a table of %" PRId64 " positions, too few for %" PRId64
                                " tokens%s",
                                m->id, m->positions, longest + s->draft_tokens,
                                s->draft_tokens > 0 ? ", drafts included" : "");
}

/* The default context leaves room for drafts in a table of positions. */
static int64_t default_context(const struct roof_scenario *s, const struct roof_model *m)
{
    const int64_t drafts = m->position_rows > 0 ? s->draft_tokens : 0;
    return m->positions > 0 && m->positions - drafts < CONTEXT_DEFAULT
               ? at_least_1(m->positions - drafts)
               : CONTEXT_DEFAULT;
}

static enum roof_status check_lengths(struct roof_scenario *s, const struct roof_model *m,
                                      struct roof_error *error)
{
    if (s->phase != ROOF_PHASE_MIXED && (s->prefill_batch > 0 || s->prefill_context > 0)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("prefill_%s") " needs " ROOF_KEY("phase") " mixed",
                              s->prefill_batch > 0 ? "batch" : "context");
    }
    if (s->prompt > 0 || s->generate > 0) {
        return check_request(s, error);
    }
    if (s->static_batch > 0 || s->chunk == ROOF_CHUNK_WHOLE) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s needs " ROOF_KEY("prompt") " and " ROOF_KEY("generate"),
                              s->static_batch > 0 ? ROOF_KEY("static") : ROOF_KEY("chunk") " 0");
    }
    if (s->phase == ROOF_PHASE_ENCODE) {
        return roof_media_alone(s, error);
    }
    if (s->context == 0) {
        const int64_t media = roof_media_places(s, m);
        const int64_t usual = default_context(s, m);
        s->context = media > usual ? media : usual;
    }
    if (s->phase != ROOF_PHASE_DECODE && s->draft_tokens > 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("draft_tokens") " needs " ROOF_KEY("phase") " decode");
    }
    if (s->phase == ROOF_PHASE_DECODE && s->chunk > 0) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("chunk") " needs " ROOF_KEY("prompt") " and " ROOF_KEY(
                                  "generate") ", or " ROOF_KEY("phase") " prefill or mixed");
    }
    if (s->prefix_hit > 0 && (s->phase != ROOF_PHASE_PREFILL || s->chunk > 0)) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("prefix_hit") " needs " ROOF_KEY("prompt") " and " ROOF_KEY(
                "generate") ", or " ROOF_KEY("phase") " prefill without " ROOF_KEY("chunk"));
    }
    if (s->phase == ROOF_PHASE_PREFILL && s->chunk == 0) {
        s->chunk = roof_uncached(s->context, s->prefix_hit);
    }
    if (s->phase == ROOF_PHASE_PREFILL) {
        return check_range("chunk", s->chunk, 1, s->context, error);
    }
    if (s->phase == ROOF_PHASE_MIXED) {
        s->prefill_batch = at_least_1(s->prefill_batch);
        s->chunk = s->chunk > 0 ? s->chunk : CHUNK_DEFAULT;
        s->prefill_context = s->prefill_context > 0 ? s->prefill_context : s->chunk;
        return check_range("chunk", s->chunk, 1, s->prefill_context, error);
    }
    return ROOF_OK;
}

/* Returns the tokens of the widest pass of a scenario. */
static double most_tokens(const struct roof_scenario *s)
{
    const double batch = (double)s->common.shape.batch;
    const double chunk = (double)s->chunk;
    const double step = batch * (double)roof_query_len(s);
    if (s->phase == ROOF_PHASE_MIXED) {
        return step + (double)s->prefill_batch * chunk;
    }
    if (s->phase != ROOF_PHASE_REQUEST) {
        return step;
    }
    const double prompts = batch * (double)roof_uncached(s->prompt, s->prefix_hit);
    return s->static_batch > 0 ? fmax(step, prompts) : step + fmin((double)s->pp * chunk, prompts);
}

/* Refuses passes whose tensors have more elements than an operator takes. */
static enum roof_status check_tokens(const struct roof_scenario *s, const struct roof_model *m,
                                     struct roof_error *error)
{
    static const char *const advice[ROOF_PHASE_COUNT] = {
        [ROOF_PHASE_DECODE] = ROOF_KEY("batch"),
        [ROOF_PHASE_PREFILL] = ROOF_KEY("batch") " or " ROOF_KEY("chunk"),
        [ROOF_PHASE_MIXED] =
            ROOF_KEY("batch") ", " ROOF_KEY("prefill_batch") " or " ROOF_KEY("chunk"),
        [ROOF_PHASE_ENCODE] = ROOF_KEY("batch"),
        [ROOF_PHASE_REQUEST] = ROOF_KEY("batch") ", " ROOF_KEY("prompt") " or " ROOF_KEY("chunk"),
    };
    const double tokens = most_tokens(s);
    const double widest = fmax((double)m->vocab, (double)m->hidden * (double)at_least_1(m->top_k));
    const double limit = floor(ROOF_DIMENSION_MAX / widest);
    return tokens <= limit
               ? ROOF_OK
               : roof_error_set(error, ROOF_USAGE,
                                "a pass of %.0f tokens is more than the %.0f that are possible "
                                "with %s: lower %s",
                                tokens, limit, m->id,
                                s->static_batch > 0
                                    ? ROOF_KEY("batch") " or " ROOF_KEY(
                                          "prompt") ", or leave out " ROOF_KEY("static")
                                    : advice[s->phase]);
}

/* Checks the sizes that were given by themselves; 0 follows from others. */
static enum roof_status check_sizes(const struct roof_scenario *s, struct roof_error *error)
{
    const struct roof_shape *const shape = &s->common.shape;
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"batch", shape->batch},
                 {"context", s->context},
                 {"chunk", s->chunk == ROOF_CHUNK_WHOLE ? 0 : s->chunk},
                 {"prefill_batch", s->prefill_batch},
                 {"prefill_context", s->prefill_context},
                 {"prompt", s->prompt},
                 {"generate", s->generate},
                 {"images", s->media.images},
                 {"audio", s->media.audio},
                 {"audio_length_s", s->media.audio_length_s},
                 {"tp", s->tp},
                 {"pp", s->pp},
                 {"dp", s->dp},
                 {"launches", s->launches},
                 {"ep", shape->ep},
                 {"attention_dp", s->attention_dp},
                 {"moe_tp", s->moe_tp},
                 {"moe_ep", s->moe_ep}};
    TRY(check_range("draft_tokens", s->draft_tokens, 0, ROOF_DRAFT_TOKENS_MAX, error));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (sizes[i].value != 0) {
            TRY(check_range(sizes[i].key, sizes[i].value, 1, SEQUENCES_MAX, error));
        }
    }
    return ROOF_OK;
}

static enum roof_status check_fractions(const struct roof_scenario *s, struct roof_error *error)
{
    const struct {
        const char *key;
        double value;
        double least;
        double limit;
    } fractions[] = {
        {"acceptance", s->acceptance, 0, 1},
        {"prefix_hit", s->prefix_hit, 0, 1},
        {"reserve", s->reserve, 0, ROOF_RESERVE_MAX},
        {"step_scale", s->common.step_scale, ROOF_STEP_SCALE_MIN, ROOF_STEP_SCALE_MAX}};
    for (size_t i = 0; i < COUNT(fractions); i++) {
        if (!(fractions[i].value >= fractions[i].least &&
              fractions[i].value <= fractions[i].limit)) {
            char given[ROOF_QUANTITY_SIZE];
            char least[ROOF_QUANTITY_SIZE];
            char limit[ROOF_QUANTITY_SIZE];
            return roof_error_set(error, ROOF_USAGE, ROOF_KEY("%s") " must be %s to %s, not %s",
                                  fractions[i].key, roof_format_short(least, fractions[i].least),
                                  roof_format_short(limit, fractions[i].limit),
                                  roof_format_short(given, fractions[i].value));
        }
    }
    return ROOF_OK;
}

bool roof_drafter_find(struct roof_scenario *scenario, const char *name)
{
    const bool own = strcmp(name, "mtp") == 0;
    if (!own && strcmp(name, "none") != 0) {
        return false;
    }
    scenario->drafting = own ? ROOF_DRAFTING_OWN : ROOF_DRAFTING_FREE;
    scenario->draft = NULL;
    return true;
}

const char *roof_drafter_name(const struct roof_scenario *s, const struct roof_model *model)
{
    switch (s->draft_tokens > 0 ? s->drafting : ROOF_DRAFTING_DEFAULT) {
    case ROOF_DRAFTING_OWN:
        return "mtp";
    case ROOF_DRAFTING_MODEL:
        return s->draft->id;
    case ROOF_DRAFTING_FREE:
        return model->predict_layers > 0 ? "none" : NULL;
    default:
        return NULL;
    }
}

/* Takes apart what is not fused. Where quantisation is an operator, no product has it inside. Waits
 * are counted where they take time. */
static enum roof_status resolve_kernels(struct roof_scenario *s, struct roof_error *error)
{
    if (s->fuse != ROOF_FUSE_DEFAULT && s->common.quantize_input != ROOF_QUANTIZE_NONE) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("quantize_input") " needs " ROOF_KEY(
                "fuse") " default: with none and all, quantisation is an operator");
    }
    if (s->launches > 0 && !(s->host_gap_s > 0)) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("launches") " needs " ROOF_KEY("host_gap_us"));
    }
    if (s->fuse == ROOF_FUSE_NONE) {
        s->unfused_attention = 1;
        s->split_projections = 1;
    }
    return ROOF_OK;
}

enum roof_drafting roof_drafting_of(const struct roof_scenario *s, const struct roof_model *model)
{
    return s->drafting != ROOF_DRAFTING_DEFAULT ? s->drafting
           : s->draft != NULL                   ? ROOF_DRAFTING_MODEL
           : model->predict_layers > 0          ? ROOF_DRAFTING_OWN
                                                : ROOF_DRAFTING_FREE;
}

/* Finds what proposes tokens. */
static enum roof_status resolve_drafts(struct roof_scenario *s, const struct roof_model *m,
                                       struct roof_error *error)
{
    if (s->draft_tokens == 0) {
        return ROOF_OK;
    }
    if (s->drafting == ROOF_DRAFTING_OWN && m->predict_layers == 0) {
        return roof_error_set(
            error, ROOF_USAGE,
            "%s has no layers for multi-token prediction (" ROOF_KEY("draft_model") " mtp)", m->id);
    }
    s->drafting = roof_drafting_of(s, m);
    s->draft = s->drafting == ROOF_DRAFTING_OWN ? m : s->draft;
    return ROOF_OK;
}

/* Takes "experts" as those of all layers. The host is that of one device, and computes. */
static enum roof_status resolve_offload(struct roof_scenario *s, const struct roof_model *m,
                                        struct roof_error *error)
{
    const enum roof_offload_part part = roof_offload_part(s->offload);
    const int64_t layers = roof_offload_layers(s->offload);
    if (part == ROOF_OFFLOAD_NONE) {
        return ROOF_OK;
    }
    if (part == ROOF_OFFLOAD_EXPERTS && m->experts == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s has no experts for " ROOF_KEY("offload") " experts: " ROOF_KEY(
                                  "offload") " layers:N offloads layers",
                              m->id);
    }
    if (roof_scenario_devices(s) > 1) {
        return roof_error_set(error, ROOF_USAGE,
                              ROOF_KEY("offload") " needs one device, not %" PRId64,
                              roof_scenario_devices(s));
    }
    if (s->host == NULL) {
        return roof_error_set(
            error, ROOF_USAGE,
            ROOF_KEY("offload") " needs the memory bandwidth of the host: " ROOF_KEY(
                "host_bandwidth") " in GB/s (two channels of DDR5-5600 "
                                  "have " ROOF_HOST_USUAL_GB_PER_S
                                  "), or " ROOF_KEY("host") " with a CPU");
    }
    if (layers > m->layers && layers < ROOF_LAYERS_MAX) {
        return roof_error_set(error, ROOF_USAGE,
                              "%s has %" PRId64
                              " layers, too few for " ROOF_KEY("offload") " of %" PRId64,
                              m->id, m->layers, layers);
    }
    if (layers == ROOF_LAYERS_MAX) {
        s->offload = roof_offload_pack(part, m->layers);
    }
    return ROOF_OK;
}

/* Tells whether one of the formats of weights is of GGUF. */
static bool any_gguf(const int8_t format[ROOF_WEIGHT_COUNT])
{
    int w = 0;
    while (w < ROOF_WEIGHT_COUNT && !roof_precision_gguf((enum roof_precision)format[w])) {
        w++;
    }
    return w < ROOF_WEIGHT_COUNT;
}

bool roof_scenario_gguf(const struct roof_scenario *s, const struct roof_model *m)
{
    const struct roof_formats *const f = &s->common.formats;
    bool gguf = m->gguf || any_gguf(m->format) || roof_precision_gguf(f->weights) ||
                roof_precision_gguf(f->precision);
    for (int64_t c = 0; c < m->layer_classes && !gguf; c++) {
        gguf = any_gguf(m->layer[c].format);
    }
    for (int w = 0; w < ROOF_WEIGHT_COUNT && !gguf; w++) {
        gguf = roof_precision_gguf(s->weight[w]);
    }
    return gguf;
}

enum roof_precision roof_scenario_narrower_cache(const struct roof_scenario *scenario,
                                                 const struct roof_model *model)
{
    const bool local =
        scenario->common.stack == ROOF_STACK_LLAMA_CPP || roof_scenario_gguf(scenario, model);
    const enum roof_precision narrow = local ? ROOF_PRECISION_Q8_0 : ROOF_PRECISION_FP8_E4M3;
    return roof_precision_bits(scenario->common.formats.kv) > roof_precision_bits(narrow)
               ? narrow
               : ROOF_PRECISION_AUTO;
}

/* Takes the kernels of llama.cpp for weights in GGUF formats: no other stack's were measured. */
static void resolve_stack(struct roof_scenario *s, const struct roof_model *model)
{
    if (s->common.stack != ROOF_STACK_LLAMA_CPP && roof_scenario_gguf(s, model)) {
        s->asked_stack = s->common.stack;
        s->common.stack = ROOF_STACK_LLAMA_CPP;
    }
}

enum roof_status roof_scenario_resolve(struct roof_scenario *scenario,
                                       const struct roof_model *model, struct roof_error *error)
{
    struct roof_scenario s = *scenario;
    struct roof_shape *const shape = &s.common.shape;
    shape->batch = at_least_1(shape->batch);
    shape->ep = at_least_1(shape->ep);
    s.tp = at_least_1(s.tp);
    s.pp = at_least_1(s.pp);
    s.dp = at_least_1(s.dp);
    TRY(check_sizes(&s, error));
    TRY(check_fractions(&s, error));
    TRY(roof_media_resolve(&s, model, error));
    TRY(check_lengths(&s, model, error));
    TRY(roof_media_check(&s, model, error));
    TRY(check_positions(&s, model, error));
    TRY(check_tokens(&s, model, error));
    if (shape->routing > 0 && model->experts == 0) {
        return roof_error_set(error, ROOF_USAGE, "%s has no experts for " ROOF_KEY("routing"),
                              model->id);
    }
    TRY(split_experts(&s, model, error));
    TRY(check_split(&s, model, error));
    TRY(resolve_kernels(&s, error));
    TRY(resolve_drafts(&s, model, error));
    TRY(resolve_offload(&s, model, error));
    TRY(resolve_formats(&s, model, error));
    resolve_stack(&s, model);
    *scenario = s;
    return ROOF_OK;
}

void roof_scenario_phases(struct roof_scenario *prefill, struct roof_scenario *decode,
                          const struct roof_scenario *asked)
{
    const bool request = asked->generate > 0;
    *prefill = *decode = *asked;
    prefill->phase = ROOF_PHASE_PREFILL;
    prefill->context = request ? asked->prompt : asked->context;
    prefill->prompt = prefill->generate = 0;
    prefill->draft_tokens = 0;
    if (request) {
        prefill->common.shape.batch = asked->static_batch > 0 ? asked->common.shape.batch : 1;
        prefill->chunk = prefill->static_batch = decode->static_batch = 0;
    }
    decode->phase = ROOF_PHASE_DECODE;
    decode->context = request ? asked->prompt + asked->generate : asked->context;
    decode->prompt = decode->generate = 0;
    decode->chunk = 0;
    roof_media_encoded(&decode->media);
    decode->prefix_hit = 0;
}

int64_t roof_uncached(int64_t prompt, double prefix_hit)
{
    /* 0.29 of 100 tokens are 29, although the product of the binary numbers is a little less. */
    const double hit = floor(prefix_hit * (double)prompt * (1 + 1e-14));
    return prompt - (int64_t)fmin(hit, (double)(prompt - 1));
}

int64_t roof_stage_devices(const struct roof_scenario *s)
{
    return s->tp * s->attention_dp;
}

int64_t roof_scenario_devices(const struct roof_scenario *s)
{
    return roof_stage_devices(s) * s->pp * s->dp;
}

bool roof_splits_apart(const struct roof_scenario *s)
{
    return s->moe_ep > 0 && (s->attention_dp != s->common.shape.ep || s->moe_tp != s->tp);
}

int64_t roof_query_len(const struct roof_scenario *s)
{
    return s->phase == ROOF_PHASE_PREFILL ? s->chunk : 1 + s->draft_tokens;
}

int64_t roof_microbatches(const struct roof_scenario *s)
{
    const int64_t batch = s->common.shape.batch;
    const int64_t most = s->prefill_batch > batch ? s->prefill_batch : batch; /* mixed: of either */
    return s->pp < most ? s->pp : most;
}
