#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles the kernels for operators to PTX: sh src/measure/kernels.sh > cuda_operators.ptx
# Nothing of CUDA is needed. CLANG is the compiler (default clang); other versions than 14 write other text.
set -eu
echo "// Made by src/measure/kernels.sh of src/measure/cuda_operators.cu."
"${CLANG:-clang}" -x cuda --cuda-device-only --cuda-path=/nowhere -nocudainc -nocudalib --cuda-gpu-arch=sm_75 \
    -Xclang -target-feature -Xclang +ptx65 -O3 -ffast-math -Wall -Wextra -Wno-unused-parameter -Werror -S -o - "$(dirname "$0")/cuda_operators.cu" |
    sed -e 's,[[:blank:]]*//.*,,' -e '/^[[:blank:]]*$/d' -e 's/^\t/ /' -e 's/\t/ /g'
