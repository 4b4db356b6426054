#include "terrane/base/version.hpp"

#include <fmt/format.h>

#include "terrane/base/build_info.hpp"

namespace terrane {

std::string_view version() { return TERRANE_VERSION; }
std::string_view commit() { return TERRANE_COMMIT; }
std::string_view compiler() { return TERRANE_COMPILER; }
std::string_view build_type() { return TERRANE_BUILD_TYPE; }
std::string_view features() { return TERRANE_FEATURES; }

std::string version_line() {
  return fmt::format("terrane {} ({}), {} {}, {}", version(), commit(), compiler(), build_type(), features());
}

}  // namespace terrane
