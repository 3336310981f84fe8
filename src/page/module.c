// SPDX-License-Identifier: MIT
#include "module.h"

#include <stdlib.h>
#include <string.h>

#include "ask/input_json.h"
#include "base/base.h"
#include "roofline/question.h"

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name))) name
#else
#define EXPORT(name) name
#endif

struct roof_page {
    struct roof_store *store;
    char *request;
    size_t room;
    char *text;
    size_t length;
    struct roof_error error;
};

/* The commands that a page may ask. */
static const struct {
    const char *name;
    enum roof_command command;
} commands[] = {{"predict", ROOF_COMMAND_PREDICT},     {"sweep", ROOF_COMMAND_SWEEP},
                {"recommend", ROOF_COMMAND_RECOMMEND}, {"simulate", ROOF_COMMAND_SIMULATE},
                {"plot", ROOF_COMMAND_PLOT},           {"list", ROOF_COMMAND_LIST}};

struct roof_page *EXPORT(roof_page_open)(void)
{
    struct roof_page *const page = calloc(1, sizeof *page);
    if (page != NULL && roof_store_new(&page->store, &page->error) != ROOF_OK) {
        free(page);
        return NULL;
    }
    return page;
}

char *EXPORT(roof_page_room)(struct roof_page *page, size_t length)
{
    char *const room = realloc(page->request, length + 1);
    if (room == NULL) {
        return NULL;
    }
    room[length] = '\0';
    page->request = room;
    page->room = length;
    return room;
}

static enum roof_status find_command(enum roof_command *out, const struct roof_json *json,
                                     struct roof_error *error)
{
    const char *const name = roof_json_string(roof_json_get(roof_json_root(json), "command"));
    const char *known[COUNT(commands)];
    for (size_t i = 0; i < COUNT(commands); i++) {
        known[i] = commands[i].name;
        if (name != NULL && strcmp(name, known[i]) == 0) {
            *out = commands[i].command;
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "command", name == NULL ? "" : name, known,
                             COUNT(commands));
}

static enum roof_status answer(struct roof_page *page, const struct roof_json *json,
                               struct roof_question *question)
{
    struct roof_error *const error = &page->error;
    const roof_json_value *const root = roof_json_root(json);
    const char *const name = roof_json_string(roof_json_get(root, "format"));
    enum roof_command command = ROOF_COMMAND_PREDICT;
    enum roof_answer_format format = ROOF_JSON;
    TRY(find_command(&command, json, error));
    TRY(roof_answer_format_find(&format, command, name == NULL ? "json" : name, error));
    TRY(roof_question_from_json(question, json, roof_json_get(root, "inputs"), command, NULL,
                                error));
    return roof_answer(page->store, question, command, format, &page->text, &page->length, error);
}

static enum roof_status ask(struct roof_page *page, const struct roof_json *json)
{
    struct roof_question *question = NULL;
    TRY(roof_question_new(&question, &page->error));
    const enum roof_status status = answer(page, json, question);
    roof_question_free(question);
    return status;
}

int EXPORT(roof_page_ask)(struct roof_page *page)
{
    struct roof_json *json = NULL;
    roof_answer_free(page->text);
    page->text = NULL;
    page->length = 0;
    page->error = (struct roof_error){.status = ROOF_OK};
    enum roof_status status =
        roof_json_parse(&json, page->request, page->room, "request", &page->error);
    if (status == ROOF_OK) {
        status = ask(page, json);
        roof_json_free(json);
    }
    return (int)status;
}

const char *EXPORT(roof_page_text)(const struct roof_page *page)
{
    return page->text;
}

size_t EXPORT(roof_page_length)(const struct roof_page *page)
{
    return page->length;
}

const char *EXPORT(roof_page_message)(const struct roof_page *page)
{
    return page->error.message;
}
