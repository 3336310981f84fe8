// SPDX-License-Identifier: MIT
#include "base/json_tree.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/decimal.h"

/* Nodes are allocated this many at a time: 4 KiB. */
#define NODES 63

struct roof_json_nodes {
    struct roof_json_nodes *next;
    size_t used;
    cJSON node[NODES];
};

struct reader {
    struct roof_json_tree *tree;
    const struct roof_json_filter *filter; /* NULL: everything is wanted */
    const char *p;
    char *string; /* where the next one goes */
};

static enum roof_status read_value(struct reader *r, cJSON *node);

static void skip_blanks(struct reader *r)
{
    while (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r') {
        r->p++;
    }
}

static cJSON *new_node(struct roof_json_tree *tree)
{
    struct roof_json_nodes *nodes = tree->nodes;
    if (nodes == NULL || nodes->used == NODES) {
        nodes = malloc(sizeof *nodes);
        if (nodes == NULL) {
            return NULL;
        }
        nodes->next = tree->nodes;
        nodes->used = 0;
        tree->nodes = nodes;
    }
    cJSON *const node = &nodes->node[nodes->used++];
    *node = (cJSON){.type = cJSON_NULL};
    return node;
}

/* Moves past the string that begins here. ROOF_INVALID: it has an escape. */
static enum roof_status skip_string(struct reader *r)
{
    const char *const begin = r->p + 1;
    const char *const end = strchr(begin, '"');
    r->p = end + 1;
    return memchr(begin, '\\', (size_t)(end - begin)) == NULL ? ROOF_OK : ROOF_INVALID;
}

/* Copies the string that begins here. */
static enum roof_status read_string(struct reader *r, char **out)
{
    const char *const begin = r->p + 1;
    TRY(skip_string(r));
    const size_t length = (size_t)(r->p - begin) - 1;
    *out = r->string;
    memcpy(r->string, begin, length);
    r->string[length] = '\0';
    r->string += length + 1;
    return ROOF_OK;
}

/* Moves past the object that begins here. */
static enum roof_status skip_object(struct reader *r)
{
    int depth = 0;
    do {
        if (*r->p == '"') {
            TRY(skip_string(r));
        } else {
            depth += (*r->p == '{') - (*r->p == '}');
            r->p++;
        }
    } while (depth > 0);
    return ROOF_OK;
}

/* Reads a child of an array, or a member of an object, into *link, and moves link to the place of
 * the next one. */
static enum roof_status read_child(struct reader *r, cJSON ***link, bool member)
{
    cJSON *const child = new_node(r->tree);
    if (child == NULL) {
        return ROOF_MEMORY;
    }
    if (member) {
        TRY(read_string(r, &child->string));
        skip_blanks(r);
        r->p++; /* the colon */
        skip_blanks(r);
    }
    TRY(read_value(r, child));
    **link = child;
    *link = &child->next;
    return ROOF_OK;
}

/* Tells if an array is the one that is filtered. */
static bool is_filtered(const struct reader *r, const cJSON *array)
{
    return r->filter != NULL && array->string != NULL &&
           strcmp(array->string, r->filter->array) == 0;
}

/* Reads the children of an array or object up to its end. */
static enum roof_status read_children(struct reader *r, cJSON *parent, char close)
{
    const bool filtered = close == ']' && is_filtered(r, parent);
    cJSON **link = &parent->child;
    r->p++;
    for (skip_blanks(r); *r->p != close; skip_blanks(r)) {
        TRY(filtered && !r->filter->wants(r->p, r->filter->wanted)
                ? skip_object(r)
                : read_child(r, &link, close == '}'));
        skip_blanks(r);
        r->p += *r->p == ',';
    }
    r->p++;
    return ROOF_OK;
}

static enum roof_status read_value(struct reader *r, cJSON *node)
{
    switch (*r->p) {
    case '{':
        node->type = cJSON_Object;
        return read_children(r, node, '}');
    case '[':
        node->type = cJSON_Array;
        return read_children(r, node, ']');
    case '"':
        node->type = cJSON_String;
        return read_string(r, &node->valuestring);
    case 't':
    case 'n':
        node->type = *r->p == 't' ? cJSON_True : cJSON_NULL;
        r->p += strlen("true");
        return ROOF_OK;
    case 'f':
        node->type = cJSON_False;
        r->p += strlen("false");
        return ROOF_OK;
    default:
        node->type = cJSON_Number;
        return roof_decimal_read(&node->valuedouble, &r->p) ? ROOF_OK : ROOF_INVALID;
    }
}

enum roof_status roof_json_tree_build(struct roof_json_tree *out, const char *text, size_t length,
                                      const struct roof_json_filter *filter)
{
    *out = (struct roof_json_tree){.strings = malloc(length + 1)};
    struct reader r = {.tree = out, .filter = filter, .p = text, .string = out->strings};
    out->root = out->strings == NULL ? NULL : new_node(out);
    if (out->root == NULL) {
        return ROOF_MEMORY;
    }
    skip_blanks(&r);
    return read_value(&r, out->root);
}

void roof_json_tree_free(struct roof_json_tree *tree)
{
    while (tree->nodes != NULL) {
        struct roof_json_nodes *const first = tree->nodes;
        tree->nodes = first->next;
        free(first);
    }
    free(tree->strings);
    *tree = (struct roof_json_tree){.root = NULL};
}
