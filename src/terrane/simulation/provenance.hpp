// Where a result comes from: attributes of every file.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace terrane {

/// What the files of a run repeat of the job that asked for it.
struct JobOrigin {
  std::string text;        ///< text of the job file; empty when there was none
  std::string projection;  ///< projection of the coordinates, as PROJ takes it; empty when they are local
};

/// program, version, build, date, physics, and where there are such the job and its projection.
std::map<std::string, std::string> provenance(std::string_view physics, const JobOrigin& job);

/// The time now, or of SOURCE_DATE_EPOCH so that a result can be made again bit for bit. Throws InputError.
std::string date_text();

}  // namespace terrane
