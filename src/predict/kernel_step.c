// SPDX-License-Identifier: MIT
/* Attention of sequences that decode in a step, with kernels of vLLM: beside prompts, and with
 * contexts of different lengths; and which kernels devices run together. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "predict/kernel_task.h"

/* vLLM uses FlashAttention 2 on all CUDA devices except Hopper and datacenter Blackwell
 * (vllm-project/vllm, vllm/platforms/cuda.py and vllm/v1/attention/backends/fa_utils.py,
 * get_flash_attn_version). It has one call for all sequences of a step. */
bool roof_attends_in_one_kernel(const struct roof_hardware *hardware)
{
    static const char *const architectures[] = {"Ampere", "Ada Lovelace", "Blackwell (SM12"};
    for (size_t i = 0; i < COUNT(architectures); i++) {
        if (strncmp(hardware->architecture, architectures[i], strlen(architectures[i])) == 0) {
            return hardware->calibration != NULL;
        }
    }
    return false;
}

bool roof_overlaps_kernels(const struct roof_hardware *hardware)
{
    static const char *const architectures[] = {"Hopper", "Blackwell"};
    for (size_t i = 0; i < COUNT(architectures); i++) {
        if (strncmp(hardware->architecture, architectures[i], strlen(architectures[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns the fit of a kernel of vLLM for a workload in 16 bits; NULL: there is none. */
static const struct roof_kernel_fit *fit_of_vllm(const struct roof_calibration *calibration,
                                                 enum roof_kernel kernel,
                                                 const struct roof_workload *w)
{
    const struct roof_kernel_fit *const fit =
        roof_calibration_find_for(calibration, kernel, ROOF_STACK_VLLM, ROOF_NUMERICS_16BIT,
                                  ROOF_QUANTIZE_NONE, w->formats.weights, &w->shape);
    return fit == NULL || fit->plain ? NULL : fit;
}

/* If any sequence of a call has more than one query, that kernel neither puts the heads of a KV
 * head into one tile nor cuts a cache into parts (vllm-project/flash-attention,
 * csrc/flash_attn/flash_api.cpp, mha_varlen_fwd). */
double roof_step_factor(enum roof_kernel_limit *limit, const struct roof_workload *workload,
                        const struct roof_step_part *part, const struct roof_hardware *hardware,
                        double rate, double expected_s)
{
    if (roof_kernel_of(workload) != ROOF_KERNEL_DECODE ||
        roof_workload_numerics(workload) != ROOF_NUMERICS_16BIT ||
        !roof_attends_in_one_kernel(hardware) || isnan(expected_s)) {
        return 1;
    }
    const struct roof_kernel_fit *const decode =
        fit_of_vllm(hardware->calibration, ROOF_KERNEL_DECODE, workload);
    const struct roof_kernel_fit *const prefill =
        fit_of_vllm(hardware->calibration, ROOF_KERNEL_PREFILL, workload);
    if (decode == NULL || prefill == NULL) {
        return 1;
    }
    const struct roof_kernel_task task = {
        .workload = workload,
        .peak = rate,
        .plain_peak = rate,
        .bandwidth = hardware->figure[ROOF_FIGURE_BANDWIDTH].value,
        .sms = hardware->figure[ROOF_FIGURE_SM_COUNT].value,
        .clock = hardware->figure[ROOF_FIGURE_BOOST_CLOCK].value,
        .l2 = hardware->figure[ROOF_FIGURE_L2].value,
    };
    const double scale = workload->step_scale > 0 ? workload->step_scale : 1;
    const double longest = (double)(part->longest > 0 ? part->longest : workload->shape.kv_len);
    double time = expected_s;
    if (part->beside_prompts) {
        struct roof_expected tiles = {.time_s = 0};
        roof_expect_decode_in_tiles(&tiles, &task, decode->parameter, prefill->parameter);
        tiles.time_s += workload->no_launch_overhead > 0 ? 0 : tiles.launch_s;
        tiles.time_s *= scale;
        if (tiles.time_s > time) {
            time = tiles.time_s;
            *limit = tiles.limit;
        }
        time += scale * roof_wait_in_tiles(&task, prefill->parameter, longest);
    } else {
        time += scale * roof_wait_in_decode(&task, decode->parameter, longest);
    }
    return time / expected_s;
}
