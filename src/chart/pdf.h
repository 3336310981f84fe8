// SPDX-License-Identifier: MIT
/* Sets the title and the subject of a PDF from gnuplot, which viewers show. */
#ifndef ROOF_CHART_PDF_H
#define ROOF_CHART_PDF_H

#include <stddef.h>

#include "base/text.h"

/* Copies an image, and appends an update with a title and a summary (ISO 32000-1, 7.5.6). An image
 * without a table of cairo at its end, which may be a stream, is copied unchanged. */
void roof_pdf_entitle(struct roof_text *out, const char *pdf, size_t length, const char *title,
                      const char *summary);

#endif
