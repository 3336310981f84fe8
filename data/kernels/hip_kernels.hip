// SPDX-License-Identifier: MIT
// Kernels for AMD GPUs, which hipRTC compiles for the device that is there: those of the probes, and
// those of operators that are no products, in 16 bits. They have the parameters of the kernels for
// NVIDIA (src/measure/cuda_kernels.c, cuda_operators.cu). Blocks have 256 threads.
//
// The text is C, too: a test defines what is between the two lines below for a processor, and compares
// results with plain formulas.
#ifndef ROOF_ON_HOST // ---------------------------------------------------------------------------------
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256))) void
#define DEVICE __attribute__((device)) static inline __attribute__((always_inline))
#define SHARED __attribute__((shared)) static
typedef _Float16 f16;
typedef f16 f16x2 __attribute__((vector_size(4))); // two, which an instruction takes at once
DEVICE unsigned thread() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE unsigned block() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE unsigned blocks() { return __builtin_amdgcn_grid_size_x() / 256; }
DEVICE void meet()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
DEVICE float half_to_float(unsigned short bits)
{
    f16 h;
    __builtin_memcpy(&h, &bits, sizeof h);
    return (float)h;
}
DEVICE unsigned short float_to_half(float x)
{
    const f16 h = (f16)x;
    unsigned short bits;
    __builtin_memcpy(&bits, &h, sizeof bits);
    return bits;
}
DEVICE float root(float x) { return __builtin_sqrtf(x); }
DEVICE float power_of_two(float x) { return __builtin_exp2f(x); }
DEVICE float to_whole(float x) { return __builtin_rintf(x); }
#endif // -----------------------------------------------------------------------------------------------

#define THREADS 256
#define HALVES 8
typedef unsigned u32x4 __attribute__((vector_size(16))); // eight halves
typedef float f32x2 __attribute__((vector_size(8)));     // two, which an instruction takes at once

// --- probes ------------------------------------------------------------------------------------------

// Returns the first vector of a thread. Probes go over their vectors several times, and in each pass a block
// has others than in the passes before, so that its part is not in the cache of its compute unit. What was
// read may not be kept for the next pass.
DEVICE unsigned first_of(unsigned pass)
{
    __asm__ volatile("" ::: "memory");
    return (block() + 37 * pass) % blocks() * THREADS + thread();
}

#define EACH_VECTOR(i, first, vectors, step)                                                            \
    for (unsigned long i = (first); i < (vectors); i += (step))

KERNEL roof_read(u32x4 *from, unsigned long vectors, unsigned passes)
{
    const unsigned long step = (unsigned long)blocks() * THREADS;
    u32x4 sum = {0, 0, 0, 0};
    for (unsigned pass = 0; pass < passes; pass++) {
        unsigned long i = first_of(pass);
        for (; i + 3 * step < vectors; i += 4 * step) { // enough loads under way
            const u32x4 a = from[i], b = from[i + step];
            const u32x4 c = from[i + 2 * step], d = from[i + 3 * step];
            sum ^= (a ^ b) ^ (c ^ d);
        }
        for (; i < vectors; i += step) {
            sum ^= from[i];
        }
    }
    // The sum is used, so that no load can be left out; it is hardly ever this one.
    if ((sum[0] ^ sum[1] ^ sum[2] ^ sum[3]) == 2596069104u) {
        from[0] = sum;
    }
}

KERNEL roof_copy(const u32x4 *from, unsigned long vectors, unsigned passes, u32x4 *to)
{
    const unsigned long step = (unsigned long)blocks() * THREADS;
    for (unsigned pass = 0; pass < passes; pass++) {
        EACH_VECTOR (i, first_of(pass), vectors, step) {
            to[i] = from[i];
        }
    }
}

DEVICE u32x4 scale_and_add(u32x4 b, u32x4 c)
{
    float x[4], y[4];
    u32x4 out;
    __builtin_memcpy(x, &b, sizeof x);
    __builtin_memcpy(y, &c, sizeof y);
    for (int k = 0; k < 4; k++) {
        x[k] += 0.5f * y[k];
    }
    __builtin_memcpy(&out, x, sizeof out);
    return out;
}

KERNEL roof_triad(u32x4 *to, unsigned long vectors, unsigned passes, const u32x4 *b, const u32x4 *c)
{
    const unsigned long step = (unsigned long)blocks() * THREADS;
    for (unsigned pass = 0; pass < passes; pass++) {
        EACH_VECTOR (i, first_of(pass), vectors, step) {
            to[i] = scale_and_add(b[i], c[i]);
        }
    }
}

// 64 operations in each of so many rounds, x = x / 2 + 1, in chains of which none waits for another.
// A pair counts as two. The results are stored where they are large, which they never are.
#define CHAINS 16
#define MULTIPLY(name, type, number, repeats)                                                           \
    KERNEL name(type *buffer, unsigned rounds)                                                          \
    {                                                                                                   \
        const type factor = (type){(number)0.5, (number)0.5}, one = (type){(number)1, (number)1};       \
        type x[CHAINS];                                                                                 \
        for (unsigned k = 0; k < CHAINS; k++) {                                                         \
            const number start = (number)(float)((thread() + k) % 64);                                  \
            x[k] = (type){start, start};                                                                \
        }                                                                                               \
        for (unsigned round = 0; round < rounds; round++) {                                             \
            for (int again = 0; again < (repeats); again++) {                                           \
                for (int k = 0; k < CHAINS; k++) {                                                      \
                    x[k] = x[k] * factor + one;                                                         \
                }                                                                                       \
            }                                                                                           \
        }                                                                                               \
        for (int k = 1; k < CHAINS; k++) {                                                              \
            x[0] += x[k];                                                                               \
        }                                                                                               \
        if ((float)x[0][0] > 1000.f) {                                                                  \
            buffer[0] = x[0];                                                                           \
        }                                                                                               \
    }
typedef double f64x2 __attribute__((vector_size(16)));
MULTIPLY(roof_multiply_fp32, f32x2, float, 2) // 2 times 16 pairs
MULTIPLY(roof_multiply_fp16, f16x2, f16, 4)  // as on NVIDIA: 64 pairs, each 4 FLOPs
MULTIPLY(roof_multiply_fp64, f64x2, double, 2)

KERNEL roof_nothing(u32x4 *buffer) { (void)buffer; }

// --- operators: rows of `size` halves each, a multiple of eight -----------------------------------------

DEVICE void unpack(float out[HALVES], u32x4 in)
{
    for (int i = 0; i < 4; i++) {
        out[2 * i] = half_to_float((unsigned short)in[i]);
        out[2 * i + 1] = half_to_float((unsigned short)(in[i] >> 16));
    }
}

DEVICE u32x4 pack(const float in[HALVES])
{
    u32x4 out;
    for (int i = 0; i < 4; i++) {
        out[i] = (unsigned)float_to_half(in[2 * i]) | (unsigned)float_to_half(in[2 * i + 1]) << 16;
    }
    return out;
}

// Returns the sum of what the threads of a block have, or the largest; `values` is shared.
DEVICE float reduce(float *values, float own, int largest)
{
    values[thread()] = own;
    meet();
    for (unsigned distance = THREADS / 2; distance > 0; distance /= 2) {
        if (thread() < distance) {
            const float a = values[thread()], b = values[thread() + distance];
            values[thread()] = largest ? (a > b ? a : b) : a + b;
        }
        meet();
    }
    return values[0];
}

// A block has a row.
KERNEL roof_norm(const u32x4 *rows, const u32x4 *weights, u32x4 *out, unsigned count, unsigned size)
{
    SHARED float values[THREADS];
    const unsigned vectors = size / HALVES;
    const unsigned long at = (unsigned long)block() * vectors;
    float x[HALVES], w[HALVES], sum = 0;
    (void)count;
    for (unsigned i = thread(); i < vectors; i += THREADS) {
        unpack(x, rows[at + i]);
        for (int j = 0; j < HALVES; j++) {
            sum += x[j] * x[j];
        }
    }
    const float scale = 1 / root(reduce(values, sum, 0) / (float)size + 1e-6f);
    for (unsigned i = thread(); i < vectors; i += THREADS) {
        unpack(x, rows[at + i]);
        unpack(w, weights[i]);
        for (int j = 0; j < HALVES; j++) {
            x[j] *= scale * w[j];
        }
        out[at + i] = pack(x);
    }
}

KERNEL roof_add(const u32x4 *a, const u32x4 *b, u32x4 *out, unsigned count, unsigned size)
{
    const unsigned long vectors = (unsigned long)count * (size / HALVES);
    EACH_VECTOR (i, block() * THREADS + thread(), vectors, blocks() * THREADS) {
        float x[HALVES], y[HALVES];
        unpack(x, a[i]);
        unpack(y, b[i]);
        for (int j = 0; j < HALVES; j++) {
            x[j] += y[j];
        }
        out[i] = pack(x);
    }
}

// SiLU of a, times b.
KERNEL roof_gate(const u32x4 *a, const u32x4 *b, u32x4 *out, unsigned count, unsigned size)
{
    const unsigned long vectors = (unsigned long)count * (size / HALVES);
    EACH_VECTOR (i, block() * THREADS + thread(), vectors, blocks() * THREADS) {
        float x[HALVES], y[HALVES];
        unpack(x, a[i]);
        unpack(y, b[i]);
        for (int j = 0; j < HALVES; j++) {
            x[j] = x[j] / (1 + power_of_two(-1.44269504f * x[j])) * y[j];
        }
        out[i] = pack(x);
    }
}

// Rows are heads, a multiple of 16 halves: each of the first half of a head turns with that of the
// second by the cosines and sines in b, which stand in the same places.
KERNEL roof_rotate(const u32x4 *heads, const u32x4 *turns, u32x4 *out, unsigned count, unsigned size)
{
    const unsigned half_of = size / (2 * HALVES);
    EACH_VECTOR (i, block() * THREADS + thread(), (unsigned long)count * half_of, blocks() * THREADS) {
        const unsigned long at = i % half_of;
        const unsigned long first = i / half_of * 2 * half_of + at;
        float x[HALVES], y[HALVES], c[HALVES], s[HALVES];
        unpack(x, heads[first]);
        unpack(y, heads[first + half_of]);
        unpack(c, turns[at]);
        unpack(s, turns[at + half_of]);
        for (int j = 0; j < HALVES; j++) {
            const float low = x[j] * c[j] - y[j] * s[j];
            y[j] = y[j] * c[j] + x[j] * s[j];
            x[j] = low;
        }
        out[first] = pack(x);
        out[first + half_of] = pack(y);
    }
}

// A block has a row: its largest value becomes 127, and all are rounded to bytes. The scale of the row
// stands behind the bytes of all.
KERNEL roof_quantize(const u32x4 *rows, const u32x4 *unused, unsigned *out, unsigned count, unsigned size)
{
    SHARED float values[THREADS];
    const unsigned vectors = size / HALVES;
    const unsigned long at = (unsigned long)block() * vectors;
    float x[HALVES], most = 1e-12f;
    (void)unused;
    for (unsigned i = thread(); i < vectors; i += THREADS) {
        unpack(x, rows[at + i]);
        for (int j = 0; j < HALVES; j++) {
            const float size_of = x[j] < 0 ? -x[j] : x[j];
            most = size_of > most ? size_of : most;
        }
    }
    const float scale = 127 / reduce(values, most, 1);
    for (unsigned i = thread(); i < vectors; i += THREADS) {
        unpack(x, rows[at + i]);
        for (unsigned word = 0; word < 2; word++) {
            unsigned bytes = 0;
            for (unsigned j = 0; j < 4; j++) {
                bytes |= ((unsigned)(int)to_whole(x[4 * word + j] * scale) & 0xff) << 8 * j;
            }
            out[2 * (at + i) + word] = bytes;
        }
    }
    if (thread() == 0) {
        ((float *)(out + (unsigned long)count * vectors * 2))[block()] = 1 / scale;
    }
}
