// SPDX-License-Identifier: MIT
/* Small models of each kind: what a config.json says of them. */
#ifndef ROOF_TESTS_CONFIGS_H
#define ROOF_TESTS_CONFIGS_H

#define SIZES                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "                  \
    "\"num_key_value_heads\": 2, \"head_dim\": 16, \"intermediate_size\": 80, "                    \
    "\"vocab_size\": 1000"
#define DENSE "{\"model_type\": \"llama\", " SIZES "}"
#define WINDOWED                                                                                   \
    "{\"model_type\": \"llama\", \"sliding_window\": 20, \"sliding_window_pattern\": 2, " SIZES "}"
#define MOE                                                                                        \
    "{\"model_type\": \"mixtral\", \"num_local_experts\": 8, \"num_experts_per_tok\": 2, " SIZES "}"
#define MLA                                                                                        \
    "{\"model_type\": \"deepseek_v2\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "            \
    "\"num_attention_heads\": 4, \"kv_lora_rank\": 32, \"q_lora_rank\": 24, "                      \
    "\"qk_nope_head_dim\": 16, \"qk_rope_head_dim\": 8, \"v_head_dim\": 12, "                      \
    "\"intermediate_size\": 80, \"vocab_size\": 1000}"

#endif
