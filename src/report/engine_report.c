// SPDX-License-Identifier: MIT
#include "report/engine_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

void roof_engine_entry_make(struct roof_engine_entry *out, const struct roof_engine *engine)
{
    *out = (struct roof_engine_entry){.id = engine->id, .name = engine->name, .engine = engine};
    size_t used = 0;
    for (size_t i = 0; i < engine->formats; i++) {
        const char *const id = engine->format[i].id;
        /* A format with other arguments on some architectures has two consecutive rows. */
        const bool again = i > 0 && strcmp(engine->format[i - 1].id, id) == 0;
        if (!again && used + strlen(id) + 2 < sizeof out->formats) {
            used += (size_t)snprintf(out->formats + used, sizeof out->formats - used, "%s%s",
                                     used == 0 ? "" : " ", id);
        }
    }
}

/* --- for people ---------------------------------------------------------------------------- */

/* Writes a folded line with an indent; continuation lines are indented by two more blanks. */
static void put_folded(struct roof_text *out, size_t indent, const char *before, const char *line)
{
    const size_t from = out->length;
    roof_text_fill(out, ' ', indent);
    roof_text_printf(out, "%s%s\n", before, line);
    roof_text_fold(out, from, indent + 2);
}

static void put_words(struct roof_text *out, const struct roof_engine_words *words)
{
    for (const char *const *line = words->command; *line != NULL; line++) {
        put_folded(out, 4, "", *line);
    }
    for (const char *const *line = words->file; *line != NULL; line++) {
        put_folded(out, 4, "file: ", *line);
    }
}

/* The width of the columns before the KV cache. */
#define PRECISIONS_WIDTH 45

/* Writes the precisions of a format as a row of a table. */
static void put_precisions(struct roof_text *out, const struct roof_engine_format *f)
{
    const size_t from = out->length;
    roof_text_printf(out, "  %-15s %-13s %-12s ", f->id, roof_format(f->weights)->name,
                     roof_format(f->activations)->name);
    for (size_t i = 0; i < f->kvs; i++) {
        roof_text_printf(out, "%s%s", i == 0 ? "" : " or ", roof_format(f->kv[i])->name);
    }
    if (f->layout != NULL) {
        roof_text_printf(out, "; layout %s", f->layout);
    }
    if (f->quantization != NULL) {
        roof_text_printf(out, " of models published in %s", f->quantization);
    }
    roof_text_put(out, "\n");
    roof_text_fold(out, from, PRECISIONS_WIDTH);
}

/* Writes how the names of architectures begin. */
static void put_on(struct roof_text *out, const char *const *list)
{
    const size_t from = out->length;
    for (const char *const *on = list; *on != NULL; on++) {
        roof_text_printf(out, "%s%s", on == list ? "    on " : ", ", *on);
    }
    roof_text_put(out, list[0] != NULL ? "\n" : "");
    roof_text_fold(out, from, 6);
}

/* Writes where a format runs, and the arguments that select it. */
static void put_format(struct roof_text *out, const struct roof_engine_format *f)
{
    roof_text_printf(out, "  %s\n", f->id);
    put_on(out, f->on);
    put_words(out, &f->words);
    if (f->checkpoint != NULL) {
        put_folded(out, 4, "reads ", f->checkpoint);
    }
    for (const char *const *line = f->make; *line != NULL; line++) {
        put_folded(out, 4, "made by ", *line);
    }
}

static void put_split(struct roof_text *out, const struct roof_engine_split *s)
{
    const char *separator = "  ";
    for (size_t i = 0; i < ROOF_SPLIT_LIMITS; i++) {
        if (s->most[i] != INT64_MAX) {
            roof_text_printf(out, "%s%s up to %" PRId64, separator, roof_split_limits[i],
                             s->most[i]);
            separator = ", ";
        }
    }
    roof_text_put(out, *separator == ' ' ? "  any\n" : "\n");
    put_words(out, &s->words);
}

static void put_step(struct roof_text *out, const struct roof_engine_step *step)
{
    if (step->file != NULL) {
        roof_text_printf(out, "  file %s\n", step->file);
    }
    for (const char *const *line = step->line; *line != NULL; line++) {
        roof_text_printf(out, "%s%s\n", step->file != NULL || line > step->line ? "    " : "  ",
                         *line);
    }
}

static void put_lines(struct roof_text *out, const char *title, const char *const *line)
{
    if (*line != NULL) {
        roof_text_printf(out, "\n%s\n", title);
    }
    for (; *line != NULL; line++) {
        put_folded(out, 2, "", *line);
    }
}

/* Writes the rules of the scheduler, and its sizes. */
static void put_scheduler(struct roof_text *out, const struct roof_engine_scheduler *s)
{
    if (!s->known) {
        return;
    }
    roof_text_printf(
        out, "\nscheduler, by default\n  %s\n  %s\n  %s\n  %s\n  %s\n  %s\n",
        s->mixes ? "prefill and decode share steps" : "prefill has separate steps",
        s->counts_decode ? "the token budget of a step counts all tokens"
                         : "the token budget of a step counts prompt tokens only",
        s->ratio.most_tokens > 0
            ? "if the KV cache is full, the sequence with the fewest new tokens is preempted"
        : s->preempts ? "if the KV cache is full, the last sequence is preempted and computed again"
                      : "a request starts only when the KV cache has room for all its tokens",
        s->keeps_prefixes ? "prefixes are cached" : "prefixes are not cached",
        s->ahead ? "a step is scheduled while the previous one runs"
                 : "a step is scheduled after the previous one ends",
        s->passes_first_token ? "the first token of a prefill copy comes with its KV cache"
                              : "a decode copy computes the first token of a prefill copy again");
    if (s->preempts && s->whole_prompts) {
        roof_text_put(out,
                      "  a request starts only when the KV cache has room for its whole prompt\n");
    }
    if (s->ratio.most_tokens > 0) {
        roof_text_printf(
            out,
            "  room is kept for a share of the new tokens of running sequences: %g, "
            "down to %g\n  in %" PRId64 " decode steps, of at most %" PRId64 " tokens each\n",
            s->ratio.first, s->ratio.least, s->ratio.decay_steps, s->ratio.most_tokens);
    }
    roof_text_put(out, s->splits_limits
                           ? "  groups of data-parallel attention share these limits\n"
                           : "  each group of data-parallel attention has these limits\n");
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_engine_defaults *const d = &s->defaults[i];
        char memory[ROOF_QUANTITY_SIZE];
        roof_text_printf(out, "  chunk %" PRId64 ", max-num-seqs %" PRId64, d->chunk,
                         d->max_num_seqs);
        if (d->memory_from > 0) {
            roof_text_printf(out, " on devices with %s or more",
                             roof_format_quantity(memory, d->memory_from, ROOF_UNIT_CAPACITY));
        }
        roof_text_printf(out, "%s%s\n", d->except == NULL ? "" : ", but not ",
                         d->except == NULL ? "" : d->except);
    }
}

/* Writes the host work of each version. */
static void put_hosts(struct roof_text *out, const struct roof_engine *e)
{
    char step[ROOF_QUANTITY_SIZE];
    char sequence[ROOF_QUANTITY_SIZE];
    char request[ROOF_QUANTITY_SIZE];
    char front[ROOF_QUANTITY_SIZE];
    char launch[ROOF_QUANTITY_SIZE];
    char latent[ROOF_QUANTITY_SIZE];
    char overlap[ROOF_QUANTITY_SIZE];
    roof_text_put(out, e->hosts == 0 ? "" : "\nhost time, by version (--host-time)\n");
    for (size_t i = 0; i < e->hosts; i++) {
        const struct roof_engine_host *const h = &e->host[i];
        roof_text_printf(out, "  %-8s %s a step, %s a sequence in it, %s a request\n", h->version,
                         roof_format_quantity(step, h->time.step_s, ROOF_UNIT_MICROSECONDS),
                         roof_format_quantity(sequence, h->time.sequence_s, ROOF_UNIT_MICROSECONDS),
                         roof_format_quantity(request, h->time.request_s, ROOF_UNIT_MILLISECONDS));
        if (h->time.front_s > 0) {
            roof_text_printf(out, "    requests: one at a time for %s of it\n",
                             roof_format_quantity(front, h->time.front_s, ROOF_UNIT_MILLISECONDS));
        }
        if (h->time.launch_s > 0 || h->time.latent_s > 0 || h->time.overlap_s > 0) {
            roof_text_printf(
                out,
                "    kernels: %s to launch each where a step has prompts (%s with latent "
                "attention), overlap %s\n",
                roof_format_quantity(launch, h->time.launch_s, ROOF_UNIT_MICROSECONDS),
                roof_format_quantity(latent, fmax(h->time.launch_s, h->time.latent_s),
                                     ROOF_UNIT_MICROSECONDS),
                roof_format_quantity(overlap, h->time.overlap_s, ROOF_UNIT_MICROSECONDS));
        }
        put_folded(out, 4, "", h->source);
    }
}

/* Writes how fast weights on the host reach the device, if that was measured. */
static void put_upload(struct roof_text *out, const struct roof_engine *e)
{
    char share[ROOF_QUANTITY_SIZE];
    if (e->upload.share == 0) {
        return;
    }
    roof_text_printf(out,
                     "\nweights on the host, in passes of %d tokens or more (--offload)\n"
                     "  copied to the device at %s of the link's rate; the copy takes %g to %g of "
                     "that time\n",
                     ROOF_OFFLOAD_COPY_TOKENS,
                     roof_format_quantity(share, e->upload.share, ROOF_UNIT_FRACTION),
                     e->upload.low, e->upload.high);
    put_folded(out, 4, "", e->upload_source);
}

/* Writes the classes of models that an engine runs. */
static void put_models(struct roof_text *out, const char *const *model)
{
    roof_text_put(out, "\nmodels\n");
    const size_t line = out->length;
    for (const char *const *m = model; *m != NULL; m++) {
        roof_text_printf(out, "%s%s", m == model ? "  " : ", ", *m);
    }
    roof_text_fold(out, line, 2);
    roof_text_put(out, "\n");
}

/* Writes what the engine needs for some classes of models. */
static void put_classes(struct roof_text *out, const struct roof_engine *e)
{
    roof_text_put(out, e->classes == 0 ? "" : "\noptions for classes of models\n");
    for (size_t i = 0; i < e->classes; i++) {
        const struct roof_engine_class *const class = &e->class[i];
        roof_text_printf(out, "  %s\n", class->id);
        put_on(out, class->on);
        put_words(out, &class->words);
        for (size_t k = 0; k < class->kvs; k++) {
            roof_text_printf(out, "    KV cache %s%s\n", roof_format(class->kv[k].format)->name,
                             class->kvs == 1 ? " only" : "");
            put_words(out, &class->kv[k].words);
        }
    }
}

/* Writes the ways of drafting. */
static void put_drafts(struct roof_text *out, const struct roof_engine *e)
{
    bool any = false;
    for (int by = ROOF_DRAFTING_FREE; by <= ROOF_DRAFTING_MODEL; by++) {
        const struct roof_engine_drafts *const d = &e->drafts[by];
        if (d->make != NULL) {
            roof_text_printf(out, "%s  %s", any ? "" : "\ndrafts (--draft-model)\n",
                             roof_engine_drafting[by]);
            put_split(out, &d->over);
            any = true;
        }
    }
}

static void put_text(struct roof_text *out, const struct roof_engine *e)
{
    roof_text_printf(out, "\n  %-15s %-13s %-12s %s\n", "format", "weights", "activations",
                     "KV cache");
    for (size_t i = 0; i < e->formats; i++) {
        put_precisions(out, &e->format[i]);
    }
    roof_text_put(out, "\noptions of each format\n");
    for (size_t i = 0; i < e->formats; i++) {
        put_format(out, &e->format[i]);
    }
    roof_text_put(out, "\nKV cache\n");
    for (size_t i = 0; i < e->kvs; i++) {
        roof_text_printf(out, "  %s\n", roof_format(e->kv[i].format)->name);
        put_words(out, &e->kv[i].words);
    }
    roof_text_put(out, "\nsplits (the first that matches applies)\n");
    for (size_t i = 0; i < e->splits; i++) {
        put_split(out, &e->split[i]);
    }
    put_folded(out, 2, "", e->nodes == NULL ? "one node only" : e->nodes);
    if (e->disaggregated != NULL) {
        put_folded(out, 2, "", e->disaggregated);
    }
    put_classes(out, e);
    put_drafts(out, e);
    put_scheduler(out, &e->scheduler);
    put_hosts(out, e);
    put_upload(out, e);
    roof_text_put(out, "\nscript\n");
    for (size_t i = 0; i < e->steps; i++) {
        put_step(out, &e->step[i]);
    }
    if (*e->models != NULL) {
        put_models(out, e->models);
    }
    put_lines(out, "notes", e->notes);
    put_lines(out, "sources", e->sources);
}

/* --- for programs -------------------------------------------------------------------------- */

static void json_text(struct roof_text *out, const char *key, const char *text)
{
    if (text != NULL) {
        roof_text_printf(out, ", \"%s\": ", key);
        roof_json_quote(out, text);
    }
}

static void json_lines(struct roof_text *out, const char *key, const char *const *line)
{
    roof_text_printf(out, ", \"%s\": [", key);
    for (const char *const *l = line; *l != NULL; l++) {
        roof_text_put(out, l == line ? "" : ", ");
        roof_json_quote(out, *l);
    }
    roof_text_put(out, "]");
}

static void json_words(struct roof_text *out, const struct roof_engine_words *words)
{
    json_lines(out, "words", words->command);
    json_lines(out, "lines", words->file);
}

static void json_formats(struct roof_text *out, const struct roof_engine *e)
{
    for (size_t i = 0; i < e->formats; i++) {
        const struct roof_engine_format *const f = &e->format[i];
        const char *kv[ROOF_PRECISION_COUNT + 1] = {NULL};
        for (size_t k = 0; k < f->kvs; k++) {
            kv[k] = roof_format(f->kv[k])->name;
        }
        roof_text_put(out, i == 0 ? "\n    {\"id\": " : ",\n    {\"id\": ");
        roof_json_quote(out, f->id);
        json_text(out, "layout", f->layout);
        json_text(out, "quantization", f->quantization);
        json_text(out, "weights", roof_format(f->weights)->name);
        json_text(out, "activations", roof_format(f->activations)->name);
        json_lines(out, "kv", kv);
        json_lines(out, "on", f->on);
        json_words(out, &f->words);
        json_text(out, "checkpoint", f->checkpoint);
        json_lines(out, "make", f->make);
        roof_text_put(out, "}");
    }
}

/* Writes the arguments for offloading, if the engine has them. */
static void json_offload(struct roof_text *out, const struct roof_engine *e)
{
    const char *separator = "";
    if (e->offload[ROOF_OFFLOAD_LAYERS].command[0] == NULL) {
        return;
    }
    roof_text_put(out, ",\"offload\":{");
    for (int i = 0; i < ROOF_OFFLOAD_PARTS; i++) {
        const char *const *l = e->offload[i].command;
        roof_text_printf(out, "%s\"%s\":[", separator,
                         roof_offload_part_name((enum roof_offload_part)i));
        for (; *l != NULL; l++) {
            roof_text_put(out, l == e->offload[i].command ? "" : ",");
            roof_json_quote(out, *l);
        }
        roof_text_put(out, "]");
        separator = ",";
    }
    if (e->upload.share > 0) {
        roof_text_put(out, ",\"upload\":{\"link_share\":");
        roof_text_number(out, e->upload.share);
        roof_text_put(out, ",\"low\":");
        roof_text_number(out, e->upload.low);
        roof_text_put(out, ",\"high\":");
        roof_text_number(out, e->upload.high);
        json_text(out, "source", e->upload_source);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "}");
}

/* Writes the limits of a split, and the words for it. */
static void json_split(struct roof_text *out, const struct roof_engine_split *split)
{
    for (size_t k = 0; k < ROOF_SPLIT_LIMITS; k++) {
        if (split->most[k] != INT64_MAX) {
            roof_text_printf(out, ", \"%s\": %" PRId64, roof_split_limits[k], split->most[k]);
        }
    }
    json_words(out, &split->words);
    json_text(out, "note", split->note);
}

static void json_splits(struct roof_text *out, const struct roof_engine *e)
{
    for (size_t i = 0; i < e->splits; i++) {
        roof_text_printf(out, "%s\n    {\"order\": %zu", i == 0 ? "" : ",", i + 1);
        json_split(out, &e->split[i]);
        roof_text_put(out, "}");
    }
}

/* Writes the ways of drafting, if the engine has any. */
static void json_drafts(struct roof_text *out, const struct roof_engine *e)
{
    bool any = false;
    for (int by = ROOF_DRAFTING_FREE; by <= ROOF_DRAFTING_MODEL; by++) {
        const struct roof_engine_drafts *const d = &e->drafts[by];
        if (d->make != NULL) {
            roof_text_put(out, any ? "," : ",\n  \"drafts\": [");
            roof_text_printf(out, "\n    {\"by\": \"%s\"", roof_engine_drafting[by]);
            json_split(out, &d->over);
            json_text(out, "checkpoint", d->checkpoint);
            json_lines(out, "make", d->make);
            roof_text_put(out, "}");
            any = true;
        }
    }
    roof_text_put(out, any ? "]" : "");
}

static void json_flag(struct roof_text *out, const char *key, bool flag)
{
    roof_text_printf(out, "\"%s\": %s, ", key, flag ? "true" : "false");
}

static void json_scheduler(struct roof_text *out, const struct roof_engine_scheduler *s)
{
    if (!s->known) {
        return;
    }
    roof_text_put(out, ",\n  \"scheduler\": {");
    json_flag(out, "counts_decode", s->counts_decode);
    json_flag(out, "mixes", s->mixes);
    json_flag(out, "preempts", s->preempts);
    json_flag(out, "whole_prompts", s->whole_prompts);
    json_flag(out, "keeps_prefixes", s->keeps_prefixes);
    json_flag(out, "ahead", s->ahead);
    json_flag(out, "passes_first_token", s->passes_first_token);
    json_flag(out, "splits_limits", s->splits_limits);
    if (s->ratio.most_tokens > 0) {
        roof_text_printf(out,
                         "\"new_token_ratio\": {\"first\": %g, \"least\": %g, \"decay_steps\": "
                         "%" PRId64 ", \"most_tokens\": %" PRId64 ", \"retract_steps\": %" PRId64
                         "}, ",
                         s->ratio.first, s->ratio.least, s->ratio.decay_steps, s->ratio.most_tokens,
                         s->ratio.retract_steps);
    }
    roof_text_put(out, "\"defaults\": [");
    for (size_t i = 0; i < s->count; i++) {
        const struct roof_engine_defaults *const d = &s->defaults[i];
        roof_text_printf(out,
                         "%s{\"memory_bytes_from\": %.0f, \"chunk\": %" PRId64
                         ", \"max_num_seqs\": %" PRId64,
                         i == 0 ? "" : ", ", d->memory_from, d->chunk, d->max_num_seqs);
        json_text(out, "except", d->except);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "]}");
}

static void json_hosts(struct roof_text *out, const struct roof_engine *e)
{
    for (size_t i = 0; i < e->hosts; i++) {
        const struct roof_engine_host *const h = &e->host[i];
        roof_text_put(out,
                      i == 0 ? ",\n  \"host\": [\n    {\"version\": " : ",\n    {\"version\": ");
        roof_json_quote(out, h->version);
        roof_text_put(out, ", \"step_us\": ");
        roof_text_number(out, roof_given(h->time.step_s, ROOF_UNIT_MICROSECONDS));
        roof_text_put(out, ", \"sequence_us\": ");
        roof_text_number(out, roof_given(h->time.sequence_s, ROOF_UNIT_MICROSECONDS));
        roof_text_put(out, ", \"request_ms\": ");
        roof_text_number(out, roof_given(h->time.request_s, ROOF_UNIT_MILLISECONDS));
        roof_text_put(out, ", \"front_ms\": ");
        roof_text_number(out, roof_given(h->time.front_s, ROOF_UNIT_MILLISECONDS));
        roof_text_put(out, ", \"launch_us\": ");
        roof_text_number(out, roof_given(h->time.launch_s, ROOF_UNIT_MICROSECONDS));
        roof_text_put(out, ", \"latent_us\": ");
        roof_text_number(out, roof_given(h->time.latent_s, ROOF_UNIT_MICROSECONDS));
        roof_text_put(out, ", \"overlap_us\": ");
        roof_text_number(out, roof_given(h->time.overlap_s, ROOF_UNIT_MICROSECONDS));
        json_text(out, "source", h->source);
        roof_text_put(out, i + 1 == e->hosts ? "}]" : "}");
    }
}

static void json_kvs(struct roof_text *out, const struct roof_engine_kv *kv, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        roof_text_put(out, i == 0 ? "\n    {\"format\": " : ",\n    {\"format\": ");
        roof_json_quote(out, roof_format(kv[i].format)->name);
        json_words(out, &kv[i].words);
        roof_text_put(out, "}");
    }
}

/* Writes what the engine needs for some classes of models, if there are any. */
static void json_classes(struct roof_text *out, const struct roof_engine *e)
{
    for (size_t i = 0; i < e->classes; i++) {
        const struct roof_engine_class *const class = &e->class[i];
        roof_text_put(out, i == 0 ? ",\n  \"classes\": [{\"class\": " : ",\n    {\"class\": ");
        roof_json_quote(out, class->id);
        if (*class->on != NULL) {
            json_lines(out, "on", class->on);
        }
        json_words(out, &class->words);
        roof_text_put(out, ", \"kv\": [");
        json_kvs(out, class->kv, class->kvs);
        roof_text_put(out, i + 1 == e->classes ? "]}]" : "]}");
    }
}

static void put_json(struct roof_text *out, const struct roof_engine *e)
{
    roof_text_put(out, "{\"id\": ");
    roof_json_quote(out, e->id);
    json_text(out, "name", e->name);
    if (*e->aliases != NULL) {
        json_lines(out, "aliases", e->aliases);
    }
    json_text(out, "stack", e->stack == ROOF_STACK_BEST ? NULL : roof_stack_name(e->stack));
    roof_text_put(out, ",\n  \"formats\": [");
    json_formats(out, e);
    roof_text_put(out, "],\n  \"kv\": [");
    json_kvs(out, e->kv, e->kvs);
    roof_text_put(out, "],\n  \"splits\": [");
    json_splits(out, e);
    roof_text_printf(out, "],\n  \"several_nodes\": %s", e->nodes == NULL ? "false" : "true");
    json_classes(out, e);
    json_offload(out, e);
    json_drafts(out, e);
    json_text(out, "nodes", e->nodes);
    json_text(out, "disaggregated", e->disaggregated);
    json_text(out, "beware", e->beware);
    json_scheduler(out, &e->scheduler);
    json_hosts(out, e);
    roof_text_put(out, ",\n  \"run\": [");
    for (size_t i = 0; i < e->steps; i++) {
        roof_text_printf(out, "%s\n    {\"order\": %zu", i == 0 ? "" : ",", i + 1);
        json_text(out, "file", e->step[i].file);
        json_lines(out, e->step[i].file == NULL ? "command" : "lines", e->step[i].line);
        roof_text_put(out, "}");
    }
    roof_text_put(out, "]");
    if (*e->models != NULL) {
        json_lines(out, "models", e->models);
    }
    json_lines(out, "notes", e->notes);
    json_lines(out, "sources", e->sources);
    roof_text_put(out, "\n}\n");
}

void roof_engine_report(struct roof_text *out, bool json, const struct roof_engine_entry *entry)
{
    struct roof_table table;
    if (json) {
        put_json(out, entry->engine);
        return;
    }
    roof_table_open_lines(&table, ROOF_TABLE_ENGINES);
    roof_table_engine(&table, out, entry);
    put_text(out, entry->engine);
}
