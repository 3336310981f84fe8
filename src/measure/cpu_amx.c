// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE /* syscall */
#include "measure/cpu_amx.h"

#include <string.h>

#include "base/base.h"

#if defined(ROOF_TARGET_AMX)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/cpu_amx_tiles.h"
#endif

/* The bytes before the elements of a block, which are its scale. */
static int64_t scale_bytes(enum roof_precision weights)
{
    return weights == ROOF_PRECISION_BF16 ? 0 : (int64_t)sizeof(uint16_t);
}

void roof_amx_pack(unsigned char *out, const unsigned char *rows, enum roof_precision weights,
                   int64_t count, int64_t k)
{
    const int64_t scale = scale_bytes(weights);
    const int64_t row_bytes = (int64_t)roof_tensor_bytes(weights, (double)k, 0, 0);
    const int64_t block = scale == 0 ? ROOF_AMX_BF16_STEP : roof_format(weights)->block_bytes;
    const int64_t padded = roof_divide_up(count, ROOF_AMX_ROWS) * ROOF_AMX_ROWS;
    memset(out, 0, (size_t)(padded * row_bytes));
    for (int64_t row = 0; row < count; row++) {
        const int64_t r = row % ROOF_AMX_ROWS;
        for (int64_t at = 0; at < row_bytes; at += block) {
            const unsigned char *const from = rows + row * row_bytes + at;
            unsigned char *const to = out + (row - r) * row_bytes + at * ROOF_AMX_ROWS;
            memcpy(to + r * scale, from, (size_t)scale);
            for (int64_t i = 0; i < block - scale; i += 4) {
                memcpy(to + (scale + i) * ROOF_AMX_ROWS + 4 * r, from + scale + i, 4);
            }
        }
    }
}

#if defined(ROOF_TARGET_AMX)

/* --- the tiles ----------------------------------------------------------------------------- */

/* The numbers of the tiles of weights and of inputs; sums are the first ones. */
#define WEIGHTS 6
#define INPUTS 7

/* Finishes what is written there: the intrinsics of gcc do not say which memory they read. */
#define FINISH(at) __asm__ volatile("" : : "r"(at) : "memory")

/* Runs an intrinsic, whose tile must be a literal, on one of the tiles of sums. */
#define ON_SUM(sum, use)                                                                           \
    do {                                                                                           \
        switch (sum) {                                                                             \
        case 0:                                                                                    \
            use(0);                                                                                \
            break;                                                                                 \
        case 1:                                                                                    \
            use(1);                                                                                \
            break;                                                                                 \
        case 2:                                                                                    \
            use(2);                                                                                \
            break;                                                                                 \
        default:                                                                                   \
            use(3);                                                                                \
            break;                                                                                 \
        }                                                                                          \
    } while (false)

ROOF_TARGET_AMX static void configure(int step)
{
    /* The operand of LDTILECFG, for its only palette: bytes of a row and rows of each tile. */
    const struct {
        uint8_t palette;
        uint8_t start_row;
        uint8_t reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1,
                .row_bytes = {64, 64, 64, 64, 64, 64, [WEIGHTS] = 64, [INPUTS] = (uint16_t)step},
                .rows = {16, 16, 16, 16, 16, 16, [WEIGHTS] = (uint8_t)(step / 4), [INPUTS] = 16}};
    FINISH(&config);
    _tile_loadconfig(&config);
}

ROOF_TARGET_AMX static void load_weights(const void *at)
{
    FINISH(at);
    _tile_loadd(WEIGHTS, at, 64);
}

ROOF_TARGET_AMX static void load_inputs(const void *at, int64_t row_bytes)
{
    FINISH(at);
    _tile_loadd(INPUTS, at, row_bytes);
}

ROOF_TARGET_AMX static void zero(int sum)
{
    ON_SUM(sum, _tile_zero);
}

#define ADD_BF16(tile) _tile_dpbf16ps(tile, INPUTS, WEIGHTS)
ROOF_TARGET_AMX static void add_bf16(int sum)
{
    ON_SUM(sum, ADD_BF16);
}

#define ADD_INT8(tile) _tile_dpbssd(tile, INPUTS, WEIGHTS)
ROOF_TARGET_AMX static void add_int8(int sum)
{
    ON_SUM(sum, ADD_INT8);
}

#define STORE(tile) _tile_stored(tile, at, 64)
ROOF_TARGET_AMX static void store(void *at, int sum)
{
    ON_SUM(sum, STORE);
}

ROOF_TARGET_AMX static float scale(const void *half)
{
    uint16_t bits = 0;
    memcpy(&bits, half, sizeof bits);
    return _cvtsh_ss(bits);
}

ROOF_TARGET_AMX static void release(void)
{
    _tile_release();
}

static const struct roof_tiles processor = {.configure = configure,
                                            .load_weights = load_weights,
                                            .load_inputs = load_inputs,
                                            .zero = zero,
                                            .add_bf16 = add_bf16,
                                            .add_int8 = add_int8,
                                            .store = store,
                                            .scale = scale,
                                            .release = release};

/* --- products ------------------------------------------------------------------------------ */

ROOF_TARGET_AMX static void bf16(const struct roof_dot *d)
{
    roof_amx_bf16(&processor, d);
}

ROOF_TARGET_AMX static void q8_0(const struct roof_dot *d)
{
    roof_amx_blocks(&processor, d, sizeof(struct roof_block_q8));
}

ROOF_TARGET_AMX static void q4_0(const struct roof_dot *d)
{
    roof_amx_blocks(&processor, d, sizeof(struct roof_block_q4));
}

static void enter_bf16(void)
{
    configure(ROOF_AMX_BF16_STEP);
}

static void enter_blocks(void)
{
    configure(ROOF_AMX_BLOCK_STEP);
}

#define KERNELS(format, how, name)                                                                 \
    {                                                                                              \
        .inputs = ROOF_PRECISION_##format, .packed = true, .cut = true,                            \
        .tile_rows = ROOF_AMX_ROWS, .tile_inputs = ROOF_AMX_INPUTS, .enter = (how),                \
        .tile = (name), .leave = release                                                           \
    }

static const struct {
    enum roof_precision weights;
    struct roof_dot_kernels kernels;
} table[] = {{ROOF_PRECISION_BF16, KERNELS(BF16, enter_bf16, bf16)},
             {ROOF_PRECISION_Q8_0, KERNELS(Q8_0, enter_blocks, q8_0)},
             {ROOF_PRECISION_Q4_0, KERNELS(Q8_0, enter_blocks, q4_0)}};

bool roof_amx_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                   const struct roof_cpu_features *features)
{
    for (size_t i = 0; i < COUNT(table); i++) {
        if (features->amx && many && table[i].weights == weights) {
            *out = table[i].kernels;
            return true;
        }
    }
    return false;
}

/* --- peaks and permission ------------------------------------------------------------------ */

/* Adds to six tiles of sums: that hides the latency of 52 cycles at one instruction in 16. */
#define PEAK(name, add)                                                                            \
    ROOF_TARGET_AMX void name(int steps)                                                           \
    {                                                                                              \
        unsigned char some[16][64];                                                                \
        memset(some, 0x3c, sizeof some);                                                           \
        configure(64);                                                                             \
        load_weights(some);                                                                        \
        load_inputs(some, 64);                                                                     \
        for (int step = 0; step < steps; step += ROOF_AMX_PEAK_STEPS) {                            \
            add(0, INPUTS, WEIGHTS);                                                               \
            add(1, INPUTS, WEIGHTS);                                                               \
            add(2, INPUTS, WEIGHTS);                                                               \
            add(3, INPUTS, WEIGHTS);                                                               \
            add(4, INPUTS, WEIGHTS);                                                               \
            add(5, INPUTS, WEIGHTS);                                                               \
        }                                                                                          \
        release();                                                                                 \
    }

PEAK(roof_amx_peak_bf16, _tile_dpbf16ps)
PEAK(roof_amx_peak_int8, _tile_dpbssd)

/* Linux gives a process the registers of the tiles (8 KiB for each thread) when it asks for them
 * (arch/x86/include/uapi/asm/prctl.h, Documentation/arch/x86/xstate.rst). */
#define ARCH_REQ_XCOMP_PERM 0x1023
#define XFEATURE_XTILEDATA 18

bool roof_amx_permitted(void)
{
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

#else

bool roof_amx_find(struct roof_dot_kernels *out, enum roof_precision weights, bool many,
                   const struct roof_cpu_features *features)
{
    (void)out;
    (void)weights;
    (void)many;
    (void)features;
    return false;
}

bool roof_amx_permitted(void)
{
    return false;
}

#endif
