// SPDX-License-Identifier: MIT
/* Descriptions of changes that are the same for operators and models: the change, and what it
 * means. */
#ifndef ROOF_REPORT_CHANGE_WORDS_H
#define ROOF_REPORT_CHANGE_WORDS_H

struct roof_change_words {
    const char *change;
    const char *note;
};

#define ROOF_WORDS_SPARSE                                                                          \
    {                                                                                              \
        "weights pruned 2:4", "half the values, plus indices"                                      \
    }
#define ROOF_WORDS_LAUNCH(note_)                                                                   \
    {                                                                                              \
        "no launch overhead", note_ "launched ahead, as by a captured graph"                       \
    }
#define ROOF_WORDS_OTHER_DEVICE(change_)                                                           \
    {                                                                                              \
        change_, "needs another device"                                                            \
    }
#define ROOF_WORDS_BANDWIDTH ROOF_WORDS_OTHER_DEVICE("twice the memory bandwidth")
#define ROOF_WORDS_PEAKS ROOF_WORDS_OTHER_DEVICE("twice the peaks")
#define ROOF_WORDS_LINKS ROOF_WORDS_OTHER_DEVICE("twice the link bandwidth")

#endif
