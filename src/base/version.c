// SPDX-License-Identifier: MIT
#include "roofline/version.h"

#define TEXT(number) #number
#define DOTTED(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *roof_version(void)
{
    return DOTTED(ROOF_VERSION_MAJOR, ROOF_VERSION_MINOR, ROOF_VERSION_PATCH);
}
