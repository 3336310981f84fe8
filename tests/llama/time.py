# SPDX-License-Identifier: MIT
"""Times llama.cpp on a GGUF file: python3 time.py FOLDER FILE THREADS PROMPT GENERATE RUNS

FOLDER has the shared libraries of llama.cpp. They are called from here without the bindings of
another language, whose own thread would take a processor from those of llama.cpp. Prints "prefill
MS" and "decode MS" lines: the processor time of all threads over their number, so that what other
processes take does not count, and the time that passed.
"""
import ctypes
import glob
import os
import sys
import time

folder, path = sys.argv[1:3]
threads, prompt, generate, runs = map(int, sys.argv[3:])


def library(name):
    found = sorted(glob.glob(os.path.join(folder, name + "*.so*")))
    if not found:
        sys.exit(f"{folder}: no {name}")
    return ctypes.CDLL(found[0], ctypes.RTLD_GLOBAL)


class Params(ctypes.Structure):
    """Parameters as their functions give and take them. Only their first words are known here; the
    rest is copied as it is, and what lies beyond their end is not read."""
    _fields_ = [("words", ctypes.c_int32 * 64)]


class Batch(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * 56)]


library("libggml-base")
ggml = library("libggml.")
llama = library("libllama.")
llama.llama_model_default_params.restype = Params
llama.llama_context_default_params.restype = Params
llama.llama_model_load_from_file.restype = ctypes.c_void_p
llama.llama_model_load_from_file.argtypes = ctypes.c_char_p, Params
llama.llama_init_from_model.restype = ctypes.c_void_p
llama.llama_init_from_model.argtypes = ctypes.c_void_p, Params
llama.llama_batch_get_one.restype = Batch
llama.llama_batch_get_one.argtypes = ctypes.c_void_p, ctypes.c_int32
llama.llama_decode.argtypes = ctypes.c_void_p, Batch
llama.llama_get_memory.restype = ctypes.c_void_p
llama.llama_get_memory.argtypes = (ctypes.c_void_p,)
llama.llama_memory_clear.argtypes = ctypes.c_void_p, ctypes.c_bool
llama.llama_set_n_threads.argtypes = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32

quiet = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: None)
llama.llama_log_set(quiet, None)
ggml.ggml_backend_load_all_from_path(folder.encode())
llama.llama_backend_init()

# The context's parameters begin with n_ctx, n_batch, n_ubatch and n_seq_max. After n_threads and
# n_threads_batch (4 and 4) come ctx_type, and four that -1 leaves to llama.cpp; the last of these is
# flash_attn_type (ggml-org/llama.cpp include/llama.h).
params = llama.llama_context_default_params()
words = list(params.words)
first = next((i for i in range(4, 12) if words[i:i + 2] == [4, 4]), None)
if words[:4] != [512, 2048, 512, 1] or first is None or words[first + 3:first + 7] != [-1] * 4:
    sys.exit(f"{folder}: the parameters of this llama.cpp lie otherwise: {words[:16]}")
params.words[first] = params.words[first + 1] = threads
params.words[first + 6] = 0  # products of matrices, as predicted: no flash attention
model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
context = model and llama.llama_init_from_model(model, params)
if not context:
    sys.exit(f"{path}: not loaded")
llama.llama_set_n_threads(context, threads, threads)


def decode(tokens):
    array = (ctypes.c_int32 * len(tokens))(*tokens)
    if llama.llama_decode(context, llama.llama_batch_get_one(array, len(tokens))) != 0:
        sys.exit(f"{path}: not decoded")


def timed(work, count):
    processor, passed = time.process_time(), time.perf_counter()
    for tokens in work:
        decode(tokens)
    processor, passed = time.process_time() - processor, time.perf_counter() - passed
    return f"{processor / threads / count * 1e3:.4f} {passed / count * 1e3:.4f}"


for run in range(runs + 1):  # the first warms up
    llama.llama_memory_clear(llama.llama_get_memory(context), True)
    prefill = timed([[3 + i * 37 % 4000 for i in range(prompt)]], 1)
    step = timed([[5 + i] for i in range(generate)], generate)
    if run > 0:
        print("prefill", prefill)
        print("decode", step)
