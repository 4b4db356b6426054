#include "terrane/physics/electromagnetic/correction.hpp"

#include <algorithm>
#include <cmath>

namespace terrane::electromagnetic {

namespace {

enum class Mean { arithmetic, geometric };

/// Replaces the values of all cells of a layer by their mean over the cells at the sides; if these are equal,
/// the mean equals them bitwise.
void even_out(const TensorMesh& mesh, Mean mean, std::vector<double>& values) {
  if (values.empty()) return;
  const std::size_t east = mesh.n_east(), north = mesh.n_north();
  for (std::size_t k = 0; k < mesh.n_up(); ++k) {
    const double first = values[mesh.index(0, 0, k)];
    bool alike = true;
    double sum = 0, count = 0;
    for (std::size_t j = 0; j < north; ++j)
      for (std::size_t i = 0; i < east; ++i) {
        if (i > 0 && i + 1 < east && j > 0 && j + 1 < north) continue;
        const double value = values[mesh.index(i, j, k)];
        alike = alike && value == first;
        sum += mean == Mean::geometric ? std::log(value) : value;
        ++count;
      }
    const double even = alike ? first : mean == Mean::geometric ? std::exp(sum / count) : sum / count;
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(mesh.index(0, 0, k));
    std::fill_n(begin, east * north, even);
  }
}

}  // namespace

Problem over_its_layers(const Problem& problem) {
  auto layered = problem;
  layered.parameters.field = Field::total;
  layered.electric_volume = layered.magnetic_volume = layered.edge_volume = false;
  for (std::size_t a = 0; a < 3; ++a) {
    even_out(layered.mesh, Mean::geometric, layered.conductivity[a]);
    even_out(layered.mesh, Mean::arithmetic, layered.quadrature[a]);
  }
  even_out(layered.mesh, Mean::geometric, layered.contrasts);
  for (auto* values : {&layered.chargeability, &layered.charge_time, &layered.charge_exponent})
    even_out(layered.mesh, Mean::arithmetic, *values);
  return layered;
}

void correct_by_layers(const Problem& layered, const Outcome& its_outcome, int threads, Outcome& outcome) {
  const std::size_t each = layered.data_of_a_solve();
  for (std::size_t solve = 0; solve < layered.solves(); ++solve) {
    const double hertz = layered.frequencies[solve % layered.frequencies.size()];
    const auto closed =
        fields_of_layers(layered, layers_of_sides(layered.mesh, layered.sigma(hertz)), solve, threads);
    for (std::size_t n = 0; n < each; ++n)
      outcome.data[solve * each + n] += closed[n] - its_outcome.data[solve * each + n];
    if (outcome.solves[solve].converged() && !its_outcome.solves[solve].converged())
      outcome.solves[solve] = its_outcome.solves[solve];
  }
}

}  // namespace terrane::electromagnetic
