// SPDX-License-Identifier: MIT
#include "support.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "catalog/storage.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define P(id) ROOF_PRECISION_##id

/*
 * The catalog as published, in its order: bytes of a block and elements of a block.
 *
 * MX: 32 elements and one scale byte. NVFP4: 16 elements of half a byte and one scale byte.
 * bitsandbytes: 64 elements of half a byte and an absmax of 2 or 4 bytes; with double quantisation
 * 1 byte, and 4 more for each 256 of them. Groups of AWQ and GPTQ: half a byte each, 2 bytes of
 * scale, half a byte of zero point. DeepSeek-V3: 128 x 128 bytes and 4 of scale. GGUF: the sizes
 * that ggml-common.h asserts.
 */
static const struct {
    enum roof_precision precision;
    const char *name;
    const char *alias;
    double bytes;
    double elements;
} catalog[] = {
    {P(FP64), "fp64", NULL, 8, 1},
    {P(FP32), "fp32", NULL, 4, 1},
    {P(TF32), "tf32", NULL, 4, 1}, /* 19 bits matter, 32 are stored */
    {P(BF16), "bf16", NULL, 2, 1},
    {P(FP16), "fp16", NULL, 2, 1},
    {P(FP8_E4M3), "fp8_e4m3", "fp8", 1, 1},
    {P(FP8_E5M2), "fp8_e5m2", NULL, 1, 1},
    {P(INT8), "int8", NULL, 1, 1},
    {P(INT4), "int4", NULL, 0.5, 1},
    {P(INT2), "int2", NULL, 0.25, 1},
    {P(MXFP8_E4M3), "mxfp8_e4m3", "mxfp8", 33, 32},
    {P(MXFP8_E5M2), "mxfp8_e5m2", NULL, 33, 32},
    {P(MXFP6_E3M2), "mxfp6_e3m2", "mxfp6", 25, 32},
    {P(MXFP6_E2M3), "mxfp6_e2m3", NULL, 25, 32},
    {P(MXFP4), "mxfp4", NULL, 17, 32},
    {P(MXINT8), "mxint8", NULL, 33, 32},
    {P(NVFP4), "nvfp4", NULL, 9, 16},
    {P(NF4), "nf4", NULL, 34, 64},
    {P(NF4_FP32), "nf4_fp32", NULL, 36, 64},
    {P(NF4_DQ), "nf4_dq", NULL, 256 * 33 + 4, 256 * 64},
    {P(FP4_BNB), "fp4_bnb", NULL, 36, 64},
    {P(INT4_G128), "int4_g128", "gptq", 66, 128},
    {P(INT4_G128_ZP), "int4_g128_zp", "awq", 66.5, 128},
    {P(INT4_G64_ZP), "int4_g64_zp", NULL, 34.5, 64},
    {P(INT4_G32_ZP), "int4_g32_zp", NULL, 18.5, 32},
    {P(INT8_CHANNEL), "int8_channel", NULL, 1, 1},
    {P(FP8_BLOCK128), "fp8_block128", NULL, 16388, 16384},
    {P(Q1_0), "q1_0", NULL, 18, 128},
    {P(Q2_0), "q2_0", NULL, 18, 64},
    {P(Q4_0), "q4_0", NULL, 18, 32},
    {P(Q4_1), "q4_1", NULL, 20, 32},
    {P(Q5_0), "q5_0", NULL, 22, 32},
    {P(Q5_1), "q5_1", NULL, 24, 32},
    {P(Q8_0), "q8_0", NULL, 34, 32},
    {P(Q8_1), "q8_1", NULL, 36, 32},
    {P(Q2_K), "q2_k", NULL, 84, 256},
    {P(Q3_K), "q3_k", NULL, 110, 256},
    {P(Q4_K), "q4_k", NULL, 144, 256},
    {P(Q5_K), "q5_k", NULL, 176, 256},
    {P(Q6_K), "q6_k", NULL, 210, 256},
    {P(Q8_K), "q8_k", NULL, 292, 256},
    {P(IQ1_S), "iq1_s", NULL, 50, 256},
    {P(IQ1_M), "iq1_m", NULL, 56, 256},
    {P(IQ2_XXS), "iq2_xxs", NULL, 66, 256},
    {P(IQ2_XS), "iq2_xs", NULL, 74, 256},
    {P(IQ2_S), "iq2_s", NULL, 82, 256},
    {P(IQ3_XXS), "iq3_xxs", NULL, 98, 256},
    {P(IQ3_S), "iq3_s", NULL, 110, 256},
    {P(IQ4_NL), "iq4_nl", NULL, 18, 32},
    {P(IQ4_XS), "iq4_xs", NULL, 136, 256},
    {P(TQ1_0), "tq1_0", NULL, 54, 256},
    {P(TQ2_0), "tq2_0", NULL, 66, 256},
    {P(INT4_G64), "int4_g64", NULL, 34, 64},
    {P(INT4_G32), "int4_g32", NULL, 18, 32},
};

static void test_bits_per_element(void **state)
{
    (void)state;
    assert_int_equal(COUNT(catalog), ROOF_PRECISION_COUNT);
    for (size_t i = 0; i < COUNT(catalog); i++) {
        assert_int_equal(catalog[i].precision, i); /* the order of the catalog, which breaks ties */
        const double bits = roof_precision_bits(catalog[i].precision);
        if (bits != catalog[i].bytes * 8 / catalog[i].elements) {
            fail_msg("%s has %.17g bits", catalog[i].name, bits);
        }
        /* a tensor without scales of its own: the same, in bytes */
        const struct roof_format *const format = roof_format(catalog[i].precision);
        const double bytes = roof_tensor_bytes(catalog[i].precision, 16384 * 3.0, 0, 0);
        assert_true(bytes == 16384 * 3.0 / catalog[i].elements * catalog[i].bytes);
        assert_true((double)format->block_bytes / (double)format->block_elements ==
                    catalog[i].bytes / catalog[i].elements);
    }
}

static void test_well_known_bits(void **state)
{
    (void)state;
    /* The figures in circulation, written as decimals. */
    static const struct {
        enum roof_precision precision;
        double bits;
    } cases[] = {
        {P(TF32), 32},
        {P(MXFP8_E4M3), 8.25},
        {P(MXFP6_E2M3), 6.25},
        {P(MXFP4), 4.25},
        {P(NVFP4), 4.5},
        {P(NF4), 4.25},
        {P(NF4_FP32), 4.5},
        {P(NF4_DQ), 4.126953125},
        {P(INT4_G128), 4.125},
        {P(INT4_G128_ZP), 4.15625},
        {P(INT4_G64_ZP), 4.3125},
        {P(INT4_G32_ZP), 4.625},
        {P(INT4_G64), 4.25},
        {P(INT4_G32), 4.5},
        {P(FP8_BLOCK128), 8.001953125},
        {P(Q4_0), 4.5},
        {P(Q8_0), 8.5},
        {P(Q4_K), 4.5},
        {P(Q6_K), 6.5625},
        {P(Q3_K), 3.4375},
        {P(IQ2_XXS), 2.0625},
        {P(TQ1_0), 1.6875},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(roof_precision_bits(cases[i].precision) == cases[i].bits);
    }
}

static void test_bytes_of_tensors(void **state)
{
    (void)state;
    static const struct {
        enum roof_precision precision;
        double elements;
        double tensors;
        double channels;
        double bytes;
    } cases[] = {
        {P(FP16), 1000, 1, 10, 2000},
        {P(FP32), 0, 1, 1, 0},
        {P(TF32), 10, 1, 1, 40},
        {P(INT4), 1001, 1, 10, 500.5}, /* blocks are not padded */
        {P(INT2), 3, 1, 1, 0.75},
        {P(NVFP4), 1000, 1, 10, 562.5 + 4}, /* 1000 * 9 / 16, one FP32 for the tensor */
        {P(NVFP4), 1000, 8, 10, 562.5 + 32},
        {P(NVFP4), 16, 0, 0, 9},
        {P(MXFP4), 1000, 1, 10, 531.25}, /* 1000 * 17 / 32, nothing for the tensor */
        {P(MXFP8_E5M2), 32, 1, 1, 33},
        {P(NF4_DQ), 16384, 1, 10, 8452 + 4}, /* one FP32 offset for the tensor */
        {P(NF4_DQ), 16384, 3, 10, 8452 + 12},
        {P(NF4), 64, 1, 1, 34},
        {P(INT8), 1000, 1, 10, 1000},
        {P(INT8_CHANNEL), 1000, 1, 10, 1000 + 40}, /* one FP32 per channel */
        {P(INT8_CHANNEL), 1000, 1, 0, 1000},
        {P(FP8_BLOCK128), 16384, 1, 10, 16388},
        {P(INT4_G128), 128, 1, 1, 66},
        {P(Q4_0), 32, 1, 1, 18},
        {P(Q6_K), 1024, 1, 1, 840},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const double bytes = roof_tensor_bytes(cases[i].precision, cases[i].elements,
                                               cases[i].tensors, cases[i].channels);
        if (bytes != cases[i].bytes) {
            fail_msg("%g elements of %s are %.17g bytes, expected %.17g", cases[i].elements,
                     roof_format(cases[i].precision)->name, bytes, cases[i].bytes);
        }
    }
    /* only these have bytes of their own per tensor or channel */
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_format *const format = roof_format((enum roof_precision)p);
        assert_int_equal(format->tensor_bytes, p == P(NVFP4) || p == P(NF4_DQ) ? 4 : 0);
        assert_int_equal(format->channel_bytes, p == P(INT8_CHANNEL) ? 4 : 0);
    }
}

/* Two of four values are kept, each with 2 bits for its place: (2 w + 4) / 4 bits for w bits, and
 * the scales. Formats that are converted before they are multiplied, and all others, stay dense. */
static void test_pruned(void **state)
{
    (void)state;
    static const struct {
        enum roof_precision precision;
        double bits;
    } pruned[] = {{ROOF_PRECISION_BF16, 9},
                  {ROOF_PRECISION_FP16, 9},
                  {ROOF_PRECISION_FP8_E4M3, 5},
                  {ROOF_PRECISION_FP8_E5M2, 5},
                  {ROOF_PRECISION_INT8, 5},
                  {ROOF_PRECISION_INT8_CHANNEL, 5},
                  {ROOF_PRECISION_FP8_BLOCK128, 5 + 32. / 16384}};
    size_t count = 0;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        count += roof_precision_prunable((enum roof_precision)p);
    }
    assert_int_equal(count, sizeof pruned / sizeof *pruned);
    for (size_t i = 0; i < count; i++) {
        const enum roof_precision p = pruned[i].precision;
        const struct roof_format *const f = roof_format(p);
        assert_true(roof_precision_prunable(p));
        assert_true(roof_pruned_bits(p) == pruned[i].bits);
        assert_true(roof_pruned_bytes(p, 16384, 3, 5) ==
                    2048 * pruned[i].bits + 3 * f->tensor_bytes + 5 * f->channel_bytes);
    }
}

/* --- names --------------------------------------------------------------------------------- */

static void expect_found(const char *name, enum roof_precision precision)
{
    struct roof_error error = {0};
    enum roof_precision found = ROOF_PRECISION_AUTO;
    if (roof_precision_find(&found, name, &error) != ROOF_OK || found != precision) {
        fail_msg("'%s' is not %s: %s", name, roof_format(precision)->name, error.message);
    }
}

static void test_names_and_aliases(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(catalog); i++) {
        const struct roof_format *const format = roof_format(catalog[i].precision);
        assert_string_equal(format->name, catalog[i].name);
        assert_int_equal(format->alias != NULL, catalog[i].alias != NULL);
        const char *const names[] = {format->name, format->alias};
        for (size_t n = 0; n < COUNT(names) && names[n] != NULL; n++) {
            char upper[32];
            char mixed[32];
            size_t c = 0;
            for (; names[n][c] != '\0'; c++) {
                assert_true(c + 1 < sizeof upper);
                assert_false(isupper((unsigned char)names[n][c])); /* lower case in keys */
                upper[c] = (char)toupper((unsigned char)names[n][c]);
                mixed[c] = names[n][c];
                if (c % 2 == 0) {
                    mixed[c] = upper[c];
                }
            }
            upper[c] = '\0';
            mixed[c] = '\0';
            expect_found(names[n], catalog[i].precision);
            expect_found(upper, catalog[i].precision);
            expect_found(mixed, catalog[i].precision);
        }
        if (format->alias != NULL) {
            assert_string_equal(format->alias, catalog[i].alias);
        }
    }
    /* no name means two formats */
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        for (int q = 0; q < ROOF_PRECISION_COUNT; q++) {
            const struct roof_format *const a = roof_format((enum roof_precision)p);
            const struct roof_format *const b = roof_format((enum roof_precision)q);
            assert_true(p == q || strcmp(a->name, b->name) != 0);
            assert_true(b->alias == NULL || strcmp(a->name, b->alias) != 0);
            assert_true(p == q || a->alias == NULL || b->alias == NULL ||
                        strcmp(a->alias, b->alias) != 0);
        }
    }
}

static void test_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum roof_precision precision;
    } cases[] = {
        {"bfloat16", P(BF16)},          {"Float16", P(FP16)},  {"half", P(FP16)},
        {"float32", P(FP32)},           {"float", P(FP32)},    {"double", P(FP64)},
        {"float8_e4m3fn", P(FP8_E4M3)}, {"e4m3", P(FP8_E4M3)}, {"float8_e5m2", P(FP8_E5M2)},
        {"E5M2", P(FP8_E5M2)}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_found(cases[i].name, cases[i].precision);
    }
}

static void test_unknown_names(void **state)
{
    (void)state;
    static const char *const cases[] = {"",      "fp15",     "fp",   "fp160",  " fp16",
                                        "fp16 ", "fp8-e4m3", "auto", "q4_k_m", "\xC2\xB5"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        enum roof_precision found = P(IQ1_S);
        assert_int_equal(roof_precision_find(&found, cases[i], &error), ROOF_USAGE);
        assert_int_equal(error.status, ROOF_USAGE);
        assert_int_equal(found, P(IQ1_S)); /* unchanged */
        assert_non_null(strstr(error.message, " (all: roofline list precisions)"));
    }
    struct roof_error error = {0};
    enum roof_precision found = P(FP64);
    roof_precision_find(&found, "mxfp5", &error); /* one letter from each */
    assert_non_null(strstr(error.message, "'mxfp5'"));
    assert_non_null(strstr(error.message, "did you mean mxfp8, mxfp6 or mxfp4"));
    roof_precision_find(&found, "fp9", &error); /* fp8 is fp8_e4m3, which is five letters longer */
    assert_non_null(strstr(error.message, "did you mean fp8?"));
    assert_int_equal(roof_precision_find(&found, "no", NULL), ROOF_USAGE);
}

static void test_every_row_is_filled(void **state)
{
    (void)state;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_format *const f = roof_format((enum roof_precision)p);
        assert_true(f->label != NULL && *f->label != '\0');
        assert_true(f->scale != NULL && *f->scale != '\0');
        assert_true(f->use != NULL && *f->use != '\0');
        assert_non_null(f->native_method);
        assert_true(strlen(roof_family_name(f->family)) > 0);
        assert_true(f->element_bits > 0 && f->significant_bits > 0);
        assert_true(f->lowest < f->highest && isfinite(f->lowest) && isfinite(f->highest));
        /* a scale makes a format wider than its elements, and only a scale does */
        const bool scaled = strcmp(f->scale, "none") != 0;
        const double own = f->tensor_bytes + f->channel_bytes;
        if (p != P(TF32) && p != P(TQ1_0)) { /* 19 of 32 bits; five ternary digits in a byte */
            assert_int_equal(
                scaled, roof_precision_bits((enum roof_precision)p) > f->element_bits || own > 0);
        }
        assert_int_equal(f->code_book == NULL, f->code_count == 0);
        assert_true(f->activations >= 0 && f->activations < ROOF_PRECISION_COUNT);
        assert_true(f->unit >= 0 && f->unit < ROOF_PRECISION_COUNT);
        /* a unit computes in itself; the partner of weights is a format for activations */
        assert_int_equal(roof_format(f->unit)->unit, f->unit);
        assert_false(roof_precision_weight_only(f->activations));
        assert_false(roof_precision_weight_only(f->unit));
    }
}

static void test_families(void **state)
{
    (void)state;
    static const struct {
        enum roof_family family;
        const char *name;
    } cases[] = {{ROOF_FAMILY_FLOAT, "float"},
                 {ROOF_FAMILY_INTEGER, "integer"},
                 {ROOF_FAMILY_BLOCK_FLOAT, "block float"},
                 {ROOF_FAMILY_CODE_BOOK, "code book"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_string_equal(roof_family_name(cases[i].family), cases[i].name);
    }
    assert_int_equal(roof_format(P(BF16))->family, ROOF_FAMILY_FLOAT);
    assert_int_equal(roof_format(P(INT4))->family, ROOF_FAMILY_INTEGER);
    assert_int_equal(roof_format(P(NVFP4))->family, ROOF_FAMILY_BLOCK_FLOAT);
    assert_int_equal(roof_format(P(NF4))->family, ROOF_FAMILY_CODE_BOOK);
}

/* --- fallbacks and products ---------------------------------------------------------------- */

static void test_weight_only(void **state)
{
    (void)state;
    /* Activations can have the formats that units multiply; the others are for stored weights. */
    static const enum roof_precision both[] = {
        P(FP64),       P(FP32),       P(TF32),  P(BF16),   P(FP16),       P(FP8_E4M3),
        P(FP8_E5M2),   P(INT8),       P(INT4),  P(INT2),   P(MXFP8_E4M3), P(MXFP8_E5M2),
        P(MXFP6_E3M2), P(MXFP6_E2M3), P(MXFP4), P(MXINT8), P(NVFP4),      P(INT8_CHANNEL)};
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        bool listed = false;
        for (size_t i = 0; i < COUNT(both); i++) {
            listed = listed || both[i] == (enum roof_precision)p;
        }
        if (roof_precision_weight_only((enum roof_precision)p) == listed) {
            fail_msg("%s: weights only is %d", catalog[p].name, !listed);
        }
    }
    /* W4A16 for stored weights, FP8 for DeepSeek's */
    assert_int_equal(roof_format(P(NF4))->activations, P(FP16));
    assert_int_equal(roof_format(P(INT4_G128))->activations, P(FP16));
    assert_int_equal(roof_format(P(Q4_K))->activations, P(FP16));
    assert_int_equal(roof_format(P(FP8_BLOCK128))->activations, P(FP8_E4M3));
    assert_int_equal(roof_format(P(FP8_BLOCK128))->unit, P(FP8_E4M3));
    assert_int_equal(roof_format(P(INT8_CHANNEL))->unit, P(INT8));
}

static int fallbacks_of(enum roof_precision precision)
{
    int count = 0;
    while (count < ROOF_FALLBACKS_MAX &&
           roof_format(precision)->fallback[count] != ROOF_PRECISION_AUTO) {
        count++;
    }
    return count;
}

/* True if a text has a word, between commas and blanks. */
static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *p = text; *p != '\0'; p += strspn(p, ", ")) {
        const size_t here = strcspn(p, ", ");
        if (here == length && memcmp(p, word, length) == 0) {
            return true;
        }
        p += here;
    }
    return false;
}

/* ROOF_TENSOR_FORMATS names formats, and families by what their names begin with: "the fp8, int and
 * mx formats". */
static void test_formats_of_tensors_are_named(void **state)
{
    (void)state;
    static const char *const families[] = {"fp8", "int", "mx"};
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const char *const name = roof_format((enum roof_precision)p)->name;
        bool named = has_word(ROOF_TENSOR_FORMATS, name, strlen(name));
        if (roof_precision_weight_only((enum roof_precision)p)) {
            assert_false(named);
            continue;
        }
        for (size_t i = 0; i < sizeof families / sizeof *families && !named; i++) {
            const size_t length = strlen(families[i]);
            named = strncmp(name, families[i], length) == 0 &&
                    has_word(ROOF_TENSOR_FORMATS, families[i], length);
        }
        if (!named) {
            fail_msg("ROOF_TENSOR_FORMATS lacks %s", name);
        }
    }
    for (const char *p = ROOF_TENSOR_FORMATS; *p != '\0'; p += strspn(p, ", ")) {
        const size_t length = strcspn(p, ", ");
        bool known = has_word("the, and, formats", p, length);
        for (int i = 0; i < ROOF_PRECISION_COUNT && !known; i++) {
            known = strncmp(roof_format((enum roof_precision)i)->name, p, length) == 0 &&
                    !roof_precision_weight_only((enum roof_precision)i);
        }
        if (!known) {
            fail_msg("ROOF_TENSOR_FORMATS names '%.*s'", (int)length, p);
        }
        p += length;
    }
}

static void test_fallbacks_are_units(void **state)
{
    (void)state;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_format *const format = roof_format((enum roof_precision)p);
        const int count = fallbacks_of((enum roof_precision)p);
        for (int i = 0; i < count; i++) {
            const enum roof_precision next = format->fallback[i];
            assert_true(next >= 0 && next < ROOF_PRECISION_COUNT);
            assert_int_not_equal(next, p);
            assert_false(roof_precision_weight_only(next));
            assert_int_equal(roof_format(next)->unit, next); /* peaks are looked up by it */
            for (int j = 0; j < i; j++) {
                assert_int_not_equal(next, format->fallback[j]);
            }
        }
    }
}

static void test_fallback_lists_end(void **state)
{
    (void)state;
    /* "ends with ROOF_PRECISION_AUTO": a reader needs no other bound. */
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        if (fallbacks_of((enum roof_precision)p) >= ROOF_FALLBACKS_MAX) {
            fail_msg("the fallbacks of %s do not end", catalog[p].name);
        }
    }
}

static void test_fallbacks_in_order(void **state)
{
    (void)state;
    static const struct {
        enum roof_precision precision;
        enum roof_precision first[2]; /* the first two */
    } cases[] = {
        {P(FP8_E4M3), {P(BF16), P(FP16)}},   {P(FP8_E5M2), {P(BF16), P(FP16)}},
        {P(INT8), {P(FP16), P(BF16)}},       {P(INT4), {P(INT8), P(FP16)}},
        {P(INT2), {P(INT4), P(INT8)}},       {P(MXFP8_E4M3), {P(BF16), P(FP16)}},
        {P(MXFP6_E3M2), {P(BF16), P(FP16)}}, {P(MXFP4), {P(BF16), P(FP16)}},
        {P(NVFP4), {P(BF16), P(FP16)}},      {P(NF4), {P(BF16), P(FP16)}},
        {P(Q4_K), {P(BF16), P(FP16)}},       {P(FP8_BLOCK128), {P(BF16), P(FP16)}},
        {P(BF16), {P(FP32), P(FP16)}},       {P(TF32), {P(FP32), ROOF_PRECISION_AUTO}},
        {P(FP16), {P(FP32), P(BF16)}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_format *const format = roof_format(cases[i].precision);
        if (format->fallback[0] != cases[i].first[0] || format->fallback[1] != cases[i].first[1]) {
            fail_msg("%s falls back to %d, %d", format->name, (int)format->fallback[0],
                     (int)format->fallback[1]);
        }
    }
    assert_int_equal(fallbacks_of(P(FP64)), 0); /* nothing is as wide */
}

static void test_products(void **state)
{
    (void)state;
    static const struct {
        enum roof_precision weights;
        enum roof_precision activations;
        enum roof_precision product;
    } cases[] = {
        /* the same */
        {P(FP16), P(FP16), P(FP16)},
        {P(FP32), P(FP32), P(FP32)},
        {P(NVFP4), P(NVFP4), P(NVFP4)},
        {P(INT8), P(INT8), P(INT8)},
        /* weights only: as the activations, however wide */
        {P(NF4), P(BF16), P(BF16)},
        {P(NF4), P(FP8_E4M3), P(FP8_E4M3)},
        {P(INT4_G128), P(FP16), P(FP16)},
        {P(Q8_K), P(INT4), P(INT4)},
        {P(Q4_K), P(FP32), P(FP32)},
        {P(FP8_BLOCK128), P(BF16), P(BF16)},
        {P(FP8_BLOCK128), P(FP8_E4M3), P(FP8_E4M3)},
        {P(FP8_BLOCK128), P(INT4), P(INT4)},
        /* two formats: the wider */
        {P(INT4), P(FP16), P(FP16)},
        {P(FP16), P(INT4), P(FP16)},
        {P(FP8_E4M3), P(BF16), P(BF16)},
        {P(BF16), P(FP8_E4M3), P(BF16)},
        {P(MXFP4), P(MXFP8_E4M3), P(MXFP8_E4M3)},
        {P(MXFP6_E2M3), P(MXFP4), P(MXFP6_E2M3)},
        {P(FP64), P(FP32), P(FP64)},
        {P(INT2), P(INT8), P(INT8)},
        /* TF32 has 19 bits that count: more than 16, fewer than 32 */
        {P(TF32), P(FP16), P(TF32)},
        {P(BF16), P(TF32), P(TF32)},
        {P(TF32), P(FP32), P(FP32)},
        {P(FP32), P(TF32), P(FP32)},
        /* the same width: as the activations; a block scale does not make it wider */
        {P(FP16), P(BF16), P(BF16)},
        {P(BF16), P(FP16), P(FP16)},
        {P(INT8), P(FP8_E4M3), P(FP8_E4M3)},
        {P(FP8_E5M2), P(FP8_E4M3), P(FP8_E4M3)},
        {P(FP8_E4M3), P(FP8_E5M2), P(FP8_E5M2)},
        {P(MXFP8_E4M3), P(INT8), P(INT8)},
        {P(MXFP4), P(NVFP4), P(NVFP4)},
        {P(NVFP4), P(INT4), P(INT4)},
        /* a scale per channel changes the size, not the unit */
        {P(INT8_CHANNEL), P(INT8_CHANNEL), P(INT8)},
        {P(INT8_CHANNEL), P(FP16), P(FP16)},
        {P(INT8_CHANNEL), P(INT4), P(INT8)},
        {P(INT4), P(INT8_CHANNEL), P(INT8)},
        {P(FP8_E4M3), P(INT8_CHANNEL), P(INT8)},
        {P(NF4), P(INT8_CHANNEL), P(INT8)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const enum roof_precision product =
            roof_precision_product(cases[i].weights, cases[i].activations);
        if (product != cases[i].product) {
            fail_msg("%s by %s is %s, expected %s", roof_format(cases[i].weights)->name,
                     roof_format(cases[i].activations)->name, roof_format(product)->name,
                     roof_format(cases[i].product)->name);
        }
    }
    /* -p P pairs a format with the activations of its row: that is what its unit multiplies */
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_format *const format = roof_format((enum roof_precision)p);
        assert_int_equal(roof_precision_product((enum roof_precision)p, format->activations),
                         format->unit);
    }
}

/* --- values -------------------------------------------------------------------------------- */

static void test_float_layouts(void **state)
{
    (void)state;
    static const struct {
        enum roof_precision precision;
        int exponent;
        int mantissa;
        int significant;
    } cases[] = {
        {P(FP64), 11, 52, 64},    {P(FP32), 8, 23, 32},       {P(TF32), 8, 10, 19},
        {P(BF16), 8, 7, 16},      {P(FP16), 5, 10, 16},       {P(FP8_E4M3), 4, 3, 8},
        {P(FP8_E5M2), 5, 2, 8},   {P(MXFP8_E4M3), 4, 3, 8},   {P(MXFP8_E5M2), 5, 2, 8},
        {P(MXFP6_E3M2), 3, 2, 6}, {P(MXFP6_E2M3), 2, 3, 6},   {P(MXFP4), 2, 1, 4},
        {P(NVFP4), 2, 1, 4},      {P(FP8_BLOCK128), 4, 3, 8}, {P(INT8), 0, 0, 8},
        {P(INT4), 0, 0, 4},       {P(INT2), 0, 0, 2},         {P(NF4), 0, 0, 4},
        {P(MXINT8), 0, 0, 8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_format *const f = roof_format(cases[i].precision);
        assert_int_equal(f->exponent_bits, cases[i].exponent);
        assert_int_equal(f->mantissa_bits, cases[i].mantissa);
        assert_int_equal(f->significant_bits, cases[i].significant);
    }
}

static void test_float_ranges(void **state)
{
    (void)state;
    /*
     * With a sign, E exponent bits and M mantissa bits the bias is 2^(E-1) - 1, and the largest
     * value is 2^e * (2 - 2^-M). IEEE keeps the largest exponent for infinities, so e is the bias;
     * the OCP formats of 6 and 4 bits use it for numbers, so e is the bias + 1. E4M3 uses it too,
     * but for the mantissa 111, which is its NaN: 2^8 * 1.75.
     */
    static const struct {
        enum roof_precision precision;
        int top; /* exponents above the bias */
        double highest;
    } cases[] = {
        {P(FP64), 0, 1.7976931348623157e308},
        {P(FP32), 0, 3.4028234663852886e38},
        {P(TF32), 0, 3.4011621342146535e38},
        {P(BF16), 0, 3.3895313892515355e38},
        {P(FP16), 0, 65504},
        {P(FP8_E5M2), 0, 57344},
        {P(MXFP8_E5M2), 0, 57344},
        {P(MXFP6_E3M2), 1, 28},
        {P(MXFP6_E2M3), 1, 7.5},
        {P(MXFP4), 1, 6},
        {P(NVFP4), 1, 6},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_format *const f = roof_format(cases[i].precision);
        const int bias = (1 << (f->exponent_bits - 1)) - 1;
        const double derived = ldexp(2 - ldexp(1, -f->mantissa_bits), bias + cases[i].top);
        if (f->highest != derived || f->highest != cases[i].highest) {
            fail_msg("%s ends at %.17g, derived %.17g", f->name, f->highest, derived);
        }
        assert_true(f->lowest == -derived);
        assert_int_equal(f->significant_bits, 1 + f->exponent_bits + f->mantissa_bits);
        assert_int_equal(f->element_bits, f->significant_bits);
    }
    static const enum roof_precision e4m3[] = {P(FP8_E4M3), P(MXFP8_E4M3), P(FP8_BLOCK128)};
    for (size_t i = 0; i < COUNT(e4m3); i++) {
        assert_true(roof_format(e4m3[i])->highest == ldexp(1.75, 8)); /* 448, not 480 and not 240 */
        assert_true(roof_format(e4m3[i])->lowest == -448);
    }
}

static void test_integer_ranges(void **state)
{
    (void)state;
    /* two's complement: -2^(n-1) .. 2^(n-1) - 1 */
    static const enum roof_precision cases[] = {P(INT8),      P(INT4), P(INT2), P(INT8_CHANNEL),
                                                P(INT4_G128), P(Q4_0), P(Q8_0), P(Q5_0),
                                                P(Q6_K),      P(Q3_K)};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct roof_format *const f = roof_format(cases[i]);
        assert_true(f->lowest == -ldexp(1, f->element_bits - 1));
        assert_true(f->highest == ldexp(1, f->element_bits - 1) - 1);
    }
    /* with a minimum per block: 0 .. 2^n - 1 */
    static const enum roof_precision from_zero[] = {
        P(Q4_1), P(Q5_1), P(Q2_K), P(Q4_K), P(Q5_K), P(INT4_G128_ZP), P(INT4_G32_ZP)};
    for (size_t i = 0; i < COUNT(from_zero); i++) {
        const struct roof_format *const f = roof_format(from_zero[i]);
        assert_true(f->lowest == 0);
        assert_true(f->highest == ldexp(1, f->element_bits) - 1);
    }
    /* MXINT8: a fraction of 6 bits behind one whole bit and the sign, 127 / 64 */
    assert_true(roof_format(P(MXINT8))->highest == 127.0 / 64);
}

/* Formats of GGUF have the bits of an element in their names, as in q4_k and iq3_xxs. */
static void test_bits_in_names(void **state)
{
    (void)state;
    int found = 0;
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        const struct roof_format *const f = roof_format((enum roof_precision)p);
        const char *const digit = f->name + (f->name[0] == 'i');
        if (f->label != NULL && strncmp(f->label, "GGUF", 4) == 0 && digit[0] == 'q') {
            assert_int_equal(f->element_bits, digit[1] - '0');
            found++;
        }
    }
    assert_int_equal(found, 8 + 6 + 9); /* q1_0 to q8_1, q2_k to q8_k, iq1_s to iq4_xs */
}

static void test_e2m1_code_book(void **state)
{
    (void)state;
    static const enum roof_precision formats[] = {P(MXFP4), P(NVFP4)};
    for (size_t i = 0; i < COUNT(formats); i++) {
        const struct roof_format *const f = roof_format(formats[i]);
        assert_int_equal(f->code_count, 8);
        for (int code = 0; code < 8; code++) {
            /* exponent bits 0: m / 2; else 2^(exponent - 1) * (1 + m / 2): 0 .5 1 1.5 2 3 4 6 */
            const int exponent = code >> 1;
            const double mantissa = (code & 1) / 2.0;
            const double value = exponent == 0 ? mantissa : ldexp(1 + mantissa, exponent - 1);
            assert_true(f->code_book[code] == value);
        }
        assert_true(f->code_book[7] == f->highest);
    }
}

static void test_nf4_code_book(void **state)
{
    (void)state;
    /* as QLoRA (appendix E) prints them */
    static const double published[] = {-1.0,
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
    static const enum roof_precision formats[] = {P(NF4), P(NF4_FP32), P(NF4_DQ)};
    for (size_t i = 0; i < COUNT(formats); i++) {
        const struct roof_format *const f = roof_format(formats[i]);
        assert_int_equal(f->code_count, 16);
        for (int code = 0; code < 16; code++) {
            assert_true(f->code_book[code] == published[code]);
            assert_true(code == 0 || f->code_book[code - 1] < f->code_book[code]);
            assert_true((double)(float)f->code_book[code] == f->code_book[code]); /* FP32 values */
        }
        assert_true(f->code_book[0] == -f->code_book[15]);
        assert_true(f->lowest == f->code_book[0]);
        assert_true(f->highest == f->code_book[15]);
    }
}

/* --- accuracy ------------------------------------------------------------------------------ */

static void test_accuracy_classes(void **state)
{
    (void)state;
    static const char *const names[] = {"none", "minimal", "<1%", "1-2%", "2-5%", "severe"};
    assert_int_equal(COUNT(names), ROOF_ACCURACY_CLASS_COUNT);
    for (int i = 0; i < ROOF_ACCURACY_CLASS_COUNT; i++) { /* least first */
        enum roof_accuracy_class found = ROOF_ACCURACY_CLASS_COUNT;
        assert_string_equal(roof_accuracy_name((enum roof_accuracy_class)i), names[i]);
        assert_int_equal(roof_accuracy_find(&found, names[i], NULL), ROOF_OK);
        assert_int_equal(found, i);
    }
    enum roof_accuracy_class found = ROOF_ACCURACY_SEVERE;
    assert_int_equal(roof_accuracy_find(&found, "Minimal", NULL), ROOF_OK);
    assert_int_equal(found, ROOF_ACCURACY_MINIMAL);
    static const struct {
        const char *worst;
        enum roof_accuracy_class is;
    } short_names[] = {
        {"1%", ROOF_ACCURACY_BELOW_1}, {"2%", ROOF_ACCURACY_1_TO_2}, {"5%", ROOF_ACCURACY_2_TO_5}};
    for (size_t i = 0; i < COUNT(short_names); i++) {
        assert_int_equal(roof_accuracy_find(&found, short_names[i].worst, NULL), ROOF_OK);
        assert_int_equal(found, short_names[i].is);
    }
    assert_int_equal(roof_accuracy_find(&found, "minimal", NULL), ROOF_OK);
    static const char *const wrong[] = {"", "%", "3%", "<1", "2-5", "1-2", "bad"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct roof_error error = {0};
        assert_int_equal(roof_accuracy_find(&found, wrong[i], &error), ROOF_USAGE);
        assert_int_equal(found, ROOF_ACCURACY_MINIMAL);
        for (size_t n = 0; n < COUNT(names); n++) {
            assert_non_null(strstr(error.message, names[n]));
        }
    }
}

static void test_accuracy_of_formats(void **state)
{
    (void)state;
    struct roof_accuracy accuracy;
    struct roof_error error = {0};
    memset(&accuracy, 1, sizeof accuracy);
    if (roof_accuracy_load(&accuracy, &error) != ROOF_OK) {
        fail_msg("%s:%d:%d: %s", error.source, error.line, error.column, error.message);
    }
    for (int p = 0; p < ROOF_PRECISION_COUNT; p++) {
        assert_true(accuracy.of[p].loss >= ROOF_ACCURACY_NONE &&
                    accuracy.of[p].loss < ROOF_ACCURACY_CLASS_COUNT);
        assert_non_null(accuracy.of[p].source);
        assert_true(strlen(accuracy.of[p].source) > 0);
        assert_true(accuracy.of[p].figure == NULL || strlen(accuracy.of[p].figure) > 0);
    }
    static const struct { /* as the source documents have it */
        enum roof_precision precision;
        enum roof_accuracy_class loss;
    } cases[] = {
        {P(FP64), ROOF_ACCURACY_NONE},        {P(FP32), ROOF_ACCURACY_NONE},
        {P(TF32), ROOF_ACCURACY_MINIMAL},     {P(FP16), ROOF_ACCURACY_MINIMAL},
        {P(BF16), ROOF_ACCURACY_MINIMAL},     {P(FP8_E4M3), ROOF_ACCURACY_BELOW_1},
        {P(FP8_E5M2), ROOF_ACCURACY_BELOW_1}, {P(INT8), ROOF_ACCURACY_1_TO_2},
        {P(INT4), ROOF_ACCURACY_2_TO_5},      {P(NVFP4), ROOF_ACCURACY_1_TO_2},
        {P(MXFP4), ROOF_ACCURACY_2_TO_5},     {P(INT2), ROOF_ACCURACY_SEVERE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (accuracy.of[cases[i].precision].loss != cases[i].loss) {
            fail_msg("%s: %s, expected %s", roof_format(cases[i].precision)->name,
                     roof_accuracy_name(accuracy.of[cases[i].precision].loss),
                     roof_accuracy_name(cases[i].loss));
        }
    }
    /* more bits of the same kind never lose more */
    static const enum roof_precision order[] = {P(Q8_0), P(Q6_K), P(Q5_K),
                                                P(Q4_K), P(Q3_K), P(Q2_K)};
    for (size_t i = 1; i < COUNT(order); i++) {
        assert_true(accuracy.of[order[i - 1]].loss <= accuracy.of[order[i]].loss);
    }
    roof_accuracy_free(&accuracy);
    assert_null(accuracy.document);
    assert_null(accuracy.of[0].source);
    roof_accuracy_free(&accuracy);
    roof_accuracy_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_per_element),
        cmocka_unit_test(test_well_known_bits),
        cmocka_unit_test(test_bytes_of_tensors),
        cmocka_unit_test(test_pruned),
        cmocka_unit_test(test_names_and_aliases),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_every_row_is_filled),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_weight_only),
        cmocka_unit_test(test_formats_of_tensors_are_named),
        cmocka_unit_test(test_fallbacks_are_units),
        cmocka_unit_test(test_fallback_lists_end),
        cmocka_unit_test(test_fallbacks_in_order),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_float_layouts),
        cmocka_unit_test(test_float_ranges),
        cmocka_unit_test(test_integer_ranges),
        cmocka_unit_test(test_bits_in_names),
        cmocka_unit_test(test_e2m1_code_book),
        cmocka_unit_test(test_nf4_code_book),
        cmocka_unit_test(test_accuracy_classes),
        cmocka_unit_test(test_accuracy_of_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
