# SPDX-License-Identifier: MIT
"""Asks the library with ctypes alone: LD_LIBRARY_PATH=FOLDER python3 example.py"""
import ctypes
import json

roofline = ctypes.CDLL("libroofline.so.0")
roofline.roof_answer_free.restype = None
PREDICT, JSON = 1, 1  # enum roof_command, enum roof_answer_format


class Error(ctypes.Structure):  # struct roof_error
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_int), ("column", ctypes.c_int),
                ("source", ctypes.c_char * 512), ("message", ctypes.c_char * 2048),
                ("key_count", ctypes.c_int), ("key", ctypes.c_ushort * 24)]


def answer(store, **inputs):
    question, text, error = ctypes.c_void_p(), ctypes.c_void_p(), Error()
    status = roofline.roof_question_new(ctypes.byref(question), ctypes.byref(error))
    for key, value in inputs.items():
        status = status or roofline.roof_question_put(question, key.encode(), str(value).encode(),
                                                      ctypes.byref(error))
    status = status or roofline.roof_answer(store, question, PREDICT, JSON, ctypes.byref(text),
                                            None, ctypes.byref(error))
    document = json.loads(ctypes.string_at(text)) if text else None
    roofline.roof_answer_free(text)
    roofline.roof_question_free(question)
    if status != 0:
        raise ValueError(error.message.decode())
    return document


store = ctypes.c_void_p()
roofline.roof_store_new(ctypes.byref(store), None)
for batch in 1, 8, 64:
    found = answer(store, model="llama-3-8b", hardware="h100-sxm", phase="decode", batch=batch)
    print(batch, round(found["tokens_per_s"]), found["bottleneck"])
try:
    answer(store, operator="gemm", m=64, n=4096)
except ValueError as error:
    print(error)
roofline.roof_store_free(store)
