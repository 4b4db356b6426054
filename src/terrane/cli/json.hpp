// The output of `check`, `run`, `invert` and `info` with --json: an object for each simulation or file, one a
// line. Its names are those of the reports in Python; NaN and infinity become null.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/simulation/report.hpp"

namespace terrane::cli {

/// The parts of the object beside the facts of a plan or a report.
struct JsonFrame {
  std::string verb, job, simulation;                   ///< "check", "job.toml", "gravity" or empty
  std::vector<std::string> files = {}, warnings = {};  ///< written, or that would be; beside the report's
};

std::string to_json(const Plan& plan, const JsonFrame& frame);
std::string to_json(const Report& report, const JsonFrame& frame);
/// The content of a file: its kind, and the unit, shape and range of each column, field or variable.
std::string to_json(const io::Content& content, std::string_view file);

}  // namespace terrane::cli
