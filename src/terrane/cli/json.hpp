// Writes the output of `check`, `run`, `invert` and `info` with --json: one JSON object for each simulation
// or file, each on a line of its own. Names are those of the reports in Python; NaN and infinity become null.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/simulation/report.hpp"

namespace terrane::cli {

/// The members of the object that do not come from a plan or a report.
struct JsonFrame {
  std::string verb, job, simulation;  ///< "check", "job.toml", "gravity" or empty
  /// `files`: names of the files that were written or, for `check`, would be written; `warnings`: warnings in
  /// addition to those of the report
  std::vector<std::string> files = {}, warnings = {};
};

std::string to_json(const Plan& plan, const JsonFrame& frame);
std::string to_json(const Report& report, const JsonFrame& frame);
/// Describes the content of a file: its kind, and the unit, shape and range of each column, field or
/// variable.
std::string to_json(const io::Content& content, std::string_view file);

}  // namespace terrane::cli
