#include "terrane/physics/electromagnetic/formula/layered.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;
constexpr double permeability = 4e-7 * std::numbers::pi;
constexpr Z one_i{0, 1};

/// One mode (TM or TE) at one wavenumber: a transmission line through all layers.
class Line {
 public:
  Line(const LayeredEarth& earth, std::vector<Z> gamma, std::vector<Z> impedance)
      : earth_(earth), gamma_(std::move(gamma)), z_(std::move(impedance)), down_(z_.size()), up_(z_.size()) {
    for (std::size_t n = 1; n < z_.size(); ++n) down_[n] = reflection(n, n - 1, down_[n - 1]);
    for (std::size_t n = z_.size() - 1; n-- > 0;) up_[n] = reflection(n, n + 1, up_[n + 1]);
  }

  struct Answer {
    Z v, i;
  };
  /// The voltage and current at height `receiver` for a unit source of current (shunt) or of voltage
  /// (series).
  Answer answer(double source, double receiver, bool shunt) const {
    const std::size_t s = layer(source), r = layer(receiver);
    if (r == s) return in_source_layer(s, source, receiver, shunt);
    const bool above = r > s;
    // The voltage is continuous: it is propagated from interface to interface.
    Z v = in_source_layer(s, source, above ? top(s) : bottom(s), shunt).v;
    for (std::size_t n = s;;) {
      n = above ? n + 1 : n - 1;
      const double z = n == r ? receiver : above ? top(n) : bottom(n);
      const double inner = above ? bottom(n) : top(n);
      const Z outer = above ? up_[n] : down_[n];
      const Z leaving = std::exp(-gamma_[n] * std::abs(z - inner));
      Z back = 0, whole = 0;
      if (outer != 0.0) {
        const double h = thickness(n);
        back = outer * std::exp(-gamma_[n] * (2 * h - std::abs(z - inner)));
        whole = outer * std::exp(-2.0 * gamma_[n] * h);
      }
      const Z amplitude = v / (1.0 + whole);
      v = amplitude * (leaving + back);
      if (n == r) return {v, (above ? 1.0 : -1.0) * amplitude * (leaving - back) / z_[n]};
    }
  }

 private:
  std::size_t layer(double z) const {
    return static_cast<std::size_t>(std::upper_bound(earth_.interfaces.begin(), earth_.interfaces.end(), z) -
                                    earth_.interfaces.begin());
  }
  double top(std::size_t n) const { return earth_.interfaces[n]; }
  double bottom(std::size_t n) const { return earth_.interfaces[n - 1]; }
  double thickness(std::size_t n) const { return top(n) - bottom(n); }
  /// The reflection coefficient at the end of layer n next to layer `next`, whose far end has the coefficient
  /// `far`.
  Z reflection(std::size_t n, std::size_t next, Z far) const {
    const Z r = (z_[next] - z_[n]) / (z_[next] + z_[n]);
    const Z through = far == 0.0 ? Z{} : far * std::exp(-2.0 * gamma_[next] * thickness(next));
    return (r + through) / (1.0 + r * through);
  }

  Answer in_source_layer(std::size_t n, double source, double z, bool shunt) const {
    const Z gamma = gamma_[n], size = shunt ? z_[n] / 2.0 : Z{0.5};
    const double below = shunt ? 1 : -1;  // sign of the direct voltage below the source
    const bool has_top = n + 1 < z_.size(), has_bottom = n > 0;
    const Z to_top = has_top ? std::exp(-gamma * (top(n) - source)) : Z{},
            to_bottom = has_bottom ? below * std::exp(-gamma * (source - bottom(n))) : Z{};
    const Z across = has_top && has_bottom ? std::exp(-gamma * thickness(n)) : Z{};
    const Z both = 1.0 - up_[n] * down_[n] * across * across;
    const Z from_top = up_[n] * (to_top + down_[n] * to_bottom * across) / both,
            from_bottom = down_[n] * (to_bottom + up_[n] * to_top * across) / both;
    const Z falling = has_top ? from_top * std::exp(-gamma * (top(n) - z)) : Z{},
            rising = has_bottom ? from_bottom * std::exp(-gamma * (z - bottom(n))) : Z{};
    const Z direct = std::exp(-gamma * std::abs(z - source));
    // At the source itself the mean of both sides is taken.
    const double side = z > source ? 1 : z < source ? -1 : 0;
    const Z voltage = shunt ? direct : side * direct, current = shunt ? side * direct : direct;
    return {size * (voltage + falling + rising), size / z_[n] * (current - falling + rising)};
  }

  const LayeredEarth& earth_;
  std::vector<Z> gamma_, z_, down_, up_;
};

Line line(const LayeredEarth& earth, double omega, double lambda, bool electric) {
  std::vector<Z> gamma, z;
  for (const auto& [horizontal, vertical] : earth.layers) {
    const Z iwm{0, omega * permeability};
    gamma.push_back(electric ? std::sqrt(horizontal * (lambda * lambda / vertical + iwm))
                             : std::sqrt(lambda * lambda + iwm * horizontal));
    z.push_back(electric ? gamma.back() / horizontal : iwm / gamma.back());
  }
  return {earth, std::move(gamma), std::move(z)};
}

/// The limit of a sequence by Wynn's ε algorithm: the value of the even columns that changes least from one
/// column to the next.
Z limit_of(const std::vector<Z>& sums) {
  std::vector<Z> before(sums.size() + 1), now = sums;
  Z best = sums.back(), last = sums.back();
  double change = INFINITY;
  for (int column = 1; now.size() > 1; ++column) {
    std::vector<Z> next(now.size() - 1);
    for (std::size_t n = 0; n < next.size(); ++n) {
      const Z difference = now[n + 1] - now[n];
      if (difference == 0.0) return column % 2 == 1 ? now[n] : best;
      next[n] = before[n + 1] + 1.0 / difference;
    }
    before = std::move(now);
    now = std::move(next);
    if (column % 2 != 0) continue;
    if (std::abs(now.back() - last) < change) {
      change = std::abs(now.back() - last);
      best = now.back();
    }
    last = now.back();
  }
  return best;
}

constexpr std::size_t gauss = 16;
struct GaussRule {
  std::array<double, gauss> x, w;
  GaussRule() {  // Gauss's rule on [−1, 1]; Newton's method finds the zeros of the Legendre polynomial
    for (std::size_t n = 0; n < gauss; ++n) {
      double t = std::cos(std::numbers::pi * (static_cast<double>(n) + 0.75) / (gauss + 0.5)), slope = 1;
      for (int step = 0; step < 50; ++step) {
        double p = 1, q = 0;
        for (std::size_t m = 1; m <= gauss; ++m) {
          const double next =
              ((2.0 * static_cast<double>(m) - 1) * t * p - (static_cast<double>(m) - 1) * q) /
              static_cast<double>(m);
          q = p;
          p = next;
        }
        slope = gauss * (t * p - q) / (t * t - 1);
        t -= p / slope;
      }
      x[n] = t;
      w[n] = 2 / ((1 - t * t) * slope * slope);
    }
  }
};

/// ∫ f(λ) dλ from 0 to ∞, f containing Bessel functions of λρ; add(λ, weight, sums) adds weight · f to
/// `count` sums.
template <std::size_t count, class Add>
std::array<Z, count> hankel(double rho, const Add& add) {
  static const GaussRule rule;
  constexpr int first_parts = 34, most = 60;
  std::array<std::vector<Z>, count> partial;
  std::array<Z, count> sum{};
  const auto panel = [&](double low, double high) {
    for (std::size_t n = 0; n < gauss; ++n)
      add((low + high) / 2 + (high - low) / 2 * rule.x[n], (high - low) / 2 * rule.w[n], sum);
  };
  const auto end = [&](int n) {
    return (n + 0.75) * std::numbers::pi / rho;
  };  // the ends are approximately zeros of J₀, J₁, J₂ in alternation
  for (int n = first_parts; n > 0; --n)
    panel(n == first_parts ? 0 : end(0) * std::pow(0.5, n), end(0) * std::pow(0.5, n - 1));
  for (int n = 0; n < most; ++n) {
    for (std::size_t c = 0; c < count; ++c) partial[c].push_back(sum[c]);
    panel(end(n), end(n + 1));
  }
  std::array<Z, count> limits;
  for (std::size_t c = 0; c < count; ++c) limits[c] = limit_of(partial[c]);
  return limits;
}

struct Offset {
  double rho, cosine, sine;
};

void check_layers(const LayeredEarth& earth) {
  if (earth.layers.empty() || earth.interfaces.size() + 1 != earth.layers.size() ||
      !std::is_sorted(earth.interfaces.begin(), earth.interfaces.end()))
    throw InputError("layered earth", "interfaces are not one fewer than layers, ascending");
  for (const auto& layer : earth.layers)
    if (!(layer.horizontal.real() > 0 && layer.vertical.real() > 0))
      throw InputError("layered earth", "a conductivity is not positive");
}

Offset check_and_offset(const LayeredEarth& earth, const std::array<double, 3>& source,
                        const std::array<double, 3>& receiver) {
  check_layers(earth);
  const double e = receiver[0] - source[0], n = receiver[1] - source[1], rho = std::hypot(e, n);
  if (!(rho > 0))
    throw InputError("layered earth", "the receiver is straight above or below the source",
                     "Move it sideways by a thousandth of the distance.");
  return {rho, e / rho, n / rho};
}

const LayeredEarth::Layer& layer_at(const LayeredEarth& earth, double z) {
  const auto n =
      std::upper_bound(earth.interfaces.begin(), earth.interfaces.end(), z) - earth.interfaces.begin();
  return earth.layers[static_cast<std::size_t>(n)];
}
Z vertical_at(const LayeredEarth& earth, double z) { return layer_at(earth, z).vertical; }

struct Bessel {
  double j0, j1, j2;
  explicit Bessel(double x) : j0(::j0(x)), j1(::j1(x)), j2(x > 1e-2 ? 2 * j1 / x - j0 : x * x / 8) {}
};

void add_horizontal(const LayeredEarth& earth, double omega, double from, double to, const Offset& offset,
                    double moment, double azimuth_cosine, double azimuth_sine, DipoleField& out) {
  const auto sums = hankel<8>(offset.rho, [&](double lambda, double weight, std::array<Z, 8>& sum) {
    const auto e = line(earth, omega, lambda, true).answer(from, to, true),
               h = line(earth, omega, lambda, false).answer(from, to, true);
    const Bessel j(lambda * offset.rho);
    const double w = weight * lambda;
    sum[0] += w * j.j0 * (e.v + h.v);
    sum[1] += w * j.j2 * (e.v - h.v);
    sum[2] += w * lambda * j.j1 * e.i;
    sum[3] += w * j.j0 * (e.i + h.i);
    sum[4] += w * j.j2 * (e.i - h.i);
    sum[5] += w * lambda * j.j1 * h.v;
  });
  // φ is measured from the dipole's direction x; y points to the left of x.
  const double c = offset.cosine * azimuth_cosine + offset.sine * azimuth_sine,
               s = offset.sine * azimuth_cosine - offset.cosine * azimuth_sine;
  const double c2 = c * c - s * s, s2 = 2 * s * c, quarter = moment / (4 * std::numbers::pi);
  const Z ex = -quarter * (sums[0] - c2 * sums[1]), ey = quarter * s2 * sums[1];
  const Z hx = -quarter * s2 * sums[4], hy = -quarter * (sums[3] - c2 * sums[4]);
  out.e[0] += azimuth_cosine * ex - azimuth_sine * ey;
  out.e[1] += azimuth_sine * ex + azimuth_cosine * ey;
  out.e[2] += 2 * quarter * c / vertical_at(earth, to) * sums[2];
  out.h[0] += azimuth_cosine * hx - azimuth_sine * hy;
  out.h[1] += azimuth_sine * hx + azimuth_cosine * hy;
  out.h[2] += -one_i * 2.0 * quarter * s / (omega * permeability) * sums[5];
}

/// Adds the field of a vertical electric dipole of moment m (other symbols as in layered.hpp):
/// (E_x, E_y) = m/(2πσ_v') ∫ V_v^e λ² J₁ (cos φ, sin φ),  E_z = m/(2πσ_vσ_v') ∫ I_v^e λ³ J₀,
/// (H_x, H_y) = m/(2πσ_v') ∫ I_v^e λ² J₁ (−sin φ, cos φ);  σ_v' at the source.
void add_vertical(const LayeredEarth& earth, double omega, double from, double to, const Offset& offset,
                  double moment, DipoleField& out) {
  const auto sums = hankel<3>(offset.rho, [&](double lambda, double weight, std::array<Z, 3>& sum) {
    const auto e = line(earth, omega, lambda, true).answer(from, to, false);
    const Bessel j(lambda * offset.rho);
    const double w = weight * lambda * lambda;
    sum[0] += w * j.j1 * e.v;
    sum[1] += w * j.j1 * e.i;
    sum[2] += w * lambda * j.j0 * e.i;
  });
  const Z factor = moment / (2 * std::numbers::pi * vertical_at(earth, from));
  out.e[0] += factor * offset.cosine * sums[0];
  out.e[1] += factor * offset.sine * sums[0];
  out.e[2] += factor / vertical_at(earth, to) * sums[2];
  out.h[0] -= factor * offset.sine * sums[1];
  out.h[1] += factor * offset.cosine * sums[1];
}

}  // namespace

DipoleField electric_dipole(const LayeredEarth& earth, double hertz, const std::array<double, 3>& source,
                            const std::array<double, 3>& moment, const std::array<double, 3>& receiver) {
  const auto offset = check_and_offset(earth, source, receiver);
  const double omega = 2 * std::numbers::pi * hertz, horizontal = std::hypot(moment[0], moment[1]);
  DipoleField field;
  if (horizontal > 0)
    add_horizontal(earth, omega, source[2], receiver[2], offset, horizontal, moment[0] / horizontal,
                   moment[1] / horizontal, field);
  if (moment[2] != 0) add_vertical(earth, omega, source[2], receiver[2], offset, moment[2], field);
  return field;
}

/// For a moment m (other symbols as in layered.hpp):
/// (E_x, E_y) = m/2π ∫ V_i^h λ² J₁ (sin φ, −cos φ),  (H_x, H_y) = m/2π ∫ I_i^h λ² J₁ (cos φ, sin φ),
/// H_z = −i m/(2πωμ₀) ∫ V_i^h λ³ J₀
DipoleField vertical_magnetic_dipole(const LayeredEarth& earth, double hertz,
                                     const std::array<double, 3>& source, double moment,
                                     const std::array<double, 3>& receiver) {
  const auto offset = check_and_offset(earth, source, receiver);
  const double omega = 2 * std::numbers::pi * hertz;
  const auto sums = hankel<3>(offset.rho, [&](double lambda, double weight, std::array<Z, 3>& sum) {
    const auto h = line(earth, omega, lambda, false).answer(source[2], receiver[2], true);
    const Bessel j(lambda * offset.rho);
    const double w = weight * lambda * lambda;
    sum[0] += w * j.j1 * h.v;
    sum[1] += w * j.j1 * h.i;
    sum[2] += w * lambda * j.j0 * h.v;
  });
  const double factor = moment / (2 * std::numbers::pi);
  DipoleField field;
  field.e = {factor * offset.sine * sums[0], -factor * offset.cosine * sums[0], 0};
  field.h = {factor * offset.cosine * sums[1], factor * offset.sine * sums[1],
             -one_i * factor / (omega * permeability) * sums[2]};
  return field;
}

namespace {

using Place = std::array<double, 3>;

/// Offset from source `from` to receiver `to`. A receiver almost vertically above or below is shifted
/// sideways by 1e-5 of the vertical distance, which changes fields by a similar fraction.
Offset aside(const Place& from, const Place& to) {
  constexpr double least = 1e-5;  // least ratio of horizontal to vertical offset
  const double e = to[0] - from[0], n = to[1] - from[1], rho = std::hypot(e, n),
               nearest = least * std::max(std::abs(to[2] - from[2]), 1e-6);
  return rho > nearest ? Offset{rho, e / rho, n / rho} : Offset{nearest, 1, 0};
}

/// A height on an interface is moved to the side with higher conductivity: on the side of air, the field of
/// ground currents would be a small difference of large numbers.
double in_conductor(const LayeredEarth& earth, double z) {
  const double below = std::nextafter(z, -INFINITY);
  return std::abs(layer_at(earth, below).horizontal) > std::abs(layer_at(earth, z).horizontal) ? below : z;
}

void add_end(const LayeredEarth& earth, double omega, const Place& from, double current, const Place& to,
             DipoleField& out) {
  const auto offset = aside(from, to);
  const double source = in_conductor(earth, from[2]);
  const auto sums = hankel<3>(offset.rho, [&](double lambda, double weight, std::array<Z, 3>& sum) {
    const auto e = line(earth, omega, lambda, true).answer(source, to[2], true),
               h = line(earth, omega, lambda, false).answer(source, to[2], true);
    const Bessel j(lambda * offset.rho);
    sum[0] += weight * j.j1 * (e.v - h.v);
    sum[1] += weight * lambda * j.j0 * e.i;
    sum[2] += weight * j.j1 * (e.i - h.i);
  });
  const double factor = current / (2 * std::numbers::pi);
  out.e[0] -= factor * offset.cosine * sums[0];
  out.e[1] -= factor * offset.sine * sums[0];
  out.e[2] -= factor / vertical_at(earth, to[2]) * sums[1];
  out.h[0] += factor * offset.sine * sums[2];
  out.h[1] -= factor * offset.cosine * sums[2];
}

/// Adds the induction field of a short segment; moment: current times its length along east, north, up.
void add_induced(const LayeredEarth& earth, double omega, const Place& from, const Place& moment,
                 const Place& to, DipoleField& out) {
  const auto offset = aside(from, to);
  const double source = in_conductor(earth, from[2]), factor = 1 / (2 * std::numbers::pi);
  if (moment[0] != 0 || moment[1] != 0) {
    const auto sums = hankel<3>(offset.rho, [&](double lambda, double weight, std::array<Z, 3>& sum) {
      const auto h = line(earth, omega, lambda, false).answer(source, to[2], true);
      const Bessel j(lambda * offset.rho);
      const double w = weight * lambda;
      sum[0] += w * j.j0 * h.v;
      sum[1] += w * j.j0 * h.i;
      sum[2] += w * lambda * j.j1 * h.v;
    });
    out.e[0] -= factor * moment[0] * sums[0];
    out.e[1] -= factor * moment[1] * sums[0];
    out.h[0] += factor * moment[1] * sums[1];
    out.h[1] -= factor * moment[0] * sums[1];
    out.h[2] -= one_i * factor / (omega * permeability) *
                (offset.sine * moment[0] - offset.cosine * moment[1]) * sums[2];
  }
  if (moment[2] == 0) return;
  const auto sums = hankel<3>(offset.rho, [&](double lambda, double weight, std::array<Z, 3>& sum) {
    const auto e = line(earth, omega, lambda, true).answer(source, to[2], false),
               h = line(earth, omega, lambda, false).answer(source, to[2], false);
    const Bessel j(lambda * offset.rho);
    sum[0] += weight * j.j1 * (e.v - h.v);
    sum[1] += weight * lambda * j.j0 * e.i;
    sum[2] += weight * j.j1 * (h.i - e.i);
  });
  const Z upright = one_i * omega * permeability * factor * moment[2];
  out.e[0] -= upright * offset.cosine * sums[0];
  out.e[1] -= upright * offset.sine * sums[0];
  out.e[2] -= upright / vertical_at(earth, to[2]) * sums[1];
  out.h[0] -= upright * offset.sine * sums[2];
  out.h[1] += upright * offset.cosine * sums[2];
}

/// A straight segment of a wire, subdivided where its integrand varies: into pieces no longer than their
/// distance from the receiver or two skin depths, and at interfaces.
class Straight {
 public:
  Straight(const LayeredEarth& earth, double hertz, const Place& from, const Place& to, double current,
           const Place& receiver)
      : earth_(earth), hertz_(hertz), from_(from), to_(to), current_(current), receiver_(receiver) {
    for (std::size_t a = 0; a < 3; ++a) length_ += (to[a] - from[a]) * (to[a] - from[a]);
    length_ = std::sqrt(length_);
  }

  void add(DipoleField& out) const {
    if (length_ == 0) return;
    std::vector<double> cuts{0, 1};
    for (const double height : earth_.interfaces)
      if ((height - from_[2]) * (height - to_[2]) < 0)
        cuts.push_back((height - from_[2]) / (to_[2] - from_[2]));
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t n = 0; n + 1 < cuts.size(); ++n) add(cuts[n], cuts[n + 1], out);
  }

 private:
  Place at(double t) const {
    Place place;
    for (std::size_t a = 0; a < 3; ++a) place[a] = from_[a] + t * (to_[a] - from_[a]);
    return place;
  }
  double distance(double begin, double end) const {
    double along = 0;
    for (std::size_t a = 0; a < 3; ++a) along += (receiver_[a] - from_[a]) * (to_[a] - from_[a]);
    const auto nearest = at(std::clamp(along / (length_ * length_), begin, end));
    return std::hypot(receiver_[0] - nearest[0], receiver_[1] - nearest[1], receiver_[2] - nearest[2]);
  }
  bool is_short(double length, double away, double middle) const {
    if (length > away) return false;
    const double sigma = std::max(std::abs(layer_at(earth_, in_conductor(earth_, middle)).horizontal),
                                  std::abs(layer_at(earth_, receiver_[2]).horizontal)),
                 skin = 503.292 / std::sqrt(sigma * hertz_);
    constexpr double seen = 20;  // skin depths; from farther away, fields come through other layers
    return length < 2 * skin || away > seen * skin;
  }
  void add(double begin, double end, DipoleField& out) const {
    constexpr double on_the_wire = 1e-6;  // least distance to the wire, relative to its length
    const double length = (end - begin) * length_,
                 away = std::max(distance(begin, end), on_the_wire * length_), middle = (begin + end) / 2;
    if (!is_short(length, away, at(middle)[2])) {
      add(begin, middle, out);
      add(middle, end, out);
      return;
    }
    static constexpr double x4[] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                                    0.8611363115940526},
                            w4[] = {0.3478548451374538, 0.6521451548625461, 0.6521451548625461,
                                    0.3478548451374538},
                            x2[] = {-0.5773502691896258, 0.5773502691896258}, w2[] = {1, 1}, x1[] = {0},
                            w1[] = {2};
    std::span<const double> x = x4, w = w4;
    if (length < away / 500) x = x1, w = w1;
    else if (length < away / 10) x = x2, w = w2;
    for (std::size_t g = 0; g < x.size(); ++g) {
      Place moment;
      for (std::size_t a = 0; a < 3; ++a)
        moment[a] = current_ * w[g] / 2 * (end - begin) * (to_[a] - from_[a]);
      add_induced(earth_, 2 * std::numbers::pi * hertz_, at(middle + x[g] / 2 * (end - begin)), moment,
                  receiver_, out);
    }
  }

  const LayeredEarth& earth_;
  double hertz_;
  Place from_, to_;
  double current_, length_ = 0;
  Place receiver_;
};

}  // namespace

DipoleField wire(const LayeredEarth& earth, double hertz, std::span<const std::array<double, 3>> points,
                 double current, const std::array<double, 3>& receiver) {
  check_layers(earth);
  if (points.size() < 2) throw InputError("layered earth", "a wire has two points or more");
  DipoleField field;
  for (std::size_t n = 0; n + 1 < points.size(); ++n)
    Straight(earth, hertz, points[n], points[n + 1], current, receiver).add(field);
  if (points.front() == points.back()) return field;
  add_end(earth, 2 * std::numbers::pi * hertz, points.front(), current, receiver, field);
  add_end(earth, 2 * std::numbers::pi * hertz, points.back(), -current, receiver, field);
  return field;
}

Z plane_wave_impedance(const LayeredEarth& earth, double hertz) {
  check_layers(earth);
  const Z iwm{0, 2 * std::numbers::pi * hertz * permeability};
  const auto own = [&](std::size_t n) { return iwm / std::sqrt(iwm * earth.layers[n].horizontal); };
  Z impedance = own(0);
  for (std::size_t n = 1; n + 1 < earth.layers.size(); ++n) {
    const Z z = own(n), kh = iwm / z * (earth.interfaces[n] - earth.interfaces[n - 1]);
    const Z t = kh.real() > 300 ? Z{1} : std::tanh(kh);
    impedance = z * (impedance + z * t) / (z + impedance * t);
  }
  return impedance;
}

}  // namespace terrane::electromagnetic
