#include "terrane/inversion/model/regulariser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"

namespace terrane::inversion {

namespace {

std::array<std::vector<double>, 3> widths_of(const TensorMesh& mesh) {
  std::array<std::vector<double>, 3> widths;
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t i = 0; i + 1 < faces[a]->size(); ++i)
      widths[a].push_back((*faces[a])[i + 1] - (*faces[a])[i]);
  return widths;
}

}  // namespace

Regulariser::Regulariser(const TensorMesh& mesh, std::vector<std::uint32_t> active, const Alphas& alphas,
                         std::vector<double> weight, bool weights_in_gradients, int threads,
                         std::size_t components)
    : n_{mesh.n_east(), mesh.n_north(), mesh.n_up()},
      step_{1, mesh.n_east(), mesh.n_east() * mesh.n_north()},
      h_(widths_of(mesh)),
      active_(active.size() == mesh.size() ? std::vector<std::uint32_t>{} : std::move(active)),
      alphas_(alphas),
      weight_(std::move(weight)),
      weights_in_gradients_(weights_in_gradients),
      threads_(threads),
      components_(components),
      inverse_(h_, {alphas.smallness, alphas.flatness[0], alphas.flatness[1], alphas.flatness[2]}, threads) {
  const std::size_t cells = mapped() ? active_.size() : mesh.size();
  if (weight_.empty()) weight_.assign(cells, 1.0);
  if (weight_.size() != cells)
    throw ShapeError("inversion: weights", "there must be one for each active cell");
  for (const double w : weight_)
    if (!(w > 0) || !std::isfinite(w))
      throw InputError("inversion: weights", "a weight is not above zero",
                       "Without it the cell costs nothing.");
  volume_.resize(cells);
  for (std::size_t c = 0; c < cells; ++c) {
    const auto [i, j, k] = mesh.cell(mapped() ? active_[c] : c);
    volume_[c] = h_[0][i] * h_[1][j] * h_[2][k];
  }
  whole_weight_ = on_mesh(weight_);
}

void Regulariser::weigh(Factors own) {
  for (const auto& factors : own) {
    if (factors.size() != whole_weight_.size())
      throw ShapeError("inversion: weights of cells and faces",
                       "there must be one for each cell of the mesh");
    for (const double factor : factors)
      if (!(factor > 0) || !std::isfinite(factor))
        throw InputError("inversion: weights of cells and faces",
                         fmt::format("{:g} is not above zero", factor),
                         "A small number lets the model change there almost freely.");
  }
  own_ = std::move(own);
  reweight(std::nullopt);
}

void Regulariser::reweight(std::optional<Factors> factors) {
  factors_ = std::move(factors);
  if (!own_) return;
  if (!factors_) {
    factors_ = own_;
    return;
  }
  for (std::size_t t = 0; t < factors_->size(); ++t)
    for (std::size_t c = 0; c < (*factors_)[t].size(); ++c) (*factors_)[t][c] *= (*own_)[t][c];
}

std::vector<double> Regulariser::on_mesh(std::span<const double> v) const {
  if (!mapped()) return {v.begin(), v.end()};
  std::vector<double> whole(n_[0] * n_[1] * n_[2]);
  for (std::size_t c = 0; c < active_.size(); ++c) whole[active_[c]] = v[c];
  return whole;
}

void Regulariser::to_active(std::span<const double> whole, std::span<double> out) const {
  if (!mapped()) std::copy(whole.begin(), whole.end(), out.begin());
  else
    for (std::size_t c = 0; c < active_.size(); ++c) out[c] = whole[active_[c]];
}

double Regulariser::face(std::size_t axis, std::size_t cell, const std::array<std::size_t, 3>& place) const {
  if (place[axis] + 1 >= n_[axis]) return 0;
  const double low = whole_weight_[cell], high = whole_weight_[cell + step_[axis]];
  if (low == 0 || high == 0) return 0;
  const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
  double factor = h_[b][place[b]] * h_[c][place[c]] * 2 / (h_[axis][place[axis]] + h_[axis][place[axis] + 1]);
  if (!weights_in_gradients_) factor *= 0.5 * (low * low + high * high);
  if (factors_) factor *= (*factors_)[axis + 1][cell];
  return factor;
}

/// Calls body(cell, place) for every active cell of the mesh; threads process whole layers.
template <class Body>
void Regulariser::for_cells(const Body& body) const {
  for_each(n_[2], threads_, [&](std::size_t k) {
    for (std::size_t j = 0; j < n_[1]; ++j)
      for (std::size_t i = 0; i < n_[0]; ++i) {
        const std::size_t cell = i + n_[0] * (j + n_[1] * k);
        if (whole_weight_[cell] != 0) body(cell, std::array<std::size_t, 3>{i, j, k});
      }
  });
}

void Regulariser::apply(std::span<const double> v, std::span<double> out) const {
  if (v.size() != size() || out.size() != size())
    throw ShapeError("regulariser", "vectors of another length");
  for (std::size_t n = 0; n < components_; ++n) apply_to_one(component(v, n), component(out, n));
  for (const auto& one : couplings_) one->add_apply(v, out);
}

void Regulariser::apply_to_one(std::span<const double> v, std::span<double> out) const {
  auto u = on_mesh(v);
  std::vector<double> made(u.size());
  const bool inside = weights_in_gradients_;
  if (inside)
    for (std::size_t c = 0; c < u.size(); ++c) u[c] *= whole_weight_[c];
  for_cells([&](std::size_t cell, const std::array<std::size_t, 3>& place) {
    const double w = whole_weight_[cell];
    double small = alphas_.smallness * h_[0][place[0]] * h_[1][place[1]] * h_[2][place[2]] * u[cell];
    if (factors_) small *= (*factors_)[0][cell];
    double flat = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double above = face(a, cell, place);
      if (above != 0) flat += alphas_.flatness[a] * above * (u[cell] - u[cell + step_[a]]);
      if (place[a] == 0) continue;
      auto lower = place;
      --lower[a];
      const double below = face(a, cell - step_[a], lower);
      if (below != 0) flat += alphas_.flatness[a] * below * (u[cell] - u[cell - step_[a]]);
    }
    made[cell] = inside ? w * (small + flat) : w * w * small + flat;
  });
  to_active(made, out);
}

void Regulariser::apply_smallness(std::span<const double> v, std::span<double> out) const {
  for (std::size_t n = 0; n < components_; ++n) {
    const auto from = component(v, n);
    const auto to = component(out, n);
    for (std::size_t c = 0; c < cells(); ++c) {
      to[c] = alphas_.smallness * volume_[c] * weight_[c] * weight_[c] * from[c];
      if (factors_) to[c] *= (*factors_)[0][mapped() ? active_[c] : c];
    }
  }
}

Terms Regulariser::terms(std::span<const double> u, std::span<const double> small) const {
  std::array<std::vector<double>, 3> layers;  // sums over each layer, which are then added in the order of
                                              // layers
  for (auto& sums : layers) sums.assign(n_[2], 0.0);
  for (std::size_t n = 0; n < components_; ++n) {
    auto whole = on_mesh(component(u, n));
    if (weights_in_gradients_)
      for (std::size_t c = 0; c < whole.size(); ++c) whole[c] *= whole_weight_[c];
    for_cells([&](std::size_t cell, const std::array<std::size_t, 3>& place) {
      for (std::size_t a = 0; a < 3; ++a) {
        const double factor = face(a, cell, place);
        if (factor == 0) continue;
        const double difference = whole[cell + step_[a]] - whole[cell];
        layers[a][place[2]] += factor * difference * difference;
      }
    });
  }
  Terms terms;
  for (std::size_t a = 0; a < 3; ++a) terms.flatness[a] = alphas_.flatness[a] * solve::tree_sum(layers[a]);
  const auto own = small.empty() ? u : small;
  std::vector<double> product(size());
  apply_smallness(own, product);
  terms.smallness = solve::dot(own, product, threads_);
  return terms;
}

void Regulariser::diagonal(std::span<double> out) const {
  std::vector<double> made(whole_weight_.size());
  for_cells([&](std::size_t cell, const std::array<std::size_t, 3>& place) {
    const double w = whole_weight_[cell];
    double small = alphas_.smallness * h_[0][place[0]] * h_[1][place[1]] * h_[2][place[2]];
    if (factors_) small *= (*factors_)[0][cell];
    double flat = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      flat += alphas_.flatness[a] * face(a, cell, place);
      if (place[a] == 0) continue;
      auto lower = place;
      --lower[a];
      flat += alphas_.flatness[a] * face(a, cell - step_[a], lower);
    }
    made[cell] = w * w * small + (weights_in_gradients_ ? w * w : 1) * flat;
  });
  for (std::size_t n = 0; n < components_; ++n) to_active(made, component(out, n));
  for (const auto& one : couplings_) one->add_diagonal(out);
}

void Regulariser::precondition(std::span<double> v) const {
  for (std::size_t n = 0; n < components_; ++n) {
    const auto one = component(v, n);
    for (std::size_t c = 0; c < cells(); ++c) one[c] /= weight_[c];
    if (mapped()) {
      auto whole = on_mesh(one);
      inverse_.apply(whole);
      to_active(whole, one);
    } else {
      inverse_.apply(one);
    }
    for (std::size_t c = 0; c < cells(); ++c) one[c] /= weight_[c];
  }
}

/// Solves R x = v by conjugate gradients with the preconditioner S:
/// r = v − R x;  z = S r;  p = z
/// repeat  α = rᵀz/pᵀRp;  x += α p;  r −= α R p;  z = S r;  p = z + β p    until rᵀz has fallen by tolerance²
/// β: rᵀz divided by that of the previous step.
int Regulariser::solve(std::span<double> v, double tolerance) const {
  if (exact()) {
    precondition(v);
    return 0;
  }
  std::vector<double> r(v.begin(), v.end()), x(size()), z(r), p, q(size());
  precondition(z);
  double rho = solve::dot(r, z, threads_);
  const double aim = rho * tolerance * tolerance;
  p = z;
  int step = 0;
  constexpr int most = 500;
  for (; step < most && rho > aim; ++step) {
    apply(p, q);
    const double alpha = rho / solve::dot(p, q, threads_);
    for (std::size_t c = 0; c < size(); ++c) {
      x[c] += alpha * p[c];
      r[c] -= alpha * q[c];
    }
    z = r;
    precondition(z);
    const double next = solve::dot(r, z, threads_);
    for (std::size_t c = 0; c < size(); ++c) p[c] = z[c] + next / rho * p[c];
    rho = next;
  }
  std::copy(x.begin(), x.end(), v.begin());
  return step;
}

namespace {

std::size_t longest(const std::array<std::size_t, 3>& n) {
  return static_cast<std::size_t>(std::max_element(n.begin(), n.end()) - n.begin());
}

}  // namespace

void Regulariser::diagonal_of_inverse(std::span<double> out) const {
  const auto first = component(out, 0);
  const auto to_others = [&] {
    for (std::size_t n = 1; n < components_; ++n)
      std::copy(first.begin(), first.end(), component(out, n).begin());
  };
  if (exact()) {
    inverse_.diagonal(first);
    for (std::size_t c = 0; c < cells(); ++c) first[c] /= weight_[c] * weight_[c];
    return to_others();
  }
  if (!couplings_.empty())
    throw InputError("inversion.posterior", "the model is coupled to others",
                     "Leave posterior = false, or find the model alone.");
  const std::size_t along = longest(n_), layers = n_[along];
  std::vector<std::uint32_t> place(whole_weight_.size()), count(layers);
  for (std::size_t cell = 0; cell < place.size(); ++cell)
    if (whole_weight_[cell] != 0) place[cell] = count[cell / step_[along] % layers]++;
  const auto found = solve::diagonal_of_inverse(in_layers(along, place), threads_);
  for (std::size_t c = 0; c < cells(); ++c) {
    const std::size_t cell = mapped() ? active_[c] : c;
    first[c] = found[cell / step_[along] % layers][place[cell]];
  }
  to_others();
}

/// R as a matrix of layers along an axis.  place: index of each cell within its layer
solve::LayeredMatrix Regulariser::in_layers(std::size_t along,
                                            const std::vector<std::uint32_t>& place) const {
  solve::LayeredMatrix made;
  made.layers.resize(n_[along]);
  std::vector<double> own(size());
  diagonal(own);
  const auto whole = on_mesh(component(std::span<const double>(own), 0));
  for (std::size_t cell = 0; cell < whole.size(); ++cell) {
    if (whole_weight_[cell] == 0) continue;
    const std::array<std::size_t, 3> at{cell % n_[0], cell / n_[0] % n_[1], cell / step_[2]};
    auto& layer = made.layers[at[along]];
    layer.diagonal.push_back(whole[cell]);
    for (std::size_t a = 0; a < 3; ++a) {
      const double factor = alphas_.flatness[a] * face(a, cell, at);
      if (factor == 0) continue;
      const std::size_t next = cell + step_[a];
      const double inside = weights_in_gradients_ ? whole_weight_[cell] * whole_weight_[next] : 1;
      (a == along ? layer.up : layer.within).push_back({place[cell], place[next], -factor * inside});
    }
  }
  return made;
}

std::pair<double, double> Regulariser::cost_of_diagonal(const TensorMesh& mesh) {
  const std::array<std::size_t, 3> n{mesh.n_east(), mesh.n_north(), mesh.n_up()};
  const double layers = static_cast<double>(n[longest(n)]),
               of_layer = static_cast<double>(mesh.size()) / layers;
  return {solve::bytes_of_layers(layers, of_layer), solve::seconds_of_layers(layers, of_layer)};
}

double Regulariser::bytes_on_device(const TensorMesh& mesh) {
  double values = 2 * static_cast<double>(mesh.size());  // numbers for the vector and for work space
  for (const auto n : {mesh.n_east(), mesh.n_north(), mesh.n_up()}) {
    const double modes = static_cast<double>(n);
    values += 2 * modes * modes + modes;  // eigenvectors, their transpose, and eigenvalues of an axis
  }
  return 8 * values;
}

Factors Regulariser::magnitudes(std::span<const double> u) const {
  auto all = magnitudes_of_one(component(u, 0));
  for (std::size_t n = 1; n < components_; ++n) {
    const auto one = magnitudes_of_one(component(u, n));
    for (std::size_t t = 0; t < all.size(); ++t)
      for (std::size_t c = 0; c < all[t].size(); ++c) all[t][c] = std::hypot(all[t][c], one[t][c]);
  }
  return all;
}

Factors Regulariser::magnitudes_of_one(std::span<const double> u) const {
  const auto whole = on_mesh(u);
  auto in_differences = whole;
  for (std::size_t c = 0; c < whole.size() && weights_in_gradients_; ++c)
    in_differences[c] *= whole_weight_[c];
  Factors made;
  made.fill(std::vector<double>(whole.size(), std::numeric_limits<double>::quiet_NaN()));
  for_cells([&](std::size_t cell, const std::array<std::size_t, 3>& place) {
    made[0][cell] = whole[cell];
    for (std::size_t a = 0; a < 3; ++a)
      if (place[a] + 1 < n_[a] && whole_weight_[cell + step_[a]] != 0)
        made[a + 1][cell] = (in_differences[cell + step_[a]] - in_differences[cell]) * 2 /
                            (h_[a][place[a]] + h_[a][place[a] + 1]);
  });
  return made;
}

Factors Regulariser::measures() const {
  Factors made;
  made.fill(std::vector<double>(whole_weight_.size()));
  for_cells([&](std::size_t cell, const std::array<std::size_t, 3>& place) {
    const double w = whole_weight_[cell];
    made[0][cell] = h_[0][place[0]] * h_[1][place[1]] * h_[2][place[2]] * w * w;
    for (std::size_t a = 0; a < 3; ++a) {
      if (place[a] + 1 >= n_[a] || whole_weight_[cell + step_[a]] == 0) continue;
      const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
      const double next = whole_weight_[cell + step_[a]];
      made[a + 1][cell] = h_[b][place[b]] * h_[c][place[c]] * 0.5 * (h_[a][place[a]] + h_[a][place[a] + 1]) *
                          (weights_in_gradients_ ? 1 : 0.5 * (w * w + next * next));
    }
  });
  if (own_)
    for (std::size_t t = 0; t < made.size(); ++t)
      for (std::size_t c = 0; c < made[t].size(); ++c) made[t][c] *= (*own_)[t][c];
  return made;
}

}  // namespace terrane::inversion
