// SPDX-License-Identifier: MIT
/* Our declarations of NCCL beside its header, where it is installed: numbers of enumerations, and
 * parameters of functions. It only has to compile. */
#include <nccl.h>

#include "measure/gpu_group.c"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is " #theirs)

SAME(TYPE_FLOAT16, ncclFloat16);
SAME(TYPE_BFLOAT16, ncclBfloat16);
SAME(OPERATION_SUM, ncclSum);
SAME(0, ncclSuccess);

/* Calls the functions with our parameters, addresses as pointers. */
void call_all(void *place, const void *from, size_t count, int number);
void call_all(void *place, const void *from, size_t count, int number)
{
    (void)(ncclCommInitAll(place, number, from) + ncclCommDestroy(place) + ncclGroupStart() +
           ncclGroupEnd() +
           ncclAllReduce(from, place, count, (ncclDataType_t)number, (ncclRedOp_t)number, place,
                         place) +
           ncclAllGather(from, place, count, (ncclDataType_t)number, place, place));
    (void)ncclGetErrorString((ncclResult_t)number);
}
