// SPDX-License-Identifier: MIT
#include "measure/cuda_vector.h"

#include "base/base.h"

/* --- PTX ------------------------------------------------------------------------------------ */

/*
 * The text follows the PTX ISA reference (docs.nvidia.com/cuda/parallel-thread-execution). Numbers
 * are halves, two in a register; sums are floats.
 */
#define ADDRESS(number, name)                                                                      \
    " ld.param.u64 %d" number ", [" name "];\n cvta.to.global.u64 %d" number ", %d" number ";\n"
#define UNPACK(low, high, from)                                                                    \
    " mov.b32 {%h0, %h1}, " from ";\n cvt.f32.f16 " low ", %h0;\n cvt.f32.f16 " high ", %h1;\n"
#define PACK(to, low, high)                                                                        \
    " cvt.rn.f16.f32 %h0, " low ";\n cvt.rn.f16.f32 %h1, " high ";\n mov.b32 " to ", {%h0, "       \
    "%h1};\n"
/* Adds up a float over the 32 threads of a warp. */
#define SUM_STEP(value, distance)                                                                  \
    " shfl.sync.bfly.b32 %s0, " value ", " distance ", 31, -1;\n add.f32 " value ", " value        \
    ", %s0;\n"
#define SUM(value)                                                                                 \
    SUM_STEP(value, "16")                                                                          \
    SUM_STEP(value, "8") SUM_STEP(value, "4") SUM_STEP(value, "2") SUM_STEP(value, "1")

/* The registers of kernels that go over rows: r1 is the thread, d1 to d3 are the arrays. */
#define ROWS_HEAD                                                                                  \
    " .reg .pred %p;\n .reg .b32 %r<24>;\n .reg .b64 %d<16>;\n .reg .f32 %f<16>;\n"                \
    " .reg .f32 %s<2>;\n .reg .b16 %h<2>;\n" ADDRESS("1", "a") ADDRESS("2", "b")                   \
        ADDRESS("3", "out") " ld.param.u32 %r9, [size];\n mov.u32 %r1, %tid.x;\n"                  \
                            " mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n"
#define ROWS_PARAMETERS                                                                            \
    "(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 rows, .param .u32 size)\n{\n"

/* A block has a row of `size` halves: r4 pairs, from d4 on; its results begin at d5. */
#define NORM_PASS(label, body)                                                                     \
    " mov.u32 %r5, %r1;\n" label ":\n setp.ge.u32 %p, %r5, %r4;\n @%p bra " label "_END;\n"        \
    " mul.wide.u32 %d6, %r5, 4;\n add.u64 %d7, %d4, %d6;\n ld.global.u32 %r6, [%d7];\n" UNPACK(    \
        "%f2", "%f3", "%r6") body " add.u32 %r5, %r5, %r3;\n bra " label ";\n" label "_END:\n"
#define NORM                                                                                       \
    ".visible .entry roof_norm" ROWS_PARAMETERS " .shared .align 4 .f32 sums[32];\n" ROWS_HEAD     \
    " shr.u32 %r4, %r9, 1;\n mul.wide.u32 %d6, %r2, %r9;\n shl.b64 %d6, %d6, 1;\n"                 \
    " add.u64 %d4, %d1, %d6;\n add.u64 %d5, %d3, %d6;\n mov.f32 %f1, 0f00000000;\n" NORM_PASS(     \
        "SQUARES", " fma.rn.f32 %f1, %f2, %f2, %f1;\n fma.rn.f32 %f1, %f3, %f3, %f1;\n")           \
        SUM("%f1") /* one sum of each of eight warps */                                            \
        " shr.u32 %r7, %r1, 5;\n shl.b32 %r7, %r7, 2;\n mov.u32 %r8, sums;\n"                      \
        " add.u32 %r7, %r7, %r8;\n st.shared.f32 [%r7], %f1;\n bar.sync 0;\n"                      \
        " ld.shared.f32 %f1, [%r8];\n" NORM_ADD("4") NORM_ADD("8") NORM_ADD("12") NORM_ADD("16")   \
            NORM_ADD("20") NORM_ADD("24") NORM_ADD(                                                \
                "28") " cvt.rn.f32.u32 %f4, %r9;\n div.approx.f32 %f1, %f1, %f4;\n"                \
                      " add.f32 %f1, %f1, 0f358637BD;\n rsqrt.approx.f32 %f1, %f1;\n" NORM_PASS(   \
                          "SCALE",                                                                 \
                          " add.u64 %d7, %d2, %d6;\n ld.global.u32 %r6, [%d7];\n"                  \
                          " mul.f32 %f2, %f2, %f1;\n mul.f32 %f3, %f3, %f1;\n" UNPACK(             \
                              "%f5", "%f6", "%r6") " mul.f32 %f2, %f2, %f5;\n mul.f32 %f3, %f3, "  \
                                                   "%f6;\n" PACK("%r6", "%f2",                     \
                                                                 "%f3") " add.u64 %d7, %d5, "      \
                                                                        "%d6;\n st.global.u32 "    \
                                                                        "[%d7], %r6;\n") " ret;"   \
                                                                                         "\n}\n"
#define NORM_ADD(at) " ld.shared.f32 %f2, [%r8+" at "];\n add.f32 %f1, %f1, %f2;\n"

/* Threads go over the pairs of all rows, r4 of them; r5 is the pair at hand and d6 its place. */
#define FLAT(name, begin, body)                                                                    \
    ".visible .entry " name ROWS_PARAMETERS ROWS_HEAD                                              \
    " ld.param.u32 %r4, [rows];\n mad.lo.u32 %r5, %r2, %r3, %r1;\n mov.u32 %r7, %nctaid.x;\n"      \
    " mul.lo.u32 %r7, %r7, %r3;\n" begin "NEXT_" name ":\n setp.ge.u32 %p, %r5, %r4;\n"            \
    " @%p bra END_" name ";\n" body " add.u32 %r5, %r5, %r7;\n bra NEXT_" name ";\nEND_" name      \
    ":\n ret;\n}\n"
#define FLAT_ALL " mul.lo.u32 %r4, %r4, %r9;\n shr.u32 %r4, %r4, 1;\n"
#define FLAT_LOAD                                                                                  \
    " mul.wide.u32 %d6, %r5, 4;\n add.u64 %d7, %d1, %d6;\n ld.global.u32 %r10, [%d7];\n"           \
    " add.u64 %d7, %d2, %d6;\n ld.global.u32 %r11, [%d7];\n add.u64 %d7, %d3, %d6;\n"
/* x / (1 + 2^(-x log2 e)) */
#define SILU(x)                                                                                    \
    " mul.f32 %f6, " x ", 0fBFB8AA3B;\n ex2.approx.f32 %f6, %f6;\n add.f32 %f6, %f6, 0f3F800000;"  \
    "\n div.approx.f32 " x ", " x ", %f6;\n"
/* A row has heads of `size` halves; pair k of a head turns with pair k + size / 4 by the cosines
 * and sines at the same places of b. `rows` counts heads of all tokens. */
#define ROTATE_HALF " shr.u32 %r12, %r9, 2;\n mul.lo.u32 %r4, %r4, %r12;\n"
#define ROTATE                                                                                     \
    " div.u32 %r13, %r5, %r12;\n mul.lo.u32 %r14, %r13, %r12;\n sub.u32 %r15, %r5, %r14;\n"        \
    " add.u32 %r14, %r14, %r5;\n mul.wide.u32 %d6, %r14, 4;\n mul.wide.u32 %d8, %r12, 4;\n"        \
    " mul.wide.u32 %d9, %r15, 4;\n add.u64 %d7, %d1, %d6;\n ld.global.u32 %r16, [%d7];\n"          \
    " add.u64 %d7, %d7, %d8;\n ld.global.u32 %r17, [%d7];\n add.u64 %d7, %d2, %d9;\n"              \
    " ld.global.u32 %r18, [%d7];\n add.u64 %d7, %d7, %d8;\n ld.global.u32 %r19, [%d7];\n"          \
    " mul.f16x2 %r20, %r17, %r19;\n neg.f16x2 %r20, %r20;\n"                                       \
    " fma.rn.f16x2 %r20, %r16, %r18, %r20;\n mul.f16x2 %r21, %r17, %r18;\n"                        \
    " fma.rn.f16x2 %r21, %r16, %r19, %r21;\n add.u64 %d7, %d3, %d6;\n"                             \
    " st.global.u32 [%d7], %r20;\n add.u64 %d7, %d7, %d8;\n st.global.u32 [%d7], %r21;\n"

/*
 * Attention of one query position. Block x has up to four queries of a head of keys, and part y of
 * the keys; each of its four warps takes every fourth key of it. A thread has the halves 2t and
 * 2t + 1 of keys and values, and 64 further on where heads have 128. The next key and value are
 * loaded while one is worked on. For each query a warp keeps the highest score m, the sum l of
 * 2^(score - m), and the values c weighted so: it writes them as floats, c after m and l.
 */
/* The query that a thread has is the last of the group where there are fewer than four. */
#define LOAD_QUERY(i)                                                                              \
    " add.u32 %r20, %r11, " #i ";\n sub.u32 %r21, %r7, 1;\n min.u32 %r20, %r20, %r21;\n"           \
    " mad.lo.u32 %r20, %r10, %r7, %r20;\n mov.u32 %u" #i ", %r20;\n"                               \
    " mad.lo.u32 %r20, %r20, %r6, %r12;\n mul.wide.u32 %d6, %r20, 2;\n add.u64 %d6, %d1, %d6;\n"   \
    " ld.global.u32 %r20, [%d6];\n" UNPACK(                                                        \
        "%q" #i "_0", "%q" #i "_1",                                                                \
        "%r20") " mov.u32 %r20, 0;\n @%w ld.global.u32 %r20, "                                     \
                "[%d6+128];\n" UNPACK("%q" #i "_2", "%q" #i "_3",                                  \
                                      "%r20") " mov.f32 %m" #i ", 0fFF800000;\n mov.f32 "          \
                                              "%l" #i ", 0f00000000;\n"                            \
                                              " mov.f32 %c" #i "_0, 0f00000000;\n "                \
                                              "mov.f32 %c" #i "_1, 0f00000000;\n"                  \
                                              " mov.f32 %c" #i "_2, 0f00000000;\n "                \
                                              "mov.f32 %c" #i "_3, 0f00000000;\n"
#define WEIGH(i, k)                                                                                \
    " mul.f32 %c" #i "_" #k ", %c" #i "_" #k ", %f10;\n fma.rn.f32 %c" #i "_" #k ", %f11, %v" #k   \
    ", %c" #i "_" #k ";\n"
#define ATTEND_QUERY(i)                                                                            \
    " mul.f32 %f9, %q" #i "_0, %k0;\n fma.rn.f32 %f9, %q" #i "_1, %k1, %f9;\n"                     \
    " fma.rn.f32 %f9, %q" #i "_2, %k2, %f9;\n fma.rn.f32 %f9, %q" #i "_3, %k3, %f9;\n" SUM(        \
        "%f9") " max.f32 %f12, %m" #i ", %f9;\n sub.f32 %f10, %m" #i                               \
               ", %f12;\n ex2.approx.f32 %f10, %f10;\n"                                            \
               " sub.f32 %f11, %f9, %f12;\n ex2.approx.f32 %f11, %f11;\n mov.f32 %m" #i            \
               ", %f12;\n"                                                                         \
               " fma.rn.f32 %l" #i ", %l" #i ", %f10, %f11;\n" WEIGH(i, 0) WEIGH(i, 1) WEIGH(i, 2) \
                   WEIGH(i, 3)
/* Part r18 of query u: dim + 2 floats, at d3. */
#define STORE_QUERY(i)                                                                             \
    " mad.lo.u32 %r20, %u" #i ", %r19, %r18;\n add.u32 %r21, %r6, 2;\n"                            \
    " mul.lo.u32 %r20, %r20, %r21;\n mul.wide.u32 %d6, %r20, 4;\n add.u64 %d6, %d3, %d6;\n"        \
    " st.global.f32 [%d6], %m" #i ";\n st.global.f32 [%d6+4], %l" #i ";\n"                         \
    " mul.wide.u32 %d7, %r12, 4;\n add.u64 %d6, %d6, %d7;\n st.global.f32 [%d6+8], %c" #i "_0;\n"  \
    " st.global.f32 [%d6+12], %c" #i "_1;\n @%w st.global.f32 [%d6+264], %c" #i "_2;\n"            \
    " @%w st.global.f32 [%d6+268], %c" #i "_3;\n"
/* Loads a key and its value at r16, the number of the key. */
#define FETCH                                                                                      \
    " mul.wide.u32 %d6, %r16, %r6;\n shl.b64 %d6, %d6, 1;\n add.u64 %d7, %d4, %d6;\n"              \
    " add.u64 %d8, %d5, %d6;\n ld.global.nc.u32 %n0, [%d7];\n ld.global.nc.u32 %n2, [%d8];\n"      \
    " @%w ld.global.nc.u32 %n1, [%d7+128];\n @%w ld.global.nc.u32 %n3, [%d8+128];\n"
#define REGISTERS_OF(i) " .reg .f32 %q" #i "_<4>;\n .reg .f32 %c" #i "_<4>;\n"

#define ATTEND_HEAD                                                                                \
    ".visible .entry roof_attend(.param .u64 queries, .param .u64 cache, .param .u64 parts,"       \
    " .param .u32 heads, .param .u32 keys, .param .u32 dim, .param .u32 group,"                    \
    " .param .u32 each)\n{\n .reg .pred %p;\n .reg .pred %w;\n .reg .b32 %r<24>;\n"                \
    " .reg .b64 %d<16>;\n .reg .f32 %f<16>;\n .reg .f32 %s<2>;\n .reg .b16 %h<2>;\n"               \
    " .reg .b32 %u<4>;\n .reg .b32 %n<4>;\n .reg .f32 %k<4>;\n .reg .f32 %v<4>;\n"                 \
    " .reg .f32 %m<4>;\n .reg .f32 %l<4>;\n" REGISTERS_OF(0) REGISTERS_OF(1) REGISTERS_OF(2)       \
        REGISTERS_OF(3) ADDRESS("1", "queries") ADDRESS("2", "cache") ADDRESS("3", "parts")
/* r4 heads of keys of all sequences, r5 keys, r6 halves of a head, r7 queries of a head of keys, r8
 * keys of a part. r10 is the head of keys of the block and r11 its first query; r12 the first half
 * of the thread; r16 the key at hand and r17 the end; r18 the part and r19 how many there are. */
#define ATTEND_BEGIN                                                                               \
    " ld.param.u32 %r4, [heads];\n ld.param.u32 %r5, [keys];\n ld.param.u32 %r6, [dim];\n"         \
    " ld.param.u32 %r7, [group];\n ld.param.u32 %r8, [each];\n setp.gt.u32 %w, %r6, 64;\n"         \
    " mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n add.u32 %r9, %r7, 3;\n"                      \
    " shr.u32 %r9, %r9, 2;\n div.u32 %r10, %r2, %r9;\n mul.lo.u32 %r11, %r10, %r9;\n"              \
    " sub.u32 %r11, %r2, %r11;\n shl.b32 %r11, %r11, 2;\n and.b32 %r12, %r1, 31;\n"                \
    " shl.b32 %r12, %r12, 1;\n shr.u32 %r13, %r1, 5;\n mov.u32 %r14, %ctaid.y;\n"                  \
    " mov.u32 %r15, %nctaid.y;\n mad.lo.u32 %r16, %r14, %r8, %r13;\n"                              \
    " mad.lo.u32 %r17, %r14, %r8, %r8;\n min.u32 %r17, %r17, %r5;\n shl.b32 %r18, %r14, 2;\n"      \
    " add.u32 %r18, %r18, %r13;\n shl.b32 %r19, %r15, 2;\n mul.wide.u32 %d4, %r10, %r5;\n"         \
    " cvt.u64.u32 %d5, %r6;\n mul.lo.u64 %d4, %d4, %d5;\n cvt.u64.u32 %d6, %r12;\n"                \
    " add.u64 %d4, %d4, %d6;\n shl.b64 %d4, %d4, 1;\n add.u64 %d4, %d2, %d4;\n"                    \
    " mul.wide.u32 %d7, %r4, %r5;\n mul.lo.u64 %d7, %d7, %d5;\n shl.b64 %d7, %d7, 1;\n"            \
    " add.u64 %d5, %d4, %d7;\n mov.u32 %n1, 0;\n mov.u32 %n3, 0;\n"
#define ATTEND_LOOP                                                                                \
    " setp.ge.u32 %p, %r16, %r17;\n @%p bra ATTENDED;\n" FETCH                                     \
    "ATTEND:\n" UNPACK("%k0", "%k1", "%n0") UNPACK("%k2", "%k3", "%n1")                            \
        UNPACK("%v0", "%v1", "%n2")                                                                \
            UNPACK("%v2", "%v3", "%n3") " add.u32 %r16, %r16, 4;\n setp.lt.u32 %p, %r16, %r17;\n"  \
                                        " @!%p bra WAIT;\n" FETCH "WAIT:\n"

/* Block x has one query and thread t element t of its result: a has the parts, of which there are
 * `rows`, and size is that of a head. */
#define MERGE                                                                                      \
    ".visible .entry roof_merge" ROWS_PARAMETERS ROWS_HEAD                                         \
    " ld.param.u32 %r4, [rows];\n add.u32 %r10, %r9, 2;\n mul.lo.u32 %r11, %r2, %r4;\n"            \
    " mul.wide.u32 %d4, %r11, %r10;\n shl.b64 %d4, %d4, 2;\n add.u64 %d4, %d1, %d4;\n"             \
    " mul.wide.u32 %d5, %r10, 4;\n mov.u32 %r5, 0;\n mov.u64 %d6, %d4;\n"                          \
    " mov.f32 %f1, 0fFF7FFFFF;\nHIGHEST:\n ld.global.f32 %f2, [%d6];\n max.f32 %f1, %f1, %f2;\n"   \
    " add.u64 %d6, %d6, %d5;\n add.u32 %r5, %r5, 1;\n setp.lt.u32 %p, %r5, %r4;\n"                 \
    " @%p bra HIGHEST;\n mov.u32 %r5, 0;\n mov.u64 %d6, %d4;\n mul.wide.u32 %d7, %r1, 4;\n"        \
    " mov.f32 %f3, 0f00000000;\n mov.f32 %f4, 0f00000000;\nADDING:\n ld.global.f32 %f2, [%d6];\n"  \
    " sub.f32 %f2, %f2, %f1;\n ex2.approx.f32 %f2, %f2;\n ld.global.f32 %f5, [%d6+4];\n"           \
    " fma.rn.f32 %f3, %f2, %f5, %f3;\n add.u64 %d8, %d6, %d7;\n ld.global.f32 %f5, [%d8+8];\n"     \
    " fma.rn.f32 %f4, %f2, %f5, %f4;\n add.u64 %d6, %d6, %d5;\n add.u32 %r5, %r5, 1;\n"            \
    " setp.lt.u32 %p, %r5, %r4;\n @%p bra ADDING;\n div.approx.f32 %f4, %f4, %f3;\n"               \
    " mad.lo.u32 %r6, %r2, %r9, %r1;\n mul.wide.u32 %d6, %r6, 2;\n add.u64 %d6, %d3, %d6;\n"       \
    " cvt.rn.f16.f32 %h0, %f4;\n st.global.b16 [%d6], %h0;\n ret;\n}\n"

/* One text for each kernel, or a part of one: C11 promises no longer strings. */
static const char *const texts[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n",
    NORM,
    FLAT("roof_add", FLAT_ALL,
         FLAT_LOAD " add.f16x2 %r10, %r10, %r11;\n st.global.u32 [%d7], %r10;\n"),
    FLAT("roof_gate", FLAT_ALL,
         FLAT_LOAD UNPACK("%f2", "%f3", "%r10") UNPACK("%f4", "%f5", "%r11") SILU("%f2")
             SILU("%f3") " mul.f32 %f2, %f2, %f4;\n mul.f32 %f3, %f3, %f5;\n" PACK(
                 "%r10", "%f2", "%f3") " st.global.u32 [%d7], %r10;\n"),
    FLAT("roof_rotate", ROTATE_HALF, ROTATE),
    ATTEND_HEAD,
    ATTEND_BEGIN,
    LOAD_QUERY(0) LOAD_QUERY(1),
    LOAD_QUERY(2) LOAD_QUERY(3),
    ATTEND_LOOP,
    ATTEND_QUERY(0),
    ATTEND_QUERY(1),
    ATTEND_QUERY(2),
    ATTEND_QUERY(3) " @%p bra ATTEND;\nATTENDED:\n",
    STORE_QUERY(0) STORE_QUERY(1) STORE_QUERY(2) STORE_QUERY(3) " ret;\n}\n",
    MERGE};

void roof_cuda_vector_ptx(struct roof_text *out)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        roof_text_put(out, texts[i]);
    }
}

static const char *const names[ROOF_CUDA_VECTORS] = {
    [ROOF_CUDA_NORM] = "roof_norm",     [ROOF_CUDA_ADD] = "roof_add",
    [ROOF_CUDA_GATE] = "roof_gate",     [ROOF_CUDA_ROTATE] = "roof_rotate",
    [ROOF_CUDA_ATTEND] = "roof_attend", [ROOF_CUDA_MERGE] = "roof_merge"};

enum roof_status roof_cuda_vectors_open(struct roof_cuda_vectors *out, const struct roof_cuda *cuda,
                                        struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    roof_cuda_vector_ptx(&text);
    const enum roof_status status =
        roof_cuda_load(&out->module, out->function, cuda, &text, names, ROOF_CUDA_VECTORS, error);
    roof_text_free(&text);
    return status;
}

void roof_cuda_vectors_close(struct roof_cuda_vectors *vectors, const struct roof_cuda *cuda)
{
    roof_cuda_unload(cuda, vectors->module);
    *vectors = (struct roof_cuda_vectors){.module = NULL};
}

/* --- which operators ----------------------------------------------------------------------- */

#define HALF 2 /* bytes */
/* Data of a call begins at multiples of this. */
#define ALIGNED 256

static int64_t aligned(int64_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* The operators that go over rows, and their kernels. */
static const struct {
    enum roof_operator op;
    enum roof_cuda_vector_kernel kernel;
} rows[] = {{ROOF_OPERATOR_RMSNORM, ROOF_CUDA_NORM},
            {ROOF_OPERATOR_ADD, ROOF_CUDA_ADD},
            {ROOF_OPERATOR_SILU_MUL, ROOF_CUDA_GATE},
            {ROOF_OPERATOR_ROPE, ROOF_CUDA_ROTATE}};

/* Returns the place of an operator in rows[]; COUNT(rows): it is not there. */
static size_t find_row(enum roof_operator op)
{
    size_t i = 0;
    while (i < COUNT(rows) && rows[i].op != op) {
        i++;
    }
    return i;
}

/* Returns the halves of a row, and how many rows there are: heads for RoPE. */
static int64_t row_size(int64_t *count, const struct roof_workload *w)
{
    const bool rope = w->op == ROOF_OPERATOR_ROPE;
    *count = w->shape.tokens * (rope ? w->shape.heads + w->shape.kv_heads : 1);
    return rope ? w->shape.head_dim : w->shape.hidden;
}

bool roof_cuda_vector_able(const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    const bool attention = w->op == ROOF_OPERATOR_FLASH_ATTENTION;
    const enum roof_precision format = attention ? w->formats.kv : w->formats.activations;
    int64_t count = 0;
    if (format != ROOF_PRECISION_FP16 && format != ROOF_PRECISION_BF16) {
        return false; /* bf16 takes as long as fp16, in which the kernels are */
    }
    if (attention) {
        return s->query_len == 1 && (s->head_dim == 64 || s->head_dim == 128) &&
               (s->window == 0 || s->window >= s->kv_len) && s->heads % s->kv_heads == 0;
    }
    const bool known = find_row(w->op) < COUNT(rows);
    const int64_t size = known ? row_size(&count, w) : 0;
    return known && size % (w->op == ROOF_OPERATOR_ROPE ? 4 : 2) == 0 && count * size < INT32_MAX;
}

/* --- attention ----------------------------------------------------------------------------- */

#define ATTEND_QUERIES 4
#define ATTEND_WARPS 4
#define WARP 32
/* Keys of a part, at least, and parts of a cache, at most. */
#define PART_KEYS 64
#define PARTS_MAX 32

/* The sizes of a launch, and where its arrays begin. */
struct attention {
    int64_t heads;  /* of keys, of all sequences */
    int64_t group;  /* queries of each */
    int64_t blocks; /* of queries */
    int64_t parts;
    int64_t each; /* keys of a part */
    int64_t queries_at;
    int64_t parts_at;
    int64_t out_at;
    int64_t bytes;
};

/* Cuts the keys so that every SM has two blocks, where there are enough of them. */
static struct attention attention_of(const struct roof_cuda *cuda, const struct roof_workload *w)
{
    const struct roof_shape *const s = &w->shape;
    struct attention a = {.heads = s->batch * s->kv_heads, .group = s->heads / s->kv_heads};
    a.blocks = a.heads * ((a.group + ATTEND_QUERIES - 1) / ATTEND_QUERIES);
    const int64_t wanted = (2 * (int64_t)cuda->units + a.blocks - 1) / a.blocks;
    const int64_t most = (s->kv_len + PART_KEYS - 1) / PART_KEYS;
    a.parts = wanted < most ? wanted : most;
    a.parts = a.parts > PARTS_MAX ? PARTS_MAX : a.parts;
    a.each = (s->kv_len + a.parts - 1) / a.parts;
    a.queries_at = aligned((int64_t)2 * HALF * a.heads * s->kv_len * s->head_dim);
    a.parts_at = a.queries_at + aligned(HALF * a.heads * a.group * s->head_dim);
    a.out_at = a.parts_at + aligned((int64_t)sizeof(float) * a.heads * a.group * a.parts *
                                    ATTEND_WARPS * (s->head_dim + 2));
    a.bytes = a.out_at + aligned(HALF * a.heads * a.group * s->head_dim);
    return a;
}

static enum roof_status attend(const struct roof_cuda *cuda,
                               const struct roof_cuda_vectors *vectors,
                               const struct roof_workload *w, uint64_t data,
                               struct roof_error *error)
{
    const struct attention a = attention_of(cuda, w);
    uint64_t cache = data;
    uint64_t queries = data + (uint64_t)a.queries_at;
    uint64_t parts = data + (uint64_t)a.parts_at;
    uint64_t out = data + (uint64_t)a.out_at;
    uint32_t heads = (uint32_t)a.heads;
    uint32_t keys = (uint32_t)w->shape.kv_len;
    uint32_t dim = (uint32_t)w->shape.head_dim;
    uint32_t group = (uint32_t)a.group;
    uint32_t each = (uint32_t)a.each;
    uint32_t count = (uint32_t)(a.parts * ATTEND_WARPS);
    void *attending[] = {&queries, &cache, &parts, &heads, &keys, &dim, &group, &each};
    void *merging[] = {&parts, &parts, &out, &count, &dim};
    ROOF_CUDA(cuda, cuLaunchKernel, vectors->function[ROOF_CUDA_ATTEND], (unsigned)a.blocks,
              (unsigned)a.parts, 1, WARP * ATTEND_WARPS, 1, 1, 0, cuda->stream, attending, NULL);
    ROOF_CUDA(cuda, cuLaunchKernel, vectors->function[ROOF_CUDA_MERGE],
              (unsigned)(a.heads * a.group), 1, 1, (unsigned)dim, 1, 1, 0, cuda->stream, merging,
              NULL);
    return ROOF_OK;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Threads of a block, which a norm has for a row. */
#define THREADS 256
/* Blocks of other kernels for each SM, at most. */
#define BLOCKS 8

int64_t roof_cuda_vector_bytes(const struct roof_cuda *cuda, const struct roof_workload *w)
{
    if (w->op == ROOF_OPERATOR_FLASH_ATTENTION) {
        return attention_of(cuda, w).bytes;
    }
    int64_t count = 0;
    const int64_t size = row_size(&count, w);
    return 3 * aligned(HALF * count * size);
}

enum roof_status roof_cuda_vector_run(const struct roof_cuda *cuda,
                                      const struct roof_cuda_vectors *vectors,
                                      const struct roof_workload *w, uint64_t data,
                                      struct roof_error *error)
{
    if (w->op == ROOF_OPERATOR_FLASH_ATTENTION) {
        return attend(cuda, vectors, w, data, error);
    }
    int64_t count = 0;
    const int64_t size = row_size(&count, w);
    const uint64_t array = (uint64_t)aligned(HALF * count * size);
    const enum roof_cuda_vector_kernel kernel = rows[find_row(w->op)].kernel;
    const int64_t blocks = (count * size / 2 + THREADS - 1) / THREADS;
    const int64_t most = kernel == ROOF_CUDA_NORM ? count : (int64_t)cuda->units * BLOCKS;
    uint64_t a = data;
    uint64_t b = data + array;
    uint64_t out = data + 2 * array;
    uint32_t number = (uint32_t)count;
    uint32_t width = (uint32_t)size;
    void *parameters[] = {&a, &b, &out, &number, &width};
    ROOF_CUDA(cuda, cuLaunchKernel, vectors->function[kernel],
              (unsigned)(kernel == ROOF_CUDA_NORM || blocks > most ? most : blocks), 1, 1, THREADS,
              1, 1, 0, cuda->stream, parameters, NULL);
    return ROOF_OK;
}
