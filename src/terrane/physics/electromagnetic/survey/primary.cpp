#include "terrane/physics/electromagnetic/survey/primary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/parallel/threads/for_each_box.hpp"

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;
constexpr double vacuum_permeability = 4e-7 * std::numbers::pi;

struct Layer {
  Z conductivity;
  bool alike;
};

/// The conductivity of one layer, from its cells at the sides of the mesh.
Layer layer_at_sides(const TensorMesh& mesh, const Sigma& sigma, std::size_t axis, std::size_t k) {
  const std::size_t east = mesh.n_east(), north = mesh.n_north();
  const Z first = sigma(axis, mesh.index(0, 0, k));
  bool alike = true;
  Z sum = 0;
  double count = 0;
  const auto take = [&](std::size_t i, std::size_t j) {
    const Z value = sigma(axis, mesh.index(i, j, k));
    alike = alike && value == first;
    sum += std::log(value);
    count += 1;
  };
  for (std::size_t i = 0; i < east; ++i) {
    take(i, 0);
    take(i, north - 1);
  }
  for (std::size_t j = 1; j + 1 < north; ++j) {
    take(0, j);
    take(east - 1, j);
  }
  return {alike ? first : std::exp(sum / count), alike};
}

}  // namespace

Layers layers_of_sides(const TensorMesh& mesh, const Sigma& sigma) {
  Layers layers;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t k = 0; k < mesh.n_up(); ++k) {
      const auto layer = layer_at_sides(mesh, sigma, a, k);
      layers.conductivity[a].push_back(layer.conductivity);
      layers.alike = layers.alike && layer.alike;
    }
  return layers;
}

std::vector<Z> plane_wave(const TensorMesh& mesh, const Layers& layers, int axis, double hertz) {
  constexpr int more = 60;
  constexpr double growth = 1.25;
  const double omega_mu = 2 * std::numbers::pi * hertz * vacuum_permeability;
  // Cell heights and conductivities from the lowest cell upwards: the further cells, then those of the mesh.
  std::vector<double> h;
  std::vector<Z> sigma;
  const auto& own = layers.conductivity[static_cast<std::size_t>(axis)];
  for (std::size_t k = 0; k < mesh.n_up(); ++k) {
    h.push_back(mesh.up()[k + 1] - mesh.up()[k]);
    sigma.push_back(own[k]);
  }
  const double last = h.front();
  for (int n = 1; n <= more; ++n) {
    h.insert(h.begin(), last * std::pow(growth, n));
    sigma.insert(sigma.begin(), own.front());
  }
  // E_{k−1} = ratio_k E_k, computed upwards from E = 0 at the lowest node; no sum loses digits by
  // cancellation.
  std::vector<Z> ratio(h.size() + 1, 0.0);
  for (std::size_t k = 1; k < h.size(); ++k) {
    const Z diagonal = (1.0 - ratio[k]) / h[k - 1] +
                       Z(0, omega_mu / 2) * (sigma[k - 1] * h[k - 1] + sigma[k] * h[k]) + 1 / h[k];
    ratio[k + 1] = 1 / h[k] / diagonal;
  }
  std::vector<Z> field(mesh.n_up() + 1);
  field.back() = 1;
  for (std::size_t k = mesh.n_up(); k > 0; --k) field[k - 1] = ratio[k + more] * field[k];
  return field;
}

void fill_contrast(Stream& stream, const Metric& metric, const Sigma& sigma, const Background& background,
                   const EdgeField& primary, double omega_mu, EdgeVector& b) {
  const auto width = [&](int a, Index n) {
    return metric.width[static_cast<std::size_t>(a)][static_cast<std::size_t>(n)];
  };
  for (int axis = 0; axis < 3; ++axis) {
    const auto n = static_cast<std::size_t>(axis);
    const auto box = b.e[n].points();
    const auto count = static_cast<std::size_t>(box.count());
    if (count == 0) continue;
    std::vector<double> values(2 * count, 0.0);
    const View<double, 3> re(values.data(), box), im(values.data() + count, box);
    const int b_axis = (axis + 1) % 3, e_axis = (axis + 2) % 3;
    for_each(box, stream.threads(), [&](Index k, Index j, Index i) {
      const std::array<Index, 3> place{k, j, i};
      Z sum = 0;  // Σ (σ − σ_p)V/4 over the four cells
      for (Index corner = 0; corner < 4; ++corner) {
        auto cell = place;
        cell[static_cast<std::size_t>(b_axis)] += corner & 1;
        cell[static_cast<std::size_t>(e_axis)] += corner >> 1;
        const auto number =
            static_cast<std::size_t>((cell[0] * metric.cells(1) + cell[1]) * metric.cells(2) + cell[2]);
        sum += (sigma(n, number) - background(n, cell)) *
               (width(0, cell[0]) * width(1, cell[1]) * width(2, cell[2]) / 4);
      }
      if (sum == 0.0) return;
      const Z moment = Z(0, -omega_mu) * sum * primary(axis, place);
      re(k, j, i) = moment.real();
      im(k, j, i) = moment.imag();
    });
    b.e[n].upload(stream, values);
  }
}

Z value(const EdgeSum& sum, const Metric& metric, const EdgeField& primary) {
  Z total = 0;
  for (const auto& term : sum) {
    const auto box = metric.edges(term.axis);
    const auto n = static_cast<Index>(term.edge);
    total += term.weight * primary(term.axis, {n / (box.size(2) * box.size(1)), n / box.size(2) % box.size(1),
                                               n % box.size(2)});
  }
  return total;
}

}  // namespace terrane::electromagnetic
