// SPDX-License-Identifier: MIT
#include "decide/size_words.h"

#include <string.h>

#include "base/base.h"
#include "base/quantity.h"
#include "decide/input.h"

/* Tells whether a word is a size: "8", "4k" or "m=8"; *value is its number. */
static bool read_size(const char *word, const char **value)
{
    int64_t size = 0;
    const char *const equals = strchr(word, '=');
    *value = equals == NULL ? word : equals + 1;
    return roof_parse_integer(&size, *value, "", 0, INT64_MAX, NULL) == ROOF_OK;
}

bool roof_is_size(const char *word)
{
    const char *value = NULL;
    return read_size(word, &value);
}

/* Finds the size of an option among the words after the operator: "m=8", or else the next one
 * without a name; NULL: there is none. */
static const char *size_of(const struct roof_input *input, const char *const *word, int count,
                           int *next)
{
    const size_t length = strlen(input->option);
    const char *value = NULL;
    for (int i = 1; i < count; i++) {
        if (strncmp(word[i], input->option, length) == 0 && word[i][length] == '=' &&
            read_size(word[i], &value)) {
            return value;
        }
    }
    return *next < count && read_size(word[*next], &value) && value == word[*next] ? word[(*next)++]
                                                                                   : NULL;
}

void roof_hint_sizes(struct roof_error *error, enum roof_operator op, const char *const *word,
                     int count)
{
    const struct roof_operator_row *const row = roof_operator_row(op);
    char name[ROOF_INPUT_NAME_SIZE];
    int next = 1;
    roof_error_append(error, "; sizes are options:");
    for (int i = 0; i < row->dim_count; i++) {
        const struct roof_input *const input = roof_input(row->dims[i]);
        if ((row->required >> row->dims[i] & 1U) != 0) {
            const char *const value = size_of(input, word, count, &next);
            roof_error_append(error, " %s %s", roof_input_marked(name, input),
                              value == NULL ? input->value : value);
        }
    }
}
