// SPDX-License-Identifier: MIT
/* The store holds the objects that were loaded for questions. An answer borrows devices and models
 * from the store and returns all of them at its end. An object from a file, or one that `set`
 * changed, leaves the store with the last answer that uses it, so a store does not grow with the
 * questions. */
#ifndef ROOF_DECIDE_STORE_H
#define ROOF_DECIDE_STORE_H

#include "catalog/hardware.h"
#include "decide/checkpoint.h"
#include "decide/engine.h"
#include "decide/question.h"
#include "model/model.h"

/* An object in the store. */
struct roof_stored;

/* The devices, models and texts that an answer has borrowed. Start with the store set and the rest
 * 0. */
struct roof_loans {
    struct roof_store *store;
    struct roof_loan {
        struct roof_stored *stored; /* NULL: a text is lent */
        struct roof_loan *next;
        char text[];
    } * first;
};

/* A device to load: its name or file, and the changes in the question. */
struct roof_device_wish {
    const char *name;             /* NULL: the default device */
    const struct roof_texts *set; /* KEY=VALUE; NULL: none */
    const char *power_cap;        /* W; NULL: the cap of the device, if any */
    const char *calibration;      /* a file; NULL: the device's own */
    bool bounds_only; /* no expected times are needed, so that no calibration is loaded */
    unsigned kernels; /* the kernels that the question needs, a bit each; 0: all */
    bool once;        /* the store need not keep it, because a list goes through all devices */
    bool host; /* it is a host: only its memory counts, and without a name nothing else is known */
};
/* Lends a device with its calibration until the loans are returned. */
enum roof_status roof_loan_hardware(const struct roof_hardware **out, struct roof_loans *loans,
                                    const struct roof_device_wish *wish, struct roof_error *error);

/* A model to load. */
struct roof_model_wish {
    const char *name;    /* a name or file */
    const char *layout;  /* NULL: none */
    bool forget_formats; /* the question has other formats of the weights than the file */
    bool once;           /* the store need not keep it */
    bool exact;          /* a name that means a checkpoint of a model (checkpoint.h) is unknown */
};
/* Lends a model until the loans are returned. The address of a model at Hugging Face means its
 * name. The name of a quantised checkpoint of a known model means that model: in the formats of the
 * wish, or else in its own if a layout or a quantization_config has them. A remark of the model
 * then says so. */
enum roof_status roof_loan_model(const struct roof_model **out, struct roof_loans *loans,
                                 const struct roof_model_wish *wish, struct roof_error *error);

/* Finds the checkpoint of a known model that a name means; out->name is NULL if there is none, as
 * for the name of a model or a file. An unknown tag is refused. */
enum roof_status roof_loan_checkpoint(struct roof_checkpoint *out, struct roof_loans *loans,
                                      const char *name, struct roof_error *error);

/* Replaces the address of a model at Hugging Face (roof_hub_name) by the name in it, which is lent;
 * other names, and NULL, stay. */
enum roof_status roof_loan_name(const char **name, struct roof_loans *loans,
                                struct roof_error *error);

/* Lends the table of engines, which a store loads once and keeps. */
enum roof_status roof_loan_engines(const struct roof_engines **out, const struct roof_loans *loans,
                                   struct roof_error *error);

/* Copies the times by which engines start kernels early (roof_engines_overlaps), which a store
 * reads once and keeps. */
enum roof_status roof_loan_overlaps(double out_s[ROOF_STACK_COUNT], const struct roof_loans *loans,
                                    struct roof_error *error);

/* Seals a store after its folders were added: later names do not mean files. It is called once. */
enum roof_status roof_store_seal(struct roof_store *store, struct roof_error *error);

/* Returns the folders to search, for the loaders of the registry; NULL ends them. */
const char *const *roof_store_folders(const struct roof_store *store);

/* Returns all loans. */
void roof_loans_return(struct roof_loans *loans);

#endif
