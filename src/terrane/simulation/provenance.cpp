#include "terrane/simulation/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "terrane/base/version.hpp"

namespace terrane {

namespace {

/// The time now, or of SOURCE_DATE_EPOCH so that a result can be made again bit for bit.
std::string date_text() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH")) now = std::strtoll(fixed, nullptr, 10);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace

std::map<std::string, std::string> provenance(std::string_view physics, const std::string& job) {
  std::map<std::string, std::string> all{{"program", "terrane"},
                                         {"version", std::string(version())},
                                         {"build", version_line()},
                                         {"date", date_text()},
                                         {"physics", std::string(physics)}};
  if (!job.empty()) all["job"] = job;
  return all;
}

}  // namespace terrane
