// SPDX-License-Identifier: MIT
/* Access control: the checks against pages of other sites, and the token. */
#ifndef ROOF_SERVE_ACCESS_H
#define ROOF_SERVE_ACCESS_H

#include "serve/http.h"

/*
 * Checks Host, Origin and the token of a request. Host must be localhost, an address, or one of the
 * names in the list `hosts`: a page of another site that makes its own name point to this machine
 * (DNS rebinding) sends that name. Origin, which browsers send, must be the same as Host. Returns
 * 0, or the status to refuse the request with, and the message.
 */
int roof_access(const char *hosts, const char *token, const struct roof_http_request *request,
                const char **message);

#endif
