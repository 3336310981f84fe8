// SPDX-License-Identifier: MIT
/*
 * The whole program: the input is argv behind the program's name, each argument ended by a NUL. It
 * runs in a folder with some small files (files[] below), and can name no other: a '/' may only
 * follow a digit (--shard 1/4). Commands come from the program's own table.
 * Bytes: 512
 * Arguments: src/cli/commands.c src/ask/list.c src/decide/input.c src/operator/operator.c
 * Arguments: src/operator/operator.h
 * Arguments: src/catalog/precision.c
 * Words: src/report/table.c tests/fuzz/cli.c
 */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "cli/streams.h"

/* This file has its own streams. */
#undef fclose
#undef printf
#undef pthread_create
#undef putchar
#undef stderr
#undef stdout
#undef main
#include "cli/cli.h"
#include "cli/server.h"
#include "fuzz.h"

#define ARGUMENTS_MAX 40
#define STDOUT_SIZE (1 << 19)
#define STDERR_SIZE (1 << 16)

/* A command line can name these files. */
static const struct {
    const char *name;
    const char *content;
} files[] = {
    {"m.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 4, "
               "\"num_attention_heads\": 8, \"num_key_value_heads\": 2, \"intermediate_size\": 80, "
               "\"vocab_size\": 1000}"},
    {"h.json",
     "{\"id\": \"h\", \"bandwidth_gb_s\": 100, \"memory_capacity_bytes\": 80e9, "
     "\"peak_tflops\": {\"fp16\": 1, \"fp8\": 2, \"nvfp4\": 4}, \"vector_tflops\": {\"fp32\": "
     "0.1}, \"devices_per_node\": 2, \"link_gb_s\": 10, \"network_gb_s\": 1, \"tdp_w\": 700}"},
    {"l.json", "{\"schema\": \"roofline/layout/1\", \"id\": \"l\", \"activations\": \"fp8\", "
               "\"classes\": {\"linear\": \"fp8\", \"lm_head\": \"bf16\"}}"},
    {"r.csv", "operator,m,n,k,weights,measured_us,note\ngemm,1,64,64,fp8,3,\"a, b\"\n"
              "gemv,,4,4,,2,x\ngemm,2,0,4,,1,\n"},
    {"m.csv", "operator,model,batch,context,measured_us\nmodel,m.json,1,8,5\nmodel,none,1,8,5\n"},
    {"c.json", "{\"schema\": \"roofline/check/1\", \"checks\": [{\"name\": \"a\", \"inputs\": "
               "{\"operator\": \"gemm\", \"m\": 1, \"n\": 64, \"k\": 64}, \"expect\": "
               "{\"bytes\": 8448, \"time_us\": 7, \"bottleneck\": \"compute\"}}]}"},
    {"r.ndjson", "{\"operator\": \"gemm\", \"m\": 1, \"n\": 64, \"k\": 64, \"measured_us\": 3}\n"
                 "{\"operator\": \"add\", \"tokens\": 4, \"hidden\": 4, \"key\": \"\\n\"}\n"},
    {"p.csv", "timestamp, index, power.draw [W]\n2024/01/31 12:00:00.000, 0, 100.00 W\n"
              "2024/01/31 12:00:01.000, 0, 200.00 W\n"},
    {"s.csv.part", "m,n\n1,64\n2,64\n"},
};
enum { FILES = sizeof files / sizeof *files };

/* --- what the program is given ------------------------------------------------------------- */

FILE *fuzz_stdout;
FILE *fuzz_stderr;

int fuzz_close(FILE *file)
{
    return file == fuzz_stdout ? fflush(file) : fclose(file);
}

int fuzz_no_thread(void)
{
    return EAGAIN;
}

/* In place of src/cli/interrupt.c: the program is interrupted after it has asked a few times, so no
 * work is long. */
#define ASKED_MAX 8
static int asked;

/* In place of src/cli/run.c: nothing is run, and time passes at once. */
enum roof_status cli_run_clock(struct cli_run *run, double *now, bool *more, double due_s,
                               struct roof_error *error)
{
    (void)error;
    *now = due_s < 1e9 ? due_s : 1e9;
    *more = run->argv == NULL && cli_interrupted() == 0 && due_s < 1e9;
    return ROOF_OK;
}

int64_t cli_run_tokens(struct cli_run *run)
{
    (void)run;
    return 0;
}

void cli_run_end(struct cli_run *run)
{
    (void)run;
}

/* In place of src/cli/server.c: nothing listens. */
enum roof_status cli_server_run(struct cli_server *server, struct roof_error *error)
{
    (void)server;
    return roof_error_set(error, ROOF_IO, "cannot listen");
}

void cli_interrupt_reader_left(void)
{
}

void cli_interrupt_end(void)
{
}

void cli_interrupt_watch(void)
{
}

void cli_interrupt_rest(void)
{
}

void cli_interrupt_remove(const char *path)
{
    (void)path;
}

void cli_interrupt_hold(bool on)
{
    (void)on;
}

int cli_interrupted(void)
{
    return ++asked > ASKED_MAX ? 130 : 0;
}

/* --- the folder ---------------------------------------------------------------------------- */

static int home;
static int folder;
static struct timespec changed;

static void read_changed(struct timespec *out)
{
    struct stat info;
    CHECK(fstat(folder, &info) == 0);
    *out = info.st_mtim;
}

/* Files appear under their names by renaming, which changes the folder. */
static void tidy(bool always)
{
    struct timespec now;
    read_changed(&now);
    if (!always && now.tv_sec == changed.tv_sec && now.tv_nsec == changed.tv_nsec) {
        return;
    }
    DIR *const here = opendir(".");
    CHECK(here != NULL);
    for (struct dirent *entry = NULL; (entry = readdir(here)) != NULL;) {
        CHECK(entry->d_name[0] == '.' || unlink(entry->d_name) == 0);
    }
    (void)closedir(here);
    for (size_t i = 0; i < FILES; i++) {
        FILE *const file = fopen(files[i].name, "w");
        CHECK(file != NULL && fputs(files[i].content, file) >= 0 && fclose(file) == 0);
    }
    read_changed(&changed);
}

static void begin(void)
{
    struct fuzz_file unused;
    const int nothing = open("/dev/null", O_RDONLY);
    CHECK(nothing >= 0 && dup2(nothing, STDIN_FILENO) == STDIN_FILENO);
    (void)close(nothing);
    fuzz_open(&unused, "unused");
    (void)close(unused.file);
    home = open(".", O_RDONLY | O_DIRECTORY);
    folder = open(fuzz_folder, O_RDONLY | O_DIRECTORY);
    CHECK(home >= 0 && folder >= 0 && fchdir(folder) == 0);
    tidy(true);
    CHECK(unsetenv("HOME") == 0 && unsetenv("XDG_DATA_HOME") == 0);
    CHECK(unsetenv("ROOFLINE_DATA") == 0);
    CHECK(setenv("PATH", fuzz_folder, 1) == 0); /* no gnuplot is there: no process is started */
}

/* --- what comes out ------------------------------------------------------------------------ */

static void check_json(const char *text, size_t size)
{
    struct roof_text copy = ROOF_TEXT_INIT;
    roof_text_add(&copy, text, size);
    fuzz_json(&copy);
}

/* The last format that the arguments ask for, as it is asked for most. */
static const char *asked_format(int argc, char *const *argv)
{
    const char *format = "";
    for (int i = 1; i < argc; i++) {
        const bool word = strcmp(argv[i], "-f") == 0 || strcmp(argv[i], "--format") == 0;
        format = word && i + 1 < argc                    ? argv[i + 1]
                 : strncmp(argv[i], "--format=", 9) == 0 ? argv[i] + 9
                 : strncmp(argv[i], "-f", 2) == 0        ? argv[i] + 2
                                                         : format;
    }
    return format;
}

static void check_output(const char *format, const char *out)
{
    if (strncmp(out, "usage:", 6) == 0 || strncmp(out, "roofline ", 9) == 0) {
        return;
    }
    if (strcmp(format, "json") == 0) {
        check_json(out, strlen(out));
    }
    for (const char *end = NULL; strcmp(format, "ndjson") == 0 && *out != '\0'; out = end + 1) {
        end = strchr(out, '\n');
        CHECK(end != NULL);
        check_json(out, (size_t)(end - out));
    }
}

static void check(int code, int argc, char *const *argv, const char *out, const char *err)
{
    bool records = false;
    for (int i = 0; i < argc; i++) {
        records = records || strncmp(argv[i], "--from", 6) == 0 || strcmp(argv[i], "compare") == 0;
    }
    CHECK((code >= 0 && code <= 4) || code == 130);
    size_t lines = 0;
    for (const char *p = err; *p != '\0'; p++) {
        const bool note = strncmp(p, "roofline: note: ", 16) == 0 && (p == err || p[-1] == '\n');
        lines += *p == '\n';
        lines -= note;
        CHECK(*p == '\n' || ((unsigned char)*p >= 0x20 && *p != 0x7f));
    }
    CHECK(*err == '\0' || err[strlen(err) - 1] == '\n');
    /* A program without a command prints its usage. */
    CHECK(code == 0 || records || lines == 1 || (code == 1 && lines == 0) ||
          (code == 2 && argc < 2));
    if (code == 0 && *out != '\0') {
        check_output(asked_format(argc, argv), out);
    }
}

/* --- argv ---------------------------------------------------------------------------------- */

static bool may_name(const char *argument)
{
    for (const char *p = argument; *p != '\0'; p++) {
        if (*p == '/' && (p == argument || !isdigit((unsigned char)p[-1]))) {
            return false;
        }
    }
    return strstr(argument, "..") == NULL;
}

/* True for a command line that measures the machine, which takes as long as it is told; its help
 * and its mistakes stay. */
static bool measures(int argc, char *const *argv)
{
    return argc > 1 && strcmp(argv[1], "measure") == 0 &&
           (argc == 2 || (strcmp(argv[2], "--help") != 0 && strcmp(argv[2], "-H") != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char out[STDOUT_SIZE];
    static char err[STDERR_SIZE];
    static char name[] = "roofline";
    char *argv[ARGUMENTS_MAX + 2] = {name};
    int argc = 1;
    if (folder == 0) {
        begin();
    }
    char *const text = fuzz_text(data, size);
    bool fit = true;
    for (size_t at = 0; at < size && fit; at += strlen(text + at) + 1) {
        fit = argc <= ARGUMENTS_MAX && may_name(text + at);
        if (fit) {
            argv[argc++] = text + at;
        }
    }
    argv[argc] = NULL;
    if (fit && !measures(argc, argv)) {
        CHECK(fchdir(folder) == 0);
        asked = 0;
        out[0] = err[0] = '\0'; /* nothing may be written */
        fuzz_stdout = fmemopen(out, sizeof out, "w");
        fuzz_stderr = fmemopen(err, sizeof err, "w");
        CHECK(fuzz_stdout != NULL && fuzz_stderr != NULL);
        char *given[ARGUMENTS_MAX + 2]; /* getopt moves them about, options end at their '=' */
        for (int i = 0; i < argc; i++) {
            given[i] = strdup(argv[i]);
            CHECK(given[i] != NULL);
        }
        const int code = fuzz_main(argc, argv);
        (void)fclose(fuzz_stdout);
        (void)fclose(fuzz_stderr);
        out[sizeof out - 1] = err[sizeof err - 1] = '\0';
        check(code, argc, given, out, err);
        for (int i = 0; i < argc; i++) {
            free(given[i]);
        }
        tidy(false);
        CHECK(fchdir(home) == 0);
    }
    free(text);
    return 0;
}
