// SPDX-License-Identifier: MIT
// Kernels for operators that are no products, in 16 bits: rows of activations, and the attention of
// a decode step. Sums are floats. `make cuda-kernels` compiles them to cuda_operators.ptx, which is
// part of the library: its target is the oldest GPU that multiplies such matrices (Turing), and
// drivers compile it for newer ones.
#define DEVICE __attribute__((device)) static inline __attribute__((always_inline))
#define KERNEL(threads, blocks)                                                                    \
    extern "C" __attribute__((global)) __attribute__((launch_bounds(threads, blocks))) void
#define SHARED __attribute__((shared)) static
#define UNROLL _Pragma("unroll")

typedef unsigned vector __attribute__((ext_vector_type(4))); // eight halves
#define HALVES 8
#define WARP 32
#define ALL_LANES 0xffffffffU

DEVICE unsigned thread() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE unsigned threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE unsigned block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE unsigned blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE unsigned block_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
DEVICE unsigned blocks_y() { return __nvvm_read_ptx_sreg_nctaid_y(); }
DEVICE float exp2(float x) { return __nvvm_ex2_approx_ftz_f(x); }
DEVICE float swap(float x, int distance)
{
    return __nvvm_shfl_sync_bfly_f32(ALL_LANES, x, distance, 31);
}

DEVICE float half_to_float(unsigned short half)
{
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(half));
    return out;
}

DEVICE unsigned short low_half(unsigned pair) { return (unsigned short)pair; }
DEVICE unsigned short high_half(unsigned pair) { return (unsigned short)(pair >> 16); }

DEVICE unsigned short float_to_half(float x)
{
    unsigned short out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x));
    return out;
}

DEVICE unsigned pair_up(unsigned short low, unsigned short high)
{
    unsigned out;
    asm("mov.b32 %0, {%1, %2};" : "=r"(out) : "h"(low), "h"(high));
    return out;
}

DEVICE unsigned pack(float low, float high)
{
    return pair_up(float_to_half(low), float_to_half(high));
}

DEVICE void unpack(float out[HALVES], vector in)
{
    UNROLL for (int i = 0; i < 4; i++) {
        out[2 * i] = half_to_float(low_half(in[i]));
        out[2 * i + 1] = half_to_float(high_half(in[i]));
    }
}

DEVICE vector packed(const float in[HALVES])
{
    vector out;
    UNROLL for (int i = 0; i < 4; i++) {
        out[i] = pack(in[2 * i], in[2 * i + 1]);
    }
    return out;
}

// Adds up a float over the lanes of a warp, in groups of so many.
template <int LANES> DEVICE float sum_lanes(float x)
{
    UNROLL for (int distance = LANES / 2; distance > 0; distance /= 2) {
        x += swap(x, distance);
    }
    return x;
}

// Adds up a float over a block of 256 threads.
#define ROW_THREADS 256
DEVICE float sum_block(float x)
{
    SHARED float sums[ROW_THREADS / WARP];
    x = sum_lanes<WARP>(x);
    sums[thread() / WARP] = x;
    __syncthreads();
    float sum = 0;
    UNROLL for (int i = 0; i < ROW_THREADS / WARP; i++) {
        sum += sums[i];
    }
    return sum;
}

// --- rows: `size` halves each, a multiple of eight ------------------------------------------------

// A block has a row. The first vectors of it stay in registers, so that they are read once.
#define KEPT 2
KERNEL(ROW_THREADS, 1)
roof_norm(const vector *rows, const vector *weights, vector *out, unsigned count, unsigned size)
{
    const unsigned vectors = size / HALVES;
    const vector *const row = rows + (unsigned long)block() * vectors;
    vector *const to = out + (unsigned long)block() * vectors;
    vector kept[KEPT], weight[KEPT];
    float x[HALVES], w[HALVES];
    float sum = 0;
    UNROLL for (int k = 0; k < KEPT; k++) {
        const unsigned i = thread() + k * ROW_THREADS;
        kept[k] = i < vectors ? row[i] : (vector)0;
        weight[k] = i < vectors ? weights[i] : (vector)0;
    }
    UNROLL for (int k = 0; k < KEPT; k++) {
        unpack(x, kept[k]);
        UNROLL for (int j = 0; j < HALVES; j++) {
            sum += x[j] * x[j];
        }
    }
    for (unsigned i = thread() + KEPT * ROW_THREADS; i < vectors; i += ROW_THREADS) {
        unpack(x, row[i]);
        UNROLL for (int j = 0; j < HALVES; j++) {
            sum += x[j] * x[j];
        }
    }
    const float scale = __nvvm_rsqrt_approx_f(sum_block(sum) / (float)size + 1e-6f);
    for (unsigned k = 0, i = thread(); i < vectors; i += ROW_THREADS, k++) {
        unpack(x, k == 0 ? kept[0] : k == 1 ? kept[1] : row[i]);
        unpack(w, k == 0 ? weight[0] : k == 1 ? weight[1] : weights[i]);
        UNROLL for (int j = 0; j < HALVES; j++) {
            x[j] *= scale * w[j];
        }
        to[i] = packed(x);
    }
}

// Threads go over all vectors.
#define EACH_VECTOR(i, count)                                                                      \
    for (unsigned i = block() * ROW_THREADS + thread(); i < (count); i += blocks() * ROW_THREADS)

KERNEL(ROW_THREADS, 8)
roof_add(const vector *a, const vector *b, vector *out, unsigned rows, unsigned size)
{
    EACH_VECTOR (i, rows *(size / HALVES)) {
        float x[HALVES], y[HALVES];
        unpack(x, a[i]);
        unpack(y, b[i]);
        UNROLL for (int j = 0; j < HALVES; j++) {
            x[j] += y[j];
        }
        out[i] = packed(x);
    }
}

// SiLU of a, times b.
KERNEL(ROW_THREADS, 8)
roof_gate(const vector *a, const vector *b, vector *out, unsigned rows, unsigned size)
{
    EACH_VECTOR (i, rows *(size / HALVES)) {
        float x[HALVES], y[HALVES];
        unpack(x, a[i]);
        unpack(y, b[i]);
        UNROLL for (int j = 0; j < HALVES; j++) {
            x[j] = x[j] / (1 + exp2(-1.44269504f * x[j])) * y[j];
        }
        out[i] = packed(x);
    }
}

// Rows are heads, a multiple of 16 halves: each of the first half of a head turns with that of the
// second by the cosines and sines in b, which stand in the same places.
KERNEL(ROW_THREADS, 8)
roof_rotate(const vector *heads, const vector *turns, vector *out, unsigned rows, unsigned size)
{
    const unsigned half = size / (2 * HALVES);
    EACH_VECTOR (i, rows * half) {
        const unsigned at = i % half;
        const unsigned first = i / half * 2 * half + at;
        float x[HALVES], y[HALVES], c[HALVES], s[HALVES];
        unpack(x, heads[first]);
        unpack(y, heads[first + half]);
        unpack(c, turns[at]);
        unpack(s, turns[at + half]);
        UNROLL for (int j = 0; j < HALVES; j++) {
            const float low = x[j] * c[j] - y[j] * s[j];
            y[j] = y[j] * c[j] + x[j] * s[j];
            x[j] = low;
        }
        out[first] = packed(x);
        out[first + half] = packed(y);
    }
}

// A block has a row: its largest value becomes 127, and all are rounded to bytes. The scale of the
// row stands behind the bytes of all.
KERNEL(ROW_THREADS, 1)
roof_quantize(const vector *rows, const vector *unused, unsigned *out, unsigned count, unsigned size)
{
    const unsigned vectors = size / HALVES;
    const vector *const row = rows + (unsigned long)block() * vectors;
    unsigned *const to = out + (unsigned long)block() * vectors * 2;
    SHARED float most_of[ROW_THREADS / WARP];
    float x[HALVES];
    float most = 0;
    vector kept[KEPT];
    UNROLL for (int k = 0; k < KEPT; k++) {
        const unsigned i = thread() + k * ROW_THREADS;
        kept[k] = i < vectors ? row[i] : (vector)0;
    }
    UNROLL for (int k = 0; k < KEPT; k++) {
        unpack(x, kept[k]);
        UNROLL for (int j = 0; j < HALVES; j++) {
            most = __nvvm_fmax_f(most, __nvvm_fabs_f(x[j]));
        }
    }
    for (unsigned i = thread() + KEPT * ROW_THREADS; i < vectors; i += ROW_THREADS) {
        unpack(x, row[i]);
        UNROLL for (int j = 0; j < HALVES; j++) {
            most = __nvvm_fmax_f(most, __nvvm_fabs_f(x[j]));
        }
    }
    UNROLL for (int distance = WARP / 2; distance > 0; distance /= 2) {
        most = __nvvm_fmax_f(most, swap(most, distance));
    }
    most_of[thread() / WARP] = most;
    __syncthreads();
    UNROLL for (int i = 0; i < ROW_THREADS / WARP; i++) {
        most = __nvvm_fmax_f(most, most_of[i]);
    }
    const float scale = 127 / __nvvm_fmax_f(most, 1e-12f);
    for (unsigned k = 0, i = thread(); i < vectors; i += ROW_THREADS, k++) {
        unpack(x, k == 0 ? kept[0] : k == 1 ? kept[1] : row[i]);
        UNROLL for (int word = 0; word < 2; word++) {
            unsigned bytes = 0;
            UNROLL for (int j = 0; j < 4; j++) {
                bytes |= (__nvvm_f2i_rn(x[4 * word + j] * scale) & 0xff) << 8 * j;
            }
            to[2 * i + word] = bytes;
        }
    }
    if (thread() == 0) {
        ((float *)(out + (unsigned long)count * vectors * 2))[block()] = 1 / scale;
    }
}

// --- attention of one query position --------------------------------------------------------------

// Adds the product of 16 x 8 and 8 x 8 halves to 16 x 8 floats. Of each matrix a lane has the
// elements that the PTX ISA gives it ("mma.m16n8k8"): with row = lane / 4 and t = lane % 4, of the
// first those at rows `row` and `row` + 8, columns 2t and 2t + 1; of the second, rows 2t and 2t + 1
// of column `row`; of the sum, rows `row` and `row` + 8, columns 2t and 2t + 1.
DEVICE void multiply(float sum[4], unsigned a_low, unsigned a_high, unsigned b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6},"
        " {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a_low), "r"(a_high), "r"(b));
}

// A block has up to 16 queries that share a head of keys, and a part of its keys. Its warps take
// eight keys at a time in turn, and load the next while they work on these. Scores are queries x
// keys, and results weights x values. Which column of a matrix is which element of a head is up to
// us, as long as both factors agree: a lane loads eight halves of a key, which are its elements for
// four products, and eight halves of two values, one of each for a product.
#define QUERIES 16
#define WARPS 4
#define UNIT 8 // keys
#define NONE -1e30f // a score that no key has

// The keys and values of a unit that a lane has.
template <int DIM> struct unit {
    vector key[DIM / 32];
    vector value[2][DIM / 64];
};

template <int DIM>
DEVICE void load(unit<DIM> &out, const vector *keys_at, const vector *values_at, unsigned first,
                 unsigned last)
{
    const unsigned row = thread() % WARP / 4;
    const unsigned t = thread() % 4;
    const unsigned key = first + row < last ? first + row : last;
    UNROLL for (int i = 0; i < DIM / 32; i++) {
        out.key[i] = keys_at[(unsigned long)key * (DIM / HALVES) + 4 * i + t];
    }
    UNROLL for (int k = 0; k < 2; k++) {
        const unsigned value = first + 2 * t + k < last ? first + 2 * t + k : last;
        UNROLL for (int i = 0; i < DIM / 64; i++) {
            out.value[k][i] = values_at[(unsigned long)value * (DIM / HALVES) + 8 * i + row];
        }
    }
}

// What a warp has of its queries: the highest score m, the sum l of 2^(score - m), and the values c,
// weighted so; a lane has rows `row` and `row` + 8.
template <int DIM> struct state {
    float m[2], l[2];
    float c[DIM / 8][4];
};

template <int DIM>
DEVICE void work_on(state<DIM> &s, const vector q[2][DIM / 32], const unit<DIM> &u, unsigned first,
                    unsigned until, float scale)
{
    const unsigned t = thread() % 4;
    float score[4] = {0, 0, 0, 0};
    UNROLL for (int i = 0; i < DIM / 32; i++) {
        UNROLL for (int j = 0; j < 4; j++) {
            multiply(score, q[0][i][j], q[1][i][j], u.key[i][j]);
        }
    }
    UNROLL for (int i = 0; i < 4; i++) {
        score[i] = first + 2 * t + i % 2 < until ? score[i] * scale : NONE;
    }
    float most[2];
    bool higher = false;
    UNROLL for (int r = 0; r < 2; r++) {
        most[r] = __nvvm_fmax_f(s.m[r], __nvvm_fmax_f(score[2 * r], score[2 * r + 1]));
        most[r] = __nvvm_fmax_f(most[r], swap(most[r], 1));
        most[r] = __nvvm_fmax_f(most[r], swap(most[r], 2));
        higher = higher || most[r] > s.m[r];
    }
    if (__nvvm_vote_any_sync(ALL_LANES, higher)) { // seldom after the first units
        UNROLL for (int r = 0; r < 2; r++) {
            const float old = exp2(s.m[r] - most[r]);
            s.m[r] = most[r];
            s.l[r] *= old;
            UNROLL for (int j = 0; j < DIM / 8; j++) {
                s.c[j][2 * r] *= old;
                s.c[j][2 * r + 1] *= old;
            }
        }
    }
    UNROLL for (int i = 0; i < 4; i++) {
        score[i] = exp2(score[i] - s.m[i / 2]);
        s.l[i / 2] += score[i];
    }
    const unsigned low = pack(score[0], score[1]);
    const unsigned high = pack(score[2], score[3]);
    UNROLL for (int i = 0; i < DIM / 64; i++) {
        UNROLL for (int j = 0; j < 4; j++) {
            const unsigned a = u.value[0][i][j], b = u.value[1][i][j];
            multiply(s.c[8 * i + 2 * j], low, high, pair_up(low_half(a), low_half(b)));
            multiply(s.c[8 * i + 2 * j + 1], low, high, pair_up(high_half(a), high_half(b)));
        }
    }
}

template <int DIM>
DEVICE void attend(const vector *queries, const vector *keys_at, const vector *values_at,
                   float *parts, unsigned short *out, unsigned keys, unsigned group, unsigned each)
{
    const unsigned vectors = DIM / HALVES;
    const unsigned blocks_of_head = (group + QUERIES - 1) / QUERIES;
    const unsigned head = block() / blocks_of_head;
    const unsigned first_query = block() % blocks_of_head * QUERIES;
    const unsigned warp = thread() / WARP;
    const unsigned row = thread() % WARP / 4;
    const unsigned t = thread() % 4;
    const unsigned from = block_y() * each;
    const unsigned until = from + each < keys ? from + each : keys;
    const float scale = 1.44269504f * __nvvm_rsqrt_approx_f((float)DIM);
    keys_at += (unsigned long)head * keys * vectors;
    values_at += (unsigned long)head * keys * vectors;
    vector q[2][DIM / 32];
    state<DIM> s;
    UNROLL for (int r = 0; r < 2; r++) {
        const unsigned query = first_query + row + 8 * r;
        UNROLL for (int i = 0; i < DIM / 32; i++) {
            q[r][i] = query < group
                          ? queries[((unsigned long)head * group + query) * vectors + 4 * i + t]
                          : (vector)0;
        }
        s.m[r] = NONE;
        s.l[r] = 0;
        UNROLL for (int j = 0; j < DIM / 8; j++) {
            s.c[j][2 * r] = s.c[j][2 * r + 1] = 0;
        }
    }
    unit<DIM> now, next;
    unsigned first = from + warp * UNIT;
    load<DIM>(now, keys_at, values_at, first, keys - 1);
    for (; first < until; first += WARPS * UNIT) {
        load<DIM>(next, keys_at, values_at, first + WARPS * UNIT, keys - 1);
        work_on<DIM>(s, q, now, first, until, scale);
        now = next;
    }
    // The warps put their results together.
    SHARED float shared_m[WARPS][QUERIES], shared_l[WARPS][QUERIES];
    SHARED float shared_c[WARPS][QUERIES][DIM];
    UNROLL for (int r = 0; r < 2; r++) {
        s.l[r] += swap(s.l[r], 1);
        s.l[r] += swap(s.l[r], 2);
        if (t == 0) {
            shared_m[warp][row + 8 * r] = s.m[r];
            shared_l[warp][row + 8 * r] = s.l[r];
        }
        UNROLL for (int j = 0; j < DIM / 8; j++) {
            float *const to = &shared_c[warp][row + 8 * r][j / 8 * 64 + j % 8];
            to[16 * t] = s.c[j][2 * r];
            to[16 * t + 8] = s.c[j][2 * r + 1];
        }
    }
    __syncthreads();
    const unsigned at = thread() % DIM;
    for (unsigned i = thread() / DIM; i < QUERIES && first_query + i < group;
         i += WARPS * WARP / DIM) {
        float most = NONE, l = 0, c = 0;
        UNROLL for (int w = 0; w < WARPS; w++) {
            most = __nvvm_fmax_f(most, shared_m[w][i]);
        }
        UNROLL for (int w = 0; w < WARPS; w++) {
            const float share = exp2(shared_m[w][i] - most);
            l += share * shared_l[w][i];
            c += share * shared_c[w][i][at];
        }
        const unsigned long query = (unsigned long)head * group + first_query + i;
        float *const part = parts + (query * blocks_y() + block_y()) * (DIM + 2);
        if (blocks_y() == 1) { // there is nothing to merge
            out[query * DIM + at] = float_to_half(c / l);
        } else {
            part[2 + at] = c;
        }
        if (at == 0 && blocks_y() > 1) {
            part[0] = most;
            part[1] = l;
        }
    }
}

#define ATTEND(name, dim)                                                                          \
    KERNEL(WARP *WARPS, 3)                                                                         \
    name(const vector *queries, const vector *keys_at, const vector *values_at, float *parts,      \
         unsigned short *out, unsigned keys, unsigned group, unsigned each)                        \
    {                                                                                              \
        attend<dim>(queries, keys_at, values_at, parts, out, keys, group, each);                   \
    }
ATTEND(roof_attend_64, 64)
ATTEND(roof_attend_128, 128)

// Puts the parts of the keys together: a block has a query, and a thread an element of it, `dim` of
// them. There are at most as many parts as threads.
#define PARTS_MAX 64
KERNEL(128, 1)
roof_merge(const float *parts, unsigned short *out, unsigned count)
{
    const unsigned dim = threads();
    SHARED float most_of[PARTS_MAX], weight[PARTS_MAX];
    const float *const own = parts + (unsigned long)block() * count * (dim + 2);
    float l = 0;
    if (thread() < PARTS_MAX) {
        most_of[thread()] = thread() < count ? own[thread() * (dim + 2)] : NONE;
        l = thread() < count ? own[thread() * (dim + 2) + 1] : 0;
    }
    __syncthreads();
    float most = NONE;
    UNROLL for (int i = 0; i < PARTS_MAX; i++) {
        most = __nvvm_fmax_f(most, most_of[i]);
    }
    __syncthreads();
    if (thread() < PARTS_MAX) {
        weight[thread()] = exp2(most_of[thread()] - most);
        most_of[thread()] = weight[thread()] * l; // from now on the sums
    }
    __syncthreads();
    float sum = 0, c = 0;
    _Pragma("unroll 8") for (unsigned i = 0; i < count; i++) {
        sum += most_of[i];
        c += weight[i] * own[i * (dim + 2) + 2 + thread()];
    }
    out[block() * dim + thread()] = float_to_half(c / sum);
}
