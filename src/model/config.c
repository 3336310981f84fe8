// SPDX-License-Identifier: MIT
#include "model/config.h"

#include <string.h>

#include "base/base.h"
#include "catalog/registry.h"
#include "model/config_parts.h"
#include "model/load.h"
#include "model/model_make.h"
#include "model/quantization.h"

/* --- the document -------------------------------------------------------------------------- */

/* Checks that this model in other formats is named by ids, because a document must not make its
 * reader open files. */
static enum roof_status check_ids(const struct config *c, const roof_json_value *value)
{
    static const char *const files[] = {".json", ".gguf", ".safetensors"};
    for (const char *const *id = c->model->checkpoints; id != NULL && *id != NULL; id++) {
        bool file = strchr(*id, '/') != NULL;
        for (size_t i = 0; i < COUNT(files); i++) {
            const size_t length = strlen(files[i]);
            file = file ||
                   (strlen(*id) >= length && strcmp(*id + strlen(*id) - length, files[i]) == 0);
        }
        if (file) {
            return roof_json_error(c->json, value, c->error, "checkpoints are ids of models");
        }
    }
    return ROOF_OK;
}

/* Reads the registry's data of a model. */
static enum roof_status read_about(struct config *c)
{
    struct roof_model *const m = c->model;
    const roof_json_value *const about = roof_json_get(c->root, "roofline");
    const char *const name = roof_json_line(roof_json_get(about, "name"));
    const char *const confidence = roof_json_line(roof_json_get(about, "confidence"));
    m->name = name == NULL ? m->id : name;
    m->confidence = confidence == NULL ? "" : confidence;
    m->repository = roof_json_line(roof_json_get(about, "hf_id"));
    m->architecture = roof_json_line(roof_json_first(roof_json_get(c->root, "architectures")));
    const struct {
        const char *key;
        const char *const **list;
    } lists[] = {{"notes", &m->notes}, {"sources", &m->sources}, {"checkpoints", &m->checkpoints}};
    for (size_t i = 0; i < COUNT(lists); i++) {
        const roof_json_value *const value = roof_json_get(about, lists[i].key);
        const char **list = NULL;
        if (value == NULL) {
            continue;
        }
        TRY(roof_json_lines(&list, c->json, value, c->error));
        if (roof_model_own(m, list) == NULL) {
            return roof_no_memory(c->error);
        }
        *lists[i].list = list;
    }
    return check_ids(c, roof_json_get(about, "checkpoints"));
}

/* Finds the object of the language model: multimodal configs nest it. */
static const roof_json_value *find_language_model(const roof_json_value *root)
{
    static const char *const names[] = {"text_config", "llm_config", "language_config"};
    const roof_json_value *const thinker = roof_json_get(root, "thinker_config");
    for (size_t i = 0; i < COUNT(names); i++) {
        const roof_json_value *const inner = roof_json_get(root, names[i]);
        const roof_json_value *const deep = roof_json_get(thinker, names[i]);
        if (roof_json_is_object(inner)) {
            return inner;
        }
        if (roof_json_is_object(deep)) {
            return deep;
        }
    }
    return root;
}

static void note_omissions(const struct config *c)
{
    if (*c->model->notes != NULL) {
        return; /* the registry has its own notes */
    }
    if (c->model->predict_layers > 0) {
        roof_model_note_predictors(c->model);
    }
}

/* Notes an activation function that no known class has: the class decides whether there is a gate.
 */
static enum roof_status note_activation(const struct config *c)
{
    static const char *const keys[] = {"hidden_act", "hidden_activation", "activation_function",
                                       "mlp_hidden_act"};
    static const char *const known[] = {"silu",  "swish",     "gelu*", "quick_gelu", "relu",
                                        "relu2", "swigluoai", "situ",  "*tanh",      "swiglu"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        const char *const word = roof_json_string(roof_config_member(c, keys[i]));
        if (word != NULL && !roof_config_key_in(word, known, COUNT(known))) {
            struct roof_text note = ROOF_TEXT_INIT;
            roof_text_printf(&note,
                             "%s has an unknown function, which counts like silu: ", keys[i]);
            roof_text_plain(&note, word);
            return roof_model_note_text(c->model, &note, c->error);
        }
    }
    return ROOF_OK;
}

/* Refuses members that change no prediction if their values show that the file is broken. */
static enum roof_status check_others(const struct config *c)
{
    const roof_json_value *const activation = roof_config_member(c, "hidden_act");
    const roof_json_value *const scaling = roof_config_member(c, "rope_scaling");
    const roof_json_value *const factor = roof_json_get(scaling, "factor");
    double value = 1;
    if (activation != NULL && roof_json_line(activation) == NULL) {
        return roof_json_error(c->json, activation, c->error, "hidden_act must be a string");
    }
    if (scaling != NULL && !roof_json_is_object(scaling)) {
        return roof_json_error(c->json, scaling, c->error, "rope_scaling must be an object");
    }
    if (factor != NULL && (!roof_json_number(&value, factor) || !(value > 0 && value <= 1e6))) {
        return roof_json_error(c->json, factor, c->error,
                               "factor of rope_scaling must be a number above 0, up to 1e6");
    }
    return note_activation(c);
}

static enum roof_status read_config(struct config *c)
{
    struct reading reading = {.model = *c->model};
    TRY(roof_config_family(c));
    TRY(roof_config_finite(c));
    TRY(roof_config_refuse(c));
    TRY(check_others(c));
    TRY(roof_config_sizes(&reading, c));
    TRY(roof_config_plain(&reading, c));
    TRY(roof_config_keys(c));
    TRY(roof_config_check(&reading, c));
    TRY(roof_config_partners(&reading, c));
    roof_config_architecture(&reading.model, c);
    TRY(roof_config_positions(&reading.model, c));
    TRY(roof_config_rotary(&reading.rotary, c));
    TRY(roof_config_layers(&reading, c));
    roof_config_rotary_dim(c->model, c, &reading);
    note_omissions(c);
    TRY(roof_config_tower(c));
    TRY(roof_config_audio(c));
    const roof_json_value *const quantization = roof_model_quantization(c->model);
    return quantization == NULL ? ROOF_OK
                                : roof_config_note_quantization(c->model, quantization, c->error);
}

/* Names the model: by its id in the registry, else by its source. */
static enum roof_status put_id(struct config *c)
{
    const char *const source = roof_json_source(c->json);
    size_t length = 0;
    const char *const id = roof_registry_id(source, &length);
    c->model->id = id == NULL || strncmp(source, "models/", 7) != 0
                       ? source
                       : roof_model_own(c->model, strndup(id, length));
    return c->model->id == NULL ? roof_no_memory(c->error) : ROOF_OK;
}

static enum roof_status read_document(struct config *c)
{
    if (!roof_json_is_object(c->root)) {
        return roof_json_error(c->json, c->root, c->error, "a config.json is an object");
    }
    c->text = find_language_model(c->root);
    const roof_json_value *const quantization = roof_config_member(c, "quantization_config");
    roof_model_set_quantization(c->model, c->json, quantization);
    c->model->quantization = roof_json_line(roof_json_get(quantization, "quant_method"));
    c->model->algorithm = roof_config_algorithm(quantization);
    TRY(put_id(c));
    TRY(read_about(c));
    return read_config(c);
}

enum roof_status roof_config_read(struct roof_model **out, struct roof_json *json,
                                  struct roof_error *error)
{
    *out = NULL;
    struct roof_model *const model = roof_model_new();
    if (model == NULL) {
        roof_json_free(json);
        return roof_no_memory(error);
    }
    roof_model_attach(model, json);
    struct config c = {.model = model, .json = json, .root = roof_json_root(json), .error = error};
    const enum roof_status status = read_document(&c);
    if (status == ROOF_OK) {
        *out = model;
    } else {
        roof_model_free(model);
    }
    return status;
}

/* Notes that a hf_quant_config.json does not mean the formats of the config, which are used. */
static enum roof_status note_beside(struct roof_model *model, struct roof_json *json,
                                    const roof_json_value *object, struct roof_error *error)
{
    struct roof_quantization_pair pair;
    struct roof_text note = ROOF_TEXT_INIT;
    TRY(roof_quantization_compare(&pair, model, json, object, error));
    if (pair.unknown) {
        roof_model_note(model, "hf_quant_config.json has a quantisation that is not known; that of "
                               "config.json is used");
    }
    if (!pair.differs) {
        return ROOF_OK;
    }
    if (pair.config == pair.other) {
        roof_text_put(&note, "config.json and hf_quant_config.json disagree about the formats; "
                             "those of config.json are used");
    } else {
        const char *const config = roof_format(pair.config)->name;
        roof_text_printf(&note, "config.json says %s, hf_quant_config.json says %s: %s is used",
                         config, roof_format(pair.other)->name, config);
    }
    roof_text_put(&note, "; TensorRT-LLM reads hf_quant_config.json");
    return roof_model_note_text(model, &note, error);
}

enum roof_status roof_config_read_beside(struct roof_model *model, struct roof_json *json,
                                         struct roof_error *error)
{
    const roof_json_value *const root = roof_json_root(json);
    const roof_json_value *const object = roof_json_get(root, "quantization");
    const roof_json_value *const algorithm = roof_json_get(object, "quant_algo");
    roof_model_attach_beside(model, json);
    if (!roof_json_is_object(object)) {
        return roof_json_error(json, object == NULL ? root : object, error,
                               "a hf_quant_config.json has an object quantization");
    }
    if (algorithm != NULL && !roof_json_is_null(algorithm) && roof_json_line(algorithm) == NULL) {
        return roof_json_error(json, algorithm, error, "quant_algo must be a string");
    }
    const roof_json_value *const cache = roof_json_get(object, "kv_cache_quant_algo");
    const bool says = roof_json_line(algorithm) != NULL || roof_json_line(cache) != NULL;
    if (roof_model_quantization(model) == NULL && says) {
        roof_model_set_quantization(model, json, object);
        model->quantization = "modelopt";
        model->algorithm = roof_json_line(algorithm);
        return roof_config_note_quantization(model, object, error);
    }
    return says ? note_beside(model, json, object, error) : ROOF_OK;
}

enum roof_status roof_model_quantize(struct roof_model *model, const char *quantization,
                                     const char *repository, struct roof_error *error)
{
    struct roof_json *json = NULL;
    TRY(roof_json_parse(&json, quantization, strlen(quantization), repository, error));
    const roof_json_value *const object = roof_json_root(json);
    roof_model_attach_beside(model, json);
    roof_model_set_quantization(model, json, object);
    model->quantization = roof_json_line(roof_json_get(object, "quant_method"));
    model->algorithm = roof_json_line(roof_json_get(object, "quant_algo"));
    model->id = model->repository = roof_model_own(model, strdup(repository));
    return model->id == NULL ? roof_no_memory(error) : ROOF_OK;
}

enum roof_status roof_model_parse(struct roof_model **out, const char *text, size_t length,
                                  const char *source, struct roof_error *error)
{
    *out = NULL;
    struct roof_json *json = NULL;
    TRY(roof_json_parse_python(&json, text, length, source, error));
    return roof_config_read(out, json, error);
}
