// SPDX-License-Identifier: MIT
#include <stddef.h>
#include <strings.h>

#include "base/base.h"
#include "catalog/hardware_parts.h"

/* Words that people write for keys. */
static const struct {
    const char *word;
    const char *key;
} meant_keys[] = {{"memory", "memory_gb"},
                  {"memory_size", "memory_gb"},
                  {"memory_size_gb", "memory_gb"},
                  {"memory_capacity", "memory_gb"},
                  {"memory_capacity_gb", "memory_gb"},
                  {"vram", "memory_gb"},
                  {"vram_gb", "memory_gb"},
                  {"hbm_gb", "memory_gb"},
                  {"bandwidth", "bandwidth_gb_s"},
                  {"memory_bandwidth", "bandwidth_gb_s"},
                  {"memory_bandwidth_gb_s", "bandwidth_gb_s"},
                  {"bandwidth_gbps", "bandwidth_gb_s"},
                  {"peak", "peak_tflops"},
                  {"peaks", "peak_tflops"},
                  {"tflops", "peak_tflops"},
                  {"flops", "peak_tflops"},
                  {"sms", "sm_count"},
                  {"clock", "boost_clock_mhz"},
                  {"clock_mhz", "boost_clock_mhz"},
                  {"l2", "l2_bytes"},
                  {"tdp", "tdp_w"},
                  {"power", "tdp_w"},
                  {"link", "link_gb_s"},
                  {"nvlink", "link_gb_s"},
                  {"nvlink_gb_s", "link_gb_s"},
                  {"bridge", "bridge_gb_s"},
                  {"nvlink_bridge", "bridge_gb_s"},
                  {"network", "network_gb_s"}};

const char *roof_figure_meant(const char *word)
{
    for (size_t i = 0; i < COUNT(meant_keys); i++) {
        if (strcasecmp(word, meant_keys[i].word) == 0) {
            return meant_keys[i].key;
        }
    }
    return NULL;
}
