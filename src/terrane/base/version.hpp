// The version of this build of Terrane. It is written into every result.
#pragma once

#include <string>
#include <string_view>

namespace terrane {

std::string_view version();     ///< "0.1.0"
std::string_view commit();      ///< "1a2b3c4d5e6f", "…-dirty" with uncommitted changes, or "unknown"
std::string_view compiler();    ///< "GNU 12.2.0"
std::string_view build_type();  ///< "Release"
std::string_view features();    ///< "OpenMP 4.5, NetCDF 4.9.0, HDF5 1.10.8, PROJ 9.1.1"

/// "terrane 0.1.0 (1a2b3c4d5e6f), GNU 12.2.0 Release, OpenMP 4.5, ..."
std::string version_line();

}  // namespace terrane
