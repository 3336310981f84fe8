// SPDX-License-Identifier: MIT
/* Tiles of products, on a device whose figures can be reckoned with in the head. */
#include "support.h"

#include <string.h>

#include "predict/tile.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* 10 SMs of 1 TFLOPS, 1000 clocks per us, 128 kB/us into the shared memory of an SM. */
#define FIGURES                                                                                    \
    "\"bandwidth_gb_s\": 100, \"peak_tflops\": {\"fp16\": 10, \"fp8\": 20}, \"sm_count\": 10, "    \
    "\"boost_clock_mhz\": 1000, \"l2_bandwidth_gb_s\": 1000, \"sm_shared_bytes\": 66560, "         \
    "\"block_shared_bytes\": 65536, \"sm_registers\": 65536, \"sm_threads\": 1024, "               \
    "\"sm_blocks\": 8, \"cluster_blocks\": 4"
#define CHIP "{\"id\": \"chip\", \"l2_bytes\": 1000000, " FIGURES "}"
/* A cache that holds nothing for long. */
#define SMALL "{\"id\": \"small\", \"l2_bytes\": 1000, " FIGURES "}"
/* A cache that holds B and one row of tiles of A below, but not two. */
#define MIDDLE "{\"id\": \"middle\", \"l2_bytes\": 360000, " FIGURES "}"
#define TENSOR "{\"id\": \"tensor\", \"l2_bytes\": 1000000, \"sm_tmem_bytes\": 262144, " FIGURES "}"

struct asked {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t tile[3];
    int64_t stages;
    int64_t cluster[2];
};

static enum roof_status analyse(struct roof_tile *out, const char *device,
                                const struct asked *asked, struct roof_error *error)
{
    struct roof_hardware *const hardware = parse_device(device);
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_prediction p;
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = asked->m;
    w.shape.n = asked->n;
    w.shape.k = asked->k;
    const struct roof_sizes sizes = {{asked->tile[0], asked->tile[1], asked->tile[2]}};
    const struct roof_sizes cluster = {{asked->cluster[0], asked->cluster[1], 0}};
    const struct roof_tile_choice choice = {roof_sizes_pack(&sizes), asked->stages,
                                            roof_sizes_pack(&cluster)};
    assert_int_equal(roof_predict(&p, &w, hardware, error), ROOF_OK);
    const enum roof_status status = roof_tile_predict(out, &p, &choice, error);
    roof_hardware_free(hardware);
    return status;
}

static void close_to(double got, double wanted)
{
    assert_true(fabs(got - wanted) <= 1e-12 * fabs(wanted));
}

/* 640 x 512 x 256 in tiles of 128 x 128 x 32: 5 x 4 tiles, 2 rounds on 10 SMs. */
static void test_whole(void **unused)
{
    (void)unused;
    const struct asked asked = {640, 512, 256, {128, 128, 32}, 2, {0, 0}};
    struct roof_error error = {0};
    struct roof_tile t;
    assert_int_equal(analyse(&t, CHIP, &asked, &error), ROOF_OK);
    assert_string_equal(t.name, "128x128x32");
    close_to(t.shared_bytes, 32768); /* 2 stages of (128 + 128) x 32 x 2 bytes */
    close_to(t.threads, 128);        /* 16384 accumulators, 128 of each thread */
    close_to(t.registers, 160);
    close_to(t.blocks_per_sm, 1); /* 66560 / (32768 + 1024) */
    assert_int_equal(t.resource, ROOF_TILE_SHARED);
    close_to(t.grid, 20);
    close_to(t.waves, 2);
    close_to(t.wave_efficiency, 1);
    close_to(t.busy, 1);
    close_to(t.time_s[ROOF_TILE_COMPUTE], 2.0 * 640 * 512 * 256 / 10e12);
    /* A is read by 4 columns of tiles, B by 5 rows. */
    close_to(t.bytes[ROOF_TILE_L2], 327680.0 * 4 + 262144.0 * 5 + 655360);
    close_to(t.time_s[ROOF_TILE_L2], 3276800 / 1e12);
    close_to(t.bytes[ROOF_TILE_SHARED_MEMORY], 20 * 8 * 16384.0);
    /* Two tiles of 8 steps of 16384 bytes at 128 bytes per clock. */
    close_to(t.time_s[ROOF_TILE_SHARED_MEMORY], 2 * 8 * 128e-9);
    close_to(t.bytes[ROOF_TILE_MEMORY], 327680.0 + 262144 + 655360);
    close_to(t.bytes_in_flight, 10 * 16384.0);
    assert_int_equal(t.limit, ROOF_TILE_COMPUTE);
    close_to(t.total_s, 16.777216e-6);
}

/* Nothing stays in a small cache: a wave of 10 tiles goes over 4 x 4 tiles of a 512 x 512 output.
 * A, B and C have 262144, 262144 and 524288 bytes. */
static void test_orders(void **unused)
{
    (void)unused;
    const struct asked asked = {512, 512, 256, {128, 128, 32}, 2, {0, 0}};
    struct roof_error error = {0};
    struct roof_tile t;
    assert_int_equal(analyse(&t, SMALL, &asked, &error), ROOF_OK);
    /* Bands of one row: all columns at once, A once, B for each of 4 bands. */
    close_to(t.order_bytes[ROOF_TILE_ALONG_N], 262144.0 + 4 * 262144 + 524288);
    /* One band of 4 rows: 2 of 4 columns at once, A twice, B once. */
    close_to(t.order_bytes[ROOF_TILE_ALONG_M], 2 * 262144.0 + 262144 + 524288);
    /* Bands of 2 rows: all columns at once, A once, B twice. */
    close_to(t.group, 2);
    close_to(t.order_bytes[ROOF_TILE_GROUPED], 262144.0 + 2 * 262144 + 524288);
    assert_int_equal(t.order, ROOF_TILE_ALONG_M);
    assert_int_equal(analyse(&t, MIDDLE, &asked, &error), ROOF_OK);
    close_to(t.order_bytes[ROOF_TILE_ALONG_N], 262144.0 + 4 * 262144 + 524288);
    /* Two columns at once are 131072 bytes beside all of A, 262144: too many by a little. */
    close_to(t.order_bytes[ROOF_TILE_ALONG_M], 2 * 262144.0 + 262144 + 524288);
}

/* Clusters of 2 x 1 share the columns of B; those that are not full are filled up. */
static void test_cluster(void **unused)
{
    (void)unused;
    const struct asked asked = {640, 512, 256, {128, 128, 32}, 2, {2, 1}};
    struct roof_error error = {0};
    struct roof_tile t;
    assert_int_equal(analyse(&t, CHIP, &asked, &error), ROOF_OK);
    close_to(t.grid, 24);
    close_to(t.waves, 2.4);
    close_to(t.wave_efficiency, 0.8);
    close_to(t.busy, 1);
    close_to(t.bytes[ROOF_TILE_L2], 327680.0 * 4 + 262144.0 * 3 + 655360);
    const struct asked wide = {640, 512, 256, {128, 128, 32}, 2, {1, 2}};
    assert_int_equal(analyse(&t, CHIP, &wide, &error), ROOF_OK);
    close_to(t.grid, 20);
    close_to(t.bytes[ROOF_TILE_L2], 327680.0 * 2 + 262144.0 * 5 + 655360);
}

/* Rows of 257 elements of 2 bytes begin at any even byte: a part of 64 bytes touches (64 + 30) / 32
 * sectors on average, and a thread loads 2 bytes. */
static void test_misaligned(void **unused)
{
    (void)unused;
    const struct asked asked = {128, 136, 257, {128, 128, 32}, 2, {0, 0}};
    struct roof_error error = {0};
    struct roof_tile t;
    assert_int_equal(analyse(&t, CHIP, &asked, &error), ROOF_OK);
    close_to(t.k_alignment, 2);
    close_to(t.n_alignment, 16);
    const double a = 128 * 257 * 2.0;
    const double b = 136 * 257 * 2.0;
    const double c = 128 * 136 * 2.0;
    /* A row of the output has 272 bytes, and every second part of 256 begins inside a sector. */
    close_to(t.bytes[ROOF_TILE_L2], (2 * a + b) * 94 / 64 + c * (256 + 16) / 256);
    close_to(t.sector_bytes, (2 * a + b) * 30 / 64 + c * 16 / 256);
    /* One tile per SM of 9 steps, 16384 bytes each at 32 x 2 bytes per clock. */
    close_to(t.time_s[ROOF_TILE_SHARED_MEMORY], 9 * 256e-9);
}

/* Accumulators in a memory of their own take no registers: 256 columns of 512 are two blocks. */
static void test_tensor_memory(void **unused)
{
    (void)unused;
    const struct asked asked = {640, 512, 256, {128, 256, 16}, 1, {0, 0}};
    struct roof_error error = {0};
    struct roof_tile t;
    assert_int_equal(analyse(&t, TENSOR, &asked, &error), ROOF_OK);
    close_to(t.threads, 128);
    close_to(t.registers, 32);
    close_to(t.blocks_per_sm, 2);
    assert_int_equal(t.resource, ROOF_TILE_TENSOR_MEMORY);
    assert_int_equal(analyse(&t, CHIP, &asked, &error), ROOF_OK);
    close_to(t.threads, 256);
    close_to(t.registers, 160);
    close_to(t.blocks_per_sm, 1);
    assert_int_equal(t.resource, ROOF_TILE_REGISTERS);
}

static void test_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *device;
        struct asked asked;
        const char *cause;
    } cases[] = {
        {CHIP, {64, 64, 64, {128, 128, 64}, 4, {0, 0}}, "needs 128 KiB of shared memory"},
        {CHIP, {64, 64, 64, {128, 12, 64}, 4, {0, 0}}, "multiple of 8"},
        {CHIP, {64, 64, 64, {64, 64, 16}, 1, {4, 2}}, "at most 4 thread blocks"},
        {CHIP, {64, 64, 64, {512, 512, 8}, 1, {0, 0}}, "more registers"},
        {"{\"id\": \"bare\", \"bandwidth_gb_s\": 1, \"peak_tflops\": {\"fp16\": 1}}",
         {64, 64, 64, {64, 64, 16}, 1, {0, 0}},
         "sm_shared_bytes of bare is unknown"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct roof_error error = {0};
        struct roof_tile t;
        assert_int_equal(analyse(&t, cases[i].device, &cases[i].asked, &error), ROOF_USAGE);
        assert_non_null(strstr(error.message, cases[i].cause));
    }
}

/* No tile is faster than the bound of its product, and larger caches save bytes. */
static void test_bounds(void **unused)
{
    (void)unused;
    for (size_t i = 0; roof_tile_candidate(i) != 0; i++) {
        const struct roof_sizes sizes = roof_sizes_unpack(roof_tile_candidate(i));
        const struct asked asked = {1000, 3000,  520, {sizes.size[0], sizes.size[1], sizes.size[2]},
                                    1,    {0, 0}};
        struct roof_error error = {0};
        struct roof_tile t;
        struct roof_tile small;
        if (analyse(&t, CHIP, &asked, &error) != ROOF_OK) {
            continue;
        }
        assert_int_equal(analyse(&small, SMALL, &asked, &error), ROOF_OK);
        const double least = 1000 * 520 * 2.0 + 3000 * 520 * 2.0 + 1000 * 3000 * 2.0;
        assert_true(t.bytes[ROOF_TILE_MEMORY] >= least);
        assert_true(small.bytes[ROOF_TILE_MEMORY] >= t.bytes[ROOF_TILE_MEMORY]);
        assert_true(t.bytes[ROOF_TILE_L2] >= least);
        assert_true(t.time_s[ROOF_TILE_COMPUTE] >= 2.0 * 1000 * 3000 * 520 / 10e12);
        assert_true(t.busy <= 1 && t.wave_efficiency <= 1);
    }
}

/* The best tile of 640 x 512 x 256 is 128 x 256 x 32: 5 rows and 2 columns of tiles read A twice
 * and B five times, and C is written, 2,621,440 bytes in all. No candidate comes before it. */
static void test_best(void **unused)
{
    (void)unused;
    struct roof_hardware *const chip = parse_device(CHIP);
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_prediction p;
    struct roof_tile best;
    struct roof_tile t;
    struct roof_error error = {0};
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = 640;
    w.shape.n = 512;
    w.shape.k = 256;
    assert_int_equal(roof_predict(&p, &w, chip, &error), ROOF_OK);
    assert_true(roof_tile_best(&best, &p));
    assert_string_equal(best.name, "128x256x32");
    close_to(best.bytes[ROOF_TILE_L2], 2621440);
    close_to(best.intensity[ROOF_TILE_L2], 64);
    for (size_t i = 0; roof_tile_candidate(i) != 0; i++) {
        const struct roof_tile_choice choice = {.tile = roof_tile_candidate(i)};
        if (roof_tile_predict(&t, &p, &choice, &error) == ROOF_OK) {
            assert_true(roof_tile_compare(&best, &t) <= 0);
            assert_true(best.total_s <= t.total_s);
        }
    }
    w.op = ROOF_OPERATOR_ADD;
    w.shape = (struct roof_shape){.tokens = 8, .hidden = 8};
    assert_int_equal(roof_predict(&p, &w, chip, &error), ROOF_OK);
    assert_false(roof_tile_best(&best, &p));
    roof_hardware_free(chip);
}

/* Rows of the output that begin at multiples of 2 bytes, on a device with an estimate. The bound is
 * that of the estimate's tile, with steps of 128 bytes; without a tile, the best usual one's. */
static void test_what_misaligned_costs(void **unused)
{
    (void)unused;
    struct roof_hardware *const device = load_calibrated("h100-sxm");
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    struct roof_prediction p;
    struct roof_misaligned found;
    struct roof_tile t;
    struct roof_error error = {0};
    w.op = ROOF_OPERATOR_GEMM;
    w.shape.m = 512;
    w.shape.n = 4095;
    w.shape.k = 4096;
    assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_OK);
    assert_true(roof_tile_misaligned(&found, &p));
    close_to(found.k_bytes, 16);
    close_to(found.n_bytes, 2);
    const struct roof_tiling *const own = &p.part[0].expected.tiling;
    const struct roof_sizes sizes = {{own->tile_m, own->tile_n, 64}};
    const struct roof_tile_choice choice = {.tile = roof_sizes_pack(&sizes)};
    assert_int_equal(roof_tile_predict(&t, &p, &choice, &error), ROOF_OK);
    assert_true(found.bounded && found.own);
    assert_string_equal(found.tile.name, t.name);
    close_to(found.tile.total_s, t.total_s);
    assert_true(own->split_k == 1 && !found.cut);
    p.part[0].expected.tiling.split_k = 2;
    assert_true(roof_tile_misaligned(&found, &p));
    assert_true(found.cut); /* the tile has K in one part, the estimate in two */
    p.part[0].expected.tiled = false;
    assert_true(roof_tile_misaligned(&found, &p));
    assert_true(roof_tile_best(&t, &p));
    assert_true(found.bounded && !found.own);
    assert_string_equal(found.tile.name, t.name);
    p.expected_s = ROOF_UNKNOWN; /* nothing is left out of no estimate */
    assert_false(roof_tile_misaligned(&found, &p));
    w.shape.m = 1; /* one row of the output begins at its beginning */
    assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_OK);
    assert_false(roof_tile_misaligned(&found, &p));
    w.op = ROOF_OPERATOR_BMM; /* two products have one each */
    w.shape.batch = 2;
    assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_OK);
    assert_true(roof_tile_misaligned(&found, &p));
    w.op = ROOF_OPERATOR_GEMV;
    w.shape = (struct roof_shape){.n = 4095, .k = 4097};
    assert_int_equal(roof_predict(&p, &w, device, &error), ROOF_OK);
    assert_true(roof_tile_misaligned(&found, &p));
    close_to(found.k_bytes, 2);
    close_to(found.n_bytes, 16);
    w = p.workload; /* its formats are resolved */
    roof_tile_pad(&w);
    assert_true(w.shape.k == 4104 && w.shape.n == 4095);
    free_calibrated(device);
}

/* Rows of 16 bytes have 8 elements of 16 bits, 16 of 8 bits and 32 of 4 bits. */
static void test_pad(void **unused)
{
    (void)unused;
    struct roof_workload w = ROOF_WORKLOAD_INIT;
    w.shape = (struct roof_shape){.m = 2, .n = 4095, .k = 4097};
    w.formats.activations = ROOF_PRECISION_BF16;
    w.formats.weights = ROOF_PRECISION_BF16;
    w.formats.out = ROOF_PRECISION_BF16;
    roof_tile_pad(&w);
    assert_true(w.shape.k == 4104 && w.shape.n == 4096);
    w.formats.weights = ROOF_PRECISION_FP8_E4M3; /* the narrower operand decides */
    roof_tile_pad(&w);
    assert_int_equal(w.shape.k, 4112);
    w.formats.activations = ROOF_PRECISION_NVFP4;
    roof_tile_pad(&w);
    assert_int_equal(w.shape.k, 4128);
    w.shape.m = 1;
    w.shape.n = 4095;
    roof_tile_pad(&w);
    assert_true(w.shape.k == 4128 && w.shape.n == 4095);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_tensor_memory),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_what_misaligned_costs),
        cmocka_unit_test(test_pad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
