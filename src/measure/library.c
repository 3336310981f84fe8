// SPDX-License-Identifier: MIT
#include "measure/library.h"

#include <dlfcn.h>
#include <string.h>

/* POSIX promises that the address of a function fits (dlsym, "Application Usage"). */
_Static_assert(sizeof(void *) == sizeof(void (*)(void)), "dlsym returns addresses of functions");

enum roof_status roof_library_open(struct roof_library *out, const char *const *names,
                                   const char *comes_with, struct roof_error *error)
{
    *out = (struct roof_library){.handle = NULL};
    for (size_t i = 0; names[i] != NULL; i++) {
        out->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (out->handle != NULL) {
            out->name = names[i];
            return ROOF_OK;
        }
        const char *const reason = dlerror();
        const bool absent = reason == NULL || (strstr(reason, "No such file") != NULL &&
                                               strstr(reason, names[i]) != NULL);
        if (!absent) { /* it is there and cannot be loaded */
            return roof_error_set(error, ROOF_IO, "cannot load %s (%s): %s", names[i], comes_with,
                                  reason);
        }
    }
    return roof_error_set(error, ROOF_IO, "%s (%s) is not installed", names[0], comes_with);
}

enum roof_status roof_library_find(const struct roof_library *library, void *functions,
                                   const struct roof_symbol *symbols, size_t count,
                                   struct roof_error *error)
{
    for (size_t i = 0; i < count; i++) {
        void *const found = dlsym(library->handle, symbols[i].name);
        if (found == NULL && !symbols[i].optional) {
            return roof_error_set(error, ROOF_IO, "%s has no function %s: install another version",
                                  library->name, symbols[i].name);
        }
        memcpy((char *)functions + symbols[i].offset, &found, sizeof found);
    }
    return ROOF_OK;
}

const char *roof_symbol_name(const struct roof_symbol *symbols, size_t count, size_t offset)
{
    for (size_t i = 0; i < count; i++) {
        if (symbols[i].offset == offset) {
            return symbols[i].name;
        }
    }
    return "";
}

void roof_library_close(struct roof_library *library)
{
    if (library->handle != NULL) {
        (void)dlclose(library->handle);
    }
    *library = (struct roof_library){.handle = NULL};
}
