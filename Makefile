# SPDX-License-Identifier: MIT
# roofline: one non-recursive Makefile; every product lies under $(BUILD). `make help` lists targets.
SHELL = /bin/sh
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

# --- what a packager may override ---------------------------------------------------------------
AR          ?= ar
PKG_CONFIG  ?= pkg-config
INSTALL     ?= install
CLANG_TIDY  ?= clang-tidy
PYTHON      ?= python3
CFLAGS      ?= -O2 -g
BUILD       ?= build
# Builds with the same flags may share the objects of src.
OBJECTS     ?= $(BUILD)
# A build that has only a library of its own takes the objects of the program and of tests from this folder.
OTHERS      ?=
prefix      ?= /usr/local
exec_prefix ?= $(prefix)
bindir      ?= $(exec_prefix)/bin
libdir      ?= $(exec_prefix)/lib
includedir  ?= $(prefix)/include
mandir      ?= $(prefix)/share/man
bashcompdir ?= $(prefix)/share/bash-completion/completions
zshcompdir  ?= $(prefix)/share/zsh/site-functions
fishcompdir ?= $(prefix)/share/fish/vendor_completions.d
WERROR      ?=
WRAPPER     ?=

# --- what the project requires (kept out of CFLAGS, so that CFLAGS=... is safe) -----------------
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wformat=2 -Wundef -Wvla -Wdouble-promotion
# Looked up when a recipe runs, not when the Makefile is read: `make deps` may install them first.
CJSON_CFLAGS  = $$($(PKG_CONFIG) --cflags libcjson)
CJSON_LIBS    = $$($(PKG_CONFIG) --libs libcjson)
ARG_CFLAGS    = $$($(PKG_CONFIG) --cflags argtable2)
ARG_LIBS      = $$($(PKG_CONFIG) --libs argtable2)
CMOCKA_CFLAGS = $$($(PKG_CONFIG) --cflags cmocka)
CMOCKA_LIBS   = $$($(PKG_CONFIG) --libs cmocka)
NLOPT_CFLAGS  = $$($(PKG_CONFIG) --cflags nlopt)
NLOPT_LIBS    = $$($(PKG_CONFIG) --libs nlopt)
# Without libevent the program is built without serve, which loads it when it begins. Where libevent
# has no shared library of ELF, the program is linked with it.
EVENT_SHARED  = readelf -d "$$($(PKG_CONFIG) --variable=libdir libevent_core)/libevent_core.so" 2> /dev/null | \
                sed -n 's/.*(SONAME).*\[\(.*\)\]/-DROOF_EVENT_LIBRARY="\1"/p'
EVENT_CFLAGS  = $$(! $(PKG_CONFIG) --exists libevent_core || \
                { echo -DROOF_EVENT; $(PKG_CONFIG) --cflags-only-I libevent_core; $(EVENT_SHARED); })
EVENT_LIBS    = $$(! $(PKG_CONFIG) --exists libevent_core || $(EVENT_SHARED) | grep -q . || $(PKG_CONFIG) --libs libevent_core)
# What makes a mistake in memory end the program, not run it (docs/security.md); HARDEN= and
# HARDEN_LINK= leave it out, and sanitizers, which do more. FORTIFY needs optimisation.
sanitized  := $(findstring -fsanitize=,$(CFLAGS))
optimised  := $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
FORTIFY    := $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if $(optimised),-D_FORTIFY_SOURCE=2))
HARDEN      ?= $(if $(sanitized),,-fstack-protector-strong $(FORTIFY)) -fPIE
HARDEN_LINK ?= -pie -Wl,-z,relro,-z,now,-z,noexecstack
# The objects of the library are those of the shared library, too. Its calls to itself stay its own,
# so that they cost nothing.
PIC     ?= -fPIC -fno-semantic-interposition
# gcc for x86 copies and clears structs by `rep movsq` and `rep stosq`, which take longer to begin
# than memcpy takes for hundreds of bytes: without these options a step of a model is predicted a
# fifth more slowly. Other compilers call memcpy anyway, and do not know the options.
BY_CALL := -mmemcpy-strategy=libcall:-1:noalign -mmemset-strategy=libcall:-1:noalign
COPY    := $(shell $(CC) $(BY_CALL) -E -x c /dev/null > /dev/null 2>&1 && echo '$(BY_CALL)')
COMPILE = $(CC) -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -fno-trapping-math $(COPY) \
          "-ffile-prefix-map=$(CURDIR)=." $(WARN) $(WERROR) -Iinclude -Isrc $(HARDEN) $(CPPFLAGS) $(CFLAGS)
LINK    = $(COMPILE) $(HARDEN_LINK) $(COUNTERS) $(LDFLAGS)

# The version is written once, in the public header.
ver = $(shell sed -n 's/^\#define ROOF_VERSION_$(1) //p' include/roofline/version.h)
VERSION = $(call ver,MAJOR).$(call ver,MINOR).$(call ver,PATCH)
# docs/library.md says what a change of the number promises; SHARED= leaves the shared library out.
SONAME  = libroofline.so.$(call ver,MAJOR)

# What `make kernels` makes of src/measure/cuda_operators.cu; it is kept, since it needs clang.
KERNELS  := data/kernels/cuda_operators.ptx
# The kernels for AMD GPUs are compiled where they run.
HIP_KERNELS := data/kernels/hip_kernels.hip

HEADERS  := $(sort $(wildcard include/roofline/*.h))
DATA     := $(sort $(shell find data -name '*.json') $(KERNELS) $(HIP_KERNELS)) $(sort $(wildcard docs/schema/*.json))
# The floors of the library, lowest first; each includes only itself and those before it.
FLOORS   := base catalog operator model predict simulate decide measure report chart ask serve
LIB_SRC  := $(sort $(wildcard $(FLOORS:%=src/%/*.c)))
CLI_SRC  := $(sort $(wildcard src/cli/*.c))
FIT_SRC  := $(sort $(wildcard src/calibrate/*.c))
# What calls libevent.
SERVER   := src/cli/server.c src/cli/connection.c src/cli/event.c
UNIT_SRC := $(sort $(wildcard tests/unit/*/test_*.c))
REST     := $(or $(OTHERS),$(BUILD))
GEN_OBJ  := $(REST)/gen/data_files.o $(REST)/gen/explorer.o
LIB_OBJ  := $(LIB_SRC:%.c=$(OBJECTS)/%.o) $(GEN_OBJ)
CLI_OBJ  := $(CLI_SRC:%.c=$(or $(OTHERS),$(OBJECTS))/%.o)
UNIT_OBJ := $(UNIT_SRC:%.c=$(REST)/%.o)
UNIT_RUN := $(REST)/tests/unit/run.o $(REST)/gen/unit_tests.o
LIB      := $(BUILD)/libroofline.a
SHARED   ?= $(BUILD)/$(SONAME)
# All unit tests in one program, which runs the one that it is told.
UNIT     := $(BUILD)/tests/unit/run
BIN      := $(BUILD)/roofline
FIT      := $(BUILD)/roofline-calibrate
BENCH    := $(BUILD)/tests/bench/bench
PROCESS  := $(BUILD)/tests/bench/process
BARE     := $(BUILD)/tests/bench/bare
ASKER    := $(BUILD)/tests/ask/asker
# Each file but the one that replays inputs is a fuzz target; it has a folder of inputs.
FUZZ_SRC := $(filter-out tests/fuzz/replay.c,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ     := $(FUZZ_SRC:tests/fuzz/%.c=%)
FUZZ_BIN := $(FUZZ:%=$(BUILD)/tests/fuzz/%.run)
FUZZ_OBJ := $(FUZZ:%=$(REST)/tests/fuzz/%.o) $(REST)/tests/fuzz/replay.o
# What makes calls fail, and what runs the program with it.
FAULTS   := $(BUILD)/tests/faults/driver $(BUILD)/tests/faults/preload.so
# The program without its main, its signals and the commands that it runs, for the target of the whole command line.
FUZZ_CLI := $(patsubst src/cli/%.c,$(REST)/tests/fuzz/cli/%.o,$(filter-out src/cli/interrupt.c src/cli/run.c \
            $(SERVER) src/cli/job.c,$(CLI_SRC)))

## all: build the libraries, static and shared, and the program (the default)
all: $(LIB) $(SHARED) $(BIN)

$(LIB): $(LIB_OBJ)
	rm -f $@
	$(AR) rcsD $@ $(LIB_OBJ)

# The shared library exports what src/api.txt lists, and nothing else.
$(BUILD)/gen/exports: src/api.txt
	@mkdir -p $(@D)
	{ echo 'ROOFLINE_$(call ver,MAJOR) { global:'; sed 's/$$/;/' src/api.txt; echo 'local: *; };'; } > $@

$(BUILD)/$(SONAME): $(LIB_OBJ) $(BUILD)/gen/exports
	$(COMPILE) $(filter-out -pie,$(HARDEN_LINK)) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) \
	    -Wl,--version-script,$(BUILD)/gen/exports -o $@ $(LIB_OBJ) $(CJSON_LIBS) -pthread -lm $(LDLIBS)

$(BIN): $(CLI_OBJ) $(LIB)
	$(LINK) -pthread -o $@ $(CLI_OBJ) $(LIB) $(ARG_LIBS) $(EVENT_LIBS) $(CJSON_LIBS) -lm $(LDLIBS)

# A file whose text is $(1), which becomes newer only when the text changes.
define remember
@mkdir -p $(@D)
@printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@
endef

# Everything is compiled again when the command changes; when data files come or go, only they are.
$(sort $(BUILD)/command $(OBJECTS)/command): FORCE
	$(call remember,$(COMPILE) $(PIC) $(COUNTERS)$(HOT:%= %))

$(BUILD)/gen/data_list: FORCE
	$(call remember,$(DATA))

# These are compiled again when libevent comes or goes.
$(OBJECTS)/gen/event: FORCE
	$(call remember,$(shell $(PKG_CONFIG) --libs libevent_core 2> /dev/null || echo none))

SERVER_OBJ := $(SERVER:src/%.c=$(OBJECTS)/src/%.o)
$(SERVER_OBJ): $(OBJECTS)/gen/event
$(SERVER_OBJ): LIBEVENT = $(EVENT_CFLAGS)

# What counts the lines of the library that run (make coverage).
COUNTERS ?=
$(LIB_OBJ): COUNT = $(COUNTERS)
# What tests wait for longest in a build that is not optimised: HOT optimises these files.
HOT     ?=
$(filter $(addprefix $(OBJECTS)/src/,base/% operator/% predict/% simulate/%),$(LIB_OBJ)): LEVEL = $(HOT)
$(OBJECTS)/src/%.o: src/%.c $(OBJECTS)/command
	@mkdir -p $(@D)
	$(COMPILE) $(PIC) $(LEVEL) $(TRACE) $(COUNT) $(CJSON_CFLAGS) $(ARG_CFLAGS) $(LIBEVENT) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%.o: tests/%.c $(BUILD)/command
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<

# Unit tests are compiled without optimisation, in a third of the time, and without what guides a fuzzer;
# what they call is not.
UNOPTIMISED := -O0 -U_FORTIFY_SOURCE
# This one looks through all plans of many searches itself.
$(REST)/tests/unit/decide/test_plan.o: UNOPTIMISED :=
# The main of tests/unit/base/test_text.c becomes test_text, so that all of them are in one program.
$(BUILD)/tests/unit/%.o: tests/unit/%.c tests/unit/main.h $(BUILD)/command
	@mkdir -p $(@D)
	$(filter-out -fsanitize=fuzzer% -fsanitize-coverage%,$(COMPILE)) -Itests/unit $(CMOCKA_CFLAGS) -Dmain=$(*F) -include tests/unit/main.h $(UNOPTIMISED) -MMD -MP -c -o $@ $<

$(BUILD)/tests/unit/run.o: tests/unit/run.c tests/unit/run.h $(BUILD)/command
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(BUILD)/gen/unit_tests.c: FORCE
	$(call remember,$(UNIT_TABLE))

$(BUILD)/gen/unit_tests.o: $(BUILD)/gen/unit_tests.c tests/unit/run.h $(BUILD)/command
	$(COMPILE) -include tests/unit/run.h -c -o $@ $<

UNIT_TABLE = $(foreach name,$(notdir $(UNIT_SRC:.c=)),int $(name)(void);) \
             const struct unit_test unit_tests[] = {$(foreach name,$(notdir $(UNIT_SRC:.c=)),{"$(name)", $(name)},) {0, 0}};

$(UNIT): $(UNIT_OBJ) $(UNIT_RUN) $(LIB)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(UNIT_OBJ) $(UNIT_RUN) $(LIB) $(CMOCKA_LIBS) $(CJSON_LIBS) -lm $(LDLIBS)

# A fuzz target with what runs it: files one by one, or libFuzzer (FUZZER=-fsanitize=fuzzer).
FUZZER   ?=
TRACE    :=
# What formulas and reports compare tells libFuzzer little about input, and tracing it takes half of
# the time of the target cli.
UNTRACED := operator/% predict/% report/% chart/% model/scenario model/graph model/model_size $(addprefix decide/, \
            crossover emit plan% recommend speedup survey sweep)
ifneq ($(FUZZER),)
$(filter $(UNTRACED:%=$(OBJECTS)/src/%.o),$(LIB_OBJ)): TRACE = -fno-sanitize-coverage=trace-cmp
endif
$(BUILD)/tests/fuzz/cli/%.o: src/cli/%.c tests/fuzz/cli/streams.h $(BUILD)/command
	@mkdir -p $(@D)
	$(COMPILE) $(ARG_CFLAGS) -include tests/fuzz/cli/streams.h -MMD -MP -c -o $@ $<

$(BUILD)/tests/fuzz/cli.run: $(FUZZ_CLI)
$(BUILD)/tests/fuzz/%.run: $(REST)/tests/fuzz/%.o $(if $(FUZZER),,$(REST)/tests/fuzz/replay.o) $(LIB)
	@mkdir -p $(@D)
	$(LINK) $(FUZZER) -o $@ $(filter %.o,$^) $(LIB) $(ARG_LIBS) $(CJSON_LIBS) -lm $(LDLIBS)

$(BUILD)/tests/faults/driver: $(BUILD)/tests/faults/driver.o
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LDLIBS)

# It comes before sanitizers, so it has none.
$(BUILD)/tests/faults/preload.so: tests/faults/preload.c tests/faults/state.h $(BUILD)/command
	@mkdir -p $(@D)
	$(filter-out -fsanitize% -fno-sanitize%,$(COMPILE)) -shared -fPIC $(LDFLAGS) -o $@ $< -ldl

# Drivers whose devices are planted; tests put their folders first in LD_LIBRARY_PATH.
FAKE_LIBS := nvidia/libnvidia-ml.so.1 nvidia/libcuda.so.1 nvidia/libcublasLt.so.13 nvidia/libcudnn.so.9 nvidia/libnccl.so.2 \
             old/libnvidia-ml.so.1 old/libcuda.so.1 \
             amd/librocm_smi64.so.7 amd/libamdhip64.so.7 amd/libhiprtc.so.7 amd/libhipblaslt.so.1 amd/librccl.so.1 \
             amd_smi/libamd_smi.so.26 clock.so
FAKES     := $(FAKE_LIBS:%=$(BUILD)/tests/fake/%)
$(BUILD)/tests/fake/nvidia/libnvidia-ml.so.1 $(BUILD)/tests/fake/old/libnvidia-ml.so.1: tests/fake/nvml.c
$(BUILD)/tests/fake/old/libnvidia-ml.so.1: LACKS := -DWITHOUT_POWER
$(BUILD)/tests/fake/nvidia/libcuda.so.1 $(BUILD)/tests/fake/old/libcuda.so.1: tests/fake/cuda.c
$(BUILD)/tests/fake/old/libcuda.so.1: LACKS := -DWITHOUT_GRAPHS
$(BUILD)/tests/fake/nvidia/libcublasLt.so.13: tests/fake/cublaslt.c
$(BUILD)/tests/fake/nvidia/libcudnn.so.9: tests/fake/cudnn.c
$(BUILD)/tests/fake/amd/librocm_smi64.so.7: tests/fake/rocm_smi.c
$(BUILD)/tests/fake/amd_smi/libamd_smi.so.26: tests/fake/amd_smi.c
$(BUILD)/tests/fake/clock.so: tests/fake/clock.c
$(BUILD)/tests/fake/amd/libamdhip64.so.7: tests/fake/hip.c tests/fake/cuda.c
$(BUILD)/tests/fake/amd/libhiprtc.so.7: tests/fake/hiprtc.c
$(BUILD)/tests/fake/nvidia/libnccl.so.2: tests/fake/nccl.c
$(BUILD)/tests/fake/amd/librccl.so.1: tests/fake/rccl.c tests/fake/nccl.c
$(BUILD)/tests/fake/amd/libhipblaslt.so.1: tests/fake/hipblaslt.c tests/fake/cublaslt.c
$(FAKES): tests/fake/fake.h $(BUILD)/command
	@mkdir -p $(@D)
	$(filter-out -fsanitize% -fno-sanitize% --coverage,$(COMPILE)) -shared -fPIC $(LACKS) $(LDFLAGS) \
	    -Wl,-soname,$(@F) -o $@ $(firstword $(filter %.c,$^))

fakes: $(FAKES)

# The data is JSON in data/ and bytes in the library.
$(BUILD)/gen/data_files.c: src/catalog/embed.sh $(DATA) $(BUILD)/gen/data_list
	@mkdir -p $(@D)
	sh src/catalog/embed.sh $(DATA) > $@

$(BUILD)/gen/data_files.o: $(BUILD)/gen/data_files.c src/catalog/data.h $(BUILD)/command
	$(COMPILE) $(PIC) -c -o $@ $<

# The explorer is in the program when it was built before (make page).
EXPLORER := $(wildcard $(BUILD)/page/explorer.html)
$(BUILD)/gen/explorer_list: FORCE
	$(call remember,$(EXPLORER))

$(BUILD)/gen/explorer.c: src/catalog/embed.sh $(EXPLORER) $(BUILD)/gen/explorer_list
	@mkdir -p $(@D)
	sh src/catalog/embed.sh --explorer $(EXPLORER) > $@

$(BUILD)/gen/explorer.o: $(BUILD)/gen/explorer.c src/catalog/data.h $(BUILD)/command
	$(COMPILE) $(PIC) -c -o $@ $<

# The only part that needs an optimiser (NLopt); nothing else depends on it.
$(FIT): $(FIT_SRC) $(sort $(wildcard src/calibrate/*.h)) $(LIB)
	$(LINK) $(NLOPT_CFLAGS) -o $@ $(FIT_SRC) $(LIB) $(NLOPT_LIBS) $(CJSON_LIBS) -lm $(LDLIBS)

# --- the explorer ---------------------------------------------------------------------------------

# The library as a WebAssembly module, in one page with everything that the page needs. cJSON comes
# as source, since no package has it for WebAssembly: `sh .ci/deps page` fetches what this needs.
CJSON_SOURCE ?= $(BUILD)/cjson
WASM_CC      ?= clang --target=wasm32-wasi --sysroot=/usr
PAGE         := $(BUILD)/page
# A page has no machine to measure, no files to check and no checkpoints or benchmarks to read, draws its own
# curves without gnuplot and shows no Markdown of simulations: the functions of these files are missing in the module, and refuse there.
PAGE_WITHOUT := src/measure/% src/ask/monitor% src/ask/measur% src/ask/check% src/ask/ask_check% src/ask/compare% src/ask/records% src/ask/record_batch% src/ask/page% src/ask/predict_graph% src/ask/workflow% src/serve/% \
                src/model/gguf% src/model/safetensors% src/report/monitor% src/report/measure% src/report/step_report% src/report/simulation_markdown% src/simulate/bench_result% \
                src/ask/curves% src/chart/curves% src/chart/pdf% src/chart/chart_gnuplot%
PAGE_SRC     := $(filter-out $(PAGE_WITHOUT),$(LIB_SRC)) $(sort $(wildcard src/page/*.c))
PAGE_OBJ     := $(PAGE_SRC:%.c=$(PAGE)/%.o) $(PAGE)/data_files.o $(PAGE)/cJSON.o
PAGE_DATA    := $(filter data/%.json,$(DATA))
# In the C library of WebAssembly lseek is a macro that uses an extension.
COMPILE_PAGE  = $(WASM_CC) -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -fno-trapping-math $(WARN) $(WERROR) \
                -Wno-gnu-statement-expression -Oz -flto -ffunction-sections -fdata-sections -Iinclude -Isrc -Isrc/page/wasi -I$(PAGE)/include
LINK_PAGE     = -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all -Wl,--stack-first -Wl,--allow-undefined -Wl,-z,stack-size=1048576

## page: build the explorer, the library and its data in one HTML file (sh .ci/deps page)
page: $(PAGE)/explorer.html
	$(MAKE) all

# The page with the module and all that it needs in it.
$(PAGE)/explorer.html: $(PAGE)/roofline.wasm $(sort $(wildcard src/page/explorer/*))
	sh src/page/explorer/assemble.sh $< > $@

$(PAGE)/command: FORCE
	$(call remember,$(COMPILE_PAGE) $(LINK_PAGE))

$(PAGE)/include/cjson/cJSON.h: $(CJSON_SOURCE)/cJSON.h
	@mkdir -p $(@D)
	cp $< $@

$(CJSON_SOURCE)/cJSON.h $(CJSON_SOURCE)/cJSON.c:
	@echo "no $@: sh .ci/deps page fetches it" >&2; exit 1

$(PAGE)/src/%.o: src/%.c $(PAGE)/command $(PAGE)/include/cjson/cJSON.h
	@mkdir -p $(@D)
	$(COMPILE_PAGE) -MMD -MP -c -o $@ $<

$(PAGE)/cJSON.o: $(CJSON_SOURCE)/cJSON.c $(PAGE)/command
	$(filter-out -W%,$(COMPILE_PAGE)) -c -o $@ $<

# The data without blanks, and without the sources and notes of engines, which the page does not list.
$(PAGE)/data_files.c: src/catalog/embed.sh $(PAGE_DATA) $(BUILD)/gen/data_list
	rm -rf $(PAGE)/data
	for file in $(PAGE_DATA); do mkdir -p "$(PAGE)/$${file%/*}" && \
	    jq -c 'if .schema == "roofline/engine/1" then del(.source, .notes) else . end' $$file > "$(PAGE)/$$file" || exit 1; done
	cd $(PAGE) && sh '$(CURDIR)/src/catalog/embed.sh' $(PAGE_DATA) > data_files.c

$(PAGE)/data_files.o: $(PAGE)/data_files.c $(PAGE)/command
	$(COMPILE_PAGE) -c -o $@ $<

$(PAGE)/roofline.wasm: $(PAGE_OBJ)
	$(COMPILE_PAGE) $(LINK_PAGE) -o $@ $(PAGE_OBJ)

# The module's functions compiled for this machine, which its answers are compared with.
$(PAGE)/native: $(BUILD)/tests/page/native.o $(OBJECTS)/src/page/module.o $(LIB)
	$(LINK) -o $@ $(filter %.o,$^) $(LIB) $(CJSON_LIBS) -pthread -lm $(LDLIBS)

## check-page: the explorer's module answers with the program's bytes (PAGE_QUESTIONS=1: 5,000 and 40,000)
PAGE_QUESTIONS ?= 0.1
check-page: $(PAGE)/roofline.wasm $(PAGE)/native
	node tests/page/same.mjs $(PAGE)/roofline.wasm $(PAGE)/native $(PAGE_QUESTIONS)

## calibrate: fit data/calibration again, from the published timings in MEASURED=DIR (DEVICES='ID ...': these alone)
MEASURED    ?=
DEVICES     ?=
FITTED      := $(BUILD)/fitted
# A device borrows kernels from those before it (lenders in data/borrowing.json). The first two also borrow
# some from later ones, so they do it at the end. The present files are read only if DEVICES are named,
# since these may borrow kernels from the other devices.
CALIBRATED  := h100-sxm a100-sxm-80gb hgx-b200 l40s rtx-pro-6000 dgx-spark mi355x mi300x
BORROW_LAST := h100-sxm a100-sxm-80gb
calibrate: $(FIT) $(BIN)
	@[ -d '$(MEASURED)' ] || { echo 'make calibrate MEASURED=DIR' >&2; exit 2; }
	rm -rf $(FITTED) && mkdir -p $(FITTED)
	$(if $(DEVICES),cp data/calibration/*.json $(FITTED))
	sh tests/measured.sh '$(MEASURED)' > $(BUILD)/measured.csv
	python3 -B tests/kinds.py '$(MEASURED)/kinds' $(BUILD)/measured.csv >> $(BUILD)/measured.csv
	for id in $(or $(DEVICES),$(CALIBRATED)); do \
	    lenders='--lenders $(FITTED)'; \
	    for last in $(BORROW_LAST); do [ $$id != $$last ] || lenders=; done; \
	    sh tests/attributed.sh $(FIT) $$id $(BUILD)/measured.csv --evaluations 400 -o $(FITTED)/$$id.json \
	        $$lenders || exit 1; done
	for id in $(filter $(BORROW_LAST),$(or $(DEVICES),$(CALIBRATED))); do \
	    sh tests/attributed.sh $(FIT) $$id --kept $(FITTED)/$$id.json -o $(FITTED)/$$id.json \
	        --lenders $(FITTED) || exit 1; done
	$(if $(DEVICES),,python3 -B tests/llamacpp.py $(BIN) '$(MEASURED)' $(FITTED))
	mv $(FITTED)/*.json data/calibration/

## bench: predictions per second, and whole processes beside /bin/true and jq, as JSON lines
## (BEFORE=COMMIT: beside those of an earlier commit, with ratios)
BEFORE ?=
bench: $(if $(BEFORE),bench-before,bench-now)
$(BUILD)/bench.csv: $(BIN)
	@{ echo operator,m,n,k,weights,activations,measured_us; \
	   $(BIN) sweep gemm -m 1:100000 -n 4096 -k 4096 -H h100-sxm -f csv \
	       --columns operator,m,n,k,weights,activations,time_us | sed 1d; } > $@
bench-before: $(BENCH) $(PROCESS) $(BIN) $(BUILD)/bench.csv
	@MEASURED=$(BUILD)/bench.csv sh tests/bench/before.sh '$(BEFORE)' $(BUILD)
bench-now: $(BENCH) $(PROCESS) $(BIN) $(BUILD)/bench.csv
	@$(BENCH)
	@MEASURED=$(BUILD)/bench.csv $(PROCESS) $(BIN)
	@if $(PKG_CONFIG) --exists libevent_extra; then $(MAKE) -s bench-serve; fi

## bench-serve: answers per second of the service beside a bare handler of libevent (wrk, curl)
bench-serve: $(BARE) $(BIN)
	@sh tests/bench/serve.sh $(BIN) $(BARE)

$(BARE): $(BUILD)/tests/bench/bare.o
	$(LINK) -pthread -o $@ $< $$($(PKG_CONFIG) --libs libevent_core libevent_extra) $(LDLIBS)

$(PROCESS): $(BUILD)/tests/bench/process.o
	$(LINK) -o $@ $< $(LDLIBS)

$(BENCH): $(BUILD)/tests/bench/bench.o $(LIB)
	$(LINK) -o $@ $< $(LIB) $(CJSON_LIBS) -lm $(LDLIBS)

## errors: write docs/errors.md and the first table of docs/accuracy.md again, from the published timings in MEASURED=DIR
errors: all $(FIT)
	@[ -d '$(MEASURED)' ] || { echo 'make errors MEASURED=DIR' >&2; exit 2; }
	sh docs/errors.sh '$(MEASURED)' $(BIN) $(FIT) > $(BUILD)/errors.md
	mv $(BUILD)/errors.md docs/errors.md
	sh tests/believed.sh write docs/accuracy.md docs/errors.md

## check-errors: refuse errors larger than those of docs/errors.md, from the published timings in MEASURED=DIR
check-errors: all $(FIT)
	@[ -d '$(MEASURED)' ] || { echo 'make check-errors MEASURED=DIR' >&2; exit 2; }
	sh docs/errors.sh '$(MEASURED)' $(BIN) $(FIT) > $(BUILD)/errors.md
	python3 -B tests/errors_kept.py docs/errors.md $(BUILD)/errors.md

## serving: simulate the measured serving runs in MEASURED=DIR, and compare
serving: $(BIN)
	@[ -d '$(MEASURED)' ] || { echo 'make serving MEASURED=DIR' >&2; exit 2; }
	sh tests/serving.sh '$(MEASURED)' $(BIN)

## llama-check: predictions on this machine, measured first, beside llama.cpp (npm: node-llama-cpp); half an hour on a quiet machine
LLAMA := $(BUILD)/llama
llama-check: $(BIN)
	@mkdir -p $(LLAMA)
	@[ -d $(LLAMA)/node_modules/node-llama-cpp ] || npm install --silent --no-audit --no-fund --ignore-scripts \
	    --prefix $(LLAMA) node-llama-cpp@3.22.1
	@sh tests/llama/check.sh $(BIN) $(LLAMA)

## measure-check: bandwidths and peaks of this processor over five runs of measure with two threads; 20 seconds
measure-check: $(BIN)
	@sh tests/repeats.sh $(BIN)

## cuda-check: our declarations and kernels of CUDA against a toolkit (CUDA_HOME), where one is installed; no GPU is needed
CUDA_PTX := $(BUILD)/tests/cuda/ptx
cuda-check: $(CUDA_PTX)
	@CC='$(CC)' sh tests/cuda/run.sh $(CUDA_PTX)

## gpu-check: the kernels that measure an NVIDIA GPU, their results beside plain sums; needs the GPU
GPU_RESULTS := $(BUILD)/tests/cuda/results
gpu-check: $(GPU_RESULTS)
	@$(GPU_RESULTS)

$(CUDA_PTX) $(GPU_RESULTS): $(BUILD)/tests/cuda/%: tests/cuda/%.c $(LIB)
	@mkdir -p $(@D)
	$(LINK) $(CJSON_CFLAGS) -o $@ $< $(LIB) $(CJSON_LIBS) -lm $(LDLIBS)

## kernels: compile the kernels that measure the operators of NVIDIA GPUs to PTX again (clang 14)
kernels:
	sh src/measure/kernels.sh > $(KERNELS).part
	mv $(KERNELS).part $(KERNELS)

# Reports that a command prints; the others are of measurements.
REPORTS := $(filter-out docs/reports/measured-%,$(sort $(wildcard docs/reports/*.md)))

## reports: write docs/reports again, each by the command at its end
reports: $(BIN)
	@BLESS=1 sh tests/cli/reports.sh $(BIN) $(REPORTS)

## charts: draw the charts of the documentation again (needs gnuplot)
charts: all
	sh docs/charts.sh $(BIN) docs/charts

## demo: build, then real predictions for a real decision
demo: all
	@sh docs/demo.sh $(BIN)

# --- tests ----------------------------------------------------------------------------------------

# A sample of CI is another one after each commit, so that in time it has everything (docs/testing.md):
# $(call one_in,N,NAMES) is every N-th name, $(call part,N) a part of N for CASES_PART. TURN says which.
TURN   := $(or $(TURN),$(shell git rev-list --count HEAD 2> /dev/null),0)
one_in  = $(or $(shell printf '%s\n' $(2) | awk 'NR % $(1) == $(TURN) % $(1)'),$(error one in $(1) of nothing))
part    = $(shell expr $(TURN) % $(1) + 1)/$(1)
# The turn of steps that CI runs after every other commit.
HALF   := $(shell expr $(TURN) / 2)

# A test that passed leaves a file in $(PASSED), and runs again when something changed that it tests.
# What passed under WRAPPER, as valgrind, is kept apart.
PASSED := $(BUILD)/$(if $(strip $(WRAPPER)),passed-wrapped,passed)
WRAPPED := $(PASSED)/wrapper
$(WRAPPED): FORCE
	$(call remember,$(WRAPPER) $(CASES_PART))

# Runs $(1), shows the last line that it prints, or all of them when it fails.
define test
@mkdir -p $(@D)
@if WRAPPER='$(WRAPPER)' $(1) > $@.log 2>&1; then \
    echo "ok   $(@:$(PASSED)/%=%): $$(tail -n 1 $@.log)"; touch $@; \
else cat $@.log; echo "FAIL $(@:$(PASSED)/%=%)"; exit 1; fi
endef

## check: run every test on this build (-j2: two at a time)
check: check-unit check-fuzz check-cli check-faults check-formulas check-schemas check-configs check-project check-kernels check-calibrate check-oracle check-ask recipes

# A unit test runs again when its floor or one below it changes: it uses no others (check-rules).
# These use a floor above theirs, of which they need something to test with.
UNIT_ABOVE := base/test_json predict/test_calibration
define unit_rule
below += $(filter $(OBJECTS)/src/$(1)/%,$(LIB_OBJ)) $(if $(filter catalog,$(1)),$(firstword $(GEN_OBJ)))
$(PASSED)/unit/$(1)/%: $(REST)/tests/unit/$(1)/%.o $$(below) $(firstword $(UNIT_RUN)) $(WRAPPED) | $(UNIT)
	$$(call test,$(WRAPPER) $(UNIT) $$*)
endef
below :=
$(foreach floor,$(FLOORS),$(eval $(call unit_rule,$(floor))))
$(PASSED)/unit/measure/test_cuda $(PASSED)/unit/measure/test_hip: $(FAKES)
UNIT_SLOW := plan kernel service layout attention latent experts simulation decimal quantity engine model_prediction \
    rate answer vector collective speedup plan_stacks hip_kernels request_trace few_rows step cpu_experts cuda hip \
    step_table scan capacity sparse fleet copies
UNIT_SHORT = $(filter-out $(UNIT_SLOW:%=\%/test_%),$(UNIT_SRC:tests/%.c=$(PASSED)/%))
UNIT_LATE  = $(filter-out $(UNIT_SHORT) %/test_plan %/test_rate %/test_simulation,$(UNIT_SRC:tests/%.c=$(PASSED)/%))
UNIT_OK := $(UNIT_SRC:tests/%.c=$(PASSED)/%)
# They take longest, so that they begin first.
UNIT_LONG := $(filter %/test_plan %/test_kernel,$(UNIT_OK))
$(UNIT_ABOVE:%=$(PASSED)/unit/%): $(LIB_OBJ)

check-unit: $(UNIT_LONG) $(UNIT_OK)

check-fuzz: $(FUZZ:%=$(PASSED)/fuzz/%)
define fuzz_rule
$(PASSED)/fuzz/$(1): $(BUILD)/tests/fuzz/$(1).run $(wildcard tests/fuzz/corpus/$(1) tests/fuzz/corpus/$(1)/*) $(WRAPPED)
	$$(call test,$(WRAPPER) $$< tests/fuzz/corpus/$(1))
endef
$(foreach name,$(FUZZ),$(eval $(call fuzz_rule,$(name))))

CASES   := $(sort $(wildcard tests/cli/*.case))
PAGES   := README.md $(sort $(wildcard docs/*.md)) docs/reports/measured-h200.md docs/reports/measured-h100.md
# Command lines that measure for a time.
MEASURING := %/cuda.case %/hip.case %/measure.case
# Of the cases of a file those of this part, as 1/10: the first, the eleventh and so on.
CASES_PART ?= 1/1
SCRIPTS := faults resume images inputs completion killed long serve widths
check-cases: $(CASES:tests/%=$(PASSED)/%) $(PASSED)/cli/run.sh

## quick: what changes of code most often break: unit tests, golden command lines, cheap rules
# This leaves out a unit test that takes ten seconds, and command lines that measure for a time.
quick: $(filter-out %/test_plan,$(UNIT_OK)) \
       $(filter-out $(MEASURING) %/threads.case,$(CASES:tests/%=$(PASSED)/%)) $(PASSED)/cli/run.sh check-rules

check-cli: check-cases $(PAGES:%=$(PASSED)/pages/%) $(PASSED)/reports $(SCRIPTS:%=$(PASSED)/cli/%.sh)

$(PASSED)/cli/monitor.case $(PASSED)/cli/cuda.case $(PASSED)/cli/hip.case: $(FAKES)
$(PASSED)/cli/%.case: tests/cli/%.case tests/cli/run.sh tests/cli/program.sh $(BIN) $(WRAPPED)
	$(call test,SELF_TEST=no PART=$(CASES_PART) sh tests/cli/run.sh $(BIN) $<)

# The runner of the cases is tested, too.
$(PASSED)/cli/run.sh: tests/cli/run.sh tests/cli/program.sh $(BIN) $(WRAPPED)
	$(call test,SELF_TEST=only sh tests/cli/run.sh $(BIN) -)

$(PASSED)/cli/%.sh: tests/cli/%.sh tests/cli/program.sh tests/cli/steps.sh $(BIN) $(WRAPPED)
	$(call test,sh $< $(BIN))

$(PASSED)/cli/images.sh: $(wildcard docs/charts/*)
$(PASSED)/cli/widths.sh: tests/cli/docs.sh $(PAGES)
$(PASSED)/cli/serve.sh: tests/cli/serve.py $(FAKES)
$(PASSED)/cli/long.sh: $(FAKES)

$(PASSED)/pages/%: % tests/cli/docs.sh tests/cli/program.sh $(BIN) $(WRAPPED)
	$(call test,$(if $(filter README.md,$<),,SELF_TEST=no EXAMPLES=any) sh tests/cli/docs.sh $(BIN) $<)

$(PASSED)/reports: tests/cli/reports.sh tests/cli/program.sh tests/cli/tables.awk $(BIN) $(REPORTS) $(PAGES) $(WRAPPED)
	$(call test,sh tests/cli/reports.sh $(BIN) $(REPORTS))

# Calls fail by a library that is loaded before that of GNU.
check-faults: $(BIN)
	@if echo '#include <gnu/libc-version.h>' | $(CC) -E - > /dev/null 2>&1; then \
	    $(MAKE) -s $(FAULTS) && sh tests/faults/run.sh $(BIN) $(FAULTS) $(FAULTS_RUN); \
	else echo "skipped: calls are made to fail with the GNU C library only"; fi

## faults: every allocation and other call of the commands in tests/faults fails once (an hour)
faults:
	$(MAKE) check-faults FAULTS_RUN=all

check-formulas: $(PASSED)/formulas
$(PASSED)/formulas: $(BIN) $(wildcard tests/check/*.json) $(WRAPPED)
	$(call test,env -i PATH="$$PATH" $(WRAPPER) $(BIN) check tests/check/*.json)

check-schemas: $(PASSED)/schemas
$(PASSED)/schemas: $(BIN) tests/schema.sh tests/schema.py tests/cli/program.sh $(DATA) $(FAKES) $(WRAPPED)
	$(call test,sh tests/schema.sh $(BIN))

# Published configs are predicted or refused, as docs/coverage.md says.
check-configs: $(PASSED)/configs
$(PASSED)/configs: $(BIN) tests/configs.sh tests/configs.json tests/configs_published.json docs/coverage.md $(WRAPPED)
	$(call test,sh tests/configs.sh $(BIN))

# The kernels of GPUs compute what they should, by an interpreter.
check-kernels: $(PASSED)/kernels
$(PASSED)/kernels: tests/cuda/interpret.py $(KERNELS)
	$(call test,eval 'if command -v $(PYTHON); then $(PYTHON) -B tests/cuda/interpret.py $(KERNELS); else echo "skipped: no $(PYTHON)"; fi')

# The fit of calibrations finds planted kernels.
check-calibrate: $(PASSED)/calibrate
$(PASSED)/calibrate: $(BIN) $(FIT_SRC) tests/calibrate.sh $(WRAPPED)
	$(call test,eval 'if $(PKG_CONFIG) --exists nlopt; then $(MAKE) -s $(FIT) && sh tests/calibrate.sh $(BIN) $(FIT); \
	    else echo "skipped: no NLopt"; fi')

# The rules of the project: those that take a second first, then those that build and install.
RULES = CC='$(CC)' LIB='$(LIB)' SHARED='$(SHARED)' BIN='$(BIN)' BUILD='$(BUILD)' HARDEN='$(HARDEN)' sh tests/project.sh
check-project: check-rules check-rules-slow
check-rules: $(LIB) $(SHARED) $(BIN) $(UNIT_OBJ)
	@UNIT_ABOVE='$(UNIT_ABOVE)' $(RULES) quick
check-rules-slow: $(LIB) $(SHARED) $(BIN)
	@$(RULES) slow

# The same seed each time, so that it ends as it did before.
ORACLES := oracle-1200 oracle-100-self properties-500 properties-60-self plans-50 simulation-50 \
           simulation-20-self growth-1500 growth-50-self
check-oracle: $(ORACLES:%=$(PASSED)/oracle/%)
define oracle_rule
$(PASSED)/oracle/$(1): $(BIN) $(wildcard tests/oracle/*.py) $(DATA) $(WRAPPED)
	$$(call test,eval 'if command -v $(PYTHON); then $(PYTHON) -B tests/oracle/$(word 1,$(subst -, ,$(1))).py $(BIN) data \
	    --cases $(word 2,$(subst -, ,$(1))) --seed 1 $(if $(findstring self,$(1)),--self-test); else echo skipped: no $(PYTHON); fi')
endef
$(foreach name,$(ORACLES),$(eval $(call oracle_rule,$(name))))

# The same questions by the command line, from C, as records and in a check file.
check-ask: $(PASSED)/ask
$(PASSED)/ask: $(BIN) $(ASKER) $(wildcard tests/ask/*.py) $(DATA) $(WRAPPED)
	$(call test,eval 'if command -v $(PYTHON); then $(PYTHON) -B tests/ask/ask.py $(BIN) $(ASKER) \
	    --cases 500 --seed 1; else echo skipped: no $(PYTHON); fi')

$(ASKER): $(BUILD)/tests/ask/asker.o $(LIB)
	$(LINK) -pthread -o $@ $< $(LIB) $(CJSON_LIBS) -lm $(LDLIBS)

## oracle: formulas written a second time against the program: CASES=N random cases (SEED=S: these)
CASES ?= 20000
CASES_SIMULATED ?= 200
SEED  ?=
oracle: $(BIN)
	$(PYTHON) -B tests/oracle/oracle.py $(BIN) data --cases $(CASES) $(SEED:%=--seed %)
	$(PYTHON) -B tests/oracle/properties.py $(BIN) data --cases $(CASES) $(SEED:%=--seed %)
	$(PYTHON) -B tests/oracle/plans.py $(BIN) data --cases 50 $(SEED:%=--seed %)
	$(PYTHON) -B tests/oracle/growth.py $(BIN) data --cases $(CASES) $(SEED:%=--seed %)
	$(PYTHON) -B tests/oracle/simulation.py $(BIN) data --cases $(CASES_SIMULATED) $(SEED:%=--seed %)

## check-browser: the explorer in headless Chromium, where there is one (a build of its own, with make page)
check-browser:
	@OBJECTS='$(OBJECTS)' sh tests/browser.sh $(BUILD)/explorer

## check-serve: the service over HTTP, with 100,000 requests over which its memory must not grow (minutes)
check-serve: $(BIN) $(FAKES)
	SERVE_REQUESTS=100000 sh tests/cli/serve.sh $(BIN)

## check-batch: the array of Slurm jobs and the Kubernetes jobs of the docs (sh .ci/deps batch)
check-batch: $(BIN)
	sh tests/slurm.sh $(BIN)
	$(PYTHON) -B tests/manifests.py $(BIN) docs/recipes.md docs/performance.md

## mutate: wrong code, one mistake at a time (MODULES=a,b JOBS=N): what no test notices
MODULES ?= operator,workload,predict,scenario,graph,model_size,sweep,recommend
JOBS    ?= 2
mutate:
	$(PYTHON) -B tests/mutate.py --modules '$(MODULES)' --jobs '$(JOBS)'

## mutate-quick: every 36th of the known mistakes, others after each commit
mutate-quick:
	$(PYTHON) -B tests/mutate.py --known --every 36 --from $(TURN) --jobs '$(JOBS)'

## mutate-folders: a random sample of wrong code in each of FOLDERS, with the tests that see it (build/mutate; hours)
FOLDERS ?= catalog operator model predict simulate decide measure report chart ask
SAMPLE  ?= 40
SEED    ?= 1
mutate-folders:
	$(PYTHON) -B tests/mutate_folders.py $(FOLDERS) --sample $(SAMPLE) --seed $(SEED)

## bless: rewrite the expected output of the command-line tests, and the options of the manual
## (then read the diff)
bless: $(BIN)
	@BLESS=1 sh tests/cli/run.sh $(BIN) tests/cli/*.case
	@BLESS=1 sh tests/cli/docs.sh $(BIN) README.md docs/*.md
	@sh docs/man/options.sh $(BIN) docs/man/*.1

## recipes: prove that an operator, a precision and a device are each added in one place
recipes:
	@CC='$(CC)' sh tests/recipes.sh

## figures: write the figures of docs/design.md again: lines, functions, circles
figures: $(LIB) $(BIN)
	@BUILD='$(BUILD)' sh tests/figures.sh write docs/design.md

SANITIZED := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all

## sanitize: every test under the address and undefined-behaviour sanitizers, threads under theirs
sanitize: sanitize-threads
	SLOWER=4 $(MAKE) check-unit check-fuzz check-cli BUILD=$(BUILD)/sanitize WERROR=-Werror \
	    CFLAGS='-O1 -g -fno-omit-frame-pointer $(SANITIZED)'

# The thread sanitizer: what runs in threads, and in CI a third of the sweeps, a sixth of the searches, which take longest, and
# in turn stopped sweeps and the service.
sanitize-threads-quick: override TURN := $(HALF)
sanitize-threads-quick: CASES_PART = $(call part,3)
sanitize-threads-quick: SEARCHES_PART = $(call part,6)
sanitize-threads-quick: FEWER = SLOWER=4 FEWER_CUTS=1
sanitize-threads-quick: THREADED = $(call one_in,2,resume serve)
SEARCHES_PART = $(CASES_PART)
THREADED = resume serve
sanitize-threads sanitize-threads-quick:
	$(MAKE) $(BUILD)/tsan/roofline $(FAKE_LIBS:%=$(BUILD)/tsan/tests/fake/%) BUILD=$(BUILD)/tsan CFLAGS='-O1 -g1 -fsanitize=thread'
	@PART=$(CASES_PART) sh tests/cli/run.sh $(BUILD)/tsan/roofline tests/cli/sweep.case
	@SELF_TEST=no $(FEWER) PART=$(SEARCHES_PART) sh tests/cli/run.sh $(BUILD)/tsan/roofline tests/cli/threads.case
	@$(if $(filter resume,$(THREADED)),THREADS_SANITIZED=1 $(FEWER) sh tests/cli/resume.sh $(BUILD)/tsan/roofline)
	@$(if $(filter serve,$(THREADED)),SERVE_IDLE=1000 SERVE_REQUESTS=500 sh tests/cli/serve.sh $(BUILD)/tsan/roofline)

## fuzz: run the fuzz targets, or TARGET=NAME, for SECONDS=60 each with libFuzzer (clang)
TARGET  ?= $(FUZZ)
SECONDS ?= 60
UNCOUNTED := -fsanitize-coverage-ignorelist=tests/fuzz/uncounted
fuzz:
	$(MAKE) $(TARGET:%=$(BUILD)/fuzz/tests/fuzz/%.run) BUILD=$(BUILD)/fuzz CC=clang \
	    FUZZER=-fsanitize=fuzzer CFLAGS='-O2 -g -fsanitize=fuzzer-no-link $(SANITIZED) $(UNCOUNTED)'
	@sh tests/fuzz/run.sh $(BUILD)/fuzz $(SECONDS) $(TARGET)

## sanitize-quick: one build by clang for samples of sanitize and of fuzz, with its warnings as errors
# clang takes four times as long to optimise what it instruments as to compile it, so it optimises only HOT
# files: with them searches and simulations run in less than half of the time. This leaves out the pages, scripts that
# interrupt and complete, two of three others, five of six golden command lines and those that measure for a
# time or search in threads, half of the unit tests, and of the longest five of six or, of those that search
# for a minute, all.
SAMPLED := cli/serve.sh cli/inputs.sh cli/faults.sh
sanitize-quick: SECONDS = 3
sanitize-quick:
	SERVE_IDLE=1000 SERVE_REQUESTS=500 SLOWER=4 $(MAKE) $(FUZZ:%=$(BUILD)/clang/tests/fuzz/%.run) check-unit check-cases $(patsubst %,$(BUILD)/clang/passed/%,$(call one_in,3,$(SAMPLED))) \
	    UNIT_LONG= UNIT_OK='$$(call one_in,2,$$(UNIT_SHORT)) $$(call one_in,6,$$(UNIT_LATE))' \
	    CASES_PART=$(call part,6) CASES='$(filter-out $(MEASURING) %/threads.case,$(CASES))' BUILD=$(BUILD)/clang CC=clang WERROR=-Werror FUZZER=-fsanitize=fuzzer HOT=-O1 \
	    CFLAGS='-O0 -g1 -fsanitize=fuzzer-no-link $(SANITIZED) $(UNCOUNTED)'
	@sh tests/fuzz/run.sh $(BUILD)/clang $(SECONDS) $(FUZZ)

## fuzz-coverage: the lines that the kept inputs of each fuzz target reach (clang, llvm-cov)
fuzz-coverage:
	$(MAKE) $(FUZZ:%=$(BUILD)/coverage/tests/fuzz/%.run) BUILD=$(BUILD)/coverage CC=clang \
	    CFLAGS='-O1 -g -fprofile-instr-generate -fcoverage-mapping'
	@sh tests/fuzz/coverage.sh $(BUILD)/coverage $(FUZZ)

COVERED := $(PAGES:%=pages/%) reports cli/serve.sh cli/inputs.sh cli/images.sh cli/faults.sh

# clang counts in the files of a folder, to which each process adds what it ran: gcov reads and writes a file
# for each source file, which takes ten times as long as most commands. The name is compiled in, since tests clear
# the environment.
COUNTING := $(BUILD)/counted
## coverage: the lines and branches of the library that tests reach (clang, llvm-cov); fails below 96% and 90%
coverage: $(GEN_OBJ) $(CLI_OBJ) $(UNIT_OBJ) $(UNIT_RUN) $(FUZZ_OBJ) $(FUZZ_CLI)
	@rm -rf $(COUNTING)/passed $(COUNTING)/profiles
	COUNTED=1 SLOWER=2 $(MAKE) check-unit check-fuzz check-cases check-schemas check-formulas $(COVERED:%=$(COUNTING)/passed/%) \
	    BUILD=$(COUNTING) OTHERS=$(BUILD) CC=clang CFLAGS=-O1 \
	    COUNTERS='-fprofile-instr-generate="$(abspath $(COUNTING))/profiles/%4m.profraw" -fcoverage-mapping'
	sh tests/counted.sh $(COUNTING) 96 90

## valgrind: every test under valgrind (an hour); valgrind-quick: a sample of them
VALGRIND := valgrind -q --leak-check=full --errors-for-leak-kinds=all --error-exitcode=100 --suppressions="$(CURDIR)/tests/valgrind.supp"
valgrind:
	$(MAKE) check-unit check-fuzz check-cli WRAPPER='$(VALGRIND)'

# This runs a sixth of the unit tests without the longest, and every 50th golden command line, except
# those that measure for a time or search in threads.
valgrind-quick: override TURN := $(HALF)
valgrind-quick:
	$(MAKE) check-unit check-cases WRAPPER='$(VALGRIND)' UNIT_LONG= TURN=$(TURN) UNIT_OK='$$(call one_in,6,$$(UNIT_SHORT))' CASES_PART=$(call part,50) \
	    CASES='$(filter-out $(MEASURING) %/threads.case,$(CASES))'

LINT_C := $(LIB_SRC) $(CLI_SRC) $(UNIT_SRC) tests/unit/run.c $(FUZZ_SRC) tests/fuzz/replay.c \
          $(wildcard tests/faults/*.c) $(FIT_SRC) tests/bench/bench.c tests/bench/process.c tests/bench/bare.c tests/ask/asker.c docs/example.c
LINT_H := $(HEADERS) $(sort $(wildcard src/*/*.h tests/unit/*.h tests/faults/*.h tests/fuzz/*.h tests/fuzz/cli/*.h))
LINT_S := .ci/run .ci/deps packaging/deb.sh packaging/portable.sh packaging/version.sh src/catalog/embed.sh docs/charts.sh docs/demo.sh docs/errors.sh docs/man/options.sh \
          $(sort $(wildcard tests/*.sh tests/bench/*.sh tests/cli/*.sh tests/cuda/*.sh tests/faults/*.sh tests/fuzz/*.sh tests/llama/*.sh))
# Unit tests and golden command lines have words that are misspelled on purpose.
SPELLED := $(wildcard *.md) Makefile .ci docs include src data debian packaging $(wildcard tests/*.sh tests/*.py) \
           $(addprefix tests/,ask bench fake faults oracle page)
## lint: warnings as errors with gcc and clang, gcc -fanalyzer, clang-format, clang-tidy, cppcheck, mandoc, shellcheck, codespell, prose
lint: lint-gcc lint-clang lint-text $(LINT_C:%=$(PASSED)/tidy/%) $(patsubst %,$(PASSED)/analyze/%,$(LIB_SRC) $(CLI_SRC))

# Each sees a sample, those that take longest the smallest. Where warnings are errors already, as in .ci/run, gcc has compiled all but the
# fit, and clang has compiled all but that, too (sanitize-quick).
ANALYZED := $(LIB_SRC) $(CLI_SRC)
lint-quick: CPPCHECKED = $(call one_in,12,$(ANALYZED))
lint-quick: $(if $(WERROR),$(FIT) lint-fit,lint-gcc lint-clang) lint-text $(patsubst %,$(PASSED)/analyze/%,$(call one_in,16,$(ANALYZED))) \
    $(patsubst %,$(PASSED)/tidy/%,$(call one_in,36,$(ANALYZED))) $(patsubst %,$(PASSED)/tidy-quick/%,$(call one_in,3,$(LINT_C)))

lint-fit:
	clang -std=c11 -D_POSIX_C_SOURCE=200809L -fsyntax-only $(WARN) -Werror -Iinclude -Isrc $(NLOPT_CFLAGS) $(FIT_SRC)

lint-gcc lint-clang: lint-%:
	$(MAKE) all $(BUILD)/lint-$*/roofline-calibrate CC=$* BUILD=$(BUILD)/lint-$* WERROR=-Werror CFLAGS='$(LINT_CFLAGS_$*)'

# What clang warns of does not depend on how it optimises.
LINT_CFLAGS_gcc = $(CFLAGS)
LINT_CFLAGS_clang = -O0

CPPCHECKED = $(ANALYZED)
lint-text:
	clang-format --dry-run -Werror $(LINT_H) $(LINT_C)
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
	    --error-exitcode=1 -Iinclude -Isrc $(CPPCHECKED)
	mandoc -Tlint -Wwarning docs/man/*.1
	shellcheck $(LINT_S)
	codespell --ignore-words tests/spelling.ignored $(SPELLED)
	sh tests/prose.sh --self-test
	sh tests/prose.sh

TIDY = $(CLANG_TIDY) --quiet
$(PASSED)/tidy/%: % .clang-tidy $(LINT_H)
	$(call test,$(TIDY) $< -- -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Itests/unit)

$(PASSED)/tidy-quick/%: % .clang-tidy $(LINT_H)
	$(call test,$(TIDY) --checks='-clang-analyzer-*' $< -- -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Itests/unit)

$(PASSED)/analyze/%: % tests/analyze.sh $(LINT_H)
	$(call test,sh tests/analyze.sh $<)

# --- continuous integration -----------------------------------------------------------------------

# What .ci/run does after README's command; docs/testing.md says what is a sample. Under -j two
# steps go side by side, each with its output in a file.
# Steps that take longest come first. The thread sanitizer and valgrind take turns.
CI := sanitize-quick coverage mutate-quick check-browser check-packages \
      $(if $(filter %1 %3 %5 %7 %9,$(TURN)),valgrind-quick,sanitize-threads-quick) lint-quick
ci: $(CI:%=ci-%)
$(CI:%=ci-%): ci-%:
	@mkdir -p $(BUILD)/ci
	@begin=$$(date +%s); \
	if $(MAKE) $* JOBS=1 > $(BUILD)/ci/$*.log 2>&1; then \
	    echo "ok   make $*: $$(($$(date +%s) - begin)) s"; \
	else grep -B 20 -e '^FAIL ' -e '\*\*\* ' $(BUILD)/ci/$*.log | tail -n 200; \
	    echo "FAIL make $*: all it said is in $(BUILD)/ci/$*.log"; exit 1; fi

## deps: install what building and testing need (apt-get), or say what it is
deps:
	sh .ci/deps lint

# A folder below the prefix as pkg-config spells it, so that `pkg-config --define-prefix` moves it;
# another folder as it is.
below_prefix = $(patsubst $(prefix)/%,$${prefix}/%,$(1))

## install: honours DESTDIR, prefix and the directory variables
install: all
	$(INSTALL) -d '$(DESTDIR)$(bindir)' '$(DESTDIR)$(libdir)/pkgconfig' \
	    '$(DESTDIR)$(includedir)/roofline' '$(DESTDIR)$(mandir)/man1' '$(DESTDIR)$(bashcompdir)' \
	    '$(DESTDIR)$(zshcompdir)' '$(DESTDIR)$(fishcompdir)'
	$(INSTALL) -m 755 $(BIN) '$(DESTDIR)$(bindir)/'
	$(INSTALL) -m 644 $(LIB) '$(DESTDIR)$(libdir)/'
	if [ -n '$(SHARED)' ]; then \
	    $(INSTALL) -m 755 $(SHARED) '$(DESTDIR)$(libdir)/libroofline.so.$(VERSION)' && \
	    ln -sf libroofline.so.$(VERSION) '$(DESTDIR)$(libdir)/$(SONAME)' && \
	    ln -sf $(SONAME) '$(DESTDIR)$(libdir)/libroofline.so'; fi
	$(INSTALL) -m 644 $(HEADERS) '$(DESTDIR)$(includedir)/roofline/'
	$(INSTALL) -m 644 docs/man/*.1 '$(DESTDIR)$(mandir)/man1/'
	$(BIN) completion bash > '$(DESTDIR)$(bashcompdir)/roofline'
	$(BIN) completion zsh > '$(DESTDIR)$(zshcompdir)/_roofline'
	$(BIN) completion fish > '$(DESTDIR)$(fishcompdir)/roofline.fish'
	printf '%s\n' 'prefix=$(prefix)' 'includedir=$(call below_prefix,$(includedir))' \
	    'libdir=$(call below_prefix,$(libdir))' '' \
	    'Name: roofline' 'Description: Roofline performance model of transformer inference' \
	    'Version: $(VERSION)' 'Requires.private: libcjson' 'Libs: "-L$${libdir}" -lroofline' \
	    'Libs.private: -pthread -lm' 'Cflags: "-I$${includedir}"' > '$(DESTDIR)$(libdir)/pkgconfig/roofline.pc'

# --- packages -------------------------------------------------------------------------------------

DIST = $(BUILD)/roofline-$(VERSION).tar.gz

## dist: write the source of the last commit as a tarball, the same bytes each time
dist:
	@mkdir -p $(BUILD)
	git -c tar.umask=0002 -c core.autocrlf=false -c core.eol=lf archive --format=tar \
	    --prefix=roofline-$(VERSION)/ HEAD > $(DIST).tar
	gzip -n9 < $(DIST).tar > $(DIST).new && rm $(DIST).tar
	mv $(DIST).new $(DIST)

## check-dist: the tarball has the same bytes when another user makes it elsewhere, and builds
check-dist: dist
	sh tests/dist.sh $(DIST)
	rm -rf $(BUILD)/dist && mkdir -p $(BUILD)/dist
	tar -C $(BUILD)/dist -xzf $(DIST)
	$(MAKE) -C $(BUILD)/dist/roofline-$(VERSION) -s BUILD=build CFLAGS=-O0 check-formulas

SBOM = $(BUILD)/roofline-$(VERSION).spdx.json

## sbom: write what the program is made of and linked with (SPDX 2.3)
sbom: $(BIN)
	sh packaging/sbom.sh $(BIN) $(VERSION) > $(SBOM).new
	mv $(SBOM).new $(SBOM)

## release: the tarball, what the program is made of, and their checksums, to be signed
release: dist sbom
	cd $(BUILD) && sha256sum $(notdir $(DIST) $(SBOM)) > SHA256SUMS

## deb: build the Debian packages from debian/ and have lintian check them (sh .ci/deps package)
deb: dist
	sh packaging/deb.sh $(DIST) $(BUILD)/deb

## check-packages: the tarball, sbom and the Debian packages, which are built from it (here with -O1 and few debug symbols)
check-packages: dist $(BIN)
	sh tests/dist.sh $(DIST)
	sh tests/sbom.sh $(BIN) $(VERSION)
	DEB_CFLAGS_STRIP='-g -O2' DEB_CFLAGS_APPEND='-O1 -g1' $(MAKE) deb

## portable: build tarballs of programs that need glibc alone, x86-64 and arm64 (sh .ci/deps portable)
portable: page
	sh packaging/portable.sh x86-64 $(BUILD)
	sh packaging/portable.sh arm64 $(BUILD)

## clean: remove every product
clean:
	rm -rf '$(BUILD)'

## help: list these targets
help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

.PHONY: all page check-page calibrate errors check-errors serving charts llama-check measure-check cuda-check gpu-check kernels reports bench bench-now bench-before bench-serve demo figures quick check check-unit check-cases check-fuzz check-cli check-rules check-rules-slow check-faults faults check-formulas check-schemas check-configs check-kernels check-calibrate check-batch check-project \
        check-browser check-serve check-oracle check-ask oracle mutate mutate-quick mutate-folders fakes bless recipes fuzz fuzz-coverage coverage sanitize sanitize-quick sanitize-threads sanitize-threads-quick valgrind valgrind-quick lint lint-quick lint-gcc lint-clang lint-fit lint-text ci $(CI:%=ci-%) deps \
        dist check-dist sbom release check-packages deb portable install clean help FORCE
-include $(LIB_OBJ:.o=.d) $(ASKER).d $(BUILD)/tests/bench/bench.d $(BUILD)/tests/faults/driver.d $(CLI_OBJ:.o=.d) $(UNIT_OBJ:.o=.d) $(FUZZ_BIN:.run=.d) $(FUZZ_CLI:.o=.d) $(PAGE_OBJ:.o=.d)
