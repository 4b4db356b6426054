// A medium on a regular grid of points (io/tomography.hpp). Speeds and density are interpolated trilinearly;
// outside the grid they are continued by the values at its edge; they are clipped to the limits that the file
// states.
#pragma once

#include <filesystem>
#include <string>

#include "terrane/io/tomography.hpp"
#include "terrane/physics/elastic/element/hexahedron.hpp"
#include "terrane/physics/elastic/element/medium.hpp"

namespace terrane::elastic {

class Tomography {
 public:
  /// Throws FileError; InputError, with the line, for inconsistent numbers of the grid or impossible values
  /// of a medium.
  static Tomography read(const std::filesystem::path& file);
  static Tomography read(const std::string& name, std::string text);

  Medium at(const Vector& place) const;

 private:
  static constexpr std::size_t most = io::TomographyFile::most;
  io::TomographyFile grid_;
  std::string name_;
};

}  // namespace terrane::elastic
