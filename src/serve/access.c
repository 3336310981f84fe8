// SPDX-License-Identifier: MIT
#include "serve/access.h"

#include <string.h>
#include <strings.h>

#include "base/list.h"

/* Cuts the port off "name:port" or "[address]:port"; false if it is not a number. */
static bool cut_port(struct roof_span *host)
{
    const char *const text = host->text;
    size_t end = host->length;
    while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9') {
        end--;
    }
    if (end > 0 && text[end - 1] == ':') {
        host->length = end - 1;
    }
    const bool bracketed = host->length > 1 && text[0] == '[' && text[host->length - 1] == ']';
    return host->length > 0 && (bracketed || memchr(text, ':', host->length) == NULL);
}

/* Tells whether a host is an address. A name could be made to point here by somebody else. */
static bool is_address(struct roof_span host)
{
    const bool bracketed = host.text[0] == '[';
    const char *const allowed = bracketed ? "0123456789abcdefABCDEF:.[]" : "0123456789.";
    for (size_t i = 0; i < host.length; i++) {
        if (host.text[i] == '\0' || strchr(allowed, host.text[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static bool is_listed(const char *hosts, struct roof_span host)
{
    struct roof_list_item item;
    for (const char *rest = hosts; roof_list_next(&item, &rest);) {
        if (item.length == host.length && strncasecmp(item.text, host.text, host.length) == 0) {
            return true;
        }
    }
    return false;
}

/* Tells whether an origin, "http://name:port", belongs to the host. */
static bool is_same(struct roof_span origin, struct roof_span host)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2; i++) {
        const size_t length = strlen(schemes[i]);
        if (origin.length == length + host.length && memcmp(origin.text, schemes[i], length) == 0 &&
            strncasecmp(origin.text + length, host.text, host.length) == 0) {
            return true;
        }
    }
    return false;
}

/* Compares in constant time, which does not reveal how much of the token is right. */
static bool has_token(struct roof_span authorization, const char *token)
{
    static const char scheme[] = "Bearer ";
    const size_t skip = sizeof scheme - 1;
    const size_t length = strlen(token);
    unsigned char different = 0;
    if (authorization.length != skip + length ||
        strncasecmp(authorization.text, scheme, skip) != 0) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        different |= (unsigned char)(authorization.text[skip + i] ^ token[i]);
    }
    return different == 0;
}

int roof_access(const char *hosts, const char *token, const struct roof_http_request *request,
                const char **message)
{
    struct roof_span host = request->host;
    if (!cut_port(&host) ||
        !(roof_span_like(host, "localhost") || is_address(host) || is_listed(hosts, host))) {
        *message = "this service does not answer under that host name; --allow-host adds names";
        return 403;
    }
    if (request->origin.text != NULL && !is_same(request->origin, request->host)) {
        *message = "pages of other origins may not use this service";
        return 403;
    }
    if (token != NULL && !has_token(request->authorization, token)) {
        *message = "a token is needed: Authorization: Bearer TOKEN";
        return 401;
    }
    return 0;
}
