// SPDX-License-Identifier: MIT
#include "serve/http.h"

#include <string.h>
#include <strings.h>

#include "base/base.h"

bool roof_span_is(struct roof_span span, const char *text)
{
    return span.text != NULL && span.length == strlen(text) &&
           memcmp(span.text, text, span.length) == 0;
}

bool roof_span_like(struct roof_span span, const char *text)
{
    return span.text != NULL && span.length == strlen(text) &&
           strncasecmp(span.text, text, span.length) == 0;
}

const char *roof_http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{200, "OK"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {411, "Length Required"},
                   {413, "Content Too Large"},
                   {414, "URI Too Long"},
                   {422, "Unprocessable Content"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {503, "Service Unavailable"},
                   {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < COUNT(reasons); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return "Unknown";
}

/* --- characters ---------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_token(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Tells whether a byte is allowed in the value of a field: visible, a blank, or beyond ASCII. */
static bool is_value(char c)
{
    const unsigned char byte = (unsigned char)c;
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

static bool all(struct roof_span span, bool (*is)(char c))
{
    for (size_t i = 0; i < span.length; i++) {
        if (!is(span.text[i])) {
            return false;
        }
    }
    return span.length > 0;
}

static bool is_visible(char c)
{
    return c > ' ' && c < 0x7f;
}

/* --- lines --------------------------------------------------------------------------------- */

/* Takes the next line, which ends with CR LF; LF or CR alone does not end a line. */
static bool next_line(struct roof_span *line, struct roof_span *rest)
{
    const char *const end = memchr(rest->text, '\n', rest->length);
    if (end == NULL || end == rest->text || end[-1] != '\r') {
        return false;
    }
    const size_t used = (size_t)(end + 1 - rest->text);
    *line = (struct roof_span){rest->text, used - 2};
    *rest = (struct roof_span){end + 1, rest->length - used};
    return memchr(line->text, '\r', line->length) == NULL;
}

/* Cuts off the part before a byte; false if the byte is missing. */
static bool cut(struct roof_span *part, struct roof_span *rest, char at)
{
    const char *const found = rest->length == 0 ? NULL : memchr(rest->text, at, rest->length);
    if (found == NULL) {
        return false;
    }
    const size_t used = (size_t)(found - rest->text);
    *part = (struct roof_span){rest->text, used};
    *rest = (struct roof_span){found + 1, rest->length - used - 1};
    return true;
}

static struct roof_span trim(struct roof_span span)
{
    while (span.length > 0 && (span.text[0] == ' ' || span.text[0] == '\t')) {
        span.text++;
        span.length--;
    }
    while (span.length > 0 &&
           (span.text[span.length - 1] == ' ' || span.text[span.length - 1] == '\t')) {
        span.length--;
    }
    return span;
}

/* Reads "METHOD TARGET VERSION", separated by single blanks. */
static int read_request_line(struct roof_http_request *out, struct roof_span line)
{
    struct roof_span target = {0};
    if (!cut(&out->method, &line, ' ') || !cut(&target, &line, ' ') ||
        !all(out->method, is_token) || !all(target, is_visible) || target.text[0] != '/') {
        return 400;
    }
    if (target.length > ROOF_HTTP_TARGET_MAX) {
        return 414;
    }
    if (line.length != 8 || memcmp(line.text, "HTTP/", 5) != 0 || !is_digit(line.text[5]) ||
        line.text[6] != '.' || !is_digit(line.text[7])) {
        return 400;
    }
    if (line.text[5] != '1') {
        return 505;
    }
    out->minor = line.text[7] != '0';
    out->keep = out->minor;
    out->query = target;
    if (!cut(&out->path, &out->query, '?')) {
        out->path = target;
        out->query = (struct roof_span){0};
    }
    return 0;
}

/* --- fields -------------------------------------------------------------------------------- */

/* The state of the parser of fields. */
struct fields {
    struct roof_http_request *request;
    struct roof_span length;
    bool encoded; /* there is a Transfer-Encoding field */
};

/* Returns the destination of a field that may only occur once; NULL: the field is ignored. */
static struct roof_span *place_of(struct fields *fields, struct roof_span name)
{
    struct roof_http_request *const r = fields->request;
    const struct {
        const char *name;
        struct roof_span *place;
    } known[] = {{"host", &r->host},
                 {"origin", &r->origin},
                 {"authorization", &r->authorization},
                 {"content-length", &fields->length}};
    for (size_t i = 0; i < COUNT(known); i++) {
        if (roof_span_like(name, known[i].name)) {
            return known[i].place;
        }
    }
    return NULL;
}

/* Reads the list of options in Connection. */
static void read_connection(struct roof_http_request *request, struct roof_span value)
{
    struct roof_span item;
    while (value.length > 0) {
        if (!cut(&item, &value, ',')) {
            item = value;
            value.length = 0;
        }
        item = trim(item);
        request->keep = roof_span_like(item, "close")        ? false
                        : roof_span_like(item, "keep-alive") ? true
                                                             : request->keep;
        if (roof_span_like(item, "close")) {
            return;
        }
    }
}

static int read_field(struct fields *fields, struct roof_span line)
{
    struct roof_span name;
    struct roof_span value = line;
    if (!cut(&name, &value, ':') || !all(name, is_token)) {
        return 400;
    }
    value = trim(value);
    if (value.length > 0 && !all(value, is_value)) {
        return 400;
    }
    struct roof_span *const place = place_of(fields, name);
    if (place != NULL && place->text != NULL) {
        return 400; /* readers may differ in which of two values they use */
    }
    if (place != NULL) {
        *place = value;
    } else if (roof_span_like(name, "transfer-encoding")) {
        fields->encoded = true;
    } else if (roof_span_like(name, "connection")) {
        read_connection(fields->request, value);
    } else if (roof_span_like(name, "expect")) {
        fields->request->expects = roof_span_like(value, "100-continue");
    } else if (roof_span_like(name, "accept") && fields->request->accept.text == NULL) {
        fields->request->accept = value;
    }
    return 0;
}

/* Reads the length of the body. */
static int read_length(struct fields *fields)
{
    const struct roof_span text = fields->length;
    const size_t digits = text.text == NULL ? 0 : text.length;
    size_t length = 0;
    if (fields->encoded) {
        return text.text == NULL ? 411 : 400;
    }
    if (text.text != NULL && (digits == 0 || !all(text, is_digit))) {
        return 400;
    }
    for (size_t i = 0; i < digits; i++) {
        length = length * 10 + (size_t)(text.text[i] - '0');
        if (length > ROOF_HTTP_BODY_MAX) {
            return 413;
        }
    }
    fields->request->body_length = length;
    return 0;
}

/* Returns the length of a head including its empty line; 0: it is incomplete. */
static size_t find_end(const char *bytes, size_t length)
{
    for (size_t i = 3; i < length; i++) {
        if (bytes[i] == '\n' && memcmp(bytes + i - 3, "\r\n\r", 3) == 0) {
            return i + 1;
        }
    }
    return 0;
}

int roof_http_read(struct roof_http_request *out, const char *bytes, size_t length)
{
    *out = (struct roof_http_request){.head_length = 0};
    struct fields fields = {.request = out};
    const size_t seen = length < ROOF_HTTP_HEAD_MAX ? length : ROOF_HTTP_HEAD_MAX;
    struct roof_span line;
    out->head_length = find_end(bytes, seen);
    if (out->head_length == 0) {
        return length < ROOF_HTTP_HEAD_MAX ? 100 : 431;
    }
    struct roof_span rest = {bytes, out->head_length};
    int status = next_line(&line, &rest) ? read_request_line(out, line) : 400;
    while (status == 0 && rest.length > 2) {
        status = next_line(&line, &rest) ? read_field(&fields, line) : 400;
    }
    if (status == 0) {
        status = out->host.text == NULL ? 400 : read_length(&fields);
    }
    return status;
}

/* --- targets ------------------------------------------------------------------------------- */

static int hex(char c)
{
    return is_digit(c)              ? c - '0'
           : (c >= 'a' && c <= 'f') ? c - 'a' + 10
           : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                    : -1;
}

bool roof_http_decode(char *out, size_t size, struct roof_span span)
{
    size_t length = 0;
    for (size_t i = 0; i < span.length; i++) {
        int byte = (unsigned char)span.text[i];
        if (byte == '%') {
            const int high = i + 2 < span.length ? hex(span.text[i + 1]) : -1;
            const int low = i + 2 < span.length ? hex(span.text[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : high * 16 + low;
            i += 2;
        }
        if (byte < ' ' || byte == 0x7f || length + 1 >= size) {
            return false;
        }
        out[length++] = (char)byte;
    }
    out[length] = '\0';
    return true;
}
