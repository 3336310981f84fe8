#!/bin/sh
# SPDX-License-Identifier: MIT
# The backends of GPUs against a CUDA toolkit and ROCm, where they are installed: CC=cc sh tests/cuda/run.sh PTX
#
# PTX is the program that prints the kernels of probes. Those for operators are in data/kernels, and clang makes the
# same text from their source. Declarations are compared with the headers, kernels are assembled for every GPU that
# ptxas knows, those for operators are interpreted and their results compared with plain formulas, and the functions
# are looked up in the libraries. No GPU is needed. CUDA_HOME is the folder of the toolkit (default /usr/local/cuda).
set -eu
LC_ALL=C
export LC_ALL

[ $# -eq 1 ] || { echo "usage: sh run.sh PTX" >&2; exit 2; }
toolkit=${CUDA_HOME:-/usr/local/cuda}
ptx=$1
scratch=${TMPDIR:-/tmp}/roofline-cuda.$$
(umask 077 && mkdir "$scratch")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
cd "$(dirname "$0")/../.."
operators=data/kernels/cuda_operators.ptx
done=
skipped=

# Another version of clang writes other text.
if ${CLANG:-clang} --version 2> "$scratch/log" | grep -q 'clang version 14\.'; then
    sh src/measure/kernels.sh | cmp - "$operators"
    done="$done source of kernels,"
else
    skipped="$skipped source of kernels (no clang 14),"
fi

# The headers of the driver and of cuBLASLt.
if [ -r "$toolkit/include/cuda.h" ] && [ -r "$toolkit/include/cublasLt.h" ]; then
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -isystem "$toolkit/include" \
        -Wall -Wextra -Werror -fsyntax-only tests/cuda/declarations.c
    done="$done declarations,"
else
    skipped="$skipped declarations (no headers),"
fi

# That of NCCL, which not every toolkit has.
if [ -r "$toolkit/include/nccl.h" ]; then
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -isystem "$toolkit/include" \
        -Wall -Wextra -Werror -fsyntax-only tests/cuda/nccl_declarations.c
    done="$done declarations of NCCL,"
else
    skipped="$skipped declarations of NCCL (no header),"
fi

# That of cuDNN, in CUDNN_HOME (default that of the toolkit, or where Debian has it).
cudnn=${CUDNN_HOME:-$toolkit}
[ -r "$cudnn/include/cudnn_graph.h" ] || cudnn=/usr
if [ -r "$cudnn/include/cudnn_graph.h" ] && [ -r "$toolkit/include/cuda_runtime_api.h" ]; then
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -isystem "$toolkit/include" \
        -isystem "$cudnn/include" -Wall -Wextra -Werror -fsyntax-only tests/cuda/cudnn_declarations.c
    done="$done declarations of cuDNN,"
else
    skipped="$skipped declarations of cuDNN (no header),"
fi

# Those of HIP, in ROCM_HOME (default /opt/rocm, or where Debian has them).
rocm=${ROCM_HOME:-/opt/rocm}
[ -r "$rocm/include/hip/hip_runtime_api.h" ] || rocm=/usr
if [ -r "$rocm/include/hip/hip_runtime_api.h" ]; then
    ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -isystem "$rocm/include" \
        -Wall -Wextra -Werror -fsyntax-only tests/cuda/hip_declarations.c
    done="$done declarations of HIP,"
else
    skipped="$skipped declarations of HIP (no headers),"
fi

# The kernels for AMD GPUs, for all devices that clang knows.
if ${CLANG:-clang} --print-targets 2> "$scratch/log" | grep -q amdgcn; then
    devices=0
    for device in gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1151 gfx1201; do
        if ${CLANG:-clang} -x hip --cuda-device-only --offload-arch=$device -nogpuinc -nogpulib -O3 -ffp-contract=fast \
            -Wall -Wextra -Werror -S -o "$scratch/kernels" data/kernels/hip_kernels.hip 2> "$scratch/log"; then
            devices=$((devices + 1))
        elif ! grep -q 'invalid target ID' "$scratch/log"; then
            cat "$scratch/log"
            exit 1
        fi
    done
    [ $devices -gt 0 ]
    done="$done kernels for $devices AMD devices,"
else
    skipped="$skipped kernels for AMD devices (no clang for them),"
fi

# The kernels, for all targets that there are since sm_75; an assembler knows some of them.
assembler=$toolkit/bin/ptxas
[ -x "$assembler" ] || assembler=$(command -v ptxas) || assembler=
if [ -n "$assembler" ]; then
    "$ptx" > "$scratch/kernels.ptx"
    targets=0
    for target in 75 80 86 87 88 89 90 100 101 103 110 120 121; do
        if "$assembler" -arch=sm_$target -o "$scratch/kernels" "$scratch/kernels.ptx" 2> "$scratch/log" &&
            "$assembler" -arch=sm_$target -o "$scratch/kernels" "$operators" 2> "$scratch/log"; then
            targets=$((targets + 1))
        elif ! grep -q 'is not defined for option' "$scratch/log"; then
            cat "$scratch/log"
            exit 1
        fi
    done
    [ $targets -gt 0 ]
    # It notices what is wrong.
    sed 's/fma.rn.f32/fma.rn.f33/' "$scratch/kernels.ptx" > "$scratch/bad.ptx"
    if "$assembler" -arch=sm_90 -o "$scratch/kernels" "$scratch/bad.ptx" 2> "$scratch/log"; then
        echo "the assembler takes what is no instruction"
        exit 1
    fi
    done="$done kernels for $targets targets,"
else
    skipped="$skipped kernels (no ptxas),"
fi

# The kernels for operators compute what they should, instruction by instruction.
if command -v python3 > /dev/null; then
    python3 tests/cuda/interpret.py "$operators" > "$scratch/log" || { cat "$scratch/log"; exit 1; }
    done="$done results of kernels,"
    # It notices a kernel that is wrong.
    sed 's/setp.lt.u32/setp.gt.u32/' "$operators" > "$scratch/bad.ptx"
    if python3 tests/cuda/interpret.py "$scratch/bad.ptx" > "$scratch/log" 2>&1; then
        echo "a kernel that takes other keys is taken for right"
        exit 1
    fi
else
    skipped="$skipped results of kernels (no python3),"
fi

# exported LIBRARY PATTERN FILE: the library exports each function that the file looks up.
exported() {
    nm -D --defined-only "$1" | sed -n 's/^.* [TWi] //p' | sed 's/@.*//' | sort -u > "$scratch/there"
    sed -n "s/^ *ROOF_\(SYMBOL\|OPTIONAL\|NAMED\|NAMED_OPTIONAL\)(.*, \($2[A-Za-z0-9_]*\)).*/\2/p" "$3" | sort -u > "$scratch/wanted"
    [ -s "$scratch/wanted" ]
    comm -13 "$scratch/there" "$scratch/wanted" | sed "s|\$| is not in $1|" > "$scratch/log"
    [ ! -s "$scratch/log" ] || { cat "$scratch/log"; exit 1; }
}

found=no
for library in "$toolkit"/lib64/libcublasLt.so.1[123]; do
    [ ! -e "$library" ] || { exported "$library" cublasLt src/measure/cuda_api.c; found=yes; }
done
if [ $found = yes ]; then done="$done functions of cuBLASLt,"; else skipped="$skipped cuBLASLt (no library),"; fi
library=$toolkit/lib64/libnccl.so.2
if [ -e "$library" ]; then
    exported "$library" nccl src/measure/gpu_group.c
    done="$done functions of NCCL,"
else
    skipped="$skipped NCCL (no library),"
fi
library=$toolkit/lib64/stubs/libcuda.so
if [ -e "$library" ]; then
    exported "$library" "cu[A-Z]" src/measure/cuda_api.c
    done="$done functions of the driver,"
else
    skipped="$skipped functions of the driver (no stub),"
fi

[ -z "$done" ] || echo "compared:${done%,}"
[ -z "$skipped" ] || echo "skipped:${skipped%,}"
