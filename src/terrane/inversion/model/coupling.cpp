#include "terrane/inversion/model/coupling.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/solve/linear_operator.hpp"

namespace terrane::inversion {

namespace {

constexpr std::size_t cells_a_task = 4096;

/// body(c) for every cell, on the threads.
template <class Body>
void for_all(std::size_t cells, int threads, const Body& body) {
  for_each((cells + cells_a_task - 1) / cells_a_task, threads, [&](std::size_t task) {
    for (std::size_t c = task * cells_a_task; c < std::min((task + 1) * cells_a_task, cells); ++c) body(c);
  });
}

}  // namespace

CrossGradient::CrossGradient(const TensorMesh& mesh, std::span<const std::uint32_t> active,
                             std::span<const double> other, double factor, int threads)
    : factor_(factor), threads_(threads) {
  const std::size_t cells = active.empty() ? mesh.size() : active.size();
  if (other.size() != cells) throw ShapeError("inversion: coupling", "the models are of other cells");
  std::vector<std::uint32_t> at(mesh.size(), nothing);  // active cell of a cell of the mesh
  for (std::size_t c = 0; c < cells; ++c) at[active.empty() ? c : active[c]] = static_cast<std::uint32_t>(c);
  const std::size_t n[3] = {mesh.n_east(), mesh.n_north(), mesh.n_up()};
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  const std::size_t step[3] = {1, n[0], n[0] * n[1]};
  volume_.resize(cells);
  next_.resize(cells);
  before_.resize(cells);
  per_distance_.resize(cells);
  gradient_.resize(cells);
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
  for_all(cells, threads, [&](std::size_t c) { gradient_[c] = gradient(other, c); });
}

CrossGradient::Vector CrossGradient::gradient(std::span<const double> v, std::size_t c) const {
  Vector g{};
  for (std::size_t a = 0; a < 3; ++a)
    if (next_[c][a] != nothing) g[a] = (v[next_[c][a]] - v[c]) * per_distance_[c][a];
  return g;
}

/// ∂/∂g of ½ V |g × a|² = V (|a|² g − (a·g) a), g = ∇v
CrossGradient::Vector CrossGradient::flux(std::span<const double> v, std::size_t c) const {
  const auto g = gradient(v, c);
  const auto& a = gradient_[c];
  const double aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], ag = a[0] * g[0] + a[1] * g[1] + a[2] * g[2];
  Vector made;
  for (std::size_t i = 0; i < 3; ++i)
    made[i] = factor_ * volume_[c] * (aa * g[i] - ag * a[i]) * per_distance_[c][i];
  return made;
}

/// Each cell gathers: from its own differences, and from those of the cells before it that end in it.
void CrossGradient::add_apply(std::span<const double> v, std::span<double> out) const {
  std::vector<Vector> made(size());
  for_all(size(), threads_, [&](std::size_t c) { made[c] = flux(v, c); });
  for_all(size(), threads_, [&](std::size_t c) {
    double sum = -(made[c][0] + made[c][1] + made[c][2]);
    for (std::size_t a = 0; a < 3; ++a)
      if (before_[c][a] != nothing) sum += made[before_[c][a]][a];
    out[c] += sum;
  });
}

void CrossGradient::add_diagonal(std::span<double> out) const {
  // Of a cell's own form the part of one direction, and of all three together.
  const auto form = [&](std::size_t c, const Vector& g) {
    const auto& a = gradient_[c];
    const double aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], ag = a[0] * g[0] + a[1] * g[1] + a[2] * g[2];
    return factor_ * volume_[c] * std::max(aa * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) - ag * ag, 0.0);
  };
  for_all(size(), threads_, [&](std::size_t c) {
    double sum = form(c, per_distance_[c]);
    for (std::size_t a = 0; a < 3; ++a) {
      const auto b = before_[c][a];
      if (b == nothing) continue;
      Vector g{};
      g[a] = per_distance_[b][a];
      sum += form(b, g);
    }
    out[c] += sum;
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
