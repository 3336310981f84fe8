// SPDX-License-Identifier: MIT
/* Nodes that are added to a graph by hand: which of them quantise their input, and which are one.
 * No model has the cases here that its families do not combine. */
#include "models.h"

#include "model/graph_parts.h"

/* A builder outside the layers, whose products quantise blocks of their inputs. */
struct bench {
    struct roof_graph graph;
    struct roof_scenario scenario;
    struct builder builder;
};

static void begin(struct bench *b)
{
    *b = (struct bench){.builder = {.graph = &b->graph, .s = &b->scenario}};
    roof_scenario_init(&b->scenario);
    b->scenario.common.quantize_input = ROOF_QUANTIZE_BLOCK;
}

/* A product in a format of 8 bits, or routed experts. */
static struct roof_node node(const char *name, enum roof_operator op, enum roof_precision format)
{
    return (struct roof_node){
        .name = name,
        .workload = {.op = op, .formats = {.weights = format, .activations = format}}};
}

/* Adds a node that reads one operator, of this layer or of the one before. Returns how the last
 * node of the graph quantises its input. */
static int64_t add_in(struct bench *b, const char *name, enum roof_operator op,
                      enum roof_precision format, const char *read, bool before)
{
    struct roof_node one = node(name, op, format);
    b->builder.from = (struct roof_reads){.count = 1, .name = {read}, .before = {before}};
    roof_graph_add(&b->builder, &one);
    return b->graph.node[b->graph.count - 1].workload.quantize_input;
}

static int64_t add(struct bench *b, const char *name, enum roof_operator op, const char *read,
                   bool before)
{
    return add_in(b, name, op, ROOF_PRECISION_FP8_E4M3, read, before);
}

/* Products of the same input share one quantisation; kernels of experts have their own. */
static void test_experts_quantize_themselves(void **state)
{
    static struct bench b;
    (void)state;
    begin(&b);
    assert_int_equal(add(&b, "one", ROOF_OPERATOR_GEMM, "mlp_norm", false), ROOF_QUANTIZE_BLOCK);
    assert_int_equal(add(&b, "two", ROOF_OPERATOR_GEMM, "mlp_norm", false), ROOF_QUANTIZE_NONE);
    assert_int_equal(add(&b, "experts", ROOF_OPERATOR_MOE, "mlp_norm", false), ROOF_QUANTIZE_BLOCK);
}

/* Products that read one input in two formats quantise it twice. */
static void test_each_format_is_quantized(void **state)
{
    static struct bench b;
    (void)state;
    begin(&b);
    for (int i = 0; i < 2; i++) {
        const int64_t expected = i == 0 ? ROOF_QUANTIZE_BLOCK : ROOF_QUANTIZE_NONE;
        assert_int_equal(add(&b, "one", ROOF_OPERATOR_GEMM, "mlp_norm", false), expected);
        assert_int_equal(
            add_in(&b, "two", ROOF_OPERATOR_GEMM, ROOF_PRECISION_INT8, "mlp_norm", false),
            expected);
    }
}

/* The results of one operator in this layer and in the one before are two tensors. */
static void test_layer_before_is_another_input(void **state)
{
    static struct bench b;
    (void)state;
    begin(&b);
    assert_int_equal(add(&b, "one", ROOF_OPERATOR_GEMM, "mlp_add", true), ROOF_QUANTIZE_BLOCK);
    assert_int_equal(add(&b, "two", ROOF_OPERATOR_GEMM, "mlp_add", false), ROOF_QUANTIZE_BLOCK);
    assert_int_equal(add(&b, "three", ROOF_OPERATOR_GEMM, "mlp_add", true), ROOF_QUANTIZE_NONE);
}

/* Equal products are one node only if they quantise their inputs alike. */
static void test_quantization_tells_nodes_apart(void **state)
{
    static struct bench b;
    (void)state;
    begin(&b);
    (void)add(&b, "product", ROOF_OPERATOR_GEMM, "attn_norm", false);
    (void)add(&b, "product", ROOF_OPERATOR_GEMM, "attn_norm", false);
    assert_int_equal(b.graph.count, 2);
    (void)add(&b, "product", ROOF_OPERATOR_GEMM, "attn_norm", false);
    assert_int_equal(b.graph.count, 2);
    assert_int_equal(b.graph.node[0].count, 1);
    assert_int_equal(b.graph.node[0].workload.quantize_input, ROOF_QUANTIZE_BLOCK);
    assert_int_equal(b.graph.node[1].count, 2);
    assert_int_equal(b.graph.node[1].workload.quantize_input, ROOF_QUANTIZE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_experts_quantize_themselves),
        cmocka_unit_test(test_each_format_is_quantized),
        cmocka_unit_test(test_layer_before_is_another_input),
        cmocka_unit_test(test_quantization_tells_nodes_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
