// SPDX-License-Identifier: MIT
/* A librccl.so.1 for the planted GPUs of hip.c: it has the functions of NCCL. */
#define HIP 1
#include "nccl.c"
