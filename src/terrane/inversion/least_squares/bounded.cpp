#include "terrane/inversion/least_squares/bounded.hpp"

#include <algorithm>
#include <cmath>

namespace terrane::inversion {

namespace {

constexpr std::size_t vector_axes = 3;  // number of components of a vector; a model is [axis, cell]
// A vector is on its bound if it is shorter by less than this part.
constexpr double part_of_rounding = 1e-12;

/// The square of the length of a cell's vector.  stride: number of cells
double square_of(std::span<const double> v, std::size_t cell, std::size_t stride) {
  double sum = 0;
  for (std::size_t a = 0; a < vector_axes; ++a) sum += v[a * stride + cell] * v[a * stride + cell];
  return sum;
}

/// The scalar product of two vectors of a cell.
double product_of(std::span<const double> v, std::span<const double> w, std::size_t cell,
                  std::size_t stride) {
  double sum = 0;
  for (std::size_t a = 0; a < vector_axes; ++a) sum += v[a * stride + cell] * w[a * stride + cell];
  return sum;
}

}  // namespace

bool Bounds::clip(std::span<double> model) const {
  bool outside = false;
  for (std::size_t c = 0; c < lower.size(); ++c) {
    const double to = std::clamp(model[c], lower[c], upper[c]);
    outside = outside || to != model[c];
    model[c] = to;
  }
  for (std::size_t c = 0; c < length.size(); ++c) {
    const double size = std::sqrt(square_of(model, c, length.size()));
    if (size <= length[c]) continue;
    outside = true;
    for (std::size_t a = 0; a < vector_axes; ++a) model[a * length.size() + c] *= length[c] / size;
  }
  return outside;
}

bool Bounds::is_longest(std::span<const double> model, std::size_t cell) const {
  return std::sqrt(square_of(model, cell, length.size())) >= length[cell] * (1 - part_of_rounding);
}

std::size_t Bounds::count_on(std::span<const double> model) const {
  std::size_t count = 0;
  for (std::size_t c = 0; c < lower.size(); ++c) count += model[c] <= lower[c] || model[c] >= upper[c];
  for (std::size_t c = 0; c < length.size(); ++c) count += is_longest(model, c);
  return count;
}

namespace {

/// A model with its gradient g = A m − b and W G m; both are updated with every move of the model.
class Place {
 public:
  Place(NormalEquations& equations, const Bounds& bounds, std::span<double> start, Progress* progress)
      : equations_(equations),
        bounds_(bounds),
        threads_(equations.objective().threads()),
        progress_(progress),
        model(start),
        gradient(start.size()),
        weighted(equations.objective().g->rows()),
        longest_(bounds.length.size()),
        to_(start.size()),
        change_(start.size()),
        a_change_(start.size()),
        w_change_(weighted.size()) {
    equations_.apply(model, gradient, weighted);
    for (std::size_t c = 0; c < model.size(); ++c) gradient[c] -= equations_.right_side()[c];
    look_for_longest();
  }

  /// The gradient without its components along which bounds do not allow the cell to move downhill.
  std::vector<double> projected() const {
    auto g = gradient;
    for (std::size_t c = 0; c < bounds_.lower.size(); ++c) {
      if (bounds_.lower[c] == bounds_.upper[c]) g[c] = 0;
      else if (model[c] <= bounds_.lower[c]) g[c] = std::min(g[c], 0.0);
      else if (model[c] >= bounds_.upper[c]) g[c] = std::max(g[c], 0.0);
    }
    for (std::size_t cell = 0; cell < longest_.size(); ++cell)
      if (longest_[cell] && outward(cell) <= 0) make_tangent(g, cell);
    return g;
  }
  /// Sets the components of v to zero in cells on a bound; with bounds of lengths only the component along
  /// the vector.
  void keep_on_face(std::span<double> v) const {
    for (std::size_t c = 0; c < bounds_.lower.size(); ++c)
      if (!free(c)) v[c] = 0;
    for (std::size_t cell = 0; cell < longest_.size(); ++cell)
      if (longest_[cell]) make_tangent(v, cell);
  }
  /// Adds λ p, the curvature of the bounds of lengths, to A p.
  void add_curvature(std::span<const double> p, std::span<double> a_p) const {
    const std::size_t stride = longest_.size();
    for (std::size_t cell = 0; cell < stride; ++cell) {
      if (!longest_[cell] || bounds_.length[cell] == 0) continue;
      const double multiplier = std::max(0.0, -outward(cell)) / (bounds_.length[cell] * bounds_.length[cell]);
      for (std::size_t a = 0; a < vector_axes; ++a)
        a_p[a * stride + cell] += multiplier * p[a * stride + cell];
    }
  }
  /// 1/diag(A); with bounds of lengths the mean of the diagonal over the components of the cell.
  double metric(std::size_t c) const {
    const auto& diagonal = equations_.diagonal();
    if (longest_.empty()) return 1 / diagonal[c];
    double sum = 0;
    for (std::size_t a = 0; a < vector_axes; ++a) sum += diagonal[a * longest_.size() + c % longest_.size()];
    return vector_axes / sum;
  }
  double size() const {
    auto part = projected();
    for (std::size_t c = 0; c < part.size(); ++c) part[c] *= std::sqrt(metric(c));
    return solve::norm(part, threads_);
  }
  std::vector<unsigned char> bound_cells() const {
    if (!longest_.empty()) return longest_;
    std::vector<unsigned char> bound(model.size());
    for (std::size_t c = 0; c < bound.size(); ++c) bound[c] = !free(c);
    return bound;
  }
  bool all_binding() const {
    const auto g = projected();
    for (std::size_t c = 0; c < bounds_.lower.size(); ++c)
      if (!free(c) && g[c] != 0) return false;
    for (std::size_t cell = 0; cell < longest_.size(); ++cell)
      if (longest_[cell] && outward(cell) > 0) return false;
    return true;
  }
  double phi_d() const {
    const auto& o = equations_.objective();
    double sum = 0;
    for (std::size_t i = 0; i < weighted.size(); ++i) {
      if (!(o.weight[i] > 0)) continue;
      const double r = o.weight[i] * o.data[i] - weighted[i];
      sum += r * r;
    }
    return sum;
  }

  /// Moves to P(m + α dir), P the projection onto the bounds, with the largest α of first, first/2, … for
  /// which q (bounded.hpp) decreases enough; a_dir = A dir, w_dir = W G dir. Returns the decrease of q;
  /// whole: gets whether α = first.
  double search(std::span<const double> dir, std::span<const double> a_dir, std::span<const double> w_dir,
                double first, bool& whole) {
    for (double alpha = first; alpha > 1e-12 * first; alpha /= 2) {
      for (std::size_t c = 0; c < dir.size(); ++c) to_[c] = model[c] + alpha * dir[c];
      const bool bent = bounds_.clip(to_);
      for (std::size_t c = 0; c < dir.size(); ++c) change_[c] = to_[c] - model[c];
      if (bent) {
        equations_.apply(change_, a_change_, w_change_);
        go_on(progress_);
      } else {
        for (std::size_t c = 0; c < dir.size(); ++c) a_change_[c] = alpha * a_dir[c];
        for (std::size_t i = 0; i < w_dir.size(); ++i) w_change_[i] = alpha * w_dir[i];
      }
      const double slope = solve::dot(gradient, change_, threads_);
      const double q = slope + 0.5 * solve::dot(change_, a_change_, threads_);
      if (q > 0.1 * slope) continue;  // q does not decrease enough
      for (std::size_t c = 0; c < dir.size(); ++c) {
        model[c] += change_[c];
        gradient[c] += a_change_[c];
      }
      bounds_.clip(model);
      look_for_longest();
      for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] += w_change_[i];
      whole = alpha == first;
      return -q;
    }
    whole = false;
    return 0;
  }

 private:
  bool free(std::size_t c) const {
    return bounds_.lower.empty() || (model[c] > bounds_.lower[c] && model[c] < bounds_.upper[c]);
  }
  void look_for_longest() {
    for (std::size_t cell = 0; cell < longest_.size(); ++cell)
      longest_[cell] = bounds_.is_longest(model, cell);
  }
  /// g·m of a cell: above zero if the vector gets shorter downhill.
  double outward(std::size_t cell) const { return product_of(gradient, model, cell, longest_.size()); }
  /// Removes from v what is along the vector of a cell; all of it if the vector must be zero.
  void make_tangent(std::span<double> v, std::size_t cell) const {
    const std::size_t stride = longest_.size();
    const double square = square_of(model, cell, stride);
    const double part = square > 0 ? product_of(v, model, cell, stride) / square : 0;
    for (std::size_t a = 0; a < vector_axes; ++a) {
      double& value = v[a * stride + cell];
      value = square > 0 ? value - part * model[a * stride + cell] : 0;
    }
  }

  NormalEquations& equations_;
  const Bounds& bounds_;
  int threads_;
  Progress* progress_;

 public:
  std::span<double> model;
  std::vector<double> gradient, weighted;

 private:
  std::vector<unsigned char> longest_;  ///< [cells] whether the cell's vector has the largest allowed length;
                                        ///< empty: lengths have no bounds
  std::vector<double> to_, change_, a_change_, w_change_;
};

/// Phase 1: gradient projection.
void project_gradients(NormalEquations& equations, Place& place) {
  const std::size_t n = place.model.size();
  std::vector<double> dir(n), a_dir(n), w_dir(place.weighted.size());
  double most = 0;
  for (int step = 0; step < 10; ++step) {
    const auto before = place.bound_cells();
    dir = place.projected();
    for (std::size_t c = 0; c < n; ++c) dir[c] *= -place.metric(c);
    const double slope = solve::dot(place.gradient, dir, equations.objective().threads());
    if (slope >= 0) return;
    equations.apply(dir, a_dir, w_dir);
    auto curved = a_dir;
    place.add_curvature(dir, curved);
    const double curvature = solve::dot(dir, curved, equations.objective().threads());
    bool whole = false;
    const double gain = place.search(dir, a_dir, w_dir, -slope / curvature, whole);
    if (gain <= 0.25 * most || place.bound_cells() == before) return;
    most = std::max(most, gain);
  }
}

/// Phase 2 (bounded.hpp): s, the sum of the steps of conjugate gradients on the free cells, A s and W G s.
/// Stops when a step lowers q by less than η times as much as the best step.
void conjugate_on_face(NormalEquations& equations, const Place& place, double eta, double floor, int most,
                       Progress* progress, std::vector<double>& s, std::vector<double>& a_s,
                       std::vector<double>& w_s) {
  const std::size_t n = place.model.size();
  const int threads = equations.objective().threads();
  std::vector<double> r(n), z(n), p(n), q(n), on_face(n), w(w_s.size());
  std::fill(s.begin(), s.end(), 0.0);
  std::fill(a_s.begin(), a_s.end(), 0.0);
  std::fill(w_s.begin(), w_s.end(), 0.0);
  for (std::size_t c = 0; c < n; ++c) r[c] = -place.gradient[c];
  place.keep_on_face(r);
  for (std::size_t c = 0; c < n; ++c) p[c] = z[c] = place.metric(c) * r[c];
  double rho = solve::dot(r, z, threads), best = 0;
  for (int step = 0; step < most && std::sqrt(rho) > floor; ++step) {
    go_on(progress);
    equations.apply(p, q, w);
    on_face = q;
    place.add_curvature(p, on_face);
    place.keep_on_face(on_face);
    const double alpha = rho / solve::dot(p, on_face, threads);
    for (std::size_t c = 0; c < n; ++c) {
      s[c] += alpha * p[c];
      a_s[c] += alpha * q[c];
      r[c] -= alpha * on_face[c];
      z[c] = place.metric(c) * r[c];
    }
    for (std::size_t i = 0; i < w.size(); ++i) w_s[i] += alpha * w[i];
    const double gain = 0.5 * alpha * rho;
    best = std::max(best, gain);
    if (gain <= eta * best) break;
    const double next = solve::dot(r, z, threads);
    for (std::size_t c = 0; c < n; ++c) p[c] = z[c] + next / rho * p[c];
    rho = next;
  }
}

}  // namespace

Descent minimise_within(NormalEquations& equations, const Bounds& bounds, std::span<double> model,
                        double tolerance, double least, int most_products, Progress* progress) {
  Descent done;
  const int before = equations.products();
  bounds.clip(model);
  Place place(equations, bounds, model, progress);
  done.began = place.size();
  const double aim = std::max(tolerance * done.began, least);
  std::vector<double> s(model.size()), a_s(model.size()), w_s(place.weighted.size());
  double eta = 0.1;
  done.gradient = place.size();
  while (done.gradient > aim && equations.products() - before < most_products) {
    project_gradients(equations, place);
    for (bool again = true; again && place.size() > aim && equations.products() - before < most_products;) {
      conjugate_on_face(equations, place, eta, 0.1 * aim, most_products - (equations.products() - before),
                        progress, s, a_s, w_s);
      bool whole = false;
      const double gain = place.search(s, a_s, w_s, 1, whole);
      again = whole && gain > 0 && place.all_binding();
      if (again) eta = std::max(eta / 10, 1e-3);
    }
    const double now = place.size();
    if (!(now < done.gradient) && eta <= 1e-3 && now > aim &&
        equations.products() - before > most_products / 2)
      break;
    done.gradient = now;
  }
  done.products = equations.products() - before;
  done.phi_d = place.phi_d();
  done.converged = done.gradient <= aim;
  done.on_bounds = bounds.count_on(model);
  return done;
}

Descent minimise(NormalEquations& equations, std::span<double> model, double tolerance, bool fast_inverse,
                 int most_products, Progress* progress) {
  Descent done;
  const int before = equations.products(), threads = equations.objective().threads();
  const Bounds none;
  Place place(equations, none, model, progress);
  const std::size_t n = model.size();
  std::vector<double> r(n), z(n), p(n), q(n), w(place.weighted.size());
  const auto precondition = [&] {
    if (!fast_inverse) {
      for (std::size_t c = 0; c < n; ++c) z[c] = place.metric(c) * r[c];
      return;
    }
    z = r;
    equations.objective().regulariser->precondition(z);
    for (double& value : z) value /= equations.beta();
  };
  for (std::size_t c = 0; c < n; ++c) r[c] = -place.gradient[c];
  precondition();
  p = z;
  double rho = solve::dot(r, z, threads);
  const double aim = rho * tolerance * tolerance;
  while (rho > aim && equations.products() - before < most_products) {
    go_on(progress);
    equations.apply(p, q, w);
    const double alpha = rho / solve::dot(p, q, threads);
    for (std::size_t c = 0; c < n; ++c) {
      model[c] += alpha * p[c];
      r[c] -= alpha * q[c];
    }
    for (std::size_t i = 0; i < w.size(); ++i) place.weighted[i] += alpha * w[i];
    precondition();
    const double next = solve::dot(r, z, threads);
    for (std::size_t c = 0; c < n; ++c) p[c] = z[c] + next / rho * p[c];
    rho = next;
  }
  done.products = equations.products() - before;
  done.gradient = std::sqrt(rho);
  done.phi_d = place.phi_d();
  done.converged = rho <= aim;
  return done;
}

}  // namespace terrane::inversion
