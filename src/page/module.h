// SPDX-License-Identifier: MIT
/*
 * The library as a WebAssembly module, for the explorer page: questions come as JSON, and their
 * answers are the documents of the program, byte for byte.
 *
 *     page = roof_page_open()
 *     room = roof_page_room(page, length)     the caller writes a request to it, of this shape:
 *         {"command": "predict", "format": "json", "inputs": {"model": "llama-3-8b"}}
 *     status = roof_page_ask(page)            as that of roof_answer
 *     roof_page_text, roof_page_length        the document, until the next request
 *     roof_page_message                       why the status is not 0
 */
#ifndef ROOF_PAGE_MODULE_H
#define ROOF_PAGE_MODULE_H

#include <stddef.h>

struct roof_page;

/* Returns NULL without memory. A page lives as long as its module. */
struct roof_page *roof_page_open(void);
/* Returns space for a request of `length` bytes, valid until the next call; NULL without memory. */
char *roof_page_room(struct roof_page *page, size_t length);
/* Answers the request in that space, and returns an enum roof_status. */
int roof_page_ask(struct roof_page *page);
const char *roof_page_text(const struct roof_page *page);
size_t roof_page_length(const struct roof_page *page);
const char *roof_page_message(const struct roof_page *page);

#endif
