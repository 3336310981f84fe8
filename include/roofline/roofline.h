// SPDX-License-Identifier: MIT
/**
 * roofline: how fast transformers and their operators can run on a device at a precision, what
 * limits them, and what to change.
 *
 * The headers, in the order of their layers (each includes only earlier ones):
 *
 *   status.h     status codes and the error object
 *   quantity.h   numbers with units: parsing, ranges, formatting
 *   text.h       a growing buffer: where output is written
 *   precision.h  the number-format catalog
 *   hardware.h   devices: figures with sources, the registry
 *   operator.h   operators: from a shape and formats to FLOPs and bytes
 *   calibration.h parameters of the expected time, fitted to measured kernels
 *   kernel.h     the time to expect of a kernel
 *   predict.h    work and hardware to time: the roofline
 *   explain.h    a prediction taken apart, with its sources
 *   model.h      the description of a transformer
 *   layout.h     what quantised checkpoints quantise
 *   config.h     models from files: config.json, GGUF, safetensors
 *   scenario.h   a model at work: phase, lengths, formats and split over devices
 *   graph.h      the operators of a model in a scenario
 *   inference.h  operators meet a device: time, tokens/s, memory, limits
 *   study.h      a model on a device in many scenarios
 *   engine.h     what serving engines run where
 *   plan.h       how to serve a model: a search under constraints
 *   request.h    the input keys: options, axes, values from text
 *   sweep.h      a grid of predictions
 *   recommend.h  which format to use, and why not the others
 *   table.h      rows of results as text, JSON, NDJSON, CSV, Markdown
 *   records.h    files of which each row or line asks for a prediction
 *   compare.h    measured times against predictions
 *   check.h      files of expected values
 *   report.h     documents about one result
 *   model_report.h documents about a model
 *   study_report.h the document about a study
 *   chart.h      a roofline chart as data
 *   chart_report.h a chart as text, script of gnuplot, JSON
 *   plan_report.h documents about a search of plans
 *   check_report.h what checks came to
 *
 * Rules that hold for all of them:
 *
 * Units      SI base units in double: FLOP, byte, second, FLOP/s, byte/s. A count and a rate never
 *            share a name. NAN is "unknown"; it is never 0 and never guessed. Keys of files and
 *            reports carry their unit in the name, and convert in one place (quantity.h).
 * Errors     A function that can fail returns enum roof_status and fills the struct roof_error at
 *            the end of its parameters, which may be NULL. On failure an out-parameter is empty
 *            or unchanged. Nothing prints, nothing exits.
 * Ownership  Out-parameters come first. What a _load, _parse or _open function makes belongs to the
 *            caller and has a _free, which accepts NULL or an empty object. Pointers in results
 *            that are called borrowed belong to what was passed in.
 * C++        The headers may be included from C++.
 * Threads    There is no mutable global state. Const objects may be shared; an object that is
 *            written belongs to one thread. roof_predict allocates nothing and takes no lock.
 */
#ifndef ROOFLINE_ROOFLINE_H
#define ROOFLINE_ROOFLINE_H

#define ROOF_VERSION_MAJOR 0
#define ROOF_VERSION_MINOR 1
#define ROOF_VERSION_PATCH 0

#include "roofline/status.h"

#include "roofline/quantity.h"

#include "roofline/text.h"

#include "roofline/precision.h"

#include "roofline/hardware.h"

#include "roofline/operator.h"

#include "roofline/calibration.h"

#include "roofline/kernel.h"

#include "roofline/predict.h"

#include "roofline/trace.h"

#include "roofline/model.h"

#include "roofline/layout.h"

#include "roofline/config.h"

#include "roofline/scenario.h"

#include "roofline/graph.h"

#include "roofline/model_prediction.h"

#include "roofline/survey.h"

#include "roofline/speedup.h"

#include "roofline/engine.h"

#include "roofline/emit.h"
#include "roofline/plan.h"

#include "roofline/plan_speedup.h"

#include "roofline/input.h"

#include "roofline/sweep.h"

#include "roofline/recommend.h"

#include "roofline/crossover.h"

#include "roofline/table.h"

#include "roofline/records.h"

#include "roofline/compare.h"

#include "roofline/check.h"

#include "roofline/report.h"

#include "roofline/model_report.h"

#include "roofline/survey_report.h"

#include "roofline/chart.h"
#include "roofline/chart_page.h"
#include "roofline/chart_text.h"

#include "roofline/engine_report.h"
#include "roofline/plan_report.h"

#include "roofline/speedup_report.h"

#include "roofline/check_report.h"

#endif
