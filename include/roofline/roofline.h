// SPDX-License-Identifier: MIT
/**
 * roofline: how fast transformers and their operators can run on a device at a precision, what
 * limits them, and what to change.
 *
 *   error.h      status codes and the error object
 *   question.h   questions, stores and answers: all that the program can do
 *
 * Rules that hold for all of them:
 *
 * Units      SI base units in double: FLOP, byte, second, FLOP/s, byte/s. A count and a rate never
 *            share a name. NAN is "unknown"; it is never 0 and never guessed. Keys of files and
 *            reports carry their unit in the name, and convert in one place (quantity.h).
 * Errors     A function that can fail returns enum roof_status and fills the struct roof_error at
 *            the end of its parameters, which may be NULL. On failure an out-parameter is empty
 *            or unchanged. Nothing prints, nothing exits.
 * Ownership  Out-parameters come first. What a _load, _parse or _open function makes belongs to the
 *            caller and has a _free, which accepts NULL or an empty object. Pointers in results
 *            that are called borrowed belong to what was passed in.
 * C++        The headers may be included from C++.
 * Threads    There is no mutable global state. Const objects may be shared; an object that is
 *            written belongs to one thread. roof_predict allocates nothing and takes no lock.
 */
#ifndef ROOFLINE_ROOFLINE_H
#define ROOFLINE_ROOFLINE_H

#include "roofline/error.h"
#include "roofline/question.h"
#include "roofline/version.h"

#endif
