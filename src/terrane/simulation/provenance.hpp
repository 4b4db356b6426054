// Where a result comes from: what stands in every file beside its numbers.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace terrane {

/// program, version, build, date, physics, and the job where there was one.
std::map<std::string, std::string> provenance(std::string_view physics, const std::string& job);

}  // namespace terrane
