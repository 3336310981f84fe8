// SPDX-License-Identifier: MIT
/* Runs a fuzz target on files, or on all files of folders: replay FILE|FOLDER... Any compiler. */
#include <errno.h>
#include <sys/stat.h>

#include "fuzz.h"

#define INPUT_MAX (1 << 20)

static void run_file(const char *path)
{
    static uint8_t bytes[INPUT_MAX];
    FILE *const file = fopen(path, "rb");
    const size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
    if (file == NULL || ferror(file) != 0 || size == sizeof bytes) {
        fuzz_fail(path, 0, "cannot read", size == sizeof bytes ? "too large" : strerror(errno));
    }
    (void)fclose(file);
    /* Ends where the input ends: what reads farther is noticed. */
    uint8_t *const copy = malloc(size == 0 ? 1 : size);
    CHECK(copy != NULL);
    memcpy(copy, bytes, size);
    CHECK(LLVMFuzzerTestOneInput(copy, size) == 0);
    free(copy);
}

int main(int argc, char **argv)
{
    size_t files = 0;
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) != 0) {
            fuzz_fail(argv[i], 0, "cannot read", strerror(errno));
        }
        if (!S_ISDIR(info.st_mode)) {
            run_file(argv[i]);
            files++;
            continue;
        }
        DIR *const folder = opendir(argv[i]);
        CHECK(folder != NULL);
        for (struct dirent *entry = NULL; (entry = readdir(folder)) != NULL;) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] != '.') {
                run_file(path);
                files++;
            }
        }
        (void)closedir(folder);
    }
    CHECK(files > 0); /* an empty corpus proves nothing */
    printf("%zu inputs\n", files);
    return 0;
}
