// SPDX-License-Identifier: MIT
/* The parts of the prediction of a model: passes, memory, phases and requests. */
#ifndef ROOF_PREDICT_PASS_H
#define ROOF_PREDICT_PASS_H

#include "predict/model_prediction.h"
#include "predict/predict_sizes.h"

/* The times of the pipeline stages of a pass. */
struct roof_pass_times {
    double path_s;    /* the sum of all stages */
    double slowest_s; /* the longest stage */
    double behind_s;  /* of a prefill: the longest stage with the microbatches after the first */
};

/* The expected times of a pass. */
struct roof_pass_expected {
    struct roof_pass_times times;
    double low_s; /* the band of the path */
    double high_s;
    double near_s;                         /* the part of the path from other kernels */
    double launches_s;                     /* what the host needs to launch its kernels */
    double share_s[ROOF_BOTTLENECK_COUNT]; /* of the path, by bottleneck */
};

/* One pass of a microbatch through all stages. */
struct roof_pass {
    struct roof_pass_times bound;
    struct roof_pass_expected expected;
    double weights_bytes; /* memory, of the stage that needs most */
    double kv_bytes;      /* with the states */
    double state_bytes;
    double activation_bytes;
    double host_weights_bytes; /* memory of the host */
    double host_kv_bytes;
    double host_live_bytes;
    double offloaded_s;   /* of the path, on the host */
    double launches;      /* waits for the host, of all stages */
    double host_s;        /* time of these and of the serial part */
    double kv_read_bytes; /* over all stages */
    double weights_read_bytes;
    double share_s[ROOF_BOTTLENECK_COUNT]; /* of the path, by bottleneck */
    bool native;
    uint64_t fallbacks; /* formats of products for which the device has no unit, as bits */
    bool as_stored;     /* each product multiplies in its stored format, on a unit for it */
};

/* One instance of an operator adds these values to a pass. */
struct roof_node_cost {
    double time_s;
    double live_bytes;    /* without weights and cache */
    double weights_bytes; /* read */
    double kv_bytes;      /* read */
    enum roof_bottleneck bottleneck;
    bool native;
    uint64_t fallbacks;
    bool as_stored;
};

/* A cost in the memo. */
struct roof_remembered {
    const struct roof_hardware *hardware; /* NULL: none */
    const struct roof_hardware *host;     /* that stores its weights, or NULL */
    const struct roof_hardware *kernels;  /* of the host, or NULL */
    struct roof_workload workload;
    struct roof_step_part part;
    struct roof_node_cost cost;
    unsigned stacks; /* bits of the stacks with an expected time here */
    struct roof_expected_sum expected[ROOF_STACK_COUNT];
};

/* The memo of costs of operators, which passes share; a new cost replaces an old one. All passes
 * that share it run kernels in the same way (cache and so on), except for the stack. It begins with
 * hardware NULL in all entries. */
struct roof_pass_memo {
    struct roof_remembered *entry; /* borrowed */
    size_t size;
};

/* The expected time of a step: a pass or several, and the drafts before. */
struct roof_expected_step {
    double time_s; /* NAN: unknown */
    double low_s;  /* the band of it */
    double high_s;
    double near_s; /* the part of it from other kernels */
};

/* Makes a step with the expected time passes_s of its passes; the shares of kernels and host are
 * those of one pass. */
struct roof_expected_step roof_expected_step(const struct roof_pass *pass,
                                             const struct roof_pass *draft, double passes_s);

/* Gives a prediction an expected time; the kernels of its parts stay as they are. */
void roof_take_expected_sum(struct roof_prediction *out, const struct roof_expected_sum *sum);

/* Returns what computes an operator: the host or the device. */
const struct roof_hardware *roof_node_hardware(const struct roof_node *node,
                                               const struct roof_hardware *device);

/* How long the weights of an operator take from the host to the device, in seconds. */
struct roof_copy {
    double time_s;
    double low_s;
    double high_s;
    double least_s; /* for the host's memory to give them */
};

/* Returns the least time in which the weights of a node reach the device: over the link to the host
 * or out of the host's memory, whichever is slower. An unknown link is not slower. */
double roof_copy_arrives_s(const struct roof_node *node, const struct roof_prediction *bound,
                           const struct roof_hardware *device);

/* Returns the copy of the weights of an operator, which has an upload; bound is its prediction. */
struct roof_copy roof_copy_of(const struct roof_node *node, const struct roof_prediction *bound,
                              const struct roof_hardware *device);

/* Predicts one instance of an operator of a graph, whose formats are resolved; all-reduces take the
 * faster of their algorithms. Fails as roof_predict does. */
enum roof_status roof_predict_node(struct roof_prediction *out, const struct roof_node *node,
                                   const struct roof_hardware *hardware, struct roof_error *error);

/* Predicts the bound of one instance of an operator, and its expected time in each of some stacks,
 * with the same values as roof_predict_node for each stack. The graph has resolved formats. */
enum roof_status roof_predict_node_in(struct roof_prediction *out,
                                      struct roof_expected_sum expected[ROOF_STACK_COUNT],
                                      const struct roof_node *node,
                                      const struct roof_hardware *hardware,
                                      const struct roof_stacks *stacks, struct roof_error *error);

/* Runs all stages of a resolved scenario, with the later microbatches of a prefill; kept receives
 * the operators; it may be NULL. */
enum roof_status roof_pass_run(struct roof_pass *out, const struct roof_model *model,
                               const struct roof_scenario *scenario,
                               const struct roof_hardware *hardware,
                               struct roof_model_prediction *kept, struct roof_error *error);

/* Runs all stages as roof_pass_run does, with the costs in a memo, and with the kernels of each of
 * some stacks: one pass for each, in their order. There is only one microbatch. */
enum roof_status roof_pass_recall(struct roof_pass out[ROOF_STACK_COUNT],
                                  const struct roof_model *model,
                                  const struct roof_scenario *scenario,
                                  const struct roof_hardware *hardware, struct roof_pass_memo *memo,
                                  const struct roof_stacks *stacks, struct roof_error *error);

/* Computes only the memory of a pass. */
enum roof_status roof_pass_memory(struct roof_pass *out, const struct roof_model *model,
                                  const struct roof_scenario *scenario,
                                  const struct roof_hardware *hardware, struct roof_error *error);

/* Raises the activations of a pass, on the device and the host, to those of another pass. */
void roof_pass_widen(struct roof_pass *pass, const struct roof_pass *other);

/* Adds the resident weights outside the encoder to a pass that encodes images; other passes have
 * them already. */
enum roof_status roof_pass_resident(struct roof_pass *pass, const struct roof_model *model,
                                    const struct roof_scenario *scenario,
                                    const struct roof_hardware *hardware, struct roof_error *error);

/* Runs the draft model of a scenario, if it has one: one decode step per proposed token, on the
 * same devices. The paths of *out are those of all these steps. */
enum roof_status roof_pass_draft(struct roof_pass *out, const struct roof_scenario *scenario,
                                 const struct roof_hardware *hardware, struct roof_error *error);

/* Returns the time of a step: all microbatches through all stages. */
double roof_pass_step_s(const struct roof_pass_times *pass, const struct roof_scenario *scenario);

/* Returns the mean number of tokens that a step yields per sequence: the drafts before the first
 * rejected one, and one more. */
double roof_tokens_per_step(const struct roof_scenario *scenario);

/* The memory of the device that needs most, in bytes. */
struct roof_memory {
    double weights;
    double kv; /* the states are part of it */
    double state;
    double activations;
    double capacity;
    double reserve;
    double host_weights; /* in the memory of the host, of which nothing is kept free; 0: nothing */
    double host_kv;
    double host_activations;
    double host_capacity;
    enum roof_fit fits; /* both memories */
};
/* Returns the free bytes, in the memory with the least room: below 0 it does not fit, NAN if that
 * is unknown. */
double roof_memory_room(const struct roof_memory *memory);
/* Returns the bytes of memory that a device has; NAN: unknown. */
double roof_memory_capacity(const struct roof_hardware *hardware);
/* Returns the largest reserve, in hundredths, that leaves room for the bytes needed. */
double roof_memory_spare(double needed, double capacity);

struct roof_memory roof_memory_of(const struct roof_pass *pass, const struct roof_pass *draft,
                                  const struct roof_model *model,
                                  const struct roof_scenario *scenario,
                                  const struct roof_hardware *hardware);
/* Fills in the band of the expected time, and the part of it that is estimated from others. */
void roof_expected_put(struct roof_model_prediction *out, const struct roof_expected_step *whole);
void roof_memory_put(struct roof_model_prediction *out, const struct roof_memory *memory);

/* Works out the memory of a static batch: the larger of its phases' activations, and the cache at
 * its end. */
enum roof_status roof_static_memory(struct roof_memory *out, const struct roof_model *model,
                                    const struct roof_scenario *asked,
                                    const struct roof_hardware *hardware, struct roof_error *error);

/* Predict the scenario of *out, which is resolved: a phase, or a request. */
enum roof_status roof_predict_phase(struct roof_model_prediction *out, struct roof_error *error);
enum roof_status roof_predict_request(struct roof_model_prediction *out, struct roof_error *error);
enum roof_status roof_predict_static(struct roof_model_prediction *out, struct roof_error *error);

/* Fill in the rates of a request from its time, and clear what only one pass has. */
void roof_request_put_rates(struct roof_model_prediction *out);
void roof_request_clear_totals(struct roof_model_prediction *out);

#endif
