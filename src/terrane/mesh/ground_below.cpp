#include "terrane/mesh/ground_below.hpp"

#include <algorithm>

namespace terrane {

std::vector<double> ground_below(const TensorMesh& mesh,
                                 const std::function<double(double, double)>& height) {
  constexpr std::size_t samples = 8;
  std::vector<double> share(mesh.size());
  const auto at = [](const std::vector<double>& faces, std::size_t cell, std::size_t sample) {
    const double part = (static_cast<double>(sample) + 0.5) / samples;
    return faces[cell] + part * (faces[cell + 1] - faces[cell]);
  };
  for (std::size_t j = 0; j < mesh.n_north(); ++j)
    for (std::size_t i = 0; i < mesh.n_east(); ++i)
      for (std::size_t s = 0; s < samples * samples; ++s) {
        const double ground = height(at(mesh.easting(), i, s % samples), at(mesh.northing(), j, s / samples));
        for (std::size_t k = 0; k < mesh.n_up(); ++k) {
          const double bottom = mesh.up()[k], top = mesh.up()[k + 1];
          share[mesh.index(i, j, k)] +=
              std::clamp((ground - bottom) / (top - bottom), 0.0, 1.0) / (samples * samples);
        }
      }
  return share;
}

}  // namespace terrane
