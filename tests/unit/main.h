// SPDX-License-Identifier: MIT
/* The Makefile includes this before each unit test, whose main it renames (tests/unit/run.c). */
int main(void);
