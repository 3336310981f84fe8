// SPDX-License-Identifier: MIT
/* Prints the kernels of the probes of the CUDA backend, for an assembler. */
#include <stdio.h>

#include "measure/cuda_kernels.h"

int main(void)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_cuda_ptx(&text);
    const int failed = text.failed || fputs(text.data, stdout) < 0;
    roof_text_free(&text);
    return failed;
}
