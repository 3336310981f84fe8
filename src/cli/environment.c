// SPDX-License-Identifier: MIT
/* Reads environment variables: the data folders, and the locale. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"

bool cli_is_unicode(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < COUNT(variables); i++) {
        const char *const locale = getenv(variables[i]);
        if (locale != NULL && *locale != '\0') {
            return strstr(locale, "UTF-8") != NULL || strstr(locale, "utf8") != NULL;
        }
    }
    return false;
}

bool cli_has_colour(void)
{
    const char *const none = getenv("NO_COLOR");
    const char *const terminal = getenv("TERM");
    return (none == NULL || *none == '\0') && terminal != NULL && *terminal != '\0' &&
           strcmp(terminal, "dumb") != 0;
}

enum roof_status cli_store(struct roof_store **out, struct roof_error *error)
{
    const char *const data = getenv("ROOFLINE_DATA");
    const char *home = getenv("XDG_DATA_HOME");
    const char *below = "/roofline";
    TRY(roof_store_new(out, error));
    if (data != NULL && *data != '\0') {
        TRY(roof_store_folder(*out, data, error));
    }
    if (home == NULL || *home == '\0') {
        home = getenv("HOME");
        below = "/.local/share/roofline";
    }
    if (home == NULL || *home == '\0') {
        return ROOF_OK;
    }
    struct roof_text path = ROOF_TEXT_INIT;
    roof_text_printf(&path, "%s%s", home, below);
    const enum roof_status status =
        path.failed ? roof_no_memory(error) : roof_store_folder(*out, path.data, error);
    roof_text_free(&path);
    return status;
}
