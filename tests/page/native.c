// SPDX-License-Identifier: MIT
/* Answers a request per line of standard input by the functions of the page's module, compiled for
 * this machine: a line with status and length, then the document or the message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/module.h"

int main(void)
{
    struct roof_page *const page = roof_page_open();
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    if (page == NULL) {
        return EXIT_FAILURE;
    }
    while ((length = getline(&line, &room, stdin)) > 0) {
        length -= line[length - 1] == '\n';
        char *const request = roof_page_room(page, (size_t)length);
        if (request == NULL) {
            return EXIT_FAILURE;
        }
        memcpy(request, line, (size_t)length);
        const int status = roof_page_ask(page);
        const char *const message = roof_page_message(page);
        printf("%d %zu %s\n", status, roof_page_length(page), message);
        fwrite(roof_page_text(page) == NULL ? "" : roof_page_text(page), 1, roof_page_length(page),
               stdout);
    }
    free(line);
    return EXIT_SUCCESS;
}
