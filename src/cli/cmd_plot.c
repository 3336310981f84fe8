// SPDX-License-Identifier: MIT
/* plot: the roofs of devices, and dots for what a grid or a file asks for. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

#define COLUMNS_DEFAULT 100
#define WIDTH_DEFAULT 1200
#define HEIGHT_DEFAULT 800

/* Same numbers as the choices of --charset and --format. */
enum charset { AUTO, UNICODE, ASCII };
enum format { TEXT, SVG, PNG, PDF, GNUPLOT, JSON, HTML };
static const struct {
    const char *extension;
    enum format format;
} extensions[] = {{".svg", SVG},         {".png", PNG},   {".pdf", PDF},  {".gp", GNUPLOT},
                  {".gnuplot", GNUPLOT}, {".json", JSON}, {".txt", TEXT}, {".html", HTML}};

struct work {
    const struct cli_options *options;
    enum format format;
    int64_t width; /* 0: not given */
    int64_t height;
    int64_t charset;
    double measured_s; /* 0: not given */
    size_t top;
    struct roof_chart_ceilings ceilings;
    struct cli_grid grid;
    struct cli_known known;
    struct roof_scenario base;
    struct roof_records records;
    struct roof_chart chart;
    struct roof_text name;
    struct roof_text group;
};

/* --- options ------------------------------------------------------------------------------- */

static enum roof_status read_format(struct work *w, struct roof_error *error)
{
    const char *const path = w->options->value[ROOF_INPUT_OUTPUT];
    const char *const dot = path == NULL ? NULL : strrchr(path, '.');
    int64_t format = TEXT;
    enum roof_status status = cli_choice(&format, w->options, ROOF_INPUT_CHART_FORMAT, error);
    w->format = (enum format)format;
    if (status != ROOF_OK || w->options->value[ROOF_INPUT_CHART_FORMAT] != NULL || path == NULL ||
        strcmp(path, "-") == 0) {
        return status;
    }
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        if (dot != NULL && strcasecmp(dot, extensions[i].extension) == 0) {
            w->format = extensions[i].format;
            return ROOF_OK;
        }
    }
    return roof_error_set(error, ROOF_USAGE,
                          "'%s' does not say its format: name it .svg, .png, .pdf, .html, .gp, "
                          ".json or .txt, or give --format",
                          path);
}

/* What is asked of operators or models, and not of devices. */
static bool is_of_dots(size_t id, const struct cli_options *options)
{
    const struct roof_input *const input = roof_input(id);
    return (input->field && id != ROOF_INPUT_SPARSE) || input->of != ROOF_OF_ALL ||
           id == ROOF_INPUT_EXPECTED ||
           (id == ROOF_INPUT_CALIBRATION && options->value[ROOF_INPUT_ATTAINABLE] == NULL);
}

/* Roofs alone, where sizes are given, would be of a word that was forgotten; and one time is of one
 * dot. */
static enum roof_status check_workload(const struct cli_options *options, struct roof_error *error)
{
    const bool from = options->value[ROOF_INPUT_FROM] != NULL;
    char name[ROOF_INPUT_NAME_SIZE];
    if (from && options->value[ROOF_INPUT_MEASURED] != NULL) {
        return roof_error_set(error, ROOF_USAGE, "--measured does not go with --from");
    }
    for (size_t i = 0; i < ROOF_INPUT_COUNT && !from && options->operand_count == 0; i++) {
        if (options->value[i] != NULL && is_of_dots(i, options)) {
            return roof_error_set(error, ROOF_USAGE,
                                  "%s is of dots, and there are none: name an operator or a model "
                                  "(plot gemm, plot model NAME), or give --from FILE",
                                  roof_input_name(name, roof_input(i)));
        }
    }
    return ROOF_OK;
}

/* --size WIDTH[xHEIGHT]; of text the width alone. */
static enum roof_status read_size(struct work *w, struct roof_error *error)
{
    const char *const text = w->options->value[ROOF_INPUT_SIZE];
    const bool columns = w->format == TEXT;
    const int64_t least = columns ? ROOF_CHART_COLUMNS_MIN : ROOF_CHART_WIDTH_MIN;
    const int64_t most = columns ? ROOF_CHART_COLUMNS_MAX : ROOF_CHART_PIXELS_MAX;
    char width[24];
    if (text == NULL) {
        return ROOF_OK;
    }
    if (w->format == HTML) {
        return roof_error_set(error, ROOF_USAGE, "--size does not go with html");
    }
    const size_t length = strcspn(text, "x");
    const char *const times = text[length] == '\0' ? NULL : text + length;
    if (length >= sizeof width) {
        return roof_error_set(error, ROOF_USAGE, "--size is WIDTHxHEIGHT, not '%s'", text);
    }
    snprintf(width, sizeof width, "%.*s", (int)length, text);
    enum roof_status status = roof_parse_integer(
        &w->width, width, columns ? "--size of a text chart" : "the width of --size", least, most,
        error);
    if (status == ROOF_OK && times != NULL && columns) {
        status = roof_error_set(error, ROOF_USAGE, "--size of a text chart is its columns alone");
    } else if (status == ROOF_OK && times != NULL) {
        status = roof_parse_integer(&w->height, times + 1, "the height of --size",
                                    ROOF_CHART_HEIGHT_MIN, most, error);
    }
    return status;
}

static enum roof_status read_options(struct work *w, struct roof_error *error)
{
    const struct cli_options *const options = w->options;
    const char *const ceilings = options->value[ROOF_INPUT_CEILINGS];
    const char *const top = options->value[ROOF_INPUT_TOP];
    const char *const measured = options->value[ROOF_INPUT_MEASURED];
    int64_t shown = ROOF_GRAPH_MAX;
    enum roof_status status = read_format(w, error);
    if (status == ROOF_OK) {
        status = check_workload(options, error);
    }
    if (status == ROOF_OK) {
        status = read_size(w, error);
    }
    if (status == ROOF_OK) {
        status = cli_choice(&w->charset, options, ROOF_INPUT_CHARSET, error);
    }
    if (status == ROOF_OK && top != NULL) {
        status = roof_input_parse(&shown, roof_input(ROOF_INPUT_TOP), top, error);
    }
    if (status == ROOF_OK && measured != NULL) {
        status = roof_parse_time(&w->measured_s, measured, "--measured", error);
    }
    if (status == ROOF_OK && ceilings != NULL) {
        status = roof_chart_parse_ceilings(&w->ceilings, ceilings, error);
    }
    w->top = (size_t)shown;
    w->chart.expected = options->value[ROOF_INPUT_EXPECTED] != NULL;
    if (options->value[ROOF_INPUT_TITLE] != NULL) {
        roof_chart_name(w->chart.title, options->value[ROOF_INPUT_TITLE]);
    }
    return status;
}

static enum roof_status add_roof(struct work *w, const struct roof_hardware *hardware,
                                 struct roof_error *error)
{
    return roof_chart_add_roof(&w->chart, hardware,
                               w->options->value[ROOF_INPUT_CEILINGS] == NULL ? NULL : &w->ceilings,
                               w->options->value[ROOF_INPUT_SPARSE] != NULL, error);
}

/* Those of -H. */
static enum roof_status add_roofs(struct work *w, struct roof_error *error)
{
    enum roof_status status = ROOF_OK;
    for (size_t i = 0; i < w->grid.devices && status == ROOF_OK; i++) {
        status = add_roof(w, w->grid.device[i], error);
    }
    return status;
}

/* --- dots of a grid ------------------------------------------------------------------------ */

/* Axes with several values: the sizes of an operator name its dots, "m=16 n=64"; all others, but
 * the phase, which they follow, name groups: ", batch 16". */
static void put_axes(struct roof_text *out, const struct work *w, const void *asked, bool name)
{
    const bool model = w->grid.sweep.model != NULL;
    for (size_t i = 0; i < w->grid.sweep.axis_count; i++) {
        const struct roof_axis *const axis = &w->grid.sweep.axis[i];
        const struct roof_input *const input = axis->input;
        const bool size = !model && input->kind == ROOF_INPUT_INTEGER;
        if (axis->values.count == 1 || size != name || input == roof_input(ROOF_INPUT_PHASE)) {
            continue;
        }
        if (name) {
            roof_text_printf(out, "%s%s=", out->length == 0 ? "" : " ", input->option);
        } else {
            roof_text_printf(out, ", %s ", input->option);
        }
        roof_input_show(out, input, roof_input_get(asked, input));
    }
}

/* Dots of an operator are named by their sizes and grouped by the rest. */
static enum roof_status add_operator(struct work *w, const struct roof_prediction *prediction,
                                     struct roof_error *error)
{
    struct roof_prediction with_time;
    if (w->measured_s > 0) {
        with_time = *prediction;
        roof_predict_measured(&with_time, w->measured_s);
        prediction = &with_time;
    }
    roof_text_put(&w->group, roof_operator_row(prediction->workload.op)->name);
    put_axes(&w->group, w, &prediction->workload, false);
    put_axes(&w->name, w, &prediction->workload, true);
    if (w->name.length == 0) {
        roof_report_workload(&w->name, &prediction->workload);
    }
    return w->name.failed || w->group.failed
               ? roof_no_memory(error)
               : roof_chart_add(&w->chart, prediction, w->name.data, w->group.data, 1, ROOF_UNKNOWN,
                                error);
}

/* Dots of a model are its operators, grouped by the scenario. */
static enum roof_status add_model(struct work *w, const struct roof_model_prediction *inference,
                                  const char *group, struct roof_error *error)
{
    if (inference->count == 0) {
        return roof_error_set(error, ROOF_USAGE,
                              "a request has no operators of one pass: plot it with --phase "
                              "decode,prefill and --context");
    }
    return roof_chart_add_model(&w->chart, inference, group, w->top, error);
}

static enum roof_status on_point(void *context, const struct roof_prediction *prediction,
                                 struct roof_error *error)
{
    struct work *const w = context;
    roof_text_clear(&w->name);
    roof_text_clear(&w->group);
    if (w->grid.sweep.model == NULL) {
        return add_operator(w, prediction, error);
    }
    const struct roof_model_prediction *const inference =
        (const struct roof_model_prediction *)(const void *)prediction; /* begins with it */
    if (w->grid.models > 1) {
        roof_text_printf(&w->group, "%s ", inference->model->id);
    }
    roof_text_put(&w->group, inference->phase);
    put_axes(&w->group, w, &inference->scenario, false);
    return w->group.failed ? roof_no_memory(error) : add_model(w, inference, w->group.data, error);
}

static enum roof_status add_grid(struct work *w, struct roof_error *error)
{
    uint64_t count = 0;
    enum roof_status status = cli_grid_open(&w->grid, w->options, error);
    if (status == ROOF_OK) {
        status = add_roofs(w, error);
    }
    if (status == ROOF_OK) {
        status = roof_sweep_count(&count, &w->grid.sweep, error);
    }
    if (status == ROOF_OK && count > ROOF_CHART_DOTS_MAX) {
        status =
            roof_error_set(error, ROOF_USAGE, "a chart has at most %d dots", ROOF_CHART_DOTS_MAX);
    }
    if (status == ROOF_OK && w->measured_s > 0 && count > 1) {
        status = roof_error_set(error, ROOF_USAGE,
                                "--measured is the time of one dot, not of %" PRIu64
                                ": --from FILE takes a time for each",
                                count);
    }
    return status == ROOF_OK ? roof_sweep_run(&w->grid.sweep, 0, count, on_point, w, error)
                             : status;
}

/* --- dots of a file ------------------------------------------------------------------------ */

static enum roof_status on_model(void *context, const struct roof_model **out, const char *name,
                                 const char *layout, struct roof_error *error)
{
    struct work *const w = context;
    return cli_known_model(&w->known, out, name, layout, error);
}

static void on_bad(void *context, const struct roof_error *error)
{
    const struct work *const w = context;
    cli_bad_record("plot", &w->records, error);
}

/* The cell of a column that is carried through; "" without it. */
static const char *carried(const struct roof_records *records, const char *name)
{
    for (size_t i = 0; i < records->carried_count; i++) {
        if (strcmp(records->carried[i].name, name) == 0) {
            return records->carried[i].text;
        }
    }
    return "";
}

/* A device of -H, which may be a file, or another one that is known by name. */
static enum roof_status find_device(struct work *w, const struct roof_hardware **out,
                                    const char *name, struct roof_error *error)
{
    for (size_t i = 0; i < w->grid.devices; i++) {
        if (strcmp(w->grid.device[i]->id, name) == 0) {
            *out = w->grid.device[i];
            return ROOF_OK;
        }
    }
    return cli_known_hardware(&w->known, out, name, error);
}

/* What is wrong with a record is told, and is no failure. */
static enum roof_status add_record(struct work *w, struct roof_error *error)
{
    struct roof_records *const records = &w->records;
    const struct roof_hardware *hardware = NULL;
    const struct roof_prediction *prediction = NULL;
    enum roof_status status = find_device(w, &hardware, records->hardware, error);
    if (status == ROOF_OK && roof_chart_find_roof(&w->chart, hardware->id) == w->chart.roofs) {
        status = add_roof(w, hardware, error);
    }
    if (status == ROOF_OK) {
        status = roof_records_predict(&prediction, records, hardware, error);
    }
    if (status == ROOF_OK) {
        const char *const name = carried(records, "name");
        const char *const group = carried(records, "group");
        const char *const what = records->inference != NULL
                                     ? records->inference->phase
                                     : roof_operator_row(prediction->workload.op)->name;
        if (records->inference != NULL) {
            return add_model(w, records->inference,
                             *group != '\0'  ? group
                             : *name != '\0' ? name
                                             : what,
                             error);
        }
        return roof_chart_add(&w->chart, prediction, *name == '\0' ? what : name,
                              *group == '\0' ? what : group, 1, ROOF_UNKNOWN, error);
    }
    if (status != ROOF_MEMORY) {
        roof_records_refuse(records, error);
        status = ROOF_OK;
    }
    return status;
}

static enum roof_status add_file(struct work *w, bool *bad, struct roof_error *error)
{
    const struct cli_options *const options = w->options;
    const bool model = cli_is_model(options);
    enum roof_status status = cli_scenario(&w->base, options, error);
    if (status == ROOF_OK) {
        status = cli_grid_devices(&w->grid, options, error);
    }
    if (status == ROOF_OK && model) {
        status = cli_draft(&w->grid.draft, &w->base, options, error);
    }
    if (status == ROOF_OK && options->value[ROOF_INPUT_HARDWARE] != NULL) {
        status = add_roofs(w, error);
    }
    const struct roof_records_options how = {
        .base = &w->base,
        .kind = model ? ROOF_RECORDS_MODELS : ROOF_RECORDS_BOTH,
        .op = model || options->operand_count == 0 ? ROOF_OPERATOR_COUNT : w->base.common.op,
        .hardware = status == ROOF_OK ? w->grid.device[0]->id : NULL,
        .model = options->operand_count > 1 ? options->operand[1] : NULL,
        .context = w,
        .load_model = on_model,
        .bad = on_bad};
    if (status == ROOF_OK) {
        status = roof_records_open(&w->records, options->value[ROOF_INPUT_FROM], &how, error);
    }
    bool more = status == ROOF_OK;
    while (status == ROOF_OK && more) {
        status = roof_records_next(&w->records, &more, error);
        if (status == ROOF_OK && more) {
            status = add_record(w, error);
        }
    }
    *bad = w->records.bad > 0;
    if (status == ROOF_OK) {
        static const char *const used[] = {"name", "group", NULL};
        cli_tell_carried("plot: not read: ", &w->records, used);
        cli_bad_records("plot", &w->records);
    }
    if (status == ROOF_OK && w->records.count == 0) {
        status = roof_error_at(error, ROOF_INVALID, w->records.name, 0, 0, "no records");
    }
    if (status == ROOF_OK && w->chart.roofs == 0) { /* all records are bad */
        status = add_roofs(w, error);
    }
    return status;
}

/* --- output -------------------------------------------------------------------------------- */

static bool is_unicode(int64_t choice)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables && choice == AUTO; i++) {
        const char *const locale = getenv(variables[i]);
        if (locale != NULL && *locale != '\0') {
            return strstr(locale, "UTF-8") != NULL || strstr(locale, "utf8") != NULL;
        }
    }
    return choice == UNICODE;
}

static size_t columns_of(const struct work *w)
{
    struct winsize size = {0};
    if (w->width > 0) {
        return (size_t)w->width;
    }
    if (w->options->value[ROOF_INPUT_OUTPUT] != NULL || !isatty(STDOUT_FILENO) ||
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return COLUMNS_DEFAULT;
    }
    return size.ws_col < ROOF_CHART_COLUMNS_MIN   ? ROOF_CHART_COLUMNS_MIN
           : size.ws_col > ROOF_CHART_COLUMNS_MAX ? ROOF_CHART_COLUMNS_MAX
                                                  : size.ws_col;
}

static enum roof_status draw(struct roof_text *out, const struct work *w, struct roof_error *error)
{
    const char *const path = w->options->value[ROOF_INPUT_OUTPUT];
    const bool printed = path == NULL || strcmp(path, "-") == 0;
    if ((w->format == PNG || w->format == PDF) && printed && isatty(STDOUT_FILENO)) {
        return roof_error_set(error, ROOF_USAGE,
                              "an image is not for the terminal: -o NAME, or into a pipe");
    }
    if (w->format == TEXT) {
        return roof_chart_text(out, &w->chart, columns_of(w), is_unicode(w->charset), error);
    }
    if (w->format == JSON) {
        roof_chart_json(out, &w->chart);
        return ROOF_OK;
    }
    if (w->format == HTML) {
        struct roof_page_sizes sizes;
        const bool slides = cli_page_grid(&sizes, &w->grid, w->options);
        return roof_chart_page(out, &w->chart, slides ? &sizes : NULL, error);
    }
    const int width = w->width == 0 ? WIDTH_DEFAULT : (int)w->width;
    const int height = w->height == 0 ? width * HEIGHT_DEFAULT / WIDTH_DEFAULT : (int)w->height;
    const enum roof_chart_image image = w->format == PNG   ? ROOF_CHART_PNG
                                        : w->format == PDF ? ROOF_CHART_PDF
                                                           : ROOF_CHART_SVG;
    struct roof_text script = ROOF_TEXT_INIT;
    struct roof_text *const to = w->format == GNUPLOT ? out : &script;
    enum roof_status status = roof_chart_gnuplot(to, &w->chart, image, width, height, error);
    if (status == ROOF_OK && w->format != GNUPLOT) {
        status = script.failed ? roof_no_memory(error) : cli_gnuplot(out, &script, error);
    }
    roof_text_free(&script);
    return status;
}

/* An image has a title even if none was given. */
static enum roof_status name_chart(struct work *w, struct roof_error *error)
{
    struct roof_text text = ROOF_TEXT_INIT;
    enum roof_status status = ROOF_OK;
    if (w->chart.title[0] == '\0') {
        const struct cli_options *const options = w->options;
        if (cli_is_model(options) && options->operand_count > 1) {
            roof_text_printf(&text, "%s on ", options->operand[1]);
        }
        for (size_t i = 0; i < w->chart.roofs; i++) {
            roof_text_printf(&text, "%s%s", i == 0 ? "" : ", ", w->chart.roof[i].hardware->name);
        }
        status = text.failed ? roof_no_memory(error) : ROOF_OK;
        roof_chart_name(w->chart.title, text.failed || text.length == 0 ? "" : text.data);
    }
    roof_text_free(&text);
    return status;
}

static enum roof_status run(struct work *w, bool *bad, struct roof_error *error)
{
    const struct cli_options *const options = w->options;
    enum roof_status status = read_options(w, error);
    if (status == ROOF_OK && options->value[ROOF_INPUT_FROM] != NULL) {
        status = add_file(w, bad, error);
    } else if (status == ROOF_OK && options->operand_count > 0) {
        status = add_grid(w, error);
    } else if (status == ROOF_OK) {
        status = cli_grid_devices(&w->grid, options, error);
        status = status == ROOF_OK ? add_roofs(w, error) : status;
    }
    for (int i = 0; i < options->lines.count && status == ROOF_OK; i++) {
        status = roof_chart_add_line(&w->chart, options->lines.value[i], error);
    }
    if (status == ROOF_OK && options->value[ROOF_INPUT_ATTAINABLE] != NULL) {
        status = roof_chart_add_attainable(&w->chart, error);
    }
    if (status != ROOF_OK) {
        return status;
    }
    struct roof_text text = ROOF_TEXT_INIT;
    status = name_chart(w, error);
    if (status == ROOF_OK) {
        status = draw(&text, w, error);
    }
    if (status == ROOF_OK) {
        status = cli_output_all(options->value[ROOF_INPUT_OUTPUT], &text, error);
    }
    roof_text_free(&text);
    return status;
}

static enum roof_status plot(const struct cli_options *options, bool *bad, struct roof_error *error)
{
    struct work *const w = calloc(1, sizeof *w); /* large */
    if (w == NULL) {
        return roof_no_memory(error);
    }
    w->options = w->known.options = options;
    roof_chart_init(&w->chart);
    const enum roof_status status = run(w, bad, error);
    roof_records_close(&w->records);
    roof_chart_free(&w->chart);
    roof_text_free(&w->name);
    roof_text_free(&w->group);
    cli_grid_close(&w->grid);
    cli_known_free(&w->known);
    free(w);
    return status;
}

int cli_plot(const struct cli_command *command, int argc, char **argv)
{
    struct roof_error error = {0};
    struct cli_options options;
    bool bad = false;
    enum roof_status status = cli_options(&options, command, argc, argv, &error);
    if (status == ROOF_OK && options.help) {
        return 0;
    }
    if (status == ROOF_OK) {
        status = plot(&options, &bad, &error);
    }
    return status != ROOF_OK ? cli_fail(command->name, &error)
           : bad             ? cli_exit_code(ROOF_INVALID)
                             : 0;
}
