// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cli.h"

#define PART_SUFFIX ".part"

static bool is_stdout(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0;
}

/* Sets the names of a file; pipes and devices are written directly. */
static enum roof_status name_file(struct cli_output *out, const char *path,
                                  struct roof_error *error)
{
    *out = (struct cli_output){.name = path};
    if (*path == '\0') {
        return roof_error_set(error, ROOF_USAGE, "--output needs a file name");
    }
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return ROOF_OK;
    }
    const size_t size = strlen(path) + sizeof PART_SUFFIX;
    out->part = malloc(size);
    if (out->part == NULL) {
        return roof_no_memory(error);
    }
    snprintf(out->part, size, "%s" PART_SUFFIX, path);
    out->mode = lstat(path, &info) == 0 && S_ISREG(info.st_mode) ? info.st_mode : 0;
    return ROOF_OK;
}

/* Reports that an output could not be opened, by errno. The user named FILE: FILE.part is only
 * named if something else has that name. */
static enum roof_status not_open(struct cli_output *out, struct roof_error *error)
{
    const int reason = errno;
    struct stat info;
    const bool in_the_way = out->part != NULL && lstat(out->part, &info) == 0;
    roof_error_at(error, ROOF_IO, in_the_way ? out->part : out->name, 0, 0, "cannot write: %s",
                  reason == EBUSY    ? "another process is writing it"
                  : reason == ELOOP  ? "its place is taken by a symbolic link"
                  : reason == EMLINK ? "its place is taken by a hard link"
                  : reason == EINVAL
                      ? "its place is taken by something that is not an ordinary file"
                      : strerror(reason));
    free(out->part);
    out->part = NULL;
    return ROOF_IO;
}

/* Locks a file; false if another process has the lock, or if the name now belongs to another file
 * because its writer has just ended. The lock belongs to the open file, not to the process: it
 * lasts until the last descriptor is closed. */
static bool lock(int file, const char *path)
{
    struct stat here;
    struct stat there;
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        return errno != EWOULDBLOCK; /* some file systems do not support locks */
    }
    return fstat(file, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

/* Opens FILE.part and keeps its content. A lock keeps other writers out. The user named FILE, not
 * FILE.part, so a link in its place is not followed. */
static FILE *open_part(const struct cli_output *output)
{
    const char *const path = output->part;
    /* No other user may read the replacement of a private file; we must be able to continue it. */
    const mode_t mode = (output->mode == 0 ? 0666 : output->mode & 0777) | S_IRUSR | S_IWUSR;
    const int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);
    struct stat info = {.st_size = 1}; /* unless known, the file may have content */
    if (file < 0) {
        return NULL;
    }
    const bool known = fstat(file, &info) == 0;
    const bool other = known && !S_ISREG(info.st_mode);
    const bool linked = known && info.st_nlink > 1; /* another name may belong to the same file */
    const bool locked = !other && !linked && lock(file, path);
    FILE *const out = locked ? fdopen(file, "r+") : NULL;
    if (out == NULL) {
        const int reason = locked ? errno : other ? EINVAL : linked ? EMLINK : EBUSY;
        if (locked && info.st_size == 0) {
            (void)unlink(path); /* there is no content to keep */
        }
        (void)close(file);
        errno = reason;
    }
    return out;
}

enum roof_status cli_output_open(struct cli_output *out, const char *path, struct roof_error *error)
{
    if (is_stdout(path)) {
        *out = (struct cli_output){.file = stdout, .name = "standard output"};
        return ROOF_OK;
    }
    const enum roof_status status = name_file(out, path, error);
    if (status != ROOF_OK) {
        return status;
    }
    if (out->part == NULL) {
        out->file = fopen(path, "w");
        return out->file == NULL ? not_open(out, error) : ROOF_OK;
    }
    cli_interrupt_hold(true);
    out->file = open_part(out);
    cli_interrupt_remove(out->file == NULL ? NULL : out->part);
    cli_interrupt_hold(false);
    if (out->file == NULL) {
        return not_open(out, error);
    }
    if (cli_output_cut(out, 0, error) == ROOF_OK) {
        return ROOF_OK;
    }
    cli_interrupt_hold(true);
    (void)unlink(out->part);
    cli_interrupt_remove(NULL);
    cli_interrupt_hold(false);
    (void)fclose(out->file);
    out->file = NULL;
    free(out->part);
    out->part = NULL;
    return ROOF_IO;
}

/* Tells whether a path is the file of an input; "-" means standard input. A terminal or a pipe can
 * be read and written. */
static bool is_same_file(const char *path, const char *input)
{
    struct stat one;
    struct stat two;
    const bool known = stat(path, &one) == 0 && (strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &two)
                                                                         : stat(input, &two)) == 0;
    return known && S_ISREG(one.st_mode) && one.st_ino == two.st_ino && one.st_dev == two.st_dev;
}

bool cli_output_replaces(const char *path, const char *input)
{
    return !is_stdout(path) && is_same_file(path, input);
}

bool cli_output_spoils(const char *path, const char *input)
{
    struct cli_output out = {.part = NULL};
    const bool named = !is_stdout(path) && name_file(&out, path, NULL) == ROOF_OK;
    const bool same = named && out.part != NULL && is_same_file(out.part, input);
    free(out.part);
    return same;
}

enum roof_status cli_output_reopen(struct cli_output *out, bool *found, const char *path,
                                   struct roof_error *error)
{
    *found = false;
    *out = (struct cli_output){.file = NULL};
    const enum roof_status status = is_stdout(path) ? ROOF_OK : name_file(out, path, error);
    if (status != ROOF_OK) {
        return status;
    }
    if (out->part == NULL) {
        return roof_error_set(error, ROOF_USAGE,
                              "--resume needs -o FILE, and FILE must be an ordinary file%s%s%s",
                              is_stdout(path) ? "" : ", not '", is_stdout(path) ? "" : path,
                              is_stdout(path) ? "" : "'");
    }
    struct stat info;
    *found = stat(out->part, &info) == 0;
    out->kept_note = *found ? "" : NULL;
    out->file = open_part(out);
    return out->file == NULL ? not_open(out, error) : ROOF_OK;
}

enum roof_status cli_output_cut(struct cli_output *out, uint64_t length, struct roof_error *error)
{
    return ftruncate(fileno(out->file), (off_t)length) == 0 &&
                   fseeko(out->file, (off_t)length, SEEK_SET) == 0
               ? ROOF_OK
               : roof_error_at(error, ROOF_IO, out->part, 0, 0, "cannot write: %s",
                               strerror(errno));
}

/* Reports a failed write, by errno. */
static enum roof_status not_written(const struct cli_output *out, struct roof_error *error)
{
    if (errno == EPIPE) {
        cli_interrupt_reader_left();
    }
    return roof_error_at(error, ROOF_IO, out->name, 0, 0, "cannot write: %s", strerror(errno));
}

enum roof_status cli_output_bytes(struct cli_output *out, const char *bytes, size_t length,
                                  struct roof_error *error)
{
    return length == 0 || fwrite(bytes, 1, length, out->file) == length ? ROOF_OK
                                                                        : not_written(out, error);
}

enum roof_status cli_output_flush(struct cli_output *out, struct roof_error *error)
{
    return fflush(out->file) == 0 && ferror(out->file) == 0 ? ROOF_OK : not_written(out, error);
}

/* Keeps the output of failed work, unless it is empty, and adds its name to the message. */
static void keep_part(const struct cli_output *out, struct roof_error *error)
{
    struct stat info;
    if (stat(out->part, &info) == 0 && info.st_size == 0) {
        (void)unlink(out->part);
    } else if (*out->kept_note != '\0') {
        const size_t length = strlen(error->message);
        snprintf(error->message + length, sizeof error->message - length, "; %s%s", out->part,
                 out->kept_note);
    }
}

enum roof_status cli_output_close(struct cli_output *out, enum roof_status status,
                                  struct roof_error *error)
{
    if (out->file == NULL) {
        return status;
    }
    const bool good = status == ROOF_OK || status == ROOF_UNSATISFIED;
    /* A full disk may only become apparent when the last bytes are flushed. */
    enum roof_status written = cli_output_flush(out, good ? error : NULL);
    /* No other process may write FILE.part until it has its final name. */
    const int locked =
        out->part == NULL ? -1 : fcntl(fileno(out->file), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (out->part != NULL) {
        cli_interrupt_hold(true);
    }
    if (out->mode != 0 && good) {
        (void)fchmod(fileno(out->file), out->mode & 0777);
    }
    /* main closes stdout, and messages follow on stderr */
    if (out->file != stdout && out->file != stderr && fclose(out->file) != 0 &&
        written == ROOF_OK) {
        written = not_written(out, good ? error : NULL);
    }
    out->file = NULL;
    if (good && written == ROOF_OK && out->part != NULL && rename(out->part, out->name) != 0) {
        written = roof_error_at(error, ROOF_IO, out->name, 0, 0, "cannot rename %s: %s", out->part,
                                strerror(errno));
    }
    if (good && written != ROOF_OK) {
        status = written;
    }
    if (out->part != NULL) {
        if (!good || written != ROOF_OK) {
            if (out->kept_note != NULL) {
                keep_part(out, error);
            } else {
                (void)unlink(out->part);
            }
        }
        cli_interrupt_remove(NULL);
        cli_interrupt_hold(false);
        free(out->part);
        out->part = NULL;
    }
    if (locked >= 0) {
        (void)close(locked);
    }
    return status;
}

enum roof_status cli_output_all(const char *path, const char *bytes, size_t length,
                                struct roof_error *error)
{
    struct cli_output output;
    TRY(cli_output_open(&output, path, error));
    const enum roof_status status = cli_output_bytes(&output, bytes, length, error);
    return cli_output_close(&output, status, error);
}

enum roof_status cli_output_folders(const char *path, struct roof_error *error)
{
    char *const copy = strdup(path);
    enum roof_status status = copy == NULL ? roof_no_memory(error) : ROOF_OK;
    for (char *at = copy; status == ROOF_OK && (at = strchr(at + 1, '/')) != NULL; *at = '/') {
        *at = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            status = roof_error_at(error, ROOF_IO, copy, 0, 0, "cannot make the folder: %s",
                                   strerror(errno));
        }
    }
    free(copy);
    return status;
}
