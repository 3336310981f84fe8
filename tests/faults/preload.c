// SPDX-License-Identifier: MIT
/*
 * Loaded before the C library (LD_PRELOAD): lets one call of a kind fail as driver.c asks, and
 * counts what is allocated and not freed. Streams get a cookie of ours below them, so that what
 * they read and write passes here as well.
 */
#define _GNU_SOURCE /* RTLD_NEXT, fopencookie; NOLINT(bugprone-reserved-identifier) */
#include "state.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

/* The C library's names of parameters are reserved: NOLINTBEGIN(*-declaration-parameter-name) */
static struct faults *faults; /* NULL: before the beginning, and after the end */

/* The next definition of a function: that of the C library, or of a sanitizer. */
#define NEXT(type, name, parameters)                                                               \
    static type(*next_##name) parameters;                                                          \
    if (next_##name == NULL) {                                                                     \
        *(void **)&next_##name = dlsym(RTLD_NEXT, #name);                                          \
    }

/* Tells if this call is one that fails, and sets errno. */
static bool fails(enum faults_kind kind)
{
    if (faults == NULL) {
        return false;
    }
    const long call = atomic_fetch_add(&faults->calls[kind], 1) + 1;
    const bool due = faults->kind == kind && faults->at > 0 &&
                     (faults->on ? call >= faults->at : call == faults->at);
    if (due) {
        atomic_fetch_add(&faults->failed, 1);
        errno = faults->error;
    }
    return due;
}

/* Every other call is interrupted, where that is asked for. */
static bool interrupted(void)
{
    static atomic_uint calls;
    if (faults == NULL || !faults->interrupt || atomic_fetch_add(&calls, 1) % 2 != 0) {
        return false;
    }
    errno = EINTR;
    return true;
}

static size_t piece_of(size_t size)
{
    return faults != NULL && faults->piece > 0 && faults->piece < size ? faults->piece : size;
}

/* --- memory -------------------------------------------------------------------------------- */

/* This hash table holds the live allocations by their addresses, with open addressing. */
#define BLOCK_BITS 16
#define BLOCKS (1U << BLOCK_BITS)
static struct {
    void *at;
    bool libc; /* asked for by the C library itself */
} block[BLOCKS];
static size_t blocks;
static atomic_flag blocks_lock = ATOMIC_FLAG_INIT;

/* The objects stand in the order in which they were loaded: addresses change from run to run, and
 * places in an object do not. */
#define OBJECTS 32
static struct {
    uintptr_t begin;
    uintptr_t end;
} object[OBJECTS];
static size_t objects;
static size_t libc;
static size_t loader; /* which allocates for threads */

static size_t object_of(uintptr_t at)
{
    size_t i = 0;
    while (i < objects && (at < object[i].begin || at >= object[i].end)) {
        i++;
    }
    return i;
}

static size_t place_of(const void *at)
{
    return (size_t)(((uint64_t)(uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - BLOCK_BITS));
}

static void lock(void)
{
    while (atomic_flag_test_and_set(&blocks_lock)) {
    }
}

static void unlock(void)
{
    atomic_flag_clear(&blocks_lock);
}

static void *note(void *at, const void *caller)
{
    const size_t by = object_of((uintptr_t)caller);
    const bool by_libc = by == libc || by == loader;
    if (at == NULL || faults == NULL) {
        return at;
    }
    lock();
    if (++blocks == BLOCKS) {
        abort();
    }
    size_t i = place_of(at);
    while (block[i].at != NULL) {
        i = (i + 1) % BLOCKS;
    }
    block[i].at = at;
    block[i].libc = by_libc;
    *(by_libc ? &faults->kept_libc : &faults->kept_own) += 1;
    unlock();
    return at;
}

/* Forgets a block, and moves those behind it so that they are found. */
static void forget(const void *at)
{
    if (at == NULL || faults == NULL) {
        return;
    }
    lock();
    size_t hole = place_of(at);
    while (block[hole].at != NULL && block[hole].at != at) {
        hole = (hole + 1) % BLOCKS;
    }
    if (block[hole].at != NULL) { /* else it is older than this library's beginning */
        blocks--;
        *(block[hole].libc ? &faults->kept_libc : &faults->kept_own) -= 1;
        for (size_t i = (hole + 1) % BLOCKS; block[i].at != NULL; i = (i + 1) % BLOCKS) {
            const size_t wanted = place_of(block[i].at);
            if ((i - wanted) % BLOCKS >= (i - hole) % BLOCKS) {
                block[hole] = block[i];
                hole = i;
            }
        }
        block[hole].at = NULL;
    }
    unlock();
}

static _Thread_local bool unwinding; /* which might allocate, too */

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *hash)
{
    uint64_t *const h = hash;
    const uintptr_t at = (uintptr_t)_Unwind_GetIP(context);
    const size_t in = object_of(at);
    *h = (*h ^ (in < objects ? at - object[in].begin + in : 0)) * UINT64_C(0x9e3779b97f4a7c15);
    *h ^= *h >> 29;
    return _URC_NO_REASON;
}

/* Tells if an allocation fails, and notes its stack. */
static bool no_memory(void)
{
    if (faults == NULL || unwinding) {
        return false;
    }
    const bool due = fails(FAULTS_ALLOCATE);
    const long call = atomic_load(&faults->calls[FAULTS_ALLOCATE]) - 1;
    if (faults->record && call < FAULTS_STACKS_MAX) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        unwinding = true;
        (void)_Unwind_Backtrace(on_frame, &hash);
        unwinding = false;
        faults->stack[call] = hash;
    }
    return due;
}

/* dlsym allocates from here while it looks for the allocator. */
static char early[4096];
static size_t early_used;

static void *early_block(size_t size)
{
    const size_t from = early_used;
    early_used += (size + 15) / 16 * 16;
    if (early_used > sizeof early) {
        abort();
    }
    return early + from;
}

static bool is_early(const void *at)
{
    return (const char *)at >= early && (const char *)at < early + sizeof early;
}

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);

static bool no_allocator(void)
{
    static bool looking;
    if (next_free == NULL && !looking) {
        looking = true;
        *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
        *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
        *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
        *(void **)&next_free = dlsym(RTLD_NEXT, "free");
    }
    return next_free == NULL;
}

void *malloc(size_t size)
{
    if (no_allocator()) {
        return early_block(size);
    }
    return no_memory() ? NULL : note(next_malloc(size), __builtin_return_address(0));
}

void *calloc(size_t count, size_t size)
{
    if (no_allocator()) {
        return early_block(count * size);
    }
    return no_memory() ? NULL : note(next_calloc(count, size), __builtin_return_address(0));
}

void *realloc(void *old, size_t size)
{
    if (no_allocator() || is_early(old)) {
        abort();
    }
    if (no_memory()) {
        return NULL;
    }
    forget(old);
    void *const new = next_realloc(old, size);
    return note(new == NULL &&size > 0 ? old : new, __builtin_return_address(0)) == NULL ? NULL
                                                                                         : new;
}

void free(void *old)
{
    if (!is_early(old) && !no_allocator()) {
        forget(old);
        next_free(old);
    }
}

char *strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *const copy = no_memory() ? NULL : note(next_malloc(size), __builtin_return_address(0));
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

char *strndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *const copy =
        no_memory() ? NULL : note(next_malloc(length + 1), __builtin_return_address(0));
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    NEXT(int, posix_memalign, (void **, size_t, size_t))
    const int failed = no_memory() ? errno : next_posix_memalign(out, alignment, size);
    if (failed == 0) {
        note(*out, __builtin_return_address(0));
    }
    return failed;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    NEXT(void *, aligned_alloc, (size_t, size_t))
    return no_memory() ? NULL
                       : note(next_aligned_alloc(alignment, size), __builtin_return_address(0));
}

/* --- files --------------------------------------------------------------------------------- */

/* All that commands are to write lies in the folder where they run, and is named without it. */
static void write_there(const char *path)
{
    if (faults != NULL && strchr(path, '/') != NULL) {
        atomic_fetch_add(&faults->strays, 1);
    }
}

int open(const char *path, int flags, ...)
{
    NEXT(int, open, (const char *, int, ...))
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0) {
        write_there(path);
    }
    return fails(FAULTS_OPEN) ? -1 : next_open(path, flags, mode);
}

int stat(const char *restrict path, struct stat *restrict out)
{
    NEXT(int, stat, (const char *restrict, struct stat *restrict))
    return fails(FAULTS_STAT) ? -1 : next_stat(path, out);
}

int fstat(int file, struct stat *out)
{
    NEXT(int, fstat, (int, struct stat *))
    return fails(FAULTS_STAT) ? -1 : next_fstat(file, out);
}

int access(const char *path, int mode)
{
    NEXT(int, access, (const char *, int))
    return fails(FAULTS_STAT) ? -1 : next_access(path, mode);
}

static ssize_t read_some(int file, void *out, size_t size)
{
    NEXT(ssize_t, read, (int, void *, size_t))
    return fails(FAULTS_READ) ? -1 : next_read(file, out, piece_of(size));
}

ssize_t read(int file, void *out, size_t size)
{
    return interrupted() ? -1 : read_some(file, out, size);
}

/* As programs that are built with _FORTIFY_SOURCE call it. */
ssize_t __read_chk(int file, void *out, size_t size, size_t room);
ssize_t __read_chk(int file, void *out, size_t size, size_t room)
{
    return size > room ? (abort(), -1) : read(file, out, size);
}

ssize_t pread(int file, void *out, size_t size, off_t at)
{
    NEXT(ssize_t, pread, (int, void *, size_t, off_t))
    return fails(FAULTS_READ) || interrupted() ? -1 : next_pread(file, out, piece_of(size), at);
}

ssize_t __pread_chk(int file, void *out, size_t size, off_t at, size_t room);
ssize_t __pread_chk(int file, void *out, size_t size, off_t at, size_t room)
{
    return size > room ? (abort(), -1) : pread(file, out, size, at);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    NEXT(ssize_t, write, (int, const void *, size_t))
    return fails(FAULTS_WRITE) ? -1 : next_write(file, bytes, piece_of(size));
}

int close(int file)
{
    NEXT(int, close, (int))
    const bool failed = fails(FAULTS_CLOSE);
    const int reason = errno;
    const int result = next_close(file); /* it is closed also when that fails */
    errno = failed ? reason : errno;
    return failed ? -1 : result;
}

int rename(const char *from, const char *to)
{
    NEXT(int, rename, (const char *, const char *))
    write_there(from);
    write_there(to);
    return fails(FAULTS_RENAME) ? -1 : next_rename(from, to);
}

int unlink(const char *path)
{
    NEXT(int, unlink, (const char *))
    write_there(path);
    return next_unlink(path);
}

int ftruncate(int file, off_t size)
{
    NEXT(int, ftruncate, (int, off_t))
    return fails(FAULTS_TRUNCATE) ? -1 : next_ftruncate(file, size);
}

DIR *opendir(const char *path)
{
    NEXT(DIR *, opendir, (const char *))
    return fails(FAULTS_LIST) ? NULL : next_opendir(path);
}

struct dirent *readdir(DIR *folder)
{
    NEXT(struct dirent *, readdir, (DIR *))
    return fails(FAULTS_LIST) ? NULL : next_readdir(folder);
}

int fcntl(int file, int command, ...)
{
    NEXT(int, fcntl, (int, int, ...))
    va_list arguments;
    va_start(arguments, command);
    void *const argument = va_arg(arguments, void *); /* an integer is passed in the same way */
    va_end(arguments);
    return fails(FAULTS_PIPE) ? -1 : next_fcntl(file, command, argument);
}

int flock(int file, int operation)
{
    NEXT(int, flock, (int, int))
    return fails(FAULTS_LOCK) ? -1 : next_flock(file, operation);
}

int dup(int file)
{
    NEXT(int, dup, (int))
    return fails(FAULTS_LOCK) ? -1 : next_dup(file);
}

/* --- processes and threads ----------------------------------------------------------------- */

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*function)(void *), void *restrict argument)
{
    NEXT(int, pthread_create,
         (pthread_t *restrict, const pthread_attr_t *restrict, void *(*)(void *), void *restrict))
    return fails(FAULTS_THREAD) ? errno
                                : next_pthread_create(thread, attributes, function, argument);
}

int pipe(int ends[2])
{
    NEXT(int, pipe, (int[2]))
    return fails(FAULTS_PIPE) ? -1 : next_pipe(ends);
}

int poll(struct pollfd *files, nfds_t count, int timeout)
{
    NEXT(int, poll, (struct pollfd *, nfds_t, int))
    return fails(FAULTS_POLL) || interrupted() ? -1 : next_poll(files, count, timeout);
}

int __poll_chk(struct pollfd *files, nfds_t count, int timeout, size_t room);
int __poll_chk(struct pollfd *files, nfds_t count, int timeout, size_t room)
{
    return count * sizeof *files > room ? (abort(), -1) : poll(files, count, timeout);
}

int posix_spawnp(pid_t *restrict out, const char *restrict program,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                 char *const environment[restrict])
{
    NEXT(int, posix_spawnp,
         (pid_t *restrict, const char *restrict, const posix_spawn_file_actions_t *,
          const posix_spawnattr_t *restrict, char *const[restrict], char *const[restrict]))
    return fails(FAULTS_SPAWN)
               ? errno
               : next_posix_spawnp(out, program, actions, attributes, arguments, environment);
}

pid_t waitpid(pid_t process, int *status, int options)
{
    NEXT(pid_t, waitpid, (pid_t, int *, int))
    return fails(FAULTS_WAIT) || interrupted() ? -1 : next_waitpid(process, status, options);
}

/* --- streams ------------------------------------------------------------------------------- */

#define STREAMS 16
static struct stream {
    FILE *file;
    int number;
} streams[STREAMS];

/* Interruptions are left out here: the C library takes them for failures, and with SA_RESTART, as
 * the program sets it, there are none. */
static ssize_t stream_read(void *cookie, char *out, size_t size)
{
    const struct stream *const s = cookie;
    return read_some(s->number, out, size);
}

/* Writes all bytes, as the C library does; writing fewer is a failure. */
static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
    const struct stream *const s = cookie;
    size_t written = 0;
    ssize_t now = 1;
    while (written < size && now > 0) {
        now = write(s->number, bytes + written, size - written);
        written += now > 0 ? (size_t)now : 0;
    }
    return (ssize_t)written;
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
    const struct stream *const s = cookie;
    const off64_t now = fails(FAULTS_SEEK) ? -1 : lseek64(s->number, *at, whence);
    *at = now;
    return now < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    struct stream *const s = cookie;
    s->file = NULL;
    return close(s->number);
}

/* A stream with a cookie; NULL: none. Its buffer is a file's, or that of the standard output. */
static FILE *make_stream(int number, const char *mode)
{
    static const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek,
                                                    stream_close};
    for (size_t i = 0; i < STREAMS; i++) {
        if (streams[i].file == NULL) {
            streams[i].number = number;
            streams[i].file = fopencookie(&streams[i], mode, functions);
            return streams[i].file;
        }
    }
    abort();
}

FILE *fdopen(int file, const char *mode)
{
    return make_stream(file, mode);
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
    const int number = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (*mode != 'w') {
        abort(); /* no other one is used */
    }
    return number < 0 ? NULL : make_stream(number, mode);
}

int fileno(FILE *file)
{
    NEXT(int, fileno, (FILE *))
    for (size_t i = 0; i < STREAMS; i++) {
        if (streams[i].file == file) {
            return streams[i].number;
        }
    }
    return next_fileno(file);
}

/* --- beginning and end --------------------------------------------------------------------- */

static int on_object(struct dl_phdr_info *info, size_t size, void *nothing)
{
    uintptr_t begin = UINTPTR_MAX;
    uintptr_t end = 0;
    (void)size;
    (void)nothing;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD) {
            const uintptr_t from = info->dlpi_addr + part->p_vaddr;
            begin = from < begin ? from : begin;
            end = from + part->p_memsz > end ? from + part->p_memsz : end;
        }
    }
    if (objects < OBJECTS && end > 0) {
        if (strstr(info->dlpi_name, "/ld-") != NULL) {
            loader = objects;
        }
        object[objects].begin = begin;
        object[objects++].end = end;
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *const path = getenv(FAULTS_FILE);
    const int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    struct faults *const shared =
        file < 0 ? MAP_FAILED
                 : mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) {
        return;
    }
    (void)close(file);
    loader = OBJECTS;
    (void)dl_iterate_phdr(on_object, NULL);
    libc = object_of((uintptr_t)dlsym(RTLD_NEXT, "gnu_get_libc_version"));
    stdout = make_stream(STDOUT_FILENO, "w");
    if (shared->record) { /* what unwinding loads is not the program's */
        uint64_t hash = 0;
        (void)_Unwind_Backtrace(on_frame, &hash);
    }
    shared->attached = true;
    faults = shared;
}

__attribute__((destructor)) static void end(void)
{
    struct faults *const shared = faults;
    if (shared == NULL) {
        return;
    }
    faults = NULL;
    shared->ended = true;
}
/* NOLINTEND(*-declaration-parameter-name) */
