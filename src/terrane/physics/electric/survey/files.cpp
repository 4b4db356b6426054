#include "terrane/physics/electric/survey/files.hpp"

namespace terrane::electric {

Measured read_measured(const std::filesystem::path& file, const UbcColumn& column) {
  auto in = io::TextReader::open(file.string());
  return io::read_arrays(in, column);
}

}  // namespace terrane::electric
