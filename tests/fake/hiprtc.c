// SPDX-License-Identifier: MIT
/* A libhiprtc.so.7 that compiles any source which has the kernels of src/measure/gpu_kernels.c;
 * what it makes is taken by the fake of hip.c. What is not released is told on standard error. */
#include <stdio.h>

#include "fake.h"

#define CODE "code of the fake hipRTC"
#define LOG "roofline.hip:1:1: error: the fake does not like it\nmore of this\n"

static long held;

FAKE_TELL_LEFT(held, "fake compiler: %ld programs are not released")

CALL(hiprtcCreateProgram, const char **program, const char *source, const char *name, int headers,
     const char **header, const char **header_name)
{
    (void)name;
    (void)headers;
    (void)header;
    (void)header_name;
    const int failed = fake_failure("hiprtcCreateProgram", 0, 0);
    if (failed == 0) {
        *program = source;
        held++;
    }
    return failed;
}

CALL(hiprtcCompileProgram, const char *program, int count, const char **options)
{
    static const char *const kernels[] = {
        "roof_read",          "roof_copy",          "roof_triad",   "roof_multiply_fp32",
        "roof_multiply_fp16", "roof_multiply_fp64", "roof_nothing", "roof_norm",
        "roof_add",           "roof_gate",          "roof_rotate",  "roof_quantize"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (strstr(program, kernels[i]) == NULL) {
            return 6;
        }
    }
    for (int i = 0; i < count; i++) {
        if (options[i][0] != '-') {
            return 5; /* HIPRTC_ERROR_INVALID_OPTION */
        }
    }
    return fake_failure("hiprtcCompileProgram", 0, 0);
}

CALL(hiprtcGetProgramLogSize, const char *program, size_t *size)
{
    FAKE_MAY_FAIL("hiprtcGetProgramLogSize");
    (void)program;
    *size = sizeof LOG;
    return 0;
}

CALL(hiprtcGetProgramLog, const char *program, char *log)
{
    FAKE_MAY_FAIL("hiprtcGetProgramLog");
    (void)program;
    memcpy(log, LOG, sizeof LOG);
    return 0;
}

CALL(hiprtcGetCodeSize, const char *program, size_t *size)
{
    (void)program;
    *size = sizeof CODE;
    return fake_failure("hiprtcGetCodeSize", 0, 0);
}

CALL(hiprtcGetCode, const char *program, char *code)
{
    (void)program;
    memcpy(code, CODE, sizeof CODE);
    return fake_failure("hiprtcGetCode", 0, 0);
}

CALL(hiprtcDestroyProgram, const char **program)
{
    *program = NULL;
    held--;
    return fake_failure("hiprtcDestroyProgram", 0, 0);
}

const char *hiprtcGetErrorString(int status);
const char *hiprtcGetErrorString(int status)
{
    return status == 6 ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR_INTERNAL_ERROR";
}
