// SPDX-License-Identifier: MIT
/**
 * The version of the headers, and that of the library that runs. docs/library.md explains what a
 * change of each number means.
 *
 *     printf("made for roofline %d.%d.%d, runs with %s\n", ROOF_VERSION_MAJOR, ROOF_VERSION_MINOR,
 *            ROOF_VERSION_PATCH, roof_version());
 */
#ifndef ROOFLINE_VERSION_H
#define ROOFLINE_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define ROOF_VERSION_MAJOR 1
#define ROOF_VERSION_MINOR 0
#define ROOF_VERSION_PATCH 0

/** The version as one number, for comparisons by a preprocessor: 100 is 0.1.0. */
#define ROOF_VERSION (ROOF_VERSION_MAJOR * 10000 + ROOF_VERSION_MINOR * 100 + ROOF_VERSION_PATCH)

/** Returns the version of the library as "MAJOR.MINOR.PATCH"; constant data. */
const char *roof_version(void);

#ifdef __cplusplus
}
#endif

#endif
