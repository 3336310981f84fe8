// SPDX-License-Identifier: MIT
/* Runs gnuplot as a separate process, with a pipe for the script and another for the image. No
 * shell is involved, and the environment only has the variables for finding gnuplot and its fonts.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

#define PROGRAM "gnuplot"

enum { TO, FROM, TROUBLE, PIPES };

/* The environment variables that gnuplot receives. */
static const char *const passed[] = {"PATH", "HOME", "XDG_CACHE_HOME", "FONTCONFIG_FILE",
                                     "FONTCONFIG_PATH"};
enum { PASSED = sizeof passed / sizeof *passed };

static enum roof_status cannot(struct roof_error *error, int reason)
{
    if (reason == ENOENT) {
        return roof_error_set(error, ROOF_IO,
                              "cannot draw: " PROGRAM " is not installed (Debian: gnuplot-nox); "
                              "--format gnuplot prints the script for another machine");
    }
    return roof_error_set(error, ROOF_IO, "cannot run " PROGRAM ": %s", strerror(reason));
}

static void close_all(int pipes[PIPES][2])
{
    for (int i = 0; i < PIPES; i++) {
        for (int end = 0; end < 2; end++) {
            if (pipes[i][end] >= 0) {
                (void)close(pipes[i][end]);
            }
            pipes[i][end] = -1;
        }
    }
}

/* Opens a pipe that is not a standard stream, even if one of these was closed from the start, and
 * that other processes do not inherit. */
static int open_pipe(int ends[2])
{
    int low[2];
    int failed = 0;
    if (pipe(low) != 0) {
        return errno;
    }
    for (int end = 0; end < 2; end++) {
        ends[end] = fcntl(low[end], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        failed = ends[end] < 0 ? errno : failed;
        (void)close(low[end]);
    }
    return failed;
}

/* Starts gnuplot with pipes for its three streams, and keeps the other ends. */
static int start(pid_t *out, int pipes[PIPES][2])
{
    static char program[] = PROGRAM;
    static char defaults[] = "--default-settings";
    static char standard_input[] = "-";
    char *const arguments[] = {program, defaults, standard_input, NULL};
    char *environment[PASSED + 1] = {NULL};
    size_t count = 0;
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed != 0) {
        return failed;
    }
    for (int i = 0; i < PASSED && failed == 0; i++) {
        const char *const value = getenv(passed[i]);
        if (value != NULL) {
            const size_t size = strlen(passed[i]) + strlen(value) + 2;
            environment[count] = malloc(size);
            failed = environment[count] == NULL ? ENOMEM : 0;
            if (failed == 0) {
                snprintf(environment[count++], size, "%s=%s", passed[i], value);
            }
        }
    }
    for (int i = 0; i < PIPES && failed == 0; i++) {
        const int theirs = i == TO ? 0 : 1;
        failed = posix_spawn_file_actions_adddup2(&actions, pipes[i][theirs], i);
    }
    if (failed == 0) {
        failed = posix_spawnp(out, PROGRAM, &actions, NULL, arguments, environment);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < count; i++) {
        free(environment[i]);
    }
    return failed;
}

/* Reads the available bytes; false at the end. */
static bool take(int file, struct roof_text *out)
{
    char bytes[16384];
    const ssize_t got = read(file, bytes, sizeof bytes);
    if (got > 0) {
        roof_text_add(out, bytes, (size_t)got);
    }
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Writes the script and reads the output, whichever is possible. */
static void converse(int pipes[PIPES][2], const char *script, struct roof_text *image,
                     struct roof_text *message)
{
    struct pollfd files[PIPES] = {
        {pipes[TO][1], POLLOUT, 0}, {pipes[FROM][0], POLLIN, 0}, {pipes[TROUBLE][0], POLLIN, 0}};
    const size_t length = strlen(script);
    size_t written = 0;
    (void)fcntl(pipes[TO][1], F_SETFL, O_NONBLOCK);
    while (files[FROM].fd >= 0 || files[TROUBLE].fd >= 0) {
        if (poll(files, PIPES, -1) < 0 && errno != EINTR) {
            return;
        }
        if (files[TO].fd >= 0 && files[TO].revents != 0) {
            const ssize_t sent = write(files[TO].fd, script + written, length - written);
            written += sent > 0 ? (size_t)sent : 0;
            const bool later = sent < 0 && (errno == EINTR || errno == EAGAIN);
            if (written == length || (sent < 0 && !later)) {
                (void)close(files[TO].fd);
                files[TO].fd = pipes[TO][1] = -1;
            }
        }
        if (files[FROM].fd >= 0 && files[FROM].revents != 0 && !take(files[FROM].fd, image)) {
            files[FROM].fd = -1;
        }
        if (files[TROUBLE].fd >= 0 && files[TROUBLE].revents != 0 &&
            !take(files[TROUBLE].fd, message)) {
            files[TROUBLE].fd = -1;
        }
    }
}

/* Returns the most informative line of the messages: the last one that is not empty. */
static const char *last_line(struct roof_text *message)
{
    while (message->length > 0 && strchr("\n\t ", message->data[message->length - 1]) != NULL) {
        message->data[--message->length] = '\0';
    }
    const char *const line = message->length == 0 ? NULL : strrchr(message->data, '\n');
    return message->length == 0 ? "it printed no reason" : line == NULL ? message->data : line + 1;
}

enum roof_status cli_gnuplot(struct roof_text *image, const char *script, struct roof_error *error)
{
    int pipes[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    struct roof_text message = ROOF_TEXT_INIT;
    pid_t process = 0;
    int failed = 0;
    for (int i = 0; i < PIPES && failed == 0; i++) {
        failed = open_pipe(pipes[i]);
    }
    failed = failed == 0 ? start(&process, pipes) : failed;
    if (failed != 0) {
        close_all(pipes);
        return cannot(error, failed);
    }
    for (int i = 0; i < PIPES; i++) {
        const int theirs = i == TO ? 0 : 1;
        (void)close(pipes[i][theirs]);
        pipes[i][theirs] = -1;
    }
    converse(pipes, script, image, &message);
    close_all(pipes);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    enum roof_status result = ROOF_OK;
    if (image->failed || message.failed) {
        result = roof_no_memory(error);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && message.length == 0) {
        result = cannot(error, ENOENT);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || image->length == 0) {
        result = roof_error_set(error, ROOF_IO, PROGRAM " cannot draw: %s", last_line(&message));
    }
    roof_text_free(&message);
    return result;
}
