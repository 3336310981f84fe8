// SPDX-License-Identifier: MIT
/* Characters of texts that come from outside: control characters, and what UTF-8 and XML allow. */
#ifndef ROOF_BASE_CHARACTER_H
#define ROOF_BASE_CHARACTER_H

#include <stddef.h>

/** Returns the length in bytes of the control character at the beginning of a text; 0 if there is
 * none. Those of two bytes are U+0080 to U+009F in UTF-8, which terminals obey too. */
size_t roof_control(const char *text);

/** Returns the length in bytes of the first UTF-8 character of a text; 0 if it is not valid
 * (overlong, surrogate, too large, cut off). length is that of the text, 1 or more; 4 is enough for
 * a text that ends with a NUL. */
size_t roof_utf8(const char *text, size_t length);

/** Like roof_utf8 for a text that ends with a NUL, but also returns 0 for characters that XML
 * forbids. */
size_t roof_xml(const char *text);

#endif
