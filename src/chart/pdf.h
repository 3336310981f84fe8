// SPDX-License-Identifier: MIT
/* Gives a PDF image of gnuplot the title and the subject that viewers show. */
#ifndef ROOF_CHART_PDF_H
#define ROOF_CHART_PDF_H

#include <stddef.h>

#include "base/text.h"

/* Copies an image, and appends an update with a title and a summary (ISO 32000-1, 7.5.6). An image
 * whose end does not have the tables of cairo is copied as it is. */
void roof_pdf_entitle(struct roof_text *out, const char *pdf, size_t length, const char *title,
                      const char *summary);

#endif
