// SPDX-License-Identifier: MIT
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

static void print_usage(FILE *out)
{
    fprintf(out, "usage: roofline COMMAND ...\n\n"
                 "Predicts how fast transformer operators and models can run on a device, what "
                 "limits\nthem, and what to change.\n\n");
    size_t count = 0;
    const struct cli_command *const commands = cli_commands(&count);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
    }
    fprintf(
        out,
        "\nroofline help COMMAND, or COMMAND --help, prints examples and the most used options;\n"
        "roofline help COMMAND all prints every option.\n"
        "roofline --version prints the version. The manual: man roofline.\n");
}

/* Closes stdout and returns the exit code, which is an error if the output could not be written. */
static int finish(int code)
{
    /* A stdout that was closed from the start is only an error for commands that write to it. */
    if (code == 0 &&
        (fflush(stdout) != 0 || ferror(stdout) != 0 || (fclose(stdout) != 0 && errno != EBADF))) {
        if (errno == EPIPE) {
            cli_interrupt_reader_left();
            cli_interrupt_end();
        }
        fputs("roofline: cannot write standard output\n", stderr);
        return cli_exit_code(ROOF_IO);
    }
    return code;
}

/* Runs the command that argv names. */
static int run(int argc, char **argv)
{
    const char *names[CLI_COMMANDS_MAX];
    size_t count = 0;
    const struct cli_command *const commands = cli_commands(&count);
    for (size_t i = 0; i < count; i++) {
        const struct cli_command *const command = &commands[i];
        names[i] = command->name;
        if (strcmp(argv[0], command->name) == 0) {
            const int code = command->id == ROOF_COMMAND_COMPLETION
                                 ? cli_completion(command, argc, argv)
                             : command->id == ROOF_COMMAND_SERVE ? cli_serve(command, argc, argv)
                                                                 : cli_ask(command, argc, argv);
            cli_remarks_print();
            return code == 0 ? finish(0) : code;
        }
    }
    struct roof_error error = {0};
    if (strcmp(argv[0], "version") == 0 || strcasecmp(argv[0], "-v") == 0) {
        fprintf(stderr, "roofline: unknown command '%s'; did you mean --version?\n", argv[0]);
        return cli_exit_code(ROOF_USAGE);
    }
    if (argv[0][0] == '-') {
        fprintf(stderr,
                "roofline: unknown option '%s'; options other than --help and --version come after "
                "the command\n",
                argv[0]);
        return cli_exit_code(ROOF_USAGE);
    }
    roof_unknown_name(&error, ROOF_USAGE, "command", argv[0], names, count);
    roof_error_append(&error, " (all: roofline --help)");
    if (strpbrk(argv[0], "0123456789/") != NULL) { /* command names do not contain these */
        roof_error_append(&error, "; a model is asked about with: roofline predict NAME");
    }
    fprintf(stderr, "roofline: %s\n", error.message);
    return cli_exit_code(error.status);
}

int main(int argc, char **argv)
{
    /* An exceeded file size limit is an error to report instead of a silent death, and a closed
     * pipe ends the program only after its files are closed; getopt must not depend on the
     * environment. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)unsetenv("POSIXLY_CORRECT");

    if (argc < 2) {
        print_usage(stderr);
        return cli_exit_code(ROOF_USAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return finish(0);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("roofline %s\n", roof_version());
        return finish(0);
    }
    char option[] = "--help";
    if (strcmp(argv[1], "help") == 0 && (argc == 2 || argv[2][0] == '-')) {
        print_usage(stdout);
        return finish(0);
    }
    if (strcmp(argv[1], "help") == 0) { /* help COMMAND ... means COMMAND --help ... */
        argv[1] = argv[2];
        argv[2] = option;
    }
    return run(argc - 1, argv + 1);
}
