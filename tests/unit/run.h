// SPDX-License-Identifier: MIT
#ifndef UNIT_RUN_H
#define UNIT_RUN_H

/* A file of unit tests, by its name without the end. */
struct unit_test {
    const char *name;
    int (*run)(void);
};

/* The Makefile writes the list; its last name is NULL. */
extern const struct unit_test unit_tests[];

#endif
