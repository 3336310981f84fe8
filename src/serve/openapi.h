// SPDX-License-Identifier: MIT
/* The endpoints, described for programs. */
#ifndef ROOF_SERVE_OPENAPI_H
#define ROOF_SERVE_OPENAPI_H

#include "base/text.h"

/* Writes a document of OpenAPI 3.1. */
void roof_openapi(struct roof_text *out);

#endif
