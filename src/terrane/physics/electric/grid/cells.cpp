#include "terrane/physics/electric/grid/cells.hpp"

#include <fmt/format.h>

#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/grid/axes.hpp"

namespace terrane::electric {

namespace {

double median(const std::vector<double>& ascending) {
  const std::size_t n = ascending.size();
  return (ascending[(n - 1) / 2] + ascending[n / 2]) / 2;
}

double middle_of_cell(const Axes& axes, std::size_t a, Index cell) {
  return (axes.face(a, cell) + axes.face(a, cell + 1)) / 2;
}

}  // namespace

Point middle_of_top(const TensorMesh& mesh) {
  return {median(mesh.easting()), median(mesh.northing()), mesh.up().back()};
}

CellScheme::CellScheme(const TensorMesh& mesh, std::span<const double> resistivity,
                       const Boundaries& boundary)
    : mesh_(mesh),
      resistivity_(resistivity),
      boundary_(boundary),
      from_{middle_of_top(mesh), mesh.up().back()} {
  if (resistivity.size() != mesh.size())
    throw ShapeError("resistivity",
                     fmt::format("{} values for a mesh of {} cells", resistivity.size(), mesh.size()));
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) {
    if (std::isfinite(resistivity[cell]) && resistivity[cell] > 0) continue;
    const auto [i, j, k] = mesh.cell(cell);
    throw InputError(
        "resistivity",
        fmt::format("{} ohm m in cell east {}, north {}, up {}", resistivity[cell], i + 1, j + 1, k + 1),
        "Resistivities are finite and above zero; air is 1e8 ohm m.");
  }
  if (boundary(0, true) == Boundary::mixed)
    throw InputError("boundary", "the top is mixed, where the sources of mixed walls are",
                     "Allowed there: insulated, grounded.");
}

std::size_t CellScheme::number(const Index (&cell)[3]) const {
  return mesh_.index(static_cast<std::size_t>(cell[2]), static_cast<std::size_t>(cell[1]),
                     static_cast<std::size_t>(cell[0]));
}

CellScheme::Face CellScheme::face(const Index (&cell)[3], std::size_t a, bool high) const {
  const Axes axes(mesh_);
  const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
  const double area = axes.width(b, cell[b]) * axes.width(c, cell[c]), half = axes.width(a, cell[a]) / 2;
  const double rho = resistivity_[number(cell)];
  Face face;
  face.wall = cell[a] == (high ? axes.nodes(a) - 2 : 0);
  if (!face.wall) {
    Index beyond[3] = {cell[0], cell[1], cell[2]};
    beyond[a] += high ? 1 : -1;
    face.other = number(beyond);
    const double half_beyond = axes.width(a, beyond[a]) / 2;
    // Both cells of a face add in the same order, the lower cell first: so K is symmetric to the last bit.
    const double here = half * rho, there = half_beyond * resistivity_[face.other];
    face.conductance = area / (high ? here + there : there + here);
    const double slope = face.conductance * face.conductance / area;
    face.by_own = slope * half;
    face.by_other = slope * half_beyond;
    return face;
  }
  const Boundary kind = boundary_(a, high);
  if (kind == Boundary::insulated) return face;
  double weight = 1 / half;  // conductance times ρ/area
  if (kind == Boundary::mixed) {
    Point at{middle_of_cell(axes, 2, cell[2]), middle_of_cell(axes, 1, cell[1]),
             middle_of_cell(axes, 0, cell[0])};
    (a == 0 ? at.u : a == 1 ? at.n : at.e) = axes.face(a, cell[a] + (high ? 1 : 0));
    const double alpha = wall_weight(kind, from_, at, a, high, 2 * half);
    weight = alpha / (1 + alpha * half);
  }
  face.conductance = area * weight / rho;
  face.by_own = face.conductance / rho;
  return face;
}

/// Calls visit(cell, its index, face) for all six faces of each cell, on threads that share the layers.
template <class Visit>
void CellScheme::each_face(int threads, const Visit& visit) const {
  for_each(mesh_.n_up(), threads, [&](std::size_t k) {
    for (std::size_t j = 0; j < mesh_.n_north(); ++j)
      for (std::size_t i = 0; i < mesh_.n_east(); ++i) {
        const Index cell[3] = {static_cast<Index>(k), static_cast<Index>(j), static_cast<Index>(i)};
        const auto here = mesh_.index(i, j, k);
        for (std::size_t a = 0; a < 3; ++a)
          for (const bool high : {false, true}) visit(here, face(cell, a, high));
      }
  });
}

HostNetwork CellScheme::network() const {
  const Axes axes(mesh_);
  HostNetwork made;
  made.nodes = index_box(axes.nodes(0) - 1, axes.nodes(1) - 1, axes.nodes(2) - 1);
  const auto all = made.nodes.grown(1);
  for (std::size_t a = 0; a < 3; ++a) {
    made.link[a].assign(static_cast<std::size_t>(all.count()), 0.0);
    auto& axis = made.spacing[a];
    axis.natural_low = axis.natural_high = true;
    const Index cells = axes.nodes(a) - 1;
    axis.spacing.push_back(axes.width(a, 0));  // spacing beyond the ends of the axis, which is not used
    for (Index n = 0; n + 1 < cells; ++n)
      axis.spacing.push_back((axes.width(a, n) + axes.width(a, n + 1)) / 2);
    axis.spacing.push_back(axes.width(a, cells - 1));
    const View<double, 3> link(made.link[a].data(), all);
    Index cell[3];
    for (cell[0] = 0; cell[0] < axes.nodes(0) - 1; ++cell[0])
      for (cell[1] = 0; cell[1] < axes.nodes(1) - 1; ++cell[1])
        for (cell[2] = 0; cell[2] < axes.nodes(2) - 1; ++cell[2]) {
          link(cell[0], cell[1], cell[2]) = face(cell, a, false).conductance;
          if (cell[a] + 1 < cells) continue;
          Index ghost[3] = {cell[0], cell[1], cell[2]};
          ghost[a] += 1;
          link(ghost[0], ghost[1], ghost[2]) = face(cell, a, true).conductance;
        }
  }
  return made;
}

std::vector<double> CellScheme::currents_of_change(std::span<const double> change,
                                                   std::span<const double> phi, int threads) const {
  std::vector<double> currents(mesh_.size(), 0.0);
  each_face(threads, [&](std::size_t here, const Face& face) {
    const double apart = face.wall ? phi[here] : phi[here] - phi[face.other];
    const double other = face.wall ? 0 : face.by_other * change[face.other];
    currents[here] += (face.by_own * change[here] + other) * apart;
  });
  return currents;
}

void CellScheme::add_slope(std::span<const double> phi, std::span<const double> lambda,
                           std::span<double> slope, int threads) const {
  each_face(threads, [&](std::size_t here, const Face& face) {
    const double apart = face.wall ? phi[here] : phi[here] - phi[face.other];
    const double seen = face.wall ? lambda[here] : lambda[here] - lambda[face.other];
    slope[here] += face.by_own * apart * seen;
  });
}

}  // namespace terrane::electric
