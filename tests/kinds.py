#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Published timings of layers with a state, indexers, hyper-connections and encoders as rows for roofline compare:
kinds.py DIR [ROWS.csv]. With ROWS.csv only the rows to which kernels are fitted, in the columns of
that file, which has defaults of the others. DIR holds aic_gdn.csv, aic_kda.csv, aic_mamba2.csv, aic_sparse_kernels.csv,
aic_mhc.csv, aic_encoder_attn.csv, aic_bmm_vllm.csv and aic_allreduce_fw.csv of ai-dynamo/aiconfigurator, whose columns
these are; those that are not there are left out. tests/modules.py reads the other files of DIR. Every replay of a kernel used the same buffers: the cache is warm."""
import csv
import os
import sys

COLUMNS = ("kind operator hardware stack batch heads kv_heads head_dim v_head_dim hidden taps query_len kv_len causal "
           "selected window compression tokens state_size scan_chunk m n k elements devices algorithm weights activations kv out cache "
           "measured_us").split()
DEVICES = {"A100-SXM4-80GB": "a100-sxm-80gb", "H100-SXM5-80GB": "h100-sxm", "B200-SXM": "hgx-b200", "L40S": "l40s",
           "RTX-PRO-6000-Server": "rtx-pro-6000"}
PROMPT = 16  # the fewest new tokens that roofline takes for a prompt, not for a step with drafts
SHORT_PROMPT, DRAFTS = "state, prompt of 2 to 15 tokens", "state, step with drafts"
ONE_CALL = "convolution, a call per graph"
MANY_QUERIES = "top-k, more than 32768 queries"
PRODUCTS = "batched products of vLLM"
RING, ONE_SHOT = "all-reduce of an engine, ring", "all-reduce of an engine, one-shot"
HEAD = 128  # elements of a head of a state, in all files


def conv(op, batch, length, channels):
    """A prompt of one token is none: its kernel is another than that of a decode step."""
    if op != "conv_update" and int(length) == 1:
        return None
    return dict(kind="convolution", operator="short-conv", batch=batch, query_len=length, hidden=channels, taps=4)


def state(length, operator, **sizes):
    """A layer with a state: one token, or a prompt."""
    kind = "state, decode" if int(length) == 1 else "state, prompt" if int(length) >= PROMPT else SHORT_PROMPT
    return dict(sizes, kind=kind, operator=operator, query_len=length, head_dim=HEAD, v_head_dim=HEAD, kv="fp32")


def gdn(r):
    """A state in fp32 is read and written; other states are of two formats, which no option names."""
    if r["op"].startswith("conv"):
        return conv(r["op"], r["batch"], r["seq_len"], r["conv_channels"])
    if r["op"] == "chunk_scan" and int(r["seq_len"]) > 1 or \
            r["op"] == "recurrent_decode" and r["state_bytes_per_elem"] == "8":
        return state(r["seq_len"] if r["op"] == "chunk_scan" else 1, "gated-delta", batch=r["batch"],
                     heads=r["num_v_heads"], kv_heads=r["num_k_heads"])
    return None


def kda(r):
    """Launches of several kernels are no operators."""
    if r["op"] == "recurrent_verify":
        return dict(state(r["tokens_per_seq"], "kimi-delta", batch=r["batch"], heads=r["heads"]), kind=DRAFTS)
    if r["phase"] == "decode" and r["op"] == "conv_update":
        return dict(conv(r["op"], r["batch"], 1, 3 * HEAD * int(r["heads"])), kind=ONE_CALL)
    if r["op"] == "recurrent_decode" or r["op"] == "chunk_scan" and int(r["tokens_per_seq"]) > 1:
        return state(r["tokens_per_seq"], "kimi-delta", batch=r["batch"], heads=r["heads"])
    return None


def mamba2(r):
    if r["op"].startswith("conv"):
        return conv(r["op"], r["batch"], r["seq_len"], r["conv_channels"])
    if int(r["seq_len"]) == 1:
        return None
    return dict(kind="state, prompt" if int(r["seq_len"]) >= PROMPT else SHORT_PROMPT, operator="ssd", batch=r["batch"], query_len=r["seq_len"], heads=r["nheads"],
                kv_heads=r["n_groups"], head_dim=r["head_dim"], state_size=r["d_state"], scan_chunk=r["chunk_size"],
                kv="fp32")


def sparse(r):
    """Decode steps, with fewer than 16 new tokens, have other kernels of index scores and of attention than prompts.
    Flat scores are all equal."""
    batch, new, length = r["batch"], int(r["seq_q"]), int(r["past_kv"]) + int(r["seq_q"])
    if r["op"] == "mqa_logits_ragged" and new >= PROMPT:
        return dict(kind="index scores", operator="index-scores", batch=batch, query_len=new, kv_len=length, heads=32,
                    head_dim=128, causal=1, activations="fp8_e4m3", kv="fp8_e4m3", out="fp32")
    if r["op"] == "topk2048" and r["score_mode"] != "flat" and length > 2048:
        many = int(batch) * new > 32768
        return dict(kind=MANY_QUERIES if many else "top-k", operator="index-top-k", batch=batch,
                    query_len=new, kv_len=length, selected=2048, activations="fp32")
    if r["op"] == "sparse_mla" and new > 1 and length > 2048:
        return dict(kind="sparse latent attention", operator="sparse-mla", batch=batch, query_len=new, kv_len=length,
                    heads=64, selected=2048, causal=1)
    if r["op"] == "hca_sparse_mla" and (new == 1 or new >= PROMPT):
        return dict(kind="compressed attention, " + ("decode" if new == 1 else "prompt"),
                    operator="compressed-attention", batch=batch, query_len=new, kv_len=length, heads=64, head_dim=512,
                    window=128, compression=128, kv="fp8_e4m3")
    return None


def hyper(r):
    """The time is that of several sites one after another."""
    return dict(kind="mHC, " + r["op"], operator="hyper-collapse" if r["op"] == "pre" else "hyper-expand",
                tokens=r["tokens"], hidden=r["hidden"], streams=r["hc_mult"], weights="fp32",
                time_us=float(r["time_us"]) / int(r["sites"]))


def encoder(r):
    """A token alone attends like one that is decoded."""
    if r["seq"] == "1":
        return None
    return dict(kind="encoder attention", operator="flash-attention", batch=r["batch"], query_len=r["seq"],
                kv_len=r["seq"], heads=r["heads"], head_dim=r["head_dim"])


def products(r):
    return dict(kind=PRODUCTS, operator="bmm", batch=r["B"], m=r["M"], n=r["N"], k=r["K"])


def all_reduce(r):
    """A row for each of the two estimates, of which models take the shorter. Elements have 16 bits."""
    return [dict(kind=kind, operator="all-reduce", elements=int(float(r["bytes"])) // 2, devices=r["num_gpus"],
                 algorithm=kind.split()[-1]) for kind in (RING, ONE_SHOT)]


FILES = {"aic_gdn.csv": gdn, "aic_kda.csv": kda, "aic_mamba2.csv": mamba2, "aic_sparse_kernels.csv": sparse,
         "aic_mhc.csv": hyper, "aic_encoder_attn.csv": encoder, "aic_bmm_vllm.csv": products,
         "aic_allreduce_fw.csv": all_reduce}


FITTED = ("gated-delta", "kimi-delta", "ssd", "short-conv", "flash-attention", "index-scores", "index-top-k",
          "sparse-mla", "compressed-attention", "hyper-collapse", "hyper-expand")
# The kinds that no fit sees, each with its aim in per cent and the reason.
UNFITTED = {
    MANY_QUERIES: (12, "takes up to five times as long as queries and scores explain; no step has so many queries"),
    ONE_CALL: (12, "steps have several calls, as the rows of the fit; one call takes 1.4 to 2.8 us longer"),
    SHORT_PROMPT: (18, "the operator is taken for a step with drafts; in models it has the time of 16 tokens"),
    DRAFTS: (12, "the estimate follows from that of one token"),
    PRODUCTS: (12, "a test of the fit to TensorRT-LLM's rows, which are the same library's"),
    RING: (12, "the fits are to NCCL and to TensorRT-LLM's kernel; each engine changes between kernels at sizes of its own"),
    ONE_SHOT: (12, "the same rows")}
DEFAULTS = dict(v_head_dim="128", taps="4", state_size="128", selected="2048", streams="4")


def rows(folder):
    """All rows, by the names of columns."""
    for name, read in FILES.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for r in csv.DictReader(line for line in file if not line.startswith("#")):
                found = read(r) if r["gpu"] in DEVICES else None
                for row in found if isinstance(found, list) else [found] if found else []:
                    formats = dict(weights="bf16", activations="bf16", kv="bf16", out="bf16")
                    time = row.pop("time_us", r["time_us"])
                    yield formats | row | dict(hardware=DEVICES[r["gpu"]], stack=r["lib"].split("-")[0],
                                               cache="warm", measured_us=time)


def main():
    if len(sys.argv) not in (2, 3) or not os.path.isdir(sys.argv[1]):
        sys.exit("usage: kinds.py DIR [ROWS.csv]")
    columns = COLUMNS
    if len(sys.argv) == 3:
        with open(sys.argv[2], encoding="utf-8") as file:
            columns = file.readline().rstrip("\n").split(",")
    out = csv.DictWriter(sys.stdout, columns, restval="", extrasaction="ignore", lineterminator="\n")
    if columns is COLUMNS:
        out.writeheader()
    for row in rows(sys.argv[1]):
        if columns is COLUMNS:
            out.writerow(row)
        elif row["operator"] in FITTED and row["kind"] not in UNFITTED:
            left_out = {k: str(v) for k, v in row.items() if k not in columns and k != "kind"}
            assert all(DEFAULTS[k] == v for k, v in left_out.items()), left_out
            out.writerow(row)


if __name__ == "__main__":
    main()
