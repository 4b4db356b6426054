// A medium on a regular grid of points (io/tomography.hpp). Between points speeds and density are trilinear;
// outside the grid they are those at its edge; and they are kept between the limits of the file.
#pragma once

#include <filesystem>
#include <string>

#include "terrane/io/tomography.hpp"
#include "terrane/physics/elastic/element/hexahedron.hpp"
#include "terrane/physics/elastic/element/medium.hpp"

namespace terrane::elastic {

class Tomography {
 public:
  /// Throws FileError; InputError, with the line, for a grid whose numbers do not agree or for values that no
  /// medium has.
  static Tomography read(const std::filesystem::path& file);
  static Tomography read(const std::string& name, std::string text);

  Medium at(const Vector& place) const;

 private:
  static constexpr std::size_t most = io::TomographyFile::most;
  io::TomographyFile grid_;
  std::string name_;
};

}  // namespace terrane::elastic
