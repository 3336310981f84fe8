// SPDX-License-Identifier: MIT
/* Runs the command that `monitor -- COMMAND` watches, and waits for times, for its end and for
 * signals. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cli.h"

extern char **environ;

/* The exit code of a command whose end is unknown: a failure. */
#define CODE_UNKNOWN 1
#define CODE_SIGNAL 128

static double now_s(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- signals ------------------------------------------------------------------------------- */

static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler reads it");
static atomic_int watched; /* the process that receives signals; 0: none */

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP};

/* Forwards a signal that was sent to this process. The terminal sends its signals to the command
 * itself. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    const int reason = errno;
    (void)context;
    if (number != SIGCHLD && info->si_code <= 0 && atomic_load(&watched) > 0) {
        (void)kill((pid_t)atomic_load(&watched), number);
    }
    errno = reason;
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART | SA_SIGINFO};
    action.sa_sigaction = on_signal;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGCHLD, &action, NULL);
    for (size_t i = 0; i < COUNT(passed_on); i++) {
        (void)sigaction(passed_on[i], &action, NULL);
    }
}

/* Blocks the signals that the program waits for; *before is the previous mask. */
static void block_signals(sigset_t *before)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < COUNT(passed_on); i++) {
        (void)sigaddset(&set, passed_on[i]);
    }
    (void)pthread_sigmask(SIG_BLOCK, &set, before);
}

/* --- the command --------------------------------------------------------------------------- */

static enum roof_status cannot_run(const struct cli_run *run, int reason, struct roof_error *error)
{
    return roof_error_set(error, ROOF_IO, "cannot run '%s': %s", run->argv[0], strerror(reason));
}

/* Starts the command with the original signal handling of this program, and with the pipes. */
static int spawn(struct cli_run *run, const int pipes[2][2], const sigset_t *mask)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t defaults;
    pid_t pid = 0;
    int failed = posix_spawnattr_init(&attributes);
    if (failed != 0) {
        return failed;
    }
    failed = posix_spawn_file_actions_init(&actions);
    if (failed != 0) {
        (void)posix_spawnattr_destroy(&attributes);
        return failed;
    }
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE); /* main ignores it */
    (void)sigaddset(&defaults, SIGXFSZ);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    (void)posix_spawnattr_setsigmask(&attributes, mask);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    for (int i = 0; i < 2 && failed == 0 && run->tokens != NULL; i++) {
        failed = posix_spawn_file_actions_adddup2(&actions, pipes[i][1], STDOUT_FILENO + i);
    }
    if (failed == 0) {
        failed = posix_spawnp(&pid, run->argv[0], &actions, &attributes, run->argv, environ);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    run->pid = failed == 0 ? (int)pid : 0;
    return failed;
}

/* Makes a pipe that the command does not inherit; returns 0 or errno. */
static int make_pipe(int ends[2])
{
    if (pipe(ends) != 0) {
        ends[0] = ends[1] = -1;
        return errno;
    }
    for (int i = 0; i < 2; i++) {
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return 0;
}

static void close_end(int *end)
{
    if (*end >= 0) {
        (void)close(*end);
    }
    *end = -1;
}

static enum roof_status begin(struct cli_run *run, const sigset_t *mask, struct roof_error *error)
{
    int pipes[2][2] = {{-1, -1}, {-1, -1}};
    int failed = 0;
    for (int i = 0; i < 2 && failed == 0 && run->tokens != NULL; i++) {
        failed = make_pipe(pipes[i]);
    }
    (void)fflush(stdout); /* the command may write there next */
    if (failed == 0) {
        failed = spawn(run, (const int(*)[2])pipes, mask);
    }
    for (int i = 0; i < 2; i++) {
        close_end(&pipes[i][1]);
        run->output[i] = pipes[i][0];
    }
    if (failed != 0) {
        close_end(&run->output[0]);
        close_end(&run->output[1]);
        return cannot_run(run, failed, error);
    }
    atomic_store(&watched, run->pid);
    handle_signals();
    return ROOF_OK;
}

/* Stores the exit code of the command if it has ended. */
static void look_after(struct cli_run *run)
{
    int status = 0;
    pid_t found = 0;
    if (run->pid == 0 || run->ended) {
        return;
    }
    do {
        found = waitpid((pid_t)run->pid, &status, WNOHANG);
    } while (found < 0 && errno == EINTR);
    if (found != 0) {
        run->ended = true;
        atomic_store(&watched, 0);
        run->code = found < 0             ? CODE_UNKNOWN
                    : WIFEXITED(status)   ? WEXITSTATUS(status)
                    : WIFSIGNALED(status) ? CODE_SIGNAL + WTERMSIG(status)
                                          : CODE_UNKNOWN;
    }
}

/* --- what the command prints --------------------------------------------------------------- */

static void write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(file, bytes, length);
        if (written < 0 && errno != EINTR) {
            return; /* the command would not notice a full disk either */
        }
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

/* Forwards the available bytes of an output, and searches them for token counts. */
static void pass_on(struct cli_run *run, int i)
{
    char bytes[16384];
    while (run->output[i] >= 0) {
        const ssize_t got = read(run->output[i], bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            return;
        }
        if (got <= 0) {
            close_end(&run->output[i]);
            return;
        }
        write_all(STDOUT_FILENO + i, bytes, (size_t)got);
        roof_token_count_add(&run->tokens[i], bytes, (size_t)got);
    }
}

/* Waits for a time, a signal or output of the command. */
static void wait_once(struct cli_run *run, double left_s, const sigset_t *mask)
{
    fd_set files;
    struct timespec time = {.tv_sec = 0};
    int highest = -1;
    FD_ZERO(&files);
    for (int i = 0; i < 2; i++) {
        if (run->output[i] >= 0 && run->output[i] < FD_SETSIZE) {
            FD_SET(run->output[i], &files);
            highest = run->output[i] > highest ? run->output[i] : highest;
        }
    }
    if (left_s < 1e9) {
        time.tv_sec = (time_t)left_s;
        time.tv_nsec = (long)((left_s - (double)time.tv_sec) * 1e9);
    }
    (void)pselect(highest + 1, &files, NULL, NULL, left_s < 1e9 ? &time : NULL, mask);
    pass_on(run, 0);
    pass_on(run, 1);
}

/* --- the clock ----------------------------------------------------------------------------- */

/* Tells whether there is still something to wait for before a time. */
static bool goes_on(struct cli_run *run, double due_s)
{
    look_after(run);
    return run->argv != NULL ? !run->ended : cli_interrupted() == 0 && due_s < HUGE_VAL;
}

enum roof_status cli_run_clock(struct cli_run *run, double *now, bool *more, double due_s,
                               struct roof_error *error)
{
    sigset_t mask;
    enum roof_status status = ROOF_OK;
    if (due_s <= 0) {
        run->begun_s = now_s();
        run->output[0] = run->output[1] = -1;
    }
    block_signals(&mask);
    if (due_s > 0 && run->argv != NULL && run->pid == 0) {
        status = begin(run, &mask, error);
    }
    *now = due_s <= 0 ? 0 : now_s() - run->begun_s;
    *more = goes_on(run, due_s);
    while (status == ROOF_OK && *more && *now < due_s) {
        wait_once(run, due_s - *now, &mask);
        *now = now_s() - run->begun_s;
        *more = goes_on(run, due_s);
    }
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return status;
}

int64_t cli_run_tokens(struct cli_run *run)
{
    int64_t tokens = 0;
    for (int i = 0; i < 2 && run->tokens != NULL; i++) {
        pass_on(run, i);
        roof_token_count_end(&run->tokens[i]);
        tokens = run->tokens[i].tokens > 0 ? run->tokens[i].tokens : tokens;
    }
    return tokens;
}

void cli_run_end(struct cli_run *run)
{
    sigset_t mask;
    block_signals(&mask);
    for (look_after(run); run->pid != 0 && !run->ended; look_after(run)) {
        wait_once(run, HUGE_VAL, &mask);
    }
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    for (int i = 0; i < 2 && run->pid != 0; i++) {
        pass_on(run, i);
        close_end(&run->output[i]);
    }
}
