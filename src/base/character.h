// SPDX-License-Identifier: MIT
/* Characters of texts that come from outside: control characters, and what UTF-8 and XML allow. */
#ifndef ROOF_BASE_CHARACTER_H
#define ROOF_BASE_CHARACTER_H

#include <stddef.h>

/** Returns how many bytes the control character takes that a text begins with; 0 when it begins
 * with none. Those of two bytes are U+0080 to U+009F in UTF-8, which terminals obey too. */
size_t roof_control(const char *text);

/** Returns how many bytes the first character of a text takes in UTF-8; 0 when it begins with none
 * (overlong, surrogate, too large, cut off). length is that of the text, 1 or more; 4 will do for a
 * text that ends with a NUL. */
size_t roof_utf8(const char *text, size_t length);

/** Does what roof_utf8 does for a text that ends with a NUL, but returns 0 also for characters that
 * XML must not have. */
size_t roof_xml(const char *text);

#endif
