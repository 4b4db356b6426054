// Outline: add further cells below the section; set up the equations as a banded matrix, solved by LDLᵀ;
// return values on edges.
#include "terrane/physics/electromagnetic/survey/section.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;
constexpr std::size_t more =
    24;  // number of further cells below; they reach 50,000 times the height of the lowest cell
constexpr double growth = 1.5;

/// A symmetric (not Hermitian) banded matrix: no entries farther than `band` from the diagonal.
class Banded {
 public:
  Banded(std::size_t size, std::size_t band) : size_(size), band_(band), lower_(size * (band + 1)) {}
  /// The entry of a row and a column, row ≥ column.
  Z& at(std::size_t row, std::size_t column) { return lower_[row * (band_ + 1) + (row - column)]; }
  /// Adds a conductance between two unknowns.
  void link(std::size_t one, std::size_t other, Z value) {
    at(one, one) += value;
    at(other, other) += value;
    at(std::max(one, other), std::min(one, other)) -= value;
  }
  /// Replaces b by the solution x of A x = b; destroys A.
  void solve(std::vector<Z>& b) {
    std::vector<Z> kept(band_ + 1);
    for (std::size_t j = 0; j < size_; ++j) {  // factorises A = L D Lᵀ, column by column
      const std::size_t last = std::min(size_, j + band_ + 1);
      const Z pivot = 1.0 / at(j, j);
      for (std::size_t i = j + 1; i < last; ++i) kept[i - j] = at(i, j) * pivot;
      for (std::size_t i = j + 1; i < last; ++i) {
        if (kept[i - j] == 0.0) continue;
        for (std::size_t k = j + 1; k <= i; ++k) at(i, k) -= kept[i - j] * at(k, j);
      }
      for (std::size_t i = j + 1; i < last; ++i) {
        b[i] -= kept[i - j] * b[j];
        at(i, j) = kept[i - j];
      }
    }
    for (std::size_t j = size_; j-- > 0;) {
      b[j] /= at(j, j);
      for (std::size_t i = j + 1; i < std::min(size_, j + band_ + 1); ++i) b[j] -= at(i, j) * b[i];
    }
  }

 private:
  std::size_t size_, band_;
  std::vector<Z> lower_;
};

/// The cells of a section, including the further cells below; levels from the lowest.
struct Cells {
  std::vector<double> high, wide;
  std::array<std::vector<Z>, 3> sigma;  // [level, across] conductivities along each axis

  Cells(const TensorMesh& mesh, const CrossSection& section) {
    const auto& across = section.strike == 1 ? mesh.easting() : mesh.northing();
    for (std::size_t i = 0; i + 1 < across.size(); ++i) wide.push_back(across[i + 1] - across[i]);
    const double last = mesh.up()[1] - mesh.up()[0];
    for (std::size_t n = more; n > 0; --n) high.push_back(last * std::pow(growth, static_cast<double>(n)));
    for (std::size_t k = 0; k < mesh.n_up(); ++k) high.push_back(mesh.up()[k + 1] - mesh.up()[k]);
    for (std::size_t a = 0; a < 3; ++a) {
      const auto& own = section.conductivity[a];
      for (std::size_t n = 0; n < more; ++n)
        sigma[a].insert(sigma[a].end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(wide.size()));
      sigma[a].insert(sigma[a].end(), own.begin(), own.end());
    }
  }
  Z of(std::size_t axis, std::size_t k, std::size_t i) const { return sigma[axis][k * wide.size() + i]; }
  /// Half the summed widths of the two cells beside a node.
  static double dual(const std::vector<double>& width, std::size_t node) {
    return ((node > 0 ? width[node - 1] : 0) + (node < width.size() ? width[node] : 0)) / 2;
  }
  /// Mean conductivity of the cells beside an edge across the section (node k, cell i), and beside a vertical
  /// edge (cell k, node i).
  Z beside_level(std::size_t axis, std::size_t k, std::size_t i) const {
    Z sum = 0;
    if (k > 0) sum += of(axis, k - 1, i) * high[k - 1];
    if (k < high.size()) sum += of(axis, k, i) * high[k];
    return sum / (2 * dual(high, k));
  }
  Z beside_upright(std::size_t axis, std::size_t k, std::size_t i) const {
    Z sum = 0;
    if (i > 0) sum += of(axis, k, i - 1) * wide[i - 1];
    if (i < wide.size()) sum += of(axis, k, i) * wide[i];
    return sum / (2 * dual(wide, i));
  }
};

}  // namespace

double bytes_of_section(const TensorMesh& mesh, int strike) {
  const auto levels = static_cast<double>(mesh.n_up() + more),
             columns = static_cast<double>((strike == 1 ? mesh.n_east() : mesh.n_north()) + 1);
  return sizeof(Z) * levels * columns * (levels + 3);
}

CrossSection section_of_ends(const TensorMesh& mesh, const Sigma& sigma, int strike) {
  CrossSection section;
  section.strike = strike;
  const bool north = strike == 1;
  const std::size_t count = north ? mesh.n_east() : mesh.n_north(),
                    end = (north ? mesh.n_north() : mesh.n_east()) - 1;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t k = 0; k < mesh.n_up(); ++k)
      for (std::size_t i = 0; i < count; ++i) {
        const Z low = sigma(a, north ? mesh.index(i, 0, k) : mesh.index(0, i, k)),
                high = sigma(a, north ? mesh.index(i, end, k) : mesh.index(end, i, k));
        section.alike = section.alike && low == high;
        section.conductivity[a].push_back(low == high ? low : std::sqrt(low * high));
      }
  return section;
}

EdgeField wave_along_strike(const TensorMesh& mesh, const CrossSection& section, double hertz) {
  const Cells cells(mesh, section);
  const double omega_mu = 8e-7 * std::numbers::pi * std::numbers::pi * hertz;
  // Unknowns: nodes of each column from the second level upwards (the lowest are zero), column after column.
  const std::size_t levels = cells.high.size(), columns = cells.wide.size() + 1;
  const auto number = [=](std::size_t k, std::size_t i) { return i * levels + k - 1; };
  Banded a(levels * columns, levels);
  std::vector<Z> b(levels * columns, 0.0);
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t k = 1; k <= levels; ++k) {
      const auto here = number(k, i);
      Z storage = 0;  // Σ σ A over the four quarter cells around the node, A their areas
      for (const std::size_t c : {i - 1, i})
        for (const std::size_t l : {k - 1, k})
          if (c < cells.wide.size() && l < levels)
            storage += cells.of(static_cast<std::size_t>(section.strike), l, c) *
                       (cells.wide[c] * cells.high[l] / 4);
      a.at(here, here) += Z(0, omega_mu) * storage;
      const double below = Cells::dual(cells.wide, i) / cells.high[k - 1];
      if (k == 1) a.at(here, here) += below;
      else a.link(here, number(k - 1, i), below);
      if (i > 0) a.link(here, number(k, i - 1), Cells::dual(cells.high, k) / cells.wide[i - 1]);
      if (k == levels) b[here] = Cells::dual(cells.wide, i);
    }
  a.solve(b);
  const Z top = b[number(levels, 0)];
  const auto values = std::make_shared<std::vector<Z>>(std::move(b));
  return [=, strike = section.strike](int axis, const std::array<Index, 3>& place) -> Z {
    if (axis != strike) return 0;
    // The first interior node is node 1 of the axis.
    const auto k = static_cast<std::size_t>(place[0] + 1) + more,
               i = static_cast<std::size_t>(place[strike == 1 ? 2 : 1] + 1);
    return (*values)[number(k, i)] / top;
  };
}

EdgeField wave_across_strike(const TensorMesh& mesh, const CrossSection& section, double hertz) {
  const auto cells = std::make_shared<const Cells>(mesh, section);
  const auto& c = *cells;
  const double omega_mu = 8e-7 * std::numbers::pi * std::numbers::pi * hertz;
  const std::size_t across = section.strike == 1 ? 2 : 1, levels = c.high.size(), columns = c.wide.size();
  const auto number = [=](std::size_t k, std::size_t i) { return i * levels + k; };
  Banded a(levels * columns, levels);
  std::vector<Z> h(levels * columns, 0.0);
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t k = 0; k < levels; ++k) {
      const auto here = number(k, i);
      a.at(here, here) += Z(0, omega_mu * c.wide[i] * c.high[k]);
      // Links of this cell with the cells below and above it.
      const Z below = c.wide[i] / (Cells::dual(c.high, k) * c.beside_level(across, k, i));
      if (k == 0) a.at(here, here) += below;
      else a.link(here, number(k - 1, i), below);
      if (k + 1 == levels) {
        const Z above = c.wide[i] / (Cells::dual(c.high, levels) * c.beside_level(across, levels, i));
        a.at(here, here) += above;
        h[here] = above;
      }
      if (i > 0)
        a.link(here, number(k, i - 1), c.high[k] / (Cells::dual(c.wide, i) * c.beside_upright(0, k, i)));
    }
  a.solve(h);
  // E across the strike, from H at two levels; vertical E, from H in two columns: J = curl H, whose relative
  // signs are the same for both strikes.
  const auto values = std::make_shared<const std::vector<Z>>(std::move(h));
  const auto level = [=](std::size_t k, std::size_t i) {
    const Z high = k < levels ? (*values)[number(k, i)] : 1.0, low = (*values)[number(k - 1, i)];
    return (high - low) / (Cells::dual(cells->high, k) * cells->beside_level(across, k, i));
  };
  const auto upright = [=](std::size_t k, std::size_t i) -> Z {
    if (i == 0 || i == columns) return 0;
    return -((*values)[number(k, i)] - (*values)[number(k, i - 1)]) /
           (Cells::dual(cells->wide, i) * cells->beside_upright(0, k, i));
  };
  const Z top = level(levels, 0);
  return [=, strike = section.strike](int axis, const std::array<Index, 3>& place) -> Z {
    if (axis == strike) return 0;
    const auto k = static_cast<std::size_t>(place[0]) + more, i = static_cast<std::size_t>(place[across]);
    // `place` counts interior nodes across an edge, and cells along it.
    return (axis == 0 ? upright(k, i + 1) : level(k + 1, i)) / top;
  };
}

}  // namespace terrane::electromagnetic
