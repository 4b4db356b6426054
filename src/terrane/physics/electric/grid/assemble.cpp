#include "terrane/physics/electric/grid/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/physics/electric/grid/axes.hpp"

namespace terrane::electric {

namespace {

class Assembly {
 public:
  Assembly(const TensorMesh& mesh, const Conductivity& conductivity, const Stretch& stretch)
      : axes_(mesh), sigma_{conductivity.along[2], conductivity.along[1], conductivity.along[0]} {
    network_.nodes = index_box(axes_.nodes(0), axes_.nodes(1), axes_.nodes(2));
    const auto all = network_.nodes.grown(1);
    for (std::size_t a = 0; a < 3; ++a) {
      network_.link[a].assign(static_cast<std::size_t>(all.count()), 0.0);
      link_[a] = View<double, 3>(network_.link[a].data(), all);
      auto& axis = network_.spacing[a];
      axis.natural_low = axis.natural_high = true;
      axis.spacing.push_back(axes_.width(a, 0));  // spacing beyond the ends of the axis, which is not used
      for (Index n = 0; n + 1 < axes_.nodes(a); ++n) axis.spacing.push_back(axes_.width(a, n));
      axis.spacing.push_back(axes_.width(a, axes_.nodes(a) - 2));
      // Spacings are multiplied by the stretch, which is larger for an axis of lower conductivity: the medium
      // then counts as isotropic.
      for (double& length : axis.spacing) length *= stretch.of(2 - static_cast<int>(a));
    }
  }

  /// Every cell adds a quarter of σV/h² to each of its twelve edges.
  void add_cells() {
    for (Index k = 0; k + 1 < axes_.nodes(0); ++k)
      for (Index j = 0; j + 1 < axes_.nodes(1); ++j)
        for (Index i = 0; i + 1 < axes_.nodes(2); ++i) {
          const Index cell[3] = {k, j, i};
          const double quarter = axes_.width(0, k) * axes_.width(1, j) * axes_.width(2, i) / 4;
          for (std::size_t a = 0; a < 3; ++a) {
            const double h = axes_.width(a, cell[a]), value = sigma(a, cell) * quarter / (h * h);
            const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
            for (Index right_b = 0; right_b < 2; ++right_b)
              for (Index right_c = 0; right_c < 2; ++right_c) {
                Index node[3] = {k, j, i};  // node at the upper end of the edge
                node[a] += 1;
                node[b] += right_b;
                node[c] += right_c;
                link_[a](node[0], node[1], node[2]) += value;
              }
          }
        }
  }

  /// weight(point, conductivity, width): returns the conductance per area of a wall face, S/m².
  template <class Weight>
  void add_wall(std::size_t a, bool high, const Weight& weight) {
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    Index cell[3];
    cell[a] = high ? axes_.nodes(a) - 2 : 0;
    const Index wall = high ? axes_.nodes(a) - 1 : 0, ghost = high ? axes_.nodes(a) : 0;
    for (cell[b] = 0; cell[b] + 1 < axes_.nodes(b); ++cell[b])
      for (cell[c] = 0; cell[c] + 1 < axes_.nodes(c); ++cell[c]) {
        const double quarter = axes_.width(b, cell[b]) * axes_.width(c, cell[c]) / 4;
        for (Index right_b = 0; right_b < 2; ++right_b)
          for (Index right_c = 0; right_c < 2; ++right_c) {
            Index node[3];
            node[a] = wall;
            node[b] = cell[b] + right_b;
            node[c] = cell[c] + right_c;
            const double value = weight(axes_.point(node), sigma(a, cell), axes_.width(a, cell[a])) * quarter;
            node[a] = ghost;
            link_[a](node[0], node[1], node[2]) += value;
          }
      }
  }

  HostNetwork take() { return std::move(network_); }

 private:
  double sigma(std::size_t a, const Index (&cell)[3]) const {
    return (*sigma_[a])[static_cast<std::size_t>(
        (cell[0] * (axes_.nodes(1) - 1) + cell[1]) * (axes_.nodes(2) - 1) + cell[2])];
  }

  Axes axes_;
  std::array<const std::vector<double>*, 3> sigma_;  // conductivities along up, north, east
  HostNetwork network_;
  std::array<View<double, 3>, 3> link_;
};

}  // namespace

Stretch mean_stretch(const Conductivity& conductivity) {
  if (!conductivity.differs_by_axis()) return {};
  std::array<double, 3> mean{};
  for (std::size_t a = 0; a < 3; ++a) {
    for (const double value : *conductivity.along[a]) mean[a] += std::log(value);
    mean[a] = std::exp(mean[a] / static_cast<double>(conductivity.along[a]->size()));
  }
  return stretch_of(mean);
}

solve::Network<double> HostNetwork::on(Stream& stream, const IndexBox<3>& part) const {
  solve::Network<double> network;
  for (std::size_t a = 0; a < 3; ++a) {
    network.link[a] = solve::link_field<double>(stream, part);
    network.link[a].upload(stream, link[a], nodes.grown(1));
  }
  return network;
}

void check(const TensorMesh& mesh, const Conductivity& conductivity) {
  for (const auto* values : conductivity.quadrature) {
    if (values == nullptr) continue;
    if (values->size() != mesh.size())
      throw ShapeError("quadrature",
                       fmt::format("{} values for a mesh of {} cells", values->size(), mesh.size()));
    if (!std::all_of(values->begin(), values->end(), [](double value) { return std::isfinite(value); }))
      throw InputError("quadrature", "an imaginary part of a conductivity is not finite");
  }
  for (const auto* values : conductivity.along) {
    if (values->size() != mesh.size())
      throw ShapeError("conductivity",
                       fmt::format("{} values for a mesh of {} cells", values->size(), mesh.size()));
    for (std::size_t cell = 0; cell < values->size(); ++cell) {
      const double value = (*values)[cell];
      if (std::isfinite(value) && value > 0) continue;
      const auto [i, j, k] = mesh.cell(cell);
      throw InputError("model.conductivity",
                       fmt::format("{} S/m in cell east {}, north {}, up {}", value, i + 1, j + 1, k + 1),
                       "Conductivities are positive and finite; air is 1e-8 S/m.");
    }
  }
}

double wall_weight(Boundary boundary, const Viewpoint& from, const Point& p, std::size_t axis, bool high,
                   double width) {
  if (boundary == Boundary::insulated) return 0;
  if (boundary == Boundary::grounded) return 1 / (width / 2);
  const int direction = 2 - static_cast<int>(axis);
  const auto& stretch = from.stretch;
  const double alpha =
      mixed_boundary(stretch(from.centre), stretch(p), stretch.u * from.surface, direction, high ? 1 : -1);
  return std::max(0.0, stretch.of(direction) * alpha);  // 0 also if the source is on the wall
}

HostNetwork network_of(const TensorMesh& mesh, const Conductivity& conductivity, const Boundaries& boundary,
                       const Viewpoint& from) {
  Assembly assembly(mesh, conductivity, from.stretch);
  assembly.add_cells();
  for (const auto& wall : walls)
    if (const auto kind = boundary(wall.axis, wall.high); kind != Boundary::insulated)
      assembly.add_wall(wall.axis, wall.high, [&](const Point& p, double sigma, double width) {
        return sigma * wall_weight(kind, from, p, wall.axis, wall.high, width);
      });
  return assembly.take();
}

HostNetwork half_space_network(const TensorMesh& mesh, const std::array<double, 3>& conductivity,
                               const Boundaries& boundary, const Viewpoint& from, const Viewpoint& source) {
  std::array<std::vector<double>, 3> sigma;
  for (std::size_t a = 0; a < 3; ++a) sigma[a].assign(mesh.size(), conductivity[a]);
  Assembly assembly(mesh, {{&sigma[0], &sigma[1], &sigma[2]}}, from.stretch);
  assembly.add_cells();
  for (const auto& wall : walls) {
    const bool alike = boundary(wall.axis, wall.high) == Boundary::mixed;
    if (!alike && wall.axis == 0 && wall.high) continue;  // no current flows through the half space's surface
    assembly.add_wall(wall.axis, wall.high, [&](const Point& p, double value, double width) {
      return value * wall_weight(Boundary::mixed, alike ? from : source, p, wall.axis, wall.high, width);
    });
  }
  return assembly.take();
}

HostNetwork assemble(const TensorMesh& mesh, const Conductivity& conductivity, const Boundaries& boundary,
                     const Point& centre) {
  check(mesh, conductivity);
  return network_of(mesh, conductivity, boundary, {centre, mesh.up().back()});
}

double NodeWeights::at(std::span<const double> nodes) const {
  double sum = 0;
  for (std::size_t n = 0; n < 8; ++n) sum += weight[n] * nodes[node[n]];
  return sum;
}

void NodeWeights::add(double value, std::vector<double>& nodes) const {
  for (std::size_t n = 0; n < 8; ++n) nodes[node[n]] += value * weight[n];
}

NodeWeights node_weights(const TensorMesh& mesh, const Point& p, const std::string& what) {
  const Axes axes(mesh);
  const double place[3] = {p.u, p.n, p.e};
  static constexpr const char* names[3] = {"up", "north", "east"};
  std::size_t cell[3];
  double part[3];
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& faces = *axes.faces[a];
    if (!(place[a] >= faces.front() && place[a] <= faces.back()))
      throw InputError(
          what,
          fmt::format("{} m {} lies outside of the mesh, {} to {} m", place[a], names[a], faces.front(),
                      faces.back()),
          a == 0 && place[a] > faces.back()
              ? "Electrodes stand on the ground or in it: lower the electrode, or let the mesh reach above "
                "the highest ground, and name that as model.topography."
              : "Move the electrode, or make the mesh larger.");
    const auto above = std::upper_bound(faces.begin(), faces.end() - 1, place[a]);
    cell[a] = static_cast<std::size_t>(above - faces.begin()) - 1;
    cell[a] = std::min(cell[a], faces.size() - 2);
    part[a] = (place[a] - faces[cell[a]]) / (faces[cell[a] + 1] - faces[cell[a]]);
  }
  NodeWeights weights;
  for (std::size_t n = 0; n < 8; ++n) {
    const std::size_t side[3] = {n >> 2, n >> 1 & 1, n & 1};
    weights.weight[n] = 1;
    std::size_t node[3];
    for (std::size_t a = 0; a < 3; ++a) {
      weights.weight[n] *= side[a] ? part[a] : 1 - part[a];
      node[a] = cell[a] + side[a];
    }
    weights.node[n] = (node[0] * axes.faces[1]->size() + node[1]) * axes.faces[2]->size() + node[2];
  }
  return weights;
}

}  // namespace terrane::electric
