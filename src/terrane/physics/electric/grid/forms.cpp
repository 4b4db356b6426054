#include "terrane/physics/electric/grid/forms.hpp"

#include <algorithm>

namespace terrane::electric {

namespace {

double width(const std::vector<double>& faces, std::size_t cell) { return faces[cell + 1] - faces[cell]; }

/// The cells of some layers as a mesh, which is enough to make their network.
TensorMesh mesh_of_layers(const TensorMesh& mesh, const Range& layers) {
  const auto& up = mesh.up();
  return {mesh.easting(), mesh.northing(),
          std::vector<double>(up.begin() + static_cast<std::ptrdiff_t>(layers.first),
                              up.begin() + static_cast<std::ptrdiff_t>(layers.last + 1))};
}

HostNetwork network_of_layers(const TensorMesh& mesh, const std::array<const std::vector<double>*, 3>& along,
                              Boundaries boundary, const Viewpoint& from, const Range& layers) {
  const std::size_t layer = mesh.n_east() * mesh.n_north();
  // There is no wall where other layers of the mesh adjoin.
  if (layers.first > 0) boundary(0, false) = Boundary::insulated;
  if (layers.last < mesh.n_up()) boundary(0, true) = Boundary::insulated;
  std::array<std::vector<double>, 3> values;
  Conductivity sigma;
  for (std::size_t a = 0; a < 3; ++a) {
    const bool as_first = a > 0 && along[a] == along[0];
    if (!as_first)
      values[a].assign(along[a]->begin() + static_cast<std::ptrdiff_t>(layer * layers.first),
                       along[a]->begin() + static_cast<std::ptrdiff_t>(layer * layers.last));
    sigma.along[a] = &values[as_first ? 0 : a];
  }
  return network_of(mesh_of_layers(mesh, layers), sigma, boundary, from);
}

}  // namespace

// ---- forms ----

CellForms::CellForms(const TensorMesh& mesh, const Boundaries& boundary, const Viewpoint& from)
    : mesh_(mesh), row_(mesh.n_east() + 1), plane_(row_ * (mesh.n_north() + 1)) {
  for (const auto& wall : walls)
    if (const auto kind = boundary(wall.axis, wall.high); kind != Boundary::insulated)
      add_wall(kind, from, wall);
}

/// The forms for the edges of a row of cells, from four rows of nodes. Reads each value once.
void CellForms::row(std::size_t k, std::size_t j, const double* phi, const double* psi, double* sums) const {
  const double *a = phi + row_ * j, *b = psi + row_ * j;
  const double north = width(mesh_.northing(), j), up = width(mesh_.up(), k);
  const std::size_t cells = mesh_.n_east(), corner[4] = {0, row_, plane_, row_ + plane_};
  const auto edge = [&](std::size_t from, std::size_t to) { return (a[to] - a[from]) * (b[to] - b[from]); };
  for (std::size_t i = 0; i < cells; ++i) {
    const double east = width(mesh_.easting(), i);
    const double quarter = east * north * up / 4;
    double along[3] = {0, 0, 0};
    for (const std::size_t c : corner) along[0] += edge(c + i, c + i + 1);
    for (std::size_t side = i; side < i + 2; ++side) {
      along[1] += edge(side, row_ + side) + edge(plane_ + side, plane_ + row_ + side);
      along[2] += edge(side, plane_ + side) + edge(row_ + side, row_ + plane_ + side);
    }
    sums[i] = quarter / (east * east) * along[0];
    sums[cells + i] = quarter / (north * north) * along[1];
    sums[2 * cells + i] = quarter / (up * up) * along[2];
  }
  if (const auto found = corners_.find(j + mesh_.n_north() * k); found != corners_.end())
    for (const auto& c : found->second) sums[cells * c.axis + c.i] += c.weight * phi[c.node] * psi[c.node];
}

void CellForms::add_wall(Boundary boundary, const Viewpoint& from, const Wall& wall) {
  const std::vector<double>* faces[3] = {&mesh_.up(), &mesh_.northing(), &mesh_.easting()};
  const std::size_t a = wall.axis, b = (a + 1) % 3, c = (a + 2) % 3;
  std::size_t cell[3];
  cell[a] = wall.high ? faces[a]->size() - 2 : 0;
  for (cell[b] = 0; cell[b] + 1 < faces[b]->size(); ++cell[b])
    for (cell[c] = 0; cell[c] + 1 < faces[c]->size(); ++cell[c])
      for (std::size_t corner = 0; corner < 4; ++corner) {
        std::size_t node[3];
        node[a] = wall.high ? faces[a]->size() - 1 : 0;
        node[b] = cell[b] + (corner & 1);
        node[c] = cell[c] + (corner >> 1);
        const Point p{(*faces[2])[node[2]], (*faces[1])[node[1]], (*faces[0])[node[0]]};
        const double area = width(*faces[b], cell[b]) * width(*faces[c], cell[c]);
        corners_[cell[1] + mesh_.n_north() * cell[0]].push_back(
            {cell[2], 2 - a, node[2] + row_ * node[1] + plane_ * (node[0] - cell[0]),
             wall_weight(boundary, from, p, a, wall.high, width(*faces[a], cell[a])) * area / 4});
      }
}

// ---- networks ----

LayersNetwork::LayersNetwork(const TensorMesh& mesh, const std::array<const std::vector<double>*, 3>& along,
                             const Boundaries& boundary, const Viewpoint& from, const Range& layers)
    : network_(network_of_layers(mesh, along, boundary, from, layers)) {}

template <class Use>
void LayersNetwork::for_rows(const Use& use) const {
  const auto planes = static_cast<std::size_t>(network_.nodes.size(0)),
             rows = static_cast<std::size_t>(network_.nodes.size(1)),
             row = static_cast<std::size_t>(network_.nodes.size(2));
  for (std::size_t k = 0; k < planes; ++k)
    for (std::size_t j = 0; j < rows; ++j)
      use(((k + 1) * (rows + 2) + j + 1) * (row + 2) + 1, (k * rows + j) * row, row);
}

void LayersNetwork::combine(std::span<const std::pair<const double*, double>> terms,
                            std::span<double> u) const {
  for_rows([&](std::size_t framed, std::size_t node, std::size_t count) {
    double* out = u.data() + framed;
    std::fill_n(out, count, 0.0);
    for (const auto& [phi, weight] : terms)
      for (std::size_t i = 0; i < count; ++i) out[i] += weight * phi[node + i];
  });
}

void LayersNetwork::multiply(std::span<const double> u, std::span<double> y) const {
  const auto row = static_cast<std::size_t>(network_.nodes.size(2)) + 2,
             plane = row * (static_cast<std::size_t>(network_.nodes.size(1)) + 2);
  const std::size_t back[3] = {plane, row, 1};
  for_rows([&](std::size_t framed, std::size_t node, std::size_t count) {
    double* out = y.data() + node;
    std::fill_n(out, count, 0.0);
    for (std::size_t a = 0; a < 3; ++a) {
      const double *c = network_.link[a].data() + framed, *c_next = c + back[a], *here = u.data() + framed,
                   *before = here - back[a], *after = here + back[a];
      for (std::size_t i = 0; i < count; ++i)
        out[i] += c[i] * (here[i] - before[i]) + c_next[i] * (here[i] - after[i]);
    }
  });
}

}  // namespace terrane::electric
