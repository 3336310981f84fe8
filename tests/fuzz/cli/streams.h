// SPDX-License-Identifier: MIT
/* Included before each file of src/cli where the program is built into a fuzz target: its main has
 * another name, its streams are memory (a full one fails like a full disk), and no thread starts,
 * as where the system has none left. */
#ifndef ROOF_FUZZ_STREAMS_H
#define ROOF_FUZZ_STREAMS_H

#include <pthread.h>
#include <stdio.h>

int fuzz_main(int argc, char **argv);
extern FILE *fuzz_stdout;
extern FILE *fuzz_stderr;
int fuzz_close(FILE *file);
int fuzz_no_thread(void);

#undef stdout
#undef stderr
#undef printf /* a macro already where it is fortified */
#define main fuzz_main
#define stdout fuzz_stdout
#define stderr fuzz_stderr
#define fclose(file) fuzz_close(file)
#define putchar(byte) putc(byte, fuzz_stdout)
#define printf(...) fprintf(fuzz_stdout, __VA_ARGS__)
#define pthread_create(thread, attributes, function, context)                                      \
    ((void)(thread), (void)(function), (void)(context), fuzz_no_thread())

#endif
