// SPDX-License-Identifier: MIT
#include "decide/emit.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "decide/emit_copies.h"
#include "decide/emit_name.h"
#include "decide/emit_reason.h"
#include "decide/emit_room.h"

/* A manifest of Kubernetes that starts an engine in a runtime of its own. */
struct manifest {
    const char *id;
    const char *engine;
    const char *serve;   /* the beginning of the engine's command, */
    const char *instead; /* and what stands there in the runtime */
    const char *image;
};

/* docs/formats.md has the sources. */
static const struct manifest manifests[] = {{"dynamo", "vllm", "vllm serve ",
                                             "python3 -m dynamo.vllm --model ",
                                             "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.0"}};

static const struct manifest *find_manifest(const char *id)
{
    size_t i = 0;
    while (i < COUNT(manifests) && strcmp(manifests[i].id, id) != 0) {
        i++;
    }
    return i < COUNT(manifests) ? &manifests[i] : NULL;
}

const char *roof_emit_engine(const char *emit)
{
    const struct manifest *const manifest = find_manifest(emit);
    return manifest == NULL ? emit : manifest->engine;
}

/* A script that is being written. */
struct emitter {
    struct roof_text *out;
    const struct roof_plan *plan;
    const struct roof_plan_problem *problem;
    const struct roof_model *plain; /* that of the plan: the question's, or a checkpoint of it */
    const struct roof_engine *engine;
    size_t number;
    const struct roof_plans *others;
    const struct roof_engine_format *format;
    const struct roof_engine_kv *kv;
    const struct roof_engine_split *split;
    int64_t context;
    int64_t served;                          /* the longest request that the engine accepts */
    int64_t chunk;                           /* most tokens of prompts in a step */
    struct roof_text model;                  /* a repository, a folder or a file */
    struct roof_text name;                   /* its last part, for file names */
    struct roof_text checkpoint;             /* the checkpoint that the engine reads */
    const struct roof_engine_drafts *drafts; /* NULL: the question has none */
    struct roof_text drafter;                /* the model that drafts, like those of the model */
    struct roof_text drafter_name;
    struct roof_text drafter_checkpoint;
    const struct manifest *manifest; /* NULL: a script */
    struct roof_text *remark;        /* a remark for the reader, see end_remark */
    struct roof_error *error;
};

/* --- names --------------------------------------------------------------------------------- */

/* Sets the names of the model, and of the one that drafts, for an engine. */
static void set_names(struct emitter *e, const char *given)
{
    const struct roof_model *const m = e->plain;
    const struct roof_model *const draft = e->problem->base.draft;
    const bool file = roof_plan_of_gguf(e->problem); /* also where a folder was given */
    const char *const own = m == e->problem->model && !file ? given : m->id;
    roof_emit_names(&e->model, &e->name, m->repository == NULL ? own : m->repository);
    if (draft != NULL) {
        roof_emit_names(&e->drafter, &e->drafter_name,
                        draft->repository != NULL  ? draft->repository
                        : draft->reference != NULL ? draft->reference
                                                   : draft->id);
    }
}

/* --- lines --------------------------------------------------------------------------------- */

/* Writes the value of a placeholder; false when there is no placeholder of that name. */
static bool put_value(struct roof_text *out, const struct emitter *e, const char *name,
                      size_t length, enum roof_emit_place place)
{
    const struct roof_plan *const p = e->plan;
    const int64_t ranks = p->split.attention_dp;
    const int64_t offloaded = roof_offload_layers(p->offload);
    const int64_t per_rank = (p->batch + ranks - 1) / ranks;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"tp", p->split.tp},
                   {"pp", p->split.pp},
                   {"attention_dp", ranks},
                   {"moe_tp", p->split.moe_tp},
                   {"moe_ep", p->split.moe_ep},
                   {"stage", p->split.tp * ranks},
                   {"batch", p->batch},
                   {"batch_per_rank", per_rank},
                   {"batch_of_ranks", per_rank * ranks},
                   {"context", e->served},
                   {"offloaded", offloaded < e->plain->layers ? offloaded : e->plain->layers},
                   /* llama.cpp counts the output as one more layer, the last one */
                   {"device_layers", e->plain->layers + 1 - offloaded},
                   {"tokens", e->context * p->batch},
                   {"chunk", e->chunk},
                   {"chunk_of_ranks", e->chunk * ranks},
                   {"drafts", e->problem->base.draft_tokens},
                   {"verified", e->problem->base.draft_tokens + 1}};
    const struct {
        const char *name;
        const struct roof_text *value;
    } names[] = {{"model", &e->model},
                 {"name", &e->name},
                 {"checkpoint", &e->checkpoint},
                 {"drafter", &e->drafter},
                 {"drafter_name", &e->drafter_name},
                 {"drafter_checkpoint", &e->drafter_checkpoint}};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (strlen(numbers[i].name) == length && strncmp(name, numbers[i].name, length) == 0) {
            roof_text_printf(out, "%" PRId64, numbers[i].value);
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strlen(names[i].name) == length && strncmp(name, names[i].name, length) == 0) {
            roof_emit_name(out, names[i].value->data == NULL ? "" : names[i].value->data, place);
            return true;
        }
    }
    if (length == strlen("memory") && strncmp(name, "memory", length) == 0) {
        char text[ROOF_QUANTITY_SIZE];
        roof_text_put(out, roof_format_short(text, 1 - e->problem->base.reserve));
        return true;
    }
    return false;
}

static enum roof_status put_line(struct roof_text *out, const struct emitter *e, const char *line,
                                 enum roof_emit_place place)
{
    bool quoted = false;
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    while (*line != '\0') {
        const size_t length = *line == '{' ? strspn(line + 1, letters) : 0;
        if (length == 0 || line[length + 1] != '}') {
            quoted ^= *line == '\'';
            roof_text_add(out, line++, 1);
            continue;
        }
        const bool json = quoted && place == ROOF_EMIT_COMMAND;
        if (!put_value(out, e, line + 1, length, json ? ROOF_EMIT_JSON : place)) {
            return roof_error_set(e->error, ROOF_INVALID, "%s: %.*s is no placeholder here",
                                  e->engine->id, (int)length + 2, line);
        }
        line += length + 2;
    }
    return ROOF_OK;
}

/* Tells whether the model that drafts is read as published, beside a quantised checkpoint. */
static bool drafts_unquantised(const struct emitter *e)
{
    const struct roof_engine_format *const f = e->format;
    return e->drafts == &e->engine->drafts[ROOF_DRAFTING_MODEL] && e->drafts->checkpoint == NULL &&
           roof_precision_bits(f->weights) < 16 &&
           (f->checkpoint != NULL || f->quantization != NULL);
}

/* Returns the words that a whole line stands for; NULL for other lines. */
static const struct roof_engine_words *words_of(const struct emitter *e, const char *line)
{
    static const char *const none[] = {NULL};
    static const struct roof_engine_words nothing = {.command = none, .file = none};
    const struct roof_engine_class *const class = roof_engine_class(e->engine, e->problem->model);
    return strcmp(line, "{format}") == 0  ? &e->format->words
           : strcmp(line, "{class}") == 0 ? (class == NULL ? &nothing : &class->words)
           : strcmp(line, "{kv}") == 0    ? &e->kv->words
           : strcmp(line, "{split}") == 0 ? &e->split->words
           : strcmp(line, "{drafting}") == 0
               ? (e->drafts == NULL ? &nothing : &e->drafts->over.words)
           : strcmp(line, "{drafting_formats}") == 0
               ? (drafts_unquantised(e) ? &e->drafts->unquantised : &nothing)
           : strcmp(line, "{offload}") == 0
               ? &e->engine->offload[roof_offload_part(e->plan->offload)]
               : NULL;
}

/* Writes all lines of a step, with a text between them. */
static enum roof_status put_lines(const struct emitter *e, const char *const *line,
                                  enum roof_emit_place place, const char *between)
{
    const char *separator = "";
    for (; *line != NULL; line++) {
        const struct roof_engine_words *const words = words_of(e, *line);
        const char *const single[] = {*line, NULL};
        const char *const *each = words == NULL             ? single
                                  : place == ROOF_EMIT_FILE ? words->file
                                                            : words->command;
        for (; *each != NULL; each++) {
            roof_text_put(e->out, separator);
            TRY(put_line(e->out, e, *each, place));
            separator = between;
        }
    }
    roof_text_put(e->out, "\n");
    return ROOF_OK;
}

static enum roof_status put_step(const struct emitter *e, const struct roof_engine_step *step)
{
    if (step->file == NULL) {
        return put_lines(e, step->line, ROOF_EMIT_COMMAND, " \\\n    ");
    }
    roof_text_printf(e->out, "cat > %s <<'END'\n", step->file);
    TRY(put_lines(e, step->line, ROOF_EMIT_FILE, "\n"));
    roof_text_put(e->out, "END\n");
    return ROOF_OK;
}

/* --- remarks ------------------------------------------------------------------------------- */

/* The columns of a remark, less the sign before it; further lines are indented. */
#define REMARK_WIDTH (ROOF_PAGE_WIDTH - 2)
#define REMARK_INDENT 4

/* Ends a remark for the reader, on as many lines as it needs. One that begins with a blank is a
 * command, which stays on one line. */
static void end_remark(const struct emitter *e)
{
    struct roof_text *const remark = e->remark;
    if (remark->length > 0 && remark->data[0] != ' ') {
        roof_text_fold_at(remark, 0, REMARK_INDENT, REMARK_WIDTH);
    }
    size_t length = 0;
    for (size_t from = 0; from <= remark->length; from += length + 1) {
        const char *const line = remark->data == NULL ? "" : remark->data + from;
        length = strcspn(line, "\n");
        roof_text_put(e->out, "# ");
        roof_text_add(e->out, line, length);
        roof_text_put(e->out, "\n");
    }
    e->out->failed |= remark->failed;
    roof_text_clear(remark);
}

static void put_described(const struct emitter *e, const struct roof_plan *plan)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_plan_describe(&text, plan, e->problem);
    roof_emit_name(e->remark, text.data == NULL ? "" : text.data, ROOF_EMIT_COMMENT);
    e->remark->failed |= text.failed;
    roof_text_free(&text);
}

/* Tells whether the engine has the drafts of the question over the split of a plan. */
static bool has_drafts(const struct emitter *e, const struct roof_plan *plan)
{
    const struct roof_scenario *const base = &e->problem->base;
    return base->draft_tokens == 0 ||
           roof_engine_drafts(e->engine, roof_drafting_of(base, e->problem->model), &plan->split,
                              plan->batch) != NULL;
}

/* Writes the best plan of all and the reason, if a script of this engine does not start it. */
static void put_better(const struct emitter *e, const struct roof_plans *of)
{
    const struct roof_plan *const best = &of->plan[0];
    const bool apart = best->prefill.copies > 0;
    char rate[ROOF_QUANTITY_SIZE];
    if (!apart && (best->engines >> e->number & 1U) != 0 && has_drafts(e, best)) {
        return;
    }
    const struct roof_hardware *const hardware = e->problem->hardware[best->hardware];
    const unsigned formats =
        roof_engines_serve(e->problem->engines, best->serving, e->problem->model, hardware);
    const unsigned splits =
        roof_engines_split(e->problem->engines, hardware, &best->split, best->batch);
    struct roof_plan_row row;
    roof_plan_name(&row, best, 1, e->problem);
    roof_text_printf(e->remark,
                     apart ? "better with separate copies for prefill and decode (%s): "
                     : (best->engines >> e->number & 1U) != 0 ? "ranked first for %s: "
                                                              : "better with %s: ",
                     row.engines);
    put_described(e, best);
    roof_text_printf(e->remark, of->gain == NULL ? ", %s tokens/s; " : "; %s; ",
                     of->gain == NULL ? roof_format_short(rate, best->tokens_per_s) : of->gain);
    if (apart) {
        roof_text_printf(e->remark, "this %s starts copies of one kind only",
                         e->manifest == NULL ? "script" : "manifest");
    } else {
        roof_text_printf(e->remark, "%s %s", e->engine->name,
                         (formats >> e->number & 1U) == 0
                             ? "does not run these formats on this device"
                         : (splits >> e->number & 1U) == 0 ? "does not run this split"
                         : !has_drafts(e, best)            ? "does not draft over this split"
                                                           : "has slower kernels for it");
    }
    end_remark(e);
}

/* Predicts a scenario of the plan; *rate becomes the tokens/s of one copy, expected ones if they
 * are known. */
static enum roof_status find_rate(double *rate, const struct emitter *e,
                                  const struct roof_model *model,
                                  const struct roof_scenario *scenario)
{
    struct roof_model_prediction *const r = malloc(sizeof *r);
    if (r == NULL) {
        return roof_no_memory(e->error);
    }
    const enum roof_status status =
        roof_predict_model(r, model, scenario, e->problem->hardware[e->plan->hardware], e->error);
    if (status == ROOF_OK) {
        *rate = isnan(r->expected_tokens_per_s) ? r->tokens_per_s : r->expected_tokens_per_s;
    }
    free(r);
    return status;
}

/* If the script quantises a checkpoint, and does not only convert a quantised one, writes the gain:
 * the rate of the plan with its model in bf16, and with the formats of the plan. */
static enum roof_status put_before(const struct emitter *e, const struct roof_plans *plans)
{
    const struct roof_plan *const p = e->plan;
    struct roof_scenario after;
    double rate[2] = {ROOF_UNKNOWN, ROOF_UNKNOWN};
    char value[2][ROOF_QUANTITY_SIZE];
    char gain[ROOF_QUANTITY_SIZE];
    if (e->format->checkpoint == NULL || e->format->quantization != NULL ||
        roof_precision_bits(e->format->weights) >= 16 || plans->model == NULL) {
        return ROOF_OK;
    }
    roof_plan_scenario(&after, p, e->problem);
    after.common.shape.batch = p->fills > 0 ? p->fills : p->batch;
    struct roof_scenario before = after;
    before.common.formats = (struct roof_formats)ROOF_FORMATS_AUTO;
    before.common.formats.precision = ROOF_PRECISION_BF16;
    TRY(find_rate(&rate[0], e, e->problem->model, &before));
    TRY(find_rate(&rate[1], e, plans->model[p->serving], &after));
    for (size_t i = 0; i < 2; i++) {
        roof_format_short(value[i], rate[i]);
    }
    char batch[48] = "batch";
    if (p->fills > 0) {
        (void)snprintf(batch, sizeof batch, "batch of %" PRId64 " in each copy", p->fills);
    }
    if (isnan(rate[0])) {
        const int64_t each = p->devices / p->dp;
        roof_text_printf(
            e->remark, "without quantisation (bf16), %s %s does not fit on %" PRId64 " %s",
            p->fills > 0 ? "a" : "this", batch, each, each == 1 ? "device" : "devices");
    } else {
        roof_text_printf(e->remark, "%s %s without quantisation (bf16): %s tokens/s; in %s %s, %sx",
                         p->fills > 0 ? "a" : "the same", batch, value[0], e->format->id, value[1],
                         roof_format_short(gain, rate[1] / rate[0]));
    }
    end_remark(e);
    return ROOF_OK;
}

static void put_plan(const struct emitter *e, const struct roof_plans *plans)
{
    const struct roof_plan *const p = e->plan;
    const size_t rank = (size_t)(p - plans->plan) + 1;
    const bool bound = p->basis == ROOF_PLAN_BOUND;
    char ttft[ROOF_QUANTITY_SIZE];
    char tpot[ROOF_QUANTITY_SIZE];
    char rate[ROOF_QUANTITY_SIZE];
    roof_emit_name(e->remark, e->plain->id, ROOF_EMIT_COMMENT);
    roof_text_printf(e->remark, " with %s", e->engine->name);
    if (plans->count > 1) {
        roof_text_printf(e->remark, ", rank %zu of %zu", rank, plans->count);
    }
    roof_text_put(e->remark, ": ");
    put_described(e, p);
    const char *const called = e->problem->engines->serving[p->serving].id;
    if (strcmp(called, e->format->id) != 0) {
        roof_text_printf(e->remark, " (there %s)", e->format->id);
    }
    end_remark(e);
    roof_text_printf(e->remark, "%s: first token %s, %s per token, %s%s tokens/s of all sequences",
                     bound          ? "lower bound"
                     : p->fills > 0 ? "simulated means"
                                    : "expected",
                     roof_format_quantity(ttft, p->ttft_s, ROOF_UNIT_MILLISECONDS),
                     roof_format_quantity(tpot, p->tpot_s, ROOF_UNIT_MILLISECONDS),
                     bound ? "at most " : "", roof_format_short(rate, p->tokens_per_s));
    end_remark(e);
    if (e->problem->model->positions > 0 && e->context > e->problem->model->positions) {
        roof_text_printf(e->remark,
                         "note: the model supports contexts up to %" PRId64
                         "; the engine refuses longer requests",
                         e->problem->model->positions);
        end_remark(e);
    }
    if (e->engine->beware != NULL && !bound) {
        roof_text_printf(e->remark, "note: %s", e->engine->beware);
        end_remark(e);
    } else if (p->near > 0.1) {
        roof_text_printf(e->remark,
                         "note: %.0f%% of a decode step is estimated from other devices, "
                         "libraries or formats",
                         100 * p->near);
        end_remark(e);
    }
    put_better(e, rank > 1 || e->others == NULL ? plans : e->others);
}

/* Warns that a name which only resembles a model of the registry may mean another checkpoint. */
static void put_alias(const struct emitter *e, const char *given)
{
    const struct roof_model *const m = e->problem->model;
    if (m == e->plain && m->repository != NULL && strcmp(given, m->id) != 0) {
        roof_emit_name(e->remark, given, ROOF_EMIT_COMMENT);
        roof_text_printf(e->remark, ": replace %s by its repository if that differs",
                         m->repository);
        end_remark(e);
    }
}

/* Says how a checkpoint is made; NULL: it exists. */
static enum roof_status put_making(const struct emitter *e, const struct roof_text *checkpoint,
                                   const char *const *make)
{
    if (make != NULL && *make != NULL) {
        roof_text_printf(
            e->remark, "%s stands for a checkpoint that you have or make first:", checkpoint->data);
        end_remark(e);
    }
    for (; make != NULL && *make != NULL; make++) {
        roof_text_put(e->remark, "  ");
        TRY(put_line(e->remark, e, *make, ROOF_EMIT_COMMENT));
        end_remark(e);
    }
    return ROOF_OK;
}

/* Sets the checkpoint that is read, and says where it comes from. */
static enum roof_status set_checkpoint(struct emitter *e)
{
    const struct roof_model *const m = e->plain;
    const struct roof_serving *const s = &e->problem->engines->serving[e->plan->serving];
    const char *const made = e->format->checkpoint;
    /* A GGUF file has formats of its own: no engine gets those of the plan out of it. */
    const bool original = m->quantization == NULL && !roof_emit_ends_with(e->model.data, ".gguf");
    const bool published = made == NULL && (original || s->quantization != NULL);
    if (published) {
        roof_text_put(&e->checkpoint, e->model.data);
        return e->checkpoint.failed ? roof_no_memory(e->error) : ROOF_OK;
    }
    TRY(put_line(&e->checkpoint, e, made == NULL ? "./{name}-" : made, ROOF_EMIT_COMMENT));
    roof_text_put(&e->checkpoint, made == NULL ? "unquantised" : "");
    if (e->checkpoint.failed) {
        return roof_no_memory(e->error);
    }
    if (made == NULL) {
        roof_text_printf(
            e->remark, "the checkpoint is quantised (%s): replace %s by one that is not",
            m->quantization == NULL ? "a GGUF file" : m->quantization, e->checkpoint.data);
        end_remark(e);
    }
    return put_making(e, &e->checkpoint, made == NULL ? NULL : e->format->make);
}

/* Sets the checkpoint of the model that drafts, and says what the times assume of drafts. */
static enum roof_status set_drafter(struct emitter *e)
{
    const struct roof_scenario *const base = &e->problem->base;
    const struct roof_engine_drafts *const d = e->drafts;
    const char *const name = e->drafter.data == NULL ? "" : e->drafter.data;
    const bool made = d != NULL && d->checkpoint != NULL && !roof_emit_ends_with(name, ".gguf");
    if (d == NULL) {
        return ROOF_OK;
    }
    roof_text_printf(e->remark, "drafts: %" PRId64 " a step, accepted with probability %.3g each",
                     base->draft_tokens, base->acceptance);
    if (d == &e->engine->drafts[ROOF_DRAFTING_FREE]) {
        roof_text_put(e->remark, ", at no cost");
    } else if (base->draft != NULL && roof_precision_bits(e->format->weights) < 16) {
        roof_text_put(e->remark,
                      drafts_unquantised(e)
                          ? ", by a draft model as published; its times assume the formats of the "
                            "plan"
                          : ", by a model in the formats of the plan");
    }
    roof_text_put(e->remark, " (assumed)");
    end_remark(e);
    if (d->over.note != NULL) {
        roof_text_put(e->remark, d->over.note);
        end_remark(e);
    }
    if (made) {
        TRY(put_line(&e->drafter_checkpoint, e, d->checkpoint, ROOF_EMIT_COMMENT));
    } else {
        roof_text_put(&e->drafter_checkpoint, name);
    }
    return e->drafter_checkpoint.failed
               ? roof_no_memory(e->error)
               : put_making(e, &e->drafter_checkpoint, made ? d->make : NULL);
}

/* Writes notes on the split and on several nodes. */
static enum roof_status put_notes(const struct emitter *e)
{
    const struct roof_hardware *const hardware = e->problem->hardware[e->plan->hardware];
    if (e->split->note != NULL) {
        TRY(put_line(e->remark, e, e->split->note, ROOF_EMIT_COMMENT));
        end_remark(e);
    }
    if (roof_several_nodes(hardware, e->plan->devices / e->plan->dp) && e->engine->nodes != NULL) {
        roof_text_put(e->remark, e->engine->nodes);
        end_remark(e);
    }
    roof_emit_room_note(e->remark, e->engine, e->served, e->context);
    if (e->remark->length > 0) {
        end_remark(e);
    }
    roof_text_printf(e->remark, "formats, splits and words with sources: roofline list engines %s",
                     e->engine->id);
    end_remark(e);
    return ROOF_OK;
}

/* --- copies -------------------------------------------------------------------------------- */

/* The port of a copy follows from its first device. */
#define COPY_PORT " \\\n    --port $((8000 + ${devices%%,*}))"

/* Writes the command that serves, once for each copy where there are several. */
static enum roof_status put_server(const struct emitter *e, const struct roof_engine_step *step)
{
    const struct roof_hardware *const hardware = e->problem->hardware[e->plan->hardware];
    const int64_t per_node = roof_emit_copies_per_node(e->plan, hardware);
    if (e->plan->dp == 1) {
        return put_step(e, step);
    }
    roof_emit_copies_note(e->remark, e->plan, per_node);
    end_remark(e);
    if (per_node == 0) {
        return put_step(e, step);
    }
    roof_emit_copies_begin(e->out, e->plan, hardware, per_node);
    TRY(put_lines(e, step->line, ROOF_EMIT_COMMAND, " \\\n    "));
    e->out->length -= e->out->failed ? 0 : 1; /* the end of the line */
    roof_text_put(e->out, COPY_PORT " &\ndone\nwait\n");
    return ROOF_OK;
}

/* --- manifests ----------------------------------------------------------------------------- */

/* Tells why a plan cannot be a manifest; NULL: it can. */
static const char *no_manifest(const struct emitter *e)
{
    const struct roof_hardware *const hardware = e->problem->hardware[e->plan->hardware];
    if (hardware->vendor == NULL || strcmp(hardware->vendor, "NVIDIA") != 0) {
        return "the manifest needs nvidia.com/gpu, and this is not an NVIDIA GPU";
    }
    if (roof_several_nodes(hardware, e->plan->devices / e->plan->dp)) {
        return "a copy spans several nodes, which this manifest cannot describe";
    }
    for (const char *p = e->checkpoint.data; p != NULL && *p != '\0'; p++) {
        if (iscntrl((unsigned char)*p)) {
            return "the name of the checkpoint has a control character";
        }
    }
    return NULL;
}

/* Writes the name of the deployment: small letters, digits and dashes. */
static void put_label(struct roof_text *out, const char *name)
{
    enum { LONGEST = 40 };
    for (size_t i = 0; i < LONGEST && name[i] != '\0'; i++) {
        const char c = (char)tolower((unsigned char)name[i]);
        roof_text_add(out, isalnum((unsigned char)c) ? &c : "-", 1);
    }
    while (!out->failed && out->length > 0 && out->data[out->length - 1] == '-') {
        out->length--;
    }
}

/* Writes the container of a component, with the secret that downloads need. */
static void put_component(const struct emitter *e, const char *name, const char *type,
                          int64_t replicas)
{
    roof_text_printf(e->out,
                     "  - name: %s\n"
                     "    type: %s\n"
                     "    replicas: %" PRId64 "\n"
                     "    podTemplate:\n"
                     "      spec:\n"
                     "        containers:\n"
                     "        - name: main\n"
                     "          image: %s\n"
                     "          envFrom:\n"
                     "          - secretRef:\n"
                     "              name: hf-token-secret\n",
                     name, type, replicas, e->manifest->image);
}

/* Writes the engine's command as the runtime has it, in a block of YAML. */
static enum roof_status put_runtime(struct emitter *e, const struct roof_engine_step *step)
{
    static const char indent[] = " \\\n                ";
    const size_t serve = strlen(e->manifest->serve);
    if (strncmp(step->line[0], e->manifest->serve, serve) != 0) {
        return roof_error_set(e->error, ROOF_INVALID, "%s: its command does not begin with '%s'",
                              e->engine->id, e->manifest->serve);
    }
    roof_text_printf(e->out,
                     "          command: [/bin/sh, -c]\n"
                     "          args:\n"
                     "          - |\n"
                     "            exec %s",
                     e->manifest->instead);
    TRY(put_line(e->out, e, step->line[0] + serve, ROOF_EMIT_COMMAND));
    roof_text_put(e->out, indent);
    return put_lines(e, step->line + 1, ROOF_EMIT_COMMAND, indent);
}

static enum roof_status put_manifest(struct emitter *e, const struct roof_engine_step *step)
{
    const char *const reason = no_manifest(e);
    if (reason != NULL) {
        roof_text_put(e->remark, reason);
        end_remark(e);
        return roof_error_set(e->error, ROOF_UNSATISFIED, "%s", reason);
    }
    if (strchr("./", *e->checkpoint.data) != NULL) {
        roof_text_put(e->remark, "the container must have the checkpoint under this name");
        end_remark(e);
    }
    roof_text_put(e->out, "apiVersion: nvidia.com/v1beta1\n"
                          "kind: DynamoGraphDeployment\n"
                          "metadata:\n"
                          "  name: serve-");
    put_label(e->out, e->name.data);
    roof_text_put(e->out, "\nspec:\n  components:\n");
    put_component(e, "Frontend", "frontend", 1);
    put_component(e, "worker", "worker", e->plan->dp);
    TRY(put_runtime(e, step));
    roof_text_printf(e->out,
                     "          resources:\n"
                     "            limits:\n"
                     "              nvidia.com/gpu: \"%" PRId64 "\"\n",
                     e->plan->devices / e->plan->dp);
    return ROOF_OK;
}

/* --- the whole ----------------------------------------------------------------------------- */

static enum roof_status put_script(struct emitter *e, const struct roof_plans *plans,
                                   const char *model)
{
    put_plan(e, plans);
    TRY(put_before(e, plans));
    put_alias(e, model);
    TRY(set_checkpoint(e));
    TRY(set_drafter(e));
    TRY(put_notes(e));
    if (e->manifest != NULL) {
        return put_manifest(e, &e->engine->step[e->engine->steps - 1]);
    }
    for (size_t i = 0; i < e->engine->steps; i++) {
        const bool last = i + 1 == e->engine->steps;
        TRY(last ? put_server(e, &e->engine->step[i]) : put_step(e, &e->engine->step[i]));
    }
    return ROOF_OK;
}

/* --- nothing to run ------------------------------------------------------------------------ */

/* Writes the reasons why no plan runs, one remark each. */
static void put_reasons(const struct emitter *e, const struct roof_plans *plans)
{
    struct roof_text lines = ROOF_TEXT_INIT;
    roof_emit_reasons(&lines, e->engine, e->problem, plans);
    for (const char *line = lines.data; line != NULL && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        roof_text_add(e->remark, line, length);
        end_remark(e);
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    e->out->failed |= lines.failed;
    roof_text_free(&lines);
}

/* Sets what the lines of the best plan that the engine runs need. */
static enum roof_status set_plan(struct emitter *e)
{
    const struct roof_plan *const p = e->plan;
    const struct roof_serving *const s = &e->problem->engines->serving[p->serving];
    const struct roof_scenario *const base = &e->problem->base;
    e->context = base->generate > 0 ? base->prompt + base->generate : base->context;
    e->served =
        roof_emit_served(e->context, (p->batch + p->split.attention_dp - 1) / p->split.attention_dp,
                         e->problem->model->positions);
    e->chunk = e->engine->stack == ROOF_STACK_LLAMA_CPP ? roof_plan_local_pass(p, base)
               : base->chunk > 0                        ? base->chunk
                                                        : ROOF_REQUEST_CHUNK;
    e->plain = roof_plan_model(e->problem, p->serving);
    e->format = roof_engine_format(e->engine, s, e->problem->hardware[p->hardware]);
    e->kv = roof_engine_kv(e->engine, e->problem->model, s->kv);
    e->split = roof_engine_split(e->engine, &p->split, p->batch);
    return e->format != NULL && e->kv != NULL && e->split != NULL
               ? ROOF_OK
               : roof_error_set(e->error, ROOF_INVALID,
                                "the options of %s for this plan are not known", e->engine->id);
}

static enum roof_status write_script(struct emitter *e, const struct roof_plans *plans,
                                     const char *model)
{
    TRY(set_plan(e));
    set_names(e, model);
    if (e->model.failed || e->name.failed || e->drafter.failed || e->drafter_name.failed) {
        return roof_no_memory(e->error);
    }
    return put_script(e, plans, model);
}

/* Finds the best plan that the engine runs, with the drafts of the question if there are any. */
static void find_plan(struct emitter *e, const struct roof_plans *plans)
{
    const struct roof_scenario *const base = &e->problem->base;
    for (size_t i = 0; i < plans->count && e->plan == NULL; i++) {
        const struct roof_plan *const p = &plans->plan[i];
        e->plan = (p->engines >> e->number & 1U) != 0 && has_drafts(e, p) ? p : NULL;
    }
    if (base->draft_tokens > 0) {
        e->drafts = &e->engine->drafts[roof_drafting_of(base, e->problem->model)];
    }
}

void roof_emit_begin(struct roof_text *out, const char *emit)
{
    if (find_manifest(emit) == NULL) {
        roof_text_put(out, "command -v setopt > /dev/null && setopt interactive_comments\n"
                           "# the line above is for pasting into zsh, which then takes comments\n");
    }
}

enum roof_status roof_emit(struct roof_text *out, const char *emit, size_t engine,
                           const struct roof_plans *plans, const struct roof_plans *others,
                           const struct roof_plan_problem *problem, const char *model,
                           struct roof_error *error)
{
    struct roof_text remark = ROOF_TEXT_INIT;
    struct emitter e = {.out = out,
                        .remark = &remark,
                        .problem = problem,
                        .engine = &problem->engines->engine[engine],
                        .number = engine,
                        .others = others,
                        .manifest = find_manifest(emit),
                        .error = error};
    find_plan(&e, plans);
    if (e.plan == NULL) {
        put_reasons(&e, plans);
        roof_text_free(&remark);
        return roof_error_set(error, ROOF_UNSATISFIED, "no plan runs on %s", e.engine->id);
    }
    if (out->length == 0) {
        roof_emit_begin(out, emit);
    }
    const enum roof_status status = write_script(&e, plans, model);
    roof_text_free(&remark);
    roof_text_free(&e.model);
    roof_text_free(&e.name);
    roof_text_free(&e.checkpoint);
    roof_text_free(&e.drafter);
    roof_text_free(&e.drafter_name);
    roof_text_free(&e.drafter_checkpoint);
    return status;
}
