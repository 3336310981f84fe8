// SPDX-License-Identifier: MIT
/* Prints the kernels of the CUDA backend, for an assembler: with an argument those for operators,
 * else those of the probes. */
#include <stdio.h>

#include "measure/cuda_kernels.h"
#include "measure/cuda_vector.h"

int main(int argc, char **argv)
{
    struct roof_text text = ROOF_TEXT_INIT;
    (void)argv;
    if (argc > 1) {
        roof_cuda_vector_ptx(&text);
    } else {
        roof_cuda_ptx(&text);
    }
    const int failed = text.failed || fputs(text.data, stdout) < 0;
    roof_text_free(&text);
    return failed;
}
