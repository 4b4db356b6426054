// Where a result comes from: attributes of every file.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace terrane {

/// program, version, build, date, physics, and the job where there was one.
std::map<std::string, std::string> provenance(std::string_view physics, const std::string& job);

/// The time now, or of SOURCE_DATE_EPOCH so that a result can be made again bit for bit. Throws InputError.
std::string date_text();

}  // namespace terrane
