// SPDX-License-Identifier: MIT
/** Documents about a single result: a prediction, a recommendation, a device, a format, an
 * operator. Reports compute nothing. */
#ifndef ROOF_REPORT_REPORT_H
#define ROOF_REPORT_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "decide/compare.h"
#include "decide/crossover.h"
#include "decide/fit_scale.h"
#include "decide/lever.h"
#include "decide/loss.h"
#include "decide/recommend.h"
#include "predict/kernel.h"
#include "predict/trace.h"
#include "report/markdown.h"
#include "report/rows.h"

/* The note beside a least time. */
#define ROOF_LEAST_NOTE "the bound if all tokens chose the same experts, not random ones"

/** Further results beside a prediction; NULL: not available. */
struct roof_report_beside {
    /** The device with the published figures, for one that follows the source documents. */
    const struct roof_hardware *product;
    const struct roof_trace *explanation;
    /** The separate operators that a fused one replaces (roof_predict_apart). */
    const struct roof_prediction *apart;
    const struct roof_advice *advice;
    bool tiling; /**< write the tiling of the expected kernel, if it is known */
};
/** Both write a prediction: as a JSON object with its parts, or for people. `beside` may be NULL.
 */
void roof_report_json(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_report_beside *beside);
void roof_report_text(struct roof_text *out, const struct roof_prediction *prediction,
                      const struct roof_report_beside *beside);

/** Writes the shape of a workload for people: "gemm m=1 n=4096 k=4096". */
void roof_report_workload(struct roof_text *out, const struct roof_workload *workload);
/** Writes the formats of an operator's tensors: "weights fp16, activations fp16". */
void roof_report_formats(struct roof_text *out, const struct roof_prediction *prediction);
/** Writes the steps of an explanation for people. */
void roof_report_why(struct roof_text *out, const struct roof_trace *explanation);
/** Writes a line of a report: a label padded to `width`, a value and a note, which may be "". A
 * long line is folded. */
void roof_report_line(struct roof_text *out, int width, const char *label, const char *value,
                      const char *detail);
/** Writes a member of a JSON object after a separator; nothing if the value is unknown. */
void roof_report_number(struct roof_text *out, const char *separator, const char *key,
                        double value);
/** Writes a member of the JSON object of a prediction: why it has no expected time. */
void roof_report_missing(struct roof_text *out, const char *why);
/** Explains accuracy classes, below formats or plans that have them. */
void roof_report_accuracy_classes(struct roof_text *out);
/** Says that the rows along K or else N are misaligned, and adds a blank; writes nothing if they
 * begin at multiples of ROOF_ALIGNED_BYTES. */
void roof_report_misaligned_rows(struct roof_text *out, bool k, double bytes);
/** Says that the rows of a recommended product are misaligned; writes nothing if they are aligned.
 */
void roof_report_misaligned(struct roof_text *out, const struct roof_prediction *prediction);
/** Writes the id of a device, followed by "(default)" if the question has none. */
void roof_report_device(struct roof_text *out, const struct roof_hardware *hardware);
/** The reasons beside a recommendation: why the first candidate beats fp16, and for which sizes the
 * best one changes. NULL: unknown. */
struct roof_reasons {
    const struct roof_speedup_row *why;
    const struct roof_crossovers *crossovers;
};
/** Each writes a recommendation: as {"candidates": [...], "rejected": [...]}, for people, or as
 * Markdown with the best format, the table, and the report for people. There is at least one
 * candidate; `product` is as above. */
void roof_report_recommendation_json(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_reasons *reasons,
                                     const struct roof_hardware *product, enum roof_operator op);
void roof_report_recommendation_text(struct roof_text *out,
                                     const struct roof_recommendation *recommendation,
                                     const struct roof_reasons *reasons,
                                     const struct roof_workload *workload,
                                     const struct roof_hardware *product,
                                     enum roof_ranking ranking);
void roof_report_recommendation_markdown(struct roof_text *out,
                                         const struct roof_recommendation *recommendation,
                                         const struct roof_reasons *reasons,
                                         const struct roof_workload *workload,
                                         const struct roof_hardware *product,
                                         enum roof_ranking ranking);

/** Both write a row of a comparison: the cells of the file, then time_us, expected_time_us, ratio
 * (prediction / measurement: the expected time, or else the bound) and error (ratio - 1). Columns
 * of the file with these names are left out. With `lost` the header is that of rows that lose
 * time. */
void roof_report_compared_header(struct roof_text *out, const char *const *column, size_t columns,
                                 bool metrics, bool lost);
void roof_report_compared(struct roof_text *out, bool csv, const struct roof_compared *row);
/** Checks the chosen columns, which are columns of the file or keys of the comparison (ROOF_USAGE
 * for other names), and writes them as the CSV header. */
enum roof_status roof_report_chosen_header(struct roof_text *out, bool csv, const char *chosen,
                                           const char *const *column, size_t columns, bool metrics,
                                           struct roof_error *error);
/** Writes the cells of a row in these columns. */
void roof_report_chosen(struct roof_text *out, bool csv, const char *chosen,
                        const struct roof_compared *row);
/** Write a row as a line for people, and the heading of such lines. */
void roof_report_compared_line(struct roof_text *out, const struct roof_compared *row);
void roof_report_compared_heading(struct roof_text *out);
/** Writes it as a row of a table with measured, expected, bound, error and row. */
void roof_report_compared_cells(struct roof_markdown_table *out, const struct roof_compared *row);

/** A row that loses time, kept until all rows are read. */
struct roof_lost_row {
    double lost_s;
    size_t at;     /**< offset of its text in the text of all rows */
    size_t length; /**< length of its text */
};
/** Write a row that loses time, as a line for people, as CSV or as an object, and the heading of
 * such lines. */
void roof_report_lost(struct roof_text *out, enum roof_output output,
                      const struct roof_compared *row, const struct roof_loss *loss);
void roof_report_lost_heading(struct roof_text *out);
/** Writes the start of a JSON document before its rows, or the summary below those for people. */
void roof_report_losses(struct roof_text *out, bool json, double below, size_t rows, size_t count,
                        double lost_s);
/** Notes a measured time that is far too short, which mostly has another unit. */
void roof_report_too_fast(struct roof_text *out, const struct roof_comparison *comparison);

/** A fit, and what its options for other commands are made of. */
struct roof_reported_fit {
    struct roof_scale_fit fit;
    const char *host_time; /**< of the question; NULL: it has none */
    const char *engine;    /**< the engine with the stack of the fit, if `simulate` knows its
                                scheduler and it runs all models; else NULL */
};
/** The rows with the time to first token of a request that may have waited for others. */
struct roof_reported_waits {
    size_t rows;
    int line;            /**< of the first one */
    const char *command; /**< which simulates its run */
    bool unhosted;       /**< the expected time of one has no host time of an engine */
};
/** Writes a comparison by groups: for people, or as {"schema", "overall": G, "groups": [G, ...]};
 * and a fit to its rows, unless `fit` is NULL. */
void roof_report_comparison(struct roof_text *out, bool json,
                            const struct roof_comparison *comparison,
                            const struct roof_reported_fit *fit,
                            const struct roof_reported_waits *waits);
/** Writes a comparison as Markdown: a table of the groups, then `values`, a table of the compared
 * values (roof_report_compared_cells), which is released; NULL: none. */
void roof_report_comparison_markdown(struct roof_text *out, struct roof_markdown_table *values,
                                     const struct roof_comparison *comparison,
                                     const struct roof_reported_fit *fit,
                                     const struct roof_reported_waits *waits);
/** The parts of both: statistic number i of a group, its label (NULL: there is none), what the
 * statistics are, and what follows them. */
const char *roof_report_statistic(char out[ROOF_QUANTITY_SIZE],
                                  const struct roof_compare_group *group, size_t i);
const char *roof_report_statistic_label(size_t i);
void roof_report_statistics_legend(struct roof_text *out);
void roof_report_comparison_notes(struct roof_text *out, const struct roof_comparison *comparison,
                                  const struct roof_reported_fit *fit,
                                  const struct roof_reported_waits *waits);
/** Returns true for the keys of G other than its columns; columns must not have these names. */
bool roof_report_is_statistic(const char *key, size_t length);

/** All three write the facts about a device (as JSON, a hardware file), a format or an operator,
 * for people or as a JSON object. `product` is as above. */
void roof_report_hardware(struct roof_text *out, bool json, const struct roof_hardware *hardware,
                          const struct roof_hardware *product);
void roof_report_precision(struct roof_text *out, bool json, enum roof_precision precision,
                           const struct roof_accuracy *accuracy);
void roof_report_operator(struct roof_text *out, bool json, enum roof_operator op);

#endif
