// SPDX-License-Identifier: MIT
#include "catalog/precision.h"

#include <assert.h>
#include <strings.h>

#include "base/base.h"
#include "base/nearest.h"
#include "catalog/storage.h"

/*
 * Block layouts: format, elements, bits of all fields of a block, bytes. The bits come from the
 * definition of the block (element bits, then scales and other fields), the bytes from the size
 * that the format's implementations state; they must agree.
 *
 * Sources: OCP Microscaling v1.0 (MX: 32 elements, one E8M0 byte); NVIDIA NVFP4 (16 elements, one
 * E4M3 byte, one FP32 per tensor); bitsandbytes functional.py (NF4, FP4: absmax per 64 elements;
 * double quantisation: 8-bit absmax, FP32 per 256 of them); ggml-common.h at commit d99724f (GGUF
 * blocks); AWQ and GPTQ checkpoints (FP16 scale and packed zero points per group).
 */
#define BLOCKS(X)                                                                                  \
    X(FP64, 1, 64, 8)                                                                              \
    X(FP32, 1, 32, 4)                                                                              \
    X(TF32, 1, 32, 4) /* a 32-bit container: 19 bits matter, 32 move */                            \
    X(BF16, 1, 16, 2)                                                                              \
    X(FP16, 1, 16, 2)                                                                              \
    X(FP8_E4M3, 1, 8, 1)                                                                           \
    X(FP8_E5M2, 1, 8, 1)                                                                           \
    X(INT8, 1, 8, 1)                                                                               \
    X(INT4, 2, 2 * 4, 1)                                                                           \
    X(INT2, 4, 4 * 2, 1)                                                                           \
    X(MXFP8_E4M3, 32, 32 * 8 + 8, 33)                                                              \
    X(MXFP8_E5M2, 32, 32 * 8 + 8, 33)                                                              \
    X(MXFP6_E3M2, 32, 32 * 6 + 8, 25)                                                              \
    X(MXFP6_E2M3, 32, 32 * 6 + 8, 25)                                                              \
    X(MXFP4, 32, 32 * 4 + 8, 17)                                                                   \
    X(MXINT8, 32, 32 * 8 + 8, 33)                                                                  \
    X(NVFP4, 16, 16 * 4 + 8, 9)                                                                    \
    X(NF4, 64, 64 * 4 + 16, 34)                                                                    \
    X(NF4_FP32, 64, 64 * 4 + 32, 36)                                                               \
    X(NF4_DQ, 64 * 256, 256 * (64 * 4 + 8) + 32, 8452)                                             \
    X(FP4_BNB, 64, 64 * 4 + 32, 36)                                                                \
    X(INT4_G128, 128, 128 * 4 + 16, 66)                                                            \
    X(INT4_G128_ZP, 256, 2 * (128 * 4 + 16 + 4), 133) /* two groups make whole bytes */            \
    X(INT4_G64_ZP, 128, 2 * (64 * 4 + 16 + 4), 69)                                                 \
    X(INT4_G32_ZP, 64, 2 * (32 * 4 + 16 + 4), 37)                                                  \
    X(INT8_CHANNEL, 1, 8, 1)                                                                       \
    X(FP8_BLOCK128, 128 * 128, 128 * 128 * 8 + 32, 16388)                                          \
    X(Q1_0, 128, 16 + 128 * 1, 18)                                                                 \
    X(Q2_0, 64, 16 + 64 * 2, 18)                                                                   \
    X(Q4_0, 32, 16 + 32 * 4, 18)                                                                   \
    X(Q4_1, 32, 16 + 16 + 32 * 4, 20)                                                              \
    X(Q5_0, 32, 16 + 32 * 5, 22)                                                                   \
    X(Q5_1, 32, 16 + 16 + 32 * 5, 24)                                                              \
    X(Q8_0, 32, 16 + 32 * 8, 34)                                                                   \
    X(Q8_1, 32, 16 + 16 + 32 * 8, 36)                                                              \
    X(Q2_K, 256, 16 + 16 + 16 * (4 + 4) + 256 * 2, 84)                                             \
    X(Q3_K, 256, 16 + 16 * 6 + 256 * 3, 110)                                                       \
    X(Q4_K, 256, 16 + 16 + 8 * (6 + 6) + 256 * 4, 144)                                             \
    X(Q5_K, 256, 16 + 16 + 8 * (6 + 6) + 256 * 5, 176)                                             \
    X(Q6_K, 256, 16 + 16 * 8 + 256 * 6, 210)                                                       \
    X(Q8_K, 256, 32 + 16 * 16 + 256 * 8, 292)                                                      \
    X(IQ1_S, 256, 16 + 32 * 8 + 8 * 16, 50)                                                        \
    X(IQ1_M, 256, 32 * 8 + 16 * 8 + 8 * 8, 56)                                                     \
    X(IQ2_XXS, 256, 16 + 32 * 16, 66)                                                              \
    X(IQ2_XS, 256, 16 + 32 * 16 + 8 * 8, 74)                                                       \
    X(IQ2_S, 256, 16 + 64 * 8 + 8 * 8 + 8 * 8, 82)                                                 \
    X(IQ3_XXS, 256, 16 + 96 * 8, 98)                                                               \
    X(IQ3_S, 256, 16 + 64 * 8 + 8 * 8 + 32 * 8 + 4 * 8, 110)                                       \
    X(IQ4_NL, 32, 16 + 32 * 4, 18)                                                                 \
    X(IQ4_XS, 256, 16 + 16 + 4 * 8 + 256 * 4, 136)                                                 \
    X(TQ1_0, 256, 16 + 48 * 8 + 4 * 8, 54)                                                         \
    X(TQ2_0, 256, 16 + 256 * 2, 66)                                                                \
    X(INT4_G64, 64, 64 * 4 + 16, 34)                                                               \
    X(INT4_G32, 32, 32 * 4 + 16, 18)

#define CHECK_BLOCK(id, elements, bits, bytes)                                                     \
    static_assert((bits) == 8 * (bytes), #id ": the fields of a block must fill its bytes");
BLOCKS(CHECK_BLOCK)

/* This does not compile if a format lacks a layout or a layout lacks a format. */
#define ONE(id, elements, bits, bytes) +1
static_assert((0 BLOCKS(ONE)) == ROOF_PRECISION_COUNT, "one layout per format");

#define ELEMENTS_OF(id, elements, bits, bytes) id##_ELEMENTS = (elements),
#define BYTES_OF(id, elements, bits, bytes) id##_BYTES = (bytes),
enum block_elements { BLOCKS(ELEMENTS_OF) };
enum block_bytes { BLOCKS(BYTES_OF) };

/* These are the E2M1 magnitudes (OCP MX v1.0, table of FP4): exponent bias 1, one mantissa bit. */
static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

/* The values of NF4 are quantiles of a normal distribution (QLoRA, appendix E; bitsandbytes
 * create_normal_map). */
static const double nf4[] = {-1.0,
                             -0.6961928009986877,
                             -0.5250730514526367,
                             -0.39491748809814453,
                             -0.28444138169288635,
                             -0.18477343022823334,
                             -0.09105003625154495,
                             0.0,
                             0.07958029955625534,
                             0.16093020141124725,
                             0.24611230194568634,
                             0.33791524171829224,
                             0.44070982933044434,
                             0.5626170039176941,
                             0.7229568362236023,
                             1.0};

/* The macros below fill in fields that several rows share; a row has the rest. */
#define END ROOF_PRECISION_AUTO
#define P(id) ROOF_PRECISION_##id
#define BLOCK(id) .block_elements = id##_ELEMENTS, .block_bytes = id##_BYTES
/* SELF: weights and activations can both have the format, and a unit may multiply it. */
#define SELF(id) .activations = P(id), .unit = P(id)
/* STORED: only weights are stored in the format; kernels convert it and multiply at 16 bits. */
#define STORED .activations = P(FP16), .unit = P(FP16), .native_method = ""
#define FALLBACK_16 .fallback = {P(BF16), P(FP16), P(FP32), END}
#define FLOAT(e, m, low, high)                                                                     \
    .element_bits = 1 + (e) + (m), .significant_bits = 1 + (e) + (m), .exponent_bits = (e),        \
    .mantissa_bits = (m), .lowest = (low), .highest = (high)
#define INTEGER(bits, low, high)                                                                   \
    .family = ROOF_FAMILY_INTEGER, .element_bits = (bits), .significant_bits = (bits),             \
    .lowest = (low), .highest = (high)
#define MX(id, name_, alias_, label_, e, m, high, use_)                                            \
    [P(id)] = {.name = (name_),                                                                    \
               .alias = (alias_),                                                                  \
               .label = (label_),                                                                  \
               .family = ROOF_FAMILY_BLOCK_FLOAT,                                                  \
               FLOAT(e, m, -(high), high),                                                         \
               BLOCK(id),                                                                          \
               .scale = "E8M0 per 32",                                                             \
               SELF(id),                                                                           \
               .native_method = "native_" name_,                                                   \
               .weight_method = name_ "_weight_only",                                              \
               .use = (use_),                                                                      \
               FALLBACK_16}
#define GGUF(id, name_, family_, bits, low, high, scale_)                                          \
    [P(id)] = {.name = (name_),                                                                    \
               .label = "GGUF " #id,                                                               \
               .family = (family_),                                                                \
               .element_bits = (bits),                                                             \
               .significant_bits = (bits),                                                         \
               .lowest = (low),                                                                    \
               .highest = (high),                                                                  \
               BLOCK(id),                                                                          \
               .scale = (scale_),                                                                  \
               STORED,                                                                             \
               .weight_method = "gguf",                                                            \
               .use = "llama.cpp weights",                                                         \
               FALLBACK_16}
#define GROUP(id, name_, alias_, method_, low, high, zero_, scale_)                                \
    [P(id)] = {.name = (name_),                                                                    \
               .alias = (alias_),                                                                  \
               .label = "INT4 " scale_,                                                            \
               INTEGER(4, low, high),                                                              \
               BLOCK(id),                                                                          \
               .scale = "FP16" zero_ " per " scale_,                                               \
               STORED,                                                                             \
               .weight_method = (method_),                                                         \
               .use = "weight-only checkpoints (AWQ, GPTQ)",                                       \
               FALLBACK_16}

static const struct roof_format formats[ROOF_PRECISION_COUNT] = {
    [P(FP64)] = {.name = "fp64",
                 .label = "FP64",
                 FLOAT(11, 52, -1.7976931348623157e308, 1.7976931348623157e308),
                 BLOCK(FP64),
                 .scale = "none",
                 SELF(FP64),
                 .native_method = "native_fp64",
                 .use = "reference results",
                 .fallback = {END}},
    [P(FP32)] = {.name = "fp32",
                 .label = "FP32",
                 FLOAT(8, 23, -3.4028234663852886e38, 3.4028234663852886e38),
                 BLOCK(FP32),
                 .scale = "none",
                 SELF(FP32),
                 .native_method = "native_fp32",
                 .use = "baseline; norms, routers, accumulators",
                 .fallback = {P(FP64), END}},
    [P(TF32)] = {.name = "tf32",
                 .label = "TF32",
                 FLOAT(8, 10, -3.4011621342146535e38, 3.4011621342146535e38),
                 BLOCK(TF32),
                 .scale = "none",
                 SELF(TF32),
                 .native_method = "native_tf32",
                 .use = "FP32 data on matrix units",
                 .remark = "roofline's specification gives 2.375 bytes (19 bits); "
                           "19 bits are significant, but 32 are stored and moved",
                 .fallback = {P(FP32), END}},
    [P(BF16)] = {.name = "bf16",
                 .label = "BF16",
                 FLOAT(8, 7, -3.3895313892515355e38, 3.3895313892515355e38),
                 BLOCK(BF16),
                 .scale = "none",
                 SELF(BF16),
                 .native_method = "native_bf16",
                 .use = "training and inference",
                 .fallback = {P(FP32), P(FP16), END}},
    [P(FP16)] = {.name = "fp16",
                 .label = "FP16",
                 FLOAT(5, 10, -65504, 65504),
                 BLOCK(FP16),
                 .scale = "none",
                 SELF(FP16),
                 .native_method = "native_fp16",
                 .use = "standard inference",
                 .fallback = {P(FP32), P(BF16), END}},
    [P(FP8_E4M3)] = {.name = "fp8_e4m3",
                     .alias = "fp8",
                     .label = "FP8 E4M3",
                     FLOAT(4, 3, -448, 448),
                     BLOCK(FP8_E4M3),
                     .scale = "none",
                     SELF(FP8_E4M3),
                     .native_method = "native_fp8",
                     .weight_method = "fp8_weight_only",
                     .use = "weights, activations, KV cache",
                     FALLBACK_16},
    [P(FP8_E5M2)] = {.name = "fp8_e5m2",
                     .label = "FP8 E5M2",
                     FLOAT(5, 2, -57344, 57344),
                     BLOCK(FP8_E5M2),
                     .scale = "none",
                     SELF(FP8_E5M2),
                     .native_method = "native_fp8_e5m2",
                     .weight_method = "fp8_e5m2_weight_only",
                     .use = "gradients, KV cache",
                     FALLBACK_16},
    [P(INT8)] = {.name = "int8",
                 .label = "INT8",
                 INTEGER(8, -128, 127),
                 BLOCK(INT8),
                 .scale = "none",
                 SELF(INT8),
                 .native_method = "native_int8",
                 .weight_method = "int8_weight_only",
                 .use = "post-training quantisation",
                 .fallback = {P(FP16), P(BF16), P(FP32), END}},
    [P(INT4)] = {.name = "int4",
                 .label = "INT4",
                 INTEGER(4, -8, 7),
                 BLOCK(INT4),
                 .scale = "none",
                 SELF(INT4),
                 .native_method = "native_int4",
                 .weight_method = "int4_weight_only",
                 .use = "weights (W4A16)",
                 .remark = "roofline's specification gives the symmetric range +-7",
                 .fallback = {P(INT8), P(FP16), P(BF16), P(FP32), END}},
    [P(INT2)] = {.name = "int2",
                 .label = "INT2",
                 INTEGER(2, -2, 1),
                 BLOCK(INT2),
                 .scale = "none",
                 SELF(INT2),
                 .native_method = "native_int2",
                 .weight_method = "int2_weight_only",
                 .use = "research",
                 .remark = "roofline's specification gives the symmetric range +-1",
                 .fallback = {P(INT4), P(INT8), P(FP16), P(BF16), P(FP32), END}},
    MX(MXFP8_E4M3, "mxfp8_e4m3", "mxfp8", "MXFP8 E4M3", 4, 3, 448., "weights and activations"),
    MX(MXFP8_E5M2, "mxfp8_e5m2", NULL, "MXFP8 E5M2", 5, 2, 57344., "gradients"),
    MX(MXFP6_E3M2, "mxfp6_e3m2", "mxfp6", "MXFP6 E3M2", 3, 2, 28., "weights and activations"),
    MX(MXFP6_E2M3, "mxfp6_e2m3", NULL, "MXFP6 E2M3", 2, 3, 7.5, "weights and activations"),
    [P(MXFP4)] = {.name = "mxfp4",
                  .label = "MXFP4 E2M1",
                  .family = ROOF_FAMILY_BLOCK_FLOAT,
                  FLOAT(2, 1, -6, 6),
                  BLOCK(MXFP4),
                  .scale = "E8M0 per 32",
                  .code_book = e2m1,
                  .code_count = 8,
                  SELF(MXFP4),
                  .native_method = "native_mxfp4",
                  .weight_method = "mxfp4_weight_only",
                  .use = "weights (gpt-oss)",
                  FALLBACK_16},
    [P(MXINT8)] = {.name = "mxint8",
                   .label = "MXINT8",
                   .family = ROOF_FAMILY_BLOCK_FLOAT,
                   .element_bits = 8,
                   .significant_bits = 8,
                   .lowest = -1.984375,
                   .highest = 1.984375,
                   BLOCK(MXINT8),
                   .scale = "E8M0 per 32",
                   SELF(MXINT8),
                   .native_method = "native_mxint8",
                   .weight_method = "mxint8_weight_only",
                   .use = "weights and activations",
                   FALLBACK_16},
    [P(NVFP4)] = {.name = "nvfp4",
                  .label = "NVFP4 E2M1",
                  .family = ROOF_FAMILY_BLOCK_FLOAT,
                  FLOAT(2, 1, -6, 6),
                  BLOCK(NVFP4),
                  .tensor_bytes = 4,
                  .scale = "E4M3 per 16, FP32 per tensor",
                  .code_book = e2m1,
                  .code_count = 8,
                  SELF(NVFP4),
                  .native_method = "native_fp4",
                  .weight_method = "fp4_weight_only",
                  .use = "weights and activations on Blackwell",
                  .remark = "roofline's specification gives 4.531 bits: 4.5 plus "
                            "32/1024, which holds for a tensor of 1024 elements only",
                  FALLBACK_16},
    [P(NF4)] = {.name = "nf4",
                .label = "NF4, FP16 absmax",
                .family = ROOF_FAMILY_CODE_BOOK,
                .element_bits = 4,
                .significant_bits = 4,
                .lowest = -1,
                .highest = 1,
                BLOCK(NF4),
                .scale = "FP16 absmax per 64",
                .code_book = nf4,
                .code_count = 16,
                STORED,
                .weight_method = "nf4_weight_only",
                .use = "QLoRA weights",
                .remark = "as roofline's specification defines it; bitsandbytes "
                          "stores nf4_fp32 or nf4_dq",
                FALLBACK_16},
    [P(NF4_FP32)] = {.name = "nf4_fp32",
                     .label = "NF4, FP32 absmax",
                     .family = ROOF_FAMILY_CODE_BOOK,
                     .element_bits = 4,
                     .significant_bits = 4,
                     .lowest = -1,
                     .highest = 1,
                     BLOCK(NF4_FP32),
                     .scale = "FP32 absmax per 64",
                     .code_book = nf4,
                     .code_count = 16,
                     STORED,
                     .weight_method = "bitsandbytes_nf4",
                     .use = "QLoRA weights",
                     FALLBACK_16},
    [P(NF4_DQ)] = {.name = "nf4_dq",
                   .label = "NF4, double quantisation",
                   .family = ROOF_FAMILY_CODE_BOOK,
                   .element_bits = 4,
                   .significant_bits = 4,
                   .lowest = -1,
                   .highest = 1,
                   BLOCK(NF4_DQ),
                   .tensor_bytes = 4,
                   .scale = "8-bit absmax per 64, FP32 per 256 of them and per tensor",
                   .code_book = nf4,
                   .code_count = 16,
                   STORED,
                   .weight_method = "bitsandbytes_nf4_dq",
                   .use = "QLoRA weights",
                   FALLBACK_16},
    [P(FP4_BNB)] = {.name = "fp4_bnb",
                    .label = "FP4 of bitsandbytes",
                    .family = ROOF_FAMILY_CODE_BOOK,
                    .element_bits = 4,
                    .significant_bits = 4,
                    .lowest = -1,
                    .highest = 1,
                    BLOCK(FP4_BNB),
                    .scale = "FP32 absmax per 64",
                    STORED,
                    .weight_method = "bitsandbytes_fp4",
                    .use = "weights",
                    FALLBACK_16},
    GROUP(INT4_G128, "int4_g128", "gptq", "int4_weight_only", -8, 7, "", "group of 128"),
    GROUP(INT4_G128_ZP, "int4_g128_zp", "awq", "awq", 0, 15, " and 4-bit zero point",
          "group of 128"),
    GROUP(INT4_G64_ZP, "int4_g64_zp", NULL, "awq", 0, 15, " and 4-bit zero point", "group of 64"),
    GROUP(INT4_G32_ZP, "int4_g32_zp", NULL, "awq", 0, 15, " and 4-bit zero point", "group of 32"),
    [P(INT8_CHANNEL)] = {.name = "int8_channel",
                         .label = "INT8 per channel",
                         INTEGER(8, -128, 127),
                         BLOCK(INT8_CHANNEL),
                         .channel_bytes = 4,
                         .scale = "FP32 per output channel or token",
                         .activations = P(INT8_CHANNEL),
                         .unit = P(INT8),
                         .native_method = "native_int8",
                         .weight_method = "int8_weight_only",
                         .use = "SmoothQuant style W8A8",
                         .fallback = {P(FP16), P(BF16), P(FP32), END}},
    [P(FP8_BLOCK128)] = {.name = "fp8_block128",
                         .label = "FP8 E4M3, 128x128 blocks",
                         FLOAT(4, 3, -448, 448),
                         BLOCK(FP8_BLOCK128),
                         .scale = "FP32 per 128x128",
                         .activations = P(FP8_E4M3),
                         .unit = P(FP8_E4M3),
                         .native_method = "native_fp8",
                         .weight_method = "fp8_weight_only",
                         .use = "DeepSeek-V3 weights",
                         FALLBACK_16},
    GGUF(Q1_0, "q1_0", ROOF_FAMILY_INTEGER, 1, -1, 1, "FP16 per 128"),
    GGUF(Q2_0, "q2_0", ROOF_FAMILY_INTEGER, 2, -1, 2, "FP16 per 64"),
    GGUF(Q4_0, "q4_0", ROOF_FAMILY_INTEGER, 4, -8, 7, "FP16 per 32"),
    GGUF(Q4_1, "q4_1", ROOF_FAMILY_INTEGER, 4, 0, 15, "FP16 and FP16 minimum per 32"),
    GGUF(Q5_0, "q5_0", ROOF_FAMILY_INTEGER, 5, -16, 15, "FP16 per 32"),
    GGUF(Q5_1, "q5_1", ROOF_FAMILY_INTEGER, 5, 0, 31, "FP16 and FP16 minimum per 32"),
    GGUF(Q8_0, "q8_0", ROOF_FAMILY_INTEGER, 8, -128, 127, "FP16 per 32"),
    GGUF(Q8_1, "q8_1", ROOF_FAMILY_INTEGER, 8, -128, 127, "FP16 and FP16 sum per 32"),
    GGUF(Q2_K, "q2_k", ROOF_FAMILY_INTEGER, 2, 0, 3,
         "4-bit scale and minimum per 16, FP16 per 256"),
    GGUF(Q3_K, "q3_k", ROOF_FAMILY_INTEGER, 3, -4, 3, "6-bit scale per 16, FP16 per 256"),
    GGUF(Q4_K, "q4_k", ROOF_FAMILY_INTEGER, 4, 0, 15,
         "6-bit scale and minimum per 32, FP16 per 256"),
    GGUF(Q5_K, "q5_k", ROOF_FAMILY_INTEGER, 5, 0, 31,
         "6-bit scale and minimum per 32, FP16 per 256"),
    GGUF(Q6_K, "q6_k", ROOF_FAMILY_INTEGER, 6, -32, 31, "8-bit scale per 16, FP16 per 256"),
    GGUF(Q8_K, "q8_k", ROOF_FAMILY_INTEGER, 8, -128, 127, "FP32 per 256, INT16 sums per 16"),
    GGUF(IQ1_S, "iq1_s", ROOF_FAMILY_CODE_BOOK, 1, -1, 1, "3-bit scale per 32, FP16 per 256"),
    GGUF(IQ1_M, "iq1_m", ROOF_FAMILY_CODE_BOOK, 1, -1, 1, "3-bit scale per 16, FP16 per 256"),
    GGUF(IQ2_XXS, "iq2_xxs", ROOF_FAMILY_CODE_BOOK, 2, -43, 43, "4-bit scale per 32, FP16 per 256"),
    GGUF(IQ2_XS, "iq2_xs", ROOF_FAMILY_CODE_BOOK, 2, -43, 43, "4-bit scale per 16, FP16 per 256"),
    GGUF(IQ2_S, "iq2_s", ROOF_FAMILY_CODE_BOOK, 2, -43, 43, "4-bit scale per 16, FP16 per 256"),
    GGUF(IQ3_XXS, "iq3_xxs", ROOF_FAMILY_CODE_BOOK, 3, -62, 62, "4-bit scale per 32, FP16 per 256"),
    GGUF(IQ3_S, "iq3_s", ROOF_FAMILY_CODE_BOOK, 3, -15, 15, "4-bit scale per 32, FP16 per 256"),
    GGUF(IQ4_NL, "iq4_nl", ROOF_FAMILY_CODE_BOOK, 4, -127, 113, "FP16 per 32"),
    GGUF(IQ4_XS, "iq4_xs", ROOF_FAMILY_CODE_BOOK, 4, -127, 113, "6-bit scale per 32, FP16 per 256"),
    GGUF(TQ1_0, "tq1_0", ROOF_FAMILY_INTEGER, 2, -1, 1, "FP16 per 256"),
    GGUF(TQ2_0, "tq2_0", ROOF_FAMILY_INTEGER, 2, -1, 1, "FP16 per 256"),
    GROUP(INT4_G64, "int4_g64", NULL, "int4_weight_only", -8, 7, "", "group of 64"),
    GROUP(INT4_G32, "int4_g32", NULL, "int4_weight_only", -8, 7, "", "group of 32"),
};

const struct roof_format *roof_format(enum roof_precision precision)
{
    assert(precision >= 0 && precision < ROOF_PRECISION_COUNT);
    return &formats[precision];
}

/* The spellings of PyTorch and of C. */
static const struct {
    const char *name;
    enum roof_precision precision;
} spellings[] = {{"bfloat16", P(BF16)},
                 {"float16", P(FP16)},
                 {"half", P(FP16)},
                 {"float32", P(FP32)},
                 {"float", P(FP32)},
                 {"single", P(FP32)},
                 {"float64", P(FP64)},
                 {"double", P(FP64)},
                 {"float8", P(FP8_E4M3)},
                 {"float8_e4m3", P(FP8_E4M3)},
                 {"float8_e4m3fn", P(FP8_E4M3)},
                 {"fp8_e4m3fn", P(FP8_E4M3)},
                 {"e4m3", P(FP8_E4M3)},
                 {"float8_e5m2", P(FP8_E5M2)},
                 {"e5m2", P(FP8_E5M2)}};

enum roof_status roof_precision_find(enum roof_precision *out, const char *name,
                                     struct roof_error *error)
{
    const char *names[ROOF_PRECISION_COUNT];
    unsigned nearness[ROOF_PRECISION_COUNT];
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        if (strcasecmp(name, formats[p].name) == 0 ||
            (formats[p].alias != NULL && strcasecmp(name, formats[p].alias) == 0)) {
            *out = (enum roof_precision)p;
            return ROOF_OK;
        }
    }
    for (size_t i = 0; i < COUNT(spellings); i++) {
        if (strcasecmp(name, spellings[i].name) == 0) {
            *out = spellings[i].precision;
            return ROOF_OK;
        }
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) { /* the nearer of the two names */
        const char *const alias = formats[p].alias;
        const unsigned other = alias == NULL ? ROOF_FAR : roof_nearness(name, alias);
        nearness[p] = roof_nearness(name, formats[p].name);
        names[p] = other < nearness[p] ? alias : formats[p].name;
        nearness[p] = other < nearness[p] ? other : nearness[p];
    }
    const enum roof_status status = roof_unknown_near(error, ROOF_USAGE, "precision", name, names,
                                                      nearness, ROOF_PRECISION_COUNT);
    roof_error_append(error, " (all: roofline list precisions)");
    return status;
}

const char *roof_precision_name(enum roof_precision precision)
{
    return precision < 0 || precision >= ROOF_PRECISION_COUNT ? NULL : roof_format(precision)->name;
}

double roof_precision_bits(enum roof_precision precision)
{
    return 8.0 * (double)formats[precision].block_bytes / (double)formats[precision].block_elements;
}

bool roof_precision_weight_only(enum roof_precision precision)
{
    return formats[precision].activations != precision;
}

double roof_tensor_bytes(enum roof_precision precision, double elements, double tensors,
                         double channels)
{
    const struct roof_storage storage = roof_storage_of(&formats[precision]);
    return roof_storage_bytes(&storage, elements, tensors, channels);
}

bool roof_precision_prunable(enum roof_precision precision)
{
    const struct roof_format *const f = roof_format(precision);
    const bool plain = f->family == ROOF_FAMILY_FLOAT || f->family == ROOF_FAMILY_INTEGER;
    /* Formats that are converted before the multiplication run in other kernels. */
    return plain && (f->element_bits == 16 || f->element_bits == 8) &&
           roof_format(f->unit)->element_bits == f->element_bits;
}

double roof_pruned_bits(enum roof_precision precision)
{
    return 8 * roof_pruned_bytes(precision, 1, 0, 0);
}

double roof_pruned_bytes(enum roof_precision precision, double elements, double tensors,
                         double channels)
{
    const struct roof_storage storage = roof_storage_pruned(&formats[precision]);
    return roof_storage_bytes(&storage, elements, tensors, channels);
}

enum roof_precision roof_precision_product(enum roof_precision weights,
                                           enum roof_precision activations)
{
    if (roof_precision_weight_only(weights) ||
        formats[weights].significant_bits <= formats[activations].significant_bits) {
        return formats[activations].unit;
    }
    return formats[weights].unit;
}

bool roof_precision_gguf(enum roof_precision precision)
{
    return precision >= ROOF_PRECISION_Q1_0 && precision <= ROOF_PRECISION_TQ2_0;
}

const char *roof_family_name(enum roof_family family)
{
    switch (family) {
    case ROOF_FAMILY_FLOAT:
        return "float";
    case ROOF_FAMILY_INTEGER:
        return "integer";
    case ROOF_FAMILY_BLOCK_FLOAT:
        return "block float";
    case ROOF_FAMILY_CODE_BOOK:
        return "code book";
    }
    return "unknown";
}
