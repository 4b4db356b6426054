#include "terrane/physics/gravity/run/magnitude.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/mesh/octree.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/sum/kinds.hpp"

namespace terrane::gravity {

namespace {

constexpr double rounding_of_pairs = 4e-15, rounding_of_sums = 5e-16;
constexpr double finest_promise = 1e-14;  // a smaller requested accuracy means "as accurate as possible"
// Rounding error above which a run warns if it was asked for the best accuracy.
constexpr double lost_to_best = 1e-12;
// Least ratio of contributions to their sum at which a run warns that truncation errors of pairs remain.
// By measurement these errors add up to less than accuracy · S / 200 (S: magnitude.hpp).
constexpr double truncations_that_cancel = 1e3;
// Times on one core to estimate magnitudes: without clusters, per pair; with clusters, per prism and station.
constexpr double seconds_per_pair = 8e-9, seconds_per_prism = 100e-9, seconds_per_station = 3e-6;
// Least time that a run spends on estimates of magnitudes.
constexpr double least_seconds_of_magnitudes = 1e-4;
// The least number of stations in a sample; the largest number of prisms that a sampled prism represents; the
// largest number of prisms in a leaf of the octree.
constexpr std::size_t few_stations = 32, most_stood_for = 64, leaf = 32;
constexpr double gradient_of_a_point = 2.449489742783178;  // √6: for a point mass m, ‖Γ‖ = √6 m/r³ (G = 1)

/// A sample of a list: one of every `step` consecutive elements, at a position among them that varies.
class Sample {
 public:
  Sample(std::size_t count, std::size_t step) : count_(count), step_(std::max<std::size_t>(1, step)) {}
  std::size_t size() const { return (count_ + step_ - 1) / step_; }
  std::size_t step() const { return step_; }
  std::size_t operator[](std::size_t i) const {
    if (step_ == 1) return i;
    // Multiples of the golden ratio: a constant index could follow the period of a regular mesh.
    const std::uint64_t place = i * 0x9e3779b97f4a7c15U >> 32;
    return std::min(i * step_ + place * step_ / 0x100000000U, count_ - 1);
  }

 private:
  std::size_t count_, step_;
};

/// |mass| of prisms, in the order of the octree.
class Masses {
 public:
  static double bytes(std::size_t prisms, bool clustered) {
    // Bytes per prism for boxes, keys and order of an octree; the clusters that are made later need no more.
    const double of_tree = clustered ? 36 : 0;
    return static_cast<double>(prisms) * (sizeof(Body) + of_tree);
  }

  Masses(const Prisms& prisms, const Sample& sample, bool clustered, int threads, Progress& progress) {
    stood_for_ = static_cast<double>(sample.step());
    if (sample.step() == 1) {
      take(prisms, clustered, threads, progress);
      return;
    }
    std::vector<double> some[7];
    const std::span<const double> all[7] = {prisms.west,   prisms.east, prisms.south,  prisms.north,
                                            prisms.bottom, prisms.top,  prisms.density};
    for (int c = 0; c < 7; ++c) {
      some[c].resize(sample.size());
      for (std::size_t i = 0; i < sample.size(); ++i) some[c][i] = all[c][sample[i]];
    }
    take({some[0], some[1], some[2], some[3], some[4], some[5], some[6]}, clustered, threads, progress);
  }

  struct Sums {
    double sum[3] = {}, square[3] = {};
  };
  Sums at(const double (&station)[3]) const {
    Sums sums;
    if (clusters_.empty()) return sums;
    std::uint32_t stack[8 * 64];  // room for 8 children on 64 levels, more than an octree has
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const Cluster& cluster = clusters_[stack[--depth]];
      double r2 = 0;
      for (int a = 0; a < 3; ++a) {
        const double d = station[a] - cluster.centre[a];
        r2 += d * d;
      }
      if (r2 > 4 * cluster.reach * cluster.reach) far(cluster, r2, sums);
      else if (cluster.children == 0) near(cluster, station, sums);
      else
        for (std::uint32_t c = 0; c < cluster.children; ++c) stack[depth++] = cluster.child + c;
    }
    return sums;
  }

 private:
  struct Body {
    double centre[3], core[3];  // m; core: half sides of a box that is half as large as the body
    double mass, soft2;         // kg; m²: lower limit of squared distances to a body that represents others
    double most[3];             // upper limits of the body's V, |g| and ‖Γ‖
  };
  struct Cluster {
    double centre[3] = {}, reach = 0, mass = 0, square = 0;  // Σ mass, Σ mass²
    std::uint32_t first = 0, last = 0, child = 0, children = 0;
  };

  void take(const Prisms& prisms, bool clustered, int threads, Progress& progress) {
    Octree tree;
    if (clustered) {
      tree = grow_octree(boxes(prisms), leaf, threads, progress);
    } else if (prisms.size() > 0) {
      tree.cells.resize(1);
      tree.cells[0].last = static_cast<std::uint32_t>(prisms.size());
    }
    constexpr std::size_t chunk = 1 << 13;
    bodies_.resize(prisms.size());
    for_each((prisms.size() + chunk - 1) / chunk, threads, [&](std::size_t c) {
      if (progress.cancelled()) throw Cancelled();
      for (std::size_t i = c * chunk; i < std::min((c + 1) * chunk, prisms.size()); ++i)
        bodies_[i] = body(prisms, clustered ? tree.order[i] : i);
    });
    clusters_.resize(tree.cells.size());
    for (std::size_t n = clusters_.size(); n-- > 0;) gather(tree.cells[n], clusters_[n]);
  }

  Body body(const Prisms& p, std::size_t n) const {
    using std::numbers::pi;
    const double low[3] = {p.west[n], p.south[n], p.bottom[n]}, high[3] = {p.east[n], p.north[n], p.top[n]};
    Body b{};
    double side[3];
    for (int a = 0; a < 3; ++a) {
      side[a] = high[a] - low[a];
      b.centre[a] = low[a] + 0.5 * side[a];
      b.core[a] = 0.25 * side[a];
    }
    std::sort(side, side + 3);
    const double rho = std::fabs(p.density[n]), c = side[0], bc = side[0] * side[1], volume = bc * side[2],
                 radius = std::cbrt(0.75 / pi * volume);
    b.mass = rho * volume;
    b.most[0] = std::min({3.6 * rho * c * std::sqrt(side[1] * side[2]), 1.5 * b.mass / radius,
                          rho * bc * (2.4 + 2 * std::log(side[2] / std::sqrt(bc)))});
    b.most[1] = std::min(2 * pi * rho * c, b.mass / (radius * radius));
    b.most[2] = 4 * pi * rho;
    if (stood_for_ > 1) b.soft2 = std::pow(stood_for_, 2.0 / 3) * radius * radius;
    return b;
  }

  void gather(const Octree::Cell& cell, Cluster& cluster) const {
    cluster.first = cell.first;
    cluster.last = cell.last;
    cluster.child = cell.child;
    cluster.children = cell.children;
    const std::span<const Cluster> children(clusters_.data() + cell.child, cell.children);
    const std::span<const Body> own(bodies_.data() + cell.first,
                                    children.empty() ? cell.last - cell.first : 0);
    // Coordinates relative to a body, so that large ones lose no digits.
    const double* const anchor = bodies_[cell.first].centre;
    double weighted[3] = {};
    const auto add = [&](const double(&centre)[3], double mass) {
      for (int a = 0; a < 3; ++a) weighted[a] += mass * (centre[a] - anchor[a]);
      cluster.mass += mass;
    };
    for (const auto& body : own) {
      add(body.centre, body.mass);
      cluster.square += body.mass * body.mass;
    }
    for (const auto& child : children) {
      add(child.centre, child.mass);
      cluster.square += child.square;
    }
    for (int a = 0; a < 3; ++a)
      cluster.centre[a] = anchor[a] + (cluster.mass > 0 ? weighted[a] / cluster.mass : 0.0);
    const auto apart = [&](const double(&other)[3]) {
      return std::hypot(other[0] - cluster.centre[0], other[1] - cluster.centre[1],
                        other[2] - cluster.centre[2]);
    };
    for (const auto& body : own)
      cluster.reach = std::max(cluster.reach,
                               apart(body.centre) + 2 * std::hypot(body.core[0], body.core[1], body.core[2]));
    for (const auto& child : children)
      cluster.reach = std::max(cluster.reach, apart(child.centre) + child.reach);
  }

  void far(const Cluster& cluster, double r2, Sums& sums) const {
    const double inverse = 1 / std::sqrt(r2), inverse2 = inverse * inverse;
    const double v = inverse, g = inverse2, gradient = gradient_of_a_point * inverse * inverse2;
    const double mass = stood_for_ * cluster.mass, square = stood_for_ * cluster.square;
    sums.sum[0] += mass * v;
    sums.sum[1] += mass * g;
    sums.sum[2] += mass * gradient;
    sums.square[0] += square * v * v;
    sums.square[1] += square * g * g;
    sums.square[2] += square * gradient * gradient;
  }

  void near(const Cluster& cluster, const double (&station)[3], Sums& sums) const {
    for (std::size_t i = cluster.first; i < cluster.last; ++i) {
      const Body& body = bodies_[i];
      double r2 = 0;
      for (int a = 0; a < 3; ++a) {
        const double d = std::max(std::fabs(station[a] - body.centre[a]) - body.core[a], 0.0);
        r2 += d * d;
      }
      r2 = std::max({r2, body.soft2, 1e-290});
      const double inverse = 1 / std::sqrt(r2);
      double value = body.mass * inverse;
      for (int k = 0; k < 3; ++k, value *= inverse) {
        const double c = std::min((k == 2 ? gradient_of_a_point : 1.0) * value, body.most[k]);
        sums.sum[k] += stood_for_ * c;
        sums.square[k] += stood_for_ * c * c;
      }
    }
  }

  double stood_for_ = 1;
  std::vector<Body> bodies_;
  std::vector<Cluster> clusters_;  // clusters; children come after their parents
};

constexpr std::string_view kind_names[3] = {"potential", "vector", "tensor"};

std::size_t ratio(double wanted, double given) {
  return static_cast<std::size_t>(std::clamp(std::ceil(wanted / given), 1.0, 1e15));
}

/// The prisms and stations that there is time to sample, and whether to make clusters of prisms.
struct Look {
  Look(std::size_t prisms, std::size_t stations, double seconds)
      : clustered(one_by_one(prisms, stations) > budget_of(seconds) && stations > few_stations),
        some(prisms,
             std::min(most_stood_for, clustered ? ratio(static_cast<double>(prisms) * seconds_per_prism,
                                                        budget_of(seconds) / 2)
                                                : ratio(one_by_one(prisms, stations), budget_of(seconds)))),
        where(stations, clustered ? std::min(ratio(static_cast<double>(stations) * seconds_per_station,
                                                   budget_of(seconds) / 2),
                                             std::max<std::size_t>(1, stations / few_stations))
                                  : 1) {}

  bool clustered;
  Sample some, where;

 private:
  static double budget_of(double seconds) { return std::max(seconds, least_seconds_of_magnitudes); }
  static double one_by_one(std::size_t prisms, std::size_t stations) {
    return static_cast<double>(prisms) * static_cast<double>(stations) * seconds_per_pair;
  }
};

}  // namespace

double seconds_to_look(double seconds_of_run, int threads) {
  // Fraction of the run's time; upper limit, in seconds of one core.
  constexpr double share_of_run = 0.01, most = 4;
  return std::min(most, share_of_run * seconds_of_run * threads);
}

double bytes_of_magnitude(std::size_t prisms, std::size_t stations, double seconds) {
  const Look look(prisms, stations, seconds);
  const double as_given = look.some.step() > 1 ? 7 * sizeof(double) : 0;
  return Masses::bytes(look.some.size(), look.clustered) + as_given * static_cast<double>(look.some.size());
}

Magnitude magnitude(const Prisms& prisms, const Stations& stations, double seconds, int threads,
                    Progress& progress) {
  const Look part(prisms.size(), stations.size(), seconds);
  const auto& where = part.where;
  const Masses masses(prisms, part.some, part.clustered, threads, progress);

  constexpr std::size_t chunk = 128;
  std::vector<Magnitude> found((where.size() + chunk - 1) / chunk);
  const auto look = [&](std::size_t c) {
    if (progress.cancelled()) throw Cancelled();
    for (std::size_t i = c * chunk; i < std::min((c + 1) * chunk, where.size()); ++i) {
      const std::size_t s = where[i];
      const auto sums = masses.at({stations.easting[s], stations.northing[s], stations.up[s]});
      for (std::size_t k = 0; k < 3; ++k) {
        found[c].sum[k] = std::max(found[c].sum[k], sums.sum[k]);
        found[c].rounding[k] = std::max(found[c].rounding[k], rounding_of_pairs * std::sqrt(sums.square[k]) +
                                                                  rounding_of_sums * sums.sum[k]);
      }
    }
  };
  for_each(found.size(), threads, look);
  Magnitude all;
  all.stations = where.size();
  for (const auto& one : found)
    for (std::size_t k = 0; k < 3; ++k) {
      all.sum[k] = std::max(all.sum[k], one.sum[k]);
      all.rounding[k] = std::max(all.rounding[k], one.rounding[k]);
    }
  return all;
}

std::array<double, 3> largest_values(const Fields& fields, int threads) {
  constexpr std::array<double, 3> none{-1, -1, -1};
  if (fields.values.empty()) return {};
  const auto channels = fields.channels.list();
  const std::size_t count = fields.values[0].size();
  constexpr std::size_t chunk = 1 << 14;
  std::vector<std::array<double, 3>> found((count + chunk - 1) / chunk);
  for_each(found.size(), threads, [&](std::size_t piece) {
    found[piece] = none;
    for (std::size_t s = piece * chunk; s < std::min((piece + 1) * chunk, count); ++s) {
      double square[3] = {};
      for (std::size_t c = 0; c < channels.size(); ++c) {
        const double v = fields.values[c][s];
        square[kind_of(channels[c])] += weight_of(channels[c]) * v * v;
      }
      for (std::size_t k = 0; k < 3; ++k)
        if (std::isfinite(square[k])) found[piece][k] = std::max(found[piece][k], square[k]);
    }
  });
  auto largest = none;
  for (const auto& one : found)
    for (std::size_t k = 0; k < 3; ++k) largest[k] = std::max(largest[k], one[k]);
  for (double& value : largest)
    value = value < 0 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(value);
  return largest;
}

void report_rounding(const Magnitude& size, const std::array<double, 3>& largest, ChannelSet channels,
                     double gravitational_constant, const Promise& promise, Report& report) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double asked = promise.accuracy < finest_promise ? lost_to_best : promise.accuracy;
  report.rounding_stations = size.stations;
  bool wanted[3] = {};
  for (const auto c : channels.list()) wanted[kind_of(c)] = true;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!wanted[k] || !(size.sum[k] > 0) || std::isnan(largest[k])) continue;
    const auto relative = [&](double value) {
      return largest[k] > 0 ? gravitational_constant * value / largest[k] : infinity;
    };
    const double floor = relative(size.rounding[k]), cancelled = std::max(1.0, relative(size.sum[k]));
    report.rounding_floor[std::string(kind_names[k])] = floor;
    const double truncation = promise.of_method * (promise.of_pairs ? cancelled : 1);
    report.estimated_error = std::max(report.estimated_error, truncation + floor);
    if (floor > asked)
      report.warnings.push_back(
          fmt::format("the {} is what remains of contributions {:.1e} times as large that cancel: rounding "
                      "may be {:.1e} of "
                      "its largest value, where {:.1e} was asked for; leave out what cancels, or give only "
                      "differences of density",
                      kind_names[k], cancelled, floor, promise.accuracy));
    else if (promise.of_pairs && cancelled > truncations_that_cancel)
      report.warnings.push_back(fmt::format(
          "the {} is what remains of contributions {:.1e} times as large that cancel: each is right to "
          "{:.1e}, "
          "so the {} to {:.1e} of its largest value; ask for more accuracy, or for method = \"tree\"",
          kind_names[k], cancelled, promise.of_method, kind_names[k], truncation + floor));
  }
}

Report expected_rounding(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                         const Promise& promise, Progress& progress) {
  constexpr std::size_t enough = 8, most_prisms = 1000000;
  Report report;
  if (prisms.size() > most_prisms || stations.size() == 0) return report;
  const Sample where(stations.size(), (stations.size() + enough - 1) / enough);
  std::vector<double> easting, northing, up;
  for (std::size_t i = 0; i < where.size(); ++i) {
    easting.push_back(stations.easting[where[i]]);
    northing.push_back(stations.northing[where[i]]);
    up.push_back(stations.up[where[i]]);
  }
  const Stations some{easting, northing, up};
  auto sums =
      direct_sum(prisms, some, parameters.channels, parameters.accuracy, parameters.threads, progress);
  const Fields fields{parameters.channels, {sums.values.begin(), sums.values.end()}, {}};
  constexpr double all_pairs = 0.02;  // s: enough for 300,000 prisms at 8 stations; of more, a sample is used
  report_rounding(magnitude(prisms, some, all_pairs, parameters.threads, progress),
                  largest_values(fields, parameters.threads), parameters.channels, 1, promise, report);
  return report;
}

std::string rounding_text(const Report& report) {
  std::string text;
  for (const auto& [kind, floor] : report.rounding_floor)
    text += fmt::format("{}{} {:.1e}", text.empty() ? "" : ", ", kind, floor);
  return text;
}

}  // namespace terrane::gravity
