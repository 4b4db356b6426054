#include "terrane/inversion/model/coupling.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::inversion {

namespace {

constexpr std::size_t cells_per_task = 4096;

/// Calls body(c) for every cell, on several threads.
template <class Body>
void for_all(std::size_t cells, int threads, const Body& body) {
  for_each((cells + cells_per_task - 1) / cells_per_task, threads, [&](std::size_t task) {
    for (std::size_t c = task * cells_per_task; c < std::min((task + 1) * cells_per_task, cells); ++c)
      body(c);
  });
}

}  // namespace

CrossGradient::CrossGradient(const TensorMesh& mesh, std::span<const std::uint32_t> active,
                             std::span<const double> other, double factor, int threads)
    : factor_(factor), threads_(threads) {
  const std::size_t cells = active.empty() ? mesh.size() : active.size();
  if (other.size() != cells) throw ShapeError("inversion: coupling", "the models are of other cells");
  std::vector<std::uint32_t> at(mesh.size(),
                                nothing);  // index of each cell of the mesh among active cells
  for (std::size_t c = 0; c < cells; ++c) at[active.empty() ? c : active[c]] = static_cast<std::uint32_t>(c);
  const std::size_t n[3] = {mesh.n_east(), mesh.n_north(), mesh.n_up()};
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  const std::size_t step[3] = {1, n[0], n[0] * n[1]};
  volume_.resize(cells);
  next_.resize(cells);
  before_.resize(cells);
  per_distance_.resize(cells);
  other_.resize(cells);
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t cell = active.empty() ? c : active[c];
    const auto place = mesh.cell(cell);
    volume_[c] = mesh.prism(cell).volume();
    for (std::size_t a = 0; a < 3; ++a) {
      const auto& f = *faces[a];
      const std::size_t i = place[a];
      next_[c][a] = i + 1 < n[a] ? at[cell + step[a]] : nothing;
      before_[c][a] = i > 0 ? at[cell - step[a]] : nothing;
      per_distance_[c][a] = next_[c][a] == nothing ? 0 : 2 / (f[i + 2] - f[i]);
    }
  }
  for_all(cells, threads, [&](std::size_t c) {
    for (std::size_t a = 0; a < 3; ++a) other_[c][a] = towards_next(other, c, a);
  });
}

double CrossGradient::towards_next(std::span<const double> v, std::size_t c, std::size_t axis) const {
  const auto next = next_[c][axis];
  return next == nothing ? 0 : (v[next] - v[c]) * per_distance_[c][axis];
}

template <class Difference>
CrossGradient::Sides CrossGradient::sides(std::size_t c, const Difference& difference) const {
  Sides all;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto before = before_[c][a];
    const double behind = before == nothing ? 0 : difference(before, a), ahead = difference(c, a);
    all.along[a] = {before == nothing ? ahead : behind, next_[c][a] == nothing ? behind : ahead};
  }
  return all;
}
CrossGradient::Sides CrossGradient::sides_of_other(std::size_t c) const {
  return sides(c, [&](std::size_t cell, std::size_t axis) { return other_[cell][axis]; });
}

/// With the gradients g and a of the two models, |g × a|² is the sum over pairs of axes (i, j) of (g_i a_j −
/// g_j a_i)², which has four different values at the corners (s, t = 0, 1: differences to the previous or
/// next cell).
double CrossGradient::form(const Sides& g, std::size_t c) const {
  const auto a = sides_of_other(c);
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t s = 0, j = (i + 1) % 3; s < 2; ++s)
      for (std::size_t t = 0; t < 2; ++t) {
        const double across = g.along[i][s] * a.along[j][t] - g.along[j][t] * a.along[i][s];
        sum += across * across / 4;
      }
  return factor_ * volume_[c] * sum;
}

CrossGradient::Sides CrossGradient::flux(const Sides& g, std::size_t c) const {
  const auto a = sides_of_other(c);
  Sides made;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t s = 0, j = (i + 1) % 3; s < 2; ++s)
      for (std::size_t t = 0; t < 2; ++t) {
        const double across = g.along[i][s] * a.along[j][t] - g.along[j][t] * a.along[i][s],
                     part = factor_ * volume_[c] * across / 4;
        made.along[i][s] += part * a.along[j][t];
        made.along[j][t] -= part * a.along[i][s];
      }
  return made;
}

/// First the derivative with respect to each difference is summed over the two cells that share it; then each
/// cell sums over its differences.
void CrossGradient::add_apply(std::span<const double> v, std::span<double> out) const {
  std::vector<Sides> made(size());
  for_all(size(), threads_, [&](std::size_t c) {
    made[c] = flux(sides(c, [&](std::size_t cell, std::size_t a) { return towards_next(v, cell, a); }), c);
  });
  const auto of_difference = [&](std::size_t c, std::size_t a) {
    const auto next = next_[c][a];
    if (next == nothing) return 0.0;
    double sum = made[c].along[a][1] + made[next].along[a][0];
    if (before_[c][a] == nothing) sum += made[c].along[a][0];
    if (next_[next][a] == nothing) sum += made[next].along[a][1];
    return sum * per_distance_[c][a];
  };
  for_all(size(), threads_, [&](std::size_t c) {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      sum -= of_difference(c, a);
      if (before_[c][a] != nothing) sum += of_difference(before_[c][a], a);
    }
    out[c] += sum;
  });
}

void CrossGradient::add_diagonal(std::span<double> out) const {
  // A cell's value affects its own differences and, along each axis, one difference of each neighbour: a
  // diagonal entry is the sum of their quadratic forms.
  for_all(size(), threads_, [&](std::size_t c) {
    Sides own;
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const auto next = next_[c][a], before = before_[c][a];
      const double ahead = -per_distance_[c][a], behind = before == nothing ? 0 : per_distance_[before][a];
      own.along[a] = {before == nothing ? ahead : behind, next == nothing ? behind : ahead};
      Sides of_neighbour;
      if (next != nothing) {
        of_neighbour.along[a] = {ahead, next_[next][a] == nothing ? ahead : 0};
        sum += form(of_neighbour, next);
      }
      if (before != nothing) {
        of_neighbour.along[a] = {before_[before][a] == nothing ? behind : 0, behind};
        sum += form(of_neighbour, before);
      }
    }
    out[c] += sum + form(own, c);
  });
}

double CrossGradient::value(std::span<const double> v) const {
  std::vector<double> product(size());
  add_apply(v, product);
  return solve::dot(v, product, threads_);
}

SharedMixture::SharedMixture(const TensorMesh& mesh, std::span<const std::uint32_t> active,
                             const TwoRocks& rocks, std::span<const double> other, const TwoRocks& of_other,
                             double factor) {
  const std::size_t cells = active.empty() ? mesh.size() : active.size();
  if (other.size() != cells) throw ShapeError("inversion: coupling", "the models are of other cells");
  const double contrast = rocks.second - rocks.first;
  for (std::size_t c = 0; c < cells; ++c) {
    weight_.push_back(factor * mesh.prism(active.empty() ? c : active[c]).volume() / (contrast * contrast));
    aim_.push_back(rocks.mixed(of_other.share(other[c])));
  }
}

void SharedMixture::add_apply(std::span<const double> v, std::span<double> out) const {
  for (std::size_t c = 0; c < size(); ++c) out[c] += weight_[c] * v[c];
}

void SharedMixture::add_diagonal(std::span<double> out) const {
  for (std::size_t c = 0; c < size(); ++c) out[c] += weight_[c];
}

void SharedMixture::add_centre(std::span<double> out) const {
  for (std::size_t c = 0; c < size(); ++c) out[c] += weight_[c] * aim_[c];
}

double SharedMixture::value(std::span<const double> v) const {
  std::vector<double> off(size()), weighted(size());
  for (std::size_t c = 0; c < size(); ++c) {
    off[c] = v[c] - aim_[c];
    weighted[c] = weight_[c] * off[c];
  }
  return solve::dot(off, weighted);
}

}  // namespace terrane::inversion
