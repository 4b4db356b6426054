// How a result was made: attributes of every output file.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace terrane {

/// Information on the job of a run, which the run's output files repeat.
struct JobOrigin {
  std::string text;        ///< text of the job file; empty when there was none
  std::string projection;  ///< projection of the coordinates, as PROJ text; empty if they are local
};

/// Attributes: program, version, build, date, physics and, if there are any, the job's text and projection.
std::map<std::string, std::string> provenance(std::string_view physics, const JobOrigin& job);

/// The present time, or that of SOURCE_DATE_EPOCH, so that files can be reproduced bit for bit. Throws
/// InputError.
std::string date_text();

}  // namespace terrane
