// SPDX-License-Identifier: MIT
/*
 * Runs each command line of a file again and again, each time with another call that fails:
 * driver PROGRAM LIBRARY COMMANDS SCRATCH [all] [NUMBER], in a folder with the files that they
 * name. What must come out is at judge(). A line of COMMANDS is
 *
 *   roofline ARGUMENT... [< FILE]      in single quotes where it has blanks; VAR=VALUE may stand
 * before
 *
 * and # begins a comment. Without "all" a call fails only where the stack of an allocation was not
 * seen before, where it is seen first and last; NUMBER leaves the command of that line alone.
 */
#include "state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 48
#define FILES_MAX 64
#define LINE_MAX_BYTES 4096
/* Each of the first calls that are no allocations fails once; of those behind them only some do. */
#define CALLS_EACH 12
/* One run takes milliseconds; under a sanitizer some more. */
#define SECONDS_MAX 60

static void die(const char *what, const char *which)
{
    fprintf(stderr, "faults: %s: %s: %s\n", which, what, strerror(errno));
    exit(2);
}

#define NEED(condition, which) ((condition) ? (void)0 : die(#condition, which))

/* --- bytes and files ----------------------------------------------------------------------- */

struct bytes {
    char *data; /* ends with a NUL; NULL: there is no such file */
    size_t length;
};

static struct bytes read_open(int file, const char *name)
{
    struct stat info;
    NEED(fstat(file, &info) == 0, name);
    struct bytes out = {malloc((size_t)info.st_size + 1), (size_t)info.st_size};
    NEED(out.data != NULL, name);
    NEED(pread(file, out.data, out.length, 0) == (ssize_t)out.length, name);
    out.data[out.length] = '\0';
    return out;
}

static struct bytes read_named(const char *name)
{
    const int file = open(name, O_RDONLY);
    if (file < 0) {
        NEED(errno == ENOENT, name);
        return (struct bytes){NULL, 0};
    }
    const struct bytes out = read_open(file, name);
    (void)close(file);
    return out;
}

static void write_named(const char *name, const struct bytes *bytes)
{
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    NEED(file >= 0, name);
    NEED(write(file, bytes->data, bytes->length) == (ssize_t)bytes->length, name);
    (void)close(file);
}

static bool same(const struct bytes *a, const struct bytes *b)
{
    return (a->data == NULL) == (b->data == NULL) && a->length == b->length &&
           (a->data == NULL || memcmp(a->data, b->data, a->length) == 0);
}

static bool begins(const struct bytes *whole, const struct bytes *begin)
{
    return begin->length <= whole->length && memcmp(whole->data, begin->data, begin->length) == 0;
}

/* --- the folder ---------------------------------------------------------------------------- */

/* The files as they were at the beginning: what a run changes is put back. */
static struct {
    char name[256];
    struct bytes bytes;
} kept[FILES_MAX];
static size_t kept_count;
static size_t names_kept; /* folders as well */

static size_t count_names(void)
{
    size_t count = 0;
    DIR *const here = opendir(".");
    NEED(here != NULL, ".");
    while (readdir(here) != NULL) {
        count++;
    }
    (void)closedir(here);
    return count;
}

static void keep_files(void)
{
    DIR *const here = opendir(".");
    NEED(here != NULL, ".");
    for (struct dirent *entry = NULL; (entry = readdir(here)) != NULL;) {
        struct stat info;
        NEED(stat(entry->d_name, &info) == 0, entry->d_name);
        if (S_ISREG(info.st_mode) && info.st_size < 1 << 20) { /* larger ones are no output */
            NEED(kept_count < FILES_MAX, "too many files");
            snprintf(kept[kept_count].name, sizeof kept->name, "%s", entry->d_name);
            kept[kept_count++].bytes = read_named(entry->d_name);
        }
    }
    (void)closedir(here);
    names_kept = count_names();
}

static const struct bytes *kept_file(const char *name)
{
    static const struct bytes none;
    for (size_t i = 0; i < kept_count && name != NULL; i++) {
        if (strcmp(kept[i].name, name) == 0) {
            return &kept[i].bytes;
        }
    }
    return &none;
}

/* A file as it was before any run. */
static void put_back(const char *name)
{
    const struct bytes *const before = kept_file(name);
    if (before->data != NULL) {
        write_named(name, before);
    } else {
        (void)unlink(name);
    }
}

/* --- command lines ------------------------------------------------------------------------- */

struct command {
    int line;
    char text[LINE_MAX_BYTES];
    char words[LINE_MAX_BYTES];
    char *argument[WORDS_MAX];
    char *variable[WORDS_MAX];
    size_t variables;
    const char *input;  /* standard input */
    const char *output; /* the file that is written, or NULL */
    char part[300];     /* while it is written */
    bool sweep;         /* what was written stays there */
    bool records;       /* what is wrong with one of them is said, and is no failure */
    bool resume;
    bool update;
};

static void parse(struct command *c, const char *text, int line)
{
    *c = (struct command){.line = line, .input = "/dev/null"};
    snprintf(c->text, sizeof c->text, "%s", text);
    char *out = c->words;
    size_t count = 0;
    bool redirected = false;
    const char *last = NULL;
    for (const char *p = text; *p != '\0';) {
        char *const word = out;
        bool quoted = false;
        for (; *p != '\0' && (quoted || *p != ' '); p++) {
            if (*p == '\'') {
                quoted = !quoted;
            } else {
                *out++ = *p;
            }
        }
        *out++ = '\0';
        p += strspn(p, " ");
        NEED(count + 1 < WORDS_MAX, text);
        if (redirected) {
            c->input = word;
        } else if (strcmp(word, "<") == 0) {
            redirected = true;
        } else if (count == 0 && strcmp(word, "roofline") != 0) {
            c->variable[c->variables++] = word;
        } else {
            c->records = c->records || strcmp(word, "--from") == 0 || strcmp(word, "compare") == 0;
            c->output = last != NULL && strcmp(last, "-o") == 0 ? word : c->output;
            c->update = c->update || strcmp(word, "--update") == 0;
            c->resume = c->resume || strcmp(word, "--resume") == 0;
            c->argument[count++] = word;
            last = word;
        }
    }
    NEED(count > 0, text);
    c->sweep = count > 1 && strcmp(c->argument[1], "sweep") == 0;
    c->output = c->update ? last : c->output; /* the file of checks is last */
    if (c->output != NULL) {
        snprintf(c->part, sizeof c->part, "%.290s.part", c->output);
    }
}

/* --- runs ---------------------------------------------------------------------------------- */

struct result {
    int code; /* or minus the signal that ended it */
    struct bytes out;
    struct bytes err;
    struct bytes file;
    struct bytes part;
    size_t names;
};

extern char **environ;
static const char *program;
static const char *library;
static struct faults *faults;
static int out_file;
static int err_file;
static long runs;

static void free_result(struct result *r)
{
    free(r->out.data);
    free(r->err.data);
    free(r->file.data);
    free(r->part.data);
    *r = (struct result){0};
}

static pid_t process;
static bool killed;

static void on_alarm(int number)
{
    (void)number;
    killed = true;
    (void)kill(process, SIGKILL);
}

static void start(const struct command *c, const char *more)
{
    static char preload[4200] = "LD_PRELOAD=";
    static char word[32];
    char *argument[WORDS_MAX + 1];
    char *environment[256];
    size_t count = 0;
    size_t variables = 0;
    for (; c->argument[count] != NULL; count++) {
        argument[count] = c->argument[count];
    }
    snprintf(word, sizeof word, "%s", more == NULL ? "" : more);
    argument[count] = more == NULL ? NULL : word;
    argument[count + 1] = NULL;
    for (size_t i = 0; i < c->variables; i++) { /* the first of a name counts */
        environment[variables++] = c->variable[i];
    }
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", library);
    environment[variables++] = preload;
    for (char **e = environ; *e != NULL && variables < 255; e++) {
        environment[variables++] = *e;
    }
    environment[variables] = NULL;
    posix_spawn_file_actions_t files;
    NEED(posix_spawn_file_actions_init(&files) == 0 &&
             posix_spawn_file_actions_addopen(&files, STDIN_FILENO, c->input, O_RDONLY, 0) == 0 &&
             posix_spawn_file_actions_adddup2(&files, out_file, STDOUT_FILENO) == 0 &&
             posix_spawn_file_actions_adddup2(&files, err_file, STDERR_FILENO) == 0,
         "files");
    NEED(posix_spawn(&process, program, &files, NULL, argument, environment) == 0, program);
    (void)posix_spawn_file_actions_destroy(&files);
}

/* Runs it as `faults` asks; what it has seen is there, too. */
static void run(struct result *out, const struct command *c, const char *more)
{
    NEED(ftruncate(out_file, 0) == 0 && ftruncate(err_file, 0) == 0, "output");
    NEED(lseek(out_file, 0, SEEK_SET) == 0 && lseek(err_file, 0, SEEK_SET) == 0, "output");
    faults->attached = faults->ended = false;
    faults->failed = faults->strays = 0;
    faults->kept_own = faults->kept_libc = 0;
    for (int i = 0; i < FAULTS_KINDS; i++) {
        faults->calls[i] = 0;
    }
    runs++;
    start(c, more);
    int status = 0;
    pid_t ended = 0;
    killed = false;
    (void)alarm(SECONDS_MAX);
    do {
        ended = waitpid(process, &status, 0);
    } while (ended < 0 && errno == EINTR);
    (void)alarm(0);
    NEED(ended == process, "wait");
    *out = (struct result){.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
                           .out = read_open(out_file, "output"),
                           .err = read_open(err_file, "output")};
    if (c->output != NULL) {
        out->file = read_named(c->output);
        out->part = read_named(c->part);
    }
    out->names = count_names();
}

/* The folder as before a run. */
static void tidy(const struct command *c)
{
    if (c->output != NULL) {
        put_back(c->output);
        put_back(c->part);
    }
}

/* --- what must come out -------------------------------------------------------------------- */

static long failures;
static long refused;
static long complete;

static const char *const kinds[FAULTS_KINDS] = {
    "allocation", "open", "stat", "read",   "write", "seek", "close", "rename",
    "truncate",   "list", "lock", "thread", "pipe",  "poll", "spawn", "wait"};

static void fail(const struct command *c, const struct result *r, const char *what)
{
    failures++;
    printf("FAIL line %d: %s\n    ", c->line, c->text);
    if (faults->at > 0) {
        printf("%s %ld%s fails (%s): ", kinds[faults->kind], faults->at,
               faults->on ? " and all later ones" : "", strerror(faults->error));
    } else {
        printf("%s%s%zu bytes at once: ", faults->interrupt ? "interrupted, " : "",
               faults->piece == 0 ? "not " : "", faults->piece);
    }
    printf("%s; code %d; kept %ld, libc %ld\n", what, r->code, faults->kept_own, faults->kept_libc);
    const char *line = r->err.data;
    for (int i = 0; i < 5 && *line != '\0'; i++) {
        const size_t length = strcspn(line, "\n");
        printf("    | %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    (void)fflush(stdout);
    if (failures >= 200) {
        puts("too many failures");
        exit(1);
    }
}

/* One line of what it says, after some of those that it says in any case. */
static const char *complaint(const struct result *clean, const struct result *r)
{
    const char *last = r->err.data;
    for (const char *p = r->err.data; *p != '\0'; p++) {
        last = *p == '\n' && p[1] != '\0' ? p + 1 : last;
    }
    const struct bytes before = {r->err.data, (size_t)(last - r->err.data)};
    const size_t length = strlen(last);
    return length < 12 || strncmp(last, "roofline", 8) != 0 || last[length - 1] != '\n' ||
                   !begins(&clean->err, &before) || strstr(last, ": ") == NULL
               ? NULL
               : last;
}

/* Checks that a sweep that failed can be resumed from what it wrote. */
static void go_on(const struct command *c, const struct result *clean)
{
    struct result again;
    const long at = faults->at;
    faults->at = 0;
    run(&again, c, c->resume ? NULL : "--resume");
    if (again.code != clean->code || !same(&again.file, &clean->file)) {
        fail(c, &again, "what is kept of it cannot be resumed");
    }
    faults->at = at;
    free_result(&again);
}

/* A file that may not be read may be taken for one that is not there, which is refused as well; of
 * records, what cannot be done is told of each, and is no failure. */
static bool refused_otherwise(const struct command *c, const struct result *r)
{
    const char *line = r->err.data;
    const bool stat = faults->kind == FAULTS_STAT && (r->code == 2 || r->code == 3);
    if (!stat && (!c->records || faults->kind == FAULTS_ALLOCATE || r->code < 3)) {
        return false;
    }
    while (strncmp(line, "roofline", 8) == 0 && strchr(line, '\n') != NULL) {
        line = strchr(line, '\n') + 1;
    }
    return r->err.length > 0 && *line == '\0';
}

/* Tells if the file of -o is as it was before the run. It is complete instead if only standard
 * output failed, which got nothing, or the report of an update. */
static bool file_in_order(const struct command *c, const struct result *clean,
                          const struct result *r, const char *said)
{
    const bool after = c->update || strstr(said, "standard output") != NULL || r->code == 3;
    return same(&r->file, kept_file(c->output)) ||
           (after && (c->records || same(&r->file, &clean->file)));
}

/* Tells if FILE.part is gone. A sweep keeps its own, and an empty one stays if another process may
 * be writing it. */
static bool part_in_order(const struct command *c, const struct result *clean,
                          const struct result *r)
{
    const bool others = faults->kind == FAULTS_LOCK || faults->kind == FAULTS_STAT;
    return c->resume ? r->part.data != NULL || same(&r->file, &clean->file)
                     : r->part.data == NULL || (c->sweep && r->part.length > 0) ||
                           (others && r->part.length == 0);
}

/* Names a fault that no run may show, whatever it ends with. */
static const char *misdeed(void)
{
    return faults->kept_own != 0 ? "memory is not freed"
           : faults->strays != 0 ? "it writes outside its folder"
                                 : NULL;
}

/* Tells if a run ended as it should when the reader of its output has gone: by SIGPIPE, without a
 * message of its own, after a beginning of the result. */
static bool ended_with_its_reader(const struct result *clean, const struct result *r)
{
    return r->code == -SIGPIPE && faults->kind == FAULTS_WRITE && faults->error == EPIPE &&
           begins(&clean->err, &r->err) && begins(&clean->out, &r->out);
}

/* A run with a fault either says nothing of it, and then all is as without, or it ends with 4, one
 * line, and no file. */
static void judge(const struct command *c, const struct result *clean, const struct result *r,
                  bool must_succeed)
{
    const bool equal = r->code == clean->code && same(&r->out, &clean->out) &&
                       same(&r->err, &clean->err) && same(&r->file, &clean->file) &&
                       r->names == clean->names && same(&r->part, &clean->part);
    const size_t names = names_kept + (r->part.data != NULL) + (r->file.data != NULL) -
                         (c->output != NULL && kept_file(c->part)->data != NULL) -
                         (kept_file(c->output)->data != NULL);
    const bool otherwise = refused_otherwise(c, r);
    const char *const said = otherwise ? r->err.data : complaint(clean, r);
    if (ended_with_its_reader(clean, r)) { /* a signal frees no memory */
        refused++;
        faults->kept_own = 0;
    } else if (r->code < 0) {
        fail(c, r, killed ? "it hangs" : "it crashes");
    } else if (!faults->attached || !faults->ended) {
        fail(c, r, "it does not end in order");
    } else if (equal) {
        complete++;
    } else if (must_succeed) {
        fail(c, r, "the result is another one");
    } else if (r->code != 4 && !otherwise) {
        fail(c, r, "neither the same result nor exit code 4");
    } else if (said == NULL) {
        fail(c, r, "no single line on standard error");
    } else if (faults->kind == FAULTS_ALLOCATE && strstr(said, "memory") == NULL) {
        fail(c, r, "memory is not what it names");
    } else if (!begins(&clean->out, &r->out) && !otherwise) {
        fail(c, r, "what it printed is no beginning of the result");
    } else if (!file_in_order(c, clean, r, said)) {
        fail(c, r, "there is a file, or another one");
    } else if (!part_in_order(c, clean, r)) {
        fail(c, r, "FILE.part is left, or lost");
    } else if (r->names != names) {
        fail(c, r, "another file is left");
    } else {
        refused++;
        if (c->sweep && r->part.length > 0) {
            go_on(c, clean);
        }
    }
    if (misdeed() != NULL) {
        fail(c, r, misdeed());
    }
}

/* --- what fails ---------------------------------------------------------------------------- */

static const struct {
    enum faults_kind kind;
    int error;
    bool on;
} tried[] = {
    {FAULTS_OPEN, EMFILE, false},   {FAULTS_OPEN, EIO, true},      {FAULTS_STAT, EIO, false},
    {FAULTS_READ, EIO, false},      {FAULTS_READ, EISDIR, true},   {FAULTS_WRITE, ENOSPC, false},
    {FAULTS_WRITE, EPIPE, true},    {FAULTS_SEEK, EIO, false},     {FAULTS_CLOSE, EIO, false},
    {FAULTS_RENAME, EACCES, false}, {FAULTS_TRUNCATE, EIO, false}, {FAULTS_LIST, EIO, false},
    {FAULTS_LOCK, ENOLCK, false},   {FAULTS_LOCK, EAGAIN, false},  {FAULTS_THREAD, EAGAIN, false},
    {FAULTS_THREAD, EAGAIN, true},  {FAULTS_PIPE, EMFILE, false},  {FAULTS_POLL, ENOMEM, true},
    {FAULTS_SPAWN, EAGAIN, false},  {FAULTS_WAIT, ECHILD, false},
};
enum { TRIED = sizeof tried / sizeof *tried };

static long injected[FAULTS_KINDS];

/* One run with one fault; false: there was no such call any more. */
static bool inject(const struct command *c, const struct result *clean, enum faults_kind kind,
                   long at, int error, bool on)
{
    struct result r;
    faults->kind = kind;
    faults->at = at;
    faults->error = error;
    faults->on = on;
    run(&r, c, NULL);
    const bool failed = faults->failed > 0;
    injected[kind] += failed;
    judge(c, clean, &r, !failed);
    faults->at = 0;
    free_result(&r);
    tidy(c);
    return failed;
}

/* Stacks that were tried, in any command: how often, and where it was seen last. */
#define SEEN (1U << 18)
static struct {
    uint64_t stack;
    long tried; /* the command that tries it */
    long seen;  /* in this command */
    long last;  /* in this command */
} seen[SEEN];
static size_t seen_count;

static size_t place_of(uint64_t stack)
{
    size_t i = (size_t)(stack % SEEN);
    while (seen[i].stack != 0 && seen[i].stack != stack) {
        i = (i + 1) % SEEN;
    }
    return i;
}

static void fail_allocations(const struct command *c, const struct result *clean, bool all)
{
    const long count = faults->calls[FAULTS_ALLOCATE];
    NEED(count < FAULTS_STACKS_MAX, c->text);
    unsigned char *const chosen = calloc((size_t)count + 1, 1);
    NEED(chosen != NULL, c->text);
    for (long i = 0; i < count; i++) {
        const size_t at = place_of(faults->stack[i]);
        if (seen[at].stack == 0) {
            seen[at].stack = faults->stack[i];
            seen[at].tried = c->line;
            NEED(++seen_count < SEEN / 2, "too many stacks");
        }
        seen[at].last = i;
        chosen[i] = seen[at].tried == c->line && seen[at].seen++ == 0 ? 2 : all;
    }
    for (long i = 0; i < count; i++) {
        const size_t at = place_of(faults->stack[i]);
        chosen[i] =
            chosen[i] == 0 && seen[at].tried == c->line && seen[at].last == i ? 1 : chosen[i];
    }
    for (long i = 0; i < count; i++) {
        if (chosen[i] > 0) {
            (void)inject(c, clean, FAULTS_ALLOCATE, i + 1, ENOMEM, false);
        }
        if (chosen[i] > 1) { /* the first time, there is no more memory afterwards either */
            (void)inject(c, clean, FAULTS_ALLOCATE, i + 1, ENOMEM, true);
        }
    }
    free(chosen);
}

static void fail_calls(const struct command *c, const struct result *clean,
                       const long calls[FAULTS_KINDS], bool all)
{
    for (size_t i = 0; i < TRIED; i++) {
        const long count = calls[tried[i].kind];
        for (long at = 1; at <= count; at += all || at < CALLS_EACH ? 1 : count / CALLS_EACH + 1) {
            (void)inject(c, clean, tried[i].kind, at, tried[i].error, tried[i].on);
        }
    }
}

/* Little at a time, and interruptions, change nothing. */
static void slow_down(const struct command *c, const struct result *clean)
{
    static const size_t pieces[] = {0, 1, 7, 4096};
    for (size_t i = 0; i < 2 * sizeof pieces / sizeof *pieces; i++) {
        struct result r;
        faults->piece = pieces[i / 2];
        faults->interrupt = i % 2 == 1;
        if (faults->piece > 0 || faults->interrupt) {
            run(&r, c, NULL);
            judge(c, clean, &r, true);
            free_result(&r);
            tidy(c);
        }
    }
    faults->piece = 0;
    faults->interrupt = false;
}

static void try_command(const struct command *c, bool all)
{
    struct result clean;
    long calls[FAULTS_KINDS];
    faults->record = true;
    run(&clean, c, NULL);
    faults->record = false;
    tidy(c);
    for (int i = 0; i < FAULTS_KINDS; i++) {
        calls[i] = faults->calls[i];
    }
    if (!faults->attached || !faults->ended || clean.code < 0 || clean.code > 3) {
        fail(c, &clean, "it does not run");
    } else if (misdeed() != NULL) {
        fail(c, &clean, misdeed());
    } else {
        const long before = runs;
        fail_allocations(c, &clean, all);
        const long then = runs;
        fail_calls(c, &clean, calls, all);
        slow_down(c, &clean);
        if (getenv("VERBOSE") != NULL) {
            printf("line %d: %ld allocations, %ld runs, %ld others: %s\n", c->line,
                   calls[FAULTS_ALLOCATE], then - before, runs - then, c->text);
            (void)fflush(stdout);
        }
    }
    free_result(&clean);
}

int main(int argc, char **argv)
{
    static struct command command;
    char path[4096];
    char text[LINE_MAX_BYTES];
    bool all = false;
    int only = 0;
    int commands = 0;
    NEED(argc >= 5, "driver PROGRAM LIBRARY COMMANDS SCRATCH [all] [NUMBER]");
    for (int i = 5; i < argc; i++) {
        all = all || strcmp(argv[i], "all") == 0;
        only = atoi(argv[i]) > 0 ? atoi(argv[i]) : only;
    }
    program = argv[1];
    library = argv[2];
    snprintf(path, sizeof path, "%s/state", argv[4]);
    const int state = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    NEED(state >= 0 && ftruncate(state, sizeof *faults) == 0, path);
    faults = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, state, 0);
    NEED(faults != MAP_FAILED, path);
    NEED(setenv(FAULTS_FILE, path, 1) == 0, path);
    snprintf(path, sizeof path, "%s/out", argv[4]);
    out_file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    snprintf(path, sizeof path, "%s/err", argv[4]);
    err_file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    NEED(out_file >= 0 && err_file >= 0, path);
    const struct sigaction action = {.sa_handler = on_alarm};
    NEED(sigaction(SIGALRM, &action, NULL) == 0, "signals");
    keep_files();
    FILE *const list = fopen(argv[3], "r");
    NEED(list != NULL, argv[3]);
    for (int line = 1; fgets(text, sizeof text, list) != NULL; line++) {
        text[strcspn(text, "\n")] = '\0';
        if (*text != '#' && *text != '\0' && (only == 0 || only == line)) {
            parse(&command, text, line);
            try_command(&command, all);
            commands++;
        }
    }
    (void)fclose(list);
    long others = 0;
    for (int i = 0; i < FAULTS_KINDS; i++) {
        others += i == FAULTS_ALLOCATE ? 0 : injected[i];
    }
    printf("%d commands: %ld allocations failed, %ld other calls; %ld runs were refused, %ld "
           "complete; "
           "%ld wrong\n",
           commands, injected[FAULTS_ALLOCATE], others, refused, complete, failures);
    for (int i = 0; i < FAULTS_KINDS; i++) {
        if (injected[i] == 0 && only == 0) {
            printf("no %s failed\n", kinds[i]);
        }
    }
    return failures == 0 && commands > 0 ? 0 : 1;
}
