// SPDX-License-Identifier: MIT
/* Our own kernels of probes on NVIDIA GPUs, as PTX, which the driver compiles for the device. */
#include "measure/cuda_kernels.h"
#include "base/base.h"

/*
 * The text follows the PTX ISA reference (docs.nvidia.com/cuda/parallel-thread-execution). Its
 * target is sm_70, the oldest GPU with a calibration; drivers compile it for newer ones.
 *
 * read, copy and triad: thread t of T handles the vectors t, t + T, t + 2T, ... of 16 bytes, four
 * at a time while there are four, so that each SM has enough loads under way.
 */
#define FOUR(text) text text text text
#define HEAD                                                                                       \
    " .reg .pred %p;\n .reg .b32 %r<48>;\n .reg .b64 %d<24>;\n"                                    \
    " mov.u32 %r1, %ctaid.x;\n mov.u32 %r2, %ntid.x;\n mov.u32 %r3, %tid.x;\n"                     \
    " mov.u32 %r4, %nctaid.x;\n mad.lo.u32 %r5, %r1, %r2, %r3;\n mul.lo.u32 %r6, %r4, %r2;\n"      \
    " cvt.u64.u32 %d1, %r5;\n cvt.u64.u32 %d2, %r6;\n"
/* d3: vectors, d4.. arrays; d1: the vector at hand, d2: how many threads there are; d10: 16 d2. The
 * arrays are read r40 times. Loads bypass the L1 cache (.cg), in which an SM would find the data of
 * the pass before. */
#define ARRAY(number, name)                                                                        \
    " ld.param.u64 %d" number ", [" name "];\n cvta.to.global.u64 %d" number ", %d" number ";\n"
#define WALK(kernel, four, one)                                                                    \
    " ld.param.u32 %r40, [passes];\n mov.u64 %d20, %d1;\n"                                         \
    " shl.b64 %d10, %d2, 4;\n mul.lo.u64 %d11, %d2, 3;\n"                                          \
    "AGAIN_" kernel ":\n mov.u64 %d1, %d20;\n"                                                     \
    "WIDE_" kernel                                                                                 \
    ":\n add.u64 %d12, %d1, %d11;\n setp.ge.u64 %p, %d12, %d3;\n @%p bra NARROW_" kernel           \
    ";\n shl.b64 %d13, %d1, 4;\n" four " mad.lo.u64 %d1, %d2, 4, %d1;\n bra WIDE_" kernel          \
    ";\nNARROW_" kernel ":\n setp.ge.u64 %p, %d1, %d3;\n @%p bra END_" kernel                      \
    ";\n shl.b64 %d13, %d1, 4;\n" one " add.u64 %d1, %d1, %d2;\n bra NARROW_" kernel               \
    ";\nEND_" kernel                                                                               \
    ":\n sub.u32 %r40, %r40, 1;\n setp.ne.u32 %p, %r40, 0;\n @%p bra AGAIN_" kernel ";\n"
#define LOAD(first, second, third, fourth, address)                                                \
    " ld.global.cg.v4.u32 {%r" first ", %r" second ", %r" third ", %r" fourth "}, [%d" address     \
    "];\n"
#define STORE(first, second, third, fourth, address)                                               \
    " st.global.v4.u32 [%d" address "], {%r" first ", %r" second ", %r" third ", %r" fourth "};\n"
#define XOR(value) " xor.b32 %r7, %r7, %r" value ";\n"
#define XOR4(a, b, c, d) XOR(a) XOR(b) XOR(c) XOR(d)
#define NEXT(to, from) " add.u64 %d" to ", %d" from ", %d10;\n"
#define TRIPLE(b, c) " fma.rn.f32 %f" b ", %f" c ", %f0, %f" b ";\n"

/* a = b + s c of one vector: b at d14, c at d15, a at d16. */
#define TRIAD_ONE                                                                                  \
    " ld.global.cg.v4.f32 {%f1, %f2, %f3, %f4}, [%d14];\n"                                         \
    " ld.global.cg.v4.f32 {%f5, %f6, %f7, %f8}, [%d15];\n" TRIPLE("1", "5") TRIPLE("2", "6")       \
        TRIPLE("3", "7") TRIPLE("4", "8") " st.global.v4.f32 [%d16], {%f1, %f2, %f3, %f4};\n"
#define TRIAD_AT " add.u64 %d14, %d5, %d13;\n add.u64 %d15, %d6, %d13;\n add.u64 %d16, %d4, %d13;\n"
#define TRIAD_STEP NEXT("14", "14") NEXT("15", "15") NEXT("16", "16")

/* Eight chains of multiplications and additions, none of which waits for another. */
#define CHAINS(operation, type)                                                                    \
    " " operation " %" type "1, %" type "1, %" type "9, %" type "10;\n"                            \
    " " operation " %" type "2, %" type "2, %" type "9, %" type "10;\n"                            \
    " " operation " %" type "3, %" type "3, %" type "9, %" type "10;\n"                            \
    " " operation " %" type "4, %" type "4, %" type "9, %" type "10;\n"                            \
    " " operation " %" type "5, %" type "5, %" type "9, %" type "10;\n"                            \
    " " operation " %" type "6, %" type "6, %" type "9, %" type "10;\n"                            \
    " " operation " %" type "7, %" type "7, %" type "9, %" type "10;\n"                            \
    " " operation " %" type "8, %" type "8, %" type "9, %" type "10;\n"
/* Eight different numbers from that of the thread: equal chains would become one. */
#define AFTER(add, type, to, from, one) " " add " %" type to ", %" type from ", " one ";\n"
#define EACH(convert, add, type, one)                                                              \
    " mov.u32 %r21, %tid.x;\n " convert " %" type "1, %r21;\n" AFTER(add, type, "2", "1", one)     \
        AFTER(add, type, "3", "2", one) AFTER(add, type, "4", "3", one)                            \
            AFTER(add, type, "5", "4", one) AFTER(add, type, "6", "5", one)                        \
                AFTER(add, type, "7", "6", one) AFTER(add, type, "8", "7", one)
/* Runs 64 operations in each of so many rounds. The results are stored only if they are not finite,
 * which never happens, because x = x / 2 + 1 converges to 2. */
#define MULTIPLY(name, registers, begin, operation, type, test)                                    \
    ".visible .entry " name "(.param .u64 buffer, .param .u32 rounds)\n{\n"                        \
    " .reg .pred %p;\n .reg .b32 %r<24>;\n .reg .b64 %d<24>;\n" registers                          \
    " ld.param.u32 %r20, [rounds];\n" begin "ROUND_" name ":\n" FOUR(CHAINS(operation, type))      \
        FOUR(CHAINS(operation, type)) " sub.u32 %r20, %r20, 1;\n setp.ne.u32 %p, %r20, 0;\n"       \
                                      " @%p bra ROUND_" name ";\n" test " ret;\n}\n"

/* There is one text for each kernel, because C11 limits the length of strings. */
static const char *const texts[] = {
    ".version 6.0\n.target sm_70\n.address_size 64\n",
    ".visible .entry roof_read(.param .u64 from, .param .u64 vectors, .param .u32 passes)\n{\n" HEAD
    " ld.param.u64 %d3, [vectors];\n" ARRAY("4", "from") " mov.u32 %r7, 0;\n" WALK(
        "read",
        " add.u64 %d14, %d4, %d13;\n" NEXT("15", "14") NEXT("16", "15") NEXT("17", "16")
            LOAD("8", "9", "10", "11", "14") LOAD("12", "13", "14", "15", "15")
                LOAD("16", "17", "18", "19", "16") LOAD("20", "21", "22", "23", "17")
                    XOR4("8", "9", "10", "11") XOR4("12", "13", "14", "15")
                        XOR4("16", "17", "18", "19") XOR4("20", "21", "22", "23"),
        " add.u64 %d14, %d4, %d13;\n" LOAD("8", "9", "10", "11", "14") XOR4("8", "9", "10", "11"))
    /* The sum is used, so that no load can be removed; it practically never has this value. */
    " setp.ne.u32 %p, %r7, 2596069104;\n @%p bra LEAVE_read;\n st.global.u32 [%d4], %r7;\n"
    "LEAVE_read:\n ret;\n}\n",
    ".visible .entry roof_copy(.param .u64 from, .param .u64 vectors, .param .u32 passes,"
    " .param .u64 to)\n{\n" HEAD
    " ld.param.u64 %d3, [vectors];\n" ARRAY("4", "from") ARRAY("5", "to") WALK(
        "copy",
        " add.u64 %d14, %d4, %d13;\n" NEXT("15", "14") NEXT("16", "15") NEXT("17", "16")
            LOAD("8", "9", "10", "11", "14") LOAD("12", "13", "14", "15", "15")
                LOAD("16", "17", "18", "19", "16") LOAD(
                    "20", "21", "22", "23", "17") " add.u64 %d14, %d5, %d13;\n" NEXT("15", "14")
                    NEXT("16", "15") NEXT("17", "16") STORE("8", "9", "10", "11", "14")
                        STORE("12", "13", "14", "15", "15") STORE("16", "17", "18", "19", "16")
                            STORE("20", "21", "22", "23", "17"),
        " add.u64 %d14, %d4, %d13;\n" LOAD(
            "8", "9", "10", "11", "14") " add.u64 %d14, %d5, %d13;\n" STORE("8", "9", "10", "11",
                                                                            "14")) " ret;\n}\n",
    ".visible .entry roof_triad(.param .u64 to, .param .u64 vectors, .param .u32 passes,"
    " .param .u64 b,"
    " .param .u64 c)\n{\n" HEAD " .reg .f32 %f<12>;\n mov.f32 %f0, "
    "0f3F000000;\n"
    " ld.param.u64 %d3, "
    "[vectors];\n" ARRAY("4", "to") ARRAY("5", "b") ARRAY("6", "c") WALK(
        "triad", TRIAD_AT TRIAD_ONE TRIAD_STEP TRIAD_ONE TRIAD_STEP TRIAD_ONE TRIAD_STEP TRIAD_ONE,
        TRIAD_AT TRIAD_ONE) " ret;\n}\n",
    MULTIPLY("roof_multiply_fp32", " .reg .f32 %f<16>;\n",
             EACH("cvt.rn.f32.u32", "add.f32", "f",
                  "0f3F800000") " mov.b32 %f9, 0x3F000000;\n mov.b32 %f10, 0x3F800000;\n",
             "fma.rn.f32", "f",
             " add.f32 %f1, %f1, %f2;\n add.f32 %f3, %f3, %f4;\n add.f32 %f5, %f5, %f6;\n"
             " add.f32 %f7, %f7, %f8;\n add.f32 %f1, %f1, %f3;\n add.f32 %f5, %f5, %f7;\n"
             " add.f32 %f1, %f1, %f5;\n ld.param.u64 %d1, [buffer];\n"
             " cvta.to.global.u64 %d1, %d1;\n setp.lt.f32 %p, %f1, 0f60000000;\n"
             " @%p bra LEAVE_fp32;\n st.global.f32 [%d1], %f1;\nLEAVE_fp32:\n"),
    MULTIPLY("roof_multiply_fp16", " .reg .b32 %h<16>;\n",
             /* The constants come from a parameter, because instructions with an immediate constant
              * run on half of the units. */
             EACH("mov.b32", "add.u32", "h",
                  "1") " shr.u32 %h9, %r20, 31;\n add.u32 %h10, %h9, 0x3C003C00;\n"
                       " add.u32 %h9, %h9, 0x38003800;\n",
             "fma.rn.f16x2", "h",
             " or.b32 %h1, %h1, %h2;\n or.b32 %h3, %h3, %h4;\n or.b32 %h5, %h5, %h6;\n"
             " or.b32 %h7, %h7, %h8;\n or.b32 %h1, %h1, %h3;\n or.b32 %h5, %h5, %h7;\n"
             " or.b32 %h1, %h1, %h5;\n ld.param.u64 %d1, [buffer];\n"
             " cvta.to.global.u64 %d1, %d1;\n setp.lt.u32 %p, %h1, 0x7C007C00;\n"
             " @%p bra LEAVE_fp16;\n st.global.u32 [%d1], %h1;\nLEAVE_fp16:\n"),
    MULTIPLY("roof_multiply_fp64", " .reg .f64 %g<16>;\n",
             EACH("cvt.rn.f64.u32", "add.f64", "g",
                  "0d3FF0000000000000") " mov.f64 %g9, 0d3FE0000000000000;\n"
                                        " mov.f64 %g10, 0d3FF0000000000000;\n",
             "fma.rn.f64", "g",
             " add.f64 %g1, %g1, %g2;\n add.f64 %g3, %g3, %g4;\n add.f64 %g5, %g5, %g6;\n"
             " add.f64 %g7, %g7, %g8;\n add.f64 %g1, %g1, %g3;\n add.f64 %g5, %g5, %g7;\n"
             " add.f64 %g1, %g1, %g5;\n ld.param.u64 %d1, [buffer];\n"
             " cvta.to.global.u64 %d1, %d1;\n setp.lt.f64 %p, %g1, 0d7FE0000000000000;\n"
             " @%p bra LEAVE_fp64;\n st.global.f64 [%d1], %g1;\nLEAVE_fp64:\n"),
    ".visible .entry roof_nothing(.param .u64 buffer)\n{\n ret;\n}\n"};

void roof_cuda_ptx(struct roof_text *out)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        roof_text_put(out, texts[i]);
    }
}
