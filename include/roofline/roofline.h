// SPDX-License-Identifier: MIT
/**
 * roofline: how fast transformers and their operators can run on a device at a precision, what
 * limits them, and what to change.
 *
 *   error.h      status codes and the error object
 *   question.h   questions, stores and answers: everything that the program can do
 *   model.h      the prediction of a model as numbers
 *   device.h     devices and number formats
 *   workload.h   operators with shapes and formats
 *   predict.h    predictions of operators, millions a second
 *   version.h    the version
 *
 * Most programs want a document, and need only question.h:
 *
 *     struct roof_store *store = NULL;
 *     struct roof_question *question = NULL;
 *     char *text = NULL;
 *     roof_store_new(&store, NULL);
 *     roof_question_new(&question, NULL);
 *     roof_question_put(question, "operator", "gemv", NULL);
 *     roof_question_put(question, "n", "4096", NULL);
 *     roof_question_put(question, "k", "4096", NULL);
 *     if (roof_answer(store, question, ROOF_COMMAND_PREDICT, ROOF_TEXT, &text, NULL, NULL) ==
 *         ROOF_OK) {
 *         puts(text);
 *     }
 *     roof_answer_free(text);
 *     roof_question_free(question);
 *     roof_store_free(store);
 *
 * These rules hold for all headers:
 *
 * Units      SI base units in double: FLOP, byte, second, FLOP/s, byte/s. A count and a rate never
 *            share a name. NAN is "unknown"; it is never 0 and never guessed. Keys of files and
 *            reports carry their unit in the name, and functions that take a key return its unit.
 * Errors     A function that can fail returns enum roof_status and fills the struct roof_error at
 *            the end of its parameters, which may be NULL. On failure an out-parameter is empty
 *            or unchanged. Nothing prints, nothing exits. A NULL where none is allowed, or a number
 *            that is not in its enum, is a mistake of the caller: it is not reported, and a
 *            library that was built without NDEBUG may end the program with a failed assertion.
 * Ownership  The result of a _new, _load, _parse or _predict function belongs to the caller and has
 *            a _free, which accepts NULL. Borrowed pointers in results belong to the arguments of
 *            the call.
 * C++        The headers may be included from C++.
 * Threads    There is no mutable global state. Const objects may be shared; an object that is
 *            written belongs to one thread. roof_predict allocates nothing and takes no lock.
 */
#ifndef ROOFLINE_ROOFLINE_H
#define ROOFLINE_ROOFLINE_H

#include "roofline/device.h"
#include "roofline/error.h"
#include "roofline/model.h"
#include "roofline/predict.h"
#include "roofline/question.h"
#include "roofline/version.h"
#include "roofline/workload.h"

#endif
