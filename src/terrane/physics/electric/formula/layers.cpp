// Outline (symbols as in layers.hpp): compute the weights of the filter once, and F on all planes at all λ;
// sum over λ for even steps of ln r; between these steps, interpolate by polynomials of degree seven.
#include "terrane/physics/electric/formula/layers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

namespace terrane::electric {

namespace {

using Number = std::complex<double>;

constexpr int steps_of_decade = 20;  // steps per decade of λ and r
constexpr int stride = 2;            // spacing of the filter's points, in steps
constexpr double step = std::numbers::ln10 / steps_of_decade;
constexpr int low = -7 * steps_of_decade, high = 2 * steps_of_decade;  // range of λr, in steps
constexpr std::size_t weight_count = (high - low) / stride + 1;

/// Solution x of rows · x = right in the sense of least squares, by Householder reflections.  rows:
/// [count][weight_count]
std::vector<double> least_squares(std::vector<std::vector<double>> rows, std::vector<double> right) {
  const std::size_t count = rows.size(), n = weight_count;
  for (std::size_t c = 0; c < n; ++c) {
    double norm = 0;
    for (std::size_t r = c; r < count; ++r) norm += rows[r][c] * rows[r][c];
    norm = std::copysign(std::sqrt(norm), rows[c][c]);
    std::vector<double> v(count, 0.0);
    for (std::size_t r = c; r < count; ++r) v[r] = rows[r][c];
    v[c] += norm;
    const double half = norm * v[c];  // vᵀv / 2
    const auto reflect = [&](auto&& value) {
      double sum = 0;
      for (std::size_t r = c; r < count; ++r) sum += v[r] * value(r);
      sum /= half;
      for (std::size_t r = c; r < count; ++r) value(r) -= sum * v[r];
    };
    for (std::size_t k = c; k < n; ++k) reflect([&](std::size_t r) -> double& { return rows[r][k]; });
    reflect([&](std::size_t r) -> double& { return right[r]; });
  }
  std::vector<double> x(n);
  for (std::size_t c = n; c-- > 0;) {
    double sum = right[c];
    for (std::size_t k = c + 1; k < n; ++k) sum -= rows[c][k] * x[k];
    x[c] = sum / rows[c][c];
  }
  return x;
}

/// Weights w in ∫ F(λ) J₀(λ) dλ = Σ w F(λ_n), ln λ_n = (low + n stride) step: chosen such that the sum for
/// F = e^{-aλ} is (1 + a²)^-½, the exact integral, for a from 0 to 1e6.
const std::vector<double>& filter() {
  static const std::vector<double> weights = [] {
    constexpr int images = 240;
    constexpr double damping = 1e-11;
    std::vector<double> x(weight_count);
    for (std::size_t n = 0; n < weight_count; ++n)
      x[n] = std::exp((low + static_cast<int>(n) * stride) * step);
    std::vector<std::vector<double>> rows;
    std::vector<double> right;
    for (int image = 0; image <= images; ++image) {
      const double a = image == 0 ? 0 : std::pow(10, -5 + 11.0 * (image - 1) / (images - 1));
      auto& row = rows.emplace_back();
      for (const double at : x) row.push_back(std::hypot(1, a) * std::exp(-a * at) * at);
      right.push_back(1);
    }
    for (std::size_t n = 0; n < weight_count; ++n) {
      rows.emplace_back(weight_count, 0.0)[n] = damping;
      right.push_back(0);
    }
    auto weights_by_x = least_squares(std::move(rows), std::move(right));
    for (std::size_t n = 0; n < weight_count; ++n) weights_by_x[n] *= x[n];
    return weights_by_x;
  }();
  return weights;
}

/// The part of one layer between two neighbouring levels (interfaces, planes, the electrode): κ/λ times its
/// height, and c/λ (layers.hpp).  T: double, or complex if conductivities are
template <class T>
struct Piece {
  T height{}, c{};
};

/// Values at one λ: F on all levels, and `down`, the downward current density of the potential with this F.
template <class T>
struct Kernel {
  std::vector<T> below, above, f, down;

  /// pieces: from the lowest to the highest, pieces[n] above levels[n]; lowest: the medium below levels[0]
  void at(double lambda, const std::vector<Piece<T>>& pieces, const Piece<T>& lowest, std::size_t source) {
    const std::size_t levels = pieces.size() + 1;
    below.resize(levels);
    above.resize(levels);
    f.resize(levels);
    down.resize(levels);
    struct Crossing {
      T c, t, decay;  // decay: e^{-κh}
    };
    std::vector<Crossing> crossing(pieces.size());
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      const T decay = std::exp(-lambda * pieces[n].height), twice = decay * decay;
      crossing[n] = {lambda * pieces[n].c, (1.0 - twice) / (1.0 + twice), decay};
    }
    const auto through = [](const T& y, const Crossing& w) {
      return w.c * (y + w.c * w.t) / (w.c + y * w.t);
    };
    below[0] = lambda * lowest.c;
    for (std::size_t n = 0; n < pieces.size(); ++n) below[n + 1] = through(below[n], crossing[n]);
    above[levels - 1] = 0;  // air has the admittance 0
    for (std::size_t n = pieces.size(); n-- > 0;) above[n] = through(above[n + 1], crossing[n]);
    f[source] = lambda / (below[source] + above[source]) / (2 * std::numbers::pi);
    down[source] = 0;
    const auto pass = [](const T& value, const Crossing& w, const T& y) {
      const T ratio = y / w.c;
      return value * 2.0 * w.decay / ((1.0 + ratio) + (1.0 - ratio) * w.decay * w.decay);
    };
    for (std::size_t n = source; n + 1 < levels; ++n) {
      f[n + 1] = pass(f[n], crossing[n], above[n + 1]);
      down[n + 1] = -above[n + 1] * f[n + 1];
    }
    for (std::size_t n = source; n-- > 0;) {
      f[n] = pass(f[n + 1], crossing[n], below[n]);
      down[n] = below[n] * f[n];
    }
  }
};

}  // namespace

bool Layers::complex() const {
  const auto lags = [](const Number& value) { return value.imag() != 0; };
  return std::any_of(along.begin(), along.end(), lags) || std::any_of(upwards.begin(), upwards.end(), lags);
}

std::size_t Layers::at(double up) const {
  return static_cast<std::size_t>(std::upper_bound(between.begin(), between.end(), up) - between.begin());
}

namespace {

std::vector<double> ascending(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

template <class T>
T as(const Number& value) {
  if constexpr (std::is_same_v<T, double>) return value.real();
  else return value;
}

/// Calls use(n, kernel) for ln λ = (first + n) step; the kernel has values on all levels.
template <class T, class Use>
void for_lambdas(const Layers& layers, const std::vector<double>& levels, std::size_t source, int first,
                 std::size_t count, const Use& use) {
  const auto piece = [&](double from, double to) {
    const auto layer = layers.at((from + to) / 2);
    const T along = as<T>(layers.along[layer]), upwards = as<T>(layers.upwards[layer]);
    return Piece<T>{std::sqrt(along / upwards) * (to - from), std::sqrt(along * upwards)};
  };
  std::vector<Piece<T>> pieces;
  for (std::size_t n = 0; n + 1 < levels.size(); ++n) pieces.push_back(piece(levels[n], levels[n + 1]));
  const auto lowest = piece(levels[0] - 1, levels[0]);
  Kernel<T> kernel;
  for (std::size_t n = 0; n < count; ++n) {
    kernel.at(std::exp((first + static_cast<int>(n)) * step), pieces, lowest, source);
    use(n, kernel);
  }
}

}  // namespace

LayersPotential::LayersPotential(const Layers& layers, double source, double surface,
                                 const std::vector<double>& planes, double nearest, double farthest)
    : nearest_(nearest) {
  const auto heights = ascending(planes);
  auto levels = heights;
  levels.push_back(source);
  levels.push_back(surface);
  for (const double face : layers.between)
    if (face < surface) levels.push_back(face);
  levels = ascending(std::move(levels));
  const auto place = [&](double up) {
    return static_cast<std::size_t>(std::lower_bound(levels.begin(), levels.end(), up) - levels.begin());
  };
  std::vector<std::size_t> level_of;
  for (const double up : heights) {
    const auto layer = layers.at(up);
    const std::size_t below = layer > 0 && up == layers.between[layer - 1] ? layer - 1 : layer;
    planes_.push_back({up, up == source, (layers.upwards[layer] + layers.upwards[below]) / 2.0, {}, {}});
    level_of.push_back(place(up));
  }
  // Range of ln r in steps, extended by the points that polynomials need on each side. The values of λ are
  // chosen such that every λr is a point of the filter.
  const int begin = static_cast<int>(std::floor(std::log(nearest) / step)) - 4,
            end = static_cast<int>(std::ceil(std::log(farthest) / step)) + 4;
  first_ = begin * step;
  const auto lambdas = static_cast<std::size_t>(end - begin + high - low + 1);
  std::vector<std::vector<Number>> f(heights.size(), std::vector<Number>(lambdas)), down = f;
  const auto keep = [&](std::size_t n, const auto& kernel) {
    for (std::size_t p = 0; p < heights.size(); ++p) {
      f[p][n] = kernel.f[level_of[p]];
      down[p][n] = kernel.down[level_of[p]];
    }
  };
  if (layers.complex()) for_lambdas<Number>(layers, levels, place(source), low - end, lambdas, keep);
  else for_lambdas<double>(layers, levels, place(source), low - end, lambdas, keep);
  const auto& weights = filter();
  for (std::size_t p = 0; p < heights.size(); ++p)
    for (int r = begin; r <= end; ++r) {
      Number rphi = 0, rj = 0;
      for (std::size_t w = 0; w < weights.size(); ++w) {
        const auto n = static_cast<std::size_t>(end - r) + w * stride;
        rphi += weights[w] * f[p][n];
        rj += weights[w] * down[p][n];
      }
      planes_[p].rphi.push_back(rphi);
      planes_[p].rrj.push_back(-rj * std::exp(r * step));
    }
}

const LayersPotential::Plane& LayersPotential::plane(double up) const {
  const auto found = std::lower_bound(planes_.begin(), planes_.end(), up,
                                      [](const Plane& one, double height) { return one.up < height; });
  return *std::min(found, planes_.end() - 1);
}

namespace {

constexpr int points = 8;  // number of points of a polynomial

/// Weights for the value and the derivative of the polynomial through eight points with unit spacing.  steps:
/// position, in steps from the first point of the table
struct Weights {
  std::size_t first = 0;
  double value[points], slope[points];

  Weights(double steps, std::size_t count, bool with_slope) {
    const auto most = static_cast<double>(count - points);
    constexpr int below = points / 2 - 1;
    first = static_cast<std::size_t>(std::clamp(std::floor(steps) - below, 0.0, most));
    const double x = steps - static_cast<double>(first);
    constexpr double factorial[points] = {1, 1, 2, 6, 24, 120, 720, 5040};
    for (int n = 0; n < points; ++n) {
      const double scale = ((points - 1 - n) % 2 ? -1 : 1) / (factorial[n] * factorial[points - 1 - n]);
      double product = 1, change = 0;
      for (int m = 0; m < points; ++m)
        if (m != n) {
          if (with_slope) change = change * (x - m) + product;
          product *= x - m;
        }
      value[n] = scale * product;
      slope[n] = scale * change;
    }
  }
  Number of(const std::vector<Number>& values, const double (&weight)[points]) const {
    Number sum = 0;
    for (int n = 0; n < points; ++n) sum += weight[n] * values[first + static_cast<std::size_t>(n)];
    return sum;
  }
};

}  // namespace

Number LayersPotential::potential(double up, double r) const {
  const auto& at = plane(up);
  if (r == 0 && at.of_source) return std::numeric_limits<double>::infinity();
  const double x = std::max(r, nearest_);
  const Weights weights((std::log(x) - first_) / step, at.rphi.size(), false);
  return weights.of(at.rphi, weights.value) / (at.of_source ? r : x);
}

std::pair<Number, Number> LayersPotential::field(double up, double r) const {
  const auto& at = plane(up);
  const double x = std::max(r, nearest_);
  const Weights weights((std::log(x) - first_) / step, at.rphi.size(), true);
  // φ = g(ln r)/r
  const Number g = weights.of(at.rphi, weights.value), slope = weights.of(at.rphi, weights.slope) / step;
  const Number radial = r < nearest_ ? Number(0) : (g - slope) / (x * x);
  return {radial, weights.of(at.rrj, weights.value) / (x * x) / at.upwards};
}

}  // namespace terrane::electric
