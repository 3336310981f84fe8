// SPDX-License-Identifier: MIT
// The models of the check: small, but their weights are several times as large as common caches. One
// is a mixture of experts, whose width is `inner`.
export const shapes = {
    narrow: {hidden: 1024, layers: 12, heads: 16, kvHeads: 4, inner: 2816, vocab: 4096},
    wide: {hidden: 2048, layers: 6, heads: 16, kvHeads: 8, inner: 5632, vocab: 4096},
    experts: {hidden: 1024, layers: 8, heads: 16, kvHeads: 4, inner: 512, vocab: 4096, experts: 32,
              used: 4},
};
