// SPDX-License-Identifier: MIT
/* The devices and models that the records of a file name. Each name is looked up once. Unknown
 * names are also remembered, so that a file of them costs one search. */
#ifndef ROOF_DECIDE_KNOWN_H
#define ROOF_DECIDE_KNOWN_H

#include "decide/named.h"
#include "decide/read.h"

#define ROOF_KNOWN_MAX 256

struct roof_known_name {
    char *name;
    const void *object; /* NULL: nothing knows the name */
};

struct roof_known_names {
    struct roof_known_name entry[ROOF_KNOWN_MAX];
    size_t count;
};

/* Start with roof_read_known. It is large. */
struct roof_known {
    struct roof_loans *loans;
    struct roof_device_wish device; /* the question's own device, and its changes to all devices */
    struct roof_model_wish model;   /* the layout and the formats of all models */
    size_t weights;                 /* the input that gives the formats of the weights */
    struct roof_known_names devices;
    struct roof_known_names models;
    const struct roof_hardware *own; /* the question's device; NULL: not loaded */
    const char *named;               /* formats of models by one name; NULL: precisions, or none */
    char *last;                      /* the name, a zero and the model that were looked up last */
    struct roof_named formats;       /* what they stand for */
};

/* Reads the devices and the models of a question. A precision that is the name of other formats
 * goes to `named`; *rest becomes the question without it, from which the formats are read. */
void roof_read_known(struct roof_known *known, struct roof_loans *loans, struct roof_question *rest,
                     const struct roof_question *question);

/* Returns the name of the question's device, or of the default one. */
const char *roof_known_own_name(const struct roof_known *known);

/* Loads the device of the question, or the default one, which is then known by its id as well.
 * ROOF_UNSATISFIED when nothing knows it. */
enum roof_status roof_known_own(struct roof_known *known, struct roof_error *error);

/* Borrows a device; ROOF_UNSATISFIED when nothing knows the name. */
enum roof_status roof_known_hardware(struct roof_known *known, const struct roof_hardware **out,
                                     const char *name, struct roof_error *error);
/* Returns a device that was found before by its name; NULL: it was not, or nothing knows it. Any
 * number of threads may ask while no device is looked for. */
const struct roof_hardware *roof_known_before(const struct roof_known *known, const char *name);

/* Borrows a model in a layout ("": that of the question); *fresh is true if it was not borrowed
 * before. */
enum roof_status roof_known_model(struct roof_known *known, const struct roof_model **out,
                                  bool *fresh, const char *name, const char *layout,
                                  struct roof_error *error);

/* Finds the meaning of a name of formats for a model; *out is valid until the next call. *note has
 * no message if the call before had the same name and model. NULL means the formats of the
 * checkpoint that the name of the model means; the question's own come first. */
enum roof_status roof_known_formats(struct roof_known *known, const struct roof_named **out,
                                    struct roof_error *note, const char *name, const char *model,
                                    struct roof_error *error);

/* Releases the names; the objects go back with the loans. */
void roof_known_free(struct roof_known *known);

#endif
