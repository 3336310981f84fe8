// SPDX-License-Identifier: MIT
/* A machine-readable description of the endpoints. */
#ifndef ROOF_SERVE_OPENAPI_H
#define ROOF_SERVE_OPENAPI_H

#include "base/text.h"

/* Writes an OpenAPI 3.1 document. */
void roof_openapi(struct roof_text *out);

#endif
