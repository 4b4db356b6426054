#include "terrane/physics/traveltime/medium.hpp"

#include <algorithm>
#include <cmath>

namespace terrane::traveltime {

namespace {

const std::vector<double>& faces(const TensorMesh& mesh, int axis) {
  return axis == 0 ? mesh.easting() : axis == 1 ? mesh.northing() : mesh.up();
}

/// Indices along an axis of the cells that contain a coordinate: one, two if it is on a face, none outside.
std::vector<std::size_t> cells_at(const std::vector<double>& faces, double x) {
  std::vector<std::size_t> all;
  for (auto n = std::lower_bound(faces.begin(), faces.end(), x);
       n != faces.end() && n != faces.begin() - 1;) {
    const auto at = static_cast<std::size_t>(n - faces.begin());
    if (at > 0) all.push_back(at - 1);
    if (*n == x && at + 1 < faces.size()) all.push_back(at);
    break;
  }
  return all;
}

}  // namespace

Smooth smooth_part(double d) {
  const double x = d / smooth_up_to, x4 = x * x * x * x, below = 1 + x4;
  return {d / below, (1 - 3 * x4) / (below * below)};
}

Nodes::Nodes(const TensorMesh& mesh) {
  for (int a = 0; a < 3; ++a) {
    const auto& f = faces(mesh, a);
    auto& lines = lines_[axis_(a)];
    auto& between = between_[axis_(a)];
    const std::size_t n = f.size() - 1;
    cells_[axis_(a)] = n;
    if (n == 1) {
      lines = {(f[0] + f[1]) / 2};
      between = {Between{{0, 0}, {1, 0}}};
      continue;
    }
    lines = f;
    for (std::size_t i = 0; i <= n; ++i) {
      // The value at the node is interpolated from the cells low and low + 1.
      const std::size_t low = std::clamp<std::size_t>(i, 1, n - 1) - 1;
      const double wide = f[low + 1] - f[low], next = f[low + 2] - f[low + 1], both = (wide + next) / 2,
                   upper = (f[i] - (f[low] + f[low + 1]) / 2) / both;
      between.push_back({{low, low + 1}, {1 - upper, upper}});
    }
  }
}

double Nodes::distance(const Point& a, const Point& b) const {
  double square = 0;
  for (int axis = 0; axis < 3; ++axis)
    if (!flat(axis)) square += std::pow(a[axis_(axis)] - b[axis_(axis)], 2);
  return std::sqrt(square);
}

Medium::Medium(const TensorMesh& mesh, std::span<const double> velocity)
    : mesh_(mesh), nodes_(mesh), rock_(mesh.size()), log_(mesh.size()), corners_(8 * mesh.size()) {
  for (int a = 0; a < 3; ++a)
    if (nodes_.flat(a)) flat_ |= std::size_t{1} << a;
  for (std::size_t c = 0; c < rock_.size(); ++c) {
    rock_[c] = velocity[c] > 0 && std::isfinite(velocity[c]);
    log_[c] = rock_[c] ? -std::log(velocity[c]) : 0;
  }
  for (std::size_t c = 0; c < rock_.size(); ++c) {
    if (!rock_[c]) continue;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      if (!has_corner(corner)) continue;
      double sum = 0;
      bool alike = true;
      around(c, corner, [&](std::size_t k, double weight) {
        alike = alike && log_[k] == log_[c];
        sum += weight * smooth_part(log_[k] - log_[c]).value;
      });
      corners_[8 * c + corner] = alike ? 1 / velocity[c] : std::exp(log_[c] + sum);
    }
  }
}

/// Calls use(cell of rock, weight) for the cells that contribute to the slowness at a corner.
template <class Use>
void Medium::around(std::size_t cell, std::size_t corner, const Use& use) const {
  std::array<const Nodes::Between*, 3> at{};
  const auto index = mesh_.cell(cell);
  for (int a = 0; a < 3; ++a)
    at[static_cast<std::size_t>(a)] =
        &nodes_.between(a, nodes_.flat(a) ? 0 : index[static_cast<std::size_t>(a)] + (corner >> a & 1));
  for (std::size_t k = 0; k < 8; ++k) {
    if (!has_corner(k)) continue;
    const std::size_t of = mesh_.index(at[0]->cell[k & 1], at[1]->cell[k >> 1 & 1], at[2]->cell[k >> 2 & 1]);
    if (of == cell || !rock_[of]) continue;
    use(of, at[0]->weight[k & 1] * at[1]->weight[k >> 1 & 1] * at[2]->weight[k >> 2 & 1]);
  }
}

std::size_t Medium::node(std::size_t cell, std::size_t corner) const {
  const auto index = mesh_.cell(cell);
  std::size_t node = 0;
  for (int a = 0; a < 3; ++a)
    if (!nodes_.flat(a)) node += nodes_.stride(a) * (index[static_cast<std::size_t>(a)] + (corner >> a & 1));
  return node;
}

double Medium::change(std::size_t cell, std::size_t corner, std::span<const double> cells) const {
  double sum = cells[cell];
  around(cell, corner, [&](std::size_t k, double weight) {
    sum += weight * smooth_part(log_[k] - log_[cell]).slope * (cells[k] - cells[cell]);
  });
  return sum;
}

void Medium::add_change(std::size_t cell, std::size_t corner, double weight, std::span<double> cells) const {
  cells[cell] += weight;
  around(cell, corner, [&](std::size_t k, double share) {
    const double part = weight * share * smooth_part(log_[k] - log_[cell]).slope;
    cells[k] += part;
    cells[cell] -= part;
  });
}

std::vector<Medium::Place> Medium::places(const Point& point) const {
  std::array<std::vector<std::size_t>, 3> along;
  for (int a = 0; a < 3; ++a)
    along[static_cast<std::size_t>(a)] = nodes_.flat(a)
                                             ? std::vector<std::size_t>{0}
                                             : cells_at(faces(mesh_, a), point[static_cast<std::size_t>(a)]);
  std::vector<Place> all;
  for (const auto k : along[2])
    for (const auto j : along[1])
      for (const auto i : along[0]) {
        Place place{mesh_.index(i, j, k), {}};
        if (!rock(place.cell)) continue;
        const std::array<std::size_t, 3> index{i, j, k};
        for (std::size_t corner = 0; corner < 8; ++corner) {
          if (!has_corner(corner)) continue;
          double share = 1;
          for (int a = 0; a < 3; ++a) {
            if (nodes_.flat(a)) continue;
            const auto n = index[static_cast<std::size_t>(a)];
            const double low = nodes_.at(a, n), high = nodes_.at(a, n + 1),
                         part = (point[static_cast<std::size_t>(a)] - low) / (high - low);
            share *= (corner >> a & 1) != 0 ? part : 1 - part;
          }
          place.share[corner] = share;
        }
        all.push_back(place);
      }
  return all;
}

double Medium::slowness(const Place& place) const {
  double sum = 0;
  bool alike = true;
  const double first = slowness(place.cell, 0);
  for (std::size_t corner = 0; corner < 8; ++corner)
    if (has_corner(corner)) {
      const double s = slowness(place.cell, corner);
      alike = alike && s == first;
      sum += place.share[corner] * std::log(s);
    }
  return alike ? first : std::exp(sum);
}

}  // namespace terrane::traveltime
