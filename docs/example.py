# SPDX-License-Identifier: MIT
"""Asks the library with ctypes alone: LD_LIBRARY_PATH=FOLDER python3 example.py"""
from ctypes import CDLL, byref, c_size_t, c_void_p, create_string_buffer, string_at

PREDICT, SWEEP, CSV = 1, 2, 3  # enum roof_command, enum roof_answer_format
# SIZE is more than a struct roof_error has.
SIZE = 4096
roofline = CDLL("libroofline.so.1")
store, error, line = c_void_p(), create_string_buffer(SIZE), create_string_buffer(SIZE)


def answer(command, **inputs):
    question, text = c_void_p(), c_void_p()
    status = roofline.roof_question_new(byref(question), error)
    for key, value in inputs.items():
        status = status or roofline.roof_question_put(question, key.encode(), value.encode(), error)
    status = status or roofline.roof_answer(store, question, command, CSV, byref(text), None, error)
    roofline.roof_error_line(line, c_size_t(SIZE), error)
    document = string_at(text) if status == 0 else line.value + b"\n"
    roofline.roof_answer_free(text)
    roofline.roof_question_free(question)
    return document.decode()


roofline.roof_store_new(byref(store), None)
print(answer(SWEEP, model="llama-3-8b", hardware="h100-sxm", phase="decode", batch="1,8,64",
             columns="batch,tokens_per_s,bottleneck"), end="")
print(answer(PREDICT, operator="gemm", m="64", n="4096"), end="")
roofline.roof_store_free(store)
