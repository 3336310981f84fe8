// SPDX-License-Identifier: MIT
/**
 * Fields: the keys of a result, each with the place, unit and type of its value. Each kind of
 * result has its rows of fields next to the code that fills in the result, and one function that
 * reads their values; tables (table.h) write the values and know no results.
 */
#ifndef ROOF_CATALOG_FIELD_H
#define ROOF_CATALOG_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/quantity.h"
#include "catalog/precision.h"

/** How a value is stored in a result, and how it is written. */
enum roof_type {
    ROOF_TYPE_NUMBER,   /**< double in SI base units; absent when it is not finite */
    ROOF_TYPE_GIVEN,    /**< a number of the input, which is printed with the digits of the input */
    ROOF_TYPE_INTEGER,  /**< int64_t */
    ROOF_TYPE_POSITIVE, /**< int64_t; absent when it is 0 */
    ROOF_TYPE_INT,      /**< int */
    ROOF_TYPE_FLAG,     /**< bool */
    ROOF_TYPE_PRECISION, /**< enum roof_precision, written as its name; also a number */
    ROOF_TYPE_TEXT,      /**< const char *; absent when it is NULL or empty */
    ROOF_TYPE_CHARS,     /**< char[], like a text */
    ROOF_TYPE_WORDS,     /**< const char *, words with blanks between them: an array in JSON */
    ROOF_TYPE_NUMBERS    /**< const char *, numbers with blanks between them: an array in JSON */
};

/** A field of a result. */
struct roof_field {
    const char *key;
    enum roof_type type;
    enum roof_unit unit; /**< in which a number is printed */
    size_t offset;       /**< of the value in its result, when it is not derived */
    int derived;         /**< not 0: the number by which the module that computes the value knows it
                          */
    int part;    /**< of a result made of several structs: the one that has the value, from 0 */
    int width;   /**< in text tables; negative: left-aligned; 0: not in tables for people */
    bool hidden; /**< left out of tables for people although it has a width */
    bool named;  /**< rows have it only if it is asked for by name, because it would slow them down;
                      the document of one prediction always has it */
    const char *label; /**< heading in text tables; NULL: the key */
};

/** At least the number of fields of any kind of result. */
#define ROOF_FIELDS_MAX 112

/** The fields of one kind of result, in the order in which they are printed. */
struct roof_fields {
    size_t count;
    struct roof_field field[ROOF_FIELDS_MAX];
};

/** The value of a field: a number (0 or 1 for a flag, NAN: absent) in SI base units, or a text
 * (NULL: absent) that is borrowed from the result. The type of the field says which. The text of a
 * number, if it has one, is a mark that tables for people write after it. */
struct roof_value {
    double number;
    const char *text;
};

/** Tells if the values of a type are texts. */
static inline bool roof_type_is_text(enum roof_type type)
{
    return type >= ROOF_TYPE_PRECISION;
}

/** Adds fields that belong to a part of a result. */
void roof_fields_add(struct roof_fields *fields, const struct roof_field *field, size_t count,
                     int part);
/** The field with a key; NULL: there is none. */
const struct roof_field *roof_fields_find(const struct roof_fields *fields, const char *key);
/**
 * Reads the value of a field that lies in a result, at its offset; that of a derived field is
 * absent. A sweep reads tens of millions, so this is inline.
 */
static inline void roof_field_read(struct roof_value *out, const struct roof_field *field,
                                   const char *result)
{
    const void *const at = result + field->offset;
    if (field->derived == 0 && field->type <= ROOF_TYPE_GIVEN) { /* most fields */
        *out = (struct roof_value){.number = *(const double *)at};
        return;
    }
    *out = (struct roof_value){.number = ROOF_UNKNOWN};
    if (field->derived != 0) {
        return;
    }
    switch (field->type) {
    case ROOF_TYPE_NUMBER:
    case ROOF_TYPE_GIVEN:
        break; /* read above */
    case ROOF_TYPE_INTEGER:
        out->number = (double)*(const int64_t *)at;
        break;
    case ROOF_TYPE_POSITIVE:
        out->number = *(const int64_t *)at == 0 ? ROOF_UNKNOWN : (double)*(const int64_t *)at;
        break;
    case ROOF_TYPE_INT:
        out->number = *(const int *)at;
        break;
    case ROOF_TYPE_FLAG:
        out->number = *(const bool *)at ? 1 : 0;
        break;
    case ROOF_TYPE_TEXT:
    case ROOF_TYPE_WORDS:
    case ROOF_TYPE_NUMBERS:
        out->text = *(const char *const *)at;
        break;
    case ROOF_TYPE_CHARS:
        out->text = at;
        break;
    case ROOF_TYPE_PRECISION:
        out->number = *(const enum roof_precision *)at;
        out->text = roof_format(*(const enum roof_precision *)at)->name;
        break;
    }
}

/**
 * Reads the values of all fields of a part; those of derived fields are absent then, and those of
 * other parts stay as they are. out has room for fields->count values.
 */
void roof_fields_read(struct roof_value *out, const struct roof_fields *fields, int part,
                      const char *result);

/** A column from another source, which comes before the table's own columns. Its owner sets the
 * texts before each row. */
struct roof_carried {
    const char *name;
    const char *text; /**< of the current row; "": none */
    const char *json; /**< its text in the JSON source, without quotes; NULL: only the text is known
                       */
    bool quoted;      /**< json is a string */
};

#endif
