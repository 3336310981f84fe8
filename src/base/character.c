// SPDX-License-Identifier: MIT
#include "base/character.h"

#include <stdbool.h>
#include <string.h>

size_t roof_control(const char *text)
{
    const unsigned char c = (unsigned char)*text;
    if (c == 0xc2) {
        const unsigned char next = (unsigned char)text[1];
        return next >= 0x80 && next < 0xa0 ? 2 : 0;
    }
    return c != '\0' && (c < 0x20 || c == 0x7f) ? 1 : 0;
}

size_t roof_utf8(const char *text, size_t length)
{
    const unsigned char *const p = (const unsigned char *)text;
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] >= 0xC2 && p[0] <= 0xDF && length >= 2 && (p[1] & 0xC0U) == 0x80) {
        return 2;
    }
    if (p[0] >= 0xE0 && p[0] <= 0xEF && length >= 3 && (p[1] & 0xC0U) == 0x80 &&
        (p[2] & 0xC0U) == 0x80 && !(p[0] == 0xE0 && p[1] < 0xA0) &&
        !(p[0] == 0xED && p[1] > 0x9F)) {
        return 3;
    }
    if (p[0] >= 0xF0 && p[0] <= 0xF4 && length >= 4 && (p[1] & 0xC0U) == 0x80 &&
        (p[2] & 0xC0U) == 0x80 && (p[3] & 0xC0U) == 0x80 && !(p[0] == 0xF0 && p[1] < 0x90) &&
        !(p[0] == 0xF4 && p[1] > 0x8F)) {
        return 4;
    }
    return 0;
}

size_t roof_xml(const char *text)
{
    const size_t length = roof_utf8(text, 4);
    const bool no_character = strncmp(text, "\xEF\xBF\xBE", 3) == 0 ||
                              strncmp(text, "\xEF\xBF\xBF", 3) == 0; /* U+FFFE and U+FFFF */
    return roof_control(text) > 0 || no_character ? 0 : length;
}
