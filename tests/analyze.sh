#!/bin/sh
# SPDX-License-Identifier: MIT
# gcc's analyzer over all files: sh tests/analyze.sh FILE.c...
#
# What it says of a file must be explained below, by kind. It does not see through pointers that
# are kept in a structure, nor that a function of another file returns an error.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

log=${TMPDIR:-/tmp}/roofline-analyze.$$
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM

explained() {
    cat << 'END'
src/measure/gpu_product.c null-dereference roof_gpu_product_able was asked before
src/measure/library.c use-of-uninitialized-value dlsym returns the value
src/chart/chart.c malloc-leak the copy of a name belongs to the chart, which frees it
src/decide/plan_changes.c use-of-uninitialized-value a plan that was found has a device of the list
src/model/gguf_family.c null-dereference roof_gguf_is_mixed was asked before
src/decide/plan.c malloc-leak plans belong to the answer: roof_plans_free frees them
src/ask/check_read.c malloc-leak kept texts are a list of the checks, which frees them
src/base/values.c null-dereference the text of a range has a colon: its caller looked
src/decide/question.c null-dereference each input that may be given several times has its texts
src/decide/known.c malloc-leak names are freed with their list
src/decide/known.c null-dereference look_up finds or makes the entry where it returns ROOF_OK
src/decide/plan_name.c null-dereference a plan has a model: the search leaves out formats that suit none
src/measure/cpu_peak.c null-dereference only formats that have a kernel are measured: roof_cpu_peak_able
src/measure/cpu_vector.c shift-count-overflow each element of a vector is shifted, and has 32 bits
src/catalog/hardware.c malloc-leak texts are a list of the device, which frees them
src/base/json.c null-dereference a NULL node is an error of callers; roof_json_error takes it
src/decide/record_predict.c malloc-leak the inference belongs to the records, which roof_records_close frees
src/catalog/registry.c malloc-leak names are freed with their list
src/catalog/registry.c null-argument a name is counted once its copy is there
src/report/table.c null-dereference sources between FORMAT_TEXT and ENTRY_SOURCE have a format
src/cli/output.c file-leak main closes standard output; all others are closed
src/cli/output.c malloc-leak as before: it is the stream of standard output
END
}

failed=0
for file; do
    if ! gcc -std=c11 -D_POSIX_C_SOURCE=200809L -fanalyzer -fdiagnostics-plain-output -Iinclude -Isrc \
        -c -o /dev/null "$file" 2> "$log"; then
        cat "$log"
        exit 1
    fi
    kinds=$(sed -n 's/.*\[-Wanalyzer-\([a-z-]*\)\]$/\1/p' "$log" | sort -u)
    for kind in $kinds; do
        if ! explained | grep -q "^$file $kind "; then
            failed=1
            grep -A 40 "Wanalyzer-$kind\]" "$log"
            echo "FAIL $file: $kind is not explained in tests/analyze.sh"
        fi
    done
done
[ $failed -eq 0 ]
