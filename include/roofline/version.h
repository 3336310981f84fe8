// SPDX-License-Identifier: MIT
/** The version of the library: docs/library.md says what a change of each number means. */
#ifndef ROOFLINE_VERSION_H
#define ROOFLINE_VERSION_H

#define ROOF_VERSION_MAJOR 0
#define ROOF_VERSION_MINOR 1
#define ROOF_VERSION_PATCH 0

#endif
