#include "terrane/simulation/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "terrane/base/error.hpp"
#include "terrane/base/version.hpp"
#include "terrane/io/file.hpp"

namespace terrane {

std::string date_text() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH"); fixed != nullptr && *fixed != '\0') {
    constexpr std::int64_t end_of_9999 = 253402300799;
    std::int64_t seconds = -1;
    if (!io::parse_integer(fixed, seconds) || seconds < 0 || seconds > end_of_9999)
      throw InputError("SOURCE_DATE_EPOCH", fmt::format("\"{}\" is no time", io::shown(fixed)),
                       fmt::format("Allowed: seconds since 1970, 0 to {}; or unset it.", end_of_9999));
    now = static_cast<std::time_t>(seconds);
  }
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::map<std::string, std::string> provenance(std::string_view physics, const JobOrigin& job) {
  std::map<std::string, std::string> all{{"program", "terrane"},
                                         {"version", std::string(version())},
                                         {"build", version_line()},
                                         {"date", date_text()},
                                         {"physics", std::string(physics)}};
  if (!job.text.empty()) all["job"] = job.text;
  if (!job.projection.empty()) all["projection"] = job.projection;
  return all;
}

}  // namespace terrane
